"""The kinds of fact that a ledger keeps; `at` and `seen` count messages since the session began."""

from __future__ import annotations

from typing import Literal

from msgspec import field

from foldline.messages import Value

Speaker = Literal["user", "assistant"]
FileState = Literal["created", "modified", "read", "deleted", "renamed"]


class File(Value, frozen=True, omit_defaults=True):
    """A file that the agent touched: its last state, how often each action was done, and where it was moved."""

    path: str
    state: FileState = "read"
    actions: dict[str, int] = field(default_factory=dict)
    seen: int = 0
    to: str = ""

    @property
    def changed(self) -> bool:
        """Whether the agent left it other than it was."""
        return self.state != "read"

    @property
    def times(self) -> int:
        """How often it was touched."""
        return sum(self.actions.values())


class Command(Value, frozen=True, omit_defaults=True):
    """A command line and how its newest run ended; `note` is the line of output that tells most."""

    text: str
    outcome: str = ""
    note: str = ""
    count: int = 1
    seen: int = 0


class Fault(Value, frozen=True, omit_defaults=True):
    """An error line that a tool answered with; `source` names what was tried, `key` what must succeed to resolve it."""

    text: str
    source: str = ""
    key: str = ""
    resolved: bool = False
    seen: int = 0


class Request(Value, frozen=True, omit_defaults=True):
    """A user's message, verbatim; of a very long one its head and tail, `size` being its characters."""

    text: str
    at: int = 0
    size: int = 0
    first: bool = False


class Constraint(Value, frozen=True, omit_defaults=True):
    """A sentence that binds the agent, verbatim; `by` is who said it."""

    text: str
    at: int = 0
    by: Literal["user", "project", "summary"] = "user"


class Todo(Value, frozen=True, omit_defaults=True):
    """One item of a plan in its last state; `id` where the tool numbers its items."""

    text: str
    status: Literal["pending", "in_progress", "done", "dropped"] = "pending"
    id: str = ""
    at: int = 0


class Identifier(Value, frozen=True, omit_defaults=True):
    """A literal that may be needed again: how often and when last it was seen, and the line it stood in."""

    value: str
    count: int = 1
    seen: int = 0
    weight: float = 1.0
    line: str = ""


class Note(Value, frozen=True, omit_defaults=True):
    """A sentence of the assistant, or of an earlier summary, verbatim."""

    text: str
    kind: Literal["goal", "done", "state", "decision", "next", "context"] = "decision"
    at: int = 0


class Labelled(Value, frozen=True, omit_defaults=True):
    """A value that was stated under a label; `corrects` where the sentence says that it replaces another."""

    label: str
    value: str
    at: int = 0
    corrects: bool = False
    by: Speaker = "user"


class Retired(Value, frozen=True, omit_defaults=True):
    """A value that no longer holds in what was said before `at`; `now` replaced it.

    What an assistant retires is retired from its own statements, never from what the user said.
    """

    value: str
    now: str = ""
    at: int = 0
    by: Speaker = "user"
