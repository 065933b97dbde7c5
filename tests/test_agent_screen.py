"""The agent on the screen, by its keys, as a user has it; the model plays a script, the tools are real."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from rich.text import Text
from textual import events
from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from chatting import agent_in, kept
from foldline import Session
from foldline_agent import terminal
from foldline_agent.agent import Agent
from foldline_agent.asking import LanguageModel
from foldline_agent.terminal.app import Chat
from foldline_agent.terminal.commands import COMMANDS
from foldline_agent.terminal.dialogs import Allow, Choose, Show
from foldline_agent.terminal.entries import Notice
from foldline_agent.terminal.gauge import gauge, marks
from foldline_agent.terminal.prompt_box import PromptBox
from providers import Provider, Request, says, status

PATIENCE = 20.0
"""Seconds in which what is waited for has to come."""


class User:
    """Someone at the keyboard: writes, presses keys, waits for what is to be seen."""

    def __init__(self, app: Chat, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot

    async def writes(self, text: str) -> None:
        self.app.query_one(PromptBox).text = text
        await self.pilot.press("enter")

    async def says(self, text: str) -> None:
        """Writes to the agent, and waits until it is done."""
        await self.writes(text)
        await self.until(lambda: not self.app.agent.working and text in kept(self.app.agent))
        await self.pilot.pause()

    async def until(self, so: Callable[[], object]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not so():
                await self.pilot.pause()

    async def reads(self, *words: str) -> None:
        """Waits until all of the words stand on the screen."""
        await self.until(lambda: self.sees(*words))

    async def asked(self, screen: type[Any]) -> None:
        """Waits for a dialog."""
        await self.until(lambda: isinstance(self.app.screen, screen) and self.app.screen.is_mounted)
        await self.pilot.pause()

    async def answers(self, *keys: str) -> None:
        """Presses keys in a dialog, which is gone then."""
        await self.pilot.press(*keys)
        await self.until(lambda: len(self.app.screen_stack) == 1)

    def sees(self, *words: str) -> bool:
        lines = ["".join(part.text for part in strip) for strip in self.app.screen._compositor.render_strips()]
        return all(word in "\n".join(lines) for word in words)


def using(
    agent: Agent,
    *steps: Callable[[User], Awaitable[None]],
    message: str = "",
    pause: float = 0.0,
    size: tuple[int, int] = (110, 40),
) -> None:
    async def all_of() -> None:
        app = Chat(agent, message, pause=pause)
        async with agent.model.native, app.run_test(size=size) as pilot:
            for step in steps:
                await step(User(app, pilot))

    asyncio.run(all_of())


def test_what_is_written_is_answered_and_tools_show_what_they_brought(tmp_path: Path) -> None:
    async def step(user: User) -> None:
        await user.says("Write the first part.")
        await user.reads(
            "Write the first part.", "✓ bash  python3 ledger/part_1.py", "820", "it prints 820.", "default"
        )

    using(agent_in(tmp_path), step)


def test_a_message_on_the_command_line_is_the_first_one(tmp_path: Path) -> None:
    async def step(user: User) -> None:
        await user.reads("it prints 820.")

    using(agent_in(tmp_path), step, message="Write the first part.")


@pytest.mark.parametrize(
    ("seconds", "sent", "stands"),
    [(0, "hello", "yo"), (60, "hello\nyo", "")],
    ids=["before the screen is there", "on the screen"],
)
def test_a_new_line_sends_what_was_typed_before_the_screen_was_there(
    tmp_path: Path, seconds: int, sent: str, stands: str
) -> None:
    """However long it takes until the screen handles a key: when it was typed decides."""

    class Typed(Chat):
        CSS_PATH = Path(terminal.__file__).with_name("chat.tcss")

        def on_load(self) -> None:
            keys = [*"hello", "ctrl+j", *"yo"] + ["enter"] * (not stands)
            for key in keys:
                event = events.Key(key, key if len(key) == 1 else None)
                event.time += seconds
                self.post_message(event)

    async def all_of() -> None:
        app = Typed(agent_in(tmp_path, {"say": "Hello to you."}))
        async with app.run_test() as pilot:
            user = User(app, pilot)
            await user.reads("Hello to you.")
            assert kept(app.agent)[0] == sent
            assert app.query_one(PromptBox).text == stands

    asyncio.run(all_of())


@pytest.mark.parametrize(("key", "stands"), [("y", "new\n"), ("n", "old\n"), ("escape", "old\n")])
def test_what_would_change_something_is_shown_and_asked_for(tmp_path: Path, key: str, stands: str) -> None:
    async def step(user: User) -> None:
        await user.writes("Replace it.")
        await user.asked(Allow)
        await user.reads("Allow write?", "-old", "+new")
        await user.answers(key)
        await user.reads("So be it.")

    agent = agent_in(
        tmp_path,
        {"call": "write", "arguments": {"path": "a.txt", "content": "new\n"}},
        {"say": "So be it."},
        allowed=False,
    )
    (tmp_path / "a.txt").write_text("old\n")
    using(agent, step)
    assert (tmp_path / "a.txt").read_text() == stands


def test_a_small_terminal_shows_what_is_asked_and_by_which_keys_it_is_answered(tmp_path: Path) -> None:
    async def step(user: User) -> None:
        for command, dialog, words in (
            ("/help", Show, ("/autocompact [on|off]", "esc closes")),
            ("/policy", Choose, ("summarizes the whole history", "esc leaves it as it is")),
            ("Write it.", Allow, ("+row 1 ", "+row 11 ", "y yes   n no")),
        ):
            await user.writes(command)
            await user.asked(dialog)
            await user.reads(*words)
            await user.answers("escape")

    write = {"call": "write", "arguments": {"path": "a.txt", "content": "".join(f"row {n}\n" for n in range(1, 100))}}
    using(agent_in(tmp_path, write, {"say": "Then not."}, allowed=False), step, size=(60, 20))


def test_what_was_being_written_is_no_answer_to_what_a_tool_asks(tmp_path: Path) -> None:
    async def step(user: User) -> None:
        await user.writes("Replace it.")
        await user.asked(Allow)
        await user.pilot.press(*"yes Any")
        assert isinstance(user.app.screen, Allow)
        assert user.app.query_one(PromptBox).text == "yes Any"

    agent = agent_in(
        tmp_path, {"call": "write", "arguments": {"path": "a.txt", "content": "new\n"}}, {"say": "Done."}, allowed=False
    )
    using(agent, step, pause=PATIENCE)
    assert not (tmp_path / "a.txt").exists()


def test_ctrl_c_takes_back_what_is_written_and_twice_ends(tmp_path: Path) -> None:
    async def step(user: User) -> None:
        await user.pilot.press(*"half a")
        await user.pilot.press("ctrl+c")
        assert user.app.query_one(PromptBox).text == ""
        await user.pilot.press("ctrl+c")
        await user.reads("ctrl+c once more ends")
        assert user.app.is_running
        await user.pilot.press("ctrl+c")
        await user.until(lambda: not user.app.is_running or user.app._exit)

    using(agent_in(tmp_path), step)


def test_after_yes_to_all_nothing_is_asked_any_more(tmp_path: Path) -> None:
    async def step(user: User) -> None:
        await user.writes("Write the first part.")
        await user.asked(Allow)
        await user.answers("A")
        await user.reads("it prints 820.")

    using(agent_in(tmp_path, allowed=False), step)


def test_a_fold_on_the_way_is_seen_with_what_it_kept(tmp_path: Path) -> None:
    """ "TUI: Commands available, UI shows compaction happening. Show compaction notification to user" (the plan for pi's compaction)."""

    async def step(user: User) -> None:
        for number in range(8):
            await user.says(f"Write part {number}. Never touch config/prod.yaml.")
        notice = user.app.query(Notice).last()
        assert "── folded: " in notice.title
        assert notice.collapsed
        await user.pilot.press("ctrl+o")
        await user.until(lambda: not notice.collapsed)
        assert "Never touch config/prod.yaml." in str(notice.query_one(".summary", Static).content)

    using(agent_in(tmp_path, window=5_000), step)


def test_compact_shows_what_it_would_do_and_does_it_only_on_yes(tmp_path: Path) -> None:
    async def step(user: User) -> None:
        for number in range(4):
            await user.says(f"Write part {number}.")
        for key, folds in (("n", 0), ("y", 1)):
            await user.writes("/compact the ledger")
            await user.asked(Show)
            await user.reads("A fold would free: ", "Focus: the ledger", "Fold this session?")
            await user.answers(key)
            await user.until(lambda: not user.app.agent.working)
            await user.until(lambda wanted=folds: len(user.app.agent.session.folds()) == wanted)
        await user.reads("── folded: ", "1 fold")
        await user.writes("/undo")
        await user.reads("is taken back.")
        assert user.app.agent.session.newest_fold is None

    using(agent_in(tmp_path, window=60_000), step)


def test_escape_stops_what_is_done_and_the_session_goes_on(tmp_path: Path) -> None:
    async def step(user: User) -> None:
        await user.writes("Wait.")
        await user.reads("sleep 600")
        await user.writes("And then tell me.")
        await user.reads("bash · ", " s · esc stops", "waits: And then tell me.")
        await user.pilot.press("escape")
        await user.until(lambda: user.sees("Stopped.") and not user.app.agent.working)
        assert user.app.query_one(PromptBox).text == "And then tell me."
        assert not user.sees("esc stops")
        await user.says("Go on.")
        await user.reads("Here I am.")

    steps = [{"call": "bash", "arguments": {"command": "sleep 600"}}, {"say": "Here I am."}, {"say": "Still here."}]
    using(agent_in(tmp_path, *steps), step)


def asked_of(provider: Provider, folder: Path) -> Agent:
    """An agent whose model is at a provider on loopback."""
    model = LanguageModel.named("openai-chat:demo", base_url=provider.url, window=60_000)
    return Agent(Session.create(folder / "session.jsonl", cwd=str(folder)), model, cwd=folder)


def says_half(handler: Any, request: Request) -> None:
    """Begins to answer, and then is silent."""
    chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "demo"}
    said = {**chunk, "choices": [{"index": 0, "delta": {"content": "Half of it"}}]}

    def events() -> Iterator[bytes]:
        yield f"data: {json.dumps(said)}\n\n".encode()
        handler.closing.wait(PATIENCE)

    handler.stream(events())


