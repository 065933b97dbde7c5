"""Threads that use one compactor take turns."""

from __future__ import annotations

import os
import threading


class Turnstile:
    """One thread at a time, which may come again; a process that was forked off has turns of its own."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._process = os.getpid()

    def __enter__(self) -> None:
        if self._process != os.getpid():
            self._lock, self._process = threading.RLock(), os.getpid()
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
