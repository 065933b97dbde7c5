"""The page: what a summary says where code writes it, or where a model's one is missing.

The agent has already written the summary: each turn ends with its own report. So a page tells the task as it is now, the
rules that stand, turn after turn what the user said, what the agent reported and what its calls did, then what is open and
which files there are. Everything is quoted, in the order in which it happened.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from foldline._clipping import cut
from foldline._facts.cues import announces, leans, tells_of_its_moment, waits
from foldline._facts.folders import is_absolute, without_names
from foldline._facts.said import REQUEST_CHARACTERS
from foldline._facts.speech import clean
from foldline._facts.splitting import sentences, split
from foldline._facts.standing import answered, comes_last
from foldline._facts.told import ASKED_BEFORE, LATER, POINTER, given_by
from foldline._facts.types import FILLING, Facts, Piece, Rule, UserRequest
from foldline._messages import replace
from foldline._page.aloud import found_aloud
from foldline._page.asides import asides_apart
from foldline._page.choosing import FILLED, READ, Candidate, Scale, candidates, choose, is_bare, terms, told_again
from foldline._page.drafts import drafts
from foldline._page.earlier import dated
from foldline._page.excerpts import beside_errors
from foldline._page.experiments import experiments
from foldline._page.files import few_files, files, named_once
from foldline._page.kept import kept
from foldline._page.layout import laid_out, without_code
from foldline._page.loops import counted
from foldline._page.orders import instructed
from foldline._page.plain import plain
from foldline._page.progress import with_progress
from foldline._page.quoting import bare, quoted, safe, shorten, size, wanted
from foldline._page.records import readable
from foldline._page.remedies import has_remedy, with_remedies
from foldline._page.repeated import repeated
from foldline._page.reports import AT_LENGTH
from foldline._page.small_talk import small_talk
from foldline._page.state import ending, first_steps, state, unchecked
from foldline._page.superfluous import idle, left_to_files, not_made, reported_on, settled, unanswered
from foldline._page.supposed import supposed
from foldline._page.task import Task, below, missing, over_below, rules, task
from foldline._page.timeline import FRAME, HARDLY_ANY, Timeline
from foldline._page.tries import failed_silently, tried
from foldline._page.turns import Turns
from foldline._page.wholes import without_beginnings
from foldline._page.written import as_written, code_words
from foldline._patterns import pattern
from foldline._tokens.estimate import estimate
from foldline._view import Brief

TASK, RULES, STATE, FILES = 0.6, 0.3, 0.2, 0.14
"""The shares of a page that its parts may take; what they leave is the timeline's."""

COMMAND_LINE = 140
"""Characters of a command where no budget is to be filled."""

LISTED_FILES = 600
"""Tokens of the files where no budget is to be filled."""

LISTED = 0.6
"""The share that the rules take of a page at most: who reads it would rather have all of them than more of what happened."""

FOCUS = 3.0
"""What a word of the user's focus adds to what a piece says."""

WHOLE_TASK = 0.8
"""The share of a page up to which the task is never cut."""

LEAST_TASK = 24
"""Tokens that the task has however small the page is."""

LEAST_ASKED = 64
"""Tokens of a page from which it tells what was wanted before the request that stands behind it, whatever that says."""

RULES_FROM = 5_000
"""The rules' share grows with the page, up to its most at a third of so many tokens."""

NUMBERED = 1_000
"""Tokens from which turns are numbered."""

LEAST_LINE = 24
"""Tokens from which of a line of the state the beginning is told."""

LEAST_CUT = 9
"""Tokens from which the beginning of one more piece is told."""

HAPPENED = "What happened"

_WORDS = pattern(r"\w+")
_NUMBER = pattern(r"^\(?\d{1,2}[.)]\s+")

PLANNED, MOSTLY_TOLD = 8, 0.7
"""The pieces of a report from which it may be a plan, and the share of them that the task tells of one that it tells."""

SMALL = 600
"""Tokens below which rules are told where they were said, and a part of one line has no heading."""

OFTEN = 3
"""How often a request was said, word for word, that has no place of its own on a small page that is to be filled, once it is answered."""

FEW_LETTERS = 24
"""Characters up to which it costs nothing to tell it all the same."""

