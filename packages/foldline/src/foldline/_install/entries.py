"""One entry put into a settings file of somebody else's, as text: every other byte, comments too, stays as it is."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from typing import Any

from foldline._errors import ConfigError

_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[{}\[\],:]|[^\s{}\[\],:"'/]+""", re.DOTALL
)


def entry_in_json(text: str, keys: Sequence[str], value: Any, *, path: str) -> tuple[int, str]:
    """Where in JSON (comments and JSON5's spellings allowed) an entry goes, and its text; nothing where the key is taken.

    Raises `ConfigError` for a text that is no object.
    """
    tokens = [m for m in _TOKEN.finditer(text) if not m["comment"]]
    if not tokens or tokens[0].group() != "{":
        raise ConfigError("it is no JSON object; nothing was written", path=path)
    way: list[str] = []
    depth, at, empty = -1, 0, True
    for n, token in enumerate(tokens):
        said, behind = token.group(), tokens[n + 1].group() if n + 1 < len(tokens) else ""
        if said in "{[":
            if said == "{" and way == list(keys[: len(way)]) and depth < len(way) < len(keys):
                depth, at, empty = len(way), token.end(), behind == "}"
            way.append("")
        elif said in "}]":
            if not way:
                raise ConfigError("its brackets do not fit; nothing was written", path=path)
            way.pop()
        elif behind == ":" and way:
            way[-1] = said.strip("\"'")
            if way == list(keys):
                return 0, ""
            if way == list(keys[: len(way)]) and tokens[n + 2 : n + 3] and tokens[n + 2].group() != "{":
                raise ConfigError("it is no object; nothing was written", path=path, key=".".join(way))
    if way:
        raise ConfigError("its brackets do not fit; nothing was written", path=path)
    for key in reversed(keys[depth + 1 :]):
        value = {key: value}
    return at, f"\n  {json.dumps(keys[depth])}: {json.dumps(value)}" + ("\n" if empty else ",")


def entry_in_toml(text: str, keys: Sequence[str], value: dict[str, Any], *, path: str) -> tuple[int, str]:
    """The same for a table of TOML, which goes behind all that is there; its values are texts and lists of texts."""
    try:
        inner: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"it is no TOML: {error}; nothing was written", path=path) from error
    for key in keys:
        inner = inner.get(key) if isinstance(inner, dict) else None
    if inner is not None:
        return 0, ""
    lines = [f"[{'.'.join(keys)}]", *(f"{key} = {json.dumps(each)}" for key, each in value.items())]
    return len(text), ("\n" if text and not text.endswith("\n") else "") + "\n".join(["", *lines, ""])
