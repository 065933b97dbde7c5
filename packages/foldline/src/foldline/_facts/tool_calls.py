"""What a tool call does, read from the shape of its arguments and the words of its name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from foldline._facts.patches import is_patch, patch_actions
from foldline._facts.patterns import rare
from foldline._facts.shell import Touch, touches
from foldline._messages import ToolCall, Value
from foldline._patterns import pattern

_PATH_KEYS = (
    "path", "file_path", "filePath", "filepath", "file", "filename", "file_name", "target_file", "targetFile",
    "absolute_path", "absolutePath", "relative_path", "relativePath", "notebook_path", "TargetFile", "AbsolutePath",
)  # fmt: skip
_COMMAND_KEYS = (
    "command",
    "cmd",
    "CommandLine",
    "commandLine",
    "shell_command",
    "bash_command",
    "script",
    "keystrokes",
)
_PROGRAM = pattern(
    r"\s*(?:export (?:const|let|default|async|function)\b|import [^\n]+ from ['\"]|(?:const|let|var) \w+ = |(?:async )?function \w+\()"
)
"""How a program in JavaScript begins, which is no command line of a shell."""

_FOLDER_KEYS = ("workdir", "cwd", "working_directory", "Cwd", "dir_path", "directory")
_EDIT_KEYS = frozenset({
    "old_string", "new_string", "oldText", "newText", "old_str", "new_str", "old_text", "new_text", "edits", "diff",
    "replacement", "insert_line", "search", "new_source", "code_edit", "old_content", "patch",
})  # fmt: skip
_BODY_KEYS = frozenset({"content", "contents", "file_text", "text", "body", "data", "fileContent"})
_PROGRESS = "task_progress"
"""The argument in which Cline says with each call how far its plan is, as a list of boxes."""

BODIES = _BODY_KEYS | _EDIT_KEYS - {"insert_line", "search"} | {"code", _PROGRESS}
"""Arguments that are not told: what they hold stands in a file, or in the plan."""

_MOVES = (("source", "destination"), ("old_path", "new_path"), ("from", "to"), ("src", "dst"), ("oldPath", "newPath"))
_EDITOR = {
    "view": "read",
    "create": "written",
    "str_replace": "modified",
    "insert": "modified",
    "undo_edit": "modified",
}
_EDITOR |= {"edit": "modified", "write": "written", "read": "read", "delete": "deleted", "replace": "modified"}
SEARCHING = frozenset({"search", "grep", "glob", "find", "list", "ls", "tree"})
_READING = frozenset({"read", "view", "open", "cat", "show", "get", "load", "fetch"})
LOOKING = SEARCHING | _READING
"""Words in the names of tools that only look."""

CHANGING = frozenset({
    "book", "cancel", "create", "update", "send", "modify", "delete", "add", "set", "post", "submit", "transfer",
    "exchange", "return", "refund", "schedule", "write", "move", "pay", "order", "reserve", "assign", "close",
    "merge", "deploy", "publish", "upload", "insert", "remove", "reply", "edit", "apply", "commit", "push", "issue",
    "rename", "place", "register", "buy", "purchase", "checkout", "start", "enable", "disable", "activate", "approve",
    "confirm", "change", "charge", "rebook", "renew", "open",
})  # fmt: skip
"""Words in the names of tools that change something."""

FEEDING = frozenset({"stdin", "input"})
"""Words in the names of tools that feed a running program, or wait for it."""

_CODE = 4_000
_CALLED_IN_CODE = rare(r"tools\.(?<=\btools\.)([a-z_]\w{2,60})\(")
"""How code calls a tool; a pattern that begins with its letters is tried at few places."""

_PLANNING = frozenset({"todo", "todos", "todowrite", "plan", "task", "tasks", "checklist"})
NOTING = _PLANNING | {"note"}
"""Words in the names of tools that show a plan in what they answer."""

DELEGATING = frozenset({"task", "agent", "subagent", "delegate", "dispatch", "spawn"})
"""Words in the names of tools that let another agent work, which answers with its report."""

_VERBS = (
    ("deleted", frozenset({"delete", "remove", "rm", "unlink"})),
    ("modified", frozenset({"edit", "replace", "patch", "modify", "update", "insert", "append", "multiedit", "diff"})),
    ("written", frozenset({"write", "create", "save", "overwrite", "put"})),
    ("", SEARCHING | {"todo", "diagnostics"}),
    ("read", _READING),
)
WRITING = ("written", "created", "modified")
"""What is done to a file whose text is told in the call."""

_SCRIPTED = pattern(r"""c(?<=\bc)(?:md|ommand)["']?\s*:\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)""")
_SCRIPTED_WHERE = pattern(r"""\b(?:workdir|cwd)["']?\s*:\s*["'`](/[^"'`\n]{1,300})["'`]""")
STATES = {
    "pending": "pending", "todo": "pending", "open": "pending", "not_started": "pending", "not-started": "pending",
    "in_progress": "in_progress", "in-progress": "in_progress", "active": "in_progress", "doing": "in_progress",
    "completed": "done", "complete": "done", "done": "done", "finished": "done", "closed": "done",
    "cancelled": "dropped", "canceled": "dropped", "deleted": "dropped", "dropped": "dropped", "skipped": "dropped",
}  # fmt: skip
"""What tools call the states of an item of a plan."""


