"""A request within its tokens is still refused with too many pictures or bytes: both are budgets of their own."""

from __future__ import annotations

import base64
import struct
from typing import Any

import pytest

from foldline import CannotFit, Compactor, Layer
from foldline.extend import Model, model, policy, replace, summarize_older

Item = dict[str, Any]

CLAUDE = model("claude-sonnet-4-5")
PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 480)


def picture(size: int = 300) -> Item:
    data = base64.b64encode(PNG + bytes(size)).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def shots(count: int, size: int = 300) -> list[Item]:
    """An agent that looks at the screen again and again."""
    history: list[Item] = [{"role": "user", "content": "Click through the shop until the invoice shows."}]
    for i in range(count):
        call = {"type": "tool_use", "id": f"t{i}", "name": "screenshot", "input": {"page": i}}
        result = {"type": "tool_result", "tool_use_id": f"t{i}", "content": [picture(size)]}
        history += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return history


def pictures(history: list[Item]) -> list[Item]:
    """The pictures in a history, those in tool results included."""
    blocks = [block for item in history if isinstance(item["content"], list) for block in item["content"]]
    inner = [b for block in blocks if isinstance(block.get("content"), list) for b in block["content"]]
    return [block for block in blocks + inner if block["type"] == "image"]


def payload(history: list[Item]) -> int:
    return sum(len(p["source"]["data"]) for p in pictures(history))


def capped(**caps: int) -> Model:
    return replace(CLAUDE, max_bytes=caps.get("bytes", 0), max_images=caps.get("images", 0))


def test_the_caps_are_the_providers() -> None:
    budget = Compactor(CLAUDE).budget
    assert (budget.bytes, budget.images) == (32_000_000, 100)


def test_up_to_the_cap_nothing_is_touched() -> None:
    history = shots(100)
    assert Compactor(CLAUDE).fit(history) == history


def test_too_many_pictures_make_way_from_the_oldest_on() -> None:
    history = shots(101)
    compactor = Compactor(CLAUDE)
    sent = compactor.fit(history)
    kept = pictures(sent)
    assert len(kept) == 80
    assert all(a is b for a, b in zip(reversed(kept), reversed(pictures(history))))
    assert len(sent) == len(history)
    (fold,) = compactor.folds
    assert fold.layer == "media"


def test_the_line_in_its_place_says_what_it_was_and_how_to_get_it_back() -> None:
    history = shots(3)
    compactor = Compactor(capped(images=2))
    sent = compactor.fit(history)
    line = sent[2]["content"][0]["content"]
    assert "640×480" in line
    id = line.rpartition("recall ")[2].rstrip("]")
    message = compactor.recall(id)
    assert message is not None
    assert next(message.results).parts[0].source == picture()


def test_what_was_taken_out_stays_out_until_there_are_too_many_again() -> None:
    compactor = Compactor(CLAUDE)
    for count in (101, 110, 120):
        sent = compactor.fit(shots(count))
        assert len(compactor.folds) == 1
    assert len(pictures(sent)) == 99
    sent = compactor.fit(shots(122))
    assert len(compactor.folds) == 2
    assert len(pictures(sent)) == 80


def test_too_many_bytes_within_few_tokens() -> None:
    history = shots(12, size=30_000)
    cap = payload(history) // 2
    compactor = Compactor(capped(bytes=cap))
    sent = compactor.fit(history)
    assert 0 < payload(sent) <= cap
    assert compactor.count.tokens < 12_000


def test_pictures_in_one_message_give_one_by_one() -> None:
    words = {"type": "text", "text": "Which of these is the invoice?"}
    history = [{"role": "user", "content": [words, *(picture() for _ in range(10))]}]
    sent = Compactor(capped(images=5)).fit(history)
    assert len(pictures(sent)) == 4
    assert sent[0]["content"][0] == words


def test_documents_and_sounds_weigh_as_bytes() -> None:
    data = base64.b64encode(b"%PDF-1.4" + bytes(60_000)).decode()
    document = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": data}}
    history = [{"role": "user", "content": [document, {"type": "text", "text": "Read this."}]}]
    history += [{"role": "assistant", "content": "It is an invoice."}, {"role": "user", "content": "And now?"}]
    sent = Compactor(capped(bytes=50_000)).fit(history)
    assert "document" in sent[0]["content"][0]["text"]
    assert sent[1:] == history[1:]


def test_pinned_pictures_that_cannot_give_are_named() -> None:
    history = shots(6)
    compactor = Compactor(capped(images=5), pinned=lambda message: True)
    with pytest.raises(CannotFit) as raised:
        compactor.fit(history)
    assert (raised.value.tokens, raised.value.limit, raised.value.unit) == (6, 5, "images")
    assert "images" in str(raised.value)


def test_a_request_that_was_too_large_loses_media_and_no_words() -> None:
    history = shots(12, size=30_000)
    compactor = Compactor(capped())
    compactor.fit(history)
    error = {"error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}
    sent = compactor.recover(error, history)
    assert payload(sent) <= 0.7 * payload(history)
    assert len(sent) == len(history)
    grown = [*history, *shots(2, size=30_000)[1:]]
    assert payload(compactor.fit(grown)) <= 0.7 * payload(history)


def test_a_request_that_was_too_large_without_media_is_folded() -> None:
    history = [
        {"role": role, "content": f"{i}: " + "words " * 400} for i in range(20) for role in ("user", "assistant")
    ]
    compactor = Compactor(capped())
    compactor.fit(history)
    sent = compactor.recover({"error": {"message": "413 Request Entity Too Large"}}, history)
    assert sum(len(str(item)) for item in sent) < 0.75 * sum(len(str(item)) for item in history)


def test_a_fold_by_hand_respects_the_caps_too() -> None:
    sent = Compactor(capped(images=5)).fold(shots(8))
    assert len(pictures(sent)) <= 5


def test_caps_that_are_far_do_not_put_off_the_layers() -> None:
    talk = [{"role": role, "content": f"{i}: " + "words " * 200} for i in range(40) for role in ("user", "assistant")]
    counted = Compactor(capped(), window=10_000_000)
    counted.fit(talk)
    summarizing = policy("summarizing", [Layer("summarize", 0.88, 0.4, (summarize_older(keep=1_000),))])
    window = round(counted.count.tokens / 0.885)
    compactor = Compactor(capped(bytes=10**9, images=100), window=window, reserve=0, policy=summarizing)
    compactor.fit(talk[:-1])
    assert not compactor.folds
    compactor.fit(talk)
    assert compactor.folds
