"""`foldline install` and `foldline uninstall`: foldline put into the agents on this machine, and taken out again."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

import click

from foldline._cli.commands import FAILED, NOTHING_TO_DO
from foldline._cli.options import CommandAnswer, answering, may_ask
from foldline._cli.printing import say
from foldline._cli.wrapping import UNBROKEN, unbroken
from foldline._errors import ConfigError, FoldlineError
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
def install(agents: Sequence[str], every: bool, project: bool, yes: bool) -> CommandAnswer:
    """Have foldline fold in each AGENT by itself, where the agent allows it.

    There are pi, claude-code, opencode, openclaw, codex, gemini-cli, qwen-code. What is written, and where, is shown
    first; `foldline uninstall` takes all of it back, to the byte. Done again it changes nothing, and after an update of
    foldline it brings the files up to date.
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
    done = "Installed; it works once the agent is started again.\nTake it back with: "
    return _carried_out(chosen, to_install, place, yes, done + unbroken("foldline uninstall {agents}"))


@click.command()
@_choosing
@answering
def uninstall(agents: Sequence[str], every: bool, project: bool, yes: bool) -> CommandAnswer:
    """Take foldline out of each AGENT again: all that `install` wrote, and nothing else.

    There are pi, claude-code, opencode, openclaw, codex, gemini-cli, qwen-code.
    """
    from foldline._install import manifest
    from foldline._install.agents import AGENTS
    from foldline._install.installing import to_uninstall

    place = os.getcwd() if project else ""
    noted = {each.agent for each in manifest.read().written if each.project == place}
    chosen = _chosen(agents, every, [name for name in AGENTS if name in noted])
    return _carried_out(chosen, to_uninstall, place, yes, "Taken back.")


def _chosen(agents: Sequence[str], every: bool, there: Sequence[str]) -> list[Agent]:
    from foldline._install.agents import AGENTS

    if bool(agents) == every:
        raise click.UsageError(f"name the agents, or --all; on this machine: {', '.join(there) or 'none'}")
    for name in agents:
        if name not in AGENTS:
            raise click.UsageError(unknown("agent", name, list(AGENTS)))
    return [AGENTS[name] for name in (there if every else dict.fromkeys(agents))]


def _carried_out(
    chosen: Sequence[Agent], planned: Callable[[Agent, str], list[Change]], project: str, yes: bool, done: str
) -> CommandAnswer:
    """Shows the changes, asks, and carries them out; what fails for one agent stops no other.

    `done` is what is said then; `{agents}` in it stands for those that it was done for.
    """
    from foldline._install import manifest

    manifest.read()  # where it cannot be read, that is told once
    plans, failed = _of_each(chosen, lambda agent: planned(agent, project))
    changes = [change for plan in plans.values() for change in plan]
    shown = _listed(changes)
    if not any(change.does_something for change in changes):
        text = "\n".join([*shown, "Nothing to do."])
        return _answer(chosen, changes, failed, text, written=False)
    if not yes:
        shown += _drawn(failed)
        if not may_ask():
            why = "nothing was written: there is no terminal to ask on; add --yes, and it will be:"
            raise click.UsageError("\n".join([why, *shown]))
        say("\n".join(shown))
        click.confirm("Go on?", abort=True)
    able = [agent for agent in chosen if agent.name in plans]
    written, unwritten = _of_each(able, lambda agent: _write(plans[agent.name], project))
    agents = UNBROKEN.join([*written, *(["--project"] if project else [])])
    text = "\n".join([*(shown if yes else []), *([done.format(agents=agents)] if written else [])])
    return _answer(chosen, changes, failed | unwritten, text, written=bool(written))


def _of_each(
    agents: Sequence[Agent], do: Callable[[Agent], list[Change]]
) -> tuple[dict[str, list[Change]], dict[str, FoldlineError]]:
    """What was done for each agent, and why it could not be for the others, by their names."""
    done: dict[str, list[Change]] = {}
    failed: dict[str, FoldlineError] = {}
    for agent in agents:
        try:
            done[agent.name] = do(agent)
        except FoldlineError as error:
            failed[agent.name] = error
    return done, failed


def _write(changes: list[Change], project: str) -> list[Change]:
    """Carries changes out, and looks whether they are as they were meant."""
    from foldline._install.installing import carry_out
    from foldline._install.writing import read_file

    carry_out(changes, project)
    for change in changes:
        if not change.kept and read_file(change.path) != change.after:
            raise ConfigError("it is not as it was written: another program changed it", path=change.path)
    return changes


def _answer(
    chosen: Sequence[Agent], changes: Sequence[Change], failed: dict[str, FoldlineError], text: str, *, written: bool
) -> CommandAnswer:
    """What was done; where it failed for the only agent that was chosen, its error."""
    if failed and len(chosen) == 1:
        raise failed[chosen[0].name]
    told = {
        "written": written,
        "changes": [{"agent": each.agent, "path": each.path, "what": each.what} for each in changes],
        "failed": [
            {"agent": agent, "error": {"kind": type(error).__name__, "message": str(error)}}
            for agent, error in failed.items()
        ],
    }
    code = FAILED if failed else 0 if written else NOTHING_TO_DO
    return CommandAnswer(told, text, remark="\n".join(_drawn(failed)), code=code)


def _listed(changes: Sequence[Change]) -> list[str]:
    """Each agent, and below it what becomes of its files: paths as a shell takes them, short enough for a line."""
    home = os.path.join(os.path.expanduser("~"), "")
    lines: list[str] = []
    for agent, of_it in groupby(changes, key=attrgetter("agent")):
        lines.append(agent)
        for change in of_it:
            path = change.path
            lines.append(f"  {'~/' + path.removeprefix(home) if path.startswith(home) else path}: {change.what}")
    return lines


def _drawn(failed: dict[str, FoldlineError]) -> list[str]:
    return [line for agent, error in failed.items() for line in (agent, f"  ✗ {error}")]
