"""Where foldline keeps what may be deleted at any time."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def cache_file(name: str, environment: Mapping[str, str] = os.environ) -> str:
    """The path of a file in the user's cache; its folder may have to be made."""
    home = environment.get("HOME") or Path.home()
    cache = environment.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    return os.path.join(cache, "foldline", name)
