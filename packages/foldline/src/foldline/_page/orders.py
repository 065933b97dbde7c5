"""Which orders of the project's instructions, or of a command, are in force and of use for what is pending."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from foldline._facts.again import mostly_of, shared_words
from foldline._facts.cues import asks, only_looks_on, refuses
from foldline._facts.folders import is_absolute
from foldline._facts.pasted import without_document
from foldline._facts.patterns import rare
from foldline._facts.rules import case_before, case_of, holds_in_a_case, is_long, lifetime, shouts, word_of
from foldline._facts.splitting import split
from foldline._facts.standing import (
    answered,
    base_of,
    called_by,
    carried_out,
    changed_files,
    changed_since,
    comes_last,
    finished,
    inquired,
    inquires_first,
    open_steps,
)
from foldline._facts.steps import joined, plain, reached, title_of
from foldline._facts.told import OWNER
from foldline._facts.types import Facts, Piece
from foldline._messages import replace
from foldline._page.task import ADDRESS, rules, telling
from foldline._patterns import pattern

INSTRUCTED = 6
"""The most sentences that are told of a project's own instructions, and the most of those that bind commits and merges."""

BESIDE = 2
"""How many others are told at least beside those that bind commits and merges."""

FITTING = 3
"""How many of them are told before those that have only one word in common with what is pending are left out."""

OF_SKILL = 4
"""How much is told of what a command or a skill orders that has no steps, and that the user did not give with the task."""

TEMPLATE = 12
"""The most of what the words around a task order: nobody else says how it is to be handed in."""

OF_ALL_WORK = 2
"""The most of what the user orders for all projects that is told whatever is pending."""

ELSEWHERE = 2
"""Words that an order of a section for other work, which says that it holds for good, shares with what is pending where it is meant as well."""

TOGETHER = 4
"""Changed files up to which the words of several paths say together what the work is about."""

_OF_COMMITS = pattern(r"\b(?:commits?|merge|push|PRs?|(?:pull|merge) requests?|co-authored-by)\b", re.IGNORECASE)
"""What work on files comes to."""

_ON_COMMITS = pattern(
    r"(?:^|\b(?:not|never|don.t|avoid|always|before|prefer|use) )(?:\w+[ -])?(?:commit|push|stash|stage|merge|amend|rebase|squash)(?:t?ing|e?s|d)?\b(?!-| events?\b)"
    r"|^(?:all|every|each|no) (?:commit|merge|PR|pull request)s?\b|`git (?:add|commit|fetch|merge|push|rebase|stash)\b|\bgit commits\b"
    r"|\b(?:creat|open)\w* (?:an? |the )?(?:\w+ )?(?:PR|(?:pull|merge) request)s?\b",
    re.IGNORECASE,
)
"""How an order says what is to be done of that, or never."""

_OF_CHANGES = pattern(r"\b(?:cod(?:e|ing)|chang\w+|modif\w+|edit\w*|commit\w*|implement\w*)\b", re.IGNORECASE)
"""How a case speaks of whatever work on files."""

_UNSAID = rare(rf"{ADDRESS.pattern}|(?<!\S)/[\w:-]+(?!\S)")
"""What says nothing of the work: addresses, and the name of a command."""

_FILE, _FOLDER = pattern(r"`(?:\./)?([\w./-]*\w\.\w+)`"), pattern(r"`(?:\./)?([\w./-]+)/`")
"""A file and a folder that are named as code."""

_BARE, _CODE = pattern(r"`([\w-]+)`"), pattern(r"`[^`\n]*`")
"""A word that is named as code, and all code."""

_NAMED = pattern(r"[^\W_]{2,}")
"""A word of a label."""

_WORD = pattern(r"[^\W\d_]{4,}")
"""A word of a title that may say what it is about."""


class _Pending(NamedTuple):
    """What is pending, without what its words forbid; the files that were changed; whether any are to be changed, as far as that
    is known; the changed files as they are called within the project."""

    text: str
    forbidden: list[str]
    files: list[str]
    changes: bool
    within: list[str]


