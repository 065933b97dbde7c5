"""The summary that code writes, without a model.

Reading facts takes many words and patterns. They are loaded when the first summary is written, since most steps of an
agent write none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from foldline._messages import Message, Summary
from foldline._view import Brief

if TYPE_CHECKING:
    from foldline._facts.types import Facts


def extract(brief: Brief, messages: Sequence[Message]) -> Summary:
    """The summary of messages within the tokens of a brief, from what stands in them and nothing else."""
    from foldline._facts.reading import facts_of

    return extracted(brief, facts_of(messages), messages)


def extracted(brief: Brief, facts: Facts, messages: Sequence[Message]) -> Summary:
    """The same, with the facts of the messages."""
    if brief.wording.points:
        from foldline._writers.points import bound, pointed

        points = pointed(messages, brief.wording.points[1], brief.max_tokens)
        return Summary(bound(points, facts, brief), facts.data())
    from foldline._page.extract import compose

    return Summary(compose(brief, facts), facts.data())
