"""What a process does that is killed in the middle of its work: it dies at some call, and pays for its summaries on loopback."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from foldline import Brief, Message, Summary
from foldline.extend import extract, replace
from providers import Request, _Handler


def die_at_call(last: int) -> None:
    """Kills this process at so many calls of functions from now, in whatever thread."""
    left = last

    def count(*_: Any) -> None:
        nonlocal left
        left -= 1
        if left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)

    threading.setprofile(count)
    sys.setprofile(count)


def paying(root: str, file: str) -> Callable[[Brief, Sequence[Message]], Summary]:
    """A summarizer for a session that has its text said by a provider, who is paid for it."""

    def summarize(brief: Brief, messages: Sequence[Message]) -> Summary:
        summary = extract(brief, messages)
        connection = HTTPConnection(urlsplit(root).netloc)
        connection.request("POST", "/", json.dumps({"file": file, "text": summary.text}))
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return replace(summary, text=answer["text"])

    return summarize


def echo(handler: _Handler, request: Request) -> None:
    """What a provider answers who is paid."""
    handler.send(200, json.dumps(request.body).encode())
