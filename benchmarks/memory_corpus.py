"""Real sessions for `memory`: cut where an agent went on, with what it still needed, found by what it wrote later."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path

from foldline import FoldlineError, Message, Summary, open_session
from foldline.extend import ToolCall, ToolResult, replace
from memory_histories import Chat, Item, as_chat, calls, cut_at, interleaved, size, sizes, text, texts
from memory_material import Need, is_told
from memory_words import NEAR, literals, places, stands

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"

SESSIONS = {
    "tune": (
        "claude-code/entire-02-06554e6.jsonl",
        "claude-code/entirecontext-04-8c906ef.jsonl",
        "codex/communique-01-0aba31d.jsonl",
        "codex/hk-02-4f73117.jsonl",
        "mini-swe-agent/mini-01-148f379.traj.json",
        "pi/complextask-01-211839c.jsonl",
        "pi/pimono-01-00d8dfb.jsonl",
    ),
    "sealed": (
        "claude-code/entire-04-15d1a74.jsonl",
        "claude-code/entire-08-3736929.jsonl",
        "claude-code/entirecontext-07-f357623.jsonl",
        "codex/communique-02-723b971.jsonl",
        "codex/hk-01-0537ac1.jsonl",
        "mini-swe-agent/mini-02-225eb4e.traj.json",
        "openhands-sdk/ohbench-04-8605a13.json",
        "pi/complextask-03-95148d8.jsonl",
        "pi/pimono-02-8eb5929.jsonl",
    ),
}
"""The recorded sessions of each half; those of `sealed` are not what anything is tuned on."""

CUTS = (0.5, 0.8)
MOST = 60_000
"""Tokens before a cut that are looked at, the newest ones: a history of that size is what a window holds."""

OTHERS = 6
STRETCH = 12_000
"""Tokens of each conversation where seven of them are interleaved."""

LEAST = 5
"""A cut with fewer needed literals says too little to be counted."""


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
    said = message.text.lstrip()[:120]
    return message.summary is not None or "session is being continued" in said or "compacted into" in said


def _tagged(name: str, messages: Iterable[Message]) -> Iterator[Message]:
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


def newest(messages: Sequence[Message], tokens: int) -> list[Message]:
    """The newest messages of about that size, from a user's words on where some are near."""
    costs = sizes(messages)
    start = len(messages)
    while start and (tokens := tokens - costs[start - 1]) >= 0:
        start -= 1
    if start == 0:
        return list(messages)
    chat = [as_chat([m]) for m in messages]
    legal = [i for i in range(start, len(messages)) if chat[i] and chat[i][0]["role"] != "tool"]
    turns = [i for i in legal if chat[i][0]["role"] == "user" and i < start + (len(messages) - start) // 4]
    return list(messages[next(iter([*turns, *legal]), len(messages)) :])


# -- what was needed ---------------------------------------------------------------------------------------------


def needed(before: Sequence[Chat], after: Sequence[Chat], unfair: Iterable[str] = ()) -> list[str]:
    """The literals that a later call writes, that stood before the cut, and that nothing in between shows again.

    Those in `unfair` are left out: other projects' sessions hold them too, so that they are no memory of this one.
    """
    known = "\n".join(texts(before))
    unfair = set(unfair)
    seen: list[str] = []
    found: dict[str, None] = {}
    decided: set[str] = set()
    for message in after:
        fresh = {w for _, _, given in calls(message) for w in literals(given, quoted=True)} - decided
        between = "\n".join(seen) if fresh else ""
        for word in sorted(fresh):
            if word not in unfair and stands(known, word) and not stands(between, word):
                found[word] = None
        decided |= fresh
        seen.append(text(message))
    return list(found)


_WORD = re.compile(r"(?<![\w./~-])[^\W\d_]{4,20}(?![\w/]|[.-]\w)")
WORDS = 6
COMMON = 0.15


def needs(words: Sequence[str], before: Sequence[Chat]) -> list[Need]:
    """The literals with the plain words that stand close to them and elsewhere seldom, where there are two such words.

    Far is what was first said in the oldest half and is not said again in the newest third.
    """
    said = texts(before)
    spread = Counter(word for each in said for word in {word for _, word in _plain_words(each)})
    found = []
    for literal in words:
        holding = [i for i, each in enumerate(said) if stands(each, literal)]
        if not holding:
            continue
        beside: Counter[str] = Counter()
        for i in holding:
            beside.update(_beside(said[i], literal))
        fitting = [word for word in beside if 0 < spread[word] <= max(2, COMMON * len(said))]
        about = sorted(fitting, key=lambda word: (-beside[word] / spread[word] ** 0.5, word))[:WORDS]
        need = Need(literal, tuple(about), _is_far(said, holding))
        if is_told(need, said):
            found.append(need)
    return found


def _plain_words(words: str) -> Iterator[tuple[int, str]]:
    """The words of a text that are no names, with their places."""
    for match in _WORD.finditer(words):
        if match[0][1:] == match[0][1:].lower():
            yield match.start(), match[0].casefold()


def _beside(words: str, literal: str) -> dict[str, float]:
    """The words near a literal in a text, the closer the more they weigh."""
    found: Counter[str] = Counter()
    for at in islice(places(words, literal), 5):
        start = max(0, at - NEAR // 2)
        around = words[start : at + len(literal) + NEAR // 2].replace(literal, " " * len(literal))
        for place, word in _plain_words(around):
            gap = max(at - start - place, place - (at - start + len(literal)))
            found[word] = max(found[word], 1 / (20 + gap))  # type: ignore[assignment]
    return dict(found)


def _is_far(said: Sequence[str], holding: Sequence[int]) -> bool:
    lengths = [len(each) for each in said]
    first, last = (sum(lengths[:i]) / sum(lengths) for i in (holding[0], holding[-1]))
    return first < 1 / 2 and last < 2 / 3


# -- cases -------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=32)
def _vocabulary(folder: Path, name: str) -> frozenset[str]:
    return frozenset(w for each in texts(as_chat(session(folder, name))) for w in literals(each))


def elsewhere(folder: Path, name: str) -> frozenset[str]:
    """The literals in the sessions of other projects."""
    others = (n for names in SESSIONS.values() for n in names if project(n) != project(name))
    return frozenset().union(*(_vocabulary(folder, n) for n in others))


def cut_sessions(folder: Path, half: str, most: int = MOST) -> Iterator[tuple[str, list[Item], list[Need]]]:
    """Each session of a half at its cuts: its name, the history before, what was needed after."""
    for name in SESSIONS[half]:
        messages = session(folder, name)
        for share in CUTS if messages else ():
            cut = cut_at(messages, share)
            before = newest(messages[:cut], most)
            chat = as_chat(before)
            found = needs(needed(chat, as_chat(messages[cut:]), elsewhere(folder, name)), chat)
            if len(found) >= LEAST and size(before) > STRETCH // 4:
                yield f"{Path(name).name.split('.')[0]} at {share:.0%}", list(before), found


def between(folder: Path, half: str) -> Iterator[tuple[str, list[Item], list[Need]]]:
    """The same with the newest stretch before each cut interleaved with stretches of six sessions of other projects."""
    for name, before, found in cut_sessions(folder, half, STRETCH):
        others = [o for o in SESSIONS[half] if project(o) != project(name) and session(folder, o)]
        around = [_stretch(folder, others[n % len(others)], n) for n in range(OTHERS)] if len(others) > 2 else []
        noise = [line for stretch in around for line in texts(as_chat(stretch))]
        fair = [need for need in found if not any(stands(line, need.value) for line in noise)]
        if around and len(fair) >= LEAST:
            yield name, interleaved([before, *around]), fair


def _stretch(folder: Path, name: str, number: int) -> list[Message]:
    """A stretch of a session, a different one for each number, with call ids of its own."""
    messages = session(folder, name)
    cut = cut_at(messages, (0.25, 0.5, 0.75, 0.35, 0.65, 0.9)[number])
    return list(_tagged(f"{number}-{name.replace('/', '-')}", newest(messages[:cut], STRETCH)))


def there(folder: Path = CORPUS) -> bool:
    """Whether there are recorded sessions."""
    return any((folder / name).exists() for names in SESSIONS.values() for name in names)
