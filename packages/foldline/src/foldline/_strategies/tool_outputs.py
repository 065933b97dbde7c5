"""Tool outputs: what is superseded or old gives way to a stub, what is long keeps its head and tail."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from foldline._clipping import one_line
from foldline._messages import Message, Part, Text, ToolCall, ToolResult, replace, text_of
from foldline._pairs import answers
from foldline._strategies.budget import MOST_PAGE
from foldline._strategies.strategy import Share, Strategy, Tokens, never_summarizes, remembered
from foldline._view import Brief, Edit, Entry, View

STUB = "[pruned: "
"""How every stub begins."""

MIN_GAIN = 60
"""Tokens that a stub must free to be worth one; a stub itself takes about forty."""

NEWEST_SAFE = 3
"""How many of the newest outputs stay even when they are superseded."""

PAGE_FIRST, UNREAD_SHARE = 500, 0.5
"""Tokens that a summary has before anything else, and the share of what else may remain that outputs which the model has
not read yet may take."""

FEW = 3
"""The most outputs that give way wholly where pruning is to be enough and a page can take all that remains: it says more
than so many stubs."""

ALL = 1 << 40
"""More tokens than there are: nothing is cut."""

CUT_FRAME = 36
"""Tokens of the words that stand where an output was cut."""

MARGINS = (1.0, 1.05, 1.15)
"""By how much more is cut than is asked for, tried in turn, since characters are cut and tokens counted."""

LONG_ARGUMENT = 600
ARGUMENT_HEAD = 160
"""Characters from which an argument of a call is shortened, and how many of them stay."""

TELLING = ("path", "file_path", "filePath", "filename", "command", "cmd", "pattern", "query", "url", "input")
"""The arguments that say best what a call was about, best first."""


class Output(NamedTuple):
    """One tool result of a view, the place of its entry, and the call that it answers."""

    place: int
    entry: Entry
    result: ToolResult
    call: ToolCall
    tokens: int


@remembered
def prune_tool_outputs(
    *,
    protect: Tokens = 40_000,
    minimum: Tokens = 20_000,
    exempt: Sequence[str] = (),
    enough: bool = False,
    caps: Mapping[str, Tokens] | None = None,
) -> Strategy:
    """Replaces old tool outputs by stubs that name what they were and the id to recall.

    The newest `protect` tokens of output stay (at most half of what may remain), unless they are superseded: read again
    later, or repeated word for word. Long arguments of calls behind the protected outputs are shortened inside valid JSON.
    Superseded outputs go first, then the oldest. Nothing is proposed where less than `minimum` tokens (at most half of the
    excess) would come free, with `enough` less than the whole excess from a few outputs: then the last one to give keeps
    head and tail of what need not go. The outputs of the tools named in `exempt` stay, and those that the model has not
    read yet. Where `caps` names a tool, its outputs that stay keep head and tail of that many tokens.
    """
    capped = shorten_tool_outputs(keep=ALL, caps=caps)

    @never_summarizes
    def strategy(view: View, excess: int) -> Iterator[Edit]:
        outputs = [o for o in outputs_of(view) if o.call.name not in exempt]
        stale = superseded(outputs)
        horizon = _horizon(outputs, min(protect, (view.tokens - excess) // 2))
        old = (o for o in outputs if o.place < view.unread)
        doomed = {id(o.result): o for o in old if o.place < horizon or id(o.result) in stale}
        proposals = []
        for i, entry in enumerate(view.entries):
            if entry.pinned or not (i < horizon or any(id(r) in doomed for r in entry.message.results)):
                continue
            pruned = _pruned(entry, doomed, shorten_calls=i < horizon)
            gain = entry.tokens - view.count(pruned) if pruned is not entry.message else 0
            if gain >= MIN_GAIN:
                first = any(id(r) in stale for r in entry.message.results)
                proposals.append((not first, i, gain, Edit((entry.id,), (pruned,), by="prune_tool_outputs")))
        gone = {edit.drop for *_, edit in proposals}
        cut = [edit for edit in capped(view, excess) if edit.drop not in gone] if caps else []
        free = sum(gain for _, _, gain, _ in proposals) + sum(freed(view, edit) for edit in cut)
        if free < (excess if enough else min(minimum, excess // 2)):
            return
        proposals.sort(key=lambda p: p[:2])
        stale_first = sum(not once for once, *_ in proposals)
        most = stale_first + FEW if view.tokens - excess < MOST_PAGE else len(proposals)
        if enough and sum(gain for _, _, gain, _ in proposals[:most]) < excess:
            return
        yield from cut
        left = excess - sum(freed(view, edit) for edit in cut)
        for _, i, gain, edit in proposals:
            if enough and 0 < left < gain:
                yield from _cut_by(view, [o for o in doomed.values() if o.place == i], left)
            yield edit
            left -= gain

    return strategy


@remembered
def shorten_tool_outputs(*, keep: Tokens = 1_000, start: int = 0, caps: Mapping[str, Tokens] | None = None) -> Strategy:
    """Cuts the middle out of every tool output from the entry `start` on, largest first, that is longer than `keep` tokens.

    For what is left when nothing older can give: a single output that fills the window by itself. `caps` says for the
    tools that it names how much of their outputs stays instead. What the model has not read yet gives last, and no more
    than is asked: the largest are cut to one size.
    """

    def most(output: Output, otherwise: int) -> int:
        cap = (caps or {}).get(output.call.name, otherwise)
        return output.tokens if cap != otherwise and output.tokens <= cap + 2 * CUT_FRAME else cap

    @never_summarizes
    def strategy(view: View, excess: int) -> Iterator[Edit]:
        outputs = [o for o in outputs_of(view) if o.place >= start and not o.entry.pinned]
        old = sorted((o for o in outputs if o.place < view.unread), key=lambda o: -o.tokens)
        sizes = [(o, most(o, keep)) for o in old]
        freed = sum(max(0, o.tokens - size) for o, size in sizes)
        new = sorted((o for o in outputs if o.place >= view.unread), key=lambda o: -o.tokens)
        asked = [most(o, o.tokens) for o in new]
        freed += sum(o.tokens for o in new) - sum(asked)
        level = max(keep, level_of(asked, sum(asked) - max(0, excess - freed)))
        sizes += [(o, min(size, level)) for o, size in zip(new, asked)]
        yield from _cut_down(view, sizes)

    return strategy


def _cut_by(view: View, outputs: Sequence[Output], excess: int) -> list[Edit]:
    """Edits that cut outputs of one entry just so far down that the excess is free; none where no cut is enough."""
    whole = sum(o.tokens for o in outputs)
    for margin in MARGINS:
        share = 1 - margin * (excess + CUT_FRAME * len(outputs)) / max(1, whole)
        edits = list(_cut_down(view, [(o, int(o.tokens * share)) for o in outputs])) if share > 0 else []
        if edits and freed(view, edits[-1]) >= excess:
            return edits
    return []


def _cut_down(view: View, sizes: Sequence[tuple[Output, int]]) -> Iterator[Edit]:
    """Edits that leave of each output the head and the tail, of so many tokens together."""
    entries: dict[str, Message] = {}
    for o, size in sizes:
        share = size / max(1, o.tokens)
        short = replace(o.result, parts=tuple(middle_cut(p, share, o.entry.id) for p in o.result.parts))
        if o.tokens > size and short.parts != o.result.parts:
            message = entries.get(o.entry.id, o.entry.message)
            entries[o.entry.id] = with_result(message, o.result, short)
            yield Edit((o.entry.id,), (entries[o.entry.id],), by="shorten_tool_outputs")


@remembered
def shorten_newest(*, keep: Tokens, share: Share = UNREAD_SHARE) -> Strategy:
    """Cuts what stands behind the last cut point down to about `keep` tokens: tool outputs, and long arguments of calls.

    It must stay, so that what is cut there is room for a summary of what goes: all but a `share` of what may remain, however
    small that is. The largest outputs give first. Those that the model has not read yet may take more than `keep`: all that can
    remain beside pins and a summary.
    """

    @never_summarizes
    def strategy(view: View, excess: int) -> Iterator[Edit]:
        start = view.last_cut
        newest = [entry for entry in view.entries[start:] if not entry.pinned]
        outputs = [o for o in outputs_of(view) if o.place >= start and not o.entry.pinned]
        aim = view.tokens - max(0, excess) - sum(entry.tokens for entry in view.entries if entry.pinned)
        most = min(keep, int(aim * share))
        if any(o.place >= view.unread for o in outputs):
            most = max(most, int((aim - PAGE_FIRST) * share))
        if sum(entry.tokens for entry in newest) <= most:
            return
        for entry in newest:
            parts = (shortened(p, entry.id) if type(p) is ToolCall else p for p in entry.message.parts)
            short = replace(entry.message, parts=tuple(parts))
            if entry.tokens > most // 2 and view.count(short) < entry.tokens:
                yield Edit((entry.id,), (short,), by="shorten_newest")
        rest = sum(entry.tokens for entry in newest) - sum(o.tokens for o in outputs)
        level = level_of([o.tokens for o in outputs], most - rest)
        yield from _cut_down(view, [(o, level) for o in sorted(outputs, key=lambda o: -o.tokens)])

    return strategy


def freed(view: View, edit: Edit) -> int:
    """The tokens that come free where one message takes another one's place."""
    assert not isinstance(edit.into, Brief)
    return view.entries[view.index[edit.drop[0]]].tokens - sum(map(view.count, edit.into))


