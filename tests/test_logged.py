"""A compactor that is bound to a session: its folds stand in the file, and the session opened again goes on from them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from foldline import Compactor, Message, Rewound, Session, Skipped, Usage, handle
from foldline.extend import (
    Brief,
    Draft,
    Model,
    Text,
    ToolCall,
    ToolResult,
    Wording,
    extract,
    preset,
    replace,
    summary_text,
    text_of,
)
from foldline_lab.contenders import policy_named
from test_growing import Writer


def step(number: int) -> list[Message]:
    call = ToolCall(f"c{number}", "read", json.dumps({"path": f"src/f{number}.py"}))
    return [
        Message("assistant", (Text(f"Looking at {number}. " + "The tax is wrong there. " * 40), call)),
        Message("tool", (ToolResult(f"c{number}", (Text(f"line {number} says something\n" * 40),)),)),
    ]


def begun(path: Path) -> Session:
    session = Session.create(path)
    session.append(Message("user", (Text("Fix the failing test in billing/tax.py. Never edit the lock file."),)))
    return session


def compactor_of(session: Session, heard: list[Any] | None = None, **more: Any) -> Compactor:
    listener = None if heard is None else heard.append
    return Compactor(**{"window": 6_000, "summarizer": Writer(), "session": session, "on_event": listener, **more})


@pytest.mark.parametrize("restart", [False, True], ids=["alive", "opened again before each step"])
def test_each_fold_stands_in_the_file_and_the_session_goes_on_from_it(tmp_path: Path, restart: bool) -> None:
    heard: list[Any] = []
    session = begun(tmp_path / "s.jsonl")
    compactor = compactor_of(session, heard)
    before: list[Message] = []
    for number in range(40):
        if restart:
            session = Session(session.path)
            compactor = compactor_of(session, heard)
        sent = compactor.fit(session.context.messages)
        assert [m.text for m in session.context.messages] == [m.text for m in sent]
        if before and len(sent) > len(before):
            assert [m.text for m in sent[: len(before)]] == [m.text for m in before]
        before = sent
        for message in step(number):
            session.append(message)
    folds = Session(session.path).folds()
    assert len(folds) > 3
    assert [fold.trigger for fold in folds] == ["threshold"] * len(folds)
    assert not [event for event in heard if isinstance(event, Rewound | Skipped)]
    assert Session(session.path).compactions == len(folds)
    assert "Never edit the lock file." in sent[0].text


def words(message: Message) -> str:
    return summary_text(message.summary) if message.summary else message.text + "".join(map(text_of, message.results))


@pytest.mark.parametrize("restart", [False, True], ids=["alive", "opened again before each step"])
@pytest.mark.parametrize("policy", ["pi", "codex", "opencode", "claude-code", "step", "goat", "paper"])
def test_whatever_a_policy_words_its_summaries_with_stands_in_the_file(
    tmp_path: Path, policy: str, restart: bool
) -> None:
    heard: list[Any] = []
    session = begun(tmp_path / "s.jsonl")
    more = {"policy": policy, "summarizer": extract, "window": 8_000, "reserve": 500, "model": Model("m")}
    compactor = compactor_of(session, heard, **more)
    for number in range(24):
        if restart:
            compactor = compactor_of(session := Session(session.path), heard, **more)
        sent = compactor.fit(session.context.messages)
        assert [words(m) for m in Session(session.path).context.messages] == [words(m) for m in sent]
        for message in step(number):
            session.append(message)
    assert Session(session.path).folds()
    assert not [event for event in heard if isinstance(event, Rewound | Skipped)]


@pytest.mark.parametrize("system", [None, "You mend code. " * 200])
def test_a_session_that_is_opened_again_is_counted_by_what_it_was_billed(tmp_path: Path, system: str | None) -> None:
    session = begun(tmp_path / "s.jsonl")
    for number in range(6):
        billed = 3_000 + 100 * number
        reply, result = step(number)
        session.append(replace(reply, usage=Usage(billed, 40)))
        session.append(result)
    session = Session(session.path)
    compactor = compactor_of(session, window=60_000, system=system)
    # a system prompt's weight is rounded once more
    assert compactor.count.tokens == pytest.approx(session.context.size().tokens, abs=1)
    assert compactor.count.basis == session.context.size().basis
    assert compactor.room.messages > 0
    compactor.fit(session.context.messages)
    assert compactor.count.tokens == pytest.approx(session.context.size().tokens, abs=1)
    assert compactor.count.basis == "billed + estimate"
    assert billed < compactor.count.tokens < billed + 400


def billed(number: int, prompt: int, cached: int) -> list[Message]:
    reply, result = step(number)
    return [replace(reply, usage=Usage(prompt - cached, 40, cached)), result]


def test_who_opens_the_session_knows_what_the_provider_holds_in_its_cache(tmp_path: Path) -> None:
    session = begun(tmp_path / "s.jsonl")
    more: dict[str, Any] = {"model": "gpt-5.4", "window": 60_000, "summarizer": extract}
    compactor = compactor_of(session, **more)
    for number in range(12):
        compactor.fit(session.context.messages)
        reply, result = billed(number, 3_000 + 600 * number, 2_400 + 600 * number)
        compactor.observe(reply.usage)
        session.append(reply)
        session.append(result)
    lives = compactor.plan(session.context.messages).receipt
    opened = compactor_of(Session(session.path), **more).plan(session.context.messages).receipt
    assert opened.reset == lives.reset is not None
    assert opened.cache_discarded == lives.cache_discarded > 1_000


def test_who_opens_the_session_folds_it_no_more_often_than_who_lives_on(tmp_path: Path) -> None:
    """A fold that left it above its mark, and has been paid for, is not made again until enough has come."""

    def folds(name: str, *, restart: bool) -> int:
        session = begun(tmp_path / name)
        more: dict[str, Any] = {"policy": "step", "window": 12_000, "reserve": 500, "summarizer": extract}
        compactor = compactor_of(session, **more)
        for number in range(24):
            if restart:
                compactor = compactor_of(session := Session(session.path), **more)
            compactor.fit(session.context.messages)
            session.append(Message("user", (Text(f"And part {number}? " * 20),)))
            session.append(Message("assistant", (Text(f"Part {number} is fine, I think. " * 12),)))
        return len(session.folds())

    assert 0 < folds("opened.jsonl", restart=True) <= folds("lives.jsonl", restart=False) + 1


def test_what_was_folded_is_recalled_out_of_the_file(tmp_path: Path) -> None:
    session = begun(tmp_path / "s.jsonl")
    for number in range(12):
        for message in step(number):
            session.append(message)
    (first, task), *_ = session.context.entries
    compactor = compactor_of(session)
    compactor.fit(session.context.messages)
    assert compactor.folds
    assert Session(session.path).recall(first) == task


@pytest.mark.parametrize("policy", ["default", "openclaw"])
def test_the_ids_that_a_fold_names_are_those_of_the_file(tmp_path: Path, policy: str) -> None:
    session = begun(tmp_path / "s.jsonl")
    compactor = compactor_of(session, policy=policy)
    for number in range(30):
        for message in step(number):
            session.append(message)
        compactor.fit(session.context.messages)
    written = {id for id, _ in session.messages()}
    assert len(compactor.folds) > 1
    assert {id for fold in compactor.folds[:1] for edit in fold.edits for id in edit.drop} <= written
    told = "\n".join(message.text + "".join(map(text_of, message.results)) for message in session.context.messages)
    named = re.findall(r"(\w+) to (\w+); any of them can be recalled|recall ([0-9a-f]{8,})", told)
    assert named
    for id in filter(None, (id for several in named for id in several)):
        assert not handle({"query": id}, source=session).startswith("Nothing"), id


def test_an_undone_fold_is_undone_in_the_file(tmp_path: Path) -> None:
    session = begun(tmp_path / "s.jsonl")
    for number in range(12):
        for message in step(number):
            session.append(message)
    whole = [message.text for message in session.context.messages]
    compactor = compactor_of(session)
    compactor.fold(session.context.messages)
    assert len(session.context.messages) < len(whole)
    compactor.undo()
    assert [message.text for message in Session(session.path).context.messages] == whole


def test_a_session_that_shows_something_else_is_left_as_it_is_and_that_is_told(tmp_path: Path) -> None:
    session = begun(tmp_path / "s.jsonl")
    bytes_before = (tmp_path / "s.jsonl").read_bytes()
    heard: list[Any] = []
    compactor = compactor_of(session, heard)
    history = [Message("user", (Text("Something else."),)), *(m for n in range(20) for m in step(n))]
    assert len(compactor.fit(history)) < len(history)
    (skipped,) = (event for event in heard if isinstance(event, Skipped))
    assert skipped.reason.startswith(f"session: {session.path}: it shows other messages than those that were folded")
    assert (tmp_path / "s.jsonl").read_bytes() == bytes_before


def test_a_fold_that_another_program_came_before_is_told_of(tmp_path: Path) -> None:
    session = begun(tmp_path / "s.jsonl")
    for number in range(12):
        for message in step(number):
            session.append(message)
    Session(session.path).append(Message("user", (Text("Stop."),)))
    heard: list[Any] = []
    compactor = compactor_of(session, heard, model=Model("m"))
    compactor.fit(session.context.messages)
    assert compactor.folds
    assert [event.reason for event in heard if isinstance(event, Skipped)]


IDS = re.compile(r"recall (\w+)|messages, (\w+) to (\w+);")


@pytest.mark.parametrize("policy", ["default", "openclaw", "tail"])
def test_every_id_that_the_model_is_told_can_be_recalled_whoever_opens_the_session(policy: str, tmp_path: Path) -> None:
    session = begun(tmp_path / "s.jsonl")
    alive = compactor_of(session, policy=policy_named(policy))
    for number in range(60):
        alive.fit(session.context.messages)
        for message in step(number):
            session.append(message)
    again = Session(session.path)
    restarted = compactor_of(again, policy=policy_named(policy))
    said = json.dumps([[text_of_all(m) for m in restarted.fit(again.context.messages)]])
    told = {id for found in IDS.findall(said) for id in found if id}
    assert told
    said_first = {text_of_all(message) for _, message, _ in again.lineage()}
    for id in told:
        message = again.recall(id)
        assert message is not None, id
        assert restarted.recall(id) == message
        assert alive.recall(id) == message
        assert text_of_all(message) in said_first or message.summary


def text_of_all(message: Message) -> str:
    """What a message says, results and arguments included."""
    return "\n".join([message.text, *map(text_of, message.results), *(call.arguments for call in message.calls)])


class Dies:
    """A summarizer whose process is ended when it is asked for its second draft."""

    def __init__(self, *drafts: str) -> None:
        self.left = list(drafts)

    def __call__(self, brief: Brief, messages: Sequence[Message]) -> Draft:
        if not self.left:
            raise KeyboardInterrupt
        return Draft(self.left.pop(), usage=Usage(900, 90), cost=0.02, model="m", calls=1)


class Asked(Writer):
    """A summarizer that keeps what it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.briefs: list[Brief] = []

    def __call__(self, brief: Brief, messages: Sequence[Message]) -> str:
        self.briefs.append(brief)
        return super().__call__(brief, messages)


