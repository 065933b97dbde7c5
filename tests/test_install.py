"""foldline put into other agents and taken out again: what is written is shown, agreed to, and taken back to the byte."""

import hashlib
import json
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from foldline._cli.commands import foldline
from foldline._errors import ConfigError
from foldline._install.agents import AGENTS
from foldline._install.entries import entry_in_json, entry_in_toml
from foldline._install.installing import carry_out, to_install
from foldline._mcp.project import Project
from foldline._mcp.server import answer_line
from sessions import long_log

SETTINGS = {
    "codex": (".codex/config.toml", '# mine\nmodel = "gpt"\n[mcp_servers.other]\ncommand = "x"  # kept\n'),
    "gemini-cli": (
        ".gemini/settings.json",
        '{\n  // mine\n  "mcpServers": {"other": {"command": "x"}},\n  "a": [1,\n2]}',
    ),
    "qwen-code": (".qwen/settings.json", '{"$version": 4, "b": "\\"}{"}\n'),
}
"""Settings that users have, with comments and spacing of their own."""

every_agent = pytest.mark.parametrize("agent", AGENTS)


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """A home in which every agent keeps something."""
    home = tmp_path / "home"
    for agent in AGENTS.values():
        (home / agent.folder).mkdir(parents=True)
        (home / agent.folder / "mine.txt").write_text("mine")
        monkeypatch.delenv(agent.variable, raising=False)
    for path, text in SETTINGS.values():
        (home / path).write_text(text)
        (home / path).chmod(0o600)
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for name in ("XDG_CONFIG_HOME", "FOLDLINE_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    return home


def run(*arguments: str) -> Result:
    return CliRunner().invoke(foldline, arguments)


def told(*arguments: str) -> dict[str, Any]:
    return json.loads(run(*arguments, "--json").stdout)


def everything(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file and folder below one, with its mode and its bytes."""

    def found() -> Iterator[tuple[str, tuple[int, bytes]]]:
        for path in sorted(folder.rglob("*")):
            yield str(path.relative_to(folder)), (path.stat().st_mode, path.read_bytes() if path.is_file() else b"")

    return dict(found())


@pytest.mark.parametrize(
    ("agent", "scope"),
    [*((name, ()) for name in AGENTS), *((name, ("--project",)) for name in AGENTS if AGENTS[name].has_projects)],
)
def test_what_is_put_somewhere_is_taken_back_to_the_byte(home, agent: str, scope: tuple[str, ...]) -> None:
    was = everything(home.parent)
    done = run("install", agent, "--yes", *scope)
    assert done.exit_code == 0, done.output
    now = everything(home.parent)
    assert now != was
    paths = [each["path"] for each in told("install", agent, "--yes", *scope)["changes"]]
    assert all(path in done.output.replace("~", str(home)) for path in paths)
    root = home.parent / "project" if scope else home
    assert all(Path(path).is_relative_to(root) for path in paths)
    assert run("uninstall", agent, "--yes", *scope).exit_code == 0
    assert everything(home.parent) == was


@pytest.mark.parametrize("agent", [name for name, each in AGENTS.items() if each.entries])
@pytest.mark.parametrize("blank", ["", "\n", " \n\t\n"])
def test_settings_that_say_nothing_are_taken_back_to_the_byte(home, agent: str, blank: str) -> None:
    settings = home / AGENTS[agent].folder / AGENTS[agent].entries[0].file
    settings.write_text(blank)
    was = everything(home)
    assert run("install", agent, "--yes").exit_code == 0
    assert run("install", agent, "--yes").exit_code == 3
    assert settings.read_text() != blank
    assert run("uninstall", agent, "--yes").exit_code == 0
    assert everything(home) == was


def test_what_was_set_since_in_settings_that_said_nothing_stays(home) -> None:
    settings = home / ".qwen" / "settings.json"
    settings.write_text("")
    run("install", "qwen-code", "--yes")
    settings.write_text(settings.read_text().replace("{", '{"theme": "dark", ', 1))
    run("uninstall", "qwen-code", "--yes")
    assert json.loads(settings.read_text().replace(", ", "")) == {"theme": "dark"}


def test_all_of_them_at_once(home) -> None:
    was = everything(home)
    done = run("install", "openclaw", "--project", "--yes")
    assert done.exit_code == 2
    assert "no place in a project" in done.output
    assert {each["agent"] for each in told("install", "--all", "--yes")["changes"]} == set(AGENTS)
    run("uninstall", "--all", "--yes")
    assert everything(home) == was


@every_agent
def test_done_again_it_changes_nothing(home, agent: str) -> None:
    run("install", agent, "--yes")
    was = everything(home)
    assert run("install", agent, "--yes").exit_code == 3
    assert everything(home) == was


@every_agent
def test_nobody_to_ask_means_that_nothing_is_written(home, agent: str) -> None:
    was = everything(home.parent)
    done = run("install", agent)
    assert done.exit_code == 2
    assert "nothing was written" in done.output
    assert everything(home.parent) == was


def test_what_names_foldline_starts_it(home) -> None:
    run("install", "--all", "--yes")
    server = tomllib.loads((home / ".codex/config.toml").read_text())["mcp_servers"]["foldline"]
    assert os.access(server["command"], os.X_OK)
    assert server["args"][-1] == "mcp"
    mod = json.loads((home / ".claude/skills/foldline/.mcp.json").read_text())["mcpServers"]["foldline"]
    assert [mod["command"], *mod["args"]] == [server["command"], *server["args"]]
    extension = (home / ".pi/agent/extensions/foldline.ts").read_text()
    assert f"= {json.dumps([server['command'], *server['args'][:-1]])};" in extension


def test_what_a_project_shares_names_no_place_on_this_machine(home, tmp_path) -> None:
    script = Path(sys.executable).parent / "foldline"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/foldline").symlink_to(script)
    run("install", "--all", "--project", "--yes")
    written = [path for path in (home.parent / "project").rglob("*") if path.is_file()]
    assert len(written) > len(AGENTS)
    assert not any(str(script.parent) in path.read_text() for path in written)
    run("install", "pi", "--yes")
    assert str(script) in (home / ".pi/agent/extensions/foldline.ts").read_text()


def test_an_older_file_of_ours_is_brought_up_to_date(home) -> None:
    run("install", "pi", "--yes")
    place = home / ".pi/agent/extensions/foldline.ts"
    newest = place.read_bytes()
    manifest = home / ".config/foldline/installed.json"
    older = b"// older"
    place.write_bytes(older)
    noted = json.loads(manifest.read_text())
    noted["written"][0]["sha256"] = hashlib.sha256(older).hexdigest()
    manifest.write_text(json.dumps(noted))
    (pi,) = (each for each in told("doctor")["agents"] if each["agent"] == "pi")
    assert [trouble["command"] for trouble in pi["troubles"]] == ["foldline install pi"]
    assert pi["automatic"] == ""
    assert run("install", "pi", "--yes").exit_code == 0
    assert place.read_bytes() == newest


def test_a_file_of_ours_that_somebody_changed_is_left_alone(home) -> None:
    run("install", "pi", "--yes")
    place = home / ".pi/agent/extensions/foldline.ts"
    place.write_text("// changed by hand")
    for command in ("install", "uninstall"):
        assert "changed since" in run(command, "pi", "--yes").output
        assert place.read_text() == "// changed by hand"


def test_a_file_that_is_somebody_elses_is_left_alone(home) -> None:
    place = home / ".pi/agent/extensions/foldline.ts"
    place.parent.mkdir()
    place.write_text("// not foldline's")
    was = everything(home)
    assert "did not write" in run("install", "pi", "--yes").output
    assert everything(home) == was


@pytest.mark.parametrize("agent", SETTINGS)
def test_an_entry_of_the_users_own_is_left_alone(home, agent: str) -> None:
    path, _ = SETTINGS[agent]
    own = '[mcp_servers.foldline]\ncommand = "mine"\n' if agent == "codex" else '{"mcpServers": {"foldline": {}}}'
    (home / path).write_text(own)
    was = everything(home)
    assert "did not write" in run("install", agent, "--yes").output
    assert everything(home) == was


@pytest.mark.parametrize("agent", SETTINGS)
def test_what_the_user_set_since_stays(home, agent: str) -> None:
    path, text = SETTINGS[agent]
    run("install", agent, "--yes")
    comment = "# later\n" if agent == "codex" else "// later\n"
    (home / path).write_text((home / path).read_text() + comment)
    assert run("uninstall", agent, "--yes").exit_code == 0
    assert (home / path).read_text() == text + comment


def test_what_the_user_set_behind_it_stays_readable(home) -> None:
    place = home / ".codex/config.toml"
    place.write_text("mcp_servers = {}\n")
    run("install", "codex", "--yes")
    now = place.read_text().replace("}}", '}, other = {command = "a"}}')
    assert tomllib.loads(now)["mcp_servers"].keys() == {"foldline", "other"}
    place.write_text(now)
    assert "by hand" in run("uninstall", "codex", "--yes").output
    assert place.read_text() == now


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": }}', "\x00"])
def test_settings_that_cannot_be_read_are_refused_whole(home, text: str) -> None:
    place = home / ".gemini/settings.json"
    place.write_text(text)
    done = run("install", "gemini-cli", "--yes")
    if text:
        assert done.exit_code == 1
        assert isinstance(done.exception, ConfigError)
        assert place.read_text() == text
    else:
        assert json.loads(place.read_text())["mcpServers"]["foldline"]["args"][-1] == "mcp"


@pytest.mark.parametrize("agent", ["gemini-cli", "qwen-code"])
def test_an_agent_that_waits_ten_minutes_for_a_broken_server_is_told_to_wait_less(home, agent: str) -> None:
    run("install", agent, "--yes")
    settings = home / (".gemini" if agent == "gemini-cli" else ".qwen") / "settings.json"
    wait = re.search(r'"foldline": .*"timeout": (\d+)', settings.read_text())
    assert wait
    assert 5_000 <= int(wait[1]) <= 60_000


SERVERS = {
    "an inline table": 'x = nan\nmcp_servers = {other = {command = "a"}}  # mine\n[z]\ny = 1\n',
    "an empty inline table": "mcp_servers = {}\n",
    "a quoted key": '"mcp_servers" = { other = {command = "a"} }',
    "dotted keys": 'mcp_servers.other.command = "a"\nx = 1\n',
    "a dotted table": 'mcp_servers.other = {command = "a"}\n',
    "a table": '[mcp_servers]\nother = {command = "a"}\n[z]\n',
}


@pytest.mark.parametrize("servers", SERVERS)
def test_a_server_is_added_however_the_others_are_written(home, servers: str) -> None:
    place, text = home / ".codex/config.toml", SERVERS[servers]
    place.write_text(text)
    assert run("install", "codex", "--yes").exit_code == 0
    written = tomllib.loads(place.read_text())["mcp_servers"]
    assert written.pop("foldline")["args"][-1] == "mcp"
    assert written == tomllib.loads(text)["mcp_servers"]
    assert run("uninstall", "codex", "--yes").exit_code == 0
    assert place.read_text() == text


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (".codex/config.toml", '[[mcp_servers]]\ncommand = "a"\n'),
        (".codex/config.toml", "mcp_servers = 3\n"),
        (".codex/config.toml", 'a = """\nmcp_servers = {\n"""\nmcp_servers = {}\n'),
        (".gemini/settings.json", '{"mcpServers": {}, "mcpServers": {"other": {}}}'),
        (".gemini/settings.json", '{"a": 1 "b": 2}'),
        (".gemini/settings.json", '{"a": "b\n}'),
    ],
)
def test_nothing_is_written_that_would_not_say_what_is_meant(home, path: str, text: str) -> None:
    place = home / path
    place.write_text(text)
    agent = "codex" if path.endswith("toml") else "gemini-cli"
    done = run("install", agent, "--yes")
    assert isinstance(done.exception, ConfigError)
    assert str(place) in str(done.exception)
    assert place.read_text() == text


@pytest.mark.parametrize("agent", SETTINGS)
def test_settings_in_another_encoding_are_named(home, agent: str) -> None:
    place = home / SETTINGS[agent][0]
    place.write_bytes(b"\xff\xfe")
    done = run("install", agent, "--yes")
    assert isinstance(done.exception, ConfigError)
    assert str(place) in str(done.exception)
    assert place.read_bytes() == b"\xff\xfe"


def test_what_is_broken_for_one_agent_stops_no_other(home, tmp_path) -> None:
    codex, qwen = home / ".codex/config.toml", home / ".qwen/settings.json"
    codex.write_text("= 1")
    qwen.unlink()
    qwen.mkdir()
    asked = run("install", "--all")
    assert asked.exit_code == 2
    assert all(str(place) in asked.stderr for place in (codex, qwen))
    done = run("install", "--all", "--yes")
    assert done.exit_code == 1
    assert all(str(place) in done.stderr for place in (codex, qwen))
    assert "foldline uninstall pi claude-code opencode openclaw gemini-cli\n" in done.stdout
    assert codex.read_text() == "= 1"
    assert in_doctor("pi")["installed"] == in_doctor("gemini-cli")["installed"] == ["user"]
    again = run("install", "--all", "--yes", "--json")
    assert again.exit_code == 1
    assert [(each["agent"], each["error"]["kind"]) for each in json.loads(again.stdout)["failed"]] == [
        ("codex", "ConfigError"),
        ("qwen-code", "ConfigError"),
    ]


@pytest.mark.skipif(not os.path.isfile("/proc/version"), reason="there is no file here that nobody takes away")
def test_what_cannot_be_taken_away_for_one_agent_stops_no_other(home) -> None:
    run("install", "pi", "--yes")
    place = home / ".config/foldline/installed.json"
    known = json.loads(place.read_text())
    sha256 = hashlib.sha256(Path("/proc/version").read_bytes()).hexdigest()
    known["written"].insert(0, {"agent": "claude-code", "path": "/proc/version", "sha256": sha256})
    place.write_text(json.dumps(known))
    done = run("uninstall", "--all", "--yes")
    assert done.exit_code == 1
    assert "/proc/version: cannot be taken away: " in done.stderr
    assert "[Errno" not in done.stderr
    assert not (home / ".pi/agent/extensions").exists()
    assert [each["agent"] for each in json.loads(place.read_text())["written"]] == ["claude-code"]


@pytest.mark.parametrize("command", [("uninstall", "--all", "--yes"), ("doctor",)], ids=" ".join)
def test_what_was_installed_cannot_be_read(home, command: tuple[str, ...]) -> None:
    place = home / ".config/foldline/installed.json"
    place.mkdir(parents=True)
    done = run(*command)
    assert isinstance(done.exception, ConfigError)
    assert str(done.exception).startswith(f"{place}: what was installed cannot be read: ")
    assert "[Errno" not in str(done.exception)


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="there is no folder here in which nobody makes another")
def test_what_cannot_be_written_for_one_agent_stops_no_other(home) -> None:
    (home / ".pi/agent/extensions").symlink_to("/proc/nowhere")
    done = run("install", "pi", "opencode", "--yes")
    assert done.exit_code == 1
    assert "/proc/nowhere: the folder cannot be made" in done.stderr
    assert "foldline uninstall opencode\n" in done.stdout
    assert in_doctor("opencode")["troubles"] == []
    assert run("uninstall", "--all", "--yes").exit_code == 0
    assert not (home / ".config/foldline").exists()


def test_settings_as_json5_are_added_to(home) -> None:
    place = home / ".openclaw/openclaw.json"
    text = "{a: 'it is \\'mine\\'', // b: {\n plugins: {entries: {}, n: [+.5, 0x1F, -Infinity, 1,],},}\n"
    place.write_text(text)
    assert run("install", "openclaw", "--yes").exit_code == 0
    assert '"foldline": {"enabled": true}' in place.read_text()
    assert run("uninstall", "openclaw", "--yes").exit_code == 0
    assert place.read_text() == text


def test_a_link_to_settings_stays_a_link(home) -> None:
    place, real = home / ".gemini/settings.json", home / "dotfiles.json"
    place.rename(real)
    place.symlink_to(real)
    was = everything(home)
    run("install", "gemini-cli", "--yes")
    assert place.is_symlink()
    assert "foldline" in real.read_text()
    run("uninstall", "gemini-cli", "--yes")
    assert everything(home) == was


def test_what_changed_since_it_was_shown_is_not_written_over(home) -> None:
    agent = AGENTS["gemini-cli"]
    changes = to_install(agent, "")
    place = home / ".gemini/settings.json"
    place.write_text('{"new": 1}')
    with pytest.raises(ConfigError, match="in the meantime"):
        carry_out(changes, "")
    assert place.read_text() == '{"new": 1}'


def test_an_interrupted_install_is_taken_back(home) -> None:
    was = everything(home)
    run("install", "claude-code", "--yes")
    (home / ".claude/skills/foldline/hooks/register.js").unlink()
    assert run("uninstall", "claude-code", "--yes").exit_code == 0
    assert everything(home) == was


def test_what_is_gone_already_is_not_told_as_installed(home) -> None:
    was = everything(home)
    run("install", "pi", "--yes")
    (home / ".pi/agent/extensions/foldline.ts").unlink()
    assert "gone already" in run("uninstall", "pi", "--yes").output
    assert in_doctor("pi")["installed"] == []
    assert everything(home) == was


def test_the_agent_has_to_be_one_that_is_known(home) -> None:
    done = run("install", "claude-cod", "--yes")
    assert done.exit_code == 2
    assert "claude-code" in done.output
    assert run("install").exit_code == 2
    assert run("install", "pi", "--all").exit_code == 2


def test_what_is_written_is_listed_below_its_agent_in_lines_that_a_terminal_does_not_break(home) -> None:
    shown = run("install", "pi", "claude-code", "--yes").output.splitlines()
    assert shown[:4] == [
        "pi",
        "  ~/.pi/agent/extensions/foldline.ts: a new file",
        "claude-code",
        "  ~/.claude/skills/foldline/.claude-plugin/plugin.json: a new file",
    ]
    assert max(map(len, shown)) <= 80


def test_which_agents_there_are_is_told_by_the_help(home) -> None:
    for command in ("install", "uninstall"):
        said = " ".join(run(command, "--help").output.split())
        assert ", ".join(AGENTS) in said


# -- doctor --------------------------------------------------------------------------------------------------------


def test_doctor_tells_what_is_there_and_what_mends_it(home, tmp_path) -> None:
    bin = tmp_path / "bin"
    bin.mkdir()
    (bin / "claude").write_text("#!/bin/sh\necho '2.1.148 (Claude Code)'\n")
    (bin / "claude").chmod(0o755)
    drawn = run("doctor").output
    assert "pi (its program is not on the PATH)" in drawn
    assert "Claude Code 2.1.148" in drawn
    by_name = {each["agent"]: each for each in told("doctor")["agents"]}
    assert set(by_name) == set(AGENTS)
    for name, each in by_name.items():
        assert each["installed"] == []
        assert each["automatic"] == ""
        assert f"foldline install {name}" in [trouble["command"] for trouble in each["troubles"]]
    assert "/fold" not in by_name["pi"]["by_hand"]

    run("install", "--all", "--yes")
    by_name = {each["agent"]: each for each in told("doctor")["agents"]}
    assert by_name["pi"]["automatic"]
    assert "/fold" in by_name["pi"]["by_hand"]
    assert by_name["pi"]["troubles"] == []
    assert by_name["codex"]["automatic"] == ""
    assert by_name["codex"]["mcp"]
    claude = by_name["claude-code"]
    assert claude["version"] == "2.1.148"
    assert ["2.1.287" in trouble["what"] for trouble in claude["troubles"]] == [True]
    assert claude["automatic"] == ""


def test_doctor_tells_of_the_agents_that_are_named(home) -> None:
    assert [each["agent"] for each in told("doctor", "codex", "pi")["agents"]] == ["pi", "codex"]
    done = run("doctor", "claude")
    assert done.exit_code == 2
    assert "claude-code" in done.output


def in_doctor(agent: str) -> dict[str, Any]:
    return next(each for each in told("doctor")["agents"] if each["agent"] == agent)


def test_doctor_tells_of_a_folder_that_cannot_be_looked_at_beside_the_others(home, monkeypatch) -> None:
    place = home / ("x" * 300)
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(place))
    by_name = {each["agent"]: each for each in told("doctor")["agents"]}
    assert set(by_name) == set(AGENTS)
    assert [trouble["what"].startswith(f"{place}/") for trouble in by_name["pi"]["troubles"]] == [True]
    assert run("install", "--all", "--yes").exit_code == 1
    assert in_doctor("claude-code")["installed"] == ["user"]


@pytest.mark.parametrize("installed", [False, True])
@pytest.mark.parametrize("broken", ["text", "folder", "loop"])
@pytest.mark.parametrize("agent", SETTINGS)
def test_doctor_tells_of_settings_that_cannot_be_read(home, agent: str, broken: str, installed: bool) -> None:
    if installed:
        run("install", agent, "--yes")
    place = home / SETTINGS[agent][0]
    place.unlink()
    if broken == "text":
        place.write_text("{")
    elif broken == "folder":
        place.mkdir()
    else:
        place.symlink_to(place)
    assert run("doctor").exit_code == 0
    (trouble,) = in_doctor(agent)["troubles"]
    assert trouble["what"].startswith(f"{place}: ")
    assert "move it away" in trouble["what"]
    assert trouble["command"] == ""


def test_doctor_does_not_call_installed_what_was_left_out(home) -> None:
    place = home / ".openclaw/openclaw.json"
    place.write_text('{"agents": {"defaults": {"compaction": {"provider": "other"}}}}')
    (before,) = in_doctor("openclaw")["troubles"]
    run("install", "openclaw", "--yes")
    now = in_doctor("openclaw")
    assert now["installed"] == []
    assert now["troubles"] == [before]
    assert "agents.defaults.compaction.provider" in before["what"]
    place.write_text("{}")
    run("install", "openclaw", "--yes")
    assert in_doctor("openclaw")["installed"] == ["user"]


def test_doctor_says_who_folded_last(home) -> None:
    folder = home / ".pi/agent/sessions/--project--"
    folder.mkdir(parents=True)
    log = long_log(3)
    log.compaction(None, "pi's own", timestamp="2020-01-01T00:00:00.000Z")
    path = log.write(folder / "s.jsonl")

    def pi() -> dict[str, Any]:
        return next(each for each in told("doctor")["agents"] if each["agent"] == "pi")

    run("install", "pi", "--yes")
    assert (pi()["newest_fold"]["by"], pi()["troubles"]) == ("pi", [])
    log.compaction(None, "pi's own again", timestamp="2100-01-01T00:00:00.000Z")
    log.write(path)
    assert ["by pi itself" in trouble["what"] for trouble in pi()["troubles"]] == [True]
    assert pi()["automatic"] == ""


def test_a_project_that_is_gone_is_no_trouble_elsewhere(home, tmp_path, monkeypatch) -> None:
    run("install", "pi", "--yes")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    run("install", "pi", "--project", "--yes")
    monkeypatch.chdir(tmp_path / "project")
    shutil.rmtree(tmp_path / "other")
    log = long_log(3)
    log.compaction(None, "pi's own", timestamp="2100-01-01T00:00:00.000Z")
    (home / ".pi/agent/sessions/--project--").mkdir(parents=True)
    log.write(home / ".pi/agent/sessions/--project--/s.jsonl")
    (pi,) = (each for each in told("doctor")["agents"] if each["agent"] == "pi")
    assert ["by pi itself" in trouble["what"] for trouble in pi["troubles"]] == [True]


def test_a_sessions_status_says_where_foldline_folds_by_itself(home) -> None:
    path = str(long_log(3).write(home / "s.jsonl"))

    def status() -> str:
        return run("context", "status", "--session", path).output

    assert "None here by foldline" in status()
    assert "foldline install pi" in status()
    run("install", "pi", "--yes")
    assert "Enabled (at pi's own mark)" in status()
    run("autocompact", "off")
    assert "Switched off" in status()


def test_a_sessions_status_says_where_foldline_cannot_fold_by_itself(home) -> None:
    path = Path(__file__).parent / "transcripts" / "codex.jsonl"
    said = " ".join(run("context", "status", "--session", str(path)).output.split())
    assert "None here by foldline: Codex lets nobody replace its own; `foldline compact` folds between two runs" in said


def test_status_and_doctor_agree_on_what_folds_by_itself(home) -> None:
    folder = home / ".pi/agent/sessions/--project--"
    folder.mkdir(parents=True)
    path = str(long_log(3).write(folder / "s.jsonl"))

    def enabled() -> tuple[bool, bool]:
        said = json.loads(run("context", "status", "--session", path, "--json").output)
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        asked["params"] = {"name": "context_status", "arguments": {"session": path}}
        (content,) = answer_line(json.dumps(asked).encode(), Project())["result"]["content"]
        return said["auto_enabled"], json.loads(content["text"])["auto_enabled"]

    assert (enabled(), bool(in_doctor("pi")["automatic"])) == ((False, False), False)
    run("install", "pi", "--yes")
    assert (enabled(), bool(in_doctor("pi")["automatic"])) == ((True, True), True)


def test_a_window_that_is_stated_is_not_assumed(home) -> None:
    path = str(long_log(3).write(home / "s.jsonl"))
    assert "assumed" in run("context", "status", "--session", path).output
    assert "assumed" not in run("context", "status", "--session", path, "--window", "50000").output


def test_doctor_says_that_no_agent_is_there(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    for agent in AGENTS.values():
        monkeypatch.delenv(agent.variable, raising=False)
    assert "None of these agents" in run("doctor").output


# -- entries -------------------------------------------------------------------------------------------------------

KEYS = ("mcpServers", "foldline")
VALUE = {"command": "/bin/foldline", "args": ["mcp"]}

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.sampled_from(["a", "mcpServers", 'q"', "foldline"]), values, max_size=4),
    st.sampled_from([None, 2, "\t"]),
)
def test_an_entry_is_added_to_any_object_and_nothing_else_is(data: dict[str, Any], indent: int | str | None) -> None:
    text = json.dumps(data, indent=indent)
    servers = data.get("mcpServers", {})
    if not isinstance(servers, dict):
        with pytest.raises(ConfigError):
            entry_in_json(text, KEYS, VALUE, path="settings.json")
        return
    at, inserted = entry_in_json(text, KEYS, VALUE, path="settings.json")
    assert bool(inserted) == ("foldline" not in servers)
    if inserted:
        assert json.loads(text[:at] + inserted + text[at:]) == data | {"mcpServers": {**servers, "foldline": VALUE}}


@given(st.dictionaries(st.sampled_from(["a", "b"]), st.text(st.characters(codec="ascii"), max_size=8), max_size=2))
def test_a_table_is_added_to_any_toml(data: dict[str, str]) -> None:
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in data.items() if "\x7f" not in value)
    at, inserted = entry_in_toml(text, ("mcp_servers", "foldline"), VALUE, path="config.toml")
    assert tomllib.loads(text[:at] + inserted + text[at:]) == tomllib.loads(text) | {"mcp_servers": {"foldline": VALUE}}
