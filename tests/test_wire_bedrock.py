"""Bedrock Converse, the dicts that boto3 and Strands speak: what only this format has."""

from __future__ import annotations

import base64
import json
import struct
from copy import deepcopy
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from botocore.validate import ParamValidator
from hypothesis import given
from hypothesis import strategies as st

from conversations import conversations
from foldline import CannotFit, Compactor, Message, Summary, Usage
from foldline import _wires as wire
from foldline._handoff.new_session import write_new
from foldline._overflow import read as read_overflow
from foldline.extend import Media, Opaque, Text, Thinking, ToolCall, ToolResult, replace, weigh

NAME = "bedrock-converse"
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", 560, 280) + b"\x08\x02\x00\x00\x00" + b"\x00" * 200

Item = dict[str, Any]


def read(*blocks: Item, role: str = "user") -> Message:
    return wire.decode({"role": role, "content": [*blocks]}, NAME)


def block(part: Any) -> Any:
    """The block that one part is written as."""
    (written,) = wire.encode(Message("user", (part,), format=NAME), NAME)["content"]
    return written


CITED = {"citationsContent": {"content": [{"text": "It grew "}, {"text": "by 5 %."}], "citations": []}}
GUARDED = {"guardContent": {"text": {"text": "My account?", "qualifiers": ["query"]}}}


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        ({"text": "hi"}, Text, "hi"),
        (GUARDED, Text, "My account?"),
        (CITED, Text, "It grew by 5 %."),
        ({"reasoningContent": {"reasoningText": {"text": "hm", "signature": "E"}}}, Thinking, "hm"),
    ],
)
def test_words_are_read_wherever_they_stand(given: Item, kind: type, said: str) -> None:
    (part,) = read(given).parts
    assert type(part) is kind
    assert part.text == said  # type: ignore[union-attr]


def test_calls_and_results() -> None:
    use = {"toolUse": {"toolUseId": "t1", "name": "read", "input": {"path": "a.py"}}}
    result = {"toolResult": {"toolUseId": "t1", "content": [{"json": {"lines": 3}}, {"text": "x"}], "status": "error"}}
    assert read(use, role="assistant").parts == (ToolCall("t1", "read", '{"path": "a.py"}'),)
    (part,) = read(result).parts
    assert isinstance(part, ToolResult)
    assert (part.call_id, part.error) == ("t1", True)
    assert [inner.text for inner in part.parts if isinstance(inner, Text)] == ['{"lines": 3}', "x"]


def test_sealed_reasoning_is_bytes_in_boto3_and_base64_in_files() -> None:
    for sealed in (b"sealed", base64.b64encode(b"sealed").decode()):
        item = {"reasoningContent": {"redactedContent": sealed}}
        (part,) = read(item, role="assistant").parts
        assert isinstance(part, Thinking)
        assert part.data == base64.b64encode(b"sealed").decode()
        assert block(part) == item
    assert block(Thinking("", None, part.data)) == {"reasoningContent": {"redactedContent": b"sealed"}}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"json": {"lines": 3}}, {"text": "a stub"}),
        (CITED, {"text": "a stub"}),
        (GUARDED, {"guardContent": {"text": {"text": "a stub", "qualifiers": ["query"]}}}),
        ({"text": "long"}, {"text": "a stub"}),
    ],
)
def test_what_an_edit_makes_of_words(given: Item, expected: Item) -> None:
    """Sources and JSON stand behind the very words only; what a guardrail looks at stays so."""
    if "json" in given:
        ((result),) = read({"toolResult": {"toolUseId": "t", "content": [given]}}).parts
        assert isinstance(result, ToolResult)
        stubbed = block(replace(result, parts=tuple(replace(part, text="a stub") for part in result.parts)))
        assert stubbed == {"toolResult": {"toolUseId": "t", "content": [expected]}}
    else:
        (part,) = read(given).parts
        assert block(replace(part, text="a stub")) == expected


def test_media_are_weighed_by_their_bytes() -> None:
    picture = read({"image": {"format": "png", "source": {"bytes": PNG}}})
    same = read({"image": {"format": "png", "source": {"bytes": base64.b64encode(PNG).decode()}}})
    assert weigh(picture, "claude3") == weigh(same, "claude3") == 4 + 20 * 10, "28-pixel patches of 560 by 280 pixels"
    video = read({"video": {"format": "mp4", "source": {"bytes": b"\x00" * 1_250_000}}})
    linked = read({"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://b/a.mp4"}}}})
    assert weigh(video) == pytest.approx(10 * 288, rel=0.01), "ten seconds of 1 Mbit/s"
    assert weigh(linked) > 10_000
    kinds = [part.kind for message in (picture, video) for part in message.parts if isinstance(part, Media)]
    assert kinds == ["image", "video"]


