"""A model server on loopback that answers by a script, in the dialects of Anthropic, of OpenAI's two, and of Gemini."""

import json
import secrets
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

SHELLS = {
    "Bash": "command",
    "bash": "command",
    "exec": "command",
    "exec_command": "cmd",
    "shell_command": "command",
    "shell": "command",
    "run_shell_command": "command",
}
"""The tools that run a command in the clients' own tool lists, and the argument that takes it."""

ASKS_SUMMARY = "Respond with TEXT ONLY"
"""What stands in Claude Code's request for a summary, which carries its tools."""


@dataclass(frozen=True)
class Reply:
    """One scripted answer: words, reasoning before them, and commands to run or tools to call side by side."""

    text: str = ""
    thinking: str = ""
    commands: tuple[str, ...] = ()
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()


class ScriptedModel:
    """The server, running while it is entered; `requests` are the bodies of the requests that offered
    a shell.

    `beside` are those without, which clients send for titles and for summaries; with a `summary` given, requests for one
    that carry tools are among them, and it is the answer to all. A request of more than `window` tokens is refused, and
    counted.
    """

    def __init__(self, replies: Sequence[Reply | str], window: int = 1 << 30, summary: str = "") -> None:
        self.requests: list[dict[str, Any]] = []
        self.beside: list[dict[str, Any]] = []
        self.refused = 0
        self.window = window
        self._summary = summary
        self._replies = [Reply(reply) if isinstance(reply, str) else reply for reply in replies]
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, body: dict[str, Any]) -> Reply:
        """The next scripted reply; a request without tools is a side task and uses none up."""
        with self._lock:
            if not any(tool.get("name") in SHELLS for tool in _tools(body)) or (
                self._summary and ASKS_SUMMARY in json.dumps(body.get("messages", [])[-1:])
            ):
                self.beside.append(body)
                return Reply(self._summary or "A title")
            self.requests.append(body)
            return self._replies.pop(0) if self._replies else Reply("The script is at its end.")

    def refuses(self, body: dict[str, Any]) -> bool:
        """Whether a request is larger than the window."""
        with self._lock:
            over = tokens(body) > self.window
            self.refused += over
            return over

    def new_id(self, prefix: str) -> str:
        """An id that no other answer has."""
        return f"{prefix}_{secrets.token_hex(12)}"


