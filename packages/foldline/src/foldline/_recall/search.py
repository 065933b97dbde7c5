"""From a query to the messages that fit it best, in a time that does not grow with common words."""

from __future__ import annotations

import re
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from foldline._messages import Value
from foldline._recall.text import LONGEST_QUERY, asked, encodable, phrase, pieces, runs, snippet, unescaped
from foldline._tokens.estimate import estimate
from foldline._tokens.weigh import MESSAGE_FRAME

Row = tuple[Any, ...]

SPAN = 32
"""Bits of a row that count a session's messages; the ones above are the session's number."""

COMMON = 1_000
"""Messages from which a word says too little to be weighed, and is weighed too slowly."""

NEWEST = 400
"""Messages that are looked at where they are not weighed: the newest."""

COMPARED = 40
"""Messages that hold the words in a row, the shortest ones, that are compared with the query as it was written."""

ORIGINAL, SUMMARY, ECHO = 0, 1, 2
"""What is nobody's quotation; a summary, which says more than what it quotes; a recall call, its answer or a stub."""

PACKED = 2_000
"""Characters from which a text is kept compressed."""


class Hit(Value, frozen=True, omit_defaults=False):
    """A message that was found: where it stands, and how many tokens it would add to a context.

    `time` is the message's own, or empty; `changed` is when its session last changed; `also` are the ids of other messages
    with the very same text.
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
    also: tuple[str, ...] = ()


_HIT = """
select session.id, session.path, session.agent, session.cwd, message.id, message.role, message.length, message.time,
       session.changed, said.text, message.row, message.digest, message.media, message.own, message.live
from {source} join message on message.row = {row} join session on session.number = message.row >> 32
left join said on said.row = message.row
"""
ID, LENGTH, TIME, CHANGED, TEXT, ROW, DIGEST, OWN, LIVE = 4, 6, 7, 8, 9, 10, 11, 13, 14
"""Where these stand in a row of it."""

_FROM_WORDS = _HIT.format(source="word", row="word.rowid")
_FROM_MESSAGES = _HIT.format(source="message as named", row="named.row")


def span(number: int) -> tuple[int, int]:
    """The first and the last row that a session's messages may have."""
    return number << SPAN, ((number + 1) << SPAN) - 1


def ranked(database: sqlite3.Connection, query: str, numbers: Sequence[int] | None, *, limit: int) -> list[Hit]:
    """The messages that fit a query best, best first, each text once.

    First what holds the words in a row, then what holds a part of them so, then what holds them anywhere. Where nothing
    holds them as they were asked, they are taken apart at what joins them; where that finds nothing either, longer words
    that start with them are found.
    """
    query = encodable(query[:LONGEST_QUERY])
    words = asked(query)
    if numbers == () or not words or limit < 1:
        return []
    parts, found = pieces(words), _Distinct(words, limit)
    in_runs = runs(query)
    if len(words) > 1 or in_runs:
        for tried in dict.fromkeys((query, encodable(unescaped(query)))):
            found.add(_in_a_row(database, tried, numbers), quoting=(ECHO,))
        if found.none:
            found.add(_by_weight(database, _counted(database, in_runs), numbers))
    _add_weighed(found, database, words, numbers)
    if found.none and parts != words:
        _add_weighed(found, database, parts, numbers)
    longer = " OR ".join(phrase(part, starts=True) for part in parts if len(part) > 2)
    if longer and found.none:
        found.add(_newest(database, longer, numbers))
    return found.hits


def _in_a_row(database: sqlite3.Connection, query: str, numbers: Sequence[int] | None) -> list[Row]:
    """What holds all the words in a row: as they were written first, then what no context holds any more, then the shorter ones.

    What is in the context the agent sees without asking. The shorter a text is, the more of it the words are.
    """
    rows = _newest(database, phrase(query.replace('"', " ")), numbers)
    rows.sort(key=lambda row: int(row[LENGTH]))
    written = re.compile(r"\s+".join(map(re.escape, query.split())))
    compared, rest = rows[:COMPARED], rows[COMPARED:]
    live = {row[DIGEST] for row in compared if row[LIVE]}
    compared.sort(key=lambda row: (not written.search(_unpacked(row[TEXT])), row[DIGEST] in live))
    return sorted(compared + rest, key=lambda row: bool(row[OWN]))


