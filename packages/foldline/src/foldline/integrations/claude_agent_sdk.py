"""Claude's Agent SDK: `ClaudeAgentOptions(session_store=Folding(store), resume=session_id)`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from claude_agent_sdk import InMemorySessionStore, SdkMcpTool, SessionStore

from foldline import Compactor, SessionError, SessionFile, handle, open_session
from foldline.integrations._conversations import declared

_resumed: ContextVar[list[Any] | None] = ContextVar("foldline_resumed", default=None)
"""The rows of the session that was loaded, for the client that was connected behind that."""


class Folding:
    """A store of sessions that are inside the model's window when they are resumed; another store keeps them.

    A session is folded where it is loaded. The fold is kept with it, in Claude Code's own rows behind all that was said: a
    store is only ever appended to. `recall` is a tool that the agent may be given. `store` is where the sessions are, in
    memory unless given; `model` is for a model that foldline should take theirs for, and `options` are those of `Compactor`.
    """

    def __init__(self, store: Any = None, model: str = "", **options: Any) -> None:
        self._store = InMemorySessionStore() if store is None else store
        self._model = model
        self._options = options
        self.recall: SdkMcpTool[Any] = SdkMcpTool(*declared(), _recalled)

    def __getattr__(self, name: str) -> Any:
        """What the other store can do besides; what it only inherits from the protocol it cannot."""
        if getattr(type(self._store), name, None) is getattr(SessionStore, name, self):
            raise AttributeError(name)
        return getattr(self._store, name)

    async def append(self, key: Any, entries: list[Any]) -> None:
        """Keeps what was said."""
        await self._store.append(key, entries)

    async def load(self, key: Any) -> list[Any] | None:
        """What a session goes on from: all that was said, and behind it the folds, with a new one where the window fills."""
        entries: list[Any] | None = await self._store.load(key)
        if not entries or key.get("subpath"):
            return entries
        try:
            made = await self._made(entries)
        except SessionError:  # nothing that Claude Code wrote: it goes as it came
            return entries
        if made:
            await self._store.append(key, made)
        _resumed.set([*entries, *made])
        return [*entries, *made]

    async def _made(self, entries: list[Any]) -> list[Any]:
        """The rows of a fold, where the window fills."""
        with _opened(entries) as session:
            compactor = Compactor(self._model or session.model, session=session, **self._options)
            billed = session.meter(compactor.model.family)
            compactor.meter.overhead, compactor.meter.ratio = billed.overhead, billed.ratio
            await compactor.afit(session.context.messages)
            rows = Path(session.path).read_bytes().splitlines()[len(entries) :]
            return [_without_file(msgspec.json.decode(row), session.path) for row in rows]


@contextmanager
def _opened(entries: list[Any]) -> Iterator[SessionFile]:
    """The session that the rows make up."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "session.jsonl"
        path.write_bytes(b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries))
        yield open_session(str(path))


def _without_file(row: Any, path: str) -> Any:
    """A row of a fold that does not send the model to the file that it was made in."""
    if isinstance(said := row.get("message", {}).get("content"), str) and path in said:
        row["message"]["content"] = "\n".join(line for line in said.split("\n") if path not in line).rstrip()
    return row


async def _recalled(arguments: dict[str, Any]) -> dict[str, Any]:
    """What a call of the recall tool is answered with in the session that was resumed."""
    if (entries := _resumed.get()) is None:
        told = "Nothing recalled: this session was not resumed, so nothing was folded."
    else:
        with _opened(entries) as session:
            told = handle(arguments, source=session)
    return {"content": [{"type": "text", "text": told}]}
