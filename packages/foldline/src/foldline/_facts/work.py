"""What the agent's calls do, followed from the call to its result."""

from __future__ import annotations

import re

import msgspec

from foldline._clipping import one_line
from foldline._facts import wrappers
from foldline._facts.answers import unframed
from foldline._facts.attempts import Attempts
from foldline._facts.calls import BROUGHT, COMMIT, NEWS, Called, EndedCall, brought
from foldline._facts.code_edits import replaced
from foldline._facts.cues import failed_with
from foldline._facts.edits import NamesTouched, fingerprints
from foldline._facts.folders import is_absolute, with_slashes
from foldline._facts.handed_out import folder_asked, placed
from foldline._facts.literals import literals, without_span
from foldline._facts.others import answer_of, files_changed, only_looked, task_of
from foldline._facts.outcomes import Outcome, edges, outcome, refused_in
from foldline._facts.patterns import rare
from foldline._facts.pieces import Pieces
from foldline._facts.plan import Plan
from foldline._facts.rejected import as_made, rejected
from foldline._facts.repository import before_push, in_commit, noted, opened, opens_pull, stopped
from foldline._facts.running import ROLL_CALL, Running, only_waits
from foldline._facts.shell import staged, touches_of_failed
from foldline._facts.speakers import speaks, thinks
from foldline._facts.speech import clean
from foldline._facts.texts import LONGEST, Passage, record_of
from foldline._facts.tool_calls import (
    DELEGATING,
    LOOKING,
    NOTING,
    WRITING,
    Action,
    arguments_of,
    equips,
    progress_of,
    read_action,
    spells_out,
    words_of,
)
from foldline._facts.trails import Trails
from foldline._facts.types import BY_USER, REFUSED, SOURCE, STOPPED, FailedCall, Kind, Repository
from foldline._messages import Text, ToolCall, ToolResult, replace
from foldline._patterns import pattern

UNREAD_REPLIES, REPLY = 3, "reply"
"""Replies in a row that a client could not read from which that is an error, and what it is called."""

CALLS_FROM = 100
"""The number of a message's first call among its parts: its words come before."""

_SOUGHT = 4_000
"""Characters of a call's arguments in which stands what it looks for: that it was found says nothing of its use."""

_REFUSAL = pattern(r"</?tool_use_error>")
"""What Claude Code puts around why it did not make a call."""

_NO_FILE = ("No such file or directory", "because it does not exist")
"""What programs say of a file that is not there, and PowerShell."""

_OPENING = 400
"""Characters of an answer in which a client says why a call was not made."""

RULED_OUT = " → not made, the client refuses it"
"""How a call is told that the rules of its client do not allow, before why they do not."""

UNREAD = " → not carried out, the client could not read it: "
"""How an action or a reply is told out of which a client read none, before what it says of that."""

REPORTED = 1_000
"""What is added to the part of a call for the report of the agent that it called: it comes behind all calls of the message."""

_DENIED = rare(
    r"Permission (?:for|to) [^\n]{0,80} (?:was|has been) denied|PostToolUseFailure|hook (?:blocked|denied)",
    re.IGNORECASE,
)
"""How a client says that its own rules stopped a call: no error of the work."""

_CANCELLED = pattern(r"(?:<\w+>)?(?:Cancelled: parallel tool call|Sibling tool call errored)")
"""How a client says that it did not make a call, because one beside it had failed."""

_BROKEN_OFF = pattern(
    r"\[?(?:Tool execution (?:was )?(?:interrupted|aborted|cancel\w+)|The operation was aborted|Command aborted by user)\b[^\n]{0,60}\]?\.?"
)
"""How a client says, and no more than that, that a call did not come to its end."""

_ABORTED = pattern(r"(?:Wall time: [\d.]+ seconds?\n)?aborted by user(?: after [\d.]+s)?\.?")
"""How Codex says that the user stopped a call."""

_WRITES_FIRST = pattern(r"\s*(?:cd \S+ && )?cat ?>[^\n]*<<")
"""How a command begins that writes a file before it runs what may fail."""

_MISSED = rare(
    r"not? (?:be )?found|no such|does not exist|doesn't exist|\bunknown\b|\b40[34]\b|\b410\b|no (?:matches|results|files)",
    re.IGNORECASE,
)
"""How a look-up says that there is nothing, and a wait that nothing runs."""

