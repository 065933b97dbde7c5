"""What a session's size rests on: bills, what they taught, and what stands in no file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from foldline import Compactor, Message, open_session
from foldline._desk.desk import Desk
from foldline._listing import listed
from foldline.extend import Text, ToolCall, preset, weigh

FAR = {"claude3": 1.3, "claude4.7": 1.3, "glm": 1.3, "deepseek": 1.3}
"""How many times the words of a file a call that writes it may weigh; as JSON it would be 1.6."""

SEALED = {"type": "reasoning", "summary": [], "encrypted_content": "gAAA" * 100}


SAID = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]}


def item(**payload: Any) -> dict[str, Any]:
    return {"type": "response_item", "payload": payload}


def says(role: str, text: str) -> dict[str, Any]:
    return item(type="message", role=role, content=[{"type": "text", "text": text}])


def calls(id: str) -> list[dict[str, Any]]:
    made = item(type="function_call", call_id=id, name="shell", arguments='{"command":"ls"}')
    return [made, item(type="function_call_output", call_id=id, output="a file")]


def bill(total: int, prompt: int, output: int = 20) -> dict[str, Any]:
    used = {"input_tokens": prompt, "output_tokens": output}
    info = {"total_token_usage": {"input_tokens": total}, "last_token_usage": used}
    return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}


def rollout(path: Path, *rows: dict[str, Any], model: str = "gpt-5.4") -> Path:
    head = {"type": "session_meta", "payload": {"id": "a", "base_instructions": {"text": "You are Codex."}}}
    context = {"type": "turn_context", "payload": {"model": model}}
    path.write_text("".join(json.dumps(row) + "\n" for row in (head, context, *rows)))
    return path


def tokens(path: Path) -> int:
    return open_session(path).context.size().tokens


@pytest.mark.parametrize("family", FAR)
def test_a_file_that_a_call_writes_weighs_as_its_words_and_not_as_json(family: str) -> None:
    code = 'def greet(name):\n\treturn "Hello, " + name + "\\n"\n\n' * 40
    call = ToolCall("a", "write", json.dumps({"path": "greet.py", "content": code}))
    words = weigh(Message("user", (Text(code),)), family)
    assert words < weigh(Message("assistant", (call,)), family) < FAR[family] * words


def test_sealed_reasoning_weighs_what_it_was_billed_until_the_user_speaks(tmp_path: Path) -> None:
    rows = [says("user", "go"), item(**SEALED), *calls("c1"), bill(1, 9_000, output=1_500)]
    inside = tokens(rollout(tmp_path / "inside.jsonl", *rows))
    assert 10_500 <= inside <= 10_560, "the bill, the reply's own 1,500 and a small result"
    after = tokens(rollout(tmp_path / "after.jsonl", *rows, says("user", "and now?")))
    assert 9_000 <= after <= 9_100, "the reply without its reasoning"


def test_a_model_that_keeps_its_sealed_reasoning_shows_it_in_its_first_bill_behind_the_users_words(
    tmp_path: Path,
) -> None:
    rows = [says("user", "go"), item(**SEALED), *calls("c1"), bill(1, 9_000, output=1_500)]
    rows += [says("user", "and now?"), item(**SEALED), *calls("c2"), bill(2, 10_520, output=1_500), says("user", "so?")]
    assert 12_020 <= tokens(rollout(tmp_path / "kept.jsonl", *rows)) <= 12_100


def test_a_model_that_is_known_to_keep_its_reasoning_keeps_it_before_any_bill_tells(tmp_path: Path) -> None:
    rows = [says("user", "go"), item(**SEALED), *calls("c1"), bill(1, 9_000, output=1_500), says("user", "and now?")]
    for model, least in (("gpt-5.5", 9_000), ("gpt-5.6-sol", 10_500), ("gpt-6", 10_500)):
        size = Desk(open_session(rollout(tmp_path / f"{model}.jsonl", *rows, model=model))).size
        assert least <= size.tokens <= least + 100, model


def test_reasoning_that_was_taken_out_of_a_file_weighs_what_others_of_its_replies_did(tmp_path: Path) -> None:
    withheld = item(type="reasoning", summary=[], encrypted_content="REDACTED")
    billed = [row for n in range(20) for row in (withheld, *calls(f"c{n}"), bill(n + 1, 9_000 + 430 * n, output=420))]
    whole = tokens(rollout(tmp_path / "billed.jsonl", says("user", "go"), *billed))
    after = [withheld, *calls("d1"), withheld, *calls("d2")]
    size = tokens(rollout(tmp_path / "after.jsonl", says("user", "go"), *billed, *after))
    assert size - whole == pytest.approx(2 * 430, rel=0.15)


def test_reasoning_that_is_summed_up_weighs_more_than_what_is_not(tmp_path: Path) -> None:
    short = item(type="reasoning", summary=[], encrypted_content="REDACTED")
    summed = [{"type": "summary_text", "text": "Weighing the two ways to fold the session"}]
    long = item(type="reasoning", summary=summed, encrypted_content="REDACTED")
    rows, prompt = [says("user", "go")], 9_000
    for n in range(20):
        thought, output = (long, 620) if n % 5 == 4 else (short, 60)
        rows += [thought, *calls(f"c{n}"), bill(n + 1, prompt, output)]
        prompt += output + 20
    whole = tokens(rollout(tmp_path / "billed.jsonl", *rows))
    for thought, least, most in ((short, 50, 110), (long, 450, 720)):
        after = rollout(tmp_path / "after.jsonl", *rows, thought, *calls("d"))
        assert least <= tokens(after) - whole <= most


def test_a_summary_that_was_taken_out_of_a_file_is_not_nothing(tmp_path: Path) -> None:
    grown = [row for n in range(20) for row in (*calls(f"c{n}"), bill(n + 1, 30_000 + 60 * n))]
    for sealed, least, most in (("REDACTED", 31_000, 32_500), ("gAAA" * 3_000, 31_500, 33_000)):
        kept = {"type": "compaction", "encrypted_content": sealed}
        folded = {"type": "compacted", "payload": {"message": "", "replacement_history": [kept]}}
        assert least <= tokens(rollout(tmp_path / "s.jsonl", says("user", "go"), *grown, folded)) <= most


def test_replies_are_told_apart_by_their_bills_or_by_the_answers_to_their_calls(tmp_path: Path) -> None:
    early = [says("user", "go"), *calls("c1"), *calls("c2")]
    rows = [*early, bill(1, 9_000), *calls("c3"), *calls("c4")]
    roles = [m.role for _, m in open_session(rollout(tmp_path / "s.jsonl", *rows)).messages() if m.role != "system"]
    assert roles == ["user", "assistant", "tool", "tool", "assistant", "tool", "assistant", "tool"]
    one = next(m for _, m in open_session(rollout(tmp_path / "s.jsonl", *rows)).messages() if m.role == "assistant")
    assert [call.id for call in one.calls] == ["c1", "c2"]


def test_what_was_found_on_the_web_is_gone_once_the_user_speaks(tmp_path: Path) -> None:
    search = item(type="web_search_call", status="completed", action={"type": "search", "query": "folds"})
    rows = [says("user", "go"), *calls("c1"), bill(1, 9_000), search, says("assistant", "Found."), bill(2, 21_000)]
    assert 21_000 <= tokens(rollout(tmp_path / "inside.jsonl", *rows)) <= 21_100
    assert 9_000 <= tokens(rollout(tmp_path / "after.jsonl", *rows, says("user", "and now?"))) <= 9_200


# -- what no file shows ---------------------------------------------------------------------------------------------


def log(path: Path, header: dict[str, Any], *rows: dict[str, Any]) -> Path:
    asked = {"type": "message", "id": "m1", "parentId": None, "message": {"role": "user", "content": "go"}}
    path.write_text("".join(json.dumps(row) + "\n" for row in ({"type": "session", **header}, asked, *rows)))
    return path


def trajectory(path: Path, **system: Any) -> Path:
    task = {"id": 1, "source": "user", "message": "go", "action": "message", "args": {"content": "go"}, "extras": {}}
    prompt = {"id": 0, "source": "agent", "message": "", "action": "system", "args": system}
    path.write_text(json.dumps([*([prompt] if system else []), task]))
    return path


def test_what_an_agent_hides_hangs_on_its_version_and_kind(tmp_path: Path) -> None:
    early = tokens(log(tmp_path / "early.jsonl", {"id": "a", "cwd": "/"}))
    late = tokens(log(tmp_path / "late.jsonl", {"id": "a", "cwd": "/", "version": 3}))
    snapshot = {"type": "custom", "id": "m2", "parentId": "m1", "customType": "model-snapshot", "data": {}}
    claw = tokens(log(tmp_path / "claw.jsonl", {"id": "a", "cwd": "/", "version": 3}, snapshot))
    assert early < 3_000 < 8_000 < late < claw < 12_000


def test_what_a_trajectory_of_openhands_shows_is_not_hidden(tmp_path: Path) -> None:
    tools = [{"type": "function", "function": {"name": "bash", "description": "Runs.", "parameters": {}}}]
    whole = tokens(trajectory(tmp_path / "whole.json", content="You are OpenHands.", tools=tools))
    prompt = tokens(trajectory(tmp_path / "prompt.json", content="You are OpenHands."))
    nothing = tokens(trajectory(tmp_path / "nothing.json"))
    assert whole < 200 < 4_000 < prompt < 6_000 < 8_000 < nothing < 10_000


def test_what_no_bill_taught_is_told_with_a_wider_interval(tmp_path: Path) -> None:
    rows = [says("user", "word " * 2_000), *calls("c1")]
    guessed = open_session(rollout(tmp_path / "guessed.jsonl", *rows)).context.size()
    billed = open_session(rollout(tmp_path / "billed.jsonl", *rows, bill(1, 9_000))).context.size()
    assert 0.3 < guessed.error < 0.5, "more than half of it is a guess that may be half as much again"
    assert billed.error < 0.01
    assert abs(guessed.tokens - billed.tokens) <= guessed.error * guessed.tokens


def test_behind_a_compaction_of_codex_counts_what_its_bills_had_taught(tmp_path: Path) -> None:
    grown = [row for n in range(20) for row in (*calls(f"c{n}"), bill(n + 1, 30_000 + 60 * n))]
    folded = {"type": "compacted", "payload": {"message": "", "replacement_history": [SAID]}}
    size = open_session(rollout(tmp_path / "s.jsonl", says("user", "go"), *grown, folded)).context.size()
    assert size.tokens == pytest.approx(30_000, rel=0.01)
    assert size.error <= 0.1


def test_behind_a_compaction_reasoning_that_was_taken_out_weighs_what_it_did_before(tmp_path: Path) -> None:
    withheld = item(type="reasoning", summary=[], encrypted_content="REDACTED")
    billed = [row for n in range(20) for row in (withheld, *calls(f"c{n}"), bill(n + 1, 9_000 + 430 * n, output=420))]
    folded = {"type": "compacted", "payload": {"message": "", "replacement_history": [SAID]}}
    rows = [says("user", "go"), *billed, folded]
    whole = tokens(rollout(tmp_path / "folded.jsonl", *rows))
    after = [row for n in range(10) for row in (withheld, *calls(f"d{n}"))]
    size = tokens(rollout(tmp_path / "after.jsonl", *rows, *after))
    assert size - whole == pytest.approx(10 * 430, rel=0.15)


def test_what_came_at_once_and_no_message_explains_is_gone_behind_a_compaction(tmp_path: Path) -> None:
    """A picture, or what a tool found: it was no part of what every request carries, and no word weighs more for it."""
    grown = [row for n in range(20) for row in (*calls(f"c{n}"), bill(n + 1, 6_000 + 60 * n))]
    later = [row for n in range(20, 40) for row in (*calls(f"c{n}"), bill(n + 1, 36_000 + 60 * n))]
    words = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "word " * 4_000}]}
    folded = {"type": "compacted", "payload": {"message": "", "replacement_history": [words]}}
    shown = item(**words)
    size = tokens(rollout(tmp_path / "s.jsonl", shown, *grown, *later, folded))
    assert size == pytest.approx(6_000, rel=0.1)


class Rows:
    """Rows of Claude Code, each behind the one before."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[dict[str, Any]] = []

    def add(self, kind: str, **more: Any) -> None:
        parent = self.rows[-1]["uuid"] if self.rows else None
        self.rows.append(
            {"type": kind, "uuid": f"u{len(self.rows)}", "parentUuid": parent, "sessionId": "c1", "version": "2.1.42"}
        )
        self.rows[-1] |= more

    def ask(self, text: str = "count the plums", **more: Any) -> None:
        self.add("user", message={"role": "user", "content": text}, **more)

    def say(self, billed: int, output: int = 5, *parts: dict[str, Any], model: str = "claude-opus-4-6") -> None:
        used = {"input_tokens": billed, "output_tokens": output}
        said = {"role": "assistant", "id": f"m{len(self.rows)}", "model": model, "usage": used}
        self.add("assistant", message={**said, "content": [*parts, {"type": "text", "text": "There are three."}]})

    def compact(self, summary: str = "Plums were counted.", trigger: str = "auto", at: int = 23_200) -> None:
        before = self.rows[-1]["uuid"]
        self.add("system", subtype="compact_boundary", compactMetadata={"trigger": trigger, "preTokens": at})
        self.rows[-1] |= {"parentUuid": None, "logicalParentUuid": before}
        self.ask(summary, isCompactSummary=True)

    def opens(self, name: str, **result: Any) -> None:
        """A call that opens a file, and its result."""
        used = {"type": "tool_use", "id": f"c{len(self.rows)}", "name": "Read", "input": {"file_path": name}}
        self.add("assistant", message={"role": "assistant", "id": f"m{len(self.rows)}", "content": [used]})
        came = {"type": "tool_result", "tool_use_id": used["id"], "content": "ok"}
        self.add("user", message={"role": "user", "content": [came]}, toolUseResult=result)

    @property
    def desk(self) -> Desk:
        self.path.write_text("".join(json.dumps(each) + "\n" for each in self.rows))
        return Desk(open_session(self.path))

    @property
    def size(self) -> Any:
        return self.desk.size


