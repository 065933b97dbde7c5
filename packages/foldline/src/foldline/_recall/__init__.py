"""What was said before, found again: an index over every session, and a tool for agents."""

from typing import TYPE_CHECKING

from foldline._lazy import lazily

if TYPE_CHECKING:
    from foldline._recall.index import Hit, Index, Within
    from foldline._recall.references import resolve_references
    from foldline._recall.tool import handle, recall_tool

__all__ = ["Hit", "Index", "Within", "handle", "recall_tool", "resolve_references"]

__getattr__ = lazily(
    "foldline._recall",
    {
        "_recall.index": ("Hit", "Index", "Within"),
        "_recall.references": ("resolve_references",),
        "_recall.tool": ("handle", "recall_tool"),
    },
)
