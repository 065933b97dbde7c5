"""OpenHands' events, as far as a model reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openhands.sdk.event import ActionEvent, CondensationSummaryEvent, LLMConvertibleEvent, MessageEvent
from openhands.sdk.llm import Message as Said
from openhands.sdk.llm import TextContent

from foldline import Message
from foldline.extend import HostFormat, Media, Part, Text, Thinking, ToolCall, ToolResult, summary_text, text_of
from foldline.integrations._content import content_now, in_place


class Shortened(LLMConvertibleEvent):
    """An event of which a part gave way, as the model reads it; it stands in a view, and in no log."""

    said: Said

    def to_llm_message(self) -> Said:
        """What the model reads."""
        return self.said


def read(native: Any) -> Message:
    """What an event says."""
    said = native.to_llm_message()
    content = [part for item in said.content for part in _content(item)]
    if said.role == "tool":
        failed = "Error" in type(native).__name__
        return Message("tool", (ToolResult(said.tool_call_id or "", tuple(content), failed, said.name or ""),))
    calls = [ToolCall(call.id, call.name, call.arguments) for call in said.tool_calls or ()]
    return Message(said.role, (*_thoughts(said), *content, *calls))


def _content(item: Any) -> Sequence[Text | Media]:
    if isinstance(item, TextContent):
        return [Text(item.text)]
    return [Media("image", {"url": url}) for url in item.image_urls]


def _thoughts(said: Said) -> list[Part]:
    if said.thinking_blocks:
        return [
            Thinking(block.thinking, block.signature) if block.type == "thinking" else Thinking("", None, block.data)
            for block in said.thinking_blocks
        ]
    if (item := said.responses_reasoning_item) is not None:
        return [Thinking("\n".join(item.summary), None, item.encrypted_content)]
    return [Thinking(said.reasoning_content)] if said.reasoning_content else []


def made(message: Message) -> Any:
    """An event that says what a fold made."""
    if (summary := message.summary) is not None:
        return CondensationSummaryEvent(summary=summary_text(summary), source="environment")
    said = Said(role=message.role, content=[TextContent(text=message.text)])
    return MessageEvent(source="agent" if message.role == "assistant" else "user", llm_message=said)


def edited(native: Any, was: Message, now: Message) -> Any:
    """An event that says what it says now: of a call still a call, since calls of one reply are sent as one."""
    said = native.to_llm_message()
    if said.role == "tool":
        before, after = (next(message.results) for message in (was, now))
        same = len(before.parts) == len(after.parts)
        content = _now(said, before.parts, after.parts) if same else [TextContent(text=text_of(after))]
        return _shortened(native, said, {"content": content})
    update: dict[str, Any] = {}
    if not any(isinstance(part, Thinking) for part in now.parts):
        update = {"reasoning_content": None, "thinking_blocks": [], "responses_reasoning_item": None}
    thoughts = len(_thoughts(said))
    content = _now(said, was.parts[thoughts:], in_place(was, now)[thoughts:])
    if not isinstance(native, ActionEvent):
        return _shortened(native, said, {**update, "content": content})
    (call,) = now.calls
    changed = native.tool_call.model_copy(update={"arguments": call.arguments})
    return native.model_copy(update={**update, "thought": content, "tool_call": changed})


def _now(said: Said, was: Sequence[Part], now: Sequence[Part | None]) -> list[Any]:
    """The content with what stands as it did; an item of several pictures stays while one of them does."""
    content: list[Any] = []
    at = 0
    for item in said.content:
        many = len(_content(item))
        before, after = was[at : at + many], now[at : at + many]
        at += many
        content += content_now([item], before[:1], after[:1], _text)
    return content


def _text(item: Any, text: str) -> TextContent:
    return item.model_copy(update={"text": text}) if isinstance(item, TextContent) else TextContent(text=text)


def _shortened(native: Any, said: Said, update: dict[str, Any]) -> Shortened:
    return Shortened(
        id=native.id, timestamp=native.timestamp, source=native.source, said=said.model_copy(update=update)
    )


FORMAT: HostFormat[Any] = HostFormat(read, made, edited)
