"""foldline put into an agent, and taken out of it again: first as changes that can be shown, then carried out."""

from __future__ import annotations

import json
import os
import shutil
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from foldline._errors import ConfigError
from foldline._install import manifest
from foldline._install.agents import PROGRAM, WORDS, Agent, Put, SettingsEntry
from foldline._install.entries import entry_in_json, entry_in_toml, is_readable
from foldline._install.manifest import Installed, Manifest, digest
from foldline._install.writing import WAY_OUT, put_file, read_file, remove_file


class Change(NamedTuple):
    """One file as it will be: `after` is None for one that goes, and equal to `before` for one that stays.

    `kept` says why a file is left as it is although something was to be done.
    """

    agent: str
    path: str
    before: bytes | None
    after: bytes | None
    inserted: tuple[str, ...] = ()
    kept: str = ""

    @property
    def takes_out(self) -> bool:
        """Whether what foldline wrote goes: the file, or the entries in it."""
        return self.after is None or any(text.encode() not in self.after for text in self.inserted)

    @property
    def does_something(self) -> bool:
        """Whether the file changes, or a note of one that is gone is taken away."""
        return not self.kept and (self.takes_out or self.before != self.after)

    @property
    def what(self) -> str:
        """What becomes of the file, in a few words or with the reason."""
        if self.kept:
            return self.kept
        if self.before == self.after:
            return "gone already" if self.takes_out else "as it should be"
        if self.inserted:
            return "loses its entry" if self.takes_out else "gets an entry"
        return "a new file" if self.before is None else "a newer version" if self.after is not None else "goes"


def command(project: str) -> list[str]:
    """How other programs start this foldline: in a project, which others share, by its name where that finds it."""
    script = Path(sys.executable).parent / "foldline"
    if not os.access(script, os.X_OK):
        return [sys.executable, "-m", "foldline"]
    found = shutil.which("foldline") if project else None
    return ["foldline"] if found and os.path.samefile(found, script) else [str(script)]


def to_install(agent: Agent, project: str) -> list[Change]:
    """What installing changes, for the user or in a project; raises `ConfigError` for settings that cannot be read."""
    known = manifest.read()
    puts = (put for put in agent.puts if put.in_project or not project)
    entries = (entry for entry in agent.entries if entry.in_project or not project)
    changes = [_file(agent, put, project, known) for put in puts]
    return changes + [_entry(agent, entry, project, known) for entry in entries]


def to_uninstall(agent: Agent, project: str) -> list[Change]:
    """What taking it back changes: all that was written, and nothing else."""
    return [_taken_back(each) for each in reversed(manifest.read().of(agent.name, project))]


def carry_out(changes: list[Change], project: str) -> None:
    """Writes the changes, each noted before it is made: what an interruption leaves half done is taken back all the same.

    Raises `ConfigError` for a file that is not as it was when the change was shown.
    """
    for change in changes:
        if change.kept:
            continue
        if read_file(change.path) != change.before:
            raise ConfigError("another program changed it in the meantime; it is as that left it", path=change.path)
        was = manifest.read().at(change.path)
        if change.takes_out:
            _take_away(change, was)
        elif change.after != change.before or was is None:
            _put(change, was, project)


def _put(change: Change, was: Installed | None, project: str) -> None:
    assert change.after is not None
    note = Installed(
        change.agent,
        change.path,
        project,
        "" if change.inserted else digest(change.after),
        change.inserted,
        was.created if was else change.before is None,
        was.folders if was else (),
        was.blank if was else _blank(change.before),
    )
    _note(change.path, note)
    if made := put_file(change.path, change.after):
        _note(change.path, replace(note, folders=tuple(made)))


def _blank(before: bytes | None) -> str | None:
    """What a file has that is there and says nothing."""
    return None if before is None or before.strip() else before.decode()


