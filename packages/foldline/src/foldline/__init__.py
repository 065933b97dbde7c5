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

from typing import TYPE_CHECKING

from foldline._lazy import lazily

__version__ = "0.1.0"

if TYPE_CHECKING:
    from foldline._compactor.compactor import Compactor
    from foldline._compactor.compactors import Compactors
    from foldline._compactor.degradation import Risk
    from foldline._compactor.events import (
        Event,
        FoldDue,
        Folded,
        Interleaved,
        Looping,
        Rewound,
        Skipped,
        SummaryFellBack,
        Verdict,
    )
    from foldline._errors import (
        CannotFit,
        CompactionError,
        ConfigError,
        ContextOverflow,
        FoldlineError,
        FormatError,
        ProviderError,
        ReplyCutOff,
        SessionError,
        StateError,
        SummaryFailed,
        UnsafeEdit,
        WireError,
    )
    from foldline._fold import Fold, Receipt
    from foldline._lifecycle.command import command_hook, command_listener
    from foldline._lifecycle.step import astep, step, without_unfinished_calls
    from foldline._messages import Message, Summary, Usage
    from foldline._policy import Layer, Policy, Room
    from foldline._recall.references import resolve_references
    from foldline._recall.tool import handle, recall_tool
    from foldline._sessions.file import SessionFile
    from foldline._sessions.finding import find_session
    from foldline._sessions.opening import open_session
    from foldline._sessions.pi.log import Session
    from foldline._view import Brief, Edit, Entry, View
    from foldline._wrapping.conversations import conversation
    from foldline._wrapping.wrapping import wrap
    from foldline._writers.model import ModelSummarizer
    from foldline._writers.native import NativeSummarizer

__all__ = [
    "Brief", "CannotFit", "CompactionError", "Compactor", "Compactors", "ConfigError", "ContextOverflow", "Edit",
    "Entry", "Event", "Fold", "FoldDue", "Folded", "FoldlineError", "FormatError", "Interleaved", "Layer", "Looping",
    "Message", "ModelSummarizer", "NativeSummarizer", "Policy", "ProviderError", "Receipt", "ReplyCutOff", "Rewound",
    "Risk", "Room", "Session", "SessionError", "SessionFile", "Skipped", "StateError", "Summary", "SummaryFailed",
    "SummaryFellBack", "UnsafeEdit", "Usage", "Verdict", "View", "WireError", "astep", "command_hook", "command_listener", "conversation",
    "find_session", "handle", "open_session", "recall_tool", "resolve_references", "step", "without_unfinished_calls",
    "wrap",
]  # fmt: skip

__getattr__ = lazily("foldline", {
    "_compactor.compactor": ("Compactor",),
    "_compactor.compactors": ("Compactors",),
    "_compactor.degradation": ("Risk",),
    "_compactor.events": (
        "Event", "FoldDue", "Folded", "Interleaved", "Looping", "Rewound", "Skipped", "SummaryFellBack",
        "Verdict",
    ),
    "_errors": (
        "CannotFit", "CompactionError", "ConfigError", "ContextOverflow", "FoldlineError", "FormatError",
        "ProviderError", "ReplyCutOff", "SessionError", "StateError", "SummaryFailed", "UnsafeEdit", "WireError",
    ),
    "_fold": ("Fold", "Receipt"),
    "_lifecycle.command": ("command_hook", "command_listener"),
    "_lifecycle.step": ("astep", "step", "without_unfinished_calls"),
    "_messages": ("Message", "Summary", "Usage"),
    "_policy": ("Layer", "Policy", "Room"),
    "_recall.references": ("resolve_references",),
    "_recall.tool": ("handle", "recall_tool"),
    "_sessions.file": ("SessionFile",),
    "_sessions.finding": ("find_session",),
    "_sessions.opening": ("open_session",),
    "_sessions.pi.log": ("Session",),
    "_view": ("Brief", "Edit", "Entry", "View"),
    "_writers.model": ("ModelSummarizer",),
    "_writers.native": ("NativeSummarizer",),
    "_wrapping.conversations": ("conversation",),
    "_wrapping.wrapping": ("wrap",),
})  # fmt: skip


def __dir__() -> list[str]:
    """The public names."""
    return [*__all__, "__version__"]
