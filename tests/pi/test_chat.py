"""`foldline chat` beside both versions of pi: they build from its session what it goes on from, and their own RPC clients drive it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pi_client import HERE, INSTALLED, NODE, PACKAGES, pi_reads

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


@pytest.mark.parametrize("version", PACKAGES)
def test_the_client_of_pi_drives_it(version: str, tmp_path: Path) -> None:
    session = tmp_path / "session.jsonl"
    agent = [sys.executable, "-c", "from foldline_agent.command import chat; chat()", "--rpc", "--yes"]
    options = ["--model", "test", "--window", "12000", "--session", str(session)]
    command = [NODE, str(HERE / "rpc.mjs"), str(PACKAGES[version]), *agent, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120, cwd=tmp_path)
    told = json.loads(done.stdout)
    assert told["kinds"].count("tool_execution_end") == 16
    assert "compaction_end" in told["kinds"]
    assert told["folded"]["tokensBefore"] > told["folded"]["estimatedTokensAfter"]
    assert told["stats"]["toolResults"] == 16
    assert told["stats"]["contextUsage"]["contextWindow"] == 12_000
    assert told["state"]["autoCompactionEnabled"] is False
    assert told["messages"][0]["role"] == "compactionSummary"
    assert told["last"] == "ledger/part_4.py is done: it prints 3280."
