"""A provider's whole reply, as a dict or as its library's object: the message in it, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foldline.errors import WireError
from foldline.messages import Message
from foldline.wire import anthropic, gemini, openai_chat, openai_responses


def read_reply(reply: Any) -> tuple[Message, str]:
    """The message of a reply of any of the wire formats, and why it ended, in the provider's own word.

    Raises `WireError` where there is no message in it.
    """
    plain = reply if isinstance(reply, Mapping) else _dumped(reply)
    choices = plain.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
        message = choices[0].get("message")
        if isinstance(message, Mapping):
            return openai_chat.decode({"role": "assistant", **message}), str(choices[0].get("finish_reason") or "")
    elif isinstance(output := plain.get("output"), list):
        return _together(output), str(_at(plain, "incomplete_details", "reason") or plain.get("status") or "")
    elif isinstance(content := _at(plain, "candidates", 0, "content"), Mapping):
        end = _at(plain, "candidates", 0, "finishReason") or _at(plain, "candidates", 0, "finish_reason")
        return gemini.decode({**content, "role": "model"}), str(end or "")
    elif "content" in plain:
        return anthropic.decode({"role": "assistant", "content": plain["content"]}), str(plain.get("stop_reason") or "")
    raise WireError(f"no message in a reply of type {type(reply).__name__}", format="reply")


def _together(output: list[Any]) -> Message:
    """The items of a reply of OpenAI's responses as one message."""
    parts = (part for item in output for part in openai_responses.decode(item).parts)
    return Message("assistant", tuple(parts), format=openai_responses.NAME)


def _at(value: Any, *path: Any) -> Any:
    """What stands at a path of keys and places, or None where it leads nowhere."""
    for step in path:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and len(value) > step else None
        else:
            value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _dumped(reply: Any) -> Mapping[str, Any]:
    """An object of a provider's library as plain data; nothing where it is none."""
    dump = getattr(reply, "model_dump", None)
    plain = dump(mode="json") if callable(dump) else None
    return plain if isinstance(plain, Mapping) else {}
