"""kill -9 between any two steps of an agent on a session: no message is lost, no summary paid twice, the prefix stays.

The test runs this file as a program, which has no threads and may fork. Each child goes on from what the file says, and kills
itself behind some operation: a message appended, a fold made, a request sent, a reply billed. FOLDLINE_KILLS says how many.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from foldline import Brief, Compactor, Message, Session, Summary, step
from foldline.extend import Text, extract

KILLS = int(os.environ.get("FOLDLINE_KILLS") or (30 if os.environ.get("CI") else 10))
KILLS_PER_FILE = 40
WINDOW = 3_000


def test_an_agent_that_is_killed_between_steps_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    path = os.pathsep.join(sys.path)
    command = [sys.executable, __file__, str(tmp_path), str(KILLS)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=3_600, env={**os.environ, "PYTHONPATH": path}
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["kills"] == KILLS
    assert told["steps"] > KILLS
    assert told["summaries"] > KILLS // 4
    assert (told["lost"], told["paid twice"], told["another prefix"]) == (0, 0, 0)


# -- the parent --------------------------------------------------------------------------------------------------


def kill_many(folder: Path, kills: int) -> dict[str, int]:
    """Kills children one after the other, and looks at what each file holds in the end."""
    Compactor(window=WINDOW).fold(
        [Message("user", (Text(words(n)),)) for n in range(40)]
    )  # what a child would load each time
    told = dict.fromkeys(("kills", "steps", "summaries", "lost", "paid twice", "another prefix"), 0)
    for first in range(0, kills, KILLS_PER_FILE):
        path = folder / f"{first}.jsonl"
        Session.create(path)
        for number in range(first, min(first + KILLS_PER_FILE, kills)):
            told["kills"] += killed(path, random.Random(number))
        for name, count in looked_at(path):
            told[name] += count
    return told


def killed(path: Path, chance: random.Random) -> bool:
    """Whether a child that worked on a session was killed, as it wished."""
    if (child := os.fork()) == 0:
        try:
            work(path, chance.randint(1, 40))
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def looked_at(path: Path) -> Iterator[tuple[str, int]]:
    """What is wrong with a session that was worked on, and what was done in it."""
    session = Session(path)
    said = [message.text for _, message in session.messages() if message.summary is None]
    noted = [json.loads(line) for line in path.with_suffix(".notes").read_text().splitlines()]
    requests: dict[int, str] = {}
    others = [1 for at, sent in (note for note in noted if note[0] >= 0) if requests.setdefault(at, sent) != sent]
    summaries = sum(at < 0 for at, _ in noted)
    yield "steps", len(said)
    yield "summaries", summaries
    yield "lost", int(said != [words(number) for number in range(len(said))])
    yield "paid twice", summaries - len(session.folds())
    yield "another prefix", len(others)


# -- the child ---------------------------------------------------------------------------------------------------


def words(number: int) -> str:
    """The message of that number: a request, or its answer."""
    return f"{number}: part {number} reads setting_{number * 7} in line {number * 3}. " * 8


def work(path: Path, last: int) -> None:
    """Asks and answers for ever, or until so many operations were done."""
    done = 0

    def end() -> None:
        nonlocal done
        done += 1
        if done == last:
            os.kill(os.getpid(), signal.SIGKILL)

    notes = os.open(path.with_suffix(".notes"), os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def note(at: int, what: str) -> None:
        os.write(notes, json.dumps([at, what]).encode() + b"\n")

    def summarize(brief: Brief, messages: Sequence[Message]) -> Summary:
        note(-1, "a summary")
        return extract(brief, messages)

    session = Session(path)
    compactor = Compactor(window=WINDOW, reserve=200, session=session, summarizer=summarize)
    number = sum(1 for _, message in session.messages() if message.summary is None)
    while True:
        if number % 2 == 0:
            session.append(Message("user", (Text(words(number)),)))
            number += 1
            end()
        reply = step(compactor, session.context.messages, sends(number, note, end))
        end()
        session.append(Message("assistant", (Text(reply["content"]),)))
        number += 1
        end()


def sends(number: int, note: Callable[[int, str], None], end: Callable[[], None]) -> Callable[[list[Message]], Any]:
    """A model that notes what it is sent."""

    def send(sent: list[Message]) -> Any:
        end()
        said = "\n".join(message.text for message in sent)
        note(number, blake2b(said.encode(), digest_size=12).hexdigest())
        return {"role": "assistant", "content": words(number)}

    return send


if __name__ == "__main__":
    print(json.dumps(kill_many(Path(sys.argv[1]), int(sys.argv[2]))))
