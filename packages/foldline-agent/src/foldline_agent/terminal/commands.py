"""What a slash does: each command by its name, with what it takes and what it is for.

What foldline's own command line does is done by it, on the session's file, and shown as it says it; what changes how the
agent goes on is done here.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rich.table import Table
from rich.text import Text

from foldline import Brief, Session
from foldline_agent.asking import LanguageModel
from foldline_agent.terminal.dialogs import Choice, Choose, Show
from foldline_agent.terminal.entries import Aside, figures
from foldline_agent.terminal.gauge import marks
from foldline_agent.terminal.prompt_box import PromptBox

if TYPE_CHECKING:
    from foldline_agent.terminal.app import Chat

Run = Callable[["Chat", str], Awaitable[None]]


class Command(NamedTuple):
    """A command: what it takes, what it is for, and what it does; `idle` where it waits until the agent does nothing."""

    takes: str
    about: str
    run: Run
    idle: bool = True


class Said(NamedTuple):
    """What a command of foldline's wrote, and whether it went well."""

    text: str
    well: bool


async def foldline(chat: Chat, *words: str) -> Said:
    """Runs a command of foldline's own command line on the session."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "foldline", *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": str(max(60, chat.size.width - 12))},
        cwd=chat.agent.cwd,
    )
    out, err = await process.communicate()
    return Said((out + err).decode(errors="replace").strip(), process.returncode == 0)


def of_session(chat: Chat) -> tuple[str, ...]:
    """The options that say which session is meant."""
    return ("--session", str(chat.agent.session.path))


def on_session(chat: Chat) -> tuple[str, ...]:
    """The options that say which session is meant, and its window."""
    return (*of_session(chat), "--window", str(chat.agent.compactor.budget.window))


async def chosen_from(chat: Chat, choose: Choose) -> str | None:
    """What the user chose; None where it is left as it is."""
    return await chat.push_screen_wait(choose)


def shows(*words: str, options: Callable[[Chat], tuple[str, ...]] = on_session) -> Run:
    """A command that shows what foldline's own says, with what the user wrote behind it."""

    async def run(chat: Chat, rest: str) -> None:
        said = await foldline(chat, *words, *([rest] if rest else []), *options(chat))
        await chat.push_screen_wait(Show(" ".join(words), said.text))

    return run


def tell(chat: Chat, said: Said) -> None:
    """Tells what a command of foldline's said."""
    chat.tell(Aside(said.text, "notice" if said.well else "failure"))


async def change(chat: Chat, *words: str) -> None:
    """Runs a command of foldline's that changes the session's file, which is read anew behind it."""
    said = await foldline(chat, *words, *on_session(chat))
    if said.well:
        chat.open(Session(chat.agent.session.path))
    tell(chat, said)


async def chosen_message(chat: Chat, question: str, messages: Sequence[Choice]) -> str | None:
    """The id of the message that is chosen; None where none is."""
    if messages:
        return await chosen_from(chat, Choose(question, messages, messages[-1].key))
    chat.tell(Aside("Nothing to do: nothing was said yet."))
    return None


def points(chat: Chat) -> list[Choice]:
    """All that the user said, before and after folds."""
    found = chat.agent.session.points()
    return [Choice(p.id, beginning(p.text), f"after fold {p.folds}" if p.folds else "before any fold") for p in found]


def said_in_context(chat: Chat) -> dict[str, str]:
    """What the user said and the model sees, by its id."""
    entries = chat.agent.session.context.entries
    return {id: message.text for id, message in entries if message.role == "user" and not message.summary}


def in_context(chat: Chat) -> list[Choice]:
    """What the user said and the model sees, to be chosen from."""
    return [Choice(id, beginning(text)) for id, text in said_in_context(chat).items()]


def beginning(text: str) -> str:
    """The beginning of a message in one line."""
    return " ".join(text.split())[:90]


async def compact(chat: Chat, focus: str) -> None:
    """Shows what a fold would keep and free, and makes it where the user agrees."""
    planned = chat.agent.compactor.plan(chat.agent.session.context.messages, focus=focus)
    if not planned:
        chat.tell(Aside("Nothing to do: nothing worth folding."))
        return
    summary = next(
        (m.summary.text for edit in planned.edits if not isinstance(edit.into, Brief) for m in edit.into if m.summary),
        "",
    )
    if await chat.push_screen_wait(Show(f"A fold would free: {figures(planned)}", summary, "Fold this session?")):
        chat.draw(chat.agent.compact(focus))


async def autocompact(chat: Chat, rest: str) -> None:
    """Whether it folds by itself; the current value is marked."""
    compactor, budget = chat.agent.compactor, chat.agent.compactor.budget
    layers = ", ".join(f"{layer.name} at {share:.0%}" for share, layer in marks(compactor))
    options = [
        Choice(
            "on",
            "on",
            f"{compactor.policy.name}: {layers} of {budget.window:,} tokens\n{budget.reserve:,} held back for the reply",
        ),
        Choice("off", "off", "only by /compact, and where the provider refuses a request as too long"),
    ]
    now = "on" if compactor.policy.automatic.enabled else "off"
    chosen = rest or await chosen_from(chat, Choose("Automatic compaction", options, now))
    if chosen in ("on", "off"):
        chat.agent.begin(auto=chosen == "on")
        chat.tell(Aside(f"Automatic compaction is {chosen}."))
    elif chosen:
        chat.tell(Aside("/autocompact takes on or off.", "failure"))