_UNMADE = pattern(
    r"(?:[^\n]{0,60}\b(?:not (?:be )?found|no (?:match|replacement|change)\w*)\b[^\n]{0,60}\n?)+", re.IGNORECASE
)
"""How lines of code say that what they were to replace is not there."""

_MUST = pattern(r"\b(?:must (?:not )?be|omit|is (?:required|invalid|missing)|(?:cannot|can't|may not) be)\b")
"""How a tool says that it does not take an argument."""

_OVERWROTE = rare(r"\b(?:has been updated|overwrote|overwritten)\b")
"""How a tool says that the file which it wrote was there before."""

_REMINDER = rare(r"<(system-reminder|system_reminder)>.*?(?:</\1>|\Z)", re.DOTALL)


_TALKING = frozenset({"agent", "input", "message"})
"""Words in the names of tools that tell another agent something, or end it."""

_EDITING = frozenset({"edit", "insert", "replace"})
"""Words in the names of tools that may change the file which is open."""

_OPEN_FILE = pattern(
    r"\A(?:\[File: |Text replaced|File updated).*?^\(Open file: (?P<path>/[^)\n]+)\)\n\(Current directory: (?P<folder>[^)\n]+)\)",
    re.DOTALL | re.MULTILINE,
)
_SHOWN_FILE = pattern(r"\A\[File: (?P<path>\S+) \(\d+ lines total\)\]")
"""How SWE-agent says that an edit was made, and where: behind what the file looks like now, and before that."""


