"""What is asked on top of the conversation: a word on a tool, a choice, a text to read."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import ClassVar, Literal, NamedTuple

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.syntax import Syntax
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from foldline_agent.events import ConfirmationWanted

Word = Literal["yes", "no", "always"]


class Allow(ModalScreen[Word]):
    """Whether a tool may do what it would.

    It comes up while the user may be writing: keys are heard once none was pressed for `pause` seconds, and what is pressed
    before that, or means nothing here, goes on to `typed`.
    """

    WORDS: ClassVar[dict[str, Word]] = {"y": "yes", "n": "no", "escape": "no", "A": "always"}

    def __init__(self, wanted: ConfirmationWanted, pause: float, typed: Callable[[str], object]) -> None:
        super().__init__()
        self._wanted, self._pause, self._typed = wanted, pause, typed
        self._pressed = time.monotonic()

    def compose(self) -> ComposeResult:
        lexer = "bash" if self._wanted.call.name == "bash" else "diff"
        with Vertical(classes="box"):
            yield Static(f"Allow {self._wanted.call.name}?", classes="title")
            with VerticalScroll():
                yield Static(Syntax(self._wanted.about, lexer, theme="ansi_dark", word_wrap=True))
            yield Static("y yes   n no   A yes to all that follow", classes="keys")

    def on_key(self, event: events.Key) -> None:
        """Answers, or hands on what was meant for the agent."""
        paused = time.monotonic() - self._pressed >= self._pause
        self._pressed = time.monotonic()
        word = self.WORDS.get(event.character or "") or self.WORDS.get(event.key)
        if word and paused:
            event.stop()
            self.dismiss(word)
        elif event.is_printable and event.character:
            event.stop()
            self._typed(event.character)


class Show(ModalScreen[bool]):
    """A text to read; with a question below it, whether it was answered with yes."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("y", "word(True)"), Binding("n,escape,q,enter", "word(False)")]

    def __init__(self, title: str, text: RenderableType, question: str = "") -> None:
        super().__init__()
        self._title, self._question = title, question
        self._text = Text(text) if isinstance(text, str) else text

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(self._title, classes="title")
            with VerticalScroll():
                yield Static(self._text)
            yield Static(f"{self._question}   y yes   n no" if self._question else "esc closes", classes="keys")

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def action_word(self, word: bool) -> None:
        """Answers."""
        self.dismiss(word and bool(self._question))


class Choice(NamedTuple):
    """One of several: the key by which it is answered, its words, and what is told below them."""

    key: str
    words: str
    about: str = ""


class Choose(ModalScreen[str | None]):
    """One of several, by its key; None where none was chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave")]

    def __init__(self, title: str, options: Sequence[Choice], current: str = "") -> None:
        super().__init__()
        self._title, self._options, self._current = title, options, current

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(self._title, classes="title")
            yield OptionList(*(Option(self._line(each), id=each.key) for each in self._options))
            yield Static("enter chooses   esc leaves it as it is", classes="keys")

    def on_mount(self) -> None:
        keys = [each.key for each in self._options]
        self.query_one(OptionList).highlighted = keys.index(self._current) if self._current in keys else 0

    def _line(self, each: Choice) -> RenderableType:
        line = Text(f"{'●' if each.key == self._current else ' '} {each.words}")
        return Group(line, Padding(Text(each.about, style="dim"), (0, 0, 0, 2))) if each.about else line

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answers."""
        self.dismiss(event.option.id)

    def action_leave(self) -> None:
        """Chooses none."""
        self.dismiss(None)