async def policy(chat: Chat, rest: str) -> None:
    """Another policy, by its name or its file."""
    options = [Choice(each["name"], each["name"], each["description"]) for each in await policies(chat)]
    chosen = rest or await chosen_from(chat, Choose("Policy", options, chat.agent.compactor.policy.name))
    if chosen:
        chat.agent.begin(policy=chosen)
        chat.tell(Aside(f"The policy is {chosen}."))


async def policies(chat: Chat) -> list[dict[str, str]]:
    """The policies that there are, each with its name and what it does."""
    said = await foldline(chat, "policy", "list", "--json")
    listed: list[dict[str, str]] = json.loads(said.text)["policies"]
    return listed


async def model(chat: Chat, rest: str) -> None:
    """Another model for what follows."""
    if rest:
        chat.agent.begin(model=LanguageModel.named(rest, path="/model"))
    chat.tell(Aside(f"The model is {chat.agent.model.name}, its window {chat.agent.compactor.budget.window:,} tokens."))


async def undo(chat: Chat, rest: str) -> None:
    """Takes back the newest fold."""
    taken = chat.agent.session.undo()
    chat.open(chat.agent.session)
    chat.tell(Aside(f"Fold {taken} is taken back." if taken else "Nothing to do: no fold stands."))


async def branch(chat: Chat, rest: str) -> None:
    """A new session from one of the user's messages on, before or after a fold."""
    chosen = rest or await chosen_message(chat, "Branch at which message?", points(chat))
    if chosen:
        made = chat.agent.session.branch(chosen)
        chat.open(Session(made.path))
        chat.tell(Aside(f"This is a new session now: {made.path}"))


async def handoff(chat: Chat, goal: str) -> None:
    """A new session that opens with what a goal needs of this one."""
    if not goal:
        chat.tell(Aside("/handoff takes the goal of the new session.", "failure"))
        return
    said = await foldline(chat, "session", "handoff", goal, "--print", *on_session(chat))
    if not said.well:
        chat.tell(Aside(said.text, "failure"))
    elif await chat.push_screen_wait(Show("Handoff", said.text, "Begin a new session with it?")):
        chat.open(Session.create(cwd=str(chat.agent.cwd)))
        chat.say(said.text)


async def pin(chat: Chat, id: str) -> None:
    """No fold touches a message."""
    if chosen := id or await chosen_message(chat, "Which message shall no fold touch?", in_context(chat)):
        message = chat.agent.session.pin(chosen)
        chat.open(chat.agent.session)
        chat.tell(Aside(f"Pinned: {beginning(message.text)}"))


async def edit(chat: Chat, rest: str) -> None:
    """Says a message in other words; one without words is put into the box to be changed."""
    id, _, words = rest.partition(" ")
    if words:
        await change(chat, "session", "edit", id, f"--text={words}")
    elif chosen := id or await chosen_message(chat, "Which message in other words?", in_context(chat)):
        chat.query_one(PromptBox).begin_with(f"/edit {chosen} {said_in_context(chat).get(chosen, '')}")


async def restore(chat: Chat, id: str) -> None:
    """Takes back all behind a message."""
    if chosen := id or await chosen_message(chat, "Back to which message?", in_context(chat)):
        await change(chat, "session", "restore", chosen)


async def export(chat: Chat, file: str) -> None:
    """What the session came to know, into a file."""
    tell(chat, await foldline(chat, "context", "export", *([file] if file else []), *on_session(chat)))


async def imported(chat: Chat, file: str) -> None:
    """A new session that opens with what another one came to know."""
    path = Path(chat.agent.session.path).with_name("imported-" + Path(chat.agent.session.path).name)
    said = await foldline(chat, "context", "import", file, "--into", str(path))
    if said.well and path.exists():
        chat.open(Session(path))
    tell(chat, said)


async def tell_help(chat: Chat, rest: str) -> None:
    """The commands and keys."""
    table = Table.grid(padding=(0, 2))
    for name, each in COMMANDS.items():
        table.add_row(Text(f"/{name} {each.takes}"), each.about)
    table.add_row()
    for key, about in KEYS.items():
        table.add_row(key, about)
    await chat.push_screen_wait(Show("Commands and keys", table))


KEYS = {
    "esc": "stops what is being done",
    "ctrl+j": "a new line",
    "up, down": "what you said before",
    "ctrl+o": "opens and closes what folds, tools and thoughts hold",
    "ctrl+c": "stops, or takes back what is written; twice: ends",
}


async def leave(chat: Chat, rest: str) -> None:
    """Ends."""
    chat.exit()


COMMANDS: dict[str, Command] = {
    "compact": Command("[focus]", "fold now, after a look at what it would keep", compact),
    "undo": Command("", "take the newest fold back", undo),
    "recall": Command("id or words", "what was folded, word for word", shows("recall", options=of_session), idle=False),
    "context": Command("", "what fills the window", shows("context", "inspect"), idle=False),
    "history": Command("", "every fold with its receipt", shows("context", "history"), idle=False),
    "autocompact": Command("[on|off]", "whether it folds by itself", autocompact),
    "policy": Command("[name or file]", "when and how it folds", policy),
    "model": Command("[provider:name]", "the model in use, or another", model),
    "pin": Command("[id]", "a message that no fold may touch", pin),
    "branch": Command("[id]", "a new session from one of your messages on, before or after folds", branch),
    "edit": Command("[id text]", "one of your messages in other words", edit),
    "restore": Command("[id]", "take back all behind a message", restore),
    "handoff": Command("goal", "a new session opened by what the goal needs", handoff),
    "export": Command("file", "what the session came to know, as JSON", export),
    "import": Command("file", "a new session from such a file", imported),
    "help": Command("", "these commands", tell_help, idle=False),
    "quit": Command("", "end; the session stays", leave, idle=False),
}
