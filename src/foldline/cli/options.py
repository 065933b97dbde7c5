"""Options that commands share, and how they print."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click
import msgspec

from foldline.config import Settings, read_settings
from foldline.inspection import Opened
from foldline.policy import PRESETS, Policy, preset
from foldline.stores.finding import find
from foldline.transcripts import open_session

F = TypeVar("F", bound=Callable[..., Any])


def session_options(command: F) -> F:
    """`--session`, `--json`, `--strict` and `--window`."""
    for option in (
        click.option("--window", type=click.IntRange(1), help="The model's context window in tokens."),
        click.option("--strict", is_flag=True, help="Refuse a damaged file instead of reading around the damage."),
        click.option("--json", "as_json", is_flag=True, help="Print JSON."),
        click.option("--session", metavar="PATH-OR-ID", help="The session; without it, this directory's newest one."),
    ):
        command = option(command)
    return command


policy_option = click.option(
    "--policy", type=click.Choice(list(PRESETS)), help="The policy; without it, the one that the settings name."
)


force_option = click.option("--force", is_flag=True, help="Write although the session's agent has it open.")


def opened(session: str | None, *, strict: bool, window: int | None = None) -> Opened:
    """The session meant, read; says on standard error which one it is where none was named, and what is damaged in it."""
    path = find(session, cwd=os.getcwd())
    if session is None:
        click.echo(f"session: {path}", err=True)
    found = open_session(path, strict=strict)
    for fault in found.faults:
        click.echo(f"warning: {path}: {fault}", err=True)
    return Opened(found, window=window)


def chosen_policy(name: str | None) -> tuple[Policy, Settings]:
    """The policy named by a flag or by the settings, and the settings."""
    settings = read_settings()
    return (preset(name) if name else settings.to_policy()), settings


def print_json(value: Any) -> None:
    """A value as indented JSON."""
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2))
