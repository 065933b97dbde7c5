"""Agents for tests: over a session in a folder, with the model that plays a script."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, TypeVar

from foldline import Session
from foldline.extend import text_of
from foldline_agent.agent import Agent
from foldline_agent.asking import LanguageModel
from foldline_agent.events import Event

Kind = TypeVar("Kind")


def agent_in(folder: Path, *steps: dict[str, Any], window: int | None = None, **options: Any) -> Agent:
    """An agent whose model plays the steps, or works without end where there are none."""
    path = folder / "session.jsonl"
    session = Session(path) if path.exists() else Session.create(path, cwd=str(folder))
    script = folder / "script.jsonl" if steps else None
    if script:
        script.write_text("\n".join(map(json.dumps, steps)))
    return Agent(
        session, LanguageModel.named("test", window=window, script_file=script), **{"allowed": True, **options}
    )


async def told(events: AsyncIterator[Event], heard: Callable[[Event], object] = lambda event: None) -> list[Event]:
    """All that is told; each event is heard as it comes."""
    kept = []
    async for event in events:
        kept.append(event)
        heard(event)
    return kept


def ran(events: AsyncIterator[Event], heard: Callable[[Event], object] = lambda event: None) -> list[Event]:
    """All that is told, in an event loop of its own."""
    return asyncio.run(told(events, heard))


def of(kind: type[Kind], events: list[Event]) -> list[Kind]:
    return [event for event in events if isinstance(event, kind)]


def kept(agent: Agent) -> list[str]:
    """What stands in the session, message by message."""
    return [m.text or "".join(map(text_of, m.results)) for _, m in Session(agent.session.path).messages()]
