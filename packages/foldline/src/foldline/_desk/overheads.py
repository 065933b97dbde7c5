"""What agents were seen to send on this machine: learned by lists of sessions, used where a session was never billed.

One small file in the user's cache, which may be deleted, damaged or out of date at any time.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple, TypeVar

import msgspec

from foldline._cache import cache_file
from foldline._errors import SessionError
from foldline._sessions.descriptors import open_plain
from foldline._tokens.meter import RATIO_RANGE

N = TypeVar("N", int, float)

NAME = "overheads.msgpack"

LARGEST = 1 << 20
"""Tokens beyond which no overhead is believed, whatever the file says."""


class Taught(NamedTuple):
    """What the bills of one session taught: the overhead in tokens, and the ratio of billed tokens to estimated ones."""

    agent: str
    family: str
    overhead: int
    ratio: float


def keep(taught: Iterable[Taught], path: str) -> None:
    """Writes the medians of each agent and family of tokenizers; where that cannot be, the next list does."""
    from foldline._sessions.writing import replace_file

    found: defaultdict[str, defaultdict[str, list[Taught]]] = defaultdict(lambda: defaultdict(list))
    for each in taught:
        found[each.agent][each.family].append(each)
    medians = {
        agent: {
            family: (_middle([t.overhead for t in those]), _middle([t.ratio for t in those]))
            for family, those in families.items()
        }
        for agent, families in found.items()
    }
    with suppress(OSError, SessionError):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        replace_file(path, msgspec.msgpack.encode(medians))


def _middle(values: list[N]) -> N:
    return sorted(values)[len(values) // 2]


def usual(agent: str, family: str, environment: Mapping[str, str] = os.environ) -> tuple[int, float] | None:
    """The overhead and the ratio of such sessions on this machine; None where none was ever billed."""
    with suppress(OSError, ValueError, msgspec.DecodeError):
        with open(open_plain(cache_file(NAME, environment)), "rb") as file:
            kept = msgspec.msgpack.decode(file.read(), type=dict[str, dict[str, tuple[int, float]]])
        overhead, ratio = kept.get(agent, {}).get(family, (-1, 0.0))
        if 0 <= overhead <= LARGEST and RATIO_RANGE[0] <= ratio <= RATIO_RANGE[1]:
            return overhead, ratio
    return None
