"""One pass over messages that reads their facts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from foldline.clipping import one_line
from foldline.facts.cues import failed_with
from foldline.facts.foreign import facts_of_prose
from foldline.facts.literals import literals, without_span
from foldline.facts.merging import bounded, closes, drop_inside, from_data, known_as, merge, with_todo
from foldline.facts.outcomes import Outcome, edges, outcome
from foldline.facts.rules import rules_in
from foldline.facts.shell import only_looks, without_bodies
from foldline.facts.speakers import Span, spoken
from foldline.facts.speech import clean, is_summary, project_rules
from foldline.facts.text_calls import call_in
from foldline.facts.texts import LONGEST, fields, figures, lines_with, record_of, rims, said_in, sentences
from foldline.facts.told import facts_of_page, is_page
from foldline.facts.tool_calls import Action, arguments_of, read_action, words_of
from foldline.facts.types import Command, Facts, Fault, File, FileState, Kind, Piece, Request, Rule, Todo
from foldline.messages import Message, Summary, Text, ToolCall, ToolResult, replace

REQUEST_CHARACTERS = 12_000
_SCANNED = 600_000
"""Characters of tool outputs that are searched, of each its head and tail."""

_ARGUMENT = 90
_CALL = 240
"""Characters that are told of an argument, and of a call."""

_CHECKBOX = re.compile(r"^\s*[-*] \[([ xX])\] (.{3,200})$", re.MULTILINE)
_BOX = re.compile(r"^\s*(?:[-*\d.)]+\s*)?\[([ xX✓])\]\s+(.{3,200})$", re.MULTILINE)
_PLANS = frozenset({"plan", "todo", "todos", "task", "tasks", "checklist", "note"})
FEWEST_BOXES = 2
"""Boxes from which an answer is a plan."""

MARGIN, PROJECT_MARGIN = 0.1, 1.5
"""Logits beyond even odds that must speak for a rule of the user's, and for one in a project's file, most of which describes."""

BROUGHT, NEWS = 3, 3
"""What the first fields are worth that a change brought, a booking's number mostly, and how many they are."""

_NUMBERED = re.compile(r"#(\d+)\b")
_COMMIT = re.compile(
    r"git\b(?>[^\n|;&]{0,300}?\bcommit\b)(?>[^\n]{0,300}?(?: -\w{0,6}m| --message[= ]))\s*(?:\"\$\(cat <<\W?\w+\W?\n)?(?:\"([^\n\"]{4,200})|'([^\n']{4,200})|([^\n\"']{4,200}))"
)
"""Each stretch is bounded and taken once: a line of `git` and `commit` over and over is tried in every pairing otherwise."""

_CHANGING = frozenset(
    [
        "book",
        "cancel",
        "create",
        "update",
        "send",
        "modify",
        "delete",
        "add",
        "set",
        "post",
        "submit",
        "transfer",
        "exchange",
        "return",
        "refund",
        "schedule",
        "write",
        "move",
        "pay",
        "order",
        "reserve",
        "assign",
        "close",
        "merge",
        "deploy",
        "publish",
        "upload",
        "insert",
        "remove",
        "reply",
        "edit",
        "apply",
        "commit",
        "push",
        "issue",
        "rename",
    ]
)
"""Words in the names of tools that change something."""

_BODIES = frozenset(
    [
        "content",
        "contents",
        "file_text",
        "text",
        "body",
        "data",
        "fileContent",
        "old_string",
        "new_string",
        "oldText",
        "newText",
        "old_str",
        "new_str",
        "old_text",
        "new_text",
        "edits",
        "diff",
        "replacement",
        "new_source",
        "code_edit",
        "old_content",
        "patch",
        "code",
    ]
)
"""Arguments that are not told: what they hold stands in a file."""

_DENIED = re.compile(
    r"Permission (?:for|to) [^\n]{0,80} (?:was|has been) denied|PostToolUseFailure|hook (?:blocked|denied)",
    re.IGNORECASE,
)
"""How a client says that its own rules stopped a call: no error of the work."""

