"""Sessions of Claude Code: one row a line, a tree by `uuid` and `parentUuid`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from foldline._fold import Receipt
from foldline._messages import Message, Part, Speaker, Text, ToolResult, Usage, replace
from foldline._sessions.claude_code import attachments, subagent
from foldline._sessions.claude_code.restoring import restored
from foldline._sessions.claude_code.rows import SYNTHETIC, ClaudeRow, Tree
from foldline._sessions.claude_code.windows import window
from foldline._sessions.parts import from_wire, spoken_by, summary, system, wire_usage
from foldline._sessions.reading import PastFold, Reading
from foldline._sessions.source import Source
from foldline._sessions.values import Json, count, items, mapping, string, words

HONEST_VERSION = (2, 1, 41)
"""Up to 2.1.40 the output tokens in the file are what the stream's start said, not what was generated."""

CLEARED = "[Old tool result content cleared]"
"""What Claude Code sends in place of a tool result that it cleared."""


def read(path: str, *, strict: bool = False) -> Reading:
    """What the next request of the session would send, and what the file holds beside it."""
    source = Source(path, strict=strict)
    about: dict[str, str] = {}
    tree = Tree(_rows(source, about), source)
    if not tree.rows and not about.get("sessionId"):
        raise source.refused("no session of Claude Code")
    folds = _folds(tree)
    rounds = {row.uuid: i for i, row in enumerate((r for r in tree.rows if r.is_summary), 1)}
    cleared = _cleared(tree)
    live = tree.live()
    names = {row.uuid for row in live}
    prompt = _system(live)
    entries = [*_messages(live, rounds, source)]
    gone = [r for r in tree.rows if r.uuid not in names and not r.sidechain]
    originals = [*_messages(gone, rounds, source)]
    replaced = _replaced(tree, {**dict(originals), **dict(entries)}, source)
    folded, entries = _clear(originals, entries, cleared)
    return Reading(
        "claude-code",
        subagent(source.path) or about.get("sessionId") or source.stem,
        source.path,
        (*prompt, *entries),
        about.get("cwd", ""),
        about.get("model", ""),
        about.get("customTitle") or about.get("aiTitle") or about.get("summary", ""),
        len(prompt) + _since(tree, entries, cleared),
        tuple(folds),
        tuple(folded),
        tuple(source.faults),
        window=window(tree.rows),
        replaced=tuple(message for _, message in prompt) + replaced if replaced else (),
        restored=_restored(tree),
        branch=about.get("gitBranch", ""),
    )


def _rows(source: Source, about: dict[str, str]) -> Iterator[ClaudeRow]:
    before = ""
    for line, data in source.rows():
        for key in ("sessionId", "cwd", "gitBranch", "customTitle", "aiTitle"):
            if value := string(data.get(key)):
                about[key] = value
        if data.get("type") == "summary" and (title := string(data.get("summary"))):
            about["summary"] = title
        if "uuid" not in data and "message" not in data:
            continue
        row = ClaudeRow(line, data, before)
        model = string(row.message.get("model"))
        if row.kind == "assistant" and model not in ("", SYNTHETIC):
            about["model"] = model
        before = row.uuid
        yield row


# -- messages ----------------------------------------------------------------------------------------------------


def _messages(rows: Sequence[ClaudeRow], rounds: dict[str, int], source: Source) -> Iterator[tuple[str, Message]]:
    """A message for each row that is sent; the rows of one response are one, and reminders join what they follow."""
    made: list[tuple[str, Message]] = []
    responses: dict[str, int] = {}
    start = 0
    after_command = False
    for row in rows:
        start = len(made) if row.is_boundary else start
        if row.kind == "attachment":
            _attach(row, made, start)
            continue
        message = _message(row, rounds, source)
        if message is None:
            continue
        if row.kind == "user":
            message = spoken_by(message, _speaker(row, after_command))
            after_command = "<command-name>" in message.text
        at = responses.get(row.response) if row.response else None
        if at is None:
            responses[row.response] = len(made)
            made.append((row.uuid, message))
            continue
        id, first = made[at]
        made[at] = id, replace(first, parts=(*first.parts, *message.parts), usage=_newest(first.usage, message.usage))
    yield from made


