"""What holds after any sequence of folds, on generated conversations in every wire format.

Nothing here knows how a fold is made. The validity of a history is judged by the rules that the providers state, on
their own dicts: what was wrong before a fold may stay wrong, and nothing else may become so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from functools import wraps
from itertools import pairwise
from typing import Any, NamedTuple

import hypothesis
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from conversations import PIN, Conversation, Item, conversations, said_in
from foldline import Brief, CannotFit, Compactor, Fold, Folded, Layer, Message, Policy, Summary, SummaryFellBack
from foldline import _wires as wire
from foldline.extend import (
    Model,
    extract,
    hard_strategies,
    policy,
    preset,
    prune_tool_outputs,
    shorten_tool_outputs,
    summarize_older,
    truncate,
    weigh,
)
from provider_rules import check_valid, role_of, thinks, unreasoned, users_words

# -- how a history is folded --------------------------------------------------------------------------------------

SMALL = policy(
    "small",
    (
        Layer("prune", 0.50, 0.30, (prune_tool_outputs(protect=300, minimum=100),)),
        Layer("summarize", 0.60, 0.35, (summarize_older(keep=800, max_tokens=400),)),
        Layer("full", 0.90, 0.30, hard_strategies(500), hard=True),
    ),
)
PRUNING = policy(
    "pruning", (Layer("prune", 0.5, 0.2, (prune_tool_outputs(protect=0, minimum=0), shorten_tool_outputs())),)
)
CUTTING = policy("cutting", (Layer("full", 0.6, 0.3, (truncate(),), hard=True),))
POLICIES = (*map(preset, ("default", "openclaw", "pi")), SMALL, PRUNING, CUTTING)


def tells(brief: Brief, messages: Sequence[Message]) -> Summary:
    """A model that answers well."""
    return Summary(f"## Done\n- the parser was fixed in {len(messages)} messages")


def raises(brief: Brief, messages: Sequence[Message]) -> str:
    """A model that is down."""
    raise ConnectionError("503 Service Unavailable")


def says_nothing(brief: Brief, messages: Sequence[Message]) -> str:
    """A model that answers with blanks."""
    return " \n"


def rambles(brief: Brief, messages: Sequence[Message]) -> str:
    """A model that does not stop."""
    return "and then it went on " * 5_000


SUMMARIZERS = (extract, tells, raises, says_nothing, rambles)
MODELS = (Model("free"), Model("bound", binds_thinking=True))


def pinned(message: Message) -> bool:
    """System messages, and what the user marked."""
    return message.role == "system" or (message.role == "user" and message.text.startswith(PIN))


class Setting(NamedTuple):
    """How the compactor of one example is set up."""

    window: int
    policy: Policy
    summarizer: Any
    model: Model

    def compactor(self, format: str, heard: list[Any] | None = None) -> Compactor:
        return Compactor(
            self.model,
            window=self.window,
            policy=self.policy,
            summarizer=self.summarizer,
            pinned=pinned,
            format=format,
            on_event=None if heard is None else heard.append,
        )


settings = st.builds(
    Setting,
    st.sampled_from((1_500, 2_500, 4_000, 6_000)),
    st.sampled_from(POLICIES),
    st.sampled_from(SUMMARIZERS),
    st.sampled_from(MODELS),
)


def in_every_format(law: Callable[..., None]) -> Callable[..., None]:
    """A test of a law: the two formats that most agents speak get all the examples each, the others share a quarter."""
    whole = given(data=st.data())(law)
    few = hypothesis.settings(max_examples=max(15, hypothesis.settings().max_examples // 4))(given(data=st.data())(law))

    @pytest.mark.parametrize("formats", [("openai-chat",), ("anthropic",), NEWER], ids=" or ".join)
    @wraps(law, assigned=("__name__", "__doc__", "__module__"), updated=())
    def test(formats: tuple[str, ...]) -> None:
        (few if formats == NEWER else whole)(formats=formats)

    del test.__wrapped__
    return test


NEWER = ("openai-responses", "gemini", "bedrock-converse")


class Step(NamedTuple):
    """One model call: the history that there was, what was sent for it, and the folds made for it."""

    history: list[Item]
    sent: list[Item]
    folds: list[Fold]
    failures: list[str]


def steps(talk: Conversation, compactor: Compactor, heard: list[Any]) -> Iterator[Step]:
    """The calls of a conversation as it grows; a call that cannot be made to fit is not made."""
    for stop in talk.stops:
        del heard[:]
        try:
            sent = compactor.fit(talk.items[:stop])
        except CannotFit:
            continue
        folds = [event.fold for event in heard if isinstance(event, Folded)]
        failures = [event.reason for event in heard if isinstance(event, SummaryFellBack)]
        yield Step(talk.items[:stop], sent, folds, failures)


def size(items: Iterable[Item], format: str) -> int:
    """Tokens of a history, counted afresh."""
    return sum(weigh(wire.decode(item, format)) for item in items)


# -- after any sequence of fits -----------------------------------------------------------------------------------


@in_every_format
def test_after_any_sequence_of_fits(formats: tuple[str, ...], data: st.DataObject) -> None:
    format = data.draw(st.sampled_from(formats))
    talk, setting = data.draw(conversations(format)), data.draw(settings)
    original = deepcopy(talk.items)
    heard: list[Any] = []
    compactor = setting.compactor(format, heard)
    made: list[Step] = []
    for step in steps(talk, compactor, heard):
        a_second_fit_changes_nothing(compactor, step, heard)
        check_valid(step.history, step.sent)
        a_reply_keeps_the_reasoning_that_led_to_it(talk, setting, step)
        what_is_untouched_is_the_same_object_and_nothing_grows(talk, step)
        pins_stay_byte_for_byte(talk, step)
        the_newest_words_of_the_user_are_sent_or_quoted(talk, step)
        nothing_is_quoted_that_the_user_did_not_say(talk, step)
        a_failed_summary_is_told(step, setting, compactor)
        made.append(step)
    a_history_only_extends_between_folds(made)
    if setting.model.binds_thinking:
        no_thinking_outlives_its_past(made)
    if made:
        a_replay_shows_the_same(setting, compactor, made, format)
        everything_folded_can_be_recalled(talk, compactor)
    assert talk.items == original


def a_second_fit_changes_nothing(compactor: Compactor, step: Step, heard: list[Any]) -> None:
    """The same history again: the same objects, no fold, no event."""
    events = len(heard)
    again = compactor.fit(step.history)
    assert [id(item) for item in again] == [id(item) for item in step.sent]
    assert len(heard) == events


def a_reply_keeps_the_reasoning_that_led_to_it(talk: Conversation, setting: Setting, step: Step) -> None:
    """Where a reply is several items, they go or stay together; a model that binds its thinking loses it on purpose."""
    if talk.format == "openai-responses" and not setting.model.binds_thinking:
        assert not unreasoned(step.sent) - unreasoned(step.history)


def what_is_untouched_is_the_same_object_and_nothing_grows(talk: Conversation, step: Step) -> None:
    """What was not edited is handed out as it came, once and in order, and a fold makes a history smaller."""
    places = {id(item): i for i, item in enumerate(talk.items)}
    kept = [places[id(item)] for item in step.sent if id(item) in places]
    assert kept == sorted(set(kept))
    made = [item for item in step.sent if id(item) not in places]
    stripped = [item for item in step.history if thinks(item)]
    assert stripped or not any(item == other for item in made for other in step.history)
    for fold in step.folds:
        assert fold.receipt.tokens_after < fold.receipt.tokens_before
        assert size(step.sent, talk.format) < size(step.history, talk.format)


def pins_stay_byte_for_byte(talk: Conversation, step: Step) -> None:
    """A pinned message is sent every time, as the very object that it was; of what the system repeats, the newest copy.

    Where a provider takes no neighbours of one role, its blocks stand beside those of its neighbour, each the very object.
    """
    sent = {id(item) for item in step.sent}
    if talk.format == "bedrock-converse":
        blocks = {id(block) for item in step.sent for block in item["content"]}
        sent |= {id(item) for item in step.history if all(id(block) in blocks for block in item["content"])}
    gone = [i for i, item in enumerate(step.history) if pinned(wire.decode(item, talk.format)) and id(item) not in sent]
    for i in gone:
        newer = (item for item in step.history[i + 1 :] if id(item) in sent)
        assert role_of(step.history[i]) == "system"
        assert any(item == step.history[i] for item in newer)


def the_newest_words_of_the_user_are_sent_or_quoted(talk: Conversation, step: Step) -> None:
    """Whatever goes, the model reads what the user asked last: the message itself, or its first words in a summary."""
    said = [(i, words) for i, words in talk.said.items() if i < len(step.history)]
    for place, words in said[-1:]:
        whole = any(item is talk.items[place] for item in step.sent)
        assert whole or words[:SHOWN].strip() in users_words(step.sent)


def nothing_is_quoted_that_the_user_did_not_say(talk: Conversation, step: Step) -> None:
    """What a summary quotes as the user's is the user's: no assistant and no tool speaks in that place."""
    said = "\n".join(talk.said.values())
    sent_as_is = {id(item) for item in step.history}
    for item in step.sent:
        if role_of(item) == "user" and id(item) not in sent_as_is:
            for line in users_words([item]).splitlines():
                if line.startswith("> "):
                    assert QUOTE_CUT.split(line[2:])[0][:SHOWN] in said


def a_failed_summary_is_told(step: Step, setting: Setting, compactor: Compactor) -> None:
    """A summarizer that fails never stops the agent; each failure is an event and in the receipt, until it is given up."""
    noted = [reason for fold in step.folds for reason in fold.receipt.failures]
    assert step.failures == noted or (step.failures and not step.folds), "it is told too where no fold came of it"
    asked = [e for fold in step.folds if fold.layer == "summarize" for e in fold.edits if e.by == "summarize_older"]
    assert step.failures or compactor.state or not asked or setting.summarizer in (extract, tells)


def a_history_only_extends_between_folds(made: list[Step]) -> None:
    """Without a fold, what is sent starts with what was sent before: a provider's cache holds."""
    for before, after in pairwise(made):
        if not after.folds:
            assert after.sent == before.sent + after.history[len(before.history) :]


