"""One pass over messages that reads their facts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise

from foldline._facts.assigned import said_beside
from foldline._facts.attachments import attached
from foldline._facts.chitchat import asks
from foldline._facts.cues import announces, leans, offers
from foldline._facts.drafts import with_drafts
from foldline._facts.foreign import facts_of_prose
from foldline._facts.handing_in import hands_in
from foldline._facts.lasting import ANSWER
from foldline._facts.literals import literals
from foldline._facts.merging import bounded, from_data, merge
from foldline._facts.others import said_in_notice
from foldline._facts.outcomes import alarming
from foldline._facts.pieces import Pieces
from foldline._facts.plan import Plan
from foldline._facts.running import only_waits
from foldline._facts.said import RAISED, Said, asked, requested
from foldline._facts.skills import Skills
from foldline._facts.speakers import acting, answers_by_text, continued, notifies, questions, speaks, spoken, templated
from foldline._facts.speech import clean, is_summary
from foldline._facts.splitting import split
from foldline._facts.text_calls import call_in
from foldline._facts.told import PASTED, facts_of_page, is_page
from foldline._facts.tool_calls import read_action
from foldline._facts.types import Facts, Span
from foldline._facts.wordless import with_thoughts
from foldline._facts.work import CALLS_FROM, Work, in_shell
from foldline._facts.wrappers import DID, RUN_BY_USER, SIGNED_BLOCK
from foldline._messages import Message, Summary, Text, ToolCall, ToolResult, replace

_SCANNED, _LEAST_EDGE, _MOST_EDGE = 600_000, 1_000, 12_000
"""Characters of tool outputs that are searched, and of each the least and the most of its head and of its tail."""

_BLOCK = re.compile(r"^```(?:bash|sh|shell)?[ \t]*\n(.*?)\n```[ \t]*$", re.DOTALL | re.MULTILINE)
_LAST_WORDS = 400
"""Characters of the agent's last words in which its last sentence is looked for."""

_SIGNS = " .!?…。！？"
"""How a request ends that is sent again with more behind it."""

_CLOSING = 200
"""Characters from which words beside a plan that is brought up to date are more than what is done next."""


def facts_of(messages: Iterable[Message]) -> Facts:
    """The facts of messages; a summary among them contributes the facts behind it, or what its prose says."""
    facts = Facts()
    messages = with_thoughts(continued([*messages]))
    by_blocks, acted = acting(messages)
    batch: list[Message] = []
    for message in messages:
        behind = [_behind(message, part) for part in message.parts]
        earlier = [each for each in behind if each is not None]
        if not earlier:
            batch.append(message)
            continue
        facts = merge(facts, bounded(_facts_in(batch)))
        for each in earlier:
            facts = merge(facts, each)
        batch = [replace(message, parts=tuple(p for p, told in zip(message.parts, behind) if told is None))]
    facts = merge(facts, bounded(_facts_in(batch)))
    return replace(facts, by_blocks=facts.by_blocks or by_blocks, acted=acted)


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
    """What the user asks for in each message that holds words of the user's, or a command for the agent; of what was pasted
    without a word the last line that raises something, else the first one."""
    return filter(None, words_of_each(messages))


def words_of_each(messages: Sequence[Message]) -> Iterator[str]:
    """The same of every message, empty where the user says nothing in it."""
    for spans in spoken(messages):
        said = requested(spans)
        lines = (
            line.strip() for span in spans if span.by == "paste" for line in span.text.splitlines() if line.strip()
        )
        pasted = [] if said else [*lines]
        raised = (line for line in reversed(pasted) if RAISED.match(line) and not line.endswith(":"))
        yield said or "".join(f"{PASTED}{line}" for line in islice(chain(raised, pasted), 1))


