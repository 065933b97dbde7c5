"""The files of a page that is read: what was done in each, those of the newest work first, and few that were only read."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from foldline import Brief, Message
from foldline._facts.merging import from_data, merge, settled
from foldline._facts.reading import facts_of
from foldline._facts.types import Facts
from foldline._page.extract import compose
from foldline.extend import SUMMARY_PREFIX, SUMMARY_SUFFIX
from talk import bash, runs, says, user

ROOM = Brief(2_000)
TASK = user("Let the lighthouse keep a log of the ships that pass, and let nothing else change.")
FOUND = says("The log is kept by the lamp's own clock, so both have to change.")
COMMIT = bash('git commit -am "Keep a log of ships"', "[main 1234567] Keep a log of ships\n 2 files changed")


def edit(path: str, new: str, old: str = "pass", id: str = "e") -> list[Message]:
    return runs("edit", {"path": path, "oldText": old, "newText": new}, id=id)


def read(path: str) -> list[Message]:
    return runs("read", {"path": path}, "x = 1")


def part(facts: Facts, heading: str, brief: Brief = ROOM) -> list[str]:
    page = compose(brief, facts)
    body = page.split(f"## {heading}\n")[1].split("\n## ")[0] if f"## {heading}\n" in page else ""
    return [line.removeprefix("- ") for line in body.strip().splitlines()]


def files(messages: Sequence[Message]) -> list[str]:
    return part(facts_of([TASK, FOUND, *messages]), "Files")


LAMP = edit("src/lamp.py", "def shine(hours):\n    ...")
LOG = edit("src/log.py", "class ShipLog:\n    def write(self, ship):\n        ...")


def test_a_file_is_told_with_what_was_touched_in_it() -> None:
    assert files([*LAMP, *LOG]) == ["changed: src/lamp.py (shine)", "changed: src/log.py (ShipLog, write)"]


def test_a_file_is_not_told_with_what_its_own_name_tells() -> None:
    assert files(edit("src/Lamp.tsx", "interface LampProps {\n  on: boolean\n}")) == ["changed: src/Lamp.tsx"]


def test_edits_of_one_file_are_told_as_one_and_what_went_as_gone() -> None:
    more = edit("src/lamp.py", "def dim():\n    ...", id="f")
    gone = edit("src/lamp.py", "pass", old="def shine(hours):\n    ...", id="g")
    assert files([*LAMP, *more]) == ["changed: src/lamp.py (shine, dim)"]
    assert files([*LAMP, *more, *gone]) == ["changed: src/lamp.py (dim, without shine)"]


@pytest.mark.parametrize(
    ("messages", "line"),
    [
        (runs("write", {"path": "docs/log.md", "content": "# The log of ships\n\n## How it is kept\n"}), "created: docs/log.md"),
        (bash("cat > src/tide.py <<'EOF'\ndef tide_at(hour):\n    ...\nEOF"), "created: src/tide.py"),
        (runs("apply_patch", "*** Begin Patch\n*** Update File: src/lamp.rs\n@@ fn shine() {\n-    let on = false;\n+    let on = true;\n*** End Patch"), "changed: src/lamp.rs (shine)"),
        (runs("exec", 'const patch = "*** Begin Patch\\n*** Update File: src/lamp.rs\\n+fn shine() {}\\n*** End Patch";\nawait tools.apply_patch(patch)'), "changed: src/lamp.rs (shine)"),
        (edit("src/lamp.py", "x = 1"), "changed: src/lamp.py"),
    ],
)  # fmt: skip
def test_what_was_touched_is_known_in_every_way_of_writing_and_a_new_file_is_told_by_its_name(
    messages: list[Message], line: str
) -> None:
    assert files(messages) == [line]


def test_a_file_that_was_put_back_has_nothing_in_it_that_was_touched() -> None:
    [file] = facts_of([TASK, *LAMP, *bash("git checkout src/lamp.py")]).files
    assert (file.state, file.names) == ("restored", ())


def test_what_was_touched_lasts_from_fold_to_fold() -> None:
    before, behind = facts_of([TASK, FOUND, *LAMP]), facts_of(edit("src/lamp.py", "def dim():\n    ...", id="f"))
    told = ["changed: src/lamp.py (shine, dim)"]
    assert part(merge(from_data(before.data()), behind), "Files") == told
    below = ["changed: src/lamp.py (shine)", "changed again below: src/lamp.py"]
    assert part(settled(before, behind), "Files") == below
    many = [m for n in range(40) for m in edit("src/lamp.py", f"def beam_{n}():\n    ...", id=f"m{n}")]
    assert len(merge(before, facts_of(many)).files[0].names) <= 6


def test_facts_that_were_saved_without_it_are_read() -> None:
    old = {"files": [{"path": "src/lamp.py", "state": "modified", "actions": {"modified": 1}}]}
    assert from_data(old).files[0].names == ()


def test_files_come_back_from_a_page_that_tells_what_was_touched() -> None:
    page = compose(ROOM, facts_of([TASK, FOUND, *LAMP, *LOG]))
    again = facts_of([user(f"{SUMMARY_PREFIX}{page}{SUMMARY_SUFFIX}")])
    assert {file.path: file.state for file in again.files} == {"src/lamp.py": "modified", "src/log.py": "modified"}


def test_edits_of_work_under_way_are_told_in_their_order() -> None:
    told = part(facts_of([TASK, FOUND, *LAMP, *LOG]), "What happened")
    assert told[-1] == "edit src/lamp.py (shine); edit src/log.py (ShipLog, write)"


def test_names_that_an_edit_only_speaks_of_are_not_told_of_the_file() -> None:
    spoken = edit("src/keeper.sh", "LOG_FOLDER=/srv/ships\nkeep_ship_log now")
    assert files(spoken) == ["changed: src/keeper.sh"]


def test_a_page_that_fills_its_budget_tells_where_it_was_done() -> None:
    told = part(facts_of([TASK, FOUND, *LAMP, *LOG]), "Files", Brief(2_000, fills="words"))
    assert told == ["changed: src/{lamp.py, log.py}"]


DONE = says("The log is kept now, and all tests pass.")
NEXT = user("Now let the fog horn sound by itself, please.")
HORN = edit("src/horn.py", "def sound():\n    ...", id="h")


def test_files_of_work_that_was_committed_before_the_newest_request_stand_behind_those_of_that() -> None:
    work = [*LAMP, *LOG, *COMMIT, DONE, NEXT, *HORN]
    assert files(work) == [
        "changed: src/horn.py (sound)",
        "changed earlier: src/lamp.py (shine)",
        "changed earlier: src/log.py (ShipLog, write)",
    ]
    again = facts_of([user(f"{SUMMARY_PREFIX}{compose(ROOM, facts_of([TASK, FOUND, *work]))}{SUMMARY_SUFFIX}")])
    assert {file.path for file in again.files if file.changed} == {"src/horn.py", "src/lamp.py", "src/log.py"}


def test_what_was_made_for_work_that_was_committed_before_was_created_earlier() -> None:
    made = runs("Write", {"file_path": "src/keel.py", "content": "def lay():\n    ...\n"})
    told = ["changed: src/horn.py (sound)", "created earlier: src/keel.py"]
    assert files([*made, *COMMIT, DONE, NEXT, *HORN]) == told


def test_a_file_that_was_there_before_it_was_made_anew_was_changed() -> None:
    anew = runs("Write", {"file_path": "src/lamp.py", "content": "def dim():\n    ...\n"}, id="w9")
    assert files([*LAMP, *bash("rm src/lamp.py"), *anew]) == ["changed: src/lamp.py (dim)"]


def test_what_one_command_staged_and_committed_before_the_newest_request_stands_behind_it_too() -> None:
    took = bash('git add src/oar.py && git commit -m "Oars"', "[main 7654321] Oars\n 1 file changed")
    assert files([*took, DONE, NEXT, *HORN]) == ["changed: src/horn.py (sound)", "changed earlier: src/oar.py"]


def test_a_folder_that_was_deleted_is_told_without_what_was_in_it() -> None:
    gone = bash("rm -rf src/old")
    assert files([*edit("src/old/sail.py", "x"), *read("src/old/rope.py"), *LAMP, *gone])[-1] == "deleted: src/old"


def test_a_file_that_is_written_anew_has_the_names_that_it_has_then() -> None:
    first = runs("Write", {"file_path": "src/mast.py", "content": "def hoist():\n    ...\n"})
    again = runs("Write", {"file_path": "src/mast.py", "content": "def lower():\n    ...\n"}, id="w2")
    [mast] = (file for file in facts_of([TASK, *first, *again]).files if file.changed)
    assert mast.names == ("lower",)


def test_what_git_names_by_its_bytes_is_told_by_its_letters() -> None:
    said = '[main 1234567] Moor\n 1 file changed, 9 insertions(+)\n create mode 100644 "docs/\\345\\274\\200.md"'
    assert files([*LAMP, *bash('git add -A && git commit -m "Moor"', said)])[1] == "committed: docs/开.md"


def test_of_a_file_that_was_only_staged_no_more_is_told() -> None:
    assert files([*LAMP, *bash("git add src/oar.py src/lamp.py")]) == [
        "changed: src/lamp.py (shine)",
        "staged: src/oar.py",
    ]


def test_a_file_that_only_the_messages_behind_the_page_changed_is_told_as_theirs() -> None:
    before, behind = facts_of([TASK, FOUND, *LAMP]), facts_of([*read("src/sea.py"), *LOG])
    assert part(settled(before, behind), "Files") == [
        "changed: src/lamp.py (shine)",
        "changed below: src/log.py (ShipLog, write)",
    ]


def test_a_diff_that_names_files_of_other_work_is_none_of_this_one() -> None:
    diff = bash("git diff main...HEAD --stat", " src/lamp.py | 9 ++\n src/pier.py | 4 +-\n src/buoy.py | 4 +-")
    compared = "in diffs that were read: src/"
    assert not any(line.startswith(compared) for line in files([*LAMP, *diff, DONE]))
    reviewed = files([*LAMP, *diff, says("In src/buoy.py the light is lit twice.")])
    assert f"{compared}buoy.py" in reviewed
    assert f"{compared}{{lamp.py, pier.py, buoy.py}}" in files([*diff, DONE])


@pytest.mark.parametrize(
    "work", [[*LAMP, DONE, NEXT, *HORN], [*LAMP, *COMMIT, DONE, NEXT], [*LAMP, DONE, NEXT, *HORN, *COMMIT]]
)
def test_what_was_not_committed_before_it_is_of_the_newest_work(work: list[Message]) -> None:
    assert not any("earlier" in line for line in files(work))


@pytest.mark.parametrize(
    ("behind", "lines"),
    [
        ([DONE, NEXT, *HORN], []),
        ([says("The horn waits for `src/fog.py:12`, and for that alone.")], ["read: src/fog.py"]),
        ([user("Is fog.py the one that is too slow?")], ["read: src/fog.py"]),
    ],
)
def test_of_files_that_were_only_read_those_are_told_that_are_spoken_of(
    behind: list[Message], lines: list[str]
) -> None:
    looked = [*read("src/sea.py"), *read("src/fog.py"), *LAMP, *behind]
    assert [line for line in files(looked) if line.startswith("read")] == lines


def test_a_folder_that_was_looked_at_is_no_file_that_was_read() -> None:
    looked = [*runs("read", {"path": "/srv/lamp"}, "shine.py"), *read("/srv/lamp/shine.py")]
    told = files([*looked, says("In lamp the file shine.py is the one.")])
    assert [line for line in told if line.startswith("read")] == ["read: /srv/lamp/shine.py"]


def test_what_a_diff_names_and_the_state_tells_as_not_committed_is_told_there_alone() -> None:
    before = facts_of([TASK, *bash("git diff main --stat", " src/lamp.py | 9 ++"), *read("src/fog.py")])
    behind = facts_of([*bash("git status --short", " M src/lamp.py"), says("The lamp.py is yours.")])
    assert part(settled(before, behind), "Files") == ["read: src/fog.py"]


def test_of_many_files_those_that_the_findings_are_about_stand_first() -> None:
    looked = [m for n in range(40) for m in read(f"src/sea_{n}.py")]
    named = says(f"I went through {', '.join(f'sea_{n}.py' for n in range(40))}.")
    found = [says(f"`src/sea_{n}.py:3` counts a ship twice.") for n in (2, 7)]
    [line] = [each for each in files([*looked, named, *found]) if "read" in each]
    assert "sea_2.py" in line
    assert "sea_7.py" in line
    assert line.count("sea_") == 20
    assert line.endswith("and 20 more")


def test_a_file_that_has_no_room_for_what_was_touched_in_it_is_named() -> None:
    work = [*edit("src/lamp.py", "".join(f"def {'shine_' * 9}{n}():\n    ...\n" for n in range(6)))]
    [line] = part(facts_of([TASK, FOUND, *work]), "Files", Brief(1_000))
    assert line == "changed: src/lamp.py"


def test_the_folder_of_the_work_is_no_file_in_it() -> None:
    write = ({"path": f"/srv/ann/lamp/{name}.txt", "content": "of ships"} for name in ("notes", "log", "ships"))
    work = [
        *bash("mkdir -p /srv/ann/lamp", ""),
        *(m for n, each in enumerate(write) for m in runs("write", each, id=f"w{n}")),
    ]
    assert files(work) == ["in /srv/ann/lamp/", "created: notes.txt, log.txt, ships.txt"]


@pytest.mark.parametrize(
    "path",
    ["/tmp/try/lamp.py", "/srv/lamp/node_modules/clock/index.js", "/home/ann/go/pkg/mod/example.org/clock/tick.go"],
)
def test_what_was_read_of_tries_and_of_others_code_is_not_told_beside_the_files_of_the_work(path: str) -> None:
    name = path.rpartition("/")[2]
    says_why = says(f"That shine.py is too slow is the fault of {name}.")
    told = files([*read("/srv/lamp/shine.py"), *read(path), says_why, *edit("/srv/lamp/log.py", "def log(ship): ...")])
    assert any("shine.py" in line for line in told)
    assert not any(name in line for line in told)
    assert any(path in line for line in files([*read(path), says_why]))


def test_a_file_that_is_gone_is_told_so_however_long_ago_that_was_committed() -> None:
    gone = [*bash("rm src/wick.py"), *bash("git commit -am 'No wick'", "[main 7654321] No wick\n 1 file changed")]
    asked = user("Now let the lamp be dimmed at noon, and tell me when that is done.")
    told = files([*edit("src/oil.py", "def fill(): ..."), *gone, asked, *LAMP])
    assert "deleted: src/wick.py" in told
    assert "changed earlier: src/oil.py (fill)" in told


def test_of_a_long_diff_some_files_are_told_and_how_many_more_it_has() -> None:
    diff = "\n".join(f" src/lamp_{n}.py | 2 +-" for n in range(40))
    [line] = [each for each in files(bash("git diff main --stat", diff)) if each.startswith("in diffs")]
    assert line.count("lamp_") == 12
    assert line.endswith("… and 28 more")


def test_where_nothing_was_changed_all_files_that_were_read_are_told() -> None:
    some = [m for n in range(14) for m in read(f"/srv/harbour/src/berth_{n}.py")]
    other = read("/srv/lighthouse/lamp.py")
    (root, line) = files([*some, *other])
    assert root == "in /srv/harbour/src/"
    assert all(f"berth_{n}.py" in line for n in range(14))
    assert "/srv/lighthouse/lamp.py" in line
    assert len(files([*some, *LAMP])) == 1


def test_of_very_many_files_that_were_read_the_last_are_told_with_how_many_more_there_are() -> None:
    (_, line) = files([m for n in range(30) for m in read(f"/srv/harbour/src/berth_{n}.py")])
    assert "berth_29.py" in line
    assert line.endswith("and 10 more")


@pytest.mark.parametrize("known", ["cat src/rows.py", "sed -i 's/a/b/' src/rows.py"])
def test_a_file_that_was_made_to_take_the_place_of_another_is_no_file_of_its_own(known: str) -> None:
    moved = bash("python fix.py < src/rows.py > src/rows.py.tmp && mv src/rows.py.tmp src/rows.py", "")
    facts = facts_of([TASK, *bash(known, "rows"), *moved])
    assert [(file.path, file.state) for file in facts.files if file.changed and not file.passed] == [
        ("src/rows.py", "modified")
    ]


SAVED = "cat > count.py <<'EOF'\nwith open('boats.json', 'w') as out:\n    out.write('7')\nEOF"


def test_what_code_would_write_that_is_only_saved_is_not_written() -> None:
    assert files(bash(SAVED, "")) == ["created: count.py"]
    assert files(bash(f"{SAVED}\npython3 count.py", "")) == ["created: boats.json, count.py"]
    assert files(bash("python3 - <<'EOF'\nopen('boats.json', 'w').write('7')\nEOF", "")) == ["created: boats.json"]


def test_what_the_lines_of_a_patch_would_write_is_not_written() -> None:
    body = '@@\n-    with open("glare.html", "w") as page:\n+    with open("logs/glare.html", "w") as page:\n'
    patch = f"apply_patch << 'PATCH'\n*** Begin Patch\n*** Update File: src/lamp.py\n{body}*** End Patch\nPATCH"
    assert files(bash(patch, "Success. Updated the following files:\nM src/lamp.py")) == ["changed: src/lamp.py"]


@pytest.mark.parametrize(
    "code",
    [
        "rows.to_csv('tides.csv', index=False)",
        "out = 'tides.csv'\nrows.to_csv(out)",
        "plt.savefig('tides.csv', dpi=90)",
        "np.savetxt('tides.csv', rows)",
    ],
)
def test_what_code_saves_by_a_library_is_written(code: str) -> None:
    assert files(bash(f"python3 - <<'EOF'\n{code}\nEOF", "")) == ["created: tides.csv"]


def test_a_path_may_be_called_by_any_spelling_of_its_name() -> None:
    written = runs("write_to_file", {"absolutePath": r"c:\Apps\tides\count.py", "content": "x = 1", "task_progress": "- [x] Count"})  # fmt: skip
    assert files(written) == ["created: C:/Apps/tides/count.py"]
    assert files(runs("replace_in_file", {"relativePath": "src/rows.py", "diff": "x"})) == ["changed: src/rows.py"]


def test_a_file_is_told_once_whether_it_is_named_from_the_folder_of_the_work_or_as_a_whole() -> None:
    home = "/srv/harbour/tides/"
    work = [
        *edit(f"{home}README.md", "x"),
        *edit(f"{home}src/log.py", "x", id="f"),
        *bash("git add README.md"),
    ]
    assert files(work) == [f"in {home}", "changed: README.md; src/log.py"]
    made = runs("Write", {"file_path": f"{home}LICENSE", "content": "all rights"})
    assert files([*made, *work, *bash("git add LICENSE")])[1] == "created: LICENSE"
    elsewhere = [*work, *edit("/srv/other/README.md", "x", id="g")]
    assert not any(line == f"in {home}" and "README.md" in line for line in files(elsewhere))


def test_what_a_program_writes_and_the_agent_deletes_each_time_is_no_deleted_file() -> None:
    run = [*bash("go test -coverprofile=coverage.out ./...", "ok"), *bash("rm -f coverage.out")]
    assert files([*LAMP, *run]) == ["changed: src/lamp.py (shine)", "deleted: coverage.out"]
    assert files([*LAMP, *run, *run]) == ["changed: src/lamp.py (shine)"]


@pytest.mark.parametrize(
    "command",
    [
        "sips -s format png lamp.svg --out lamp.png --resampleHeightWidth 16 16",
        "inkscape lamp.svg --export-filename=lamp.png",
        "magick lamp.svg -resize 16x16 lamp.png",
    ],
)
def test_what_a_program_converted_is_written(command: str) -> None:
    assert files(bash(command, "lamp.png")) == ["created: lamp.png"]


@pytest.mark.parametrize(
    ("looked_for", "ends", "put_in"),
    [
        ("------- SEARCH\n", "=======\n", "+++++++ REPLACE\n"),
        ("<<<<<<< SEARCH\n:start_line:12\n-------\n", "=======\n", ">>>>>>> REPLACE\n"),
    ],
)
def test_what_a_block_to_be_looked_for_and_replaced_defines_is_touched(looked_for: str, ends: str, put_in: str) -> None:
    code = "  let lamp = 1;\n", "  let lamp = 1;\n  async function shine(hours) {\n  }\n"
    diff = f"{looked_for}{code[0]}{ends}{code[1]}{put_in}"
    assert files(runs("replace_in_file", {"path": "lamp.svelte", "diff": diff})) == ["changed: lamp.svelte (shine)"]


def test_what_only_a_commit_says_is_new_or_gone_is_told_by_that() -> None:
    said = "[main 1234567] Moor\n 3 files changed, 9 insertions(+)\n create mode 100644 src/moor.py\n delete mode 100644 old.py\n create mode 100644 src/lamp.py"
    assert files([*LAMP, *bash('git add -A && git commit -m "Moor"', said)]) == [
        "changed: src/lamp.py (shine)",
        "committed: src/moor.py",
        "deleted: old.py",
    ]
    assert files(bash("git pull", said.partition("\n")[2])) == []


def test_a_file_of_a_folder_beside_the_work_is_none_of_the_work() -> None:
    assert files([*read("../port/src/lamp.py"), *LAMP]) == ["changed: src/lamp.py (shine)"]


def test_a_drive_is_the_same_one_in_small_and_in_capital_letters() -> None:
    both = [*edit(r"c:\Apps\tides\count.py", "x"), *edit("C:/Apps/tides/count.py", "y", id="f")]
    assert files(both) == ["changed: C:/Apps/tides/count.py"]


def test_a_name_that_says_no_more_than_the_file_is_not_told_and_none_is_cut_within_a_word() -> None:
    base = "axi4_master_bk_base_seq"
    code = f"class axi4_student_example_write_sequence extends {base};\n  task body();\n  endtask\nendclass\n"
    written = runs("Write", {"file_path": "axi4_student_example_write_sequence.sv", "content": code})
    assert files(written) in (
        ["created: axi4_student_example_write_sequence.sv"],
        ["created: axi4_student_example_write_sequence.sv (body)"],
    )
    page = runs(
        "Write", {"file_path": "src/Products.tsx", "content": "export function Products() {\n  return null\n}\n"}
    )
    assert files(page) == ["created: src/Products.tsx"]


def test_of_a_file_that_is_written_anew_nobody_knows_what_is_new_in_it() -> None:
    code = "def shine():\n    return 1\n\n\ndef dim():\n    return 0\n"
    anew = runs("Write", {"file_path": "src/lamp.py", "content": code})
    assert files(anew) == ["created: src/lamp.py"]
    assert files([*read("src/lamp.py"), *anew]) == ["changed: src/lamp.py"]
    assert files([*anew, *anew]) == ["created: src/lamp.py"]


def test_many_edits_behind_one_another_are_told_by_the_folders_of_their_files() -> None:
    paths = ["lamp/on.ts", "lamp/off.ts", "log/ships.ts", "log/gulls.ts", "README.md", "lamp/dim.ts"]
    edits = [each for path in paths for each in edit(path, f"function {path[-5]}()", id=path)]
    told = part(facts_of([TASK, FOUND, *edits]), "What happened")
    assert "edit lamp/{on.ts, off.ts, dim.ts}; log/{ships.ts, gulls.ts}; README.md" in told
    few = part(facts_of([TASK, FOUND, *edits[:4]]), "What happened")
    assert not any("{" in line for line in few)


def test_what_is_in_a_folder_that_was_moved_is_where_it_is_now() -> None:
    made = edit("lamp/on.ts", "function on() {}", id="on")
    moved = bash("mv lamp light", "")
    assert files([*made, *read("lamp/off.ts"), *moved, *edit("light/off.ts", "function off() {}", id="off")]) == [
        "changed: light/{on.ts, off.ts}",
        "renamed: lamp → light",
    ]


def test_a_folder_that_is_moved_by_its_name_is_the_one_that_is_known_by_its_whole_path() -> None:
    made = edit("/srv/app/lamp/on.ts", "function on() {}", id="on")
    assert "changed: /srv/app/hall/lamp/on.ts" in files([*made, *bash("mv lamp hall/lamp", "")])


def test_a_file_of_a_moved_folder_is_not_deleted_with_the_folder_around_it() -> None:
    gone = bash("mv hall/lamp light && rmdir hall", "")
    told = files([*read("hall/lamp/on.ts"), *gone])
    assert not any(line.startswith("deleted: hall/lamp") for line in told)


def test_what_is_gone_from_a_file_stands_behind_what_is_in_it() -> None:
    was = edit("lamp.ts", "function dim() {}", old="function blink() {}", id="a")
    assert files([*was, *edit("lamp.ts", "function shine() {}", id="b")]) == ["changed: lamp.ts (dim, shine)"]
    gone = edit("lamp.ts", "", old="function blink() {}", id="a")
    assert files([*gone, *edit("lamp.ts", "function shine() {}", id="b")]) == [
        "changed: lamp.ts (shine, without blink)"
    ]


def test_a_file_that_a_command_wrote_before_it_failed_is_there() -> None:
    wrote = bash(
        "cat > try.py << 'EOF'\nimport lamp\nEOF\npython try.py", "ImportError: no lamp\nexit code: 1", error=True
    )
    assert files(wrote) == ["created: try.py"]
    assert files([*wrote, *bash("rm -f try.py")]) == []


def test_what_a_command_that_failed_would_have_copied_is_not_there() -> None:
    command = "mkdir -p /mnt/buoy && mount /dev/sdb1 /mnt/buoy && cp chart.img tides.img /mnt/buoy/ && ls /mnt/buoy"
    copied = bash(command, "mount: only root can do that\nexit code: 32", error=True)
    assert [line for line in files([*edit("src/lamp.py", "dim"), *copied]) if "/mnt/buoy" in line] == []
    shown = bash("cp chart.img tides.img /mnt/buoy/; ls /mnt/other", "ls: no such folder\nexit code: 2", error=True)
    assert [line for line in files([*edit("src/lamp.py", "dim"), *shown]) if "/mnt/buoy" in line] != []


def test_a_file_that_a_command_names_behind_a_step_into_a_folder_is_in_that() -> None:
    looked = bash("cd harbour/src && cat lamp.tsx", "export const Lamp = 1")
    wrote = bash("cd harbour/src && cat > lamp.tsx << 'EOF'\nexport const Lamp = 2\nEOF")
    assert files([*looked, *wrote]) == ["changed: harbour/src/lamp.tsx"]


def test_a_file_that_a_command_looked_for_in_vain_was_not_read() -> None:
    looked = bash("cat src/rope.py; cat src/lamp.py", "cat: src/rope.py: No such file or directory\ndef shine(): ...")
    assert files([*looked, user("And what does src/rope.py do beside src/lamp.py?")]) == ["read: src/lamp.py"]


def test_a_patch_that_deletes_a_file_and_makes_it_anew_names_it_once() -> None:
    patch = (
        "*** Begin Patch\n*** Delete File: src/lamp.py\n*** Add File: src/lamp.py\n+def dim():\n+    ...\n*** End Patch"
    )
    told = part(facts_of([TASK, *runs("apply_patch", patch)]), "What happened")
    assert told[-1].count("src/lamp.py") == 1


def test_a_folder_that_went_because_it_was_empty_is_no_deletion() -> None:
    moved = bash("git mv src/old/lamp.ts src/hall/lamp.ts && rmdir src/old && git status")
    assert files([*edit("src/old/lamp.ts", "function on() {}"), *moved]) == [
        "renamed: src/old/lamp.ts → src/hall/lamp.ts (on)"
    ]
    assert files([*read("src/old/lamp.ts"), *bash("rmdir -Recurse src/old")])[-1] == "deleted: src/old"


def test_a_copy_in_a_folder_that_nobody_keeps_is_not_where_the_work_is() -> None:
    made = [runs("write", {"path": path, "content": "x = 1"}, id=path) for path in ("src/hall/lamp.ts", "src/hall/door.ts", "quay.ts")]  # fmt: skip
    copied = bash("mkdir -p /tmp/try/src && cp -r src/hall src/berths /tmp/try/src/ && cp quay.ts /tmp/try/quay.ts")
    told = files([*(m for each in made for m in each), *copied])
    assert not any(line.startswith("in ") or "/tmp" in line for line in told)


def test_what_was_copied_into_a_folder_that_was_made_for_a_while_was_not_changed_where_it_came_from() -> None:
    made = runs("write", {"path": "src/quay.ts", "content": "x = 1"})
    for copied in (
        'dir=$(mktemp -d /tmp/try-XXXX) && mkdir -p "$dir/src" && cp src/quay.ts src/hall.ts "$dir/src/"',
        'cp src/quay.ts src/hall.ts "$OUT/src/"',
    ):
        facts = facts_of([TASK, FOUND, *made, *bash(copied)])
        assert [file.path for file in facts.files if file.changed and not file.path.startswith("/tmp")] == [
            "src/quay.ts"
        ]
        assert next(file for file in facts.files if file.path == "src/quay.ts").times == 1


def test_a_file_that_powershell_did_not_find_was_not_read() -> None:
    said = "Get-Content: Cannot find path 'C:\\work\\app\\src\\main.rs' because it does not exist.\n// notify\nfn shine() {}"
    told = files([*LAMP, *bash("Get-Content -Raw src/main.rs; Get-Content -Raw src/lib.rs", said)])
    assert not any("main.rs" in line for line in told)
    facts = facts_of([TASK, *bash("Get-Content -Raw src/main.rs; Get-Content -Raw src/lib.rs", said)])
    assert [file.path for file in facts.files] == ["src/lib.rs"]


def test_a_large_edit_is_not_named_by_what_its_lines_only_speak_of() -> None:
    small = "    wait_for = 45\n"
    large = small + "    Lamp.oil_left = 3\n    Lamp.wick_cut = True\n    Lamp.glass_clean = True\n"
    facts = facts_of([TASK, *edit("src/lamp.py", small, old="pass"), *edit("src/log.py", large, old="pass", id="f")])
    told = [piece.text for piece in facts.pieces if piece.kind == "change"]
    assert told == ["edit src/lamp.py (wait_for)", "edit src/log.py"]


@pytest.mark.parametrize("root", ["/home/ann/code/app", "C:/code/app"])
def test_files_are_told_from_the_folder_that_holds_their_folders_and_not_from_the_one_with_most(root: str) -> None:
    docs = [m for n in range(9) for m in edit(f"{root}/docs/guide/page_{n}.md", "x", id=f"d{n}")]
    code = [*edit(f"{root}/src/lamp.py", "x", id="a"), *edit(f"{root}/README.md", "y", id="b")]
    lines = files([*docs, *code])
    assert lines[0] == f"in {root}/"
    assert "src/lamp.py" in lines[-1]
    assert root not in lines[-1]


def test_a_file_that_was_written_and_then_staged_by_another_name_was_written() -> None:
    root = "/home/ann/code/app"
    made = [
        m
        for n, name in enumerate(("lamp.py", "log.py"))
        for m in runs("Write", {"file_path": f"{root}/src/{name}", "content": "x"}, id=f"w{n}")
    ]
    put_in = bash("git add src/lamp.py src/log.py && git commit -m 'Lamp'", "[main 7654321] Lamp\n 2 files changed")
    [line] = files([*made, *put_in, *edit(f"{root}/src/lamp.py", "x", id="e9")])
    assert line.startswith(f"created: {root}/src/{{")
    assert {*line.partition("{")[2].rstrip("}").split(", ")} == {"lamp.py", "log.py"}


def test_what_is_changed_again_below_stands_where_it_was_before() -> None:
    made = runs("Write", {"file_path": "src/keel.py", "content": "def lay():\n    ...\n"})
    before = [TASK, FOUND, *made, *COMMIT, DONE, NEXT, *HORN]
    again = edit("src/keel.py", "def lay(depth):\n    ...", id="k2")
    told = part(settled(facts_of(before), facts_of(again)), "Files")
    assert told == ["changed: src/horn.py (sound)", "created earlier: src/keel.py", "changed again below: src/keel.py"]
