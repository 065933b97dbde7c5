"""What agents are known to send beside the messages that their files show."""

USUAL = {
    "claude-code": 40_000,
    "gemini-cli": 12_000,
    "qwen-code": 12_000,
    "opencode": 7_000,
    "cline": 7_000,
    "pi": 4_000,
}
"""Tokens of system prompt and tool schemas, the median over real sessions with the provider's usage."""


def usual_overhead(agent: str) -> int:
    """The hidden tokens of an agent's requests where nothing was billed yet; 0 for an unknown agent."""
    return USUAL.get(agent, 0)
