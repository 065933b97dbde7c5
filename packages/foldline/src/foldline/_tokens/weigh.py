"""Tokens of a message, estimated part by part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

import msgspec

from foldline._framing import summary_text
from foldline._messages import Media, Message, Opaque, Part, Summary, Text, Thinking, ToolCall, ToolResult
from foldline._tokens.estimate import estimate_all
from foldline._tokens.exact import exact
from foldline._tokens.media import media_tokens

MESSAGE_FRAME = 4
"""Tokens that a provider adds around each message (OpenAI's cookbook counts 3, and 1 for a name)."""

CALL_FRAME = 12
"""Tokens around a tool call or its result: id, type and field names."""

WRITTEN_OUT = {"claude3": (36, 14), "claude4.7": (28, 17), "glm": (10, 10), "deepseek": (21, 21)}
"""Tokens around a call, and around each of its arguments, where the model reads arguments as they are and not as JSON.

From the bills of 3,500 replies with one call and no thinking, by least squares; with these a call of Claude is off by 2 to
8 tokens in the median, by its JSON by 12 to 28, and a file that it writes by a third.
"""

_MOST_WRITTEN_OUT = (max(around for around, _ in WRITTEN_OUT.values()), max(each for _, each in WRITTEN_OUT.values()))

SUMMARY_FRAME = 24
"""Tokens of the words that a summary is wrapped in."""

SHORT_FRAME = 8
"""Tokens of what a short summary is wrapped in."""

SURELY_SHORT = 320
"""Tokens of a summary that is short, however long its words are."""


def summary_frame(tokens: int) -> int:
    """Tokens of the message and the words around a summary of that size, at most."""
    return MESSAGE_FRAME + (SHORT_FRAME if tokens < SURELY_SHORT else SUMMARY_FRAME)


ENCODINGS = {"o200k": "o200k_base", "cl100k": "cl100k_base"}
"""The vocabularies that may be installed, by the family of tokenizers that they are the whole of."""

SIGNATURE_HEAD, HIDDEN_SIGNATURE = 200, 3.6
HIDDEN_DATA = 6
"""Characters of a signature that say nothing of its size, and those of it, or of redacted data, for each token of
thinking that the file does not show: by least squares over 1,100 replies of Claude Code that were billed for it."""

SHORTEST_SEALED, SEALED_SUMMARY = 100, 1_500
"""Characters up to which a sealed summary was taken out of the file, and the tokens that stand in for it: the first
request behind one took 1,300 to 2,500 more than the rest explains in six sessions of Codex."""


def weigh(message: Message, family: str = "o200k") -> int:
    """Estimates what a message adds to a request, in tokens of the tokenizer `family`; never raises."""
    return weigh_all((message,), family)[0]


def weigh_all(messages: Iterable[Message], family: str = "o200k") -> list[int]:
    """What `weigh` says of each message; many at once take a fraction of the time."""
    sums: list[int] = []
    ends: list[int] = []
    texts: list[str] = []
    for message in messages:
        sums.append(MESSAGE_FRAME + _take(message.parts, family, texts))
        ends.append(len(texts))
    figures = iter(estimate_all(texts, family))
    return [total + sum(islice(figures, end - start)) for total, start, end in zip(sums, [0, *ends], ends)]


def is_claude(family: str) -> bool:
    """Whether a family of tokenizers is one of Claude, whose provider takes back all that it billed for a reply."""
    return family.startswith("claude")


def sealed_reasoning(message: Message, family: str = "o200k") -> list[int]:
    """What `weigh` adds for each piece of reasoning that the provider sealed in a reply."""
    if message.role != "assistant" or not (family == "o200k" or is_claude(family)):
        return []
    thinking = (part for part in message.parts if type(part) is Thinking)
    sealed = (part for part in thinking if part.data or not part.text or (part.signature and is_claude(family)))
    return [weigh_part(part, family) for part in sealed]


def summaries_of_reasoning(message: Message) -> int:
    """The characters by which a reply's sealed reasoning is summed up in it."""
    return sum(len(part.text) for part in message.parts if type(part) is Thinking and part.data)


def searched_the_web(message: Message) -> bool:
    """Whether OpenAI searched the web for a reply: what it found is sent along and stands nowhere in the history."""
    return any(type(part) is Opaque and _kind(part.source) == "web_search_call" for part in message.parts)


def _kind(source: object) -> object:
    return source.get("type") if isinstance(source, dict) else None


def weigh_exactly(messages: Iterable[Message], family: str = "o200k") -> int | None:
    """What the messages add to a request, their texts counted by the tokenizer itself; None where its vocabulary is not here."""
    encoding = ENCODINGS.get(family, "")
    if exact("", encoding) is None:
        return None
    texts: list[str] = []
    total = sum(MESSAGE_FRAME + _take(message.parts, family, texts) for message in messages)
    counts = [exact(text, encoding) for text in texts]
    return None if None in counts else total + sum(count or 0 for count in counts)


def weigh_part(part: Part, family: str = "o200k") -> int:
    """Estimates what one part adds to a request, in tokens; never raises."""
    texts: list[str] = []
    return _take((part,), family, texts) + sum(estimate_all(texts, family))


def _take(parts: Sequence[Part], family: str, texts: list[str]) -> int:
    """Adds to `texts` what is to be estimated of some parts, and answers what they weigh beside it.

    The three kinds that nearly all parts are of come first: `match` takes twice as long to find them.
    """
    total = 0
    for part in parts:
        if type(part) is Text:
            texts.append(part.text)
        elif type(part) is ToolCall:
            total += _take_call(part, family, texts)
        elif type(part) is ToolResult:
            total += CALL_FRAME + _take(part.parts, family, texts)
        else:
            total += _take_other(part, family, texts)
    return total


def _take_call(call: ToolCall, family: str, texts: list[str]) -> int:
    texts.append(call.name)
    if family not in WRITTEN_OUT:
        texts.append(call.arguments)
        return CALL_FRAME
    try:
        arguments = _decoded(call.arguments)
    except ValueError:
        texts.append(call.arguments)
        return CALL_FRAME
    texts.append("\n".join(f"{name} {_plain(value)}" for name, value in arguments.items()))
    around, each = WRITTEN_OUT[family]
    return around + (each - 2) * len(arguments)


_decoded = msgspec.json.Decoder(dict[str, object]).decode


def _plain(value: object) -> str:
    return value if isinstance(value, str) else as_text(value)


def _take_other(part: Part, family: str, texts: list[str]) -> int:
    match part:
        case Thinking(text, signature, data):
            hidden = len(data) // HIDDEN_DATA if data else _hidden(signature or "") if not text else 0
            if not hidden:
                texts.append(text)
            return hidden
        case Media(kind, source):
            return media_tokens(kind, source, family)
        case Summary("", source={"encrypted_content": str(sealed)}) | Opaque({"encrypted_content": str(sealed)}):
            return len(sealed) // HIDDEN_DATA if len(sealed) > SHORTEST_SEALED else SEALED_SUMMARY
        case Summary():
            texts.append(summary_text(part))
        case Opaque(source):
            texts.append(as_text(source))
    return 0


def _hidden(signature: str) -> int:
    return max(min(1, len(signature)), round((len(signature) - SIGNATURE_HEAD) / HIDDEN_SIGNATURE))


def as_text(source: object) -> str:
    """A wire item as the JSON that a request carries, or as Python prints it where it is none."""
    try:
        return msgspec.json.encode(source).decode()
    except (ValueError, TypeError, OverflowError):
        return repr(source)


def at_most(message: Message) -> int:
    """What `weigh` can find in a message at most, from the bytes of its texts alone: no token has less than one."""
    return MESSAGE_FRAME + _parts_at_most(message.parts)


def _parts_at_most(parts: Sequence[Part]) -> int:
    total = 0
    for part in parts:
        if type(part) is Text or (type(part) is Summary and part.text):
            total += SUMMARY_FRAME + bytes_in(part.text)
            total += sum(map(bytes_in, part.frame or ())) if type(part) is Summary else 0
        elif type(part) is ToolCall:
            around, each = _MOST_WRITTEN_OUT
            total += around + each * part.arguments.count(":") + bytes_in(part.name) + bytes_in(part.arguments)
        elif type(part) is ToolResult:
            total += CALL_FRAME + _parts_at_most(part.parts)
        elif type(part) is Thinking:
            total += CALL_FRAME + bytes_in(part.text) + len(part.signature or "") + len(part.data or "")
        else:
            total += weigh_part(part)
    return total


def bytes_in(text: str) -> int:
    """The bytes of a text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
