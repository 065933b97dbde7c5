"""Keeps a growing history inside its window: what an agent's author imports."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from foldline import _wires as wire
from foldline._compactor.account import Account
from foldline._compactor.alignment import places_in
from foldline._compactor.background import Begun, moved
from foldline._compactor.checks import check, check_format
from foldline._compactor.codec import Item, codec_of, listed
from foldline._compactor.events import Event, FoldDue, Telling, Verdict
from foldline._compactor.folds import Folds
from foldline._compactor.fullness import Fill
from foldline._compactor.history import History
from foldline._compactor.logged import ids_in
from foldline._compactor.state import VERSION, Dumped, Writing, decoded
from foldline._compactor.turns import Turnstile
from foldline._compactor.watching import Watch
from foldline._compactor.writer import Writer
from foldline._engine.driving import Waiting, adriven, asking, driven, run
from foldline._engine.steps import Step, caps
from foldline._errors import ContextOverflow, ProviderError, ReplyCutOff
from foldline._fold import Fold
from foldline._messages import Message, Opaque, Speaker, Text, Usage, replace
from foldline._models import Model, warn_of_unknown
from foldline._models import model as model_named
from foldline._overflow import read as read_overflow
from foldline._policies import DEFAULT, preset
from foldline._policy import Budget, Policy, Room, budget_for, reserving, whole_tokens
from foldline._stages import HEADING, Course, Stage, lists_of, memory_digest, stage_notes
from foldline._tokens.meter import TEXT_ERROR, Count, Meter
from foldline._tokens.weigh import weigh
from foldline._view import View
from foldline._wires.format import HostFormat
from foldline._wires.usage import broke_off, cut_off
from foldline._writers.extraction import extract

if TYPE_CHECKING:
    from foldline._config import Settings
    from foldline._sessions.file import SessionFile
    from foldline._writers.draft import Summarizer

PATIENCE = 300.0
"""Seconds that a summarizer may take for one summary unless told otherwise."""

GRACE = 10.0
"""Seconds that a summary which is being prepared is waited for at its mark, once, while the limit is far."""

REMINDERS = 3
"""Messages at the end that may be others in each call, and leave what was billed before them a bill."""

RECOVERY_SHARE = 0.7
"""What a fold after an overflow brings a request down to: the count was wrong once, so it leaves room."""


class Compactor:
    """Hands out a history that fits the model's window, and remembers what it folded away.

    Call `fit` with the whole history before each model call, and `observe` with the reply after it. Histories are
    lists of what the provider's library takes and hands out, dicts or objects, in the wire format `format` (its
    name; found out where it is not given), lists of `Message`, or of a framework's own messages, whose `HostFormat` is
    `format` then. They are never changed; replace a message rather than write into it. You may keep your whole history, or
    what `fit` handed out, and go on from there. System messages may change from call to call.

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
    limit. `clock` gives seconds since 1970.

    `before_fold` is asked before each fold that the fill or a user asks for, and may answer with a `Verdict`: a veto,
    instructions, or the summary itself. It answers at once. A fold after an overflow, and one to a hard budget, is not asked
    for: there is nothing else that could be sent. `on_event` hears `FoldDue`, `Folded`, `SummaryFellBack`, `Rewound`,
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
        format: str | HostFormat[Any] = "",
        speaker: Callable[[Message], Speaker | None] | None = None,
        ahead: float = 0.0,
        ask: Callable[[list[Any]], Any] | None = None,
        timeout: float | None = PATIENCE,
        grace: float = GRACE,
        session: SessionFile | None = None,
        clock: Callable[[], float] = time.time,
        before_fold: Callable[[FoldDue], Verdict | None] | None = None,
        on_event: Callable[[Event], None] | None = None,
    ) -> None:
        check_format(format)
        check(overhead=overhead, ahead=ahead, timeout=timeout, grace=grace, session=session, clock=clock)
        check(pinned=pinned, speaker=speaker, ask=ask, before_fold=before_fold, on_event=on_event)
        self.model = model_named(model) if isinstance(model, str) else model
        if isinstance(model, str) and model and window is None:
            warn_of_unknown(self.model)
        self.policy = preset(policy) if isinstance(policy, str) else policy
        summarizer = _named(summarizer) if isinstance(summarizer, str) else summarizer
        check(model=self.model, policy=self.policy, summarizer=summarizer)
        self.meter = Meter(self.model.family, overhead=overhead)
        self._tells = Telling(on_event, self.model.name)
        guarded = self._tells.guarded
        pins = [guarded(self.policy.pinned, "a policy's pins", otherwise=False)]
        pins += [guarded(pinned, "pinned", otherwise=False)] if pinned else []
        pins += [session.context.pinned.__contains__] if session is not None and session.context.pins else []
        codec = codec_of(format, guarded(speaker, "speaker", otherwise=None) if speaker else None)
        self._history = History(
            self.meter,
            codec,
            lambda message: any(pin(message) for pin in pins),
            partial(ids_in, session),
            bound=self.model.binds_thinking,
        )
        held = budget_for(self.model, window, reserve)
        held = held if reserve is not None else reserving(held, self.policy)
        self._account = Account(self.model, held, self.meter, clock)
        self._writer = Writer(summarizer, ask, timeout, clock)
        self._fill = Fill(self._history, self._account, self.policy)
        self._folds = Folds(self._fill, self._writer, self._tells, session, before_fold, ahead=ahead, grace=grace)
        self._session = session
        self._watch = Watch(self._tells)
        self._writing = Writing()
        self._turns = Turnstile()
        self._reactions = 0
        """How often in a row a refusal or a cut reply was answered, since a reply was observed."""
        self._system: Any = None
        self._tell_system(system)
        self._folds.go_on()

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
            policy = preset(rest["policy"]) if isinstance(rest["policy"], str) else rest["policy"]
            name = model if isinstance(model, str) else model.name
            rest["summarizer"] = settings.writer(policy, name).to_summarizer()
        return cls(model, **rest)

    @property
    def budget(self) -> Budget:
        """How much a request may hold, as far as the provider has told by now."""
        return self._account.budget

    @budget.setter
    def budget(self, budget: Budget) -> None:
        self._account.budget = budget

    @property
    def summarizer(self) -> Summarizer:
        """Who writes the summaries."""
        return self._writer.summarizer

    @summarizer.setter
    def summarizer(self, summarizer: Summarizer) -> None:
        self._writer.summarizer = summarizer

    @property
    def state(self) -> str:
        """What is wrong with the summarizer, since when, and what to do after too many folds; what was skipped; else empty."""
        spent = self.policy.automatic.spent(self._folds.automatic)
        return "; ".join(filter(None, (self._writer.breaker.state, spent, *self._tells.wrong)))

    @property
    def preparing(self) -> bool:
        """Whether a summary is being written in the background, or waits to be swapped in."""
        return self._folds.prepared is not None

    @property
    def folds(self) -> list[Fold]:
        """The folds that were made, oldest first."""
        return [fold for _, fold in self._history.folds]

    @property
    def count(self) -> Count:
        """How many tokens a request with the history of the last `fit` takes, or before that with what the session shows."""
        with self._turns:
            self._begin()
            return self._history.count

    @property
    def room(self) -> Room:
        """How such a request stands in its window."""
        with self._turns:
            self._begin()
            entries = self._history.view().entries
            inside = sum(entry.tokens for entry in entries if entry.message.role == "system")
            messages = self._history.count.tokens - self.meter.overhead - inside
            return Room(self.budget.window, self.meter.overhead + inside, messages, self.budget.reserve)

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

        `reply` is the provider's reply or its usage, as a dict, as an object of the provider's library, or a `Usage`; one that
        states no usage changes nothing, and neither does one that was aborted or failed, or a usage that cannot be true.
        """
        whole = isinstance(reply, Usage)
        usage = wire.read_usage(reply) if whole or not broke_off(reply) else None
        with self._turns:
            self._reactions = 0 if whole or not cut_off(reply) else self._reactions
            if usage is not None and usage.prompt and self._history.as_sent:
                self._account.bill(usage, self._history.seen.weight)

    def recover(
        self, error: BaseException | Any, messages: Sequence[Item], *, sent: Sequence[Item] | None = None
    ) -> list[Item]:
        """The history to send again, once, after the provider refused one as too long.

        The true limit is learned from the error where it states one that can be true; else, or where what was sent keeps that
        by our count, the limit is below it: the next fold comes before. No model is asked. An error that is no overflow is
        raised again, and so is one that the policy's `reactive` leaves to others.

        A reply that hit its output limit may be given, too, where `reactive.length` is set: calls that it left incomplete
        go, and a window filled beyond a mark is folded. Raises `ReplyCutOff` where it is not, since no fold would help.

        `sent` is what was handed out for the request, which says it where several are under way: one that was sent before
        another's refusal was folded for teaches nothing of what is seen now, and is answered with that where it may do.
        """
        return driven(self._recovering(error, messages, sent))

    async def arecover(
        self, error: BaseException | Any, messages: Sequence[Item], *, sent: Sequence[Item] | None = None
    ) -> list[Item]:
        """The same as `recover`; only for a reply that was cut off is somebody waited for."""
        return await adriven(self._recovering(error, messages, sent))

    def due(self, messages: Sequence[Item]) -> bool:
        """Whether `fit` would fold these messages now: a mark is passed, and something can be folded."""
        with self._turns:
            self._take(messages)
            return self._folds.worth_it

    # -- by hand ---------------------------------------------------------------------------------------------------

    def plan(self, messages: Sequence[Item], *, focus: str = "") -> Fold:
        """The fold that a user's own command would make now, with an extractive summary; nothing is changed.

        It is empty where a fold was made just now, and little has come since.
        """
        with self._turns:
            history = self._history.copy()
        history.take(list(messages))
        return self._folds.reckoned(history.view(), *run(self._folds.by_hand(history, focus), extract))

    def fold(self, messages: Sequence[Item], *, focus: str = "") -> list[Item]:
        """Folds now, whatever the fill, keeping what `focus` asks for; what was folded just now stays as it is."""
        return driven(self._folding(messages, focus))

    async def afold(self, messages: Sequence[Item], *, focus: str = "") -> list[Item]:
        """The same as `fold`, while the event loop goes on; a summarizer may be awaited."""
        return await adriven(self._folding(messages, focus))

    def fold_to(self, messages: Sequence[Item], max_tokens: int) -> list[Item]:
        """The history in at most `max_tokens`, the overhead included; raises `CannotFit` with what is in the way.

        They are counted by the model's tokenizer where the extra `count` and its vocabulary are installed; else they are
        estimated, and the estimate's own error is taken off.
        """
        whole_tokens(max_tokens, "fold_to", "max_tokens")
        with self._turns:
            self._take(messages)
            surely = self.count.tokens * (1 + self.count.error)
            self._folds.within(max_tokens, "manual", error=0.0 if surely <= max_tokens else TEXT_ERROR)
            return self._hand_out()

    async def afold_to(self, messages: Sequence[Item], max_tokens: int) -> list[Item]:
        """The same as `fold_to`, which waits for nobody."""
        return self.fold_to(messages, max_tokens)

    def undo(self) -> Fold | None:
        """Takes back the newest fold; `fit` may make another one when the window is still full."""
        with self._turns:
            return self._folds.undo() if self._history.folds else None

    def recall(self, id: str) -> Message | None:
        """The message of that id as it was before any fold, or the summary of that id, or None."""
        with self._turns:
            found = self._history.find(id)
            return self._session.recall(id) if found is None and self._session else found

    def lost_in(self, messages: Sequence[Item]) -> int:
        """How many messages of its history do not stand at the beginning of another one; 0 where that goes on from it."""
        with self._turns:
            return self._history.lost_in(list(messages))

    def messages(self) -> Iterator[tuple[str, Message]]:
        """Every message of the history with its id, whatever was folded since."""
        with self._turns:
            return iter(self._history.all())

    # -- stages ----------------------------------------------------------------------------------------------------

    def stage(self, name: str) -> None:
        """Says that a stage of the work begins, or goes on: from the user's next words on messages belong to it.

        Raises `ConfigError` for one that is closed, which has to be reopened.
        """
        self._go_on(lambda course, at: course.begun(name, at))

    def close_stage(
        self,
        name: str,
        digest: str = "",
        *,
        detail: str = "",
        lists: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ) -> None:
        """Says that a stage is finished and what was decided in it; policies fold closed stages into their digests.

        The `digest` is cut to 200 characters where it stands for the stage; without one it is what the agent said last.
        `detail` says the same at length, and `lists` name what belongs to it: both are told by `stage_notes`. A stage
        that was never begun takes the messages since the one before it.
        """
        stage = Stage(name, digest=digest.strip(), detail=detail.strip(), lists=lists_of(lists))
        self._go_on(lambda course, at: course.ended(stage, at))

    def reopen(self, name: str) -> None:
        """Goes back to a closed stage: its digest is superseded, and where it stands in the history it is taken back.

        Raises `ConfigError` for a stage that was never begun.
        """
        self._go_on(lambda course, at: course.reopened(name, at))

    def digest(self, heading: str = HEADING) -> str:
        """What was decided in each closed stage, a line of at most 200 characters for each; empty where none is closed.

        It is there whatever was folded, to stand in the system prompt of every request. Where the host told of no
        stages, they are those that labels in the messages or the agent's plan tell.
        """
        with self._turns:
            return memory_digest(self._history.told_course().stages, heading)

    def stage_notes(self) -> str:
        """What the closed stages came to, whatever was folded: the newest three in detail, the others in 280 characters.

        All are short once one of the newest three was folded. Of each list five entries are told.
        """
        with self._turns:
            return stage_notes(self._history.told_course().stages, folded=self._history.stages_folded())

    # -- kept elsewhere --------------------------------------------------------------------------------------------

    def dump(self) -> bytes:
        """All that this compactor knows besides the messages: its folds, and what it learned of sizes and limits; as JSON.

        Loaded by another one, of the same model and policy, it hands out the same history. Of what later folds replaced it
        holds no stubs and no facts, and of a summary that is being written nothing.
        """
        with self._turns:
            history, budget = self._history, self.budget
            state = Dumped(
                VERSION,
                severed=history.severed,
                meter=self.meter.learned,
                limits=(budget.window, budget.reserve, budget.max_input),
                accepted=self._account.accepted,
                fill=self._fill.marks,
                billed=self._account.billed,
                look=self._fill.look,
                breaker=self._writer.breaker,
                course=history.course,
                messages=len(history.messages) or history.expected,
            )
            return self._writing.encoded(state, history.folds, history.seen.made, bound=history.bound)

    def load(self, state: bytes | str) -> None:
        """Takes what another compactor dumped, in place of all that this one knew.

        Raises `StateError` for what is damaged or was dumped by a newer version; then nothing is changed.
        """
        told = decoded(state)
        with self._turns:
            self._folds.drop_prepared()
            self._history.restart(told.folds, told.severed)
            self._history.follow(told.course)
            self._history.expected = told.messages
            self._account.void()
            self.meter.learned = told.meter
            window, reserve, most = told.limits
            if window <= self.budget.window:
                self.budget = replace(self.budget, window=window, reserve=reserve, max_input=most)
            self._account.accepted, self._writer.breaker, self._fill.marks = told.accepted, told.breaker, told.fill
            self._account.billed, self._fill.look = told.billed, told.look
            self._watch.forget()

    # -- inside ----------------------------------------------------------------------------------------------------

    def _fitting(self, messages: Sequence[Item], system: Any) -> Generator[Waiting, Any, list[Item]]:
        """The steps of `fit`; others may have their turn while something is waited for."""
        with self._turns:
            self._tell_system(system)
            self._take(messages)
            wanted, due = self._folds.wanted(), self._folds.due()
            sent, version = self._hand_out(), self._history.version
        if wanted:
            messages = list(messages)
            made = yield wanted
            with self._turns:
                self._take_again(messages, version)
                self._folds.settle(wanted, made=made)
                due, sent, version = self._folds.due(), self._hand_out(), self._history.version
        if due:
            sent = yield from self._made(due, messages, version)
        with self._turns:
            coming = self._folds.coming()
            self._history.release()
        if coming:
            self._folds.prepared = yield coming
        return sent

    def _folding(self, messages: Sequence[Item], focus: str) -> Generator[Waiting, Any, list[Item]]:
        """The steps of `fold`."""
        with self._turns:
            self._take(messages)
            begun, sent = self._folds.asked_for(focus), self._hand_out()
            version = self._history.version
        return (yield from self._made(begun, messages, version)) if begun else sent

    def _recovering(
        self, error: BaseException | Any, messages: Sequence[Item], sent: Sequence[Item] | None
    ) -> Generator[Waiting, Any, list[Item]]:
        """The steps of `recover`."""
        if self.policy.reactive.length and not isinstance(error, BaseException) and cut_off(error):
            return (yield from self._continuing(messages))
        found = read_overflow(error)
        if found is None or not self._may_react(allowed=self.policy.reactive.overflow):
            raise error if isinstance(error, BaseException) else ProviderError(str(error)[:500])
        with self._turns:
            history, account = self._history, self._account
            weight = history.seen.weight if history.as_sent else None
            size = history.count.tokens
            earlier = account.is_earlier(found, history.seen.weight, seen=None if sent is None else history.shows(sent))
            account.hear(found, None if earlier else weight)
            self._take(messages)
            if not earlier:
                account.refused(found, history.count.tokens if weight is None else size)
                account.recovered = history.seen.weight
            elif self._recovered(found):
                return self._hand_out()
            most = round(min(account.budget.limit, history.count.tokens) * RECOVERY_SHARE)
            media: list[Step] = []
            if found.unit == "bytes" and (fewer := self._fill.fewer_bytes(RECOVERY_SHARE)):
                most, media, account.budget = fewer.limit, caps(fewer), fewer
            self._folds.within(most, "overflow", media, error=0.0)
            return self._hand_out()

    def _continuing(self, messages: Sequence[Item]) -> Generator[Waiting, Any, list[Item]]:
        """The steps of `recover` after a reply that was cut off."""
        with self._turns:
            self._take(messages)
            begun = self._folds.reactive() if self._may_react(allowed=True) else None
            before, version = len(self._history.folds), self._history.version
        sent = (yield from self._made(begun, messages, version)) if begun else []
        if len(self._history.folds) == before:
            left = self.room.available
            why = f"the reply hit its output limit, and no fold would help: {left:,} tokens of the window are left"
            raise ReplyCutOff(why, available=left)
        return sent

    def _recovered(self, refusal: ContextOverflow) -> bool:
        """Whether what is seen is as small as a fold after the refusal of an earlier request would make it."""
        before = self._account.meter.total(self._account.recovered).tokens
        most = RECOVERY_SHARE * min(self._account.budget.limit, before)
        return refusal.unit == "tokens" and self._history.count.tokens <= most

    def _may_react(self, *, allowed: bool) -> bool:
        """Whether the policy answers once more, and counts that it does."""
        times = self.policy.reactive.times
        self._reactions += 1
        return allowed and (not times or self._reactions <= times)

    def _made(self, begun: Begun, messages: Sequence[Item], version: int) -> Generator[Waiting, Any, list[Item]]:
        """Makes a fold of that version of the history, installs it where it still stands when it is made, and hands out."""
        messages = list(messages)
        with self._turns:
            fold = self._folds.paying_once(begun, self._turns)
        made: tuple[View, Fold] | None = yield from asking(fold, *begun[1:4])
        with self._turns:
            if made and self._take_again(messages, version):
                made = moved(made[1], self._history.view(), self.meter.overhead, made[1].receipt.waited)
            if made:
                self._folds.finish(made, extracted=begun.summarizer is extract or not begun.ours)
            return self._hand_out()

    def _take_again(self, messages: Sequence[Item], version: int) -> bool:
        """Takes a history again where another came between, and says whether one did."""
        if self._history.version == version:
            return False
        self._take(messages)
        return True

    def _take(self, messages: Sequence[Item]) -> None:
        """Takes the history as it is now, and tells of what changed in its past."""
        items = messages if isinstance(messages, list) else listed(messages)
        if rewrite := self._history.take(items):
            if len(rewrite.before) - rewrite.stands > REMINDERS:
                self._account.void()
            self._fill.rewound(rewrite.stands)
            self._watch.rewritten(rewrite, items)
        if self._history.stale:
            self._history.stale = False
            self._folds.supersede()
        if folds := self._history.folds:
            self._watch.look(self._history.messages[folds[-1][0] :])

    def _begin(self) -> None:
        """Takes what the session shows, where nothing was taken before."""
        if not self._history.messages:
            self._take(self._session.context.messages if self._session else [])

    def _go_on(self, turned: Callable[[Course, int], Course]) -> None:
        """Takes what the host tells of its stages."""
        with self._turns:
            self._begin()
            self._history.go_on(turned)
            self._folds.log_stages()

    def _tell_system(self, system: Any) -> None:
        """Counts the system text that is sent apart."""
        if system is not None and system != self._system:
            self._system = system
            part = Text(system) if isinstance(system, str) else Opaque(system)
            self.meter.apart = weigh(Message("system", (part,)), self.meter.family) if system else 0

    def _hand_out(self) -> list[Item]:
        self._tells.catch_up()
        return self._history.hand_out()


def _named(name: str) -> Summarizer:
    from foldline._config import Summaries

    return Summaries(name).to_summarizer()
