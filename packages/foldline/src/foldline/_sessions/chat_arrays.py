"""Plain lists of messages as OpenAI, Anthropic or Gemini take them: alone, in a request, in benchmark results, one or many in a file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import partial
from mmap import ACCESS_READ, mmap

from foldline._messages import Message, replace
from foldline._sessions.descriptors import open_plain
from foldline._sessions.format import SessionFormat
from foldline._sessions.parts import from_wire, system, wire_usage
from foldline._sessions.reading import Reading, Stored
from foldline._sessions.source import Source
from foldline._sessions.values import Json, items, mapping, mappings, newest, string

LISTS = ("messages", "traj", "conversation", "history", "contents", "input")
"""The keys under which files keep their list of messages."""

_SAID = rb'(?:(?!"role")"[^"\\]*+"\s*:\s*(?:"(?:[^"\\]|\\.)*+"|[^\s"{}\[\],]++)\s*,\s*)*+'
"""What may stand before the role of a message: its date, its id and the like, which are no objects and no lists."""

_MESSAGE = re.compile(rb'\s*\[?\s*\{\s*(?:"(?:content|parts)"|' + _SAID + rb'"role")\s*:')
_ROLE = re.compile(rb'[{,]\s*"role"\s*:\s*"(?:system|developer|user|assistant|tool|function|model)"')
_ITEM = re.compile(rb'\s*\[\s*\{\s*"type"\s*:\s*"(?:message|reasoning|(?:custom_tool|function)_call(?:_output)?)"')
_LIST = re.compile(rb'[{,]\s*"(?:%s)"\s*:\s*\[' % "|".join(LISTS).encode())
_BEGINS = re.compile(_LIST.pattern + _MESSAGE.pattern)


def _recognizes(head: bytes, path: str) -> bool:
    if _ITEM.match(head):
        return True
    if head.lstrip()[:1] not in (b"[", b"{"):
        return False
    if _ROLE.search(head):
        return bool(_MESSAGE.match(head)) or bool(_LIST.search(head))
    return head.lstrip()[:1] == b"{" and _begins_behind(head, path)


def _begins_behind(head: bytes, path: str) -> bool:
    """Whether a list of messages begins behind the start of a file, as behind the patch of a long run of mini-swe-agent."""
    with open(open_plain(path), "rb") as file:
        if os.fstat(file.fileno()).st_size <= len(head):
            return False
        with mmap(file.fileno(), 0, access=ACCESS_READ) as content:
            return _BEGINS.search(content) is not None


def _read_all(path: str, *, strict: bool = False) -> list[Stored]:
    """Every conversation in the file."""
    source = Source(path, strict=strict)
    found = [(_id(about), partial(_reading, source, about, given)) for about, given in _conversations(source) if given]
    return source.sessions(found, "no messages of OpenAI or Anthropic")


FORMAT = SessionFormat("messages", _recognizes, read_all=_read_all)


def _conversations(source: Source) -> Iterable[tuple[Json, list[object]]]:
    """What is said about each conversation, and its messages."""
    document = source.contents()
    rows = [document] if isinstance(document, dict) else list(mappings(document))
    if described := [(row, given) for row in rows if (given := _list_in(row)) is not None]:
        return described
    if any("role" in row or "call_id" in row for row in rows):
        return [({}, items(document))]
    return [({}, each) for each in items(document) if isinstance(each, list)]


def _list_in(row: Json) -> list[object] | None:
    return next((found for key in LISTS if isinstance(found := row.get(key), list)), None)


def _id(about: Json) -> str:
    name = about.get("task_id", about.get("id", about.get("session_id")))
    return str(name) if isinstance(name, str | int) else ""


def _reading(source: Source, about: Json, given: list[object], id: str, path: str) -> Reading:
    from foldline import _wires as wire

    rows = [*map(_unwrapped, map(mapping, given))]
    format = wire.detect(rows)
    entries: list[tuple[str, Message]] = _head(about)
    for number, item in enumerate(rows, 1):
        message = from_wire(item, _format_of(item, format)) if item else None
        if message is None:
            _refuse_foreign(source, number, item, format)
            source.fault(1, f"message {number} has no role that a model knows")
            continue
        if message.role == "assistant" and (billed := wire_usage(item.get("usage"))):
            message = replace(message, usage=billed)
        entries.append((str(number), message))
    paired = wire.with_ids([message for _, message in entries], format)
    entries = [(id, message) for (id, _), message in zip(entries, paired)]
    return Reading(
        FORMAT.name,
        id,
        path,
        tuple(entries),
        model=string(about.get("model"), mapping(about.get("meta")).get("model"), newest(rows, "model")),
        faults=tuple(source.faults),
    )


def _unwrapped(row: Json) -> Json:
    """A message that stands within one of its role, as Cursor writes them."""
    inner = mapping(row.get("message"))
    return {**inner, "role": row["role"]} if "role" in row and "content" in inner and "content" not in row else row


def _format_of(item: Json, format: str) -> str:
    """The list's format, or the one that is sure of an item which is none of the list's.

    Some programs record the calls as one provider has them, and what came back as another one does.
    """
    from foldline import _wires as wire

    if wire.named(format).tells(item) is not wire.Sign.NEVER:
        return format
    return next((name for name, other in wire.OWN.items() if other.tells(item) is wire.Sign.SURELY), format)


def _refuse_foreign(source: Source, number: int, item: Json, format: str) -> None:
    """Raises `SessionError` for a row that says what it is, and is nothing that a provider takes: left out, it would be lost."""
    for key in ("role", "type"):
        if said := string(item.get(key)):
            way_out = "write the messages as OpenAI, Anthropic or Gemini take them"
            raise source.refused(f"message {number} is of {key} {said!r}, which {format} does not have; {way_out}")


def _head(about: Json) -> list[tuple[str, Message]]:
    """The system prompt and the tools of a request, where they stand beside its messages."""
    prompt, tools = about.get("system", about.get("instructions")), about.get("tools")
    if isinstance(instruction := about.get("systemInstruction"), dict):
        prompt = instruction.get("parts")
    texts = [prompt] if isinstance(prompt, str) else [part.get("text") for part in mappings(prompt)]
    message = system(texts, tools if isinstance(tools, list) else None)
    return [("system", message)] if message else []
