"""Makes the tables of foldline.facts.rules and prints what they are worth on sentences that they were not made from.

    python scripts/train_rules.py          writes src/foldline/facts/words/*.json; -v lists what went wrong

Needs numpy, scipy and scikit-learn. `rules/<language>.tsv` has the sentences with their labels, written by hand for
this purpose; a quarter of them, chosen by a hash of the sentence, is held out. `rules/<language>.words` has the marks of
words, one mark a line: what a word does is knowledge, what it weighs is learned. A feature's weight is one for all
languages plus one for its own, so that a language with few sentences leans on the others.

Thresholds are chosen by cross-validation inside the training part, for precision before recall.
"""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from foldline.facts import rules
from foldline.facts.rules import LIFETIMES, SCALE, Table, Words, names, normal, ready

HERE = Path(__file__).resolve().parent / "rules"
OUT = HERE.parent.parent / "src/foldline/facts/words"
LABELS = ("none", *LIFETIMES)
HELD_OUT = 64
"""Of 256 sentences."""

OWN, SPELLED = 0.5, 0.7
"""How strongly a language's own weights, and those of words as they are written, are believed beside the shared ones."""

STRICTNESS = 0.5
OTHER_SCRIPTS = ("zh", "ja", "ko")
OTHER_SIZE, OTHER_COUNT = 400, 12
"""As if so many sentences of each language without a table were there, with so many of each of its commonest words."""

RIGHT = 0.9
"""How often a lifetime that is given must be right, in cross-validation."""

LEAST, LEAST_OWN = 5, 5
"""Weights below this, in the tables' units, are left out: of what all languages share, and of each language's own."""


class Example(NamedTuple):
    """A labelled sentence."""

    text: str
    label: int
    language: str


def held_out(sentence: str) -> bool:
    return hashlib.sha256(sentence.encode()).digest()[0] < HELD_OUT


def examples(language: str) -> list[Example]:
    rows = (line.split("\t", 1) for line in (HERE / f"{language}.tsv").read_text("utf-8").splitlines())
    return [Example(text, LABELS.index(label), language) for label, text in rows]


def lexicon(language: str) -> Table:
    """The marks of a language's words, without weights."""
    table = Table(marks={}, stems={}, weights={})
    for line in (HERE / f"{language}.words").read_text("utf-8").splitlines():
        mark, _, words = line.partition(": ")
        for word in map(str.strip, words.lower().split(", ")):
            stem = word.endswith("*") and language not in rules.UNSPACED
            place = table.stems if stem else table.marks
            key = word.rstrip("*") if language in rules.UNSPACED else " ".join(rules._TOKEN.findall(word))
            if key and mark not in place.get(key, ""):
                place[key] = place.get(key, "") + mark
    return table


def weighed(example: Example, words: Words) -> dict[str, float]:
    found: Counter[str] = Counter()
    for name in names(normal(example.text), words):
        if name.startswith("#"):
            found[f"{example.language}/{name}"] += SPELLED
        else:
            found[f"/{name}"] += 1
            found[f"{example.language}/{name}"] += OWN
    return found


def fitted(features: Any, y: np.ndarray) -> LogisticRegression:
    return LogisticRegression(C=STRICTNESS, max_iter=1500).fit(features, y)


def margins(scores: np.ndarray) -> np.ndarray:
    """How far each lifetime is above none."""
    return scores[:, 1:] - scores[:, :1]


def decided(above: np.ndarray, floors: Sequence[float]) -> np.ndarray:
    beyond = above - np.asarray(floors)
    return np.where(beyond.max(1) > 0, beyond.argmax(1) + 1, 0)


def floors_of(above: np.ndarray, y: np.ndarray, target: float) -> list[float]:
    """The lowest thresholds at which each lifetime is right in `target` of its cases."""
    floors = [0.0, 0.0, 0.0]
    for _ in range(2):
        for place in range(3):
            best = 3.0
            for floor in np.arange(3.0, -1.0, -0.05):
                trial = [*floors[:place], float(floor), *floors[place + 1 :]]
                chosen = decided(above, trial) == place + 1
                if chosen.any() and (y[chosen] == place + 1).mean() >= target:
                    best = float(floor)
            floors[place] = best
    return floors


def told(title: str, found: np.ndarray, y: np.ndarray) -> str:
    parts = []
    for place, name in enumerate(LIFETIMES, 1):
        right = ((found == place) & (y == place)).sum()
        parts.append(f"{name} {right / max(1, (found == place).sum()):.2f} / {right / max(1, (y == place).sum()):.2f}")
    any_right = ((found > 0) & (y > 0)).sum()
    parts.append(f"any {any_right / max(1, (found > 0).sum()):.2f} / {any_right / max(1, (y > 0).sum()):.2f}")
    return f"{title:9} {len(y):5}   " + "   ".join(parts)


