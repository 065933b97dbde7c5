"""One fold, one summary: what stands pinned in the middle of a history parts it no more."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from foldline import Brief, Compactor, Layer, Message, View, open_session
from foldline._desk.desk import Desk
from foldline._engine.driving import run
from foldline._engine.folding import folding
from foldline._engine.steps import Step, steps_by_hand
from foldline._fold import Occasion
from foldline.extend import Text, budget, extract, preset, replace, summarize_older, text_of, view_of
from provider_rules import check_valid

Item = dict[str, Any]

APPROVED = {"role": "developer", "content": "Approved command prefix saved:\n- cargo test"}


def talk(turns: int, role: str = "developer") -> list[Item]:
    """A history with a rule of its own before each turn, and one that stands before every turn."""
    history: list[Item] = [{"role": "system", "content": "You are a careful engineer."}]
    for k in range(turns):
        history.append({"role": role, "content": f"Approved command prefix saved:\n- make step{k}"})
        history.append({**APPROVED, "role": role})
        history.append({"role": "user", "content": f"Please do step {k} in src/step{k}.py."})
        call = {"name": "bash", "arguments": json.dumps({"command": f"make step{k}"})}
        calls = [{"id": f"c{k}", "type": "function", "function": call}]
        history.append({"role": "assistant", "content": None, "tool_calls": calls})
        history.append({"role": "tool", "tool_call_id": f"c{k}", "content": f"step {k} of the build is done\n" * 40})
        history.append({"role": "assistant", "content": f"Step {k} is done: src/step{k}.py builds."})
    return history


def summaries(items: Sequence[Item]) -> list[str]:
    return [item["content"] for item in items if "<summary>" in str(item["content"])]


def test_messages_of_the_system_in_the_middle_part_no_fold() -> None:
    history = talk(20)
    compactor = Compactor(window=8_000, reserve=0)
    sent = compactor.fit(history)
    (fold,), (told,) = compactor.folds, summaries(sent)
    assert all(a is b for a, b in zip(sent[:3], history))
    assert sent[3]["content"] == told
    assert f"[folded: {fold.receipt.messages_folded} messages, " in told
    assert "src/step0.py" in told
    assert "src/step9.py" in told
    stays = [item for item in history if item["role"] == "developer" and item != APPROVED]
    assert [item for item in sent if item["role"] == "developer" and item != APPROVED] == stays
    check_valid(history, sent)


def test_of_what_the_system_repeats_the_newest_stays() -> None:
    history = talk(20)
    compactor = Compactor(window=8_000, reserve=0)
    sent = compactor.fit(history)
    newest = max(i for i, item in enumerate(history) if item == APPROVED)
    assert sum(item == APPROVED for item in sent) < 8
    assert any(item is history[newest] for item in sent)
    assert compactor.undo()
    assert compactor.plan(history)


def test_what_the_user_pinned_stays_and_is_told_around() -> None:
    history = [item for item in talk(20) if item["role"] != "developer"]
    pins = [
        item
        for item in history
        if item["role"] == "user" and item["content"][:17] in ("Please do step 3 ", "Please do step 5 ")
    ]
    compactor = Compactor(window=8_000, reserve=0, pinned=lambda message: message.text in [p["content"] for p in pins])
    sent = compactor.fit(history)
    assert len(summaries(sent)) == 1
    assert [item for item in sent if item in pins] == pins
    assert sent.index(pins[0]) > sent.index(next(item for item in sent if "<summary>" in str(item["content"])))
    check_valid(history, sent)


def test_every_span_is_given_to_who_writes_the_summary_and_can_be_recalled() -> None:
    history, asked = talk(20), []

    def remembers(brief: Brief, messages: Sequence[Message]) -> str:
        asked.append((brief, [message.text for message in messages if message.role == "user"]))
        return "## Done\n- the steps were built"

    compactor = Compactor(window=8_000, reserve=0, summarizer=remembers)
    compactor.fit(history)
    ((brief, said),) = asked
    (fold,) = compactor.folds
    assert brief.also
    assert said == [f"Please do step {k} in src/step{k}.py." for k in range(len(said))]
    assert len(said) > 5
    for edit in fold.edits:
        assert all(compactor.recall(id) for id in edit.drop)
    again = Compactor(window=8_000, reserve=0, summarizer=remembers)
    again.fit(history)
    assert again.fit(history) == compactor.fit(history)


def test_where_the_summary_does_not_stand_nothing_goes() -> None:
    def count(message: Message) -> int:
        return 9_000 if message.summary else 1_000

    said = [Message(role, (Text(f"{role} {n}"),)) for n in range(5) for role in ("system", "user", "assistant")]  # type: ignore[arg-type]
    view = view_of(said, count)
    step = Step(Layer("summarize", 1, 1, (summarize_older(keep=500),)), 0, 9_000)
    after, fold = run(folding(view, [step]), extract)
    assert not fold
    assert after is view


def test_a_fold_over_a_fold_is_told_by_one_summary_again() -> None:
    compactor = Compactor(window=8_000, reserve=0)
    for turns in (20, 30, 40):
        sent = compactor.fit(talk(turns))
        check_valid(talk(turns), sent)
        assert len(summaries(sent)) == 1
    assert len(compactor.folds) > 2
    assert "src/step0.py" in summaries(sent)[0]


# -- session files ------------------------------------------------------------------------------------------------

CODEX = {"timestamp": "2026-11-21T20:00:00.000Z"}


def codex(path: Path, turns: int) -> Path:
    """A rollout with developer messages in the middle."""
    rows: list[Item] = [
        {
            "type": "session_meta",
            "payload": {"id": "s", "cwd": "/work", "base_instructions": {"text": "You are Codex."}},
        }
    ]

    def says(role: str, text: str) -> None:
        kind = "output_text" if role == "assistant" else "input_text"
        item = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        rows.append({"type": "response_item", "payload": item})

    for k in range(turns):
        says("developer", f"<skills>step {k}</skills>")
        says("developer", APPROVED["content"])
        says("user", f"Please do step {k} in src/step{k}.py.")
        call = {"name": "shell", "arguments": json.dumps({"command": ["make", f"step{k}"]}), "call_id": f"c{k % 3}"}
        rows.append({"type": "response_item", "payload": {"type": "function_call", **call}})
        answer = {"type": "function_call_output", "call_id": f"c{k % 3}", "output": f"step {k} is done\n" * 60}
        rows.append({"type": "response_item", "payload": answer})
        says("assistant", f"Step {k} is done: src/step{k}.py builds.")
    path.write_text("".join(json.dumps({**CODEX, **row}) + "\n" for row in rows))
    return path


def pi(path: Path, turns: int) -> Path:
    """A session of pi, where a message of the user's is pinned by whoever folds."""
    header = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-11-21T20:00:00.000Z", "cwd": "/work"}
    rows: list[Item] = [header]

    def says(message: Item) -> None:
        parent = rows[-1]["id"] if len(rows) > 1 else None
        rows.append({"type": "message", "id": f"{len(rows):08x}", "parentId": parent, "message": message})

    for k in range(turns):
        says({"role": "user", "content": f"Please do step {k} in src/step{k}.py."})
        call = {"type": "toolCall", "id": f"c{k % 3}", "name": "bash", "arguments": {"command": f"make step{k}"}}
        says({"role": "assistant", "content": [call]})
        said = [{"type": "text", "text": f"step {k} is done\n" * 60}]
        says({"role": "toolResult", "toolCallId": f"c{k % 3}", "toolName": "bash", "content": said})
        says({"role": "assistant", "content": [{"type": "text", "text": f"Step {k} is done: src/step{k}.py builds."}]})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def claude(path: Path, turns: int) -> Path:
    """A session of Claude Code."""
    rows: list[Item] = []

    def says(role: str, content: Any, **message: Any) -> None:
        base = {"sessionId": "s", "cwd": "/work", "version": "2.1.330", "isSidechain": False, "userType": "external"}
        place = {"uuid": f"u{len(rows)}", "parentUuid": f"u{len(rows) - 1}" if rows else None, **CODEX}
        rows.append({**base, **place, "type": role, "message": {"role": role, "content": content, **message}})

    for k in range(turns):
        says("user", f"Please do step {k} in src/step{k}.py.")
        call = {"type": "tool_use", "id": f"c{k % 3}", "name": "Bash", "input": {"command": f"make step{k}"}}
        says("assistant", [call], id=f"m{k}a")
        says("user", [{"type": "tool_result", "tool_use_id": f"c{k % 3}", "content": f"step {k} is done\n" * 60}])
        says("assistant", [{"type": "text", "text": f"Step {k} is done: src/step{k}.py builds."}], id=f"m{k}b")
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def pinned(view: View, *said: str) -> View:
    """The view with the user's messages pinned that begin so."""
    entries = (replace(e, pinned=e.pinned or e.message.text.startswith(said)) for e in view.entries)
    return replace(view, entries=tuple(entries))


