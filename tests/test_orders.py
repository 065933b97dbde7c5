"""Which orders of a project or of a command a page tells: those in force that what is pending can use, and no other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import pytest

from foldline import Brief, Message, Summary
from foldline.extend import Text, extract, text_of
from talk import bash, runs, says, user


def told(messages: Sequence[Message], after: tuple[str, ...] = ()) -> list[str]:
    """The orders on the page, without the names of those who gave them, and without the line that points to all of them."""
    text = extract(Brief(3_000, after=after), messages).text
    body = text.split("## Rules that stand\n")[1].split("\n## ")[0].strip() if "## Rules that stand\n" in text else ""
    lines = [line.removeprefix("- ") for line in body.splitlines()]
    return [line.split(") ", 1)[1] for line in lines if line.startswith(("(the ", "(skill ", "(/"))]


def givers(messages: Sequence[Message]) -> list[str]:
    """The lines of the page's rules, each with who gives it."""
    text = extract(Brief(3_000), messages).text
    return [
        line.removeprefix("- ") for line in text.partition("## Rules that stand\n")[2].partition("\n\n")[0].splitlines()
    ]


def project(orders: Sequence[str], title: str = "How we work here") -> Message:
    listed = "\n".join(f"- {order}" for order in orders)
    return user(f"# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>\n## {title}\n{listed}\n</INSTRUCTIONS>")


EDIT = runs("edit", {"path": "src/rows.py", "oldText": "a", "newText": "b"})
LOOKED = bash("cat src/rows.py", "rows = []")

# -- what the request forbids ------------------------------------------------------------------------------------------

ON_CHANGING = [
    "When modifying a module of the importer, always run the existing tests of that module before committing.",
    "Run the linter and the tests of the importer before claiming that a review or a fix is complete.",
    "Never mix two findings of a review of the importer in one commit.",
    "You must keep each diff of the importer small, and easy to review and to revert.",
]


@pytest.mark.parametrize(
    "limit",
    [
        "Read-only: no tests, no network.",
        "Do not modify files or run tests, formatters or the network.",
        "Please don't edit any files.",
        "Do not edit, run tests, formatters or builds.",
        "Do not edit or run tests.",
        "Keine Dateien ändern.",
        "No modifiques ningún archivo.",
        "ファイルは変更しないでください。",
        "파일은 수정하지 마세요.",
        "不要修改任何文件。",
        "Jangan ubah file apa pun.",
    ],
)
def test_where_the_request_changes_nothing_no_order_on_changing_is_told(limit: str) -> None:
    asked = user(
        f"Review the importer as it is, and list each finding with its diff, its module and the tests that miss it. {limit}"
    )
    assert told([project(ON_CHANGING), asked, *LOOKED]) == []
    free = user("Fix what the review of the importer found, with a diff for each finding, and run the tests.")
    assert ON_CHANGING[0] in told([project(ON_CHANGING), free, *EDIT])


def test_a_limit_that_was_set_before_holds_for_what_is_asked_for_next() -> None:
    first = [user("Read-only: do not modify files or run tests. List what the importer misses."), says("It misses the empty rows.")]  # fmt: skip
    assert told([project(ON_CHANGING), *first], ("Review the importer again, each finding with its module and its diff, with the tests.",)) == []  # fmt: skip


def test_what_the_request_forbids_is_not_ordered() -> None:
    orders = ["Always run the slow tests of the importer after each change of the rows.", "Never rename what is empty without a word in the log."]  # fmt: skip
    asked = user("Make the importer skip empty rows, and rename what it counts. Do not run the slow tests.")
    assert told([project(orders), asked, *EDIT]) == orders[1:]
    allowed = user("Make the importer skip empty rows, rename what it counts, and run the slow tests.")
    assert told([project(orders), allowed, *EDIT]) == orders


def test_what_is_never_to_be_done_in_one_way_may_be_ordered_in_another() -> None:
    order = "All pull requests and releases of the importer MUST have titles that begin with their kind."
    asked = [user("Never open pull requests against the release branch."), says("I will not.")]
    assert told([project([order]), *asked, user("Mend the importer, and open one."), *EDIT]) == [order]


