"""Invoice numbers: without gaps, without doubles, one sequence for each year."""

import os
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

#: How long to wait for the lock, and after how long a lock left behind is broken.
WAIT_SECONDS = 5.0
STALE_SECONDS = 5.0


class LockTimeout(RuntimeError):
    """The lock was held by somebody else for too long."""


@contextmanager
def lock(path: Path, wait: float = WAIT_SECONDS, stale: float = STALE_SECONDS) -> Iterator[None]:
    """Hold a lock file; one that is older than `stale` seconds is taken for left behind and removed."""
    deadline = time.monotonic() + wait
    while True:
        try:
            handle = os.open(str(path), os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            break
        except FileExistsError:
            if time.time() - path.stat().st_mtime > stale:
                path.unlink()
                continue
            if time.monotonic() > deadline:
                raise LockTimeout(f"waited {wait} s for {path}") from None
            time.sleep(0.05)
    try:
        os.write(handle, str(os.getpid()).encode())
        os.close(handle)
        yield
    finally:
        path.unlink()


class Numbers:
    """Hands out numbers such as INV-2025-00417 from a counter file."""

    def __init__(self, folder: Path, prefix: str = "INV") -> None:
        self.folder = folder
        self.prefix = prefix

    def next(self, year: int) -> str:
        """Return the next number of a year and remember it."""
        counter = self.folder / f"counter-{year}.txt"
        with lock(self.folder / "numbering.lock"):
            last = int(counter.read_text()) if counter.exists() else 0
            counter.write_text(str(last + 1))
        return self.format(year, last + 1)

    def peek(self, year: int) -> str:
        """Return the number that would come next, without taking it."""
        counter = self.folder / f"counter-{year}.txt"
        last = int(counter.read_text()) if counter.exists() else 0
        return self.format(year, last + 1)

    def format(self, year: int, serial: int) -> str:
        return f"{self.prefix}-{year}-{serial:05d}"
