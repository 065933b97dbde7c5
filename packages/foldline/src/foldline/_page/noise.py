"""What of the outputs of tools reads as noise: objects of a program amid words, what has no words at all, measures without the names
of what was measured, and what the web brought that led to nothing."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator

from foldline._facts.types import Facts, Piece
from foldline._page.choosing import BROUGHT

_OBJECT = re.compile(r'\w":\s?["{\[\d]|\w":(?:true|false|null)')
"""A key of an object with how its value begins, as a program writes both."""

_VALUE = re.compile(r"[^\W\d_][\w .,%/()-]{1,48}[:=→] ?\S|[\u3040-\u9fff\uac00-\ud7a3]{3}")
_WORD, _WORDS = re.compile(r"[^\W\d_]{3,}"), 3
"""A value with its name, and how many words a line of an output has that says something without."""

_MEASURE = re.compile(r"[^\W\d](?:[^\W\d]|[ -]){0,40}: [-\d][^:]*(?:, [^\W\d][^:]*: [-\d][^:]*)*")
"""What was measured, by no name of what it was measured of."""

_NUMBER, ALIKE = re.compile(r"\d+(?:[.,]\d+)*"), 3
"""Lines from which many say the same but for their numbers."""

_WEB = re.compile(r"[Ww]eb_?(?:[Ff]etch|[Ss]earch)\b")
"""A call that reads the web."""


_ALWAYS = re.compile(
    r"\d+ packages? (?:is|are) looking for funding|added \d+ packages?\b.*|run `npm (?:fund|audit)\b.*"
    r"|mode +lastwritetime +length +name|(?:directory|verzeichnis|répertoire|directorio|diretório|каталог): +[a-z]:\\.*|d(?=\S?-\S*-)[arhsl-]{4,5} +\d.*"
    r"|(?:date|server|connection|keep-alive|vary|etag|last-modified|content-(?:type|length)): .*",
    re.IGNORECASE,
)
"""What npm says of any installation, PowerShell of any folder, and a server before any answer."""


_NAMES = re.compile(r"(?:\w+__)?(?:set|change|update)_(?:(?:(?:chat|conversation|session|thread)_)?title|phase)\b")
"""A call that only gives the conversation, or a stage of it, a name."""


def of_web(call: Piece) -> bool:
    """Whether a line tells of a call that reads the web."""
    return _WEB.match(call.text) is not None


def noise(facts: Facts) -> set[int]:
    """The places of parts of objects amid the words of an output, of lines without words or names, and of what the web brought that
    the agent took nothing of before it changed something for the same request; what a call failed with is told."""
    heads = {(p.at, p.part): p for p in facts.pieces if p.kind in ("call", "change", "failure")}
    asked = sorted(request.newest for request in facts.requests)
    changed = {bisect_right(asked, p.at): p.at for p in facts.pieces if p.kind == "change"}

    def is_over(piece: Piece, call: Piece) -> bool:
        read = of_web(call) and not piece.used
        return read and changed.get(bisect_right(asked, piece.at), -1) > piece.at

    brought = [*_brought(facts, heads)]
    named = {i for i, p in enumerate(facts.pieces) if p.by == "tool" and _NAMES.match(p.text)}
    return (
        named
        | {
            i
            for i, piece, call in brought
            if is_over(piece, call) or (not piece.begins and _OBJECT.search(piece.text)) or _is_mute(piece)
        }
        | _nameless([(i, piece) for i, piece, _ in brought if piece.kind == "excerpt"])
    )


def _nameless(excerpts: list[tuple[int, Piece]]) -> set[int]:
    """The places of measures that an output has of many things, whose names stand in other lines."""
    measures = [
        (i, (piece.at, piece.part, _NUMBER.sub("0", piece.text)))
        for i, piece in excerpts
        if _MEASURE.fullmatch(piece.text)
    ]
    times = Counter(alike for _, alike in measures)
    return {i for i, alike in measures if times[alike] >= ALIKE}


def _is_mute(piece: Piece) -> bool:
    if piece.kind == "excerpt" and _ALWAYS.fullmatch(piece.text):
        return True
    lines = piece.kind == "excerpt" and not piece.begins
    return lines and len(_WORD.findall(piece.text)) < _WORDS and not _VALUE.search(piece.text)


def _brought(facts: Facts, heads: dict[tuple[int, int], Piece]) -> Iterator[tuple[int, Piece, Piece]]:
    """What calls brought that did not fail, each with its place and the line of its call."""
    for i, piece in enumerate(facts.pieces):
        call = heads.get((piece.at, piece.part))
        if piece.by == "tool" and piece.kind in BROUGHT and call is not None and call.kind != "failure":
            yield i, piece, call
