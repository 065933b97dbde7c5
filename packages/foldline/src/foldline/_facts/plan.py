"""The agent's plan, one change after the other."""

from __future__ import annotations

import re
from collections.abc import Iterable

from foldline._facts import tool_calls
from foldline._facts.speech import clean
from foldline._facts.types import Todo
from foldline._messages import replace
from foldline._patterns import pattern

FEWEST_BOXES = 2
"""Boxes from which an answer is a plan."""

_TICKED = pattern(r"^\s*[-*] \[([ xX])\] (.{3,200})$", re.MULTILINE)
_SHOWN = pattern(r"^\s*(?:[-*\d.)]+\s*)?\[([ xX✓])\]\s+(.{3,200})$", re.MULTILINE)
"""An item with its box, as an agent writes it, and as tools show it."""

_STATED = pattern(r"^#(\d+) \[(\w+)\] (.{3,200}?)(?: \([\w-]+\))?(?: \[blocked by [^\]\n]*\])?$", re.MULTILINE)
"""An item by its number with its state, as Claude Code lists the tasks of several agents."""

_DRAFT = pattern(r"^[ \t]*```.*?(?:^[ \t]*```|\Z)", re.DOTALL | re.MULTILINE)
"""A text that an agent drafts for somebody else, whose boxes are theirs."""

_NUMBERED = pattern(r"#(\d+)\b")


class Plan:
    """The items of a plan in their last state, and when it was written whole last; `before` are those of plans before it."""

    def __init__(self, todos: Iterable[Todo] = (), before: Iterable[Todo] = ()) -> None:
        self.todos = list(todos)
        self.at: int | None = None
        self._places = _places(self.todos)
        self._made = {key: todo.made for todo in (*before, *self.todos) for key in _keys(todo)}

    def put(self, todo: Todo, *, known: bool = True) -> None:
        """Adds an item, or brings the first one of its number or its words to a new state, where that is `known`."""
        keys = _keys(todo)
        place = min((self._places[key] for key in keys if key in self._places), default=None)
        first = next((self._made[key] for key in keys if key in self._made), todo.made if todo.made >= 0 else todo.at)
        todo = replace(todo, made=first)
        self._made.update(dict.fromkeys(keys, first))
        if place is None:
            self._places.update(dict.fromkeys(keys, len(self.todos)))
            self.todos.append(todo)
            return
        old = self.todos[place]
        status = todo.status if known else old.status
        self.todos[place] = replace(
            todo, text=todo.text or old.text, status=status, id=todo.id or old.id, detail=todo.detail or old.detail
        )
        if _keys(self.todos[place]) != _keys(old):
            self._places = _places(self.todos)

    def told(self, plan: tool_calls.PlanUpdate, answer: str, at: int) -> None:
        """Books what a plan tool was told; an item without a number may have it from the `answer`."""
        if plan.whole:
            self.todos, self.at, self._places = [], at, {}
        for id, text, status, detail in plan.items:
            if not id and not plan.whole and (numbered := _NUMBERED.search(answer[:200])):
                id = numbered[1]
            self.put(Todo(clean(text), status or "pending", id, at, clean(detail)), known=bool(status))  # type: ignore[arg-type]

    def written(self, text: str, at: int) -> None:
        """Books the items that an agent wrote with their boxes; a list that asks is what it checks its work against."""
        boxes = _TICKED.findall(_DRAFT.sub("", text)) if "- [" in text or "* [" in text else []
        if not any(item.rstrip().endswith(("?", "？")) for _, item in boxes):
            self._tick(boxes, at)

    def shown(self, answer: str, at: int) -> None:
        """Books a plan as a tool shows it, with boxes that are ticked or not, or with numbers and states."""
        boxes = _SHOWN.findall(answer[:8_000]) if "[ ]" in answer else []
        if len(boxes) >= FEWEST_BOXES:
            self._tick(boxes, at)
        for number, word, text in _STATED.findall(answer[:8_000]) if answer.startswith("#") else ():
            place = self._places.get(("id", number))
            status = tool_calls.STATES.get(word)
            if status and (place is None or status != self.todos[place].status):
                self.put(Todo(text, status, number, at))  # type: ignore[arg-type]

    def _tick(self, boxes: Iterable[tuple[str, str]], at: int) -> None:
        for mark, text in boxes:
            self.put(Todo(text.strip(), "pending" if mark == " " else "done", at=at))


def _keys(todo: Todo) -> list[tuple[str, str]]:
    """By what an item is found again."""
    return [(kind, value) for kind, value in (("id", todo.id), ("text", todo.text)) if value]


def _places(todos: list[Todo]) -> dict[tuple[str, str], int]:
    """Where each item stands first."""
    return {key: place for place in reversed(range(len(todos))) for key in _keys(todos[place])}