def test_a_request_that_the_client_says_again_has_the_changes_that_were_made_for_it() -> None:
    order = "All commits of the importer MUST begin with their kind."
    asked = user("Can you make the importer read the old rows?")
    assert told([project([order]), asked, *EDIT, asked, says("It reads them now.")]) == [order]


def test_a_question_that_changed_nothing_needs_no_orders_on_changing() -> None:
    asked = user("Does the importer keep the rows that the review named, and how do its tests and its diff show that?")
    assert told([project(ON_CHANGING), asked, *LOOKED]) == []
    assert told([project(ON_CHANGING), asked, *LOOKED, says("It keeps them, as its tests show.")]) == []


# -- other kinds of work -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "fits"),
    [
        ("When deploying a mirror, always copy the invoices of the depot and their dates first.", False),
        ("When counting invoices, always leave out the dates of the depot.", True),
        ("Duties of helpers: never change the invoices of the depot or their dates without a word.", False),
        ("Invoices: never change the dates of the depot without a word.", True),
        ("For work on the parser, prefer short names for the dates and the invoices of the depot.", False),
    ],
)
def test_an_order_that_begins_with_another_work_is_not_told(order: str, fits: bool) -> None:
    asked = user("Count the invoices of the depot by their dates, and write the sums down.")
    assert told([project([order]), asked, *EDIT]) == ([order] if fits else [])


@pytest.mark.parametrize(("path", "holds"), [("mills/north.toml", True), ("src/rows.py", False)])
def test_a_case_that_names_a_folder_holds_for_work_in_that_folder(path: str, holds: bool) -> None:
    order = "Before touching `mills/`, ALWAYS ask the owner of the commit what the sums of the depot were."
    changed = runs("edit", {"path": path, "oldText": "a", "newText": "b"})
    asked = user(
        "Mend the sums of the depot, and ask for what is missing before touching anything that the mills need."
    )
    assert told([project([order]), asked, *changed]) == ([order] if holds else [])


def test_what_only_says_more_of_the_order_before_it_is_none() -> None:
    orders = ["Never change the sums of the depot without a word of its owner.", "This is a must for the sums of the depot, and never up for talk."]  # fmt: skip
    assert told([project(orders), user("Change what the sums of the depot leave out."), *EDIT]) == orders[:1]


def test_an_order_for_whatever_is_changed_is_told_once_something_was() -> None:
    order = "For coding work, prefer small functions with the names of the depot."
    asked = user("Count the invoices of the depot with functions of their own.")
    assert told([project([order]), asked, *EDIT]) == [order]


def test_a_long_request_that_shares_a_few_words_with_everything_takes_in_no_orders_by_them() -> None:
    orders = ["Keep the letters short, with the names of both sides.", "Never tell a sum of the depot without a date."]  # fmt: skip
    asked = "Count the invoices of the depot by their dates, and write the sums down. "
    assert told([project(orders), user(f"{asked}The letters of the depot have names and a date."), *EDIT]) != []
    long = "".join(f"Of part {n} the old sums hold, and nobody asks for other ones. " for n in range(16))
    assert told([project(orders), user(f"{asked}{long}The letters of the depot have names and a date."), *EDIT]) == []


# -- a command that is under way ---------------------------------------------------------------------------------------

TIDY = """# Tidy the depot

Keeps the depot in order.

## Steps

### 1. Find what is loose

```bash
depot list --loose
```

### 2. Put the rows back

For each row that is loose:
- Read its ticket first
- Put it where the ticket says

### 3. Write the record
- note the number of the record
- We need to do this FIRST so that the letters can name it

### 4. Answer the letters

Leave out letters that the owner answered last. The owner is whoever signed the ticket.

```bash
# 5. Not a step
depot answer
```

### 5. Close

Once all letters are answered, ask whether the depot may be opened.

## Prices

| Part | Price |
|------|-------|
| 1 | low |
| 2 | high |
"""
STEPS = [
    "1. Find what is loose",
    "2. Put the rows back: Read its ticket first; Put it where the ticket says",
    "3. Write the record: note the number of the record; We need to do this FIRST so that the letters can name it",
    "4. Answer the letters",
    "5. Close: Once all letters are answered, ask whether the depot may be opened.",
]
PHASES = """# The round

| # | Phase | By | Gate |
|---|-------|----|------|
| 1 | Plan | `planning` | the user |
| 2 | Build | `building` | all tests pass |
| 3 | Ship | `shipping` | the user |
| 4 | Look back | `looking` | the letter is written |

Never build without a plan.
Always look back before reporting the round done, and never close it before the letter is written.
Never ship on a Friday without a word of the user.
"""


