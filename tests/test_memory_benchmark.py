"""The benchmark of memory measures what it says: each metric on a case made by hand, and the controls at their ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
sys.path.append(str(BENCHMARKS))

from foldline.messages import Message, Summary, Text, ToolCall, ToolResult  # noqa: E402
from memory_cases import REPORT, TUNE, Case, needed, newest  # noqa: E402
from memory_methods import METHODS, size  # noqa: E402
from memory_metrics import changed, faults, made_faults, seen, share, stale, trail, trail_kept, user_lines, words_kept  # noqa: E402
from memory_planted import CORRECTIONS, RULES, Correction, assistant, planted, user  # noqa: E402
from memory_scores import ROUNDS, chained_scores, hindsight  # noqa: E402
from memory_words import literals, stands  # noqa: E402


def runs(id: str, name: str, arguments: dict[str, str], answer: str = "ok", *, error: bool = False) -> list[Message]:
    return [
        Message("assistant", (ToolCall(id, name, json.dumps(arguments)),)),
        Message("tool", (ToolResult(id, (Text(answer),), error),)),
    ]


def summary(text: str) -> Message:
    return Message("user", (Summary(text),))


def work(tag: str = "") -> list[Message]:
    return [
        user("Please look at src/billing/rounding.py, the port is 8417."),
        *runs(f"{tag}a", "read", {"path": "src/billing/rounding.py"}, "def round_half_even(total_net): ...\n" * 40),
        *runs(f"{tag}b", "write", {"path": "src/new_file.py", "content": "x = 1"}),
        *runs(f"{tag}c", "bash", {"command": "rm src/old_file.py"}),
        assistant("I'll go on with it."),
    ]


BEFORE = work()
AFTER = [
    *runs("d", "bash", {"command": "grep -n total_net src/other_place.py"}, "src/billing/rounding.py:4: total_net"),
    *runs("e", "edit", {"path": "src/billing/rounding.py", "oldText": "round_half_even", "newText": "8417"}),
]


def test_literals_are_paths_names_numbers_and_what_is_quoted() -> None:
    text = 'Open src/a_b.py, call makeThing(4711) on 1.2.3 and say "not enough room" then stop'
    assert literals(text, quoted=True) == {"src/a_b.py", "makeThing", "4711", "1.2.3", "not enough room"}


@pytest.mark.parametrize(
    ("text", "word", "found"),
    [("port 8417.", "8417", True), ("18417", "8417", False), ("/x/src/a.py", "src/a.py", True), ("a_bc", "a_b", False)],
)
def test_a_word_stands_only_by_itself(text: str, word: str, found: bool) -> None:
    assert stands(text, word) is found


def test_needed_is_what_was_written_later_and_not_shown_again_in_between() -> None:
    # the path is shown by the tool before it is edited; src/other_place.py never stood before the cut
    assert set(needed(BEFORE, AFTER)) == {"total_net", "round_half_even", "8417"}
    assert "8417" not in needed(BEFORE, AFTER, unfair={"8417"})


def test_no_folding_scores_one_and_an_empty_summary_nothing() -> None:
    words = needed(BEFORE, AFTER)
    assert share(words, seen(METHODS["no folding"](BEFORE, 10, words).messages)) == 1.0
    assert share(words, seen(METHODS["empty summary"](BEFORE, 10, words).messages)) == 0.0
    assert share(words, seen(METHODS["oracle"](BEFORE, 80, words).messages)) == 1.0


@pytest.mark.parametrize("name", [name for name in METHODS if name not in ("no folding", "empty summary")])
@pytest.mark.parametrize("budget", [150, 400])
def test_every_method_meets_the_budget_with_a_valid_history(name: str, budget: int) -> None:
    kept = METHODS[name](BEFORE, budget, ["total_net"])
    assert kept.refused or size(kept.messages) <= budget
    assert [fault for fault in made_faults(BEFORE, kept.messages) if "begins" not in fault] == []


def test_what_a_fold_replaced_is_recalled() -> None:
    kept = METHODS["foldline: fold_to"](BEFORE, 260, [])
    assert share(needed(BEFORE, AFTER), seen([*kept.messages, *kept.recalled])) == 1.0


def test_the_users_words_are_counted_by_line_and_only_their_own() -> None:
    history = [
        user("one line here\nand another one"),
        user("<system-reminder>no words</system-reminder>"),
        *BEFORE[1:3],
    ]
    lines = user_lines(history)
    assert lines == ["one line here", "and another one"]
    assert words_kept(lines, history) == 1.0
    assert words_kept(lines, [summary("> one line here")]) == pytest.approx(13 / 28)


FACT = Correction("7001", "7002", "The door is 7001.", "I use 7001.", "sorry, 7002")
TALK = [user(FACT.told), assistant(FACT.taken), user(FACT.corrected)]


@pytest.mark.parametrize(
    ("left", "wrong"),
    [
        (TALK, False),
        (TALK[:2], True),
        ([summary("- I use 7001.")], True),
        ([summary("- I use 7001."), TALK[2]], False),
        ([summary("> sorry, 7002\n> The door is 7001.")], False),
        ([summary("> The door is 7001.")], True),
        ([summary("> The door is 7001. (corrected later)")], False),
        ([summary("- the door is 7002")], False),
    ],
)
def test_a_value_is_stale_where_nothing_corrects_it(left: list[Message], wrong: bool) -> None:
    assert bool(stale([FACT], TALK, left)) is wrong


def test_the_trail_comes_from_calls_that_went_well() -> None:
    failed = runs("f", "edit", {"path": "src/never.py"}, "no such file", error=True)
    files = trail([*BEFORE, *failed])
    assert set(files) == {"src/billing/rounding.py", "src/new_file.py", "src/old_file.py"}
    assert files["src/old_file.py"] == {"deleted"}
    assert set(changed(files)) == {"src/new_file.py", "src/old_file.py"}
    assert trail_kept(files, BEFORE) == 1.0
    assert trail_kept(files, [summary("- created: src/new_file.py\n- read in src/billing/: rounding.py")]) == 2 / 3
    assert trail_kept(files, [summary("src/new_file.py src/old_file.py src/billing/rounding.py")]) == 0.0


def test_a_half_of_a_pair_is_a_fault() -> None:
    assert faults(BEFORE) == []
    assert faults(BEFORE[2:]) == ["result without call a"]
    assert faults([BEFORE[1], BEFORE[0]]) == ["call without result a"]


@pytest.mark.parametrize("split", list(RULES))
def test_what_is_planted_stands_in_order_and_splits_no_pair(split: str) -> None:
    histories = [planted(BEFORE, split, turn) for turn in range(len(CORRECTIONS[split]))]
    texts = [[message.text for message in history] for history in histories]
    assert all(any(rule in said for said in texts) for rule in RULES[split])
    for fact in CORRECTIONS[split]:
        places = [(said.index(fact.told), said.index(fact.corrected)) for said in texts if fact.told in said]
        assert places
        assert all(told < corrected for told, corrected in places)
    assert not any(map(faults, histories))


def test_the_splits_share_no_session_and_no_wording() -> None:
    assert not set(TUNE) & set(REPORT)
    tune, report = CORRECTIONS["tune"], CORRECTIONS["report"]
    assert not {f.corrected for f in tune} & {f.corrected for f in report}
    assert not set(RULES["tune"]) & set(RULES["report"])


def test_the_newest_stretch_begins_where_a_user_speaks_or_brings_the_task() -> None:
    assert newest([*work("x"), *work("y"), *work("z")], size(BEFORE) + 4)[0].role == "user"


def test_no_folding_is_whole_and_over_the_budget() -> None:
    case = Case("made", BEFORE, needed(BEFORE, AFTER))
    whole, empty = (hindsight([case], name, 0.2) for name in ("no folding", "empty summary"))
    assert (whole["shown"], whole["over"], whole["faults"]) == ([1.0], [True], [0])
    assert (empty["shown"], empty["over"]) == ([0.0], [False])


@pytest.mark.parametrize("split", list(RULES))
def test_over_five_rounds_no_folding_keeps_everything_and_the_tail_does_not(split: str) -> None:
    history = planted([message for tag in "uvwxyz" for message in work(tag)], split)
    whole = chained_scores([history], split, "no folding", 0.5)
    assert len(whole) == ROUNDS
    for scores in whole:
        assert [scores[name] for name in ("user words", "rules", "file trail", "changed files")] == [[1.0]] * 4
        assert scores["stale values"] == [0]
    tail = chained_scores([history], split, "tail", 0.3)[-1]
    assert tail["rules"][0] < 1.0 > tail["user words"][0]


def test_without_sessions_nothing_is_measured(tmp_path: Path) -> None:
    argv = [sys.executable, str(BENCHMARKS / "memory.py"), str(tmp_path)]
    ended = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert ended.stdout == f"no sessions in {tmp_path}: nothing measured\n"
