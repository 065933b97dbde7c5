"""Files that hold several sessions: each one is found by its id, by its directory, and every message of it recalled."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from hashlib import sha256
from pathlib import Path

import pytest

from foldline import Message, Session, SessionError, handle, open_session
from foldline._handoff.new_session import write_new
from foldline._listing import listed
from foldline._recall.answer import drawn
from foldline._recall.index import Index
from foldline._recall.scope import scope
from foldline._sessions.finding import find_session
from foldline._sessions.opening import read_all
from foldline.extend import Text
from sessions import HEADER, Log
from test_mcp import Client

CORPUS = Path(__file__).parents[2] / "shared" / "corpus" / "made"
NAMES = ("ses_a", "ses_b", "ses_c")

AIDER = """
# aider chat started at 2026-01-01 10:00:00

#### the first chat asks for plums

Plums are noted.

# aider chat started at 2026-01-02 10:00:00

#### the second chat asks for pears

Pears are noted.
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("PI_CODING_AGENT_DIR", "OPENCLAW_STATE_DIR", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def opencode(home: Path) -> Path:
    """A store of three sessions of two messages each, in directories of their own; the middle one changed last."""
    path = home / ".local/share/opencode/opencode.db"
    path.parent.mkdir(parents=True)
    connection = sqlite3.connect(path)
    connection.executescript(
        "create table session (id text, directory text, title text, time_updated integer, revert text);"
        "create table message (id text, session_id text, time_created integer, data text);"
        "create table part (id text, message_id text, session_id text, data text);"
    )
    for at, name in enumerate(NAMES):
        changed = 9 if name == "ses_b" else at + 1
        connection.execute("insert into session values (?, ?, ?, ?, null)", (name, f"/srv/{name}", name, changed))
        for number, role in enumerate(("user", "assistant")):
            id = f"msg_{name}_{number}"
            connection.execute(
                "insert into message values (?, ?, ?, ?)", (id, name, number, json.dumps({"role": role}))
            )
            part = json.dumps({"type": "text", "text": f"{role} says {name} {number}"})
            connection.execute("insert into part values (?, ?, ?, ?)", (f"prt_{id}", id, name, part))
    connection.commit()
    connection.close()
    return path


def test_every_session_of_a_store_is_listed_by_its_title_with_those_that_work_for_it_below(home: Path) -> None:
    path = opencode(home)
    with sqlite3.connect(path) as connection:
        connection.execute("alter table session add column parent_id text")
        connection.execute("update session set parent_id = 'ses_b' where id = 'ses_a'")
    connection.close()
    found = listed(memory=str(home / "memory"), environment={"HOME": str(home)})
    assert [(each.id, each.parent, each.title) for each in found] == [
        ("ses_b", "", "ses_b"),
        ("ses_a", "ses_b", "ses_a"),
        ("ses_c", "", "ses_c"),
    ]
    for each in found:
        assert open_session(each.path).id == each.id
        assert (each.messages, each.cwd) == (2, f"/srv/{each.id}")
        assert each.tokens


def openclaw(home: Path) -> Path:
    """A store of two sessions with a header, a question and an answer each; the first one changed last."""
    path = home / ".openclaw/agents/main/agent/openclaw-agent.sqlite"
    path.parent.mkdir(parents=True)
    connection = sqlite3.connect(path)
    connection.execute(
        "create table transcript_events (session_id text, seq integer, event_json text, event_zstd blob,"
        " event_utf8_bytes integer, navigation_json text, created_at integer)"
    )
    for name, changed in (("claw_a", 900), ("claw_b", 100)):
        said = [{"type": "session", "id": name, "cwd": f"/srv/{name}"}]
        for number, role in enumerate(("user", "assistant")):
            parent = f"{name}_{number - 1}" if number else None
            message = {"role": role, "content": [{"type": "text", "text": f"{role} says {name} {number}"}]}
            said.append({"type": "message", "id": f"{name}_{number}", "parentId": parent, "message": message})
        for seq, event in enumerate(said):
            row = (name, seq, json.dumps(event), None, 0, None, changed)
            connection.execute("insert into transcript_events values (?, ?, ?, ?, ?, ?, ?)", row)
    connection.commit()
    connection.close()
    return path


def test_a_session_of_openclaw_that_works_for_another_is_listed_below_it(home: Path) -> None:
    with sqlite3.connect(openclaw(home)) as connection:
        connection.executescript(
            "create table session_windows (session_id text, session_key text);"
            "create table session_nodes (session_key text, current_session_id text, parent_session_key text,"
            " spawned_by text, label text, display_name text);"
            "insert into session_windows values ('claw_a', 'agent:main:sub:1'), ('claw_b', 'agent:main:main');"
            "insert into session_nodes values ('agent:main:main', 'claw_b', null, null, 'Plums', 'main'),"
            " ('agent:main:sub:1', 'claw_a', null, 'agent:main:main', null, 'Counting');"
        )
    connection.close()
    found = listed(memory=str(home / "memory"), environment={"HOME": str(home)})
    assert [(each.id, each.parent, each.title) for each in found] == [
        ("claw_b", "", "Plums"),
        ("claw_a", "claw_b", "Counting"),
    ]


@pytest.mark.parametrize(("make", "names"), [(opencode, NAMES), (openclaw, ("claw_a", "claw_b"))])
def test_every_session_of_a_store_is_found_by_its_id_and_by_its_directory(make, names, home: Path) -> None:
    path = make(home)
    for name in names:
        assert open_session(find_session(name, cwd="/")).id == name
        assert open_session(f"{path}#{name}").id == name
        assert open_session(find_session(None, cwd=f"/srv/{name}")).id == name


@pytest.mark.parametrize(("make", "newest"), [(opencode, "ses_b"), (openclaw, "claw_a")])
def test_a_stores_own_path_means_the_session_that_changed_last(make, newest: str, home: Path) -> None:
    assert open_session(make(home)).id == newest


@pytest.mark.parametrize("make", [opencode, openclaw])
def test_every_message_of_a_store_is_recalled_by_its_id(make, home: Path) -> None:
    check_all_recalled(make(home))


def check_all_recalled(path: Path) -> None:
    """Whatever `messages` lists of any session in a store, `recall` finds in all of them, and in its own."""
    everywhere = scope(None, cwd="/", whole=True)
    with Index() as index:
        sessions = [open_session(f"{path}#{reading.id}") for reading in read_all(path)]
        assert sessions
        for session in sessions:
            listed = list(session.messages())
            assert listed
            own = scope(f"{path}#{session.id}", cwd="/")
            assert own.session is not None
            assert own.session.id == session.id
            for id, message in listed:
                found = everywhere.recalled(index, id)
                assert found is not None, f"{id} of {session.id}"
                assert drawn(found[0].message) == drawn(message)
                assert own.session.recall(id) == message


@pytest.mark.parametrize("store", ["opencode/opencode.db", "openclaw/openclaw-agent.sqlite"])
def test_every_message_of_a_store_that_a_client_wrote_is_recalled_by_its_id(store: str, home: Path) -> None:
    if not (CORPUS / store).exists():
        pytest.skip(f"NOT CHECKED: no corpus at {CORPUS / store}, so no store that a real client wrote was read")
    place = {
        "opencode": home / ".local/share/opencode/opencode.db",
        "openclaw": home / ".openclaw/agents/main/agent/openclaw-agent.sqlite",
    }[store.partition("/")[0]]
    place.parent.mkdir(parents=True)
    shutil.copy(CORPUS / store, place)
    check_all_recalled(place)


def test_recall_everywhere_answers_from_every_session_of_a_store(home: Path) -> None:
    opencode(home)
    for name in NAMES:
        assert f"user says {name} 0" in handle({"query": f"msg_{name}_0", "all": True})
        assert f"assistant says {name} 1" in handle({"query": f"msg_{name}_1", "session": name})


def test_what_is_found_in_a_store_is_as_old_as_its_session_and_not_as_its_file(home: Path) -> None:
    opencode(home)
    with Index() as index:
        hits = scope(None, cwd=str(home), whole=True).search(index, "user says", 10)
    assert {hit.session: hit.changed for hit in hits} == {"ses_a": 0.001, "ses_b": 0.009, "ses_c": 0.003}


def test_a_client_of_mcp_reaches_every_session_of_a_store(home: Path) -> None:
    opencode(home)
    client = Client(home, home)
    for name in NAMES:
        assert client.tool("recall", query=f"msg_{name}_1", session=name)[0].count(f"assistant says {name} 1") == 1
        assert json.loads(client.tool("context_status", session=name)[0])["session"] == name
    assert client.close()[0] == 0


def test_chats_in_one_file_are_told_apart(home: Path) -> None:
    path = home / ".aider.chat.history.md"
    path.write_text(AIDER)
    for which, asked in ((1, "plums"), (2, "pears")):
        session = open_session(f"{path}#{which}")
        assert asked in session.context.entries[0][1].text
        for id, message in session.messages():
            assert drawn(message) in handle({"query": id, "session": f"{path}#{which}"})
            assert drawn(message) in handle({"query": id, "session": str(path)}), "the file is named, and not the chat"
    assert "Plums are noted." in handle({"query": '"Plums are noted"', "session": str(path)})
    assert "Plums are noted." not in handle({"query": '"Plums are noted"', "session": f"{path}#2"})
    with pytest.raises(SessionError, match="2 conversations"):
        open_session(f"{path}#3")


def test_the_newest_session_of_a_directory_is_newer_than_its_stores_other_sessions(home: Path) -> None:
    """A store is as new as the newest session in it; another agent's session may be newer than the one meant."""
    store = opencode(home)
    log = home / ".pi/agent/sessions/--srv--/s.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text(json.dumps({"type": "session", "version": 3, "id": "s1", "cwd": "/srv/ses_a"}) + "\n")
    os.utime(log, (1_000, 1_000))
    assert store.stat().st_mtime > log.stat().st_mtime
    assert find_session(None, cwd="/srv/ses_a") == str(log)


# -- where it was, whose it is, and which one is meant -----------------------------------------------------------


def gemini(home: Path, project: str, id: str = "g-1", name: str = "session-1.jsonl") -> Path:
    path = home / ".gemini/tmp" / project / "chats" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {"sessionId": id, "projectHash": "0", "startTime": "2026-01-01T00:00:00Z", "kind": "main"},
        {"id": "m1", "timestamp": "2026-01-01T00:00:00Z", "type": "user", "content": [{"text": "count the plums"}]},
        {"$set": {"summary": "Plums are counted"}},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("told", ["by a file", "by its name", "by its hash"])
def test_a_chat_of_gemini_cli_is_of_its_projects_directory(told: str, home: Path) -> None:
    project = sha256(b"/srv/shop").hexdigest() if told == "by its hash" else "shop"
    path = gemini(home, project)
    if told == "by a file":
        (path.parents[1] / ".project_root").write_text("/srv/shop")
    else:
        (home / ".gemini/projects.json").write_text(json.dumps({"projects": {"/srv/other": "x", "/srv/shop": "shop"}}))
    assert find_session(None, cwd="/srv/shop") == str(path)
    assert open_session(path).cwd == "/srv/shop"
    (entry,) = listed("/srv/shop", memory=str(home / "memory"), environment={"HOME": str(home)})
    assert (entry.id, entry.title, entry.messages) == ("g-1", "Plums are counted", 1)


@pytest.mark.parametrize("projects", ["", "[]", '{"projects": 1}', '{"projects": {"/srv": 1}}'])
def test_a_damaged_list_of_projects_names_none(projects: str, home: Path) -> None:
    path = gemini(home, "shop")
    (home / ".gemini/projects.json").write_text(projects)
    assert open_session(path).cwd == ""


def test_an_id_that_several_sessions_have_is_told(home: Path) -> None:
    older, newer = (gemini(home, "shop", name=f"session-{n}.jsonl") for n in (1, 2))
    os.utime(older, (1_000, 1_000))
    with pytest.warns(UserWarning, match=f"2 sessions have the id g-1: {newer}"):
        assert find_session("g-1", cwd="/") == str(newer)
    assert find_session(str(older), cwd="/") == str(older)


def pi(home: Path, name: str, cwd: str, changed: float) -> Path:
    path = home / f".pi/agent/sessions/--srv--/{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    log = Log({**HEADER, "id": name, "cwd": cwd})
    log.user("count the plums in the orders")
    log.message("assistant", [{"type": "text", "text": "There are three of them."}], model="demo-1")
    log.add("session_info", name=f"Plums of {name}")
    log.write(path)
    os.utime(path, (changed, changed))
    return path


def test_a_handoff_that_nobody_has_gone_on_with_is_not_the_newest_session(home: Path) -> None:
    worked_on = pi(home, "one", "/srv/shop", 1_000)
    folder = worked_on.parent
    made = write_new(open_session(worked_on).context.messages, "pi", str(folder), cwd="/srv/shop")
    assert find_session(None, cwd="/srv/shop") == str(worked_on)
    Session(made.path).append(Message("user", (Text("go on"),)))
    assert find_session(None, cwd="/srv/shop") == made.path
    worked_on.unlink()
    alone = write_new(open_session(made.path).context.messages, "pi", str(folder), cwd="/srv/else")
    assert find_session(None, cwd="/srv/else") == alone.path, "there is no other"


def test_what_a_sub_agent_says_stands_below_its_session_and_is_never_the_newest(home: Path) -> None:
    project = home / ".claude/projects/-srv-shop"
    ends = {"c1": "c1.jsonl", "agent-7": "c1/subagents/agent-7.jsonl", "agent-8": "agent-8.jsonl"}
    for at, (name, place) in enumerate(ends.items(), 1):
        about = {"sessionId": "c1", "cwd": "/srv/shop", "isSidechain": name != "c1"}
        said = {"role": "user", "content": f"{name} counts plums"}
        row = {"type": "user", "uuid": f"u-{name}", "parentUuid": None, **about, "message": said}
        rows = [row] + [{"type": "ai-title", "aiTitle": "Counting plums", "sessionId": "c1"}] * (name == "c1")
        path = project / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(each) + "\n" for each in rows))
        os.utime(path, (at, at))
    assert find_session(None, cwd="/srv/shop") == str(project / "c1.jsonl")
    found = listed(memory=str(home / "memory"), environment={"HOME": str(home)})
    assert [(each.id, each.parent) for each in found] == [("c1", ""), ("agent-8", "c1"), ("agent-7", "c1")]
    assert found[0].title == "Counting plums"
    for name, place in ends.items():
        assert find_session(name, cwd="/") == str(project / place)
        assert open_session(project / place).id == name
        assert [message.text for _, message in open_session(project / place).messages()] == [f"{name} counts plums"]


