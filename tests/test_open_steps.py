"""What is open at the end, by what a report says and by a plan in words; the sentences were written by hand."""

from __future__ import annotations

import pytest

from foldline import Message
from foldline._facts.reading import facts_of
from foldline._page.state import state
from foldline.extend import Text
from talk import bash, says, user


@pytest.mark.parametrize(
    "sentence",
    [
        "The counter for late parcels isn't part of the dashboard yet.",
        "Nobody has asked the printer about the paper yet.",
        "Both doors still need a lock.",
        "The dry run for March has not been started.",
        "The second archive is untouched.",
        "This one waits for your approval.",
        "Die Probe mit den alten Karten mache ich dann nach dem Umzug.",
        "Es fehlt mir noch die Nummer des Zählers.",
        "Für die Halle gibt es noch keine Zusage.",
        "El aviso a la vecina no lo he mandado todavía.",
        "Hay que pagar la fianza antes del viernes.",
        "La lista de invitados sigue pendiente.",
        "O aviso à vizinha eu ainda não mandei.",
        "É preciso pagar a caução antes de sexta.",
        "A lista de convidados continua pendente.",
        "Le mot à la voisine n'est pas encore parti.",
        "Il faut payer la caution avant vendredi.",
        "La liste des invités est toujours en attente.",
        "Undangan untuk RT sebelah belum kukirim.",
        "Uang muka harus masuk sebelum Jumat.",
        "초대장은 아직 보내지 못했습니다.",
        "주소가 확정되면 바로 택배를 보내 드리겠습니다.",
        "会場の予約はまだです。",
        "返事が届いたら名簿を直します。",
        "发票还没开。",
        "等您确认了我再下单。",
    ],
)
def test_what_a_report_says_is_not_done_is_open_in_any_language(sentence: str) -> None:
    messages = [
        user("Get it all ready for the move."),
        says(f"The vans are booked.\n\n{sentence}\n\nThe keys are with Nora."),
    ]
    assert [sentence] == [line for line in state(facts_of(messages)) if sentence in line]


@pytest.mark.parametrize(
    "sentence",
    [
        "The door still has the old lock, which is fine.",
        "It has been checked twice.",
        "Der Vertrag ist unterschrieben und liegt bei Nora.",
        "Los recibos están pagados y archivados.",
        "Semua undangan sudah dikirim.",
        "초대장을 모두 보냈습니다.",
        "予約は全部終わっています。",
        "发票都开好了。",
    ],
)
def test_what_a_report_says_is_done_is_not_open(sentence: str) -> None:
    messages = [
        user("Get it all ready for the move."),
        says(f"The vans are booked.\n\n{sentence}\n\nThe keys are with Nora."),
    ]
    assert [line for line in state(facts_of(messages)) if sentence in line] == []


def said_with(text: str, command: str, answer: str) -> list[Message]:
    """What the agent says beside a call."""
    asked, answered = bash(command, answer)
    return [Message("assistant", (Text(text), *asked.parts)), answered]


def test_steps_of_a_plan_in_words_are_past_once_the_agent_speaks_of_a_later_one() -> None:
    plan = "The plan:\n\n- [ ] copy the ledger\n- [ ] trial import into a scratch schema\n- [ ] switch the site over\n- [ ] nightly backup by dump"
    messages = [user("Move the ledger to the new server."), *said_with(plan, "cp ledger.db /tmp/l.db", "")]
    messages += said_with("The copy is there. Now the trial import.", "loaddata /tmp/l.db", "Installed 40 objects")
    told = [line for line in state(facts_of(messages)) if line.startswith("[ ]")]
    assert told == ["[ ] trial import into a scratch schema", "[ ] switch the site over", "[ ] nightly backup by dump"]


def test_a_list_in_words_is_no_plan_any_more_once_much_else_was_asked_for() -> None:
    listed = [user("What is there to check?"), says("To check:\n- [ ] The pages load fast\n- [ ] The search answers")]
    other = [m for n in range(5) for m in (user(f"What does shelf {n} hold?"), says(f"Shelf {n} holds jars."))]
    speaks = [user("And the pages?"), says("Of the list this is still left: the pages load fast.")]
    assert [line for line in state(facts_of(listed)) if line.startswith("[ ]")]
    assert not [line for line in state(facts_of([*listed, *other])) if line.startswith("[ ]")]
    assert [line for line in state(facts_of([*listed, *other, *speaks])) if line.startswith("[ ]")] == [
        "[ ] The pages load fast"
    ]


def test_what_is_to_be_kept_in_chinese_is_no_open_step() -> None:
    design = "建议架构：保留现有方向，但整理成三个部分：\n\n1. 唯一的主题应用入口\n2. 登录后自动启动的监听服务"
    messages = [user("用脚本还是服务更好？"), says(f"用服务更好。\n\n{design}\n\n脚本适合绑定快捷键。")]
    assert not [line for line in state(facts_of(messages)) if "入口" in line or "监听" in line]


@pytest.mark.parametrize(
    ("next_step", "open_point"),
    [
        ("Next: weigh the parcels of the hall.", "Still open: the licence of the second driver."),
        ("Nächster Schritt: die Pakete der Halle wiegen.", "Offen: der Führerschein des zweiten Fahrers."),
        ("Prochaine étape : peser les colis du hangar.", "Reste à faire : le permis du second chauffeur."),
        ("Próximo passo: pesar os pacotes do galpão.", "Em aberto: a carteira do segundo motorista."),
        ("Siguiente paso: pesar los paquetes de la nave.", "Pendiente: el carné del segundo conductor."),
        ("Berikutnya: menimbang paket di gudang.", "Masih terbuka: SIM sopir kedua."),
        ("次: 倉庫の荷物を量る。", "未解決: 二人目の運転手の免許。"),
    ],
)
def test_what_was_to_come_next_is_no_open_step_once_something_was_reported_behind_it(
    next_step: str, open_point: str
) -> None:
    first = says(f"The vans are booked.\n\n{next_step}\n{open_point}")
    later = [user("And the keys?"), says("The keys are with Nora.")]
    told = [*state(facts_of([user("Get it all ready."), first, *later]))]
    assert any(open_point in line for line in told)
    assert not any(next_step in line for line in told)
    assert any(next_step in line for line in state(facts_of([user("Get it all ready."), first])))


def test_a_tool_with_which_nothing_could_be_run_is_an_open_error_however_long_ago_it_was_tried() -> None:
    missing = "No shell found. Options:\n  1. Install one\n  2. Set shellPath in the settings"
    tried = [m for name in ("ls", "dir", "pwd", "find .", "cat rows.csv") for m in bash(name, missing, error=True)]
    talk = [m for n in range(6) for m in (user(f"What else is there, number {n}?"), says(f"Read row {n} by hand."))]
    told = [*state(facts_of([user("Look at the rows."), *tried, says("I cannot list them."), *talk]))]
    assert "open error: all 5 commands failed → No shell found. Options: 1. Install one" in told
    works = facts_of([user("Look at the rows."), *tried, *bash("ls", "rows.csv"), says("There they are."), *talk])
    assert not any("commands failed" in line for line in state(works))
