"""The list of sessions: what the ends of files tell, what is remembered of them, and what is left open."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from foldline import open_session
from foldline._cli.listing import START, cell, columns
from foldline._desk.desk import Desk
from foldline._desk.status import status
from foldline._listing import COMPLETED, ListedSession, listed
from foldline._listing.reading import glanced
from foldline._sessions.finding import session_files
from foldline._sessions.tail import REACH
from foldline.extend import preset
from sessions import HEADER, Log

SAMPLE = Path(__file__).parents[1] / "samples" / "invoices.jsonl"

Rows = list[dict[str, Any]]


class Home:
    """A home with agents' stores in it, and the memory of its lists."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.memory = folder / "cache" / "sessions.msgpack"

    def list(self, cwd: str | None = None) -> list[ListedSession]:
        return list(listed(cwd, memory=str(self.memory), environment={"HOME": str(self.folder)}))

    def path(self, place: str) -> Path:
        path = self.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def write(self, place: str, rows: Rows) -> Path:
        path = self.path(place)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    def pi(self, name: str, log: Log) -> Path:
        return log.write(self.path(f".pi/agent/sessions/--x--/{name}.jsonl"))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


# -- sessions whose newest bill stands near their end ------------------------------------------------------------


def claude_rows(turns: int) -> Rows:
    rows: Rows = []
    for i in range(turns):
        about = {"sessionId": "c1", "cwd": "/srv/shop", "version": "2.1.50", "isSidechain": False}
        asked = {"role": "user", "content": f"step {i} " * 40}
        usage = {"input_tokens": 20, "cache_read_input_tokens": 30_000 + 100 * i, "output_tokens": 50}
        told = {"id": f"m{i}", "role": "assistant", "model": "claude-sonnet-4-5", "usage": usage}
        told["content"] = [{"type": "text", "text": f"did {i}"}]
        parent = f"a{i - 1}" if i else None
        rows.append({"type": "user", "uuid": f"u{i}", "parentUuid": parent, **about, "message": asked})
        rows.append({"type": "assistant", "uuid": f"a{i}", "parentUuid": f"u{i}", **about, "message": told})
    return rows


def codex_rows(turns: int) -> Rows:
    rows: Rows = [{"type": "session_meta", "payload": {"id": "x1", "cwd": "/srv/shop"}}]
    for i in range(turns):
        asked = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": f"step {i} " * 40}]}
        told = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": f"did {i}"}]}
        used = {"input_tokens": 30_000 + 100 * i, "cached_input_tokens": 20_000, "output_tokens": 50}
        info = {"total_token_usage": {**used, "turns": i}, "last_token_usage": used}
        rows += [
            {"type": "turn_context", "payload": {"cwd": "/srv/shop", "model": "gpt-5.1-codex"}},
            {"type": "response_item", "payload": asked},
            {"type": "response_item", "payload": told},
            {"type": "event_msg", "payload": {"type": "token_count", "info": info}},
        ]
    return rows


def qwen_rows(turns: int) -> Rows:
    rows: Rows = []
    for i in range(turns):
        about = {"sessionId": "q1", "cwd": "/srv/shop"}
        asked = {"role": "user", "parts": [{"text": f"step {i} " * 40}]}
        told = {"role": "model", "parts": [{"text": f"did {i}"}]}
        bill = {"promptTokenCount": 30_000 + 100 * i, "candidatesTokenCount": 50}
        parent = f"a{i - 1}" if i else None
        rows.append({"type": "user", "uuid": f"u{i}", "parentUuid": parent, **about, "message": asked})
        row = {"type": "assistant", "uuid": f"a{i}", "parentUuid": f"u{i}", **about, "message": told}
        rows.append({**row, "model": "qwen3-coder-plus", "usageMetadata": bill})
    return rows


STORES: dict[str, tuple[str, Callable[[int], Rows]]] = {
    "claude-code": (".claude/projects/-srv-shop/c1.jsonl", claude_rows),
    "codex": (".codex/sessions/2026/01/02/rollout-x1.jsonl", codex_rows),
    "qwen-code": (".qwen/projects/-srv-shop/chats/q1.jsonl", qwen_rows),
}


