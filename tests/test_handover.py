"""A page as a handover: what was done and how it stands, what is wrong and why, and nothing that is over."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from foldline import Brief, Message, Summary
from foldline._facts.edits import names_in_edits, told_names
from foldline._facts.reading import facts_of
from foldline._page.files import files
from foldline._page.state import state
from foldline.extend import Text, extract, text_of
from talk import bash, runs, says, user

TASK = user("Make the export of the invoices write gzip files, and keep the old format readable.")


def section(messages: Sequence[Message], heading: str, tokens: int = 1_500) -> str:
    text = extract(Brief(tokens), messages).text
    return text.split(f"## {heading}\n")[1].split("\n## ")[0].strip() if f"## {heading}\n" in text else ""


def with_words(words: str, messages: list[Message]) -> list[Message]:
    """Messages whose first call has words before it."""
    return [Message("assistant", (Text(words), *messages[0].parts)), *messages[1:]]


# -- what was done -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "path", "names"),
    [
        ({"old_string": "a", "new_string": "def load(path):\n    return path"}, "a.py", {"a.py": "load"}),
        ({"old_string": "{}", "new_string": "{SystemMessage: context}"}, "a.go", {"a.go": "SystemMessage"}),
        ({"old_string": "use(old_limit)\nuse(new_limit)", "new_string": "use(new_limit)"}, "a.py", {"a.py": ""}),
        ({"old_string": "def old():\n    pass\n\ndef kept(): ...", "new_string": "def kept(): ..."}, "a.py", {"a.py": "without old"}),
        ({"content": "# How to export\n\ntext\n"}, "docs/a.md", {"docs/a.md": "How to export"}),
        ({"content": "# a comment\nx = 1\n"}, "a.py", {"a.py": ""}),
        ("*** Begin Patch\n*** Update File: src/a.rs\n+fn clear_socket() {}\n*** Add File: b.md\n+## Clearing\n*** End Patch", "", {"src/a.rs": "clear_socket", "b.md": "Clearing"}),
    ],
)  # fmt: skip
def test_an_edit_is_told_by_the_names_that_it_touches(
    arguments: dict[str, str] | str, path: str, names: dict[str, str]
) -> None:
    assert {file: told_names(touched.names) for file, touched in names_in_edits(arguments, path).items()} == names


def test_the_state_tells_what_was_done_for_the_last_request_file_by_file() -> None:
    load, save = (
        runs("edit", {"path": "src/export.py", "oldText": "", "newText": f"def {name}(path):\n    ..."}, id=name)
        for name in ("load_zipped", "save_zipped")
    )
    script = bash("cd /srv && cat > try.py <<'EOF'\ndef main():\n    ...\nEOF")
    told = section([TASK, *load, *script, *save], "State")
    assert told == (
        "- the last request is under way; done for it last: write /srv/try.py (main); "
        "edit src/export.py (load_zipped, save_zipped)"
    )


def test_an_edit_of_several_files_is_told_with_what_it_touched_in_each() -> None:
    added = "".join(
        f"*** Add File: src/{of}.py\n" + "".join(f"+def {of}_{n}():\n+    ...\n" for n in range(4))
        for of in ("row", "col", "sum")
    )
    patch = f"*** Begin Patch\n{added}*** End Patch"
    told = section([TASK, *runs("apply_patch", {"input": patch}, "Success"), says("It is done.")], "What happened")
    for name in ("row", "col", "sum"):
        assert f"src/{name}.py ({name}_0, {name}_1, {name}_2, …)" in told


def test_waiting_for_a_program_changes_nothing() -> None:
    waits = runs("write_stdin", {"session_id": 7, "yield_time_ms": 1_000}, "Compiling app v1.0.0")
    assert section([TASK, *waits], "State") == "- the last request is under way"


def test_what_the_agent_says_it_will_look_at_is_not_told() -> None:
    looked = with_words("Let me check the writer of the rows.", runs("read", {"path": "src/rows.py"}, "x = 1"))
    found = with_words("The rows are written in two places.", runs("read", {"path": "src/more.py"}, "x = 2", id="d"))
    changed = with_words("Now let me put gzip into the writer.", runs("edit", {"path": "src/rows.py"}, id="e"))
    told = section([TASK, *looked, *found, *changed], "What happened")
    assert "Let me check" not in told
    assert "The rows are written in two places." in told
    assert "put gzip into the writer" in told


def test_the_file_that_was_changed_most_is_never_among_those_that_are_not_named() -> None:
    edits = [
        m
        for n in (0, 0, 0, *range(1, 40))
        for m in runs("edit", {"path": f"src/part_{n}.py", "oldText": "a", "newText": "b"}, id=f"e{n}")
    ]
    facts = facts_of([TASK, *bash("git branch --show-current", "main"), *bash("git checkout -b gzip", "Switched to a new branch 'gzip'"), *edits])  # fmt: skip
    assert "part_0.py" in files(facts, 60)[0]
    assert "more" in files(facts, 60)[0]
    assert "not committed: src/part_0.py," in next(iter(state(facts)))


# -- what is wrong -------------------------------------------------------------------------------------------------

RED = bash("pytest -q", "E   AssertionError: 3 rows, not 4\n1 failed in 0.2s\nexit code: 1", error=True)


def errors(*messages: Message) -> list[str]:
    return [line for line in state(facts_of([TASK, *messages])) if line.startswith("open error")]


def test_a_program_that_is_missing_is_no_error_of_the_work() -> None:
    probe = bash("staticcheck --version", "bash: staticcheck: command not found\nexit code: 127", error=True)
    assert errors(*probe, *bash("ls", "a.py")) == []


def test_a_check_stays_red_after_a_report_and_another_failure_only_where_the_report_says_so() -> None:
    odd = bash("./fetch.sh", "fatal: the mirror did not answer\nexit code: 1", error=True)
    assert len(errors(*RED, says("The rows are counted twice."))) == 1
    assert errors(*odd, says("The rows come from the cache now.")) == []
    assert len(errors(*odd, says("The rows come from the cache now, as the mirror did not answer."))) == 1


def test_an_open_error_stands_with_what_the_agent_says_of_it() -> None:
    after = with_words("The header is counted as a row.", runs("read", {"path": "a.py"}, "x", id="r"))
    assert errors(*RED, *after)[0].endswith("3 rows, not 4 – the agent: The header is counted as a row.")


def test_a_success_of_all_packages_closes_the_error_of_one() -> None:
    red = bash("go test ./cmd/app -run Rows", "--- FAIL: TestRows\nFAIL\nexit code: 1", error=True)
    assert len(errors(*red)) == 1
    assert errors(*red, *bash("go test ./...", "ok  app 0.3s")) == []


# -- what is wanted ------------------------------------------------------------------------------------------------


def test_an_answer_to_what_the_agent_asked_before_it_did_anything_leaves_the_task() -> None:
    asked = says("Gladly. For that I need your name and your zip code, please. May I have them?")
    told = section([user("I would like to cancel all of my pending orders."), asked, user("Sure, my zip code is 85041, and my full name is Yara Muller.")], "Task now")  # fmt: skip
    assert "cancel all of my pending orders" in told
    assert "85041" in told


def test_a_long_proposal_keeps_all_its_items() -> None:
    plan = "I propose:\n" + "\n".join(
        f"{n}. Move the part_{n} of the export, {'with everything that hangs on it, ' * 9}" for n in range(1, 9)
    )
    told = section([TASK, says(plan), user("yes, do it")], "Task now", 700)
    assert all(f"part_{n}" in told for n in range(1, 9))


INSTRUCTIONS = user(
    "# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>\nThe exporter reads rows from the store.\n\n"
    "When you reply in discussions, always say that an agent wrote it.\nNever use npm, use pnpm.\n</INSTRUCTIONS>"
)


def test_of_a_projects_own_instructions_those_are_told_that_match_the_task() -> None:
    told = section(
        [INSTRUCTIONS, user("Fix the export and reply in the discussion about it, please.")], "Rules that stand"
    )
    assert told.splitlines()[0] == "- (the project) When you reply in discussions, always say that an agent wrote it."
    assert "pnpm" not in told
    assert "reads rows" not in told


def test_the_projects_rules_stay_the_projects_where_a_page_comes_back_as_text() -> None:
    messages = [INSTRUCTIONS, user("Fix the export and reply in the discussion about it, please.")]
    again = facts_of([Message("user", (Summary(extract(Brief(1_500), messages).text, {}),))])
    assert [rule.text for rule in again.rules if rule.by != "project"] == []
    assert section([Message("user", (Summary(extract(Brief(1_500), messages).text, {}),))], "Rules that stand") == section(messages, "Rules that stand")  # fmt: skip


# -- what is over --------------------------------------------------------------------------------------------------


def test_what_a_summary_calls_next_is_over_once_it_was_changed() -> None:
    summary = user(
        "This session is being continued from a previous conversation that ran out of context.\n\n"
        "## Next Steps\n- Rewrite FetchTreeData in data.go.\n- Tell the auditors of the new format.\n"
        "```go\nfunc OldTree() Tree {\n```\n"
        "Please continue the conversation from where we left it off.\n"
    )
    edit = runs("Edit", {"file_path": "list/data.go", "old_string": "", "new_string": "func FetchTreeData() Tree {"})
    told = extract(Brief(1_500), [summary, *edit]).text
    assert "Rewrite FetchTreeData" not in told
    assert "Tell the auditors" in told
    assert "OldTree" not in told
    assert "where we left it off" not in told


def test_marks_of_markdown_go_and_code_stays() -> None:
    report = "**Fixed:** [rows.py:12](/srv/app/src/rows.py:12) passes `**options` on, see src/**/rows.py and [the docs](docs/a.md)."
    edits = [m for n in range(3) for m in runs("edit", {"path": f"/srv/app/src/part_{n}.py"}, id=f"e{n}")]
    told = section([TASK, *edits, says(report), user("Good. Now describe it in the handbook of the exporter.")], "What happened")  # fmt: skip
    assert "Fixed: rows.py:12 passes `**options` on, see src/**/rows.py and the docs (docs/a.md)." in told


def test_code_stands_where_it_was_said() -> None:
    report = "Fixed.\n\nThat means it looks in:\n```text\nservices/worker/store\n```\nThe user expected another folder."
    assert "That means it looks in: services/worker/store" in section([TASK, says(report), user("Thanks a lot, and now the docs of the exporter.")], "What happened")  # fmt: skip


def test_a_later_commit_closes_the_failure_of_one() -> None:
    red = bash('git commit -m "Gzip"', "fatal: failed to write commit object\nexit code: 128", error=True)
    assert len(errors(*red)) == 1
    assert errors(*red, *bash('git commit -m "Gzip, signed"', "[main 1a2b3c4] Gzip, signed\n 1 file changed")) == []


def test_opening_a_file_changes_nothing() -> None:
    assert (
        section([TASK, *runs("open", {"path": "setup.py"}, "url = 'x'")], "State") == "- the last request is under way"
    )


def test_edits_of_a_turn_go_behind_the_report_that_closed_it() -> None:
    edits = [
        m
        for n in range(30)
        for m in runs(
            "edit", {"path": f"src/part_{n}.py", "oldText": "", "newText": f"def load_part_{n}():"}, id=f"e{n}"
        )
    ]
    report = "All parts of the export are written as gzip, and readers take both formats by the first two bytes."
    told = section([TASK, *edits, says(report), user("Good. Now describe it in the handbook of the exporter.")], "What happened", 400)  # fmt: skip
    assert report in told


def test_of_lines_that_differ_in_their_numbers_alone_few_are_told() -> None:
    listing = "\n".join(f"index {n} tag div" for n in range(40, 140))
    looks = [
        m
        for n in range(4)
        for m in runs("page_state", {"tab": n}, f"title Invoices of May, {n}\n{listing}", id=f"p{n}")
    ]
    told = section([TASK, *looks], "What happened", 300)
    assert "title Invoices of May" in told


def test_what_files_show_is_not_told_of_an_agent_that_says_what_it_found_there() -> None:
    looks = [
        m for n in range(3) for m in bash(f"sed -n 1,9p src/rows_{n}.py", f"the rows of part_{n} are export_part_{n}")
    ]
    found = with_words("The rows are written in two places.", runs("read", {"path": "src/more.py"}, "x = 2", id="d"))
    asked = user("Where are export_part_0, export_part_1 and export_part_2 written to?")
    assert "are export_part_1" in extract(Brief(2_000), [asked, *looks]).text
    assert "are export_part_1" not in extract(Brief(2_000), [asked, *looks, *found]).text


def test_an_older_summary_goes_behind_a_newer_one() -> None:
    first, second = (
        user(
            f"This session is being continued from a previous conversation that ran out of context.\n\n## Decisions\n{told}"
        )
        for told in (
            "\n".join(f"- Stage {n} of the old plan keeps loader_{n} for a while." for n in range(40)),
            "- The loaders are gone: rows are read from the store, by its cursor, in batches of one thousand.",
        )
    )
    told = section(
        [first, says("I go on."), second, *runs("read", {"path": "src/rows.py"}, "x = 1")], "What happened", 260
    )
    assert "The loaders are gone" in (told or extract(Brief(260), [first, says("I go on."), second]).text)


HOUSE = user(
    "# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>\n## Lists of ports\n\nBefore touching `ports/`, ALWAYS do the following:\n\n"
    "1. Ask the harbour master.\n2. Write down the depth. Do not guess.\n\n"
    "## Commits\n\nAll subjects of commits MUST begin with their kind:\n\n**Form:** `<kind>: <what>`\n\n**Kinds:**\n"
    "- `mend:` - what sailors notice (not docs or the pipeline)\n- `docs:` - changed pages\n- `chore:` - the pipeline, ropes\n\n"
    "## Tables\n\nChanges to tables require updating `tables.toml` and running `make tables`.\n\n"
    "Do NOT shorten links - always write all of them, as `guide/` has them.\n</INSTRUCTIONS>"
)


def bound(
    path: str, asked: str = "Mend the depth of the third quay and open a pull request, please.", house: Message = HOUSE
) -> list[str]:
    """The project's orders that are told once a file was changed."""
    change = runs("edit", {"path": path, "oldText": "a", "newText": "b"})
    told = section([house, user(asked), *change, says("The depth is right now.")], "Rules that stand")
    return [line.removeprefix("- (the project) ") for line in told.splitlines() if line.startswith("- (the project)")]


