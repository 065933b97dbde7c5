"""Sessions in a bucket, or wherever else a URL leads: `s3://`, `gs://` and all that fsspec reads."""

from __future__ import annotations

import posixpath
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from foldline import ConfigError, SessionError

Found = TypeVar("Found")


def is_url(path: str) -> bool:
    """Whether a path leads out of this machine's files."""
    return "://" in path


def files_at(url: str) -> list[str]:
    """The file at a URL, or all below it, in order; raises `SessionError` where nothing is there."""
    system, place = _opened(url)
    found: list[str] = _asked(url, lambda: sorted(system.find(place)))
    if not found:
        raise SessionError("there is no such file or folder", path=url)
    return [system.unstrip_protocol(each) for each in found]


def version(url: str) -> str:
    """What changes with the file at a URL; empty where that is gone."""
    system, place = _opened(url)
    with suppress(SessionError):
        return str(_asked(url, lambda: system.ukey(place)))
    return ""


@contextmanager
def local(path: str) -> Iterator[str]:
    """The path of a file on this machine: its own, or that of a copy, which is gone behind it."""
    if not is_url(path):
        yield path
        return
    system, place = _opened(path)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, posixpath.basename(place))
        _asked(path, lambda: copy.write_bytes(system.cat_file(place)))
        yield str(copy)


def _opened(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the place in it."""
    try:
        import fsspec
    except ImportError as missing:
        raise ConfigError("needs one more package: pip install 'foldline-lab[buckets]'", path=url) from missing
    try:
        opened: tuple[Any, str] = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise ConfigError(str(error), path=url) from error
    return opened


def _asked(url: str, asking: Callable[[], Found]) -> Found:
    """What a file system answers; what it raises names the URL."""
    try:
        return asking()
    except Exception as error:  # each file system has errors of its own
        raise SessionError(f"cannot be read: {error or type(error).__name__}", path=url) from error
