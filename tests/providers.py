"""A provider on loopback: a real HTTP server that speaks the wire of several, and plays a script of good and hostile replies.

Paths decide the dialect: `/v1/chat/completions` is OpenAI's, `/v1/messages` Anthropic's, `/v1/responses/compact` the
compaction of OpenAI's responses, `/v1beta/models/NAME:streamGenerateContent` Gemini's. Replies are streamed where the
request asks for it.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Body = dict[str, Any]


class Request(NamedTuple):
    """What was asked: the path, the headers in lower case, the JSON body."""

    path: str
    headers: dict[str, str]
    body: Body

    @property
    def text(self) -> str:
        """All that a model would read of it."""
        return json.dumps(self.body, ensure_ascii=False)

    @property
    def material(self) -> str:
        """The words of the last message."""
        last = (self.body.get("messages") or self.body["contents"])[-1]
        content = last.get("content") or last["parts"]
        return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


Reply = Callable[["_Handler", Request], None]
"""Answers one request."""


class Provider:
    """The server; each request is answered by the next reply of the script, the last of them over and over."""

    def __init__(self, *script: Reply) -> None:
        self.script = list(script)
        self.requests: list[Request] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.provider = self  # type: ignore[attr-defined]
        self.closing = threading.Event()
        self._clients = ExitStack()

    @property
    def url(self) -> str:
        """Where OpenAI's dialect is spoken; the clients of Anthropic and Google add the version themselves."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def root(self) -> str:
        return self.url.removesuffix("/v1")

    def next(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            return self.script.pop(0) if len(self.script) > 1 else self.script[0]

    def serves(self, client: Any) -> Any:
        """A client of the server, which is closed with it."""
        self._clients.callback(client.close)
        return client

    def __enter__(self) -> Provider:
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._clients.close()
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        size = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(size) or b"{}")
        request = Request(self.path.partition("?")[0], {k.lower(): v for k, v in self.headers.items()}, body)
        reply = self.server.provider.next(request)  # type: ignore[attr-defined]
        try:
            reply(self, request)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    @property
    def closing(self) -> threading.Event:
        return self.server.provider.closing  # type: ignore[attr-defined, no-any-return]

    def send(self, status: int, body: bytes, type: str = "application/json", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"content-type": type, "content-length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def stream(self, events: Iterator[bytes]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in events:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: Any) -> None:
        pass


# -- replies ------------------------------------------------------------------------------------------------------


def says(
    text: str | Callable[[Request], str],
    *,
    stop: str = "stop",
    thinking: str = "",
    after: float = 0.0,
    usage: bool = True,
) -> Reply:
    """A reply of some text, whole, after some seconds; `stop` is "stop", "length" or "refusal"."""

    def reply(handler: _Handler, request: Request) -> None:
        handler.closing.wait(after)
        words = text(request) if callable(text) else text
        handler.stream(_events(request, words, stop, thinking, usage))

    return reply


def answers(content: str | list[Body], *, stop: str = "", **usage: int) -> Reply:
    """A reply as one body, not streamed: words or blocks, in the dialect that is asked for."""

    def reply(handler: _Handler, request: Request) -> None:
        if request.path.endswith("/messages"):
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            body: Body = {"role": "assistant", "content": blocks, "stop_reason": stop or "end_turn", "usage": usage}
        else:
            said = {
                "role": "assistant",
                **({"content": content} if isinstance(content, str) else {"tool_calls": content}),
            }
            body = {"choices": [{"index": 0, "message": said, "finish_reason": stop or "stop"}], "usage": usage}
        handler.send(200, json.dumps({"id": "r1", "model": request.body["model"], **body}).encode())

    return reply


def sends(*events: Body) -> Reply:
    """A stream of these events and no others."""
    return lambda handler, request: handler.stream(f"data: {json.dumps(event)}\n\n".encode() for event in events)


def calls_a_tool(handler: _Handler, request: Request) -> None:
    """A reply that calls a tool which nobody offered."""
    handler.stream(_events(request, "", "tool", "", True))


def status(code: int, body: Any = None, **headers: str) -> Reply:
    """An HTTP error with a JSON body, or with the text given."""
    data = body if body is not None else {"error": {"message": f"error {code}", "type": "server_error"}}
    sent = data.encode() if isinstance(data, str) else json.dumps(data).encode()
    return lambda handler, request: handler.send(code, sent, **headers)


def html(handler: _Handler, request: Request) -> None:
    """A gateway's page with status 200."""
    handler.send(200, b"<!DOCTYPE html><html><body>Please log in</body></html>", "text/html")


def nothing(handler: _Handler, request: Request) -> None:
    """An empty body with status 200."""
    handler.send(200, b"")


def resets(handler: _Handler, request: Request) -> None:
    """Half a stream, and then a reset connection."""
    events = _events(request, "## Goal\nHalf of a", "stop", "", True)
    handler.send_response(200)
    handler.send_header("content-type", "text/event-stream")
    handler.send_header("transfer-encoding", "chunked")
    handler.end_headers()
    for _, event in zip(range(3), events):
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
    handler.wfile.flush()
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.close_connection = True
    handler.connection.close()
    handler.rfile = handler.wfile = _Nowhere()  # type: ignore[assignment]


def never_ends(handler: _Handler, request: Request) -> None:
    """A stream that says another word for as long as anybody listens."""

    def words() -> Iterator[bytes]:
        start = [*_events(request, "on and on ", "", "", False)]
        yield from start[:-1]
        while not handler.closing.wait(0.02):
            yield start[-2] if len(start) > 1 else start[0]

    handler.stream(words())


def is_silent(handler: _Handler, request: Request) -> None:
    """Accepts the request and says nothing."""
    handler.closing.wait(30)
    handler.close_connection = True


class _Nowhere:
    closed = True

    def flush(self) -> None: ...
    def close(self) -> None: ...
    def readline(self, *_: int) -> bytes:
        return b""


# -- the wires ----------------------------------------------------------------------------------------------------


def _events(request: Request, text: str, stop: str, thinking: str, usage: bool) -> Iterator[bytes]:
    dialect = _anthropic if request.path.endswith("/messages") else _openai
    if request.path.endswith(":streamGenerateContent"):
        dialect = _gemini
    for name, event in dialect(request, text, stop, thinking, usage):
        head = f"event: {name}\n" if name else ""
        yield f"{head}data: {event if isinstance(event, str) else json.dumps(event)}\n\n".encode()


def _openai(request: Request, text: str, stop: str, thinking: str, usage: bool) -> Iterator[tuple[str, Any]]:
    frame = {"id": "c1", "object": "chat.completion.chunk", "created": int(time.time()), "model": request.body["model"]}

    def chunk(delta: Body, finish: str | None = None) -> Body:
        return {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield "", chunk({"role": "assistant", "content": ""})
    if thinking:
        yield "", chunk({"reasoning_content": thinking})
    for i in range(0, len(text), 4_000):
        yield "", chunk({"content": text[i : i + 4_000]})
    if stop == "tool":
        call = {"index": 0, "id": "t1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
        yield "", chunk({"tool_calls": [call]})
    if stop:
        yield "", chunk({}, {"tool": "tool_calls", "refusal": "content_filter"}.get(stop, stop))
    if usage:
        spent = {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050}
        yield "", {**frame, "choices": [], "usage": {**spent, "prompt_tokens_details": {"cached_tokens": 400}}}
    if stop:
        yield "", "[DONE]"


def _anthropic(request: Request, text: str, stop: str, thinking: str, usage: bool) -> Iterator[tuple[str, Any]]:
    bill = {"input_tokens": 600, "cache_read_input_tokens": 400, "cache_creation_input_tokens": 0, "output_tokens": 1}
    message = {"id": "m1", "type": "message", "role": "assistant", "model": request.body["model"], "content": []}
    start = {**message, "stop_reason": None, "stop_sequence": None, "usage": bill}
    yield "message_start", {"type": "message_start", "message": start}
    blocks = [("thinking", thinking)] * bool(thinking) + [("text", text)] * bool(text)
    for i, (kind, words) in enumerate(blocks):
        empty = {"type": kind, kind: "", **({"signature": ""} if kind == "thinking" else {})}
        yield "content_block_start", {"type": "content_block_start", "index": i, "content_block": empty}
        delta = {"type": f"{kind}_delta", kind: words}
        yield "content_block_delta", {"type": "content_block_delta", "index": i, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": i}
    if stop == "tool":
        call = {"type": "tool_use", "id": "t1", "name": "bash", "input": {}}
        yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": call}
        yield "content_block_stop", {"type": "content_block_stop", "index": 0}
    reason = {"stop": "end_turn", "length": "max_tokens", "tool": "tool_use"}.get(stop, stop)
    if reason:
        delta = {"stop_reason": reason, "stop_sequence": None}
        yield "message_delta", {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 50}}
        yield "message_stop", {"type": "message_stop"}


def _gemini(request: Request, text: str, stop: str, thinking: str, usage: bool) -> Iterator[tuple[str, Any]]:
    def chunk(*parts: Body, **more: Any) -> Body:
        return {"candidates": [{"content": {"role": "model", "parts": [*parts]}, "index": 0, **more}]}

    if thinking:
        yield "", chunk({"text": thinking, "thought": True})
    for i in range(0, len(text), 4_000):
        yield "", chunk({"text": text[i : i + 4_000]})
    if stop == "tool":
        yield "", chunk({"functionCall": {"name": "bash", "args": {}}})
    thought = 30 if thinking else 0
    bill = {"promptTokenCount": 1000, "cachedContentTokenCount": 400}
    bill |= {"candidatesTokenCount": 50 - thought, "thoughtsTokenCount": thought}
    if stop:
        reason = {"stop": "STOP", "tool": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}.get(stop, stop)
        yield "", {**chunk(finishReason=reason), **({"usageMetadata": bill} if usage else {})}
