"""Keeps a growing history inside its window: what an agent's author imports."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

from foldline import wire
from foldline.background import Prepared, in_task, in_thread
from foldline.economics import cached
from foldline.engine import RECOVERY_SHARE, Folding, announced, arun, folding, run
from foldline.errors import ConfigError, ProviderError
from foldline.events import Event, FoldDue, Folded, Rewound, SummaryFellBack
from foldline.fill import Fill
from foldline.fold import Fold, Trigger, automatic_folds
from foldline.guards import Breaker, Looping, looping_in
from foldline.history import History, Item
from foldline.messages import Message, Speaker, Usage
from foldline.models import Model
from foldline.models import model as model_named
from foldline.overflow import read as read_overflow
from foldline.page.extract import extract
from foldline.policy import DEFAULT, Policy, budget, budget_for, preset
from foldline.risk import Risk, risk_after
from foldline.steps import Step, caps, steps_by_hand, steps_for, steps_within
from foldline.tokens.meter import TEXT_ERROR, Count, Meter
from foldline.view import View
from foldline.within import fold_within
from foldline.writers.draft import Summarizer
from foldline.writers.shared import Conversation, SharedPrefix

if TYPE_CHECKING:
    from foldline.config import Settings


class Compactor:
    """Hands out a history that fits the model's window, and remembers what it folded away.

    Call `fit` with the whole history before each model call, and `observe` with the reply after it. Histories are
    lists of what the provider's library takes and hands out, dicts or objects, in the wire format `format` (one of
    `wire.FORMATS`; found out where it is not given), or lists of `Message`. They are never changed; replace a message
    rather than write into it.

    `window` and `reserve` are tokens; the window is the model's where it is not given. `overhead` is what the system
    prompt and the tool schemas take where they are not in the history; it is learned from `observe`. `policy` is one
    of your own or the name of one (`policy.PRESETS`). `pinned` says which messages no fold may touch, besides those that
    the policy pins: the system's.

    `speaker` says whose the words of a message are where the host knows better than its role does (`user`, `agent`, `tool`,
    `harness`, `peer`, `command` or `paste`; None leaves that to foldline): only the user's own words make tasks and rules.

    `ahead` is a share of the window: where it is given, the next summary is written while the agent works, from that
    much below its mark on. `ask` sends messages (dicts) as the agent itself does, with the same system prompt, tools and
    settings, and answers with the provider's reply: a summary may then be asked for on top of the conversation that the
    provider has cached, where that costs less than what `summarizer` would ask.

    `clock` gives seconds since 1970. `on_event` hears `FoldDue`, `Folded`, `SummaryFellBack`, `Rewound` and `Looping`,
    and `Risk` after each fold from the one on that the policy warns at.
    """

    def __init__(
        self,
        model: str | Model = "",
        *,
        window: int | None = None,
        reserve: int | None = None,
        overhead: int = 0,
        policy: Policy | str = DEFAULT.name,
        summarizer: Summarizer = extract,
        pinned: Callable[[Message], bool] | None = None,
        format: str = "",
        speaker: Callable[[Message], Speaker | None] | None = None,
        ahead: float = 0.0,
        ask: Callable[[list[Any]], Any] | None = None,
        clock: Callable[[], float] = time.time,
        on_event: Callable[[Event], None] | None = None,
    ) -> None:
        if not 0 <= ahead < 1:
            raise ConfigError(
                f"a share of the window, from 0 to less than 1, not {ahead}", path="Compactor", key="ahead"
            )
        self.model = model_named(model) if isinstance(model, str) else model
        self.budget = budget_for(self.model, window, reserve)
        self.policy = preset(policy) if isinstance(policy, str) else policy
        self.summarizer = summarizer
        self.meter = Meter(self.model.family, overhead=overhead)
        chosen = self.policy.pinned
        pins = chosen if pinned is None else lambda message: chosen(message) or pinned(message)
        self._history = History(self.meter, pins, bound=self.model.binds_thinking, format=format, speaker=speaker)
        self._fill = Fill(self._history, self.meter)
        self._emit = on_event or (lambda event: None)
        self._sent = 0
        self._ahead = ahead
        self._prepared: Prepared | None = None
        self._ask = ask
        self._billed: tuple[Usage, float] | None = None
        self._clock = clock
        self._breaker = Breaker()
        self._looping: Looping | None = None

    @classmethod
    def from_settings(cls, model: str | Model = "", settings: Settings | None = None, **rest: Any) -> Self:
        """A compactor as the user's settings say, which are read where none are given; `rest` goes before them.

        They name the policy, whether and how often it folds by itself, what it tells, and who writes the summaries.
        Where no model writes one, extraction does, so that the agent goes on. Raises `ConfigError` for a setting that is
        impossible, and for a model that cannot be called unless extraction is among its fallbacks.
        """
        from foldline.config import read_settings

        settings = settings or read_settings()
        rest.setdefault("policy", settings.to_policy())
        if "summarizer" not in rest:
            rest["summarizer"] = settings.summary.to_summarizer()
        return cls(model, **rest)

    @property
    def state(self) -> str:
        """What is wrong with the summarizer, and since when, and what to do after too many folds; empty where nothing is."""
        return "; ".join(filter(None, (self._breaker.state, self.policy.automatic.spent(self._made))))

    @property
    def preparing(self) -> bool:
        """Whether a summary is being written in the background, or waits to be swapped in."""
        return self._prepared is not None

    @property
    def folds(self) -> list[Fold]:
        """The folds that were made, oldest first."""
        return [fold for _, fold in self._history.folds]

    @property
    def count(self) -> Count:
        """How many tokens a request with the history of the last `fit` takes."""
        return self.meter.total(self._history.weight)

    def fit(self, messages: Sequence[Item]) -> list[Item]:
        """The history that the model should see now: the same messages, or fewer where the window fills.

        Where the policy's `automatic` is not enabled nothing is folded here, however full the window: a request that the
        provider refuses is for `recover`, and `fold` folds at any time. What was folded before stays so.

        Raises `CannotFit` where what may not be folded is over the limit by itself, and `WireError` for a message
        that cannot be read; either leaves everything as it was.
        """
        self._take(messages)
        if self._full() and (prepared := self._prepared) is not None:
            if prepared.wait():
                self._swap(prepared)
            else:
                self._drop_prepared()
        if fold := self._due():
            writer = self._writer
            self._finish(run(fold, writer), extracted=writer is extract)
        if fold := self._coming():
            writer = self._writer
            self._prepared = in_thread(lambda: run(fold, writer))
        return self._hand_out()

    async def afit(self, messages: Sequence[Item]) -> list[Item]:
        """The same as `fit`, with a summarizer that may be awaited."""
        self._take(messages)
        if self._full() and (prepared := self._prepared) is not None:
            await prepared.await_it()
            self._swap(prepared)
        if fold := self._due():
            writer = self._writer
            self._finish(await arun(fold, writer), extracted=writer is extract)
        if fold := self._coming():
            self._prepared = in_task(arun(fold, self._writer))
        return self._hand_out()

    def observe(self, reply: Any) -> None:
        """Takes what the provider billed for what the last `fit` handed out.

        `reply` is the provider's reply or its usage, as a dict or as an object of the provider's library; one that
        states no usage changes nothing.
        """
        usage = wire.read_usage(reply)
        if usage is not None and usage.prompt and self._sent and self._sent == len(self._history.seen):
            self.meter.learn(usage.prompt, self._history.weight)
            self._billed = usage, self._clock()

    def recover(self, error: BaseException | Any, messages: Sequence[Item]) -> list[Item]:
        """The history to send again, once, after the provider refused one as too long.

        The true limit is learned from the error where it states one, and no model is asked. An error that is no
        overflow is raised again.
        """
        found = read_overflow(error)
        if found is None:
            raise error if isinstance(error, BaseException) else ProviderError(str(error)[:500])
        if found.limit:
            window = min(self.budget.window, found.limit)
            self.budget = budget(window, min(self.budget.reserve, window // 5))
        if found.tokens and self._sent and self._sent == len(self._history.seen):
            self.meter.learn(found.tokens, self._history.weight)
        self._take(messages)
        most = round(min(self.budget.limit, self.count.tokens) * RECOVERY_SHARE)
        media: list[Step] = []
        if found.unit == "bytes" and (fewer := self._fill.fewer_bytes(self.budget, RECOVERY_SHARE)):
            most, media, self.budget = fewer.limit, caps(fewer), fewer
        self._install(*self._held(most, "overflow", media, error=0.0))
        return self._hand_out()

    def plan(self, messages: Sequence[Item], *, focus: str = "") -> Fold:
        """The fold that a user's own command would make now, with an extractive summary; nothing is changed.

        It is empty where a fold was made just now, and little has come since.
        """
        self._take(messages)
        _, fold = run(self._by_hand(focus), extract)
        return fold

    def fold(self, messages: Sequence[Item], *, focus: str = "") -> list[Item]:
        """Folds now, whatever the fill, keeping what `focus` asks for; what was folded just now stays as it is."""
        self._take(messages)
        writer = self._writer
        self._finish(run(self._by_hand(focus), writer), extracted=writer is extract)
        return self._hand_out()

    def fold_to(self, messages: Sequence[Item], max_tokens: int) -> list[Item]:
        """The history in at most `max_tokens`, the overhead included; raises `CannotFit` with what is in the way.

        They are counted by the model's tokenizer where the extra `count` and its vocabulary are installed; else they are
        estimated, and the estimate's own error is taken off.
        """
        self._take(messages)
        surely = self.count.tokens * (1 + self.count.error)
        self._install(*self._held(max_tokens, "manual", error=0.0 if surely <= max_tokens else TEXT_ERROR))
        return self._hand_out()

    def recall(self, id: str) -> Message | None:
        """The message of that id as it was before any fold, or the summary of that id, or None."""
        return self._history.find(id)

    def messages(self) -> Iterator[tuple[str, Message]]:
        """Every message of the history with its id, whatever was folded since."""
        return self._history.said()

    def undo(self) -> Fold | None:
        """Takes back the newest fold; `fit` may make another one when the window is still full."""
        if not self._history.folds:
            return None
        _, fold = self._history.folds.pop()
        self._drop_prepared()
        self._show(self._history.view())
        return fold

    def _take(self, messages: Sequence[Item]) -> None:
        stands = self._history.take(messages if isinstance(messages, list) else list(messages))
        if stands is not None:
            self.meter.forget()
            self._billed = None
            self._fill.rewound(stands)
            self._emit(Rewound(stands))
        self._watch()

    def _watch(self) -> None:
        """Tells once when the agent goes in circles since the last fold."""
        if not self._history.folds:
            return
        looping = looping_in(self._history.messages[self._history.folds[-1][0] :])
        if looping is not None and looping != self._looping:
            self._emit(looping)
        self._looping = looping or self._looping

    @property
    def _writer(self) -> Summarizer:
        """Who writes the next summary: extraction for as long as the breaker is open."""
        if self._breaker.open(self._clock()):
            return extract
        return SharedPrefix(self._ask, self.summarizer, self._conversation()) if self._ask else self.summarizer

    def _conversation(self) -> Conversation:
        """What the agent would send next, and what the provider's cache holds of it."""
        usage, at = self._billed or (Usage(), 0.0)
        held = cached(self.model, usage, self._clock() - at)
        messages = self._history.view().messages
        seen = tuple(self._history.seen)
        return Conversation(seen, tuple(messages), self.model, self.count.tokens, held, self.budget.limit)

    def _full(self) -> bool:
        """Whether the fill asks for a fold, and one may be made without being asked for."""
        return self.policy.automatic.enabled and self._fill.full(self.policy, self.budget)

    def _due(self) -> Folding | None:
        """The fold that the fill asks for, or None."""
        if not self._full():
            return None
        steps = steps_for(self.policy, self.budget.less(self.count.error), self.meter.overhead, self._made)
        fold = self._folding(steps, "threshold", limit=self.budget.limit - self.meter.overhead)
        return announced(fold, self._announce)

    @property
    def _made(self) -> int:
        """How many automatic compactions what the model sees has been through, where there is a limit to them."""
        return automatic_folds(self._history.view().messages) if self.policy.automatic.most else 0

    def _coming(self) -> Folding | None:
        """The fold to prepare while the agent works, or None where it is too early, or where one is being prepared."""
        if not self._ahead or not self.policy.automatic.enabled or self._prepared is not None:
            return None
        steps = self._fill.coming(self.policy, self.budget, self._ahead)
        if not steps or self._writer is extract or self.policy.automatic.spent(self._made):
            return None
        return self._folding(steps, "threshold")

    def _swap(self, prepared: Prepared) -> None:
        """Puts a prepared fold in place, where what it folds still stands."""
        self._prepared = None
        if made := prepared.swapped(self._history.view(), self.meter.overhead):
            self._announce()
            self._finish(made, extracted=False)

    def _announce(self) -> None:
        if self.policy.automatic.notify:
            self._emit(FoldDue(self.count.tokens, self.budget.window))

    def _drop_prepared(self) -> None:
        if self._prepared is not None:
            self._prepared.drop()
        self._prepared = None

    def _by_hand(self, focus: str) -> Folding:
        self._history.refresh()
        view = self._history.view()
        steps = steps_by_hand(self.policy, view, self.budget, self.meter.overhead, self._history.since(view))
        return self._folding(steps, "manual", focus=focus)

    def _held(
        self, max_tokens: int, trigger: Trigger, media: Sequence[Step] = (), *, error: float
    ) -> tuple[View, Fold]:
        """A fold into at most so many tokens of the provider's, the overhead included."""

        def fold(most: int) -> tuple[View, Fold]:
            return run(self._folding([*steps_within(most), *media], trigger, limit=most), extract)

        return fold_within(max_tokens, self.meter, error, fold)

    def _folding(
        self, steps: Sequence[Step], trigger: Trigger, *, limit: int | None = None, focus: str = ""
    ) -> Folding:
        self._history.refresh()
        return folding(
            self._history.view(),
            steps,
            trigger=trigger,
            limit=limit,
            focus=focus,
            ratio=self.meter.ratio,
            overhead=self.meter.overhead,
            error=self.count.error,
        )

    def _finish(self, made: tuple[View, Fold], *, extracted: bool) -> None:
        """Installs what was made, and takes down how its writer fared, where that was asked."""
        view, fold = made
        if fold.receipt.failures:
            self._breaker = self._breaker.failed("; ".join(fold.receipt.failures), self._clock())
        elif fold.receipt.asked and not extracted:
            self._breaker = Breaker()
        self._install(view, fold)

    def _install(self, view: View, fold: Fold) -> None:
        for reason in fold.receipt.failures:
            self._emit(SummaryFellBack(reason))
        self._fill.folded(view.tokens, asked=bool(fold.receipt.asked))
        if fold:
            self._history.folds.append((len(self._history.messages), fold))
            self._show(view)
            self._emit(Folded(fold))
            if risk := risk_after(fold.receipt, self.policy.automatic.warn_at):
                self._emit(risk)

    def _show(self, view: View) -> None:
        self._history.show(view)
        self.meter.forget()
        self._billed = None

    def _hand_out(self) -> list[Item]:
        self._sent = len(self._history.seen)
        return list(self._history.seen)


__all__ = ["Compactor", "Event", "FoldDue", "Folded", "Looping", "Rewound", "Risk", "SummaryFellBack"]
