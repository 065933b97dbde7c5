"""What a sentence of an agent's report tells, as labelled reports of its language teach: what is open or wrong, what was decided or
found, what was done, or nothing."""

from __future__ import annotations

import re
from functools import lru_cache

from foldline._facts.language import language_of
from foldline._facts.learned import learned
from foldline._facts.rules import normal

SURE = 0.5
"""How likely a sentence has to tell something to be taken for it; what is open and what is wrong is one for this, as both are left."""

TICKED = re.compile(r"(?:[^\n:]{0,60}: )?(?:[✅✓✔☑]|\[[xX]\])")
"""How an item begins that is done or fine, whatever list it stands in."""

_LONGEST = 640
"""Characters of a sentence; what is longer is none."""


@lru_cache(maxsize=8_192)
def tells(sentence: str) -> str:
    """What a sentence tells most likely: something `done`, `open`, an `error`, `decided`, `found`, an `ask`, an `offer`, a `head` over
    others, `talk`; empty where that is not sure."""
    known = learned("agent", language_of(sentence))
    if known is None or len(sentence) > _LONGEST or _is_torn(sentence):
        return ""
    shares = known.shares(normal(sentence))
    left = shares["open"] + shares["error"]
    if left >= SURE:
        return "open" if shares["open"] >= shares["error"] else "error"
    likely = max(shares, key=lambda kind: shares[kind])
    return likely if shares[likely] >= SURE else ""


def _is_torn(sentence: str) -> bool:
    """Whether a quotation begins or ends in a sentence that has only a part of it: what that says is somebody else's."""
    return sentence.count('"') % 2 == 1 or sentence.count("“") != sentence.count("”")


def is_left(sentence: str) -> bool:
    """Whether a sentence tells of something that is to be done or mended yet."""
    return tells(sentence) in ("open", "error") and not TICKED.match(sentence)
