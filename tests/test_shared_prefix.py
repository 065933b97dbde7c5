"""Summaries on top of the conversation that the provider has cached: when they pay, what is sent, and what if they fail."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from foldline import Compactor, Layer, ModelSummarizer, Usage
from foldline._economics import cached, price_riding
from foldline.extend import extract, model, policy, summarize_older
from providers import Provider, Reply, answers, says, status
from test_model_summaries import GOOD, talk

pytest.importorskip("pydantic_ai")

Item = dict[str, Any]
SUMMARIZING = policy("summarizing", [Layer("summarize", 0.8, 0.4, (summarize_older(keep=800),))])
CLAUDE = "claude-haiku-4-5"
TOOLS = [{"name": "bash", "input_schema": {"type": "object"}}]
CALL = [{"type": "tool_use", "id": "t1", "name": "bash", "input": {}}]


class Agent:
    """Sends every request in the same way, as agents do: system prompt, tools, messages."""

    def __init__(self, provider: Provider, name: str = CLAUDE) -> None:
        self.provider, self.name = provider, name

    def __call__(self, messages: list[Item]) -> Item:
        body = {"model": self.name, "system": "You are an agent.", "tools": TOOLS, "messages": messages}
        sent = urllib.request.Request(f"{self.provider.url}/messages", json.dumps(body).encode())
        try:
            with urllib.request.urlopen(sent) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as refused:
            with refused:
                raise RuntimeError(f"HTTP {refused.code}") from None


def full(
    history: list[Item], ask: Any, *, agent: str = CLAUDE, held: bool = True, age: float = 10, **more: Any
) -> Compactor:
    """A compactor whose agent has sent the history but its last turns, and whose window the whole of it fills."""
    now = [1_000.0]
    size = Compactor(agent, window=10_000_000)
    size.fit(history)
    more = {"window": round(size.count.tokens / 0.82), "reserve": 0, "policy": SUMMARIZING, "ask": ask, **more}
    compactor = Compactor(agent, clock=lambda: now[0], **more)
    compactor.fit(history[:-4])
    sent = compactor.count.tokens
    compactor.observe(
        {"usage": {"input_tokens": 0, "cache_read_input_tokens": sent}} if held else {"input_tokens": sent}
    )
    now[0] += age
    return compactor


def plain(turns: int = 40) -> list[Item]:
    """A talk in words alone, which is the same in every dialect."""
    return [item for item in talk(turns) if isinstance(item["content"], str) and item["role"] != "tool"]


def fresh_by(provider: Provider, name: str = "anthropic:claude-haiku-4-5") -> ModelSummarizer:
    return ModelSummarizer(name, base_url=provider.root, api_key="k", retries=0)


def shared(reply: Reply, then: Reply | None = None, **more: Any) -> tuple[Compactor, str, Provider, Provider]:
    """A history folded by an agent that can be asked, beside a model of its own; what is shown, and who was asked what."""
    history = plain()
    with Provider(reply) as own, Provider(then or says(GOOD)) as other:
        compactor = full(history, Agent(own), **{"summarizer": fresh_by(other), **more})
        shown = compactor.fit(history)[0]["content"]
    return compactor, shown, own, other


BILL = {"input_tokens": 40, "output_tokens": 50, "cache_read_input_tokens": 5_000, "cache_creation_input_tokens": 300}


def test_the_request_is_the_agents_next_one_with_an_instruction_behind_it() -> None:
    compactor, shown, own, other = shared(answers(GOOD, **BILL))
    (request,) = own.requests
    assert other.requests == []
    assert request.body["messages"][:-1] == plain()
    assert (request.body["system"], request.body["tools"]) == ("You are an agent.", TOOLS)
    instruction = request.body["messages"][-1]["content"]
    assert "## Critical context" in instruction
    assert "The newest " in instruction
    assert "===" not in instruction
    receipt = compactor.folds[0].receipt
    assert (receipt.shared, receipt.calls, receipt.models) == (True, 1, (CLAUDE,))
    assert receipt.usage == Usage(40, 50, 5_000, 300)
    assert receipt.cost == pytest.approx((40 * 1.0 + 5_000 * 0.1 + 300 * 1.25 + 50 * 5) / 1e6)
    assert "A stack was chosen" in shown
    assert "Never touch config/prod.toml." in shown


def test_a_summary_in_the_conversation_is_updated() -> None:
    history = plain()
    with Provider(answers(GOOD, **BILL)) as own:
        compactor = full(history, Agent(own))
        compactor.fit(history)
        while len(compactor.folds) < 2:
            history += talk(1)[5:]
            compactor.fit(history)
    first, second = (request.body["messages"][-1]["content"] for request in own.requests)
    assert "Update the previous summary" in second
    assert "Update the previous summary" not in first
    assert "A stack was chosen" in own.requests[1].body["messages"][0]["content"]


@pytest.mark.parametrize(
    "why",
    [{"age": 400.0}, {"held": False}, {"agent": "claude-opus-4-1"}, {"reserve": 1_500}],
    ids=["the cache is cold", "nothing was cached", "the agent's model is dear", "it would not fit"],
)
def test_a_request_of_its_own_is_sent_where_that_is_cheaper(why: dict[str, Any]) -> None:
    compactor, shown, own, other = shared(answers(GOOD, **BILL), **why)
    assert (len(own.requests), len(other.requests)) == (0, 1)
    assert not compactor.folds[0].receipt.shared
    assert "A stack was chosen" in shown


def test_a_summarizer_without_a_price_is_preferred() -> None:
    compactor, _, own, _ = shared(answers(GOOD, **BILL), summarizer=lambda brief, messages: GOOD)
    assert own.requests == []
    assert not compactor.folds[0].receipt.shared


BAD: dict[str, tuple[Reply, str]] = {
    "a tool call": (answers(CALL, stop="tool_use", **BILL), "a tool call"),
    "cut off": (answers(GOOD, stop="max_tokens", **BILL), "cut off"),
    "a refusal": (answers("", stop="refusal", **BILL), "a refusal"),
    "a refusal half way": (answers(GOOD, stop="refusal", **BILL), "cut off by a refusal"),
}


@pytest.mark.parametrize(("reply", "fault"), BAD.values(), ids=list(BAD))
def test_a_reply_that_is_no_summary_is_asked_for_again_by_the_other(reply: Reply, fault: str) -> None:
    compactor, shown, own, other = shared(reply)
    assert (len(own.requests), len(other.requests)) == (1, 1)
    assert fault in other.requests[0].material
    receipt = compactor.folds[0].receipt
    assert receipt.failures == ()
    assert receipt.calls == 2
    assert receipt.usage == Usage(640, 100, 5_400, 300)
    assert "A stack was chosen" in shown


def test_a_request_that_fails_is_left_to_the_other() -> None:
    compactor, shown, own, other = shared(status(529))
    assert (len(own.requests), len(other.requests)) == (1, 1)
    assert not compactor.folds[0].receipt.shared
    assert "A stack was chosen" in shown


@pytest.mark.parametrize(
    "reply", [status(500), answers(CALL, stop="tool_use", **BILL)], ids=["an error", "a tool call"]
)
def test_without_another_model_extraction_takes_over(reply: Reply) -> None:
    compactor, shown, _, other = shared(reply, summarizer=extract)
    assert other.requests == []
    assert len(compactor.folds[0].receipt.failures) == 1
    assert "compaction failing" in compactor.state
    assert "Never touch config/prod.toml." in shown


def test_without_another_model_it_writes_every_summary() -> None:
    compactor, shown, own, _ = shared(answers(GOOD, **BILL), summarizer=extract, age=9_999.0)
    assert len(own.requests) == 1
    assert compactor.folds[0].receipt.shared
    assert "A stack was chosen" in shown


def test_it_is_awaited_where_the_agent_is_asynchronous() -> None:
    history = plain()

    async def main(reply: Reply) -> tuple[Compactor, str]:
        with Provider(reply) as own, Provider(says(GOOD)) as other:

            async def ask(messages: list[Item]) -> Item:
                return await asyncio.to_thread(Agent(own), messages)

            compactor = full(history, ask, summarizer=fresh_by(other))
            return compactor, (await compactor.afit(history))[0]["content"]

    for reply in (answers(GOOD, **BILL), status(500)):
        compactor, shown = asyncio.run(main(reply))
        assert "A stack was chosen" in shown
        assert compactor.folds[0].receipt.failures == ()


def test_it_is_prepared_in_the_background() -> None:
    history = plain()
    with Provider(answers(GOOD, **BILL)) as own:
        compactor = full(history, Agent(own), summarizer=extract, ahead=0.5)
        while not compactor.folds:
            compactor.fit(history)
            history += talk(1)[5:]
    assert len(own.requests) == 1
    assert compactor.folds[0].receipt.shared


def test_openai_replies_and_objects_are_read() -> None:
    class Completion:
        def model_dump(self, mode: str) -> Item:
            choice = {"message": {"role": "assistant", "content": GOOD}, "finish_reason": "stop"}
            return {"choices": [choice], "usage": usage}

        @property
        def usage(self) -> Item:
            return usage

    usage = {"prompt_tokens": 6_000, "completion_tokens": 50, "prompt_tokens_details": {"cached_tokens": 5_000}}
    history = talk(40)
    compactor = full(history, lambda messages: Completion(), agent="gpt-5-mini")
    assert "A stack was chosen" in compactor.fit(history)[0]["content"]
    assert compactor.folds[0].receipt.usage == Usage(1_000, 50, 5_000)


@pytest.mark.parametrize("reply", [None, "text", {}, {"choices": []}, {"choices": [{}]}], ids=repr)
def test_what_is_no_reply_is_a_failure(reply: Any) -> None:
    history = plain()
    compactor = full(history, lambda messages: reply)
    compactor.fit(history)
    assert compactor.folds[0].receipt.failures[0].startswith("on the cached conversation: WireError: ")


# -- economics ----------------------------------------------------------------------------------------------------


def test_what_a_cache_still_holds() -> None:
    claude, gpt = model(CLAUDE), model("gpt-5-mini")
    billed = Usage(100, 9, 4_000, 500)
    assert cached(claude, billed, 299) == 4_500
    assert cached(claude, billed, 300) == 0
    assert cached(claude, Usage(9_000, 9), 1) == 0
    assert cached(claude, Usage(0, 9, 4_000), 1) == 0
    assert cached(gpt, billed, 1) == 4_600
    assert cached(gpt, Usage(9_000, 9), 1) == 9_000
    assert cached(model("nobody-knows"), billed, 1) == 0


def test_what_a_request_on_a_cache_costs() -> None:
    claude, gpt = model(CLAUDE), model("gpt-5-mini")
    assert price_riding(claude, 10_000, 8_000, 100) == pytest.approx((8_000 * 0.1 + 2_000 * 1.25 + 100 * 5) / 1e6)
    assert price_riding(gpt, 10_000, 8_000, 100) == pytest.approx((8_000 * 0.025 + 2_000 * 0.25 + 100 * 2) / 1e6)
    assert price_riding(claude, 1_000, 8_000, 0) == pytest.approx(1_000 * 0.1 / 1e6)
    assert price_riding(model("nobody-knows"), 10_000, 0, 1) is None
