"""Tokens of texts, estimated from their bytes by tables that `scripts/train_estimator.py` makes.

A token ends after a byte or it does not, and the bytes around it tell how likely that is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from foldline._tokens.families import FAMILIES, place
from foldline._tokens.long_texts import long_tokens
from foldline._tokens.short_texts import LONGEST, short_tokens

__all__ = ["FAMILIES", "estimate", "estimate_all"]

REMEMBERED = 1 << 16
"""Texts whose figures are kept; names, paths, lines and whole messages come again and again."""

Key = tuple[int, int, str]
_figures: dict[Key, int] = {}


def estimate(text: str, family: str = "o200k") -> int:
    """Tokens of `text` in the tokenizer of `family`, about; 0 only for the empty text, and never more than it has bytes.

    Raises:
        ValueError: no table for `family`.
    """
    figure = _figures.get(_key(text, family))
    return estimate_all((text,), family)[0] if figure is None else figure


def estimate_all(texts: Sequence[str], family: str = "o200k") -> list[int]:
    """The figures that `estimate` has for each of the texts; many at once take a fraction of the time.

    Raises:
        ValueError: no table for `family`.
    """
    global _figures
    place(family)
    figures = _figures if len(_figures) < REMEMBERED else {}
    keys = [_key(text, family) for text in texts]
    figures.update(_count({key: text for key, text in zip(keys, texts) if key not in figures}, family))
    _figures = figures
    return [figures[key] for key in keys]


def _key(text: str, family: str) -> Key:
    """What a text is remembered by: its hash has 64 bits and a secret of the process, and a string keeps its own."""
    return hash(text), len(text), family


def _count(texts: dict[Key, str], family: str) -> Iterator[tuple[Key, int]]:
    plain: dict[Key, bytes] = {}
    other: dict[Key, bytes] = {}
    long: dict[Key, bytes] = {}
    for key, text in texts.items():
        raw = text.encode("utf-8", "surrogatepass")
        # a character above ASCII has more bytes than one
        group = long if len(raw) > LONGEST else plain if 8 * (len(raw) - len(text)) < len(raw) else other
        group[key] = raw
    counted = (
        (plain, short_tokens(plain.values(), family, plain=True)),
        (other, short_tokens(other.values(), family, plain=False)),
        (long, long_tokens(long.values(), family)),
    )
    for group, tokens in counted:
        for (key, raw), figure in zip(group.items(), tokens):
            yield key, max(1, min(len(raw), round(figure))) if raw else 0
