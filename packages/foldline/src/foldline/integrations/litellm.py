"""LiteLLM: `folding = Folding()`, and `folding.completion(…)` for `litellm.completion(…)`; or `litellm.callbacks = [folding]`."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

import litellm
from litellm.integrations.custom_logger import CustomLogger

from foldline import Compactor
from foldline.integrations._beginnings import Beginnings
from foldline.integrations._conversations import Conversations
from foldline.integrations._history import ITEMS

CHAT = "openai-chat"

HISTORIES = {
    **dict.fromkeys(("completion", "acompletion"), (CHAT, "messages", "")),
    **dict.fromkeys(("responses", "aresponses"), ("openai-responses", "input", "instructions")),
    "anthropic_messages": ("anthropic", "messages", "system"),
}
"""The kinds of calls that carry a history: its wire format, where it stands, and where the system text does."""

MOST = 1_000
"""Calls that are remembered until their end is told; that of a stream never is."""


class Folding(CustomLogger):
    """Keeps the conversations of LiteLLM's callers inside the model's window; callers keep their whole histories.

    `completion` and `acompletion` stand in for LiteLLM's own: they fold, send again what was refused as too long, and take
    the bill. As one of `litellm.callbacks` it does so for every call of the router and of the proxy, and for all that is
    awaited: there LiteLLM sends again, where it is told to (`num_retries`, `context_window_fallbacks`). Conversations are told by `litellm_session_id`, or else
    by their beginnings. `states`, a mapping that may be a database's, keeps what foldline knows of them. `model` is for a
    model that foldline should take theirs for, and `options` are those of `Compactor`.
    """

    def __init__(self, model: str = "", *, states: MutableMapping[str, bytes] | None = None, **options: Any) -> None:
        super().__init__()
        formats = {format for format, *_ in HISTORIES.values()}
        self._talks: dict[str, Conversations[Any]] = {
            format: Conversations(ITEMS, model, {"format": format, **options}, states) for format in formats
        }
        self._beginnings = Beginnings()
        self._under_way: dict[str, tuple[Compactor, list[Any]]] = {}

    def completion(self, **named: Any) -> Any:
        """`litellm.completion` with the messages folded."""
        whole = named["messages"]
        key, compactor = self._conversation(named, whole)
        sent = self._kept(key, compactor.fit(whole))
        try:
            reply = litellm.completion(**{**named, "messages": sent})
        except Exception as error:  # noqa: BLE001 - what is no overflow is raised again
            sent = self._kept(key, compactor.recover(error, whole))
            reply = litellm.completion(**{**named, "messages": sent})
        compactor.observe(reply)
        return reply

    async def acompletion(self, **named: Any) -> Any:
        """`litellm.acompletion` with the messages folded."""
        whole = named["messages"]
        key, compactor = self._conversation(named, whole)
        sent = self._kept(key, await compactor.afit(whole))
        try:
            reply = await litellm.acompletion(**{**named, "messages": sent})
        except Exception as error:  # noqa: BLE001 - what is no overflow is raised again
            sent = self._kept(key, compactor.recover(error, whole))
            reply = await litellm.acompletion(**{**named, "messages": sent})
        compactor.observe(reply)
        return reply

    def recall(self, arguments: str, *, messages: list[Any], session: str = "") -> str:
        """What a call of the recall tool is answered with in the conversation of these messages."""
        return self._talks[CHAT].recall(session or self._beginnings.key(messages), arguments)

    # -- as a callback of LiteLLM ----------------------------------------------------------------------------------

    async def async_pre_call_deployment_hook(self, kwargs: dict[str, Any], call_type: Any) -> dict[str, Any]:
        """Folds the history of a request, once: LiteLLM says some kinds of calls by others."""
        call = str(kwargs.get("litellm_call_id"))
        format, place, system = HISTORIES.get(getattr(call_type, "value", call_type), ("", "", ""))
        whole = kwargs.get(place)
        if isinstance(whole, list) and call not in self._under_way and not kwargs.get("previous_response_id"):
            key, compactor = self._conversation(kwargs, whole, format)
            kwargs[place] = self._kept(key, await compactor.afit(whole, system=kwargs.get(system)), format)
            self._under_way[call] = compactor, whole
            if len(self._under_way) > MOST:
                self._under_way.pop(next(iter(self._under_way)))
        return kwargs

    async def async_post_call_success_deployment_hook(self, request_data: Any, response: Any, call_type: Any) -> None:
        """Takes what the provider billed."""
        if sent := self._under_way.pop(str(request_data.get("litellm_call_id")), None):
            sent[0].observe(response)

    async def async_post_call_failure_deployment_hook(
        self, request_data: Any, exception: Any, call_type: Any, **rest: Any
    ) -> None:
        """Learns the limit from an overflow, and folds for the next attempt."""
        sent = self._under_way.pop(str(request_data.get("litellm_call_id")), None)
        if sent and isinstance(exception, litellm.exceptions.ContextWindowExceededError):
            sent[0].recover(exception, sent[1])

    # -- inside ----------------------------------------------------------------------------------------------------

    def _conversation(self, named: dict[str, Any], whole: list[Any], format: str = CHAT) -> tuple[str, Compactor]:
        key = str(named.get("litellm_session_id") or "") or self._beginnings.key(whole)
        return key, self._talks[format].history(key, str(named.get("model", ""))).compactor

    def _kept(self, key: str, sent: list[Any], format: str = CHAT) -> list[Any]:
        """What is sent, once the state is kept where a fold was made for it."""
        self._talks[format].folds(key)
        return sent