def no_thinking_outlives_its_past(made: list[Step]) -> None:
    """Where a model binds its thinking to what is before it, none that there was stands behind an edit."""
    for before, after in pairwise([Step([], [], [], []), *made]):
        grown = before.sent + after.history[len(before.history) :]
        first = next((i for i, (a, b) in enumerate(zip(grown, after.sent)) if a != b), len(after.sent))
        assert not any(map(thinks, after.sent[first + 1 :]))


def a_replay_shows_the_same(setting: Setting, compactor: Compactor, made: list[Step], format: str) -> None:
    """What was dumped, loaded by another compactor, gives what was sent for a history that is read afresh."""
    compactor.fit(made[-1].history)
    loaded = setting.compactor(format)
    loaded.load(compactor.dump())
    assert loaded.fit(deepcopy(made[-1].history)) == made[-1].sent
    assert loaded.count == compactor.count


def everything_folded_can_be_recalled(talk: Conversation, compactor: Compactor) -> None:
    """Each id that any fold dropped still gives the message as it was, or the summary that an earlier fold wrote."""
    decoded = wire.decode_all(talk.items, talk.format)
    for fold in compactor.folds:
        for edit in fold.edits:
            for id in edit.drop:
                recalled = compactor.recall(id)
                assert recalled is not None
                assert recalled in decoded or recalled.summary is not None