def test_what_was_said_before_a_stop_stays_on_the_screen(tmp_path: Path) -> None:
    async def step(user: User) -> None:
        await user.writes("Tell me.")
        await user.reads("the model answers", "Half of it")
        await user.pilot.press("escape")
        await user.reads("Stopped.")
        await user.says("Once more.")
        await user.reads("Half of it", "Stopped.", "Here it is.")

    with Provider(says_half, says("Here it is.")) as provider:
        using(asked_of(provider, tmp_path), step)


def test_what_the_model_thinks_is_there_to_be_opened(tmp_path: Path) -> None:
    async def step(user: User) -> None:
        await user.says("Tell me.")
        await user.reads("thoughts", "Here it is.")
        assert not user.sees("It may be so.")
        await user.pilot.press("ctrl+o")
        await user.reads("It may be so.")

    with Provider(says("Here it is.", thinking="It may be so.")) as provider:
        using(asked_of(provider, tmp_path), step)


def test_a_provider_that_refuses_is_told_in_its_own_words(tmp_path: Path) -> None:
    async def step(user: User) -> None:
        await user.writes("Tell me.")
        await user.until(lambda: user.sees("HTTP 401: The key is wrong.") and not user.app.agent.working)
        assert not user.sees("body")

    with Provider(status(401, {"error": {"message": "The key is wrong."}})) as provider:
        using(asked_of(provider, tmp_path), step)