class _Order(NamedTuple):
    """An order with what it shares with what is pending: its words, those of the title over it, those of the case that it begins
    with (-1 where it begins with none); whether it names a changed file, and whether it binds the commits that are to come."""

    piece: Piece
    place: int
    shared: int
    headed: int
    case: int
    named: bool
    lands: bool

    @property
    def sure(self) -> bool:
        """Whether more than a word says that it is meant."""
        return self.shared >= ELSEWHERE or self.named or self.lands or comes_last(self.piece)

    @property
    def urgency(self) -> tuple[bool | int, ...]:
        """What is set apart in capitals first and what comes once all is done, then what says most of what is pending."""
        rank = (
            not self.piece.text.isupper(),
            not comes_last(self.piece),
            not self.lands,
            not self.named,
            lifetime(self.piece.text) != "standing",
        )
        return (*rank, -self.shared, not shouts(self.piece.text), self.place)


def instructed(facts: Facts, words: Sequence[str], after: Sequence[str] = ()) -> list[Piece]:
    """What the project's own instructions and the newest command order of what is pending: the task's `words` and the open
    steps of the plan, and of what comes of changed files; of a command that came with the task also what it orders first.

    A command that was carried out orders nothing any more.
    """
    pieces = [p for p in facts.pieces if p.kind == "rule"]
    newest = max((p.at for p in pieces if p.by == "command"), default=-1)
    if _is_over(facts, newest, after):
        pieces = [p for p in pieces if p.by != "command"]
    if not pieces:
        return []
    pending = _pending(facts, words, after)
    orders = [*_orders([p for p in pieces if not p.item], pending)]
    project = _by_case(_whole_words(orders, [o for o in orders if o.piece.by == "harness" and _fits(o, pending)]))
    project.sort(key=lambda o: o.urgency)
    project = [o for place, o in enumerate(project) if o.sure or place < FITTING]
    landing = [o for o in project if o.lands][:INSTRUCTED]
    project = [*landing, *[o for o in project if not o.lands][: max(INSTRUCTED - len(landing), BESIDE)]]
    project += [o for o in orders if _of_all_work(o, pending) and o not in project][:OF_ALL_WORK]
    began = newest >= max((r.newest for r in facts.requests if telling(r.text)), default=-1)
    began |= called_by(facts.latest, newest) in after
    under_way = bool(after and facts.now is None) or not finished(facts.latest)
    steps = _to_come(facts, [p for p in pieces if under_way and p.item and p.at == newest], began=began)[:TEMPLATE]
    past = inquired(facts.latest, newest)
    own = [o for o in orders if o.piece.by == "command" and o.piece.at == newest]
    own = [o for o in own if not (past and inquires_first(o.piece))]
    most = TEMPLATE - len(steps) if steps or any(r.at == newest for r in facts.requests) else OF_SKILL
    told = sorted((*project, *_by_case(_of_command(own, steps, began=began)[:most])), key=lambda o: o.place)
    return [*steps, *(o.piece for o in told)]


def _is_over(facts: Facts, at: int, after: Sequence[str]) -> bool:
    """Whether a command whose words came then was carried out before the user spoke of something else, or stands behind the page."""
    called = called_by(facts, at)
    other = any(telling(text) and text != called for text in after)
    again = any(p.kind == "rule" and p.by == "command" and p.at >= facts.end for p in facts.latest.pieces)
    return again or carried_out(facts.latest, at) or (answered(facts) and other)


def _of_command(orders: Sequence[_Order], steps: Sequence[Piece], *, began: bool) -> list[_Order]:
    """What a command orders beside its steps: what speaks of those to come first, or of what is pending; of one without steps that
    `began` what is pending all of it."""
    told = " ".join(step.text for step in steps)
    rest = [o for o in orders if not _in(told, plain(o.piece.text))]
    speak = shared_words(" ".join(title_of(step.text) for step in steps), [o.piece.text for o in rest])
    coming = {o.place for o, n in zip(rest, speak) if n}
    rest = [o for o in rest if o.place in coming or (o.sure if steps else began or comes_last(o.piece) or _meant(o))]
    return sorted(rest, key=lambda o: (o.place not in coming, *o.urgency))


def _whole_words(orders: Sequence[_Order], chosen: Sequence[_Order]) -> Iterator[_Order]:
    """The orders that were chosen, with all that is ordered, or meant, by a word of which some is."""
    words = {*filter(None, (word_of(o.piece.text) for o in chosen))}
    return (o for o in orders if o in chosen or (words and word_of(o.piece.text) in words))


