"""Draws `docs/chat.svg`: `foldline chat` on the screen, where it has just folded by itself.

python scripts/draw_chat.py
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from draw_browse import ROOT, plain
from foldline import Session
from foldline_agent.agent import Agent
from foldline_agent.asking import LanguageModel
from foldline_agent.terminal.app import Chat
from foldline_agent.terminal.entries import Notice
from foldline_agent.terminal.prompt_box import PromptBox

SIZE = (110, 34)


async def draw(folder: Path) -> str:
    """The screen as SVG, the fold opened."""
    session = Session.create(folder / "ledger.jsonl", cwd=str(folder))
    app = Chat(Agent(session, LanguageModel.named("test", window=5_000), allowed=True))
    async with app.run_test(size=SIZE) as pilot:
        part = 0
        while not app.query(Notice):
            part += 1
            app.query_one(PromptBox).text = f"Write part {part} of the ledger. Never touch config/prod.yaml."
            await pilot.press("enter")
            while app.agent.working or f"part_{part}.py is done" not in session.context.messages[-1].text:
                await pilot.pause()
        app.query(Notice).last().collapsed = False
        app.talk.scroll_end(animate=False)
        await pilot.pause()
        return app.export_screenshot(title="foldline chat")


def main() -> None:
    """Writes the drawing."""
    with tempfile.TemporaryDirectory() as folder:
        drawn = asyncio.run(draw(Path(folder)))
    (ROOT / "docs/chat.svg").write_text(plain(drawn))


if __name__ == "__main__":
    main()
