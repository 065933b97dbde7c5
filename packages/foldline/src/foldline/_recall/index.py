"""The index over what sessions say: built as far as it is asked for, and read on where files grew."""

from __future__ import annotations

import json
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from typing import NamedTuple

from foldline._errors import FoldlineError
from foldline._messages import Media, Message, Part, ToolResult
from foldline._recall import reading, search
from foldline._recall.reading import OwnWords
from foldline._recall.search import Hit
from foldline._recall.store import MEMORY, Store, default_path
from foldline._recall.text import encodable, indexed, words_of
from foldline._sessions.finding import Found
from foldline._sessions.following import IndexedSession, ReadUpTo, Said
from foldline._sessions.opening import known_format
from foldline._sessions.source import parted
from foldline._tokens.weigh import weigh_part

BATCH = 16_000_000
"""Characters that are written in one go: so long do other writers wait, and so much is lost when one is stopped."""

ROWS = 256
"""Messages that are handed to the database at once."""

SPOKEN = ("user", "assistant", "tool")
"""Whose words are found; system prompts are the same in every session."""


_BEGINNING = re.compile(r"(?=.*\d)(?=.*[A-Za-z_-]).{4,}|\d{6,}")
"""What is read as the beginning of an id: no word of letters alone, and no short number."""


class Within(NamedTuple):
    """Where to look: a session file, and the id of one session in it where it holds several."""

    path: str
    session: str = ""
    agent: str = ""
    changed: float = 0.0


class Worded(NamedTuple):
    """A message with what it says, and whether these quote others."""

    said: Said
    words: str
    own: int


