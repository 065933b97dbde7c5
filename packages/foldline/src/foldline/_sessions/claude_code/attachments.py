"""Claude Code's attachments: what it says to the model in reminders between the messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from foldline._messages import Speaker
from foldline._sessions.values import Json, items, mapping, mappings, string, words

UNSENT = frozenset(("hook_system_message", "command_permissions", "prompt_snapshot", "auto_mode", "hook_cancelled"))
"""Kinds that only the screen shows, or that say nothing but a setting."""

PEERS = ("peer", "teammate", "task-notification")
"""Whose messages come from other agents, by the kind of their origin."""

SENT_HOOKS = ("SessionStart", "UserPromptSubmit")
"""Events whose hooks speak to the model when they succeed."""


def reminders(row: Json) -> Iterator[str]:
    """The texts that an attachment row adds to the request, wrapped as Claude Code wraps them.

    Newer versions store the rendered text; for older ones it is made from what they store.
    """
    rendered = [string(each.get("content"), words(each.get("content"))) for each in mappings(row.get("rendered"))]
    if rendered:
        yield from filter(None, rendered)
        return
    attachment = mapping(row.get("attachment"))
    kind = string(attachment.get("type"))
    if kind in UNSENT:
        return
    if kind in _SENTENCES:
        text = _SENTENCES[kind].format_map(defaultdict(str, {key: string(value) for key, value in attachment.items()}))
    else:
        text = _RENDERERS.get(kind, _plain)(attachment)
    if text:
        yield f"<system-reminder>\n{text}\n</system-reminder>"


def queued_prompt(row: Json) -> str:
    """The words of a user that waited in the queue while the agent worked; empty for every other attachment."""
    attachment = mapping(row.get("attachment"))
    return words(attachment.get("prompt")) if attachment.get("type") == "queued_command" else ""


def prompted_by(row: Json) -> Speaker:
    """Whose words waited: the user's, unless the attachment says that another agent or the program put them there."""
    attachment = mapping(row.get("attachment"))
    origin = string(mapping(attachment.get("origin")).get("kind"))
    if origin in PEERS or attachment.get("commandMode") == "task-notification":
        return "peer"
    return "harness" if origin not in ("", "human") or attachment.get("isMeta") is True else "user"


def system_prompt(row: Json) -> tuple[list[str], list[object]] | None:
    """The system prompt and the tools that a row records, or None where it records none."""
    attachment = mapping(row.get("attachment"))
    if attachment.get("type") != "prompt_snapshot":
        return None
    prompt = [text for text in items(attachment.get("systemPrompt")) if isinstance(text, str)]
    tools: list[object] = [mapping(tool.get("schema")) or tool for tool in mappings(attachment.get("tools"))]
    return prompt, tools


def _hook_success(attachment: Json) -> str:
    content = string(attachment.get("content"))
    if attachment.get("hookEvent") not in SENT_HOOKS or not content:
        return ""
    return f"{string(attachment.get('hookName'))} hook success: {content}"


def _hook_context(attachment: Json) -> str:
    content = words(attachment.get("content"))
    return f"{string(attachment.get('hookName'))} hook additional context: {content}" if content else ""


def _delta(attachment: Json) -> str:
    lines = items(attachment.get("addedLines")) or items(attachment.get("addedBlocks"))
    return "\n".join(line for line in lines if isinstance(line, str))


def _tasks(attachment: Json) -> str:
    tasks = "\n".join(
        f"#{task.get('id', '')}. [{string(task.get('status'))}] {string(task.get('subject'), task.get('content'))}"
        for task in mappings(attachment.get("content"))
    )
    return f"The task tools haven't been used recently.\n{tasks}".rstrip()


def _memory(attachment: Json) -> str:
    content = mapping(attachment.get("content"))
    return f"Contents of {string(attachment.get('path'))}:\n\n{string(content.get('content'))}"


def _file(attachment: Json) -> str:
    content = mapping(attachment.get("content"))
    text = string(mapping(content.get("file")).get("content"), content.get("content"))
    return f"Contents of {string(attachment.get('filename'))}:\n\n{text}" if text else ""


def _skills(attachment: Json) -> str:
    return "\n\n".join(string(skill.get("content")) for skill in mappings(attachment.get("skills")))


def _plain(attachment: Json) -> str:
    for key in ("text", "content", "snippet", "prompt", "message", "planContent"):
        if text := words(attachment.get(key)):
            return text
    return ""


_RENDERERS: dict[str, Callable[[Json], str]] = {
    "hook_success": _hook_success,
    "hook_additional_context": _hook_context,
    "deferred_tools_delta": _delta,
    "agent_listing_delta": _delta,
    "mcp_instructions_delta": _delta,
    "task_reminder": _tasks,
    "todo_reminder": _tasks,
    "nested_memory": _memory,
    "file": _file,
    "invoked_skills": _skills,
}

_SENTENCES = {
    "compact_file_reference": "Note: {filename} was read before the last conversation was summarized.",
    "edited_text_file": "Note: {filename} was modified:\n{snippet}",
    "date_change": "The date has changed. Today's date is now {newDate}.",
}
