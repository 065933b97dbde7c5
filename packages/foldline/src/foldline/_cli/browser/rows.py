"""A list of rows of one height, of which only those in sight are drawn: 20,000 cost no more than twenty."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

T = TypeVar("T")

Draw = Callable[[T, int], Sequence[Text]]
"""Draws an item at a width, a text for each of the row's lines."""


class Rows(ScrollView, Generic[T], can_focus=True):
    """Items under a cursor; `draw` makes the lines of one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown,space", "page(1)", "Page down", show=False),
        Binding("home", "first", "First", show=False),
        Binding("end,G", "last", "Last", show=False),
        Binding("enter", "choose", "Open", show=False),
    ]

    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--cursor", "rows--resting"}

    DEFAULT_CSS = """
    Rows { scrollbar-size-vertical: 1; overflow-x: hidden; }
    Rows > .rows--cursor { background: $primary 40%; }
    Rows > .rows--resting { background: $surface-lighten-1; }
    """

    class Moved(Message):
        """The cursor was moved."""

        def __init__(self, rows: Rows[Any]) -> None:
            super().__init__()
            self.rows = rows

    class Chosen(Moved):
        """An item was chosen, by Enter or with the mouse."""

    def __init__(self, draw: Draw[T], *, lines: int = 1, empty: str = "", id: str | None = None) -> None:
        super().__init__(id=id)
        self._draw, self._lines, self._empty = draw, lines, empty
        self.items: Sequence[T] = ()
        self.cursor = 0

    @property
    def current(self) -> T | None:
        """The item under the cursor."""
        return self.items[self.cursor] if self.items else None

    def show(self, items: Sequence[T], *, cursor: int = 0, empty: str | None = None) -> None:
        """Shows other items, the cursor on one of them."""
        self.items = items
        self._empty = self._empty if empty is None else empty
        self.virtual_size = Size(0, len(items) * self._lines)
        self._stand_at(cursor)
        self.call_after_refresh(self._settle)

    def move_to(self, place: int) -> None:
        """Puts the cursor on the item at a place, or on the nearest one, and tells of it."""
        self._stand_at(place)
        self.post_message(self.Moved(self))

    def _stand_at(self, place: int) -> None:
        self.cursor = max(0, min(place, len(self.items) - 1))
        self._into_view()
        self.refresh()

    def _into_view(self) -> None:
        here = Region(0, self.cursor * self._lines, self.size.width, self._lines)
        self.scroll_to_region(here, animate=False, force=True)

    def _settle(self) -> None:
        """A scroll bar that was laid out after the scrolling has not heard of it."""
        self._into_view()
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.position = self.scroll_y

    def action_move(self, by: int) -> None:
        self.move_to(self.cursor + by)

    def action_page(self, by: int) -> None:
        self.move_to(self.cursor + by * max(1, self.size.height // self._lines - 1))

    def action_first(self) -> None:
        self.move_to(0)

    def action_last(self) -> None:
        self.move_to(len(self.items) - 1)

    def action_choose(self) -> None:
        if self.items:
            self.post_message(self.Chosen(self))

    def on_click(self, event: events.Click) -> None:
        place = (event.y + self.scroll_offset.y) // self._lines
        if place < len(self.items):
            self.move_to(place)
            self.action_choose()

    def on_resize(self) -> None:
        self._into_view()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        place, line = divmod(y + self.scroll_offset.y, self._lines)
        if place >= len(self.items):
            text = Text().append(self._empty if not self.items and y == 1 else "", "dim")
            text.align("center", width)
            return self._strip(text, width, self.rich_style)
        text = self._draw(self.items[place], width)[line]
        style = self.rich_style
        if place == self.cursor:
            style += self.get_component_rich_style("rows--cursor" if self.has_focus else "rows--resting")
        return self._strip(text, width, style)

    def _strip(self, text: Text, width: int, style: Style) -> Strip:
        text.truncate(width, overflow="ellipsis")
        strip = Strip(text.render(self.app.console)).adjust_cell_length(width)
        return strip.apply_style(style)
