"""The command line: every command a few lines over the library, loaded when it is run."""

from __future__ import annotations

import importlib
import os
import sys

import click

from foldline import __version__
from foldline.errors import FoldlineError

COMMANDS = {
    "compact": ("foldline.cli.compact:compact", "Fold a session: shrink its context and lose nothing."),
    "context": ("foldline.cli.context:context", "See what fills a session: status, inspect, history."),
    "session": ("foldline.cli.session:session", "List, show and undo: the sessions on this machine."),
    "recall": ("foldline.cli.recall:recall", "Get a message back that was folded away, by its id."),
    "models": ("foldline.cli.models:models", "What foldline knows of a model: window, prices, cache rules."),
    "autocompact": ("foldline.cli.autocompact:autocompact", "Show or set whether agents fold by themselves."),
}
"""Each command's place and its line in the help, so that the help loads none of them."""

FAILED, NOTHING_TO_DO = 1, 3

EXIT_CODES = "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 nothing to do."


class Commands(click.Group):
    """A group whose commands are imported when they are run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}, epilog=EXIT_CODES)
@click.version_option(__version__, prog_name="foldline")
def foldline() -> None:
    """Keep an agent's session inside its context window, and lose nothing on the way."""


def main() -> None:
    """Runs the command line; a foldline error is one line on standard error and exit code 1."""
    try:
        sys.exit(foldline.main(standalone_mode=False) or 0)
    except click.exceptions.Abort:
        click.echo("aborted; nothing was changed", err=True)
        sys.exit(FAILED)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except FoldlineError as error:
        click.echo(f"foldline: {error}", err=True)
        sys.exit(FAILED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(FAILED)
