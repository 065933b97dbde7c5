"""`foldline browse`: the sessions on this machine in a terminal, and what can be done with them by key."""

from __future__ import annotations

import click

from foldline.errors import ConfigError


@click.command()
def browse() -> None:
    """See the sessions on this machine: what fills them, what was folded; fold, undo, branch and recall by key."""
    try:
        import textual  # noqa: F401
    except ImportError:
        raise ConfigError("it needs one more package: pip install 'foldline[browse]'", path="browse") from None
    from foldline.cli.browser.app import Browser

    Browser().run()
