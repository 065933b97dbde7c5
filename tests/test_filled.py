"""A page that fills a hard budget: all that is left of what it stands for, told letter by letter."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from foldline import Brief, Compactor, Message
from foldline._facts.reading import facts_of
from foldline.extend import extract
from talk import runs, says, user

ASKED = user("The nightly export of the mirrors fails since Tuesday. Please find out why, and make it run again.")
REPORT = says("The lock of mirror_7 was never given back; the export runs again.")
LATER = user("Now write the release notes of the exporter for the people at the desk, half a page of plain words.")


def filled(*steps: Sequence[Message], tokens: int = 1_500) -> str:
    """The page of some steps between a request and the next one, where it is to fill a budget."""
    asked = [ASKED, *(message for step in steps for message in step), REPORT, LATER]
    return extract(Brief(tokens, fills="words"), asked).text


def by_hand(*steps: Sequence[Message], tokens: int = 1_500) -> str:
    """The same where there is no budget to be filled."""
    asked = [ASKED, *(message for step in steps for message in step), REPORT, LATER]
    return extract(Brief(tokens), asked).text


def test_a_look_is_told_with_the_arguments_that_its_line_leaves_out() -> None:
    look = runs("read", {"path": "src/export.py", "offset": 424, "limit": 37}, "def export(): ...")
    assert "- read src/export.py; offset=424, limit=37" in filled(look).splitlines()
    assert "offset=424" not in by_hand(look)


def test_a_command_is_told_with_where_it_ran_and_what_it_was_for() -> None:
    ran = runs(
        "shell",
        {"command": "make export", "workdir": "/srv/mirrors/desk", "description": "See which lock it waits for"},
        "make: *** [export] Error 2",
        error=True,
    )
    assert "workdir=/srv/mirrors/desk" in filled(ran)
    assert "description=See which lock it waits for" in filled(ran)


def test_a_commit_is_told_with_its_hash() -> None:
    answer = "[main 4be19d2] give the lock back\n 3 files changed, 96 insertions(+), 12 deletions(-)"
    commit = runs("shell", {"command": 'git commit -am "give the lock back"'}, answer)
    assert "[main 4be19d2] give the lock back" in filled(commit)


def test_a_patch_is_told_with_all_of_its_files() -> None:
    paths = [f"src/part_{n}.py" for n in range(7)]
    patch = "".join(f"*** Update File: {path}\n@@\n-old_{n}\n+new_{n}\n" for n, path in enumerate(paths))
    told = filled(runs("apply_patch", {"input": f"*** Begin Patch\n{patch}*** End Patch"}, "Done!"))
    happened = told.partition("## What happened")[2].partition("\n## ")[0]
    assert [path for path in paths if path not in happened] == []


@pytest.mark.parametrize("path", ["/srv/mirrors/desk/src/export.py", "/srv/mirrors/desk/src/locks.py"])
def test_a_path_stands_as_it_was_written(path: str) -> None:
    looks = [runs("read", {"path": f"/srv/mirrors/desk/src/{name}.py"}, "…") for name in ("export", "locks")]
    assert f"- read {path}" in filled(*looks).splitlines()


# -- a page that is read from a page -------------------------------------------------------------------------------


def again(page: str, *steps: Sequence[Message], tokens: int = 1_500) -> str:
    """The page of a page that came back as text, and of some steps behind it."""
    came_back = user(f"<summary>\n{page}\n</summary>")
    return extract(Brief(tokens, fills="words"), [came_back, *(m for step in steps for m in step), REPORT, LATER]).text


def test_what_a_call_brought_stands_beside_its_call_on_a_page_of_a_page() -> None:
    record = '{"ok": true, "visit": "EV-20956", "crew": "Marigold Tse", "log": [{"line": "B", "noise": 14.38}]}'
    page = filled(runs("book_visit", {"slot": "V7734"}, record))
    held = next(line for line in page.splitlines() if "EV-20956" in line)
    assert held.startswith("- book_visit slot=V7734")
    assert held in again(page).splitlines()


def test_a_command_that_ended_is_no_change_on_a_page_of_a_page() -> None:
    page = (
        "## Task now\n> Run the export.\n\n## What happened\n- `make export` → exit 2; no lock\n- edit src/export.py\n"
    )
    pieces = {piece.text: piece.kind for piece in facts_of([user(f"<summary>\n{page}\n</summary>")]).pieces}
    assert pieces["`make export` → exit 2"] == "call"
    assert pieces["edit src/export.py"] == "change"


# -- a budget in which little has room -----------------------------------------------------------------------------


def test_where_most_of_the_users_words_have_no_room_hardly_anything_else_has() -> None:
    asked = [
        user(f"Desk {n} keeps the keys of depot K-{n}07, and nobody else may open it before noon.") for n in range(40)
    ]
    reports = [
        says(f"Depot K-{n}07 was opened by worker_{n} at 0{n}:15, order QX-{n}44 of shelf_{n}.") for n in range(40)
    ]
    history = [each for pair in zip(asked, reports) for each in pair]
    told = extract(Brief(500, fills="words"), [*history, LATER]).text.splitlines()
    assert sum(line.startswith("> Desk") for line in told) > 4 * sum(line.startswith("Depot") for line in told)


def mirrors(count: int) -> list[Message]:
    """A long talk about one part of the exporter after the other."""
    asked = [ASKED]
    for i in range(count):
        source = f"def part_{i}(mirror):\n    return mirror.lock({i}) # 鏡の鍵 {i * 7919}\n" * 4
        told = says(f"Part {i} takes lock_{i} and waits {i * 37 % 61} seconds for it; mirror_{i} gives it back late.")
        asked += [*runs("read", {"path": f"src/part_{i}.py"}, source), told]
        asked += [user(f"And what about mirror_{i + 1}, which Anna named on {i % 28 + 1} May?")]
    return [*asked, says("I look at the next one.")]


@pytest.mark.parametrize("most", range(330, 370))
def test_a_page_that_is_a_little_too_large_is_made_smaller_and_not_dropped(most: int) -> None:
    compactor = Compactor("deepseek-chat", window=1_000_000)
    compactor.fold_to(mirrors(60), most)
    assert compactor.folds[-1].receipt.tokens_after > 0.8 * most


@pytest.mark.parametrize("most", [200, 300, 400])
def test_a_newest_reply_that_is_larger_than_the_budget_leaves_room_for_a_page(most: int) -> None:
    report = says(" ".join(f"The lock of mirror_{at} is given back by part_{at}." for at in range(60)))
    compactor = Compactor("gpt-5.4", window=1_000_000)
    page, newest = compactor.fold_to([*mirrors(40)[:-1], report], most)
    assert compactor.folds[-1].receipt.tokens_after > 0.9 * most
    assert "And what about mirror_40" in page.text
    assert newest.text.startswith("The lock of mirror_0 is given back")
