"""How calls ended, where an output says of something else how it ended; each row was seen in a recorded session."""

from __future__ import annotations

import json

import pytest

from foldline import Brief, Message
from foldline._facts.merging import settled
from foldline._facts.reading import facts_of
from foldline._page.extract import compose
from foldline._page.files import files
from foldline._page.state import state, unchecked
from talk import bash, runs, says, user

ASKED = user("Look at the lint tasks and say what they do, please.")


def told(messages: list[Message]) -> list[str]:
    return [line for line in state(facts_of([ASKED, *messages, says("Let me see.")])) if line.startswith("open error")]


SCRIPT = "#!/usr/bin/env bash\nif ! golangci-lint run; then\n  echo 'error: lint failed'\n  exit 1\nfi"


@pytest.mark.parametrize(
    "messages",
    [
        bash("for f in tasks/*; do cat $f; done", f"Process exited with code 0\nOutput:\n{SCRIPT}"),
        bash("cat tasks/lint", f"<returncode>0</returncode>\n<output>\n{SCRIPT}\n</output>"),
        bash("mise run check", json.dumps({"chunk_id": "a1", "exit_code": 0, "output": SCRIPT}, separators=(",", ":"))),
        bash("golangci-lint run", "<tool_use_error>Cancelled: parallel tool call Bash(mise run lint) errored</tool_use_error>", error=True),
        bash("golangci-lint run", "<tool_use_error>Sibling tool call errored</tool_use_error>", error=True),
        runs("write_stdin", {"session_id": 7, "chars": ""}, "write_stdin failed: Unknown process id 7", error=True),
        runs("list_mirrors", {"server": "desk"}, "mirrors/list failed: unknown server 'desk'", error=True),
        bash("cargo add --dry-run vfox --path crates/vfox", "Process exited with code 101\nOutput:\nerror: the crate `vfox` could not be found"),
        runs("edit", {"path": "a.py", "oldText": "x", "newText": "y"}, "String to replace not found in file.", error=True),
    ],
    ids=["printed script", "tags", "record", "cancelled with its sibling", "errored beside it", "wait for nothing", "look-up of nothing", "dry run", "edit that was not made"],
)  # fmt: skip
def test_these_are_no_open_errors(messages: list[Message]) -> None:
    assert told(messages) == []


TRIED = "[desk] POST /shares: 312 | raises\nerror: the share is asleep\n      at <anonymous> (desk.test.ts:317:25)\n\n"


@pytest.mark.parametrize(
    ("end", "fails"),
    [
        (" 132 pass\n 0 fail\n 289 expect() calls\nRan 132 tests across 6 files. [86.00ms]", False),
        ("Tests:  132 passed, 132 total\nTime: 3 s", False),
        ("===== 132 passed in 3.1s =====", False),
        ("# pass 132\n# fail 0", False),
        (" 131 pass\n 1 fail\nRan 132 tests across 6 files. [86.00ms]", True),
        ("===== 1 failed, 131 passed in 3.1s =====", True),
        ("===== 131 passed, 1 error in 3.1s =====", True),
        ("", True),
    ],
)
def test_what_tests_try_out_is_no_failure_where_they_say_that_none_failed(end: str, fails: bool) -> None:
    assert bool(told(bash("bun run test 2>&1 | tail -30", TRIED + end))) == fails


def test_an_error_is_open_until_something_closes_it() -> None:
    failed = bash("mise run check", "Process exited with code 2\nOutput:\nerror: 3 files are not formatted")
    assert told(failed) == ["open error: `mise run check` → error: 3 files are not formatted"]
    assert told([*failed, *bash("mise run check", "Process exited with code 0\nOutput:\nok")]) == []


PRINTED = 'fn lock() {\n    bail!(\n        "cannot take the lock: {}",\n        String::from(&failed.stderr).trim()\n    )\n}'
FOUND = "src/lock.rs:14:9: error: unused variable: `mirror`\nerror: could not compile `courier` (bin) due to 1 previous error"


@pytest.mark.parametrize(
    ("command", "output", "line"),
    [
        (
            "courier check",
            "thread 'main' stopped\n\n    Error output:\n    the import of Mirrors.pkl is not there\n\nLocation: 4",
            "Error output: the import of Mirrors.pkl is not there",
        ),
        ("sed -n '1,6p' src/lock.rs; cargo check", f"{PRINTED}\n{FOUND}", FOUND.partition("\n")[0]),
        ("make check", f"{PRINTED}\nthe mirror refused the key of the desk", "the mirror refused the key of the desk"),
    ],
    ids=["below its label", "behind printed code", "in plain words behind printed code"],
)
def test_why_it_failed_is_told_and_no_label_nor_a_line_of_code(command: str, output: str, line: str) -> None:
    failed = bash(command, f"Process exited with code 101\nOutput:\n{output}")
    (error,) = told(failed)
    assert error.endswith(f"→ {line}")


