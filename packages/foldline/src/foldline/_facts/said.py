"""What is said in a conversation: requests, rules, statements, what was pasted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise

from foldline._clipping import cut
from foldline._facts.alarms import says_wrong, unstamped, went_wrong
from foldline._facts.assigned import assigned, said_beside
from foldline._facts.cues import (
    agrees,
    asks,
    decides,
    offers,
    option,
    points_back,
    says_back,
    says_open,
    says_when_done,
    submits,
)
from foldline._facts.failed_tests import linted
from foldline._facts.handing_in import answer_form, handing_in
from foldline._facts.language import language_of
from foldline._facts.lasting import ANSWER, lasting
from foldline._facts.literals import literals
from foldline._facts.pasted import code, specified
from foldline._facts.pieces import Pieces
from foldline._facts.plan import Plan
from foldline._facts.reported import TICKED, tells
from foldline._facts.rules import bids, case_of, is_long, only_a_case, rules_in, ruling
from foldline._facts.skills import Skill
from foldline._facts.speech import own_part, project_rules
from foldline._facts.splitting import split
from foldline._facts.steps import steps_of
from foldline._facts.texts import LONGEST, Passage, passages, said_in, sentences
from foldline._facts.told import OWNER
from foldline._facts.types import Kind, Rule, Span, UserRequest
from foldline._facts.wrappers import GIVEN, INIT, INPUT, PHASES, SKILL, TEMPLATE
from foldline._messages import replace
from foldline._patterns import pattern

REQUEST_CHARACTERS = 24_000

_STATEMENT, _STATEMENT_HEAD, _STATEMENT_TAIL = 24_000, 16_000, 8_000
"""Characters of a statement from which only its head and tail are read."""

BEHIND = 50
"""What is added to the part of an answer for the option that it chose, so that no other words have it."""

YES = 16
"""Characters of words that hardly say more than yes or no to what the agent had asked."""

_OR = pattern(r"(?:or|oder|o|ou|atau|или)\b|还是|還是|或者|それとも|아니면", re.IGNORECASE)
"""How a question begins that names another choice."""

TO = " (to “"
"""What stands between an answer and the question that it is told with."""

DECISION = 120
"""Characters of the longest line that accepts or refuses something and is told with the question."""

QUESTION = 160
"""Characters that are told of a question beside its answer."""

QUOTED = 400
"""Characters of what short words quote that belong to them."""

SUMS_UP = 60
"""Characters from which a message of the agent says what other agents found, and not only that it read them."""

LEADING = 60
"""Characters from which words before what leads in a call say something, though they name nothing."""

_CALLED_FROM, _KNOWN = pattern(r"\s*at [^\n]{1,160}:\d+:\d+\)?$"), 100
"""How a line of a trace begins that says from where something was called; the letters by which a line is known that is cut."""

_TAG_LINE = pattern(
    r"^[ \t]*</?(?:thoughts?|thinking|reasoning|reflection|analysis|observation|system_information|(?:format|response|example)_(?:example|response)"
    r"|response|answer|action|execution)>[ \t]*$",
    re.MULTILINE,
)
"""A line of an agent's that is nothing but a tag of its protocol."""

_PASTED = 8_000
"""Characters of pasted text that are searched for literals."""

_COMMAND = pattern(
    r"<command-message>[^<]*</command-message>\s*<command-name>\s*(/[\w:-]+)\s*</command-name>"
    r"|<command-name>\s*(/[\w-]+:[\w:-]+)\s*</command-name>"
    r"|\A<skill name=\"(?P<skill>[\w:.-]+)\" location=\""
)
"""A command that the user gave for the agent to carry out, as Claude Code writes it: of those for the client itself the name
stands first; and a skill, as pi writes it in the place of `/skill:name`."""

_SKILL_NAME = pattern(rf"{re.escape(SKILL)}[^\n]*[/\\]([\w:.-]+)[/\\]?[ \t]*(?:\n|$)")
"""The folder of a skill, which has its name."""

TWICE = 80
"""Characters of a task from which it is none that somebody says twice."""

LED_IN, _SAID = 600, (".", "!", "?", "…", "。", "！", "？", ")", ">", "`")
"""Characters of a paste that belongs to the words which lead it in, and how words end that lead in nothing."""

RAISED = re.compile(r"[\w.]*(?:Error|Exception|Failure)\b")

