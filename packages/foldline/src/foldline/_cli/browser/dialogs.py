"""The browser's dialogs: a plan to agree to, a question, a message in full, the keys."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from foldline._visible import visible

KEYS = (
    ("↑ ↓ Home End", "move"),
    ("Tab", "to the timeline, and back"),
    ("Enter", "the timeline; a message in full"),
    ("f", "fold: shows the plan and asks"),
    ("u", "undo the newest fold"),
    ("b", "branch at the message under the cursor"),
    ("r", "recall: search in what was folded"),
    ("/", "filter by agent, project, title, model, id; in the timeline, by words of a message"),
    ("s", "sort: the fullest first, or the newest"),
    ("w", "follow: read the session again when it changes"),
    ("c", "copy the message under the cursor, or the session's path"),
    ("e", "export what the session came to know"),
    ("F5", "look for what the agents have written"),
    ("?", "these keys"),
    ("q", "quit"),
)


WIDTH, WIDEST, FRAME = 0.86, 110, 7
"""How wide a box is: a share of the screen and at most so many columns, its frame and scroll bar among them."""


def inside(screen: int) -> int:
    """The columns that a box has for its text on a screen of so many."""
    return min(WIDEST, int(screen * WIDTH)) - FRAME


class Box(ModalScreen[bool]):
    """A box over the browser with a title, a text to scroll and a line of keys; Escape closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "answer(False)", "Close"),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
        Binding("pagedown,space", "scroll(10)", show=False),
    ]

    DEFAULT_CSS = """
    Box { align: center middle; }
    Box > Vertical {
        width: 86%; max-width: 110; height: auto; max-height: 86%;
        border: round $primary; border-title-color: $primary; border-subtitle-color: $text-muted;
        background: $surface; padding: 1 2;
    }
    Box VerticalScroll { height: auto; max-height: 100%; scrollbar-size-vertical: 1; }
    Box Static { width: 1fr; height: auto; }
    """

    def __init__(self, title: str, text: str | Text, keys: str = "Esc close") -> None:
        super().__init__()
        self._title, self._keys = title, keys
        self._text = visible(text) if isinstance(text, str) else text

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title, box.border_subtitle = self._title, self._keys
            with VerticalScroll(can_focus=False):
                yield Static(self._text, markup=False)

    def action_scroll(self, by: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=by, animate=False)

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)


class Question(Box):
    """A box that asks whether to go on."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "answer(True)", "Yes"),
        Binding("n", "answer(False)", "No"),
    ]

    def __init__(self, title: str, text: str | Text, yes: str) -> None:
        super().__init__(title, text, f"y {yes}   n cancel")


def keys_box() -> Box:
    """The keys, each with what it does."""
    width = max(len(key) for key, _ in KEYS)
    text = Text()
    for key, does in KEYS:
        text.append(f"{key:>{width}}", "bold").append(f"   {does}\n")
    text.rstrip()
    return Box("Keys", text)
