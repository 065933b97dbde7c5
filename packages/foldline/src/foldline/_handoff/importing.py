"""A new session opened with an exported state: whatever agent it came from, whatever model goes on."""

from __future__ import annotations

import os
from typing import IO

import msgspec

from foldline._errors import FormatError
from foldline._facts.types import Facts
from foldline._handoff.exporting import STATE
from foldline._handoff.new_session import NewSession, write_new
from foldline._handoff.state import LARGEST, State, decode, facts_in
from foldline._messages import Message, Summary, replace
from foldline._page.extract import compose
from foldline._sessions.pi import PI
from foldline._tokens.estimate import estimate
from foldline._view import Brief

PREFIX = (
    "Another language model worked on this task and produced a summary. "
    "Use this to continue the work without duplicating effort:"
)
"""How the summary begins, for an agent that knows nothing of the session that it came from."""

TEXT_TOKENS = 16_000
"""The size of the summary at most; the record behind it holds the state whole."""


def read_state(path: str) -> State:
    """The state in a file; raises `FormatError`, naming the key, where it is none."""
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            raise FormatError("no plain file", where=path)
        if os.path.getsize(path) > LARGEST:
            raise FormatError(f"larger than the {LARGEST:,} bytes that are imported", where=path)
        with open(path, "rb") as file:
            return decode(file.read(LARGEST + 1), path)
    except (OSError, ValueError) as error:
        raise FormatError(f"cannot be read: {getattr(error, 'strerror', None) or error}", where=path) from error


def piped_state(stream: IO[bytes]) -> State:
    """The state that comes in on standard input; no more of it is read than a document may hold."""
    return decode(stream.read(LARGEST + 1), "standard input")


def import_state(state: State, format: str = PI, path: str | None = None, *, cwd: str = "") -> NewSession:
    """Opens a new session at the head of which the state stands as a summary, with the facts behind it."""
    message = Message("user", (Summary(opening(state), facts_in(state).data()),))
    note = {STATE: msgspec.to_builtins(state)}
    parent = state.source.file if state.source.agent == PI else ""
    return write_new([message], format, path, cwd=cwd, parent=parent, tokens_before=state.tokens.context, note=note)


def opening(state: State, tokens: int = TEXT_TOKENS) -> str:
    """The state as a text within some tokens: the user's words first, then the work, the files as pi lists them."""
    facts = facts_in(state)
    source = state.source
    told = f"It was session {source.session} of {source.agent}" + (f", with {source.model}" if source.model else "")
    head = f"{PREFIX}\n\n{told}, {source.messages:,} messages; its commands and errors may be out of date."
    files = _files(facts, tokens // 4)
    room = tokens - estimate(head) - estimate(files) - 8
    body = compose(Brief(max(room, 100)), replace(facts, files=()))
    return "\n\n".join(filter(None, (head, body, files)))


def _files(facts: Facts, tokens: int) -> str:
    """The files in two lists, those changed last first, as many as fit; gone and moved ones by a line each."""
    blocks = []
    room = tokens
    newest = sorted(facts.files, key=lambda f: (f.changed, f.seen), reverse=True)
    gone = [f for f in newest if f.state in ("deleted", "renamed")]
    modified = [f for f in newest if f.changed and f not in gone]
    read = [f for f in newest if not f.changed]
    for title, lines in (
        ("", [f"- {f.state}: {f.path}" + (f" → {f.to}" if f.to else "") for f in gone]),
        ("modified-files", [f.path for f in modified]),
        ("read-files", [f.path for f in read]),
    ):
        kept = []
        for line in lines:
            cost = estimate(line) + 1
            if cost > room:
                break
            room -= cost
            kept.append(line)
        if kept:
            inside = "\n".join(kept)
            blocks.append(f"<{title}>\n{inside}\n</{title}>" if title else f"## Files gone\n{inside}")
    return "\n\n".join(blocks)
