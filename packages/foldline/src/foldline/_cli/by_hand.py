"""One session by hand: its messages shown, said otherwise, taken back and pinned, a fold undone, a branch begun."""

from __future__ import annotations

import click

from foldline._cli.commands import NOTHING_TO_DO
from foldline._cli.drawing import counted, title
from foldline._cli.options import CommandAnswer, about, answering, force_option, may_ask, on_session, said, undoing
from foldline._cli.printing import columns, say, warn
from foldline._clipping import clipped, one_line
from foldline._desk import revising
from foldline._desk.desk import Desk
from foldline._desk.inspection import in_two_sentences, what
from foldline._fold import Fold
from foldline._sessions.file import Branch, Point, SessionFile
from foldline._sessions.opening import open_session
from foldline._visible import visible


@click.command()
@click.option("--folded", is_flag=True, help="What is in the file and no longer in the context.")
@answering
@on_session
def show(desk: Desk, folded: bool) -> CommandAnswer:
    """What it is about in two sentences, and the live context, a line for each message: id, tokens, role and how it begins."""
    shown = [(e.id, e.tokens, e.message) for e in desk.view.entries]
    if folded:
        live = {e.id: e.message for e in desk.view.entries}
        shown = [(id, desk.meter.count(m), m) for id, m in desk.session.messages() if live.get(id) != m]
    wide = max((len(id) for id, _, _ in shown), default=0)
    lines = [clipped(f"{id:<{wide}} {tokens:>8,}  {what(message)}", columns()) for id, tokens, message in shown]
    told = [{"id": id, "tokens": tokens, "message": message} for id, tokens, message in shown]
    short = in_two_sentences([message for _, message, _ in desk.session.lineage()])
    head = [title(f"Session {desk.session.id}"), *([short, ""] if short else [])]
    nothing = "" if lines else "nothing is folded in it" if folded else "no message is in it"
    return CommandAnswer(about(desk.session, about=short, messages=told), "\n".join([*head, *lines]), remark=nothing)


@click.command()
@click.option("--yes", is_flag=True, help="Take back a compaction of the agent's own without asking.")
@force_option
@answering
@on_session
def undo(desk: Desk, yes: bool) -> CommandAnswer:
    """Take back the newest fold; what came after it stays in the context.

    Where it is a compaction that the agent made by itself, it asks first.
    """
    before = after = desk.tokens
    if not desk.stands_beside:
        warn(desk.check_writable())
    if not yes:
        _agree(desk.not_ours)
    fold = desk.undo()
    if fold is not None:
        after = Desk(open_session(desk.session.path), window=desk.budget.window).tokens
    told = about(desk.session, undone=fold, tokens_before=before, tokens_after=after)
    if fold is None:
        return CommandAnswer(told, remark="nothing to undo: no fold stands in this session", code=NOTHING_TO_DO)
    done = f"Undone: fold {fold}; {before:,} → {after:,} tokens"
    return CommandAnswer(told, done, done=done)


def _agree(not_ours: str) -> None:
    """Asks before a compaction of the agent's own is taken back; raises `Abort` where the answer is no."""
    if not_ours and not may_ask():
        raise click.UsageError(f"nothing was written: {not_ours}; --yes takes it back all the same")
    if not_ours:
        say(f"{not_ours[0].upper()}{not_ours[1:]}.")
        click.confirm("Take it back?", abort=True)


@click.command()
@click.argument("id")
@click.option("--text", metavar="TEXT", callback=said, help="The words instead; without it your editor is opened.")
@force_option
@answering
@on_session
def edit(desk: Desk, id: str, text: str | None) -> CommandAnswer:
    """Say the message ID in other words; what came behind it stays.

    `session undo` brings the old words back.
    """
    warn(desk.check_writable())
    if text is None:
        if not may_ask():
            raise click.UsageError("--text=TEXT is needed where no editor can be opened")
        text = click.edit(visible(revising.words_of(desk, id)), extension=".md", require_save=True)
    if not (text or "").strip():
        return CommandAnswer(about(desk.session, fold=None), remark="no words; nothing was written", code=NOTHING_TO_DO)
    return _done(desk, revising.edit(desk, id, str(text).rstrip("\n")), "Edited")


