"""A strict provider: it refuses what the real ones refuse, and otherwise works on a task by calling a tool.

The dialect is told by the path. A window is counted in tokens of four characters of the request's JSON; a request that
is larger is refused as too long, one that breaks a rule of `provider_rules` as invalid. Every refusal is kept.
"""

from __future__ import annotations

import json
import struct
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import provider_rules as rules
from providers import Provider, Request, _Handler

Body = dict[str, Any]
CHARACTERS = 4
SIGNATURE = b64encode(b"signed by the provider").decode()


class Turn(NamedTuple):
    """What the model does next: it calls a tool, or has done what was asked for."""

    number: int
    tokens: int
    done: bool
    tool: str
    arguments: Body


def reading(number: int) -> tuple[str, Body]:
    """The call of the tool that reads the next part."""
    return "read", {"path": f"src/part_{number}.py"}


class Strict:
    """The provider of one test; `window` is tokens, `steps` how many replies it makes until it is done with a request.

    `wrap` is what becomes of a client that is made for it, `calls` says the tool and the arguments of each reply by its number.
    """

    def __init__(
        self,
        window: int,
        steps: int = 4,
        wrap: Callable[[Any], Any] = lambda client: client,
        calls: Callable[[int], tuple[str, Body]] = reading,
    ) -> None:
        self.wrap = wrap
        self.window = window
        self.steps = steps
        self.calls = calls
        self.refused: list[str] = []
        self.billed = 0
        self.turns = 0
        self.provider = Provider(self.answer)

    def __enter__(self) -> Strict:
        self.provider.__enter__()
        return self

    def __exit__(self, *failed: object) -> None:
        self.provider.__exit__(*failed)

    def answer(self, handler: _Handler, request: Request) -> None:
        dialect = next(each for part, each in DIALECTS.items() if part in request.path)
        items = dialect.items(request.body)
        tokens = len(json.dumps(request.body)) // CHARACTERS
        if problem := broken_rule(items) or ("too long" if tokens > self.window else ""):
            self.refused.append(f"{problem}: {json.dumps(items)[:2_000]}")
            handler.send(400, json.dumps({"error": {"message": problem, "type": "invalid_request_error"}}).encode())
            return
        self.turns += 1
        self.billed += tokens
        turn = Turn(self.turns, tokens, self.turns % self.steps == 0, *self.calls(self.turns))
        if "stream" in request.path.lower() or request.body.get("stream"):
            dialect.stream(handler, turn)
        else:
            handler.send(200, json.dumps(dialect.whole(turn)).encode())


def broken_rule(items: list[Body]) -> str:
    """The first rule of the providers that a history breaks; an empty text where it breaks none."""
    faults = {
        "pairs": rules.pairing_faults(items),
        "an empty message": rules.empty_faults(items),
        "broken JSON": rules.broken(items),
        "results that do not lead": not all(map(rules.results_lead, items)),
        "the first message is not the user's": rules.first_speaker(items) != "user",
        "reasoning without what followed": rules.lone_reasoning(items),
        "a call out of turn": rules.calls_out_of_turn(items),
        "roles that do not alternate": rules.neighbours_of_one_role(items),
    }
    return next((f"{name}: {fault}" for name, fault in faults.items() if fault), "")


def words(turn: Turn) -> str:
    return (
        f"Request done; config/service_{turn.number}.ini holds it." if turn.done else f"Looking at part {turn.number}."
    )


# -- the dialects -------------------------------------------------------------------------------------------------


class Dialect(NamedTuple):
    """How one API says a history and a reply."""

    items: Callable[[Body], list[Body]]
    whole: Callable[[Turn], Body]
    stream: Callable[[_Handler, Turn], None]


def _sse(events: Iterator[tuple[str, Any]] | list[tuple[str, Any]]) -> Iterator[bytes]:
    for name, event in events:
        head = f"event: {name}\n" if name else ""
        yield f"{head}data: {event if isinstance(event, str) else json.dumps(event)}\n\n".encode()


