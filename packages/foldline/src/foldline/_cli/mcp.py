"""`foldline mcp`: recall, status and folding for agents that speak MCP."""

from __future__ import annotations

import sys
from contextlib import suppress

import click


@click.command()
@click.option(
    "--anywhere", is_flag=True, help="Read sessions outside of the agents' stores and of this directory, too."
)
def mcp(anywhere: bool) -> None:
    """Serve MCP over standard input and output: the tools recall, context_status and compact.

    An agent's settings name the command `foldline mcp`. The session meant is the one that asks: Claude Code says which it
    is, of others it is the client's newest in its directory. Only sessions in the agents' stores and in this directory are
    read.
    """
    from foldline._mcp.project import Project
    from foldline._mcp.server import serve

    with suppress(KeyboardInterrupt):
        serve(sys.stdin.buffer, sys.stdout.buffer, Project(anywhere=anywhere))
