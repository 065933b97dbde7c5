"""Lines of standard input, for the faces that another program drives."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from threading import Thread


async def read_lines() -> AsyncIterator[bytes]:
    """The lines, be it a pipe, a file or closed; a thread reads them, so that the end of the program waits for none."""
    loop = asyncio.get_running_loop()
    heard: asyncio.Queue[bytes] = asyncio.Queue()

    def read() -> None:
        for line in sys.stdin.buffer if sys.stdin else ():
            loop.call_soon_threadsafe(heard.put_nowait, line)
        loop.call_soon_threadsafe(heard.put_nowait, b"")

    Thread(target=read, daemon=True).start()
    while line := await heard.get():
        yield line
