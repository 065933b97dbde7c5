"""The command line as a stranger meets it: who is asked, what is printed, what JSON says, and how it fails."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foldline import Session
from sessions import Log, fold, long_log

KEPT = ("PATH", "PYTHONPATH", "LANG")
HOSTILE = "\x1b[31mred\x1b[0m \x1b]0;owned\x07 \x9b2J \u202egnp.exe\u2066 half \ud83d \u2028 end"
CODE = "import sys; sys.modules[{!r}] = None; from foldline._cli import main; main()"


SAID = {"role": "user", "content": [{"type": "text", "text": "count the plums"}]}


class Home:
    """A home of its own, with a session of pi in its store, and commands that are run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        store = folder / ".pi/agent/sessions/--x--"
        store.mkdir(parents=True)
        header = {"type": "session", "version": 3, "id": "first-session", "timestamp": "2026-01-01T00:00:00.000Z"}
        log = Log({**header, "cwd": str(folder)})
        for n in range(12):
            log.step(n)
        self.session = log.write(store / "first.jsonl")
        self.environment = {
            **{name: value for name, value in os.environ.items() if name in KEPT},
            **{name: str(folder) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")},
            "PI_CODING_AGENT_DIR": str(folder / ".pi/agent"),
        }

    def run(self, *words: str, without: str = "", input: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        start = ["-c", CODE.format(without)] if without else ["-m", "foldline"]
        return subprocess.run(
            [sys.executable, *start, *words],
            cwd=self.folder,
            env={**self.environment, **more},
            input=input,
            capture_output=True,
            encoding=more.get("PYTHONIOENCODING", "utf-8"),
            errors="surrogateescape",  # a document is handed on in its own encoding, wherever to
            check=False,
            timeout=30,
        )

    def on_a_terminal(self, *words: str, typed: str = "", columns: int = 0) -> tuple[int, str]:
        """How a command ends that is run at a terminal of so many columns, and all that the terminal is sent."""
        user, terminal = pty.openpty()
        termios.tcsetwinsize(terminal, (24, columns))
        os.write(user, typed.encode())
        running = subprocess.Popen(
            [sys.executable, "-m", "foldline", *words],
            cwd=self.folder,
            env={**self.environment, "PAGER": "cat", "TERM": "xterm"},
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
        )
        os.close(terminal)
        told = b"".join(pieces(user))
        os.close(user)
        return running.wait(60), told.decode(errors="replace").replace("\r\n", "\n")


def pieces(terminal: int) -> Iterator[bytes]:
    """What comes out of a terminal until nobody writes to it any more."""
    try:
        while piece := os.read(terminal, 65_536):
            yield piece
    except OSError:
        return


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


# -- who agrees ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [(), ("--json",), ("--to", "anthropic", "--out", "new.json")], ids=" ".join)
@pytest.mark.parametrize("input", ["", "n\n", "y\n"])
def test_where_nobody_can_be_asked_nothing_is_written(home: Home, input: str, more: tuple[str, ...]) -> None:
    before = home.session.read_bytes()
    done = home.run("compact", *more, input=input)
    assert done.returncode == 2
    assert "--yes" in done.stderr
    assert home.session.read_bytes() == before
    assert not (home.folder / "new.json").exists()


def test_the_figures_stand_beside_the_question_and_the_summary_is_a_key_away(home: Home) -> None:
    before = home.session.read_bytes()
    code, told = home.on_a_terminal("compact", typed="n\n")
    assert code == 1
    assert "Freed:" in told
    assert len(told.partition("Compaction Preview")[2].partition("Fold this session?")[0].splitlines()) < 16
    assert "fix the handler 0 " not in told
    code, told = home.on_a_terminal("compact", typed="v\nn\n")
    assert (code, "fix the handler 0 " in told) == (1, True)
    assert home.session.read_bytes() == before
    code, told = home.on_a_terminal("compact", typed="y\n")
    assert (code, "Folded." in told) == (0, True)
    assert home.session.read_bytes() != before


def test_the_summary_that_is_looked_at_is_broken_between_words(home: Home) -> None:
    code, told = home.on_a_terminal("compact", typed="v\nn\n", columns=60)
    assert code == 1
    summary = told.partition("shows the summary]: ")[2].rpartition("Fold this session?")[0]
    assert "fix the handler 0 " in summary
    assert [line for line in summary.split("\n") if len(line) > 60 and " " in line] == []


def test_a_session_that_is_only_read_is_refused_before_anything_is_shown(home: Home) -> None:
    path = home.folder / "chat.json"
    path.write_text(json.dumps([{"role": "user", "content": "Please fix the build. " * 400}] * 8))
    code, told = home.on_a_terminal("compact", "--session", str(path), typed="y\n")
    assert code == 1
    assert "compact --to FORMAT" in told
    assert "Preview" not in told


# -- how it fails -------------------------------------------------------------------------------------------------

READING = [
    ["context", "status"], ["context", "inspect"], ["context", "history", "--facts"], ["session", "list"],
    ["session", "show"], ["session", "show", "--folded"], ["compact", "--dry-run"], ["recall", "handler"],
    ["session", "handoff", "the handlers", "--print"], ["context", "export", "-"], ["models", "show", "gpt-5"],
    ["autocompact"], ["policy", "list"], ["policy", "show", "default"],
]  # fmt: skip
"""Commands that change nothing."""

WRITING = [
    ["compact", "--yes"], ["session", "undo"], ["session", "handoff", "the handlers", "--yes"],
    ["context", "export", "state.json"], ["context", "import", "state.json"],
]  # fmt: skip
"""Commands that write, in an order in which each has something to do."""


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "cp1252"])
def test_a_terminal_that_knows_few_characters_is_no_fault(home: Home, encoding: str) -> None:
    for command in [["--help"], ["compact", "--help"], *READING, *WRITING]:
        done = home.run(*command, PYTHONIOENCODING=encoding)
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), (command, done.stderr)


