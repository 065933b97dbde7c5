"""Sessions of opencode: in its database, its older folder of files, and the document that it exports."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from foldline._sessions.format import SessionFormat, StoreFolder, folder
from foldline._sessions.source import SQLITE, Source

if TYPE_CHECKING:
    from foldline._sessions.reading import Stored

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
        from foldline._sessions.database import tables

        return tables(head, path) >= {"session", "message", "part"}
    return bool(_START.match(head)) and bool(_SIGN.search(head))


def _read_all(path: str, *, strict: bool = False) -> Sequence[Stored]:
    from foldline._sessions.opencode.reading import read_all

    return read_all(path, strict=strict)


def _elsewhere(path: str) -> bool:
    """A session's own document names messages that stand in other folders."""
    from foldline._sessions.database import is_database

    return not os.path.isdir(path) and not is_database(Source(path))


def _stores(environment: Mapping[str, str]) -> Iterator[StoreFolder]:
    yield StoreFolder(folder(environment, "XDG_DATA_HOME", ".local/share") / "opencode", "opencode.db")


FORMAT = SessionFormat(
    "opencode", _recognizes, read_all=_read_all, stores=_stores, overhead=7_000, elsewhere=_elsewhere
)
