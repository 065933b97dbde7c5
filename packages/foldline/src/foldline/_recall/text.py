"""Text as it is indexed, asked for and shown: scripts without spaces are split into pairs of characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

import msgspec

from foldline._messages import Message, Part, Summary, Text, Thinking, ToolCall, ToolResult

LONGEST_QUERY = 4_000
"""Characters of a query that are read."""

MOST_WORDS = 32
"""Words of a query that are looked up."""

WIDTH = 200
"""Characters of a snippet."""

SEARCHED = 200_000
"""Characters of a message in which the best place for a snippet is looked for."""

_CJK = re.compile(
    "[\u1100-\u11ff\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u312f\u3131-\u318f\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]+"
)
_WORD = re.compile(r'"([^"]*)"?|([^\s"]+)')
_LETTER = re.compile(r"\w")
_ESCAPES = re.compile(r'\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4})')
_PIECE = re.compile(r"\w+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+|\s+")


def words_of(message: Message) -> str:
    """What a message says to a reader, as it is shown: text, thinking, calls with their arguments, and tools' answers."""
    return encodable("\n".join(_words(message.parts)))


def _words(parts: Sequence[Part]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Text | Thinking | Summary):
            yield part.text
        elif type(part) is ToolResult:
            yield from _words(part.parts)
        elif type(part) is ToolCall:
            yield f"[calls {part.name} {_arguments(part.arguments)}]"


def _arguments(text: str) -> str:
    """Arguments as they stand; decoded where an escaped newline would run into the word behind it."""
    if "\\" not in text:
        return text
    try:
        return " ".join(_strings(msgspec.json.decode(text)))
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return text


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield f"{key}:"
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif value is not None:
        yield str(value)


def encodable(text: str) -> str:
    """The text without what no database takes: lone surrogates and NULs."""
    if "\0" in text:
        text = text.replace("\0", " ")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text


def indexed(text: str) -> str:
    """The text as the index takes it: each run of CJK characters as its pairs, and its last character alone."""
    if text.isascii() or not _CJK.search(text):
        return text
    return _CJK.sub(_as_pairs, unicodedata.normalize("NFKC", text))


def _as_pairs(match: re.Match[str]) -> str:
    run = match[0]
    return f" {' '.join(map(''.join, pairwise(run)))} {run[-1]} "


def asked(query: str) -> list[str]:
    """The words of a query, each once; what stands in quotes is one word, and what holds no letter or digit is none."""
    found = (quoted or plain for quoted, plain in _WORD.findall(encodable(query[:LONGEST_QUERY])))
    return list(islice(dict.fromkeys(word for word in found if _LETTER.search(word)), MOST_WORDS))


def pieces(words: Sequence[str]) -> list[str]:
    """The words without what joins them: "src/view.py" is three."""
    return list(islice(dict.fromkeys(piece for word in words for piece in _PIECE.findall(word)), MOST_WORDS))


def unescaped(query: str) -> str:
    """The query as it reads where it was copied out of JSON, where a line break is written `\\n`."""
    return _ESCAPES.sub(lambda found: msgspec.json.decode(f'"{found[0]}"'), query)


def runs(query: str) -> list[str]:
    """Each three words of a query in a row, as phrases; of a script without spaces, each four characters."""
    words = list(islice(_PIECE.findall(indexed(encodable(query))), MOST_WORDS))
    return [f'"{" ".join(words[at : at + 3])}"' for at in range(len(words) - 2)]


def phrase(word: str, *, starts: bool = False) -> str:
    """A word in the index's own language, where nothing in it has a meaning of its own; `starts` finds longer words, too."""
    if not word.isascii() and _CJK.search(word):
        word = unicodedata.normalize("NFKC", word).rstrip()
        last = next((run for run in _CJK.findall(word) if word.endswith(run)), "")
        word = indexed(word).strip()
        starts = starts or len(last) == 1
        if len(last) > 1:
            word = word[: -len(last[-1])].rstrip()
    quoted = word.replace('"', '""')
    return f'"{quoted}" *' if starts else f'"{quoted}"'


def snippet(text: str, words: Sequence[str]) -> str:
    """The stretch of a text, on one line, where most of the words stand."""
    head = text[:SEARCHED]
    pattern = re.compile("|".join(re.escape(w) for w in sorted(words, key=len, reverse=True)) or "(?!)", re.IGNORECASE)
    found = [(m.start(), m[0].casefold()) for m in islice(pattern.finditer(head), 200)]
    best, most = 0, 0
    for i, (start, _) in enumerate(found):
        within = {word for at, word in found[i:] if at < start + WIDTH * 3 // 4}
        if len(within) > most:
            best, most = start, len(within)
    start = max(0, best - WIDTH // 4)
    cut = text[start : start + WIDTH]
    return ("…" if start else "") + unbroken(cut).strip() + ("…" if start + WIDTH < len(text) else "")


def unbroken(text: str) -> str:
    """The text without line breaks and without characters that steer a terminal."""
    return _CONTROL.sub(" ", text)
