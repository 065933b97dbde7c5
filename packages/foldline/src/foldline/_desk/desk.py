"""One session on the desk: how large it is, and what a fold of it would do."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property

from foldline._models import Model
from foldline._models import model as model_named
from foldline._policy import Budget, budget_for
from foldline._sessions.busy import refuse_busy
from foldline._sessions.file import SessionFile
from foldline._sessions.finding import find
from foldline._sessions.opening import open_session
from foldline._tokens.meter import Count, Meter
from foldline._view import View

WAY_OUT = "close it there first, or use --force"


class Desk:
    """A session with its meter, its view and its budget: what every command starts from."""

    def __init__(self, session: SessionFile, *, model: str = "", window: int | None = None) -> None:
        self.session = session
        self.model: Model = model_named(model or session.model)
        self.budget: Budget = budget_for(self.model, window or session.window or None)

    @classmethod
    def open(
        cls,
        session: str | None = None,
        *,
        cwd: str | None = None,
        strict: bool = False,
        window: int | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> Desk:
        """The session of that path or id, or the newest one of the directory `cwd`, which is this one unless named."""
        path = find(session, cwd=cwd or os.getcwd(), environment=environment)
        return cls(open_session(path, strict=strict), window=window)

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

    def check_writable(self, *, force: bool = False, way_out: str = WAY_OUT) -> None:
        """Raises `SessionError` where nothing can be written in place: before anyone is asked, or anything is shown.

        Sessions of some agents are read only; one that its agent has open is written to with `force` alone.
        """
        self.session.check_writable()
        if not force:
            refuse_busy(self.session.path, way_out)

    def undo(self, *, force: bool = False) -> str | None:
        """Takes back the newest fold and answers its id, or None where none stands."""
        self.check_writable(force=force)
        return self.session.undo()

    def over(self, view: View) -> int:
        """By how many tokens a request with a view of this session is over the window; 0 where it fits."""
        return max(0, view.tokens + self.meter.overhead - self.budget.window)

    def in_the_way(self, view: View) -> str:
        """What keeps a view over the window, in words; empty where it fits."""
        if not (over := self.over(view)):
            return ""
        system = sum(e.tokens for e in view.entries if e.message.role == "system")
        summary = sum(e.tokens for e in view.entries if e.message.summary)
        left = (
            (self.meter.overhead, "that every request carries beside its messages"),
            (system, "of system messages"),
            (summary, "of the summary"),
            (view.tokens - system - summary, "of messages that stay word for word"),
        )
        told = ", ".join(f"{tokens:,} {what}" for tokens, what in left if tokens)
        return f"Still {over:,} tokens over the window of {self.budget.window:,}. Left are {told}."
