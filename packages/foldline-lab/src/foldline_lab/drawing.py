"""Pictures of a replay as SVG, written by hand: they need no script and no network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from foldline_lab.seen import KINDS
from foldline_lab.stepping import FATES, Run
from foldline_lab.totals import Total

COLOURS: Mapping[str, str] = {
    "overhead": "#8d99ae",
    "system": "#5c677d",
    "user": "#d1495b",
    "assistant": "#3a6ea5",
    "tool": "#edae49",
    "stub": "#b58db6",
    "summary": "#3f8f6b",
    "word for word": "#3a6ea5",
    "gone": "#c9ccd3",
}
"""What each kind of content, and each fate, is drawn in."""

WIDE, HIGH = 420, 150
"""The size of one picture of a context, in SVG's units."""


LETTER, LINE = 7, 14
"""What a letter of a name takes at most, and a line of them."""


def context(run: Run, most: int, limit: int) -> str:
    """A context as it grows from call to call, by kind, up to `most` tokens; folds and the limit are lines."""
    if not run.growth:
        return ""
    calls = max(1, run.calls - 1)
    points = [(point[0] / calls * WIDE, point[1:]) for point in run.growth]
    scale = HIGH / max(1, most)
    areas, below = [], [0] * len(points)
    for n, kind in enumerate(KINDS):
        above = [b + sizes[n] for b, (_, sizes) in zip(below, points)]
        if above != below:
            edge = [f"{x:.1f},{HIGH - y * scale:.1f}" for (x, _), y in zip(points, above)]
            back = [f"{x:.1f},{HIGH - y * scale:.1f}" for (x, _), y in zip(points[::-1], below[::-1])]
            areas.append(
                f'<polygon points="{" ".join(edge + back)}" fill="{COLOURS[kind]}"><title>{kind}</title></polygon>'
            )
        below = above
    folds = (
        f'<line class="fold" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{HIGH}"><title>{escape(_fold(fold))}</title></line>'
        for fold in run.folds
        for x in [fold.call / calls * WIDE]
    )
    y = HIGH - limit * scale
    line = f'<line class="limit" x1="0" x2="{WIDE}" y1="{y:.1f}" y2="{y:.1f}"><title>limit: {limit:,} tokens</title></line>'
    return _svg(WIDE, HIGH, [*areas, *folds, line], f"{run.contender}: the context from call to call")


def _fold(fold: object) -> str:
    call, layer, before, after = (getattr(fold, name) for name in ("call", "layer", "before", "after"))
    return f"call {call}, {layer}: {before:,} to {after:,} tokens"


def cost_and_memory(found: Sequence[Total]) -> str:
    """Each contender by what it costs and what it still knows of what was said far back."""
    shown = [each for each in found if each.cost is not None and each.far.of]
    if not shown:
        return ""
    wide, high, left, low, top = 640, 310, 52, 36, 26

    def height(share: float) -> float:
        return high - low - (high - low - top) * share

    dearest = max(each.cost or 0.0 for each in shown) * 1.08
    marks = [
        f'<text x="{left - 6}" y="{y + 4:.0f}" text-anchor="end">{share:.0%}</text>'
        f'<line class="grid" x1="{left}" x2="{wide}" y1="{y:.1f}" y2="{y:.1f}"/>'
        for share in (0, 0.25, 0.5, 0.75, 1)
        for y in [height(share)]
    ]
    for n in range(5):
        x = left + (wide - left) * n / 4
        anchor = "end" if n == 4 else "middle"
        marks.append(f'<text x="{x:.0f}" y="{high - low + 16}" text-anchor="{anchor}">${dearest * n / 4:,.2f}</text>')
    names: list[tuple[float, float, float]] = []
    for each in sorted(shown, key=lambda each: each.cost or 0.0):
        x = left + (wide - left) * (each.cost or 0.0) / dearest
        y = height(each.far.right / each.far.of)
        long = LETTER * len(each.contender)
        anchor, begins = ("end", x - 8 - long) if x > wide * 0.8 else ("start", x + 8)
        names.append((begins, begins + long, _beside(y, begins, begins + long, names)))
        marks.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>'
            f'<text class="name" x="{x - 8 if anchor == "end" else begins:.1f}" y="{names[-1][2]:.1f}" text-anchor="{anchor}">'
            f"{escape(each.contender)}</text>"
        )
    return _svg(wide, high, marks, "cost to the right, what is still known of what was said far back upwards")


def _beside(y: float, left: float, right: float, names: Sequence[tuple[float, float, float]]) -> float:
    """The height nearest to a point, below it or above, at which its name stands on no other."""
    near = [at for begins, ends, at in names if begins < right and left < ends]
    places = (at for line in range(len(near) + 1) for at in (y + 15 + LINE * line, y - 7 - LINE * line))
    return next(at for at in places if all(abs(at - other) >= LINE for other in near))


def fates(name: str, found: Mapping[str, int]) -> str:
    """What became of what was said, as one bar."""
    whole, x, pieces = sum(found.values()) or 1, 0.0, []
    for fate in FATES:
        wide = 640 * found.get(fate, 0) / whole
        share = f"{fate}: {found.get(fate, 0) / whole:.0%}"
        pieces.append(
            f'<rect x="{x:.1f}" y="0" width="{wide:.1f}" height="18" fill="{COLOURS[fate]}"><title>{share}</title></rect>'
        )
        x += wide
    return _svg(640, 18, pieces, f"{name}: what became of what was said")


def legend(names: Sequence[str]) -> str:
    """What the colours mean."""
    return " ".join(
        f'<span class="key"><i style="background:{COLOURS[name]}"></i>{escape(name)}</span>' for name in names
    )


def _svg(wide: int, high: int, pieces: Sequence[str], label: str) -> str:
    head = f'<svg viewBox="0 0 {wide} {high}" role="img" aria-label="{escape(label, quote=True)}">'
    return "".join([head, *pieces, "</svg>"])