_LOOKING = frozenset(
    [
        "read",
        "view",
        "open",
        "cat",
        "get",
        "search",
        "grep",
        "glob",
        "find",
        "list",
        "ls",
        "tree",
        "show",
        "fetch",
        "load",
    ]
)
_MISSED = re.compile(
    r"not? (?:be )?found|no such|does not exist|doesn't exist|\b40[34]\b|\b410\b|no (?:matches|results|files)",
    re.IGNORECASE,
)
"""How a look-up says that there is nothing."""

_COMMAND = re.compile(r"<command-name>\s*(/[\w-]+:[\w:-]+)\s*</command-name>")
"""A command of a plugin that the user gave, as Claude Code writes it; the client's own ones order no work."""

_REMINDER = re.compile(r"<(system-reminder|system_reminder)>.*?(?:</\1>|\Z)", re.DOTALL)

_REFUSED = re.compile(
    r"(?:the user (?:doesn't want|does not want|rejected|denied|declined)|(?:rejected|denied|declined) by (?:the )?user)",
    re.IGNORECASE,
)
_REASON = re.compile(r"(?:the user said|reason|feedback)\s*:\s*(.{3,2000})", re.IGNORECASE | re.DOTALL)


def facts_of(messages: Iterable[Message]) -> Facts:
    """The facts of messages; a summary among them contributes the facts behind it, or what its prose says."""
    facts = Facts()
    batch: list[Message] = []
    for message in messages:
        earlier = [f for p in message.parts if (f := _behind(message, p)) is not None]
        if not earlier:
            batch.append(message)
            continue
        facts = merge(facts, bounded(Reading(batch).facts()))
        for each in earlier:
            facts = merge(facts, each)
        batch = [replace(message, parts=tuple(p for p in message.parts if _behind(message, p) is None))]
    return merge(facts, bounded(Reading(batch).facts()))


def _behind(message: Message, part: object) -> Facts | None:
    """The facts behind a summary, ours or another compactor's; None for a part that is no summary."""
    if type(part) is Summary:
        facts = from_data(part.facts) if part.facts else Facts()
        return facts if facts != Facts() else _told(part.text)
    if type(part) is Text and message.role == "user" and is_summary(part.text):
        return _told(part.text)
    return None


def _told(text: str) -> Facts:
    return facts_of_page(text) if is_page(text) else facts_of_prose(text)


def user_words(messages: Sequence[Message]) -> Iterator[str]:
    """What the user says in each message that holds words of the user's."""
    for spans in spoken(messages):
        said = "\n".join(span.text for span in spans if span.by == "user").strip()
        if said:
            yield said


