"""How an agent stands, in pi's words."""

from __future__ import annotations

from typing import Any

from foldline import Session
from foldline_agent.agent import Agent

Line = dict[str, Any]


def state_of(agent: Agent, *, compacting: bool) -> Line:
    """What the agent is doing, and with what."""
    return {
        "model": model_of(agent),
        "thinkingLevel": "off",
        "isStreaming": agent.working and not compacting,
        "isCompacting": compacting,
        "steeringMode": "all",
        "followUpMode": "one-at-a-time",
        "sessionFile": agent.session.path,
        "sessionId": agent.session.id,
        "autoCompactionEnabled": agent.compactor.policy.automatic.enabled,
        "messageCount": len(agent.session.context.entries),
        "pendingMessageCount": len(agent.waiting),
    }


def model_of(agent: Agent) -> Line:
    """The model as pi describes one; prices are US dollars for a million tokens."""
    model, budget = agent.compactor.model, agent.compactor.budget
    provider, _, name = agent.model.name.rpartition(":")
    cost = {"input": model.input, "output": model.output}
    cost |= {"cacheRead": model.input * model.cache_read, "cacheWrite": model.input * model.cache_write}
    sizes = {"contextWindow": budget.window, "maxTokens": budget.output or budget.reserve}
    return {"id": name, "name": name, "api": "unknown", "provider": provider, "input": ["text"], **sizes, "cost": cost}


def stats_of(agent: Agent) -> Line:
    """What was said in the session and billed for it, whatever was folded since; cost is US dollars."""
    lineage = agent.session.lineage()
    messages = [message for _, message, _ in lineage]
    bills = [message.usage for message in messages if message.usage]
    tokens = {
        "input": sum(bill.input for bill in bills),
        "output": sum(bill.output for bill in bills),
        "cacheRead": sum(bill.cache_read for bill in bills),
        "cacheWrite": sum(bill.cache_write for bill in bills),
    }
    size, window = agent.compactor.count.tokens, agent.compactor.budget.window
    return {
        "sessionFile": agent.session.path,
        "sessionId": agent.session.id,
        "userMessages": sum(message.role == "user" for message in messages),
        "assistantMessages": sum(message.role == "assistant" for message in messages),
        "toolCalls": sum(len([*message.calls]) for message in messages),
        "toolResults": sum(len([*message.results]) for message in messages),
        "totalMessages": len(messages),
        "tokens": {**tokens, "total": sum(tokens.values())},
        "cost": sum(_cost(agent.session.record(id)) for id, message, _ in lineage if message.usage),
        "contextUsage": {"tokens": size, "contextWindow": window, "percent": round(100 * size / window, 1)},
    }


def messages_of(session: Session) -> list[Line]:
    """The messages that the model sees, as pi has them."""
    return [_message_of(session.record(id)) for id, _ in session.context.entries]


def _message_of(record: Line) -> Line:
    if record["type"] == "compaction":
        told = {"summary": record["summary"], "tokensBefore": record["tokensBefore"]}
        return {"role": "compactionSummary", **told, "timestamp": record["timestamp"]}
    message: Line = record.get("message") or {"role": "user", "content": record.get("content", [])}
    return message


def _cost(record: Line) -> float:
    """What a reply cost in US dollars, as it was noted."""
    usage = record.get("message", {}).get("usage", {})
    cost: float = usage.get("cost", {}).get("total", 0)
    return cost
