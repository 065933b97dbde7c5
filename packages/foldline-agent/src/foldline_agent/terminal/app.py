"""The conversation on the screen."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Iterator
from itertools import chain
from typing import ClassVar

from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import Collapsible, Static, TextArea
from textual.widgets.markdown import MarkdownStream

from foldline import FoldlineError, Message, Session
from foldline.extend import Thinking
from foldline_agent import events
from foldline_agent.agent import Agent
from foldline_agent.events import End, Event
from foldline_agent.scripted import Scripted
from foldline_agent.terminal.commands import COMMANDS
from foldline_agent.terminal.dialogs import Allow
from foldline_agent.terminal.doing import Doing
from foldline_agent.terminal.entries import Answered, Aside, Asked, Notice, Thought, Used
from foldline_agent.terminal.gauge import gauge
from foldline_agent.terminal.prompt_box import PromptBox

PAUSE = 1.0
"""Seconds without a key before one is an answer to what a tool asks, and no word that was being written."""


COMMAND = re.compile(r"/[a-z]*(\s|$)")
"""What is a command and no path that a message begins with."""


class Chat(App[None]):
    """An agent at work: it draws what the agent tells, and hands on what the user writes."""

    TITLE = "foldline"
    ENABLE_COMMAND_PALETTE = False
    CSS_PATH = "chat.tcss"
    VERTICAL_BREAKPOINTS = [(0, "-short"), (26, "-high")]  # noqa: RUF012 - as it is declared in App
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "stop", show=False),
        Binding("ctrl+o", "open", show=False, priority=True),
        Binding("ctrl+c", "interrupt", show=False, priority=True),
    ]

    def __init__(self, agent: Agent, message: str = "", *, pause: float = PAUSE) -> None:
        super().__init__()
        self._pause = pause
        self._leaving = False
        self.agent = agent
        self._first = message
        self.talk = VerticalScroll(id="talk")
        self.hint = Static("", id="hint")
        self.doing = Doing(lambda: self.agent.waiting)
        self.gauge = Static("", id="gauge")
        self._reply: Answered | None = None
        self._stream: MarkdownStream | None = None
        self._thought: Thought | None = None
        self._used: dict[str, Used] = {}
        self._opened = False

    def compose(self) -> ComposeResult:
        yield self.talk
        yield self.doing
        yield self.hint
        yield PromptBox([*COMMANDS])
        yield self.gauge

    def on_mount(self) -> None:
        self.theme = "tokyo-night"
        self.talk.anchor()
        self.open(self.agent.session)
        self.screen.set_focus(self.query_one(PromptBox))  # at once: what was typed before is waiting
        if self._first:
            self.say(self._first)

    def on_resize(self) -> None:
        """Draws anew what is as long as the terminal is wide, once it is known how wide that is."""
        self.call_after_refresh(self._measure)

    # -- what the user does ----------------------------------------------------------------------------------------

    def on_prompt_box_sent(self, event: PromptBox.Sent) -> None:
        """A command, or words for the agent; what is told of it is seen, wherever the user was reading."""
        self._leaving = False
        self.talk.anchor()
        if COMMAND.match(event.text):
            self._command(event.text)
        else:
            self.say(event.text)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Tells the commands that fit what is written."""
        fitting = self.query_one(PromptBox).fitting
        self.hint.update("   ".join(f"/{name} {COMMANDS[name].takes}".rstrip() for name in fitting))
        self.hint.set_class(bool(fitting), "shown")

    def say(self, text: str) -> None:
        """Words for the agent, which wait while it is at work."""
        if self.agent.working:
            self.agent.steer(text)
            self.doing.tell()
        else:
            self.draw(self.agent.run(text))

    def action_stop(self) -> None:
        """Stops what is being done; the session is as it was."""
        self.agent.abort()

    def action_interrupt(self) -> None:
        """Copies what is marked; else stops what is being done, or takes back what is written; a second time in a row it ends."""
        prompt = self.query_one(PromptBox)
        if prompt.selected_text:
            self.copy_to_clipboard(prompt.selected_text)
        elif self.agent.working:
            self.agent.abort()
        elif prompt.text:
            prompt.clear()
        elif self._leaving:
            self.exit()
        else:
            self.tell(Aside("ctrl+c once more ends; the session stays."))
            self._leaving = True

    def action_open(self) -> None:
        """Opens what folds and tools hold, or closes all of it."""
        self._opened = not self._opened
        for each in self.talk.query(Collapsible):
            each.collapsed = not self._opened

    @work(exclusive=False)
    async def _command(self, text: str) -> None:
        name, _, rest = text[1:].partition(" ")
        command = COMMANDS.get(name)
        if command is None:
            self.tell(Aside(f"There is no command /{name}; /help tells which there are.", "failure"))
            self.query_one(PromptBox).begin_with(text)
        elif command.idle and self.agent.working:
            self.tell(Aside(f"/{name} waits until the agent is done: esc stops it.", "failure"))
        else:
            try:
                await command.run(self, rest.strip())
            except FoldlineError as error:
                self.tell(Aside(str(error), "failure"))
            self._measure()

    # -- what is drawn ---------------------------------------------------------------------------------------------

    def open(self, session: Session) -> None:
        """Goes on with a session, or with the same one read anew: what the model sees of it stands on the screen."""
        self.agent.go_to(session)
        self.talk.remove_children()
        self._used.clear()
        self.tell(Aside("\n".join(self._where(session))))
        for message in session.context.messages:
            self._draw_message(message)
        self._measure()

    def _where(self, session: Session) -> Iterator[str]:
        yield str(self.agent.cwd)
        yield str(session.path)
        if isinstance(self.agent.model.native, Scripted):
            yield "The model plays a script; --model PROVIDER:NAME takes a real one."

    def tell(self, entry: Widget) -> None:
        """Puts something at the end of the conversation."""
        self.talk.mount(entry)

    @work(exclusive=False)
    async def draw(self, told: AsyncGenerator[Event, None]) -> None:
        """Draws what is told until it ends."""
        async for event in told:
            await self._draw(event)

    async def _draw(self, event: Event) -> None:
        match event:
            case events.MessageTaken(message=message):
                self.tell(Asked(message.text))
                self.doing.begin("waiting for the model")
            case events.ReplyStarted():
                await self._end_reply(dropped=True)
                self.doing.begin("waiting for the model")
            case events.ThinkingDelta(text=text):
                self._think(text)
                self.doing.begin("the model thinks")
            case events.TextDelta(text=text):
                await self._write(text)
                self.doing.begin("the model answers")
            case events.ReplyEnded():
                await self._end_reply()
            case events.ToolStarted(call=call):
                self._used[call.id] = Used(call)
                self.tell(self._used[call.id])
                self.doing.begin(call.name)
            case events.ToolEnded(call=call, result=result):
                self._used[call.id].brought(result)
            case events.ConfirmationWanted():
                self._ask(event)
            case events.RunEnded(end=end):
                await self._end_run(end)
            case _:
                self._draw_window(event)
        if not isinstance(event, events.TextDelta | events.ThinkingDelta):
            self._measure()

    def _draw_window(self, event: Event) -> None:
        """What becomes of the window, and what went wrong."""
        match event:
            case events.FoldStarted():
                self.doing.begin("folding")
            case events.FoldEnded(fold=fold, summary=summary, aborted=aborted):
                if fold is not None:
                    self.tell(Notice(fold, summary))
                elif aborted:
                    self.tell(Aside("The fold was stopped; the session is as it was."))
            case events.Noticed(text=text):
                self.tell(Aside(text))
            case events.Failed(error=error):
                self.tell(Aside(error, "failure"))
            case events.FillChanged():
                pass

    async def _end_run(self, end: End) -> None:
        """What was said so far stays on the screen; what waits behind a run that was stopped or failed goes back to the user."""
        await self._end_reply()
        while isinstance(self.screen, Allow):
            await self.screen.dismiss("no")
        if end == "aborted":
            self.tell(Aside("Stopped."))
        if end in ("aborted", "error") and self.agent.waiting:
            self.query_one(PromptBox).begin_with("\n\n".join(chain(*self.agent.take_back())))
        self.doing.end()

    def _draw_message(self, message: Message) -> None:
        """A message that stands in the session already."""
        if message.summary:
            self.tell(Aside(f"── the conversation before this is folded\n\n{message.summary.text}", "folded"))
        elif message.role == "user" and message.text:
            self.tell(Asked(message.text))
        elif message.role == "assistant":
            for part in message.parts:
                if isinstance(part, Thinking) and part.text:
                    self.tell(Thought(part.text))
            if message.text:
                self.tell(Answered(message.text))
        for call in message.calls:
            self._used[call.id] = Used(call)
            self.tell(self._used[call.id])
        for result in message.results:
            if result.call_id in self._used:
                self._used[result.call_id].brought(result)

    async def _write(self, text: str) -> None:
        if self._reply is None:
            self._reply = Answered()
            await self.talk.mount(self._reply)
            self._stream = Answered.get_stream(self._reply)
        if self._stream is not None:
            await self._stream.write(text)

    def _think(self, text: str) -> None:
        if self._thought is None:
            self._thought = Thought()
            self.tell(self._thought)
        self._thought.add(text)

    async def _end_reply(self, *, dropped: bool = False) -> None:
        if self._stream is not None:
            await self._stream.stop()
        for shown in (self._thought, self._reply) if dropped else ():
            if shown is not None:
                await shown.remove()
        self._reply = self._stream = self._thought = None

    @work(exclusive=False)
    async def _ask(self, wanted: events.ConfirmationWanted) -> None:
        prompt = self.query_one(PromptBox)
        word = await self.push_screen_wait(Allow(wanted, self._pause, prompt.insert))
        self.agent.allowed |= word == "always"
        self.agent.answer(wanted.call.id, word != "no")

    def _measure(self) -> None:
        folds = sum(1 for fold in self.agent.session.folds() if not fold.undone)
        width = self.size.width - self.gauge.gutter.width
        self.gauge.update(gauge(self.agent.compactor, folds=folds, model=self.agent.model.name, width=width))
