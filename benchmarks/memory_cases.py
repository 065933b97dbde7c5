"""Cases for `memory`: real sessions cut where an agent went on, with what it still needed, and unrelated ones around them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from foldline.errors import FoldlineError
from foldline.messages import Message, Summary, ToolCall, ToolResult, replace
from foldline.tokens.weigh import weigh
from foldline.transcripts import open_session
from foldline.view import view_of
from memory_words import literals, stands, texts, written

TUNE = (
    "claude-code/entire-02-06554e6.jsonl",
    "claude-code/entirecontext-04-8c906ef.jsonl",
    "codex/communique-01-0aba31d.jsonl",
    "codex/hk-02-4f73117.jsonl",
    "mini-swe-agent/mini-01-148f379.traj.json",
    "pi/complextask-01-211839c.jsonl",
    "pi/pimono-01-00d8dfb.jsonl",
)
"""The sessions that the extraction was tuned on."""

REPORT = (
    "claude-code/entire-04-15d1a74.jsonl",
    "claude-code/entire-08-3736929.jsonl",
    "claude-code/entirecontext-07-f357623.jsonl",
    "codex/communique-02-723b971.jsonl",
    "codex/hk-01-0537ac1.jsonl",
    "mini-swe-agent/mini-02-225eb4e.traj.json",
    "openhands-sdk/ohbench-04-8605a13.json",
    "pi/complextask-03-95148d8.jsonl",
    "pi/pimono-02-8eb5929.jsonl",
)
"""The sessions that figures are reported on, and that nothing was tuned on."""

SPLITS = {"tune": TUNE, "report": REPORT}
CUTS = (0.4, 0.6, 0.8)
MOST = 60_000
"""Tokens before a cut that are looked at, the newest ones: a folded history of this size is what a window holds."""

STRETCH = 12_000
"""Tokens of the needed conversation, and of each unrelated one, where six of those stand around it."""

LEAST_NEEDED = 5
"""A cut with fewer needed literals says too little to be counted."""


class Case(NamedTuple):
    """A history up to a cut, and the literals in it that the agent wrote later without having seen them again."""

    name: str
    before: list[Message]
    needed: tuple[str, ...]

    @property
    def tokens(self) -> int:
        """The size of the history."""
        return sum(map(weigh, self.before))


def project(name: str) -> str:
    """What a session is about: its file's name without its number."""
    return Path(name).name.split("-")[0]


@lru_cache(maxsize=32)
def session(folder: Path, name: str) -> tuple[Message, ...]:
    """All messages of a session, folded ones included; without system messages and other compactors' summaries.

    Answers nothing where the file is not there or cannot be read.
    """
    try:
        opened = open_session(folder / name)
    except FoldlineError:
        return ()
    return tuple(_tagged(name, [m for _, m in opened.messages() if m.role != "system" and not _stands_in(m)]))


def _stands_in(message: Message) -> bool:
    told = message.text.lstrip()[:120]
    return message.summary is not None or "session is being continued" in told or "compacted into" in told


def _tagged(name: str, messages: Iterable[Message]) -> Iterable[Message]:
    """The messages with call ids that no other session has."""
    tag = Path(name).name.split(".")[0]
    for message in messages:
        parts = tuple(
            replace(p, id=f"{tag}:{p.id}")
            if type(p) is ToolCall
            else replace(p, call_id=f"{tag}:{p.call_id}")
            if type(p) is ToolResult
            else p
            for p in message.parts
            if type(p) is not Summary
        )
        if parts:
            yield replace(message, parts=parts, usage=None)


# -- cutting -----------------------------------------------------------------------------------------------------


def cut_at(messages: Sequence[Message], share: float) -> int:
    """The first place behind that share of the tokens where no pair is open."""
    sizes = [weigh(m) for m in messages]
    legal = sorted(view_of(messages, weigh).cut_points())
    aim, behind = share * sum(sizes), 0
    reached = len(messages)
    for i, size in enumerate(sizes):
        if behind >= aim:
            reached = i
            break
        behind += size
    return next((i for i in legal if i >= reached), len(messages))