def test_a_stop_while_a_tool_asks_takes_the_question_away(tmp_path: Path) -> None:
    async def step(user: User) -> None:
        await user.writes("Wait.")
        await user.asked(Allow)
        await user.pilot.press("ctrl+c")
        await user.until(lambda: user.sees("Stopped.") and len(user.app.screen_stack) == 1)

    using(agent_in(tmp_path, {"call": "bash", "arguments": {"command": "sleep 600"}}, allowed=False), step)


def test_a_message_that_begins_with_a_path_is_no_command(tmp_path: Path) -> None:
    async def step(user: User) -> None:
        await user.says("/etc/hosts is what?")
        await user.writes("/compcat now")
        await user.reads("There is no command /compcat")
        assert user.app.query_one(PromptBox).text == "/compcat now"

    using(agent_in(tmp_path, {"say": "A file."}), step)


def test_autocompact_marks_the_current_value_and_the_line_below_tells_that_it_is_off(tmp_path: Path) -> None:
    """ "/autocompact: Opens selector UI to toggle auto-compaction on/off. Also displays current power-user settings"; "Update footer to
    show when auto-compact is disabled" (the plan for pi's compaction)."""

    async def step(user: User) -> None:
        await user.writes("/autocompact")
        await user.asked(Choose)
        await user.reads("● on", "default: ", "of 12,000 tokens", "2,400 held back for the reply")
        await user.answers("down", "enter")
        await user.reads("auto off", "Automatic compaction is off.")
        assert not user.app.agent.compactor.policy.automatic.enabled

    using(agent_in(tmp_path), step)


