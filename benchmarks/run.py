"""Runs every benchmark and prints one table.

    python benchmarks/run.py [--alternatives-python PYTHON] [--pi FOLDER] [--node NODE] [--large MB] [--runs N]

Each file beside this one says what it measures, and runs alone as well. All of it takes about seven minutes, and 2 GB of
the disk for a while; `--large 200` is content with less.
"""

from __future__ import annotations

import sys

import cli
import fold
import idle
import listing
import memory
import recall
import reload
import summaries
from measuring import Row, options, table


def main() -> None:
    """Prints the table."""
    asked = options(__doc__).parse_args()
    found: list[Row] = []
    for part in (idle, reload, fold, summaries, memory, cli, recall, listing):
        print(f"measuring: {part.__name__} …", file=sys.stderr)
        found += part.rows(asked)
    table(found)


if __name__ == "__main__":
    main()
