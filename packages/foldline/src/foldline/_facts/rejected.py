"""Edits that a tool did not make, by what it answered: what they name is as it was."""

from __future__ import annotations

import re

from foldline._facts.answers import unframed
from foldline._facts.patches import is_patch, patch_actions
from foldline._facts.patterns import rare
from foldline._facts.tool_calls import Action
from foldline._messages import replace

_PATCHING = "apply_patch("
"""How code calls the tool that takes a patch."""

_REJECTED = (
    r"(?:apply_patch verification failed|Invalid Context \d+:|Failed to find (?:expected lines|context)|patch rejected"
    r"|String to replace not found|oldString not found|Could not find (?:the exact text|oldString)|No replacement was performed"
    r"|Your proposed edit has introduced new syntax error|Usage: edit <)"
)
_ANSWERED = rare(rf"\s*(?:<tool_use_error>|Script error:\s|[Ee]rror: |ERROR:\s)*({_REJECTED}[^\n]*)")
_PUT_OUT = rare(rf"^(?:[Ee]rror: )?{_REJECTED}", re.MULTILINE)
"""How Codex, Claude Code, pi, opencode, OpenHands, SWE-agent and editors that imitate theirs say that they made no edit, as all that they answer, and
amid the output of other steps."""

_OPENING = 2_000
"""Characters of an output in which a patch among other steps says that it was rejected."""


def rejected(action: Action, code: str, answer: str) -> bool:
    """Whether a call was an edit, or `code` with one patch, and was not made."""
    edits = is_patch(action.command) if action.command else code.count(_PATCHING) < 2
    return edits and _ANSWERED.match(unframed(answer)) is not None


def as_made(action: Action, code: str, answer: str) -> Action:
    """What a call did to files, without what was rejected: of a command line its patch, of `code` with several patches the one
    of the file that the answer names."""
    if is_patch(action.command):
        if not _PUT_OUT.search(unframed(answer)[:_OPENING]):
            return action
        patched = {*patch_actions(action.command)}
        return replace(action, touches=tuple(touch for touch in action.touches if touch not in patched))
    found = _ANSWERED.match(unframed(answer)) if code.count(_PATCHING) > 1 else None
    return (
        replace(action, touches=tuple(touch for touch in action.touches if touch[1] not in found[1]))
        if found
        else action
    )
