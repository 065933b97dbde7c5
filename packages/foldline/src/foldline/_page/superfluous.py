"""What other pieces make superfluous: what is over, what a report tells, what reads as noise beside the words that say how it came out."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Set
from itertools import islice, pairwise

from foldline._facts.again import said_again, shared_words
from foldline._facts.calls import MADE
from foldline._facts.cues import (
    announces,
    asks,
    decides,
    denies_alarm,
    names_failure,
    offers,
    only_announces,
    reasons,
    rejects,
    says_all_is_well,
)
from foldline._facts.literals import literals
from foldline._facts.outcomes import alarming, finds
from foldline._facts.said import SUMS_UP, TO
from foldline._facts.shell import checks, family, only_looks, programs
from foldline._facts.standing import SPOKEN_OF, was_a_guess
from foldline._facts.tool_calls import SEARCHING, changes_by_name, words_of
from foldline._facts.types import BY_USER, WORK, Facts, Piece
from foldline._page import earlier
from foldline._page.heard import unheard
from foldline._page.noise import noise, of_web
from foldline._page.quoting import bare
from foldline._page.task import PLAN_TAGS, telling
from foldline._patterns import pattern

CLOSING = 200
"""Characters of a report from which it says what was done on the way."""

OPEN_ITEMS = 40
"""Items of the next newer lists of what is open among which one of an older list is looked for."""

BACK = 40
"""Pieces before an answer among which the question stands."""

SOON = 12
"""Messages within which the agent finds out that an alarm was none: a few calls."""


_SEARCHES = frozenset({"ls", "find", "pwd", "tree"})
_SHOWS = _SEARCHES | {
    "cat", "head", "tail", "nl", "wc", "grep", "rg", "sed", "awk", "cut", "sort", "uniq", "tr", "jq", "column", "echo",
}  # fmt: skip
"""Programs that search for files, and that show what is in them."""

_STATEMENT = re.compile(r"…|#|//|(?:raise|return|if|elif|for|while|except|with|import|from|assert|def|class|print)\b")
"""How a line of a file begins that was cut in front, or that says what a program does and of which nobody asks."""

_MOVING = frozenset({"switch", "checkout", "push", "fetch", "pull", "add"})
"""What git is told to do with work that is there."""

_NO_LINES = pattern(
    r"`apply_patch\b[^\n]* → [^\n]*\bFailed to find (?:expected lines|context)[^\n]*? in (?:[^\s:]*/)?([^\s/:]+)"
)
"""How Codex says which file a patch was not made in."""

_FILE = pattern(r"(?:\S*/)?([^\s/]+)")
_REFUSED = pattern(r" → failed; .*(?:modified since read|not found|[Nn]o match|did not match|not find)")
"""The file that an edit names, and how a client says that it was not made."""

LONG_MESSAGE = 4
"""Pieces from which a message of the user's is so long that parts of it may be left out."""


def settled(facts: Facts) -> set[int]:
    """The places of what is over: failures and what they brought, where something later closed them or failed alike, unless the
    messages that stay go on from there, what was taken back, and what a summary called open before it was done or more was asked for."""
    open_at = {fault.seen for fault in facts.faults if not fault.resolved}
    told: dict[tuple[int, int], str] = {}
    for p in facts.pieces:
        if p.kind == "failure" or (p.at, p.part) in told:
            told[p.at, p.part] = f"{told.get((p.at, p.part), '')}\n{p.text.partition(' → ')[2] or p.text}"
    newest = {text: call for call, text in told.items()}
    over = {call for call, text in told.items() if call[0] not in open_at or newest[text] != call}
    if facts.goes_on:
        over.discard(max(((p.at, p.part) for p in facts.pieces if p.kind in WORK), default=(-1, -1)))
    agents = [(i, p) for i, p in enumerate(facts.pieces) if p.by == "agent"]
    back = [p for p in facts.latest.pieces if p.by == "agent" and p.back]
    taken = {i for i, p in agents for by in back if p.at < by.at and not p.back and said_again(p.text, by.text)}
    taken |= {*_rejected(facts), *_answered(facts)} | {i for i, p in agents if p.text in PLAN_TAGS}
    false = _false_alarms(facts, back)
    taken |= {i for i, p in agents if p.kind == "thought" and not p.item and p.at in false}
    return {*taken, *earlier.over(facts)} | {
        i for i, piece in enumerate(facts.pieces) if (piece.at, piece.part) in over
    }


