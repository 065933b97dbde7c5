"""What fills a session, what a fold would keep, and what each layer would free."""

from __future__ import annotations

from foldline._clipping import one_line
from foldline._desk.desk import Desk
from foldline._errors import CannotFit
from foldline._fold import Fold
from foldline._messages import Message, ToolResult, Value
from foldline._policy import Layer, Policy
from foldline._tokens.weigh import weigh_part
from foldline._view import View


class Share(Value, frozen=True, omit_defaults=False):
    """One kind of content: how many pieces, and their tokens."""

    name: str
    tokens: int
    count: int
    unit: str


class Saving(Value, frozen=True, omit_defaults=False):
    """What a layer would free now, in tokens."""

    layer: str
    tokens: int


class Inspection(Value, frozen=True, omit_defaults=False):
    """What fills a session; sizes are tokens."""

    session: str
    path: str
    tokens: int
    window: int
    shares: tuple[Share, ...]
    protected: int
    compactable: int
    savings: tuple[Saving, ...]
    largest: tuple[Share, ...]


def inspect(desk: Desk, policy: Policy) -> Inspection:
    """What fills a session, what a fold would keep, and what each layer would free."""
    entries, meter = desk.view.entries, desk.meter
    outputs = [(e, r) for e in entries for r in e.message.results]
    system = [e for e in entries if e.message.role == "system"]
    output_tokens = round(sum(weigh_part(r, meter.family) for _, r in outputs) * meter.ratio)
    system_tokens = sum(e.tokens for e in system)
    talk = [e for e in entries if e.message.role != "system"]
    conversation = desk.view.tokens - output_tokens - system_tokens
    planned = desk.plan(policy)
    kept = {e.id for e in planned.after.entries}
    protected = sum(e.tokens for e in entries if e.id in kept and e.message.role != "system")
    return Inspection(
        desk.session.id,
        desk.session.path,
        desk.tokens,
        desk.budget.window,
        (
            Share("Conversation", conversation, sum(1 for e in talk if e.message.speaker != "tool"), "messages"),
            Share("Tool Outputs", output_tokens, len(outputs), "outputs"),
            Share("System Prompt", max(0, system_tokens + meter.overhead), len(system), "messages"),
        ),
        protected,
        desk.view.tokens - protected - system_tokens,
        tuple(_savings(desk, policy, planned.fold)),
        tuple(_largest(desk.view)),
    )


def _savings(desk: Desk, policy: Policy, by_hand: Fold) -> list[Saving]:
    savings = []
    for layer in policy.layers:
        if layer.kind == "prune":
            savings.append(Saving(layer.name, _freed(desk.view, layer)))
        elif layer.kind == "summarize":
            savings.append(Saving(layer.name, by_hand.receipt.freed))
    return savings


def _freed(view: View, layer: Layer) -> int:
    after = view
    try:
        for strategy in layer.strategies:
            after = after.replay(strategy(after, after.tokens))
    except CannotFit:
        return 0
    return view.tokens - after.tokens


def _largest(view: View, most: int = 5) -> list[Share]:
    large = sorted(view.entries, key=lambda e: -e.tokens)[:most]
    return [Share(e.id, e.tokens, 1, what(e.message)) for e in large if e.tokens]


def what(message: Message, most: int = 60) -> str:
    """A message in a few words: who speaks and how it begins, in at most so many characters."""
    result = next(message.results, None)
    call = next(message.calls, None)
    if result is not None:
        said = f"{result.name}: {_result_text(result)}" if result.name else _result_text(result)
    elif call is not None and not message.text.strip():
        said = f"calls {call.name} {call.arguments}"
    else:
        said = message.text
    return f"{message.speaker}: {one_line(said, most)}"


def _result_text(result: ToolResult) -> str:
    return next((p.text for p in result.parts if hasattr(p, "text")), "")
