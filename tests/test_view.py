"""Where a history may be cut, what an edit may do to it, and which edits are refused."""

from __future__ import annotations

import pytest

from foldline import Brief, Edit, Message, Summary, UnsafeEdit, View
from foldline._view import between_pairs, chain, opens_turn, outside_batches
from foldline.extend import Media, Opaque, Text, Thinking, ToolCall, ToolResult, replace, view_of, weigh


def user(words: str) -> Message:
    return Message("user", (Text(words),))


def assistant(*parts: Text | Thinking | ToolCall | ToolResult) -> Message:
    return Message("assistant", parts)


def call(id: str, arguments: str = "{}") -> ToolCall:
    return ToolCall(id, "read", arguments)


def result(id: str, words: str = "42") -> ToolResult:
    return ToolResult(id, (Text(words),))


def tool(*results: ToolResult) -> Message:
    return Message("tool", results)


def ten(message: Message) -> int:
    """Every message counts ten tokens."""
    return 10


def see(*messages: Message, bound: bool = False) -> View:
    return view_of(messages, ten, bound=bound)


def ids(view: View, *at: int) -> tuple[str, ...]:
    return tuple(view.entries[i].id for i in at)


SYSTEM = Message("system", (Text("You are careful."),))
RULE = Message("system", (Text("Approved: make."),))
PAIR = (assistant(call("a")), tool(result("a")))
SUMMARY = Message("user", (Summary("It was done."),))


# -- identity -----------------------------------------------------------------------------------------------------


def test_equal_prefixes_share_their_ids_and_a_fork_does_not() -> None:
    one, two = see(user("x"), user("y"), user("z")), see(user("x"), user("y"), user("other"))
    assert ids(one, 0, 1) == ids(two, 0, 1)
    assert ids(one, 2) != ids(two, 2)


def test_the_same_words_at_another_place_have_another_id() -> None:
    view = see(user("x"), user("x"))
    assert view.entries[0].id != view.entries[1].id


@pytest.mark.parametrize(
    "marked",
    [
        Message("user", (Text("x", {"cache_control": {"type": "ephemeral"}}),)),
        Message("user", (Text("x"),), extra={"content": "list"}),
        Message("user", (Text("x"),), format="anthropic"),
    ],
)
def test_what_clients_change_without_meaning_it_does_not_change_the_id(marked: Message) -> None:
    assert list(chain([marked])) == list(chain([user("x")]))


def test_a_cache_marker_on_an_image_does_not_change_the_id() -> None:
    source = {"type": "image", "source": {"data": "aGk="}}
    plain, marked = Media("image", source), Media("image", {**source, "cache_control": {"type": "ephemeral"}})
    assert list(chain([Message("user", (plain,))])) == list(chain([Message("user", (marked,))]))


def test_the_version_stamp_of_a_system_block_does_not_change_the_id() -> None:
    old, new = (Message("system", (Text(f"x-billing: cc_version={v}; on"),)) for v in ("2.1.0.a1", "2.1.9.ff"))
    assert list(chain([old])) == list(chain([new]))


def test_lone_surrogates_have_an_id() -> None:
    assert len(list(chain([user("\ud800"), user("\udfff")]))) == 2


# -- cut points ---------------------------------------------------------------------------------------------------


def test_a_history_may_be_cut_between_messages_but_not_inside_a_pair() -> None:
    view = see(user("go"), *PAIR, assistant(Text("done")))
    #          0           1 2     3                   4
    assert view.cut_points() == {0, 1, 3, 4}


def test_a_parallel_batch_is_not_cut_whatever_the_order_of_its_results() -> None:
    view = see(assistant(call("a"), call("b")), tool(result("b")), tool(result("a")), user("next"))
    assert view.cut_points() == {0, 3, 4}


def test_a_duplicated_result_belongs_to_its_pair() -> None:
    view = see(*PAIR, tool(result("a")), user("next"))
    assert view.cut_points() == {0, 3, 4}


def test_a_call_that_nothing_answers_holds_nothing_open() -> None:
    view = see(assistant(call("a")), user("never mind"), user("next"))
    assert view.cut_points() == {0, 1, 2, 3}


def test_a_reply_of_several_items_is_not_parted_from_the_reasoning_that_led_to_it() -> None:
    thinks = assistant(Thinking("hm", data="ZW5j"))
    view = see(user("go"), thinks, assistant(Text("I look.")), *PAIR, thinks, assistant(Text("Done.")), user("thanks"))
    #          0           1       2                           3+4    5       6                         7
    assert view.cut_points() == {0, 1, 5, 7, 8}


def test_a_reply_that_thinks_again_may_be_cut_before_it_does() -> None:
    thinks = assistant(Thinking("hm", data="ZW5j"))
    one, two, three = (assistant(call(id), result(id)) for id in "123")
    view = see(user("go"), thinks, one, two, thinks, thinks, three)
    assert view.cut_points() == {0, 1, 4, 7}


def test_each_rule_gives_the_indices_that_it_allows() -> None:
    entries = see(tool(result("stray")), *PAIR).entries
    assert between_pairs(entries) == {0, 1, 3}
    assert outside_batches(entries) == {1, 3}


