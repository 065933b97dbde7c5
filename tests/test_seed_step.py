"""What the step loop's design says: each docstring quotes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from foldline import Brief, Compactor, Message, ModelSummarizer, Session, SummaryFellBack, step
from foldline._engine.steps import layers
from foldline.extend import Budget, Text, decode_all, encode, model, preset, weigh
from provider_rules import pairing_faults
from providers import Provider, says

Item = dict[str, Any]
STEP = preset("step")
SYSTEM = {"role": "system", "content": "You are an agent."}


def user(text: str, words: int = 0) -> Item:
    return {"role": "user", "content": f"{text} {'word ' * words}".strip()}


def assistant(text: str, words: int = 0) -> Item:
    return {"role": "assistant", "content": f"{text} {'word ' * words}".strip()}


def steps(first: int, count: int, words: int) -> list[Item]:
    """So many calls of a tool and their results."""
    found: list[Item] = []
    for n in range(first, first + count):
        function = {"name": "write", "arguments": f'{{"path": "src/part{n}.ts"}}'}
        call = {"id": f"c{n}", "type": "function", "function": function}
        found += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": f"wrote part {n}. " + "word " * words},
        ]
    return found


def tells(brief: Brief, messages: Sequence[Message]) -> str:
    return "### Original Task\nBuild a flashcard app.\n\n### Completed Work\n| File/Component | Action | Description |"


HISTORY = [
    SYSTEM,
    user("Build a flashcard app"),
    *steps(0, 23, 5_000),
    assistant("All tests pass"),
    user("Add AI integration"),
]
"""Of 50 messages, as in the document's visual example, more tokens than its threshold."""


# -- when ---------------------------------------------------------------------------------------------------------


def test_the_threshold_is_93600_by_its_own_arithmetic() -> None:
    """ "For default config: (128000 - 2000 - 4000 - 5000) * 0.80 = 93,600 tokens"."""
    assert layers(STEP, Budget(128_000, 4_000), 0)[0].mark == 93_600
    assert layers(STEP, Budget(200_000, 4_000), 0)[0].mark == 151_200


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("gpt-4o", 128_000), ("gpt-4-turbo", 128_000), ("gpt-4", 8_192), ("claude-3-5-sonnet-20240620", 200_000),
        ("claude-3-haiku-20240307", 200_000), ("a-model-that-nobody-knows", 128_000),
    ],
)  # fmt: skip
def test_the_limit_is_the_models_and_128000_where_it_is_not_known(name: str, limit: int) -> None:
    """ "MODEL_CONTEXT_LIMITS[modelId] ?? 128_000; // Default fallback"."""
    assert model(name).window == limit


