"""Gemini's contents, as Gemini CLI and Qwen Code store them, as parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from foldline._messages import Message, Opaque, Part, Summary, Text, ToolCall, ToolResult
from foldline._sessions.parts import media, result
from foldline._sessions.values import Json, as_json, items, mapping, mappings, string, words

SNAPSHOT = "<state_snapshot>"
"""How a summary begins that Gemini CLI or Qwen Code made."""


def content(value: object) -> tuple[Part, ...]:
    """The parts that are sent: thoughts are shown to the user and not sent again."""
    if isinstance(value, str):
        return (Text(value),) if value else ()
    found = (_part(part) for part in ([value] if isinstance(value, dict) else items(value)))
    return tuple(part for part in found if part is not None)


def plain(value: object) -> str:
    """The words of a content alone."""
    if isinstance(value, str):
        return value
    return words([part for part in items(value) if mapping(part).get("thought") is not True])


def stored(value: object) -> list[Json]:
    """The parts of a content as they are stored, words that stand alone as a part."""
    each = value if isinstance(value, list) else [value]
    return [{"text": part} if isinstance(part, str) else part for part in each if isinstance(part, str | dict)]


def _part(part: object) -> Part | None:
    if isinstance(part, str):
        return Text(part) if part else None
    if not isinstance(part, dict) or part.get("thought") is True:
        return None
    if isinstance(text := part.get("text"), str):
        return Text(text) if text else None
    if isinstance(call := part.get("functionCall"), dict):
        return tool_call(call)
    if isinstance(response := part.get("functionResponse"), dict):
        return tool_result(response)
    if isinstance(data := part.get("inlineData"), dict):
        return media(string(data.get("mimeType")), part)
    return Opaque(part) if part.keys() - {"thoughtSignature"} else None


def tool_call(call: Json) -> ToolCall:
    """A call by its id; without one, by its name."""
    return ToolCall(string(call.get("id"), call.get("name")), string(call.get("name")), as_json(call.get("args") or {}))


def tool_result(response: Json, *, failed: bool = False) -> ToolResult:
    """A result, its text out of the shapes that the tools of both programs use."""
    given = response.get("response")
    said = mapping(given)
    text = said.get("output", said.get("error", said.get("result")))
    body: object = text if isinstance(text, str) else given if isinstance(given, str) else as_json(given)
    more = list(mappings(response.get("parts")))
    name = string(response.get("name"))
    return result(
        string(response.get("id"), name), [body, *more] if more else body, error=failed or "error" in said, name=name
    )


def results_of(calls: Iterable[Json]) -> tuple[ToolResult, ...]:
    """The results that stand inside the calls they answer."""
    found: list[ToolResult] = []
    for call in calls:
        failed = call.get("status") in ("error", "cancelled")
        given = call.get("result")
        responses = [r for part in mappings(given) if (r := mapping(part.get("functionResponse")))]
        found += [tool_result(response, failed=failed) for response in responses]
        if not responses and isinstance(given, str):
            found.append(result(string(call.get("id")), given, error=failed, name=string(call.get("name"))))
    return tuple(found)


def summarizing(text: str) -> str:
    """The words of a summary as both programs would put them."""
    return f"{SNAPSHOT}\n{text}\n</state_snapshot>"


def rewritten(parts: Iterable[Part], was: Sequence[Json]) -> Iterator[Json]:
    """The stored parts that say what a message says, the earlier ones as far as they hold; thoughts are left out."""
    for part in parts:
        said = Text(part.text) if isinstance(part, Text | Summary) else part
        held = next((each for each in was if _part(each) == said), None)
        yield held or _made(said, was)


def _made(part: Part, was: Sequence[Json]) -> Json:
    """A part as it is stored, with what stood beside an earlier version of it: a call's signature."""
    from foldline import _wires as wire

    (made,) = wire.encode(Message("user", (part,)), "gemini")["parts"]
    if isinstance(part, ToolCall):
        before = next((each for each in was if _is_call(each, part.id)), {})
        return {**before, **made}
    return dict(made)


def _is_call(part: Json, id: str) -> bool:
    call = mapping(part.get("functionCall"))
    return bool(call) and tool_call(call).id == id
