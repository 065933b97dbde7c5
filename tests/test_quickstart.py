"""The first lines that anybody tries: the examples of the README and of `help(foldline)` run as they stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import foldline
from strict import Strict

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")
WINDOW = 200_000


def first_example(text: str) -> str:
    return text.partition("```python\n")[2].partition("```")[0]


def run(call: Any) -> str:
    return f"{call.function.name}: 12 lines"


def results_of(reply: Any) -> list[Any]:
    uses = [block for block in reply.content if block.type == "tool_use"]
    return [{"type": "tool_result", "tool_use_id": use.id, "content": "12 lines"} for use in uses]


@pytest.mark.parametrize(
    ("text", "key", "path"),
    [(README, "OPENAI", "/v1"), (foldline.__doc__, "ANTHROPIC", "")],
    ids=["README", "help(foldline)"],
)
def test_the_example_runs(text: str, key: str, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Strict(WINDOW) as provider:
        monkeypatch.setenv(f"{key}_API_KEY", "none")
        monkeypatch.setenv(f"{key}_BASE_URL", provider.provider.root + path)
        names: dict[str, Any] = {"TOOLS": [], "run": run, "results_of": results_of}
        exec(compile(first_example(text), "example", "exec"), names)
        assert provider.refused == []
        assert provider.turns == provider.steps, "it calls tools until the model is done"
    assert len(names["messages"]) == 2 * provider.steps
    assert names["compactor"].count.tokens > 0
