"""Draws `docs/browse.svg`: the browser on the sample session, folded once, and on two made-up ones.

python scripts/draw_browse.py
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import tempfile
from pathlib import Path

from foldline import Session
from foldline._cli.browser.app import Browser
from foldline._desk.desk import Desk
from foldline.extend import preset

ROOT = Path(__file__).resolve().parent.parent
SIZE = (110, 30)


def home(folder: Path) -> None:
    """Puts sessions of three agents into a home."""
    pi = folder / ".pi/agent/sessions/--demo--"
    pi.mkdir(parents=True)
    text = (ROOT / "samples/invoices.jsonl").read_text()
    (pi / "invoices.jsonl").write_text(text)
    (pi / "before.jsonl").write_text(text.replace("/tmp/demo/invoices", "/tmp/demo/archive"))
    found = Desk(Session(pi / "invoices.jsonl"))
    found.plan(preset("default")).write()
    claude = folder / ".claude/projects/-demo-shop/shop.jsonl"
    claude.parent.mkdir(parents=True)
    claude.write_text("".join(json.dumps(row) + "\n" for row in _claude_code(30, 61_000, "/tmp/demo/shop")))
    for age, path in enumerate((pi / "invoices.jsonl", claude, pi / "before.jsonl")):
        changed = path.stat().st_mtime - age * 5_000
        os.utime(path, (changed, changed))


def _claude_code(turns: int, tokens: int, cwd: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    about = {"sessionId": "7c1e0d52", "cwd": cwd, "version": "2.1.50", "isSidechain": False}
    for turn in range(turns):
        usage = {"input_tokens": tokens + 500 * turn, "output_tokens": 120}
        said = {"role": "assistant", "id": f"m{turn}", "model": "claude-sonnet-4-5", "usage": usage}
        said["content"] = [{"type": "text", "text": f"Step {turn} is done."}]
        asked = {"role": "user", "content": f"Please do step {turn}."}
        before = f"a{turn - 1}" if turn else None
        rows.append({"type": "user", "uuid": f"u{turn}", "parentUuid": before, **about, "message": asked})
        rows.append({"type": "assistant", "uuid": f"a{turn}", "parentUuid": f"u{turn}", **about, "message": said})
    return rows


async def draw(folder: Path) -> str:
    """The screen as SVG, the timeline where the fold stands."""
    app = Browser({"HOME": str(folder)})
    async with app.run_test(size=SIZE) as pilot:
        for _ in range(3):
            await pilot.pause()
            await app.workers.wait_for_complete()
        await pilot.press("tab")
        fold = next(n for n, step in enumerate(app.timeline.items) if step.live and step.message.summary)
        app.timeline.move_to(fold + SIZE[1] // 2)
        app.timeline.move_to(fold - 4)
        app.timeline.move_to(fold + 1)
        await pilot.pause()
        return app.export_screenshot(title="foldline browse")


def plain(drawn: str) -> str:
    """The drawing without what it would load from elsewhere: any monospaced font will do."""
    drawn = re.sub(r"@font-face \{.*?\}|<!--.*?-->", "", drawn, flags=re.DOTALL)
    drawn = drawn.replace("font-family: Fira Code", "font-family: Fira Code, DejaVu Sans Mono, Menlo, Consolas")
    return "\n".join(line.rstrip() for line in drawn.splitlines() if line.strip()) + "\n"


def main() -> None:
    """Writes the drawing."""
    with tempfile.TemporaryDirectory() as folder:
        home(Path(folder))
        drawn = asyncio.run(draw(Path(folder)))
    (ROOT / "docs/browse.svg").write_text(plain(drawn))


if __name__ == "__main__":
    main()
