"""What Goat's design says: each docstring quotes it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from foldline import (
    Brief,
    Compactor,
    Edit,
    FoldDue,
    Folded,
    Layer,
    Message,
    ReplyCutOff,
    Room,
    Summary,
    Verdict,
    View,
    command_hook,
    command_listener,
)
from foldline.extend import policy, preset

Item = dict[str, Any]
GOAT = preset("goat")


def user(text: str, words: int = 0) -> Item:
    return {"role": "user", "content": f"{text} {'word ' * words}".strip()}


def assistant(text: str, words: int = 0) -> Item:
    return {"role": "assistant", "content": f"{text} {'word ' * words}".strip()}


def call(id: str, name: str = "read", arguments: str = "{}") -> Item:
    function = {"name": name, "arguments": arguments}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": id, "type": "function", "function": function}]}


def result(id: str, words: int) -> Item:
    return {"role": "tool", "tool_call_id": id, "content": f"{id} " + "word " * words}


def tells(brief: Brief, messages: Sequence[Message]) -> Summary:
    return Summary("Earlier, I refactored code, fixed a bug, and added tests.", {"told": len(messages)})


SPLIT = [
    user("Help me refactor", 30_000), call("a"), result("a", 40_000),
    user("Now fix the bug"), call("b"), result("b", 40_000),
    user("Also add tests"), call("c"), result("c", 40_000),
    user("Run the tests"), call("d", "bash"), result("d", 10_000),
    user("Now deploy"), assistant("I'll push to git"),
]  # fmt: skip
"""The document's worked example of 14 messages: "~80% utilization"."""


# -- the budget ---------------------------------------------------------------------------------------------------


def test_the_budget_is_what_system_messages_and_output_leave() -> None:
    """ "available = contextLimit - systemPromptTkns - messageTkns - maxOutputTkns"."""
    assert Room(200_000, 10_000, 100_000, 16_384).available == 73_616


def test_what_is_available_may_be_negative() -> None:
    """ "Available: available, ← can be negative!"."""
    assert Room(200_000, 10_000, 190_000, 16_384).available == -16_384


def test_utilization_is_what_the_messages_fill_of_what_system_and_output_leave() -> None:
    """ "Utilization: messageTkns / (contextLimit - systemTkns - maxOutputTkns)"."""
    assert Room(200_000, 20_000, 81_808, 16_384).utilization == 0.5
    assert Room(20_000, 10_000, 1, 10_000).utilization == float("inf")


def test_a_compactor_tells_the_budget() -> None:
    """ "contextLimit = 200,000 tokens (default); maxOutputTkns = 16,384 ← from config"."""
    compactor = Compactor("claude-sonnet-4-5", policy=GOAT, overhead=9_000)
    compactor.fit([user("Help me.", 1_000)])
    room = compactor.room
    assert (room.window, room.system, room.output) == (200_000, 9_000, 16_384)
    assert 900 <= room.messages <= 1_100


@pytest.mark.parametrize(("model", "window"), [("claude-sonnet-4-5", 200_000), ("claude-sonnet-4-5[1m]", 1_000_000)])
def test_the_limit_is_200000_or_a_million_with_the_beta(model: str, window: int) -> None:
    """ "contextLimit = 200,000 tokens (default) or 1,000,000 with beta flag for Sonnet models"."""
    assert Compactor(model, policy=GOAT).room.window == window


@pytest.mark.parametrize(("words", "folds"), [(135_000, 0), (141_000, 1)])
def test_it_folds_beyond_80_percent_utilization(words: int, folds: int) -> None:
    """ "if ShouldCompact(budget): // utilization > 80%": of (200,000 - 20,000 - 16,384) that is 130,892."""
    compactor = Compactor(policy=GOAT, window=200_000, overhead=20_000, summarizer=tells)
    compactor.fit([user("One.", words - 1_000), assistant("Done."), user("Two.", 1_000)])
    assert len(compactor.folds) == folds


# -- what is kept -------------------------------------------------------------------------------------------------


def test_about_40_percent_of_the_messages_stay_and_no_pair_is_split() -> None:
    """ "Walk backward from end, preserve ~40% of messages. adjustSplitForToolPairs: never split tool_use/tool_result". The worked
    example: "[9] user: "Run the tests" … These are PRESERVED verbatim"."""
    sent = Compactor(policy=GOAT, window=200_000, summarizer=tells).fit(SPLIT)
    assert sent[2:] == SPLIT[9:]


def test_the_summary_is_twin_messages() -> None:
    """ "{role: "user", content: "[COMPACT SUMMARY]\\n" + summary}, {role: "assistant", content: "Understood."}"."""
    summary, answer, *_ = Compactor(policy=GOAT, window=200_000, summarizer=tells).fit(SPLIT)
    assert summary["role"] == "user"
    assert summary["content"].startswith("[COMPACT SUMMARY]\nEarlier, I refactored code, fixed a bug, and added tests.")
    assert answer == {"role": "assistant", "content": "Understood."}


