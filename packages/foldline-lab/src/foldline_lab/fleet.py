"""Sessions replayed on the nodes of a Ray cluster: the same function for each of them, wherever there is room."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from foldline import ConfigError

LOCAL = "local"
"""The address that begins a cluster of this machine alone, and ends it behind the last session."""

AGAIN = 3
"""How often a session is begun anew whose worker or node died."""

AHEAD = 1_000
"""Sessions that are handed out at once: enough for any number of nodes, and few enough to be told of."""

Come = TypeVar("Come")


def on_fleet(function: Callable[[str], Come], paths: Sequence[str], address: str) -> Iterator[Come]:
    """What the function answers for each path, as they are done, on the cluster at an address.

    Each path is a task of its own: one whose worker is killed is begun anew on another, and nothing that was answered is
    done again. The paths must name the same files on every node. Raises `ConfigError` where Ray is missing, or there is
    no cluster.
    """
    try:
        import ray
    except ImportError as missing:
        raise ConfigError("needs one more package: pip install 'foldline-lab[ray]'", path="--ray") from missing
    try:
        ray.init(address=LOCAL if address == LOCAL else address, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise ConfigError(f"no cluster at {address}: {error}", path="--ray") from error
    try:
        task = ray.remote(max_retries=AGAIN)(lambda path: function(path))
        left = list(reversed(paths))
        running: list[object] = []
        while left or running:
            while left and len(running) < AHEAD:
                running.append(task.remote(left.pop()))
            done, running = ray.wait(running)
            yield from ray.get(done)
    finally:
        ray.shutdown()
