"""The folds of one conversation: which is due and who writes it, and what is put in place once it is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from foldline._compactor.account import Billed
from foldline._compactor.background import Begun, Prepared
from foldline._compactor.degradation import risk_after
from foldline._compactor.events import FoldDue, Folded, SummaryFellBack, Telling, Verdict
from foldline._compactor.fullness import Fill
from foldline._compactor.history import History
from foldline._compactor.logged import last_written, log_fold, log_stages, shows
from foldline._compactor.paid import paid_once
from foldline._compactor.within import fold_within, fuller, left_for_newest
from foldline._compactor.writer import Writer
from foldline._economics import weighed
from foldline._engine.driving import Folding, run
from foldline._engine.steps import Step, step_discarding, steps_by_hand, steps_for, steps_within
from foldline._errors import CannotFit, SessionError
from foldline._fold import Fold, Occasion, Trigger, automatic_folds, reckoned, reset_between
from foldline._messages import Summary
from foldline._policy import Layer
from foldline._strategies.stages import drop_superseded
from foldline._view import View
from foldline._writers.extraction import extract

if TYPE_CHECKING:
    from foldline._sessions.file import SessionFile


class Folds:
    """Says which fold of a history is to be made, and installs what came of it."""

    def __init__(
        self,
        fill: Fill,
        writer: Writer,
        tells: Telling,
        session: SessionFile | None,
        before: Callable[[FoldDue], Verdict | None] | None,
        *,
        ahead: float,
        grace: float,
    ) -> None:
        self.fill = fill
        self.policy = fill.policy
        self.writer = writer
        self.prepared: Prepared | None = None
        """The fold that is made while the agent works, from a share of the window below its mark on."""
        self._ahead = ahead
        self._grace = grace
        self._history = fill.history
        self._account = fill.account
        self._tells = tells
        self._session = session
        self._before = tells.guarded(before, "before_fold", otherwise=None) if before else None

    def go_on(self) -> None:
        """Goes on from what the session tells: its stages, the bills for what it shows, and what its newest fold left."""
        if self._session is None:
            return
        context, meter = self._session.context, self._account.meter
        self._history.follow(context.course)
        taught = self._session.meter(meter.family)
        if taught.billed or context.learned:
            meter.go_on_from(taught)
        if context.bills:
            self._account.billed = Billed(context.bills[-1], last_written(self._session), len(context.bills))
        if isinstance(left := context.receipt.get("tokens_after"), int):
            self.fill.folded(left - meter.overhead, context.since, asked=bool(context.receipt.get("asked")))

    # -- which fold is to be made ----------------------------------------------------------------------------------

    def due(self) -> Begun | None:
        """The fold that the fill asks for, or None; one that is being prepared goes before it."""
        if self.prepared is not None or not self._full() or not self._paid() or (verdict := self._asked()).veto:
            return None
        return self.begun(self._by_policy(focus=verdict.instructions), verdict)._replace(announce=self._announce)

    def _paid(self) -> bool:
        """Whether the fold that is due is one that need not wait, or has waited until it paid."""
        if not self.fill.waits():
            return True
        from foldline._engine.folding import reaching

        before, account = self._history.view(), self._account
        found = run(reaching(before, self._steps()), extract)
        if not found.edits:
            return True
        reset = reset_between(before, found.view, weighed(account.model), account.meter.overhead, account.cached() or 0)
        return reset is None or self.fill.has_paid(reset)

    def reactive(self) -> Begun | None:
        """The fold that a reply asks for which was cut off, or None where the fill asks for none."""
        if not self._full() or (verdict := self._asked()).veto:
            return None
        self.drop_prepared()
        folding = self._by_policy([step_discarding()], verdict.instructions)
        return self.begun(folding, verdict)._replace(announce=self._announce)

    @property
    def worth_it(self) -> bool:
        """Whether the fill asks for a fold, and something can be folded."""
        if not self._full() or not self._paid():
            return False
        try:
            return bool(run(self._by_policy(), extract)[1])
        except CannotFit:
            return True

    def _by_policy(self, first: Sequence[Step] = (), focus: str = "") -> Folding:
        """The fold that the policy makes of a full window, behind steps that go first."""
        steps = [*first, *self._steps()]
        return self._folding(self._history, steps, "threshold", limit=self.fill.limit, focus=focus)

    def _steps(self) -> list[Step]:
        """What the policy does of a full window."""
        budget = self.fill.near_caps(self._account.budget.less(self._history.count.error))
        return steps_for(self.policy, budget, self._account.meter.overhead, self.automatic)

    def wanted(self) -> Prepared | None:
        """The prepared fold to swap in now: it is waited for a little at its mark, once, and at the limit until it is there."""
        prepared = self.prepared
        if prepared is None or not self._full() or self.fill.waits():
            return None
        must = self.fill.must()
        prepared.patience = None if must else self._grace
        return prepared if must or not prepared.late else None

    def coming(self) -> Begun | None:
        """The fold to prepare while the agent works, or None where it is too early, or where one is being prepared."""
        if not self._ahead or not self.policy.automatic.enabled or self.prepared is not None:
            return None
        steps = self.fill.coming(self._ahead)
        if not steps or self.writer.extracts or self.policy.automatic.spent(self.automatic):
            return None
        verdict = self._asked()
        folding = self._folding(self._history, steps, "threshold", focus=verdict.instructions)
        return None if verdict.veto else self.begun(folding, verdict)

    def by_hand(self, history: History, focus: str) -> Folding:
        """The fold that a user asks for, of the history or of a copy of it."""
        history.refresh()
        view = history.view()
        overhead = self._account.meter.overhead
        steps = steps_by_hand(self.policy, view, self._account.budget, overhead, history.since(view))
        return self._folding(history, steps, "manual", focus=focus)

    def asked_for(self, focus: str) -> Begun | None:
        """The fold of the history that a user asks for; None where the host does not let it be made."""
        if (verdict := self._asked()).veto:
            return None
        focus = "\n".join(filter(None, (focus, verdict.instructions)))
        return self.begun(self.by_hand(self._history, focus), verdict)

    def begun(self, folding: Folding, verdict: Verdict) -> Begun:
        """A fold of the history, and who writes its summaries."""
        if verdict.summary:
            return Begun(folding, lambda *_: Summary(verdict.summary), self.writer.seconds, ours=False)
        return Begun(folding, self.writer.next(self._history, self._account), self.writer.seconds)

    def paying_once(self, begun: Begun, turns: AbstractContextManager[None]) -> Folding:
        """The fold that was begun, whose drafts are noted in the session that shows the history, and taken from there."""
        asks = begun.ours and begun.summarizer is not extract
        if not asks or self._session is None or not shows(self._session, self._history.view()):
            return begun.fold
        return paid_once(begun.fold, self._session, turns, self._tells.skip)

    def _asked(self) -> Verdict:
        """What the host says to a fold that is about to be made."""
        if self._before is None:
            return Verdict()
        verdict = self._before(FoldDue(self._history.count.tokens, self._account.budget.window)) or Verdict()
        if not isinstance(verdict, Verdict):
            self._tells.skip(f"before_fold: a Verdict or None, not {verdict!r}")
            return Verdict()
        if verdict.veto:
            self._tells.put_off(f"before_fold: {verdict.veto}")
        return verdict

    def within(self, max_tokens: int, trigger: Trigger, media: Sequence[Step] = (), *, error: float) -> None:
        """Makes and installs a fold into at most so many tokens of the provider's, the overhead included."""

        def fold(most: int, newest: int = 0) -> tuple[View, Fold]:
            steps = [*steps_within(most, self.policy.wording, newest), *media]
            return run(self._folding(self._history, steps, trigger, limit=most), extract)

        def filled(most: int) -> tuple[View, Fold]:
            made = fold(most)
            newest = left_for_newest(self._history.view(), made[0], most)
            return fuller(made, lambda: fold(most, newest)) if newest else made

        self._free(*fold_within(max_tokens, self._account.meter, error, filled))

    @property
    def automatic(self) -> int:
        """How many automatic compactions what the model sees has been through, where there is a limit to them."""
        return automatic_folds(self._history.view().messages) if self.policy.automatic.most else 0

    def _full(self) -> bool:
        """Whether the fill asks for a fold, and one may be made without being asked for."""
        return self.policy.automatic.enabled and self.fill.full()

    def _folding(
        self, history: History, steps: Sequence[Step], trigger: Trigger, *, limit: int | None = None, focus: str = ""
    ) -> Folding:
        from foldline._engine.folding import folding  # with all that reads facts, which most steps need not

        history.refresh()
        meter = self._account.meter
        occasion = Occasion(
            trigger,
            limit,
            focus,
            meter.ratio,
            meter.overhead,
            history.count.error,
            on_fault=self._tells.skip,
            originals=dict(history.all()),
        )
        return folding(history.view(), steps, occasion)

    # -- what came of it -------------------------------------------------------------------------------------------

    def finish(self, made: tuple[View, Fold], *, extracted: bool) -> None:
        """Installs what was made, and takes down how its writer fared, where another than extraction was asked."""
        self.writer.fared(made[1].receipt, extracted=extracted)
        self._free(*made)

    def settle(self, prepared: Prepared, *, made: bool) -> None:
        """Puts a prepared fold in place, where what it folds still stands; one that can never be made is given up."""
        if not made and not prepared.late:
            self.drop_prepared()
        elif made:
            self.prepared = None
            if swapped := prepared.swapped(self._history.view(), self._account.meter.overhead):
                self._announce()
                self.finish(swapped, extracted=False)

    def undo(self) -> Fold:
        """Takes back the newest fold."""
        self.drop_prepared()
        fold = self._history.undo()
        self._account.void()
        self._log(lambda session: session.undo())
        self._log_stages_again()
        return fold

    def supersede(self) -> None:
        """Takes back what the model sees of stages that were reopened."""
        view = self._history.view()
        if any(True for _ in drop_superseded()(view, 0)):
            layer = Layer("stages", 1.0, 1.0, (drop_superseded(),), least=0.0)
            self._install(*run(self._folding(self._history, [Step(layer, -1, -1)], "manual"), extract))

    def _log_stages_again(self) -> None:
        """Writes the stages where the messages that they begin with stand under other ids now."""
        if self._history.course.stages:
            self.log_stages()

    def log_stages(self) -> None:
        """Writes the stages into the session that the compactor is bound to."""
        self._log(lambda session: log_stages(session, self._history.course, self._history.seen.places))

    def drop_prepared(self) -> None:
        """Gives up the fold that is being prepared."""
        if self.prepared is not None:
            self.prepared.drop()
        self.prepared = None

    def reckoned(self, before: View, after: View, fold: Fold) -> Fold:
        """A fold with what it does to the costs of the calls that follow, as the provider's cache stands now."""
        account = self._account
        return reckoned(fold, before, after, account.model, account.meter.overhead, account.cached())

    def _announce(self) -> None:
        if self.policy.automatic.notify:
            self._tells.tell(FoldDue(self._history.count.tokens, self._account.budget.window))

    def _free(self, view: View, fold: Fold) -> None:
        """Installs a fold that was made for the room that it frees: the history has to grow again before the next one."""
        self.fill.folded(view.tokens, len(self._history.messages), asked=bool(fold.receipt.asked))
        self._install(view, fold)

    def _install(self, view: View, fold: Fold) -> None:
        for reason in fold.receipt.failures:
            self._tells.tell(SummaryFellBack(reason))
        if not fold:
            return
        before = self._history.view()
        fold = self.reckoned(before, view, fold)
        self._history.install(view, fold)
        self._account.void()
        self._log(lambda session: log_fold(session, before, view, fold, self._account.meter))
        self._log_stages_again()
        self._tells.tell(Folded(fold))
        if risk := risk_after(fold.receipt, self.policy.automatic.warn_at):
            self._tells.tell(risk)

    def _log(self, write: Callable[[SessionFile], object]) -> None:
        """Writes into the session that the compactor is bound to; what is not written is told."""
        try:
            if self._session is not None:
                write(self._session)
        except SessionError as error:
            self._tells.skip(f"session: {error}")
