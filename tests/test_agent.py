"""The agent: its loop, its tools and its session, with the model that plays a script."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

pytest.importorskip("pydantic_ai")

from chatting import agent_in, kept, of, ran
from foldline import Message, Session
from foldline.extend import Text, text_of
from foldline_agent.agent import CUT_SHORT, REFUSED
from foldline_agent.events import (
    ConfirmationWanted,
    Event,
    Failed,
    FoldEnded,
    FoldStarted,
    MessageTaken,
    Noticed,
    ReplyEnded,
    ReplyStarted,
    RunEnded,
    RunStarted,
    ToolEnded,
    ToolStarted,
)


def test_a_message_is_answered_with_tools_and_words(tmp_path: Path) -> None:
    agent = agent_in(tmp_path)
    events = ran(agent.run("Write the first part of the ledger."))
    kinds = [type(event) for event in events if type(event).__name__ not in ("TextDelta", "FillChanged")]
    step = [ReplyStarted, ReplyEnded, ToolStarted, ToolEnded]
    assert kinds == [RunStarted, MessageTaken, *step * 4, ReplyStarted, ReplyEnded, RunEnded]
    assert events[-1] == RunEnded("stop")
    assert kept(agent)[0] == "Write the first part of the ledger."
    assert kept(agent)[-2:] == ["820\n", "ledger/part_1.py is done: it prints 820."]
    assert "print(sum(value for _, value, _ in ROWS))" in (tmp_path / "ledger/part_1.py").read_text()


def test_the_session_is_folded_on_the_way_and_goes_on_in_another_process(tmp_path: Path) -> None:
    """ "Auto-compaction is checked after each message_end event for assistant messages. Generate summary. Write compaction event to
    session file. Rebuild agent messages" (the plan for pi's compaction)."""
    ids = [f"part {number}" for number in range(1, 9)]
    folds: list[FoldEnded] = []
    for number, name in enumerate(ids):
        agent = agent_in(tmp_path, window=5_000)
        events = ran(agent.run(f"Write {name}. Never touch config/prod.yaml."))
        assert events[-1] == RunEnded("stop")
        folds += of(FoldEnded, events)
        assert len(of(FoldStarted, events)) == len(of(FoldEnded, events))
        assert f"ledger/part_{number + 1}.py is done" in kept(agent)[-1]
    session = Session(tmp_path / "session.jsonl")
    assert len(session.folds()) == len(folds) > 1
    assert session.newest_fold is not None
    assert folds[-1].summary == session.newest_fold.summary
    assert folds[-1].first_kept in [id for id, _ in session.messages()]
    assert "Never touch config/prod.yaml." in session.context.messages[0].text


@pytest.mark.parametrize("allowed", [True, False])
def test_what_changes_something_asks_first(tmp_path: Path, allowed: bool) -> None:
    call = {"call": "write", "arguments": {"path": "a.txt", "content": "new\n"}}
    agent = agent_in(tmp_path, call, {"say": "So be it."}, allowed=False)
    (tmp_path / "a.txt").write_text("old\n")

    def answer(event: Event) -> None:
        if isinstance(event, ConfirmationWanted):
            assert event.about.endswith("-old\n+new")
            agent.answer(event.call.id, allowed)

    events = ran(agent.run("Replace it."), answer)
    assert (tmp_path / "a.txt").read_text() == ("new\n" if allowed else "old\n")
    (ended,) = of(ToolEnded, events)
    assert (text_of(ended.result) == REFUSED) is ended.result.error is not allowed


def test_what_a_tool_cannot_do_is_told_to_the_model(tmp_path: Path) -> None:
    asked = (
        ("read", {"path": "gone.txt"}, "No such file"),
        ("edit", {"path": "a.txt", "oldText": "b", "newText": "c"}, "stands there 2 times"),
        ("bash", {"command": "echo out; exit 3"}, "out\n\n\nCommand exited with code 3"),
        ("bash", {"command": "sleep 60", "timeout": 0.05}, "more than 0.05 seconds"),
        ("write", {"path": "a.txt"}, "missing required field `content`"),
        ("fly", {}, "There is no tool 'fly'"),
        ("bash", {"command": "echo \0"}, "null byte"),
    )
    (tmp_path / "a.txt").write_text("b b")
    steps = [{"call": name, "arguments": arguments} for name, arguments, _ in asked]
    events = ran(agent_in(tmp_path, *steps, {"say": "None of it."}).run("Try."))
    results = [event.result for event in of(ToolEnded, events)]
    assert all(result.error for result in results)
    for result, (_, _, told) in zip(results, asked, strict=True):
        assert told in text_of(result)


