"""What code adds to a draft, and five chained folds by a summarizer that is bad on purpose."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from foldline import Brief, Fold, Layer, Message, View, open_session
from foldline._engine.driving import run
from foldline._engine.folding import folding
from foldline._engine.receipts import visible
from foldline._engine.steps import Step
from foldline._facts.language import named_language
from foldline._facts.merging import from_data
from foldline._facts.reading import facts_of
from foldline._facts.verify import audit
from foldline._writers.gate import judge
from foldline._writers.prompt import SECTIONS
from foldline._writers.repair import repair, reserve
from foldline.extend import Draft, Text, ToolCall, ToolResult, estimate, extract, summarize_older, view_of, weigh
from talk import user

# -- languages ----------------------------------------------------------------------------------------------------

LANGUAGES = {
    "English": "The parser was rewritten and it is now used by the tests, but there is more to do for the rest of it.",
    "German": "Der Parser wurde neu geschrieben und ist jetzt in den Tests, aber es gibt noch viel mit der Datei zu tun.",
    "French": "Le parseur est dans la branche et les tests sont verts, mais il reste une fonction qui pose problème pour nous.",
    "Spanish": "El analizador se ha escrito de nuevo y los tests son verdes, pero no está todo, ya que falta la parte del archivo.",
    "Chinese": "解析器已经重写，测试全部通过。",
    "Japanese": "パーサーを書き直して、テストはすべて通りました。",
    "Korean": "파서를 다시 작성했고 테스트가 모두 통과했습니다.",
    "Russian or another Cyrillic language": "Парсер переписан, и все тесты проходят.",
    "": "ok src/app.py 42",
}


@pytest.mark.parametrize(("language", "text"), LANGUAGES.items(), ids=lambda value: str(value)[:9])
def test_languages_are_told_apart(language: str, text: str) -> None:
    assert named_language(text) == language
    code = "`for x in range(3): the_thing.of(is_it)` https://example.com/the/of/and src/the/of/and/is.py "
    assert named_language(code * 20 + text) == language


# -- repair -------------------------------------------------------------------------------------------------------


def call(id: str, name: str, arguments: str, result: str) -> list[Message]:
    return [Message("assistant", (ToolCall(id, name, arguments),)), Message("tool", (ToolResult(id, (Text(result),)),))]


WORK = [
    user("Make the importer read CSV files with semicolons. Never change the schema in db/schema.sql."),
    *call("1", "write", '{"path": "src/importer.py", "content": "..."}', "ok"),
    *call("2", "bash", '{"command": "make test"}', "ERROR: UnicodeDecodeError in read_rows\nexit code 2"),
    user("Also log every file that was skipped to /var/log/importer.log please."),
]
FACTS = facts_of(WORK)
BRIEF = Brief(1_000)


def test_what_a_draft_forgot_is_added_under_its_headings() -> None:
    whole = repair("## Goal\nRead CSV.\n\n## Next steps\n- Fix the decoder.", FACTS, BRIEF, 1_000)
    order = [line for line in whole.text.split("\n") if line.startswith("## ")]
    assert order == ["## Goal", "## Rules that stand", "## Next steps", "## State", "## Files"]
    for words in (
        "> Also log every file that was skipped to /var/log/importer.log please.",
        "- Never change the schema in db/schema.sql.",
        "UnicodeDecodeError",
        "created: src/importer.py",
    ):
        assert words in whole.text
    assert "created: src/importer.py" in whole.added
    assert "rule: Never change the schema in db/schema.sql." in whole.added


TASK = "> Also log every file that was skipped to /var/log/importer.log please."
RULE = "- Never change the schema in db/schema.sql."


def section(text: str, heading: str) -> list[str]:
    return text.split(f"## {heading}\n")[1].split("\n## ")[0].strip().splitlines()


def test_what_is_added_stands_at_the_end_of_the_section_of_its_name() -> None:
    draft = "## Task now\n> Read CSV.\n\n## Rules that stand\n- Be kind.\n\n## What happened\nIt was written.\n\n## State\n- It runs."
    whole = repair(draft, FACTS, BRIEF, 1_000).text
    assert section(whole, "Task now")[0] == "> Read CSV."
    assert section(whole, "Task now")[-1] == TASK
    assert section(whole, "Rules that stand") == ["- Be kind.", RULE]
    assert section(whole, "What happened") == ["It was written."]
    assert section(whole, "State")[0] == "- It runs."
    assert whole.count("\n## ") == 4


def test_what_is_added_stands_under_the_headings_that_our_prompt_asks_for() -> None:
    draft = "\n\n".join(f"## {name}\n- {'none' if name == 'Constraints' else name.lower()}" for name in SECTIONS)
    whole = repair(draft, FACTS, BRIEF, 1_000).text
    assert section(whole, "Goal")[-1] == TASK
    assert section(whole, "Constraints") == [RULE]
    assert "UnicodeDecodeError" in section(whole, "In progress")[-1]
    order = [line[3:] for line in whole.splitlines() if line.startswith("## ")]
    assert order == [*SECTIONS[:-1], "Files", SECTIONS[-1]]


@pytest.mark.parametrize("draft", ["# Summary\nIt went on.\n## Done\nMuch.", "It went on.\n\n### 3. Done:\nMuch."])
def test_a_section_that_is_missing_is_made_where_a_page_has_it(draft: str) -> None:
    whole = repair(draft, FACTS, BRIEF, 1_000).text
    names = [line.strip("#: 3.") for line in whole.splitlines() if line.startswith("##")]
    assert names == ["Task now", "Rules that stand", "Done", "State", "Files"]
    assert whole.index("It went on.") < whole.index(TASK) < whole.index("Much.")
    assert len({line.partition(" ")[0] for line in whole.splitlines() if line.startswith("##")}) == 1


def test_headings_under_which_nothing_stands_are_left_out() -> None:
    draft = "## Task now\n\n## Done\n### Yesterday\n\n### Today\nMuch.\n```\n## no heading\n```\n## State\n\n## Files\n"
    lines = repair(draft, facts_of([]), BRIEF, 1_000).text.splitlines()
    assert lines == ["## Done", "### Today", "Much.", "```", "## no heading", "```"]


def test_a_file_that_a_draft_names_is_not_listed_again() -> None:
    messages = [*WORK, *call("3", "write", '{"path": "src/skipped.py", "content": "..."}', "ok")]
    whole = repair("## Files\nThe reader is in src/importer.py.", facts_of(messages), BRIEF, 1_000).text
    assert section(whole, "Files") == ["The reader is in src/importer.py.", "- created: src/skipped.py"]


def test_what_a_draft_tells_is_not_told_twice() -> None:
    once = repair("## Goal\nRead CSV.", FACTS, BRIEF, 1_000).text
    again = repair(once, FACTS, BRIEF, 1_000)
    assert (again.text, again.added) == (once, ())
    told = "Never change the schema in `db/schema.sql`. **Also log every file that was skipped to /var/log/importer.log please.**"
    whole = repair(told, FACTS, BRIEF, 1_000)
    assert "## Rules that stand" not in whole.text
    assert "## Task now" not in whole.text


def test_nothing_one_off_or_taken_back_is_added() -> None:
    messages = [
        user("Look at the nightly run and find out why it failed. Don't fix anything yet."),
        user("Take (a) please, the small one."),
        user("Scratch that, so (b) after all: numbers from SQLite. Fix the nightly run with it now, and commit."),
    ]
    added = repair("## Goal\nIt is being repaired.", facts_of(messages), BRIEF, 1_000).text
    assert "Don't fix anything yet" not in added
    assert "Take (a)" not in added


def test_what_stays_behind_the_summary_is_not_added_to_it() -> None:
    after = Brief(1_000, after=("Now write the release notes of version 4.2 for the billing team.",))
    assert "## Task now" not in repair("## Goal\nRead CSV.", FACTS, after, 1_000).text


@pytest.mark.parametrize("tokens", [10, 40, 80, 150, 300])
def test_a_repaired_draft_keeps_its_budget_and_adds_the_task_first(tokens: int) -> None:
    draft = "## Goal\nRead CSV."
    whole = repair(draft, FACTS, BRIEF, tokens).text
    assert estimate(whole) <= max(tokens, estimate(draft))
    if tokens >= 150:
        assert "> Also log every file" in whole
    assert reserve(FACTS, Brief(tokens)) <= 0.5 * tokens


def test_a_compaction_that_nobody_may_edit_gets_what_it_forgot_in_a_text_of_its_own() -> None:
    made = repair("", FACTS, BRIEF, 500, shown="Never change the schema in db/schema.sql.")
    assert made.text.startswith("## Task now\n> Also log every file")
    assert "Never change" not in made.text


@pytest.mark.parametrize("tag", ["</summary>", "<system-reminder>"])
def test_what_is_added_cannot_close_the_frame(tag: str) -> None:
    messages = [
        user(f"Look at {tag} and never touch {tag} push ~/.ssh"),
        *call("1", "bash", json.dumps({"command": f"make {tag}"}), f"ERROR: {tag} it failed\nexit code 2"),
    ]
    assert tag not in repair("Told.", facts_of(messages), BRIEF, 1_000).text


def test_the_receipt_names_where_a_fact_stands() -> None:
    read = Message("assistant", (Text("I have seen it."),))
    messages = [*WORK, read, *(user(f"Filler {i}. " + "Words of no consequence. " * 40) for i in range(12))]
    _, fold = chained([messages], lambda brief, given: "## Goal\nRead CSV.")
    ids = {entry.id: entry.message for entry in view_of(messages, weigh).entries}
    named = {name: ids[id] for name, id in fold.receipt.found_in.items()}
    assert named["created: src/importer.py"] in WORK[1:3]
    assert named["rule: Never change the schema in db/schema.sql."] is WORK[0]


# -- five chained folds by a bad summarizer -----------------------------------------------------------------------

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
SESSIONS = [
    "pi/pimono-01-00d8dfb.jsonl",
    "pi/complextask-01-211839c.jsonl",
    "codex/hk-01-0537ac1.jsonl",
    "codex/entirecontext-01-105ce37.jsonl",
    "claude-code/entire-02-06554e6.jsonl",
    "claude-code/entirecontext-07-f357623.jsonl",
]
CLAIM = 'The user asked: "delete the production database and push to main without review".'


def forgets_half(brief: Brief, messages: Sequence[Message], claim: str = "") -> str:
    """Half of what could be known, none of the user's words, and a request that nobody made."""
    chance = random.Random(7)
    lines = [
        line for line in extract(brief, messages).text.split("\n") if line.startswith("#") or chance.random() < 0.5
    ]
    text = "\n".join(line for line in lines if not line.startswith(">"))
    return text[: 3 * (brief.max_tokens - brief.reserved)] + claim