@pytest.mark.parametrize(
    ("failed", "again"),
    [
        ("FAILED tests/test_plot.py::TestScale::test_inferred - OptionError", "pytest tests/test_plot.py::TestScale::test_inferred -q || true"),
        ("--- FAIL: TestInferred (0.00s)", "go test ./plots -run TestInferred"),
    ],
)  # fmt: skip
def test_a_test_that_was_run_by_its_name_since_and_passed_is_no_open_error(failed: str, again: str) -> None:
    broke = bash(f"{again.split()[0]} test ./...", f"Exit code: 1\n{failed}")
    edited = runs("edit", {"path": "plots.py", "old": "a", "new": "b"}, "ok")
    passed, other = bash(again, "1 passed in 0.6s"), bash(again.replace("nferred", "nverted"), "1 passed in 0.6s")
    assert len(told(broke)) == len(told([*broke, *edited, *other])) == 1
    assert told([*broke, *edited, *passed]) == []


def test_a_check_behind_which_nothing_was_changed_still_fails_however_long_ago_it_ran() -> None:
    broke = bash("mvn test", "Exit code: 1\n[ERROR] Failed to execute goal x:generate on project items: no inputSpec")
    looked = [m for at in range(60) for m in bash(f"grep -A {at} spec pom.xml", "<spec/>")]
    edited = runs("edit", {"path": "pom.xml", "old": "a", "new": "b"}, "ok")
    assert told([*broke, *looked]) == [
        "open error: `mvn test` → [ERROR] Failed to execute goal x:generate on project items: no inputSpec"
    ]
    assert told([*broke, *edited, *looked]) == []


def test_what_was_changed_since_the_newest_run_is_told_as_not_checked() -> None:
    ran = bash("pytest -q", "12 passed in 0.3s")
    edit = runs("edit", {"path": "a.py", "oldText": "a", "newText": "b"}, id="e1")
    assert [*state(facts_of([ASKED, *edit, *ran]))] == ["last run: `pytest -q` → ok; 12 passed in 0.3s"]
    assert [*state(facts_of([ASKED, *ran, *edit]))] == []
    assert [*unchecked(facts_of([ASKED, *ran, *edit]))] == ["changed since the last run of `pytest -q`: a.py"]
    assert [*unchecked(facts_of([ASKED, *edit, *ran]))] == []


def test_words_that_were_written_since_take_nothing_from_a_run() -> None:
    ran = bash("pytest -q", "12 passed in 0.3s")
    notes = runs("edit", {"path": "notes.md", "oldText": "a", "newText": "b"}, id="e1")
    assert [*state(facts_of([ASKED, *ran, *notes]))] == ["last run: `pytest -q` → ok; 12 passed in 0.3s"]


@pytest.mark.parametrize(
    "since",
    [
        bash("git add a.py"),
        bash("git add a.py && git commit -m x", "[main 1a2b3c4] x\n 1 file changed\n create mode 100644 a.py"),
        runs("read", {"path": "a.py"}, "b", id="r1"),
    ],
)
def test_what_is_put_into_a_commit_or_read_is_not_changed_by_that(since: list[Message]) -> None:
    written = runs("write", {"path": "a.py", "content": "x = 1\n"}, id="w1")
    facts = settled(facts_of([ASKED, *written, *bash("pytest -q", "12 passed in 0.3s")]), facts_of(since))
    assert next(iter(state(facts))) == "last run: `pytest -q` → ok; 12 passed in 0.3s"
    assert [*unchecked(facts)] == []


def test_a_run_without_the_work_is_not_how_it_stands() -> None:
    edit = runs("edit", {"path": "a.py", "oldText": "a", "newText": "b"}, id="e1")
    both = "pytest -q 2>&1 | tail -3; git stash push -q src && pytest -q 2>&1 | tail -8; git stash pop -q && git status"
    ran = bash(
        both, "16 passed in 0.02s\nFAILED tests/test_a.py::test_a - KeyError\n6 failed, 10 passed in 0.03s\n M a.py"
    )
    assert not any(line.startswith("last run") for line in state(facts_of([ASKED, *edit, *ran])))
    assert [*unchecked(facts_of([ASKED, *bash("pytest -q", "12 passed in 0.3s"), *edit, *ran]))] == []


def test_neither_a_fetched_program_nor_a_look_is_a_run_of_a_check() -> None:
    edit = runs("edit", {"path": "a.py", "oldText": "a", "newText": "b"}, id="e1")
    for command in (
        "pip install pytest",
        "head -5 specs/a/spec.md",
        "npm add jest",
        ".specify/scripts/bash/check-prerequisites.sh --json",
    ):
        assert [*unchecked(facts_of([ASKED, *bash(command, "done"), *edit]))] == []


def test_what_a_check_says_goes_before_what_git_counts_behind_it() -> None:
    line = "last run: `python -m pytest -q` → ok; 87 passed in 0.32s"
    ran = bash(
        "python -m pytest -q; git diff --stat", "87 passed in 0.32s\n a.py | 2 +-\n 5 files changed, 76 insertions(+)"
    )
    assert line in [*state(facts_of([ASKED, *ran, says("Let me see.")]))]


