"""`foldline recall`: get back what was folded away, by its id or by words."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from foldline._cli import NOTHING_TO_DO
from foldline._cli.drawing import visible
from foldline._cli.options import print_json, session_option

if TYPE_CHECKING:
    from foldline._recall.index import Index
    from foldline._recall.scope import Scope
    from foldline._recall.search import Hit


@click.command()
@click.argument("query", metavar="QUERY-OR-ID")
@session_option
@click.option("--all", "everywhere", is_flag=True, help="Every session on this machine.")
@click.option(
    "--limit", type=click.IntRange(1), metavar="N", default=10, show_default=True, help="The most messages to list."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def recall(query: str, session: str | None, everywhere: bool, limit: int, as_json: bool) -> None:
    """Print a message as it was written, or list the messages that fit some words best.

    An id, as stubs, notices, summaries and `session show` name it, prints that message, whatever was folded since. All
    else is looked for in what users, assistants and tools said and in what tools were called with, folded or not.
    """
    from foldline._recall.index import Index
    from foldline._recall.scope import looks_like_id, scope

    if session and everywhere:
        raise click.UsageError("--session and --all exclude each other")
    where = scope(session, cwd=os.getcwd(), whole=everywhere)
    if where.session is not None and session is None:
        click.echo(f"session: {where.within[0].path}", err=True)
    with Index(on_file=_progress if everywhere else None) as index:
        if looks_like_id(query) and _printed(index, where, query, as_json):
            return
        hits = where.search(index, query, limit)
    if as_json:
        print_json({"query": query, "hits": hits})
    else:
        click.echo("\n".join(map(_line, hits)), nl=bool(hits))
    if not hits:
        place = "any session" if everywhere else f"{where.within[0].path}; --all looks in every session"
        click.echo(f"nothing found for {query[:200]!r} in {place}", err=True)
        sys.exit(NOTHING_TO_DO)


def _printed(index: Index, where: Scope, id: str, as_json: bool) -> bool:
    """Prints the message of that id, where there is one."""
    from foldline._recall.answer import drawn

    found = where.message(index, id)
    if found is None:
        return False
    message, session = found
    if as_json:
        print_json({"id": id, "session": session.path, "message": message})
        return True
    if where.session is None:
        click.echo(f"session: {session.path}", err=True)
    said = drawn(message)
    click.echo(visible(said) if sys.stdout.isatty() else said)
    return True


def _line(hit: Hit) -> str:
    from foldline._recall.answer import described

    return visible(f"{hit.id:<10}  {described(hit)}\n    {hit.snippet}")


def _progress(path: str, left: int) -> None:
    """One line that is written over, on a terminal, where there is much to read."""
    if left % 20 == 0 and sys.stderr.isatty():
        click.echo(f"\r{left:>7,} sessions to read\r", err=True, nl=False)
