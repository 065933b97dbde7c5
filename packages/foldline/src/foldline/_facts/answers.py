"""What a tool itself said: its answer without the lines and tags that a client puts around it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import msgspec

from foldline._facts.patterns import rare
from foldline._facts.wrappers import HEAD_OF_RESULT
from foldline._patterns import pattern

_REPORTS = (
    "Script completed", "Script failed", "Command: ", "Chunk ID: ", "Wall time", "Process exited", "Process running", "Exit code: ",
    "Original token count", "Total output lines",
)  # fmt: skip
_REPORTED = pattern(
    r"\A(?:Command: .{0,20000}?\n(?=Chunk ID: |Wall time))?"
    rf"(?:(?!Script \w+ )(?:{'|'.join(_REPORTS)})[^\n]*\n)+"
    r"(?:Output:\n*)?",
    re.DOTALL,
)
"""Codex's lines before an output, the command in as many as it has."""

_RECORD = pattern(r'\A\{(?:"[a-z_]+":(?:"[^"\\]*"|[\d.]+|null|true|false),)*"output":"')
"""Codex's record of an output, up to the output."""

_RECORD_END = pattern(r'"(?:,"[a-z_]+":(?:\{[^{}]*\}|"[^"\\]*"|[\d.]+|null|true|false))*\}\s*\Z')
_BY_GEMINI = rare(
    r"\A(?:Command: .*?\nDirectory: [^\n]*\n)?(?:Output|Stdout): (?:\(empty\)|(.*?))(?:\nStderr: (?:\(empty\)|(.*?)))?"
    r"(?:\nError: (?:\(none\)|(.*?)))?(?:\nExit Code: [^\n]*)?(?:\nSignal: [^\n]*)?(?:\nBackground PIDs: [^\n]*)?\nProcess Group PGID: \S+\s*\Z",
    re.DOTALL,
)
"""How Gemini CLI gives what a command put out."""

_CALL_SAID_AGAIN = rare(
    r"\AMCP tool '[^'\n]+' reported tool error for function call: .* with response: .*?\"text\":\"((?:[^\"\\]|\\.)*)\"",
    re.DOTALL,
)
"""How Gemini CLI gives the error of a tool, behind the whole call."""

_TAGS = pattern(r"<(?:(?<=\A<)(?:returncode>-?\d+</returncode>\s*<)?output>\n?|/output>\s*\Z)|\n</output>\s*\Z")
"""Around an output of mini-swe-agent."""

_SCREEN = rare(
    r"\A(?:Previous response had warnings:\n.*?)??(?:New Terminal Output|Current Terminal Screen):\n*", re.DOTALL
)
"""Before what a terminal shows, in Terminus."""

_PLACE = rare(
    r"(?:\n?\[(?:The command completed with exit code|Command finished with exit code|Current working directory:|Python interpreter:)[^\]\n]*\])+\s*\Z"
    r"|(?:\n?\((?:Open file|Current directory): [^\n]*\))+(?:\n?bash-\$)?\s*\Z"
)
"""Behind an output of OpenHands, and of SWE-agent."""

_HEADED = rare(rf"\A{HEAD_OF_RESULT}\s*?\n(?:\s*Command executed\.\nOutput:\n)?")
"""Before what a call brought, in Cline."""

_DELEGATED = pattern(r"(?:\n*(?:agentId: \w+[^\n]*|<usage>.*?</usage>))+\s*\Z", re.DOTALL)
"""Behind a sub-agent's report, in Claude Code."""

_EDGE = 80
"""Characters at the end of an answer among which its last tag stands."""

_ESCAPED = pattern(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_SIGNS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class _ToolResult(msgspec.Struct, forbid_unknown_fields=True):
    """A result of the Model Context Protocol, as its specification of 2025-06-18 has it."""

    content: list[dict[str, Any]]
    structured: dict[str, Any] = msgspec.field(default_factory=dict, name="structuredContent")
    failed: bool = msgspec.field(default=False, name="isError")
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class _Ran(msgspec.Struct):
    """What a command put out, as mini-swe-agent's records have it, of a long output its head and its tail."""

    returncode: int
    output: str = ""
    output_head: str = ""
    output_tail: str = ""
    exception_info: str = ""


def in_tags(answer: str) -> str:
    """An answer as it is; of mini-swe-agent's record what it says as that agent says it elsewhere, in tags."""
    if '"returncode":' not in answer[:_EDGE] or not answer.startswith("{"):
        return answer
    try:
        ran = msgspec.json.decode(answer, type=_Ran)
    except (msgspec.DecodeError, UnicodeError):
        return answer
    broke = f"<exception>{ran.exception_info}</exception>\n" if ran.exception_info else ""
    output = ran.output or f"{ran.output_head}\n…\n{ran.output_tail}".strip("\n…")
    return f"<returncode>{ran.returncode}</returncode>\n{broke}<output>\n{output.rstrip()}\n</output>"


@lru_cache(maxsize=16)
def unframed(answer: str) -> str:
    """A tool's answer without its frame; one that was cut in its middle is read as well."""
    if found := _BY_GEMINI.match(answer):
        return "\n".join(filter(None, found.groups()))
    if found := _CALL_SAID_AGAIN.match(answer):
        return _unescaped(found[1])
    if answer.startswith(_REPORTS) and (found := _REPORTED.match(answer)):
        answer = answer[found.end() :].lstrip("\n")
    if answer.startswith("{") and (found := _RECORD.match(answer)):
        return _unescaped(_RECORD_END.sub("", answer[found.end() :])).strip("\n")
    if answer.startswith("{") and '"content"' in answer and (said := _said_by_protocol(answer)):
        return said
    answer = _SCREEN.sub("", answer)
    answer = _HEADED.sub("", answer) if answer.startswith("[") else answer
    if answer.startswith("<") or "</output>" in answer[-_EDGE:]:
        answer = _TAGS.sub("", answer)
    if answer.rstrip().endswith(("]", ")", "bash-$")):
        answer = _PLACE.sub("", answer)
    return _DELEGATED.sub("", answer) if "agentId: " in answer[-400:] else answer


def _said_by_protocol(answer: str) -> str:
    """What a tool of the Model Context Protocol said: its data, else its texts; empty for what is no such result."""
    try:
        result = msgspec.json.decode(answer, type=_ToolResult)
    except (msgspec.DecodeError, UnicodeError):
        return ""
    if result.structured:
        return msgspec.json.encode(result.structured).decode()
    return "\n".join(part["text"] for part in result.content if isinstance(part.get("text"), str))


def _unescaped(text: str) -> str:
    """A JSON string's letters, those beyond the first plane from their two halves."""
    return _ESCAPED.sub(_sign, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _sign(found: re.Match[str]) -> str:
    escape = found[1]
    return chr(int(escape[1:], 16)) if len(escape) > 1 else _SIGNS.get(escape, escape)