def _chat(turn: Turn) -> Body:
    message: Body = {"role": "assistant", "content": words(turn), "refusal": None, "annotations": []}
    if not turn.done:
        body = {"name": turn.tool, "arguments": json.dumps(turn.arguments)}
        message |= {
            "content": None,
            "tool_calls": [{"id": f"call_{turn.number}", "type": "function", "function": body}],
        }
    choice = {"index": 0, "message": message, "finish_reason": "stop" if turn.done else "tool_calls", "logprobs": None}
    usage = {"prompt_tokens": turn.tokens, "completion_tokens": 20, "total_tokens": turn.tokens + 20}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def _chat_stream(handler: _Handler, turn: Turn) -> None:
    whole = _chat(turn)
    message = whole["choices"][0]["message"]
    calls = [{"index": 0, **call} for call in message.pop("tool_calls", [])]
    frame = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}

    def chunk(delta: Body, finish: str | None = None) -> Body:
        return {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    said = {"role": "assistant", "content": message["content"], **({"tool_calls": calls} if calls else {})}
    end = chunk({}, whole["choices"][0]["finish_reason"])
    bill = {**frame, "choices": [], "usage": whole["usage"]}
    handler.stream(_sse([("", chunk(said)), ("", end), ("", bill), ("", "[DONE]")]))


def _responses(turn: Turn) -> Body:
    output: list[Body] = [
        {"type": "reasoning", "id": f"rs_{turn.number}", "summary": [], "encrypted_content": SIGNATURE, "status": None}
    ]
    if turn.done:
        content = [{"type": "output_text", "text": words(turn), "annotations": [], "logprobs": []}]
        said = {"role": "assistant", "content": content, "status": "completed"}
        output.append({"type": "message", "id": f"msg_{turn.number}", **said})
    else:
        call = {"name": turn.tool, "arguments": json.dumps(turn.arguments), "status": "completed"}
        output.append({"type": "function_call", "id": f"fc_{turn.number}", "call_id": f"call_{turn.number}", **call})
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 5}}
    usage = {"input_tokens": turn.tokens, "output_tokens": 20, "total_tokens": turn.tokens + 20, **details}
    head = {"id": "r", "object": "response", "created_at": 1, "model": "m", "status": "completed", "error": None}
    asked = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    return {**head, **asked, "output": output, "usage": usage}


def _responses_stream(handler: _Handler, turn: Turn) -> None:
    whole = _responses(turn)
    opened = {**whole, "status": "in_progress", "output": [], "usage": None}
    events: list[Body] = [{"type": "response.created", "response": opened}]
    for i, item in enumerate(whole["output"]):
        events.append({"type": "response.output_item.added", "output_index": i, "item": {**item, "content": []}})
        if item["type"] == "message":
            place = {"item_id": item["id"], "output_index": i, "content_index": 0}
            (said,) = item["content"]
            events.append({"type": "response.content_part.added", **place, "part": {**said, "text": ""}})
            events.append({"type": "response.output_text.delta", **place, "delta": said["text"], "logprobs": []})
            events.append({"type": "response.output_text.done", **place, "text": said["text"], "logprobs": []})
            events.append({"type": "response.content_part.done", **place, "part": said})
        events.append({"type": "response.output_item.done", "output_index": i, "item": item})
    events.append({"type": "response.completed", "response": whole})
    handler.stream(_sse([(e["type"], {**e, "sequence_number": n}) for n, e in enumerate(events)]))


