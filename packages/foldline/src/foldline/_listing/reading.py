"""What a session file tells at a glance, and what it tells when it is read whole."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

from foldline._clipping import one_line
from foldline._desk.desk import Desk
from foldline._errors import FoldlineError
from foldline._facts.reading import user_words
from foldline._listing.known import Known
from foldline._models import model as model_named
from foldline._policy import budget_for
from foldline._sessions.descriptors import READ, read_at
from foldline._sessions.finding import FIRST, StoreFile, about_file, stored_in, which
from foldline._sessions.format import About, printable
from foldline._sessions.opening import open_session
from foldline._sessions.registry import format_named
from foldline._sessions.tail import CHUNK, ends, may_hold_folds

AHEAD = 128
"""Files whose ends are asked of the disk together: it answers many requests nearly as fast as one."""


LARGE = 8 * 1024 * 1024
"""Bytes of a file up to which its messages are counted."""

BEGINNING, PROMPT = 24, 160
"""Messages in which the user's first words are looked for, and characters that are kept of them."""


def glanced(files: Sequence[StoreFile]) -> Iterator[tuple[StoreFile, list[Known]]]:
    """What the ends of files tell; files that cannot be read are left out."""
    for at in range(0, len(files), AHEAD):
        opened = [(file, fd) for file in files[at : at + AHEAD] if (fd := _asked_for(file)) is not None]
        for file, fd in opened:
            try:
                yield file, _glanced(file, fd)
            except OSError:
                continue
            finally:
                os.close(fd)


def _asked_for(file: StoreFile) -> int | None:
    """The file opened, its ends on their way into memory; None where it cannot be opened."""
    try:
        fd = os.open(file.path, READ)
    except OSError:
        return None
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
        os.posix_fadvise(fd, 0, FIRST, os.POSIX_FADV_WILLNEED)
        os.posix_fadvise(fd, max(0, file.size - CHUNK), CHUNK, os.POSIX_FADV_WILLNEED)
    return fd


def _glanced(file: StoreFile, fd: int) -> list[Known]:
    several = stored_in(file, fd)
    if several is not None:
        return [
            _known(file, About(s.id, s.cwd, s.title, s.parent), place=which(s, several), when=s.changed)
            for s in several
        ]
    last = read_at(fd, CHUNK, max(0, file.size - CHUNK))
    start = file.size - len(last)
    behind = last[FIRST - start :] if start <= FIRST else b"\n" + last  # a row that was cut off is joined to no other
    known = _known(file, about_file(fd, file.path, format_named(file.agent), behind))
    told = ends(fd, file.size, file.agent, last)
    if told is not None:
        known.model, known.tokens = told.model, told.tokens
        known.window = told.window or _window(told.model)
    return [known]


def _known(file: StoreFile, about: About, **more: Any) -> Known:
    id, cwd, title, parent = about
    return Known(file.size, file.changed, file.inode, id, cwd, title=one_line(title, PROMPT), parent=parent, **more)


def look_for_folds(file: StoreFile, known: Known) -> None:
    """Finds out by the signs in a file whether a session was ever folded, where its ends told how full it is."""
    if known.compactions is not None or known.tokens is None or known.place:
        return
    with suppress(OSError), open(file.path, "rb", buffering=0) as opened:
        if not may_hold_folds(opened.fileno(), file.size, file.agent):
            known.compactions = 0
            known.whole = file.size > LARGE


def read_whole(file: StoreFile, known: Known, environment: Mapping[str, str]) -> None:
    """Adds all that reading a session tells."""
    known.whole = True
    try:
        desk = Desk(open_session(file.path + known.place), environment=environment)
        known.model, known.tokens = desk.session.model, desk.tokens
        known.window, known.compactions = desk.budget.window, desk.session.compactions
        if desk.meter.billed is not None:
            learned = desk.meter.unanchored()
            known.agent, known.family = desk.session.agent, learned.family
            known.overhead, known.ratio = learned.overhead, learned.ratio
        if file.size <= LARGE or known.place:
            messages = [message for _, message in desk.session.messages()]
            known.messages = len(messages)
            known.prompt = one_line(next(user_words(messages[:BEGINNING]), ""), PROMPT)
    except (OSError, FoldlineError) as error:
        known.error = printable(str(error))


@lru_cache(maxsize=1 << 10)
def _window(model: str) -> int:
    return budget_for(model_named(model)).window
