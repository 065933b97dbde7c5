"""How the browser draws: a session on two lines, a message on one, the composition of a context as one bar."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from rich.style import Style
from rich.text import Text

from foldline._cli.browser.loading import Detail, TimelineRow
from foldline._cli.drawing import bar, percent
from foldline._clipping import clipped
from foldline._desk.inspection import Share, what
from foldline._desk.marks import ALARM_AT, SUGGEST_AT
from foldline._listing import ListedSession
from foldline._recall.search import Hit
from foldline._relative_time import ago
from foldline._visible import visible

Tints = Mapping[str, str]
"""The colours of the theme by their names."""

SHARES = {"Conversation": "secondary", "Tool Outputs": "warning", "System Prompt": "accent"}
ROLES = {"user": "success", "assistant": "secondary", "tool": "warning", "system": "accent"}
FOLDS = "primary"
"""Names of the theme's colours."""

NAMES = {
    "Conversation": "talk",
    "Tool Outputs": "tools",
    "System Prompt": "system",
    "Memory Files": "memory",
    "Tool Schemas": "schemas",
}

YEAR = 365 * 86_400
HOME = os.path.expanduser("~")


def session_lines(entry: ListedSession, width: int, now: float, tints: Tints) -> list[Text]:
    """A session: what it is called, or where it was and began with, and how old it is; how full it is, its folds and its agent."""
    name = entry.title or os.path.basename(entry.cwd) or entry.id[:13]
    age = _brief(now - entry.changed)
    first = Text(" ").append(_cut(name, width - len(age) - 3), "bold")
    if entry.prompt and not entry.title and (left := width - len(age) - 4 - first.cell_len) > 3:
        first.append(" ").append(_cut(entry.prompt, left), "dim")
    first.append(" " * max(1, width - first.cell_len - len(age) - 1)).append(age, "dim")
    if entry.error:
        return [first, Text(" ").append(entry.error.rpartition(": ")[2], tints["error"])]
    folds = f"⟪{entry.compactions}⟫ " if entry.compactions else ""
    about = f"{folds}{entry.agent}"
    second = Text(" ").append(*gauge(entry.fill, max(3, min(14, width - len(about) - 9)), tints))
    second.append(f" {percent(entry.fill):>4} " if entry.fill is not None else "      ")
    second.append(" " * max(1, width - second.cell_len - len(about) - 1))
    return [first, second.append(folds, tints[FOLDS]).append(entry.agent, "dim")]


def gauge(fill: float | None, width: int, tints: Tints) -> tuple[str, str]:
    """A bar and its colour."""
    if fill is None:
        return "·" * width, "dim"
    name = "error" if fill >= ALARM_AT else "warning" if fill >= SUGGEST_AT else "success"
    return bar(fill, width=width), tints[name]


def heading(entry: ListedSession, width: int) -> Text:
    """Which session it is, on one line."""
    cwd = entry.cwd.replace(HOME, "~", 1) if entry.cwd.startswith(HOME + os.sep) else entry.cwd
    text = Text(entry.agent, "bold").append(visible(f"  {entry.model}")).append(visible(f"  {cwd or entry.id}"), "dim")
    text.truncate(width, overflow="ellipsis")
    return text


def composition(detail: Detail, width: int, tints: Tints) -> list[Text]:
    """What fills the window: a bar of all shares over the window, and each share with its tokens."""
    found = detail.inspection
    fill = found.tokens / found.window
    told = f"{found.tokens:,} / {found.window:,}  {percent(fill)}"
    total = Text(told, "bold").append(f"  {detail.desk.size.basis} ± {detail.desk.size.error:.1%}", "dim")
    bar_of_all = _stacked(found.shares, found.window, width, tints)
    return [total, bar_of_all, *_legend(found.shares, found.tokens, width, tints), _standing(detail, tints)]


