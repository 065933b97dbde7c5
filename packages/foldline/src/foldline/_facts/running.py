"""Programs and agents that go on behind the call that started them, until a later call or a notice says that they ended."""

from __future__ import annotations

import re

from foldline._facts.calls import Called, EndedCall
from foldline._facts.outcomes import Outcome
from foldline._facts.patterns import rare
from foldline._facts.shell import KILLING, ends_soon, in_background, serves
from foldline._facts.tool_calls import arguments_of, calls_in_code, words_of
from foldline._facts.types import SOURCE
from foldline._facts.wrappers import JOB_ENDED
from foldline._messages import ToolCall
from foldline._patterns import pattern

_EDGE = 600
"""Characters of an answer's head, and of its tail, in which a client says that a program goes on."""

_STARTED = rare(
    r"Process running with session ID (\w+)|Script running with cell ID (\w+)|Command running in background with ID: ([\w-]+)"
    r"|Command still running \(session ([\w-]+), pid|Async agent launched.{0,200}?agentId: (\w+)|^SESSION_ID=(\d+)$"
    r'|"chunk_id":\s?"\w+"[^{}"]{0,60}"wall_time_seconds":[^{}"]{0,40}"session_id":\s?(\d+)'
    r'|\A\{"agent_id":\s?"([\w-]+)","nickname"|\A\{"task_name":\s?"(/[\w/-]+)"'
    r"|<command with shellId: ([\w-]+) is still running\b|\ASpawned successfully.{0,400}?agent_id: ([\w-]+)@",
    re.DOTALL | re.MULTILINE,
)
_NAMING = ("session_id", "sessionId", "cell_id", "bash_id", "shell_id", "shellId", "task_id")
"""The arguments that name a program which was started before."""

_NAMED_IN_CODE = pattern(r"write_stdin(?<=\bwrite_stdin)\(\{\s*\"?session_id\"?:\s*(\d+)")
_STOPPING = frozenset({"kill", "stop", "close", "interrupt", "clear", "remove"})
"""Words in the names of tools that end a program, and what OpenClaw's one tool for all of it is then told to do: what they answer is
not what it put out."""

_GONE = pattern(r"No active session found\b")
"""How a client says that there is nothing to end."""

SOON = 24
"""Messages after which a program has ended that was still running and ends by itself."""

_PARTS = pattern(r"[\w.-]{2,}")
_SCRIPTS = pattern(r"\b(?:npm|pnpm|yarn|bun|deno|make|just|task|mise) ")
"""How a script of the project's is run, of which nobody knows which program that starts."""

_STILL = pattern(r"<status>running</status>|^Process still running\.|^\(no output yet\)", re.MULTILINE)
_ENDED = pattern(
    r"^Process (?:exited|finished|failed|was killed)\b|^Command exited\b|^No session found\b", re.MULTILINE
)
"""How a log tells that its program has ended."""

_ASKING = frozenset({"wait", "agent", "agents"})
"""Words in the names of tools that ask after other agents, or end them."""

ROLL_CALL = frozenset({"list", "agents"})
"""Words in the name of a tool that asks which agents are at work: what it answers is soon over, and the state tells it."""

_ANSWERED = rare(
    r'"agent_(?:path|name|id)":\s?"([^"\n]{1,120})",\s?"(?:agent_)?status":\s?(?!"running"|"pending_init")'
    r'|"([^"\s]{2,120})":\s?(?:\{"(?:completed|errored)":|"(?:not_found|shutdown)")|^Message Type: FINAL_ANSWER\n(?:.*\n)?Sender: (\S+)$'
    r'|^<agent-message from="([\w-]+)"|"type":"idle_notification","from":"([\w-]+)"',
    re.MULTILINE,
)
"""How it is told that another agent is done: by a notice, in a list, to the call that waited for it, by its own last answer."""

_LISTED = pattern(r"^([\w-]{3,60}) +(?:completed|failed|killed|exited|stopped)\b[^\n]{0,24} :: ", re.MULTILINE)
"""A program in OpenClaw's list that has ended."""

_NOTICE = pattern(r"<task-id>([\w-]+)</task-id>.{0,600}?<status>(?!running)\w+</status>", re.DOTALL)