def test_how_a_check_ended_is_told_without_the_line_that_is_drawn_around_it() -> None:
    ran = bash("pytest", f"{'=' * 30} 12 passed in 0.3s {'=' * 30}")
    assert [*state(facts_of([ASKED, *ran]))] == ["last run: `pytest` → ok; 12 passed in 0.3s"]


def test_what_a_runner_says_as_it_begins_is_not_how_the_check_ended() -> None:
    suites = [(1, "1 passed; 0 failed; 85 filtered out"), (0, "0 passed; 0 failed; 0 filtered out")]
    shown = "\n\n".join(f"running {n} test{'s' * (n != 1)}\ntest result: ok. {end}" for n, end in suites)
    ran = bash("cargo test moored", shown)
    assert [*state(facts_of([ASKED, *ran]))] == [
        "last run: `cargo test moored` → ok; test result: ok. 1 passed; 0 failed; 85 filtered out"
    ]


def test_a_run_before_the_newest_look_at_what_was_changed_is_how_things_stand() -> None:
    edit = runs("edit", {"path": "a.py", "oldText": "a", "newText": "b"}, id="e1")
    ran, read = bash("pytest -q", "12 passed in 0.3s"), runs("read", {"path": "a.py"}, "b", id="r1")
    assert [*state(facts_of([ASKED, *edit, *ran, *read]))] == ["last run: `pytest -q` → ok; 12 passed in 0.3s"]


def test_a_search_for_words_of_git_is_no_commit() -> None:
    facts = facts_of([ASKED, *bash("rg -n 'git commit -m \"release\"|git push' scripts", "scripts/a.sh:3: git push")])
    assert [piece.text for piece in facts.pieces if piece.text.startswith("git commit:")] == []


def test_the_folder_of_the_files_is_that_of_those_that_were_changed() -> None:
    read = [m for n in range(5) for m in runs("read", {"path": f"/opt/skills/github/part_{n}.md"}, "text", id=f"r{n}")]
    edits = [m for n in range(3) for m in runs("edit", {"path": f"/srv/app/core/src/part_{n}.rs", "oldText": "a", "newText": "b"}, id=f"e{n}")]  # fmt: skip
    assert files(facts_of([ASKED, *read, *edits]), 200)[0] == "in /srv/app/core/src/"


UNITTEST = """Found 87 tests.
======================================================================
FAIL: test_list_order (loans.tests.ListTests.test_list_order)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/srv/loans/tests.py", line 14, in test_list_order
    self.assertEqual(names, ["Abel", "Zoe"])
AssertionError: Lists differ: ['Zoe', 'Abel'] != ['Abel', 'Zoe']
----------------------------------------------------------------------
Ran 87 tests in 14.902s
FAILED (failures=1)"""
ESLINT = """
/srv/rows/src/rows.js
  12:1   warning  Unexpected console statement  no-console
  49:16  error    'Icon' is not defined         no-undef
  60:2   error    'List' is not defined         no-undef

✖ 3 problems (2 errors, 1 warning)
"""
REACT = """Creating an optimized production build...
Failed to compile.

[eslint]
src/rows.js
  Line 49:16:  'Icon' is not defined  no-undef

Search for the keywords to learn more about each error.
"""
NODE = """✖ lines are counted from 1 (1.4ms)
  AssertionError [ERR_ASSERTION]: Expected values to be strictly deep-equal:
  + actual - expected

  + undefined
  - [
  -   'One',
  - ]
      at TestContext.<anonymous> (file:///srv/links/test/parse.test.js:32:10)
ℹ fail 1"""
EXUNIT = """==> shop_web
  1) test GET /hives/:id answers old clients (ShopWeb.HiveTest)
     ** (MatchError) no match of right hand side value: %{"id" => 4}
58 tests, 1 failure"""
PHPUNIT = """There was 1 failure:

1) App\\Tests\\RoundingTest::testLowest
Failed asserting that 12345 matches expected 12340.
/app/tests/RoundingTest.php:27
FAILURES!
Tests: 38, Assertions: 112, Failures: 1."""
PEST = """   FAIL  Tests\\Feature\\ReminderTest
  ✓ reminds of open items only
  ⨯ letter has the fee
  Failed asserting that 'fee: 2.5 EUR' contains "2,50 EUR".
  at tests/Feature/ReminderTest.php:48
  Tests: 1 failed, 4 passed (17 assertions)"""
SYMFONY = """In ReceiptCommand.php line 6:

  Attempted to call an undefined method named "withoutPdf" of class "App\\Receipts"."""


