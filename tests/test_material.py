"""A history larger than the window of the model that summarizes it: a page tells it what has no place word for word."""

from __future__ import annotations

import asyncio

import pytest

from foldline import Brief, Message, ModelSummarizer, Summary
from foldline._writers.prompt import SECTIONS
from foldline.extend import Text, ToolCall, ToolResult, estimate
from providers import Provider, says, status
from talk import says as replies
from talk import user

pytest.importorskip("pydantic_ai")

WORDS = "Because of the parser, and of what the tokenizer hands to it. " * 20
GOOD = "\n".join(f"## {name}\n- fine" for name in SECTIONS)
RULE = "Never change the grammar in src/grammar.peg."


def talk(turns: int) -> list[Message]:
    messages = [user(f"Rewrite the parser of the ledger in src/parser.py, please. {RULE}")]
    for i in range(turns):
        messages += [
            user(f"Question {i} about the parser: what becomes of rule_{i} of the old one?"),
            Message("assistant", (Text(WORDS), ToolCall(f"c{i}", "read", f'{{"path": "src/part_{i}.py"}}'))),
            Message("tool", (ToolResult(f"c{i}", (Text(f"line {i}\n" * 50),)),)),
            replies(f"Answer {i}: rule_{i} is kept, its limit is now {4_000 + i}."),
        ]
    return messages


def asked(messages: list[Message], window: int = 6_000, focus: str = "") -> str:
    """What a model with a small window is asked, once."""
    with Provider(says(GOOD)) as provider:
        summarizer = ModelSummarizer("demo-1", base_url=provider.url, retries=0, max_tokens=500, window=window)
        draft = asyncio.run(summarizer(Brief(400, focus), messages))
    assert draft.text == GOOD
    assert draft.calls == len(provider.requests) == 1
    return provider.requests[0].material


def test_the_older_messages_are_told_by_a_page_and_the_newest_word_for_word() -> None:
    text = asked(talk(24))
    older, newest = text.split("Answer 22: rule_22 is kept", 1)
    assert WORDS.strip() in newest
    assert "line 23\nline 23\n" in newest
    assert f"- {RULE}" in older
    assert "Answer 3: rule_3 is kept, its limit is now 4003." in older
    assert "> Question 3 about the parser" in older
    assert newest.count("Question 23 about the parser") == 1
    assert "> Question 23 about the parser" not in older
    assert estimate(text) < 0.8 * 6_000


def test_no_call_is_told_apart_from_its_result() -> None:
    for window in range(4_000, 8_000, 250):
        text = asked(talk(12), window)
        mark = text.split(" ", 2)[1]
        covers = int(text.split(f"#{mark} 1 to ", 1)[1].split(",", 1)[0])
        assert text.split(f"#{mark} {covers + 1} ", 1)[1].startswith(("user\n", "assistant\n"))


def test_a_history_that_fits_is_sent_as_it_is() -> None:
    text = asked(talk(3), 60_000)
    assert "excerpt" not in text
    assert text.count(WORDS.strip()) == 3


def test_an_earlier_summary_is_updated_and_not_told_by_the_page_as_well() -> None:
    earlier = "## Goal\n- The ledger's parser was chosen among eleven candidates in the spring."
    text = asked([Message("user", (Summary(earlier),)), *talk(24)])
    assert text.count("chosen among eleven candidates") == 1
    assert "Update the previous summary" in text


def test_what_the_user_wants_kept_reaches_the_page() -> None:
    focus = "the answer about rule_3 of the old parser"
    assert focus in asked(talk(24), focus=focus)


def test_a_message_that_is_too_large_is_named_and_sampled() -> None:
    huge = user("HEAD " + "x" * 100_000 + " TAIL")
    text = asked([user("Before."), huge, replies("After.")])
    assert "too long to be shown whole: about " in text
    assert "HEAD" in text
    assert "TAIL" in text
    assert len(text) < 6_000 * 3


def test_a_single_message_that_is_too_large_leaves_nothing_for_a_page() -> None:
    text = asked([user("시작. " + "파서를 다시 작성합니다. " * 20_000)])
    assert "too long to be shown whole" in text
    assert "excerpt" not in text


def test_another_model_is_given_what_its_own_window_holds() -> None:
    with Provider(status(401), says(GOOD)) as provider:
        summarizer = ModelSummarizer("demo[64k]", base_url=provider.url, retries=0, fallbacks=("demo[8k]",))
        asyncio.run(summarizer(Brief(400), talk(60)))
    large, small = (request.material for request in provider.requests)
    assert "excerpt" not in large
    assert "excerpt" in small
    assert len(small) < len(large) / 3
