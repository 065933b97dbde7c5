"""Logs whose header is gone, known by records that stand in files of others, too."""

from __future__ import annotations

import re

from foldline._sessions import pi

_ROW = re.compile(rb'[{,]\s*"type"\s*:\s*"(?:message|model_change|thinking_level_change|compaction)"')
_ITEM = re.compile(rb'[{,]\s*"type"\s*:\s*"(?:input_text|output_text|function_call|reasoning)"')
"""What items of OpenAI's responses say, which have rows of type "message" as well."""


def _recognizes(head: bytes, path: str) -> bool:
    return bool(_ROW.search(head)) and not _ITEM.search(head)


FORMAT = pi.FORMAT._replace(recognizes=_recognizes)