@pytest.mark.parametrize(
    ("command", "output", "line"),
    [
        ("python manage.py test", UNITTEST, "FAIL: test_list_order (loans.tests.ListTests.test_list_order): AssertionError: Lists differ: ['Zoe', 'Abel'] != ['Abel', 'Zoe']"),
        ("npx eslint src", ESLINT, "rows.js:49:16 'Icon' is not defined (and 1 more)"),
        ("npm run build", REACT, "rows.js:49:16 'Icon' is not defined"),
        ("node --test", NODE, "✖ lines are counted from 1 (1.4ms): AssertionError [ERR_ASSERTION]: Expected values to be strictly deep-equal: + undefined, - 'One',"),
        ("mix test", EXUNIT, "1) test GET /hives/:id answers old clients (ShopWeb.HiveTest): ** (MatchError) no match of right hand side value: %{\"id\" => 4}"),
        ("bin/phpunit", PHPUNIT, "1) App\\Tests\\RoundingTest::testLowest: Failed asserting that 12345 matches expected 12340."),
        ("php artisan test --filter=Reminder", PEST, "⨯ letter has the fee: Failed asserting that 'fee: 2.5 EUR' contains \"2,50 EUR\"."),
        ("montage *.tif sheet.pdf", "montage: cache resources exhausted `v01_f201.tif' @ error/cache.c/OpenPixelCache/4119.\nok v02", "montage: cache resources exhausted `v01_f201.tif' @ error/cache.c/OpenPixelCache/4119."),
        ("lp -d labels a.pdf", 'lp: Error - queue "labels" has no room for one more job.', 'lp: Error - queue "labels" has no room for one more job.'),
        ("bin/console app:receipts", SYMFONY, 'In ReceiptCommand.php line 6: Attempted to call an undefined method named "withoutPdf" of class "App\\Receipts".'),
        ("mix ecto.migrate", '** (Postgrex.Error) ERROR 42703 column "weight" does not exist', '** (Postgrex.Error) ERROR 42703 column "weight" does not exist'),
        ("make release", 'cgo: C compiler "arm-gcc" not found: exec: "arm-gcc": executable file not found in $PATH', 'cgo: C compiler "arm-gcc" not found: exec: "arm-gcc": executable file not found in $PATH'),
    ],
    ids=["unittest", "ESLint", "React", "Node", "ExUnit", "PHPUnit", "Pest", "ImageMagick", "CUPS", "Symfony", "Elixir", "Go"],
)  # fmt: skip
def test_a_test_that_failed_is_told_by_its_name_and_why_whatever_runs_it(command: str, output: str, line: str) -> None:
    assert told(bash(command, output)) == [f"open error: `{command}` → {line}"]


PYTEST = """F....x..                                             [100%]
=================================== FAILURES ===================================
_______________ TestScale.test_inferred _______________

    def test_inferred(self):
>       Plot(y=y).plot()

tests/test_plot.py:613:
>           raise OptionError(f"No such keys(s): {repr(pat)}")
E           pandas.errors.OptionError: "No such keys(s): 'mode.inf'"

/opt/pandas/config.py:121: OptionError
=========================== short test summary info ============================
FAILED tests/test_plot.py::TestScale::test_inferred"""
ASSERTED = """_______________ test_total _______________

    def test_total():
>       assert total() == 3
E       assert 2 == 3
E        +  where 2 = total()

tests/test_sum.py:9: AssertionError
=========================== short test summary info ============================
FAILED tests/test_sum.py::test_total
1 failed, 3 passed in 0.12s"""
COLLECTING = """==================================== ERRORS ====================================
__________________ ERROR collecting tests/test_plot.py ___________________
tests/test_plot.py:17: in <module>
    from plots.core import Plot
E     File "/srv/plots/core.py", line 1480
E       if keep:
E       ^
E   IndentationError: expected an indented block
=========================== short test summary info ============================
ERROR tests/test_plot.py
1 error in 0.77s"""
TIMED_OUT = """<exception>An error occurred while executing the command: Command '['docker', 'exec', '-w', '/testbed', '-e', 'PAGER=cat', 'aa1fa', 'bash', '-lc', 'pytest -q']' timed out after 60 seconds</exception>"""


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (PYTEST, "FAILED tests/test_plot.py::TestScale::test_inferred - pandas.errors.OptionError: \"No such keys(s): 'mode.inf'\""),
        (ASSERTED, "FAILED tests/test_sum.py::test_total - assert 2 == 3"),
        (COLLECTING, "ERROR tests/test_plot.py - IndentationError: expected an indented block"),
        (f"<returncode>-1</returncode>\n{TIMED_OUT}", "<exception>An error occurred while executing the command: Command '…' timed out after 60 seconds</exception>"),
    ],
    ids=["raised", "asserted", "not collected", "timed out"],
)  # fmt: skip
@pytest.mark.parametrize("command", ["pytest -q", "pytest -q || true", "pytest -q 2>&1 | tail -60"])
def test_what_pytest_names_as_failed_is_told_with_what_it_raised(command: str, output: str, line: str) -> None:
    [fault] = told(bash(command, output))
    assert fault.partition(" → ")[2] == line


def test_what_cannot_be_done_is_the_cause_and_no_warning_before_it() -> None:
    warned = "WARNING: it may leave\n\t rewrites.  Hit Ctrl-C before proceeding to abort, then use an\nalternative tool.\n\nCannot rewrite branches: You have unstaged changes."
    [fault] = told(bash("git filter-branch --all", warned, error=True))
    assert fault == "open error: `git filter-branch --all` → Cannot rewrite branches: You have unstaged changes."


