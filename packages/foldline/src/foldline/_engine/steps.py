"""When which layer of a policy runs: its marks and targets for one budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from foldline._messages import Message
from foldline._policy import Budget, Layer, Policy, mark_of
from foldline._strategies import drop_media, hard_strategies
from foldline._strategies.replies import discard_cut_calls
from foldline._tokens.payload import bytes_of, images_of
from foldline._view import View
from foldline._wording import Wording

MANUAL_SHARE = 0.4
"""What a fold by hand brings a view down to, where its layer asks for no less."""

FRESH = 2_000
FRESH_SHARE = 0.2
"""What must have come since the last fold for another one by hand: tokens (at most a tenth of the limit), and the share
of what the view holds beside pins. A fold of what the last one kept would only forget."""

CAP_SHARE = 0.8
"""What media are brought down to once there are too many: the next ones find room, and the cache lives on."""


def tokens_in(view: View) -> int:
    """The size of a view in tokens."""
    return view.tokens


class Step(NamedTuple):
    """Strategies that run while the view is over `mark` by its `measure`, until it is down to `target`."""

    layer: Layer
    mark: int
    target: int
    measure: Callable[[View], int] = tokens_in
    unit: str = "tokens"


def caps(budget: Budget) -> list[Step]:
    """What keeps a request within the provider's caps on pictures and bytes, where there are any."""
    pictures = Step(_media(images_of), budget.images, 0, _sum(images_of), "images")
    payload = Step(_media(bytes_of), budget.bytes, 0, _sum(bytes_of), "bytes")
    return [step._replace(target=int(step.mark * CAP_SHARE)) for step in (pictures, payload) if step.mark]


def _sum(measure: Callable[[Message], int]) -> Callable[[View], int]:
    return lambda view: sum(measure(entry.message) for entry in view.entries)


def _media(measure: Callable[[Message], int]) -> Layer:
    return Layer("media", 1, CAP_SHARE, (drop_media(measure),), hard=True)


def layers(policy: Policy, budget: Budget, overhead: int) -> list[Step]:
    """A policy's layers in tokens of a view: each starts at its mark, or at the limit where that is lower.

    A mark that the limit lowers lowers its target as much: a fold makes as much room as it would have.
    """
    limit = budget.limit - overhead
    steps = []
    for layer in policy.layers:
        stated, aim = (mark_of(fill).of(budget, overhead) for fill in (layer.at, layer.to))
        mark = min(stated, limit)
        lowered = mark if mark == stated else round(mark * (aim + overhead) / (stated + overhead))
        steps.append(Step(layer, mark, max(0, min(aim, lowered))))
    return steps


def steps_for(policy: Policy, budget: Budget, overhead: int, made: int = 0) -> list[Step]:
    """What a full window asks for after `made` automatic compactions: the layers, then the caps.

    Where there may be no more, the layers that summarize are left out, unless no hard one would be left.
    """
    steps = layers(policy, budget, overhead)
    if policy.automatic.spent(made) and any(step.layer.hard for step in steps):
        steps = [step for step in steps if step.layer.kind != "summarize"]
    return [*steps, *caps(budget)]


def steps_ahead(policy: Policy, budget: Budget, overhead: int, tokens: int, ahead: float) -> list[Step]:
    """The soft layer whose summary should be written now, since its mark is less than `ahead` of the window away.

    None is where layers that ask no model start at the same mark before it: what they free may be enough.
    """
    steps = layers(policy, budget, overhead)
    pruned = {step.mark for step in steps[: policy.first] if step.layer.kind == "prune"}
    near = (s for s in steps if s.layer.kind == "summarize" and tokens > s.mark - ahead * budget.window)
    return [step._replace(mark=-1) for step in near if step.mark not in pruned][:1]


def steps_by_hand(policy: Policy, view: View, budget: Budget, overhead: int, since: int = 0) -> list[Step]:
    """What a user's own command runs: the first layer that summarizes, whatever the fill; then the caps.

    Of what the last fold left before the entry `since`, no other one is made until enough came behind it, unless the
    view is over its limit.
    """
    limit = budget.limit - overhead
    if view.tokens <= limit and _just_folded(view, since, min(FRESH, limit // 10)):
        return caps(budget)
    layer = next((layer for layer in policy.layers if layer.kind == "summarize"), policy.layers[-1])
    target = min(mark_of(layer.to).of(budget, overhead), round(view.tokens * MANUAL_SHARE))
    return [Step(layer, -1, max(0, target)), *caps(budget)]


def _just_folded(view: View, since: int, least: int) -> bool:
    """Whether a summary stands before the entry `since`, and too little behind it to be worth another one."""
    if not any(entry.message.summary for entry in view.entries[:since]):
        return False
    held, fresh = (sum(e.tokens for e in view.entries[at:] if not e.pinned) for at in (0, since))
    return fresh < max(least, FRESH_SHARE * held)


def step_discarding() -> Step:
    """What takes incomplete calls out of a history whose last reply was cut off."""
    return Step(Layer("discard", 1.0, 1.0, (discard_cut_calls(),), least=0), -1, 0)


def steps_within(max_tokens: int, wording: Wording | None = None, newest: int = 0) -> list[Step]:
    """What meets a hard budget for the messages of a view, its summary in the words that are given.

    What stands behind any cut has `newest` tokens of it, where it is known what it can have beside the summary.
    """
    tried = hard_strategies(newest, newest / max_tokens) if newest else hard_strategies(max_tokens // 4)
    layer = Layer("full", 1.0, 1.0, tried, hard=True, summary=wording or Wording())
    return [Step(layer, max_tokens, max_tokens)]