def test_behind_a_compaction_of_claude_code_counts_what_its_bills_had_taught(tmp_path: Path) -> None:
    rows = Rows(tmp_path / "c1.jsonl")
    for n in range(10):
        rows.ask()
        rows.say(23_000 + 20 * n)
    rows.compact()
    assert rows.size.tokens == pytest.approx(23_000, rel=0.01)
    assert rows.size.error <= 0.1


def test_where_claude_code_compacts_by_itself_tells_the_window(tmp_path: Path) -> None:
    """Models of a million tokens have 200,000 where the client was not told of more: Claude Code compacts at 167,000."""
    rows = Rows(tmp_path / "s.jsonl")
    rows.ask()
    rows.say(166_900)
    assert rows.desk.budget.window == 1_000_000
    rows.compact(trigger="manual", at=167_000)
    assert rows.desk.budget.window == 1_000_000, "where the user asked for it, it tells nothing"
    rows.say(20_000)
    rows.compact(at=23_200)
    assert rows.desk.budget.window == 1_000_000, "less than Claude Code takes for a window"
    rows.say(166_900)
    rows.compact(at=167_000)
    assert rows.desk.budget.window == 200_000
    rows.say(210_000)
    assert rows.desk.budget.window == 1_000_000


def test_a_bill_beyond_the_small_window_of_claude_tells_the_large_one(tmp_path: Path) -> None:
    rows = Rows(tmp_path / "s.jsonl")
    rows.ask()
    rows.say(210_000, model="claude-sonnet-4-5")
    assert rows.desk.budget.window == 1_000_000
    rows.say(20_000, model="claude-haiku-4-5")
    assert rows.desk.budget.window == 200_000, "it was another model's"


