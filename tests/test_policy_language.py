"""What a policy's file can say: marks, what is kept and where it is cut, how a summary stands in the history."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from foldline import Brief, Compactor, Message, Summary
from foldline.extend import Budget, Mark, Policy, Wording, preset, read_policy, replace

Item = dict[str, Any]


@pytest.fixture
def made(tmp_path: Path) -> Callable[[str], Policy]:
    """A policy of what a file says."""

    def make(text: str) -> Policy:
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return read_policy(path)

    return make


def user(text: str, words: int = 0) -> Item:
    return {"role": "user", "content": f"{text} {'word ' * words}".strip()}


def assistant(text: str, words: int = 0) -> Item:
    return {"role": "assistant", "content": f"{text} {'word ' * words}".strip()}


def reads(id: str, words: int) -> list[Item]:
    call = {"id": id, "type": "function", "function": {"name": "read", "arguments": f'{{"path": "{id}.py"}}'}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": id, "content": f"{id} " + "line of the file\n" * (words // 4)},
    ]


def tells(brief: Brief, messages: Sequence[Message]) -> Summary:
    return Summary("All of it was done.", {"told": len(messages)})


def fitted(policy: Policy, history: list[Item], **rest: Any) -> list[Item]:
    rest.setdefault("window", 10_000)
    return Compactor(policy=policy, summarizer=tells, **rest).fit(history)


def said(items: Sequence[Item]) -> list[str]:
    """Who says what, by the first words."""
    return [f"{item['role']}: {' '.join(str(item['content']).split()[:2])}" for item in items]


# -- marks --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mark", "window", "tokens"),
    [
        (Mark(0.88), 200_000, 176_000),
        (Mark(tokens=180_000), 1_000_000, 180_000),
        (Mark(0.9, tokens=244_000), 200_000, 180_000),
        (Mark(0.9, tokens=244_000), 1_000_000, 244_000),
        (Mark(less=16_384), 32_000, 15_616),
        (Mark(less=16_384), 1_000_000, 983_616),
        (Mark(less="output"), 400_000, 272_000),
        (Mark(less=16_384), 16_000, 1_600),
    ],
)
def test_a_mark_is_a_fill_of_the_whole_request(mark: Mark, window: int, tokens: int) -> None:
    budget = Budget(window, output=128_000)
    assert mark.of(budget, 0) == tokens
    assert mark.of(budget, 1_000) == tokens - 1_000


def test_a_mark_with_an_output_is_a_fill_of_the_messages_alone() -> None:
    assert Mark(0.8, output=4_000, buffer=5_000, system=2_000).of(Budget(128_000), 0) == 93_600
    assert Mark(0.8, output=16_384).of(Budget(200_000), 10_000) == 138_892  # (200,000 - 10,000 - 16,384) * 0.8


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("0.5", "50 % of the window"),
        ("{ tokens = 9_000 }", "9,000 tokens"),
        ("{ tokens = 9_000, share = 0.9 }", "9,000 tokens or 90 % of the window"),
        ("{ less = 900 }", "the window less 900"),
        ('{ less = "output", share = 0.8 }', "80 % of the window less the output limit"),
        ("{ share = 0.8, output = 100 }", "80 % of the window less the system prompt, 100 for the reply"),
    ],
)
def test_a_mark_is_read_and_told(said: str, told: str, made: Callable[[str], Policy]) -> None:
    policy = made(f'[[layers]]\nname = "x"\nat = {said}\nstrategies = [{{ use = "truncate" }}]')
    (layer,) = policy.layers
    assert layer.at == layer.to
    assert str(layer.at if isinstance(layer.at, Mark) else Mark(layer.at)) == told


def test_a_layer_folds_once_less_than_so_many_tokens_are_left(made: Callable[[str], Policy]) -> None:
    policy = made('[[layers]]\nname = "x"\nat = { less = 9_000 }\nstrategies = [{ use = "summarize_all" }]')
    history = [user("Do it.", 400), assistant("It is done.", 400), user("And now?")]
    assert fitted(policy, history) is not history
    assert len(fitted(policy, history)) == 3
    longer = [user("Do it.", 600), assistant("It is done.", 600), user("And now?")]
    assert said(fitted(policy, longer)) == ["user: <summary> All", "user: And now?"]


# -- what is kept -------------------------------------------------------------------------------------------------

HISTORY = [
    {"role": "system", "content": "You are an agent."},
    user("First.", 300),
    *reads("a", 900),
    assistant("I read a."),
    user("Second.", 300),
    *reads("b", 900),
    *reads("c", 900),
    assistant("I read b and c."),
    user("Third."),
]


@pytest.mark.parametrize(
    ("strategy", "kept"),
    [
        ('use = "summarize_all"', ["user: Third."]),
        ('use = "summarize_all", words = 320', ["user: Second. word", "user: <summary> All", "user: Third."]),
        ('use = "summarize_all_but_messages", messages = 4', ["assistant: None", "tool: c line", "assistant: I read", "user: Third."]),
        ('use = "summarize_all_but_messages", messages = 3', ["assistant: None", "tool: c line", "assistant: I read", "user: Third."]),
        ('use = "summarize_all_but_share", share = 0.2', ["assistant: I read", "user: Third."]),
        ('use = "summarize_all_but_tokens", keep = 600, cut = "anywhere"', ["assistant: None", "tool: c line", "assistant: I read", "user: Third."]),
        ('use = "summarize_all_but_tokens", keep = 600', ["user: Second. word", "assistant: None", "tool: b line", "assistant: None", "tool: c line", "assistant: I read", "user: Third."]),
    ],
)  # fmt: skip
def test_what_is_kept_is_what_is_stated(strategy: str, kept: list[str], made: Callable[[str], Policy]) -> None:
    policy = made(f'[[layers]]\nname = "x"\nat = {{ tokens = 1_000 }}\nstrategies = [{{ {strategy} }}]')
    first, *rest = said(fitted(policy, HISTORY))
    assert first == "system: You are"
    assert [each for each in rest if each != "user: <summary> All"] == [k for k in kept if k != "user: <summary> All"]
    assert rest == (kept if "words" in strategy else ["user: <summary> All", *kept])


def test_a_call_that_waits_for_its_answer_is_not_folded_with_the_whole(made: Callable[[str], Policy]) -> None:
    policy = made('[[layers]]\nname = "x"\nat = { tokens = 1_000 }\nstrategies = [{ use = "summarize_all" }]')
    compactor = Compactor(policy=policy, summarizer=tells, window=10_000)
    *history, call, answer = [user("First.", 900), assistant("Done.", 900), *reads("a", 40)]
    assert said(compactor.fit([*history, call])) == ["user: <summary> All", "assistant: None"]
    assert said(compactor.fit([*history, call, answer])) == ["user: <summary> All", "assistant: None", "tool: a line"]


def test_a_turn_that_fills_the_window_gets_a_summary_of_its_own(made: Callable[[str], Policy]) -> None:
    policy = made("""
