"""Session files for tests: a builder, a naive loader that does what pi 0.87 does, and folds by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foldline import Fold, Layer, Message, Session, Summary, View
from foldline import _policy as policy
from foldline._engine.driving import run
from foldline._engine.folding import folding
from foldline._engine.steps import Step, steps_by_hand
from foldline._fold import Occasion
from foldline._policies import preset
from foldline._tokens.meter import Meter
from foldline.extend import Media, Opaque, Text, Thinking, ToolCall, ToolResult, extract, prune_tool_outputs

STAMP = "2026-01-01T00:00:00.000Z"
HEADER = {"type": "session", "version": 3, "id": "s1", "timestamp": STAMP, "cwd": "/tmp/demo"}
SYSTEM = {"role": "system", "content": "", "sections": {"preamble": "You are pi.", "date": "Monday"}, "timestamp": 1}
BY = {"api": "openai-completions", "provider": "demo", "model": "demo-1", "stopReason": "stop"}

SUMMARY = (
    "The conversation history before this point was compacted into the following summary:\n\n<summary>\n{}\n</summary>"
)
BRANCH = "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n{}</summary>"

Shown = list[Any]
"""A message as a plain list: its role, what else tells it apart, its blocks."""


class Log:
    """Builds a session file record by record; each hangs on the one before unless `leaf` is set in between."""

    def __init__(self, header: Mapping[str, Any] | None = HEADER) -> None:
        self.lines: list[dict[str, Any] | bytes] = [] if header is None else [dict(header)]
        self.leaf: str | None = None
        self.linear = header is not None and "version" not in header

    def add(self, type: str, **fields: Any) -> str:
        """Any record; `id` and `parentId` are made where they are not given. Answers its id."""
        id = fields.pop("id", f"{len(self.lines):08x}")
        parent = fields.pop("parentId", self.leaf)
        place = {} if self.linear else {"id": id, "parentId": parent}
        self.lines.append({"type": type, **place, "timestamp": STAMP, **fields})
        self.leaf = id
        return str(id)

    def raw(self, line: bytes) -> None:
        """A line as it stands."""
        self.lines.append(line)

    def message(self, role: str, content: Any, /, **fields: Any) -> str:
        return self.add("message", message={"role": role, "content": content, "timestamp": 1, **fields})

    def system(self, message: Mapping[str, Any] = SYSTEM) -> str:
        return self.add("message", message=dict(message))

    def user(self, text: str) -> str:
        return self.message("user", [{"type": "text", "text": text}])

    def reply(self, text: str, *calls: str, **arguments: Any) -> str:
        content: list[Any] = [{"type": "text", "text": text}] if text else []
        content += [
            {"type": "toolCall", "id": c, "name": "read", "arguments": arguments or {"path": f"{c}.py"}} for c in calls
        ]
        return self.message("assistant", content, **BY)

    def result(self, call: str, text: str) -> str:
        content = [{"type": "text", "text": text}]
        return self.message("toolResult", content, toolCallId=call, toolName="read", isError=False)

    def bash(self, **fields: Any) -> str:
        said = {"role": "bashExecution", "command": "ls", "output": "a.py", "exitCode": 0, "cancelled": False}
        return self.add("message", message={**said, "truncated": False, "timestamp": 1, **fields})

    def compaction(self, kept: str | None, summary: str = "SUM", **fields: Any) -> str:
        return self.add("compaction", summary=summary, firstKeptEntryId=kept, tokensBefore=9, **fields)

    def edit(self, target: str, replacement: Any) -> str:
        return self.add("context_edit", targetId=target, replacement=replacement)

    def step(self, n: int, size: int = 40) -> list[str]:
        """A turn with a tool call and an output of `size` lines; answers its four ids."""
        out = "\n".join(f"module_{n}/part_{i}.py: def handler_{n}_{i}(request): return {n * i}" for i in range(size))
        return [
            self.user(f"Please fix the handler {n} in src/module_{n}.py, and do not touch settings_{n}.toml."),
            self.reply(f"I will read module {n} first.", f"call{n}", path=f"src/module_{n}.py"),
            self.result(f"call{n}", out),
            self.reply(f"Handler {n} returned the wrong value; I decided to compute it from part {n}."),
        ]

    def bytes(self) -> bytes:
        return b"".join((line if isinstance(line, bytes) else dumps(line)) + b"\n" for line in self.lines)

    def write(self, path: Path) -> Path:
        path.write_bytes(self.bytes())
        return path


def long_log(turns: int = 12, *, system: bool = False, version: int = 3) -> Log:
    """A session of some turns with tool outputs, in the dialect of pi 0.87 where `system` is set."""
    header = {**HEADER, "version": version} if version > 1 else {k: v for k, v in HEADER.items() if k != "version"}
    log = Log(header)
    if system:
        log.system()
    for n in range(turns):
        log.step(n)
    return log


def dumps(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


# -- what a session shows ----------------------------------------------------------------------------------------


def context(session: Session) -> list[Shown]:
    """What a session shows the model, in plain lists."""
    return shown_all(session.view().messages)


def ids(session: Session) -> list[str]:
    return [entry.id for entry in session.view().entries]


def shown_all(messages: list[Message]) -> list[Shown]:
    return [shown(message) for message in messages]


def words(messages: list[Shown]) -> list[Shown]:
    """The messages but for the system prompt, which a fold gathers into one."""
    return [message for message in messages if message[0] != "system"]


def shown(message: Message) -> Shown:
    """A message as a plain list, with the words that pi wraps around a summary."""
    if message.role == "system":
        texts = [p.text for p in message.parts if isinstance(p, Text)]
        return ["system", texts, [p.source for p in message.parts if isinstance(p, Opaque)]]
    result = next(message.results, None)
    if result is not None:
        return ["toolResult", result.call_id, result.name, result.error, [_block(p) for p in result.parts]]
    return [message.role, [_block(part) for part in message.parts]]


def _block(part: Any) -> Any:
    match part:
        case Text(text, extra):
            return {"type": "text", "text": text, **extra}
        case Summary(text):
            return {"type": "text", "text": SUMMARY.format(text)}
        case Thinking(text, signature, _, extra):
            return {"type": "thinking", "thinking": text, "thinkingSignature": signature, **extra}
        case ToolCall(id, name, arguments, extra):
            return {
                "type": "toolCall",
                "id": id,
                "name": name,
                "arguments": _parsed(arguments.encode("utf-8", "surrogatepass")),
                **extra,
            }
        case Media(_, source) | Opaque(source):
            return source
        case ToolResult():
            raise AssertionError("a message with several results")


# -- what pi 0.87 makes of a file --------------------------------------------------------------------------------


def pi_context(data: bytes) -> list[Shown]:
    """The messages that pi 0.87 builds from a whole file, naively: parse all, migrate, index, walk, cut, edit, project."""
    records = [r for line in data.split(b"\n") if isinstance(r := _parsed(line), dict)]
    version = records[0].get("version", 1)
    if version < 2:
        _migrate(records)
    entries = [r for r in records if r["type"] != "session"]
    path = _path(entries)
    at = next((i for i in reversed(range(len(path))) if path[i]["type"] == "compaction"), None)
    chosen = path if at is None else [path[at], *_kept(path[:at], path[at].get("firstKeptEntryId")), *path[at + 1 :]]
    edits = {e.get("targetId"): e["replacement"] for e in chosen if e["type"] == "context_edit"}
    messages = []
    for i, entry in enumerate(chosen):
        if entry["type"] == "compaction" and i > 0:
            continue
        for message in _messages(entry, version):
            if entry["id"] not in edits:
                messages.append(message)
            elif (replacement := edits[entry["id"]]) is not None:
                role = message.get("role")
                editable = role in ("user", "assistant", "toolResult", "custom")
                messages.append({**message, "content": replacement["content"]} if editable else message)
    return [s for message in messages if (s := _sent(message)) is not None]


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def _migrate(records: list[dict[str, Any]]) -> None:
    previous = None
    for i, record in enumerate(records):
        if record["type"] == "session":
            continue
        record |= {"id": f"e{i}", "parentId": previous}
        previous = record["id"]
        at = record.pop("firstKeptEntryIndex", None)
        if record["type"] == "compaction" and isinstance(at, int) and 0 < at < i:
            record["firstKeptEntryId"] = records[at]["id"]


def _path(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    index = {entry.get("id"): entry for entry in entries}
    path: list[dict[str, Any]] = []
    entry = entries[-1] if entries else None
    while entry is not None:
        path.append(entry)
        entry = index.get(entry["parentId"]) if entry.get("parentId") else None
    return path[::-1]


def _kept(before: list[dict[str, Any]], first: object) -> list[dict[str, Any]]:
    start = next((i for i, entry in enumerate(before) if entry["id"] == first), len(before))
    return [e for e in before[start:] if not (e["type"] == "message" and e["message"].get("role") == "system")]


def _messages(entry: dict[str, Any], version: int) -> list[dict[str, Any]]:
    match entry["type"]:
        case "message":
            message = dict(entry["message"])
            if message.get("role") == "hookMessage" and version < 3:
                message["role"] = "custom"
            return [message]
        case "custom_message":
            return [{"role": "custom", "content": entry["content"]}]
        case "branch_summary" if entry.get("summary"):
            return [{"role": "branchSummary", "summary": entry["summary"]}]
        case "compaction":
            system = entry.get("systemMessage")
            return [*([system] if system else []), {"role": "compactionSummary", "summary": entry["summary"]}]
    return []


def _sent(message: dict[str, Any]) -> Shown | None:
    blocks = message.get("content")
    blocks = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks or []
    match message.get("role"):
        case "system":
            texts = [message.get("content"), *message.get("sections", {}).values()]
            tools = message.get("toolsAdded")
            return ["system", [text for text in texts if text], [tools] if tools else []]
        case "user" | "custom":
            return ["user", blocks]
        case "assistant":
            return ["assistant", blocks]
        case "toolResult":
            return ["toolResult", message["toolCallId"], message["toolName"], message["isError"], blocks]
        case "branchSummary":
            return ["user", [{"type": "text", "text": BRANCH.format(message["summary"])}]]
        case "compactionSummary":
            return ["user", [{"type": "text", "text": SUMMARY.format(message["summary"])}]]
        case "bashExecution" if not message.get("excludeFromContext"):
            return ["user", [{"type": "text", "text": _ran(message)}]]
    return None


def _ran(message: dict[str, Any]) -> str:
    output, code = message["output"], message["exitCode"]
    text = f"Ran `{message['command']}`\n" + (f"```\n{output}\n```" if output else "(no output)")
    if message["cancelled"]:
        text += "\n\n(command cancelled)"
    elif code is not None and code != 0:
        text += f"\n\nCommand exited with code {code}"
    if message["truncated"] and message.get("fullOutputPath"):
        text += f"\n\n[Output truncated. Full output: {message['fullOutputPath']}]"
    return text


# -- folds -------------------------------------------------------------------------------------------------------


def folded(session: Session, *, layer: str = "summarize") -> tuple[View, View, Fold, Meter]:
    """A fold by hand, not yet written: to a summary, or (layer "prune") every output to a stub."""
    meter = session.meter()
    before = session.view(meter)
    if layer == "prune":
        plan = [Step(Layer("prune", 1.0, 1.0, (prune_tool_outputs(protect=0, minimum=0),)), 0, 0)]
    else:
        plan = steps_by_hand(preset("default"), before, policy.budget(200_000), meter.overhead)
    occasion = Occasion("manual", ratio=meter.ratio, overhead=meter.overhead)
    return before, *run(folding(before, plan, occasion), extract), meter


def fold(session: Session, *, layer: str = "summarize") -> tuple[View, View, Fold]:
    """Folds a session by hand and writes it."""
    before, after, made, meter = folded(session, layer=layer)
    session.fold(before, after, made, meter)
    return before, after, made
