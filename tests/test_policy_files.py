"""Policies as files of data, over strategies of foldline's and of somebody else's: one file in a package of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

import foldline
from foldline import ConfigError
from foldline._policies import names
from foldline._policies.file import schema
from foldline._policy import mark_of
from foldline.extend import policy, preset, prune_tool_outputs, read_policy, summarize_older
from sessions import Log

ROOT = Path(__file__).parents[1]
SOURCE = str(Path(foldline.__file__).parent.parent)
SCHEMA = ROOT / "docs" / "policy.schema.json"

PAGE = (ROOT / "docs" / "policies.md").read_text("utf-8")
CALM = PAGE.partition("```toml\n")[2].partition("```")[0]
STRATEGY = PAGE.partition("```python\n")[2].partition("```")[0]
"""The policy's file and the strategy as the documentation shows them."""

PACKAGE = f"""{STRATEGY}

from pathlib import Path

from foldline.extend import read_policy

CALM = read_policy(Path(__file__).with_name("calm.toml"))


def summarize(brief, messages):
    return f"Acme says: {{len(messages)}} messages were here."
"""

OFFERS = {
    "strategies": "drop_asides = acme:drop_asides",
    "policies": "calm = acme:CALM",
    "summarizers": "acme = acme:summarize",
}


def package(folder: Path, code: str, **offers: str) -> None:
    """A package as an installer leaves it: one module, and beside it what it offers in which group."""
    about = folder / "acme-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / "acme.py").write_text(code)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("".join(f"[foldline.{group}]\n{said}\n" for group, said in offers.items()))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with a session, a policy's file, and a site of packages."""
    log = Log()
    for n in range(12):
        log.step(n)
        log.reply("I see.")
    log.write(tmp_path / "session.jsonl")
    (tmp_path / "calm.toml").write_text(CALM)
    return tmp_path


def python(home: Path, *words: str, **variables: str) -> CompletedProcess[str]:
    kept = {key: value for key, value in os.environ.items() if not key.endswith(("_DIR", "_HOME", "_KEY"))}
    paths = os.pathsep.join((SOURCE, str(home / "site"), *filter(None, sys.path)))
    env = {**kept, "HOME": str(home), "PYTHONPATH": paths, **variables}
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=home, env=env, timeout=120)


def command(home: Path, *words: str, **variables: str) -> CompletedProcess[str]:
    return python(home, "-m", "foldline", *words, **variables)


def folded_by(home: Path, *words: str, **variables: str) -> set[str]:
    """The strategies whose edits a fold of the session would have."""
    done = command(home, "compact", "--dry-run", "--json", "--session", "session.jsonl", *words, **variables)
    assert done.returncode == 0, done.stderr
    return {edit["by"] for edit in json.loads(done.stdout)["fold"]["edits"]}


# -- somebody else's ----------------------------------------------------------------------------------------------


def test_a_strategy_takes_twenty_lines() -> None:
    assert len([line for line in STRATEGY.splitlines() if line.strip()]) <= 20
    assert "foldline._" not in STRATEGY


def test_a_policys_file_uses_the_strategy_of_a_package(home: Path) -> None:
    package(home / "site", STRATEGY, strategies=OFFERS["strategies"])
    assert folded_by(home, "--policy", "calm.toml") == {"drop_asides", "summarize_older"}
    assert folded_by(home) == {"summarize_older"}


def test_the_settings_name_a_file_beside_them(home: Path) -> None:
    package(home / "site", STRATEGY, strategies=OFFERS["strategies"])
    settings = home / "settings" / "config.toml"
    settings.parent.mkdir()
    settings.write_text('policy = "mine.toml"\n')
    (settings.parent / "mine.toml").write_text(CALM)
    assert folded_by(home, FOLDLINE_CONFIG=str(settings)) == {"drop_asides", "summarize_older"}


