"""Bad session files: what can be used is used and told, what cannot is refused by name, and no file is ever harmed."""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import textwrap
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from foldline import CompactionError, Message, Session, SessionError
from foldline.extend import Text
from sessions import HEADER, Log, context, dumps, fold, ids, long_log, pi_context, shown_all, words

GO_ON = Message("user", (Text("go on"),))
OLD = {key: value for key, value in HEADER.items() if key != "version"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def texts(session: Session) -> list[str]:
    return [message.text for message in session.view().messages]


def lines_of(session: Session) -> list[int]:
    return [fault.line for fault in session.faults]


def numbered(count: int = 6) -> Log:
    """Messages `one`, `two` … in a row; record n stands on line n + 1."""
    log = Log()
    for n in range(1, count + 1):
        log.user(f"text {n}") if n % 2 else log.reply(f"text {n}")
    return log


def goes_on(session: Session, path: Path) -> None:
    """A session that was read can be appended to, folded and undone, and its bytes stay what they were."""
    was, before = path.read_bytes(), context(session)
    session.append(GO_ON)
    assert context(session) == context(Session(path)) == [*before, ["user", [{"type": "text", "text": "go on"}]]]
    before = context(session)
    _, after, made = fold(session)
    assert words(context(session)) == words(shown_all(after.messages))
    if made:
        session.undo()
    assert context(session) == context(Session(path)) == before
    assert path.read_bytes().startswith(was)


# -- not a session -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n \n\t\n",
        b"hello\n",
        b"\x00" * 5000,
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20,
        b"{}\n",
        b"[]\n[]\n",
        b"5\n",
        b"null\n",
        b'{"type":"user","uuid":"u","message":{"role":"user","content":"other format"}}\n',
        b'{"messages":[{"role":"user","content":"hi"}]}\n',
        b'{"type":"response_item","payload":{}}\n' * 3,
    ],
)
def test_what_is_no_session_is_refused(path, data):
    path.write_bytes(data)
    with pytest.raises(SessionError) as caught:
        Session(path)
    assert str(path) in str(caught.value)
    assert caught.value.path == str(path)
    assert path.read_bytes() == data


def test_a_directory_is_refused(tmp_path):
    with pytest.raises(SessionError, match=str(tmp_path)):
        Session(tmp_path)


def test_a_missing_file_is_refused(path):
    with pytest.raises(SessionError, match="No such file"):
        Session(path)
    assert not path.exists()


@pytest.mark.parametrize("name", ["nowhere/session.jsonl", "session.jsonl/below", "x" * 300])
def test_a_session_is_not_created_where_none_can_be(tmp_path, name):
    (tmp_path / "session.jsonl").write_text("a file")
    with pytest.raises(SessionError):
        Session.create(tmp_path / name)


# -- the header --------------------------------------------------------------------------------------------------


def test_a_header_alone_is_an_empty_session(path):
    session = Session(Log().write(path), strict=True)
    assert context(session) == []
    assert session.undo() is None
    assert session.folds() == []
    goes_on(session, path)


@pytest.mark.parametrize(
    "head", [None, b'{"type":"session","id":"s', b"\x00" * 200, b'\xef\xbb\xbf{"type":"session","version":3,"id":"s1"}']
)
@pytest.mark.parametrize("version", [1, 3])
def test_records_without_a_header_are_read(path, head, version):
    log = numbered()
    if version == 1:
        log.lines = [{k: v for k, v in line.items() if k not in ("id", "parentId")} for line in log.lines]
    log.lines = [*([head] if head else []), *log.lines[1:]]
    session = Session(log.write(path))
    assert texts(session) == [f"text {n}" for n in range(1, 7)]
    assert (session.faults[0].line, session.faults[0].what) == (1, "no header")
    assert session.version == version
    with pytest.raises(SessionError, match="no header"):
        Session(path, strict=True)
    goes_on(session, path)


