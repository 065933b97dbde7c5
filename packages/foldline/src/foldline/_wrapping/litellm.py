"""LiteLLM, whose calls are functions of the module: `litellm.completion` and `litellm.acompletion`."""

from __future__ import annotations

from types import ModuleType

from foldline._wrapping.sdk import Call, Sdk, Through, called, twin
from foldline._wrapping.stainless import CHAT

FUNCTIONS = {"completion": False, "acompletion": True}
"""The calls, and whether they are awaited."""


def _wrap(client: object, through: Through) -> object:
    read = called(CHAT, ("model", "messages"))
    return twin(
        client, {name: through(getattr(client, name), Call(read, awaited)) for name, awaited in FUNCTIONS.items()}
    )


LITELLM = Sdk(
    name="litellm",
    recognizes=lambda client: isinstance(client, ModuleType) and client.__name__ == "litellm",
    wrap=_wrap,
)
