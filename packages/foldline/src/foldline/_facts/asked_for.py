"""What a request asks for by its name, a commit or a reply, and what was not seen to be done since."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from foldline._facts.calls import COMMIT
from foldline._facts.cues import clauses, refuses
from foldline._facts.types import Facts

_LONGEST = 400
"""Characters of a request that is looked through: a longer one tells of such things more often than it asks for them."""

_BEGINS = r"(?:^|[,;.:&+/]\s*|\b(?:and|then|to|please|also|can you|could you|let.?s|now|und|dann|y|et)\s+)"
_QUOTED = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|\"[^\"\n]*\"|https?://\S+", re.DOTALL)
_CONDITION = re.compile(
    r"\b(?:did|have you|has|why|how|what|when|if|whether|before|after|until|unless|once)\b", re.IGNORECASE
)
"""What a clause holds that asks about such a thing, or says when."""


class _Act(NamedTuple):
    name: str
    asks: re.Pattern[str]
    shows: re.Pattern[str]
    """How a call that did it is told."""


def _act(name: str, asks: str, shows: str) -> _Act:
    return _Act(name, re.compile(asks, re.IGNORECASE), re.compile(shows))


_ACTS = (
    _act(
        "commit",
        rf"{_BEGINS}commit(?!\w|-)(?! (?:messages?|hash|history|ids?|log|body|hooks?)\b)",
        rf"^{COMMIT}|\bgit\b.{{0,80}}?\bcommit\b",
    ),
    _act("push", rf"{_BEGINS}push(?!\w|-)(?! (?:back|notifications?)\b)", r"\bgit\b.{0,200}?\bpush\b"),
    _act(
        "pull request",
        r"\b(?:make|open|create|file|submit|raise|send|draft)\b[^.\n]{0,24}?\b(?:pr|pull request|merge request)\b|\bnew (?:\w+/)?(?:pr|pull request)\b",
        r"\bgh pr create\b|\bglab mr create\b|create_?(?:pull|merge)_?request",
    ),
    _act(
        "reply",
        r"\b(?:reply|respond|answer|comment)\b[^.\n]{0,30}?\b(?:discussion|issue|pr|comments?|reviews?|thread|ticket|feedback)\b",
        r"(?i)\bgh (?:pr|issue) (?:comment|review)\b|\bgh api\b.*(?:replies|comments|add\w*Comment)|\w*(?:reply|comment)\w* ",
    ),
    _act("test run", r"\b(?:run|rerun|re-run)\b[^.\n]{0,20}?\btests?\b", r"(?i)\btests?\b|\bpytest\b|\bspec\b"),
)


def not_seen(facts: Facts) -> list[str]:
    """What the requests that no report closed ask for by name, in order, and no call since then did."""
    closed = max((p.at for p in facts.pieces if p.kind == "report"), default=-1)
    found: dict[str, None] = {}
    for request in (request for request in facts.requests if request.newest > closed and not request.amid):
        done = [p.text for p in facts.pieces if p.by == "tool" and p.at > request.newest]
        done += [c.text for c in facts.commands if c.outcome == "ok" and c.seen > request.newest]
        for act in _asked(request.text):
            if not any(act.shows.search(text) for text in done):
                found[act.name] = None
    return [*found]


def _asked(text: str) -> Iterator[_Act]:
    """What a request asks for by name; what it refuses, and what it only speaks of, is not asked for."""
    if len(text) <= _LONGEST:
        words = _QUOTED.sub(" ", text)
        for act in _ACTS:
            for found in act.asks.finditer(words):
                clause = clauses(words, found)
                if not (refuses(clause) or _CONDITION.search(clause)):
                    yield act
                    break
