"""pydantic-ai-harness: `TieredCompaction(tiers=[Folding()], target_fraction=0.8)`."""

from __future__ import annotations

from copy import copy
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.messages import ModelMessage

from foldline.integrations._conversations import Conversations
from foldline.integrations._shapes.pydantic_ai import FORMAT, Requests


class Folding:
    """A strategy of the harness: a tier, a fallback, or what `compact_now` is given; the harness says when.

    It serves any number of conversations, and goes on from what it folded in them. `model` is for a model that foldline should
    take the agent's for, and `options` are those of `Compactor`.
    """

    def __init__(self, model: str = "", **options: Any) -> None:
        self._talks = Conversations(model, {"format": FORMAT, **options})
        self._focus = ""

    def with_focus(self, focus: str) -> Folding:
        """The same for the same conversations, which keeps what a focus asks for."""
        focused = copy(self)
        focused._focus = focus
        return focused

    async def compact(self, messages: list[ModelMessage], ctx: RunContext[Any]) -> list[ModelMessage]:
        """The messages folded, whatever the fill; what was folded just now stays as it is."""
        key = ctx.conversation_id or ctx.run_id or ""
        compactor, requests = self._talks.compactor(key, str(getattr(ctx.model, "model_name", ""))), Requests()
        return requests.together(await compactor.afold(requests.apart(messages), focus=self._focus))
