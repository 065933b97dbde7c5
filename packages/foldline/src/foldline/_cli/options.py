"""Options that commands share, and how they print."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click
import msgspec

from foldline._config import Settings, read_settings
from foldline._desk.desk import Desk
from foldline._errors import SessionError
from foldline._policies import preset
from foldline._policy import Policy

F = TypeVar("F", bound=Callable[..., Any])


def _not_empty(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Refuses an empty name, which a script's unset variable gives: it must not mean the newest session."""
    if value == "":
        raise click.BadParameter("it is empty; leave it out for this directory's newest session")
    return value


session_option = click.option(
    "--session",
    metavar="PATH-OR-ID",
    callback=_not_empty,
    help="The session; without it, this directory's newest one.",
)


def session_options(command: F) -> F:
    """`--session`, `--json`, `--strict` and `--window`."""
    for option in (
        click.option(
            "--window", type=click.IntRange(1), metavar="TOKENS", help="The context window, instead of the model's own."
        ),
        click.option("--strict", is_flag=True, help="Refuse a damaged file instead of reading around the damage."),
        click.option("--json", "as_json", is_flag=True, help="Print JSON."),
        session_option,
    ):
        command = option(command)
    return command


policy_option = click.option(
    "--policy",
    metavar="NAME-OR-FILE",
    help="The policy: a name of `foldline policy list`, a file, or module:NAME; without it, what the settings name.",
)


force_option = click.option("--force", is_flag=True, help="Write although the session's agent has it open.")


def opened(session: str | None, *, strict: bool, window: int | None = None) -> Desk:
    """The session meant, read; says on standard error which one it is where none was named, and what is damaged in it."""
    desk = Desk.open(session, strict=strict, window=window)
    path = desk.session.path
    if session is None:
        click.echo(f"session: {path}", err=True)
    for fault in desk.session.faults:
        click.echo(f"warning: {path}: {fault}", err=True)
    return desk


def check_place(format: str, path: str | None, option: str) -> None:
    """Refuses at once where a new session could not be written, before a model is asked or a draft is edited for it."""
    if format != "pi" and (path is None or os.path.isdir(path)):
        raise click.UsageError(f"--to {format} writes one file: name it with {option}")
    if path is not None and os.path.lexists(path) and not os.path.isdir(path):
        raise SessionError("there is a file already; nothing was written", path=path)


def chosen_policy(name: str | None) -> tuple[Policy, Settings]:
    """The policy named by a flag or by the settings, as the settings refine it, and the settings."""
    settings = read_settings()
    policy = settings.to_policy() if name is None else settings.refined(preset(name, path="--policy"))
    return policy, settings


def print_json(value: Any) -> None:
    """A value as indented JSON."""
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2))
