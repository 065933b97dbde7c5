"""The items of Codex's conversations, which are those of OpenAI's Responses, as parts and messages.

Of a long output, which a rollout holds whole, Codex sends the beginning and the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from foldline._messages import Media, Message, Opaque, Part, Role, Text, Thinking, ToolCall, ToolResult, replace
from foldline._sessions.parts import result, spoken_by, summary
from foldline._sessions.values import Json, as_json, count, items, mapping, mappings, string, words

SUMMARY_START = "Another language model started to solve this problem and produced a summary"
"""How a summary that Codex made itself begins, in the user's message that holds it."""

_CONTEXTUAL = (
    "<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<turn_aborted>", "<skill>",
    "<user_shell_command>", "<INSTRUCTIONS>", "<recommended_plugins>", "<subagent_notification>",
)  # fmt: skip
"""How the user's messages begin that Codex wrote, not a user."""

_UNSENT = frozenset(("ghost_snapshot", "other"))
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "developer": "system", "system": "system"}
_OPAQUE = frozenset(("compaction", "compaction_summary", "context_compaction"))


def is_generated(item: Json) -> bool:
    """Whether the model made the item, as part of a reply."""
    kind = string(item.get("type"))
    if kind == "message":
        return item.get("role") == "assistant"
    return kind == "reasoning" or kind.endswith("_call")


def is_sealed(item: Json) -> bool:
    """Whether the item is a compaction that only its provider can read."""
    return string(item.get("type")) in _OPAQUE


def reply_part(item: Json) -> tuple[Part, ...]:
    """The parts of a reply that a generated item says."""
    kind = string(item.get("type"))
    call_id = string(item.get("call_id"))
    match kind:
        case "message":
            return _content(item.get("content"))
        case "reasoning":
            said = [words(part) for part in (*mappings(item.get("summary")), *mappings(item.get("content")))]
            data = item.get("encrypted_content")
            return (Thinking("\n\n".join(filter(None, said)), None, data if isinstance(data, str) else None),)
        case "custom_tool_call" if call_id:
            return (ToolCall(call_id, string(item.get("name")), as_json(item.get("input")), {"type": "custom"}),)
        case "local_shell_call" if call_id:
            return (ToolCall(call_id, "shell", as_json(mapping(item.get("action")))),)
        case _ if call_id and "arguments" in item:
            name = string(item.get("name"), kind.removesuffix("_call"))
            return (ToolCall(call_id, name, as_json(item["arguments"])),)
        case _:
            return (Opaque(item),)


def message_of(item: Json, round: int) -> Message | None:
    """The message that an item says which no model made just now, or None where it says none."""
    kind = string(item.get("type"))
    if kind == "message":
        role = _ROLES.get(string(item.get("role")))
        parts = _content(item.get("content"))
        if role is None or not parts:
            return None
        text = words(item.get("content"))
        return summary(text, round) if role == "user" and text.startswith(SUMMARY_START) else Message(role, parts)
    if kind.endswith("_output"):
        return Message("tool", (_result(item),))
    if is_sealed(item):
        return Message("assistant", (Opaque(item),))
    if kind == "agent_message":
        parts = _content(item.get("content"))
        return spoken_by(Message("user", parts), "peer") if parts else None
    if is_generated(item):
        return Message("assistant", reply_part(item))
    return None if kind in _UNSENT else Message("user", (Opaque(item),))


def opens_turn(item: Json) -> bool:
    """Whether a user speaks in the item, or another agent in a user's place."""
    if item.get("type") == "agent_message":
        return True
    if item.get("type") != "message" or item.get("role") != "user":
        return False
    text = words(item.get("content")).lstrip()
    return not text.startswith((*_CONTEXTUAL, SUMMARY_START))


def _result(item: Json) -> ToolResult:
    output = item.get("output", item.get("tools"))
    failed = False
    if isinstance(output, dict) and "content" in output:
        failed = output.get("success") is False
        output = output["content"]
    return result(string(item.get("call_id")), output, error=failed, name=string(item.get("name")))


def _content(content: object) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (Text(content),) if content else ()
    return tuple(_part(part) for part in items(content))


def _part(part: object) -> Part:
    if isinstance(part, dict):
        if isinstance(text := part.get("text"), str):
            return Text(text)
        if isinstance(refusal := part.get("refusal"), str):
            return Text(refusal)
        if part.get("type") == "input_image":
            return Media("image", part)
    return Opaque(part)


# -- outputs as they are sent -------------------------------------------------------------------------------------

TOKEN, SPARE = 4, 1.2
"""Bytes that Codex takes for a token of an output, and what it adds to the limit of a turn."""

LARGEST = int(10_000 * TOKEN * SPARE)
"""Bytes of an output where the turn states no limit: that of every model since GPT-5.1."""


def largest(policy: Mapping[str, object]) -> int:
    """The bytes of an output that are sent under a turn's `truncation_policy`."""
    stated = count(policy.get("limit")) * (TOKEN if policy.get("mode") == "tokens" else 1)
    return int(stated * SPARE) or LARGEST


def as_sent(message: Message, most: int) -> Message:
    """The message with no more than so many bytes of text in a result; the same where it has none."""
    parts = tuple(
        replace(part, parts=tuple(_cut(part.parts, most))) if isinstance(part, ToolResult) else part
        for part in message.parts
    )
    return message if parts == message.parts else replace(message, parts=parts)


def _cut(parts: Iterable[Part], left: int) -> Iterator[Part]:
    for part in parts:
        if not isinstance(part, Text):
            yield part
            continue
        data = part.text.encode("utf-8", "surrogatepass")
        if len(data) <= left:
            yield part
        elif left > 0:
            yield replace(part, text=_middle_out(data, left))
        left -= len(data)


def _middle_out(data: bytes, most: int) -> str:
    half = most // 2
    begins, ends = data[:half].decode("utf-8", "ignore"), data[-half:].decode("utf-8", "ignore")
    return f"{begins}…{(len(data) - most) // TOKEN} tokens truncated…{ends}"
