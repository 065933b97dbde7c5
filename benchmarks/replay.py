"""What a replay takes: sessions of 400 messages under five policies, and how much faster two nodes of Ray do it than one.

    python benchmarks/replay.py [--sessions N] [--jobs N] [--nodes]

A session has about 400 messages and 110,000 tokens, is another one each time, and is replayed in a window of 100,000 at one
model's prices, with all the controls. `--nodes` needs Ray and, instead of processes, begins a cluster on this machine: one
node with one CPU, and then a second one. Each round replays as many other sessions, so that no worker has read them before,
behind one session for each worker, which starts it. Nodes that have no core of their own tell nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from multiprocessing import active_children
from pathlib import Path

from foldline_lab.replaying import Asked, Outcome, replay
from sessions import working_session

ASKED = Asked(("default", "pi", "claude-code", "codex", "openclaw"), "claude-sonnet-4-5", 100_000)

TOKENS = 117_000
"""By the count of `working_session`, of which 400 messages have about as many."""

STARTING = 4
"""Sessions that are replayed before time is taken, so that each worker is there."""


def written(folder: Path, count: int, first: int = 0) -> list[str]:
    """The files of so many sessions, each another one."""
    paths = [folder / f"{number}.jsonl" for number in range(first, first + count)]
    for number, path in enumerate(paths, first):
        working_session(path, TOKENS, number)
    return list(map(str, paths))


def taken(run: Callable[[], Sequence[Outcome]]) -> tuple[float, float]:
    """Seconds that a replay took by the wall, and CPU seconds of this process and of those that it began."""
    began, before = time.perf_counter(), sum(os.times()[:4])
    faults = [outcome.fault for outcome in run() if outcome.fault]
    assert not faults, faults
    seconds = time.perf_counter() - began
    for process in active_children():  # what it spent is known once it is over
        process.join()
    return seconds, sum(os.times()[:4]) - before


def in_processes(folder: Path, count: int, jobs: int) -> None:
    """Prints what the sessions take in so many processes, which are begun within that time."""
    paths = written(folder, count)
    seconds, spent = taken(lambda: [*replay(paths, ASKED, jobs=jobs)])
    print(f"{count} sessions in {jobs} processes: {seconds:.1f} s, {spent / count:.3f} s of CPU a session")


def on_nodes(folder: Path, count: int) -> None:
    """Prints what one node makes, what two make, and the ratio."""
    from ray.cluster_utils import Cluster

    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    rates: list[float] = []
    for number in (1, 2):
        if number > 1:
            nodes.add_node(num_cpus=1)
        paths = written(folder, STARTING + count, (number - 1) * (STARTING + count))
        rates.append(count / on_fleet(paths, nodes.address))
        print(f"{number} node{'s' * (number > 1)} of one CPU: {rates[-1]:.2f} sessions a second")
    print(f"two nodes are {rates[1] / rates[0]:.2f} times as fast as one")
    nodes.shutdown()


def on_fleet(paths: Sequence[str], address: str) -> float:
    """Seconds from the last session of the start to the last one of all."""
    began = time.perf_counter()
    for number, outcome in enumerate(replay(paths, ASKED, fleet=address), 1):
        assert not outcome.fault, outcome.fault
        if number == STARTING:
            began = time.perf_counter()
    return time.perf_counter() - began


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--nodes", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="foldline-bench-") as folder:
        if asked.nodes:
            on_nodes(Path(folder), asked.sessions)
        else:
            in_processes(Path(folder), asked.sessions, asked.jobs)


if __name__ == "__main__":
    main()