def _facts_in(messages: Sequence[Message]) -> Facts:
    """The facts of messages without summaries among them."""
    spans = [*_once(messages, spoken(messages))]
    for at, text in attached(messages).items():
        spans[at] = (*spans[at], Span("user", text))
    pieces, plan = Pieces(_written(messages, spans)), Plan()
    results = {result.call_id for message in messages for result in message.results}
    marks = any(result.error for message in messages for result in message.results)
    folders = {read_action(call).where for message in messages for call in message.calls} - {""}
    said = Said(pieces, plan)
    work = Work(pieces, plan, _edge(messages), marks=marks, several=len(folders) > 1)
    reports = _reports(messages, spans)
    acting = {at - 1 for at, each in enumerate(spans) if at and not results and any(span.by == "tool" for span in each)}
    acting |= {len(messages) - 1} if acting else set()
    waiting, asking, skills = _waiting(messages), _asking(messages), Skills(messages)
    for at, message in enumerate(messages):
        told = [Span(span.by, clean(_beside_calls(span, message)).strip()) for span in spans[at]]
        amid = any(message.results) or answers_by_text(message)
        new = said.ask(told, at, amid=amid, questions=asking.get(at, ()))
        for part, span in enumerate(told):
            if at in acting and span.by == "agent" and (act := call_in(span.text)):
                work.act(act.call, at)
                (reports.add if hands_in(act.call) else reports.discard)(at)
                span = Span("agent", act.words.strip())
            if span.by == "agent" and at in waiting and not alarming(span.text):
                continue
            if span.by == "command" and (run := RUN_BY_USER.match(span.text)):
                work.act(in_shell(run[1]), at)
            if span.by == "peer":
                work.reported(said_beside(span.text), at)
            if span.by in ("peer", "tool"):
                work.running.heard(span.text)
            if span.by == "tool" and span.text:
                noticed = span.text.startswith(SIGNED_BLOCK)
                work.observe(said_in_notice(span.text) if noticed else span.text, at, part)
            elif span.by == "harness" and DID.search(span.text):
                work.carried_out(span.text, at, part)
            elif span.by == "harness" and work.unread(span.text, at, part):
                continue
            elif span.by == "harness" and new and templated(message):
                said.order(span.text, at, part)
            elif span.text and (new or not asked(span)):
                said.read(span, at, part, report=at in reports)
        for part, each in enumerate(message.parts, CALLS_FROM):
            if type(each) is ToolCall:
                skills.call(each)
                work.call(each, at, part, answered=each.id in results)
            elif type(each) is ToolResult:
                said.take_up(skills.shown(each), at, part)
                work.result(each, at)
    facts = _found(said, pieces, plan, work, len(messages))
    unread = {*work.unread_at}
    carried_out = tuple(p for p in facts.pieces if p.by != "agent" or p.at not in unread) if unread else facts.pieces
    return replace(facts, pieces=with_drafts(carried_out, messages))


def _beside_calls(span: Span, message: Message) -> str:
    """A span's words; of an agent that writes a command into them as well as into a call, as its prompt asks, without that."""
    if span.by != "agent" or "```" not in span.text:
        return span.text
    commands = {command for call in message.calls if (command := read_action(call).command.strip())}
    return _BLOCK.sub(lambda block: "" if block[1].strip() in commands else block[0], span.text)


def _found(said: Said, pieces: Pieces, plan: Plan, work: Work, end: int) -> Facts:
    return Facts(
        requests=tuple(said.requests.values()),
        rules=tuple(said.rules.values()),
        pieces=pieces.in_order(),
        files=tuple(work.trails.files.values()),
        commands=tuple(work.attempts.commands.values()),
        faults=tuple(work.attempts.faults.values()),
        todos=tuple(plan.todos),
        passed=work.attempts.passed,
        plan_at=plan.at,
        repositories=work.repositories,
        running=work.running.still(end),
        heard=work.running.heard_at,
        untouched=end > 0 and not work.touched,
        end=end,
    )


def _once(messages: Sequence[Message], spans: Sequence[tuple[Span, ...]]) -> Iterator[tuple[Span, ...]]:
    """The words of each message, but for those of the agent that its next message says again word for word, as clients record
    what comes in pieces, and those that the user sent again with more behind them."""
    over = {*_sent_again(messages, spans)}
    ahead = pairwise([*zip(messages, spans), (Message("user", ()), ())])
    for at, ((message, said), (other, again)) in enumerate(ahead):
        twice = message.role == other.role == "assistant" and said == again
        kept = tuple(span for span in said if at not in over or span.by != "user")
        yield () if twice else kept