def test_a_turn_starts_where_a_user_speaks() -> None:
    answered = Message("user", (result("a"),))
    spoken = Message("user", (result("b"), Text("and hurry")))
    view = see(SYSTEM, user("go"), assistant(call("a"), call("b")), answered, spoken, SUMMARY, user("next"))
    assert view.turns == (1, 4, 6)
    assert not opens_turn(SUMMARY)


def test_runs_without_a_pin_are_drawn_in_to_cut_points() -> None:
    one, two = (Message("system", (Text(words),)) for words in ("Be brief.", "Be kind."))
    view = see(SYSTEM, user("go"), *PAIR, one, assistant(call("b")), two, tool(result("b")), user("next"))
    #          0       1           2 3    4    5                     6    7                  8
    assert list(view.unpinned(9)) == [(1, 4), (8, 9)]


def test_a_system_message_that_stands_again_further_on_may_go() -> None:
    view = see(SYSTEM, user("a"), RULE, user("b"), RULE, SYSTEM, user("c"), RULE)
    #          0       1          2     3          4     5       6          7
    assert view.said_again == {2, 4}
    assert list(view.unpinned(7)) == [(1, 5), (6, 7)]
    after = view.apply(Edit(ids(view, 1, 2, 3, 4), (SUMMARY,)))
    assert after.messages == [SYSTEM, SUMMARY, SYSTEM, user("c"), RULE]
    for held in (0, 5, 7):
        with pytest.raises(UnsafeEdit, match="touches a pin"):
            view.apply(Edit(ids(view, held)))


# -- edits that are safe ------------------------------------------------------------------------------------------


def test_an_edit_replaces_its_span_and_keeps_every_other_entry() -> None:
    view = see(user("go"), *PAIR, user("next"))
    after = view.apply(Edit(ids(view, 0, 1, 2), (SUMMARY,)))
    assert after.messages == [SUMMARY, user("next")]
    assert after.entries[1] is view.entries[3]
    assert after.tokens == 20


def test_one_message_in_place_of_one_keeps_the_id() -> None:
    view = see(user("go"), *PAIR)
    after = view.apply(Edit(ids(view, 2), (tool(result("a", "short")),)))
    assert after.entries[2].id == view.entries[2].id


def test_a_summary_gets_an_id_of_its_own_even_in_place_of_one_message() -> None:
    view = see(user("go"), user("next"))
    after = view.apply(Edit(ids(view, 0), (SUMMARY,)))
    assert after.entries[0].id not in view.index


def test_a_whole_pair_may_go_with_nothing_in_its_place() -> None:
    view = see(user("go"), *PAIR, user("next"))
    assert view.apply(Edit(ids(view, 1, 2))).messages == [user("go"), user("next")]


def test_an_edit_inside_a_message_with_several_results_touches_only_its_own() -> None:
    results = Message("user", (result("a", "long " * 100), result("b", "keep me"), Text("thanks")))
    view = see(user("go"), assistant(call("a"), call("b")), results)
    stubbed = replace(results, parts=(result("a", "[pruned]"), *results.parts[1:]))
    after = view.apply(Edit(ids(view, 2), (stubbed,)))
    assert after.messages[2].parts[1] is results.parts[1]
    assert after.messages[2].parts[2] is results.parts[2]


def test_a_half_that_stood_alone_before_may_go_alone() -> None:
    view = see(user("go"), tool(result("stray")), assistant(call("open")), user("next"))
    assert view.apply(Edit(ids(view, 1))).apply(Edit(ids(view, 2))).messages == [user("go"), user("next")]


def test_one_of_two_equal_results_may_go() -> None:
    view = see(user("go"), *PAIR, tool(result("a")))
    assert view.apply(Edit(ids(view, 3))).messages == [user("go"), *PAIR]


# -- edits that are refused ---------------------------------------------------------------------------------------

CALL, RESULT = PAIR
REFUSED = {
    "a span that is not there": ((user("go"), *PAIR), ("nowhere",), (), "by hand: no such span: nowhere"),
    "a summary still to be written": ((user("go"),), (0,), Brief(100), "by hand: its summary is not written yet"),
    "a pin": ((SYSTEM, user("go")), (0, 1), (SUMMARY,), "by hand: touches a pin"),
    "an empty message": ((user("go"),), (0,), (Message("user"),), "by hand: leaves an empty message"),
    "blank words": ((user("go"),), (0,), (user(" \n"),), "by hand: leaves an empty message"),
    "a call without its result": ((user("go"), *PAIR), (1,), (), "by hand: splits the pair a"),
    "a result without its call": ((user("go"), *PAIR), (2,), (), "by hand: splits the pair a"),
    "a result for no call": ((user("go"), user("x")), (1,), (tool(result("z")),), "by hand: splits the pair z"),
    "a call that was not there": ((user("go"), user("x")), (1,), (assistant(call("z")),), "by hand: splits the pair z"),
    "the first turn": ((SYSTEM, user("go"), *PAIR), (1,), (), "by hand: the first message would not be a user's"),
}


