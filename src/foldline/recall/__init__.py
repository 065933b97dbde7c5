"""What was said before, found again: an index over every session, and a tool for agents."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foldline.recall.index import Hit, Index, Within
    from foldline.recall.references import resolve_references
    from foldline.recall.tool import handle, recall_tool

_PLACES = {
    "index": ("Hit", "Index", "Within"),
    "references": ("resolve_references",),
    "tool": ("handle", "recall_tool"),
}

__all__ = ["Hit", "Index", "Within", "handle", "recall_tool", "resolve_references"]


def __getattr__(name: str) -> Any:
    """Loads a public name when it is first used, so that the MCP server answers before the index is loaded."""
    for module, names in _PLACES.items():
        if name in names:
            return getattr(import_module(f"foldline.recall.{module}"), name)
    raise AttributeError(f"module 'foldline.recall' has no attribute {name!r}")
