"""What fills a session, what a fold would keep, and what each layer would free."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from foldline._clipping import cut, one_line
from foldline._desk.desk import Desk
from foldline._desk.plan import FoldPlan
from foldline._facts.reading import user_words
from foldline._facts.speech import project_rules
from foldline._facts.splitting import sentences
from foldline._facts.tool_calls import Action, read_action
from foldline._messages import Message, Opaque, Part, Text, ToolResult, Value, replace
from foldline._pairs import Answer, answers
from foldline._policy import Layer, Policy
from foldline._tokens.weigh import weigh_part
from foldline._view import View

MEMORY, TOOLS = "Memory Files", "Tool Schemas"

_MEMORY = re.compile(r"\s*Contents of [^\n]{0,300}(?:CLAUDE|AGENTS|GEMINI|QWEN|MEMORY)(?:\.local)?\.md")


class Share(Value, frozen=True, omit_defaults=False):
    """One kind of content: how many pieces, and their tokens."""

    name: str
    tokens: int
    count: int
    unit: str


class Saving(Value, frozen=True, omit_defaults=False):
    """What a run of a layer would free now, in tokens."""

    layer: str
    tokens: int


class Inspection(Value, frozen=True, omit_defaults=False):
    """What fills a session; sizes are tokens."""

    session: str
    path: str
    tokens: int
    window: int
    shares: tuple[Share, ...]
    overhead: int
    """What every request carries that the file does not show, the system prompt and tools; counted to `System Prompt`."""
    protected: int
    compactable: int
    pinned: int
    pins: tuple[Share, ...]
    """The messages that were pinned, by their ids."""
    reserve: int
    """What the window holds back for the reply."""
    free: int
    savings: tuple[Saving, ...]
    by_tool: tuple[Share, ...]
    by_file: tuple[Share, ...]
    """Outputs of tools that read or changed one file, by its path."""
    largest: tuple[Share, ...]


def inspect(desk: Desk, policy: Policy) -> Inspection:
    """What fills a session, what a fold would keep, and what each layer would free."""
    entries, meter = desk.view.entries, desk.meter
    outputs = [(a, weigh_part(a.result, meter.family) * meter.ratio) for a in answers(desk.view.messages)]
    system_tokens = sum(e.tokens for e in entries if e.message.role == "system")
    planned = desk.plan(policy)
    kept = {e.id for e in planned.after.entries}
    protected = sum(e.tokens for e in entries if e.id in kept and e.message.role != "system")
    reserve = desk.budget.window - desk.budget.limit
    return Inspection(
        desk.session.id,
        desk.session.path,
        desk.tokens,
        desk.budget.window,
        tuple(_shares(desk, round(sum(tokens for _, tokens in outputs)), len(outputs))),
        meter.overhead,
        protected,
        desk.view.tokens - protected - system_tokens,
        sum(e.tokens for e in entries if e.pinned),
        tuple(Share(e.id, e.tokens, 1, what(e.message)) for e in entries if e.id in desk.session.context.pins),
        reserve,
        max(0, desk.budget.limit - desk.tokens),
        tuple(Saving(layer.name, _freed(desk, policy, layer, planned)) for layer in policy.layers),
        _grouped((_tool(answer), tokens) for answer, tokens in outputs),
        _grouped((path, tokens) for answer, tokens in outputs if (path := _file(answer))),
        tuple(_largest(desk.view)),
    )


def _shares(desk: Desk, outputs: int, count: int) -> Iterator[Share]:
    """The kinds of content, which add up to the next request: what the file shows, and what is sent beside it."""
    entries, meter = desk.view.entries, desk.meter
    sizes: Counter[tuple[bool, str]] = Counter()
    counts: Counter[str] = Counter()
    for entry in entries:
        for part in entry.message.parts:
            if kind := _kind(entry.message.role, part):
                sizes[entry.message.role == "system", kind] += round(weigh_part(part, meter.family) * meter.ratio)
                counts[kind] += 1
    system = [e for e in entries if e.message.role == "system"]
    in_system = sum(e.tokens for e in system) - sum(size for (its, _), size in sizes.items() if its)
    talk = sum(1 for e in entries if e.message.speaker not in ("tool", "system"))
    conversation = desk.view.tokens - outputs - in_system - sizes.total()
    yield Share("Conversation", conversation, talk, "messages")
    yield Share("Tool Outputs", outputs, count, "outputs")
    yield Share("System Prompt", max(0, in_system + meter.overhead), len(system), "messages")
    for kind, unit in ((MEMORY, "files"), (TOOLS, "lists")):
        if counts[kind]:
            yield Share(kind, sizes[True, kind] + sizes[False, kind], counts[kind], unit)


def _kind(role: str, part: Part) -> str:
    """Whether a part is a file of instructions that the agent loads, or the tools that the file shows."""
    if type(part) is Opaque and role == "system" and isinstance(part.source, list):
        return TOOLS
    loaded = type(part) is Text and role != "tool" and (project_rules(part.text) or _MEMORY.match(part.text))
    return MEMORY if loaded else ""


def _freed(desk: Desk, policy: Policy, layer: Layer, by_hand: FoldPlan) -> int:
    """What a run of a layer alone would free; the first one that summarizes is what a fold by hand runs."""
    is_by_hand = layer is next((each for each in policy.layers if each.kind == "summarize"), None)
    planned = by_hand if is_by_hand else desk.plan(replace(policy, layers=(layer,)))
    return desk.view.tokens - planned.after.tokens if planned else 0


def _grouped(outputs: Iterable[tuple[str, float]]) -> tuple[Share, ...]:
    """How many outputs have a name, and their tokens together; the largest of them."""
    groups: dict[str, list[float]] = {}
    for name, tokens in outputs:
        groups.setdefault(name, []).append(tokens)
    shares = [Share(name, round(sum(sizes)), len(sizes), "outputs") for name, sizes in groups.items()]
    return tuple(sorted(shares, key=lambda share: -share.tokens)[:8])


def _tool(answer: Answer) -> str:
    return answer.result.name or (answer.call.name if answer.call else "") or "unknown tool"


def _file(answer: Answer) -> str:
    """The one file that a call read or changed; empty for a command line, and where it is none or several."""
    action = read_action(answer.call) if answer.call else Action()
    paths = {path for _, path, _ in action.touches}
    return paths.pop() if len(paths) == 1 and not action.shell_only else ""


def _largest(view: View, most: int = 5) -> list[Share]:
    large = sorted(view.entries, key=lambda e: -e.tokens)[:most]
    return [Share(e.id, e.tokens, 1, what(e.message)) for e in large if e.tokens]


def what(message: Message, most: int = 60) -> str:
    """A message in a few words: who speaks and how it begins, in at most so many characters."""
    result = next(message.results, None)
    call = next(message.calls, None)
    if result is not None:
        said = f"{result.name}: {_result_text(result)}" if result.name else _result_text(result)
    elif call is not None and not message.text.strip():
        said = f"calls {call.name} {call.arguments}"
    else:
        said = message.text
    return f"{message.speaker}: {one_line(said, most)}"


def _result_text(result: ToolResult) -> str:
    return next((p.text for p in result.parts if hasattr(p, "text")), "")


# -- what a session is about, in two sentences at most ----------------------------------------------------------------


TELLING = 20
"""Characters below which a sentence greets or agrees, and says nothing of the work."""

WIDTH = 160
"""Characters of a sentence at most."""


def in_two_sentences(messages: Sequence[Message]) -> str:
    """What the user asked for first, and what the agent said last, each by the first sentence that tells something."""
    said = (message.text for message in reversed(messages) if message.role == "assistant")
    found = (_telling(user_words(messages)), _telling(said))
    return " ".join(dict.fromkeys(filter(None, found)))


def _telling(texts: Iterable[str]) -> str:
    """The first sentence of the texts that says something, on one line."""
    found = (each.text for text in texts for each in sentences(text) if not each.titled)
    return next((cut(" ".join(text.split()), WIDTH) for text in found if len(text) >= TELLING), "")
