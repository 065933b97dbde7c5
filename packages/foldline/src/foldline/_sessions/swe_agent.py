"""Trajectories of SWE-agent and mini-swe-agent: the messages of a run in one JSON document."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from foldline._messages import Message, Text, replace
from foldline._sessions.format import SessionFormat
from foldline._sessions.parts import from_wire, spoken_by, wire_usage
from foldline._sessions.reading import Reading
from foldline._sessions.source import Source
from foldline._sessions.values import Json, items, mapping, mappings, string

NAME = "swe-agent"
MINI = "mini-swe-agent"

_SIGN = re.compile(
    rb'[{,]\s*"(?:trajectory_format"\s*:\s*"mini-swe-agent|mini_version"\s*:|model_stats"\s*:|message_type"\s*:|replay_config"\s*:)'
)
_START = re.compile(rb'\s*\{\s*"(?:trajectory|history|info|messages|environment|replay_config|trajectory_format)"\s*:')
_STOPPED = "exit_"
"""How the action begins that SWE-agent puts in place of the agent's: at a limit of costs or of tokens, at an error."""

_STEP = re.compile(rb'[{,]\s*"(?:action|observation|thought)"\s*:')
_OWN = frozenset(
    ("role", "content", "tool_calls", "tool_call_id", "name", "reasoning_content", "reasoning", "thinking_blocks")
)


Entries = Iterator[tuple[str, Message]]


def _recognizes(head: bytes, path: str) -> bool:
    if not _START.match(head):
        return False
    return bool(_SIGN.search(head)) or (b'"trajectory"' in head[:200] and bool(_STEP.search(head)))


def _read(path: str, *, strict: bool = False) -> Reading:
    """The messages as they would go on."""
    source = Source(path, strict=strict)
    document = source.document()
    if not isinstance(document, dict):
        raise source.refused("no trajectory of SWE-agent")
    info = mapping(document.get("info"))
    mini = isinstance(document.get("messages"), list)
    if mini:
        given = _messages(document["messages"], lambda item: {k: v for k, v in item.items() if k != "extra"}, source)
    elif isinstance(document.get("history"), list):
        given = _messages(document["history"], _sent, source)
    elif isinstance(document.get("trajectory"), list):
        given = _steps(document["trajectory"])
    else:
        raise source.refused("a trajectory without messages")
    config = mapping(info.get("config"))
    return Reading(
        MINI if mini else NAME,
        string(document.get("instance_id"), document.get("environment"), source.stem),
        source.path,
        tuple(given),
        string(mapping(config.get("environment")).get("cwd")),
        string(mapping(config.get("model")).get("model_name"), _replayed_model(document)),
        faults=tuple(source.faults),
    )


FORMAT = SessionFormat(NAME, _recognizes, _read)


def _messages(history: list[object], sent: Callable[[Json], Json], source: Source) -> Entries:
    """The messages of what is `sent` of each item; the last one of mini-swe-agent says how the run ended.

    The user's first message is the task; behind the first reply only the shell answers.
    """
    acted = False
    for index, item in enumerate(map(mapping, history), 1):
        if item.get("role") == "exit":
            continue
        message = from_wire(sent(item), "openai-chat")
        if message is None:
            source.fault(1, f"message {index} has no role that a model knows")
        elif item.get("is_demo") is True or item.get("message_type") == "demonstration" or _stops(item):
            yield str(index), spoken_by(message, "harness")
        elif message.role == "assistant":
            acted = True
            billed = wire_usage(mapping(mapping(item.get("extra")).get("response")).get("usage"))
            yield str(index), replace(message, usage=billed) if billed else message
        else:
            yield str(index), spoken_by(message, "tool") if acted and message.role == "user" else message


def _stops(item: Json) -> bool:
    """Whether SWE-agent speaks in the agent's place, since it stops it."""
    return item.get("role") == "assistant" and string(item.get("action")).startswith(_STOPPED)


def _sent(item: Json) -> Json:
    """What SWE-agent sends is the words, the calls and the ids of what a result answers."""
    bare = {key: value for key, value in item.items() if key in _OWN}
    ids = items(item.get("tool_call_ids"))
    if bare.get("role") == "tool" and ids and "tool_call_id" not in bare:
        bare["tool_call_id"] = ids[0]
    if not bare.get("tool_calls"):
        bare.pop("tool_calls", None)
    return bare


def _steps(steps: list[object]) -> Entries:
    """A trajectory without its history: what was answered, and what came of it."""
    for index, step in enumerate(mappings(steps), 1):
        if said := string(step.get("response"), step.get("thought"), step.get("action")):
            yield f"{index}", Message("assistant", (Text(said),))
        if seen := string(step.get("observation")):
            yield f"{index}:observation", Message("user", (Text(seen, by="tool"),))


def _replayed_model(document: Json) -> str:
    """The model's name in the configuration that SWE-agent keeps for replays, as text or as an object."""
    config = document.get("replay_config")
    if isinstance(config, str):
        found = re.search(r'"(?:model_)?name"\s*:\s*"([^"]+)"', config)
        name = found[1] if found else ""
    else:
        model = mapping(mapping(mapping(config).get("agent")).get("model"))
        name = string(model.get("name"), model.get("model_name"))
    return "" if name in ("replay", "human") else name
