"""The policies that can be named: foldline's own, one file of data each, what packages offer, and files of anybody's."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from os import listdir
from os.path import dirname, exists, join, splitext

from foldline._decoding import SUFFIXES
from foldline._errors import ConfigError
from foldline._offered import offered, unknown
from foldline._policies.file import read_policy
from foldline._policy import Policy

GROUP = "foldline.policies"
"""The group of entry points under which a package names its `Policy`."""

DEFAULT = "default"
"""The policy that is used where none is named."""


def names() -> list[str]:
    """The policies that have a name."""
    return [*_ours(), *_theirs()]


def preset(name: str, *, path: str = "policy", key: str = "") -> Policy:
    """The policy of that name, of the file that it is the path of, or of the module that it names as `module:NAME`.

    Raises `ConfigError` with the file and the key of what is wrong in a file, and else with `path` and `key`.
    """
    if name.endswith(SUFFIXES):
        return read_policy(name)
    if ":" in name:
        return _imported(name, path, key)
    if name in _ours():
        return _own(name)
    if name in _theirs():
        return _theirs()[name]
    if exists(name):
        return read_policy(name)
    raise ConfigError(unknown("policy", name, names()), path=path, key=key)


@cache
def _ours() -> Mapping[str, str]:
    folder = dirname(__file__)
    return {splitext(name)[0]: join(folder, name) for name in sorted(listdir(folder)) if name.endswith(".toml")}


@cache
def _own(name: str) -> Policy:
    return read_policy(_ours()[name])


@cache
def _theirs() -> Mapping[str, Policy]:
    return offered(GROUP, Policy, taken=_ours())


def _imported(name: str, path: str, key: str) -> Policy:
    module, _, attribute = name.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except Exception as error:
        why = f"{name} cannot be imported: {type(error).__name__}: {error}"
        raise ConfigError(why, path=path, key=key) from error
    if not isinstance(found, Policy):
        raise ConfigError(f"{name} is a {type(found).__name__}, not a Policy", path=path, key=key)
    return found
