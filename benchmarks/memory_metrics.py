"""What `memory` measures of a folded history, from texts and tool calls alone and without a judge."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from foldline.messages import Message, ToolCall, ToolResult, text_of
from memory_planted import Correction
from memory_words import arguments, stands, texts, written

# -- literals ----------------------------------------------------------------------------------------------------


def seen(messages: Iterable[Message]) -> str:
    """All that a model reads in the messages."""
    return "\n".join(text for message in messages for text in texts(message))


def share(words: Sequence[str], text: str) -> float:
    """The share of words that stand in a text; 1 where there are none."""
    return sum(stands(text, word) for word in words) / len(words) if words else 1.0


# -- the user's words --------------------------------------------------------------------------------------------

_CLIENT = re.compile(
    r"\s*(?:<|# AGENTS\.md|Caveat:|\[Request interrupted|Message Type:|Base directory for this skill|/\w+\s*$|\[SYSTEM|Stop hook)"
)
_PASTED = 2_000


def user_lines(messages: Iterable[Message]) -> list[str]:
    """The lines that users typed: not what clients wrap into their messages, and not long pasted texts."""
    found: dict[str, None] = {}
    for message in messages:
        if message.role != "user" or any(True for _ in message.results) or message.summary is not None:
            continue
        text = message.text
        if _CLIENT.match(text) or len(text) > _PASTED or "</" in text:
            continue
        found.update(dict.fromkeys(line for raw in text.splitlines() if len(line := raw.strip()) > 1))
    return list(found)


def words_kept(lines: Sequence[str], messages: Sequence[Message]) -> float:
    """The share of the users' characters that stand word for word, line by line."""
    text = seen(messages)
    whole = sum(map(len, lines))
    return sum(len(line) for line in lines if line in text) / whole if whole else 1.0


# -- stale values ------------------------------------------------------------------------------------------------

_MARKED = re.compile(
    r"correct|supersed|stale|outdated|no longer|replaced|retired|instead|formerly|earlier|was ", re.IGNORECASE
)


def stale(facts: Sequence[Correction], original: Sequence[Message], left: Sequence[Message]) -> list[Correction]:
    """The facts whose corrected value a history still asserts: no later message corrects it, nor does the line itself.

    A quotation of the user's own words asserts nothing as long as the correction is quoted with it. A value that stands
    in other messages as well means something else there, and is not counted.
    """
    said = {message.text for message in original}
    told = [f for f in facts if f.corrected in said and _asserted(f, left)]
    return [f for f in told if not any(stands(text, f.old) for text in said - {f.told, f.taken, f.corrected})]


def _asserted(fact: Correction, left: Sequence[Message]) -> bool:
    whole = seen(left)
    for i, message in enumerate(left):
        for text in texts(message):
            for line in text.splitlines():
                if not stands(line, fact.old) or stands(line, fact.new) or _MARKED.search(line):
                    continue
                later = seen(left[i + 1 :])
                quoted = line.startswith(">") and fact.corrected in whole
                if fact.corrected not in later and not quoted:
                    return True
    return False


# -- files -------------------------------------------------------------------------------------------------------

_PATCHED = re.compile(r"\*\*\* (Add|Update|Delete) File: ([^\n\"\\]+)")
_REMOVED = re.compile(r"(?:^|&&|;|\n)\s*(?:git )?rm ((?:-\w+ )*)([\w./ ~-]+?)\s*(?:$|&&|;|\n|2>)")
_POURED = re.compile(r"(?:^|&&|;|\n)\s*cat (>>?)\s?([\w./~-]+) ?<<")
_FAILED = re.compile(
    r"(?:exit_code|returncode|exited with code|Exit code|exit code:?)\W{1,4}[1-9]|^(?:Error|error:|fatal|Traceback)"
)
_READ = frozenset(("read", "Read", "read_file", "view"))
_WROTE = frozenset(("write", "Write", "write_file"))
_EDITED = frozenset(("edit", "Edit", "MultiEdit", "replace"))
_KEYS = ("file_path", "path", "absolute_path")


