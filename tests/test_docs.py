"""The documentation: the code of each page runs as it stands there, in order, and does what the page says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, get_args

import pytest

import foldline
from foldline import Compactor, Event, Message, ModelSummarizer, Usage, extend, recall_tool
from foldline._sessions.registry import formats
from foldline.extend import extract, replace
from providers import Provider, answers, status
from strict import Strict
from test_compactor import overflow

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"

Names = dict[str, Any]


def blocks(page: str, language: str = "python") -> list[str]:
    """The code of a page, block after block."""
    text = (DOCS / page).read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def run(page: str, names: Names) -> Names:
    """Runs the blocks of a page in order; what one defines, the next ones see."""
    for number, block in enumerate(blocks(page), 1):
        exec(compile(block, f"{page}, block {number}", "exec"), names)
    return names


def conversation(turns: int = 60, tool: str = "read") -> list[Any]:
    """A history that is worth a fold."""
    messages: list[Any] = [{"role": "system", "content": "You are a careful engineer."}]
    for turn in range(turns):
        call = {"name": tool, "arguments": json.dumps({"path": f"src/part_{turn}.py"})}
        output = "".join(f"{n}: value_{n} = compute({n})\n" for n in range(60))
        messages += [
            {"role": "user", "content": f"Request {turn}: find who reads setting_{turn}."},
            {"role": "assistant", "tool_calls": [{"id": f"call_{turn}", "type": "function", "function": call}]},
            {"role": "tool", "tool_call_id": f"call_{turn}", "content": output},
            {"role": "assistant", "content": f"setting_{turn} is read by part_{turn}."},
        ]
    return messages


def call_model(messages: list[Any]) -> Any:
    return {"usage": {"prompt_tokens": 1_000, "completion_tokens": 20}}


@pytest.fixture
def names() -> Iterator[Names]:
    """What the pages take for given: an agent's history, and what calls its model. The client that a page opens is closed."""
    given: Names = {"messages": conversation(), "other_messages": conversation(3), "call_model": call_model}
    yield given
    if client := given.get("client"):
        client.close()


# -- the quickstart of each SDK ------------------------------------------------------------------------------------


class Sdk(NamedTuple):
    """What a section of the quickstart needs: its wire format, and how the environment names its server."""

    format: str
    address: str
    path: str = ""


SDKS = {
    "OpenAI chat completions": Sdk("openai-chat", "OPENAI_BASE_URL", "/v1"),
    "OpenAI responses": Sdk("openai-responses", "OPENAI_BASE_URL", "/v1"),
    "Anthropic": Sdk("anthropic", "ANTHROPIC_BASE_URL"),
    "Google Gemini": Sdk("gemini", "GOOGLE_GEMINI_BASE_URL"),
    "Amazon Bedrock Converse": Sdk("bedrock-converse", "AWS_ENDPOINT_URL"),
    "LiteLLM": Sdk("openai-chat", "OPENAI_BASE_URL", "/v1"),
}
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in KEYS:
        monkeypatch.setenv(key, "none")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")


def section(page: str, title: str) -> str:
    """The first block of code under a heading."""
    below = (DOCS / page).read_text("utf-8").partition(f"\n## {title}\n")[2]
    return below.partition("```python\n")[2].partition("```")[0]


@pytest.mark.usefixtures("keys")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("title", SDKS)
def test_the_quickstart_of_each_sdk_runs(title: str, names: Names, monkeypatch: pytest.MonkeyPatch) -> None:
    sdk = SDKS[title]
    if title == "LiteLLM" and find_spec("litellm") is None:
        pytest.skip("litellm is not among what the tests install: it takes 300 MB")
    with Strict(200_000) as provider:
        monkeypatch.setenv(sdk.address, provider.provider.root + sdk.path)
        names |= {"TOOLS": [recall_tool(sdk.format)], "run": lambda call: "12 lines"}
        exec(compile(section("quickstart.md", title), title, "exec"), names)
        assert provider.refused == []
        assert provider.turns == provider.steps, "it calls tools until the model is done"
    assert names["compactor"].count.tokens > 0


