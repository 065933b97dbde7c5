"""A fold by hand: thought out, its summary written, and put down, in the session or in a new one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from foldline._config import Summaries
from foldline._desk.desk import Desk
from foldline._desk.summaries import native, why_extracted, why_not_native
from foldline._engine.driving import run
from foldline._engine.folding import folding
from foldline._engine.steps import steps_by_hand
from foldline._fold import Fold, Occasion
from foldline._handoff.new_session import NewSession, write_new
from foldline._policy import Policy
from foldline._view import View
from foldline._writers import EXTRACT
from foldline._writers.extraction import extract

if TYPE_CHECKING:
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

    def __bool__(self) -> bool:
        return bool(self.fold)

    @property
    def summary(self) -> str:
        """The text that it would install; empty where it installs none."""
        return next((m.summary.text for m in self.after.messages if m.summary), "")

    @property
    def asks_model(self) -> bool:
        """Whether somebody else is to write the summary."""
        return self.writer.model != EXTRACT

    @property
    def why_not_native(self) -> str:
        """What keeps the provider's own compaction from being asked for; empty where nothing does."""
        return why_not_native(self.desk.view, self.writer, self.into)

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
            summarizer = native(self.desk.view, self.writer, summarizer)
        return self.summarized_by(summarizer)

    def summarized_by(self, summarizer: Summarizer) -> FoldPlan:
        """The plan with its summary by a summarizer."""
        after, fold = _folded(self.desk, self.policy, self.focus, summarizer)
        return self._replace(after=after, fold=fold)

    def why_extracted(self) -> str:
        """Why extraction took a model's place, and what was spent on that; empty where it did not.

        Raises `SummaryFailed` where the writer does not allow it: then such a fold is not to be written.
        """
        return why_extracted(self.fold.receipt, self.writer)

    def write(self) -> None:
        """Folds the session in place; raises `SessionError` where that cannot be, and then it is as it was."""
        self.desk.session.fold(self.desk.view, self.after, self.fold, self.desk.meter)

    def write_new(self, path: str | None, *, cwd: str = "") -> NewSession:
        """Writes the folded session as a new one in the format `into`; the old one is not touched."""
        session = self.desk.session
        return write_new(
            self.after.messages,
            self.into,
            path,
            cwd=cwd,
            model=session.model,
            agent=session.agent,
            parent=session.path,
            tokens_before=self.fold.receipt.tokens_before,
        )


def plan(desk: Desk, policy: Policy, focus: str = "", writer: Summaries | None = None, *, into: str = "") -> FoldPlan:
    """The fold that a command by hand would make, its summary by extraction; nothing is written.

    `writer` says who is asked for the summary once it is to be written, and `into` is the format of a new session that
    takes the fold, empty where it is made in place.
    """
    return FoldPlan(desk, policy, focus, writer or Summaries(), into, *_folded(desk, policy, focus, extract))


def _folded(desk: Desk, policy: Policy, focus: str, summarizer: Summarizer) -> tuple[View, Fold]:
    since = desk.session.context.since
    steps = steps_by_hand(policy, desk.view, desk.budget, desk.meter.overhead, since)
    occasion = Occasion(
        "manual",
        focus=focus,
        ratio=desk.meter.ratio,
        overhead=desk.meter.overhead,
        error=desk.size.error,
        rounds=desk.session.compactions,
    )
    return run(folding(desk.view, steps, occasion), summarizer)
