"""`foldline doctor`: how foldline stands with the agents on this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from foldline._cli.drawing import row, title
from foldline._cli.options import CommandAnswer, answering
from foldline._cli.wrapping import unbroken
from foldline._offered import unknown
from foldline._relative_time import age

if TYPE_CHECKING:
    from foldline._install.checkup import Checkup


@click.command()
@click.argument("agents", nargs=-1, metavar="[AGENT]...")
@answering
def doctor(agents: Sequence[str]) -> CommandAnswer:
    """For each agent on this machine: what folds by itself, what is by hand, what is wrong and the command that mends it.

    Where agents are named, these alone.
    """
    from foldline._install.agents import AGENTS
    from foldline._install.checkup import check, is_there

    for name in agents:
        if name not in AGENTS:
            raise click.UsageError(unknown("agent", name, list(AGENTS)))
    chosen = [each for each in AGENTS.values() if (each.name in agents if agents else is_there(each))]
    told = [check(agent, os.getcwd()) for agent in chosen]
    wrong = sum(len(each.troubles) for each in told)
    text = "\n".join(_drawn(each) for each in told) or f"None of these agents is on this machine: {', '.join(AGENTS)}"
    return CommandAnswer({"agents": told, "troubles": wrong}, text)


def _drawn(c: Checkup) -> str:
    found = c.version if c.program else "(its program is not on the PATH)"
    lines = [title(f"{c.title} {found}".rstrip())]
    lines.append(row("Installed", ", ".join(c.installed) or "no"))
    lines.append(row("Automatic", c.automatic or "no"))
    lines.append(row("By hand", c.by_hand))
    if c.mcp:
        lines.append(row("MCP", c.mcp))
    if fold := c.newest_fold:
        lines.append(row("Newest Fold", ", ".join(filter(None, (f"by {fold.by}", fold.trigger, age(fold.timestamp))))))
    for trouble in c.troubles:
        lines.append(f"✗ {trouble.what}" + (f": {unbroken(trouble.command)}" if trouble.command else ""))
    return "\n".join(lines) + "\n"
