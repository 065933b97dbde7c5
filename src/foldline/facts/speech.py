"""Who really speaks in a user message: the user's own words, apart from what clients and tools wrap into it."""

from __future__ import annotations

import re

_TAGS = (
    "system-reminder|system_reminder|local-command-stdout|local-command-stderr|local-command-caveat|command-name|command-message|"
    "command-contents|bash-input|bash-stdout|bash-stderr|task-notification|task_notification|environment_context|environment_details|"
    "user_instructions|INSTRUCTIONS|turn_aborted|recommended_plugins|ide_opened_file|ide_selection|ide_diagnostics|"
    "system-notification|system_notification|user-prompt-submit-hook|session-start-hook|teammate-message|subagent_notification|"
    "permissions_instructions|collaboration_mode|apps_instructions|plugins_instructions|skill|skills_instructions|"
    "file_content|attached_files|open_and_recently_viewed_files|additional_data|user_info|project_layout|git_status|"
    "cwd|tool_result|function_results|new-diagnostics|hook_context|model_switch|personality_spec"
)
_OPEN_TAG = re.compile(rf"<({_TAGS})(?=[\s>])[^>]*>")
_ARGS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_METADATA = re.compile(r"^[\w ]{3,40}\(untrusted[^)\n]*\):\s*\n```[a-z]*\n.*?\n```\s*", re.DOTALL | re.MULTILINE)
_LINES = re.compile(
    r"^(?:\[Request interrupted by user[^\]\n]*\]|\[Queued messages while agent was busy\]|System: \[[^\n]*|---\nQueued #\d+)[ \t]*$",
    re.MULTILINE,
)
_WHOLE = re.compile(
    r"(?:Caveat: The messages below|# AGENTS\.md instructions|Base directory for this skill:|\[OpenClaw heartbeat poll\]|"
    r"Pre-compaction memory flush|\[\w+(?: for '[^'\n]*')?\] Result:|OBSERVATION:|Observation:|<returncode>|<observation>|"
    r"API Error:|Stop hook feedback:|\[SYSTEM\]|\[System\]|Unknown (?:slash )?command|Tool result:|<task>\s*</task>)"
)
_SUMMARY = re.compile(
    r"(?:This session is being continued from a previous conversation|Another language model (?:has )?(?:started|worked)|"
    r"The conversation history before this point was compacted|\[COMPACT SUMMARY\]|## Session Summary \(Compaction|"
    r"<(?:conversation-|context_|compact_)?summary>|\[Context truncated|\[CONTEXT COMPACTION|Here is a summary of the conversation)",
    re.IGNORECASE,
)
_SLASH = re.compile(r"/[\w:-]+$")
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_]?)")
"""Control sequences, operating system commands and two-character escapes of ECMA-48."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def own_words(text: str) -> str:
    """The user's own words in a text part of a user message; empty where a client or a tool wrote all of it."""
    text = text.strip()
    if "<command-name>" in text and (args := _ARGS.search(text)):
        return args[1].strip()
    if _WHOLE.match(text) or is_summary(text) or _SLASH.match(text):
        return ""
    if "<" in text:
        text = _without_tags(text)
    if "untrusted" in text:
        text = _METADATA.sub("", text)
    if "[" in text or "Queued" in text:
        text = _LINES.sub("", text)
    text = text.strip()
    return "" if _WHOLE.match(text) or _SLASH.match(text) else text


def is_summary(text: str) -> bool:
    """Whether a user's text opens as the summary of another compactor does."""
    return _SUMMARY.match(text.lstrip()[:200]) is not None


def project_rules(text: str) -> str:
    """The project's instructions that a client put into a user message, or an empty text."""
    text = text.lstrip()
    if text.startswith(("# AGENTS.md instructions", "<user_instructions>", "<INSTRUCTIONS>")):
        return text
    return ""


def clean(text: str) -> str:
    """The text without lone surrogates, which no file and no wire can carry, and without a terminal's escapes."""
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _without_tags(text: str) -> str:
    """The text without the spans that known wrappers enclose; a tag that is never closed is the user's own."""
    kept: list[str] = []
    unclosed: set[str] = set()
    position = start = 0
    while found := _OPEN_TAG.search(text, position):
        close = f"</{found[1]}>"
        position = found.end()
        end = -1 if close in unclosed else text.find(close, position)
        if end < 0:
            unclosed.add(close)
            continue
        kept.append(text[start : found.start()])
        position = start = end + len(close)
    return "".join([*kept, text[start:]])
