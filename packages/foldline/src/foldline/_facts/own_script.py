"""Whose words stand beside what was pasted, by their letters: who writes in another script than programs do pastes what is in theirs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from operator import attrgetter

from foldline._facts.types import Span
from foldline._patterns import pattern

TYPED = 400
"""Characters of the longest message that tells by itself in which letters the user writes."""

LEAST = 2
"""Such messages from which that is known, where they are most of them."""

_OWN = pattern(r"[^\W\d_\u0000-\u036f]")
"""A letter of a script that no program's output is in."""

_WORDS = pattern(r"[^\W\d_]+(?:[ ,;:.!?'’-]+[^\W\d_]+)+[ ,;:.!?]*")
"""Words alone on a line, which may be typed in any language."""

_TYPED_BEHIND = pattern(r"[.!?:] +(?=[^.!?:\n]*[^\W\d_\u0000-\u036f])")
"""Where in a line the user's own words begin behind what was pasted."""


def with_own_script(spoken: Sequence[tuple[Span, ...]]) -> list[tuple[Span, ...]]:
    """The words of messages; where the user writes in a script of their own what stands beside a paste in another one is part of that."""
    typed = [
        spans[0].text for spans in spoken if len(spans) == 1 and spans[0].by == "user" and len(spans[0].text) <= TYPED
    ]
    own = sum(1 for text in typed if _OWN.search(text))
    if own < LEAST or 2 * own <= len(typed):
        return [*spoken]
    return [tuple(_parted(spans)) if any(span.by == "paste" for span in spans) else spans for spans in spoken]


def may_have_own_script(texts: Iterable[str]) -> bool:
    """Whether some short texts are in letters of another script than programs' output."""
    return len([*islice((text for text in texts if len(text) <= TYPED and _OWN.search(text)), LEAST)]) == LEAST


def _parted(spans: Sequence[Span]) -> Iterator[Span]:
    """The words of a message that holds a paste, those in other letters as part of it, and what was typed right behind it."""
    told = [span._replace(by="paste") if _is_foreign(spans, at) else span for at, span in enumerate(spans)]
    for by, run in groupby(told, key=attrgetter("by")):
        if by != "paste":
            yield from run
            continue
        pasted = "\n".join(span.text for span in run)
        behind = _typed_behind(pasted) if pasted.endswith(spans[-1].text) else len(pasted)
        yield Span("paste", pasted[:behind].rstrip())
        yield from (Span("user", pasted[behind:]) for _ in pasted[behind:][:1])


def _is_foreign(spans: Sequence[Span], at: int) -> bool:
    """Whether what would be the user's is in other letters than those in which the user writes, and no words alone around a paste."""
    by, text = spans[at]
    around = at in (0, len(spans) - 1) and _WORDS.fullmatch(text) is not None
    return by == "user" and not around and not _OWN.search(text)


def _typed_behind(paste: str) -> int:
    """Where the user's own words begin in the last line of a paste which is in other letters up to them; its end where none do."""
    before, _, line = paste.rpartition("\n")
    found = None if _OWN.search(before) else _TYPED_BEHIND.search(line)
    return len(paste) - len(line) + found.end() if found else len(paste)