HEADED = 250
"""Tokens below which nothing has a heading."""


def compose(brief: Brief, facts: Facts) -> str:
    """Facts as text of at most `brief.max_tokens`; where not all rules are told where they were said, a small page lists them.

    A page that fills a hard budget is all that is left of what it stands for: it tells more kinds of pieces, letter by letter.
    """
    facts = replace(facts, pieces=tuple(asides_apart(facts)))
    facts = _for_filling(facts) if brief.fills else plain(_for_reading(facts))
    standing = rules(facts, brief.after)
    listed = listing(standing, brief.max_tokens)
    if brief.max_tokens >= SMALL:
        return _told(brief, facts, max(listed, int(brief.max_tokens * min(RULES, brief.max_tokens / RULES_FROM))))
    text = _told(brief, facts, 0)
    flat = " ".join(text.split())
    if all(" ".join(safe(rule.text).split()) in flat for rule in standing):
        return text
    apart = _told(brief, facts, listed)
    tiny = brief.max_tokens < HARDLY_ANY
    return max(apart, text, key=lambda each: _known_of(standing, each)) if tiny else apart


def _known_of(standing: Sequence[Rule], text: str) -> int:
    """How many words of rules that stand a text says."""
    said = {*_WORDS.findall(text)}
    return sum(len(said.intersection(_WORDS.findall(rule.text))) for rule in standing)


def _for_reading(facts: Facts) -> Facts:
    """The facts without what the agent wrote into files, where it stands to be read, without what only says how it called, with
    long commands cut, and with calls and names that come over and over told once; with the files that the agent changed behind
    them: a bare name beside whole paths says not where."""
    facts = replace(facts, pieces=tuple(with_remedies(facts)))
    known = {file.path for file in facts.files}
    changed = (f for f in facts.latest.files if f.changed and f.by == "" and f.path not in known)
    behind = (file for file in changed if "/" in file.path or not any(map(is_absolute, known)))
    over = _overtaken(facts)
    told = named_once([_in_short(p) for i, p in enumerate(facts.pieces) if p.kind not in FILLING and i not in over])
    facts = replace(facts, pieces=tuple(told), files=(*facts.files, *behind))
    facts = replace(facts, pieces=tuple(found_aloud(facts)))
    facts = replace(facts, pieces=tuple(dated(facts)))
    return replace(facts, pieces=tuple(laid_out(readable(without_code(facts, counted(facts))))))


def _overtaken(facts: Facts) -> set[int]:
    """The places of what only tells how work stood then: sentences of a report, but for its first, where something was changed
    since, and what was said amid the work, where the agent went on."""
    worked = max((p.at for p in facts.latest.pieces if p.kind == "change"), default=-1)
    beside = ((i, p) for i, (before, p) in enumerate(pairwise(facts.pieces), 1) if before.at == p.at < worked)
    said = ((i, p) for i, p in beside if p.kind == "report" and not p.open)
    went_on = max((p.at for p in facts.latest.pieces if p.by in ("agent", "tool")), default=-1)
    amid = ((i, p) for i, p in enumerate(facts.pieces) if p.kind == "thought" and p.at < went_on)
    over = {i for i, p in said if all(map(tells_of_its_moment, split(p.text)))}
    return over | {i for i, p in amid if _waits(p)}


def _waits(amid: Piece) -> bool:
    """Whether words amid the work only tell how that stood when they were said, and what their speaker does meanwhile."""
    first, *others = split(bare(amid))
    return waits(first) and all(waits(each) or announces(each) or leans(each) for each in others)


def _for_filling(facts: Facts) -> Facts:
    """The facts without the steps of commands, the names of other agents, headings, the names of columns and the sections of
    earlier summaries, where what happened needs the room."""
    told = (piece for piece in facts.pieces if not (piece.kind == "rule" and piece.item))
    pieces = (replace(p, who="", over="", columns="", depth=0 if p.section else p.depth, section="") for p in told)
    return replace(facts, pieces=tuple(pieces))


def _in_short(piece: Piece) -> Piece:
    call, arrow, told = piece.text.partition("` → ")
    if piece.by != "tool" or not piece.text.startswith("`") or len(call) <= COMMAND_LINE:
        return piece
    return replace(piece, text=f"{cut(call.removesuffix('`'), COMMAND_LINE)}{arrow or '`'}{told}")


