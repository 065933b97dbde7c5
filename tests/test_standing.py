"""How things stand: the task, the state, the files and the errors as a page tells them; each row was seen in a recorded session."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pytest

from foldline import Brief, Compactor, Message, Summary
from foldline._clipping import cut
from foldline._facts.merging import merge, settled
from foldline._facts.reading import facts_of, user_words
from foldline._facts.standing import answered
from foldline._facts.told import UNCHANGED
from foldline._messages import replace
from foldline._page.extract import compose
from foldline.extend import Edit, Layer, Policy, Text, ToolCall, ToolResult, View, extract, hard_strategies, text_of
from talk import bash, runs, says, user

TASK = user("Make the export of the invoices write gzip files, and keep the old format readable.")


def page(messages: Sequence[Message], tokens: int = 1_500, after: tuple[str, ...] = ()) -> str:
    return extract(Brief(tokens, after=after), messages).text


def section(text: str, heading: str) -> list[str]:
    body = text.split(f"## {heading}\n")[1].split("\n## ")[0].strip() if f"## {heading}\n" in text else ""
    return [line.removeprefix("- ") for line in body.splitlines()]


def files(*messages: Message) -> list[str]:
    return section(page([TASK, *messages]), "Files")


def state(*messages: Message) -> list[str]:
    return section(page([TASK, *messages]), "State")


# -- files ---------------------------------------------------------------------------------------------------------


def edit(path: str, id: str = "e1") -> list[Message]:
    return runs("edit", {"path": path, "oldText": "a", "newText": "b"}, id=id)


def test_paths_of_windows_are_told_from_their_drive() -> None:
    work = [*edit(r"C:\srv\rows\src\a.py"), *edit(r"C:\srv\rows\src\b.py", "e2"), *edit(r"C:\srv\rows\src\c.py", "e3"), *edit("/c/srv/d.py", "e4")]  # fmt: skip
    assert files(*work) == ["in C:/srv/rows/src/", "changed: a.py, b.py, c.py; /c/srv/d.py"]
    assert files(*edit(r"src\a.py"), *edit("src/a.py", "e2")) == ["changed: src/a.py"]


def write(path: str, answer: str = "File created successfully", id: str = "w1") -> list[Message]:
    return runs("write", {"path": path, "content": "x"}, answer, id=id)


def test_a_file_that_was_made_and_then_edited_is_a_new_one() -> None:
    assert files(*write("src/new.py"), *edit("src/new.py")) == ["created: src/new.py"]
    assert files(*edit("src/old.py"), *write("src/old.py")) == ["changed: src/old.py"]


@pytest.mark.parametrize(
    "answer",
    ["Successfully overwrote file: /srv/app/a.txt.", "The file /srv/app/a.txt has been updated successfully."],
)
def test_a_file_that_was_written_over_is_not_a_new_one(answer: str) -> None:
    assert files(*write("a.txt", answer)) == ["changed: a.txt"]


def test_a_file_that_came_and_went_is_not_listed() -> None:
    scratch = [*write("try.html"), *bash("rm try.html")]
    assert files(*scratch, *edit("src/a.py")) == ["changed: src/a.py"]
    assert files(*edit("src/a.py"), *bash("rm src/a.py")) == ["deleted: src/a.py"]
    gone = bash("rm -rf out")
    assert files(*gone, *write("src/b.py")) == ["created: src/b.py", "deleted: out"]
    assert files(*gone, *write("out/a.txt")) == ["created: out/a.txt"]
    assert files(*write("out/a.txt"), *gone) == ["deleted: out"]


def test_a_folder_that_stands_first_is_that_of_all_paths_below_it() -> None:
    skills = [m for n in range(4) for m in runs("read", {"path": f"/opt/cache/skills/part_{n}.md"}, "x", id=f"r{n}")]
    here = [m for n in range(4) for m in edit(f"src/part_{n}.rs", id=f"e{n}")]
    there = [m for n in range(4) for m in edit(f"/srv/app/core/part_{n}.rs", id=f"f{n}")]
    looked = bash("cat docs/api.md", "the API")
    assert files(*skills, *here)[0] == "changed: src/{part_0.rs, part_1.rs, part_2.rs, part_3.rs}"
    assert files(*there, *looked) == [
        "in /srv/app/core/",
        "changed: part_0.rs, part_1.rs, part_2.rs, part_3.rs",
        "read: …/docs/api.md",
    ]
    told = f"[folded: 9 messages, recall by id]\n{page([TASK, *there, *looked])}"
    again = {file.path: file.state for file in facts_of([Message("user", (Summary(told, {}),))]).files}
    assert again == {f"/srv/app/core/part_{n}.rs": "modified" for n in range(4)} | {"docs/api.md": "read"}


def test_what_nobody_keeps_is_no_folder_of_the_work() -> None:
    for folder in ("/tmp/try/src", "/var/folders/gz/h7/T/try", "/private/tmp/try/src"):
        scratch = [m for n in range(4) for m in write(f"{folder}/part_{n}.py", id=f"w{n}")]
        assert files(*scratch, *edit("/srv/a.py")) == ["changed: /srv/a.py"]


def test_a_path_is_told_from_the_repository_on_where_others_are() -> None:
    commit = runs("exec", {"cmd": "git add -A && git commit -m x", "workdir": "/srv/app"}, "[main 1234567] x", id="c1")
    assert files(*commit, *edit("src/a.py"), *edit("/srv/app/docs/b.md", "e2")) == ["changed: src/a.py; docs/b.md"]


def test_where_the_first_folder_is_that_of_the_repository_other_paths_are_told_from_it() -> None:
    commit = runs("exec", {"cmd": "git add -A && git commit -m x", "workdir": "/srv/app"}, "[main 1234567] x", id="c1")
    there = [m for n in range(4) for m in edit(f"/srv/app/core/part_{n}.rs", id=f"f{n}")]
    assert files(*commit, *there, *edit("src/a.py"), *bash("cat docs/api.md", "the API")) == [
        "in /srv/app/",
        "changed: core/{part_0.rs, part_1.rs, part_2.rs, part_3.rs}; src/a.py",
        "read: docs/api.md",
    ]


def test_what_an_agent_reads_of_its_own_is_not_listed_beside_files_of_the_work() -> None:
    own = "/home/u/.codex/plugins/cache/github/skills/yeet/SKILL.md"
    crate = "/home/u/.cargo/registry/src/usage-3.5.4/src/parse.rs"
    looked = [m for n, path in enumerate((own, crate)) for m in bash(f"cat {path}", "…") if n >= 0]
    assert files(*looked, *edit("src/a.py"), *bash("cat docs/api.md", "the API")) == [
        "changed: src/a.py",
        "read: docs/api.md",
    ]
    checks = "/srv/app/.github/workflows/ci.yml"
    assert files(*edit("src/a.py"), *bash(f"cat {checks}", "on: push")) == ["changed: src/a.py", f"read: {checks}"]
    tree = "/home/u/.codex/worktrees/3822/app/src/b.py"
    assert files(*edit("src/a.py"), *bash(f"cat {tree}", "x = 1")) == ["changed: src/a.py", f"read: {tree}"]
    assert files(*bash(f"cat {own}", "…")) == [f"read: {own}"]


def test_the_folder_that_a_script_names_is_that_of_its_commands() -> None:
    script = 'const r = await tools.exec_command({cmd:"git add -A && git commit -m x",workdir:"/srv/app"})'
    commit = runs("exec", script, "[main 1234567] x", id="c1")
    patch = runs("apply_patch", "*** Begin Patch\n*** Update File: /srv/app/docs/b.md\n@@\n+x\n*** End Patch", id="p1")
    work = [*commit, *edit("src/a.py"), *patch]
    assert files(*work) == ["changed: src/a.py; docs/b.md"]
    assert "git: on branch main; last commit 1234567 “x”; changed since: docs/b.md, src/a.py" in state(*work)


def test_an_edit_that_names_no_file_is_one_of_the_file_that_is_open() -> None:
    behind = "(Open file: /testbed/src/fields.py)\n(Current directory: /testbed)\nbash-$"
    made = runs("edit", {"search": "a", "replace": "b"}, f"Text replaced. Please review the changes.\n1:b\n{behind}")
    refused = runs("edit", {"search": "a", "replace": "b"}, f"Your proposed edit has introduced new errors.\n{behind}")
    assert files(*made) == ["changed: src/fields.py"]
    assert files(*refused) == []


REVIEW = """Findings
- `plans` decides what is mirrored or deleted across branches ([internal/sync.go:1651](internal/sync.go#L1651)).
- I added a check to `src/cli.py` and removed the helper from `src/old.py`.
- `src/main.py` -- Added an import.
- I created `tests/test_cli.py` and deleted `legacy.py`."""


def test_what_a_report_says_of_things_in_a_file_is_not_said_of_the_file() -> None:
    told = files(*runs("Task", {"prompt": "Review it."}, REVIEW))
    assert told == [
        "created by another agent: tests/test_cli.py",
        "changed by another agent: src/{cli.py, old.py, main.py}",
        "deleted by another agent: legacy.py",
    ]


def test_files_by_names_that_stand_for_any_were_changed_by_nobody() -> None:
    found = "If `a.py` is renamed to `b.py`, a new file that is created at `a.py` gets its history. I updated src/lineage.py."
    told = files(*runs("Task", {"description": "mend", "prompt": "Mend the lineage."}, found))
    assert told == ["changed by another agent: src/lineage.py"]


def test_a_verb_of_one_language_is_none_of_another_one_that_is_written_alike() -> None:
    planned = "记录方式：以追加写入的方式保存日志（`src/harbour-log.yaml`），查询脚本以后再做。修改了 `src/lamp.yaml`。"
    told = files(*runs("Task", {"description": "plan", "prompt": "设计日志方案。"}, planned))
    assert told == ["changed by another agent: src/lamp.yaml"]
    assert files(
        *runs("Task", {"description": "log", "prompt": "ログを足す。"}, "`src/log.yaml` を追加しました。")
    ) == ["created by another agent: src/log.yaml"]


def test_what_a_reviewer_tells_of_files_is_not_its_work() -> None:
    report = "Before: `setup.go` was created at once. The branch created `strategy/common.go` and deleted `old.go`."
    for arguments in (
        {"description": "Security review", "prompt": "Look."},
        {"subagent_type": "Explore", "prompt": "x"},
    ):
        assert "Files" not in page([TASK, *runs("Task", arguments, report)])
    assert len(files(*runs("Task", {"description": "Move the setup", "prompt": "x"}, report))) == 2


# -- the task ------------------------------------------------------------------------------------------------------

BRANCH = user("Commit what is there, push the branch and answer the comments on the pull request.")


def now(*messages: Message, after: tuple[str, ...] = ()) -> list[str]:
    return section(page(messages, after=after), "Task now")


def test_what_was_done_before_the_newest_words_is_not_said_to_be_proposed() -> None:
    rebased = [*edit("src/a.py"), says("Done. Rebased three commits onto the parent and pushed.")]
    assert now(BRANCH, *rebased, user("more comments"))[-1] == (
        "(before that the agent had said) Done. Rebased three commits onto the parent and pushed."
    )
    asked = [*edit("src/a.py"), says("Rebased three commits. Shall I push them?")]
    for go in ("yes, and tell me then", "push them"):
        assert any(each.startswith("(the agent had proposed) Rebased") for each in now(BRANCH, *asked, user(go)))
    assert now(BRANCH, *edit("src/a.py"), says("Rebased three commits."), user("ok, weiter so"))[-2:] == [
        "(the agent had proposed) Rebased three commits.",
        "> ok, weiter so",
    ]


def test_a_long_report_of_work_that_is_not_taken_up_is_told_by_its_beginning() -> None:
    report = "Done. " + " ".join(f"Section {n} of the page has its own colours now." for n in range(30))
    told = now(BRANCH, *edit("a.html"), says(report), user("translate it as well"))
    assert told[-1].startswith("(before that the agent had said) Done. Section 0 of the page")
    assert "Section 29" not in told[-1]


def test_where_no_request_says_by_itself_what_is_wanted_the_longest_stands_before_the_newest() -> None:
    talk = [user("we need to fix some merge conflicts"), says("There are none now. Which branch do you mean?")]
    talk += [user("origin/main"), says("Resolved. Shall I run the checks before you commit?")]
    talk += [user("yes, then commit"), *edit("src/a.py")]
    assert now(*talk)[:4] == [
        "> we need to fix some merge conflicts",
        "> origin/main",
        "(the agent had proposed) Resolved. Shall I run the checks before you commit?",
        "> yes, then commit",
    ]


def test_a_question_that_was_answered_before_others_is_not_what_is_wanted() -> None:
    asides = [user("Do you know why the desk closes at five on all the Fridays?"), says("It is what the lease says.")]
    asides += [user("I had a long call today."), says("I see."), user("It rains here."), says("Here as well.")]
    task = section(
        page([TASK, *edit("rows.py"), says("The export writes gzip files."), *asides], after=("And the plan?",)),
        "Task now",
    )
    assert not any("why the desk closes" in line for line in task)


def test_who_agrees_to_the_answer_of_a_question_asks_for_nothing_older() -> None:
    covered = [user("do we have tests for this?"), says("Not for the hooks. Want me to add one that removes them?")]
    talk = [BRANCH, *edit("src/a.py"), says("Committed, pushed and answered."), *covered]
    proposed = "(the agent had proposed) Not for the hooks. Want me to add one that removes them?"
    told = ["> do we have tests for this?", proposed, "> yes please do"]
    assert now(*talk, user("yes please do"), *edit("src/b.py"))[:3] == told
    assert now(*talk, after=("yes please do",))[:1] == told[:1]
    told = now(*talk, user("and the docs?"))
    assert (told[0], told[-1]) == ("> and the docs?", f"(before that the user had asked) “{BRANCH.text}”")


def test_what_the_agent_had_said_is_not_the_users_once_the_page_comes_back_as_text() -> None:
    told = page([BRANCH, says("Rebased three commits. Shall I push them?"), user("yes, do that")])
    again = facts_of([Message("user", (Summary(f"[folded: 3 messages, recall by id]\n{told}", {}),))])
    assert [request.text for request in again.requests] == [f"{BRANCH.text}\nyes, do that"]
    assert not any("Rebased" in piece.text for piece in again.pieces if piece.by == "user")


def test_where_the_newest_request_stands_below_a_line_says_so() -> None:
    later = "Now write the release notes of version 4.2 for the people of the billing team."
    line = "The newest request stands in the messages below: “Now write the release notes of version 4.2 for the people of the billing team.”"
    open_still, answered = [TASK, *edit("src/a.py")], [TASK, *edit("src/a.py"), says("It writes gzip now.")]
    assert page(open_still, after=(later,)).splitlines()[0] == line
    before = f"{line}; the one before it, “{cut(TASK.text, 80)}”, is answered"
    assert page(answered, after=(later,)).splitlines()[0] == before
    assert not page(answered, after=("go on",)).startswith("Written")
    behind = facts_of([*answered, user(later), says("The release notes of version 4.2 are written: docs/4.2.md.")])
    there = replace(facts_of(answered), now=behind)
    assert compose(Brief(1_500, after=(later,)), there).splitlines()[0] == f"{line}; it is answered there"
    told = f"[folded: 3 messages, recall by id]\n{page(answered, after=(later,))}"
    again = facts_of([Message("user", (Summary(told, {}),))])
    assert not any("release notes" in piece.text for piece in again.pieces)


def test_a_rule_that_the_user_takes_back_behind_the_page_stands_no_more() -> None:
    begun = [
        user("Never push to main."),
        says("All right."),
        TASK,
        LONG,
        *edit("src/a.py"),
        says("It writes gzip now."),
    ]
    behind = [user("Answer in English please, you may push now."), *edit("src/b.py"), says("It is done.")]
    assert "- Never push to main." in page_before([*edit("src/b.py"), says("It is done.")], begun)
    assert "- Never push to main." not in page_before(behind, begun)


def test_a_task_that_is_done_behind_the_page_is_said_to_be() -> None:
    begun = facts_of([TASK, *edit("src/a.py")])
    done = replace(begun, now=facts_of([TASK, *edit("src/a.py"), says("The export writes gzip now.")]))
    under_way = replace(begun, now=facts_of([TASK, *edit("src/a.py"), *edit("src/b.py")]))
    line = "(answered at the end of the messages below)"
    assert section(compose(Brief(1_500), done), "Task now")[0] == line
    assert line not in compose(Brief(1_500), under_way)
    again = facts_of([Message("user", (Summary(f"[folded: 3 messages]\n{compose(Brief(1_500), done)}", {}),))])
    assert not any("answered at the end" in piece.text for piece in again.pieces)


def test_a_task_is_not_done_where_the_agent_says_last_what_it_does_and_why() -> None:
    goes_on = "I'm taking the exporter in one larger rewrite now. That avoids fighting its types line by line."
    begun = facts_of([TASK, *edit("src/a.py")])
    told = replace(begun, now=facts_of([TASK, *edit("src/a.py"), *edit("src/b.py"), says(goes_on)]))
    assert "answered at the end" not in compose(Brief(1_500), told)


def test_a_plan_that_is_named_is_the_one_that_was_proposed_though_talk_of_something_else_stands_between() -> None:
    plan = (
        "Here is all of it.\n<proposed_plan>\n# Gzip exporter\n\n- Stream each file\n- Keep the names\n</proposed_plan>"
    )
    said = [
        TASK,
        says(plan),
        user("Which model shall do it?"),
        says("The small one is enough for that."),
        user("Great, now implement the plan."),
    ]
    told = section(compose(Brief(1_500), facts_of([*said, *edit("src/a.py")])), "Task now")
    assert told[0] == "> Great, now implement the plan."
    assert told[1:] == ["(the agent had proposed) Gzip exporter:", "  - Stream each file", "  - Keep the names"]
    assert "proposed_plan" not in compose(Brief(1_500), facts_of([*said[:3], *edit("src/a.py")]))


def test_replies_that_could_not_be_read_are_no_open_error_once_calls_were_made_again() -> None:
    notice = user("No tool calls found in the response. Every response MUST include at least one tool call.")
    thrice = [TASK, *(m for n in range(3) for m in (says("I look."), notice))]
    error = "open error: `the last 3 replies` → No tool calls found in the response."
    assert error in compose(Brief(1_500), facts_of(thrice))
    assert error not in compose(Brief(1_500), facts_of([*thrice, *edit("src/a.py")]))


def test_requests_that_were_answered_are_no_task_of_the_newest_one() -> None:
    done = [BRANCH, *edit("src/a.py"), says("Committed, pushed and answered.")]
    asked = f"(before that the user had asked) “{BRANCH.text}”"
    told = page([*done, user("address the feedback"), *edit("src/b.py")])
    assert section(told, "Task now")[:2] == ["> address the feedback", asked]
    assert told.count("(the task now, above: “") == 1
    assert f"> {BRANCH.text}" in told.partition("## What happened")[2]
    below = page(done, after=("address the feedback",))
    assert "## Task now" not in below
    assert below.splitlines()[:3] == [
        "The newest request stands in the messages below: “address the feedback”; the one before it is answered",
        asked,
        "(before that the agent had said) Committed, pushed and answered.",
    ]
    again = facts_of([Message("user", (Summary(f"[folded: 3 messages, recall by id]\n{told}", {}),))])
    assert not any(piece.text.startswith("(before") for piece in again.pieces)


def test_a_report_that_the_task_holds_is_told_there_alone() -> None:
    found = says(
        "Confirmed: the report is a real bug of `rows.py`. The rows are read twice where the file is empty. "
        "My recommendation is to read them once, and to keep what was read."
    )
    told = page([BRANCH, *edit("src/a.py"), found, user("go ahead, fix it"), *edit("src/b.py")])
    assert "The rows are read twice" in told
    assert told.count("The rows are read twice where the file is empty.") == 1


def test_a_request_that_the_newest_words_take_up_stays_the_task() -> None:
    asked = [BRANCH, *edit("src/a.py"), says("Committed. Shall I push as well?")]
    for words in ("do the push", "yes"):
        told = now(*asked, user(words), *edit("src/b.py"))
        assert [line for line in told if line.startswith("> ")] == [f"> {BRANCH.text}", f"> {words}"]


def test_short_words_that_take_up_nothing_leave_the_request_that_was_done_before_them_over() -> None:
    opened = [BRANCH, *edit("src/a.py"), says("Pushed. If you want, I can open a pull request as well.")]
    told = now(*opened, user("can you fix linting"), *edit("src/b.py"))
    assert told[0] == "> can you fix linting"
    assert any(line.startswith("(before that the user had asked) “Commit what is there") for line in told)


def test_a_choice_of_what_was_reviewed_heads_the_task_and_what_was_done_before_is_none() -> None:
    side = [user("can we also set the right author on the commits of the mirror?"), *edit("src/a.py")]
    side += [says("The author comes from the global settings now. All tests pass.")]
    review = says("1. The lock is held too long.\n2. The name is wrong.\n\nStill open: a test of the lock.")
    told = now(*side, user("let's get back to the review please"), review, user("do 1 and 2"), *edit("src/b.py"))
    assert [line for line in told if line.startswith("> ")] == ["> do 1 and 2"]
    assert told[0] == "> do 1 and 2"
    assert told[1].startswith("(the agent had proposed) ")
    assert told[-1] == "(before that the user had asked) “let's get back to the review please”"


def test_words_that_only_said_to_go_on_are_no_task_once_newer_ones_choose() -> None:
    offer = says("Both are known problems. Shall I note them, or fix them now?")
    menu = says("Both are noted.\n\nLeft are the guard, the name and the test. Shall I do all of them, or some?")
    noted = [user("yeah, note both and go to the others"), *bash("gh pr comment 7 --body noted"), menu]
    told = now(BRANCH, *edit("src/a.py"), offer, *noted, user("all three"))
    assert told[0] == "> all three"
    assert told[1].startswith("(the agent had proposed) Both are noted.")
    assert not any(line.startswith("> yeah") for line in told)


def test_what_was_put_into_a_commit_is_told_as_that_where_nothing_says_how_it_was_changed() -> None:
    read = runs("read", {"path": "src/rows.py"}, "a = 1")
    swept = bash("perl -pi -e 's/a/b/' $(rg -l a src)")
    committed = bash("cd /srv/app && git add src/rows.py src/dates.py -A . && git commit -m 'b'", "[main 1a2b3c4] b")
    told = ["changed: src/a.py", "committed: src/{rows.py, dates.py}"]
    assert files(*edit("src/a.py"), *read, *swept, *committed) == told
    assert "created: src/new.py" in files(
        *runs("write", {"path": "src/new.py", "content": "x"}), *bash("git add src/new.py")
    )


def test_what_the_newest_words_came_behind_stands_below_where_the_agent_closed_a_turn_there() -> None:
    begun, menu = [BRANCH, *edit("src/a.py")], says("Two ways: 1. squash. 2. leave it as it is. Which one?")
    behind = [says("Squashed, and the tests pass."), user("push it and open a PR"), says("Pushed; the PR is open.")]
    told = page_before([*edit("src/b.py"), *behind], [*begun, LONG, menu, user("1"), *edit("src/c.py")])
    assert section(told, "Task now") == []
    assert told.startswith(
        "The newest request stands in the messages below: “push it and open a PR”; it is answered there"
    )
    for yes in ("go on", "yes please"):
        asks_on = [says("The first of the two is done. Shall I go on with the second?"), user(yes), *edit("src/d.py")]
        told = page_before(asks_on, [TASK, LONG, *edit("src/c.py")])
        assert section(told, "Task now")[0] == f"> {TASK.text}"


def test_short_words_behind_the_page_are_told_with_what_they_take_up_there() -> None:
    def first_line(said: str, words: str) -> str:
        behind = [user("Is the import covered as well?"), says(said), user(words), *edit("src/b.py")]
        return page_before(behind, [TASK, LONG, *edit("src/a.py"), says("It writes gzip now.")]).splitlines()[0]

    offer = "None of the tests reads an import so far. If you like, I add a test of the import next."
    told = first_line(offer, "do that")
    assert (
        told
        == f"The newest request stands in the messages below: “do that”, said to “{offer}”; the one before it is answered"
    )
    menu = (
        "What is there:\n1. a test of rows\n2. none of dates\n\nOptions:\n1. leave it\n2. add `test_dates`\nWhich one?"
    )
    assert "“2”, chosen: “2. add `test_dates`”" in first_line(menu, "2")
    assert "to “" not in first_line(offer, "add the test of the dates")
    assert "to “" not in first_line(offer, "/review")


@pytest.mark.parametrize("words", ["It is pushed. The build is still running.", "ビルドの完了を待っています。"])
def test_a_report_behind_the_page_that_waits_for_something_is_told_as_one_that_does(words: str) -> None:
    behind = [*edit("src/b.py"), says("It writes gzip now."), user("Push it and watch the build."), *bash("git push"), says(words)]  # fmt: skip
    told = page_before(behind, [TASK, LONG, *edit("src/a.py"), says("It is done.")]).splitlines()[0]
    assert told.endswith("; the agent waits there for what still runs")


def test_what_was_done_behind_the_page_before_short_words_there_is_no_task_now() -> None:
    work = [TASK, LONG, *edit("src/a.py")]
    closed = [*edit("src/b.py"), says("It writes gzip now."), user("Release version 2.1"), *edit("CHANGELOG.md")]
    assert section(page_before(closed, work), "Task now") == []
    told = page_before([*closed, says("2.1 is out. Just let me know!")], work).splitlines()[0]
    assert told == "The newest request stands in the messages below: “Release version 2.1”; it is answered there"
    asked = [*edit("src/b.py"), says("It writes gzip. How many files are kept?"), user("the last seven")]
    assert section(page_before(asked, work), "Task now")[0] == f"> {TASK.text}"


def test_a_short_order_behind_the_page_is_named_though_an_older_request_says_what_it_is_about() -> None:
    asked = user("Why does the nightly export of the invoices fail since Tuesday?")
    found = says("The share is full. Nothing else is wrong with it. Shall I make a pull request that empties it?")
    told = page_before([user("make a pr to fix"), *edit("src/a.py")], [asked, LONG, *bash("df", "100 %"), found])
    assert told.splitlines()[0].startswith("The newest request stands in the messages below: “make a pr to fix”")


def test_words_that_came_amid_the_work_on_what_was_said_yes_to_leave_that_the_task() -> None:
    offered = [TASK, LONG, says("Three places write the old format. Shall I go on and change them all?")]
    amid = [
        user("yes"),
        *edit("src/b.py"),
        user("The second place is not correct: the dates are written as they were read."),
    ]
    told = page_before([*amid, *edit("src/c.py")], offered)
    assert section(told, "Task now")[0] == f"> {TASK.text}"
    assert "the one before it" not in told


def test_a_request_that_was_interrupted_is_over_once_the_user_spoke_of_something_else_behind_a_report() -> None:
    aside = user("When was that line of the export written, and by whom?")
    at_work = [TASK, LONG, *edit("src/a.py")]
    answers = [aside, says("In May, by Ada."), user("Good. Now have a look at the import of the invoices, it is slow.")]
    assert section(page_before([aside, *edit("src/b.py")], at_work), "Task now")[0] == f"> {TASK.text}"
    assert section(page_before([*answers, *edit("src/b.py")], at_work), "Task now") == []


def test_a_request_that_was_answered_with_a_question_is_not_said_to_be_answered() -> None:
    later = user("Attach the document to the issue itself and not to the project, please.")
    back = says("The tool only knows projects. Shall I write it into the issue's description instead?")
    told = page_before([later, back], [TASK, LONG, *edit("src/a.py"), says("It writes gzip now.")])
    assert told.splitlines()[0].endswith(
        "and not to the project, please.”; the report there asks: “Shall I write it into the issue's description instead?”"
    )


def test_words_that_another_request_has_as_well_are_told_in_their_turn() -> None:
    talk = [user("yeah merge from main"), says("All is there already."), user("origin/main"), *edit("src/a.py")]
    talk += [says("Merged."), user("check origin/main again"), *edit("src/b.py")]
    assert "**2** > origin/main" in page(talk).splitlines()


def test_a_report_that_stands_over_the_page_is_told_there_alone() -> None:
    asked = user("Why does the check of the workflows fail on this branch?")
    found = says(
        "The pinned hash belongs to version 1.4.3 of the action, as its list of tags says. "
        "The comment behind it says version 1. So the check that compares the two of them is right to complain."
    )
    told = page([asked, *bash("cat ci.yml", "uses: cache@1579 # v1"), found], after=("make a pr to fix",))
    assert told.count("The comment behind it says version 1.") == 1


def test_a_long_request_that_the_task_tells_in_part_is_not_told_again_as_what_happened() -> None:
    plan = "\n".join(
        f"- Step {n} of the plan: **rows** of table {n} are read by `read_{n}`, see docs." for n in range(300)
    )
    told = page([user(f"Judge the plan below and answer with one word.\n{plan}"), *edit("src/a.py")])
    assert "Judge the plan" in told.partition("## What happened")[0]
    assert "read_" not in told.partition("## What happened")[2]


def test_what_was_pasted_behind_the_page_is_what_is_wanted_now() -> None:
    pasted = "Traceback (most recent call last):\n  File \"src/a.py\", line 4, in <module>\nKeyError: 'rows'"
    frames = "\n".join(f'  File "src/a.py", line {n}, in read_{n}' for n in range(9))
    pasted = f"{pasted}\nException in thread rows-1:\nTraceback (most recent call last):\n{frames}"
    told = page([BRANCH, *edit("src/a.py"), says("All three are done.")], after=tuple(user_words([user(pasted)])))
    assert section(told, "Task now") == []
    assert told.startswith("The newest request stands in the messages below: “(pasted) KeyError: 'rows'”")
    under_way = page([BRANCH, *edit("src/a.py")], after=tuple(user_words([user(pasted)])))
    assert section(under_way, "Task now")[0] == f"> {BRANCH.text}"


def test_who_says_what_comes_next_has_not_answered_yet() -> None:
    asked = [BRANCH, *edit("src/a.py")]
    done = says("Committed, and the branch is pushed. I answered the two comments as well.")
    assert answered(facts_of([*asked, done]))
    assert not answered(facts_of([*asked, says("The branch is pushed. Now I'm posting the answers to both comments.")]))


def test_a_file_that_the_user_named_is_told_before_others_that_were_only_read() -> None:
    looked = [m for n in range(60) for m in runs("read", {"path": f"src/deep/inside/of/module_{n:02}.py"}, "a = 1")]
    named = user("Review `src/rows.py` only, and tell me whether the sums add up; change nothing, please.")
    told = section(page([named, *runs("read", {"path": "src/rows.py"}, "a = 1"), *looked]), "Files")
    assert any("more" in line for line in told)
    assert any("src/rows.py" in line for line in told)


def test_what_is_written_in_a_folder_for_passing_use_is_no_change_of_the_work() -> None:
    tried = bash('work=$(mktemp -d)\ncd "$work"\ngit init -q\ncat > rows.toml <<END\na = 1\nEND\nrows check')
    assert "changed: src/a.py" in "\n".join(files(*edit("src/a.py"), *tried))
    assert not any("created" in line for line in files(*edit("src/a.py"), *tried))


# -- what runs -----------------------------------------------------------------------------------------------------

TESTS = runs("exec_command", {"cmd": "cargo test -p core"}, "Chunk ID: 1a\nProcess running with session ID 36373\nOutput:\n   Compiling log v0.4.33", id="x1")  # fmt: skip
POLLED = runs("write_stdin", {"session_id": 36373, "chars": ""}, "Process running with session ID 36373\nOutput:\n   Compiling time", id="x2")  # fmt: skip
RED = runs("write_stdin", {"session_id": 36373, "chars": ""}, "Process exited with code 101\nOutput:\ntest config::tests::loads ... FAILED\ntest result: FAILED. 136 passed; 31 failed", id="x3")  # fmt: skip
GREEN = runs("write_stdin", {"session_id": 36373, "chars": ""}, "Process exited with code 0\nOutput:\ntest result: ok. 167 passed; 0 failed", id="x4")  # fmt: skip
RUNS = "runs still when seen last: `cargo test -p core` (36373)"
SERVER = runs("Bash", {"command": "npm run dev", "run_in_background": True}, "Command running in background with ID: b5db730. Output is being written to: /tmp/b5db730.output", id="x5")  # fmt: skip
ENDED = user("<task-notification>\n<task-id>b5db730</task-id>\n<output-file>/tmp/b5db730.output</output-file>\n<status>completed</status>\n<summary>Background command completed (exit code 0)</summary>\n</task-notification>")  # fmt: skip
STOPPED = runs("TaskStop", {"task_id": "b5db730"}, "Successfully stopped task: b5db730 (npm run dev)", id="x6")
ASYNC = runs("Task", {"description": "Review it", "prompt": "Review."}, "Async agent launched successfully.\nagentId: ae1b1c5\nThe agent works in the background.", id="x7")  # fmt: skip
CELL = runs("exec", 'await tools.exec_command({cmd:"gh run watch 2928"})', "Script running with cell ID 45\nOutput:\n", id="x8")  # fmt: skip


@pytest.mark.parametrize(
    ("messages", "line"),
    [
        ([*TESTS, *POLLED], RUNS),
        ([*TESTS, *POLLED, *GREEN], ""),
        (SERVER, "runs still when seen last: `npm run dev` (b5db730)"),
        ([*SERVER, ENDED], ""),
        ([*SERVER, *STOPPED], ""),
        (ASYNC, "runs still when seen last: `Task description=Review it, prompt=Review.` (ae1b1c5)"),
        (CELL, "runs still when seen last: `gh run watch 2928` (45)"),
        ([*CELL, *runs("wait", {"cell_id": "45"}, "Script running with cell ID 45\nOutput:\n", id="x9")], "runs still when seen last: `gh run watch 2928` (45)"),
        ([*CELL, *runs("wait", {"cell_id": "45"}, "Script completed\nOutput:\nall checks passed", id="x9")], ""),
    ],
)  # fmt: skip
def test_what_was_not_seen_to_end_runs_still(messages: list[Message], line: str) -> None:
    def running(facts: Sequence[str]) -> str:
        return "".join(each for each in facts if each.startswith("runs still"))

    assert running(state(*messages)) == line
    half = page([TASK, *messages[:2]])
    folded = Message("user", (Summary(half, facts_of([TASK, *messages[:2]]).data()),))
    as_text = Message("user", (Summary(f"[folded: 3 messages, recall by id]\n{half}", {}),))
    for earlier in (folded, as_text):
        assert running(section(page([earlier, *messages[2:]]), "State")) == line


def test_a_program_has_the_name_by_which_it_was_told_last() -> None:
    took_over = runs("wait", {"cell_id": "45"}, "Script completed\nOutput:\n\nSESSION_ID=8954", id="x9")
    waits = runs(
        "exec",
        "const r = await tools.write_stdin({session_id:8954})",
        "Script running with cell ID 46\nOutput:\n",
        id="y1",
    )
    assert "runs still when seen last: `gh run watch 2928` (8954)" in state(*CELL, *took_over)
    assert "runs still when seen last: `gh run watch 2928` (46)" in state(*CELL, *took_over, *waits)
    ended = runs("wait", {"cell_id": "46"}, "Script completed\nOutput:\nall checks passed", id="y2")
    for at in (4, 6):
        work = [*CELL, *took_over, *waits, *ended]
        assert not any(settled(facts_of(work[:at]), facts_of(work[at:])).running.values())


def test_a_name_that_is_given_again_is_that_of_the_newer_program() -> None:
    took_over = runs("wait", {"cell_id": "45"}, "Script running with cell ID 46\nOutput:\n", id="x9")
    ended = runs("wait", {"cell_id": "46"}, "Script completed\nOutput:\nall checks passed", id="y1")
    anew = runs(
        "exec", 'await tools.exec_command({cmd:"npm run dev"})', "Script running with cell ID 46\nOutput:\n", id="y2"
    )
    stopped = runs("wait", {"cell_id": "46"}, "Script completed\nOutput:\nstopped", id="y3")
    assert "runs still when seen last: `npm run dev` (46)" in state(*CELL, *took_over, *ended, *anew)
    assert not any("runs still" in line for line in state(*CELL, *took_over, *ended, *anew, *stopped))


def test_a_program_that_ends_by_itself_is_over_though_nobody_asked_after_it() -> None:
    begun = bash("git commit -m 'Read the rows'", "Process running with session ID 36374")
    looks = [message for n in range(30) for message in bash(f"sed -n {n},40p src/rows.py", "x = 1")]
    assert any("git commit" in line for line in state(*begun))
    assert not any("git commit" in line for line in state(*begun, *looks))
    assert any("npm run dev" in line for line in state(*bash("npm run dev", "Process running with session ID 5"), *looks))  # fmt: skip
    assert not any("git commit" in line for line in section(page_before(looks, [TASK, LONG, *begun]), "State"))


def test_a_program_that_ran_on_ends_as_its_own_command() -> None:
    failed = state(*TESTS, *POLLED, *RED)
    assert [line for line in failed if line.startswith("open error")] == [
        "open error: `cargo test -p core` → test config::tests::loads ... FAILED"
    ]
    assert not any(line.startswith("open error") for line in state(*TESTS, *RED, *TESTS, *GREEN))
    assert "last run: `cargo test -p core` → ok; test result: ok. 167 passed; 0 failed" in state(*TESTS, *GREEN)
    assert not any(line.startswith("last run") for line in state(*TESTS, *POLLED))
    assert not any(line.startswith("last run") for line in state(*bash("bd list --open", "Showing 50 issues of 67")))


# -- errors --------------------------------------------------------------------------------------------------------


def errors(*messages: Message) -> list[str]:
    return [line for line in state(*messages) if line.startswith("open error")]


def failed(command: str, answer: str) -> list[Message]:
    return bash(command, f"{answer}\nexit code: 1", error=True)


TRIED = failed("/tmp/app-test aaaa", "Error: Invalid usage: unknown command aaaa")


def test_a_command_that_failed_is_open_until_the_agent_goes_on_unless_it_says_so() -> None:
    assert len(errors(*TRIED)) == 1
    assert len(errors(*TRIED, *bash("cat src/main.go", "package main"))) == 1
    assert errors(*TRIED, *bash("make dist", "wrote dist/app")) == []
    says_so = Message("assistant", (*says("The unknown command aaaa is still an invalid usage.").parts, *edit("a.go")[0].parts))  # fmt: skip
    assert len(errors(*TRIED, *bash("make dist", "wrote dist/app"), says_so, edit("a.go")[1])) == 1


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("rm -f out/*.txt && ls -la out/*.txt", "(eval):1: no matches found: out/*.txt"),
        ("cp a.toml /etc/app/", "cp: a.toml: No such file or directory"),
        ("git add .app/.gitignore", "fatal: pathspec '.app/.gitignore' did not match any files"),
    ],
)
def test_what_was_not_there_to_work_on_is_no_open_error(command: str, answer: str) -> None:
    assert errors(*failed(command, answer)) == []


def test_of_scripts_that_were_tried_the_newest_counts() -> None:
    first = failed("python test_fix.py", "AttributeError: no such field")
    second = failed("python test_fix_v2.py", "KeyError: 'rating'")
    assert errors(*first, *second) == ["open error: `python test_fix_v2.py` → KeyError: 'rating'"]


@pytest.mark.parametrize(
    ("command", "answer", "fault"),
    [
        ("mise run lint", "[lint] $ golangci-lint run ./...\ncmd/a.go:12:4: appendAssign: assign it back (gocritic)\n[lint] ERROR task failed", "cmd/a.go:12:4: appendAssign: assign it back (gocritic)"),
        ("go test ./core/", "# example.com/core\ncore/a_test.go:9:2: undefined: load\nFAIL example.com/core [build failed]", "core/a_test.go:9:2: undefined: load"),
        ("mise run lint", "[lint] ERROR task failed", "[lint] ERROR task failed"),
    ],
)  # fmt: skip
def test_an_error_says_what_is_wrong_where_the_output_does(command: str, answer: str, fault: str) -> None:
    assert errors(*failed(command, answer)) == [f"open error: `{command}` → {fault}"]


ROWS = "FAIL: test_rows expected 3, got 4\n1 failed"


def test_a_check_that_failed_behind_a_look_is_an_open_error() -> None:
    assert errors(*failed("git status --short && make test", ROWS)) == ["open error: `make test` → FAIL: test_rows expected 3, got 4"]  # fmt: skip


@pytest.mark.parametrize(
    "look",
    [
        "for f in tasks/*; do [ -f $f.md ] && cat $f.md; done",
        "echo '== main =='\ngit log --oneline | head -3\ngrep -rn 'test failed' src",
        "cd app && git -C ../core diff --stat; rg -n build Makefile",
        "grep -rn test src && rm -rf build",
    ],
)
def test_steps_that_only_look_or_clear_away_are_no_check_that_failed(look: str) -> None:
    assert errors(*failed(look, "error: 2 tests failed"), *bash("make dist", "wrote dist/app")) == []


@pytest.mark.parametrize(
    "report",
    ["Everything is green now: all tests pass and lint has 0 issues.", "Fixed the sum of the rows and pushed it."],
)
def test_an_error_is_over_once_a_report_closed_the_turn_and_does_not_say_it(report: str) -> None:
    red = failed("make test", ROWS)
    assert len(errors(*red)) == 1
    assert errors(*red, *edit("src/rows.py"), says(report)) == []


@pytest.mark.parametrize(
    "report",
    [
        "The sum is fixed.\n\nStill failing: test_rows, expected 3, got 4.",
        "The sum is fixed, but `test_rows` still fails on main and here.",
    ],
)
def test_an_error_that_a_report_says_is_open(report: str) -> None:
    assert len(errors(*failed("make test", ROWS), *edit("src/rows.py"), says(report))) == 1


def test_an_error_that_a_report_tells_as_cured_is_over() -> None:
    report = "`test_rows` failed since the header was counted (expected 3, got 4); that is fixed and all tests pass."
    assert errors(*failed("make test", ROWS), *edit("src/rows.py"), says(report)) == []


def test_what_could_not_be_run_is_over_once_the_same_was_tried_again_or_another_check_passed() -> None:
    guess = failed("cargo test rows --lib", "error: no library targets found in package `app`")
    assert errors(*guess, *bash("cargo test rows", "Process running with session ID 12")) == []
    assert errors(*guess, *bash("cargo test -p app rows::sum", "test result: ok. 3 passed; 0 failed")) == []
    assert errors(*guess, *bash("git commit -am 'Rows'", "[main 1a2b3c4] Rows")) == []
    assert len(errors(*guess, *bash("touch src/rows.rs"))) == 1
    red = failed("cargo test rows", "test rows::sum ... FAILED\ntest result: FAILED. 1 passed; 1 failed")
    assert len(errors(*red, *bash("cargo test cols", "test result: ok. 3 passed; 0 failed"))) == 1


def test_a_check_behind_other_programs_says_itself_what_is_wrong() -> None:
    shown = "".join(f"./conf.yaml:{n}: - G{n} # overflow is safe\n" for n in range(9)) + "x = 1\n" * 400
    panic = (
        "panic: failed to listen: operation not permitted\n\tserver.go:219 +0x28\nFAIL app/sync 0.7s\nok app/rows\nFAIL"
    )
    [told] = errors(*failed("grep -n G conf.yaml; go test ./...", shown + panic))
    assert told == "open error: `go test ./...` → panic: failed to listen: operation not permitted"
    [told] = errors(*failed("sed -n 1,9p a.go && go test ./...", f"func f() error {{ return err }}\n{shown}FAIL app/sync 0.7s\nok app/rows"))  # fmt: skip
    assert told.endswith("→ FAIL app/sync 0.7s")


@pytest.mark.parametrize(
    "answer",
    ["error: unexpected argument 'rows' found", "Error: unknown flag: --fast", "zsh:1: command not found: lint"],
)
def test_a_call_that_was_a_guess_is_no_open_error(answer: str) -> None:
    assert errors(*failed("make-lint rows", answer)) == []


def test_what_the_agent_says_of_an_error_before_it_goes_on_keeps_it_not_open() -> None:
    conflict = failed("git merge origin/main", "CONFLICT (content): Merge conflict in src/rows.py")
    looked = while_saying("The merge has a real conflict in `src/rows.py`, I resolve it.", "src/rows.py")
    assert len(errors(*conflict, *looked)) == 1
    assert errors(*conflict, *looked, *edit("src/rows.py")) == []


def test_an_error_is_over_once_the_messages_that_stay_report_without_it() -> None:
    work = [TASK, *edit("src/rows.py"), *failed("make test", ROWS), LONG]
    report = [*edit("src/rows.py"), says("All tests pass now, and lint is clean.")]
    assert not any("open error" in line for line in section(page_before(report, work), "State"))


def test_words_of_errors_are_none_where_the_client_marks_what_failed() -> None:
    shown = bash("for d in a b; do sed -n 1,9p $d/rows.py; python3 $d/rows.py; done", "b: ValueError: bad row\nerror: shown on purpose")  # fmt: skip
    assert len(errors(*shown)) == 1
    assert errors(*failed("ls gone", "No such file"), *shown) == []


def test_the_same_error_of_two_runs_is_one() -> None:
    answer = "core/a_test.go:9:2: undefined: load\nFAIL example.com/core [build failed]"
    runs_of_it = [*failed("go test ./core/ -run Load", answer), *failed("go test ./core/", answer)]
    assert errors(*runs_of_it) == ["open error: `go test ./core/` → core/a_test.go:9:2: undefined: load"]


def test_what_the_agent_says_of_an_error_is_what_it_says_is_wrong() -> None:
    after = says("Good! The first test passes now. The second one failed since the header is counted as a row.")
    going_on = [Message("assistant", (*after.parts, *edit("a.py")[0].parts)), edit("a.py")[1]]
    told = errors(*failed("pytest -q", "E   AssertionError: 3 rows, not 4\n1 failed in 0.2s"), *going_on)
    assert told[0].endswith("– the agent: The second one failed since the header is counted as a row.")


# -- the plan ------------------------------------------------------------------------------------------------------


def test_of_a_long_plan_the_first_steps_that_are_open_are_told() -> None:
    steps = [{"content": f"Step {n}: bring part_{n} of the importer to the new rows", "status": "completed" if n < 3 else "pending"} for n in range(20)]  # fmt: skip
    messages = [TASK, *runs("TodoWrite", {"todos": steps}, id="t1"), *edit("src/a.py")]
    told = section(page(messages, 900), "State")
    assert next(line for line in told if line.startswith("[ ]")).startswith("[ ] Step 3:")
    assert told[-1].endswith(" more steps of the plan")
    assert told[0].startswith("the last request is under way")
    shown = sum(1 for line in told if line.startswith("[ ]"))
    assert f"… and {17 - shown} more" in told[-1]
    whole = section(page(messages, 4_000), "State")
    assert [line.partition(":")[0] for line in whole][1:3] == ["done of the plan", "[ ] Step 3"]
    assert len(whole) == 19


# -- what was asked for --------------------------------------------------------------------------------------------

GIT = bash("git add -A && git commit -m 'Gzip'", "[gzip 1a2b3c4] Gzip")


@pytest.mark.parametrize(
    ("request_", "messages", "missing"),
    [
        ("ok fix it in a new branch/pr and reply to discussion 12", [*edit("a.py")], "pull request, reply"),
        ("commit, push then respond directly to pr comments please", [*edit("a.py")], "commit, push, reply"),
        ("commit, push then respond directly to pr comments please", [*GIT], "push, reply"),
        ("commit, push then respond directly to pr comments please", [*GIT, *bash("git push", "To b.git\n a -> b"), *bash('gh api repos/a/b/pulls/1/comments/2/replies -f body="Done."', "{}")], ""),
        ("make a pr and run the tests for it", [*bash("gh pr create --fill", "https://github.com/a/b/pull/12")], "test run"),
        ("ok fix it in a new branch/pr and reply to discussion 12", [Message("assistant", (*says("I opened the pull request and replied.").parts, *edit("a.py")[0].parts))], ""),
        ("Fix the rows of the export, but don't commit anything yet.", [*edit("a.py")], ""),
        ("Look why the last commit fails in CI and what the push hook does.", [*edit("a.py")], ""),
        ("The rows of the export are late. Will send a PR that adds the missing lock of the mirror.", [*edit("a.py")], ""),
        ("did you commit and push what we have?", [*bash("git status", "On branch a")], ""),
        ("After you push, tell me what `git commit --amend` would do here.", [*edit("a.py")], ""),
        ("this is PR https://github.com/a/b/pull/104 Let's review this together", [*bash("ls", "a")], ""),
        ("Commit it. " + "The command should look at each commit and push it to the mirror. " * 9, [*edit("a.py")], ""),
    ],
)  # fmt: skip
def test_what_is_asked_for_by_name_and_was_not_seen_is_said(
    request_: str, messages: list[Message], missing: str
) -> None:
    told = now(user(request_), *messages)
    lines = [line for line in told if line.startswith("(asked for")]
    assert lines == ([f"(asked for, and not seen yet: {missing})"] if missing else [])
    assert not any("asked for" in line for line in now(user(request_), *messages, says("Done.")))
    text = page([user(request_), *messages])
    again = facts_of([Message("user", (Summary(f"[folded: 3 messages, recall by id]\n{text}", {}),))])
    assert not any("asked for" in piece.text for piece in again.pieces)


# -- what was cut before -------------------------------------------------------------------------------------------


def test_a_page_tells_of_outputs_that_an_earlier_fold_cut_down() -> None:
    archive = [f"{n:04x} a line of the archive" for n in range(400)]
    archive[200] = "status: pending, total: 347.50, gift card GC-55021"
    looked = runs("lookup", {"order": "W8277957"}, "\n".join(archive), id="l1")
    talk = [user("Which gift card was used for the order W8277957? Look it up."), *looked, says("It was GC-55021.")]
    compactor = Compactor(window=1_000_000)
    cut_down = compactor.fold_to(talk, 400)
    assert "347.50" not in "".join(text_of(result) for message in cut_down for result in message.results)
    assert len(cut_down) == len(talk)
    talk += [m for n in range(40) for m in (user(f"And what is in part {n} of it?"), says(f"Part {n} is a record."))]
    assert "total: 347.50, gift card GC-55021" in compactor.fold_to(talk, 900)[0].text


def test_what_was_put_in_the_place_of_a_message_for_good_is_not_told_again() -> None:
    def hide(view: View, excess: int) -> Iterator[Edit]:
        for entry in view.entries:
            if "sk-0815" in entry.message.text:
                yield Edit((entry.id,), (says("The key of the mirror is hidden."),), by="hide")

    talk = [user("What is the key of the mirror? Tell me."), says("The key of the mirror is sk-0815. " * 9)]
    talk += [m for n in range(40) for m in (user(f"And what is in part {n} of it?"), says(f"Part {n} is a record."))]
    policy = Policy(
        "hiding", (Layer("hide", 0.1, 0.05, (hide,)), Layer("full", 0.9, 0.5, hard_strategies(500), hard=True))
    )
    compactor = Compactor(window=4_000, policy=policy)
    compactor.fit(talk)
    assert [edit.by for fold in compactor.folds for edit in fold.edits] == ["hide"]
    page = compactor.fold_to(talk, 700)[0].text
    assert "The key of the mirror is hidden." in page
    assert "sk-0815" not in page


# -- what the words around a task order ----------------------------------------------------------------------------

TEMPLATE = """<pr_description>
Consider the following PR description:
The rows of the export are counted twice where a mirror is slow.
</pr_description>

<instructions>
# Task Instructions
You're a software engineer who works by commands.
## Important Boundaries
- DO NOT MODIFY: Tests, configuration files (pyproject.toml, setup.cfg, etc.)
## Submission
You MUST use this EXACT command to submit:

```bash
echo DONE && cat patch.txt
```

Never change these without a reason.
Never scroll through a whole file. Instead, use the goto command.
The tests are done. This means you DON'T have to modify the tests in any way!
When you're satisfied with all of the changes you've made, simply run the submit command.
</instructions>"""


def test_what_a_template_orders_of_the_task_stands_on_the_page() -> None:
    text = page([user(TEMPLATE), *edit("src/rows.py"), says("The mirror is slow, so its rows come again.")])
    assert section(text, "Rules that stand") == [
        "(the instructions) DO NOT MODIFY: Tests, configuration files (pyproject.toml, setup.cfg, etc.)",
        "(the instructions) You MUST use this EXACT command to submit: echo DONE && cat patch.txt",
        "(the instructions) Never scroll through a whole file. Instead, use the goto command.",
        "(the instructions) This means you DON'T have to modify the tests in any way!",
        "(the instructions) When you're satisfied with all of the changes you've made, simply run the submit command.",
    ]
    assert section(text, "Task now") == ["> The rows of the export are counted twice where a mirror is slow."]


def test_where_not_all_rules_have_room_no_item_is_told_without_the_no_over_it() -> None:
    forbidden = [
        f"write down the number of mirror_{n} in the log of the desk, in whatever form or place" for n in range(40)
    ]
    said = user("Never:\n" + "\n".join(f"- {each}" for each in forbidden[:8]))
    more = [user("Never:\n" + "\n".join(f"- {each}" for each in forbidden[n : n + 8])) for n in (8, 16, 24, 32)]
    talk = [each for order in (said, *more) for each in (order, says("I will not."))]
    told = section(page([*talk, TASK, *edit("src/rows.py")], 1_200), "Rules that stand")
    assert 0 < len(told) < len(forbidden)
    assert all(line.startswith("Never: write down") for line in told)


# -- what the agent meant to do, and what others found -------------------------------------------------------------


HANDED_IN = """<pr_description>
The rows of the export are counted twice where a mirror is slow.
</pr_description>

<instructions>
# How to work
Always look at the rows first. Never ask for a password.

## Delivery

Once you are done with the rows, you MUST bring them as one sheet.
Take these steps in this order:

Step 1: Write the sheet
Run `rows --all src/a src/b > sheet.txt` and list only what you changed.
Keep the sheet out of the archive.

<note>
None of these belongs into the sheet:

- rows of a trial
- the helpers
</note>

Step 2: Bring it (nothing else)
Type exactly:

```bash
echo ROWS && cat sheet.txt
```

- Both are commands of their own.

## Where you are
- You have a shell
</instructions>"""


def test_how_a_template_wants_the_work_handed_in_is_told_whole_in_its_order_and_first() -> None:
    text = page([user(HANDED_IN), *edit("src/rows.py"), says("The mirror is slow, so its rows come again.")])
    assert section(text, "Rules that stand") == [
        "(the instructions) Once you are done with the rows, you MUST bring them as one sheet. Take these steps in this order:",
        "(the instructions) Step 1: Write the sheet: Run `rows --all src/a src/b > sheet.txt` and list only what you changed. Keep the sheet out of the archive.",
        "(the instructions) None of these belongs into the sheet: rows of a trial; the helpers",
        "(the instructions) Step 2: Bring it (nothing else): Type exactly: echo ROWS && cat sheet.txt",
        "(the instructions) Both are commands of their own.",
        "(the instructions) Always look at the rows first.",
        "(the instructions) Never ask for a password.",
    ]


def test_what_a_command_ordered_is_over_once_it_was_carried_out_and_more_is_asked_for() -> None:
    body = "# Tidy\n\nLook at the rows. Never rename a column of the export. You must keep the old format."
    command = Message("user", (Text(body, by="command"),))
    called = user("<command-message>tidy</command-message>\n<command-name>/tidy</command-name>")
    work = [TASK, says("It is done."), called, command, *edit("rows.py"), says("The rows are tidy now.")]
    rules = section(page(work), "Rules that stand")
    assert any("Never rename a column" in line for line in rules)
    asked = "Now write the letter to the people of the depot, with the dates of the next month in it."
    assert not any("rename" in line for line in section(page(work, after=(asked,)), "Rules that stand"))


def test_what_a_command_ordered_is_over_where_a_few_words_ask_for_more_once_its_report_came() -> None:
    body = "# Tidy\n\nLook at the rows. Never rename a column of the export. You must keep the old format."
    called = user("<command-message>tidy</command-message>\n<command-name>/tidy</command-name>")
    begun = [TASK, LONG, called, Message("user", (Text(body, by="command"),)), *edit("rows.py")]
    asking = [says("Shall I look at the old rows as well?"), user("the new ones only"), *edit("rows.py", "e2")]
    ended = [says("The rows are tidy now."), user("push and open the draft"), *bash("git push")]
    assert any("Never rename" in line for line in section(page_before(asking, begun), "Rules that stand"))
    assert not any("rename" in line for line in section(page_before(ended, begun), "Rules that stand"))
    assert not any("rename" in line for line in section(page([*begun, *ended]), "Rules that stand"))
    again = [says("The rows are tidy now."), user("tidy the new rows as well"), *edit("rows.py", "e3")]
    assert any("Never rename" in line for line in section(page_before(again, begun), "Rules that stand"))


def test_steps_that_the_agent_said_it_would_take_are_told_while_the_request_is_under_way() -> None:
    plan = "I'll parse the state, run the focused tests and the linter, then open a pull request and answer there."
    line = f"what the agent said it would do: {plan}"
    assert line in state(says(plan), *edit("src/state.py"))
    assert line not in state(says(plan), *edit("src/state.py"), says("All of it is done."))
    assert not any("would do" in each for each in state(says("I'll read the file."), *edit("src/state.py")))
    since = [message for n in range(12) for message in edit(f"src/part_{n}.py", f"s{n}")]
    assert line not in state(says(plan), *since)


def test_an_open_step_says_what_it_holds() -> None:
    step = {"subject": "Clean up the commands", "description": "Reuse addSourceAuth, add parseMappings."}
    made = runs("TaskCreate", step, "Task #4 created successfully: Clean up the commands", id="t1")
    begun = runs("TaskUpdate", {"taskId": "4", "status": "in_progress"}, "Updated task #4 status", id="t2")
    told = "[ ] Clean up the commands: Reuse addSourceAuth, add parseMappings. (in progress)"
    assert told in state(*made, *begun)


def test_an_error_that_the_work_went_past_is_open_only_where_a_report_says_it() -> None:
    passed = [*bash("ssh desk free -m", "0 [main] bash (33480) child_copy: cygheap read copy failed", error=True), *bash("ssh desk uptime > load.txt", "up 3 days")]  # fmt: skip
    listed = "Both parts of the desk are checked.\n\nStill to do:\n- turn the swap of the desk on"
    assert not any("open error" in each for each in state(*edit("a.py"), *passed, says(listed)))
    repeated = f"{listed}\n- find out why bash says child_copy: cygheap read copy failed"
    assert any("open error" in each for each in state(*edit("a.py"), *passed, says(repeated)))


def test_a_check_that_another_shell_is_handed_is_a_check() -> None:
    red, green = "1 failed, 4 passed in 0.2s", "5 passed in 0.2s"
    tried = bash('bash -lc "cd app && pytest -q"', red, error=True)
    assert any("open error" in each for each in state(*edit("src/a.py"), *tried))
    assert not any("open error" in each for each in state(*edit("src/a.py"), *tried, *bash("pytest -q", green)))


def test_a_few_lines_of_code_that_failed_are_no_open_error() -> None:
    failed = 'Traceback (most recent call last):\n  File "<string>", line 1\nTypeError: expected str, not NoneType'
    tried = bash('python -c "import os; os.path.join(None)"', failed, error=True)
    assert not any("open error" in each for each in state(*edit("src/a.py"), *tried))
    assert any("open error" in each for each in state(*edit("src/a.py"), *bash("make rows", failed, error=True)))


def test_of_another_agents_report_the_items_are_told_and_not_the_clients_notice() -> None:
    filler = "\n\n".join(f"Paragraph {n} says what a reader of the whole tree knows already." for n in range(12))
    items = "\n".join(f"- `normalize_{n}` in `src/auth_{n}.py` is never called." for n in range(3))
    notice = (
        "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n<note>A task-notification fires each "
        f"time.</note>\n<result>{filler}\n\nFindings of the review:\n{items}\n\n{filler}</result>\n</task-notification>"
    )
    started = runs("Agent", {"description": "Map it", "prompt": "Look."}, "Async agent launched successfully.\nagentId: a1 (internal ID - do not mention to user.)\nThe agent is working in the background.")  # fmt: skip
    text = page([TASK, *started, user(notice), says("I have the findings.")], 2_000)
    assert "`normalize_1` in `src/auth_1.py` is never called" in text
    assert "internal ID" not in text
    assert "fires each time" not in text


def test_what_an_agent_that_was_to_look_names_is_not_changed() -> None:
    started = runs("Agent", {"description": "Explore the CI of cli", "prompt": "Look."}, "Async agent launched successfully.\nagentId: a7 (internal ID)")  # fmt: skip
    report = "Here is the setup. The workflow was changed in `.github/workflows/ci.yml`, and `errors.New` was replaced in src/a.go."
    notice = f"<task-notification>\n<task-id>a7</task-id>\n<status>completed</status>\n<result>{report}</result>\n</task-notification>"
    assert files(*started, user(notice)) == []


# -- what the messages behind a page settled -----------------------------------------------------------------------


def page_before(behind: Sequence[Message], messages: Sequence[Message]) -> str:
    """The page of messages that are folded while others stay behind it."""

    def all_before(view: View, excess: int) -> Iterator[Edit]:
        yield Edit(tuple(entry.id for entry in view.entries[: -len(behind)]), Brief(1_500), by="all before")

    policy = Policy("all before", (Layer("all", 0.01, 0.001, (all_before,)),))
    sent = Compactor(window=10_000, policy=policy).fit([*messages, *behind])
    assert list(sent[-len(behind) :]) == list(behind)
    return next(message.summary.text for message in sent if message.summary)


LONG = says("The rows are read in one go. " * 90)


def test_what_was_settled_behind_the_page_is_not_told_as_open() -> None:
    plan = runs("TaskCreate", {"subject": "Read the rows in parts"}, "Task #4 created successfully", id="t1")
    red = bash("make test", "FAIL: test_rows expected 3, got 4\nmake: *** [test] Error 1", error=True)
    work = [TASK, *plan, *edit("src/rows.py"), LONG, user("Run the tests, please."), *red]
    done = runs("TaskUpdate", {"taskId": "4", "status": "completed"}, "Updated task #4 status", id="t2")
    green = bash("make test", "12 passed in 0.3s")
    open_still = section(page_before(while_saying("I look into it.", "src/rows.py"), work), "State")
    assert any("open error" in line for line in open_still)
    assert "[ ] Read the rows in parts" in open_still
    settled = section(page_before([*green, *done, says("It is done.")], work), "State")
    assert not any("open error" in line or line.startswith("[ ] ") for line in settled)


def while_saying(words: str, path: str) -> list[Message]:
    """A look at a file beside which the agent says something."""
    call, answer = bash(f"cat {path}", "x = 1")
    return [Message("assistant", (Text(words), *call.parts)), answer]


def test_an_alarm_that_was_false_behind_the_page_is_not_told() -> None:
    alarm = "The build failed: the type RowReader is missing in src/rows.py."
    work = [TASK, *edit("src/rows.py"), LONG, user("Build it, please."), *while_saying(alarm, "src/rows.py")]
    true = while_saying("RowReader is written in src/cols.py now.", "src/cols.py")
    false = while_saying("The build failure was just a stale diagnostic.", "src/cols.py")
    assert alarm in page_before(true, work)
    assert alarm not in page_before(false, work)


COMMIT = bash("git commit -am x && git status", "[main 1a2b3c4] x\nnothing to commit, working tree clean")


def test_the_state_is_as_the_messages_that_stay_leave_it() -> None:
    green = bash("make test", "12 passed in 0.3s")
    work = [TASK, *edit("src/rows.py"), *write("try.py"), *green, *COMMIT, LONG]
    told = page_before([user("Go on.")], work)
    assert section(told, "State") == [
        "As the messages below leave it:",
        "last run: `make test` → ok; 12 passed in 0.3s",
        "git: on branch main; last commit 1a2b3c4 “x”; nothing left to commit",
    ]
    assert section(told, "Files")[:2] == ["created: try.py", "changed: src/rows.py"]
    told = page_before([*bash("rm try.py"), *edit("src/cols.py")], work)
    assert section(told, "State")[-2:] == [
        "changed since the last run of `make test`: src/cols.py",
        "git: on branch main; last commit 1a2b3c4 “x”; changed since: src/cols.py",
    ]
    assert section(told, "Files")[:2] == ["changed: src/rows.py", "changed below: src/cols.py"]
    assert "deleted below: src/rows.py" in section(page_before(bash("rm src/rows.py"), work), "Files")
    moved = section(page_before(bash("mv src/rows.py src/lines.py"), work), "Files")
    assert "renamed below: src/rows.py → src/lines.py" in moved


def test_an_open_point_is_done_once_what_it_names_in_code_was_written_and_reported() -> None:
    report = says("The rows are there.\n\nNext steps:\n1. Wrap the page in `RowProvider`\n2. Tell the auditors")
    asked = [TASK, *edit("src/rows.tsx"), report, user("Go on with the first.")]
    wrapped, other = (
        runs("edit", {"path": "src/main.tsx", "oldText": "render(App)", "newText": f"render({name}(App))"})
        for name in ("RowProvider", "RowReader")
    )
    reported = says("All of it is gzipped.")
    assert [line for line in state(*asked, *wrapped, reported) if line[:2].isdigit() or "Next" in line] == [
        "Next steps: 2. Tell the auditors"
    ]
    assert any("RowProvider" in line for line in state(*asked, *other, reported))


def test_a_report_of_the_messages_that_stay_may_name_next_steps() -> None:
    work = [TASK, *edit("src/rows.py"), LONG]
    assert not any(
        "next step" in line
        for line in section(
            page_before([says("The rows are written.\n\n### Next Steps\n1. Run the migration again.")], work), "State"
        )
    )
    assert any(
        "names no next step" in line for line in section(page_before([says("The rows are written.")], work), "State")
    )


def test_a_commit_of_the_messages_that_stay_is_told_as_theirs() -> None:
    told = page_before([user("Commit it."), *COMMIT], [TASK, *edit("src/rows.py"), LONG])
    line = "git: on branch main; last commit 1a2b3c4 “x”; nothing left to commit"
    assert section(told, "State") == ["As the messages below leave it:", line]
    [again] = facts_of([Message("user", (Summary(f"[folded: 9 messages, recall by id]\n{told}", {}),))]).repositories
    assert (again.branch, again.commit) == ("main", "1a2b3c4 “x”")


def test_what_the_messages_that_stay_tell_is_not_told_in_the_state() -> None:
    green = bash("make test", "12 passed in 0.3s")
    plan = runs("TodoWrite", {"todos": [{"content": "Read the rows in parts", "status": "pending"}]}, id="t1")
    work = [TASK, *edit("src/rows.py"), LONG]
    assert not any("last run" in line for line in section(page_before(green, work), "State"))
    assert not any("[ ]" in line for line in section(page_before(plan, work), "State"))


def test_what_the_agent_said_last_is_not_told_where_it_says_more_in_the_messages_that_stay() -> None:
    meant = "I'll parse rows.csv, run the focused tests and the linter, then open a pull request and answer there."
    work = [TASK, *bash("cat rows.csv", "4711, 12\n" * 900), *while_saying(meant, "a.py")]
    kept = section(page_before(bash("cat b.py", "y"), work), "State")
    assert f"what the agent said it would do: {meant}" in kept
    assert section(page_before(while_saying("The parser is fine.", "b.py"), work), "State")[1:] == [UNCHANGED]


def test_an_offer_is_not_open_once_the_user_spoke() -> None:
    left = "Two rows still need a date."
    asked = [TASK, *edit("docs/memo.md"), says(f"The memo is written.\n\n{left} If you want, I can add it next.")]
    assert f"{left} If you want, I can add it next." in section(page(asked), "State")
    text = page([*asked, user("no, commit it"), *edit("a.md")])
    assert left in text
    assert not any("If you want" in line for line in section(text, "State"))


def test_what_was_the_users_to_do_is_not_open_once_the_user_spoke() -> None:
    left = "You need to start the server of the desk first, then we can go on."
    asked = [TASK, *edit("rows.py"), says(f"The rows are read again.\n\nThe server is off. {left}")]
    assert left in section(page(asked), "State")
    later = [*asked, user("Write the export of the halls as well, with a table for each of them."), *edit("halls.py")]
    assert not any("server" in line for line in section(page(later), "State"))


@pytest.mark.parametrize(
    "line", ["Open http://localhost:5177 in your browser to see it.", "Open the page of the rows: it has all of them."]
)
def test_what_is_to_be_opened_is_not_left_open(line: str) -> None:
    assert line not in state(*edit("rows.py"), says(f"The rows are read again, and all the tests pass.\n\n{line}"))


def test_a_question_that_is_listed_as_open_waits_while_the_user_speaks_of_other_things() -> None:
    record, build = "Record the naming of the seams in the notes?", "Implement it by the plan?"
    asked = [
        TASK,
        *edit("plan.md"),
        says(f"The plan has the new names.\n\nStill pending from earlier:\n1. {record}\n2. {build}"),
    ]
    other = [
        *asked,
        user("And could the reader of the rows stand in a module of its own, beside the writer?"),
        *edit("rows.py"),
    ]
    told = section(page(other), "State")
    assert [each in line for each, line in zip((record, build), told[-2:], strict=True)] == [True, True]
    spoken = [
        *asked,
        user("Yes, please record the naming in the notes, with why it is so; the rest can wait."),
        *edit("notes.md"),
    ]
    assert not any(record in line for line in section(page(spoken), "State"))


def test_what_a_report_left_open_is_open_until_it_is_reported_on() -> None:
    left = "Open: enter the sponsor's block"
    asked = [TASK, *edit("rows.py"), says(f"The rows are read again, and all the tests pass.\n\n{left}")]
    ordered = [*asked, user("Enter the sponsor's block into the table of the halls, by the list that she sent us.")]
    assert left in section(page([*ordered, *edit("blocks.py")]), "State")
    assert left not in section(page([*ordered, says("I did enter the sponsor's block.")]), "State")


LISTED = "The target is kept now.\n\n## Still open (your call)\n- **The thread:** it waits for the reviewer.\n- **Gaps in the tests:** merge tags and light tags have none."
THREAD = "Still open (your call): The thread: it waits for the reviewer."
GAPS = "Gaps in the tests: merge tags and light tags have none."


@pytest.mark.parametrize(
    "label",
    [
        "Deferred",
        "Out of scope",
        "Zurückgestellt",
        "Fuera de alcance",
        "Di luar cakupan",
        "후속 작업",
        "先送り",
        "暂缓",
    ],
)
def test_what_a_report_puts_off_is_open(label: str) -> None:
    put_off = f"The rows are read again, and all the tests pass.\n\n## {label}\n- the seams of the halls"
    assert section(page([TASK, *edit("rows.py"), says(put_off)]), "State")[-1] == f"{label}: the seams of the halls"


def test_all_that_a_report_lists_as_open_is_told_behind_a_later_report() -> None:
    asked = [TASK, *edit("a.py"), says(LISTED), user("What does the flag do?")]
    spoken = [*asked, says("It names the branches that are read."), user("Rename it, please."), *edit("b.py")]
    assert section(page(spoken), "State")[-2:] == [THREAD, GAPS]


@pytest.mark.parametrize(
    ("order", "left"),
    [
        ("Close the gaps in the tests: merge tags and light tags.", [THREAD]),
        ("Write to the reviewer that the thread waits.", [f"Still open (your call): {GAPS}"]),
    ],
)
def test_what_a_report_lists_as_open_is_over_once_the_user_took_it_up_and_it_was_reported_on(
    order: str, left: list[str]
) -> None:
    work = [TASK, LONG, user("Now the target."), *edit("a.py"), says(LISTED)]
    assert section(page_before([user(order), *edit("t.py")], work), "State")[-2:] == [THREAD, GAPS]
    assert section(page_before([user(order), *edit("t.py"), says("It is done.")], work), "State")[1:] == left


NUMBERED = "The old ones are closed.\n\nStill open (3): #12 (dates), #9 (the export), #7 (a menu)."


@pytest.mark.parametrize(
    ("report", "stands"),
    [
        ("The gap between two tables is entered as #13.", False),
        ("The wording of #9 is clearer now.", True),
        ("The wording is clearer now.\n\nStill open: the export of the menu for the halls.", False),
    ],
)
def test_a_list_of_what_is_open_stands_until_a_later_report_adds_to_it_or_lists_some_anew(
    report: str, stands: bool
) -> None:
    listed = [
        TASK,
        *edit("a.py"),
        says(NUMBERED),
        user("There is one more, about the gap."),
        *edit("b.py"),
        says(report),
    ]
    told = section(page([*listed, user("Mend that one."), *edit("c.py")]), "State")
    assert any("(3): #12 (dates)" in line for line in told) is stands


def test_a_later_list_of_other_things_leaves_an_older_one_open() -> None:
    first = "The seats are held now.\n\nStill open: a second look at the holds, by somebody who knows the queue."
    then = "The premiere is noted.\n\nLeft to do: ask the sponsor for the colour of his block."
    listed = [TASK, *edit("a.py"), says(first), user("Note the premiere."), *edit("b.py"), says(then)]
    told = section(page([*listed, user("Thanks. Now the programme."), *edit("c.py")]), "State")
    assert any("a second look at the holds" in line for line in told)


def test_a_step_without_words_is_none() -> None:
    begun = runs("TaskUpdate", {"taskId": "8", "status": "in_progress"}, "Updated task #8 status", id="t2")
    assert not any(line.startswith("[ ]") for line in state(*edit("a.py"), *begun))


def test_a_plan_that_the_task_tells_is_not_told_again_where_it_was_proposed() -> None:
    steps = [f"Let the {name} of the exporter write gzip by itself" for name in ("reader", "writer", "clock", "queue", "lock", "log", "counter", "shelf", "index")]  # fmt: skip
    plan = "I change nothing yet.\n<proposed_plan>\n# Gzip exporter\n\n" + "\n".join(f"- {each}" for each in steps)
    said = [TASK, says(f"{plan}\n</proposed_plan>"), user("Which model shall do it?"), says("The small one is enough.")]
    told = compose(Brief(2_500), facts_of([*said, user("Great, now implement the plan."), *edit("src/a.py")]))
    assert [told.count(each) for each in steps] == [1] * len(steps)
    assert "I change nothing yet." in told


def test_a_plan_that_nobody_touched_for_several_requests_is_over_though_a_report_named_its_last_step() -> None:
    steps = [{"content": "Report the count of the rows", "status": "pending"}]
    work = [TASK, *runs("TodoWrite", {"todos": steps}, id="t1"), *edit("src/a.py"), says("The count of the rows: 12. I report it.")]  # fmt: skip
    assert "[ ] Report the count of the rows" in state(*work[1:])
    others = ("Write the dates of the rows as well", "Name the columns of the dates", "Sort the columns by name", "Drop the oldest")  # fmt: skip
    since = [m for ask in others for m in (user(ask), *edit("src/b.py"), says("That is done."))]
    assert not any("[ ]" in line for line in state(*work[1:], *since))


def test_boxes_in_a_text_that_was_drafted_are_no_plan() -> None:
    draft = "Here is the description:\n\n```markdown\n## Test plan\n- [x] unit tests\n- [ ] gated tests\n```"
    assert not any(line.startswith("[ ]") for line in state(*edit("a.py"), says(draft)))


def test_what_goes_on_behind_an_open_step_is_open_as_well() -> None:
    left = ["Still to do: the interval in driver.ts", "then the changelog for the release"]
    told = state(*edit("a.py"), says("The depots are read from the table now.\n\n" + "\n".join(left)))
    assert told[-2:] == left


def test_a_report_that_a_reminder_follows_is_still_the_report() -> None:
    left = "Open: the date of the delivery"
    report = says(f"Ordered: 483 euros, which are taken from the account on the first of July.\n\n{left}")
    reminder = user("<system-reminder>Name what is open at the end.</system-reminder>")
    assert left in state(*edit("order.md"), report, reminder, says("Understood."))


@pytest.mark.parametrize(
    "begun",
    [
        "Compiling mise\nSESSION_ID=8954",
        'Script completed\nOutput:\n\n{"chunk_id":"d9c960","wall_time_seconds":1.0,"session_id":8954,"output":""}',
    ],
)
def test_a_program_that_is_asked_for_again_and_again_is_told_by_its_command_and_its_end(begun: str) -> None:
    start = runs("exec", 'await tools.exec_command({cmd:"mise run test:e2e lock"})', begun, id="x1")
    poll = 'const r = await tools.write_stdin({session_id:8954,chars:""}); text(r.output)'
    polls = [m for n, out in enumerate(("", "DEBUG: one", "[test:e2e] ERROR task failed")) for m in runs("exec", poll, f"Script completed\nOutput:\n{out}", id=f"p{n}")]  # fmt: skip
    text = page([TASK, *start, *polls, says("The lock test failed at its end, I look into it.")], 2_000)
    assert "write_stdin" not in text
    assert "SESSION_ID" not in text
    assert "chunk_id" not in text
    assert "chunk_id" not in text
    assert "`mise run test:e2e lock` → failed; [test:e2e] ERROR task failed" in text


def test_a_check_that_failed_is_no_news_once_a_wider_one_passed() -> None:
    part = bash("python3 -m unittest tests.test_rows", "FAILED (failures=1)", error=True)
    whole = bash("python3 -m unittest", "Ran 12 tests in 0.3s\n\nOK")
    assert any("tests.test_rows" in line for line in state(*edit("src/rows.py"), *part))
    told = state(*edit("src/rows.py"), *part, *whole)
    assert [line for line in told if line.startswith("last run")] == [
        "last run: `python3 -m unittest` → ok; Ran 12 tests in 0.3s"
    ]


def test_a_check_is_told_once_by_its_newest_run_and_without_what_cuts_its_output() -> None:
    first = bash("cd app && go test ./rows/... 2>&1 | tail -40", "ok app/rows 0.61s")
    again = bash("GOFLAGS=-v go test ./rows/... 2>&1 | head -5 && rm -f /tmp/rows", "ok app/rows 0.72s")
    part = bash("go test ./rows/... -run TestDates", "ok app/rows 0.11s")
    runs_told = [line for line in state(*edit("rows/a.go"), *part, *first, *again) if line.startswith("last run")]
    assert runs_told == ["last run: `GOFLAGS=-v go test ./rows/...` → ok; ok app/rows 0.72s"]


def test_a_check_that_failed_is_told_once() -> None:
    red = failed("make test", "FAIL: test_rows expected 3, got 4\n1 failed")
    told = [line for line in state(*edit("src/rows.py"), *red) if "make test" in line]
    assert len(told) == 1
    assert told[0].startswith("open error: ")


def test_what_passed_on_the_way_of_a_chain_closes_its_errors() -> None:
    red = failed("make lint", "src/rows.py:4:1: error: unused import")
    chain = bash("make format && make lint 2>&1 && make test", "12 passed in 0.3s")
    loose = bash("make lint; make test", "12 passed in 0.3s")
    assert len(errors(*red)) == 1
    assert errors(*red, *chain) == []
    assert len(errors(*red, *loose)) == 1


@pytest.mark.parametrize(
    "answer",
    [
        " ✓ pool > opens 1ms\n\n      Tests  2 passed (2)",
        "2 tests, 0 failures",
        "ℹ pass 2\nℹ fail 0",
        "  2 passed (3s)",
    ],
)
def test_a_check_that_passed_is_no_error(answer: str) -> None:
    assert errors(*bash("npx vitest run", answer)) == []


AMID = "=== RUN TestSum\n    sum_test.go:9: two rows\n"


@pytest.mark.parametrize(
    ("command", "answer", "told"),
    [
        ("go test ./...", "--- FAIL: TestSum (0.00s)\n    sum_test.go:14: got 3, wanted 4\nFAIL\nFAIL app 0.01s", "--- FAIL: TestSum (0.00s): sum_test.go:14: got 3, wanted 4"),
        ("go test -v ./...", f"{AMID}    sum_test.go:14: cannot read rows\n--- FAIL: TestSum (0.00s)\nFAIL\n", "--- FAIL: TestSum (0.00s): sum_test.go:14: cannot read rows"),
        ("go test -v ./...", "    rows.go:3: read 12 rows\n--- FAIL: TestSum (0.00s)\nFAIL\n", "--- FAIL: TestSum (0.00s)"),
        ("npx vitest run", "   ✓ pool > opens 1ms\n   × pool > closes 5ms\n     → expected 2 to be 1\n\n      Tests  1 failed | 1 passed (2)", "× pool > closes 5ms: expected 2 to be 1"),
        ("npm test -- legend", " ✓ sorts (7 ms)\n ✗ contrast\n Expected ratio >= 4.5, received 3.9", "✗ contrast: Expected ratio >= 4.5, received 3.9"),
        ("bats test", " ✓ opens\n ✗ closes\n\n2 tests, 1 failure", "✗ closes"),
        ("mise run lint", "[lint:go] app/sum.go:8:2: Sum returns interface (ireturn)\n[lint:go] func Sum() (Row, error) {\n[lint:go] ERROR task failed", "app/sum.go:8:2: Sum returns interface (ireturn)"),
    ],
)  # fmt: skip
def test_of_a_check_that_failed_is_told_why(command: str, answer: str, told: str) -> None:
    assert errors(*failed(command, answer)) == [f"open error: `{command}` → {told}"]


def test_what_a_program_of_windows_wrote_in_wide_letters_is_read() -> None:
    wide = "".join(f"\0{letter}" for letter in "Error: there is no shell here")
    told = page([TASK, *failed("bash export.sh", wide)])
    assert "Error: there is no shell here" in told
    assert "\0" not in told


def test_why_a_check_failed_is_read_from_within_a_clients_record() -> None:
    said = "error[E0432]: unresolved import `app::rows`\\n --> src/main.rs:3:5\\nerror: could not compile `app`"
    record = f'{{"chunk_id":"a1","wall_time_seconds":1.2,"exit_code":101,"output":"{said}\\n"}}'
    red = runs("exec", 'await tools.exec_command({cmd:"cargo test"})', f"Script completed\nOutput:\n{record}", id="r1")
    assert errors(*red) == ["open error: `cargo test` → error: could not compile `app`"]


def test_what_leads_over_to_something_is_not_open() -> None:
    why = "Yes, it is used. Once a row changed, we still need to read it:"
    assert not any("still need" in line for line in state(*edit("a.py"), says(f"{why}\n\n- the date\n- the sum")))


def test_of_what_was_done_nothing_is_told_twice_and_nothing_that_is_gone() -> None:
    went_on = runs("shell", {"command": "git commit -m 'Read rows'"}, "Process running with session ID 7", id="r1")
    ended = runs(
        "write_stdin", {"session_id": 7}, "[main 1a2b3c4] Read rows\n 1 file changed, 2 insertions(+)", id="r2"
    )
    tried = [*write("try.html"), *edit("try.html"), *bash("rm try.html")]
    line = state(*write("/tmp/try/rows.py"), *tried, *went_on, *ended, *bash("rm -rf /tmp/try/rows"))[0]
    assert line.startswith("the last request is under way; done for it last: git commit: Read rows")
    assert line.count("git commit") == 1


def test_what_git_answers_is_not_known_before_it_did() -> None:
    asks = bash("git status --short")
    told = "git: on branch rows; not committed: src/a.py"
    assert told in state(*bash("git switch -c rows"), *edit("src/a.py"), asks[0])
    assert told not in state(*bash("git switch -c rows"), *edit("src/a.py"), *asks)


def test_what_is_not_committed_is_told_from_all_of_the_repository() -> None:
    inner = [m for n in range(6) for m in edit(f"/home/ann/code/app/core/rows/part_{n}.go", f"e{n}")]
    outer = [*edit("/home/ann/code/app/cmd/main.go", "e7"), *edit("/home/ann/.notes/rows.md", "e8")]
    told = next(line for line in state(*inner, *outer, *bash("git switch -c rows")) if line.startswith("git: "))
    assert "not committed: cmd/main.go, core/rows/part_5.go" in told
    assert "notes" not in told


def test_a_tool_that_gets_an_order_changes_none() -> None:
    looked = runs("get_order_details", {"order_id": "W1"}, "status: delivered")
    assert state(*looked) == ["the last request is under way"]
    assert "order_parts" in state(*runs("order_parts", {"order_id": "W1"}, "status: ordered"))[0]


@pytest.mark.parametrize("command", ["sed -i -e 's|a/b|c/d|' -e '/x.y/d' src/a.py", "perl -pi -e 's|a/b|c|' src/a.py"])
def test_a_script_of_sed_is_no_file(command: str) -> None:
    assert files(*bash(command)) == ["changed: src/a.py"]
    assert files(*bash("sed -e 's|a/b|c/d|' -e '/x.y/d' src/a.py", "x")) == ["read: src/a.py"]


def test_a_short_answer_to_a_question_is_told_and_thanks_are_not() -> None:
    talk = [TASK, *edit("src/a.py"), says("It writes gzip. Shall I cut a branch for it?")]
    talk += [user("yes"), *bash("git switch -c gzip"), says("It is on the branch gzip.")]
    talk += [user("thanks!"), says("You are welcome."), user("Now the same for the import of the invoices, please.")]
    told = section(page([*talk, *edit("src/b.py"), says("The import reads gzip now.")]), "What happened")
    assert "> yes\n(to “Shall I cut a branch for it?”)" in "\n".join(told)
    assert "\n".join(told).count("Shall I cut a branch for it?") == 1
    assert not any("thanks" in line for line in told)


def test_how_a_task_is_handed_in_goes_before_other_orders() -> None:
    steps = "\n".join(f"Never read share_{n} with tool_{n}." for n in range(12))
    done = "When you're satisfied with what was made, you can hand it in by simply running the submit command, which ends it all."
    template = f"<pr_description>\nThe rows are counted twice.\n</pr_description>\n\n<instructions>\n{steps}\n{done}\n</instructions>"
    text = page([user(template), *edit("src/rows.py"), says("The mirror is slow.")], 640)
    assert f"(the instructions) {done}" in section(text, "Rules that stand")


@pytest.mark.parametrize("cut", [1, 5, 7, 8, 11])
def test_what_was_settled_is_counted_once_where_the_messages_behind_are_folded_later(cut: int) -> None:
    plan = runs("TaskCreate", {"subject": "Read the rows in parts"}, "Task #4 created successfully", id="t1")
    red = bash("make test", "FAIL: test_rows expected 3, got 4\nmake: *** [test] Error 1", error=True)
    done = runs("TaskUpdate", {"taskId": "4", "status": "completed"}, "Updated task #4 status", id="t2")
    green, commit = bash("make test", "12 passed in 0.3s"), bash("git commit -m x", "[main 1a2b3c4] x")
    messages = [TASK, *plan, *edit("src/rows.py"), *red, *green, *commit, *done]
    folded, behind = facts_of(messages[:cut]), facts_of(messages[cut:])
    assert merge(settled(folded, behind), behind) == merge(folded, behind)


@pytest.mark.parametrize(
    "words",
    ["Fix it.", "再次运行测试，检查端口 8080 的输出，然后告诉我哪些行出错了。", "Run the tests of the parser again, and tell me which rows of the table went wrong, and in which of the two ports."],
)  # fmt: skip
def test_what_is_hardly_larger_than_a_summary_stays_as_it_is(words: str) -> None:
    def oldest(view: View, excess: int) -> Iterator[Edit]:
        yield Edit((view.entries[0].id,), Brief(1_500), by="oldest")

    compactor = Compactor(window=10_000, policy=Policy("oldest", (Layer("all", 0.01, 0.001, (oldest,)),)))
    messages = [user(words), LONG]
    assert list(compactor.fit(messages)) == messages
    assert not compactor.folds


def test_what_the_user_threw_in_amid_the_work_takes_the_place_of_no_task_and_no_plan() -> None:
    plan = runs(
        "TodoWrite", {"todos": [{"content": "Push it and open a pull request", "status": "in_progress"}]}, id="t1"
    )
    aside = user("no need to check anything above this folder")
    work = [TASK, *plan, *bash("cat rows.log", "a row\n" * 900), *edit("src/rows.py")]
    told = page_before([aside, *bash("make", "ok"), *edit("src/cols.py", "e2")], work)
    assert section(told, "Task now") == [f"> {TASK.text}"]
    assert "the task here was asked before it" in told.partition("\n")[0]
    assert any("Push it and open a pull request" in line for line in section(told, "State"))
    closed = [*work, says("It is pushed, and the pull request is open.")]
    assert not section(page_before([aside, *edit("src/cols.py", "e2")], closed), "Task now")


def test_what_the_messages_that_stay_show_is_not_told_as_not_seen() -> None:
    asked = user("Make the rows add up again, then commit it and open a pull request for it.")
    work = [asked, *edit("src/rows.py"), *bash("cat rows.log", "a row\n" * 900)]
    opened = bash("gh pr create --fill", "https://github.com/a/b/pull/12")
    assert not any("not seen yet" in line for line in section(page_before([*COMMIT, *opened], work), "Task now"))
    assert any("not seen yet: pull request" in line for line in section(page_before([*COMMIT], work), "Task now"))


def test_what_git_keeps_for_itself_is_no_file_of_the_work() -> None:
    assert files(*edit("src/a.py"), *bash("rm -f .git/index.lock")) == ["changed: src/a.py"]


def test_a_file_that_calls_name_in_two_ways_is_listed_once() -> None:
    commit = runs("exec", {"cmd": "git add -A && git commit -m x", "workdir": "/srv/app"}, "[main 1234567] x", id="c1")
    there = [m for n in range(4) for m in edit(f"/srv/app/core/part_{n}.rs", id=f"f{n}")]
    both = [*edit("build.rs", "e1"), *edit("/srv/app/build.rs", "e2")]
    assert files(*commit, *there, *both)[1].count("build.rs") == 1


def test_files_of_one_folder_that_calls_name_in_two_ways_stand_in_one_place() -> None:
    whole = [*edit("/srv/app/core/read/rows.py", "e1"), *edit("/srv/app/core/read/sums.py", "e2")]
    both = [*whole, *edit("core/read/dates.py", "e3")]
    assert files(*both) == ["in /srv/app/core/read/", "changed: rows.py, sums.py, dates.py"]
    assert files(*both, *edit("notes.md", "e4")) == [
        "in /srv/app/",
        "changed: core/read/{rows.py, sums.py, dates.py}; notes.md",
    ]


def test_which_of_two_folders_a_path_is_meant_from_is_not_guessed() -> None:
    two = [*edit("/srv/app/core/read/rows.py", "e1"), *edit("/srv/old/core/read/rows.py", "e2")]
    assert "core/read/dates.py" in files(*two, *edit("core/read/dates.py", "e3"))[0].split("; ")


def test_what_messages_behind_give_a_commit_is_listed_as_that() -> None:
    work = [TASK, *edit("src/rows.py"), *bash("cat rows.log", "a row\n" * 900)]
    commit = bash("git add src/rows.py schema/rows.json && git commit -m x", "[main 1a2b3c4] x")
    facts, behind = facts_of(work), facts_of([*bash("make schema", "done"), *commit])
    told = section(compose(Brief(1_500), settled(facts, behind)), "Files")
    assert told[:2] == ["changed: src/rows.py", "committed: schema/rows.json"]


def test_words_that_say_what_is_wanted_in_short_lean_on_nothing_older() -> None:
    menu = says("1. Look at what changed in version 6 first.\n2. Just switch, and mend what breaks.\n\nWhich one?")
    asked = user("Can you look through the branch and say what is missing in it for the release?")
    asides = [
        user("Which of the two do we use, v5?"),
        says("v5, and only there."),
        user("why?"),
        says("It came first."),
    ]
    talk = [asked, says("Only the notes."), *asides, user("I'd like to switch to v6 still"), menu, user("2")]
    told = now(*talk, *edit("src/b.py"))
    assert told[0] == "> I'd like to switch to v6 still"
    assert told[-1] == "> 2"
    assert "Just switch, and mend what breaks." in told[1]


def test_short_words_below_what_they_quote_of_the_agent_are_told_with_that() -> None:
    menu = says(
        "Your options:\n\n1. Remove the lamp from the list\n2. Set it again later\n3. Let the lamp check who set it before\n\nThe simplest would be option 1."
    )
    chosen = user(">  3. Let the lamp check who set it before\n \nlet's try this")
    asked = user("Why does the lamp of the harbour go out when the second keeper signs in?")
    quote = "3. Let the lamp check who set it before"
    told = page_before([chosen, says("It checks now.")], [asked, *bash("cat lamp.py", "x = 1\n" * 300), menu])
    first = told.splitlines()[0]
    assert quote in first
    assert "option 1" not in first
    now = extract(Brief(1_500), [asked, *bash("cat lamp.py", "x"), menu, chosen, *edit("src/lamp.py")]).text
    assert quote in now.partition("## What happened")[0]


def test_of_several_requests_that_nobody_took_up_behind_the_page_the_last_two_are_named() -> None:
    looked = bash("cat src/rows.py", "rows are read twice where the file is empty\n" * 40)
    done = [BRANCH, *looked, *edit("src/a.py"), says("Committed, pushed and answered.")]
    behind = [user("The colours of the board can be of any kind."), user("fix")]
    told = page_before(behind, done)
    assert told.startswith(
        "The newest requests stand in the messages below: “The colours of the board can be of any kind.” and “fix”"
    )
    taken_up = [behind[0], *edit("src/b.py"), behind[1]]
    assert "The newest requests" not in page_before(taken_up, done)


STATUS = " M src/a.py\n?? try.py\n"


def test_a_file_that_git_did_not_follow_and_that_was_deleted_is_not_left_to_commit() -> None:
    listed = [*edit("src/a.py"), *bash("git status --short", STATUS), *bash("rm -f try.py")]
    told = section(page([BRANCH, *listed]), "State")
    assert "git: not committed: src/a.py" in told


QUESTIONS = {
    "questions": [{"question": "Which engine is meant? Both are there.", "options": [{"label": "The old one"}]}]
}
CHOSEN = 'User has answered your questions: "Which engine is meant? Both are there."="The old one, with all of its settings and its tables". You can now continue.'


def test_the_newest_request_below_is_what_was_asked_and_no_answer_to_a_question() -> None:
    behind = [
        user("Bring the export of the harbour back, with the tide in metres and the berths by name."),
        *runs("AskUserQuestion", QUESTIONS, CHOSEN),
        says("The old one it is. Shall I go on?"),
        user("yes, go on"),
    ]
    told = page_before(behind, [TASK, LONG, *edit("src/rows.py"), says("The rows are counted.")])
    assert "Bring the export of the harbour back" in told.splitlines()[0]


def test_the_request_before_the_newest_is_answered_only_where_it_was() -> None:
    other = user("Now bring the berths of the harbour up to date, all of them, by the list in berths.csv.")
    newest = user("And then print the table of tides for the office, on one page, with the harbour's name on it.")
    work = [TASK, LONG, *edit("src/rows.py"), says("The rows are counted.")]
    answered = "; the one before it, "
    assert answered in page_before([newest], work).splitlines()[0]
    assert answered not in page_before([other, *edit("src/berths.py"), newest], work).splitlines()[0]
    done = [other, *edit("src/berths.py"), says("They are up to date."), newest]
    assert answered in page_before(done, work).splitlines()[0]
    assert answered not in page_before([user("yes")], [*work, says("Shall I push it?")]).splitlines()[0]


def test_a_report_that_leads_something_in_leaves_it() -> None:
    """A turn that was stopped amid its work ends with words that lead in what never came."""
    newest, work = (
        user("And then print the table of tides for the office, on one page."),
        [TASK, LONG, *edit("src/rows.py")],
    )
    answered = "; the one before it, "
    assert answered in page_before([newest], [*work, says("The rows are counted in src/rows.py.")]).splitlines()[0]
    assert answered not in page_before([newest], [*work, says("The rows are counted in src/rows.py:")]).splitlines()[0]


def test_of_a_text_that_was_edited_no_name_is_told_that_it_speaks_of_or_has_as_a_heading() -> None:
    def happened(new: str) -> list[str]:
        edits = runs("Edit", {"file_path": "docs/tides.md", "old_string": "low water", "new_string": new})
        return section(page([TASK, *edits, says("It is written.")]), "What happened")

    assert "Edit docs/tides.md" in happened("`low_water` is read by `tide_table`.")
    assert "Edit docs/tides.md" in happened("## Low water\n`low_water` is read.")


def test_files_of_commands_that_are_run_in_several_folders_are_told_from_where_they_stand() -> None:
    def in_folder(folder: str, command: str) -> list[Message]:
        return runs("shell", {"command": command, "workdir": f"/srv/harbour/{folder}"})

    files = section(
        page([TASK, *in_folder("desk", "touch src/main.py"), *in_folder("quay", "touch src/main.py")]), "Files"
    )
    assert "desk/src/main.py" in "\n".join(files)
    assert "quay/src/main.py" in "\n".join(files)
    alone = section(page([TASK, *in_folder("desk", "touch src/main.py")]), "Files")
    assert alone == ["created: src/main.py"]


@pytest.mark.parametrize("command", ["ren src\\a.py b.py", "Rename-Item -Path src\\a.py -NewName b.py"])
def test_a_file_that_is_renamed_on_windows_stays_in_its_folder(command: str) -> None:
    assert "renamed: src/a.py → src/b.py" in section(page([TASK, *edit("src/rows.py"), *bash(command)]), "Files")


SERVICE = "I want all of them in their best version, but the shoes should stay size 9. Can you help me with that?"


def test_a_report_that_asks_before_it_says_what_comes_next_is_one() -> None:
    """What it looked up is in its words, and stands there only."""
    looked = runs(
        "get_product_details",
        {"product_id": "p-77"},
        '{"name": "Shoes", "v-1": {"price": 147.05}, "v-2": {"price": 155.33}}',
    )
    plan = says(
        "The best shoes are $155.33, and the old ones $147.05.\n\nShall I change them? Please confirm, and I'll do the rest!"
    )
    told = page([user(SERVICE), *looked, plan, user("go ahead, and pay with the gift card first please")])
    assert "The best shoes are $155.33" in told
    assert "get_product_details" not in told
    assert SERVICE.partition(" Can")[0] in "\n".join(section(told, "Rules that stand"))


def test_a_letter_is_told_with_what_it_chooses_of_a_list_of_letters() -> None:
    offer = says(
        "Which window is meant?\n\nPlease choose one:\n- `A`: outdated after 24 hours\n- `B`: outdated after 7 days\n- or give a short answer"
    )
    told = page_before([offer, user("B")], [TASK, LONG, *edit("src/rows.py"), says("The rows are counted.")])
    assert "“B”, chosen: “`B`: outdated after 7 days”" in told.splitlines()[0]


def test_what_a_call_was_to_change_that_the_user_denied_is_not_changed() -> None:
    """Cline does not call it an error."""
    denied = runs(
        "replace_in_file",
        {"path": "shop.env", "diff": "<<<<<<< SEARCH"},
        "The user denied this operation. The file was not updated, and maintains its original contents.",
    )
    told = page([TASK, *edit("src/rows.py"), *denied])
    assert section(told, "Files") == ["changed: src/rows.py"]
    assert "replace_in_file shop.env → refused by the user" in told


def test_lines_of_a_paste_are_told_in_their_order_however_wide_their_gaps_are() -> None:
    """A value's newest line is found first, and of the lines that are told the gaps are one blank wide."""
    lines = [
        "The berth's own program begins.",
        "[quay]  It listens on  127.0.0.1:5432 for the desk.",
        *[f"It waits  the {n}. time." for n in range(9)],
        "[quay]  It takes  a line from 127.0.0.1:30000 of the desk.",
        "[quay]  It asks  /srv/berth.log for the desk.",
        "The berth's own program ends.",
    ]
    log = "\n".join(f"2026/04/28 16:53:30 {line}" for line in lines)
    asked = user(f"why does 127.0.0.1 on 5432 or 30000 not write /srv/berth.log?\n\n{log}\n")
    facts = facts_of([TASK, *edit("src/rows.py"), says("Done."), asked, *edit("src/quay.py")])
    told = [piece.text for piece in facts.pieces if piece.kind == "excerpt"]
    order = ("begins", "listens", "takes", "asks", "ends")
    assert [next(word for word in order if word in line) for line in told] == [*order]


def test_a_push_that_replaces_the_commits_of_others_is_told_with_what_it_replaced() -> None:
    answer = "To https://git.example/shop.git\n + 33aef1c87...713578b15 main -> main (forced update)"
    told = page([TASK, *edit("src/rows.py"), *bash("git push --force origin main", answer), says("It is pushed.")])
    assert "- git push by force: 33aef1c87...713578b15 main" in told
    plain = bash("git push origin main", "   33aef1c87..713578b15 main -> main")
    assert "by force" not in page([TASK, *edit("src/rows.py"), *plain, says("It is pushed.")])


@pytest.mark.parametrize("path", ["node_modules", "web/node_modules/", "package-lock.json", "__pycache__", ".venv"])
def test_what_a_program_brings_in_again_is_not_deleted(path: str) -> None:
    told = page([TASK, *edit("src/rows.py"), *bash(f"rm -rf {path} old.py && npm install")])
    assert "deleted: old.py" in section(told, "Files")


def test_a_request_with_which_the_user_says_to_go_on_is_told_with_what_it_goes_on_with() -> None:
    parts = user(
        "Three things: (1) the notice for the quay, (2) the list for the desk, (3) the thanks. One by one, I say when."
    )
    first = says("1. The notice for the quay is written.\n\nStill to do: (2) the list for the desk and (3) the thanks.")
    go_on = user("fine, it hangs there already. go on! oh and the harbour master is called Wijoyo, write him that way")
    told = section(page([parts, first, go_on, *edit("list.md")]), "Task now")
    assert f"> {parts.text}" in told
    assert f"> {go_on.text}" in told
    alone = [
        parts,
        says("All three are written."),
        user("Now count the berths of the harbour, go on with the north side first."),
        *edit("berths.md"),
    ]
    assert f"> {parts.text}" not in section(page(alone), "Task now")


def test_a_task_that_the_report_below_leaves_something_of_is_not_called_answered() -> None:
    other = user("Write the notice for the quay and the thanks to the harbour master, one after the other.")
    done = [*edit("notice.md"), says("The notice is written.\n\nStill to do: the thanks to the harbour master.")]
    told = page_before(done, [TASK, LONG, *edit("src/a.py"), says("It is done."), other])
    assert section(told, "Task now")[0] == "(reported on at the end of the messages below, which says what is left)"


def test_a_plan_is_forgotten_behind_many_other_requests_though_the_agent_speaks_of_its_steps() -> None:
    steps = [{"content": "Update the docs of the window", "status": "in_progress"}]
    planned = [*runs("TodoWrite", {"todos": steps}, id="t1"), *edit("src/a.py"), says("The window is made.")]

    def others(count: int) -> list[Message]:
        asked = [
            user(f"Now give the window a field of its own for quay number {n}, with a check.") for n in range(count)
        ]
        told = says("The field is there. I also had to update the docs of the window for it.")
        return [m for n, ask in enumerate(asked) for m in (ask, *edit(f"src/quay_{n}.py", f"e{n}"), told)]

    assert "[ ] Update the docs of the window (in progress)" in state(*planned, *others(2))
    assert not any(line.startswith("[ ]") for line in state(*planned, *others(7)))
    again = [m for n in range(7) for m in (user("go on"), *edit(f"src/row_{n}.py", f"r{n}"), says("Going on. I update the docs of the window."))]  # fmt: skip
    assert "[ ] Update the docs of the window (in progress)" in state(*planned, *again)


def test_a_sentence_in_bold_heads_nothing() -> None:
    said = "**The crane runs again!**\n\nNow let me look at the quay, which may have the same fault as the crane."
    told = page([TASK, *runs("read", {"path": "src/a.py"}, "a = 1"), *edit("src/b.py"), says(said)])
    assert "The crane runs again!:" not in told
    assert "The crane runs again!" in told


def test_a_newest_request_that_chooses_is_told_with_what_it_chose() -> None:
    offer = "Two ways are open:\n\n(a) one counter for all of the quays\n(b) a counter of its own for each quay\n\nBoth keep the numbers."
    behind = [
        user("And how would you count the ferries that call at several quays?"),
        says(offer),
        user("(b)"),
        *edit("src/b.py"),
        says("Each quay has its own counter."),
    ]
    told = page_before(behind, [TASK, LONG, *edit("src/rows.py"), says("The rows are counted.")]).splitlines()[0]
    assert "“(b)”, chosen: “" in told


def test_a_newest_request_that_names_nothing_is_told_with_the_one_before_it() -> None:
    behind = [
        user("cho phien ban cli truoc di, roi cho toi xem ket qua"),
        *edit("src/cli.py"),
        says("The command line is there."),
        user("tiep tuc di"),
        *edit("src/b.py"),
        says("The rest is there as well, with its tests."),
    ]
    told = page_before(behind, [TASK, LONG, *edit("src/rows.py"), says("The rows are counted.")]).splitlines()[0]
    assert "“cho phien ban cli truoc di, roi cho toi xem ket qua” and “tiep tuc di”" in told


def test_what_sets_a_variable_in_powershell_is_no_check() -> None:
    shown = bash('$p = "E:\\rows\\specs\\001\\spec.md"; Get-Content -Raw $p | Write-Output', "# Rows")
    text = page([BRANCH, *shown, *edit("src/a.py"), says("Done."), user("Thanks, go on with b.")])
    assert "since the last run of" not in text


def test_a_greeting_is_no_question_of_the_report() -> None:
    behind = [
        user("Now add a seven in line 12 of the notes on the export."),
        *edit("notes.md"),
        says("Done, it is there."),
    ]
    told = page_before([*behind, user("hi"), says("Hello! How can I help you today?")], [TASK, LONG, *edit("src/a.py")])
    assert "How can I help" not in told


def test_a_report_that_is_older_than_what_was_asked_last_is_not_what_the_newest_words_answer() -> None:
    other = user("Write the rules of the export down in docs/rules.md, each with a title of its own.")
    asks_for_date = says("They are written, but for the date. Shall I take the date of today?")
    folded = [
        TASK,
        LONG,
        *edit("src/a.py"),
        says("The cause is the key of the settings. Say which option you want."),
        other,
    ]
    told = page_before([*edit("docs/rules.md"), asks_for_date, user("yes")], folded)
    assert "Say which option you want." not in told.partition("## What happened")[0]


def test_a_script_that_said_ok_is_not_the_last_run_once_the_user_went_on_to_something_else() -> None:
    seeded = bash("php scripts/seed.php", "OK")
    talk = [
        m for n in range(3) for m in (user(f"What is table {n} of the export for?"), says(f"It holds the rows of {n}."))
    ]
    assert "last run: `php scripts/seed.php` → ok" in section(page([TASK, *seeded, says("It is filled.")]), "State")
    assert not any("seed.php" in line for line in section(page([TASK, *seeded, says("It is filled."), *talk]), "State"))
    checked = bash("pytest tests", "4 passed in 0.2s")
    assert any("pytest" in line for line in section(page([TASK, *checked, says("All pass."), *talk]), "State"))


def test_a_line_of_a_shell_that_the_user_ran_is_not_what_is_wanted() -> None:
    asked = says("It is denied here. Please run it yourself: `mkdir -p /srv/rows/docs/plans/of/the/export/2026`")
    now = section(
        page([TASK, asked, user("mkdir -p /srv/rows/docs/plans/of/the/export/2026"), *edit("docs/plans/rows.md")]),
        "Task now",
    )
    assert now[:2] == [
        "> mkdir -p /srv/rows/docs/plans/of/the/export/2026",
        f"(before that the user had asked) “{TASK.text}”",
    ]


def test_a_report_stands_behind_which_the_user_was_only_called_to_the_screen() -> None:
    called = ToolCall(
        "n", "run_shell_command", json.dumps({"command": 'termux-notification -t "Gemini" -c "It is done"'})
    )
    report = Message("assistant", (Text("The export writes gzip now, and all tests pass."), called))
    heard = Message("tool", (ToolResult("n", (Text("Output: (empty)"),)),))
    told = page(
        [TASK, *edit("src/a.py"), report, heard, user("Now tell me how long it takes for the whole of March, please.")]
    )
    assert "\nThe export writes gzip now, and all tests pass." in told
    assert "· The export" not in told
