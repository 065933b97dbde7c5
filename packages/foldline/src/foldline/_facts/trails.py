"""What was done to files, one action after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from foldline._facts.edits import later_names, taken_back
from foldline._facts.folders import folders_of, is_absolute
from foldline._facts.shell import MADE_FOR_NOW
from foldline._facts.types import File, FileState, Repository
from foldline._messages import replace

MOST_EDITS = 100
"""Edits of one file since a commit beyond which nobody takes back all of them."""

STAGED = "staged"
"""What was done to a file of which nothing is known but that it was put into a commit."""


class Trails:
    """The files that are known, each under one path, with what was done to it; `files` are in the order of their newest action."""

    def __init__(self, files: Iterable[File] = (), repositories: Sequence[Repository] = ()) -> None:
        self.files = {file.path: file for file in files}
        self.repositories = repositories
        self._named: dict[str, list[str]] = {}
        self._inside: dict[str, list[str]] = {}
        for path in self.files:
            self._index(path)

    def touch(
        self,
        verb: str,
        path: str,
        at: int,
        to: str = "",
        by: Literal["", "peer"] = "",
        edits: tuple[str, ...] = (),
        names: tuple[str, ...] = (),
    ) -> None:
        """Books one action, of the agent's own or of a `peer`; what is `written` is created where it was not there, and modified
        elsewhere, which says nothing of what is new in it; what it made and moved is made where it is now, or put in the place of a
        file that is known, which is changed. `edits` are the fingerprints of what was put in place of what, `names` what it touched."""
        old = self.files.get(self._known_as(path))
        if verb in ("written", "created"):
            verb = "created"
            if old and old.state not in ("deleted", "renamed"):
                self.files[self._known_as(path)] = replace(old, names=())
                verb, names = "modified", names if old.made else ()
        made = old is not None and old.made
        replaced = to if verb == "renamed" and (made or self._known_as(to) in self.files) else ""
        if replaced and made:
            verb, to = "deleted", ""
        state: FileState = verb  # type: ignore[assignment]
        self.follow(File(path, state, {verb: 1}, at, to, by, -1 if verb == "read" else at, edits=edits, names=names))
        if replaced:
            self.touch("written", replaced, at, names=old.names if old else ())

    def staged(self, path: str, at: int) -> None:
        """Books that the agent put a file into its next commit: it changed it, in whatever way that was."""
        old = self.files.get(self._known_as(path))
        if old is None or not old.changed:
            self.follow(File(path, "modified", {STAGED: 1}, at, last=at))

    def committed(self, verb: Literal["created", "deleted"], path: str, at: int) -> None:
        """Books that a commit of the agent's has a new file, or lost one, where nothing else tells how that came about: a new one was put
        into it, by whomever it was made."""
        old = self.files.get(self._known_as(path))
        if old is None or not old.changed or {*old.actions} <= {"read", STAGED}:
            self.follow(File(path, verb, {STAGED if verb == "created" else verb: 1}, at, last=at))

    def follow(self, file: File) -> None:
        """Books what was done to a file after all that is booked."""
        path = self._known_as(file.path)
        old = self.files.pop(path, None)
        if old is None:
            self._index(path)
        self.files[path] = _later(old, replace(file, path=path), self.repositories)
        if file.state == "deleted":
            self._delete_inside(path, file.seen)
        elif file.state == "restored":
            self._restore_inside(path, file)
        elif file.state == "renamed":
            self._move_inside(path, file.to)

    def _index(self, path: str) -> None:
        self._named.setdefault(_name(path), []).append(path)
        for folder in folders_of(path):
            self._inside.setdefault(folder, []).append(path)

    def _known_as(self, path: str) -> str:
        """The path under which a file is known already: of `src/a.py` and `/x/src/a.py` the one that was seen first."""
        if path in self.files:
            return path
        if path.startswith(MADE_FOR_NOW):
            return path
        if "/" not in path or f"{path}/" in self.files:
            return f"{path}/" if f"{path}/" in self.files else path
        alike = self._named.get(_name(path), ())
        if is_absolute(path):
            same = [k for k in alike if "/" in k and not is_absolute(k) and path.endswith(f"/{k}")]
        else:
            same = [known for known in alike if known.endswith(f"/{path}") and not known.startswith("../")]
        return same[0] if len(same) == 1 else path

    def _folder_known_as(self, folder: str) -> str:
        """The path under which a folder is known already, where one alone has its name."""
        if folder in self._inside or is_absolute(folder):
            return folder
        alike = [known for known in self._inside if known.endswith(f"/{folder}")]
        return alike[0] if len(alike) == 1 else folder

    def _delete_inside(self, folder: str, at: int) -> None:
        """Books the files of a deleted folder as deleted with it."""
        for path in self._inside.get(folder.rstrip("/") + "/", ()):
            file = self.files[path]
            if path != folder and file.state not in ("deleted", "renamed"):
                actions = {**file.actions, "deleted": file.actions.get("deleted", 0) + 1}
                self.files[path] = replace(file, state="deleted", actions=actions, seen=at, last=at)

    def _move_inside(self, folder: str, to: str) -> None:
        """Books the files of a moved folder where they are now, each as it was."""
        inside = self._folder_known_as(f"{folder.rstrip('/')}/")
        base = inside.removesuffix(f"{folder.rstrip('/')}/")
        to = to if is_absolute(to) else f"{base}{to}"
        for path in [each for each in self._inside.get(inside, ()) if each != folder]:
            file = self.files.pop(path)
            self._named[_name(path)].remove(path)
            for each in folders_of(path):
                self._inside[each].remove(path)
            now = f"{to.rstrip('/')}/{path.removeprefix(inside)}"
            if now not in self.files:
                self._index(now)
            self.files[now] = replace(file, path=now)

    def _restore_inside(self, folder: str, put_back: File) -> None:
        """Books the files of a folder that was put back, but for those that are there since no commit."""
        for path in self._inside.get(folder.rstrip("/") + "/", ()):
            file = self.files[path]
            there = not file.made or is_committed(file, put_back.last, self.repositories)
            if path != folder and file.changed and there:
                self.files[path] = _later(file, replace(put_back, path=path), self.repositories)


def _later(old: File | None, new: File, repositories: Sequence[Repository]) -> File:
    """A file's trail continued: reading does not undo a change, writing again does not create, and what is put back is as it was
    committed."""
    if old is None:
        return new
    if _restored_elsewhere(old, new, repositories):
        new = replace(new, state="restored", kept=-1)
    actions = {verb: old.actions.get(verb, 0) + new.actions.get(verb, 0) for verb in {**old.actions, **new.actions}}
    changes_nothing = {*new.actions} == {STAGED} or (new.state == "restored" and "restored" not in new.actions)
    looked = new.state == "read" or (changes_nothing and old.changed)
    if looked and old.state != "deleted":
        return replace(old, actions=actions, seen=new.seen)
    committed = old.changed and is_committed(old, new.last, repositories)
    kept = new.kept if new.kept >= 0 else old.last if committed else old.kept
    alone = committed or new.kept >= 0 or "restored" in new.actions or not old.changed
    known = alone or (bool(old.edits and new.edits) and len(old.edits) + len(new.edits) <= MOST_EDITS)
    edits = new.edits if alone else _standing(old.edits, new.edits) if known else ()
    if new.state == "restored" or (new.edits and known and not edits):
        kept = old.last if kept < 0 and old.made else kept
        state = "restored" if kept < 0 else "modified" if old.state in ("deleted", "renamed") else old.state
        names = () if kept < 0 else old.names
        last = new.last if kept < 0 else kept
        return File(new.path, state, actions, new.seen, by=old.by, last=last, kept=kept, names=names)
    state = "modified" if new.state == "created" and old.state not in ("deleted", "renamed") else new.state
    by = old.by if new.state == "read" else new.by if old.by or not old.changed else ""
    to = new.to or (old.to if state == "renamed" else "")
    names = () if state == "deleted" else later_names(old.names, new.names)
    return File(new.path, state, actions, new.seen, to, by, max(old.last, new.last), kept, edits, names)


def _restored_elsewhere(old: File, new: File, repositories: Sequence[Repository]) -> bool:
    """Whether messages that did not know a file took it for made, and put it back at last: it was there before."""
    there = not old.made and old.state not in ("deleted", "renamed")
    back = "restored" in new.actions and 0 <= new.last == new.kept
    return there and new.made and back and not is_committed(new, new.seen, repositories)


def is_committed(file: File, by: int, repositories: Sequence[Repository]) -> bool:
    """Whether a file, as it was changed last, was committed by a message."""
    return any(file.last <= each.settled < by and not file.path.endswith(each.left) for each in repositories)


def _standing(old: Iterable[str], new: Iterable[str]) -> tuple[str, ...]:
    """The edits of two runs that no later one takes back."""
    standing = [*old]
    for edit in new:
        if (inverse := taken_back(edit)) in standing:
            standing.remove(inverse)
        else:
            standing.append(edit)
    return tuple(standing)


def _name(path: str) -> str:
    """The last name in a path, which paths of one file share."""
    return path.rstrip("/").rpartition("/")[2]
