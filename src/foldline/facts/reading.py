"""One pass over messages that gathers their facts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from foldline.facts.corrections import contrasts, corrects, is_telling, same_label, stated
from foldline.facts.kinds import values_in
from foldline.facts.later import heard
from foldline.facts.literals import line_around, literals, need, without_span
from foldline.facts.outcomes import Outcome, edges, outcome
from foldline.facts.pasted import without_output
from foldline.facts.sentences import MAX_SENTENCE, binds, binds_hard, kind_of, sentences, unfenced
from foldline.facts.speech import clean, own_words, project_rules
from foldline.facts.tool_calls import Action, read_action
from foldline.facts.types import (
    Command,
    Constraint,
    Fault,
    File,
    FileState,
    Identifier,
    Labelled,
    Note,
    Request,
    Retired,
    Speaker,
    Todo,
)
from foldline.messages import Message, Text, Thinking, ToolCall, ToolResult, replace

REQUEST_CHARS = 12_000
_SCANNED_RESULTS = 600_000
"""Characters of tool outputs that are searched for literals, of each its head and tail."""

_COMMIT = re.compile(
    r"git\b(?>[^\n|;&]{0,300}?\bcommit\b)(?>[^\n]{0,300}?-m)\s*(?:\"\$\(cat <<\W?\w+\W?\n)?[\"']?([^\n\"]{6,200})"
)
"""Each stretch is bounded and taken once: a line of `git` and `commit` over and over is tried in every pairing otherwise."""
_CHECKBOX = re.compile(r"^\s*[-*] \[([ xX])\] (.{3,200})$", re.MULTILINE)
_DIGIT = re.compile(r"\d\w")
_NUMBERED = re.compile(r"#(\d+)\b")
_PREFIX = re.compile(r"^\s*(?:cd\s+[^\s;&|]+\s*(?:&&|;)\s*)+")
_CUT = re.compile(r"\s*(?:2>&1|\|\s*(?:tail|head|grep|tee|sort|wc|cat|less)\b.*|>\s*/dev/null.*)", re.DOTALL)


class Reading:
    """The facts of a run of messages while they are gathered."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.end = len(messages)
        self.files: dict[str, File] = {}
        self.commands: dict[str, Command] = {}
        self.faults: dict[tuple[str, str], Fault] = {}
        self.passed: dict[str, int] = {}
        self.requests: dict[str, Request] = {}
        self.constraints: dict[str, Constraint] = {}
        self.todos: list[Todo] = []
        self.plan_at: int | None = None
        self.notes: dict[str, Note] = {}
        self.labelled: list[Labelled] = []
        self.retired: list[Retired] = []
        self.words: dict[str, list[float]] = {}
        self._asked, self._asked_at = "", -1
        self._texts: list[str] = []
        self._calls: dict[str, tuple[ToolCall, Action]] = {}
        self._edge = max(
            1_000, min(12_000, _SCANNED_RESULTS // (2 * (1 + sum(1 for m in messages for _ in m.results))))
        )
        answered = {result.call_id for message in messages for result in message.results}
        for at, message in enumerate(messages):
            for part in message.parts:
                if type(part) is Text:
                    self._read_text(message.role, (clean if message.role == "user" else heard)(part.text), at)
                elif type(part) is ToolCall:
                    self._read_call(part, at, part.id not in answered)
                elif type(part) is ToolResult:
                    self._read_result(part, at)
                elif type(part) is Thinking and part.text:
                    self._see(heard(part.text[:1_000] + part.text[-2_000:]), at, 0.7)

    # -- words ---------------------------------------------------------------------------------------------------

    def _read_text(self, role: str, text: str, at: int) -> None:
        if role == "user":
            if rules := project_rules(text):
                self._keep_rules(rules, at)
            if words := own_words(text):
                self._read_request(words, at)
            else:
                self._see(text[:12_000], at, 1.0)
        elif role == "assistant" and text.strip():
            self._read_statement(text, at)

    def _keep_rules(self, rules: str, at: int) -> None:
        for sentence in sentences(rules):
            if binds_hard(sentence):
                self.constraints.setdefault(sentence, Constraint(sentence, at, "project"))

    def _read_request(self, words: str, at: int) -> None:
        size = len(words)
        self._asked, self._asked_at = words, at
        if size > REQUEST_CHARS:
            head, tail = words[: REQUEST_CHARS * 2 // 3], words[-REQUEST_CHARS // 3 :]
            words = f"{head}\n[… {size - REQUEST_CHARS:,} of {size:,} characters cut …]\n{tail}"
        first = self.requests[words].first if words in self.requests else not self.requests
        self.requests.pop(words, None)
        self.requests[words] = Request(words, at, size if size > REQUEST_CHARS else 0, first)
        self._see(words[:6_000] + words[-2_000:] if size > 8_000 else words, at, 3.0 if size < 4_000 else 1.5)
        for sentence in sentences(words) if size < 2_000 else ():
            self._read_corrections(sentence, at, "user")
        for sentence in sentences(without_output(unfenced(words))):
            if binds(sentence):
                self.constraints.pop(sentence, None)
                self.constraints[sentence] = Constraint(sentence, at)

    def _read_statement(self, text: str, at: int) -> None:
        self._see(text if len(text) < 12_000 else text[:8_000] + text[-4_000:], at, 2.0)
        asked = self._asked if at == self._asked_at + 1 else ""
        last = ""
        for sentence in sentences(text):
            if asked and _takes_up(sentence, asked):
                continue
            last = sentence
            if kind := kind_of(sentence):
                self.notes.pop(sentence, None)
                self.notes[sentence] = Note(sentence, kind, at)  # type: ignore[arg-type]
            if len(sentence) <= 200 and _DIGIT.search(sentence):
                self._read_corrections(sentence, at, "assistant")
        if last and len(last) >= 8 and last not in self.notes:
            self.notes[last] = Note(last[:600], "state", at)
        for found in _CHECKBOX.finditer(text) if "- [" in text or "* [" in text else ():
            status = "pending" if found[1] == " " else "done"
            self._put_todo(Todo(found[2].strip(), status, at=at))  # type: ignore[arg-type]

    def _read_corrections(self, sentence: str, at: int, by: Speaker) -> None:
        cue = corrects(sentence)
        stale = list(contrasts(sentence)) if cue else []
        self.retired += (Retired(old, new, at, by) for old, new in stale)
        gone = {old for old, _ in stale}
        for label, value in stated(sentence):
            if value not in gone:
                self.labelled, retired = settle(self.labelled, Labelled(label, value, at, cue, by))
                self.retired += retired

    # -- tools ---------------------------------------------------------------------------------------------------

    def _read_call(self, call: ToolCall, at: int, alone: bool) -> None:
        action = read_action(call)
        self._calls[call.id] = (call, action)
        text = heard(action.words)
        self._see(text if len(text) < 9_000 else text[:6_000] + text[-3_000:], at, 2.0)
        if alone:
            self._settle(call, action, Outcome(), at)

    def _read_result(self, result: ToolResult, at: int) -> None:
        text = heard(edges(result))
        self._see(heard(edges(result, self._edge)), at, 1.0)
        call, action = self._calls.get(result.call_id, (None, None))
        if call is None or action is None:
            return
        self._settle(call, action, outcome(result, text, bool(action.command)), at, text)

    def _settle(self, call: ToolCall, action: Action, end: Outcome, at: int, answer: str = "") -> None:
        """Books what a call did, now that its end is known."""
        certain = not end.failed or (action.shell_only and len(action.touches) > 1)
        for verb, path, to in action.touches if certain else ():
            self.touch(verb, heard(path), at, heard(to))
        if action.plan is not None and not end.failed:
            self._read_plan(action, at, answer)
        source = one_line(heard(action.command), 240) or heard(f"{call.name} {_first_path(action)}").strip()
        key = family(heard(action.command)) if action.command else source
        if action.command:
            old = self.commands.pop(source, None)
            ended = "" if not answer and not end.exit else "failed" if end.failed else "ok"
            ended = f"exit {end.exit}" if end.failed and end.exit else ended
            self.commands[source] = Command(source, ended, end.note, 1 + (old.count if old else 0), at)
            if not end.failed and (commit := _COMMIT.search(action.command)):
                text = f"git commit: {commit[1].strip()}"
                self.notes[text] = Note(text, "done", at)
        if end.failed and end.fault:
            self.faults.pop((key, end.fault), None)
            self.faults[key, end.fault] = Fault(end.fault, source[:160], key, seen=at)
        elif not end.failed and answer:
            self.passed[key] = at
            for mark, fault in self.faults.items():
                if fault.key == key:
                    self.faults[mark] = replace(fault, resolved=True)

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
            self._put_todo(Todo(heard(text), status or "pending", id, at), bool(status))  # type: ignore[arg-type]

    def _put_todo(self, todo: Todo, known: bool = True) -> None:
        self.todos = with_todo(self.todos, todo, known)

    # -- literals ------------------------------------------------------------------------------------------------

    def _see(self, text: str, at: int, weight: float) -> None:
        index = len(self._texts)
        self._texts.append(text)
        words = self.words
        for word in literals(text):
            record = words.get(word)
            if record is None:
                words[word] = [1, at, weight, index, weight]
            else:
                record[0] += 1
                record[1] = at
                record[2] += weight
                if weight >= record[4] or weight >= 2.0:
                    record[3], record[4] = index, weight

    def identifiers(self, limit: int) -> list[Identifier]:
        """The literals most worth keeping, each with the line that it stood in."""

        def score(item: tuple[str, list[float]]) -> float:
            word, (count, seen, weight, _, _) = item
            return need(word, count, weight, self.end - seen)

        best = sorted(self.words.items(), key=score, reverse=True)[:limit]
        return [
            Identifier(
                word,
                int(count),
                int(seen),
                round(weight, 1),
                line_around(self._texts[int(index)], word) if rank < 300 else "",
            )
            for rank, (word, (count, seen, weight, index, _)) in enumerate(best)
        ]


MOST_LABELLED = 120
"""Labelled values that are watched for corrections at a time, newest first: each new one is held against all of them."""


def _takes_up(sentence: str, words: str) -> bool:
    """Whether an answer's sentence has no value but those of the words that it answers, which are quoted anyway."""
    found = values_in(sentence) if len(sentence) <= MAX_SENTENCE else {}
    return bool(found) and all(value in words for value in found)


def drop_inside(folder: str, files: dict[str, File], at: int) -> None:
    """Books the files of a deleted folder as deleted with it."""
    inside = folder.rstrip("/") + "/"
    for path, file in files.items():
        if path.startswith(inside) and path != folder and file.state != "deleted":
            actions = {**file.actions, "deleted": file.actions.get("deleted", 0) + 1}
            files[path] = replace(file, state="deleted", actions=actions, seen=at)


def known_as(path: str, files: Mapping[str, File]) -> str:
    """The path under which a file is known already: of `src/a.py` and `/x/src/a.py` the one that was seen first."""
    if path in files:
        return path
    if "/" not in path or f"{path}/" in files:
        return f"{path}/" if f"{path}/" in files else path
    if path.startswith("/"):
        same = [
            known for known in files if "/" in known and not known.startswith(("/", "~")) and path.endswith(f"/{known}")
        ]
    else:
        tail = f"/{path}"
        same = [known for known in files if known.endswith(tail)]
    return same[0] if len(same) == 1 else path


def settle(labelled: list[Labelled], new: Labelled) -> tuple[list[Labelled], list[Retired]]:
    """The labelled values with a new one among them, and what it retires."""
    gone: list[Retired] = []
    kept: list[Labelled] = []
    for old in labelled:
        if not same_label(old.label, new.label) or old.at > new.at:
            kept.append(old)
        elif old.value != new.value:
            if new.corrects and is_telling(old.value):
                gone.append(Retired(old.value, new.value, new.at, new.by))
            elif not new.corrects:
                kept.append(old)
    return [*kept[-MOST_LABELLED:], new], gone


def with_todo(todos: list[Todo], todo: Todo, known: bool = True) -> list[Todo]:
    """The plan with one item added or brought to its new state."""
    for i, old in enumerate(todos):
        if (todo.id and old.id == todo.id) or (todo.text and old.text == todo.text):
            status = todo.status if known else old.status
            merged = replace(todo, text=todo.text or old.text, status=status, id=todo.id or old.id)
            return [*todos[:i], merged, *todos[i + 1 :]]
    return [*todos, todo]


def one_line(text: str, width: int) -> str:
    """A text on one line, cut to a width."""
    text = " ".join(text[: width * 4].split())
    return text if len(text) <= width else text[: width - 1] + "…"


def family(command: str) -> str:
    """What a command is an attempt at: its program and first words, without directory, pipes and flags."""
    bare = _CUT.sub("", _PREFIX.sub("", command[:2_000]).split("\n", 1)[0])
    words = [w for w in bare.split() if not w.startswith("-")]
    return " ".join(words[:3])


def _first_path(action: Action) -> str:
    return action.touches[0][1] if action.touches else ""
