"""The commands of pi's RPC that the agent knows, as they stand on a line; what is not one of them is refused with its place."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Id = str | int | float | None
"""What a client knows an answer by."""


class Command(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """What the client wants; an answer carries its `id`."""

    id: Id = None


class Prompt(Command, frozen=True, tag="prompt"):
    """A message; while the agent works it needs to be said where it is to wait."""

    message: str
    streaming_behavior: Literal["steer", "followUp"] | None = None


class Steer(Command, frozen=True, tag="steer"):
    """A message that the model reads before its next reply."""

    message: str


class FollowUp(Command, frozen=True, tag="follow_up"):
    """A message for when the agent is done."""

    message: str


class Abort(Command, frozen=True, tag="abort"):
    """Stop what is being done."""


class ClearQueue(Command, frozen=True, tag="clear_queue"):
    """Take back the messages that wait."""


class Compact(Command, frozen=True, tag="compact"):
    """Fold now."""

    custom_instructions: str = ""


class SetAutoCompaction(Command, frozen=True, tag="set_auto_compaction"):
    """Whether the agent folds by itself."""

    enabled: bool


class SetModel(Command, frozen=True, tag="set_model"):
    """Another model."""

    provider: str
    model_id: str


class NewSession(Command, frozen=True, tag="new_session"):
    """A session of its own from here on."""


class SwitchSession(Command, frozen=True, tag="switch_session"):
    """Another session's file."""

    session_path: str


class GetState(Command, frozen=True, tag="get_state"):
    """What the agent is doing, and with what."""


class GetMessages(Command, frozen=True, tag="get_messages"):
    """What the model sees."""


class GetSessionStats(Command, frozen=True, tag="get_session_stats"):
    """What was said and billed."""


class GetLastAssistantText(Command, frozen=True, tag="get_last_assistant_text"):
    """What the agent said last."""


class Confirmation(Command, frozen=True, tag="extension_ui_response"):
    """The user's word on what the agent asked; there is no answer to it."""

    confirmed: bool = False
    cancelled: bool = False
    """The user gave no word, which is none for it."""


COMMANDS = (
    Prompt
    | Steer
    | FollowUp
    | Abort
    | ClearQueue
    | Compact
    | SetAutoCompaction
    | SetModel
    | NewSession
    | SwitchSession
    | GetState
    | GetMessages
    | GetSessionStats
    | GetLastAssistantText
    | Confirmation
)
