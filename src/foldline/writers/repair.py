"""What a draft forgot, added by code from the ledger, and what it says of values that were replaced later, marked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from foldline.facts.ledger import Ledger
from foldline.facts.literals import alone
from foldline.facts.verify import audit
from foldline.messages import Value
from foldline.page.layout import HEADINGS, Line
from foldline.page.sections import boost_of, error_lines, request_lines, rule_lines, trail
from foldline.tokens.estimate import estimate

SPOKEN = 0.55
"""The share of a summary that the user's words and constraints may take."""

REQUESTS = 0.42
"""The share that the user's words alone may take."""

FREE = 0.6
"""The share of what a short draft leaves free that the user's words may take as well."""

SPARE = 0.12
"""The share that is left for the other facts which a draft may forget: files, errors, identifiers."""

_WIDTH = 300
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*$", re.MULTILINE)
_ROW = 8


class Repaired(Value, frozen=True, omit_defaults=True):
    """A draft with what it forgot added: the text, and the facts by name that it shows only because they were added."""

    text: str
    added: tuple[str, ...] = ()


def reserve(ledger: Ledger, tokens: int, focus: str = "") -> int:
    """Of a summary's tokens, those to be kept for the user's words and constraints, and for what may be forgotten."""
    spoken = sum(estimate(line.text) + 1 for line in _spoken(ledger, int(tokens * REQUESTS), focus))
    return min(spoken, int(tokens * SPOKEN)) + int(tokens * SPARE)


def repair(draft: str, ledger: Ledger, tokens: int, focus: str = "") -> Repaired:
    """The draft with the facts of the ledger that it does not show, as many as fit into `tokens`, the user's first."""
    text = marked(draft, ledger)
    missing = audit(ledger, (text,)).lost
    words = max(int(tokens * REQUESTS), int((tokens - estimate(text)) * FREE))
    text = _with(text, _spoken(ledger, words, focus), tokens)
    text = _with(text, _lines(ledger, focus, set(audit(ledger, (text,)).lost)), tokens)
    still = set(audit(ledger, (text,)).lost)
    return Repaired(text, tuple(name for name in missing if name not in still))


def beside(shown: str, ledger: Ledger, tokens: int, focus: str = "") -> Repaired:
    """What a summary that nobody may edit does not show, and what it says of replaced values, as a text of its own."""
    seen = _flat(shown)
    said = (line for line in _spoken(ledger, int(tokens * REQUESTS), focus) if _flat(line.text) not in seen)
    changed = zip(shown.split("\n"), marked(shown, ledger).split("\n"))
    stale = [Line("Critical context", f"- {after.lstrip('-* ')}") for before, after in changed if after != before]
    missing = audit(ledger, (shown,)).lost
    text = _with("", (*stale, *said), tokens)
    text = _with(text, _lines(ledger, focus, set(audit(ledger, (shown, text)).lost)), tokens)
    still = set(audit(ledger, (shown, text)).lost)
    return Repaired(text, tuple(name for name in missing if name not in still))


def _with(text: str, lines: Iterable[Line], tokens: int) -> str:
    """The text with those of the lines that it does not show already and that fit, each in its section."""
    room = tokens - estimate(text)
    flat = _flat(text)
    sections = {name for name, _ in _blocks(text)}
    added: list[Line] = []
    for line in lines:
        cost = estimate(line.text) + 1 + (0 if line.section in sections else estimate(line.section) + 4)
        if cost <= room and _flat(line.text) not in flat:
            room -= cost
            sections.add(line.section)
            added.append(line)
    return _inserted(text, added) if added else text


def marked(text: str, ledger: Ledger) -> str:
    """The text with each line marked that states a value which a later message replaced, or may have replaced."""
    return "\n".join(_marked(line, ledger) for line in text.split("\n"))


def _marked(line: str, ledger: Ledger) -> str:
    if not line.strip() or line.startswith("#"):
        return line
    if ledger.holds(line, -1):
        return line if line.startswith(">") else line + ledger.later(line, -1)
    for retired in reversed(ledger.retired):
        found = re.search(alone(re.escape(retired.value)), line, re.IGNORECASE)
        if found and not (retired.now and retired.now in line) and _about(retired.value, retired.now, line, ledger):
            return (
                f"{line} (corrected later: {retired.value} is now {retired.now})"
                if retired.now
                else f"{line} (corrected later)"
            )
    return line


