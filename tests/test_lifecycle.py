"""One call of a model: what is asked before a fold, what follows an overflow and a reply that was cut off, and processes that end."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, assert_type

import pytest

from foldline import (
    Brief,
    CannotFit,
    Compactor,
    ContextOverflow,
    FoldDue,
    Folded,
    Message,
    Session,
    Skipped,
    Summary,
    SummaryFellBack,
    Verdict,
    astep,
    command_hook,
    command_listener,
    step,
    without_unfinished_calls,
)
from foldline.extend import Text, extract
from test_docs import call_model, conversation, run

Item = dict[str, Any]
WINDOW = 8_000


def turns(count: int, first: int = 0) -> list[Item]:
    """So many requests and replies, about 110 tokens each two."""
    told: list[Item] = []
    for number in range(first, first + count):
        told.append({"role": "user", "content": f"Please look into part {number}, and never touch part {number + 1}."})
        told.append({"role": "assistant", "content": f"Part {number} reads setting_{number}. " * 12})
    return told


def words(items: Sequence[Any]) -> str:
    return "\n".join(str(item["content"]) for item in items)


class Model:
    """Answers at once; refuses what has more characters than it takes."""

    def __init__(self, takes: int = 10**6, *answers: Item) -> None:
        self.takes = takes
        self.answers = list(answers)
        self.sent: list[list[Item]] = []

    def __call__(self, items: list[Item]) -> Item:
        self.sent.append(items)
        if (tokens := len(words(items)) // 4) > self.takes:
            said = f"This model's maximum context length is {self.takes} tokens. However, your messages resulted in {tokens} tokens."
            raise ValueError(said)
        return self.answers.pop(0) if self.answers else answered("Fine.", prompt=tokens)


class Stubborn(Model):
    """Refuses whatever it is sent as too long."""

    def __call__(self, items: list[Item]) -> Item:
        self.sent.append(items)
        raise ValueError("Your input exceeds the context window of this model.")


def answered(content: str, reason: str = "stop", prompt: int = 900, completion: int = 5) -> Item:
    message = {"role": "assistant", "content": content}
    usage = {"prompt_tokens": prompt, "completion_tokens": completion}
    return {"choices": [{"message": message, "finish_reason": reason}], "usage": usage}


def stepped(way: str, compactor: Compactor, messages: list[Item], model: Model) -> Any:
    """A step in either of its two ways."""

    async def send(items: list[Item]) -> Item:
        await asyncio.sleep(0)
        return model(items)

    if way == "step":
        return step(compactor, messages, model)
    return asyncio.run(astep(compactor, messages, send))


ways = pytest.mark.parametrize("way", ["step", "astep"])


@ways
def test_a_step_folds_sends_and_observes(way: str) -> None:
    model, compactor = Model(), Compactor(window=WINDOW)
    messages = turns(90)
    stepped(way, compactor, messages, model)
    assert len(model.sent[0]) < len(messages)
    assert len(compactor.folds) == 1
    messages += turns(1, 90)
    stepped(way, compactor, messages, model)
    assert model.sent[1] == [*model.sent[0], *messages[-2:]]


@ways
def test_an_overflow_is_folded_for_and_sent_again_once(way: str) -> None:
    model, compactor = Model(takes=2_000), Compactor(window=WINDOW)
    stepped(way, compactor, turns(30), model)
    assert [len(words(items)) // 4 > 2_000 for items in model.sent] == [True, False]
    assert compactor.folds[-1].trigger == "overflow"
    assert compactor.budget.window == 2_000


@ways
def test_what_is_refused_again_ends_by_name(way: str) -> None:
    model, compactor = Stubborn(), Compactor(window=WINDOW)
    with pytest.raises(ContextOverflow, match=r"folded to [\d,]+ tokens and refused again") as end:
        stepped(way, compactor, turns(30), model)
    assert len(model.sent) == 2
    assert isinstance(end.value.__cause__, ValueError)
    with pytest.raises(CannotFit, match="in the way"):
        stepped(way, Compactor(window=WINDOW, pinned=lambda message: True), turns(90), Model())


@ways
def test_what_is_no_overflow_is_raised_as_it_came(way: str) -> None:
    class Down(Model):
        def __call__(self, items: list[Item]) -> Item:
            raise ConnectionError("no route")

    compactor = Compactor(window=WINDOW)
    with pytest.raises(ConnectionError, match="no route"):
        stepped(way, compactor, turns(5), Down())
    assert compactor.folds == []


@ways
def test_a_reply_that_the_window_cut_off_is_asked_for_again_after_a_fold(way: str) -> None:
    cut = answered("Part 3 rea", "length", prompt=WINDOW - 40, completion=40)
    model, compactor = Model(10**6, cut), Compactor(window=WINDOW)
    assert stepped(way, compactor, turns(45), model)["choices"][0]["message"]["content"] == "Fine."
    assert len(model.sent[0]) == 90
    assert len(model.sent[1]) < 90
    model = Model(10**6, cut, cut)
    assert stepped(way, Compactor(window=WINDOW), turns(45), model) == cut, "once, and no more"


@ways
def test_a_reply_that_its_caller_cut_off_is_handed_out(way: str) -> None:
    cut = answered("Part 3 rea", "length", prompt=900, completion=40)
    model = Model(10**6, cut)
    assert stepped(way, Compactor(window=WINDOW), turns(5), model) == cut
    assert len(model.sent) == 1


def test_a_step_that_is_cancelled_changes_nothing() -> None:
    compactor, messages = Compactor(window=WINDOW), turns(10)

    async def never(items: list[Item]) -> Item:
        await asyncio.Event().wait()
        raise AssertionError

    async def cancelled() -> None:
        task = asyncio.create_task(astep(compactor, messages, never))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert compactor.folds == []
    assert compactor.fit(messages) == messages


# -- before a fold -------------------------------------------------------------------------------------------------


def folding(before: Callable[[FoldDue], Verdict | None], **rest: Any) -> tuple[Compactor, list[Any]]:
    told: list[Any] = []
    return Compactor(window=WINDOW, before_fold=before, on_event=told.append, **rest), told


def test_a_fold_is_vetoed_and_made_when_the_veto_is_gone() -> None:
    asked: list[FoldDue] = []

    def before(due: FoldDue) -> Verdict | None:
        asked.append(due)
        return Verdict(veto="a deployment is under way") if len(asked) == 1 else None

    compactor, told = folding(before)
    messages = turns(75)
    assert compactor.fit(messages) == messages
    assert told == [Skipped("before_fold: a deployment is under way")]
    assert len(compactor.fit(messages)) < len(messages)
    assert [due.window for due in asked] == [WINDOW, WINDOW]
    assert asked[0].tokens == asked[1].tokens > WINDOW * 0.7


def test_a_fold_by_hand_is_asked_for_as_well() -> None:
    compactor, _ = folding(lambda due: Verdict(veto="not now"))
    messages = turns(20)
    assert compactor.fold(messages) == messages
    assert compactor.folds == []


def test_instructions_reach_the_summarizer_beside_the_users_own() -> None:
    asked: list[Brief] = []

    def summarize(brief: Brief, messages: Sequence[Message]) -> Summary:
        asked.append(brief)
        return extract(brief, messages)

    compactor, _ = folding(lambda due: Verdict(instructions="Keep every hostname."), summarizer=summarize)
    compactor.fold(turns(30), focus="the settings")
    assert asked[0].focus == "the settings\nKeep every hostname."
    compactor, _ = folding(lambda due: Verdict(instructions="Keep every hostname."), summarizer=summarize)
    compactor.fit(turns(90))
    assert asked[-1].focus == "Keep every hostname."


def test_a_summary_of_the_hosts_takes_the_place_of_the_one_that_would_be_written() -> None:
    asked: list[Brief] = []

    def summarize(brief: Brief, messages: Sequence[Message]) -> Summary:
        asked.append(brief)
        return extract(brief, messages)

    said = "The parts are looked into one after the other; each of them reads the setting of its own number."
    compactor, told = folding(lambda due: Verdict(summary=said), summarizer=summarize)
    assert said in words(compactor.fit(turns(90)))
    assert asked == []
    assert not any(isinstance(event, SummaryFellBack) for event in told)


def test_a_summary_of_the_hosts_that_does_not_hold_is_refused() -> None:
    compactor, told = folding(lambda due: Verdict(summary="x " * 20_000))
    assert len(words(compactor.fit(turns(90)))) < 20_000
    assert any(isinstance(event, SummaryFellBack) for event in told)


def test_one_who_raises_before_a_fold_is_told_and_does_not_stop_it() -> None:
    def before(due: FoldDue) -> Verdict | None:
        raise RuntimeError("the hook is broken")

    compactor, told = folding(before)
    assert len(compactor.fit(turns(90))) < 180
    assert Skipped("before_fold: RuntimeError: the hook is broken") in told


def test_an_overflow_is_not_asked_for() -> None:
    compactor, _ = folding(lambda due: Verdict(veto="never"))
    step(compactor, turns(30), Model(takes=2_000))
    assert compactor.folds[-1].trigger == "overflow"


def program(code: str) -> list[str]:
    return [sys.executable, "-c", f"import json, sys; due = json.load(sys.stdin); {code}"]


def asked_of(code: str) -> tuple[int, list[Any], list[str]]:
    """How many messages a full history is handed out as, what is told, and what the summarizer was to keep."""
    focus: list[str] = []

    def summarize(brief: Brief, messages: Sequence[Message]) -> Summary:
        focus.append(brief.focus)
        return extract(brief, messages)

    compactor, told = folding(command_hook(program(code)), summarizer=summarize)
    return len(compactor.fit(turns(75))), told, focus


def test_a_program_that_ends_with_2_vetoes() -> None:
    sent, told, _ = asked_of("sys.exit('no' if due['window'] != 8000 else (print('deploying', file=sys.stderr), 2)[1])")
    assert sent == 150
    assert told == [Skipped("before_fold: deploying")]


def test_a_program_writes_a_verdict_or_nothing() -> None:
    sent, _, focus = asked_of("print(json.dumps({'instructions': f'Keep {due[\"tokens\"] > 5_000}.'}))")
    assert (sent < 150, focus) == (True, ["Keep True."])
    sent, _, focus = asked_of("pass")
    assert (sent < 150, focus) == (True, [""])


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("sys.exit('broken')", "ended with 1: broken"),
        ("print('Sure!')", "malformed"),
        ("print('{\"vetoes\": 1}')", "unknown field"),
    ],
)
def test_a_program_that_fails_is_told_of_and_does_not_stop_the_fold(code: str, said: str) -> None:
    sent, told, _ = asked_of(code)
    assert sent < 150
    assert any(isinstance(event, Skipped) and said in event.reason for event in told)


# -- after a fold --------------------------------------------------------------------------------------------------


def test_a_program_is_told_of_a_fold_once_it_stands(tmp_path: Path) -> None:
    told = tmp_path / "told.jsonl"
    compactor = Compactor(
        window=WINDOW, on_event=command_listener(program(f"print(json.dumps(due), file=open({str(told)!r}, 'a'))"))
    )
    compactor.fit(turns(20))
    assert not told.exists()
    compactor.fit(turns(75))
    (line,) = map(json.loads, told.read_text().splitlines())
    (fold,) = compactor.folds
    assert (line["source"], line["fold"], line["trigger"], line["layer"]) == (
        "compact",
        fold.id,
        fold.trigger,
        fold.layer,
    )
    assert line["receipt"]["tokens_after"] == fold.receipt.tokens_after


def test_a_program_that_fails_after_a_fold_is_told_of_and_the_fold_stands() -> None:
    compactor = Compactor(window=WINDOW, on_event=command_listener(program("sys.exit('broken')")))
    assert len(compactor.fit(turns(75))) < 150
    assert "on_event: ProviderError" in compactor.state
    assert "ended with 1: broken" in compactor.state


# -- calls that were not finished ----------------------------------------------------------------------------------


CALLS = {
    "openai-chat": {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "read", "arguments": '{"path": "x'}}],
    },
    "anthropic": {
        "role": "assistant",
        "content": [{"type": "text", "text": "I look."}, {"type": "tool_use", "id": "a", "name": "read", "input": {}}],
    },
    "bedrock-converse": {
        "role": "assistant",
        "content": [{"text": "I look."}, {"toolUse": {"toolUseId": "a", "name": "read", "input": {}}}],
    },
}


@pytest.mark.parametrize("format", CALLS)
def test_calls_that_nothing_answers_go_and_the_words_beside_them_stay(format: str) -> None:
    asked = {"role": "user", "content": [{"text": "Go on."}] if format == "bedrock-converse" else "Go on."}
    (first, last) = without_unfinished_calls([asked, CALLS[format]])
    assert first is asked
    assert "I look." in str(last)
    assert "read" not in str(last)


def test_a_message_of_nothing_but_calls_goes() -> None:
    asked = {"role": "user", "content": "Go on."}
    call = {**CALLS["openai-chat"], "content": None}
    assert without_unfinished_calls([asked, call]) == [asked]
    items = [
        {"role": "user", "content": "Go on."},
        {"type": "function_call", "call_id": "a", "name": "read", "arguments": "{"},
    ]
    assert without_unfinished_calls(items) == items[:1]


def test_calls_that_are_answered_stay() -> None:
    history = [
        {"role": "user", "content": "Go on."},
        CALLS["openai-chat"],
        {"role": "tool", "tool_call_id": "a", "content": "12 lines"},
    ]
    assert all(a is b for a, b in zip(without_unfinished_calls(history), history, strict=True))
    assert without_unfinished_calls([]) == []


# -- processes that end --------------------------------------------------------------------------------------------


class Paid:
    """A summarizer that counts what it was asked for."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, brief: Brief, messages: Sequence[Message]) -> Summary:
        self.times += 1
        return extract(brief, messages)