def not_made(facts: Facts) -> set[int]:
    """The places of edits that were refused and made no more in their turn: what the report behind them says of that file is not so."""
    ends = [*facts.turns, facts.end]
    edits = [p for p in facts.pieces if is_edit(p)]
    found: set[int] = set()
    for i, p in enumerate(facts.pieces):
        name = _refused_in(p) if p.kind == "failure" else ""
        end = ends[bisect_right(facts.turns, p.at)] if name else 0
        later = (each.text for each in edits if p.at < each.at < end)
        if name and not any(name in text for text in later):
            found.add(i)
    return found


def _refused_in(failure: Piece) -> str:
    """The name of the file that an edit was refused in; empty of what is none."""
    if found := _NO_LINES.match(failure.text):
        return found[1]
    tool, _, rest = failure.text.partition(" ")
    named = _FILE.match(rest) if changes_by_name(tool) and _REFUSED.search(rest) else None
    return named[1] if named else ""


def _answered(facts: Facts) -> Iterator[int]:
    """The places of the agent's questions that the user's answers are told with."""
    for i, piece in enumerate(facts.pieces):
        question = piece.text.partition(TO)[2].rstrip("”)…") if piece.by == "user" else ""
        before = range(i - 1, max(-1, i - BACK), -1) if question else ()
        yield from (j for j in before if facts.pieces[j].by == "agent" and question in facts.pieces[j].text)


def _rejected(facts: Facts) -> Iterator[int]:
    """The places of what an agent found, where one says later in so many words that this is none."""
    said = [p for p in facts.latest.pieces if p.by in ("agent", "peer") and rejects(p.text)]
    claims = ((i, p) for i, p in enumerate(facts.pieces) if said and p.by in ("agent", "peer") and not rejects(p.text))
    for i, claim in claims:
        if any(p.at > claim.at and said_again(claim.text, p.text) for p in said):
            yield i


def _false_alarms(facts: Facts, back: Iterable[Piece]) -> set[int]:
    """The messages of the agent in which it told of something wrong, where it says soon after in the same turn that this was
    none: of what shares a word with these words the newest."""
    asked = sorted(request.newest for request in facts.latest.requests)
    thoughts = [p for p in facts.pieces if p.kind == "thought" and not (p.back or p.item) and _alarms(p.text)]
    ats = [p.at for p in thoughts]
    false: set[int] = set()
    for by in back:
        if denies_alarm(by.text):
            since = max(by.at - SOON, asked[bisect_right(asked, by.at) - 1] if asked and asked[0] <= by.at else 0)
            before = reversed(thoughts[bisect_left(ats, since) : bisect_left(ats, by.at)])
            false.update(islice((p.at for p in before if any(shared_words(p.text, [by.text]))), 1))
    return false


def _alarms(text: str) -> bool:
    """Whether a text tells of something wrong, in any language."""
    return alarming(text) or names_failure(text)


def unanswered(facts: Facts) -> set[int]:
    """The places of what the agent asked or offered last in a report, where the user spoke of something else next."""
    found: set[int] = set()
    deciding = {piece.at for piece in facts.pieces if piece.by == "user" and decides(piece.text)}
    asked = -1
    for i, piece in enumerate(facts.pieces):
        if piece.by == "agent" and piece.kind == "report":
            asked = i if piece.edge and asks(piece.text) else -1
        elif piece.by == "user" and asked >= 0:
            question = facts.pieces[asked].text
            taken_up = piece.kind == "answer" or piece.at in deciding
            if not taken_up and sum(shared_words(question, [piece.text])) < SPOKEN_OF:
                found.add(asked)
            asked = -1
    return found


