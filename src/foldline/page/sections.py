"""The lines that a ledger has to say, section by section, each quoted or cut and never paraphrased."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate

from foldline.facts.ledger import Ledger
from foldline.facts.literals import literals
from foldline.facts.types import File, Note, Request
from foldline.page.layout import Line, shares_of, shorten
from foldline.tokens.estimate import estimate

Boost = Callable[[str], float]

_LOOKS = re.compile(
    r"^(?:cd \S+ *(?:&&|;) *)*(?:cat|ls|head|tail|sed -n|grep|rg|find|pwd|wc|echo|which|tree|nl|git (?:status|log|diff|show|branch|grep|blame)|"
    r"sleep|jq|awk|less|stat|file|du|df|ps|env|type|man)\b"
)
_PASSING = re.compile(r"^/tmp/|(?:/|\.log)$")
_HARD = re.compile(
    r"root cause|decided|decision|because|the (?:issue|problem|bug|fix) (?:is|was)|turns out|원인|결정|原因|决定|ため",
    re.IGNORECASE,
)


def boost_of(focus: str) -> Boost:
    """How much a text matches what the user asks the summary to keep."""
    words = set(re.findall(r"[\w./-]{3,}|[\u3040-\u9fff\uac00-\ud7af]{2,}", focus.lower()))
    words -= {"the", "and", "keep", "focus", "summarize", "only", "about", "all", "for", "with", "everything"}
    if not words:
        return lambda text: 0.0
    return lambda text: sum(2.0 for word in words if word in text.lower())


def request_lines(ledger: Ledger, tokens: int, boost: Boost) -> Iterator[Line]:
    """The task, and the user's messages newest first; what was corrected later is marked so."""
    requests = list(reversed(ledger.requests))
    task = _task(ledger)
    rules = {c.text for c in ledger.constraints if ledger.holds(c.text, c.at, "user")}
    shown = [r for i, r in enumerate(requests) if i == 0 or r == task or r.text not in rules]
    if task is not None and len(shown) > 1:
        shown.remove(task)
        shown.insert(0, task)
    shown[1:] = sorted(shown[1:], key=lambda r: (-boost(r.text), -r.at)) if boost("") or len(shown) > 2 else shown[1:]
    for i, (request, room) in enumerate(
        zip(shown, shares_of([r.text for r in shown], tokens, max(tokens * 3 // 5, 150)))
    ):
        section = "Goal" if request == task else "User requests"
        yield Line(section, quote(ledger, request, room), -request.at, 1000.0 - i)


def _task(ledger: Ledger) -> Request | None:
    """The message that set the task: the first of some length, where no earlier summary states the goal."""
    if any(n.kind == "goal" for n in ledger.notes):
        return None
    firsts = ledger.requests[:8]
    return next(
        (r for r in firsts if len(r.text) >= 25 or len(r.text.encode("utf-8", "replace")) >= 40),
        firsts[0] if firsts else None,
    )


def quote(ledger: Ledger, request: Request, tokens: int) -> str:
    """A request as a quotation of at most some tokens: its head, a note of what is cut, its tail."""
    text = re.sub(r"\n\s*\n+", "\n", request.text)
    if estimate(text) + 2 > tokens:
        size = request.size or len(request.text)
        room = max(tokens - 14, 8)
        head = shorten(text, room * 2 // 3 if room > 60 else room).removesuffix("…")
        tail = shorten(text[::-1], room // 3).removesuffix("…")[::-1] if room > 60 else ""
        text = (
            f"{head.rstrip()} […{size - len(head) - len(tail):,} of {size:,} characters cut…] {tail.lstrip()}".rstrip()
        )
    lines = [
        line if ledger.holds(line, request.at, "user") else f"{line} (corrected later)" for line in text.split("\n")
    ]
    return "\n".join("> " + line for line in lines)


OWN = 1e4
"""The rank from which on a constraint is the user's own, and not the project's."""


def rule_lines(ledger: Ledger, boost: Boost) -> Iterator[Line]:
    """The constraints that still stand, the user's before the project's."""
    whole = {ledger.requests[-1].text} if ledger.requests else set()
    if (task := _task(ledger)) is not None:
        whole.add(task.text)
    for c in ledger.constraints:
        if c.text not in whole and ledger.holds(c.text, c.at, "user"):
            rank = {"user": 2.0, "summary": 1.5, "project": 0.0}[c.by] * OWN + c.at + boost(c.text) * OWN
            text = f"- {c.text}{ledger.later(c.text, c.at)}"
            yield Line("Constraints", text, c.at + (1e9 if c.by == "project" else 0), rank)


def progress_lines(ledger: Ledger, width: int, boost: Boost) -> Iterator[Line]:
    """What is done, what is being done and what comes next, from plans and from the assistant's statements."""
    for i, todo in enumerate(ledger.todos):
        section = {"done": "Done", "in_progress": "In progress", "pending": "Next steps"}.get(todo.status)
        if section:
            mark = "x" if todo.status == "done" else " "
            rank = 5e5 + (i if section == "Done" else -i) + (1e6 if section != "Done" else 0)
            yield Line(section, f"- [{mark}] {todo.text}", -1000.0 + i, rank)
    notes = [n for n in ledger.notes if ledger.holds(n.text, n.at)]
    newest = max((n.at for n in notes), default=0)
    for n in notes:
        text = _bullet(n, ledger, width)
        if n.kind == "goal":
            yield Line("Goal", text, n.at, 500.0 + boost(n.text))
        elif n.kind == "done":
            yield Line("Done", text, n.at, n.at + boost(n.text) * 1e4 + (100 if n.text.startswith("git commit") else 0))
        elif n.kind == "decision" and n.at < newest:
            telling = min(len(literals(n.text)), 4) * 0.04 + (0.25 if _HARD.search(n.text) else 0.0)
            yield Line("Decisions", text, n.at, n.at / (ledger.end or 1) + telling + boost(n.text))
        elif n.kind == "decision":
            yield Line("In progress", text, n.at, 1e4 + n.at)
        elif n.kind == "context":
            yield Line("Critical context", text, n.at, 2.0 + boost(n.text))
    for n in [n for n in notes if n.kind == "state"][-4:]:
        yield Line("In progress", _bullet(n, ledger, width), n.at, n.at)
    yield from _next_lines(ledger, notes, width)


def _next_lines(ledger: Ledger, notes: Sequence[Note], width: int) -> Iterator[Line]:
    """What was announced last, unless two requests have come since."""
    since = ledger.requests[-2].at if len(ledger.requests) > 1 else -1
    announced = [n for n in notes if n.kind == "next" and n.at >= since]
    times = sorted({n.at for n in announced})[-2:]
    for n in announced:
        if n.at in times:
            yield Line("Next steps", _bullet(n, ledger, width), n.at, n.at)


def _bullet(note: Note, ledger: Ledger, width: int) -> str:
    return f"- {cut(note.text, width)}{ledger.later(note.text, note.at)}"


def error_lines(ledger: Ledger, width: int, boost: Boost) -> Iterator[Line]:
    """Errors still open, newest first, then those that were resolved."""
    for fault in ledger.faults:
        state = "resolved" if fault.resolved else "open"
        source = f" (from `{cut(fault.source, 80)}`)" if fault.source else ""
        rank = (
            fault.seen
            + (0 if fault.resolved else 1e6)
            + boost(fault.text) * 1e6
            - (5e5 if _LOOKS.match(fault.source) else 0)
        )
        if ledger.holds(fault.text, fault.seen):
            yield Line("Errors", f"- {state}: {cut(fault.text, width)}{source}", -fault.seen, rank)


def file_lines(ledger: Ledger, tokens: float, boost: Boost) -> Iterator[Line]:
    """The file trail: each changed file by its full path, then those only read, by directory where they are many."""
    changed = sorted((f for f in ledger.files if f.changed), key=lambda f: _file_rank(f, boost), reverse=True)
    costs = [estimate(f"- {trail(f)}") + 1 for f in changed]
    room = tokens if sum(costs) <= tokens else tokens * 0.55
    whole = sum(spent <= room for spent in accumulate(costs))
    for f in changed[:whole]:
        yield Line("Files", f"- {trail(f)}", -f.seen, _file_rank(f, boost))
    yield from _grouped((f"{f.state} in", f.path) for f in changed[whole:])
    read = sorted((f for f in ledger.files if not f.changed), key=lambda f: (-boost(f.path), -f.seen))
    spent = sum(costs)
    full = 0
    for f in read:
        spent += estimate(f.path) + 2
        if spent > tokens:
            break
        full += 1
    for i in range(0, full, 4):
        paths = ", ".join(f.path for f in read[i : min(i + 4, full)])
        yield Line("Files", f"- read: {paths}", 1e6 + i, 1e5 - i)
    yield from _grouped(("read in", f.path) for f in read[full:])


def _file_rank(file: File, boost: Boost) -> float:
    return 1e6 + file.seen + boost(file.path) * 1e6 - (5e5 if _PASSING.search(file.path) else 0)


def _grouped(files: Iterable[tuple[str, str]]) -> Iterator[Line]:
    """Files by what was done to them and where, so that each costs little more than its name."""
    groups: dict[tuple[str, str], list[str]] = {}
    for verb, path in files:
        folder, _, name = path.rstrip("/").rpartition("/")
        groups.setdefault((verb, folder), []).append(name + "/" * path.endswith("/"))
    for i, ((verb, folder), names) in enumerate(groups.items()):
        rank = 4e4 if verb == "read in" else 3e5
        for j in range(0, len(names), 12):
            joined = ", ".join(names[j : j + 12])
            text = f"- {verb} {folder}/: {joined}" if folder else f"- {verb.removesuffix(' in')}: {joined}"
            yield Line("Files", text, 2e6 + i + (1e6 if verb == "read in" else 0), rank - i - j)


def trail(file: File) -> str:
    """A file with its state and what led to it."""
    moved = f" → {file.to}" if file.to else ""
    before = [
        f"{verb}{f' {n}×' if n > 1 else ''}" for verb, n in file.actions.items() if verb not in ("read", file.state)
    ]
    times = file.actions.get(file.state, 1)
    again = f" {times}×" if times > 1 else ""
    return f"{file.state}{again}: {file.path}{moved}" + (f" (was {', '.join(before)})" if before else "")


def command_lines(ledger: Ledger, width: int, boost: Boost) -> Iterator[Line]:
    """Commands and how their newest run ended; mere looks come last."""
    for c in ledger.commands:
        if not ledger.holds(c.text, c.seen):
            continue
        looks = _LOOKS.match(c.text) is not None
        end = "; ".join(filter(None, (c.outcome, cut(c.note, 100))))
        again = f" ({c.count}×)" if c.count > 1 else ""
        rank = (
            c.seen
            + min(c.count, 10) * 5
            + (100 if c.note or c.outcome not in ("", "ok") else 0)
            - (1e6 if looks else 0)
            + boost(c.text) * 1e6
        )
        yield Line("Commands", f"- `{cut(c.text, width)}`{again}" + (f" → {end}" if end else ""), c.seen, rank)


def bulletless(line: str) -> str:
    """A line without the bullet or number that it began with."""
    return re.sub(r"^(?:[-*+•>#|]+\s+|\d{1,4}[.):|→]\s*)+", "", line)


def cut(text: str, width: int) -> str:
    """A text of at most `width` characters, cut between words where it has any."""
    if len(text) <= width:
        return text
    head = text[: width - 1]
    space = head.rfind(" ")
    return (head[:space] if space > width * 2 // 3 else head).rstrip() + "…"
