"""Rollouts of Codex: items in the order in which they were sent, and what replaced or took back some of them."""

from __future__ import annotations

import msgspec
from msgspec import Raw, Struct

from foldline._messages import Message, Text, ToolCall, Usage, replace
from foldline._sessions.codex import items as codex_items
from foldline._sessions.format import Row, Tail
from foldline._sessions.parts import spoken_by, summary, system, usage_at
from foldline._sessions.reading import PastFold, Reading, Sealed, summarized
from foldline._sessions.source import Source
from foldline._sessions.values import Json, count, items, mapping, mappings, string, words


def read(path: str, *, strict: bool = False) -> Reading:
    """What the next request of the session would send, and what the file holds beside it."""
    source = Source(path, strict=strict)
    rollout = Rollout()
    for line, row in source.rows():
        if not rollout.take(line, row):
            source.fault(line, "a row without a type")
    if not rollout.rows:
        raise source.refused("no rollout of Codex")
    rollout.name_speakers()
    system = rollout.system()
    return Reading(
        "codex",
        string(rollout.meta.get("id"), rollout.meta.get("session_id"), source.stem),
        source.path,
        (*system, *((entry.id, entry.message) for entry in rollout.live)),
        rollout.cwd,
        rollout.model,
        since=len(system) + rollout.since,
        folds=tuple(rollout.folds),
        folded=tuple((entry.id, entry.message) for entry in sorted(rollout.gone, key=lambda e: e.order)),
        faults=tuple(source.faults),
        window=rollout.window,
        replaced=tuple(message for _, message in system) + rollout.replaced,
        sealed=rollout.sealed(),
    )


class RolloutEntry:
    """A message of the rollout, its items and the place of the first of them; a turn opens where a user speaks."""

    __slots__ = ("id", "items", "message", "opens", "order")

    def __init__(self, line: int, index: int, message: Message, opens: bool = False, *items: Json) -> None:
        self.order = (line, index)
        self.id = f"{line}.{index}" if index else str(line)
        self.message = message
        self.opens = opens
        self.items = list(items)


