"""Calls as they are told: one with its end in a line, and what it brought in a few more."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from foldline._clipping import one_line
from foldline._facts.code_edits import replaced
from foldline._facts.edits import PROSE, NamesTouched, names_in_edits, stretches, told_names, written_in
from foldline._facts.in_short import in_short, only_sets_up
from foldline._facts.others import answer_of, asked_of, is_notice, said_in_report
from foldline._facts.outcomes import Outcome
from foldline._facts.pasted import without_output
from foldline._facts.patches import is_patch
from foldline._facts.patterns import rare
from foldline._facts.repository import SHORTENED, goes_on
from foldline._facts.shell import achieved, attempts, checks, family, only_looks, shows_what_it_changed, without_bodies
from foldline._facts.speech import clean
from foldline._facts.texts import Passage, beside, fields, figures, is_code, made, record_of, rims, sentences
from foldline._facts.tool_calls import (
    BODIES,
    DELEGATING,
    FEEDING,
    LOOKING,
    NOTING,
    SEARCHING,
    WRITING,
    Action,
    arguments_of,
    calls_in_code,
    changes_by_name,
    says_what,
    spells_out,
    withheld,
    words_of,
)
from foldline._facts.types import Kind
from foldline._facts.uncommitted import COMMITTED
from foldline._messages import ToolCall, Value
from foldline._patterns import pattern

_ARGUMENT = 90
_CALL = 240
"""Characters that are told of an argument, and of a call."""

_READ = 4_000
"""Characters that are looked through for how what a call writes begins."""

_DEEPEST = 16
"""Lists and mappings within each other whose words are told."""

_WHOLE, _SHORT, _LONG = 100, 400, 1_600
"""Characters of an answer that is told beside its call, of one that is told by its sentences, and of one that is an output
of which no line is a result."""

_PLAIN = 60
"""Characters of a command that says by itself what it is for."""

_FILES = 4
"""Files that are named of those that one call touches."""

_LINES = 6
"""Lines that are told of what a look at files showed."""

_BEGIN = 40
"""Characters of a line by which its place is found."""

BROUGHT, NEWS = 3, 3
"""What the first fields are worth that a change brought, a booking's number mostly, and how many they are."""

COMMIT = "git commit: "
"""How a call is told that made a commit."""

PULL = "pull request: "
"""How a call is told that opened one."""

FORCED = "git push by force: "
"""How a call is told that put commits in the place of others."""

MADE = (COMMIT, PULL, FORCED)
"""How a call is told that made of edits what others see."""

_FORCED = rare(r"^ *\+ *([0-9a-f]{7,40}\.{3}[0-9a-f]{7,40}) +\S+ -> (\S+) \(forced update\)", re.MULTILINE)
"""How git says which commit was in a branch before such a push, which nothing else names any more, and which is now."""

_WRITES = re.compile(
    r"(?:cd \S+ (?:&&|;) )?(?:(?:cat|tee) [^|;&]*<<…|<<… \| (?:Set|Add)-Content|<<… \| Out-File)[^|;&]*\Z"
)
"""A command that does nothing but write a file."""

_EDITS = re.compile(
    r"(?:cd \S+ (?:&&|;) )?(?:\S*/)?python[\d.]* (?:(?:- )?<<…|-c '…')(?P<looks>(?:(?:;| &&) (?:sed -n|grep|nl|head|tail|cat|git diff) [^;&]*)*)"
)
"""A command in short that does nothing but run lines of code, and look at what came of it."""

_PATCHES = re.compile(r"(?:cd \S+ (?:&&|;) )?apply_patch <<…")
"""A command in short that does nothing but apply a patch which it is given."""

_SAYS_IT_WAS = re.compile(r"\w+(?:[^\w\n]+\w+)+.*", re.DOTALL)
"""What such lines say of what they did, in more than a word."""

_CODE = re.compile(r"<<…|'…'")
"""Where a command in short has code."""

_SHOWS = re.compile(r"(?:git (?:-C \S+ )?(?:diff|show)|cat|head|tail|nl|sed -n)\b[^|;&…]*")
"""A command in short that shows files, or how they were changed: those say more than what it is for."""

