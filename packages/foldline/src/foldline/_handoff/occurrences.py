"""Where secrets stand in a text: whole or in part, in any case, and as addresses, shells, JSON and HTML write them."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from math import ceil

SHORTEST_PART, LONGEST_PART, PART = 6, 16, 0.7
"""Characters of a part that gives a secret away: this share of it, and never fewer or more than these."""

NEARLY, ODD = 0.85, 0.15
"""The share of a secret that is nearly all of it, and the share of digits, signs and sudden capitals by which less of it is
no word: keys drawn by lot have a third, joined words a tenth."""

SHORTEST_NAME = 8
"""Letters from which a secret goes without the signs around it, too: `swordfish` of `swordfish!`."""

SHORTEST_LINE = 24
"""Characters of a line of a private key that may give it away; the lines about it are shorter."""

_WRITTEN = re.compile(r"(?:%[0-9a-fA-F]{2})+|\\+u[0-9a-fA-F]{4}|\\+(.)|&(?:#?\w{2,6});|.", re.DOTALL)
_PLAIN = re.compile(r"[^%\\&]*")
_RUN = re.compile(r"\S+")
_NAMING = re.compile(r"pass(?:word|wort|phrase|code)s?|secrets?|credentials?|changeme|username")

Span = tuple[int, int]


class Occurrences:
    """Secrets by what they are, looked for in texts."""

    def __init__(self, kinds: Mapping[str, str]) -> None:
        self._kinds: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._parts: dict[int, dict[str, tuple[str, int]]] = {}
        for secret, kind in kinds.items():
            for form in {secret, _as_meant(secret)[0]}:
                self._kinds.setdefault(_small(form), kind)
                self._note_parts(form, kind)
                name = re.sub(r"^\W+|\W+$", "", form)
                if name.isalpha() and len(name) >= SHORTEST_NAME and not _NAMING.fullmatch(name.lower()):
                    self._names.setdefault(name, kind)
        whole = sorted(self._kinds, key=len, reverse=True)
        self._whole = re.compile("|".join(map(re.escape, whole)))
        self._named = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in self._names) or "(?!)")

    def _note_parts(self, secret: str, kind: str) -> None:
        pieces = secret.split()
        for piece in pieces if len(pieces) == 1 else [each for each in pieces if len(each) >= SHORTEST_LINE]:
            size = min(LONGEST_PART, max(SHORTEST_PART, ceil(PART * len(piece))))
            for at in range(len(piece) - size + 1):
                self._parts.setdefault(size, {}).setdefault(_small(piece[at : at + size]), (kind, len(piece)))

    def replaced(self, text: str, stand_in: Callable[[str], str]) -> str:
        """The text with what stands in for a kind in the place of each secret, and of each telling part of one."""
        meant, spans = _as_meant(text)
        found = [(*found.span(), self._kinds[found[0]]) for found in self._whole.finditer(_small(meant))]
        found += [(*found.span(), self._names[found[0]]) for found in self._named.finditer(meant)]
        for run in _RUN.finditer(_small(meant)):
            found += self._parts_in(run[0], run.start(), meant)
        if not found:
            return text
        pieces, end = [], 0
        for start, stop, kind in sorted(found, key=lambda each: (each[0], -each[1])):
            first, last = spans[start][0] if spans else start, spans[stop - 1][1] if spans else stop
            if first >= end:
                pieces += [text[end:first], stand_in(kind)]
            end = max(end, last)
        return "".join((*pieces, text[end:]))

    def _parts_in(self, run: str, offset: int, text: str) -> list[tuple[int, int, str]]:
        """The stretches of a run that are made of parts, and tell more than words."""
        found = []
        for size, parts in self._parts.items():
            places = [at for at in range(len(run) - size + 1) if run[at : at + size] in parts]
            for first, last in _stretches(places):
                start, stop = offset + first, offset + last + size
                kind, whole = parts[run[first : first + size]]
                if _tells(text[start:stop], whole):
                    found.append((start, stop, kind))
        return found


def _stretches(places: Iterable[int]) -> list[tuple[int, int]]:
    """The first and the last of each of the places that follow on one another."""
    stretches: list[tuple[int, int]] = []
    for at in places:
        if stretches and stretches[-1][1] == at - 1:
            stretches[-1] = stretches[-1][0], at
        else:
            stretches.append((at, at))
    return stretches


def _tells(part: str, whole: int) -> bool:
    """Whether a part of a secret of so many characters gives it away: nearly all of it, or more than joined words."""
    if part.isdigit():
        return False
    odd = sum(not each.isalpha() and each not in "-_./:" for each in part)
    odd += sum(before.islower() and after.isupper() for before, after in pairwise(part))
    return odd >= ODD * len(part) or (len(part) >= NEARLY * whole and not part.isalpha())


def _as_meant(text: str) -> tuple[str, list[Span]]:
    """The text without the escapes of addresses, shells, JSON and HTML, and where each of its characters was written.

    There are no places where nothing is escaped: each character then stands where it stood.
    """
    if _PLAIN.fullmatch(text):
        return text, []
    characters: list[str] = []
    spans: list[Span] = []
    for found in _WRITTEN.finditer(text):
        meant = _meant(found)
        start, end = found.span()
        each = 3 if found[0][0] == "%" and len(meant) * 3 == end - start else 0
        characters.append(meant)
        spans += [(start + each * n, start + each * (n + 1) if each else end) for n in range(len(meant))]
    return "".join(characters), spans


def _meant(found: re.Match[str]) -> str:
    written = found[0]
    if written[0] == "%" and len(written) > 1:
        return bytes.fromhex(written.replace("%", "")).decode("utf-8", "replace")
    if written[0] == "\\" and len(written) > 1:
        return found[1] or chr(int(written[-4:], 16))
    return html.unescape(written) if written[0] == "&" else written


def _small(text: str) -> str:
    """The text in small letters, each in the place of its capital."""
    return text.lower() if text.isascii() else "".join(c if len(c.lower()) > 1 else c.lower() for c in text)
