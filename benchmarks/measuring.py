"""What the benchmarks share: options, CPU time and its medians, child processes, alternatives elsewhere, and the printed table.

All times are CPU time (user and system), so that other work on the machine disturbs them little. A figure is the
median of several runs, with the best run behind it.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

SOURCE = Path(__file__).resolve().parent.parent / "packages/foldline/src"


class Figure(NamedTuple):
    """The median and the best of several runs, in `unit`."""

    median: float
    best: float
    unit: str = "ms"

    def __str__(self) -> str:
        return f"{_short(self.median)} {self.unit} (best {_short(self.best)})"


class Row(NamedTuple):
    """One line of a table: what was measured, our figure and its target, an alternative and its figure, or why it has none."""

    what: str
    ours: Figure | None
    target: float | None = None
    alternative: str = ""
    theirs: Figure | str | None = None


def heading(words: str) -> Row:
    """A row that only says what the next ones are about."""
    return Row(f"-- {words}", None)


class Child(NamedTuple):
    """A child process that ended: its CPU seconds, its exit code and what it printed."""

    seconds: float
    code: int
    out: str
    err: str


# -- measuring ---------------------------------------------------------------------------------------------------


def figure(values: Iterable[float], unit: str = "ms") -> Figure:
    """The figure that several values make."""
    values = list(values)
    return Figure(statistics.median(values), min(values), unit)


def milliseconds(
    run: Callable[..., Any], runs: int, prepare: Callable[[], Any] | None = None, *, collect: bool = False
) -> Figure:
    """The CPU time of `run`, called with what `prepare` makes for each run, if it is given.

    With `collect` a garbage collection goes before each run. It walks all objects, so that the run finds the
    processor's caches as cold as an agent's step does after a model call.
    """
    times: list[float] = []
    for _ in range(runs):
        given = () if prepare is None else (prepare(),)
        if collect:
            gc.collect()
        began = time.process_time()
        result = run(*given)
        times.append((time.process_time() - began) * 1_000)
        del result, given
    return figure(times)


def child(argv: Sequence[str], *, env: dict[str, str] | None = None, timeout: float = 600) -> Child:
    """Runs a program to its end; its own children count where it waited for them."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=_environment(env))
        deadline = time.monotonic() + timeout
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            if time.monotonic() > deadline:
                process.kill()
                deadline = float("inf")
            time.sleep(0.005)
        process.returncode = os.waitstatus_to_exitcode(ended[1])
        used = ended[2]
        out.seek(0)
        err.seek(0)
        texts = out.read().decode("utf-8", "replace"), err.read().decode("utf-8", "replace")
    return Child(used.ru_utime + used.ru_stime, process.returncode, *texts)


def peak_memory() -> float:
    """The most memory that this process has held, in MB.

    Read from Linux, where it can be: what `getrusage` says there starts from the memory of the parent.
    """
    status = Path("/proc/self/status")
    told = re.search(r"VmHWM:\s*(\d+) kB", status.read_text()) if status.exists() else None
    return int(told[1]) / 1024 if told else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def figures_from(argv: Sequence[str], *, timeout: float = 600) -> dict[str, Figure | str]:
    """The figures that a program told, by name; the reason under the name "" where it failed."""
    ended = child(argv, timeout=timeout)
    if ended.code:
        return {"": _last_line(ended.err) or f"ended with code {ended.code}"}
    told = json.loads(ended.out.strip().splitlines()[-1])
    return {name: Figure(*value) for name, value in told.items()}


def tell(figures: dict[str, Figure]) -> None:
    """Prints figures for `figures_from`."""
    print(json.dumps(figures))


def _environment(more: dict[str, str] | None) -> dict[str, str]:
    """A child's environment; it may keep compiled code, as an installed package does."""
    path = os.pathsep.join(filter(None, (str(SOURCE), os.environ.get("PYTHONPATH"))))
    compiled = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**compiled, "PYTHONPATH": path, **(more or {})}


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = [line for line in lines if "Error" in line]
    return (told or lines or [""])[-1].removeprefix("Error: ")[:80]


# -- alternatives ------------------------------------------------------------------------------------------------


def options(about: str | None) -> argparse.ArgumentParser:
    """A parser with the options that every benchmark takes."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--alternatives-python",
        default=os.environ.get("ALTERNATIVES_PYTHON", sys.executable),
        metavar="PYTHON",
        help="an interpreter that has the alternatives installed (environment: ALTERNATIVES_PYTHON)",
    )
    parser.add_argument(
        "--pi",
        default=os.environ.get("PI_PACKAGES", ""),
        metavar="FOLDER",
        help="where pi's npm packages are installed, in pi1 and pi2 (environment: PI_PACKAGES)",
    )
    parser.add_argument("--node", default=os.environ.get("NODE", ""), help="the node that runs pi (environment: NODE)")
    parser.add_argument("--large", type=int, default=2_000, metavar="MB", help="the size of the large session file")
    parser.add_argument("--runs", type=int, default=15, help="how often each thing is measured")
    parser.add_argument("--alternative", help=argparse.SUPPRESS)
    parser.add_argument("--given", help=argparse.SUPPRESS)
    return parser


def alternative(python: str, script: str, name: str, given: object, runs: int, timeout: float = 600) -> dict[str, Any]:
    """Has another interpreter run `script --alternative NAME --given FILE`, and answers the figures that it told."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(given, file)
        file.flush()
        argv = [python, script, "--alternative", name, "--given", file.name, "--runs", str(runs)]
        figures = figures_from(argv, timeout=timeout)
    if "No module named" in str(figures.get("")):
        return {"": f"not installed ({str(figures['']).rsplit(' ', 1)[-1]})"}
    return figures


# -- printing ----------------------------------------------------------------------------------------------------

HEAD = ("measured", "foldline", "target", "alternative", "its figure", "ratio")


def table(rows: Sequence[Row]) -> None:
    """Prints rows, each with the ratio of the alternative's median to ours."""
    cells = [HEAD, *(_cells(row) for row in rows)]
    told = [cell for cell in cells if any(cell[1:])]
    widths = [max(len(cell[i]) for cell in told) for i in range(len(HEAD))]
    for n, cell in enumerate(cells):
        print("  ".join(text.ljust(width) for text, width in zip(cell, widths)).rstrip())
        if n == 0:
            print("  ".join("-" * width for width in widths))


def _cells(row: Row) -> tuple[str, ...]:
    met = ""
    if row.ours is not None and row.target is not None:
        met = f"< {row.target:g} {row.ours.unit}: " + ("met" if row.ours.median < row.target else "MISSED")
    ratio = ""
    if row.ours and row.ours.median and isinstance(row.theirs, Figure) and row.theirs.unit == row.ours.unit:
        ratio = f"{_short(row.theirs.median / row.ours.median)} x"
    return (row.what, str(row.ours or ""), met, row.alternative, str(row.theirs or ""), ratio)


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
