"""Conversations as agents really send them, generated as wire dicts of every format.

A conversation is drawn as a short plan of steps, and the plan is written out in a format. Long texts are short ones
repeated, so that drawing stays cheap.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from hypothesis import strategies as st

FORMATS = ("openai-chat", "openai-responses", "anthropic", "gemini", "bedrock-converse")
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
    opening, turns = plan
    writer = _WRITERS[format](format, stated=len(opening) % 2 == 1, again=len(turns) % 3 == 2)
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
    "openai-responses": {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="},
    "anthropic": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
    "gemini": {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
    "bedrock-converse": {"image": {"format": "png", "source": {"bytes": b"\x89PNG\r\n\x1a\n"}}},
}
THOUGHT = "Let me think about the parser. " * 3
ODD = {"type": "hologram", "beam": [1, 2, {"deep": None}]}
ODD_BLOCK = {"hologram": {"beam": [1, 2, {"deep": None}]}}


def text_part(format: str, text: str, role: str = "user") -> Item:
    """A part of a content that holds words."""
    if format in ("gemini", "bedrock-converse"):
        return {"text": text}
    kind = {"user": "input_text", "assistant": "output_text"}[role] if format == "openai-responses" else "text"
    return {"type": kind, "text": text}


def said_in(format: str, words: str) -> Item:
    """A user's words as a message of a format."""
    if format == "gemini":
        return {"role": "user", "parts": [{"text": words}]}
    return {"role": "user", "content": [{"text": words}] if format == "bedrock-converse" else words}


class _Writer:
    """Chat completions; `stated` says whether calls have ids where a format can do without, `again` whether each reply
    counts them anew."""

    def __init__(self, format: str, stated: bool, again: bool) -> None:
        self.format = format
        self.stated = stated
        self.again = again
        self.items: list[Item] = []
        self.stops: list[int] = []
        self.said: dict[int, str] = {}
        self.calls = 0

    def rule(self, rule: Rule) -> None:
        self.items.append({"role": "system", "content": _repeated(rule.words, rule.size)})

    def say(self, say: Say) -> None:
        words = f"#{len(self.said)} {_repeated(say.words, say.size)}"
        text = text_part(self.format, words)
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
        self._user(content, words)
        self.stops.append(len(self.items))

    def _user(self, content: Any, words: str) -> None:
        if words.strip():
            self.said[len(self.items)] = words
        self.items.append({"role": "user", "content": content})

    def reply(self, reply: Reply) -> None:
        words = _repeated(reply.words, reply.size)
        item: Item = {"role": "assistant", "content": None if reply.thinking == "only" else words}
        if reply.thinking:
            item["reasoning_content"] = THOUGHT
        self.items.append(item)

    def act(self, act: Act) -> None:
        self.calls = 0 if self.again else self.calls
        self._act(act, [(self._id(), call) for call in act.calls])
        self.stops.append(len(self.items))

    def _id(self) -> str:
        self.calls += 1
        return f"call_{self.calls}"

    def _act(self, act: Act, made: list[tuple[str, Call]]) -> None:
        item: Item = {"role": "assistant", "content": act.words}
        if act.thinking:
            item["reasoning_content"] = THOUGHT
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
            self._user(act.beside, act.beside)

    def _output(self, call: Call) -> Any:
        text = _printed(call)
        extra = {"shot": IMAGE[self.format], "odd": ODD}.get(call.kind)
        return [text_part(self.format, text or "a picture"), extra] if extra else text


class _Responses(_Writer):
    def reply(self, reply: Reply) -> None:
        self._reason(reply.thinking)
        if reply.thinking != "only":
            self.items.append({"role": "assistant", "content": _repeated(reply.words, reply.size)})

    def _reason(self, how: str) -> None:
        if how:
            summary = [] if how == "redacted" else [{"type": "summary_text", "text": THOUGHT}]
            sealed = "" if how == "signed" else "gAAAAAB" * 20
            id = f"rs_{len(self.items)}"
            self.items.append({"type": "reasoning", "id": id, "summary": summary, "encrypted_content": sealed})

    def _act(self, act: Act, made: list[tuple[str, Call]]) -> None:
        self._reason(act.thinking)
        if act.words is not None:
            part = {**text_part(self.format, act.words, "assistant"), "annotations": []}
            self.items.append({"type": "message", "role": "assistant", "content": [part], "id": f"msg_{made[0][0]}"})
        self.items += [self._call(id, call) for id, call in made]
        ours = [(id, call) for id, call in made if call.kind != "odd"]
        for id, call in _ordered(act.order, ours) if act.order != "never" and ours else ():
            kind = "custom_tool_call_output" if call.kind == "broken" else "function_call_output"
            self.items.append({"type": kind, "call_id": id, "output": self._output(call)})
        if act.beside.strip() and act.order != "never":
            self._user(act.beside, act.beside)

    def _call(self, id: str, call: Call) -> Item:
        if call.kind == "odd":
            ran = {"server_label": "s", "output": _printed(call), "error": None}
            return {"type": "mcp_call", "id": f"mcp_{id}", "name": _name(call), "arguments": _json(call), **ran}
        if call.kind == "broken":
            return {"type": "custom_tool_call", "call_id": id, "name": _name(call), "input": _json(call)}
        return {"type": "function_call", "call_id": id, "name": _name(call), "arguments": _json(call)}