SHOWN = 8
"""Characters of a user's message that must be read for the message to count as quoted."""

QUOTE_CUT = re.compile(r" ?\[…|…| \(corrected later\)")


# -- other ways to fold -------------------------------------------------------------------------------------------


@in_every_format
def test_an_undone_fold_leaves_no_trace(formats: tuple[str, ...], data: st.DataObject) -> None:
    format = data.draw(st.sampled_from(formats))
    talk = data.draw(conversations(format))
    setting = data.draw(settings)._replace(window=10_000_000)
    compactor = setting.compactor(format)
    before: list[tuple[int, list[Item]]] = []
    for stop in talk.stops:
        sent = compactor.fit(talk.items[:stop])
        folds = len(compactor.folds)
        compactor.fold(talk.items[:stop])
        if len(compactor.folds) > folds:
            before.append((stop, sent))
    for undone, (stop, sent) in enumerate(reversed(before)):
        assert compactor.undo() is not None
        restored = compactor.fit(talk.items)
        first = spoken(sent, format)
        assert spoken(restored, format)[: len(first)] == first
        if setting.model.binds_thinking:
            behind = spoken(restored, format)[len(first) :]
            thinking_of_what_was_said_over_a_fold_goes_with_it(talk.items[stop:], behind, format, undone > 0)
        else:
            assert restored[len(sent) :] == talk.items[stop:]
    assert compactor.undo() is None


