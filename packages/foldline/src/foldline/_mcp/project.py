"""Which sessions a client of the server may ask for, and which one it means when it names none.

What finds sessions is imported when one is looked for, so that the server starts at once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from foldline._errors import SessionError


class Project:
    """The directory that the server runs for, and the client that it serves: `client` is what MCP says of its name.

    Sessions are read in the agents' stores and in that directory; anywhere where that was allowed.
    """

    def __init__(self, *, anywhere: bool = False) -> None:
        self.client = ""
        self._anywhere = anywhere

    def session(self, named: str = "") -> str:
        """The path of the session of that path or id, or else of the one that asks; raises `SessionError`."""
        from foldline._sessions.asking import session_that_asks
        from foldline._sessions.finding import find_session
        from foldline._sessions.source import parted

        if not named:
            return session_that_asks(self._directories(), client=self.client)
        if "\0" in named:
            raise SessionError("no path has a NUL in it", path=named)
        path = find_session(named, cwd=os.getcwd())
        real = os.path.realpath(parted(path)[0])
        if not self._anywhere and not any(_inside(real, folder) for folder in self._folders()):
            what = "neither in an agent's store nor in this directory, and only those are read without --anywhere"
            raise SessionError(what, path=named)
        return path

    def _directories(self) -> list[str]:
        """The directory that the client names, this one, and the client's own: some start their servers elsewhere."""
        from foldline._sessions.processes import directory_above

        told = [os.environ.get("CLAUDE_PROJECT_DIR", ""), os.getcwd(), directory_above()]
        return list(dict.fromkeys(place for place in told if place))

    def _folders(self) -> Iterator[str]:
        """The folders in which sessions are read; a directory that holds the home holds more than a project."""
        from foldline._sessions.registry import stores

        yield from (str(folder) for _, folder, _ in stores(os.environ))
        home = os.path.expanduser("~")
        for place in (os.environ.get("CLAUDE_PROJECT_DIR", ""), os.getcwd()):
            if place and not _inside(os.path.realpath(home), place):
                yield place


def _inside(path: str, folder: str) -> bool:
    folder = os.path.realpath(folder)
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