def test_a_fold_of_foldlines_in_claude_codes_rows_tells_nothing_of_the_window(tmp_path: Path) -> None:
    rows = Rows(tmp_path / "s.jsonl")
    for n in range(12):
        rows.ask(f"Prompt {n}. " + "plums and pears " * 400)
        rows.say(110_000 + 2_000 * n)
    desk = rows.desk
    desk.plan(desk.settings.to_policy(), trigger="threshold").write()
    assert Desk(open_session(rows.path)).session.compactions == 1
    assert Desk(open_session(rows.path)).budget.window == 1_000_000


def test_behind_a_compaction_claude_code_reads_the_files_again_that_were_opened_last(tmp_path: Path) -> None:
    line = "total = plums + 3  # plums\n"
    rows = Rows(tmp_path / "c1.jsonl")
    rows.ask()
    rows.say(23_000)
    rows.opens("old.py", filePath="old.py", originalFile=line * 900)
    for n in range(3):
        rows.opens(f"{n}.py", filePath=f"{n}.py", content=line * 100)
    part = {"filePath": "part.py", "content": line * 20, "numLines": 20, "totalLines": 100}
    rows.opens("part.py", file=part)
    rows.opens("large.py", filePath="large.py", originalFile=line * 4_000)
    rows.opens("0.py", filePath="0.py", content=line * 100)
    rows.say(27_000)
    bare = Rows(tmp_path / "c2.jsonl")
    bare.rows = [{**row, "toolUseResult": None} for row in rows.rows]
    for each in (rows, bare):
        each.compact()
    four = 4 * 100 * weigh(Message("user", (Text(f"   12 {line}"),)), "claude3")
    assert rows.size.tokens - bare.size.tokens == pytest.approx(four, rel=0.25), "three small ones, and all of the part"
    assert rows.size.error > bare.size.error, "what is only reckoned is told with more room"
    with_bills = rows.size.tokens - bare.size.tokens
    for row in (*rows.rows, *bare.rows):
        row.get("message", {}).pop("usage", None)
    assert rows.size.tokens - bare.size.tokens == with_bills, "and where nothing was billed as well"
    rows.add("attachment", attachment={"type": "compact_file_reference", "filename": "large.py"})
    assert rows.size.tokens - bare.size.tokens < 100, "a version that writes what it adds is believed"


