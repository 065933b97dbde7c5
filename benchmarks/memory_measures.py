"""The measures of `memory`: what a reader of a folded history can know, from texts alone and without a judge.

Each takes a folded history and the labels of the session, and answers shares or counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memory_histories import Chat, calls, text, texts
from memory_material import Fault, Labels, Need, Replaced, is_told
from memory_page import Folded, shares_words
from memory_words import bare, holds, lines_of, near, places, same, stands


class Count(NamedTuple):
    """So many of so many."""

    right: int = 0
    of: int = 0

    def __add__(self, other: tuple[int, ...]) -> Count:  # type: ignore[override]
        return Count(self.right + other[0], self.of + other[1])

    @property
    def share(self) -> float | None:
        """The share that is right; none where there was nothing."""
        return self.right / self.of if self.of else None


def counted(found: Iterable[bool]) -> Count:
    """How many of the answers are yes."""
    found = list(found)
    return Count(sum(found), len(found))


# -- told --------------------------------------------------------------------------------------------------------


def told(needs: Sequence[Need], said: Sequence[str]) -> Count:
    """The needed literals that stand near two of the words that tell what they are."""
    return counted(is_told(need, said) for need in needs)


def shown(needs: Sequence[Need], said: Sequence[str]) -> Count:
    """The needed literals that stand at all: what a list of names can win."""
    return counted(any(stands(text, need.value) for text in said) for need in needs)


# -- the task ----------------------------------------------------------------------------------------------------

LARGEST_TASK = 0.4
"""A task that takes more than this share of the budget may be cut."""


def task_intact(labels: Labels, folded: Folded) -> bool:
    """Whether every passage of what is to be done now stands uncut as the user's."""
    said = folded.of_users()
    return all(any(holds(each, passage) for each in said) for passage in labels.task)


# -- rules -------------------------------------------------------------------------------------------------------


class Rules(NamedTuple):
    """How the rules of a page stand to those that bind: `over` are those that no longer do, `known` stand anywhere."""

    found: Count = Count()
    known: Count = Count()
    right: int = 0
    over: int = 0
    wrong: int = 0
    unlabelled: int = 0

    def __add__(self, other: tuple[object, ...]) -> Rules:  # type: ignore[override]
        return Rules(*(mine + its for mine, its in zip(self, other)))  # type: ignore[operator, arg-type]

    @property
    def precision(self) -> Count:
        """The bullets that are right, of all; one that no label speaks of counts as wrong."""
        return Count(self.right, self.right + self.over + self.wrong + self.unlabelled)

    @property
    def labelled_precision(self) -> Count:
        """The bullets that are right, of those that labels speak of."""
        return Count(self.right, self.right + self.over + self.wrong)


def rules(labels: Labels, folded: Folded) -> Rules:
    """What stands under the rules, and which of the rules that bind stand there or as the user's words elsewhere."""
    standing = [rule.text for rule in labels.rules if rule.lifetime == "standing"]
    past = [rule.text for rule in labels.rules if rule.lifetime != "standing"]
    kinds = [_kind(bullet, standing, past, labels) for bullet in folded.bullets("rules")]
    found = counted(any(_is_rule(bullet, rule) for bullet in folded.bullets("rules")) for rule in standing)
    known = counted(any(holds(each, rule) for each in folded.of_users()) for rule in standing)
    return Rules(found, known, *(kinds.count(kind) for kind in ("right", "over", "wrong", "unlabelled")))


LONGEST = 4
"""A line of more than so many times a rule's length, and some, is a message that holds a rule, and no rule."""


def _is_rule(bullet: str, rule: str) -> bool:
    return same(bullet, rule) and len(bullet) <= LONGEST * len(rule) + 100


def _kind(bullet: str, standing: Sequence[str], past: Sequence[str], labels: Labels) -> str:
    if any(_is_rule(bullet, rule) for rule in standing):
        return "right"
    if any(_is_rule(bullet, rule) for rule in past):
        return "over"
    foreign = [passage.text for passage in labels.speakers if passage.by != "user"]
    if any(same(bullet, each) for each in labels.not_rules) or any(shares_words(bullet, each) for each in foreign):
        return "wrong"
    return "unlabelled"


# -- who speaks --------------------------------------------------------------------------------------------------


class Speakers(NamedTuple):
    """The lines of a page that stand as the user's: those that are another's, and those that hold a user's paste."""

    wrong: tuple[str, ...] = ()
    pasted: tuple[str, ...] = ()

    def __add__(self, other: tuple[object, ...]) -> Speakers:  # type: ignore[override]
        return Speakers(*(mine + its for mine, its in zip(self, other)))  # type: ignore[operator, arg-type]


def speakers(labels: Labels, before: Sequence[Chat], folded: Folded) -> Speakers:
    """The lines that stand as the user's and are not.

    Another's are the labelled passages, and whatever an agent's or a tool's message says and no user's does.
    """
    lines = [line for line in folded.as_the_user() if len(bare(line)) > 3]
    own = [passage.text for passage in labels.speakers if passage.by == "user"]
    foreign = [p for p in labels.speakers if p.by != "user" and not any(holds(mine, p.text) for mine in own)]
    users = "\n".join(bare(text(m)) for m in before if m["role"] == "user")
    others = "\n".join(bare(text(m)) for m in before if m["role"] != "user")
    wrong, pasted = [], []
    for line in lines:
        by = {passage.by for passage in foreign if shares_words(line, passage.text)}
        if by - {"paste"} or (shares_words(line, others) and not shares_words(line, users)):
            wrong.append(line)
        elif by:
            pasted.append(line)
    return Speakers(tuple(wrong), tuple(pasted))


