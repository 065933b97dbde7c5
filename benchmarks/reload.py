"""What it costs to open a session and see its live context, whatever the size of its file.

    python benchmarks/reload.py [--alternatives-python PYTHON] [--pi FOLDER] [--node NODE] [--large MB]

The live context is 200 messages behind the newest fold, in files of 20 MB, 200 MB and 2 GB, which are written to a
temporary folder and deleted at the end. Beside it, on the same files:

- parsing every line with orjson (PYTHON is an interpreter that has it), one line at a time and keeping none;
- pi's own session manager: `SessionManager.open` and `buildSessionContext`, in FOLDER/pi1 and FOLDER/pi2 (npm packages
  of pi 0.73 and 0.87; environment: PI_PACKAGES) under NODE (environment: NODE). On 2 GB it gets one run of five minutes.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from measuring import Figure, Row, alternative, figures_from, heading, milliseconds, options, table, tell
from sessions import large_session, room_for

MB = 1_000_000
LARGE = 1_000 * MB
"""Files from this size on are given to an alternative once."""

PI = """
const [pkg, file, runs] = process.argv.slice(1);
const { SessionManager } = await import(pkg + "/dist/core/session-manager.js");
const times = [];
for (let run = 0; run < Number(runs); run++) {
  const began = process.cpuUsage();
  SessionManager.open(file).buildSessionContext();
  const used = process.cpuUsage(began);
  times.push((used.user + used.system) / 1000);
}
times.sort((a, b) => a - b);
console.log(JSON.stringify({ pi: [times[times.length >> 1], times[0]] }));
"""


@contextmanager
def sessions(sizes: list[int], *, by_pi: bool = False) -> Iterator[dict[int, Path]]:
    """Session files of these sizes in bytes, as long as the block runs; those that the disk has no room for are left out."""
    with tempfile.TemporaryDirectory(prefix="foldline-bench-") as folder:
        files: dict[int, Path] = {}
        for size in sizes:
            if not room_for(size, folder):
                print(f"{name(size)}: no room on the disk, left out")
                continue
            files[size] = Path(folder, f"{size}.jsonl")
            large_session(files[size], size, by_pi=by_pi)
        yield files


def name(size: int) -> str:
    """A size in bytes, for people."""
    return f"{size / MB:g} MB" if size < 1_000 * MB else f"{size / MB / 1_000:g} GB"


def reloading(path: Path, runs: int) -> Figure:
    """Our own figure for one file."""
    from foldline import Session

    live = len(Session(path).view().entries)
    assert live in (201, 202), f"{live} messages instead of a summary and 200"
    return milliseconds(lambda: Session(path).view(), runs)


def parsing(path: str, runs: int) -> dict[str, Figure]:
    """What orjson takes for all lines of a file."""
    import orjson

    def parse() -> None:
        with open(path, "rb") as file:
            for line in file:
                orjson.loads(line)

    return {"parse": milliseconds(parse, runs)}


# -- pi ----------------------------------------------------------------------------------------------------------


def pi_packages(folder: str) -> dict[str, Path]:
    """The installed versions of pi by name."""
    found = sorted(Path(folder).glob("pi*/node_modules/@*/pi-coding-agent")) if folder else []
    return {f"pi {json.loads((path / 'package.json').read_text())['version']}": path.resolve() for path in found}


def node_in(folder: str) -> str:
    """A node, from the path or from beside the packages."""
    beside = sorted(Path(folder).glob("node*/node_modules/node-*/bin/node")) if folder else []
    return shutil.which("node") or next(map(str, beside), "")


def pi_figure(node: str, package: Path, file: Path, runs: int) -> Figure | str:
    """What pi's session manager takes for one file, or why it does not open it."""
    argv = [node, "--input-type=module", "-e", PI, str(package), str(file), str(runs)]
    told = figures_from(argv, timeout=300)
    return told.get("pi") or f"fails: {told['']}"


# -- all of it ---------------------------------------------------------------------------------------------------


def rows(asked: Namespace) -> list[Row]:
    """The table's rows."""
    found = [heading("opening a session and seeing its live context of 200 messages")]
    ours: dict[int, Figure] = {}
    with sessions([20 * MB, 200 * MB, asked.large * MB]) as files:
        for size, path in files.items():
            ours[size] = reloading(path, asked.runs)
            found += rows_for(size, path, ours[size], asked)
    if len(ours) > 1:
        small, large = ours[min(ours)], ours[max(ours)]
        times = Figure(large.median / small.median, large.best / small.best, "x")
        found.append(Row(f"{name(max(ours))} against {name(min(ours))}", times, 2))
    with sessions([20 * MB], by_pi=True) as files:
        found += [Row(f"{name(size)}, last fold by pi", reloading(path, asked.runs)) for size, path in files.items()]
    return found


def rows_for(size: int, path: Path, ours: Figure, asked: Namespace) -> list[Row]:
    """The table's rows for one file."""
    target = 20 if size >= LARGE else None
    few = 1 if size >= LARGE else max(3, asked.runs // 5)
    told = alternative(asked.alternatives_python, __file__, "orjson", str(path), few)
    found = [Row(name(size), ours, target, "orjson, every line", told.get("parse", told.get("", "")))]
    node = asked.node or node_in(asked.pi)
    for version, package in pi_packages(asked.pi).items():
        theirs = pi_figure(node, package, path, few) if node else "not run (no node)"
        found.append(Row("", ours, None, version, theirs))
    return found if len(found) > 1 else [*found, Row("", ours, None, "pi", "not installed (PI_PACKAGES)")]


def main() -> None:
    """Prints the table, or what one alternative measured."""
    asked = options(__doc__).parse_args()
    if asked.alternative:
        tell(parsing(json.loads(Path(asked.given).read_text()), asked.runs))
    else:
        table(rows(asked))


if __name__ == "__main__":
    main()
