"""Drafts that were paid for, noted in the session at once: who is killed before their fold stands pays for none again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from hashlib import blake2b
from typing import TYPE_CHECKING

import msgspec

from foldline._engine.driving import Folding
from foldline._errors import SessionError
from foldline._messages import Summary, Value
from foldline._view import identity
from foldline._writers.draft import Answer, Ask, Draft

if TYPE_CHECKING:
    from foldline._sessions.file import SessionFile


class Noted(Value, frozen=True, omit_defaults=True):
    """What a summarizer answered: a draft, or a whole summary."""

    draft: Draft | None = None
    summary: Summary | None = None


def paid_once(
    folding: Folding,
    session: SessionFile,
    turns: AbstractContextManager[None],
    on_fault: Callable[[str], None],
) -> Folding:
    """A fold of what a session shows that asks for no draft which is noted there, and notes there what is answered, in its turn."""
    answer: Answer | None = None
    while True:
        try:
            ask = next(folding) if answer is None else folding.send(answer)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        key = _key(ask)
        if (answer := _noted(session, key)) is None:
            answer = yield ask
            with turns:
                _note(session, key, answer, on_fault)


def _key(ask: Ask) -> str:
    """What is asked for, as far as another process would ask for the same."""
    told = blake2b(digest_size=12)
    words = (repr(ask.brief.wording), ask.brief.focus, *ask.brief.faults)
    for each in (*map(identity, ask.messages), *(text.encode("utf-8", "surrogatepass") for text in words)):
        told.update(b"%d:%b" % (len(each), each))
    return told.hexdigest()


def _noted(session: SessionFile, key: str) -> Answer | None:
    """What was answered before to what is asked; None where nothing was, or what stands there is damaged."""
    try:
        noted = msgspec.convert(session.context.drafts.get(key, {}), Noted)
    except msgspec.ValidationError:
        return None
    return noted.draft or noted.summary


def _note(session: SessionFile, key: str, answer: Answer, on_fault: Callable[[str], None]) -> None:
    """Notes an answer; no session has a place for a failure, or for a provider's own compaction."""
    if isinstance(answer, Draft) and not answer.native:
        noted = Noted(draft=answer)
    elif isinstance(answer, Summary):
        noted = Noted(summary=answer)
    else:
        return
    try:
        session.note_draft(key, msgspec.to_builtins(noted))
    except SessionError as error:
        on_fault(f"session: {error}")
