"""Files that people write, decoded strictly: what is wrong in one is named with its place, its key and the cure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from os import PathLike, fspath
from os.path import exists, isfile, splitext
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from foldline._errors import ConfigError
from foldline._offered import meant
from foldline._patterns import pattern

S = TypeVar("S", bound=Struct)

SUFFIXES = (".toml", ".yaml", ".yml", ".json")
"""How the names of the files end that can be read."""


def read_table(path: str | PathLike[str]) -> dict[str, Any]:
    """The table of keys in a file, by its suffix; raises `ConfigError` where it cannot be read."""
    path = fspath(path)
    suffix = splitext(path)[1]
    if exists(path) and not isfile(path):
        raise ConfigError("cannot be read: no plain file", path=path)
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if suffix in (".yaml", ".yml"):
            value = msgspec.yaml.decode(text)
        elif suffix == ".json":
            value = json.loads(text)
        else:
            import tomllib

            value = tomllib.loads(text)
    except ImportError:
        raise ConfigError("YAML needs the package pyyaml; TOML and JSON need nothing", path=path) from None
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", path=path) from error
    except (ValueError, RecursionError, msgspec.DecodeError) as error:
        raise ConfigError(f"cannot be read: {error}", path=path) from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigError("it must be a table of keys", path=path)
    return value


def converted(data: Mapping[str, object], kind: type[S], path: str, under: str = "", *, strict: bool = True) -> S:
    """Data as a struct; raises `ConfigError` with the path and the key, which stands under `under`."""
    try:
        return msgspec.convert(data, kind, strict=strict)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at `$")
        place = place.strip(".`")
        key, why = _explained(what, place, kind)
        raise ConfigError(why, path=path, key=".".join(filter(None, (under, key)))) from None


def _explained(what: str, place: str, kind: type[Struct]) -> tuple[str, str]:
    """The key that is to blame, and why, in words for who wrote it."""
    if found := _UNKNOWN.search(what):
        return _inside(place, found[1]), f"no such key{meant(found[1], _keys(kind, place))}"
    if found := _MISSING.search(what):
        return _inside(place, found[1]), "is missing"
    if found := _TYPES.search(what):
        wanted = (_KINDS.get(kind, kind) for kind in found[1].split(" | ") if kind != "null")
        return place, f"must be {' or '.join(wanted)}, not {_KINDS.get(found[2], found[2])}"
    if found := _LIMITS.search(what):
        return place, f"must be {_KINDS.get(found[1], found[1])} {found[2]}"
    return place, what


def _inside(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


_UNKNOWN = pattern("unknown field `(.+)`")
_MISSING = pattern("missing required field `(.+)`")
_TYPES = pattern(r"Expected `([\w |]+)`, got `(\w+)`")
_LIMITS = pattern(r"Expected `(\w+)(?: \| null)?` (.+)")

_KINDS = {
    "str": "text", "int": "a whole number", "float": "a number", "bool": "true or false", "object": "a table of keys",
    "array": "a list", "null": "nothing",
}  # fmt: skip
"""The types of values as messages name them."""


def _keys(kind: type[Struct], place: str) -> list[str]:
    """The keys that the table at a place in such data may have."""
    found: object = msgspec.inspect.type_info(kind)
    for step in re.findall(r"[^.\[\]]+", place):
        fields = {field.encode_name: field.type for field in getattr(found, "fields", ())}
        found = fields.get(step) or getattr(found, "item_type", None)
        found = next((each for each in getattr(found, "types", ()) if hasattr(each, "fields")), found)
    return [field.encode_name for field in getattr(found, "fields", ())]