def test_a_context_that_starts_anew_counts_what_the_bills_before_it_had_taught(tmp_path: Path) -> None:
    rows = Rows(tmp_path / "c1.jsonl")
    for n in range(10):
        rows.ask()
        rows.say(23_000 + 20 * n)
    rows.ask("Implement the following plan: count the pears", parentUuid=None)
    assert rows.size.tokens == pytest.approx(23_000, rel=0.01)
    assert rows.size.error <= 0.1


def test_a_first_bill_for_messages_of_another_file_is_no_overhead_behind_a_compaction(tmp_path: Path) -> None:
    rows = Rows(tmp_path / "c1.jsonl")
    rows.ask()
    rows.say(150_000)
    rows.compact()
    assert rows.size.tokens < 60_000


def sealed(tokens: int) -> dict[str, Any]:
    return {"type": "thinking", "thinking": "", "signature": "A" * (200 + round(3.6 * tokens))}


def test_a_reply_of_claude_weighs_what_it_was_billed(tmp_path: Path) -> None:
    rows = Rows(tmp_path / "c1.jsonl")
    rows.ask()
    rows.say(23_000, 1_500, sealed(900))
    assert rows.size.tokens == pytest.approx(24_500, abs=20)
    rows.ask("and the pears?")
    assert rows.size.tokens == pytest.approx(24_505, abs=30), "this model keeps what it thought"