def level_of(sizes: Sequence[int], room: int) -> int:
    """The size to which the largest must be cut so that all fit into the room; a little remains of each."""
    left = room
    for i, size in enumerate(sorted(sizes)):
        if size > (level := left // (len(sizes) - i)):
            return max(level - CUT_FRAME, MIN_GAIN)
        left -= size
    return max(sizes, default=0)


def outputs_of(view: View) -> list[Output]:
    """Every tool result of the view that is not yet a stub, in order, with its call."""
    found = []
    for result, at, call, _ in answers(view.messages):
        if not _is_stub(result):
            entry = view.entries[at]
            alone = len(entry.message.parts) == 1
            tokens = entry.tokens if alone else view.count(Message("tool", (result,)))
            found.append(Output(at, entry, result, call or ToolCall(result.call_id, result.name or "tool"), tokens))
    return found


def superseded(outputs: Sequence[Output]) -> set[int]:
    """The results (by identity) whose words stand again further on: the same call made again, or the same output."""
    stale: set[int] = set()
    seen: set[object] = set()
    for n, o in enumerate(reversed(outputs)):
        text = text_of(o.result)
        keys = {(o.call.name, o.call.arguments), (len(text), text)} if len(text) > 200 else {(len(text), text)}
        if len(text) > 200 and n >= NEWEST_SAFE and not seen.isdisjoint(keys):
            stale.add(id(o.result))
        seen |= keys
    return stale


def telling(call: ToolCall) -> str:
    """A call in a few words: its tool and the argument that says most, at most a hundred characters."""
    arguments = _arguments(call)
    said = next((v for key in TELLING if isinstance(v := arguments.get(key), str) and v.strip()), "")
    return f"{call.name} {one_line(said, 78)}".rstrip()


def _horizon(outputs: Sequence[Output], protect: int) -> int:
    """The index of the entry from which on outputs are protected."""
    kept, horizon = 0, outputs[-1].place + 1 if outputs else 0
    for o in reversed(outputs):
        kept += o.tokens
        if kept > protect:
            return horizon
        horizon = o.place
    return 0


def _pruned(entry: Entry, doomed: dict[int, Output], *, shorten_calls: bool) -> Message:
    """The entry's message with its doomed results as stubs; the same object where nothing changes."""
    parts = tuple(_pruned_part(p, entry, doomed, shorten_calls) for p in entry.message.parts)
    same = all(a is b for a, b in zip(parts, entry.message.parts))
    return entry.message if same else replace(entry.message, parts=parts)


def _pruned_part(part: Part, entry: Entry, doomed: dict[int, Output], shorten_calls: bool) -> Part:
    if type(part) is ToolResult and id(part) in doomed:
        return replace(part, parts=(Text(stub_of(doomed[id(part)], entry.id)),))
    if type(part) is ToolCall and shorten_calls and len(part.arguments) > LONG_ARGUMENT:
        return shortened(part, entry.id)
    return part


def stub_of(output: Output, id: str) -> str:
    """The line that stands in for an output: what it was, how long, and the id to recall."""
    text = text_of(output.result)
    lines = [line for line in text.splitlines() if line.strip()]
    ending = f'; its last line: "{lines[-1].strip()[:100]}"' if len(lines) > 1 and output.result.error else ""
    return f"{STUB}{telling(output.call)}, {output.tokens:,} tokens, {len(lines):,} lines{ending}; recall {id}]"


def _is_stub(result: ToolResult) -> bool:
    return text_of(result).startswith(STUB)


def shortened(call: ToolCall, id: str, share: float = 0.0) -> ToolCall:
    """The call with its long strings cut to their heads, that `share` of them where it is more than a line.

    It is the same object where the arguments are no JSON object or nothing is long.
    """
    arguments = _arguments(call)
    if not arguments:
        return call
    try:
        short = _cut_strings(arguments, id, share)
    except RecursionError:
        return call
    return call if short == arguments else replace(call, arguments=json.dumps(short, ensure_ascii=False))


def _cut_strings(value: object, id: str, share: float) -> object:
    if isinstance(value, str) and len(value) > LONG_ARGUMENT:
        head = max(ARGUMENT_HEAD, int(len(value) * share))
        return f"{value[:head]}… [pruned: {len(value) - head:,} characters; recall {id}]"
    if isinstance(value, list):
        return [_cut_strings(item, id, share) for item in value]
    if isinstance(value, dict):
        return {key: _cut_strings(item, id, share) for key, item in value.items()}
    return value


def _arguments(call: ToolCall) -> dict[str, object]:
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return {}
    return arguments if isinstance(arguments, dict) else {}


def middle_cut(part: Part, share: float, id: str) -> Any:
    """A text with that share of it, of its head and tail, and a line between them that says what is cut; other parts whole."""
    if type(part) is not Text:
        return part
    keep = max(80, int(len(part.text) * share))
    if keep >= len(part.text):
        return part
    head, tail = keep * 2 // 3, keep // 3
    cut = len(part.text) - head - tail
    return replace(part, text=f"{part.text[:head]}\n… [cut: {cut:,} characters; recall {id}] …\n{part.text[-tail:]}")


def with_result(message: Message, old: ToolResult, new: ToolResult) -> Message:
    """A message with one result in the place of another."""
    return replace(message, parts=tuple(new if p is old else p for p in message.parts))
