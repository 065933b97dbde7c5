"""The agent for a program: commands as lines of JSON, answers and events as lines of JSON, in the words of pi's RPC."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import msgspec
from msgspec import Struct

from foldline import FoldlineError, Session
from foldline_agent.agent import Agent
from foldline_agent.asking import LanguageModel
from foldline_agent.commands import (
    COMMANDS,
    Abort,
    ClearQueue,
    Compact,
    Confirmation,
    FollowUp,
    GetMessages,
    GetSessionStats,
    GetState,
    Id,
    NewSession,
    Prompt,
    SetAutoCompaction,
    SetModel,
    Steer,
    SwitchSession,
)
from foldline_agent.events import ConfirmationWanted, Event, Failed, FoldEnded
from foldline_agent.lines import Line, Lines, compaction
from foldline_agent.printing import print_line
from foldline_agent.state import messages_of, model_of, state_of, stats_of

UNREADABLE = (msgspec.DecodeError, UnicodeError, RecursionError)
"""What a line raises that is no command."""


class Refused(Exception):
    """A command cannot be carried out; the words are for the client."""


class Remote:
    """One client of an agent: each of its lines is answered, events are written as they come."""

    def __init__(self, agent: Agent, write: Callable[[Line], None] = print_line) -> None:
        self.agent = agent
        self._write = write
        self._decoder = msgspec.json.Decoder(COMMANDS)
        self._running: asyncio.Task[None] | None = None
        self._compacting = False
        self._heard_all = False

    async def serve(self, lines: AsyncIterator[str | bytes]) -> None:
        """Answers each line; at the end of them, what is being done is finished, and what would ask is refused."""
        asked: set[asyncio.Task[None]] = set()
        async for line in lines:
            if line.strip():
                asked.add(task := asyncio.create_task(self._answer(line)))
                task.add_done_callback(asked.discard)
                await asyncio.sleep(0)
        self._heard_all = True
        for call_id in self.agent.unanswered:
            self.agent.answer(call_id, False)
        await asyncio.gather(*asked)
        if self._running is not None:
            await asyncio.wait([self._running])

    async def _answer(self, line: str | bytes) -> None:
        try:
            command = self._decoder.decode(line)
        except UNREADABLE as error:
            self._write({**_id_on(line), "type": "response", "command": "parse", "success": False, "error": str(error)})
            return
        answer: Line = {} if command.id is None else {"id": command.id}
        answer |= {"type": "response", "command": type(command).__struct_config__.tag}
        try:
            data = await self._done(command)
        except (Refused, FoldlineError) as error:
            self._write({**answer, "success": False, "error": str(error)})
            return
        if not isinstance(command, Confirmation):
            self._write({**answer, "success": True, **({} if data is None else {"data": data})})

    async def _done(self, command: object) -> Line | None:
        """Carries a command out and says what is to be told of it."""
        agent = self.agent
        match command:
            case Prompt():
                self._prompt(command)
            case Steer(message=message):
                agent.steer(message)
            case FollowUp(message=message):
                agent.follow_up(message)
            case Abort():
                await self._stop()
            case ClearQueue():
                steering, later = agent.take_back()
                return {"steering": steering, "followUp": later}
            case Confirmation(id=id, confirmed=confirmed):
                agent.answer(str(id), confirmed)
            case Compact(custom_instructions=focus):
                return await self._compact(focus)
            case SetAutoCompaction(enabled=enabled):
                self._idle().begin(auto=enabled)
            case SetModel(provider=provider, model_id=name):
                named = name if provider == "test" else f"{provider}:{name}"
                self._idle().begin(model=LanguageModel.named(named, path="set_model"))
                return model_of(agent)
            case NewSession():
                self._idle().go_to(Session.create(cwd=str(agent.cwd)))
                return {"cancelled": False}
            case SwitchSession(session_path=path):
                self._idle().go_to(Session(path))
                return {"cancelled": False}
            case _:
                return self._told(command)
        return None

    def _told(self, command: object) -> Line:
        """What the client asks to know."""
        match command:
            case GetState():
                return state_of(self.agent, compacting=self._compacting)
            case GetSessionStats():
                return stats_of(self.agent)
            case GetMessages():
                return {"messages": messages_of(self.agent.session)}
        said = (
            message.text for message in reversed(self.agent.session.context.messages) if message.role == "assistant"
        )
        return {"text": next(said, None)}

    # -- what is done ----------------------------------------------------------------------------------------------

    def _prompt(self, asked: Prompt) -> None:
        if not self.agent.working:
            self._running = asyncio.create_task(self._draw(self.agent.run(asked.message)))
        elif asked.streaming_behavior == "steer":
            self.agent.steer(asked.message)
        elif asked.streaming_behavior == "followUp":
            self.agent.follow_up(asked.message)
        else:
            raise Refused("the agent is at work: say with streamingBehavior whether to steer or to followUp")

    async def _compact(self, focus: str) -> Line:
        """Folds, once what is being done was stopped, as pi does."""
        await self._stop()
        self._compacting = True
        ended: list[Event] = []
        try:
            await self._draw(self.agent.compact(focus), ended)
        finally:
            self._compacting = False
        folded = next((told for e in ended if isinstance(e, FoldEnded) and (told := compaction(e))), None)
        failed = next((e.error for e in ended if isinstance(e, Failed)), "there is nothing to fold")
        if folded is None:
            raise Refused(failed)
        return folded

    async def _stop(self) -> None:
        self.agent.abort()
        if self._running is not None:
            await asyncio.wait([self._running])

    def _idle(self) -> Agent:
        if self.agent.working:
            raise Refused("the agent is at work: abort it first")
        return self.agent

    async def _draw(self, told: AsyncIterator[Event], kept: list[Event] | None = None) -> None:
        lines = Lines(self.agent)
        async for event in told:
            if kept is not None:
                kept.append(event)
            for line in lines.of(event):
                self._write(line)
            if self._heard_all and isinstance(event, ConfirmationWanted):
                self.agent.answer(event.call.id, False)
        for line in lines.settled():
            self._write(line)


class Named(Struct, frozen=True):
    """What a command that cannot be read otherwise may still be known by."""

    id: Id = None


def _id_on(line: str | bytes) -> Line:
    """The id that stands on a line, as it came."""
    with suppress(*UNREADABLE):
        id = msgspec.json.decode(line, type=Named).id
        return {} if id is None else {"id": id}
    return {}
