"""The one loop: a user's message, replies and tools until the agent is done, folds on the way; all of it told as events."""

from __future__ import annotations

import asyncio
import json
import re
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from pydantic_ai.exceptions import ModelConnectionError

from foldline import (
    Compactor,
    FoldDue,
    Folded,
    Looping,
    Message,
    Policy,
    ReplyCutOff,
    Risk,
    Session,
    Skipped,
    SummaryFellBack,
    astep,
)
from foldline.extend import Text, Thinking, ToolCall, ToolResult, estimate, extract, replace
from foldline_agent import events
from foldline_agent.asking import LanguageModel, Reply, words_of
from foldline_agent.events import End, Event, Reason
from foldline_agent.prompt import system_prompt
from foldline_agent.scripted import Scripted
from foldline_agent.tools import ToolFailed, tools_in

REFUSED = "The user did not allow it."
COSTS = "The folds may have cost {much} ({why}): /handoff GOAL, or foldline session handoff GOAL, starts afresh."
_HALVES = re.compile("[\ud800-\udfff]")
"""Halves of characters, as which the bytes of an argument stand that are no UTF-8: no session and no model takes them."""

CUT_SHORT = "The agent was stopped before this call was answered; it may or may not have been carried out."


def forget_if_empty(session: Session) -> None:
    """Takes the file of a session away in which nothing was said."""
    if not (session.changed or session.lineage()):
        Path(session.path).unlink()