[[layers]]
name = "turns"
at = { tokens = 1_500 }
strategies = [{ use = "summarize_all_but_tokens", keep = 500 }]

[[layers]]
name = "split"
at = { tokens = 1_500 }
strategies = [{ use = "summarize_turn", keep = 500 }]
""")
    history = [user("First.", 300), assistant("Done.", 300), user("Second."), *reads("a", 1600), *reads("b", 700)]
    expected = ["user: <summary> All", "user: Second.", "user: <summary> All", "assistant: None", "tool: b line"]
    assert said(fitted(policy, history)) == expected


def test_outputs_older_than_what_is_protected_keep_what_they_say_came_of_the_call(
    made: Callable[[str], Policy],
) -> None:
    policy = made("""
[[layers]]
name = "prune"
at = { tokens = 1_000 }
to = { tokens = 0 }
strategies = [{ use = "condense_tool_outputs", protect = 500, minimum = 200 }]
""")
    log = "\n".join(
        ["running tests", *["tests/test_a.py ....."] * 200, "FAILED test_b - KeyError", *["."] * 200, "3 failed"]
    )
    history = [user("Test it."), *reads("a", 40), *reads("b", 2000), assistant("I see."), user("Go on.")]
    history[2] = {**history[2], "content": log}
    sent = fitted(policy, history)
    assert "running tests" in sent[2]["content"]
    assert "FAILED test_b - KeyError" in sent[2]["content"]
    assert sent[2]["content"].endswith("3 failed")
    assert "lines of the log left out; recall" in sent[2]["content"]
    assert len(sent[2]["content"]) < len(log) / 5
    assert sent[4] is history[4]


def test_nothing_is_cleared_for_less_than_the_minimum(made: Callable[[str], Policy]) -> None:
    def policy(minimum: int) -> Policy:
        arguments = f"protect = 0, minimum = {minimum}"
        strategy = f'{{ use = "clear_tool_outputs", {arguments} }}'
        return made(f'[[layers]]\nname = "x"\nat = {{ tokens = 10 }}\nto = {{ tokens = 0 }}\nstrategies = [{strategy}]')

    history = [user("Read."), *reads("a", 900), assistant("I see."), user("Go on.")]
    assert fitted(policy(2_000), history) == history
    assert fitted(policy(300), history)[2]["content"].startswith("[pruned: read a.py")


# -- how a summary stands -----------------------------------------------------------------------------------------

WORDED = """
[[layers]]
name = "x"
at = {{ tokens = 1_000 }}
strategies = [{{ use = "summarize_all_but_messages", messages = 1 }}]

