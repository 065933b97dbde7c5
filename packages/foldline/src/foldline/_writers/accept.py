"""A draft becomes a summary: asked for, checked, repaired by code, or replaced by extraction."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING

from foldline._clipping import one_line
from foldline._errors import SummaryFailed
from foldline._facts.foreign import with_prose
from foldline._facts.types import Facts
from foldline._messages import Message, Summary, Text, Value, replace
from foldline._tokens.estimate import estimate
from foldline._tokens.weigh import weigh
from foldline._view import Brief
from foldline._writers.draft import Answer, Ask, Draft
from foldline._writers.extraction import extracted
from foldline._writers.points import bound, miscounted
from foldline._writers.repair import repair, reserve

if TYPE_CHECKING:
    from foldline._writers.gate import Judgement

TRIES = 2
"""How often a draft is asked for: a faulty one is written again once, with its faults named."""

NATIVE_SHARE = 0.8
"""The share of what it replaces that a provider's compaction may take."""

TOPICS = 12
TOPIC = 60
"""How many of the newest requests a policy's own fallback names, and how many characters of each."""

LEAST = 64
"""Tokens below which an extraction is not made again, smaller: it would tell too little of what it stands for."""

_SAMPLE = "word " * 400


class Written(Value, frozen=True):
    """A summary that may be installed, and how it came about."""

    summary: Summary
    drafts: tuple[Draft, ...] = ()
    """What the summarizer wrote, the drafts that were thrown away included."""
    failures: tuple[str, ...] = ()
    """Why no draft was installed, and extraction took its place."""
    rewritten: tuple[str, ...] = ()
    """What was wrong with the first draft, where the second one was installed."""
    remarks: tuple[str, ...] = ()
    """What is doubtful in the draft that was installed."""
    native: tuple[Message, ...] = ()
    """The provider's own compaction, which stands before the summary."""
    repaired: tuple[str, ...] = ()
    """The facts by name that code added."""
    waited: float = 0.0
    """Seconds until the summarizer had answered."""
    asked: int = 0
    """How often it was asked."""

    @property
    def left_out(self) -> bool:
        """Whether there is no summary: the policy can do without one that a model did not write, or nothing that says less than
        the messages says anything."""
        return not (self.summary.text or self.native)


def write(
    brief: Brief,
    messages: Sequence[Message],
    facts: Facts,
    most: int,
    size: Callable[[str], int],
    stay: Sequence[Message] = (),
) -> Generator[Ask, Answer, Written]:
    """A summary of messages: a summarizer's draft, checked and repaired, or an extraction where no draft can be installed.

    `size` is what a summary of a text takes in the view, and `most` what it may take there; the messages that `stay`
    may be quoted too.
    """
    points = brief.wording.points
    stay = (*stay, Message("user", (Text(brief.focus, by="user"),)))
    faults: tuple[str, ...] = ()
    drafts: list[Draft] = []
    written = Written(Summary(""))
    for _ in range(TRIES):
        began = time.perf_counter()
        answer = yield Ask(replace(brief, faults=faults), tuple(messages), facts)
        waited = written.waited + time.perf_counter() - began
        written = replace(written, waited=waited, asked=written.asked + 1, rewritten=faults)
        if isinstance(answer, SummaryFailed):
            faults = (*faults, str(answer))
            break
        if isinstance(answer, Summary) and answer.facts:
            return replace(written, summary=_fitting(answer, brief, messages, facts, most, size))
        if isinstance(answer, Draft) and answer.native:
            drafts.append(answer)
            written = replace(written, drafts=tuple(drafts))
            faults, remarks = native_judged(answer, messages, facts, stay)
            if not faults:
                return _with_native(replace(written, remarks=remarks), answer, brief, facts)
            continue
        from foldline._writers.gate import Judgement, bare, judge

        draft = replace(answer, text=bare(answer.text)) if isinstance(answer, Draft) else Draft(bare(answer.text))
        drafts.append(draft)
        written = replace(written, drafts=tuple(drafts))
        room = 0 if points else reserve(facts, brief)
        large = _oversize(draft.text, most, size, room) if draft.text.strip() else ""
        faults, remarks = Judgement((large,)) if large else judge(draft, messages, facts, stay)
        if points and not faults and (miscount := miscounted(draft.text, *points)):
            faults = (miscount,)
        if not faults and points:
            return replace(written, summary=Summary(bound(draft.text, facts, brief), facts.data()), remarks=remarks)
        if not faults:
            left = _room(draft.text, room, brief.max_tokens, most, size)
            whole = repair(draft.text, facts, brief, left)
            summary = Summary(whole.text, with_prose(facts, draft.text).data())
            if not (found := _oversize(summary.text, most, size)):
                rewritten = (*written.rewritten, *draft.before)
                return replace(written, summary=summary, repaired=whole.added, rewritten=rewritten, remarks=remarks)
            faults = (found,)
    failures = tuple(dict.fromkeys(faults))
    instead = _instead(brief, messages, facts, most, size)
    return replace(written, summary=instead, failures=failures, rewritten=())


