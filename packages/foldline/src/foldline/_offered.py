"""What installed packages offer: objects that their entry points name."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


def offered(group: str, kind: type[T]) -> list[T]:
    """The objects of a kind that packages offer in a group; what cannot be loaded, or is none, is warned of and left out."""
    if not _is_named(group):
        return []
    from importlib.metadata import entry_points

    found: list[T] = []
    for point in entry_points(group=group):
        try:
            each = point.load()
            problem = "" if isinstance(each, kind) else f"it is a {type(each).__name__}, not a {kind.__name__}"
        except Exception as error:  # noqa: BLE001  what a package raises as it is imported is not ours to know
            problem = f"{type(error).__name__}: {error}"
        if problem:
            warnings.warn(
                f"{point.name} ({point.value}, of {group}) is left out: {problem}", RuntimeWarning, stacklevel=2
            )
        else:
            found.append(each)
    return found


def _is_named(group: str) -> bool:
    """Whether anything installed names the group at all; to ask `importlib.metadata` takes ten times as long."""
    sign = f"[{group}]".encode()
    for place in sys.path:
        try:
            with os.scandir(place or ".") as entries:
                for entry in entries:
                    if entry.name.endswith((".dist-info", ".egg-info")):
                        with suppress(OSError), open(f"{entry.path}/entry_points.txt", "rb") as file:
                            if sign in file.read():
                                return True
        except NotADirectoryError:
            return True  # an archive, which is not looked into here
        except OSError:
            continue
    return False
