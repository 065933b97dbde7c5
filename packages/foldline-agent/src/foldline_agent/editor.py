"""The agent in an editor: the Agent Client Protocol over standard input and output."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from acp import PROTOCOL_VERSION, Client, RequestError, run_agent
from acp.helpers import (
    start_tool_call,
    text_block,
    tool_content,
    update_agent_message_text,
    update_agent_thought_text,
    update_available_commands,
    update_tool_call,
    update_user_message_text,
)
from acp.schema import (
    AgentCapabilities,
    AllowedOutcome,
    AvailableCommand,
    Implementation,
    InitializeResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PermissionOption,
    PromptResponse,
    StopReason,
    ToolCallUpdate,
    ToolKind,
    UsageUpdate,
)

from foldline import FoldlineError, Session, find_session
from foldline.extend import ToolCall, ToolResult, text_of
from foldline_agent import __version__, events
from foldline_agent.agent import Agent, forget_if_empty
from foldline_agent.envelopes import Envelopes
from foldline_agent.events import Event
from foldline_agent.printing import print_line
from foldline_agent.reading import read_lines

KINDS: dict[str, ToolKind] = {"read": "read", "write": "edit", "edit": "edit", "bash": "execute", "recall": "search"}
"""What kind of work each tool does, for the editor's icons."""

STOPS: dict[str, StopReason] = {"stop": "end_turn", "length": "max_tokens", "aborted": "cancelled"}
"""How a run ended, in the protocol's words."""

COMPACT = "/compact"
FOLD = "fold"
"""The id under which a fold is shown, as a call of a tool is."""

OPTIONS = [
    PermissionOption(option_id="yes", name="Allow", kind="allow_once"),
    PermissionOption(option_id="no", name="Do not allow", kind="reject_once"),
]


