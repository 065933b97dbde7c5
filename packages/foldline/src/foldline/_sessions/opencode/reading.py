"""Sessions of opencode: messages with typed parts; a compaction is a message whose answer is the summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from foldline._facts.speakers import whose
from foldline._messages import Media, Message, Opaque, Part, Speaker, Text, Thinking, ToolCall, Usage, replace
from foldline._sessions.opencode import store as opencode_store
from foldline._sessions.opencode.windows import window
from foldline._sessions.parts import media, result, summary, unique
from foldline._sessions.reading import PastFold, Reading, Stored, summarized
from foldline._sessions.source import Source
from foldline._sessions.values import Json, as_json, count, iso, mapping, mappings, string

CLEARED = "[Old tool result content cleared]"
"""What opencode sends in place of a tool output that it pruned."""

INTERRUPTED = "[Tool execution was interrupted]"
"""What opencode sends as the result of a call that never ended."""


def read_all(path: str, *, strict: bool = False) -> list[Stored]:
    """Every session of a store, the one that changed last at the end."""
    source = Source(path, strict=strict)
    found = opencode_store.sessions(source)
    if not found:
        raise source.refused("no session of opencode")
    stored: list[Stored] = []
    for session in found:
        about, _ = session
        id = string(about.get("id"), source.stem)
        changed = about.get("time_updated", mapping(about.get("time")).get("updated"))
        seconds = changed / 1000 if isinstance(changed, int | float) else 0.0
        read = partial(_reading, source, session, f"#{id}" if len(found) > 1 else "")
        title, parent = string(about.get("title")), string(about.get("parent_id"), about.get("parentID"))
        stored.append(Stored(id, read, string(about.get("directory")), seconds, title, parent))
    return stored


# -- one session -------------------------------------------------------------------------------------------------


def _reading(source: Source, session: opencode_store.Held, suffix: str) -> Reading:
    about, load = session
    messages = load()
    gone = _reverted(about, messages)
    standing = messages[: len(messages) - len(gone)]
    at, tail = _compaction(standing)
    rounds = sum(1 for i in range(len(standing)) if _is_summary(standing, i))
    live: list[tuple[str, Message]] = []
    if at >= 0:
        live.append((_id(standing[at]), summary(_words(standing[at]), rounds)))
    for message in standing[tail : at - 1] if at >= 0 else ():
        live += _entries(message)
    since = len(live)
    for message in standing[at + 1 :]:
        live += _entries(message)
    names = {id for id, _ in live}
    everything = [entry for message in messages for entry in _entries(message)]
    name, at = _answering(messages)
    folds = tuple(_folds(messages, len(standing)))
    return Reading(
        "opencode",
        string(about.get("id"), source.stem),
        source.path + suffix,
        unique(live),
        string(about.get("directory")),
        name,
        string(about.get("title")),
        since,
        folds,
        tuple(entry for entry in everything if entry[0] not in names),
        tuple(source.faults),
        window=window(name, _folds(messages[at:], len(messages)), max(map(_billed, messages[at:]), default=0)),
    )


def _answering(messages: Sequence[Json]) -> tuple[str, int]:
    """The model that answered last, and the first of the messages since no other one did."""
    name, start = "", 0
    for at, message in enumerate(messages):
        summarizes = mapping(message.get("info")).get("summary") is True
        if not summarizes and (said := _model(message)) and said != name:
            name, start = said, at
    return name, start


def _billed(message: Json) -> int:
    """The tokens of a reply's prompt; 0 where it says nothing of them."""
    billed = usage_of(mapping(message.get("info")).get("tokens"))
    return billed.prompt if billed else 0


def _reverted(about: Json, messages: Sequence[Json]) -> Sequence[Json]:
    """The messages that the user took back: from the one that the session names to the end."""
    target = mapping(about.get("revert")).get("messageID")
    at = next((i for i, message in enumerate(messages) if target is not None and _id(message) == target), len(messages))
    return messages[at:]


def _compaction(messages: Sequence[Json]) -> tuple[int, int]:
    """Where the newest summary stands, or -1, and where the tail begins that was kept before it."""
    at = next((i for i in range(len(messages) - 1, -1, -1) if _is_summary(messages, i)), -1)
    if at < 0:
        return -1, 0
    asked = _compaction_part(messages[at - 1])
    target = asked.get("tail_start_id") if asked else None
    kept = next((i for i in range(at - 1) if target is not None and _id(messages[i]) == target), at - 1)
    return at, kept


def _is_summary(messages: Sequence[Json], index: int) -> bool:
    """Whether the message answers the request before it to compact, and came to its end."""
    info = mapping(messages[index].get("info"))
    if info.get("summary") is not True or info.get("role") != "assistant" or info.get("error"):
        return False
    return index > 0 and _compaction_part(messages[index - 1]) is not None and bool(_words(messages[index]))


def _compaction_part(message: Json) -> Json | None:
    return next((part for part in mappings(message.get("parts")) if part.get("type") == "compaction"), None)


