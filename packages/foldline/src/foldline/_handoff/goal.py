"""A handoff: a new session opened by what a goal needs of an old one, found without a model."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence

from foldline._clipping import cut
from foldline._facts.language import common_words
from foldline._facts.speech import clean
from foldline._facts.types import Facts, File
from foldline._handoff.exporting import SessionHistory
from foldline._handoff.new_session import NewSession, write_new
from foldline._messages import Message, Text, ToolCall, ToolResult, Value, text_of
from foldline._page.files import trail
from foldline._recall.index import weighed
from foldline._recall.text import indexed
from foldline._sessions.file import SessionFile
from foldline._sessions.pi import PI
from foldline._tokens.estimate import estimate

TOKENS = 2_000
"""The size of a draft at most, where the goal itself leaves room."""

BEHIND = "Another language model worked on this before"
"""How the gathered part begins: with words by which every later fold tells it from the user's request."""

_WORD = re.compile(r"\w{2,}")
_JOINED = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_")
"""Where a name is parted into words."""

_PLURAL = re.compile(r"(?<=[a-z]{3})s\b")

_READ = 8_000
"""Characters of a message in which the words of the goal are looked for."""

Score = Callable[[str], float]


class Pointer(Value, frozen=True, omit_defaults=False):
    """An entry of the old session that bears on the goal, and how it begins."""

    id: str
    role: str
    text: str


class HandoffDraft(Value, frozen=True, omit_defaults=False):
    """The prompt that opens the new session, to be edited first, and what it names."""

    goal: str
    text: str
    tokens: int
    files: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    pointers: tuple[Pointer, ...] = ()


def draft(session: SessionFile, goal: str, *, tokens: int = TOKENS, found: str = "") -> HandoffDraft:
    """The opening prompt for a goal: the goal, what a model `found`, then constraints, files, decisions, open work, pointers."""
    goal = clean(goal).strip()
    history = SessionHistory(session)
    facts = history.facts
    words = [_words_of(message) for _, message in history.messages]
    score = scorer(goal, [*_texts_of(facts)])
    near = _nearest(history.messages, words, scorer(goal, words))
    head = f"{BEHIND}, in session {clean(session.id)} of {session.agent}. What follows was gathered from there for this goal."
    path = clean(shlex.quote(os.path.abspath(session.path)))  # read in another session, from any directory
    tail = f"Any of them in full: foldline recall ID --session {path}"
    room = max(tokens - estimate(goal) - estimate(head) - estimate(tail) - 40, 0)
    pointers = []
    for _, place in near[:6]:
        id, message = history.messages[place]
        pointers.append(Pointer(clean(id), message.speaker, cut(" ".join(words[place][:600].split()), 120)))
    sections = (
        ("Constraints", _rules(facts, score), 0.35),
        ("Files to look at", _files(facts, score, [(points, words[place]) for points, place in near]), 0.25),
        ("Decisions", _decisions(facts, score), 0.25),
        ("Open work", _open(facts, score), 0.15),
        ("In the old session", [f"{p.id} ({p.role}): {p.text}" for p in pointers], 0.15),
    )
    blocks, shown = _fitted(sections, room)
    if "In the old session" in shown:
        blocks.append(tail)
    text = "\n\n".join([goal, head, *([found] if found else []), *blocks])
    return HandoffDraft(
        goal,
        text,
        estimate(text),
        shown.get("Files to look at", ()),
        shown.get("Constraints", ()),
        tuple(pointers[: len(shown.get("In the old session", ()))]),
    )


def hand_off(
    session: SessionFile, text: str, format: str = PI, path: str | None = None, *, cwd: str = ""
) -> NewSession:
    """Opens a new session with a draft as the user left it: the goal in the user's words, the rest apart from them."""
    goal, mark, rest = text.strip().partition(f"\n{BEHIND}")
    goal, rest = goal.strip(), (mark + rest).strip()
    parts = (
        (Text(f"{goal}\n\n"), Text(rest)) if mark and goal else (Text(text.strip()),)
    )  # pi shows them without a break
    parent = session.path if session.agent == PI else ""
    return write_new([Message("user", parts)], format, path, cwd=cwd, parent=parent)


def scorer(goal: str, texts: Sequence[str]) -> Score:
    """How much one of the texts bears on a goal: BM25, the words weighed by how rare they are in all of them."""
    common = common_words(goal)
    told = [word for word in _WORD.findall(_JOINED.sub(" ", goal)) if word.lower() not in common]
    words = dict.fromkeys(_WORD.findall(indexed(_plain(" ".join(told)))))
    found = dict(zip(texts, weighed(map(_plain, texts), words)))
    return lambda text: found.get(text, 0.0)