def fails(brief: Brief, messages: Sequence[Message]) -> Summary:
    raise TimeoutError("too late")


def is_empty(brief: Brief, messages: Sequence[Message]) -> str:
    return ""


@pytest.mark.parametrize("summarizer", [fails, is_empty])
def test_where_the_model_fails_a_placeholder_counts_and_names_what_was_said(summarizer: Any) -> None:
    """ "summary = "[Context truncated. Earlier conversation contained N messages about: ...]""; "LLM summarization fails (timeout,
    error, empty): Simple truncation: keep last 40% of messages"; "The loop NEVER crashes due to compaction failure"."""
    sent = Compactor(policy=GOAT, window=200_000, summarizer=summarizer).fit(SPLIT)
    told = sent[0]["content"]
    assert told.startswith(
        "[COMPACT SUMMARY]\n[Context truncated. Earlier conversation contained 9 messages about: Help me"
    )
    assert "; Now fix the bug; Also add tests]" in told
    assert sent[2:] == SPLIT[9:]


def test_a_fold_is_told_in_the_stream() -> None:
    """ "Emit CompactBoundaryMessage"."""
    told: list[Any] = []
    Compactor(policy=GOAT, window=200_000, summarizer=tells, on_event=told.append).fit(SPLIT)
    assert [event.fold.layer for event in told if isinstance(event, Folded)] == ["summarize"]


# -- on a reply that was cut off ----------------------------------------------------------------------------------

CUT = {"choices": [{"finish_reason": "length", "message": {"role": "assistant"}}]}
BROKEN = call("e", "write", '{"path": "a.py", "content": "def f(')


def test_a_reply_that_was_cut_off_is_answered_by_a_fold_without_its_incomplete_calls() -> None:
    """ "LLM returned finish_reason="length". discardTruncatedToolBlocks(resp) ← remove incomplete JSON. if ShouldCompact(budget):
    Compact() → replace messages → continue loop"."""
    compactor = Compactor(policy=GOAT, window=200_000, summarizer=tells)
    sent = compactor.recover(CUT, [*SPLIT[:-1], BROKEN])
    assert sent[0]["content"].startswith("[COMPACT SUMMARY]")
    assert sent[-1] == SPLIT[-2]


def test_what_the_cut_reply_said_beside_its_calls_stays() -> None:
    """ "discardTruncatedToolBlocks ← remove incomplete JSON": and nothing else."""
    whole = {"id": "f", "type": "function", "function": {"name": "read", "arguments": '{"path": "b.py"}'}}
    cut = {**BROKEN, "content": "I write it.", "tool_calls": [*BROKEN["tool_calls"], whole]}
    sent = Compactor(policy=GOAT, window=200_000, summarizer=tells).recover(CUT, [*SPLIT[:-1], cut])
    assert sent[-1]["content"] == "I write it."
    assert [each["id"] for each in sent[-1]["tool_calls"]] == ["f"]


def test_where_a_fold_cannot_help_the_loop_is_left_by_name() -> None:
    """ "else: EXIT with ExitMaxTokens"; "Reactive: exit with ExitMaxTokens (can't help)"."""
    with pytest.raises(ReplyCutOff, match="no fold would help") as left:
        Compactor(policy=GOAT, window=200_000, summarizer=tells).recover(CUT, [user("Write a book."), BROKEN])
    assert left.value.available > 180_000


@pytest.mark.parametrize(
    "reply",
    [
        {"finish_reason": "length"},
        {"stop_reason": "max_tokens"},
        {"candidates": [{"finishReason": "MAX_TOKENS"}]},
        {"status": "incomplete"},
    ],
)
def test_every_provider_says_it_in_its_own_words(reply: Item) -> None:
    """ "on max_tokens stop reason"."""
    with pytest.raises(ReplyCutOff):
        Compactor(policy=GOAT, window=200_000).recover(reply, [user("Write a book.")])


def test_a_policy_says_how_often_a_refusal_is_answered() -> None:
    """ "Recovery … and the request is sent again, once": what a policy's `reactive.times` says, before a reply is billed."""
    from foldline import ContextOverflow
    from foldline.extend import Reactive, replace

    once = Compactor(policy=replace(GOAT, reactive=Reactive(times=1)), window=200_000)
    refused = ContextOverflow("prompt is too long: 210000 tokens > 200000 maximum", limit=200_000, tokens=210_000)
    once.recover(refused, SPLIT)
    with pytest.raises(ContextOverflow):
        once.recover(refused, SPLIT)
    once.observe({"usage": {"prompt_tokens": 10, "completion_tokens": 1}})
    once.recover(refused, SPLIT)


