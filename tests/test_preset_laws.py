"""Every preset keeps the laws: what is handed out is valid, pins and what is untouched stay, and nothing is destroyed."""

from __future__ import annotations

from typing import Any

import hypothesis
import pytest
from hypothesis import Phase, given
from hypothesis import strategies as st

from conversations import conversations
from foldline import Compactor, Skipped
from foldline._policies import names
from foldline.extend import preset
from provider_rules import check_valid
from talk import runs, says, user
from test_page import ORDERS
from test_properties import (
    MODELS,
    SUMMARIZERS,
    Setting,
    everything_folded_can_be_recalled,
    pins_stay_byte_for_byte,
    steps,
    what_is_untouched_is_the_same_object_and_nothing_grows,
)

USER_FIRST = ("anthropic", "gemini", "bedrock-converse")
FORMATS = ("openai-chat", "openai-responses", *USER_FIRST)
"""What takes a user's message first alone, and what takes the assistant's as well, which the step loop's summary is."""


@pytest.mark.parametrize("name", ["claude-code", "codex", "opencode", "step", "goat", "amp"])
@hypothesis.settings(max_examples=8, phases=(Phase.generate,))
@given(data=st.data())
def test_a_preset_keeps_the_laws(name: str, data: st.DataObject) -> None:
    format = data.draw(st.sampled_from(USER_FIRST if name == "step" else FORMATS))
    talk = data.draw(conversations(format))
    windows, writers, models = map(st.sampled_from, ((1_500, 2_500, 4_000), SUMMARIZERS, MODELS))
    setting = Setting(data.draw(windows), preset(name), data.draw(writers), data.draw(models))
    heard: list[Any] = []
    compactor = setting.compactor(format, heard)
    for step in steps(talk, compactor, heard):
        check_valid(step.history, step.sent)
        what_is_untouched_is_the_same_object_and_nothing_grows(talk, step)
        pins_stay_byte_for_byte(talk, step)
    assert [event for event in heard if isinstance(event, Skipped)] == []
    if name not in ("opencode", "goat"):  # what follows up or is acknowledged there is nobody's, and not recalled
        everything_folded_can_be_recalled(talk, compactor)


@pytest.mark.parametrize("name", names())
def test_in_a_small_window_too_the_rules_and_what_the_user_said_last_are_in_every_request(name: str) -> None:
    compactor, messages, parts = Compactor(window=2_000, policy=name), [], 0
    for number, order in enumerate(ORDERS):
        request = f"Thanks, that was number {number}. Now list all that part_{number * 3} reads. {order}"
        messages.append(user(request))
        for _ in range(4):
            sent = "\n".join(message.text for message in compactor.fit(messages))
            assert [words for words in (*ORDERS[: number + 1], request) if words not in sent] == []
            parts += 1
            messages += runs("cat", f"part_{parts}", f"part_{parts} reads setting_{parts}.\n" * 60, id=f"call_{parts}")
        compactor.fit(messages)
        messages.append(says(f"It is in part_{parts}: it reads the setting, see above."))
    assert len(compactor.folds) > 2


@pytest.mark.parametrize("name", names())
def test_an_output_that_fills_a_small_window_costs_no_rule(name: str) -> None:
    compactor, messages, parts = Compactor(window=2_500, policy=name), [], 0
    for number, order in enumerate(ORDERS[:8]):
        messages.append(user(f"Now list what part_{number * 4} reads, and say who wrote it and when. {order}"))
        for lines in (4, 90, 8, 300):
            parts += 1
            output = "".join(
                f"part_{parts} reads setting_{parts}_{line} of depot {line % 7}\n" for line in range(lines)
            )
            messages += runs("cat", f"part_{parts}", output, id=f"call_{parts}")
            sent = "\n".join(message.text for message in compactor.fit(messages))
            assert [words for words in ORDERS[: number + 1] if words not in sent] == []
        messages.append(says(f"It is in part_{parts}: it reads the settings of seven depots, see above."))
    assert len(compactor.folds) > 2
