"""What commands have in common: the session that they are about, the answer that is printed, and who agreed to it."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from foldline._cli.printing import Exact, Tinted, hand_on, say, say_json, say_tinted, warn
from foldline._cli.wrapping import unbroken
from foldline._errors import FoldlineError, SessionError
from foldline._offered import meant
from foldline._visible import mended

if TYPE_CHECKING:
    from foldline._handoff.new_session import NewSession
    from foldline._sessions.file import SessionFile


class CommandAnswer(NamedTuple):
    """What a command answers: `told` as JSON, else `text`; `remark` goes to standard error in any case.

    Nothing is told by a command that has printed its document itself. What was `done` goes to standard error where the
    output cannot be written.
    """

    told: Mapping[str, object] | None
    text: str | Iterable[str | Tinted] = ""
    remark: str = ""
    code: int = 0
    done: str = ""


def about(session: SessionFile, **told: object) -> dict[str, object]:
    """What is told of a session in JSON, behind its id and its path."""
    return {"session": session.id, "path": session.path, **told}


def about_new(written: NewSession) -> dict[str, object]:
    """What is told in JSON of a session that was written; it has an id where its format has one."""
    told = {name: getattr(written, name) for name in ("path", "format", "messages", "left_out")}
    return {"session": written.id or None, **told}


def draw_written(what: str, written: NewSession) -> str:
    """Where a new session is, what could not be carried into it, and how its agent goes on with it."""
    from foldline._handoff.agents import AGENTS

    lines = [f"{what}: {written.format} session {written.id}".rstrip(), written.path]
    if written.left_out:
        lines.append("Left out: " + ", ".join(f"{n} {kind}" for kind, n in written.left_out.items()))
    if agent := AGENTS.get(written.format):
        lines.append("Go on: " + unbroken(agent.resume.format(id=written.id, path=shlex.quote(written.path))))
    return "\n".join(lines)


def answering(command: Callable[..., CommandAnswer]) -> Callable[..., None]:
    """Prints what a command answers, as JSON where `--json` asks for it, and ends with the answer's exit code."""

    @click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
    @wraps(command)
    def answered(as_json: bool, **given: object) -> None:
        answer = command(**given)
        try:
            _print(answer, as_json=as_json)
        except BrokenPipeError:
            raise
        except OSError:
            warn(answer.done)
            raise
        warn(answer.remark)
        if answer.code:
            click.get_current_context().exit(answer.code)

    return answered


def _print(answer: CommandAnswer, *, as_json: bool) -> None:
    if as_json and answer.told is not None:
        say_json(answer.told)
    elif isinstance(answer.text, Exact):
        hand_on(answer.text)
    elif not isinstance(answer.text, str):
        say_tinted(answer.text)
    elif answer.text:
        say(answer.text)


def on_session(command: Callable[..., CommandAnswer]) -> Callable[..., CommandAnswer]:
    """Hands a command the session that `--session`, `--strict` and `--window` name, on the desk, to be written to by `--force`.

    On standard error it says which one it is where none was named, or a file of several, and what is damaged in it.
    """

    @session_option
    @click.option("--strict", is_flag=True, help="Refuse a damaged file instead of reading around the damage.")
    @click.option(
        "--window", type=click.IntRange(1), metavar="TOKENS", help="The context window, instead of the model's own."
    )
    @wraps(command)
    def opened(
        session: str | None, strict: bool, window: int | None, force: bool = False, **given: object
    ) -> CommandAnswer:
        from foldline._desk.desk import Desk

        desk = Desk.open(session, strict=strict, window=window, force=force)
        warn(desk.chosen and f"session: {desk.chosen}")
        for fault in desk.session.faults:
            warn(f"warning: {desk.session.path}: {fault}")
        return command(desk, **given)

    return opened


class Choice(click.Choice[str]):
    """One of some words, with a question after the nearest where another one is given."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            self.fail(error.message.rstrip(".") + meant(str(value), self.choices), param, ctx)


def _not_empty(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Refuses an empty name, which a script's unset variable gives: it must not mean the newest session."""
    if value == "":
        raise click.BadParameter("it is empty; leave it out for this directory's newest session")
    return value


def _ids(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """The ids of sessions that begin so, for a shell; none where the stores cannot be read."""
    from foldline._sessions.finding import found_sessions

    with suppress(FoldlineError, OSError):
        return list(dict.fromkeys(each.id for each in found_sessions() if each.id.startswith(begun)))
    return []


def words(name: str, metavar: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """An argument of one word or more, with quotation marks around them or without."""
    return click.argument(name, metavar=metavar, nargs=-1, required=True, callback=_joined)


def _joined(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> str:
    """The words as one text; refuses the file of a session among them, which an option names."""
    from foldline._sessions.opening import recognize

    if session := next((each for each in given if os.path.isfile(each) and recognize(each)), None):
        raise click.BadParameter(f"{session} is a session, which is named by --session")
    return mended(" ".join(given))


def said(_: click.Context, __: click.Parameter, given: str | None) -> str | None:
    """The words of an option as a session can hold them."""
    return given and mended(given)


session_option = click.option(
    "--session",
    metavar="PATH-OR-ID",
    callback=_not_empty,
    shell_complete=_ids,
    help="The session; without it, this directory's newest one.",
)

force_option = click.option(
    "--force", is_flag=True, help="Write although the session's agent has it open, which may leave it behind."
)


def undoing(session: SessionFile) -> str:
    """The command that takes back what was just written."""
    return unbroken(f"foldline session undo --session {shlex.quote(session.path)}")


def check_place(format: str, path: str | None, option: str) -> None:
    """Refuses at once where a new session could not be written, before a model is asked or a draft is edited for it."""
    from foldline._handoff.agents import AGENTS

    if format not in AGENTS and (path is None or os.path.isdir(path)):
        raise click.UsageError(f"--to {format} writes one file: name it with {option}")
    if path is not None and os.path.lexists(path) and not os.path.isdir(path):
        raise SessionError("there is a file already; nothing was written", path=path)


def may_ask() -> bool:
    """Whether there is a person who can answer: a terminal to read from, and no program that waits for JSON."""
    return sys.stdin.isatty() and not click.get_current_context().params.get("as_json")
