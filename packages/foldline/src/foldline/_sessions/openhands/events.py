"""Events of the OpenHands SDK as messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from foldline._messages import Message, Part, Thinking, ToolCall, ToolResult, Usage, replace
from foldline._sessions.parts import result, spoken_by, summary, system, texts, usage_at
from foldline._sessions.reading import PastFold, summarized
from foldline._sessions.values import Json, as_json, items, mapping, mappings, string, words

_SILENT = frozenset(
    ("CondensationRequest", "ConversationStateUpdateEvent", "PauseEvent", "LLMCompletionLogEvent", "TokenEvent",
     "ConversationErrorEvent", "HookExecutionEvent", "StreamingDeltaEvent")
)  # fmt: skip
"""Kinds that no model sees."""


class Story:
    """What a list of events comes to."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, Message]] = []
        self.folded: list[tuple[str, Message]] = []
        self.folds: list[PastFold] = []
        self.since = 0
        self.model = ""
        self.context = 0

    def condense(self, id: str, gone: set[str], text: str, timestamp: str) -> None:
        """Takes the forgotten entries out and puts the summary where the first of them stood, behind the task where none did.

        The event says the place as well, by a count of events of which not all are entries.
        """
        forgotten = [at for at, entry in enumerate(self.entries) if _is_of(entry, gone)]
        kept = [entry for entry in self.entries if not _is_of(entry, gone)]
        self.folded += [self.entries[at] for at in forgotten]
        round = len(self.folds) + 1
        self.folds.append(summarized(id, timestamp, self.context, round, text))
        if text:
            place = forgotten[0] if forgotten else min(1, len(kept))
            kept.insert(place, (f"{id}-summary", summary(text, round)))
        self.entries = kept
        self.since = len(kept)


def _is_of(entry: tuple[str, Message], gone: set[str]) -> bool:
    """Whether an entry is forgotten; an earlier summary is where a later one takes its place."""
    return entry[0] in gone or entry[1].summary is not None


def story(events: Sequence[Json], bills: Mapping[str, Json]) -> Story:
    """The messages that the events come to."""
    made = Story()
    response = ""
    billed: set[str] = set()
    for number, event in enumerate(events, 1):
        id = string(event.get("id"), str(number))
        if event.get("kind") == "Condensation":
            gone = {name for name in items(event.get("forgotten_event_ids")) if isinstance(name, str)}
            made.condense(id, gone, string(event.get("summary")), string(event.get("timestamp")))
            continue
        message = _message(event)
        if message is None:
            continue
        name = string(event.get("llm_response_id")) if message.role == "assistant" else ""
        if name and name == response and made.entries and made.entries[-1][1].role == "assistant":
            first, before = made.entries[-1]
            made.entries[-1] = first, replace(before, parts=(*before.parts, *message.parts))
            continue
        response = name
        if name in bills and name not in billed:
            billed.add(name)
            message = replace(message, usage=usage_of(bills[name]))
            made.context = message.usage.context if message.usage else made.context
        made.entries.append((id, message))
    made.entries = list(_answered(made.entries))
    made.model = next((string(bill.get("model")) for bill in reversed(list(bills.values()))), "")
    return made


def usage_of(bill: Json) -> Usage | None:
    """A bill as the SDK keeps it; its prompt includes what was cached."""
    return usage_at(bill, "prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens")


def _answered(entries: Sequence[tuple[str, Message]]) -> Iterator[tuple[str, Message]]:
    """The entries with the second of two results for one call left out."""
    seen: set[str] = set()
    for id, message in entries:
        given = {r.call_id for r in message.results if r.call_id}
        if given and given <= seen:
            continue
        seen |= given
        yield id, message


def _message(event: Json) -> Message | None:
    kind = string(event.get("kind"))
    if kind in _SILENT:
        return None
    if kind == "SystemPromptEvent":
        prompt = [words(event.get("system_prompt")), words(event.get("dynamic_context"))]
        return system(prompt, items(event.get("tools"))) if any(prompt) else None
    if kind == "MessageEvent":
        said = mapping(event.get("llm_message"))
        content = texts(words(part) for part in mappings(said.get("content"))) + texts([said.get("content")])
        content += tuple(
            replace(p, by="harness") for p in texts(words(part) for part in mappings(event.get("extended_content")))
        )
        if not content:
            return None
        if said.get("role") == "assistant" or event.get("source") == "agent":
            return Message("assistant", (*_thinking(said), *content))
        user = event.get("source", "user") == "user"
        return Message("user", content) if user else spoken_by(Message("user", content), "harness")
    if kind == "ActionEvent" or "tool_call" in event:
        return _action(event)
    if call := string(event.get("tool_call_id")):
        return Message("tool", (_result(event, call),))
    return None


def _thinking(said: Json) -> Iterator[Thinking]:
    blocks = list(mappings(said.get("thinking_blocks")))
    for block in blocks:
        if isinstance(text := block.get("thinking"), str):
            yield Thinking(text, string(block.get("signature")) or None)
        elif isinstance(data := block.get("data"), str):
            yield Thinking("", None, data)
    if not blocks and (text := string(said.get("reasoning_content"))):
        yield Thinking(text)


def _action(event: Json) -> Message | None:
    call = mapping(event.get("tool_call"))
    function = mapping(call.get("function"))
    id = string(call.get("id"), event.get("tool_call_id"))
    name = string(call.get("name"), function.get("name"), event.get("tool_name"))
    arguments = call.get("arguments", function.get("arguments"))
    thought = event.get("thought")
    parts: list[Part] = [
        *_thinking(event),
        *texts([thought] if isinstance(thought, str) else map(words, mappings(thought))),
    ]
    if id and name:
        parts.append(ToolCall(id, name, as_json(arguments if arguments is not None else {})))
    return Message("assistant", tuple(parts)) if parts else None


def _result(event: Json, call: str) -> ToolResult:
    """What the model read of an observation: its content, or the fields that older tools had for it."""
    name = string(event.get("tool_name"))
    seen = mapping(event.get("observation"))
    if text := string(event.get("error"), event.get("rejection_reason")):
        return result(call, text, error=True, name=name)
    failed = seen.get("is_error") is True or bool(string(seen.get("error")))
    content = seen.get("content")
    if isinstance(content, list):
        return result(call, content, error=failed, name=name)
    said = string(content, seen.get("output"), seen.get("message"), seen.get("text"))
    if error := string(seen.get("error")):
        said = f"{error}\n{said}".rstrip()
    if not said:
        said = as_json({key: value for key, value in seen.items() if key not in ("kind", "screenshot_data") and value})
    return result(call, said, error=failed, name=name)
