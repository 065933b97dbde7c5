"""`foldline hook`: what an agent asks that is about to compact by itself."""

from __future__ import annotations

import sys

import click

from foldline._cli.answering import answered


@click.command()
@click.argument("agent")
def hook(agent: str) -> None:
    """Answer an AGENT that is about to compact: one JSON object in, one out.

    In: `session` (a path or an id), and where known `trigger` (auto, overflow or manual), `focus` and `window`; of an agent
    that chose the cut itself, `messages` and the `previous` summary. Out: the summary, what it keeps by its ids, sizes in
    tokens and the receipt; or `error`, and then the agent's own compaction should go on. The exit code is 0 either way,
    and nothing is written into the session.
    """
    sys.stdout.buffer.write(answered(agent, sys.stdin.buffer.read()))
