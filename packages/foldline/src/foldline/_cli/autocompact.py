"""`foldline autocompact`: whether agents fold by themselves."""

from __future__ import annotations

import json
from pathlib import Path

import click

from foldline._cli.options import print_json
from foldline._config import decoded, read_settings, settings_path
from foldline._errors import ConfigError
from foldline._sessions.writing import replace_file


@click.command()
@click.argument("switch", type=click.Choice(["on", "off"]), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def autocompact(switch: str | None, as_json: bool) -> None:
    """Show whether agents that follow the settings fold by themselves, or switch it ON or OFF."""
    path = settings_path()
    read_settings(path)
    if switch:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"cannot be written: {error.strerror}", path=str(path)) from error
        replace_file(str(path), _switched(path, switch == "on").encode())
    compaction = read_settings(path).compaction
    if as_json:
        print_json(
            {"auto_enabled": compaction.auto_enabled, "at": compaction.auto_threshold_percent, "settings": str(path)}
        )
        return
    state = f"on, from {compaction.auto_threshold_percent:g} % of the window" if compaction.auto_enabled else "off"
    click.echo(f"Auto-compaction is {state} ({path})")


def _switched(path: Path, on: bool) -> str:
    """The settings file with `compaction.auto_enabled` set, everything else in it as it was."""
    if path.suffix == ".json":
        data = decoded(path)
        data.setdefault("compaction", {})["auto_enabled"] = on
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    if path.suffix != ".toml":
        raise ConfigError("YAML is not rewritten: set it by hand", path=str(path), key="compaction.auto_enabled")
    import tomlkit

    document = tomlkit.parse(path.read_text("utf-8") if path.exists() else "")
    document.setdefault("compaction", tomlkit.table())["auto_enabled"] = on
    return tomlkit.dumps(document)
