"""The tokenizers that the estimator has tables for."""

from __future__ import annotations

from pkgutil import get_data

__all__ = ["EDGE", "FAMILIES", "place", "read_table"]

FAMILIES = ("o200k", "claude3", "claude4.7", "gemma", "llama", "qwen", "deepseek", "mistral", "glm", "kimi", "cl100k")
"""OpenAI, Claude before and from 4.7, Gemini, those of the open models, and OpenAI up to GPT-4 Turbo."""

EDGE = b"\xff"
"""What stands around a text in the estimator's windows: a byte that UTF-8 has no use for."""


def place(family: str) -> int:
    """The place of `family` in the files of tables.

    Raises:
        ValueError: it has none.
    """
    if family not in FAMILIES:
        raise ValueError(f"no tokenizer family {family!r}; there are {', '.join(FAMILIES)}")
    return FAMILIES.index(family)


def read_table(name: str) -> bytes:
    """A file of tables as `scripts/train_estimator.py` made it."""
    return get_data(__package__, name) or b""
