"""Two faces for one message: what the agent says as text, or every event as a line of JSON."""

from __future__ import annotations

import json
import sys

from foldline.extend import text_of
from foldline_agent import events
from foldline_agent.agent import REFUSED, Agent
from foldline_agent.events import Event
from foldline_agent.lines import Lines

CODES = {"stop": 0, "aborted": 130, "length": 1, "error": 1}
"""The exit code of each end."""


async def print_text(agent: Agent, asked: str) -> int:
    """Says on standard output what the agent says, and on standard error what it does; answers the exit code."""
    code = refused = 0
    async for event in agent.run(asked):
        _refuse(agent, event)
        match event:
            case events.TextDelta(text=text):
                print(text, end="", flush=True)
            case events.ReplyEnded(message=message) if message.text:
                print(flush=True)
            case events.RunEnded(end=end):
                code = CODES[end]
            case events.ConfirmationWanted():
                refused += 1
            case _ if told := _aside(event):
                print(told, file=sys.stderr, flush=True)
    if refused:
        print(f"· calls that were refused: {refused}; --yes allows them", file=sys.stderr, flush=True)
    return code


async def print_lines(agent: Agent, message: str) -> int:
    """Writes every event as a line of JSON, as pi does; answers the exit code."""
    lines, code = Lines(agent), 0
    print_line(agent.session.header)
    async for event in agent.run(message):
        for line in lines.of(event):
            print_line(line)
        _refuse(agent, event)
        if isinstance(event, events.RunEnded):
            code = CODES[event.end]
    for line in lines.settled():
        print_line(line)
    return code


def print_line(line: dict[str, object]) -> None:
    """One JSON object on a line of standard output."""
    print(json.dumps(line, ensure_ascii=False), flush=True)


def _refuse(agent: Agent, event: Event) -> None:
    """Nobody is there to ask: what was not allowed beforehand is not done."""
    if isinstance(event, events.ConfirmationWanted):
        agent.answer(event.call.id, False)


def _aside(event: Event) -> str:
    match event:
        case events.ToolStarted(call=call):
            return f"· {call.name} {call.arguments[:200]}"
        case events.ToolEnded(call=call, result=result) if result.error:
            last = text_of(result).split("\n")[-1]
            return f"· {call.name} " + ("refused: --yes allows it" if last == REFUSED else f"failed: {last[:200]}")
        case events.FoldEnded(fold=fold) if fold is not None:
            receipt = fold.receipt
            shortened = f", {receipt.messages_pruned} outputs shortened" if receipt.messages_pruned else ""
            return f"· folded: {receipt.tokens_before:,} → {receipt.tokens_after:,} tokens{shortened}"
        case events.Noticed(text=text) | events.Failed(error=text):
            return f"· {text}"
    return ""