# -- the other pages -----------------------------------------------------------------------------------------------


def test_whole_and_folded_histories(names: Names) -> None:
    run("histories.md", names)
    assert len(names["messages"]) < len(conversation())


def test_messages_of_a_framework(names: Names) -> None:
    exec(compile(section("wires.md", "A framework's own messages"), "wires.md", "exec"), names | {"__name__": __name__})


@pytest.mark.usefixtures("keys")
def test_a_client_is_wrapped(names: Names, monkeypatch: pytest.MonkeyPatch) -> None:
    with Strict(200_000) as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", provider.provider.url)
        run("wrap.md", names | {"TOOLS": [recall_tool("openai-chat")], "run": lambda call: "12 lines"})
        assert provider.refused == []
        assert provider.turns == provider.steps + 1


def test_telemetry_shows_what_is_logged(names: Names) -> None:
    code = "import json, sys; names = {'messages': json.load(sys.stdin)}; exec(sys.argv[1], names)"
    block = blocks("telemetry.md")[0]
    done = subprocess.run(
        [sys.executable, "-c", code, block],
        input=json.dumps(names["messages"]),
        capture_output=True,
        text=True,
        check=True,
    )
    logged, shown = (re.sub(r"[\d,]+", "N", text) for text in (done.stderr, blocks("telemetry.md", "text")[0]))
    assert logged == shown


def test_one_compactor_per_conversation(names: Names) -> None:
    assert isinstance(run("conversations.md", names)["compactors"]["thread-1"], Compactor)


def test_events_are_heard(names: Names, capsys: pytest.CaptureFixture[str]) -> None:
    run("events.md", names)
    heard = capsys.readouterr().out
    assert "a fold is due" in heard
    assert "summarize: " in heard
    assert "risk " in heard


def test_every_event_has_a_row() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", (DOCS / "events.md").read_text("utf-8"), re.MULTILINE)
    assert set(rows) == {event.__name__ for event in get_args(Event)}


