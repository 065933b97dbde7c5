"""`foldline chat`: the agent, and the face that draws it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from foldline import FoldlineError, Session
from foldline_agent.agent import Agent
from foldline_agent.asking import LanguageModel
from foldline_agent.printing import print_line, print_lines, print_text


@click.command()
@click.argument("message", required=False)
@click.option("-p", "--print", "text", is_flag=True, help="Answer MESSAGE as text and end.")
@click.option("--json", "as_json", is_flag=True, help="Answer MESSAGE and write every event as a line of JSON.")
@click.option("--model", default="test", metavar="PROVIDER:NAME", help="The model; `test` plays a script, offline.")
@click.option("--base-url", metavar="URL", help="Where the model is served, by OpenAI's chat completions.")
@click.option(
    "--window", type=click.IntRange(1), metavar="TOKENS", help="The context window, instead of the model's own."
)
@click.option("--policy", metavar="NAME-OR-FILE", help="When and how it folds; without it, as the settings say.")
@click.option("--session", metavar="PATH", help="The session's file, which is made where there is none.")
@click.option(
    "--script", type=click.Path(path_type=Path), help="What the model `test` does: a step as JSON on each line."
)
@click.option("--yes", is_flag=True, help="Let it write files and run commands without being asked.")
@click.pass_context
def chat(
    context: click.Context,
    message: str | None,
    text: bool,
    as_json: bool,
    model: str,
    base_url: str | None,
    window: int | None,
    policy: str | None,
    session: str | None,
    script: Path | None,
    yes: bool,
) -> None:
    """Work with a small coding agent that folds its own session.

    Its session is a file in pi's format, where pi keeps those of this directory: every command of foldline opens it, and so
    does pi. Without --yes, what would write files or run commands is not done where nobody can be asked.
    """
    message = message or ("" if sys.stdin.isatty() else sys.stdin.read())
    if not (text or as_json) or not message.strip():
        raise click.UsageError("give a message, with -p for text or --json for events")
    with telling_failures(as_json):
        agent = agent_of(session, model, base_url, window, script, policy=policy, allowed=yes)
        context.exit(asyncio.run((print_lines if as_json else print_text)(agent, message)))


def agent_of(
    session: str | None,
    model: str,
    base_url: str | None,
    window: int | None,
    script: Path | None,
    **options: Any,
) -> Agent:
    """The agent that the options name, over the session that they name or a new one."""
    named = LanguageModel.named(model, base_url=base_url, window=window, script_file=script)
    place = Path(session) if session else None
    opened = Session(place) if place and place.exists() else Session.create(place, cwd=str(Path.cwd()))
    return Agent(opened, named, **options)


@contextmanager
def telling_failures(as_json: bool) -> Iterator[None]:
    """What fails before there is an agent is told as its events are."""
    try:
        yield
    except FoldlineError as error:
        if not as_json:
            raise
        print_line({"type": "error", "error": str(error)})
        sys.exit(1)
