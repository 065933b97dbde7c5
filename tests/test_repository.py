"""Where the work stands in its repository: the branch, the newest commit, what was pushed, and what changed since."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest

from foldline import Brief, Message, Summary
from foldline._facts.merging import from_data, merge, settled
from foldline._facts.reading import facts_of
from foldline._facts.repository import on_branch
from foldline._facts.types import Facts
from foldline._messages import replace
from foldline._page.extract import compose
from foldline._page.files import files
from foldline._page.state import state
from foldline.extend import SUMMARY_PREFIX, SUMMARY_SUFFIX, Text, ToolCall, ToolResult
from talk import runs


def ran(*steps: tuple[str, str]) -> list[Message]:
    """A turn with commands and what they answered."""
    messages = [Message("user", (Text("Make the rows add up, and commit it, please."),))]
    for number, (command, answer) in enumerate(steps):
        call = ToolCall(f"c{number}", "bash", json.dumps({"command": command}))
        messages += [Message("assistant", (call,)), Message("tool", (ToolResult(call.id, (Text(answer),)),))]
    return messages


def edited(path: str) -> list[Message]:
    call = ToolCall(f"e-{path}", "edit", json.dumps({"path": path, "old_string": "a", "new_string": "b"}))
    return [Message("assistant", (call,)), Message("tool", (ToolResult(call.id, (Text("ok"),)),))]


def told(facts: Facts) -> list[str]:
    return [line for line in state(facts) if line.startswith("git: ")]


COMMITTED = (
    "git add -A && git commit -m 'Rows add up'",
    "[sums 1a2b3c4] Rows add up\n 1 file changed, 2 insertions(+)",
)
PUSHED = ("git push -u origin sums", "To github.com:a/b.git\n * [new branch]      sums -> sums\nbranch 'sums' set up")
REBASED = ("git fetch && git rebase main", "Rebasing (1/2)Successfully rebased and updated refs/heads/sums.")
FORCED = ("git log --oneline -6 && git push --force-with-lease", "81c4848 Rows add up\nf8881e6 Older\n---\nTo github.com:a/b.git\n + 1a2b3c4...81c4848 sums -> sums (forced update)")  # fmt: skip
OPENED = ("gh pr create --fill", "https://github.com/a/b/pull/12")


@pytest.mark.parametrize(
    ("steps", "line"),
    [
        ([], None),
        ([("git log --oneline", "1a2b3c4 Rows add up")], None),
        ([("git rebase main", "Current branch sums is up to date.")], None),
        ([("git checkout -b sums", "Switched to a new branch 'sums'")], "git: on branch sums"),
        ([("git switch -c sums", "")], "git: on branch sums"),
        ([COMMITTED, ("scripts/new-feature.sh --name rows", "Switched to a new branch 'rows'\n{}")], "git: on branch rows; last commit 1a2b3c4 “Rows add up”"),
        ([COMMITTED, ("cat new-feature.log", "Switched to a new branch 'rows'")], "git: on branch sums; last commit 1a2b3c4 “Rows add up”"),
        ([("git switch -c sums", ""), ("git branch -M main", "")], "git: on branch main"),
        ([COMMITTED, ("git branch -m sums rows && git push -u origin rows 2>&1 | tail -1", "branch 'rows' set up to track 'origin/rows'.")], "git: on branch rows; last commit 1a2b3c4 “Rows add up”, pushed"),
        ([COMMITTED, ("git add -A && git commit -qm 'More rows' && git show --stat HEAD | tail -1", " 1 file changed")], "git: on branch sums; last commit “More rows”"),
        ([("git status", "On branch sums\nnothing to commit, working tree clean")], "git: on branch sums; nothing left to commit"),
        ([COMMITTED], "git: on branch sums; last commit 1a2b3c4 “Rows add up”"),
        ([COMMITTED, PUSHED], "git: on branch sums; last commit 1a2b3c4 “Rows add up”, pushed"),
        ([COMMITTED, PUSHED, OPENED], "git: on branch sums; last commit 1a2b3c4 “Rows add up”, pushed; opened https://github.com/a/b/pull/12"),
        (
            [COMMITTED, PUSHED, ("git commit -am 'More'", "[sums 9f8e7d6] More\n 1 file changed")],
            "git: on branch sums; last commit 9f8e7d6 “More”",
        ),
        ([("git commit -m x", "[main (root-commit) 1a2b3c4] x")], "git: on branch main; last commit 1a2b3c4 “x”"),
        ([("git commit -m x", "[detached HEAD 1a2b3c4] x")], "git: last commit 1a2b3c4 “x”"),
        ([("cat notes.md", "[sums 1a2b3c4] Rows add up")], None),
        ([COMMITTED, ("rg -n 'git commit -m' scripts", "scripts/a.sh:3: git commit")], "git: on branch sums; last commit 1a2b3c4 “Rows add up”"),
        ([COMMITTED, ("git log --oneline | grep 'first commit'", "0f0f0f0 first commit")], "git: on branch sums; last commit 1a2b3c4 “Rows add up”"),
        ([COMMITTED, ("git -C /srv/app push", "To github.com:a/b.git\n   0f0f0f0..1a2b3c4  sums -> sums")], "git: on branch sums; last commit 1a2b3c4 “Rows add up”, pushed"),
        ([COMMITTED, ("echo git push && ls", "git push\n a -> b")], "git: on branch sums; last commit 1a2b3c4 “Rows add up”"),
        ([COMMITTED, PUSHED, REBASED], "git: on branch sums"),
        ([COMMITTED, PUSHED, REBASED, FORCED], "git: on branch sums; last commit 81c4848 “Rows add up”, pushed"),
        ([COMMITTED, PUSHED, ("git rebase --continue", "[detached HEAD 642a774] Rows\n 1 file changed\nRebasing (2/2)Successfully rebased and updated refs/heads/sums.")], "git: on branch sums"),
        ([COMMITTED, PUSHED, ("git checkout -b more", "Switched to a new branch 'more'")], "git: on branch more; last commit 1a2b3c4 “Rows add up”"),
        ([COMMITTED, PUSHED, ("git checkout main", "Switched to branch 'main'")], "git: on branch main"),
        ([COMMITTED, ("git status --short", "")], "git: on branch sums; last commit 1a2b3c4 “Rows add up”; nothing left to commit"),
        ([COMMITTED, ("git status --short", " M src/rows.py")], "git: on branch sums; last commit 1a2b3c4 “Rows add up”; not committed: src/rows.py"),
        ([COMMITTED, ("git rebase main", "Current branch sums is up to date.")], "git: on branch sums; last commit 1a2b3c4 “Rows add up”"),
        ([COMMITTED, ("git pull", "Already up to date.")], "git: on branch sums; last commit 1a2b3c4 “Rows add up”"),
        ([COMMITTED, ("git reset --soft HEAD~1", ""), ("git log --oneline main", "0f0f0f0 Older")], "git: on branch sums"),
        ([("git checkout -b sums", ""), ("git commit -m 'Rows add up' || echo 'No commit'", "python: not found\nNo commit")], "git: on branch sums"),
        ([("git add -u || true; git commit -qm 'Rows add up'", "")], "git: last commit “Rows add up”"),
        ([("git commit -m 'Rows' || git commit --no-verify -m 'Rows'", "[sums 1a2b3c4] Rows")], "git: on branch sums; last commit 1a2b3c4 “Rows”"),
        ([("powershell.exe -Command \"cd 'C:/srv/app'; git commit -m 'Rows add up' 2>&1\"", "[sums 1a2b3c4] Rows add up")], "git: on branch sums; last commit 1a2b3c4 “Rows add up”"),
        ([("git commit -m 'Rows'", "[sums 1a2b3c4] Rows"), ("git status -sb && git log --oneline --decorate -3", "## sums\n84ef784 (HEAD -> sums, origin/sums) Somebody else's\n0f0f0f0 Begin")], "git: on branch sums; last commit 84ef784 “Somebody else's”, pushed; nothing left to commit"),
        ([("git commit -m 'Rows'", "[sums 1a2b3c4] Rows"), ("git log --oneline --all -3", "84ef784 Somebody else's\n1a2b3c4 Rows")], "git: on branch sums; last commit 1a2b3c4 “Rows”"),
        ([("git commit -m 'Rows'", "[sums 1a2b3c4] Rows"), ("git push", "To a.example\n   1..2  sums -> sums"), ("git log --oneline --decorate -1", "1a2b3c4d5 (HEAD -> sums) Rows")], "git: on branch sums; last commit 1a2b3c4 “Rows”, pushed"),
        ([COMMITTED, ("git show --stat --oneline --decorate=short 84ef784", "84ef784 (HEAD -> sums) Somebody else's\n rows.py | 2 +-")], "git: on branch sums; last commit 84ef784 “Somebody else's”"),
        ([COMMITTED, ("git show --oneline 0f0f0f0", "0f0f0f0 (main) Older\n rows.py | 2 +-")], "git: on branch sums; last commit 1a2b3c4 “Rows add up”"),
        ([COMMITTED, ("git log --oneline --decorate -2", "3e236b4 (HEAD -> main, tag: v1) Begin\n0f0f0f0 Older")], "git: on branch main; last commit 3e236b4 “Begin”"),
        ([("git log --oneline --decorate -2", "3e236b4 (HEAD -> main) Begin")], "git: on branch main"),
        ([("git commit -q -F - <<'EOF'\nRows add up\nEOF", ""), ("git push origin sums 2>&1 | tail -1", "   0f0f0f0..1a2b3c4  sums -> sums")], "git: on branch sums; last commit 1a2b3c4 “Rows add up”, pushed"),
        ([("git commit -qm 'Rows add up'", ""), ("git push", "   0f0f0f0..1a2b3c4  HEAD -> sums")], "git: last commit 1a2b3c4 “Rows add up”, pushed"),
        ([COMMITTED, ("git commit --amend --no-edit -q && git push -f", " + 1a2b3c4...9f8e7d6 sums -> sums (forced update)")], "git: on branch sums; last commit 9f8e7d6, pushed"),
        ([COMMITTED, ("git push origin other", "   0f0f0f0..5b5b5b5  other -> other")], "git: on branch sums; last commit 1a2b3c4 “Rows add up”"),
        ([("git commit -m x", "error: pathspec 'x' did not match any file(s) known to git")], None),
    ],
)  # fmt: skip
def test_what_is_known_of_the_repository(steps: Iterable[tuple[str, str]], line: str | None) -> None:
    assert told(facts_of(ran(*steps))) == ([line] if line else [])


@pytest.mark.parametrize(
    ("behind", "line"),
    [
        ([REBASED], "git: on branch sums"),
        ([REBASED, ("git log --oneline --decorate -1", "636b5a3 (HEAD -> sums) Rows add up")], "git: on branch sums; last commit 636b5a3 “Rows add up”"),
        ([("git log --oneline --decorate -1", "3e236b4 (HEAD -> main) Begin")], "git: on branch main; last commit 3e236b4 “Begin”"),
        ([("git log --oneline --decorate -1", "1a2b3c4 (HEAD -> sums, origin/sums) Rows add up")], "git: on branch sums; last commit 1a2b3c4 “Rows add up”, pushed"),
        ([("git log --oneline | grep Older", "0f0f0f0 Older")], "git: on branch sums; last commit 1a2b3c4 “Rows add up”, pushed"),
    ],
)  # fmt: skip
def test_messages_that_make_no_commit_may_move_the_newest_one(behind: Iterable[tuple[str, str]], line: str) -> None:
    assert told(merge(facts_of(ran(COMMITTED, PUSHED)), facts_of(ran(*behind)))) == [line]


def test_what_changed_since_the_newest_commit_is_not_committed() -> None:
    facts = facts_of([*edited("src/old.py"), *ran(COMMITTED), *edited("src/rows.py"), *edited("/tmp/try.py")])
    assert told(facts) == ["git: on branch sums; last commit 1a2b3c4 “Rows add up”; changed since: src/rows.py"]


def test_what_was_only_read_since_the_newest_commit_is_committed() -> None:
    reads = [*runs("read", {"path": "src/rows.py"}, "x = 1")]
    facts = facts_of([*edited("src/rows.py"), *ran(COMMITTED), *reads])
    assert told(facts) == ["git: on branch sums; last commit 1a2b3c4 “Rows add up”"]
    folded = merge(facts_of([*edited("src/rows.py"), *ran(COMMITTED)]), facts_of(reads))
    assert told(folded) == told(facts)


def test_a_clean_tree_ends_what_changed_since() -> None:
    clean = ("git status", "On branch sums\nnothing to commit, working tree clean")
    facts = facts_of([*ran(COMMITTED), *edited("src/rows.py"), *ran(clean)])
    assert told(facts) == ["git: on branch sums; last commit 1a2b3c4 “Rows add up”; nothing left to commit"]


def test_without_a_commit_what_was_changed_is_not_committed() -> None:
    facts = facts_of([*ran(("git status", "On branch main\nYour branch is up to date.")), *edited("src/rows.py")])
    assert told(facts) == ["git: on branch main; not committed: src/rows.py"]


def test_a_commit_that_says_nothing_is_one() -> None:
    quiet = ("git commit -qm 'More rows'", "")
    facts = facts_of([*ran(COMMITTED), *edited("src/rows.py"), *ran(quiet)])
    assert told(facts) == ["git: on branch sums; last commit “More rows”"]
    assert "changed since: a.py" in told(facts_of([*ran(COMMITTED, quiet), *edited("a.py")]))[0]


@pytest.mark.parametrize(
    "answer",
    [
        "1a2b3c4d5 Rows add up\n0f0f0f0 Older",
        "1a2b3c4d5 (HEAD, tag: v1) Rows add up",
        f"commit 1a2b3c4d5{'0' * 31}\nAuthor: A <a@b.c>\nDate:   Sat Nov 21 22:59:01 2026 +0000\n\n    Rows add up\n",
    ],
)
def test_a_commit_is_known_by_what_was_shown_of_it(answer: str) -> None:
    shown = ("git commit -qam 'Rows add up' && git log -1", answer)
    assert told(facts_of(ran(shown))) == ["git: last commit 1a2b3c4d5 “Rows add up”"]


def test_a_tree_that_was_clean_long_ago_is_not_called_clean() -> None:
    clean = ("git status", "On branch sums\nnothing to commit, working tree clean")
    later = [step for n in range(12) for step in ran((f"cat part_{n}", "text"))]
    assert told(facts_of([*ran(COMMITTED, clean), *later])) == [
        "git: on branch sums; last commit 1a2b3c4 “Rows add up”"
    ]


def test_a_quiet_commit_after_a_fold_takes_the_place_of_the_one_before_it() -> None:
    first, second = facts_of(ran(COMMITTED, PUSHED)), facts_of(ran(("git commit -qm 'More rows'", "")))
    assert told(merge(first, second)) == told(facts_of(ran(COMMITTED, PUSHED, ("git commit -qm 'More rows'", ""))))
    assert told(merge(first, second)) == ["git: on branch sums; last commit “More rows”"]


def test_it_lasts_where_a_page_comes_back_as_text() -> None:
    facts = facts_of(ran(COMMITTED, PUSHED, OPENED))
    handed_out = f"{SUMMARY_PREFIX}{compose(Brief(800), facts)}{SUMMARY_SUFFIX}"
    again = facts_of([Message("user", (Text(handed_out),)), *ran(("ls", "rows.py"))])
    assert told(again) == told(facts)


def test_a_repository_that_was_begun_in_the_folder_of_another_one_is_told_apart() -> None:
    def begun(folder: str, hash: str) -> tuple[str, str]:
        said = f"Initialized empty Git repository in {folder}/.git/\n[main (root-commit) {hash}] First rows"
        return f"cd {folder} && git init && git add . && git commit -m 'First rows'", said

    steps = (begun("/srv/rows", "1111111"), begun("/srv/rows/left", "2222222"), begun("/srv/rows/right", "3333333"))
    pushed = ("cd /srv/rows/left && git push", "To github.com:a/left.git\n   2222222..2222222  main -> main")
    outside = ("cd /srv/rows && git status", "On branch main\nnothing to commit, working tree clean")
    facts = facts_of(ran(*steps, pushed, outside))
    assert {line.partition("; last commit ")[2][:7]: "pushed" in line for line in all_told(facts)} == {
        "1111111": False,
        "2222222": True,
        "3333333": False,
    }
    parts = [facts_of(ran(*steps[:2])), facts_of(ran(steps[2], pushed))]
    assert {each.folder for each in merge(*parts).repositories} == {"/srv/rows", "/srv/rows/left", "/srv/rows/right"}


def all_told(facts: Facts) -> list[str]:
    return [line for line in state(facts) if line.startswith("git in ")]


def test_it_lasts_from_fold_to_fold() -> None:
    first, second = facts_of(ran(COMMITTED, PUSHED)), facts_of([*edited("src/rows.py"), *ran(OPENED)])
    both = merge(from_data(first.data()), second)
    assert told(both) == told(facts_of([*ran(COMMITTED, PUSHED), *edited("src/rows.py"), *ran(OPENED)]))
    assert "changed since: src/rows.py" in told(both)[0]
    assert "pushed" in told(both)[0]


def test_each_repository_has_its_line() -> None:
    steps = (
        ("cd /srv/app && git commit -am 'Rows add up'", "[sums 1a2b3c4] Rows add up"),
        ("git -C /srv/docs commit -am 'Say so'", "[main 9f8e7d6] Say so"),
        ("cd /srv/app/src && git push", "To a:b.git\n   0f0f0f0..1a2b3c4  sums -> sums"),
    )
    facts = facts_of([*ran(*steps), *edited("/srv/docs/rows.md"), *edited("/srv/app/src/rows.py")])
    lines = [
        "git in /srv/docs: on branch main; last commit 9f8e7d6 “Say so”; changed since: rows.md",
        "git in /srv/app: on branch sums; last commit 1a2b3c4 “Rows add up”, pushed; changed since: src/rows.py",
    ]
    assert told_in(facts) == lines
    first, rest = facts_of(ran(*steps[:2])), facts_of([*ran(*steps[2:]), *edited("/srv/docs/rows.md")])
    assert [line.partition(";")[0] for line in told_in(merge(from_data(first.data()), rest))] == [
        line.partition(";")[0] for line in lines
    ]


def told_in(facts: Facts) -> list[str]:
    return [line for line in state(facts) if line.startswith("git")]


def test_of_files_that_were_left_by_others_new_ones_come_first() -> None:
    listing = "\n".join([*(f" M rows/part_{i}.py" for i in range(60)), "?? sums/new.py"])
    line = told(facts_of([*ran(("git status -s", listing))]))[0]
    assert line.startswith("git: not committed: sums/new.py, rows/{part_0.py, part_1.py,")
    assert line.endswith("more")


def test_among_several_repositories_a_file_without_its_folder_is_of_the_one_that_lists_it() -> None:
    listing = "## rows...origin/main\n M src/rows.py\n?? src/sums.py"
    steps = ran(
        ("git -C /srv/docs commit -am 'Say so'", "[main 9f8e7d6] Say so"),
        ("cd /srv/shop.worktrees/rows && git status -sb", listing),
    )
    facts = facts_of([*edited("src/rows.py"), *edited("/srv/shop.worktrees/rows/src/sums.py"), *steps])
    where, _, listed = told_in(facts)[1].partition(": not committed: ")
    assert where == "git in /srv/shop.worktrees/rows"
    assert sorted(listed.split(", ")) == ["src/rows.py", "src/sums.py"]


def test_repositories_last_where_a_page_comes_back_as_text() -> None:
    facts = facts_of(ran(COMMITTED, ("git -C /srv/docs commit -am 'Say so'", "[main 9f8e7d6] Say so")))
    assert len(told_in(facts)) == 2
    page = f"{SUMMARY_PREFIX}{compose(Brief(900), facts)}{SUMMARY_SUFFIX}"
    assert told_in(facts_of([Message("user", (Text(page),)), *ran(("ls", "rows.py"))])) == told_in(facts)


@pytest.mark.parametrize("where", ["workdir", "cwd"])
def test_the_folder_that_a_call_names_is_the_repositorys(where: str) -> None:
    def at(folder: str, branch: str) -> list[Message]:
        call = ToolCall(branch, "exec_command", json.dumps({"cmd": "git commit -am x", where: folder}))
        answer = ToolResult(branch, (Text(f"[{branch} 1a2b3c4] x"),))
        return [Message("assistant", (call,)), Message("tool", (answer,))]

    assert [line.partition(";")[0] for line in told_in(facts_of([*at("/srv/a", "one"), *at("/srv/b", "two")]))] == [
        "git in /srv/a: on branch one",
        "git in /srv/b: on branch two",
    ]


def test_commits_of_one_command_in_two_folders_are_told_apart() -> None:
    command = "cd /srv/a && git commit -am x; cd ../b && git commit -am y"
    facts = facts_of(ran((command, "[one 1a2b3c4] x\n 1 file changed\n[two 9f8e7d6] y\n 1 file changed")))
    assert told_in(facts) == [
        "git in /srv/a: on branch one; last commit 1a2b3c4 “x”",
        "git in /srv/b: on branch two; last commit 9f8e7d6 “y”",
    ]


def test_a_command_without_a_folder_is_where_the_newest_one_was() -> None:
    steps = [("cd /srv/app && git switch -c sums", ""), ("git commit -am x", "[sums 1a2b3c4] x")]
    assert told_in(facts_of(ran(*steps))) == ["git: on branch sums; last commit 1a2b3c4 “x”"]
    assert told_in(facts_of(ran(COMMITTED, ("git -C /srv/app push", PUSHED[1])))) == [
        "git: on branch sums; last commit 1a2b3c4 “Rows add up”, pushed"
    ]


@pytest.mark.parametrize(
    ("steps", "line"),
    [
        ([("rtk git status", "📌 sums...origin/sums [ahead 4]\n📝 Modified: 1 files\n   rows.py"), ("rtk git commit -m 'Rows add up'", "ok ✓")], "git: on branch sums; last commit “Rows add up”, not pushed"),
        ([("git status -sb", "## sums...origin/sums\n M rows.py"), ("git commit -qam 'Rows add up'", "")], "git: on branch sums; last commit “Rows add up”"),
        ([("rtk git add rows.py && rtk git commit -m \"$(cat <<'EOF'\nRows add up\n\nThey did not.\nEOF\n)\"", "ok ✓ 1 file changed, 2 insertions(+)\nok ✓")], "git: last commit “Rows add up”"),
        ([("rtk git commit -m 'Rows add up'", "ok ✓ 1a2b3c4")], "git: last commit 1a2b3c4 “Rows add up”"),
        ([("git add rows.py && git commit -qm 'Rows add up' -m 'They did not.'", "")], "git: last commit “Rows add up”"),
    ],
    ids=["ahead", "beside its remote", "message in lines", "hash", "silent"],
)  # fmt: skip
def test_what_git_says_is_read_where_a_wrapper_shortens_it(steps: list[tuple[str, str]], line: str) -> None:
    assert told(facts_of(ran(*steps))) == [line]


def test_a_quiet_switch_amid_other_steps_leaves_the_branch_with_its_commit() -> None:
    elsewhere = ("cat rows.py; git checkout main -q; cat sums.py", "a = 1\nb = 2")
    assert told(facts_of(ran(COMMITTED, elsewhere))) == ["git: on branch main"]
    assert told(facts_of(ran(COMMITTED, elsewhere, ("cat rows.py; git checkout -b more -q", "a = 1")))) == [
        "git: on branch more"
    ]
    refused = ("git checkout main -q; cat sums.py", "error: Your local changes would be overwritten\nb = 2")
    assert told(facts_of(ran(COMMITTED, refused))) == ["git: on branch sums; last commit 1a2b3c4 “Rows add up”"]


def test_the_commit_of_a_branch_is_not_told_of_the_one_that_a_later_run_of_messages_is_on() -> None:
    elsewhere = facts_of(ran(("git status -sb", "## main...origin/main")))
    assert told(merge(facts_of(ran(COMMITTED)), elsewhere)) == ["git: on branch main; nothing left to commit"]


def test_a_commit_that_a_wrapper_made_is_told_as_one() -> None:
    facts = facts_of(ran(("rtk git add -A && rtk git commit -m 'Rows add up'", "ok ✓ 1a2b3c4")))
    assert [piece.text for piece in facts.pieces if piece.kind == "change"] == ["git commit: Rows add up → 1a2b3c4"]


@pytest.mark.parametrize(
    "tried",
    [
        "cd /tmp && mkdir try && cd try && git init && git add . && git commit -m init",
        'TRY=/tmp/try\nmkdir -p "$TRY"\ncd "$TRY"\ngit init\ngit commit -am init',
        "cd $(mktemp -d) && git init && git commit --allow-empty -m init",
        "TRY=$(mktemp -d); git -C $TRY init; git -C ${TRY} commit --allow-empty -m init",
        "cd /private/tmp/try && git commit -am init",
    ],
)
def test_what_is_committed_in_a_repository_for_passing_use_is_not_the_works(tried: str) -> None:
    answer = "Initialized empty Git repository\n[main (root-commit) 9f8e7d6] init"
    branch = ("git switch -c sums", "")
    assert told_in(facts_of(ran((tried, answer)))) == []
    for steps in ([branch, (tried, answer), COMMITTED], [(tried, answer), branch, COMMITTED]):
        assert told_in(facts_of(ran(*steps))) == ["git: on branch sums; last commit 1a2b3c4 “Rows add up”"]
    on_main = ("git commit -am x", "[main 1a2b3c4] x")
    both = merge(facts_of(ran(on_main)), facts_of(ran((tried, answer))))
    assert told_in(both) == ["git: on branch main; last commit 1a2b3c4 “x”"]


def test_a_repository_in_such_a_folder_is_told_where_the_work_is_there() -> None:
    edits = [*edited("/tmp/app/src/rows.py"), *edited("/tmp/app/tests/sums.py")]
    facts = facts_of([*edits, *ran(("cd /tmp/app && git commit -am x", "[main 1a2b3c4] x"))])
    assert told(facts) == ["git: on branch main; last commit 1a2b3c4 “x”"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("mcp__github__create_pull_request", '{"base": "main", "title": "Rows add up"}'),
        ("exec", 'const r = await tools.mcp__apps__github_create_pull_request({title: "Rows add up"});'),
    ],
)
def test_a_pull_request_that_a_tool_opened_is_known(tool: str, arguments: str) -> None:
    call = Message("assistant", (ToolCall("p1", tool, arguments),))
    answer = Message("tool", (ToolResult("p1", (Text('{"url": "https://github.com/a/b/pull/12", "state": "open"}'),)),))
    opened = "git: on branch sums; last commit 1a2b3c4 “Rows add up”; opened https://github.com/a/b/pull/12"
    assert told(facts_of([*ran(COMMITTED), call, answer])) == [opened]


MERGED = (
    "git fetch origin main && git merge origin/main",
    "Exit code 1\nAuto-merging src/rows.py\nCONFLICT (content): Merge conflict in src/rows.py\nAuto-merging src/sums.py\n"
    "CONFLICT (modify/delete): src/dates.py deleted in HEAD and modified in origin/main.\n"
    "Automatic merge failed; fix conflicts and then commit the result.",
)
STOPPED = "merge of origin/main under way, which stopped at conflicts in src/rows.py, src/dates.py"
PICKED = (
    "git cherry-pick 0f0f0f0",
    "Exit code 1\nCONFLICT (content): Merge conflict in src/rows.py\nerror: could not apply 0f0f0f0... Rows",
)
ONTO = (
    "git rebase origin/main",
    "Exit code 1\nRebasing (1/2)\nCONFLICT (content): Merge conflict in src/rows.py\nerror: could not apply 0f0f0f0... Rows",
)
ENDED = ("git commit --no-edit", "[sums 9f8e7d6] Merge origin/main")


@pytest.mark.parametrize(
    ("steps", "line"),
    [
        ([MERGED], f"; {STOPPED}; last"),
        ([MERGED, ("git add src/rows.py && go test ./...", "ok")], f"; {STOPPED}; last"),
        ([MERGED, ("git status", "On branch sums\nYou have unmerged paths.")], f"; {STOPPED}; last"),
        ([(f"{MERGED[0]} | tail -20", MERGED[1].removeprefix("Exit code 1\n"))], f"; {STOPPED}; last commit 1a2b3c4"),
        ([PICKED], "; cherry-pick of 0f0f0f0 under way, which stopped at conflicts in src/rows.py; last"),
        ([ONTO], "; rebase onto origin/main under way, which stopped at conflicts in src/rows.py; last"),
        ([ONTO, ("git rebase --continue", ONTO[1].replace("src/rows", "src/sums"))], "; rebase onto origin/main under way, which stopped at conflicts in src/sums.py; last"),
        ([("git pull origin main", MERGED[1])], f"; {STOPPED}; last"),
    ],
)  # fmt: skip
def test_a_merge_that_stopped_at_a_conflict_is_under_way(steps: Iterable[tuple[str, str]], line: str) -> None:
    [whole] = told(facts_of(ran(COMMITTED, *steps)))
    assert line in whole
    [of_two_runs] = told(merge(facts_of(ran(COMMITTED)), facts_of(ran(*steps))))
    assert line in of_two_runs
    page = compose(Brief(800), facts_of(ran(COMMITTED, *steps)))
    [again] = told(
        facts_of([Message("user", (Text(f"{SUMMARY_PREFIX}{page}{SUMMARY_SUFFIX}"),)), *ran(("ls", "rows.py"))])
    )
    assert line in again


@pytest.mark.parametrize(
    "steps",
    [
        [MERGED, ENDED],
        [MERGED, ("git merge --abort", "")],
        [MERGED, ("git reset --hard", "HEAD is now at 1a2b3c4 Rows add up")],
        [MERGED, ("git merge --continue", "[sums 9f8e7d6] Merge origin/main")],
        [MERGED, ("git checkout -f main", "Switched to branch 'main'")],
        [MERGED, ("git status", "On branch sums\nnothing to commit, working tree clean")],
        [PICKED, ENDED],
        [ONTO, ("git rebase --continue", "Successfully rebased and updated refs/heads/sums.")],
        [ONTO, ("git rebase --abort", "")],
        [(f"{MERGED[0]}; git merge --abort", MERGED[1])],
        [("grep -rn CONFLICT logs", "CONFLICT (content): Merge conflict in src/rows.py")],
    ],
)
def test_one_that_was_finished_or_given_up_is_over(steps: list[tuple[str, str]]) -> None:
    for facts in (
        facts_of(ran(COMMITTED, *steps)),
        merge(facts_of(ran(COMMITTED, steps[0])), facts_of(ran(*steps[1:]))),
    ):
        [line] = told(facts)
        assert "under way" not in line


AT = "https://github.com/a/b/pull/12"
OTHER_BRANCH = ("git switch -c dates", "Switched to a new branch 'dates'")


@pytest.mark.parametrize(
    ("steps", "told_as"),
    [
        ([("gh pr create --head rows --title 'Rows'", AT)], f"{AT} (from rows)"),
        ([("gh pr create --head=ann:rows --title 'Rows'", AT)], f"{AT} (from rows)"),
        ([("gh pr create --head sums --fill", AT)], AT),
        ([("gh pr create --fill --draft", AT)], f"{AT} (a draft)"),
        ([("gh pr create --fill --draft", AT), ("gh pr ready 12", "")], AT),
        ([OPENED, OTHER_BRANCH], f"{AT} (from sums)"),
        ([("gh pr create --fill -d && git switch dates", f"{AT}\nSwitched to branch 'dates'")], f"{AT} (a draft from sums)"),
        ([OPENED, OTHER_BRANCH, ("gh pr create --fill", f"{AT}3")], f"{AT} (from sums), {AT}3"),
    ],
)  # fmt: skip
def test_a_pull_request_is_told_with_its_branch_where_that_is_another_one(
    steps: Iterable[tuple[str, str]], told_as: str
) -> None:
    [line] = told(facts_of(ran(COMMITTED, *steps)))
    assert line.endswith(f"opened {told_as}")
    [of_two_runs] = told(merge(facts_of(ran(COMMITTED)), facts_of(ran(*steps))))
    assert of_two_runs.endswith(f"opened {told_as}")
    page = compose(Brief(800), facts_of(ran(COMMITTED, *steps)))
    [again] = told(
        facts_of([Message("user", (Text(f"{SUMMARY_PREFIX}{page}{SUMMARY_SUFFIX}"),)), *ran(("ls", "rows.py"))])
    )
    assert again.endswith(f"opened {told_as}")


def test_a_tool_that_opens_a_pull_request_may_say_from_which_branch() -> None:
    call = Message("assistant", (ToolCall("p1", "create_pull_request", '{"head": "ann:rows", "draft": true}'),))
    answer = Message("tool", (ToolResult("p1", (Text(AT),)),))
    [line] = told(facts_of([*ran(COMMITTED), call, answer]))
    assert line.endswith(f"opened {AT} (a draft from rows)")


@pytest.mark.parametrize(
    ("command", "answer", "line"),
    [
        ("git status --short", " M src/rows.py\n?? notes.md", "not committed: src/rows.py; not committed, not by the agent: notes.md"),
        ("git status", "On branch main\nChanges not staged for commit:\n\tmodified:   src/rows.py\n\nno changes added", "not committed: src/rows.py"),
        ("git status -sb", "## main\n M notes.md", "not committed, not by the agent: notes.md"),
        ("git status --short | head -1", " M src/rows.py", "not committed: src/dates.py, src/rows.py"),
        ("git status --short src/rows.py", " M src/rows.py", "not committed: src/dates.py, src/rows.py"),
        ("git status --short", " M src/rows.py\n?? ../Windows/\n?? ../pagefile.sys", "not committed: src/rows.py"),
    ],
)  # fmt: skip
def test_what_git_does_not_list_as_changed_is_committed(command: str, answer: str, line: str) -> None:
    changed = [*ran(("git switch main", "Already on 'main'")), *edited("src/rows.py"), *edited("src/dates.py")]
    known = "git: on branch main"
    assert told(facts_of([*changed, *ran((command, answer))])) == [f"{known}; {line}" if line else known]
    later = told(merge(facts_of(changed), facts_of([*ran((command, answer)), *edited("src/new.py")])))
    assert any("src/new.py" in each for each in later)


DIRTY = " M LESSONS.md\n?? .desk/\n---\n LESSONS.md | 37 +++--\n 1 file changed\n---\ndiff --git a/LESSONS.md b/LESSONS.md\n A lesson"


@pytest.mark.parametrize(
    ("command", "answer", "line"),
    [
        ("git status --short && echo --- && git diff --stat && git diff | head -100", DIRTY, "LESSONS.md, .desk/"),
        ("git diff --stat HEAD", " LESSONS.md | 37 +++--\n 1 file changed", "LESSONS.md"),
        ("git diff --stat main", " LESSONS.md | 37 +++--\n 1 file changed", ""),
        ("git show --stat HEAD", " LESSONS.md | 37 +++--\n 1 file changed", ""),
        ("git status -s", "\n".join(f"?? rows/part_{i}.py" for i in range(8)), "rows/{part_0.py, part_1.py, part_2.py, part_3.py, part_4.py, part_5.py, part_6.py, part_7.py}"),
        ("git status -s", "\n".join(f"?? {'row' * 40}_{i}" for i in range(8)), ", ".join(f"{'row' * 40}_{i}" for i in range(6)) + " and 2 more"),
    ],
)  # fmt: skip
def test_what_others_left_uncommitted_is_told_until_it_is_committed_or_put_away(
    command: str, answer: str, line: str
) -> None:
    seen = ran((command, answer))
    assert told(facts_of(seen)) == ([f"git: not committed: {line}"] if line else [])
    assert told(facts_of([*seen, *ran(("git stash -u", "Saved working directory and index state"))])) == []
    for after in (COMMITTED, ("git status --short", "")):
        for facts in (facts_of([*seen, *ran(after)]), merge(facts_of(seen), facts_of(ran(after)))):
            assert "not committed" not in "".join(told(facts))


@pytest.mark.parametrize(
    ("command", "known"),
    [("pytest -q", True), ("cd /srv && gofmt -w src/rows.py", True), ("make rows", False), ("make rows && pytest -q", False), ("mv old new", False)],
)  # fmt: skip
def test_files_that_no_edit_changed_are_others_where_no_command_may_have_written_them(
    command: str, known: bool
) -> None:
    listed = ("git status --short", " M src/rows.py\n M notes.md")
    [line] = told(facts_of([*edited("src/rows.py"), *ran((command, "ok"), listed)]))
    others = "not committed, not by the agent" if known else "also not committed"
    assert line == f"git: not committed: src/rows.py; {others}: notes.md"


LONG = "On branch main\nChanges to be committed:\n\tmodified:   src/rows.py\n\nChanges not staged for commit:\n\tmodified:   notes.md\n\nUntracked files:\n\ttry/"  # fmt: skip


@pytest.mark.parametrize(
    ("steps", "line"),
    [
        ([("git status --short", "M  src/rows.py\n M notes.md\n?? try/")], "staged: src/rows.py; changed, not staged: notes.md; untracked: try/"),
        ([("git status", LONG)], "on branch main; staged: src/rows.py; changed, not staged: notes.md; untracked: try/"),
        ([("git status", LONG.replace("notes.md", "src/rows.py"))], "on branch main; staged: src/rows.py; changed, not staged: src/rows.py; untracked: try/"),
        ([("git status --short", "MM src/rows.py\nA  src/dates.py")], "staged: src/rows.py, src/dates.py; changed, not staged: src/rows.py"),
        ([("git diff --cached --stat", " src/rows.py | 2 +-"), ("git diff --stat", " notes.md | 4 ++")], "staged: src/rows.py; changed, not staged: notes.md"),
        ([("git add src/rows.py && git status --short", "M  src/rows.py\n?? try/")], "staged: src/rows.py; untracked: try/"),
        ([("git status --short", "M  src/rows.py\nA  src/dates.py")], "not committed: src/rows.py, src/dates.py"),
        ([("git status --short", " M src/rows.py\n?? try/")], "not committed: src/rows.py, try/"),
        ([("git status --short", "M  src/rows.py\n M notes.md"), ("git add notes.md", "")], "not committed: notes.md; not committed, not by the agent: src/rows.py"),
        ([("git status --short && git add notes.md", "M  src/rows.py\n M notes.md")], "not committed: notes.md; not committed, not by the agent: src/rows.py"),
        ([("git diff --stat HEAD", " notes.md | 4 ++"), ("git diff --cached --stat", " src/rows.py | 2 +-")], "not committed: notes.md, src/rows.py"),
    ],
)  # fmt: skip
def test_what_is_staged_is_told_apart_where_some_of_it_is_not(steps: list[tuple[str, str]], line: str) -> None:
    assert told(facts_of(ran(*steps))) == [f"git: {line}"]
    folded = merge(facts_of(ran(*steps[:1])), facts_of(ran(*steps[1:]))) if steps[1:] else facts_of(ran(*steps))
    assert told(from_data(folded.data())) == [f"git: {line}"]


def test_what_the_agent_staged_and_changed_again_is_told_so() -> None:
    listed = ran(("git add -u && git status --short", "M  src/rows.py\n?? try/"))
    changed = facts_of([*edited("src/rows.py"), *listed])
    assert told(changed) == ["git: staged: src/rows.py; untracked: try/"]
    again = facts_of([*edited("src/rows.py"), *listed, *edited("src/rows.py")])
    assert told(again) == ["git: changed since: src/rows.py; staged: src/rows.py; untracked: try/"]


def test_a_commit_that_git_counts_as_ahead_is_not_pushed_until_a_push_is_seen() -> None:
    ahead = ("git status", "On branch sums\nYour branch is ahead of 'origin/sums' by 1 commit.\n\nnothing to commit")
    known = "git: on branch sums; last commit 1a2b3c4 “Rows add up”"
    first = facts_of(ran(COMMITTED, ahead))
    assert told(first) == [f"{known}, not pushed"]
    folded = Message("user", (Text(SUMMARY_PREFIX + compose(Brief(1_500), first) + SUMMARY_SUFFIX),))
    assert told(facts_of([folded, *ran(("ls", "src"))])) == [f"{known}, not pushed"]
    pushed = ("git push", "   0f0f0f0..1a2b3c4  sums -> sums")
    assert told(facts_of(ran(COMMITTED, ahead, pushed))) == [f"{known}, pushed"]
    [line] = told(merge(first, facts_of(ran(pushed))))
    assert line.endswith(", pushed")


def test_the_branch_that_an_agents_file_names_is_told_where_no_command_says_more() -> None:
    begun = [*ran(), *edited("src/rows.py")]
    noted = on_branch(facts_of(begun), "sums")
    assert told(noted) == ["git: on branch sums"]
    moved = facts_of([*ran(("git switch -c dates", "Switched to a new branch 'dates'")), *edited("src/rows.py")])
    assert told(on_branch(moved, "sums")) == ["git: on branch dates; not committed: src/rows.py"]
    folded = Message("user", (Summary(compose(Brief(1_500), noted), noted.data()),))
    assert told(on_branch(facts_of([folded, *edited("src/b.py")]), "newer")) == ["git: on branch newer"]


@pytest.mark.parametrize(
    ("command", "answer", "line"),
    [
        ("git status --short && git commit -am Rows", " M src/rows.py\n[main 1a2b3c4] Rows", ""),
        ("git status && git add -A && git commit -m Rows", "On branch main\n\tmodified:   src/rows.py\n[main 1a2b3c4] Rows", ""),
        ("git status -s; git stash", " M src/rows.py\nSaved working directory and index state", ""),
        ("git commit -m Rows && git status -s", "[main 1a2b3c4] Rows\n M src/rows.py", "; changed since: src/rows.py"),
    ],
)  # fmt: skip
def test_what_git_lists_before_it_commits_is_not_left(command: str, answer: str, line: str) -> None:
    first, second = edited("src/rows.py"), ran((command, answer))
    for facts in (
        facts_of([*first, *second]),
        merge(facts_of(first), facts_of(second)),
        settled(facts_of(first), facts_of(second)),
    ):
        [repository] = [each for each in state(facts) if each.startswith("git: ")] or [""]
        assert ("changed since" in repository or "not committed" in repository) == bool(line)
        assert repository.endswith(line)


OTHER = "https://github.com/a/b/pull/13"
NO_OUTPUT = "(the command completed with no output)"


@pytest.mark.parametrize(
    ("steps", "told_as"),
    [
        ([("gh pr merge 12 --squash 2>&1", "")], f"opened {AT} (merged)"),
        ([("gh pr merge 12 --squash", NO_OUTPUT)], f"opened {AT} (merged)"),
        ([("gh pr merge --squash --delete-branch", "")], f"opened {AT} (merged)"),
        ([("gh pr merge -s 12", "✓ Squashed and merged pull request a/b#12 (Rows add up)")], f"opened {AT} (merged)"),
        ([("gh pr view 12 --json state,mergeCommit", '{"mergeCommit":{"oid":"0f0f0f0"},"state":"MERGED"}')], f"opened {AT} (merged)"),
        ([("gh pr view 12 --json state -q .state", "MERGED")], f"opened {AT} (merged)"),
        ([("gh pr view 12", "title:\tRows add up\nstate:\tCLOSED\nauthor:\tann")], f"opened {AT} (closed)"),
        ([("gh pr close 12", "✓ Closed pull request a/b#12 (Rows add up)")], f"opened {AT} (closed)"),
        ([("gh pr close 12", "✓ Closed pull request a/b#12 (Rows)"), ("gh pr reopen 12", "✓ Reopened pull request a/b#12 (Rows)")], f"opened {AT}"),
        ([("gh pr view 12 --json state", '{"state":"OPEN"}')], f"opened {AT}"),
        ([("gh pr merge 12 --squash --auto", "")], f"opened {AT}"),
        ([("gh pr merge 12 --squash | tail -1", "X Pull request a/b#12 is not mergeable: the base branch policy prohibits the merge.")], f"opened {AT}"),
        ([("gh pr merge 112", "")], f"opened {AT}"),
        ([("gh pr merge 12 -R c/d", "")], f"opened {AT}"),
        ([("gh pr merge https://github.com/c/d/pull/12", "")], f"opened {AT}"),
        ([(f"gh pr merge {AT}", "")], f"opened {AT} (merged)"),
        ([("gh pr merge $OLDER", "")], f"opened {AT}"),
        ([("gh pr view 12 --json state; gh pr view 9 --json state", '{"state":"OPEN"}\n{"state":"MERGED"}')], f"opened {AT}"),
        ([("gh pr create --fill", OTHER), ("gh pr merge 12", "")], f"opened {OTHER}"),
        ([("gh pr merge --squash", ""), ("gh pr create --fill", OTHER)], f"opened {OTHER}"),
        ([("gh pr create --fill", OTHER), ("gh pr merge 12", ""), ("gh pr merge 13", "")], f"opened {OTHER} (merged)"),
    ],
)  # fmt: skip
def test_a_pull_request_that_was_merged_or_closed_is_told_so(steps: list[tuple[str, str]], told_as: str) -> None:
    [line] = told(facts_of(ran(COMMITTED, OPENED, *steps)))
    assert line.endswith(f"; {told_as}")
    [of_two_runs] = told(merge(facts_of(ran(COMMITTED, OPENED)), facts_of(ran(*steps))))
    assert of_two_runs.endswith(f"; {told_as}")
    page = compose(Brief(800), facts_of(ran(COMMITTED, OPENED, *steps)))
    [again] = told(
        facts_of([Message("user", (Text(f"{SUMMARY_PREFIX}{page}{SUMMARY_SUFFIX}"),)), *ran(("ls", "rows.py"))])
    )
    assert again.endswith(f"; {told_as}")


@pytest.mark.parametrize(
    ("command", "answer", "end"),
    [
        ("gh pr merge 12 -m | tail -1 && git pull && git log --oneline -1", "Fast-forward\n9f8e7d6 Merge pull request #12 from a/sums", " (merged)"),
        ("git fetch && git log -2 origin/main", "commit 9f8e7d6aa\nMerge: 0f0f0f0 1a2b3c4\n\n    Merge pull request #12 from a/sums", " (merged)"),
        ("git log --oneline -2", "9f8e7d6 Merge pull request #112 from a/dates\n0f0f0f0 Begin", ""),
        ("git log --oneline -2", '9f8e7d6 Revert "Merge pull request #12 from a/sums"', ""),
        ("cat notes.md", "9f8e7d6 Merge pull request #12 from a/sums", ""),
    ],
)  # fmt: skip
def test_a_pull_request_is_merged_where_a_log_shows_the_commit_that_took_it_in(
    command: str, answer: str, end: str
) -> None:
    [line] = told(facts_of(ran(COMMITTED, OPENED, (command, answer))))
    assert line.endswith(f"opened {AT}{end}")


def test_it_is_known_from_whatever_folder_it_was_merged_in() -> None:
    opened = [("cd /srv/rows-sums && git switch -c sums && gh pr create --fill", AT)]
    merged = [("cd /srv/rows && gh pr merge 12 && git pull", "Updating 0f0f0f0..1a2b3c4\nFast-forward")]
    viewed = [("cd /srv/rows && gh pr view 12 --json state", '{"state":"MERGED"}')]
    both = merge(facts_of(ran(*opened)), facts_of(ran(*merged, *viewed)))
    assert any(line.endswith(f"opened {AT} (merged)") for line in state(both))


@pytest.mark.parametrize(
    ("steps", "branch"),
    [
        ([("git checkout main && git pull", "Switched to branch 'main'\nAlready up to date.")], "main"),
        ([("git checkout -q main && git pull -q", "")], "main"),
        ([("git switch -q main", NO_OUTPUT)], "main"),
        ([("gh pr merge 12 -d", "✓ Merged pull request a/b#12 (Rows)\n✓ Deleted local branch sums and switched to branch main")], "main"),
        ([("git checkout -q src/rows.py", "")], "sums"),
        ([("git checkout -q 0f0f0f0", "")], "sums"),
        ([("git checkout -q main -- rows.py", "")], "sums"),
    ],
)  # fmt: skip
def test_the_branch_is_the_one_that_was_checked_out_last(steps: list[tuple[str, str]], branch: str) -> None:
    for facts in (facts_of(ran(COMMITTED, *steps)), merge(facts_of(ran(COMMITTED)), facts_of(ran(*steps)))):
        assert told(facts)[0].startswith(f"git: on branch {branch}")


def test_a_repository_in_which_nothing_was_changed_is_not_that_of_the_work() -> None:
    looked = ran(("cd /srv/other && git checkout main", "Switched to branch 'main'"))
    lines = list(state(facts_of([*looked, *edited("/srv/shop/src/rows.py")])))
    assert lines == ["git in /srv/other: on branch main"]


def read(path: str) -> list[Message]:
    call = ToolCall(f"r-{path}", "read", json.dumps({"path": path}))
    return [Message("assistant", (call,)), Message("tool", (ToolResult(call.id, (Text("rows = 3"),)),))]


PATCH = "diff --git a/src/rows.py b/src/rows.py\nindex 1a2b3c4..5d6e7f8 100644\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/src/dates.py b/src/dates.py"  # fmt: skip
STAT = " src/rows.py  | 2 +-\n src/dates.py | 4 ++--\n 2 files changed"


@pytest.mark.parametrize(
    ("command", "answer", "reviewed"),
    [
        ("git diff 1a2b3c4", PATCH, True),
        ("git diff main...sums --stat", STAT, True),
        ("git diff --name-status main", "M\tsrc/rows.py\nA\tsrc/dates.py", True),
        ("gh pr diff 12", PATCH, True),
        ("git show 1a2b3c4", PATCH, False),
        ("git log -p -2", PATCH, False),
    ],
)
def test_the_files_that_a_diff_under_review_names_are_told_as_such(command: str, answer: str, reviewed: bool) -> None:
    lines = files(facts_of(ran((command, answer))), 1_000)
    assert lines == (["in diffs that were read: src/{rows.py, dates.py}"] if reviewed else [])


def test_of_such_files_those_that_the_agent_changed_stand_with_the_changed_ones_and_none_twice() -> None:
    reviewed = [*ran(("git diff main --stat", STAT)), *read("src/rows.py"), *read("src/sums.py")]
    assert files(facts_of([*reviewed, *edited("src/dates.py")]), 1_000) == [
        "changed: src/dates.py",
        "in diffs that were read: src/rows.py",
        "read: src/sums.py",
    ]


def test_what_git_lists_as_not_committed_stands_in_the_state_alone() -> None:
    facts = facts_of(ran(("git status --short && git diff --stat", f" M src/rows.py\n M src/dates.py\n{STAT}")))
    assert told(facts) == ["git: not committed: src/rows.py, src/dates.py"]
    assert files(facts, 1_000) == []


def test_what_git_listed_of_others_before_the_newest_request_is_not_told_as_it_may_be_gone() -> None:
    listed = ran(("git status --short", " M notes.md\n?? try/"))
    asked = Message("user", (Text("Now tell me which of the rows are summed twice, and why that is so."),))
    looked = [m for n in range(9) for m in runs("read", {"path": f"src/rows_{n}.py"}, "rows = 3", id=f"r{n}")]
    assert told(facts_of([*listed, *looked])) == ["git: not committed: notes.md, try/"]
    assert told(facts_of([*listed, asked])) == ["git: not committed: notes.md, try/"]
    assert told(facts_of([*listed, asked, *looked])) == []
    assert told(merge(facts_of(listed), facts_of([asked, *looked]))) == []
    assert told(merge(facts_of(listed), facts_of(looked))) == ["git: not committed: notes.md, try/"]
    assert told(merge(facts_of([asked, *looked]), facts_of(listed))) == ["git: not committed: notes.md, try/"]


def test_a_diff_alone_says_nothing_of_what_is_committed_on_the_branch_that_an_agents_file_names() -> None:
    compared = ran(("git diff main -- src/rows.py", "diff --git a/src/rows.py b/src/rows.py\n@@ -1 +1 @@\n-a\n+b"))
    assert told(on_branch(facts_of([*compared, *edited("src/dates.py")]), "sums")) == ["git: on branch sums"]


MADE = "[main b9d1481] Round the rows\n 1 file changed, 2 insertions(+)"


@pytest.mark.parametrize(
    "by_user",
    [
        ("<bash-input>git commit -am 'Round the rows'</bash-input>", f"<bash-stdout>{MADE}</bash-stdout><bash-stderr></bash-stderr>"),
        (f"Ran `git commit -am 'Round the rows'`\n```\n{MADE}\n```",),
    ],
    ids=["Claude Code", "pi"],
)  # fmt: skip
def test_a_commit_that_the_user_made_in_the_client_is_the_newest_one(by_user: tuple[str, ...]) -> None:
    typed = [Message("user", (Text(text),)) for text in by_user]
    facts = facts_of([*ran(("git switch main", "Switched to branch 'main'")), *edited("src/rows.py"), *typed])
    assert told(facts) == ["git: on branch main; last commit b9d1481 “Round the rows”"]


def test_a_commit_that_a_script_made_is_where_the_work_stands() -> None:
    made = ("./scripts/commit_ticket.sh T-10 'Fix rows'", "[feat/t-10 d63cdcb] [T-10] Fix rows\n 7 files changed")
    line = "git: on branch feat/t-10; last commit d63cdcb “[T-10] Fix rows”"
    assert told(facts_of(ran(COMMITTED, made))) == [line]
    assert told(facts_of(ran(COMMITTED, ("cat commits.log", made[1])))) != [line]


def test_what_git_lists_as_deleted_by_somebody_else_is_told_as_that() -> None:
    listing = ("git status --short", " M notes.md\n D old/rows.py\n D old/sums.py")
    [line] = told(facts_of(ran(listing)))
    assert line == "git: not committed: notes.md; not committed, deleted: old/rows.py, old/sums.py"


def commit_of(number: int, *staged: str, count: int = 0) -> tuple[str, str]:
    command = f"git add {' '.join(staged)} && git commit -m 'Step {number}'"
    return command, f"[sums {number}a2b3c4] Step {number}\n {count or len(staged)} files changed, 2 insertions(+)"


def left_out(facts: Facts) -> str:
    return told(facts)[0].partition("; changed and in none of the commits: ")[2]


@pytest.mark.parametrize(
    ("steps", "out"),
    [
        ([commit_of(1, "src/rows.py")], True),
        ([commit_of(1, "src/")], True),
        ([("git add src/rows.py", ""), ("git commit -m 'Step 1'", "[sums 1a2b3c4] Step 1\n 1 file changed")], True),
        ([commit_of(1, "src/rows.py"), commit_of(2, "src/sums.py")], True),
        ([commit_of(1, "src/rows.py"), commit_of(2, "docs/rows.md")], False),
        ([commit_of(1, "src/rows.py", "docs")], False),
        ([commit_of(1, "src/rows.py", count=2)], False),
        ([commit_of(1, ".")], False),
        ([commit_of(1, "src/*", "docs/*")], False),
        ([commit_of(1, "src/rows.py"), ("git commit -qam 'Step 2'", "")], False),
        ([("git add src/rows.py && git commit -qam 'Step 1'", "")], False),
        ([("git add src/rows.py && ./commit.sh 'Step 1'", "[sums 1a2b3c4] Step 1\n 96 files changed")], False),
        ([commit_of(1, "src/rows.py"), ("git status", "On branch sums\nnothing to commit, working tree clean")], False),
    ],
)  # fmt: skip
def test_what_no_commit_was_told_to_take_in_is_not_committed(steps: list[tuple[str, str]], out: bool) -> None:
    changed = [*edited("src/rows.py"), *edited("docs/rows.md"), *edited("src/sums.py")]
    asked, *rest = ran(*steps)
    messages = [asked, *changed, *rest]
    assert ("docs/rows.md" in left_out(facts_of(messages))) is out
    first = len(messages) - len(rest)
    assert ("docs/rows.md" in left_out(merge(facts_of(messages[:first]), facts_of(messages[first:])))) is out


def test_what_was_left_out_and_changed_again_is_told_once() -> None:
    asked, *rest = ran(commit_of(1, "src/rows.py"))
    line = told(facts_of([asked, *edited("src/rows.py"), *edited("docs/rows.md"), *rest, *edited("docs/rows.md")]))[0]
    assert line.endswith("changed since: docs/rows.md")


def test_a_commit_stands_whose_push_failed() -> None:
    pushed = "[sums 1a2b3c4] Rows add up\n 1 file changed\nremote: Permission denied.\nfatal: unable to access 'https://github.com/a/b/'"
    asked, *rest = ran(("git add . && git commit -m 'Rows add up' && git push 2>&1", pushed))
    failed = [replace(m, parts=tuple(replace(p, error=True) for p in m.parts)) if m.role == "tool" else m for m in rest]
    line = told(facts_of([asked, *edited("src/rows.py"), *failed]))[0]
    assert line == "git: on branch sums; last commit 1a2b3c4 “Rows add up”"
