"""What each strategy proposes, in views where one token is one word."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest

from foldline import Brief, Edit, Message, Summary, View
from foldline._strategies.tool_outputs import outputs_of, superseded, telling
from foldline.extend import (
    Media,
    Opaque,
    Text,
    ToolCall,
    ToolResult,
    prune_tool_outputs,
    shorten_tool_outputs,
    summarize_older,
    text_of,
    truncate,
    view_of,
)


def words(message: Message) -> int:
    """One token for each word, in calls and results as well; nothing for anything else."""
    return sum(_words(part) for part in message.parts)


def _words(part: object) -> int:
    match part:
        case Text(text) | Summary(text):
            return len(text.split())
        case ToolCall(_, _, arguments):
            return len(arguments.split())
        case ToolResult(_, parts):
            return sum(map(_words, parts))
    return 0


def see(*messages: Message, pinned: Iterable[Message] = ()) -> View:
    pins = list(pinned)
    return view_of(messages, words, pinned=lambda message: message.role == "system" or message in pins)


def user(n: int, word: str = "please") -> Message:
    return Message("user", (Text(f"{word} " * n),))


def assistant(n: int, word: str = "well") -> Message:
    return Message("assistant", (Text(f"{word} " * n),))


def calls(*made: tuple[str, str, str]) -> Message:
    """An assistant message with calls, each `(id, tool, path)`."""
    return Message("assistant", tuple(ToolCall(id, name, json.dumps({"path": path})) for id, name, path in made))


def output(id: str, n: int, word: str = "line", error: bool = False) -> Message:
    return Message("tool", (ToolResult(id, (Text(f"{word} " * n),), error),))


def read(id: str, n: int, path: str = "", word: str = "line") -> tuple[Message, Message]:
    """A call that reads a file of its own, and its output of `n` words."""
    return calls((id, "read", path or f"{id}.py")), output(id, n, word)


READ = assistant(1, "Seen.")
"""A reply: the model has read what stands before it."""


def places(view: View, edits: Iterable[Edit]) -> list[int]:
    return [view.index[edit.drop[0]] for edit in edits]


def only(edits: Iterable[Edit]) -> Edit:
    (edit,) = edits
    return edit


def result_text(edit: Edit) -> str:
    assert not isinstance(edit.into, Brief)
    return text_of(next(edit.into[0].results))


# -- prune_tool_outputs -------------------------------------------------------------------------------------------


def test_old_outputs_give_way_oldest_first_and_the_newest_are_protected() -> None:
    view = see(user(10), *read("a", 500, word="a"), *read("b", 500, word="b"), *read("c", 500, word="c"))
    edits = list(prune_tool_outputs(protect=600, minimum=0)(view, 100))
    assert places(view, edits) == [2, 4]


def test_no_more_is_protected_than_half_of_what_may_remain() -> None:
    view = see(user(10), *read("a", 500, word="a"), *read("b", 500, word="b"), READ)
    # about 1,015 tokens, of which 700 must go: half of what remains is 157, less than either output
    edits = list(prune_tool_outputs(protect=40_000, minimum=0)(view, 700))
    assert places(view, edits) == [2, 4]


def test_nothing_is_proposed_for_less_than_the_minimum() -> None:
    view = see(user(3_000), *read("a", 300), *read("b", 900, word="b"))
    assert list(prune_tool_outputs(protect=900, minimum=400)(view, 800)) == []
    assert places(view, prune_tool_outputs(protect=900, minimum=200)(view, 800)) == [2]


def test_the_minimum_is_at_most_half_of_the_excess() -> None:
    view = see(user(3_000), *read("a", 300), *read("b", 900, word="b"))
    assert places(view, prune_tool_outputs(protect=900, minimum=20_000)(view, 400)) == [2]


def test_an_output_that_a_stub_would_hardly_shorten_stays() -> None:
    view = see(user(10), *read("a", 60), *read("b", 500, word="b"), *read("c", 500, word="c"))
    assert places(view, prune_tool_outputs(protect=500, minimum=0)(view, 10)) == [4]


def test_outputs_of_exempt_tools_stay() -> None:
    view = see(
        user(10), *read("a", 500, word="a"), calls(("s", "skill", "x")), output("s", 500, "s"), *read("c", 500), READ
    )
    assert places(view, prune_tool_outputs(protect=0, minimum=0, exempt=["skill"])(view, 100)) == [2, 6]


def test_pinned_outputs_stay() -> None:
    pair = read("a", 500)
    view = see(user(10), *pair, *read("b", 500, word="b"), READ, pinned=[pair[1]])
    assert places(view, prune_tool_outputs(protect=0, minimum=0)(view, 100)) == [4]


def test_a_superseded_read_goes_first_even_where_it_is_protected() -> None:
    view = see(
        user(10),
        *read("old", 500, "other.py", "o"),
        *read("one", 500, "app.py", "x"),
        *read("b", 50, word="b"),
        *read("c", 50, word="c"),
        *read("two", 500, "app.py", "y"),
    )
    edits = list(prune_tool_outputs(protect=1_200, minimum=0)(view, 100))
    assert places(view, edits) == [4, 2]


def test_an_output_repeated_word_for_word_is_superseded_by_the_newest() -> None:
    same = [read(id, 300, word="same") for id in "abcde"]
    view = see(user(10), *(message for pair in same for message in pair))
    outputs = outputs_of(view)
    stale = superseded(outputs)
    # the three newest stay in any case
    assert [o.call.id for o in outputs if id(o.result) in stale] == ["a", "b"]


def test_a_stub_says_what_it_was_how_long_and_how_to_get_it_back() -> None:
    view = see(user(10), calls(("a", "read", "src/app.py")), output("a", 500), *read("b", 500, word="b"))
    edit = only(prune_tool_outputs(protect=500, minimum=0)(view, 10))
    assert result_text(edit) == f"[pruned: read src/app.py, 500 tokens, 1 lines; recall {view.entries[2].id}]"
    assert edit.by == "prune_tool_outputs"


def test_the_stub_of_a_failure_keeps_the_last_line() -> None:
    failed = Message("tool", (ToolResult("a", (Text("noise \n" * 300 + "ValueError: bad port\n"),), True),))
    view = see(user(3_000), calls(("a", "bash", "x")), failed, *read("b", 500, word="b"))
    edit = only(prune_tool_outputs(protect=500, minimum=0)(view, 10))
    assert 'its last line: "ValueError: bad port"' in result_text(edit)


def test_a_stub_is_not_pruned_again() -> None:
    view = see(user(10), *read("a", 500), *read("b", 500, word="b"))
    strategy = prune_tool_outputs(protect=0, minimum=0)
    for edit in strategy(view, 10):
        view = view.apply(edit)
    assert list(strategy(view, 10)) == []


def test_an_edit_inside_a_message_with_several_results_touches_only_the_old_ones() -> None:
    results = Message(
        "user", (ToolResult("a", (Text("a " * 500),)), ToolResult("s", (Text("s " * 500),)), Text("thanks"))
    )
    view = see(user(10), calls(("a", "read", "a.py"), ("s", "skill", "s.md")), results, *read("z", 500, word="z"))
    edit = only(prune_tool_outputs(protect=500, minimum=0, exempt=["skill"])(view, 10))
    assert not isinstance(edit.into, Brief)
    stub, *others = edit.into[0].parts
    assert isinstance(stub, ToolResult)
    assert text_of(stub).startswith("[pruned: read a.py")
    assert all(new is old for new, old in zip(others, results.parts[1:], strict=True))


def test_pictures_go_with_their_output() -> None:
    shot = Message("tool", (ToolResult("a", (Text("x " * 200), Media("image"), Opaque({"type": "beam"}))),))
    view = see(user(3_000), calls(("a", "shot", "x")), shot, *read("b", 500, word="b"))
    edit = only(prune_tool_outputs(protect=500, minimum=0)(view, 10))
    assert not isinstance(edit.into, Brief)
    assert [type(part) for part in next(edit.into[0].results).parts] == [Text]


def write(id: str, arguments: str) -> tuple[Message, Message]:
    return Message("assistant", (ToolCall(id, "write", arguments),)), output(id, 1, "ok")


def test_long_arguments_of_old_calls_shrink_inside_valid_json() -> None:
    content = "word " * 400
    arguments = json.dumps({"path": "a.py", "mode": 7, "edits": [{"new": content}], "note": "kurz ✓"})
    view = see(user(3_000), *write("w", arguments), *read("b", 500, word="b"))
    edit = only(prune_tool_outputs(protect=500, minimum=0)(view, 10))
    assert not isinstance(edit.into, Brief)
    short = json.loads(next(edit.into[0].calls).arguments)
    kept = short["edits"][0].pop("new")
    assert short == {"path": "a.py", "mode": 7, "edits": [{}], "note": "kurz ✓"}
    # 2,000 characters, of which 160 stay
    assert kept == f"{content[:160]}… [pruned: 1,840 characters; recall {view.entries[1].id}]"


@pytest.mark.parametrize("broken", ['{"path": "a.py", "content": "', '"', "[1, "])
def test_broken_arguments_are_left_alone(broken: str) -> None:
    view = see(user(3_000), *write("w", broken + "word " * 400), *read("b", 500, word="b"))
    assert list(prune_tool_outputs(protect=500, minimum=0)(view, 10)) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ('{"command": "make  test\\n"}', "bash make test"),
        ('{"limit": 3, "path": "a.py", "command": "x"}', "bash a.py"),
        ('{"limit": 3}', "bash"),
        ("not json", "bash"),
        (json.dumps({"command": "x" * 200}), "bash " + "x" * 77 + "…"),
    ],
)
def test_a_call_is_told_by_its_most_telling_argument(arguments: str, said: str) -> None:
    assert telling(ToolCall("a", "bash", arguments)) == said


# -- shorten_tool_outputs -----------------------------------------------------------------------------------------


def test_the_middle_of_the_largest_output_goes_first() -> None:
    view = see(user(10), *read("a", 3_000, word="a"), *read("b", 5_000, word="b"), *read("c", 100, word="c"))
    edits = list(shorten_tool_outputs(keep=1_000)(view, 1))
    assert places(view, edits) == [4, 2]
    # 10,000 characters shrink to the share of 1,000 in 5,000 tokens: two thirds of 2,000 at the head, one at the tail
    assert result_text(edits[0]) == (
        ("b " * 5_000)[:1_333] + f"\n… [cut: 8,001 characters; recall {view.entries[4].id}] …\n" + ("b " * 5_000)[-666:]
    )


def test_outputs_within_the_measure_and_pins_stay() -> None:
    pair = read("a", 3_000)
    view = see(user(10), *pair, *read("b", 1_000, word="b"), pinned=[pair[1]])
    assert list(shorten_tool_outputs(keep=1_000)(view, 1)) == []


# -- what the model has not read yet --------------------------------------------------------------------------------


def batch(*sizes: int, ids: str = "pqrst") -> list[Message]:
    """Calls made at once, and their outputs."""
    made = [(id, "read", f"{id}.py") for id, _ in zip(ids, sizes)]
    return [calls(*made), *(output(id, size, id) for (id, *_), size in zip(made, sizes))]


def applied(view: View, edits: Iterable[Edit]) -> View:
    for edit in edits:
        view = view.apply(edit)
    return view


def outputs(view: View) -> list[int]:
    """How many words each output has, the marks of what was cut not counted."""
    return [sum(word in "pqrst" for word in text_of(o.result).split()) for o in outputs_of(view)]


def test_an_output_that_the_model_has_not_read_is_never_pruned() -> None:
    view = see(user(10), *read("a", 500, word="a"), *batch(500, 900, 900, 900))
    assert places(view, prune_tool_outputs(protect=0, minimum=0)(view, 4_000)) == [2]


def test_unread_outputs_share_what_must_be_cut_largest_first() -> None:
    view = see(user(10), *read("a", 3_000, word="a"), *batch(4_000, 500, 2_500))
    after = applied(view, shorten_tool_outputs(keep=100)(view, 4_900))
    # the old one gives 2,900 of the 4,900; the two large ones share what is left of 5,000
    assert outputs(after)[1:] == pytest.approx([2_250, 500, 2_250], abs=40)
    after = applied(view, shorten_tool_outputs(keep=100)(view, 7_000))
    assert outputs(after)[1:] == pytest.approx([1_200, 500, 1_200], abs=40)


def test_a_tool_may_have_a_cap_of_its_own() -> None:
    view = see(user(9_000), *batch(4_000, 500), READ, *batch(2_000, 500, ids="st"))
    capped = prune_tool_outputs(protect=9_000, minimum=0, caps={"read": 1_000})
    assert outputs(applied(view, capped(view, 10))) == pytest.approx([1_000, 500, 1_000, 500], abs=40)
    assert list(capped(applied(view, capped(view, 10)), 10)) == []
    elsewhere = shorten_tool_outputs(keep=200, caps={"read": 1_500})
    assert outputs(applied(view, elsewhere(view, 9_000)))[:2] == pytest.approx([1_500, 500], abs=40)


def test_an_unread_output_stays_with_what_the_user_said_behind_it() -> None:
    view = see(user(1_000), assistant(1_000), *batch(200), user(500))
    for strategy in (summarize_older(keep=0, least=0), truncate()):
        assert only(strategy(view, 5_000)).drop == tuple(entry.id for entry in view.entries[:2])


# -- summarize_older ----------------------------------------------------------------------------------------------


def test_everything_but_the_newest_is_summarized_up_to_the_start_of_a_turn() -> None:
    view = see(user(1_000), assistant(1_000), user(100), assistant(400), user(100), assistant(300))
    # 2,900 tokens, of which 900 must go: of the 2,000 that remain, 60 % but at most `keep` is the tail
    edit = only(summarize_older(keep=1_000)(view, 900))
    assert edit.drop == tuple(entry.id for entry in view.entries[:2])
    assert isinstance(edit.into, Brief)


def test_a_turn_larger_than_the_tail_is_parted_where_no_pair_is_split() -> None:
    view = see(user(1_000), *read("a", 400), *read("b", 400, word="b"), *read("c", 400, word="c"))
    edit = only(summarize_older(keep=500)(view, 1_000))
    assert edit.drop == tuple(entry.id for entry in view.entries[:5])


def system(words: str) -> Message:
    return Message("system", (Text(words),))


def test_one_summary_tells_what_stands_between_pins_as_well() -> None:
    view = see(system("Be careful."), user(1_000), system("Be kind."), assistant(1_000), assistant(20), user(10))
    edit = only(summarize_older(keep=100)(view, 1_500))
    assert edit.drop == (view.entries[1].id,)
    assert isinstance(edit.into, Brief)
    assert edit.into.also == (view.entries[3].id,)
    # of 2,034 tokens 534 may remain, 34 of them stay, 32 are for the frame
    assert edit.into.max_tokens == 468


def test_spans_that_are_small_by_themselves_are_worth_a_summary_together() -> None:
    rules = [system(f"Rule {n}.") for n in range(5)]
    view = see(user(100), *(m for rule in rules for m in (rule, assistant(100))), user(50))
    edit = only(summarize_older(keep=60)(view, 300))
    assert isinstance(edit.into, Brief)
    assert [view.index[id] for id in (*edit.drop, *edit.into.also)] == [0, 2, 4, 6, 8, 10]


def test_a_span_whose_going_would_make_neighbours_of_two_replies_has_a_summary_of_its_own() -> None:
    kept = assistant(10, "kept")
    view = see(user(900), kept, user(900), assistant(10), pinned=[kept])
    edits = list(summarize_older(keep=15)(view, 1_500))
    assert places(view, edits) == [0, 2]
    assert [edit.into.also for edit in edits if isinstance(edit.into, Brief)] == [(), ()]


def test_a_summary_is_folded_into_the_next_one_but_not_by_itself() -> None:
    summary = Message("user", (Summary("done " * 1_000),))
    assert list(summarize_older(keep=100)(see(summary, user(100), assistant(90)), 500)) == []
    view = see(summary, user(1_000), assistant(90))
    assert places(view, summarize_older(keep=100)(view, 1_500)) == [0]


def test_a_summary_is_larger_for_the_users_words_and_not_for_what_a_file_marks_as_anothers() -> None:
    def size(by: str) -> int:
        given = Message("user", (Text("please " * 900, by=by),))  # type: ignore[arg-type]
        view = see(given, *(each for _ in range(30) for each in (user(5), assistant(2_000))))
        into = next(iter(summarize_older(keep=4_000, max_tokens=1_000)(view, 0))).into
        assert isinstance(into, Brief)
        return into.max_tokens

    assert size("") == size("user") == size("harness") + 900 == size("command") + 900


def test_words_are_not_cut_where_the_newest_part_alone_is_too_large() -> None:
    view = see(user(100), assistant(10_000), user(20_000))
    edit = only(summarize_older(keep=1_000, max_tokens=4_000, least=2_000)(view, 20_000))
    # of 30,100 tokens 10,100 may remain, which the newest message alone takes: the summary has its least all the same
    assert edit.into == Brief(2_000)
    hard = only(summarize_older(keep=1_000, max_tokens=4_000, least=0)(view, 20_000))
    assert hard.into == Brief(64)


def test_the_brief_carries_the_focus_and_a_size_that_fits() -> None:
    view = see(assistant(10_000), user(100))
    edit = only(summarize_older(keep=1_000, max_tokens=4_000, focus="the parser")(view, 9_000))
    # of 10,100 tokens 1,100 may remain, 100 of them stay, 32 are for the frame: the summary has 968
    assert edit.into == Brief(968, "the parser")


# -- truncate -----------------------------------------------------------------------------------------------------


def test_as_little_goes_as_frees_what_is_asked_and_the_notice_says_what() -> None:
    view = see(user(300, "first"), assistant(300), user(300, "second"), assistant(300), user(10))
    edit = only(truncate()(view, 400))
    assert edit.drop == tuple(entry.id for entry in view.entries[:2])
    assert not isinstance(edit.into, Brief)
    notice = edit.into[0].text.splitlines()
    assert notice[0] == f"[truncated: 2 earlier messages, 600 tokens; recall {view.entries[0].id}]"
    assert notice[1:] == ["The user said there:", "> " + ("first " * 300)[:400] + "…"]


def test_a_notice_quotes_nobody_else_as_the_user() -> None:
    reminded = Message("user", (Text("<system-reminder>\nThe list of tasks is empty.\n</system-reminder>"),))
    reported = Message(
        "user", (Text('<task-notification>\n<summary>Agent "tides" is done</summary>\n</task-notification>'),)
    )
    view = see(user(300, "first"), assistant(300), reminded, reported, assistant(300), user(10))
    edit = only(truncate()(view, 700))
    assert edit.drop == tuple(entry.id for entry in view.entries[:5])
    assert not isinstance(edit.into, Brief)
    assert edit.into[0].text.splitlines()[1:] == ["The user said there:", "> " + ("first " * 300)[:400] + "…"]


def test_no_pair_is_split_and_the_newest_message_stays() -> None:
    view = see(user(10), *read("a", 500), *read("b", 500, word="b"))
    edit = only(truncate()(view, 5_000))
    assert edit.drop == tuple(entry.id for entry in view.entries[:3])


def test_a_notice_carries_on_the_summary_that_stood_there() -> None:
    summary = Message("user", (Summary("The parser is done.", {"round": 3}),))
    view = see(summary, assistant(500), user(10))
    edit = only(truncate()(view, 300))
    assert not isinstance(edit.into, Brief)
    assert edit.into[0].text.endswith("The parser is done.")
    assert edit.into[0].summary is not None
    assert edit.into[0].summary.facts == {"round": 3}


def test_pins_stay_and_more_than_one_run_between_them_may_go() -> None:
    view = see(system("Be careful."), assistant(500), system("Be kind."), assistant(500), user(10))
    assert places(view, truncate()(view, 900)) == [1, 3]


def test_a_pinned_call_keeps_its_result() -> None:
    pair = read("a", 500)
    view = see(*pair, assistant(500), user(10), pinned=[pair[0]])
    assert places(view, truncate()(view, 300)) == [2]


def test_where_nothing_is_asked_nothing_goes() -> None:
    view = see(user(10), assistant(10))
    assert list(truncate()(view, 0)) == []
    assert list(truncate()(see(), 10)) == []
