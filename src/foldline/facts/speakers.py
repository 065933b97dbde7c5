"""Who speaks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from foldline.facts.speech import own_words
from foldline.messages import Message, Speaker, Text


class Span(NamedTuple):
    by: Speaker
    text: str


def spoken(messages: Sequence[Message]) -> list[tuple[Span, ...]]:
    return [_spans(m) for m in messages]


def _spans(m: Message) -> tuple[Span, ...]:
    out = []
    for p in m.parts:
        if type(p) is Text:
            if m.role == "user":
                w = own_words(p.text)
                if w:
                    out.append(Span("user", w))
            elif m.role == "assistant":
                out.append(Span("agent", p.text))
            else:
                out.append(Span("harness", p.text))
    return tuple(out)


def user_words(messages):
    ms = list(messages)
    for spans in spoken(ms):
        said = "\n".join(s.text for s in spans if s.by == "user")
        if said.strip():
            yield said
