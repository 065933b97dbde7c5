"""`foldline context export` and `import`: what a session came to know, for a fresh start anywhere."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from foldline.cli import NOTHING_TO_DO
from foldline.cli.drawing import row, title
from foldline.cli.options import check_place, opened, print_json, session_options
from foldline.handoff.exporting import export as export_state
from foldline.handoff.exporting import write_state
from foldline.handoff.importing import import_state, read_state
from foldline.handoff.new_session import FORMATS, Written
from foldline.handoff.state import State

KINDS = (
    "requests", "constraints", "decisions", "findings", "corrections", "entities", "operations", "errors", "files",
    "open_work", "next_steps",
)  # fmt: skip

to_option = click.option(
    "--to",
    "format",
    type=click.Choice(FORMATS),
    default=FORMATS[0],
    show_default=True,
    help="The new session's format.",
)
into_option = click.option(
    "--into", metavar="PATH", help="The new file or its folder; without it, where pi keeps this directory's sessions."
)


@click.command("export")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--redact", is_flag=True, help="Take out keys, tokens and passwords.")
@session_options
def export(file: Path, redact: bool, session: str | None, as_json: bool, strict: bool, window: int | None) -> None:
    """Write what the session came to know to FILE, one JSON document that any agent can take up.

    It is read from the whole session, what was folded away included. Secrets in it stay unless --redact is given.
    """
    found = opened(session, strict=strict, window=window).session
    state, gone = export_state(found, window=window), dict[str, int]()
    if redact:
        from foldline.handoff.redaction import redacted

        state, gone = redacted(state)
    if not state.source.messages:
        click.echo(f"nothing to export: no messages in {found.path}", err=True)
        sys.exit(NOTHING_TO_DO)
    size = write_state(state, str(file))
    if as_json:
        counts = {kind: len(getattr(state, kind)) for kind in KINDS}
        print_json(
            {
                "session": found.path,
                "path": str(file),
                "bytes": size,
                "tokens": state.tokens,
                "facts": counts,
                "redacted": gone,
            }
        )
    else:
        click.echo(draw_export(state, str(file), size))
        if redact:
            kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(gone.items()))
            click.echo(row("Redacted", kinds or "nothing found"))


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@to_option
@into_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def import_(file: Path, format: str, into: str | None, as_json: bool) -> None:
    """Open a new session with the state in FILE, whatever agent and model it came from."""
    check_place(format, into, "--into")
    written = import_state(read_state(str(file)), format, into, cwd=os.getcwd())
    if as_json:
        print_json(written)
    else:
        click.echo(draw_written("Imported", written))


def draw_export(state: State, path: str, size: int) -> str:
    """What a document holds, in figures."""
    lines = [title("Exported State")]
    for kind in KINDS:
        if count := len(getattr(state, kind)):
            lines.append(row(kind.replace("_", " ").capitalize(), f"{count:,}"))
    lines += [row("Summary", f"{state.tokens.summary:,} tokens"), row("Written", f"{path} ({size:,} bytes)")]
    return "\n".join(lines)


def draw_written(what: str, written: Written) -> str:
    """Where a new session is, and what could not be carried into it."""
    lines = [f"{what}: {written.format} session {written.id}".rstrip(), written.path]
    if written.left_out:
        lines.append("Left out: " + ", ".join(f"{n} {kind}" for kind, n in written.left_out.items()))
    return "\n".join(lines)
