"""Agents that act by text with an editor of their own: what they open, create and edit are files."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from foldline import Brief, Message
from foldline._facts.reading import facts_of
from foldline.extend import Text, ToolCall, ToolResult, extract
from talk import runs, says, user

PROMPT = user("Please fix the tide of harbour_9.\nRemember, YOU CAN ONLY ENTER ONE COMMAND AT A TIME in this shell.")
PLACE = "\n(Open file: /port/lib/tides.py)\n(Current directory: /port)\nbash-$"
SHOWN = f"[File: /port/lib/tides.py (3 lines total)]\n1:TIDES = 9\n2:\n3:{PLACE}"
EDITED = f"[File: /port/lib/tides.py (3 lines total)]\n1:TIDES = 8\nFile updated. Please review the changes.{PLACE}"
REFUSED = f"Your proposed edit has introduced new syntax error(s). Please understand the fixes and retry your edit commmand.\n\nERRORS:\n- E999 SyntaxError: unmatched ')'\n{PLACE}"  # fmt: skip
EDIT = "edit 1:1\nTIDES = 8\nend_of_edit"


def acts(command: str, outcome: str) -> list[Message]:
    return [says(f"I go on.\n```\n{command}\n```"), user(outcome)]


def files(messages: Sequence[Message]) -> list[tuple[str, str]]:
    return [(file.path, file.state) for file in facts_of([PROMPT, *messages]).files]


def test_an_edit_is_one_of_the_file_that_is_open() -> None:
    assert files([*acts("open lib/tides.py 3", SHOWN), *acts(EDIT, EDITED)]) == [("lib/tides.py", "modified")]


def test_what_the_file_looks_like_since_an_edit_is_not_told() -> None:
    shown = "1392:class Date(DateTime):\n1393:    ISO8601-formatted date string.\n1394:\n" + "1395:    x = 1\n" * 60
    edited = EDITED.replace("1:TIDES = 8\n", shown)
    lines = [p.text for p in facts_of([PROMPT, *acts("open lib/tides.py 3", SHOWN), *acts(EDIT, edited)]).pieces]
    assert "edit lib/tides.py" in [line.partition(" (")[0] for line in lines]


def test_one_that_was_refused_changed_nothing() -> None:
    opened = acts("open lib/tides.py", SHOWN)
    assert files([*opened, *acts(EDIT, REFUSED)]) == [("lib/tides.py", "read")]


def test_a_file_that_is_created_and_removed_is_gone() -> None:
    made = acts("create try.py", f"[File: /port/try.py (1 lines total)]\n1:{PLACE}")
    assert files(made) == [("try.py", "created")]
    assert files([*made, *acts("rm try.py", f"Your command ran successfully and did not produce any output.{PLACE}")]) == [("try.py", "deleted")]  # fmt: skip


def test_a_fence_amid_a_line_of_code_does_not_end_the_command() -> None:
    code = "if said.startswith('```json'):\n    said = said[7:-3]\nelif said.startswith('```'):\n    said = said[3:]"
    command = f"cat << 'EOF' > part.txt\n{code}\nEOF\nsed -i '8r part.txt' lib/tides.py && rm part.txt"
    wrote = acts(command, PLACE)
    assert ("lib/tides.py", "modified") in files(wrote)
    assert not [piece.text for piece in facts_of([PROMPT, *wrote]).pieces if "said[3:]" in piece.text]


UNREAD = "Please always provide EXACTLY ONE action in triple backticks, found 0 actions.\nSee the first message."
NOT_READ = " → not carried out, the client could not read it: Please always provide EXACTLY ONE action in triple backticks, found 0 actions."


def test_an_action_that_the_client_could_not_read_did_nothing_and_is_told_once() -> None:
    unread = acts("sed -i s/9/8/ lib/tides.py", UNREAD)
    facts = facts_of([PROMPT, *acts("ls lib", "tides.py"), *unread, *unread])
    assert [file.path for file in facts.files] == []
    told = [piece.text for piece in facts.pieces if NOT_READ in piece.text]
    assert told == [f"`sed -i s/9/8/ lib/tides.py`{NOT_READ}"]


def test_of_a_reply_without_an_action_it_is_told_that_the_client_could_not_read_it() -> None:
    facts = facts_of([PROMPT, *acts("ls lib", "tides.py"), says("I replace nine with eight."), user(UNREAD)])
    assert [piece.text for piece in facts.pieces if NOT_READ in piece.text] == [f"the reply{NOT_READ}"]


@pytest.mark.parametrize("command", ["open -a Notes", "create_all.sh lib", "edit.py 1:1"])
def test_programs_that_are_called_alike_are_commands(command: str) -> None:
    assert files(acts(command, "done")) == []


def test_a_script_that_says_itself_that_it_is_through_closes_its_error() -> None:
    failed = acts("python try.py", f"Traceback (most recent call last):\n  File 'try.py'\nValueError: counted twice{PLACE}")  # fmt: skip
    works = acts("python try.py", f"Script completed successfully, no errors. Result: True\n{PLACE}")
    assert [fault.resolved for fault in facts_of([PROMPT, *failed, *works]).faults] == [True]


# -- Terminus, the agent of Terminal-Bench -----------------------------------------------------------------------------

TEMPLATE = """You are an AI assistant tasked with solving command-line tasks in a Linux environment. You will be given a task description and the output from previously executed commands.

