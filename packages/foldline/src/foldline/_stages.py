"""The stages of a conversation: what is worked on in turn, what was decided in each, and where its messages stand."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

from foldline._clipping import clipped, one_line
from foldline._errors import ConfigError
from foldline._messages import Message, Value, replace
from foldline._patterns import pattern

DIGEST = 200
"""Characters of what a stage decided that stand for it in the memory digest, and in the place of its messages."""

NOTE, DETAIL = 280, 1_000
"""Characters of a closed stage's note, and of the detail that the newest ones have instead."""

DETAILED = 3
"""How many of the newest closed stages are told in detail."""

HEADING = "Decisions of the stages so far:"
"""What stands above a memory digest unless told otherwise."""

LISTED = 5
"""How many entries of each of a stage's lists are told."""


class Stage(Value, frozen=True, omit_defaults=True):
    """One sub-task of a conversation: open, or closed with the digest of what was decided in it.

    `detail` tells the same at length, and `lists` name what belongs to it, its references for instance. `superseded` are
    the digests that it had before it was reopened.
    """

    name: str
    closed: bool = False
    digest: str = ""
    detail: str = ""
    lists: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    superseded: tuple[str, ...] = ()

    @property
    def decision(self) -> str:
        """What was decided in it, in one line of at most 200 characters."""
        return one_line(self.digest, DIGEST)


class Course(Value, frozen=True, omit_defaults=True):
    """The stages of a conversation in the order in which they were begun, and from which message on each is worked at."""

    stages: tuple[Stage, ...] = ()
    runs: tuple[tuple[int, str], ...] = ()
    """Where a run of messages begins, and the stage that it belongs to; an empty name where it belongs to none."""

    @property
    def current(self) -> str:
        """The stage that is worked at; empty where none is."""
        return self.runs[-1][1] if self.runs else ""

    def named(self, name: str) -> Stage | None:
        """The stage of that name."""
        return next((stage for stage in self.stages if stage.name == name), None)

    def at(self, place: int) -> str:
        """The stage that the message at a place belongs to."""
        found = bisect_right(self.runs, place, key=lambda run: run[0])
        return self.runs[found - 1][1] if found else ""

    def told(self, messages: Sequence[Message]) -> tuple[Stage, ...]:
        """The stages, with the agent's last words for the digest of those that were closed without one."""
        if all(stage.digest or not stage.closed for stage in self.stages):
            return self.stages
        of = [(self.at(place), message) for place, message in enumerate(messages)]
        return tuple(
            stage
            if stage.digest or not stage.closed
            else replace(stage, digest=closing_words(message for name, message in of if name == stage.name))
            for stage in self.stages
        )

    def begun(self, name: str, place: int) -> Course:
        """The course with a stage worked at from a place on; raises `ConfigError` for one that is closed."""
        if not name.strip() or "\n" in name:
            raise ConfigError(f"a stage's name is one line of words, not {name!r}", path="Compactor", key="stage")
        known = self.named(name)
        if known and known.closed:
            raise ConfigError(f"{name!r} is closed: reopen it", path="Compactor", key="stage")
        stages = self.stages if known else (*self.stages, Stage(name))
        return replace(self, stages=stages).run(name, place)

    def ended(self, stage: Stage, place: int) -> Course:
        """The course with a stage closed as it is given; one that was never begun takes what belongs to none before the place."""
        if known := self.named(stage.name):
            closed = self._with(replace(stage, closed=True, superseded=known.superseded))
            return closed.run("", place) if self.current == stage.name else closed
        begun = self.begun(stage.name, place if self.current else self.runs[-1][0] if self.runs else 0)
        return begun.ended(stage, place)

    def reopened(self, name: str, place: int) -> Course:
        """The course with a closed stage worked at again: its digest is superseded."""
        known = self._known(name)
        if not known.closed:
            return self.begun(name, place)
        earlier = (*known.superseded, *filter(None, (known.digest,)))
        return self._with(Stage(name, superseded=earlier)).run(name, place)

    def moved(self, moved: Callable[[int], int]) -> Course:
        """The course where messages stand elsewhere now."""
        return replace(self, runs=tuple((moved(place), name) for place, name in self.runs)) if self.runs else self

    def _known(self, name: str) -> Stage:
        if (known := self.named(name)) is None:
            there = ", ".join(stage.name for stage in self.stages) or "none"
            raise ConfigError(f"no stage {name!r} was begun; there are: {there}", path="Compactor", key="stage")
        return known

    def _with(self, changed: Stage) -> Course:
        stages = (changed if stage.name == changed.name else stage for stage in self.stages)
        return replace(self, stages=tuple(stages))

    def run(self, name: str, place: int) -> Course:
        """The course where messages belong to a stage from a place on, or to none."""
        before = tuple(run for run in self.runs if run[0] < place)
        return replace(self, runs=before if before and before[-1][1] == name else (*before, (place, name)))