class Rollout:
    """The state that the rows of a rollout lead to."""

    def __init__(self) -> None:
        self.meta: Json = {}
        self.cwd = self.model = ""
        self.live: list[RolloutEntry] = []
        self.gone: list[RolloutEntry] = []
        self.folds: list[PastFold] = []
        self.since = self.rows = self.window = 0
        self.largest_output = codex_items.LARGEST
        self.replaced: tuple[Message, ...] = ()
        """The context that the newest fold took the place of."""
        self._told: list[RolloutEntry] = []
        """All that was in the context before the newest compaction, as it was said first."""
        self._repeated: list[RolloutEntry] = []
        """What the newest compaction holds."""
        self.typed: set[str] = set()
        """What the user sent, as the events of the screen say; all else in the user's role was put there."""
        self._newest = 0
        """The line of the newest row: its event may not be written yet."""
        self._reply: list[RolloutEntry] = []
        """What was said since the last bill: a reply, and where its calls were answered what may be the next one."""
        self._open: set[str] = set()
        """The calls of it that are not answered yet."""
        self._totals: object = None
        self._context = 0

    def take(self, line: int, row: Json) -> bool:
        """Takes one row; False where it says nothing that a rollout could."""
        payload = mapping(row.get("payload"))
        self._newest = line
        match row.get("type"):
            case "session_meta":
                self._begin(payload)
            case "response_item":
                self._item(line, payload)
                if mapping(row.get("metadata")).get("compaction_output") is True:
                    self._reply = []
            case "compacted":
                self._compact(line, row, payload)
            case "turn_context":
                self.model = string(payload.get("model"), self.model)
                self.cwd = string(payload.get("cwd"), self.cwd)
                self.largest_output = codex_items.largest(mapping(payload.get("truncation_policy")))
            case "event_msg":
                self._event(payload)
            case "token_usage_record":
                self._bill(payload.get("thread_token_usage"), mapping(payload.get("usage")))
            case str() if "payload" not in row:
                self._item(line, row)
            case str():
                pass
            case _ if "id" in row and "instructions" in row:
                self._begin(row)
            case _:
                return "record_type" in row
        self.rows += 1
        return True

    def system(self) -> list[tuple[str, Message]]:
        """What is sent before every item: the instructions, and the tools that the file shows."""
        text = string(mapping(self.meta.get("base_instructions")).get("text"), self.meta.get("instructions"))
        message = system([text], items(self.meta.get("dynamic_tools")))
        return [("instructions", message)] if message else []

    def sealed(self) -> Sealed:
        """The newest compaction, where it has no words that can be read, with those of its messages that it repeats."""
        if not self.folds or self.folds[-1].summary:
            return Sealed()
        live = [entry for entry in self._repeated if entry in self.live]
        said = {entry.message.text for entry in self._told}
        again = (e for e in live if _is_sealed(e) or (e.message.role != "system" and e.message.text in said))
        return Sealed(tuple(entry.id for entry in again), tuple(entry.message for entry in self._told))

    def _begin(self, meta: Json) -> None:
        """The first header is the session's own; later ones repeat it, or are those of what it was forked from."""
        if not self.meta:
            self.meta = meta
            self.cwd = string(meta.get("cwd"))

    def _item(self, line: int, item: Json, index: int = 0) -> None:
        if codex_items.is_generated(item):
            self._say(line, index, item)
            return
        message_of = codex_items.message_of(item, len(self.folds))
        if message_of is None:
            return
        if message_of.role == "tool":
            message_of = codex_items.as_sent(message_of, self.largest_output)
        else:
            self._reply = []
        self._open.difference_update(result.call_id for result in message_of.results)
        self.live.append(RolloutEntry(line, index, message_of, codex_items.opens_turn(item), item))

    def _say(self, line: int, index: int, item: Json) -> None:
        """Adds to the reply, or behind the answers to all of its calls begins another one."""
        parts = codex_items.reply_part(item)
        newest = self._reply[-1] if self._reply else None
        if newest is None or (any(newest.message.calls) and not self._open):
            self._reply.append(newest := RolloutEntry(line, index, Message("assistant", ())))
            self.live.append(newest)
        self._open.update(part.id for part in parts if isinstance(part, ToolCall))
        newest.items.append(item)
        newest.message = replace(newest.message, parts=(*newest.message.parts, *parts))

    def name_speakers(self) -> None:
        """Marks the messages in the user's role; a rollout without the screen's events has no marks."""
        for entry in (*self.live, *self.gone) if self.typed else ():
            if entry.message.role == "user" and entry.order != (self._newest, 0):
                whole = entry.message.text.strip() in self.typed
                parts = tuple(
                    replace(p, by="user")
                    if type(p) is Text and not p.by and (whole or p.text.strip() in self.typed)
                    else p
                    for p in entry.message.parts
                )
                entry.message = spoken_by(replace(entry.message, parts=parts), "harness")

    def _event(self, payload: Json) -> None:
        if payload.get("type") == "user_message" and (typed := string(payload.get("message")).strip()):
            self.typed.add(typed)
        self.window = count(payload.get("model_context_window")) or self.window
        if payload.get("type") == "token_count":
            info = mapping(payload.get("info"))
            self.window = count(info.get("model_context_window")) or self.window
            self._bill(info.get("total_token_usage"), mapping(info.get("last_token_usage")))
        elif payload.get("type") == "thread_rolled_back":
            self._roll_back(count(payload.get("num_turns")))

    def _bill(self, totals: object, last: Json) -> None:
        """A bill comes behind the reply that it is for, before or after the tool outputs, and often twice.

        All that was said before it is one reply. One that no reply waits for was made for a compaction.
        """
        if not isinstance(totals, dict) or totals == self._totals:
            return
        self._totals = totals
        billed = usage_of(last)
        if billed is not None and self._reply:
            self._context = billed.context
            first, *others = self._reply
            if others:
                self._join(first, others)
            first.message = replace(first.message, usage=billed)
        self._reply = []

    def _join(self, first: RolloutEntry, others: list[RolloutEntry]) -> None:
        """Makes one reply of what was said of it before and behind answers that came early."""
        parts = (part for entry in (first, *others) for part in entry.message.parts)
        first.message = replace(first.message, parts=tuple(parts))
        first.items += [item for entry in others for item in entry.items]
        at = self.live.index(first)
        self.live[at:] = [entry for entry in self.live[at:] if entry not in others]

    def _roll_back(self, turns: int) -> None:
        starts = [i for i, entry in enumerate(self.live) if entry.opens]
        if turns and starts:
            at = starts[-min(turns, len(starts))]
            self.gone += self.live[at:]
            del self.live[at:]
            self.since = min(self.since, at)
        self._reply = []

    def _compact(self, line: int, row: Json, payload: Json) -> None:
        replacement = payload.get("replacement_history")
        text = string(payload.get("message"))
        before, self._reply = self.live, []
        self._told += [entry for entry in before if entry not in self._repeated]
        self.replaced = tuple(entry.message for entry in before)
        if isinstance(replacement, list):
            self.gone += before
            self.live = []
            self._fold(line, row, text or _summary_in(replacement))
            for index, item in enumerate(mappings(replacement), 1):
                self._item(line, item, index)
                if not codex_items.is_generated(item):
                    self._reply = []
            self._reply = []
        else:
            start = next((i for i, entry in enumerate(before) if entry.opens), len(before))
            self.live = [*before[:start], *(entry for entry in before[start:] if entry.opens)]
            self.gone += [entry for entry in before[start:] if not entry.opens]
            self._fold(line, row, text)
            self.live.append(RolloutEntry(line, 1, summary(text, len(self.folds))))
        self._repeated = [*self.live]
        self.since = len(self.live)

    def _fold(self, line: int, row: Json, text: str) -> None:
        when, round = string(row.get("timestamp")), len(self.folds) + 1
        self.folds.append(summarized(str(line), when, self._context, round, text))


