"""What Copilot's events say as messages: the user's with what the client puts around it, the agent's, and what tools answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from foldline._messages import Media, Message, Part, Speaker, Text, Thinking, ToolCall, ToolResult
from foldline._sessions.parts import media, spoken_by
from foldline._sessions.values import Json, as_json, mapping, mappings, string

SPEAKERS: dict[str, Speaker] = {
    "system": "harness",
    "jit": "harness",
    "autopilot": "harness",
    "skill": "command",
    "command": "command",
    "agent": "peer",
}
"""Who speaks in a message of the user's role, by its source up to the first hyphen; in one of any other source the user does."""

INTERRUPTED = "The execution of this tool, or a previous tool was interrupted."
"""What Copilot sends as the result of a call that was open when it was stopped or its session was loaded again."""

_FAILED = "Tool execution failed"
_PLANNING = "[[PLAN]] "
"""What Copilot puts before the user's words while it plans."""

_LONG = 40
"""Characters from which the user's words are found wherever they stand; fewer may stand in a date."""


def of_user(data: Json, assets: Mapping[str, Json]) -> Message | None:
    """A message in the user's role as it is sent; `assets` are the files that the log keeps, by their ids."""
    content = string(data.get("content"))
    attached = list(mappings(data.get("attachments")))
    parts: list[Part] = [
        *_words(content, string(data.get("transformedContent"), content)),
        *(Text(listed, by="harness") for listed in (_files(attached), _references(attached)) if listed),
        *(shown for each in attached if (shown := _shown(each, assets))),
    ]
    return spoken_by(Message("user", tuple(parts)), _speaker(data)) if parts else None


def own_words(data: Json) -> str:
    """What the user wrote, as Copilot quotes it beside its summaries; empty where another speaks."""
    return "" if _speaker(data) else string(data.get("content"))


def _speaker(data: Json) -> Speaker:
    if data.get("isAutopilotContinuation") is True or not data.get("content"):
        return "harness"
    return SPEAKERS.get(string(data.get("source")).partition("-")[0], "")


def _words(content: str, sent: str) -> Iterator[Text]:
    """What is sent, by who speaks: the user's words as they stand in it, or before what a command made of them."""
    own = content.strip()
    at = _place(own, sent) if own else -1
    pieces: tuple[Text, ...]
    if at < 0:
        pieces = (Text(content), Text(sent, by="command")) if own else (Text(sent, by="harness"),)
    else:
        end = at + len(own)
        pieces = (Text(sent[:at], by="harness"), Text(sent[at:end]), Text(sent[end:], by="harness"))
    return (piece for piece in pieces if piece.text.strip())


def _place(own: str, sent: str) -> int:
    """Where the user's words stand among paragraphs of the client's; -1 where they do not."""
    at = sent.find(own)
    while at >= 0:
        before = sent[max(0, at - len(_PLANNING) - 2) : at].removesuffix(_PLANNING)
        behind = sent[at + len(own) : at + len(own) + 2]
        if (not before.strip(" ") or before.endswith("\n\n")) and behind.strip(" \r")[:1] in ("", "\n"):
            return at
        at = sent.find(own, at + 1)
    return sent.find(own) if len(own) >= _LONG else -1


def _files(attached: Sequence[Json]) -> str:
    """The files and folders that stand by their paths alone."""
    named = [each for each in attached if each.get("type") in ("file", "directory") and not each.get("assetId")]
    lines = [string(each.get("taggedFilesEntry"), f"* {string(each.get('path'))}") for each in named]
    return "\n".join(("<tagged_files>", *lines, "</tagged_files>")) if lines else ""


def _references(attached: Sequence[Json]) -> str:
    """The issues and pull requests that were attached."""
    lines = [
        f"#{each.get('number')} - {each.get('title')} [{each.get('referenceType')}] [{each.get('state')}] ({each.get('url')})"
        for each in attached
        if each.get("type") == "github_reference"
    ]
    return "\n".join(("<github_references>", *lines, "</github_references>")) if lines else ""


def _shown(item: Json, assets: Mapping[str, Json]) -> Media | None:
    """A file that is sent itself: its bytes stand in the item, or in the asset that it names."""
    held = {**assets.get(string(item.get("assetId")), {}), **item}
    data, mime = string(held.get("data")), string(held.get("mimeType"))
    if not data or not mime:
        return None
    url = f"data:{mime};base64,{data}"
    if mime.startswith("image/"):
        return media(mime, {"type": "image_url", "image_url": {"url": url}})
    return media(
        mime, {"type": "file", "file": {"filename": string(held.get("displayName"), "file"), "file_data": url}}
    )


def of_agent(data: Json) -> Message | None:
    """A reply: what was thought, said and called."""
    thought, sealed = string(data.get("reasoningText")), string(data.get("encryptedContent"))
    signature = string(data.get("reasoningOpaque"))
    parts: list[Part] = []
    if thought or sealed or signature:
        parts.append(
            Thinking(thought, (signature or None) if thought else None, sealed or (None if thought else signature))
        )
    if (said := string(data.get("content"))).strip():
        parts.append(Text(said))
    parts += (call for each in mappings(data.get("toolRequests")) if (call := _requested(each)))
    return Message("assistant", tuple(parts)) if parts else None


def _requested(request: Json) -> ToolCall | None:
    id, arguments = string(request.get("toolCallId")), request.get("arguments")
    custom = request.get("type") == "custom" or ("type" not in request and id.startswith("custom_"))
    return called(id, string(request.get("name")), arguments, custom=custom)


def called(id: str, name: str, arguments: object, *, custom: bool = False) -> ToolCall | None:
    """A call of a tool, or None where it names none."""
    extra = {"type": "custom"} if custom else {}
    return ToolCall(id, name, as_json({} if arguments is None else arguments), extra) if id and name else None


def of_tool(data: Json, assets: Mapping[str, Json]) -> Message:
    """What a tool answered, or why it failed."""
    text, failed = _answer(data)
    files = mappings(mapping(data.get("result")).get("binaryResultsForLlm"))
    parts = ([Text(text)] if text else []) + [shown for each in files if (shown := _shown(each, assets))]
    return Message("tool", (ToolResult(string(data.get("toolCallId")), tuple(parts), failed),))


def of_users_shell(data: Json, command: str) -> Message:
    """What a command put out that the user ran, in Copilot's words around it."""
    text, failed = _answer(data)
    ended = "non-zero exit code" if failed else "exit code 0"
    told = f"The user executed a shell command directly in their terminal ({ended}).\n\nCommand:\n{command}\n\nOutput:\n{text}"
    shell = f"<user_shell_command_output>\n{told}\n</user_shell_command_output>"
    return Message("user", (Text(shell, by="tool"),))


def _answer(data: Json) -> tuple[str, bool]:
    """The text that the model reads, and whether the call failed."""
    given = data.get("result")
    text = string(given, mapping(given).get("content"), mapping(given).get("output"))
    if data.get("success") is not False:
        return text, False
    return string(mapping(data.get("error")).get("message"), text, _FAILED), True


def interrupted(call: ToolCall) -> Message:
    """What stands in for the result of a call that was stopped."""
    return Message("tool", (ToolResult(call.id, (Text(INTERRUPTED),), True),))


def of_host(data: Json) -> Message | None:
    """What Copilot itself tells the model as it goes: that something ended which ran beside it."""
    text = string(data.get("content"))
    shown_only = mapping(data.get("kind")).get("type") == "instruction_discovered"
    return Message("user", (Text(text, by="harness"),)) if text and not shown_only else None