def command(name: str, body: str, words: str = "") -> list[Message]:
    called = f"<command-message>{name}</command-message>\n<command-name>/{name}</command-name>"
    return [user(f"{called}\n<command-args>{words}</command-args>" if words else called), Message("user", (Text(body, by="command"),))]  # fmt: skip


def test_of_a_command_that_is_under_way_the_steps_are_told_with_what_they_order() -> None:
    assert told([*command("tidy", TIDY), *EDIT]) == STEPS


def test_a_command_that_is_given_again_orders_its_steps_again() -> None:
    done = [*command("tidy", TIDY), *EDIT, says("The depot is tidy now.")]
    assert told([*done, user("Now write to the people of the mill, and ask them for the prices of next month.")]) == []
    assert told(done, ("/tidy",)) == STEPS


@pytest.mark.parametrize("yes", ["approved", "aprovado", "approuvé", "план одобрен", "утверждаю."])
def test_of_a_command_of_many_phases_those_to_come_are_told_when_the_user_agrees_to_go_on(yes: str) -> None:
    round_ = [
        *command("round", PHASES),
        says("**Phase 1: Plan**\n\nHere is the plan. Is it approved?"),
        user(yes),
        *EDIT,
        says("Phase 3: Ship. May I ship it?"),
    ]
    assert told(round_, (yes,)) == [
        "Phase 3: Ship: `shipping`; the user",
        "Phase 4: Look back: `looking`; the letter is written",
        "Always look back before reporting the round done, and never close it before the letter is written.",
        "Never ship on a Friday without a word of the user.",
    ]


def test_the_steps_of_a_command_are_a_list_below_a_line_that_leads_it_in() -> None:
    body = "You look after the depot. Follow these steps:\n\n   1. List what is loose\n   2. Ask for:\n      - the number\n      - the owner\n   3. Write it down\n\nKeep it short."
    assert told([*command("look", body), *LOOKED]) == [
        "1. List what is loose",
        "2. Ask for: the number; the owner",
        "3. Write it down",
    ]


def test_of_a_long_step_what_must_be_is_told_before_what_it_only_names() -> None:
    items = [f"Look at the part {n} of the yard, at its gate and its rows" for n in range(8)]
    loud = "Show the owner the text of the letter before. Do NOT send it until they agree."
    body = "# Letters\n\n## Step 1: Look\n\n{}\n\n## Step 2: Write\n\n{}\n".format(*("\n".join(f"- {each}" for each in several) for several in (items[:2], [*items, loud])))  # fmt: skip
    steps = told([*command("letters", body), *LOOKED])
    assert steps[0] == f"Step 1: Look: {items[0]}; {items[1]}"
    assert steps[1] == f"Step 2: Write: {loud}"


def test_a_page_that_fills_its_budget_tells_no_steps() -> None:
    text = extract(Brief(3_000, fills="words"), [*command("tidy", TIDY), *EDIT]).text
    assert STEPS[1] not in text


def test_a_list_of_what_there_is_has_no_steps() -> None:
    body = "The depot has these parts.\n\n1. The mill\n2. The yard\n3. The gate\n\nLook at what is loose there."
    assert told([*command("look", body), *LOOKED]) == []


def test_a_command_whose_last_report_asks_nothing_orders_no_steps() -> None:
    done = says("The depot is tidy now, and all letters are answered.")
    assert not {*STEPS} & {*told([*command("tidy", TIDY), *EDIT, done])}
    asks = says("The rows are back. Shall I go on?")
    assert told([*command("tidy", TIDY), *EDIT, asks]) == STEPS


