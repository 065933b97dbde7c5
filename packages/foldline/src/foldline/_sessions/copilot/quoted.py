"""The user's words that Copilot quotes beside a summary: all of them while there is room, else some first and the newest."""

from __future__ import annotations

from collections.abc import Sequence

from foldline._messages import Message, Text

Asked = tuple[str, str]
"""The id of a message and what the user wrote in it."""

ROOM, MOST, NEWEST = 30_000, 20, 0.8
"""Characters and messages that are quoted, and the share of the newest where not all of them are."""

CUT = "...<truncated>..."


def quoted(asked: Sequence[Asked]) -> list[tuple[str, Message]]:
    """The messages of the user's that the model still reads, by their ids."""
    return [(id, Message("user", (Text(words),))) for id, words in _chosen(asked)]


def _chosen(asked: Sequence[Asked]) -> list[Asked]:
    if len(asked) <= MOST and sum(len(words) for _, words in asked) <= ROOM:
        return list(asked)
    newest = round(MOST * NEWEST)
    behind = _fitting(asked[::-1], round(ROOM * NEWEST), newest)[::-1]
    rest = asked[: len(asked) - len(behind)]
    return [*_fitting(rest, round(ROOM * (1 - NEWEST)), MOST - newest), *behind]


def _fitting(asked: Sequence[Asked], room: int, most: int) -> list[Asked]:
    """As many of the first ones as there is room for, at least one, which is cut where it alone is too long."""
    taken: list[Asked] = []
    for id, words in asked[:most]:
        if len(words) > room:
            break
        taken.append((id, words))
        room -= len(words)
    return taken or [(id, _cut(words, room)) for id, words in asked[:1]]


def _cut(words: str, room: int) -> str:
    return words if len(words) <= room else words[: max(0, room - len(CUT))] + CUT
