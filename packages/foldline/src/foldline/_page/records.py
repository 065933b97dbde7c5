"""What a record says to who reads it: its texts, states, numbers and its own address, and not what only programs read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from foldline._clipping import cut
from foldline._facts.texts import LONGEST
from foldline._facts.types import Piece
from foldline._messages import replace
from foldline._page.choosing import BROUGHT
from foldline._page.task import ADDRESS
from foldline._patterns import pattern

LISTING, LISTED = 20, 5
"""Objects from which a list is one that a machine made of all that it sees, and how many of those with words are told of it."""

LONG_ADDRESS = 60
"""Characters that are told of an address amid words."""

PART = 120
"""Characters of an object that is told within the one that it is part of."""

NEXT = " | "
"""Between the items of a list in a line."""

SAID = 12
"""Characters of a value from which a call that has it as well says the same."""

_FIELD = re.compile(r"(?:^|, )(?=[\w$@.-]{1,60}: )")
_OPAQUE = re.compile(
    r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)(?:[0-9a-f]{12,})"
)
"""A value that only programs read: a uuid, a hash."""

_NUMBERED = re.compile(r"(?:\w*_)?id: \d+")
"""A number by which a program that printed it knows a thing, and which people do not use."""

_HUNK = re.compile(r"@@ -|diff --git ")
"""How a piece of a patch begins, which is told where it was made."""

_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S*")
_WHEN = r"(?:_?(?:at|on|date|time))?"
_LATER = r"(?:last_?)?(?:updated|modified|edited|archived|synced|indexed|fetched|viewed)"
_CHANGED = pattern(rf"(?i){_LATER}{_WHEN}")
_KEPT = pattern(rf"(?i)(?:{_LATER}|created|inserted){_WHEN}")
_WHO = pattern(
    r"(?i)(?:last_?)?(?:(?:created|inserted|updated|modified|edited|archived)_?by|creator|updater|modifier)(?:_?(?:id|name|user))?"
)
"""Keys of when a record was changed, of when it was made or changed, and by whom."""

_PAGING = pattern(
    r"(?i)has_?(?:next|prev\w*|more)\w*|(?:next|prev\w*|start|end)_?(?:page|cursor|token)\w*|page_?(?:info|size|token|number)?|per_?page|cursor|offset"
)
_OWN = pattern(r"(?i)(?:html_?|web_?)?(?:url|link)")
"""Keys of the place in a longer listing, and of a record's own address."""

_NAME = re.compile(r"(?:name|title): ")
_WORDS = re.compile(r"[^\W\d_]{2,}[,.]? +\S*[^\W\d_]{2,}|[\u3040-\u9fff\uac00-\ud7a3]{4}")


class _Told(NamedTuple):
    """An object of a record by its first piece, and the fields that are told of it."""

    first: Piece
    fields: list[str]

    @property
    def length(self) -> int:
        return len(self.first.under) + sum(len(field) + 2 for field in self.fields)

    def is_beside(self, other: _Told) -> bool:
        """Whether both are items of one list."""
        return bool(self.first.under) and (self.first.under, self.first.depth) == (other.first.under, other.first.depth)


