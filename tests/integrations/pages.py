"""What the pages of the documentation show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PAGES = Path(__file__).parents[2] / "docs" / "integrations"


def run(page: str, **names: Any) -> dict[str, Any]:
    """Runs the code of a page, one block after the other, and answers the names that there are then."""
    for block in (PAGES / f"{page}.md").read_text("utf-8").split("```python\n")[1:]:
        exec(compile(block.partition("```")[0], page, "exec"), names)
    return names
