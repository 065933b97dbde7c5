"""Programs that a command line left running behind it, until something ends them."""

from __future__ import annotations

import json

import pytest

from foldline import Brief, Message
from foldline._facts.merging import merge, settled
from foldline._facts.reading import facts_of
from foldline._facts.types import Facts
from foldline._page.extract import compose
from foldline._page.state import state
from foldline.extend import SUMMARY_PREFIX, SUMMARY_SUFFIX, Text, ToolCall, ToolResult
from talk import runs

SERVED = "cd /srv/shop && nohup python3 -m http.server 8123 >/tmp/shop.log 2>&1 & sleep 1; curl -s -o /dev/null localhost:8123"
RUNS = "runs still when seen last: `nohup python3 -m http.server 8123`"
ASKED = [Message("user", (Text("Show me the shop in a browser."),))]


def ran(*commands: str, answer: str = "200") -> list[Message]:
    messages: list[Message] = []
    for command in commands:
        call = ToolCall(f"c-{command}", "bash", json.dumps({"command": command}))
        messages += [Message("assistant", (call,)), Message("tool", (ToolResult(call.id, (Text(answer),)),))]
    return messages


def told(facts: Facts) -> list[str]:
    return [line for line in state(facts) if line.startswith("runs still")]


@pytest.mark.parametrize(
    ("commands", "lines"),
    [
        ([SERVED], [RUNS]),
        (["(nohup python3 -m http.server 8123 &)"], [RUNS]),
        ([SERVED, SERVED], [RUNS]),
        ([SERVED, "pkill -f 'http.server 8123'; " + SERVED], [RUNS]),
        ([SERVED, "pkill -f 'http.server 9000'"], [RUNS]),
        ([SERVED, "kill -0 4711 && echo alive"], [RUNS]),
        ([SERVED, "make build & wait"], [RUNS]),
        ([SERVED, "pkill -f 'http.server 8123'"], []),
        ([SERVED, "kill 4711"], []),
        ([SERVED, "kill $(lsof -ti:8123)"], []),
        ([SERVED, "lsof -ti:8123 | xargs kill -9"], []),
        ([f"{SERVED}; kill %1"], []),
        ([f"{SERVED}; pkill -f 'server.py'"], []),
        (["nohup npm run shop >/tmp/shop.log 2>&1 & sleep 2", "pkill -f 'vite serve' 2>/dev/null; git status"], []),
        (["node render.js & node draw.js & wait"], []),
        (["pytest -q & sleep 5"], []),
        (["timeout 20 node serve.js & sleep 5"], []),
        (["python3 -m http.server 8123 && curl localhost:8123"], []),
        (["curl 'localhost:8123/?a=1&b=2' 2>&1"], []),
    ],
)
def test_what_was_put_into_the_background_runs_until_it_is_ended(commands: list[str], lines: list[str]) -> None:
    assert told(facts_of([*ASKED, *ran(*commands)])) == lines


@pytest.mark.parametrize(
    "command",
    [
        "nohup bash -c 'cd src && make -j8 quays > /tmp/build.log 2>&1' > /dev/null 2>&1 &",
        "make -j4 quays > /tmp/build.log &",
        "npm install > /tmp/install.log 2>&1 &",
        "nohup ninja -C build &",
    ],
)
def test_a_build_or_an_installation_in_the_background_ends_by_itself(command: str) -> None:
    assert told(facts_of([*ASKED, *ran(command, answer="13603")])) == []


@pytest.mark.parametrize("command", ["make serve &", "nohup make run-dev > /tmp/dev.log &", "npm run dev &"])
def test_a_server_in_the_background_runs_on(command: str) -> None:
    assert len(told(facts_of([*ASKED, *ran(command, answer="13603")]))) == 1


@pytest.mark.parametrize(
    ("commands", "lines"),
    [
        (
            ['ping -n 3 127.0.0.1 >nul & cd c:\\shop && start "Shop" node serve.js --port 8123'],
            ["node serve.js --port 8123"],
        ),
        (["start /B npm run dev & ping -n 5 127.0.0.1 >nul"], ["npm run dev"]),
        (["start /B node serve.js & cd c:\\shop", "taskkill /F /IM node.exe 2>nul"], ["node serve.js"]),
        (["start /B node.exe serve.js & cd c:\\shop", "taskkill /F /IM node.exe 2>nul"], []),
        (["start /B node serve.js & cd c:\\shop", "taskkill /F /PID 4711"], []),
        (["start /B node serve.js & cd c:\\shop", 'taskkill /F /FI "WINDOWTITLE eq Desk*" 2>nul'], ["node serve.js"]),
        (["dir c:\\shop\\lib >nul & echo done"], []),
    ],
)
def test_what_windows_starts_in_a_window_of_its_own_runs_on(commands: list[str], lines: list[str]) -> None:
    """Its `&` only parts commands."""
    assert told(facts_of([*ASKED, *ran(*commands)])) == [f"runs still when seen last: `{line}`" for line in lines]


def test_what_could_not_be_started_does_not_run() -> None:
    assert told(facts_of([*ASKED, *ran(SERVED, answer="Exit code 7\ncurl: (7) Failed to connect")])) == []


