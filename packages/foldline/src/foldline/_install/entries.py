"""One entry put into a settings file of somebody else's, as text: every other byte, comments too, stays as it is.

What comes of it is read before it is answered, and has to say what the file said, and the entry.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Sequence
from typing import Any

from foldline._errors import ConfigError
from foldline._install.writing import WAY_OUT

_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|"(?:[^"\\]|\\.)*"|(?P<single>'(?:[^'\\]|\\.)*')|[{}\[\],:]|[^\s{}\[\],:"'/]+""",
    re.DOTALL,
)

_JSON5 = re.compile(
    r"""(?P<json>"(?:[^"\\]|\\.)*")|(?P<last>,)(?=\s*[}\]])|(?P<key>[^\s{}\[\],:"]+)(?=\s*:)"""
    r"""|(?P<number>[+-]?(?:0[xX][\da-fA-F]+|\d*\.?\d+\.?(?:[eE][+-]?\d+)?|Infinity|NaN))(?![^\s}\],])|[^\s{}\[\],:"]+""",
    re.DOTALL,
)


def entry_in_json(text: str, keys: Sequence[str], value: Any, *, path: str) -> tuple[int, str]:
    """Where in JSON (comments and JSON5's spellings allowed) an entry goes, and its text; nothing where the key is taken.

    Raises `ConfigError` for a text that is no object, and where the entry cannot be put in.
    """
    data = _read(_from_json, text, "JSON", path)
    if _taken(data, keys, path):
        return 0, ""
    depth, at, empty = _innermost(text, keys)
    inner = value
    for key in reversed(keys[depth + 1 :]):
        inner = {key: inner}
    inserted = f"\n  {json.dumps(keys[depth])}: {json.dumps(inner)}" + ("\n" if empty else ",")
    return _proven(_from_json, text, (at, inserted), keys, value, path)


def entry_in_toml(text: str, keys: Sequence[str], value: dict[str, Any], *, path: str) -> tuple[int, str]:
    """The same for a table of TOML, which goes behind all that is there, or into the inline table that its parent is.

    Its values are texts and lists of texts, and its keys are two.
    """
    data = _read(_from_toml, text, "TOML", path)
    if _taken(data, keys, path):
        return 0, ""
    lines = [f"{key} = {json.dumps(each)}" for key, each in value.items()]
    if inline := re.search(rf"""^[ \t]*["']?{re.escape(keys[0])}["']?[ \t]*=[ \t]*\{{""", text, re.MULTILINE):
        at, inserted = inline.end(), f"{keys[1]} = {{{', '.join(lines)}}}" + (", " if data.get(keys[0]) else "")
    else:
        table = "\n".join(["", f"[{'.'.join(keys)}]", *lines, ""])
        at, inserted = len(text), ("\n" if text and not text.endswith("\n") else "") + table
    return _proven(_from_toml, text, (at, inserted), keys, value, path)


def is_readable(data: bytes, *, path: str) -> bool:
    """Whether a settings file says anything: TOML by its name, else JSON."""
    try:
        (_from_toml if path.endswith(".toml") else _from_json)(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return False
    return True


def _read(reader: Callable[[str], Any], text: str, kind: str, path: str) -> Any:
    try:
        return reader(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"it is no {kind}: {error}; {WAY_OUT}", path=path) from error


def _taken(data: Any, keys: Sequence[str], path: str) -> bool:
    """Whether there is something at the keys; raises `ConfigError` where nothing can be put there."""
    for n, key in enumerate(keys):
        if not isinstance(data, dict):
            raise ConfigError(f"it is no object; {WAY_OUT}", path=path, key=".".join(keys[:n]))
        if key not in data:
            return False
        data = data[key]
    return True


def _innermost(text: str, keys: Sequence[str]) -> tuple[int, int, bool]:
    """Of the objects on the way to the keys that are there the innermost: its depth, where it opens, whether it is empty."""
    tokens = [m for m in _TOKEN.finditer(text) if not m["comment"]]
    way: list[str] = []
    depth, at, empty = -1, 0, True
    for n, token in enumerate(tokens):
        said, behind = token.group(), tokens[n + 1].group() if n + 1 < len(tokens) else ""
        if said in "{[":
            if said == "{" and way == list(keys[: len(way)]) and depth < len(way) < len(keys):
                depth, at, empty = len(way), token.end(), behind == "}"
            way.append("")
        elif said in "}]":
            way.pop()
        elif behind == ":":
            way[-1] = said.strip("\"'")
    return depth, at, empty


def _proven(
    reader: Callable[[str], Any], text: str, entry: tuple[int, str], keys: Sequence[str], value: Any, path: str
) -> tuple[int, str]:
    """The entry again, where the text with it says what the text says, and the value at the keys."""
    at, inserted = entry
    meant = inner = reader(text)
    for key in keys[:-1]:
        inner = inner.setdefault(key, {})
    inner[keys[-1]] = _from_json(json.dumps(value))
    try:
        if reader(text[:at] + inserted + text[at:]) == meant:
            return entry
    except ValueError:
        pass
    why = f"it is written in a way that nothing can be added to; put it in by hand: {json.dumps(value)}"
    raise ConfigError(why, path=path, key=".".join(keys))


def _from_toml(text: str) -> Any:
    """What TOML says; numbers with a fraction are told as texts, since one that is none is not equal to itself."""
    return tomllib.loads(text, parse_float=str)


def _from_json(text: str) -> Any:
    """What JSON says that may be spelled as JSON5; numbers are told as texts."""
    plain = _TOKEN.sub(_without_comment, text)
    return json.loads(_JSON5.sub(_spelled_out, plain))


def _without_comment(token: re.Match[str]) -> str:
    if token["comment"]:
        return re.sub(r"[^\n]", " ", token.group())
    return json.dumps(token.group()[1:-1]) if token["single"] else token.group()


def _spelled_out(word: re.Match[str]) -> str:
    if word["key"] or word["number"]:
        return json.dumps(word.group())
    return " " if word["last"] else word.group()
