"""Who speaks: every text of a conversation with its speaker, before anything is read out of it.

First come the marks of the file (`Text.by`), then what `wrappers` knows of the texts of clients, then who acts by
text, then what a user pasted. What nobody else wrote is the user's own.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from typing import Any

from foldline._facts import pasted
from foldline._facts import wrappers as known
from foldline._facts.own_script import may_have_own_script, with_own_script
from foldline._facts.tool_calls import arguments_of
from foldline._facts.types import Span
from foldline._messages import Message, Part, Speaker, Text, ToolCall, ToolResult, replace, text_of
from foldline._patterns import pattern

_THOUGHT = pattern(r"<(think(?:ing)?(?:-content-\w+)?)>(?P<said>.*?)(?:</\1>|\Z)", re.DOTALL)
"""Thoughts that an agent writes in tags at the beginning of what it says, as aider does with the mark of its chat."""

_BEGUN = re.compile(r"(?!.*<think)(?P<said>.*?)^</think(?:ing)?>[ \t]*$", re.DOTALL | re.MULTILINE)
"""A thought whose opening tag stands in the template of a model, as Qwen's and DeepSeek's have it."""

_LABEL = re.compile(r"\s*(?:THOUGHT|DISCUSSION)(?::\s*|\n)")
"""What a protocol wants before what an agent says."""

_OPENING = 400
"""Characters of an answer in which a client says that the user refused the call."""


def spoken(
    messages: Sequence[Message], speaker: Callable[[Message], Speaker | None] | None = None
) -> list[tuple[Span, ...]]:
    """The words of each message in order, with their speakers; `speaker` says whose a message is where the host knows.

    Words are texts, what a tool says for the agent (its questions, its report), and what the user answered it. Thinking,
    calls, other results and summaries are none. Only blanks between the pieces are left out.
    """
    asking: dict[str, ToolCall] = {}
    observed = _observed(messages)
    refused = _refused(messages)
    shown = _shown_file(messages)
    made: list[tuple[Span, ...]] = []
    prompt = "\n".join(message.text for message in messages[:1] if message.role == "system")
    for at, message in enumerate(messages):
        asking.update((call.id, call) for call in message.calls)
        mark = (speaker(message) if speaker else None) or ("harness" if prompt and _signed(message, prompt) else None)
        made.append(tuple(_of(message, mark or "", at in observed, asking, refused[at], shown)))
    return with_own_script(made)


def _shown_file(messages: Sequence[Message]) -> Set[str]:
    """How user messages begin that an editor sent with the path of the file that it showed, which often stays the same."""
    texts = (message.text for message in messages if message.role == "user")
    begun = Counter(found[0] for text in texts if (found := known.SHOWN_FILE.match(text)))
    return {line for line, times in begun.items() if times >= known.LEAST_SHOWN}


def _signed(message: Message, prompt: str) -> bool:
    """Whether a message in the user's role is signed with the name of the application that the prompt speaks of."""
    name = known.HOST.match(message.text) if message.role == "user" else None
    return name is not None and f" {name[1]}" in prompt


@lru_cache(maxsize=512)
def spans_of(text: str, by: Speaker = "") -> tuple[Span, ...]:
    """The pieces of a text in the user's role; `by` is the file's mark, empty or `user`."""
    return tuple(
        Span("paste", piece) if is_paste else Span(who, piece)
        for who, words, whole in _pieces(text, by)
        for is_paste, given in (pasted.parts(words) if who == "user" and not whole else ((False, words),))
        if (piece := given.strip())
    )


def whose(text: str) -> Speaker:
    """Whose a text is from end to end; empty where the beginning of none that is known, which is mostly a user's."""
    text = text.strip()
    for by, openings in known.OPENINGS.items():
        if text.startswith(openings):
            return by
    for by, opening, sign in known.SIGNED:
        if text.startswith(opening) and sign in text:
            return by
    if known.RESULT.match(text):
        return "tool"
    if known.ADDRESSED.match(text):
        return "peer"
    if known.SLASH.match(text):
        return "command"
    if text.startswith("<") and (tag := known.OPEN_TAG.match(text)) and known.BLOCKS[tag[1]] != "user":
        close = f"</{tag[1]}>"
        if text.find(close) == len(text) - len(close):
            return known.BLOCKS[tag[1]]
    if text.startswith("<") and (by := _of_tag(text)):
        return by
    return "harness" if known.SUMMARY.match(text[:200]) or _hosts(text) else ""