def newest(messages: Sequence[Message], tokens: int) -> list[Message]:
    """The newest messages of about that size, from a user's words on; a short task before them where none are near."""
    view = view_of(messages, weigh)
    start, left = len(messages), tokens
    while start and (left := left - view.entries[start - 1].tokens) >= 0:
        start -= 1
    points = [i for i in sorted(view.cut_points()) if i < len(messages)]
    legal = [i for i in points if i >= start] or points[-1:]
    if not legal or legal[0] == 0:
        return list(messages)
    turns = [i for i in view.turns if i in set(legal) and i < legal[0] + (len(messages) - legal[0]) // 4]
    if turns:
        return list(messages[turns[0] :])
    task = [messages[i] for i in view.turns[:1] if view.entries[i].tokens < tokens // 5]
    return [*task, *messages[legal[0] :]]


def needed(before: Sequence[Message], after: Sequence[Message], unfair: Iterable[str] = ()) -> tuple[str, ...]:
    """The literals that a later tool call writes, that stood before the cut, and that nothing in between shows again.

    Those in `unfair` are left out: other projects' sessions hold them too, so that they are no memory of this one.
    """
    known = "\n".join(t for m in before for t in texts(m))
    unfair = set(unfair)
    shown: list[str] = []
    found: dict[str, None] = {}
    decided: set[str] = set()
    for message in after:
        fresh = {w for call in message.calls for w in literals(written(call), quoted=True)} - decided
        between = "\n".join(shown) if fresh else ""
        for word in sorted(fresh):
            if word not in unfair and stands(known, word) and not stands(between, word):
                found[word] = None
        decided |= fresh
        shown.extend(texts(message))
    return tuple(found)


# -- cases -------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=32)
def _vocabulary(folder: Path, name: str) -> frozenset[str]:
    return frozenset(w for m in session(folder, name) for t in texts(m) for w in literals(t))


def elsewhere(folder: Path, name: str) -> frozenset[str]:
    """The literals in the sessions of other projects."""
    others = (n for n in (*TUNE, *REPORT) if project(n) != project(name))
    return frozenset().union(*(_vocabulary(folder, n) for n in others))


def plain(folder: Path, names: Iterable[str]) -> list[Case]:
    """Each session cut three times."""
    found = []
    for name in names:
        messages = session(folder, name)
        for share in CUTS if messages else ():
            cut = cut_at(messages, share)
            before = newest(messages[:cut], MOST)
            words = needed(before, messages[cut:], elsewhere(folder, name))
            if len(words) >= LEAST_NEEDED:
                found.append(Case(f"{Path(name).name.split('.')[0]} at {share:.0%}", before, words))
    return found


def interrupted(folder: Path, names: Sequence[str]) -> list[Case]:
    """The same with the newest stretch before each cut in the middle of six stretches of other projects' sessions."""
    found = []
    for n, name in enumerate(names):
        messages = session(folder, name)
        others = [o for o in names if project(o) != project(name) and session(folder, o)]
        if not messages or len(others) < 3:
            continue
        others = [others[(n + i) % len(others)] for i in range(6)]
        around = [_stretch(folder, other, i) for i, other in enumerate(others)]
        noise = "\n".join(t for stretch in around for m in stretch for t in texts(m))
        for share in CUTS:
            cut = cut_at(messages, share)
            before = newest(messages[:cut], STRETCH)
            words = needed(before, messages[cut:], elsewhere(folder, name))
            words = tuple(w for w in words if not stands(noise, w))
            if len(words) >= LEAST_NEEDED:
                whole = [m for stretch in (*around[:3], before, *around[3:]) for m in stretch]
                found.append(Case(f"{Path(name).name.split('.')[0]} at {share:.0%}", whole, words))
    return found


def _stretch(folder: Path, name: str, number: int) -> list[Message]:
    """A stretch of a session, a different one for each number, with call ids of its own."""
    messages = session(folder, name)
    cut = cut_at(messages, (0.25, 0.5, 0.75, 0.35, 0.65, 0.9)[number])
    return list(_tagged(f"{number}-{name.replace('/', '-')}", newest(messages[:cut], STRETCH)))