class _Anthropic(_Writer):
    def reply(self, reply: Reply) -> None:
        words = _repeated(reply.words, reply.size)
        parts = [*_thinking(reply.thinking)]
        if reply.thinking != "only":
            parts.append({"type": "text", "text": words})
        self.items.append({"role": "assistant", "content": parts if reply.thinking else words})

    def _act(self, act: Act, made: list[tuple[str, Call]]) -> None:
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
        self._user(results + beside, act.beside)


class _Gemini(_Writer):
    def rule(self, rule: Rule) -> None:
        """Its place is the request's system instruction, not the contents."""

    def _user(self, content: Any, words: str) -> None:
        if words.strip():
            self.said[len(self.items)] = words
        parts = [{"text": content}] if isinstance(content, str) else content or []
        self.items.append({"role": "user", "parts": parts})

    def reply(self, reply: Reply) -> None:
        words = [] if reply.thinking == "only" else [{"text": _repeated(reply.words, reply.size)}]
        self.items.append({"role": "model", "parts": [*self._thought(reply.thinking), *words]})

    def _thought(self, how: str) -> list[Item]:
        signed = {"thoughtSignature": "c2lnbmF0dXJl"} if how != "signed" else {}
        return [{"text": THOUGHT, "thought": True, **signed}] if how else []

    def _act(self, act: Act, made: list[tuple[str, Call]]) -> None:
        words = [{"text": act.words}] if act.words else []
        calls = [{"functionCall": {"name": _name(c), "args": _arguments(c), **self._stated(id)}} for id, c in made]
        if act.thinking:
            calls[0]["thoughtSignature"] = "c2lnbmF0dXJl"
        self.items.append({"role": "model", "parts": [*self._thought(act.thinking), *words, *calls]})
        if act.order == "never":
            return
        results = [{"functionResponse": self._response(id, call)} for id, call in _ordered(act.order, made)]
        beside = [{"text": act.beside}] if act.beside.strip() else []
        self._user(results + beside, act.beside)

    def _stated(self, id: str) -> Item:
        return {"id": id} if self.stated else {}

    def _response(self, id: str, call: Call) -> Item:
        text = _printed(call)
        said: Item = (
            {"error": text}
            if call.kind == "fail"
            else {"stdout": text, "code": 0}
            if call.which == 1
            else {"output": text}
        )
        extra = {"shot": IMAGE[self.format], "odd": ODD}.get(call.kind)
        return {"name": _name(call), "response": said, **self._stated(id), **({"parts": [extra]} if extra else {})}


class _Bedrock(_Writer):
    """A conversation has to alternate: what the assistant says twice in a row is one message, and it answers each message."""

    def rule(self, rule: Rule) -> None:
        """Its place is the request's system blocks, not the messages."""

    def _user(self, content: Any, words: str) -> None:
        blocks = [{"text": content}] if isinstance(content, str) else content or [ODD_BLOCK]
        self._add("user", [ODD_BLOCK if block is ODD else block for block in blocks], words)

    def reply(self, reply: Reply) -> None:
        words = [] if reply.thinking == "only" else [{"text": _repeated(reply.words, reply.size)}]
        self._add("assistant", [*self._thought(reply.thinking), *words])

    def _thought(self, how: str) -> list[Item]:
        said = {"reasoningContent": {"reasoningText": {"text": THOUGHT, "signature": "ErcBCkgIBx"}}}
        sealed = {"reasoningContent": {"redactedContent": b"sealed" * 20}}
        return {"signed": [said], "redacted": [sealed], "both": [said, sealed], "only": [said]}.get(how, [])

    def _act(self, act: Act, made: list[tuple[str, Call]]) -> None:
        words = [{"text": act.words}] if act.words else []
        uses = [{"toolUse": {"toolUseId": id, "name": _name(c), "input": _arguments(c)}} for id, c in made]
        self._add("assistant", [*self._thought(act.thinking), *words, *uses])
        if act.order == "never":
            return
        results = [{"toolResult": self._result(id, call)} for id, call in _ordered(act.order, made)]
        beside = [{"text": act.beside}] if act.beside.strip() else []
        self._add("user", [*results, *beside], act.beside)

    def _result(self, id: str, call: Call) -> Item:
        text = _printed(call)
        said: list[Item] = [{"json": {"stdout": text, "code": 0}} if call.which == 1 else {"text": text or "nothing"}]
        extra = {"shot": IMAGE[self.format], "odd": ODD_BLOCK}.get(call.kind)
        status = "error" if call.kind == "fail" else "success"
        return {"toolUseId": id, "content": [*said, *([extra] if extra else [])], "status": status}

    def _add(self, role: str, blocks: list[Item], words: str = "") -> None:
        last = self.items[-1] if self.items else {}
        if last.get("role") == role == "assistant":
            last["content"] += blocks
            return
        if last.get("role") == role:
            self.items.append({"role": "assistant", "content": [{"text": "Noted."}]})
        if words.strip():
            self.said[len(self.items)] = words
        self.items.append({"role": role, "content": blocks})


_WRITERS = {
    "openai-chat": _Writer,
    "openai-responses": _Responses,
    "anthropic": _Anthropic,
    "gemini": _Gemini,
    "bedrock-converse": _Bedrock,
}


def _printed(call: Call) -> str:
    """What a tool printed."""
    text = f"{OUTPUTS[call.which]}\n" * call.size
    if call.kind == "write":
        return "ok"
    return f"{text}Traceback: ValueError: bad port\nexit code 1" if call.kind == "fail" else text


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
        yield {"type": "thinking", "thinking": THOUGHT, "signature": "c2lnbmF0dXJl"}
    if how in ("redacted", "both"):
        yield {"type": "redacted_thinking", "data": "ZW5jcnlwdGVk" * 4}