@pytest.mark.parametrize("write", [codex, pi, claude])
@pytest.mark.parametrize("pins", [(), ("Please do step 2 ", "Please do step 4 ")], ids=["no pin", "pins"])
def test_a_session_file_holds_such_a_fold_and_takes_it_back(write: Any, pins: tuple[str, ...], tmp_path: Path) -> None:
    path = write(tmp_path / "session.jsonl", 40)
    session = open_session(path)
    before = pinned(session.view(), *pins)
    steps = steps_by_hand(preset("default"), before, budget(200_000), 0)
    after, fold = run(folding(before, steps, Occasion("manual")), extract)
    assert sum(message.summary is not None for message in after.messages) == 1
    assert len(fold.edits) == 1 + bool(pins) * 2 or write is codex
    old = path.read_bytes()
    session.fold(before, after, fold, session.meter())
    assert path.read_bytes().startswith(old)
    reloaded = open_session(path)
    assert [said(message) for message in reloaded.view().messages] == [said(message) for message in after.messages]
    assert all(reloaded.recall(id) for edit in fold.edits for id in edit.drop)
    reloaded.undo()
    undone = open_session(path)
    assert [said(message) for message in undone.view().messages] == [said(message) for message in before.messages]


@pytest.mark.parametrize("write", [codex, pi, claude])
def test_a_session_just_folded_is_nothing_to_do(write: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "session.jsonl", 60)
    opened = Desk(open_session(path))
    planned = opened.plan(preset("default"))
    assert planned
    planned.write()
    assert not Desk(open_session(path)).plan(preset("default"))
    open_session(path).undo()
    assert Desk(open_session(path)).plan(preset("default"))


def said(message: Message) -> Any:
    words = message.summary.text if message.summary else message.text
    return message.role, words.strip(), [c.id for c in message.calls], [text_of(r) for r in message.results]