MAVEN = """rc=0
[ERROR] Failed to execute goal org.openapitools:openapi-generator-maven-plugin:5.4.0:generate on project mod-items: The parameters 'inputSpec' are missing or invalid -> [Help 1]
[ERROR]
[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch."""
JAVAC = """[INFO] Compiling 41 source files with javac
[ERROR] COMPILATION ERROR :
[ERROR] /srv/items/src/main/java/org/Items.java:[12,34] cannot find symbol
[INFO] BUILD FAILURE
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.8.1:compile (default-compile) on project items: Compilation failure"""
SUREFIRE = """[ERROR] Failures:
[ERROR]   ItemsTest.sorts:42 expected: <3> but was: <2>
[INFO] BUILD FAILURE
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:2.22:test on project items: There are test failures."""
GRADLE = """> Task :app:test FAILED

ItemsTest > sorts() FAILED
    org.opentest4j.AssertionFailedError at ItemsTest.java:42

FAILURE: Build failed with an exception.
BUILD FAILED in 7s"""
DOTNET = """  Items -> bin/Debug/Items.dll
Items.cs(12,34): error CS1002: ; expected [/srv/items/Items.csproj]

Build FAILED.
    0 Warning(s)
    1 Error(s)"""
VITE = """transforming...
error during build:
Could not resolve "./shelf" from "src/main.ts"
    at getRollupError (rollup.js:397:41)"""
NEXT = """   Creating an optimized production build ...
 ✓ Compiled successfully
   Linting and checking validity of types ...
Failed to {0}.

./components/items/shelf.tsx:27:3
Type error: Cannot find name 'useEffect'.

> 27 |   useEffect(() => {{"""
SCRIPT_BROKE = """loading 4,112 rows
Traceback (most recent call last):
  File "/srv/items/load.py", line 31, in <module>
    main()
KeyError: 'weight'"""


@pytest.mark.parametrize(
    ("command", "output", "line"),
    [
        ("JDK=17 mvn test 2>&1 | tail -100", MAVEN, "[ERROR] Failed to execute goal org.openapitools:openapi-generator-maven-plugin:5.4.0:generate on project mod-items: The parameters 'inputSpec' are missing or invalid -> [Help 1]"),
        ("mvn -q compile | tail -20", JAVAC, "/srv/items/src/main/java/org/Items.java:[12,34] cannot find symbol"),
        ("mvn test 2>&1 | tail -40", SUREFIRE, "[ERROR] ItemsTest.sorts:42 expected: <3> but was: <2>"),
        ("./gradlew test 2>&1 | tail -30", GRADLE, "ItemsTest > sorts() FAILED: org.opentest4j.AssertionFailedError at ItemsTest.java:42"),
        ("dotnet build 2>&1 | tail -8", DOTNET, "Items.cs(12,34): error CS1002: ; expected [/srv/items/Items.csproj]"),
        ("npm run build 2>&1 | tail -8", VITE, 'error during build: Could not resolve "./shelf" from "src/main.ts"'),
        ("next build 2>&1 | tail -9", NEXT.format("compile"), "./components/items/shelf.tsx:27:3 Type error: Cannot find name 'useEffect'."),
        ("next build 2>&1 | tail -9", NEXT.format("type check"), "./components/items/shelf.tsx:27:3 Type error: Cannot find name 'useEffect'."),
        ("python load.py 2>&1 | tail -5", SCRIPT_BROKE, "KeyError: 'weight'"),
        ("pip install items 2>&1 | tail -2", "ERROR: Could not find a version that satisfies the requirement items (from versions: none)\nERROR: No matching distribution found for items", "ERROR: No matching distribution found for items"),
        ("make -j4 items 2>&1 | tail -5", "collect2: 3 symbols are gone\nmake: *** [items] Error 1\nmake: Leaving directory '/srv'", "make: *** [items] Error 1"),
        ("make -j4 items 2>&1 | tail -5", "src/items.cpp:13:26: error: ‘sort’ is not a member of ‘std’\nmake[2]: *** [items.o] Error 1\nmake: *** [all] Error 2", "src/items.cpp:13:26: error: ‘sort’ is not a member of ‘std’"),
    ],
    ids=["Maven", "javac", "surefire", "Gradle", "dotnet", "Vite", "Next.js", "Next.js, as it checks types", "Python", "pip", "make", "a compiler"],
)  # fmt: skip
@pytest.mark.parametrize("status", ["", "Exit code: 0\n"])
def test_what_fails_behind_a_pipe_is_no_success_whatever_the_exit_status(
    command: str, output: str, line: str, status: str
) -> None:
    run = command.partition(" 2>")[0].partition(" |")[0]
    assert told(bash(command, status + output)) == [f"open error: `{run}` → {line}"]


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("python load.py 2>&1 | tail -5", "KeyError: 'weight' in 3 rows, which were left out\nloaded 4,109 rows"),
        ("set -o pipefail; python load.py | tee load.log", SCRIPT_BROKE),
        ("cat load.log | tail -5", SCRIPT_BROKE),
        ("python load.py", SCRIPT_BROKE),
    ],
    ids=["told of its data", "pipefail", "a log", "no pipe"],
)
def test_an_exit_status_that_is_the_programs_own_is_believed(command: str, output: str) -> None:
    assert told(bash(command, f"Exit code: 0\n{output}")) == []