class Reading:
    """The facts of a run of messages while they are read."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.end = len(messages)
        self.requests: list[Request] = []
        self.rules: list[Rule] = []
        self.pieces: list[Piece] = []
        self.files: dict[str, File] = {}
        self.commands: dict[str, Command] = {}
        self.faults: dict[tuple[str, str], Fault] = {}
        self.passed: dict[str, int] = {}
        self.todos: list[Todo] = []
        self.plan_at: int | None = None
        self._calls: dict[str, tuple[ToolCall, Action, int, int]] = {}
        self._edge = max(1_000, min(12_000, _SCANNED // (2 * (1 + sum(1 for m in messages for _ in m.results)))))
        spans = spoken(messages)
        self._wanted = _written(messages, spans)
        reports = _reports(messages, spans)
        self._acting: tuple[ToolCall, Action, int, int] | None = None
        observed = {at - 1 for at, said in enumerate(spans) if at and any(span.by == "tool" for span in said)}
        answered = {result.call_id for message in messages for result in message.results}
        for at, message in enumerate(messages):
            for part, span in enumerate(spans[at]):
                if at in observed and span.by == "agent" and (acting := call_in(span.text)):
                    self._acting = (acting.call, read_action(acting.call), at, 100)
                    span = Span("agent", acting.words)
                self._read_words(span, at, part, at in reports)
            for part, each in enumerate(message.parts, 100):
                if type(each) is ToolCall:
                    self._read_call(each, at, part, each.id in answered)
                elif type(each) is ToolResult:
                    self._read_result(each, at)

    def facts(self) -> Facts:
        """What was read."""
        order = sorted(range(len(self.pieces)), key=lambda i: (self.pieces[i].at, self.pieces[i].part, i))
        return Facts(
            requests=tuple(self.requests),
            rules=tuple(self.rules),
            pieces=tuple(self.pieces[i] for i in order),
            files=tuple(self.files.values()),
            commands=tuple(self.commands.values()),
            faults=tuple(self.faults.values()),
            todos=tuple(self.todos),
            passed=self.passed,
            plan_at=self.plan_at,
            end=self.end,
        )

    # -- words ---------------------------------------------------------------------------------------------------

    def _read_words(self, span: Span, at: int, part: int, report: bool) -> None:
        text = clean(span.text).strip()
        if not text:
            return
        if span.by == "user":
            self._read_request(text, at, part)
        elif span.by == "agent":
            self._read_statement(text, at, part, report)
        elif span.by == "command" and (called := _COMMAND.search(text)):
            self._read_request(called[1].strip(), at, part)
        elif span.by == "harness" and (rules := project_rules(text)):
            self._read_rules(rules, at, "project")
        elif span.by == "peer" and text[0] not in "{[":
            for each in list(sentences(text[:8_000]))[:12]:
                self._tell(each, at, part, "said", "peer")
        elif span.by == "paste":
            lines = [line.strip() for line in text.splitlines() if line.strip()]
            for line in dict.fromkeys(
                (*lines[:1], *lines_with(text, self._wanted, literals(text[:8_000])), *lines[-1:])
            ):
                self._tell(line[:LONGEST], at, part, "excerpt", "user")
        elif span.by == "tool":
            self._read_observation(text, at, part)

    def _read_request(self, words: str, at: int, part: int) -> None:
        size = len(words)
        if size > REQUEST_CHARACTERS:
            head, tail = words[: REQUEST_CHARACTERS * 2 // 3], words[-REQUEST_CHARACTERS // 3 :]
            words = f"{head}\n[… {size - REQUEST_CHARACTERS:,} of {size:,} characters cut …]\n{tail}"
        if (known := next((i for i, request in enumerate(self.requests) if request.text == words), None)) is not None:
            self._repeat(known)
            return
        self.requests.append(Request(words, at, size if size > REQUEST_CHARACTERS else 0))
        for each in said_in(words):
            self._tell(each, at, part, "said", "user")
        self._read_rules(words, at, "user")

    def _repeat(self, place: int) -> None:
        """Takes down that a request was made again: it is told where it was made first."""
        again = self.requests.pop(place)
        self.requests.append(replace(again, times=again.times + 1))
        for i, piece in enumerate(self.pieces):
            if piece.at == again.at and piece.by == "user":
                self.pieces[i] = replace(piece, times=piece.times + 1)

    def _read_rules(self, words: str, at: int, by: Literal["user", "project"]) -> None:
        """The rules in a text; one that it takes back is none any more."""
        for text, lifetime in rules_in(words, margin=MARGIN if by == "user" else PROJECT_MARGIN):
            if lifetime == "back":
                self.rules = [rule for rule in self.rules if rule.at == at or not means(words, rule.text)]
            elif lifetime in ("standing", "once") and all(rule.text != text for rule in self.rules):
                self.rules.append(Rule(text, at, by, lifetime))

    def _read_statement(self, text: str, at: int, part: int, report: bool) -> None:
        kind: Kind = "report" if report else "thought"
        said = list(sentences(text if len(text) < 24_000 else text[:16_000] + "\n" + text[-8_000:]))
        for i, each in enumerate(said):
            if report or not each.endswith((":", "：", "…")):
                self._tell(each, at, part, kind, "agent", edge=report and i in (0, len(said) - 1))
        for found in _CHECKBOX.finditer(text) if "- [" in text or "* [" in text else ():
            self._put_todo(Todo(found[2].strip(), "pending" if found[1] == " " else "done", at=at))

    def _tell(self, text: str, at: int, part: int, kind: Kind, by: str, *, edge: bool = False, used: int = 0) -> None:
        if kind in ("result", "excerpt"):
            used += sum(word in self._wanted for word in literals(text))
        self.pieces.append(Piece(text, at, part, by, kind, used, edge))  # type: ignore[arg-type]

    # -- tools ---------------------------------------------------------------------------------------------------

    def _read_observation(self, text: str, at: int, part: int) -> None:
        """What a tool answered to an agent that acts by text."""
        if self._acting is None:
            for line in _some_lines(text, self._wanted):
                self._tell(line, at, part, "excerpt", "tool")
            return
        (call, action, made, place), self._acting = self._acting, None
        result = ToolResult("", (Text(text),))
        end = outcome(result, edges(result), bool(action.command))
        self._settle(call, action, end, made, place, edges(result, self._edge))

    def _read_call(self, call: ToolCall, at: int, part: int, answered: bool) -> None:
        action = read_action(call)
        self._calls[call.id] = (call, action, at, part)
        if not answered:
            self._settle(call, action, Outcome(), at, part)

    def _read_result(self, result: ToolResult, at: int) -> None:
        call, action, made, part = self._calls.get(result.call_id) or (None, None, at, 100)
        text = without_reminders(clean(edges(result, self._edge)))
        if call is None or action is None:
            for line in _some_lines(text, self._wanted):
                self._tell(line, at, 100, "result", "tool")
            return
        if _REFUSED.search(text[:400]) and result.error:
            reason = _REASON.search(text[:4_000])
            self._read_request(reason[1].strip() if reason else "(refused the call)", at, 50)
            return
        end = outcome(result, without_reminders(clean(edges(result))), bool(action.command))
        missed = bool(words_of(call.name) & _LOOKING) and _MISSED.search(text[:400]) is not None
        if end.failed and (missed or _DENIED.search(text[:400])):
            end = replace(end, fault="")
        if not (end.failed or missed or action.command) and (fault := failed_with(text)):
            end = Outcome(True, "", fault)
        if words_of(call.name) & _PLANS:
            self._read_boxes(text, at)
        self._settle(call, action, end, made, part, text)

    def _settle(self, call: ToolCall, action: Action, end: Outcome, at: int, part: int, answer: str = "") -> None:
        """Books what a call did, now that its end is known."""
        certain = not end.failed or (action.shell_only and len(action.touches) > 1)
        for verb, path, to in action.touches if certain else ():
            self.touch(verb, clean(path), at, clean(to))
        if action.plan is not None:
            if not end.failed:
                self._read_plan(action, at, answer)
            return
        command = without_bodies(clean(action.command))
        looks = bool(command) and only_looks(command)
        source = one_line(command, _CALL) or told_call(call, action)
        key = family(command) if command else " ".join(source.split()[:2])
        ended = "" if not answer and not end.exit else "failed" if end.failed else "ok"
        ended = f"exit {end.exit}" if end.failed and end.exit else ended
        if command:
            old = self.commands.pop(source, None)
            self.commands[source] = Command(source, ended, end.note, 1 + (old.count if old else 0), at)
        if end.failed and end.fault and not looks:
            self.faults = {mark: f for mark, f in self.faults.items() if f.key != key or f.resolved}
            self.faults[key, end.fault] = Fault(end.fault, source[:160], key, seen=at)
        elif not end.failed and answer:
            self.passed[key] = at
            for mark, fault in self.faults.items():
                if closes(key, fault.key):
                    self.faults[mark] = replace(fault, resolved=True)
        self._tell_call(call, action, end, at, part, answer, source, ended, looks)

    def _tell_call(
        self,
        call: ToolCall,
        action: Action,
        end: Outcome,
        at: int,
        part: int,
        answer: str,
        source: str,
        ended: str,
        looks: bool,
    ) -> None:
        changed = any(verb != "read" for verb, _, _ in action.touches) or bool(words_of(call.name) & _CHANGING)
        commit = _COMMIT.search(action.command) if action.command and not end.failed else None
        kind: Kind = "failure" if end.failed and not looks else "change" if changed or commit else "call"
        head = f"`{source}`" if action.command else source
        if commit:
            head = f"git commit: {clean(commit[1] or commit[2] or commit[3]).strip()}"
        rest: list[str] = []
        brought: Kind = "result"
        said = " ".join(answer.split()) if len(answer) <= 400 else ""
        why = "" if looks else end.fault if end.failed else end.note
        tail = "; ".join(filter(None, (ended if end.failed and not looks else "", why)))
        if not tail and not action.command and said and len(said) <= 100 and record_of(answer) is None:
            tail = said
        elif answer and not (action.touches and not action.command):
            record = record_of(answer)
            if record is not None:
                rest = fields(record)
            elif action.command or looks:
                brought = "excerpt"
                rest = [*_some_lines(answer, self._wanted), *rims(answer)]
            elif len(answer) <= 400:
                rest = list(sentences(answer))
            else:
                rest = [*_some_lines(answer, self._wanted), *figures(answer)]
        elif answer:
            brought = "excerpt"
            rest = list(_some_lines(answer, self._wanted))[:6]
        self._tell(head + (f" → {tail}" if tail else ""), at, part, kind, "tool")
        for i, each in enumerate(dict.fromkeys(rest)):
            if each not in tail:
                self._tell(each[:LONGEST], at, part, brought, "tool", used=BROUGHT if changed and i < NEWS else 0)

    def _read_boxes(self, answer: str, at: int) -> None:
        """A plan as a tool shows it, with boxes that are ticked or not."""
        boxes = _BOX.findall(answer[:8_000]) if "[ ]" in answer else []
        if len(boxes) >= FEWEST_BOXES:
            for mark, text in boxes:
                self._put_todo(Todo(text.strip(), "pending" if mark == " " else "done", at=at))

    def touch(self, verb: str, path: str, at: int, to: str = "") -> None:
        """Books one action on a file."""
        path = without_span(path.strip()) if verb == "read" else path.strip()
        if not path:
            return
        path = known_as(path, self.files)
        old = self.files.pop(path, None)
        if verb in ("written", "created"):
            verb = "modified" if old is not None and old.state not in ("deleted", "renamed") else "created"
        state: FileState = verb  # type: ignore[assignment]
        if verb == "read" and old is not None and old.state != "deleted":
            state = old.state
        actions = dict(old.actions) if old else {}
        actions[verb] = actions.get(verb, 0) + 1
        self.files[path] = File(path, state, actions, at, to or (old.to if old and state == "renamed" else ""))
        if verb == "deleted":
            drop_inside(path, self.files, at)
        elif verb == "renamed" and known_as(to, self.files) in self.files:
            self.touch("written", to, at)

    def _read_plan(self, action: Action, at: int, answer: str) -> None:
        assert action.plan is not None
        if action.plan.whole:
            self.todos, self.plan_at = [], at
        for id, text, status in action.plan.items:
            if not id and not action.plan.whole and (numbered := _NUMBERED.search(answer[:200])):
                id = numbered[1]
            self._put_todo(Todo(clean(text), status or "pending", id, at), bool(status))  # type: ignore[arg-type]

    def _put_todo(self, todo: Todo, known: bool = True) -> None:
        self.todos = with_todo(self.todos, todo, known)


def _written(messages: Sequence[Message], spans: Sequence[tuple[Span, ...]]) -> frozenset[str]:
    """The literals that the user or the agent wrote, in words or in the arguments of calls."""
    found: set[str] = set()
    for message, said in zip(messages, spans):
        for span in said:
            if span.by in ("user", "agent"):
                text = span.text
                found.update(literals(text if len(text) < 12_000 else text[:8_000] + text[-4_000:]))
        for call in message.calls:
            found.update(literals(call.arguments[:4_000]))
    return frozenset(found)


def _reports(messages: Sequence[Message], spans: Sequence[tuple[Span, ...]]) -> set[int]:
    """The messages in which the agent reports: the last that it says in a turn, with no call behind it."""
    reports: set[int] = set()
    last: int | None = None
    for at, message in enumerate(messages):
        if any(span.by == "user" for span in spans[at]):
            if last is not None:
                reports.add(last)
            last = None
        if message.role == "assistant":
            words = any(span.by == "agent" and span.text.strip() for span in spans[at])
            last = None if any(True for _ in message.calls) else at if words else last
    if last is not None:
        reports.add(last)
    return reports


def _some_lines(text: str, wanted: frozenset[str]) -> Iterator[str]:
    """The lines of an output that hold what the user or the agent wrote as well."""
    return lines_with(text, wanted, literals(text))


_TELLING = re.compile(r"[\w./-]{4,}|[\u3040-\u30ff\u3400-\u9fff]{2}")


def means(words: str, rule: str) -> bool:
    """Whether what the user takes back is a rule: half of the words that tell something in the rule stand in it again."""
    telling, said = (set(_TELLING.findall(text.lower())) for text in (rule, words))
    return bool(telling) and 2 * len(telling & said) >= len(telling)


def without_reminders(text: str) -> str:
    """A tool's answer without what the program put behind it."""
    return _REMINDER.sub("", text) if "<system" in text else text


