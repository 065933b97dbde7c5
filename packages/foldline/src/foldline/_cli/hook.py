"""`foldline hook`: what an agent asks that is about to compact by itself."""

from __future__ import annotations

import sys

import click

from foldline._errors import FoldlineError


@click.command()
@click.argument("agent")
def hook(agent: str) -> None:
    """Answer an AGENT that is about to compact: one JSON object in, one out.

    In: `session` (a path or an id), and where known `trigger` (auto, overflow or manual), `focus` and `window`; of an agent
    that chose the cut itself, `messages` and the `previous` summary. Out: the summary, what it keeps by its ids, sizes in
    tokens and the receipt; or `error`, and then the agent's own compaction should go on. The exit code is 0 either way,
    and nothing is written into the session.
    """
    import msgspec

    answered = msgspec.json.encode(_answer(agent, sys.stdin.buffer.read()))
    sys.stdout.buffer.write(answered + b"\n")


def _answer(agent: str, data: bytes) -> dict[str, object]:
    from foldline._desk.hook import asked_in, fold_for, not_folded, summary_for

    try:
        asked = asked_in(data)
        return fold_for(agent, asked) if asked.session else summary_for(asked)
    except FoldlineError as error:
        return not_folded(type(error).__name__, str(error))
    except Exception as error:  # noqa: BLE001  whatever it is, the agent goes on by itself
        return not_folded("Fault", f"{type(error).__name__}: {error}")
