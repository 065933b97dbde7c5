"""What is learned of sentences: how likely each is of a kind, by its words."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline._facts.learned import features, learned, read, written
from foldline._facts.rules import rules_in

ROOT = Path(__file__).resolve().parents[1]

HINTED = [
    ("en", "Our accountant reads these on her phone, so anything longer than a screen is lost on her."),
    ("en", "I work nights, so calls before noon are no use to me."),
    ("fr", "Chez nous on tutoie tout le monde, alors pas de vous dans les textes."),
]
"""Rules without a word for one."""


@given(st.text())
def test_how_likely_a_sentence_is_of_each_kind_adds_up(text: str) -> None:
    known = learned("user", "en")
    assert known is not None
    shares = known.shares(text, ("cue none",))
    assert math.isclose(sum(shares.values()), 1.0)
    assert tuple(shares) == known.kinds


@given(st.text())
def test_a_sentence_has_features_and_each_of_them_once(text: str) -> None:
    found = features(text)
    assert len(found) == len({*found}) > 0


@given(st.dictionaries(st.text("ab c", min_size=1), st.tuples(st.integers(-127, 127), st.integers(-127, 127))))
def test_weights_are_read_as_they_were_written(rows: dict[str, tuple[int, int]]) -> None:
    weights = read(written(("none", "one", "other"), rows))
    assert {each: tuple(weights.row(each) or ()) for each in rows} == rows
    assert weights.row("a feature that nothing has") is None


def test_numbers_are_alike() -> None:
    assert features("at most 40 lines") == features("at most 7 lines")


def test_of_a_language_that_nobody_wrote_examples_of_nothing_is_known() -> None:
    assert learned("user", "xx") is None
    assert learned("user", "") is None


@pytest.mark.parametrize(("language", "said"), HINTED)
def test_a_rule_that_is_only_hinted_at_is_one(language: str, said: str) -> None:
    assert rules_in(said, language) == [(said, "standing")]


def test_the_weights_are_what_the_material_teaches(tmp_path: Path) -> None:
    run = [sys.executable, str(ROOT / "scripts" / "learn.py"), "--language", "ru", "--to", str(tmp_path)]
    subprocess.run(run, check=True, capture_output=True, env={"PYTHONHASHSEED": "7"})
    folder = ROOT / "packages" / "foldline" / "src" / "foldline" / "_facts" / "learned"
    for file in tmp_path.iterdir():
        assert file.read_bytes() == (folder / file.name).read_bytes()
    assert {file.name for file in tmp_path.iterdir()} >= {"user.ru", "agent.ru"}
