"""Texts in pieces: messages by their sentences, records by their fields, outputs by the lines that matter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import accumulate, pairwise
from textwrap import dedent
from typing import Any, NamedTuple

import msgspec

from foldline._clipping import cut
from foldline._facts.cues import asks, leans
from foldline._facts.literals import line_around
from foldline._facts.splitting import ends, glued
from foldline._facts.wrapping import unwrapped
from foldline._patterns import pattern

LONGEST = 300
"""Characters of the longest sentence, line or message that is one piece."""

LEAST = 24
"""Characters of the shortest sentence that is a piece by itself where its line is long."""

FIELDS = 90
"""Characters of fields of a record that are one piece."""

MADE, MOST_MADE = 160, 4
"""Characters of prose, and fields of a record, that are told of what a call made."""

MOST_FIELDS, MOST_LISTED = 60, 12
MOST_LINES = 14
"""Pieces that are made of one record, values of a list in it, and pieces of one output."""

_HEADING = re.compile(r"#{1,6}\s+(.+?)\s*#*$|\*\*([^*]{2,60}(?<![!！]))\*\*:?$")
_TITLE, _BULLET = re.compile(r"(?![a-z])[\w(][^.!?。！？;；,，:：|`]{1,57}[\w)]"), re.compile(r"[-*+•]\s")
"""A line without a sign of a sentence, which has a list right below it, and how that begins."""
_SAYS = re.compile(r"\*\*([^*:：]{1,60}(?:: |：)[^*]*\w[`)\]\"”]*)[^*\w]*\*\*$")
"""A line in bold that says what its own label stands for: "**Verdict: approve**" heads nothing."""
_MARKS = re.compile(r"^(?:[-*+•]\s+|>\s+)+")
_ITEM = re.compile(r"[-*+•]\s|\(?\d{1,2}[.)]\s|\|")
_COUNTED = re.compile(r"\*{0,2}1[.)] ")
"""How the first of several parts begins, all of which a heading is over."""

_ROW = re.compile(r"^\|(.+)\|$")
BAR = "\\|"
"""A bar within a cell."""

_BAR, _BREAK = re.compile(r"(?<!\\)\|"), re.compile(r"\s*<br\s*/?>\s*", re.IGNORECASE)
_RULE = re.compile(r"[\s|:=*_-]+$|::[\w-]+\{[^{}]*\}$")
"""A line without words, or one that a client draws something for: `::git-commit{…}`, as Codex writes it."""
_FIGURE = re.compile(r"[~<>=≈±+-]?\s?[$€£]?\d")
_FENCE = re.compile(r"^\s*(```|~~~|</?(?:source|sourcecode|code|codeblock|pre)>\s*$)")
"""Where a block of code begins or ends; in tags as aider has them where a file holds the signs."""
_WHOLE = 120
"""Characters of a message that is told whole or not at all."""

_LEAD = 60
"""Characters of a line that leads in what follows it, and says nothing alone."""

_LONG_LEAD = 200
"""Characters of a line that leads in a list."""

_TOGETHER = 2 * LONGEST
"""Characters of sentences that are told together because one leans on the other."""

_OPENED, _CLOSING = "{[(,;", "}])"
"""Behind and before which a line of code goes on."""

_EDITS = ("<<<<<<< ", "------- SEARCH")
_EDITED = pattern(
    r"^[ \t]*[\w./\\$()@\[\]-]+\.\w{1,5}[ \t]*\n\s*(?=(?:```|~~~)[^\n]*\n(?:<<<<<<< |------- SEARCH))", re.MULTILINE
)
"""The name of the file over a block that edits it."""

_NUMBERED = re.compile(r"\s*\(?\d{1,3}[.)]\s")
_BULLETS, _NUMBERS = "-", "1."
"""How the items of a list are marked: behind bullets a number begins another one."""

_CODE = 300
"""Characters of a fenced block that is told whole; of a longer one, which stands in a file, the head is."""

CODE, CODE_LINES = 400, 8
"""Characters and lines of one where it is told by its lines."""


class Passage(NamedTuple):
    """A sentence or line of a text, verbatim but for the marks of lists."""

    text: str
    under: str = ""
    """The heading or the line over the list that it stands under; the first one under it has it before its words."""
    item: bool = False
    """Whether a line of a list, or a row of a table, begins with it."""
    begins: bool = True
    """Whether a line begins with it."""
    code: bool = False
    """Whether it is a block of code, with what leads that in."""
    laid_out: str = ""
    """How it reads where there is room: a row of a table, all of what is begun with the passage, or a block of code, as they were
    written."""
    columns: str = ""
    """The names of the columns that stand over it as a row."""
    depth: int = 0
    """How many lists it lies in, an item in those around its own."""
    over: str = ""
    """The headings over that which it stands below, where they have no words of their own."""


def sentences(text: str) -> Iterator[str]:
    """The sentences and lines of a text; headings go before what they head."""
    return (each.text for each in _passages(text))


def passages(text: str) -> Iterator[Passage]:
    """The sentences and lines of a text in order, those that lean on what stands before them together with it."""
    held: Passage | None = None
    for each in _passages(text):
        if held and _goes_on(held, each):
            laid_out = f"{held.laid_out}\n{each.text}" if held.laid_out else ""
            held = held._replace(text=f"{held.text} {each.text}", laid_out=laid_out)
            continue
        if held:
            yield held
        held = each
    if held:
        yield held


def _goes_on(held: Passage, each: Passage) -> bool:
    """Whether a passage says nothing without the one before it, and stands with it, or ends a sentence that began before code."""
    if held.code and not (each.item or each.code) and each.text[0].islower():
        return len(held.text) + len(each.text) < _TOGETHER
    apart = each.item or each.code or (each.begins and (held.item or held.code)) or asks(each.text)
    return not apart and leans(each.text) and len(held.text) + len(each.text) < _TOGETHER


def _passages(text: str) -> Iterator[Passage]:
    """The sentences and lines of a text, the first below headings without words of their own with these."""
    passed = list[str]()
    text = _EDITED.sub("", text) if any(sign in text for sign in _EDITS) else text
    for each in _read(text, passed):
        yield each._replace(over="\n".join(passed)) if passed else each
        passed.clear()


def _read(text: str, passed: list[str]) -> Iterator[Passage]:
    """The same; what is `passed` are such headings before the next one."""
    heading, under, whole, lead = "", "", False, ""
    columns: list[str] = []
    nested, item, marked = Nesting(), False, ""
    for line, indent, below, next_line, opened, block in _lines(text):
        if opened:
            if code := _block(heading, opened, block):
                yield code._replace(under=under, item=item, depth=nested.depth if item else 0)
            heading, lead, item = "", "", False
            continue
        item = _ITEM.match(line) is not None
        inner = nested.entered(indent) if item else nested.left(indent)
        if said := _SAYS.match(line) if line.startswith("**") else None:
            line, under = said[1], ""
        found = None if said else _HEADING.match(line)
        leads, listed = _leading(line, below, next_line, item=item)
        if found or leads:
            if lead and not item:
                yield Passage(lead)
            label = not found or (found[2] and line.rstrip("*").endswith((":", "：")))
            inside = item and listed and nested.leads(line, next_line)
            above = f"{heading}: " if heading and whole and label and not inside else ""
            if heading and whole and not above and ": " in heading:
                yield Passage(heading)
            elif heading and (whole or inside) and not above:
                passed.append(heading)
            heading = above + _label((found[1] or found[2]) if found else line)
            amid = inside or (bool(under and not found and item) and not listed)
            under, whole, lead = under if amid else heading, found is not None, "" if found else above + line
            marked = marked if amid else ""
            continue
        numbered = item and _NUMBERED.match(line) is not None
        if not (heading or whole or item) or (numbered and marked == _BULLETS and not inner):
            under = ""
        marked = marked or (item and not inner and (_NUMBERS if numbered else _BULLETS)) or ""
        line = _MARKS.sub("", line)
        if (row := _ROW.match(line)) and "|" in below and _RULE.match(below.strip()):
            columns = _cells(row)
            continue  # the names of columns say nothing without a row
        columns = columns if row else []
        written = _as_row(_cells(row)) if row and columns else ""
        line = _flat(columns, _cells(row)) if row else line
        led = f"{heading}: " if heading and len(heading) <= _LEAD else ""
        if whole and heading and not (led or item):
            yield Passage(heading)
        heading = lead = ""
        counted = led if not item and _COUNTED.match(line) else ""
        passed += [counted.removesuffix(": ")] if counted else []
        for place, each in enumerate(parted(line)):
            if place == 0:
                laid_out, names = written or (each if counted else ""), _as_row(columns) if written else ""
                depth = nested.depth if item else nested.depth + 1
                yield Passage(f"{led}{each}", inner or under, item, laid_out=laid_out, columns=names, depth=depth)
            else:
                yield Passage(each, under, begins=False)
    if lead:
        yield Passage(lead)


class Nesting:
    """The lists that a line stands in, each by how far in it is and by the item that leads it in."""

    def __init__(self) -> None:
        self._lists: list[tuple[int, str]] = []
        self._led = ""

    @property
    def depth(self) -> int:
        """How many lists the innermost list lies in that is not over; -1 where all are."""
        return len(self._lists) - 1

    def entered(self, indent: int) -> str:
        """What leads in the list of an item that stands so far in; empty where no item does."""
        self.left(indent + 1)
        if not self._lists or self._lists[-1][0] < indent:
            self._lists.append((indent, self._led or (self._lists[-1][1] if self._lists else "")))
        self._led = ""
        return self._lists[-1][1]

    def left(self, indent: int) -> str:
        """Ends the lists that a line so far in does not stand in."""
        while self._lists and self._lists[-1][0] >= indent:
            self._lists.pop()
        return ""

    def leads(self, line: str, following: str) -> bool:
        """Whether the newest item leads in a list within its own: one further in."""
        inside = len(following) - len(following.lstrip()) > self._lists[-1][0]
        self._led = _label(line) if inside else ""
        return inside


def _leading(line: str, below: str, next_line: str, *, item: bool) -> tuple[bool, bool]:
    """Whether a line leads in what follows it, and whether that is a list."""
    titles = not item and _TITLE.fullmatch(line) is not None and _BULLET.match(below.lstrip()) is not None
    leads = titles or line.endswith((":", "："))
    listed = leads and _ITEM.match(next_line.lstrip()) is not None
    return leads and len(line) <= (_LONG_LEAD if listed else _LEAD), listed


def _label(line: str) -> str:
    """What leads something in, without the signs around it."""
    return _MARKS.sub("", line).strip(" .:：*-")


class _Line(NamedTuple):
    """A line that says something, with the line below it and the next one that is not blank; or a fenced block."""

    text: str
    indent: int = 0
    below: str = ""
    following: str = ""
    """The next line with its blanks in front."""
    opened: str = ""
    """How the block begins; empty for a line."""
    block: Sequence[str] = ()


def _lines(text: str) -> Iterator[_Line]:
    """The lines of a text that say something, and its fenced blocks that are closed."""
    lines, opened, block = unwrapped(text.splitlines()), "", list[str]()
    for line, below, next_line in zip(lines, (*lines[1:], ""), _next_lines(lines)):
        if _FENCE.match(line):
            if opened:
                yield _Line("", opened=opened, block=block)
            opened, block = "" if opened else line.strip(), []
        elif opened:
            block.append(line)
        elif (said := line.strip()) and not _RULE.match(said):
            *before, said = _lead_apart(said, next_line)
            indent = len(line) - len(line.lstrip())
            yield from (_Line(each, indent, said, said) for each in before)
            yield _Line(said, indent, below, next_line)


def _lead_apart(line: str, following: str) -> list[str]:
    """A line; of one that leads in the list behind it and tells something before it asks, the question by itself, and of one that
    is too long to lead the last sentence."""
    if not (line.endswith((":", "：")) and not _ITEM.match(line) and _ITEM.match(following.lstrip())):
        return [line]
    places = [0, *ends(line)] if len(line) > _LONG_LEAD or "?" in line or "？" in line else [0, 0]
    asking = next((start for start, end in pairwise(places) if asks(line[start:end])), 0)
    end = asking or (places[-2] if len(line) > _LONG_LEAD else 0)
    return [line[:end], line[end:].strip()] if end else [line]


def _next_lines(lines: Sequence[str]) -> list[str]:
    """The next line that is not blank, behind each line."""
    found, last = [], ""
    for line in reversed(lines):
        found.append(last)
        last = line.rstrip() or last
    return found[::-1]


def _head_of(block: Sequence[str]) -> str:
    """A fenced block in a line, of a long one as many of its first lines as say what it is; of an edit by search and replace,
    which stands in its file, nothing."""
    if any(line.startswith(_EDITS) for line in block):
        return ""
    if block and len(block[0]) > _CODE:
        return f"`{cut(block[0], _CODE)}`" if "`" not in block[0] else cut(block[0], _CODE)
    fitting = sum(1 for length in accumulate(map(len, block)) if length <= _CODE)
    return coded(block[:fitting]) + (" …" if 0 < fitting < len(block) else "")


def _block(heading: str, opened: str, block: Sequence[str]) -> Passage | None:
    """A fenced block with what leads it in; None where it says nothing."""
    code = _head_of([line.strip() for line in block if line.strip()])
    text = f"{heading}: {code}" if heading else code
    return Passage(text, code=True, laid_out=_laid_out(heading, opened, block)) if code else None


def _laid_out(heading: str, opened: str, block: Sequence[str]) -> str:
    """A fenced block of several lines as it was written, with what leads it in, of a longer one the first lines; empty for one
    line."""
    lines = dedent("\n".join(block)).strip("\n").splitlines()
    if len(lines) < 2 or opened[0] not in "`~":
        return ""
    fitting = sum(1 for end in accumulate(len(line) + 1 for line in lines[:CODE_LINES]) if end <= CODE)
    shown = [*lines[:fitting], *(["…"] if fitting < len(lines) else [])]
    return "\n".join((*([f"{heading}:"] if heading else []), opened, *shown, opened[:3])) if fitting else ""


def coded(lines: Sequence[str]) -> str:
    """A short block of code in a line, marked as code where it had several; none of its lines is blank."""
    code = lines[0] if lines else ""
    for before, line in pairwise(lines):
        goes_on = before[-1] in _OPENED or line[0] in _CLOSING
        code = f"{code[:-1].rstrip()} {line}" if before[-1] == "\\" else f"{code}{' ' if goes_on else ' ; '}{line}"
    return f"`{code}`" if len(lines) > 1 and "`" not in code else code


def _cells(row: re.Match[str]) -> list[str]:
    return [_BREAK.sub(" / ", cell.strip()).replace("\\|", "|") for cell in _BAR.split(row[1])]


def _flat(columns: Sequence[str], cells: Sequence[str]) -> str:
    """A row of a table by its cells, before a figure the name of its column."""
    names = [*columns, *("" for _ in cells)]
    told = (each for i, cell in enumerate(cells) for each in (names[i] if i and _FIGURE.match(cell) else "", cell))
    return " – ".join(filter(None, told))


def _as_row(cells: Sequence[str]) -> str:
    """Cells as a row of a table; where they are too long together, of long ones the beginnings."""
    fits = sum(map(len, cells)) <= _TOGETHER
    most = _TOGETHER if fits else max(_TOGETHER // len(cells), LEAST)
    return f"| {' | '.join(cut(cell, most).replace('|', BAR) or '-' for cell in cells)} |"


def said_in(words: str) -> list[Passage]:
    """What the user said in a message, by pieces: a short message whole, a longer one by its sentences."""
    return [Passage(words)] if len(words) <= _WHOLE and "\n" not in words else list(_passages(words))


def parted(line: str) -> Iterator[str]:
    """A line whole, or its sentences where it is long; what is longer than any sentence is cut between words."""
    if len(line) <= _WHOLE:
        yield line
        return
    start = 0
    for end in sorted({*ends(line), *glued(line)}):
        if end - start >= LEAST or end == len(line):
            yield from _cut(line[start:end].strip())
            start = end


def _cut(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > LONGEST:
        space = text.rfind(" ", start + LONGEST // 2, start + LONGEST)
        end = space if space > 0 else start + LONGEST
        yield text[start:end]
        start = end
        while text[start : start + 1].isspace():
            start += 1
    if start < len(text):
        yield text[start:]


def record_of(text: str) -> Any:
    """The object or list that a text is as JSON; None where it is none."""
    head = text[:64].lstrip()[:1]
    if head not in ("{", "[") or len(text) > 400_000:
        return None
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def made(answer: str, known: str) -> str:
    """The identifiers, states and amounts in an answer that were not `known` before: of prose the sentence with the first."""
    record = record_of(answer)
    while isinstance(record, dict) and len(record) == 1 and isinstance(inner := next(iter(record.values())), dict):
        record = inner
    if record is None:
        new = (each for each in sentences(answer[:4_000]) if any(i[0] not in known for i in _IDENTIFIER.finditer(each)))
        return next(new, "")[:MADE]
    told: list[str] = []
    for kind in (_NAMING, _STANDING):
        for key, value in record.items() if isinstance(record, dict) else ():
            text = "" if isinstance(value, dict | list | bool) else _scalar(value)
            if 0 < len(text) <= FIELDS and kind.search(key) and text not in known and len(told) < MOST_MADE:
                told.append(f"{key}: {text}")
    return ", ".join(told)[: 2 * MADE]


def fields(record: Any) -> list[Passage]:
    """A record by a few fields at a time, those of one object together, as `key: value`, below the key that the object stands
    under and as deep as it stands; each object begins with the first of them."""
    found: list[Passage] = []
    _fields(record, "", found, 0)
    return found[:MOST_FIELDS]


def _fields(value: Any, name: str, found: list[Passage], depth: int) -> None:
    if len(found) >= MOST_FIELDS or depth > 6:
        return
    if isinstance(value, list):
        flat = [_scalar(each) for each in value if not isinstance(each, dict | list)]
        if flat:
            found += _joined(name, [*flat[:MOST_LISTED], *_more(flat)], depth)
        for each in value:
            if isinstance(each, dict | list):
                _fields(each, name, found, depth + 1)
        return
    flat = [
        f"{key}: {told}" for key, each in value.items() if not isinstance(each, dict | list) and (told := _scalar(each))
    ]
    found += _joined(name, flat, depth)
    for key, each in value.items():
        if isinstance(each, dict | list) and each:
            _fields(each, str(key)[:60], found, depth + 1)


def _more(flat: Sequence[str]) -> Iterator[str]:
    """How many values of a list are left out."""
    if len(flat) > MOST_LISTED:
        yield f"… and {len(flat) - MOST_LISTED} more"


def _joined(name: str, flat: Sequence[str], depth: int) -> Iterator[Passage]:
    for i, line in enumerate(beside(flat)):
        yield Passage(f"{name}: {line}" if name else line, name, begins=i == 0, depth=depth)


def beside(flat: Iterable[str]) -> list[str]:
    """Fields as lines of a few, as many as make one piece."""
    lines: list[str] = []
    for each in flat:
        if lines and len(lines[-1]) + len(each) <= FIELDS:
            lines[-1] += f", {each}"
        else:
            lines.append(each)
    return lines


def _scalar(value: Any) -> str:
    if value is None or value == "":
        return ""
    text = "true" if value is True else "false" if value is False else str(value)
    text = _UNSEEN.sub(" ", text) if "<!--" in text else text
    return "" if _OPAQUE.fullmatch(text) else " ".join(text.split())[:LONGEST]


def lines_with(text: str, wanted: Set[str], own: Sequence[str]) -> Iterator[str]:
    """The lines of an output in which the literals `own`, found in it, stand that somebody wanted, each once."""
    told: set[str] = set()
    for word in own:
        if word in wanted and len(told) < MOST_LINES and not any(word in line for line in told):
            line = line_around(text, word, LONGEST // 2)
            if line and line not in told and not is_code(line):
                told.add(line)
                yield line


def rims(text: str) -> Iterator[str]:
    """The first lines of an output and its last ones, where they are no code."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    yield from (line[:LONGEST] for line in (*lines[:2], *lines[2:][-3:]) if not is_code(line))


