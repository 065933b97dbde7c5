"""Facts read back from a page of ours that came back as plain text, as it does where a host stores what it was handed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Literal

from foldline._facts.calls import BROUGHT, MADE, NEWS
from foldline._facts.folders import listed_in
from foldline._facts.literals import literals
from foldline._facts.pieces import Teller
from foldline._facts.repository import NAMELESS
from foldline._facts.texts import BAR, coded, parted
from foldline._facts.tool_calls import changes_by_name
from foldline._facts.types import Facts, FailedCall, File, FileState, Kind, Piece, Repository, Rule, Todo, UserRequest
from foldline._facts.unmerged import STOPPED
from foldline._messages import replace
from foldline._patterns import pattern

_HEADING = pattern(r"^## (Task now|Rules that stand|What happened|State|Files|Also named)$", re.MULTILINE)
_NOTE = pattern(r"^\[folded: \d+ messages[^\]\n]*\]$", re.MULTILINE)
_MARK = pattern(r"^(?:> |\(an earlier summary(?:, in short)?\)(?: |$))", re.MULTILINE)
_FRAME = pattern(r"\A.*?<summary>\n|\n</summary>\s*\Z", re.DOTALL)
_USER = pattern(r"(?:\*\*\d+\*\* )?> (.+)")
EARLIER, IN_SHORT = "(an earlier summary) ", "(an earlier summary, in short) "
"""Before what a summary said that was made before, by whoever made it, and before some of that; with headings in lines of their
own it begins in the line below."""

SINCE = "(since that summary)"
"""What stands behind such lines."""

PASTED = "(pasted) "
"""Before what the user pasted."""

AMID = "· "
"""Before what the agent said amid its work; what it reported at the end has no mark."""

SHORTENED = "(in short) "
"""Before a report of which sentences are left out in several places."""

NOW = "(the task now"
"""How the line begins that stands, with how the request begins, in place of the words that the page tells as the task."""

MARKED = 1_200
"""Characters below which a page may have neither headings nor a note."""

_FRAMES = (EARLIER.strip(), IN_SHORT.strip(), SINCE)
"""Lines that say where an earlier summary begins, and where it ends."""

_TURN = pattern(rf"\*\*\d+\*\*(?: |$)(?:{re.escape(NOW)}.*)?")
_ITEM = pattern(r"(?:  )+(?:- |(?=\W{0,3}\d{1,2}[.)] ))")
_COLUMNS, _ROW = pattern(r"^\|.+\|\n\|(?: --- \|)+\n", re.MULTILINE), pattern(r"^\| (.+) \|$", re.MULTILINE)
_FENCED = pattern(r"^(```|~~~)[^\n]*\n(.*?)\n\1$", re.DOTALL | re.MULTILINE)
_BROUGHT = pattern(r"^(- .+):\n((?:  - .+(?:\n(?=  - )|$))+)", re.MULTILINE)
_ERROR = pattern(r"open error: `(.*?)` → (.+)")
BELOW = "The newest request stands in the messages below: "
SEVERAL_BELOW = "The newest requests stand in the messages below: "
"""How a page begins behind which the newest request stands."""

ASKED_BEFORE = "(before that the user had asked) "
"""What stands before the requests that led to the newest and are over; what happened has them as well."""

ANSWERED_BELOW = "(answered at the end of the messages below)"
PARTLY_BELOW = "(reported on at the end of the messages below, which says what is left)"
"""What stands above a task that is done behind the page, and above one of which the report there leaves something open."""

_SAID_BEFORE = pattern(
    r"^\((?:the agent had proposed|the agent said; the newest message below answers it|before that the agent had said)\) "
)
CAUSE = " – the agent: "
"""What stands between an open error and what the agent said of it."""

OWNER, PROJECT, COMMAND = "the user", "the project", "the instructions"
"""Who gives an order: instructions of the user's own, those of the project, those of a command or a skill that is under way and has no name."""

