"""Wraps a provider's client: what its user calls stays as it is, and the conversations stay within their windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from foldline._compactor.compactor import Compactor
from foldline._compactor.events import Event, Skipped, Telling
from foldline._errors import ConfigError
from foldline._wrapping.bedrock import BEDROCK
from foldline._wrapping.calls import Calls
from foldline._wrapping.conversations import Conversations
from foldline._wrapping.google import GOOGLE
from foldline._wrapping.litellm import LITELLM
from foldline._wrapping.stainless import ANTHROPIC, OPENAI

SDKS = (OPENAI, ANTHROPIC, GOOGLE, BEDROCK, LITELLM)
"""The libraries whose clients are wrapped."""

NOT_SHARED = ("format", "session", "system")
"""What is another for each conversation, or found out for it."""

Client = TypeVar("Client")


def wrap(
    client: Client,
    *,
    recall: bool = False,
    most: int = 1_000,
    on_event: Callable[[Event], None] | None = None,
    **settings: Any,
) -> Client:
    """A client as the one given, whose conversations are kept within the window of the model that each call names.

    Takes a client of OpenAI, Anthropic, Google GenAI or boto3's Bedrock runtime, synchronous or asynchronous, or the
    module `litellm`. Its calls take and return what they did; the client given stays as it was. With `recall`, the model
    may look up what was folded: the tool is added to the request and answered here. So many conversations are remembered
    as `most` says, with their histories. `settings` and `on_event` are those of `Compactor`, the same for each.

    Raises `ConfigError` for another kind of client, and for settings that cannot be used. Calls raise what they did, and
    `CannotFit`.
    """
    sdk = next((each for each in SDKS if each.recognizes(client)), None)
    if sdk is None:
        known = ", ".join(each.name for each in SDKS)
        raise ConfigError(f"no client of {known}, but a {type(client).__qualname__}", path="wrap", key="client")
    if found := [name for name in NOT_SHARED if name in settings]:
        raise ConfigError("one for all conversations cannot be", path="wrap", key=found[0])

    def make(model: str, format: str) -> Compactor:
        return Compactor(model, format=format, on_event=on_event, **settings)

    make("", "")
    telling = Telling(on_event)

    def tell(reason: str) -> None:
        telling.tell(Skipped(reason))

    calls = Calls(Conversations(make, most), tell, recall=recall, reserve="reserve" not in settings)
    wrapped: Client = sdk.wrap(client, calls.through)
    return wrapped
