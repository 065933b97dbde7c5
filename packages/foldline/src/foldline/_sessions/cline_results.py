"""What tools answered, where Cline sends that as texts and not as the results of its calls."""

from __future__ import annotations

import re
from collections.abc import Sequence

from foldline._messages import Message, Part, Text, ToolCall, ToolResult, replace

ASKING = ("[ask_followup_question", "[attempt_completion", "[plan_mode_respond")
"""Tools whose answer is the user's."""

_BEGIN = re.compile(r"\s*(?:\[(?P<ran>\w+)(?: for '[^\n]*')?\] Result:|Tool \[(?P<refused>\w+)\] was not executed\b)")
"""How an answer begins, and why there is none."""

_HEAD = re.compile(r"\s*\[(?!ask_followup|attempt_comp|plan_mode)\w+(?: for '[^\n]*')?\] Result:\s*")
"""The line over an answer, by itself."""

_OTHERS = re.compile(r"\A\s*(?:<|\[|New (?:message|instructions) )|<(?:user_message|answer|feedback)>")
"""What is none: what the user says, and what Cline says of the environment."""

_SAVED = re.compile(
    r"\s*Here is the full, updated content of the file that was saved:\s*<final_file_content.*?</final_file_content>",
    re.DOTALL,
)
"""What stands in a file that the agent wrote just then."""


def answering(message: Message, calls: Sequence[ToolCall]) -> Message:
    """The message with the texts as results in which it answers `calls` that have no result there."""
    message = _joined(message)
    answered = {result.call_id for result in message.results}
    waiting = [call for call in calls if call.id not in answered]
    if not waiting:
        return message
    parts: list[Part] = []
    for part in message.parts:
        before = parts[-1] if parts else None
        if type(part) is Text and (result := _result(part, waiting)):
            waiting = [call for call in waiting if call.id != result.call_id]
            parts.append(result)
        elif type(part) is Text and type(before) is ToolResult and _goes_on(part):
            parts[-1] = replace(before, parts=(*before.parts, Text(part.text)))
        else:
            parts.append(part)
    return replace(message, parts=tuple(parts))


def _joined(message: Message) -> Message:
    """The message with each answer in one text with the line over it, where that stands by itself."""
    parts: list[Part] = []
    for part in message.parts:
        before = parts[-1] if parts else None
        if (
            type(part) is Text
            and type(before) is Text
            and _HEAD.fullmatch(before.text)
            and not _OTHERS.search(part.text)
        ):
            parts[-1] = replace(before, text=f"{before.text.rstrip()}\n{part.text}")
        else:
            parts.append(part)
    return message if len(parts) == len(message.parts) else replace(message, parts=tuple(parts))


def _result(part: Text, waiting: Sequence[ToolCall]) -> ToolResult | None:
    """What a text answers the first call of its tool; None where it answers none."""
    begin = None if part.text.lstrip().startswith(ASKING) else _BEGIN.match(part.text)
    call = next((each for each in waiting if begin and each.name in (begin["ran"], begin["refused"])), None)
    if begin is None or call is None:
        return None
    said = _SAVED.sub("", part.text[begin.end() :] if begin["ran"] else part.text).strip()
    return ToolResult(call.id, (Text(said),) if said else (), error=begin["ran"] is None)


def _goes_on(part: Text) -> bool:
    """Whether a text is the rest of an answer, and nothing of what Cline says behind that."""
    from foldline._facts.speakers import whose

    return part.by == "tool" and not whose(part.text)