def test_the_kinds_of_which_one_is_to_be_taken_stand_with_the_order_to_take_one() -> None:
    assert (
        "All subjects of commits MUST begin with their kind: Form: `<kind>: <what>`; "
        "Kinds: `docs:`; `mend:` = what sailors notice (not docs or the pipeline); `chore:` = the pipeline, ropes"
    ) in bound("quays/third.toml")


def test_kinds_that_need_no_word_are_named_together_before_those_that_need_one() -> None:
    more = "- `docs:` - changed pages\n- `dive:` - Diving-related changes\n- `sail:`\n"
    house = user(text_of(HOUSE).replace("- `docs:` - changed pages\n", more))
    kinds = "Kinds: `docs:`, `dive:`, `sail:`; `mend:` = what sailors notice (not docs or the pipeline); `chore:` = "
    assert any(kinds in line for line in bound("quays/third.toml", house=house))


def test_what_a_project_orders_of_a_folder_or_a_file_is_told_where_that_was_changed() -> None:
    case = "Before touching `ports/`, ALWAYS do the following: Ask the harbour master. Write down the depth."
    assert case in bound("ports/third.toml")
    assert not any("ports/" in line for line in bound("quays/third.toml"))
    tables = "Changes to tables require updating `tables.toml` and running `make tables`."
    assert tables in bound("tables.toml")
    assert tables not in bound("quays/third.toml")
    assert not any("shorten links" in line for line in bound("guide/quays.md"))


