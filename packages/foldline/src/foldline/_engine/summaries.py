"""The summary of an edit: asked for, given its room, and carrying on what the summaries before it knew."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import NamedTuple

from foldline._engine.spare import SPARE, given_back
from foldline._engine.worded import worded
from foldline._facts.merging import settled
from foldline._facts.reading import facts_of, user_words
from foldline._facts.repository import on_branch
from foldline._facts.speakers import continued
from foldline._facts.types import Facts
from foldline._fold import Occasion, automatic_folds, folds_behind
from foldline._messages import Message, Summary, replace, text_of
from foldline._policy import Layer
from foldline._tokens.estimate import estimate
from foldline._tokens.weigh import SURELY_SHORT, summary_frame
from foldline._view import Brief, Edit, Entry, View
from foldline._wording import Wording
from foldline._writers.accept import Written, write
from foldline._writers.draft import Answer, Ask
from foldline._writers.extraction import extracted

UNNOTED = 64
"""Tokens of a summary that has no room for a line which says what can be recalled."""

NOTED = 250
"""Tokens from which a summary holds room for that line where a hard budget is to be met: a smaller one has it where room is left."""

NAMED = 600
"""Tokens from which the line names ids where a hard budget is to be met: on a smaller page they take as much as two sentences."""

AROUND = 0.25
"""The share of the room for a summary that a policy's words around it may take in a hard layer."""

LEFT = 4
"""Tokens that a small page may leave of its room: no sentence is shorter."""

GIVES = 3
"""How often a page gives back what it leaves of its room before outputs may have it: each time everything is read anew."""

MUCH = 0.5
"""The share of its room that a page must leave with outputs to give that back once more."""

TRIES = 8
"""How often a page is written anew, smaller, until it holds."""


class Told(NamedTuple):
    """A summary that was written in place of the entries `drop`, and the facts that were read from all that it tells."""

    drop: tuple[str, ...]
    also: tuple[str, ...]
    facts: Facts
    written: Written


class Replacement(NamedTuple):
    """An edit that can be made, the entries of later spans that its summary tells as well, and that summary if it has one."""

    edit: Edit
    also: Sequence[Entry]
    told: Told | None = None
    cuts: Sequence[Edit] = ()
    """What cuts down messages that stay beside the summary."""


def replacement(
    edit: Edit, view: View, layer: Layer, occasion: Occasion, given: int = 0
) -> Generator[Ask, Answer, Replacement]:
    """The edit with its summary written, by whoever drives the fold or, where that failed, by extraction; a page of it has given
    back what it left of its room `given` times."""
    also = _also(edit, view)
    if (start := view.find(edit.drop)) is None:
        return Replacement(edit, also)
    stop = start + len(edit.drop)
    span = sorted((*view.entries[start:stop], *also), key=lambda entry: view.index[entry.id])
    messages = tuple(occasion.known.get(entry.id, entry.message) for entry in span)
    if not isinstance(edit.into, Brief):
        return Replacement(_with_facts(edit, edit.into, messages), also)
    wording = _affordable(layer, edit.into.max_tokens)
    room = min(edit.into.max_tokens, wording.max_tokens or edit.into.max_tokens)
    note = _note(span, room, NAMED if layer.hard else SURELY_SHORT)
    held = note if room >= NOTED or not layer.hard else ""
    round = max(occasion.rounds, folds_behind(messages)) + 1
    behind = view.entries[view.index[span[-1].id] + 1 :]
    folded, rest = _continued(view.entries[:start], span, behind, occasion)
    facts = on_branch(settled(facts_of(folded), facts_of(rest)), occasion.branch)
    brief = replace(
        edit.into,
        max_tokens=max(12, int(room / max(occasion.ratio, 0.1)) - _line(held)),
        focus=occasion.focus or edit.into.focus,
        round=round,
        leads=all(entry.message.role == "system" for entry in view.entries[:start]),
        after=tuple(user_words([message for entry, message in zip(behind, rest) if not entry.pinned])),
        wording=_asked(wording, round, facts),
    )
    unasked = occasion.trigger == "threshold"
    marks = {"round": round, "automatic": automatic_folds(messages) + unasked}

    def messages_of(written: Written, note: str = held) -> tuple[Message, ...]:
        text = f"{written.summary.text.rstrip()}\n\n{note}".strip()
        summary = Summary(text, {**written.summary.facts, **marks})
        return worded(summary, wording, round, view, stop, leads=brief.leads, unasked=unasked)

    if layer.hard:
        most = room + summary_frame(room)

        def size(written: Written) -> int:
            return sum(map(view.count, messages_of(written)))

        written = _page(brief, facts, messages, most, size, given)
        if (spare := most - size(written)) > SPARE * most:
            if (given < GIVES or spare > MUCH * most) and (back := given_back(edit, edit.into, view, spare)):
                smaller, cuts = back
                less = yield from replacement(smaller, view, layer, occasion, given + 1)
                return less._replace(cuts=(*cuts, *less.cuts))
            written = _within(replace(brief, fills="outputs"), facts, messages, most, size)
        held = note if sum(map(view.count, messages_of(written, note))) <= most else held
    else:
        stay = _staying(view, span)
        most = min(sum(entry.tokens for entry in span), _most(wording, room))
        written = yield from write(brief, messages, facts, most, lambda text: _size(text, view), stay)
    told = Told(edit.drop, edit.into.also, facts, written)
    if written.left_out:
        return Replacement(replace(edit, drop=()), (), told)
    return Replacement(replace(edit, into=(*written.native, *messages_of(written, held))), also, told)