class Running:
    """What runs, by the name that its client gave it, in the order in which it was seen last; empty for what has ended."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}
        self._begun: dict[str, Called] = {}
        self._told: dict[str, tuple[int, str]] = {}
        """When a program was told last, and by which name."""
        self._waits_for: dict[str, str] = {}
        """Where waiting for a program became one itself: the name of the first by that of the second."""
        self._left: dict[str, str] = {}
        """What a command line left running, by its own words, and the steps that ended such, which have no text."""

    def left(self, command: str, *, failed: bool) -> None:
        """Takes down what a command line left running, where it did not fail, and what it ended."""
        begun: list[str] = []
        for step in in_background(command) if "&" in command or "kill" in command else ():
            if step.partition(" ")[0] == "wait":
                self._left.update(dict.fromkeys(begun, ""))
            elif step.partition(" ")[0] in KILLING:
                over = [id for id, text in self._left.items() if id in begun or ends(step, text)]
                self._left.update(dict.fromkeys([*over, step], ""))
                self.known.update((id, "") for id, text in self.known.items() if text and ends(step, text))
            elif not failed:
                self._left.pop(step, None)
                self._left[step] = step
                begun.append(step)

    def put_out(self, text: str) -> None:
        """Takes down which programs a shell says have ended that command lines left running."""
        for command in JOB_ENDED.findall(text):
            self._left.update(dict.fromkeys(in_background(f"{command} &"), ""))

    def answered(self, called: Called, text: str) -> tuple[Called, bool]:
        """The call whose end `text` tells, which is that of the program where it was started by an earlier one, and whether it
        runs still."""
        started = _STARTED.search(text[:_EDGE]) or _STARTED.search(text[-_EDGE:])
        if words_of(called.call.name) & _ASKING or " :: " in text[:_EDGE]:
            self.heard(text)
        asked = _named(called.call)
        asked = self._waits_for.get(asked, asked)
        if started or (asked and _STILL.search(text[:_EDGE])):
            new = next(filter(None, started.groups() if started else ()), asked)
            id = asked or new
            self._waits_for.pop(new, None)
            if new != id:
                self._waits_for[new] = id
            if not asked:
                self._begun[id] = called
            program = EndedCall(self._begun.setdefault(id, called), Outcome())
            self._told[id] = called.at, new
            self.known[id] = self.known.pop(id, "") or ("" if program.looks else program.tried[:SOURCE])
            return called, True
        if not asked or (self._serves(asked) and _is_shown(called.call) and not _ENDED.search(text)):
            return called, False
        self.known[asked] = ""
        begun = self._begun.get(asked, called)
        waits = only_waits(called.call)
        return called._replace(call=begun.call, action=begun.action) if waits else called, False

    def _serves(self, id: str) -> bool:
        """Whether a program that was begun stays at work until somebody ends it."""
        begun = self._begun.get(id)
        return begun is not None and serves(EndedCall(begun, Outcome()).tried)

    def had_ended(self, call: ToolCall, answer: str) -> bool:
        """Whether a call was to end a program that had ended by itself."""
        if not (_stops(call) and _GONE.match(answer)):
            return False
        asked = _named(call)
        self.known[self._waits_for.get(asked, asked)] = ""
        return True

    def still(self, end: int) -> dict[str, str]:
        """What runs at the end of so many messages: one that ends by itself and that nobody asked after for long was over soon."""
        over = {
            id
            for id, (at, _) in self._told.items()
            if at < end - SOON and ends_soon(EndedCall(self._begun[id], Outcome()).key)
        }
        live = {id: text for id, text in self.known.items() if text and id not in over}
        begun_before = {id for id in live if only_waits(self._begun[id].call)}
        told = {self._told[id][1]: text for id, text in live.items() if id not in begun_before}
        names = [*self.known, *(name for _, name in self._told.values()), *self._waits_for]
        unknown = {name for name in names if self._waits_for.get(name, name) in begun_before}
        return {name: "" for name in names if name not in told and name not in unknown} | self._left | told

    @property
    def heard_at(self) -> dict[str, int]:
        """When each program was heard of last, one that was begun before these messages as well."""
        return {name: at for at, name in self._told.values()}

    def begun_for(self, call: ToolCall) -> ToolCall:
        """The call that started what a call asks after, where that was seen; else the call itself."""
        begun = self._begun.get(_named(call))
        return begun.call if begun else call

    def begun(self, notice: str) -> Called | None:
        """The call that started what a client's notice tells of, where it does so and that was seen."""
        found = _NOTICE.search(notice) if "<task-id>" in notice else None
        return self._begun.get(found[1]) if found else None

    def heard(self, text: str) -> None:
        """Takes down what a client's notice or an answer says has ended."""
        if "<task-id>" in text:
            self.known.update(dict.fromkeys(_NOTICE.findall(text), ""))
        self.known.update((next(filter(None, found.groups())), "") for found in _ANSWERED.finditer(text))
        self.known.update(dict.fromkeys(_LISTED.findall(text) if " :: " in text else (), ""))


def ends(step: str, program: str) -> bool:
    """Whether a step that ends programs ends one: by words of its own, else by a number, of which nobody knows whose it is, or by
    the name of what a script of the project's started."""
    name, *words = step.split()
    named = [word for word in words if not word.startswith("-")] if name in ("pkill", "killall") else []
    return bool(_SCRIPTS.search(program)) or all(part in program for word in named for part in _PARTS.findall(word))


def only_waits(call: ToolCall) -> bool:
    """Whether a call does nothing but ask for what a program put out since: code that an agent writes may do more."""
    arguments = arguments_of(call)
    by_name = not isinstance(arguments, str) or {*calls_in_code(arguments)} == {"write_stdin"}
    return by_name and bool(_named(call)) and not _stops(call)


def _stops(call: ToolCall) -> bool:
    arguments = arguments_of(call)
    told = "" if isinstance(arguments, str) else str(arguments.get("action", ""))
    return bool({*words_of(call.name), told} & _STOPPING)


def _is_shown(call: ToolCall) -> bool:
    """Whether a call only shows what a program put out so far."""
    arguments = arguments_of(call)
    return not isinstance(arguments, str) and arguments.get("action") == "log"


def _named(call: ToolCall) -> str:
    """The program that a call names; empty where it names none."""
    arguments = arguments_of(call)
    if isinstance(arguments, str):
        found = _NAMED_IN_CODE.search(arguments[:_EDGE])
        return found[1] if found else ""
    keys = ("target",) if "agent" in (words := words_of(call.name)) and words & _STOPPING else _NAMING
    given = (arguments.get(key) for key in keys)
    return next((str(each) for each in given if isinstance(each, str | int) and each != ""), "")