def _told(brief: Brief, facts: Facts, apart: int) -> str:
    """The page, on which rules that are told apart have so many tokens."""
    page = Page(max(brief.max_tokens - (0 if brief.fills else _spared(facts, brief)), 0))
    wants = _wants(brief, facts)
    standing = [r for r in rules(facts, brief.after) if page.is_small or r.text not in wants.words]
    held = apart if apart or not brief.after else listing(standing, page.budget)
    said = _add_task(page, brief, facts, wants, page.budget - (held if page.is_small else 0))
    if apart:
        bound = [r for r in standing if (brief.fills and r.lifetime != "task") or not _in(said, r.text)]
        pending = () if page.is_small else instructed(facts, wants.words, brief.after)
        page.add("Rules that stand", binding(pending, bound, apart, facts))
    _add_state(page, brief, facts, said)
    files_room = int(page.budget * FILES)
    page.add("Files", _files(facts, files_room) if brief.fills else _few_files(facts, files_room))
    found = _found(brief, facts, wants, () if apart else standing, said)
    if apart and not brief.fills:
        found = _unlisted(found, page.parts.get("Rules that stand", ()))
    turns = Turns(facts, wants.words, _scale(brief), numbered=page.budget >= NUMBERED)
    timeline = Timeline(facts, found, _known(page, facts), turns, brief.fills)
    timeline.tell(page.room)
    page.add(HAPPENED, timeline.lines())
    page.grow(timeline)
    if brief.fills:
        page.widen("Files", _files(facts, files_room, page.room - FRAME))
    return page.text()


