"""The example programs, offline."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from foldline import Compactor

PAPER = runpy.run_path(str(Path(__file__).parents[1] / "examples/paper/paper.py"))
OLD, NEW = "Five chapters", "Six chapters"

Asked = list[tuple[str, list[dict[str, Any]]]]


class Stopped(Exception):
    """The program ends here."""


def written(folder: Path, stop: int = 0) -> Asked:
    """What a model was asked, until it stopped at a call."""
    asked: Asked = []

    def ask(system: str, messages: list[dict[str, Any]]) -> str:
        if len(asked) + 1 == stop:
            raise Stopped
        asked.append((system, messages))
        answer: str = PAPER["scripted"](system, messages)
        return answer

    PAPER["main"](folder, ask)
    return asked


def sections(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in folder.glob("*.md")}


def test_a_paper_of_thirteen_stages_stays_within_a_window_of_a_few(tmp_path: Path) -> None:
    asked = written(tmp_path)
    assert len(sections(tmp_path)) == 13
    count = Compactor("gpt-5.4", window=1_000_000)
    for system, messages in asked:
        count.fit([{"role": "system", "content": system}, *messages])
        assert count.count.tokens <= PAPER["WINDOW"]
    system, messages = asked[-1]
    for stage in PAPER["STAGES"][:-1]:
        assert f"- {stage.name}: " in system
    assert len(messages) < len(asked)


def test_a_decision_that_the_author_goes_back_on_is_said_no_more(tmp_path: Path) -> None:
    asked = written(tmp_path)
    back = next(n for n, (_, messages) in enumerate(asked) if "ethics" in messages[-1]["content"])
    assert all(f"- Outline: {OLD}" in system for system, _ in asked[12:back])
    assert not any(OLD in system for system, _ in asked[back:])
    assert all(f"- Outline: {NEW}" in system for system, _ in asked[back + 1 :])
    assert OLD not in str(asked[-1])


def test_a_paper_that_was_left_is_gone_on_with(tmp_path: Path) -> None:
    whole, halves = tmp_path / "whole", tmp_path / "halves"
    asked = written(whole)
    for stop in (14, 14):
        with pytest.raises(Stopped):
            written(halves, stop)
    rest = written(halves)
    assert sections(halves) == sections(whole)
    assert asked[-len(rest) :] == rest
