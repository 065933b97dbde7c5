"""`foldline install` and `foldline uninstall`: foldline put into the agents on this machine, and taken out again."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from foldline._cli.commands import NOTHING_TO_DO
from foldline._cli.options import Answer, answering, may_ask
from foldline._cli.printing import say
from foldline._errors import ConfigError
from foldline._offered import unknown

if TYPE_CHECKING:
    from foldline._install.agents import Agent
    from foldline._install.installing import Change


def _choosing(command: Callable[..., None]) -> Callable[..., None]:
    """The options by which both commands choose agents and a place, and are agreed to."""
    for option in (
        click.option("--yes", is_flag=True, help="Do not ask before writing; needed where there is no terminal."),
        click.option("--project", is_flag=True, help="In this directory's own settings, instead of yours."),
        click.option("--all", "every", is_flag=True, help="All agents that there are."),
        click.argument("agents", nargs=-1, metavar="AGENT..."),
    ):
        command = option(command)
    return command


@click.command()
@_choosing
@answering
def install(agents: Sequence[str], every: bool, project: bool, yes: bool) -> Answer:
    """Have foldline fold in each AGENT by itself, where the agent allows it.

    What is written, and where, is shown first; `foldline uninstall` takes all of it back, to the byte. Done again it
    changes nothing, and after an update of foldline it brings the files up to date.
    """
    from foldline._install.agents import AGENTS
    from foldline._install.checkup import is_there
    from foldline._install.installing import to_install

    place = os.getcwd() if project else ""
    there = [name for name, agent in AGENTS.items() if is_there(agent) and (agent.has_projects or not project)]
    chosen = _chosen(agents, every, there)
    for agent in chosen:
        if project and not agent.has_projects:
            raise click.UsageError(f"{agent.title} has no place in a project: leave --project out")
    changes = [change for agent in chosen for change in to_install(agent, place)]
    return _carried_out(
        changes, place, yes, "Installed. Take it back with: foldline uninstall " + _words(chosen, project)
    )


@click.command()
@_choosing
@answering
def uninstall(agents: Sequence[str], every: bool, project: bool, yes: bool) -> Answer:
    """Take foldline out of each AGENT again: all that `install` wrote, and nothing else."""
    from foldline._install import manifest
    from foldline._install.agents import AGENTS
    from foldline._install.installing import to_uninstall

    place = os.getcwd() if project else ""
    noted = {each.agent for each in manifest.read().written if each.project == place}
    chosen = _chosen(agents, every, [name for name in AGENTS if name in noted])
    changes = [change for agent in chosen for change in to_uninstall(agent, place)]
    return _carried_out(changes, place, yes, "Taken back.")


def _chosen(agents: Sequence[str], every: bool, there: Sequence[str]) -> list[Agent]:
    from foldline._install.agents import AGENTS

    if bool(agents) == every:
        raise click.UsageError(f"name the agents, or --all; on this machine: {', '.join(there) or 'none'}")
    for name in agents:
        if name not in AGENTS:
            raise click.UsageError(unknown("agent", name, list(AGENTS)))
    return [AGENTS[name] for name in (there if every else dict.fromkeys(agents))]


def _words(chosen: Sequence[Agent], project: bool) -> str:
    return " ".join([*(agent.name for agent in chosen), *(["--project"] if project else [])])


def _carried_out(changes: list[Change], project: str, yes: bool, done: str) -> Answer:
    """Shows the changes, asks, carries them out, and looks whether they are as they were meant."""
    from foldline._install.installing import carry_out
    from foldline._install.writing import read_file

    shown = [f"{change.agent:<12} {change.path}: {change.what}" for change in changes]
    left = [change for change in changes if change.kept or change.before != change.after]
    if not any(not change.kept for change in left):
        return Answer(_told(changes, written=False), "\n".join([*shown, "Nothing to do."]), code=NOTHING_TO_DO)
    if not yes:
        if not may_ask():
            why = "nothing was written: there is no terminal to ask on; add --yes, and it will be:"
            raise click.UsageError("\n".join([why, *shown]))
        say("\n".join(shown))
        click.confirm("Write this?", abort=True)
    carry_out(changes, project)
    for change in changes:
        if not change.kept and read_file(change.path) != change.after:
            raise ConfigError("it is not as it was written: another program changed it", path=change.path)
    return Answer(_told(changes, written=True), "\n".join([*(shown if yes else []), done]))


def _told(changes: Sequence[Change], *, written: bool) -> dict[str, Any]:
    return {
        "written": written,
        "changes": [{"agent": each.agent, "path": each.path, "what": each.what} for each in changes],
    }
