"""Turns that no report of the agent closed: what it said amid its work is all the report there is."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from foldline import Brief, Message
from foldline.extend import Text, extract
from talk import bash, runs, user

ASKED = user("The nightly export of the mirrors fails since Tuesday. Please find out why, and make it run again.")
LOOKED = "cat src/export.py"


def page(messages: Sequence[Message], tokens: int = 6_000) -> str:
    return extract(Brief(tokens), messages).text


def acts(words: str, command: str = LOOKED, output: str = "a part of the exporter", *, error: bool = False) -> list[Message]:  # fmt: skip
    """A message of the agent that says something and calls a command, and what that brought."""
    called, answered = bash(command, output, error=error)
    return [Message("assistant", (Text(words), *called.calls)), answered]


def words_of(text: str) -> list[str]:
    """What the page tells of what was said amid the work, each text by itself."""
    lines = text.partition("## What happened\n")[2].partition("\n\n## ")[0].splitlines()
    return [line.removeprefix("· ") for line in lines if line.startswith("· ")]


# -- what leads in a call -----------------------------------------------------------------------------------------------


def test_of_words_that_lead_in_a_call_all_is_told_but_what_leads_it_in() -> None:
    cause = "Since `unlock` returns before counter_9 is written, mirror_7 never ends. This is the fault!"
    told = page([ASKED, *acts(f"{cause} Let me look at the lock more closely:")])
    assert cause in told
    assert "more closely" not in told


def test_a_list_that_such_words_lead_in_stands_below_its_own_line_however_long_they_are() -> None:
    before = (
        "The mirrors are read one after the other, and each of them waits for its lock as long as it takes, "
        "so that one dead share stops all that come behind it, which is what the desk saw on Tuesday night."
    )
    steps = ["1. give up a lock after 90 s", "2. go on with the next mirror", "3. say so in the log of the night"]
    told = page([ASKED, *acts(f"{before} The change should:\n" + "\n".join(steps))])
    lines = told.splitlines()
    at = lines.index("The change should:")
    assert lines[at + 1 : at + 4] == [f"  {step}" for step in steps]
    assert before in told


# -- whole texts --------------------------------------------------------------------------------------------------------


def test_what_was_worked_out_in_several_sentences_is_told_whole_where_older_words_have_its_names() -> None:
    first = "`unlock` writes counter_9, and mirror_7 reads counter_9 before the lock of share_3 ends."
    found = [
        "The lock of share_3 ends before mirror_7 reads counter_9.",
        "What `unlock` writes is never seen by mirror_7.",
        "A simple way out would be to read counter_9 twice.",
        "That would hide the fault on every other share, though.",
        "The lock of mirror_7 has to end behind `unlock`.",
        "I take that way.",
    ]
    told = words_of(page([ASKED, *acts(first), *acts(" ".join(found))]))
    assert told[-1] == " ".join(found)


def test_a_sentence_that_is_said_again_word_for_word_is_told_once() -> None:
    cause = "The lock of share_3 ends before mirror_7 reads counter_9, and no night since Tuesday has seen it written."
    first = "A lock of its own for each mirror would be slower by some 40 s a night."
    then = "Nobody but worker_4 gives the lock back, though, so `unlock` has to wait for worker_4."
    told = words_of(page([ASKED, *acts(f"{cause} {first}"), *acts(f"{cause} {then}")]))
    assert told == [f"{cause} {first}", then]


def test_what_only_says_what_comes_next_is_not_told_of_a_text() -> None:
    found = "The lock of share_3 ends before mirror_7 reads counter_9, and no night since Tuesday has seen it written."
    allows = "The new flag lets whoever is at the desk leave a share out of the night, and counter_9 says so."
    told = words_of(page([ASKED, *acts(f"I will now read the log. {found} {allows} Lets examine that next.")]))
    assert told == [f"{found} {allows}"]


def test_a_text_of_a_turn_without_a_report_is_told_whole_or_not_at_all_where_little_has_room() -> None:
    def text(n: int) -> str:
        return (
            f"The table of mirror_{n} is read by worker_{n} in one go, which takes {n + 40} s and more on share_{n}. "
            f"Its counter_{n} is written behind that by `write_{n}`. The night of Tuesday had {n + 900} rows in it."
        )

    said = [text(n) for n in range(30)]
    told = words_of(page([ASKED, *(m for each in said for m in acts(each))], 900))
    assert 3 < len(told) < 30
    assert {*told} <= {*said}


# -- lines without blanks behind their full stops -----------------------------------------------------------------------


def test_a_sentence_behind_which_no_blank_stands_ends_all_the_same() -> None:
    found = "The lock ends as we hoped, and the rows of counter_9 are all there when mirror_7 is read at night."
    line = (
        f"{found}Let's try it with a lock that nobody gives back, and with a share that is gone since the first of "
        "the month, which is the case that the desk wrote of on Tuesday, when the export had run for the whole of the night.A "
        "worker calls `unlock()`.`mirror()` is meant to take what is left then!The rest of the night goes on with the next share"
    )
    (told,) = words_of(page([ASKED, *acts(line)]))
    assert told.startswith(found)
    assert "Let's try it" not in told
    assert "`mirror()` is meant to take what is left then!" in told


@pytest.mark.parametrize(
    "name",
    ["threading.Thread", "os.Path", "sync.Mutex", "Version 2.All", "`go!` and `.`", "http://mirror.host/part.php?Id=7"],
)
def test_a_name_is_never_taken_for_the_end_of_a_sentence(name: str) -> None:
    line = f"The lock of mirror_7 is held by {name} for as long as the share is there, so that whoever waits for it waits for good, as the log of the night says."
    assert line in page([ASKED, *acts(line)])


def test_the_rest_of_a_sentence_that_was_too_long_is_marked_where_its_beginning_is_not_told() -> None:
    names = ", ".join(f"the lock of mirror_{n} by worker_{n}" for n in range(40))
    told = words_of(page([ASKED, *acts(f"The night takes {names}")], 480))
    assert told
    assert all(text.startswith(("The night takes", "… ")) for text in told)


def test_the_rest_of_a_long_sentence_that_only_says_what_comes_next_is_not_told_either() -> None:
    names = ", ".join(f"the lock of mirror_{n} by worker_{n}" for n in range(12))
    found = "The lock of share_3 ends before mirror_7 reads counter_9, and no night since Tuesday has seen it written."
    told = words_of(page([ASKED, *acts(f"I will now look for each of {names}, one after the other. {found}")]))
    assert told == [found]


# -- tries --------------------------------------------------------------------------------------------------------------


def tries(name: str, words: str = "", output: str = "ok", *, error: bool = False) -> list[Message]:
    """A script that the agent writes, runs by itself, and then says something of."""
    written = bash(f"cat > {name} <<'EOF'\nimport export\nlimit_of_rows = 9\nprint(export.rows(limit_of_rows))\nEOF")
    said = acts(words) if words else []
    return [*written, *bash(f"python {name}", output, error=error), *said]


FIXED = runs("edit", {"path": "src/export.py", "oldText": "def rows():", "newText": "def rows(limit=90):"})
FOUND = "With nine rows the lock of mirror_7 ends in time, and with ten it never does."


def test_scripts_that_the_agent_ran_to_try_something_are_one_line_behind_the_files_of_the_work() -> None:
    run = [m for n in range(8) for m in tries(f"look_{n}.py", f"That was none of the {n + 40} locks on share_{n}.")]
    told = page([ASKED, *run, *tries("look_8.py", FOUND), *FIXED])
    happened, _, files = told.partition("## Files\n")
    assert files.startswith("- changed: src/export.py")
    assert [line for line in files.splitlines() if "look_" in line] == files.splitlines()[-1:]
    assert "look_" not in happened.partition("## State")[0]
    assert "limit_of_rows" not in told
    assert FOUND in happened


def test_a_script_that_the_user_named_or_that_is_committed_is_part_of_the_work() -> None:
    asked = user("Please write count_1.py, count_2.py and count_3.py, which count the rows of each mirror.")
    named = [m for n in (1, 2, 3) for m in tries(f"count_{n}.py", FOUND)]
    assert "created: count_1.py" in page([asked, *named, *FIXED])
    commit = bash('git add -A && git commit -m "Count the rows"', "[main 1a2b3c4] Count the rows\n 4 files changed")
    assert "and run" not in page([ASKED, *named, *FIXED, *commit])
    assert "and run" in page([ASKED, *named, *FIXED])


def test_where_all_that_was_changed_was_made_scripts_are_the_work() -> None:
    own = [m for n in (1, 2, 3) for m in tries(f"count_{n}.py", FOUND)]
    assert "and run" not in page([ASKED, *own])


def test_what_was_tried_is_known_where_the_page_comes_back_as_text() -> None:
    told = page([ASKED, *(m for n in range(3) for m in tries(f"look_{n}.py", FOUND)), *FIXED])
    again = page([user(told), *acts(FOUND), *FIXED])
    assert all(f"look_{n}.py" in again for n in range(3))


def test_how_a_try_failed_is_told_where_the_agent_says_what_it_makes_of_it_and_where_nothing_came_behind() -> None:
    missing = "Traceback (most recent call last):\nModuleNotFoundError: No module named 'export'\nexit code: 1"
    wrong = "Traceback (most recent call last):\nAttributeError: mirror_7 has no lock\nexit code: 1"
    last = "Traceback (most recent call last):\nKeyError: counter_9\nexit code: 1"
    mine = "That is a fault of my own script, and none of the exporter: mirror_7 never had a lock of its own."
    run = [
        *tries("look_1.py", "", missing, error=True),
        *tries("look_2.py", mine, wrong, error=True),
        *tries("look_3.py", FOUND),
        *FIXED,
        *tries("look_4.py", "", last, error=True),
    ]
    told = page([ASKED, *run])
    assert "No module named" not in told
    assert "mirror_7 has no lock" in told
    assert mine in told
    assert "KeyError: counter_9" in told


# -- handing in ---------------------------------------------------------------------------------------------------------


def test_how_to_hand_in_what_was_found_is_a_rule_of_the_task_order() -> None:
    submit = "When you believe that you have found the word, you can hand it in by simply running the submit command."
    order = (
        "<pr_description>\nA word is hidden on the host mirror.desk.\n</pr_description>\n\n<instructions>\n"
        f"Remember, YOU CAN ONLY ENTER ONE COMMAND AT A TIME.\n{submit}\n</instructions>"
    )
    assert f"- (the instructions) {submit}" in page([user(order), *acts(FOUND)])


def test_how_far_the_work_was_is_told_once_where_the_next_words_say_it_again() -> None:
    steps = ["mirror_table", "mirror_import", "mirror_export", "mirror_report"]
    run = [
        m
        for n in range(len(steps))
        for m in (
            *acts(f"I have set up {', '.join(steps[: n + 1])} of the exporter in the folder of the night."),
            *FIXED,
        )
    ]
    told = page([ASKED, *run])
    assert "I have set up mirror_table, mirror_import, mirror_export, mirror_report of the exporter" in told
    assert told.count("I have set up") == 1
