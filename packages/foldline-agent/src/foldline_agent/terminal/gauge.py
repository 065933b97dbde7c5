"""How full the window is: a bar with the marks at which something is folded."""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text

from foldline import Compactor
from foldline.extend import Layer, Mark

WIDTH = 24
"""Characters of the bar."""

CALM, NEAR = "green", "yellow"
"""Its colour below the first mark, and from there on."""


def marks(compactor: Compactor) -> list[tuple[float, Layer]]:
    """The layers of the policy by the share of the window at which each begins."""
    window, overhead = compactor.budget.window, compactor.room.system
    found = []
    for layer in compactor.policy.layers:
        at = layer.at
        share = (at.of(compactor.budget, overhead) + overhead) / window if isinstance(at, Mark) else float(at)
        found.append((share, layer))
    return sorted(found, key=lambda each: each[0])


def gauge(compactor: Compactor, *, folds: int, model: str, width: int) -> Text:
    """The bar, the figures, the policy and the model; "auto off" where nothing folds by itself.

    It is one line of so many characters, or two where they do not suffice.
    """
    size, window, steps = compactor.count, compactor.budget.window, marks(compactor)
    fill = size.tokens / window
    colour = NEAR if steps and fill >= steps[0][0] else CALM
    line = Text(no_wrap=True, overflow="ellipsis")
    at = {min(WIDTH - 1, int(share * WIDTH)) for share, _ in steps if share < 1}
    for place in range(WIDTH):
        full = place < fill * WIDTH
        line.append("┃" if place in at else "█" if full else "░", style=colour if full else "dim")
    line.append(f" {fill:.0%}", style=f"bold {colour}")
    line.append(f" of {window:,} ± {size.error:.1%}")
    if not compactor.policy.automatic.enabled:
        line.append("  auto off", style="bold yellow")
    if folds:
        line.append(f"  {folds} fold{'' if folds == 1 else 's'}")
    layers = " · ".join(f"{layer.name} {share:.0%}" for share, layer in steps)
    policy = f"{compactor.policy.name}: {layers}  {model}"
    line.append("  " if line.cell_len + 2 + cell_len(policy) <= width else "\n")
    return line.append(policy, style="dim")
