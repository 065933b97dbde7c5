"""The messages that stand in for what was folded: a summary in the words of its policy, and what belongs to it."""

from __future__ import annotations

from typing import get_args

from foldline._messages import Message, Role, Summary, Text, replace
from foldline._view import View
from foldline._wires import FORMATS
from foldline._wording import Wording


def worded(
    summary: Summary, wording: Wording, round: int, view: View, stop: int, *, leads: bool, unasked: bool
) -> tuple[Message, ...]:
    """A summary as it stands in a view before the place `stop`: its message, and behind it what was acknowledged.

    One of the system's that `leads` the history is the user's where no user's message follows, since a user speaks first.
    Where nobody asked for the fold, a message of the program's follows up. The assistant acknowledges nothing where its
    own words follow, since two messages of it would be neighbours.
    """
    after = next((e.message.role for e in view.entries[stop:] if e.message.role != "system"), "user")
    role = "user" if leads and wording.role == "system" and after != "user" else _role(wording, view)
    told = Message(role, (replace(summary, frame=wording.frame(round)),))
    followed = Message("user", (Text(wording.follow_up, by="harness"),)) if wording.follow_up and unasked else None
    behind = followed or (view.entries[stop].message if stop < len(view.entries) else None)
    heard = wording.acknowledged and told.role == "user" and (behind is None or behind.role != "assistant")
    answer = Message("assistant", (Text(wording.acknowledged),)) if heard else None
    return tuple(filter(None, (told, answer, followed)))


def _role(wording: Wording, view: View) -> Role:
    """The role that a summary has: a user's, where the provider takes no other at the head of a history."""
    if wording.role == "user":
        return wording.role
    named = next((entry.message.format for entry in view.entries if entry.message.format), "")
    taken = FORMATS[named].summaries if named in FORMATS else ("user",) if named else get_args(Role)
    return wording.role if wording.role in taken else "user"
