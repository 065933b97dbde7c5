"""A fold that is planned and not written yet: what it would do, whose summary it waits for, and how it is put down."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from foldline._compactor.degradation import risk_after
from foldline._config import Summaries
from foldline._desk import receipts
from foldline._economics import price
from foldline._errors import SummaryFailed
from foldline._fold import Fold
from foldline._messages import Opaque, Usage
from foldline._models import model as model_named
from foldline._policy import Policy
from foldline._view import View
from foldline._writers import EXTRACT

if TYPE_CHECKING:
    from foldline._desk.desk import Desk
    from foldline._handoff.new_session import NewSession
    from foldline._writers.draft import Summarizer


class FoldPlan(NamedTuple):
    """A fold that is not written yet: the view as it would be, and who writes its summary.

    It is true where there is something to fold. Until a model was asked the summary is by extraction.
    """

    desk: Desk
    policy: Policy
    focus: str
    writer: Summaries
    into: str
    after: View
    fold: Fold
    warning: str = ""
    """What will happen once it is written; empty where nothing is to be feared."""

    def __bool__(self) -> bool:
        return bool(self.fold.edits)

    @property
    def summary(self) -> str:
        """The text that it would install; empty where it installs none."""
        return next((m.summary.text for m in self.after.messages if m.summary), "")

    @property
    def over(self) -> int:
        """By how many tokens the next request would be over the window even so; 0 where it fits."""
        return max(0, self.after.tokens + self.desk.meter.overhead - self.desk.budget.window)

    @property
    def writes(self) -> bool:
        """Whether there is anything to write: a fold or, as a new session, messages that fit as they are."""
        return bool(self or (self.into and self.after.entries and not self.over))

    @property
    def in_the_way(self) -> str:
        """What keeps the session over its window even so, in words; empty where it fits."""
        return receipts.in_the_way(self.after, self.desk.meter.overhead, self.desk.budget.window)

    @property
    def figures(self) -> list[tuple[str, str]]:
        """What it frees, keeps, loses and costs: each figure with its label."""
        receipt = self.fold.receipt
        quote = self.quote or 0.0 if self.asks_model and not receipt.models else 0.0
        return receipts.figures(receipt, len(self.desk.view.entries), self.policy.automatic.warn_at, quote)

    @property
    def advice(self) -> list[str]:
        """What is advised after so many compactions."""
        risk = risk_after(self.fold.receipt, self.policy.automatic.warn_at) if self else None
        return receipts.fresh_start(risk) if risk else []

    @property
    def notes(self) -> list[str]:
        """What is still in the way, and what is advised."""
        return [*(f"✗ {why}" for why in (self.in_the_way,) if why), *self.advice]

    @property
    def asks_model(self) -> bool:
        """Whether somebody else is to write the summary."""
        return self.writer.model != EXTRACT

    @property
    def quote(self) -> float | None:
        """What the model that is named will cost in US dollars for the summary, about; None where no price is known."""
        entries = self.desk.view.entries
        told = sum(e.tokens for e in entries if e.id in {id for edit in self.fold.edits for id in edit.drop})
        written = sum(e.tokens for e in self.after.entries if e.message.summary)
        return price(model_named(self.writer.model), Usage(told, written))

    @property
    def why_not_native(self) -> str:
        """What keeps the compaction that a model's provider offers itself from being asked for; empty where nothing does."""
        from foldline._writers.calling import Endpoint, spelled
        from foldline._writers.native import offered

        offer = offered(spelled(Endpoint(self.writer.model, self.writer.base_url)))
        if offer is None:
            return f"{self.writer.model} offers none"
        if self.into != offer.format:
            return f"only messages in the format {offer.format} can hold it"
        messages = self.desk.view.messages
        kept = all(m.format == self.into for m in messages if m.role != "system" and not m.summary)
        return "" if kept else "the session's messages are in another format"

    def summarized(self) -> FoldPlan:
        """The plan with its summary by the models that its writer names, or by extraction where none of them wrote one.

        Raises `SessionError` before any is asked where the session is read only.
        """
        if not self.into:
            self.desk.session.check_writable()
        if not self.asks_model:
            return self
        summarizer = self.writer.to_summarizer()
        if self.writer.native and not self.why_not_native:
            summarizer = self._native(summarizer)
        trigger = self.fold.trigger
        return self.desk.plan(self.policy, self.focus, self.writer, into=self.into, by=summarizer, trigger=trigger)

    def _native(self, fallback: Summarizer) -> Summarizer:
        """The compaction of the model's provider, which is told the system prompt and the tools that the session shows."""
        from foldline._writers.native import NativeSummarizer

        writer = self.writer
        system = [message for message in self.desk.view.messages if message.role == "system"]
        lists = (part.source for message in system for part in message.parts if isinstance(part, Opaque))
        return NativeSummarizer(
            writer.model,
            base_url=writer.base_url,
            system="\n\n".join(message.text for message in system if message.text) or None,
            tools=[tool for tools in lists if isinstance(tools, list) for tool in tools],
            instructions=writer.instructions,
            timeout=writer.timeout,
            retries=writer.retries,
            fallback=fallback,
        )

    def why_extracted(self) -> str:
        """Why extraction took a model's place, and what was spent on that; empty where it did not.

        Raises `SummaryFailed` where the writer does not allow it: then such a fold is not to be written.
        """
        receipt, writer = self.fold.receipt, self.writer
        if not receipt.failures:
            return ""
        models = [name for name in (writer.model, *writer.fallbacks) if name != EXTRACT]
        why = f"no summary by {', '.join(models)}: {'; '.join(receipt.failures)}"
        why += f"; spent on it: {receipts.spent(receipt)}" if receipt.models else ""
        if EXTRACT not in writer.fallbacks:
            raise SummaryFailed(f"{why}; nothing was written (the fallback {EXTRACT} would fold without a model)")
        return f"{why}; extraction took its place"

    def carried_out(self) -> FoldPlan:
        """The plan as it was written in place, its summary by whom it names.

        Raises `SessionError` where nothing can be written, and `SummaryFailed` where no model wrote a summary and
        extraction is not among the fallbacks; then nothing is.
        """
        self.desk.check_writable()
        made = self.summarized()
        made.why_extracted()
        made.write()
        return made

    def write(self, path: str | None = None) -> NewSession | None:
        """Folds the session in place or, where the fold goes `into` a format, writes it as a new one of this directory.

        Then the old one is not touched. Raises `SessionError` where nothing can be written, and then all is as it was.
        """
        session = self.desk.session
        if not self.into:
            session.fold(self.desk.view, self.after, self.fold, self.desk.meter)
            return None
        from foldline._handoff.new_session import write_new

        return write_new(
            self.after.messages,
            self.into,
            path,
            cwd=os.getcwd(),
            model=session.model,
            agent=session.agent,
            parent=session.path,
            tokens_before=self.fold.receipt.tokens_before,
        )
