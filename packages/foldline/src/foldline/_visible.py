"""What a session holds as a terminal may show it."""

from __future__ import annotations

_DRAWN = {c: 0x2400 + c for c in range(32) if chr(c) not in "\n\t"} | {0x7F: 0x2421}
_STEERING = (
    *range(0x80, 0xA0), 0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A), *range(0xD800, 0xE000),
)  # fmt: skip
"""Second control characters, separators of lines, marks of direction, and halves of characters."""
_VISIBLE = _DRAWN | dict.fromkeys(_STEERING, 0xFFFD)
_HALVES = dict.fromkeys(range(0xD800, 0xE000), 0xFFFD)


def visible(text: str) -> str:
    """The text with what steers a terminal drawn or replaced: controls, marks of direction, halves of characters."""
    return text if text.isprintable() else text.translate(_VISIBLE)


def mended(text: str) -> str:
    """The text with a mark for each half of a character, as which the bytes of an argument stand that are no UTF-8."""
    return text if text.isascii() else text.translate(_HALVES)