def _of_tag(text: str) -> Speaker:
    """Whose a text is that stands in one tag of a host's; empty for others."""
    tag = known.WHOLE_TAG.fullmatch(text)
    if tag is None or not (tag[2] or "-" in tag[1] or "_" in tag[1]) or text.count(f"</{tag[1]}>") > 1:
        return ""
    return "peer" if known.SENDER.search(tag[2]) else "harness"


def _hosts(text: str) -> bool:
    """Whether a host says of a text, by its tag or its first words, that it is none of the user's."""
    if text.startswith("<") and (tag := known.NAMED_BLOCK.fullmatch(text)):
        return text.count(f"</{tag[1]}>") == 1
    return known.SYSTEM_NOTE.fullmatch(text) is not None or known.OPERATOR.match(text) is not None


def tool_of(call: ToolCall) -> str:
    """The name of the tool that is called, without that of its server."""
    return call.name.rpartition("__")[2]


def speaks(call: ToolCall) -> bool:
    """Whether with a call the agent says something to the user."""
    return asks_user(call) or tool_of(call) in known.SPEAKS


def notifies(call: ToolCall) -> bool:
    """Whether with a call the agent only calls the user to the screen."""
    command = _arguments(call).get("command")
    return isinstance(command, str) and known.NOTIFIES.match(command) is not None


def thinks(call: ToolCall) -> bool:
    """Whether all that a call does is to note a thought down."""
    return tool_of(call) in known.THINKS


def questions(call: ToolCall) -> list[str]:
    """What the agent asks the user with a call; empty where it asks nothing."""
    return [*filter(None, _said(call))] if asks_user(call) else []


def asks_user(call: ToolCall) -> bool:
    """Whether a call asks the user, and nothing else that it names."""
    if not _asks(tool_of(call)):
        return False
    arguments = _arguments(call)
    return not any(key.replace("_", "").lower() in known.ASKED_OF for key in arguments)


def _talking_tool(call: ToolCall) -> str:
    """The name of the tool; empty of one that asks, but not the user."""
    return tool_of(call) if asks_user(call) or not _asks(tool_of(call)) else ""


def _arguments(call: ToolCall) -> Mapping[str, Any]:
    arguments = arguments_of(call)
    return {} if isinstance(arguments, str) else arguments


def _asks(name: str) -> bool:
    """Whether a tool asks the user, however its name is written."""
    return name.replace("_", "").lower() in known.ASKS


def answers_by_text(message: Message) -> bool:
    """Whether a message holds the user's answer to what an agent asked that acts by text."""
    return message.role == "user" and message.text.lstrip().startswith(known.ASKED_BY_TEXT)


def framed(text: str) -> bool:
    """Whether a text is a template around words of the user, as Cline and the benchmarks have them."""
    return _framed(text) is not None


def templated(message: Message) -> bool:
    """Whether in a message stands a template around a task, which says how that is to be done."""
    return any(_holds_task(part.text) for part in message.parts if type(part) is Text)


def stopped(text: str) -> bool:
    """Whether a client says in the text that the user stopped the agent."""
    return text.lstrip().startswith(known.STOPS)


# -- a message ---------------------------------------------------------------------------------------------------


def _of(
    message: Message, mark: Speaker, observed: bool, asking: Mapping[str, ToolCall], refused: Set[str], shown: Set[str]
) -> Iterator[Span]:
    attached = False
    for part in message.parts:
        if type(part) is Text:
            attached = part.text.strip() == known.ATTACHED[0] or (attached and part.text.strip() != known.ATTACHED[1])
            by = mark or part.by or ("harness" if attached or part.text.strip() == known.ATTACHED[1] else "")
            if message.role == "user" and by in ("", "user"):
                begun = next((line for line in shown if part.text.startswith(line)), "")
                yield from (Span("harness", each) for each in (begun.strip(),) if each)
                text = part.text[len(begun) :]
                yield from _observation(text) if observed and not by else spans_of(text, by)
            elif text := part.text.strip():
                says = message.role == "assistant" and not text.startswith(known.NO_REPLY)
                who = by or ("agent" if says else "harness")
                yield Span(who, _aloud(text) if who == "agent" else text)
        elif type(part) is ToolCall and (speaks(part) or thinks(part)) and part.id not in refused:
            beside = message.text if thinks(part) else ""
            yield from (Span("agent", text) for text in _said(part) if text and text not in beside)
        elif type(part) is ToolResult:
            yield from (Span("user", text) for text in _answers(part, asking) if text)