_IDENTIFIER = re.compile(r"https?://\S+|#\d+|\b[A-Z][A-Z0-9]*-\d+\b|\b(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{5,}\b")
_NAMING = pattern(
    r"(?i)(?:^|_|(?-i:(?<=[a-z])(?=[A-Z])))(?:id|ids|number|no|num|code|url|link|ref|reference|key|sha|iban)$"
)
_STANDING = pattern(
    r"(?i)(?:^|_|(?-i:(?<=[a-z])(?=[A-Z])))(?:status|state|total|amount|price|balance|cost|fee|eta|due|version)$"
)
"""How keys end that name a thing, and that say how it stands."""

_UNSEEN = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
"""What a page hides from who reads it."""

_OPAQUE = pattern(r"(?=\S*[a-z]\S*[a-z])(?=\S*[A-Z]\S*[A-Z])(?=\S*\d)[A-Za-z0-9_-]{14,}={0,2}")
"""A value that only programs read: the id of a node, a token."""

_CODE_ENDS = ("{", "}", ";", ",", "(", "[", "\\")
_CODE_SIGNS = re.compile(r"[;{}].*[;{}]")
_CODE_LINE = re.compile(
    r"\W*(?:const|let|var|import|export|type|func|function|def|class|if|for|return|public|private|fn|use|async|await|from|self)\b"
    r"|[\"'][^\"']+[\"']:|\W*[\w.]+ = |\w[\w.:]*\(|\s*\d+[-:|→\t]|-->\s|[+-](?!\d)|@@|[-dl][rwxsStT-]{9}|total \d+$|(?:index [0-9a-f]+|diff --git|---|\+\+\+) "
)
"""How a line of code ends, what it holds, and how it begins: it says little without the lines around it, and stands in its file."""
_TAG = re.compile(r"</?[A-Za-z][^<>]*(?:>|$)")


def is_code(line: str) -> bool:
    """Whether a line is one of code, or tags for the most part."""
    if line.endswith(_CODE_ENDS) or "=>" in line or _CODE_LINE.match(line) or _CODE_SIGNS.search(line):
        return True
    return "<" in line and 2 * len(_TAG.sub("", line).strip()) < len(line.strip())


def figures(text: str) -> Iterator[str]:
    """The sentences of prose that say most: those with figures and names."""
    ranked = sorted(
        (
            (-len(_TELLING.findall(each)), i, each)
            for i, each in enumerate(sentences(text[:20_000]))
            if not is_code(each)
        ),
        key=lambda item: item[0] / (len(item[2]) + 20),
    )
    yield from (each for _, _, each in sorted(ranked[:MOST_LINES], key=lambda item: item[1]))


_TELLING = pattern(r"\d[\d.,:%/-]*|(?<=[a-z,;] )[A-Z]\w+")
