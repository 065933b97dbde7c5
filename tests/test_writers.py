"""Folds in other agents' own records: what is written reads as what was folded, and an undo brings everything back."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldline import Edit, Fold, Message, Receipt, SessionError, Summary, UnsafeEdit, View, open_session
from foldline._desk.desk import Desk
from foldline._sessions.busy import opened_elsewhere
from foldline._sessions.writable import WritableTranscript
from foldline.extend import Text, ToolCall, ToolResult, replace

SAMPLES = Path(__file__).parent / "transcripts"
NAMES = (
    "claude-code.jsonl",
    "claude-code-kept.jsonl",
    "codex.jsonl",
    "codex-local.jsonl",
    "gemini.jsonl",
    "qwen.jsonl",
)
CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
AGENTS = ("claude-code", "codex", "gemini", "qwen")
REAL = sorted(path for agent in AGENTS for path in CORPUS.glob(f"**/{agent}/*.jsonl"))

Row = dict[str, Any]


# -- sessions made by hand ---------------------------------------------------------------------------------------


def claude_rows(turns: int) -> list[Row]:
    """A session of Claude Code: in each turn a prompt, thinking, two calls side by side, their results, an answer."""
    rows: list[Row] = []

    def row(kind: str, parent: str | None = "", **more: Any) -> str:
        uuid = f"row-{len(rows)}"
        above = (rows[-1]["uuid"] if rows else None) if parent == "" else parent
        shared = {"isSidechain": False, "cwd": "/work", "sessionId": "s-1", "version": "2.1.330", "type": kind}
        rows.append({"parentUuid": above, **shared, **more, "uuid": uuid, "timestamp": "2026-11-01T10:00:00.000Z"})
        return uuid

    def reply(turn: str, block: Row) -> str:
        usage = {"input_tokens": 1000 + len(rows) * 10, "output_tokens": 50}
        message = {
            "id": f"msg-{turn}",
            "role": "assistant",
            "model": "claude-opus-5",
            "content": [block],
            "usage": usage,
        }
        return row("assistant", message=message)

    def result(parent: str, call: str, text: str) -> str:
        block = {"type": "tool_result", "tool_use_id": call, "content": text}
        return row("user", parent, message={"role": "user", "content": [block]}, toolUseResult={"stdout": text})

    for n in range(turns):
        row("user", message={"role": "user", "content": f"Prompt {n}: change the parser."})
        row(
            "attachment",
            attachment={"type": "todo_reminder", "content": []},
            rendered=[{"content": f"<r>Reminder {n}</r>"}],
        )
        reply(f"{n}a", {"type": "thinking", "thinking": f"Thought {n}.", "signature": "c2ln"})
        first = reply(
            f"{n}a", {"type": "tool_use", "id": f"call-{n}-1", "name": "Read", "input": {"file_path": f"{n}.py"}}
        )
        second = reply(f"{n}a", {"type": "tool_use", "id": f"call-{n}-2", "name": "Bash", "input": {"command": "ls"}})
        result(first, f"call-{n}-1", f"print({n})\n" * 40)
        result(second, f"call-{n}-2", f"a{n}.py\nb{n}.py")
        reply(f"{n}b", {"type": "text", "text": f"Answer {n}."})
    snapshot = {"type": "prompt_snapshot", "systemPrompt": ["You are an agent."], "tools": [{"name": "Read"}]}
    row("attachment", attachment=snapshot)
    return [*rows, {"type": "last-prompt", "lastPrompt": "Prompt", "leafUuid": rows[-1]["uuid"], "sessionId": "s-1"}]


def codex_rows(turns: int) -> list[Row]:
    """A rollout of Codex: in each turn a prompt, reasoning, two calls side by side, their outputs, an answer."""
    rows: list[Row] = []
    total = 0

    def row(kind: str, **payload: Any) -> None:
        rows.append(
            {"timestamp": "2026-11-01T10:00:00.000Z", "ordinal": len(rows) + 1, "type": kind, "payload": payload}
        )

    def words(role: str, text: str) -> None:
        kind = "output_text" if role == "assistant" else "input_text"
        row("response_item", type="message", role=role, content=[{"type": kind, "text": text}])

    def bill() -> None:
        nonlocal total
        total += 1000
        row(
            "token_usage_record",
            usage={"input_tokens": 900, "output_tokens": 9},
            thread_token_usage={"total_tokens": total},
        )

    row("session_meta", id="c-1", cwd="/work", base_instructions={"text": "You are Codex."})
    words("developer", "Sandbox: none.")
    words("user", "<environment_context>linux</environment_context>")
    row("world_state", full=True, state={"cwd": "/work"})
    row("turn_context", model="gpt-5.5", cwd="/work")
    for n in range(turns):
        words("user", f"Prompt {n}: change the parser.")
        row(
            "response_item",
            type="reasoning",
            summary=[{"type": "summary_text", "text": f"Thought {n}."}],
            encrypted_content="gA",
        )
        row(
            "response_item",
            type="function_call",
            name="exec",
            arguments=f'{{"cmd":"cat {n}.py"}}',
            call_id=f"call-{n}-1",
        )
        row("response_item", type="custom_tool_call", name="apply_patch", input=f"*** Patch {n}", call_id=f"call-{n}-2")
        bill()
        row("response_item", type="function_call_output", call_id=f"call-{n}-1", output=f"print({n})\n" * 40)
        output = [{"type": "input_text", "text": f"Done {n}"}]
        row("response_item", type="custom_tool_call_output", call_id=f"call-{n}-2", output=output)
        words("assistant", f"Answer {n}.")
        bill()
    return rows


def _gemini_parts(n: int) -> tuple[list[Row], list[Row]]:
    """Two calls side by side, and what they gave."""
    calls = [
        {"id": f"call-{n}-1", "name": "read_file", "args": {"file_path": f"{n}.py"}},
        {"id": f"call-{n}-2", "name": "run_shell_command", "args": {"command": "ls"}},
    ]
    told = ({"output": f"print({n})\n" * 40}, {"error": f"no b{n}.py"})
    return calls, [
        {"functionResponse": {"id": call["id"], "name": call["name"], "response": said}}
        for call, said in zip(calls, told, strict=True)
    ]


def gemini_rows(turns: int) -> list[Row]:
    """A chat of Gemini CLI: in each turn a prompt, a thought, two calls side by side with their results, an answer.

    In even turns the results stand in a message of their own as well, as where the program has sent them.
    """
    rows: list[Row] = [{"sessionId": "g-1", "projectHash": "abc", "startTime": "2026-11-01T10:00:00.000Z"}]
    when = {"timestamp": "2026-11-01T10:00:00.000Z"}

    def message(id: str, kind: str, content: Any, **more: Any) -> None:
        rows.append({"id": id, **when, "type": kind, "content": content, **more})
        rows.append({"$set": {"lastUpdated": when["timestamp"]}})

    start = {"id": "c", **when, "type": "user", "content": [{"text": "<session_context>linux</session_context>"}]}
    rows.append({"$set": {"messages": [start]}})
    for n in range(turns):
        message(f"u{n}", "user", [{"text": f"Prompt {n}: change the parser."}])
        calls, told = _gemini_parts(n)
        status = ("success", "error")
        made = [{**call, "result": [r], "status": s} for call, r, s in zip(calls, told, status, strict=True)]
        bill = {"input": 1000 + n * 100, "output": 50, "cached": 0}
        more = {
            "thoughts": [{"subject": "", "description": f"Thought {n}."}],
            "model": "gemini-2.5-pro",
            "tokens": bill,
        }
        message(f"g{n}", "gemini", f"Looking {n}.", **more, toolCalls=made)
        if n % 2 == 0:
            message(f"f{n}", "user", told)
        message(f"i{n}", "info", "Shown to the user alone.")
        message(f"a{n}", "gemini", f"Answer {n}.", model="gemini-2.5-pro", tokens={**bill, "input": 1050 + n * 100})
    return rows


def qwen_rows(turns: int) -> list[Row]:
    """A chat of Qwen Code: in each turn a prompt, a thought, two calls side by side, their results, an answer."""
    rows: list[Row] = []

    def row(kind: str, **more: Any) -> None:
        parent = rows[-1]["uuid"] if rows else None
        shared = {"sessionId": "q-1", "timestamp": "2026-11-01T10:00:00.000Z", "cwd": "/work", "version": "0.24.4"}
        rows.append({"uuid": f"row-{len(rows)}", "parentUuid": parent, **shared, "type": kind, **more})

    def reply(*parts: Row) -> None:
        bill = {"promptTokenCount": 1000 + len(rows) * 10, "candidatesTokenCount": 50}
        more = {"model": "qwen3-coder-plus", "usageMetadata": bill, "contextWindowSize": 128_000}
        row("assistant", message={"role": "model", "parts": list(parts)}, **more)

    for n in range(turns):
        prompt = {"role": "user", "parts": [{"text": f"Prompt {n}: change the parser."}]}
        row("user", provenance="real_user", message=prompt)
        row("system", provenance="system", subtype="ui_telemetry", systemPayload={"uiEvent": {}})
        calls, told = _gemini_parts(n)
        thought = {"text": f"Thought {n}.", "thought": True}
        reply(thought, {"text": f"Looking {n}."}, *({"functionCall": call} for call in calls))
        for each in told:
            row("tool_result", provenance="tool_result", message={"role": "user", "parts": [each]})
        reply({"text": f"Answer {n}."})
        done = {"role": "user", "parts": [{"text": f"Task {n} is done."}]}
        row("user", provenance="background_notification", subtype="notification", message=done)
    return rows


MADE = {"claude": claude_rows, "codex": codex_rows, "gemini": gemini_rows, "qwen": qwen_rows}


def opened(path: Path, format: str | None = None) -> WritableTranscript:
    session = open_session(path, format=format)
    assert isinstance(session, WritableTranscript)
    return session


def made(folder: Path, agent: str, turns: int = 4) -> WritableTranscript:
    path = folder / f"{agent}.jsonl"
    path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in MADE[agent](turns)))
    return opened(path)


# -- what is compared --------------------------------------------------------------------------------------------


def said(messages: Iterable[Message]) -> list[tuple[str, tuple[Any, ...]]]:
    """What a model is told: roles and parts, replies in a row as one, without bills and unmodelled keys."""
    told: list[tuple[str, tuple[Any, ...]]] = []
    for message in messages:
        parts = tuple(_bare(part) for part in message.parts)
        if message.role == "assistant" and told and told[-1][0] == "assistant":
            told[-1] = ("assistant", told[-1][1] + parts)
        else:
            told.append((message.role, parts))
    return told


def _bare(part: Any) -> Any:
    if isinstance(part, ToolResult):
        part = replace(part, parts=tuple(_bare(p) for p in part.parts), name="")
    if isinstance(part, ToolCall) and part.arguments.startswith("{"):
        part = replace(part, arguments=json.dumps(json.loads(part.arguments)))
    return replace(part, extra={}) if getattr(part, "extra", None) else part


def context(session: WritableTranscript) -> list[tuple[str, tuple[Any, ...]]]:
    return said(message for _, message in session.context.entries)


def write(session: WritableTranscript, edits: list[Edit], id: str = "fold-1") -> View:
    """Folds a session by the edits that can be made, in the order given."""
    before = session.view()
    after = before.replay(edits)
    fold = Fold(id, "manual", "summarize", tuple(edits), None, Receipt(before.tokens, after.tokens))
    session.fold(before, after, fold, session.meter())
    return after


def summarized(session: WritableTranscript, start: int, stop: int, text: str = "What was done.") -> Edit:
    """The edit by which the entries between two cut points give way to a summary."""
    ids = [entry.id for entry in session.view().entries][start:stop]
    return Edit(tuple(ids), (Message("user", (Summary(text, {"round": 1, "files": {"a.py": "read"}}),)),), "test")


def prompts(session: WritableTranscript) -> list[int]:
    return [
        i
        for i, e in enumerate(session.view().entries)
        if e.message.role == "user" and e.message.text.startswith("Prompt")
    ]


# -- any fold ----------------------------------------------------------------------------------------------------


def edit_drawn(view: View, data: st.DataObject) -> Edit:
    """An edit of a view, which may not be a safe one."""
    kind = data.draw(st.sampled_from(("summary", "nothing", "stub", "cut")))
    if kind in ("stub", "cut") and view.entries:
        entry = data.draw(st.sampled_from(view.entries))
        parts = tuple(
            replace(p, parts=(Text("[pruned]"),))
            if isinstance(p, ToolResult)
            else replace(p, arguments='{"cmd":"…"}')
            if kind == "cut" and hasattr(p, "arguments")
            else p
            for p in entry.message.parts
        )
        return Edit((entry.id,), (replace(entry.message, parts=parts),), "test")
    points = sorted(view.cut_points())
    start, stop = sorted((data.draw(st.sampled_from(points)), data.draw(st.sampled_from(points))))
    words = data.draw(st.sampled_from(("A summary.", "Schluß 🎉\nzwei", '"quoted" \\ <x>')))
    into = (Message("user", (Summary(words, {"round": 1}),)),) if kind == "summary" else ()
    return Edit(tuple(entry.id for entry in view.entries[start:stop]), into, "test")


def edits_drawn(view: View, data: st.DataObject) -> list[Edit]:
    edits: list[Edit] = []
    for _ in range(data.draw(st.integers(1, 4))):
        edit = edit_drawn(view, data)
        try:
            after = view.apply(edit)
        except UnsafeEdit:
            continue
        if any(message.role != "system" for message in after.messages):
            view = after
            edits.append(edit)
    return edits


@pytest.mark.parametrize("agent", [*MADE, *NAMES])
@settings(max_examples=max(15, settings().max_examples // 5))
@given(data=st.data())
def test_any_folds_read_as_they_were_made_and_are_undone(
    tmp_path_factory: pytest.TempPathFactory, agent: str, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("session")
    session = made(folder, agent, 3) if agent in MADE else opened(Path(shutil.copy(SAMPLES / agent, folder)))
    path = Path(session.path)
    told, folds = [context(session)], [fold.id for fold in session.folds()]
    for n in range(data.draw(st.integers(1, 3))):
        was = path.read_bytes()
        edits = edits_drawn(session.view(), data)
        after = write(session, edits, f"fold-{n}")
        assert path.read_bytes().startswith(was)
        if edits:
            told.append(said(after.messages))
            folds.append(f"fold-{n}")
        assert context(session) == context(opened(path)) == told[-1]
        assert [fold.id for fold in session.folds()] == folds
    while len(told) > 1:
        was = path.read_bytes()
        assert session.undo() == folds.pop()
        told.pop()
        assert context(session) == context(opened(path)) == told[-1]
        assert [fold.id for fold in session.folds() if not fold.undone] == folds
        assert path.read_bytes().startswith(was)


# -- what a fold leaves -------------------------------------------------------------------------------------------

agents = pytest.mark.parametrize("agent", MADE)


@agents
def test_a_fold_is_noted_with_its_receipt_and_its_facts(tmp_path: Path, agent: str) -> None:
    session = made(tmp_path, agent)
    write(session, [summarized(session, prompts(session)[0], prompts(session)[2])])
    session = opened(Path(session.path))
    newest = session.newest_fold
    assert newest is not None
    assert (newest.id, newest.trigger, newest.layer, newest.ours) == ("fold-1", "manual", "summarize", True)
    assert newest.receipt.tokens_before > newest.receipt.tokens_after > 0
    assert newest.summary == "What was done."
    (summary,) = [m.summary for _, m in session.context.entries if m.summary]
    assert summary.facts == {"round": 1, "files": {"a.py": "read"}}
    assert (session.compactions, session.faults) == (1, [])


@agents
def test_what_was_folded_and_what_stayed_is_recalled_by_every_id(tmp_path: Path, agent: str) -> None:
    session = made(tmp_path, agent)
    was = {id: m for id, m in session.messages() if m.role != "system"}
    entry = next(e for e in session.view().entries if "print(3)" in str(e.message))
    stub = replace(entry.message, parts=tuple(replace(p, parts=(Text("[pruned]"),)) for p in entry.message.parts))
    edits = [summarized(session, prompts(session)[0], prompts(session)[2]), Edit((entry.id,), (stub,), "test")]
    write(session, edits)
    assert {id: session.recall(id) for id in was} == was
    live = next(id for id, m in session.context.entries if "[pruned]" in str(m))
    assert session.recall(live) == entry.message
    told = [m for _, m in session.messages() if m.role != "system" and not m.summary]
    assert said(told) == said(was.values())


def test_reminders_behind_a_compaction_are_recalled_once_they_are_folded(tmp_path: Path) -> None:
    rows = [row for row in claude_rows(2) if "uuid" in row]
    shared = {"isSidechain": False, "cwd": "/work", "sessionId": "s-1", "version": "2.1.330"}

    def row(kind: str, parent: str | None, uuid: str, **more: Any) -> None:
        rows.append({"parentUuid": parent, **shared, "type": kind, **more, "uuid": uuid})

    reminder = {"attachment": {"type": "date"}, "rendered": [{"content": "<r>It is Monday.</r>"}]}
    # The newest row before the boundary is a user's, which reminders would join.
    row("user", rows[-1]["uuid"], "last", message={"role": "user", "content": "Go on."})
    row("system", None, "boundary", subtype="compact_boundary", logicalParentUuid="last", compactMetadata={})
    row("attachment", "boundary", "monday", **reminder)
    row("user", "monday", "summary", isCompactSummary=True, message={"role": "user", "content": "It went well."})
    row("assistant", "summary", "answer", message={"role": "assistant", "content": [{"type": "text", "text": "Done."}]})
    path = tmp_path / "s-1.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    session = opened(path)
    was = dict(session.messages())
    write(session, [summarized(session, 0, 2)])
    assert was["monday"].text == "<r>It is Monday.</r>"
    assert {id: session.recall(id) for id in was} == was


def test_what_a_fold_copied_is_recalled_by_the_id_from_before(tmp_path: Path) -> None:
    session = made(tmp_path, "claude")
    id, system = next((id, m) for id, m in session.messages() if m.role == "system")
    write(session, [summarized(session, prompts(session)[0], prompts(session)[1])])
    assert id not in dict(session.context.entries)
    assert session.recall(id) == system


def test_a_system_prompt_without_an_id_is_not_copied(tmp_path: Path) -> None:
    session = made(tmp_path, "claude")
    path = Path(session.path)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    snapshot = next(row for row in rows if row.get("attachment", {}).get("type") == "prompt_snapshot")
    snapshot["uuid"] = None
    rows.append({**rows[0], "uuid": "newest", "parentUuid": "gone"})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    session, was = opened(path), path.read_bytes()
    with pytest.raises(SessionError, match="rows have ids"):
        write(session, [summarized(session, prompts(session)[0], prompts(session)[1])])
    assert path.read_bytes() == was


@agents
def test_bills_from_before_a_fold_are_not_those_of_what_stands(tmp_path: Path, agent: str) -> None:
    session = made(tmp_path, agent)
    full = session.meter().billed
    assert full is not None
    write(session, [summarized(session, prompts(session)[0], prompts(session)[2])])
    assert session.meter().billed is None
    assert not any(m.usage.prompt for _, m in session.context.entries if m.usage)


def test_claude_code_rows_hang_in_one_chain_with_ids_of_their_own(tmp_path: Path) -> None:
    session = made(tmp_path, "claude")
    old = [json.loads(line) for line in Path(session.path).read_text().splitlines()]
    write(session, [summarized(session, prompts(session)[0], prompts(session)[2])])
    new = [json.loads(line) for line in Path(session.path).read_text().splitlines()][len(old) :]
    assert (new[0]["subtype"], new[0]["parentUuid"], new[0]["foldline"]["rows"]) == ("compact_boundary", None, len(new))
    assert new[1]["isCompactSummary"]
    assert "What was done." in new[1]["message"]["content"]
    chain = new[:-1]
    assert [row["parentUuid"] for row in chain[1:]] == [row["uuid"] for row in chain[:-1]]
    assert {key: new[-1][key] for key in ("type", "leafUuid")} == {"type": "last-prompt", "leafUuid": chain[-1]["uuid"]}
    seen = {row["uuid"] for row in old if "uuid" in row} | {
        row["message"]["id"] for row in old if row["type"] == "assistant"
    }
    assert seen.isdisjoint(
        {row["uuid"] for row in chain} | {row["message"]["id"] for row in chain if row["type"] == "assistant"}
    )
    assert {row["sessionId"] for row in new} == {"s-1"}
    assert all(next(iter(row)) == "parentUuid" for row in chain)


def test_codex_rows_go_on_in_number_and_keep_what_codex_knew(tmp_path: Path) -> None:
    session = made(tmp_path, "codex")
    old = [json.loads(line) for line in Path(session.path).read_text().splitlines()]
    write(session, [summarized(session, prompts(session)[0], prompts(session)[2])])
    new = [json.loads(line) for line in Path(session.path).read_text().splitlines()][len(old) :]
    assert [row["type"] for row in new] == ["compacted", "world_state", "turn_context"]
    assert [row["ordinal"] for row in new] == [len(old) + n for n in (1, 2, 3)]
    history = new[0]["payload"]["replacement_history"]
    kept = [row["payload"] for row in old if row["type"] == "response_item"]
    assert history[:2] == kept[:2]
    assert history[2]["content"][0]["text"].startswith("Another language model started to solve this problem")
    assert history[3:] == kept[-14:]
    session = opened(Path(session.path))
    surroundings = next(i for i, e in enumerate(session.view().entries) if "environment_context" in e.message.text)
    write(session, [Edit((session.view().entries[surroundings].id,), (), "test")], "fold-2")
    assert json.loads(Path(session.path).read_text().splitlines()[-1])["type"] == "compacted"


def test_gemini_messages_say_each_result_once(tmp_path: Path) -> None:
    session = made(tmp_path, "gemini")
    old = Path(session.path).read_text().splitlines()
    write(session, [summarized(session, prompts(session)[0], prompts(session)[2])])
    (new,) = [json.loads(line) for line in Path(session.path).read_text().splitlines()[len(old) :]]
    messages = new["$set"]["messages"]
    assert [message["type"] for message in messages] == ["user"] * 2 + ["user", "gemini", "user", "gemini"] * 2
    assert messages[1]["content"][0]["text"] == "<state_snapshot>\nWhat was done.\n</state_snapshot>"
    assert not any("result" in call for message in messages for call in message.get("toolCalls", ()))
    assert not any("tokens" in message for message in messages)
    assert {message["id"] for message in messages}.isdisjoint(json.loads(line).get("id") for line in old)
    assert new["$set"]["lastUpdated"] == new["timestamp"]


def test_what_gemini_says_again_when_it_resumes_is_not_said_again_by_an_undoing(tmp_path: Path) -> None:
    session = made(tmp_path, "gemini")
    told = context(session)
    write(session, [summarized(session, prompts(session)[0], prompts(session)[2])])
    lines = Path(session.path).read_text().splitlines()
    listed: list[Row] = []
    for message in json.loads(lines[-1])["$set"]["messages"]:
        listed.append(message)
        if calls := message.get("toolCalls"):
            answers = _gemini_parts(int(calls[0]["id"].split("-")[1]))[1]
            listed.append({"id": f"{message['id']}_response", "type": "user", "content": answers})
    more = {"id": "new", "type": "user", "content": [{"text": "Prompt 4: go on."}]}
    with open(session.path, "a") as file:
        file.writelines(json.dumps(row) + "\n" for row in ({"$set": {"messages": listed}}, more))
    session = opened(Path(session.path))
    assert session.undo() == "fold-1"
    assert context(session) == [*told, ("user", (Text("Prompt 4: go on."),))]


def test_a_qwen_row_hangs_on_the_newest_one_and_says_the_sizes(tmp_path: Path) -> None:
    session = made(tmp_path, "qwen")
    old = [json.loads(line) for line in Path(session.path).read_text().splitlines()]
    write(session, [summarized(session, prompts(session)[0], prompts(session)[2])])
    newest = session.newest_fold
    assert newest is not None
    (row,) = [json.loads(line) for line in Path(session.path).read_text().splitlines()[len(old) :]]
    assert (row["parentUuid"], row["sessionId"], row["subtype"]) == (old[-1]["uuid"], "q-1", "chat_compression")
    info = row["systemPayload"]["info"]
    sizes = info["originalTokenCount"], info["newTokenCount"]
    assert sizes == (newest.receipt.tokens_before, newest.receipt.tokens_after)
    history = row["systemPayload"]["compressedHistory"]
    assert history[0]["parts"][0]["text"] == "<state_snapshot>\nWhat was done.\n</state_snapshot>"
    assert history[1:] == [row["message"] for row in old[len(old) // 2 :] if "message" in row]
    session.undo()
    undone = json.loads(Path(session.path).read_text().splitlines()[-1])
    newest_bill = old[-2]["usageMetadata"]
    assert (
        undone["systemPayload"]["info"]["newTokenCount"]
        == newest_bill["promptTokenCount"] + newest_bill["candidatesTokenCount"]
    )


@pytest.mark.parametrize("name", ["gemini.jsonl", "qwen.jsonl"])
def test_a_compression_of_the_programs_own_is_undone(tmp_path: Path, name: str) -> None:
    whole = (SAMPLES / name).read_text().splitlines(keepends=True)
    at = next(n for n, line in enumerate(whole) if "<state_snapshot>" in line)
    path = tmp_path / name
    path.write_text("".join(whole[:at]))
    before = opened(path).context.messages
    path.write_text("".join(whole))
    session = opened(path)
    kept = json.loads(whole[at]).get("$set", {}).get("messages", ())
    ids = {message["id"] for message in kept} | {"5:1", "5:2"}
    later = [message for id, message in session.context.entries if id not in ids]
    assert later
    (fold,) = session.folds()
    assert session.undo() == fold.id
    assert context(session) == said([*before, *later])
    assert [each.undone for each in session.folds()] == [True]
    assert session.undo() is None


def test_whose_words_they_are_is_known_behind_a_fold(tmp_path: Path) -> None:
    session = made(tmp_path, "qwen")
    write(session, [summarized(session, prompts(session)[0], prompts(session)[2])])
    session = opened(Path(session.path))
    by = {m.text: {part.by for part in m.parts if isinstance(part, Text)} for _, m in session.context.entries}
    assert by["Prompt 3: change the parser."] == {""}
    assert by["Task 3 is done."] == {"harness"}


# -- faults ------------------------------------------------------------------------------------------------------


@agents
def test_a_file_that_grew_since_it_was_read_is_not_written(tmp_path: Path, agent: str) -> None:
    session = made(tmp_path, agent)
    edit = summarized(session, prompts(session)[0], prompts(session)[2])
    with open(session.path, "a") as file:
        file.write(json.dumps(MADE[agent](1)[-1]) + "\n")
    was = Path(session.path).read_bytes()
    with pytest.raises(SessionError, match="another process"):
        write(session, [edit])
    assert Path(session.path).read_bytes() == was


@agents
@pytest.mark.parametrize("cut", [1, 30, 200])
def test_a_torn_last_line_stays_and_is_folded_behind(tmp_path: Path, agent: str, cut: int) -> None:
    path = Path(made(tmp_path, agent).path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines) + lines[-1 if agent == "codex" else -3][:cut])
    session = opened(path)
    told, was = context(session), path.read_bytes()
    after = write(session, [summarized(session, prompts(session)[0], prompts(session)[2])])
    assert context(opened(path)) == said(after.messages)
    assert path.read_bytes().startswith(was)
    session.undo()
    assert context(opened(path)) == told


@agents
@pytest.mark.parametrize("damage", [b"", b"not JSON", b"[]", b'{"type":5}', b"\xff\xfe\x00"])
def test_a_damaged_line_is_read_around_and_folded(tmp_path: Path, agent: str, damage: bytes) -> None:
    path = Path(made(tmp_path, agent).path)
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([*lines[:6], damage, *lines[6:]]) + b"\n")
    session = opened(path)
    told = context(session)
    after = write(session, [summarized(session, prompts(session)[1], prompts(session)[2])])
    assert context(opened(path)) == said(after.messages)
    session.undo()
    assert context(opened(path)) == told


@agents
def test_a_fold_cut_short_anywhere_is_read_and_folded_on(tmp_path: Path, agent: str) -> None:
    session = made(tmp_path, agent)
    path, start = Path(session.path), os.path.getsize(session.path)
    told = context(session)
    write(session, [summarized(session, prompts(session)[0], prompts(session)[2])])
    data = path.read_bytes()
    for end in range(start, len(data), 97):
        path.write_bytes(data[:end])
        session = opened(path)
        newest = session.newest_fold
        if newest is None:
            assert context(session) == told
        else:
            assert session.undo() == newest.id
            assert context(session)[: len(told)] == told


def test_what_cannot_be_gone_on_from_is_refused(tmp_path: Path) -> None:
    side = tmp_path / "side.jsonl"
    side.write_text("".join(json.dumps(row | {"isSidechain": True}) + "\n" for row in claude_rows(3) if "uuid" in row))
    bare = tmp_path / "bare.jsonl"
    rows = [{"id": "c-1", "timestamp": "2025-05-01T10:00:00Z", "instructions": "You are Codex."}]
    bare.write_text(
        "".join(
            json.dumps(row) + "\n"
            for row in [*rows, *(row["payload"] for row in codex_rows(3) if row["type"] == "response_item")]
        )
    )
    for path, format in ((side, "claude-code"), (bare, "codex")):
        session, was = opened(path, format), path.read_bytes()
        with pytest.raises(SessionError):
            write(session, [summarized(session, prompts(session)[0], prompts(session)[2])])
        assert path.read_bytes() == was


@agents
def test_a_fold_of_another_context_is_refused(tmp_path: Path, agent: str) -> None:
    session = made(tmp_path, agent)
    before = session.view()
    edit = summarized(session, prompts(session)[0], prompts(session)[2])
    write(session, [edit])
    with pytest.raises(SessionError, match="not of the context"):
        session.fold(before, before.apply(edit), Fold("x", edits=(edit,)), session.meter())
    whole = Edit(tuple(e.id for e in session.view().entries if e.message.role != "system"), (), "test")
    with pytest.raises(SessionError, match="leave something"):
        session.fold(session.view(), session.view().replay([whole]), Fold("x", edits=(whole,)), session.meter())
    assert session.undo() == "fold-1"
    assert session.undo() is None


# -- who is at work ----------------------------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux tells who has a file open")
def test_who_has_a_session_open_for_writing_is_told(tmp_path: Path) -> None:
    session = made(tmp_path, "codex")
    link = tmp_path / "link.jsonl"
    link.symlink_to(session.path)
    with open(session.path, "ab"):
        assert opened_elsewhere(session.path) == []
    code = "import sys; f = open(sys.argv[1], sys.argv[2]); print(flush=True); sys.stdin.read()"
    for mode, told in (("rb", False), ("ab", True), ("r+b", True)):
        command = [sys.executable, "-c", code, session.path, mode]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
            assert other.stdout is not None
            other.stdout.readline()
            assert opened_elsewhere(link) == ([other.pid] if told else [])
            other.communicate()
    assert opened_elsewhere(session.path) == []


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells when a process began")
def test_a_session_that_claude_code_lists_is_at_work(tmp_path: Path) -> None:
    path = tmp_path / "projects" / "-work" / "s-1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("{}\n")
    (tmp_path / "sessions").mkdir()
    entry = tmp_path / "sessions" / "1.json"
    began = Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()[19]
    for said_of, told in (
        ({"pid": os.getppid(), "sessionId": "s-1", "procStart": began}, [os.getppid()]),
        ({"pid": os.getppid(), "sessionId": "s-1"}, [os.getppid()]),
        ({"pid": os.getppid(), "sessionId": "s-1", "procStart": "1"}, []),
        ({"pid": os.getppid(), "sessionId": "s-2", "procStart": began}, []),
        ({"pid": 2**30, "sessionId": "s-1"}, []),
        ({"pid": "1", "sessionId": "s-1"}, []),
        (["s-1"], []),
    ):
        entry.write_text(json.dumps(said_of))
        assert opened_elsewhere(path) == told
    entry.write_text("{")
    assert opened_elsewhere(path) == []


# -- real sessions -----------------------------------------------------------------------------------------------


@pytest.mark.skipif(not REAL, reason="the corpus is not here")
@pytest.mark.parametrize("real", REAL, ids=lambda path: path.stem[-12:])
def test_real_sessions_are_folded_and_undone(tmp_path: Path, real: Path) -> None:
    path = Path(shutil.copy(real, tmp_path))
    path.chmod(0o600)
    session, was = opened(path), path.read_bytes()
    told, standing = context(session), [fold.id for fold in session.folds() if not fold.undone]
    points = sorted(session.view().cut_points())
    half = points[len(points) // 2]
    first = next(i for i, e in enumerate(session.view().entries) if not e.pinned)
    stubs = [
        Edit((e.id,), (replace(e.message, parts=tuple(_stubbed(p) for p in e.message.parts)),), "test")
        for e in session.view().entries[half:]
        if any(True for _ in e.message.results)
    ]
    after = write(session, [summarized(session, first, half), *stubs[::2]])
    assert context(session) == context(opened(path)) == said(after.messages)
    assert session.undo() == "fold-1"
    assert context(session) == context(opened(path)) == told
    assert [fold.id for fold in session.folds() if not fold.undone] == standing
    assert path.read_bytes().startswith(was)


def _stubbed(part: Any) -> Any:
    return replace(part, parts=(Text("[pruned]"),)) if isinstance(part, ToolResult) else part


@pytest.mark.parametrize(
    ("branch", "line"), [("rows-in-parts", "- git: on branch rows-in-parts"), ("HEAD", ""), ("", "")]
)
def test_a_page_says_on_which_branch_claude_code_notes_that_it_works(tmp_path: Path, branch: str, line: str) -> None:
    rows = [{**row, "gitBranch": branch} for row in claude_rows(12)]
    path = tmp_path / "session.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    told = Desk.open(str(path), force=True).asked(dry=True).summary.splitlines()
    assert [each for each in told if each.startswith("- git: ")] == [line] * bool(line)