@click.command()
@click.argument("id")
@force_option
@answering
@on_session
def restore(desk: Desk, id: str) -> CommandAnswer:
    """Go back to the message ID: all that came behind it leaves the context.

    `session undo` brings it back, and `recall` finds it in any case.
    """
    warn(desk.check_writable())
    return _done(desk, revising.restore(desk, id), "Restored")


def _done(desk: Desk, fold: Fold, what: str) -> CommandAnswer:
    """What was done, and how it is taken back."""
    gone = len(fold.edits[0].drop)
    taken = f": {counted(gone, 'message')} behind it left the context" if fold.layer == "restore" else ""
    done = f"{what}{taken}. Undo with: {undoing(desk.session)}"
    return CommandAnswer(about(desk.session, fold=fold), done, done=done)


@click.command()
@click.argument("id")
@click.option("--remove", is_flag=True, help="Take the pin off again.")
@force_option
@answering
@on_session
def pin(desk: Desk, id: str, remove: bool) -> CommandAnswer:
    """Pin the message ID: no fold touches it, until the pin is removed.

    `session show` lists the ids. The pin stands in the session's log, and every command and agent that folds with foldline
    keeps to it.
    """
    warn(desk.check_writable())
    if remove and id in desk.view.index and id not in desk.session.context.pins:
        told = about(desk.session, id=id, pinned=False)
        return CommandAnswer(told, remark=f"{id} is not pinned; nothing was written", code=NOTHING_TO_DO)
    message = desk.session.pin(id, not remove)
    told = about(desk.session, id=id, pinned=not remove)
    done = f"{'No longer pinned' if remove else 'Pinned'}: {what(message)}"
    return CommandAnswer(told, done, done=done)


@click.command()
@click.option("--at", metavar="MESSAGE-ID", help="The user message that the branch ends with; without it, you choose.")
@answering
@on_session
def branch(desk: Desk, at: str | None) -> CommandAnswer:
    """Begin a new session that ends with an earlier user message; the old one is not touched.

    A branch from before a fold has the whole history again, one from behind it keeps the fold.
    """
    found = desk.session
    if at is None:
        if not may_ask():
            raise click.UsageError("--at=MESSAGE-ID is needed where no one can choose; `session show` lists the ids")
        at = _chosen(found.points())
    if at is None:
        nothing = f"nothing to branch from: no user message in {found.path}"
        return CommandAnswer(_of_branch(found, None), remark=nothing, code=NOTHING_TO_DO)
    made = found.branch(at)
    for fault in made.faults:
        warn(f"warning: {found.path}: {fault}")
    folds = f", behind {counted(made.folds, 'fold')}" if made.folds else ", before any fold"
    drawn = f"Branched at {made.at}{folds}: {made.records} records in\n{made.path}"
    return CommandAnswer(_of_branch(found, made), drawn, done=drawn)


def _of_branch(parent: SessionFile, made: Branch | None) -> dict[str, object]:
    """A branch, or that there is none, as JSON tells it."""
    told = {name: getattr(made, name, None) for name in ("path", "at", "records", "folds", "faults")}
    return {"session": made and made.id, "parent": about(parent), **told}


def _chosen(found: list[Point]) -> str | None:
    """The id that the user picks, of all user messages."""
    if not found:
        return None
    width = len(str(len(found)))
    for number, point in enumerate(found, 1):
        folds = f"after fold {point.folds}" if point.folds else ""
        live = "" if point.live else "folded"
        say(f"{number:>{width}}  {point.id:<10} {folds:<13} {live:<7} {one_line(point.text, 80)}")
    number = click.prompt("Branch at", type=click.IntRange(1, len(found)), default=len(found))
    return found[number - 1].id
