"""One session on the desk: opened, a fold of it planned, its summary written, and put down; for every face alike."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING

from foldline._config import Settings, Summaries, read_settings
from foldline._desk.overheads import usual
from foldline._desk.plan import FoldPlan
from foldline._engine.driving import run
from foldline._engine.folding import folding
from foldline._engine.steps import MANUAL_SHARE, layers, steps_by_hand
from foldline._errors import SessionError
from foldline._facts.speech import project_rules
from foldline._fold import Occasion, Trigger, reckoned
from foldline._messages import Message, replace
from foldline._models import Model, keeps_reasoning
from foldline._models import model as model_named
from foldline._policy import Budget, Fill, Mark, Policy, budget_for, reserving
from foldline._sessions.asking import session_that_asks
from foldline._sessions.busy import WAY_OUT, opened_elsewhere, refuse_busy
from foldline._sessions.file import SessionFile
from foldline._sessions.finding import find_session
from foldline._sessions.hooked import stands, take_back
from foldline._sessions.opening import open_session
from foldline._sessions.source import parted
from foldline._tokens.meter import Count, Meter
from foldline._view import Brief, View
from foldline._writers.extraction import extract

if TYPE_CHECKING:
    from foldline._writers.draft import Summarizer


UNSEALED = 8_000
"""Tokens of the page that a model is given in place of what it cannot read."""


class Desk:
    """A session with its meter, its view, its budget and the user's settings: what every command starts from."""

    def __init__(
        self,
        session: SessionFile,
        *,
        window: int | None = None,
        force: bool = False,
        environment: Mapping[str, str] = os.environ,
        chosen: str = "",
    ) -> None:
        self.session = session
        self.chosen = chosen
        """Which session it is, where that was left open by whoever opened it."""
        self.force = force
        """Whether it is written to although its agent has it open."""
        self.way_out = WAY_OUT
        """What is to be done about a session that its agent has open."""
        self._window = window or session.window or None
        self.model: Model = model_named(session.model)
        self._environment = environment
        session.context.keeps_reasoning = keeps_reasoning(self.model.name)
        session.context.usual = partial(usual, session.agent, environment=environment)

    @classmethod
    def open(
        cls,
        session: str | None = None,
        *,
        strict: bool = False,
        window: int | None = None,
        force: bool = False,
        environment: Mapping[str, str] = os.environ,
    ) -> Desk:
        """The session of that path or id, or that of the agent that asks: its newest in this directory."""
        here = os.getcwd()
        path = (
            find_session(session, cwd=here, environment=environment)
            if session
            else session_that_asks([here], environment=environment)
        )
        found = open_session(path, strict=strict)
        chosen = _chosen(session, found.path)
        return cls(found, window=window, force=force, environment=environment, chosen=chosen)

    @property
    def window_known(self) -> bool:
        """Whether the session, its model or the user tells the window, so that none is assumed."""
        return self.model.known or self._window is not None

    @cached_property
    def budget(self) -> Budget:
        """The window that there is, and what is held back of it."""
        return budget_for(self.model, self._window)

    @cached_property
    def settings(self) -> Settings:
        """The user's settings; raises `ConfigError` where one is impossible."""
        return read_settings(environment=self._environment, agent=self.session.agent)

    @cached_property
    def meter(self) -> Meter:
        """A meter that learned from the session's bills."""
        return self.session.meter(self.model.family)

    @cached_property
    def view(self) -> View:
        """What the model sees, sized by the meter."""
        return self.session.view(self.meter)

    @cached_property
    def size(self) -> Count:
        """The size of the next request, its overhead included."""
        return self.session.context.size(self.model.family)

    @property
    def tokens(self) -> int:
        """The size of the next request in tokens."""
        return self.size.tokens

    @property
    def read_only(self) -> str:
        """Why nothing can be written in place, and the way out; empty where it can be."""
        try:
            self.session.check_writable()
        except SessionError as refused:
            return str(refused)
        return ""

    def check_writable(self) -> str:
        """Raises `SessionError` where nothing can be written in place: before anyone is asked, or anything is shown.

        Sessions of some agents are read only; one that its agent has open is written to by `force` alone, and then the
        answer is what will happen.
        """
        self.session.check_writable()
        if not self.force:
            refuse_busy(self.session.path, self.way_out)
            return ""
        who = ", ".join(map(str, opened_elsewhere(self.session.path)))
        return who and (
            f"warning: its agent has it open (process {who}) and does not see what is written: it goes on from what it holds, "
            "and what it says next may leave this behind. Close it there before the next message, and resume the session."
        )

    def share_at(self, fill: Fill, policy: Policy) -> float:
        """The share of the window that a policy's fill is here."""
        if not isinstance(fill, Mark):
            return fill
        overhead = self.meter.overhead
        return (fill.of(reserving(self.budget, policy), overhead) + overhead) / self.budget.window

    def is_full(self, policy: Policy) -> bool:
        """Whether a hard layer of a policy begins here; always so where it has none."""
        hard = [step for step in layers(policy, reserving(self.budget, policy), self.meter.overhead) if step.layer.hard]
        return not hard or any(self.view.tokens > step.mark for step in hard)

    def asked(
        self,
        policy: str | None = None,
        focus: str = "",
        flags: Mapping[str, object] = {},
        *,
        into: str = "",
        dry: bool = False,
    ) -> FoldPlan:
        """The fold that a user asks for, by the policy of that name: the flags and the settings say who writes its summary.

        Raises `SessionError` at once where it could not be written in place, unless that is not meant: it is `dry`, or goes
        `into` a new session.
        """
        chosen = self.settings.to_policy(policy)
        writer = self.settings.writer(chosen, self.session.model, flags)
        warning = "" if dry or into else self.check_writable()
        return self.plan(chosen, focus, writer, into=into)._replace(warning=warning)

    def plan(
        self,
        policy: Policy,
        focus: str = "",
        writer: Summaries = Summaries(),  # noqa: B008  a value
        *,
        into: str = "",
        by: Summarizer = extract,
        trigger: Trigger = "manual",
    ) -> FoldPlan:
        """The fold that a command by hand would make, its summary by extraction unless by another; nothing is written.

        `trigger` says what it is made for, `writer` who is asked for the summary once it is to be written, and `into` is
        the format of a new session that takes the fold, empty where it is made in place.
        """
        view = self._carried_view() if into else self.view
        error, rounds = self.size.error, self.session.compactions
        context, held = self.session.context, None if into else self._cached()
        overhead = self.meter.overhead
        known, ratio = self._known(), self.meter.ratio
        occasion = Occasion(
            trigger,
            focus=focus,
            ratio=ratio,
            overhead=overhead,
            error=error,
            rounds=rounds,
            known=known,
            branch=context.branch,
        )
        steps = steps_by_hand(policy, view, reserving(self.budget, policy), overhead, self._left)
        after, fold = run(folding(view, steps, occasion), by)
        fold = reckoned(fold, view, after, self.model, overhead, held)
        return FoldPlan(self, policy, focus, writer, into, after, fold)

    @property
    def _left(self) -> int:
        """How many entries stand as the newest fold made them.

        Where its agent left more than a fold by hand would have, these end with its summary: what it kept is still to be told.
        """
        since, newest = self.session.context.since, self.session.newest_fold
        made = self.view.entries[:since]
        if newest is None or newest.ours or not newest.receipt.tokens_before:
            return since
        before = newest.receipt.tokens_before - self.meter.overhead
        if sum(entry.tokens for entry in made) <= MANUAL_SHARE * before:
            return since
        return max((at for at, entry in enumerate(made, 1) if entry.message.summary), default=since)

    def _known(self) -> dict[str, Message]:
        """A page of what a compaction stands for that only its provider can read, in place of that and of what it repeats."""
        sealed = self.session.context.sealed
        if not (sealed.ids and sealed.messages):
            return {}
        first, *others = sealed.ids
        page = Message("user", (extract(Brief(UNSEALED), sealed.messages),))
        return {first: page} | {id: Message("user", ()) for id in others}

    def _cached(self) -> int | None:
        """Tokens that the provider's prompt cache still holds of the session, by when its file was written to last."""
        age = time.time() - os.path.getmtime(parted(self.session.path)[0])
        return self.session.context.cached(self.model, age)

    def _carried_view(self) -> View:
        """The view as a new session takes it: nobody puts the project's instructions, or what was thought, in anew."""
        entries = (
            replace(e, pinned=True) if e.message.role == "user" and project_rules(e.message.text) else e
            for e in self.view.entries
        )
        return replace(self.view, entries=tuple(entries), bound=self.model.binds_thinking)

    @property
    def stands_beside(self) -> bool:
        """Whether a fold stands in the session that foldline keeps, and its agent's log does not."""
        return stands(self.session.agent, self.session.id)

    @property
    def not_ours(self) -> str:
        """That an undo would take back a compaction of the agent's own, in words; empty where it would not."""
        newest = None if self.stands_beside else self.session.newest_fold
        if newest is None or newest.ours:
            return ""
        return f"the newest fold, {newest.id}, is a compaction of {self.session.agent}'s own"

    def undo(self) -> str | None:
        """Takes back the newest fold and answers its id, or None where none stands."""
        if self.stands_beside:
            return take_back(self.session.agent, self.session.id)
        self.check_writable()
        return self.session.undo()


def _chosen(named: str | None, path: str) -> str:
    """A session's path where none was named, or a file of several; else empty."""
    if named is None:
        return path
    several = os.path.exists(named) and parted(path)[1]
    return f"{path}, the newest of several in this file; #1 names its first" if several else ""
