"""What it costs to fold a session of 100,000 tokens with the offline summary, and how much memory that takes.

    python benchmarks/fold.py [SESSION...] [--alternatives-python PYTHON]

Each run is a process of its own, which opens a copy of the session, plans the fold and writes it; its imports are
not counted in the time, and are in the memory. Without a SESSION, one is made, and the repository's sample is folded.

The alternatives write no summary and no file: they drop old messages from a list in memory, which is much less. They
are langchain-core's `trim_messages` and strands' `SlidingWindowConversationManager`; PYTHON is an interpreter with
`langchain` and `strands-agents`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from idle import no_model, strands_message
from measuring import Figure, Row, alternative, child, figure, heading, milliseconds, options, peak_memory, table, tell
from sessions import as_chat, working_session

TOKENS = 100_000
KEPT = 40_000
"""What langchain's trimming keeps, in tokens: about what a fold by hand leaves."""

KEPT_MESSAGES = 40
SAMPLE = Path(__file__).resolve().parent.parent / "samples" / "invoices.jsonl"
STEPS = ("open", "plan", "write")


def fold(path: str) -> dict[str, float]:
    """Folds a session in place, and answers milliseconds for each step, tokens before and after, and peak memory in MB."""
    import foldline._engine.folding
    import foldline._page.extract  # noqa: F401  (here, so that the plan does not load it)
    from foldline import Session
    from foldline._desk.desk import Desk
    from foldline.extend import preset

    marks = [time.process_time()]
    opened = Desk(Session(path))
    marks.append(time.process_time())
    planned = opened.plan(preset("default"))
    made = planned.fold
    marks.append(time.process_time())
    planned.write()
    marks.append(time.process_time())
    assert made, "nothing was folded"
    told = {step: (b - a) * 1_000 for step, a, b in zip(STEPS, marks, marks[1:])}
    sizes = {"before": made.receipt.tokens_before, "after": made.receipt.tokens_after}
    return {**told, **sizes, "total": (marks[-1] - marks[0]) * 1_000, "peak": peak_memory()}


def folding_figures(path: Path, runs: int) -> tuple[dict[str, Figure], str]:
    """Our own figures, each run in a fresh process on a fresh copy, and the sizes before and after."""
    told: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory(prefix="foldline-bench-") as folder:
        copy = Path(folder, path.name)
        for _ in range(runs):
            shutil.copyfile(path, copy)
            ended = child([sys.executable, __file__, "--child", str(copy)])
            if ended.code:
                raise SystemExit(ended.err)
            told.append(json.loads(ended.out))
    units = {**dict.fromkeys((*STEPS, "total"), "ms"), "peak": "MB"}
    figures = {name: figure((each[name] for each in told), unit) for name, unit in units.items()}
    return figures, f"{told[0]['before']:,} -> {told[0]['after']:,} tokens"


# -- alternatives, run by their own interpreter ------------------------------------------------------------------


def langchain(dicts: list[dict[str, Any]], runs: int) -> dict[str, Figure]:
    """langchain's trimming of the same messages."""
    from langchain_core.messages import convert_to_messages
    from langchain_core.messages.utils import count_tokens_approximately, trim_messages

    def trim(messages: Any) -> None:
        kept = trim_messages(messages, max_tokens=KEPT, token_counter=count_tokens_approximately, start_on="human")
        assert len(kept) < len(messages)

    objects = convert_to_messages(dicts)
    return {"trim": milliseconds(lambda: trim(objects), runs)}


def strands(dicts: list[dict[str, Any]], runs: int) -> dict[str, Figure]:
    """strands' sliding window over the same messages."""
    from strands import Agent
    from strands.agent.conversation_manager import SlidingWindowConversationManager

    manager = SlidingWindowConversationManager(window_size=KEPT_MESSAGES)
    agent = Agent(model=no_model(), conversation_manager=manager)
    messages = [strands_message(item) for item in dicts]

    def slide(given: list[Any]) -> None:
        agent.messages = given
        manager.apply_management(agent)
        assert len(agent.messages) < len(messages)

    return {"window": milliseconds(slide, runs, lambda: list(messages))}


# -- all of it ---------------------------------------------------------------------------------------------------


def rows(asked: Namespace, sessions: Sequence[Path] = ()) -> list[Row]:
    """The table's rows for these sessions; where none are given, for one that is made and for the sample."""
    found = [heading("folding a session with the offline summary")]
    with tempfile.TemporaryDirectory(prefix="foldline-bench-") as folder:
        made = Path(folder, "made.jsonl")
        if not sessions:
            working_session(made, TOKENS)
        for path in sessions or filter(Path.exists, (made, SAMPLE)):
            found += rows_for(path, asked.alternatives_python, asked.runs)
    return found


def rows_for(path: Path, python: str, runs: int) -> list[Row]:
    """The table's rows for one session."""
    ours, sizes = folding_figures(path, runs)
    dicts = as_chat(path)
    theirs = {name: alternative(python, __file__, name, dicts, runs) for name in ("langchain", "strands")}
    trim = theirs["langchain"].get("trim", theirs["langchain"].get("", ""))
    window = theirs["strands"].get("window", theirs["strands"].get("", ""))
    return [
        Row(f"{path.stem}, {sizes}", ours["total"], 250, "langchain trim_messages: drops, no summary", trim),
        Row("", ours["total"], None, "strands sliding window: drops, no summary", window),
        *(Row(f"  {step}", ours[step]) for step in STEPS),
        Row("  peak memory", ours["peak"], 200),
    ]


def main() -> None:
    """Prints the table, or what one process or one alternative measured."""
    parser = options(__doc__)
    parser.add_argument("sessions", nargs="*", type=Path, metavar="SESSION")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        print(json.dumps(fold(asked.child)))
    elif asked.alternative:
        dicts = json.loads(Path(asked.given).read_text())
        tell((langchain if asked.alternative == "langchain" else strands)(dicts, asked.runs))
    else:
        table(rows(asked, asked.sessions))


if __name__ == "__main__":
    main()