@pytest.mark.parametrize("named", ["calm.toml", "calm", "acme:CALM"])
def test_a_compactor_takes_a_file_a_packages_policy_or_one_of_a_module(named: str, home: Path) -> None:
    package(home / "site", PACKAGE, **OFFERS)
    (home / "site" / "calm.toml").write_text(CALM)
    loop = f"""
from foldline import Compactor
compactor = Compactor(window=8_000, reserve=0, policy={named!r}, summarizer="acme")
history = []
for turn in range(60):
    history.append({{"role": "user", "content": f"Request {{turn}}: " + "word " * 60}})
    history.append({{"role": "assistant", "content": "I see."}})
    history.append({{"role": "assistant", "content": "Done with it. " + "word " * 60}})
    sent = compactor.fit(history)
assert any("Acme says: " in str(item["content"]) for item in sent), sent
print(*sorted({{edit.by for fold in compactor.folds for edit in fold.edits}}))
"""
    done = python(home, "-c", loop)
    assert (done.stdout, done.stderr) == ("drop_asides summarize_older\n", "")


@pytest.mark.parametrize("named", ["calm", "acme:CALM"])
def test_the_commands_know_what_a_package_offers(named: str, home: Path) -> None:
    package(home / "site", PACKAGE, **OFFERS)
    (home / "site" / "calm.toml").write_text(CALM)
    assert folded_by(home, "--policy", named) == {"drop_asides", "summarize_older"}
    assert folded_by(home, FOLDLINE_POLICY=named) == {"drop_asides", "summarize_older"}
    assert command(home, "policy", "list").stdout.splitlines()[-1].startswith("calm ")
    assert "drop_asides words=8\n" in command(home, "policy", "show", named).stdout


def test_a_packages_summarizer_stands_in_place_of_a_model(home: Path) -> None:
    package(home / "site", PACKAGE, summarizers=OFFERS["summarizers"])
    (home / "site" / "calm.toml").write_text(
        'layers = [{name = "a", at = 1, to = 1, strategies = [{use = "truncate"}]}]'
    )
    flags = ("compact", "--yes", "--json", "--session", "session.jsonl")
    before = (home / "session.jsonl").read_bytes()
    for words, variables in (((*flags, "--model", "acme"), {}), (flags, {"FOLDLINE_SUMMARY__MODEL": "acme"})):
        (home / "session.jsonl").write_bytes(before)
        done = command(home, *words, **variables)
        assert done.returncode == 0, done.stderr
        assert "Acme says: " in (home / "session.jsonl").read_text().splitlines()[-1]
    refused = command(home, *flags, "--model", "acmee")
    assert (
        "--model: summary.model: no summarizer 'acmee'; there are extract, acme; did you mean acme?" in refused.stderr
    )
    refused = command(home, *flags, "--model", "acme", "--fallback", "openai:gpt-5-mini")
    assert "summary.fallbacks: a package's summarizer has none but extract" in refused.stderr


@pytest.mark.parametrize(
    ("group", "offer", "code", "why"),
    [
        ("strategies", "acme:make", "raise ImportError('no licence')", "ImportError: no licence"),
        ("strategies", "acme:make", "make = 'acme'", "it is a str, not a Callable"),
        ("policies", "acme:P", "P = 'acme'", "it is a str, not a Policy"),
        ("policies", "acme:P", "from foldline.extend import read_policy\nP = read_policy('gone.toml')", "ConfigError: gone.toml: cannot be read"),
        ("summarizers", "acme:write", "write = 7", "it is a int, not a Callable"),
    ],
)  # fmt: skip
def test_a_broken_package_is_warned_of_and_left_out(group: str, offer: str, code: str, why: str, home: Path) -> None:
    package(home / "site", code, **{group: f"acme = {offer}"})
    (home / "other.toml").write_text(CALM.replace("drop_asides", "acme"))
    words = {"strategies": ("policy", "check", "other.toml"), "policies": ("policy", "list")}
    by_model = ("compact", "--yes", "--session", "session.jsonl", "--model", "acme", "--fallback", "extract")
    done = command(home, *words.get(group, by_model))
    assert f"acme ({offer}, of foldline.{group}) is left out: {why}" in done.stderr
    assert "Traceback" not in done.stderr
    if group == "strategies":
        assert (
            "other.toml: layers[0].strategies[0].use: no strategy 'acme'; there are prune_tool_outputs, " in done.stderr
        )
    else:
        assert done.returncode == 0