_GIVEN_BY = pattern(r"\((the user|the project|the instructions|the command|skill [\w:.-]+|/[\w:-]+)\) (.*)")
"""An order on a page, behind who gives it; "the command" as pages before had it."""

POINTER = "the project's own instructions hold as well (recall: {})"
"""The line that says where the others are."""

STILL_RUNS = "runs still when seen last: "
"""What stands before a program that was not seen to end."""

INTENDED = "what the agent said it would do: "
"""What stands before the plan that it told in words."""

DONE = "done of the plan: "
"""What stands before the steps that are done of a plan."""

UNCOMMITTED, UNCHANGED = "not committed: ", "the agent has changed nothing so far"
"""What stands before changed files where nothing tells of commits, and what is said of work that only looked."""

LATER = "As the messages below leave it:"
"""What stands over a state behind which messages stay."""

NOT_SEEN = "(asked for, and not seen yet: "
"""What stands before what a request asks for and no call did."""

_ANSWERED = pattern(r"\(to “.+”\)")
"""The question below an answer: its words are told with that, and not again."""

_RUNS = pattern(rf"{STILL_RUNS}`(.+)`(?: \(([^()]+)\))?")
_READ = (
    STILL_RUNS,
    INTENDED,
    DONE,
    UNCOMMITTED,
    UNCHANGED,
    "[ ] ",
    "open error: ",
    "last run: ",
    "git: ",
    "git in ",
    LATER,
    "the last request is ",
    "the agent said last: ",
)
"""How the lines of a state begin that are read as more than words, or hold for their page only."""

DRAFT = "a draft"
"""How a pull request is told that is none to be merged yet."""

_PULL_LINE = pattern(rf"(\S+?)(?: \((merged|closed)?({DRAFT})? ?(?:from (\S+))?\))?(?:, |$)")
_GIT = pattern(r"git(?: in (.+?))?: (.+)")
_KNOWN = ("on branch ", "last commit ", "opened ")
_STATES: dict[str, FileState] = {
    "created": "created", "changed": "modified", "staged": "modified", "renamed": "renamed", "deleted": "deleted", "put back": "restored", "read": "read",
}  # fmt: skip


def is_page(text: str) -> bool:
    """Whether a text is a page of ours: by its note, by its headings, or a small one by how it marks who said what."""
    if len(text) < MARKED:
        return _MARK.search(text) is not None or _NOTE.search(text) is not None
    return _NOTE.search(text) is not None or len(_HEADING.findall(text)) >= 2


def facts_of_page(text: str) -> Facts:
    """What a page tells, as the facts that it was made of, as far as it tells them."""
    found = _HEADING.split(_NOTE.sub("", _FRAME.sub("", text)))
    sections = {"What happened": found[0], **dict(zip(found[1::2], found[2::2]))}
    sections = {name: _ROW.sub(_flat, _COLUMNS.sub("", _FENCED.sub(_in_line, body))) for name, body in sections.items()}
    sections["What happened"] = _BROUGHT.sub(_with_brought, sections["What happened"])
    lines = {name: [line for line in body.splitlines() if line.strip()] for name, body in sections.items()}
    now = lines.get("Task now", [])
    task = "\n".join(line.removeprefix("> ") for line in now if line.startswith("> "))
    before = [
        _SAID_BEFORE.sub("", line, count=1)
        for line in now
        if not line.startswith(("> ", NOT_SEEN, ASKED_BEFORE, ANSWERED_BELOW, PARTLY_BELOW))
    ]
    open_now = [line.removeprefix("- ") for line in lines.get("State", ())]
    said = [
        *_said(task),
        *_happened(
            [line for line in lines["What happened"] if not line.startswith((BELOW, SEVERAL_BELOW, ASKED_BEFORE))]
        ),
    ]
    ruling = [line.lstrip().removeprefix("- ") for line in lines.get("Rules that stand", ())]
    said += [Piece(each, 0, 0, "agent", "report") for line in before for each in parted(line)]
    said += [_order(*given.groups()) for line in ruling if (given := _GIVEN_BY.fullmatch(line))]
    faults = (_ERROR.match(line) for line in open_now)
    todos = (line for line in open_now if line.startswith("[ ] "))
    rest = (line for line in open_now if not line.startswith(_READ))
    said += [
        Piece(line.removeprefix("asked the user: "), 0, len(said) + i, "agent", "report", open=True)
        for i, line in enumerate(rest)
    ]
    return Facts(
        requests=(UserRequest(task),) if task else (),
        rules=tuple(_rule(line) for line in ruling if not _GIVEN_BY.fullmatch(line)),
        pieces=tuple(_apart([*_in_use(said)])),
        faults=tuple(FailedCall(f[2].partition(CAUSE)[0], f[1], f[1]) for f in faults if f),
        todos=tuple(Todo(line.removeprefix("[ ] ").removesuffix(" (in progress)")) for line in todos),
        files=tuple(_files(lines.get("Files", ()))),
        running={runs[2] or runs[1]: runs[1] for line in open_now if (runs := _RUNS.fullmatch(line))},
        repositories=tuple(_repository(*git.groups()) for line in open_now if (git := _GIT.match(line))),
        end=1,
    )


