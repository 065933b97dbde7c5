"""Where agents keep their sessions."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def stores(environment: Mapping[str, str] = os.environ) -> list[tuple[str, Path, str]]:
    """Where agents keep their sessions: the agent's name, a folder, and the pattern of the files below it."""
    home = Path(environment.get("HOME") or Path.home())

    def folder(variable: str, otherwise: Path) -> Path:
        return Path(environment.get(variable) or otherwise)

    openclaw = folder("OPENCLAW_STATE_DIR", home / ".openclaw") / "agents"
    data = folder("XDG_DATA_HOME", home / ".local" / "share")
    qwen = folder("QWEN_HOME", home / ".qwen")
    gemini = folder("GEMINI_CLI_HOME", home) / ".gemini"
    return [
        ("pi", folder("PI_CODING_AGENT_DIR", home / ".pi" / "agent") / "sessions", "*/*.jsonl"),
        ("openclaw", openclaw, "*/sessions/*.jsonl"),
        ("openclaw", openclaw, "*/agent/openclaw-agent.sqlite"),
        ("claude-code", folder("CLAUDE_CONFIG_DIR", home / ".claude") / "projects", "*/*.jsonl"),
        ("codex", folder("CODEX_HOME", home / ".codex") / "sessions", "*/*/*/rollout-*.jsonl"),
        ("gemini-cli", gemini / "tmp", "*/chats/session-*.json*"),
        ("qwen-code", qwen / "projects", "*/chats/*.jsonl"),
        ("opencode", data / "opencode", "opencode.db"),
    ]
