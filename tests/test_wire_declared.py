"""A wire format of somebody else's: one file in a package of its own, found by its entry point."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from foldline import WireError
from foldline import _wires as wire

DOCUMENT = (Path(__file__).parent.parent / "docs" / "wires.md").read_text("utf-8")
SHAREGPT = DOCUMENT.partition("```python\n")[2].partition("```")[0]
"""The format that the documentation shows."""

LOOP = """
from foldline import Compactor
from foldline._handoff.new_session import write_new

history = []
compactor = Compactor(window=8_000)
refused = 0
for turn in range(120):
    history.append({"from": "human", "value": f"Request {turn}: keep file_{turn}.py as it is. " + "word " * 60})
    sent = compactor.fit(history)
    refused += not all(set(item) == {"from", "value"} for item in sent)
    history.append({"from": "gpt", "value": f"Done with request {turn}. " + "word " * 60})
assert compactor.folds and not refused, (len(compactor.folds), refused)
assert sent[-1] is history[-2]
assert any("<summary>" in item["value"] for item in sent)
print(len(compactor.folds))
"""


def installed(folder: Path, module: str, source: str) -> Path:
    """A folder as pip leaves it: a package's one file, and what its distribution says of it."""
    (folder / f"{module}.py").write_text(source)
    about = folder / f"foldline_{module}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: foldline-{module}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[foldline.wires]\n{module} = {module}:FORMAT\n")
    return folder


def run(code: str, *folders: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([*map(str, folders), *filter(None, sys.path)])
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": path})


def test_a_package_adds_a_format_by_one_file(tmp_path: Path) -> None:
    done = run(LOOP, installed(tmp_path, "sharegpt", SHAREGPT))
    assert done.stderr == ""
    assert int(done.stdout) >= 2, "folds over more than one window"


def test_it_may_be_named(tmp_path: Path) -> None:
    named = "from foldline import _wires as wire; print(*wire.FORMATS); print(wire.named('sharegpt').name)"
    *_, all_of_them, name = run(named, installed(tmp_path, "sharegpt", SHAREGPT)).stdout.splitlines()
    assert all_of_them.split()[-1] == name == "sharegpt"
    assert all_of_them.split()[:-1] == list(wire.OWN)


def test_without_it_the_history_is_not_guessed_at(tmp_path: Path) -> None:
    done = run(LOOP, tmp_path)
    assert "WireError: messages[0].role: a message without a role" in done.stderr


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("raise ImportError('no morse here')", "ImportError: no morse here"),
        ("FORMAT = 'morse'", "it is a str, not a WireFormat"),
    ],
)
def test_a_broken_package_is_warned_of_and_stops_nobody(source: str, why: str, tmp_path: Path) -> None:
    code = "from foldline import Compactor; print(len(Compactor().fit([{'role': 'user', 'content': 'hi'}])))"
    done = run(code, installed(tmp_path, "morse", source))
    assert done.stdout == "1\n"
    assert f"RuntimeWarning: morse (morse:FORMAT, of foldline.wires) is left out: {why}" in done.stderr


def test_foldlines_own_are_not_replaced(tmp_path: Path) -> None:
    stolen = SHAREGPT.replace('name="sharegpt"', 'name="anthropic"')
    done = run(
        "from foldline import _wires as wire; print(wire.named('anthropic').join, *wire.FORMATS)",
        installed(tmp_path, "sharegpt", stolen),
    )
    assert done.stdout.split() == ["None", *wire.OWN]


@pytest.mark.parametrize("format", wire.OWN.values(), ids=lambda format: format.name)
def test_every_format_of_foldlines_declares_all_there_is(format: wire.WireFormat) -> None:
    assert None not in (format.tool, format.image, format.request)
    assert format.appended
    assert format.tells({}) is format.tells({"role": None, "content": 5}) is wire.Sign.NEVER


@pytest.mark.parametrize("format", wire.OWN)
def test_a_picture_is_read_as_it_is_written(format: str) -> None:
    declared, picture = wire.OWN[format], wire.Picture("image/png", "iVBORw0KGgo=")
    assert declared.image is not None
    written = declared.image(picture)
    assert declared.picture(written) == picture
    assert [name for name, other in wire.OWN.items() if other.picture(written)] == [format]


def test_a_name_that_nobody_declares_is_refused() -> None:
    with pytest.raises(WireError, match="there are openai-chat, openai-responses, anthropic, gemini, bedrock-converse"):
        wire.named("morse")