def test_a_restarted_service_goes_on(names: Names, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run("restart.md", names)
    assert (tmp_path / "work.jsonl").is_file()


def test_a_paper_is_written_in_thirteen_stages(names: Names, capsys: pytest.CaptureFixture[str]) -> None:
    compactor = run("policies/paper.md", names)["compactor"]
    told = capsys.readouterr().out.splitlines()
    assert told[:4] == blocks("policies/paper.md", "text")[0].splitlines()
    assert len(told) == 1 + len(names["STAGES"]) == 14
    edits = [edit.by for fold in compactor.folds for edit in fold.edits]
    assert set(edits) == {"strip_chitchat", "digest_stages", "drop_superseded"}
    assert any("[stage Outline, reopened: " in item["content"] for item in names["sent"])
    assert compactor.count.tokens < 0.86 * 2_000
    assert "\n\n## Title\n" in compactor.stage_notes()


@pytest.mark.usefixtures("keys")
def test_a_model_recalls(names: Names, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with Strict(200_000) as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", provider.provider.url)
        names |= {"TOOLS": [], "run": lambda call: "12 lines"}
        run("recall.md", names)
        assert provider.refused == []
    assert capsys.readouterr().out == blocks("recall.md", "text")[0]
    id = next(id for id, message in names["compactor"].messages() if "setting_7 is" in message.text)
    call = SimpleNamespace(function=SimpleNamespace(name="recall", arguments=json.dumps({"query": id})))
    assert "setting_7 is read by part_7." in names["answer"](call)


@pytest.mark.usefixtures("keys")
def test_a_refused_request_is_sent_again(names: Names, monkeypatch: pytest.MonkeyPatch) -> None:
    with Provider(status(400, overflow(9_000, 30_000)), answers("Done.")) as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
        exec(compile(blocks("quickstart.md")[-1], "recover", "exec"), names)
        first, second = (len(request.body["messages"]) for request in provider.requests)
    assert names["reply"].choices[0].message.content == "Done."
    assert second < first
    assert names["compactor"].budget.window == 9_000


# -- what is made by somebody else ---------------------------------------------------------------------------------


def test_a_strategy_of_ones_own(names: Names, capsys: pytest.CaptureFixture[str]) -> None:
    names["messages"] = conversation(tool="browse")
    run("strategy.md", names)
    before, after = (int(size.replace(",", "")) for size in re.findall(r"[\d,]+", capsys.readouterr().out))
    assert after < before / 2
    assert [fold.layer for fold in names["compactor"].folds] == ["pages"]
    stubs = [item["content"] for item in names["sent"] if item["role"] == "tool"]
    assert stubs[0].startswith("[an older page; recall ")
    assert stubs[-1] == names["messages"][-2]["content"]
    halved = names["view"]
    for edit in names["summarize_oldest_half"](names["view"], 10_000):
        written = extract(edit.into, [names["view"].entries[names["view"].index[id]].message for id in edit.drop])
        halved = halved.apply(replace(edit, into=(Message("user", (written,)),)))
    assert len(halved.entries) <= len(names["view"].entries) // 2 + 3


def test_what_a_call_costs(capsys: pytest.CaptureFixture[str]) -> None:
    run("replay.md", {})
    read = [int(line.split()[0]) for line in capsys.readouterr().out.splitlines()]
    assert read == [0, 50_000, 4_000]  # as the page says of Claude: behind a deep edit, only the head is found


def test_a_policy_of_ones_own(names: Names, capsys: pytest.CaptureFixture[str]) -> None:
    run("policies.md", names)
    stubs = [item for item in names["sent"] if "[pruned: " in str(item.get("content"))]
    assert len(stubs) > 10
    kept = {"role": "user", "content": "KEEP THIS: the port is 8443."}
    assert kept in names["compactor"].fold_to([kept, *names["messages"]], 6_000)
    assert "('summarize', 'the window less 16,384')" in capsys.readouterr().out


@pytest.mark.usefixtures("keys")
def test_a_summarizer_of_ones_own(
    names: Names, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written = "The settings are looked up one by one; sixty of them were found, each in its own part."
    with Provider(answers(written, prompt_tokens=900, completion_tokens=30)) as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
        run("summarizer.md", names)
        assert len(provider.requests) == 2, "each was asked once"
    assert any(written in str(item["content"]) for item in names["sent"])
    assert names["receipt"].usage == Usage(900, 30)
    assert capsys.readouterr().out.startswith("('gpt-5-mini',)")


def test_how_it_folds(names: Names, capsys: pytest.CaptureFixture[str]) -> None:
    run("folding.md", names)
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_the_first_page(names: Names) -> None:
    assert run("index.md", names)["sent"] == conversation()


# -- what is listed -------------------------------------------------------------------------------------------------


def test_the_settings_are_those_that_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "config.toml"
    path.write_text(blocks("settings.md", "toml")[0], "utf-8")
    monkeypatch.setenv("FOLDLINE_CONFIG", str(path))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    compactor = run("settings.md", {})["compactor"]
    assert compactor.policy.automatic.most == 4
    assert isinstance(compactor.summarizer, ModelSummarizer)


def test_the_commands_say_what_the_page_says() -> None:
    code = f"import runpy; print(runpy.run_path({str(ROOT / 'scripts' / 'make_commands.py')!r})['page'](), end='')"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True).stdout
    assert (DOCS / "commands.md").read_text("utf-8") == made, "run scripts/make_commands.py"


def test_every_session_format_is_listed_with_what_can_be_done_to_it() -> None:
    rows = re.findall(
        r"^\| `(.+?)` \|.*?\| (.*?) ?\| (.*?) ?\|$", (DOCS / "formats.md").read_text("utf-8"), re.MULTILINE
    )
    home = {"HOME": "/home/me"}
    own = [format for format in formats() if format.name in {name for name, *_ in rows}]
    assert len(own) == len(rows)
    for name, place, in_place in rows:
        declared = next(each for each in own if each.name == name)
        folders = [str(each.folder) for each in declared.stores(home)] if declared.stores else []
        assert bool(folders) == bool(place)
        assert all(folder.startswith(place.strip("`").replace("~", "/home/me")) for folder in folders)
        assert bool(declared.open) == bool(in_place)


def test_the_reference_has_every_public_name_once() -> None:
    told = "\n".join(page.read_text("utf-8") for page in DOCS.glob("reference/*.md"))
    named = re.findall(r"^::: (\S+)$", told, re.MULTILINE)
    also = [f"foldline.extend.{name}" for name in extend.__all__ if name not in foldline.__all__]
    assert sorted(named) == sorted([*(f"foldline.{name}" for name in foldline.__all__), *also])


@pytest.mark.parametrize("page", ["README.md", "AGENTS.md"])
def test_what_a_page_beside_the_site_names_is_there(page: str) -> None:
    named = re.findall(r"\]\((?!https?:)([^)#]+)|`((?:docs|tests)/[\w./-]+)`", (ROOT / page).read_text("utf-8"))
    assert named
    assert [path for pair in named if (path := "".join(pair)) and not (ROOT / path).exists()] == []


def test_the_rooms_are_those_that_there_are() -> None:
    told = (ROOT / "AGENTS.md").read_text("utf-8").partition("```text\n")[2].partition("```")[0]
    rooms = {path.stem for path in Path(foldline.__file__).parent.glob("_*") if not path.stem.startswith("__")}
    assert (named := set(re.findall(r"(?<= )_[a-z]+", told)))
    assert named <= rooms


def test_no_page_shows_code_that_no_test_runs() -> None:
    shown = {page.name for page in DOCS.glob("*.md") if blocks(page.name)}
    tests = "".join(each.read_text("utf-8") for each in Path(__file__).parent.glob("test_*.py"))
    assert shown <= set(re.findall(r'"([\w-]+\.md)"', tests))


# -- the site -------------------------------------------------------------------------------------------------------


def checked(site: Path) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, str(ROOT / "scripts" / "check_links.py"), str(site)]
    return subprocess.run(program, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ('<a href="other.html">there</a>', ""),
        ('<a href="other.html#place">there</a>', ""),
        ('<a href="https://example.com/">out</a>', ""),
        ('<a href="gone.html">gone</a>', "index.html: gone.html: there is no such file"),
        ('<a href="other.html#gone">gone</a>', "index.html: other.html#gone: there is no such place on that page"),
        ('<a href="#gone">gone</a>', "index.html: #gone: there is no such place on that page"),
        ('<img src="gone.png">', "index.html: gone.png: there is no such file"),
        ('<script src="https://example.com/a.js"></script>', "index.html: https://example.com/a.js: loaded from elsewhere"),
        ('<link rel="stylesheet" href="//example.com/a.css">', "index.html: //example.com/a.css: loaded from elsewhere"),
    ],
)  # fmt: skip
def test_a_dead_link_and_what_is_loaded_from_elsewhere_are_faults(written: str, fault: str, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(f"<html><body>{written}</body></html>")
    (tmp_path / "other.html").write_text('<html><body><h1 id="place">Here</h1></body></html>')
    done = checked(tmp_path)
    assert done.returncode == bool(fault), done.stderr
    assert done.stdout.splitlines()[:-1] == ([fault] if fault else [])


def test_a_style_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "a.css").write_text("@import url(https://example.com/font.css);")
    assert "a.css: https://example.com/font.css: loaded from elsewhere" in checked(tmp_path).stdout
