"""The benchmark of memory measures what it says: each measure on a case made by hand, the controls at their ends."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
sys.path.append(str(BENCHMARKS))

from foldline import Message  # noqa: E402
from foldline.extend import Text, ToolCall, ToolResult  # noqa: E402
from memory_controls import CONTROLS, NOTES, ledger, names, tail, users_first  # noqa: E402
from memory_corpus import needed, needs  # noqa: E402
from memory_histories import Chat, History, as_chat, call, cut_at, interleaved, size, texts  # noqa: E402
from memory_material import HALVES, Fault, Labelled, Labels, Need, Passage, Replaced, Rule, labelled  # noqa: E402
from memory_measures import Count, faults, rules, shown, speakers, stale, state, task_intact, told  # noqa: E402
from memory_methods import METHODS, left  # noqa: E402
from memory_page import Folded  # noqa: E402
from memory_scores import Case, alone, amid, chained, scored  # noqa: E402
from memory_sentences import LATER, history, measured, sentences  # noqa: E402
from memory_words import literals, near, same, stands  # noqa: E402


def user(words: str) -> Chat:
    return {"role": "user", "content": words}


def agent(words: str) -> Chat:
    return {"role": "assistant", "content": words}


def ran(id: str, name: str, arguments: dict[str, str], answer: str = "ok") -> list[Chat]:
    return [
        {**agent(""), "tool_calls": [call(id, name, json.dumps(arguments))]},
        {"role": "tool", "tool_call_id": id, "content": answer},
    ]


TALK = [
    user("Please move my booking MUGYUB to the ferry of Sunday. Never charge the blue card."),
    *ran("a", "get_booking", {"ref": "MUGYUB"}, json.dumps({"cabin": 7114, "berths": "two", "deck": "lower"})),
    agent("The booking is in cabin 7114 on the lower deck. The ferry of Sunday leaves at 09:25, fee 18.50."),
    user("ok"),
    *ran("b", "list_rows", {"page": "1"}, "\n".join(f"row {n * 37}, shelf {n * 53}" for n in range(150))),
    agent("Nothing of that list matters."),
    user("Then tell me what the dog kennel costs on that ferry, we bring Bruno."),
    *ran("c", "price", {"item": "kennel"}, "kennel, large: 31.40"),
    agent("The kennel costs 31.40 for a large dog. Shall I add it?"),
]
NEEDS = (
    Need("MUGYUB", ("booking", "ferry"), far=True),
    Need("7114", ("cabin", "deck"), far=True),
    Need("31.40", ("kennel", "costs")),
)
LABELS = Labels(
    task=("tell me what the dog kennel costs on that ferry",),
    rules=(Rule("Never charge the blue card.", "standing"), Rule("Only tell me, change nothing.", "once")),
    not_rules=("we bring Bruno",),
    needed=NEEDS,
    next=("add the kennel",),
    done=("look up the cabin",),
    open_errors=(Fault("test_kennel", "KeyError: 'kennel'"),),
    closed_errors=(Fault("test_fee", "assert 18 == 19"),),
    speakers=(Passage("Keep replies readable on a small screen.", "harness"), Passage("we bring Bruno", "user")),
)
SAID = Labelled("made", "service", "en", TALK, LABELS)


def page(*lines: str, kept: list[Chat] | None = None) -> Folded:
    return Folded(TALK, [user("\n".join(lines)), *(kept or [])])


# -- words -------------------------------------------------------------------------------------------------------


def test_literals_are_paths_names_codes_numbers_and_what_is_quoted() -> None:
    text = 'Open src/a_b.py, call makeThing(4711) on 1.2.3 for MUGYUB on 2025-06-30 and say "not enough room" then stop'
    expected = {"src/a_b.py", "makeThing", "4711", "1.2.3", "MUGYUB", "2025-06-30", "not enough room"}
    assert literals(text, quoted=True) == expected


@pytest.mark.parametrize(
    ("text", "word", "found"),
    [("port 8417.", "8417", True), ("18417", "8417", False), ("/x/src/a.py", "src/a.py", True), ("a_bc", "a_b", False)],
)
def test_a_word_stands_only_by_itself(text: str, word: str, found: bool) -> None:
    assert stands(text, word) is found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The cabin on the lower deck is 7114.", True),
        ('{"cabin": 7114, "deck": "lower"}', True),
        ("cabin 7114 src/deck/plan.py", False),
        ("cabin_plan 7114 deck_plan", False),
        ("7114", False),
        (f"cabin 7114 {'x ' * 200} deck", False),
    ],
)
def test_a_literal_is_told_by_words_near_it_that_are_no_names(text: str, found: bool) -> None:
    assert near(text, "7114", ("cabin", "deck"), 2) is found


def test_words_in_writing_without_spaces_stand_anywhere() -> None:
    assert near("予約番号はYM48213Kです。料金は別です。", "YM48213K", ("予約番号", "料金"), 2)
    assert near("예약번호는 YM48213K 이고 요금은 없어요", "YM48213K", ("예약번호", "요금"), 2)


@pytest.mark.parametrize(
    ("line", "passage", "found"),
    [
        ("> **Never** charge the blue card", "never charge the blue card.", True),
        ("- so: never charge the blue card, ok", "Never charge the blue card.", True),
        ("never charge", "Never charge the blue card.", False),
        ("", "Never", False),
    ],
)
def test_a_line_says_the_same_where_one_holds_the_other(line: str, passage: str, found: bool) -> None:
    assert same(line, passage) is found


# -- told --------------------------------------------------------------------------------------------------------


def test_no_folding_tells_everything_and_nothing_tells_nothing() -> None:
    assert told(NEEDS, texts(TALK)) == Count(3, 3)
    assert told(NEEDS, []) == Count(0, 3)


def test_a_list_of_names_shows_and_does_not_tell() -> None:
    listed = texts(names(History(TALK), 10_000))
    assert shown(NEEDS, listed) == Count(3, 3)
    assert told(NEEDS, listed) == Count(0, 3)


def test_a_tail_tells_nothing_of_what_was_said_first() -> None:
    case = Case("made", "service", TALK, NEEDS)
    newest = texts(tail(case.history, case.history.tokens // 4))
    assert told(case.near, newest) == Count(1, 1)
    assert told(case.far, newest) == Count(0, 2)


def test_a_page_tells_in_sentences() -> None:
    folded = page("## What happened", "**1** > move my booking MUGYUB to the ferry", "It is cabin 7114, lower deck.")
    assert told(NEEDS, folded.said) == Count(2, 3)


# -- the task, rules, speakers, what no longer holds, state ------------------------------------------------------


def test_a_task_is_intact_only_uncut_and_as_the_users() -> None:
    assert task_intact(LABELS, page("## Task now", "> Then tell me what the dog", "> kennel costs on that ferry, ok"))
    assert not task_intact(LABELS, page("## Task now", "> Then tell me what the dog kennel …"))
    assert task_intact(LABELS, Folded(TALK, TALK[-4:]))
    assert not task_intact(LABELS, Folded(TALK, TALK[-3:]))


def test_rules_are_held_against_those_that_bind() -> None:
    found = rules(
        LABELS,
        page(
            "## Rules that stand",
            "- Never charge the blue card.",
            "- Only tell me, change nothing.",
            "- We bring Bruno",
            "- Keep replies readable on a small screen.",
            "- something else",
            "## State",
            "- Never charge the blue card.",
        ),
    )
    assert (found.found, found.known) == (Count(1, 1), Count(1, 1))
    assert (found.right, found.over, found.wrong, found.unlabelled) == (1, 1, 2, 1)
    assert found.precision == Count(1, 5)
    assert found.labelled_precision == Count(1, 4)


def test_a_whole_message_is_no_rule_and_a_kept_message_tells_one() -> None:
    long = page("## Rules that stand", f"- {'We talk about many things. ' * 20} Never charge the blue card.")
    assert rules(LABELS, long).found == Count(0, 1)
    kept = rules(LABELS, Folded(TALK, TALK[:1]))
    assert (kept.found, kept.known, kept.precision) == (Count(0, 1), Count(1, 1), Count(0, 0))


@pytest.mark.parametrize(
    ("lines", "wrong", "pasted"),
    [
        (["## What happened", "**1** > Keep replies readable on a small screen."], 1, 0),
        (["## What happened", "Keep replies readable on a small screen."], 0, 0),
        (["## Task now", "Keep replies readable on a small screen."], 1, 0),
        (["## What happened", "> The booking is in cabin 7114 on the lower deck."], 1, 0),
        (["## What happened", "> Then tell me what the dog kennel costs on that ferry, we bring Bruno."], 0, 0),
        (["## What happened", "> look at this: receipt 1 of 2 of 12 May, card 2046"], 0, 1),
    ],
)
def test_nobody_else_speaks_as_the_user(lines: list[str], wrong: int, pasted: int) -> None:
    labels = LABELS._replace(speakers=(*LABELS.speakers, Passage("receipt 1 of 2 of 12 May", "paste")))
    found = speakers(labels, TALK, page("## Task now", "> what the dog kennel costs", *lines))
    assert (len(found.wrong), len(found.pasted)) == (wrong, pasted)


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        (["The ferry leaves at 09:25."], 1),
        (["The ferry leaves at 09:25.", "x " * 300, "> no: take the ferry of 11:40"], 0),
        (["> take the ferry of 11:40", "x " * 300, "The ferry leaves at 09:25."], 1),
        (["The ferry leaves at 11:40 (earlier 09:25)."], 0),
        (["The ferry leaves at 09:25 *(changed in turn 4)*."], 0),
        (["The post comes at 09:25."], 0),
    ],
)
def test_a_value_is_stale_where_nothing_corrects_it(lines: list[str], wrong: int) -> None:
    labels = Labels(stale=(Replaced("09:25", "11:40", ("ferry",)),))
    assert stale(labels, page(*lines)) == Count(wrong, 1)


def test_the_state_tells_what_is_open_and_nothing_else() -> None:
    right = state(LABELS, page("## State", "- open: add the kennel", "- test_kennel: KeyError: 'kennel'"))
    assert right == (Count(1, 1), Count(1, 1), Count(1, 1), Count(1, 1))
    wrong = state(LABELS, page("## State", "- open: look up the cabin", "- test_fee: assert 18 == 19"))
    assert wrong == (Count(0, 1), Count(0, 1), Count(0, 1), Count(0, 1))
    marked = state(LABELS, page("## State", "- done: look up the cabin", "- [x] test_fee: assert 18 == 19"))
    assert marked == (Count(0, 1), Count(0, 0), Count(0, 1), Count(0, 0))
    kept = state(LABELS, Folded(TALK, [agent("Next: add the kennel")]))
    assert kept.steps_told == Count(0, 1)


def test_a_step_in_a_message_that_stayed_is_told() -> None:
    talk = [*TALK, agent("Still open:\n- add the kennel")]
    assert state(LABELS, Folded(talk, talk[-1:])).steps_told == Count(1, 1)


def test_a_half_of_a_pair_is_a_fault() -> None:
    assert faults(TALK) == []
    assert faults(TALK[2:]) == ["result without call a"]
    assert faults([TALK[1], TALK[0]]) == ["call without result a"]


# -- methods -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in METHODS if name != "no folding"])
@pytest.mark.parametrize("share", [0.2, 0.5])
def test_every_method_meets_the_budget_with_a_valid_history(name: str, share: float) -> None:
    folded = left(History(TALK), name, share)
    assert folded.refused or folded.used <= 1
    assert faults(folded.messages) == []


def test_the_users_words_come_first_and_in_order() -> None:
    first = users_first(History(TALK), 70)
    assert [m for m in first if m["role"] == "user"] == [m for m in TALK if m["role"] == "user"]
    assert first == [m for m in TALK if m in first]


def test_the_ledger_keeps_what_says_much_and_its_own_notes() -> None:
    notes = ledger(History(TALK), 300)
    assert notes[0]["content"].startswith(NOTES)
    assert "user: Please move my booking MUGYUB" in notes[0]["content"]
    assert "user: ok" not in notes[0]["content"]
    again = ledger(History([*notes, *TALK[4:]]), 300)
    assert "MUGYUB" in again[0]["content"]


@pytest.mark.parametrize("control", CONTROLS.values())
def test_controls_answer_an_empty_history(control: Callable[[History, int], list[Chat]]) -> None:
    assert size(control(History([]), 100)) <= 100


# -- histories and scores ----------------------------------------------------------------------------------------


def test_foldlines_own_messages_read_as_dicts() -> None:
    own = [
        Message("user", (Text("hi"),)),
        Message("assistant", (Text("look"), ToolCall("a", "read", '{"path": "x.py"}'))),
        Message("user", (ToolResult("a", (Text("x = 1"),)), Text("and now?"))),
    ]
    read = as_chat(own)
    assert [m["role"] for m in read] == ["user", "assistant", "tool", "user"]
    assert texts(read) == ["hi", "look\nread path: x.py", "x = 1", "and now?"]
    assert as_chat([{"role": "user", "content": [{"type": "text", "text": "hi"}]}]) == [user("hi")]


def test_interleaved_conversations_keep_their_order_and_their_pairs() -> None:
    other = [user("another one"), *ran("z", "list_rows", {"page": "2"}, "y" * 400), agent("done with it")]
    mixed = interleaved([TALK, other])
    assert [m for m in mixed if m in TALK] == TALK
    assert [m for m in mixed if m in other] == other
    assert faults(mixed) == []
    assert all(TALK[cut_at(TALK, n / 10)]["role"] != "tool" for n in range(9))


def test_every_measure_of_a_history_that_is_whole_is_right() -> None:
    score = scored(alone([SAID])[0], "no folding", 0.5)
    assert (score.near, score.far, score.task) == (Count(1, 1), Count(2, 2), Count(1, 1))
    assert score.rules.known == Count(1, 1)
    assert (score.speakers.wrong, score.stale, score.faults) == ((), Count(0, 0), 0)
    assert score.used == pytest.approx(2, abs=0.1)


def test_amid_others_nothing_is_asked_that_those_say_too() -> None:
    others = [SAID._replace(name=f"o{n}", messages=[user(f"row {n}: 31.40 for the kennel")]) for n in range(6)]
    case = amid([SAID, *others])[0]
    assert [need.value for need in case.needs] == ["MUGYUB", "7114"]
    assert len(case.history.chat) == len(TALK) + 6


@pytest.mark.parametrize("name", ["foldline", "ledger", "no folding"])
def test_five_folds_are_held_against_one(name: str) -> None:
    found = chained(alone([SAID])[0], name, 0.5)
    assert found.once.of == found.kept.of == found.handed_on.of == 3
    if name == "no folding":
        assert found.kept.right == found.once.right == 3


# -- what is measured on -----------------------------------------------------------------------------------------


def test_what_a_session_needed_is_found_by_what_it_wrote_later() -> None:
    after = [*ran("d", "book", {"ref": "MUGYUB", "cabin": "7114"}), *ran("e", "pay", {"sum": "31.40", "to": "99817"})]
    assert needed(TALK, after) == ["7114", "MUGYUB", "31.40"]
    assert needed(TALK, [user("it is MUGYUB"), *after], unfair={"7114"}) == ["31.40"]


def test_a_needed_literal_comes_with_plain_words_from_beside_it() -> None:
    found = {need.value: need for need in needs(["7114", "31.40", "99817"], TALK)}
    assert set(found) == {"7114", "31.40"}
    assert {"cabin", "lower"} <= set(found["7114"].about)
    assert (found["7114"].far, found["31.40"].far) == (True, False)


@pytest.mark.parametrize("half", HALVES)
def test_the_labels_hold_in_their_sessions(half: str) -> None:
    for said in labelled(half):
        users = "\n".join(texts(m for m in said.messages if m["role"] == "user"))
        assert said.unsound <= 5, said.name
        assert faults(said.messages) == [], said.name
        assert all(" ".join(rule.text.split()) in " ".join(users.split()) for rule in said.labels.rules), said.name
        assert len(said.labels.needed) >= 8, said.name


def test_the_halves_share_no_session_and_no_sentence() -> None:
    folders = [BENCHMARKS / "material" / half for half in HALVES]
    opened = [{said.messages[0]["content"] for said in labelled(half)} for half in HALVES]
    assert not opened[0] & opened[1]
    single = [{words for _, words, _ in sentences(folder)} for folder in folders]
    assert not single[0] & single[1]


def test_a_sentence_stands_before_another_request() -> None:
    made = history("Never use tabs.", "de")
    assert made[0] == user("Never use tabs.")
    assert [m["content"] for m in made if m["role"] == "user"][1] == LATER["de"]
    assert faults(made) == []
    found = measured("Never use tabs.", "en", Labels(rules=(Rule("Never use tabs.", "standing"),)))
    assert found.found.of == 1


# -- the command -------------------------------------------------------------------------------------------------


def run(*argv: str) -> str:
    command = [sys.executable, str(BENCHMARKS / "memory.py"), *argv]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    told = run("--material", str(tmp_path), "--corpus", str(tmp_path), "--parts", "labelled,sentences,recorded")
    assert told.count("NO LABELLED SESSIONS") == told.count("NO RECORDED SESSIONS") == 2
    assert told.count("no sentences") == 2


def test_the_sealed_half_prints_figures_and_no_text(tmp_path: Path) -> None:
    said = {
        "name": "made",
        "kind": "service",
        "language": "en",
        "messages": TALK,
        "labels": {
            "task": list(LABELS.task),
            "needed": [{"value": n.value, "about": n.about, "where": "far" if n.far else "near"} for n in NEEDS],
        },
    }
    for half in HALVES:
        (tmp_path / half).mkdir()
        (tmp_path / half / "made.json").write_text(json.dumps(said))
    told = {
        half: run("--material", str(tmp_path), "--half", half, "--parts", "labelled", "--missed") for half in HALVES
    }
    assert all("told, far (2)" in each for each in told.values())
    assert "made: missed" in told["tune"]
    assert "made" not in told["sealed"].replace(str(tmp_path), "")