def readable(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces, of each record those objects and fields of it that say something to a reader, each object in one piece where it
    is short; what a call brought stands below it as a list where that is more than one piece."""
    head = Piece("")
    for (by, kind, *call), some in groupby(pieces, key=lambda piece: (piece.by, piece.kind, piece.at, piece.part)):
        group = [*some]
        if by != "tool" or kind not in BROUGHT:
            head = group[0]
            yield from map(_made, group) if kind == "change" else group
            continue
        if any(piece.begins for piece in group):
            group = [*_record(group, head.text if [head.at, head.part] == call else "")]
        yield from (replace(piece, item=True) for piece in group if not _is_hunk(piece.text))


def _is_hunk(field: str) -> bool:
    """Whether a field of a record is a piece of a patch."""
    return _HUNK.match(field.partition(": ")[2]) is not None


def _record(lines: Sequence[Piece], call: str) -> Iterator[Piece]:
    """A record; what has nothing but a name in it stands with the object before it, a small object with the one that it is part
    of, and short ones of one list in a line."""
    kept: list[_Told] = []
    for first, fields in _few(_objects(lines, call)):
        if kept and first.under and len(fields) == 1 and _NAME.match(fields[0]):
            kept[-1].fields.append(_NAME.sub(f"{first.under}: ", fields[0]))
        else:
            kept.append(_Told(first, fields))
    for each in _in_a_line(_with_parts(kept)):
        yield from (replace(each.first, text=text, depth=0) for text in _joined(each.first.under, each.fields))


def _with_parts(objects: Sequence[_Told]) -> list[_Told]:
    """The objects, each with the small ones in it that are no items of a list."""
    kept: list[_Told] = []
    for before, each, behind in zip((None, *objects), objects, (*objects[1:], None)):
        listed = any(other and each.is_beside(other) for other in (before, behind))
        whole = next((other for other in reversed(kept) if other.first.depth < each.first.depth), None)
        part = f"{each.first.under}: {{{', '.join(each.fields)}}}"
        if whole and each.fields and not listed and len(part) <= PART and whole.length + len(part) < LONGEST:
            whole.fields.append(part)
        else:
            kept.append(each)
    return kept


def _in_a_line(objects: Iterable[_Told]) -> Iterator[_Told]:
    """The objects, of one list as many of the next ones together as a line has room for."""
    line: _Told | None = None
    for each in objects:
        text = ", ".join(each.fields)
        if line and text and line.fields and line.is_beside(each) and line.length + len(text) < LONGEST:
            used = line.first.used + each.first.used
            line = _Told(replace(line.first, used=used), [f"{', '.join(line.fields)}{NEXT}{text}"])
            continue
        if line:
            yield line
        line = each
    if line:
        yield line


def _objects(lines: Sequence[Piece], call: str) -> Iterator[tuple[Piece, list[str]]]:
    """The objects of a record, each by its first line and the fields of it that are told."""
    objects: list[list[Piece]] = []
    for line in lines:
        if line.begins or not objects:
            objects.append([])
        objects[-1].append(line)
    for each in objects:
        name = each[0].under
        fields = [] if _WHO.fullmatch(name) or _PAGING.fullmatch(name) else _telling([*_fields_of(each)], call)
        yield replace(each[0], used=sum(line.used for line in each)), fields


def _few(objects: Iterable[tuple[Piece, list[str]]]) -> Iterator[tuple[Piece, list[str]]]:
    """The objects, of a long listing the first ones with words and those that somebody wrote of."""
    every = [*objects]
    listed = Counter(first.under for first, _ in every)
    worded = [any(map(_WORDS.search, fields)) for _, fields in every]
    with_words = Counter(first.under for (first, _), has in zip(every, worded) if has)
    told: Counter[str] = Counter()
    for (first, fields), has in zip(every, worded):
        name = first.under
        if listed[name] < LISTING or with_words[name] < LISTED or first.used or (has and told[name] < LISTED):
            told[name] += has
            yield first, fields


def _fields_of(lines: Iterable[Piece]) -> Iterator[str]:
    """The fields of an object; what was cut says so, and ends with a word."""
    for line in lines:
        text = cut(line.text, LONGEST - 1) if len(line.text) >= LONGEST else line.text
        yield from _split(text.removeprefix(f"{line.under}: ") if line.under else text)


def _split(text: str) -> list[str]:
    return [*filter(None, _FIELD.split(text))]


def _telling(fields: Sequence[str], call: str = "") -> list[str]:
    """Those of the fields of one object that say something to a reader, or that a command asked for by their keys; what the `call`
    says itself is left out."""
    asked = call if call.startswith("`") else ""
    parted = [field.partition(": ") for field in fields]
    tracked = any(_CHANGED.fullmatch(key) and _TIME.fullmatch(value) for key, _, value in parted)
    # when a thing was ordered says something, when a record was made that is changed now and then does not
    kept = _KEPT if tracked else _CHANGED
    named = [f"{key}: {value}" for key, _, value in reversed(parted) if _OWN.fullmatch(key)]
    own = next(iter(named or [f"{key}: {value}" for key, _, value in parted if ADDRESS.fullmatch(value)]), "")

    def tells(field: str) -> bool:
        key, mark, value = field.partition(": ")
        if not mark or key in asked:
            return bool(mark) or not _OPAQUE.fullmatch(field)
        if (
            (asked and _NUMBERED.fullmatch(field))
            or _OPAQUE.fullmatch(value)
            or _HUNK.match(value)
            or _PAGING.fullmatch(key)
            or (len(value) >= SAID and value in call)
        ):
            return False
        if _TIME.fullmatch(value):
            return not kept.fullmatch(key)
        return field == own if ADDRESS.fullmatch(value) else not _WHO.fullmatch(key)

    return [ADDRESS.sub(_shortened, field) if field != own else field for field in fields if tells(field)]


def _shortened(address: re.Match[str]) -> str:
    return cut(address[0], LONG_ADDRESS)


def _joined(name: str, fields: Iterable[str]) -> Iterator[str]:
    """The fields of an object in as few lines as may be."""
    lines: list[str] = []
    for field in fields:
        if lines and len(lines[-1]) + len(field) < LONGEST - len(name):
            lines[-1] += f", {field}"
        else:
            lines.append(field)
    return (f"{name}: {line}" if name else line for line in lines)


def _made(piece: Piece) -> Piece:
    """A change with what it made, told by what a person names it by where the answer says that."""
    call, arrow, made = piece.text.rpartition(" → ")
    fields = _split(made)
    if not arrow or not all(": " in field for field in fields):
        return piece
    return replace(piece, text=f"{call}{arrow}{', '.join(_telling(fields) or fields[:1])}")
