"""Messages as the providers' libraries hand them out: read as the plain data that they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from foldline._errors import WireError
from foldline._messages import Message

_ATOMS = frozenset((str, int, float, bool, bytes, type(None)))


class _NoData(Exception):
    """What stands at a path is no data; the path grows as it is passed on."""

    def __init__(self, value: object) -> None:
        super().__init__()
        self.value = value
        self.path: list[str] = []


def as_data(items: Iterable[Any], first: int = 0) -> list[Any]:
    """The items of a history as plain data, each the very same where it is that already; a `Message` stays one.

    `first` is the place of the first in its history. Objects of a provider's library are read as what they dump to, at
    any depth. Raises `WireError` with the place of what can be neither sent nor dumped.
    """
    try:
        return [item if _is_data(item) else _read(item, place) for place, item in enumerate(items, first)]
    except RecursionError:
        return list(items)


def _is_data(value: Any) -> bool:
    kind = type(value)
    if kind is dict:
        value = value.values()
    elif kind is not list and kind is not tuple:
        return kind in _ATOMS
    return _ATOMS.issuperset(map(type, value)) or all(map(_is_data, value))


def _read(item: Any, place: int) -> Any:
    try:
        return item if isinstance(item, Message) else _data(item)
    except _NoData as found:
        where = f"messages[{place}]" + "".join(reversed(found.path))
        raise WireError(_problem(found.value), format="", where=where) from None


def _problem(value: object) -> str:
    kind = type(value)
    return (
        f"a {kind.__module__}.{kind.__qualname__} is neither data nor an object that says what it stands for; "
        "append the message as a dict, or as the provider's library hands it out"
    )


def _data(value: Any) -> Any:
    if _is_data(value):
        return value
    kind = type(value)
    if kind is dict:
        return {key: _inside(each, f".{key}") for key, each in value.items()}
    if kind is list or kind is tuple:
        return [_inside(each, f"[{i}]") for i, each in enumerate(value)]
    if isinstance(value, Mapping):
        return _data({**value})
    return value if isinstance(value, (str, int, float, bytes)) else _data(_dumped(value))


def _inside(value: Any, step: str) -> Any:
    try:
        return _data(value)
    except _NoData as found:
        found.path.append(step)
        raise


def _dumped(value: Any) -> Any:
    """What an object stands for: a pydantic model, a record of msgspec, attrs or dataclasses, a protocol buffer."""
    kind = type(value)
    if isinstance(value, type):
        raise _NoData(value)
    if callable(dump := getattr(value, "model_dump", None)):
        return _model(value, dump)
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value, builtin_types=(bytes,))
    if fields := getattr(kind, "__attrs_attrs__", None):
        return _stated({field.name: getattr(value, field.name, None) for field in fields})
    if fields := getattr(kind, "__dataclass_fields__", None):
        return _stated({name: getattr(value, name, None) for name in fields})
    if callable(dump := getattr(value, "to_dict", None)):
        return _called(lambda: dump(), lambda: kind.to_dict(value), value=value)
    raise _NoData(value)


def _model(value: Any, dump: Any) -> Any:
    """A pydantic model as its library sends it: by the wire's names, without what is not set or never sent."""
    never = getattr(value, "__api_exclude__", None)
    return _called(
        lambda: _all_data(dump(by_alias=True, exclude_none=True, exclude=never, warnings=False)),
        lambda: dump(mode="json", by_alias=True, exclude_none=True),
        lambda: dump(),
        value=value,
    )


def _all_data(given: Any) -> Any:
    """The dump where it is data throughout; one with dates and the like is made as JSON instead."""
    return _data(given) if isinstance(given, (dict, list, str)) else None


def _called(*ways: Any, value: object) -> Any:
    """What the first way gives that works; what stands for another object in turn stands for nothing."""
    for way in ways:
        try:
            given = way()
        except RecursionError:
            raise
        except Exception:  # noqa: BLE001 - a foreign library's; the next way is tried, and the last says so
            continue
        if isinstance(given, (dict, list, str)):
            return given
    raise _NoData(value)


def _stated(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
