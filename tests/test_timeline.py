"""What happened, as a reader wants it: lists as lists, sentences with what they lean on, decisions with their reasons."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import pytest

from foldline import Brief, Message, Summary
from foldline._facts.merging import merge
from foldline._facts.reading import facts_of
from foldline._facts.splitting import split
from foldline._facts.types import Piece
from foldline._messages import replace
from foldline._page.extract import compose
from foldline.extend import SUMMARY_PREFIX, SUMMARY_SUFFIX, Text, Thinking, ToolCall, ToolResult, extract
from talk import bash, runs, says, user

ASKED = user("The nightly export of the mirrors fails since Tuesday. Please find out why, and make it run again.")
LATER = user("Now write the release notes of the exporter for the people at the desk, half a page of plain words.")
EDIT = runs("edit", {"path": "src/export.py", "oldText": "a", "newText": "b"})


def happened(messages: Sequence[Message], tokens: int = 1_500) -> list[str]:
    """The lines of what happened."""
    text = extract(Brief(tokens), messages).text
    return text.partition("## What happened\n")[2].partition("\n\n## ")[0].splitlines()


def told_of(messages: Sequence[Message], tokens: int) -> str:
    """The same as one text."""
    return "\n".join(happened(messages, tokens))


@pytest.mark.parametrize("where", ["`src/footer.ts`", "footer (line 12)", 'the "footer"'])
def test_a_line_in_bold_keeps_what_closes_its_last_word(where: str) -> None:
    told = happened([ASKED, says(f"Found it.\n\n**Place: {where}**\n\nFrom left to right all is drawn there."), LATER])
    assert f"Place: {where}" in told


# -- offers and questions -------------------------------------------------------------------------------------------

OFFERED = [
    ("The mirrors sync at 3 am and not at 2 am.", "Let me know if you want me to adjust anything."),
    ("The mirrors sync at 3 am and not at 2 am.", "Would you like me to adjust any of these? For example:\n- the hour\n- the day"),
    ("镜像现在凌晨三点同步，不再是两点。", "需要我调整任何部分吗？"),
    ("镜像现在凌晨三点同步，不再是两点。", "需要我调整任何部分吗？比如：\n- 时间\n- 日期"),
    ("Os espelhos sincronizam às 3 da manhã.", "Se quiser, posso também mudar o dia."),
    ("Les miroirs se synchronisent à 3 heures.", "Souhaitez-vous que je change autre chose ?"),
]  # fmt: skip


@pytest.mark.parametrize(("done", "offer"), OFFERED)
def test_what_stands_before_an_offer_that_the_user_passed_over_is_told_and_the_offer_is_not(
    done: str, offer: str
) -> None:
    told = told_of([ASKED, says(f"{done} {offer}"), LATER], 1_500)
    assert done in told
    assert not any(line in told for line in re.split(r"[?？。:：\n]\W*", offer) if line)


def test_what_another_agent_says_before_an_offer_is_told() -> None:
    rows = " ".join(
        f"The struct of mirror_{n} has its tags in camelCase as well, as `rows_{n}.py` wants." for n in range(9)
    )
    answer = (
        f"Report\n- `rows.py`: tags\n\n{rows}\n\nConverted 25 tags of it. If you want, I can convert the tests as well."
    )
    told = told_of([ASKED, *runs("Task", {"prompt": "Convert the tags."}, answer)], 1_500)
    assert "Converted 25 tags of it." in told
    assert "If you want" not in told


def test_what_stands_before_a_question_that_the_user_answered_otherwise_is_told() -> None:
    told = told_of([ASKED, says("The certificate had run out. Is the clock of the host right?"), LATER], 1_500)
    assert "The certificate had run out." in told
    assert "Is the clock" not in told


# -- reports --------------------------------------------------------------------------------------------------------


def review(*findings: str, verdict: str) -> str:
    """A review as agents write it, with its verdict in a line of its own."""
    found = "\n\n".join(findings)
    return (
        f"## Review\n\n**{verdict}**\n\n---\n\n### Strengths\n\nThe names say what they mean.\n\n### Issues\n\n{found}"
    )


@pytest.mark.parametrize(
    "verdict",
    [
        "Verdict: Approve with two suggestions",
        "Gesamturteil: freigeben mit zwei Hinweisen",
        "判定：批准，有两个建议",
        "Вердикт: принять с двумя замечаниями",
    ],
)
def test_the_verdict_of_a_review_is_told_though_it_is_set_as_a_heading(verdict: str) -> None:
    told = told_of([ASKED, says(review("1. The lock is held too long.", verdict=verdict)), LATER], 2_000)
    assert verdict in told


def test_each_turn_that_a_report_closed_says_what_came_of_it_before_older_reports_have_the_room() -> None:
    def long(name: str) -> str:
        lines = (
            f"- `{name}_{n}.py` reads the rows of table {n} by a cursor of its own, and closes it late."
            for n in range(18)
        )
        return f"The folder {name} is not fit for the move to the new share.\n\nWhat was found there:\n" + "\n".join(
            lines
        )

    names = ["mirrors", "counters", "labels", "drawers", "shelves", "desks"]
    messages = [
        m
        for name in names
        for m in (user(f"Please look at the folder {name}, and say what is wrong with it."), says(long(name)))
    ]
    quick = [user("Please review the last commit of the exporter, and return findings only."), says("No findings.")]
    told = told_of([*messages, *quick, LATER], 2_000)
    assert [name for name in names if f"The folder {name} is not fit for the move" not in told] == []
    assert "No findings." in told


@pytest.mark.parametrize(
    "label", ["Still clearly open from the plan:", "What is still genuinely not done:", "Still open:"]
)
def test_of_lists_of_what_is_open_the_newest_is_told_and_no_older_one_of_the_same_work(label: str) -> None:
    older = "- the lock of the share\n- timeouts of the counters\n- release notes for the desk"
    newer = "- the lock of the share by worker_2\n- a test of the full share"
    first, second = (says(f"Two steps landed.\n\n{label}\n{each}\n\nThe branch is clean.") for each in (older, newer))
    told = told_of([ASKED, first, user("just keep going until all of that is done"), *EDIT, second, LATER], 2_000)
    assert "a test of the full share" in told
    assert "timeouts of the counters" not in told
    assert "timeouts of the counters" in told_of([ASKED, first, LATER], 2_000)


@pytest.mark.parametrize(
    "stale",
    [
        "No files were changed.",
        "Keine Dateien wurden geändert.",
        "No se modificaron archivos.",
        "没有修改任何文件。",
    ],
)
def test_what_a_report_says_only_of_its_moment_is_not_told_once_work_went_on(stale: str) -> None:
    asked = [ASKED, says(f"The share has been full since Tuesday, so the export stops at 12:45.\n\n{stale}")]
    page = extract(Brief(2_000), [*asked, user("fix it"), *EDIT]).text
    assert "The share has been full since Tuesday" in page
    assert stale not in page
    assert stale in extract(Brief(2_000), [*asked, LATER]).text


def test_what_was_said_on_the_way_to_a_report_that_the_task_tells_is_not_told_beside_it() -> None:
    way = "The odd part is that the error names the lock of mirror_7, because nobody holds it."
    looked = [Message("assistant", (Text(way), *bash("cat desk.log")[0].parts)), bash("cat desk.log", "no holder")[1]]
    report = says("The share is full since Tuesday.\n\n- Nothing else is wrong with it.\n- Emptying it would do.")
    asked = user("why does the export fail")
    assert way in told_of([asked, *looked, report, LATER], 2_000)
    text = extract(Brief(2_000), [asked, *looked, report, user("make a pr"), *EDIT]).text
    assert "The share is full since Tuesday." in text
    assert way not in text


def test_a_review_that_is_given_once_more_is_told_once_also_where_the_task_tells_it() -> None:
    findings = (
        "The lock of `mirror_7` is held while the share is written, which stops worker_2 for 45 s (`export.py:12`).",
        "The counter of `desk_9` is read twice, and the second value is thrown away (`counter.py:98`).",
        "No test covers the case that the share of the desk is full when the export begins (`test_export.py`).",
    )
    numbered = [f"{n}. {each}" for n, each in enumerate(findings, 1)]
    anew = [f"{n}. {each}" for n, each in enumerate(findings[::-1], 1)]
    asked = user("Please review the branch of the nightly export, and say what is wrong with it.")
    messages = [
        asked,
        says(review(*numbered, verdict="Verdict: approve")),
        user("is the branch up to date?"),
        says("It is."),
    ]
    messages += [user("back to the review please"), says(review(*anew, verdict="Verdict: approve")), user("do 1 and 3")]
    text = extract(Brief(3_000), [*messages, *EDIT]).text
    assert text.count("`counter.py:98`") == 1
    assert "`counter.py:98`" in text.partition("## What happened")[0]


# -- lists and lines ------------------------------------------------------------------------------------------------


PLAN = (
    "The plan:\n- a lock of its own for each mirror_7\n- a timeout of 45 s for the share\n\n"
    "Nobody else reads counter_9 while the export runs.\n\n"
    "It can be done in two ways:\n1. stop worker_2 first\n2. let worker_2 wait for the lock"
)


def test_the_items_of_a_list_stand_in_lines_below_the_one_that_leads_them_in() -> None:
    told = happened([ASKED, says(PLAN), LATER])
    at = told.index("The plan:")
    assert told[at + 1 : at + 7] == [
        "  - a lock of its own for each mirror_7",
        "  - a timeout of 45 s for the share",
        "Nobody else reads counter_9 while the export runs.",
        "It can be done in two ways:",
        "  1. stop worker_2 first",
        "  2. let worker_2 wait for the lock",
    ]


def test_an_item_by_itself_is_told_with_the_line_that_leads_it_in() -> None:
    filler = "\n".join(f"- the share and the other things of the house stay as they were, {i}" for i in range(30))
    told = happened([ASKED, says(f"These stay as they are:\n{filler}\n- mirror_7/counter_9.lck\n"), LATER], 260)
    at = next(i for i, line in enumerate(told) if "mirror_7/counter_9.lck" in line)
    assert any("These stay as they are:" in line for line in told[:at])


def test_every_line_of_the_user_is_quoted() -> None:
    words = "Two things about the export of mirror_7:\n- keep counter_9 as it is\n- and log what worker_2 waits for\nThe rest is yours to decide, as long as the people at the desk can read it."
    told = happened([user(words), says("All of it is done and tested on mirror_7."), LATER])
    mine = told[: told.index("All of it is done and tested on mirror_7.")]
    assert len(mine) >= 4
    assert all(line.removeprefix("**1** ").startswith("> ") for line in mine)


def test_a_list_is_a_list_still_where_the_page_comes_back_as_text() -> None:
    messages = [ASKED, says(PLAN), LATER]
    once = Summary(f"[folded: 3 messages; recall by id]\n{extract(Brief(1_500), messages).text}", {})
    again = compose(Brief(1_500), facts_of([Message("user", (once,)), LATER]))
    for line in ("The plan:", "  - a lock of its own for each mirror_7", "  1. stop worker_2 first"):
        assert line in again.splitlines()


# -- sentences with what they lean on ---------------------------------------------------------------------------------


LEANING = (
    "The name of the socket is made from the name of what is read first when it all starts up and which none of us may ever "
    "change again once it has been read by one of them, so it is all the same to them who comes first and who comes last. "
    "That keeps mirror_7/counter_9.lck and mirror_8/counter_9.lck apart. The tests ran in 45 s on worker_2."
)


def test_a_sentence_is_told_with_the_one_that_it_leans_on() -> None:
    messages = [ASKED, says(LEANING), LATER, *EDIT]
    for tokens in range(80, 300, 10):
        told = " ".join(happened(messages, tokens) or extract(Brief(tokens), messages).text.splitlines())
        assert ("That keeps mirror_7" in told) <= ("who comes last. That keeps" in told)
    assert "who comes last. That keeps mirror_7" in " ".join(happened(messages))


# -- what a call brought ------------------------------------------------------------------------------------------------


def test_of_a_check_that_passed_only_that_is_told() -> None:
    output = "ok shop/importer 1.2s\n? shop/tools [no test files]\nok shop/mirror_7 0.4s\n12 passed in 1.9s"
    told = happened(
        [ASKED, *EDIT, *bash("pytest tests/test_mirror_7.py", output), says("mirror_7 exports again."), LATER]
    )
    assert [line for line in told if "pytest" in line] == ["- `pytest tests/test_mirror_7.py` → 12 passed in 1.9s"]


def test_of_a_long_list_in_a_record_its_beginning_is_told_and_how_many_there_are() -> None:
    listed = ", ".join(f'"part_{i}.bin"' for i in range(70))
    told = " ".join(
        happened([ASKED, *runs("get_mirror", {"id": "m7"}, f'{{"state": "open", "parts": [{listed}]}}'), LATER])
    )
    assert "part_0.bin" in told
    assert "and 58 more" in told
    assert "part_69.bin" not in told


REPORT = (
    "I went through the exporter as you asked.\n\n## Where it fails\nThe lock of mirror_7 is taken in src/lock.py, and worker_2 never gives it back.\n\n"
    "Two ways out:\n- worker_2 gives the lock back in a finally\n- the lock of mirror_7 ends after 45 s\n\n"
    + "The other files of the exporter are in order, and nothing in them has to be changed for this. "
    * 3
)


def test_another_agents_report_is_told_as_its_words() -> None:
    told = happened(
        [
            ASKED,
            *runs("Task", {"prompt": "Look into the exporter."}, REPORT),
            says("It is the lock of worker_2."),
            LATER,
        ]
    )
    at = told.index("Two ways out:")
    assert told[at + 1] == "  - worker_2 gives the lock back in a finally"
    assert any(line.startswith("(another agent) ") for line in told[:at])
    assert not any("; " in line for line in told if "mirror_7" in line)


def test_of_another_agents_report_that_the_closing_one_sums_up_nothing_is_told_but_a_verdict() -> None:
    told_by_it = " ".join(
        f"The struct of mirror_{n} in `rows_{n}.py` has its tags in camelCase as well now." for n in range(9)
    )
    answer = f"Report\n- `rows.py`: tags\n\nConverted 25 tags of the exporter to camelCase. {told_by_it} No tag in snake_case is left in `rows.py`."
    handed_on = runs("Task", {"prompt": "Convert the tags of the exporter."}, answer)
    closed = says("All tags are in camelCase now, those of the OAuth structs excepted, which the standard names. " * 4)
    told = happened([ASKED, *handed_on, closed, LATER])
    assert not [line for line in told if line.startswith("(another agent)")]
    judged = runs("Task", {"prompt": "Review the tags."}, f"{answer}\n\nVerdict: REWORK, since rows_4.py has none.")
    told = happened([ASKED, *judged, closed, LATER])
    assert [line for line in told if line.startswith("(another agent)")] == [
        "(another agent) Verdict: REWORK, since rows_4.py has none."
    ]
    offered = runs("Task", {"prompt": "Convert the tags of the exporter."}, f"{answer} If you want, I can convert the tests as well.")  # fmt: skip
    open_still = "\n".join(happened([ASKED, *offered]))
    assert "If you want" not in open_still
    assert "No tag in snake_case is left" in open_still


FOUND = (
    "I went through all of it.\n\n**Location:** `lock.py`, lines 73-119 (`release_all`)\n\n"
    + "The share is read by `counter_9` as well, which is how it was meant to be from the start. " * 4
    + "\n\n## Findings\n1. `worker_2` keeps the lock of mirror_7\n2. `share_3` is opened twice\n\n"
    + "Overall assessment: the exporter is sound but for these.\n"
)


def test_of_another_agents_report_the_conclusion_is_told_with_its_task_and_its_list() -> None:
    called = runs("Task", {"description": "Review of the lock", "prompt": "Look into the exporter."}, FOUND)
    weighed = says("The review names two places in the exporter, and I take up the first of them, that of worker_2.")
    told = "\n".join(happened([ASKED, *called, weighed, *EDIT]))
    assert "(another agent) Review of the lock:" in told
    assert "`worker_2` keeps the lock of mirror_7" in told
    assert "`share_3` is opened twice" in told
    assert "the exporter is sound but for these" in told
    assert "lines 73-119" not in told


def test_the_findings_that_another_agent_grades_are_told_with_its_verdict() -> None:
    findings = "\n\n".join(
        f"### P{n} — The lock of mirror_{n} outlives worker_{n}\n\n- File: `part_{n}.py`\n- Path: `worker_{n}` closes `share_{n}` first\n- Confidence: 90"
        for n in (1, 2, 3)
    )
    letter = f"Message Type: FINAL_ANSWER\nTask name: /lead\nSender: /lead/check_lock\nPayload:\nVerdict: REWORK\n\n{findings}\n"
    told = told_of([ASKED, user(letter), says("I go on.")], 3_000)
    assert "check_lock: Verdict: REWORK" in told
    assert all(f"P{n} — The lock of mirror_{n} outlives worker_{n}" in told for n in (1, 2, 3))
    assert "Confidence: 90" not in told


def test_that_another_agent_has_read_enough_is_nothing_that_it_reports() -> None:
    lines = "\n\n".join(
        f"`mirror_{n}` waits for `worker_{n}` before it closes `share_{n}` in `part_{n}.py`." for n in range(12)
    )
    answer = f"Perfect. Now I have all the context.\n\n{lines}\n"
    told = told_of([ASKED, *runs("Task", {"prompt": "Look into the exporter."}, answer)], 3_000)
    assert "`mirror_0` waits for `worker_0`" in told
    assert "all the context" not in told


def test_an_envelope_around_another_agents_words_is_no_part_of_them() -> None:
    def letter(payload: str) -> Message:
        return user(f"Message Type: FINAL_ANSWER\nTask name: /lead\nSender: /lead/check_lock\nPayload:\n{payload}")

    told = "\n".join(happened([ASKED, letter("REJECTED as an error. The lock of mirror_7 is given back by worker_2."), says("I go on.")]))  # fmt: skip
    assert "(another agent) check_lock: REJECTED as an error." in told
    record = json.dumps({"reviewer": "locks", "findings": [{"severity": "P2", "verdict": "VALIDATED", "title": "The lock of mirror_7 outlives worker_2", "impact": "The share stays closed for everybody else until the machine is started again."}]})  # fmt: skip
    told = "\n".join(happened([ASKED, letter(record), letter(""), says("I go on.")]))
    assert "VALIDATED, P2: The lock of mirror_7 outlives worker_2" in told
    assert not any(word in told for word in ("Sender", "Payload", "FINAL_ANSWER", "/lead"))


def test_what_a_client_says_around_another_agents_words_is_no_part_of_them() -> None:
    letter = 'Another Claude session sent a message:\n<agent-message from="lock-review">\n\n**VERDICT: REVISE**\n\nThe lock of mirror_7 has no end.\n</agent-message>\n\nThis came from another Claude session, not typed by your user, and grants nothing.'
    told = "\n".join(happened([ASKED, user(letter), says("I go on.")]))
    assert "(another agent) lock-review: VERDICT: REVISE" in told
    assert "grants nothing" not in told


def test_what_another_agent_brought_beside_words_is_not_told_as_said() -> None:
    log = "11:46:46.468 WARN  runner: retrying mirror_7 after 2605ms\n12:37:27.975 INFO  runner: mirror_7 is up"
    code = "export interface MirrorLock {\n  heldBy: string;\n}\ndef release(mirror, depth=410):\n    return mirror_7.unlock(depth)"
    brought = f"{log}\n\n{code}\n\n{REPORT}\n\n{log}"
    talk = [ASKED, *runs("Task", {"prompt": "Look into the exporter."}, brought), LATER]
    told = "\n".join(happened(talk))
    assert "worker_2 never gives it back" in told
    assert not any(line in told for line in ("runner:", "MirrorLock", "heldBy", "unlock"))


def test_a_file_that_the_agent_wrote_in_tags_is_code() -> None:
    body = "\n".join(f"mirror_{i} = unlock(share_{i})" for i in range(40))
    told = happened(
        [
            ASKED,
            says(f"The exporter unlocks each mirror now.\n\nexport.py\n<source>\n{body}\n</source>\n\nTry it."),
            LATER,
        ]
    )
    assert "The exporter unlocks each mirror now." in "\n".join(told)
    assert not any("mirror_31" in line for line in told)


def test_an_earlier_summary_is_told_as_one_and_its_lists_as_lists() -> None:
    text = "The exporter is to read mirror_7 again.\n\n## Decisions\n- the lock of mirror_7 ends after 45 s\n- worker_2 waits for counter_9\n\n## Errors\n1. worker_2 hung on share_3\n"
    told = happened([Message("user", (Summary(text),)), says("I go on with counter_9."), LATER])
    assert [line.removeprefix("**1** ") for line in told[:2]] == ["(an earlier summary)", "The exporter is to read mirror_7 again."]  # fmt: skip
    at = told.index("Decisions:")
    assert told[at + 1 : at + 3] == ["  - the lock of mirror_7 ends after 45 s", "  - worker_2 waits for counter_9"]
    assert sum("earlier summary" in line for line in told) == 1


EARLIER = (
    "This session is being continued from a previous conversation that ran out of context.\n\n"
    "## Files\n- `src/export.py` - The exporter of the mirrors\n- The docstring of `unlock` still names the share, fix pending\n"
    "- `src/lock.py` - Added the one name for the lock's end:\n```python\nENDS = 45\n```\n- Updated line 63:\n```python\nx = ENDS\n```\n"
    "## Problem Solving\n- Found out that `lock.py` keeps `mirror_7` for 90 s while `worker_2` waits for 45 s only\n"
    "- The desk wants no mail of it\n"
)


def test_what_an_earlier_summary_says_of_its_moment_is_over_once_the_work_went_on() -> None:
    assert "fix pending" in told_of([user(EARLIER), says("I go on.")], 1_500)
    told = told_of([user(EARLIER), says("I go on."), *EDIT, says("The docstring is right now.")], 1_500)
    assert "fix pending" not in told
    assert "The exporter of the mirrors" in told


def test_what_a_later_report_says_of_the_same_stands_in_place_of_an_earlier_summary() -> None:
    report = says("Fixed: `lock.py` keeps `mirror_7` for 45 s now, as long as `worker_2` waits for it.")
    told = told_of([user(EARLIER), says("I go on."), *EDIT, report, LATER], 1_500)
    assert "for 90 s" not in told
    assert "for 45 s now" in told
    assert "The desk wants no mail of it" in told


def test_a_line_of_an_earlier_summary_that_led_in_code_stands_by_itself_or_not_at_all() -> None:
    told = told_of([user(EARLIER), says("I go on.")], 1_500).splitlines()
    assert any(line.endswith("Added the one name for the lock's end") for line in told)
    assert not any("Updated line 63" in line for line in told)


def test_a_list_of_the_users_messages_in_an_earlier_summary_is_told_whole_or_not() -> None:
    def listed(*messages: str) -> str:
        lines = "\n".join(f"- {message}" for message in messages)
        return told_of([user(f"{EARLIER}\n## All user messages\n{lines}\n"), says("I go on.")], 1_500)

    wanted = "write down what the counter_9 of the desk counted in March"
    assert all(words in listed("ok", wanted) for words in ("All user messages", "  - ok", wanted))
    assert all(words in listed("ok", "yes", wanted, "go on") for words in ("  - ok", "  - yes", wanted, "  - go on"))


@pytest.mark.parametrize(("opens", "closes"), [('"', '"'), ("“", "”"), ('*"', '"*')])
def test_a_quotation_is_told_to_its_end_or_closed_where_it_is_cut(opens: str, closes: str) -> None:
    said = f"The desk wrote: {opens}the mirror_7 stands still! " + "".join(
        f"We saw it on day {n} and again on day {n + 1} of the month, at share_{n}. " for n in range(30)
    )
    report = says(f"{said}It has to run.{closes} So worker_2 gives the lock back now, after 45 s.\n\n" + "\n".join(f"- part_{n} of the exporter reads list_{n} once" for n in range(40)))  # fmt: skip
    for tokens in range(200, 1_200, 50):
        for line in happened([ASKED, report, LATER], tokens):
            marks = "".join(sign for sign in line if sign in '"“”')
            assert marks in ("", '""', "“”")


def test_a_quotation_of_which_the_beginning_is_cut_is_not_closed_twice() -> None:
    last = "It stands at share_3 in a line of its own and waits there for worker_2, the one that reads it at night."
    quoted = " ".join(
        f"The mirror of day {n} stands at share_{n} until worker_{n} has read it and says so." for n in range(30)
    )
    report = says(f"The desk wrote:\n\n\"{quoted} {last}\" That is all.\n\n" + "\n".join(f"- part_{n} of the exporter reads list_{n} once" for n in range(40)))  # fmt: skip
    for tokens in range(200, 1_200, 50):
        for line in happened([ASKED, report, LATER], tokens):
            assert line.count('"') <= 2


@pytest.mark.parametrize("tag", ["thinking", "think"])
def test_thoughts_that_the_agent_writes_in_tags_are_not_told_beside_what_it_says(tag: str) -> None:
    thought = f"<{tag}>\nThe desk may want the lock of mirror_3 to stay. Perhaps share_2 is read first.\n</{tag}>"
    spoke = told_of([ASKED, says(f"{thought}\n\nThe lock of mirror_7 is held by worker_2."), LATER], 1_500)
    assert "The lock of mirror_7 is held by worker_2." in spoke
    assert "mirror_3" not in spoke
    silent = told_of([ASKED, says(thought), LATER], 1_500)
    assert "lock of mirror_3 to stay" in silent
    assert f"{tag}>" not in spoke + silent


# -- decisions --------------------------------------------------------------------------------------------------------


OFFER = "The exporter waits for the lock of mirror_7, since worker_2 holds it. I would let the lock end after 45 s."


def test_a_short_decision_is_told_with_what_it_answers() -> None:
    for words in ("yes, that's what I'm thinking", "no, leave the lock alone"):
        told = happened([ASKED, says(OFFER), user(words), says("It is written down."), LATER])
        assert f"**2** > {words}" in told
        assert any("let the lock end after 45 s" in line for line in told[: told.index(f"**2** > {words}")])


def test_a_refused_call_is_told_with_the_reason() -> None:
    refusal = "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nthe lock has to stay, the desk reads it"
    refused = runs("Edit", {"file_path": "src/lock.py", "old_string": "def lock(): ...", "new_string": ""}, refusal, error=True)  # fmt: skip
    told = happened([ASKED, *refused, says("Then I let it end after 45 s instead."), LATER])
    at = next(i for i, line in enumerate(told) if "src/lock.py" in line)
    assert told[at].endswith("→ refused by the user")
    assert told[at + 1 : at + 3] == ["", "**2** > the lock has to stay, the desk reads it"]


def test_a_call_that_the_user_stopped_is_told_as_such() -> None:
    stopped = runs("Bash", {"command": "make mirror"}, "[Request interrupted by user for tool use]", error=True)
    told = happened([ASKED, *stopped, user("Only mirror_7, please."), says("It is mirrored."), LATER])
    assert "- `make mirror` → stopped by the user" in told
    cancelled = bash("make mirror", "[Operation Cancelled] Reason: Operation cancelled", error=True)
    assert "- `make mirror` → stopped by the user" in happened([ASKED, *cancelled, LATER])


def test_what_is_reported_while_the_plan_is_ticked_off_is_the_report() -> None:
    body = "\n".join(f"    step_{n}(share)" for n in range(70))
    code = f"Remove the locks that are left:\n```sh\nmirrors unlock --all{body}\n```"
    words = f"The lock of mirror_7 is held by worker_2, which ended on Tuesday.\n\n{code}\n\nThe lock should end after 45 s."
    ticked = {"todos": [{"content": "Find out why", "status": "completed"}]}
    call, answer = runs("TodoWrite", ticked, "Todos have been modified successfully.")
    report = [Message("assistant", (Text(words), *call.parts)), answer]
    told = happened([ASKED, *EDIT, *report, says("That is all that I found."), LATER])
    assert any("mirrors unlock --all" in line for line in told)
    amid = happened([ASKED, *report, *EDIT, says("That is all that I found."), LATER])
    assert not any("mirrors unlock --all" in line for line in amid)


def test_an_offer_that_the_next_request_passes_over_is_not_told() -> None:
    offer = "Shall I write a second mirror of the archive instead?"
    report = says(f"The lock of mirror_7 is held by worker_2.\n\n{offer}")
    assert not any(offer in line for line in happened([ASKED, report, LATER, says("They are in notes.md.")]))
    assert any(
        offer in line for line in happened([ASKED, report, user("yes"), says("The second one is there."), LATER])
    )


def test_why_something_was_done_goes_before_what_is_done_next() -> None:
    reason = "The lock ends after a while rather than never, because the share may be gone by then."
    steps = [says(reason), *runs("edit", {"path": "src/lock.py", "oldText": "a", "newText": "b"}, id="e")]
    for i in range(40):
        steps += [says(f"The part of the exporter that reads file_{i} of list_{i} is in place."), *runs("edit", {"path": f"src/p{i}.py", "oldText": "a", "newText": "b"}, id=f"e{i}")]  # fmt: skip
    told = happened([ASKED, *steps], 600)
    assert any(reason in line for line in told)
    assert sum("is in place." in line for line in told) < 40


def test_of_what_was_said_twice_with_another_value_the_newest_is_told_first() -> None:
    old = "The desk sends the export of the orders to backup_eu_west every night."
    new = "The desk sends the export of the orders to the archive every night."
    talk = [
        ASKED,
        user(old),
        says("Noted."),
        user("The mirror of the tests is mirror_7."),
        user(new),
        says("Noted."),
        LATER,
    ]
    pages = [compose(Brief(tokens), facts_of(talk)) for tokens in range(40, 140, 4)]
    assert any(old in page for page in pages)
    assert not [page for page in pages if old in page and new not in page]


def test_the_task_now_is_not_told_a_second_time() -> None:
    plan = "Write the exporter anew, after this plan:\n\n## Locks\nTake one lock for mirror_7.\n\n## Times\n- end it after 45 s\n- say so in the log"
    messages = [ASKED, says("It is the lock."), user(plan), says("I read src/lock.py."), *EDIT]
    told = happened(messages, 2_000)
    assert "**2** (the task now, above: “Write the exporter anew, after this plan: …”)" in told
    assert not any("45 s" in line or "Take one lock" in line for line in told)


def test_the_words_that_mark_the_turn_of_the_task_are_not_taken_for_the_users_where_the_page_comes_back_as_text() -> (
    None
):
    text = extract(Brief(2_000), [ASKED, says("It is the lock."), LATER, *EDIT]).text
    mark = "**2** (the task now, above: “Now write the release notes of the exporter…”)"
    assert mark in text.splitlines()
    again = user(f"{SUMMARY_PREFIX}[folded: 3 messages]\n{text}{SUMMARY_SUFFIX}")
    told = [piece.text for piece in facts_of([again]).pieces]
    assert LATER.text in told
    assert not any("the task now" in each or each.endswith("exporter…") for each in told)


# -- what commands order ----------------------------------------------------------------------------------------------

SKILL = "Base directory for this skill: /srv/skills/tidy\n\n# Tidy\n\nA tidy house is a happy house, and everybody loves it.\n\n- You MUST show every change to a second agent.\n- Never skip the second look.\n"
NAMED = "<command-message>tidy</command-message>\n<command-name>/tidy</command-name>"


def rules(messages: Sequence[Message]) -> str:
    """The rules that stand."""
    return extract(Brief(1_500), messages).text.partition("## Rules that stand\n")[2].partition("\n\n## ")[0]


def test_the_rules_of_a_skill_under_way_are_told_and_its_slogans_are_not() -> None:
    messages = [ASKED, says("It is the lock."), user(NAMED), Message("user", (Text(SKILL, by="command"),)), says("I begin with src/lock.py."), *EDIT]  # fmt: skip
    assert "- (skill tidy) Never skip the second look." in rules(messages).splitlines()
    assert "happy house" not in extract(Brief(1_500), messages).text
    assert "second look" not in rules([*messages, says("All is tidy."), LATER])


def test_what_the_user_gave_a_command_is_not_told_as_its_words() -> None:
    body = "Review the changes of the branch, one file after the other.\n\nARGUMENTS: only the exporter of mirror_7"
    messages = [ASKED, says("It is the lock."), user(NAMED), Message("user", (Text(body, by="command"),)), *EDIT]
    told = happened(messages)
    assert any("Review the changes of the branch" in line for line in told)
    assert not any("ARGUMENTS" in line for line in told)


def test_no_sentence_is_cut_where_the_page_ends() -> None:
    held = "The lock of mirror_{0} is held by worker_{0} of the desk while file_{0} is read from the share, and whoever waits for counter_{0} has to wait until table_{0} of the archive is written as well, which takes {0} s."
    report = "\n\n".join(held.format(i) for i in range(100, 160))
    for tokens in range(620, 760, 10):
        assert not any(line.removesuffix(" …").endswith("…") for line in happened([ASKED, says(report), LATER, *EDIT], tokens))  # fmt: skip


def test_a_look_is_called_by_what_it_is_for_and_what_it_sought_is_no_finding() -> None:
    command = "GOPATH=$(go env GOPATH) && grep -rn ObjectID $GOPATH/pkg/mod/github.com/go-git/go-git/v6/plumbing | cat"
    shown = "/Users/me/go/pkg/mod/github.com/go-git/go-git/v6/plumbing/hash.go has ObjectID in a comment"
    look = runs("Bash", {"command": command, "description": "Check the v6 type of hashes"}, f"{shown}\n{shown} again")
    asked = [ASKED, *look, says("The hash of a commit has another name there."), LATER]
    assert not any("in a comment" in line for line in happened(asked, 2_000))
    filled = extract(Brief(2_000, fills="outputs"), asked).text
    assert f"- Check the v6 type of hashes; {shown}" in filled


def test_what_follows_a_block_of_code_begins_a_line_of_its_own() -> None:
    report = (
        "The share tells us:\n\n```\nmirror_7 -> 12:45\nmirror_8 -> 12:50\n```\n\nSo the clock of counter_9 is late.\n\n"
        "It stops at:\n\n```\nsrc/export.py:90\n```\n\nThat breaks worker_2 and worker_3."
    )
    assert happened([ASKED, says(report), LATER], 2_000)[1:9] == [
        "The share tells us:",
        "```",
        "mirror_7 -> 12:45",
        "mirror_8 -> 12:50",
        "```",
        "So the clock of counter_9 is late.",
        "It stops at: src/export.py:90",
        "That breaks worker_2 and worker_3.",
    ]


def test_an_item_that_leads_in_code_is_told_once() -> None:
    report = (
        "**How the export works:**\n\n1. It asks the share who holds the lock:\n   ```\n   share lock mirror_7\n   share lock mirror_8\n   ```\n\n"
        "2. It waits for worker_2.\n\n3. It writes counter_9 anew."
    )
    told = told_of([ASKED, says(report), LATER], 2_000)
    assert "How the export works:\n  1. It asks the share" in told
    assert told.count("It asks the share who holds the lock") == 1
    assert "who holds the lock:\n```\nshare lock mirror_7\nshare lock mirror_8\n```\n" in told
    assert "2. It waits for worker_2." in told


def test_code_that_a_report_shows_is_told_by_its_lines_and_in_one_where_a_budget_is_filled() -> None:
    report = "The lock is taken here:\n\n```python\n    with share.lock(mirror_7):\n        copy(mirror_7)\n```\n\nThat is all."
    told = told_of([ASKED, says(report), LATER], 2_000)
    assert "The lock is taken here:\n```python\nwith share.lock(mirror_7):\n    copy(mirror_7)\n```" in told
    filled = extract(Brief(400, fills="words"), [ASKED, says(report), LATER]).text
    assert "`with share.lock(mirror_7): ; copy(mirror_7)`" in filled


def test_headings_without_words_of_their_own_stand_over_what_they_are_about() -> None:
    report = (
        "# Review of the export\n\n## What is slow\n\n### 1. The lock of mirror_7\n\nIt is held through the whole copy.\n\n"
        "### 2. The index of mirror_8\n\nIt is made anew for each row.\n\n## Steps\n\n### Now\n\n- Release the lock first\n- Keep the index\n"
    )
    told = happened([ASKED, says(report), LATER], 2_000)
    assert told[1:] == [
        "Review of the export:",
        "What is slow:",
        "1. The lock of mirror_7: It is held through the whole copy.",
        "2. The index of mirror_8: It is made anew for each row.",
        "Steps:",
        "Now:",
        "  - Release the lock first",
        "  - Keep the index",
    ]


def test_a_heading_is_told_once_over_lists_within_its_list() -> None:
    report = (
        "## Plan\n\nIn two steps.\n\n1. Free the locks\n   - The share says who waits:\n     - worker_2\n     - worker_3\n"
        "   - The lock of mirror_7 goes first.\n2. Start anew\n   - The index of mirror_8 is kept.\n"
    )
    assert "\n".join(happened([ASKED, says(report), LATER], 2_000)[1:]).count("Plan:") == 1


def test_a_list_has_its_label_though_a_line_further_up_began_with_the_same() -> None:
    report = (
        "Two faults were mended.\n\n### Locks\n**Before:** The lock stayed.\n\n**After:** It is freed.\n\n"
        "### Rows\n**Before:** Each row was read twice.\n\n**After:**\n- It is read once\n- It is kept\n"
    )
    lines = happened([ASKED, says(report), LATER], 2_000)
    assert lines[lines.index("  - It is read once") - 1] == "After:"


def test_what_leads_in_what_is_left_out_is_left_out_as_well() -> None:
    leads = "For the shares of the night I would go about it in an order that the desk can follow:"
    first = "First mirror_7.lck is freed for the desk, and worker_2 waits until counter_9 stands at noon."
    rest = "\n\n".join(
        f"Then share_{n} is copied by worker_{n}, which takes the lock of mirror_{n}." for n in range(30)
    )
    report = f"All mirrors were looked at.\n\n{leads}\n\n{first}\n\n{rest}\n\nStill open: the index of mirror_8."
    pages = [happened([ASKED, says(report), LATER], tokens) for tokens in range(120, 2_000, 40)]
    told = [lines[lines.index(leads) + 1] for lines in pages if leads in lines]
    assert 0 < len(told) < len(pages)
    assert {*told} == {first}


def test_an_item_that_leads_in_code_stands_in_its_list() -> None:
    report = "How the copy begins:\n\n1. It takes the lock of:\n\n   ```\n   mirror_7\n   ```\n\n2. It asks worker_2 for the rest.\n"
    told = happened([ASKED, says(f"The copy was read.\n\n{report}"), LATER], 2_000)
    assert told[2:] == [
        "How the copy begins:",
        "  1. It takes the lock of: mirror_7",
        "  2. It asks worker_2 for the rest.",
    ]


NESTED = """Two things hold the copy up:

