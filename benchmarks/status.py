"""`context status` and `inspect` of real sessions one step before their end, beside what the provider billed for that step.

    python benchmarks/status.py [FOLDER]

FOLDER holds session files of any agent (default: ../shared/corpus beside the repository); each that carries usage is a
line. The last billed reply is taken away, and with it all that came after; both commands then say what the next request
takes, and the bill of that reply says what it took. A bill that is the first behind a fold or in the file is counted
with nothing to go by but the file.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from foldline import FoldlineError, open_session
from foldline._desk.desk import Desk
from foldline._desk.inspection import Inspection, inspect
from foldline._desk.status import Status, status
from foldline.extend import Context, preset


class Line(NamedTuple):
    """What the two commands say of a session, and the bill."""

    name: str
    status: Status
    inspection: Inspection
    billed: int

    @property
    def error(self) -> float:
        """The error of the count, relative to the bill."""
        return self.status.tokens / self.billed - 1

    def __str__(self) -> str:
        s, parts = self.status, "  ".join(f"{share.tokens:>9,}" for share in self.inspection.shares)
        return f"{self.name:<42} {s.tokens:>9,} ±{s.count_error:6.1%}  {self.billed:>9,}  {self.error:+7.2%}  {parts}  {s.basis}"


def lines(folder: Path) -> Iterator[Line]:
    """A line for each session that carries usage; scripted ones (`made`) are no bills."""
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and "made" not in p.parts):
        try:
            session = open_session(path)
        except FoldlineError:
            continue
        known = session.context
        billed = [i for i, (_, m) in enumerate(known.entries) if i >= known.since and m.usage and m.usage.prompt]
        if not billed:
            continue
        usage = known.entries[billed[-1]][1].usage
        before = known.entries[: billed[-1]]
        session.context = Context(before, since=known.since, learned=known.learned, overhead=known.overhead)
        opened = Desk(session)
        said = status(opened, preset("default")), inspect(opened, preset("default"))
        yield Line(f"{path.parent.name}/{path.stem[:24]}", *said, usage.prompt if usage else 0)


def main() -> None:
    """Prints the table, and how far it is off in the middle."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2] / "shared" / "corpus"
    found = list(lines(folder)) if folder.is_dir() else []
    if not found:
        sys.exit(f"no sessions with usage below {folder}")
    shares = "  ".join(f"{share.name[:9]:>9}" for share in found[0].inspection.shares)
    print(f"{'session':<42} {'status':>9} {'':7}  {'billed':>9}  {'error':>7}  {shares}  counted by")
    print(*found, sep="\n")
    for basis in sorted({line.status.basis.partition(" + ")[0] for line in found}):
        errors = [abs(line.error) for line in found if line.status.basis.startswith(basis)]
        print(f"{len(errors):>4} {basis}: median {statistics.median(errors):.2%}, worst {max(errors):.2%}")


if __name__ == "__main__":
    main()
