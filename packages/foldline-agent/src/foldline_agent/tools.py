"""What the agent can do: read, write, edit, bash, recall. Each is a declaration and a function; what changes something asks first."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from difflib import unified_diff
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from foldline import SessionFile, handle, recall_tool

MOST = 40_000
"""Characters that a tool may answer with; of a file it is the beginning, of a command the end."""

LINES = 2_000
"""Lines of a file that are read at once unless told otherwise."""

SECONDS = 120.0
"""How long a command may take unless told otherwise."""


class ToolFailed(Exception):
    """A tool could not do what was asked; the words are for the model."""


class Read(Struct, frozen=True, forbid_unknown_fields=True):
    """Read a text file."""

    path: Annotated[str, Meta(description="The file; relative paths start in the working directory.")]
    offset: Annotated[int, Meta(ge=1, description="The first line to read, counted from 1.")] = 1
    limit: Annotated[int, Meta(ge=1, description="The most lines to read.")] = LINES


class Write(Struct, frozen=True, forbid_unknown_fields=True):
    """Write a file whole; folders that are missing are made."""

    path: Annotated[str, Meta(description="The file; relative paths start in the working directory.")]
    content: Annotated[str, Meta(description="All that the file is to hold.")]


class Edit(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Replace a text in a file by another. The old text must stand there exactly once, to the space."""

    path: Annotated[str, Meta(description="The file; relative paths start in the working directory.")]
    old_text: Annotated[str, Meta(min_length=1, description="The text to replace.")]
    new_text: Annotated[str, Meta(description="What takes its place.")]


class Bash(Struct, frozen=True, forbid_unknown_fields=True):
    """Run a shell command in the working directory and answer with what it prints."""

    command: Annotated[str, Meta(min_length=1, description="The command.")]
    timeout: Annotated[float, Meta(gt=0, description="The most seconds that it may take.")] = SECONDS


@dataclass(frozen=True)
class Tool:
    """A tool: what the model is told of it, what it does, and, where it asks first, what it says it would do."""

    name: str
    description: str
    parameters: Mapping[str, object]
    run: Callable[[str], Awaitable[str]]
    """Takes the arguments as JSON; raises `ToolFailed`."""
    preview: Callable[[str], str] | None = None


def tools_in(cwd: Path, session: Callable[[], SessionFile]) -> dict[str, Tool]:
    """The tools of an agent that works in a directory and remembers by a session."""

    async def recall(arguments: str) -> str:
        return await asyncio.to_thread(handle, arguments, source=session())

    told = recall_tool("openai-chat")["function"]
    tools = (
        _tool(Read, read, cwd),
        _tool(Write, write, cwd, preview=change_by_writing),
        _tool(Edit, edit, cwd, preview=change_by_editing),
        _tool(Bash, bash, cwd, preview=lambda asked, cwd: asked.command),
        Tool(told["name"], told["description"], told["parameters"], recall),
    )
    return {tool.name: tool for tool in tools}


def _tool(
    kind: type[Struct],
    run: Callable[[Any, Path], Awaitable[str]],
    cwd: Path,
    preview: Callable[[Any, Path], str] | None = None,
) -> Tool:
    """A tool whose arguments are a struct: its fields are the schema, its docstring the description."""
    schema = msgspec.json.schema(kind)["$defs"][kind.__name__]
    parameters = {key: schema[key] for key in ("type", "properties", "required", "additionalProperties")}

    def asked(arguments: str) -> object:
        try:
            return msgspec.json.decode(arguments, type=kind, strict=False)
        except msgspec.DecodeError as error:
            raise ToolFailed(f"the arguments cannot be read: {error}") from error

    async def running(arguments: str) -> str:
        return await run(asked(arguments), cwd)

    shown = None if preview is None else partial(lambda preview, arguments: preview(asked(arguments), cwd), preview)
    return Tool(kind.__name__.lower(), str(kind.__doc__), parameters, running, shown)


# -- what they do --------------------------------------------------------------------------------------------------


async def read(asked: Read, cwd: Path) -> str:
    """The lines of a file."""
    lines = _text(cwd / asked.path).splitlines(keepends=True)
    behind = asked.offset - 1 + asked.limit
    shown = "".join(lines[asked.offset - 1 : behind])
    if len(shown) > MOST:
        return f"{shown[:MOST]}\n[cut off after {MOST:,} characters: read on with offset]"
    return shown + (f"\n[{len(lines) - behind:,} more lines: read on with offset]" if behind < len(lines) else "")


async def write(asked: Write, cwd: Path) -> str:
    """Writes a file whole."""
    _store(cwd / asked.path, asked.content)
    return f"Wrote {len(asked.content.encode()):,} bytes to {asked.path}"


async def edit(asked: Edit, cwd: Path) -> str:
    """Replaces one text in a file."""
    _store(cwd / asked.path, _edited(asked, cwd))
    return f"Edited {asked.path}"


async def bash(asked: Bash, cwd: Path) -> str:
    """Runs a command; it and all that it started end where it takes too long, and where the agent is stopped."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_shell(
        asked.command,
        cwd=cwd,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=pipe,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(asked.timeout):
            output, _ = await process.communicate()
    except (TimeoutError, asyncio.CancelledError) as stopped:
        with suppress(ProcessLookupError):
            _end(process)
        if isinstance(stopped, asyncio.CancelledError):
            raise
        raise ToolFailed(f"the command took more than {asked.timeout:g} seconds and was ended") from stopped
    said = output.decode("utf-8", "replace")
    if len(said) > MOST:
        said = f"[cut off: the last {MOST:,} characters]\n{said[-MOST:]}"
    if process.returncode:
        raise ToolFailed(f"{said}\n\nCommand exited with code {process.returncode}".lstrip())
    return said or "(no output)"


def _end(process: asyncio.subprocess.Process) -> None:
    """Ends a command with all that it started, where the system knows groups of processes, and else alone."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def change_by_writing(asked: Write, cwd: Path) -> str:
    """What writing would change, as a diff."""
    path = cwd / asked.path
    return _diff(asked.path, _text(path) if path.is_file() else "", asked.content)


def change_by_editing(asked: Edit, cwd: Path) -> str:
    """What editing would change, as a diff."""
    return _diff(asked.path, _text(cwd / asked.path), _edited(asked, cwd))


def _diff(path: str, before: str, after: str) -> str:
    lines = unified_diff(before.splitlines(), after.splitlines(), path, path, lineterm="")
    return "\n".join(lines) or f"{path} stays as it is"


def _edited(asked: Edit, cwd: Path) -> str:
    text = _text(cwd / asked.path)
    if (found := text.count(asked.old_text)) != 1:
        why = "is not there" if not found else f"stands there {found} times; give more of what is around it"
        raise ToolFailed(f"{asked.path} was not changed: the old text {why}")
    return text.replace(asked.old_text, asked.new_text)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, ValueError) as error:
        raise ToolFailed(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error


def _store(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except (OSError, ValueError) as error:
        raise ToolFailed(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}") from error
