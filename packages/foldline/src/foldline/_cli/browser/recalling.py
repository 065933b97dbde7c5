"""The browser's search in what a session folded away."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from foldline._cli.browser.dialogs import Box
from foldline._cli.browser.drawing import Tints, hit_lines
from foldline._cli.browser.loading import Detail, search
from foldline._cli.browser.rows import Rows
from foldline._errors import FoldlineError
from foldline._recall.answer import drawn
from foldline._recall.search import Hit


class Recall(ModalScreen[None]):
    """A box to type words in, and the messages that fit them best; Enter shows one in full."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Close"),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
    ]

    DEFAULT_CSS = """
    Recall { align: center middle; }
    Recall > Vertical {
        width: 92%; max-width: 120; height: 86%;
        border: round $primary; border-title-color: $primary; border-subtitle-color: $text-muted;
        background: $surface; padding: 0 1;
    }
    Recall Input, Recall Input:focus { border: none; height: 1; margin: 1 0; background: $surface-lighten-1; }
    """

    def __init__(self, detail: Detail, index: str, tints: Tints) -> None:
        super().__init__()
        self._detail, self._index, self._tints = detail, index, tints

    def compose(self) -> ComposeResult:
        what = f"{self._detail.folded} folded messages" if self._detail.folded else "this session; nothing is folded"
        with Vertical() as box:
            box.border_title, box.border_subtitle = f"Recall from {what}", "↑ ↓ move   Enter show   Esc close"
            yield Input(placeholder="words, a path, an error …")
            yield Rows(self._draw, lines=2, empty="type to search")

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        query = event.value.strip()
        if query:
            self.run_worker(lambda: self._search(query), thread=True, exclusive=True, group="search")
        else:
            self.query_one(Rows).show((), empty="type to search")

    def on_input_submitted(self) -> None:
        self._open()

    def on_rows_chosen(self) -> None:
        self._open()

    def action_move(self, by: int) -> None:
        self.query_one(Rows).action_move(by)

    def _search(self, query: str) -> None:
        """In a thread: what was found for a query, unless another one was typed meanwhile."""
        try:
            hits = search(self._detail, query, self._index)
        except FoldlineError as error:
            self.app.call_from_thread(self.notify, str(error), severity="error")
            return
        self.app.call_from_thread(self._show, query, hits)

    def _show(self, query: str, hits: list[Hit]) -> None:
        if self.is_attached and self.query_one(Input).value.strip() == query:
            self.query_one(Rows).show(hits, empty="nothing found")

    def _open(self) -> None:
        hit = self.query_one(Rows).current
        message = self._detail.desk.session.recall(hit.id) if hit else None
        if hit and message:
            self.app.push_screen(Box(f"{hit.role} {hit.id}", drawn(message)))

    def _draw(self, hit: Hit, width: int) -> list[Text]:
        return hit_lines(hit, width, self._tints)