def idle(facts: Facts) -> set[int]:
    """The places of what the agent said it would do next, where it then only looked."""
    acting = {p.at for p in facts.pieces if p.kind in ("change", "failure")}
    thoughts = ((i, p) for i, p in enumerate(facts.pieces) if p.kind == "thought" and not p.weighs)
    return {i for i, p in thoughts if p.at not in acting and announces(bare(p))}


def reported(facts: Facts) -> set[int]:
    """The places of what was told again: by a report that closed the turn edits of files, and thoughts but for those beside
    them that found something and those that settle what the user answered; by a newer summary an older one."""
    acting = {p.at for p in facts.pieces if p.kind in ("change", "failure")}
    newest = max((p.at for p in facts.pieces if p.kind == "summary"), default=0)
    kept = acting | _settling(facts)

    def taken_up(piece: Piece) -> bool:
        if piece.kind == "change":
            return is_edit(piece)
        return in_passing(piece) and (piece.at not in kept or announces(bare(piece)))

    older = {i for i, piece in enumerate(facts.pieces) if piece.kind == "summary" and piece.at < newest}
    return older | {i for i in led_to_report(facts) if taken_up(facts.pieces[i])}


def led_to_report(facts: Facts, least: int = 0) -> list[int]:
    """The places of what a report of the agent of at least so many characters stands behind in the same turn."""
    said: Counter[int] = Counter()
    for piece in facts.pieces:
        if piece.kind == "report":
            said[piece.at] += len(piece.text)
    reports = sorted(at for at, length in said.items() if length >= least)
    asked = facts.turns
    ends = [*asked, facts.end]

    def closed(at: int) -> bool:
        report = bisect_right(reports, at)
        return report < len(reports) and reports[report] < ends[bisect_right(asked, at)]

    over = {at for at in {piece.at for piece in facts.pieces} if closed(at)}
    return [i for i, piece in enumerate(facts.pieces) if piece.at in over]


def _settling(facts: Facts) -> set[int]:
    """The messages that come right behind what the user answered."""
    return {p.at for before, p in pairwise(facts.pieces) if before.kind == "answer"}


def reported_on(facts: Facts) -> set[int]:
    """The places of what reads as noise beside the words that say how it came out; a page that fills its budget has them all."""
    calls = (
        _looked_up(facts)
        | _sought(facts)
        | _missed(facts)
        | _passed_again(facts)
        | _run_again(facts)
        | _committed(facts)
        | noise(facts)
    )
    words = _announced(facts) | _listed(facts) | _narrated(facts) | _summed_up(facts) | _offered(facts)
    return (
        calls
        | _moved(facts)
        | words
        | earlier.outdated(facts)
        | _listed_anew(facts)
        | _sent_again(facts)
        | _tabled_anew(facts)
    )


def _tabled_anew(facts: Facts) -> set[int]:
    """The places of rows of a table that the agent drew amid its work, where it drew it again later for most of the same rows."""
    tables: dict[str, dict[int, list[int]]] = {}
    for i, piece in enumerate(facts.pieces):
        if piece.columns and piece.by == "agent":
            tables.setdefault(piece.columns, {}).setdefault(piece.at, []).append(i)
    over: set[int] = set()
    for table in tables.values():
        drawn = [{_first_cell(facts.pieces[i]): i for i in rows} for _, rows in sorted(table.items())]
        for older, newer in pairwise(drawn):
            again = len(older.keys() & newer.keys()) * 2 > len(older)
            over.update(i for i in older.values() if again and facts.pieces[i].kind == "thought")
    return over


