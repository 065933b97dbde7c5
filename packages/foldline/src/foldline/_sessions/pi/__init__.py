"""The append-only log: sessions in the dialect that pi and OpenClaw write, and foldline as its own."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from foldline._sessions.format import STRING, About, SessionFormat, StoreFolder, folder, later, said

PI = "pi"

_START = re.compile(rb'\s*\{(?=[^\n]*"type"\s*:\s*"session")(?=[^\n]*"(?:id|timestamp|cwd)"\s*:)')
_RECORD = re.compile(
    rb'(?m)[{,]\s*"type"\s*:\s*"(?:model_change|thinking_level_change|compaction)"'
    rb'|^(?=[^\n]*[{,]\s*"type"\s*:\s*"message")[^\n]*[{,]\s*"message"\s*:\s*\{'
)
"""What records say of their kind; others' rows of type "message" have none in them."""

_ITEM = re.compile(rb'[{,]\s*"type"\s*:\s*"(?:input_text|output_text|function_call|reasoning)"')
"""What items of OpenAI's responses say, which have rows of type "message" as well."""


_NAMED = re.compile(rb'"type"\s*:\s*"session_info"[^\n]*?"name' + STRING)


def _stores(environment: Mapping[str, str]) -> Iterator[StoreFolder]:
    yield StoreFolder(folder(environment, "PI_CODING_AGENT_DIR", ".pi/agent") / "sessions", "*/*.jsonl")


def folder_of(cwd: str) -> Path:
    """Where pi keeps the sessions of a working directory."""
    store = next(_stores(os.environ)).folder
    safe = os.path.abspath(cwd or ".").removeprefix("/").replace("/", "-").replace("\\", "-").replace(":", "-")
    return store / f"--{safe}--"


def _about(path: str, ends: bytes, about: About) -> About:
    named = _NAMED.findall(ends) if b"session_info" in ends else ()
    return about._replace(title=said(named[-1])) if named else about


FORMAT = SessionFormat(
    PI,
    lambda head, path: bool(_START.match(head)),
    open=later("pi.log", "Session"),
    stores=_stores,
    overhead=9_000,
    tail=later("pi.dialect", "tail"),
    follow=later("pi.log", "follow"),
    about=_about,
    program=("pi", "pi-coding-agent"),
    holds_open=False,
    says_session="PI_SESSION_ID",
)

HEADLESS = FORMAT._replace(recognizes=lambda head, path: bool(_RECORD.search(head)) and not _ITEM.search(head))
"""Logs whose header is gone, known by records that stand in files of others, too."""