def test_a_command_that_was_given_several_times_is_over_as_each_of_them_was() -> None:
    body = "# Tidy\n\nNever rename a column of the depot. Look at its rows."
    found = user(
        "These were found: the rows of the gate, which you can give to the mill, are described without a break."
    )
    tidy = [*command("tidy", body), *EDIT, says("It is tidy.")]
    talk = [*tidy, found, *EDIT, says("They are gone."), *tidy]
    assert told([*talk, user("can you give me a short description")]) == []


def test_a_case_without_an_order_is_none() -> None:
    body = "# Asking\n\n## Rules\n\n- Before the merge to the yard\n- Before the merge, ask the owner of the yard\n- One letter for one owner\n"
    orders = told([*command("ask", body), *LOOKED])
    assert {*orders} == {"Before the merge, ask the owner of the yard", "One letter for one owner"}


def test_a_skill_that_the_agent_took_up_for_one_request_is_over_with_it() -> None:
    skill = Message("user", (Text("# Counting\n\nNever count a row of the depot twice.", by="command"),))
    first = user("Count the rows of the depot for the letter to the mill, and put the sums into the table.")
    counted = [first, *LOOKED, skill, *EDIT, says("The rows are counted, and the sums stand in the table.")]
    assert told([*counted, user("Now mend the gate of the mill.")]) == []
    assert told([*counted, user("Count the rows of the yard for the table as well.")]) == ["Never count a row of the depot twice."]  # fmt: skip


ASKING = """Base directory for this skill: /srv/skills/letters

# Letters

Before writing a line of the letter, you **MUST** interview the owner of the sacks.

- **No guessing**: Never write a letter without at least two clarifying questions first.
- Never send a letter without asking the owner first.
- When the owner has questions, never weigh a sack before they are answered.
"""
LATER = [
    "Never send a letter without asking the owner first.",
    "When the owner has questions, never weigh a sack before they are answered.",
]
WANTED = user("Write the letter on the third sack to its owner.")
TAKEN = Message("user", (Text(ASKING, by="command"),))


def test_what_a_skill_orders_to_be_asked_first_is_over_once_the_user_answered_or_files_were_written() -> None:
    begun = [WANTED, says("I take up the skill."), TAKEN]
    asked = [*begun, says("Is the third sack that of the mill, or of the gate?")]
    answered = [*asked, user("That of the mill.")]
    assert told(asked)[0] == "Before writing a line of the letter, you MUST interview the owner of the sacks."
    assert told([*begun, *LOOKED])[1].startswith("No guessing: ")
    assert told([*answered, *LOOKED]) == told([*begun, *EDIT]) == LATER


def test_a_skill_that_is_given_again_orders_to_ask_again() -> None:
    first = [WANTED, says("I take up the skill."), TAKEN, says("Whose is it?"), user("That of the mill."), *EDIT]
    again = [*first, says("It is written."), user("Write the letter on the fourth sack to its owner as well."), TAKEN]
    assert len(told([*again, *LOOKED])) == 4


# -- who gives an order ------------------------------------------------------------------------------------------------


def test_what_the_user_wrote_for_all_projects_is_no_order_of_the_project() -> None:
    own = "# Notes\n\n- Never round the weight of a sack.\n\n--- project-doc ---\n\n"
    theirs = "# Depot\n\n- Always name the yard of a lorry."
    house = user(f"# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>\n{own}{theirs}\n</INSTRUCTIONS>")
    asked = user("Mend the weight of the third sack, and the yard of the second lorry.")
    assert givers([house, asked, *EDIT])[:2] == [
        "(the user) Never round the weight of a sack.",
        "(the project) Always name the yard of a lorry.",
    ]
    unmarked = user(text_of(house).replace("--- project-doc ---\n\n", ""))
    assert all(line.startswith("(the project) ") for line in givers([unmarked, asked, *EDIT])[:2])