_EMPTY = re.compile(
    r"\W*(?:ok|okay|done|success|successful|successfully|true|null|none|(?:action )?completed(?: successfully)?)?\W*",
    re.IGNORECASE,
)
"""An answer that says nothing but that there is one."""

_LISTING = frozenset({"glob", "find", "list"})
_FOLDERS = frozenset({"directory", "dir", "files", "folder"})
"""Words in the names of tools that search for files, and of those that list them."""

_OF_EDITOR = {"create": "create", "str_replace": "edit", "insert": "edit", "undo_edit": "undo edit of", "view": "view"}
"""What an editor that is one tool is told to do, and how that is told."""

_COUNTS = rare(r"\b\d+ (?:failed|failing|passed|passing|errors?)\b")
"""How many tests ended in one way."""

_NOTHING = pattern(r"No files (?:were )?found\.?|Found 0 files\.?", re.IGNORECASE)
"""Words in the names of tools that search for files by their names, and how one says that there are none."""

_PROGRESS = re.compile(
    r"\s*(?:(?:bun|npm|pnpm|yarn)\b[\w ]{0,20} v\d|(?:Resolving|Downloading|Fetching|Unpacking|Updating files|Receiving objects)\b|Resolved, downloaded|Saved lockfile|(?:gcc|g\+\+|cc|c\+\+|clang|ar|ranlib|ld) -|rm -f |g?make(?:\[\d+\])?: (?:Entering|Leaving|Nothing)|\[ *\d+%\] |(?:\[INFO\] )?(?:Tests run: .* -- in |Running [\w.$]+$)|remote: (?:Create a pull request|Enumerating|Counting|Compressing|Resolving))"
)
"""A line with which a program names itself, or says how far it is."""

_NOTICE = pattern(r"\[[^\[\]\n]{12,}\]")
"""An answer that a client put in place of the tool's."""

_COMMIT = rare(
    r"(?:^|[\n;&|(])[ \t]{0,8}(?:(?:\w{1,40}=\S{0,80}|rtk|env|time|command|sudo) ){0,4}git\b(?>[^\n|;&]{0,300}?\bcommit\b)(?>[^\n]{0,300}?(?: -\w{0,6}m| --message[= ]))\s*(?:\"\$\(cat <<\W?\w+\W?\n)?(?:\"([^\n\"]{4,200})|'([^\n']{4,200})|([^\n\"']{4,200}))"
)
"""Each stretch is bounded and taken once: a line of `git` and `commit` over and over is tried in every pairing otherwise."""

_STATED = rare(r"^ *(\d+ files? changed)\b", re.MULTILINE)
"""How git says how much a commit changed."""

_COMMIT_READ = re.compile(
    r"\bgit\b[^\n|;&]{0,300}? commit\b[^\n]{0,300}? (?:-\w{0,6}F|--file)[= ]?-[^\n]{0,80}?<<-?\W?\w+\W?\n([^\n]{4,200})"
)
"""A commit whose message is read from what stands behind the command."""

_PULL = re.compile(
    r"\b(?:gh pr|glab mr) create\b[^\n]{0,300}? (?:-t|--title)[= ](?:\"([^\n\"]{4,200})\"|'([^\n']{4,200})')"
)

_WRITTEN = pattern(r"[^\W\d_]+(?:,? [^\W\d_]+){6}|[\u3040-\u9fff\uac00-\ud7a3]{12}")
"""What somebody wrote, in a program's record: so many words in a row."""


class Called(NamedTuple):
    """A call that was made, what it is, and where it stands."""

    call: ToolCall
    action: Action
    at: int
    part: int


