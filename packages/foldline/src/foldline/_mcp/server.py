"""An MCP server over standard input and output: recall, the state of a session, and folding it.

Written here rather than on the official package: that one takes 2.3 seconds of CPU to import and 30 packages to
install, where a client starts this server with each of its own sessions, and five methods are all that is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO

import msgspec

from foldline import __version__
from foldline._errors import FoldlineError
from foldline._mcp.project import Project
from foldline._mcp.tools import TOOLS, WrongArguments
from foldline._visible import visible

VERSIONS = ("2025-06-18", "2025-03-26", "2024-11-05")
"""The protocol's versions that are spoken; a client that asks for another one is offered the first."""

LARGEST = 16 * 1024 * 1024
"""Bytes of the longest line that is read."""

UNREADABLE, INVALID, NO_METHOD, BAD_PARAMS, BROKEN = -32700, -32600, -32601, -32602, -32603

INSTRUCTIONS = (
    "Gives an agent back what was folded out of its context: recall looks up earlier messages of its sessions, "
    "context_status tells how full a session is, compact folds one."
)


class Refused(Exception):
    """A request that is answered with an error: its code, and why."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.code = code


def serve(requests: BinaryIO, answers: BinaryIO, project: Project) -> None:
    """Answers a client until it closes its end."""
    while line := requests.readline(LARGEST):
        if len(line) == LARGEST and not line.endswith(b"\n"):
            while (rest := requests.readline(LARGEST)) and not rest.endswith(b"\n"):
                pass
            answer: object = _error(None, INVALID, f"a line of more than {LARGEST:,} bytes")
        else:
            answer = answer_line(line, project)
        if answer is not None:
            answers.write(msgspec.json.encode(answer) + b"\n")
            answers.flush()


def answer_line(line: bytes, project: Project) -> object:
    """What a line is answered with, None where it asks for nothing; a list of requests is answered by a list."""
    if not line.strip():
        return None
    try:
        asked = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return _error(None, UNREADABLE, str(error))
    if not isinstance(asked, list):
        return _answer(asked, project)
    if not asked:
        return _error(None, INVALID, "an empty list of requests")
    return [answer for each in asked if (answer := _answer(each, project)) is not None] or None


def _answer(asked: object, project: Project) -> dict[str, object] | None:
    if not isinstance(asked, dict):
        return _error(None, INVALID, "a request is an object")
    id, method = asked.get("id"), asked.get("method")
    if method is None and ("result" in asked or "error" in asked):
        return None
    if "id" in asked and (isinstance(id, bool) or not isinstance(id, str | int)):
        return _error(None, INVALID, "an id is a string or an integer")
    if asked.get("jsonrpc") != "2.0" or not isinstance(method, str):
        return _error(id, INVALID, "not a request of JSON-RPC 2.0")
    if "id" not in asked:
        return None
    try:
        params = asked.get("params") or {}
        if not isinstance(params, dict):
            raise Refused(BAD_PARAMS, "params is an object")
        if method not in METHODS:
            raise Refused(NO_METHOD, f"no such method: {method}")
        return {"jsonrpc": "2.0", "id": id, "result": METHODS[method](params, project)}
    except Refused as refused:
        return _error(id, refused.code, str(refused))
    except Exception as error:  # noqa: BLE001  a client must hear of a fault here, and the next request be answered
        return _error(id, BROKEN, f"{type(error).__name__}: {error}")


def _error(id: str | int | None, code: int, why: str) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": visible(why[:1_000])}}


# -- methods -----------------------------------------------------------------------------------------------------


def _initialize(params: dict[str, object], project: Project) -> dict[str, object]:
    asked = params.get("protocolVersion")
    if not isinstance(asked, str):
        raise Refused(BAD_PARAMS, "protocolVersion is missing")
    client = params.get("clientInfo")
    name = client.get("name") if isinstance(client, dict) else None
    project.client = name.lower() if isinstance(name, str) else ""
    return {
        "protocolVersion": asked if asked in VERSIONS else VERSIONS[0],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "foldline", "version": __version__},
        "instructions": INSTRUCTIONS,
    }


def _list(params: dict[str, object], project: Project) -> dict[str, object]:
    return {
        "tools": [
            {
                "name": name,
                "description": tool.description,
                "inputSchema": tool.schema(),
                "annotations": {"readOnlyHint": not tool.writes, "destructiveHint": False, "openWorldHint": False},
            }
            for name, tool in TOOLS.items()
        ]
    }


def _call(params: dict[str, object], project: Project) -> dict[str, object]:
    """A tool's answer; what goes wrong inside of it is for the model to read, what was asked wrongly is an error."""
    name, arguments = params.get("name"), params.get("arguments") or {}
    tool = TOOLS.get(name) if isinstance(name, str) else None
    if tool is None:
        raise Refused(BAD_PARAMS, f"no such tool: {name!r}")
    if not isinstance(arguments, dict):
        raise Refused(BAD_PARAMS, "arguments is an object")
    try:
        return _said(tool.run(arguments, project))
    except WrongArguments as error:
        raise Refused(BAD_PARAMS, str(error)) from error
    except FoldlineError as error:
        return _said(str(error), wrong=True)


def _said(text: str, *, wrong: bool = False) -> dict[str, object]:
    return {"content": [{"type": "text", "text": visible(text)}], "isError": wrong}


METHODS: dict[str, Callable[[dict[str, object], Project], dict[str, object]]] = {
    "initialize": _initialize,
    "ping": lambda params, project: {},
    "tools/list": _list,
    "tools/call": _call,
}
