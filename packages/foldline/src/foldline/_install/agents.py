"""The agents that foldline can be put into: what goes where, and what each does by itself then."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from foldline._install import manifest


class Put(NamedTuple):
    """A file of ours, below `files`, and its place below an agent's folder, and below a project's where it has one."""

    source: str
    place: str
    in_project: str = ""


class SettingsEntry(NamedTuple):
    """Entries in a settings file of the agent: the file below its folder, and below a project's (empty where it has
    none); the keys of each, and its value.

    In a value `PROGRAM` stands for the program of foldline, and `WORDS` for those behind it.
    """

    file: str
    in_project: str
    values: tuple[tuple[tuple[str, ...], Any], ...]


class Agent(NamedTuple):
    """An agent: its program, its folder and the variable that names another, and what is put there.

    What it does by itself then (empty where that is nothing), what is by hand, and which tools it has, is said in words.
    """

    name: str
    title: str
    program: str
    variable: str
    folder: str
    by_hand: str
    mcp: str
    automatic: str = ""
    commands: str = ""
    """What is by hand as well where foldline was put into it, before the rest."""
    puts: tuple[Put, ...] = ()
    entries: tuple[SettingsEntry, ...] = ()
    least: tuple[int, ...] = ()
    """The first version in which what is put there works."""
    inside: str = ""
    """Where the agent's folder stands below what its variable names."""

    @property
    def has_projects(self) -> bool:
        """Whether anything of it can stand in a project."""
        return any(put.in_project for put in self.puts) or any(entry.in_project for entry in self.entries)

    def home(self) -> Path:
        """The agent's own folder."""
        if named := os.environ.get(self.variable):
            return Path(named, self.inside)
        return Path(os.environ.get("HOME") or Path.home(), self.folder)


PROGRAM, WORDS = "@FOLDLINE@", "@WORDS@"
"""What stands for the program of foldline, and for the words behind it, in what is put somewhere."""

_AT_REST = "between two runs: foldline compact, foldline session undo"
_NO_HOOK = "its own compaction cannot be replaced; folding by itself needs a gateway in front of its model"
_TOOLS = "recall, context_status, compact"
_MCP = {"command": PROGRAM, "args": [WORDS, "mcp"]}

_PATIENT_MCP = _MCP | {"timeout": 30_000}
"""The same with the milliseconds that an answer may take: without them Gemini CLI and Qwen Code hang for ten minutes on a server that is broken."""


def folds_by_itself(agent: str, project: str) -> bool:
    """Whether foldline folds by itself in an agent: where it was put into it, for the user or in a project."""
    known = manifest.read()
    return agent in AGENTS and bool(AGENTS[agent].automatic) and any(known.of(agent, at) for at in ("", project))


def _files(folder: str, place: str, names: Sequence[str], in_project: str = "") -> tuple[Put, ...]:
    """All files of a folder of ours, below a place of the agent's."""
    return tuple(
        Put(f"{folder}/{name}", f"{place}/{name}", f"{in_project}/{name}" if in_project else "") for name in names
    )


PI = Agent(
    name="pi",
    title="pi",
    program="pi",
    variable="PI_CODING_AGENT_DIR",
    folder=".pi/agent",
    automatic="/compact, the threshold and overflow fold by foldline, without a model call",
    commands="in pi: /fold, /context, /autocompact, /undo-fold, /handoff, /recall; ",
    by_hand=_AT_REST,
    mcp="not needed: the extension brings the tool recall",
    puts=_files("pi", "extensions", ("foldline.ts",), ".pi/extensions"),
)

CLAUDE_CODE = Agent(
    name="claude-code",
    title="Claude Code",
    program="claude",
    variable="CLAUDE_CONFIG_DIR",
    folder=".claude",
    automatic="/compact and its own compactions fold by foldline, without a model call",
    by_hand=_AT_REST,
    mcp=_TOOLS,
    puts=_files(
        "claude-code",
        "skills/foldline",
        (
            ".claude-plugin/plugin.json",
            ".claude-plugin/marketplace.json",
            ".mcp.json",
            "hooks/hooks.json",
            "hooks/register.js",
        ),
        ".claude/skills/foldline",
    ),
    least=(2, 1, 287),
)

OPENCODE = Agent(
    name="opencode",
    title="opencode",
    program="opencode",
    variable="OPENCODE_CONFIG_DIR",
    folder=".config/opencode",
    automatic="its requests begin with foldline's fold before they are too full, without a model call; "
    "what overflows all the same, and /compact, is its own",
    by_hand="foldline session undo, also while it runs",
    mcp=_TOOLS,
    puts=_files("opencode", "plugin", ("foldline.js",), ".opencode/plugin"),
)

OPENCLAW = Agent(
    name="openclaw",
    title="OpenClaw",
    program="openclaw",
    variable="OPENCLAW_STATE_DIR",
    folder=".openclaw",
    automatic="foldline writes the summary of its compactions, without a model call; OpenClaw chooses the cut",
    by_hand="foldline context history, foldline recall; its store is read and not written",
    mcp="no",
    puts=_files("openclaw", "extensions/foldline", ("openclaw.plugin.json", "package.json", "index.js")),
    entries=(
        SettingsEntry(
            "openclaw.json",
            "",
            (
                (("agents", "defaults", "compaction", "provider"), "foldline"),
                (("plugins", "entries", "foldline", "enabled"), True),
            ),
        ),
    ),
)


def _by_mcp(
    name: str, title: str, program: str, variable: str, folder: str, file: str, server: Mapping[str, Any], **more: Any
) -> Agent:
    """An agent that lets nobody replace its compaction: one entry of MCP in its settings file, its own and a project's."""
    key = "mcp_servers" if file.endswith(".toml") else "mcpServers"
    entry = SettingsEntry(file, f"{folder}/{file}", (((key, "foldline"), server),))
    return Agent(
        name, title, program, variable, folder, by_hand=f"{_AT_REST}; {_NO_HOOK}", mcp=_TOOLS, entries=(entry,), **more
    )


CODEX = _by_mcp("codex", "Codex", "codex", "CODEX_HOME", ".codex", "config.toml", _MCP)
GEMINI_CLI = _by_mcp(
    "gemini-cli", "Gemini CLI", "gemini", "GEMINI_CLI_HOME", ".gemini", "settings.json", _PATIENT_MCP, inside=".gemini"
)
QWEN_CODE = _by_mcp("qwen-code", "Qwen Code", "qwen", "QWEN_HOME", ".qwen", "settings.json", _PATIENT_MCP)

AGENTS: dict[str, Agent] = {
    agent.name: agent for agent in (PI, CLAUDE_CODE, OPENCODE, OPENCLAW, CODEX, GEMINI_CLI, QWEN_CODE)
}
"""Every agent by its name."""
