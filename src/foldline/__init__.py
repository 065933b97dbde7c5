"""foldline keeps an LLM agent inside its context window for as long as its work takes, and loses nothing on the way.

```python
from anthropic import Anthropic
from foldline import Compactor

client = Anthropic()
compactor = Compactor("claude-sonnet-5")
messages = [{"role": "user", "content": "Fix the failing test in billing/tax.py"}]

while True:
    sent = compactor.fit(messages)
    reply = client.messages.create(model="claude-sonnet-5", max_tokens=8_000, messages=sent, tools=TOOLS)
    compactor.observe(reply)
    messages.append({"role": "assistant", "content": reply.content})
    if reply.stop_reason != "tool_use":
        break
    messages.append({"role": "user", "content": results_of(reply)})
```
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from foldline.compactor import (
        Compactor,
        Event,
        FoldDue,
        Folded,
        Interleaved,
        Looping,
        Rewound,
        Risk,
        Skipped,
        SummaryFellBack,
    )
    from foldline.compactors import Compactors
    from foldline.errors import CannotFit, ContextOverflow, FoldlineError, StateError
    from foldline.fold import Fold, Receipt
    from foldline.messages import Message, Summary, Usage
    from foldline.policy import Layer, Policy
    from foldline.sessions import Session
    from foldline.view import Brief, Edit, Entry, View

_PLACES = {
    "compactor": (
        "Compactor",
        "Event",
        "FoldDue",
        "Folded",
        "Interleaved",
        "Looping",
        "Rewound",
        "Risk",
        "Skipped",
        "SummaryFellBack",
    ),
    "compactors": ("Compactors",),
    "errors": ("CannotFit", "ContextOverflow", "FoldlineError", "StateError"),
    "fold": ("Fold", "Receipt"),
    "messages": ("Message", "Summary", "Usage"),
    "policy": ("Layer", "Policy"),
    "sessions": ("Session",),
    "view": ("Brief", "Edit", "Entry", "View"),
}

__all__ = [
    "Brief",
    "CannotFit",
    "Compactor",
    "Compactors",
    "ContextOverflow",
    "Edit",
    "Entry",
    "Event",
    "Fold",
    "FoldDue",
    "Folded",
    "FoldlineError",
    "Interleaved",
    "Layer",
    "Looping",
    "Message",
    "Policy",
    "Receipt",
    "Rewound",
    "Risk",
    "Session",
    "Skipped",
    "StateError",
    "Summary",
    "SummaryFellBack",
    "Usage",
    "View",
]


def __dir__() -> list[str]:
    """The public names."""
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    """Loads a public name when it is first used, so that the command line starts without the engine."""
    for module, names in _PLACES.items():
        if name in names:
            return getattr(import_module(f"foldline.{module}"), name)
    raise AttributeError(f"module 'foldline' has no attribute {name!r}")