def test_what_the_user_orders_of_commits_in_all_projects_holds_whatever_is_mended() -> None:
    own = "# Notes\n\n- Never open a draft pull request, unless I ask for one.\n- Keep the barn swept.\n\n--- project-doc ---\n\n"
    house = user(
        f"# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>\n{own}# Depot\n\n- Sign the book.\n</INSTRUCTIONS>"
    )
    orders = givers([house, user("Mend the weight of the third sack."), *EDIT])
    assert "(the user) Never open a draft pull request, unless I ask for one." in orders
    assert not [line for line in orders if "barn" in line]


PROVING = """Base directory for this skill: /srv/skills/weigh-first

# Weighing first

## The rule of the scales

```
NO SACK LEAVES THE MILL UNWEIGHED
```

Always weigh a sack twice.

**MANDATORY. Never skip.**

```bash
scales --sack path/to/sack
```

**Never trust a number on a label.**

## Why

Weighing is kind:
- Finds holes before shipping, before release (cheaper than looking for flour afterwards)

## Checklist

Before marking the sack complete:

- [ ] Every sack has a label
- [ ] Sacks use real twine (wire only if unavoidable)
"""


def test_of_a_skill_its_orders_are_told_by_its_name_what_it_is_about_first() -> None:
    asked = user("Send the sacks of this week to the mill and write down what they weigh.")
    taken = Message("user", (Text(PROVING, by="command"),))
    assert givers([asked, says("I take up the skill."), taken, *EDIT]) == [
        "(skill weigh-first) NO SACK LEAVES THE MILL UNWEIGHED",
        "(skill weigh-first) Always weigh a sack twice.",
        "(skill weigh-first) Never trust a number on a label.",
    ]


SKILL = "---\nname: weigh-first\ndescription: Weighs sacks.\n---\n\n" + PROVING.partition("\n\n")[2]
"""The same as it stands in its file."""


@pytest.mark.parametrize(
    ("reading", "shown"),
    [
        (("read", {"path": "/home/ana/.pi/agent/skills/weigh-first/SKILL.md"}), SKILL),
        (("exec_command", {"cmd": "sed -n '1,220p' ~/.codex/skills/weigh-first/SKILL.md"}), f"Chunk ID: 4\nOutput:\n{SKILL}"),
        (("Read", {"file_path": ".claude/skills/weigh-first/SKILL.md"}), "\n".join(f"{n:6}\t{line}" for n, line in enumerate(SKILL.splitlines(), 1))),
    ],
    ids=["pi", "Codex", "numbered"],
)  # fmt: skip
def test_a_skill_whose_file_the_agent_read_orders_what_it_would_if_it_were_called(
    reading: tuple[str, dict[str, str]], shown: str
) -> None:
    asked = user("Send the sacks of this week to the mill and write down what they weigh.")
    orders = givers([asked, says("I take up the skill."), *runs(*reading, shown), *EDIT])
    assert [line for line in orders if line.startswith("(skill weigh-first) ")] == [
        "(skill weigh-first) NO SACK LEAVES THE MILL UNWEIGHED",
        "(skill weigh-first) Always weigh a sack twice.",
        "(skill weigh-first) Never trust a number on a label.",
    ]


def test_a_skill_whose_file_could_not_be_read_at_first_orders_what_it_does() -> None:
    read = ("exec_command", {"cmd": "cat ~/.codex/skills/weigh-first/SKILL.md"})
    failed = runs(*read, "execution error: the sandbox did not start", id="r0")
    told = extract(Brief(4_000), [user("Weigh the letters."), *failed, *runs(*read, SKILL, id="r1")]).text
    assert "(skill weigh-first)" in told


@pytest.mark.parametrize("path", ["skills/weigh-first/SKILL.md", ".claude/skills/weigh-first/SKILL.md"])
def test_a_skill_that_is_worked_on_orders_nothing(path: str) -> None:
    asked = user("Make the skill of the scales shorter.")
    edited = runs("edit", {"path": path, "old": "twice", "new": "once"}, "ok", id="e")
    assert givers([asked, *runs("read", {"path": path}, SKILL), *edited]) == []


