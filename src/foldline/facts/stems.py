"""The telling words of a text, cut so that those of one stem are one."""

from __future__ import annotations

import re

_WORD = re.compile(r"[a-z0-9à-ɏа-я][\w./-]{2,}|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{2,}")
_CJK = re.compile("[\u3040-\u9fff\uac00-\ud7af]")
_ENDING = re.compile("(?:하였|했|합|됐|되었)?(?:습니다|니다)$|(?:しました|した|します)$")
_FILLERS = (
    "the and for with that this from have has was were are not but you your they them their then than into about also"
    " should would could must will can may our its user users asked ask asks request requested requests wants want wanted"
    " said says told instructed approved approval confirmed agreed needs needed need like likes wish wishes explicitly"
    " which what when where who how all any some please agent assistant message messages be been being made make"
)
_EMPTY = frozenset(_FILLERS.split())


def stems(text: str) -> frozenset[str]:
    """The first letters of each telling word of a text in lower case; of scripts without spaces, pairs of characters."""
    words: set[str] = set()
    for word in _WORD.findall(text):
        if _CJK.match(word):
            word = _ENDING.sub("", word)
            words |= {word[i : i + 2] for i in range(len(word) - 1)}
        elif word not in _EMPTY:
            words.add(word.strip("./-")[:5])
    return frozenset(words)
