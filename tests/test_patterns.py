"""Patterns of which a text needs few: what is told without compiling the others is what all of them would tell."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from foldline._facts.language import read_words
from foldline._facts.patterns import Patterns, lower, needed, parts_of
from foldline._facts.rules import LANGUAGES, normal

UNSEEN = Path(__file__).with_name("rules_unseen.tsv")


@pytest.mark.parametrize(
    ("pattern", "needs"),
    [
        (r"(?:never|do not) (?:ever )?touch", [{"never", "do not"}, {" "}, {"touch"}]),
        (r"\bnotes?\b", [{"note"}]),
        (r"^(?!why)only (?:report|tell me)\b", [{"only "}, {"report", "tell me"}]),
        (r"(?=.{2,62}\bmust\b).*[a-z]+\?", [{"must"}, {"?"}]),
        (r"(?:as is|\w+ed)", [{"as is", "ed"}]),
        (r"(?:as is|\w+)", []),
        (r"no{2,} way", [{"no"}, {" way"}]),
    ],
)
def test_a_pattern_needs_what_stands_in_all_that_it_matches(pattern, needs) -> None:
    assert list(map(set, needed(pattern, {}))) == needs


@pytest.mark.parametrize("language", LANGUAGES)
def test_of_all_cues_those_match_that_would_if_each_were_tried(language) -> None:
    table = read_words(language)
    parts = parts_of(table.get("parts", {}))
    with UNSEEN.open(encoding="utf-8", newline="") as file:
        said = [normal(row[-1]).lower() for row in csv.reader(file, delimiter="\t") if language in row]
    assert said
    for kind, patterns in table["cues"].items():
        whole = "|".join(f"(?:{pattern})" for pattern in patterns)
        for name, part in parts.items():
            whole = whole.replace(name, part.pattern)
        each = re.compile(lower(whole))
        found = Patterns(patterns, parts)
        assert [found.match_in(text) for text in said] == [bool(each.search(text)) for text in said], kind
