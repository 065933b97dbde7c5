"""What was written into other agents' folders, so that exactly that is taken back."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import msgspec

from foldline._config import PREFIX
from foldline._errors import ConfigError
from foldline._install.writing import put_file, remove_file

NAME = "installed.json"


class Installed(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that was written for an agent: a whole file by its hash, or texts that were put into one.

    `project` is the project's directory, empty for the user's own settings; `folders` were made for it, outermost first.
    """

    agent: str
    path: str
    project: str = ""
    sha256: str = ""
    inserted: tuple[str, ...] = ()
    created: bool = False
    """Whether there was no such file before."""
    folders: tuple[str, ...] = ()
    blank: str | None = None
    """The spaces that the file had before, where it was there and had nothing else."""


class Manifest(msgspec.Struct, frozen=True):
    """All that was written, oldest first."""

    version: int = 1
    written: tuple[Installed, ...] = ()
    folders: tuple[str, ...] = ()
    """Folders that were made for the manifest itself."""

    def of(self, agent: str, project: str) -> list[Installed]:
        """What was written for an agent, in one project or for the user."""
        return [each for each in self.written if (each.agent, each.project) == (agent, project)]

    def at(self, path: str) -> Installed | None:
        """What was written to a path."""
        return next((each for each in self.written if each.path == path), None)


def place() -> Path:
    """Where the manifest stands: beside the settings."""
    if named := os.environ.get(PREFIX + "CONFIG"):
        return Path(named).parent / NAME
    home = os.environ.get("HOME") or str(Path.home())
    return Path(os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")) / "foldline" / NAME


def read() -> Manifest:
    """The manifest, empty where there is none; raises `ConfigError` for one that cannot be read."""
    path = place()
    try:
        return msgspec.json.decode(path.read_bytes(), type=Manifest)
    except FileNotFoundError:
        return Manifest()
    except (OSError, msgspec.DecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"what was installed cannot be read: {why}", path=str(path)) from error


def keep(manifest: Manifest) -> None:
    """Writes the manifest; one that holds nothing is taken away with the folders that were made for it."""
    path = place()
    if manifest.written:
        made = put_file(str(path), msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")
        if made:
            keep(msgspec.structs.replace(manifest, folders=tuple(made)))
    elif path.exists():
        remove_file(str(path), manifest.folders)


def digest(data: bytes) -> str:
    """The hash by which a file is known again."""
    return hashlib.sha256(data).hexdigest()