def test_what_an_encoding_has_is_shown_as_it_is(home: Home) -> None:
    told = home.run("context", "status", PYTHONIOENCODING="latin-1").stdout
    assert re.search(r"Counted: +± ", told)
    assert "--------" in told
    assert "?" not in told


@pytest.mark.parametrize("variable", ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY"])
@pytest.mark.parametrize("key", ["", " ", "ключ", "two\nlines"])
def test_a_key_that_is_none_is_one_line(home: Home, variable: str, key: str) -> None:
    models = {"OPENAI": "openai:gpt-5-mini", "ANTHROPIC": "anthropic:claude-haiku-4-5"}
    models |= {"GOOGLE": "google:gemini-2.5-flash", "OPENROUTER": "openrouter:openai/gpt-5-mini"}
    model = models[variable.partition("_")[0]]
    nowhere = {f"{variable.partition('_')[0]}_BASE_URL": "http://127.0.0.1:9"}
    before = home.session.read_bytes()
    asked = ("--model", model, "--base-url", "http://127.0.0.1:9")
    done = home.run("compact", "--yes", *asked, **{variable: key, "FOLDLINE_SUMMARY__RETRIES": "0", **nowhere})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1].startswith("foldline: ")
    assert "Traceback" not in done.stderr
    assert home.session.read_bytes() == before


@pytest.mark.parametrize(
    "command", [["--help"], ["context", "status", "--json"], ["mcp"], ["autocompact"]], ids=" ".join
)
def test_without_the_packages_of_the_command_line_the_way_out_is_named(home: Home, command: list[str]) -> None:
    done = home.run(*command, without="click")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "pip install 'foldline[cli]'" in done.stderr


def test_without_a_package_that_one_command_needs_the_way_out_is_named(home: Home) -> None:
    done = home.run("autocompact", "off", without="tomlkit")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "pip install 'foldline[cli]'" in done.stderr


@pytest.mark.parametrize(
    "command", [*READING[:3], ["compact", "--yes"], ["recall", "x"], ["session", "show"]], ids=" ".join
)
def test_what_is_no_plain_file_is_refused_at_once(home: Home, command: list[str]) -> None:
    fifo = home.folder / "pipe"
    os.mkfifo(fifo)
    for path in (str(fifo), "/dev/zero", "/dev/tty"):
        done = home.run(*command, "--session", path)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"{path}: " in done.stderr
        assert done.stderr.count("\n") == 1


