"""What the command line costs to start, and to look at a session of 2 GB.

    python benchmarks/cli.py [--alternatives-python PYTHON] [--large MB]

Each run is a process of its own; its CPU time counts from its start to its end, the interpreter included. Beside
`foldline --help` stand bare Python and Python that imports click, which are the floor, and beside
`foldline context status` Python that parses the same file with orjson (PYTHON is an interpreter that has it).
"""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from measuring import Figure, Row, child, figure, heading, options, table
from reload import MB, name, sessions

PARSE = """
import orjson, sys
with open(sys.argv[1], "rb") as file:
    for line in file:
        orjson.loads(line)
"""


def foldline() -> list[str]:
    """The command as it is installed beside this interpreter, or its module where it is not."""
    installed = Path(sys.executable).with_name("foldline")
    return [str(installed)] if installed.exists() else [sys.executable, "-m", "foldline"]


def process(argv: list[str], runs: int) -> Figure | str:
    """The CPU time of a whole process; its last words where it fails."""
    times: list[float] = []
    for _ in range(runs + 1):
        ended = child(argv)
        if ended.code:
            return ended.err.strip().splitlines()[-1]
        times.append(ended.seconds * 1_000)
    return figure(times[1:])


def ours(argv: list[str], runs: int) -> Figure:
    """The CPU time of one of our commands."""
    found = process([*foldline(), *argv], runs)
    if isinstance(found, str):
        raise SystemExit(f"foldline {' '.join(argv)}: {found}")
    return found


def rows(asked: Namespace) -> list[Row]:
    """The table's rows."""
    helped = ours(["--help"], asked.runs)
    bare = process([sys.executable, "-c", ""], asked.runs)
    click = process([sys.executable, "-c", "import click"], asked.runs)
    found = [
        heading("the command line, whole processes"),
        Row("foldline --help", helped, 120, "python -c ''", bare),
        Row("", helped, None, "python -c 'import click'", click),
    ]
    with sessions([asked.large * MB]) as files:
        for size, path in files.items():
            told = ours(["context", "status", "--session", str(path)], asked.runs)
            parsed = process([asked.alternatives_python, "-c", PARSE, str(path)], 1)
            theirs = "not installed (orjson)" if "No module named" in str(parsed) else parsed
            what = f"foldline context status, {name(size)}"
            found.append(Row(what, told, 300, "python parsing it with orjson", theirs))
    return found


def main() -> None:
    """Prints the table."""
    table(rows(options(__doc__).parse_args()))


if __name__ == "__main__":
    main()
