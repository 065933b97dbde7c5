"""What an edit touched and wrote: the names of what it defines or brings in, by file, and its text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple
from zlib import crc32

from foldline._facts.patterns import rare
from foldline._facts.tool_calls import BODIES

MOST = 3
"""Names that are told of one edit of a file."""

KEPT = 6
"""Names that are known of a file: the newest, and of one edit the first."""

GONE = "without "
"""What stands before a name that is no longer in a file."""

SMALL_EDIT = 3
"""The lines of an edit up to which it is told by the names that it brings: of a larger one they say nothing of what it is for."""

_READ = 8_000
"""Characters of an edit that are looked through."""

_DEFINED = re.compile(
    r"^[ \t]*(?:(?:(?:export|default|pub(?:\(\w+\))?|public|private|protected|static|async|abstract|final|override|unsafe)\s+)*"
    r"(?:def|class|func|fn|function|struct|interface|enum|trait|type|@test)|export\s+(?:const|let))\s+"
    r"(?:\([^()\n]*\)\s*)?[\"']?([^\W\d][^\n({=<:\"']{0,60})",
    re.MULTILINE,
)
"""A definition in the languages that most code is written in."""

_HEADING = re.compile(r"^#{1,4} +([^\n]{2,60})", re.MULTILINE)
PROSE = (".md", ".mdx", ".rst", ".txt")
"""What the names of files end with whose headings are told."""

_DATA = (".css", ".scss", ".sass", ".less", ".json", ".jsonc", ".jsonl", ".lock", ".csv", ".tsv", ".svg", "-lock.yaml")
"""What the names of files end with that define nothing."""

_BRACKETS = re.compile(r" ?[()][^()]*\)?")

_BESIDE = re.compile(r"Props$")
"""How the name of a type ends that only goes with a component."""

_IDENTIFIER = re.compile(r"\b[A-Za-z_]\w*(?:_|[a-z](?=[A-Z]))\w+")
"""A name of more than one word, as code has it."""

_WORDS = re.compile(r"^[ \t]*(?://|#|/?\*|--|<!--).*$|(?<=\s)(?://|#)\s.*$|\"([^\"\n]*)\"", re.MULTILINE)
"""A comment, and a text in quotation marks."""

_SETS = re.compile(r"[\"']?\s*(?:\(|:|=(?!=))")
"""What stands behind a name that is called or set."""

_OLD = ("old_string", "oldText", "old_str", "old_text", "old_content", "search")
_NEW = ("new_string", "newText", "new_str", "new_text", "replacement", "replace", "content", "file_text", "new_source", "code_edit", "insert_text", "contents")  # fmt: skip
_WHOLE = frozenset({"content", "contents", "file_text"})
_WRITTEN = BODIES - {*_OLD, "edits"}
"""Arguments that hold a whole file, and what is written, or run."""

STRETCH, MOST_WRITTEN = 100, 900
"""Characters from which lines that were written are one piece, and of all pieces of one call."""

_LEAST_LINE = 4
"""Characters of a line below which it holds but a bracket."""

_PLACE = re.compile(r"^(?:@@.*|\*\*\* .*)$\n?", re.MULTILINE)
"""What stands in a patch between two places of a file, and at its end."""

_AT = re.compile(r"^@@(?: -[\d, +]+@@)? *(\S.*)$", re.MULTILINE)
"""The line above the place in a file, as a patch names it."""

_MADE = rare(r"^\*\*\* Add File: (.+?)\s*$", re.MULTILINE)
_FILE = rare(r"^\*\*\* (?:Add|Update) File: (.+?)\s*$|^\+\+\+ (?:b/)?(\S+).*$", re.MULTILINE)


_BLOCK = rare(
    r"^[-<]{5,9} ?SEARCH>?[^\n]*\n(?::(?:start|end)_line:.*\n)*(?:-{5,9}\n)?(.*?)^={5,9}\s*?\n(.*?)^[+>]{5,9} ?REPLACE",
    re.MULTILINE | re.DOTALL,
)
"""What was looked for and what was put in its place: Cline, Roo Code, Aider."""


class NamesTouched(NamedTuple):
    """The names that an edit touches in a file."""

    names: tuple[str, ...] = ()
    defined: bool = False
    """Whether they are what is defined there, and not only what its lines speak of."""


_NONE = NamesTouched()


def names_in_edits(arguments: Mapping[str, Any] | str, path: str) -> dict[str, NamesTouched]:
    """The names that the arguments of an edit touch, by file: those that a patch names, else `path`; of a file that is written whole
    those that it defines."""
    if patch := arguments if isinstance(arguments, str) else _patch(arguments):
        touched = {path: _names(path, *changed) for path, *changed in _patched(patch)}
        made = {*_MADE.findall(_in_lines(patch))}
        return {path: names if names.defined or path not in made else _NONE for path, names in touched.items()}
    if isinstance(arguments, str):
        return {}
    several = arguments.get("edits")
    changes = (
        [arguments, *(each for each in several if isinstance(each, dict))] if isinstance(several, list) else [arguments]
    )
    blocks = _BLOCK.findall(diff[:_READ]) if isinstance(diff := arguments.get("diff"), str) else []
    old, new = (
        "\n".join((*_texts(changes, keys), *(block[i] for block in blocks))) for i, keys in enumerate((_OLD, _NEW))
    )
    names = _names(path, old, new)
    return {path: _NONE if not names.defined and arguments.keys() & _WHOLE else names}


def told_names(names: Sequence[str]) -> str:
    """The first names that an edit touches, as its line tells them in brackets: without brackets of their own."""
    told = (_BRACKETS.sub("", name) for name in names[:MOST])
    return ", ".join([*filter(None, told), *("…" for _ in names[MOST : MOST + 1])])


def later_names(old: Sequence[str], new: Sequence[str]) -> tuple[str, ...]:
    """The names that are known of a file behind newer edits: the newest last, and of each whether it is there or gone."""
    names = dict.fromkeys(old)
    for name in new:
        for known in (name, f"{GONE}{name}", name.removeprefix(GONE)):
            names.pop(known, None)
        names[name] = None
    return (*names,)[-KEPT:]


def fingerprints(arguments: Mapping[str, Any] | str, path: str) -> tuple[str, ...]:
    """What an edit put in place of what in a file, so that another one is known to take it back; empty where that is not plain."""
    patch = arguments if isinstance(arguments, str) else _patch(arguments)
    pairs = [*(_hunks(patch, path) if patch else _replaced(arguments))]
    return tuple(f"{_sum(old)}{_sum(new)}" for old, new in pairs) if all(old and new for old, new in pairs) else ()


def taken_back(fingerprint: str) -> str:
    """The fingerprint of the edit that takes back another one."""
    half = len(fingerprint) // 2
    return fingerprint[half:] + fingerprint[:half]


def _sum(text: str) -> str:
    return f"{crc32(text.encode('utf-8', 'replace')):08x}"


def _replaced(arguments: Mapping[str, Any] | str) -> Iterator[tuple[str, str]]:
    """The texts that an edit takes away, each with the one in its place; an empty one where it does not name both, or may name
    several places."""
    several = arguments.get("edits") if isinstance(arguments, Mapping) else None
    for each in several if isinstance(several, list) else [arguments]:
        given = each if isinstance(each, Mapping) and not each.get("replace_all") else {}
        old, new = (
            next((text for key in keys if isinstance(text := given.get(key), str)), "") for keys in (_OLD, _NEW)
        )
        yield old, new


def _hunks(patch: str, path: str) -> Iterator[tuple[str, str]]:
    """The places of a file that a patch changes, as they were and as they are, with the lines around them."""
    for header, lines in _by_file(patch):
        for hunk in _PLACE.split(lines) if header == path else ():
            if hunk.strip():
                old, new = ("\n".join(line[1:] for line in hunk.splitlines() if line[:1] != not_in) for not_in in "+-")
                yield old, new


def written_in(arguments: Mapping[str, Any] | str) -> str:
    """What the arguments of a call write into files, or give to be run: of a patch the lines that it brings."""
    if isinstance(arguments, str):
        return "\n".join(new for _, _, new, _ in _patched(arguments)) or arguments[:_READ]
    several = arguments.get("edits")
    changes = (
        [arguments, *(each for each in several if isinstance(each, dict))] if isinstance(several, list) else [arguments]
    )
    texts = _texts(changes, tuple(sorted(_WRITTEN)))
    return "\n".join("\n".join(new for _, _, new, _ in _patched(text)) or text for text in texts)


def stretches(text: str) -> list[str]:
    """How a text begins, a few short lines or a long one at a time."""
    found = [""]
    for line in text[: 4 * MOST_WRITTEN].splitlines():
        if len(line := line.strip()) >= _LEAST_LINE:
            found[-1] = f"{found[-1]} {line}".lstrip()[: 2 * STRETCH]
            found += [""] if len(found[-1]) >= STRETCH else []
    ends = accumulate(map(len, found))
    return [each for each, end in zip(found, ends) if each and end <= MOST_WRITTEN]


def _texts(changes: list[Any], keys: tuple[str, ...]) -> Iterator[str]:
    return (text[:_READ] for each in changes for key in keys if isinstance(text := each.get(key), str))


def _patched(patch: str) -> Iterator[tuple[str, str, str, str]]:
    """The files of a patch, each with the lines that it takes away, those that it brings, and what it says of where they stand."""
    for path, lines in _by_file(patch):
        read = lines[:_READ].splitlines()
        old, new = ("\n".join(line[1:] for line in read if line.startswith(mark)) for mark in "-+")
        yield path, old, new, "\n".join(_AT.findall("\n".join(read)))


def _by_file(patch: str) -> Iterator[tuple[str, str]]:
    """The files of a patch, each with its lines."""
    patch = _in_lines(patch)
    found = list(_FILE.finditer(patch))
    for header, following in zip(found, [*found[1:], None]):
        yield header[1] or header[2], patch[header.end() : following.start() if following else None]


def _in_lines(patch: str) -> str:
    """A patch as it is, also where it stands in code."""
    in_code = "\n" not in patch or "\\n*** " in patch
    return patch.replace("\\n", "\n").replace('\\"', '"') if in_code else patch


def _patch(arguments: Mapping[str, Any]) -> str:
    """The patch among the arguments of a call; empty where there is none."""
    given = (v for v in arguments.values() if isinstance(v, str) and v.lstrip().startswith(("*** ", "--- ")))
    return next(given, "")


def _defined(path: str, text: str) -> list[str]:
    """The names that a text defines, but for one of those that are brought in."""
    found = (name.strip() for name in (_HEADING if path.endswith(PROSE) else _DEFINED).findall(text))
    return [name for name in found if not name.endswith(",")]


def _names(path: str, old: str, new: str, around: str = "") -> NamesTouched:
    """What is defined anew, else what no longer is, else in what the changed lines stand, as they or what is `around` them say,
    else the names that are new in their place."""
    if path.endswith(_DATA):
        return NamesTouched()
    before, after = _defined(path, old), _defined(path, new)
    fresh = [name for name in after if name not in before]
    fresh = [name for name in fresh if _BESIDE.sub("", name) not in fresh or not _BESIDE.search(name)]
    gone = [f"{GONE}{name}" for name in before if name not in new]
    inside = [] if fresh or gone else [*_inside(path, new, old, after), *_inside(path, old, new, before)]
    defined = fresh or gone or inside or _defined(path, around)
    lines = {line.strip() for line in new.splitlines()} - {line.strip() for line in old.splitlines()}
    brought = _brought(path, old, new) if len(lines) <= SMALL_EDIT and not defined else []
    return NamesTouched((*dict.fromkeys(defined or brought),)[:KEPT], bool(defined))


def _inside(path: str, text: str, other: str, names: Sequence[str]) -> Iterator[str]:
    """Those of the definitions of a text, by their `names`, in which lines stand that the `other` one has not."""
    if not names:
        return
    known = {line.strip() for line in other.splitlines()}
    name, depth = "", -1
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if found := next((each for each in names if each in line and each in _defined(path, line)), ""):
            name, depth = found, indent
        if name and line.strip() not in known and (found or indent > depth or path.endswith(PROSE)):
            yield name


def _brought(path: str, old: str, new: str) -> list[str]:
    """The names of more than one word that are new in a text, of code without its comments, and without the variables that it
    passes on."""
    known = {*_IDENTIFIER.findall(old)}
    if path.endswith(PROSE):
        return [name for name in _IDENTIFIER.findall(new) if name not in known]
    found = [*_IDENTIFIER.finditer(_WORDS.sub(_without_words, new))]
    sets = (name for name in found if name[0].lstrip("_")[:1].isupper() or _SETS.match(name.string, name.end()))
    return [name[0] for name in sets if name[0] not in known]


def _without_words(text: re.Match[str]) -> str:
    """A text that is a name or a key, without its marks; of one for people, or a comment, nothing."""
    return f" {text[1]} " if text[1] and " " not in text[1] else " "
