"""How long ago something was, in the words that every command and every answer uses."""

from __future__ import annotations

from datetime import UTC, datetime


def age(timestamp: str) -> str:
    """How long ago an ISO 8601 time was, in UTC where it names no zone; empty where there is no such time."""
    try:
        then = datetime.fromisoformat(timestamp)
    except ValueError:
        return ""
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return ago((datetime.now(UTC) - then).total_seconds())


def ago(seconds: float) -> str:
    """A time that lies so far back, in the largest unit that fits."""
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size:
            n = int(seconds // size)
            return f"{n} {unit}{'s' if n > 1 else ''} ago"
    return "just now"
