"""Agents that foldline is installed in, run for real in a home of their own against a scripted model."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from client import CLAUDE, CODEX, CODEX_CONFIG, GEMINI, NODE, QUIET, QWEN, ROOT, SETTINGS
from scripted_model import Reply, ScriptedModel

WINDOW = 32_000
"""Tokens of the window that the agents are told of."""


class Host:
    """An agent with a home and a project, and the scripted model that it talks to."""

    name = ""
    kept: tuple[str, ...] = ()
    """Where the agent keeps sessions, below its home."""
    window = WINDOW
    steps_each = 14
    """Commands in a turn."""
    settings_file = ""
    """Where an entry of foldline's goes, below the home."""
    recall = ""
    """What the tool recall is called there."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project, self.bin = folder / "home", folder / "project", folder / "bin"
        for each in (self.home, self.project, self.bin):
            each.mkdir(parents=True)
        (self.project / "README.md").write_text("# Project\nThe word is PINEAPPLE-42.\n")
        self.own: dict[str, str] = {}
        self.steps = 0

    @classmethod
    def is_there(cls) -> bool:
        """Whether the agent is installed."""
        raise NotImplementedError

    def configure(self, url: str) -> None:
        """Writes the agent's own settings: where the model is, and how large its window."""
        raise NotImplementedError

    def command(self, prompt: str) -> list[str]:
        """What runs one turn of the newest session, or of a new one where there is none."""
        raise NotImplementedError

    def environment(self, url: str) -> dict[str, str]:
        """What the agent is told by its environment."""
        return {}

    def say(self, prompt: str, replies: Sequence[Reply | str], window: int = 1 << 30) -> ScriptedModel:
        """Runs one turn in a process of its own, and answers the model that heard it."""
        with ScriptedModel(replies, window, summary="<summary>ITS-OWN-SUMMARY of it all</summary>") as model:
            self.configure(model.url)
            self.run(self.command(prompt), self.environment(model.url))
        return model

    def work(self, steps: int, rows: int = 250) -> list[Reply | str]:
        """Replies that run so many commands, each with so many rows of output of some 6 tokens, and end with a report."""
        first, self.steps = self.steps + 1, self.steps + steps
        return [*(step(n, rows) for n in range(first, self.steps + 1)), f"Steps up to {self.steps} are done."]

    def run(self, command: Sequence[str], own: dict[str, str]) -> str:
        """Runs a program in the project and answers what it printed."""
        done = subprocess.run(
            list(command),
            cwd=self.project,
            env={**self.surroundings, **self.own, **own},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )
        (self.home.parent / "last.log").write_text(f"{command}\n{done.returncode}\n{done.stdout}\n--\n{done.stderr}")
        if done.returncode not in (0, 3):
            raise AssertionError(f"{command[0]}: {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.stdout

    def foldline(self, *arguments: str) -> str:
        """Runs foldline in the project, for which this home is the user's, and answers what it printed."""
        return self.run([sys.executable, "-m", "foldline", *arguments], {})

    @property
    def for_editors(self) -> list[str]:
        """What an editor starts that speaks the Agent Client Protocol with it."""
        raise NotImplementedError

    @property
    def surroundings(self) -> dict[str, str]:
        """What every program here finds in its environment."""
        path = f"{self.bin}:{NODE.parent if NODE else ''}:{os.environ['PATH']}"
        return {"HOME": str(self.home), "PATH": path, "PYTHONPATH": ":".join(filter(None, sys.path)), **QUIET}

    def put_in_place_of_foldline(self, script: str) -> None:
        """Has what was installed start a program of this text instead."""
        program = self.bin / "broken"
        program.write_text(script)
        program.chmod(0o755)
        changed = 0
        scripts = [path for path in self.home.rglob("*.[tj]s") if "foldline" in str(path)]
        for path in [*scripts, self.home / self.settings_file] if self.settings_file else scripts:
            text = path.read_text()
            told = re.sub(r'(FOLDLINE(?:: string\[\])? = )\[".*"\]', rf'\1["{program}"]', text)
            path.write_text(re.sub(r'"[^"\n]*"(,?\s*"?args\b)', rf'"{program}"\1', told))
            changed += path.read_text() != text
        assert changed

    def sessions(self) -> list[Path]:
        """The agent's session files, oldest first."""
        found = [path for pattern in self.kept for path in self.home.glob(pattern)]
        return sorted(found, key=lambda path: path.stat().st_mtime)

    def folds(self) -> list[dict[str, Any]]:
        """The folds of the newest session, as `context history` tells them, newest first."""
        told = json.loads(self.foldline("context", "history", "--json", "--session", str(self.sessions()[-1])))
        return list(told["folds"])

    def settings(self, path: str, text: str, url: str) -> None:
        """Writes a settings file of the agent, or tells the one that is there where the model is now."""
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.exists():
            text = re.sub(r"http://127\.0\.0\.1:\d+", url, file.read_text())
        file.write_text(text)

    @staticmethod
    def without_port(settings: bytes) -> bytes:
        """A settings file but for where the model is."""
        return re.sub(rb"127\.0\.0\.1:\d+", b"", settings)

    def files(self) -> dict[str, bytes]:
        """Every file of the home, sessions apart."""
        sessions = set(self.sessions())
        return {
            str(path.relative_to(self.home)): path.read_bytes()
            for path in self.home.rglob("*")
            if path.is_file() and path not in sessions
        }


def step(n: int, rows: int) -> Reply:
    """One step of an agent: a command with so many rows of output; some agents run none in which another stands."""
    said = f'print "step-{n} row " i " is " (i*{n}+7)'
    return Reply(f"Step {n}.", commands=(f"awk 'BEGIN {{ for (i = 1; i <= {rows}; i++) {said} }}'",))


class Pi(Host):
    """pi in its print mode."""

    name = "pi"
    kept = (".pi/agent/sessions/*/*.jsonl",)
    package = ROOT / "pi2/node_modules/@earendil-works/pi-coding-agent"
    reserve = 6000
    """Tokens that pi keeps free."""

    @classmethod
    def is_there(cls) -> bool:
        return NODE is not None and cls.package.is_dir()

    def configure(self, url: str) -> None:
        folder = self.home / ".pi/agent"
        folder.mkdir(parents=True, exist_ok=True)
        model = {"id": "scripted", "name": "Scripted", "reasoning": False, "input": ["text"], "maxTokens": 2000}
        model |= {"contextWindow": WINDOW, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}
        provider = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "test", "models": [model]}
        (folder / "models.json").write_text(json.dumps({"providers": {"scripted": provider}}))
        sizes = {"enabled": True, "reserveTokens": self.reserve, "keepRecentTokens": 5000}
        (folder / "settings.json").write_text(json.dumps({"compaction": sizes}))

    def command(self, prompt: str) -> list[str]:
        manifest = json.loads((self.package / "package.json").read_text())
        program = [str(NODE), str(self.package / manifest["bin"]["pi"])]
        again = ["--continue"] if self.sessions() else []
        return [*program, "-p", "--mode", "json", "--provider", "scripted", "--model", "scripted", *again, prompt]

    def environment(self, url: str) -> dict[str, str]:
        return {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0"}

    @contextmanager
    def open(self, url: str) -> Iterator[Callable[[str], list[dict[str, Any]]]]:
        """pi kept running; each call hands it a line of the user's, and answers what it tells until it is done with it."""
        self.configure(url)
        command = [word for word in self.command("")[:-1] if word != "-p"]
        command[command.index("json")] = "rpc"
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        with subprocess.Popen(
            command, cwd=self.project, env={**self.surroundings, **self.own, **self.environment(url)}, **streams
        ) as pi:

            def said(line: str) -> list[dict[str, Any]]:
                print(json.dumps({"type": "prompt", "message": line, "id": line}), file=pi.stdin, flush=True)
                told = []
                for answer in map(json.loads, pi.stdout):
                    told.append(answer)
                    if answer.get("type") == ("response" if line.startswith("/") else "agent_end"):
                        return told
                return told

            try:
                yield said
            finally:
                pi.terminate()


class OlderPi(Pi):
    """The last pi of its first name."""

    package = ROOT / "pi1/node_modules/@mariozechner/pi-coding-agent"


class ClaudeCode(Host):
    """Claude Code without its terminal."""

    name = "claude-code"
    kept = (".claude/projects/*/*.jsonl",)
    program = CLAUDE
    window = 45_000
    """It sends 12,000 tokens of its own."""
    steps_each = 18

    @classmethod
    def is_there(cls) -> bool:
        return cls.program is not None

    def configure(self, url: str) -> None:
        """It has no settings of its own for this."""

    def command(self, prompt: str) -> list[str]:
        again = ["--resume", self.sessions()[-1].stem] if self.sessions() else []
        told = ["--output-format", "stream-json", "--verbose", "--allowedTools", "Bash"]
        return [str(self.program), "-p", prompt, *again, *told]

    def environment(self, url: str) -> dict[str, str]:
        return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "test"}


