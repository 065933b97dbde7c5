"""What every provider asks of a request, whichever client sent it."""

from collections import Counter
from collections.abc import Iterator
from typing import Any


def check_messages(sent: dict[str, Any]) -> None:
    """Pairs are whole, results follow their calls, the first speaker is the user, no reply is empty."""
    if "contents" in sent:
        check_contents(sent["contents"])
        return
    calls: Counter[str] = Counter()
    if "input" in sent or "function" in sent["tools"][0]:
        for kind, id in exchanged(sent):
            calls[id] += 1 if kind == "call" else -1
            assert calls[id] == (kind == "call")
        assert not +calls
        return
    messages = [m for m in sent["messages"] if m["role"] != "system"]
    assert messages[0]["role"] == "user"
    waiting: set[str] = set()
    for message in messages:
        blocks = (
            message["content"]
            if isinstance(message["content"], list)
            else [{"type": "text", "text": message["content"]}]
        )
        assert blocks
        results = {block["tool_use_id"] for block in blocks if block["type"] == "tool_result"}
        assert results == waiting
        waiting = {block["id"] for block in blocks if block["type"] == "tool_use"}
    assert not waiting


def exchanged(sent: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The calls and the results of a request of OpenAI's, in order, by their ids."""
    for item in sent.get("input", ()):
        if item["type"] in ("function_call", "function_call_output"):
            yield "call" if item["type"] == "function_call" else "result", item["call_id"]
    for message in sent.get("messages", ()):
        yield from (("call", call["id"]) for call in message.get("tool_calls") or ())
        if message["role"] == "tool":
            yield "result", message["tool_call_id"]


def check_contents(contents: list[dict[str, Any]]) -> None:
    """The same for Gemini, whose own client says results again that it sent before it was resumed."""
    assert contents[0]["role"] == "user"
    called: set[str] = set()
    for content, behind in zip(contents, [*contents[1:], {"parts": []}], strict=True):
        assert content["parts"]
        asked, told = ids_in(content, "functionCall"), ids_in(content, "functionResponse")
        assert told <= called
        assert asked <= ids_in(behind, "functionResponse")
        called |= asked


def ids_in(content: dict[str, Any], kind: str) -> set[str]:
    return {part[kind]["id"] for part in content["parts"] if kind in part}