def _page(
    brief: Brief, facts: Facts, messages: Sequence[Message], most: int, size: Callable[[Written], int], given: int
) -> Written:
    """The page that tells all words, and the outputs too where it gave back often enough what it left of its room."""
    written = _within(replace(brief, fills="words"), facts, messages, most, size)
    if given < GIVES or most - size(written) <= SPARE * most:
        return written
    return _within(replace(brief, fills="outputs"), facts, messages, most, size)


def _staying(view: View, span: Sequence[Entry]) -> list[Message]:
    """The messages of a view that stand outside a span."""
    gone = {entry.id for entry in span}
    return [entry.message for entry in view.entries if entry.id not in gone]


def _continued(
    before: Sequence[Entry], span: Sequence[Entry], behind: Sequence[Entry], occasion: Occasion
) -> tuple[list[Message], list[Message]]:
    """The messages that are folded and those behind them, each by whom they are said where they stand."""
    led = [entry.message for entry in before]
    folded = continued([occasion.known.get(entry.id) or _whole(entry, occasion.originals) for entry in span], led)
    return folded, continued([entry.message for entry in behind], [*led, *folded])


def _whole(entry: Entry, originals: Mapping[str, Message]) -> Message:
    """The message of an entry as it was before some of it was cut out that can be recalled; what else was put in its place stands."""
    original = originals.get(entry.id)
    if original is None or original is entry.message:
        return entry.message
    message = entry.message
    texts = (message.text, *(call.arguments for call in message.calls), *map(text_of, message.results))
    return original if any(f"; recall {entry.id}]" in text for text in texts) else entry.message


def _most(wording: Wording, room: int) -> int:
    """Tokens that a summary may take where so many were asked for: models count badly, and a policy may bound them itself."""
    return max(wording.max_tokens, wording.reply or 0) if wording.max_tokens else room * 3 // 2 + 64


def _affordable(layer: Layer, room: int) -> Wording:
    """A layer's words around a summary; foldline's own where a hard budget has too little room for them."""
    wording = layer.summary
    around = sum(map(estimate, (*(wording.frame(1) or ()), wording.acknowledged, wording.follow_up)))
    return Wording() if layer.hard and around > AROUND * room else wording


def _asked(wording: Wording, round: int, facts: Facts) -> Wording:
    """How a model is asked, with the number of the fold and the user's first request in the prompt."""
    if wording.prompt is None:
        return wording
    task = facts.requests[0].text if facts.requests else "Unknown task"
    return replace(wording, prompt=wording.prompt.replace("{round}", str(round)).replace("{task}", task))


def _also(edit: Edit, view: View) -> list[Entry]:
    """The entries of later spans that the summary of an edit tells as well, in order."""
    also = edit.into.also if isinstance(edit.into, Brief) else ()
    return [view.entries[at] for at in sorted(view.index[id] for id in also if id in view.index)]


def _within(
    brief: Brief, facts: Facts, messages: Sequence[Message], most: int, size: Callable[[Written], int]
) -> Written:
    """The page, a little smaller where together with its note it would take more than `most` tokens of the view.

    A small one that leaves some is written once more, as much larger.
    """
    brief, written = _fitting(brief, facts, messages, most, size)
    if brief.max_tokens < NAMED and (left := most - size(written)) > LEFT:
        _, fuller = _fitting(replace(brief, max_tokens=brief.max_tokens + left), facts, messages, most, size)
        written = fuller if size(written) < size(fuller) <= most else written
    return written


def _fitting(
    brief: Brief, facts: Facts, messages: Sequence[Message], most: int, size: Callable[[Written], int]
) -> tuple[Brief, Written]:
    """The page and its brief, smaller by what is too much, and each time it is tried again by twice as much of it."""
    written = Written(extracted(brief, facts, messages))
    for again in range(TRIES):
        if (over := size(written) - most) <= 0:
            break
        brief = replace(brief, max_tokens=brief.max_tokens - (over << again))
        written = Written(extracted(brief, facts, messages))
    return brief, written


def _note(span: Sequence[Entry], tokens: int, named: int) -> str:
    """The line that ends a summary of so many tokens and says what can be recalled, by its ids from `named` tokens on."""
    if tokens < UNNOTED:
        return ""
    folded = f"[folded: {len(span)} messages"
    if tokens < named:
        return f"{folded}]"
    first = next((entry for entry in span if not entry.message.summary), span[0])
    return f"{folded}, {first.id} to {span[-1].id}; any of them can be recalled by its id]"


def _line(text: str) -> int:
    """Tokens of a line below a summary."""
    return estimate(text) + 2 if text else 0


def _size(text: str, view: View) -> int:
    """What a summary of that text takes in a view."""
    return view.count(Message("user", (Summary(text),)))


def _with_facts(edit: Edit, into: Sequence[Message], messages: Sequence[Message]) -> Edit:
    """An edit whose summaries, which a strategy wrote, carry on the facts of what they stand for."""
    if not any(message.summary for message in into):
        return edit
    folds = {"round": max(1, folds_behind(messages)), "automatic": automatic_folds(messages)}
    facts = {**facts_of(messages).data(), **folds}
    told = (replace(m, parts=(replace(s, facts=facts),)) if (s := m.summary) else m for m in into)
    return replace(edit, into=tuple(told))