def spoken(items: list[Item], format: str) -> list[Item]:
    """The items; of a provider that takes no neighbours of one role, each block in an item of its own."""
    if format != "bedrock-converse":
        return items
    return [{**item, "content": [block]} for item in items for block in item["content"]]


def thinking_of_what_was_said_over_a_fold_goes_with_it(
    said: list[Item], sent: list[Item], format: str, over: bool
) -> None:
    """What came behind a fold that was undone is sent whole, but for the thinking of what had been seen by then."""
    plain = [very(item, format) for item in spoken([item for item in said if not thinks(item)], format)]
    assert [very(item, format) for item in sent if very(item, format) in set(plain)] == plain
    assert not over or not any(map(thinks, sent))


def very(item: Item, format: str) -> int:
    """The very object that was spoken."""
    return id(item["content"][0] if format == "bedrock-converse" else item)


@in_every_format
def test_a_hard_budget_is_met_exactly_or_refused_with_what_is_in_the_way(
    formats: tuple[str, ...], data: st.DataObject
) -> None:
    format = data.draw(st.sampled_from(formats))
    talk = data.draw(conversations(format))
    most = data.draw(st.sampled_from((60, 200, 500, 1_000, 2_000, 4_000)))
    setting = data.draw(settings)._replace(window=1_000_000)
    compactor = setting.compactor(format)
    original = deepcopy(talk.items)
    compactor.fit(talk.items)
    bill = data.draw(st.sampled_from((0.7, 1.0, 1.9)))
    compactor.observe({"usage": {"prompt_tokens": 1 + round(bill * size(talk.items, format)), "completion_tokens": 1}})
    result = folded_or_refused(compactor, talk.items, most)
    if isinstance(result, CannotFit):
        assert result.tokens > result.limit == most
        assert result.in_the_way
        assert compactor.folds == []
        assert [id(item) for item in compactor.fit(talk.items)] == [id(item) for item in talk.items]
    else:
        assert compactor.count.tokens <= most
        check_valid(talk.items, result)
    assert talk.items == original


def folded_or_refused(compactor: Compactor, history: list[Item], most: int) -> list[Item] | CannotFit:
    """What is sent within a hard budget, or the refusal."""
    try:
        return compactor.fold_to(history, most)
    except CannotFit as refusal:
        return refusal