def _message(row: ClaudeRow, rounds: dict[str, int], source: Source) -> Message | None:
    if row.kind == "system":
        text = string(row.data.get("content")) if row.data.get("subtype") == "local_command" else ""
        return Message("user", (Text(text),)) if text else None
    if row.kind not in ("user", "assistant"):
        return None
    if row.is_summary:
        return summary(words(row.message.get("content")), rounds.get(row.uuid, 1))
    if row.data.get("isVisibleInTranscriptOnly") is True or row.data.get("isApiErrorMessage") is True:
        return None
    item = {"role": row.message.get("role", row.kind), "content": row.message.get("content")}
    message = from_wire(item, "anthropic")
    if message is None or message.role != row.kind:
        source.fault(row.line, f"a {row.kind} row without a message of that role")
        return None
    if not message.parts:
        return None
    if row.kind == "user":
        return message
    synthetic = row.message.get("model") == SYNTHETIC
    return spoken_by(message, "harness") if synthetic else replace(message, usage=_usage(row))


def _speaker(row: ClaudeRow, after_command: bool) -> Speaker:
    """Whose the words of a user's row are, by its marks: what a human sent is the user's; empty where nothing is marked.

    What no user typed behind a command is the command's body, and so is a skill's behind the call that opened it.
    """
    if row.data.get("isMeta") is True:
        opened = after_command or "sourceToolUseID" in row.data
        return "command" if opened and isinstance(row.message.get("content"), list) else "harness"
    origin = string(mapping(row.data.get("origin")).get("kind"))
    source = string(row.data.get("promptSource"))
    if origin in attachments.PEERS:
        return "peer"
    if origin not in ("", "human") or source == "system":
        return "harness"
    return "user" if origin or source else ""


def _usage(row: ClaudeRow) -> Usage | None:
    """The bill on a row; the prompt counts are right in every version, the output only where the version is honest."""
    usage = wire_usage(row.message.get("usage"))
    version = tuple(int(n) for n in re.findall(r"\d{1,9}", string(row.data.get("version")))[:3])
    return replace(usage, output=0) if usage and version and version < HONEST_VERSION else usage


def _newest(first: Usage | None, later: Usage | None) -> Usage | None:
    """One response is billed once: its rows repeat the bill, and the last one has the final output."""
    return later if later is not None and (first is None or later.output >= first.output) else first


def _attach(row: ClaudeRow, made: list[tuple[str, Message]], start: int) -> None:
    """Adds what an attachment says to the user's message before it, inside its last tool result where it has one.

    What is announced behind a boundary joins nothing before it, which `start` tells.
    """
    if prompt := attachments.queued_prompt(row.data):
        waited = Message("user", (Text(prompt),))
        made.append((row.uuid, spoken_by(waited, attachments.prompted_by(row.data))))
        return
    texts = tuple(Text(text) for text in attachments.reminders(row.data))
    if not texts:
        return
    id, before = made[-1] if len(made) > start else ("", None)
    if before is None or before.role != "user" or before.summary:
        made.append((row.uuid, spoken_by(Message("user", texts), "harness")))
        return
    parts: tuple[Part, ...] = (*before.parts, *(replace(text, by="harness") for text in texts))
    if isinstance(last := before.parts[-1], ToolResult):
        parts = (*before.parts[:-1], replace(last, parts=(*last.parts, *texts)))
    made[-1] = id, replace(before, parts=parts)


def _system(live: Sequence[ClaudeRow]) -> list[tuple[str, Message]]:
    """The system prompt and the tools, where the file has them: the newest of each."""
    prompt: list[str] = []
    tools: list[object] = []
    id = ""
    for row in live:
        if row.kind == "attachment" and (found := attachments.system_prompt(row.data)):
            id, prompt, tools = row.uuid, found[0] or prompt, found[1] or tools
    message = system(prompt, tools)
    return [(id, message)] if message else []


