"""kill -9 between any two steps of an agent on a session, and inside them: no message is lost, no summary paid twice, the prefix stays.

The test runs this file as a program, which has no threads and may fork. Each child goes on from what the file says, and kills
itself behind some operation (a message appended, a fold made, a request sent, a reply billed), or at some call of a function.
Its summaries are paid to a provider on loopback. FOLDLINE_KILLS says how many, of each kind.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from foldline import Compactor, Message, Session, step
from foldline.extend import Text
from killing import die_at_call, echo, paying
from providers import Provider

KILLS = int(os.environ.get("FOLDLINE_KILLS") or (30 if os.environ.get("CI") else 16))
KILLS_PER_FILE = 20
WINDOW = 3_000
OPERATIONS, CALLS = 12, 300_000
"""The most that are done before a death between steps, and inside one."""


@pytest.mark.parametrize("kind", ["between", "inside"])
def test_an_agent_that_is_killed_goes_on_as_if_it_had_not_been(tmp_path: Path, kind: str) -> None:
    path = os.pathsep.join(sys.path)
    with Provider(echo) as provider:
        command = [sys.executable, __file__, str(tmp_path), provider.root, kind, str(KILLS)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=7_200, env={**os.environ, "PYTHONPATH": path}
        )
        paid = Counter(request.text for request in provider.requests)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["kills"], told["lost"], told["another prefix"]) == (KILLS, 0, 0)
    assert told["steps"] > KILLS // 4
    assert told["folds"] > 0
    begun = len(paid) - told["folds"]
    again = paid.total() - len(paid)
    assert 0 <= begun <= (KILLS // KILLS_PER_FILE + 1 if kind == "inside" else 0), "a fold was made twice, or by nobody"
    assert kind == "inside" or again == 0, "what was paid for stands in the file before the next step"
    print(f"{told}, paid {paid.total()}, of them again since it was killed before the fold stood: {again}")


# -- the parent --------------------------------------------------------------------------------------------------


def kill_many(folder: Path, provider: str, kind: str, kills: int) -> dict[str, int]:
    """Kills children one after the other, and looks at what each file holds in the end."""
    Compactor(window=WINDOW).fold(
        [Message("user", (Text(words(n)),)) for n in range(40)]
    )  # what a child would load each time
    told = dict.fromkeys(("kills", "steps", "folds", "lost", "another prefix"), 0)
    for first in range(0, kills, KILLS_PER_FILE):
        path = folder / f"{first}.jsonl"
        Session.create(path)
        for number in range(first, min(first + KILLS_PER_FILE, kills)):
            told["kills"] += killed(path, provider, kind, random.Random(number))
        for name, count in looked_at(path):
            told[name] += count
    return told


def killed(path: Path, provider: str, kind: str, chance: random.Random) -> bool:
    """Whether a child that worked on a session was killed, as it wished."""
    if (child := os.fork()) == 0:
        try:
            last = chance.randint(1, OPERATIONS) if kind == "between" else 0
            if not last:
                die_at_call(chance.randint(1, CALLS))
            work(path, provider, last)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def looked_at(path: Path) -> Iterator[tuple[str, int]]:
    """What is wrong with a session that was worked on, and what was done in it."""
    session = Session(path)
    said = [message.text for _, message in session.messages() if message.summary is None]
    noted = [json.loads(line) for line in path.with_suffix(".notes").read_text().splitlines()]
    kept = max((at for what, at, _ in noted if what == "kept"), default=-1)
    requests: dict[int, str] = {}
    asked = [(at, sent) for what, at, sent in noted if what == "asked"]
    others = [1 for at, sent in asked if requests.setdefault(at, sent) != sent]
    yield "steps", len(said)
    yield "folds", len(session.folds())
    yield "lost", int(len(said) <= kept or said != [words(number) for number in range(len(said))])
    yield "another prefix", len(others)


# -- the child ---------------------------------------------------------------------------------------------------


def words(number: int) -> str:
    """The message of that number: a request, or its answer."""
    return f"{number}: part {number} reads setting_{number * 7} in line {number * 3}. " * 8


def work(path: Path, provider: str, last: int) -> None:
    """Asks and answers for ever, or until so many operations were done."""
    done = 0

    def end() -> None:
        nonlocal done
        done += 1
        if done == last:
            os.kill(os.getpid(), signal.SIGKILL)

    notes = os.open(path.with_suffix(".notes"), os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def note(what: str, at: int, said: str = "") -> None:
        os.write(notes, json.dumps([what, at, said]).encode() + b"\n")

    session = Session(path)
    compactor = Compactor(window=WINDOW, reserve=200, session=session, summarizer=paying(provider, path.name))
    number = sum(1 for _, message in session.messages() if message.summary is None)
    while True:
        if number % 2 == 0:
            session.append(Message("user", (Text(words(number)),)))
            note("kept", number)
            number += 1
            end()
        reply = step(compactor, session.context.messages, sends(number, note, end))
        end()
        session.append(Message("assistant", (Text(reply["content"]),)))
        note("kept", number)
        number += 1
        end()


def sends(
    number: int, note: Callable[[str, int, str], None], end: Callable[[], None]
) -> Callable[[list[Message]], Any]:
    """A model that notes what it is sent."""

    def send(sent: list[Message]) -> Any:
        end()
        said = "\n".join(message.text for message in sent)
        note("asked", number, blake2b(said.encode(), digest_size=12).hexdigest())
        return {"role": "assistant", "content": words(number)}

    return send


if __name__ == "__main__":
    print(json.dumps(kill_many(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))))