def given_by(order: Piece) -> str:
    """Who gives an order, as it stands before it."""
    return f"({order.who or (COMMAND if order.by == 'command' else PROJECT)}) "


def _order(who: str, text: str) -> Piece:
    """An order as a page tells it."""
    by: Teller = "harness" if who in (OWNER, PROJECT) else "command"
    return Piece(text, 0, 0, by, "rule", who="" if who in (PROJECT, COMMAND) else who)


def _in_line(block: re.Match[str]) -> str:
    """A block of code that stands on a page in a line, as it is a piece."""
    return coded([line.strip() for line in block[2].splitlines() if line.strip() and line != "…"])


def _with_brought(call: re.Match[str]) -> str:
    """A call with what it brought, which stands below it on a page, in one line."""
    return "; ".join((call[1], *(line.removeprefix("  - ") for line in call[2].splitlines())))


def _flat(row: re.Match[str]) -> str:
    """A row of a table that stands on a page as an item, as it is a piece."""
    return f"  - {row[1].replace(' | ', ' – ').replace(BAR, '|')}"


def _rule(line: str) -> Rule:
    """A rule of the user's, or the line that points to the project's own ones."""
    head, tail = POINTER.split("{}")
    if line.startswith(head):
        return Rule(f"# {line.removeprefix(head).removesuffix(tail)}", 0, "project")
    return Rule(line)


def _repository(folder: str | None, line: str) -> Repository:
    """Where a repository stood; what was changed since is told by the files."""
    told = line.split("; ")
    known = {name: text.removeprefix(name) for text in told for name in _KNOWN if text.startswith(name)}
    commit, pushed, _ = known.get("last commit ", "").removesuffix(", not pushed").partition(", pushed")
    branch = known.get("on branch ", "")
    pulls = [found.groups() for found in _PULL_LINE.finditer(known.get("opened ", ""))]
    return Repository(
        "" if not folder or folder == NAMELESS else folder,
        branch,
        bool(commit),
        commit,
        bool(pushed),
        known.get("last commit ", "").endswith(", not pushed"),
        tuple(address for address, *_ in pulls),
        {address: head or branch for address, _, _, head in pulls if head or branch},
        tuple(address for address, _, draft, _ in pulls if draft),
        {address: over for address, over, _, _ in pulls if over},
        under_way=next((each for each in told if STOPPED in each), None),
    )


def _said(task: str) -> list[Piece]:
    return [Piece(each, 0, 0, "user", "said") for line in task.splitlines() for each in parted(line)]


def _apart(said: Sequence[Piece]) -> Iterator[Piece]:
    """The pieces as texts of their own, but for the items of one list, and for a call and what it brought."""
    part = 0
    for i, piece in enumerate(said):
        last = said[i - 1]
        listed = piece.item and last.item and (piece.by, piece.under) == (last.by, last.under)
        part = part if i and (listed or piece.kind == "result") else i
        yield replace(piece, part=part)


