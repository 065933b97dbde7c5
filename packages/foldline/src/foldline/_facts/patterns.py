"""Patterns that few texts match: one is compiled, and tried, where a text holds all letters without which it cannot match.

A language has hundreds of them, and a session meets few; to compile them all takes longer than all that is asked of them.
And to look for some letters takes a fraction of the time that it takes to try a pattern at each place of a long output.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from foldline._patterns import pattern

_TOKEN = re.compile(
    r"[^\\\[\].()|?*+{}^$<]+"  # letters
    r"|\((?:\?:)?[^\\\[\]().?*+{}^$<]+\)"  # one of some letters
    r"|\((?:\?(?:[Pp]<\w+>|<?[:=!]|>|[a-z]+:))?|\)|\||<\w+>|<"
    r"|\\.|[.^$]|\[\^?\]?(?:\\.|[^\]\\])*\]"
    r"|(?:[?*+]|\{[^}]*\})\??"
)
_SPELLING = frozenset("\\<")
_SIGNS = frozenset("\\([|)<.^$?*+{")
_NOT_SURELY = ("?", "*", "{0,", "{,")
_PLACES = frozenset(("^", "$", r"\b", r"\B", r"\A", r"\Z"))
_UNWANTED = frozenset(("(?!", "(?<!"))
_AROUND = _UNWANTED | {"(?=", "(?<="}
_IN_ANY_CASE = "(?i:"
_ESCAPED = re.compile(r"\\.|[^\\]+")
_TELLING = 5
"""Letters from which a longer literal is hardly rarer."""

Literals = tuple[str, ...]
"""One of them stands in whatever a pattern matches."""


def rare(regex: str, flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` answers, of a pattern that few texts hold; it is looked for in the whole of one, once."""
    return cast("re.Pattern[str]", _Rare(regex, flags))


class _Rare:
    def __init__(self, regex: str, flags: int) -> None:
        self._regex, self._pattern = regex, pattern(regex, flags)
        self._by_line, self._folds = bool(flags & re.MULTILINE), bool(flags & re.IGNORECASE)

    def search(self, text: str) -> re.Match[str] | None:
        return self._pattern.search(text) if self._likely(text) else None

    def match(self, text: str) -> re.Match[str] | None:
        return self._pattern.match(text) if self._likely(text) else None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self._pattern.finditer(text) if self._likely(text) else iter(())

    def findall(self, text: str) -> list[Any]:
        return self._pattern.findall(text) if self._likely(text) else []

    def sub(self, by: Any, text: str) -> str:
        return self._pattern.sub(by, text) if self._likely(text) else text

    def __getattr__(self, name: str) -> Any:
        """What is asked of it otherwise is the pattern's own."""
        return getattr(self._pattern, name)

    def _likely(self, text: str) -> bool:
        text = f"\n{text}" if self._by_line else text
        text = text.lower() if self._folds else text
        return _holds(text, self._needs)

    @cached_property
    def _needs(self) -> list[Literals]:
        """What it needs, what is looked for soonest first; where it goes by lines, their beginnings too."""
        regex = self._regex.lower() if self._folds else self._regex
        if self._by_line:
            regex = _TOKEN.sub(lambda token: r"\n" if token[0] == "^" else token[0], regex)
        return sorted(needed(regex, {}), key=len)


_NOTHING: Literals = ("",)


class Part(NamedTuple):
    """What several patterns share, and what it needs."""

    pattern: str
    needs: list[Literals]


Begun = dict[str, list[tuple[tuple[str, ...], str]]]
"""By a first letter what else a text may begin with, and the pattern that matches no other text."""

Likely = dict[str, list[tuple[str, list[Literals]]]]
"""By a literal the patterns that need it, or another one in its place, each with what else it needs."""


