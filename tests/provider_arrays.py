"""What providers refuse in the conversation of a new request: every item, block and key of it, in their own words.

`provider_rules` judges what a fold did to a history that a provider took before; here nothing came from a provider, so
each piece has to be one that its format names. Nothing here knows foldline.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from strict import broken_rule

Item = dict[str, Any]

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
CALL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")

CHAT = {
    "system": ({"role", "content", "name"}, {"text"}),
    "developer": ({"role", "content", "name"}, {"text"}),
    "user": ({"role", "content", "name"}, {"text", "image_url", "input_audio", "file"}),
    "assistant": ({"role", "content", "name", "refusal", "audio", "function_call", "tool_calls"}, {"text", "refusal"}),
    "tool": ({"role", "content", "tool_call_id", "name"}, {"text"}),
}
CHAT_PARTS = {
    "text": {"type", "text"},
    "refusal": {"type", "refusal"},
    "image_url": {"type", "image_url"},
    "input_audio": {"type", "input_audio"},
    "file": {"type", "file"},
    "function": {"type", "id", "function"},
    "custom": {"type", "id", "custom"},
}
RESPONSES = {
    "message": {"type", "id", "role", "content", "status", "phase"},
    "reasoning": {"type", "id", "summary", "content", "encrypted_content", "status"},
    "function_call": {"type", "id", "call_id", "name", "arguments", "status", "namespace"},
    "function_call_output": {"type", "id", "call_id", "output", "status"},
    "custom_tool_call": {"type", "id", "call_id", "name", "input", "namespace"},
    "custom_tool_call_output": {"type", "id", "call_id", "output"},
    "mcp_call": {"type", "id", "name", "arguments", "output", "error", "server_label", "status", "approval_request_id"},
    "web_search_call": {"type", "id", "status", "action"},
    "compaction": {"type", "id", "encrypted_content"},
}
RESPONSES_PARTS = {
    "input_text": {"type", "text"},
    "input_image": {"type", "image_url", "file_id", "detail"},
    "input_file": {"type", "file_id", "file_data", "file_url", "filename"},
    "output_text": {"type", "text", "annotations", "logprobs"},
    "refusal": {"type", "refusal"},
}
ANTHROPIC = {
    "text": {"type", "text", "citations", "cache_control"},
    "image": {"type", "source", "cache_control"},
    "document": {"type", "source", "title", "context", "citations", "cache_control"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
    "tool_use": {"type", "id", "name", "input", "caller", "cache_control"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
}
GEMINI = {
    "text": {"text", "thought", "thoughtSignature"},
    "inlineData": {"inlineData"},
    "fileData": {"fileData"},
    "functionCall": {"functionCall", "thoughtSignature"},
    "functionResponse": {"functionResponse"},
}
BEDROCK = {"text", "image", "document", "video", "toolUse", "toolResult", "reasoningContent", "cachePoint"}


def refusals(document: Any, format: str) -> list[str]:
    """Why the provider of a format would refuse a conversation; nothing where it takes it."""
    items = document if isinstance(document, list) else document.get("messages") or document.get("contents")
    found = [reason for item in items for reason in JUDGES[format](item)]
    ids = [id for item in items for id in called(item)]
    if len(ids) != len(set(ids)):
        found.append("ids of calls that are used again")
    if format in ("anthropic", "gemini", "bedrock-converse"):
        found += ["neighbours of one role" for a, b in pairwise(items) if a.get("role") == b.get("role")]
    return found or list(filter(None, [broken_rule(items)]))


def called(item: Item) -> Iterator[str]:
    """The ids of the calls in an item."""
    if "call_id" in item and item["type"].endswith("_call"):
        yield item["call_id"]
    yield from (call["id"] for call in item.get("tool_calls") or ())
    for part in item.get("content") or item.get("parts") or ():
        if isinstance(part, dict):
            calls = [part if part.get("type") == "tool_use" else {}, part.get("toolUse"), part.get("functionCall")]
            yield from (str(call.get("id") or call.get("toolUseId")) for call in calls if call and len(call) > 2)


def _foreign(item: Item, known: set[str]) -> Iterator[str]:
    yield from (f"a foreign key: {key}" for key in item.keys() - known)


def _blank(text: Any) -> Iterator[str]:
    if not isinstance(text, str) or not text.strip():
        yield "a blank text"


def _named(id: Any, name: Any) -> Iterator[str]:
    if not CALL_ID.fullmatch(id):
        yield f"an id that no provider takes: {id}"
    if not TOOL_NAME.fullmatch(name):
        yield f"a tool's name that no provider takes: {name}"


def _object(text: Any) -> Iterator[str]:
    try:
        given = json.loads(text)
    except (TypeError, ValueError):
        given = None
    if not isinstance(given, dict):
        yield "arguments that are no JSON object"


def _typed(content: Any, known: dict[str, set[str]], kinds: set[str]) -> Iterator[str]:
    """A content of text, or of parts of some kinds."""
    if isinstance(content, str):
        return
    if not isinstance(content, list) or not content:
        yield "a content that is none"
        return
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind not in kinds:
            yield f"a part of another format: {kind}"
            continue
        yield from _foreign(part, known[kind])
        if "text" in part:
            yield from _blank(part["text"])


def _chat(item: Item) -> Iterator[str]:
    keys, kinds = CHAT[item["role"]]
    yield from _foreign(item, keys)
    if item.get("content") is not None or not item.get("tool_calls"):
        yield from _typed(item.get("content"), CHAT_PARTS, kinds)
    for call in item.get("tool_calls") or ():
        yield from _foreign(call, CHAT_PARTS[call["type"]])
        body = call[call["type"]]
        yield from _named(call["id"], body["name"])
        yield from _foreign(body, {"name", "arguments" if call["type"] == "function" else "input"})
        yield from _object(body["arguments"]) if call["type"] == "function" else ()
    if item["role"] == "tool":
        yield from _named(item["tool_call_id"], item.get("name") or "tool")


def _responses(item: Item) -> Iterator[str]:
    kind = item.get("type", "message")
    if kind not in RESPONSES:
        yield f"an item of another format: {kind}"
        return
    yield from _foreign(item, RESPONSES[kind])
    if kind == "message":
        own = {"output_text", "refusal"} if item["role"] == "assistant" else {"input_text", "input_image", "input_file"}
        yield from _typed(item["content"], RESPONSES_PARTS, own)
    if kind == "reasoning" and not item.get("encrypted_content"):
        yield "reasoning that the provider did not seal"
    if "call_id" in item:
        yield from _named(item["call_id"], item.get("name", "tool"))
    if "output" in item and kind.endswith("_output"):
        yield from _typed(item["output"], RESPONSES_PARTS, {"input_text", "input_image", "input_file"})
    yield from _object(item["arguments"]) if kind == "function_call" else ()


def _anthropic(item: Item) -> Iterator[str]:
    yield from _foreign(item, {"role", "content"})
    if item["role"] not in ("user", "assistant"):
        yield f"a role that is none: {item['role']}"
    kinds = {"text", "thinking", "redacted_thinking", "tool_use"}
    if item["role"] == "user":
        kinds = {"text", "image", "document", "tool_result"}
    yield from _typed(item["content"], ANTHROPIC, kinds)
    for block in item["content"] if isinstance(item["content"], list) else ():
        match block:
            case {"type": "thinking"} if not block.get("signature"):
                yield "thinking without a signature"
            case {"type": "tool_use", "id": id, "name": name, "input": given}:
                yield from _named(id, name)
                yield from [] if isinstance(given, dict) else ["an input that is no object"]
            case {"type": "tool_result", "content": content}:
                yield from _typed(content, ANTHROPIC, {"text", "image", "document"}) if content else ()
                yield from ["a failed result without words"] if block.get("is_error") and not content else []


def _gemini(content: Item) -> Iterator[str]:
    yield from _foreign(content, {"role", "parts"})
    if content["role"] not in ("user", "model"):
        yield f"a role that is none: {content['role']}"
    if not content["parts"]:
        yield "no parts"
    for part in content["parts"]:
        kind = next((key for key in GEMINI if key in part), None)
        if kind is None:
            yield f"a part of another format: {sorted(part)}"
            continue
        yield from _foreign(part, GEMINI[kind])
        match part:
            case {"text": text}:
                yield from _blank(text)
            case {"functionCall": call}:
                yield from _foreign(call, {"id", "name", "args"})
                yield from _named(call.get("id", "none"), call["name"])
            case {"functionResponse": response}:
                yield from _foreign(response, {"id", "name", "response", "parts"})
                yield from _named(response.get("id", "none"), response["name"])


def _bedrock(message: Item) -> Iterator[str]:
    yield from _foreign(message, {"role", "content"})
    if message["role"] not in ("user", "assistant"):
        yield f"a role that is none: {message['role']}"
    for block in message["content"]:
        yield from _converse(block)
        match block:
            case {"toolUse": use}:
                yield from _foreign(use, {"toolUseId", "name", "input", "type"})
                yield from _named(use["toolUseId"], use["name"])
            case {"toolResult": result}:
                yield from _foreign(result, {"toolUseId", "content", "status", "type"})
                yield from (reason for each in result["content"] for reason in _converse(each))


def _converse(block: Item) -> Iterator[str]:
    if len(block) != 1 or block.keys() - BEDROCK - {"json"}:
        yield f"a block of another format: {sorted(block)}"
    if "text" in block:
        yield from _blank(block["text"])


JUDGES: dict[str, Callable[[Item], Iterator[str]]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "bedrock-converse": _bedrock,
}