@pytest.mark.parametrize(("count", "due"), [(3, False), (4, False), (6, True)])
def test_whether_it_is_due_can_be_asked_and_few_messages_never_are(count: int, due: bool) -> None:
    """ "shouldCompact(messages, config): boolean"; "messages.length <= keepLast + 1: Return false (nothing to compact)"."""
    history = [SYSTEM, user("Build it."), *steps(0, count, 120_000 // count)]
    assert len(history) <= 11 or due
    assert Compactor(policy=STEP, window=128_000).due(history) == due
    assert not Compactor(policy=STEP, window=128_000).due([SYSTEM, user("Build it."), *steps(0, count, 10)])


# -- what is kept -------------------------------------------------------------------------------------------------


def test_the_system_message_and_the_last_10_messages_stay() -> None:
    """ "[0] system KEEP … [1] assistant: "## Session Summary (Round 1)..." ← NEW SUMMARY … (remaining 10)"."""
    sent = Compactor(policy=STEP, window=128_000, summarizer=tells).fit(HISTORY)
    assert (sent[0], sent[2:]) == (SYSTEM, HISTORY[-10:])


def test_the_boundary_steps_back_rather_than_orphan_a_tool_result() -> None:
    """ "Walk backward if we're about to split a tool call/result pair"."""
    history = [*HISTORY, assistant("I'll add OpenAI.")]
    assert history[-10]["role"] == "tool"
    sent = Compactor(policy=STEP, window=128_000, summarizer=tells).fit(history)
    assert sent[2:] == history[-11:]


def test_what_is_selected_can_be_seen_before() -> None:
    """ "selectMessagesToCompact(messages, keepLast): { messagesToCompact, messagesToKeep, previousSummary }"."""
    compactor = Compactor(policy=STEP, window=128_000)
    planned = compactor.plan(HISTORY)
    dropped = {id for edit in planned.edits for id in edit.drop}
    assert not compactor.folds
    assert len(dropped) == len(HISTORY) - 11


def test_where_all_messages_are_recent_they_come_back_unchanged() -> None:
    """ "All messages are recent: Return messages unchanged (no-op)"."""
    history = [SYSTEM, user("Build it.", 60_000), *steps(0, 4, 10_000)]
    sent = Compactor(policy=STEP, window=128_000, summarizer=tells).fit(history)
    assert [id(item) for item in sent] == [id(item) for item in history]


@pytest.mark.parametrize("history", [[], [SYSTEM], [SYSTEM, user("Hi.")]])
def test_what_is_empty_or_short_comes_back_unchanged(history: list[Item]) -> None:
    """ "Empty conversation: Return messages unchanged"; "Very short session"."""
    assert Compactor(policy=STEP, window=128_000).fit(history) == history


# -- the summary --------------------------------------------------------------------------------------------------


def test_the_summary_is_an_assistants_message_headed_by_its_round() -> None:
    """ "const summaryMessage: CoreMessage = { role: 'assistant', content: summaryContent }"; "## Session Summary (Compaction
    Round {N})"."""
    compactor = Compactor(policy=STEP, window=128_000, summarizer=tells)
    summary = compactor.fit(HISTORY)[1]
    assert summary["role"] == "assistant"
    assert summary["content"].startswith(
        "## Session Summary (Compaction Round 1)\n\n### Original Task\nBuild a flashcard app."
    )
    again = compactor.fit([*HISTORY, *steps(30, 20, 5_000)])[1]
    assert again["content"].startswith("## Session Summary (Compaction Round 2)\n\n")


def test_the_model_is_asked_for_the_documents_sections_with_the_task_and_the_round() -> None:
    """ "Create a summary with these EXACT sections … | File/Component | Action | Description | … - [ ] [Remaining items as
    checklist]"; "## Original User Task ${originalTask}"; "maxTokens: 1000, temperature: 0.3"."""
    asked: list[Brief] = []

    def notes(brief: Brief, messages: Sequence[Message]) -> str:
        asked.append(brief)
        return tells(brief, messages)

    Compactor(policy=STEP, window=128_000, summarizer=notes).fit(HISTORY)
    wording = asked[0].wording
    prompt = str(wording.prompt)
    assert "## Original User Task\nBuild a flashcard app\n" in prompt
    assert "the heading of round 1 " in prompt
    assert "| File/Component | Action | Description |\n|----------------|--------|-------------|\n" in prompt
    assert "### Pending Work\n- [ ] [Remaining items as checklist]" in prompt
    assert "Only include if errors were encountered. Format: error → resolution" in prompt
    assert "- If previous summary exists, INTEGRATE (don't duplicate) its content" in prompt
    assert (wording.reply, wording.temperature, wording.model) == (1_000, 0.3, "current")
    assert wording.sections == (
        "Original Task",
        "Completed Work",
        "Key Technical Decisions",
        "Current State",
        "Pending Work",
    )
    assert asked[0].max_tokens <= 800


def test_a_summary_takes_at_most_800_tokens() -> None:
    """ "Maximum 800 tokens"; "Allow some buffer over 800 target": 1,000 of a model's."""
    (summary,) = decode_all([Compactor(policy=STEP, window=128_000).fit(HISTORY)[1]], "openai-chat")
    assert weigh(summary) <= 850  # its heading is on top
    told: list[Any] = []

    def writes_too_much(brief: Brief, messages: Sequence[Message]) -> str:
        return "It was done. " * 400

    long = Compactor(policy=STEP, window=128_000, summarizer=writes_too_much, on_event=told.append)
    assert long.fit(HISTORY) == HISTORY
    assert "were allowed" in next(event for event in told if isinstance(event, SummaryFellBack)).reason


def test_an_earlier_summary_is_integrated() -> None:
    """ "previousSummary: from previous compaction"; "Each summary includes its round number"; "Later summaries contain compressed
    versions of all prior work"."""
    seen: list[str] = []

    def notes(brief: Brief, messages: Sequence[Message]) -> str:
        seen.append(next((m.summary.text for m in messages if m.summary), ""))
        return f"### Original Task\nBuild a flashcard app. Round {brief.round}."

    compactor = Compactor(policy=STEP, window=128_000, summarizer=notes)
    compactor.fit(HISTORY)
    compactor.fit([*HISTORY, *steps(30, 20, 5_000)])
    assert seen[0] == ""
    assert "Build a flashcard app. Round 1." in seen[1]
    assert compactor.folds[-1].receipt.round == 2


# -- when it fails ------------------------------------------------------------------------------------------------


def fails(brief: Brief, messages: Sequence[Message]) -> str:
    raise ConnectionError("no route")


def test_where_the_model_fails_it_is_told_and_the_messages_come_back_unchanged() -> None:
    """ "Summary generation fails: Catch error, log warning, return messages unchanged"; "safeCompact: Log but don't fail the
    agent loop"."""
    told: list[Any] = []
    sent = Compactor(policy=STEP, window=128_000, summarizer=fails, on_event=told.append).fit(HISTORY)
    assert sent == HISTORY
    assert next(event for event in told if isinstance(event, SummaryFellBack)).reason == "ConnectionError: no route"


# -- a store ------------------------------------------------------------------------------------------------------


def test_a_fold_is_kept_and_a_restart_goes_on_from_the_active_messages(tmp_path: Any) -> None:
    """ "saveCompactionEvent(sessionId, result.compactionEvent); markMessagesCompacted"; "loadActiveMessages(sessionId)"."""
    path = tmp_path / "session.jsonl"
    log = Session.create(path)
    for message in decode_all([item for item in HISTORY if item is not SYSTEM], "openai-chat"):
        log.append(message)
    session = Session(path)
    compactor = Compactor(policy=STEP, window=128_000, session=session, summarizer=tells)
    sent = compactor.fit(session.context.messages)
    assert len(compactor.folds) == 1
    active = Session(path)
    assert len(active.context.messages) == len(sent) == 11
    assert len(list(active.messages())) == len(HISTORY) - 1
    assert [fold.receipt.round for fold in active.folds()] == [1]


# -- counting -----------------------------------------------------------------------------------------------------


def of_each_kind(text: str) -> list[Item]:
    """A message of each kind that says a text."""
    function = {"name": "write", "arguments": json.dumps({"text": text})}
    return [
        {"role": "system", "content": text},
        {"role": "user", "content": text},
        {"role": "user", "content": [{"type": "text", "text": text}]},
        {"role": "assistant", "content": text},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "c", "content": text},
    ]


def test_messages_of_every_kind_are_counted_with_all_that_they_say() -> None:
    """ "estimateTokens(text: string): number"; "Handles all message types: system, user, assistant, tool": "content parts (text,
    tool_call, tool_result)"."""
    few, many = (decode_all(of_each_kind("Test the parser. " * times), "openai-chat") for times in (1, 100))
    for short, long in zip(few, many, strict=True):
        assert 3 <= weigh(short) < 40
        assert 300 <= weigh(long) < 600


def test_a_text_of_known_length_is_a_token_for_about_four_characters() -> None:
    """ "Formula: ~4 characters per token (conservative estimate)"; "Accuracy: ~75-80% for English text"."""
    text = "The service reads its settings once and keeps them until it is told that they have changed. " * 40
    (message,) = decode_all([user(text)], "openai-chat")
    assert 0.6 * len(text) / 4 < weigh(message) < 1.25 * len(text) / 4


class Told(dict[str, Any]):
    """A message that counts how often its content is read."""

    reads = 0

    def __getitem__(self, key: str) -> Any:
        Told.reads += key == "content"
        return super().__getitem__(key)


def test_what_was_counted_is_not_counted_again() -> None:
    """ "O(n) where n = total message length; cached per step"."""
    compactor = Compactor(policy=STEP, window=128_000)
    history: list[Item] = [Told(each) for each in HISTORY[:30]]
    compactor.fit(history)
    Told.reads = 0
    history.append(user("Go on."))
    compactor.fit(history)
    assert Told.reads < len(history)


# -- the loop -----------------------------------------------------------------------------------------------------


class Agent:
    """A model that calls a tool in each of its steps, and refuses what is larger than its window."""

    def __init__(self, window: int) -> None:
        self.window = window
        self.sizes: list[int] = []

    def __call__(self, messages: list[Item]) -> Item:
        size = sum(map(weigh, decode_all(messages, "openai-chat")))
        assert size <= self.window
        self.sizes.append(size)
        call, _ = steps(len(self.sizes), 1, 0)
        return {"choices": [{"message": call}], "usage": {"prompt_tokens": size, "completion_tokens": 20}}


def test_a_loop_of_50_steps_checks_before_each_and_keeps_what_each_adds(tmp_path: Any) -> None:
    """ "maxSteps: 50, prepareStep: Check if compaction needed"; "onStepFinish: Persist new messages (handled by persistence
    layer)"; "let messages = await loadActiveMessages(sessionId)"."""
    path, agent = tmp_path / "session.jsonl", Agent(16_000)
    log = Session.create(path)
    log.append(Message("user", (Text("Build a flashcard app"),)))
    compactor = Compactor(policy=STEP, window=16_000, overhead=0, session=log, summarizer=tells)
    for number in range(1, 51):
        reply = step(compactor, log.context.messages, lambda sent: agent(encoded(sent)))
        done, result = reply["choices"][0]["message"], steps(number, 1, 600)[1]
        for message in decode_all([done, result], "openai-chat"):
            log.append(message)
    assert len(agent.sizes) == 50
    assert len(compactor.folds) >= 2
    again = Session(path)
    assert [m.text for m in again.context.messages] == [m.text for m in log.context.messages]
    assert len(list(again.messages())) == 101


def encoded(messages: Sequence[Message]) -> list[Item]:
    return [encode(message, "openai-chat") for message in messages]


def test_a_full_cycle_of_compaction() -> None:
    """ "Create session with many messages. Trigger compaction. Verify message count reduced. Verify summary content"; "Test with
    various message counts"."""
    for count in (20, 23, 30):
        history = [SYSTEM, user("Build a flashcard app"), *steps(0, count, 110_000 // count)]
        compactor = Compactor(policy=STEP, window=128_000, summarizer=tells)
        sent = compactor.fit(history)
        assert not pairing_faults(sent)
        assert 11 <= len(sent) <= 13
        assert "Build a flashcard app." in sent[1]["content"]


def test_what_came_of_a_fold_is_told() -> None:
    """ "compactionEvent: { round, tokensBefore, tokensAfter, summaryContent, compactedMessageIds }"."""
    compactor = Compactor(policy=STEP, window=128_000, summarizer=tells)
    sent = compactor.fit(HISTORY)
    (fold,) = compactor.folds
    assert fold.receipt.round == 1
    assert fold.receipt.tokens_before > 93_600 > fold.receipt.tokens_after == compactor.count.tokens
    assert "### Original Task" in sent[1]["content"]
    dropped = [compactor.recall(id) for edit in fold.edits for id in edit.drop]
    assert [encode(message, "openai-chat") for message in dropped if message] == HISTORY[1:-10]


def test_a_fold_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """ "Log compaction metrics: `[Compaction] Round ${round}: ${tokensBefore} → ${tokensAfter} tokens
    (${selection.messagesToCompact.length} messages summarized)`"."""
    compactor = Compactor(policy=STEP, window=128_000, summarizer=tells)
    with caplog.at_level("INFO", "foldline"):
        compactor.fit(HISTORY)
    receipt = compactor.folds[0].receipt
    sizes = f"{receipt.tokens_before:,} -> {receipt.tokens_after:,} tokens"
    told = [record.getMessage() for record in caplog.records if record.name == "foldline.fold"]
    assert told == [f"summarize: {sizes}, {len(HISTORY) - 11} messages folded, round 1"]


def test_a_model_is_asked_once_for_each_compaction_and_is_shown_no_huge_result_whole() -> None:
    """ "LLM summary call: Single call per compaction"; "Single huge tool result: Content > 10,000 chars: Truncate in
    `formatMessagesForSummary` before summarizing"; "content.slice(0, 2000) + '\\n[...truncated...]'"."""
    history = [SYSTEM, user("Build it."), *steps(0, 1, 90_000), *steps(1, 6, 4_000)]
    with Provider(says("### Original Task\nBuild it.\n\n### Completed Work\n- part 0")) as provider:
        writer = ModelSummarizer("openai:gpt-5.4", base_url=provider.url, api_key="k")
        compactor = Compactor(policy=STEP, window=128_000, summarizer=writer)
        compactor.fit(history)
        (request,) = provider.requests
    assert len(compactor.folds) == 1
    assert "wrote part 0. word" in request.material
    assert len(request.material) < 10_000