class Index:
    """A word index over sessions, in a file that may be deleted at any time.

    Each question reads first what its session files say anew, at most for `seconds`, the first ones first; `behind`
    is how many files that left out. `on_file` hears of each file before it is read, with how many are still to come.
    """

    def __init__(
        self,
        path: str | None = None,
        *,
        seconds: float | None = None,
        on_file: Callable[[str, int], None] | None = None,
    ) -> None:
        self.store = Store(default_path() if path is None else path)
        self.seconds = seconds
        self.behind = 0
        self._on_file = on_file or (lambda path, left: None)
        self._written = 0

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.store.close()

    def search(self, query: str, within: Sequence[Within], *, limit: int = 10, only: bool = True) -> list[Hit]:
        """The messages that fit the query best; unless `only`, of everything that was ever indexed."""
        return self.store.kept(
            lambda: search.ranked(self.store.database, query, self._numbers(within, only), limit=limit)
        )

    def find(self, id: str, within: Sequence[Within], *, only: bool = True) -> list[Hit]:
        """The messages of that id, those of the session that changed last first."""
        return self._where(within, only, search.OF_ID, id)

    def begun(self, start: str, within: Sequence[Within], *, only: bool = True) -> list[Hit]:
        """The messages whose ids begin so; none where a word may begin so, too."""
        if not _BEGINNING.fullmatch(start):
            return []
        return self._where(within, only, search.OF_BEGINNING, start, f"{start}\U0010ffff")

    def first_words(self, within: Within) -> list[Hit]:
        """The first user message of a session: what it was for."""
        return self._where([within], True, search.OF_USER, limit=1)

    def text(self, hit: Hit) -> str:
        """All that a message says."""
        return search.text_at(self.store.database, hit.row)

    def add(self, conversation: IndexedSession) -> None:
        """Indexes a conversation that stands in no file."""
        self._begin()
        self._take("", conversation, 0.0, continues=False)
        self._commit()

    def _where(self, within: Sequence[Within], only: bool, condition: str, *values: str, limit: int = -1) -> list[Hit]:
        return self.store.kept(
            lambda: search.named(self.store.database, condition, values, self._numbers(within, only), limit)
        )

    # -- keeping up ------------------------------------------------------------------------------------------

    def _numbers(self, within: Sequence[Within], only: bool) -> tuple[int, ...] | None:
        """The numbers of the sessions to look in, once their files are read; None for all of them."""
        self._read(within)
        database = self.store.database
        if not only:
            gone = {path for (path,) in database.execute("select path from file") if not os.path.exists(path)}
            for path in gone:
                self._forget(path)
            return None
        numbers = []
        for place in within:
            rows = database.execute("select number, id from session where path = ?", (_key(place.path),)).fetchall()
            named = [number for number, id in rows if id == place.session]
            numbers += named or [number for number, _ in rows]
        return tuple(numbers)

    def _read(self, within: Sequence[Within]) -> None:
        """Reads on in every file that has changed; what cannot be read is noted and passed over."""
        database, started = self.store.database, time.monotonic()
        known = dict(database.execute("select path, stamp from file")) if len(within) > 1 else None
        stale = [(place, now) for place in within if (now := self._changed(place, known)) is not None]
        self.behind = 0
        for n, (place, now) in enumerate(stale):
            if self.seconds is not None and n and time.monotonic() - started > self.seconds:
                self.behind = len(stale) - n
                break
            self._on_file(place.path, len(stale) - n)
            self._begin()
            self._read_file(place, now)
        self._commit()

    def _changed(self, place: Within, known: dict[str, str] | None) -> str | None:
        """The file's new stamp, or None where nothing has changed."""
        path = _key(place.path)
        now = reading.stamp(path)
        if known is not None:
            return None if now and known.get(path) == now else now
        row = self.store.database.execute("select stamp from file where path = ?", (path,)).fetchone()
        return None if now and row == (now,) else now

    def _read_file(self, place: Within, now: str) -> None:
        path, database = _key(place.path), self.store.database
        row = database.execute("select stamp, read, tail from file where path = ?", (path,)).fetchone()
        if row and now and row[0] == now:
            return
        changed = place.changed or _changed_at(path)
        mark, fault = ReadUpTo(*row[1:]) if row else ReadUpTo(), ""
        try:
            known = known_format(path)
            if follower := known.follow(path, mark) if known.follow else None:
                self._take(path, follower.conversation(place.agent), changed, continues=follower.continues)
                mark = follower.mark
            else:
                self._take_all(path, reading.conversations(known, path, place.agent), changed)
        except (FoldlineError, OSError) as error:
            fault = str(error)
        database.execute("insert or replace into file values (?, ?, ?, ?, ?)", (path, now, *mark, fault))

    def _take_all(self, path: str, conversations: Iterable[IndexedSession], changed: float) -> None:
        numbers = {self._take(path, conversation, changed, continues=False) for conversation in conversations}
        rows = self.store.database.execute("select number from session where path = ?", (path,)).fetchall()
        self._drop([number for (number,) in rows if number not in numbers])

    def _take(self, path: str, conversation: IndexedSession, changed: float, *, continues: bool) -> int:
        """Indexes what a conversation says and what is not indexed yet; lets go of what it no longer says."""
        database = self.store.database
        number, last = self._session(path, conversation, changed)
        known: Counter[tuple[str, bytes]] = Counter()
        rows: dict[tuple[str, bytes], list[int]] = {}
        if not continues:
            for row, id, digest in database.execute(
                "select row, id, digest from message where row between ? and ?", search.span(number)
            ):
                known[id, digest] += 1
                rows.setdefault((id, digest), []).append(row)
        fresh = (each for each in _worded(conversation.messages) if not _take_one(known, each.said, each.words))
        while batch := list(islice(fresh, ROWS)):
            self._put(batch, last + 1)
            last += len(batch)
            if self._written > BATCH:
                self._commit()
                self._begin()
        gone = [row for key, left in known.items() for row in rows[key][len(rows[key]) - left :]]
        self._remove(gone)
        self._note_live(number, conversation)
        return number

    def _note_live(self, number: int, conversation: IndexedSession) -> None:
        """Notes which messages are still in the context, where others are not."""
        ids = json.dumps([*conversation.live()])
        sql = "update message set live = id in (select value from json_each(?)) where row between ? and ?"
        self.store.database.execute(sql, (ids, *search.span(number)))

    def _session(self, path: str, conversation: IndexedSession, changed: float) -> tuple[int, int]:
        """The session's number and its last row; a new number where the session is new."""
        database = self.store.database
        row = database.execute(
            "insert into session (path, id, agent, cwd, changed) values (?, ?, ?, ?, ?) "
            "on conflict (path, id) do update set agent = excluded.agent, cwd = excluded.cwd, changed = excluded.changed "
            "returning number",
            (path, *conversation[:3], conversation.changed or changed),
        ).fetchall()
        number: int = row[0][0]
        first, end = search.span(number)
        (last,) = database.execute("select max(row) from message where row between ? and ?", (first, end)).fetchone()
        return number, last if last is not None else first - 1

    def _put(self, batch: Sequence[Worded], first: int) -> None:
        database = self.store.database
        rows = list(enumerate(batch, first))
        database.executemany(
            "insert into message values (?, ?, ?, ?, ?, ?, ?, ?, 0)",
            [
                (row, s[0], s[2].speaker, len(words), _media(s[2].parts), s[1], _digest(words), own)
                for row, (s, words, own) in rows
            ],
        )
        spoken = [(row, words) for row, (_, words, _) in rows if words]
        database.executemany("insert into said values (?, ?)", [(row, search.packed(words)) for row, words in spoken])
        database.executemany(
            "insert into word (rowid, text) values (?, ?)", [(row, indexed(words)) for row, words in spoken]
        )
        self._written += sum(len(words) for _, words in spoken)

    # -- letting go ------------------------------------------------------------------------------------------

    def _forget(self, path: str) -> None:
        self._begin()
        rows = self.store.database.execute("select number from session where path = ?", (path,)).fetchall()
        self._drop([number for (number,) in rows])
        self.store.database.execute("delete from file where path = ?", (path,))
        self._commit()

    def _drop(self, numbers: Sequence[int]) -> None:
        database = self.store.database
        for number in numbers:
            rows = database.execute("select row from message where row between ? and ?", search.span(number))
            self._remove([row for (row,) in rows.fetchall()])
            database.execute("delete from session where number = ?", (number,))

    def _remove(self, rows: Sequence[int]) -> None:
        """Removes messages; their words stay in the word index and lead nowhere until it is made anew."""
        if not rows:
            return
        database = self.store.database
        for table in ("message", "said"):
            database.executemany(f"delete from {table} where row = ?", [(row,) for row in rows])
        database.execute("update dead set messages = messages + ?", (len(rows),))

    def _begin(self) -> None:
        if not self.store.database.in_transaction:
            self.store.database.execute("begin immediate")

    def _commit(self) -> None:
        if self.store.database.in_transaction:
            self.store.database.execute("commit")
        self._written = 0


