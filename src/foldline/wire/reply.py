"""A provider's whole reply, as a dict or as its library's object: the message in it, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foldline.errors import WireError
from foldline.messages import Message
from foldline.wire import anthropic, openai_chat


def read_reply(reply: Any) -> tuple[Message, str]:
    """The message of an OpenAI chat completion or an Anthropic message, and why it ended, in the provider's own word.

    Raises `WireError` where there is no message in it.
    """
    plain = reply if isinstance(reply, Mapping) else _dumped(reply)
    choices = plain.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
        message = choices[0].get("message")
        if isinstance(message, Mapping):
            return openai_chat.decode({"role": "assistant", **message}), str(choices[0].get("finish_reason") or "")
    elif "content" in plain:
        return anthropic.decode({"role": "assistant", "content": plain["content"]}), str(plain.get("stop_reason") or "")
    raise WireError(f"no message in a reply of type {type(reply).__name__}", format="reply")


def _dumped(reply: Any) -> Mapping[str, Any]:
    """An object of a provider's library as plain data; nothing where it is none."""
    dump = getattr(reply, "model_dump", None)
    plain = dump(mode="json") if callable(dump) else None
    return plain if isinstance(plain, Mapping) else {}