BESIDE = {
    ".claude/projects/-x/c1.jsonl": (".claude/sessions/7.json",),
    ".codex/sessions/2026/01/01/rollout-c1.jsonl": (".codex/session_index.jsonl",),
    ".gemini/tmp/x/chats/session-c1.jsonl": (".gemini/tmp/x/.project_root", ".gemini/projects.json"),
}
"""Sessions in stores of agents, and what stands beside them and is read with them."""


@pytest.mark.parametrize("place", BESIDE)
def test_a_pipe_beside_a_session_is_not_waited_for(home: Home, place: str) -> None:
    session = home.folder / place
    session.parent.mkdir(parents=True)
    rows = {
        ".claude": [{"type": "user", "uuid": "a", "parentUuid": None, "sessionId": "c1", "message": SAID}],
        ".codex": [{"type": "session_meta", "payload": {"id": "c1"}}, {"type": "response_item", "payload": {"type": "message", **SAID}}],
        ".gemini": [{"sessionId": "c1", "projectHash": "x"}, {"id": "m", "type": "user", "content": "count the plums"}],
    }[place.split("/")[0]]  # fmt: skip
    session.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for each in BESIDE[place]:
        beside = home.folder / each
        beside.parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(beside)
    for command in (["session", "list", "--all"], ["context", "status", "--session", str(session)]):
        done = home.run(*command)
        assert (done.returncode, done.stderr) == (0, "")
    nothing_to_fold = home.run("compact", "--yes", "--session", str(session))
    assert (nothing_to_fold.returncode, nothing_to_fold.stderr) == (3, "")


def test_what_is_no_plain_file_is_not_imported_or_read_as_settings(home: Home) -> None:
    fifo = home.folder / "pipe.toml"
    os.mkfifo(fifo)
    assert home.run("context", "import", str(fifo)).returncode == 1
    assert home.run("context", "import", "/dev/zero").returncode == 1
    done = home.run("context", "status", FOLDLINE_CONFIG=str(fifo))
    assert (done.returncode, str(fifo) in done.stderr) == (1, True)


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_a_reader_that_goes_away_hears_no_complaint(home: Home, command: list[str]) -> None:
    fold(Session(home.session))
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "foldline", *command],
        cwd=home.folder, env=home.environment, stdout=writer, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(writer)
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert "Broken pipe" not in done.stderr


# -- what reaches a terminal --------------------------------------------------------------------------------------


@pytest.fixture
def hostile(tmp_path: Path) -> Home:
    """A home whose session says hostile things wherever a session says anything."""
    home = Home(tmp_path)
    log = Log({"type": "session", "version": 3, "id": "first-session", "timestamp": HOSTILE, "cwd": str(tmp_path)})
    log.user(f"{HOSTILE} Please fix the handler, and never touch {HOSTILE}.")
    log.message("assistant", [{"type": "text", "text": HOSTILE}], model=f"m{HOSTILE}", provider=HOSTILE)
    for n in range(12):
        log.step(n)
        log.reply(f"{HOSTILE} {n}", f"call\x1b]0;x\x07{n}", path=f"src/{HOSTILE}.py")
        log.result(f"call\x1b]0;x\x07{n}", HOSTILE * 40)
    log.user(f"{HOSTILE} at last")
    home.session.write_bytes(b"\n".join(json.dumps(line).encode() for line in log.lines) + b"\n")
    return home


STEERING = {*map(chr, range(32)), *map(chr, range(0x7F, 0xA0)), *"\u061c\u200e\u200f\u2028\u2029"} - {"\n", "\t"}
STEERING |= {*map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))}