def _take_away(change: Change, was: Installed | None) -> None:
    if change.before is not None and change.after is not None:
        put_file(change.path, change.after)
    elif was is not None:
        remove_file(change.path, was.folders)
    _note(change.path, None)


def _note(path: str, note: Installed | None) -> None:
    known = manifest.read()
    others = tuple(each for each in known.written if each.path != path)
    manifest.keep(replace(known, written=(*others, *([note] if note else ()))))


def _file(agent: Agent, put: Put, project: str, known: Manifest) -> Change:
    path = str(Path(project) / put.in_project if project else agent.home() / put.place)
    before, after = read_file(path), _filled(put.source, command(project))
    noted = known.at(path)
    kept = ""
    if before is not None and before != after:
        if noted is None:
            kept = "kept: there is a file already that foldline did not write"
        elif digest(before) != noted.sha256:
            kept = "kept: it was changed since foldline wrote it"
    return Change(agent.name, path, before, after, kept=kept)


def _filled(source: str, started: list[str]) -> bytes:
    """A file of ours with the command of this foldline where a program says `["foldline"]`, and JSON its placeholders."""
    text = files("foldline._install").joinpath("files", *source.split("/")).read_text("utf-8")
    if source.endswith(".json"):
        return (json.dumps(_value(json.loads(text), started), indent=2) + "\n").encode()
    return text.replace('["foldline"]', json.dumps(started), 1).encode()


def _entry(agent: Agent, entry: SettingsEntry, project: str, known: Manifest) -> Change:
    path = str(Path(project) / entry.in_project if project else agent.home() / entry.file)
    before = read_file(path)
    noted = known.at(path)
    try:
        text = (before or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"it is no UTF-8 from byte {error.start + 1} on; {WAY_OUT}", path=path) from error
    for old in noted.inserted if noted else ():
        text = text.replace(old, "", 1)
    make = entry_in_toml if path.endswith(".toml") else entry_in_json
    text = text if text.strip() or path.endswith(".toml") else "{}\n"
    texts: list[str] = []
    started = command(project)
    for keys, value in entry.values:
        at, inserted = make(text, keys, _value(value, started), path=path)
        if not inserted:
            what = f"kept: {'.'.join(keys)} stands there already, and foldline did not write it"
            return Change(agent.name, path, before, before, kept=what)
        text = text[:at] + inserted + text[at:]
        texts.append(inserted)
    return Change(agent.name, path, before, text.encode(), tuple(texts))


def _value(value: Any, started: list[str]) -> Any:
    """A value with the program of foldline, and the words behind it, in place of what stands for them."""
    program, *words = started
    if isinstance(value, dict):
        return {key: _value(each, started) for key, each in value.items()}
    if isinstance(value, list):
        return [one for each in value for one in (words if each == WORDS else [_value(each, started)])]
    return program if value == PROGRAM else value


def _taken_back(written: Installed) -> Change:
    before = read_file(written.path)
    if before is None:
        return Change(written.agent, written.path, None, None, written.inserted)
    if not written.inserted:
        kept = "" if digest(before) == written.sha256 else "kept: it was changed since foldline wrote it"
        return Change(written.agent, written.path, before, None, kept=kept)
    after: bytes | None = before
    for text in reversed(written.inserted):
        if not after or after.count(text.encode()) != 1:
            kept = f"kept: it does not hold {' '.join(text.split())} as foldline wrote it; take it out by hand"
            return Change(written.agent, written.path, before, before, written.inserted, kept)
        after = after.replace(text.encode(), b"", 1)
    if written.created and (after or b"").strip() in (b"", b"{}"):
        after = None
    elif written.blank is not None and (after or b"").strip() == b"{}":
        after = written.blank.encode()
    elif after and is_readable(before, path=written.path) and not is_readable(after, path=written.path):
        kept = "kept: what was set since would not be readable without foldline's entry; take it out by hand"
        return Change(written.agent, written.path, before, before, written.inserted, kept)
    return Change(written.agent, written.path, before, after, written.inserted)
