"""The real Claude Code and Codex, run in a home folder of their own against a scripted model, when they are installed.

`install.sh DIR` installs them; `CLIENT_PACKAGES=DIR` tells the tests about it.
"""

import os
import subprocess
from pathlib import Path

ROOT = Path(os.environ.get("CLIENT_PACKAGES", "/nonexistent"))
CLAUDE = next(iter(ROOT.glob("claude/node_modules/@anthropic-ai/claude-code-*/claude")), None)
CODEX = next(iter(ROOT.glob("codex/node_modules/@openai/codex-*/vendor/*/bin/codex")), None)

QUIET = {
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_BUG_COMMAND": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DO_NOT_TRACK": "1",
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

    def sessions(self) -> list[Path]:
        """The session files that the clients left, oldest first."""
        found = [*self.home.glob(".claude/projects/*/*.jsonl"), *self.home.glob(".codex/sessions/**/*.jsonl")]
        return sorted(found, key=lambda path: path.stat().st_mtime)

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
