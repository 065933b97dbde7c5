"""Calls as they are told: what they do and on what, without what stands around it in a command line."""

from __future__ import annotations

import pytest

from foldline import Brief, Message
from foldline._facts.reading import facts_of
from foldline._page.extract import compose
from foldline.extend import Text, extract
from talk import bash, runs, says, user

ASKED = user("Let the lighthouse keep a log of the ships that pass, please.")
TOLD = ("call", "change", "failure")


def told(messages: list[Message]) -> list[str]:
    facts = facts_of([ASKED, *messages, says("Let me see.")])
    return [piece.text for piece in facts.pieces if piece.by == "tool" and piece.kind in TOLD]


ORDER = "cat > \"$order\" <<'EOF'\nWrite the log anew.\nEOF"


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (f'order=$(mktemp).md; {ORDER}\nprintf "%s\\n" "$order"; harbour hire clerk -P "$order"', '`harbour hire clerk -P "$order"`'),
        ('one=$(mktemp).md; two=$(mktemp).md; cat > "$one" <<A\nx\nA\ncat > "$two" <<B\ny\nB\nharbour hire -P "$one"; harbour hire -P "$two"', '`harbour hire -P "$one"; harbour hire -P "$two"`'),
        ("set -euo pipefail; export LAMP=on; ROOT=$(pwd); cd /srv/app && harbour open", "`harbour open`"),
        ("cat > /tmp/order.md <<'EOF'\nWrite it.\nEOF\nharbour hire -P /tmp/order.md", "`harbour hire -P /tmp/order.md`"),
        ("LAMP=$(pwd)/lamp harbour open", "`LAMP=$(pwd)/lamp harbour open`"),
        ("harbour close; printf 'all' | harbour open", "`harbour close; harbour open`"),
        ('ships=$(harbour count); echo "$ships"', '`ships=$(harbour count); echo "$ships"`'),
        ("cat > notes.md <<'EOF'\nx\nEOF\nharbour open", "`cat > notes.md <<…; harbour open`"),
    ],
    ids=["prompt", "two prompts", "set up", "named file", "for one command", "what is given", "what a variable takes", "file of the work"],
)  # fmt: skip
def test_what_a_command_does_is_told_without_what_sets_it_up(command: str, line: str) -> None:
    assert told(bash(command, "done")) == [line]


@pytest.mark.parametrize(
    "command", ["cd /srv/app", "export LAMP=on; set -e", "order=$(mktemp).md", 'echo "=== the lamp ==="']
)
def test_a_command_that_only_sets_up_is_told_where_it_failed(command: str) -> None:
    assert told(bash(command, "Process exited with code 0\nOutput:\n")) == []
    (line,) = told(bash(command, "Process exited with code 1\nOutput:\nNo such file or directory"))
    assert line.startswith(f"`{command}` → ")


CODE = "import re, pathlib\\nfor each in ships:\\n    each.name = re.sub(...)\\n    each.log(each.name, at=now())"


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (f"perl -0pi -e 's/fn shine\\(\\)\\n\\{{.{{80}}/{'x' * 60}/s' src/lamp.rs", "`perl -0pi -e '…' src/lamp.rs`"),
        (f'python3 -c "{CODE}" ships.csv', "`python3 -c '…' ships.csv`"),
        ("sed -i 's/lamp/light/' src/lamp.rs src/log.rs", "`sed -i 's/lamp/light/' src/lamp.rs src/log.rs`"),
        ("python3 - <<'EOF'\nopen('src/log.py', 'w').write(text)\nEOF", "`python3 - <<… # writes src/log.py`"),
        ("node -e \"const fs = require('fs');\nfs.writeFileSync('log.json', '[]')\"", "`node -e '…' # writes log.json`"),
        ("python3 - <<'EOF'\nfrom pathlib import Path\nlamp = Path('src/lamp.py')\nlamp.write_text(lamp.read_text() + 'x')\nEOF", "`python3 - <<… # writes src/lamp.py`"),
    ],
    ids=["perl", "python", "short sed", "heredoc", "node", "path in a variable"],
)  # fmt: skip
def test_of_code_in_a_command_the_program_and_its_files_are_told(command: str, line: str) -> None:
    assert told(bash(command, "")) == [line]


EDITING = """cd /srv/app && python3 - <<'PY'
from pathlib import Path
lamp = Path('src/lamp.py')
old = "def shine(ship):\\n    return ship"
new = "def shine(ship, depth=1):\\n    return ship * depth"
lamp.write_text(lamp.read_text().replace(old, new))
print('%s')
PY"""


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("the lamp takes a depth now", "edit src/lamp.py (shine) → the lamp takes a depth now"),
        ("done", "edit src/lamp.py (shine)"),
        ("", "edit src/lamp.py (shine)"),
        ("OLD NOT FOUND", "`python3 - <<… # writes src/lamp.py` → failed; OLD NOT FOUND"),
    ],
)
def test_an_edit_by_lines_of_python_is_told_as_one_with_what_these_say_of_it(said: str, line: str) -> None:
    assert told(bash(EDITING % said, said)) == [line]


