"""Summaries by Gemini over Google's own client: its settings, its errors, and the ways in which its replies end."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from foldline import Brief, Message, SummaryFailed
from foldline.extend import Draft, Text
from providers import Provider, Reply, calls_a_tool, says, sends, status
from test_model_summaries import GOOD, by, folded, talk

pytest.importorskip("google.genai")

MODEL = "google:gemini-2.5-flash"


def asked(provider: Provider, **more: Any) -> Draft:
    return asyncio.run(by(provider, MODEL, **more)(Brief(500), [Message("user", (Text("Hi."),))]))


def error(code: int, name: str, message: str, **details: Any) -> dict[str, Any]:
    """An error as Google's APIs tell it, with one detail of the kind that its fields are of."""
    kind = "RetryInfo" if "retryDelay" in details else "QuotaFailure" if "violations" in details else "ErrorInfo"
    detail = {"@type": f"type.googleapis.com/google.rpc.{kind}", **details}
    return {"error": {"code": code, "message": message, "status": name, "details": [detail]}}


def exhausted(**details: Any) -> dict[str, Any]:
    return error(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", **details)


A_DAY = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}
A_MINUTE = {"violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]}


def test_the_settings_arrive_in_its_own_words() -> None:
    with Provider(says(GOOD)) as provider:
        asked(provider, temperature=0.7, max_tokens=777, instructions="Keep ticket numbers.")
    body = provider.requests[0].body
    assert (body["generationConfig"]["temperature"], body["generationConfig"]["maxOutputTokens"]) == (0.7, 777)
    assert "Keep ticket numbers." in body["systemInstruction"]["parts"][0]["text"]
    assert "tools" not in body


@pytest.mark.parametrize(
    "hiccup",
    [
        status(429, exhausted(retryDelay="0.01s")),
        status(429, exhausted(**A_MINUTE)),
        status(500, error(500, "INTERNAL", "An internal error has occurred.")),
        status(503, error(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")),
        sends(error(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")),
    ],
    ids=["429 with RetryInfo", "429 of a minute", "500", "503", "503 in mid-stream"],
)
def test_an_error_that_passes_is_tried_again(hiccup: Reply) -> None:
    with Provider(hiccup, says(GOOD)) as provider:
        assert asked(provider).text == GOOD
    assert len(provider.requests) == 2


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (status(429, exhausted(retryDelay="3600s")), "HTTP 429: You exceeded"),
        (status(429, exhausted(**A_DAY)), "HTTP 429: You exceeded"),
        (status(400, error(400, "INVALID_ARGUMENT", "API key not valid.", reason="API_KEY_INVALID")), "key not valid"),
        (status(403, error(403, "PERMISSION_DENIED", "The caller does not have permission")), "HTTP 403: The caller"),
    ],
    ids=["429 and a long wait", "429 of a day", "a wrong key", "403"],
)
def test_an_error_that_stays_is_told_at_once(reply: Reply, words: str) -> None:
    with Provider(reply, says(GOOD)) as provider, pytest.raises(SummaryFailed, match=words):
        asked(provider)
    assert len(provider.requests) == 1


def test_less_is_asked_where_it_counted_too_many_tokens() -> None:
    said = "The input token count (21000) exceeds the maximum number of tokens allowed (16000)."
    too_long = status(400, error(400, "INVALID_ARGUMENT", said))
    _, shown, provider = folded(too_long, says(GOOD), history=talk(60), model=MODEL)
    assert "A stack was chosen" in shown
    sizes = [len(request.material) for request in provider.requests]
    assert len(sizes) == 2
    assert sizes[1] < sizes[0] / 2


BLOCKED = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "responseId": "r1"}


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        (says(GOOD, stop="length"), "cut off"),
        (says(GOOD, stop=""), "cut off"),
        (says(GOOD, stop="LANGUAGE"), "cut off"),
        (says("", stop="refusal"), "a refusal"),
        (says(GOOD, stop="refusal"), "cut off by a refusal"),
        (sends(BLOCKED), "a refusal"),
        (says("", thinking="Hm, let me see."), "thinking alone"),
        (says("", stop="MALFORMED_FUNCTION_CALL"), "empty"),
        (calls_a_tool, "a tool call"),
    ],
    ids=[
        "MAX_TOKENS",
        "no end",
        "LANGUAGE",
        "SAFETY",
        "SAFETY late",
        "blocked",
        "thoughts",
        "malformed call",
        "a call",
    ],
)
def test_a_reply_that_did_not_end_well_is_no_summary(reply: Reply, fault: str) -> None:
    compactor, shown, _ = folded(reply, model=MODEL)
    assert any(fault in failure for failure in compactor.folds[0].receipt.failures)
    assert "A stack was chosen" not in shown
    assert "Never touch config/prod.toml." in shown


def test_thoughts_are_billed_as_output_and_stand_in_no_summary() -> None:
    with Provider(says(GOOD, thinking="Hm, let me see.")) as provider:
        draft = asked(provider)
    assert draft.text == GOOD
    assert draft.usage is not None
    assert (draft.usage.prompt, draft.usage.output) == (1000, 50)
    assert draft.cost == pytest.approx((600 * 0.30 + 400 * 0.03 + 50 * 2.50) / 1e6)
