"""Sessions replayed on two nodes of a Ray cluster, whose workers die."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from foldline_lab.replaying import Asked, replay
from test_replay import ASKED, MODEL, history, without_time, written

DIES = """
    import os
    import signal
    from pathlib import Path

    from foldline.extend import preset, replace


    def pinned(message):
        try:
            Path(os.environ["DIES_ONCE"]).unlink()
        except FileNotFoundError:
            return message.role == "system"
        os.kill(os.getpid(), signal.SIGKILL)


    POLICY = replace(preset("default"), pinned=pinned)
"""
"""A policy that kills the first process in which it is asked."""


def test_without_ray_it_says_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['ray'] = None; sys.argv[0] = 'foldline'; import foldline.__main__"
    words = ["replay", written(tmp_path, history(2)), "--model", MODEL, "--ray", "local"]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "foldline: --ray: needs one more package: pip install 'foldline-lab[ray]'\n"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Two nodes, on which the module `dying` can be imported."""
    pytest.importorskip("ray", reason="ray is not installed: fleets are NOT tested here")
    from ray.cluster_utils import Cluster

    folder = tmp_path_factory.mktemp("modules")
    (folder / "dying.py").write_text(textwrap.dedent(DIES))
    before = dict(os.environ)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), *sys.path])
    os.environ["DIES_ONCE"] = str(folder / "once")
    sys.path.insert(0, str(folder))
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    nodes.add_node(num_cpus=1)
    yield nodes.address
    nodes.shutdown()
    sys.path.remove(str(folder))
    os.environ.clear()
    os.environ.update(before)


def test_two_nodes_find_what_one_process_finds(cluster: str, tmp_path: Path) -> None:
    paths = [written(tmp_path, history(4 + n), f"{n}.json") for n in range(4)]
    alone, together = (list(replay(paths, ASKED, fleet=fleet)) for fleet in ("", cluster))
    assert sorted(map(without_time, together)) == sorted(map(without_time, alone))


def test_a_worker_that_is_killed_loses_nothing_and_nothing_is_done_twice(cluster: str, tmp_path: Path) -> None:
    paths = [written(tmp_path, history(4 + n), f"{n}.json") for n in range(6)]
    asked, results = Asked(("dying:POLICY",), MODEL, 12_000), tmp_path / "results.jsonl"
    once = Path(os.environ["DIES_ONCE"])
    once.touch()
    found = list(replay(paths, asked, str(results), fleet=cluster))
    assert not once.exists()
    assert sorted(outcome.session for outcome in found) == sorted(paths)
    assert [outcome.fault for outcome in found] == [""] * 6
    assert len(results.read_bytes().splitlines()) == 6
    again = list(
        replay(paths, asked, str(results), fleet="10.255.255.1:1")
    )  # nothing is left that anybody would be asked for
    assert sorted(outcome.key for outcome in again) == sorted(outcome.key for outcome in found)
