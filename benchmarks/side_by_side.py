"""The same task with foldline and without, in three agent frameworks: tokens and cost side by side.

    python benchmarks/side_by_side.py ENVIRONMENTS

ENVIRONMENTS is a folder with an environment for each framework by its name, as `make integrations` makes them (`.integrations`).
The task is that of the integrations' tests: three requests, 36 calls each, in a window of 9,000 tokens with foldline, and in
one without end. A token is four characters; what a request begins with as the one before it did is read from the cache.
"""

from __future__ import annotations

import asyncio
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from foldline.extend import model
from measuring import child

TESTS = Path(__file__).resolve().parent.parent / "tests"
MODEL = "gpt-5.4"
ENDLESS = 100_000_000


def pydantic_ai(test: Any, provider: Any, window: int) -> None:
    history: Any = []
    agent = test.agent_of(provider, test.Folding(MODEL, **{**test.options(), "window": window}))
    for request in test.REQUESTS:
        history = test.ran(agent, request, message_history=history, usage_limits=None).all_messages()


def smolagents(test: Any, provider: Any, window: int) -> None:
    agent = test.agent_of(test.Folding(test.Fake(provider), **{**test.options(), "window": window}))
    for number, request in enumerate(test.REQUESTS):
        agent.run(request, reset=number == 0)


def agent_framework(test: Any, provider: Any, window: int) -> None:
    agent = test.agent_of(provider, test.Folding(**{**test.options(), "window": window}))
    session = agent.create_session()

    async def work() -> None:
        for request in test.REQUESTS:
            await agent.run(request, session=session)

    asyncio.run(work())


FRAMEWORKS = (pydantic_ai, smolagents, agent_framework)


def spent(work: Any, window: int) -> list[Any]:
    """Requests, tokens sent, tokens of the largest request, and US dollars for the input, with the prompt cache."""
    test = import_module(f"test_{work.__name__}")
    provider = test.Provider(window=ENDLESS)
    work(test, provider, window)
    cost, before, price = 0.0, "", model(MODEL)
    for sent in provider.sent:
        cached = shared(before, sent.words) // 4
        cost += (sent.tokens - cached * (1 - price.cache_read)) * price.input / 1_000_000
        before = sent.words
    sizes = [sent.tokens for sent in provider.sent]
    return [len(sizes), sum(sizes), max(sizes), round(cost, 4)]


def shared(one: str, other: str) -> int:
    """With how many characters both begin."""
    return next((at for at, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))


def main() -> None:
    """Prints the table; with a framework's name alone, the figures of this environment."""
    first = sys.argv[1] if len(sys.argv) > 1 else ".integrations"
    known = {each.__name__: each for each in FRAMEWORKS}
    if first in known:
        sys.path += [str(TESTS), str(TESTS / "integrations")]
        work = known[first]
        print(json.dumps([spent(work, ENDLESS), spent(work, import_module(f"test_{first}").WINDOW)]))
        return
    print(f"{'':24}  {'requests':>8}  {'tokens sent':>12}  {'largest':>8}  {'input':>9}")
    for name in known:
        told = child([str(Path(first) / name / "bin" / "python"), __file__, name])
        rows = json.loads(told.out.strip().splitlines()[-1]) if not told.code else []
        for way, row in zip((f"{name}, without", f"{name}, with"), rows):
            print(f"{way:24}  {row[0]:>8}  {row[1]:>12,}  {row[2]:>8,}  {row[3]:>7.2f} $")
        if not rows:
            print(f"{name}: {told.err.strip().splitlines()[-1:] or 'not measured'}")


if __name__ == "__main__":
    main()