_FENCE = re.compile(r"^ *(?:```|~~~)", re.MULTILINE)
_TAG, _NUMBER = re.compile(r"</?important>"), re.compile(r"\A\d{1,2}[.)] +")

_LABEL, _LETTERS = pattern(r"\A(?:After|Before|Then|Rules?|Important|Note): ", re.IGNORECASE), re.compile(r"\w+")
"""What stands before an order that may stand without it elsewhere, and what tells two orders apart."""

_CALLED = pattern(r"/[\w:-]+")
"""A request that is the name of a command."""

_HEADING = pattern(r"^#{1,6} +\S", re.MULTILINE)
_TITLE = pattern(r"^#{2,6} +([^\n]{2,120})", re.MULTILINE)
_BEGIN = 60
"""Characters by which a sentence of instructions is found in them."""

_ENDS = ".!?:。！？："
_BODY, _BODY_SENTENCES = 1_000, 2
"""Characters and sentences that are told of what such a command says first."""


class Said:
    """Requests and rules while they are read, by their words, in the order in which they were said last and first."""

    def __init__(self, pieces: Pieces, plan: Plan) -> None:
        self.requests: dict[str, UserRequest] = {}
        self.rules: dict[str, Rule] = {}
        self._ruled: set[str] = set()
        """What the user ordered in long requests before, by its letters alone."""
        self._pieces = pieces
        self._plan = plan
        self._language = ""
        self._answers: dict[str, str] = {}
        """What the newest message answers, by its answers."""

    def ask(self, spans: Sequence[Span], at: int, *, amid: bool, questions: Sequence[str] = ()) -> bool:
        """Takes down what a message asks for, or answers to `questions`, all of it as one request; answers whether it was not asked
        for before."""
        words = requested(spans)
        self._answers = dict(_answering(spans, questions))
        size = len(words)
        if size > REQUEST_CHARACTERS:
            head, tail = words[: REQUEST_CHARACTERS * 2 // 3], words[-REQUEST_CHARACTERS // 3 :]
            words = f"{head}\n[… {size - REQUEST_CHARACTERS:,} of {size:,} characters cut …]\n{tail}"
        known = self.requests.pop(words, None)
        if known is not None:
            self.requests[words] = replace(known, times=known.times + 1, between=known.places[1:], again=at)
            self._pieces.again(known.at)
        elif words:
            whole = _with_questions(spans, questions) or _with_code(spans)
            whole = whole if len(whole) <= REQUEST_CHARACTERS else ""
            cut = size if size > REQUEST_CHARACTERS else 0
            self.requests[words] = UserRequest(words, at, cut, amid=amid, whole=whole)
        return known is None

    def read(self, span: Span, at: int, part: int, *, report: bool) -> None:
        """Reads words of anyone but a tool; `report` says that with them a turn of the agent ends."""
        text = span.text
        if words := asked(span):
            before = [piece.text for piece in self._pieces.report]
            self._words(words, at, part)
            if words not in self._answers or len(words) > ANSWER:
                given, _ = _written_out(span) or (words, "")
                self._bind(given, at, before)
            if span.by == "command" and text.lstrip().startswith(("---", "##")):
                self._steps(text, at, part, "")
            if span.by == "peer":
                self._pieces.tell_of_another(said_beside(text), at, part)
        elif span.by == "agent":
            self._statement(text, at, part, report)
        elif span.by == "command" and not text.startswith("<"):
            self._body(text, at, part)
        elif span.by == "harness" and (rules := project_rules(text)):
            heading = rules.strip().splitlines()[0]
            self.rules.setdefault(heading, Rule(heading, at, "project"))
            titles, own = [*_TITLE.finditer(rules)], len(own_part(rules))
            for each in ruling(rules):
                verbatim = each[:_BEGIN] in rules
                place = rules.find(each[:_BEGIN] if verbatim else each.partition(": ")[0][:_BEGIN])
                under = (not verbatim and case_of(each)) or _title_over(place, titles)
                who = OWNER if 0 <= place < own else ""
                self._pieces.tell(each, at, part, "rule", "harness", under=under, who=who)
        elif span.by == "peer":
            self._pieces.tell_of_another(text, at, part)
        elif span.by == "paste":
            self._paste(text, at, part)

    def order(self, text: str, at: int, part: int) -> None:
        """Tells what the words around a task order: how an answer looks, how it is handed in, and what they say else."""
        if form := answer_form(text):
            self._pieces.tell(form, at, part, "rule", "command")
        title, steps, rest = handing_in(text)
        for each in steps:
            self._pieces.tell(each, at, part, "rule", "command", under=title)
        self._orders(rest, at, part)

    def _orders(self, text: str, at: int, part: int, who: str = "") -> None:
        """Tells what a command, a skill or a template orders; of a list of boxes to be ticked nothing, which is one order as a whole."""
        last = [*dict.fromkeys(_to_come_last(text))]
        rules = [each for each in ruling(text) if not any(_TAG.sub("", each) in told and each != told for told in last)]
        for each in dict.fromkeys((*rules, *last)):
            if not each.startswith("[ ] ") and f"[ ] {_below(each)}" not in text:
                self._pieces.tell(each, at, part, "rule", "command", who=who)

    def _body(self, text: str, at: int, part: int) -> None:
        """Tells the steps and the rules in what a command says, and how it begins; a skill's name says as much."""
        if not text.startswith(SKILL):
            head = text if len(text) <= _BODY else text[: text.rfind("\n", 0, _BODY) + 1 or _BODY]
            said = (each for each in sentences(head) if not each.startswith(GIVEN) and each[-1] in _ENDS)
            for each in islice(said, _BODY_SENTENCES):
                self._pieces.tell(each, at, part, "said", "harness")
        self._steps(text, at, part, self._giver(text))

    def take_up(self, skill: Skill | None, at: int, part: int) -> None:
        """Tells the steps and the rules of a skill whose file the agent read, where it read one."""
        if skill:
            self._steps(skill.body, at, part, f"skill {skill.name}")

    def _steps(self, text: str, at: int, part: int, who: str) -> None:
        for each in steps_of(text):
            self._pieces.tell(each, at, part, "rule", "command", item=True, who=who)
        self._orders(text, at, part, who)

    def _giver(self, body: str) -> str:
        """Which skill's or command's words these are; empty where nothing says so."""
        if skill := _SKILL_NAME.match(body):
            return f"skill {skill[1]}"
        called = _CALLED.fullmatch(next(reversed(self.requests), ""))
        return called[0] if called else ""

    def _words(self, words: str, at: int, part: int) -> None:
        """Tells the user's words: a short answer with the option that it chooses."""
        report = self._pieces.report
        last = report[-1].text if report else ""
        chosen = option(words, [piece.text for piece in report])
        answers = len(words) <= ANSWER and bool(chosen or asks(last) or decides(words))
        question = self._answers.get(words, "")
        decided = len(words) <= DECISION and "\n" not in words and decides(words) and not asks(words)
        takes_up = len(words) <= YES or decided or agrees(words)
        if takes_up and not (question or chosen) and (asks(last) or offers(last)):
            question = cut(_asking(last), QUESTION)
        to = f"{TO}{question}”)" if question and (takes_up or len(words) <= ANSWER) else ""
        for each in said_in(words):
            told = each._replace(text=f"{each.text}{to}") if to else each
            self._pieces.tell_passage(told, at, part, "answer" if answers else "said", "user")
            to = ""
        if chosen and not asks(chosen):
            self._pieces.tell(chosen, at, part + BEHIND, "answer", "agent")
        self._pieces.report = []
        self._pieces.another_spoke = False

    def _bind(self, words: str, at: int, report: Sequence[str]) -> None:
        """The rules in the user's words, but for those with which they only choose what the agent's report asked; one that they take
        back, or say again with other amounts, is none any more, and what they order again for other work stands."""
        self._language = language_of(words, self._language)
        asked = next(filter(asks, report[-1:]), "").lower()
        said = [each for each in rules_in(words, self._language) if each[0].lower().rstrip(".!") not in asked]
        closed = bool(report)
        self.rules = {rule.text: rule for rule in lasting(self.rules.values(), words, said, closed=closed)}
        for text, lifetime in said:
            if lifetime not in ("standing", "task", "once"):
                continue
            if is_long(words) and _letters_of(text) in self._ruled:
                self.rules[text] = Rule(text, at, "user", "standing")
            self.rules.setdefault(text, Rule(text, at, "user", lifetime))
        self._ruled.update(_letters_of(text) for text, _ in said if is_long(words))

    def _statement(self, text: str, at: int, part: int, report: bool) -> None:
        kind: Kind = "report" if report else "thought"
        read = text if len(text) < _STATEMENT else text[:_STATEMENT_HEAD] + "\n" + text[-_STATEMENT_TAIL:]
        read = _TAG_LINE.sub("", read) if "<" in read else read
        said = list(passages(read)) if report else [*filter(None, map(_told_amid, passages(read)))]
        left = False
        language = language_of(read) if report else ""
        weighs = self._pieces.another_spoke and sum(len(each.text) for each in said) >= SUMS_UP
        self._pieces.another_spoke = False
        for i, each in enumerate(said):
            edge = report and i in (0, len(said) - 1)
            more = left and each.text[:1].islower()
            told = more or says_open(f"{each.under}:") or says_open(each.text) or (edge and asks(each.text))
            left = report and told and not TICKED.match(each.text)
            back = says_back(each.text)
            telling = tells(each.text, language) if report else ""
            marks = {"edge": edge, "open": left, "back": back, "weighs": weighs, "tells": telling}
            self._pieces.tell_passage(each, at, part, kind, "agent", **marks)
        self._plan.written(text, at)

    def _paste(self, text: str, at: int, part: int) -> None:
        """Tells of what was pasted how it begins and ends, what a linter found, and the lines that somebody wrote of."""
        if found := linted(text):
            self._pieces.tell(found[:LONGEST], at, part, "excerpt", "user")
            return
        lines = [*filter(None, map(unstamped, text.splitlines()))]
        raised = [line[:LONGEST] for line in went_wrong(lines)]
        of_calls = (line for line in self._pieces.wanted_lines(text, _PASTED) if not _CALLED_FROM.match(line))
        known = "\n".join(raised)
        wanted = [each for line in of_calls if (each := unstamped(line))[:_KNOWN] not in known]
        whole = " ".join(" ".join(lines).split())
        around = [line for line in lines if not _CALLED_FROM.match(line)] or lines
        chosen = dict.fromkeys((*around[:1], *wanted, *raised, *around[-1:]))
        for line in sorted(chosen, key=lambda line: whole.find(" ".join(line.split()).strip("… "))):
            self._pieces.tell(line[:LONGEST], at, part, "excerpt", "user")


def _told_amid(passage: Passage) -> Passage | None:
    """What is told of a line that the agent said amid its work: of its last sentence, where that leads in a call, only what takes
    something back, and nothing where the others say no more than that all is well."""
    if not passage.text.endswith((":", "：", "…")):
        return passage
    *said, leads = split(passage.text)
    text = " ".join([*said, leads.rstrip(":：…")] if says_back(leads) else said)
    says = says_back(text) or len(text) >= LEADING or literals(text)
    return passage._replace(text=text) if text and says else None


def _to_come_last(text: str) -> Iterator[str]:
    """What is ordered to be done once all else is, each with what is said of it right behind."""
    for each, behind in pairwise((*sentences(_TAG.sub("", text)), "")):
        if submits(each) or (says_when_done(each) and not only_a_case(_below(each)) and bids(each)):
            order = _NUMBER.sub("", each)
            yield f"{order} {behind}" if points_back(behind) else order


def _letters_of(rule: str) -> str:
    """A rule without the label that it stands under, in small letters and without signs."""
    return " ".join(_LETTERS.findall(_LABEL.sub("", rule).casefold()))


def _below(order: str) -> str:
    """An order without the titles over it."""
    return order.rpartition(": ")[2].removeprefix("[ ] ")


def _title_over(place: int, titles: Sequence[re.Match[str]]) -> str:
    """The title of the section in which a place of a project's instructions is; empty where that has none."""
    return next((title[1][: place - title.start(1)] for title in reversed(titles) if title.start(1) + 1 < place), "")


def _written_out(span: Span) -> tuple[str, str] | None:
    """What the user gave a command that was written out, and what the command says that is for; nothing of other words."""
    if span.by != "command":
        return None
    if begins := INIT.match(span.text):
        return (begins["given"] or "").strip(), begins["says"]
    if not (begins := INPUT.match(span.text.lstrip())):
        return None
    purpose = begins["says"].replace("**", "")
    phase = next((name for name, begun in PHASES.items() if begun.match(purpose)), "")
    given, says = begins["given"].strip(), begins["called"] or phase or cut(purpose, QUESTION)
    return "" if given == "$ARGUMENTS" else given, says


def asked(span: Span) -> str:
    """What the user asks for in a span, or who leads a team of agents: words, or a command for the agent; empty where nothing is."""
    if span.by == "peer":
        return assigned(span.text)
    if written_out := _written_out(span):
        given, says = written_out
        return f"{given} (to a command: {says})" if given else says
    if span.by == "command" and (expanded := TEMPLATE.match(span.text)):
        return f"{expanded['says']}{': ' if expanded['given'] else ''}{expanded['given'] or ''}"
    if span.by == "command" and (called := _COMMAND.search(span.text)):
        return f"/skill:{called['skill']}" if called["skill"] else (called[1] or called[2]).strip()
    return span.text if span.by == "user" else ""


def requested(spans: Sequence[Span]) -> str:
    """What the user asks for in a message; short words with the lines that they quote above them, of which they say what is wanted."""
    words = _once("\n".join(filter(None, map(asked, spans))).strip())
    above = spans[0].text if len(spans) > 1 and spans[0].by == "paste" else ""
    quoted = [line.lstrip("> ").rstrip() for line in above.splitlines() if line.strip()]
    if not (words and len(words) <= ANSWER and above.lstrip().startswith(">") and len(above) <= QUOTED):
        return words
    return "\n".join((*quoted, words))


def _with_questions(spans: Sequence[Span], questions: Sequence[str]) -> str:
    """Answers, each with the sentence that it answers; empty where some are not there."""
    return "\n".join(f"{answer}{TO}{question}”)" for answer, question in _answering(spans, questions))


def _answering(spans: Sequence[Span], questions: Sequence[str]) -> list[tuple[str, str]]:
    """Each answer and the sentence that it answers; nothing where some are not there."""
    answers = [text for span in spans if (text := asked(span))]
    asking = [cut(_asking(question), QUESTION) for question in questions]
    return [*zip(answers, asking)] if len(answers) == len(asking) else []


def _asking(question: str) -> str:
    """The last sentence of a question that asks or offers, with the one before it where it only names another choice, else the last
    one."""
    said = " ".join(question.split())
    sentences = [*split(said)] or [question]
    at = next(
        (i for i in range(len(sentences) - 1, -1, -1) if asks(sentences[i]) or offers(sentences[i])), len(sentences) - 1
    )
    if not (at and _OR.match(sentences[at])):
        return sentences[at]
    return said[said.index(sentences[at - 1]) : said.rindex(sentences[at]) + len(sentences[at])]


def is_document(words: str) -> bool:
    """Whether what a user wrote has several headings."""
    return len(_HEADING.findall(words)) > 1


def _with_code(spans: Sequence[Span]) -> str:
    """What is asked for with the blocks of code amid the words and what these lead in, as it was written, in a document with all that
    no program printed; empty where there is nothing of that."""
    blocks = specified if is_document("\n".join(span.text for span in spans if span.by == "user")) else code
    before = ("", *(span.text if span.by == "user" else "" for span in spans))
    written = [
        asked(span) or (_shown(span.text, lead, blocks) if span.by == "paste" else "")
        for span, lead in zip(spans, before)
    ]
    shown = any(text and span.by == "paste" for text, span in zip(written, spans))
    return _once("\n".join(filter(None, written)).strip()) if shown else ""


def _shown(paste: str, lead: str, blocks: Callable[[str], str]) -> str:
    """What is told of a paste amid words: its `blocks`, else where words `lead` it in it or, in no document, the error with which it
    ends."""
    return blocks(paste) or _led_in(paste, lead) or (_raised(paste, lead) if blocks is code else "")


def _led_in(paste: str, words: str) -> str:
    """A short paste that stands amid words without a fence around it, where those before it end without saying all."""
    leads = words and words.rstrip()[-1:] not in _SAID
    return paste if leads and len(paste) <= LED_IN and not _FENCE.search(paste) else ""


def _raised(paste: str, words: str) -> str:
    """The error with which a paste ends that the words before it lead in, else what a linter found, or what went wrong first in a
    log."""
    if not words.rstrip().endswith((":", "：")):
        return ""
    lines = [unstamped(line) for line in paste.splitlines() if line.strip() and not _FENCE.match(line)]
    ends = lines[-1:] if lines and RAISED.match(lines[-1]) and says_wrong(lines[-1]) else []
    wrong = ends or [*filter(None, [linted(paste)])] or went_wrong(lines)
    return f"…\n{cut(wrong[0], LED_IN)}" if wrong else ""


def _once(words: str) -> str:
    """Words without their second half where that says the first one again, as some programs write a task."""
    half, odd = divmod(len(words), 2)
    again = half >= TWICE and words[:half].strip() == words[half + odd :].strip()
    return words[:half].strip() if again else words