def _spared(facts: Facts, brief: Brief) -> int:
    """Tokens that a page need not have which leaves drafts to the files that have them: what else was said has no more to say."""
    gone = estimate("\n".join(facts.pieces[i].text for i in sorted(drafts(facts))))
    return min(gone, brief.max_tokens // 2)


def _wants(brief: Brief, facts: Facts) -> Task:
    """What the user wants, where a small page has a place for it beside what was said since."""
    wants = task(facts, brief.after)
    often = any(r.times >= OFTEN and len(r.text) > FEW_LETTERS and r.text in wants.words for r in facts.requests)
    over = often and brief.fills and brief.max_tokens < SMALL and answered(facts.latest)
    return Task([]) if over or (brief.max_tokens < LEAST_ASKED and brief.after) else wants


def _add_task(page: Page, brief: Brief, facts: Facts, wants: Task, free: int) -> str:
    """Puts the focus and the task on a page, which has so many tokens `free` for it, and answers what they say."""
    focus = _focus(brief)
    first = [shorten(f"Focus: {safe(focus)}", max(page.budget // 8, 20))] if focus else []
    written = wants if brief.fills else as_written(facts, wants)
    whole = size(quoted(written.words, page.budget))
    least = whole if whole <= page.budget * WHOLE_TASK else 0
    now = wanted(*written, max(int(free * TASK), min(page.budget, LEAST_TASK), least))
    if not page.is_small:
        now = [*over_below(facts, wants.words), *now, *missing(facts, wants.words)]
        first += map(safe, below(facts, brief.after, wants, in_short=bool(brief.fills)))
    page.add("", [*first, *([] if wants.words else now)])
    page.add("Task now", now if wants.words else [])
    above = (*page.parts.get("", ()), *page.parts.get("Task now", ()))
    return "\n".join(line for line in above if not line.startswith(ASKED_BEFORE))


def _add_state(page: Page, brief: Brief, facts: Facts, said: str) -> None:
    """Puts on a page how things stand, but for what its task has `said`."""
    room = int(page.budget * STATE)
    ends = () if page.is_small or brief.after else ending(facts)
    since = () if page.is_small else unchecked(facts)
    stands = [text for text in (*ends, *since, *state(facts, brief.after)) if text not in said]
    stands = stands if brief.fills else with_progress(stands, facts, room)
    page.fill("State", [f"- {safe(text)}" for text in first_steps(stands, room)], room)
    if (lines := page.parts.get("State")) and facts.goes_on and not page.is_small:
        page.add("State", [LATER, *lines])


def _found(brief: Brief, facts: Facts, wants: Task, standing: Sequence[Rule], said: str) -> list[Candidate]:
    """The pieces that a page may tell beside the task, which has `said` some of them."""
    found = candidates(facts.pieces, dict.fromkeys(terms(_focus(brief)), FOCUS), standing, _scale(brief))
    passing = idle(facts) | unanswered(facts) | small_talk(facts)
    over = settled(facts) | (passing if brief.fills else passing - kept(facts, passing))
    if not brief.fills:
        over -= failed_silently(facts)
        over |= (
            beside_errors(facts)
            | reported_on(facts)
            | repeated(facts, found)
            | supposed(facts)
            | left_to_files(facts)
            | tried(facts)
        )
        over |= drafts(facts)
        over = without_beginnings(facts.pieces, over - experiments(facts) - not_made(facts))
    over -= {e.place for e in found if has_remedy(e.piece)}
    own, shown = _asked_in(facts, wants), {} if brief.fills else code_words(facts, wants)
    found = [e for e in found if e.place not in over and not _in_task(e.piece, own, f"{said}\n", brief.fills)]
    found = [e for e in found if not _shown(e.piece, shown) and e.piece.kind != "rule"]
    if brief.fills:
        return found
    silent = not any(piece.by == "agent" for piece in facts.pieces)
    found = [e for e in found if silent or not is_bare(e.piece)]
    elsewhere = told_again(found) | _said_above(facts, said)
    return [e for e in found if e.place not in elsewhere]


def _unlisted(found: Sequence[Candidate], rules: Iterable[str]) -> list[Candidate]:
    """What was found without the lists of the user's messages that stand among the rules as a whole."""
    ruled = {line.strip().removeprefix("- ") for line in rules}
    lists: dict[tuple[int, str], list[Candidate]] = {}
    for each in found:
        if each.piece.by == "user" and each.piece.item:
            lists.setdefault((each.piece.at, each.piece.under), []).append(each)
    told = (some for some in lists.values() if all(_unnumbered(bare(each.piece)) in ruled for each in some))
    over = {each.place for some in told for each in some}
    return [each for each in found if each.place not in over]


def _unnumbered(item: str) -> str:
    return safe(" ".join(_NUMBER.sub("", item).split()))


def _known(page: Page, facts: Facts) -> set[str]:
    """The terms that a page says already, the folders of its files among them; what was touched in a file takes nothing from the
    words that say why."""
    listed = without_names("\n".join(page.parts.get("Files", ())))
    others = (line for part, lines in page.parts.items() if part not in ("", "Files") for line in lines)
    paths = (file.path for file in facts.files if file.path.rpartition("/")[2] in listed)
    return {term for text in ("\n".join(others), listed, *paths) for term in terms(text)}


def _scale(brief: Brief) -> Scale:
    return FILLED if brief.fills else READ


def _focus(brief: Brief) -> str:
    return " ".join(clean(brief.focus).split())


def _said_above(facts: Facts, now: str) -> set[int]:
    """The places of the report that the task as it is told holds as a whole, and of what the agent said on the way to it, but for
    what it worked out at length."""
    reports: dict[int, list[int]] = {}
    thoughts: dict[int, list[int]] = {}
    for i, piece in enumerate(facts.pieces):
        if piece.kind in ("report", "thought"):
            (reports if piece.kind == "report" else thoughts).setdefault(piece.at, []).append(i)
    held = [
        at for at, places in reports.items() if len(places) > 1 and all(bare(facts.pieces[i]) in now for i in places)
    ]
    over = {i for at in held for i in reports[at]} | _told_in_part(facts, reports.values(), now)
    for at in held:
        begun = max((r.newest for r in facts.requests if r.newest < at), default=-1)
        way = (places for said, places in thoughts.items() if begun < said < at)
        over.update(i for places in way if len(places) < AT_LENGTH for i in places)
    return over


def _told_in_part(facts: Facts, reports: Iterable[Sequence[int]], now: str) -> set[int]:
    """The places of what the task tells of longer reports that it tells for the most part: a plan behind words that lead it in."""
    over: set[int] = set()
    for places in reports:
        told = {i for i in places if bare(facts.pieces[i]) in now} if len(places) >= PLANNED else set[int]()
        over |= told if len(told) > MOSTLY_TOLD * len(places) else set()
    return over


def _asked_in(facts: Facts, wants: Task) -> dict[int, set[str] | None]:
    """The words of the requests that the task tells, by the messages that say them; None for one that is known in part."""
    told = [request for request in facts.requests if request.text in wants.words]
    whole = {r.text: {*_WORDS.findall(r.text)} for r in told if len(r.text) < REQUEST_CHARACTERS}
    return {at: whole.get(request.text) for request in told for at in (request.at, request.newest)}


def _in_task(piece: Piece, asked: Mapping[int, set[str] | None], now: str, fills: object) -> bool:
    """Whether the task says a piece, an answer or words of a request of its own; on a page that fills its budget what was cut
    of the request is told where it was said."""
    if piece.kind == "answer":
        return f" {piece.text}\n" in now
    if piece.by != "user" or piece.kind != "said" or piece.at not in asked:
        return False
    words = asked[piece.at]
    if not fills:
        return words is None or words.issuperset(_WORDS.findall(piece.text))
    bare = piece.text.removeprefix(f"{piece.under}: ") if piece.item else piece.text.partition(": ")[2] or piece.text
    return bare in now or piece.text in now


def _shown(piece: Piece, code: Mapping[int, set[str] | None]) -> bool:
    """Whether a line that was pasted stands in the code of a request that the task tells, or amid a document that it tells."""
    if piece.by != "user" or piece.kind != "excerpt" or piece.at not in code:
        return False
    words = code[piece.at]
    return words is None or words.issuperset(_WORDS.findall(piece.text))


def _in(asked: str, rule: str) -> bool:
    """Whether what was asked says a rule, with what stands over its list or below that."""
    return rule in asked or (": " in rule and all(part in asked for part in rule.split(": ", 1)))


def _files(facts: Facts, room: int, spare: int = 0) -> list[str]:
    return [f"- {safe(text)}" for text in files(facts, room, spare=spare)]


def _few_files(facts: Facts, room: int) -> list[str]:
    return [f"- {safe(text)}" for text in few_files(facts, min(room, LISTED_FILES))]


def binding(pending: Sequence[Piece], standing: Sequence[Rule], room: int, facts: Facts) -> list[str]:
    """What instructions order of what is pending and the rules as lines, oldest first.

    All rules stand there where they have room, those of a list below the line over it. Where not, what comes once all is
    done comes first, then what says most for its length.
    """
    orders = [replace(p, text=f"{given_by(p)}{' '.join(p.text.split())}") for p in pending]
    alone = [r for r in standing if not any(other.text.startswith(f"{r.text.rstrip(' .!')} (") for other in standing)]
    rules = [Piece(_ruling(r), r.at, 0, "harness" if r.by == "project" else "user", "rule") for r in alone]
    needed = lengths(rules)
    every = needed <= room
    room -= needed if every else 0
    found = candidates([*orders, *([] if every else rules)])
    told = set[str]()
    chosen = choose([each for each in found if comes_last(each.piece)], room, told, facts.end)
    room -= sum(each.cost for each in chosen)
    chosen += choose([each for each in found if each not in chosen], room, told, facts.end)
    lines = [each.piece for each in sorted(chosen, key=lambda each: each.place)]
    return [*_headed([*lines, *(rules if every else ())], facts.requests)]


def _headed(rules: Sequence[Piece], requests: Sequence[UserRequest]) -> Iterator[str]:
    """Rules as lines, the items of a list below the line or the title over it, where that is one as well."""
    said = [each for words in {r.at: r.text for r in requests}.values() for each in sentences(words) if each.item]
    under = {each.text: _bare(each.under) for each in said}
    leads = {*under.values(), ""}
    above = ""
    for rule in rules:
        text = " ".join(rule.text.split())
        below = above != "" and under.get(rule.text) == above
        if not below:
            above = _bare(text) if rule.by == "user" and _bare(text) in leads else ""
        yield f"{'  ' if below else ''}- {safe(text)}{':' if above and not below and _bare(text) == text else ''}"


def _bare(title: str) -> str:
    return " ".join(title.split()).rstrip(":： ")


def listing(standing: Iterable[Rule], budget: int) -> int:
    """The tokens that rules take of a page where they are listed."""
    return min(int(budget * LISTED), lengths(standing))


def lengths(standing: Iterable[Rule | Piece]) -> int:
    """The tokens that rules take where they are told."""
    return sum(estimate(rule.text) + FRAME for rule in standing)


def _ruling(rule: Rule) -> str:
    """A rule's words, or the line that points to the project's own ones."""
    return POINTER.format(rule.text.lstrip("# ")) if rule.by == "project" else rule.text


class Page:
    """The parts of a page, and the tokens that are left of its budget."""

    ORDER = ("", "Task now", "Rules that stand", HAPPENED, "State", "Files")

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.parts: dict[str, list[str]] = {}

    @property
    def is_small(self) -> bool:
        """Whether it is so small that rules are told where they were said."""
        return self.budget < SMALL

    @property
    def room(self) -> int:
        """Tokens that are left."""
        return self.budget - estimate(self._render())

    def add(self, part: str, lines: Sequence[str]) -> None:
        """Puts lines under a heading, where there are any."""
        if lines:
            self.parts[part] = list(lines)

    def widen(self, part: str, lines: Sequence[str]) -> None:
        """Puts longer lines in place of a part's, where the page has room for them."""
        before = self.parts.get(part, [])
        self.add(part, lines)
        if self.room < 0:
            self.add(part, before)

    def fill(self, part: str, lines: Sequence[str], room: int) -> None:
        """Puts as many of the lines under a heading as fit, the newest ones where not all do."""
        kept: list[str] = []
        for line in reversed(lines):
            line = shorten(line, room - 1) if not kept and room > LEAST_LINE else line
            room -= estimate(line) + 1
            if room < 0:
                break
            kept.insert(0, line)
        self.add(part, kept)

    def lines(self) -> Iterable[str]:
        """All lines that stand on the page, but for the user's focus."""
        return (line for part, lines in self.parts.items() for line in lines if part)

    def grow(self, timeline: Timeline) -> None:
        """Uses what is left of the budget: estimates of pieces sum up to more than their text."""
        self._tell_more(timeline)
        self._tell_less(timeline)
        room = self.room if self.budget < SMALL else 0
        if room >= LEAST_CUT and (cut := timeline.beginning(room)):
            self.add(HAPPENED, timeline.lines(cut))
            if self.room < 0:
                self.add(HAPPENED, timeline.lines())

    def _tell_more(self, timeline: Timeline) -> None:
        """Tells more pieces while there is room."""
        wanted_now = "\n".join(self.parts.get("Task now", ()))
        for _ in range(3):
            room = self.room
            if room < max(12, self.budget // 50) or not timeline.tell_more(room, wanted_now):
                break
            self.add(HAPPENED, timeline.lines())

    def _tell_less(self, timeline: Timeline) -> None:
        """Leaves out what was chosen last and has no room: what costs as much as there is too much, and of that again what fits."""
        out: list[Candidate] = []
        while (over := -self.room) > 0 and timeline.chosen:
            out += timeline.leave_out(over)
            self.add(HAPPENED, timeline.lines())
        while out and self.room >= 0:
            timeline.chosen.append(out.pop())
            self.add(HAPPENED, timeline.lines())
        if self.room < 0 and timeline.chosen:
            timeline.chosen.pop()
            self.add(HAPPENED, timeline.lines())

    def _headed(self, part: str) -> bool:
        """Whether a part has a heading: on a small page the task and what follows it, and other parts of several lines."""
        first = [name for name in self.ORDER if name and self.parts.get(name)][:2]
        least = HEADED if part in first or len(self.parts[part]) > 1 else SMALL
        return bool(part) and self.budget >= least

    def text(self) -> str:
        """The page as Markdown."""
        text = self._render()
        return text if estimate(text) <= self.budget else shorten(text, self.budget)

    def _render(self) -> str:
        blocks = []
        for part in self.ORDER:
            if lines := self.parts.get(part):
                blocks.append("\n".join((f"## {part}", *lines) if self._headed(part) else lines))
        return clean("\n\n".join(blocks) if self.budget >= SMALL else "\n".join(blocks))