def test_foldlines_own_are_not_replaced(home: Path) -> None:
    package(home / "site", PACKAGE, strategies="truncate = acme:drop_asides", policies="pi = acme:CALM")
    (home / "site" / "calm.toml").write_text(CALM.replace("drop_asides", "nobody"))
    (home / "site" / "acme.py").write_text(PACKAGE.replace('with_name("calm.toml")', 'with_name("own.toml")'))
    (home / "site" / "own.toml").write_text(WHOLE)
    done = command(home, "policy", "list")
    assert "pi (acme:CALM, of foldline.policies) is left out: the name is taken" in done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == names()


# -- what is wrong in a file --------------------------------------------------------------------------------------

WHOLE = """
[[layers]]
name = "summarize"
at = 0.8
to = 0.5
strategies = [{ use = "prune_tool_outputs", protect = 100 }, { use = "summarize_older" }]

[[layers]]
name = "full"
at = 0.9
to = 0.4
hard = true
strategies = [{ use = "hard_strategies", keep = 500 }]
"""

WRONG = [
    ("[[layers]]", "[[layrs]]", "layrs: no such key; did you mean layers?"),
    ('name = "full"\n', "", "layers[1].name: is missing"),
    ("at = 0.8", 'at = "80 %"', "layers[0].at: must be a number or a table of keys, not text"),
    ("at = 0.8", "at = 80", "layers[0].at: must be a number <= 1.0"),
    ("at = 0.8", "at = 0.4", "summarize: needs 0 < to <= at <= 1, has to=0.5, at=0.4"),
    ("at = 0.8", "at = 0.95", "layers: layers must stand in the order of their marks"),
    ("at = 0.8", "at = 0.8\nharrd = true", "layers[0].harrd: no such key; did you mean hard?"),
    ("hard = true", "hard = 1", "layers[1].hard: must be true or false, not a whole number"),
    ('use = "prune_tool_outputs"', 'use = "prune_outputs"', "layers[0].strategies[0].use: no strategy 'prune_outputs'; there are prune_tool"),
    ('use = "prune_tool_outputs"', 'use = "prune_outputs"', "; did you mean prune_tool_outputs?"),
    ('use = "prune_tool_outputs", ', "", "layers[0].strategies[0].use: must be the name of a strategy"),
    ("{ use = \"summarize_older\" }", '"summarize_older"', "layers[0].strategies[1]: must be a table of keys, not text"),
    ("protect = 100", "protct = 100", "layers[0].strategies[0].protct: no such key; did you mean protect?"),
    ("protect = 100", "protect = true", "layers[0].strategies[0].protect: must be a whole number, not true or false"),
    ("protect = 100", "protect = -1", "layers[0].strategies[0].protect: must be a whole number >= 0"),
    (", keep = 500", "", "layers[1].strategies[0].keep: is missing"),
    (WHOLE, "layers = []", "layers: must be a list of length >= 1"),
    (WHOLE, "", "layers: is missing"),
    (WHOLE, "x = = 1", "cannot be read: Invalid value (at line 1, column 5)"),
]  # fmt: skip


def test_what_is_whole_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(WHOLE)
    found = read_policy(path)
    assert (found.name, [(layer.name, layer.at, layer.to) for layer in found.layers]) == (
        "mine", [("summarize", 0.8, 0.5), ("full", 0.9, 0.4)]
    )  # fmt: skip
    assert found.layers[0].strategies == (prune_tool_outputs(protect=100), summarize_older())
    assert [layer.kind for layer in found.layers] == ["summarize", "hard"]


