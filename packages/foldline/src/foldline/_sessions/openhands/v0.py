"""Trajectories of OpenHands' first version: actions and the observations that they caused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from foldline._messages import Message, Part, Text, ToolCall, ToolResult, replace
from foldline._sessions.openhands.events import Story, usage_of
from foldline._sessions.parts import spoken_by, system, texts, wire_usage
from foldline._sessions.values import Json, as_json, items, mapping, mappings, string

LONGEST = 30_000
"""Characters of an observation that OpenHands sent; its log keeps all of them."""

CUT = "\n[... Observation truncated due to length ...]\n"

_SILENT = frozenset(
    ("change_agent_state", "null", "recall", "agent_state_changed", "condensation_request", "pause", "resume")
)


def story(events: Sequence[Json], bills: Mapping[str, Json]) -> Story:
    """The messages that the events come to."""
    made = Story()
    seen: set[str] = set()
    for number, event in enumerate(events, 1):
        id = str(event.get("id", number))
        kind = string(event.get("action"), event.get("observation"))
        if kind == "condensation":
            _condense(made, id, event)
        elif kind in _SILENT:
            continue
        elif "observation" in event:
            _observe(made, id, event)
        elif event.get("source") == "agent" or kind == "system":
            _act(made, id, event, seen, bills)
        elif text := string(event.get("message"), mapping(event.get("args")).get("content")):
            said = Message("user", (Text(string(mapping(event.get("args")).get("content"), text)),))
            user = event.get("source", "user") == "user"
            made.entries.append((id, said if user else spoken_by(said, "harness")))
    return made


def _act(made: Story, id: str, event: Json, seen: set[str], bills: Mapping[str, Json]) -> None:
    args, metadata = mapping(event.get("args")), mapping(event.get("tool_call_metadata"))
    if event.get("action") == "system":
        if prompt := system([args.get("content")], items(args.get("tools"))):
            made.entries.append((id, prompt))
        return
    response = mapping(metadata.get("model_response"))
    name = string(response.get("id"))
    call = _call(event, metadata, response)
    if name and name in seen and made.entries and call:
        last = next((i for i in range(len(made.entries) - 1, -1, -1) if made.entries[i][1].role == "assistant"), None)
        if last is not None:
            first, before = made.entries[last]
            made.entries[last] = first, replace(before, parts=(*before.parts, call))
            return
    said = texts([string(args.get("thought"), args.get("content") if event.get("action") == "message" else "")])
    if event.get("action") == "finish" and not said:
        said = texts([string(args.get("final_thought"), event.get("message"))])
    parts: list[Part] = [*said, *([call] if call else [])]
    if not parts:
        return
    billed = wire_usage(response.get("usage")) if name not in seen else None
    if billed is None and name in bills and name not in seen:
        billed = usage_of(bills[name])
    seen.add(name)
    made.context = billed.context if billed else made.context
    made.model = string(response.get("model"), made.model)
    made.entries.append((id, Message("assistant", tuple(parts), billed)))


def _call(event: Json, metadata: Json, response: Json) -> ToolCall | None:
    """The call behind an action, with the arguments as the model wrote them where the response is kept."""
    id = string(metadata.get("tool_call_id"))
    if not id:
        return None
    message = mapping(mapping(next(mappings(response.get("choices")), {})).get("message"))
    given = next((call for call in mappings(message.get("tool_calls")) if call.get("id") == id), {})
    arguments = mapping(given.get("function")).get("arguments")
    if arguments is None:
        arguments = {k: v for k, v in mapping(event.get("args")).items() if k in ("command", "path", "code", "thought")}
    return ToolCall(id, string(metadata.get("function_name"), event.get("action")), as_json(arguments))


def _observe(made: Story, id: str, event: Json) -> None:
    text = _put_out(event) or string(event.get("content"), event.get("message"))
    call = string(mapping(event.get("tool_call_metadata")).get("tool_call_id"))
    sent = text if len(text) <= LONGEST else text[: LONGEST // 2] + CUT + text[-LONGEST // 2 :]
    failed = event.get("observation") == "error"

    def message(words: str) -> Message:
        parts = texts([words])
        seen = Message("tool", (ToolResult(call, parts, failed),)) if call else Message("user", parts)
        return spoken_by(seen, "" if call else "tool")

    if text or call:
        made.entries.append((id, message(sent)))
    if sent != text:
        made.folded.append((id, message(text)))


def _put_out(event: Json) -> str:
    """What a command put out, as the agent reads it: `CmdOutputObservation.to_agent_observation` of OpenHands."""
    about = mapping(mapping(event.get("extras")).get("metadata"))
    if event.get("observation") != "run" or not about:
        return ""
    where, python, code = (about.get(key) for key in ("working_dir", "py_interpreter_path", "exit_code"))
    ends = (
        f"[Current working directory: {where}]" if where else "",
        f"[Python interpreter: {python}]" if python else "",
        f"[Command finished with exit code {code}]" if code not in (None, -1) else "",
    )
    out = f"{string(about.get('prefix'))}{string(event.get('content'))}{string(about.get('suffix'))}"
    return "\n".join([out, *filter(None, ends)])


def _condense(made: Story, id: str, event: Json) -> None:
    args = mapping(event.get("args"))
    gone = {str(name) for name in items(args.get("forgotten_event_ids"))}
    start, end = args.get("forgotten_events_start_id"), args.get("forgotten_events_end_id")
    if isinstance(start, int) and isinstance(end, int):
        gone |= {name for name, _ in made.entries if name.isdecimal() and start <= int(name) <= end}
    made.condense(id, gone, string(args.get("summary")), string(event.get("timestamp")))
