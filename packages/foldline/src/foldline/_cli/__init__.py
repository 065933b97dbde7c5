"""The command line: every command a few lines over the library, loaded when it is run."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from typing import Any

import click

from foldline import __version__
from foldline._errors import FoldlineError

COMMANDS = {
    "compact": ("foldline._cli.compact:compact", "Fold a session: shrink its context and lose nothing."),
    "context": (
        "foldline._cli.context:context",
        "See what fills a session: status, inspect, history; export and import its state.",
    ),
    "session": ("foldline._cli.session:session", "The sessions on this machine: list, show, branch, handoff, undo."),
    "browse": ("foldline._cli.browse:browse", "All of that in a terminal, by key: see, fold, undo, branch, recall."),
    "recall": ("foldline._cli.recall:recall", "Get back what was folded away: a message by its id, or by words."),
    "mcp": ("foldline._cli.mcp:mcp", "Serve recall, status and folding to agents that speak MCP."),
    "policy": ("foldline._cli.policy:policy", "The policies there are: list, show; check a file of your own."),
    "models": ("foldline._cli.models:models", "What foldline knows of a model: window, prices, cache rules."),
    "autocompact": ("foldline._cli.autocompact:autocompact", "Show or set whether agents fold by themselves."),
}
"""Each command's place and its line in the help, so that the help loads none of them."""

FAILED, NOTHING_TO_DO, INTERRUPTED = 1, 3, 130

EXIT_CODES = "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 nothing to do, 130 interrupted."


class LazyGroup(click.Group):
    """A group whose commands in `places` are imported when they are run; their help lines stand beside their places."""

    def __init__(self, *arguments: Any, places: Mapping[str, tuple[str, str]], **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *self.places]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.places:
            return super().get_command(ctx, name)
        module, _, attribute = self.places[name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        own = [(name, command.get_short_help_str(90)) for name, command in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl([*own, *((name, line) for name, (_, line) in self.places.items())])


@click.group(
    cls=LazyGroup, places=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]}, epilog=EXIT_CODES
)
@click.version_option(__version__, prog_name="foldline")
def foldline() -> None:
    """Keep an agent's session inside its context window, and lose nothing on the way."""


def main() -> None:
    """Runs the command line; a foldline error is one line on standard error and exit code 1."""
    try:
        sys.exit(foldline.main(standalone_mode=False) or 0)
    except click.exceptions.Abort as abort:
        click.echo("aborted; nothing was changed", err=True)
        sys.exit(INTERRUPTED if isinstance(abort.__context__, KeyboardInterrupt) else FAILED)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except FoldlineError as error:
        from foldline._cli.drawing import visible

        click.echo(visible(f"foldline: {error}"), err=True)
        sys.exit(FAILED)
    except OSError as error:  # what goes wrong with sessions and settings is a FoldlineError: this is the output
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python tries again as it ends
        if not isinstance(error, BrokenPipeError):
            place = f"{error.filename}: " if error.filename else ""
            click.echo(f"foldline: {place}{error.strerror or error}", err=True)
        sys.exit(FAILED)