@in_every_format
def test_a_history_that_cannot_fit_leaves_everything_as_it_was(formats: tuple[str, ...], data: st.DataObject) -> None:
    format = data.draw(st.sampled_from(formats))
    talk, setting = data.draw(conversations(format)), data.draw(settings)
    heard: list[Any] = []
    compactor = setting.compactor(format, heard)
    fitted = [*steps(talk, compactor, heard)][-1:]
    assume(fitted)
    folds = list(compactor.folds)
    huge = said_in(format, f"{PIN} " + "a pinned page " * 10_000)
    with pytest.raises(CannotFit):
        compactor.fit([*fitted[0].history, huge])
    assert compactor.folds == folds
    assert compactor.fit(fitted[0].history) == fitted[0].sent


@in_every_format
def test_a_rewritten_or_forked_history_never_yields_orphans(formats: tuple[str, ...], data: st.DataObject) -> None:
    format = data.draw(st.sampled_from(formats))
    talk, setting = data.draw(conversations(format)), data.draw(settings)
    other = data.draw(conversations(format, turns=2))
    fork = data.draw(st.sampled_from([0, *talk.stops]))
    compactor = setting.compactor(format)
    for stop in talk.stops:
        send(compactor, talk.items[:stop])
    for stop in other.stops:
        send(compactor, talk.items[:fork] + [renamed(item, fork) for item in other.items[:stop]])
    send(compactor, talk.items)


def renamed(item: Item, fork: int) -> Item:
    """An item of another conversation, with call ids of its own."""
    return json.loads(re.sub(r'"call_(?=\d)', f'"other_{fork}_', json.dumps(item, default=bytes.hex)))  # type: ignore[no-any-return]


def send(compactor: Compactor, history: list[Item]) -> None:
    """Sends a history where it fits, and fails where it is not valid."""
    try:
        sent = compactor.fit(history)
    except CannotFit:
        return
    check_valid(history, sent)


@in_every_format
def test_the_same_is_sent_whether_an_agent_keeps_all_or_what_was_handed_out_or_a_state(
    formats: tuple[str, ...], data: st.DataObject
) -> None:
    format = data.draw(st.sampled_from(formats))
    talk, setting = data.draw(conversations(format)), data.draw(settings)
    whole, kept, state = setting.compactor(format), setting.compactor(format), setting.compactor(format).dump()
    persisted: list[Item] = []
    done = 0
    for stop in talk.stops:
        persisted, done = [*persisted, *deepcopy(talk.items[done:stop])], stop
        loaded = setting.compactor(format)
        loaded.load(state)
        try:
            sent = whole.fit(talk.items[:stop])
        except CannotFit:
            for compactor, history in ((kept, persisted), (loaded, talk.items[:stop])):
                with pytest.raises(CannotFit):
                    compactor.fit(history)
            continue
        given, persisted = persisted, kept.fit(persisted)
        assert persisted == sent
        assert kept.fit(deepcopy(given)) == sent, "a call that failed is made again"
        assert loaded.fit(deepcopy(talk.items[:stop])) == sent
        state = loaded.dump()


CONTENT = {"content", "parts", "output", "tool_calls", "arguments", "reasoning_content"}
"""Keys of an item under which a fold may put something else."""


@pytest.mark.parametrize("format", ["openai-chat", "anthropic", *NEWER])
@hypothesis.settings(max_examples=10)
@given(data=st.data())
def test_what_a_framework_puts_beside_a_message_stays_with_it(format: str, data: st.DataObject) -> None:
    """Ids, metadata, what was billed: of a message that no fold touched it is the same object, and of one that was shortened equal."""
    talk, setting = data.draw(conversations(format)), data.draw(settings)
    items = [{**item, "host": {"number": n, "billed": [n, None, 0.5]}} for n, item in enumerate(talk.items)]
    compactor = setting.compactor(format)
    for stop in talk.stops:
        try:
            sent = compactor.fit(items[:stop])
        except CannotFit:
            continue
        stands = [item for item in sent if "host" in item]
        numbers = [item["host"]["number"] for item in stands]
        assert numbers == sorted(set(numbers))
        for item, was in zip(stands, (items[number] for number in numbers)):
            beside = [{key: value for key, value in each.items() if key not in CONTENT} for each in (item, was)]
            assert item is was or beside[0] == beside[1]