def _in_use(said: Sequence[Piece]) -> Iterator[Piece]:
    """The pieces, what calls brought with how much of it stands elsewhere as well, and with the first of what a change brought."""
    others = {word for piece in said if piece.kind != "result" for word in literals(piece.text)}
    head, seen = "", 0
    for piece in said:
        if piece.kind != "result":
            head, seen = piece.kind, 0
            yield piece
            continue
        news = BROUGHT if head == "change" and seen < NEWS else 0
        seen += 1
        yield replace(piece, used=news + sum(word in others for word in literals(piece.text)))


def _happened(lines: Sequence[str]) -> Iterator[Piece]:
    """The pieces of a timeline; a line that leads in a list stands over each of its items."""
    lead, earlier = "", False
    for line, below in pairwise((*lines, "")):
        bare = _TURN.sub("", line, count=1)
        if bare in _FRAMES:
            earlier = bare != SINCE
            continue
        for piece in _of_summary(line) if earlier else _pieces(line):
            leads = piece.text.endswith((":", "："))
            lead = piece.text[:-1] if leads else lead if piece.item else ""
            if not (leads and _ITEM.match(below.removeprefix("> "))):
                yield replace(piece, under=lead) if piece.item else piece


def _of_summary(line: str) -> Iterator[Piece]:
    """The pieces of a line of an earlier summary that stands in lines of its own."""
    item = _ITEM.match(line)
    depth = len(item[0]) // 2 - 2 if item and item[0].endswith("- ") else 0
    for piece in _parts(line, "summary", "summary", item=item is not None):
        yield replace(piece, begins=True, depth=max(depth, 0), section="context")


def _pieces(line: str) -> Iterator[Piece]:
    """The pieces of a line of a timeline, by who spoke."""
    if found := _USER.match(line):
        item = _ITEM.match(found[1])
        yield from _parts(found[1], "user", "said", item=item is not None)
        return
    line = _TURN.sub("", line, count=1).removeprefix(SHORTENED)
    if _ANSWERED.fullmatch(line):
        return
    if line.startswith("- "):
        head, *brought = line[2:].split("; ")
        changed = head.startswith(MADE) or changes_by_name(head.partition(" ")[0])
        yield Piece(head, 0, 0, "tool", "change" if changed else "call")
        yield from (Piece(each, 0, 0, "tool", "result") for each in brought)
    elif line.startswith("(chosen) "):
        yield Piece(line.removeprefix("(chosen) "), 0, 0, "agent", "answer")
    elif line.startswith(EARLIER):
        yield from (Piece(each, 0, 0, "summary", "summary") for each in parted(line.removeprefix(EARLIER)))
    elif line.startswith("(another agent) "):
        yield Piece(line.removeprefix("(another agent) "), 0, 0, "peer", "said")
    elif line.startswith(AMID):
        yield from _parts(line.removeprefix(AMID), "agent", "thought", item=False)
    elif line:
        yield from _parts(line, "agent", "report", item=_ITEM.match(line) is not None)


def _parts(line: str, by: Teller | Literal["summary"], kind: Kind, *, item: bool) -> Iterator[Piece]:
    """The pieces of a line, an item of a list by itself."""
    bare = _ITEM.sub("", line, count=1) if item else line.strip()
    for part in bare.removesuffix(" …").split(" … "):
        for place, each in enumerate(parted(part)):
            yield Piece(each, 0, 0, by, kind, item=item and place == 0)


def _files(lines: Iterable[str]) -> Iterator[File]:
    """The files of lists; how many more there were is passed over."""
    for each in listed_in("\n".join(lines)):
        state = _STATES[each.verb]
        did = "modified" if state == "restored" else state
        yield File(each.path, state, {did: 1}, to=each.to, by="peer" if each.by else "")
