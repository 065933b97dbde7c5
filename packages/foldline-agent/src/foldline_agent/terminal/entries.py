"""What stands in the conversation on the screen: a widget for each kind of thing that happens."""

from __future__ import annotations

import json

from rich.text import Text
from textual.widgets import Collapsible, Markdown, Static

from foldline import Fold
from foldline.extend import ToolCall, ToolResult, text_of

LINES = 8
"""The lines of a tool's output that are shown before it is opened."""

LONGEST = 20
"""The lines of a message of the user's that are shown."""

KEPT = "Nothing is lost: /recall brings back any message, /undo takes the fold back."


class Asked(Static):
    """The user's words."""

    def __init__(self, text: str) -> None:
        lines = text.splitlines()
        more = f"\n… {len(lines) - LONGEST:,} more lines" if len(lines) > LONGEST else ""
        super().__init__(Text("\n".join(lines[:LONGEST])).append(more, style="dim"), classes="asked")


class Answered(Markdown):
    """What the agent says, which grows while it is said."""

    def __init__(self, text: str = "") -> None:
        super().__init__(text, classes="answered")


class Thought(Collapsible):
    """What the model thinks, which is closed until it is asked for."""

    def __init__(self, text: str = "") -> None:
        self._text = text
        self._shown = Static(Text(text), classes="output")
        super().__init__(self._shown, title="thoughts", classes="used")

    def add(self, text: str) -> None:
        """More of it."""
        self._text += text
        self._shown.update(Text(self._text))


class Aside(Static):
    """A line that nobody said: a notice, or a failure."""

    def __init__(self, text: str, kind: str = "notice") -> None:
        super().__init__(Text(text), classes=f"aside {kind}")


class Used(Collapsible):
    """A tool's call in a line, with what it brought inside."""

    def __init__(self, call: ToolCall) -> None:
        self._output = Static("", classes="output")
        super().__init__(self._output, title=f"{call.name}  {brief(call)}", classes="used")

    def brought(self, result: ToolResult) -> None:
        """Shows how it ended: a short output at once, a long one when it is opened."""
        said = text_of(result).rstrip()
        self._output.update(Text(said))
        self.set_class(result.error, "failed")
        self.collapsed = said.count("\n") >= LINES
        self.title = f"{'✗' if result.error else '✓'} {self.title}"


class Notice(Collapsible):
    """Where a fold happened: what it freed and kept, and the summary inside."""

    def __init__(self, fold: Fold, summary: str) -> None:
        super().__init__(
            Static(Text(summary or "No summary: outputs were shortened."), classes="summary"),
            Static(KEPT, classes="aside"),
            title=f"── folded: {figures(fold)}",
            classes="fold",
        )


def figures(fold: Fold) -> str:
    """What a fold frees and keeps, in a line."""
    r = fold.receipt
    told = [f"{r.tokens_before:,} → {r.tokens_after:,} tokens", f"{r.messages_folded} messages"]
    if r.messages_pruned:
        told.append(f"{r.messages_pruned} outputs shortened")
    told.append(f"{r.facts_kept} facts in view" + (f", {r.facts_lost} only by recall" if r.facts_lost else ""))
    if fold.trigger != "manual":
        told.append(r.threshold or fold.trigger)
    return " · ".join(told)


def brief(call: ToolCall, most: int = 100) -> str:
    """What a call is about: its path, command or words, on one line."""
    try:
        given: object = json.loads(call.arguments)
    except ValueError:
        given = call.arguments
    if isinstance(given, dict):
        given = next((given[name] for name in ("path", "command", "query", "id") if name in given), call.arguments)
    line = " ".join(str(given).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