def _fitting(
    page: Summary, brief: Brief, messages: Sequence[Message], facts: Facts, most: int, size: Callable[[str], int]
) -> Summary:
    """An extraction in the room that there is; an empty one where nothing so short says anything."""
    if not _oversize(page.text, most, size):
        return page
    if (room := most - size("")) < LEAST:
        return Summary("")
    shorter = extracted(replace(brief, max_tokens=room), facts, messages)
    return Summary("") if _oversize(shorter.text, most, size) else shorter


def _instead(brief: Brief, messages: Sequence[Message], facts: Facts, most: int, size: Callable[[str], int]) -> Summary:
    """What stands where no draft could be installed: an extraction, what the policy says instead, or nothing."""
    if brief.wording.optional:
        return Summary("")
    if not (said := brief.wording.fallback):
        return _fitting(extracted(brief, facts, messages), brief, messages, facts, most, size)
    count = sum(1 for message in messages if message.role != "system")
    topics = "; ".join(one_line(request.text, TOPIC) for request in facts.requests[-TOPICS:])
    return Summary(said.replace("{messages}", str(count)).replace("{topics}", topics), facts.data())


def native_judged(draft: Draft, messages: Sequence[Message], facts: Facts, stay: Sequence[Message]) -> Judgement:
    """What is wrong with a provider's compaction; of a sealed one only its size can be judged."""
    from foldline._writers.gate import Judgement, judge

    took, saved = (sum(map(weigh, each)) for each in (draft.native, messages))
    if took > saved * NATIVE_SHARE:
        return Judgement((f"the compaction took {took:,} tokens in place of {saved:,}",))
    return judge(draft, messages, facts, stay) if draft.text else Judgement()


def _with_native(written: Written, draft: Draft, brief: Brief, facts: Facts) -> Written:
    """A provider's compaction as it came, and behind it what it does not show: the facts that code knows."""
    shown = "\n".join(message.text for message in draft.native)
    whole = repair("", facts, brief, brief.max_tokens // 2, shown=shown)
    summary = Summary(whole.text, with_prose(facts, shown).data())
    rewritten = (*written.rewritten, *draft.before)
    return replace(written, summary=summary, native=draft.native, repaired=whole.added, rewritten=rewritten)


def _room(text: str, reserved: int, wanted: int, most: int, size: Callable[[str], int]) -> int:
    """Estimated tokens that a draft and what is added to it may take: what was asked for, or what it needs up to `most`."""
    needs = max(wanted, estimate(text) + reserved)
    frame = size("")
    share = (size(_SAMPLE) - frame) / estimate(_SAMPLE)
    return min(needs, int((most - frame) / max(share, 0.1)))


def _oversize(text: str, most: int, size: Callable[[str], int], reserved: int = 0) -> str:
    """What is wrong with the size of a text; empty where nothing is."""
    if not text.strip():
        return "the summary was empty"
    took, allowed = size(text), max(most - reserved, most // 4)
    return f"the summary took {took:,} tokens where {allowed:,} were allowed" if took > allowed else ""