def test_thinking_that_a_client_lets_go_is_gone_and_what_comes_is_kept(tmp_path: Path) -> None:
    rows = Rows(tmp_path / "c1.jsonl")
    for n in range(4):
        rows.ask()
        rows.say(23_000 + 2_020 * n, 2_000, sealed(900))
    rows.ask("a day later")
    rows.say(23_160, 2_000, sealed(900))
    rows.ask("and the pears?")
    assert rows.size.tokens == pytest.approx(25_180, abs=60)
    rows.say(25_180, 2_000, sealed(900))
    rows.ask("and now?")
    assert rows.size.tokens == pytest.approx(27_200, abs=60)


def test_of_a_long_output_codex_sends_the_beginning_and_the_end(tmp_path: Path) -> None:
    made = item(type="function_call", call_id="c", name="shell", arguments="{}")
    text = "a" * 60_000 + "b" * 60_000
    whole = item(type="function_call_output", call_id="c", output=text)

    def sent(*before: dict[str, Any]) -> str:
        session = open_session(rollout(tmp_path / "s.jsonl", *before, says("user", "go"), made, whole))
        return next(
            "".join(p.text for p in r.parts if isinstance(p, Text)) for m in session.context.messages for r in m.results
        )

    assert 48_000 < len(sent()) < 48_100
    assert sent().startswith("a" * 24_000 + "…18000 tokens truncated…")
    assert sent().endswith("b" * 24_000)
    limit = {"type": "turn_context", "payload": {"truncation_policy": {"mode": "bytes", "limit": 10_000}}}
    assert 12_000 < len(sent(limit)) < 12_100
    limit["payload"]["truncation_policy"] = {"mode": "tokens", "limit": 50_000}
    assert sent(limit) == text


