"""Messages and their parts: pure values, without id, tokens or clock.

Every wire format decodes into these and encodes from them. What a format says that is not modelled here
stays in `extra`, so that encoding into the same format gives back the same JSON.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct

Role = Literal["system", "user", "assistant", "tool"]

Speaker = Literal["", "user", "agent", "tool", "harness", "peer", "command", "paste"]
"""Who said a text: the user, the agent, a tool, the program around them, another agent, the body of a command or skill, or
something that the user pasted; empty where nobody but the message's role tells."""


_SPEAKERS: dict[object, Speaker] = {name: name for name in get_args(Speaker)}


def speaker_named(name: object) -> Speaker:
    """The speaker of that name, or the one that nobody names."""
    return _SPEAKERS.get(name, "") if isinstance(name, str) else ""


class Value(Struct, frozen=True, omit_defaults=True):
    """A pure value: immutable, compared by content."""


class Text(Value, tag="text", frozen=True, gc=False, omit_defaults=True):
    """Words; `by` says whose, where the file that they were read from marks them as another's than the role's."""

    text: str
    extra: dict[str, Any] = {}
    by: Speaker = ""


class Thinking(Value, tag="thinking", frozen=True, gc=False, omit_defaults=True):
    """A model's reasoning; `data` holds what the provider encrypted or redacted instead of `text`."""

    text: str = ""
    signature: str | None = None
    data: str | None = None
    extra: dict[str, Any] = {}


class ToolCall(Value, tag="tool_call", frozen=True, gc=False, omit_defaults=True):
    """A request to run a tool; `arguments` is the JSON text of the arguments, broken where the model broke it."""

    id: str
    name: str
    arguments: str = "{}"
    extra: dict[str, Any] = {}


class Media(Value, tag="media", frozen=True, gc=False, omit_defaults=True):
    """An image, document, sound or video; the wire's own item stands verbatim in `source`."""

    kind: Literal["image", "document", "audio", "video"]
    source: dict[str, Any] = {}


class Opaque(Value, tag="opaque", frozen=True, gc=False, omit_defaults=True):
    """A wire item of a kind that is not modelled, verbatim; never edited, only kept or dropped whole."""

    source: Any = None


class ToolResult(Value, tag="tool_result", frozen=True, gc=False, omit_defaults=True):
    """What a tool answered to the call `call_id`; `name` is the tool's, where the wire says it."""

    call_id: str
    parts: tuple[Text | Media | Opaque, ...] = ()
    error: bool = False
    name: str = ""
    extra: dict[str, Any] = {}


class Summary(Value, tag="summary", frozen=True, gc=False, omit_defaults=True):
    """What stands in for folded messages.

    `facts` are the facts behind the text, as plain data, so that the next fold merges facts and not prose. `source` is
    the wire's own item where the provider made the summary; `text` is empty where only the provider can read it. `frame`
    are the words before and behind it where they are not the usual ones.
    """

    text: str
    facts: dict[str, Any] = {}
    source: dict[str, Any] = {}
    frame: tuple[str, str] | None = None

    @property
    def short(self) -> bool:
        """Whether it goes without a sentence before it, which would take a tenth of its room."""
        return len(self.text) <= SHORT_SUMMARY


SHORT_SUMMARY = 1_600
"""Characters of the longest short summary."""

Part = Text | Thinking | ToolCall | ToolResult | Media | Summary | Opaque


LARGEST_BILL = 20_000_000
"""Tokens beyond which a bill is a fault of its writer: twice the largest window that any model has had."""


class Usage(Value, frozen=True, gc=False, omit_defaults=True):
    """What the provider billed for one reply, in tokens; `input` excludes what was read from or written to a cache."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def prompt(self) -> int:
        """Tokens of the request: cached ones occupy the window as well."""
        return self.input + self.cache_read + self.cache_write

    @property
    def context(self) -> int:
        """Tokens of the request and its reply together."""
        return self.prompt + self.output


class Message(Value, frozen=True, gc=False, omit_defaults=True):
    """One role's contribution to a conversation.

    `extra` holds the wire's unmodelled keys verbatim, and a placeholder for each modelled key where the order
    or the shape differs from the encoder's own; `format` is the wire it came from, empty when made by foldline.
    """

    role: Role
    parts: tuple[Part, ...] = ()
    usage: Usage | None = None
    extra: dict[str, Any] = {}
    format: str = ""

    @property
    def calls(self) -> Iterator[ToolCall]:
        """The tool calls in it."""
        return (p for p in self.parts if type(p) is ToolCall)

    @property
    def results(self) -> Iterator[ToolResult]:
        """The tool results in it."""
        return (p for p in self.parts if type(p) is ToolResult)

    @property
    def speaker(self) -> str:
        """Whose words it holds: its role's, or a tool's where there is nothing but tool results, whoever carries them."""
        return "tool" if self.parts and all(type(p) is ToolResult for p in self.parts) else self.role

    @property
    def summary(self) -> Summary | None:
        """The summary in it, when it stands in for folded messages."""
        return next((p for p in self.parts if type(p) is Summary), None)

    @property
    def empty(self) -> bool:
        """Whether a provider would refuse it as empty."""
        return not any(_says(part) for part in self.parts)

    @property
    def text(self) -> str:
        """Its words, joined by newlines; thinking, tool calls and results are not words."""
        return "\n".join(p.text for p in self.parts if type(p) is Text or type(p) is Summary)


def _says(part: Part) -> bool:
    match part:
        case Thinking(text, _, data):
            return bool(text.strip() or data)
        case Text(text):
            return bool(text.strip())
        case Summary(text, source=source):
            return bool(text.strip() or source)
    return True


def text_of(result: ToolResult) -> str:
    """The words of a tool result, joined by newlines."""
    return "\n".join(p.text for p in result.parts if type(p) is Text)


replace = msgspec.structs.replace
"""`replace(value, field=…)` gives a copy of a value with fields changed."""