def _by_case(orders: Iterable[_Order]) -> list[_Order]:
    """Orders with those of one case as one: what they say stands behind it in their order, and they are as urgent as the first of them."""
    cases: dict[str, list[_Order]] = {}
    for order in orders:
        cases.setdefault(case_of(order.piece.text) or str(order.place), []).append(order)
    return [_together(case, several) if len(several) > 1 else several[0] for case, several in cases.items()]


def _together(case: str, orders: Sequence[_Order]) -> _Order:
    """Orders of one case as one."""
    below = (o.piece.text.removeprefix(case).lstrip() for o in sorted(orders, key=lambda o: o.place))
    first = min(orders, key=lambda o: o.urgency)
    return first._replace(piece=replace(first.piece, text=f"{case} {joined([*dict.fromkeys(below)])}"))


def _in(told: str, order: str) -> bool:
    """Whether steps say an order, with what stands over it or without."""
    below = order.partition(": ")[2]
    return order in told or (bool(below) and below in told)


def _to_come(facts: Facts, steps: Sequence[Piece], *, began: bool) -> list[Piece]:
    """The steps of a command from the last one that the agent spoke of; of one that it spoke of none all, if it `began` what is pending."""
    said = "\n".join(p.text for p in facts.latest.pieces if steps and p.by == "agent" and p.at > steps[0].at)
    place = reached([step.text for step in steps], said)
    return [*steps[place or 0 :]] if began or place is not None else []


def _pending(facts: Facts, words: Sequence[str], after: Sequence[str]) -> _Pending:
    said = [*map(without_document, (*words, *after))]
    sentences = [each for text in said for line in text.splitlines() for each in split(line)]
    limits = [rule.text for rule in rules(facts.latest, after) if rule.by == "user"]
    limits += [each for each in sentences if lifetime(each) != "none"]
    forbidden = [each for each in limits if refuses(each)]
    closed = answered(facts.latest) or bool(said and asks(said[-1]))
    idle = any(map(only_looks_on, (*sentences, *limits))) or (closed and not changed_since(facts.latest))
    kept = [each for each in sentences if each not in forbidden]
    text = _UNSAID.sub(" ", " ".join((*kept, *(todo.text for todo in open_steps(facts)))))
    paths = [file.path for file in changed_files(facts.latest)]
    root = base_of(facts.latest)
    within = [path.removeprefix(root) for path in paths if not is_absolute(path.removeprefix(root))]
    return _Pending(text, forbidden, [f"/{path}/" for path in paths], not idle, within)


def _orders(pieces: Sequence[Piece], pending: _Pending) -> Iterator[_Order]:
    """Orders with what they share with what is pending."""
    cases = [p.under if p.under.endswith(":") else case_before(p.text) for p in pieces]
    shared, headed, case = (
        shared_words(pending.text, several)
        for several in ([ADDRESS.sub(" ", p.text) for p in pieces], [p.under for p in pieces], cases)
    )
    kinds = _of_their_kind(pieces, pending)
    landing = bool(pending.files) or _OF_COMMITS.search(pending.text) is not None
    for i, piece in enumerate(pieces):
        known = case[i] if piece.under.endswith(":") or holds_in_a_case(piece.text) else _of_label(cases[i], case[i])
        held = _held(cases[i], known, pending) if cases[i] else -1
        named = _names_one_of(pending.files, piece) or (held != 0 and i in kinds)
        lands = landing and (named or held != 0) and _binds_commits(piece.text)
        yield _Order(piece, i, shared[i], headed[i], held, named, lands)


def _binds_commits(order: str) -> bool:
    """Whether an order says how or when something is committed, merged or proposed; one that only names that does where it shouts."""
    below = case_of(order)
    return _ON_COMMITS.search(order.removeprefix(below).lstrip()) is not None or (
        _OF_COMMITS.search(order) is not None and shouts(order)
    )