@pytest.mark.parametrize(("right", "wrong", "told"), WRONG)
def test_what_is_wrong_is_named_with_its_file_its_place_and_the_cure(
    right: str, wrong: str, told: str, tmp_path: Path
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(WHOLE.replace(right, wrong))
    with pytest.raises(ConfigError) as refusal:
        read_policy(path)
    assert refusal.value.path == str(path)
    assert told in str(refusal.value)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("def drop_asides(*, words):\n    return None\n", "drop_asides made a NoneType, which is no strategy"),
        ("def drop_asides(*, words):\n    raise ValueError('no words')\n", "drop_asides cannot be made: ValueError: no words"),
        ("def drop_asides(words: list[str]): ...\n", "layers[0].strategies[0].words: must be a list, not a whole number"),
    ],
)  # fmt: skip
def test_a_maker_that_fails_is_named_with_its_place(code: str, told: str, home: Path) -> None:
    package(home / "site", code, strategies=OFFERS["strategies"])
    done = command(home, "compact", "--dry-run", "--session", "session.jsonl", "--policy", "calm.toml")
    assert done.returncode == 1
    assert done.stderr.startswith("foldline: calm.toml: layers[0].strategies[0]")
    assert told in done.stderr


def test_a_maker_that_refuses_what_the_settings_say_is_named(home: Path) -> None:
    code = "def drop_asides(*, words=1, keep=9):\n    return [lambda view, excess: ()][9 - keep]\n"
    package(home / "site", code, strategies=OFFERS["strategies"])
    words = ("context", "inspect", "--session", "session.jsonl", "--policy", "calm.toml")
    assert command(home, *words).returncode == 0
    done = command(home, *words, FOLDLINE_COMPACTION__PRESERVE_RECENT_TOKENS="800")
    told = "foldline: settings: compaction: drop_asides cannot be made: IndexError: list index out of range\n"
    assert (done.returncode, done.stderr) == (1, told)


@pytest.mark.parametrize(("text", "told"), [("[" * 100_000, "cannot be read: "), ("[]", "it must be a table of keys")])
def test_what_is_no_table_is_refused(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=rf"mine\.json: {told}"):
        read_policy(path)


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ("opnclaw", f"--policy: no policy 'opnclaw'; there are {', '.join(names())}; did you mean openclaw?"),
        ("", f"--policy: no policy ''; there are {', '.join(names())}"),
        ("gone.toml", "gone.toml: cannot be read: No such file or directory"),
        ("nobody:CALM", "--policy: nobody:CALM cannot be imported: ModuleNotFoundError: No module named 'nobody'"),
        ("json:CALM", "--policy: json:CALM cannot be imported: AttributeError: module 'json' has no attribute 'CALM'"),
        ("json:dumps", "--policy: json:dumps is a function, not a Policy"),
    ],
)
def test_a_name_that_leads_nowhere_is_refused(named: str, told: str, home: Path) -> None:
    done = command(home, "context", "inspect", "--session", "session.jsonl", "--policy", named)
    assert (done.returncode, done.stderr) == (1, f"foldline: {told}\n")


def test_what_is_wrong_in_the_file_that_the_settings_name_is_told_of_that_file(home: Path) -> None:
    (home / "config.toml").write_text('policy = "calm.toml"\n')
    done = command(home, "context", "status", "--session", "session.jsonl", FOLDLINE_CONFIG="config.toml")
    assert done.returncode == 1
    assert "calm.toml: layers[0].strategies[0].use: no strategy 'drop_asides'" in done.stderr