class Work:
    """The calls of a run of messages: what they did to files, how they ended, what is told of them."""

    def __init__(self, pieces: Pieces, plan: Plan, edge: int, *, marks: bool, several: bool = False) -> None:
        """`edge` is how many characters are read of an answer's head, and of its tail; `marks` says that the client marks what
        failed, so that what it does not mark did not, and `several` that commands are run in several folders."""
        self._several = several
        self.trails = Trails()
        self.attempts = Attempts()
        self.running = Running()
        self.repositories: tuple[Repository, ...] = ()
        self.touched = False
        """Whether something was done that may have changed anything."""
        self._pieces = pieces
        self._plan = plan
        self._edge = edge
        self._marks = marks
        self._calls: dict[str, Called] = {}
        self._asked: set[str] = set()
        """The calls that say something, to the user or to the agent itself: what they say and what is answered is read where it
        is said."""
        self._acting: Called | None = None
        self.unread_at: list[int] = []
        """The replies out of which the client read no action: what they say was done was not."""
        self._refused = 0
        self._ruled_out: set[str] = set()
        """Why calls were refused by the client's rules, or not read: a constraint, which is told once."""

    def call(self, call: ToolCall, at: int, part: int, *, answered: bool) -> None:
        """Follows a call; one that is not `answered` did what it says."""
        if progress := progress_of(call):
            self._plan.told(progress, "", at)
        self._asked.discard(call.id)
        if speaks(call) or thinks(call):
            self._asked.add(call.id)
            return
        called = self._calls[call.id] = Called(call, read_action(call), at, part)
        if not answered:
            self._settle(EndedCall(called, Outcome(), seen=False))

    def act(self, call: ToolCall, at: int) -> None:
        """Follows a call that an agent makes by text; the next observation answers it."""
        self._acting = Called(call, read_action(call), at, CALLS_FROM)

    def observe(self, text: str, at: int, part: int) -> None:
        """Reads what a tool answered to an agent that acts by text, or to a command that the user ran in the client."""
        if self.unread(text, at, part):
            return
        if ran := wrappers.RAN_BY_USER.match(text):
            self.act(in_shell(ran[1]), at)
            text = ran[2]
        text = wrappers.PUT_OUT.sub("", text)
        called, self._acting = self._acting, None
        if called is None:
            self._tell_lines(text, at, part, "excerpt")
            return
        self._was_read(at)
        result = ToolResult("", (Text(text),))
        answer = clean(edges(result, self._edge))
        called = _in_open_file(called, answer)
        self._settle(EndedCall(called, _end(called, result, answer, None), unframed(answer)))

    def unread(self, text: str, at: int, part: int) -> bool:
        """Whether a client says that it read no action out of the reply before; told once for each way to say it."""
        if not (found := wrappers.UNREAD.match(text)):
            return False
        called, self._acting = self._acting, None
        self.unread_at.append(called.at if called else at - 1)
        line = EndedCall(called, Outcome()).line if called else "the reply"
        why = UNREAD + one_line(found[1], LONGEST)
        if why not in self._ruled_out:
            self._ruled_out.add(why)
            self._pieces.tell(f"{line}{why}", at - 1, part, "call", "tool", edge=True)
        self._refused += 1
        if self._refused >= UNREAD_REPLIES:
            fault = one_line(found[1], LONGEST)
            self.attempts.failed(FailedCall(fault, f"the last {self._refused} replies", REPLY, seen=at))
        return True

    def _was_read(self, at: int) -> None:
        """Notes that the client read an action out of a reply again."""
        self._refused = 0
        self.attempts.succeeded(REPLY, at)

    def result(self, result: ToolResult, at: int) -> None:
        """Reads what a tool answered to a call."""
        if result.call_id in self._asked:
            return
        called = self._calls.get(result.call_id)
        if called and equips(called.call):
            return
        text = _without_reminders(clean(edges(result, self._edge)))
        if called is None:
            self._tell_lines(unframed(text), at, CALLS_FROM, "result")
            return
        self._was_read(at)
        if (result.error and _CANCELLED.match(text)) or self.running.had_ended(called.call, text):
            return
        if refused := _by_user(result, text) or _ruled_out(called.call, text):
            line = EndedCall(called, Outcome()).line
            if refused not in self._ruled_out:
                self._pieces.tell(f"{line}{refused}", called.at, called.part, "call", "tool", edge=True)
            self._ruled_out.update({refused}.difference(BY_USER))
            return
        if words_of(called.call.name) & NOTING:
            self._plan.shown(text, at)
        if (
            words_of(called.call.name) & DELEGATING
            and not result.error
            and not only_looked(self.running.begun_for(called.call))
        ):
            self.reported(text, at, called.call)
        if words_of(called.call.name) >= ROLL_CALL:
            self.running.heard(text)
            return
        called = _in_open_file(called, text)
        called = called._replace(action=as_made(called.action, called.call.arguments, text))
        waits = only_waits(called.call)
        called, runs = self.running.answered(called, text)
        if waits and runs:
            return
        broke = text.startswith(wrappers.BROKE) and _is_one(called.call)
        error = result.error or broke or (False if self._marks else None)
        end = Outcome() if runs else _end(called, result, text, error)
        self._settle(EndedCall(called, end, clean(unframed(text)), runs))

    def carried_out(self, text: str, at: int, part: int) -> None:
        """Books what a client says it did itself of the agent's reply."""
        self.touched = True
        did = [*wrappers.DID.finditer(text)]
        files = [found["file"] for found in did if found["file"]]
        for path in files:
            self._touch("modified", path, at, "")
        told = [f"edit {', '.join(files)}"] if files else []
        told += [f"{COMMIT}{found['commit']}" for found in did if found["commit"]]
        for n, each in enumerate(told, part):
            self._pieces.tell(each, at, n, "change", "tool")

    def reported(self, report: str, at: int, call: ToolCall | None = None) -> None:
        """Books what another agent says it changed, as the `call` answers that sent it; one that was only to look changed nothing."""
        begun = self.running.begun(report)
        sent = begun.call if begun else call
        if begun and only_looked(begun.call):
            return
        folder = folder_asked(sent) if sent else ""
        for verb, path in files_changed(report):
            self.trails.touch(verb, placed(path, folder), at, by="peer")

    def _settle(self, ended: EndedCall) -> None:
        """Books what a call did, now that its end is known."""
        action, end, at = ended.called.action, ended.end, ended.called.at
        self.touched = self.touched or not _only_looked(ended)
        wrote = action.shell_only and (len(action.touches) > 1 or _WRITES_FIRST.match(action.command))
        if not end.failed or wrote:
            over = not action.command and _OVERWROTE.search(ended.answer[:_OPENING]) is not None
            for verb, path, to in touches_of_failed(action.command) if end.failed else action.touches:
                if verb == "read" and _is_missing(path, ended.answer):
                    continue
                made = (
                    fingerprints(arguments_of(ended.called.call), path)
                    if verb == "modified" and not action.command
                    else ()
                )
                verb = "modified" if over and verb == "written" else verb
                touched = ended.names.get(path, NamesTouched()) if verb in WRITING else NamesTouched()
                names = touched.names if touched.defined else ()
                path, to = (self._in_its_folder(each, action) for each in (clean(path).strip(), clean(to)))
                self._touch(verb, path, at, to, made, names)
        if action.plan is not None:
            if not end.failed:
                self._plan.told(action.plan, ended.answer, at)
            return
        if ended.runs:
            for key in ended.achieved:
                self.attempts.succeeded(key, at)
            self._tell(ended)
            return
        if ended.command:
            self.attempts.ran(ended.source, ended.outcome, end.note, at, ended.tried)
        done = before_push(ended.command, ended.answer) if end.failed else ended.command
        if done and ended.seen:
            self.repositories = noted(self.repositories, done, action.where, ended.answer, at, ended.commit)
            self.trails.repositories = self.repositories
            for path in staged(done, action.where):
                self.trails.staged(with_slashes(path), at)
            for verb, path in in_commit(ended.answer) if ended.commit else ():
                self.trails.committed(verb, path, at)
        if ended.command:
            self.running.put_out(ended.answer)
        if ended.command and ended.seen:
            self.running.left(ended.command, failed=end.failed)
        if end.failed and "CONFLICT (" in ended.answer:
            self.repositories = stopped(self.repositories, ended.command, action.where, ended.answer)
        if not end.failed and opens_pull(ended.called.call.name, ended.called.call.arguments):
            self.repositories = opened(self.repositories, arguments_of(ended.called.call), ended.answer)
        if end.failed and end.fault and not ended.looks:
            self.attempts.failed(FailedCall(end.fault, ended.tried[:SOURCE], ended.key, seen=at))
        elif not end.failed and ended.answer:
            for key in ended.achieved:
                self.attempts.succeeded(key, at)
        self._tell(ended)

    def _in_its_folder(self, path: str, action: Action) -> str:
        """A path from the folder in which its command was run, where commands were run in several."""
        if not (path and self._several and action.where) or is_absolute(path):
            return path
        return f"{with_slashes(action.where).rstrip('/')}/{with_slashes(path)}"

    def _touch(
        self,
        verb: str,
        path: str,
        at: int,
        to: str,
        edits: tuple[str, ...] = (),
        names: tuple[str, ...] = (),
    ) -> None:
        path = with_slashes(without_span(path) if verb == "read" else path)
        if path:
            self.trails.touch(verb, path, at, with_slashes(to), edits=edits, names=names)

    def _tell(self, ended: EndedCall) -> None:
        if ended.sets_up:
            return
        at, part = ended.called.at, ended.called.part
        self._pieces.tell(ended.line + (f" → {ended.tail}" if ended.tail else ""), at, part, ended.kind, "tool")
        if ended.runs:
            return
        if ended.reports:
            call = ended.called.call
            self._pieces.tell_of_another(ended.answer, at, part + REPORTED, answer_of(call) or task_of(call))
            return
        kind, lines = brought(ended, self._pieces.wanted_lines)
        sought = frozenset(literals(ended.called.call.arguments[:_SOUGHT])) if kind != "result" else frozenset[str]()
        once: dict[str, Passage] = {}
        for line in lines:
            once.setdefault(line.text, line)
        for i, line in enumerate(once.values()):
            if line.text not in ended.tail:
                used = BROUGHT if ended.changed and i < NEWS else 0
                marks = {"used": used, "under": line.under, "begins": line.begins, "depth": line.depth}
                self._pieces.tell(line.text[:LONGEST], at, part, kind, "tool", sought, **marks)
        for each in ended.given:
            self._pieces.tell(each, at, part, "given", "tool")
        for each in ended.body:
            self._pieces.tell(each, at, part, "written", "tool")

    def _tell_lines(self, text: str, at: int, part: int, kind: Kind) -> None:
        for line in self._pieces.wanted_lines(text):
            self._pieces.tell(line, at, part, kind, "tool")


