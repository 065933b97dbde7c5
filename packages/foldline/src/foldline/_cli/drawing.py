"""Rules, bars and sizes, in plain text."""

from __future__ import annotations

from functools import lru_cache

RULE = "━" * 42


def title(text: str) -> str:
    """A heading over a rule."""
    return f"{text}\n{RULE}"


def row(label: str, value: str, *, width: int = 21) -> str:
    """A label and its value in columns."""
    return f"{label + ':':<{width}}{value}"


def bar(share: float, *, width: int = 24) -> str:
    """A share between 0 and 1 as a bar; more than 1 is drawn full."""
    return _bar(round(max(0.0, min(1.0, share)) * width * 8), width)


def percent(share: float) -> str:
    """A share as whole percents; beyond ten times the whole the figure says nothing more."""
    return f"{share:.0%}" if share < 10 else ">999%"


@lru_cache(maxsize=1 << 10)
def _bar(eighths: int, width: int) -> str:
    full, rest = divmod(eighths, 8)
    drawn = "█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")
    return drawn + "░" * (width - len(drawn))


def tokens(n: int) -> str:
    """A number of tokens with its unit."""
    return f"{n:,} tokens"


def counted(n: int, what: str) -> str:
    """A number of things, in the singular where it is one."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"
