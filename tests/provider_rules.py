"""What providers refuse, judged on their own dicts: each format is read into pieces, and the rules judge these.

Nothing here knows foldline.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

Item = dict[str, Any]


class Piece(NamedTuple):
    """A piece of an item: "text", "thinking", "call", "result" or "other", its words or id, and whether it is sound."""

    kind: str
    said: str = ""
    sound: bool = True


def role_of(item: Item) -> str:
    """Who speaks, in the words of chat completions."""
    if "role" in item:
        role: str = item["role"]
        return {"model": "assistant", "developer": "system"}.get(role, role)
    return "tool" if item["type"].endswith("_output") else "assistant"


def pieces(item: Item) -> list[Piece]:
    """The pieces of an item of any format."""
    if "parts" in item:
        return [_gemini(part) for part in item["parts"]]
    if "role" not in item:
        return list(_responses(item))
    content = item.get("content")
    parts = [Piece("text", content)] if isinstance(content, str) else [_typed(part) for part in content or ()]
    if item.get("reasoning_content"):
        parts.insert(0, Piece("thinking"))
    for call in item.get("tool_calls") or ():
        parts.append(Piece("call", call["id"], _is_object(call["function"]["arguments"])))
    return [Piece("result", item["tool_call_id"]), *parts] if item["role"] == "tool" else parts


def _typed(part: Item) -> Piece:
    if not isinstance(part, dict):
        return Piece("other")
    if "type" not in part:
        return _bedrock(part)
    match part["type"]:
        case "text" | "input_text" | "output_text":
            return Piece("text", part["text"])
        case "thinking" | "redacted_thinking":
            return Piece("thinking")
        case "tool_use":
            return Piece("call", part["id"], isinstance(part["input"], dict))
        case "tool_result":
            return Piece("result", part["tool_use_id"])
    return Piece("other")


def _bedrock(block: Item) -> Piece:
    if "text" in block:
        return Piece("text", block["text"])
    if "reasoningContent" in block:
        return Piece("thinking")
    if call := block.get("toolUse"):
        return Piece("call", call["toolUseId"], isinstance(call["input"], dict))
    if result := block.get("toolResult"):
        return Piece("result", result["toolUseId"], isinstance(result["content"], list))
    return Piece("other")


def _responses(item: Item) -> Iterator[Piece]:
    match item["type"]:
        case "reasoning":
            yield Piece("thinking")
        case "function_call":
            yield Piece("call", item["call_id"], _is_object(item["arguments"]))
        case "custom_tool_call":
            yield Piece("call", item["call_id"], isinstance(item["input"], str))
        case "function_call_output" | "custom_tool_call_output":
            yield Piece("result", item["call_id"])
        case _:
            yield Piece("other")


def _gemini(part: Item) -> Piece:
    if "text" in part:
        return Piece("thinking") if part.get("thought") else Piece("text", part["text"])
    if call := part.get("functionCall"):
        return Piece("call", call.get("id", call["name"]), isinstance(call["args"], dict))
    if response := part.get("functionResponse"):
        return Piece("result", response.get("id", response["name"]), isinstance(response["response"], dict))
    return Piece("other")


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def said_by(item: Item, kind: str) -> list[str]:
    """The words or ids of an item's pieces of a kind."""
    return [piece.said for piece in pieces(item) if piece.kind == kind]


# -- the rules ----------------------------------------------------------------------------------------------------


def pairing_faults(items: Iterable[Item]) -> Counter[tuple[str, str]]:
    """Results without a call right before them, and calls without a result right behind them.

    OpenAI's responses let other items stand between the two.
    """
    items = list(items)
    anywhere = any("call_id" in item for item in items)
    faults: Counter[tuple[str, str]] = Counter()
    called: list[str] = []
    open: Counter[str] = Counter()
    for item in items:
        answers = said_by(item, "result")
        faults.update(("orphan", id) for id in answers if id not in called)
        for id in answers:
            open[id] = max(0, open[id] - 1)
        if anywhere:
            called += said_by(item, "call")
            open.update(said_by(item, "call"))
        elif not answers or item["role"] == "user":
            faults.update(("unanswered", id) for id in open.elements())
            called, open = said_by(item, "call"), Counter(said_by(item, "call"))
    faults.update(("unanswered", id) for id in open.elements())
    return faults