[summary]
{}
"""


def test_a_summary_has_a_prefix_and_is_acknowledged(made: Callable[[str], Policy]) -> None:
    policy = made(WORDED.format('prefix = "[COMPACT SUMMARY]\\n"\nacknowledged = "Understood."'))
    _, first, second, third = fitted(policy, HISTORY)
    assert first["role"] == "user"
    assert first["content"].startswith("[COMPACT SUMMARY]\nAll of it was done.")
    assert second == {"role": "assistant", "content": "Understood."}
    assert third is HISTORY[-1]


@pytest.mark.parametrize("words", [80, 120, 400])
def test_with_an_acknowledged_summary_roles_alternate_as_they_did(words: int) -> None:
    default, wording = preset("default"), Wording(acknowledged="Understood.")
    layers = tuple(replace(layer, summary=wording) for layer in default.layers)
    compactor = Compactor(policy=replace(default, layers=layers), window=4_000)
    history: list[Item] = []
    for number in range(40):
        history.append(user(f"Question {number}?", words))
        roles = [item["role"] for item in compactor.fit(history)]
        assert roles == ["user" if place % 2 == 0 else "assistant" for place in range(len(roles))]
        history.append(assistant(f"Answer {number}.", words))
    assert compactor.folds


def test_a_summary_is_an_assistants_with_its_round_above_it(made: Callable[[str], Policy]) -> None:
    policy = made(WORDED.format('role = "assistant"\nheading = "## Session Summary (Compaction Round {round})"'))
    compactor = Compactor(policy=policy, summarizer=tells, window=10_000)
    _, first, _ = compactor.fit(HISTORY)
    assert first["role"] == "assistant"
    assert first["content"].startswith("## Session Summary (Compaction Round 1)\n\nAll of it")
    longer = [*HISTORY, assistant("Yes.", 1_500), user("And now?")]
    assert compactor.fit(longer)[1]["content"].startswith("## Session Summary (Compaction Round 2)\n\n")


def test_where_the_provider_wants_the_users_word_first_a_summary_is_the_users(made: Callable[[str], Policy]) -> None:
    policy = made(WORDED.format('role = "assistant"'))
    blocks = [{"type": "tool_use", "id": "a", "name": "read", "input": {}}]
    result = [{"type": "tool_result", "tool_use_id": "a", "content": "line of it " * 700}]
    talk = [user("Read."), {"role": "assistant", "content": blocks}, {"role": "user", "content": result}]
    sent = fitted(policy, [*talk, assistant("I read it."), user("And?")])
    assert [item["role"] for item in sent] == ["user", "user"]


def test_behind_a_fold_that_nobody_asked_for_the_program_follows_up(made: Callable[[str], Policy]) -> None:
    policy = made(WORDED.format('follow_up = "Continue if you have next steps"'))
    compactor = Compactor(policy=policy, summarizer=tells, window=10_000)
    assert said(compactor.fit(HISTORY))[1:] == ["user: <summary> All", "user: Continue if", "user: Third."]
    by_hand = Compactor(policy=policy, summarizer=tells, window=10_000)
    assert said(by_hand.fold(HISTORY))[1:] == ["user: <summary> All", "user: Third."]


def test_what_was_handed_out_may_be_handed_back(made: Callable[[str], Policy]) -> None:
    policy = made(WORDED.format('role = "assistant"\nprefix = "Before: "\nfollow_up = "Go on."'))
    compactor = Compactor(policy=policy, summarizer=tells, window=10_000)
    sent = compactor.fit(HISTORY)
    again = [dict(item) for item in sent] + [assistant("Yes.")]
    assert compactor.fit(again) == again
    assert len(compactor.folds) == 1


def test_where_the_model_fails_the_policys_own_words_stand_instead(made: Callable[[str], Policy]) -> None:
    def fails(brief: Brief, messages: Sequence[Message]) -> Summary:
        raise TimeoutError("too late")

    fallback = "[Context truncated. Earlier conversation contained {messages} messages about: {topics}]"
    policy = made(WORDED.format(f'prefix = ""\nfallback = "{fallback}"'))
    sent = Compactor(policy=policy, summarizer=fails, window=10_000).fit(HISTORY)
    told = str(sent[1]["content"])
    assert told.startswith("[Context truncated. Earlier conversation contained 10 messages about: First. word word")
    assert "; Second. word" in told


def test_the_prompt_says_the_round_and_the_task(made: Callable[[str], Policy]) -> None:
    asked: list[Brief] = []

    def notes(brief: Brief, messages: Sequence[Message]) -> str:
        asked.append(brief)
        return "It was done."

    policy = made(WORDED.format('prompt = "Round {round} of: {task}"\nmax_tokens = 300'))
    Compactor(policy=policy, summarizer=notes, window=10_000).fit(HISTORY)
    assert str(asked[0].wording.prompt).startswith("Round 1 of: First. word")
    assert asked[0].max_tokens <= 300


# -- what is worth a fold -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("least", "folds"), [("", 0), ("least = 0.005", 1)])
def test_a_layer_says_what_it_must_at_least_free(least: str, folds: int, made: Callable[[str], Policy]) -> None:
    policy = made(f"""
[[layers]]
name = "x"
at = 0.1
to = {{ tokens = 0 }}
{least}
strategies = [{{ use = "clear_tool_outputs", protect = 0, minimum = 0 }}]
""")
    history = [user("Do it.", 9_000), *reads("a", 160), assistant("I read it."), user("Go on.")]
    compactor = Compactor(policy=policy, window=20_000)
    compactor.fit(history)
    assert len(compactor.folds) == folds


def test_what_a_policy_holds_back_for_the_reply_is_its_own(made: Callable[[str], Policy]) -> None:
    policy = made('reserve = 0\n[[layers]]\nname = "x"\nat = 0.95\nstrategies = [{ use = "truncate" }]')
    assert Compactor(policy=policy, window=100_000).budget.limit == 100_000
    assert Compactor(policy=policy, window=100_000, reserve=5_000).budget.limit == 95_000