class Patterns:
    """Patterns of which any may match, whatever the case; `<name>` in one stands for the part of that name."""

    def __init__(self, patterns: Iterable[str], parts: Mapping[str, Part] = MappingProxyType({})) -> None:
        self._patterns, self._parts = [*patterns], parts
        self._compiled: dict[str, re.Pattern[str]] = {}
        self._needs: dict[str, list[Literals]] = {}

    @cached_property
    def _sorted(self) -> tuple[Begun, Likely]:
        """The patterns by how a text begins that they match, where that is known, and the others by the rarest of what they need."""
        begun: Begun = {}
        likely: Likely = {}
        for each in self._patterns:
            beginnings = tuple(beginnings_of(each.lower(), self._parts))
            for letter in {literal[0] for literal in beginnings}:
                begun.setdefault(letter, []).append((beginnings, each))
            if not beginnings:
                needs = needed(each.lower(), self._parts)
                rarest = _rarest(needs or [_NOTHING])
                more = [literals for literals in needs if literals is not rarest]
                for literal in dict.fromkeys(rarest):
                    likely.setdefault(literal, []).append((each, more))
        return begun, likely

    @cached_property
    def _plain(self) -> list[str]:
        """Those of the literals that stand in plain texts, a few of those of all languages."""
        return [literal for literal in self._sorted[1] if literal.isascii()]

    def match_in(self, text: str) -> bool:
        """Whether one of them matches somewhere in a text in lower case."""
        return any(self._of(pattern).search(text) for pattern in self._likely_in(text))

    def without(self, text: str) -> str | None:
        """A text in lower case without what the first of them matches in it, or what that has a group for; None where none does."""
        likely = sorted(self._likely_in(text), key=self._patterns.index)
        match = next(filter(None, (self._of(pattern).search(text) for pattern in likely)), None)
        if match is None:
            return None
        return str(match[1]) if match.re.groups else f"{text[: match.start()]} {text[match.end() :]}"

    def _likely_in(self, text: str) -> Iterator[str]:
        begun, likely = self._sorted
        for beginnings, each in begun.get(text[:1], ()):
            if text.startswith(beginnings) and _holds(text, self._needed_by(each)):
                yield each
        for literal in [literal for literal in (self._plain if text.isascii() else likely) if literal in text]:
            for each, needs in likely[literal]:
                if _holds(text, needs):
                    yield each

    def _needed_by(self, pattern: str) -> list[Literals]:
        if pattern not in self._needs:
            self._needs[pattern] = needed(pattern.lower(), self._parts)
        return self._needs[pattern]

    def _of(self, pattern: str) -> re.Pattern[str]:
        if pattern not in self._compiled:
            whole = pattern
            for name, part in self._parts.items():
                whole = whole.replace(name, part.pattern)
            self._compiled[pattern] = re.compile(lower(whole))
        return self._compiled[pattern]


def _holds(text: str, needs: list[Literals]) -> bool:
    """Whether a text holds one of each of some literals; a loop, since it is asked of each sentence and of many patterns."""
    for literals in needs:
        for literal in literals:
            if literal in text:
                break
        else:
            return False
    return True


def lower(pattern: str) -> str:
    """A pattern for texts in lower case, which takes half as long to compile and to match as one that ignores case."""
    return _ESCAPED.sub(lambda found: found[0] if found[0][0] == "\\" else found[0].lower(), pattern)


def needed(pattern: str, parts: Mapping[str, Part]) -> list[Literals]:
    """What a pattern needs: "(?:never|do not) (?:ever )?touch" one of two, and "touch"."""
    return _needed(iter(_TOKEN.findall(pattern)), parts)


def beginnings_of(pattern: str, parts: Mapping[str, Part]) -> set[str]:
    """What each text begins with that a pattern matches: "^(?:please )?keep" with "please " or "keep".

    Empty where that may be anything, or where the pattern is looked for elsewhere too.
    """
    if pattern[0] != "^":
        return set()
    tokens = _TOKEN.findall(pattern)
    found = set() if "|" in tokens and _is_one_of_several(tokens) else _begun(iter(tokens[1:]), parts)
    return set() if "" in found else found


def _is_one_of_several(tokens: Iterable[str]) -> bool:
    groups = 0
    for token in tokens:
        groups += (token[0] == "(" and token[-1] != ")") - (token == ")")
        if token == "|" and not groups:
            return True
    return False


