"""Aider's chat history: Markdown, many chats in one file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import groupby

from foldline._messages import Message, Speaker, Text, Usage, replace
from foldline._sessions.format import SessionFormat
from foldline._sessions.reading import Reading, Stored
from foldline._sessions.source import Source

_CHAT = re.compile(r"# aider chat started at (\S.*)")
_HEAD = re.compile(rb"(?m)^# aider chat started at \d{4}")
_MODEL = re.compile(r"(?:Main )?[Mm]odel: (\S+)")
_TOKENS = re.compile(r"Tokens: (.+?) sent,(?: (.+?) cache write,)?(?: (.+?) cache hit,)? (.+?) received")
_COMMAND = re.compile(r"/(?!ask\b|code\b|architect\b|help\b|context\b)[a-z-]+(?: [^\n]*)?")
"""A command of aider; those left out put the user's own words to a model."""

_CLIENT = re.compile(
    r"/(?:add|chat-mode|clear|commit|copy|copy-context|diff|drop|edit|editor|editor-model|exit|git|lint|load|ls|map|map-refresh|"
    r"models?|multiline-mode|paste|quit|read-only|reasoning-effort|report|reset|run|save|settings|test|think-tokens|tokens|undo|"
    r"voice|weak-model|web)(?: [^\n]*)?"
)
"""Those that have a line for themselves, whatever stands around them."""

_SAID_TWICE = re.compile(r"(?s)(/(?:ask|code|architect|context)\s+(?P<words>\S.*?))\s*\n\s*(?P=words)\s*\Z")
"""What is put to a model, which older versions write down once more without the command."""

_COST = re.compile(r"Cost: \$\S+ (?:message|send), ")
_HANDED = 80
"""Characters from which a text that says what the model just said was not typed."""

_DID = re.compile(r"(?:Applied edit to |Commit [0-9a-f]{7,40} )\S.*")
"""What aider prints of the work itself; the rest is talk about files, models and costs."""

_SCALE = {"k": 1_000, "M": 1_000_000}


def _read_all(path: str, *, strict: bool = False) -> list[Stored]:
    """Every chat in the file in which something was said, oldest first; where none was, the newest start of one.

    Each start of aider begins a chat, and its model sees no earlier one unless it was told to restore them.
    """
    source = Source(path, strict=strict)
    chats: list[AiderChat] = []
    for number, line in source.lines(blank=True):
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if started := _CHAT.fullmatch(text.rstrip()):
            chats.append(AiderChat(started[1]))
        elif chats:
            chats[-1].take(number, text)
    said = [chat for chat in chats if chat.spoken] or chats[-1:]
    return source.sessions([(chat.started, partial(chat.reading, source)) for chat in said], "no chat history of aider")


FORMAT = SessionFormat("aider", lambda head, path: bool(_HEAD.search(head)), read_all=_read_all)


class AiderChat:
    """One chat: what the user typed stands behind `####`, what aider printed behind `>`, the rest is the model's.

    Of what aider printed the edits and commits are kept, as its own words.
    """

    def __init__(self, started: str) -> None:
        self.started = started
        self.model = ""
        self._pieces: list[tuple[int, str, list[str]]] = []
        self._bills: dict[int, Usage] = {}

    @property
    def spoken(self) -> bool:
        """Whether the user said something to a model, or a model answered; commands of aider alone are neither."""
        parts = (part for _, message in self.entries() for part in message.parts)
        return any(type(part) is Text and not part.by for part in parts)

    def take(self, number: int, line: str) -> None:
        """Takes one line."""
        if line.startswith(">"):
            self._printed(number, line[1:].strip())
        elif line.startswith("####"):
            self._add(number, "user", line[4:].removeprefix(" ").rstrip())
        elif _COST.match(line):
            return
        elif line.strip() or (self._pieces and self._pieces[-1][1] == "assistant"):
            self._add(number, "assistant", line)

    def reading(self, source: Source, id: str, path: str) -> Reading:
        """The chat as it is read."""
        faults = tuple(source.faults)
        return Reading(FORMAT.name, id, path, tuple(self.entries()), model=self.model, title=id, faults=faults)

    def entries(self) -> Iterator[tuple[str, Message]]:
        """The messages, by the lines at which they start."""
        answer = ""
        for index, (number, role, lines) in enumerate(self._pieces):
            text = "\n".join(lines).strip()
            if not text:
                continue
            if role == "aider":
                yield str(number), Message("user", (Text(text, by="harness"),))
            elif role == "user":
                yield str(number), Message("user", tuple(Text(t, by=_typed_by(t, answer)) for t in _inputs(lines)))
            else:
                answer = text
                yield str(number), replace(Message("assistant", (Text(text),)), usage=self._bills.get(index))

    def _add(self, number: int, role: str, line: str) -> None:
        if not self._pieces or self._pieces[-1][1] != role:
            self._pieces.append((number, role, []))
        self._pieces[-1][2].append(line)

    def _printed(self, number: int, text: str) -> None:
        if found := _MODEL.match(text):
            self.model = found[1]
        elif _DID.fullmatch(text):
            self._add(number, "aider", text)
        elif (found := _TOKENS.match(text)) and self._pieces and self._pieces[-1][1] == "assistant":
            sent, written, read, received = (_number(group) for group in found.groups())
            if sent:
                fresh = sent - written - read if written + read <= sent else sent
                self._bills[len(self._pieces) - 1] = Usage(fresh, received, read, written)


def _inputs(lines: Iterable[str]) -> Iterator[str]:
    """What was typed one after the other: commands of the client by themselves, the rest as one text."""
    for client, run in groupby(lines, lambda line: _CLIENT.fullmatch(line.strip()) is not None):
        text = "\n".join(run).strip()
        yield from text.splitlines() if client else [_SAID_TWICE.sub(r"\1", text)] if text else []


def _typed_by(text: str, answer: str) -> Speaker:
    """Who typed what stands where the user's words do: a command is one, and what the architect mode hands to its editor, the
    answer before it, is nobody's."""
    if _COMMAND.fullmatch(text):
        return "command"
    head = " ".join(text[:_HANDED].split())
    return "harness" if len(text) >= _HANDED and head in " ".join(answer.split()) else ""


def _number(text: str | None) -> int:
    """A count as aider prints it: `3.1k` is 3,100."""
    found = re.fullmatch(r"([\d,]+(?:\.\d+)?)([kM]?)", text or "")
    return round(float(found[1].replace(",", "")) * _SCALE.get(found[2], 1)) if found and len(found[1]) < 12 else 0