def _first_cell(row: Piece) -> str:
    return row.text.strip("| ").partition("|")[0].strip()


def _sent_again(facts: Facts) -> set[int]:
    """The places of what the user had said word for word, in a longer message that says mostly the same as older ones; how it
    begins stays."""
    messages: dict[int, list[int]] = {}
    for i, piece in enumerate(facts.pieces):
        if piece.by == "user" and piece.kind != "excerpt":
            messages.setdefault(piece.at, []).append(i)
    known: set[str] = set()
    over: set[int] = set()
    for places in messages.values():
        again = [i for i in places[1:] if facts.pieces[i].text in known]
        over.update(again if len(places) >= LONG_MESSAGE and 2 * len(again) >= len(places) else ())
        known.update(facts.pieces[i].text for i in places)
    return over


def _listed_anew(facts: Facts) -> set[int]:
    """The places of lists of what is open, where a later report lists some of it anew: the rest was done since."""
    lists: dict[int, list[int]] = {}
    for i, piece in enumerate(facts.pieces):
        if piece.kind == "report" and piece.item and piece.open:
            lists.setdefault(piece.at, []).append(i)
    over: set[int] = set()
    later: list[str] = []
    for _, places in sorted(lists.items(), reverse=True):
        words = [bare(facts.pieces[i]) for i in places]
        if any(said_again(each, line) for each in words for line in later):
            over.update(places)
        later = [*words, *later][:OPEN_ITEMS]
    return over


def _looked_up(facts: Facts) -> set[int]:
    """The places of lines of outputs, of what was read in the web, and of what other look-ups brought and nobody wrote of, or before
    the newest turn, where a report that closed the turn says what was found; what failed and what was changed brought more than it
    says."""
    heads = {(p.at, p.part): p for p in facts.pieces if p.kind in ("call", "change", "failure")}
    acting = {call for call, head in heads.items() if head.kind != "call"}
    web = {call for call, head in heads.items() if of_web(head)}
    asked = {call for call, head in heads.items() if not head.text.startswith("`")}
    newest = max((request.newest for request in facts.latest.requests), default=-1)

    def told(piece: Piece) -> bool:
        call = (piece.at, piece.part)
        return call in web or piece.kind == "excerpt" or (call in asked and (piece.at < newest or not piece.used))

    brought = (
        (i, p) for i in led_to_report(facts) if (p := facts.pieces[i]).by == "tool" and p.kind in ("excerpt", "result")
    )
    return {i for i, p in brought if (p.at, p.part) not in acting and told(p)}


def _sought(facts: Facts) -> set[int]:
    """The places of searches that say nothing of what they found, beside other calls of the same turn, and of all that led to a
    report or to a change, where what a command showed names it by itself."""
    asked = sorted(request.newest for request in facts.requests)
    calls = [(i, p) for i, p in enumerate(facts.pieces) if p.by == "tool" and p.kind in ("call", "change", "failure")]
    over = left_to_files(facts)
    shown = {
        (p.at, p.part) for i, p in enumerate(facts.pieces) if p.kind in ("result", "excerpt", "shown") and i not in over
    }
    seeks = {i for i, p in calls if p.kind == "call" and (p.at, p.part) not in shown and _searches(p)}
    mute = {i for i in seeks if " → " not in facts.pieces[i].text}
    beside = {bisect_right(asked, p.at) for i, p in calls if i not in mute}
    worked = {bisect_right(asked, p.at) for _, p in calls if p.kind == "change"}
    over = seeks.intersection(led_to_report(facts))
    over |= {i for i in mute if bisect_right(asked, facts.pieces[i].at) in beside}
    looks = {i for i, p in calls if p.kind == "call" and p.text.startswith("`") and _does_only(_SHOWS, p)}
    return over | {i for i in seeks | looks if bisect_right(asked, facts.pieces[i].at) in worked}