def test_a_policy_is_chosen_among_those_there_are(tmp_path: Path) -> None:
    async def step(user: User) -> None:
        await user.writes("/policy")
        await user.asked(Choose)
        await user.reads("● default", "  codex")
        names = [option.id for option in user.app.screen.query_one(OptionList).options]
        steps = names.index("codex") - names.index("default")
        await user.answers(*["down" if steps > 0 else "up"] * abs(steps), "enter")
        await user.reads("The policy is codex.", "codex: ")

    using(agent_in(tmp_path), step)


def test_a_branch_begins_at_one_of_the_messages_and_the_old_session_stays(tmp_path: Path) -> None:
    agent = agent_in(tmp_path)
    old = agent.session.path

    async def step(user: User) -> None:
        await user.says("Write the first part.")
        await user.says("Write the second part.")
        before = Path(old).read_bytes()
        await user.writes("/branch")
        await user.asked(Choose)
        await user.reads("Write the first part.", "● Write the second part.", "before any fold")
        await user.answers("up", "enter")
        await user.until(lambda: user.app.agent.session.path != old)
        assert kept(user.app.agent)[-1] == "Write the first part."
        assert Path(old).read_bytes() == before

    using(agent, step)


def test_messages_are_chosen_to_be_changed_taken_back_and_pinned(tmp_path: Path) -> None:
    async def step(user: User) -> None:
        for said in ("Count to two.", "Count to three.", "Count to four."):
            await user.says(said)
        await user.writes("/edit")
        await user.asked(Choose)
        await user.answers("up", "enter")
        box = user.app.query_one(PromptBox)
        await user.until(lambda: box.text.startswith("/edit ") and box.text.endswith(" Count to three."))
        await user.writes(box.text.replace("three", "seven"))
        await user.until(lambda: user.sees("Edited.", "Count to seven.") and not user.sees("Count to three."))
        await user.writes("/restore")
        await user.asked(Choose)
        await user.answers("up", "enter")
        await user.until(lambda: user.sees("Restored") and not user.sees("Count to four."))
        await user.writes("/pin")
        await user.asked(Choose)
        await user.answers("enter")
        await user.reads("Pinned: Count to seven.")
        assert [message.text for message in user.app.agent.session.context.pinned] == ["Count to seven."]

    using(agent_in(tmp_path, *[{"say": "Counted."}] * 3), step)


def test_what_foldline_tells_of_the_session_is_a_command_away(tmp_path: Path) -> None:
    async def step(user: User) -> None:
        await user.says("Write the first part.")
        for command, words in (
            ("/context", ("Context Inspection", "Tool Outputs")),
            ("/recall ledger", ("part_1.py",)),
            ("/history", ("Total Compactions:   0",)),
        ):
            await user.writes(command)
            await user.asked(Show)
            told = str(user.app.screen.query_one("VerticalScroll > Static", Static).content)
            assert all(word in told for word in words)
            assert "Error" not in told
            await user.answers("escape")

    using(agent_in(tmp_path), step)


def test_what_a_session_came_to_know_goes_into_a_file_and_out_of_it(tmp_path: Path) -> None:
    file = tmp_path / "known.json"

    async def step(user: User) -> None:
        await user.says("Write the first part. Never touch config/prod.yaml.")
        await user.writes(f"/export {file}")
        await user.until(lambda: user.sees("known.json") and file.exists())
        assert "Never touch config/prod.yaml." in json.dumps(json.loads(file.read_text()))
        old = user.app.agent.session.path
        await user.writes(f"/import {file}")
        await user.until(lambda: user.app.agent.session.path != old and user.sees("imported-"))
        told = user.app.agent.session.context.messages[0]
        assert "Never touch config/prod.yaml." in (told.summary.text if told.summary else told.text)

    using(agent_in(tmp_path), step)


