"""Texts in pieces: messages by their sentences, records by their fields, outputs by the lines that matter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from typing import Any

import msgspec

from foldline._facts.literals import line_around
from foldline._facts.splitting import ends

LONGEST = 300
"""Characters of the longest sentence, line or message that is one piece."""

LEAST = 24
"""Characters of the shortest sentence that is a piece by itself where its line is long."""

FIELDS = 90
"""Characters of fields of a record that are one piece."""

MADE, MOST_MADE = 160, 4
"""Characters of prose, and fields of a record, that are told of what a call made."""

MOST_FIELDS = 60
MOST_LINES = 14
"""Pieces that are made of one record, and of one output."""

_HEADING = re.compile(r"#{1,6}\s+(.+?)\s*#*$|\*\*([^*]{2,60})\*\*:?$")
_MARKS = re.compile(r"^(?:[-*+•]\s+|>\s+)+")
_ITEM = re.compile(r"[-*+•]\s|\(?\d{1,2}[.)]\s|\|")
_ROW = re.compile(r"^\|(.+)\|$")
_RULE = re.compile(r"[\s|:=*_-]+$")
_FIGURE = re.compile(r"[~<>=≈±+-]?\s?[$€£]?\d")
_FENCE = re.compile(r"^\s*(```|~~~)")
_WHOLE = 120
"""Characters of a message that is told whole or not at all."""

_LEAD = 60
"""Characters of a line that leads in what follows it, and says nothing alone."""

_CODE = 200
"""Characters of a fenced block that is told whole; a longer one is code, which stands in a file."""


def sentences(text: str) -> Iterator[str]:
    """The sentences and lines of a text, verbatim but for the marks of lists; headings go before what they head."""
    return (each for _, each in headed(text))


def headed(text: str) -> Iterator[tuple[str, str]]:
    """The sentences and lines of a text, each with the heading or the line over the list that it stands under."""
    heading, block, fence = "", list[str](), ""
    under, whole = "", False
    columns: list[str] = []
    lines = text.splitlines()
    for line, below in zip(lines, (*lines[1:], "")):
        if found := _FENCE.match(line):
            if fence:
                if 0 < sum(map(len, block)) <= _CODE:
                    yield under, f"{heading}: {' ; '.join(block)}" if heading else " ; ".join(block)
                    heading = ""
                block, fence = [], ""
            else:
                fence = found[1]
            continue
        line = line.strip()
        if fence:
            block.append(line)
            continue
        if not line or _RULE.match(line):
            continue
        if (found := _HEADING.match(line)) or (len(line) <= _LEAD and line.endswith((":", "："))):
            heading = ((found[1] or found[2]) if found else line).strip(" .:：*-")
            under, whole = heading, found is not None
            continue
        if not (heading or whole or _ITEM.match(line)):
            under = ""
        line = _MARKS.sub("", line)
        if (row := _ROW.match(line)) and "|" in below and _RULE.match(below.strip()):
            columns = _cells(row)
            continue  # the names of columns say nothing without a row
        if row:
            line = " – ".join(_named(columns, _cells(row)))
        if heading and len(heading) <= 60:
            line = f"{heading}: {line}"
        heading = ""
        yield from ((under, each) for each in parted(line))


def _cells(row: re.Match[str]) -> list[str]:
    return [cell.strip() for cell in row[1].split("|")]


def _named(columns: Sequence[str], cells: Sequence[str]) -> Iterator[str]:
    """The cells of a row, before a figure the name of its column; the first names the row."""
    for i, cell in enumerate(cells):
        name = columns[i] if 0 < i < len(columns) and _FIGURE.match(cell) else ""
        yield from filter(None, (name, cell))


def said_in(words: str) -> list[str]:
    """What the user said in a message, by pieces: a short message whole, a longer one by its sentences."""
    return [words] if len(words) <= _WHOLE and "\n" not in words else list(sentences(words))


def parted(line: str) -> Iterator[str]:
    """A line whole, or its sentences where it is long; what is longer than any sentence is cut between words."""
    if len(line) <= _WHOLE:
        yield line
        return
    start = 0
    for end in ends(line):
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


def fields(record: Any) -> list[str]:
    """A record by a few fields at a time, those of one object together, as `key: value`."""
    found: list[str] = []
    _fields(record, "", found, 0)
    return found[:MOST_FIELDS]


def _fields(value: Any, name: str, found: list[str], depth: int) -> None:
    if len(found) >= MOST_FIELDS or depth > 6:
        return
    if isinstance(value, list):
        flat = [_scalar(each) for each in value if not isinstance(each, dict | list)]
        if flat:
            _joined(name, flat, found)
        for each in value:
            if isinstance(each, dict | list):
                _fields(each, name, found, depth + 1)
        return
    flat = [
        f"{key}: {told}" for key, each in value.items() if not isinstance(each, dict | list) and (told := _scalar(each))
    ]
    _joined(name, flat, found)
    for key, each in value.items():
        if isinstance(each, dict | list) and each:
            _fields(each, str(key)[:60], found, depth + 1)


def _joined(name: str, flat: Sequence[str], found: list[str]) -> None:
    head = f"{name}: " if name else ""
    line = ""
    for each in flat:
        if line and len(line) + len(each) > FIELDS:
            found.append(head + line)
            line = ""
        line = f"{line}, {each}" if line else each
    if line:
        found.append(head + line)


def _scalar(value: Any) -> str:
    if value is None or value == "":
        return ""
    text = "true" if value is True else "false" if value is False else str(value)
    return " ".join(text.split())[:LONGEST]


def lines_with(text: str, wanted: Set[str], own: Sequence[str]) -> Iterator[str]:
    """The lines of an output in which the literals `own`, found in it, stand that somebody wanted, each once."""
    told: set[str] = set()
    for word in own:
        if word in wanted and len(told) < MOST_LINES and not any(word in line for line in told):
            line = line_around(text, word, LONGEST // 2)
            if line and line not in told and not _is_code(line):
                told.add(line)
                yield line


def rims(text: str) -> Iterator[str]:
    """The first lines of an output and its last ones, where they are no code."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    yield from (line[:LONGEST] for line in (*lines[:2], *lines[2:][-3:]) if not _is_code(line))


