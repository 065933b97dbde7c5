"""`foldline mcp`: recall, status and folding for agents that speak MCP."""

from __future__ import annotations

import sys
from contextlib import suppress

import click


@click.command()
def mcp() -> None:
    """Serve MCP over standard input and output: the tools recall, context_status and compact.

    An agent's settings name the command `foldline mcp`; the session meant is the newest of the directory it runs in.
    """
    from foldline._mcp.server import serve

    with suppress(KeyboardInterrupt):
        serve(sys.stdin.buffer, sys.stdout.buffer)
