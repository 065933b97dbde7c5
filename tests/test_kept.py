"""What a page keeps of the agent's own words: how it solves something, what it asked in vain; and what it drops, as it was overtaken."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from foldline import Brief, Message
from foldline.extend import SUMMARY_PREFIX, SUMMARY_SUFFIX, Text, extract
from talk import bash, runs, says, user

ASKED = user("The nightly export of the mirrors fails since Tuesday. Please find out why, and make it run again.")
LATER = user("Now write the release notes of the exporter for the people at the desk, half a page of plain words.")
EDIT = runs("edit", {"path": "src/export.py", "oldText": "a", "newText": "b"})
CAUSE = "The exporter holds the lock of mirror_7 until the share answers, which it never does at night."


def amid(text: str, command: str = "cat desk.log", output: str = "no holder") -> list[Message]:
    """Words of the agent before a call."""
    called, result = bash(command, output)
    return [Message("assistant", (Text(text), *called.parts)), result]


def page_of(messages: Sequence[Message]) -> str:
    return extract(Brief(2_000), messages).text


# -- decisions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "decision",
    [
        "I’m making the exporter take the lock of mirror_7 once for all counters, keeping the order of its rows.",
        "I'll replace the lock of mirror_7 by a lease of 45 s, because nobody gives the lock back.",
        "Let me keep the lock of mirror_7 at the door instead of in each worker_2.",
        "I'm going to store the lease in desk.db so that both workers see who holds mirror_7.",
        "Ich ersetze das Schloss von mirror_7 durch eine Frist, damit worker_2 nicht mehr wartet.",
        "Voy a cambiar el cerrojo de mirror_7 por un plazo en lugar de esperar a worker_2.",
        "Je vais remplacer le verrou de mirror_7 par un délai, sans attendre worker_2.",
        "Vou trocar a trava de mirror_7 por um prazo em vez de esperar por worker_2.",
        "Saya akan mengganti kunci mirror_7 dengan batas waktu supaya worker_2 tidak menunggu.",
        "mirror_7 の鍵を捨てる代わりに、期限付きの鍵に変更します。",
        "mirror_7의 잠금을 기다리는 대신 기한이 있는 잠금으로 바꾸겠습니다.",
        "我将把 mirror_7 的锁换成租约，而不是等待 worker_2。",
    ],
)
def test_how_something_is_solved_is_told_beside_what_was_wrong(decision: str) -> None:
    text = page_of([ASKED, *amid(f"{CAUSE} {decision}"), *amid("I’ll run the tests now.")])
    assert CAUSE in text
    assert decision in text


@pytest.mark.parametrize(
    "step",
    [
        "I'm checking the lock of mirror_7 now, because the log is silent about it.",
        "Let me look at how worker_2 takes the lock of mirror_7 instead of guessing.",
        "I’ll run the tests of mirror_7 next, so the next step is known.",
        "I’m using the release workflow for mirror_7 because this ends in a pull request.",
        "Ich prüfe das Schloss von mirror_7, weil das Protokoll schweigt.",
    ],
)
def test_which_step_comes_next_is_not_told_whatever_the_reason(step: str) -> None:
    text = page_of([ASKED, *amid(f"{CAUSE} {step}"), *amid("I’ll run the tests now.")])
    assert CAUSE in text
    assert step not in text


def test_a_decision_is_told_also_where_a_long_report_closes_the_turn() -> None:
    decision = "I’m giving each worker a lease. I'll keep the old lock of mirror_7 beside the lease, because the desk reads it by hand."
    report = "The export runs again since worker_2 waits no more. " + " ".join(
        f"Mirror {n} is copied in a turn of its own, by a cursor of its own." for n in range(6)
    )
    kept = "I'll keep the old lock of mirror_7 beside the lease, because the desk reads it by hand."
    assert kept in page_of([ASKED, *amid(decision), *EDIT, says(report), LATER])


# -- questions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "question",
    [
        "Would you prefer I give both workers one shared cursor?",
        "Should I add a case for a full share, or would another message do?",
        "Worth moving the cursor into a file of its own, or leave it for a later cleanup?",
        "Lohnt es sich, beiden Arbeitern einen gemeinsamen Zeiger zu geben?",
        "Dois-je donner un seul curseur aux deux processus ?",
    ],
)
def test_a_question_that_the_user_passed_over_stays_in_its_report(question: str) -> None:
    report = f"The two workers each hold a cursor of their own. The rows that they share are few. {question}"
    assert question in page_of([ASKED, says(report), LATER])


@pytest.mark.parametrize(
    "question",
    [
        "Does that make sense to you, or are there doubts about the two cursors?",
        "What do you think of the two cursors, and which of them is better?",
        "Should I commit the change of the two cursors now?",
    ],
)
def test_a_question_whether_all_is_fine_is_over_once_the_user_asks_for_something_else(question: str) -> None:
    report = f"The two workers each hold a cursor of their own. The rows that they share are few. {question}"
    text = page_of([ASKED, says(report), LATER, *EDIT])
    assert "The rows that they share are few." in text
    assert question not in text


def test_a_question_is_told_where_the_user_decided_it_amid_many_words() -> None:
    question = "Should I give both workers one cursor?"
    yes = user(
        "yes, and after that write the release notes for the people at the desk, with a word on the night of Tuesday and on what "
        "was lost, so that nobody has to ask for it, and send them to the printer on the second floor before noon."
    )
    report = f"The two workers each hold a place of their own. The rows that they share are few. {question}"
    assert question in page_of([ASKED, says(report), yes, *EDIT])
    listed = user("the log of the desk — where is it?\nlet's keep thirty nights\n\nYes do it. And call it desk.log.")
    assert question in page_of([ASKED, says(report), listed, *EDIT])


@pytest.mark.parametrize(
    ("asked", "words", "told"),
    [
        ("Does one cursor suit you? Or two of them?", "fine by me", "Does one cursor suit you? Or two of them?"),
        ("两个进程共用一个游标好吗？还是各用一个？", "可以 改吧", "两个进程共用一个游标好吗？还是各用一个？"),
        ("Дать обоим процессам один курсор? Или два?", "да, один", "Дать обоим процессам один курсор? Или два?"),
        ("Shall I give both workers one cursor?", "yes into the desk's own table, nobody else looks there at night I think", "Shall I give both workers one cursor?"),
    ],
)  # fmt: skip
def test_short_words_that_decide_are_told_with_all_that_was_asked(asked: str, words: str, told: str) -> None:
    report = f"The two workers each hold a place of their own. {asked}"
    assert f"> {words}\n(to “{told}”)" in page_of([ASKED, says(report), user(words), *EDIT])


# -- what goes on within an item ------------------------------------------------------------------------------------


def test_the_sentences_of_an_item_stay_in_it_whatever_label_they_have() -> None:
    first = (
        "- The lock of mirror_7 is taken twice by the same worker, which waits for itself at night from then on. "
        "Minimal fix: give the lease a holder, and let that one pass. Risk: none that the log of the desk shows."
    )
    second = "- The cursor of mirror_9 is read before it was stored, so that the first row of each night is lost."
    text = page_of([ASKED, says(f"Two faults were found in the exporter.\n\n{first}\n{second}"), LATER])
    assert f"  {first}\n  {second}" in text


def test_a_paragraph_within_an_item_stands_below_its_words() -> None:
    items = (
        "- The lock of mirror_7 is taken twice by the same worker.\n\n  It waits for itself at night from then on.\n"
        "- The cursor of mirror_9 is read before it was stored.\n\nNothing else was found in the exporter."
    )
    report = f"Two faults were found in the exporter.\n\n{items}"
    lines = (
        "  - The lock of mirror_7 is taken twice by the same worker.\n"
        "    It waits for itself at night from then on.\n"
        "  - The cursor of mirror_9 is read before it was stored.\n"
        "Nothing else was found in the exporter."
    )
    text = page_of([ASKED, says(report), LATER])
    assert lines in text
    again = page_of([user(f"{SUMMARY_PREFIX}[folded: 2 messages]\n{text}{SUMMARY_SUFFIX}"), *EDIT])
    assert "It waits for itself at night from then on." in again
    assert "- It waits for itself" not in again


# -- what was overtaken ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "waiting",
    [
        "Still in the copy of mirror_7, with no new output.",
        "The build of mirror_7 is still running.",
        "`make mirror_7` is still compiling, now in its last crate; nothing has failed so far.",
        "That run of mirror_7 is being re-run now, which hides the log of mirror_9.",
        "Both readers of mirror_7 are still working on it.",
        "Three readers of mirror_7 are running in parallel. I'll wait for all of them.",
        "Waiting on the reader of mirror_7.",
        "The copier is not installed here, so I’m calling the one of mirror_7, then I’ll compare the rows.",
        "Der Bau von mirror_7 läuft noch.",
        "La prueba de mirror_7 sigue ejecutando.",
        "La copie de mirror_7 tourne toujours, sans erreur.",
        "A cópia de mirror_7 ainda está rodando.",
        "Salinan mirror_7 masih berjalan.",
        "mirror_7 のコピーはまだ実行中です。",
        "mirror_7 복사는 아직 실행 중입니다.",
        "mirror_7 的复制仍在运行。",
    ],
)
def test_what_was_said_while_the_agent_waited_is_not_told_once_it_went_on(waiting: str) -> None:
    waited = Message("assistant", (Text(waiting), *bash("sleep 60")[0].parts))
    text = page_of([ASKED, *amid(CAUSE), waited, bash("sleep 60", "")[1], *amid("I’ll compare the rows now."), *EDIT])
    assert CAUSE in text
    assert waiting not in text


@pytest.mark.parametrize(
    "found",
    [
        "The counter of mirror_7 is still read by worker_2, which is why its row stays.",
        "The lock of mirror_7 is still held, because the worker is waiting for the share.",
        "The import of mirror_7 is running into the limit of 45 s of the share.",
    ],
)
def test_how_things_are_is_told_though_it_sounds_like_waiting(found: str) -> None:
    assert found in page_of([ASKED, *amid(found), *EDIT])


def test_what_led_to_an_answer_is_not_told_before_it_where_nothing_was_changed() -> None:
    asked = user("How well do the tests cover the pruning of mirrors?")
    remark = "The main guard of pruning is that every delete names the old hash of the mirror, so that a delete that came too late is refused."
    answer = (
        "Short answer: not well enough. Every delete of a mirror names its old hash, which is good, but pruning has no test of its "
        "own: that a delete with an old hash is refused is tried nowhere, and so is the case of a mirror that nobody asked for."
    )
    answered = [asked, *amid(remark), says(answer), LATER]
    assert "Short answer: not well enough." in page_of(answered)
    assert remark not in page_of(answered)
    assert remark in page_of([asked, *amid(remark), *EDIT, says(answer), LATER])


@pytest.mark.parametrize(
    "found",
    [
        "Now I understand the root cause: worker_2 reads the clock of the share, which is an hour late.",
        "I found the bug: worker_2 reads the clock of the share, which is an hour late.",
        "Jetzt verstehe ich die Ursache: worker_2 liest die Uhr des Laufwerks, die eine Stunde nachgeht.",
        "Ya entiendo la causa: worker_2 lee el reloj del disco, que va una hora tarde.",
        "我找到了根本原因：worker_2 读取共享盘的时钟，它慢了一小时。",
    ],
)
def test_what_was_supposed_before_the_cause_was_found_is_not_told_beside_it(found: str) -> None:
    held = "The lock of mirror_7 was written at 12:45, and the desk saw it at 13:45."
    guess = "The real issue is that counter_9 is full, and the exporter should look at its name first."
    weighed = "The door of mirror_9 closes at noon. The desk opens it by hand afterwards, as the log of the desk says. So does the exporter of drawer_4 still wait for it at night, or not?"
    work = [ASKED, *amid(held), *amid(guess), *amid(weighed)]
    text = page_of([*work, *amid(found), *EDIT])
    assert held in text
    assert found in text
    assert "counter_9" not in text
    assert "mirror_9 closes" not in text
    assert "counter_9" in page_of([*work, *EDIT])
    assert "counter_9" in page_of([*work, says("The lock was stale."), LATER, *amid(found), *EDIT])
    acted = [Message("assistant", (Text(guess), *EDIT[0].parts)), EDIT[1]]
    assert "counter_9" in page_of([ASKED, *amid(held), *acted, *amid(found), *EDIT])


def test_an_item_of_a_list_in_a_list_stands_below_its_heading_where_the_first_of_them_is_left_out() -> None:
    told = (
        "## Modules\n\n- The cursor of mirror_9: `src/cursor.py` reads it before it was stored.\n\n## Risks\n\n"
        "- Good to know:\n  - It may be that somebody looks at it some day, and then it is what it is.\n"
        "- Stability:\n  - The lock of mirror_7 in `src/lock.py` is taken twice by worker_2, which waits until 04:15.\n"
    )
    pages = [extract(Brief(room), [ASKED, says(told), LATER, *EDIT]).text for room in range(60, 200, 5)]
    telling = [text for text in pages if "taken twice" in text]
    assert telling
    for text in telling:
        assert text.index("Risks:") < text.index("Stability:") < text.index("taken twice")


@pytest.mark.parametrize(
    ("lead", "told"),
    [
        ("Both desks are made anew. Here is how they are laid out:", "Both desks are made anew.\n"),
        ("Both desks are made anew by the key of mirror_7, and here is what they are now:\n\n**desk_a**", "and here is what they are now: …\n"),
    ],
)  # fmt: skip
def test_what_leads_in_code_that_is_left_out_says_so(lead: str, told: str) -> None:
    listing = "```\n" + "".join(f"desk_{n}.nix\n" for n in range(12)) + "```"
    report = f"{lead}\n\n{listing}\n\nThe key of the desk is read by worker_2 first."
    text = page_of(
        [
            ASKED,
            says(report),
            LATER,
            *EDIT,
            says("The notes are written."),
            user("Print them."),
            says("They are printed."),
        ]
    )
    assert told in text
    assert "desk_3.nix" not in text


def test_a_list_that_is_told_in_part_in_a_report_that_is_told_in_short_says_that_it_has_more() -> None:
    items = "\n".join(f"- The lock of mirror_{n} in `src/lock_{n}.py` is held by worker_{n % 3}." for n in range(9))
    others = "\n".join(f"- The cursor of desk_{n} in `src/desk_{n}.py` was read before row {n * 7}." for n in range(9))
    told = f"The export waits for locks.\n\n## Locks\n\n{items}\n\n## Cursors\n\n{others}\n\n## Verdict\n\nThe locks have to go before the cursors do."
    pages = [extract(Brief(room), [ASKED, says(told), LATER, *EDIT]).text for room in range(250, 900, 15)]
    shown = [(text, {n for n in range(9) if f"lock_{n}.py" in text}) for text in pages]
    short = [text for text, locks in shown if "(in short)" in text and "Cursors" in text and len(locks) < 9]
    assert short
    for text in short:
        assert "…" in text[text.index("Locks") : text.index("Cursors")]


def test_a_page_with_more_room_tells_no_less_of_a_long_report() -> None:
    items = "\n".join(f"- The lock of mirror_{n} in `src/lock_{n}.py` is held by worker_{n % 3}." for n in range(12))
    others = "\n".join(f"- The cursor of desk_{n} in `src/desk_{n}.py` was read before row {n * 7}." for n in range(12))
    told = f"The export waits for locks.\n\n## Locks\n\n{items}\n\n## Cursors\n\n{others}\n\n## Verdict\n\nThe locks have to go before the cursors do."
    pages = [extract(Brief(room), [ASKED, says(told), LATER, *EDIT]).text for room in range(250, 900, 25)]
    counts = [sum(f"{what}_{n}.py" in text for what in ("lock", "desk") for n in range(12)) for text in pages]
    assert counts[-1] == 24
    assert all(more >= less - 3 for less, more in pairwise(counts)), counts
