"""What recall finds: six words from the middle of a folded message, and where that message stands in the answer.

    python benchmarks/recall_found.py [--corpus FOLDER]

Recorded sessions of several agents (`--corpus`) and the conversations of `material/tune` in Chinese, Japanese, Korean and
other languages are folded; each folded message of twelve words or more is looked for by six words in a row (twelve
characters where they are written without spaces), in its session and in all of them. A message counts as found by its
id, or by the id of one with the very same text. The control is what a plain search for those words in the files' order finds.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from foldline import FoldlineError, Message, Session
from foldline._desk.desk import Desk
from foldline._recall.answer import drawn
from foldline._recall.index import Index, Within
from foldline._sessions.opening import open_session
from foldline.extend import Text
from memory_corpus import CORPUS, SESSIONS

TUNE = Path(__file__).resolve().parent / "material/tune"

AMONG = (1, 3, 10)
MOST = 60
"""Messages of one session that are looked for, drawn by lot."""

_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")


class Sought(NamedTuple):
    """A folded message, the words that it is looked for by, and where it stands."""

    kind: str
    within: Within
    id: str
    text: str
    query: str


def middle(text: str) -> str:
    """Six words in a row from the middle of a text, or twelve characters of one without spaces; empty where it is short."""
    if len(_UNSPACED.findall(text)) * 3 > len(text):
        longest = max(text.split(), key=len)
        start = len(longest) // 2 - 6
        return longest[start : start + 12] if start >= 0 else ""
    words = text.split()
    start = len(words) // 2 - 3
    query = " ".join(words[start : start + 6]) if len(words) >= 12 else ""
    return query if len(query) < 1_000 and len(re.findall(r"\w+", query)) >= 6 else ""


def sessions(folder: Path, corpus: Path) -> Iterator[tuple[str, Path]]:
    """The recorded sessions and those of the material, copied or written into a folder, each with what it is."""
    for name in (name for half in SESSIONS.values() for name in half):
        if (corpus / name).exists():
            yield name.split("/")[0], Path(shutil.copy(corpus / name, folder / name.replace("/", "-")))
    for file in sorted(TUNE.glob("*-*.json")):
        told = json.loads(file.read_text("utf-8"))
        session = Session.create(folder / f"{file.stem}.jsonl", cwd="/srv/invoices")
        for message in told["messages"]:
            if message["role"] in ("user", "assistant") and isinstance(message["content"], str):
                session.append(Message(message["role"], (Text(message["content"]),)))
        yield told["language"], Path(session.path)


def folded(path: Path) -> list[tuple[str, Message]]:
    """The messages that a fold took out of a session, which is folded in place where it can be."""
    desk = Desk(open_session(path))
    plan = desk.plan(desk.settings.to_policy())
    left = {entry.id for entry in plan.after.entries}
    gone = [(entry.id, entry.message) for entry in desk.view.entries if entry.id not in left]
    try:
        plan.write()
    except FoldlineError:
        return gone
    return gone


def sought(kind: str, path: Path) -> list[Sought]:
    """The folded messages of a session that can be looked for."""
    within = Within(str(path), open_session(path).id)
    found = []
    for id, message in folded(path):
        text = drawn(message) if message.role != "system" else ""
        if query := middle(text):
            found.append(Sought(kind, within, id, text, query))
    return random.Random(path.name).sample(found, min(MOST, len(found)))


def places(index: Index, asked: Sequence[Sought], within: Sequence[Within]) -> Iterator[tuple[Sought, int]]:
    """At which place each message is found, from 1; 0 where it is not."""
    for each in asked:
        hits = index.search(each.query, within or [each.within], limit=max(AMONG))
        yield each, next((n for n, hit in enumerate(hits, 1) if each.id in (hit.id, *hit.also)), 0)


class Texts:
    """What each session says, each text once: the plain search, and how many texts hold the words."""

    def __init__(self, asked: Sequence[Sought]) -> None:
        self._said: dict[str, dict[str, None]] = {}
        for path in dict.fromkeys(each.within.path for each in asked):
            messages = open_session(path).messages()
            self._said[path] = dict.fromkeys(unspaced(drawn(m)) for _, m in messages if m.role != "system")

    def holding(self, each: Sought, everywhere: bool = False) -> list[str]:
        """The texts of the message's session, or of all, that hold the words, in the files' order."""
        texts = [text for kept in self._said.values() for text in kept] if everywhere else self._said[each.within.path]
        return [text for text in texts if each.query in text]

    def places(self, asked: Sequence[Sought], everywhere: bool) -> Iterator[tuple[Sought, int]]:
        """At which place each message's text stands among those that hold the words; 0 where it does not."""
        for each in asked:
            holding, meant = self.holding(each, everywhere), unspaced(each.text)
            yield each, holding.index(meant) + 1 if meant in holding else 0


def unspaced(text: str) -> str:
    """A text with single spaces between its words."""
    return " ".join(text.split())


def shares(found: Iterable[tuple[Sought, int]]) -> dict[str, tuple[int, ...]]:
    """How many messages were found among the first ones of each count, and how many were looked for, by kind."""
    counts: dict[str, Counter[int]] = {}
    for each, place in found:
        for kind in (each.kind, "all"):
            counts.setdefault(kind, Counter()).update([*(most for most in AMONG if 0 < place <= most), 0])
    return {kind: (*(count[most] for most in AMONG), count[0]) for kind, count in counts.items()}


def told(name: str, found: dict[str, tuple[int, ...]]) -> None:
    """Prints one table of shares."""
    print(f"\n{name:42}" + "".join(f"{f'first {most}':>10}" for most in AMONG) + f"{'of':>8}")
    for kind, (*among, of) in found.items():
        print(f"{kind:42}" + "".join(f"{n / of:>10.1%}" for n in among) + f"{of:>8}")


def main() -> None:
    """Prints the shares found by recall and by the control."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="where the recorded sessions are")
    parser.add_argument("--missed", action="store_true", help="print what is not among the first three")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, Index(f"{name}/recall.sqlite") as index:
        folder = Path(name)
        asked = [each for kind, path in sessions(folder, options.corpus) for each in sought(kind, path)]
        everywhere = list(dict.fromkeys(each.within for each in asked))
        texts = Texts(asked)
        told_apart = [each for each in asked if len(texts.holding(each)) <= 3]
        alone = list(places(index, asked, ()))
        told("recall in the session", shares(alone))
        told("… where 3 texts or fewer hold the words", {"all": shares(places(index, told_apart, ()))["all"]})
        told("recall in all sessions", {"all": shares(places(index, asked, everywhere))["all"]})
        told("plain search in the session", {"all": shares(texts.places(asked, False))["all"]})
        told("plain search in all sessions", {"all": shares(texts.places(asked, True))["all"]})
        for each, place in alone if options.missed else ():
            if not 0 < place <= 3:
                print(f"{each.kind} {each.id} at {place} of {len(texts.holding(each))}: {each.query!r}")


if __name__ == "__main__":
    main()
