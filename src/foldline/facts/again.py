"""Whether something is said again: half of the words that tell something in it are."""

from __future__ import annotations

import re
from functools import lru_cache

_WIDE = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[^\W_{_WIDE}][\w./-]{{2,}}\w")
_PAIR = re.compile(rf"(?=([{_WIDE}]{{2}}))")
"""Of Chinese, Japanese and Korean, which have short words, any two letters that follow each other."""


def said_again(text: str, later: str) -> bool:
    """Whether a later text says again what a text says; what has no word that tells something is never said again."""
    telling = _telling(text)
    return bool(telling) and 2 * len(telling & _telling(later)) >= len(telling)


@lru_cache(maxsize=4_096)
def _telling(text: str) -> frozenset[str]:
    return frozenset((*_WORD.findall(text.lower()), *_PAIR.findall(text)))
