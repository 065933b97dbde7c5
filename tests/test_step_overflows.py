"""Each text that says "too long", and each that only looks like it, met by an agent in the middle of its work."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from foldline import Compactor, step
from foldline._overflow import read
from test_lifecycle import WINDOW, Model, turns
from test_overflow import OTHERS, SIGNATURES


class Refused(Exception):
    """What a client raises for a reply that is none."""

    def __init__(self, body: object, status: int | None) -> None:
        super().__init__(body if isinstance(body, str) else f"Error code: {status}")
        self.body = body
        self.status_code = status


class Once(Model):
    """A model that refuses the first request with these words."""

    def __init__(self, body: object, status: int | None) -> None:
        super().__init__()
        self.refusal = Refused(body, status)

    def __call__(self, items: list[dict[str, Any]]) -> dict[str, Any]:
        if not self.sent:
            self.sent.append(items)
            raise self.refusal
        return super().__call__(items)


def history(tokens: int) -> list[dict[str, Any]]:
    """Requests and replies of about so many tokens together."""
    told, measured = turns(20), Compactor(window=1_000_000)
    while measured.fit(told) and measured.count.tokens < tokens:
        told += turns(5, len(told) // 2)
    return told


def smaller(body: object) -> Any:
    """The refusal with its numbers of six digits and more divided, so that a test need not make so long a history."""
    return json.loads(re.sub(r"\b\d{6,}\b", lambda number: str(int(number[0]) // 60), json.dumps(body)))


LONGEST = 12_000
"""Tokens of the longest history that is made for a refusal."""

REFUSALS = [
    (each.provider, body, found.tokens or 4_000)
    for each in SIGNATURES
    if (found := read(body := smaller(each.sample), status=400)) and (found.tokens or 0) <= LONGEST
]
LOOK_ALIKES = [each for each in OTHERS if each[2] != 200 and each[1]]


@pytest.mark.parametrize(("what", "body", "tokens"), REFUSALS, ids=[each[0] for each in REFUSALS])
def test_the_agent_goes_on(what: str, body: object, tokens: int) -> None:
    model, compactor, messages = Once(body, 400), Compactor(window=3 * tokens), history(tokens)
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
