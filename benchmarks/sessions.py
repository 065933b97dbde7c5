"""Session files to measure with, in version 3 of the dialect, written fast and at any size."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

BLOCK = 1_000
"""Records that one block holds; a large file is one block over and over, with other ids."""

LIVE_KEPT = 60
LIVE_SINCE = 140
"""Messages that the fold kept, and messages since: 200 behind the last fold."""

TIME = "2026-03-02T10:00:00.000Z"

Record = dict[str, Any]


def large_session(path: Path, size: int, *, by_pi: bool = False) -> None:
    """Writes a session of about `size` bytes that foldline folded near its end, and 200 messages behind that fold.

    Nearly all of it lies before an older fold, of pi's own making, as it does in the file of a long-lived agent. With
    `by_pi` that one is the last.
    """
    newest = messages(LIVE_KEPT + LIVE_SINCE, "fffff0", "fffffffe")
    with path.open("wb") as file:
        file.write(_line(header()))
        start, *pieces = b"".join(map(_line, block())).split(b"@this@")
        number = 0
        while file.tell() < size:
            number += 1
            this, last = b"%06x" % number, b"%06x" % (number - 1)
            file.write(this.join([start, pieces[0].replace(b"@last@", last), *pieces[1:]]))
        file.write(_line(pi_fold(_id(f"{number:06x}", BLOCK - 1))))
        file.writelines(map(_line, newest if by_pi else newest[:LIVE_KEPT]))
    if not by_pi:
        _fold(path)
        _append(path, newest[LIVE_KEPT:])


def header() -> Record:
    """The first record of a session."""
    return {"type": "session", "version": 3, "id": "0199bench", "timestamp": TIME, "cwd": "/srv/invoices"}


def block() -> list[Record]:
    """The records of one block, which hang on the last one of the block before."""
    return messages(BLOCK, "@this@", _id("@last@", BLOCK - 1))


def messages(n: int, prefix: str, parent: str) -> list[Record]:
    """Messages of a coding agent: every eighth step a user speaks, the others read a file; replies carry usage."""
    records: list[Record] = []
    for i in range(n):
        id = _id(prefix, i)
        records.append({"type": "message", "id": id, "parentId": parent, "timestamp": TIME, "message": message(i)})
        parent = id
    return records


def message(i: int) -> Record:
    """One message of the pattern; `i` is its number."""
    match i % 8:
        case 0:
            return {"role": "user", "content": [{"type": "text", "text": f"Look at invoice {i}, please. " * 6}]}
        case 7:
            return reply(i, [{"type": "text", "text": f"Invoice {i} rounds per line because the law asks for it. " * 8}])
        case odd if odd % 2:
            path = f"src/billing/module_{i}.py"
            call = {"type": "toolCall", "id": f"call_{i:04}", "name": "read", "arguments": {"path": path}}
            return reply(i, [{"type": "text", "text": f"I read {path} first."}, call])
        case _:
            text = "".join(f"{n:5}  total = sum(line.net for line in lines[{i}:])\n" for n in range(30))
            return tool_result(f"call_{i - 1:04}", "read", text)


def reply(i: int, content: list[Record], billed: int | None = None) -> Record:
    """A model's reply with what it was billed."""
    billed = 40_000 + 30 * i if billed is None else billed
    cost = {"input": 0.01, "output": 0.002, "cacheRead": 0.0, "cacheWrite": 0.0, "total": 0.012}
    usage = {"input": 900, "output": 60, "cacheRead": billed - 900, "cacheWrite": 0, "totalTokens": billed + 60}
    return {
        "role": "assistant",
        "content": content,
        "api": "anthropic-messages",
        "provider": "anthropic",
        "model": "claude-sonnet-4-5",
        "usage": {**usage, "cost": cost},
        "stopReason": "toolUse" if any(c["type"] == "toolCall" for c in content) else "stop",
        "timestamp": 1_772_445_600_000 + i,
    }


def tool_result(call: str, name: str, text: str) -> Record:
    """What a tool answered."""
    content = [{"type": "text", "text": text}]
    return {"role": "toolResult", "toolCallId": call, "toolName": name, "content": content, "isError": False}


def pi_fold(last: str) -> Record:
    """A fold as pi writes it, which keeps the newest record alone."""
    return {
        "type": "compaction",
        "id": "fffffffe",
        "parentId": last,
        "timestamp": TIME,
        "summary": "## Goal\nKeep the invoice service right.\n\n## Progress\n" + "- Read another module.\n" * 40,
        "firstKeptEntryId": last,
        "tokensBefore": 180_000,
        "details": {"readFiles": ["src/billing/module_1.py"], "modifiedFiles": []},
    }


def room_for(size: int, folder: str) -> bool:
    """Whether the disk holds a file of that size and something more."""
    return shutil.disk_usage(folder).free > size * 1.2 + 2**30


def _fold(path: Path) -> None:
    """Has foldline itself fold away all that stands before the newest `LIVE_KEPT` messages."""
    from foldline.fold import Fold, Receipt
    from foldline.messages import Message, Summary
    from foldline.session import Session
    from foldline.view import Edit

    session = Session(path)
    meter = session.meter()
    view = session.view(meter)
    kept = len(view.entries) - LIVE_KEPT
    text = "## Goal\nKeep the invoice service right.\n" * 60
    summary = Message("user", (Summary(text, {"round": 2}),))
    edit = Edit(tuple(entry.id for entry in view.entries[:kept]), (summary,), "summarize_older")
    after = view.apply(edit)
    receipt = Receipt(view.tokens, after.tokens, kept, round=2)
    session.fold(view, after, Fold("0badcafe", "manual", "summarize", (edit,), view.entries[kept].id, receipt), meter)


def _append(path: Path, records: list[Record]) -> None:
    """Adds records behind the newest one."""
    from foldline.session import Session

    live = Session(path).view().entries
    assert len(live) == LIVE_KEPT + 1, "the fold kept something else"
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 65_536))
        parent = json.loads(file.read().splitlines()[-1])["id"]
    with path.open("ab") as file:
        for record in records:
            file.write(_line({**record, "parentId": parent}))
            parent = record["id"]


def _id(prefix: str, number: int) -> str:
    return f"{prefix}{number:03x}"


def _line(record: Record) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"
