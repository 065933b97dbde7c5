"""Exact token counts of OpenAI's models, where tiktoken and its vocabulary are on this machine."""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from typing import Any

from foldline._patterns import pattern

__all__ = ["exact"]

RUN = 4096
"""Longest run without a space, or of spaces, that is counted in one piece: tiktoken 0.14 panics on a million spaces,
and takes 4 s for a million underscores."""

# a run is looked at from its start only, else one just too short would take time by its square
_RUNS = pattern(rf"(?<!\s)\s{{{RUN},}}|(?<!\S)\S{{{RUN},}}")
_SURROGATES = pattern("[\ud800-\udfff]")
_VOCABULARIES = {
    "o200k_base": (
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "cl100k_base": (
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
}
"""The names of the vocabularies in tiktoken's cache and the SHA-256 that it expects of them (tiktoken 0.14)."""


def exact(text: str, encoding: str = "o200k_base") -> int | None:
    """Tokens of `text`, or None where tiktoken, its vocabulary or a count of this text is not to be had.

    Nothing is downloaded. Special tokens that the text spells out are counted as the text they are; a lone surrogate
    counts as the replacement character, and a run above `RUN` characters in pieces, which may be a token off for each.
    """
    coder = _coder(encoding)
    if coder is None:
        return None
    try:
        return sum(len(coder.encode_ordinary(piece)) for piece in _pieces(_SURROGATES.sub("\ufffd", text)))
    except BaseException as error:
        # pyo3's PanicException is no Exception, and has no importable name
        if type(error).__name__ != "PanicException":
            raise
        return None


def _pieces(text: str) -> list[str]:
    """The text cut inside its long runs, so that no piece is dear or deadly."""
    edges = [0]
    for run in _RUNS.finditer(text):
        edges.extend(range(run.start() + RUN, run.end(), RUN))
    return [text[start:end] for start, end in zip(edges, [*edges[1:], len(text)])]


@cache
def _coder(encoding: str) -> Any:
    if encoding not in _VOCABULARIES or not _at_hand(*_VOCABULARIES[encoding]):
        return None
    try:
        return import_module("tiktoken").get_encoding(encoding)
    except ImportError:
        return None


def _at_hand(name: str, digest: str) -> bool:
    """Whether tiktoken would find the vocabulary in its cache instead of fetching it."""
    import hashlib
    import tempfile  # which loads every compression there is

    places = (os.environ.get("TIKTOKEN_CACHE_DIR"), os.environ.get("DATA_GYM_CACHE_DIR"))
    usual = os.path.join(tempfile.gettempdir(), "data-gym-cache")
    folder = next((place for place in places if place is not None), usual)
    try:
        with open(os.path.join(folder, name), "rb") as file:
            return bool(folder) and hashlib.sha256(file.read()).hexdigest() == digest
    except OSError:
        return False
