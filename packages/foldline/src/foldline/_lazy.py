"""Public names that are loaded when they are first used, so that whoever needs one does not wait for all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazily(package: str, places: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """A package's `__getattr__`: each name stands in the module of foldline that `places` has it under."""
    homes = {name: module for module, names in places.items() for name in names}

    def load(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"foldline.{homes[name]}"), name)

    return load