def _add_weighed(
    found: _Distinct, database: sqlite3.Connection, words: Sequence[str], numbers: Sequence[int] | None
) -> None:
    """Adds what holds the words: where some are common first what holds all, then by weight what holds rare ones.

    To weigh a common word takes a look at each message that holds it. What holds all the words needs no weighing: the
    shorter it is, the more of it they are. That finds more (72 % of known messages among the first ten, by three of
    their words) than weighing all (68 %), in a quarter of the time.
    """
    counts = _counted(database, map(phrase, words))
    if any(count >= COMMON for count in counts.values()):
        found.add(sorted(_newest(database, " AND ".join(counts), numbers), key=lambda row: int(row[LENGTH])))
    found.add(_by_weight(database, counts, numbers))
    if counts and found.none:
        found.add(_newest(database, " OR ".join(counts), numbers))


def _counted(database: sqlite3.Connection, phrases: Iterable[str]) -> dict[str, int]:
    """How many messages hold each phrase, without those that none holds."""
    return {each: n for each in dict.fromkeys(phrases) if (n := _count(database, each))}


def _by_weight(database: sqlite3.Connection, counts: dict[str, int], numbers: Sequence[int] | None) -> Iterator[Row]:
    """What holds the rare phrases, by weight; nothing where all are common."""
    rare = sorted((p for p in counts if counts[p] < COMMON), key=lambda p: counts[p])
    if rare:
        yield from _matching(database, " OR ".join(_lightest(rare, counts)), numbers, "order by rank")


def weights(database: sqlite3.Connection, words: Iterable[str], rows: int) -> list[float]:
    """What the first rows of the word index weigh by words."""
    found = [0.0] * rows
    if match := " OR ".join(map(phrase, words)):
        for row, rank in database.execute("select rowid, rank from word where word match ?", (match,)):
            found[row] = -rank
    return found


OF_ID, OF_BEGINNING = "named.id = ?", "named.id >= ? and named.id < ?"
OF_USER = "named.role = 'user' and said.text is not null"


def named(
    database: sqlite3.Connection, condition: str, values: Sequence[str], numbers: Sequence[int] | None, limit: int
) -> list[Hit]:
    """The messages of one of these conditions, those of the session that changed last first; a `limit` of -1 is none."""
    where, spans = _in_sessions(numbers)
    order = f"order by session.changed desc, message.row limit {limit}"
    return [
        _hit(row) for row in database.execute(f"{_FROM_MESSAGES} where {condition} {where} {order}", (*values, *spans))
    ]


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
    """Hits, each text once, since forks carry copies and agents read a file more than once; what quotes others last.

    A summary that holds the words in a row stands behind the originals that do, and before what holds a part of them.
    """

    def __init__(self, words: Sequence[str], limit: int) -> None:
        self._words, self._limit = words, limit
        self._said: dict[bytes, list[Row]] = {}
        self._own: dict[bytes, list[Row]] = {}

    @property
    def none(self) -> bool:
        return not self._said and not self._own

    @property
    def hits(self) -> list[Hit]:
        every = self._own | self._said
        best = [*self._said, *(digest for digest in self._own if digest not in self._said)]
        return [_hit(*every[digest], words=self._words) for digest in best[: self._limit]]

    def add(self, rows: Iterable[Row], quoting: Sequence[int] = (SUMMARY, ECHO)) -> None:
        for row in rows:
            kept = self._own if row[OWN] in quoting else self._said
            if row[DIGEST] in kept:
                kept[row[DIGEST]].append(row)
            elif len(self._said) < self._limit:
                kept[row[DIGEST]] = [row]
            else:
                return


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


def _hit(row: Row, *same: Row, words: Sequence[str] = ()) -> Hit:
    session, path, agent, cwd, id, role, _, time, changed, kept, number, _, media, *_ = row
    text = _unpacked(kept)
    tokens = MESSAGE_FRAME + estimate(text) + media
    also = tuple(dict.fromkeys(str(each[ID]) for each in same if each[ID] != id))
    return Hit(session, path, agent, cwd, id, role, tokens, time, changed, snippet(text, words), number, also)
