"""The command line: every command a few lines over the desk, loaded when it is run."""

from __future__ import annotations

import sys

EXTRAS = {
    "click": "cli",
    "tomlkit": "cli",
    "rich": "browse",
    "textual": "browse",
    "foldline_lab": "lab",
    "foldline_agent": "agent",
}
"""The packages that commands need, and the extra that each comes with."""


def main() -> None:
    """Runs the command line; where a package is not installed, one line says how it is."""
    try:
        match sys.argv[1:]:
            case ["hook", agent] if sys.stdin and sys.stdout and not agent.startswith("-"):
                from foldline._cli import answering

                answering.main(agent)
            case _:
                from foldline._cli.commands import run

                run()
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        sys.exit(f"foldline: it needs one more package, {package}: pip install 'foldline[{EXTRAS[package]}]'")