def _searches(call: Piece) -> bool:
    """Whether a call is told as a search for files or in them, without what it found."""
    if call.text.startswith("`"):
        return _does_only(_SEARCHES, call)
    return words_of(call.text.partition(" ")[0]) <= SEARCHING


def _does_only(kinds: Set[str], call: Piece) -> bool:
    """Whether a command only looks, with some kinds of programs, and its line says nothing of how it ended."""
    command, end = _ended(call)
    command = command.strip("- `")
    return not end and only_looks(command) and all(name in kinds for name, *_ in programs(command))


def left_to_files(facts: Facts) -> set[int]:
    """The places of lines that a look at files showed, but for those with a name that the user asked about; what a record says is
    told."""
    records = {(p.at, p.part) for p in facts.pieces if p.kind == "shown" and p.begins}
    asked = "\n".join(request.text for request in facts.requests)
    lines = ((i, p) for i, p in enumerate(facts.pieces) if p.kind == "shown" and (p.at, p.part) not in records)
    return {i for i, p in lines if _STATEMENT.match(p.text) or not any(name in asked for name in literals(p.text))}


def command_of(call: Piece) -> str:
    """The command that a line tells of, or a tool with what it was given."""
    return _ended(call)[0].strip("- `")


def _tried(piece: Piece) -> str:
    """The same without where and how it was run."""
    return family(command_of(piece))


def _passed_again(facts: Facts) -> set[int]:
    """The places of checks that passed, and of what they brought, where another one passed later in a turn that a report closed;
    one that had failed before is told."""
    passed: dict[int, list[tuple[int, int]]] = {}
    asked = sorted(request.newest for request in facts.requests)
    fine = {(p.at, p.part) for p in _passed(facts)}
    for i in led_to_report(facts):
        piece = facts.pieces[i]
        if piece.kind == "call" and (piece.at, piece.part) in fine:
            passed.setdefault(bisect_right(asked, piece.at), []).append((piece.at, piece.part))
    over = {call for calls in passed.values() for call in calls[:-1]}
    return {i for i, p in enumerate(facts.pieces) if p.by == "tool" and (p.at, p.part) in over}


def _passed(facts: Facts) -> Iterator[Piece]:
    """The checks that passed and had not failed before."""
    failed = {_tried(p) for p in facts.pieces if p.kind == "failure"}
    ended = (p for p in facts.pieces if p.kind == "call" and p.by == "tool" and " → " in p.text)
    return (p for p in ended if checks(_tried(p)) and _tried(p) not in failed)


def _missed(facts: Facts) -> set[int]:
    """The places of calls that failed on the way, and of what they brought: in a turn that a report closed those that the agent
    made up for or wrote nothing of, in others those that tried what is not there once the agent went on; checks are told."""
    went_on = max((p.at for p in facts.latest.pieces if p.kind in ("call", "change")), default=-1)
    failed = {(p.at, p.part): p for p in facts.pieces if p.kind == "failure" and not _found_fault(p)}
    closed = {(facts.pieces[i].at, facts.pieces[i].part) for i in led_to_report(facts)}.intersection(failed)
    guessed = {(p.at, p.part) for p in facts.pieces if p.by == "tool" and was_a_guess(p.text)}
    over = {call for call in guessed.intersection(failed) if call in closed or call[0] < went_on}
    over |= {call for call in closed if only_looks(command_of(failed[call]))}
    over |= {*_made_up_for(facts, [failed[call] for call in sorted(closed - over)])}
    return {i for i, p in enumerate(facts.pieces) if p.by == "tool" and (p.at, p.part) in over}


def _found_fault(failed: Piece) -> bool:
    """Whether a call that failed is a check, by what it ran or what it says that it found."""
    command = command_of(failed)
    return (checks(family(command)) and not only_looks(command)) or finds(fault_of(failed))


