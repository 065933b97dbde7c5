"""Patterns of which a text needs few: what is told without compiling the others is what all of them would tell."""

from __future__ import annotations

import csv
import re
import signal
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules, walk_packages
from typing import Any

import pytest

import foldline
from foldline import Session, _facts, _writers
from foldline._facts.language import read_words
from foldline._facts.patterns import Patterns, beginnings_of, lower, needed, parts_of, rare
from foldline._facts.rules import LANGUAGES, normal
from foldline._messages import text_of
from foldline._patterns import pattern

UNSEEN = Path(__file__).with_name("rules_unseen.tsv")
SAMPLE = Path(__file__).parents[1] / "samples" / "invoices.jsonl"


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
        (r"(?P<ended>exit|left) with (?i:code) <tag>", [{"exit", "left"}, {" with "}, {" <tag>"}]),
        (r"(?:^|\n)ok\n", [{"ok\n"}]),
    ],
)
def test_a_pattern_needs_what_stands_in_all_that_it_matches(regex, needs) -> None:
    assert list(map(set, needed(regex, {}))) == needs


@pytest.mark.parametrize(
    ("regex", "begins"),
    [
        (r"^(?:please |now,? )*keep (?:it|this)", {"please ", "now", "keep "}),
        (r"^(?!why)(?:rules?|note(?:s| that)|i.d)\b", {"rule", "note", "i"}),
        (r"^hm+, (?:so|no)", {"hm"}),
        (r"^e?-?mails", {"e", "-", "mails"}),
        (r"^<thing> first", {"tests", "docs"}),
        (r"^(?:so )?\w+ing", set()),
        (r"^(?:so|\W*)", set()),
        (r"^(?:so )*", set()),
        (r"^no|maybe", set()),
        (r"\bkeep", set()),
    ],
)
def test_a_text_begins_with_what_a_pattern_begins_with_that_looks_nowhere_else(regex, begins) -> None:
    assert beginnings_of(regex, parts_of({"thing": "(?:tests|docs)"})) == begins


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


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ok\nError 7", ["Error 7"]),
        ("so\nERROR 7\nerror 8", ["ERROR 7", "error 8"]),
        ("an Error 7", []),
        ("Error\n7", []),
        ("fatal 3", ["fatal 3"]),
        ("", []),
    ],
)
def test_what_is_rare_is_found_wherever_it_stands(text, found) -> None:
    told = rare(r"^(?:error|fatal) \d", re.MULTILINE | re.IGNORECASE)
    assert told.findall(text) == [each[0] for each in told.finditer(text)] == found
    assert [told.search(text) is not None, told.sub("", text) != text] == [bool(found)] * 2
    assert (told.match(text) is not None) == (bool(found) and text.startswith(found[0]))


def test_what_is_rare_in_outputs_is_found_as_if_it_were_tried_at_each_place() -> None:
    modules = [import_module(f"{_facts.__name__}.{module.name}") for module in iter_modules(_facts.__path__)]
    known = [each for module in modules for each in vars(module).values() if type(each) is type(rare(""))]
    messages = Session(SAMPLE).context.messages
    texts = [message.text for message in messages] + [text_of(result) for m in messages for result in m.results]
    assert known
    for each in known:
        tried = re.compile(each.pattern, each.flags)
        assert [each.findall(text) for text in texts] == [tried.findall(text) for text in texts], each.pattern
    assert sum(bool(each.findall(text)) for each in known for text in texts)


@pytest.mark.parametrize("room", [_facts, _writers], ids=lambda room: room.__name__)
def test_what_is_compiled_where_it_is_first_met_is_a_pattern(room) -> None:
    """Nobody else would be told before a session meets it."""
    modules = [import_module(f"{room.__name__}.{module.name}") for module in iter_modules(room.__path__)]
    waiting = [value for module in modules for value in vars(module).values() if type(value) is type(pattern(""))]
    assert waiting
    assert all(isinstance(each.pattern, str) for each in waiting)


def test_what_is_rare_may_have_groups_with_names_in_any_case() -> None:
    told = rare(r"error: (?P<Why>\w+)", re.IGNORECASE).search("So: ERROR: late")
    assert told is not None
    assert told["Why"] == "late"


RUNS = [*"_a0 \n-./\"'`([{<*#|:,\\=$é中", "a_", "a ", "a.", "a/", " \n", "a-", "0.", "](", "- ", "\\n", '"a', "<a"]


@cache
def every_pattern() -> list[re.Pattern[str]]:
    """Those of all rooms, and the cues of all languages."""
    return [*{(one.pattern, one.flags): one for one in all_patterns() if isinstance(one.pattern, str)}.values()]


def all_patterns() -> Iterator[re.Pattern[Any]]:
    rooms = [room.name for room in walk_packages(foldline.__path__, "foldline.")]
    for room in (name for name in rooms if ".integrations" not in name and not name.endswith("__main__")):
        yield from (one for one in vars(import_module(room)).values() if hasattr(one, "groupindex"))
    for language in LANGUAGES:
        table = read_words(language)
        for patterns in table["cues"].values():
            for cue in patterns:
                for name, part in parts_of(table.get("parts", {})).items():
                    cue = cue.replace(name, part.pattern)
                yield re.compile(lower(cue))


def late(*_: object) -> None:
    raise TimeoutError


def comes_back(regex: re.Pattern[str], said: str) -> bool:
    """Whether a search ends at all: one that is exponential in its input would outlast the tests by years."""
    signal.alarm(20)
    try:
        regex.search(said), regex.match(said), regex.fullmatch(said)
    except TimeoutError:
        return False
    finally:
        signal.alarm(0)
    return True


@pytest.mark.parametrize("run", RUNS)
def test_no_pattern_takes_ages_over_what_repeats_itself(run: str) -> None:
    before = signal.signal(signal.SIGALRM, late)
    try:
        assert [regex.pattern for regex in every_pattern() if not comes_back(regex, f"{run * 60}!\0")] == []
    finally:
        signal.signal(signal.SIGALRM, before)