_BOX = re.compile(r"\s*(?:[-*] )?\[([ xX✓])\] +(\S.*)")
_BOXED = {" ": "pending", "x": "done", "X": "done", "✓": "done"}
"""An item as a line with its box."""

_ITEM_KEYS = ("content", "step", "title", "subject", "task", "text", "description", "name")
"""The keys under which an item says what is to be done, and what more of it."""


class PlanUpdate(Value, frozen=True, gc=False, omit_defaults=True):
    """What a plan tool was told: items as (id, text, status, detail), standing alone when `whole`."""

    items: tuple[tuple[str, str, str, str], ...] = ()
    whole: bool = True


class Action(Value, frozen=True, gc=False, omit_defaults=True):
    """One tool call, read: its files, its command line, its plan."""

    touches: tuple[Touch, ...] = ()
    command: str = ""
    where: str = ""
    """The folder in which the command is run, where the call says so."""
    plan: PlanUpdate | None = None
    shell_only: bool = False
    """Whether the files were read from a command line, where a failure says nothing about the steps before it."""


def read_action(call: ToolCall) -> Action:
    """What a tool call does, whatever agent's vocabulary it is in; arguments that are not JSON are read as text."""
    return _action(call.name, call.arguments)


@lru_cache(maxsize=512)
def _action(tool: str, said: str) -> Action:
    """The same of a call by what it says; it is read again at each fold that still has it before its eyes."""
    arguments = _read(said)
    if isinstance(arguments, str):
        return _read_text(arguments, words_of(tool))
    return _read_object(arguments, words_of(tool))


def _read_object(arguments: dict[str, Any], words: frozenset[str]) -> Action:
    if (plan := _plan(arguments, words)) is not None:
        return Action(plan=plan)
    command = arguments.get("command")
    strings = [*arguments.values(), *(command if isinstance(command, list) else ())]
    patch = next((v for v in strings if isinstance(v, str) and v.lstrip().startswith("*** ") and is_patch(v)), "")
    if patch and not any(isinstance(arguments.get(k), str) for k in _PATH_KEYS):
        return Action(touches=tuple(patch_actions(patch)))
    if command := _command(arguments):
        where = next((v for k in _FOLDER_KEYS if isinstance(v := arguments.get(k), str)), "")
        return Action(touches=tuple(touches(command)), command=command, where=where, shell_only=True)
    return Action(touches=tuple(_file_actions(arguments, words)))


def arguments_of(call: ToolCall) -> Mapping[str, Any] | str:
    """The arguments of a call; the bare text where they are not a JSON object."""
    return _read(call.arguments)


