"""What a session file tells at a glance, and what it tells when it is read whole."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import lru_cache

from foldline.errors import FoldlineError
from foldline.inspection import Opened
from foldline.listing.known import Known
from foldline.models import model as model_named
from foldline.policy import budget_for
from foldline.stores.finding import FIRST, SessionFile, id_and_cwd, printable
from foldline.transcripts import open_session
from foldline.transcripts.ends import CHUNK, SIGNS, ends, may_hold_folds

AHEAD = 128
"""Files whose ends are asked of the disk together: it answers many requests nearly as fast as one."""


def glanced(files: Sequence[SessionFile]) -> Iterator[tuple[SessionFile, Known]]:
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


def _asked_for(file: SessionFile) -> int | None:
    """The file opened, its ends on their way into memory; None where it cannot be opened."""
    try:
        fd = os.open(file.path, os.O_RDONLY)
    except OSError:
        return None
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
        os.posix_fadvise(fd, 0, FIRST, os.POSIX_FADV_WILLNEED)
        os.posix_fadvise(fd, max(0, file.size - CHUNK), CHUNK, os.POSIX_FADV_WILLNEED)
    return fd


def _glanced(file: SessionFile, fd: int) -> Known:
    id, cwd = id_and_cwd(fd, file.path)
    told = ends(fd, file.size, file.agent)
    known = Known(file.size, file.changed, file.inode, id, cwd)
    if told is not None:
        known.model, known.tokens = told
        known.window = _window(told.model)
    return known


def read_whole(file: SessionFile, known: Known) -> None:
    """Adds whether a session was ever folded; where it was, or its ends do not tell, all that reading it tells."""
    known.whole = True
    try:
        if known.tokens is not None and not _folded(file):
            known.compactions = 0
            return
        session = Opened(open_session(file.path))
        known.model, known.tokens = session.session.model, session.tokens
        known.window, known.compactions = session.budget.window, session.session.compactions
    except (OSError, FoldlineError) as error:
        known.error = printable(str(error))


def _folded(file: SessionFile) -> bool:
    """Whether a session may have been folded, by the signs of it in the file."""
    if file.agent not in SIGNS:
        return True
    fd = os.open(file.path, os.O_RDONLY)
    try:
        return may_hold_folds(fd, file.size, file.agent)
    finally:
        os.close(fd)


@lru_cache(maxsize=1 << 10)
def _window(model: str) -> int:
    return budget_for(model_named(model)).window