def _of_their_kind(pieces: Sequence[Piece], pending: _Pending) -> set[int]:
    """The orders that hold for good of what a folder with changed files is called by: as code, or in words with more of a path."""
    texts = [_CODE.sub(" ", p.text) for p in pieces]
    folders = {name for path in pending.within for name in path.split("/")[:-1]}
    called, paths = (shared_words(" ".join(several), texts) for several in (folders, pending.within))
    named = {i for i, p in enumerate(pieces) if _names_most_of(p.text, folders)}
    spoken = (i for i, (c, n) in enumerate(zip(called, paths)) if c > 0 and n >= ELSEWHERE and i not in named)
    return named | {i for i in spoken if lifetime(pieces[i].text) == "standing" and _speaks_of_one(texts[i], pending)}


def _names_most_of(order: str, folders: set[str]) -> bool:
    """Whether of the words that an order names as code most are folders: it speaks of these, and not of a list of kinds."""
    names = {*_BARE.findall(order)}
    return bool(names) and 2 * len(names & folders) >= len(names)


def _speaks_of_one(order: str, pending: _Pending) -> bool:
    """Whether an order shares with one path what it shares with all of them, where these are many."""
    paths = pending.within
    return len(paths) <= TOGETHER or any(shared_words(path, [order])[0] >= ELSEWHERE for path in paths)


def _of_label(label: str, shared: int) -> int:
    """How many words a label has in common with what is pending; none where that is the smaller part of what it names."""
    return shared if 2 * shared >= len(_NAMED.findall(label)) else 0


def _held(case: str, shared: int, pending: _Pending) -> int:
    """How many words a case has in common with what is pending; of one that names a folder whether work is done there, of one that
    is that of all work on files whether any were changed."""
    if folders := _FOLDER.findall(case):
        places = (*pending.files, *(f"/{word.strip('`')}" for word in pending.text.split() if "/" in word))
        return int(any(f"/{name}/" in place for name in folders for place in places))
    return shared or int(bool(pending.files) and _OF_CHANGES.search(case) is not None)


def _fits(order: _Order, pending: _Pending) -> bool:
    """Whether an order of the project is of use for what is pending: not where that forbids it, or changes nothing and is no case of
    its own; else where it names a changed file, its case is there, or it speaks of what is pending."""
    if any(mostly_of(each, order.piece.text) for each in pending.forbidden):
        return False
    if not pending.changes:
        return order.case >= ELSEWHERE and not _OF_CHANGES.search(order.piece.text)
    if order.named or order.lands:
        return True
    if order.case == 0:
        return False
    if comes_last(order.piece):
        return bool(pending.files) or order.shared > 0
    return _meant(order) and (order.case > 0 or _in_section(order) or not is_long(pending.text))


def _of_all_work(order: _Order, pending: _Pending) -> bool:
    """Whether the user orders it of all projects, and of what work on files comes to."""
    return order.piece.who == OWNER and pending.changes and _OF_COMMITS.search(order.piece.text) is not None


def _meant(order: _Order) -> bool:
    """Whether an order speaks of what is pending: with a word where its section or its case does as well, else with more."""
    if order.named or order.lands:
        return True
    return order.shared > 0 if _in_section(order) else _elsewhere(order)


def _in_section(order: _Order) -> bool:
    """Whether the title over an order speaks of what is pending, or does not say of what kind of work it is."""
    return order.headed >= _limits(order.piece.under)


def _limits(title: str) -> int:
    """How many words what is pending has in common with the title over an order, where that says of what kind of work it speaks:
    one of two words, two of more, one of a case ("If a test fails:"); 0 where it does not."""
    return max(0, min(len(_WORD.findall(title)) - 1, 1 if title.endswith(":") else 2))


def _elsewhere(order: _Order) -> bool:
    """Whether an order of a section for other work is meant as well: it says that it holds for good, and speaks of what is pending."""
    piece = order.piece
    return not piece.under.endswith(":") and order.shared >= ELSEWHERE and lifetime(piece.text) == "standing"


def _names_one_of(changed: Sequence[str], order: Piece) -> bool:
    """Whether an order names, as code, a changed file, or the case in which it holds a folder of one."""
    names = [*_FILE.findall(order.text), *(_FOLDER.findall(order.under) if order.under.endswith(":") else ())]
    return any(f"/{name}/" in path for name in names for path in changed)
