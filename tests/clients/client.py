"""The real Claude Code, Codex, Gemini CLI and Qwen Code, run in a home folder of their own against a scripted model, when they are installed.

`install.sh DIR` installs them; `CLIENT_PACKAGES=DIR` tells the tests about it.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(os.environ.get("CLIENT_PACKAGES", "/nonexistent"))
CLAUDE = next(iter(ROOT.glob("claude/node_modules/@anthropic-ai/claude-code-*/claude")), None)
CODEX = next(iter(ROOT.glob("codex/node_modules/@openai/codex-*/vendor/*/bin/codex")), None)
NODE = next(iter(ROOT.glob("node/node_modules/node-*/bin/node")), None)
GEMINI = next(iter(ROOT.glob("gemini/node_modules/.bin/gemini")), None) if NODE else None
QWEN = next(iter(ROOT.glob("qwen/node_modules/.bin/qwen")), None) if NODE else None

QUIET = {
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_BUG_COMMAND": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DO_NOT_TRACK": "1",
    "GEMINI_TELEMETRY_ENABLED": "false",
    "QWEN_TELEMETRY_ENABLED": "false",
}

CODEX_CONFIG = """
model = "gpt-5.1-codex"
model_provider = "scripted"
check_for_update_on_startup = false
approval_policy = "never"
sandbox_mode = "danger-full-access"
[analytics]
enabled = false
[feedback]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
[projects."{project}"]
trust_level = "trusted"
"""

SETTINGS = {
    "general": {"enableAutoUpdate": False, "disableAutoUpdate": True, "enableAutoUpdateNotification": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "ide": {"enabled": False},
}
"""What Gemini CLI and Qwen Code have in common."""


class Home:
    """A home folder with a project in it, in which a client leaves its sessions."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.home.mkdir(parents=True)
        self.project.mkdir()
        (self.project / "README.md").write_text("# Project\nThe word is PINEAPPLE-42.\n")

    def claude(self, url: str, *arguments: str) -> str:
        """Runs Claude Code once in the project and answers what it printed."""
        own = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "test"}
        tools = ("--allowedTools", "Bash")
        return self._run([str(CLAUDE), "-p", *arguments, "--output-format", "stream-json", "--verbose", *tools], own)

    def codex(self, url: str, *arguments: str) -> str:
        """Runs Codex once in the project and answers what it printed."""
        folder = self.home / ".codex"
        folder.mkdir(exist_ok=True)
        (folder / "config.toml").write_text(CODEX_CONFIG.format(url=url, project=self.project))
        command = [str(CODEX), "exec", "--json", "--skip-git-repo-check", *arguments]
        return self._run(command, {"CODEX_HOME": str(folder), "SCRIPTED_KEY": "test"})

    def gemini(self, url: str, *arguments: str) -> str:
        """Runs Gemini CLI once in the project and answers what it printed."""
        self._settings(".gemini", security={"auth": {"selectedType": "gemini-api-key"}})
        own = {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "test"}
        own |= {"GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_CLI_NO_RELAUNCH": "true"}
        return self._on_node(GEMINI, own, "-m", "gemini-2.5-pro", *arguments)

    def qwen(self, url: str, *arguments: str) -> str:
        """Runs Qwen Code once in the project and answers what it printed."""
        size = {"generationConfig": {"contextWindowSize": 128_000}}
        self._settings(".qwen", security={"auth": {"selectedType": "openai"}}, model=size, **{"$version": 4})
        own = {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "test", "OPENAI_MODEL": "qwen3-coder-plus"}
        return self._on_node(QWEN, {**own, "QWEN_CODE_NO_RELAUNCH": "true"}, *arguments)

    def foldline(self, *arguments: str) -> str:
        """Runs foldline in the project, for which this home is the user's, and answers what it printed."""
        return self._run(
            [sys.executable, "-m", "foldline", *arguments], {"PYTHONPATH": ":".join(filter(None, sys.path))}
        )

    def sessions(self) -> list[Path]:
        """The session files that the clients left, oldest first."""
        kept = (
            ".claude/projects/*/*",
            ".codex/sessions/**/*",
            ".gemini/tmp/*/chats/session-*",
            ".qwen/projects/*/chats/*",
        )
        found = [path for pattern in kept for path in self.home.glob(f"{pattern}.jsonl")]
        return sorted(found, key=lambda path: path.stat().st_mtime)

    def _settings(self, folder: str, **own: object) -> None:
        (self.home / folder).mkdir(exist_ok=True)
        (self.home / folder / "settings.json").write_text(json.dumps({**SETTINGS, **own}))

    def _on_node(self, program: Path | None, own: dict[str, str], *arguments: str) -> str:
        options = ("--output-format", "stream-json", "--approval-mode", "yolo")
        return self._run([str(NODE), str(program), *arguments, *options], own)

    def _run(self, command: list[str], own: dict[str, str]) -> str:
        environment = {"HOME": str(self.home), "PATH": os.environ["PATH"], **QUIET, **own}
        done = subprocess.run(
            command,
            cwd=self.project,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=180,
        )
        if done.returncode:
            raise AssertionError(
                f"{command[0]} ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
            )
        return done.stdout
