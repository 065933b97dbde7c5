"""Chats of Gemini CLI: one JSON document, or a log of messages and of changes to the list of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from foldline._errors import SessionError
from foldline._messages import Message, Part, ToolCall, ToolResult, Usage
from foldline._sessions.format import STRING, About, SessionFormat, StoreFolder, folder, later, said
from foldline._sessions.gemini_parts import SNAPSHOT, content, plain, results_of, tool_call
from foldline._sessions.parts import summary, unique, usage
from foldline._sessions.reading import PastFold, Reading, summarized
from foldline._sessions.source import Source
from foldline._sessions.values import Json, count, mapping, mappings, string

_SIGN = re.compile(
    rb'\s*\{[^{}\[\]]*"(?:projectHash"\s*:|lastUpdated"\s*:[^{}\[\]]*"messages"\s*:\s*\[\s*\{[^{}\[\]]*"type"\s*:\s*"(?:info|user|gemini|qwen|error|warning)")'
)
_CHANGE = re.compile(rb'(?m)^\s*\{\s*"\$(?:set|rewindTo)"\s*:')
_STREAMED = re.compile(rb'(?m)^\s*\{\s*"type"\s*:\s*"init"[^\n]*"session_id"\s*:')
"""What `--output-format stream-json` prints begins so; a caller may have put the prompt before it."""

_ANSWERS = ("gemini", "qwen")
"""What a message of the model is called, by Gemini CLI and by Qwen Code before it had a format of its own."""

_LEFT_OUT = (
    "what `--output-format stream-json` prints leaves out what the model read of tools; the chat of this session, "
    "below ~/.gemini/tmp, is read"
)


_SUMMARY = re.compile(rb'(?m)(?:"\$set"\s*:\s*\{[^{}\[\]]*?|^\s*\{[^{}\[\]]*?|^  )"summary' + STRING)


def read(path: str, *, strict: bool = False) -> Reading:
    """What the next request of the session would send, and what the file holds beside it."""
    source = Source(path, strict=strict)
    chat = Chat()
    for line, row in rows(source):
        if row.get("type") == "init" and "session_id" in row:
            raise source.refused(_LEFT_OUT, line)
        if not chat.take(row):
            source.fault(line, "neither a message nor a change of the list")
    if not chat.about and not chat.messages and not chat.gone:
        raise source.refused("no chat of Gemini CLI")
    live = unique(_entries(chat.messages, len(chat.folds)))
    names = {id for id, _ in live}
    folded = [entry for entry in chat.gone.items() if entry[0] not in names]
    stale = [i for i, (id, _) in enumerate(live) if re.split("[:~]", id)[0] in chat.stale]
    return Reading(
        FORMAT.name,
        string(chat.about.get("sessionId"), source.stem),
        source.path,
        live,
        _directory(source.path),
        chat.model,
        title=string(chat.about.get("summary")),
        since=stale[-1] + 1 if stale else 0,
        folds=tuple(chat.folds),
        folded=tuple(folded),
        faults=tuple(source.faults),
    )


def _about(path: str, ends: bytes, about: About) -> About:
    summaries = _SUMMARY.findall(ends) if b'"summary"' in ends else ()
    return About(about.id, _directory(path), said(summaries[-1]) if summaries else "")


def _directory(path: str) -> str:
    """The project's directory, which stands beside its chats, or in the list of projects under a name or a hash of it."""
    project = Path(os.path.abspath(path)).parent.parent
    try:
        if root := Source(project / ".project_root").data().decode().strip():
            return root
    except (SessionError, ValueError):
        pass
    listed = mapping(mapping(Source(project.parent.parent / "projects.json").optional()).get("projects"))
    from hashlib import sha256

    hashes = {sha256(directory.encode("utf-8", "replace")).hexdigest(): directory for directory in listed}
    named = next((directory for directory, name in listed.items() if name == project.name), "")
    return named or hashes.get(project.name, "")


FORMAT = SessionFormat(
    "gemini-cli",
    lambda head, path: bool(_SIGN.match(head) or _CHANGE.search(head) or _STREAMED.search(head)),
    read,
    open=later("gemini_writing", "open_session"),
    stores=lambda environment: (
        StoreFolder(folder(environment, "GEMINI_CLI_HOME", "") / ".gemini" / "tmp", "*/chats/session-*.json*"),
    ),
    overhead=12_000,
    about=_about,
    program=("gemini", "gemini-cli"),
    holds_open=False,
)


def rows(source: Source) -> Iterator[tuple[int, Json]]:
    """The rows of a log; a document, which is one object over many lines, is one row."""
    if source.is_lined():
        yield from source.rows()
        return
    document = source.document()
    if not isinstance(document, dict):
        raise source.refused("no chat of Gemini CLI")
    yield 1, document


