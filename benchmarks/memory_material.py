"""The labelled sessions of `memory`: read from `material/tune` and `material/sealed`, checked against themselves.

They were written, with their labels, without sight of foldline's code. The sealed half is not looked at; only its
figures are printed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from memory_histories import Chat, as_chat, tagged, texts
from memory_words import holds, near

MATERIAL = Path(__file__).with_name("material")
HALVES = ("tune", "sealed")
SENTENCES = "sentences.json"


class Need(NamedTuple):
    """A literal that is needed later, the words that tell what it is, and whether it was said long ago."""

    value: str
    about: tuple[str, ...]
    far: bool = False


class Rule(NamedTuple):
    """What the user said that binds: as a standing rule, once, or until it was withdrawn."""

    text: str
    lifetime: str


class Replaced(NamedTuple):
    """A value that no longer holds, and the one that does."""

    old: str
    new: str
    about: tuple[str, ...]


class Fault(NamedTuple):
    """An error by what failed and a part of its message."""

    name: str
    message: str


class Passage(NamedTuple):
    """A passage of a message, and who says it."""

    text: str
    by: str


class Labels(NamedTuple):
    """What there is to be known at the end of a session."""

    task: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    not_rules: tuple[str, ...] = ()
    needed: tuple[Need, ...] = ()
    stale: tuple[Replaced, ...] = ()
    next: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    open_errors: tuple[Fault, ...] = ()
    closed_errors: tuple[Fault, ...] = ()
    speakers: tuple[Passage, ...] = ()


class Labelled(NamedTuple):
    """A labelled session: its messages without system messages, and what a reader should know of it."""

    name: str
    kind: str
    language: str
    messages: list[Chat]
    labels: Labels
    unsound: int = 0


@lru_cache(maxsize=4)
def labelled(half: str, folder: Path = MATERIAL) -> tuple[Labelled, ...]:
    """The sessions of a half, in the order of their names; none where there are none."""
    files = sorted(path for path in (folder / half).glob("*.json") if path.name != SENTENCES)
    return tuple(_read(json.loads(path.read_text("utf-8"))) for path in files)


def _read(said: dict[str, Any]) -> Labelled:
    messages = tagged(as_chat(m for m in said["messages"] if m["role"] != "system"), said["name"])
    labels = _labels(said["labels"])
    sound = labels._replace(
        needed=tuple(need for need in labels.needed if is_told(need, texts(messages))),
        task=tuple(passage for passage in labels.task if any(holds(text, passage) for text in texts(messages))),
    )
    unsound = len(labels.needed) - len(sound.needed) + len(labels.task) - len(sound.task)
    return Labelled(said["name"], said["kind"], said["language"], messages, sound, unsound)


def _labels(said: dict[str, Any]) -> Labels:
    return Labels(
        tuple(said.get("task", ())),
        tuple(Rule(r["text"], r["lifetime"]) for r in said.get("rules", ())),
        tuple(said.get("not_rules", ())),
        tuple(Need(str(n["value"]), tuple(n["about"]), n["where"] == "far") for n in said.get("needed", ())),
        tuple(Replaced(str(s["old"]), str(s["new"]), tuple(s.get("about", ()))) for s in said.get("stale", ())),
        tuple(said.get("next", ())),
        tuple(said.get("done", ())),
        tuple(Fault(e["name"], e["message"]) for e in said.get("open_errors", ())),
        tuple(Fault(e["name"], e["message"]) for e in said.get("closed_errors", ())),
        tuple(Passage(p["text"], p["by"]) for p in said.get("speakers", ())),
    )


def is_told(need: Need, said: Sequence[str]) -> bool:
    """Whether some text has the literal with two of the words that tell what it is near it."""
    return any(near(text, need.value, need.about, 2) for text in said)
