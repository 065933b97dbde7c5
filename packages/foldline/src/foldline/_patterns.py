"""Patterns that few sessions meet, compiled where one first does: to compile all of them takes longer than a small fold."""

from __future__ import annotations

import re
from typing import Any, cast


def pattern(regex: str, flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` answers, which is compiled once something of it is asked for."""
    return cast("re.Pattern[str]", _Unmet(regex, flags))


class _Unmet:
    def __init__(self, regex: str, flags: int) -> None:
        self._said = regex, flags

    def __getattr__(self, name: str) -> Any:
        """Called for what is not there yet, which is kept: from then on it costs no more than the pattern's own."""
        found = getattr(re.compile(*self._said), name)
        setattr(self, name, found)
        return found