@pytest.mark.parametrize("head", [b"", b"   ", b"{damaged"])
@pytest.mark.parametrize("header", [HEADER, OLD])
def test_the_header_is_the_first_line_that_can_be_read(path, head, header):
    log = Log(header)
    log.user("one")
    log.reply("first")
    log.lines.insert(0, head)
    session = Session(log.write(path))
    assert session.id == "s1"
    assert context(session) == pi_context(path.read_bytes())
    goes_on(session, path)


@pytest.mark.parametrize("version", [4, 99])
def test_a_version_of_the_future_is_read_but_not_written(path, version):
    log = numbered()
    log.lines[0] = {**HEADER, "version": version}
    session = Session(log.write(path))
    was = path.read_bytes()
    assert len(texts(session)) == 6
    assert (session.faults[0].line, str(version) in session.faults[0].what) == (1, True)
    for write in (lambda: session.append(GO_ON), session.undo, lambda: fold(Session(long(path, version)))):
        with pytest.raises(SessionError, match=f"version {version}"):
            write()
    with pytest.raises(SessionError, match=f"version {version}"):
        Session(path, strict=True)
    assert numbered_bytes(version) == was


def long(path: Path, version: int) -> Path:
    log = long_log()
    log.lines[0] = {**HEADER, "version": version}
    return log.write(path.with_name("long.jsonl"))


def numbered_bytes(version: int) -> bytes:
    log = numbered()
    log.lines[0] = {**HEADER, "version": version}
    return log.bytes()


@pytest.mark.parametrize("version", ["3", 3.0, None, [], -1, 0, True, 10**30])
def test_odd_versions_are_read(path, version):
    log = numbered()
    log.lines[0] = {**HEADER, "version": version}
    assert len(texts(Session(log.write(path)))) == 6


# -- torn and damaged lines --------------------------------------------------------------------------------------


def test_a_last_line_without_its_newline_is_whole_if_it_can_be_read(path):
    path.write_bytes(numbered().bytes()[:-1])
    session = Session(path, strict=True)
    assert len(texts(session)) == 6
    goes_on(session, path)


@pytest.mark.parametrize("cut", [2, 20, 60, 100])
def test_a_torn_last_line_is_set_aside_and_stays(path, cut):
    path.write_bytes(numbered().bytes()[:-cut])
    session = Session(path)
    assert texts(session) == [f"text {n}" for n in range(1, 6)]
    assert (lines_of(session), session.faults[0].what) == ([7], "damaged line")
    with pytest.raises(SessionError, match=r"session\.jsonl:7: damaged line") as caught:
        Session(path, strict=True)
    assert caught.value.line == 7
    goes_on(session, path)


def test_zeros_at_the_end_are_set_aside(path):
    """What a power cut leaves of blocks that were given to the file and never written."""
    path.write_bytes(numbered().bytes() + b"\x00" * 8192)
    session = Session(path)
    assert (len(texts(session)), lines_of(session)) == (6, [8])
    goes_on(session, path)


