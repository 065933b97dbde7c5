"""Trajectories in ATIF, the interchange format of Harbor: steps of a system, a user and an agent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from foldline._messages import Message, Opaque, Part, Text, Thinking, ToolCall
from foldline._sessions.format import SessionFormat
from foldline._sessions.parts import result, spoken_by, system, unique, usage_at
from foldline._sessions.reading import Reading, Stored
from foldline._sessions.source import Source
from foldline._sessions.values import Json, as_json, items, mapping, mappings, newest, string, words

_SIGN = re.compile(rb'[{,]\s*"schema_version"\s*:\s*"ATIF')


def _read_all(path: str, *, strict: bool = False) -> list[Stored]:
    """Every trajectory in the file: one document, a list of them, or one in each line."""
    source = Source(path, strict=strict)
    contents = source.contents()
    given = contents if isinstance(contents, list) else [contents]
    found = [each for each in mappings(given) if isinstance(each.get("steps"), list)]
    told = [
        (string(each.get("session_id"), each.get("trajectory_id")), partial(_reading, source, each)) for each in found
    ]
    return source.sessions(told, "no trajectory in ATIF")


FORMAT = SessionFormat("atif", lambda head, path: bool(_SIGN.search(head)), read_all=_read_all)


def _reading(source: Source, trajectory: Json, id: str, path: str) -> Reading:
    agent = mapping(trajectory.get("agent"))
    steps = list(mappings(trajectory["steps"]))
    tools = system((), items(agent.get("tool_definitions")))
    entries = [("tools", tools)] if tools else []
    own = [step for step in steps if not _of_another(step)] or steps
    entries += [each for step in own for each in _entries(step)]
    return Reading(
        FORMAT.name,
        id,
        path,
        unique(entries),
        model=newest(steps, "model_name") or string(agent.get("model_name")),
        title=string(agent.get("name")),
        faults=tuple(source.faults),
    )


def _of_another(step: Json) -> bool:
    """Whether Harbor took a step from another agent of the session, whose report answers a call of this one."""
    return mapping(step.get("extra")).get("is_sidechain") is True


def _entries(step: Json) -> Iterator[tuple[str, Message]]:
    """The messages of a step: what was said, and a result for each call that it made; where the results do not say which calls they
    answer, they stand in the order of these."""
    id = str(step.get("step_id", ""))
    parts: list[Part] = []
    if reasoning := string(step.get("reasoning_content")):
        parts.append(Thinking(reasoning))
    calls = [call for each in mappings(step.get("tool_calls")) if (call := _call(each))]
    results = [*mappings(mapping(step.get("observation")).get("results"))]
    # what agents write there where they said nothing
    unsaid = [
        reasoning,
        *(f"Executed {call.name} {call.id}" for call in calls),
        *(each.get("content") for each in results),
    ]
    if step.get("message") not in unsaid:
        parts += _content(step.get("message"))
    source = step.get("source")
    if source == "agent" and (parts or calls):
        billed = usage_at(mapping(step.get("metrics")), "prompt_tokens", "completion_tokens", "cached_tokens")
        yield id, Message("assistant", (*parts, *calls), billed)
    elif parts:
        yield id, Message("system" if source == "system" else "user", tuple(parts))
    nameless = not any(each.get("source_call_id") for each in results)
    # a step of a result alone, as OpenClaw's converter writes it, names the call of an earlier one
    answering = string(mapping(step.get("extra")).get("tool_call_id"))
    answered = iter([call.id for call in calls] or [answering]) if nameless else iter(())
    for number, each in enumerate(results, 1):
        if call_id := string(each.get("source_call_id")) or next(answered, ""):
            yield f"{id}:{number}", Message("tool", (result(call_id, each.get("content")),))
        elif seen := _content(each.get("content")):
            yield f"{id}:{number}", spoken_by(Message("user", tuple(seen)), "tool")


def _content(content: object) -> list[Part]:
    if isinstance(content, str):
        return [Text(content)] if content else []
    return [Text(text) if (text := words(part)) else Opaque(part) for part in items(content)]


def _call(call: Json) -> ToolCall | None:
    id, name = string(call.get("tool_call_id")), string(call.get("function_name"))
    return ToolCall(id, name, as_json(call.get("arguments", {}))) if id and name else None