def test_what_a_call_that_was_broken_off_was_to_write_is_not_there() -> None:
    broken = bash("opencode export ses_1 > docs/session.json", "[Tool execution was interrupted]")
    done = bash("opencode export ses_1 > docs/session.json", "exported")
    assert [file.path for file in facts_of([ASKED, *broken]).files] == []
    assert [file.path for file in facts_of([ASKED, *done]).files] == ["docs/session.json"]


REFUSED_BY_TOOL = json.dumps(
    {"error": "no_capacity", "message": "No van on the 18th. Next: the 21st", "retryable": False}
)


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (REFUSED_BY_TOOL, "error: no_capacity, message: No van on the 18th. Next: the 21st"),
        (json.dumps({"ok": False, "reason": "the window is taken"}), "ok: false, reason: the window is taken"),
        (
            json.dumps({"fehler": "limit", "text": "78 EUR über der Grenze"}),
            "fehler: limit, text: 78 EUR über der Grenze",
        ),
        ("Page could not be loaded: 502 Bad Gateway", "Page could not be loaded: 502 Bad Gateway"),
        ("検索エラー: rate limit exceeded (429)", "検索エラー: rate limit exceeded (429)"),
        (json.dumps({"error": {"code": 409, "detail": "booked twice"}}), "error: code: 409, detail: booked twice"),
    ],
)
def test_an_answer_that_says_that_it_did_not_work_is_an_error_of_the_call(answer: str, line: str) -> None:
    book = {"claim": "CL-5583", "date": "2024-10-18"}
    failed = runs("book_collection", book, answer)
    assert len(told(failed)) == 1
    assert line in told(failed)[0]
    worked = runs("book_collection", book | {"date": "2024-10-21"}, json.dumps({"booking": "BK-90113", "error": None}))
    assert told([*failed, *worked]) == []


@pytest.mark.parametrize(
    "answer",
    [
        json.dumps({"error": None, "id": 7}),
        json.dumps({"errors": [], "checked": 40}),
        json.dumps({"payment": "P-7", "status": "failed", "amount": 12}),
        json.dumps({"errors": 3, "checked": 40}),
        "No errors: all 40 are there",
        "Box 502 of 600 is on its way",
        "The page speaks of gateways.\nerror: it says, is what one sees there\nand 502 of them",
    ],
)
def test_an_answer_that_only_has_a_field_for_errors_or_tells_of_some_is_none(answer: str) -> None:
    assert told(runs("book_collection", {"claim": "CL-5583"}, answer)) == []


BLOCKED = "exec_command failed for `/bin/zsh -lc 'rm -rf drafts && make lint'`: CreateProcess { message: \"Rejected(\\\"`/bin/zsh -lc 'rm -rf drafts && make lint'` rejected: use a safer way\\\")\" }"  # fmt: skip
DENIED = "Permission for this action was denied by the auto mode. Reason: It writes where others read. If you have other tasks, go on."  # fmt: skip
IN_CODE = 'const r = await tools.exec_command({cmd:"rm -rf drafts && make lint"}); text(r.output);'


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        (bash("rm -rf drafts && make lint", BLOCKED), ": use a safer way"),
        (bash("rm -rf drafts && make lint", DENIED, error=True), ": It writes where others read"),
        (bash("rm -rf drafts && make lint", "Permission to use Bash with command rm -rf drafts && make lint has been denied.", error=True), ""),
        (runs("exec", IN_CODE, f"Script failed\nWall time 0.0 seconds\nOutput:\n\nScript error:\n{BLOCKED}"), ": use a safer way"),
    ],
)  # fmt: skip
def test_a_call_that_the_clients_rules_refuse_was_not_made_and_is_told_once_with_the_reason(
    messages: list[Message], why: str
) -> None:
    facts = facts_of([ASKED, *messages, *messages, says("Let me see.")])
    line = f"`rm -rf drafts && make lint` → not made, the client refuses it{why}"
    assert [piece.text for piece in facts.pieces if piece.by == "tool"] == [line]
    assert files(facts, 1_000) == []
    assert not facts.commands
    assert told(messages) == []


def test_a_script_that_broke_at_its_only_call_did_not_do_it() -> None:
    code = 'await tools.apply_patch("*** Begin Patch\\n*** Update File: lint.sh\\n@@\\n-a\\n+b\\n*** End Patch");'
    broke = (
        "Script failed\nWall time 0.0 seconds\nOutput:\n\nScript error:\napply_patch verification failed: no such lines"
    )
    assert files(facts_of([ASKED, *runs("exec", code, broke)]), 1_000) == []
    assert files(facts_of([ASKED, *runs("exec", code, "Script completed\nWall time 0.1 seconds\nOutput:\nDone")]), 1_000) == ["changed: lint.sh"]  # fmt: skip