@pytest.mark.parametrize(("version", "answered", "sent"), [(3, False, False), (2, False, True), (3, True, True)])
def test_a_reply_that_broke_off_weighs_nothing_where_pi_does_not_send_it(
    tmp_path: Path, version: int, answered: bool, sent: bool
) -> None:
    """Before version 3 it sent one of words alone; one whose call was answered is sent, since the answer is."""
    call = {"type": "toolCall", "id": "c1", "name": "write", "arguments": {"path": "a"}}
    result = {"role": "toolResult", "toolCallId": "c1", "toolName": "write", "content": []}

    def size(words: str) -> int:
        content = [{"type": "text", "text": words}, *([call] if answered or version == 3 else [])]
        broken = {"role": "assistant", "stopReason": "aborted", "content": content}
        rows: list[dict[str, Any]] = [{"type": "message", "id": "m2", "parentId": "m1", "message": broken}]
        rows += [{"type": "message", "id": "m3", "parentId": "m2", "message": result}] if answered else []
        return tokens(log(tmp_path / "s.jsonl", {"id": "a", "cwd": "/", "version": version}, *rows))

    assert (size("I was about to. " * 1_000) - size("I") > 3_000) is sent


def test_what_a_client_keeps_in_a_store_of_its_own_is_counted_by_its_length(tmp_path: Path) -> None:
    output = "the export rounds each line to two decimals, see sums.py:14\n" * 200

    def size(text: str, **taken: Any) -> int:
        result = {
            "role": "toolResult",
            "toolCallId": "c1",
            "toolName": "read",
            "content": [{"type": "text", "text": text}],
        }
        row = {"type": "message", "id": "m2", "parentId": "m1", "message": result, **taken}
        return tokens(log(tmp_path / "s.jsonl", {"id": "a", "cwd": "/", "version": 3}, row))

    store = {"payloads": {"message.content.0.text": {"kind": "cold_spill", "originalChars": len(output)}}}
    assert size("[Evicted]", evictedContent=store) - size("") == pytest.approx(size(output) - size(""), rel=0.3)
    assert size("[Evicted]", evictedContent={"payloads": ["?"]}) == size("[Evicted]")


def test_behind_a_compaction_of_pi_counts_what_its_first_bill_taught(tmp_path: Path) -> None:
    said = {
        "role": "assistant",
        "content": [{"type": "text", "text": "Three."}],
        "usage": {"input": 23_000, "output": 5},
    }
    rows: list[dict[str, Any]] = [{"type": "message", "id": "m2", "parentId": "m1", "message": said}]
    rows += [{"type": "compaction", "id": "m3", "parentId": "m2", "summary": "Plums.", "tokensBefore": 23_000}]
    size = open_session(log(tmp_path / "s.jsonl", {"id": "a", "cwd": "/", "version": 3}, *rows)).context.size()
    assert size.tokens == pytest.approx(23_000, rel=0.01)
    assert size.error <= 0.1


def test_a_fold_of_codex_and_its_undoing_weigh_what_the_replies_were_billed(tmp_path: Path) -> None:
    withheld = item(type="reasoning", summary=[], encrypted_content="REDACTED")
    rows = [says("user", "go")]
    for n in range(60):
        output = item(type="function_call_output", call_id=f"c{n}", output=f"file {n} " * 400)
        rows += [withheld, calls(f"c{n}")[0], output, bill(n + 1, 9_000 + 1_700 * n, output=420)]
    path = rollout(tmp_path / "s.jsonl", *rows)
    desk = Desk(open_session(path))
    plan = desk.plan(preset("default"))
    plan.write()
    assert Desk(open_session(path)).tokens == pytest.approx(plan.fold.receipt.tokens_after, rel=0.001)
    Desk(open_session(path)).undo()
    assert Desk(open_session(path)).tokens == pytest.approx(desk.tokens, rel=0.001)


def test_what_was_guessed_before_a_fold_is_told_as_a_guess_behind_it(tmp_path: Path) -> None:
    rows = [row for n in range(60) for row in (says("user", f"look at {n}"), *calls(f"c{n}"))]
    rows = [
        says("assistant", "word " * 700) if row["payload"].get("role") == "user" and n % 4 else row
        for n, row in enumerate(rows)
    ]
    path = rollout(tmp_path / "s.jsonl", *rows)
    before = Desk(open_session(path))
    plan = before.plan(preset("default"))
    assert plan
    plan.write()
    after = Desk(open_session(path)).size
    assert after.error > before.size.error, "the same guess in fewer tokens"