def _about(value: str, now: str, line: str, ledger: Ledger) -> bool:
    """Whether a line means the value that was replaced: of short numbers only where it names their label."""
    if not (value.isdigit() and len(value) < 4):
        return True
    labels = {word for v in ledger.labelled if v.value == now for word in re.findall(r"\w{3,}", v.label.lower())}
    return not labels.isdisjoint(re.findall(r"\w{3,}", line.lower()))


def _lines(ledger: Ledger, focus: str, missing: set[str]) -> Iterator[Line]:
    """What else a summary should show, most important first: open errors, changed files, plans, identifiers."""
    boost = boost_of(focus)
    literals = {name.partition(": ")[2] for name in missing}
    for line in sorted(error_lines(ledger, _WIDTH, boost), key=lambda line: -line.rank):
        if line.text.startswith("- open"):
            yield line
    changed = [f for f in reversed(ledger.files) if f.changed]
    yield from (Line("Files", f"- {trail(f)}") for f in changed if f.path in literals)
    for todo in ledger.todos:
        if todo.status in ("pending", "in_progress"):
            yield Line("Next steps" if todo.status == "pending" else "In progress", f"- [ ] {todo.text}")
    bare = [name.removeprefix("identifier: ") for name in sorted(missing) if name.startswith("identifier: ")]
    bare.sort(key=lambda value: -next((i.weight for i in ledger.identifiers if i.value == value), 0.0))
    for i in range(0, len(bare), _ROW):
        yield Line("Identifiers", f"- {', '.join(bare[i : i + _ROW])}")


def _spoken(ledger: Ledger, words: int, focus: str) -> Iterator[Line]:
    """The user's words in so many tokens, newest first, and then the constraints by their weight."""
    boost = boost_of(focus)
    yield from request_lines(ledger, words, boost)
    yield from sorted(rule_lines(ledger, boost), key=lambda line: -line.rank)


def _blocks(text: str) -> list[tuple[str, str]]:
    """A text by its headings, each as the section that it means (empty for what stands before the first one)."""
    marks = [*_HEADING.finditer(text)]
    starts = [0, *(m.start() for m in marks), len(text)]
    names = ["", *(_section(m[1]) for m in marks)]
    return [(name, text[a:b].strip("\n")) for name, a, b in zip(names, starts, starts[1:])]


def _section(heading: str) -> str:
    plain = re.sub(r"[*_`:]|^\d+[.)]\s*", "", heading).strip().casefold()
    return next((name for name in HEADINGS if name.casefold() == plain), heading)


def _inserted(text: str, lines: Sequence[Line]) -> str:
    """The text with lines put at the end of their sections; a section that it lacks is put where it belongs."""
    blocks = [block for block in _blocks(text) if block[0] or block[1]]
    for section in HEADINGS:
        fresh = [line.text for line in lines if line.section == section]
        if not fresh:
            continue
        at = next((i for i, (name, _) in enumerate(blocks) if name == section), None)
        if at is None:
            at = _place(section, [name for name, _ in blocks])
            blocks.insert(at, (section, f"## {section}"))
        body = re.sub(r"\n[-*]?\s*none\.?\s*\Z", "", blocks[at][1], flags=re.IGNORECASE)
        blocks[at] = (section, _joined((body, *fresh)))
    return "\n\n".join(body for _, body in blocks)


def _joined(lines: Iterable[str]) -> str:
    return "\n".join(lines)


def _place(section: str, names: Sequence[str]) -> int:
    """Where a section belongs among others: before the first that comes later in the order of the headings."""
    order = {name: i for i, name in enumerate(HEADINGS)}
    return next((i for i, name in enumerate(names) if order.get(name, -1) > order[section]), len(names))


def _flat(text: str) -> str:
    return " ".join(re.sub(r"(?m)^[^\S\n]*(?:[-*>][^\S\n]*)+(?:\[[ x]\][^\S\n]*)?", "", text).split())