def weights_of(owner: str, weights: dict[str, np.ndarray], least: int) -> dict[str, tuple[int, int, int]]:
    """The weights of one language, or with no owner the shared ones, rounded; those that say little are left out."""
    kept: dict[str, tuple[int, int, int]] = {}
    for name, weight in sorted(weights.items()):
        whose, _, feature = name.partition("/")
        share = 1.0 if not owner else SPELLED if feature.startswith("#") else OWN
        rounded = np.clip(np.rint(weight * share * SCALE), -127, 127).astype(int)
        if whose == owner and abs(rounded).max() >= least:
            kept[feature] = (int(rounded[0]), int(rounded[1]), int(rounded[2]))
    return kept


def votes(rows: Iterable[Example]) -> dict[str, dict[str, int]]:
    """How strongly words and letters speak for a language that is written in Latin letters.

    Languages without a table have their commonest words here, so that they are not taken for one that has.
    """
    seen: dict[str, Counter[str]] = {}
    size: Counter[str] = Counter()
    for row in rows:
        if row.language not in OTHER_SCRIPTS:
            size[row.language] += 1
            count(set(rules._TOKEN.findall(normal(row.text))), row.language, 1, seen)
    for line in (HERE / "others.txt").read_text("utf-8").splitlines():
        name, _, words = line.partition(": ")
        size[name] = OTHER_SIZE
        count(set(words.split()), name, OTHER_COUNT, seen)
    found: dict[str, dict[str, int]] = {}
    for token, counts in sorted(seen.items()):
        share = {name: (counts[name] + 0.2) / size[name] for name in size}
        usual = sum(share.values()) / len(share)
        worth = {name: round(8 * float(np.log(part / usual))) for name, part in share.items() if counts[name]}
        if sum(counts.values()) > 1 and max(worth.values()) > 4:
            found[token] = {name: value for name, value in sorted(worth.items()) if value > 0}
    return found


def count(tokens: set[str], language: str, times: int, seen: dict[str, Counter[str]]) -> None:
    letters = {letter for letter in "".join(tokens) if not letter.isascii()}
    for part in tokens | letters:
        if part[0].isalpha():
            seen.setdefault(part, Counter())[language] += times


def judged(rows: Iterable[Example]) -> np.ndarray:
    """What the shipped tables say."""
    return np.array([LABELS.index(rules.lifetime(row.text, language=row.language)) for row in rows])


def write(name: str, table: object) -> None:
    (OUT / f"{name}.json").write_bytes(msgspec.json.encode(table, order="sorted") + b"\n")


def main() -> None:
    languages = sorted(path.stem for path in HERE.glob("*.tsv"))
    lexicons = {language: lexicon(language) for language in languages}
    words = {language: ready(t, Table(), language) for language, t in lexicons.items()}
    rows = [row for language in languages for row in examples(language)]
    train = [row for row in rows if not held_out(row.text)]
    vectors = DictVectorizer()
    features = vectors.fit_transform([weighed(row, words[row.language]) for row in train])
    y = np.array([row.label for row in train])
    above = np.zeros((len(y), 3))
    for inside, outside in StratifiedKFold(5, shuffle=True, random_state=0).split(features, y):
        above[outside] = margins(fitted(features[inside], y[inside]).decision_function(features[outside]))
    floors = floors_of(above, y, RIGHT)
    print("thresholds", np.round(floors, 2))
    print(told("train, cv", decided(above, floors), y))
    model = fitted(features, y)
    values = (model.coef_[1:] - model.coef_[:1]).T
    weights = dict(zip(vectors.get_feature_names_out(), values))
    bias = model.intercept_[1:] - model.intercept_[0] - np.array(floors)
    OUT.mkdir(exist_ok=True)
    shared = weights_of("", weights, LEAST)
    shared["bias"] = tuple(int(b) for b in np.rint(bias * SCALE))
    write("shared", Table(weights=shared))
    for language in languages:
        own = weights_of(language, weights, LEAST_OWN)
        write(language, Table(lexicons[language].marks, lexicons[language].stems, own))
    write("languages", votes(train))
    rules._words.cache_clear()
    rules._votes.cache_clear()
    print(f"shared {(OUT / 'shared.json').stat().st_size / 1000:.0f} kB")
    print("\nheld out, precision / recall")
    for language in languages:
        held = [row for row in rows if row.language == language and held_out(row.text)]
        size = (OUT / f"{language}.json").stat().st_size
        print(told(language, judged(held), np.array([row.label for row in held])), f"  {size / 1000:.0f} kB")
    held = [row for row in rows if held_out(row.text)]
    print(told("all", judged(held), np.array([row.label for row in held])))
    if "-v" in sys.argv:
        for row, found in zip(held, judged(held)):
            if found != row.label:
                print(row.language, LABELS[row.label], "->", LABELS[found], "|", row.text)


if __name__ == "__main__":
    main()