def test_a_handoff_opens_a_new_session_with_what_the_goal_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    agent = agent_in(tmp_path)
    old = agent.session.path

    async def step(user: User) -> None:
        await user.says("Write the first part. Never touch config/prod.yaml.")
        await user.writes("/handoff write the second part")
        await user.asked(Show)
        await user.answers("y")
        await user.until(lambda: user.app.agent.session.path != old and not user.app.agent.working)
        await user.until(lambda: "write the second part" in kept(user.app.agent)[0])

    using(agent, step)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("/nothing", "There is no command /nothing"),
        ("/handoff", "/handoff takes the goal"),
        ("/pin nowhere", "nowhere"),
        ("/policy nowhere", "nowhere"),
        ("/model nobody:knows", "/model: nobody:knows cannot be called: Unknown provider: nobody; known are"),
        ("/import /nowhere/known.json", "nowhere"),
        ("/edit", "Nothing to do"),
        ("/edit nowhere But so.", "nowhere"),
        ("/restore", "Nothing to do"),
        ("/pin", "Nothing to do"),
        ("/restore nowhere", "nowhere"),
        ("/compact", "Nothing to do"),
        ("/undo", "Nothing to do"),
        ("/branch", "Nothing to do"),
    ],
)
def test_what_cannot_be_done_is_told_in_a_line(tmp_path: Path, written: str, told: str) -> None:
    async def step(user: User) -> None:
        await user.writes(written)
        await user.reads(told)

    using(agent_in(tmp_path), step)


def test_commands_are_told_while_they_are_written_and_completed(tmp_path: Path) -> None:
    async def step(user: User) -> None:
        await user.pilot.press(*"/aut")
        await user.reads("/autocompact [on|off]")
        await user.pilot.press("tab")
        assert user.app.query_one(PromptBox).text == "/autocompact "
        await user.writes("/help")
        await user.asked(Show)
        await user.reads(*(f"/{name}" for name in COMMANDS))

    using(agent_in(tmp_path), step)


def test_a_session_that_is_opened_again_shows_what_the_model_sees(tmp_path: Path) -> None:
    async def first(user: User) -> None:
        await user.says("Write the first part.")

    async def again(user: User) -> None:
        await user.reads("Write the first part.", "it prints 820.")

    using(agent_in(tmp_path), first)
    using(agent_in(tmp_path), again)


def test_the_bar_tells_how_full_the_window_is_and_where_something_is_folded(tmp_path: Path) -> None:
    agent = agent_in(tmp_path, window=12_000)
    line: Text = gauge(agent.compactor, folds=2, model="demo", width=120)
    assert "  2 folds  default: " in line.plain
    assert line.plain.endswith("  demo")
    assert line.plain.count("┃") == len({layer.at for layer in agent.compactor.policy.layers})
    assert Session(agent.session.path).folds() == []


def test_a_narrow_terminal_shows_every_mark_and_that_nothing_folds_by_itself(tmp_path: Path) -> None:
    async def step(user: User) -> None:
        for name, share in steps:
            await user.reads(f"{name} {share:.0%}")
        await user.writes("/autocompact off")
        await user.reads("Automatic compaction is off.", "auto off", *(f"{name} {share:.0%}" for name, share in steps))
        await user.pilot.resize_terminal(160, 24)
        await user.reads("auto off  default: prune")

    agent = agent_in(tmp_path)
    steps = [(layer.name, share) for share, layer in marks(agent.compactor)]
    using(agent, step, size=(60, 24))


def test_what_is_told_after_all_was_opened_is_seen(tmp_path: Path) -> None:
    async def step(user: User) -> None:
        await user.says("Write the first part.")
        await user.says("Write the second part.")
        await user.pilot.press("ctrl+o")
        await user.until(lambda: not user.sees("it prints 1640."))
        await user.writes("/nothing")
        await user.reads("There is no command /nothing")

    using(agent_in(tmp_path), step, size=(80, 24))