# -- the commands -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", names())
def test_what_is_shown_of_a_policy_is_a_file_of_it(name: str, home: Path) -> None:
    shown = json.loads(command(home, "policy", "show", name, "--json").stdout)
    (home / f"{name}.json").write_text(json.dumps(shown))
    assert read_policy(home / f"{name}.json") == preset(name)
    drawn = command(home, "policy", "show", name).stdout
    assert all(f"{layer.name}:" in drawn and f"from {mark_of(layer.at)}" in drawn for layer in preset(name).layers)


@pytest.mark.parametrize("name", sorted({*names()} - {"default"}))
def test_every_preset_has_a_page_that_shows_it_as_it_is(name: str) -> None:
    page = (ROOT / "docs" / "policies" / f"{name}.md").read_text("utf-8")
    own = Path(foldline.__file__).parent / "_policies" / f"{name}.toml"
    assert own.read_text("utf-8").strip() in page


NEW = """
description = "Everything but the newest four messages, told by the assistant."

[[layers]]
name = "logs"
at = { tokens = 1_000 }
to = { tokens = 0 }
least = 0.001
strategies = [{ use = "condense_tool_outputs", protect = 500, minimum = 100 }]

[[layers]]
name = "rest"
at = { less = 16_384 }
strategies = [{ use = "summarize_all_but_messages", messages = 4 }]

[summary]
heading = "# Before (round {round})"
acknowledged = "I see."
"""


def test_a_new_policy_file_runs_without_a_line_of_python(home: Path) -> None:
    (home / "new.toml").write_text(NEW)
    assert command(home, "policy", "check", "new.toml").returncode == 0
    assert "from the window less 16,384 on" in command(home, "policy", "show", "new.toml").stdout
    assert folded_by(home, "--policy", "new.toml") == {"summarize_all_but_messages"}
    loop = """
from foldline import Compactor
history = []
compactor = Compactor(window=20_000, reserve=0, policy="new.toml")
for turn in range(20):
    history.append({"role": "user", "content": f"Request {turn}: " + "word " * 200})
    history.append({"role": "assistant", "content": "Done with it. " + "word " * 200})
    sent = compactor.fit(history)
print(sent[0]["content"].split("\\n")[0], "|", sent[1]["content"] if sent[1]["role"] == "assistant" else "-")
"""
    assert python(home, "-c", loop).stdout.startswith("# Before (round ")


def test_every_policy_is_listed_with_what_it_does(home: Path) -> None:
    told = json.loads(command(home, "policy", "list", "--json").stdout)["policies"]
    assert [each["name"] for each in told] == names()
    assert all(each["description"] for each in told)


def test_a_file_is_checked(home: Path) -> None:
    (home / "good.toml").write_text(WHOLE)
    (home / "bad.toml").write_text(WHOLE.replace("at = 0.8", "at = 8"))
    good, bad = (command(home, "policy", "check", f"{name}.toml") for name in ("good", "bad"))
    assert (good.returncode, good.stdout) == (0, "good.toml: nothing is wrong; its layers are summarize, full\n")
    assert (bad.returncode, bad.stderr) == (1, "foldline: bad.toml: layers[0].at: must be a number <= 1.0\n")


def test_the_schema_is_published() -> None:
    assert json.loads(SCHEMA.read_text("utf-8")) == json.loads(json.dumps(schema())), "run scripts/make_schema.py"


def test_the_schema_names_every_key_of_foldlines_own_policies() -> None:
    definitions = schema()["$defs"]
    uses: dict[str, Any] = {
        each["properties"]["use"]["const"]: each["properties"]
        for each in definitions["LayerTable"]["properties"]["strategies"]["items"]["anyOf"][:-1]
    }
    for name in names():
        for layer in preset(name).layers:
            for strategy in layer.strategies:
                assert set(getattr(strategy, "arguments")) <= set(uses[getattr(strategy, "name")])  # noqa: B009


def test_a_policy_without_layers_is_refused_by_key() -> None:
    with pytest.raises(ConfigError) as refusal:
        policy("mine", [])
    assert (refusal.value.path, refusal.value.key) == ("mine", "layers")
