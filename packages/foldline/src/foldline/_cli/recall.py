"""`foldline recall`: get back what was folded away, by its id or by words."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from foldline._cli.commands import NOTHING_TO_DO
from foldline._cli.options import CommandAnswer, about, answering, session_option, words
from foldline._cli.printing import Exact, say_over, warn
from foldline._messages import replace

if TYPE_CHECKING:
    from foldline._recall.recalled import Recalled
    from foldline._recall.search import Hit
    from foldline._sessions.file import SessionFile


@click.command()
@words("query", "QUERY-OR-ID")
@session_option
@click.option("--all", "everywhere", is_flag=True, help="Every session on this machine.")
@click.option(
    "--limit", type=click.IntRange(1), metavar="N", default=10, show_default=True, help="The most messages to list."
)
@answering
def recall(query: str, session: str | None, everywhere: bool, limit: int) -> CommandAnswer:
    """Print a message as it was written, or list the messages that fit some words best.

    An id, as stubs, notices, summaries and `session show` name it, prints that message, whatever was folded since; with a
    call its result, and with a result its call. The beginning of an id does, and the id of a call. All else is looked for
    in what users, assistants and tools said and in what tools were called with, folded or not.
    """
    from foldline._recall.index import Index
    from foldline._recall.recalled import id_in
    from foldline._recall.scope import scope

    if session and everywhere:
        raise click.UsageError("--session and --all exclude each other")
    where = scope(session, cwd=os.getcwd(), whole=everywhere)
    if where.session is not None and session is None:
        warn(f"session: {where.within[0].path}")
    with Index(on_file=_progress if everywhere else None) as index:
        if (id := id_in(query)) and (found := where.recalled(index, id)):
            message, holder = found
            remark = "" if where.session else f"session: {holder.path}"
            return CommandAnswer(_told(query, holder, message), Exact(message.text), remark)
        hits = where.search(index, query, limit)
    told = _told(query, where.session, hits=hits)
    if hits:
        return CommandAnswer(told, "\n".join(_line(hit, everywhere=everywhere) for hit in hits))
    place = "any session" if everywhere else f"{where.within[0].path}; --all looks in every session"
    return CommandAnswer(told, remark=f"nothing found for {query[:200]!r} in {place}", code=NOTHING_TO_DO)


def _told(
    query: str, session: SessionFile | None, found: Recalled | None = None, hits: Sequence[Hit] = ()
) -> dict[str, object]:
    """What was found, as JSON tells it: a message of the session that it is of, or hits of the one that was searched."""
    where = about(session) if session else {"session": None, "path": None}
    message, halves = (found.message, found.halves) if found else (None, ())
    return {**where, "query": query, "message": message, "halves": halves, "hits": hits}


def _line(hit: Hit, *, everywhere: bool) -> str:
    """A hit and the words that were found in it; of which session it is, is said where several are looked through."""
    from foldline._recall.answer import described

    shown = hit if everywhere else replace(hit, session="")
    return f"{hit.id:<10}  {described(shown)}\n    {hit.snippet}"


def _progress(path: str, left: int) -> None:
    """How much there is left to read."""
    if left % 20 == 0:
        say_over(f"{left:>7,} sessions to read\r")