PATCH = """apply_patch <<'EOF'
*** Begin Patch
*** Add File: src/slug.js
+export function anchorOf(heading) {
+  return heading.trim();
+}
*** Update File: README.md
@@
-Anchors are not checked.
+Anchors are checked.
*** End Patch
EOF"""


def test_of_several_commits_in_one_command_all_are_told() -> None:
    command = (
        "git add src && git commit -q -m 'Trim the lamp' && git add docs && git commit -m 'Say how the lamp is trimmed'"
    )
    answer = (
        "[main 1a2b3c4] Trim the lamp\n 2 files changed\n[main 5d6e7f8] Say how the lamp is trimmed\n 1 file changed"
    )
    assert told(bash(command, answer)) == ["git commit: Trim the lamp (1a2b3c4); Say how the lamp is trimmed (5d6e7f8)"]


def test_a_patch_that_a_command_applies_is_told_as_an_edit() -> None:
    made = bash(PATCH, "Success. Updated the following files:\nA src/slug.js\nM README.md")
    assert told(made) == ["edit src/slug.js (anchorOf), README.md"]
    (line,) = told(bash(PATCH, "Process exited with code 1\nOutput:\nerror: patch failed: README.md:3", error=True))
    assert line.startswith("`apply_patch <<…")


def test_an_edit_by_lines_of_python_with_a_look_behind_it_is_one_and_what_that_shows_is_not_what_it_says() -> None:
    look = EDITING % "x" + "\nsed -n '1,3p' src/lamp.py"
    assert told(bash(look, "def shine(ship, depth=1):\n    return ship * depth")) == ["edit src/lamp.py (shine)"]


def test_an_edit_by_lines_of_python_that_found_nothing_to_replace_changed_no_file() -> None:
    missed = facts_of([ASKED, *bash(EDITING % "x", "OLD NOT FOUND")])
    made = facts_of([ASKED, *bash(EDITING % "x", "ok")])
    assert [file.path for file in missed.files if file.changed] == []
    assert [file.path for file in made.files if file.changed] == ["src/lamp.py"]


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("sed -i 's/on/off/' lamp.py && sed -n '1,9p' lamp.py", "def shine(ship_log):\n    return ship_log.lamp_off"),
        ("make -j4", "gcc -c -O2 lamp.c -o lamp.o -DSHIP_LOG\nar -csru libship_log.a lamp.o\nmake: Leaving directory '/srv/ship_log'"),
    ],
)  # fmt: skip
def test_what_a_changed_file_looks_like_and_how_a_build_calls_its_compiler_are_not_told(
    command: str, answer: str
) -> None:
    asked = user("Make ship_log and lamp_off work, and libship_log.a with them.")
    pieces = facts_of([asked, *bash(command, answer)]).pieces
    assert [piece.text for piece in pieces if piece.kind in ("excerpt", "result")] == []


def test_a_look_at_files_is_told_by_them_and_another_one_by_what_it_is_for() -> None:
    shows = "git diff HEAD~2 -- apps/lighthouse/src/lamp/brightness.rs apps/lighthouse/src/log.rs"
    seeks = "grep -rn ship apps/lighthouse/src --include=*.rs | sort | uniq -c | sort -rn | head -20"
    shown = runs("Bash", {"command": shows, "description": "Shows what changed in the lamp"}, "+on")
    sought = runs("Bash", {"command": seeks, "description": "Look where ships are counted"}, "3 ship")
    coded = runs("Bash", {"command": "node -e 'const a = 1;\nprint(a)'", "description": "Ask how bright it is"}, "3")
    assert told([*shown, *sought, *coded]) == [f"`{shows}`", "Look where ships are counted", "Ask how bright it is"]


def test_a_search_is_told_by_what_it_sought_and_that_it_found_nothing() -> None:
    nothing = runs("glob", {"pattern": "**/HARBOUR.md", "path": "/srv/app"}, "No files found")
    some = runs("grep", {"pattern": "shine", "path": "src/lamp.rs", "include": "*.rs"}, "src/lamp.rs:3: fn shine()")
    assert told([*nothing, *some]) == [
        "glob **/HARBOUR.md in /srv/app → No files found",
        "grep shine in src/lamp.rs, include=*.rs",
    ]


def test_a_search_whose_result_is_not_told_is_left_out_beside_other_calls() -> None:
    sought = runs("grep", {"pattern": "shine", "path": "src"}, "src/lamp.rs:3: fn shine()")
    ran = bash("harbour open --lamp on", "the harbour is open")
    nothing = runs("glob", {"pattern": "**/HARBOUR.md"}, "No files found", id="g")
    beside = compose(Brief(2_000), facts_of([ASKED, *sought, *nothing, *ran]))
    assert "grep shine" not in beside
    assert "glob **/HARBOUR.md → No files found" in beside


