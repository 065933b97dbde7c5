"""What it costs to list 20,000 sessions of four agents, 8 GB together.

    python benchmarks/listing.py [--runs N] [--large MB]

The files stand in a temporary folder (`--large` is their size together, 8000 unless told) and are deleted at the end.
Cold, foldline has never seen them, and what the system keeps of them in memory was dropped; warm is the next list. The
disk counts as well, so that the time on the clock stands behind the CPU time. Beside them stands a loop that reads every
line with Python's own `json`, on every 40th file, its time multiplied by 40.
"""

from __future__ import annotations

import json
import os
import random
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cli import foldline
from foldline._cli.listing import SHOWN
from measuring import Figure, Row, child, figure, heading, options, table
from sessions import TIME, messages, room_for

FILES = 20_000
TOTAL = 8_000
"""Megabytes of all files together."""

PROJECTS = 200
PIECE = 50
"""Messages that a piece of a session's body has; the body is one piece over and over."""

STEP = 40
"""Every so many files one is read by the alternative."""

Record = dict[str, Any]
Wrap = Callable[[Record, str, str], Record]
Agent = Callable[[str, str], tuple[Record, Wrap]]


def pi(session: str, cwd: str) -> tuple[Record, Wrap]:
    """The first record of a session of pi, and how it wraps a message."""

    def wrapped(message: Record, id: str, parent: str) -> Record:
        return {"type": "message", "id": id, "parentId": parent, "timestamp": TIME, "message": message}

    return {"type": "session", "version": 3, "id": session, "timestamp": TIME, "cwd": cwd}, wrapped


def claude_code(session: str, cwd: str) -> tuple[Record, Wrap]:
    """The same of Claude Code."""
    about = {"sessionId": session, "cwd": cwd, "version": "2.1.50", "isSidechain": False, "timestamp": TIME}

    def wrapped(message: Record, id: str, parent: str) -> Record:
        kind = "assistant" if message["role"] == "assistant" else "user"
        said: Record = {"role": kind, "content": [{"type": "text", "text": message["content"][0]["text"]}]}
        if kind == "assistant":
            usage = {"input_tokens": message["usage"]["totalTokens"], "output_tokens": 60}
            said |= {"id": f"msg_{id}", "model": message["model"], "usage": usage}
        return {"type": kind, "uuid": id, "parentUuid": parent, **about, "message": said}

    return {
        "type": "user",
        "uuid": "first",
        "parentUuid": None,
        **about,
        "message": {"role": "user", "content": "Hi"},
    }, wrapped


def codex(session: str, cwd: str) -> tuple[Record, Wrap]:
    """The same of Codex; its bills stand in rows of their own."""

    def wrapped(message: Record, id: str, parent: str) -> Record:
        if "usage" in message:
            billed = {"input_tokens": message["usage"]["totalTokens"], "output_tokens": 60}
            info = {"total_token_usage": {**billed, "id": id}, "last_token_usage": billed}
            return {"timestamp": TIME, "type": "event_msg", "payload": {"type": "token_count", "info": info}}
        if message["role"] == "user":
            turn = {"cwd": cwd, "model": "gpt-5.2-codex"}
            return {"timestamp": TIME, "type": "turn_context", "payload": turn}
        said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": str(message)}]}
        return {"timestamp": TIME, "type": "response_item", "payload": said}

    return {"timestamp": TIME, "type": "session_meta", "payload": {"id": session, "cwd": cwd}}, wrapped


def qwen_code(session: str, cwd: str) -> tuple[Record, Wrap]:
    """The same of Qwen Code."""

    def wrapped(message: Record, id: str, parent: str) -> Record:
        said = {"role": message["role"], "parts": [{"text": message["content"][0]["text"]}]}
        row = {"uuid": id, "parentUuid": parent, "sessionId": session, "cwd": cwd, "timestamp": TIME, "message": said}
        if message["role"] != "assistant":
            return {**row, "type": "user"}
        usage = {"promptTokenCount": message["usage"]["totalTokens"], "candidatesTokenCount": 60}
        return {**row, "type": "assistant", "model": "qwen3-coder-plus", "usageMetadata": usage}

    return wrapped({"role": "user", "content": [{"text": "Hi"}]}, "first", ""), wrapped


