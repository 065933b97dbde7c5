"""Rules, bars, sizes and ages, in plain text."""

from __future__ import annotations

from datetime import UTC, datetime
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


@lru_cache(maxsize=1 << 10)
def _bar(eighths: int, width: int) -> str:
    full, rest = divmod(eighths, 8)
    drawn = "█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")
    return drawn + "░" * (width - len(drawn))


_CONTROLS = (
    {c: 0x2400 + c for c in range(32) if chr(c) not in "\n\t"}
    | {0x7F: 0x2421}
    | dict.fromkeys(range(0x80, 0xA0), 0xFFFD)
)


def visible(text: str) -> str:
    """The text with its control characters drawn, so that what a session holds does not steer the terminal."""
    return text if text.isprintable() else text.translate(_CONTROLS)


def tokens(n: int) -> str:
    """A number of tokens with its unit."""
    return f"{n:,} tokens"


def age(timestamp: str, *, now: datetime | None = None) -> str:
    """How long ago an ISO 8601 time was, in the largest unit that fits; empty where there is no such time."""
    try:
        then = datetime.fromisoformat(timestamp)
    except ValueError:
        return ""
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return ago(((now or datetime.now(UTC)) - then).total_seconds())


def ago(seconds: float) -> str:
    """A time that lies so far back, in the largest unit that fits."""
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size:
            n = int(seconds // size)
            return f"{n} {unit}{'s' if n > 1 else ''} ago"
    return "just now"