def _handler(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"] or 0)) or b"{}")
            path = self.path.split("?")[0]
            if path.endswith("/count_tokens"):
                self._json({"input_tokens": tokens(body)})
            elif model.refuses(body):
                self._json(_too_long(path, body, model.window), 400)
            elif path.endswith("/messages"):
                self._events(_anthropic(model, body, model.answer(body)))
            elif path.endswith("/responses"):
                self._events(_responses(model, body, model.answer(body)))
            elif path.endswith("/chat/completions"):
                self._lines([*map(json.dumps, _chat(model, body, model.answer(body))), "[DONE]"])
            elif path.endswith(":streamGenerateContent"):
                self._lines([json.dumps(_gemini(model, body, model.answer(body)))])
            else:
                self._json({"error": {"message": "Not found"}}, 404)

        def do_GET(self) -> None:
            self._json({"data": [], "object": "list", "models": []})

        def _json(self, value: object, status: int = 200) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _events(self, events: Iterator[dict[str, Any]]) -> None:
            self._stream("".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events))

        def _lines(self, lines: list[str]) -> None:
            self._stream("".join(f"data: {line}\n\n" for line in lines))

        def _stream(self, text: str) -> None:
            data = text.encode()
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def _too_long(path: str, body: dict[str, Any], window: int) -> dict[str, Any]:
    """How providers refuse what is larger than the window."""
    n = tokens(body)
    if path.endswith("/messages"):
        said = f"prompt is too long: {n} tokens > {window} maximum"
        return {"type": "error", "error": {"type": "invalid_request_error", "message": said}}
    said = f"This model's maximum context length is {window} tokens. However, your messages resulted in {n} tokens. "
    about = {"type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}
    return {"error": {"message": said + "Please reduce the length of the messages.", **about}}


def tokens(body: dict[str, Any]) -> int:
    """What a request is billed."""
    return len(json.dumps(body)) // 4


def _tools(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for tool in body.get("tools") or ():
        yield from tool.get("functionDeclarations") or [tool.get("function") or tool]


def _calls(body: dict[str, Any], reply: Reply) -> list[tuple[str, dict[str, Any]]]:
    """The reply's commands as calls of whichever command tool the request offers, and the tools that it names itself."""
    if not reply.commands and not reply.calls:
        return []
    offered = {tool.get("name"): tool.get("input_schema") or tool.get("parameters") or {} for tool in _tools(body)}
    name = next((name for name in SHELLS if name in offered), "")
    listed = offered.get(name, {}).get("properties", {}).get(SHELLS.get(name, ""), {}).get("type") == "array"
    ran = [(name, {SHELLS[name]: ["bash", "-c", command] if listed else command}) for command in reply.commands]
    return [*ran, *reply.calls]


def _anthropic(model: ScriptedModel, body: dict[str, Any], reply: Reply) -> Iterator[dict[str, Any]]:
    usage = {"input_tokens": tokens(body), "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    message = {"id": model.new_id("msg"), "type": "message", "role": "assistant", "model": body.get("model")}
    base = {
        **message,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": 1},
    }
    yield {"type": "message_start", "message": base}
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if reply.thinking:
        deltas = [
            {"type": "thinking_delta", "thinking": reply.thinking},
            {"type": "signature_delta", "signature": "c2lnbg=="},
        ]
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, deltas))
    if reply.text:
        blocks.append(({"type": "text", "text": ""}, [{"type": "text_delta", "text": reply.text}]))
    for name, arguments in _calls(body, reply):
        start = {"type": "tool_use", "id": model.new_id("toolu"), "name": name, "input": {}}
        blocks.append((start, [{"type": "input_json_delta", "partial_json": json.dumps(arguments)}]))
    for index, (start, deltas) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = {"stop_reason": "tool_use" if reply.commands or reply.calls else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {**usage, "output_tokens": 50}}
    yield {"type": "message_stop"}


def _responses(model: ScriptedModel, body: dict[str, Any], reply: Reply) -> Iterator[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if reply.thinking:
        summary = [{"type": "summary_text", "text": reply.thinking}]
        items.append(
            {"type": "reasoning", "id": model.new_id("rs"), "summary": summary, "encrypted_content": "Z0FBQUE="}
        )
    if reply.text:
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        items.append({"type": "message", "id": model.new_id("msg"), "role": "assistant", "content": content})
    for name, arguments in _calls(body, reply):
        space, _, own = name.rpartition(".")
        call = {"call_id": model.new_id("call"), "name": own, "arguments": json.dumps(arguments)}
        call |= {"namespace": space} if space else {}
        items.append({"type": "function_call", "id": model.new_id("fc"), **call})
    n = tokens(body)
    usage = {
        "input_tokens": n,
        "output_tokens": 50,
        "total_tokens": n + 50,
        "input_tokens_details": {"cached_tokens": 0},
    }
    base = {"id": model.new_id("resp"), "object": "response", "model": body.get("model")}
    yield {"type": "response.created", "response": {**base, "status": "in_progress", "output": []}}
    for index, item in enumerate(items):
        yield {"type": "response.output_item.added", "output_index": index, "item": item}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    done = {**base, "status": "completed", "output": items}
    yield {
        "type": "response.completed",
        "response": {**done, "usage": {**usage, "output_tokens_details": {"reasoning_tokens": 0}}},
    }


def _chat(model: ScriptedModel, body: dict[str, Any], reply: Reply) -> Iterator[dict[str, Any]]:
    calls = [
        {
            "index": index,
            "id": model.new_id("call"),
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for index, (name, arguments) in enumerate(_calls(body, reply))
    ]
    said = {"role": "assistant", "content": reply.text, "reasoning_content": reply.thinking, "tool_calls": calls}
    chunk = {"id": model.new_id("chatcmpl"), "object": "chat.completion.chunk", "model": body.get("model")}
    delta = {key: value for key, value in said.items() if value}
    yield {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"}]}
    n = tokens(body)
    usage = {"prompt_tokens": n, "completion_tokens": 50, "total_tokens": n + 50}
    yield {**chunk, "choices": [], "usage": usage}


def _gemini(model: ScriptedModel, body: dict[str, Any], reply: Reply) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": reply.thinking, "thought": True}] if reply.thinking else []
    if reply.text:
        parts.append({"text": reply.text})
    for name, arguments in _calls(body, reply):
        parts.append({"functionCall": {"id": model.new_id("call"), "name": name, "args": arguments}})
    n = tokens(body)
    usage = {"promptTokenCount": n, "candidatesTokenCount": 50, "totalTokenCount": n + 50}
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-2.5-pro"}
