"""From a query to the messages that fit it best, in a time that does not grow with common words."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from foldline._messages import Value
from foldline._recall.text import asked, phrase, pieces, snippet
from foldline._tokens.estimate import estimate
from foldline._tokens.weigh import MESSAGE_FRAME

Row = tuple[Any, ...]

SPAN = 32
"""Bits of a row that count a session's messages; the ones above are the session's number."""

COMMON = 1_000
"""Messages from which a word says too little to be weighed, and is weighed too slowly."""

NEWEST = 400
"""Messages that are looked at where they are not weighed: the newest."""

PACKED = 2_000
"""Characters from which a text is kept compressed."""


class Hit(Value, frozen=True, omit_defaults=False):
    """A message that was found: where it stands, and how many tokens it would add to a context.

    `time` is the message's own, or empty; `changed` is when its session last changed.
    """

    session: str
    path: str
    agent: str
    cwd: str
    id: str
    role: str
    tokens: int
    time: str
    changed: float
    snippet: str
    row: int


_HIT = """
select session.id, session.path, session.agent, session.cwd, message.id, message.role, message.length, message.time,
       session.changed, said.text, message.row, message.digest, message.media
from {source} join message on message.row = {row} join session on session.number = message.row >> 32
left join said on said.row = message.row
"""
LENGTH, TIME, CHANGED, ROW, DIGEST = 6, 7, 8, 10, 11
"""Where these stand in a row of it."""

_FROM_WORDS = _HIT.format(source="word", row="word.rowid")
_FROM_MESSAGES = _HIT.format(source="message as named", row="named.row")


def span(number: int) -> tuple[int, int]:
    """The first and the last row that a session's messages may have."""
    return number << SPAN, ((number + 1) << SPAN) - 1


def ranked(database: sqlite3.Connection, query: str, numbers: Sequence[int] | None, *, limit: int) -> list[Hit]:
    """The messages that fit a query best, best first, each text once.

    Where nothing holds the words as they were asked, they are taken apart at what joins them; where that finds
    nothing either, longer words that start with them are found.
    """
    words = asked(query)
    if numbers == () or not words or limit < 1:
        return []
    parts = pieces(words)
    for tried in (words, parts) if parts != words else (words,):
        if found := _weighed(database, tried, numbers, limit):
            return found
    longer = " OR ".join(phrase(part, starts=True) for part in parts if len(part) > 2)
    found_longer = _Distinct(parts, limit)
    if longer:
        found_longer.add(_newest(database, longer, numbers))
    return found_longer.hits


def _weighed(
    database: sqlite3.Connection, words: Sequence[str], numbers: Sequence[int] | None, limit: int
) -> list[Hit]:
    """What holds the words: where some are common first what holds all, then by weight what holds rare ones.

    To weigh a common word takes a look at each message that holds it. What holds all the words needs no weighing: the
    shorter it is, the more of it they are. That finds more (72 % of known messages among the first ten, by three of
    their words) than weighing all (68 %), in a quarter of the time.
    """
    counts = {p: n for p in dict.fromkeys(map(phrase, words)) if (n := _count(database, p))}
    rare = sorted((p for p in counts if counts[p] < COMMON), key=lambda p: counts[p])
    found = _Distinct(words, limit)
    if len(rare) < len(counts):
        found.add(sorted(_newest(database, " AND ".join(counts), numbers), key=lambda row: int(row[LENGTH])))
    if rare and not found.full:
        found.add(_matching(database, " OR ".join(_lightest(rare, counts)), numbers, "order by rank"))
    if counts and not found.hits:
        found.add(_newest(database, " OR ".join(counts), numbers))
    return found.hits


def weights(database: sqlite3.Connection, words: Iterable[str], rows: int) -> list[float]:
    """What the first rows of the word index weigh by words."""
    found = [0.0] * rows
    if match := " OR ".join(map(phrase, words)):
        for row, rank in database.execute("select rowid, rank from word where word match ?", (match,)):
            found[row] = -rank
    return found