def _anthropic(turn: Turn) -> Body:
    content: list[Body] = [{"type": "thinking", "thinking": "Which part is next?", "signature": SIGNATURE}]
    content.append({"type": "text", "text": words(turn)})
    if not turn.done:
        content.append({"type": "tool_use", "id": f"toolu_{turn.number}", "name": turn.tool, "input": turn.arguments})
    usage = {"input_tokens": turn.tokens, "output_tokens": 20}
    end = {"stop_reason": "end_turn" if turn.done else "tool_use", "stop_sequence": None}
    return {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": content, **end, "usage": usage}


def _anthropic_stream(handler: _Handler, turn: Turn) -> None:
    whole = _anthropic(turn)
    events: list[Body] = [{"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}]
    for i, block in enumerate(whole["content"]):
        match block["type"]:
            case "thinking":
                empty: Body = {"type": "thinking", "thinking": "", "signature": ""}
                deltas: list[Body] = [
                    {"type": "thinking_delta", "thinking": block["thinking"]},
                    {"type": "signature_delta", "signature": block["signature"]},
                ]
            case "text":
                empty, deltas = {"type": "text", "text": ""}, [{"type": "text_delta", "text": block["text"]}]
            case _:
                empty = {**block, "input": {}}
                deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
        events.append({"type": "content_block_start", "index": i, "content_block": empty})
        events += [{"type": "content_block_delta", "index": i, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": i})
    end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": end, "usage": {"output_tokens": 20}})
    events.append({"type": "message_stop"})
    handler.stream(_sse([(event["type"], event) for event in events]))


def _gemini(turn: Turn) -> Body:
    parts: list[Body] = [{"text": words(turn)}]
    if not turn.done:
        call = {"name": turn.tool, "args": turn.arguments}
        parts.append({"functionCall": call, "thoughtSignature": SIGNATURE})
    content = {"role": "model", "parts": parts}
    bill = {"promptTokenCount": turn.tokens, "candidatesTokenCount": 20, "totalTokenCount": turn.tokens + 20}
    return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": bill}


def _gemini_stream(handler: _Handler, turn: Turn) -> None:
    whole = _gemini(turn)
    candidate = whole["candidates"][0]
    for_each = [{**candidate, "content": {"role": "model", "parts": [part]}} for part in candidate["content"]["parts"]]
    handler.stream(_sse([("", {**whole, "candidates": [each]}) for each in for_each]))


def _converse(turn: Turn) -> Body:
    reasoned = {"reasoningText": {"text": "Which part is next?", "signature": SIGNATURE}}
    content: list[Body] = [{"reasoningContent": reasoned}, {"text": words(turn)}]
    if not turn.done:
        use = {"toolUseId": f"tooluse_{turn.number}", "name": turn.tool, "input": turn.arguments}
        content.append({"toolUse": use})
    usage = {"inputTokens": turn.tokens, "outputTokens": 20, "totalTokens": turn.tokens + 20}
    end = "end_turn" if turn.done else "tool_use"
    message = {"role": "assistant", "content": content}
    return {"output": {"message": message}, "stopReason": end, "usage": usage, "metrics": {"latencyMs": 1}}


def _converse_stream(handler: _Handler, turn: Turn) -> None:
    whole = _converse(turn)
    events: list[tuple[str, Body]] = [("messageStart", {"role": "assistant"})]
    for i, block in enumerate(whole["output"]["message"]["content"]):
        match block:
            case {"reasoningContent": {"reasoningText": {"text": text, "signature": signature}}}:
                deltas: list[Body] = [
                    {"reasoningContent": {"text": text}},
                    {"reasoningContent": {"signature": signature}},
                ]
            case {"toolUse": use}:
                start = {"toolUse": {"toolUseId": use["toolUseId"], "name": use["name"]}}
                events.append(("contentBlockStart", {"start": start, "contentBlockIndex": i}))
                deltas = [{"toolUse": {"input": json.dumps(use["input"])}}]
            case _:
                deltas = [block]
        events += [("contentBlockDelta", {"delta": delta, "contentBlockIndex": i}) for delta in deltas]
        events.append(("contentBlockStop", {"contentBlockIndex": i}))
    events.append(("messageStop", {"stopReason": whole["stopReason"]}))
    events.append(("metadata", {"usage": whole["usage"], "metrics": whole["metrics"]}))
    handler.stream(_frame(name, event) for name, event in events)


def _frame(name: str, event: Body, kind: str = "event") -> bytes:
    """An event, or an exception, in Amazon's binary framing: lengths, headers and checksums around the JSON."""

    def header(key: str, value: str) -> bytes:
        return struct.pack(f">B{len(key)}sBH", len(key), key.encode(), 7, len(value)) + value.encode()

    head = header(f":{kind}-type", name) + header(":content-type", "application/json") + header(":message-type", kind)
    payload = json.dumps(event).encode()
    prelude = struct.pack(">II", 16 + len(head) + len(payload), len(head))
    checked = prelude + struct.pack(">I", zlib.crc32(prelude)) + head + payload
    return checked + struct.pack(">I", zlib.crc32(checked))


def _messages(body: Body) -> list[Body]:
    return list(body["messages"])


DIALECTS = {
    "/chat/completions": Dialect(_messages, _chat, _chat_stream),
    "/responses": Dialect(lambda body: list(body["input"]), _responses, _responses_stream),
    "/messages": Dialect(_messages, _anthropic, _anthropic_stream),
    "/models/": Dialect(lambda body: list(body["contents"]), _gemini, _gemini_stream),
    "/model/": Dialect(_messages, _converse, _converse_stream),
}
