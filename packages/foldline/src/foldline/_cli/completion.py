"""`foldline completion`: what makes a shell complete foldline's commands, options and sessions."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from foldline._cli.commands import foldline
from foldline._cli.options import Choice
from foldline._cli.printing import Exact, hand_on

SETTINGS = {
    "bash": 'eval "$(foldline completion bash)" in ~/.bashrc',
    "zsh": 'eval "$(foldline completion zsh)" in ~/.zshrc',
    "fish": "foldline completion fish > ~/.config/fish/completions/foldline.fish",
}


@click.command(epilog="\b\n" + "\n".join(SETTINGS.values()))
@click.argument("shell", type=Choice(list(SETTINGS)))
def completion(shell: str) -> None:
    """Print what makes SHELL complete commands, options and the ids of sessions."""
    made = get_completion_class(shell)
    assert made is not None
    hand_on(Exact(made(foldline, {}, "foldline", "_FOLDLINE_COMPLETE").source()))
