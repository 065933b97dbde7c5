"""Clients like another: of a class made from its class, in which some methods are others."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any


def twin(thing: Any, attributes: Mapping[str, Any]) -> Any:
    """An object that is as another one is and shares all that it holds, but for the attributes of its class that are given.

    It closes nothing when it is let go of, and keeps the other one from being let go of before. The attributes should hold
    no object: a class is let go of late, and what it holds is then closed in any order.
    """
    if isinstance(thing, ModuleType):
        return _Module(thing, attributes)
    kind = type(thing)
    own = {"__module__": kind.__module__, "__del__": lambda self: None}
    other: Any = object.__new__(type(kind.__name__, (kind,), own | {**attributes}))
    other.__dict__.update(thing.__dict__, _wrapped=thing)
    return other


class _Module(ModuleType):
    """A module as another one is, which keeps no state of its own."""

    def __init__(self, module: ModuleType, attributes: Mapping[str, Any]) -> None:
        super().__init__(module.__name__, module.__doc__)
        self.__dict__.update(attributes, _wrapped=module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_wrapped"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.__dict__["_wrapped"], name, value)

    def __dir__(self) -> list[str]:
        return dir(self.__dict__["_wrapped"])
