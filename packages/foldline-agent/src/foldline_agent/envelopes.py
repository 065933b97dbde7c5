"""The messages of an editor's protocol as lines of JSON; a line that is none is answered with JSON-RPC's error."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec
from acp import RequestError
from msgspec import Struct

WAITS_FOR_EDITOR = "session/prompt"
"""The one request whose answer may wait for a word of the editor's."""


class Envelope(Struct, frozen=True):
    """What stands around a request, a notification or an answer."""

    id: str | int | float | None = None
    method: str = ""
    params: dict[str, Any] | None = None


class Envelopes:
    """A transport of the protocol's package. At the end of the lines it ends once what was asked is answered, but for prompts."""

    def __init__(self, lines: AsyncIterator[bytes], write: Callable[[dict[str, Any]], None]) -> None:
        self._lines = lines
        self._write = write
        self._asked: set[str | int | float] = set()
        self._answered = asyncio.Event()

    async def receive(self) -> dict[str, Any] | None:
        """The next message, or None after the last one."""
        async for line in self._lines:
            if line.strip() and (message := self._read(line)) is not None:
                return message
        while self._asked:
            self._answered.clear()
            await self._answered.wait()
        return None

    async def send(self, message: dict[str, Any]) -> None:
        """Writes a message on a line."""
        self._write(message)
        if "method" not in message:
            self._asked.discard(message["id"])
            self._answered.set()

    async def close(self) -> None:
        """Nothing is left to do."""

    def _read(self, line: bytes) -> dict[str, Any] | None:
        """The message of a line; None where there is none, which is answered."""
        message: Any = None
        try:
            message = json.loads(line)
            envelope = msgspec.convert(message, Envelope)
        except msgspec.ValidationError as error:
            self._refuse(message, RequestError.invalid_request({"error": str(error)}))
        except (ValueError, RecursionError) as error:
            self._refuse(message, RequestError.parse_error({"error": str(error)}))
        else:
            return self._noted(message, envelope)
        return None

    def _noted(self, message: dict[str, Any], envelope: Envelope) -> dict[str, Any]:
        if envelope.id is not None and envelope.method not in ("", WAITS_FOR_EDITOR):
            self._asked.add(envelope.id)
        return message

    def _refuse(self, message: Any, error: RequestError) -> None:
        id = message.get("id") if isinstance(message, dict) else None
        id = id if isinstance(id, str | int | float) else None
        self._write({"jsonrpc": "2.0", "id": id, "error": error.to_error_obj()})