def _plain(text: str) -> str:
    """How a text begins, in small letters and in the singular, with its names parted into words."""
    return _PLURAL.sub("", _JOINED.sub(" ", text[:_READ]).lower())


def _texts_of(facts: Facts) -> Iterator[str]:
    """The texts by which facts are held against a goal."""
    for each in (facts.rules, facts.pieces, facts.todos, facts.faults):
        yield from (fact.text for fact in each)
    yield from (file.path for file in facts.files)


def _words_of(message: Message) -> str:
    """What a message says, in little: its words, its calls, and how its results begin."""
    said = []
    for part in message.parts:
        match part:
            case ToolCall(_, name, arguments):
                said.append(f"{name} {arguments[:1_000]}")
            case ToolResult():
                said.append(text_of(part)[:1_000])
            case Text(text):
                said.append(text)
            case _:
                said.append(getattr(part, "text", "") if part is message.summary else "")
    return clean("\n".join(said))


def _nearest(messages: Sequence[tuple[str, Message]], words: Sequence[str], score: Score) -> list[tuple[float, int]]:
    """The messages that bear on the goal most, with their points; what was said counts more than what a tool put out."""
    half = [0.5 if message.speaker == "tool" else 1.0 for _, message in messages]
    ranked = sorted(((score(text) * half[place], place) for place, text in enumerate(words)), reverse=True)
    near: dict[str, tuple[float, int]] = {}
    for points, place in ranked[:64]:
        if points > 0:
            near.setdefault(words[place][:200], (points, place))
    return list(near.values())[:16]


def _rules(facts: Facts, score: Score) -> list[str]:
    """The rules that stand, word for word: the user's before the project's, what bears on the goal first."""
    standing = [rule for rule in facts.rules if rule.lifetime == "standing"]
    standing.sort(key=lambda rule: (rule.by != "project", score(rule.text) > 0, rule.at), reverse=True)
    return [rule.text for rule in standing]


def _files(facts: Facts, score: Score, near: Sequence[tuple[float, str]]) -> list[str]:
    """The files that the goal or the messages nearest to it name; where it names none, those changed last."""

    def bears(file: File) -> float:
        name = file.path.rpartition("/")[2]
        told = sum(points for points, text in near if _names(text, file.path) or ("." in name[1:] and name in text))
        return 3 * score(file.path) + told * (1.5 if file.changed else 1.0)

    here = [f for f in facts.files if f.state not in ("deleted", "renamed") and not f.path.endswith("/")]
    ranked = sorted(((bears(f), f.seen, f) for f in here), key=lambda r: r[:2], reverse=True)
    chosen = [f for points, _, f in ranked if points > 0][:20]
    changed = sorted((f for f in here if f.changed), key=lambda f: -f.seen)
    return [trail(f) for f in chosen or changed[:10]]


def _names(text: str, path: str) -> bool:
    """Whether a text names a file, and not only what lies below it."""
    return path in text and f"{path}/" not in text


def _decisions(facts: Facts, score: Score) -> list[str]:
    """What was reported that bears on the goal; where nothing does, what was reported last."""
    reports = [p for p in facts.pieces if p.kind in ("report", "summary")]
    scored = sorted(((score(p.text), p.at, p.text) for p in reports), reverse=True)
    texts = [text for points, _, text in scored if points > 0] or [p.text for p in reports[::-1][:4]]
    return [cut(text, 300) for text in dict.fromkeys(texts[:16])]


def _open(facts: Facts, score: Score) -> list[str]:
    """Steps of the plan that are not done, and errors that still stand, what bears on the goal first."""
    todos = [t.text for t in facts.todos if t.status in ("pending", "in_progress")]
    steps = [f"[ ] {text}" for text in sorted(todos, key=score, reverse=True)]
    errors = [f"error: {cut(f.text, 200)}" for f in facts.faults[::-1] if not f.resolved and score(f.text) > 0]
    return steps + errors[:4]


def _fitted(
    sections: Iterable[tuple[str, list[str], float]], room: int
) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    """The sections as text within some tokens, each within its share and what the ones before left over."""
    blocks: list[str] = []
    shown: dict[str, tuple[str, ...]] = {}
    spare = 0.0
    for title, lines, share in sections:
        left = room * share / 1.15 + spare
        kept: list[str] = []
        for line in lines:
            cost = estimate(f"- {line}") + 1 + (0 if kept else estimate(title) + 4)
            if cost <= left:
                left -= cost
                kept.append(line)
        spare = left
        if kept:
            shown[title] = tuple(kept)
            omitted = f"\n({len(lines) - len(kept)} more in the old session)" if len(kept) < len(lines) else ""
            blocks.append(f"## {title}\n" + "\n".join(f"- {line}" for line in kept) + omitted)
    return blocks, shown