def told_call(call: ToolCall, action: Action) -> str:
    """A call in a line: its tool, and the arguments that are no bodies of files."""
    arguments = arguments_of(call)
    if action.touches and not action.command:
        return clean(f"{call.name} {', '.join(path for _, path, _ in action.touches[:4])}")
    if isinstance(arguments, str):
        return clean(f"{call.name} {one_line(arguments, _ARGUMENT)}".strip())
    told = (
        f"{key}={_argument(value)}"
        for key, value in arguments.items()
        if key not in _BODIES and value not in ("", None)
    )
    return clean(one_line(f"{call.name} {', '.join(told)}", _CALL).strip())


def _argument(value: object) -> str:
    if isinstance(value, list):
        return "+".join(map(_argument, value))[: 2 * _ARGUMENT]
    if isinstance(value, dict):
        return " ".join(_argument(each) for each in value.values())[: 2 * _ARGUMENT]
    return one_line(str(value), _ARGUMENT)


def family(command: str) -> str:
    """What a command is an attempt at: the program and words of its last step, without pipes and flags."""
    steps = [step for step in parted_command(command[:4_000]) if not _PASSED_OVER.match(step)]
    words = (steps[-1] if steps else command[:200]).split()
    while words and ("=" in words[0] or words[0] in _WRAPPERS):
        words.pop(0)
    flags = [w for w in words[1:3] if w in ("-m",)]
    return " ".join([*words[:1], *flags, *(w for w in words[1:] if not w.startswith("-"))][:5])


def parted_command(command: str) -> list[str]:
    """The steps of a command line, parted where no quote is open; what a pipe does with their output is left out."""
    steps: list[str] = []
    for found in _STEP.finditer(command):
        step = found[0].strip()
        if step and not found[0].startswith("|"):
            steps.append(_REDIRECTED.sub("", step).strip())
    return [step for step in steps if step]


_STEP = re.compile(r"(?:\|(?!\|))?(?:\d?>&\d|&>|[^\n;&|\"'\\]|\\.|\"(?:\\.|[^\"\\])*\"|'[^']*'|\d?>&\d|&>|[\"'])+")
_REDIRECTED = re.compile(r"\s*\d?(?:>>?|<)\s*(?:&\d|[^\s|;&]+)")
_PASSED_OVER = re.compile(r"(?:cd|echo|true|exit|export|set|source|sleep|printf)\b")
_WRAPPERS = frozenset({"sudo", "time", "env", "nohup", "command", "exec", "timeout", "xargs", "rtk"})
