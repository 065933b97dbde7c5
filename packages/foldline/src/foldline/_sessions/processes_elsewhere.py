"""What macOS and Windows tell of the processes that run, through psutil; nothing where that is not installed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

try:
    import psutil
except ImportError:  # it comes with the extra `cli`
    psutil = None


def running() -> Iterator[int]:
    """The ids of all processes."""
    return iter(psutil.pids() if psutil else ())


def above(id: int) -> Iterator[int]:
    """A process, and those that started it."""
    if not psutil:
        return
    yield id
    try:
        parents = psutil.Process(id).parents()
    except psutil.Error:
        return
    yield from (parent.pid for parent in parents)


def directory(id: int) -> str:
    """Where a process works; empty where that is not told."""
    try:
        return psutil.Process(id).cwd() if psutil else ""
    except (psutil.Error, OSError):
        return ""


def writes(id: int, real: str) -> bool:
    """Whether a process holds a file open, for writing where the system tells that."""
    try:
        opened = psutil.Process(id).open_files() if psutil else []
    except (psutil.Error, OSError):
        return False
    return any(file.path == real and getattr(file, "mode", "w") != "r" for file in opened)


def still_runs(id: int, began: object) -> bool:
    """Whether a process runs; when it began is told by each system in its own way."""
    return bool(psutil) and psutil.pid_exists(id)


def called(id: int) -> tuple[str, Sequence[str]]:
    """A process's name and the words that it was started with; empty once it is gone."""
    try:
        process = psutil.Process(id)
        return process.name(), process.cmdline()
    except (psutil.Error, OSError):
        return "", ()
