"""`foldline context export` and `import`: what a session came to know, for a fresh start anywhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

import click

from foldline._cli.commands import NOTHING_TO_DO
from foldline._cli.drawing import row, title
from foldline._cli.options import (
    Choice,
    CommandAnswer,
    about,
    about_new,
    answering,
    check_place,
    draw_written,
    on_session,
)
from foldline._cli.printing import Exact, hand_on
from foldline._desk.desk import Desk
from foldline._handoff.exporting import export as export_state
from foldline._handoff.exporting import write_state
from foldline._handoff.importing import import_state, piped_state, read_state
from foldline._handoff.new_session import FORMATS
from foldline._handoff.state import State, encode

KINDS = (
    "requests", "constraints", "decisions", "findings", "entities", "operations", "errors", "files",
    "open_work", "next_steps",
)  # fmt: skip

PIPE = "-"
"""The file that is standard output where one writes, and standard input where one reads."""

to_option = click.option(
    "--to",
    "format",
    type=Choice(FORMATS),
    default=FORMATS[0],
    show_default=True,
    help="The new session's format.",
)
into_option = click.option(
    "--into",
    metavar="PATH",
    help="The new file or its folder; without it, where the agent keeps this directory's sessions.",
)


@click.command("export")
@click.argument("file")
@click.option("--redact", is_flag=True, help="Take out keys, tokens and passwords.")
@answering
@on_session
def export(desk: Desk, file: str, redact: bool) -> CommandAnswer:
    """Write what the session came to know to FILE, one JSON document that any agent can take up; - is standard output.

    It is read from the whole session, what was folded away included. Secrets in it stay unless --redact is given.
    """
    found = desk.session
    state, gone = export_state(found, window=desk.budget.window), dict[str, int]()
    if redact:
        from foldline._handoff.redaction import redacted

        state, gone = redacted(state)
    counts = {kind: len(getattr(state, kind)) for kind in KINDS}
    told = about(found, file=None, bytes=0, tokens=state.tokens, facts=counts, redacted=gone)
    if not state.source.messages:
        return CommandAnswer(told, remark=f"nothing to export: no messages in {found.path}", code=NOTHING_TO_DO)
    if file == PIPE:
        data = encode(state)
        hand_on(Exact(data.decode()))
        drawn = draw_export(state, "standard output", len(data), gone if redact else None)
        return CommandAnswer(None, remark=drawn)
    size = write_state(state, file)
    return CommandAnswer(
        {**told, "file": file, "bytes": size}, draw_export(state, file, size, gone if redact else None)
    )


@click.command("import")
@click.argument("file")
@to_option
@into_option
@answering
def import_(file: str, format: str, into: str | None) -> CommandAnswer:
    """Open a new session with the state in FILE, whatever agent and model it came from; - is standard input."""
    check_place(format, into, "--into")
    state = piped_state(sys.stdin.buffer) if file == PIPE else read_state(file)
    written = import_state(state, format, into, cwd=os.getcwd())
    return CommandAnswer(about_new(written), draw_written("Imported", written))


def draw_export(state: State, path: str, size: int, gone: Mapping[str, int] | None) -> str:
    """What a document holds, in figures, and where it was redacted what is gone."""
    lines = [title("Exported State")]
    for kind in KINDS:
        if count := len(getattr(state, kind)):
            lines.append(row(kind.replace("_", " ").capitalize(), f"{count:,}"))
    lines += [row("Summary", f"{state.tokens.summary:,} tokens"), row("Written", f"{path} ({size:,} bytes)")]
    if gone is not None:
        lines.append(row("Redacted", ", ".join(f"{n} {kind}" for kind, n in sorted(gone.items())) or "nothing found"))
    return "\n".join(lines)