def _begun(tokens: Iterator[str], parts: Mapping[str, Part]) -> set[str]:
    """What the rest of a group begins with, up to where it closes; an empty text where that may be anything."""
    found, newest = set[str](), set[str]()
    run, over = "", False
    for token in tokens:
        if newest and token.startswith(_NOT_SURELY):
            found |= {run[:-1]} if run[1:] else newest
            over, newest = run[1:] != "", set()
            continue
        if newest:
            found |= newest
            over, newest, run = True, set(), ""
        if token == ")":
            break
        if token == "|":
            found |= set() if over else {""}
            over = False
        elif token[0] == "(" and token[-1] != ")":
            if over or token in _AROUND:
                _skip(tokens)
            else:
                newest, run = _begun(tokens, parts), ""
        elif not (over or token in _PLACES):
            run = token if token[0] not in _SIGNS else _letters(token, parts)
            newest = {run} if run else _begins_with(token, parts)
    return found | (newest or (set() if over else {""}))


def _begins_with(token: str, parts: Mapping[str, Part]) -> set[str]:
    """What a part or a group of literals begins with; an empty text where any letter does."""
    if token in parts:
        return _begun(iter(_TOKEN.findall(parts[token].pattern.lower())), parts)
    return {*_alternatives(token)} if token[0] == "(" else {""}


def parts_of(texts: Mapping[str, str]) -> dict[str, Part]:
    """The parts of a language in their order, by how patterns name them; those behind one may stand in it."""
    parts: dict[str, Part] = {}
    for name in reversed([*texts]):
        parts[f"<{name}>"] = Part(texts[name], needed(texts[name].lower(), parts))
    return dict(reversed(parts.items()))


def _needed(tokens: Iterator[str], parts: Mapping[str, Part]) -> list[Literals]:
    """What the rest of a group needs, up to where it closes."""
    choices: list[list[Literals]] = []
    found: list[Literals] = []
    newest = 0
    run = ""
    for token in tokens:
        sign = token[0]
        if sign not in _SIGNS:
            run += token
            continue
        if token in _PLACES:
            continue
        if letters := _letters(token, parts) if sign in _SPELLING else "":
            run += letters
            continue
        if token in _UNWANTED:
            _skip(tokens)
            continue
        if token.startswith(_NOT_SURELY):
            if not run:
                del found[newest:]
            run = run[:-1]
        if run:
            found.append((run,))
        run, newest = "", len(found)
        if sign == "|":
            choices.append(found)
            found = []
        elif sign == ")":
            break
        elif token == _IN_ANY_CASE:
            _skip(tokens)
        elif sign == "(":
            found += _choice(token) if token[-1] == ")" else _needed(tokens, parts)
        elif token in parts:
            found += parts[token].needs
    if run:
        found.append((run,))
    return _either([*choices, found]) if choices else found


def _letters(token: str, parts: Mapping[str, Part]) -> str:
    """The letters that a sign stands for, if it stands for any."""
    if token[0] == "\\":
        return "\n" if token == r"\n" else "" if token[1].isalnum() else token[1]
    return token if token[0] == "<" and token not in parts else ""


def _skip(tokens: Iterator[str]) -> None:
    """Passes the rest of a group, up to where it closes."""
    groups = 1
    for token in tokens:
        if token == ")":
            groups -= 1
        elif token[0] == "(" and token[-1] != ")":
            groups += 1
        if not groups:
            return


def _choice(group: str) -> list[Literals]:
    """What a group of literals needs."""
    literals = _alternatives(group)
    return [] if "" in literals else [tuple(literals)]


def _alternatives(group: str) -> list[str]:
    return group.removeprefix("(").removeprefix("?:").removesuffix(")").split("|")


def _either(choices: list[list[Literals]]) -> list[Literals]:
    """What is needed where one of several is there: the rarest of each."""
    if not all(choices):
        return []
    return [tuple(literal for each in choices for literal in _rarest(each))]


def _rarest(needs: list[Literals]) -> Literals:
    return max(needs, key=_rareness) if needs[1:] else needs[0]


def _rareness(literals: Literals) -> tuple[int, int]:
    """Long literals are rare, and few."""
    return min(_TELLING, *map(len, literals)), -len(literals)
