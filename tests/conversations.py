"""Conversations as agents really send them, generated as wire dicts of both formats.

A conversation is drawn as a short plan of steps, and the plan is written out in a format. Long texts are short ones
repeated, so that drawing stays cheap.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from hypothesis import strategies as st

FORMATS = ("openai-chat", "anthropic")
PIN = "PIN:"
"""How a user message begins that the tests pin."""

Item = dict[str, Any]


class Conversation(NamedTuple):
    """A history, the lengths at which a model would be called, and what the user said by index."""

    format: str
    items: list[Item]
    stops: list[int]
    said: dict[int, str]


# -- the plan -----------------------------------------------------------------------------------------------------


class Call(NamedTuple):
    """A tool call and its result: `size` is how often the output's line is repeated."""

    kind: str
    which: int
    size: int


class Act(NamedTuple):
    """An assistant message with tool calls, and how their results come."""

    calls: list[Call]
    order: str
    words: str | None
    thinking: str
    beside: str


class Reply(NamedTuple):
    """An assistant message without calls."""

    words: str
    size: int
    thinking: str


class Say(NamedTuple):
    """A user message."""

    words: str
    size: int
    how: str


class Rule(NamedTuple):
    """A system message."""

    words: str
    size: int


WORDS = (
    "Fix the parser in src/app.py, keep the port 8080.",
    "再次运行测试，然后修复失败的部分。",
    "빌드가 실패하는 이유를 찾아 주세요.",
    "🙂 ship it 🚀",
    "ok",
    "Never touch the file config/prod.toml!\n\nUse make instead.",
    "日本語の説明を README に追加してください。",
)
OUTPUTS = (
    "def main() -> int: return 0",
    "error: expected 3 arguments, got 2 (src/app.py:41)",
    "测试通过 128 项，失败 2 项",
    '{"id": 7, "name": "x", "tags": ["a", "b"]}',
    "commit 9f8e7d6c5b4a\n+++ b/src/app.py",
)

sizes = st.sampled_from((1, 1, 2, 4, 8, 20, 40))
output_sizes = st.sampled_from((0, 1, 3, 10, 30, 60, 120, 500))
thinkings = st.sampled_from(("", "", "signed", "redacted", "both"))
calls = st.builds(
    Call,
    st.sampled_from(("read", "read", "write", "bash", "fail", "shot", "odd", "broken")),
    st.integers(0, 4),
    output_sizes,
)
acts = st.builds(
    Act,
    st.lists(calls, min_size=1, max_size=4),
    st.sampled_from(("in", "in", "in", "out", "twice", "never")),
    st.sampled_from((None, None, "", "Let me look.", "我来看看。", "I decided on a queue because locks are slow.")),
    thinkings,
    st.sampled_from(("", "", "", "And hurry up, please.", " ")),
)
replies = st.builds(
    Reply,
    st.sampled_from(("Done: src/app.py is fixed.", "完成了。", "The tests pass; next I will update the docs.", "")),
    sizes,
    st.sampled_from(("", "signed", "redacted", "only")),
)
says = st.builds(
    Say, st.sampled_from(WORDS), sizes, st.sampled_from(("", "", "", "list", "image", "pinned", "empty", "odd", "null"))
)
rules = st.builds(
    Rule, st.sampled_from(("You are a careful engineer.", "<reminder>The date changed.</reminder>")), sizes
)
each_turn = st.tuples(says, st.lists(acts, max_size=4), st.none() | replies, st.none() | st.none() | rules)


def conversations(format: str, turns: int = 6) -> st.SearchStrategy[Conversation]:
    """Conversations in a format, of at most so many turns."""
    plans = st.tuples(st.lists(rules, max_size=2), st.lists(each_turn, min_size=1, max_size=turns))
    return plans.map(lambda plan: written(plan, format))


def written(
    plan: tuple[list[Rule], list[tuple[Say, list[Act], Reply | None, Rule | None]]], format: str
) -> Conversation:
    """A plan written out in a format."""
    writer = _Writer(format)
    opening, turns = plan
    for rule in opening:
        writer.rule(rule)
    for say, acts, reply, rule in turns:
        writer.say(say)
        for act in acts:
            writer.act(act)
        if reply:
            writer.reply(reply)
        if rule:
            writer.rule(rule)
    return Conversation(format, writer.items, sorted(set(writer.stops)), writer.said)


# -- writing it out -----------------------------------------------------------------------------------------------

