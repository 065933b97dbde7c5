"""What a session file tells at a glance, and what it tells when it is read whole."""

from __future__ import annotations

import os
from functools import lru_cache

from foldline.errors import FoldlineError
from foldline.inspection import Opened
from foldline.listing.known import Known
from foldline.models import model as model_named
from foldline.policy import budget
from foldline.transcripts import open_session
from foldline.transcripts.ends import SIGNS, ends, may_hold_folds
from foldline.transcripts.finding import SessionFile, id_and_cwd, printable


def glanced(file: SessionFile) -> Known | None:
    """What the ends of a file tell; None where it cannot be opened."""
    try:
        fd = os.open(file.path, os.O_RDONLY)
    except OSError:
        return None
    try:
        id, cwd = id_and_cwd(fd, file.path)
        told = ends(fd, file.size, file.agent)
    except OSError:
        return None
    finally:
        os.close(fd)
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
    known = model_named(model)
    return budget(known.window, max_input=known.max_input).window