@pytest.mark.parametrize(("messages", "drop", "into", "why"), REFUSED.values(), ids=list(REFUSED))
def test_an_unsafe_edit_is_refused_by_name(
    messages: tuple[Message, ...], drop: tuple[int | str, ...], into: tuple[Message, ...] | Brief, why: str
) -> None:
    view = see(*messages)
    edit = Edit(tuple(view.entries[i].id if isinstance(i, int) else i for i in drop), into, by="by hand")
    with pytest.raises(UnsafeEdit) as refusal:
        view.apply(edit)
    assert str(refusal.value) == why
    assert refusal.value.edit is edit


def test_a_span_must_be_consecutive_and_in_order() -> None:
    view = see(user("a"), user("b"), user("c"))
    assert view.find(ids(view, 1, 2)) == 1
    assert view.find(ids(view, 0, 2)) is None
    assert view.find(ids(view, 2, 1)) is None
    assert view.find(()) is None


def test_a_replay_skips_what_does_not_stand_on_this_branch() -> None:
    whole = see(user("go"), *PAIR, user("next"), user("last"))
    edits = [Edit(ids(whole, 0, 1, 2), (SUMMARY,)), Edit(ids(whole, 3), (user("shorter"),))]
    fork = see(user("go"), *PAIR, user("other"))
    assert fork.replay(edits).messages == [SUMMARY, user("other")]


@pytest.mark.parametrize(
    ("message", "empty"),
    [
        (Message("assistant"), True),
        (Message("assistant", (Text(""), Thinking(" "))), True),
        (Message("assistant", (Thinking("", data="ZW5j"),)), False),
        (Message("user", (Opaque({"type": "beam"}),)), False),
        (tool(ToolResult("a")), False),
    ],
)
def test_empty_is_what_says_nothing_at_all(message: Message, empty: bool) -> None:
    assert message.empty is empty


# -- thinking that is bound to its past ---------------------------------------------------------------------------

THOUGHT = Thinking("hm", "c2ln")


def test_thinking_behind_an_edit_goes_and_thinking_before_it_stays() -> None:
    early, late = assistant(THOUGHT, Text("one")), assistant(THOUGHT, Text("two"))
    view = see(user("go"), early, user("more"), late, bound=True)
    after = view.apply(Edit(ids(view, 2), (user("m"),)))
    assert after.messages == [user("go"), early, user("m"), assistant(Text("two"))]
    assert after.entries[1] is view.entries[1]
    assert after.entries[3].id == view.entries[3].id


def test_thinking_stays_where_the_model_does_not_bind_it() -> None:
    view = see(user("go"), assistant(THOUGHT, Text("two")))
    assert view.apply(Edit(ids(view, 0), (user("g"),))).messages[1] is view.messages[1]


@pytest.mark.parametrize("rest", [(), (Text(""),)])
def test_a_message_that_would_be_left_empty_goes_with_its_thinking(rest: tuple[Text, ...]) -> None:
    view = see(user("go"), assistant(THOUGHT, *rest), user("next"), bound=True)
    assert view.apply(Edit(ids(view, 0), (user("g"),))).messages == [user("g"), user("next")]


def test_an_edit_proposed_before_another_one_does_not_revive_thinking() -> None:
    thoughtful = assistant(THOUGHT, call("a", '{"x": "long"}'))
    view = see(user("go"), thoughtful, tool(result("a")), bound=True)
    late = Edit(ids(view, 1), (assistant(THOUGHT, call("a")),))
    after = view.apply(Edit(ids(view, 0), (user("g"),))).apply(late)
    assert after.messages[1] == assistant(call("a"))
    assert view.apply(late).messages[1] == assistant(THOUGHT, call("a"))


def test_thinking_between_two_calls_goes_where_the_first_of_them_was_shortened() -> None:
    first, second = Thinking("a", "s1"), Thinking("b", "s2")
    long, short = ToolCall("t1", "write", '{"text": "x = 1"}'), ToolCall("t1", "write", "{}")
    other = ToolCall("t2", "write", "{}")
    reply = Message("assistant", (first, long, second, other))
    results = Message("user", (ToolResult("t1"), ToolResult("t2")))
    for bound in (True, False):
        view = view_of([user("go"), reply, results], weigh, bound=bound)
        cut = replace(reply, parts=(first, short, second, other))
        after = view.apply(Edit((view.entries[1].id,), (cut,), by="shorten"))
        assert after.messages[1].parts == ((first, short, other) if bound else cut.parts)


def test_ids_do_not_hang_on_system_messages() -> None:
    def ids(*system: str, said: str = "a") -> list[str]:
        return list(chain([*(Message("system", (Text(text),)) for text in system), user(said), user("b")]))

    assert ids("12:01")[-2:] == ids("12:02")[-2:] == ids()[-2:] == ids("12:01", "more")[-2:]
    assert ids("12:01")[0] != ids("12:02")[0]
    assert ids("same", "same")[0] != ids("same", "same")[1]
    assert set(ids(said="a")).isdisjoint(ids(said="c"))
