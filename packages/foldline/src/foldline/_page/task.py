"""What the user wants now, and what the work is bound by."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import dropwhile, islice
from typing import NamedTuple

from foldline._clipping import cut
from foldline._facts.again import shared_words
from foldline._facts.asked_for import not_seen
from foldline._facts.chitchat import accepts, agrees
from foldline._facts.cues import asks, is_courtesy, labels_open, resumes, waits
from foldline._facts.patterns import rare
from foldline._facts.rules import is_long, wide_letters
from foldline._facts.splitting import split
from foldline._facts.standing import (
    answered,
    clarifies,
    interjects,
    open_steps,
)
from foldline._facts.told import ANSWERED_BELOW, BELOW, NOT_SEEN, PARTLY_BELOW, PASTED, SEVERAL_BELOW
from foldline._facts.types import LEFT, Facts, Piece, Rule, UserRequest
from foldline._page.quoting import ASKED, Lists
from foldline._patterns import pattern

TELLING = 40
"""Characters of a request that says by itself what is wanted; a shorter one leans on what was said before."""

SAYING = 24
"""Characters of a request that says something, if not all: nothing older says it better."""

LEANING = 16
"""Characters up to which a request names hardly what it is about."""

CHAIN = 3
"""The most messages that are told together as what is wanted now."""

_SHELL = pattern(r"(?:mkdir|cd|cp|mv|rm|touch|chmod)(?: (?:-\S+|\S*[/\\]\S*))+")
"""A message that is a line of a shell, with flags and paths and no word."""

_OTHER = 80
"""The characters of a request that another line speaks of."""

LATELY_ASKED = 6
"""The newest requests among which one is looked for that says more than the newest."""

DONE_BEFORE = 200
"""Characters that are told of a report of what was done before the newest words, where these do not take it up."""

_ASKING = 6
"""Passages of a report from its end among which its question is looked for."""

_PLAN = rare(r"\b(?:plan|plano|rencana)\b|план|计划|方案|計画|プラン|계획", re.IGNORECASE)
"""How short words name what was planned."""

PLAN_TAGS = ("<proposed_plan>", "</proposed_plan>")
"""What stands around a plan that Codex proposes."""

ADDRESS = rare(r"https?://\S+")

_WIDE = 3
"""How many characters of an alphabet one of Chinese, Japanese or Korean stands for."""


class Task(NamedTuple):
    """What the user wants now: the newest request that says it and what was said since; what the user had asked before, which
    is over, and what the agent had said last."""

    words: list[str]
    said: str = ""
    proposes: bool = False
    """Whether the newest words take up what was said; else it is only what they came behind."""
    before: tuple[str, ...] = ()
    """The newest first."""
    taken_up: bool = False
    """Whether the last of the words take up what the agent proposed."""

    def asked(self) -> Task:
        """What was asked last, where what is wanted stands behind the messages."""
        return self if self.words else self._replace(words=[*self.before], before=())


def task(facts: Facts, after: Sequence[str] = ()) -> Task:
    """What the user wants now, oldest first; nothing where what the newest words lean on stands behind the folded messages, and they
    answer no question about what would be told."""
    wants = _wanted(facts, after)
    if not after or not _leans_on_what_is_behind(facts, after[-1]):
        return wants
    says = any(_length(text) >= SAYING for text in wants.asked().words)
    return wants if says and _is_an_answer(facts) else Task([])


def _wanted(facts: Facts, after: Sequence[str]) -> Task:
    """What the user wants now, by what was said of it.

    `after` is what the user said behind the folded messages; where that says by itself what is wanted, nothing else is to be
    told. A short question says it where the newest words agree to what the agent answered. Where nothing does, the longest of
    what was said lately stands before the newest words. Before all of it stands what the plan was made for of which steps are
    open.
    """
    planned = _planned(facts)
    since = [text for text in after if answered(facts) or not text.startswith(PASTED)]
    if any(telling(text) for text in since):
        return Task([*dict.fromkeys(request.text for request in (*planned, *_interrupted(facts)))])
    if not since and facts.requests and (plan := _named_plan(facts, facts.requests[-1])):
        return Task([facts.requests[-1].text], plan, proposes=True, taken_up=True)
    chain: list[UserRequest] = []
    for request in reversed(facts.requests):
        over = asks(request.text) and answered(facts, request.newest)
        behind = len(chain) + len(since)
        says = telling(request.text) and not (request.amid or clarifies(facts, request) or (over and behind > 1))
        says = says and not _goes_on(facts, request)
        taken_up = over and behind == 1 and accepts((since or [chain[0].text])[0])
        if says or taken_up or (len(chain) < CHAIN - 1 and not over):
            chain.insert(0, request)
        if says or taken_up:
            break
    else:
        known = {request.at for request in chain}
        says = any(len(request.text) >= SAYING and not request.amid for request in chain)
        lately = () if says else (r for r in facts.requests[-LATELY_ASKED:] if r.at not in known and not r.amid)
        chain = [*sorted(lately, key=lambda request: len(request.text))[-1:], *chain]
    if not chain:
        return Task([])
    planned = [r for r in planned if r.newest < chain[0].at]
    words = [request.text for request in (*planned, *chain)]
    if not ((len(chain) > 1 or since) and not (chain[-1].amid or (telling(words[-1]) and len(chain) > 1))):
        return Task(words)
    newest = (since or words)[-1]
    before = facts.end if since else chain[-1].newest
    leaning = _leaning(facts, words, newest, chain[-1].newest if len(chain) > 1 and not since else facts.end)
    asked = chain if since else chain[:-1]
    if leaning.proposes or resumes(newest):
        done = [] if says_yes(newest) or _chooses(facts, before) else [*_left_behind(facts, asked, before)]
        leaning = leaning._replace(taken_up=leaning.proposes and not since)
    else:
        done = _done(facts, asked, before)
    pending = [request.text for request in (*planned, *chain) if request not in done]
    return leaning._replace(words=pending, before=(*_saying(done),))


def _named_plan(facts: Facts, request: UserRequest) -> str:
    """The newest plan that was proposed as one, where a short request names it that may come behind talk of something else."""
    if telling(request.text) or not _PLAN.search(request.text):
        return ""
    reports = [p for p in facts.pieces if p.kind == "report" and p.at < request.newest]
    proposed = max((p.at for p in reports if p.text == PLAN_TAGS[0]), default=-1)
    said = (p for p in reports if p.at == proposed)
    plan = dropwhile(lambda p: p.text != PLAN_TAGS[0], said)
    return "\n".join(_lines([*plan]))


def _goes_on(facts: Facts, request: UserRequest) -> bool:
    """Whether a request says among other things to go on with what the report before it left open."""
    reports = [p for p in facts.pieces if p.kind == "report" and p.at < request.newest]
    left = any(p.open for p in reports if p.at == reports[-1].at)
    return left and any(len(each) <= LEANING and resumes(each) for each in split(request.text))


def _done(facts: Facts, requests: Sequence[UserRequest], before: int) -> list[UserRequest]:
    """The requests behind which the agent closed a turn, before the newest words came."""
    closed = max((p.at for p in facts.pieces if p.kind == "report" and p.at < before), default=-1)
    return [request for request in requests if request.newest < closed]


def _left_behind(facts: Facts, requests: Sequence[UserRequest], before: int) -> Iterator[UserRequest]:
    """Those of them that are over though the newest words take up a report: what the report behind each leaves open was no question
    before any work, and names nothing of it."""
    done = _done(facts, requests, before)
    reports = [p for p in facts.pieces if p.kind == "report"]
    for request, end in zip(done, (*(r.newest for r in done[1:]), before)):
        closed = max((p.at for p in reports if request.newest < p.at < end), default=end)
        left = [p.text for p in reports if p.at == closed and (p.open or asks(p.text))]
        worked = any(p.by == "tool" and request.newest < p.at < closed for p in facts.pieces)
        if (worked or not any(map(asks, left))) and not any(shared_words(request.text, left)):
            yield request


def _saying(done: Sequence[UserRequest]) -> Iterator[str]:
    """Requests that are over, the newest first, up to one that says something by itself, without what only said yes."""
    for request in reversed(done):
        if _length(request.text) >= SAYING:
            yield request.text
            return
        if not says_yes(request.text):
            yield request.text


def _chooses(facts: Facts, at: int) -> bool:
    """Whether the user chose there of a menu, which says how what was asked before is to be done."""
    return any(p.kind == "answer" and p.by == "agent" and p.at == at for p in facts.pieces)


def _leans_on_what_is_behind(facts: Facts, newest: str) -> bool:
    """Whether the agent closed a turn behind the folded messages before the user said the newest words there, and these are no
    yes to more of the same: what they came behind stands there as well, and what is folded was done by then."""
    now = facts.latest
    said = max((r.newest for r in now.requests), default=-1)
    closed = any(p.kind == "report" and facts.end <= p.at < said for p in now.pieces)
    return closed and not says_yes(newest)


def _is_an_answer(facts: Facts) -> bool:
    """Whether the newest words came behind a report that ends with a question, or that no work led to."""
    now = facts.latest
    said = max((r.newest for r in now.requests), default=-1)
    reports = [p.text for p in now.pieces if p.kind == "report" and p.at < said]
    worked = any(p.by == "tool" and facts.end <= p.at < said for p in now.pieces)
    return not worked or any(map(asks, reports[-1:]))


def _interrupted(facts: Facts) -> list[UserRequest]:
    """The request that the agent was at work for, or had asked about, when the user said what stands behind the folded messages:
    each of these came amid the work or said yes to more of it."""
    now = facts.latest
    behind = [request for request in now.requests if request.newest >= facts.end]
    if not behind or not all(interjects(now, request) or says_yes(request.text) for request in behind):
        return []
    asked = (r for r in reversed(facts.requests) if telling(r.text) and not r.amid)
    return [*islice(asked, 1)]


def _planned(facts: Facts) -> list[UserRequest]:
    """The request for which the plan was made of which steps are open, where it says what is wanted."""
    made = min((todo.made for todo in open_steps(facts)), default=-1)
    bare = {rule.text for rule in facts.rules}
    asked = (r for r in reversed(facts.requests) if r.at <= made and not (r.amid or r.text in bare) and telling(r.text))
    return [*islice(asked, 1)]


OLDER = "; the task here was asked before it, and is not seen to be finished"
"""What stands behind the newest request where the page tells another one as its task."""


def below(facts: Facts, after: Sequence[str], wants: Task, *, in_short: bool) -> Iterator[str]:
    """A line for the newest request where it stands behind the folded messages, with whether it is answered there, or else the
    one before it; a short one where it makes that no part of what it `wants`, and `in_short` without what others say."""
    before = _answered_before(facts) if not wants.words else None
    over = f"; the one before it{'' if wants.before or in_short else _named(before)} is answered" if before else ""
    if facts.now and answered(facts.now):
        over = f"; {_answered_below(facts.now, in_short=in_short)}"
    over += OLDER if wants.words and any(map(telling, after)) else ""
    amid = {request.text for request in facts.latest.requests if request.amid}
    asked = [text for text in after if text not in amid] or after
    newest = next((text for text in reversed(asked) if telling(text) or not accepts(text)), "")
    if says_yes(newest) and not (facts.now and answered(facts.now)):
        over = ""
    if len(waiting := _waiting(facts)) > 1:
        yield SEVERAL_BELOW + " and ".join(f"“{cut(' '.join(text.split()), ASKED)}”" for text in waiting[-2:])
    elif newest and (earlier := _before_short(facts, newest, asked)):
        both = (f"“{cut(' '.join(text.split()), ASKED)}”" for text in (earlier, newest))
        yield f"{SEVERAL_BELOW}{' and '.join(both)}{over}"
    elif newest and (wants.before or not wants.words or not says_yes(newest)):
        yield f"{BELOW}“{cut(' '.join(newest.split()), ASKED)}”{_taken_up(facts, newest)}{over}"


def _named(request: UserRequest) -> str:
    """A request that another line speaks of."""
    return f", “{cut(' '.join(request.text.split()), _OTHER)}”,"


def _before_short(facts: Facts, newest: str, asked: Sequence[str]) -> str:
    """What was asked behind the folded messages before a newest request that is answered there, where that hardly names what it is
    about, and takes up nothing that is known; empty of others."""
    place = len(asked) - 1 - [*reversed(asked)].index(newest)
    short = _length(newest) <= LEANING and not newest.startswith("/") and facts.now is not None
    chosen, said = _heard_before(facts)
    known = chosen or any(map(asks, said[-1:]))
    lacks = short and place > 0 and answered(facts.latest) and not known
    return asked[place - 1] if lacks and _length(asked[place - 1]) > LEANING else ""


def _answered_before(facts: Facts) -> UserRequest | None:
    """The request before the newest one, which stands behind the folded messages, where the agent closed a turn between them."""
    now = facts.latest
    behind = sorted((r for r in now.requests if r.newest >= facts.end and not r.amid), key=lambda r: r.newest)
    if len(behind) < 2:
        return facts.requests[-1] if facts.requests and answered(facts) else None
    closed = any(p.kind == "report" and behind[-2].newest < p.at < behind[-1].newest for p in now.pieces)
    return behind[-2] if closed else None


def _waiting(facts: Facts) -> list[str]:
    """The requests behind the folded messages that stand there one behind the other and are not answered."""
    now = facts.latest
    worked = max((piece.at for piece in now.pieces if piece.by in ("agent", "tool")), default=-1)
    return [request.text for request in now.requests if request.newest >= facts.end and request.newest > worked]


def _taken_up(facts: Facts, newest: str) -> str:
    """What short words behind the folded messages take up, which stands there as well: the option that they chose, else what the
    agent had said last before them; empty where they say by themselves what is wanted."""
    at = max((r.newest for r in facts.latest.requests), default=-1)
    if at < facts.end or newest.startswith("/") or not (says_yes(newest) or _length(newest) <= LEANING):
        return ""
    chosen, said = _heard_before(facts)
    how = ", chosen: " if chosen else ", said to "
    return f"{how}“{cut(' '.join(words[-1].split()), ASKED)}”" if (words := chosen or said) else ""


def _heard_before(facts: Facts) -> tuple[list[str], list[str]]:
    """The options that the newest request behind the folded messages chose, and what the agent had said last before it there, its
    questions if it asked some."""
    at = max((r.newest for r in facts.latest.requests), default=-1)
    behind = [p for p in facts.latest.pieces if p.by == "agent" and p.at >= facts.end]
    said = [p.text for p in behind if p.kind == "report" and p.at < at]
    chosen = [p.text for p in behind if p.kind == "answer" and p.at == at]
    return chosen, [*filter(asks, said[-_ASKING:])] or said


def _answered_below(now: Facts, *, in_short: bool) -> str:
    """How the newest request is answered: by a report, by one that ends with a question, or by one that waits for something."""
    reports = [p.text for p in now.pieces if p.kind == "report"]
    said = [each for each in reports if not is_courtesy(_question(each))] or reports
    if asks(said[-1]):
        asking = f"asks: “{cut(_question(said[-1]), ASKED)}”"
        return f"the report there {'ends with a question' if in_short else asking}"
    labelled = _leaves_something(now)
    if not labelled and any(map(waits, split(said[-1]))):
        return "the agent waits there for what still runs"
    last = max(p.at for p in now.pieces if p.kind == "report")
    left = labelled or any(p.at == last and p.tells in LEFT for p in now.pieces)
    return "the report there says what is left" if left else "it is answered there"


def _question(report: str) -> str:
    """The last sentence that asks, of the last lines of a report; all of them where a stop amid a sentence parted it."""
    asking = next((each for each in reversed(split(report)) if asks(each)), report)
    return report if asking[:1].islower() else asking


def over_below(facts: Facts, words: Sequence[str]) -> Iterator[str]:
    """A line that says so where the `words` of the task are answered behind the page."""
    if words and facts.now and answered(facts.now) and not answered(facts):
        yield PARTLY_BELOW if _leaves_something(facts.now) else ANSWERED_BELOW


def _leaves_something(now: Facts) -> bool:
    """Whether the newest report says under a label that something is left."""
    last = max((p.at for p in now.pieces if p.kind == "report"), default=-1)
    return any(p.open and (labels_open(p.text) or labels_open(f"{p.under}:")) for p in now.pieces if p.at == last)


def missing(facts: Facts, words: Sequence[str]) -> Iterator[str]:
    """A line for what the `words` of the task ask for by name and nothing shows yet."""
    names = [] if any(over_below(facts, words)) else not_seen(facts, words)
    if names:
        yield f"{NOT_SEEN}{', '.join(names)})"


def says_yes(text: str) -> bool:
    """Whether short words only agree, or say to go on."""
    return not telling(text) and (agrees(text) or accepts(text) or resumes(text))


def telling(text: str) -> bool:
    """Whether a request says by itself what is wanted; a command does, and not what only says to go on, or a line of a shell, which
    tells what the user ran for the agent."""
    if text.startswith("/"):
        return True
    if resumes(text) or _SHELL.fullmatch(text):
        return False
    return _length(text) >= TELLING


def _length(text: str) -> int:
    """The characters of a text, as if all of them were of an alphabet."""
    return len(text) + (_WIDE - 1) * wide_letters(text)


def _leaning(facts: Facts, words: list[str], newest: str, before: int) -> Task:
    """What is wanted with what the agent had said last to it, of a menu the option that was chosen; of a report of work that is done
    and asks nothing only the beginning."""
    if chosen := [p.text for p in facts.pieces if p.kind == "answer" and p.by == "agent" and p.at == before]:
        return Task(words, "\n".join(chosen), True)
    reports = [p for p in facts.pieces if p.kind == "report" and p.at < before]
    closed = reports[-1].at if reports else -1
    if before == facts.end and closed < max((r.newest for r in facts.requests), default=-1):
        return Task(words)
    said = [p for p in reports if p.at == closed]
    begun = max((p.at for p in reports if p.at < closed), default=-1)
    asked = [p.text for p in said if p.open or asks(p.text)]
    worked = any(p.kind in ("change", "failure") and begun < p.at < closed for p in facts.pieces)
    if worked and not (asked or agrees(newest)):
        return Task(words, cut(" ".join(p.text for p in said), DONE_BEFORE))
    return Task(
        words, "\n".join(_lines(said)), agrees(newest) or (any(shared_words(newest, asked)) if worked else bool(asked))
    )


def _lines(said: Sequence[Piece]) -> list[str]:
    """A report as it was written: its paragraphs, and its lists with what leads them in."""
    lines: list[str] = []
    lists = Lists()
    for piece in (p for p in said if p.text not in PLAN_TAGS):
        lines += lists.headings(piece)
        if piece.item:
            lines += lists.lines(piece)
        elif piece.begins or not lines:
            lines.append(piece.text)
        else:
            lines[-1] += f" {piece.text}"
    return lines


def rules(facts: Facts, after: Sequence[str] = ()) -> list[Rule]:
    """The rules that stand, oldest first; an order for one turn stands in that turn only, and those of a task until the next."""
    newest = facts.end if after else max((request.at for request in facts.requests), default=-1)
    lasting = ("standing",) if any(map(is_long, after)) else ("standing", "task")
    return [r for r in facts.rules if r.lifetime in lasting or (r.by != "project" and r.at >= newest)]
