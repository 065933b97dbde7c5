"""kill -9 at any moment of an append, a fold or an undo: all that was acknowledged is there, and nothing is there by half.

The test runs this file as a program, which has no threads and may fork: each child works on a session and says through
a pipe what it is about to do and what is done, until it is killed.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import traceback
from hashlib import blake2b
from pathlib import Path
from typing import Any

from foldline import Message, Session
from foldline.extend import Text, ToolCall, ToolResult
from sessions import Shown, context, folded, long_log, shown, shown_all, words

KILLS = 500 if os.environ.get("CI") else 40
ROUNDS_PER_FILE = 20
DIALECTS: list[dict[str, Any]] = [{}, {"system": True}, {"version": 1}]


def test_what_was_acknowledged_outlives_the_process(tmp_path):
    path = os.pathsep.join(sys.path)
    command = [sys.executable, __file__, str(tmp_path), str(KILLS)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=600, env={**os.environ, "PYTHONPATH": path}
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["kills"] == KILLS
    assert told["acknowledged"] > KILLS
    assert told["broken"] == []


# -- the parent --------------------------------------------------------------------------------------------------


def kill_many(folder: Path, kills: int) -> dict[str, Any]:
    """Kills children one after the other, and looks after each at what it left."""
    told: dict[str, Any] = {"kills": 0, "acknowledged": 0, "in flight": 0, "torn": 0, "broken": []}
    path = folder / "session.jsonl"
    for round in range(kills):
        rng = random.Random(round)
        if round % ROUNDS_PER_FILE == 0:
            path = folder / f"{round}.jsonl"
            long_log(4, **DIALECTS[round // ROUNDS_PER_FILE % len(DIALECTS)]).write(path)
        acks = killed(path, rng)
        told["kills"] += 1
        told["acknowledged"] += sum(1 for kind, *_ in acks if kind == "done")
        try:
            told["in flight"] += check(path, acks)
            told["torn"] += bool(Session(path).faults)
        except Exception:  # noqa: BLE001
            told["broken"].append(f"round {round}: {traceback.format_exc()}")
    return told


def killed(path: Path, rng: random.Random) -> list[list[Any]]:
    """What a child said until it was killed, some acknowledgements and a moment after it began."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            work(path, random.Random(rng.random()), writing)
        except BaseException:  # noqa: BLE001
            say(writing, "error", traceback.format_exc()[-3000:])
        finally:
            os._exit(1)
    os.close(writing)
    wanted, data = rng.randint(0, 4), b""
    while data.count(b'["done"') < wanted and (more := os.read(reading, 65536)):
        data += more
    moment = time.perf_counter() + rng.random() ** 2 * 0.02
    while time.perf_counter() < moment:
        pass
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while more := os.read(reading, 65536):
        data += more
    os.close(reading)
    return [json.loads(line) for line in data.split(b"\n")[:-1]]


def check(path: Path, acks: list[list[Any]]) -> bool:
    """Whether a write was under way when the child was killed; raises where something is missing or there by half."""
    errors = [ack for ack in acks if ack[0] == "error"]
    assert not errors, errors[0][1]
    session = Session(path)
    state = digest(words(context(session)))
    done = next((ack[1] for ack in reversed(acks) if ack[0] in ("done", "opened")), None)
    last = acks[-1] if acks else ["nothing", state]
    assert state in (done, last[1]), "neither what was acknowledged last nor what was to come"
    folds = {fold.id for fold in session.folds()}
    for _, _, did, name, what in (ack for ack in acks if ack[0] == "done"):
        if did == "append":
            message = session.recall(name)
            assert message is not None, f"{name} is lost"
            assert digest([shown(message)]) == what, f"{name} is not what it was"
        else:
            assert name in folds, f"fold {name} is lost"
    return last[0] == "will"


# -- the child ---------------------------------------------------------------------------------------------------


def work(path: Path, rng: random.Random, pipe: int) -> None:
    """Appends, folds and undoes for ever."""
    session = Session(path)
    say(pipe, "opened", digest(words(context(session))))
    unfolded: list[list[Shown]] = []
    while True:
        choice, what = rng.random(), ""
        if choice < 0.2 and unfolded:
            did = "undo"
            say(pipe, "will", digest(unfolded.pop()))
            name = session.undo()
        elif choice < 0.5 and (fold := folded(session, layer=rng.choice(layers(session))))[2]:
            did, name = "fold", fold[2].id
            say(pipe, "will", digest(words(shown_all(fold[1].messages))))
            unfolded.append(words(context(session)))
            session.fold(*fold)
        else:
            did, message = "append", any_message(rng)
            said = shown(message)
            say(pipe, "will", digest([*words(context(session)), said]))
            name, what = session.append(message), digest([said])
            unfolded = [[*history, said] for history in unfolded]
        say(pipe, "done", digest(words(context(session))), did, name, what)


def layers(session: Session) -> list[str]:
    return ["summarize"] if session.version == 1 else ["summarize", "prune"]


def any_message(rng: random.Random) -> Message:
    """A message of a few words, or of many thousand, which take the disk a while."""
    call = f"c{rng.randrange(10**6)}"
    size = rng.choice([1, 1, 40, 400, 4_000])
    text = " ".join(f"{rng.randrange(10**6)} is the number of the line" for _ in range(min(size, 50))) * max(
        1, size // 50
    )
    match rng.randrange(3):
        case 0:
            return Message("user", (Text(text),))
        case 1:
            return Message("assistant", (Text("I look"), ToolCall(call, "read", '{"path": "a.py"}')))
        case _:
            return Message("tool", (ToolResult(call, (Text(text),), False, "read"),))


def say(pipe: int, *words: Any) -> None:
    os.write(pipe, json.dumps(words).encode() + b"\n")


def digest(shown: list[Shown]) -> str:
    return blake2b(json.dumps(shown, sort_keys=True).encode(), digest_size=12).hexdigest()


if __name__ == "__main__":
    print(json.dumps(kill_many(Path(sys.argv[1]), int(sys.argv[2]))))
