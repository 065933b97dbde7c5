"""Which facts can still be read: what a page lists by folders counts as shown, and what no longer stands is not missed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from foldline import Brief, Message
from foldline._facts.reading import facts_of
from foldline._facts.verify import audit
from foldline.extend import extract
from talk import bash, runs, says, user

NAMES = st.text("abcxyz_-.[]{}", min_size=1, max_size=8).map(lambda name: f"x{name}y")
PATHS = st.lists(NAMES, min_size=1, max_size=5).map("/".join)


def lost(messages: list[Message], brief: Brief = Brief(3_000)) -> list[str]:  # noqa: B008  a value
    return list(audit(facts_of(messages), [extract(brief, messages).text]).lost)


def writes(path: str) -> list[Message]:
    return runs("write", {"path": path, "content": "x"})


@given(st.lists(PATHS, max_size=25, unique=True), st.sampled_from(["", "/srv/app/shop/"]))
def test_a_file_that_a_page_lists_is_no_lost_fact(paths: list[str], root: str) -> None:
    work = [message for path in paths for message in writes(root + path)]
    assert lost([user("Write the modules of the shop, one by one, please."), *work], Brief(3_000, fills="words")) == []


def test_a_moved_file_counts_where_it_was_and_a_file_that_is_not_listed_is_lost() -> None:
    messages = [user("Tidy the modules of the shop up, please."), *writes("src/a.py"), *writes("src/b.py")]
    messages += bash("git mv src/b.py src/old/c.py", "done")
    assert lost(messages) == []
    assert audit(facts_of(messages), ["- created: src/{b.py, c.py}"]).lost[-1] == "created: src/a.py"


def test_an_error_that_is_open_no_more_is_not_missed() -> None:
    failed = bash("make release", "ERROR: no tag for version 4.2\nexit code: 2", error=True)
    old = [user("Make the release of the shop, please."), *failed]
    assert any("no tag for version 4.2" in name for name in audit(facts_of(old), [""]).lost)
    later = [m for i in range(20) for m in (user(f"Now write chapter {i} of the handbook."), says(f"Chapter {i}."))]
    assert not any("no tag for version 4.2" in name for name in audit(facts_of([*old, *later]), [""]).lost)


def test_a_scratch_file_is_not_missed_unless_the_work_is_done_there() -> None:
    work = [m for name in "abcd" for m in writes(f"/tmp/run/shop/src/{name}.py")]
    asked = user("Write the modules of the shop, please.")
    assert "created: /tmp/run/shop/src/a.py" in audit(facts_of([asked, *work]), [""]).lost
    assert audit(facts_of([asked, *writes("/tmp/probe.py"), *writes("src/a.py")]), ["src/a.py"]).lost == (
        "request: Write the modules of the shop, please.",
    )
