"""The user's side of whole sessions for `memory`: which sentences become rules, at the rate at which people give rules.

Each file is what one person typed in a session, a sentence to a line behind its label and a tab, its messages apart by blank
lines. Beside what foldline takes for a rule stands what its cues alone do, and the share of all sentences that are rules, which is
the precision of whoever takes each for one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from foldline._facts.rules import lifetime, rules_in
from memory_measures import Count

FOLDER = "typed"
RULE, BINDING = "standing", ("standing", "once", "back")
LASTING = ("standing", "task")

Said = tuple[str, str]
"""A label and a sentence."""


def messages(folder: Path, half: str) -> Iterator[tuple[str, list[Said]]]:
    """The messages of a half, each with its language; none where there are none."""
    for file in sorted((folder / FOLDER / half).glob("*.txt")):
        lines = (line.partition("\t") for line in file.read_text("utf-8").splitlines())
        for typed, some in groupby(lines, key=lambda line: bool(line[1])):
            if typed:
                yield file.stem[:2], [(label, text) for label, _, text in some]


def joined(said: Sequence[Said]) -> str:
    """A message as it was typed: sentences that end go on in their line, others do not."""
    return "".join(f"{text} " if text.endswith((".", "!", "?", "。", "！", "？")) else f"{text}\n" for _, text in said)


def taken(said: Sequence[Said], language: str) -> list[bool]:
    """Which sentences of a message are part of a rule that foldline takes from it."""
    rules = [_letters(text) for text, lasts in rules_in(joined(said), language) if lasts in LASTING]
    return [any(_letters(text) in rule or rule in _letters(text) for rule in rules) for _, text in said]


def by_cues(said: Sequence[Said], language: str) -> list[bool]:
    """Which sentences have a cue of a rule."""
    return [lifetime(text, language=language) == RULE for _, text in said]


def worth(found: Sequence[tuple[str, bool]]) -> tuple[str, str, str]:
    """Precision, the share of what is taken for a rule that binds at all, and recall."""
    told = [label for label, is_told in found if is_told]
    right = sum(label == RULE for label in told)
    binding = sum(label in BINDING for label in told)
    wanted = sum(label == RULE for label, _ in found)
    return tuple(map(_of, (Count(right, len(told)), Count(binding, len(told)), Count(right, wanted))))  # type: ignore[return-value]


def tables(folder: Path, half: str, cells: Callable[[Sequence[Sequence[str]]], None]) -> None:
    """Prints precision and recall of rules for each language."""
    read: dict[str, list[tuple[str, bool, bool]]] = {}
    for language, said in messages(folder, half):
        rows = zip(said, taken(said, language), by_cues(said, language))
        read.setdefault(language, []).extend((label, mine, cued) for (label, _), mine, cued in rows)
    if not read:
        print(f"no typed sessions in {folder / FOLDER / half}: nothing measured")
        return
    every = [row for rows in read.values() for row in rows]
    heads = ("rules as people type", "of all", "precision", "that bind", "recall", "cues alone", "that bind", "recall")
    lines = [heads]
    for language, rows in [*sorted(read.items()), ("all", every)]:
        share = Count(sum(label == RULE for label, _, _ in rows), len(rows))
        mine, cued = worth([(a, b) for a, b, _ in rows]), worth([(a, c) for a, _, c in rows])
        lines.append((language, _of(share), *mine, *cued))
    cells(lines)


def _letters(text: str) -> str:
    return "".join(re.findall(r"\w", text.lower()))


def _of(count: Count) -> str:
    return "-" if count.share is None else f"{count.share:.2f} of {count.of}"