def _replaced(tree: Tree, told: dict[str, Message], source: Source) -> tuple[Message, ...]:
    """What was the context before it started anew, at a boundary or a first row, with the bills that were made for it."""
    if not (tree.path and (tree.path[0].is_boundary or not tree.path[0].parent)):
        return ()
    before = Tree([row for row in tree.rows if row.line < tree.path[0].line], Source(source.path))
    messages = [(row.uuid, told[row.uuid]) for row in before.live() if row.uuid in told]
    since = _since(before, messages, _cleared(before))
    return tuple(replace(m, usage=None) if at < since else m for at, (_, m) in enumerate(messages))


def _restored(tree: Tree) -> int:
    """What was put beside the summary, in tokens, where no row says it."""
    if not (tree.path and tree.path[0].is_boundary) or any(row.kind == "attachment" for row in tree.path):
        return 0
    before = (row for row in tree.rows if row.line < tree.path[0].line and not row.sidechain)
    return restored(row.opened for row in before if row.opened)


# -- folds -------------------------------------------------------------------------------------------------------


def _folds(tree: Tree) -> list[PastFold]:
    """What boundaries and summaries record, oldest first; a summary without a boundary came from another file."""
    folds: list[PastFold] = []
    open_boundary = False
    for row in tree.rows:
        if row.sidechain:
            continue
        if row.is_boundary:
            folds.append(_fold(row, row.metadata, "summarize", row.uuid not in tree.boundaries))
            open_boundary = True
        elif row.is_summary:
            text = words(row.message.get("content"))
            if open_boundary:
                folds[-1] = replace(folds[-1], summary=text)
            else:
                folds.append(replace(_fold(row, {}, "summarize", False), summary=text))
            open_boundary = False
        elif row.is_clearing:
            folds.append(_fold(row, mapping(row.data.get("microcompactMetadata")), "prune", False))
    return folds


def _fold(row: ClaudeRow, metadata: Json, layer: str, undone: bool) -> PastFold:
    before = count(metadata.get("preTokens")) or count(metadata.get("pre_tokens"))
    after = count(metadata.get("postTokens")) or count(metadata.get("post_tokens"))
    if saved := count(metadata.get("tokensSaved")):
        after = max(0, before - saved)
    trigger = {"auto": "threshold"}.get(name := string(metadata.get("trigger")), name)
    timestamp = string(row.data.get("timestamp"))
    pruned = len(items(metadata.get("compactedToolIds")))
    receipt = Receipt(before, after, pruned, pruned)
    return PastFold(row.uuid, timestamp, trigger, layer, receipt, undone=undone, ours=False)


def _cleared(tree: Tree) -> tuple[set[str], int]:
    """The ids of the tool results that were cleared in place on the path, and the line of the last clearing."""
    ids: set[str] = set()
    line = 0
    for row in tree.path:
        if row.is_clearing:
            metadata = mapping(row.data.get("microcompactMetadata"))
            ids |= {id for id in items(metadata.get("compactedToolIds")) if isinstance(id, str)}
            line = row.line
    return ids, line


def _clear(
    folded: list[tuple[str, Message]], entries: list[tuple[str, Message]], cleared: tuple[set[str], int]
) -> tuple[list[tuple[str, Message]], list[tuple[str, Message]]]:
    """The entries with cleared results emptied as Claude Code sends them; their originals join the folded ones."""
    if not cleared[0]:
        return folded, entries
    sent: list[tuple[str, Message]] = []
    for id, message in entries:
        if cleared[0].isdisjoint(r.call_id for r in message.results):
            sent.append((id, message))
            continue
        folded.append((id, message))
        parts = tuple(
            replace(p, parts=(Text(CLEARED),)) if isinstance(p, ToolResult) and p.call_id in cleared[0] else p
            for p in message.parts
        )
        sent.append((id, replace(message, parts=parts)))
    return folded, sent


def _since(tree: Tree, entries: Sequence[tuple[str, Message]], cleared: tuple[set[str], int]) -> int:
    """Where the bills for the context as it stands begin: behind what the boundary kept, and the last clearing."""
    stale = {row.uuid for row in tree.preserved()}
    stale |= {row.uuid for row in tree.path if row.line < cleared[1]}
    return next((i + 1 for i in range(len(entries) - 1, -1, -1) if entries[i][0] in stale), 0)