class EndedCall(Value, frozen=True, dict=True):
    """A call and how it ended, with what the tool answered."""

    called: Called
    end: Outcome
    answer: str = ""
    runs: bool = False
    """Whether it was seen to go on, so that its end is not known yet."""
    seen: bool = True
    """Whether what it answered was seen: an answer that says nothing may say that all is well."""

    @cached_property
    def command(self) -> str:
        """The command line without what it wrote into files."""
        return without_bodies(clean(self.called.action.command))

    @cached_property
    def source(self) -> str:
        """What was tried, in a line."""
        by_code = ", ".join(self._by_code) if _CODE.search(self._in_short) else ""
        return (
            f"{self._in_short} # writes {by_code}" if by_code else self._in_short or _in_words(self.called, self.names)
        )

    @cached_property
    def _in_short(self) -> str:
        return one_line(in_short(self.command), _CALL)

    @cached_property
    def tried(self) -> str:
        """What of it tried something, in a line, without what stands around it."""
        return one_line("; ".join(attempts(self.command)), _CALL) or self.source

    @cached_property
    def _by_code(self) -> Sequence[str]:
        """The first of the files that code in a command writes."""
        written = (path for verb, path, _ in self.called.action.touches if verb != "read")
        named = in_short(self.command)
        return [path for path in dict.fromkeys(written) if path.rstrip("/").rpartition("/")[2] not in named][:_FILES]

    @cached_property
    def _runs_code(self) -> re.Match[str] | None:
        """The command, where it does no more than run lines of code, and look at what came of it."""
        return _EDITS.fullmatch(self._in_short)

    @cached_property
    def _edited(self) -> list[str]:
        """The files in which such lines, or a patch, put something in place of what was there, and do no more than that."""
        runs = self._runs_code
        written = [path for verb, path, _ in self.called.action.touches if verb in WRITING]
        if _PATCHES.fullmatch(self._in_short):
            return written[:_FILES]
        if runs is None or not (runs["looks"] or len(self.answer) <= _SHORT):
            return []
        kept = any(not path.startswith("/tmp/") for path in written)
        return written[:_FILES] if kept and replaced(self.called.action.command) else []

    @property
    def key(self) -> str:
        """What it was an attempt at."""
        return family(self.command) if self.command else " ".join(self.source.split()[:2])

    @property
    def achieved(self) -> tuple[str, ...]:
        """What it succeeded in, where it did."""
        return achieved(self.command) if self.command else (self.key,)

    @cached_property
    def looks(self) -> bool:
        """Whether it is a command that only looks, or tries out what would be done."""
        return bool(self.command) and ("--dry-run" in self.command or only_looks(self.command))

    @cached_property
    def sets_up(self) -> bool:
        """Whether it is a command that did nothing but set up what others need."""
        if not self.command or self.end.failed or not spells_out(self.called.call) or not only_sets_up(self.command):
            return False
        return not any(verb != "read" and path in self.command for verb, path, _ in self.called.action.touches)

    @cached_property
    def reads(self) -> bool:
        """Whether it is a tool that looks into files and folders, where what it showed still stands."""
        action, words = self.called.action, words_of(self.called.call.name)
        searches = bool(words & SEARCHING) and '"pattern"' in self.called.call.arguments
        lists = "list" in words and bool(words & _FOLDERS)
        return searches or lists or bool(action.touches and not action.command)

    @cached_property
    def prints(self) -> bool:
        """Whether what it answers is the output of a program."""
        call, arguments = self.called.call, arguments_of(self.called.call)
        coded = isinstance(arguments, str) and bool(calls_in_code(arguments))
        return bool(self.called.action.command) or coded or bool(words_of(call.name) & FEEDING)

    @property
    def outcome(self) -> str:
        """How it ended, in a word; empty where that is not known."""
        if self.end.failed and self.end.exit:
            return f"exit {self.end.exit}"
        return "" if not self.answer and not self.end.exit else "failed" if self.end.failed else "ok"

    @cached_property
    def changed(self) -> bool:
        """Whether it is a call that changes something."""
        if asked_of(self.called.call):
            return False
        if touches := self.called.action.touches:
            return any(verb != "read" for verb, path, _ in touches)
        return changes_by_name(self.called.call.name)

    @property
    def reports(self) -> bool:
        """Whether another agent did it, and answers in prose."""
        call, answer = self.called.call, self.answer
        words = words_of(call.name)
        shows_plan = words & LOOKING and words <= NOTING | LOOKING
        reads, delegated = answer_of(call), words & DELEGATING and not shows_plan
        if self.end.failed or not answer or not (reads or delegated) or is_notice(answer):
            return False
        if reads:
            return True
        said = len(without_output(said_in_report(answer))) if len(answer) > _SHORT else 0
        return said > _SHORT and (said * 2 > len(answer) or record_of(answer) is not None)

    @property
    def passed(self) -> bool:
        """Whether it is a check that found nothing: its output says no more than that."""
        return bool(self.end.note) and not (self.end.failed or self.looks) and self.checks

    @property
    def checks(self) -> bool:
        """Whether it is a command that tries something out: a test, a build."""
        return checks(family(self.command))

    @property
    def wrote(self) -> bool:
        """Whether it is a call that wrote files: what it answers says no more than that it did."""
        return bool(self.called.action.touches) and self.changed and not self.called.action.command

    @cached_property
    def commit(self) -> str:
        """The message of the commit that it made."""
        return self._made_by(_COMMIT, _COMMIT_READ)

    @cached_property
    def pull(self) -> str:
        """The title of the pull request that it opened."""
        return self._made_by(_PULL)

    @cached_property
    def forced(self) -> str:
        """The branch of which it replaced commits on a server, behind the old commit and the new one."""
        pushed = "push" in self.called.action.command and not self.end.failed
        found = _FORCED.search(self.answer) if pushed else None
        return " ".join(found.groups()) if found else ""

    def _made_by(self, *ways: re.Pattern[str]) -> str:
        """What a command that did what it should made in one of some ways, by its title."""
        command = self.called.action.command
        if not command or self.end.failed or self.runs or goes_on(command, self.answer):
            return ""
        found = next(filter(None, (way.search(command) for way in ways)), None)
        return clean(next(filter(None, found.groups()))).strip() if found else ""

    @property
    def kind(self) -> Kind:
        """What the piece is that tells it."""
        if self.end.failed and not self.looks:
            return "failure"
        return "change" if self.changed or self.commit or self.pull or self.forced else "call"

    @property
    def line(self) -> str:
        """What was called."""
        if self.commit:
            made = [*COMMITTED.finditer(self.answer)]
            several = "; ".join(f"{each['subject']} ({each['hash']})" for each in made)
            return f"{COMMIT}{several if len(made) > 1 else self.commit}"
        if self.pull:
            return f"{PULL}{self.pull}"
        if self.forced:
            return f"{FORCED}{self.forced}"
        if self.called.action.command and _WRITES.match(self.source):
            return f"write {self._written}"
        if self._edited and not self.end.failed:
            return f"edit {', '.join(_named(path, self.names) for path in self._edited)}"
        if self.kind == "call" and not self.end.note and (purpose := self._purpose):
            return purpose
        return f"`{self.source}`" if self.called.action.command else asked_of(self.called.call) or self.source

    @property
    def _purpose(self) -> str:
        """What the agent said a longer command is for; empty where it said nothing."""
        plain = len(self.source) <= _PLAIN and not _CODE.search(self.source)
        arguments = "" if plain or _SHOWS.fullmatch(self.source) else arguments_of(self.called.call)
        said = arguments.get("description") if isinstance(arguments, dict) and self.called.action.command else ""
        return one_line(clean(said), _ARGUMENT) if isinstance(said, str) else ""

    @property
    def given(self) -> list[str]:
        """What its line leaves out, a few at a time: arguments, files beyond those that it names, and which commit was made."""
        arguments, touches = arguments_of(self.called.call), self.called.action.touches
        told = arguments.items() if isinstance(arguments, dict) else ()
        left = [(key, _argument(value)) for key, value in told if key not in BODIES]
        left += [("path", path) for _, path, _ in touches[_FILES:] if not self.command]
        said = [f"{key}={text}" for key, text in left if text and text.rstrip("…") not in self.line]
        return [*beside(said), *(made[0] for made in COMMITTED.finditer(self.answer) if self.commit)]

    @property
    def body(self) -> list[str]:
        """How what it writes into files begins, or what it runs, in a few pieces; of a command what stands behind its line."""
        action = self.called.action
        if action.command:
            return stretches(clean(action.command[_CALL : _CALL + _READ]))
        return stretches(clean(written_in(arguments_of(self.called.call))[:_READ]))

    @cached_property
    def names(self) -> Mapping[str, NamesTouched]:
        """What it touched in the files that it wrote, by file, where that is plain."""
        action = self.called.action
        paths = [path for verb, path, _ in action.touches[:_FILES] if verb in WRITING]
        if not paths:
            return {}
        if not action.command:
            return names_in_edits(arguments_of(self.called.call), action.touches[0][1])
        if is_patch(action.command):
            return names_in_edits(action.command, "")
        if self._edited and len(paths) == 1:
            old, new = map("\n".join, zip(*replaced(action.command)))
            return names_in_edits({"old_string": old, "new_string": new}, paths[0])
        if not _WRITES.match(self._in_short):
            return {}
        written = names_in_edits({"content": action.command}, paths[-1])
        return {path: touched for path, touched in written.items() if touched.defined}

    @property
    def _written(self) -> str:
        """The files that a command only writes, with what it puts there, and those that this will write once it runs."""
        touched = [path for verb, path, _ in self.called.action.touches if verb != "read"]
        by_code = ", ".join(self._by_code)
        told = ", ".join(_named(path, self.names) for path in touched[:_FILES] if path not in self._by_code)
        return f"{told}, which writes {by_code}" if told and by_code else told or by_code

    @cached_property
    def tail(self) -> str:
        """How it ended, where that is to be told; else a short answer, whole, or of a longer one what it made beside files."""
        return self._ending or self.whole or (self._made if self.changed and not self.wrote else "")

    @property
    def _made(self) -> str:
        """What a change made anew, by the identifiers in its answer that the call did not have."""
        if self.called.action.command or self.end.failed:
            return ""
        return made(self.answer, self.called.call.arguments)

    @cached_property
    def whole(self) -> str:
        """The answer, where it is so short that it is told beside the call."""
        action, said = self.called.action, " ".join(self.answer[: _SHORT + 1].split())
        if self.reads and _NOTHING.fullmatch(said) and words_of(self.called.call.name) & _LISTING:
            return said
        if self._edited and not self._ending:
            told = "; ".join(line.strip() for line in self.answer[: _WHOLE + 1].splitlines() if line.strip())
            says = len(self.answer) <= _WHOLE and self._runs_code is not None and not self._runs_code["looks"]
            return told if says and _SAYS_IT_WAS.fullmatch(told) else ""
        if self._ending or action.command or len(self.answer) > _SHORT or self.wrote or self.reads:
            return ""
        tells = (
            len(said) <= _WHOLE
            and not (_EMPTY.fullmatch(said) or _NOTICE.fullmatch(said))
            and record_of(self.answer) is None
        )
        return said if tells else ""

    @property
    def _counts(self) -> str:
        """How many tests failed and passed, behind the one that is named, where there were several."""
        found = _COUNTS.findall(self.end.note) if self.end.fault else []
        several = len(found) > 1 or not "".join(found).startswith("1 ")
        return f" ({', '.join(found)})" if found and several and self.end.note not in self.end.fault else ""

    @property
    def _ending(self) -> str:
        if self.looks and not (self.end.failed and only_sets_up(self.command)):
            return ""
        if self.end.failed:
            return "; ".join(filter(None, (self.outcome, self.end.fault or self.end.note))) + self._counts
        if self.commit and (made := COMMITTED.search(self.answer)):
            if made["hash"] in self.line:
                return ""
            stated = _STATED.search(self.answer[made.end() :])
            return ", ".join(filter(None, (made["hash"], stated and stated[1])))
        if self.commit and (short := SHORTENED.search(self.answer)):
            return short[1]
        return "" if self.end.note[:1] in ("{", "[") else self.end.note


