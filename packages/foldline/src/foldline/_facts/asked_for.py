"""What a request asks for by its name, a commit or a reply, and what was not seen to be done since."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from typing import NamedTuple

from foldline._facts.calls import COMMIT, PULL
from foldline._facts.cues import clauses, refuses
from foldline._facts.types import Facts
from foldline._patterns import pattern

_LONGEST = 400
"""Characters of a request that is looked through: a longer one tells of such things more often than it asks for them."""

_CALLS = ("call", "change")
"""The kinds of pieces that say what was done, and not what it showed."""

_BEGINS = r"(?:^|[,;.:&+/]\s*|\b(?:and|then|to|please|also|can you|could you|let.?s|now|und|dann|y|et)\s+)"
_QUOTED = pattern(r"```.*?(?:```|\Z)|`[^`\n]*`|\"[^\"\n]*\"|https?://\S+", re.DOTALL)
_CONDITION = pattern(
    r"\b(?:did|have you|has|why|how|what|when|if|whether|before|after|until|unless|once)\b|(?:^\W*|\b(?:i|we|they) )will\b|\b(?:i|we|they).ll\b",
    re.IGNORECASE,
)
"""What a clause holds that asks about such a thing, says when, or that somebody else does it."""


class _Act(NamedTuple):
    name: str
    asks: re.Pattern[str]
    shows: re.Pattern[str]
    """How a call that did it is told."""
    says: re.Pattern[str]
    """How the agent says that it did it."""


def _act(name: str, asks: str, shows: str, says: str) -> _Act:
    return _Act(name, *(pattern(each, re.IGNORECASE) for each in (asks, shows, says)))


_ACTS = (
    _act(
        "commit",
        rf"{_BEGINS}commit(?!\w|-)(?! (?:messages?|hash|history|ids?|log|body|hooks?)\b)",
        rf"^{COMMIT}|\bgit\b.{{0,80}}?\bcommit\b",
        r"\bcommitted\b",
    ),
    _act("push", rf"{_BEGINS}push(?!\w|-)(?! (?:back|notifications?)\b)", r"\bgit\b.{0,200}?\bpush\b", r"\bpushed\b"),
    _act(
        "pull request",
        r"\b(?:make|open|create|file|submit|raise|send|draft)\b[^.\n]{0,24}?\b(?:pr|pull request|merge request)\b|\bnew (?:\w+/)?(?:pr|pull request)\b",
        rf"^{PULL}|\bgh pr create\b|\bglab mr create\b|create_?(?:pull|merge)_?request",
        r"\b(?:pr|pull request)\b.{0,30}?(?:#\d|\b(?:opened|created|open|up)\b)|\b(?:opened|created)\b.{0,30}?\b(?:pr|pull request)\b|/pull/\d",
    ),
    _act(
        "reply",
        r"\b(?:reply|respond|answer|comment)\b[^.\n]{0,30}?\b(?:discussion|issue|pr|comments?|reviews?|thread|ticket|feedback)\b",
        r"\bgh (?:pr|issue) (?:comment|review)\b|\bgh api\b.*(?:replies|comments|comment)|(?:reply|comment)\w* \w+=",
        r"\b(?:replied|posted|commented)\b",
    ),
    _act(
        "test run",
        r"\b(?:run|rerun|re-run)\b[^.\n]{0,20}?\btests?\b",
        r"\btests?\b|\bpytest\b|\bspec\b",
        r"\btests? pass|\bpassed\b",
    ),
)


def not_seen(facts: Facts, words: Container[str]) -> list[str]:
    """What those of the `words` that no report closed ask for by name, in order, and neither a call nor the agent showed since:
    not in the messages behind them either."""
    facts = facts.latest
    closed = max((p.at for p in facts.pieces if p.kind == "report"), default=-1)
    found: dict[str, None] = {}
    for request in (r for r in facts.requests if r.text in words and r.newest > closed and not r.amid):
        done = [p.text for p in facts.pieces if p.by == "tool" and p.at > request.newest and p.kind in _CALLS]
        done += [c.text for c in facts.commands if c.outcome == "ok" and c.seen > request.newest]
        said = [p.text for p in facts.pieces if p.by == "agent" and p.at > request.newest]
        for act in _asked(request.text):
            if not (any(map(act.shows.search, done)) or any(map(act.says.search, said))):
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