_IDENTIFIER = re.compile(r"https?://\S+|#\d+|\b[A-Z][A-Z0-9]*-\d+\b|\b(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{5,}\b")
_NAMING = re.compile(
    r"(?i)(?:^|_|(?-i:(?<=[a-z])(?=[A-Z])))(?:id|ids|number|no|num|code|url|link|ref|reference|key|sha|iban)$"
)
_STANDING = re.compile(
    r"(?i)(?:^|_|(?-i:(?<=[a-z])(?=[A-Z])))(?:status|state|total|amount|price|balance|cost|fee|eta|due|version)$"
)
"""How keys end that name a thing, and that say how it stands."""

_CODE_LINE = re.compile(
    r"[{};,(\[\\]$|^\W*(?:const|let|var|import|export|type|func|function|def|class|if|for|return|public|private|fn|use|async|await|from|self)\b"
    r"|=>|^[\"'][^\"']+[\"']:|^\W*[\w.]+ = |^\w[\w.]*\(|[;{}].*[;{}]|^\s*\d+[-:|→\t]|^-->\s|^[+-]\s|^@@|^[-dl][rwxsStT-]{9}|^total \d+$|^(?:index [0-9a-f]+|diff --git|---|\+\+\+) "
)
"""A line of code says little without the lines around it, and stands in its file."""
_TAG = re.compile(r"</?[A-Za-z][^<>]*(?:>|$)")


def _is_code(line: str) -> bool:
    """Whether a line is one of code, or tags for the most part."""
    return _CODE_LINE.search(line) is not None or 2 * len(_TAG.sub("", line).strip()) < len(line.strip())


def figures(text: str) -> Iterator[str]:
    """The sentences of prose that say most: those with figures and names."""
    ranked = sorted(
        (
            (-len(_TELLING.findall(each)), i, each)
            for i, each in enumerate(sentences(text[:20_000]))
            if not _is_code(each)
        ),
        key=lambda item: item[0] / (len(item[2]) + 20),
    )
    yield from (each for _, _, each in sorted(ranked[:MOST_LINES], key=lambda item: item[1]))


_TELLING = re.compile(r"\d[\d.,:%/-]*|(?<=[a-z,;] )[A-Z]\w+")