def closing_words(messages: Iterable[Message]) -> str:
    """What an agent said last in a stage that was closed without a digest."""
    said = (message.text for message in reversed([*messages]) if message.role == "assistant")
    return one_line(next((text for text in said if text.strip()), ""), DIGEST)


def lists_of(given: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """A stage's lists as they are kept: every entry a line; raises `ConfigError` for what is no list of texts."""
    for name, entries in given.items():
        if isinstance(entries, str) or not all(isinstance(entry, str) for entry in entries):
            raise ConfigError(f"{name!r} must be a list of texts", path="Compactor.close_stage", key="lists")
    return {name: tuple(" ".join(entry.split()) for entry in entries) for name, entries in given.items()}


# -- what is told of them ----------------------------------------------------------------------------------------------


def memory_digest(stages: Sequence[Stage], heading: str) -> str:
    """What was decided in each closed stage, a line for each; empty where none is closed."""
    lines = [f"- {stage.name}: {stage.decision}" for stage in stages if stage.closed and stage.digest]
    return "\n".join([heading, *lines]) if lines else ""


def stage_notes(stages: Sequence[Stage], *, folded: Collection[str]) -> str:
    """The closed stages: the newest three in detail unless one of them is `folded`, the others by a note; lists cut to five."""
    closed = [stage for stage in stages if stage.closed]
    newest = closed[-DETAILED:]
    newest = [] if any(stage.name in folded for stage in newest) else newest
    return "\n\n".join("\n".join(_told(stage, detailed=stage in newest)) for stage in closed)


def _told(stage: Stage, *, detailed: bool) -> Iterator[str]:
    yield f"## {stage.name}"
    said = clipped(stage.detail, DETAIL) if detailed and stage.detail else one_line(stage.digest, NOTE)
    if said:
        yield said
    for name, entries in stage.lists.items():
        if entries:
            yield f"{name}: {'; '.join(entries[:LISTED])}"


# -- a digest in the place of messages ---------------------------------------------------------------------------------

_DIGEST = pattern(r"^\[stage (?P<name>.+?)(?P<again>, reopened)?: (?P<of>\d+ messages, recall \S+)\]", re.MULTILINE)


def digest_text(name: str, messages: int, first: str, said: str) -> str:
    """What stands in the place of a stage's messages, the first of them by its id."""
    return f"[stage {name}: {messages} messages, recall {first}] {said}".rstrip()


def digested(message: Message) -> str:
    """The stage whose digest a message is; empty where it is none, or says that the stage was reopened."""
    found = _found(message)
    return found["name"] if found and not found["again"] else ""


def superseded(message: Message) -> str:
    """What stands in the place of a digest once its stage was reopened: it is shorter, and recalls the same."""
    found = _found(message)
    return f"[stage {found['name']}, reopened: {found['of']}]" if found else ""


def is_digest(message: Message) -> bool:
    """Whether a message stands for a stage, whether or not it was reopened."""
    return _found(message) is not None


def _found(message: Message) -> re.Match[str] | None:
    text = message.text if message.role != "assistant" else ""
    return _DIGEST.search(text) if "[stage " in text else None