def of_id(database: sqlite3.Connection, id: str, numbers: Sequence[int] | None) -> list[Hit]:
    """The messages of an id, those of the session that changed last first."""
    where, values = _in_sessions(numbers)
    sql = f"{_FROM_MESSAGES} where named.id = ? {where} order by session.changed desc, message.row"
    return [_hit(row, ()) for row in database.execute(sql, (id, *values))]


def first_of_user(database: sqlite3.Connection, numbers: Sequence[int], limit: int) -> list[Hit]:
    """The first messages in which a user speaks."""
    where, values = _in_sessions(numbers)
    sql = f"{_FROM_MESSAGES} where named.role = 'user' {where} and said.text is not null order by message.row limit ?"
    return [_hit(row, ()) for row in database.execute(sql, (*values, limit))]


def text_at(database: sqlite3.Connection, row: int) -> str:
    """All that a message says; nothing where it says nothing."""
    found = database.execute("select text from said where row = ?", (row,)).fetchone()
    return _unpacked(found[0]) if found else ""


def packed(text: str) -> str | bytes:
    """A text as it is kept: the long ones compressed, where that is worth its time."""
    return zlib.compress(text.encode(), 1) if len(text) > PACKED else text


def _unpacked(kept: object) -> str:
    return zlib.decompress(kept).decode() if isinstance(kept, bytes) else str(kept or "")


class _Distinct:
    """Hits, each text once: forks carry copies, and agents read a file more than once."""

    def __init__(self, words: Sequence[str], limit: int) -> None:
        self.hits: list[Hit] = []
        self._words, self._limit = words, limit
        self._seen: set[bytes] = set()

    @property
    def full(self) -> bool:
        return len(self.hits) >= self._limit

    def add(self, rows: Iterable[Row]) -> None:
        for row in rows:
            if self.full:
                return
            if row[DIGEST] not in self._seen:
                self._seen.add(row[DIGEST])
                self.hits.append(_hit(row, self._words))


def _count(database: sqlite3.Connection, phrase: str) -> int:
    """How many messages hold a phrase, counted up to what makes it common."""
    sql = "select count(*) from (select 1 from word where word match ? limit ?)"
    (n,) = database.execute(sql, (phrase, COMMON)).fetchone()
    return int(n)


def _lightest(rare: Sequence[str], counts: dict[str, int]) -> Iterator[str]:
    """The rarest phrases, as many as together stand in few enough messages."""
    total = 0
    for each in rare:
        if total and total + counts[each] > 2 * COMMON:
            return
        total += counts[each]
        yield each


def _newest(database: sqlite3.Connection, match: str, numbers: Sequence[int] | None) -> list[Row]:
    """The newest messages that match, without weighing them."""
    rows = list(_matching(database, match, numbers, f"order by word.rowid desc limit {NEWEST}"))
    return sorted(rows, key=lambda row: (str(row[TIME]), row[CHANGED], row[ROW]), reverse=True)


def _matching(database: sqlite3.Connection, match: str, numbers: Sequence[int] | None, order: str) -> Iterator[Row]:
    where, values = _in_sessions(numbers, "word.rowid")
    return iter(database.execute(f"{_FROM_WORDS} where word match ? {where} {order}", (match, *values)))


def _in_sessions(numbers: Sequence[int] | None, row: str = "message.row") -> tuple[str, tuple[int, ...]]:
    """The condition that keeps rows to some sessions; a range where it is one, since the word index seeks in those."""
    if numbers is None:
        return "", ()
    if len(numbers) == 1:
        return f"and {row} between ? and ?", span(numbers[0])
    return f"and {row} >> {SPAN} in ({', '.join('?' * len(numbers))})", tuple(numbers)


def _hit(row: Row, words: Sequence[str]) -> Hit:
    session, path, agent, cwd, id, role, _, time, changed, kept, number, _, media = row
    text = _unpacked(kept)
    tokens = MESSAGE_FRAME + estimate(text) + media
    return Hit(session, path, agent, cwd, id, role, tokens, time, changed, snippet(text, words), number)
