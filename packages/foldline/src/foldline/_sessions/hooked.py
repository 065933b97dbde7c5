"""What foldline keeps of a fold that an agent writes into its own log, where that log has no place for a receipt.

The summary ends with a mark that names the fold, and a small file beside foldline's other state holds the receipt and the
facts. Without that file the fold is one of the agent's own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from foldline._fold import Fold, Receipt
from foldline._messages import Message, Summary, replace
from foldline._sessions.reading import PastFold, Reading
from foldline._sessions.writing import replace_file

_MARK = re.compile(r"\[fold ([0-9a-f]{8}) by foldline\]")


class Kept(msgspec.Struct, frozen=True):
    """The receipt of a fold, and the facts behind its summary."""

    trigger: str
    layer: str
    receipt: Receipt
    facts: dict[str, Any]


def marked(summary: str, fold: Fold) -> str:
    """A summary that names its fold."""
    return f"{summary}\n[fold {fold.id} by foldline]"


def keep(fold: Fold, summary: Summary, environment: Mapping[str, str] = os.environ) -> None:
    """Keeps what the agent's log cannot; raises `SessionError` or `OSError` where that cannot be written."""
    place = _place(fold.id, environment)
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    kept = Kept(fold.trigger, fold.layer, fold.receipt, summary.facts)
    replace_file(str(place), msgspec.json.encode(kept))


def with_receipts(reading: Reading, environment: Mapping[str, str] = os.environ) -> Reading:
    """A reading in which the folds that agents wrote for foldline have their receipts, and their summaries their facts."""
    if not any(fold.ours is False and _MARK.search(fold.summary) for fold in reading.folds):
        return reading
    return replace(
        reading,
        entries=tuple((id, _with_facts(message, environment)) for id, message in reading.entries),
        folded=tuple((id, _with_facts(message, environment)) for id, message in reading.folded),
        folds=tuple(_with_receipt(fold, environment) for fold in reading.folds),
    )


def _with_facts(message: Message, environment: Mapping[str, str]) -> Message:
    summary = message.summary
    kept = _kept(summary.text, environment) if summary else None
    return Message(message.role, (Summary(summary.text, kept.facts),)) if summary and kept else message


def _with_receipt(fold: PastFold, environment: Mapping[str, str]) -> PastFold:
    kept = None if fold.ours else _kept(fold.summary, environment)
    return replace(fold, trigger=kept.trigger, layer=kept.layer, receipt=kept.receipt, ours=True) if kept else fold


def _kept(summary: str, environment: Mapping[str, str]) -> Kept | None:
    named = _MARK.findall(summary)
    try:
        return msgspec.json.decode(_place(named[-1], environment).read_bytes(), type=Kept) if named else None
    except (OSError, msgspec.DecodeError):
        return None


def _place(fold: str, environment: Mapping[str, str]) -> Path:
    home = environment.get("HOME") or str(Path.home())
    state = environment.get("XDG_STATE_HOME") or os.path.join(home, ".local", "state")
    return Path(state, "foldline", "folds", f"{fold}.json")
