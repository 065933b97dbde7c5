"""Session files to measure with, in version 3 of the dialect, written fast and at any size."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
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
            return reply(
                i, [{"type": "text", "text": f"Invoice {i} rounds per line because the law asks for it. " * 8}]
            )
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
    from foldline import Edit, Fold, Message, Receipt, Session, Summary

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
    from foldline import Session

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


# -- a session with something in it to keep ------------------------------------------------------------------------

FOLDERS = ("billing", "orders", "ledger", "reports", "imports", "mail")
NOUNS = ("invoice", "voucher", "refund", "shipment", "tariff", "customer", "receipt", "journal", "currency", "discount")
VERBS = ("rounds", "loads", "parses", "merges", "exports", "caches", "validates", "retries", "sorts", "splits")
ASKS = (
    "Please make {noun} {verb} right in {path}; the total must never be negative.",
    "No, not like that: use {port} for the {noun} service, and keep {path} as it is.",
    "Always run the tests before you commit. What does {path} do when the {noun} is empty?",
    "The nightly job failed with error {port} again, see {path}. Find out why, do not change the schema.",
)


def working_session(path: Path, tokens: int, seed: int = 7) -> None:
    """Writes a session of about that many tokens: requests, corrections, reads, edits, commands that fail, decisions.

    Another `seed` makes another one.
    """
    chance = random.Random(seed)
    stored: list[Record] = []
    size = 0
    while size < 3 * tokens:
        for one in _turn(chance, len(stored), size // 3):
            stored.append(one)
            size += sum(len(json.dumps(part)) for part in one["content"])
    with path.open("wb") as file:
        file.write(_line(header()))
        parent = None
        for i, one in enumerate(stored):
            record = {"type": "message", "id": _id("00000", i), "parentId": parent, "timestamp": TIME, "message": one}
            file.write(_line(record))
            parent = record["id"]


def _turn(chance: random.Random, n: int, billed: int) -> list[Record]:
    """What follows on one request: a few steps, each a call and its result, and words at the end."""

    def say(text: str) -> str:
        noun, verb = chance.choice(NOUNS), chance.choice(VERBS)
        folder, port = chance.choice(FOLDERS), chance.randrange(1024, 65_536)
        return text.format(noun=noun, verb=verb, path=f"src/{folder}/{noun}_{verb}.py", port=port)

    turn = [{"role": "user", "content": [{"type": "text", "text": say(chance.choice(ASKS))}]}]
    for step in range(chance.randrange(3, 12)):
        name, given, answer = _step(chance, say)
        id = f"call_{n + step:06}"
        thought = {"type": "text", "text": say("I look at {path}, since the {noun} {verb} there.")}
        call = {"type": "toolCall", "id": id, "name": name, "arguments": given}
        turn += [reply(n + step, [thought, call], 5_000 + billed), tool_result(id, name, answer)]
    decision = say("Decision: {path} keeps the {noun} as it is, because it {verb} only once; port {port} stays open.")
    return [*turn, reply(n, [{"type": "text", "text": f"{decision} {say('Next: {path}.')}"}], 5_000 + billed)]


def _step(chance: random.Random, say: Callable[[str], str]) -> tuple[str, Record, str]:
    """A tool's name, its arguments and its answer."""
    code = "\n".join(
        say("    {noun} = {verb}({noun}, limit={port})  # see {path}") for _ in range(chance.randrange(5, 60))
    )
    match chance.randrange(5):
        case 0 | 1:
            return "read", {"path": say("{path}")}, code
        case 2:
            edit = {"oldText": say("{noun} = {port}"), "newText": code[:600]}
            return "edit", {"path": say("{path}"), "edits": [edit]}, "Successfully replaced 1 block(s)."
        case 3:
            failure = say(
                'Traceback (most recent call last):\n  File "{path}", line {port}, in {verb}\nValueError: {noun}'
            )
            return "bash", {"command": say("python -m pytest {path} -q")}, f"{failure}\n\nCommand exited with code 1"
        case _:
            log = "\n".join(
                say("12:00:{port} worker INFO {noun} {verb} {path}") for _ in range(chance.randrange(5, 80))
            )
            return "bash", {"command": say("grep -rn {noun} {path} | head -80")}, log


def as_chat(path: Path) -> list[Record]:
    """A session's messages as OpenAI chat dicts, for the alternatives."""
    with path.open("rb") as file:
        stored = [r["message"] for r in map(json.loads, file) if r["type"] == "message"]
    return [_as_chat(one) for one in stored if one["role"] in ("user", "assistant", "toolResult")]


def _as_chat(one: Record) -> Record:
    content = one["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    text = "\n".join(part["text"] for part in parts if part["type"] == "text")
    if one["role"] == "toolResult":
        return {"role": "tool", "tool_call_id": one["toolCallId"], "content": text}
    calls = [part for part in parts if part["type"] == "toolCall"]
    if not calls:
        return {"role": one["role"], "content": text or "."}
    return {"role": one["role"], "content": text, "tool_calls": [_chat_call(call) for call in calls]}


def _chat_call(call: Record) -> Record:
    function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
    return {"id": call["id"], "type": "function", "function": function}