@pytest.mark.parametrize(
    "damage",
    [
        lambda line: line[: len(line) // 2],
        lambda line: line[:60] + b"\\" + line[61:],
        lambda line: b"\x00" * len(line),
        lambda line: b"[1, 2]",
        lambda line: b"null",
        lambda line: line[40:],
        lambda line: line + b'{"type":',
    ],
)
@pytest.mark.parametrize("at", [1, 3, 5])
def test_a_damaged_line_in_the_middle_is_bridged_and_told(path, damage: Callable[[bytes], bytes], at):
    log = numbered()
    log.lines[at] = damage(dumps(log.lines[at]))
    session = Session(log.write(path))
    assert texts(session) == [f"text {n}" for n in range(1, 7) if n != at]
    assert at + 1 in lines_of(session)
    with pytest.raises(SessionError) as caught:
        Session(path, strict=True)
    assert (caught.value.path, caught.value.line) == (str(path), at + 1)
    assert str(caught.value).startswith(f"{path}:{at + 1}: ")
    goes_on(session, path)


def test_a_line_whose_id_survived_leads_on_along_its_own_branch(path):
    log = numbered(2)
    fork = log.leaf
    log.user("left")
    log.leaf = fork
    log.user("damaged")
    log.reply("text 3")
    log.lines[4] = dumps(log.lines[4])[:-30]
    session = Session(log.write(path))
    assert texts(session) == ["text 1", "text 2", "text 3"]
    assert lines_of(session) == [5]


@pytest.mark.parametrize("place", ["first kept", "compaction", "inside", "before"])
def test_damage_around_a_compaction(path, place):
    log = numbered(4)
    log.compaction("00000002")
    log.user("text 5")
    at = {"first kept": 2, "compaction": 5, "inside": 3, "before": 1}[place]
    log.lines[at] = dumps(log.lines[at])[:-12]
    session = Session(log.write(path))
    told = {
        "first kept": ["SUM", "text 3", "text 4", "text 5"],
        "compaction": ["text 1", "text 2", "text 3", "text 4", "text 5"],
        "inside": ["SUM", "text 2", "text 4", "text 5"],
        "before": ["SUM", "text 2", "text 3", "text 4", "text 5"],
    }
    assert texts(session) == told[place]
    goes_on(session, path)


def test_a_compaction_behind_a_damaged_line_can_be_undone(path):
    log = numbered(4)
    log.compaction(None)
    log.lines[5]["firstKeptEntryId"] = "00000005"
    log.lines[4] = b"{damaged"
    session = Session(log.write(path))
    assert texts(session) == ["SUM"]
    session.undo()
    assert texts(session) == ["text 1", "text 2", "text 3"]


@pytest.mark.parametrize("layer", ["summarize", "prune"])
@pytest.mark.parametrize("system", [True, False])
def test_a_fold_that_is_cut_short_never_happened(path, layer, system):
    session = Session(long_log(4, system=system).write(path))
    unfolded, start = context(session), path.stat().st_size
    fold(session, layer=layer)
    folded, data = context(session), path.read_bytes()
    check_cuts(path, data, start, unfolded, folded)


@pytest.mark.parametrize("layer", ["summarize", "prune"])
@pytest.mark.parametrize("system", [True, False])
def test_an_undo_that_is_cut_short_never_happened(path, layer, system):
    session = Session(long_log(4, system=system).write(path))
    fold(session, layer=layer)
    for n in range(3):
        session.append(Message("user", (Text(f"later {n}"),)))
    folded, start = context(session), path.stat().st_size
    session.undo()
    undone, data = context(session), path.read_bytes()
    check_cuts(path, data, start, folded, undone)


def check_cuts(path: Path, data: bytes, start: int, before: list, after: list) -> None:
    """Cut anywhere behind `start`, the file shows all of the last write or nothing of it."""
    ends = [i for i in range(start, len(data)) if data[i : i + 1] == b"\n"]
    cuts = {start, start + 1, *ends, *(i + 1 for i in ends), *random.Random(7).sample(range(start, len(data)), 20)}
    for cut in sorted(cuts):
        path.write_bytes(data[:cut])
        session = Session(path)
        assert context(session) == (after if cut >= len(data) - 1 else before), cut
        n, done = len(session.folds()), [f.undone for f in session.folds()]
        session.append(GO_ON)
        assert context(Session(path))[:-1] == context(session)[:-1] == (after if cut >= len(data) - 1 else before)
        again = Session(path).folds()
        assert (len(again), [f.undone for f in again]) == (n, done)


def test_a_torn_fold_behind_a_damaged_line_never_happened(path):
    log = long_log(4)
    log.raw(b"{damaged")
    session = Session(log.write(path))
    unfolded, start = context(session), path.stat().st_size
    fold(session, layer="prune")
    data = path.read_bytes()
    path.write_bytes(data[: data.rindex(b"\n", start, len(data) - 1) + 1])
    assert context(Session(path)) == unfolded


def test_any_cut_of_a_file_is_read_or_refused(path):
    session = Session(long_log(6, system=True).write(path))
    fold(session, layer="prune")
    session.append(GO_ON)
    fold(session)
    session.undo()
    data = path.read_bytes()
    for cut in random.Random(1).sample(range(len(data)), 200):
        path.write_bytes(data[:cut])
        try:
            session = Session(path)
        except SessionError:
            assert cut < 200, "the header is whole"
            continue
        session.view()
        session.folds()
        session.append(GO_ON)
        assert context(Session(path)) == context(session)
        assert path.read_bytes().startswith(data[:cut])


def test_any_flipped_bytes_are_read_or_refused(path):
    session = Session(long_log(3, system=True).write(path))
    fold(session)
    data, rng = path.read_bytes(), random.Random(2)
    for _ in range(100):
        broken = bytearray(data)
        for _ in range(rng.randint(1, 8)):
            broken[rng.randrange(len(broken))] = rng.randrange(256)
        path.write_bytes(broken)
        try:
            session = Session(path)
            session.view()
            session.folds()
            session.undo()
            fold(session)
        except (SessionError, CompactionError):
            continue
        assert path.read_bytes().startswith(broken)


# -- ids ---------------------------------------------------------------------------------------------------------


def test_a_parent_that_is_nowhere_is_bridged(path):
    log = numbered(3)
    log.leaf = "nowhere"
    log.user("text 4")
    session = Session(log.write(path))
    assert texts(session) == [f"text {n}" for n in range(1, 5)]
    assert lines_of(session) == [5]
    assert "nowhere" in session.faults[0].what
    with pytest.raises(SessionError) as caught:
        Session(path, strict=True)
    assert caught.value.line == 5
    goes_on(session, path)


@pytest.mark.parametrize(
    "links", [{1: 1}, {3: 3}, {1: 2}, {1: 3}, {1: 4, 2: 1}, {2: 3, 3: 2}, dict.fromkeys(range(1, 5), 4)]
)
def test_loops_come_to_an_end(path, links):
    log = numbered(4)
    for record, parent in links.items():
        log.lines[record]["parentId"] = f"{parent:08x}"
    session = Session(log.write(path))
    assert texts(session)[-1] == "text 4"
    assert len(texts(session)) == 4
    assert session.faults
    goes_on(session, path)


def test_ids_that_stand_twice_or_often(path):
    log = numbered(6)
    for line in log.lines[1:]:
        line["id"] = "same"
    session = Session(log.write(path))
    assert texts(session)[-1] == "text 6"
    session.append(GO_ON)
    fold(session)
    session.undo()


@pytest.mark.parametrize("id", ["", None, 5, [], {}])
def test_records_without_an_id_are_passed_over_and_told(path, id):
    log = numbered(3)
    log.lines[2]["id"] = id
    log.add("message", id=id, parentId="00000003", message={"role": "user", "content": "lost"})
    session = Session(log.write(path))
    assert texts(session) == ["text 1", "text 3"]
    assert 3 in lines_of(session)
    assert 5 in lines_of(session)
    goes_on(session, path)


@pytest.mark.parametrize("parent", ["", 0, [], {"id": 1}, False])
def test_odd_parents_are_roots(path, parent):
    log = numbered(2)
    log.add("message", parentId=parent, message={"role": "user", "content": "root"})
    assert texts(Session(log.write(path))) == ["root"]


# -- contents ----------------------------------------------------------------------------------------------------

ODD_MESSAGES = [
    {}, {"message": None}, {"message": []}, {"message": "text"}, {"message": {}}, {"message": {"role": None}},
    {"message": {"role": []}}, {"message": {"role": "user"}}, {"message": {"role": "user", "content": None}},
    {"message": {"role": "user", "content": 5}}, {"message": {"role": "user", "content": [None, 1, "x", [], {}]}},
    {"message": {"role": "user", "content": [{"type": "text"}, {"type": "text", "text": None}]}},
    {"message": {"role": "assistant", "content": [{"type": "toolCall"}, {"type": "toolCall", "id": 1, "name": []}]}},
    {"message": {"role": "assistant", "content": [{"type": "toolCall", "id": "", "name": "", "arguments": None}]}},
    {"message": {"role": "assistant", "content": [{"type": "toolCall", "id": "c", "name": "t", "arguments": "{"}]}},
    {"message": {"role": "assistant", "content": [{"type": "thinking", "thinking": "x", "thinkingSignature": 5}]}},
    {"message": {"role": "assistant", "content": "text", "usage": {"input": "many", "output": -1, "cacheRead": 1e99}}},
    {"message": {"role": "toolResult"}}, {"message": {"role": "toolResult", "toolCallId": 5, "content": {"a": 1}}},
    {"message": {"role": "system"}}, {"message": {"role": "system", "sections": [1], "toolsAdded": {"a": 1}}},
    {"message": {"role": "system", "content": [], "toolsAdded": [1, None, {"name": []}], "toolsRemoved": 5}},
    {"message": {"role": "bashExecution"}}, {"message": {"role": "bashExecution", "exitCode": [], "output": {}}},
    {"message": {"role": "branchSummary", "summary": 5}}, {"message": {"role": "compactionSummary"}},
]  # fmt: skip


@pytest.mark.parametrize("fields", ODD_MESSAGES, ids=str)
def test_odd_messages_are_read_and_kept(path, fields):
    log = long_log(4)
    log.add("message", **fields)
    log.user("after")
    session = Session(log.write(path), strict=True)
    assert texts(session)[-1] == "after"
    goes_on(session, path)
    fold(session, layer="prune")
    session.undo()
    assert texts(session)[-2:] == ["after", "go on"]


ODD_RECORDS = [
    ("compaction", {}), ("compaction", {"summary": None, "firstKeptEntryId": []}),
    ("compaction", {"summary": 5, "firstKeptEntryId": 5, "details": [], "tokensBefore": "many"}),
    ("compaction", {"summary": "S", "details": {"foldline": 5}, "systemMessage": 5}),
    ("compaction", {"summary": "S", "details": {"foldline": {"facts": 5, "undo": [], "fold": {}}}, "systemMessage": {}}),
    ("compaction", {"summary": "S", "details": {"foldline": {"facts": {"round": "x", "files": [1]}, "receipt": {"a": 1}}}}),
    ("compaction", {"summary": "S", "details": {"foldline": {"fold": "f", "records": "x", "receipt": [], "meter": []}}}),
    ("compaction", {"summary": "S", "details": {"foldline": {"fold": "f", "meter": {"overhead": "x", "ratio": None}}}}),
    ("custom", {"customType": "foldline:fold", "foldline": {"fold": "f", "records": 99, "leaf": "x", "receipt": {}}}),
    ("custom", {"customType": "foldline:undo", "foldline": {"undo": {}, "records": -1}}),
    ("context_edit", {}), ("context_edit", {"targetId": [], "replacement": None}),
    ("context_edit", {"targetId": "00000002", "replacement": "text"}),
    ("context_edit", {"targetId": "00000002", "replacement": {}}),
    ("context_edit", {"targetId": "00000003", "replacement": {"content": [5, None]}}),
    ("custom_message", {}), ("custom_message", {"content": {"a": 1}}), ("branch_summary", {"summary": []}),
    ("model_change", {"modelId": 5}), ("", {}), ("novelty", {"message": {"role": "user", "content": "x"}}),
    ("session", {"version": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "fields"), ODD_RECORDS, ids=str)
def test_odd_records_are_read_and_kept(path, kind, fields):
    log = long_log(4)
    log.add(kind, **fields)
    if kind == "session":
        log.leaf = f"{len(log.lines) - 2:08x}"
    log.user("after")
    session = Session(log.write(path))
    assert texts(session)[-1] == "after"
    session.folds()
    session.meter()
    goes_on(session, path)
    _ = session.newest_fold, session.compactions, session.model
    while session.undo():
        assert texts(session)[-2:] == ["after", "go on"]


def test_a_type_that_is_no_text_is_an_unknown_one(path):
    log = numbered(2)
    log.add(5)  # type: ignore[arg-type]
    log.user("after")
    assert texts(Session(log.write(path))) == ["text 1", "text 2", "after"]


# -- bytes and numbers -------------------------------------------------------------------------------------------

ODD_LINES = [
    rb'"\ud800 alone", "\udc00"', b'"bytes \xff\xfe\x80"', b'"\xed\xa0\x80"', b"NaN", b"-Infinity", b"1e999",
    b"1" * 5000, b"-0.0", rb'"\u0000"', b"[" * 400 + b"]" * 400,
]  # fmt: skip


@pytest.mark.parametrize("odd", ODD_LINES, ids=lambda line: repr(line[:20]))
@pytest.mark.parametrize("place", ["text", "key", "arguments"])
def test_odd_values_in_a_line(path, odd, place):
    log = long_log(4)
    text = odd if place == "text" and odd.startswith(b'"') else b'"text"'
    text = text.split(b", ")[0]
    extra = {"text": b'"x":0', "key": b'"x":[' + odd + b"]", "arguments": b'"x":1'}[place]
    call = (
        b'{"type":"toolCall","id":"c","name":"t","arguments":{"a":[' + (odd if place == "arguments" else b"1") + b"]}}"
    )
    log.raw(
        b'{"type":"message","id":"odd","parentId":"00000010",' + extra + b',"message":{"role":"assistant","content":['
        b'{"type":"text","text":' + text + b"}," + call + b"]}}"
    )
    log.leaf = "odd"
    log.result("c", "out")
    log.user("after")
    session = Session(log.write(path))
    assert len(texts(session)) in (18, 19)
    assert session.faults or len(texts(session)) == 19
    goes_on(session, path)
    fold(session, layer="prune")
    session.undo()
    assert texts(session)[-2:] == ["after", "go on"]


@pytest.mark.parametrize("depth", [*range(150, 1100, 50), 5000, 200_000])
@pytest.mark.parametrize("place", ["key", "arguments", "content"])
def test_deep_nesting(path, depth, place):
    """As deep as Python can follow it is read; deeper, it is a damaged line."""
    log = long_log(4)
    deep = b"[" * depth + b"]" * depth
    arguments = deep if place == "arguments" else b"1"
    block = deep if place == "content" else b'{"type":"text","text":"odd"}'
    log.raw(
        b'{"type":"message","id":"odd","parentId":"00000010","message":{"role":"assistant","content":['
        + block + b',{"type":"toolCall","id":"c","name":"t","arguments":{"a":' + arguments + b"}}]},"
        b'"key":' + (deep if place == "key" else b"1") + b"}"
    )  # fmt: skip
    log.leaf = "odd"
    log.result("c", "out")
    log.user("after")
    session = Session(log.write(path))
    assert len(texts(session)) == 19 or lines_of(session) == [18]
    was = path.read_bytes()
    session.append(GO_ON)
    for layer in ("summarize",) if place == "arguments" else ("summarize", "prune"):
        if fold(session, layer=layer)[2]:
            session.undo()
    assert texts(session)[-2:] == ["after", "go on"]
    assert path.read_bytes().startswith(was)


@pytest.mark.parametrize("whole", [True, False])
def test_a_line_of_a_hundred_megabytes(path, whole):
    log = numbered(2)
    big = b"some words of an output, \\u00e9 and a number 12345\\n" * 2_000_000
    start = b'{"type":"message","id":"big","parentId":"00000002","message":{"role":"user","content":"'
    with open(path, "wb") as file:
        file.write(log.bytes() + start + big + (b'"}}' if whole else b"") + b"\n")
        log.lines, log.leaf = [], "big"
        log.add("message", id="end", message={"role": "user", "content": "after"})
        file.write(log.bytes())
    size = path.stat().st_size
    del big
    tracemalloc.start()
    session = Session(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5.5 * size
    assert [len(text) > 1e6 for text in texts(session)] == [False, False, *([True] if whole else []), False]
    assert lines_of(session) == ([] if whole else [4])
    session.append(GO_ON)
    assert ids(session)[-2] == "end"


# -- other writers, and disks that refuse ------------------------------------------------------------------------


@pytest.mark.parametrize("what", [b"x", b"\n", numbered(1).bytes()])
def test_a_file_that_grew_since_it_was_read_is_not_written(path, what):
    session = Session(long_log().write(path))
    with open(path, "ab") as file:
        file.write(what)
    grown = path.read_bytes()
    for write in (lambda: session.append(GO_ON), lambda: fold(session)):
        with pytest.raises(SessionError, match="another process"):
            write()
    assert path.read_bytes() == grown


def test_two_sessions_of_one_file_do_not_write_past_each_other(path):
    one, other = Session(long_log().write(path)), Session(path)
    fold(one)
    folded = path.read_bytes()
    with pytest.raises(SessionError, match="another process"):
        fold(other)
    assert path.read_bytes() == folded
    assert Session(path).undo()


def test_a_file_that_is_gone_is_not_written(path):
    session = Session(numbered().write(path))
    path.unlink()
    with pytest.raises(SessionError, match="No such file"):
        session.append(GO_ON)
    assert not path.exists()


WRITES = """
    import os, resource, sys
    sys.path[:0] = [{src!r}, {tests!r}]
    from sessions import fold
    from foldline import SessionError
    from foldline import Message
    from foldline.extend import Text
    from foldline import Session
    path = {path!r}
    {prepare}
    session = Session(path)
    for write in (lambda: session.append(Message("user", (Text("x" * 100_000),))), lambda: fold(session, layer="prune")):
        try:
            write()
        except SessionError as error:
            print(error)
        else:
            print("written")
"""


def in_a_process(path: Path, prepare: str) -> list[str]:
    """What appending and folding say in a process of their own, which may be made unable to write."""
    import foldline

    src = str(Path(foldline.__file__).parents[1])
    code = textwrap.dedent(WRITES).format(src=src, tests=str(Path(__file__).parent), path=str(path), prepare=prepare)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_read_only_file_is_refused(path):
    long_log().write(path)
    was = path.read_bytes()
    path.chmod(0o444)
    prepare = "pass"
    if os.geteuid() == 0:
        for folder in path.parents:
            if not folder.stat().st_mode & 0o001:
                folder.chmod(0o755)
        prepare = "os.setuid(65534)"
    told = in_a_process(path, prepare)
    assert told == [f"{path}: cannot be written: Permission denied"] * 2
    assert path.read_bytes() == was


@pytest.mark.parametrize("room", [0, 1, 1000, 8192])
def test_on_a_full_disk_the_file_stays_as_it_was(path, room):
    """A limit on the size of files stands for the full disk: the write stops midway in the same way."""
    long_log().write(path)
    was = path.read_bytes()
    told = in_a_process(path, f"resource.setrlimit(resource.RLIMIT_FSIZE, ({len(was) + room}, resource.RLIM_INFINITY))")
    assert [line.startswith(f"{path}: not written, it is as it was: ") for line in told] == [True, True]
    assert path.read_bytes() == was


def test_a_session_that_does_not_fit_is_not_created(tmp_path):
    path = tmp_path / "new.jsonl"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        with pytest.raises(SessionError, match="cannot be written"):
            Session.create(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


def test_unknown_kinds_stay_in_the_file(path):
    log = numbered(2)
    log.add("novelty", anything={"z": [1, None]})
    log.user("after")
    session = Session(log.write(path), strict=True)
    assert session.faults == []
    was = path.read_bytes()
    session.append(GO_ON)
    assert path.read_bytes().startswith(was)
    assert json.loads(path.read_bytes().splitlines()[3])["anything"] == {"z": [1, None]}


def test_a_pipe_is_refused_at_once_whatever_format_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reading = """
        import sys
        from foldline import SessionError, open_session
        from foldline._sessions.registry import names

        for name in names():
            try:
                open_session(sys.argv[1], format=name)
            except SessionError as error:
                print(name)
    """
    words = [sys.executable, "-c", textwrap.dedent(reading), str(tmp_path / "pipe")]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    assert {"pi", "claude-code", "codex", "opencode", "messages"} <= set(done.stdout.split())
