"""Draws `docs/commands.svg` and `docs/agents/install.svg`: commands as a terminal shows them, run for the drawing.

python scripts/draw_commands.py
"""

from __future__ import annotations

import io
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import termios
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from draw_browse import ROOT, plain

COLUMNS = 92
HOME = "/home/ana"

FOLDING = (
    "foldline context status",
    "foldline compact",
    "foldline recall the public API --limit 2",
    "foldline session undo",
)
INSTALLING = ("foldline install pi claude-code", "foldline doctor", "foldline uninstall --all")

PAUSE, LINE = 1.6, 0.06
"""Seconds before a command appears, and between two lines of what it says."""

APPEARING = """
@media (prefers-reduced-motion: no-preference) {
  .said { opacity: 0; animation: appear 0.01s forwards; }
  @keyframes appear { to { opacity: 1; } }
}
"""


def set_stage(home: Path) -> Path:
    """A home with two agents and the sample session of one of them; answers the directory that it is of."""
    project = home / "invoices"
    store = home / ".pi/agent/sessions/--invoices--"
    for folder in (project, store, home / ".claude", home / "bin"):
        folder.mkdir(parents=True)
    header, *rows = (ROOT / "samples/invoices.jsonl").read_text().splitlines(keepends=True)
    told = json.loads(header) | {"cwd": str(project)}
    (store / "invoices.jsonl").write_text("".join([json.dumps(told) + "\n", *rows]))
    for program, version in (("pi", "0.87.1"), ("claude", "2.1.330")):
        place = home / "bin" / program
        place.write_text(f"#!/bin/sh\necho {version}\n")
        place.chmod(0o755)
    return project


def said(command: str, home: Path, project: Path) -> str:
    """All that a terminal shows of a command whose questions are answered with yes."""
    user, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (40, COLUMNS))
    environment = {
        "HOME": str(home),
        "PATH": f"{home}/bin",
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "LANG": "C.UTF-8",
    }
    words = [sys.executable, "-m", *command.split()]
    running = subprocess.Popen(words, cwd=project, env=environment, stdin=terminal, stdout=terminal, stderr=terminal)
    os.close(terminal)
    told = b""
    try:
        while piece := os.read(user, 65_536):
            told += piece
            if told.endswith((b"]: ", b"summary]: ")):
                os.write(user, b"y\n")
    except OSError:
        pass
    running.wait()
    os.close(user)
    return told.decode().replace("\r\n", "\n").replace(str(home), HOME)


def drawn(commands: Sequence[str], title: str) -> str:
    """The commands and what they say as SVG, in which they appear one after the other."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    times: list[float] = []
    now = 0.0
    with tempfile.TemporaryDirectory(prefix="ana") as folder:
        home = Path(folder)
        project = set_stage(home)
        for command in commands:
            now += PAUSE if times else 0.0
            console.print(Text.assemble(("$ ", "dim"), (command, "bold")))
            times.append(now)
            for line in said(command, home, project).rstrip("\n").split("\n"):
                now += LINE
                console.print(Text.from_ansi(line))
                times.append(now)
            console.print()
            times.append(now)
    return appearing(plain(console.export_svg(title=title, unique_id="foldline")), times)


def appearing(svg: str, times: Sequence[float]) -> str:
    """The drawing with each line at its time."""

    def timed(text: re.Match[str]) -> str:
        line = min(int(text[2]), len(times) - 1)
        return f'<text class="said {text[1]}" style="animation-delay: {times[line]:.2f}s"{text[0].partition(text[1] + chr(34))[2]}'

    svg = re.sub(r'<text class="([\w-]+)"[^>]*url\(#foldline-line-(\d+)\)">', timed, svg)
    return svg.replace("</style>", f"{APPEARING}</style>", 1)


def main() -> None:
    """Writes the drawings."""
    (ROOT / "docs/commands.svg").write_text(drawn(FOLDING, "foldline, on a session of pi"))
    (ROOT / "docs/agents/install.svg").write_text(drawn(INSTALLING, "foldline, in the agents of this machine"))


if __name__ == "__main__":
    main()