def test_of_orders_that_have_a_word_in_common_with_the_task_a_few_are_told() -> None:
    orders = [f"Never paint a {thing}." for thing in ("mast", "sail", "rope", "hull", "deck", "buoy", "lamp")]
    house = user("# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>\n{}\n</INSTRUCTIONS>".format("\n\n".join(orders)))
    asked = user(
        "Draw the mast, the sail, the rope, the hull, the deck, the buoy and the lamp of the old ferry, please."
    )
    told = [line for line in section([house, asked], "Rules that stand").splitlines() if "(the project)" in line]
    assert len(told) == 3
    kept = "Never paint a lamp on the old ferry."
    again = user(text_of(house).replace("Never paint a lamp.", kept))
    assert f"- (the project) {kept}" in section([again, asked], "Rules that stand").splitlines()


def test_of_an_agent_that_says_nothing_the_calls_are_told_without_lines_of_the_files_it_looked_at() -> None:
    source = "\n".join(f"    if tonnage_{n} > limit_{n}: raise OverloadError('berth {n} is full')" for n in range(40))
    work = [
        *bash("sed -n '1,200p' src/berths.py", source),
        *bash("grep -rn 'OverloadError' src | head -50", source),
        *bash("pytest -q tests/test_berths.py", "12 passed in 0.41s"),
    ]
    told = section([user("Review how berths are given out, and report what is wrong."), *work], "What happened")
    assert "sed -n '1,200p' src/berths.py" in told
    assert "grep -rn 'OverloadError' src" in told
    assert "12 passed" in told
    assert "raise OverloadError" not in told


