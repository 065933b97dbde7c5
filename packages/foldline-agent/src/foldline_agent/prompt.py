"""What the agent is told before anything else; it stays the same for a session, so that the provider's cache holds it."""

from __future__ import annotations

from pathlib import Path

PROMPT = """\
You are a coding agent in {cwd}. You work with the tools read, write, edit and bash until what the user asks for is done, and say \
at the end what you did and what is left. Read a file before you change it, keep changes small, and run what you changed. \
Earlier parts of a long conversation are folded into a summary; recall brings back any of it word for word."""

RULES = "AGENTS.md"
"""The file of a project that says how to work on it."""


def system_prompt(cwd: Path) -> str:
    """The prompt for work in a directory, with the project's own rules behind it."""
    told = PROMPT.format(cwd=cwd)
    try:
        return f"{told}\n\n# {RULES}\n\n{(cwd / RULES).read_text('utf-8').strip()}"
    except (OSError, ValueError):
        return told