@pytest.mark.parametrize("agent", STORES)
def test_a_list_says_what_the_session_itself_says(home: Home, agent: str) -> None:
    place, rows = STORES[agent]
    path = home.write(place, rows(40))
    (entry,) = home.list()
    whole = Desk(open_session(path))
    assert (entry.agent, entry.id, entry.cwd) == (agent, whole.session.id, "/srv/shop")
    assert (entry.model, entry.window, entry.compactions) == (whole.session.model, whole.budget.window, 0)
    assert entry.tokens == pytest.approx(whole.tokens, rel=0.01)


def test_sessions_of_copilot_are_listed_by_what_stands_in_their_logs_and_beside_them(home: Home) -> None:
    """Older logs are files of their own and say no directory; what stands beside a newer one does."""
    said = {"type": "user.message", "data": {"content": "count the plums"}, "id": "e2"}
    start = {"type": "session.start", "data": {"sessionId": "c1", "context": {"cwd": "/srv/shop"}}, "id": "e1"}
    home.write(".copilot/session-state/c1/events.jsonl", [start, said])
    home.path(".copilot/session-state/c1/workspace.yaml").write_text(
        "id: c1\ncwd: /srv\nname: Plums\nsummary: |-\n  name: no\n"
    )
    home.write(".copilot/session-state/c2/events.jsonl", [said])
    home.path(".copilot/session-state/c2/workspace.yaml").write_text("id: c2\ncwd: /srv/shop\n")
    home.write(
        ".copilot/session-state/c3.jsonl", [{"type": "session.start", "data": {"sessionId": "c3"}, "id": "e1"}, said]
    )
    found = {entry.id: (entry.agent, entry.cwd, entry.title, entry.prompt) for entry in home.list()}
    assert found == {
        "c1": ("copilot-cli", "/srv/shop", "Plums", "count the plums"),
        "c2": ("copilot-cli", "/srv/shop", "", "count the plums"),
        "c3": ("copilot-cli", "", "", "count the plums"),
    }
    for entry in home.list():
        session = open_session(entry.path)
        assert (session.id, session.cwd) == (entry.id, entry.cwd)
    assert open_session(home.folder / ".copilot/session-state/c1").id == "c1", "the folder is the session, too"


def pi_rows(turns: int) -> Rows:
    log = Log({**HEADER, "cwd": "/srv/shop"})
    for i in range(turns):
        log.user(f"step {i} " * 40)
        usage = {"input": 30_000 + 100 * i, "output": 50, "cacheRead": 0, "cacheWrite": 0}
        log.message("assistant", [{"type": "text", "text": f"did {i}"}], model="gpt-5.1", usage=usage)
    return [row for row in log.lines if isinstance(row, dict)]