class Agent:
    """A coding agent over a session file: `run` answers a message, `compact` folds; both yield events until they are done.

    Whatever was said stands in the session at once, so that a process that is killed loses nothing, and goes on from the file.
    `policy` is what `Compactor` takes; without one it is as the user's settings say. `auto` says whether it folds by itself.
    With `allowed` no tool asks before it changes something. One thing is done at a time.
    """

    def __init__(
        self,
        session: Session,
        model: LanguageModel,
        *,
        cwd: Path | None = None,
        policy: Policy | str | None = None,
        auto: bool | None = None,
        allowed: bool = False,
    ) -> None:
        self.session = session
        self.model = model
        self.cwd = (cwd or Path(session.cwd or ".")).resolve()
        self.system = system_prompt(self.cwd)
        self.tools = tools_in(self.cwd, lambda: self.session)
        self.allowed = allowed
        self._policy, self._auto = policy, auto
        self._steering: deque[str] = deque()
        self._later: deque[str] = deque()
        self._told: asyncio.Queue[Event | None] = asyncio.Queue()
        self._answers: dict[str, asyncio.Future[bool]] = {}
        self._work: asyncio.Task[None] | None = None
        self._folding: Reason | None = None
        self.begin()

    # -- what is done ----------------------------------------------------------------------------------------------

    def run(self, text: str = "") -> AsyncGenerator[Event, None]:
        """Answers a message, or without one what an earlier run left unanswered.

        A run that is stopped, or whose generator is closed, leaves the session whole.
        """
        self.steer(text)
        return self._telling(self._answering)

    def compact(self, focus: str = "") -> AsyncGenerator[Event, None]:
        """Folds the session now, whatever the fill, keeping what `focus` asks for; messages that wait follow."""
        return self._telling(lambda: self._compacting(focus))

    def steer(self, text: str) -> None:
        """A message that the model reads before its next reply; it waits while a tool runs or a fold is made."""
        if text.strip():
            self._steering.append(text)

    def follow_up(self, text: str) -> None:
        """A message that waits until the agent is done with all before it."""
        if text.strip():
            self._later.append(text)

    def take_back(self) -> tuple[list[str], list[str]]:
        """The messages that wait for the next reply, and those that wait until the agent is done; none is taken then."""
        taken = [*self._steering], [*self._later]
        self._steering.clear()
        self._later.clear()
        return taken

    def answer(self, call_id: str, allowed: bool) -> None:
        """The user's word on a `ConfirmationWanted`; one that nobody waits for is passed over."""
        waiting = self._answers.get(call_id)
        if waiting is not None and not waiting.done():
            waiting.set_result(allowed)

    def abort(self) -> None:
        """Stops what is being done: the model's reply is given up, a command is ended, a fold is not made."""
        if self._work is not None:
            self._work.cancel()

    @property
    def working(self) -> bool:
        """Whether something is being done."""
        return self._work is not None

    @property
    def unanswered(self) -> tuple[str, ...]:
        """The calls that wait for the user's word."""
        return tuple(self._answers)

    @property
    def waiting(self) -> tuple[str, ...]:
        """Messages that were not taken yet, in the order in which they will be."""
        return (*self._steering, *self._later)

    # -- what it is done with --------------------------------------------------------------------------------------

    def begin(
        self,
        *,
        session: Session | None = None,
        model: LanguageModel | None = None,
        policy: Policy | str | None = None,
        auto: bool | None = None,
    ) -> None:
        """Goes on with another session, model or policy, or the same ones read anew; between two runs only.

        Raises `SessionError` where an agent of another process has the session.
        """
        session, model = session or self.session, model or self.model
        policy = self._policy if policy is None else policy
        auto = self._auto if auto is None else auto
        held = session.hold()
        self.compactor = self._compactor_for(session, model, policy, auto)
        self.session, self.model, self._policy, self._auto = session, model, policy, auto
        self._held = held
        if isinstance(model.native, Scripted):
            model.native.go_on_from(sum(message.role == "assistant" for _, message, _ in session.lineage()))

    def go_to(self, session: Session) -> None:
        """Goes on with another session; the one that it leaves is not kept where nothing was said in it."""
        left = self.session
        self.begin(session=session)
        if left.path != session.path:
            forget_if_empty(left)

    def _compactor_for(
        self, session: Session, model: LanguageModel, policy: Policy | str | None, auto: bool | None
    ) -> Compactor:
        """A compactor as the settings say but for what was asked for; it answers to replies that are cut off, too."""
        asked: dict[str, Any] = {"window": model.window, "session": session, "system": self.system}
        asked["pinned"] = lambda message: message in session.context.pinned
        asked["overhead"] = sum(estimate(json.dumps([t.description, t.parameters])) for t in self.tools.values())
        if policy is not None:
            asked["policy"] = policy
        if isinstance(model.native, Scripted):
            asked["summarizer"] = extract
        settled = Compactor.from_settings(model.name, **asked).policy
        automatic = settled.automatic if auto is None else replace(settled.automatic, enabled=auto)
        asked["policy"] = replace(settled, automatic=automatic, reactive=replace(settled.reactive, length=True))
        return Compactor.from_settings(model.name, **asked, on_event=self._hear)

    # -- the loop --------------------------------------------------------------------------------------------------

    async def _answering(self) -> End:
        self._tell(events.RunStarted())
        self._take_messages()
        if not self._owes_reply:
            return "stop"
        while True:
            await self._told.join()
            reply = await self._reply()
            calls = [*reply.message.calls]
            for call in calls:
                await self._carry_out(call)
            if not calls and not self._steering and self._later:
                self._steering.append(self._later.popleft())
            if not calls and not self._steering:
                return "length" if reply.stop == "length" else "stop"
            self._take_messages()

    async def _compacting(self, focus: str) -> End:
        self._tell_fold("manual")
        await self.compactor.afold(self.session.context.messages, focus=focus)
        self._tell_no_fold()
        self._tell_fill()
        return await self._answering() if self._steering else "stop"

    async def _reply(self) -> Reply:
        """The next reply, which stands in the session; a cut one is asked for once more where a fold makes room for it."""
        reply = await self._asked()
        if reply.stop == "length":
            try:
                await self.compactor.arecover(reply.billed, self.session.context.messages)
                reply = await self._asked()
            except ReplyCutOff as why:
                self._tell(events.Noticed(str(why)))
        message, stop = reply
        if stop == "length":
            message = replace(message, parts=tuple(part for part in message.parts if type(part) is not ToolCall))
        says = any(type(part) is not Thinking for part in message.parts)
        id = self.session.append(message, model=self.model.name, stop=stop) if says else ""
        self._tell(events.ReplyEnded(id, message, stop))
        self._tell_fill()
        return Reply(message, stop)

    async def _asked(self) -> Reply:
        """A reply to what the session holds, folded for where it must be."""
        replies: list[Reply] = []

        async def send(messages: list[Message]) -> dict[str, Any]:
            self._tell_no_fold()
            self._tell_fill()
            self._tell(events.ReplyStarted())
            budget = self.compactor.budget
            most = min(budget.reserve, budget.output or budget.reserve)
            asked = partial(self.model.ask, messages, self.system, self.tools.values(), self._tell, most)
            try:
                replies.append(await asked())
            except ModelConnectionError as broken:
                self._tell(events.Noticed(f"{words_of(broken)} The model is asked once more."))
                self._tell(events.ReplyStarted())
                replies.append(await asked())
            return replies[-1].billed

        await astep(self.compactor, self.session.context.messages, send, system=self.system)
        return replies[-1]

    async def _carry_out(self, call: ToolCall) -> None:
        """Runs a tool, once the user allowed what would change something; its result stands in the session."""
        self._tell(events.ToolStarted(call))
        await self._told.join()
        failed = False
        try:
            said = await self._result_of(call)
        except (ToolFailed, OSError, ValueError) as failure:
            said, failed = str(failure), True
        self._keep_result(call, said, failed=failed)

    async def _result_of(self, call: ToolCall) -> str:
        tool = self.tools.get(call.name)
        if tool is None:
            raise ToolFailed(f"There is no tool {call.name!r}; there are {', '.join(self.tools)}.")
        if tool.preview is not None and not self.allowed:
            about = tool.preview(call.arguments)
            waiting = self._answers[call.id] = asyncio.get_running_loop().create_future()
            self._tell(events.ConfirmationWanted(call, about))
            try:
                if not await waiting:
                    raise ToolFailed(REFUSED)
            finally:
                del self._answers[call.id]
        return await tool.run(call.arguments)

    # -- what stands in the session --------------------------------------------------------------------------------

    def _take_messages(self) -> None:
        while self._steering:
            message = Message("user", (Text(_HALVES.sub("\N{REPLACEMENT CHARACTER}", self._steering[0])),))
            id = self.session.append(message)
            self._steering.popleft()
            self._tell(events.MessageTaken(id, message))

    @property
    def _owes_reply(self) -> bool:
        """Whether the model has not answered what was said last."""
        messages = self.session.context.messages
        return bool(messages) and messages[-1].role != "assistant"

    def _keep_result(self, call: ToolCall, said: str, *, failed: bool) -> None:
        result = ToolResult(call.id, (Text(said),), failed, call.name)
        id = self.session.append(Message("tool", (result,)))
        self._tell(events.ToolEnded(id, call, result))

    def _close_open_calls(self) -> None:
        """Answers the calls that a run left open which was stopped or killed: providers refuse a call without a result."""
        answered: set[str] = set()
        for message in reversed(self.session.context.messages):
            answered |= {result.call_id for result in message.results}
            if message.role == "assistant":
                for call in message.calls:
                    if call.id not in answered:
                        self._keep_result(call, CUT_SHORT, failed=True)
            if message.role in ("assistant", "user"):
                return

    # -- what is told ----------------------------------------------------------------------------------------------

    async def _telling(self, work: Callable[[], Awaitable[End]]) -> AsyncGenerator[Event, None]:
        """Does the work in a task of its own and yields what it tells; whatever it raises is an event, too.

        Before each reply and each tool the work waits until all that was told was drawn, so that a word of the user's counts.
        """
        if self._work is not None:
            raise RuntimeError("the agent is at work: steer it, or wait")
        self._told = asyncio.Queue()
        task = self._work = asyncio.create_task(self._ended(work))
        try:
            while (event := await self._told.get()) is not None:
                yield event
                self._told.task_done()
        finally:
            task.cancel()
            await asyncio.wait([task])
            self._work = None

    async def _ended(self, work: Callable[[], Awaitable[End]]) -> None:
        end: End = "error"
        try:
            if self.session.changed:
                self.begin(session=Session(self.session.path))
            self._close_open_calls()
            end = await work()
        except asyncio.CancelledError:
            end = "aborted"
        except Exception as error:  # noqa: BLE001 - a face shows it; the session stands as it was
            self._tell(events.Failed(words_of(error)))
        finally:
            self._tell_no_fold(aborted=end == "aborted")
            self._tell(events.RunEnded(end))
            self._told.put_nowait(None)

    def _tell(self, event: Event) -> None:
        self._told.put_nowait(event)

    def _tell_fold(self, reason: Reason) -> None:
        if self._folding is None:
            self._folding = reason
            self._tell(events.FoldStarted(reason))

    def _tell_no_fold(self, *, aborted: bool = False) -> None:
        """Ends the telling of a fold that came to nothing."""
        if self._folding is not None:
            self._tell(events.FoldEnded(self._folding, None, aborted=aborted))
            self._folding = None

    def _tell_fill(self) -> None:
        size = self.compactor.count
        self._tell(events.FillChanged(size.tokens, self.compactor.budget.window, size.error))

    def _hear(self, event: Any) -> None:
        """What the compactor tells, in the words of a conversation."""
        match event:
            case FoldDue():
                self._tell_fold("threshold")
            case Folded(fold=fold):
                reason: Reason = "threshold" if fold.trigger == "handoff" else fold.trigger
                self._tell_fold(reason)
                summary = next((s.text for m in self.session.context.messages if (s := m.summary)), "")
                kept = next((id for id, m in self.session.context.entries if not m.summary), "")
                self._tell(events.FoldEnded(reason, fold, summary, kept))
                self._folding = None
            case SummaryFellBack(reason=why):
                self._tell(events.Noticed(f"The summary is by extraction: {why}"))
            case Skipped(reason=why):
                self._tell(events.Noticed(why))
            case Risk(level, why):
                self._tell(events.Noticed(COSTS.format(much="much" if level == "High" else "something", why=why)))
            case Looping(tool=tool, times=times):
                self._tell(
                    events.Noticed(f"The agent called {tool} {times} times in the same way since the last fold.")
                )