# -- nothing crashes ----------------------------------------------------------------------------------------------


def test_where_nothing_is_due_the_same_messages_come_back() -> None:
    """ "Proactive: skip compaction, proceed with LLM call"."""
    history = [user("Help me."), assistant("Yes.")]
    sent = Compactor(policy=GOAT, window=200_000).fit(history)
    assert [id(item) for item in sent] == [id(item) for item in history]


# -- around a fold ------------------------------------------------------------------------------------------------


def test_a_count_is_about_what_the_documents_heuristic_says_of_english() -> None:
    """ "messageTkns = Σ (len(msg.content)/4 + 4) ← 4-token overhead": a heuristic without a call of any API."""
    texts = [
        f"Please look at part {n}, where the parser reads its settings, and tell me why it fails." for n in range(60)
    ]
    compactor = Compactor(policy=GOAT, window=200_000)
    compactor.fit([user(text) if n % 2 == 0 else assistant(text) for n, text in enumerate(texts)])
    assert compactor.room.messages == pytest.approx(sum(len(text) / 4 + 4 for text in texts), rel=0.25)


def test_a_hook_is_asked_before_each_fold_and_may_add_to_it_or_forbid_it() -> None:
    """ "1. Fire PreCompact hook": a function of the host's, or any program."""
    asked: list[FoldDue] = []
    briefs: list[Brief] = []

    def pre_compact(due: FoldDue) -> Verdict:
        asked.append(due)
        return Verdict(veto="not now") if len(asked) == 1 else Verdict(instructions="Keep the ports.")

    def notes(brief: Brief, messages: Sequence[Message]) -> Summary:
        briefs.append(brief)
        return tells(brief, messages)

    compactor = Compactor(policy=GOAT, window=200_000, summarizer=notes, before_fold=pre_compact)
    assert compactor.fit(SPLIT) == SPLIT
    assert len(compactor.fit(SPLIT)) < len(SPLIT)
    assert [due.window for due in asked] == [200_000, 200_000]
    assert [brief.focus for brief in briefs] == ["Keep the ports."]
    program = [sys.executable, "-c", "import sys; sys.stderr.write('a deploy runs'); sys.exit(2)"]
    guarded = Compactor(policy=GOAT, window=200_000, before_fold=command_hook(program))
    assert guarded.fit(SPLIT) == SPLIT


def test_a_host_hears_when_the_conversation_begins_anew() -> None:
    """ "6. Fire SessionStart hook (source="compact")"; "7. Emit CompactBoundaryMessage": once the fold is what the model sees."""
    begun: list[tuple[int, int]] = []

    def session_start(event: Any) -> None:
        if isinstance(event, Folded):
            begun.append((len(compactor.folds), event.fold.receipt.tokens_after))

    compactor = Compactor(policy=GOAT, window=200_000, summarizer=tells, on_event=session_start)
    compactor.fit(SPLIT)
    assert begun == [(1, compactor.count.tokens)]
    program = [sys.executable, "-c", "import json, sys; sys.exit(json.load(sys.stdin)['source'])"]
    told = Compactor(policy=GOAT, window=200_000, summarizer=tells, on_event=command_listener(program))
    told.fit(SPLIT)
    assert told.state.endswith(": compact")


def test_the_agents_own_client_writes_the_summary() -> None:
    """ "Call LLMClient.Complete() with old messages"; "Same LLM client for summary"."""
    asked: list[list[Item]] = []

    def complete(messages: list[Item]) -> Item:
        asked.append(messages)
        said = "Earlier, I refactored code, fixed a bug, and added tests."
        return {"choices": [{"message": assistant(said), "finish_reason": "stop"}]}

    compactor = Compactor("gpt-5.4", policy=GOAT, window=200_000, ask=complete)
    sent = compactor.fit(SPLIT)
    assert len(asked) == 1
    assert asked[0][: len(SPLIT)] == SPLIT
    assert sent[0]["content"].startswith("[COMPACT SUMMARY]\nEarlier, I refactored code, fixed a bug, and added tests.")


def test_who_folds_and_who_writes_are_whatever_fits_the_interface() -> None:
    """ "Separate interface + implementation"."""

    class Compacts:
        def __call__(self, view: View, excess: int) -> Iterator[Edit]:
            yield Edit(tuple(entry.id for entry in view.entries[:9]), Brief(200), by="compacts")

    class Writes:
        def __call__(self, brief: Brief, messages: Sequence[Message]) -> str:
            return f"{len(messages)} messages were about a refactoring."

    mine = policy("mine", [Layer("mine", 0.5, 0.4, (Compacts(),))])
    first, *rest = Compactor(policy=mine, window=200_000, summarizer=Writes()).fit(SPLIT)
    assert "9 messages were about a refactoring." in first["content"]
    assert rest == SPLIT[9:]