def test_what_the_newest_bill_does_not_hold_is_counted_at_a_glance(home: Home) -> None:
    """A command that the user ran behind it, and the output of a call of Codex's, whose bill is a row behind that."""
    output = "a line of what was printed, with a path like src/orders/plums.py\n" * 150
    rows = pi_rows(8)
    ran = {"role": "bashExecution", "command": "ls", "output": output, "exitCode": 0, "cancelled": False}
    home.write(
        ".pi/agent/sessions/--x--/one.jsonl",
        [*rows, {"type": "message", "id": "ran", "parentId": rows[-1]["id"], "message": ran}],
    )
    *rows, bill = codex_rows(8)
    call = {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{}"}
    answer = {"type": "function_call_output", "call_id": "c1", "output": output}
    answered = [{"type": "response_item", "payload": payload} for payload in (call, answer)]
    home.write(STORES["codex"][0], [*rows, *answered, bill])
    found = list(glanced(session_files({"HOME": str(home.folder)})))
    assert len(found) == 2
    for file, (known,) in found:
        assert known.tokens == pytest.approx(Desk(open_session(file.path)).tokens, rel=0.1), file.agent


def test_a_row_that_the_beginning_cuts_off_is_no_row_with_what_the_end_begins_with(home: Home) -> None:
    """Claude Code puts summaries of other conversations near the head of a file, and they may be long."""
    other = {"type": "summary", "summary": "plums and pears " * 600, "leafUuid": "z1"}
    first, *rest = claude_rows(100)
    rows = (json.dumps(row, separators=(",", ":")) for row in (first, other, *rest))
    home.path(STORES["claude-code"][0]).write_text("\n".join((*rows, "")))
    assert [(row.id, row.title, row.error) for row in home.list()] == [("c1", "", "")]


def test_a_list_of_names_that_cannot_be_read_takes_no_session_from_the_list(home: Home) -> None:
    home.write(STORES["codex"][0], codex_rows(3))
    home.path(".codex/session_index.jsonl").mkdir()
    assert [row.id for row in home.list()] == ["x1"]


def test_of_a_long_output_codex_sends_a_part_and_a_glance_counts_no_more(home: Home) -> None:
    *rows, bill = codex_rows(8)
    call = {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{}"}
    answer = {
        "type": "function_call_output",
        "call_id": "c1",
        "output": "a line of what was printed, src/plums.py\n" * 9_000,
    }
    answered = [{"type": "response_item", "payload": payload} for payload in (call, answer)]
    home.write(STORES["codex"][0], [*rows, *answered, bill])
    ((file, (known,)),) = glanced(session_files({"HOME": str(home.folder)}))
    assert known.tokens == pytest.approx(Desk(open_session(file.path)).tokens, rel=0.15)


def test_a_session_of_pi_is_listed_as_it_is(home: Home) -> None:
    shutil.copyfile(SAMPLE, path := home.path(".pi/agent/sessions/--x--/one.jsonl"))
    (entry,) = home.list()
    assert entry.tokens == pytest.approx(Desk(open_session(path)).tokens, rel=0.01)
    assert entry.fill == pytest.approx(entry.tokens / entry.window)


def test_a_folded_session_is_listed_as_it_is(home: Home) -> None:
    shutil.copyfile(SAMPLE, path := home.path(".pi/agent/sessions/--x--/one.jsonl"))
    before = home.list()[0].tokens
    found = Desk(open_session(path))
    found.plan(preset("default")).write()
    (entry,) = home.list()
    assert (entry.tokens, entry.compactions) == (Desk(open_session(path)).tokens, 1)
    assert entry.tokens < before / 2


def test_only_the_branch_that_goes_on_counts(home: Home) -> None:
    log = Log({**HEADER, "cwd": "/srv/shop"})
    asked = log.user("begin")
    log.message("assistant", [{"type": "text", "text": "one"}], model="demo-1", usage=_bill(10_000))
    log.user("a dead end")
    log.message("assistant", [{"type": "text", "text": "two"}], model="demo-1", usage=_bill(90_000))
    log.leaf = asked
    log.message("assistant", [{"type": "text", "text": "three"}], model="demo-1", usage=_bill(20_000))
    log.leaf = log.lines[2]["id"]
    log.user("back to the first answer")
    path = home.pi("one", log)
    assert home.list()[0].tokens == pytest.approx(Desk(open_session(path)).tokens, abs=50)
    assert 10_000 < home.list()[0].tokens < 10_200


def test_a_bill_out_of_reach_is_looked_for_in_the_whole_file(home: Home) -> None:
    log = Log({**HEADER, "cwd": "/srv/shop"})
    log.user("begin")
    log.message("assistant", [{"type": "text", "text": "one"}], model="demo-1", usage=_bill(10_000))
    log.user("a long text " * (REACH // 10))
    path = home.pi("one", log)
    assert home.list()[0].tokens == Desk(open_session(path)).tokens


def test_beyond_the_newest_ones_what_the_ends_do_not_tell_is_left_open(home: Home) -> None:
    place, rows = STORES["codex"]
    for n in range(COMPLETED + 2):
        path = home.write(place.replace("x1", f"x{n}"), rows(2))
        os.utime(path, (n + 1, n + 1))
    found = home.list()
    assert [entry.changed for entry in found] == sorted((n + 1 for n in range(COMPLETED + 2)), reverse=True)
    assert [entry.compactions for entry in found] == [0] * COMPLETED + [None] * 2
    assert all(entry.tokens for entry in found)


def test_a_list_goes_on_where_an_earlier_one_left_what_sessions_began_with(home: Home) -> None:
    place, rows = STORES["codex"]
    for n in range(COMPLETED + 2):
        cwd = "/srv/old" if n < 2 else "/srv/shop"
        told = json.loads(json.dumps(list(rows(2))).replace("/srv/shop", cwd))
        path = home.write(place.replace("x1", f"x{n}"), told)
        os.utime(path, (n + 1, n + 1))
    assert [entry.messages for entry in home.list()][COMPLETED:] == [None, None]
    assert all(entry.messages and entry.prompt for entry in home.list("/srv/old"))


def test_the_sessions_of_a_directory_are_those_below_every_name_of_it(home: Home, tmp_path: Path) -> None:
    real = tmp_path / "shop"
    real.mkdir()
    (tmp_path / "alias").symlink_to(real)
    home.pi("one", _short(cwd=str(real)))
    home.pi("two", _short(cwd=str(tmp_path / "alias")))
    home.pi("three", _short(cwd="/srv/other"))
    assert {Path(entry.path).stem for entry in home.list(str(real))} == {"one", "two"}
    assert len(home.list()) == 3


def test_what_is_no_session_says_so_and_the_rest_is_listed(home: Home) -> None:
    home.pi("one", _short())
    home.path(".pi/agent/sessions/--x--/two.jsonl").write_text("hello\n")
    home.path(".pi/agent/sessions/--x--/empty.jsonl").write_text("")
    by_name = {Path(entry.path).stem: entry for entry in home.list()}
    assert set(by_name) == {"one", "two"}
    assert by_name["one"].error == ""
    assert by_name["two"].error.startswith(by_name["two"].path)
    assert by_name["two"].tokens is None


# -- what is remembered --------------------------------------------------------------------------------------------


def test_a_file_that_has_not_changed_is_not_read_again(home: Home) -> None:
    path = home.pi("one", _short())
    first = home.list()
    about = path.stat()
    path.write_bytes(b"x" * about.st_size)
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert home.list() == first
    home.memory.unlink()
    assert home.list() != first


@pytest.mark.parametrize("change", ["grown", "touched", "replaced"])
def test_a_file_that_changed_is_read_again(home: Home, change: str) -> None:
    path = home.pi("one", _short(said="short"))
    (before,) = home.list()
    about = path.stat()
    longer = _short(said="longer " * 2_000)
    if change == "grown":
        longer.write(path)
        os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    elif change == "touched":
        path.write_text(path.read_text().replace("short", "sh\\u006f"))
        os.utime(path, ns=(1, 1))
    else:
        longer.write(path.with_suffix(".new"))
        os.replace(path.with_suffix(".new"), path)
    (after,) = home.list()
    assert after != before


@pytest.mark.parametrize(
    "damage", [b"", b"\x00", b"no such thing" * 50, b"\x92\xa1x\x80", b"\x92\xa41 of\x81"], ids=repr
)
def test_a_damaged_memory_is_no_error(home: Home, damage: bytes) -> None:
    home.pi("one", _short())
    first = home.list()
    home.memory.write_bytes(damage)
    assert home.list() == first
    assert home.memory.read_bytes() != damage


def test_a_memory_that_cannot_be_written_is_no_error(home: Home) -> None:
    home.pi("one", _short())
    home.memory.parent.write_text("a file where a folder should be")
    assert len(home.list()) == 1


def test_lists_at_the_same_time_agree(home: Home) -> None:
    for n in range(40):
        home.pi(f"s{n}", _short(said=f"number {n}"))
    with ThreadPoolExecutor(8) as pool:
        lists = list(pool.map(lambda _: home.list(), range(16)))
    assert all(each == lists[0] for each in lists)
    assert home.list() == lists[0]
    assert [path.name for path in home.memory.parent.iterdir()] == [home.memory.name]


def test_what_is_gone_is_forgotten(home: Home) -> None:
    gone = home.pi("one", _short())
    home.pi("two", _short())
    assert len(home.list()) == 2
    gone.unlink()
    assert len(home.list()) == 1
    assert b"one.jsonl" not in home.memory.read_bytes()


def test_a_name_that_is_no_text_is_listed(home: Home) -> None:
    odd = home.path(".pi/agent/sessions/--x--/" + os.fsdecode(b"odd\xff.jsonl"))
    _short().write(odd)
    home.pi("two", _short())
    assert len(home.list()) == len(home.list()) == 2
    assert b"two.jsonl" in home.memory.read_bytes()


@pytest.mark.parametrize("odd", ["prompt", "model", "id", "cwd"])
def test_a_session_that_says_half_a_character_is_listed(home: Home, odd: str) -> None:
    meta = {"id": "c1", "cwd": "/srv/shop"} | ({odd: "half \ud83d"} if odd in ("id", "cwd") else {})
    said = {"type": "message", "role": "user", "content": "half \ud83d" if odd == "prompt" else "begin"}
    turn = {"model": "half \ud83d" if odd == "model" else "gpt-5.4"}
    rows = [("session_meta", meta), ("turn_context", turn), ("response_item", said)]
    home.write(".codex/sessions/2026/01/01/rollout-h.jsonl", [{"type": kind, "payload": each} for kind, each in rows])
    home.pi("two", _short())
    assert len(home.list()) == len(home.list()) == 2
    assert b"two.jsonl" in home.memory.read_bytes()


def _short(cwd: str = "/srv/shop", said: str = "begin") -> Log:
    log = Log({**HEADER, "cwd": cwd})
    log.user(said)
    return log


def _bill(tokens: int) -> dict[str, int]:
    return {"input": tokens, "output": 10, "cacheRead": 0, "cacheWrite": 0, "totalTokens": tokens + 10}


def test_the_window_is_the_one_that_the_file_tells(home: Home) -> None:
    rows = codex_rows(3)
    for row in rows:
        if row["payload"].get("type") == "token_count":
            row["payload"]["info"]["model_context_window"] = 123_456
    path = home.write(".codex/sessions/2026/01/01/rollout-w.jsonl", rows)
    assert [each.window for each in home.list()] == [123_456]
    desk = Desk(open_session(path))
    assert desk.budget.window == 123_456
    assert status(desk, preset("default")).window_known
    assert Desk(open_session(path), window=50_000).budget.window == 50_000


@pytest.mark.parametrize("billed", [150_000, 250_000])
def test_the_window_that_a_bill_of_claude_proves_is_listed(home: Home, billed: int) -> None:
    rows = claude_rows(3)
    for row in rows:
        if usage := row["message"].get("usage"):
            usage["input_tokens"] = billed
    path = home.write(".claude/projects/-srv-shop/c1.jsonl", rows)
    window = Desk(open_session(path)).budget.window
    assert [each.window for each in home.list()] == [window]
    assert window == (200_000 if billed < 200_000 else 1_000_000)


# -- on a terminal -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [60, 72, 80, 99, 100, 120, 150, 200, 400])
def test_a_line_of_the_list_fits_the_terminal(width: int) -> None:
    sizes = columns(width)
    assert START + sum(sizes) <= max(width, START + sizes.bar)
    shown = [size > 0 for size in (sizes.title, sizes.messages, sizes.folds, sizes.model, sizes.cwd)]
    assert shown[0] or width < 80, "what a session is called comes first"
    assert all(shown) or width < 160


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("plums", "  plums   "),
        ("plums and pears", "  plums a…"),
        ("하이", "  하이    "),
        ("하이하이하이", "  하이하… "),
        ("cmux, 등", "  cmux, 등"),
    ],
)
def test_a_cell_is_as_wide_as_its_column(text: str, drawn: str) -> None:
    assert cell(text, 10) == drawn
