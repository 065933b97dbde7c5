"""What a step costs where nothing must be folded: `Compactor.fit` on a history of 10,000 messages.

    python benchmarks/idle.py [--alternatives-python PYTHON]

Measured are a step with the list as it was, with the list grown by three messages, the same after a walk over all objects
of the process, the same with every message a new but equal dict, with a system message that is another in each step, and
the first step with dicts that were never seen; then an agent whose window is folded again and again, at 10,000 and at 100,000
messages: the mean step, folds included, and how long its dumped state takes to load. The alternatives are asked the same question ("is it too long?") about the
same messages as their own objects, which are built beforehand, except in the cold step, where langchain gets the dicts:

- langchain-core `trim_messages` with `count_tokens_approximately`, and langchain `SummarizationMiddleware.before_model`;
- strands: the estimate that it makes before each model call, with and without usage in the history, and
  `SlidingWindowConversationManager.apply_management`, which compares the number of messages only and counts no tokens.

PYTHON is an interpreter with `langchain` and `strands-agents`.
"""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

from measuring import Figure, Row, alternative, heading, milliseconds, options, table, tell

MESSAGES = 10_000
WINDOW = 100_000_000
STEPS = 800
"""Steps of an agent whose window is folded: some folds are among them."""
Dicts = list[dict[str, Any]]


def history(size: int) -> Dicts:
    """A coding agent's history as OpenAI chat messages, 300 to 600 bytes each."""
    messages: Dicts = [{"role": "system", "content": "You are a careful software engineer. " * 12}]
    step = 0
    while len(messages) < size:
        step += 1
        if step % 8 == 1:
            messages.append({"role": "user", "content": f"The export of invoice {step} rounds wrongly. " * 8})
        messages += exchange(step)
    return messages[:size]


def exchange(step: int) -> Dicts:
    """One call of a tool, and its result."""
    id = f"call_{step:024d}"
    path = f"src/billing/module_{step % 97}.py"
    call = {"name": "read_file", "arguments": json.dumps({"path": path, "offset": step, "limit": 40})}
    said = f"Step {step}: the total is summed before it is rounded, so I read where {path} does that."
    return [
        {"role": "assistant", "content": said, "tool_calls": [{"id": id, "type": "function", "function": call}]},
        {"role": "tool", "tool_call_id": id, "content": f"{step:5}  total = sum(line.net for line in lines)\n" * 9},
    ]


def growing(messages: Dicts, runs: int) -> list[Dicts]:
    """The history as a caller passes it from step to step: each list is the one before and three messages more."""
    steps = [messages]
    for run in range(runs):
        more = [{"role": "user", "content": "And the next one, please. " * 12}, *exchange(MESSAGES + run)]
        steps.append([*steps[-1], *more])
    return steps


def foldline_figures(runs: int) -> dict[str, Figure]:
    """Our own figures."""
    from foldline import Compactor

    text = json.dumps(history(MESSAGES))
    cold = milliseconds(lambda dicts: Compactor(window=WINDOW).fit(dicts), runs, lambda: json.loads(text), collect=True)
    compactor = Compactor(window=WINDOW)
    first, *steps = growing(json.loads(text), 10 * runs)
    compactor.fit(first)
    step = iter(steps).__next__
    grown = milliseconds(compactor.fit, 5 * runs, step)
    stirred = milliseconds(compactor.fit, 5 * runs, step, collect=True)
    newest = steps[-1]
    last = json.dumps(newest)
    equal = milliseconds(compactor.fit, runs, lambda: json.loads(last))
    compactor.fit(newest)
    same = milliseconds(lambda: compactor.fit(newest), 5 * runs)
    clock = iter(range(10 * runs))
    head = milliseconds(
        compactor.fit, 5 * runs, lambda: [{"role": "system", "content": f"It is {next(clock)} o'clock."}, *newest[1:]]
    )
    return {"grown": grown, "stirred": stirred, "equal": equal, "cold": cold, "same": same, "head": head}


def folded_figures(size: int, runs: int) -> dict[str, Figure]:
    """Our own figures where the window was folded many times: the mean step of some hundred, and a load of the state."""
    from foldline import Compactor

    def writes(brief: Any, messages: Any) -> str:
        return "## Goal\nThe export rounds right.\n## Done\n- read where the total is summed"

    compactor = Compactor(window=200_000, summarizer=writes)
    whole = history(size + 3 * STEPS)
    for stop in range(0, size, 3_000):
        compactor.fit(whole[:stop])
    talk = whole[:size]
    compactor.fit(talk)

    def work() -> None:
        for at in range(size, size + 3 * STEPS, 3):
            talk.extend(whole[at : at + 3])
            compactor.fit(talk)

    steps = milliseconds(work, 1)
    state = compactor.dump()
    other = Compactor(window=200_000)
    load = milliseconds(lambda: other.load(state), max(3, runs))
    return {"step": Figure(steps.median / STEPS, steps.best / STEPS), "load": load}


# -- alternatives, run by their own interpreter ------------------------------------------------------------------


