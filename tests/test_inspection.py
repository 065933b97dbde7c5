"""What `context inspect` says: what each layer would free, what fills the context by tool and by file, and what is left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from foldline import open_session
from foldline._cli.commands import foldline
from foldline._desk.desk import Desk
from foldline._desk.inspection import inspect
from foldline._messages import replace
from foldline.extend import preset
from sessions import HEADER, SYSTEM, Log

POLICIES = ("default", "openclaw", "pi")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Three readings of one file, one of another, and commands, behind a system prompt."""
    log = Log({**HEADER, "cwd": "/srv/shop"})
    log.system({**SYSTEM, "sections": {"preamble": "You are pi. " * 300}})
    for turn, file in enumerate(["orders.py", "orders.py", "tax.py", "orders.py"] * 3):
        log.user(f"look at {file} in turn {turn}")
        call = {"type": "toolCall", "id": f"r{turn}", "name": "read", "arguments": {"path": f"src/{file}"}}
        log.message("assistant", [{"type": "text", "text": "Looking. " * 40}, call], model="demo-1")
        lines = "".join(f"line {n} of {file} in turn {turn}\n" for n in range(120))
        log.message("toolResult", [{"type": "text", "text": lines}], toolCallId=f"r{turn}", toolName="read")
        call = {"type": "toolCall", "id": f"b{turn}", "name": "bash", "arguments": {"command": "make check"}}
        log.message("assistant", [call], model="demo-1")
        log.message("toolResult", [{"type": "text", "text": "ok\n" * 60}], toolCallId=f"b{turn}", toolName="bash")
        log.message("assistant", [{"type": "text", "text": f"Turn {turn} is done. " * 30}], model="demo-1")
    return log.write(tmp_path / "session.jsonl")


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("window", [20_000, 60_000, 400_000])
def test_a_layer_would_free_what_a_run_of_it_alone_frees(name: str, window: int, path: Path) -> None:
    policy = preset(name)
    told = inspect(Desk(open_session(path), window=window), policy)
    assert [saving.layer for saving in told.savings] == [layer.name for layer in policy.layers]
    for saving, layer in zip(told.savings, policy.layers):
        run = Desk(open_session(path), window=window).plan(replace(policy, layers=(layer,)))
        assert saving.tokens == (run.desk.view.tokens - run.after.tokens if run else 0)


def test_the_rest_of_the_window_is_reserve_and_free_space(path: Path) -> None:
    desk = Desk(open_session(path), window=60_000)
    told = inspect(desk, preset("default"))
    assert told.reserve == desk.budget.window - desk.budget.limit
    assert told.tokens + told.reserve + told.free == told.window
    assert inspect(Desk(open_session(path), window=1_000), preset("default")).free == 0


def test_outputs_are_told_by_tool_and_by_file(path: Path) -> None:
    told = inspect(Desk(open_session(path), window=60_000), preset("default"))
    outputs = next(share for share in told.shares if share.name == "Tool Outputs")
    assert [(share.name, share.count) for share in told.by_tool] == [("read", 12), ("bash", 12)]
    assert sum(share.tokens for share in told.by_tool) == pytest.approx(outputs.tokens, abs=2)
    assert [(share.name, share.count) for share in told.by_file] == [("src/orders.py", 9), ("src/tax.py", 3)]
    assert sum(share.tokens for share in told.by_file) == pytest.approx(told.by_tool[0].tokens, abs=2)


def test_pins_are_counted(path: Path) -> None:
    desk = Desk(open_session(path), window=60_000)
    pinned = [entry for entry in desk.view.entries if entry.pinned]
    assert inspect(desk, preset("default")).pinned == sum(entry.tokens for entry in pinned) > 0


def test_the_command_shows_all_of_it(path: Path) -> None:
    words = ["context", "inspect", "--window", "60000", "--session", str(path)]
    shown = CliRunner().invoke(foldline, words).stdout
    for label in (
        "Free Space",
        "Reserve",
        "Pinned",
        "By Tool",
        "By File",
        "src/orders.py",
        "Layer 1",
        "Layer 2",
        "Layer 3",
    ):
        assert label in shown
    told = json.loads(CliRunner().invoke(foldline, [*words, "--json"]).stdout)
    assert {"free", "reserve", "pinned", "by_tool", "by_file"} <= told.keys()


def test_what_is_free_stands_in_the_column_of_what_is_filled(tmp_path: Path) -> None:
    log = Log(HEADER)
    log.user("count the plums")
    shown = CliRunner().invoke(foldline, ["context", "inspect", "--session", log.write(tmp_path / "s.jsonl")]).stdout
    shares = shown.split("Breakdown:\n")[1].split("\n\n")[0].splitlines()
    assert shares[-1].startswith("  Free Space:")
    assert len({line.index(" tokens ") for line in shares}) == 1


def test_files_of_instructions_are_told_apart_from_what_was_said(tmp_path: Path) -> None:
    log = Log({**HEADER, "cwd": "/srv/shop"})
    rules = "# AGENTS.md instructions for /srv/shop\n\n" + "Never edit the lock file. " * 100
    log.message("user", [{"type": "text", "text": rules}])
    log.user("count the plums")
    desk = Desk(open_session(log.write(tmp_path / "s.jsonl")))
    told = inspect(desk, preset("default"))
    shares = {share.name: share for share in told.shares}
    assert (shares["Memory Files"].count, shares["Memory Files"].unit) == (1, "files")
    assert shares["Memory Files"].tokens > 400 > shares["Conversation"].tokens > 0
    assert shares["System Prompt"].tokens == told.overhead == desk.meter.overhead > 0
    assert sum(share.tokens for share in told.shares) == told.tokens
