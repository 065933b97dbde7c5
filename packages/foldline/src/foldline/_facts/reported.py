"""What a sentence of an agent's report tells, as labelled reports of its language teach: what is open or wrong, what was decided, or
nothing of the work."""

from __future__ import annotations

import re
from functools import lru_cache

from foldline._facts.learned import learned
from foldline._facts.rules import LONGEST, normal
from foldline._facts.types import LEFT, Telling

KINDS: tuple[Telling, ...] = ("done", "open", "error", "decided", "talk")
"""What is learned of a sentence; the first is any other."""

SURE = 0.6
"""How likely a sentence has to tell something to be taken for it; what is `LEFT` is one for this."""

TICKED = re.compile(r"(?:[^\n:]{0,60}: )?(?:[✅✓✔☑]|\[[xX]\])")
"""How an item begins that is done or fine, whatever list it stands in."""


@lru_cache(maxsize=8_192)
def tells(sentence: str, language: str) -> Telling:
    """What a sentence tells most likely: something `open`, an `error`, something `decided`, `talk`; `done` where it is another thing,
    and empty where that is not sure."""
    known = learned("agent", language)
    if known is None or len(sentence) > LONGEST or _is_torn(sentence):
        return ""
    shares = known.shares(normal(sentence))
    if sum(shares[kind] for kind in LEFT) >= SURE and not TICKED.match(sentence):
        return max(LEFT, key=lambda kind: shares[kind])
    likely: Telling = max(KINDS, key=lambda kind: shares[kind])
    return likely if shares[likely] >= SURE else ""


def _is_torn(sentence: str) -> bool:
    """Whether a quotation begins or ends in a sentence that has only a part of it: what that says is somebody else's."""
    return sentence.count('"') % 2 == 1 or sentence.count("“") != sentence.count("”")
