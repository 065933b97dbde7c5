"""Keeps a growing history inside its window: what an agent's author imports."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

from foldline import _wires as wire
from foldline._compactor.background import Begun, Patience, Prepared, moved
from foldline._compactor.degradation import Risk, risk_after
from foldline._compactor.events import Event, FoldDue, Folded, Interleaved, Rewound, Skipped, SummaryFellBack
from foldline._compactor.fullness import Fill
from foldline._compactor.guards import Breaker, Left, Looping, Turns, looping_in
from foldline._compactor.history import History, Item, places_in
from foldline._compactor.logged import log_fold
from foldline._compactor.state import VERSION, State, decoded, encoded
from foldline._compactor.telling import Telling
from foldline._compactor.within import fold_within
from foldline._economics import cached
from foldline._engine import RECOVERY_SHARE, Folding, Waiting, adriven, announced, asking, driven, folding, run
from foldline._errors import ConfigError, ProviderError, SessionError
from foldline._fold import Fold, Trigger, automatic_folds
from foldline._messages import Message, Opaque, Speaker, Text, Usage, replace
from foldline._models import Model, warn_of_unknown
from foldline._models import model as model_named
from foldline._overflow import read as read_overflow
from foldline._page.extract import extract
from foldline._policies import DEFAULT, preset
from foldline._policy import LEAST_WINDOW, Policy, below, budget_for, narrowed
from foldline._steps import Step, caps, steps_by_hand, steps_for, steps_within
from foldline._tokens.meter import RATIO_RANGE, TEXT_ERROR, Count, Meter
from foldline._tokens.weigh import weigh
from foldline._view import View
from foldline._wires.ending import broke_off
from foldline._writers.draft import Summarizer
from foldline._writers.shared import Conversation, SharedPrefix

if TYPE_CHECKING:
    from foldline._config import Settings
    from foldline._sessions import SessionFile


PATIENCE = 300.0
"""Seconds that a summarizer may take for one summary unless told otherwise."""


GRACE = 10.0
"""Seconds that a summary which is being prepared is waited for at its mark, once, while the limit is far."""

REMINDERS = 3
"""Messages at the end that may be others in each call, and leave what was billed before them a bill."""

MOST_UNSEEN = 50_000
"""Tokens of tool schemas and a system text apart that a request may hold; a stated size beyond is no size of it."""


class Compactor:
    """Hands out a history that fits the model's window, and remembers what it folded away.

    Call `fit` with the whole history before each model call, and `observe` with the reply after it. Histories are
    lists of what the provider's library takes and hands out, dicts or objects, in the wire format `format` (one of
    `wire.FORMATS`; found out where it is not given), or lists of `Message`. They are never changed; replace a message
    rather than write into it. You may keep your whole history, or what `fit` handed out, and go on from there. System
    messages may change from call to call.

    One compactor is for one conversation (`Compactors` has one for each). Its methods may be called from several threads
    and tasks; each has an awaited twin with an `a` before its name where a summarizer may be waited for.

    `window` and `reserve` are tokens; the window is the model's where it is not given. `overhead` is what the system
    prompt and the tool schemas take where they are not in the history; it is learned from `observe`. `policy` is one
    of your own, the name of one (`foldline policy list` shows them), the path of its file, or `module:NAME`. `summarizer`
    writes the summaries: a function, a model's name, or that of a summarizer that a package offers. `pinned` says which
    messages no fold may touch, besides those that the policy pins: the system's.

    `speaker` says whose the words of a message are where the host knows better than its role does (`user`, `agent`, `tool`,
    `harness`, `peer`, `command` or `paste`; None leaves that to foldline): only the user's own words make tasks and rules.

    `ahead` is a share of the window: where it is given, the next summary is written while the agent works, from that
    much below its mark on. `ask` sends messages (dicts) as the agent itself does, with the same system prompt, tools and
    settings, and answers with the provider's reply: a summary may then be asked for on top of the conversation that the
    provider has cached, where that costs less than what `summarizer` would ask.

    `timeout` is the seconds that a summarizer may take for one summary, None where it may take for ever; then extraction
    takes its place. One that is prepared and not there at its mark is waited for `grace` seconds, and then not before the
    limit. `clock` gives seconds since 1970. `on_event` hears `FoldDue`, `Folded`, `SummaryFellBack`, `Rewound`,
    `Looping`, `Interleaved` and `Skipped`, and `Risk` after each fold from the one on that the policy warns at.

    Bound to a `session`, whose messages are what you give to `fit` (`session.context.messages`), each fold is written there,
    so that the same session opened again goes on from it.

    What a strategy, a listener or one of the predicates raises is told (`Skipped`, `state`) and goes no further.
    """

    def __init__(
        self,
        model: str | Model = "",
        *,
        window: int | None = None,
        reserve: int | None = None,
        overhead: int = 0,
        system: Any = None,
        policy: Policy | str = DEFAULT,
        summarizer: Summarizer | str = extract,
        pinned: Callable[[Message], bool] | None = None,
        format: str = "",
        speaker: Callable[[Message], Speaker | None] | None = None,
        ahead: float = 0.0,
        ask: Callable[[list[Any]], Any] | None = None,
        timeout: float | None = PATIENCE,
        grace: float = GRACE,
        session: SessionFile | None = None,
        clock: Callable[[], float] = time.time,
        on_event: Callable[[Event], None] | None = None,
    ) -> None:
        if not 0 <= ahead < 1:
            raise ConfigError(
                f"a share of the window, from 0 to less than 1, not {ahead}", path="Compactor", key="ahead"
            )
        self.model = model_named(model) if isinstance(model, str) else model
        if isinstance(model, str) and model and window is None:
            warn_of_unknown(self.model)
        self.budget = budget_for(self.model, window, reserve)
        self.policy = preset(policy) if isinstance(policy, str) else policy
        self.summarizer = _summarizer_named(summarizer) if isinstance(summarizer, str) else summarizer
        self.meter = Meter(self.model.family, overhead=overhead)
        self._tells = Telling(on_event)
        pins = self._tells.guarded(self.policy.pinned, "a policy's pins", otherwise=False)
        more = self._tells.guarded(pinned, "pinned", otherwise=False) if pinned else lambda message: False
        self._history = History(
            self.meter,
            lambda message: pins(message) or more(message),
            bound=self.model.binds_thinking,
            format=format,
            speaker=self._tells.guarded(speaker, "speaker", otherwise=None) if speaker else None,
        )
        self._fill = Fill(self._history, self.meter)
        self._turns = Turns()
        self._sent = -1
        self._ahead = ahead
        self._timeout = timeout
        self._grace = grace
        self._session = session
        self._prepared: Prepared | None = None
        self._ask = ask
        self._billed: tuple[Usage, float] | None = None
        self._accepted = 0
        self._clock = clock
        self._breaker = Breaker()
        self._looping: Looping | None = None
        self._left = Left()
        self._system: Any = None
        self._tell_system(system)

    @classmethod
    def from_settings(cls, model: str | Model = "", settings: Settings | None = None, **rest: Any) -> Self:
        """A compactor as the user's settings say, which are read where none are given; `rest` goes before them.

        They name the policy, whether and how often it folds by itself, what it tells, and who writes the summaries.
        Where no model writes one, extraction does, so that the agent goes on. Raises `ConfigError` for a setting that is
        impossible, and for a model that cannot be called unless extraction is among its fallbacks.
        """
        from foldline._config import read_settings

        settings = settings or read_settings()
        rest.setdefault("policy", settings.to_policy())
        if "summarizer" not in rest:
            rest["summarizer"] = settings.summary.to_summarizer()
        return cls(model, **rest)

    @property
    def state(self) -> str:
        """What is wrong with the summarizer, since when, and what to do after too many folds; what was skipped; else empty."""
        return "; ".join(
            filter(None, (self._breaker.state, self.policy.automatic.spent(self._automatic), *self._tells.wrong))
        )

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
        with self._turns:
            return self.meter.total(self._history.weight)

    # -- before and after a model call -----------------------------------------------------------------------------

    def fit(self, messages: Sequence[Item], *, system: Any = None) -> list[Item]:
        """The history that the model should see now: the same messages, or fewer where the window fills.

        `system` is the system text where it is sent apart and has changed. Where the policy's `automatic` is not enabled
        nothing is folded here, however full the window: a request that the provider refuses is for `recover`, and `fold`
        folds at any time. What was folded before stays so.

        Raises `CannotFit` where what may not be folded is over the limit by itself, and `WireError` for a message
        that cannot be read; either leaves everything as it was.
        """
        return driven(self._fitting(messages, system))

    async def afit(self, messages: Sequence[Item], *, system: Any = None) -> list[Item]:
        """The same as `fit`, while the event loop goes on; a summarizer may be awaited."""
        return await adriven(self._fitting(messages, system))

    def select(self, messages: Sequence[Item], *, system: Any = None) -> list[int | Item]:
        """What `fit` hands out, each of the messages by its place among them and what takes the place of others itself."""
        return places_in(messages, self.fit(messages, system=system))

    async def aselect(self, messages: Sequence[Item], *, system: Any = None) -> list[int | Item]:
        """The same as `select`, while the event loop goes on."""
        return places_in(messages, await self.afit(messages, system=system))

    def observe(self, reply: Any) -> None:
        """Takes what the provider billed for what the last `fit` handed out.

        `reply` is the provider's reply or its usage, as a dict or as an object of the provider's library; one that
        states no usage changes nothing, and neither does one that was aborted or failed, or a usage that cannot be true.
        """
        usage = None if broke_off(reply) else wire.read_usage(reply)
        with self._turns:
            if usage is None or not usage.prompt or self._sent != self._history.version:
                return
            if self.meter.learn(usage.prompt, self._history.weight):
                self._billed = usage, self._clock()
                self._accepted = max(self._accepted, usage.prompt)

    def recover(self, error: BaseException | Any, messages: Sequence[Item]) -> list[Item]:
        """The history to send again, once, after the provider refused one as too long.

        The true limit is learned from the error where it states one that can be true; else, or where what was sent keeps that
        by our count, the limit is below it: the next fold comes before. No model is asked. An error that is no overflow is
        raised again.
        """
        found = read_overflow(error)
        if found is None:
            raise error if isinstance(error, BaseException) else ProviderError(str(error)[:500])
        with self._turns:
            sent = self._sent == self._history.version
            size = self.count.tokens
            believed = not found.limit or found.limit >= max(LEAST_WINDOW, self._accepted)
            if believed and found.limit:
                self.budget = narrowed(self.budget, found.limit)
            if believed and sent and found.tokens and found.tokens <= RATIO_RANGE[1] * size + MOST_UNSEEN:
                self.meter.learn(found.tokens, self._history.weight)
            self._take(messages)
            size = size if sent else self.count.tokens
            told = believed and found.limit and (found.tokens or found.limit < size)
            if found.unit == "tokens" and not told:
                self.budget = below(self.budget, size, self._accepted)
            most = round(min(self.budget.limit, self.count.tokens) * RECOVERY_SHARE)
            media: list[Step] = []
            if found.unit == "bytes" and (fewer := self._fill.fewer_bytes(self.budget, RECOVERY_SHARE)):
                most, media, self.budget = fewer.limit, caps(fewer), fewer
            self._install(*self._held(most, "overflow", media, error=0.0))
            return self._hand_out()

    async def arecover(self, error: BaseException | Any, messages: Sequence[Item]) -> list[Item]:
        """The same as `recover`, which waits for nobody."""
        return self.recover(error, messages)

    # -- by hand ---------------------------------------------------------------------------------------------------

    def plan(self, messages: Sequence[Item], *, focus: str = "") -> Fold:
        """The fold that a user's own command would make now, with an extractive summary; nothing is changed.

        It is empty where a fold was made just now, and little has come since.
        """
        with self._turns:
            history = self._history.copy()
        history.take(list(messages))
        _, fold = run(self._by_hand(history, focus), extract)
        return fold

    def fold(self, messages: Sequence[Item], *, focus: str = "") -> list[Item]:
        """Folds now, whatever the fill, keeping what `focus` asks for; what was folded just now stays as it is."""
        return driven(self._folding_now(messages, focus))

    async def afold(self, messages: Sequence[Item], *, focus: str = "") -> list[Item]:
        """The same as `fold`, while the event loop goes on; a summarizer may be awaited."""
        return await adriven(self._folding_now(messages, focus))

    def fold_to(self, messages: Sequence[Item], max_tokens: int) -> list[Item]:
        """The history in at most `max_tokens`, the overhead included; raises `CannotFit` with what is in the way.

        They are counted by the model's tokenizer where the extra `count` and its vocabulary are installed; else they are
        estimated, and the estimate's own error is taken off.
        """
        with self._turns:
            self._take(messages)
            surely = self.count.tokens * (1 + self.count.error)
            self._install(*self._held(max_tokens, "manual", error=0.0 if surely <= max_tokens else TEXT_ERROR))
            return self._hand_out()

    async def afold_to(self, messages: Sequence[Item], max_tokens: int) -> list[Item]:
        """The same as `fold_to`, which waits for nobody."""
        return self.fold_to(messages, max_tokens)

    def undo(self) -> Fold | None:
        """Takes back the newest fold; `fit` may make another one when the window is still full."""
        with self._turns:
            if not self._history.folds:
                return None
            self._drop_prepared()
            fold = self._history.undo()
            self._forget_bill()
            self._log(lambda session: session.undo())
            return fold

    def recall(self, id: str) -> Message | None:
        """The message of that id as it was before any fold, or the summary of that id, or None."""
        with self._turns:
            return self._history.find(id)

    def messages(self) -> Iterator[tuple[str, Message]]:
        """Every message of the history with its id, whatever was folded since."""
        with self._turns:
            return iter(list(self._history.said()))

    # -- kept elsewhere --------------------------------------------------------------------------------------------

    def dump(self) -> bytes:
        """All that this compactor knows besides the messages: its folds, and what it learned of sizes and limits; as JSON.

        Loaded by another one, of the same model and policy, it hands out the same history. Of what later folds replaced it
        holds no stubs and no facts, and of a summary that is being written nothing.
        """
        with self._turns:
            history = self._history
            return encoded(
                State(
                    VERSION,
                    folds=tuple(history.folds_to_keep()),
                    severed=tuple(history.severed),
                    meter=self.meter.learned,
                    limits=(self.budget.window, self.budget.reserve, self.budget.max_input),
                    accepted=self._accepted,
                    fill=self._fill.marks,
                    breaker=self._breaker,
                )
            )

    def load(self, state: bytes | str) -> None:
        """Takes what another compactor dumped, in place of all that this one knew.

        Raises `StateError` for what is damaged or was dumped by a newer version; then nothing is changed.
        """
        told = decoded(state)
        with self._turns:
            self._drop_prepared()
            self._history.restart(told.folds, told.severed)
            self.meter.learned = told.meter
            window, reserve, most = told.limits
            if window <= self.budget.window:
                self.budget = replace(self.budget, window=window, reserve=reserve, max_input=most)
            self._accepted, self._breaker, self._fill.marks = told.accepted, told.breaker, told.fill
            self._billed, self._sent, self._looping = None, -1, None

    # -- inside ----------------------------------------------------------------------------------------------------

    def _fitting(self, messages: Sequence[Item], system: Any) -> Generator[Waiting, Any, list[Item]]:
        """The steps of `fit`; others may have their turn while something is waited for."""
        with self._turns:
            self._tell_system(system)
            self._take(messages)
            wanted, due, sent, version = self._wanted(), self._due(), self._hand_out(), self._history.version
        if wanted:
            messages = list(messages)
            made = yield wanted
            with self._turns:
                self._take_again(messages, version)
                self._settle(wanted.prepared, made)
                due, sent, version = self._due(), self._hand_out(), self._history.version
        if due:
            sent = yield from self._made(due, messages, version)
        with self._turns:
            coming = self._coming()
            self._history.release()
        if coming:
            self._prepared = yield coming
        return sent

    def _folding_now(self, messages: Sequence[Item], focus: str) -> Generator[Waiting, Any, list[Item]]:
        """The steps of `fold`."""
        with self._turns:
            self._take(messages)
            begun = Begun(self._by_hand(self._history, focus), self._writer, self._timeout)
            version = self._history.version
        return (yield from self._made(begun, messages, version))

    def _made(self, begun: Begun, messages: Sequence[Item], version: int) -> Generator[Waiting, Any, list[Item]]:
        """Makes a fold of that version of the history, installs it where it still stands when it is made, and hands out."""
        messages = list(messages)
        made: tuple[View, Fold] | None = yield from asking(*begun)
        with self._turns:
            if made and self._take_again(messages, version):
                made = moved(made[1], self._history.view(), self.meter.overhead, made[1].receipt.waited)
            if made:
                self._finish(made, extracted=begun.summarizer is extract)
            return self._hand_out()

    def _take_again(self, messages: Sequence[Item], version: int) -> bool:
        """Takes a history again where another came between, and says whether one did."""
        if self._history.version == version:
            return False
        self._take(messages)
        return True

    def _tell_system(self, system: Any) -> None:
        """Counts the system text that is sent apart."""
        if system is not None and system != self._system:
            self._system = system
            part = Text(system) if isinstance(system, str) else Opaque(system)
            self.meter.apart = weigh(Message("system", (part,)), self.meter.family) if system else 0

    def _take(self, messages: Sequence[Item]) -> None:
        items = messages if isinstance(messages, list) else list(messages)
        before = self._history.known
        stands = self._history.take(items)
        if stands is not None:
            if len(before) - stands > REMINDERS:
                self._forget_bill()
            self._fill.rewound(stands)
            self._tells.tell(Rewound(stands))
            if self._left.returned(before, items, stands):
                self._tells.tell(Interleaved())
        self._watch()

    def _watch(self) -> None:
        """Tells once when the agent goes in circles since the last fold."""
        if not self._history.folds:
            return
        looping = looping_in(self._history.messages[self._history.folds[-1][0] :])
        if looping is not None and looping != self._looping:
            self._tells.tell(looping)
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

    def _wanted(self) -> Patience | None:
        """The prepared fold that is to be swapped in now: waited for a little at its mark, and at the limit until it is there."""
        if self._prepared is None or not self._full():
            return None
        must = self._fill.must(self.policy, self.budget)
        return Patience(self._prepared, None if must else self._grace) if must or not self._prepared.late else None

    def _due(self) -> Begun | None:
        """The fold that the fill asks for, or None; one that is being prepared goes before it."""
        if self._prepared is not None or not self._full():
            return None
        steps = steps_for(self.policy, self.budget.less(self.count.error), self.meter.overhead, self._automatic)
        limit = self.budget.limit - self.meter.overhead
        fold = announced(self._folding(self._history, steps, "threshold", limit=limit), self._announce)
        return Begun(fold, self._writer, self._timeout)

    @property
    def _automatic(self) -> int:
        """How many automatic compactions what the model sees has been through, where there is a limit to them."""
        return automatic_folds(self._history.view().messages) if self.policy.automatic.most else 0

    def _coming(self) -> Begun | None:
        """The fold to prepare while the agent works, or None where it is too early, or where one is being prepared."""
        if not self._ahead or not self.policy.automatic.enabled or self._prepared is not None:
            return None
        steps = self._fill.coming(self.policy, self.budget, self._ahead)
        if not steps or self._writer is extract or self.policy.automatic.spent(self._automatic):
            return None
        return Begun(self._folding(self._history, steps, "threshold"), self._writer, self._timeout)

    def _settle(self, prepared: Prepared, made: bool) -> None:
        """Puts a prepared fold in place, where what it folds still stands; one that can never be made is given up."""
        if not made and not prepared.late:
            self._drop_prepared()
        elif made:
            self._prepared = None
            if swapped := prepared.swapped(self._history.view(), self.meter.overhead):
                self._announce()
                self._finish(swapped, extracted=False)

    def _announce(self) -> None:
        if self.policy.automatic.notify:
            self._tells.tell(FoldDue(self.count.tokens, self.budget.window))

    def _drop_prepared(self) -> None:
        if self._prepared is not None:
            self._prepared.drop()
        self._prepared = None

    def _by_hand(self, history: History, focus: str) -> Folding:
        history.refresh()
        view = history.view()
        steps = steps_by_hand(self.policy, view, self.budget, self.meter.overhead, history.since(view))
        return self._folding(history, steps, "manual", focus=focus)

    def _held(
        self, max_tokens: int, trigger: Trigger, media: Sequence[Step] = (), *, error: float
    ) -> tuple[View, Fold]:
        """A fold into at most so many tokens of the provider's, the overhead included."""

        def fold(most: int) -> tuple[View, Fold]:
            return run(self._folding(self._history, [*steps_within(most), *media], trigger, limit=most), extract)

        return fold_within(max_tokens, self.meter, error, fold)

    def _folding(
        self, history: History, steps: Sequence[Step], trigger: Trigger, *, limit: int | None = None, focus: str = ""
    ) -> Folding:
        history.refresh()
        return folding(
            history.view(),
            steps,
            trigger=trigger,
            limit=limit,
            focus=focus,
            ratio=self.meter.ratio,
            overhead=self.meter.overhead,
            error=self.meter.total(history.weight).error,
            on_fault=self._tells.skip,
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
            self._tells.tell(SummaryFellBack(reason))
        self._fill.folded(view.tokens, asked=bool(fold.receipt.asked))
        if fold:
            before = self._history.view() if self._session else None
            self._history.install(view, fold)
            self._forget_bill()
            if self._session and before:
                self._log(lambda session: log_fold(session, before, view, fold, self.meter))
            self._tells.tell(Folded(fold))
            if risk := risk_after(fold.receipt, self.policy.automatic.warn_at):
                self._tells.tell(risk)

    def _log(self, write: Callable[[SessionFile], object]) -> None:
        """Writes into the session that this compactor is bound to; what is not written is told."""
        try:
            if self._session is not None:
                write(self._session)
        except SessionError as error:
            self._tells.skip(f"session: {error}")

    def _forget_bill(self) -> None:
        self.meter.forget()
        self._billed = None

    def _hand_out(self) -> list[Item]:
        self._tells.catch_up()
        with self._turns:
            self._sent = self._history.version
            return self._history.seen


def _summarizer_named(name: str) -> Summarizer:
    from foldline._config import Summaries

    return Summaries(name).to_summarizer()


__all__ = [
    "Compactor",
    "Event",
    "FoldDue",
    "Folded",
    "Interleaved",
    "Looping",
    "Rewound",
    "Risk",
    "Skipped",
    "SummaryFellBack",
]
