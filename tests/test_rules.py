"""Rules, orders for one turn and what is taken back, told from all else that users say."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline import Message, Summary
from foldline._facts.language import language_of
from foldline._facts.reading import facts_of
from foldline._facts.rules import lifetime, rules_in, ruling
from foldline._facts.splitting import sentences
from talk import says, user

HERE = Path(__file__).parent
LABELLED = HERE.parent / "scripts/rules"

HARMLESS = [
    "I live in the USA now, by the way.", "Only two of the tests failed for me.",
    "That is without doubt the nicest patch so far.", "I never saw that before, strange.",
    "We met in Mai last year at the conference.", "I cannot reproduce it on my laptop.",
    "The build took ten minutes instead of two.", "Das ist nicht das, was ich sehe.", "Я не знаю, почему так.",
    "It is required by the old client, I think.", "Remember when we did this in June? Fun.",
    "Does the page keep its state on reload, I wonder.", "I want to understand how the parser works.",
    "Ich habe keine Ahnung, woran das liegt.", "I found a nice cafe nearby because it was raining.",
    "The problem set is important for the students.", "Let me know what you think about it.",
    "Yes, please go ahead and upgrade all the remaining bookings to business class wherever you can.",
    "The village remains unchanged, but the tension remains palpable.", "Created by the build system on each run.", "It works on my machine now, I hope.", "add a login page",
    "fix the bug", "it must never return None but it does",
]  # fmt: skip
RULES = [
    "Leave the public signatures as they are.", "Two-space indentation, please.",
    "Nothing outside src/ is yours to touch.", "Tests first.", "Tabs over spaces in this repo.",
    "Target Python 3.11.", "No new dependencies.", "Wir arbeiten auf dem Branch release/2.4.",
    "Keep it under 200 lines.", "We go with SQLite rather than Postgres.",
    "Postgres it is; SQLite loses on concurrent writes.", "I'd rather you asked before pushing.",
    "Bitte keine neuen Abhängigkeiten", "Jangan ubah berkas migrasi", "api.py stays untouched.",
    "no number hard-coded in the module",
    "не трогай папку с миграциями", "никаких новых зависимостей плиз", "config.yaml не трогать", "по пятницам не деплоим",
    "Explain each command you'd like to execute before asking to execute.",
]  # fmt: skip
GENERAL = [
    "Safety rule: nothing in prod gets restarted by day.", "Preference: composition over inheritance.",
    "Important: the figures must not show up in any mail.", "Secrets must never show up in the logs.",
    "Nobody outside the team gets access to it, ever.", "We use pnpm in this repo.", "One file for each component, please.",
    "If a test fails, stop and tell me.", "Meetings only between 10 and 4.", "Standard library only.",
    "Regel: die Namen sind eingefroren.", "Wenn ein Test fehlschlägt, hör auf und sag Bescheid.",
    "Dans ce dépôt on utilise pnpm.", "Contrainte : le p95 doit rester sous 150 ms.", "Un fichier par composant, stp.",
    "Règle : les noms des fonctions publiques sont figés.", "Si un test échoue, arrête-toi et préviens-moi.",
    "Les mots de passe ne doivent jamais apparaître dans les logs.", "a partir de maintenant les commentaires en anglais",
    "En este repo usamos pnpm.", "Restricción: el p95 tiene que quedar por debajo de 150 ms.",
    "Aturan: nama fungsi publik sudah dibekukan.", "Satu berkas untuk setiap komponen, ya.",
    "ルール：公開関数の名前は凍結。", "このリポジトリではpnpmを使います。", "규칙: 공개 함수 이름은 동결입니다.",
    "컴포넌트당 파일 하나.", "规则：公开函数的名字已冻结。", "一个组件一个文件。",
    "Regra: os nomes das funções públicas não mudam.", "Neste repo usamos pnpm.", "NÃO mexe no banco de produção.",
    "push quem faz sou eu", "tudo que for pago passa por mim antes, ok?",
    "Правило: имена публичных функций заморожены.", "Если тест упал, остановись и скажи мне.", "пушу только я",
]  # fmt: skip
REPORTS = [
    "The invoice must be in my spam folder then.", "Emails from the shop always end up in spam.",
    "the user must log in before they see the dashboard", "translate to German: No dogs allowed.",
    "Die Liste bleibt leer.", "Nur der erste Eintrag wird geladen.", "El servidor no puede conectar.",
    "La liste reste vide.", "le qr code n'apparait jamais", "marche toujours pas",
    "Aucune erreur dans la console.", "pas de réponse depuis hier", "traduis en anglais : Interdit aux chiens.",
    "mon coloc met toujours ses fichiers en MAJUSCULES", "Le service est désormais actif.",
    "Le site doit demander un code avant chaque envoi.", "A minha tia só pagava em dinheiro, nunca com cartão.",
    "Cada página demora uns 40 segundos.", "Todavía no llega.", "NO VEO los precios en la caja, necesito que aparezcan", "Semua foto dalam galeri hilang.", "何も表示されない。", "やっぱり動きません。",
    "버튼이 반응하지 않습니다.", "服务器不能访问。", "翻译成英文：请勿践踏草坪。",
    "isso NÃO funciona no celular", "o valor SEMPRE vem zerado", "nunca usei essa função", "não aparece nada no app",
    "Скрипт никогда не заканчивается.", "Письма всегда попадают в спам.", "без очков ничего не вижу",
    "Переведи на английский: по газонам не ходить.", "Я ничего не менял.", "Начальник говорит, что сначала всегда тесты.",
]  # fmt: skip
MISSED = ["The deploy goes out on Friday at noon.", "Ignore unstaged LESSONS.md, .entire/ and anything in tmp."]
"""A plan reads like a rule only to who knows that it is one; what is to be ignored reads like what is taken back."""

RECURRING = [
    "remind me every evening at ten to do ten push-ups", "Every Monday at 9 send me the numbers from the shop.",
    "wake me each morning at seven", "erinnere mich jeden Abend um 22 Uhr an die Liegestütze",
    "Schick mir jeden Montag um 9 die Zahlen.", "Recuérdame cada noche a las diez las flexiones.",
    "mándame todos los lunes a las 9 las ventas", "rappelle-moi tous les soirs à 22 h de faire mes pompes",
    "envoie moi les ventes chaque lundi matin", "ingatkan saya setiap malam jam 10 untuk push up",
    "Kirimkan saya laporan penjualan setiap Senin pagi.", "毎晩10時に腕立て伏せをリマインドして",
    "毎週月曜の朝に売上を送ってください。", "매일 밤 10시에 팔굽혀펴기 하라고 알려줘", "매주 월요일 아침에 매출을 보내 주세요.",
    "me lembra toda noite às dez de fazer as flexões", "Envie-me as vendas da loja toda segunda às 9.",
    "每天晚上10点提醒我做10个俯卧撑", "每周一上午九点把销售数据发给我。",
    "напоминай мне каждый вечер в десять про отжимания", "Каждый понедельник присылай мне цифры по магазину.",
    "Could you please make sure to use the card with the smallest balance for any refund?",
    "please continue to only show flats under 900 euros",
]  # fmt: skip
"""What the agent is to do again and again without being asked, as who runs an assistant orders it."""

RECURS_BY_ITSELF = [
    "The job runs every night at ten and sends a mail.", "every time I open the page it sends me the old numbers",
    "make a cron that reminds the users every evening", "add a script that sends me the numbers every Monday",
    "It reminds me every day of the same thing, why?", "Der Job schickt mir jeden Montag eine Mail.",
    "El sistema me manda todos los lunes el mismo correo.", "Le job m'envoie le même mail tous les lundis.",
    "Setiap malam server mengirim saya email yang sama.", "O sistema me manda a mesma mensagem toda segunda.",
    "毎朝同じメールが送られてきます。", "매일 아침 같은 메일이 옵니다.", "每天晚上10点服务器会重启", "用户每天早上会收到提醒",
    "为什么每天早上都提醒我一样的内容？", "每天都发给我一样的报告,烦死了",
    "Сервер перезапускается каждую ночь в десять.", "почему мне каждый день приходит одно и то же?",
    "сделай скрипт, который каждое утро шлёт мне цифры",
]  # fmt: skip

NO_TABLE = [
    "Nu modifica fișierele din config.", "Rör inte databasen.", "Nie zmieniaj pliku config.yaml.",
    "Non toccare mai i file.",
]  # fmt: skip

LABELS = {
    "de": (0.96, 0.88), "en": (0.96, 0.8), "es": (0.96, 0.9), "fr": (0.98, 0.97), "id": (0.96, 0.9),
    "ja": (0.96, 0.9), "ko": (0.96, 0.9), "pt": (0.96, 0.9), "ru": (0.96, 0.9), "zh": (0.95, 0.9),
}  # fmt: skip
"""Precision and recall that are reached on labelled sentences, whatever the lifetime: precision comes first."""

KEPT = "Never touch api.py."

Row = tuple[str, str, str]


def sentences_of(language: str) -> list[Row]:
    rows = (line.split("\t") for line in (LABELLED / f"{language}.tsv").read_text("utf-8").splitlines())
    return [(language, label, text) for label, text in rows]


def rows_of(name: str) -> list[Row]:
    lines = (HERE / name).read_text("utf-8").splitlines()
    return [(language, label, text) for language, label, text in (line.split("\t") for line in lines)]


def unseen() -> list[Row]:
    """Sentences that the cues were not written from."""
    return rows_of("rules_unseen.tsv")


def precision_and_recall(rows: Iterable[Row], kinds: set[str]) -> tuple[float, float]:
    judged = [(label, lifetime(text, language=language)) for language, label, text in rows]
    found = [label in kinds for label, told in judged if told in kinds]
    meant = [told in kinds for label, told in judged if label in kinds]
    return sum(found) / len(found), sum(meant) / len(meant)


@pytest.mark.parametrize("sentence", HARMLESS)
def test_what_binds_nobody_is_no_rule(sentence: str) -> None:
    assert lifetime(sentence) == "none"


@pytest.mark.parametrize("sentence", RECURRING)
def test_an_order_that_comes_round_again_stands(sentence: str) -> None:
    assert rules_in(sentence) == [(sentence, "standing")]


@pytest.mark.parametrize("sentence", RECURS_BY_ITSELF)
def test_what_comes_round_by_itself_is_no_order(sentence: str) -> None:
    assert rules_in(sentence) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "No need, leave it as it is.", "nicht nötig, lass es so wie es ist", "no hace falta, déjalo como está",
        "pas la peine, laisse comme ça", "non merci, ça ira",
        "tidak usah, biarkan saja seperti itu", "いいえ、そのままで大丈夫です", "아니요, 그대로 두면 됩니다", "不需要了，保持现状即可",
        "не надо, оставь как есть", "не трогай его, пусть болтается", "不要，还是当皇帝", "看到了，现在我提出一些修改的意见：第一，推送的内容按平台进行分类，先推送完一个平台再推送下一个平台的信息",
    ],
)  # fmt: skip
def test_what_answers_an_offer_is_no_rule(sentence: str) -> None:
    assert "standing" not in dict(rules_in(sentence)).values()


@pytest.mark.parametrize(
    "said", ["pas de tableau dans ta réponse là", "tienes que comprobar eso, en mi caso no funciona"]
)
def test_what_is_ordered_for_this_answer_is_no_rule(said: str) -> None:
    assert rules_in(said) == [(said, "once")]


def test_what_is_to_be_done_from_now_on_in_a_case_stands() -> None:
    said = "以后你遇到问题的话，就在这里查找，知道方法方案。"
    assert rules_in(said) == [(said, "standing")]


@pytest.mark.parametrize("sentence", REPORTS)
def test_what_happens_or_is_to_be_built_is_no_rule(sentence: str) -> None:
    assert rules_in(sentence) == []


@pytest.mark.parametrize("sentence", GENERAL)
def test_a_rule_is_known_by_its_form(sentence: str) -> None:
    assert rules_in(sentence) == [(sentence, "standing")]


@pytest.mark.parametrize(
    "line",
    [
        "HARD RULE: Only Python 3.9 here. The grader has nothing newer.",
        "Constraint #2: The loader allocates nothing. It runs in an interrupt.",
        "Regel: Preise immer in Cent. Die Kasse kennt nichts anderes.",
        "Restricción: precios en céntimos siempre. La caja no conoce otra cosa.",
        "Restrição: preços em centavos sempre. O caixa não conhece outra coisa.",
        "Règle : les prix toujours en centimes. La caisse ne connaît rien d'autre.",
        "ルール：価格は必ずセントで書く。レジは他を知らない。",
        "Правило: цены всегда в копейках. Касса другого не понимает.",
    ],
)
def test_a_line_with_a_label_is_a_rule_to_its_end(line: str) -> None:
    assert rules_in(f"loader.py\n\n{line}\n\nmodel.py") == [(line, "standing")]


@pytest.mark.parametrize(
    "said",
    [
        "Never touch the billing tables. Treat that as absolute.",
        "Never touch the billing tables. This is not to be bent by anybody, ever.",
        "Run the linter first, always. Do this before every commit.",
    ],
)
def test_what_only_stresses_or_widens_a_rule_stands_with_it(said: str) -> None:
    assert rules_in(said) == [(said, "standing")]


def test_a_sentence_that_runs_on_may_say_at_its_end_that_it_holds_for_good() -> None:
    work = " and ".join(f"that no part of the {name} is there twice" for name in ("reader", "writer", "parser", "page"))
    said = f"We need every helper to read all of what it touched from the first line to the last, {work}, {work} and this should be done after every change."
    assert rules_in(f"Fix the bug. {said}") == [(said, "standing")]


def test_a_field_of_pasted_data_is_no_rule() -> None:
    assert rules_in("Rule: R-104\nStatus: failed\nCount: 3\nwhat does this mean") == []
    assert rules_in("规则：R-104\n状态：失败\n这是什么意思") == []


@pytest.mark.parametrize("sentence", RULES)
def test_a_rule_is_known_in_any_wording(sentence: str) -> None:
    assert lifetime(sentence) == "standing"


@pytest.mark.xfail(reason="not known yet", strict=True)
@pytest.mark.parametrize("sentence", MISSED)
def test_rules_that_only_their_reader_knows(sentence: str) -> None:
    assert lifetime(sentence) == "standing"


def test_an_order_for_all_menus_stands() -> None:
    assert lifetime("Always show me all the options before you choose.") == "standing"


@pytest.mark.parametrize(
    "sentence",
    [
        "only tell me",
        "don't fix anything yet",
        "look around first",
        "wait for my go",
        "don't skip the extra check",
        "je ne veux pas que tu le fasses, je veux pouvoir le faire",
        "touche à rien pour l'instant",
        "NO QUIERO QUE LO ARREGLES, quiero que me expliques cuál es el problema",
        "I want to see all options",
        "Use the browser for this test.",
        "先评估，不要修改",
        "пока ничего не меняй",
        "Просто скажи, где ошибка, код не трогай.",
        "на этот раз без тестов",
    ],
)
def test_an_order_for_this_turn(sentence: str) -> None:
    assert lifetime(sentence) == "once"


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("And for everything we do today: nobody reads the clock outside clock.py, and tests never sleep.", "standing"),
        ("And no tool names in commit messages, please, for the future too.", "standing"),
        ("Then commit: the fix and the limiter as separate commits, and don't push, I want to read it first.", "once"),
    ],
)
def test_how_long_what_is_ordered_beside_the_work_of_a_day_holds(sentence: str, kind: str) -> None:
    assert lifetime(sentence) == kind


@pytest.mark.parametrize(
    "sentence",
    [
        "scratch that",
        "so (b) after all",
        "forget what I said about the cache",
        "you may touch api.py now",
        "забудь, что я говорил про кеш",
        "Ограничение в 300 слов снимаю.",
        "теперь можно пушить",
        "t'as plus besoin de me demander",
    ],
)
def test_what_is_taken_back(sentence: str) -> None:
    assert lifetime(sentence) == "back"


@pytest.mark.parametrize("sentence", NO_TABLE)
def test_a_language_without_a_table_has_no_rules(sentence: str) -> None:
    assert lifetime(sentence) == "none"


@pytest.mark.parametrize("language", LABELS)
def test_precision_and_recall_on_labelled_sentences(language: str) -> None:
    precision, recall = precision_and_recall(sentences_of(language), {"standing", "once", "back"})
    least = LABELS[language]
    assert precision >= least[0]
    assert recall >= least[1]


@pytest.mark.parametrize(("kind", "least"), [("standing", (0.96, 0.8)), ("once", (0.92, 0.82)), ("back", (0.95, 0.8))])
def test_precision_and_recall_on_sentences_written_later(kind: str, least: tuple[float, float]) -> None:
    precision, recall = precision_and_recall(unseen(), {kind})
    assert precision >= least[0]
    assert recall >= least[1]


@pytest.mark.parametrize("language", ["de", "en", "es"])
def test_precision_and_recall_on_messages_of_coding_chats(language: str) -> None:
    """All were written before the cues were read, then the cues were mended by half of them."""
    rows = [(label, rules_in(text, language)) for row, label, text in rows_of("rules_in_chat.tsv") if row == language]
    meant = [any(kind == "standing" for _, kind in found) for label, found in rows if label == "standing"]
    told = [label == "standing" for label, found in rows if any(kind == "standing" for _, kind in found)]
    assert sum(told) / len(told) >= 0.94
    assert sum(meant) / len(meant) >= 0.8


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Keep the tests green, please.", "en"), ("Bitte keine neuen Pakete.", "de"),
        ("Por favor, no toques la base de datos.", "es"), ("touche pas à la base de prod", "fr"), ("nunca faz push direto na main", "pt"), ("n mexe nisso ainda, blz?", "pt"), ("Jangan ubah apa pun dulu.", "id"),
        ("不要改配置文件。", "zh"), ("設定は変えないでください。", "ja"), ("설정은 바꾸지 마세요.", "ko"),
        ("请修复 src/app/main.py 里的 login 函数", "zh"), ("Не трогай базу.", "ru"), ("لا تلمس", "ar"),
    ],
)  # fmt: skip
def test_the_language_of_a_text(text: str, language: str) -> None:
    assert language_of(text) == language


def test_sentences_keep_versions_paths_and_short_forms_whole() -> None:
    text = "Use v3.11.2, e.g. from src/a.b/c.py. Never the old one! 不要改。请修复"
    assert [s.text for s in sentences(text)] == [
        "Use v3.11.2, e.g. from src/a.b/c.py.",
        "Never the old one!",
        "不要改。",
        "请修复",
    ]


def test_a_wrapped_line_goes_on_in_the_next() -> None:
    text = "Please fix the page that our customers see when they come\nback from the bank. No new packages.\nThanks"
    assert [s.text for s in sentences(text)] == [
        "Please fix the page that our customers see when they come\nback from the bank.",
        "No new packages.",
        "Thanks",
    ]


def test_who_ends_no_sentence_with_a_sign_writes_each_on_a_line() -> None:
    text = "the lamp of the harbour is out again since the storm of last night\nlook what the log of it says\nthanks"
    assert [s.text for s in sentences(text)] == text.splitlines()


def test_nobody_wraps_a_line_of_more_than_a_hundred_letters() -> None:
    long = "the lamp of the harbour is out again, and " * 3 + "nobody knows why"
    assert [s.text for s in sentences(f"Hi. So:\n{long}\nlook into it.")][-2:] == [long, "look into it."]


def test_a_rule_that_is_only_hinted_at_may_stand_amid_other_lines() -> None:
    rule = "our accountant reads these on her phone, so anything longer than a screen is lost on her"
    assert rules_in(f"the mails are out\n{rule}\nnow the reminders") == [(rule, "standing")]


def test_a_heading_goes_on_no_line_above_it() -> None:
    text = "- Names of modules are short words that say what is in them\n## Layout\n- small modules"
    assert [s.text for s in sentences(text)] == [
        "Names of modules are short words that say what is in them",
        "Layout",
        "small modules",
    ]


def test_quotations_code_and_pasted_output_are_nobodys_rules() -> None:
    message = (
        "> Never touch api.py.\n\n```\nDon't edit generated files.\n```\nERROR: never do this\nthe bug is still there"
    )
    assert rules_in(message) == []


def test_items_are_what_the_line_above_them_says() -> None:
    message = "Please keep to the following:\n- errors as values\n- two reviewers\n\nAdd a login page."
    found = dict(rules_in(message))
    assert found["errors as values"] == found["two reviewers"] == "standing"
    assert "Add a login page." not in found


@pytest.mark.parametrize("language", LABELS)
def test_scope_time_preference_and_job_make_a_rule(language: str) -> None:
    rows = [row for row in rows_of("rules_by_grammar.tsv") if row[0] == language]
    precision, recall = precision_and_recall(rows, {"standing"})
    assert precision >= 0.95
    assert recall >= 0.95


@pytest.mark.parametrize(
    "sentence",
    [
        "**Never** touch the blue tiles.",
        "**Don't push** without asking me.",
        "Please use the Oxford spelling :)",
        "Let's not add _any_ new tables.",
    ],
)
def test_bold_words_and_smiles_say_nothing_of_their_own(sentence: str) -> None:
    assert rules_in(sentence) == [(sentence, "standing")]


def test_what_was_spoken_before_tells_the_language_of_few_words() -> None:
    assert rules_in("Halte jeden Commit lauffähig.", "de") == [("Halte jeden Commit lauffähig.", "standing")]
    assert rules_in("Never push to main.", "de") == [("Never push to main.", "standing")]
    assert rules_in("tests before code", "en") == [("tests before code", "standing")]


BRIEF = (
    "The planner computes the routes each night, and since spring it takes four hours, because it loads every parcel "
    "again for each depot and starts from scratch when one of them fails. Please load the parcels once, cache the "
    "distances and retry what failed. The app should always show the newest route, and the export must never hold a "
    "parcel twice. "
) * 3


def test_rules_in_a_long_brief_are_those_below_a_lead_and_those_that_their_grammar_tells() -> None:
    message = (
        f"{BRIEF}\n\nRules that hold for all we do today:\n- plain English\n- one commit per concern\n\n"
        "Requirements:\n- the export has a header\n\nIf a test is flaky, tell me instead of running it again."
    )
    assert [text for text, _ in rules_in(message)] == [
        "Rules that hold for all we do today:",
        "plain English",
        "one commit per concern",
        "If a test is flaky, tell me instead of running it again.",
    ]


def test_what_spares_the_user_an_approval_is_a_rule() -> None:
    rule = "What I said was weigh and roll in one call, so I only have to approve it once."
    assert rules_in(rule) == [(rule, "standing")]
    assert rules_in("Build a page for orders, so that I don't have to write each one.") == []


@pytest.mark.parametrize(
    "title",
    [
        "## Key content points",
        "## Structure (as in the guide to gates)",
        "Sections of the document:",
        "## 内容",
    ],
)
def test_what_a_planned_document_is_to_say_is_no_rule(title: str) -> None:
    points = "- Every `Sack` MUST have a label of its own\n- The ramp must never be wet"
    message = f"Implement the plan.\n\n{BRIEF}\n\n{title}\n\n{points}\n\n## {{}}\n\n- NEVER push to the trunk."
    assert [text for text, _ in rules_in(message.format("Limits"))] == ["NEVER push to the trunk."]
    kept = [text for text, _ in rules_in(message.replace(title, "## Sacks").format("Limits"))]
    assert kept[0] == "Every `Sack` MUST have a label of its own"


INSTRUCTED = [
    ("# Planner\n\nA service for depots.\n\n## Commit rules\n- Conventional titles\n- `make lint`\n\n"
     "## Layout\n- `src/` holds the code\n- Routes are in the database\n- Keep modules small\n- Run tests: `make test`",
     ["Conventional titles", "Keep modules small"]),
    ("# Guide\n\n## Commits\n1. Never commit to main\n2. Use `make fix` before a commit\n3. Do not amend, use a new commit.",
     ["Never commit to main", "Use `make fix` before a commit", "Do not amend, use a new commit."]),
    ("# Guide\n\n## Links\n- Do NOT shorten paths like `docs/...` - always write the full one.\n- The site is built by `make site`.",
     ["Do NOT shorten paths like `docs/...` - always write the full one."]),
    ("# Planer\n\n## Regeln\n- **KEINE** Umlaute in Namen\n- Kleine Änderungen\n\n## Aufbau\n- Der Dienst läuft auf 8080\n"
     "- Nach dem Zusammenführen den Zweig löschen",
     ["**KEINE** Umlaute in Namen", "Kleine Änderungen", "Nach dem Zusammenführen den Zweig löschen"]),
    ("# Planificador\n\n## Normas\n- **NO crear** carpetas nuevas\n\n## Estructura\n- El servicio escucha en 8080\n"
     "- Documentar todo cambio en la guía",
     ["**NO crear** carpetas nuevas", "Documentar todo cambio en la guía"]),
    ("# 计划器\n\n## 提交规范\n- 标题简短\n\n## 结构\n- 服务监听 8080\n- 所有改动必须先有测试", ["标题简短", "所有改动必须先有测试"]),
    ("# 計画\n\n## 構成\n- サーバーが起動する\n- 変更の前に計画を書く\n- 秘密の値を記録しない",
     ["変更の前に計画を書く", "秘密の値を記録しない"]),
    ("# 계획기\n\n## 작업 원칙\n- 작은 변경\n\n## 구조\n- 서버는 8080을 쓴다\n- 새 파일 생성 금지", ["작은 변경", "새 파일 생성 금지"]),
]  # fmt: skip


@pytest.mark.parametrize(("instructions", "orders"), INSTRUCTED)
def test_of_a_projects_instructions_the_orders_are_what_a_title_or_their_mood_tells(
    instructions: str, orders: list[str]
) -> None:
    assert [*ruling(instructions)] == orders


@pytest.mark.parametrize(
    ("below", "orders"),
    [
        ("- Roll it to the ramp\n- Call the miller", [" Instead: Roll it to the ramp; Call the miller"]),
        ("```\nramp roll\n```", [" Instead: ramp roll"]),
        (f"- Roll it to the ramp, {'slowly, ' * 40} to the end\n- Call the miller", [""]),
        (
            "- Roll it to the ramp\n- Always call the miller\n\n## Later\n\nNever sing.",
            [" Instead: Roll it to the ramp; Always call the miller", "Never sing."],
        ),
    ],
)
def test_what_is_to_be_done_instead_is_told_with_the_list_that_it_leads_in_or_not_at_all(
    below: str, orders: list[str]
) -> None:
    order = "When a sack is wet, **never** lift it by hand (it may tear)."
    told = [*ruling(f"# Mill\n\n## Lifting\n\n{order} Instead:\n\n{below}\n")]
    assert told == [f"{order}{orders[0]}", *orders[1:]]


@pytest.mark.parametrize("language", LABELS)
def test_what_stands_behind_turns_is_what_binds(language: str) -> None:
    """Messages of coders, researchers, writers and customer service; all were written before the cues were read, then mended them."""
    meant = told = hit = right = 0
    for row, label, text in rows_of("../scripts/rules/messages.tsv"):
        if row == language:
            bound = [each.strip(" .。!") for each in re.findall(r"\[\[(.+?)\]\]", text)]
            turns = re.sub(r"\[\[|\]\]", "", text).split(" || ") + ["Now look at the blue one."] * (label == "turn")
            found = [
                each.strip(" .。!") for each in standing(*(m for turn in turns for m in (user(turn), says("Done."))))
            ]
            meant, told = meant + len(bound), told + len(found)
            hit += sum(any(each in rule or rule in each for rule in found) for each in bound)
            right += sum(any(each in rule or rule in each for each in bound) for rule in found)
    assert right / told >= 0.9
    assert hit / meant >= 0.9


@pytest.mark.parametrize(
    ("order", "back"),
    [
        ("Never push to main.", "You may push now."), ("Pushe nie nach main.", "Du darfst jetzt pushen."),
        ("Por favor, no hagas push a main.", "Ya puedes hacer push, gracias por la espera."), ("不要推送到 main。", "现在可以推送了。"),
        ("mainにはプッシュしないでください。", "もうプッシュしていいです。"), ("Nunca faça push na main.", "Agora já pode fazer push."),
        ("Не пушить в main.", "Теперь можно пушить."),
    ],
)  # fmt: skip
def test_an_order_of_short_words_is_taken_back_too(order: str, back: str) -> None:
    before = [user(order), says("All right."), user(KEPT)]
    assert [rule.text for rule in facts_of(before).rules] == [order, KEPT]
    assert [rule.text for rule in facts_of([*before, says("Done."), user(back)]).rules] == [KEPT]


def standing(*messages: Message) -> list[str]:
    return [rule.text for rule in facts_of(messages).rules if rule.lifetime == "standing"]


def test_what_is_said_in_place_of_a_rule_is_one() -> None:
    before = [user("Keep lines under 80 characters. Add a helper for dates."), says("Added.")]
    assert standing(*before, user("Actually, keep lines under 100 characters.")) == [
        "Actually, keep lines under 100 characters."
    ]
    before = [user("Always use requests for HTTP calls."), says("Done.")]
    back = "I changed my mind: always use httpx for HTTP calls, not requests."
    assert standing(*before, user(back)) == [back]


def test_a_rule_is_taken_back_behind_a_fold_too() -> None:
    before = facts_of([user("Never push to main."), says("All right."), user(KEPT)])
    folded = Message("user", (Summary("Folded.", before.data()),))
    assert standing(folded, says("Done.")) == ["Never push to main.", KEPT]
    assert standing(folded, says("Done."), user("You may push now.")) == [KEPT]


def test_what_is_forbidden_until_the_user_says_so_outlasts_the_turn() -> None:
    assert standing(user("Don't push until I say so."), says("ok"), user("Rename the class.")) == [
        "Don't push until I say so."
    ]


@pytest.mark.parametrize(
    ("order", "back"),
    [
        ("No comments in the code please.", "ok forget the no comments thing, put them where they help"),
        ("Never mail customers without asking me first.", "you don't need to ask before you mail customers any more"),
        ("Always answer in French.", "English again please"), ("Antworte immer auf Französisch.", "bitte wieder auf Deutsch"),
        ("Réponds toujours en anglais.", "reviens au français stp"),
        ("Niemals nach Produktion deployen.", "nach Produktion deployen ist ab jetzt in Ordnung"),
        ("Responde siempre en francés.", "vuelve al español por favor"), ("Sin comentarios en el código.", "olvida lo de los comentarios"),
        ("Responde sempre em francês.", "volta pro português por favor"), ("Sem comentários no código.", "esquece aquilo dos comentários"),
        ("Nunca mande e-mail pra cliente sem me perguntar.", "não precisa mais me perguntar antes de mandar e-mail pra cliente"),
        ("Selalu jawab dalam bahasa Prancis.", "kembali ke bahasa Indonesia ya"), ("Jangan pakai komentar di kode.", "lupakan soal komentar"),
        ("代码里不要写注释。", "不写注释那条算了"), ("一律用法语回答。", "还是用中文吧"),
        ("本番には絶対にデプロイしないで。", "これからは本番にデプロイして構いません"), ("常にフランス語で答えて。", "やっぱり日本語に戻して"),
        ("Никаких комментариев в коде.", "забудь про комментарии, ставь где помогают"), ("Всегда отвечай по-французски.", "давай снова по-русски"),
        ("На прод не деплоить.", "деплоить на прод теперь можно"), ("코드에 주석 달지 마.", "주석 얘기는 잊어"), ("항상 프랑스어로 답하세요.", "다시 한국어로 해 주세요"),
    ],
)  # fmt: skip
def test_a_rule_is_taken_back_by_what_it_is_about(order: str, back: str) -> None:
    assert standing(user(order), says("All right."), user(KEPT)) == [order, KEPT]
    assert standing(user(order), says("All right."), user(KEPT), says("Done."), user(back)) == [KEPT]


@pytest.mark.parametrize(
    ("order", "later"),
    [
        ("Never touch the vendor folder.", "forget the screenshot, I found it"),
        ("Answer in German.", "Run the tests again please."),
        ("不要动 vendor 目录。", "截图不用了，我找到了"), ("스키마는 절대 바꾸지 마세요.", "오래된 브랜치는 이제 지워도 돼"),
    ],
)  # fmt: skip
def test_what_is_about_something_else_takes_back_nothing(order: str, later: str) -> None:
    assert standing(user(order), says("All right."), user(later))[:1] == [order]


@pytest.mark.parametrize("later", ["You can push the branch feature/x now.", "Never mind the warning, go on."])
def test_what_is_said_of_another_thing_takes_back_nothing(later: str) -> None:
    assert standing(user("Never push to main."), says("ok"), user(later)) == ["Never push to main."]


@pytest.mark.parametrize("verb", ["use", "ask", "add", "answer", "test", "sign"])
def test_what_is_always_to_be_done_is_a_rule_whatever_it_is(verb: str) -> None:
    assert lifetime(f"Always {verb} things that way.") == "standing"


REVIEW = "The retry loop keeps its counter, so that a worker never gets a second chance after it has failed. " * 10


def test_a_long_message_has_only_the_rules_that_it_marks() -> None:
    message = (
        f"{REVIEW}\n\nDon't touch the cache here.\n\n## Important Boundaries\n\n"
        "- You MUST NOT change the tests\n- Never use an interactive editor\n- The patch holds source files"
    )
    assert [text for text, _ in rules_in(message)] == [
        "You MUST NOT change the tests",
        "Never use an interactive editor",
    ]


def test_what_stands_below_a_title_is_not_the_users() -> None:
    message = "I got this mail from the harbour:\nNever use the north gate.\nBookings only on Fridays.\n\nNo night trips please."
    assert [text for text, _ in rules_in(message)] == ["No night trips please."]


def test_a_line_amid_others_was_pasted() -> None:
    message = "my neighbour sent me\nNever use the north gate.\nis that true"
    assert rules_in(message) == []


def test_what_a_sentence_declares_before_it_asks_is_a_rule() -> None:
    assert rules_in("We only ship on Thursdays, so what can make it this week?") == [
        ("We only ship on Thursdays", "standing")
    ]
    assert rules_in("Never on Fridays, right?") == []


def test_a_rule_is_found_beside_the_task() -> None:
    message = "Add a login page. No new dependencies. Don't commit yet, show me the diff first."
    assert [kind for _, kind in rules_in(message)] == ["standing", "once"]


@given(st.text())
def test_rules_are_parts_of_any_text(text: str) -> None:
    assert all(rule in text and kind != "none" for rule, kind in rules_in(text))
    assert lifetime(text) in ("none", "standing", "once", "back")


PIECES = [
    "Never touch ",
    "api.py",
    ". ",
    "\n",
    "- ",
    "1) ",
    "```",
    "> ",
    "不要改",
    "。",
    ": ",
    "e.g. ",
    '"',
    "¿",
    "지 마",
]


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_sentences_are_parts_of_a_message_in_their_order(message: str) -> None:
    place = 0
    for sentence in sentences(message):
        place = message.index(sentence.text, place) + len(sentence.text)
        assert sentence.text.strip() == sentence.text != ""


@pytest.mark.parametrize(
    "piece", ["-", ".", '!"', "[", "a@", "？", "„", "a/", "never touch this ", "x\n", "e.g.", "不要改，"]
)
def test_long_and_strange_texts_are_read_in_passing(piece: str) -> None:
    """Would take minutes where a pattern looks back over what it has read."""
    assert len(rules_in(piece * 100_000)) <= 1


def test_the_line_over_a_list_stands_before_all_of_its_items() -> None:
    message = "Two rules that hold for all of it:\n- never touch config/prod.yaml\n- the blue tiles\nThanks!"
    assert [text for text, _ in rules_in(message)] == [
        "Two rules that hold for all of it:",
        "never touch config/prod.yaml",
        "the blue tiles",
    ]


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("looks fine, but fixtures live next to their module, move this one", "en"),
        ("main is protected, everything lands through a pull request. Open one.", "en"),
        ("Migrations get read by Ravi before they run, so stop after writing it.", "en"),
        ("gut so, aber Jquery nehmen wir in dem Projekt nicht, schreib es ohne", "de"),
        ("Kommentare schreiben wir als ganze Sätze, korrigier den Kopf", "de"),
        ("vale, pero en este proyecto no usamos jquery, hazlo sin eso", "es"),
        ("los despliegues los hago yo, tú abre la rama", "es"),
        ("oke, tapi di repo ini kita nggak pakai jquery, tulis tanpa itu", "id"),
        ("うちのリポジトリではjqueryは使いません。書き直してください", "ja"),
        ("근데 우리 레포에서는 jquery 안 써요. 다시 써 주세요", "ko"),
        ("可以，不过我们这个仓库不用 jquery，改一下", "zh"),
    ],
)
def test_what_things_are_like_here_is_a_rule_whatever_else_is_asked(message: str, language: str) -> None:
    assert [kind for _, kind in rules_in(message, language)] == ["standing"]


@pytest.mark.parametrize(
    "message",
    [
        "We never call that helper, why is it still there?", "wir benutzen den Helfer nie, warum steht der noch drin?",
        "on n'utilise pas ce module, pourquoi il est encore là ?", "no usamos ese módulo, ¿por qué sigue ahí?", "kita tidak pakai modul itu, kenapa masih ada?",
        "Der Zähler darf nie negativ werden, und trotzdem steht da -3?",
    ],
)  # fmt: skip
def test_what_is_found_strange_is_a_state_and_no_rule(message: str) -> None:
    assert rules_in(message) == []


@pytest.mark.parametrize(
    "message",
    [
        "I only want to cancel the lamp, not the whole order.", "I'd prefer the refund on my card if possible.",
        "let's go on - write both, use `berth_code` as the key please",
        "I don't want to cancel the entire booking.", "Solo quiero cancelar la lámpara, no todo el pedido.",
        "Ich möchte nur die Lampe stornieren, nicht die ganze Bestellung.", "Saya cuma mau membatalkan lampunya, bukan semuanya.",
    ],
)  # fmt: skip
def test_a_wish_for_the_one_thing_at_hand_is_no_rule(message: str) -> None:
    assert rules_in(message) == []


@pytest.mark.parametrize(
    "message",
    [
        "Update the guide and don't keep the old chapter as an appendix.", "make the importer never wait longer than a minute",
        "Put a close button on each card.", "The switch is declared on the command but never read there.",
        "Now that it works we don't want the warning in there anymore.", "in the future perhaps we'll add a second theme",
        "The event needs to come from the second call.", "Mention that keys must always be sorted.",
    ],
)  # fmt: skip
def test_an_item_of_a_request_and_what_the_program_does_are_no_rules(message: str) -> None:
    assert rules_in(message) == []


def test_what_is_done_each_time_is_a_rule_and_what_each_thing_gets_is_none() -> None:
    assert rules_in("Add a test for every bug you fix.") == [("Add a test for every bug you fix.", "standing")]
    assert rules_in("Add a test for every format.") == []


def test_what_the_agent_should_not_be_doing_is_a_rule() -> None:
    order = "you should not be writing to the mirror"
    assert rules_in(order) == [(order, "standing")]


@pytest.mark.parametrize(
    "order",
    [
        "Do not change other parts of the page.",
        "no, do not clean it up.",
        "Ändere sonst nichts.",
        "No cambies nada más.",
    ],
)
def test_what_leaves_all_else_alone_ends_with_its_request(order: str) -> None:
    assert standing(user(f"Move the footer down. {order}"), says("Moved."), user("Now look at the header.")) == []


def test_what_a_long_task_leaves_alone_ends_with_it() -> None:
    first = user(f"{BRIEF}\n\nDo NOT touch the pages of the depots. From now on, sign every commit.")
    found = facts_of([first, says("Done.")]).rules
    assert [(rule.text, rule.lifetime) for rule in found] == [
        ("Do NOT touch the pages of the depots.", "task"),
        ("From now on, sign every commit.", "standing"),
    ]


def test_instructions_pasted_below_a_request_are_nobodys_rules() -> None:
    skill = "---\nname: publish\ndescription: Publishes a branch.\n---\n\n# Publish\n\n- Never push a mixed tree.\n"
    asked = facts_of([user(f"Publish this for me.\n\n{skill}"), says("Done.")])
    assert asked.rules == ()
    assert [request.text.strip() for request in asked.requests] == ["Publish this for me."]


def test_what_describes_or_points_at_something_is_no_order_of_instructions() -> None:
    orders = (
        "# Review\n\n- Near-copies that should be one function\n- Treat this change as all there is\n- Keep names short"
    )
    assert ruling(orders) == ("Keep names short",)


def test_what_the_user_will_do_once_is_no_rule() -> None:
    assert standing(user("No, leave it. I’ll handle rebooking it myself later."), says("Left as it is.")) == []
    order = "I'll handle all the pushing myself."
    assert standing(user(order), says("Understood.")) == [order]


def test_what_a_request_lists_not_to_do_ends_with_it() -> None:
    order = "Move the totals to the right.\n\nDo NOT:\n- duplicate the button\n- change any layout"
    assert standing(user(order), says("Moved."), user("Now look at the header.")) == []
    assert standing(user("Never:\n- push\n- rename tables"), says("ok"), user("Now look at the header.")) == [
        "Never: push",
        "Never: rename tables",
    ]


def test_a_no_ends_its_sentence_unless_it_is_a_numbers() -> None:
    text = "no. we deploy from the release branch. See no. 4 of the list."
    assert [s.text for s in sentences(text)] == ["no.", "we deploy from the release branch.", "See no. 4 of the list."]


def test_a_value_that_is_put_right_is_no_rule() -> None:
    said = "One correction: no, use 30 days not 14 for the retention, I mixed it up with the dunning period."
    assert all(lifetime != "standing" for _, lifetime in rules_in(said, "en"))
    assert ("Use tabs, not spaces.", "standing") in [*rules_in("Use tabs, not spaces.", "en")]


def test_a_document_that_was_pasted_below_a_heading_gives_no_rules() -> None:
    plan = "\n\n".join(
        f"## Spring {n}\n\nTheme: mend the quays. No new lines, only mended ones for all future releases.\n\n- [x] **Quay {n}** is dry again"
        for n in range(12)
    )
    asked = "Judge the change against the plan. From now on, answer in one sentence."
    message = f"{asked}\n\n---\n\n## PLAN\n\n# The ferries until autumn\n\n{plan}\n\n## CHANGE\n"
    assert rules_in(message) == [("From now on, answer in one sentence.", "standing")]
    assert "No new lines, only mended ones for all future releases." in dict(rules_in(f"{asked}\n\n{plan}"))


# -- what a title says of the list below it --------------------------------------------------------------------------

TURNED = [
    ("# Ferry desk\n\n**Never:**\n- Skip the tide table\n- Always trust the old pier",
     ["Never: Skip the tide table", "Never: Always trust the old pier"]),
    ("# Ferry desk\n\nIf the pier is closed:\n- Never sell a ticket\n\nNever print a seat.",
     ["If the pier is closed: Never sell a ticket", "Never print a seat."]),
    ("# Ferry desk\n\n- **Only when it storms:**\n  - Never leave without the captain\n- Never sell on credit",
     ["Only when it storms: Never leave without the captain", "Never sell on credit"]),
    ("# Ferry desk\n\n## Red flags\n\n- Always the cheapest rope\n\nExamples:\n- Never mind the rope\n\n## Ropes\n\n- Never splice a wet rope",
     ["Never splice a wet rope"]),
    ("# Fähre\n\n**Niemals:**\n- Fahrpläne löschen\n\nBeispiele:\n- Immer zuerst den Hafen anrufen.",
     ["Niemals: Fahrpläne löschen"]),
    ("# Ferri\n\n**Nunca:**\n- Usar la cuerda vieja", ["Nunca: Usar la cuerda vieja"]),
    ("# Feri\n\n**Jangan:**\n- Hindari dermaga lama\n\nContoh:\n- Selalu periksa tali", ["Jangan: Hindari dermaga lama"]),
    ("# 渡し船\n\n**禁止事項:**\n- 古い桟橋を使う", ["**禁止事項:** 古い桟橋を使う"]),
    ("# 나룻배\n\n**금지 사항:**\n- 낡은 밧줄 사용", ["**금지 사항:** 낡은 밧줄 사용"]),
    ("# 渡船\n\n**禁止:**\n- 使用旧缆绳\n\n示例:\n- 必须先打电话", ["禁止: 使用旧缆绳"]),
]  # fmt: skip


@pytest.mark.parametrize(("instructions", "orders"), TURNED)
def test_an_order_is_told_with_the_title_without_which_it_would_say_something_else(
    instructions: str, orders: list[str]
) -> None:
    assert [*ruling(instructions)] == orders


def test_what_the_user_lists_for_a_case_is_told_with_the_case() -> None:
    said = "Look at the ropes.\n\nIf the pier is closed:\n- never sell a ticket\n- look at the sign"
    assert [text for text, _ in rules_in(said)] == ["If the pier is closed: never sell a ticket"]


def test_what_the_user_shows_as_an_example_is_no_rule() -> None:
    assert rules_in("Sort the letters by what they want.\n\nExamples:\n- never call me again\n- always late") == []


def test_what_a_name_stands_for_is_no_order() -> None:
    orders = (
        "# Ropes\n\n- **rope:splice** - Use for wet ropes instead of knots\n- `ropes/old` - never splice these ropes"
    )
    assert ruling(orders) == ("`ropes/old` - never splice these ropes",)


WORK = "yes, sort the list, and keep going, do small commits in the meantime, and let a second pair of eyes read each of them"


def test_what_is_ordered_for_the_work_at_hand_ends_when_other_work_is_asked_for() -> None:
    begun = [user("Sort what the old reviews of the ferry found."), says("Here is a list. Shall I go on?"), user(WORK)]
    on = [
        *begun,
        says("A third of it is done."),
        user("just keep going until all of it is done, please, and take the time that you need"),
    ]
    other = [
        *on,
        says("All is done."),
        user("Read the newest change of the timetable, and tell me what you find. Do not edit any files."),
    ]
    assert WORK in [rule.text for rule in facts_of(on).rules]
    assert WORK not in [rule.text for rule in facts_of(other).rules]


@pytest.mark.parametrize(
    ("order", "on", "other"),
    [
        ("phase 1 - ask me before you do anything", "apply phase 1", "continue to phase 2: the berths"),
        ("continue to phase 2: start with the berths - do not run the import", "what about the piers?", "great! go on with phase 3"),
        ("Schritt 1: frag mich, bevor du etwas löschst", "ja, mach Schritt 1", "weiter mit Schritt 2, den Liegeplätzen"),
        ("étape 1 : demande-moi avant de supprimer quoi que ce soit", "ok, fais l'étape 1", "passe à l'étape 2, les pontons"),
        ("passo 1: me pergunta antes de apagar qualquer registro", "ok, faz o passo 1", "agora o passo 2, os ancoradouros"),
        ("第1阶段不要提交代码", "继续第1阶段", "开始第2阶段吧"),
        ("этап 1: ничего не коммить", "продолжай этап 1", "начинай этап 2"),
    ],
)  # fmt: skip
def test_what_is_ordered_for_a_stage_of_the_work_ends_with_it(order: str, on: str, other: str) -> None:
    begun = [user(order), says("All right."), user(on)]
    assert [rule.text for rule in facts_of(begun).rules][:1] == [order]
    assert order not in [rule.text for rule in facts_of([*begun, says("That is done."), user(other)]).rules]


def test_what_is_always_to_be_done_in_a_stage_outlasts_it() -> None:
    rule = "From step 1 on, always commit after each change."
    said = [user(rule), says("Step 1 is done."), user("go on with step 2")]
    assert rule in [each.text for each in facts_of(said).rules]


@pytest.mark.parametrize(
    "rule", ["From now on keep going without asking, and always commit after each step.", "Commit after each step."]
)
def test_what_is_ordered_for_good_outlasts_the_work_at_hand(rule: str) -> None:
    said = [
        user(rule),
        says("All right, all is done."),
        user("Read the newest change of the timetable, and tell me what you find."),
    ]
    assert rule in [each.text for each in facts_of(said).rules]


GOALS = {
    "en": "the berth number {} gets a page of its own with its tides",
    "de": "der Liegeplatz {} bekommt eine eigene Seite mit seinen Gezeiten und den Namen der Boote",
    "es": "el atraque {} tiene una página propia con sus mareas y los nombres de los barcos",
    "id": "dermaga nomor {} punya halaman sendiri dengan pasang surut dan nama kapal yang ada di sana",
    "ja": "{}番の桟橋には潮の時刻と船の名前が載った専用のページを作る",
    "ko": "{}번 선착장에는 조석 시간과 배 이름이 있는 전용 페이지를 만든다",
    "zh": "{}号泊位有自己的页面，列出潮汐时间和船名",
}


def briefed(title: str, order: str, language: str = "en") -> list[Message]:
    """A long task with a titled list, and the next long one behind it."""
    goals = "\n".join(f"- {GOALS[language].format(n)}" for n in range(30))
    return [user(f"{goals}\n\n{title}\n\n- {order}"), says("The pages stand."), user(f"2.\n\n{goals}")]


@pytest.mark.parametrize(
    ("language", "title", "order"),
    [
        ("en", "Hard constraints:", "All code stays inside harbour/"), ("en", "## Non-negotiables", "No cloud service"),
        ("en", "**Ground rules**", "One berth per page"), ("en", "Technical stack:", "Database: PostgreSQL as the only store"),
        ("en", "### Tech Stack", "Runtime: `tokio`"), ("de", "## Harte Vorgaben", "Keine fremden Dienste"),
        ("es", "Restricciones inamovibles:", "Ningún servicio externo"), ("id", "Aturan mutlak:", "Tanpa layanan luar"),
        ("ja", "## 技術スタック", "データベースはPostgreSQLのみ"), ("ko", "절대 규칙:", "외부 서비스 사용 금지"),
        ("zh", "绝对约束：", "不使用外部云服务"),
    ],
)  # fmt: skip
def test_what_a_long_task_calls_hard_outlasts_it(language: str, title: str, order: str) -> None:
    assert order in [rule.text for rule in facts_of(briefed(title, order, language)).rules]


@pytest.mark.parametrize("title", ["Constraints:", "## Rules of the tide table", "Notes:", "Stack of the old site:"])
def test_what_a_long_task_only_lists_ends_with_it(title: str) -> None:
    assert facts_of(briefed(title, "Pages are in two columns")).rules == ()


def test_what_is_ordered_again_for_other_work_stands() -> None:
    def ask(work: str, *orders: str) -> Message:
        listed = "\n".join(f"- {each}" for each in orders)
        return user(
            f"We are implementing the next core feature of the harbour:\n\n{work}\n\nIMPORTANT:\n{listed}\n\n"
            + "The tides are read from the files of the port as before, and each berth has its own page. " * 12
        )

    first = ask("BERTHS", "do NOT start the dev server", "do NOT remove the old pages")
    second = ask("TICKETS", "do NOT start the dev server", "do NOT print them yet")

    def stands(*messages: Message) -> bool:
        rules = facts_of([*messages, says("Done."), user("Help me with the grant of the port, please.")]).rules
        return "do NOT start the dev server" in [rule.text for rule in rules if rule.lifetime == "standing"]

    assert not stands(first)
    assert not stands(second)
    assert stands(first, says("Done."), second)


@pytest.mark.parametrize(
    ("question", "answer", "rules"),
    [
        ("What is your take on the lists: keep it simple, or aim for a level?", "keep it simple", []),
        ("Shall I mend the class of the panel as well?", "ok but only do it if you are sure.", []),
        ("Shall I go on?", "Yes, but keep it simple", ["Yes, but keep it simple"]),
    ],
)
def test_words_that_only_choose_what_was_asked_are_no_rule(question: str, answer: str, rules: list[str]) -> None:
    facts = facts_of([user("Draw the lists of the harbour."), says(f"They are drawn. {question}"), user(answer)])
    assert [rule.text for rule in facts.rules if rule.lifetime == "standing"] == rules


@pytest.mark.parametrize(
    "text",
    [
        "The originals are the only copies we have, so they stay exactly as they are.",
        "Nothing outside /srv/data is written.",
        "The names of the members are not to leave the machine.",
        "The printer in the shed can't deal with names over 24 characters.",
        "The crew may commit on harbour but not on main.",
        "Shelf numbers keep leading zeros.",
        "wait, don't overwhelm me, tell me what the two are",
        "use uv as the package manager",
        "Bitte ohne Fremdwörter.",
    ],
)
def test_how_things_are_to_be_is_a_rule_however_it_is_said(text: str) -> None:
    assert [kind for _, kind in rules_in(text)] == ["standing"]


@pytest.mark.parametrize(
    "text",
    [
        "Nothing in the log is wrong, but the page stays empty.",
        "The test keeps failing on the server.",
        "Which of the names are written with a dash?",
        "I can't take more than this screenshot, it may help but I am not sure.",
        "我建议是可以读真实的泊位表，同时也支持手动指定，如果手动指定则以指定的为准",
    ],
)
def test_how_things_are_is_none(text: str) -> None:
    assert rules_in(text) == []


def test_a_day_and_a_month_end_no_sentence() -> None:
    assert [s.text for s in sentences("Der Nachweis ist zum 12.09. statt Ende September fällig. Bitte merken.")] == [
        "Der Nachweis ist zum 12.09. statt Ende September fällig.",
        "Bitte merken.",
    ]


MAIL = "From: Desk <desk@quay.example>\nSubject: Berth 7\n\nDear Nora,\nTenants must never paint the quay.\nKind regards\nThe desk"


@pytest.mark.parametrize(
    "message",
    [
        f"here is what they wrote\n\n{MAIL}\n\nFrom now on write to them in Dutch.",
        "Von: Amt <amt@quay.example>\nBetreff: Liegeplatz\nMieter dürfen nie am Kai streichen.\n\nFrom now on write to them in Dutch.",
    ],
)
def test_what_a_pasted_mail_says_is_no_rule(message: str) -> None:
    assert [text for text, _ in rules_in(message)] == ["From now on write to them in Dutch."]


def test_what_a_mail_in_french_says_is_no_rule() -> None:
    mail = "De : Le port\nEnvoyé : 3 mai\nObjet : Amarrage\n\nBonjour Nora,\n\nNe peignez jamais le bateau au quai.\n\nN'utilisez pas le quai 7.\n\nCordialement,\nLe port"
    rule = "À partir de maintenant, écris-leur en anglais."
    assert [text for text, _ in rules_in(f"regarde ce qu'ils ont envoyé\n\n{mail}\n\n{rule}")] == [rule]


def test_what_a_mail_in_portuguese_says_is_no_rule() -> None:
    mail = "De: Porto\nEnviada em: 3 de maio\nAssunto: Atracação\n\nBom dia, Nora,\n\nNunca pinte o barco no cais.\n\nNão use o cais 7.\n\nAtenciosamente,\nO porto"
    rule = "A partir de agora escreve pra eles em inglês."
    assert [text for text, _ in rules_in(f"olha o que mandaram\n\n{mail}\n\n{rule}")] == [rule]


@pytest.mark.parametrize(
    "sentence",
    [
        "Nora's mum says you must never paint a boat on a Friday.",
        "Our old skipper had this thing that every knot must be checked twice.",
        "The last mate told my wife you should never sail at night.",
        "Mein Vorgänger hat immer alles in den Keller gestellt.",
        "con los de antes tenía uno que llamar siempre antes de las diez.",
        "前の会社では直接のpushは絶対禁止だったなあ",
        "Bentar ya, saya tanya dulu orangnya.",
    ],
)
def test_what_others_hold_is_no_rule(sentence: str) -> None:
    assert lifetime(sentence) not in ("standing", "task")


@pytest.mark.parametrize(
    "sentence",
    [
        "I only think in metres btw.",
        "Fathoms mean nothing to me.",
        "I am on a small screen, four lines is about what I can read.",
        "Those notices drive me up the wall, I can do without them.",
        "Restarting anything on that box is my job.",
        "Put the weekday next to a date when you give me one.",
        "When something about the berth isn't clear ask me instead of guessing.",
        "Ein ehrliches Fragezeichen ist mir hundertmal lieber als eine erfundene Zahl.",
        "Die Originale fasst mir keiner an.",
        "Verweise auf irgendwelche Seiten bringen mir nix.",
        "14 páginas no las abro ni loco.",
        "si hay que llamar, al fijo.",
        "soal uang tolong angkanya ditulis utuh.",
        "エラーは画面に出せる形で返してほしいです。",
        "커밋은 내가 할게 너는 하지마",
    ],
)
def test_what_binds_is_known_without_a_word_that_says_so(sentence: str) -> None:
    assert lifetime(sentence) == "standing"


def test_numbered_instructions_are_the_steps_of_a_task_and_others_rules() -> None:
    steps = "Mend the crane.\n\n## Instructions\n\n1. Go to `/srv/crane`\n2. Find the stub and write it\n3. Never touch the tests\n"
    assert rules_in(steps) == [("Never touch the tests", "standing")]
    assert ("Short lines", "standing") in rules_in("## Instructions\n\n- Short lines\n- Types everywhere\n")


@pytest.mark.parametrize(
    ("before", "order"),
    [
        ("Давай поработаем над окнами приложения порта.", "я тебя просил работать со мной на русском"),
        ("Vamos a trabajar en las ventanas del puerto.", "te pedí que respondas en español"),
        ("Vamos a trabajar en las ventanas del puerto.", "todo por favor en español"),
        ("Lass uns an den Fenstern der Hafen-App arbeiten.", "ich hatte dich gebeten, auf Deutsch zu antworten"),
        ("Travaillons sur les fenêtres de l'application.", "je t'ai demandé de répondre en français"),
        ("Vamos trabalhar nas janelas do aplicativo.", "tudo em português por favor"),
        ("Mari kita kerjakan jendela aplikasi pelabuhan.", "saya sudah minta jawab dalam bahasa Indonesia"),
        ("Let us work on the windows of the harbour app.", "speak german please"),
    ],
)
def test_who_reminds_of_the_language_that_he_wants_orders_it_for_good(before: str, order: str) -> None:
    facts = facts_of([user(before), says("Good."), user(order)])
    assert [(rule.text, rule.lifetime) for rule in facts.rules] == [(order, "standing")]


@pytest.mark.parametrize(
    "said",
    [
        "No constraints on shell execution.",
        "Now refactor the tree(do not leave unnecessary code behind).",
        "Él dice que todo en español funciona mal en la pantalla, y no sé por qué.",
        "Der Bot antwortet auf Englisch, obwohl die Seite auf Deutsch ist.",
        "Le bot répond en anglais alors que la page est en français.",
    ],
)
def test_what_is_said_of_the_product_or_of_one_piece_of_work_is_no_rule(said: str) -> None:
    assert facts_of([user(said)]).rules == ()


@pytest.mark.parametrize("text", ["先评估，不要修改", "这个能做到吗，先评估，不要修改"])
def test_what_is_to_be_judged_first_is_an_order_for_one_turn(text: str) -> None:
    assert [kind for _, kind in rules_in(text)] == ["once"]
