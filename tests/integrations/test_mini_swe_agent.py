"""foldline in mini-swe-agent, with its own deterministic models."""

from __future__ import annotations

import json
import os
from typing import Any

import pages
import pytest

os.environ["MSWEA_SILENT_STARTUP"] = "1"
pytest.importorskip("minisweagent", reason="mini-swe-agent is not installed: make integrations")

from minisweagent.agents.default import DefaultAgent
from minisweagent.models.test_models import (
    DeterministicModel,
    DeterministicToolcallModel,
    make_output,
    make_toolcall_output,
)
from work import PIN, REQUESTS, RULE, WINDOW, Provider, Sent, output

from foldline import Brief, Folded, Message, Summary
from foldline.extend import extract
from foldline.integrations.mini_swe_agent import Folding

TASK = f"{REQUESTS[0]} {PIN}"
STEPS = 110


def sent(messages: list[Any]) -> Sent:
    calls = [call["id"] for message in messages for call in message.get("tool_calls") or []]
    results = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    return Sent("\n".join(str(message["content"] or "") for message in messages), tuple(calls), tuple(results))


class Reading:
    """An environment whose commands read parts."""

    config = None

    def execute(self, action: Any, cwd: str = "", **rest: Any) -> dict[str, Any]:
        if "COMPLETE" in action["command"]:
            from minisweagent.exceptions import Submitted

            raise Submitted(
                {"role": "exit", "content": "done", "extra": {"exit_status": "Submitted", "submission": "done"}}
            )
        return {"output": output(int(action["command"].split("_")[-1])), "returncode": 0, "exception_info": ""}

    def get_template_vars(self, **rest: Any) -> dict[str, Any]:
        return {}

    def serialize(self) -> dict[str, Any]:
        return {}


def outputs(calling: bool, steps: int = STEPS) -> list[Any]:
    made = []
    for part in range(1, steps + 1):
        command = f"cat part_{part}" if part < steps else "echo COMPLETE"
        if calling:
            function = {"name": "bash", "arguments": json.dumps({"command": command})}
            call = {"id": f"call_{part}", "type": "function", "function": function}
            made.append(make_toolcall_output(None, [call], [{"command": command, "tool_call_id": f"call_{part}"}]))
        else:
            made.append(make_output(f"I read part {part}.", [{"command": command}]))
    return made


def watched(kind: Any, provider: Provider, steps: int = STEPS) -> Any:
    """The agent's own fake model, which bills and refuses as the provider does."""

    class Watched(kind):  # type: ignore[misc]
        def query(self, messages: list[dict[str, Any]], **rest: Any) -> dict[str, Any]:
            asked = sent(messages)
            provider.turn(asked)
            reply: dict[str, Any] = super().query(messages, **rest)
            reply["extra"]["response"] = {"usage": {"prompt_tokens": asked.tokens, "completion_tokens": 9}}
            return reply

    return Watched(outputs=outputs(kind is DeterministicToolcallModel, steps), model_name="gpt-5.4")


def run(model: Any) -> Any:
    agent = DefaultAgent(
        model, Reading(), system_template="You read parts.", instance_template="{{task}}", cost_limit=0
    )
    agent.run(TASK)
    return agent


def options() -> dict[str, Any]:
    return {"window": WINDOW, "reserve": 500}


@pytest.mark.parametrize("kind", [DeterministicModel, DeterministicToolcallModel])
def test_five_windows_of_work(kind: Any) -> None:
    provider, told = Provider(steps=STEPS), []
    agent = run(Folding(watched(kind, provider), on_event=told.append, **options()))
    assert provider.refused == []
    assert len(provider.sent) == STEPS
    assert len(sent(agent.messages).words) // 4 > 5 * WINDOW
    assert max(each.tokens for each in provider.sent) <= WINDOW
    for each in provider.sent:
        assert REQUESTS[0] in each.words
        assert RULE in each.words
        assert PIN in each.words
        assert each.calls == each.results
    assert "<summary>" not in sent(agent.messages).words
    folds = [event.fold for event in told if isinstance(event, Folded)]
    assert folds


def test_what_a_command_printed_makes_no_rule() -> None:
    provider, told = Provider(steps=STEPS), []
    run(Folding(watched(DeterministicModel, provider), on_event=told.append, **options()))
    summary = provider.sent[-1].words.partition("<summary>")[2].partition("</summary>")[0]
    assert RULE in provider.sent[-1].words
    assert "reads setting_" not in summary.partition("## Rules")[2].partition("##")[0]


def test_an_overflow_is_folded_for_and_sent_again_once() -> None:
    provider, told = Provider(window=4_000, steps=14), []
    run(Folding(watched(DeterministicToolcallModel, provider, 14), window=40_000, on_event=told.append))
    assert (len(provider.refused), len(provider.sent)) == (1, 14)
    assert any(isinstance(event, Folded) and event.fold.trigger == "overflow" for event in told)


def test_a_run_that_is_begun_again_pays_no_summary_twice() -> None:
    asked: list[Brief] = []

    def summarize(brief: Brief, messages: list[Message]) -> Summary:
        asked.append(brief)
        return extract(brief, messages)

    given = {"states": {}, "summarizer": summarize, **options()}
    provider = Provider(steps=30)
    agent = run(Folding(watched(DeterministicToolcallModel, provider, 30), **given))
    assert asked
    asked.clear()
    history = [message for message in agent.messages if message["role"] != "exit"][:-1]
    again = Provider(steps=1)
    Folding(watched(DeterministicToolcallModel, again, 30), **given).query(json.loads(json.dumps(history)))
    assert again.sent[0].words.startswith(provider.sent[-1].words[: len(again.sent[0].words)])
    assert asked == []


@pytest.mark.parametrize("processes", [1, 2, 200], ids=["one", "two that take turns", "another for each request"])
def test_whoever_asks_next_sends_what_one_process_would(processes: int) -> None:
    """What was folded and what was billed is known to all who keep their states in one place."""
    asked: list[Brief] = []

    def summarize(brief: Brief, messages: list[Message]) -> Summary:
        asked.append(brief)
        return extract(brief, messages)

    def work(number: int) -> tuple[list[str], int]:
        asked.clear()
        given = {"states": {}, "summarizer": summarize, **options(), "window": 2 * WINDOW}
        provider = Provider(window=2 * WINDOW, steps=60)
        model = watched(DeterministicToolcallModel, provider, 60)
        foldings = [Folding(model, **given) for _ in range(number)]
        history: list[Any] = [{"role": "user", "content": TASK}]
        for part in range(1, 60):
            reply = foldings[part % number].query(json.loads(json.dumps(history)))
            history += [reply, {"role": "tool", "tool_call_id": f"call_{part}", "content": output(part)}]
        return [each.words for each in provider.sent], len(asked)

    alone, paid = work(1)
    assert paid > 0
    assert work(processes) == (alone, paid)


def test_what_the_page_shows() -> None:
    provider = Provider(steps=3)
    model = watched(DeterministicModel, provider, 3)
    agent = pages.run("mini-swe-agent", model=model, environment=Reading())["agent"]
    agent.config.cost_limit = 0
    agent.run(TASK)
    assert len(provider.sent) == 3
