"""foldline builds the messages that the real pi builds, from what pi wrote and from what foldline wrote."""

import json
import shutil

import pytest
from pi_cases import CASES, ENDLESS, write
from pi_client import HERE, INSTALLED, line, pi_messages

from foldline import Layer, Message, Session, SessionError, Summary
from foldline import _policy as policy
from foldline._engine.driving import run
from foldline._engine.folding import folding
from foldline._engine.steps import Step, steps_by_hand
from foldline._fold import Occasion
from foldline._policies import preset
from foldline._sessions.pi.dialect import SUMMARY_PREFIX, SUMMARY_SUFFIX
from foldline.extend import Text, ToolCall, extract, prune_tool_outputs

FACTS = json.loads((HERE / "facts.json").read_text())
SAMPLE = HERE.parents[1] / "samples" / "invoices.jsonl"
CORPUS = sorted((HERE.parents[2] / "shared" / "corpus").glob("**/pi/*.jsonl"))
needs_pi = pytest.mark.skipif(not INSTALLED, reason="PI_PACKAGES does not hold pi (see install.sh)")


def ours(message: Message) -> dict:
    """A message of foldline in the plain form that `pi_client.plain` gives."""
    result = next(message.results, None)
    texts = [p.text for p in (result.parts if result else message.parts) if isinstance(p, Text)]
    texts += [SUMMARY_PREFIX + p.text + SUMMARY_SUFFIX for p in message.parts if isinstance(p, Summary)]
    calls = [
        {"id": p.id, "name": p.name, "arguments": json.loads(p.arguments)}
        for p in message.parts
        if isinstance(p, ToolCall)
    ]
    role = "toolResult" if result else message.role
    return {"role": role, "text": "\n".join(texts), "calls": calls, "call_id": result.call_id if result else None}


def built(path) -> list[dict]:
    return [ours(message) for message in Session(path).view().messages]


def fold(session: Session, *layers: Layer) -> None:
    """Folds by hand, or with one layer from a mark of nothing."""
    meter = session.meter()
    before = session.view(meter)
    steps = [Step(layer, -1, 0) for layer in layers] or steps_by_hand(
        preset("default"), before, policy.budget(200_000), meter.overhead
    )
    occasion = Occasion("manual", ratio=meter.ratio, overhead=meter.overhead)
    made = run(folding(before, steps, occasion), extract)
    session.fold(before, *made, meter)


PRUNE = Layer("prune", 1, 1, (prune_tool_outputs(protect=3_000, minimum=0),))


@pytest.mark.parametrize("name", [name for name in CASES if name not in ENDLESS])
def test_reads_as_pi_does(name, tmp_path):
    """Every recorded case; where pi loses history to damage, foldline bridges it, and says so."""
    path = write(CASES[name], tmp_path / "session.jsonl")
    fact = FACTS[name]["0.87"]
    try:
        session = Session(path)
    except SessionError:
        assert "error" in fact or fact["messages"] == []
        return
    mine = [line(ours(message)) for message in session.view().messages]
    if not session.faults and "error" not in fact:
        assert mine == fact["messages"]


@pytest.mark.parametrize("name", sorted(ENDLESS))
def test_ends_where_pi_does_not(name, tmp_path):
    assert Session(write(CASES[name], tmp_path / "session.jsonl")).view().messages


@needs_pi
@pytest.mark.parametrize("path", [SAMPLE, *CORPUS], ids=lambda path: path.stem[-12:])
def test_builds_what_pi_builds(path, tmp_path):
    copy = tmp_path / "session.jsonl"
    shutil.copyfile(path, copy)
    if any("damaged" in fault.what for fault in Session(copy).faults):
        pytest.skip("pi loses what hangs on a damaged line")
    assert built(copy) == pi_messages("0.87", copy)


@needs_pi
@pytest.mark.parametrize("layers", [(), (PRUNE,), (PRUNE, PRUNE)], ids=["summary", "pruned", "both"])
@pytest.mark.parametrize("version", ["0.73", "0.87"])
def test_a_folded_session_opens_in_pi(version, layers, tmp_path):
    """Folded, folded again behind new messages, on a branch of its own, and undone."""
    path = tmp_path / "session.jsonl"
    dialect(version, path)
    session = Session(path)
    start = built(path)
    fold(session, *layers[:1])
    assert built(path) != start
    assert built(path) == pi_messages(version, path)
    session.append(Message("user", (Text("and now?"),)))
    session.append(Message("assistant", (Text("Now the rest."),)))
    fold(session)
    assert built(path) == pi_messages(version, path)
    branch(path, session.view().entries[-4].id)
    assert built(path) == pi_messages(version, path)
    fold(Session(path), PRUNE)
    assert built(path) == pi_messages(version, path)
    session = Session(path)
    while session.undo():
        assert built(path) == pi_messages(version, path)
    assert built(path)[: len(start) // 2] == start[: len(start) // 2]


def dialect(version: str, path) -> None:
    """The sample as that version of pi would have written it: the older one stores no system messages."""
    lines = [json.loads(text) for text in SAMPLE.read_text().splitlines()]
    if version == "0.73":
        gone = {r["id"]: r["parentId"] for r in lines if r.get("message", {}).get("role") == "system"}
        lines = [r for r in lines if r.get("id") not in gone]
        lines = [{**r, "parentId": gone[r["parentId"]]} if r.get("parentId") in gone else r for r in lines]
    path.write_text("".join(json.dumps(r) + "\n" for r in lines))


def branch(path, parent: str) -> None:
    """A second child of an entry, as pi's own tree navigation leaves it."""
    message = {"role": "user", "content": [{"type": "text", "text": "try it the other way"}], "timestamp": 1}
    record = {"type": "message", "id": "b7a9c400", "parentId": parent, "timestamp": "2026-01-01T00:00:00.000Z"}
    with path.open("a") as file:
        file.write(json.dumps({**record, "message": message}) + "\n")