def _made_up_for(facts: Facts, failed: Iterable[Piece]) -> Iterator[tuple[int, int]]:
    """Those of some calls that failed behind which in the same turn the same program or tool did what it should, or the agent
    wrote nothing of what it failed with; a tool that never did what it should since is told."""
    ever: dict[str, int] = {_program(p): p.at for p in facts.pieces if p.kind in ("call", "change")}
    asked = sorted(request.newest for request in facts.requests)
    turns: dict[int, list[Piece]] = {}
    for piece in facts.pieces:
        turns.setdefault(bisect_right(asked, piece.at), []).append(piece)
    for each in failed:
        later = [p for p in turns[bisect_right(asked, each.at)] if p.at > each.at]
        worked = {_program(p) for p in later if p.kind in ("call", "change") and not p.text.endswith(BY_USER)}
        tool = not each.text.startswith("`")
        if tool and fault_of(each) and ever.get(_program(each), -1) < each.at:
            continue
        if _program(each) in worked or not any(_speaks_of(p.text, fault_of(each)) for p in later if p.by == "agent"):
            yield each.at, each.part


def _speaks_of(text: str, fault: str) -> bool:
    """Whether words say again what a call failed with, or a name in it."""
    return said_again(fault, text) or not {*literals(fault)}.isdisjoint(literals(text))


def fault_of(failed: Piece) -> str:
    """What a call failed with."""
    return _ended(failed)[1].partition("; ")[2]


def _ended(call: Piece) -> tuple[str, str]:
    """What was called, and how it ended; an arrow may stand within a command."""
    called, _, end = call.text.partition("` → " if call.text.startswith("`") else " → ")
    return called, end


def _program(call: Piece) -> str:
    """What was called: a program with what it was told to do, or a tool."""
    told = call.text
    return " ".join(_tried(call).split()[:2]) if told.startswith("`") else told.partition(" ")[0]


def _committed(facts: Facts) -> set[int]:
    """The places of edits and of checks that passed before a commit or a pull request of the same turn, which they led to."""
    asked = sorted(request.at for request in facts.requests)
    made = {bisect_right(asked, p.at): p.at for p in facts.pieces if p.kind == "change" and p.text.startswith(MADE)}
    over = {(p.at, p.part) for p in (*filter(is_edit, facts.pieces), *_passed(facts))}
    led = ((i, p) for i, p in enumerate(facts.pieces) if p.by == "tool" and (p.at, p.part) in over)
    return {i for i, p in led if p.at < made.get(bisect_right(asked, p.at), -1)}


def _run_again(facts: Facts) -> set[int]:
    """The places of calls that were made once more in the same turn, word for word, and of what they brought; of a change whose code is
    not told nobody knows that, and of an edit what it says of itself is part of its words."""
    asked = sorted(request.at for request in facts.requests)
    newest: dict[tuple[int, str], tuple[int, int]] = {}
    calls: dict[tuple[int, int], tuple[int, str]] = {}
    for p in facts.pieces:
        if p.by == "tool" and p.kind in ("call", "change", "failure") and not (p.kind == "change" and "'…'" in p.text):
            words = p.text if p.text.startswith("edit ") else p.text.partition(" → ")[0]
            calls[p.at, p.part] = made = bisect_right(asked, p.at), words
            newest[made] = p.at, p.part
    over = {call for call, made in calls.items() if newest[made] != call}
    return {i for i, p in enumerate(facts.pieces) if p.by == "tool" and (p.at, p.part) in over}


def _announced(facts: Facts) -> set[int]:
    """The places of what the agent said it would do, where a line beside it tells how that failed."""
    failed = {p.at for p in facts.pieces if p.kind == "failure"}
    thoughts = ((i, p) for i, p in enumerate(facts.pieces) if p.kind == "thought" and p.at in failed and not p.weighs)
    return {i for i, p in thoughts if announces(bare(p)) and not reasons(p.text)}


