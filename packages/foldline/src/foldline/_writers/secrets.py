"""Keys that a server's error echoes: they are taken out of what is told of a failure."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from foldline._patterns import pattern

LEAST = 8
"""Characters of the shortest value that is taken for a secret."""

HIDDEN = "[key]"

_NAMES = pattern(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
"""Names of variables in the environment that hold secrets."""

_SHAPES = pattern(
    r"\b(?:sk|pk|rk|gsk|xai|r8|hf|ghp|gho|ghs|glpat|github_pat|xox[abprs]|pplx|nvapi)[-_][A-Za-z0-9][-_A-Za-z0-9]{11,}"
    r"|\bAIza[-_A-Za-z0-9]{20,}|\bAKIA[A-Z0-9]{12,}|\beyJ[-_A-Za-z0-9]{10,}\.[-_.A-Za-z0-9]{10,}"
    r"|(?<=[Bb]earer )[^\s\"',;]{8,}|(?<=[?&]key=)[^\s&\"']{8,}"
    r"|(?<=[Aa][Pp][Ii][-_ ][Kk][Ee][Yy]: )[^\s\"',;]{8,}"
)
"""How the keys of known services look, and what stands where a request carries its key."""


def without_keys(text: str, keys: Iterable[str] = ()) -> str:
    """A text without the keys in it: those that are named, those of this process's environment, and what looks like one."""
    held = (value for name, value in os.environ.items() if _NAMES.search(name))
    known = {value for value in (*keys, *held) if len(value) >= LEAST}
    for value in sorted(known, key=len, reverse=True):
        text = text.replace(value, HIDDEN)
    return _SHAPES.sub(HIDDEN, text)
