"""Small pi sessions, each odd in one way, as lists of lines: a dict is written as JSON, a string as it stands."""

import json
from pathlib import Path

HEADER = {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/tmp/demo"}
BY = {"api": "openai-completions", "provider": "demo", "model": "demo-1"}


def entry(type, id, parent, /, **fields):
    return {"type": type, "id": id, "parentId": parent, "timestamp": "2026-01-01T00:00:00.000Z", **fields}


def message(id, parent, role, content, **fields):
    return entry("message", id, parent, message={"role": role, "content": content, "timestamp": 1, **fields})


def user(id, parent, text):
    return message(id, parent, "user", [{"type": "text", "text": text}])


def reply(id, parent, text, *calls, stop="stop", **fields):
    content = [{"type": "text", "text": text}] if text else []
    content += [{"type": "toolCall", "id": call, "name": "read", "arguments": {"path": "a.py"}} for call in calls]
    return message(id, parent, "assistant", content, **BY, stopReason=stop, **fields)


def result(id, parent, call, text):
    content = [{"type": "text", "text": text}]
    return message(id, parent, "toolResult", content, toolCallId=call, toolName="read", isError=False)


def compaction(id, parent, kept, summary="SUM", **fields):
    return entry("compaction", id, parent, summary=summary, firstKeptEntryId=kept, tokensBefore=9, **fields)


def edit(id, parent, target, replacement):
    return entry("context_edit", id, parent, targetId=target, replacement=replacement)


def bash(id, parent, **fields):
    said = {"role": "bashExecution", "command": "ls", "output": "a.py", "exitCode": 0, "cancelled": False}
    return entry("message", id, parent, message={**said, "truncated": False, "timestamp": 1, **fields})


def old(line):
    """The version 1 form of an entry: no id, no parent."""
    return {key: value for key, value in line.items() if key not in ("id", "parentId")}


def write(lines, path: Path) -> Path:
    """Write the lines of a case as a session file."""
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


U1, A1 = user("u1", None, "one"), reply("a1", "u1", "first")
START = [HEADER, U1, A1]
FOUR = [*START, user("u2", "a1", "two"), reply("a2", "u2", "second")]
OLD = {key: value for key, value in HEADER.items() if key != "version"}
SYSTEM = {"role": "system", "content": "", "sections": {"preamble": "You are pi."}, "timestamp": 1}

CASES = {
    "plain": FOUR,
    "edit_removes": [*FOUR, edit("e1", "a2", "a1", None), user("u3", "e1", "three")],
    "edit_replaces": [*FOUR, edit("e1", "a2", "a1", {"content": "short"}), user("u3", "e1", "three")],
    "edit_replaces_with_blocks": [*FOUR, edit("e1", "a2", "u1", {"content": [{"type": "text", "text": "short"}]})],
    "edit_twice_last_wins": [
        *FOUR,
        edit("e1", "a2", "a1", None),
        edit("e2", "e1", "a1", {"content": "back"}),
        user("u3", "e2", "three"),
    ],
    "edit_of_result": [
        HEADER,
        U1,
        reply("a1", "u1", "", "c1", stop="toolUse"),
        result("r1", "a1", "c1", "long"),
        edit("e1", "r1", "r1", {"content": "cut"}),
    ],
    "edit_drops_calls": [
        HEADER,
        U1,
        reply("a1", "u1", "look", "c1", stop="toolUse"),
        result("r1", "a1", "c1", "long"),
        edit("e1", "r1", "a1", {"content": "no call"}),
    ],
    "edit_on_another_branch": [*FOUR, edit("e1", "a2", "a1", None), user("u3", "a2", "three")],
    "edit_before_its_target": [HEADER, U1, edit("e1", "u1", "a1", None), reply("a1", "e1", "first")],
    "edit_of_unknown": [*START, edit("e1", "a1", "nope", None)],
    "edit_of_compaction": [*FOUR, compaction("k1", "a2", "u2"), edit("e1", "k1", "k1", {"content": "new"})],
    "edit_removes_compaction": [*FOUR, compaction("k1", "a2", "u2"), edit("e1", "k1", "k1", None)],
    "edit_without_replacement": [
        *START,
        {key: v for key, v in edit("e1", "a1", "u1", None).items() if key != "replacement"},
    ],
    "edit_of_system": [
        HEADER,
        entry("message", "m0", None, message=SYSTEM),
        user("u1", "m0", "one"),
        edit("e1", "u1", "m0", None),
    ],
    "edit_of_custom_message": [
        *START,
        entry("custom_message", "x1", "a1", customType="ext", content="h", display=True),
        edit("e1", "x1", "x1", {"content": "new"}),
    ],
    "edit_of_branch_summary": [
        *FOUR,
        entry("branch_summary", "s1", "a1", fromId="a2", summary="LEFT"),
        edit("e1", "s1", "s1", {"content": "new"}),
    ],
    "edit_of_bash": [*START, bash("b1", "a1"), edit("e1", "b1", "b1", {"content": "new"})],
    "edit_of_bash_null": [*START, bash("b1", "a1"), edit("e1", "b1", "b1", None)],
    "edit_kept_by_compaction": [
        *FOUR,
        edit("e1", "a2", "a2", {"content": "short"}),
        compaction("k1", "e1", "u2"),
        user("u3", "k1", "three"),
    ],
    "edit_folded_by_compaction": [
        *START,
        user("u2", "a1", "two"),
        edit("e1", "u2", "u2", {"content": "short"}),
        reply("a2", "e1", "second"),
        compaction("k1", "a2", "a2"),
        user("u3", "k1", "three"),
    ],
    "unknown_type": [
        *START,
        entry("novelty", "n1", "a1", content="x", message={"role": "user", "content": "x"}),
        user("u2", "n1", "two"),
    ],
    "unknown_type_last": [*START, entry("novelty", "n1", "a1", content="x")],
    "unknown_role": [*START, message("x1", "a1", "oracle", [{"type": "text", "text": "x"}]), user("u2", "x1", "two")],
    "compaction": [*FOUR, compaction("k1", "a2", "u2"), user("u3", "k1", "three")],
    "compaction_last": [*FOUR, compaction("k1", "a2", "u2")],
    "compaction_keeps_itself": [*FOUR, compaction("k1", "a2", "k1"), user("u3", "k1", "three")],
    "compaction_keeps_unknown": [*FOUR, compaction("k1", "a2", "nope"), user("u3", "k1", "three")],
    "compaction_keeps_null": [*FOUR, compaction("k1", "a2", None), user("u3", "k1", "three")],
    "compaction_keeps_later": [*FOUR, compaction("k1", "a2", "u3"), user("u3", "k1", "three")],
    "compaction_keeps_from_result": [
        HEADER,
        U1,
        reply("a1", "u1", "", "c1", stop="toolUse"),
        result("r1", "a1", "c1", "long"),
        compaction("k1", "r1", "r1"),
        user("u2", "k1", "two"),
    ],
    "compaction_empty_summary": [*FOUR, compaction("k1", "a2", "u2", "")],
    "compaction_with_system": [*FOUR, compaction("k1", "a2", "u2", systemMessage=SYSTEM)],
    "two_compactions": [
        *FOUR,
        compaction("k1", "a2", "u2", "SUM1"),
        user("u3", "k1", "three"),
        compaction("k2", "u3", "u3", "SUM2"),
        user("u4", "k2", "four"),
    ],
    "two_compactions_reaching_back": [
        *FOUR,
        compaction("k1", "a2", "u2", "SUM1"),
        user("u3", "k1", "three"),
        compaction("k2", "u3", "a1", "SUM2"),
        user("u4", "k2", "four"),
    ],
    "compaction_on_another_branch": [*FOUR, compaction("k1", "a2", "u2"), user("u3", "a2", "three")],
    "branch": [*FOUR, user("u3", "a1", "three")],
    "branch_summary": [
        *FOUR,
        entry("branch_summary", "s1", "a1", fromId="a2", summary="LEFT"),
        user("u3", "s1", "three"),
    ],
    "branch_summary_empty": [*FOUR, entry("branch_summary", "s1", "a1", fromId="a2", summary="")],
    "label_last": [*START, entry("label", "l1", "a1", targetId="u1", label="x")],
    "label_last_on_old_branch": [
        *FOUR,
        user("u3", "a1", "three"),
        entry("label", "l1", "a2", targetId="u1", label="x"),
    ],
    "info_between": [*START, entry("session_info", "i1", "a1", name="x"), user("u2", "i1", "two")],
    "usage_entry": [*START, entry("usage", "g1", "a1", kind="compaction", usage={}), user("u2", "g1", "two")],
    "custom": [*START, entry("custom", "x1", "a1", customType="ext", data={"a": 1}), user("u2", "x1", "two")],
    "custom_message": [*START, entry("custom_message", "x1", "a1", customType="ext", content="hint", display=True)],
    "custom_message_hidden": [
        *START,
        entry(
            "custom_message", "x1", "a1", customType="ext", display=False, content=[{"type": "text", "text": "hint"}]
        ),
    ],
    "custom_message_null": [*START, entry("custom_message", "x1", "a1", customType="ext", content=None, display=True)],
    "bash": [*START, bash("b1", "a1")],
    "bash_failed": [*START, bash("b1", "a1", exitCode=2, output="")],
    "bash_cancelled": [*START, bash("b1", "a1", exitCode=None, cancelled=True)],
    "bash_truncated": [*START, bash("b1", "a1", truncated=True, fullOutputPath="/tmp/demo/full.txt")],
    "bash_excluded": [*START, bash("b1", "a1", excludeFromContext=True)],
    "error_last": [*START, user("u2", "a1", "two"), reply("x1", "u2", "half", stop="error", errorMessage="529")],
    "error_between": [
        *START,
        user("u2", "a1", "two"),
        reply("x1", "u2", "half", stop="error"),
        reply("a2", "x1", "second"),
    ],
    "aborted_with_call": [
        *START,
        user("u2", "a1", "two"),
        reply("x1", "u2", "", "c1", stop="aborted"),
        user("u3", "x1", "three"),
    ],
    "aborted_with_call_and_result": [
        *START,
        user("u2", "a1", "two"),
        reply("x1", "u2", "", "c1", stop="aborted"),
        result("r1", "x1", "c1", "out"),
        user("u3", "r1", "three"),
    ],
    "error_without_text": [*START, user("u2", "a1", "two"), reply("x1", "u2", "", stop="error"), user("u3", "x1", "3")],
    "length_stop": [*START, user("u2", "a1", "two"), reply("x1", "u2", "half", stop="length")],
    "call_without_result": [
        HEADER,
        U1,
        reply("a1", "u1", "", "c1", "c2", stop="toolUse"),
        result("r1", "a1", "c1", "out"),
        user("u2", "r1", "two"),
    ],
    "call_without_result_last": [HEADER, U1, reply("a1", "u1", "", "c1", stop="toolUse")],
    "result_without_call": [*START, result("r1", "a1", "c9", "out"), user("u2", "r1", "two")],
    "result_twice": [
        HEADER,
        U1,
        reply("a1", "u1", "", "c1", stop="toolUse"),
        result("r1", "a1", "c1", "out"),
        result("r2", "r1", "c1", "again"),
    ],
    "result_after_user": [
        HEADER,
        U1,
        reply("a1", "u1", "", "c1", stop="toolUse"),
        user("u2", "a1", "two"),
        result("r1", "u2", "c1", "late"),
    ],
    "system_message": [
        HEADER,
        entry("message", "m0", None, message=SYSTEM),
        user("u1", "m0", "one"),
        reply("a1", "u1", "first"),
    ],
    "system_update": [
        HEADER,
        entry("message", "m0", None, message=SYSTEM),
        user("u1", "m0", "one"),
        reply("a1", "u1", "first"),
        entry("message", "m1", "a1", message={**SYSTEM, "sections": {"preamble": None, "date": "today"}}),
        user("u2", "m1", "two"),
    ],
    "system_kept_by_compaction": [
        HEADER,
        entry("message", "m0", None, message=SYSTEM),
        user("u1", "m0", "one"),
        reply("a1", "u1", "first"),
        compaction("k1", "a1", "m0", systemMessage=SYSTEM),
        user("u2", "k1", "two"),
    ],
    "system_between_call_and_result": [
        HEADER,
        U1,
        reply("a1", "u1", "", "c1", stop="toolUse"),
        entry("message", "m1", "a1", message=SYSTEM),
        result("r1", "m1", "c1", "out"),
    ],
    "null_content_user": [*START, message("u2", "a1", "user", None)],
    "null_content_assistant": [*START, message("a2", "a1", "assistant", None, **BY, stopReason="stop")],
    "null_content_result": [
        HEADER,
        U1,
        reply("a1", "u1", "", "c1", stop="toolUse"),
        message("r1", "a1", "toolResult", None, toolCallId="c1", toolName="read", isError=False),
    ],
    "string_content": [HEADER, message("u1", None, "user", "one"), reply("a1", "u1", "first")],
    "string_content_assistant": [HEADER, U1, message("a1", "u1", "assistant", "first", **BY, stopReason="stop")],
    "no_message": [*START, entry("message", "x1", "a1"), user("u2", "x1", "two")],
    "damaged_line": [HEADER, U1, '{"type":"message","id":"d1', A1],
    "damaged_parent": [
        *START,
        '{"type":"message","id":"u2","parentId":"a1", "message": {\\*',
        reply("a2", "u2", "second"),
    ],
    "damaged_last": [*START, '{"type":"message","id":"u2","parentId":"a1","mess'],
    "blank_lines": [HEADER, "", U1, "   ", A1, ""],
    "line_is_a_list": [HEADER, U1, "[1,2]", A1],
    "line_is_a_number": [HEADER, U1, "5", A1],
    "line_is_null": [HEADER, U1, "null", A1],
    "damaged_header": ['{"type":"session","id', U1, A1],
    "no_header": [U1, A1],
    "blank_before_header": ["", *START],
    "header_not_first": [U1, HEADER, A1],
    "header_twice": [*START, {**HEADER, "id": "s2"}, user("u2", "a1", "two")],
    "header_version_4": [{**HEADER, "version": 4}, U1, A1],
    "header_only": [HEADER],
    "empty_file": [],
    "same_id_twice": [HEADER, U1, A1, reply("a1", "u1", "other"), user("u2", "a1", "two")],
    "same_id_twice_loop": [HEADER, U1, A1, user("u1", "a1", "again")],
    "dangling_parent": [*START, user("u2", "gone", "two"), reply("a2", "u2", "second")],
    "no_parent_field": [HEADER, U1, A1, {key: v for key, v in user("u2", "", "two").items() if key != "parentId"}],
    "no_id": [HEADER, U1, {key: v for key, v in A1.items() if key != "id"}, user("u2", "u1", "two")],
    "no_id_last": [HEADER, U1, {key: v for key, v in A1.items() if key != "id"}],
    "child_before_parent": [HEADER, A1, U1],
    "own_parent": [HEADER, user("u1", "u1", "one")],
    "loop": [HEADER, user("u1", "a1", "one"), A1],
    "v1": [OLD, old(U1), old(A1), old(user("", "", "two"))],
    "v1_compaction": [
        OLD,
        *map(old, FOUR[1:]),
        {
            "type": "compaction",
            "timestamp": "2026-01-01T00:00:00.000Z",
            "summary": "SUM",
            "firstKeptEntryIndex": 3,
            "tokensBefore": 9,
        },
        old(user("", "", "three")),
    ],
    "v1_compaction_after_damage": [
        OLD,
        old(U1),
        "{damaged",
        *map(old, FOUR[2:]),
        {
            "type": "compaction",
            "timestamp": "2026-01-01T00:00:00.000Z",
            "summary": "SUM",
            "firstKeptEntryIndex": 3,
            "tokensBefore": 9,
        },
        old(user("", "", "three")),
    ],
    "v1_compaction_index_0": [
        OLD,
        *map(old, FOUR[1:]),
        {
            "type": "compaction",
            "timestamp": "2026-01-01T00:00:00.000Z",
            "summary": "SUM",
            "firstKeptEntryIndex": 0,
            "tokensBefore": 9,
        },
    ],
    "v1_compaction_index_later": [
        OLD,
        *map(old, FOUR[1:]),
        {
            "type": "compaction",
            "summary": "SUM",
            "timestamp": "2026-01-01T00:00:00.000Z",
            "firstKeptEntryIndex": 6,
            "tokensBefore": 9,
        },
        old(user("", "", "three")),
    ],
    "v1_with_ids": [OLD, U1, A1, user("u2", "u1", "two")],
    "v2_hook_message": [
        {**HEADER, "version": 2},
        U1,
        message("h1", "u1", "hookMessage", "hint", customType="x"),
        reply("a1", "h1", "first"),
    ],
    "v3_hook_message": [
        HEADER,
        U1,
        message("h1", "u1", "hookMessage", "hint", customType="x"),
        reply("a1", "h1", "first"),
    ],
}

# A loop of parents: pi walks it until its memory ends.
ENDLESS = {"same_id_twice_loop", "own_parent", "loop"}