def brought(ended: EndedCall, wanted_lines: Callable[[str], Iterable[str]]) -> tuple[Kind, list[Passage]]:
    """What a call brought, as one kind of pieces: of outputs and files the lines that are wanted, of records their fields."""
    answer = ended.answer
    delegated = bool(words_of(ended.called.call.name) & DELEGATING)
    if not answer or ended.whole or ended.wrote or ended.commit or ended.pull or ended.passed:
        return "result", []
    if delegated and (ended.end.failed or is_notice(answer)):
        return "result", []
    if ended.reads:
        return "shown", _lines([*wanted_lines(answer)][:_LINES])
    if (record := record_of(answer)) is not None:
        told = [] if delegated else fields(record)
        written = [field for field in told if _WRITTEN.search(field.text)] if ended.prints else told
        return "shown" if ended.looks else "result" if written else "excerpt", written or told
    if ended.prints:
        wanted = (line for line in wanted_lines(answer) if not (ended.end.failed and is_code(line)))
        plain = [line for line in (*wanted, *rims(answer)) if not _PROGRESS.match(line)]
        shows = ended.looks or shows_what_it_changed(ended.command)
        return "shown" if shows else "excerpt", _lines(_in_place(answer, plain))
    if len(answer) <= _SHORT:
        says = len(answer) > _WHOLE or not _EMPTY.fullmatch(answer)
        return "result", _lines(sentences(answer) if says else ())
    kind: Kind = "result" if len(answer) <= _LONG else "excerpt"
    return kind, _lines([*wanted_lines(answer), *figures(answer)])