@lru_cache(maxsize=64)
def _read(arguments: str) -> dict[str, Any] | str:
    try:
        value = msgspec.json.decode(arguments)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return arguments
    return value if isinstance(value, dict | str) else arguments


_WITHHELD = re.compile(r"\W*(?:REDACTED|redacted|omitted|hidden|masked)\W*")


def withheld(argument: str) -> bool:
    """Whether all that an argument says is that its words are not shown."""
    return _WITHHELD.fullmatch(argument) is not None


_EQUIPS = re.compile(r"(?i)tool_?search|(?:search|list)_?tools|skill|activate_skill")


def calls_in_code(code: str) -> list[str]:
    """The tools that code calls which an agent writes in place of calls, as Codex's `exec` has it."""
    return [*dict.fromkeys(_CALLED_IN_CODE.findall(code[:_CODE]))]


def spells_out(call: ToolCall) -> bool:
    """Whether all that a call does is said in it: of code each call is of a command, and gives it there."""
    code = arguments_of(call)
    if not isinstance(code, str) or not (called := _CALLED_IN_CODE.findall(code)):
        return True
    return code.count("tools.") == len(called) == len(_SCRIPTED.findall(code))


def equips(call: ToolCall) -> bool:
    """Whether a call brings the agent nothing but tools or a skill: a search for them, or code that only goes through their list."""
    code = call.arguments if isinstance(arguments_of(call), str) else ""
    return _EQUIPS.fullmatch(call.name) is not None or ("ALL_TOOLS" in code and not calls_in_code(code))


@lru_cache(maxsize=1024)
def words_of(name: str) -> frozenset[str]:
    """The lower-case words of a tool's name: `str_replace_editor`, `TodoWrite`, `mcp__fs__read_file`."""
    return frozenset(_words_in(name))


@lru_cache(maxsize=1024)
def changes_by_name(name: str) -> bool:
    """Whether a tool changes something, by the first word of its name that says what it does: `get_order` looks, `order_part` does not."""
    words = _words_in(name)
    does = next((word for word in words if word in CHANGING | LOOKING), "")
    return does in CHANGING and not FEEDING & {*words}


def _words_in(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name[-80:])]


def _read_text(text: str, words: frozenset[str]) -> Action:
    text = text[:50_000]
    patch = text.replace("\\n", "\n") if "*** " in text else ""
    if patch and is_patch(patch):
        return Action(touches=tuple(patch_actions(patch)))
    commands = [_unescape(found[1][1:-1]) for found in _SCRIPTED.finditer(text)]
    if not commands and words & {"bash", "shell", "sh", "run", "terminal", "execute"}:
        commands = [text]
    if not commands:
        return Action()
    command = "; ".join(commands)
    where = found[1] if (found := _SCRIPTED_WHERE.search(text)) else ""
    return Action(touches=tuple(touches(command)), command=command, where=where, shell_only=True)


def says_what(tool: str) -> bool:
    """Whether the name of a tool says what it does to files."""
    return any(words_of(tool) & verbs for _, verbs in _VERBS)


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), text)


def _command(arguments: dict[str, Any]) -> str:
    for key in _COMMAND_KEYS:
        value = arguments.get(key)
        if isinstance(value, list) and all(isinstance(v, str) for v in value):
            return str(value[-1]) if len(value) > 2 and value[1].startswith("-") else " ".join(value)
        if isinstance(value, str) and value.strip():
            if (value in _EDITOR and any(k in arguments for k in _PATH_KEYS)) or _PROGRAM.match(value):
                return ""
            return value
    return ""


