"""`foldline recall`: get back what was folded away."""

from __future__ import annotations

import sys

import click

from foldline.cli import NOTHING_TO_DO
from foldline.cli.options import opened, print_json, session_options
from foldline.messages import Message, Text, Thinking, ToolCall, ToolResult


@click.command()
@click.argument("id")
@session_options
def recall(id: str, session: str | None, as_json: bool, strict: bool, window: int | None) -> None:
    """Print the message with this ID as it was written, whatever was folded since.

    Stubs, notices and `session show` name the ids.
    """
    found = opened(session, strict=strict, window=window)
    message = found.session.recall(id)
    if message is None:
        click.echo(f"no message {id} in {found.session.path}", err=True)
        sys.exit(NOTHING_TO_DO)
    if as_json:
        print_json({"id": id, "message": message})
    else:
        click.echo(drawn(message))


def drawn(message: Message) -> str:
    """A message as text, every part of it."""
    return "\n".join(_part(part) for part in message.parts)


def _part(part: object) -> str:
    match part:
        case ToolCall(_, name, arguments):
            return f"[calls {name} {arguments}]"
        case ToolResult(_, parts):
            return "\n".join(_part(p) for p in parts)
        case Text(text) | Thinking(text):
            return text
        case _ if hasattr(part, "text"):
            return str(part.text)
        case _:
            return f"[{getattr(part, 'kind', 'data')}]"
