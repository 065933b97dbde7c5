"""A session of `foldline chat` is one of pi's: both versions build from it what the agent goes on from."""

from pathlib import Path

import pytest
from pi_client import INSTALLED, PACKAGES, pi_reads

pytestmark = pytest.mark.skipif(not INSTALLED, reason="pi is not installed: make pi")


@pytest.mark.parametrize("version", PACKAGES)
def test_pi_goes_on_from_a_session_that_the_agent_folded(version: str, tmp_path: Path) -> None:
    from chatting import agent_in, ran  # with pydantic-ai, which is not asked for where pi is not installed

    agent = agent_in(tmp_path, window=5_000)
    for part in range(1, 8):
        ran(agent.run(f"Write part {part}."))
    assert agent.session.folds()
    (read,) = pi_reads(version, [Path(agent.session.path)])
    assert read["model"] == {"provider": "test", "modelId": "scripted"}
    assert len(read["sent"]) == len(agent.session.context.messages)
    said = [
        m["content"][0]["text"] for m in read["sent"] if m["role"] == "assistant" and m["content"][0]["type"] == "text"
    ]
    assert said == [m.text for m in agent.session.context.messages if m.role == "assistant"]
    assert agent.session.context.messages[0].text in read["sent"][0]["content"][0]["text"]
    assert not read["rewritten"]
