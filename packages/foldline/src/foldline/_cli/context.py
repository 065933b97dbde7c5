"""`foldline context`: how full a session is, what fills it, what was folded."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import click

from foldline._cli.commands import LazyGroup
from foldline._cli.drawing import bar, counted, percent, row, title, tokens
from foldline._cli.options import CommandAnswer, about, answering, on_session
from foldline._cli.printing import columns, room, whole
from foldline._cli.summaries import policy_option
from foldline._clipping import clipped, clipped_before
from foldline._compactor.degradation import HARD_AFTER, risk_of
from foldline._desk.desk import Desk
from foldline._desk.inspection import Inspection, Share
from foldline._desk.inspection import inspect as inspect_session
from foldline._desk.receipts import shortened, spent
from foldline._desk.status import Status
from foldline._desk.status import status as status_of
from foldline._fold import Receipt
from foldline._install.agents import AGENTS, folds_by_itself
from foldline._policy import Policy
from foldline._relative_time import age
from foldline._sessions.reading import PastFold

EXCHANGE = {
    "export": ("foldline._cli.export:export", "Write what a session came to know to a file."),
    "import": ("foldline._cli.export:import_", "Begin a new session with what another came to know."),
}


@click.group(cls=LazyGroup, places=EXCHANGE)
def context() -> None:
    """See what fills a session, export its state and import it."""


@context.command()
@answering
@on_session
def status(desk: Desk) -> CommandAnswer:
    """How full the context is, and how the session fares."""
    policy, agent = desk.settings.to_policy(), desk.session.agent
    installed = folds_by_itself(agent, os.getcwd())
    found = status_of(desk, policy, installed=installed)
    return CommandAnswer(whole(found), draw_status(found, _by_itself(agent, installed, policy, found)))


@context.command()
@policy_option
@answering
@on_session
def inspect(desk: Desk, policy: str | None) -> CommandAnswer:
    """What fills the context, and what a fold would free."""
    chosen = desk.settings.to_policy(policy)
    found = inspect_session(desk, chosen)
    return CommandAnswer(whole(found), draw_inspection(found, chosen))


@context.command()
@click.option("--depth", type=click.IntRange(1), metavar="N", help="At most so many folds, newest first.")
@click.option("--facts", is_flag=True, help="Name the facts that were added or lost, with the messages to recall.")
@answering
@on_session
def history(desk: Desk, depth: int | None, facts: bool) -> CommandAnswer:
    """The folds of a session, newest first."""
    folds = desk.session.folds()[::-1]
    return CommandAnswer(
        about(desk.session, folds=folds[:depth]), draw_history(folds, depth, desk.settings.to_policy(), facts=facts)
    )


def _by_itself(agent: str, installed: bool, policy: Policy, s: Status) -> str:
    """What folds the session without being asked."""
    at, known = f"triggers at {s.auto_at:.0%}", AGENTS.get(agent)
    if installed and known:
        return f"Enabled (at {known.title}'s own mark)" if policy.automatic.enabled else "Switched off"
    if s.auto_enabled:
        return f"Enabled ({at})"
    if known and not known.automatic:
        return f"None here by foldline: {known.title} lets nobody replace its own; `foldline compact` folds between two runs"
    way = f"; `foldline install {agent}` has {known.title} call it" if known else ""
    return f"None here by foldline (an agent that calls it {at}{way})"


def draw_status(s: Status, auto: str) -> str:
    """The status in the layout of the OpenClaw requirements."""
    window = f"{s.window:,}" if s.window_known else f"{s.window:,} assumed"
    lines = [
        title("Context Status"),
        row("Total Tokens", f"{s.tokens:,} / {window} ({percent(s.fill)})"),
        f"{'':<21}{bar(s.fill, width=room(21, 40))}",
        row("Counted", f"± {s.count_error:.1%} ({s.basis})"),
        *([row("Media", _media(s))] if s.media_bytes or s.images else []),
        row("Model", s.model or "not named in the file"),
        row("Auto-Compaction", auto),
        row("Compaction Count", str(s.compactions)),
        row("Last Compaction", age(s.last_compaction) or "never"),
        *([row("Summaries", s.failing)] if s.failing else []),
        row("Degradation Risk", f"{s.risk.level} ({s.risk.why})"),
        "",
        "Recommendations:",
        *(f"  {line}" for line in s.recommendations),
    ]
    if s.faults:
        lines += ["", "Read around:", *(f"  {fault}" for fault in s.faults)]
    return "\n".join(lines)


def _media(s: Status) -> str:
    """Pictures and bytes beside the caps that a provider has for them."""
    images = f"{s.images:,} images" + (f" of {s.max_images:,}" if s.max_images else "")
    size = f"{s.media_bytes / 1e6:.1f}" + (f" of {s.max_bytes / 1e6:.0f} MB" if s.max_bytes else " MB")
    return f"{images}, {size}"


def draw_inspection(i: Inspection, policy: Policy) -> str:
    """The inspection in the layout of the OpenClaw requirements."""
    width = max(len(f"{size:,}") for size in (*(share.tokens for share in i.shares), i.reserve, i.free))
    wide = room(56, 24)
    lines = [title("Context Inspection"), row("Total", tokens(i.tokens)), "", "Breakdown:"]
    for share in i.shares:
        part = share.tokens / i.tokens if i.tokens else 0
        pieces = f" ({counted(share.count, share.unit.removesuffix('s'))})" if share.count else ""
        lines.append(
            row(f"  {share.name}", f"{share.tokens:>{width},} tokens {bar(part, width=wide)} {part:>4.0%}{pieces}")
        )
    lines += [
        row(f"  {name}", f"{size:>{width},} tokens {bar(size / i.window, width=wide)} {size / i.window:>4.0%}")
        for name, size in (("Reserve", i.reserve), ("Free Space", i.free))
    ]
    lines += [
        "",
        row("Not in the file", f"{tokens(i.overhead)} of the system prompt, with the tools"),
        row("Pinned", tokens(i.pinned)),
        row("Protected", f"{tokens(i.protected)} (recent messages)"),
        row("Compactable", tokens(i.compactable)),
    ]
    lines += ["", "Potential Savings:"]
    lines += [row(f"  {_layer(s.layer, policy)}", f"~{tokens(s.tokens)}", width=23) for s in i.savings]
    sizes = [s.tokens for s in i.savings]
    if sizes != sorted(sizes):
        lines.append("  Each goes down to its own target and no further: a later one may free less.")
    files = [(s, _outputs(s), s.name) for s in i.by_file]
    tools = [(s, s.name, _outputs(s)) for s in i.by_tool]
    pins, largest = ([(s, s.name, s.unit) for s in shares] for shares in (i.pins, i.largest))
    for heading, told in (
        ("Pinned messages:", pins),
        ("By Tool:", tools),
        ("By File:", files),
        ("Largest messages:", largest),
    ):
        if told:
            lines += ["", heading, *_table(told)]
    return "\n".join(lines)


def _table(told: Sequence[tuple[Share, str, str]]) -> Iterator[str]:
    """Shares with two columns behind their tokens, the second one cut to the terminal: a path at its beginning."""
    wide = max(len(first) for _, first, _ in told)
    left = columns() - 13 - wide
    for share, first, second in told:
        short = clipped_before(second, left) if second == share.name else clipped(second, left)
        yield f"  {share.tokens:>8,}  {first:<{wide}} {short}"


def _outputs(share: Share) -> str:
    return counted(share.count, "output")


def draw_history(folds: list[PastFold], depth: int | None, policy: Policy, *, facts: bool = False) -> str:
    """The folds in the layout of the OpenClaw requirements."""
    warn_at = policy.automatic.warn_at
    standing = [fold for fold in folds if not fold.undone]
    lines = [title("Compaction History")]
    for fold in folds[:depth]:
        lines += [*_drawn(fold, policy), *(_facts(fold.receipt) if facts else ()), ""]
    newest = standing[0].receipt if standing else Receipt(0, 0)
    risk = risk_of(len(standing), newest.facts_kept, newest.facts_lost, warn_at)
    advice = f"recommend fresh start at {warn_at}" if len(standing) < warn_at else f"hard limit {warn_at + HARD_AFTER}"
    level = f"{risk.level} ({advice})" if warn_at else risk.level
    lines += [row("Total Compactions", str(len(standing))), row("Risk Level", level)]
    return "\n".join(lines)


def _layer(name: str, policy: Policy) -> str:
    """A layer as the OpenClaw requirements write it: by its place in the policy, and its name."""
    places = (f"Layer {n} ({name})" for n, layer in enumerate(policy.layers, 1) if layer.name == name)
    return next(places, f"Layer {name}" if name else "layer unknown")


def _drawn(fold: PastFold, policy: Policy) -> list[str]:
    r = fold.receipt
    by = {"manual": "MANUAL", "threshold": "AUTO", "overflow": "OVERFLOW", "handoff": "HANDOFF"}.get(
        fold.trigger, "AGENT"
    )
    after = f"{r.tokens_after:,}" if r.tokens_after else "?"
    layer = _layer(fold.layer, policy) if fold.ours else "by the agent itself"
    undone = " (no longer stands)" if fold.undone else ""
    lines = [
        f"[{age(fold.timestamp) or 'unknown time'}] {by} - {layer}{undone}",
        f"  {r.tokens_before:,} → {after} tokens",
    ]
    if r.messages_folded:
        lines.append(f"  Compacted: {counted(r.messages_folded, 'message')}{shortened(r)}")
    if r.facts_kept + r.facts_lost:
        repaired = f" ({r.facts_repaired} repaired)" if r.facts_repaired else ""
        lines.append(f"  Facts:     {r.facts_kept} in view{repaired}, {r.facts_lost} only by recall")
    if r.threshold:
        lines.append(f"  Trigger:   {r.threshold}")
    if r.instruction:
        lines.append(f'  Focus:     "{r.instruction}"')
    if r.models:
        lines += [f"  Model:     {spent(r)}", f"  Waited:    {r.waited:.1f} s"]
    lines += [f"  Failed:    {why}; extraction took its place" for why in r.failures]
    lines += [f"  Remark:    {remark}" for remark in r.remarks]
    return lines


def _facts(r: Receipt) -> list[str]:
    """The facts that a receipt names, each with the id of the message that it came from."""
    named = [*(("repaired", name) for name in r.repaired), *(("recall", name) for name in r.lost)]
    return [f"    {r.found_in.get(name, ''):<10} {what:<9} {name}" for what, name in named]
