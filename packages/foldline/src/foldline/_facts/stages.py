"""The stages that a conversation tells of itself: by labels in its messages, or else by the items of the agent's plan."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from foldline._facts.plan import Plan
from foldline._facts.tool_calls import read_action
from foldline._messages import Message
from foldline._stages import Course, Stage, closing_words

_LABEL = re.compile(r"^\s*\[(?:stage|tahap)\s*:\s*([^\]\n]{1,80}?)\s*\]", re.IGNORECASE)
"""How a message begins that begins a stage: `[stage: outline]`, in Indonesian `[tahap: kerangka]`."""

Begun = tuple[int, str]
"""The place of a message, and the stage that it begins; an empty one where a stage ends and none begins."""


def stages_told(messages: Sequence[Message]) -> Course:
    """The stages by the labels in the messages, or else by the plan; the closing words of each that is over are its digest."""
    return _course([*_labelled(messages)] or [*_planned(messages)], messages)


def _labelled(messages: Sequence[Message]) -> Iterator[Begun]:
    for at, message in enumerate(messages):
        if message.role in ("user", "assistant") and (label := _LABEL.match(message.text)):
            yield at, label[1]


def _planned(messages: Sequence[Message]) -> Iterator[Begun]:
    """Where an item of the plan was taken in hand, and where one was finished and nothing else was."""
    plan = Plan()
    doing = ""
    for at, message in enumerate(messages):
        for told in (action.plan for call in message.calls if (action := read_action(call)).plan):
            plan.told(told, "", at)
            now = next((todo.text for todo in plan.todos if todo.status == "in_progress"), "")
            if now != doing:
                yield at, now
            doing = now


def _course(begun: Sequence[Begun], messages: Sequence[Message]) -> Course:
    """A stage is closed where the next one begins, and open again where it is begun again."""
    course = Course()
    ends = [at for at, _ in begun[1:]]
    for (at, name), end in zip(begun, [*ends, None]):
        if name:
            course = course.reopened(name, at) if course.named(name) else course.begun(name, at)
        if name and end is not None:
            course = course.ended(Stage(name, digest=closing_words(messages[at:end])), end)
    return course
