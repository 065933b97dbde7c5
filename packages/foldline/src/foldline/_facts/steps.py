"""The steps in which a command or a skill wants its work done: numbered headings, rows or items, each with what it orders."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from foldline._facts.cues import says_when_done
from foldline._facts.rules import holds_in_a_case, lifetime, ruling, shouts
from foldline._facts.splitting import section_end, sentences, split
from foldline._patterns import pattern

FEWEST = 2
"""Steps from which something is done in steps."""

_STEP = 360
"""Characters that are told of one; of a longer one what it orders goes before what it only names."""

_FENCED = pattern(r"^([ \t]*)(```|~~~)[^\n]*\n(?:.*?^[ \t]*\2[ \t]*$|.*\Z)", re.MULTILINE | re.DOTALL)
_HEADING = pattern(r"(#{2,5}) +(?:([^\W\d_]+) )?(\d{1,2})(?:[.:)]| *[–—-])? +(\S.*?)[\s*_#:]*$")
_ROW = pattern(r"\|\s*(\d{1,2})\s*\|(.+)\|\s*$")
_ITEM, _NUMBERED = (
    pattern(r"(\s*)(?:[-*•]|\d{1,2}[.)]) +(?:\[[ xX]\] +)?(\S.*)"),
    pattern(r"(\s*)(\d{1,2})[.)] +(\S.*)"),
)
_LEADS = pattern(
    r"(?:^\W*instructions?|\b(?:steps?|in (?:this |the |that )?order|follow\w*|do|schritte?\w*|reihenfolge|anweisungen|pasos|instrucciones|orden"
    r"|langkah\w*|urutan))\b[^.]*[:：]\W*$|(?:단계|순서|절차|手順|順に|ステップ|步骤|顺序)[^。]*[:：]\W*$",
    re.IGNORECASE,
)
"""A line that leads in what is to be done in its order."""

_SIGNS = re.compile(r"\*\*|__|(?:(?<=[.;:] )|^)<[a-z]+_[a-z_]+> ?")
"""What marks words, and tags before sentences."""

_NAMED = pattern(r"(?:([^\W\d_]+) )?(\d{1,2})[.:] ([^:]+)")
"""How a step is told: its number, with what numbers are called there, and its title."""


def steps_of(body: str) -> list[str]:
    """The steps of a command, in their order; none where it has no numbers for them."""
    lines = _FENCED.sub("", body).splitlines()
    ways: tuple[Callable[[Sequence[str]], Iterator[str]], ...] = (_headed, _tabled, _listed)
    return next((steps for way in ways if len(steps := [*way(lines)]) >= FEWEST), [])


def reached(steps: Sequence[str], words: str) -> int | None:
    """The place of the last step that words speak of, by its number or by a title of several words; None where they speak of none."""
    named = [found for step in steps if (found := _NAMED.match(step))]
    label = next((found[1] for found in named if found[1]), "")
    numbers = {*re.findall(rf"\b{label} (\d{{1,2}})\b", words, re.IGNORECASE)} if label else set[str]()
    words = words.lower()
    spoken = [
        i for i, found in enumerate(named) if found[2] in numbers or (" " in found[3] and found[3].lower() in words)
    ]
    return max(spoken, default=None)


def title_of(step: str) -> str:
    """What a step is called."""
    named = _NAMED.match(step)
    return named[3] if named else ""


def _headed(lines: Sequence[str]) -> Iterator[str]:
    """The sections that are numbered as the first one is."""
    found = [(at, heading) for at, line in enumerate(lines) if (heading := _HEADING.match(line))]
    found = [each for each in found if each[1].groups()[:2] == found[0][1].groups()[:2]]
    for at, heading in found:
        end = section_end(lines, at + 1, len(heading[1]))
        yield _told(heading[2], heading[3], heading[4], lines[at + 1 : end])


def _tabled(lines: Sequence[str]) -> Iterator[str]:
    """The rows of the first table whose rows are numbered and whose second column is named in one word."""
    above, found = "", False
    for line in lines:
        row = _ROW.match(line)
        if row is None:
            if found:
                return
            above = above if set(line) <= set("|-: ") else line
            continue
        cells = [cell.strip() for cell in above.strip().strip("|").split("|")]
        title, *rest = [cell.strip() for cell in row[2].split("|")]
        if len(cells) < 2 or not cells[1].isalpha() or not rest:
            return
        found = True
        yield plain(f"{cells[1]} {row[1]}: {title}: {'; '.join(filter(None, rest))}")


def _listed(lines: Sequence[str]) -> Iterator[str]:
    """The items of the first numbered list below a line that says so."""
    said = [line for line in lines if line.strip()]
    first = next(
        (i for i, line in enumerate(said[1:], 1) if _NUMBERED.match(line) and _LEADS.search(said[i - 1])), None
    )
    if first is None:
        return
    items: list[tuple[str, str, list[str]]] = []
    for line in said[first:]:
        numbered = _NUMBERED.match(line)
        if numbered and (not items or len(numbered[1]) <= len(items[0][0])):
            items.append((numbered[1], f"{numbered[2]}. {numbered[3]}", []))
        elif len(line) - len(line.lstrip()) <= len(items[0][0]):
            break
        else:
            items[-1][2].append(line)
    for _, head, below in items:
        nested = "; ".join(filter(None, map(_bare, below)))
        yield plain(f"{head.rstrip(':：')}: {nested}" if nested else head)[:_STEP]


def _told(label: str | None, number: str, title: str, lines: Sequence[str]) -> str:
    """A section as one line: its title and its items, or, of more than have room, what it orders."""
    head = f"{label} {number}: {title}" if label else f"{number}. {title}"
    rules = {*ruling("\n".join(lines))}
    said = [*_said(lines)]
    ordered = [text for text, _ in said if any(each in rules or _orders(each) for each in split(text))]
    both = [text for text, item in said if item or text in ordered]
    room = _STEP - len(head)
    whole = sum(map(len, both)) + 2 * len(both) <= room
    fitting = {*_fitting(both if whole or not ordered else sorted(ordered, key=shouts, reverse=True), room)}
    chosen = [text for text in both if text in fitting]
    return plain(f"{head}: {joined(chosen)}" if chosen else head)


def _said(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """The items of a section, and the sentences between them that lead in nothing; each with whether it is an item."""
    for listed, several in groupby(lines, key=lambda line: _ITEM.match(line) is not None):
        if listed:
            yield from ((_bare(line), True) for line in several)
            continue
        prose = (line for line in several if not line.lstrip().startswith(("|", "#")))
        yield from ((each.text, False) for each in sentences("\n".join(prose)) if not each.titled)


def _orders(sentence: str) -> bool:
    """Whether a sentence orders something by its words, or says when or in which case."""
    return lifetime(sentence) != "none" or says_when_done(sentence) or holds_in_a_case(sentence)


def _fitting(said: Iterable[str], room: int) -> Iterator[str]:
    """What has room of what is said."""
    for text in said:
        if len(text) + 2 <= room:
            yield text
            room -= len(text) + 2


def joined(said: Sequence[str]) -> str:
    """What is said one after the other; a sentence that ends goes on without a sign."""
    return "".join(text if i == len(said) - 1 else f"{text} " if text.endswith((".", "!", "?", "。")) else f"{text}; " for i, text in enumerate(said))  # fmt: skip


def _bare(line: str) -> str:
    item = _ITEM.match(line)
    return (item[2] if item else line).strip()


def plain(step: str) -> str:
    """An order without what marks its words."""
    return _SIGNS.sub("", " ".join(step.split()))