def empty_faults(items: Iterable[Item]) -> Counter[str]:
    """Items that say nothing."""
    return Counter(role_of(item) for item in items if is_empty(item))


def is_empty(item: Item) -> bool:
    """Whether an item has neither words nor anything else in it."""
    return not any(piece.kind != "text" or piece.said.strip() for piece in pieces(item))


def broken(items: Iterable[Item]) -> set[str]:
    """The ids of calls whose arguments, and of results whose response, no provider can read."""
    return {piece.said for item in items for piece in pieces(item) if not piece.sound}


def first_speaker(items: Iterable[Item]) -> str | None:
    """Who speaks first, the system aside."""
    return next((role for item in items if (role := role_of(item)) != "system"), None)


def thinks(item: Item) -> bool:
    """Whether a model's thinking stands in an item."""
    return bool(said_by(item, "thinking"))


def results_lead(item: Item) -> bool:
    """Anthropic: tool results come before everything else of their message."""
    kinds = [piece.kind == "result" for piece in pieces(item)]
    return kinds == sorted(kinds, reverse=True)


def lone_reasoning(items: list[Item]) -> Counter[str]:
    """OpenAI's responses: reasoning without the item of the reply that followed it."""
    behind = [*(role_of(item) for item in items[1:]), "end"]
    found = (item for item, next in zip(items, behind) if item.get("type") == "reasoning" and next != "assistant")
    return Counter(item["id"] for item in found)


def unreasoned(items: list[Item]) -> Counter[str]:
    """OpenAI's responses: what a reply says and calls without reasoning before it in the reply."""
    found: Counter[str] = Counter()
    led = False
    for item in items:
        led = role_of(item) == "assistant" and (led or item.get("type") == "reasoning")
        if role_of(item) == "assistant" and not led and "parts" not in item:
            found[str(pieces(item))] += 1
    return found


def calls_out_of_turn(items: list[Item]) -> Counter[str]:
    """Gemini: function calls that stand behind another content of the model's."""
    pairs = pairwise(items)
    wrong = (b for a, b in pairs if "parts" in b and role_of(a) == role_of(b) == "assistant" and said_by(b, "call"))
    return Counter(id for item in wrong for id in said_by(item, "call"))


def neighbours_of_one_role(items: list[Item]) -> int:
    """Bedrock: messages behind one of the same role, which it refuses; its contents are blocks without a type."""
    blocks = [part for item in items if isinstance(item.get("content"), list) for part in item["content"]]
    if not blocks or any("type" in block for block in blocks):
        return 0
    return sum(a["role"] == b["role"] for a, b in pairwise(items))


def check_valid(history: list[Item], sent: list[Item]) -> None:
    """Fails where a provider would refuse what was sent for something that it does not refuse in the history."""
    assert not pairing_faults(sent) - pairing_faults(history)
    assert not empty_faults(sent) - empty_faults(history)
    assert broken(sent) <= broken(history)
    assert all(map(results_lead, sent))
    assert first_speaker(sent) == "user" or first_speaker(history) != "user"
    assert not lone_reasoning(sent) - lone_reasoning(history)
    assert not calls_out_of_turn(sent) - calls_out_of_turn(history)
    assert neighbours_of_one_role(sent) <= neighbours_of_one_role(history)


def users_words(items: Iterable[Item]) -> str:
    """Everything that stands in the user messages of a history."""
    return "\n".join(text for item in items if role_of(item) == "user" for text in said_by(item, "text"))