def test_what_the_estimate_was_off_by_is_folded_with_its_messages() -> None:
    """Messages that weigh more than they seem to, and then some that do not, are no reason for a larger overhead."""
    compactor = Compactor("gpt-5.4", window=400_000)
    said: list[dict[str, str]] = []
    billed = 5_000
    for heavier in (1.3,) * 30 + (1.0,) * 30:
        said.append({"role": "user", "content": "word " * 1_000})
        billed += round(heavier * weigh(Message("user", (Text("word " * 1_000),))))
        compactor.fit(said)
        compactor.observe({"prompt_tokens": billed, "completion_tokens": 1})
        said.append({"role": "assistant", "content": "ok"})
    compactor.meter.forget()
    assert compactor.meter.overhead == pytest.approx(5_000, abs=1_000)
    assert compactor.meter.ratio == pytest.approx(1.15, rel=0.03)


def test_what_every_request_carries_is_known_behind_a_fold_that_follows_a_restart() -> None:
    compactor = Compactor("gpt-5.4", window=400_000)
    said: list[dict[str, str]] = []
    for n in range(1, 11):
        said.append({"role": "user", "content": "word " * 1_000})
        compactor.fit(said)
        compactor.observe({"prompt_tokens": 20_000 + n * 1_000, "completion_tokens": 1})
        said.append({"role": "assistant", "content": "ok"})
    again = Compactor("gpt-5.4", window=400_000)
    again.load(compactor.dump())
    again.fit(said)
    again.meter.forget()
    assert again.meter.overhead == pytest.approx(20_000, rel=0.02)


def test_what_the_estimate_is_off_by_does_not_eat_what_every_request_carries() -> None:
    compactor = Compactor("gpt-5.4", window=400_000)
    said: list[dict[str, str]] = []
    billed = 1_000
    for lighter in (0.97,) * 40 + (1.0,) * 60:
        said.append({"role": "user", "content": "word " * 1_000})
        billed += round(lighter * weigh(Message("user", (Text("word " * 1_000),))))
        compactor.fit(said)
        compactor.observe({"prompt_tokens": billed, "completion_tokens": 1})
        said.append({"role": "assistant", "content": "ok"})
    assert compactor.meter.overhead == pytest.approx(1_000, abs=100)


# -- what other sessions taught -------------------------------------------------------------------------------------


def test_a_session_without_bills_is_counted_as_others_of_its_agent_on_this_machine(tmp_path: Path) -> None:
    store = tmp_path / ".codex" / "sessions" / "2026" / "01" / "01"
    store.mkdir(parents=True)
    environment = {"HOME": str(tmp_path)}
    for n in range(3):
        rollout(store / f"rollout-{n}.jsonl", says("user", "go"), *calls("c1"), bill(1, 20_000 + n))
    unbilled = rollout(store / "rollout-9.jsonl", says("user", "go"), *calls("c1"))
    before = Desk(open_session(unbilled), environment=environment).size
    listed(environment=environment)
    after = Desk(open_session(unbilled), environment=environment).size
    assert before.tokens < 7_000
    assert after.tokens == pytest.approx(20_000, rel=0.02)
    assert after.error < 0.6

    (tmp_path / ".cache" / "foldline" / "overheads.msgpack").write_bytes(b"nonsense")
    assert Desk(open_session(unbilled), environment=environment).size == before


def test_after_an_undo_the_bill_of_the_folded_context_does_not_count(tmp_path: Path) -> None:
    def row(n: int, kind: str, **more: Any) -> dict[str, Any]:
        return {"uuid": str(n), "parentUuid": str(n - 1) if n else None, "sessionId": "q", "type": kind, **more}

    def said(n: int, text: str, billed: int) -> dict[str, Any]:
        usage = {"promptTokenCount": billed, "candidatesTokenCount": 5, "cachedContentTokenCount": 0}
        return row(n, "assistant", message={"role": "model", "parts": [{"text": text}]}, usageMetadata=usage)

    asked = row(0, "user", message={"role": "user", "parts": [{"text": "count the plums " * 3_000}]})
    snapshot = {"role": "user", "parts": [{"text": "<state_snapshot>plums</state_snapshot>"}]}
    info = {"originalTokenCount": 40_005, "newTokenCount": 20_000, "triggerReason": "token_limit"}
    payload = {"info": info, "compressedHistory": [snapshot]}
    rows = [asked, said(1, "One.", 40_000), row(2, "system", subtype="chat_compression", systemPayload=payload)]
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in [*rows, said(3, "Two.", 20_000)]))
    session = open_session(path)
    assert abs(session.context.size().tokens - 20_005) < 10
    session.undo()
    assert abs(open_session(path).context.size().tokens - 40_010) < 20