PATCHED = "*** Begin Patch\n*** Update File: lint.sh\n@@\n-a\n+b\n*** End Patch"
IN_CODE = PATCHED.replace("\n", "\\n")
NO_LINES = "apply_patch verification failed: Failed to find expected lines in /srv/app/lint.sh:\na"


@pytest.mark.parametrize(
    "messages",
    [
        runs("apply_patch", PATCHED, NO_LINES),
        runs("apply_patch", PATCHED, json.dumps({"output": NO_LINES, "metadata": {"exit_code": 1}}, separators=(",", ":"))),
        runs("apply_patch", PATCHED, "Exit code: 1\nWall time: 0 seconds\nOutput:\nInvalid Context 0:\na"),
        runs("shell", {"command": ["apply_patch", PATCHED]}, NO_LINES),
        bash(f"cd /srv/app && apply_patch <<'EOF'\n{PATCHED}\nEOF", NO_LINES),
        bash(f"apply_patch <<'EOF'\n{PATCHED}\nEOF\ncat notes.md > all.md", f"{NO_LINES}\nProcess exited with code 0"),
        runs("exec", f'await tools.exec_command({{"cmd": "ls"}}); await tools.apply_patch("{IN_CODE}");', f"Script failed\nWall time 0.0 seconds\nOutput:\n\nScript error:\n{NO_LINES}"),
        runs("Edit", {"file_path": "lint.sh", "old_string": "a", "new_string": "b"}, "<tool_use_error>String to replace not found in file.\nString: a</tool_use_error>"),
        runs("edit", {"path": "lint.sh", "oldText": "a", "newText": "b"}, "Could not find the exact text in lint.sh. The old text must match exactly."),
        runs("edit", {"filePath": "lint.sh", "oldString": "a", "newString": "b"}, "oldString not found in content"),
        runs("str_replace_editor", {"command": "str_replace", "path": "lint.sh", "old_str": "a", "new_str": "b"}, "ERROR:\nNo replacement was performed. Multiple occurrences of old_str `a` in lines [1, 4]."),
    ],
    ids=["patch", "in a record", "by its exit status", "in a shell's list", "through a shell", "amid a command", "in code", "Claude Code", "pi", "opencode", "OpenHands"],
)  # fmt: skip
def test_an_edit_that_was_rejected_is_no_change(messages: list[Message]) -> None:
    facts = facts_of([ASKED, *messages])
    assert [file.path for file in facts.files if file.changed and file.path.endswith("lint.sh")] == []
    assert [piece.text for piece in facts.pieces if piece.kind == "change" and "lint.sh" in piece.text] == []


def test_of_several_patches_in_code_those_stand_of_which_none_says_that_it_was_rejected() -> None:
    other = IN_CODE.replace("lint.sh", "make.sh")
    code = f'await tools.apply_patch("{other}"); await tools.apply_patch("{IN_CODE}");'
    broke = f"Script failed\nWall time 0.0 seconds\nOutput:\n\nScript error:\n{NO_LINES}"
    assert files(facts_of([ASKED, *runs("exec", code, broke)]), 1_000) == ["changed: make.sh"]


def test_a_file_that_speaks_of_rejected_edits_was_written() -> None:
    written = runs("write", {"path": "notes.md", "content": NO_LINES}, "Wrote 90 bytes to notes.md")
    shown = runs("edit", {"path": "a.md", "oldText": "a", "newText": "b"}, f"Updated a.md:\n 12 {NO_LINES}", id="e2")
    assert files(facts_of([ASKED, *written, *shown]), 1_000) == ["created: notes.md", "changed: a.md"]


def test_a_long_output_in_a_record_ended_as_that_says_whatever_stands_in_it() -> None:
    put_out = "\n".join(f"[{n}/80] Installing mirror-{n}: 100% | 5.6 MiB/s" for n in range(200))
    linker = "collect2: error: ld returned 1 exit status"
    record = {"chunk_id": "a1", "exit_code": 0, "output": f"{put_out}\n{linker}\nwith_flag_status=0\n"}
    answer = f"Script completed\nWall time 6.8 seconds\nOutput:\n\n{json.dumps(record, separators=(',', ':'))}"
    facts = facts_of([ASKED, *bash("make probe", answer)])
    assert [piece.kind for piece in facts.pieces if piece.text.startswith("`make probe`")] == ["call"]
    assert not facts.faults


GRADES = "Target Compliance:\nSteady-state error <0.5C: FAIL\nSettling time <120s: FAIL\nOvershoot <10%: PASS\nMax temperature <30C: PASS\n"  # fmt: skip