class OlderClaudeCode(ClaudeCode):
    """A Claude Code from before it had mods."""

    window = 52_000
    program = next(iter(ROOT.glob("claude148/node_modules/@anthropic-ai/claude-code-*/claude")), None)


class Codex(Host):
    """Codex without its terminal."""

    name = "codex"
    settings_file = ".codex/config.toml"
    recall = "mcp__foldline.recall"
    kept = (".codex/sessions/**/*.jsonl",)

    @classmethod
    def is_there(cls) -> bool:
        return CODEX is not None

    def configure(self, url: str) -> None:
        self.settings(".codex/config.toml", CODEX_CONFIG.format(url=url, project=self.project), url)

    def command(self, prompt: str) -> list[str]:
        again = ["resume", "--last"] if self.sessions() else []
        return [str(CODEX), "exec", "--json", "--skip-git-repo-check", *again, prompt]

    def environment(self, url: str) -> dict[str, str]:
        return {"CODEX_HOME": str(self.home / ".codex"), "SCRIPTED_KEY": "test"}


class GeminiCli(Host):
    """Gemini CLI without its terminal."""

    name = "gemini-cli"
    window = 40_000
    settings_file = ".gemini/settings.json"
    recall = "mcp_foldline_recall"
    kept = (".gemini/tmp/*/chats/session-*.jsonl",)

    @classmethod
    def is_there(cls) -> bool:
        return GEMINI is not None

    def configure(self, url: str) -> None:
        own = {**SETTINGS, "security": {"auth": {"selectedType": "gemini-api-key"}}}
        self.settings(".gemini/settings.json", json.dumps(own, indent=2), url)

    def command(self, prompt: str) -> list[str]:
        again = ["--resume", "latest"] if self.sessions() else []
        told = ["-m", "gemini-2.5-pro", "--output-format", "stream-json", "--approval-mode", "yolo"]
        return [str(NODE), str(GEMINI), "-p", prompt, *told, *again]

    def environment(self, url: str) -> dict[str, str]:
        own = {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "test"}
        return own | {"GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_CLI_NO_RELAUNCH": "true"}