def _in_place(answer: str, lines: Iterable[str]) -> list[str]:
    """Lines of an answer, each once, as they stand there; one that was cut in front stays behind the one before it."""
    at, placed = 0, []
    for number, line in enumerate(dict.fromkeys(lines)):
        found = answer.find(line[:_BEGIN])
        at = found if found >= 0 else at
        placed.append((at, number, line))
    return [line for *_, line in sorted(placed)]


def _lines(texts: Iterable[str]) -> list[Passage]:
    """Lines of an answer that is no record, in which no object begins."""
    return [Passage(text, begins=False) for text in texts]


def _in_words(called: Called, names: Mapping[str, NamesTouched]) -> str:
    """A call without a command: its tool, and the arguments that are no bodies of files; code that it runs says what it does."""
    call, action = called.call, called.action
    arguments = arguments_of(call)
    if action.touches and not action.command:
        doing = _doing(arguments) or (call.name if says_what(call.name) else "edit")
        return clean(
            f"{doing} {', '.join(dict.fromkeys(_named(path, names) for _, path, _ in action.touches[:_FILES]))}"
        )
    if isinstance(arguments, str):
        if inside := calls_in_code(arguments):
            return clean(one_line(f"{call.name}: {', '.join(inside)}", _CALL))
        return clean(f"{call.name} {one_line(arguments, _ARGUMENT)}".strip())
    sought = _sought(call)
    left = BODIES | {"pattern", "path"} if sought else BODIES - {"code"}
    given = ((key, _argument(value)) for key, value in arguments.items() if key not in left and value is not None)
    told = ", ".join(f"{key}={text}" for key, text in given if text)
    return clean(one_line(f"{call.name} {', '.join(filter(None, (sought, told)))}", _CALL).strip())