@pytest.mark.parametrize(
    ("output", "note"),
    [
        (
            f"Rise time: 300.0s\n{GRADES}Saved metrics.json",
            "Steady-state error <0.5C: FAIL, Settling time <120s: FAIL; 2 PASS",
        ),
        (GRADES.replace("FAIL", "PASS"), "4 PASS"),
        ("Overshoot <10% : ✗ FAIL\nRise time : ✓ PASS", "Overshoot <10%: FAIL; 1 PASS"),
        ("PASS crambin\nPASS zdd\n[FAIL] two_chain\npublic examples: 2/3", "two_chain: FAIL; 2 PASS"),
        ("FAIL crambin\nFAIL zdd\nFAIL two_chain\nFAIL beta", "crambin: FAIL, zdd: FAIL, two_chain: FAIL and 1 more"),
        ("reading 3 examples\npublic examples: 2/3\n", "public examples: 2/3"),
        ("reading 3 examples\n2/3 correct\nwritten", "2/3 correct"),
        ('{\n  "cases": ["a", "b"],\n  "passed": 4,\n  "total": 5\n}', "passed: 4, total: 5"),
    ],
)
def test_of_targets_that_a_program_checks_it_is_told_which_were_missed(output: str, note: str) -> None:
    pieces = facts_of([ASKED, *bash("python3 controller.py", output)]).pieces
    assert f"`python3 controller.py` → {note}" in [piece.text for piece in pieces]


@pytest.mark.parametrize(
    "words",
    [
        "That failure is pre-existing and comes of the leap seconds of the clock.",
        "It already fails on main, so it is not caused by my change.",
        "Der Test schlug schon vorher fehl.",
        "Ese test ya fallaba antes.",
        "Ce test échouait déjà avant.",
    ],
)
def test_a_check_of_which_the_agent_says_that_it_failed_before_is_no_open_error(words: str) -> None:
    output = "FAILED tests/test_clock.py::test_leap - assert 1 == 2\n1 failed in 0.3s\nexit code: 1"
    failed = bash("pytest tests/test_clock.py", output, error=True)
    assert any("test_leap" in line for line in told([*failed, says("I look at it.")]))
    assert not any("test_leap" in line for line in told([*failed, says(words)]))


@pytest.mark.parametrize("end", ["==== no tests ran in 0.04s ====", "==== 25 deselected in 0.07s ===="])
def test_where_pytest_ran_no_test_none_failed(end: str) -> None:
    output = f"ARCH_ON_CI: undefined\nERROR: not found: tests/test_a.py::test_b\n{end}\nexit code: 4"
    assert told(bash("pytest tests/test_a.py::test_b", output, error=True)) == []
    inside = f"{end}\nFAILED tests/test_a.py::test_b - assert 1\n1 failed in 0.3s\nexit code: 1"
    assert any("test_b" in line for line in told(bash("pytest tests/test_a.py::test_b", inside, error=True)))


def test_a_package_of_go_that_failed_is_told_by_its_test() -> None:
    ran = "\n".join(f"=== RUN   TestQuay{n}\n--- PASS: TestQuay{n} (0.0{n}s)" for n in range(9))
    output = f"{ran}\n--- FAIL: TestTide (0.31s)\n    tide_test.go:118: the tide is missing\n{ran}\nFAIL\tharbour/tide\t2.699s"
    (error,) = told(bash("go test ./tide -v", f"Process exited with code 1\nOutput:\n{output}"))
    assert error.endswith("→ --- FAIL: TestTide (0.31s): tide_test.go:118: the tide is missing")


def test_a_frame_of_a_trace_is_not_why_something_failed() -> None:
    frames = "\n".join(f"    at load{n} (file:///srv/quay/node_modules/error-{n}.mjs:{n}:18)" for n in range(40))
    output = f"failed to load the settings of the quay\n{frames}"
    (error,) = told(bash("npm test", f"Process exited with code 1\nOutput:\n{output}"))
    assert error.endswith("→ failed to load the settings of the quay")


REFUSED_EDIT = runs("Edit", {"file_path": "lint.sh", "old_string": "a", "new_string": "b"}, "<tool_use_error>File has been modified since read, either by the user or by a linter. Read it again.</tool_use_error>", error=True)  # fmt: skip


@pytest.mark.parametrize(
    ("refused", "line"),
    [
        (bash(f"apply_patch <<'EOF'\n{PATCHED}\nEOF", NO_LINES.replace("apply_patch verification failed", "error")), "- `apply_patch <<…` → failed; error: Failed to find expected lines in /srv/app/lint.sh"),
        (REFUSED_EDIT, "- Edit lint.sh → failed; File has been modified since read, either by the user or by a linter."),
    ],
    ids=["Codex", "Claude Code"],
)  # fmt: skip
def test_an_edit_that_was_refused_and_not_made_in_its_turn_is_told_though_the_report_calls_it_done(
    refused: list[Message], line: str
) -> None:
    def happened(*behind: Message) -> str:
        done, later = (
            says("The lint tasks have their own script now, and all checks pass."),
            user("Now name the tasks."),
        )
        again = runs("edit", {"path": "lint.sh", "oldText": "a", "newText": "b"}, "ok", id="e9")
        work = [ASKED, *refused, *behind, done, later, *again, says("They are named by what they look at.")]
        return compose(Brief(2_000), facts_of(work)).partition("## State")[0]

    made = runs("edit", {"path": "lint.sh", "oldText": "a", "newText": "b"}, "ok", id="e1")
    assert line in happened()
    assert "→ failed" not in happened(*made)
