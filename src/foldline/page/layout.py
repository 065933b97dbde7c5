"""Lines under headings, fitted into a budget of tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from foldline.messages import Value
from foldline.tokens.estimate import estimate

HEADINGS = (
    "Goal", "User requests", "Constraints", "Done", "In progress", "Decisions", "Errors", "Files", "Commands", "Next steps",
    "Critical context", "Identifiers",
)  # fmt: skip


class Line(Value, frozen=True, omit_defaults=True):
    """A line, or lines that stay together, under a heading: `order` is its place there, `rank` its claim to stand."""

    section: str
    text: str
    order: float = 0.0
    rank: float = 0.0


class Page:
    """A page that is filled line by line and never holds more than its budget."""

    def __init__(self, budget: int, top: str = "") -> None:
        self.budget = budget
        self.top = top
        self.lines: list[Line] = []
        self.used = estimate(top) + 1 if top else 0
        self._open: set[str] = set()
        self._texts: set[str] = set()
        self._costs: dict[str, int] = {}

    def cost(self, line: Line) -> int:
        """Tokens that a line would take, its heading included where it is the first there."""
        heading = 0 if line.section in self._open else self._cost(f"\n## {line.section}\n")
        return self._cost(line.text) + heading

    def _cost(self, text: str) -> int:
        cost = self._costs.get(text)
        if cost is None:
            cost = self._costs[text] = estimate(text) + 1
        return cost

    def add(self, line: Line, room: float | None = None) -> int:
        """Takes a line in where it fits; gives the tokens that it took."""
        cost = self.cost(line)
        if line.text in self._texts or self.used + cost > self.budget or (room is not None and cost > room):
            return 0
        self.lines.append(line)
        self._open.add(line.section)
        self._texts.add(line.text)
        self.used += cost
        return cost

    def fill(self, lines: Iterable[Line], shares: Mapping[str, float]) -> None:
        """Takes in lines by rank: first each section up to its share, then in the order of the shares what still fits."""
        ranked: dict[str, list[Line]] = {section: [] for section in shares}
        for line in sorted(lines, key=lambda line: -line.rank):
            ranked[line.section].append(line)
        for _ in range(2):
            free = self.budget - self.used
            for section, share in shares.items():
                room = free * share
                for line in ranked[section]:
                    room -= self.add(line, room)
        for section in shares:
            misses = 0
            for line in ranked[section]:
                misses += not self.add(line)
                if misses > 40:
                    break

    def text(self) -> str:
        """The page as Markdown, within its budget whatever the estimate says of lines joined."""
        lines = list(self.lines)
        while lines:
            text = self._render(lines)
            excess = estimate(text) - self.budget
            if excess <= 0:
                return text
            while lines and excess > 0:
                excess -= self._cost(lines.pop().text)
        return shorten(self.top, self.budget)

    def _render(self, lines: Sequence[Line]) -> str:
        blocks = [self.top] if self.top else []
        for heading in HEADINGS:
            under = sorted((line for line in lines if line.section == heading), key=lambda line: line.order)
            if under:
                blocks.append(f"## {heading}\n" + "\n".join(line.text for line in under))
        return "\n\n".join(blocks)


def shorten(text: str, tokens: int) -> str:
    """As much of the head of a text as fits into some tokens, marked where it is cut."""
    if estimate(text) <= tokens:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if estimate(text[:middle].rstrip() + "…") <= tokens:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip() + "…" if low else ""


def shares_of(requests: Sequence[str], tokens: int, most: int) -> list[int]:
    """Tokens for each request, newest first, so that short ones stand whole and long ones share what is left."""
    sizes = [min(estimate(text) + 2, most) for text in requests]
    for count in range(len(sizes), 0, -1):
        level = _water(sizes[:count], tokens)
        if level >= min(30, max(sizes[:count])) or count == 1:
            return [min(size, level) for size in sizes[:count]]
    return []


def _water(sizes: Sequence[int], tokens: int) -> int:
    """The level at which sizes cut to it sum to at most `tokens`."""
    left = tokens
    for i, size in enumerate(sorted(sizes)):
        level = left // (len(sizes) - i)
        if size > level:
            return level
        left -= size
    return max(sizes, default=0)
