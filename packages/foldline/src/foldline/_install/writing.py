"""Files of other agents, written whole or not at all: modes and links as they were, folders made where they are missing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from foldline._errors import ConfigError
from foldline._sessions.writing import replace_file

WAY_OUT = "correct it or move it away, and run this again"
"""What to do about a file that is not as it has to be."""


def read_file(path: str) -> bytes | None:
    """A file's bytes; None where there is none. Raises `ConfigError` where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}; {WAY_OUT}", path=path) from error


def put_file(path: str, data: bytes) -> list[str]:
    """Writes a file by sync and rename and answers the folders that were made for it, outermost first."""
    real = os.path.realpath(path)
    made = _made(os.path.dirname(real))
    try:
        mode = os.stat(real).st_mode & 0o7777
    except OSError:
        mode = 0o644
    replace_file(real, data)
    os.chmod(real, mode)
    return made


def remove_file(path: str, folders: Sequence[str]) -> None:
    """Takes a file away, and those of the folders that were made for it and are empty now; raises `ConfigError`."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise ConfigError(f"cannot be taken away: {error.strerror}", path=path) from error
    for folder in reversed(folders):
        with suppress(OSError):
            os.rmdir(folder)


def _made(folder: str) -> list[str]:
    missing: list[str] = []
    while folder and not os.path.isdir(folder):
        missing.insert(0, folder)
        folder = os.path.dirname(folder)
    try:
        for each in missing:
            os.mkdir(each)
    except OSError as error:
        raise ConfigError(f"the folder cannot be made: {error.strerror}", path=each) from error
    return missing