def index_of(messages: Iterable[tuple[str, Message]]) -> Index:
    """An index in memory over one conversation."""
    index = Index(MEMORY)
    index.add(IndexedSession("", "", "", ((id, "", message) for id, message in messages)))
    return index


def weighed(texts: Iterable[str], words: Iterable[str]) -> list[float]:
    """How much each of some texts says of words, by BM25: most where it holds what few of them hold, 0 where nothing."""
    with Index(MEMORY) as index:
        rows = [(row, indexed(encodable(text))) for row, text in enumerate(texts)]
        index.store.database.executemany("insert into word (rowid, text) values (?, ?)", rows)
        return search.weights(index.store.database, words, len(rows))


def everywhere(found: Iterable[Found]) -> list[Within]:
    """Every session file that was found, each once, as new as the first of its sessions."""
    files: dict[str, Within] = {}
    for each in found:
        path, _ = parted(each.path)
        files.setdefault(path, Within(path, "", each.agent, each.changed))
    return list(files.values())


def _worded(messages: Iterable[Said]) -> Iterator[Worded]:
    is_own = OwnWords()
    for said in messages:
        yield Worded(said, words_of(said[2]) if said[2].role in SPOKEN else "", is_own(said[2]))


def _take_one(known: Counter[tuple[str, bytes]], said: Said, words: str) -> bool:
    """Whether the message is indexed already; each one counts once."""
    if not known:
        return False
    key = said[0], _digest(words)
    if known[key] <= 0:
        return False
    known[key] -= 1
    return True


def _digest(words: str) -> bytes:
    return blake2b(words.encode(), digest_size=8).digest()


def _media(parts: Sequence[Part]) -> int:
    """The tokens of the images and documents in a message."""
    own = sum(weigh_part(part) for part in parts if type(part) is Media)
    return own + sum(_media(part.parts) for part in parts if type(part) is ToolResult)


def _key(path: str) -> str:
    return os.path.realpath(path)


def _changed_at(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