OPERATING = """Please solve this issue:
# Name the quays

Write `quays.py`.

You can execute bash commands and edit files to implement the necessary changes.

## Recommended Workflow

1. Analyze the codebase by finding and reading relevant files
2. Submit your changes and finish your work by issuing the following command: `echo ALL_HANDED_IN`.
   Do not combine it with any other command. <important>After this command, you cannot continue working on this task.</important>

## Command Execution Rules

1. You issue at least one command
2. The system executes the command(s) in a subshell
3. You see the result(s)

**CRITICAL REQUIREMENTS:**

- Your response MUST include AT LEAST ONE bash tool call
- Submit your changes and finish your work by issuing the following command: `echo ALL_HANDED_IN`.
  Do not combine it with any other command. <important>After this command, you cannot continue working on this task.</important>

Example of a CORRECT response:
<example_response>
I need to understand the structure first.

[Makes bash tool call with {"command": "ls -la"} as arguments]
</example_response>
"""


def test_how_a_template_wants_work_handed_in_is_told_with_the_command_and_no_example_as_an_order() -> None:
    assert told([user(OPERATING), *bash("ls", "quays.txt"), says("I write it now."), *EDIT]) == [
        "Your response MUST include AT LEAST ONE bash tool call",
        "Submit your changes and finish your work by issuing the following command: `echo ALL_HANDED_IN`. Do not combine it with"
        " any other command. After this command, you cannot continue working on this task.",
    ]


def test_orders_of_a_command_are_told_by_its_name_and_read_back_from_a_page() -> None:
    messages = [*command("letters", "# Letters\n\nNever write to an owner of the depot twice."), *EDIT]
    line = "(/letters) Never write to an owner of the depot twice."
    assert givers(messages) == [line]
    page = extract(Brief(3_000), messages).text
    assert line in givers([Message("user", (Summary(page),)), *EDIT])


# -- what holds for the files that were changed ------------------------------------------------------------------------

OF_KINDS = [
    "Never weigh a barge from the deck - always use the scales of the quay.",
    "Use `lock` (not `gate`) in the subject of what changes one, even if it lies in `src/gate/`.",
    "Never mend a lighthouse in the rain.",
]


@pytest.mark.parametrize(
    ("path", "those"),
    [
        ("barges/quay/third.toml", OF_KINDS[:1]),
        ("src/lock/upper.toml", OF_KINDS[1:2]),
        ("/home/barge/quay/rows.toml", []),
        ("rows.toml", []),
    ],
)
def test_what_holds_for_the_kind_of_files_that_were_changed_is_told_whatever_the_task_is_called(
    path: str, those: list[str]
) -> None:
    change = runs("edit", {"path": path, "oldText": "a", "newText": "b"})
    asked = user("Bring the numbers of the third row in order, and write a letter to its owner.")
    assert told([project(OF_KINDS), asked, *change]) == those


# -- what work on files comes to ---------------------------------------------------------------------------------------

LANDING = [
    "Never push to the trunk by yourself.",
    "Do not use `git stash` in the shared yard.",
    "Stage named paths only.",
    "Every merge to the trunk requires a pull request with two readers.",
]
SLOGANS = [
    "Sacks first: keep the core small, so that whoever weighs flour can extend the scales.",
    "Always prefer a plain sack of flour to a clever barrel.",
    "Never describe the flour of a pull request in the notes of the mill.",
]


@pytest.mark.parametrize("pending", ["Weigh the flour of the third sack again.", "Commit what you have."])
def test_what_binds_commits_and_merges_is_told_before_what_only_shares_words(pending: str) -> None:
    asked = [
        user("Weigh the flour of the third sack again, with the scales of the mill."),
        *EDIT,
        says("It is weighed."),
    ]
    orders = told([project([*SLOGANS, *LANDING], "Rules"), *asked, user(pending), *EDIT])
    assert [each for each in orders if each in LANDING] == LANDING


def test_where_a_commit_is_asked_for_what_binds_it_is_told_though_no_change_is_seen() -> None:
    house = project(LANDING, "Rules")
    assert told([house, user("Commit what lies in the yard, and open a pull request for it."), *LOOKED]) == LANDING
    assert told([house, user("Tell me what lies in the barn, and whose sacks these are."), *LOOKED]) == []