def _file_actions(arguments: dict[str, Any], words: frozenset[str]) -> Iterator[Touch]:
    for source, target in _MOVES:
        old, new = arguments.get(source), arguments.get(target)
        if isinstance(old, str) and isinstance(new, str) and words & {"move", "rename", "mv"}:
            yield "renamed", old, new
            return
    action = _verb(arguments, words)
    if not action:
        return
    paths = [v for k in _PATH_KEYS if isinstance(v := arguments.get(k), str)][:1]
    for key in ("paths", "files", "file_paths", "edits"):
        for item in arguments.get(key) or () if isinstance(arguments.get(key), list) else ():
            if isinstance(item, dict):
                item = next((item[k] for k in _PATH_KEYS if isinstance(item.get(k), str)), None)
            if isinstance(item, str):
                paths.append(item)
    for path in dict.fromkeys(paths):
        if 0 < len(path) <= 400 and "://" not in path and "\n" not in path and "*" not in path:
            yield action, path, ""


def _verb(arguments: dict[str, Any], words: frozenset[str]) -> str:
    """The action that a call with a path stands for."""
    command = arguments.get("command")
    if isinstance(command, str) and command in _EDITOR:
        return _EDITOR[command]
    keys = arguments.keys()
    for action, verbs in _VERBS:
        if words & verbs:
            return "modified" if action == "written" and keys & _EDIT_KEYS and not keys & _BODY_KEYS else action
    if keys & _EDIT_KEYS and "pattern" not in keys and "query" not in keys:
        return "modified"
    return "written" if keys & _BODY_KEYS else ""


def _plan(arguments: dict[str, Any], words: frozenset[str]) -> PlanUpdate | None:
    """The items of a plan tool: a whole list, of a tool of any name where all have a box, or one item that is added or changed."""
    lists = [value for value in arguments.values() if isinstance(value, list) and value]
    for value in lists:
        boxed = [_BOX.fullmatch(each) if isinstance(each, str) else None for each in value]
        if len(boxed) > 1 and all(boxed):
            return PlanUpdate(tuple(_boxed(boxed)))
    if not words & _PLANNING:
        return None
    for value in lists:
        if all(isinstance(each, dict) for each in value) and any(map(_has_status, value)):
            items = tuple(item for each in value if (item := _plan_item(each))[1])
            return PlanUpdate(items) if items else None
    if words & {"create", "update"} and ("subject" in arguments or "taskId" in arguments):
        return PlanUpdate((_plan_item(arguments),), whole=False)
    return None


def progress_of(call: ToolCall) -> PlanUpdate | None:
    """The plan that a call of any tool says beside what it does; None where it says none."""
    said = arguments_of(call) if f'"{_PROGRESS}"' in call.arguments else ""
    listed = "" if isinstance(said, str) else said.get(_PROGRESS)
    items = tuple(_boxed(map(_BOX.fullmatch, listed.splitlines()))) if isinstance(listed, str) else ()
    return PlanUpdate(items) if items else None


def _boxed(boxes: Iterable[re.Match[str] | None]) -> Iterator[tuple[str, str, str, str]]:
    return (("", box[2][:300], _BOXED[box[1]], "") for box in boxes if box)


def _has_status(item: dict[str, Any]) -> bool:
    return "completed" in item or bool(_status_key(item))


def _status_key(item: dict[str, Any]) -> str:
    """The key under which an item says how it stands: by its name, else by what stands there."""
    stands = (key for key, value in item.items() if isinstance(value, str) and value.lower() in STATES)
    return next((key for key in ("status", "state") if key in item), next(stands, ""))


def _plan_item(item: dict[str, Any]) -> tuple[str, str, str, str]:
    stands = _status_key(item)
    ids = ("id", "taskId", stands)
    own = [key for key in _ITEM_KEYS if key in item] or [key for key in item if key not in ids]
    said = [" ".join(text.split()) for key in own if isinstance(text := item[key], str) and text.strip()]
    text, detail = (*said, "", "")[:2]
    status = item.get(stands or "status", "")
    known = STATES.get(status.lower(), "pending") if isinstance(status, str) and status else ""
    if item.get("completed") is True or item.get("done") is True:
        known = "done"
    return str(item.get("taskId") or item.get("id") or ""), text[:300], known, detail[:300]