def _sent_again(messages: Sequence[Message], spans: Sequence[tuple[Span, ...]]) -> Iterator[int]:
    """The messages of the user's that the next one begins with, and goes on, before the agent said or did anything."""
    before, words = -1, ""
    for at, message in enumerate(messages):
        if said := requested(spans[at]) if message.role == "user" else "":
            more = said[len(words) :].strip(_SIGNS) if words and said.startswith(words) else ""
            if more and not more[0].isdigit():
                yield before
            before, words = at, said.rstrip(_SIGNS)
        elif message.role == "assistant" or any(message.results):
            words = ""


def _asking(messages: Sequence[Message]) -> dict[int, list[str]]:
    """What the agent had asked, by the messages that answer it."""
    asked = {call.id: questions(call) for message in messages for call in message.calls if speaks(call)}
    return {at: [*chain(*(asked.get(r.call_id, ()) for r in m.results))] for at, m in enumerate(messages) if m.results}


def _waiting(messages: Sequence[Message]) -> set[int]:
    """The messages in which the agent did nothing but wait for a program, but for its newest: what it says there is soon over."""
    spoke = [at for at, message in enumerate(messages) if message.role == "assistant" and message.text]
    return {at for at in spoke[:-1] if (calls := [*messages[at].calls]) and all(map(only_waits, calls))}


def _edge(messages: Sequence[Message]) -> int:
    """How many characters are read of the head of each tool output, and of its tail: the fewer, the more there are."""
    results = sum(1 for message in messages for _ in message.results)
    return max(_LEAST_EDGE, min(_MOST_EDGE, _SCANNED // (2 * (1 + results))))


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
    """The messages in which the agent reports: the last that it says in a turn, with no call behind it but such as speak, and what it
    said right before while it brought its plan up to date.

    What the harness says behind a report ends its turn too; hardly a word in answer to that is none. Where the agent speaks twice
    in a row, the first time without a call, what it was told between is missing, or the call that it announced, as all of
    them are where there is none.
    """
    called = any(any(message.calls) for message in messages)
    reports: set[int] = set()
    last: int | None = None
    beside: list[int] = []
    aloud: list[int] = []
    for at, message in enumerate(messages):
        speakers = {span.by for span in spans[at]}
        spoke = not speakers.isdisjoint(("user", "paste", "command")) or any(map(asked, spans[at]))
        reminded = message.role == "user" and speakers == {"harness"}
        words = sum(len(span.text.strip()) for span in spans[at] if span.by == "agent")
        again = words > 0 and last == at - 1
        if last is None and spoke and at and _is_silent(messages[at - 1], spans[at - 1]):
            reports.update(aloud[-1:])  # it ended its turn with no more than a thought
        if last is not None and (reminded or spoke or (again and called and not _goes_on(spans[last]))):
            reports.update((last, *beside))
        if spoke or again:
            last, beside = None, []
        aloud = [] if spoke else [*aloud[-1:], at] if words else aloud
        if not all(speaks(call) or hands_in(call) or notifies(call) for call in message.calls):
            last = None
            noted = words >= _CLOSING and all(read_action(call).plan for call in message.calls)
            beside = [*beside, at] if noted else []
        elif message.role == "assistant":
            last = at if words > (ANSWER if last in reports else 0) else last
    if last is not None and not _goes_on(spans[last]):
        reports.update((last, *beside))
    return reports


def _is_silent(message: Message, spans: Sequence[Span]) -> bool:
    """Whether a message of the agent has neither words nor a call."""
    return message.role == "assistant" and not spans and not any(message.calls)


def _goes_on(spans: Iterable[Span]) -> bool:
    """Whether the agent's words end with what it does next, unless it is asked to: then what stands behind them is missing, and they
    report nothing."""
    said = " ".join(span.text for span in spans if span.by == "agent").strip()
    last = next((each for each in reversed([*split(said[-_LAST_WORDS:])]) if not leans(each)), "")
    return last.endswith((":", "：")) or (announces(last) and not (offers(last) or asks(said)))