AGENTS = {
    ".pi/agent/sessions/--{project}--/{session}.jsonl": pi,
    ".claude/projects/{project}/{session}.jsonl": claude_code,
    ".codex/sessions/2026/01/{day:02}/rollout-{session}.jsonl": codex,
    ".qwen/projects/{project}/chats/{session}.jsonl": qwen_code,
}


@contextmanager
def home(total: int) -> Iterator[tuple[Path, list[Path]]]:
    """A home with the sessions in it, as long as the block runs."""
    with tempfile.TemporaryDirectory(prefix="foldline-bench-") as folder:
        if not room_for(total, folder):
            raise SystemExit("no room on the disk")
        chance = random.Random(7)
        made = {pattern: _made(agent) for pattern, agent in AGENTS.items()}
        paths = []
        for n in range(FILES):
            pattern, (agent, body, tails) = list(made.items())[n % len(made)]
            project, session = f"project-{n % PROJECTS}", f"{n:08x}-0000-7000-8000-000000000000"
            size = round(chance.expovariate(FILES / total))
            path = Path(folder, pattern.format(project=project, session=session, day=n % 28 + 1))
            path.parent.mkdir(parents=True, exist_ok=True)
            first = _line(agent(session, f"/srv/{project}")[0])
            path.write_bytes(first + body * (size // len(body)) + tails[n // len(made) % len(tails)])
            paths.append(path)
        yield Path(folder), paths


def _made(agent: Agent) -> tuple[Agent, bytes, list[bytes]]:
    """What all sessions of an agent share: a piece of their bodies, and the ways in which they end."""
    _, wrapped = agent("shared", "/srv/shared")

    def lines(records: list[Record]) -> bytes:
        return b"".join(_line(wrapped(r["message"], r["id"], r["parentId"])) for r in records)

    return agent, lines(messages(PIECE, "0", "first")), [lines(messages(n, "1", "first")) for n in range(8, 16)]


def _line(record: Record) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def drop(paths: list[Path]) -> None:
    """Has the system forget what it keeps of the files in memory."""
    for path in paths:
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def listing(folder: Path) -> tuple[float, float]:
    """One list of all sessions: its CPU time, and its time on the clock, in seconds."""
    environment = {"HOME": str(folder), "XDG_CACHE_HOME": str(folder / ".cache")}
    began = time.monotonic()
    ended = child([*foldline(), "session", "list", "--all"], env=environment)
    took = time.monotonic() - began
    last = ended.out.splitlines()[-1]
    if ended.code or f"{FILES - SHOWN:,} older" not in last:
        raise SystemExit(ended.err or f"not every session was found: {last}")
    return ended.seconds, took


def parsing(paths: list[Path]) -> Figure:
    """The CPU time of reading every line with `json`."""
    began = time.process_time()
    for path in paths[::STEP]:
        with path.open("rb") as file:
            for line in file:
                json.loads(line)
    return figure([(time.process_time() - began) * STEP], "s")


def rows(asked: Namespace) -> list[Row]:
    """The table's rows."""
    with home(asked.large * 1_000_000) as (folder, paths):
        size = sum(path.stat().st_size for path in paths) / 1e9
        cold, warm = [], []
        for _ in range(asked.runs):
            (folder / ".cache/foldline/sessions.msgpack").unlink(missing_ok=True)
            drop(paths)
            cold.append(listing(folder))
            warm.append(listing(folder))
        read = parsing(paths)
    every = f"every line with json (1 file in {STEP})"
    found = [heading(f"foldline session list --all: {FILES:,} sessions, {size:.1f} GB")]
    for name, target, times in (("cold", 3, cold), ("warm", 0.3, warm)):
        processor, clock = (figure(each, "s") for each in zip(*times))
        found += [Row(name, processor, target, every, read), Row(f"{name}, on the clock", clock)]
    return found


def main() -> None:
    """Prints the table."""
    told = options(__doc__)
    told.set_defaults(large=TOTAL, runs=3)
    table(rows(told.parse_args()))


if __name__ == "__main__":
    main()
