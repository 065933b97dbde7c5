"""The commands by their names, and how running one ends: an exit code, and one line for what went wrong."""

from __future__ import annotations

import importlib
import io
import os
import sys
import warnings
from collections.abc import Mapping
from typing import Any

import click

from foldline import __version__
from foldline._cli.printing import prepare_streams, say_json, warn
from foldline._errors import FoldlineError
from foldline._offered import meant

COMMANDS = {
    "compact": ("foldline._cli.compact:compact", "Fold a session: shrink its context and lose nothing."),
    "context": (
        "foldline._cli.context:context",
        "See what fills a session: status, inspect, history; export and import its state.",
    ),
    "session": (
        "foldline._cli.commands:session",
        "The sessions on this machine: list, show, branch, edit, restore, handoff, undo.",
    ),
    "browse": ("foldline._cli.browse:browse", "All of that in a terminal, by key: see, fold, undo, branch, recall."),
    "pin": ("foldline._cli.by_hand:pin", "Pin a message of a session, so that no fold touches it."),
    "recall": ("foldline._cli.recall:recall", "Get back what was folded away: a message by its id, or by words."),
    "mcp": ("foldline._cli.mcp:mcp", "Serve recall, status and folding to agents that speak MCP."),
    "policy": ("foldline._cli.policy:policy", "The policies there are: list, show; check a file of your own."),
    "replay": ("foldline_lab.command:replay_command", "Recorded sessions under policies: what each costs and forgets."),
    "chat": ("foldline_agent.command:chat", "A small coding agent that keeps within its window, and shows how."),
    "models": ("foldline._cli.models:models", "What foldline knows of a model: window, prices, cache rules."),
    "autocompact": ("foldline._cli.autocompact:autocompact", "Show or set whether agents fold by themselves."),
    "install": ("foldline._cli.install:install", "Have foldline fold by itself in the agents on this machine."),
    "uninstall": ("foldline._cli.install:uninstall", "Take it out of them again, to the byte."),
    "doctor": ("foldline._cli.doctor:doctor", "What folds by itself in each agent, and what is wrong there."),
    "hook": ("foldline._cli.hook:hook", "What an agent asks that is about to compact: the fold to make, as JSON."),
    "completion": (
        "foldline._cli.completion:completion",
        "What makes bash, zsh or fish complete commands and sessions.",
    ),
}
"""Each command's place and its line in the help, so that the help loads none of them."""

SESSIONS = {
    "list": ("foldline._cli.listing:list_", "The agents' sessions on this machine, and how full each is."),
    "show": ("foldline._cli.by_hand:show", "The live context, or what was folded away, a line for each message."),
    "undo": ("foldline._cli.by_hand:undo", "Take back the newest fold."),
    "branch": ("foldline._cli.by_hand:branch", "A new session from a message of this one on."),
    "edit": ("foldline._cli.by_hand:edit", "Say a message in other words."),
    "restore": ("foldline._cli.by_hand:restore", "Go back to a message: what came behind it leaves the context."),
    "handoff": ("foldline._cli.handoff:handoff", "A new session from what a goal needs of this one."),
}
"""The same of the commands below `session`."""

GROUPS = ("context", "session", "policy")
"""Those with commands below them, which are looked for there, too, where somebody leaves the first word out."""

FAILED, NOTHING_TO_DO, INTERRUPTED = 1, 3, 130

EPILOG = """Exit codes: 0 done, 1 failed, 2 wrong usage, 3 nothing to do, 130 interrupted.

With --json a command prints one object, with all of its fields: `session` is the id of a session and `path` its path,
wherever one is told of. What went wrong is one, too: `error`, with its `kind` and its `message`."""


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

    def resolve_command(
        self, ctx: click.Context, words: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = self.list_commands(ctx)
        if words[0] not in known and not words[0].startswith("-"):
            raise click.UsageError(f"No such command '{words[0]}'{self._meant(ctx, words[0], known)}", ctx)
        return super().resolve_command(ctx, words)

    def _meant(self, ctx: click.Context, word: str, known: list[str]) -> str:
        """The command that may be meant: one of this group, or one of that name below another command."""
        groups = ((name, self.get_command(ctx, name)) for name in GROUPS if name in known)
        below = [name for name, group in groups if isinstance(group, click.Group) and word in group.list_commands(ctx)]
        return f"; did you mean {' or '.join(f'{name} {word}' for name in below)}?" if below else meant(word, known)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        own = [(name, command.get_short_help_str(90)) for name, command in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl([*own, *((name, line) for name, (_, line) in self.places.items())])


@click.group(cls=LazyGroup, places=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]}, epilog=EPILOG)
@click.version_option(__version__, prog_name="foldline")
def foldline() -> None:
    """Keep an agent's session inside its context window, and lose nothing on the way."""


@click.group(cls=LazyGroup, places=SESSIONS)
def session() -> None:
    """List, show, branch, edit, restore, hand off and undo."""


def run() -> None:
    """Runs the command line and ends with its exit code; whatever goes wrong is one line on standard error."""
    prepare_streams()
    warnings.showwarning = _warn
    try:
        code = foldline.main(prog_name="foldline", standalone_mode=False) or 0
        sys.stdout.flush()
    except click.exceptions.Abort as abort:
        interrupted = isinstance(abort.__context__, KeyboardInterrupt)
        code = _failed("Abort", "aborted; nothing was changed", code=INTERRUPTED if interrupted else FAILED)
    except click.ClickException as error:
        shown, more = io.StringIO(), _way_out(error)
        error.show(shown)
        why, all_of_it = error.format_message() + more, shown.getvalue().rstrip("\n") + more
        code = _failed(type(error).__name__, why, all_of_it, error.exit_code)
    except FoldlineError as error:
        code = _failed(type(error).__name__, str(error), f"foldline: {error}")
    except OSError as error:  # what goes wrong with sessions and settings is a FoldlineError: this is the output
        code = _unwritten(error)
    except ImportError:
        raise
    except Exception as error:  # noqa: BLE001  a fault of ours is one line, too, and says where it was
        from traceback import extract_tb

        place = extract_tb(error.__traceback__)[-1]
        why = f"{type(error).__name__}: {error} ({os.path.basename(place.filename)}:{place.lineno})"
        code = _failed("Fault", why, f"foldline: a fault of foldline itself; please report it: {why}")
    sys.exit(code)


def _way_out(error: click.ClickException) -> str:
    """How a session is named, behind what is said of a word too many to a command that is about one."""
    about = error.ctx.command.params if isinstance(error, click.UsageError) and error.ctx else ()
    told = {each.name for each in about if isinstance(each, click.Option)}
    bare = error.message.startswith("Got unexpected extra argument") and "session" in told and len(told) == len(about)
    return "; a session is named by --session PATH-OR-ID" if bare else ""


def _warn(message: Warning | str, *about: Any, **more: Any) -> None:
    warn(f"warning: {message}")


def _failed(kind: str, why: str, shown: str = "", code: int = FAILED) -> int:
    """Says what went wrong, in JSON as well where that was asked for, and answers the exit code."""
    warn(shown or why)
    if "--json" in sys.argv:
        try:
            say_json({"error": {"kind": kind, "message": why}})
        except OSError as error:
            _unwritten(error)
    return code


def _unwritten(error: OSError) -> int:
    """Says why the output could not be written, unless its reader only went away."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python tries again as it ends
    if not isinstance(error, BrokenPipeError):
        place = f"{error.filename}: " if error.filename else ""
        warn(f"foldline: {place}{error.strerror or error}")
    return FAILED