def _folds(messages: Sequence[Json], standing: int) -> Iterator[PastFold]:
    context = 0
    rounds = 0
    for index, message in enumerate(messages):
        if _is_summary(messages, index):
            rounds += 1
            part = _compaction_part(messages[index - 1]) or {}
            trigger = (
                "overflow" if part.get("overflow") is True else "threshold" if part.get("auto") is True else "manual"
            )
            when = iso(mapping(mapping(message.get("info")).get("time")).get("created"))
            id, undone = _id(message), index >= standing
            yield summarized(id, when, context, rounds, _words(message), trigger=trigger, undone=undone)
        elif billed := usage_of(mapping(message.get("info")).get("tokens")):
            context = billed.context


def _id(message: Json) -> str:
    return string(mapping(message.get("info")).get("id"))


def _model(message: Json) -> str:
    info = mapping(message.get("info"))
    return string(info.get("modelID"), mapping(info.get("model")).get("modelID"))


def _words(message: Json) -> str:
    return "\n".join(string(part.get("text")) for part in mappings(message.get("parts")) if part.get("type") == "text")


# -- messages ----------------------------------------------------------------------------------------------------


def _entries(message: Json) -> Iterator[tuple[str, Message]]:
    """The messages that a message of opencode is sent as: a reply for each step, and a result for each call."""
    info = mapping(message.get("info"))
    parts = list(mappings(message.get("parts")))
    if info.get("role") == "user":
        if sent := tuple(part for each in parts if (part := _user_part(each))):
            yield _id(message), Message("user", sent)
        return
    if info.get("role") != "assistant":
        return
    steps = _steps(parts)
    for number, step in enumerate(steps, 1):
        finish = next((part for part in step if part.get("type") == "step-finish"), {})
        billed = usage_of(finish.get("tokens")) or (usage_of(info.get("tokens")) if len(steps) == 1 else None)
        said = tuple(part for each in step if (part := _reply_part(each)))
        if any(type(part) is not Thinking for part in said):
            id = _id(message) + (f":{number}" if number > 1 else "")
            yield id, Message("assistant", said, None if info.get("summary") is True else billed)
        for each in step:
            if each.get("type") == "tool" and isinstance(each.get("callID"), str):
                yield string(each.get("id"), f"{_id(message)}:{each['callID']}"), _result(each)


def _steps(parts: Sequence[Json]) -> list[list[Json]]:
    steps: list[list[Json]] = [[]]
    for part in parts:
        if part.get("type") == "step-start" and steps[-1]:
            steps.append([])
        if part.get("type") != "step-start":
            steps[-1].append(part)
    return [step for step in steps if step]


def _user_part(part: Json) -> Part | None:
    """What of a user's message is sent: files of text stand beside their file in words already."""
    kind = part.get("type")
    if kind == "text":
        text = string(part.get("text"))
        by: Speaker = (whose(text) or "harness") if part.get("synthetic") is True else ""
        return Text(text, by=by) if text and part.get("ignored") is not True else None
    if kind == "file":
        mime = string(part.get("mime"))
        if mime.startswith("text/") or mime == "application/x-directory":
            return None
        return media(mime, part)
    return None


def _reply_part(part: Json) -> Part | None:
    match part.get("type"):
        case "text":
            return Text(text) if (text := string(part.get("text"))) else None
        case "reasoning":
            known = [mapping(each) for each in mapping(part.get("metadata")).values()]
            signature = next((s for each in known if (s := string(each.get("signature")))), None)
            data = next((s for each in known if (s := string(each.get("reasoningEncryptedContent")))), None)
            return Thinking(string(part.get("text")), signature, data)
        case "tool" if isinstance(part.get("callID"), str):
            given = mapping(part.get("state")).get("input")
            return ToolCall(
                string(part["callID"]), string(part.get("tool")), as_json(given if given is not None else {})
            )
        case _:
            return None


def _result(part: Json) -> Message:
    state = mapping(part.get("state"))
    status = state.get("status")
    if status == "completed":
        output = string(state.get("output"))
        pruned = bool(mapping(state.get("time")).get("compacted"))
        more = [] if pruned else list(mappings(state.get("attachments")))
        content: list[object] = [CLEARED if pruned else output, *more]
    else:
        content = [string(state.get("error")) if status == "error" else INTERRUPTED]
    made = result(string(part["callID"]), content, error=status != "completed", name=string(part.get("tool")))
    parts = tuple(_attached(p) if isinstance(p, Opaque) else p for p in made.parts)
    return Message("tool", (replace(made, parts=parts),))


def _attached(part: Opaque) -> Media | Opaque:
    mime = string(mapping(part.source).get("mime"))
    return Media("image", mapping(part.source)) if mime.startswith("image/") else part


def usage_of(tokens: object) -> Usage | None:
    """What a step was billed; its input excludes what was cached, its output what was reasoned."""
    given, cache = mapping(tokens), mapping(mapping(tokens).get("cache"))
    output = count(given.get("output")) + count(given.get("reasoning"))
    billed = Usage(count(given.get("input")), output, count(cache.get("read")), count(cache.get("write")))
    return billed if billed.prompt else None