class QwenCode(Host):
    """Qwen Code without its terminal."""

    name = "qwen-code"
    window = 42_000
    settings_file = ".qwen/settings.json"
    recall = "mcp__foldline__recall"
    kept = (".qwen/projects/*/chats/*.jsonl",)

    @classmethod
    def is_there(cls) -> bool:
        return QWEN is not None

    def configure(self, url: str) -> None:
        own = {**SETTINGS, "security": {"auth": {"selectedType": "openai"}}, "$version": 4}
        self.settings(".qwen/settings.json", json.dumps(own, indent=2), url)

    def command(self, prompt: str) -> list[str]:
        again = ["--continue"] if self.sessions() else []
        told = ["--output-format", "stream-json", "--approval-mode", "yolo"]
        return [str(NODE), str(QWEN), "-p", prompt, *told, *again]

    def environment(self, url: str) -> dict[str, str]:
        own = {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "test", "OPENAI_MODEL": "qwen3-coder-plus"}
        return {**own, "QWEN_CODE_NO_RELAUNCH": "true"}

    @property
    def for_editors(self) -> list[str]:
        return [str(NODE), str(QWEN), "--acp"]


class OpenCode(Host):
    """opencode without its terminal."""

    name = "opencode"
    kept = (".local/share/opencode/opencode.db",)
    program = next(iter(ROOT.glob("opencode/node_modules/opencode-linux-x64/bin/opencode")), None)

    @classmethod
    def is_there(cls) -> bool:
        return cls.program is not None

    def configure(self, url: str) -> None:
        model = {"name": "Scripted", "limit": {"context": WINDOW, "output": 4000}, "tool_call": True}
        options = {"baseURL": f"{url}/v1", "apiKey": "test"}
        provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"scripted": model}}
        own = {"autoupdate": False, "share": "disabled", "provider": {"scripted": provider}}
        own |= {"model": "scripted/scripted", "permission": {"*": "allow"}}
        self.settings(".config/opencode/opencode.json", json.dumps(own, indent=2), url)
        self._has_packages()

    def command(self, prompt: str) -> list[str]:
        again = ["--continue"] if (self.home / ".local/share/opencode").exists() else []
        return [str(self.program), "run", *again, "--format", "json", prompt]

    @property
    def for_editors(self) -> list[str]:
        return [str(self.program), "acp"]

    def _has_packages(self) -> None:
        """opencode fetches its package for plugins first, from the network, where it is not noted as there; ours needs none."""
        folder = self.home / ".config/opencode"
        (folder / "node_modules").mkdir(exist_ok=True)
        noted = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "1.18.33"}}}}
        (folder / "package-lock.json").write_text(json.dumps(noted))

    def environment(self, url: str) -> dict[str, str]:
        return {f"OPENCODE_DISABLE_{what}": "1" for what in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD")}


class OpenClaw(Host):
    """OpenClaw's agent without its gateway."""

    name = "openclaw"
    program = ROOT / "openclaw/node_modules/openclaw/openclaw.mjs"
    kept = (".openclaw/agents/*/agent/openclaw-agent.sqlite",)
    settings_file = ".openclaw/openclaw.json"
    window = 48_000

    @classmethod
    def is_there(cls) -> bool:
        return NODE is not None and cls.program.exists()

    def configure(self, url: str) -> None:
        model = {"id": "scripted", "name": "Scripted", "reasoning": False, "input": ["text"], "maxTokens": 4000}
        model |= {"contextWindow": self.window, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}
        provider = {"baseUrl": f"{url}/v1", "apiKey": "test", "api": "openai-completions", "models": [model]}
        defaults = {"workspace": str(self.project), "model": {"primary": "scripted/scripted"}}
        defaults |= {"compaction": {"keepRecentTokens": 8000}}
        own = {"models": {"mode": "replace", "providers": {"scripted": provider}}, "agents": {"defaults": defaults}}
        own |= {"update": {"checkOnStart": False}}
        self.settings(".openclaw/openclaw.json", json.dumps(own, indent=2), url)

    def command(self, prompt: str) -> list[str]:
        told = ["--local", "--agent", "main", "--message", prompt, "--json"]
        return [str(NODE), str(self.program), "agent", *told]

    def environment(self, url: str) -> dict[str, str]:
        state = self.home / ".openclaw"
        own = {"OPENCLAW_STATE_DIR": str(state), "OPENCLAW_CONFIG_PATH": str(state / "openclaw.json")}
        return {**own, "OPENCLAW_NO_AUTO_UPDATE": "1", "OPENCLAW_DISABLE_TELEMETRY": "1"}