def _doing(arguments: Mapping[str, Any] | str) -> str:
    """What an editor is told to do by its arguments and not by its name: that of Anthropic and those that imitate it."""
    asked = "" if isinstance(arguments, str) else arguments.get("command")
    return _OF_EDITOR.get(asked, "") if isinstance(asked, str) else ""


def _sought(call: ToolCall) -> str:
    """What a search looks for, and where; empty for other calls."""
    arguments = arguments_of(call)
    if isinstance(arguments, str) or not words_of(call.name) & SEARCHING:
        return ""
    pattern, path = (_argument(arguments.get(key) or "") for key in ("pattern", "path"))
    return f"{pattern} in {path}" if pattern and path else pattern


def _named(path: str, names: Mapping[str, NamesTouched]) -> str:
    """A file with the names in it that were touched."""
    own = path.rpartition("/")[2].partition(".")[0]
    known = names.get(path, NamesTouched())
    some = () if path.endswith(PROSE) else known.names
    touched = told_names([each for each in some if each.split()[:1] != [own]])
    return f"{path} ({touched})" if touched else path


def _argument(value: object, depth: int = _DEEPEST) -> str:
    """What an argument says; of what is nested deeper than anything that a person reads, nothing."""
    if isinstance(value, list | dict):
        inside = (_argument(each, depth - 1) for each in (value if isinstance(value, list) else value.values()))
        return ("+" if isinstance(value, list) else " ").join(inside if depth else ())[: 2 * _ARGUMENT]
    text = str(value)
    return "" if withheld(text) else one_line(text, _ARGUMENT)
