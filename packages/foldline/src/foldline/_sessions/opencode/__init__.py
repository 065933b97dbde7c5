"""Sessions of opencode: in its database, and the document that it exports."""

from __future__ import annotations

import re

from foldline._sessions.format import SessionFormat, StoreFolder, folder, later
from foldline._sessions.source import SQLITE

_tables = later("database", "tables")

_SIGN = re.compile(rb'[{,]\s*"(?:sessionID|providerID|projectID|modelID)"\s*:')
_START = re.compile(rb'\s*\{\s*"(?:info|messages)"\s*:')


def _recognizes(head: bytes, path: str) -> bool:
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
    program=("opencode", "opencode-ai"),
)