def _legend(shares: Sequence[Share], tokens: int, width: int, tints: Tints) -> list[Text]:
    """Each share with its tokens, whole: with its percentage where all of them then stand on one line, else on as many as it takes."""
    told = [
        Text()
        .append("■ ", tints[SHARES.get(share.name, "foreground")])
        .append(f"{NAMES.get(share.name, share.name)} {_size(share.tokens)}")
        for share in shares
    ]
    rated = [each.copy().append(f"  {share.tokens / max(1, tokens):.0%}", "dim") for each, share in zip(told, shares)]
    for gap, pieces in ((3, rated), (2, told)):
        if sum(each.cell_len + gap for each in pieces) - gap <= width:
            return [Text(" " * gap).join(pieces)]
    lines = [Text()]
    for each in told:
        if lines[-1].cell_len + 2 + each.cell_len > width:
            lines.append(Text())
        lines[-1].append("  " if lines[-1] else "").append(each)
    return lines


def _standing(detail: Detail, tints: Tints) -> Text:
    """What a fold would free, and what folds there were."""
    found = detail.inspection
    text = Text("compactable ", "dim").append(_size(found.compactable))
    text.append("  protected ", "dim").append(_size(found.protected))
    standing = [fold for fold in detail.folds if not fold.undone]
    if standing:
        text.append(f"  ⟪{len(standing)}⟫ ", tints[FOLDS])
        text.append(f"{detail.folded} folded", tints[FOLDS])
    if detail.desk.session.faults:
        text.append(f"  {len(detail.desk.session.faults)} faults", tints["warning"])
    return text


def _stacked(shares: Sequence[Share], window: int, width: int, tints: Tints) -> Text:
    text, drawn, tokens = Text(), 0, 0
    for share in shares:
        tokens += share.tokens
        end = min(width, round(tokens / window * width))
        text.append("█" * (end - drawn), tints[SHARES.get(share.name, "foreground")])
        drawn = max(drawn, end)
    return text.append("░" * (width - drawn), "dim")


def step_line(step: TimelineRow, width: int, largest: int, tints: Tints) -> list[Text]:
    """A message: its role, its tokens and their bar, and how it begins; a fold is a line of its own."""
    if step.message.summary:
        return [fold_line(step, width, tints)]
    role = step.message.speaker
    said = what(step.message, width).partition(": ")[2]
    style = Style(color=tints[ROLES.get(role, "foreground")]) if step.live else Style(dim=True)
    text = Text(" ").append(f"{role:<9}", style + Style(bold=step.live and role == "user"))
    text.append(f" {_size(step.tokens):>6} ", "dim")
    text.append(_ticks(step.tokens, largest), style).append(" ")
    text.append(_cut(said, width - text.cell_len), None if step.live else "dim")
    return [text]


def fold_line(step: TimelineRow, width: int, tints: Tints) -> Text:
    """Where history was folded: a rule that says what it is."""
    gone = "" if step.live else ", since folded again"
    words = f" ⟪ folded: a summary of {_size(step.tokens)} stands here{gone} ⟫ "
    rule = "─" * max(2, (width - len(words) - 2) // 2)
    return Text().append(f" {rule}{words}{rule}", tints[FOLDS] if step.live else "dim")


def hit_lines(hit: Hit, width: int, tints: Tints) -> list[Text]:
    """A message that was found, and the words that were found in it."""
    first = Text(" ").append(f"{hit.role:<9}", tints[ROLES.get(hit.role, "foreground")])
    first.append(f" {_size(hit.tokens):>6}  ", "dim").append(hit.id, "dim")
    return [first, Text("   ").append(_cut(" ".join(hit.snippet.split()), width - 4))]


def _ticks(tokens: int, largest: int) -> str:
    """A bar of four characters, the largest message's full."""
    drawn = bar(tokens / largest if largest else 0, width=4)
    return drawn.replace("░", " ")


def _size(tokens: int) -> str:
    """Tokens in four characters or so."""
    return f"{tokens:,}" if tokens < 10_000 else f"{tokens / 1_000:.0f}k"


def _brief(seconds: float) -> str:
    """An age in few characters: `3 hours ago` becomes `3h`."""
    told = ago(seconds)
    if told == "just now":
        return "now"
    if seconds >= YEAR:
        return f"{seconds // YEAR:.0f}y"
    number, unit, _ = told.split()
    return number + unit[0]


def _cut(text: str, width: int) -> str:
    return clipped(visible(text), width)