@pytest.mark.parametrize(
    ("command", "lines"), [("pkill -f http.server", []), ("pkill -f redis", ["runs still when seen last: `python3 -m http.server 8123` (17)"])]
)  # fmt: skip
def test_what_a_client_keeps_running_is_ended_by_a_command_that_names_it(command: str, lines: list[str]) -> None:
    call = ToolCall("s", "exec_command", json.dumps({"cmd": "python3 -m http.server 8123"}))
    answer = ToolResult("s", (Text("Chunk ID: 1\nProcess running with session ID 17\nOutput:\n"),))
    serving = [Message("assistant", (call,)), Message("tool", (answer,))]
    assert told(facts_of([*ASKED, *serving, *ran(command)])) == lines
    assert told(settled(facts_of([*ASKED, *serving]), facts_of(ran(command)))) == lines


def test_messages_behind_may_end_it() -> None:
    before, killed = facts_of([*ASKED, *ran(SERVED)]), facts_of(ran("pkill -f http.server"))
    assert told(settled(before, killed)) == []
    assert told(merge(before, killed)) == []
    assert told(settled(before, facts_of(ran("ls")))) == [RUNS]


def test_it_lasts_where_a_page_comes_back_as_text() -> None:
    page = compose(Brief(800), facts_of([*ASKED, *ran(SERVED)]))
    again = facts_of([Message("user", (Text(f"{SUMMARY_PREFIX}{page}{SUMMARY_SUFFIX}"),)), *ran("ls")])
    assert told(again) == [RUNS]


FITS = "nohup python3 src/fit.py --dt 0.001 > /tmp/fit.log 2>&1 &"


@pytest.mark.parametrize("end", ["[1]+  Done   ", "[1]-  Exit 2 ", "[2]   Terminated "])
def test_what_a_shell_says_has_ended_has_ended(end: str) -> None:
    started = ran(FITS, answer="[1] 4711")
    other = ran("ls /tmp", answer=f"fit.log\n{end}       {FITS.removesuffix(' &')}")
    assert any("src/fit.py" in line for line in told(facts_of([*ASKED, *started])))
    assert told(facts_of([*ASKED, *started, *other])) == []
    assert told(merge(facts_of([*ASKED, *started]), facts_of(other))) == []
    assert not facts_of([*ASKED, *started, *other]).faults


# -- the one tool of OpenClaw for programs that go on ------------------------------------------------------------------

FIRE = "kiln fire --at 900"
GOES_ON = "Command still running (session marine-claw, pid 25416). Use process (list/poll/log/write/kill/clear/remove) for follow-up."
FIRED = "the oven is at 900\n\nProcess exited with code 0."


def process(action: str, answer: str) -> list[Message]:
    return runs("process", {"action": action, "sessionId": "marine-claw"}, answer, id=action)


def test_a_list_says_which_of_these_have_ended() -> None:
    listed = "calm-otter completed 12s :: ls\nmarine-claw failed 2m :: kiln fire --at 900"
    started = [*ASKED, *runs("exec", {"command": FIRE}, GOES_ON)]
    assert told(facts_of(started))
    for how, lasts in (("running", True), ("failed", False)):
        seen = runs("process", {"action": "list"}, listed.replace("failed", how), id="list")
        assert bool(told(facts_of([*started, *seen]))) is lasts


def test_what_was_polled_of_a_program_is_told_of_its_command_and_no_poll_is() -> None:
    polls = [*process("poll", "(no new output)\n\nProcess still running."), *process("log", "(no output yet)")]
    facts = facts_of([*ASKED, *runs("exec", {"command": FIRE}, GOES_ON), *polls, *process("poll", FIRED)])
    assert not any("poll" in piece.text or "log" in piece.text for piece in facts.pieces if piece.by == "tool")
    assert any(piece.text.startswith(f"`{FIRE}`") for piece in facts.pieces)
    assert "marine-claw" not in compose(Brief(2_000), facts)


def test_what_a_server_put_out_so_far_is_no_end_of_it() -> None:
    serve = "kiln serve --at 3000"
    started = [*ASKED, *runs("exec", {"command": serve}, GOES_ON), *process("log", "the oven listens on 3000")]
    assert f"`{serve}` (marine-claw)" in compose(Brief(2_000), facts_of(started))
    over = process("log", FIRED)
    assert "runs still" not in compose(Brief(2_000), facts_of([*started, *over]))


def test_it_runs_until_a_call_says_that_it_had_ended() -> None:
    started = [*ASKED, *runs("exec", {"command": FIRE}, GOES_ON), *process("log", "(no output yet)")]
    assert f"`{FIRE}` (marine-claw)" in compose(Brief(2_000), facts_of(started))
    gone = process("kill", "No active session found for marine-claw")
    assert "marine-claw" not in compose(Brief(2_000), facts_of([*started, *gone]))


STILL = "<command with shellId: 7 is still running after 60 seconds. It may be waiting for input. Use read_powershell to continue waiting.>"
FAILED = "test shop ... FAILED\n\nerror: test failed, to rerun pass `--test shop`\n<command with id: 7 exited with exit code 101>"


def test_a_command_of_copilot_that_was_waited_for_ends_with_the_call_that_says_so() -> None:
    begun = runs("powershell", {"command": "cargo test", "initial_wait": 60}, STILL)
    waited = [m for n in range(3) for m in runs("read_powershell", {"delay": 120, "shellId": "7"}, STILL, id=f"w{n}")]
    assert told(facts_of([*ASKED, *begun, *waited])) == ["runs still when seen last: `cargo test` (7)"]
    ended = runs("read_powershell", {"delay": 120, "shellId": "7"}, FAILED, id="w9")
    facts = facts_of([*ASKED, *begun, *waited, *ended])
    assert told(facts) == []
    assert any(line.startswith("open error: `cargo test` → ") for line in state(facts))
    assert not any("read_powershell" in piece.text for piece in facts.pieces)
