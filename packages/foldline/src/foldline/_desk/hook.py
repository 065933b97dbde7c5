"""A fold for an agent that is about to compact by itself: planned on the session's file as it stands, written by the agent.

Nothing of the agent's is written here. It takes a summary and what it keeps word for word, and puts both into its own log;
what has no place there, foldline keeps.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import msgspec

from foldline._desk.desk import Desk
from foldline._desk.plan import FoldPlan
from foldline._errors import FormatError
from foldline._fold import Fold, Receipt, Trigger, automatic_folds, folds_behind
from foldline._messages import Message, Summary
from foldline._recall.text import words_of
from foldline._sessions.finding import find_session
from foldline._sessions.hooked import SENDS, keep, marked, remembered, stand
from foldline._sessions.opening import open_session
from foldline._sessions.pi.dialect import message_in
from foldline._sessions.pi.log import Session
from foldline._tokens.estimate import estimate
from foldline._tokens.weigh import weigh
from foldline._view import Brief, Entry, View
from foldline._writers.extraction import extract

TRIGGERS: Mapping[str, Trigger] = {"auto": "threshold", "overflow": "overflow", "manual": "manual"}

_WORDS = re.compile(r"\w+")


class HookRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an agent asks: its session by path or id, why it compacts, what the user wants kept, its window in tokens.

    One that `waits` can go on without a fold, and does where the settings allow no more before the window is full. One that
    chose the cut itself gives the messages to be summarized, as pi and OpenClaw write them, in place of a session; `previous`
    is the summary that stands before them, and `max_tokens` the most that the new one may take.
    """

    session: str = ""
    trigger: Literal["auto", "overflow", "manual"] = "manual"
    focus: str = ""
    window: int | None = None
    waits: bool = False
    messages: tuple[dict[str, object], ...] = ()
    previous: str = ""
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] = 4_000


def asked_in(data: bytes) -> HookRequest:
    """What stands in a hook's input; raises `FormatError` where it is none."""
    try:
        asked = msgspec.json.decode(data, type=HookRequest)
    except msgspec.DecodeError as error:
        raise FormatError(f"what a hook is asked is one JSON object: {error}", where="standard input") from error
    if bool(asked.session) == bool(asked.messages):
        raise FormatError("a hook is asked of a session or of messages", where="standard input")
    return asked


def summary_for(asked: HookRequest) -> dict[str, object]:
    """What is to stand for messages that an agent chose itself, with its receipt; as for a session, nothing is written."""
    new = [message for each in asked.messages if (message := message_in(each))]
    told = [*([remembered(asked.previous)] if asked.previous else []), *new]
    if not new:
        return not_folded("NothingToDo", "no message that a model would see")
    trigger = TRIGGERS[asked.trigger]
    round = folds_behind(told) + 1
    summary = extract(Brief(asked.max_tokens, asked.focus, round=round), told)
    if not _tells(summary.text, told):
        return not_folded("Unsayable", f"within max_tokens {asked.max_tokens:,} no word of what was said can be told")
    counts = {"round": round, "automatic": automatic_folds(told) + (trigger == "threshold")}
    before, after = sum(map(weigh, told)), estimate(summary.text)
    receipt = Receipt(before, after, len(new), round=round, instruction=asked.focus)
    fold = Fold(os.urandom(4).hex(), trigger, "summarize", receipt=receipt)
    keep(fold, Summary(summary.text, {**summary.facts, **counts}))
    answer = {"fold": fold.id, "trigger": trigger, "summary": marked(summary.text, fold)}
    return {**answer, "tokens_before": before, "tokens_after": after, "receipt": msgspec.to_builtins(receipt)}


def _tells(summary: str, told: Sequence[Message]) -> bool:
    """Whether a summary has a whole word of the messages that it stands for, beside what it says around them."""
    said = {word for message in told for word in _WORDS.findall(words_of(message))}
    return any(word in said for word in _WORDS.findall(summary))


def fold_for(agent: str, asked: HookRequest) -> dict[str, object]:
    """The fold that an agent should make of its session now, as plain data; sizes are tokens.

    `summary` takes the place of all before `first_kept`, and `kept` are the ids of what stays as it is; `details` is what
    pi keeps beside a summary. Where there is none, `error` says why, and the agent's own compaction should go on.
    """
    path = find_session(asked.session, cwd=os.getcwd(), agent=agent)
    desk = Desk(open_session(path), window=asked.window)
    policy = desk.settings.to_policy()
    if asked.trigger == "auto" and not policy.automatic.enabled:
        return not_folded("Off", "folding by itself is switched off; `foldline autocompact on` switches it on")
    spent = policy.automatic.spent(automatic_folds(desk.view.messages))
    if asked.trigger == "auto" and asked.waits and spent and not desk.is_full(policy):
        return not_folded("Limit", spent)
    writer = desk.settings.writer(policy, desk.session.model, {"native": False})
    planned = desk.plan(policy, asked.focus, writer, trigger=TRIGGERS[asked.trigger])
    if not planned:
        return not_folded("NothingToDo", f"nothing worth folding in {desk.tokens:,} tokens")
    made = planned.summarized() if planned.asks_model else planned
    made.why_extracted()
    return {"agent": desk.session.agent, "session": desk.session.id, "path": path, **_told(made)}


def not_folded(kind: str, why: str) -> dict[str, object]:
    """The answer where there is no fold."""
    return {"error": {"kind": kind, "message": why}}


def _told(made: FoldPlan) -> dict[str, object]:
    """A fold as an agent can make it: a summary first, and behind it what it keeps, word for word."""
    desk, fold = made.desk, made.fold
    (lead, *kept), old = _spoken(made.after), _spoken(desk.view)
    same = all(now.message is was.message for now, was in zip(reversed(kept), reversed(old)))
    if not (lead.message.summary and kept and same):
        return not_folded("Unsayable", "the policy changes more than a summary and a first kept message can say")
    told = {
        "fold": fold.id,
        "trigger": fold.trigger,
        "summary": made.summary,
        "first_kept": kept[0].id,
        "kept": [entry.id for entry in kept],
        "tokens_before": fold.receipt.tokens_before,
        "tokens_after": fold.receipt.tokens_after,
        "receipt": msgspec.to_builtins(fold.receipt),
    }
    session = desk.session
    if session.agent in SENDS:
        stand(session.agent, session.id, fold, lead.message.summary, kept[0].id, kept[-1].id)
        return told
    if not isinstance(session, Session):
        keep(fold, lead.message.summary)
        return told | {"summary": marked(made.summary, fold)}
    record = session.compaction(desk.view, made.after, fold, desk.meter)
    if record is None:
        return not_folded("Unsayable", "one record of pi's cannot say the fold")
    return told | {"first_kept": record["firstKeptEntryId"], "details": record["details"]}


def _spoken(view: View) -> list[Entry]:
    return [entry for entry in view.entries if entry.message.role != "system"]