def test_a_run_that_is_stopped_leaves_the_session_whole(tmp_path: Path) -> None:
    agent = agent_in(tmp_path, {"call": "bash", "arguments": {"command": "sleep 60"}}, {"say": "Fine."})
    events = ran(agent.run("Wait."), lambda event: isinstance(event, ToolStarted) and agent.abort())
    assert events[-1] == RunEnded("aborted")
    assert not of(Failed, events)
    again = agent_in(tmp_path, {}, {"say": "Fine."})
    assert ran(again.run("Go on."))[-1] == RunEnded("stop")
    assert [text for text in kept(again) if text] == ["Wait.", CUT_SHORT, "Go on.", "Fine."]


def test_messages_that_wait_follow(tmp_path: Path) -> None:
    """ "Optionally continue with queued user message" (the plan for pi's compaction)."""
    agent = agent_in(
        tmp_path, {"call": "read", "arguments": {"path": "script.jsonl"}}, {"say": "One."}, {"say": "Two."}
    )

    def meanwhile(event: Event) -> None:
        if isinstance(event, ToolStarted):
            agent.follow_up("And then?")
            agent.steer("Only the first line.")

    ran(agent.run("Read it."), meanwhile)
    said = kept(agent)
    assert [said[0], *said[3:]] == ["Read it.", "Only the first line.", "One.", "And then?", "Two."]


def test_what_fails_is_one_line_and_the_session_goes_on(tmp_path: Path) -> None:
    agent = agent_in(tmp_path, {"refuse": "the server is\n on fire"}, {"say": "Back again."})
    events = ran(agent.run("Hello?"))
    (failed,) = of(Failed, events)
    assert "on fire" in failed.error
    assert "\n" not in failed.error
    assert events[-1] == RunEnded("error")
    assert ran(agent.run())[-1] == RunEnded("stop")
    assert kept(agent) == ["Hello?", "Back again."]
    assert [type(event) for event in ran(agent.run())] == [RunStarted, RunEnded], "nothing is left to answer"


def test_many_folds_are_warned_of_with_the_way_out(tmp_path: Path) -> None:
    agent = agent_in(tmp_path, window=60_000)
    warned: list[str] = []
    while len(agent.session.folds()) < 5:
        ran(agent.run("Write the next part."))
        events = ran(agent.compact())
        if any(event.fold for event in of(FoldEnded, events)):
            warned.append("".join(event.text for event in of(Noticed, events)))
    assert warned[:2] == ["", ""]
    assert "something (3 compactions" in warned[2]
    assert "much (5 compactions" in warned[4]
    assert all("/handoff GOAL" in text for text in warned[2:])


def test_a_face_that_goes_away_ends_the_run(tmp_path: Path) -> None:
    agent = agent_in(tmp_path, {"call": "bash", "arguments": {"command": "sleep 60; touch done"}})

    async def leave() -> None:
        told = agent.run("Wait.")
        async for event in told:
            if isinstance(event, ToolStarted):
                break
        await told.aclose()
        assert not agent.working

    asyncio.run(leave())
    assert ran(agent_in(tmp_path, {}, {"say": "Fine."}).run())[-1] == RunEnded("stop")
    assert kept(agent)[-2:] == [CUT_SHORT, "Fine."]
    assert not (tmp_path / "done").exists()


def test_what_another_program_did_to_the_session_in_the_meantime_counts(tmp_path: Path) -> None:
    agent = agent_in(tmp_path)
    for part in range(1, 4):
        ran(agent.run(f"Write part {part}."))
    ran(agent.compact())
    other = Session(agent.session.path)
    other.undo()
    other.append(Message("user", (Text("Said elsewhere."),)))
    events = ran(agent.run("Go on."))
    assert events[-1] == RunEnded("stop")
    seen = [message.text for message in agent.session.context.messages if message.role == "user"]
    assert seen == ["Write part 1.", "Write part 2.", "Write part 3.", "Said elsewhere.", "Go on."]


def test_the_model_recalls_what_was_folded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    agent = agent_in(tmp_path)
    for part in range(1, 4):
        ran(agent.run(f"Write part {part}."))
    first = agent.session.context.entries[1][0]
    ran(agent.compact())
    steps = [{}] * 15 + [{"call": "recall", "arguments": {"query": first}}, {"say": "There it is."}]
    (ended,) = of(ToolEnded, ran(agent_in(tmp_path, *steps).run("What was the first part?")))
    assert "I write part 1." in text_of(ended.result)