def test_threads_of_codex_have_their_names_and_those_that_they_spawned(home: Path) -> None:
    day = home / ".codex/sessions/2026/01/02"
    day.mkdir(parents=True)
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": "t-1", "depth": 1}}}
    for id, more in (("t-1", {}), ("t-2", {"source": spawned})):
        meta = {"session_id": "t-1", "id": id, "cwd": "/srv/shop", **more}
        content = [{"type": "input_text", "text": f"{id} counts plums"}]
        rows = [
            {"type": "session_meta", "payload": meta},
            {"type": "response_item", "payload": {"type": "message", "role": "user", "content": content}},
        ]
        (day / f"rollout-{id}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    names = [{"id": "t-1", "thread_name": "Counting"}, {"id": "t-1", "thread_name": "Counting plums"}]
    (home / ".codex/session_index.jsonl").write_text("".join(json.dumps(row) + "\n" for row in names))
    found = listed(memory=str(home / "memory"), environment={"HOME": str(home)})
    assert [(each.id, each.parent, each.title) for each in found] == [("t-1", "", "Counting plums"), ("t-2", "t-1", "")]
    assert all(find_session(each.id, cwd="/") == each.path for each in found)


def test_the_name_that_a_user_gave_a_session_of_pi_is_its_title(home: Path) -> None:
    pi(home, "one", "/srv/shop", 1_000)
    (entry,) = listed(memory=str(home / "memory"), environment={"HOME": str(home)})
    assert (entry.title, entry.prompt, entry.messages) == ("Plums of one", "count the plums in the orders", 2)


def test_what_a_stores_owner_has_just_written_is_listed(home: Path) -> None:
    """SQLite keeps it in a file of its own for a while, and leaves the store as it was."""
    path = opencode(home)
    environment = {"HOME": str(home)}
    assert len(listed(memory=str(home / "memory"), environment=environment)) == 3
    owner = sqlite3.connect(path)
    try:
        owner.execute("pragma journal_mode = wal")
        assert len(listed(memory=str(home / "memory"), environment=environment)) == 3
        owner.execute("insert into session values ('ses_d', '/srv/ses_d', 'ses_d', 10, null)")
        owner.commit()
        found = listed(memory=str(home / "memory"), environment=environment)
        assert found[0].id == "ses_d"
    finally:
        owner.close()


STARTED = """
# aider chat started at 2026-01-03 10:00:00

> Aider v0.86.1
> Main model: claude-sonnet-4-5 with diff edit format

#### /exit
"""
"""What a start of aider leaves in its history in which nobody asked anything."""


def test_the_newest_chat_of_aider_is_the_one_in_which_something_was_said(home: Path) -> None:
    path = home / ".aider.chat.history.md"
    path.write_text(STARTED + AIDER + STARTED)
    assert open_session(path).id == "2026-01-02 10:00:00"
    assert [chat.id for chat in read_all(path)] == ["2026-01-01 10:00:00", "2026-01-02 10:00:00"]
    assert open_session(f"{path}#1").id == "2026-01-01 10:00:00"


def test_a_question_that_aider_did_not_answer_yet_is_the_newest_chat(home: Path) -> None:
    path = home / ".aider.chat.history.md"
    path.write_text(f"{AIDER}{STARTED.replace('/exit', 'and the figs?')}")
    assert open_session(path).id == "2026-01-03 10:00:00"


def test_a_history_of_aider_in_which_nothing_was_said_is_an_empty_chat(home: Path) -> None:
    path = home / ".aider.chat.history.md"
    path.write_text(STARTED * 2)
    session = open_session(path)
    assert (session.id, session.model) == ("2026-01-03 10:00:00", "claude-sonnet-4-5")
