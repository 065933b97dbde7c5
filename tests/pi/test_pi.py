"""How two versions of the real pi client read sessions; `facts.json` keeps the answers for when pi is not there."""

import json
import os
from pathlib import Path

import pytest
from pi_cases import CASES, ENDLESS, write
from pi_client import HERE, INSTALLED, PACKAGES, line, pi_messages, pi_reads, pi_running, plain

from foldline._sessions.busy import opened_elsewhere

FACTS = HERE / "facts.json"
SAMPLE = HERE.parents[1] / "samples" / "invoices.jsonl"
needs_pi = pytest.mark.skipif(not INSTALLED, reason="PI_PACKAGES does not hold pi (see install.sh)")


def told(out: dict) -> dict:
    """Reduce one answer of `context.mjs` to a fact: ids made up during a migration are left out."""
    if "error" in out:
        return {"error": out["error"]}
    messages = [line(plain(message)) for message in out["messages"]]
    sent = [line(plain(message)) for message in out["sent"]] if "sent" in out else out["sendError"]
    fact = {"messages": messages} if sent == messages else {"messages": messages, "sent": sent}
    return {**fact, "rewritten": True} if out["rewritten"] else fact


def ask(folder: Path) -> dict[str, dict[str, dict]]:
    """Ask both versions about every case that ends."""
    names = [name for name in CASES if name not in ENDLESS]
    files = [write(CASES[name], folder / f"{name}.jsonl") for name in names]
    answers = {version: [told(out) for out in pi_reads(version, files)] for version in PACKAGES}
    return {name: {version: answers[version][at] for version in PACKAGES} for at, name in enumerate(names)}


@needs_pi
def test_pi_reads_as_recorded(tmp_path):
    facts = ask(tmp_path)
    if os.environ.get("PI_RECORD"):
        rows = (f"{json.dumps(name)}: {json.dumps(fact)}" for name, fact in facts.items())
        FACTS.write_text("{\n" + ",\n".join(rows) + "\n}\n")
    assert facts == json.loads(FACTS.read_text())


def test_a_fact_for_every_case():
    assert list(json.loads(FACTS.read_text())) == [name for name in CASES if name not in ENDLESS]


@needs_pi
@pytest.mark.skipif(not Path("/proc/self/comm").exists(), reason="only Linux tells what runs where")
@pytest.mark.parametrize("version", PACKAGES)
def test_a_running_pi_is_seen_by_its_directory(version, tmp_path):
    session = tmp_path / "session.jsonl"
    session.write_text(json.dumps({"type": "session", "version": 3, "id": "s1", "cwd": str(tmp_path)}) + "\n")
    with pi_running(version, tmp_path) as pid:
        assert opened_elsewhere(session) == [pid]
    assert opened_elsewhere(session) == []


@needs_pi
def test_versions_agree_on_the_sample():
    """The sample differs only in the system messages, which the older version leaves out."""
    old, new = (pi_messages(version, SAMPLE) for version in PACKAGES)
    assert old == [message for message in new if message["role"] != "system"]
    assert len(old) > 150
