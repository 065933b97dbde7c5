"""The agents that foldline can be put into: what goes where, and what each does by itself then."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple


class Put(NamedTuple):
    """A file of ours, below `files`, and its place below an agent's folder, and below a project's where it has one."""

    source: str
    place: str
    in_project: str = ""


class Entry(NamedTuple):
    """Entries in a settings file of the agent: the file below its folder, and below a project's (empty where it has
    none); the keys of each, and its value.

    In a value `PROGRAM` stands for the program of foldline, in a list for the whole command.
    """

    file: str
    in_project: str
    values: tuple[tuple[tuple[str, ...], Any], ...]


class Agent(NamedTuple):
    """An agent: its program, its folder, what is put there, and in words what is automatic then and what is by hand."""

    name: str
    title: str
    program: str
    variable: str
    folder: str
    puts: tuple[Put, ...]
    entries: tuple[Entry, ...]
    automatic: str
    by_hand: str
    mcp: str
    least: tuple[int, ...] = ()
    """The first version in which what is put there works."""
    inside: str = ""
    """Where the agent's folder stands below what its variable names."""

    @property
    def has_projects(self) -> bool:
        """Whether anything of it can stand in a project."""
        return any(put.in_project for put in self.puts) or any(entry.in_project for entry in self.entries)

    def home(self, environment: Mapping[str, str] = os.environ) -> Path:
        """The agent's own folder."""
        if named := environment.get(self.variable):
            return Path(named, self.inside)
        return Path(environment.get("HOME") or Path.home(), self.folder)


PROGRAM, WORDS = "@FOLDLINE@", "@WORDS@"
"""What stands for the program of foldline, and for the words behind it, in what is put somewhere."""

AT_REST = "between two runs: foldline compact, foldline session undo"

PI = Agent(
    "pi",
    "pi",
    "pi",
    "PI_CODING_AGENT_DIR",
    ".pi/agent",
    (Put("pi/foldline.ts", "extensions/foldline.ts", ".pi/extensions/foldline.ts"),),
    (),
    "/compact, the threshold and overflow fold by foldline, without a model call",
    "/fold, /context, /autocompact, /undo-fold, /handoff, /recall",
    "not needed: the extension brings the tool recall",
)

_MOD = (
    ".claude-plugin/plugin.json",
    ".claude-plugin/marketplace.json",
    ".mcp.json",
    "hooks/hooks.json",
    "hooks/register.js",
)

CLAUDE_CODE = Agent(
    "claude-code",
    "Claude Code",
    "claude",
    "CLAUDE_CONFIG_DIR",
    ".claude",
    tuple(Put(f"claude-code/{each}", f"skills/foldline/{each}", f".claude/skills/foldline/{each}") for each in _MOD),
    (),
    "/compact and its own compactions fold by foldline, without a model call",
    AT_REST,
    "recall, context_status, compact",
    least=(2, 1, 287),
)

_MCP = {"command": PROGRAM, "args": [WORDS, "mcp"]}
_TOOLS = "recall, context_status, compact"
_NO_HOOK = "its own compaction cannot be replaced; folding by itself needs a gateway in front of its model"

OPENCODE = Agent(
    "opencode",
    "opencode",
    "opencode",
    "OPENCODE_CONFIG_DIR",
    ".config/opencode",
    (Put("opencode/foldline.js", "plugin/foldline.js", ".opencode/plugin/foldline.js"),),
    (),
    "its requests begin with foldline's fold before they are too full, without a model call; what overflows all the same, "
    "and /compact, is its own",
    "foldline session undo, also while it runs",
    _TOOLS,
)

_PLUGIN = ("openclaw.plugin.json", "package.json", "index.js")

OPENCLAW = Agent(
    "openclaw",
    "OpenClaw",
    "openclaw",
    "OPENCLAW_STATE_DIR",
    ".openclaw",
    tuple(Put(f"openclaw/{each}", f"extensions/foldline/{each}") for each in _PLUGIN),
    (
        Entry(
            "openclaw.json",
            "",
            (
                (("agents", "defaults", "compaction", "provider"), "foldline"),
                (("plugins", "entries", "foldline", "enabled"), True),
            ),
        ),
    ),
    "foldline writes the summary of its compactions, without a model call; OpenClaw chooses the cut",
    "foldline context history, foldline recall; its store is read and not written",
    "no",
)

CODEX = Agent(
    "codex",
    "Codex",
    "codex",
    "CODEX_HOME",
    ".codex",
    (),
    (Entry("config.toml", ".codex/config.toml", ((("mcp_servers", "foldline"), _MCP),)),),
    "",
    f"{AT_REST}; {_NO_HOOK}",
    _TOOLS,
)

GEMINI_CLI = Agent(
    "gemini-cli",
    "Gemini CLI",
    "gemini",
    "GEMINI_CLI_HOME",
    ".gemini",
    (),
    (Entry("settings.json", ".gemini/settings.json", ((("mcpServers", "foldline"), _MCP),)),),
    "",
    f"{AT_REST}; {_NO_HOOK}",
    _TOOLS,
    inside=".gemini",
)

QWEN_CODE = Agent(
    "qwen-code",
    "Qwen Code",
    "qwen",
    "QWEN_HOME",
    ".qwen",
    (),
    (Entry("settings.json", ".qwen/settings.json", ((("mcpServers", "foldline"), _MCP),)),),
    "",
    f"{AT_REST}; {_NO_HOOK}",
    _TOOLS,
)

AGENTS: dict[str, Agent] = {
    agent.name: agent for agent in (PI, CLAUDE_CODE, OPENCODE, OPENCLAW, CODEX, GEMINI_CLI, QWEN_CODE)
}
"""Every agent by its name."""