def _aloud(text: str) -> str:
    """What an agent says, without the thoughts that it wrote before that in tags; these themselves where it says nothing else. What
    its protocol wants before it, and around it, is nothing that it says."""
    text = _in_record(text) if text.startswith("{") else text
    text = known.SPEAKING.sub(lambda tags: tags["said"], text) if "<" in text else text
    text = _LABEL.sub("", text, count=1) if _LABEL.match(text) else text
    if not text.startswith("<think") and "</think" not in text:
        return text
    thought = _THOUGHT.match(text) or _BEGUN.match(text)
    return (text[thought.end() :].strip() or thought["said"].strip() or text) if thought else text


def _in_record(text: str) -> str:
    """What an agent says that replies with a record which has a field for that; any other text as it is."""
    try:
        record = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return text
    return next((said for key in known.SAID_IN if isinstance(said := record.get(key), str) and said.strip()), text)


def _pieces(text: str, by: Speaker) -> Iterator[tuple[Speaker, str, bool]]:
    """The pieces of a text by their speakers, none beside another of the same, and whether one is a task, which is told whole."""
    who: Speaker = ""
    held, whole = "", False
    for other, words, task in _apart(text, by):
        if other == who or not words.strip():
            held += words
            whole = whole or task
            continue
        if who:
            yield who, held, whole
        who, held, whole = other, ("" if who else held) + words, task
    if who:
        yield who, held, whole


def _apart(text: str, by: Speaker) -> Iterator[tuple[Speaker, str, bool]]:
    if frame := _framed(text):
        start, end, template = frame
        yield "harness", text[:start], False
        if template.whole:
            yield "user", known.COMMENT.sub("", text[start:end]), True
        else:
            yield from _apart(text[start:end], "")
        yield from _blocks(text[end:], template.behind)
    elif (not by or text.lstrip().startswith(known.EXPANDED)) and (other := whose(text)):
        yield other, text, False
    else:
        yield from _wrapped(text)


def _framed(text: str) -> tuple[int, int, known.Frame] | None:
    """Where the user's part stands in a template, and in which."""
    stripped = len(text) - len(text.lstrip())
    for frame in known.FRAMES:
        if frame.sign in text and (found := frame.pattern.match(text, stripped)):
            return *found.span(1), frame
    return None


def _holds_task(text: str) -> bool:
    frame = _framed(text)
    return frame is not None and (frame[2].whole or _holds_task(text[frame[0] : frame[1]]))


def _wrapped(text: str) -> Iterator[tuple[Speaker, str, bool]]:
    """The user's words among blocks and lines of the client."""
    for by, piece, _ in _blocks(text, "user"):
        if by != "user":
            yield by, piece, False
            continue
        for who, words in _lines(piece):
            other: Speaker = (whose(words) or who) if who == "user" and words != text else who
            yield ("command" if other == "user" and known.SLASH.match(words.strip()) else other), words, False


def _blocks(text: str, otherwise: Speaker) -> Iterator[tuple[Speaker, str, bool]]:
    """The text by the blocks that known tags enclose; a tag that is never closed is a word like any other."""
    start = position = 0
    unclosed: set[str] = set()
    while (tag := text.find("<", position)) >= 0 and (found := known.OPEN_TAG.search(text, tag)):
        close = f"</{found[1]}>"
        position = found.end()
        end = -1 if close in unclosed else text.find(close, position)
        if end < 0:
            unclosed.add(close)
            continue
        yield otherwise, text[start : found.start()], False
        by = known.BLOCKS[found[1]]
        if found[1] == known.ARGUMENTS and known.OWN_COMMAND.search(text, 0, found.start()):
            by = "command"
        start = position = end + len(close)
        if by == "user":
            yield "command", found[0], False
            yield "user", text[found.end() : end], False
            yield "command", close, False
        else:
            block = text[found.start() : start]
            yield (whose(block) if block.startswith(known.SIGNED_BLOCK) else by), block, False
    yield otherwise, text[start:], False