@pytest.mark.parametrize(
    "command", [*READING, ["compact", "--yes", "--focus", HOSTILE.replace("\ud83d", "")]], ids=repr
)
def test_nothing_of_a_session_steers_a_terminal(hostile: Home, command: list[str]) -> None:
    hostile.environment["NO_COLOR"] = "1"
    named = ["--session", str(hostile.session)] if command[0] in ("context", "compact", "recall") else []
    _, told = hostile.on_a_terminal(*command, *named)
    assert "Traceback" not in told
    assert told.strip()
    assert not {repr(c) for c in set(told) & STEERING}


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_nor_does_what_json_says(hostile: Home, command: list[str]) -> None:
    if command[-1] in ("-", "--print"):
        return
    _, told = hostile.on_a_terminal(*command, "--json")
    assert told.isascii()
    assert not set(told) & STEERING


def test_an_error_that_names_a_path_does_not_steer(home: Home) -> None:
    path = home.folder / "odd\x1b[31m\u202e.jsonl"
    path.write_text("hello\n")
    _, told = home.on_a_terminal("context", "status", "--session", str(path))
    assert "odd" in told
    assert not set(told) & STEERING


FITTED = [
    ["context", "status"], ["context", "inspect"], ["context", "history"], ["compact", "--dry-run"], ["session", "show"],
    ["session", "list"], ["recall", "handler"], ["policy", "show", "default"], ["policy", "list"], ["autocompact"],
    ["models", "show", "claude-sonnet-4-5"],
]  # fmt: skip
"""Commands whose lines are foldline's own, or are cut to a line."""


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("command", FITTED, ids=" ".join)
def test_no_word_is_broken_at_the_edge_of_a_terminal(home: Home, command: list[str], columns: int) -> None:
    home.environment["NO_COLOR"] = "1"
    code, told = home.on_a_terminal(*command, columns=columns)
    too_long = [line for line in told.splitlines() if len(line) > columns and len(line.split()) > 1]
    assert (code, too_long) == (0, [])


@pytest.mark.parametrize("command", [["policy", "show", "default"], ["policy", "list"], ["autocompact"]], ids=" ".join)
def test_a_line_that_is_too_long_goes_on_below_its_words_and_loses_none(home: Home, command: list[str]) -> None:
    plain = home.run(*command).stdout
    _, told = home.on_a_terminal(*command, columns=60)
    assert told.split() == plain.split()
    assert len(told.splitlines()) > len(plain.splitlines())


@pytest.mark.parametrize("columns", range(50, 75, 4))
def test_no_line_begins_with_the_sign_of_a_figure_that_stands_before_it(home: Home, columns: int) -> None:
    _, told = home.on_a_terminal("policy", "list", columns=columns)
    assert " %" in told
    assert not re.search(r"^\s*%", told, re.MULTILINE)


def test_what_a_command_says_to_be_run_stays_on_one_line(home: Home) -> None:
    _, told = home.on_a_terminal("compact", "--yes", "--session", str(home.session), columns=60)
    assert f"foldline session undo --session {home.session}\n" in told


# -- words that were meant ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["compcat"], "compact"),
        (["contxt", "status"], "context"),
        (["status"], "context status"),
        (["inspect", "--json"], "context inspect"),
        (["undo"], "session undo"),
        (["context", "staus"], "status"),
        (["session", "hand-off"], "handoff"),
        (["compact", "--to", "antropic"], "anthropic"),
        (["autocompact", "onn"], "on"),
        (["policy", "lst"], "list"),
        (["completion", "bsh"], "bash"),
    ],
    ids=repr,
)
def test_a_slip_is_answered_with_what_was_meant(home: Home, typed: list[str], meant: str) -> None:
    done = home.run(*typed)
    assert done.returncode == 2
    assert f"; did you mean {meant}?" in done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_is_given_its_completion(home: Home, shell: str) -> None:
    done = home.run("completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"_FOLDLINE_COMPLETE={shell}_complete" in done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_what_bash_is_given_is_bash(home: Home) -> None:
    script = home.run("completion", "bash").stdout
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0


def completed(home: Home, words: str) -> list[str]:
    """What a shell offers for the last word of a line."""
    count = str(len(words.split(" ")) - 1)
    done = home.run(_FOLDLINE_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=count)
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


def test_a_shell_completes_commands_choices_and_sessions(home: Home) -> None:
    assert completed(home, "foldline comp") == ["compact", "completion"]
    assert completed(home, "foldline compact --policy op") == ["openclaw", "opencode"]
    assert completed(home, "foldline compact --session fir") == ["first-session"]
    assert completed(home, "foldline compact --session nowhere") == []


# -- the list -----------------------------------------------------------------------------------------------------


def test_the_list_says_what_a_session_is_about_and_how_long_it_is(home: Home) -> None:
    told = home.run("session", "list").stdout
    assert "Please fix the handler 0 in" in told
    assert "48 messages" in told
    (row,) = json.loads(home.run("session", "list", "--json").stdout)["sessions"]
    assert row["messages"] == 48
    assert row["prompt"].startswith("Please fix the handler 0 in src/module_0.py")


def test_that_nothing_is_folded_is_said(home: Home) -> None:
    done = home.run("session", "show", "--folded")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "nothing is folded in it")
    assert "nothing is folded" not in home.run("session", "show").stderr


