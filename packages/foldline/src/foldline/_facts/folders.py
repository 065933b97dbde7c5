"""Paths by their folders, as a page lists them: `src/billing/{a.py, b.py}; README.md`, written and read back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import NamedTuple

SHARED = 3
"""Files of one folder from which its path is told apart."""

NAMES = 2
"""Names of a folder by which it is known to be the same one in two paths."""

_LISTED = re.compile(
    r"(?:- )?(created|changed|staged|renamed|deleted|put back|read)(?: earlier| again| and run)?( by another agent)?(?: below)?: (.+?)(?: … and \d+ more)?"
)
_BYTE = re.compile(r"\\([0-3][0-7]{2})")
_ROOT = re.compile(r"(?:- )?in ((?:[A-Za-z]:)?/.*/)")
_DRIVE = re.compile(r"[A-Za-z]:[/\\]")
_GROUP = re.compile(r"(.*/)\{(.+)\}")
_NAMES = re.compile(r" \([^()]*\)(?=[,;}]|$)", re.MULTILINE)
"""What was touched in a file, behind its path."""

EARLIER, MADE_EARLIER = "changed earlier", "created earlier"
"""What is said of files of work that was committed before the newest request."""


BELOW = " below"
"""Behind what was done to files in the messages that follow a page, and not before."""

AGAIN = "changed again below"
"""What is said of files that were changed there as well."""

TRIED = "created and run"
"""What is said of scripts that the agent made to try something."""

ELSEWHERE = "…/"
"""What stands before a path that is told from another place than the folder which a list names first; where that is is not known."""


class Listed(NamedTuple):
    """A file as a list has it: what was done to it and by whom, its path as it stands there and whole, and where it was moved."""

    verb: str
    by: str
    named: str
    path: str
    to: str


def is_absolute(path: str) -> bool:
    """Whether a path says from where on it is meant, on Windows too."""
    return path.startswith(("/", "~")) or _DRIVE.match(path) is not None


def folders_of(path: str) -> Iterator[str]:
    """The folders in which a path lies, each with the slash at its end."""
    return (path[: i + 1] for i, letter in enumerate(path) if letter == "/")


def unquoted(path: str) -> str:
    """A path that git gives in quotation marks, its letters by their bytes, as it is written."""
    if len(path) < 2 or not path.startswith('"') or not path.endswith('"') or not path.isascii():
        return path
    letters = _BYTE.sub(lambda byte: chr(int(byte[1], 8)), path[1:-1])
    return letters.encode("latin-1").decode("utf-8", "replace")


def with_slashes(path: str) -> str:
    """A path of Windows as Python and Git Bash write it, its drive as Windows itself does."""
    if _DRIVE.match(path):
        return path[0].upper() + path[1:].replace("\\", "/")
    return path if "/" in path or "\\ " in path else path.replace("\\", "/")


def root_of(paths: Sequence[str]) -> str:
    """The folder that most absolute paths share, where naming it once is shorter; empty elsewhere. What lies in one folder is told
    with that once in any case."""
    least = {path: 4 if path[0] in "/~" else 3 for path in paths if is_absolute(path)}
    absolute = [path for path in paths if path in least and path.count("/") >= least[path]]
    folders = Counter(
        "/".join(path.split("/")[:depth]) + "/"
        for path in absolute
        for depth in range(least[path], path.count("/") + 1)
    )
    within = Counter(folder for each in {*map(_folder, absolute)} for folder in folders_of(each))
    best = max(folders, key=lambda each: ((within[each] - 1) * len(each), (folders[each] - 1) * len(each)), default="")
    return best if folders[best] >= SHARED and 2 * folders[best] >= len(absolute) else ""


def home_of(paths: Iterable[str]) -> str:
    """The folder that paths without a beginning are meant from: the one in which whole paths name the same folders of two names or
    more, or that most of them lie in and that has files of the same names; empty where there is none, or not one alone."""
    paths = [*paths]
    whole, short = [p for p in paths if is_absolute(p)], [p for p in paths if not is_absolute(p)]
    named = {folder for folder in map(_folder, short) if folder.count("/") >= NAMES}
    of_most = (home for home in _before({*short}, whole) if 2 * sum(p.startswith(home) for p in whole) > len(whole))
    return _alone(_before(named, {*map(_folder, whole)})) or _alone(of_most)


def _folder(path: str) -> str:
    return path[: path.rfind("/") + 1]


def _before(ends: Set[str], whole: Iterable[str]) -> set[str]:
    """The folders from which whole paths end as others are."""
    return {p[: i + 1] for p in whole for i, letter in enumerate(p) if letter == "/" and p[i + 1 :] in ends}


def _alone(homes: Iterable[str]) -> str:
    found = {*homes}
    return found.pop() if len(found) == 1 else ""


def grouped(paths: Iterable[str]) -> str:
    """Paths with each folder named once, in the order in which it comes first; a moved file is `old → new`."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        old, arrow, new = path.partition(" → ")
        folder, slash, name = old.rstrip("/").rpartition("/")
        folders.setdefault(folder + slash, []).append(name + "/" * old.endswith("/") + arrow + new)
    folders = {
        folder: [_moved_in(folder, name) for name in names] if len(names) > 1 else names
        for folder, names in folders.items()
    }
    return "; ".join(
        f"{folder}{', '.join(names)}" if len(names) == 1 or not folder else f"{folder}{{{', '.join(names)}}}"
        for folder, names in folders.items()
    )


def _moved_in(folder: str, name: str) -> str:
    """A file that was moved, in a list of those of its folder: where it went within that by its name alone."""
    old, arrow, new = name.partition(" → ")
    if not (arrow and folder):
        return name
    return f"{old}{arrow}{new.removeprefix(folder) if _folder(new) == folder else new if '/' in new else f'./{new}'}"


def without_names(listed: str) -> str:
    """A list of files without what was touched in them."""
    return _NAMES.sub("", listed)


def listed_in(text: str) -> Iterator[Listed]:
    """The files that stand in the lists of a text, those below a root that was named first with it."""
    root = ""
    for line in text.splitlines():
        if found := _ROOT.fullmatch(line):
            root = found[1]
        elif found := _LISTED.fullmatch(line):
            for named, to in _paths(found[3]):
                yield Listed(found[1], found[2] or "", named, _below(root, named), to and _below(root, to))


def _below(root: str, path: str) -> str:
    if path.startswith(ELSEWHERE):
        return path.removeprefix(ELSEWHERE)
    return path if is_absolute(path) else root + path


def seen_from(root: str, path: str) -> str:
    """A path as a list has it that names `root` first."""
    if path.startswith(root):
        return path.removeprefix(root)
    return path if not path or is_absolute(path) else f"{ELSEWHERE}{path}"


def _paths(told: str) -> Iterator[tuple[str, str]]:
    for part in without_names(told).split("; "):
        group = _GROUP.fullmatch(part)
        for name in (group[2] if group else part).split(", "):
            path, _, to = name.partition(" → ")
            within = group[1] if group and to and "/" not in to else ""
            yield (group[1] if group else "") + path, within + (to.removeprefix("./") if group else to)
