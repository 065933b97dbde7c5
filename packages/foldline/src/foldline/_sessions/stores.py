"""Where agents keep their sessions."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from foldline._sessions.registry import formats


def stores(environment: Mapping[str, str] = os.environ) -> list[tuple[str, Path, str]]:
    """Where agents keep their sessions: the agent's name, a folder, and the pattern of the files below it."""
    return [(known.name, *store) for known in formats() for store in known.stores(environment)]
