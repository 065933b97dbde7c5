"""Each text that says "too long", and each that only looks like it, met by an agent in the middle of its work."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from foldline import Compactor, step
from foldline._overflow import read
from test_lifecycle import WINDOW, Model, turns
from test_overflow import OTHERS, SIGNATURES, TOO_LONG

HANDED_OUT = {"choices", "delta", "response", "stop_reason"}
"""The keys of what a client hands out as a reply, or as the event that holds one; for anything else it raises."""


class Refused(Exception):
    """What a client raises for a reply that is none."""

    def __init__(self, body: object, status: int | None) -> None:
        super().__init__(body if isinstance(body, str) else f"Error code: {status}")
        self.body = body
        self.status_code = status


class Once(Model):
    """A model that answers the first request with these words: by an error, or by a reply where it says that they are one."""

    def __init__(self, body: Any, status: int | None) -> None:
        super().__init__()
        self.refusal = Refused(body, status)

    def __call__(self, items: list[dict[str, Any]]) -> dict[str, Any]:
        if self.sent:
            return super().__call__(items)
        self.sent.append(items)
        body = self.refusal.body
        if isinstance(body, dict) and self.refusal.status_code == 200 and HANDED_OUT & body.keys():
            return body.get("response", body) if "type" in body else body
        raise self.refusal


def history(tokens: int) -> list[dict[str, Any]]:
    """Requests and replies of about so many tokens together."""
    told, measured = turns(20), Compactor(window=1_000_000)
    while measured.fit(told) and measured.count.tokens < tokens:
        told += turns(5, len(told) // 2)
    return told


LONGEST = 5_000
"""Tokens of the longest history that is made for a refusal."""


def smaller(body: Any) -> tuple[Any, int]:
    """A refusal and the tokens that it says were sent, all its large numbers divided by one so that these are not too many."""
    found = read(body, status=400)
    sent = (found.tokens if found else None) or 4_000
    by = -(-sent // LONGEST)
    plain = body if isinstance(body, str) else json.dumps(body)
    less = re.sub(r"\b\d{1,3}(?:,\d{3})+\b|\b\d{4,}\b", lambda each: str(int(each[0].replace(",", "")) // by), plain)
    shrunk = plain if by == 1 else less
    return (shrunk if isinstance(body, str) else json.loads(shrunk)), sent // by


REFUSALS = [
    *((what, body, status) for what, body, status, *_ in TOO_LONG),
    *((s.provider, s.sample, 400) for s in SIGNATURES),
]
LOOK_ALIKES = [each for each in OTHERS if each[2] != 200 and each[1] is not None]
REPLIES = [each for each in OTHERS if each[2] == 200 and isinstance(each[1], dict)]


@pytest.mark.parametrize(("what", "body", "status"), REFUSALS, ids=[each[0] for each in REFUSALS])
def test_the_agent_goes_on(what: str, body: object, status: int | None) -> None:
    shrunk, tokens = smaller(body)
    model, compactor, messages = Once(shrunk, status), Compactor(window=3 * tokens), history(tokens)
    reply = step(compactor, messages, model)
    assert reply["choices"][0]["message"]["content"] == "Fine."
    first, again = model.sent
    assert len(again) < len(first) == len(messages)
    assert again[-1] is messages[-1]
    assert [fold.trigger for fold in compactor.folds] == ["overflow"]


@pytest.mark.parametrize(("what", "body", "status"), LOOK_ALIKES, ids=[each[0] for each in LOOK_ALIKES])
def test_nothing_is_folded_for_what_looks_like_it(what: str, body: object, status: int | None) -> None:
    model, compactor = Once(body, status), Compactor(window=WINDOW)
    with pytest.raises(Refused) as raised:
        step(compactor, turns(40), model)
    assert raised.value is model.refusal
    assert (compactor.folds, len(model.sent), compactor.budget.window) == ([], 1, WINDOW)


@pytest.mark.parametrize(("what", "body", "status"), REPLIES, ids=[each[0] for each in REPLIES])
def test_nothing_is_folded_for_a_reply_that_talks_about_it(what: str, body: object, status: int | None) -> None:
    model, compactor = Once(body, status), Compactor(window=WINDOW)
    assert step(compactor, turns(40), model) is body
    assert (compactor.folds, len(model.sent), compactor.budget.window) == ([], 1, WINDOW)