class Editor:
    """An editor's conversations, each an agent over a session of its own; `agent_for` makes one."""

    def __init__(self, agent_for: Callable[[Session], Agent]) -> None:
        self._agent_for = agent_for
        self._agents: dict[str, Agent] = {}
        self._client: Client

    def on_connect(self, client: Client) -> None:
        """Takes the editor's side of the connection."""
        self._client = client

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        """Says what the agent can do."""
        about = Implementation(name="foldline", version=__version__)
        able = AgentCapabilities(load_session=True)
        version = min(protocol_version, PROTOCOL_VERSION)
        return InitializeResponse(protocol_version=version, agent_capabilities=able, agent_info=about)

    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:
        """Begins a conversation in a directory."""
        session = _opened(lambda: Session.create(cwd=cwd))
        await self._begin(session)
        return NewSessionResponse(session_id=session.id)

    async def load_session(self, cwd: str, session_id: str, **_: Any) -> LoadSessionResponse:
        """Goes on with a conversation, which is shown once more as the model sees it."""
        session = _opened(lambda: Session(find_session(session_id, cwd=cwd, agent="pi")))
        await self._begin(session)
        for message in session.context.messages:
            if message.role == "user" and message.text:
                await self._update(session_id, update_user_message_text(message.text))
            elif message.role == "assistant" and message.text:
                await self._update(session_id, update_agent_message_text(message.text))
            for call in message.calls:
                await self._update(session_id, _started(call))
            for result in message.results:
                await self._update(session_id, _ended(result))
        return LoadSessionResponse()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> PromptResponse:
        """Answers a message, which may be the command to fold."""
        agent = self._agent(session_id)
        text = "\n".join(filter(None, map(_words, prompt)))
        if agent.working:
            raise RequestError.invalid_request({"error": "the agent is at work"})
        focus = text.removeprefix(COMPACT)
        folds = text.startswith(COMPACT) and focus[:1] in ("", " ", "\n")
        return await self._draw(session_id, agent, agent.compact(focus.strip()) if folds else agent.run(text))

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Stops what is being done in a conversation."""
        self._agent(session_id).abort()

    # -- inside ----------------------------------------------------------------------------------------------------

    async def _begin(self, session: Session) -> None:
        try:
            self._agents[session.id] = _opened(lambda: self._agent_for(session))
        except RequestError:
            forget_if_empty(session)
            raise
        compact = AvailableCommand(name="compact", description="Fold the session now; what follows says what to keep.")
        await self._update(session.id, update_available_commands([compact]))

    def leave(self) -> None:
        """Ends the conversations; what nothing was said in is not kept."""
        for agent in self._agents.values():
            forget_if_empty(agent.session)

    def _agent(self, session_id: str) -> Agent:
        if session_id not in self._agents:
            raise RequestError.invalid_params({"error": f"no session {session_id} is open"})
        return self._agents[session_id]

    async def _draw(self, session_id: str, agent: Agent, told: AsyncIterator[Event]) -> PromptResponse:
        failed = "the agent failed"
        async for event in told:
            if (update := _shown(event)) is not None:
                await self._update(session_id, update)
            match event:
                case events.ConfirmationWanted(call=call):
                    agent.answer(call.id, await self._allowed(session_id, event))
                case events.Failed(error=error):
                    failed = error
                case events.RunEnded(end="error"):
                    raise RequestError.internal_error({"error": failed})
                case events.RunEnded(end=end):
                    return PromptResponse(stop_reason=STOPS[end])
        raise AssertionError("a run ends with its end")

    async def _allowed(self, session_id: str, wanted: events.ConfirmationWanted) -> bool:
        call = ToolCallUpdate(
            tool_call_id=wanted.call.id,
            title=wanted.call.name,
            kind=KINDS.get(wanted.call.name),
            content=[tool_content(text_block(wanted.about))],
        )
        said = await self._client.request_permission(session_id=session_id, tool_call=call, options=OPTIONS)
        return isinstance(said.outcome, AllowedOutcome) and said.outcome.option_id == "yes"

    async def _update(self, session_id: str, update: Any) -> None:
        await self._client.session_update(session_id=session_id, update=update)


async def serve(agent_for: Callable[[Session], Agent]) -> None:
    """Serves an editor until it goes away."""
    editor: Any = Editor(agent_for)
    logger = logging.getLogger()  # where the protocol's package tells what failed
    logger.addFilter(_in_one_line)
    try:
        await run_agent(editor, Envelopes(read_lines(), print_line))
    finally:
        editor.leave()
        logger.removeFilter(_in_one_line)


def _in_one_line(record: logging.LogRecord) -> bool:
    """What failed without its traceback."""
    if record.exc_info:
        record.msg, record.args, record.exc_info = f"{record.getMessage()}: {record.exc_info[1]}", (), None
    return True


def _shown(event: Event) -> Any:
    """What the editor shows of an event; None for what it shows nothing of."""
    match event:
        case events.TextDelta(text=text):
            return update_agent_message_text(text)
        case events.ThinkingDelta(text=text):
            return update_agent_thought_text(text)
        case events.ToolStarted(call=call):
            return _started(call)
        case events.ToolEnded(result=result):
            return _ended(result)
        case events.FoldStarted():
            return start_tool_call(FOLD, "Folding the session", kind="think", status="in_progress")
        case events.FoldEnded(fold=fold, summary=summary):
            title = "Nothing was folded"
            if fold is not None:
                title = f"Folded from {fold.receipt.tokens_before:,} to {fold.receipt.tokens_after:,} tokens"
            return update_tool_call(FOLD, title=title, status="completed", content=[tool_content(text_block(summary))])
        case events.FillChanged(tokens=tokens, window=window):
            return UsageUpdate(session_update="usage_update", used=tokens, size=window)
        case events.Noticed(text=text):
            return update_agent_thought_text(text)
    return None


def _started(call: ToolCall) -> Any:
    try:
        given = json.loads(call.arguments)
    except ValueError:
        given = call.arguments
    told = given.get("path") or given.get("command") or given.get("query") if isinstance(given, dict) else ""
    title = f"{call.name} {told or ''}".strip()
    return start_tool_call(call.id, title, kind=KINDS.get(call.name), status="in_progress", raw_input=given)


def _ended(result: ToolResult) -> Any:
    content = [tool_content(text_block(text_of(result)))]
    return update_tool_call(result.call_id, status="failed" if result.error else "completed", content=content)


def _words(block: Any) -> str:
    """What a piece of a message says; a file that is only named is its place, which the agent can read."""
    if block.type == "resource_link":
        return Path(block.uri.removeprefix("file://")).as_posix()
    if block.type == "resource":
        return str(getattr(block.resource, "text", block.resource.uri))
    return str(getattr(block, "text", ""))


def _opened(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except FoldlineError as error:
        raise RequestError.invalid_params({"error": str(error)}) from error
