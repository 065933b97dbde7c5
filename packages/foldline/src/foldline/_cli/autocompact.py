"""`foldline autocompact`: whether agents fold by themselves."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import msgspec

from foldline._cli.options import Choice, CommandAnswer, answering
from foldline._config import read_settings, settings_path
from foldline._decoding import read_table
from foldline._errors import ConfigError
from foldline._policies.file import arguments_of_strategy
from foldline._policy import USUAL_RESERVE, Mark, Policy, mark_of
from foldline._sessions.writing import replace_file


@click.command()
@click.argument("switch", type=Choice(["on", "off"]), required=False)
@answering
def autocompact(switch: str | None) -> CommandAnswer:
    """Show whether agents that follow the settings fold by themselves, or switch it ON or OFF."""
    path = settings_path()
    read_settings(path)
    if switch:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"cannot be written: {error.strerror}", path=str(path)) from error
        replace_file(str(path), _switched(path, switch == "on").encode())
    policy = read_settings(path).to_policy()
    enabled, mark = policy.automatic.enabled, mark_of(policy.layers[policy.first].at)
    at = round(100 * mark.share, 6) if mark == Mark(mark.share) else None
    state = f"on, from {mark} on" if at is None else f"on, from {mark}"
    reserve, keep = _sizes(policy)
    kept = f" and the newest {keep:,} tokens kept" if keep is not None else ""
    state += f", with {reserve:,} tokens held back for the reply{kept}"
    told = {"auto_enabled": enabled, "at": at, "mark": str(mark), "settings": str(path)}
    told |= {"reserve_tokens": reserve, "keep_recent_tokens": keep}
    return CommandAnswer(
        told, f"For agents that call foldline, auto-compaction is {state if enabled else 'off'} ({path})"
    )


def _sizes(policy: Policy) -> tuple[int, int | None]:
    """What a policy holds back for the reply, and the newest tokens that it keeps, where it counts these."""
    layer = policy.layers[policy.first]
    less = mark_of(layer.at).less
    reserve = less if isinstance(less, int) and less else USUAL_RESERVE if policy.reserve is None else policy.reserve
    told = (arguments_of_strategy(strategy).get("keep") for strategy in layer.strategies)
    return reserve, next((keep for keep in told if isinstance(keep, int)), None)


def _switched(path: Path, on: bool) -> str:
    """The settings file with `compaction.auto_enabled` set, everything else in it as it was."""
    if path.suffix == ".json":
        data = read_table(path)
        data.setdefault("compaction", {})["auto_enabled"] = on
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    if path.suffix != ".toml":
        return _switched_yaml(path, on)
    import tomlkit

    document = tomlkit.parse(path.read_text("utf-8") if path.exists() else "")
    document.setdefault("compaction", tomlkit.table())["auto_enabled"] = on
    return tomlkit.dumps(document)


_SWITCH = re.compile(r"^([ \t]+)(?:auto_enabled|enabled):[^\n#]*?([ \t]*(?:#[^\n]*)?)$", re.MULTILINE)
_SECTION = re.compile(r"^compaction:[ \t]*(?:#[^\n]*)?\n((?:[ \t]+[^\n]*\n|[ \t]*\n|#[^\n]*\n)*)", re.MULTILINE)


def _switched_yaml(path: Path, on: bool) -> str:
    """The same of YAML, line by line, so that comments stay where they are; what cannot be changed so is refused."""
    before, text = read_table(path), path.read_text("utf-8").rstrip("\n") + "\n"
    line = f"auto_enabled: {str(on).lower()}"
    section = _SECTION.search(text)
    if section is None:
        after = f"{text if text.strip() else ''}compaction:\n  {line}\n"
    else:
        body = section[1]
        indent = next((one[: len(one) - len(one.lstrip())] for one in body.splitlines() if one.strip()), "  ")
        switched, found = _SWITCH.subn(rf"\g<1>{line}\g<2>", body, count=1)
        body = switched if found else f"{indent}{line}\n{body}"
        after = text[: section.start(1)] + body + text[section.end(1) :]
    expected = {**before, "compaction": {**(before.get("compaction") or {}), "auto_enabled": on}}
    expected["compaction"].pop("enabled", None)
    try:
        right = msgspec.yaml.decode(after) == expected
    except msgspec.DecodeError:
        right = False
    if not right:
        raise ConfigError("cannot be changed here: set it by hand", path=str(path), key="compaction.auto_enabled")
    return after