def langchain(dicts: Dicts, runs: int) -> dict[str, Figure]:
    """langchain's checks of a history that need not be trimmed."""
    from langchain.agents.middleware import SummarizationMiddleware
    from langchain_core.language_models import FakeListChatModel
    from langchain_core.messages import convert_to_messages
    from langchain_core.messages.utils import count_tokens_approximately, trim_messages

    def trim(messages: Any) -> Any:
        return trim_messages(messages, max_tokens=WINDOW, token_counter=count_tokens_approximately, strategy="last")

    middleware = SummarizationMiddleware(FakeListChatModel(responses=["."]), trigger=("tokens", WINDOW))
    objects = convert_to_messages(dicts)
    text = json.dumps(dicts)
    return {
        "trim": milliseconds(lambda: trim(objects), runs),
        "middleware": milliseconds(lambda: middleware.before_model({"messages": objects}, None), runs),  # type: ignore[typeddict-item, arg-type]
        "cold": milliseconds(trim, max(3, runs // 3), lambda: json.loads(text), collect=True),
    }


def strands(dicts: Dicts, runs: int) -> dict[str, Figure]:
    """strands' checks of a history that need not be reduced."""
    import asyncio

    from strands import Agent
    from strands.agent.conversation_manager import SlidingWindowConversationManager
    from strands.event_loop.event_loop import _estimate_input_tokens

    manager = SlidingWindowConversationManager(window_size=10 * MESSAGES)
    agent = Agent(model=no_model(), conversation_manager=manager)
    agent.messages = [strands_message(item) for item in dicts if item["role"] != "system"]

    def estimate() -> int:
        return asyncio.run(_estimate_input_tokens(agent))

    figures = {"window": milliseconds(lambda: manager.apply_management(agent), 5 * runs)}
    figures["estimate"] = milliseconds(estimate, max(3, runs // 3))
    last = next(m for m in reversed(agent.messages) if m["role"] == "assistant")
    last["metadata"] = {"usage": {"inputTokens": 900_000, "outputTokens": 100, "totalTokens": 900_100}}
    return {**figures, "anchored": milliseconds(estimate, runs)}


def no_model() -> Any:
    """A model for strands that is never called."""
    from strands.models import Model

    class Silent(Model):
        update_config = get_config = stream = structured_output = lambda *_, **__: {}  # type: ignore[assignment]

    return Silent()


def strands_message(item: dict[str, Any]) -> Any:
    """An OpenAI chat message as strands has it."""
    if item["role"] == "tool":
        result = {"toolUseId": item["tool_call_id"], "status": "success", "content": [{"text": item["content"]}]}
        return {"role": "user", "content": [{"toolResult": result}]}
    blocks: list[dict[str, Any]] = [{"text": item["content"]}]
    for call in item.get("tool_calls", ()):
        given = json.loads(call["function"]["arguments"])
        blocks.append({"toolUse": {"toolUseId": call["id"], "name": call["function"]["name"], "input": given}})
    return {"role": item["role"], "content": blocks}


# -- all of it ---------------------------------------------------------------------------------------------------


def rows(asked: Namespace) -> list[Row]:
    """The table's rows."""
    ours = foldline_figures(asked.runs)
    dicts = history(MESSAGES)
    theirs = {
        name: alternative(asked.alternatives_python, __file__, name, dicts, asked.runs)
        for name in ("langchain", "strands")
    }

    def row(what: str, key: str, target: float | None, library: str, check: str, words: str) -> Row:
        told = theirs[library]
        return Row(what, ours[key], target, f"{library} {words}", told.get(check, told.get("", "")))

    short, long = (folded_figures(size, asked.runs) for size in (MESSAGES, 10 * MESSAGES))
    return [
        heading(f"an idle step over {MESSAGES:,} messages"),
        Row("fit, the same list", ours["same"], 0.1),
        row("fit, grown by a step", "grown", 0.2, "langchain", "trim", "trim_messages"),
        row("", "grown", None, "langchain", "middleware", "SummarizationMiddleware"),
        row("", "grown", None, "strands", "estimate", "estimate, no usage"),
        row("", "grown", None, "strands", "anchored", "estimate, with usage"),
        row("", "grown", None, "strands", "window", "sliding window (counts messages)"),
        row("the same, caches cold", "stirred", None, "langchain", "trim", "trim_messages"),
        Row("fit, another system message in each step", ours["head"], 2),
        row("fit, new but equal dicts", "equal", 1, "langchain", "trim", "trim_messages"),
        row("fit, cold dicts, once", "cold", 60, "langchain", "cold", "trim_messages on dicts"),
        row("", "cold", None, "strands", "estimate", "estimate, no usage"),
        heading("an agent whose window of 200,000 tokens was folded many times"),
        Row(f"the mean step at {MESSAGES:,} messages, folds included", short["step"]),
        Row(f"the same at {10 * MESSAGES:,}", long["step"], 2 * short["step"].median),
        Row(f"load of the state at {MESSAGES:,} messages", short["load"], 5),
        Row(f"the same at {10 * MESSAGES:,}", long["load"]),
    ]


def main() -> None:
    """Prints the table, or what one alternative measured."""
    asked = options(__doc__).parse_args()
    if asked.alternative:
        dicts = json.loads(Path(asked.given).read_text())
        tell((langchain if asked.alternative == "langchain" else strands)(dicts, asked.runs))
    else:
        table(rows(asked))


if __name__ == "__main__":
    main()