@pytest.mark.parametrize(
    ("path", "content", "line"),
    [
        ("styles.css", ".lamp {\n  transform: translateY(2px);\n}", "write styles.css"),
        ("ships.json", '{"shipLog": {"lampOn": true}}', "write ships.json"),
        ("lamp.tsx", "interface LampProps {\n}\nexport function Lamp(props: LampProps) {\n}", "write lamp.tsx (Lamp)"),
        ("props.ts", "export interface LampProps {\n}", "write props.ts (LampProps)"),
        ("log.md", "# The log\n\n| shipName | lampOn |", "write log.md"),
        ("lamp.ts", "export const useLamp = makeStore('lamp', {})", "write lamp.ts (useLamp)"),
        ("lamp.yml", "lampStore: on\nSHIP_LOG: shipLog", "write lamp.yml"),
    ],
)
def test_of_a_written_file_what_it_defines_is_told_and_nothing_else(path: str, content: str, line: str) -> None:
    assert told(runs("write", {"path": path, "content": content})) == [line]


def test_what_lies_in_a_folder_is_not_told() -> None:
    looked = runs(
        "list_directory", {"dir_path": "src/lamps"}, "Directory listing for src/lamps:\nlamp_7.rs (1222 bytes)"
    )
    ran = bash("harbour open --lamp on", "the harbour is open")
    assert "lamp_7" not in compose(Brief(2_000), facts_of([ASKED, *looked, *ran]))


@pytest.mark.parametrize(("asked", "does"), [("create", "create"), ("str_replace", "edit"), ("insert", "edit"), ("view", "view")])  # fmt: skip
def test_an_editor_that_is_one_tool_is_told_by_what_it_is_to_do(asked: str, does: str) -> None:
    assert told(runs("str_replace_editor", {"command": asked, "path": "lamp.ts"}, "done"))[0] == f"{does} lamp.ts"


def test_of_several_runs_of_tests_all_are_told_unless_one_failed() -> None:
    one, two = (
        "@harbour/lamp test: Ran 40 tests across 3 files. [1.2s]",
        "@harbour/log test: Ran 2 tests across 1 file.",
    )
    assert told(bash("bun run test", f"{one}\n{two}")) == ["`bun run test` → Ran 42 tests in 2 runs"]
    failed = f"{one}\n@harbour/log test:  1 fail\n{two}"
    assert not any("42 tests" in line for line in told(bash("bun run test", failed)))


def test_of_an_install_the_package_is_told_and_no_progress() -> None:
    put_out = "bun add v1.3.9 (cf6cdbbb)\nResolving dependencies\nResolved, downloaded and extracted [4]\nSaved lockfile\n\ninstalled foghorn@2.4.1\n\n1 package installed [0.9s]"
    facts = facts_of([ASKED, *bash("bun add foghorn", put_out), says("Let me see.")])
    assert told(bash("bun add foghorn", put_out)) == ["`bun add foghorn` → installed foghorn@2.4.1"]
    brought = [piece.text for piece in facts.pieces if piece.kind == "excerpt"]
    assert not any("v1.3.9" in line or line.startswith("Resolv") for line in brought)


def test_a_call_that_only_has_code_is_told_by_how_that_begins() -> None:
    clicks = runs(
        "browser", {"code": "goto('http://localhost:5346')\nclick('12')"}, "[12] button 'Scan', clickable\n" * 40
    )
    again = runs("browser", {"code": "click('21')"}, "[21] button 'All', clickable\n" * 40)
    assert told([*clicks, *again]) == [
        "browser code=goto('http://localhost:5346') click('12')",
        "browser code=click('21')",
    ]


def test_what_an_agent_notes_down_to_think_is_a_thought_and_no_call() -> None:
    thinks = runs("think", {"thought": "BOH180 costs 5662 now and 1204 in economy, which saves 4458."}, "Your thought has been logged.")  # fmt: skip
    text = extract(
        Brief(2_000), [user("What does it save?"), *thinks, *runs("get_price", {"of": "BOH180"}, "5662")]
    ).text
    assert "· BOH180 costs 5662 now and 1204 in economy, which saves 4458." in text
    assert "logged" not in text


def test_a_thought_that_is_noted_down_as_it_was_said_is_told_once() -> None:
    noted = "I need two scripts:\n1. `detect.sh` reads auth.log and counts what rules.json names\n2. `respond.sh` takes an IP address and blocks it"
    [thinks, logged] = runs("think", {"thought": noted}, "Your thought has been logged.")
    beside = Message("assistant", (Text(f"Now I understand the logs.\n{noted}"), *thinks.parts))
    told = [piece.text for piece in facts_of([user("Guard the server."), beside, logged]).pieces]
    assert sum("`detect.sh` reads auth.log" in each for each in told) == 1


def test_an_edit_by_a_program_is_told_by_what_it_puts_in_place_of_what() -> None:
    first = """sed -i 's/parent.config.getini("python_files") + \\["__init__.py"\\]/parent.config.getini("python_files")/' src/python.py"""
    lines = told([*bash(first), *bash("sed -i 's/a/b/' src/python.py")])
    assert lines[0].startswith("""`sed -i 's/parent.config.getini("python_files") + \\["__init__""")
    assert len(lines) == 2