def in_shell(command: str) -> ToolCall:
    """A call that runs a command line."""
    return ToolCall("", "bash", msgspec.json.encode({"command": command}).decode())


def _is_missing(path: str, answer: str) -> bool:
    """Whether what a command answered says that a file which it was to read is not there."""
    signs = [sign for sign in _NO_FILE if sign in answer]
    lines = (line.replace("\\", "/") for line in answer.splitlines() if any(sign in line for sign in signs))
    return bool(signs) and any(path in line for line in lines)


def _only_looked(ended: EndedCall) -> bool:
    """Whether a call changed nothing for certain: a command that looks, a tool that reads or waits, an agent that was to look."""
    call, action = ended.called.call, ended.called.action
    if action.command:
        return ended.looks and not ended.changed and spells_out(call)
    words = words_of(call.name)
    if action.plan is not None or only_waits(call) or _goes_to_another(call):
        return True
    if words & DELEGATING:
        return only_looked(call)
    return ended.end.failed or (not ended.changed and bool(action.touches or words & LOOKING))


def _goes_to_another(call: ToolCall) -> bool:
    """Whether a call only has to do with another agent that is at work already."""
    words, arguments = words_of(call.name), arguments_of(call)
    return "wait" in words or ("target" in arguments and not isinstance(arguments, str) and bool(words & _TALKING))


