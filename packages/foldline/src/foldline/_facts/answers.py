"""What a tool itself said: its answer without the lines and tags that a client puts around it."""

from __future__ import annotations

import re

_REPORTED = re.compile(
    r"\A(?:(?:Script completed|Command: |Chunk ID: |Wall time|Process exited|Process running|Exit code: |Original token count|Total output lines)[^\n]*\n)+"
    r"(?:Output:\n*)?"
)
"""Codex's lines before an output."""

_RECORD = re.compile(r'\A\{(?:"[a-z_]+":(?:"[^"\\]*"|[\d.]+|null|true|false),)*"output":"')
"""Codex's record of an output, up to the output."""

_RECORD_END = re.compile(r'"(?:,"[a-z_]+":(?:\{[^{}]*\}|"[^"\\]*"|[\d.]+|null|true|false))*\}\s*\Z')
_TAGS = re.compile(r"\A<returncode>-?\d+</returncode>\s*<output>\n?|\A<output>\n?|\n?</output>\s*\Z")
"""Around an output of mini-swe-agent."""

_PLACE = re.compile(
    r"(?:\n?\[(?:The command completed with exit code|Command finished with exit code|Current working directory:|Python interpreter:)[^\]\n]*\])+\s*\Z"
    r"|(?:\n?\((?:Open file|Current directory): [^\n]*\))+(?:\n?bash-\$)?\s*\Z"
)
"""Behind an output of OpenHands, and of SWE-agent."""

_DELEGATED = re.compile(r"(?:\n*(?:agentId: \w+[^\n]*|<usage>.*?</usage>))+\s*\Z", re.DOTALL)
"""Behind a sub-agent's report, in Claude Code."""

_EDGE = 80
"""Characters at the end of an answer among which its last tag stands."""

_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_SIGNS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def unframed(answer: str) -> str:
    """A tool's answer without its frame; one that was cut in its middle is read as well."""
    if found := _RECORD.match(answer):
        return _unescaped(_RECORD_END.sub("", answer[found.end() :])).strip("\n")
    if found := _REPORTED.match(answer):
        answer = answer[found.end() :]
    if answer.startswith("<") or "</output>" in answer[-_EDGE:]:
        answer = _TAGS.sub("", answer)
    if answer.rstrip().endswith(("]", ")", "bash-$")):
        answer = _PLACE.sub("", answer)
    return _DELEGATED.sub("", answer) if "agentId: " in answer[-400:] else answer


def _unescaped(text: str) -> str:
    """A JSON string's letters, those beyond the first plane from their two halves."""
    return _ESCAPED.sub(_sign, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _sign(found: re.Match[str]) -> str:
    escape = found[1]
    return chr(int(escape[1:], 16)) if len(escape) > 1 else _SIGNS.get(escape, escape)
