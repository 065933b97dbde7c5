"""Writes docs/commands.md: what each command says of itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from foldline._cli.commands import foldline

PATH = Path(__file__).parents[1] / "docs" / "commands.md"
WIDTH = 100

HEAD = """\
# The command line

```console
$ pip install 'foldline[cli]'
```

Commands on a session take the session of the agent that runs them, else the newest one of the working
directory, or `--session PATH-OR-ID`. Nothing asks a question where standard
input is no terminal, and nothing is written then without `--yes`.
`python scripts/make_commands.py` writes this page from what the commands say of themselves.

![foldline context status, compact, recall and session undo](commands.svg)

(This drawing is made by `python scripts/draw_commands.py`.)
"""


def page() -> str:
    """The page."""
    return "\n".join(
        [
            HEAD,
            *(
                _section(context)
                for context in _commands(click.Context(foldline, info_name="foldline", **foldline.context_settings))
            ),
        ]
    )


def _commands(context: click.Context) -> Iterator[click.Context]:
    """A command and those below it, each in the context that it is called in."""
    yield context
    if isinstance(group := context.command, click.Group):
        for name in group.list_commands(context):
            if (command := group.get_command(context, name)) is not None:
                yield from _commands(click.Context(command, info_name=name, parent=context, max_content_width=WIDTH))


def _section(context: click.Context) -> str:
    context.terminal_width = WIDTH
    return f"## {context.command_path}\n\n```text\n{context.get_help()}\n```\n"


if __name__ == "__main__":
    PATH.write_text(page(), "utf-8")