def test_bills() -> None:
    usage = {"inputTokens": 10, "outputTokens": 5, "totalTokens": 85, "cacheReadInputTokens": 60}
    assert wire.read_usage({"usage": {**usage, "cacheWriteInputTokens": 7}}) == Usage(10, 5, 60, 7)
    reply = {"output": {"message": {"role": "assistant", "content": [{"text": "x"}]}}, "stopReason": "max_tokens"}
    message, end = wire.read_reply(reply)
    assert (message.text, end) == ("x", "max_tokens")


def test_a_cache_point_that_moves_makes_no_other_message() -> None:
    def ids(history: list[Item]) -> list[str]:
        compactor = Compactor(format=NAME)
        compactor.fit(history)
        return [id for id, _ in compactor.messages()]

    plain = [{"role": "user", "content": [{"text": f"Request {n}"}]} for n in range(3)]
    marked = deepcopy(plain)
    marked[1]["content"].append({"cachePoint": {"type": "default"}})
    assert ids(marked) == ids(plain)


def test_neighbours_of_one_role_are_put_together() -> None:
    """A summary stands before a user's message: the API refuses two of one role, so they are one."""
    history: list[Item] = []
    compactor = Compactor(window=1_500, reserve=100, format=NAME)
    for turn in range(30):
        history.append({"role": "user", "content": [{"text": f"Request {turn}. " + "word " * 40}]})
        sent = compactor.fit(history)
        assert [item["role"] for item in sent] == (["user", "assistant"] * len(sent))[: len(sent)]
        history.append({"role": "assistant", "content": [{"text": f"Done {turn}. " + "word " * 40}]})
    assert compactor.folds
    summary, *kept = sent[0]["content"]
    assert "<summary>" in summary["text"]
    assert all(any(part is each for mine in history for each in mine["content"]) for part in kept)
    assert all(any(item is mine for mine in history) for item in sent[1:])


def test_messages_of_other_formats_are_said_here() -> None:
    message = Message("assistant", (Text("hi"), Thinking("hm"), ToolCall("t", "f", '{"a": 1}')), format="openai-chat")
    assert wire.encode(message, NAME) == {
        "role": "assistant",
        "content": [{"text": "hi"}, {"toolUse": {"toolUseId": "t", "name": "f", "input": {"a": 1}}}],
    }
    assert wire.encode(Message("user", (Summary("s"),)), NAME)["content"][0]["text"].startswith("<summary>")
    picture = Message("user", (Media("image", {"type": "image_url", "image_url": {"url": "u"}}),), format="openai-chat")
    assert wire.encode(picture, NAME)["content"] == [{"text": "[image]"}]


def test_bytes_are_base64_in_a_file(tmp_path: Path) -> None:
    item = {"role": "user", "content": [{"text": "see"}, {"image": {"format": "png", "source": {"bytes": PNG}}}]}
    path = tmp_path / "new.json"
    write_new(wire.decode_all([item], NAME), NAME, str(path))
    item["content"][1]["image"]["source"]["bytes"] = base64.b64encode(PNG).decode()
    assert json.loads(path.read_text()) == [item]


# -- judged by Amazon's own client --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shape() -> Any:
    """What the client checks messages against before it sends them."""
    keys = {"aws_access_key_id": "none", "aws_secret_access_key": "none", "region_name": "us-east-1"}
    client = boto3.client("bedrock-runtime", **keys)
    return client.meta.service_model.operation_model("Converse").input_shape.members["messages"]


def known(item: Item) -> Item:
    """An item without the blocks that are too new for this client."""
    blocks = [deepcopy(each) for each in item["content"] if "hologram" not in each]
    for result in (each["toolResult"] for each in blocks if "toolResult" in each):
        result["content"] = [each for each in result["content"] if "hologram" not in each]
    return {**item, "content": blocks}


@given(data=st.data())
def test_the_client_takes_what_is_handed_out(shape: Any, data: st.DataObject) -> None:
    talk = data.draw(conversations(NAME, turns=4))
    compactor = Compactor(window=data.draw(st.sampled_from((1_500, 3_000))), reserve=100, format=NAME)
    for stop in talk.stops:
        try:
            sent = compactor.fit(talk.items[:stop])
        except CannotFit:
            continue
        report = ParamValidator().validate([known(item) for item in sent], shape)
        assert not report.has_errors(), report.generate_report()
    assert all(not isinstance(p, Opaque) or "hologram" in p.source for _, m in compactor.messages() for p in m.parts)


def test_its_refusals_are_known() -> None:
    said = {"Code": "ValidationException", "Message": "prompt is too long: 208310 tokens > 200000 maximum"}
    found = read_overflow(ClientError({"Error": said}, "Converse"))
    assert found is not None
    assert (found.tokens, found.limit) == (208_310, 200_000)
    wordless = {"Code": "ValidationException", "Message": "Input is too long for requested model."}
    history = [{"role": "user", "content": [{"text": f"Request {n}. " + "word " * 50}]} for n in range(20)]
    compactor = Compactor("us.anthropic.claude-sonnet-4-5-20250929-v1:0", format=NAME)
    before = compactor.fit(history)
    assert len(compactor.recover(ClientError({"Error": wordless}, "Converse"), history)) < len(before)
