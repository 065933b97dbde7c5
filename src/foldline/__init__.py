"""foldline keeps an LLM agent inside its context window for as long as its work takes, and loses nothing on the way.

```python
from foldline import Compactor

compactor = Compactor("claude-sonnet-4-5")
while True:
    reply = call_model(compactor.fit(messages))
    compactor.observe(reply)
    messages.append(reply)
```
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from foldline.compactor import Compactor, Event, FoldDue, Folded, Looping, Rewound, Risk, SummaryFellBack
    from foldline.errors import CannotFit, ContextOverflow, FoldlineError
    from foldline.fold import Fold, Receipt
    from foldline.messages import Message, Summary, Usage
    from foldline.policy import Layer, Policy
    from foldline.sessions import Session
    from foldline.view import Brief, Edit, Entry, View

_PLACES = {
    "compactor": ("Compactor", "Event", "FoldDue", "Folded", "Looping", "Rewound", "Risk", "SummaryFellBack"),
    "errors": ("CannotFit", "ContextOverflow", "FoldlineError"),
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
    "ContextOverflow",
    "Edit",
    "Entry",
    "Event",
    "Fold",
    "FoldDue",
    "Folded",
    "FoldlineError",
    "Layer",
    "Looping",
    "Message",
    "Policy",
    "Receipt",
    "Rewound",
    "Risk",
    "Session",
    "Summary",
    "SummaryFellBack",
    "Usage",
    "View",
]


def __getattr__(name: str) -> Any:
    """Loads a public name when it is first used, so that the command line starts without the engine."""
    for module, names in _PLACES.items():
        if name in names:
            return getattr(import_module(f"foldline.{module}"), name)
    raise AttributeError(f"module 'foldline' has no attribute {name!r}")