def _moved(facts: Facts) -> set[int]:
    """The places of what git answered to commands that only move work about: where that stands now, the state says."""
    moving = {
        (p.at, p.part) for p in facts.pieces if p.kind == "call" and p.text.startswith("`") and _moves(command_of(p))
    }
    return {i for i, p in enumerate(facts.pieces) if p.by == "tool" and (p.at, p.part) in moving}


def _moves(command: str) -> bool:
    """Whether all that a command runs are steps of git between a branch, the work and the remote."""
    if not command.startswith(("git ", "cd ", "echo ")):
        return False
    steps = [(name, args) for name, args, _ in programs(command) if name not in ("cd", "echo")]
    return bool(steps) and all(name == "git" and args[:1] and args[0] in _MOVING for name, args in steps)


def _listed(facts: Facts) -> set[int]:
    """The places of lists that the agent made amid the work of a turn that a report closed."""
    return {i for i in led_to_report(facts) if facts.pieces[i].kind == "thought" and facts.pieces[i].item}


def _narrated(facts: Facts) -> set[int]:
    """The places of what the agent said amid the work of a turn that a longer report closed: all but what gives a reason, tells
    what was wrong, or settles what the user answered."""
    settling = _settling(facts)
    texts: dict[tuple[int, int], list[int]] = {}
    for i in led_to_report(facts, CLOSING):
        piece = facts.pieces[i]
        if piece.kind == "thought" and piece.at not in settling:
            texts.setdefault((piece.at, piece.part), []).append(i)
    said = texts.values()
    return {i for places in said if not says_why(facts.pieces[i] for i in places) for i in places}


def in_passing(piece: Piece) -> bool:
    """Whether a piece is of what the agent said amid its work, and neither weighs what others found nor takes anything back."""
    return piece.kind == "thought" and not (piece.weighs or piece.back)


def says_why(text: Iterable[Piece]) -> bool:
    """Whether the agent says why something is done, or what was wrong, and not only what it does or that all is well."""
    telling = (thought for thought in text if not only_announces(bare(thought)))
    return any(reasons(t.text) or t.back or (alarming(t.text) and not says_all_is_well(t.text)) for t in telling)


def _offered(facts: Facts) -> set[int]:
    """The places of what a report says that its speaker could do, where the user said next what to do, and of what another
    agent offers to the one that called it."""
    asked = sorted((request.newest, telling(request.text)) for request in facts.requests)

    def decided(at: int) -> bool:
        behind = bisect_right(asked, (at, True))
        return behind < len(asked) and asked[behind][1]

    said = ((i, p) for i, p in enumerate(facts.pieces) if p.by == "peer" or (p.kind == "report" and decided(p.at)))
    return {i for i, p in said if offers(p.text) or offers(p.under)}


def _summed_up(facts: Facts) -> set[int]:
    """The places of other agents' words that the agent itself sums up, and of what the agent made of them before the report
    that closes the turn."""
    summed = {*led_to_report(facts, SUMS_UP)}
    over = {i for i in summed if facts.pieces[i].weighs and facts.pieces[i].kind == "thought"}
    return over | unheard(facts.pieces, {*led_to_report(facts, CLOSING)}, summed.union(_taken_in(facts)))


def _taken_in(facts: Facts) -> Iterator[int]:
    """The places of other agents' words that the agent's next message says what it makes of, also in the messages behind."""
    heard: list[int] = []
    for i, piece in enumerate(facts.pieces):
        if piece.by == "peer":
            heard.append(i)
        elif piece.by == "agent" or piece.by == "user":
            yield from heard if piece.weighs else ()
            heard = []
    if any(piece.weighs and piece.at >= facts.end for piece in facts.latest.pieces):
        yield from heard


def is_edit(piece: Piece) -> bool:
    """Whether a piece tells that files were changed, and no more."""
    return piece.kind == "change" and not (" → " in piece.text or piece.text.startswith(MADE))