def _lines(text: str) -> Iterator[tuple[Speaker, str]]:
    """The text by the lines that clients put between the user's own."""
    start = 0
    patterns = [known.METADATA] if "(untrusted" in text else []
    if any(sign in text for sign in known.LINE_SIGNS):
        patterns.append(known.LINES)
    for found in sorted((m for p in patterns for m in p.finditer(text)), key=lambda m: m.start()):
        if found.start() >= start:
            yield "user", text[start : found.start()]
            yield "harness", found[0]
            start = found.end()
    yield "user", text[start:]


# -- agents that act by text --------------------------------------------------------------------------------------


def continued(messages: Sequence[Message], before: Sequence[Message] = ()) -> list[Message]:
    """Messages that others stand `before`: what came of an action that those, or the prompt in them, tell of has the tool's mark, and
    what is pasted by their letters its own."""
    whole = [*before, *messages]
    observed, pastes = _observed(whole), _pasted_whole(whole)
    marks: dict[int, Speaker] = {**dict.fromkeys(pastes, "paste"), **dict.fromkeys(observed, "tool")}
    return [_marked(message, marks[at]) if at in marks else message for at, message in enumerate(messages, len(before))]


def _pasted_whole(messages: Sequence[Message]) -> list[int]:
    """The messages of a user who writes in another script than programs do that hold nothing but what was pasted."""
    if not may_have_own_script(message.text for message in messages if message.role == "user"):
        return []
    pasted = ({span.by for span in spans} - {"harness"} == {"paste"} for spans in spoken(messages))
    return [at for at, whole in enumerate(pasted) if whole]


def acting(messages: Sequence[Message]) -> tuple[bool, bool]:
    """Whether the agent acts by a block of code in each reply, as its prompt asks, and whether its newest reply is an action."""
    exchange = _Exchange()
    for message in _spoken_only(messages):
        exchange.goes_on(message)
    return exchange.by_blocks, exchange.acted


def _marked(message: Message, by: Speaker) -> Message:
    return replace(message, parts=tuple(_marked_part(part, by) for part in message.parts))


def _marked_part(part: Part, by: Speaker) -> Part:
    if type(part) is not Text or part.by or _framed(part.text):
        return part
    text = known.SHOWN_FILE.sub("", part.text, count=1) if by == "paste" else part.text
    return replace(part, text=text, by=by)


def _observed(messages: Sequence[Message]) -> set[int]:
    """The messages in the user's role that say what came of an action, in a conversation without calls."""
    exchange = _Exchange()
    return {at for at, message in enumerate(_spoken_only(messages)) if exchange.goes_on(message)}