# -- what no longer holds ----------------------------------------------------------------------------------------

_MARK = re.compile(
    r"correct|supersed|stale|outdated|no longer|replac|retired|instead|former|earlier|previous|changed|withdrawn|"
    r"taken back|\bwas\b|\bold\b|→|->|~~|not any ?more|later:",
    re.IGNORECASE,
)
MARKED_WITHIN = 240


def stale(labels: Labels, folded: Folded) -> Count:
    """The values that no longer hold and stand as if they did: neither the new one near or later, nor a mark near."""
    return counted(_asserted(each, folded.said) for each in labels.stale)


def _asserted(value: Replaced, said: Sequence[str]) -> bool:
    whole = "\n\n".join(said)
    old = [at for at in places(whole, value.old) if _about(whole, at, value)]
    return any(not _taken_back(whole, at, value) for at in old)


def _about(whole: str, at: int, value: Replaced) -> bool:
    around = whole[max(0, at - MARKED_WITHIN) : at + len(value.old) + MARKED_WITHIN]
    return not value.about or near(around, value.old, value.about, 1)


def _taken_back(whole: str, at: int, value: Replaced) -> bool:
    around = whole[max(0, at - MARKED_WITHIN) : at + len(value.old) + MARKED_WITHIN]
    return stands(around, value.new) or stands(whole[at:], value.new) or _MARK.search(around) is not None


# -- state -------------------------------------------------------------------------------------------------------

_DONE = re.compile(
    r"^\W*(?:done|finished|closed|fixed|solved|passed|\[x\]|✓|✔|☑|~~)|\((?:done|fixed|closed)", re.IGNORECASE
)


class State(NamedTuple):
    """Steps and errors: those that are open and told, and those that the page's state calls open and rightly so."""

    steps_told: Count = Count()
    steps_right: Count = Count()
    errors_told: Count = Count()
    errors_right: Count = Count()

    def __add__(self, other: tuple[object, ...]) -> State:  # type: ignore[override]
        return State(*(mine + its for mine, its in zip(self, other)))  # type: ignore[operator, arg-type]


def state(labels: Labels, folded: Folded) -> State:
    """Which open steps and errors are told, under the state or in what stayed, and which of those under it are open."""
    told = lines_of([*folded.section("state"), *texts(folded.kept)])
    open = [line for line in folded.section("state") if not _DONE.search(line)]
    steps, done = (counted(_step_in(open, step) for step in steps).right for steps in (labels.next, labels.done))
    errors, closed = (
        counted(_error_in(open, error) for error in errors).right
        for errors in (labels.open_errors, labels.closed_errors)
    )
    return State(
        counted(_step_in(told, step) for step in labels.next),
        Count(steps, steps + done),
        counted(_error_in(told, error) for error in labels.open_errors),
        Count(errors, errors + closed),
    )


def _step_in(lines: Sequence[str], step: str) -> bool:
    return any(same(line, step) for line in lines)


def _error_in(lines: Sequence[str], error: Fault) -> bool:
    return any(holds(line, error.message) for line in lines)


# -- validity ----------------------------------------------------------------------------------------------------


def faults(messages: Sequence[Chat]) -> list[str]:
    """What a provider would refuse: a result without its call, a call without its result, an empty message."""
    found: list[str] = []
    waiting: set[str] = set()
    for message in messages:
        answered = message.get("tool_call_id")
        if answered is not None and answered not in waiting:
            found.append(f"result without call {answered}")
        waiting.discard(answered)
        if waiting and answered is None:
            found += [f"call without result {id}" for id in sorted(waiting)]
            waiting.clear()
        waiting |= {id for id, _, _ in calls(message)}
        if not text(message).strip() and answered is None:
            found.append("an empty message")
    return found


# -- for who tunes -----------------------------------------------------------------------------------------------


def rules_missed(labels: Labels, before: Sequence[Chat], folded: Folded) -> Iterable[str]:
    """What is not as the labels have it, beside what is not told: a line for each."""
    standing = [rule.text for rule in labels.rules if rule.lifetime == "standing"]
    past = [rule.text for rule in labels.rules if rule.lifetime != "standing"]
    bullets = folded.bullets("rules")
    if not task_intact(labels, folded):
        yield "task cut"
    yield from (f"rule missing: {rule}" for rule in standing if not any(_is_rule(bullet, rule) for bullet in bullets))
    for bullet in bullets:
        if (kind := _kind(bullet, standing, past, labels)) != "right":
            yield f"rule {kind}: {bullet}"
    yield from (f"not the user's: {line[:200]}" for line in speakers(labels, before, folded).wrong)
    yield from (f"holds a paste: {line[:200]}" for line in speakers(labels, before, folded).pasted)
    yield from (f"stale: {each.old} (now {each.new})" for each in labels.stale if _asserted(each, folded.said))
    stays = texts(folded.kept)
    told = lines_of([*folded.section("state"), *stays])
    yield from (f"open step not told: {step}" for step in labels.next if not _step_in(told, step))
    lines = [line for line in folded.section("state") if not _DONE.search(line)]
    yield from (f"step called open: {step}" for step in labels.done if _step_in(lines, step))
    yield from (f"open error not told: {e.message}" for e in labels.open_errors if not _error_in(told, e))
    yield from (f"error called open: {e.message}" for e in labels.closed_errors if _error_in(lines, e))