def trail(messages: Iterable[Message]) -> dict[str, set[str]]:
    """Each file that tool calls certainly touched, and the words for its last state that are right."""
    messages = list(messages)
    ends = {r.call_id: r for m in messages for r in m.results}
    files: dict[str, set[str]] = {}
    for message in messages:
        for call in message.calls:
            end = ends.get(call.id)
            if end is None or _went_wrong(end):
                continue
            for action, path in _actions(call):
                _book(files, action, path)
    return files


def _book(files: dict[str, set[str]], action: str, path: str) -> None:
    """Books an action; a file is known by the name that it had first, relative or absolute."""
    path = next((p for p in files if p.endswith(f"/{path}") or path.endswith(f"/{p}")), path)
    before = files.get(path, set())
    if action == "read":
        files.setdefault(path, {"read"})
        if "deleted" in before:
            files[path] = {"read"}
    elif action == "written":
        files[path] = {"created", "modified"}
    elif action == "modified":
        files[path] = {"modified", "created"} if "created" in before else {"modified"}
    else:
        files[path] = {action}


def _went_wrong(end: ToolResult) -> bool:
    text = text_of(end)
    return end.error or _FAILED.search(text[:400]) is not None


def _actions(call: ToolCall) -> Iterator[tuple[str, str]]:
    given = arguments(call)
    text = written(call)
    for verb, path in _PATCHED.findall(text.replace("\\n", "\n")):
        yield {"Add": "written", "Update": "modified", "Delete": "deleted"}[verb], path.strip()
    path = next((given[k] for k in _KEYS if isinstance(given.get(k), str)), "")
    path = re.sub(r":\d[\d,+-]*$", "", path)
    if path and "://" not in path and "*" not in path:
        kinds = (("read", _READ), ("written", _WROTE), ("modified", _EDITED))
        yield from ((action, path.removeprefix("./")) for action, names in kinds if call.name in names)
    command = given.get("command", given.get("cmd"))
    if isinstance(command, str) and call.name in ("bash", "Bash", "exec_command") and "cd " not in command:
        found = [(m.start(), "modified" if m[1] == ">>" else "written", [m[2]]) for m in _POURED.finditer(command)]
        if "<<" not in command:
            found += [(m.start(), "deleted", m[2].split()) for m in _REMOVED.finditer(command)]
        for _, action, paths in sorted(found):
            yield from ((action, p.removeprefix("./")) for p in paths if re.search(r"\w\.\w+$", p))


def trail_kept(files: dict[str, set[str]], left: Sequence[Message]) -> float:
    """The share of files whose last state a history shows, in a line that names both or by the calls that stand in it."""
    if not files:
        return 1.0
    calls = trail(left)
    lines = [line for m in left if m.summary is not None for t in texts(m) for line in t.splitlines()]
    return sum(_told(path, states, calls, lines) for path, states in files.items()) / len(files)


def _told(path: str, states: set[str], calls: dict[str, set[str]], lines: Sequence[str]) -> bool:
    if calls.get(path, set()) & states:
        return True
    folder, _, name = path.rpartition("/")
    folder = folder.rpartition("/")[2]
    return any(
        stands(line, name) and (not folder or f"{folder}/" in line) and any(state in line for state in states)
        for line in lines
    )


def changed(files: dict[str, set[str]]) -> dict[str, set[str]]:
    """The files that are not as they were."""
    return {path: states for path, states in files.items() if "read" not in states}


# -- validity ----------------------------------------------------------------------------------------------------


def faults(messages: Sequence[Message]) -> list[str]:
    """What a provider would refuse: a result without its call, a call without its result, an empty message."""
    found: list[str] = []
    open_calls: set[str] = set()
    for message in messages:
        for result in message.results:
            if result.call_id not in open_calls:
                found.append(f"result without call {result.call_id}")
            open_calls.discard(result.call_id)
        if open_calls and message.role != "tool" and not any(True for _ in message.results):
            found += [f"call without result {call}" for call in sorted(open_calls)]
            open_calls.clear()
        open_calls |= {call.id for call in message.calls}
        if not message.parts:
            found.append("an empty message")
    return found


def made_faults(before: Sequence[Message], after: Sequence[Message]) -> list[str]:
    """The faults of a folded history that its original did not have."""
    had = set(faults(before))
    found = [fault for fault in faults(after) if fault not in had]
    if after and after[0].role != "user" and before[0].role == "user":
        found.append("begins with no user")
    return found