Format your response as JSON with the following structure:

{
  "analysis": "Analyze the current state",
  "commands": [
    {
      "keystrokes": "ls -la\\n",
      "duration": 0.1
    }
  ]
}

Task Description:
Count the boats of harbour_9 and write the sum to boats.txt.

{"harbour": 9}

Current terminal state:
Current Terminal Screen:
root@port:/app#
"""


def types(analysis: str, *keystrokes: str, fenced: bool = False) -> Message:
    commands = [{"keystrokes": keys, "duration": 0.1} for keys in keystrokes]
    reply = json.dumps({"analysis": analysis, "plan": "Go on.", "commands": commands}, indent=2)
    return says(f"I see.\n\n```json\n{reply}\n```" if fenced else reply)


WRITES = "cat > count.py <<'EOF'\nprint(7)\nEOF\n"
TYPED = [
    user(TEMPLATE),
    types("harbour_9 has 7 boats in boats.csv.", WRITES, "python3 count.py > boats.txt\n", fenced=True),
    user("New Terminal Output:\n\nroot@port:/app# python3 count.py > boats.txt\nnobody must ever read this"),
    types("count.py wrote boats.txt.", "python3 check.py\n"),
    user("Previous response had warnings:\n- Extra text\n\nNew Terminal Output:\nAll is counted, delete nothing."),
    says('{"analysis": "All is counted.", "plan": "None.", "commands": [], "task_complete": true}'),
    user(
        "Current terminal state:\nroot@port:/app#\n\nAre you sure you want to mark the task as complete? Include it again."
    ),
]


def test_of_the_template_of_terminus_the_task_is_the_users_and_no_screen_is() -> None:
    assert [r.text for r in facts_of(TYPED).requests] == [
        'Count the boats of harbour_9 and write the sum to boats.txt.\n\n{"harbour": 9}'
    ]


def test_keys_that_are_typed_are_commands_and_their_analysis_is_said() -> None:
    facts = facts_of(TYPED)
    assert {file.path for file in facts.files if file.changed} == {"count.py", "boats.txt"}
    assert [c.text for c in facts.commands][-1] == "python3 check.py"
    said = [p.text for p in facts.pieces if p.by == "agent"]
    assert "harbour_9 has 7 boats in boats.csv." in said
    assert "count.py wrote boats.txt." in said
    assert not [text for text in said if "keystrokes" in text]


def test_keys_in_tags_are_commands_too() -> None:
    reply = says('<response>\n<analysis>\nharbour_9 has 7 boats.\n</analysis>\n<commands>\n<keystrokes duration="0.1">rm boats.csv\n</keystrokes>\n</commands>\n</response>')  # fmt: skip
    facts = facts_of([user(TEMPLATE), reply, user("New Terminal Output:\nroot@port:/app#")])
    assert [(file.path, file.state) for file in facts.files] == [("boats.csv", "deleted")]
    assert [p.text for p in facts.pieces if p.by == "agent"] == ["harbour_9 has 7 boats."]


def test_keys_that_a_tool_types_are_a_command() -> None:
    facts = facts_of(
        [user("Count the boats."), *runs("bash_command", {"keystrokes": "rm boats.csv\n", "duration": 1.0})]
    )
    assert [(file.path, file.state) for file in facts.files] == [("boats.csv", "deleted")]


def test_commands_in_tags_are_commands() -> None:
    def tagged(command: str, outcome: str) -> list[Message]:
        return [says(f"I go on.\n<command>\n{command}\n</command>"), user(outcome)]

    opened = tagged("open lib/tides.py", SHOWN)
    facts = facts_of(
        [PROMPT, *opened, *tagged("edit\nTIDES = 8\nend_of_edit", EDITED), *tagged("python try.py", "344")]
    )
    assert [(file.path, file.state) for file in facts.files] == [("lib/tides.py", "modified")]
    assert [c.text for c in facts.commands] == ["python try.py"]
    assert [request.text for request in facts.requests] == [PROMPT.text]


def test_how_the_answer_is_to_look_is_an_order_of_the_template() -> None:
    told = extract(Brief(4_000), TYPED[:3]).text
    assert 'structure: { "analysis": "Analyze the current state", "commands": [ { "keystrokes": "ls -la\\n", "duration": 0.1 } ] }' in told  # fmt: skip


def test_a_command_that_stands_in_the_words_beside_its_call_is_told_once() -> None:
    command = "sed -i 's/rows/lines/' src/rows.py"
    text = f"The name is wrong everywhere, so I change it.\n\n```bash\n{command}\n```"
    acts = Message("assistant", (Text(text), ToolCall("c", "bash", json.dumps({"command": command}))))
    other = Message("assistant", (Text(f"{text}\n\nRun this later:\n\n```bash\nmake docs\n```"), *acts.parts[1:]))
    done = Message("tool", (ToolResult("c", (Text("ok"),)),))
    for each in (acts, other):
        told = extract(Brief(1_500), [user("Rename the rows."), each, done, says("I look at the rest now.")]).text
        assert told.count("s/rows/lines/") == 1
        assert ("make docs" in told) is (each is other)
