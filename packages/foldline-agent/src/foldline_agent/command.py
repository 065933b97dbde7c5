"""`foldline chat`: the agent, and the face that draws it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from foldline import FoldlineError, Session, find_session

if TYPE_CHECKING:
    from foldline_agent.agent import Agent

FACES = ("print", "json", "rpc", "acp")


@click.command()
@click.argument("message", required=False)
@click.option("-p", "--print", is_flag=True, help="Answer MESSAGE as text and end.")
@click.option("--json", is_flag=True, help="Answer MESSAGE, with every event as a line of JSON.")
@click.option("--rpc", is_flag=True, help="Take commands as lines of JSON, as pi does.")
@click.option("--acp", is_flag=True, help="Serve an editor that speaks the Agent Client Protocol.")
@click.option("--model", metavar="PROVIDER:NAME", help="The model; `test` plays a script, offline.")
@click.option("--base-url", metavar="URL", help="Where the model is served, by OpenAI's chat completions.")
@click.option(
    "--window", type=click.IntRange(1), metavar="TOKENS", help="The context window, instead of the model's own."
)
@click.option("--policy", metavar="NAME-OR-FILE", help="When and how it folds; without it, as the settings say.")
@click.option("--session", metavar="PATH-OR-ID", help="The session; a file that is not there is made.")
@click.option("-c", "--continue", "again", is_flag=True, help="Go on with the newest session of this directory.")
@click.option(
    "--script", type=click.Path(path_type=Path), help="What the model `test` does: a step as JSON on each line."
)
@click.option("--yes", is_flag=True, help="Let it write files and run commands without being asked.")
def chat(message: str | None, **given: Any) -> None:
    """Work with a small coding agent that folds its own session; MESSAGE is what it begins with.

    Without -p, --json, --rpc or --acp it is on the screen. Its session is a file in pi's format, where pi keeps those of this directory: every command of foldline opens it, and so
    does pi. Without --yes, what would write files or run commands is not done where nobody can be asked.
    """
    faces = [face for face in FACES if given.pop(face)]
    if len(faces) > 1:
        raise click.UsageError("-p, --json, --rpc and --acp are four ways to talk: one can be taken")
    face = faces[0] if faces else None
    if face is None and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError("there is no terminal to draw on: -p, --json, --rpc or --acp say how to talk")
    if face in ("print", "json"):
        message = message or ("" if sys.stdin.isatty() else _piped())
        if not message.strip():
            raise click.UsageError("there is no message to answer")
    if face and not (given["model"] or given["script"]):
        click.echo("the model plays a script; --model PROVIDER:NAME takes a real one", err=True)
    try:
        code = asyncio.run(_drawn(face or "screen", message or "", **given))
    except FoldlineError as error:
        if face not in ("json", "rpc"):
            raise
        click.echo(json.dumps({"type": "error", "error": str(error)}))
        code = 1
    click.get_current_context().exit(code)


def _piped() -> str:
    """What stands on standard input, with a mark for what is no text of its encoding."""
    return sys.stdin.buffer.read().decode(sys.stdin.encoding, "replace")


async def _drawn(
    face: str,
    message: str,
    *,
    model: str | None,
    base_url: str | None,
    window: int | None,
    policy: str | None,
    session: str | None,
    again: bool,
    script: Path | None,
    yes: bool,
) -> int:
    """Draws a face to its end and answers the exit code; what only some of them need is loaded here."""
    from foldline_agent.agent import Agent
    from foldline_agent.asking import LanguageModel

    def agent_over(session: Session) -> Agent:
        named = LanguageModel.named(model or "test", base_url=base_url, window=window, script_file=script)
        return Agent(session, named, policy=policy, allowed=yes)

    if face == "acp":
        from foldline_agent.editor import serve

        await serve(agent_over)
        return 0
    with _begun(_session(session, again=again), agent_over) as agent:
        match face:
            case "rpc":
                from foldline_agent.reading import read_lines
                from foldline_agent.rpc import Remote

                await Remote(agent).serve(read_lines())
            case "screen":
                from foldline_agent.terminal.app import Chat

                await Chat(agent, message).run_async()
            case _:
                from foldline_agent.printing import print_lines, print_text

                return await (print_lines if face == "json" else print_text)(agent, message)
        if face == "screen" and agent.session.lineage():
            click.echo(f"Go on: foldline chat --session {agent.session.id}")
    return 0


@contextmanager
def _begun(session: Session, agent_for: Callable[[Session], Agent]) -> Iterator[Agent]:
    """An agent over a session, which is not kept where nothing was said in it."""
    from foldline_agent.agent import forget_if_empty

    try:
        agent = agent_for(session)
        try:
            yield agent
        finally:
            session = agent.session
    finally:
        forget_if_empty(session)


def _session(named: str | None, *, again: bool) -> Session:
    """The session of that path or id or the newest one of this directory, else a new one, where pi keeps those of it."""
    cwd = str(Path.cwd())
    if again or (named and os.sep not in named and not named.endswith(".jsonl")):
        return Session(find_session(named, cwd=cwd, agent="pi"))
    place = Path(named).absolute() if named else None
    return Session(place) if place and place.exists() else Session.create(place, cwd=cwd)