IMAGE = {
    "openai-chat": {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
    "anthropic": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
}
ODD = {"type": "hologram", "beam": [1, 2, {"deep": None}]}


class _Writer:
    def __init__(self, format: str) -> None:
        self.format = format
        self.items: list[Item] = []
        self.stops: list[int] = []
        self.said: dict[int, str] = {}
        self.calls = 0

    def rule(self, rule: Rule) -> None:
        self.items.append({"role": "system", "content": _repeated(rule.words, rule.size)})

    def say(self, say: Say) -> None:
        words = f"#{len(self.said)} {_repeated(say.words, say.size)}"
        text = {"type": "text", "text": words}
        content: Any = words
        match say.how:
            case "list":
                content = [text]
            case "image":
                content = [text, IMAGE[self.format]]
            case "pinned":
                content = words = f"{PIN} {words}"
            case "odd":
                content = [text, ODD]
            case "empty":
                content = words = " "
            case "null":
                content, words = None, ""
        if words.strip():
            self.said[len(self.items)] = words
        self.items.append({"role": "user", "content": content})
        self.stops.append(len(self.items))

    def reply(self, reply: Reply) -> None:
        words = _repeated(reply.words, reply.size)
        if self.format == "anthropic":
            parts = [*_thinking(reply.thinking)]
            if reply.thinking != "only":
                parts.append({"type": "text", "text": words})
            self.items.append({"role": "assistant", "content": parts if reply.thinking else words})
            return
        item: Item = {"role": "assistant", "content": None if reply.thinking == "only" else words}
        if reply.thinking:
            item["reasoning_content"] = "Let me think about the parser. " * 3
        self.items.append(item)

    def act(self, act: Act) -> None:
        made = [(self._id(), call) for call in act.calls]
        if self.format == "anthropic":
            self._act_anthropic(act, made)
        else:
            self._act_openai(act, made)
        self.stops.append(len(self.items))

    def _id(self) -> str:
        self.calls += 1
        return f"call_{self.calls}"

    def _act_anthropic(self, act: Act, made: list[tuple[str, Call]]) -> None:
        uses = [{"type": "tool_use", "id": id, "name": _name(call), "input": _arguments(call)} for id, call in made]
        words = [{"type": "text", "text": act.words}] if act.words else []
        self.items.append({"role": "assistant", "content": [*_thinking(act.thinking), *words, *uses]})
        if act.order == "never":
            return
        results: list[Item] = []
        for id, call in _ordered(act.order, made):
            result: Item = {"type": "tool_result", "tool_use_id": id, "content": self._output(call)}
            if call.kind == "fail":
                result["is_error"] = True
            results.append(result)
        beside = [{"type": "text", "text": act.beside}] if act.beside.strip() else []
        if beside:
            self.said[len(self.items)] = act.beside
        self.items.append({"role": "user", "content": results + beside})

    def _act_openai(self, act: Act, made: list[tuple[str, Call]]) -> None:
        item: Item = {"role": "assistant", "content": act.words}
        if act.thinking:
            item["reasoning_content"] = "Let me think about the parser. " * 3
        item["tool_calls"] = [
            {"id": id, "type": "function", "function": {"name": _name(call), "arguments": _json(call)}}
            for id, call in made
        ]
        self.items.append(item)
        if act.order == "never":
            return
        for id, call in _ordered(act.order, made):
            self.items.append({"role": "tool", "tool_call_id": id, "content": self._output(call)})
        if act.beside.strip():
            self.said[len(self.items)] = act.beside
            self.items.append({"role": "user", "content": act.beside})

    def _output(self, call: Call) -> Any:
        line = OUTPUTS[call.which]
        text = f"{line}\n" * call.size
        match call.kind:
            case "shot":
                return [{"type": "text", "text": text or "a picture"}, IMAGE[self.format]]
            case "odd":
                return [{"type": "text", "text": text or "odd"}, ODD]
            case "write":
                return "ok"
            case "fail":
                return f"{text}Traceback: ValueError: bad port\nexit code 1"
        return text


def _repeated(words: str, size: int) -> str:
    return " ".join([words] * size)


def _name(call: Call) -> str:
    return {"fail": "bash", "broken": "write", "shot": "screenshot", "odd": "fetch"}.get(call.kind, call.kind)


def _arguments(call: Call) -> Item:
    path = f"src/mod_{call.which}.py"
    match call.kind:
        case "write" | "broken":
            return {"path": path, "content": OUTPUTS[call.which] * (call.size * 2)}
        case "bash" | "fail":
            return {"command": f"make test-{call.which}"}
        case _:
            return {"path": path}


def _json(call: Call) -> str:
    text = json.dumps(_arguments(call), ensure_ascii=False)
    return text[:-2] if call.kind == "broken" else text


def _ordered(order: str, made: list[tuple[str, Call]]) -> list[tuple[str, Call]]:
    match order:
        case "out":
            return made[::-1]
        case "twice":
            return [*made, made[-1]]
    return made


def _thinking(how: str) -> Iterator[Item]:
    if how in ("signed", "both", "only"):
        yield {"type": "thinking", "thinking": "Let me think about the parser. " * 3, "signature": "c2lnbmF0dXJl"}
    if how in ("redacted", "both"):
        yield {"type": "redacted_thinking", "data": "ZW5jcnlwdGVk" * 4}
