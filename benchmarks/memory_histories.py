"""Histories as `memory` handles them: chat messages as plain dicts, their texts, their tokens, their steps.

This file alone knows foldline's own types; everything beside it reads dicts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from foldline import Message, Summary
from foldline.extend import Text, Thinking, ToolCall, ToolResult, decode_all, weigh

Chat = dict[str, Any]
"""A message as OpenAI's chat format has it: role, content as a text, tool_calls, tool_call_id."""

Item = Message | Mapping[str, Any]
"""What foldline is given: its own message, or a dict."""

FORMAT = "openai-chat"


def as_chat(items: Iterable[Item]) -> list[Chat]:
    """The messages that items say, whatever they are."""
    return [message for item in items for message in (_said(item) if isinstance(item, Message) else [_text_only(item)])]


def _text_only(item: Mapping[str, Any]) -> Chat:
    """A chat message whose content is one text."""
    content = item.get("content") or ""
    if not isinstance(content, str):
        content = "\n".join(str(part.get("text") or "") for part in content)
    return {**item, "content": content}


def _said(message: Message) -> Iterator[Chat]:
    """The chat messages that one message makes: its words and calls, and each result by itself."""
    words = [p.text for p in message.parts if isinstance(p, Text | Summary | Thinking) and p.text]
    calls = [call(p.id, p.name, p.arguments) for p in message.parts if isinstance(p, ToolCall)]
    for part in message.parts:
        if isinstance(part, ToolResult):
            text = "\n".join(p.text for p in part.parts if isinstance(p, Text))
            yield {"role": "tool", "tool_call_id": part.call_id, "content": text}
    if words or calls:
        said: Chat = {"role": message.role, "content": "\n".join(words)}
        yield {**said, "tool_calls": calls} if calls else said


def call(id: str, name: str, arguments: str) -> Chat:
    """A tool call as the chat format has it."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


# -- texts -------------------------------------------------------------------------------------------------------


def calls(message: Chat) -> Iterator[tuple[str, str, str]]:
    """The id, the name and the written arguments of each call in a message."""
    for each in message.get("tool_calls") or ():
        yield each.get("id", ""), each["function"]["name"], written(each["function"]["arguments"])


def written(arguments: str) -> str:
    """What an agent wrote into the arguments of a call, as it stands there once JSON's own escapes are read."""
    try:
        return "\n".join(f"{key}: {leaf}" if key else leaf for key, leaf in _leaves(json.loads(arguments)))
    except (ValueError, RecursionError):
        return arguments


def _leaves(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _leaves(item, str(name))
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, key)
    elif value is not None and not isinstance(value, bool):
        yield key, str(value)


def text(message: Chat) -> str:
    """Everything in a message that a model reads."""
    return "\n".join([message["content"], *(f"{name} {given}" for _, name, given in calls(message))])


def texts(messages: Iterable[Chat]) -> list[str]:
    """The texts of messages."""
    return [text(message) for message in messages]


# -- tokens ------------------------------------------------------------------------------------------------------


def sizes(messages: Sequence[Item]) -> list[int]:
    """Tokens of each message, by the same estimate for every method: that of the package that is measured."""
    whole = messages if all(isinstance(m, Message) for m in messages) else decode_all(messages, FORMAT)
    return [weigh(message) for message in whole]


def size(messages: Sequence[Item]) -> int:
    """Tokens of messages."""
    return sum(sizes(messages))


class History:
    """A history as it is given to foldline, and as everything else reads it."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = list(items)

    @cached_property
    def chat(self) -> list[Chat]:
        """Its messages as dicts."""
        return as_chat(self.items)

    @cached_property
    def sizes(self) -> list[int]:
        """The tokens of each of those."""
        return sizes(self.chat)

    @cached_property
    def tokens(self) -> int:
        """The tokens of all."""
        return size(self.items)


# -- steps -------------------------------------------------------------------------------------------------------


def steps(messages: Sequence[Chat]) -> list[range]:
    """The places of messages that belong together: a call with its results, or a message alone."""
    starts = [i for i, message in enumerate(messages) if i == 0 or message["role"] != "tool"]
    return [range(a, b) for a, b in zip(starts, [*starts[1:], len(messages)])]


def answers(item: Item) -> bool:
    """Whether an item is a tool's answer to a call before it."""
    return any(True for _ in item.results) if isinstance(item, Message) else item["role"] == "tool"


def cut_at(items: Sequence[Item], share: float) -> int:
    """The first place behind that share of the characters where no call waits for its result."""
    lengths = [sum(map(len, texts(as_chat([item])))) for item in items]
    aim, behind = share * sum(lengths), 0
    for i, length in enumerate(lengths):
        if behind >= aim and not answers(items[i]):
            return i
        behind += length
    return len(items)


STRETCHES = 3


def interleaved(conversations: Sequence[Sequence[Item]]) -> list[Item]:
    """Conversations held at the same time: the first stretch of each, then the second of each, then the third."""
    cuts = [[cut_at(items, n / STRETCHES) for n in range(STRETCHES)] + [len(items)] for items in conversations]
    return [
        item for n in range(STRETCHES) for items, at in zip(conversations, cuts) for item in items[at[n] : at[n + 1]]
    ]


def tagged(messages: Iterable[Chat], tag: str) -> list[Chat]:
    """The messages with call ids that no other conversation has."""
    found = []
    for message in messages:
        if "tool_call_id" in message:
            message = {**message, "tool_call_id": f"{tag}:{message['tool_call_id']}"}
        if message.get("tool_calls"):
            message = {**message, "tool_calls": [{**c, "id": f"{tag}:{c['id']}"} for c in message["tool_calls"]]}
        found.append(message)
    return found
