"""A history too large for its summarizer, in stages: cut at safe points, and each finished stage kept."""

from __future__ import annotations

import os
from collections.abc import Iterator, MutableMapping, Sequence
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path

import msgspec

from foldline.messages import Message
from foldline.view import CUT_RULES, Entry, chain

KEPT = 256
"""Finished stages that are held on to; older ones of a side file are left behind when it is opened."""


def safe_ends(messages: Sequence[Message]) -> list[int]:
    """Where the messages may be parted, the end included: no pair is split, no result parted from its call."""
    entries = [Entry(str(i), message) for i, message in enumerate(messages)]
    points = set.intersection(*(rule(entries) for rule in CUT_RULES))
    return sorted((points | {len(messages)}) - {0})


def stage_end(sizes: Sequence[int], ends: Sequence[int], start: int, room: int) -> int:
    """Where the stage that begins at `start` ends: the last safe end within `room` tokens.

    Where not even the first safe end is within it, the pair or batch before it is parted; a stage has one message at least.
    """
    behind = list(accumulate(sizes[start:]))
    fits = start + sum(tokens <= room for tokens in behind)
    if fits >= len(sizes):
        return len(sizes)
    return max((end for end in ends if start < end <= fits), default=max(fits, start + 1))


def keys_of(messages: Sequence[Message], purpose: str) -> list[str]:
    """For each message a key of all messages up to it and of what the summary is for, the same in every process."""
    seed = blake2b(purpose.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return list(chain(messages, seed))


def finished(keys: Sequence[str], kept: MutableMapping[str, str]) -> tuple[int, str]:
    """How many messages the longest finished stage covers, and its summary; 0 where none is kept."""
    for i in range(len(keys) - 2, -1, -1):
        if (text := kept.get(keys[i])) is not None:
            return i + 1, text
    return 0, ""


class StageFile(MutableMapping[str, str]):
    """Finished stages in a file beside a log, one JSON line each, written at once so that a killed process keeps them."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._texts = dict(_lines(self.path))

    def __getitem__(self, key: str) -> str:
        return self._texts[key]

    def __setitem__(self, key: str, text: str) -> None:
        self._texts[key] = text
        line = msgspec.json.encode([key, text]) + b"\n"
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, line)
            os.fsync(file)
        finally:
            os.close(file)

    def __delitem__(self, key: str) -> None:
        """Forgets a stage in this process; its line stays in the file."""
        del self._texts[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """The newest stages of a file; a torn line is a crash, and is passed over."""
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return
    for line in lines[-KEPT:]:
        try:
            yield msgspec.json.decode(line, type=tuple[str, str])
        except msgspec.DecodeError:
            continue
