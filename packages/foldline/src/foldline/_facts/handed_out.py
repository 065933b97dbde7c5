"""Where the files are that another agent was told to work on: its report names them as they are called there."""

from __future__ import annotations

from foldline._facts.folders import is_absolute, with_slashes
from foldline._facts.others import ASSIGNING
from foldline._facts.tool_calls import arguments_of
from foldline._messages import ToolCall
from foldline._patterns import pattern

_HEAD = 1_000
"""Characters of such a task in which it says where."""

_FOLDER = pattern(
    r"\b(?:in|into|to|under|within|at)\b[^\n\"'`/\\]{0,60}[\"'`]?((?:[A-Za-z]:\\|~?/)(?:[^\s\"'`\\/]+[\\/])+)(?=[\"'`]?(?:\s|[.,;:)]|$))"
)
"""A folder, with the slash at its end, in which something is to be done."""


def folder_asked(call: ToolCall) -> str:
    """The folder in which a call asks another agent to work; empty where it names none."""
    arguments = arguments_of(call)
    given = [arguments.get(key) for key in ASSIGNING] if isinstance(arguments, dict) else []
    task = next((text for text in given if isinstance(text, str)), "")[:_HEAD]
    found = _FOLDER.search(task)
    return with_slashes(found[1]).rstrip("/") if found else ""


def placed(path: str, folder: str) -> str:
    """A file as it is called from a folder, by its whole path: one without folders lies there, one whose first folders are its last is
    named from above it."""
    names = with_slashes(path).split("/")
    if not folder or is_absolute(path) or names[0] in (".", ".."):
        return path
    shared = (n for n in range(len(names) - 1, 0, -1) if f"{folder}/".endswith("/" + "/".join((*names[:n], ""))))
    known = next(shared, 0)
    return f"{folder}/{'/'.join(names[known:])}" if known or len(names) == 1 else path
