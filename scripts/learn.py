"""Learns from labelled sentences what a sentence is: writes the weights that `foldline._facts.learned` reads.

    python scripts/learn.py [--material FOLDER] [--language CODE] [--to FOLDER]

`FOLDER/<speaker>/<language>-<author>.txt` has labelled sentences, one to a line behind its label and a tab, those of a message
together. What the weights are worth is printed by `benchmarks/memory.py --parts typed,sentences,endings`, on what others wrote.
"""

from __future__ import annotations

import argparse
import math
import random
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from foldline._facts import learned, reported
from foldline._facts.rules import WIDE_LETTER, as_given, lifetime, normal, wide_letters

ROOT = Path(__file__).resolve().parents[1]
MATERIAL = ROOT / "benchmarks" / "material" / "learning"
CUES = ROOT / "scripts" / "rules"
FOLDER = Path(learned.__file__).parent / "learned"

KINDS = {
    "user": ("other", "standing", "once", "back"),
    "agent": reported.KINDS,
}
"""What is learned of each speaker's sentences; every other label is the first."""

ROUNDS, RATE = 6, 0.15
"""How often all sentences are gone through, and the first step, of AdaGrad."""

OFTEN = 2
"""Sentences that have a feature whose weight is kept."""

LENGTHS = (16, 26, 41, 61, 86, 116, 161)
"""Letters of an alphabet by which sentences are sorted into short and long ones."""

LEAST = 5
"""What a feature has to weigh for or against some kind to be kept, as a whole number."""

MOST = 5.0
"""What a lesson counts at most."""


class Lesson(NamedTuple):
    spoken: list[str]
    given: tuple[str, ...]
    kind: int
    length: int
    """Which of `LENGTHS` it has."""


Counted = tuple[Lesson, float]
"""A lesson and how much it counts."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--material", type=Path, default=MATERIAL)
    parser.add_argument("--language", help="the code of the only language that is learned")
    parser.add_argument("--to", type=Path, default=FOLDER, help="where the weights are written")
    args = parser.parse_args()
    for speaker, kinds in KINDS.items():
        files = sorted((args.material / speaker).glob("*.txt"))
        known = dict.fromkeys(file.stem[:2] for file in files)
        for language in [args.language] if args.language in known else [] if args.language else known:
            written = [each for file in files if file.stem[:2] == language for each in _labelled(file)]
            learn = _of_users if speaker == "user" else _of_agents
            weights = _rounded(_fitted(learn(written, language), len(kinds)))
            file = args.to / f"{speaker}.{language}"
            file.write_bytes(learned.written(kinds, weights))
            print(f"{file.name:10} {len(weights):6,} features {file.stat().st_size:8,} bytes")


def _labelled(file: Path) -> Iterator[tuple[str, str]]:
    """The sentences of a file, each behind its label."""
    for line in file.read_text("utf-8").splitlines():
        label, tab, text = line.partition("\t")
        if tab:
            yield label, text


def _of_agents(written: Sequence[tuple[str, str]], _: str) -> list[Counted]:
    return [(_lesson(label, text, KINDS["agent"]), 1.0) for label, text in written]


def _of_users(written: Sequence[tuple[str, str]], language: str) -> list[Counted]:
    """What the sentences teach with what cues say of them, and the ones from which the cues were written, plain rules for the most
    part: of cues these have nothing to teach."""
    kinds, cues = KINDS["user"], CUES / f"{language}.tsv"
    typed = [_lesson(label, text, kinds, as_given(lifetime(text, language=language))) for label, text in written]
    plain = [_lesson(label, text, kinds) for label, text in (_labelled(cues) if cues.exists() else ())]
    return [*zip(typed, _typed(typed)), *((each, 1.0) for each in plain)]


def _lesson(label: str, text: str, kinds: Sequence[str], given: tuple[str, ...] = ()) -> Lesson:
    kind = kinds.index(label) if label in kinds else 0
    return Lesson(learned.features(normal(text)), given, kind, bisect(LENGTHS, _letters(text)))


def _letters(text: str) -> float:
    return len(text) + (WIDE_LETTER - 1) * wide_letters(text)


def _typed(lessons: Sequence[Lesson]) -> list[float]:
    """How much each lesson counts: in each length as many are none as in all, since who writes rules by the hundred makes them
    longer than people do who only type."""
    none = [lesson.kind == 0 for lesson in lessons]
    share = sum(none) / len(none)
    many = Counter(lesson.length for lesson in lessons)
    alike = Counter((lesson.length, is_none) for lesson, is_none in zip(lessons, none))
    return [
        min(MOST, (share if is_none else 1 - share) * many[each.length] / alike[each.length, is_none])
        for each, is_none in zip(lessons, none)
    ]


def _fitted(lessons: Sequence[Counted], kinds: int) -> dict[str, list[float]]:
    """The weights of a multinomial logistic regression, found by AdaGrad."""
    counts = Counter(each for lesson, _ in lessons for each in (*lesson.spoken, *lesson.given))
    weights: dict[str, list[float]] = defaultdict(lambda: [0.0] * kinds)
    squares: dict[str, list[float]] = defaultdict(lambda: [1e-6] * kinds)
    order = [*lessons]
    chance = random.Random(0)
    for _ in range(ROUNDS):
        chance.shuffle(order)
        for lesson, counts_for in order:
            scale = 1 / math.sqrt(len(lesson.spoken))
            active = [(each, scale) for each in lesson.spoken if counts[each] >= OFTEN]
            active += [(each, 1.0) for each in lesson.given]
            sums = [sum(weights[each][k] * by for each, by in active) for k in range(kinds)]
            odds = [math.exp(each) for each in sums]
            errors = [counts_for * (odds[k] / sum(odds) - (k == lesson.kind)) for k in range(kinds)]
            for each, by in active:
                for k in range(kinds):
                    step = errors[k] * by
                    squares[each][k] += step * step
                    weights[each][k] -= RATE * step / math.sqrt(squares[each][k])
    return weights


def _rounded(weights: Mapping[str, Sequence[float]]) -> dict[str, tuple[int, ...]]:
    """Weights as whole numbers, reckoned against the first kind; a feature that says next to nothing has none."""
    whole = {each: tuple(_whole(w - first) for w in rest) for each, (first, *rest) in weights.items()}
    return {each: whole[each] for each in sorted(whole) if max(map(abs, whole[each])) >= LEAST}


def _whole(weight: float) -> int:
    return max(-127, min(127, round(weight * learned.SCALE)))


if __name__ == "__main__":
    main()