def _in_open_file(called: Called, answer: str) -> Called:
    """A call that edits and names no file, with the file that its answer says is open."""
    action = called.action
    names_none = not (action.touches or action.command or action.plan)
    edits = names_none and bool(words_of(called.call.name) & _EDITING)
    found = (_OPEN_FILE.search(answer) or _SHOWN_FILE.match(answer)) if edits else None
    if found is None:
        return called
    path = found["path"].removeprefix(f"{found.groupdict().get('folder')}/")
    return called._replace(action=replace(action, touches=(("modified", path, ""),)))


def _by_user(result: ToolResult, text: str) -> str:
    """How a call is told that the user did not allow or stopped, which is no error; empty for others."""
    if _ABORTED.fullmatch(text.strip()):
        return STOPPED
    if wrappers.DENIED.match(text):
        return REFUSED
    if not result.error:
        return ""
    if text.startswith(wrappers.STOPS):
        return STOPPED
    return REFUSED if wrappers.REFUSED.search(text[:_OPENING]) else ""


def _ruled_out(call: ToolCall, text: str) -> str:
    """How a call is told that the rules of its client did not allow; empty for others."""
    found = wrappers.RULED_OUT.search(unframed(text)) if _is_one(call) else None
    why = one_line(next(filter(None, found.groups()), ""), LONGEST) if found else ""
    return f"{RULED_OUT}: {why}" if why else RULED_OUT if found else ""


def _is_one(call: ToolCall) -> bool:
    """Whether a call is one, and no code of which a part may have run."""
    return call.arguments.count("tools.") < 2


def _end(called: Called, result: ToolResult, text: str, error: bool | None) -> Outcome:
    """How a call ended: a look-up that finds nothing, an edit that was not made and a call that a client's rules stopped are no errors."""
    end = _outcome(result, called.action.command, error)
    if _BROKEN_OFF.fullmatch(text.strip()):
        return Outcome(True)
    if not end.exit and rejected(called.action, called.call.arguments, text):
        return Outcome(True, note=one_line(unframed(text), 160))
    if end.failed:
        edits = called.action.touches and not called.action.command
        stopped = edits or _missed(called, text) or _DENIED.search(text[:_OPENING])
        why = one_line(_REFUSAL.sub("", text), 160) if edits else end.note
        return replace(end, fault="", note=why) if stopped else end
    if called.action.command:
        unmade = _UNMADE.fullmatch(unframed(text)) and replaced(called.action.command)
        return Outcome(True, fault=unframed(text)) if unmade else end
    if _refuses(called, text):
        return Outcome(True)
    fault = "" if _missed(called, text) else failed_with(text) or refused_in(record_of(text))
    return Outcome(True, "", fault) if fault else end


def _outcome(result: ToolResult, command: str, error: bool | None) -> Outcome:
    """How a call ended as its frame has it, and the lines that say so from within the frame."""
    answer = _without_reminders(clean(edges(result)))
    end, said = outcome(answer, command, error=error), clean(unframed(answer))
    if said == answer or not (end.failed or end.note):
        return end
    inside = outcome(said, command, error=end.failed or error)
    return replace(end, fault=inside.fault if end.failed else "", note=inside.note or end.note)


def _missed(called: Called, text: str) -> bool:
    """Whether a look-up found nothing, or a wait nothing to wait for."""
    seeks = bool(words_of(called.call.name) & LOOKING) or only_waits(called.call)
    return seeks and _MISSED.search(text[:_OPENING]) is not None


def _refuses(called: Called, text: str) -> bool:
    """Whether all that a tool answered is that an argument, which it names, must be another one: it did nothing."""
    if len(text) > _OPENING or "\n" in text.strip() or not _MUST.search(text):
        return False
    arguments = arguments_of(called.call)
    named = (key for key in arguments if "_" in key) if isinstance(arguments, dict) else ()
    return text.lstrip()[:1] not in ("{", "[") and any(key in text for key in named)


def _without_reminders(text: str) -> str:
    """A tool's answer without what the program put behind it."""
    return _REMINDER.sub("", text)
