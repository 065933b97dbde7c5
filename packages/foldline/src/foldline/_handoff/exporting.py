"""A session's state as one document: every fact with the entry it stands in, and a summary of the whole."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from foldline._errors import FormatError
from foldline._facts.merging import merge
from foldline._facts.reading import facts_of
from foldline._facts.speech import clean
from foldline._facts.types import Facts
from foldline._handoff.state import Fact, Origin, State, Tokens, decode, encode, facts_in, fields_of
from foldline._models import model as model_named
from foldline._page.extract import compose
from foldline._sessions.file import SessionFile
from foldline._sessions.writing import now, write_whole
from foldline._tokens.estimate import estimate
from foldline._view import Brief

SUMMARY_TOKENS = 4_000
"""The size of the summary in a document."""

STATE = "state"
"""The key of foldline's note on the record that an import opens a session with: the state, whole."""


class SessionHistory:
    """What a session was told and did from its first message on, and the facts in it."""

    def __init__(self, session: SessionFile) -> None:
        told = session.lineage()
        self.imported = _noted(told[0][2]) if told else None
        self.messages = [(id, message) for id, message, _ in (told[1:] if self.imported else told)]
        earlier = facts_in(self.imported) if self.imported else Facts()
        self.facts = merge(earlier, facts_of(message for _, message in self.messages))
        self._ids = _ids(self.imported)
        self.carried = self.facts.end - len(self.messages)

    def id_at(self, at: int) -> str:
        """The id of the entry that a message has, by its number; empty where no entry is known."""
        place = at - self.carried
        return self.messages[place][0] if 0 <= place < len(self.messages) else self._ids.get(at, "")


def export(session: SessionFile, *, window: int | None = None) -> State:
    """The state of a session, read from all of its messages, the folded ones among them."""
    known = model_named(session.model)
    meter = session.meter(known.family)
    view = session.view(meter)
    history = SessionHistory(session)
    facts, earlier = history.facts, history.imported
    summary = compose(Brief(SUMMARY_TOKENS), facts) if facts != Facts() else ""
    count = meter.total(round(view.tokens / meter.ratio))
    told = history.messages
    return State(
        exported=now(),
        source=Origin(
            session.agent,
            clean(session.id),
            clean(session.path),
            clean(session.model),
            clean(session.cwd),
            session.compactions,
            facts.end,
            history.carried,
            clean(told[0][0]) if told else "",
            clean(told[-1][0]) if told else "",
        ),
        earlier=(earlier.source, *earlier.earlier) if earlier else (),
        tokens=Tokens(view.tokens + meter.overhead, window or known.window, estimate(summary), round(count.error, 3)),
        summary=summary,
        **fields_of(facts, lambda at: clean(history.id_at(at))),
    )


def write_state(state: State, path: str) -> int:
    """Writes a state as a new file, whole; answers its bytes."""
    data = encode(state)
    write_whole(path, data)
    return len(data)


def _noted(note: Mapping[str, object]) -> State | None:
    """The state that an import left on a record; a note that is none is passed over."""
    if STATE not in note:
        return None
    try:
        return decode(msgspec.json.encode(note[STATE]))
    except (FormatError, UnicodeEncodeError):
        return None


def _ids(state: State | None) -> dict[int, str]:
    """The ids of entries that a state tells, by the numbers of their messages."""
    fields = msgspec.structs.asdict(state).values() if state else ()
    lists = (each for each in fields if isinstance(each, tuple))
    return {fact.at: fact.id for facts in lists for fact in facts if isinstance(fact, Fact) and fact.id}
