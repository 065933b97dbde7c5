"""What happens in a conversation, as values: every face draws these, and none of them knows how they came about."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from foldline import Fold, Message
from foldline.extend import ToolCall, ToolResult

Reason = Literal["manual", "threshold", "overflow"]
"""Why a fold is made."""

End = Literal["stop", "aborted", "length", "error"]
"""How a run ended: the agent was done, the user stopped it, a reply was cut off for good, or something failed."""


class Event(Struct, frozen=True):
    """Something that happened."""


class RunStarted(Event, frozen=True):
    """The agent begins to answer; `RunEnded` follows whatever comes."""


class MessageTaken(Event, frozen=True):
    """A message of the user's stands in the session, the one that was sent or one that waited in the queue."""

    id: str
    message: Message


class ReplyStarted(Event, frozen=True):
    """The model is asked. Where another one follows before `ReplyEnded`, what was told of this reply does not count."""


class TextDelta(Event, frozen=True):
    """A piece of the reply."""

    text: str


class ThinkingDelta(Event, frozen=True):
    """A piece of what the model thinks."""

    text: str


class ReplyEnded(Event, frozen=True):
    """A whole reply, with what was billed for it, stands in the session."""

    id: str
    message: Message
    stop: str
    """Why it ended, in pi's words: `stop`, `toolUse` or `length`."""


class ToolStarted(Event, frozen=True):
    """A tool begins its work, or waits for the user's word."""

    call: ToolCall


class ConfirmationWanted(Event, frozen=True):
    """A tool would write or run something: `Conversation.answer(call.id, allowed)` says whether it may."""

    call: ToolCall
    about: str
    """What it would do, for a person to read: the command, or the change as a diff."""


class ToolEnded(Event, frozen=True):
    """A tool's result stands in the session."""

    id: str
    call: ToolCall
    result: ToolResult


class FoldStarted(Event, frozen=True):
    """A fold is being made; `FoldEnded` follows."""

    reason: Reason


class FoldEnded(Event, frozen=True):
    """A fold stands in the session, with its receipt; `fold` is None where none was worth it, or it was stopped."""

    reason: Reason
    fold: Fold | None
    summary: str = ""
    first_kept: str = ""
    """The id of the first message that stands word for word behind the summary."""
    aborted: bool = False


class FillChanged(Event, frozen=True):
    """How full the window is now; sizes are tokens, `error` is the relative one of the count."""

    tokens: int
    window: int
    error: float


class Noticed(Event, frozen=True):
    """Something that the user should know: a summary that fell back, a loop, too many folds."""

    text: str


class Failed(Event, frozen=True):
    """Something went wrong, in one line."""

    error: str


class RunEnded(Event, frozen=True):
    """The agent waits for the user, after a run or a fold that was asked for."""

    end: End
