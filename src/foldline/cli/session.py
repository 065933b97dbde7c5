"""`foldline session`: the sessions on this machine."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime

import click

from foldline.cli import NOTHING_TO_DO, LazyGroup
from foldline.cli.drawing import age, bar, title
from foldline.cli.options import force_option, opened, print_json, refuse_busy, session_options
from foldline.errors import FoldlineError
from foldline.inspection import Opened, what
from foldline.messages import Value
from foldline.transcripts import open_session
from foldline.transcripts.finding import Found, found_sessions


class Listed(Value, frozen=True, omit_defaults=False):
    """One line of the list; `error` says why a session could not be read."""

    agent: str
    id: str
    path: str
    cwd: str
    changed: float
    model: str = ""
    tokens: int = 0
    window: int = 0
    compactions: int = 0
    error: str = ""


OPENING = {
    "branch": ("foldline.cli.branch:branch", "A new session from a message of this one on."),
    "handoff": ("foldline.cli.handoff:handoff", "A new session from what a goal needs of this one."),
}


@click.group(cls=LazyGroup, places=OPENING)
def session() -> None:
    """List, show, branch, hand off and undo."""


@session.command("list")
@click.option("--all", "everywhere", is_flag=True, help="Of every directory, not only of this one.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(everywhere: bool, as_json: bool) -> None:
    """The agents' sessions on this machine, newest first, and how full each is."""
    here = os.path.realpath(os.getcwd())
    found = found_sessions()
    mine = found if everywhere else [f for f in found if os.path.realpath(f.cwd or "/") == here] or found
    listed = [_listed(f) for f in mine]
    if as_json:
        print_json(listed)
    elif listed:
        click.echo("\n".join([title("Sessions"), *(_line(entry) for entry in listed)]))
    else:
        click.echo("no sessions found", err=True)
        sys.exit(NOTHING_TO_DO)


@session.command()
@click.option("--folded", is_flag=True, help="What is in the file and no longer in the context.")
@session_options
def show(folded: bool, session: str | None, as_json: bool, strict: bool, window: int | None) -> None:
    """The live context, a line for each message: id, tokens, role and how it begins."""
    found = opened(session, strict=strict, window=window)
    shown = [(e.id, e.tokens, e.message) for e in found.view.entries]
    if folded:
        live = {e.id: e.message for e in found.view.entries}
        shown = [(id, found.meter.count(m), m) for id, m in found.session.messages() if live.get(id) != m]
    if as_json:
        print_json([{"id": id, "tokens": tokens, "message": message} for id, tokens, message in shown])
        return
    click.echo(title(f"Session {found.session.id}"))
    wide = max((len(id) for id, _, _ in shown), default=0)
    for id, tokens, message in shown:
        click.echo(f"{id:<{wide}} {tokens:>8,}  {what(message)}")


@session.command()
@force_option
@session_options
def undo(force: bool, session: str | None, as_json: bool, strict: bool, window: int | None) -> None:
    """Take back the newest fold; what came after it stays in the context."""
    found = opened(session, strict=strict, window=window)
    refuse_busy(found.session.path, force=force)
    before = found.tokens
    fold = found.session.undo()
    if fold is None:
        click.echo("nothing to undo: no fold stands in this session", err=True)
        sys.exit(NOTHING_TO_DO)
    after = Opened(open_session(found.session.path), window=window).tokens
    if as_json:
        print_json({"session": found.session.path, "undone": fold, "tokens_before": before, "tokens_after": after})
    else:
        click.echo(f"Undone: fold {fold}; {before:,} → {after:,} tokens")


def _listed(found: Found) -> Listed:
    base = (found.agent, found.id, found.path, found.cwd, found.changed)
    try:
        whole = Opened(open_session(found.path))
        return Listed(*base, whole.session.model, whole.tokens, whole.budget.window, whole.session.compactions)
    except FoldlineError as error:
        return Listed(*base, error=str(error))


def _line(entry: Listed) -> str:
    changed = age(datetime.fromtimestamp(entry.changed, UTC).isoformat())
    head = f"{entry.id[:13]:<13}  {entry.agent:<8}  {changed:<15}"
    if entry.error:
        return f"{head}  {entry.error}"
    fill = entry.tokens / entry.window
    folds = f"{entry.compactions} fold{'' if entry.compactions == 1 else 's'}"
    return f"{head}  {bar(fill, width=16)} {fill:>4.0%}  {folds:<7}  {entry.model:<24}  {entry.cwd}"
