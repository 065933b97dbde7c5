"""What the agent tried in a turn that no report closed, by what it said it would do and how its check then failed."""

from __future__ import annotations

from collections.abc import Iterator

from foldline._facts.cues import announces
from foldline._facts.shell import checks, family
from foldline._facts.standing import was_a_guess
from foldline._facts.types import Facts, Piece
from foldline._page.quoting import bare
from foldline._page.superfluous import command_of, fault_of, led_to_report

MOST = 8
"""Experiments that are told: the newest."""


_CHANGES = "<<"
"""What a command has in it that is told and gives code to a program."""


def experiments(facts: Facts) -> set[int]:
    """The places of checks that failed in another way than the time before, and of what the agent was to try by the command that
    changed something and checked it at once."""
    told = [*_ended_otherwise(facts)][-MOST:]
    ats = {facts.pieces[i].at for i in told if _CHANGES in facts.pieces[i].text}
    said: dict[int, int] = {}
    for i, piece in enumerate(facts.pieces):
        if piece.at in ats and piece.kind == "thought" and announces(bare(piece)):
            said.setdefault(piece.at, i)
    return {*told, *said.values()}


def _ended_otherwise(facts: Facts) -> Iterator[int]:
    """The places of checks that failed, where the one before it failed otherwise."""
    closed = {*led_to_report(facts)}
    last = ""
    for i, piece in enumerate(facts.pieces):
        if i not in closed and _is_failed_check(piece):
            fault = fault_of(piece)
            if fault != last:
                yield i
            last = fault


def _is_failed_check(piece: Piece) -> bool:
    if piece.kind != "failure" or piece.by != "tool" or not piece.text.startswith("`"):
        return False
    return bool(fault_of(piece)) and checks(family(command_of(piece))) and not was_a_guess(piece.text)