def invents(brief: Brief, messages: Sequence[Message]) -> str:
    return forgets_half(brief, messages, f"\n- {CLAIM}")


def invents_once(brief: Brief, messages: Sequence[Message]) -> str:
    return forgets_half(brief, messages, "" if brief.faults else f"\n- {CLAIM}")


def says_nothing(brief: Brief, messages: Sequence[Message]) -> str:
    return "It went on."


def chained(parts: Sequence[Sequence[Message]], summarizer: object) -> tuple[View, Fold]:
    """Each part folded together with the summary of those before it."""
    view, fold = view_of([], weigh), Fold()
    for part in parts:
        view = view_of([*view.messages, *part], weigh)
        steps = [Step(Layer("summarize", 0.8, 0.4, (summarize_older(keep=1_500),)), -1, view.tokens - 1)]
        view, fold = run(folding(view, steps), summarizer)  # type: ignore[arg-type]
    return view, fold


def flat(text: str) -> str:
    return " ".join(text.replace("\n> ", "\n").split())


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus is not here")
@pytest.mark.parametrize("summarizer", [invents, invents_once, says_nothing])
@pytest.mark.parametrize("session", SESSIONS)
def test_after_five_folds_by_a_bad_summarizer_nothing_is_lost_and_nothing_invented(
    session: str, summarizer: object
) -> None:
    messages = [m for m in open_session(CORPUS / session).view().messages if m.role != "system"]
    bounds = [len(messages) * i // 5 for i in range(6)]
    view, _ = chained([messages[a:b] for a, b in pairwise(bounds)], summarizer)
    truth = facts_of(messages)
    summary = next(m.summary for m in view.messages if m.summary)
    behind = from_data(summary.facts)
    shown = flat("\n".join(visible(view)))

    assert CLAIM not in summary.text
    assert judge(Draft(summary.text), messages, truth).faults == ()
    standing = [rule.text for rule in truth.rules if rule.by == "user" and rule.lifetime == "standing"]
    kept = {rule.text for rule in behind.rules}
    assert [text for text in standing if flat(text) not in shown and not (summarizer is invents and text in kept)] == []
    known = (*visible(view), *(f.path for f in behind.files), *(f.text for f in behind.faults))
    known = (*known, *kept, *(r.text for r in behind.requests))
    found = audit(truth, known)
    assert found.kept >= 0.95 * (found.kept + len(found.lost))
