"""Who writes the summary of a fold by hand, as the settings say, and what it means that no model did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline._config import Summaries
from foldline._desk.receipts import spent
from foldline._errors import SummaryFailed
from foldline._fold import Receipt
from foldline._messages import Opaque
from foldline._view import View
from foldline._writers import EXTRACT

if TYPE_CHECKING:
    from foldline._writers.draft import Summarizer


def why_not_native(view: View, settings: Summaries, into: str) -> str:
    """What keeps the compaction that a model's provider offers itself from being asked for; empty where nothing does."""
    from foldline._writers.calling import Endpoint, spelled
    from foldline._writers.native import offered

    offer = offered(spelled(Endpoint(settings.model, settings.base_url)))
    if offer is None:
        return f"{settings.model} offers none"
    if into != offer.format:
        return f"only messages in the format {offer.format} can hold it"
    talk = (message for message in view.messages if message.role != "system" and not message.summary)
    return "" if all(message.format == into for message in talk) else "the session's messages are in another format"


def native(view: View, settings: Summaries, fallback: Summarizer) -> Summarizer:
    """The compaction of the model's provider, which is told the system prompt and the tools that the session shows."""
    from foldline._writers.native import NativeSummarizer

    system = [message for message in view.messages if message.role == "system"]
    lists = (part.source for message in system for part in message.parts if isinstance(part, Opaque))
    return NativeSummarizer(
        settings.model,
        base_url=settings.base_url,
        system="\n\n".join(message.text for message in system if message.text) or None,
        tools=[tool for tools in lists if isinstance(tools, list) for tool in tools],
        instructions=settings.instructions,
        timeout=settings.timeout,
        retries=settings.retries,
        fallback=fallback,
    )


def why_extracted(receipt: Receipt, settings: Summaries) -> str:
    """Why extraction took a model's place, and what was spent on that; empty where it did not.

    Raises `SummaryFailed` where the settings do not allow it: then such a fold is not to be written.
    """
    if not receipt.failures:
        return ""
    models = [name for name in (settings.model, *settings.fallbacks) if name != EXTRACT]
    why = f"no summary by {', '.join(models)}: {'; '.join(receipt.failures)}"
    why += f"; spent on it: {spent(receipt)}" if receipt.models else ""
    if EXTRACT not in settings.fallbacks:
        raise SummaryFailed(f"{why}; nothing was written (the fallback {EXTRACT} would fold without a model)")
    return f"{why}; extraction took its place"
