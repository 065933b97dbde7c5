"""Rules."""

from __future__ import annotations


def rules_in(message: str) -> list[tuple[str, str]]:
    return []
