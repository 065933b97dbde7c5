"""Sessions of opencode: in its database, its older folder of files, and the document that it exports."""

from __future__ import annotations

import os
import re

from foldline._sessions.format import SessionFormat, StoreFolder, folder, later
from foldline._sessions.source import SQLITE, Source

_tables = later("database", "tables")

_SIGN = re.compile(rb'[{,]\s*"(?:sessionID|providerID|projectID|modelID)"\s*:')
_START = re.compile(rb'\s*\{\s*"(?:info|messages|id)"\s*:')


def storage(path: str) -> str:
    """The folder below a folder that the sessions stand in, where they stand in one."""
    below = os.path.join(path, "storage")
    return below if os.path.isdir(below) else path


def _recognizes(head: bytes, path: str) -> bool:
    if not head and os.path.isdir(path):
        return os.path.isdir(os.path.join(storage(path), "message"))
    if head.startswith(SQLITE):
        return bool(_tables(path) >= {"session", "message", "part"})
    return bool(_START.match(head)) and bool(_SIGN.search(head))


FORMAT = SessionFormat(
    "opencode",
    _recognizes,
    read_all=later("opencode.reading", "read_all"),
    stores=lambda environment: (
        StoreFolder(folder(environment, "XDG_DATA_HOME", ".local/share") / "opencode", "opencode.db"),
    ),
    overhead=7_000,
    # a session's own document names messages that stand in other folders
    elsewhere=lambda path: not os.path.isdir(path) and not Source(path).is_database(),
    program=("opencode", "opencode-ai"),
)
