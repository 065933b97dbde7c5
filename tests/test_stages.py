"""A history larger than its summarizer: cut at safe points, in pieces that fit, and no finished piece is written twice."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from foldline.errors import SummaryFailed
from foldline.messages import Message, Text, ToolCall, ToolResult
from foldline.view import Brief
from foldline.writers.model import ModelSummarizer
from foldline.writers.prompt import SECTIONS
from foldline.writers.stages import StageFile, finished, keys_of, safe_ends, stage_end
from providers import Provider, Request, is_silent, says, status

WORDS = "Because of the parser, and of what the tokenizer hands to it. " * 20


def user(words: str) -> Message:
    return Message("user", (Text(words),))


def talk(turns: int) -> list[Message]:
    messages = []
    for i in range(turns):
        messages += [
            user(f"Question {i}."),
            Message("assistant", (Text(WORDS), ToolCall(f"c{i}", "read", '{"path": "a.py"}'))),
            Message("tool", (ToolResult(f"c{i}", (Text(f"line {i}\n" * 50),)),)),
            Message("assistant", (Text(f"Answer {i}."),)),
        ]
    return messages


pytest.importorskip("pydantic_ai")


# -- cutting ------------------------------------------------------------------------------------------------------


def test_stages_end_where_no_pair_is_split() -> None:
    assert safe_ends(talk(2)) == [1, 3, 4, 5, 7, 8]


def test_a_stage_takes_what_fits_and_at_least_one_message() -> None:
    sizes, ends = [10] * 8, safe_ends(talk(2))
    assert stage_end(sizes, ends, 0, 1_000) == 8
    assert stage_end(sizes, ends, 0, 45) == 4
    assert stage_end(sizes, ends, 0, 25) == 1
    assert stage_end(sizes, ends, 1, 15) == 2
    assert stage_end(sizes, ends, 1, 5) == 2
    assert stage_end(sizes, ends, 4, 5) == 5


def test_the_longest_finished_stage_of_the_same_messages_is_found() -> None:
    messages = talk(3)
    keys = keys_of(messages, "purpose")
    kept = {keys[3]: "first", keys[7]: "second", keys[11]: "whole", keys_of(messages, "another")[10]: "other"}
    assert finished(keys, kept) == (8, "second")
    assert finished(keys_of([user("Else."), *messages[1:]], "purpose"), kept) == (0, "")
    assert finished([], kept) == (0, "")


def test_a_stage_file_keeps_what_was_written_and_passes_over_a_torn_line(tmp_path: Path) -> None:
    file = StageFile(tmp_path / "stages.jsonl")
    file["a"] = "one\n한국어"
    file["b"] = "two"
    with (tmp_path / "stages.jsonl").open("ab") as torn:
        torn.write(b'["c", "thr')
    again = StageFile(tmp_path / "stages.jsonl")
    assert dict(again) == {"a": "one\n한국어", "b": "two"}
    del again["a"]
    assert list(again) == ["b"]


# -- with a model -------------------------------------------------------------------------------------------------


def summary(note: str) -> str:
    return "\n".join(f"## {name}\n- {note}" for name in SECTIONS)


def by(provider: Provider, **more: object) -> ModelSummarizer:
    more = {"retries": 0, "timeout": 20.0, "max_tokens": 500, "window": 5_000, **more}
    return ModelSummarizer("demo-1", base_url=provider.url, **more)  # type: ignore[arg-type]


def test_each_stage_updates_the_summary_of_the_one_before() -> None:
    def counted(request: Request) -> str:
        return summary(f"stage {len(provider.requests)}")

    with Provider(says(counted)) as provider:
        draft = asyncio.run(by(provider)(Brief(400), talk(12)))
    count = len(provider.requests)
    assert count > 2
    assert f"stage {count}" in draft.text
    assert draft.usage is not None
    assert draft.usage.output == 50 * count
    for i, request in enumerate(provider.requests):
        assert ("stage" in request.material) == (i > 0)
        assert ("its rest follows later" in request.material) == (i < count - 1)
        assert len(request.material) < 5_000 * 3
    told = "".join(request.material for request in provider.requests)
    assert all(told.count(f"Question {i}.") == 1 for i in range(12))


def test_a_message_that_is_too_large_is_named_and_sampled() -> None:
    huge = user("HEAD " + "x" * 100_000 + " TAIL")
    with Provider(says(summary("fine"))) as provider:
        asyncio.run(by(provider)(Brief(400), [user("Before."), huge, user("After.")]))
    told = "".join(request.material for request in provider.requests)
    assert "too long to be shown whole: about " in told
    assert "HEAD" in told
    assert "TAIL" in told
    assert all(len(request.material) < 5_000 * 3 for request in provider.requests)


@pytest.mark.parametrize("break_", [status(401), is_silent], ids=["an error", "a time-out"])
def test_after_a_failure_the_next_try_goes_on_where_it_stopped(break_) -> None:
    messages = talk(12)
    with Provider(says(summary("one")), says(summary("two")), break_, says(summary("rest"))) as provider:
        summarizer = by(provider, timeout=2.0)
        with pytest.raises(SummaryFailed):
            asyncio.run(summarizer(Brief(400), messages))
        draft = asyncio.run(summarizer(Brief(400), messages))
    told = [request.material for request in provider.requests]
    assert sum("Question 0." in text for text in told) == 1
    assert "two" in told[3]
    assert "rest" in draft.text


def test_another_model_goes_on_where_the_first_one_stopped() -> None:
    with Provider(says(summary("one")), status(401), says(summary("rest"))) as provider:
        draft = asyncio.run(by(provider, fallbacks=("demo-2",))(Brief(400), talk(12)))
    assert [request.body["model"] for request in provider.requests][:3] == ["demo-1", "demo-1", "demo-2"]
    assert sum("Question 0." in request.material for request in provider.requests) == 1
    assert "rest" in draft.text


@pytest.mark.parametrize("bad", [says(""), says(summary("half"), stop="length"), says("<html>"), says('{"a": 1}')])
def test_a_stage_that_is_no_summary_is_not_built_on(bad) -> None:
    with Provider(bad) as provider:
        summarizer = by(provider)
        with pytest.raises(SummaryFailed, match="a stage of the summary could not be used"):
            asyncio.run(summarizer(Brief(400), talk(12)))
        assert len(provider.requests) == 1
        assert not summarizer.stages


def test_a_process_killed_between_two_stages_leaves_the_finished_one_behind(tmp_path: Path) -> None:
    code = f"""
        import asyncio, os, sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from foldline.writers.model import ModelSummarizer
        from foldline.writers.stages import StageFile
        from foldline.view import Brief
        from test_stages import talk

        summarizer = ModelSummarizer(
            "demo-1", base_url=sys.argv[1], retries=0, max_tokens=500, window=5_000, stages=StageFile(sys.argv[2])
        )
        asyncio.run(summarizer(Brief(400), talk(12)))
    """
    path = tmp_path / "stages.jsonl"
    with Provider(says(summary("one")), is_silent, says(summary("rest"))) as provider:
        child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code), provider.url, str(path)])
        while len(provider.requests) < 2 and child.poll() is None:
            time.sleep(0.02)
        child.kill()
        child.wait()
        assert len(StageFile(path)) == 1
        draft = asyncio.run(by(provider, stages=StageFile(path))(Brief(400), talk(12)))
    assert sum("Question 0." in request.material for request in provider.requests) == 1
    assert "one" in provider.requests[2].material
    assert "rest" in draft.text
