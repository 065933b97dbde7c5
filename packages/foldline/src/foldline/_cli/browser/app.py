"""The browser itself: what is on the screen, and what each key does."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, TypeVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.timer import Timer
from textual.widgets import Footer, Input, Static

from foldline._cache import cache_file
from foldline._cli.browser import loading
from foldline._cli.browser.dialogs import Box, Question, inside, keys_box
from foldline._cli.browser.drawing import Tints, composition, heading, session_lines, step_line
from foldline._cli.browser.loading import Detail, TimelineRow, changed, export
from foldline._cli.browser.recalling import Recall
from foldline._cli.browser.rows import Rows
from foldline._cli.compact import figures
from foldline._cli.drawing import RULE
from foldline._cli.wrapping import wrapped
from foldline._desk.desk import Desk
from foldline._desk.inspection import what
from foldline._desk.plan import FoldPlan
from foldline._errors import FoldlineError
from foldline._fold import Fold
from foldline._listing import ListedSession, listed
from foldline._recall.answer import drawn
from foldline._visible import visible

T = TypeVar("T")

FOLLOWED = 1.0
"""Seconds between two looks at a session that is followed."""


class Browser(App[None]):
    """The sessions of this machine, and one of them looked at closely.

    Everything that reads or writes a session runs in a thread; one session is read at a time, and the one that the
    cursor stands on when that is done comes next.
    """

    TITLE = "foldline"
    ENABLE_COMMAND_PALETTE = False

    CSS = """
    #left { width: 34%; min-width: 28; max-width: 46; border: round $surface-lighten-2; border-title-color: $text-muted; }
    #right { width: 1fr; border: round $surface-lighten-2; border-title-color: $text-muted; }
    #left:focus-within, #right:focus-within { border: round $primary; border-title-color: $primary; }
    #filter, #filter:focus { display: none; border: none; height: 1; padding: 0 1; background: $surface-lighten-1; }
    #filter.shown { display: block; }
    #composition { height: auto; min-height: 5; padding: 0 1; }
    #timeline { height: 1fr; border-top: solid $surface-lighten-2; }
    #sessions { height: 1fr; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "fold", "Fold"),
        Binding("u", "undo", "Undo"),
        Binding("b", "branch", "Branch"),
        Binding("r", "recall", "Recall"),
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("f5", "reload", "Refresh", key_display="F5"),
        Binding("question_mark", "keys", "Keys", key_display="?"),
        Binding("q", "quit", "Quit"),
        Binding("escape", "leave", show=False),
        Binding("s", "sort", show=False),
        Binding("w", "follow", show=False),
        Binding("c", "copy", show=False),
        Binding("e", "export", show=False),
    ]

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        super().__init__()
        self._environment = environment
        self._everything: Sequence[ListedSession] = ()
        self._detail: Detail | None = None
        self._reading = ""
        """The path of the session that a thread reads now."""
        self._fault = ""
        self._fullest = False
        """Whether the fullest session comes first, and not the newest."""
        self._inside = False
        """Whether the filter is for the messages of one session, and not for sessions."""
        self._followed: Timer | None = None
        self._seen: tuple[int, ...] = ()
        """The file of the session that is shown, as it was when it was read."""
        self.filter = Input(id="filter")
        self.sessions = Rows(self._draw_session, lines=2, empty="looking for sessions …", id="sessions")
        self.composition = Static(id="composition")
        self.timeline = Rows(self._draw_step, id="timeline")
        self.left = Vertical(self.filter, self.sessions, id="left")
        self.right = Vertical(self.composition, self.timeline, id="right")

    def compose(self) -> ComposeResult:
        yield Horizontal(self.left, self.right)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.theme = "tokyo-night"
        self.sessions.focus()
        self.action_reload()

    @property
    def tints(self) -> Tints:
        """The theme's colours."""
        return self.theme_variables

    # -- the list ------------------------------------------------------------------------------------------------

    def action_reload(self, path: str = "") -> None:
        """Looks for sessions anew, the cursor on the one at a path, or where it is."""
        self._in_thread(lambda: listed(environment=self._environment), lambda found: self._list(found, path))

    def _list(self, found: Sequence[ListedSession], path: str) -> None:
        self._everything = found
        self._detail = None
        self._filter(path)

    def _filter(self, path: str = "") -> None:
        """Lists what fits the filter, the cursor on the session at a path, or where it is."""
        here = self.sessions.current
        path = path or (here.path if here else "")
        words = [] if self._inside else self.filter.value.lower().split()
        fitting = [entry for entry in self._everything if all(word in _words(entry) for word in words)]
        if self._fullest:
            fitting.sort(key=lambda entry: entry.fill or 0, reverse=True)
        place = next((n for n, entry in enumerate(fitting) if entry.path == path), 0)
        self.left.border_title = f"Sessions {len(fitting):,}{', fullest first' if self._fullest else ''}"
        self.sessions.show(fitting, cursor=place, empty="no session fits" if words else "no sessions found")
        self._look()

    def on_rows_moved(self, event: Rows.Moved) -> None:
        if event.rows is self.sessions:
            self._look()

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        if event.rows is self.sessions:
            self.timeline.focus()
        elif step := self.timeline.current:
            self.push_screen(Box(f"{step.message.speaker} {step.id}   {step.tokens:,} tokens", drawn(step.message)))

    def action_filter(self) -> None:
        """What is typed is looked for in the messages where the cursor is among them, else in the sessions."""
        self._inside = self.timeline.has_focus
        self.filter.placeholder = "words of a message" if self._inside else "agent, project, title, model, id"
        self.filter.add_class("shown")
        self.filter.focus()

    def action_leave(self) -> None:
        """Escape: the filter is taken away, else the cursor goes back to the sessions."""
        inside = self._inside and bool(self.filter.has_focus or self.filter.value)
        if self.filter.has_focus or self.filter.value:
            self.filter.value = ""
            self.filter.remove_class("shown")
            self._narrow()
            self._inside = False
        (self.timeline if inside else self.sessions).focus()

    def on_input_changed(self) -> None:
        self._narrow()

    def on_input_submitted(self) -> None:
        (self.timeline if self._inside else self.sessions).focus()

    def _narrow(self) -> None:
        """Leaves what fits the filter, the cursor where it was."""
        if not self._inside:
            self._filter()
        elif detail := self._shown:
            self._list_steps(detail)

    def _list_steps(self, detail: Detail) -> None:
        words = self.filter.value.lower().split() if self._inside else []
        steps = [step for step in detail.steps if not words or all(w in drawn(step.message).lower() for w in words)]
        self.timeline.show(steps, cursor=len(steps) - 1, empty="no message fits")

    def action_sort(self) -> None:
        """The fullest first, or the newest again."""
        self._fullest = not self._fullest
        self._filter()

    def action_follow(self) -> None:
        """Reads the session under the cursor again whenever its file changes, until told once more."""
        if self._followed:
            self._followed.stop()
            self._followed = None
        else:
            self._followed = self.set_interval(FOLLOWED, self._follow)
        self.notify("it is read again when it changes" if self._followed else "no longer", title="Follow")

    def _follow(self) -> None:
        if (detail := self._shown) and not self._reading and changed(path := detail.desk.session.path) != self._seen:
            self.action_reload(path)

    # -- one session ---------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Reads the session under the cursor, unless it is shown, or another one is being read."""
        entry = self.sessions.current
        if entry is None or self._reading or (self._detail and self._detail.desk.session.path == entry.path):
            self._show()
            return
        path = self._reading = entry.path
        self._seen = changed(path)
        self._fault = ""
        self._show()
        self._in_thread(lambda: loading.load(path, self._environment), self._looked, self._failed)

    def _looked(self, detail: Detail) -> None:
        self._reading, self._detail = "", detail
        self._list_steps(detail)
        self._look()

    def _failed(self, error: str) -> None:
        entry, read, self._reading = self.sessions.current, self._reading, ""
        self._detail = None
        if entry and entry.path != read:
            self._look()
            return
        self._fault = error
        self._show()

    def _show(self) -> None:
        """Draws what is known of the session under the cursor."""
        entry, detail = self.sessions.current, self._shown
        width = max(20, self.composition.content_size.width)
        lines = [heading(entry, width)] if entry else []
        if detail:
            lines += composition(detail, width, self.tints)
        else:
            self.timeline.show((), empty="")
            lines += [
                Text(self._fault, self.tints["error"]) if self._fault else Text("reading …" if entry else "", "dim")
            ]
        self.composition.update(Text("\n").join(lines))
        self.right.border_title = entry.id[:13] if entry else ""
        self.right.border_subtitle = ", ".join(detail.notes) if detail else ""

    @property
    def _shown(self) -> Detail | None:
        """What was read of the session under the cursor, once it is."""
        entry = self.sessions.current
        fits = self._detail and entry and self._detail.desk.session.path == entry.path
        return self._detail if fits else None

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)

    # -- what can be done ----------------------------------------------------------------------------------------

    def action_fold(self) -> None:
        if entry := self.sessions.current:
            self._in_thread(lambda: Desk.open(entry.path, environment=self._environment).asked(), self._ask_to_fold)

    def _ask_to_fold(self, plan: FoldPlan) -> None:
        if not plan:
            self.notify(f"{plan.desk.tokens:,} tokens, nothing worth folding", title="Nothing to do")
            return
        width = inside(self.size.width)
        shown = wrapped(figures(plan, width), width)
        text = Text(shown).append(f"\nSummary\n{RULE}\n", "bold").append(visible(plan.summary))
        path, model = plan.desk.session.path, plan.writer.model

        def agreed() -> None:
            if plan.asks_model:
                self.notify(f"{model} writes the summary", title="Folding")
            self._in_thread(plan.carried_out, lambda made: self._folded(made.fold, path))

        question = "Fold this session?" if not plan.asks_model else f"Fold this session? {model} writes the summary."
        self._ask(Question(question, text, "fold"), agreed)

    def _folded(self, fold: Fold, path: str) -> None:
        self._done("Folded", f"{fold.receipt.freed:,} tokens are free again; u takes it back", path)

    def action_undo(self) -> None:
        if entry := self.sessions.current:
            self._in_thread(lambda: loading.open_to_undo(entry.path, self._environment), self._ask_to_undo)

    def _ask_to_undo(self, found: tuple[Desk, str]) -> None:
        desk, not_ours = found

        def agreed() -> None:
            self._in_thread(desk.undo, lambda fold: self._undone(fold, desk.session.path))

        if not_ours:
            self._ask(Question("Take it back?", f"{not_ours[0].upper()}{not_ours[1:]}.", "undo"), agreed)
        else:
            agreed()

    def _undone(self, fold: str | None, path: str) -> None:
        if fold is None:
            self.notify("no fold stands in this session", title="Nothing to undo")
        else:
            self._done("Undone", f"fold {fold} was taken back", path)

    def action_branch(self) -> None:
        entry, step = self.sessions.current, self.timeline.current
        if entry is None or step is None:
            return
        text = f"A new session that ends with this message; this one is not touched.\n\n{what(step.message)}"

        def agreed() -> None:
            self._in_thread(
                lambda: Desk.open(entry.path).session.branch(step.id),
                lambda made: self._done("Branched", f"{made.records} records in {made.path}", made.path),
            )

        self._ask(Question(f"Branch at {step.id}?", text, "branch"), agreed)

    def action_recall(self) -> None:
        if detail := self._shown:
            self.push_screen(Recall(detail, cache_file("recall.sqlite", self._environment), self.tints))

    def action_copy(self) -> None:
        """The message under the cursor where that is among the messages, else the session's path, to the clipboard."""
        step, entry = self.timeline.current, self.sessions.current
        if self.timeline.has_focus and step:
            self.copy_to_clipboard(visible(drawn(step.message)))
            self.notify(f"message {step.id}", title="Copied", markup=False)
        elif entry:
            self.copy_to_clipboard(visible(entry.path))
            self.notify(visible(entry.path), title="Copied", markup=False)

    def action_export(self) -> None:
        """Writes what the session came to know into this directory, once that is agreed to."""
        if (entry := self.sessions.current) is None:
            return
        folder, path = os.getcwd(), entry.path

        def agreed() -> None:
            self._in_thread(
                lambda: export(path, folder),
                lambda made: self.notify(visible(made), title="Exported", markup=False),
            )

        text = f"What it came to know, as one JSON document in {folder}; secrets in it stay."
        self._ask(Question("Export this session?", visible(text), "export"), agreed)

    def action_keys(self) -> None:
        self.push_screen(keys_box())

    # -- inside --------------------------------------------------------------------------------------------------

    def _ask(self, question: Question, agreed: Callable[[], None]) -> None:
        self.push_screen(question, lambda yes: agreed() if yes else None)

    def _done(self, title: str, told: str, path: str) -> None:
        self.notify(told, title=title)
        self.action_reload(path)

    def _in_thread(
        self, work: Callable[[], T], then: Callable[[T], None], failed: Callable[[str], None] | None = None
    ) -> None:
        """Does the work in a thread and hands on what comes of it; a typed error goes to `failed`, or is told."""

        def run() -> None:
            try:
                made = work()
            except (FoldlineError, OSError) as error:
                self.call_from_thread(failed or self._tell, str(error))
            else:
                self.call_from_thread(then, made)

        self.run_worker(run, thread=True)

    def _tell(self, error: str) -> None:
        self.notify(visible(error), severity="error", timeout=12, markup=False)

    def _draw_session(self, entry: ListedSession, width: int) -> list[Text]:
        return session_lines(entry, width, time.time(), self.tints)

    def _draw_step(self, step: TimelineRow, width: int) -> list[Text]:
        largest = self._detail.largest if self._detail else 0
        return step_line(step, width, largest, self.tints)


def _words(entry: ListedSession) -> str:
    return f"{entry.agent} {entry.cwd} {entry.title} {entry.prompt} {entry.model} {entry.id}".lower()