def _is_sealed(entry: RolloutEntry) -> bool:
    return any(map(codex_items.is_sealed, entry.items))


def usage_of(billed: Json) -> Usage | None:
    """The usage of one response; its input includes what was cached."""
    return usage_at(billed, "input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens")


def _summary_in(replacement: list[object]) -> str:
    texts = (words(item.get("content")) for item in mappings(replacement) if item.get("role") == "user")
    return next((text for text in reversed(list(texts)) if text.startswith(codex_items.SUMMARY_START)), "")


# -- the last rows -----------------------------------------------------------------------------------------------


class _Payload(Struct):
    type: str = ""
    model: str = ""
    content: Raw = Raw()
    output: Raw = Raw()
    arguments: Raw = Raw()
    info: Json | None = None


class _Last(Struct):
    type: str = ""
    payload: _Payload | None = None


_decoded = msgspec.json.Decoder(_Last).decode


def _tell(line: bytes) -> Row | None:
    row = _decoded(line)
    payload = row.payload or _Payload()
    match row.type, payload.type:
        case "event_msg", "token_count":
            info = mapping(payload.info)
            usage = usage_of(mapping(info.get("last_token_usage")))
            return Row(usage=usage, window=count(info.get("model_context_window")))
        case "turn_context", _:
            return Row(model=payload.model)
        case "response_item", _:
            content = (
                b"".join(map(bytes, (payload.content, payload.arguments)))
                + bytes(payload.output)[: codex_items.LARGEST]
            )
            return Row(content=content, answers=payload.type.endswith("_output"))
        case ("compacted", _) | ("event_msg", "thread_rolled_back"):
            return Row(anew=True)
    return None


def tail() -> Tail:
    """How full a session is, as the last rows of its rollout tell it."""
    return Tail(_tell, (b'"compacted"',))