class Chat:
    """The state that the rows of a chat lead to."""

    def __init__(self) -> None:
        self.about: Json = {}
        self.messages: list[Json] = []
        self.gone: dict[str, Message] = {}
        """What the lists said that are no more."""
        self.folds: list[PastFold] = []
        self.stale: set[str] = set()
        """The messages whose bills were made before the newest fold."""
        self.model = ""
        self._summaries: set[str] = set()
        self._context = 0

    def take(self, row: Json) -> bool:
        """Takes one row; False where it says nothing that a chat could."""
        if isinstance(target := row.get("$rewindTo"), str):
            at = next((i for i, message in enumerate(self.messages) if message.get("id") == target), 0)
            self._replace(self.messages[:at])
        elif isinstance(row.get("id"), str) and isinstance(row.get("type"), str):
            self._upsert(row)
        elif isinstance(change := row.get("$set"), dict):
            self._change(change)
        elif "sessionId" in row or "projectHash" in row or "messages" in row:
            self._change(row)
        else:
            return False
        return True

    def _upsert(self, message: Json) -> None:
        key = message["id"], message["type"]
        newest_first = range(len(self.messages) - 1, -1, -1)
        at = next((i for i in newest_first if (self.messages[i].get("id"), self.messages[i].get("type")) == key), None)
        if at is None:
            self.messages.append(message)
        else:
            self.messages[at] = message
        if _is_summary(message):
            self._summaries.add(plain(message.get("content")))
        self._see(message)

    def _replace(self, messages: list[Json]) -> None:
        self.gone |= _entries(self.messages, len(self.folds))
        self.messages = messages

    def _see(self, message: Json) -> None:
        if message.get("type") in _ANSWERS:
            self.model = string(message.get("model"), self.model)
            if billed := usage_of(message):
                self._context = billed.context

    def _change(self, change: Json) -> None:
        """The header and later changes set what the session is called; a list of messages replaces the list."""
        self.about |= {key: value for key, value in change.items() if key != "messages"}
        if not isinstance(change.get("messages"), list):
            return
        before = self._context
        self._replace(list(mappings(change["messages"])))
        for message in self.messages:
            self._see(message)
            text = plain(message.get("content")) if _is_summary(message) else ""
            if text and text not in self._summaries:
                self._summaries.add(text)
                self._fold(message, text, before)

    def _fold(self, message: Json, text: str, before: int) -> None:
        id, when = string(message.get("id")), string(message.get("timestamp"))
        self.folds.append(summarized(id, when, before, len(self.folds) + 1, text))
        self.stale = {string(each.get("id")) for each in self.messages}


def _is_summary(message: Json) -> bool:
    return message.get("type") == "user" and plain(message.get("content")).lstrip().startswith(SNAPSHOT)


def usage_of(message: Json) -> Usage | None:
    """What a reply was billed; its input includes what was cached."""
    tokens = mapping(message.get("tokens"))
    prompt = count(tokens.get("input")) + count(tokens.get("tool"))
    return usage(prompt, count(tokens.get("output")) + count(tokens.get("thoughts")), tokens.get("cached"))


def _entries(messages: Sequence[Json], rounds: int) -> Iterator[tuple[str, Message]]:
    """The messages that are sent.

    A call's result stands inside the call, or in a message of its own, and after a resumption in both: the first
    that stands by itself counts.
    """
    apart = {r.call_id for m in messages for r in content(m.get("content")) if isinstance(r, ToolResult)}
    answered: set[str] = set()
    for message in messages:
        for suffix, made in _made(message, apart, rounds):
            given = {r.call_id for r in made.results}
            if given and given <= answered:
                continue
            answered |= given
            yield string(message.get("id")) + suffix, made


def _made(message: Json, apart: set[str], rounds: int) -> Iterator[tuple[str, Message]]:
    parts: tuple[Part, ...] = content(message.get("content"))
    if message.get("type") == "user":
        if _is_summary(message):
            yield "", summary(plain(message.get("content")), rounds)
        elif parts:
            yield "", Message("user", parts)
    elif message.get("type") in _ANSWERS:
        calls = list(mappings(message.get("toolCalls")))
        said = {part.id for part in parts if isinstance(part, ToolCall)}
        parts += tuple(call for each in calls if (call := tool_call(each)).id not in said)
        if parts:
            yield "", Message("assistant", parts, usage_of(message))
        if results := tuple(r for r in results_of(calls) if r.call_id not in apart):
            yield ":results", Message("user", results)