def in_one_process(histories: Sequence[list[Item]], paid: Paid) -> list[str]:
    compactor = Compactor(window=WINDOW, summarizer=paid)
    return [words(compactor.fit(messages)) for messages in histories]


def test_a_process_for_each_step_hands_out_what_one_process_does_and_pays_for_no_summary_twice() -> None:
    messages = turns(300)
    histories = [messages[:end] for end in range(2, len(messages), 14)]
    once, often = Paid(), Paid()
    expected = in_one_process(histories, once)
    kept = b""

    def keep(event: object) -> None:
        nonlocal kept
        if isinstance(event, Folded):
            kept = compactor.dump()

    sent = []
    for history in histories:
        compactor = Compactor(window=WINDOW, summarizer=often, on_event=keep)
        if kept:
            compactor.load(kept)
        sent.append(words(compactor.fit(history)))
    assert once.times > 3
    assert often.times == once.times
    assert sent == expected


def test_so_does_a_process_for_each_step_on_a_session(tmp_path: Path) -> None:
    paid, folds, before = Paid(), 0, [""]
    said = [Message(each["role"], (Text(each["content"]),)) for each in turns(200)]
    Session.create(tmp_path / "work.jsonl")
    for at in range(0, len(said), 10):
        session = Session(tmp_path / "work.jsonl")
        for message in said[at : at + 10]:
            session.append(message)
        compactor = Compactor(window=WINDOW, summarizer=paid, session=session)
        sent = [each.text for each in compactor.fit(session.context.messages)]
        if len(session.folds()) == folds:
            assert sent[: len(before)] == before or at == 0
        folds, before = len(session.folds()), sent
    assert folds > 2
    assert paid.times == folds


def test_what_the_page_shows() -> None:
    names: dict[str, Any] = {"messages": conversation(), "call_model": call_model}
    assert run("lifecycle.md", names)["reply"]


def test_a_step_answers_with_what_the_call_answers_with() -> None:
    def send(items: list[Any]) -> Message:
        return Message("assistant", (Text(f"{len(items)} read"),))

    async def asend(items: list[Any]) -> Message:
        return send(items)

    compactor = Compactor(window=WINDOW)
    assert assert_type(step(compactor, turns(2), send), Message).text == "4 read"
    assert assert_type(asyncio.run(astep(compactor, turns(2), asend)), Message).text == "4 read"
