"""What later work made superfluous of an earlier summary: what was open then, where git stood, what a report says anew."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from foldline._facts.again import said_again
from foldline._facts.cues import changes_in, tells_of_its_moment
from foldline._facts.literals import literals
from foldline._facts.rules import rules_in
from foldline._facts.types import Facts, Piece
from foldline._messages import replace
from foldline._page.quoting import bare
from foldline._page.task import telling
from foldline._patterns import pattern

THEN = " (then)"
"""Behind the heading over goals of an earlier summary, where the user asked for more since."""

_FILE = pattern(r"\W{0,4}(?:[\w@.+-]*/)*([\w@.+-]*\.[A-Za-z]\w{0,9})(?![\w/])")
"""How a line begins that tells of a file."""

_NEXT_STEP = pattern(
    r"\bnext steps?\b|下一步|다음 단계|次のステップ|nächste[rn]? schritte?|próximos? pasos?|langkah berikutnya",
    re.IGNORECASE,
)
_TITLE = 40
"""How the title over what was to be done at once is called, and the characters in which it begins a line: a commit has that behind
it, and what was pending beside it may be so still."""

Line = tuple[int, Piece]
"""A line of a summary with its place among the pieces."""


def over(facts: Facts) -> Iterator[int]:
    """The places of what a summary called open before it was done or more was asked for, and of what was at hand before a commit."""
    lines = [*_lines(facts)]
    worked = max((p.at for p in facts.latest.pieces if p.kind == "change"), default=-1)
    went_on = _went_on(facts) if lines else -1
    steps = {(piece.at, piece.part) for _, piece in lines if _NEXT_STEP.search(piece.text[:_TITLE])}
    landed = max((each.settled for each in facts.latest.repositories if each.committed), default=-1)
    for i, piece in lines:
        at_hand = piece.section == "state" or (piece.at, piece.part) in steps
        overtaken = piece.open and (piece.at < went_on or _changed_since(piece, facts))
        overtaken |= at_hand and piece.at < landed
        heads = any(below.depth > piece.depth for below in facts.pieces[i + 1 : i + 2])
        if overtaken or (piece.at < worked and not heads and tells_of_its_moment(piece.text)):
            yield i


def outdated(facts: Facts) -> set[int]:
    """The places of what else who reads does not need of it: what a later report says anew, and where more was asked for since,
    the user's messages of then, goals that were reached, files that were not touched again, where git stood."""
    lines = [*_lines(facts)]
    asked = _asked(facts.latest)
    since = [(i, piece) for i, piece in lines if piece.at < asked]
    places = {*_reported_anew(facts, lines), *_reached(facts, since), *_left_alone(facts, since)}
    places |= {i for i, piece in since if piece.section == "messages"}
    stands = any(repository.commit for repository in facts.latest.repositories)
    return places | {i for i, piece in lines if stands and piece.section == "git"}


def dated(facts: Facts) -> Iterator[Piece]:
    """The pieces, with goals of an earlier summary told as those of then where the user asked for more since."""
    asked = _asked(facts.latest)
    for piece in facts.pieces:
        if piece.section == "goal" and piece.under and piece.at < asked:
            title, words = f"{piece.under}{THEN}", piece.text.removeprefix(f"{piece.under}: ")
            yield replace(piece, under=title, text=piece.text if words == piece.text else f"{title}: {words}")
        else:
            yield piece


def _lines(facts: Facts) -> Iterator[Line]:
    return ((i, piece) for i, piece in enumerate(facts.pieces) if piece.kind == "summary")


def _asked(facts: Facts) -> int:
    """When the user last said what is wanted."""
    return max((request.newest for request in facts.requests if telling(request.text)), default=-1)


def _went_on(facts: Facts) -> int:
    """When the work of before was over: a newer plan or request took its place, or a report closed more work."""
    closed = max((p.at for p in facts.pieces if p.kind == "report"), default=-1)
    worked = (p.at for p in facts.pieces if p.at < closed and p.kind in ("call", "change", "failure"))
    return max((_asked(facts), *worked, -1 if facts.plan_at is None else facts.plan_at))


def _changed_since(told: Piece, facts: Facts) -> bool:
    """Whether something that a line names was changed since."""
    named = {word.rpartition("/")[2] for word in literals(told.text)}
    changes = (p.text for p in facts.pieces if p.kind == "change" and p.at > told.at)
    return any(name in text for text in changes for name in named)


def _reported_anew(facts: Facts, lines: Iterable[Line]) -> Iterator[int]:
    """The places of what a later report names as well and says most of again: how that stands now."""
    told = [(i, p, names) for i, p, names in ((i, p, literals(p.text)) for i, p in lines) if len(names) > 1]
    wanted = {name for _, _, names in told for name in names}
    naming: dict[str, list[tuple[int, str]]] = {}
    for at, line in _reported(facts) if wanted else ():
        for name in wanted.intersection(literals(line)):
            naming.setdefault(name, []).append((at, line))
    for i, piece, (first, *others) in told:
        later = (line for at, line in naming.get(first, ()) if at > piece.at and any(name in line for name in others))
        said = piece.text.removeprefix(f"{piece.under}: ")
        if any(said_again(said, line) for line in later):
            yield i


def _reported(facts: Facts) -> list[tuple[int, str]]:
    """The lines of the agent's reports, with where they stand."""
    lines: list[tuple[int, str]] = []
    for piece in facts.pieces:
        if piece.kind == "report":
            before = lines.pop()[1] if lines and not piece.begins else ""
            lines.append((piece.at, f"{before} {piece.text}"))
    return lines


def _reached(facts: Facts, lines: Iterable[Line]) -> Iterator[int]:
    """The places of goals that a summary itself tells the outcome of, or a later report; what binds is none."""
    lines = [*lines]
    goals = [(i, p) for i, p in lines if p.section == "goal" and p.item and not rules_in(bare(p))]
    told = [(p.at, bare(p)) for _, p in lines if p.section in ("done", "decision")]
    told += _reported(facts) if goals else []
    for i, goal in goals:
        if any(at >= goal.at and said_again(bare(goal), line) for at, line in told):
            yield i


def _left_alone(facts: Facts, lines: Iterable[Line]) -> Iterator[int]:
    """The places of what is told below the names of files that were changed then and that nothing names since; what was only found
    in one still holds."""
    listed = [(i, piece) for i, piece in lines if piece.section == "files"]
    if not listed:
        return
    since = max(piece.at for _, piece in listed)
    later = [p.text for p in facts.latest.pieces if p.at > since]
    later += [file.path for file in facts.latest.files if file.seen > since]
    text = "\n".join(later)
    names = _heading_files(piece for _, piece in listed)
    below = [(i, piece, name) for (i, piece), name in zip(listed, names) if name and name not in text]
    done = {name for _, piece, name in below if changes_in(piece.text)}
    yield from (i for i, _, name in below if name in done)


def _heading_files(pieces: Iterable[Piece]) -> Iterator[str]:
    """The name of the file that heads each piece; empty where none does."""
    name = ""
    for piece in pieces:
        if piece.begins and not piece.depth:
            heads = (piece.under, bare(piece)) if piece.item else (piece.under,)
            name = next((file[1] for file in map(_FILE.match, heads) if file), "")
        yield name
