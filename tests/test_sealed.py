"""A compaction of Codex that only its provider can read: what it stands for is in the file, and a fold tells it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from foldline._desk.desk import Desk

POOL = (
    "The pool is leaking connections: close() is skipped where a query raises. I fixed it in db/pool.py and tests pass."
)
QUESTION = "Why does the pool run dry every night, and can you please mend it in db/pool.py?"
NEXT = "Now write a regression test for it, and never touch the migrations folder while you are at it."


def _says(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _item(payload: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    typed = [("event_msg", {"type": "user_message", "message": payload["content"][0]["text"]})]
    return [("response_item", payload), *(typed if payload.get("role") == "user" else [])]


def _call(id: str, command: str, output: str) -> list[tuple[str, dict[str, Any]]]:
    call = {"type": "function_call", "call_id": id, "name": "shell", "arguments": json.dumps({"cmd": command})}
    return [
        ("response_item", call),
        ("response_item", {"type": "function_call_output", "call_id": id, "output": output}),
    ]


def _compacted(*history: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    kept = {"type": "compaction", "encrypted_content": "gAAA" * 400}
    return "compacted", {"message": "", "replacement_history": [*history, kept]}


def _desk(folder: Path, *payloads: tuple[str, dict[str, Any]]) -> Desk:
    rows = [
        ("session_meta", {"id": "s", "cwd": "/srv"}),
        ("turn_context", {"model": "gpt-5.4", "cwd": "/srv"}),
        *payloads,
    ]
    path = folder / "rollout.jsonl"
    path.write_text("".join(json.dumps({"type": kind, "payload": payload}) + "\n" for kind, payload in rows), "utf-8")
    return Desk.open(str(path), environment={}, window=20_000)


def _work(*names: str) -> list[tuple[str, dict[str, Any]]]:
    return [
        row
        for name in names
        for row in _call(name, f"pytest -q tests/{name}.py", f"{name} " * 3_000 + "\n3 passed in 0.2s")
    ]


def _before() -> list[tuple[str, dict[str, Any]]]:
    return [
        *_item(_says("user", QUESTION)),
        *_call("a", "cat db/pool.py", "def close(): ..."),
        *_item(_says("assistant", POOL)),
    ]


def test_a_fold_tells_what_a_sealed_compaction_stands_for(tmp_path: Path) -> None:
    after = [*_item(_says("user", NEXT)), *_work("one", "two", "three", "four", "five", "six")]
    desk = _desk(tmp_path, *_before(), _compacted(_says("user", QUESTION)), *after)
    assert POOL.split(":")[0] not in "".join(message.text for message in desk.view.messages)
    told = desk.asked().summary
    assert "close() is skipped where a query raises" in told
    assert told.index(QUESTION) < told.index("close() is skipped")
    assert told.count(QUESTION) == 1


def test_a_fold_tells_it_where_the_sealed_words_were_taken_out_of_the_file(tmp_path: Path) -> None:
    bare = "compacted", {"message": "", "replacement_history": [_says("user", QUESTION)]}
    after = [*_item(_says("user", NEXT)), *_work("one", "two", "three", "four", "five", "six")]
    assert "close() is skipped" in _desk(tmp_path, *_before(), bare, *after).asked().summary


def test_a_summary_that_can_be_read_is_carried_on_as_it_is(tmp_path: Path) -> None:
    words = "Another language model started to solve this problem and produced a summary: the pool is mended."
    told = "compacted", {"message": "", "replacement_history": [_says("user", QUESTION), _says("user", words)]}
    after = [*_item(_says("user", NEXT)), *_work("one", "two", "three", "four", "five", "six")]
    summary = _desk(tmp_path, *_before(), told, *after).asked().summary
    assert "the pool is mended" in summary
    assert "close() is skipped" not in summary


def test_of_several_sealed_compactions_each_is_told(tmp_path: Path) -> None:
    first = [*_before(), _compacted(_says("user", QUESTION))]
    done = _says(
        "assistant", "The regression test is tests/test_pool.py, it fails without the mend and passes with it."
    )
    second = [*_item(_says("user", NEXT)), *_item(done), _compacted(_says("user", QUESTION), _says("user", NEXT))]
    last = [*_item(_says("user", "And what about the connections that the cron job holds open over night?"))]
    desk = _desk(tmp_path, *first, *second, *last, *_work("one", "two", "three", "four", "five", "six"))
    told = desk.asked().summary
    places = [told.index(text) for text in (QUESTION, "close() is skipped", NEXT.split(",")[0], "tests/test_pool.py")]
    assert places[0] < places[1] < places[3]
    assert told.count(QUESTION) == 1


def test_what_the_user_took_back_before_it_is_not_told(tmp_path: Path) -> None:
    wrong = [
        *_item(_says("user", "Drop the whole pool and open a connection for each query instead.")),
        *_item(_says("assistant", "Dropped.")),
    ]
    back = ("event_msg", {"type": "thread_rolled_back", "num_turns": 1})
    after = [*_item(_says("user", NEXT)), *_work("one", "two", "three", "four", "five", "six")]
    desk = _desk(tmp_path, *_before(), *wrong, back, _compacted(_says("user", QUESTION)), *after)
    told = desk.asked().summary
    assert "close() is skipped" in told
    assert "Drop the whole pool" not in told