def ended(path: Path, summarizer: Dies) -> None:
    """A session whose process is ended while it folds."""
    session = begun(path)
    for number in range(12):
        for message in step(number):
            session.append(message)
    compactor = compactor_of(session, summarizer=summarizer)
    with pytest.raises(KeyboardInterrupt):
        compactor.fold(session.context.messages)
    assert not Session(path).folds()


def test_a_draft_that_was_paid_for_is_not_paid_for_again_where_the_process_ends_before_its_fold_stands(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.jsonl"
    ended(path, Dies(""))
    heard: list[Any] = []
    asked = Asked()
    session = Session(path)
    compactor_of(session, heard, summarizer=asked).fold(session.context.messages)
    assert [brief.faults for brief in asked.briefs] == [("the summary was empty",)]
    (fold,) = Session(path).folds()
    assert (fold.receipt.asked, fold.receipt.usage, fold.receipt.cost) == (2, Usage(900, 90), 0.02)
    assert not [event for event in heard if isinstance(event, Skipped)]


@pytest.mark.parametrize("what", ["more messages", "another focus", "other words"])
def test_a_draft_of_something_else_is_none_of_what_is_asked_for(tmp_path: Path, what: str) -> None:
    path = tmp_path / "s.jsonl"
    ended(path, Dies(""))
    session, asked = Session(path), Asked()
    for number in range(12, 24 if what == "more messages" else 12):
        for message in step(number):
            session.append(message)
    layers = tuple(replace(each, summary=Wording(prompt="Say it in a line.")) for each in preset("default").layers)
    policy = replace(preset("default"), layers=layers) if what == "other words" else "default"
    focus = "the tax" if what == "another focus" else ""
    compactor_of(session, summarizer=asked, policy=policy).fold(session.context.messages, focus=focus)
    assert [brief.faults for brief in asked.briefs] == [()]


def test_who_takes_a_fold_back_and_folds_again_gets_another_draft(tmp_path: Path) -> None:
    session = begun(tmp_path / "s.jsonl")
    for number in range(12):
        for message in step(number):
            session.append(message)
    asked = Asked()
    compactor = compactor_of(session, summarizer=asked)
    for _ in range(2):
        compactor.fold(session.context.messages)
        compactor.undo()
    assert asked.asked == 2
