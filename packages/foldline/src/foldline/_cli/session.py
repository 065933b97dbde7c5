"""`foldline session`: the sessions on this machine."""

from __future__ import annotations

import click

from foldline._cli.commands import LazyGroup

PLACES = {
    "list": ("foldline._cli.listing:list_", "The agents' sessions on this machine, and how full each is."),
    "show": ("foldline._cli.by_hand:show", "The live context, or what was folded away, a line for each message."),
    "undo": ("foldline._cli.by_hand:undo", "Take back the newest fold."),
    "branch": ("foldline._cli.branch:branch", "A new session from a message of this one on."),
    "edit": ("foldline._cli.by_hand:edit", "Say a message in other words."),
    "restore": ("foldline._cli.by_hand:restore", "Go back to a message: what came behind it leaves the context."),
    "handoff": ("foldline._cli.handoff:handoff", "A new session from what a goal needs of this one."),
}


@click.group(cls=LazyGroup, places=PLACES)
def session() -> None:
    """List, show, branch, edit, restore, hand off and undo."""