def test_the_list_says_where_its_sessions_are_not_of_this_directory(home: Home) -> None:
    assert "every directory" not in home.run("session", "list").stdout
    assert "every directory" not in home.run("session", "list", "--all").stdout
    (home.folder / "elsewhere").mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "foldline", "session", "list"],
        cwd=home.folder / "elsewhere", env=home.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.startswith("Sessions of every directory (there are none of this one)")


def test_colour_is_for_terminals_that_want_it(home: Home) -> None:
    assert "\x1b[" not in home.run("session", "list").stdout
    assert "\x1b[" in home.on_a_terminal("session", "list")[1]
    home.environment["NO_COLOR"] = "1"
    assert "\x1b[" not in home.on_a_terminal("session", "list")[1]


# -- advice -------------------------------------------------------------------------------------------------------


def test_the_third_and_the_fifth_compaction_bring_advice_where_they_are_made(home: Home) -> None:
    advice = []
    for round in range(1, 6):
        log = long_log(12)
        home.session.write_bytes(home.session.read_bytes() + more_of(log, home.session, round))
        done = home.run("compact", "--yes", "--session", str(home.session))
        assert done.returncode == 0, done.stderr
        advice.append([line for line in done.stdout.splitlines() if line.startswith("⚠")])
    assert advice[:2] == [[], []]
    assert ["fresh start" in line for line in advice[2]] == [True]
    assert ["Start afresh" in line for line in advice[4]] == [True]
    last = json.loads(home.run("compact", "--dry-run", "--json", "--session", str(home.session)).stdout)
    assert last["advice"] == [] if last["fold"] is None else last["advice"]


def more_of(log: Log, session: Path, round: int) -> bytes:
    """The steps of a log as records that go on where a session ends."""
    lines = [json.loads(line) for line in session.read_bytes().splitlines()]
    parent = lines[-1]["id"]
    rows = []
    for number, line in enumerate(log.lines[1:]):
        assert isinstance(line, dict)
        rows.append({**line, "id": f"r{round}x{number:04x}", "parentId": parent})
        parent = rows[-1]["id"]
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


# -- JSON ---------------------------------------------------------------------------------------------------------


def of(told: Any) -> tuple[str, str]:
    return told["session"], told["path"]


