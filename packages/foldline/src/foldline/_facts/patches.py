"""The files that a patch names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from foldline._patterns import pattern

_HEADER = pattern(r"^\s*\*\*\* (Add|Update|Delete|Move to)(?: File)?: (.+?)\s*$", re.MULTILINE)
_UNIFIED = pattern(r"^--- (\S+).*\n\+\+\+ (\S+)", re.MULTILINE)
_ACTIONS = {"Add": "created", "Update": "modified", "Delete": "deleted"}


def patch_actions(patch: str) -> Iterator[tuple[str, str, str]]:
    """What the headers of a patch say is done to which file."""
    last = ""
    found = False
    for header in _HEADER.finditer(patch):
        found = True
        verb, path = header.groups()
        if verb == "Move to":
            yield "renamed", last, path
        else:
            yield _ACTIONS[verb], path, ""
            last = path
    if found:
        return
    for header in _UNIFIED.finditer(patch):
        old, new = (re.sub(r"^[ab]/", "", side) for side in header.groups())
        if old == "/dev/null":
            yield "created", new, ""
        elif new == "/dev/null":
            yield "deleted", old, ""
        else:
            yield "modified", new, ""


def is_patch(text: str) -> bool:
    """Whether a text is a patch that names its files."""
    return "*** " in text and _HEADER.search(text) is not None