@pytest.mark.parametrize(
    ("command", "changed"),
    [
        ("cd /srv/quay && cargo add flate2", "/srv/quay/Cargo.toml"),
        ("npm install --save-dev prettier", "package.json"),
        ("uv add msgspec && uv sync", "pyproject.toml"),
        ("go get example.org/zip@v2", "go.mod"),
        ("npm install", ""),
        ("npm install -g prettier", ""),
        ("cargo build", ""),
        ("go mod tidy", ""),
    ],
)  # fmt: skip
def test_what_a_project_needs_is_changed_where_a_program_notes_it(command: str, changed: str) -> None:
    files = [file.path for file in facts_of([TASK, *bash(command, "done")]).files if file.changed]
    assert files == ([changed] if changed else [])


@pytest.mark.parametrize(
    ("query", "short"),
    [
        (
            'query { harbour(owner:"mill", name:"quay") { berth(number:17) { boats(first:100) { nodes { keel sail } } } } }',
            """'… harbour(owner:"mill", name:"quay") … berth(number:17) { boats(first:100) { …'""",
        ),
        ("\nmutation($berth: ID!) {\n  freeBerth(input: {berth: $berth}) { keel sail }\n}", "'mutation freeBerth …'"),
        ("{ viewer { login } }", "'{ viewer { login } }'"),
    ],
)
def test_a_call_that_sends_a_query_is_told_by_what_it_asks_about_without_its_fields(query: str, short: str) -> None:
    asked = user("Ask which boats lie at berth 17, and free it where none does.")
    sent = bash(f"gh api graphql -f query='{query}' -f berth=B_17", '{"data": {"keel": "K-17 is 4.20 m deep"}}')
    other = bash("git commit -m 'Say what a query={a} is'", "[main 1f2e3d4] Say what a query={a} is\n 1 file changed")
    told = section([asked, *other, *sent], "What happened")
    assert f"`gh api graphql -f query={short} -f berth=B_17`" in told
    assert "sail" not in told
    assert "Say what a query={a} is" in told