def test_json_has_one_shape_in_every_command(home: Home) -> None:
    def told(*command: str) -> Any:
        done = home.run(*command, "--json")
        assert done.returncode == 0, (command, done.stderr)
        return json.loads(done.stdout)

    this = ("first-session", str(home.session))
    for command in (["context", "status"], ["context", "inspect"], ["context", "history"], ["session", "show"]):
        assert of(told(*command)) == this
    (row,) = told("session", "list")["sessions"]
    assert of(row) == this
    assert {of(hit) for hit in told("recall", "handler")["hits"]} == {this}
    assert of(told("compact", "--dry-run")) == this
    folded = told("compact", "--yes")
    assert of(folded) == this
    assert folded["fold"]["receipt"].keys() >= {"usage", "cost", "models", "failures", "remarks", "lost", "native"}
    assert [f["receipt"] for f in told("context", "history")["folds"]] == [folded["fold"]["receipt"]]
    (folded_away, *_) = told("session", "show", "--folded")["messages"]
    assert of(told("recall", folded_away["id"])) == this
    assert of(told("session", "undo")) == this
    draft = told("session", "handoff", "the handlers", "--print")
    assert (of(draft), draft["written"]) == (this, None)
    handed = told("session", "handoff", "the handlers", "--yes", "--into", "handed.jsonl")
    assert of(handed) == this
    assert handed["written"]["path"].endswith("handed.jsonl")
    assert handed["written"]["session"] == Session(home.folder / "handed.jsonl").id
    assert of(told("context", "export", "state.json")) == this
    imported = told("context", "import", "state.json", "--into", "imported.jsonl")
    assert of(imported) == (Session(home.folder / "imported.jsonl").id, "imported.jsonl")
    assert told("models", "show", "gpt-5")["name"] == "gpt-5"
    assert told("autocompact")["auto_enabled"] is True


def test_a_branch_is_told_as_the_session_that_it_is(home: Home) -> None:
    asked = next(e for e in json.loads(home.run("session", "show", "--json").stdout)["messages"])
    told = json.loads(home.run("session", "branch", "--at", asked["id"], "--json").stdout)
    assert told["session"] == Session(told["path"]).id
    assert told["parent"] == {"session": "first-session", "path": str(home.session)}


@pytest.mark.parametrize(
    ("command", "code", "kind"),
    [
        (["context", "status", "--session", "nowhere"], 1, "SessionError"),
        (["compact", "--yes", "--session", "nowhere"], 1, "SessionError"),
        (["compact", "--session", "nowhere", "--polcy", "x"], 2, "NoSuchOption"),
        (["compact", "--to", "none"], 2, "BadParameter"),
        (["compact", "--yes", "--policy", "none"], 1, "ConfigError"),
        (["session", "branch"], 2, "UsageError"),
        (["recall", "x", "--all", "--session", "y"], 2, "UsageError"),
        (["models", "show", " "], 2, "UsageError"),
        (["context", "import", "nowhere.json"], 1, "FormatError"),
    ],
    ids=repr,
)
def test_an_error_is_json_where_json_was_asked_for(home: Home, command: list[str], code: int, kind: str) -> None:
    done = home.run(*command, "--json")
    assert done.returncode == code
    assert json.loads(done.stdout)["error"]["kind"] == kind
    assert json.loads(done.stdout)["error"]["message"] in done.stderr


@pytest.mark.parametrize(
    "command",
    [
        "context status",
        "context inspect",
        "context history",
        "session show",
        "compact --dry-run",
        "recall step",
        "doctor",
    ],
)
def test_what_went_well_has_no_error(home: Home, command: str) -> None:
    done = home.run(*command.split(), "--json")
    assert done.returncode in (0, 3)
    assert "error" not in json.loads(done.stdout)


def test_what_a_pin_or_a_pair_stands_in_the_way_of_is_told_with_the_way_out(home: Home) -> None:
    shown = json.loads(home.run("session", "show", "--json").stdout)["messages"]
    asked = [each["id"] for each in shown if each["message"]["role"] == "user"][1]
    calling = next(at for at, each in enumerate(shown) if each["message"]["role"] == "tool") - 1
    assert home.run("pin", asked).returncode == 0
    for command in (["edit", asked, "--text", "Something else."], ["restore", shown[0]["id"]]):
        refused = home.run("session", *command)
        assert refused.returncode == 1
        assert f"{asked} is pinned: `foldline pin --remove {asked}` takes the pin off" in refused.stderr
    assert home.run("pin", "--remove", asked).returncode == 0
    refused = home.run("session", "restore", shown[calling]["id"])
    assert f"; go back to {shown[calling + 1]['id']} instead" in refused.stderr
    assert home.run("session", "restore", shown[calling + 1]["id"]).returncode == 0


def test_the_help_says_what_json_looks_like(home: Home) -> None:
    told = " ".join(home.run("--help").stdout.split())
    for said in ("`session`", "`path`", "`error`"):
        assert said in told
