"""The page as it was before it was rebuilt, as one more control of `memory`: the old code from git, in a child process.

Run as a program it is that child: it folds what it is given by the `foldline` that its PYTHONPATH names.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

from foldline import CannotFit, Compactor

COMMIT = "4e31ae0"
"""The last commit with the old page."""

ROOT = Path(__file__).resolve().parent.parent
Chat = dict[str, object]


class OldPage:
    """Folds by the old code; raises `CannotFit` where that does."""

    def __init__(self) -> None:
        packed = subprocess.run(["git", "-C", str(ROOT), "archive", COMMIT, "src"], capture_output=True, check=True)
        self._folder = tempfile.TemporaryDirectory()
        with tarfile.open(fileobj=BytesIO(packed.stdout)) as archive:
            archive.extractall(self._folder.name, filter="data")
        self._child = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": f"{self._folder.name}/src"},
            text=True,
        )

    def fold(self, messages: list[Chat], budget: int) -> list[Chat]:
        """What the old code leaves of a history."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        print(json.dumps([messages, budget]), file=self._child.stdin, flush=True)
        left = json.loads(self._child.stdout.readline())
        if left is None:
            raise CannotFit(0, budget)
        return list(left)

    def __enter__(self) -> OldPage:
        return self

    def __exit__(self, *why: object) -> None:
        self._child.communicate()
        self._folder.cleanup()


def main() -> None:
    """Answers each line of messages and budget with what is left, or null."""
    for line in sys.stdin:
        messages, budget = json.loads(line)
        try:
            left = Compactor(window=10_000_000).fold_to(messages, budget)
        except CannotFit:
            left = None
        print(json.dumps(left), flush=True)


if __name__ == "__main__":
    main()