def _spoken_only(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages; none of a conversation in which tools are called otherwise than by text."""
    calls = any(type(part) is ToolCall or type(part) is ToolResult for m in messages for part in m.parts)
    return () if calls else messages


class _Exchange:
    """How far a conversation came: what the agent replied last, or that it acted before a summary, and whether its prompt asks for
    blocks of code.

    A tag or an `Action:` is an action; a fenced block is one only where it ends a reply whose prompt asks for one command, or
    the answer looks like an observation, since people talk about code as well.
    """

    def __init__(self) -> None:
        self.by_blocks = self._folded = self._before = False
        self._reply = ""

    @property
    def acted(self) -> bool:
        return self._acts() if self._reply else self._before

    def goes_on(self, message: Message) -> bool:
        """Takes a message down; answers whether it says what came of an action."""
        if message.role == "assistant":
            self._reply = message.text
            return False
        if message.summary is not None:
            self._folded, self._reply = True, ""
            self.by_blocks = self.by_blocks or message.summary.facts.get("by_blocks") is True
            self._before = message.summary.facts.get("acted") is True
            return False
        came = message.role == "user" and self._came_of_it(message.text)
        self.by_blocks = self.by_blocks or (not self._reply and _asks_for_blocks(message.text))
        self._before = False
        return came

    def _came_of_it(self, text: str) -> bool:
        if self._reply:
            return self._acts() or (self._may_act() and _is_observation(text))
        return self._before or (self._folded and _is_observation(text))

    def _acts(self) -> bool:
        """Whether the newest reply is an action, whatever comes of it."""
        signed = any(sign in self._reply for sign in known.ACTION_SIGNS)
        tagged = signed and known.ACTS.search(f"\n{self._reply}") is not None
        return not self._is_final() and (tagged or (self.by_blocks and self._reply.rstrip().endswith("```")))

    def _may_act(self) -> bool:
        return "```" in self._reply and not self._is_final()

    def _is_final(self) -> bool:
        return known.FINAL in self._reply[self._reply.rfind("Action:") + 1 :]


def _asks_for_blocks(prompt: str) -> bool:
    prompt = prompt.casefold()
    return any(words in prompt for words in known.PROTOCOL) and any(words in prompt for words in known.PROTOCOL_OF)


def _is_observation(text: str) -> bool:
    return text.lstrip()[:40].casefold().startswith(known.OBSERVATIONS)


def _observation(text: str) -> Iterator[Span]:
    """What came of an action; an answer or an objection of the user in it is the user's."""
    for by, piece, _ in _pieces(text, "user") if _framed(text) else _blocks(text, "tool"):
        if words := piece.strip():
            yield Span(by, words)


# -- tools that speak ---------------------------------------------------------------------------------------------


def _said(call: ToolCall) -> Iterator[str]:
    """What a tool says for the agent; a plan, a report, a thought or questions with their options."""
    arguments = _arguments(call)
    name = tool_of(call)
    keys = known.QUESTIONS if _asks(name) else (known.SPEAKS.get(name) or known.THINKS[name],)
    given = next((arguments[key] for key in keys if key in arguments), None)
    for each in given if isinstance(given, list) else [given]:
        yield _words(each.get("question") if isinstance(each, dict) else each)


def _refused(messages: Sequence[Message]) -> list[Set[str]]:
    """For each message the calls that the user refused: what was proposed with them does not stand."""
    ends: dict[str, bool] = {}
    found: list[Set[str]] = []
    for message in reversed(messages):
        for result in message.results:
            text = text_of(result)[:_OPENING]
            refused = (known.REFUSED.search if result.error else known.DENIED.match)(text)
            ends[result.call_id] = refused is not None
        found.append({call.id for call in message.calls if ends.pop(call.id, False)})
    return found[::-1]


def _words(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _answers(result: ToolResult, asking: Mapping[str, ToolCall]) -> Iterator[str]:
    """The user's words in a tool's result: why a call was refused, or the answer to what was asked."""
    call = asking.get(result.call_id)
    name = _talking_tool(call) if call else ""
    answers = _asks(name) or name in known.REPORTS
    text = text_of(result).lstrip() if result.error or answers or len(result.parts) == 1 else ""
    for frame in known.REFUSALS:
        if frame.sign in text[:600] and (found := frame.pattern.match(text)):
            yield _unescaped(found[1]) if text[0] == "{" else found[1].strip()
            return
    if answers:
        given = [*_answered(text, _names(call) if call else ())]
        plain = _asks(name) and not (given or result.error or text[:1] in "{[" or known.NO_ANSWER.match(text))
        yield from [known.ANSWER.sub("", text).strip()] if plain else given


def _names(call: ToolCall) -> list[str]:
    """The names of the questions that a call asks, as the answers are named by."""
    asked = next((asked for key in known.QUESTIONS if isinstance(asked := _arguments(call).get(key), list)), [])
    return [_words(each.get("id")) for each in asked if isinstance(each, dict)]


def _answered(text: str, names: Sequence[str]) -> Iterator[str]:
    """The answers in the result of a tool that asks: in JSON, there in the order of the questions by their `names`, in tags, or each
    behind its question."""
    if text.startswith("{"):
        try:
            record = json.loads(text)
            yield from _leaves(_in_order(next((record[key] for key in known.ANSWERED if key in record), None), names))
        except ValueError:
            return
    for tag in known.ANSWERED:
        _, opened, rest = text.partition(f"<{tag}>")
        if opened and f"</{tag}>" in rest:
            yield rest.partition(f"</{tag}>")[0].strip()
    for pairs in (known.QUOTED_ANSWER, known.ANSWERED_LINE):
        yield from (found[1].strip() for found in pairs.finditer(text))


def _in_order(given: Any, names: Sequence[str]) -> Any:
    """Answers in the order of the questions that they name; others as they are."""
    named = isinstance(given, dict) and given.keys() <= {*names}
    return {name: given[name] for name in names if name in given} if named else given


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value.strip()
    elif isinstance(value, list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _leaves(each)


def _unescaped(text: str) -> str:
    try:
        return _words(json.loads(f'"{text}"'))
    except ValueError:
        return text
