"""`foldline session show` and `undo`: what is in a session, and what was folded away."""

from __future__ import annotations

import click

from foldline._cli.commands import NOTHING_TO_DO
from foldline._cli.drawing import title
from foldline._cli.options import Answer, about, answering, check_in_place, force_option, may_ask, on_session
from foldline._cli.printing import room
from foldline._desk.about import in_two_sentences
from foldline._desk.desk import Desk
from foldline._desk.inspection import what
from foldline._sessions.opening import open_session


@click.command()
@click.option("--folded", is_flag=True, help="What is in the file and no longer in the context.")
@answering
@on_session
def show(desk: Desk, folded: bool) -> Answer:
    """What it is about in two sentences, and the live context, a line for each message: id, tokens, role and how it begins."""
    shown = [(e.id, e.tokens, e.message) for e in desk.view.entries]
    if folded:
        live = {e.id: e.message for e in desk.view.entries}
        shown = [(id, desk.meter.count(m), m) for id, m in desk.session.messages() if live.get(id) != m]
    wide = max((len(id) for id, _, _ in shown), default=0)
    most = max(4, room(wide + 22, 60))
    lines = [f"{id:<{wide}} {tokens:>8,}  {what(message, most)}" for id, tokens, message in shown]
    told = [{"id": id, "tokens": tokens, "message": message} for id, tokens, message in shown]
    short = in_two_sentences([message for _, message, _ in desk.session.lineage()])
    head = [title(f"Session {desk.session.id}"), *([short, ""] if short else [])]
    return Answer(about(desk.session, about=short, messages=told), "\n".join([*head, *lines]))


@click.command()
@click.option("--yes", is_flag=True, help="Take back a compaction of the agent's own without asking.")
@force_option
@answering
@on_session
def undo(desk: Desk, yes: bool, force: bool) -> Answer:
    """Take back the newest fold; what came after it stays in the context.

    Where it is a compaction that the agent made by itself, it asks first.
    """
    before = after = desk.tokens
    if not desk.stands_beside:
        check_in_place(desk, force=force)
    if not yes:
        _agree(desk.not_ours)
    fold = desk.undo(force=force)
    if fold is not None:
        after = Desk(open_session(desk.session.path), window=desk.budget.window).tokens
    told = about(desk.session, undone=fold, tokens_before=before, tokens_after=after)
    if fold is None:
        return Answer(told, remark="nothing to undo: no fold stands in this session", code=NOTHING_TO_DO)
    return Answer(told, f"Undone: fold {fold}; {before:,} → {after:,} tokens")


def _agree(not_ours: str) -> None:
    """Asks before a compaction of the agent's own is taken back; raises `Abort` where the answer is no."""
    if not_ours and not may_ask():
        raise click.UsageError(f"nothing was written: {not_ours}; --yes takes it back all the same")
    if not_ours:
        click.confirm(f"{not_ours[0].upper()}{not_ours[1:]}. Take it back?", abort=True)
