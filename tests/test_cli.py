"""The command line, run as a user runs it."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from foldline._cli.context import draw_history
from foldline._policies import names
from foldline._sessions.reading import summarized
from foldline.extend import preset
from sessions import Log

SAMPLE = Path(__file__).parents[1] / "samples" / "invoices.jsonl"
NO_UTF_8 = os.fsdecode(b"caf\xe9")


@pytest.fixture
def foldline(tmp_path):
    """Runs the command in a folder and a home of its own."""

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        home = {
            "HOME": str(tmp_path),
            "XDG_CONFIG_HOME": str(tmp_path / "config"),
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
        }
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH", "LANG")}
        command = [sys.executable, "-m", "foldline", *arguments]
        return subprocess.run(
            command,
            cwd=tmp_path,
            env={**kept, **home, **environment},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )

    return run


@pytest.fixture
def session(tmp_path) -> Path:
    path = tmp_path / "session.jsonl"
    shutil.copyfile(SAMPLE, path)
    return path


@pytest.mark.parametrize("command", ["session show", "session undo", "context status", "compact"])
def test_a_session_that_is_given_bare_is_told_how_it_is_named(foldline, session, command):
    run = foldline(*command.split(), str(session))
    assert run.returncode == 2
    assert "--session PATH-OR-ID" in run.stderr


@pytest.mark.parametrize("command", ["recall", "session handoff"])
def test_a_session_among_words_is_told_how_it_is_named(foldline, session, command):
    run = foldline(*command.split(), str(session))
    assert run.returncode == 2
    assert "--session" in run.stderr
    assert foldline("recall", "README.md", "--session", str(session)).returncode != 2


def test_help_names_every_command_and_the_exit_codes(foldline):
    told = foldline("--help").stdout
    for command in ("compact", "context", "session", "recall", "autocompact", "models"):
        assert f"  {command} " in told
    assert "3 nothing to do" in told


def test_every_command_has_help(foldline):
    for command in ("compact", "context status", "context inspect", "context history", "session list", "session show"):
        assert foldline(*command.split(), "--help").returncode == 0
    for command in ("session undo", "recall", "autocompact", "models show"):
        assert "Usage:" in foldline(*command.split(), "--help").stdout


def test_status_in_the_layout_of_the_requirements(foldline, session):
    told = foldline("context", "status", "--session", str(session)).stdout
    assert told.startswith("Context Status\n━━━")
    assert "Total Tokens:        118," in told
    assert "(93%)" in told
    assert "Compaction Count:    0" in told
    assert "Degradation Risk:    Low" in told


def test_a_dry_run_changes_nothing(foldline, session):
    before = session.read_bytes()
    done = foldline("compact", "--dry-run", "--session", str(session))
    assert done.returncode == 0
    assert "the service port must stay 8443" in done.stdout
    assert session.read_bytes() == before


def test_a_fold_that_stays_over_the_window_says_what_is_in_the_way(foldline, session):
    told = foldline("compact", "--dry-run", "--window", "1", "--session", str(session)).stdout
    assert re.search(r"Still [\d,]+ tokens over the window of 1\. Left are [\d,]+ of system messages, ", told)
    assert re.search(r"[\d,]+ of the summary, [\d,]+ of messages that stay word for word\.", told)
    assert "0000%" not in told
    assert ">999%" in told
    assert "Still" not in foldline("compact", "--dry-run", "--session", str(session)).stdout
    done = foldline("compact", "--yes", "--window", "1", "--json", "--session", str(session))
    folded = json.loads(done.stdout)
    assert folded["over"] == folded["fold"]["receipt"]["tokens_after"] - 1


def test_where_nothing_folds_a_full_window_is_told_as_well(foldline, session):
    short = session.with_name("short.jsonl")
    short.write_bytes(b"\n".join(session.read_bytes().splitlines()[:5]) + b"\n")
    done = foldline("compact", "--yes", "--window", "1", "--session", str(short))
    assert done.returncode == 1
    assert re.search(r"Nothing can be folded: .*\nStill [\d,]+ tokens over the window of 1\.", done.stdout)
    assert re.search(r"The largest message is \S+, of [\d,]+ tokens\. The way out: ", done.stdout)
    assert "session handoff" in done.stdout
    assert "Nothing to do" not in done.stdout
    assert foldline("compact", "--yes", "--session", str(short)).returncode == 3


def test_one_message_is_told_of_in_the_singular(foldline, session):
    short = session.with_name("short.jsonl")
    short.write_bytes(b"\n".join(session.read_bytes().splitlines()[:4]) + b"\n")
    shown = foldline("session", "show", "--json", "--session", str(short)).stdout
    assert len(json.loads(shown)["messages"]) == 1
    assert re.search(
        r"Nothing to do: [\d,]+ tokens in 1 message, ", foldline("compact", "--session", str(short), "--dry-run").stdout
    )


def test_one_message_over_the_window_is_named_with_what_makes_it_shorter(foldline, tmp_path):
    session = tmp_path / "s.jsonl"
    shutil.copyfile(SAMPLE.parents[1] / "tests" / "transcripts" / "claude-code.jsonl", session)
    id = json.loads(foldline("session", "show", "--json", "--session", str(session)).stdout)["messages"][0]["id"]
    done = foldline("compact", "--yes", "--window", "1", "--session", str(session))
    assert done.returncode == 1
    assert f"foldline session edit {id}" in done.stdout


def test_what_is_read_only_says_so_in_the_preview(foldline, tmp_path):
    chat = tmp_path / "aider.chat.history.md"
    talk = "".join(f"#### count the plums of crate {n}\n\n{'plums are counted ' * 200}\n\n" for n in range(40))
    chat.write_text(f"# aider chat started at 2026-01-01 10:00:00\n\n{talk}")
    done = foldline("compact", "--dry-run", "--window", "16000", "--session", str(chat))
    assert done.returncode == 0
    assert "sessions of aider are read, not written" in done.stdout
    assert "--to FORMAT" in done.stdout
    assert "own command" not in done.stdout
    new = foldline("compact", "--dry-run", "--to", "pi", "--window", "16000", "--session", str(chat))
    assert "read, not written" not in new.stdout


@pytest.mark.parametrize(
    "command", [("pin", "1"), ("session", "edit", "1", "--text", "hi"), ("session", "restore", "1")]
)
def test_what_cannot_be_revised_says_what_can_be_done_instead(foldline, tmp_path, command):
    chat = tmp_path / "aider.chat.history.md"
    chat.write_text("# aider chat started at 2026-01-01 10:00:00\n\n#### count the plums\n\nThere are nine.\n\n")
    done = foldline(*command, "--session", str(chat))
    assert done.returncode == 1
    assert "--to FORMAT" in done.stderr
    assert "one of pi takes pins and edits" in done.stderr


@pytest.mark.parametrize(
    "of", [SAMPLE, SAMPLE.parents[1] / "tests" / "transcripts" / "codex.jsonl"], ids=["pi", "codex"]
)
def test_words_that_are_no_utf_8_are_written_with_a_mark_for_what_cannot_be_read(foldline, tmp_path, of):
    session = tmp_path / "s.jsonl"
    shutil.copyfile(of, session)
    shown = json.loads(foldline("session", "show", "--json", "--session", str(session)).stdout)["messages"]
    id = next(each["id"] for each in shown if each["message"]["role"] == "user")
    assert foldline("session", "edit", id, "--text", NO_UTF_8, "--session", str(session)).returncode == 0
    shown = json.loads(foldline("session", "show", "--json", "--session", str(session)).stdout)["messages"]
    assert "caf\N{REPLACEMENT CHARACTER}" in [part.get("text") for each in shown for part in each["message"]["parts"]]
    assert b"\\udc" not in session.read_bytes()


def test_what_a_summary_must_keep_is_written_so_too(foldline, session):
    done = foldline("compact", "--yes", "--focus", NO_UTF_8, "--session", str(session))
    assert done.returncode == 0, done.stderr
    assert "caf\N{REPLACEMENT CHARACTER}" in session.read_text("utf-8")
    assert b"\\udc" not in session.read_bytes()


def test_a_pin_where_there_is_no_place_for_one_names_the_focus(foldline, tmp_path):
    session = tmp_path / "s.jsonl"
    shutil.copyfile(SAMPLE.parents[1] / "tests" / "transcripts" / "claude-code.jsonl", session)
    id = json.loads(foldline("session", "show", "--json", "--session", str(session)).stdout)["messages"][0]["id"]
    done = foldline("pin", id, "--session", str(session))
    assert done.returncode == 1
    assert "foldline compact --focus TEXT" in done.stderr


@pytest.mark.parametrize("named", [(), ("--session", "nowhere")])
def test_a_session_that_is_not_found_says_what_lists_those_that_there_are(foldline, named):
    done = foldline("context", "status", *named)
    assert done.returncode == 1
    assert "`foldline session list --all`" in done.stderr


def test_a_file_of_several_says_which_one_is_meant(foldline, tmp_path):
    chat = tmp_path / "aider.chat.history.md"
    chat.write_text("".join(f"# aider chat started at 2026-01-0{n} 10:00:00\n\n#### plums {n}\n\n" for n in (1, 2, 3)))
    done = foldline("session", "show", "--session", str(chat))
    assert "plums 3" in done.stdout
    assert f"{chat}#3, the newest of several" in done.stderr
    assert foldline("session", "show", "--session", f"{chat}#1").stderr == ""


def test_a_policy_that_is_shown_names_the_way_to_its_file(foldline, tmp_path):
    shown = foldline("policy", "show", "default").stdout
    way = next(line for line in shown.splitlines() if "--json" in line)
    words = way.partition("foldline ")[2].partition(" >")[0].split()
    (tmp_path / "own.json").write_text(foldline(*words).stdout)
    assert foldline("policy", "check", "own.json").returncode == 0


@pytest.mark.parametrize("name", ["qwen", "claude-code", "codex"])
def test_an_agents_own_compaction_is_taken_back_only_where_that_is_agreed_to(foldline, tmp_path, name):
    session = tmp_path / "s.jsonl"
    shutil.copyfile(SAMPLE.parents[1] / "tests" / "transcripts" / f"{name}.jsonl", session)
    before = session.read_bytes()
    refused = foldline("session", "undo", "--session", str(session))
    assert refused.returncode == 2
    assert "a compaction of" in refused.stderr
    assert "--yes" in refused.stderr
    assert session.read_bytes() == before
    assert foldline("session", "undo", "--yes", "--session", str(session)).stdout.startswith("Undone")
    assert session.read_bytes() != before


def test_a_later_layer_that_frees_less_is_explained(foldline, session):
    told = foldline("context", "inspect", "--session", str(session))
    freed = [int(n.replace(",", "")) for n in re.findall(r"Layer .*~([\d,]+) tokens", told.stdout)]
    assert freed != sorted(freed)
    assert "its own target" in told.stdout
    session.write_bytes(b"\n".join(session.read_bytes().splitlines()[:5]) + b"\n")
    assert "its own target" not in foldline("context", "inspect", "--session", str(session)).stdout


def test_a_model_that_is_not_known_ends_with_1(foldline):
    assert foldline("models", "show", "nope").returncode == 1
    assert foldline("models", "show", "gpt-5").returncode == 0


def test_a_fill_beyond_all_measure_does_not_look_broken(foldline, session):
    assert "/ 1 (>999%)" in foldline("context", "status", "--window", "1", "--session", str(session)).stdout


def test_a_fold_of_the_agents_own_is_no_layer_of_ours():
    folds = [summarized("a", "", 100_000, 1, "Plums were counted.", trigger="threshold")]
    told = draw_history(folds, None, preset("default"))
    assert "AUTO - by the agent itself" in told
    assert "Layer" not in told


@pytest.mark.parametrize(
    ("agent", "command"),
    [("pi", "pi --session {path}"), ("claude-code", "claude --resume {id}"), ("codex", "codex resume {id}")],
)
def test_a_new_session_says_how_its_agent_goes_on_with_it(foldline, session, agent, command):
    done = foldline("session", "handoff", "write the docs", "--to", agent, "--session", str(session))
    id, path, goes_on = re.fullmatch(r"Handed off: \S+ session (\S+)\n(\S+)\nGo on: (.+)\n", done.stdout).groups()
    assert goes_on == command.format(id=id, path=path)


@pytest.mark.parametrize(
    ("name", "agent"), [("claude-code.jsonl", "claude-code"), ("codex.jsonl", "codex"), ("aider", "pi")]
)
def test_a_handoff_stays_with_the_agent_of_the_session_where_it_can(foldline, tmp_path, name, agent):
    session = tmp_path / "s.jsonl"
    if name == "aider":
        session.write_text("# aider chat started at 2026-01-01 10:00:00\n\n#### count the plums\n\nThere are nine.\n\n")
    else:
        shutil.copyfile(SAMPLE.parents[1] / "tests" / "transcripts" / name, session)
    done = foldline("session", "handoff", "count the plums", "--json", "--session", str(session))
    assert json.loads(done.stdout)["written"]["format"] == agent


def test_messages_that_stay_and_are_only_shortened_are_told_of(foldline, session):
    done = foldline("compact", "--yes", "--policy", "amp", "--json", "--session", str(session))
    receipt = json.loads(done.stdout)["fold"]["receipt"]
    folded, shortened = receipt["messages_folded"], receipt["messages_pruned"]
    assert 0 < shortened < folded
    history = foldline("context", "history", "--session", str(session)).stdout
    assert f"Compacted: {folded} messages, {shortened} of them only shortened\n" in history
    foldline("session", "undo", "--session", str(session))
    preview = foldline("compact", "--dry-run", "--policy", "amp", "--session", str(session)).stdout
    assert f"folded, {shortened} of them only shortened, the rest word for word\n" in preview


def test_compact_history_undo(foldline, session):
    before = session.read_bytes()
    full = json.loads(foldline("context", "status", "--session", str(session), "--json").stdout)
    done = foldline("compact", "--yes", "--focus", "retention", "--session", str(session))
    assert done.returncode == 0, done.stderr
    assert session.read_bytes().startswith(before)
    folded = json.loads(foldline("context", "status", "--session", str(session), "--json").stdout)
    assert folded["tokens"] < full["tokens"] / 3
    assert folded["compactions"] == 1
    told = foldline("context", "history", "--session", str(session)).stdout
    assert "MANUAL - Layer 2 (summarize)" in told
    assert 'Focus:     "retention"' in told
    assert foldline("session", "undo", "--session", str(session)).returncode == 0
    again = json.loads(foldline("context", "status", "--session", str(session), "--json").stdout)
    assert again["tokens"] == pytest.approx(full["tokens"], rel=0.001)
    assert again["compactions"] == 0


def test_every_command_tells_the_same_size(foldline, session):
    def told(*command):
        return json.loads(foldline(*command, "--session", str(session), "--json").stdout)

    size = told("context", "status")["tokens"]
    inspected = told("context", "inspect")
    assert inspected["tokens"] == sum(share["tokens"] for share in inspected["shares"]) == size
    assert told("context", "export", str(session.with_name("state.json")))["tokens"]["context"] == size
    folded = told("compact", "--yes")["fold"]["receipt"]
    assert folded["tokens_before"] == size
    assert told("context", "status")["tokens"] == pytest.approx(folded["tokens_after"], abs=2)
    assert told("session", "undo")["tokens_after"] == size


def test_what_was_folded_can_be_recalled(foldline, session):
    foldline("compact", "--yes", "--session", str(session))
    shown = json.loads(foldline("session", "show", "--folded", "--json", "--session", str(session)).stdout)["messages"]
    output = next(entry for entry in shown if entry["message"]["role"] == "tool")
    done = foldline("recall", output["id"], "--session", str(session))
    assert output["message"]["parts"][0]["parts"][0]["text"].strip() in done.stdout


def test_nothing_to_do_is_exit_code_3_and_json_as_well(foldline, session):
    short = session.with_name("short.jsonl")
    short.write_bytes(b"\n".join(session.read_bytes().splitlines()[:5]) + b"\n")
    idle = {
        ("session", "undo", "--session", str(session)): {"path": str(session), "undone": None},
        ("recall", "zqxjkvw", "--session", str(session)): {"query": "zqxjkvw", "message": None, "hits": []},
        ("compact", "--yes", "--session", str(short)): {"path": str(short), "fold": None, "written": False},
        ("session", "list"): {"sessions": []},
    }
    for command, told in idle.items():
        assert foldline(*command).returncode == 3
        done = foldline(*command, "--json")
        assert done.returncode == 3
        assert json.loads(done.stdout).items() >= told.items()


@pytest.mark.parametrize("content", [None, b"", b"hello\n", b"[1, 2]\n", b'{"type":"thing"}\n'], ids=repr)
def test_what_is_no_session_is_one_line_and_exit_code_1(foldline, tmp_path, content):
    path = tmp_path / "thing.jsonl"
    if content is not None:
        path.write_bytes(content)
    for command in (["context", "status"], ["context", "inspect"], ["compact", "--yes"], ["session", "undo"]):
        done = foldline(*command, "--session", str(path))
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("foldline: ")
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [["context", "status"], ["compact"], ["recall", "x"]], ids=" ".join)
def test_an_empty_name_does_not_mean_the_newest_session(foldline, command):
    done = foldline(*command, "--session", "")
    assert done.returncode == 2
    assert "it is empty" in done.stderr


@pytest.mark.parametrize(
    ("command", "option"),
    [(["compact", "--model", "openai:gpt-5-mini"], "--out"), (["session", "handoff", "goal"], "--into")],
    ids=["compact", "handoff"],
)
def test_where_a_new_session_goes_is_checked_first(foldline, session, command, option):
    done = foldline(*command, "--to", "anthropic", "--session", str(session))
    assert (done.returncode, done.stdout) == (2, "")
    assert f"name it with {option}" in done.stderr
    done = foldline(*command, "--to", "anthropic", option, str(session), "--session", str(session))
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{session}: there is a file already" in done.stderr


def test_the_line_that_takes_a_fold_back_can_be_pasted(foldline, session, tmp_path):
    place = tmp_path / "the user's sessions"
    place.mkdir()
    told = foldline("compact", "--yes", "--session", shutil.copy(session, place)).stdout
    _, _, command = told.partition("Undo with: foldline ")
    assert foldline(*shlex.split(command)).returncode == 0


def test_browse_says_that_it_needs_a_terminal(foldline):
    done = foldline("browse")
    assert (done.returncode, done.stdout) == (2, "")
    assert "needs a terminal" in done.stderr


@pytest.mark.parametrize("seconds", ["nan", "-nan", "0", "-1"])
def test_a_time_that_is_none_is_refused(foldline, session, seconds):
    done = foldline("compact", "--yes", "--model", "openai:x", f"--timeout={seconds}", "--session", str(session))
    assert done.returncode == 2, done.stderr
    assert "--timeout" in done.stderr


@pytest.mark.parametrize("option", [("--fallback", "openai:x"), ("--native",), ("--base-url", "http://127.0.0.1:9")])
def test_what_goes_with_a_model_is_refused_beside_extraction(foldline, session, option):
    done = foldline("compact", "--dry-run", "--model", "extract", *option, "--session", str(session))
    assert done.returncode == 2
    assert "--model extract asks no model" in " ".join(done.stderr.split())
    done = foldline("compact", "--dry-run", *option, "--session", str(session))
    assert done.returncode == 2
    assert "go with --model" in " ".join(done.stderr.split())


@pytest.mark.parametrize("content", [None, b"", b"\x80\x00"], ids=["folder", "empty", "binary"])
def test_what_is_wrong_with_a_policys_file_is_told_whatever_it_is_called(foldline, session, tmp_path, content):
    place = tmp_path / "mine"
    place.mkdir() if content is None else place.write_bytes(content)
    checked = foldline("policy", "check", str(place))
    assert checked.returncode == 1
    for named in (str(place), "mine"):
        done = foldline("compact", "--dry-run", "--policy", named, "--session", str(session))
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.replace(str(place), "mine") == checked.stderr.replace(str(place), "mine")


def test_a_pin_that_was_never_put_on_cannot_be_taken_off(foldline, session):
    id = json.loads(foldline("session", "show", "--json", "--session", str(session)).stdout)["messages"][-1]["id"]
    before = session.read_bytes()
    done = foldline("pin", id, "--remove", "--session", str(session))
    assert (done.returncode, done.stdout) == (3, "")
    assert f"{id} is not pinned; nothing was written" in done.stderr
    assert session.read_bytes() == before
    assert foldline("pin", id, "--session", str(session)).returncode == 0
    assert "No longer pinned" in foldline("pin", id, "--remove", "--session", str(session)).stdout
    assert foldline("pin", id, "--remove", "--session", str(session)).returncode == 3
    assert foldline("pin", "nobody", "--remove", "--session", str(session)).returncode == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device here")
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_what_was_written_is_told_where_the_output_cannot_be(session, tmp_path, form):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "foldline", "compact", "--yes", "--session", str(session), *form],
            cwd=tmp_path, env={**os.environ, "HOME": str(tmp_path)}, stdout=full, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("Folded. Undo with: foldline session undo --session ")
    assert done.stderr.endswith("foldline: No space left on device\n")
    assert SAMPLE.read_bytes() == session.read_bytes()[: SAMPLE.stat().st_size] != session.read_bytes()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device here")
@pytest.mark.parametrize("command", ["context status --session S", "hook pi"])
def test_output_that_finds_no_room_is_one_line(session, command):
    with open("/dev/full", "w") as full:
        words = [str(session) if word == "S" else word for word in command.split()]
        program = [sys.executable, "-m", "foldline", *words]
        done = subprocess.run(program, stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (1, "foldline: No space left on device\n")


@pytest.mark.skipif(os.name == "nt", reason="its shell closes no streams")
@pytest.mark.parametrize(
    ("command", "closed", "code"),
    [
        ("compact --dry-run --session S", ">&-", 1),
        ("context status --json --session S", ">&-", 1),
        ("context status --json --session no-such", ">&-", 1),
        ("context status --session S", "2>&-", 0),
        ("compact --session S", "<&-", 2),
        ("hook pi", "<&-", 0),
        ("hook pi", ">&- </dev/null", 1),
        ("hook pi", "2>&- </dev/null", 0),
    ],
)
def test_a_closed_stream_is_no_fault(session, command, closed, code):
    line = f"{sys.executable} -m foldline {command.replace('S', shlex.quote(str(session)))} {closed}"
    done = subprocess.run(line, shell=True, capture_output=True, text=True)
    assert done.returncode == code
    assert "fault of foldline" not in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_a_start_of_several_ids_names_them(foldline, tmp_path):
    folder = tmp_path / ".pi" / "agent" / "sessions" / "--x--"
    folder.mkdir(parents=True)
    for id in ("abc1", "abc2"):
        (folder / f"{id}.jsonl").write_text(f'{{"type":"session","version":3,"id":"{id}","cwd":"/x"}}\n')
    told = foldline("context", "status", "--session", "abc").stderr
    assert "abc: 2 sessions start with it" in told
    assert "abc1, abc2" in told or "abc2, abc1" in told


def test_what_a_tool_put_out_is_nowhere_the_users(foldline):
    session = str(SAMPLE.parents[1] / "tests" / "transcripts" / "claude-code.jsonl")
    shown = foldline("session", "show", "--folded", "--session", session).stdout
    assert "  tool: print(1)\n" in shown
    draft = foldline("session", "handoff", "print", "--print", "--session", session).stdout
    assert "(tool): print(" in draft
    assert "(user): print(" not in draft


def test_lost_paths_are_told_apart_by_their_ends(foldline, tmp_path):
    log = Log()
    log.user("Rename the setting everywhere.")
    for n in range(600):
        log.message("assistant", [edit_of(f"/srv/projects/the-repository/packages/agent/source/file{n}.ts", f"c{n}")])
        log.result(f"c{n}", "done " * 20)
    log.reply("All renamed.")
    told = foldline("compact", "--dry-run", "--session", str(log.write(tmp_path / "s.jsonl"))).stdout
    (lost,) = (line for line in told.splitlines() if line.startswith("By recall:"))
    shown = lost.partition(":")[2].strip().split(", ")
    assert all(fact.endswith(".ts") and len(fact) <= 48 for fact in shown), shown
    assert len(set(shown)) == len(shown) == 4


def edit_of(path: str, call: str) -> dict[str, object]:
    arguments = {"path": path, "edits": [{"oldText": "a", "newText": "b"}]}
    return {"type": "toolCall", "id": call, "name": "edit", "arguments": arguments}


def test_half_a_character_is_told_in_json_as_it_stands(foldline, tmp_path):
    half = tmp_path / "half.json"
    half.write_text(json.dumps([{"role": "user", "content": "\ud800 half a pair"}]))
    shown = foldline("session", "show", "--json", "--session", str(half))
    assert shown.returncode == 0, shown.stderr
    assert r"\ud800 half a pair" in shown.stdout


def test_a_damaged_line_is_told_and_strict_refuses(foldline, session):
    lines = session.read_bytes().splitlines(keepends=True)
    lines[40] = lines[40][:200] + b"\n"
    session.write_bytes(b"".join(lines))
    done = foldline("context", "status", "--session", str(session))
    assert done.returncode == 0
    assert f"warning: {session}: line 41: damaged line" in done.stderr
    strict = foldline("compact", "--yes", "--strict", "--session", str(session))
    assert strict.returncode == 1
    assert f"{session}:41: damaged line" in strict.stderr
    assert session.read_bytes() == b"".join(lines)


def test_without_a_session_the_newest_of_this_directory_is_taken(foldline, session, tmp_path):
    store = tmp_path / ".pi/agent/sessions/--x--"
    store.mkdir(parents=True)
    text = session.read_text().replace("/tmp/demo/invoices", str(tmp_path))
    (store / "one.jsonl").write_text(text)
    done = foldline("context", "status")
    assert done.returncode == 0
    assert "one.jsonl" in done.stderr
    (listed,) = json.loads(foldline("session", "list", "--json").stdout)["sessions"]
    assert (listed["agent"], listed["cwd"]) == ("pi", str(tmp_path))
    assert foldline("context", "status", "--session", listed["session"][:8]).returncode == 0


def test_settings_that_cannot_be_written_are_one_line(foldline, tmp_path):
    (tmp_path / "config").touch()
    done = foldline("autocompact", "off")
    assert done.returncode == 1
    assert done.stderr.startswith(f"foldline: {tmp_path}/config/foldline/config.toml: cannot be written: ")


def test_autocompact_keeps_the_rest_of_the_settings(foldline, tmp_path):
    path = tmp_path / "config/foldline/config.toml"
    path.parent.mkdir(parents=True)
    path.write_text('# mine\npolicy = "pi"\n\n[compaction]\nwarn_at_compaction = 4  # late\n')
    assert "is off" in foldline("autocompact", "off").stdout
    assert path.read_text().startswith('# mine\npolicy = "pi"\n\n[compaction]\nwarn_at_compaction = 4  # late\n')
    assert json.loads(foldline("autocompact", "--json").stdout)["auto_enabled"] is False


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("bogus = 1", "bogus: no such key\n"),
        ("[compaction]\nauto_threshold_percent = 200", "compaction.auto_threshold_percent: must lie"),
        (
            "[compaction.prune]\nprotect_tokens = 1",
            "compaction.prune.protect_tokens: no such key; did you mean protect_recent_tokens?",
        ),
        ("[summary]\nmodel = 'openai:'", "summary.model: names no model"),
        ("[summary]\nmodel = 3", "summary.model: must be text, not a whole number"),
        ("[summary]\ntemperature = 'hot'", "summary.temperature: must be a number, not text"),
        ("compaction = 3", "compaction: must be a table of keys, not a whole number"),
        ("policy = 'bold'", f"policy: no policy 'bold'; there are {', '.join(names())}\n"),
        ("x = = 1", "line 1"),
    ],
)
def test_a_wrong_setting_is_named(foldline, tmp_path, session, text, named):
    path = tmp_path / "config.toml"
    path.write_text(text)
    done = foldline("context", "status", "--session", str(session), FOLDLINE_CONFIG=str(path))
    assert done.returncode == 1
    assert done.stderr.startswith(f"foldline: {path}: ")
    assert named in done.stderr


def test_settings_that_are_named_and_not_there_are_no_defaults(foldline, tmp_path, session):
    path = tmp_path / "gone.toml"
    done = foldline("context", "status", "--session", str(session), FOLDLINE_CONFIG=str(path))
    assert done.stderr == f"foldline: {path}: cannot be read: No such file or directory\n"
    assert foldline("autocompact", "off", FOLDLINE_CONFIG=str(path)).returncode == 0
    assert "auto_enabled = false" in path.read_text()


def test_a_misspelt_variable_is_named(foldline, session):
    done = foldline("context", "status", "--session", str(session), FOLDLINE_SUMARY__MODEL="extract")
    assert done.stderr == "foldline: FOLDLINE_SUMARY__MODEL: sumary: no such key; did you mean summary?\n"


def test_the_environment_overrides_and_is_named(foldline, session):
    name = "FOLDLINE_COMPACTION__AUTO_THRESHOLD_PERCENT"
    told = foldline("context", "status", "--session", str(session), **{name: "70"}).stdout
    assert "triggers at 70%" in told
    done = foldline("context", "status", "--session", str(session), **{name: "700"})
    assert (done.returncode, name in done.stderr) == (1, True)


def test_a_long_list_says_how_many_more_there_are(foldline, session, tmp_path):
    store = tmp_path / ".pi" / "agent" / "sessions" / "--demo--"
    store.mkdir(parents=True)
    for n in range(3):
        shutil.copyfile(session, store / f"{n}.jsonl")
    told = foldline("session", "list", "--all", "--limit", "2").stdout
    assert "1 older" in told
    assert len(told.splitlines()) == 2 + 2 + 1
    assert len(json.loads(foldline("session", "list", "--all", "--limit", "2", "--json").stdout)["sessions"]) == 2


def test_the_same_session_gives_the_same_summary_in_every_process(foldline, session):
    told = {foldline("compact", "--dry-run", "--session", str(session), PYTHONHASHSEED=seed).stdout for seed in "123"}
    assert len(told) == 1


def test_the_readme_shows_what_the_sample_prints(foldline):
    readme = (SAMPLE.parents[1] / "README.md").read_text("utf-8")
    shown, _, _ = readme.partition("```text\n")[2].partition("\nSummary\n")
    assert shown.startswith("Compaction Preview")
    assert foldline("compact", "--dry-run", "--session", str(SAMPLE)).stdout.startswith(shown)
