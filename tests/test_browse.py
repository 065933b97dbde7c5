"""The terminal browser, by its keys, as a user has it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from foldline import Session
from foldline._cli.browser.app import Browser
from foldline._cli.browser.rows import Rows
from foldline._desk.desk import Desk
from foldline._listing import listed
from foldline.extend import preset
from providers import Provider, says, status
from test_listing import claude_rows
from test_stores import opencode

SAMPLE = Path(__file__).parents[1] / "samples" / "invoices.jsonl"
TRANSCRIPTS = Path(__file__).parent / "transcripts"
OURS = ".pi/agent/sessions/--demo--/invoices.jsonl"
THEIRS = ".claude/projects/-srv-shop/c1.jsonl"

Using = Callable[["User"], Awaitable[None]]


class User:
    """Someone at the keyboard: presses keys, waits until all is done, and looks."""

    def __init__(self, app: Browser, pilot: Pilot[None], home: Path) -> None:
        self.app, self.pilot, self.home = app, pilot, home

    async def press(self, *keys: str) -> None:
        """Presses keys, faster than anything is done about them."""
        await self.pilot.press(*keys)
        await self.settled()

    async def settled(self) -> None:
        for _ in range(2):
            await self.pilot.pause()
            while any(not worker.is_finished for worker in self.app.workers):
                await self.app.workers.wait_for_complete()
                await self.pilot.pause()

    def sees(self, *words: str) -> bool:
        """Whether all of the words stand on the screen."""
        shown = self.screen
        return all(word in shown for word in words)

    @property
    def screen(self) -> str:
        """What is on the screen, as text."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text for strip in strips)

    @property
    def told(self) -> list[str]:
        """The notifications, title and text."""
        return [f"{note.title}: {note.message}" for note in self.app._notifications]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with the beginning of a session of pi's, the newest, and one of Claude Code's."""
    for place in (OURS, THEIRS):
        (tmp_path / place).parent.mkdir(parents=True)
    (tmp_path / OURS).write_bytes(b"".join(SAMPLE.read_bytes().splitlines(keepends=True)[:40]))
    (tmp_path / THEIRS).write_text("".join(json.dumps(row) + "\n" for row in claude_rows(30)))
    os.utime(tmp_path / THEIRS, (1_700_000_000, 1_700_000_000))
    return tmp_path


@pytest.fixture
def full(home: Path) -> Path:
    """The same home with the whole session, which fills its window."""
    shutil.copyfile(SAMPLE, home / OURS)
    return home


@pytest.fixture(scope="module")
def folded() -> bytes:
    """The sample session with a fold behind it."""
    with tempfile.TemporaryDirectory() as folder:
        path = shutil.copyfile(SAMPLE, Path(folder, "invoices.jsonl"))
        found = Desk(Session(path))
        found.plan(preset("default")).write()
        return path.read_bytes()


def browsing(home: Path, use: Using, size: tuple[int, int] = (120, 40), **environment: str) -> None:
    """Opens the browser on a home, and has it used."""

    async def run() -> None:
        app = Browser({"HOME": str(home), **environment})
        async with app.run_test(size=size, notifications=True) as pilot:
            user = User(app, pilot, home)
            await user.settled()
            await use(user)

    asyncio.run(run())


@pytest.mark.parametrize("size", [(80, 24), (140, 40), (40, 12)], ids=str)
def test_it_opens_on_the_newest_session(full: Path, size: tuple[int, int]) -> None:
    async def use(user: User) -> None:
        assert user.sees("Sessions 2", "invoices", "shop")
        if size[0] >= 80:
            assert user.sees("118,4", "/ 128,000", "93%", "talk", "tools", "assistant", "Fold", "Undo", "Recall")

    browsing(full, use, size)


@pytest.mark.parametrize("width", [80, 100, 120, 130, 160])
def test_all_that_fills_a_window_is_told_however_much_it_is(home: Path, width: int) -> None:
    path = home / ".codex/sessions/2026/11/24/rollout-2026-11-24T10-00-00-c1.jsonl"
    path.parent.mkdir(parents=True)
    rules = (
        "# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>\n" + "Run the tests first. " * 900 + "\n</INSTRUCTIONS>"
    )
    says = [("user", rules), ("user", "count " * 9_000), ("assistant", "Plums were counted. " * 3_000)]
    head = {"id": "c1", "cwd": "/srv", "base_instructions": {"text": "You are Codex. " * 3_000}}
    tools = [{"name": f"tool_{n}", "description": "counts plums " * 60} for n in range(30)]
    call = {"type": "function_call", "call_id": "c", "name": "shell", "arguments": "{}"}
    items = [
        *({"type": "message", "role": r, "content": [{"type": "input_text", "text": text}]} for r, text in says),
        call,
        {"type": "function_call_output", "call_id": "c", "output": "a plum\n" * 4_000},
    ]
    rows = [{"type": "session_meta", "payload": {**head, "dynamic_tools": tools}}]
    rows += [{"type": "turn_context", "payload": {"model": "gpt-5.6-sol", "cwd": "/srv"}}]
    rows += [{"type": "response_item", "payload": item} for item in items]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    async def use(user: User) -> None:
        assert user.sees("■ talk", "■ tools", "■ system", "■ memory", "■ schemas", "compactable", "protected")

    browsing(home, use, size=(width, 40))


def test_that_nothing_folds_by_itself_is_shown(home: Path) -> None:
    """ "Update footer to show when auto-compact is disabled" (the plan for pi's compaction)."""

    async def use(user: User) -> None:
        assert user.sees("auto-compaction off")

    browsing(home, use, FOLDLINE_COMPACTION__AUTO_ENABLED="off")

    async def look(user: User) -> None:
        assert not user.sees("auto-compaction off")

    browsing(home, look)


def test_the_cursor_shows_another_session(home: Path) -> None:
    async def use(user: User) -> None:
        await user.press("down")
        assert user.sees("claude-sonnet-4-5", "/srv/shop", "step 29")
        await user.press("up")
        assert user.sees("/tmp/demo/invoices")

    browsing(home, use)


def test_fold_shows_the_plan_and_does_nothing_unless_agreed_to(full: Path) -> None:
    before = (full / OURS).read_bytes()

    async def use(user: User) -> None:
        await user.press("f")
        assert user.sees("Fold this session?", "Freed:", "Prompt cache:", "Summary")
        await user.press("n")
        assert not user.sees("Fold this session?")
        await user.press("f")
        await user.press("escape")
        assert (full / OURS).read_bytes() == before
        assert user.told == []

    browsing(full, use)


def test_fold_and_undo(full: Path) -> None:
    before = (full / OURS).read_bytes()

    async def use(user: User) -> None:
        await user.press("f")
        await user.press("y")
        assert (full / OURS).read_bytes().startswith(before)
        assert Session(full / OURS).compactions == 1
        assert user.sees("⟪1⟫", "folded")
        assert not user.sees("118,4")
        await user.press("u")
        assert Session(full / OURS).compactions == 0
        assert user.sees("118,4")
        await user.press("u")
        assert [note.partition(":")[0] for note in user.told] == ["Folded", "Undone", "Nothing to undo"]

    browsing(full, use)


@pytest.mark.parametrize(("answer", "undone"), [("n", False), ("y", True)])
def test_a_compaction_of_the_agents_own_is_taken_back_only_once_agreed_to(
    home: Path, answer: str, undone: bool
) -> None:
    shutil.copyfile(TRANSCRIPTS / "claude-code.jsonl", home / THEIRS)
    before = (home / THEIRS).read_bytes()

    async def use(user: User) -> None:
        await user.press("u")
        assert user.sees("a compaction of claude-code's own", "y undo")
        assert (home / THEIRS).read_bytes() == before
        await user.press(answer)
        assert ((home / THEIRS).read_bytes() != before) == undone
        assert [note.partition(":")[0] for note in user.told] == ["Undone"] * undone

    browsing(home, use)


@pytest.mark.parametrize("size", [(60, 20), (80, 24)], ids=str)
def test_a_figure_of_a_fold_that_takes_two_lines_goes_on_below_itself(full: Path, size: tuple[int, int]) -> None:
    async def use(user: User) -> None:
        await user.press("f")
        figures = [line for line in user.screen.splitlines() if "│" in line]
        before = next(line for line in figures if "Before:" in line)
        assert "93%" in before
        figure = re.search(r"\d{3},\d{3}", before)
        assert figure
        at = figure.start() - before.index("Before:")
        rest = next(line for line in figures if "tokens to be" in line).partition("Prompt cache:")[2]
        assert len(rest) - len(rest.lstrip()) == at - len("Prompt cache:")

    browsing(full, use, size)


def test_the_model_that_the_settings_name_writes_the_summary(full: Path) -> None:
    pytest.importorskip("pydantic_ai")
    before = (full / OURS).read_bytes()

    async def use(user: User) -> None:
        await user.press("f")
        assert user.sees("openai:gpt-5-mini writes the summary")
        await user.press("y")

    with Provider(status(500)) as down:
        settings = {"FOLDLINE_SUMMARY__MODEL": "openai:gpt-5-mini", "FOLDLINE_SUMMARY__RETRIES": "0"}
        browsing(full, use, **settings, FOLDLINE_SUMMARY__BASE_URL=down.url)
    assert (full / OURS).read_bytes() == before
    sections = ("Goal", "Constraints", "Done", "In progress", "Decisions", "Next steps", "Critical context")
    told = "\n".join(f"## {name}\nThe invoices keep their numbers and the tests pass." for name in sections)
    with Provider(says(told)) as up:
        browsing(full, use, **settings, FOLDLINE_SUMMARY__BASE_URL=up.url)
    made = Session(full / OURS).newest_fold
    assert made is not None
    assert made.receipt.models == ("openai:gpt-5-mini",)


def test_the_timeline_marks_where_history_was_folded(home: Path, folded: bytes) -> None:
    (home / OURS).write_bytes(folded)

    async def use(user: User) -> None:
        await user.press("tab", "home")
        assert user.sees("user")
        assert not user.sees("⟪ folded: a summary")
        while not user.sees("⟪ folded: a summary"):
            assert user.app.timeline.cursor < len(user.app.timeline.items) - 1
            await user.press("pagedown")
        while not user.app.timeline.current.message.summary:
            await user.press("up")
        await user.press("enter")
        assert user.sees("## Rules that stand", "never touch the public API")

    browsing(home, use)


def test_a_message_in_full(home: Path) -> None:
    async def use(user: User) -> None:
        await user.press("enter")
        await user.press("home", "down", "enter")
        assert user.sees("This repo is our invoice service", "never touch the public API", "Esc close")
        await user.press("escape")
        assert not user.sees("Esc close")

    browsing(home, use)


def test_recall_finds_what_was_folded_and_shows_it(home: Path, folded: bytes) -> None:
    (home / OURS).write_bytes(folded)

    async def use(user: User) -> None:
        await user.press("r")
        assert user.sees("Recall from 18", "type to search")
        await user.press(*"nfs")
        assert user.sees(" nfs ")
        await user.press("down", "up", "enter")
        assert user.sees("NFS", "Esc close")
        await user.press("escape")
        await user.press(*["backspace"] * 3, *"zqx")
        assert user.sees("nothing found")
        await user.press("escape")
        assert not user.sees("Recall from")

    browsing(home, use)


def test_a_branch_at_a_user_message_is_a_new_session(home: Path) -> None:
    before = (home / OURS).read_bytes()

    async def use(user: User) -> None:
        await user.press("tab", "home")
        while user.app.timeline.current.message.role != "user":
            await user.press("down")
        await user.press("b")
        assert user.sees("Branch at", "This repo is our invoice service")
        await user.press("y")
        assert user.sees("Sessions 3")
        assert "Branched" in user.told[0]
        assert (home / OURS).read_bytes() == before
        new = next(path for path in (home / OURS).parent.iterdir() if path.name != "invoices.jsonl")
        assert Session(new).view().messages[-1].text.startswith("Hi. This repo")

    browsing(home, use)


def test_what_cannot_be_branched_says_why(home: Path) -> None:
    async def use(user: User) -> None:
        await user.press("down")
        await user.press("b")
        await user.press("y")
        assert "a branch ends with one that the user wrote" in user.told[0]
        assert user.sees("Sessions 2")

    browsing(home, use)


def test_a_session_that_its_agent_has_open_is_refused(home: Path) -> None:
    before = (home / OURS).read_bytes()
    held = "import sys; f = open(sys.argv[1], 'a'); print('open', flush=True); sys.stdin.read()"
    agent = subprocess.Popen(
        [sys.executable, "-c", held, str(home / OURS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    async def use(user: User) -> None:
        await user.press("f")
        assert "its agent has it open" in user.told[0]
        assert not user.sees("Fold this session?")
        await user.press("u")
        assert "its agent has it open" in user.told[1]
        assert (home / OURS).read_bytes() == before

    with agent:
        assert agent.stdout is not None
        assert agent.stdout.readline() == "open\n"
        browsing(home, use)
        agent.communicate()


def test_a_session_that_grew_since_it_was_planned_is_not_folded(full: Path) -> None:
    async def use(user: User) -> None:
        await user.press("f")
        (full / OURS).write_bytes((full / OURS).read_bytes() + b"\n")
        grown = (full / OURS).read_bytes()
        await user.press("y")
        assert "nothing was written, run again" in user.told[0]
        assert (full / OURS).read_bytes() == grown

    browsing(full, use)


def test_the_filter_leaves_what_fits_and_escape_brings_all_back(home: Path) -> None:
    async def use(user: User) -> None:
        await user.press("slash", *"de shop")
        assert user.sees("Sessions 1", "claude-sonnet-4-5")
        await user.press("enter", "escape")
        assert user.sees("Sessions 2", "step 29")
        await user.press("slash", *"nowhere")
        assert user.sees("Sessions 0", "no session fits")
        await user.press("escape")
        assert user.sees("Sessions 2", "/tmp/demo/invoices")

    browsing(home, use)


def test_messages_of_a_session_are_found_by_their_words(home: Path) -> None:
    async def use(user: User) -> None:
        await user.press("down", "tab", "slash", *"step 7 ")
        assert user.sees("Sessions 2", "step 7")
        assert not user.sees("step 29")
        await user.press("enter", "escape")
        assert user.sees("step 29")

    browsing(home, use)


def test_the_fullest_comes_first_where_that_is_asked_for(home: Path) -> None:
    async def use(user: User) -> None:
        first = user.app.sessions.current
        await user.press("s")
        assert user.sees("fullest first")
        assert user.app.sessions.current == first, "the cursor stays where it was"
        await user.press("home")
        fullest = max(listed(environment={"HOME": str(home)}), key=lambda entry: entry.fill or 0)
        assert user.app.sessions.current.path == fullest.path
        await user.press("s")
        assert not user.sees("fullest first")

    browsing(home, use)


def test_a_message_and_a_sessions_path_are_copied(home: Path) -> None:
    async def use(user: User) -> None:
        await user.press("down", "c")
        assert user.app.clipboard == str(home / THEIRS)
        await user.press("tab", "c")
        assert "did 29" in user.app.clipboard

    browsing(home, use)


def test_what_a_session_came_to_know_is_exported_once_agreed_to(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)

    async def use(user: User) -> None:
        await user.press("e", "n")
        assert not list(home.glob("*.json"))
        await user.press("e")
        await user.press("y")
        (written,) = home.glob("*.json")
        assert user.told == [f"Exported: {written}"]
        assert json.loads(written.read_text())["source"]

    browsing(home, use)


def test_a_session_that_is_followed_is_read_again_when_it_changes(home: Path) -> None:
    async def use(user: User) -> None:
        await user.press("down", "w")
        user.app._follow()
        assert user.app.timeline.current.message.text == "did 29"
        (home / THEIRS).write_text("".join(json.dumps(row) + "\n" for row in claude_rows(31)))
        user.app._follow()
        await user.settled()
        assert user.app.timeline.current.message.text == "did 30"
        await user.press("w")
        assert user.told[-1] == "Follow: no longer"

    browsing(home, use)


def test_one_of_several_sessions_in_a_store_is_shown(home: Path) -> None:
    opencode(home)

    async def use(user: User) -> None:
        await user.press("slash", *"ses_b", "enter")
        assert user.sees("Sessions 1", "assistant says ses_b 1")

    browsing(home, use)


def test_refresh_shows_what_was_written_meanwhile(home: Path) -> None:
    async def use(user: User) -> None:
        shutil.copyfile(SAMPLE, (home / OURS).with_name("two.jsonl"))
        (home / THEIRS).unlink()
        await user.press("f5")
        assert user.sees("Sessions 2")
        assert not user.sees("claude-code")

    browsing(home, use)


def test_a_file_that_is_no_session_says_so_and_the_rest_goes_on(home: Path) -> None:
    (home / OURS).with_name("zero.jsonl").write_text("hello\n")

    async def use(user: User) -> None:
        await user.press("home")
        assert user.sees("Sessions 3", "zero", "no session of a known format")
        await user.press("f", "u", "b", "r", "down", "down")
        assert user.sees("invoices")

    browsing(home, use)


def test_what_a_session_says_does_not_steer_the_terminal(home: Path) -> None:
    text = (home / THEIRS).read_text().replace("step 29", "\\u001b[2Jstep 29").replace("/srv/shop", "/srv/\\u001bshop")
    (home / THEIRS).write_text(text)

    async def use(user: User) -> None:
        assert user.sees("step 29", "␛shop")
        assert "\x1b" not in user.screen
        await user.press("tab", "up", "enter")
        assert user.sees("Esc close", "step 29")
        assert "\x1b" not in user.screen

    browsing(home, use)


def test_an_empty_home_has_no_sessions(tmp_path: Path) -> None:
    async def use(user: User) -> None:
        assert user.sees("no sessions found")
        await user.press("f", "u", "b", "r", "enter", "down", "question_mark")
        assert user.sees("Keys", "undo the newest fold")

    browsing(tmp_path, use)


def test_only_rows_in_sight_are_drawn() -> None:
    drawn: list[int] = []

    async def run() -> None:
        from rich.text import Text
        from textual.app import App, ComposeResult

        class Long(App[None]):
            def compose(self) -> ComposeResult:
                def draw(item: int, width: int) -> list[Text]:
                    drawn.append(item)
                    return [Text(f"row {item}")]

                yield Rows(draw)

        app = Long()
        async with app.run_test(size=(40, 10)) as pilot:
            rows = app.query_one(Rows)
            rows.show(range(1_000_000))
            rows.focus()
            await pilot.press("end", "up", "pageup")
            await pilot.pause()
            assert rows.current == 999_989

    asyncio.run(run())
    assert len(set(drawn)) < 60


def test_without_textual_it_says_how_to_install_it(tmp_path: Path) -> None:
    code = "import sys; sys.modules['textual'] = None; sys.argv = ['foldline', 'browse']; import foldline.__main__"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1
    assert "pip install 'foldline[browse]'" in done.stderr
    assert done.stderr.count("\n") == 1