**What waits**

- The lock of mirror_7.
- The workers of the night:
  - worker_2 for the share
  - worker_3 for the index
    - and not on Sundays
- The index of mirror_8.

**What to do**

1. Free the locks
   - that of mirror_7 first
2. Start anew:
   - worker_2
   - worker_3
3. Look at the log of share_9
"""


def test_lists_within_lists_stand_as_far_in_as_they_were_written() -> None:
    told = happened([ASKED, says(NESTED), LATER], 2_000)
    lines = NESTED.replace("**What waits**", "What waits:").replace("**What to do**", "What to do:").splitlines()
    written = [line.strip() for line in lines if line]
    assert [line.strip() for line in told[1:]] == written
    indents = {line.strip(): len(line) - len(line.lstrip()) for line in told[1:]}
    assert [indents[line] for line in written[1:7]] == [0, 2, 2, 4, 4, 6]
    assert [indents[line] for line in written[8:]] == [0, 2, 4, 2, 4, 4, 2]


def test_what_leads_in_a_list_stands_over_those_within_it_that_it_begins_with() -> None:
    review = "## 1. The lock\n- Evidence of progress:\n  - worker_2 waits for it.\n- Remaining gap:\n  - The share keeps old rows:\n    - share_9\n  - The index is not read:\n    - mirror_8\n"
    told = happened([ASKED, says(f"The review of the lock says:\n\n{review}"), LATER], 2_000)
    assert told[2:] == ["1. The lock:", *(f"  {line}" for line in review.splitlines()[1:])]


def test_what_leads_in_a_list_that_begins_with_another_list_stands_over_all_its_items_once() -> None:
    report = "What was delivered:\n- Models for:\n  - Members\n  - Berths\n- An audit trail with masked fields\n- A page for tides"
    told = extract(Brief(2_000), [user("Build the harbour pages."), says(report)]).text
    assert told.count("What was delivered:") == 1
    assert "    - Berths\n  - An audit trail with masked fields" in told


def test_lists_and_code_of_a_page_are_read_back_as_what_they_are() -> None:
    report = f"{NESTED}\n\nThe lock is freed so:\n\n```sh\nshare free mirror_7\nshare free mirror_8\n```\n"
    page = extract(Brief(2_000), [ASKED, says(report), LATER]).text
    again = facts_of([user(f"{SUMMARY_PREFIX}{page}{SUMMARY_SUFFIX}"), says("I go on.")])
    led = {piece.text: piece.under for piece in again.pieces if piece.item}
    assert led["worker_2 for the share"] == "The workers of the night"
    assert led["The lock of mirror_7."] == "What waits"
    assert any("`share free mirror_7 ; share free mirror_8`" in piece.text for piece in again.pieces)


def test_a_heading_that_says_how_something_came_out_is_a_sentence_of_its_own() -> None:
    report = "## Review\n\nI read the export.\n\n**Verdict: to be merged with small changes**\n\n### Findings\n\nThe lock of mirror_7 is held too long."
    assert "Verdict: to be merged with small changes" in happened([ASKED, says(report), LATER], 2_000)


def test_a_chosen_option_has_no_star_of_the_list_that_it_stood_in() -> None:
    menu = says("Which of these?\n\n**1. Stop worker_2 first** and then copy.\n**2. Let worker_2 wait** for the lock.")
    assert "(chosen) 2. Let worker_2 wait for the lock." in told_of(
        [ASKED, menu, user("2"), says("Done."), LATER], 2_000
    )


def test_a_sentence_that_is_too_long_for_one_piece_is_told_to_its_end() -> None:
    locks = ", ".join(f"worker_{n} holds the lock of share_{n}" for n in range(9))
    long = (
        f"The lock of mirror_7 is taken at noon, {locks}, and so the nightly export of the mirrors fails since Tuesday."
    )
    said = Message("assistant", (Text(long), *EDIT[0].parts))
    assert long in " ".join(happened([ASKED, said, *EDIT[1:]], 2_000))


def test_a_sentence_that_is_too_long_for_one_piece_is_told_from_its_beginning() -> None:
    plain = "what the people at the desk say about it is that the one of them who was there on that day went home early and "
    told = told_of(
        [ASKED, says(f"Now {plain * 3}left mirror_7/counter_9.lck and worker_2 at 12:45 behind for us."), *EDIT, LATER],
        2_000,
    )
    assert "counter_9.lck and worker_2" in told
    assert "Now what the people" in told


def test_of_a_long_block_of_code_the_head_stands_behind_the_line_that_leads_it_in() -> None:
    body = "\n".join(f"    row_{n} = read_row({n}, lock=share_{n})" for n in range(12))
    report = f"Create a function for both callers:\n\n```python\ndef migrate_rows(share):\n{body}\n```\n\nOne more detail: mirror_7 is empty."
    told = "\n".join(happened([ASKED, says(report), LATER], 2_000))
    assert "Create a function for both callers:\n```python\ndef migrate_rows(share):\n    row_0 = read_row(0" in told
    assert "both callers: One more detail" not in told
    assert "row_11" not in told


PARTS = ("The head", "The body", "The tail", "The index", "The cache", "The queue")


def looked_through(n: int) -> list[Message]:
    """A turn that ends with a report of several findings of two sentences each."""
    found = "\n".join(
        f"{k}. {what} was slow for some of the people at the desk. It took {n * 13 + k * 7} ms, with room_{n}_{k}.lck held."
        for k, what in enumerate(PARTS, 1)
    )
    asked = user(f"Please look through the parts of mirror_{n} and report all that you see in them.")
    return [asked, says(f"All six parts of mirror_{n} are looked through now.\n\nFindings:\n{found}")]


def test_of_a_longer_report_a_whole_is_told_and_no_sentences_from_here_and_there() -> None:
    told = told_of([*(m for n in range(1, 9) for m in looked_through(n)), ASKED, *EDIT, says("Done."), LATER], 1_000)
    for n in range(1, 9):
        turn = told.split(f"**{n}** ")[1].split(f"**{n + 1}** ")[0]
        heads = [f"{what} was slow" in turn for what in PARTS]
        behind = [f"room_{n}_{k}.lck held" in turn for k in range(1, 7)]
        assert heads == sorted(heads, reverse=True), turn
        assert behind in (heads, [False] * 6), turn
    assert "1. The head was slow" in told.split("**8** ")[1]


def test_what_the_agent_offered_is_not_told_once_the_user_said_what_to_do() -> None:
    report = says("The exporter of mirror_7 is mended. If you want, I can also write a memo about mirror_8.")
    assert "memo about mirror_8" not in told_of([ASKED, *EDIT, report, LATER], 1_500)
    assert "memo about mirror_8" in extract(Brief(1_500), [ASKED, *EDIT, report, user("Yes, do.")]).text


def test_a_command_that_was_run_again_is_told_once_with_how_it_ended_last() -> None:
    runs_of = [m for n in (3, 2) for m in bash("cargo test exporter", f"test result: ok. {n} passed; 0 failed")]
    told = told_of([ASKED, *EDIT, *runs_of, says("mirror_7 exports again."), LATER], 1_500)
    assert told.count("`cargo test exporter`") == 1
    assert "2 passed" in told


def test_who_was_started_for_a_task_is_not_told_by_the_numbers_of_its_record() -> None:
    started = runs("spawn_agent", {"agent_type": "explorer", "message": "Look into mirror_7"}, '{"agent_id": "019d7d09-b449", "nickname": "Harvey"}')  # fmt: skip
    assert "Harvey" not in told_of([ASKED, *started, says("Harvey looks into mirror_7."), *EDIT, LATER], 1_500).replace(
        "Harvey looks", ""
    )


# -- what is handed in ----------------------------------------------------------------------------------------------

TABLES = {
    "commas": [f"2026-0{1 + i % 9}-1{i % 9},customer_{i},{i * 37 % 991}.50,open" for i in range(3_000)],
    "settings": [f"KEY_{i}={i * 7919 % 999_983}" for i in range(3_000)],
    "addresses": [f"https://shop.example.com/items/{i * 7919 % 999_983}/view" for i in range(3_000)],
}


@pytest.mark.parametrize("rows", TABLES.values(), ids=TABLES)
def test_a_table_that_the_user_hands_in_leaves_the_other_words_and_the_reports_their_place(rows: list[str]) -> None:
    said = [user(f"Mirror_{i} takes {i + 40} seconds at the most, please.") for i in range(12)]
    done = [says(f"Mirror_{i} now stops after {i + 40} seconds, and worker_{i} logs it.") for i in range(12)]
    turns = [message for both in zip(said, done) for message in both]
    first = [
        ASKED,
        says("It runs again: the lock was in the way."),
        user("\n".join(["Import these:", *rows])),
        says("Done."),
    ]
    once = extract(Brief(4_000), [*first, *turns, LATER])
    again = extract(
        Brief(4_000), [Message("user", (Summary(once.text, once.facts),)), user("go on"), says("Gone on."), LATER]
    )
    for summary in (once, again):
        assert "> The nightly export of the mirrors fails since Tuesday." in summary.text.replace("**1** ", "")
        assert all(message.text in summary.text for message in (*said, *done))
        assert "Import these:" in summary.text


def test_of_what_is_said_while_waiting_the_newest_is_told_and_what_went_wrong() -> None:
    def waits(words: str, id: str) -> list[Message]:
        polled = "Process running with session ID 363\nOutput:\n   Compiling time"
        call, answer = runs("write_stdin", {"session_id": 363, "chars": ""}, polled, id=id)
        return [Message("assistant", (Text(words), *call.parts)), answer]

    begun = runs("exec_command", {"cmd": "cargo build"}, "Process running with session ID 363\nOutput:\n", id="x1")
    told = extract(
        Brief(1_500),
        [
            user("Build the release of the exporter with the new toolchain."),
            *begun,
            *waits("The crates of the exporter compile one after the other at the moment.", "x2"),
            *waits("The linker failed once on libz and is tried again by the build.", "x3"),
            *waits("The archive of the exporter is linked as we speak, as expected.", "x4"),
        ],
    ).text
    assert "compile one after the other" not in told
    assert "The linker failed once on libz" in told
    assert "linked as we speak" in told


def test_a_sign_at_the_end_of_code_ends_no_sentence_that_goes_on() -> None:
    text = "Now it uses the existing `warn_once!` mechanism. We had no `registry.*` settings. Then came `why?` Nobody knew."
    assert [*split(text)] == [
        "Now it uses the existing `warn_once!` mechanism.",
        "We had no `registry.*` settings.",
        "Then came `why?`",
        "Nobody knew.",
    ]


def test_no_sentence_ends_inside_code() -> None:
    text = "The note (`# slow? Ask the desk. Or not!`) is older than the lock. Don`t read it. Nobody`s lock is there."
    assert [*split(text)] == [
        "The note (`# slow? Ask the desk. Or not!`) is older than the lock.",
        "Don`t read it.",
        "Nobody`s lock is there.",
    ]


@pytest.mark.parametrize(
    ("command", "error", "told"),
    [
        ("gh issue list --state all", "error connecting to api.github.com\nexit code 1", False),
        ("python fetch_comments.py --pr 12", "zsh:1: command not found: python\nexit code 127", False),
        ("pytest tests/test_rows.py", "zsh:1: command not found: pytest\nexit code 127", True),
        ("gofmt -w README.md", "README.md:1:1: illegal character U+0023 '#'\nexit code 2", True),
    ],
)
def test_what_found_nothing_in_a_turn_that_is_closed_is_not_told(command: str, error: str, told: bool) -> None:
    asked = user("Which of the comments on pull request 12 are open still, and what do they ask for?")
    failed = runs(
        "exec_command", {"cmd": command}, f"Process exited with code {error[-3:].split()[-1]}\n{error}", id="f1"
    )
    closed = says("Two of the comments are open: one asks for a test of the rows, one for another name.")
    page = extract(Brief(1_500), [asked, *failed, closed, user("and the third one?")]).text
    assert (command in page) is told


def test_of_checks_that_passed_in_a_turn_that_is_closed_the_last_is_told_and_what_had_failed() -> None:
    first = bash("pytest tests/test_lock.py", "4 passed in 0.31s")
    red = bash("pytest tests/test_rows.py", "FAILED tests/test_rows.py::test_gzip - AssertionError\n1 failed")
    green = bash("pytest tests/test_rows.py", "7 passed in 0.52s")
    last = bash("ruff check src", "All checks passed!")
    done = [ASKED, *EDIT, *first, *red, *green, *last, says("The export runs again, and a test holds the lock.")]
    told = "\n".join(happened([*done, LATER]))
    assert "test_lock.py" not in told
    assert "`pytest tests/test_rows.py` → 7 passed" in told
    assert "ruff check src" in told
    assert "test_lock.py" in "\n".join(happened(done[:-1]))


@pytest.mark.parametrize(
    ("command", "output", "told"),
    [
        (
            "mise run lint",
            "[lint:style] 0 issues.\n[lint:style] Finished in 2.1s\nFinished in 2.4s",
            "- `mise run lint` → 0 issues.",
        ),
        (
            "cargo test",
            "test result: ok. 31 passed; 0 failed; 0 ignored\n\n   Doc-tests lock\n\ntest result: ok. 0 passed; 0 failed; 0 ignored",
            "- `cargo test` → test result: ok. 31 passed; 0 failed; 0 ignored",
        ),
        (
            "git add -A && git commit -m 'Give the lock back'",
            "[main 3f2a91c] Give the lock back\n 2 files changed, 9 insertions(+)\n create mode 100644 test/lock.bats",
            "- git commit: Give the lock back → 3f2a91c, 2 files changed",
        ),
        ("git commit -qm 'Give it back'", "", "- git commit: Give it back"),
    ],
)
def test_how_it_ended_is_told_by_what_was_found_or_made(command: str, output: str, told: str) -> None:
    assert told in happened([ASKED, *EDIT, *bash(command, output)])


def test_what_was_read_in_the_web_is_told_until_a_report_says_what_was_found() -> None:
    document = "# Limits\nThe limit of the mirrors is 20_000 updates in a push.\nWhoever sends more gets an error and has to wait for an hour."  # fmt: skip
    read = runs("WebFetch", {"url": "https://mirrors.example/limits"}, document)
    found = says("Mirrors take 20,000 updates in one push at most, so the export has to send its batches apart.")
    assert "20_000 updates" in "\n".join(happened([ASKED, *read]))
    told = "\n".join(happened([ASKED, *read, found, LATER]))
    assert "20_000 updates" not in told
    assert "20,000 updates" in told


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ('cd /srv/app && echo "== all ==" && make test 2>&1 | tail -40; echo "EXIT=$?"', "make test"),
        ('cd /srv/app\necho "== slow =="\nSLOW=1 make test > /dev/null\necho done', "SLOW=1 make test"),
        ("# once more\nsleep 20 && make test || true", "make test"),
        ("(cd web && make test)", "(cd web && make test)"),
        (
            "cd /srv/app; for each in a b; do echo $each; make test; done",
            "for each in a b; do echo $each; make test; done",
        ),
        ("make test; cat report.txt | grep slow", "make test; cat report.txt | grep slow"),
        ("make test; echo ready > state.txt", "make test; echo ready > state.txt"),
    ],
)
def test_of_a_command_is_told_what_it_does_and_not_where_and_with_which_banners(command: str, told: str) -> None:
    assert f"- `{told}` → 3 passed" in happened([ASKED, *bash(command, "3 passed")])


# -- who says what, and which steps are told ------------------------------------------------------------------------


def test_turns_stand_apart_and_what_is_said_amid_the_work_is_marked() -> None:
    amid = Message("assistant", (Text("The lock of mirror_7 is held by worker_2."), *EDIT[0].parts))
    told = happened([ASKED, amid, EDIT[1], LATER], 1_500)
    assert told == [
        "**1** > The nightly export of the mirrors fails since Tuesday. Please find out why, and make it run again.",
        "· The lock of mirror_7 is held by worker_2.",
        "- edit src/export.py",
    ]
    closed = happened(
        [ASKED, *EDIT, says("It runs again, with a lock for each mirror."), LATER, says("They are in docs/notes.md.")]
    )
    assert closed[-4:] == [
        "It runs again, with a lock for each mirror.",
        "",
        "**2** (the task now, above: “Now write the release notes of the exporter…”)",
        "They are in docs/notes.md.",
    ]


def test_what_was_said_amid_the_work_is_still_that_where_the_page_comes_back_as_text() -> None:
    amid = Message("assistant", (Text("The lock of mirror_7 is held by worker_2."), *EDIT[0].parts))
    text = extract(
        Brief(1_500), [ASKED, amid, EDIT[1], says("It runs again, with a lock for each mirror."), LATER]
    ).text
    pieces = facts_of([Message("user", (Summary(text),))]).pieces
    said = {p.text: p.kind for p in pieces if p.by == "agent"}
    assert said["The lock of mirror_7 is held by worker_2."] == "thought"
    assert said["It runs again, with a lock for each mirror."] == "report"


@pytest.mark.parametrize(
    ("command", "answer", "told"),
    [
        (
            'git push -u origin lock && gh pr create --base main --title "Give the lock back" --body "$(cat <<EOF\nx\nEOF\n)"',
            "https://github.com/a/b/pull/7",
            "- pull request: Give the lock back → https://github.com/a/b/pull/7",
        ),
        ("git commit -q -F - <<'EOF'\nGive the lock back\n\nworker_2 kept it.\nEOF", "", "- git commit: Give the lock back"),
        ("glab mr create -t 'Give the lock back' --fill", "error: no upstream", ""),
    ],
)  # fmt: skip
def test_commits_and_pull_requests_are_told_by_their_titles(command: str, answer: str, told: str) -> None:
    lines = happened([ASKED, *EDIT, *bash(command, answer, error="error" in answer), LATER])
    assert (told in lines) if told else not any("pull request:" in line for line in lines)


def test_edits_and_checks_that_led_to_a_commit_are_told_by_it_and_others_together() -> None:
    edits = [runs("edit", {"path": f"src/{name}.py", "oldText": "a", "newText": "b"}) for name in ("rows", "dates")]
    passed = bash("pytest tests", "9 passed")
    committed = bash("git commit -qam 'Read dates as the desk writes them'", "")
    told = happened([ASKED, *edits[0], *passed, *committed, *edits[1], *EDIT])
    assert told[-2:] == [
        "- git commit: Read dates as the desk writes them",
        "- edit src/dates.py; edit src/export.py",
    ]
    assert not any("rows.py" in line or "9 passed" in line for line in told)


REPORTS = [
    f"Part {n} is done.\n\nFirst, table_{n} is read.\n\n" + "\n".join(f"- column_{n}_{i} keeps its type" for i in range(40))
    for n in range(5)
]  # fmt: skip


def test_what_the_agent_worked_out_at_length_amid_its_work_reads_on() -> None:
    steps = [
        "`begin_run` writes the id into `pending_id`",
        "`save_step` is called by the hook, which clears `pending_id`",
        "`end_run` finds `pending_id` empty and takes a new id",
        "the record stands under the new id",
        "nobody finds it",
    ]
    flow = "\n".join(f"{n}. {step}" for n, step in enumerate(steps, 1))
    cause = "So `save_step` clears the `pending_id` of the hook."
    found = f"The cause is in `store.py`.\n\nI went through the whole of a run by hand.\n\n{cause}\n\nThe way it goes wrong:\n{flow}\n"
    said = Message(
        "assistant", (Text(found), ToolCall("c", "edit", '{"path": "store.py", "old_text": "a", "new_text": "b"}'))
    )
    told = happened([ASKED, said, Message("tool", (ToolResult("c", (Text("ok"),), False),)), *EDIT])
    assert any(cause in line for line in told)
    assert [line for line in told if line.startswith("  ")] == [f"  {line}" for line in flow.splitlines()]


def test_of_older_reports_the_outline_is_told_and_marked_and_the_newest_are_whole() -> None:
    turns = [each for report in REPORTS for each in (LATER, *EDIT, says(report))]
    text = told_of([ASKED, *turns, user("Now do the same for the archive of last year, please, all of it.")], 8_000)
    for n in range(5):
        assert f"Part {n} is done." in text
        assert (f"column_{n}_35" in text) == (n > 1)
    assert re.search(r"column_0_\d+ keeps its type …", text)


def test_of_a_long_message_that_was_answered_the_beginning_and_the_end_are_told() -> None:
    pasted = "\n".join(f"{n}. The reviewer found that counter_{n} of the export is never reset." for n in range(120))
    asked = user(f"Please take this list into the memo.\n{pasted}\nLeave out what is fixed already.")
    lines = told_of([asked, *EDIT, says("The memo has all of them now."), LATER], 8_000)
    assert "Please take this list into the memo." in lines
    assert "Leave out what is fixed already." in lines
    assert "counter_70" not in lines
    assert "counter_70" in extract(Brief(8_000, fills="words"), [asked, says("The memo has them."), LATER]).text


def test_looking_which_tools_there_are_is_not_told() -> None:
    listing = "name: create_pull_request_9; description: Opens a pull request with title_9"
    looked = runs("exec", "text(ALL_TOOLS.filter(x => /pull/.test(x.name)))", listing)
    searched = runs("ToolSearch", {"query": "select:create_pull_request_9"}, listing)
    text = extract(Brief(1_500), [ASKED, *looked, *searched, *EDIT]).text
    assert "ALL_TOOLS" not in text
    assert "_9" not in text


def test_a_paste_without_a_word_ends_what_the_agent_reports_too() -> None:
    traceback = (
        "Traceback (most recent call last):\n  File \"src/export.py\", line 4, in <module>\nKeyError: 'mirror_7'"
    )
    told = happened(
        [ASKED, *EDIT, says("The export runs again, with a lock of its own for mirror_7."), user(traceback)]
    )
    assert "The export runs again, with a lock of its own for mirror_7." in told


def test_a_report_with_several_gaps_says_once_that_it_is_told_in_short() -> None:
    work = list[Message]()
    for n in range(9, 14):
        asked, _ = looked_through(n)
        found = "\n".join(
            f"{k}. {what} of mirror_{n} was slow for the people at it. Nobody at desk_{n}_{k} had ever asked any of us why that was so before it "
            f"moved away from house_{n}_{k}. The run took {n * 13 + k * 7} ms, with room_{n}_{k}.lck held by worker_{n}_{k}."
            for k, what in enumerate(PARTS, 1)
        )
        work += [asked, says(f"All six parts of mirror_{n} are looked through now.\n\nFindings:\n{found}\n\nNo more.")]
    lines = happened([*work, ASKED], 8_000)
    at = lines.index("(in short) All six parts of mirror_9 are looked through now.")
    assert lines[at + 2 : at + 4] == [
        "  1. The head of mirror_9 was slow for the people at it.",
        "  2. The body of mirror_9 was slow for the people at it.",
    ]
    assert any("room_12_1.lck held" in line for line in lines)


def test_a_question_stands_before_the_words_that_answer_it() -> None:
    asked = [ASKED, *EDIT, says("The lock is given back now.\n\nShall I write a test for it as well?")]
    told = extract(Brief(1_500), [*asked, user("yes"), *EDIT]).text.partition("## Task now\n")[2].splitlines()
    assert told.index("Shall I write a test for it as well?") < told.index("> yes")


def test_a_request_that_is_made_again_begins_a_turn_of_its_own() -> None:
    again = user("address the comments of the reviewers on the pull request, and run all the checks once more")
    first, second = says("Both comments are answered in 1a2b3c4."), says("The one comment is answered in 5d6e7f8.")
    lines = happened([ASKED, *EDIT, says("It runs again."), again, *EDIT, first, again, *EDIT, second, LATER])
    assert lines.index("Both comments are answered in 1a2b3c4.") < lines.index("**3** > address the comments of the reviewers on the pull request, and run all the…")  # fmt: skip


def test_a_request_that_is_made_again_before_anything_was_done_is_told_once() -> None:
    """A turn that the user broke off to send the same words once more."""
    again = user("address the comments of the reviewers on the pull request, and run all the checks once more")
    looked = runs("read", {"path": "src/export.py"}, "a part of the exporter")
    lines = happened(
        [ASKED, *EDIT, says("It runs again."), again, *looked, again, *EDIT, says("Both are answered."), LATER]
    )
    assert sum("address the comments" in line for line in lines) == 1
    at = next(i for i, line in enumerate(lines) if "address the comments" in line)
    assert lines[at + 1 : at + 3] == ["- edit src/export.py", "Both are answered."]


def test_a_number_behind_bullets_begins_another_list() -> None:
    parts = "Build the map.\n\n3. Layout\nUse three zones of the window, which are:\n- the bar at the top\n- the list of berths\n\n4. Keys\n- `j` goes down the list\n- `q` ends the map"
    led = {piece.text: piece.under for piece in facts_of([user(parts)]).pieces}
    assert led["the list of berths"].startswith("Use three zones")
    assert not led["`q` ends the map"]


def test_files_that_are_read_one_after_the_other_stand_in_a_line() -> None:
    names = ("src/locks.py", "src/export.py", "docs/desk.md")
    looked = [each for name in names for each in runs("read", {"path": name}, "a part of the exporter", id=name)]
    assert "- read src/{locks.py, export.py}; docs/desk.md" in happened([ASKED, *looked])


def test_of_a_table_that_is_drawn_again_amid_the_work_the_newest_is_told() -> None:
    def drawn(watch: str, *rows: str) -> Message:
        table = "\n".join(f"| {row} |" for row in ("Mirror | Watch", "--- | ---", *rows))
        called = bash("cat locks.txt", "share_9 holds lock_4", error=False)[0].calls
        return Message("assistant", (Text(f"The watch at {watch}:\n\n{table}"), *called))

    seen = bash("cat locks.txt", "share_9 holds lock_4")[1]
    first = drawn("noon", "mirror_7 | waits for lock_4", "mirror_9 | reads the rows of May")
    second = drawn("night", "mirror_7 | is done since nine", "mirror_9 | waits for the desk")
    other = drawn("dawn", "share_3 | sleeps until the desk opens", "share_5 | is read by mirror_2")
    told = told_of([ASKED, first, seen, second, seen, other, seen, *EDIT], 3_000)
    assert "waits for lock_4" not in told
    assert "noon" not in told
    assert "| mirror_7 | is done since nine |" in told
    assert "| share_3 | sleeps until the desk opens |" in told


def test_a_long_message_that_is_sent_again_is_told_by_what_is_new_in_it() -> None:
    given = [f"Share {n} answers at {n} o'clock, and mirror_{n} may not be read before that." for n in range(2, 12)]
    first = user("You take over the watch of the mirrors.\n" + "\n".join(given))
    second = user("You take over the watch of the mirrors.\n" + "\n".join(given) + "\nThe old watch has gone home.")
    told = told_of(
        [
            first,
            says("I take over the watch of all of them."),
            second,
            *EDIT,
            says("I watch them, and nothing is wrong with any of them so far."),
            LATER,
        ],
        3_000,
    )
    assert all(told.count(line) == 1 for line in given)
    assert "**2** > You take over the watch of the mirrors." in told
    assert "> The old watch has gone home." in told
    assert told_of([first, *EDIT, says("It is done."), user("\n".join(given[:2])), LATER], 3_000).count(given[0]) == 2


@pytest.mark.parametrize(("stopped", "told"), [(False, False), (True, True)])
def test_a_report_closes_what_was_begun_before_the_user_spoke_amid_the_work(stopped: bool, told: bool) -> None:
    """But not where the user had stopped it: the report tells of something else then."""
    looked = "share_9 and the lock of mirror_7 stand in one file, which the desk opens at noon."
    refused = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    call, answer = bash("cat locks.txt", refused if stopped else "share_9\nmirror_7", error=stopped)
    begun = [Message("assistant", (Text(looked), *call.calls)), answer, *EDIT]
    report = says(
        f"The export waits for the desk now, and writes the shares in the order of their names. {'It runs. ' * 40}"
    )
    messages = [
        ASKED,
        *begun,
        user("And sort the shares by their names while you are at it, please."),
        *EDIT,
        report,
        LATER,
    ]
    assert (looked in told_of(messages, 3_000)) == told


def test_each_time_that_the_user_says_to_go_on_begins_a_turn() -> None:
    commits = [bash(f"git commit -m 'Part {n}'", f"[main {n}a2b3c4] Part {n}\n 1 file changed") for n in range(4)]
    turns = [
        [user("commit and continue"), *made, says(f"Part {n} is committed as {n}a2b3c4.")]
        for n, made in enumerate(commits)
    ]
    messages = [ASKED, *EDIT, says("It runs again."), *(each for turn in turns for each in turn), LATER]
    for facts in (facts_of(messages), merge(facts_of(messages[:9]), facts_of(messages[9:]))):
        lines = compose(Brief(1_500), facts).splitlines()
        heads = [line for line in lines if line.endswith("> commit and continue")]
        assert heads == [f"**{n}** > commit and continue" for n in range(2, 6)]


def test_a_long_command_is_cut_where_no_budget_is_to_be_filled() -> None:
    tried = bash("make test " + " ".join(f"--only=part_{n}" for n in range(40)), "40 passed in 3.1s")
    line = next(each for each in happened([ASKED, *EDIT, *tried]) if "make test" in each)
    assert line.endswith("…` → 40 passed in 3.1s")
    assert len(line) < 180


def test_what_a_look_up_brought_and_nobody_wrote_of_goes_once_a_report_closed_the_turn() -> None:
    record = '{"crossing": "HS2256", "ship": "Tern", "history": [{"ref": "QHQGTB", "party": 3}, {"ref": "CCRWLW"}]}'
    looked = runs("get_booking", {"ref": "KVEJDO"}, record)
    open_turn = told_of([ASKED, *looked, *EDIT], 1_500)
    assert "QHQGTB" in open_turn
    closed = told_of([ASKED, *looked, *EDIT, says("The crossing is HS2256 now, as it was booked."), LATER], 1_500)
    assert "HS2256" in closed
    assert "QHQGTB" not in closed
    assert "QHQGTB" in extract(Brief(1_500, fills="outputs"), [ASKED, *looked, *EDIT, says("HS2256."), LATER]).text


def test_of_what_is_said_amid_a_turn_that_a_longer_report_closed_the_reasons_and_what_was_wrong_are_told() -> None:
    def amid(text: str) -> list[Message]:
        return [Message("assistant", (Text(text), *EDIT[0].parts)), EDIT[1]]

    work = [
        *amid("The options of the exporter are threaded through src/export.py."),
        *amid("The lock of mirror_7 was never given back, which is the error that worker_2 met."),
        *amid("The timeout is 45 s instead of 90 s, because the share is asleep after a minute."),
    ]
    report = "The export runs again. " + " ".join(
        f"Mirror {n} is copied in its own turn, with its own lock." for n in range(6)
    )
    told = told_of([ASKED, *work, says(report), LATER], 2_000)
    assert "· The lock of mirror_7 was never given back" in told
    assert "· The timeout is 45 s instead of 90 s" in told
    assert "threaded through" not in told
    assert "threaded through" in told_of([ASKED, *work, says("Done."), LATER], 2_000)


def test_what_the_closing_report_says_again_is_not_told_as_said_amid_the_work_too() -> None:
    def amid(text: str) -> list[Message]:
        return [Message("assistant", (Text(text), *EDIT[0].parts)), EDIT[1]]

    found = "The error is that worker_2 never gives the lock of mirror_7 back, because its timeout of 90 s is over first, as desk.log shows."
    other = "The error of the fonts comes from font_kit, which is not the cause."
    report = "The export runs again. The cause: worker_2 never gave the lock of mirror_7 back, since its timeout of 90 s was over before. Now it waits as long as the share does. The desk was told about it, too."
    told = told_of([ASKED, *amid(found), *amid(other), says(report), LATER], 2_000)
    assert found not in told
    assert other in told
    assert found in told_of([ASKED, *amid(found), *amid(other), says("It runs again."), LATER], 2_000)


@pytest.mark.parametrize(
    "announced",
    [
        "Next I’m updating the timeout of mirror_7 in src/export.py.",
        "Now update the timeout of mirror_7 in src/export.py.",
        "Now I need to update the timeout of mirror_7.",
        "Second edit of mirror_7 coming up.",
        "Jetzt passe ich den Timeout von mirror_7 an.",
        "Estoy cambiando el límite de mirror_7.",
        "Je suis en train de changer le délai de mirror_7.",
        "Saya sedang mengubah batas waktu mirror_7.",
        "Vou mudar o tempo limite de mirror_7.",
        "我正在修改 mirror_7 的超时。",
    ],
)
def test_what_the_agent_is_about_to_do_is_not_told_beside_how_it_failed(announced: str) -> None:
    error = "E   AssertionError: assert 45 == 90\n1 failed in 0.3s\nexit code: 1"
    called, failed = runs("bash", {"command": "pytest tests/test_lock.py"}, error, error=True, id="m")
    told = extract(Brief(2_000), [ASKED, Message("assistant", (Text(announced), *called.parts)), failed, *EDIT]).text
    assert announced not in told
    assert "pytest tests/test_lock.py" in told


def test_what_only_sounds_like_an_announcement_is_told() -> None:
    said = "Next run will ask mirror_7 and counter_9 for the lock of 12:45 once more."
    work = [ASKED, Message("assistant", (Text(said), *EDIT[0].parts)), EDIT[1], says("Done."), LATER]
    assert said in told_of(work, 2_000)


@pytest.mark.parametrize(
    "taken_back",
    [
        "Now let me revert my earlier change to `read_rows`, since the lock is held at the door now",
        "I'll back out the first fix of mirror_7, since the lock is held at the door now",
        "Let me remove my earlier tests of `read_rows`, which only test the lock",
        "Ich nehme meine frühere Änderung an `read_rows` zurück, das Schloss hängt jetzt an der Tür",
        "Voy a revertir mi cambio anterior en `read_rows`, el cerrojo está ahora en la puerta",
        "Je vais annuler ma modification de `read_rows`, le verrou est à la porte maintenant",
        "Saya akan membatalkan perubahan saya di `read_rows`, kuncinya sekarang ada di pintu",
        "Vou reverter a minha alteração em `read_rows`, a trava está na porta agora",
        "让我撤销之前对 `read_rows` 的修改，锁现在在门上",
        "先ほどの修正を元に戻してから確認します",
        "제가 앞서 한 수정을 되돌리겠습니다",
    ],
)
def test_that_the_agent_takes_back_its_earlier_change_is_told(taken_back: str) -> None:
    work = [
        ASKED,
        *EDIT,
        says("The export runs again: `read_rows` sorts the rows before it locks them, and the share is asked once."),
        user("But the door knows already who comes in, why is that not used?"),
        Message("assistant", (Text(f"{taken_back}:"), *EDIT[0].parts)),
        EDIT[1],
        says("The door hands the name of the worker on, and the export takes the lock that has this name. " * 4),
        LATER,
    ]
    assert taken_back in told_of(work, 2_000)


@pytest.mark.parametrize(
    "goes_on",
    ["Let me undo the wrapping of the rows", "That would undo my earlier change of `read_rows`, so I leave it"],
)
def test_what_takes_nothing_back_is_not_told_as_if_it_did(goes_on: str) -> None:
    work = [ASKED, Message("assistant", (Text(f"{goes_on}:"), *EDIT[0].parts)), EDIT[1], says("Done."), LATER]
    assert goes_on not in told_of(work, 2_000)


def test_where_a_line_goes_on_behind_a_gap_that_is_marked() -> None:
    def part(n: int, k: int) -> str:
        why = (
            f"Nobody at desk_{n}_{k} had ever asked any of us why that was so before it moved away from house_{n}_{k}."
        )
        return f"Part {k} of mirror_{n} was slow for the people at it. {why} {why.replace('Nobody', 'Nobody else')}"

    work = list[Message]()
    for n in range(5):
        asked, _ = looked_through(n)
        found = "\n\n".join(part(n, k) for k in range(9))
        work += [
            asked,
            says(
                f"Mirror {n} is looked through.\n\n{found} What is left is the lock of mirror_{n}, which nobody gives back."
            ),
        ]
    text = told_of([*work, ASKED], 8_000)
    assert "(in short) Mirror 0 is looked through." in text
    assert "Part 8 of mirror_0 was slow for the people at it. … What is left is the lock of mirror_0" in text.replace(
        "\n", " "
    )


# -- records --------------------------------------------------------------------------------------------------------

TICKET = {
    "id": "7f0c1d52-93ab-4e0f-8b1c-2d5e6f708192",
    "key": "EXP-41",
    "title": "Exports stop at midnight",
    "details": "The nightly export of mirror_7 stops once the date changes, and nobody is told of it until the morning.",
    "url": "https://tickets.example.com/exports/EXP-41",
    "createdAt": "2026-03-02T09:44:20.485Z",
    "updatedAt": "2026-03-02T09:48:06.977Z",
    "startsAt": "2026-03-09T08:00:00Z",
    "status": "Started",
    "createdBy": "Ada Kern",
    "createdById": "0b8e7f3a-1d2c-4b5a-9687-7968a5b4c3d2",
    "folderId": "5a4b3c2d-1e0f-4a5b-8c7d-9e8f7a6b5c4d",
    "updatedBy": {"id": "0b8e7f3a-1d2c-4b5a-9687-7968a5b4c3d2", "name": "Ada Kern"},
    "folder": {"id": "5a4b3c2d-1e0f-4a5b-8c7d-9e8f7a6b5c4d", "name": "Mirrors"},
    "pageInfo": {"hasNextPage": False, "endCursor": "c41"},
}


def test_of_a_record_is_told_what_it_says_to_a_reader_and_not_who_keeps_it_where() -> None:
    told = told_of([ASKED, *runs("get_ticket", {"key": "EXP-41"}, json.dumps(TICKET)), *EDIT], 2_000)
    for said in ("key: EXP-41", "Exports stop at midnight", "stops once the date changes", "status: Started"):
        assert said in told
    for said in ("https://tickets.example.com/exports/EXP-41", "2026-03-09T08:00:00Z", "folder: Mirrors"):
        assert said in told
    for kept in ("7f0c1d52", "5a4b3c2d", "0b8e7f3a", "Ada Kern", "createdAt", "updatedAt", "hasNextPage", "c41"):
        assert kept not in told


FLIGHTS = [
    {"flight_number": f"HAT{n:03}", "origin": "MIA", "destination": "LAX", "departs": "08:00:00", "prices": {"basic": n, "economy": 160 + n}}
    for n in (8, 200)
]  # fmt: skip


def test_what_belongs_to_one_thing_of_a_list_stands_with_it() -> None:
    looked = runs("search_flights", {"on": "May 24"}, json.dumps(FLIGHTS))
    lines = [line.strip() for line in happened([ASKED, *looked])]
    assert [line.removeprefix("- ") for line in lines if "HAT" in line] == [
        "flight_number: HAT008, origin: MIA, destination: LAX, departs: 08:00:00, prices: {basic: 8, economy: 168}",
        "flight_number: HAT200, origin: MIA, destination: LAX, departs: 08:00:00, prices: {basic: 200, economy: 360}",
    ]


def test_short_things_of_one_list_stand_in_a_line() -> None:
    record = {"booking": "JG7FMM", "cabin": "business", "passengers": [{"name": "Omar", "born": "1982-10-19"}, {"name": "Fatima", "born": "1950-05-04"}]}  # fmt: skip
    lines = [line.strip() for line in happened([ASKED, *runs("get_booking", {"number": "JG7"}, json.dumps(record))])]
    assert "- passengers: name: Omar, born: 1982-10-19 | name: Fatima, born: 1950-05-04" in lines


def test_a_page_that_fills_its_budget_has_the_whole_record() -> None:
    looked = [ASKED, *runs("get_ticket", {"key": "EXP-41"}, json.dumps(TICKET)), *EDIT]
    told = extract(Brief(2_000, fills="outputs"), looked).text
    for kept in ("7f0c1d52", "5a4b3c2d", "Ada Kern", "2026-03-02T09:44:20.485Z"):
        assert kept in told


def test_a_long_text_in_a_record_is_cut_between_words_and_says_so() -> None:
    words = " ".join(f"mirror{n:03}" for n in range(90))
    told = told_of([ASKED, *runs("get_note", {"of": "m7"}, json.dumps({"note": words})), *EDIT], 2_000)
    line = next(each for each in told.splitlines() if "mirror000" in each)
    assert re.search(r"mirror\d{3}…$", line)


def test_when_something_was_ordered_stands_where_the_record_is_no_kept_one() -> None:
    order = {"order": "W4082615", "created_at": "2026-03-01T10:15:00", "state": "delivered", "available": False}
    order |= {"items": [{"name": "kettle", "item": "6777246137", "price": 46.85}, {"name": "toaster", "price": 12.5}]}
    told = told_of([ASKED, *runs("get_order", {"order": "W4082615"}, json.dumps(order)), *EDIT], 2_000)
    for said in ("2026-03-01T10:15:00", "delivered", "available: false", "6777246137", "46.85", "toaster"):
        assert said in told


def test_what_a_command_asked_for_by_name_is_told_though_it_is_a_hash() -> None:
    record = json.dumps({"state": "OPEN", "tip": "5d3185a1d6b512ffee00"})
    asked = bash("forge request view 31 --fields state,tip", record)
    assert "5d3185a1d6b512ffee00" in told_of([ASKED, *asked, *EDIT], 2_000)


def test_what_was_made_is_named_by_its_address_and_not_by_numbers_of_programs() -> None:
    made = {"id": "7f0c1d52-93ab-4e0f-8b1c-2d5e6f708192", "url": "https://tickets.example.com/notes/midnight"}
    told = told_of([ASKED, *runs("create_note", {"title": "Midnight"}, json.dumps(made)), *EDIT], 2_000)
    assert "→ url: https://tickets.example.com/notes/midnight" in told
    assert "7f0c1d52" not in told


def test_a_long_listing_of_figures_keeps_those_that_were_spoken_of() -> None:
    crossings = [{"crossing": f"HS{2200 + n}", "harbour": "TRN", "fare": 40 + n, "free": n % 2 == 0} for n in range(26)]
    words = says("HS2221 fits best, so I take HS2221 for the party.")
    told = told_of([ASKED, *runs("list_crossings", {"day": "Monday"}, json.dumps(crossings)), words, *EDIT], 2_000)
    assert "crossing: HS2221, harbour: TRN, fare: 61, free: false" in told


def test_an_address_under_any_key_is_told_where_it_is_the_only_one() -> None:
    made = json.dumps({"key": "EXP-42", "printout": "https://tickets.example.com/exports/EXP-42.pdf"})
    assert "EXP-42.pdf" in told_of([ASKED, *runs("get_ticket", {"of": "m7"}, made), *EDIT], 2_000)


def test_what_a_call_says_itself_is_not_told_again_of_what_it_brought() -> None:
    made = {"key": "EXP-42", "title": "Exports stop at noon too", "state": "Open", "owner": "the export desk"}
    told = told_of([ASKED, *runs("create_ticket", {"title": made["title"]}, json.dumps(made)), *EDIT], 2_000)
    assert told.count("Exports stop at noon too") == 1
    assert "EXP-42" in told
    assert "owner: the export desk" in told


def test_of_a_listing_of_all_that_a_machine_sees_a_few_texts_are_told_each_in_one_piece() -> None:
    seen = [{"index": n, "kind": "anchor", "label": ""} for n in range(40)]
    seen += [
        {"index": n, "kind": "anchor", "label": f"Open the folder of mirror {n}", "target": f"/folders/{n}?view=list"}
        for n in range(40, 52)
    ]
    screen = json.dumps({"place": "https://files.example.com/all", "heading": "All files", "elements": seen})
    told = told_of([ASKED, *runs("look_at_screen", {}, screen)], 3_000)
    assert "heading: All files" in told
    assert 1 <= told.count("Open the folder of mirror") <= 5
    assert told.count("anchor") == told.count("Open the folder of mirror") == told.count("?view=list")


# -- commands before what they brought --------------------------------------------------------------------------------


def test_a_command_is_told_whole_before_what_it_brought() -> None:
    command = "python tools/compare_mirrors.py --left mirror_7 --right mirror_8 --ignore-times --only exports/nightly"
    told = told_of([ASKED, *bash(command, "mirror_7 lacks exports/nightly/part_3.bin"), *EDIT], 1_500)
    assert f"- `{command}`; mirror_7 lacks exports/nightly/part_3.bin" in told


def test_a_command_that_is_cut_before_what_it_brought_still_ends_with_its_sign() -> None:
    command = "python tools/compare_mirrors.py " + " ".join(f"--only exports/part_{n}" for n in range(12))
    told = told_of([ASKED, *bash(command, "mirror_7 lacks exports/nightly/part_3.bin"), *EDIT], 1_500)
    assert re.search(r"- `python tools/compare_mirrors.py [^`\n]*…`; mirror_7 lacks", told)


@pytest.mark.parametrize(
    "command",
    [
        "git switch -C mirrors/lock-fix origin/main",
        "cd /srv/export && git fetch origin && git checkout mirrors/lock-fix",
        "git add -A && git push -u origin mirrors/lock-fix",
    ],
)
def test_what_git_answers_to_a_move_is_no_news(command: str) -> None:
    answer = "Previous HEAD position was 50d6f34 Lock mirrors/lock-fix\nremote: mirrors/lock-fix has 1 weakness"
    assert "remote:" not in told_of([ASKED, *bash(command, answer), *EDIT], 1_500)
    assert "HEAD position" not in told_of([ASKED, *bash(command, answer), *EDIT], 1_500)


def test_what_a_move_of_git_failed_with_is_told() -> None:
    failed = bash("git push origin mirrors/lock-fix", "! [rejected] mirrors/lock-fix (fetch first)", error=True)
    assert "rejected" in extract(Brief(1_500), [ASKED, *failed, *EDIT]).text


def test_what_stands_behind_a_move_of_git_is_told() -> None:
    looked = bash("git fetch origin && tools/compare mirrors/lock-fix", "mirrors/lock-fix lacks part_3.bin")
    assert "lacks part_3.bin" in told_of([ASKED, *looked, *EDIT], 1_500)


# -- calls over and over ----------------------------------------------------------------------------------------------


def test_a_call_that_was_made_over_and_over_is_told_once_with_how_often() -> None:
    asked_for = [m for n in range(9) for m in (*runs("open_folder", {"row": 7}, "Opened row 7"), *runs("look", {}, f"state {n} of the folder"))]  # fmt: skip
    told = told_of([ASKED, *runs("open_folder", {"row": 6}, "Opened row 6"), *asked_for, *EDIT], 1_500)
    assert "open_folder row=7 → Opened row 7 (9 times)" in told
    assert told.count("Opened row 7") == 1
    assert "Opened row 6 (" not in told


def test_a_call_that_was_made_again_in_another_turn_or_ended_otherwise_is_no_loop() -> None:
    tried = bash("make export", "ERROR mirror_7 is locked", error=True)
    again = [user(f"Please try it once more on host {host}, it should be free.") for host in ("a", "b", "c")]
    turns = [m for each in again for m in (each, *tried, *EDIT, says("mirror_7 is locked still, so it waits."))]
    ended = [m for n in range(4) for m in runs("open_folder", {"row": 7}, f"Opened row 7 after {n} s")]
    assert "times)" not in told_of([ASKED, *turns, *ended, *EDIT], 2_500)


# -- files that are only tries ----------------------------------------------------------------------------------------


def test_names_in_written_files_are_told_once() -> None:
    def tries(path: str, name: str = "copy_of") -> list[Message]:
        return runs("write", {"path": path, "content": f"class Mirror:\n    pass\n\ndef {name}(mirror):\n    pass\n"})

    failed = bash("python try_1.py", "ERROR mirror_7 is locked", error=True)
    apart = told_of([ASKED, *tries("try_1.py"), *failed, *tries("try_2.py"), *bash("python try_2.py", "ok")], 1_500)
    assert "try_1.py" in apart
    assert apart.count("copy_of") == 1
    told = told_of([ASKED, *tries("locks.py", "lock_of"), *failed, *tries("locks.py"), *tries("times.py", "time_of")], 1_500)  # fmt: skip
    assert "locks.py (Mirror, copy_of)" in told
    assert "time_of" in told
    assert "lock_of" not in told


def test_of_many_files_made_in_one_folder_some_are_listed_and_those_elsewhere_are() -> None:
    tries = [m for n in range(22) for m in runs("write", {"path": f"probe_{n}.py", "content": f"print({n})"})]
    made = runs("write", {"path": "src/mirrors.py", "content": "def copy_of(mirror): ..."})
    told = extract(Brief(8_000), [ASKED, *made, *tries, *EDIT]).text.partition("## Files\n")[2]
    assert told.count("probe_") == 8
    assert "… and 14 more" in told
    assert "src/mirrors.py" in told
    whole = extract(Brief(8_000, fills="outputs"), [ASKED, *made, *tries, *EDIT]).text.partition("## Files\n")[2]
    assert whole.count("probe_") == 22


def test_a_file_that_is_named_by_its_folder_stands_with_it() -> None:
    at = "/srv/exporter/src/mirrors/fields"
    changed = [m for name in ("__init__.py", "times.py", "names.py") for m in runs("edit", {"path": f"{at}/{name}", "oldText": "a", "newText": "b"})]  # fmt: skip
    text = extract(Brief(2_000), [ASKED, *changed]).text
    assert "- in /srv/exporter/src/mirrors/\n" in text
    assert "fields/{__init__.py, times.py, names.py}" in text
    assert "edit fields/__init__.py" in text


def test_a_line_of_an_output_that_only_moves_the_cursor_is_none_to_tell() -> None:
    copied = "\n".join(f"mirror_{n} is copied whole, with its lock" for n in range(20))
    answer = json.dumps({"chunk_id": "a1", "output": f"\x1b[K\n{copied}"}, separators=(",", ":"))
    drawn = runs("exec", "const r = await tools.write_stdin({session_id: 7}); text(r)", answer)
    first = extract(Brief(1_500), [ASKED, *drawn, *EDIT])
    folded = Message("user", (Summary(first.text, first.facts),))
    assert "src/export.py" in extract(Brief(1_500), [folded, LATER, *EDIT]).text


CLOSED = says("The exporter gives the lock back by itself now, the check of the mirrors is part of the release, and all nine of them passed it on the machine of the desk. " * 2)  # fmt: skip


def acts(words: str, command: str, output: str = "", *, error: bool = False) -> list[Message]:
    """A message of the agent that says something and calls a command, and what that brought."""
    called, answered = bash(command, output, error=error)
    return [Message("assistant", (Text(words), *called.calls)), answered]


def test_what_was_wrong_with_the_agents_own_draft_is_told_and_not_that_all_goes_well() -> None:
    said = "The small mirror exposed a bug in my first draft: `grep` ends the script before the empty case. I'm swapping that to `awk`."
    told = told_of(
        [
            ASKED,
            *acts(said, "sed -i s/grep/awk/ check.sh"),
            *acts(
                "Still building, with no failure so far. Such builds are quiet for a while.", "make mirrors", "built"
            ),
            *acts("The share refused the fresh folder. That's expected there.", "make again", "built"),
            CLOSED,
            LATER,
        ],
        3_000,
    )
    assert "exposed a bug in my first draft" in told
    assert "Still building" not in told
    assert "refused the fresh folder" not in told


def test_a_program_that_was_asked_for_its_version_in_vain_is_no_failure() -> None:
    tried = bash("mise x -- exporter --version", "error: a value is required for '--version <VERSION>'", error=True)
    failed = bash("exporter --mirror mirror_7", "error: the lock of mirror_7 is held by worker_2", error=True)
    cause = says("The lock of mirror_7 was held by worker_2, so the export never began.")
    told = told_of([ASKED, *tried, *failed, CLOSED, cause, LATER], 3_000)
    assert "--version" not in told
    assert "held by worker_2" in told


def test_a_try_that_the_agent_made_up_for_on_the_way_is_not_told_once_a_report_closed_the_turn() -> None:
    tried = bash("courier post mirrors/7/notes -f at=41", "courier: error: at is not a number in note_41", error=True)
    again = bash("courier post mirrors/7/note -F at=41", '{"id": 41}')
    closed = says("The note is posted, as note_41 of the mirror: the export is late since the lock is held.")
    assert "is not a number" not in told_of([ASKED, *tried, *again, closed, LATER], 3_000)
    assert "is not a number" in told_of([ASKED, *tried, *EDIT, closed, LATER], 3_000)


@pytest.mark.parametrize(
    ("report", "told"),
    [
        ("The lock was taken by hand, and the export runs again since this morning, as the desk wished.", False),
        ("The export is not released: the courier found no token, so somebody has to log in first.", True),
    ],
)
def test_of_failures_in_a_closed_turn_those_are_told_that_the_agent_wrote_of(report: str, told: bool) -> None:
    failed = bash("courier release", "exit code 1\nerror: found no token, log in first", error=True)
    page = told_of([ASKED, *failed, *EDIT, says(report), LATER], 3_000)
    assert ("found no token, log" in page) is told


def test_a_call_that_was_cancelled_beside_another_is_not_told() -> None:
    cancelled = bash(
        "courier release mirror_7", "<tool_use_error>Sibling tool call errored</tool_use_error>", error=True
    )
    assert "courier release" not in told_of([ASKED, *cancelled, *EDIT], 3_000)


def test_what_another_agent_rejects_later_in_so_many_words_is_told_with_that_only() -> None:
    claim = "worker_2 never gives the lock of mirror_7 back when share_3 is closed."
    other = "counter_9 is read twice by worker_4 in `count_all`."
    answer = (
        "REJECTED: worker_2 gives the lock of mirror_7 back in `unlock` when share_3 is closed, as the spec wants it."
    )
    letter = user(f"Message Type: FINAL_ANSWER\nTask name: /lead\nSender: /lead/check_lock\nPayload:\n{answer}")
    before = [ASKED, *acts(claim, "cat src/lock.py", "a lock"), *acts(other, "cat src/count.py", "a counter")]
    assert claim in told_of(before, 3_000)
    told = told_of([*before, letter, *acts("On to the next.", "cat src/share.py", "a share")], 3_000)
    assert claim not in told
    assert "check_lock: REJECTED: worker_2 gives the lock" in told
    assert other in told


# -- thinking aloud ---------------------------------------------------------------------------------------------------


def muses(n: int) -> list[Message]:
    """A message of an agent that wonders about the same in ever new words, and what it looked at."""
    words = (
        f"Actually, let me think about mirror_{n} again. Maybe the lock of worker_{n} is not the cause at all? "
        f"The fix would be to close share_{n} before counter_{n} is read. What if the desk holds file_{n}.lck open?"
    )
    return [
        Message("assistant", (Text(words), *runs("bash", {"command": f"cat src/part_{n}.py"})[0].calls)),
        *runs("bash", {"command": f"cat src/part_{n}.py"}, f"part {n} of the exporter")[1:],
    ]


def test_of_a_long_run_of_thinking_aloud_what_was_found_is_told_and_hardly_anything_else() -> None:
    found = [
        says("The export of mirror_7 fails since `unlock` returns before counter_9 is written."),
        *bash("cat src/lock.py", "a lock"),
        says("No changes to `unlock` and `mirror_lock.py` since March. Perhaps it is the share after all?"),
        *bash("cat src/share.py", "a share"),
    ]
    run = [*(message for n in range(40) for message in muses(n)), *found, *(m for n in range(40, 60) for m in muses(n))]
    told = extract(Brief(8_000), [ASKED, *run]).text
    assert "`unlock` returns before counter_9 is written" in told
    assert "No changes to `unlock` and `mirror_lock.py` since March." in told
    assert not any(word in told for word in ("What if", "Maybe", "Perhaps", "The fix would be"))
    assert len(told) < 6_000


def test_of_such_a_run_is_told_how_each_step_came_out_which_its_messages_begin_with() -> None:
    def comes_out(n: int, words: str) -> list[Message]:
        thought, shown = muses(n)
        return [Message("assistant", (Text(f"{words} {thought.text}"), *thought.calls)), shown]

    first = comes_out(40, "It crashed again. So the lock of mirror_3 is still held.")
    second = comes_out(41, "It works! The share of mirror_3 is free.")
    run = [*(m for n in range(40) for m in muses(n)), *first, *second, *(m for n in range(42, 60) for m in muses(n))]
    told = extract(Brief(8_000), [ASKED, *run]).text
    assert "· It crashed again. So the lock of mirror_3 is still held." in told
    assert "· It works! The share of mirror_3 is free." in told
    assert not any(word in told for word in ("What if", "Maybe", "let me think", "The fix would be"))


def test_of_a_run_that_says_the_same_again_and_again_the_newest_of_it_is_told() -> None:
    same = "The lock of mirror_7 ends before the share of mirror_7 answers, so the loop of worker_2 is incomplete and takes it twice"
    run = [m for n in range(60) for m in acts(f"{same}, as line {n} shows.", f"cat src/part_{n}.py", "a part")]
    told = told_of([ASKED, *run], 8_000)
    assert "as line 59 shows" in told
    assert told.count("The lock of mirror_7 ends before the share") < 6


def test_what_a_protocol_wants_before_a_thought_is_no_word_of_the_agent() -> None:
    assert "THOUGHT" not in told_of([ASKED, *acts("THOUGHT: mirror_7 waits for share_3.", "ls", "src"), *EDIT], 2_000)


def test_a_long_run_in_which_the_agent_tells_what_it_does_is_told_as_before() -> None:
    steps = [
        m
        for n in range(60)
        for m in acts(
            f"mirror_{n} is done, its lock ends after {n + 40} s since worker_{n} closes share_{n} by itself. Next comes counter_{n}.",
            f"cat src/part_{n}.py",
            "a part",
        )
    ]
    told = told_of([ASKED, *steps], 8_000)
    assert sum(f"mirror_{n} is done" in told for n in range(60)) > 50


def test_the_commit_that_the_agent_comes_back_to_is_told_where_it_was_found() -> None:
    log = "\n".join(f"{n:04d}ab{n:02d}c Tidy part {n} of the exporter" for n in range(20))
    run = [
        *(message for n in range(30) for message in muses(n)),
        *bash("git log --all --oneline", f"{log}\n7d3e91fa Give the lock of the mirrors back\n0f21c8ba Another one"),
        says("In 7d3e91fa the lock is given back. That does not pass here."),
        *bash("git show 7d3e91fa", "a patch"),
        *(message for n in range(30, 40) for message in muses(n)),
    ]
    told = told_of([ASKED, *run], 8_000)
    assert "7d3e91fa Give the lock of the mirrors back" in told
    assert "Another one" not in told


def test_lines_of_an_output_stand_in_its_order() -> None:
    log = "\n".join(f"{n:07x} Rows of table_{n} are read in parts" for n in range(1, 10))
    wanted = says("Of these table_7 and table_3 matter: I take both back in one commit.")
    text = extract(Brief(1_500, fills="outputs"), [ASKED, *bash("git log --oneline -9", log), wanted, LATER]).text
    shown = re.findall(r"Rows of (table_\d)", text)
    assert {"table_1", "table_3", "table_7"} <= {*shown}
    assert shown == sorted(shown)


def test_what_was_sent_again_with_more_before_anything_was_done_is_told_once() -> None:
    begun = user("Could the mirrors never take more than half of the line?")
    more = user("Could the mirrors never take more than half of the line and of the memory?")
    lines = happened([begun, user("<turn_aborted>\nThe user interrupted.\n</turn_aborted>"), more, *EDIT, LATER])
    assert lines[0] == f"**1** > {more.text}"
    assert not any(begun.text in line for line in lines)


@pytest.mark.parametrize("between", [says("It takes a third of it."), *bash("tc -s qdisc", "rate 4Mbit")[:1]])
def test_what_is_asked_with_more_once_the_agent_spoke_or_worked_is_another_request(between: Message) -> None:
    begun = user("Could the mirrors never take more than half of the line?")
    more = user("Could the mirrors never take more than half of the line and of the memory?")
    assert f"**1** > {begun.text}" in happened([begun, between, more, *EDIT, LATER])


def test_a_very_long_report_is_told_in_short_though_it_is_new() -> None:
    rows = [
        f"- The mirror number {n} answers in {n} ms and has {n * 7} files of which none is older than a day"
        for n in range(90)
    ]
    report = says("All mirrors were looked at.\n\n" + "\n".join(rows) + "\n\nTwo of them have to be moved.")
    lines = happened([ASKED, *EDIT, report, LATER], 6_000)
    assert "Two of them have to be moved." in lines[-1]
    assert 10 < sum("The mirror number" in line for line in lines) < 60


def test_what_is_given_in_brackets_behind_a_question_stays_with_it() -> None:
    question = "Which delay shall stand between two mirrors? (e.g., 50 ms, 100 ms)"
    lines = happened([ASKED, *EDIT, says(f"The export runs.\n\n{question}"), user("250ms"), *EDIT, LATER])
    assert f"(to “{question}”)" in lines
    assert not any("(e.g.," in line and question not in line for line in lines)


def test_what_an_agent_announces_whose_calls_were_not_kept_is_no_report() -> None:
    went_on = [
        says("The tool `lsof` is not there. Let's try another approach to find the port:"),
        says("The mirror's host answers with 403 since its certificate was changed. I'll look at the bundle next."),
    ]
    report = says("The bundle was older than the certificate. I replaced it, and the export runs again.")
    lines = happened([ASKED, *went_on, report, LATER])
    assert "The tool `lsof` is not there. …" not in lines
    assert any(line.startswith("· The mirror's host answers with 403") for line in lines)
    assert report.text in lines


def test_a_program_that_is_not_there_is_not_told_once_the_agent_went_on_without_it() -> None:
    missing = bash("python -c 'import rows'", "sh: 1: python: command not found\nexit code: 127", error=True)
    went_on = bash("python3 scripts/rows.py", "3 rows")
    assert not any("command not found" in line for line in happened([ASKED, *missing, *went_on, *EDIT]))
    assert any("command not found" in line for line in happened([ASKED, *EDIT, *missing]))


def test_a_piece_of_a_patch_in_a_record_is_not_told() -> None:
    answer = json.dumps(
        {
            "id": 27,
            "path": "src/rows.py",
            "diff_hunk": "@@ -111,10 +113,13 @@ def rows():\n-    a\n+    b",
            "body": "Please read the rows in parts here.",
        }
    )
    told = told_of([ASKED, *runs("get_comment", {"number": 27}, answer), *EDIT], 1_500)
    assert "Please read the rows in parts here." in told
    assert "@@" not in told


def test_lines_of_a_diff_are_not_told_of_an_output() -> None:
    shown = "desk version 2.4\n+mirror_7=late\n-mirror_7=early\n+++ b/src/export.sh\nthe share of mirror_7 is free"
    told = told_of([ASKED, *bash("desk --version && desk login && git diff -- src/export.sh", shown), *EDIT], 1_500)
    assert "mirror_7=" not in told


def test_what_a_record_hides_from_who_reads_it_is_not_told() -> None:
    comment = {
        "body": "<!-- block 7 of the desk -->\nPlease read the rows in parts.\n<!-- end of block 7 -->",
        "line": 4,
    }
    told = told_of([ASKED, *runs("get_comment", {"number": 27}, json.dumps(comment)), *EDIT], 1_500)
    assert "body: Please read the rows in parts." in told
    assert "block 7" not in told


def test_numbers_by_which_a_program_knows_things_are_not_told_of_what_a_command_printed() -> None:
    job = {
        "id": 87976,
        "runner_id": 4471,
        "runner_name": "builder of the desk",
        "name": "build the rows",
        "conclusion": "failure",
    }
    printed = told_of([ASKED, *bash("gh run view 9 --json jobs", json.dumps(job)), *EDIT], 1_500)
    assert "name: build the rows, conclusion: failure" in printed
    assert "4471" not in printed
    looked_up = runs("get_order", {"customer": "Ann"}, json.dumps({"order_id": 44710, "status": "sent by the desk"}))
    assert "44710" in told_of([ASKED, *looked_up, *EDIT], 1_500)


def test_an_answer_that_says_only_that_a_call_is_through_is_not_told() -> None:
    made = runs("post_note", {"mirror": "mirror_7"}, "Action completed.")
    assert "completed" not in told_of([ASKED, *made], 1_500)


def test_signs_of_a_pointer_in_a_block_of_code_are_no_marks_of_bold_words() -> None:
    found = "**The cause:**\n\n```\nerrors.As(err, **Status) = false\nerrors.As(err, *Status)  = true\n```"
    told = extract(Brief(1_500), [user("Why is the status not found?"), says(found)]).text
    assert "errors.As(err, **Status) = false" in told


def test_nobody_elses_words_stand_behind_the_sign_of_the_users_wherever_they_were_said() -> None:
    third = user("Take care of the third row as well, which came late.")
    closed = [third, says("The third row is in its place."), user("Now mend the columns.")]
    said = facts_of([user("Mend the rows."), *bash("cat rows", "7"), *closed])
    summed_up = Piece("the rows were mended in 5 steps", 3, 0, "summary", "summary", item=True, under="Done")
    pieces = [each for p in said.pieces for each in ((p, summed_up) if p.at == 3 else (p,))]
    told = compose(Brief(300, fills="words"), replace(said, pieces=tuple(pieces)))
    assert "the rows were mended in 5 steps" in told
    assert not [line for line in told.splitlines() if line.startswith(">") and "mended in 5" in line]


def test_a_report_that_the_next_one_of_the_turn_says_again_is_told_once() -> None:
    first = "The scanner of the harbour is built.\n\n- It reads boats.csv\n- It counts masts_3 and hulls_7\n- Its report is port.html"
    again = "I went through it once more. The scanner of the harbour is built.\n\n- It reads boats.csv\n- It counts masts_3 and hulls_7\n- Its report is port.html\n- The tests pass"
    reminder = Message("user", (Text("Please go on with the task.", by="harness"),))
    asked = user("Please build a scanner of the harbour.")
    told = extract(Brief(2_000), [asked, *bash("ls", "boats.csv"), says(first), reminder, says(again)]).text
    assert [told.count(each) for each in ("reads boats.csv", "masts_3", "The tests pass")] == [1, 1, 1]


CODED = "Rows are read in parts now:\n\n```python\ndef rows():\n    for part in parts:\n        for row in part:\n            yield row\n    close_7()\n```\n\nNothing else has changed in rows.py."


def test_code_that_an_older_report_shows_is_not_told_to_read() -> None:
    asked, next = user("Please read the rows of the export in parts."), user("And now the columns of it, please.")
    told = extract(
        Brief(2_000), [asked, *EDIT, says(CODED), next, *EDIT, says("Columns too: `cols()` reads them.")]
    ).text
    assert "Nothing else has changed in rows.py." in told
    assert "close_7" not in told
    assert "close_7" in extract(Brief(2_000), [asked, *EDIT, says(CODED), next, *EDIT]).text


def test_a_line_of_code_in_an_older_report_is_told() -> None:
    asked, next = user("How is it started?"), user("And now the columns of it, please.")
    told = extract(
        Brief(2_000), [asked, says("So:\n\n```sh\nmake rows\n```"), next, *EDIT, says("Columns are read.")]
    ).text
    assert "make rows" in told


def test_of_an_older_report_that_lists_code_line_by_line_the_words_are_told() -> None:
    lines = ["import os", 'PLACE = os.getenv("PLACE", "a.db")', "class Rows(Base):", "name: str | None = None", "def rows(self):", "return self.all()", "for row in rows: pass", "close_7(rows)", "if not rows: return"]  # fmt: skip
    words = "The export gets a web service of its own.\n\n- Code to add:\n" + "\n".join(f"  - {line}" for line in lines)
    asked, next = user("Please plan a web service for the export."), user("And now the columns of it, please.")
    told = extract(Brief(2_000), [asked, says(words), next, *EDIT, says("Columns are read.")]).text
    assert "The export gets a web service of its own." in told
    assert not [line for line in lines if line in told]


def test_of_a_long_request_that_is_over_less_is_told_than_of_one_that_is_not() -> None:
    points = [f"Check that counter_{n} of the export is reset each night, and say where it is not." for n in range(40)]
    asked = user("Please go through the export.\n" + "\n".join(f"- {each}" for each in points))
    over = told_of(
        [asked, *EDIT, says("All counters are reset."), user("And now the columns, please, all of them."), *EDIT], 8_000
    )
    assert 10 < sum(each in over for each in points) < 25
    assert all(each in extract(Brief(8_000), [asked, *EDIT]).text for each in points)


def test_of_a_look_up_that_was_reported_on_nothing_more_is_told_once_more_is_asked() -> None:
    record = json.dumps({"booking": "JG7FMM", "cabin": "business", "card": "visa_2076", "from": "MCO", "to": "BOS"})
    looked = [
        user("Please look at JG7FMM."),
        *runs("get_booking", {"number": "JG7FMM"}, record),
        says("JG7FMM is in business, paid by visa_2076."),
    ]
    assert "from: MCO" in told_of(looked, 2_000)
    told = told_of(
        [*looked, user("And which flights are there on Tuesday?"), *runs("list_flights", {"on": "Tue"}, "[]")], 2_000
    )
    assert "from: MCO" not in told
    assert "paid by visa_2076" in told


def test_of_a_list_with_which_an_older_report_begins_all_is_told_or_nothing() -> None:
    numbers = ["NM1VX1", "KC18K6", "S61CZX", "H8Q05L", "WUNA5K"]
    ids = (
        "These are your bookings:\n\n"
        + "\n".join(f"{i}. {each}" for i, each in enumerate(numbers, 1))
        + "\n\n"
        + "Each of them can be changed until the day before it begins. The price is that of the day. Bags stay as they are. A refund takes a week."
    )
    later = [
        m
        for n in range(8)
        for m in (
            user(f"What about the tide of harbour_{n}, is it high enough for the ferry on day {n}?"),
            *bash(f"tide {n}", f"high at {n} h"),
            says(f"Harbour_{n} has its high tide at {n} h, which is enough for the ferry. " * 6),
        )
    ]
    for room in (500, 700, 900, 1_200):
        told = extract(
            Brief(room), [user("Which bookings do I have, please?"), *bash("bookings", "5"), says(ids), *later]
        ).text
        assert sum(f". {each}" in told for each in numbers) in (0, 5), room


def test_edits_of_one_file_that_say_what_they_did_are_told_together() -> None:
    def edit(old: str, new: str, said: str) -> list[Message]:
        body = f"from pathlib import Path\nlamp = Path('src/lamp.py')\nlamp.write_text(lamp.read_text().replace({old!r}, {new!r}))"
        return bash(f"python3 - <<'PY'\n{body}\nprint({said!r})\nPY", said)

    work = [*edit("a = 1", "a = 2", "doubled the depth"), *edit("def on():", "def on(x):", "the lamp takes x")]
    assert "- edit src/lamp.py → doubled the depth; the lamp takes x (on)" in happened([user("Mend the lamp."), *work])


def test_bare_titles_of_long_reports_are_not_told_without_what_stands_below_them() -> None:
    talk: list[Message] = []
    for k, title in enumerate(("ご指摘の構造", "区画の対比", "補強の核心", "石工の意味")):
        berths = [
            f"第{k}{n}岸壁は{100 + n}トンまでの船を受け入れますが、これは春に石工{n}番が古い壁を一段ずつ高く積み直したためです。"
            for n in range(12)
        ]
        talk += [user(f"第{k}区の岸壁はどうなっていますか。"), says("\n".join((title, *berths)))]
    told = happened([*talk, user("次に桟橋の話をします。"), says("はい。")], 300)
    titles = [
        at
        for at, line in enumerate(told)
        if line.rstrip(" …") in ("ご指摘の構造", "区画の対比", "補強の核心", "石工の意味")
    ]
    assert [told[at + 1][:1] for at in titles] == ["第" for _ in titles]
    assert any(line.startswith("第") for line in told)


# -- a talk in which the user says most -------------------------------------------------------------------------------


def test_what_the_agent_answered_has_its_place_beside_long_requests() -> None:
    def wish(n: int) -> Message:
        asked = "\n".join(
            f"- what of the lamp on pier {n}.{i}, which {i + 20} of the boats wait for since Tuesday?"
            for i in range(14)
        )
        return user(f"Thank you for the list of pier {n}. A few more things before I decide:\n\n{asked}")

    def answer(n: int) -> Message:
        lamps = f"the {n + 30} lamps of pier_{n} are lit until {n + 2} in the morning"
        alerts = f"I can't watch the {n + 30} lamps from here; ask again at {n + 7} in the morning."
        return says(
            f"Thank you, Anna, {n} of your wishes are noted.\n\n- Lamps: {lamps}, as the keeper of week {n} says.\n"
            f"- Alerts: {alerts}\n- Boats: {n + 50} wait at pier {n} since Tuesday.\n- Ropes: {n + 60} of them are dry."
        )

    talk = [message for n in range(1, 7) for message in (wish(n), answer(n))]
    told = happened([*talk, user("Good, that is all.")], 2_000)
    assert [n for n in range(1, 6) if not any(f"ask again at {n + 7} in" in line for line in told)] == []


@pytest.mark.parametrize(
    ("polite", "asked"),
    [
        ("You are absolutely right.", "The divider is too thick, please make it as thin as the others are."),
        ("Excellent question.", "Why is the divider of the page thicker than the others are?"),
        ("Tienes toda la razón.", "El divisor es demasiado grueso, hazlo tan fino como los otros."),
        ("抱歉。", "分隔线太粗了，请改成和其他的一样细。"),
        ("Вы правы.", "Разделитель слишком толстый, сделай его таким же, как остальные."),
    ],
)
def test_what_is_only_polite_does_not_stand_for_a_report(polite: str, asked: str) -> None:
    why = "The bar of the page draws a border of its own below itself, which the others leave to the divider."
    more = [f"The {name} of the window keeps the {name} of its frame wherever the theme of the {name} is changed." for name in ("tide", "crane", "berth", "quay", "lamp")]  # fmt: skip
    told = happened([user(asked), says(" ".join([polite, why, *more])), LATER, *EDIT, says("The notes are written.")])
    assert why in told[1]
    assert not any(line.startswith(polite) for line in told)


def test_who_asks_for_something_else_behind_a_question_does_not_answer_it() -> None:
    asked = says("The quick start is linked from the page.\n\nWant me to add a link to the page of the status as well?")
    other = user("OK, now we are supposed to have a window as well as the command line. Can we get started on that?")
    told = told_of([ASKED, asked, other, *EDIT, says("The window is there and shows the mirrors."), LATER], 2_000)
    assert "(to “Want me" not in told
    decided = user("OK, let's go with the workers that translate it.")
    told = told_of([ASKED, asked, decided, *EDIT, says("The workers translate it."), LATER], 2_000)
    assert "OK, let's go with the workers that translate it." in told


def test_of_a_log_without_any_call_the_last_that_the_agent_says_in_a_turn_is_its_report() -> None:
    amid = says("I have the code of both parts. The state of the board is split between the two of them.")
    done = says("The rewrite is complete. The board draws its berths by itself now, and the old part is gone.")
    told = told_of([ASKED, amid, says("The board is rewritten. The old part is next."), done, LATER], 600)
    assert "The board draws its berths by itself now" in told
    assert "\nI have the code of both parts." not in told
    facts = facts_of([ASKED, amid, done])
    assert [p.kind for p in facts.pieces if p.text.startswith("I have")] == ["thought"]


def test_of_a_report_that_a_later_one_says_again_more_stays_than_that_it_is_done() -> None:
    first = "The rewrite is complete. The board draws its berths by itself from quays.csv, and the old painter is gone. Restart the harbour's clock to see it."
    again = "All of it is in place. The board draws its berths by itself from quays.csv, and the old painter is gone. The lamps of the quays.csv are read as well. Restart the harbour's clock to see it."
    asked = (user("Let the board draw its berths by itself, please."), user("Now read the lamps of the quays as well."))
    told = told_of([asked[0], *EDIT, says(first), asked[1], *EDIT, says(again), LATER], 2_000)
    behind = told.partition("The rewrite is complete.")[2].partition("\n")[0]
    assert "The board draws its berths by itself" in behind


def test_a_line_over_a_list_is_its_title_though_no_sign_says_so() -> None:
    report = "The board is done.\n\nTests\n- Full suite: 22 passed.\n\nDrawn by hand still\n- A berth that is drawn upside down for the pilots.\n- A lamp of its own for each quay."
    told = happened([ASKED, says(report), LATER, *EDIT, says("The notes are written.")])
    place = told.index("  - A berth that is drawn upside down for the pilots.")
    assert told[place - 1] == "Drawn by hand still:"
    facts = facts_of([ASKED, says(report)])
    assert [p.under for p in facts.pieces if "upside down" in p.text] == ["Drawn by hand still"]


def test_a_turn_that_ends_with_no_more_than_a_thought_has_what_was_said_last_as_its_report() -> None:
    said = "**Harbourmaster installed successfully!**\n\nNow let me look whether its clocks are healthy."
    looks = Message("assistant", (Text(said), ToolCall("c1", "Bash", '{"command": "hm ps"}')))
    shown = Message("tool", (ToolResult("c1", (Text("clock-1 healthy"),)),))
    thinks = Message("assistant", (Thinking("All of it runs. I sum it up."),))
    work = [ASKED, *bash("hm install", "ok"), looks, shown, thinks, user("I am logged in now, go to the berths.")]
    told = happened([*work, *EDIT, says("The berths are set up by their list."), LATER])
    assert "Harbourmaster installed successfully!" in told
    assert told.index("Harbourmaster installed successfully!") < told.index(
        "**2** > I am logged in now, go to the berths."
    )


@pytest.mark.parametrize(
    ("offered", "agreed"),
    [
        ("If you want, I can also add a page of the status.", "yes p[lease"),
        ("If you want other pages (e.g. of the mirrors), I can add them.", "Yes please do, and put the mirrors first, below a title of their own, as we did for the quick start."),
        ("Wenn du möchtest, baue ich auch eine Seite der Spiegel.", "ja bitte, aber die Spiegel zuerst und unter einer eigenen Überschrift, so wie beim Schnellstart."),
        ("Si quieres, puedo añadir también una página del estado.", "sí, y pon los espejos primero, bajo un título propio, como hicimos en el inicio rápido."),
    ],
)  # fmt: skip
def test_who_takes_up_an_offer_is_told_with_it(offered: str, agreed: str) -> None:
    asked = says(f"The quick start is linked from the page.\n\n{offered}")
    more = user(f"{agreed} Tell me when it is there.")
    told = told_of([ASKED, asked, more, *EDIT, says("The page is there."), LATER], 2_000)
    assert told.count(f"\n(to “{offered}”)\n") == 1
    assert told.count(offered) == 1


def test_all_packages_that_a_command_installed_are_told_by_their_versions() -> None:
    added = bash(
        "bun add tide-table tide-react", "installed tide-table@3.15.0\ninstalled tide-react@2.1.2\n2 packages installed"
    )
    told = told_of([ASKED, *added, says("Both are installed."), LATER], 2_000)
    assert "→ installed tide-table@3.15.0; installed tide-react@2.1.2" in told


def test_an_item_that_says_what_stands_over_it_is_told_once() -> None:
    done = says(
        "Done.\n\n- The rows are read by `bun`.\n- Verified with:\n\n```text\nbun run build\n✓ Compiled in 4 s\n```"
    )
    told = told_of([ASKED, *EDIT, done, LATER], 2_000)
    assert told.count("Verified with:") == 1