@pytest.mark.parametrize(
    "order",
    [
        "Never name other projects, commits or issues in the notes of the yard.",
        "A sack is whole only when its commit and its label match.",
        "The robot is the gate of each merge.",
        "Always give a push event of the queue its number.",
        "Never let the hooks stash a sack.",
    ],
)
def test_what_only_names_a_commit_or_a_merge_is_not_told_for_every_change(order: str) -> None:
    assert told([project([order], "Rules"), user("Mend the third lamp."), *EDIT]) == []


def test_an_order_is_not_of_a_folder_because_one_of_many_names_in_it_is_the_folders() -> None:
    order = "Use the usual kinds where they fit, such as `weigh`, `sweep`, `src`, `lamps` and `doors`."
    assert told([project([order]), user("Mend the third row."), *EDIT]) == []


def test_of_many_changed_files_one_path_says_of_which_folder_an_order_is() -> None:
    order = "Never weigh a barge without the letters of its owner."
    places = ["barges/third.toml", "src/letters.toml", "src/rows.toml", "gates/north.toml", "gates/south.toml"]
    changed = [
        runs("edit", {"path": path, "oldText": "a", "newText": "b"}) for path in (*places, "barges/letters.toml")
    ]
    asked = [project([order]), user("Mend the third row.")]
    assert told([*asked, *chain(*changed[:5])]) == []
    assert told([*asked, *chain(*changed[1:])]) == told([*asked, *changed[0], *changed[1]]) == [order]


@pytest.mark.parametrize(
    ("order", "fits"),
    [
        ("Kind old lorries: keep the gates of the mill wide, so that a lorry of any owner can pass.", False),
        ("Lorries: never open the gates of the mill for one that is not weighed.", True),
    ],
)
def test_a_label_of_several_words_that_shares_one_with_the_task_is_another_matter(order: str, fits: bool) -> None:
    asked = user("Count the lorries that pass the gates of the mill, and write the sums down.")
    assert told([project([order]), asked, *EDIT]) == ([order] if fits else [])


# -- orders of one case ------------------------------------------------------------------------------------------------

WORD = 'When I say "weigh and roll" (or "weigh, roll")'

OTHERS = "\n".join(f"- Always leave gate {n} open at noon." for n in "ABCDEFGH")


def spoken(*parts: str) -> Message:
    body = "\n".join(f"{n}. {part}" for n, part in enumerate(parts[:2], 1))
    return user(f"# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>\n## The word\n\n{WORD}:\n\n{body}\n\n{' '.join(parts[2:])}\n\n## Gates\n\n{OTHERS}\n</INSTRUCTIONS>")  # fmt: skip


def test_orders_of_one_case_are_told_together_behind_it() -> None:
    house = spoken("Do NOT amend the commit of the sack.", "Do NOT push the commit to the mill.")
    assert told([house, user("Weigh and roll the third sack."), *EDIT]) == [
        f"{WORD}: Do NOT amend the commit of the sack. Do NOT push the commit to the mill."
    ]


def test_what_a_word_means_is_told_with_what_it_orders() -> None:
    means = '"Weigh and roll" is leave for what comes NEXT, not for all of it.'
    house = spoken("Do NOT push the commit of the sack.", "Do NOT ask, since roll means roll.", means)
    assert told([house, user("Commit the third sack, weigh and roll."), *EDIT]) == [
        f"{WORD}: Do NOT push the commit of the sack. Do NOT ask, since roll means roll. {means}"
    ]
    other = spoken("Do NOT push the commit of the sack.", "Do NOT ask.", '"Roll" is what the carters say.')
    assert not [line for line in told([other, user("Weigh and roll the third sack."), *EDIT]) if "carters" in line]


def test_orders_of_one_case_of_a_skill_are_told_together_behind_it() -> None:
    body = "# Weighing\n\nNever:\n\n- Trust the label of a sack\n- Roll a sack before it is weighed\n"
    assert told([*command("weigh", body), *LOOKED]) == [
        "Never: Trust the label of a sack; Roll a sack before it is weighed"
    ]
