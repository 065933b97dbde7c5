"""What foldline keeps of a fold that an agent makes for it, where the agent's own log has no place for that.

An agent that writes the fold itself begins the summary with a mark that names it, and a small file holds the receipt and the
facts; without that file the fold is one of the agent's own. One that cannot write it sends it all the same: then the file
holds the whole fold, and while it stands the agent's requests begin with it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TypeVar

import msgspec

from foldline._fold import Fold, Receipt
from foldline._messages import Message, Summary, replace
from foldline._sessions.reading import PastFold, Reading
from foldline._sessions.values import Json
from foldline._sessions.writing import now, replace_file

T = TypeVar("T")

SENDS = ("opencode",)
"""The agents that send a fold without writing it."""

_MARK = re.compile(r"(?:\A\s*|earlier portion of the conversation\.\n\n)\[fold ([0-9a-f]{8}) by foldline\]")
"""What a summary begins with, in Claude Code behind its own words; elsewhere in it the mark is quoted from another."""


class KeptFold(msgspec.Struct, frozen=True):
    """The receipt of a fold, and the facts behind its summary."""

    trigger: str
    layer: str
    receipt: Receipt
    facts: Json


def marked(summary: str, fold: Fold) -> str:
    """A summary that names its fold, at its start: some agents cut the end off."""
    return f"[fold {fold.id} by foldline]\n{summary}"


def keep(fold: Fold, summary: Summary) -> None:
    """Keeps what the agent's log cannot; raises `SessionError` or `OSError` where that cannot be written."""
    kept = KeptFold(fold.trigger, fold.layer, fold.receipt, summary.facts)
    _write(_place(f"folds/{fold.id}.json"), kept)


def remembered(summary: str) -> Message:
    """A summary that an agent hands back, with the facts that foldline keeps of it."""
    kept = _kept(summary)
    return Message("user", (Summary(summary, kept.facts if kept else {}),))


def with_receipts(reading: Reading) -> Reading:
    """A reading in which the folds that agents wrote for foldline have their receipts, and their summaries their facts."""
    if not any(fold.ours is False and _MARK.search(fold.summary) for fold in reading.folds):
        return reading
    return replace(
        reading,
        entries=tuple((id, _with_facts(message)) for id, message in reading.entries),
        folded=tuple((id, _with_facts(message)) for id, message in reading.folded),
        folds=tuple(_with_receipt(fold) for fold in reading.folds),
    )


def _with_facts(message: Message) -> Message:
    summary = message.summary
    kept = _kept(summary.text) if summary else None
    return Message(message.role, (Summary(summary.text, kept.facts),)) if summary and kept else message


def _with_receipt(fold: PastFold) -> PastFold:
    kept = None if fold.ours else _kept(fold.summary)
    return replace(fold, trigger=kept.trigger, layer=kept.layer, receipt=kept.receipt, ours=True) if kept else fold


def _kept(summary: str) -> KeptFold | None:
    named = _MARK.search(summary)
    return _read(_place(f"folds/{named[1]}.json"), KeptFold) if named else None


# -- folds that stand ----------------------------------------------------------------------------------------------


class Standing(msgspec.Struct, frozen=True):
    """A fold that an agent sends without writing it: what it is of, what it says, and `last`, the newest entry then."""

    fold: PastFold
    facts: Json
    first_kept: str
    last: str


def stand(agent: str, session: str, fold: Fold, summary: Summary, first_kept: str, last: str) -> None:
    """Lets a fold stand in a session from now on; raises `SessionError` or `OSError` where that cannot be written."""
    past = PastFold(fold.id, now(), fold.trigger, fold.layer, fold.receipt, summary.text)
    new = Standing(past, summary.facts, first_kept, last)
    _write(_standing_place(agent, session), (*_standing(agent, session), new))


def stands(agent: str, session: str) -> bool:
    """Whether a fold stands in a session."""
    return agent in SENDS and any(not each.fold.undone for each in _standing(agent, session))


def take_back(agent: str, session: str) -> str | None:
    """Undoes the newest fold that stands in a session and answers its id; None where none does."""
    known = _standing(agent, session)
    newest = next((each for each in reversed(known) if not each.fold.undone), None)
    if newest is None:
        return None
    undone = msgspec.structs.replace(newest, fold=replace(newest.fold, undone=True))
    _write(_standing_place(agent, session), tuple(undone if e is newest else e for e in known))
    return newest.fold.id


def as_sent(reading: Reading) -> Reading:
    """A reading as the agent sends it: with the newest fold that stands, of which all is still there."""
    known = _standing(reading.agent, reading.id) if reading.agent in SENDS else ()
    if not known:
        return reading
    folds = (*reading.folds, *(each.fold for each in known))
    reading = replace(reading, folds=tuple(sorted(folds, key=lambda fold: fold.timestamp)))
    places = {id: at for at, (id, _) in enumerate(reading.entries)}
    newest = next((e for e in reversed(known) if not e.fold.undone and places.get(e.first_kept)), None)
    if newest is None:
        return reading
    at, last = places[newest.first_kept], places.get(newest.last, -1)
    lead = (newest.fold.id, Message("user", (Summary(newest.fold.summary, newest.facts),)))
    return replace(
        reading,
        entries=(lead, *reading.entries[at:]),
        folded=(*reading.folded, *reading.entries[:at]),
        since=max(1, last - at + 2),
    )


def _standing(agent: str, session: str) -> tuple[Standing, ...]:
    return _read(_standing_place(agent, session), tuple[Standing, ...]) or ()


def _standing_place(agent: str, session: str) -> Path:
    return _place(f"standing/{agent}/{re.sub('[^0-9A-Za-z_-]', '_', session)}.json")


# -- files ---------------------------------------------------------------------------------------------------------


def _place(name: str) -> Path:
    home = os.environ.get("HOME") or str(Path.home())
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(home, ".local", "state")
    return Path(state, "foldline", name)


def _read(place: Path, kind: type[T]) -> T | None:
    try:
        return msgspec.json.decode(place.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError):
        return None


def _write(place: Path, kept: object) -> None:
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    replace_file(str(place), msgspec.json.encode(kept))
