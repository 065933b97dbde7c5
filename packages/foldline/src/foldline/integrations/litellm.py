"""LiteLLM: `folding = Folding()`, and `folding.completion(…)` for `litellm.completion(…)`; or `litellm.callbacks = [folding]`."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

import litellm
from litellm.integrations.custom_logger import CustomLogger

from foldline import Compactor
from foldline.integrations._asking import Asking
from foldline.integrations._beginnings import remember
from foldline.integrations._conversations import Conversations

CHAT = "openai-chat"

HISTORIES = {
    **dict.fromkeys(("completion", "acompletion"), (CHAT, "messages", "")),
    **dict.fromkeys(("responses", "aresponses"), ("openai-responses", "input", "instructions")),
    "anthropic_messages": ("anthropic", "messages", "system"),
}
"""The kinds of calls that carry a history: its wire format, where it stands, and where the system text does."""


class Folding(CustomLogger):
    """Keeps the conversations of LiteLLM's callers inside the model's window; callers keep their whole histories.

    `completion` and `acompletion` stand in for LiteLLM's own: they fold, send again what was refused as too long, and take
    the bill. As one of `litellm.callbacks` it does so for every call of the router and of the proxy, and for all that is
    awaited: there LiteLLM sends again, where it is told to (`num_retries`, `context_window_fallbacks`). Conversations are
    told by `litellm_session_id`, or else by their beginnings. `states`, a mapping that may be a database's, keeps what
    foldline knows of them. `model` is for a model that foldline should take theirs for, and `options` are those of
    `Compactor`.
    """

    def __init__(self, model: str = "", *, states: MutableMapping[str, bytes] | None = None, **options: Any) -> None:
        super().__init__()
        formats = {format for format, *_ in HISTORIES.values()}
        self._talks = {format: Conversations(model, {"format": format, **options}, states) for format in formats}
        self._under_way: dict[str, tuple[Compactor, list[Any]]] = {}
        """Calls whose end is to be told; that of a stream never is."""

    def completion(self, **named: Any) -> Any:
        """`litellm.completion` with the messages folded."""
        return self._asking(named).ask(lambda sent: litellm.completion(**{**named, "messages": sent}))

    async def acompletion(self, **named: Any) -> Any:
        """`litellm.acompletion` with the messages folded."""
        return await self._asking(named).aask(lambda sent: litellm.acompletion(**{**named, "messages": sent}))

    def recall(self, arguments: str, *, messages: list[Any], session: str = "") -> str:
        """What a call of the recall tool is answered with in the conversation of these messages."""
        return self._talks[CHAT].recall(session or self._talks[CHAT].beginnings.key(messages), arguments)

    # -- as a callback of LiteLLM ----------------------------------------------------------------------------------

    async def async_pre_call_deployment_hook(self, kwargs: dict[str, Any], call_type: Any) -> dict[str, Any]:
        """Folds the history of a request, once: LiteLLM says some kinds of calls by others."""
        call = str(kwargs.get("litellm_call_id"))
        format, place, system = HISTORIES.get(getattr(call_type, "value", call_type), ("", "", ""))
        whole = kwargs.get(place)
        if isinstance(whole, list) and call not in self._under_way and not kwargs.get("previous_response_id"):
            talks = self._talks[format]
            key = _session(kwargs) or talks.beginnings.key(whole)
            compactor = talks.compactor(key, str(kwargs.get("model", "")))
            kwargs[place] = await compactor.afit(whole, system=kwargs.get(system))
            talks.folds(key)
            remember(self._under_way, call, (compactor, whole))
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

    def _asking(self, named: dict[str, Any]) -> Asking:
        return self._talks[CHAT].asking(named["messages"], named.get("model"), key=_session(named))


def _session(named: dict[str, Any]) -> str:
    return str(named.get("litellm_session_id") or "")
