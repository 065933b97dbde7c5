"""Patterns of which a text needs few: what is told without compiling the others is what all of them would tell."""

from __future__ import annotations

import csv
import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

from foldline import _facts, _writers
from foldline._facts.language import read_words
from foldline._facts.patterns import Patterns, lower, needed, parts_of
from foldline._facts.rules import LANGUAGES, normal
from foldline._patterns import pattern

UNSEEN = Path(__file__).with_name("rules_unseen.tsv")


@pytest.mark.parametrize(
    ("regex", "needs"),
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
def test_a_pattern_needs_what_stands_in_all_that_it_matches(regex, needs) -> None:
    assert list(map(set, needed(regex, {}))) == needs


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


@pytest.mark.parametrize("room", [_facts, _writers], ids=lambda room: room.__name__)
def test_what_is_compiled_where_it_is_first_met_is_a_pattern(room) -> None:
    """Nobody else would be told before a session meets it."""
    modules = [import_module(f"{room.__name__}.{module.name}") for module in iter_modules(room.__path__)]
    waiting = [value for module in modules for value in vars(module).values() if type(value) is type(pattern(""))]
    assert waiting
    assert all(isinstance(each.pattern, str) for each in waiting)
