"""Words of a text in the user's role: the project's rules, another compactor's summary; and clean text."""

from __future__ import annotations

import re

from foldline._facts.wrappers import SUMMARY
from foldline._patterns import pattern

_ESCAPES = pattern(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_]?)")
"""Control sequences, operating system commands and two-character escapes of ECMA-48."""

_SURROGATE = re.compile("[\ud800-\udfff]")

_RULES = ("# AGENTS.md instructions", "<user_instructions>", "<INSTRUCTIONS>")

_SKILLS = re.compile(
    r"\n## Skills\n(?:A skill is a set of local instructions to follow that is stored in a `SKILL\.md` file\."
    r"|These skills are discovered at startup from multiple local sources\.)"
)
"""How Codex begins what it says itself behind the project's instructions: which skills there are, and how to use one."""

_EMPTY = re.compile(r"\s*(?:# AGENTS\.md instructions[^\n]*)?\s*(?:<\w+>)?\s*")
"""The frame of instructions that hold nothing of a project's."""

_OWN_ENDS = "\n--- project-doc ---\n"
"""What Codex puts between the user's own instructions, for whatever project, and those of the project."""


def is_summary(text: str) -> bool:
    """Whether a user's text opens as the summary of another compactor does."""
    return SUMMARY.match(text.lstrip()[:200]) is not None


def project_rules(text: str) -> str:
    """The project's instructions that a client put into a user message, without what it says there itself, or an empty text."""
    text = text.lstrip()
    if not text.startswith(_RULES):
        return ""
    own = _SKILLS.split(text, maxsplit=1)[0]
    return own if own == text or _EMPTY.fullmatch(own) is None else ""


def own_part(instructions: str) -> str:
    """The beginning of instructions that is the user's own, where a client says where it ends; else an empty text."""
    own, ends, _ = instructions.partition(_OWN_ENDS)
    return own if ends else ""


def clean(text: str) -> str:
    """The text without lone surrogates, which no file and no wire can carry, without a terminal's escapes, and without the
    empty halves of letters that a program of Windows wrote as UTF-16."""
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    if "\0" in text:
        text = text.replace("\0", "")
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
