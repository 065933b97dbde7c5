"""`foldline browse`: the sessions on this machine in a terminal, and what can be done with them by key."""

from __future__ import annotations

import sys

import click

from foldline._errors import ConfigError


@click.command()
def browse() -> None:
    """See the sessions on this machine: what fills them, what was folded; fold, undo, branch and recall by key."""
    try:
        import textual  # noqa: F401
    except ImportError:
        raise ConfigError("it needs one more package: pip install 'foldline[browse]'", path="browse") from None
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError("it needs a terminal; `session list` and `session show` print the same")
    from foldline._cli.browser.app import Browser

    Browser().run()
