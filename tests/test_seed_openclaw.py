"""What the OpenClaw requirements say of layers, settings and commands: each docstring quotes them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from foldline import (
    Brief,
    CannotFit,
    Compactor,
    ConfigError,
    FoldDue,
    Folded,
    FoldlineError,
    Message,
    Session,
    Summary,
    open_session,
    step,
)
from foldline._cli.commands import foldline
from foldline._config import Settings, read_settings
from foldline._desk.desk import Desk
from foldline._engine.steps import layers
from foldline.extend import Text, encode, preset
from provider_rules import check_valid
from providers import Provider, says, status
from sessions import Log, long_log

Item = dict[str, Any]
OPENCLAW = preset("openclaw")

CONFIG = """\
# ~/.openclaw/config.yaml additions
compaction:
  auto_enabled: true
  auto_threshold_percent: 88
  preserve_recent_tokens: 25_000

  prune:
    enabled: true
    protect_recent_tokens: 40_000
    prune_minimum_tokens: 20_000

  notify_before_auto: true
  max_auto_compactions: 4
  warn_at_compaction: 3

  model:
    # Use OpenRouter free model for compaction
    provider: "openrouter"
    model_name: "google/gemini-2.0-flash-exp:free"
    temperature: 0.3
    max_tokens: 4000
"""
"""FR-OC-5, as it stands there."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's home without anything in it."""
    for name in ("XDG_CONFIG_HOME", "FOLDLINE_CONFIG", "PI_CODING_AGENT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def command(*words: str) -> Result:
    return CliRunner().invoke(foldline, [*words], catch_exceptions=False)


def user(text: str, words: int = 0) -> Item:
    return {"role": "user", "content": f"{text} {'word ' * words}".strip()}


def assistant(text: str, words: int = 0) -> Item:
    return {"role": "assistant", "content": f"{text} {'word ' * words}".strip()}


def runs(id: str, lines: int) -> list[Item]:
    call = {"id": id, "type": "function", "function": {"name": "bash", "arguments": '{"command": "make test"}'}}
    log = ["make test", *[f"tests/test_{id}.py::test_{n} ... ok" for n in range(lines)], f"3 failed, {lines} passed"]
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": id, "content": "\n".join(log)},
    ]


def tells(brief: Brief, messages: Sequence[Message]) -> Summary:
    return Summary("All of it was done.", {"told": len(messages)})


@pytest.fixture
def session(home: Path) -> Path:
    """A session of some turns, whose second user message is the one that matters."""
    log = Log()
    for n in range(12):
        log.step(n)
    return log.write(home / "session.jsonl")


# -- the layers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("window", [128_000, 200_000, 1_000_000])
def test_the_layers_start_at_80_88_and_95_percent_really(window: int) -> None:
    """ "Trigger: Tool output tokens > 50K AND total > 80% of limit"; "Total tokens > 88% of limit"; "Total tokens > 95% of limit"."""
    compactor = Compactor(policy=OPENCLAW, window=window)
    prune, summarize, full, _ = layers(OPENCLAW, compactor.budget, 0)
    assert (prune.mark, summarize.mark, full.mark) == (0.8 * window, 0.88 * window, 0.95 * window)
    assert prune.layer.outputs_over == 50_000


def test_layer_1_keeps_what_a_result_said_and_drops_the_verbose_log() -> None:
    """ "Action: Aggressive pruning of tool outputs (keep results, drop verbose logs)"."""
    history = [
        user("Test it."),
        *runs("a", 3_000),
        *runs("b", 3_000),
        *runs("c", 3_000),
        assistant("I see."),
        user("Go."),
    ]
    compactor = Compactor(policy=OPENCLAW, window=108_000)
    sent = compactor.fit(history)
    assert [fold.layer for fold in compactor.folds] == ["prune"]
    told = sent[2]["content"].splitlines()
    assert (told[0], told[-1]) == ("make test", "3 failed, 3000 passed")
    assert any("lines of the log left out; recall" in line for line in told)
    assert len(sent[2]["content"]) < 2_000


def test_layer_1_protects_the_newest_40000_tokens_of_output_however_full_it_is() -> None:
    """ "Preservation: Recent 40K tokens protected"."""
    history = [
        user("Test it."),
        *runs("a", 3_000),
        *runs("b", 3_000),
        *runs("c", 3_000),
        assistant("I see."),
        user("Go."),
    ]
    sent = Compactor(policy=OPENCLAW, window=108_000).fit(history)
    assert (sent[4], sent[6]) == (history[4], history[6])


def test_layer_1_prunes_nothing_where_less_than_20000_tokens_would_come_free() -> None:
    """ "prune_minimum_tokens: 20_000"."""
    history = [
        user("Test it.", 22_000),
        *runs("a", 1_000),
        *runs("b", 3_000),
        *runs("c", 2_000),
        assistant("I see."),
        user("Go."),
    ]
    assert Compactor(policy=OPENCLAW, window=97_000).fit(history) == history


def test_layer_1_replaces_no_output_that_the_model_has_not_seen() -> None:
    """ "keep results": of 39,000 tokens of history and one new output of 64,000 the output is what was asked for."""
    history = [user("Test it.", 39_000), *runs("a", 7_000)]
    assert Compactor(policy=OPENCLAW, window=128_000).fit(history)[-1] == history[-1]


def test_layer_2_keeps_the_newest_25000_tokens_at_its_mark() -> None:
    """ "Action: Summarize older messages using LLM. Preservation: Recent 25K tokens protected"."""
    history = [user(f"Turn {n}.", 3_000) if n % 2 == 0 else assistant("Done.", 3_000) for n in range(40)]
    compactor = Compactor(policy=OPENCLAW, window=128_000, summarizer=tells)
    sent = compactor.fit(history)
    assert [fold.layer for fold in compactor.folds] == ["summarize"]
    assert sent[1:] == history[-(len(sent) - 1) :]
    kept = Compactor(window=128_000)
    kept.fit(sent[1:])
    assert 25_000 <= kept.count.tokens < 29_000


def test_layer_2_keeps_25000_tokens_by_hand_too() -> None:
    """ "Recent 25K tokens protected": a context of 24,500 tokens has nothing that may go."""
    small = [user(f"Turn {n}.", 1_000) if n % 2 == 0 else assistant("Done.", 1_000) for n in range(24)]
    compactor = Compactor(policy=OPENCLAW, window=200_000, summarizer=tells)
    assert compactor.fold(small) == small
    large = [user(f"Turn {n}.", 1_000) if n % 2 == 0 else assistant("Done.", 1_000) for n in range(60)]
    sent = Compactor(policy=OPENCLAW, window=200_000, summarizer=tells).fold(large)
    assert 26 <= len(sent) <= 29


def test_layer_3_summarizes_all_at_95_percent_by_the_model_and_never_a_pin() -> None:
    """ "Trigger: Total tokens > 95% of limit. Action: Full conversation summarization. Warning: User notified. Protection: Pinned
    messages never compacted"."""
    told: list[Any] = []
    rule = user("Never push to main.")
    history = [user("First.", 900), rule, assistant("Done.", 100), user("Second.", 600), *runs("a", 7_000)]
    history += [assistant("I see."), user("Go on.")]
    compactor = Compactor(
        policy=OPENCLAW,
        window=73_000,
        summarizer=tells,
        pinned=lambda m: m.text == rule["content"],
        on_event=told.append,
    )
    sent = compactor.fit(history)
    assert compactor.folds[0].layer == "full"
    assert rule in sent
    assert len(sent) <= 4
    assert compactor.folds[0].receipt.asked
    assert isinstance(told[0], FoldDue)


# -- settings -----------------------------------------------------------------------------------------------------


def test_the_configuration_is_read_as_the_requirements_write_it(home: Path) -> None:
    """ "```yaml # ~/.openclaw/config.yaml additions compaction: …```": all keys, with the model that writes the summaries."""
    path = home / ".openclaw" / "config.yaml"
    path.parent.mkdir()
    path.write_text(f"gateway:\n  port: 18789\n{CONFIG}")
    settings = read_settings()
    assert (settings.compaction.auto_threshold_percent, settings.compaction.preserve_recent_tokens) == (88, 25_000)
    assert settings.summary.model == "openrouter:google/gemini-2.0-flash-exp:free"
    assert (settings.summary.temperature, settings.summary.max_tokens) == (0.3, 4_000)
    assert settings.to_policy().automatic.most == 4


def test_a_wrong_key_of_it_is_named_with_its_file(home: Path) -> None:
    """ "Add schema validation"."""
    path = home / ".openclaw" / "config.yaml"
    path.parent.mkdir()
    path.write_text(CONFIG.replace("provider", "providr"))
    told = command_fails("context", "status")
    assert told == f"{path}: compaction.model.providr: no such key; did you mean provider?"


def command_fails(*words: str) -> str:
    """What a command says that fails."""
    from foldline import FoldlineError

    with pytest.raises(FoldlineError) as refusal:
        read_settings()
    assert words
    return str(refusal.value)


def test_foldlines_own_settings_go_before_those_of_openclaw(home: Path) -> None:
    """ "No breaking changes to config file format": who has settings of foldline's own is asked nothing else."""
    for folder, text in ((".openclaw", CONFIG), (".config/foldline", "compaction: {auto_threshold_percent: 70}\n")):
        (home / folder).mkdir(parents=True)
        (home / folder / "config.yaml").write_text(text)
    assert read_settings().compaction.auto_threshold_percent == 70


@pytest.mark.parametrize(
    "text", [CONFIG, "# mine\n", "compaction:\n    # soon\n    warn_at_compaction: 2\ngateway: {}\n"]
)
def test_autocompact_writes_yaml_back_with_its_comments(text: str, home: Path) -> None:
    """ "`openclaw autocompact [on|off]`" over "~/.openclaw/config.yaml"."""
    path = home / ".openclaw" / "config.yaml"
    path.parent.mkdir()
    path.write_text(text)
    assert "is off" in command("autocompact", "off").stdout
    after = path.read_text()
    assert msgspec.yaml.decode(after)["compaction"]["auto_enabled"] is False
    assert [line for line in text.splitlines() if "#" in line] == [line for line in after.splitlines() if "#" in line]
    assert "is on" in command("autocompact", "on").stdout
    assert not read_settings().summary.model.startswith("extract") or "model" not in text


@pytest.mark.parametrize("name", ["openclaw", "pi", "codex", "claude-code", "opencode", "step", "goat"])
def test_the_threshold_is_honoured_whichever_the_policy(name: str, home: Path, session: Path) -> None:
    """ "auto_threshold_percent: 88"."""
    folder = home / ".config" / "foldline"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(f'policy = "{name}"\n[compaction]\nauto_threshold_percent = 61\n')
    told = json.loads(command("context", "status", "--json", "--session", str(session)).stdout)
    assert told["auto_at"] == 0.61


def test_pis_own_settings_hold_for_its_sessions(home: Path, session: Path) -> None:
    """ "Settings stored in ~/.pi/agent/settings.json: compaction?: { enabled?, reserveTokens?, keepRecentTokens? }"."""
    folder = home / ".pi" / "agent"
    folder.mkdir(parents=True)
    said = {"theme": "dark", "compaction": {"enabled": False, "reserveTokens": 30_000, "keepRecentTokens": 9_000}}
    (folder / "settings.json").write_text(json.dumps(said))
    policy = Desk(open_session(session)).settings.to_policy("pi")
    first = policy.layers[0]
    assert policy.automatic.enabled is False
    assert str(first.at) == "the window less 30,000"
    assert [getattr(each, "arguments")["keep"] for each in first.strategies] == [9_000]  # noqa: B009
    assert first.summary.reply == 24_000


@pytest.mark.parametrize("broken", ["folder", "text", "name"])
def test_settings_of_others_that_cannot_be_read_are_named_and_left_out(
    home: Path, session: Path, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = home / ("x" * 300 if broken == "name" else "agent")
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(folder))
    if broken == "folder":
        (folder / "settings.json").mkdir(parents=True)
    elif broken == "text":
        folder.mkdir()
        (folder / "settings.json").write_text("{")
    with pytest.warns(UserWarning, match="settings.json: cannot be read: .*; what pi has set is left out"):
        assert Desk(open_session(session)).settings.to_policy("pi") == Settings().to_policy("pi")
    with pytest.warns(UserWarning, match="left out"):
        shown = command("context", "status", "--json", "--session", str(session))
    assert json.loads(shown.stdout)["path"] == str(session)


def test_settings_of_ones_own_that_cannot_be_looked_at_are_not_passed_over(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ("x" * 300)))
    with pytest.raises(ConfigError, match=r"config\.toml: cannot be read"):
        read_settings()


def test_a_mark_in_tokens_may_be_set(home: Path) -> None:
    """ "Uses token-based threshold (`model_auto_compact_token_limit`) rather than percentage"."""
    folder = home / ".config" / "foldline"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("[compaction]\nauto_threshold_tokens = 90_000\n")
    policy = read_settings().to_policy()
    assert str(policy.layers[policy.first].at) == "90,000 tokens"


def test_the_schema_of_the_settings_is_published() -> None:
    """ "Extend `OpenClawConfig` type. Add schema validation"."""
    from foldline._config import schema

    published = Path(__file__).parents[1] / "docs" / "settings.schema.json"
    assert json.loads(published.read_text("utf-8")) == json.loads(json.dumps(schema())), "run scripts/make_schema.py"


# -- history ------------------------------------------------------------------------------------------------------


def test_history_tells_an_automatic_fold_with_the_threshold_that_was_reached(session: Path) -> None:
    """ "[2 hours ago] AUTO - Layer 2 (summarize) … Trigger:   88% threshold reached"."""
    opened = Session(session)
    compactor = Compactor(policy="default", window=9_000, session=opened, summarizer=tells)
    compactor.fit(opened.context.messages)
    told = command("context", "history", "--session", str(session)).stdout
    assert "AUTO - Layer 2 (summarize)" in told
    assert "\n  Trigger:   88% threshold reached\n" in told


# -- pins ---------------------------------------------------------------------------------------------------------


def ids(path: Path) -> Callable[[str], str]:
    """Finds the message of a session that says something, by its id."""

    def find(words: str) -> str:
        return next(id for id, message in open_session(path).context.entries if words in message.text)

    return find


def test_a_pin_stands_in_the_log_and_is_shown(session: Path) -> None:
    """ "Shows pinned messages (when implemented)"."""
    id = ids(session)("fix the handler 3")
    before = session.read_bytes()
    assert command("pin", id, "--session", str(session)).stdout.startswith("Pinned: user: Please fix the handler 3")
    assert session.read_bytes().startswith(before)
    assert json.loads(session.read_text().splitlines()[-1])["data"] == {"target": id, "pinned": True}
    told = command("context", "inspect", "--session", str(session)).stdout
    assert "Pinned messages:" in told
    assert "user: Please fix the handler 3" in told.partition("Pinned messages:")[2].partition("\n\n")[0]


def test_a_pinned_message_is_folded_by_no_command_however_often(session: Path) -> None:
    """ "Protection: Pinned messages never compacted"."""
    wanted = "fix the handler 3"
    command("pin", ids(session)(wanted), "--session", str(session))
    for _ in range(2):
        done = command("compact", "--yes", "--session", str(session), "--policy", "default")
        assert done.exit_code == 0, done.output
        pinned = [message.text for message in open_session(session).context.pinned]
        assert len(pinned) == 1
        assert wanted in pinned[0]
        log = Session(session)
        for n in range(12, 24):
            log.append(Message("user", (Text(f"More {n}. " + "word " * 300),)))
    assert command("session", "undo", "--session", str(session)).exit_code == 0
    assert len(open_session(session).context.pinned) == 1


def test_a_pin_is_taken_off_again_and_a_message_that_is_not_there_is_named(session: Path) -> None:
    """ "pinned messages": by who works with the session."""
    id = ids(session)("fix the handler 3")
    command("pin", id, "--session", str(session))
    assert command("pin", id, "--remove", "--session", str(session)).stdout.startswith("No longer pinned: ")
    assert not open_session(session).context.pins
    from foldline import SessionError

    with pytest.raises(SessionError, match="no message nobody in its context; `foldline session show` lists them"):
        open_session(session).pin("nobody")


def test_an_agent_bound_to_the_session_keeps_to_its_pins(session: Path) -> None:
    """ "Pinned messages never compacted": by any layer."""
    wanted = "fix the handler 3"
    Session(session).pin(ids(session)(wanted))
    opened = Session(session)
    compactor = Compactor(policy="default", window=9_000, session=opened, summarizer=tells)
    assert any(wanted in message.text for message in compactor.fit(opened.context.messages))


# -- inspect ------------------------------------------------------------------------------------------------------


def test_the_potential_savings_leave_alone_what_is_protected(home: Path) -> None:
    """ "Potential Savings: Layer 1 (prune): ~12,200 tokens": what is older than the protected outputs, and no more."""
    log = Log()
    log.user("Test it.")
    for n in range(8):
        log.reply("", f"c{n}")
        log.result(f"c{n}", "\n".join(f"tests/test_{n}.py::test_{i} ... ok" for i in range(1_000)))
    log.reply("I see.")
    path = log.write(home / "s.jsonl")
    words = ("context", "inspect", "--json", "--policy", "openclaw", "--session", str(path))
    told = json.loads(command(*words).stdout)
    outputs = next(share["tokens"] for share in told["shares"] if share["name"] == "Tool Outputs")
    free = {each["layer"]: each["tokens"] for each in told["savings"]}
    assert 20_000 < free["prune"] <= outputs - 40_000


# -- commands -----------------------------------------------------------------------------------------------------


def test_compact_previews_asks_keeps_what_is_asked_for_and_appends(session: Path) -> None:
    """ "`openclaw compact [--focus=<instruction>] [--dry-run] [--session=<id>]`"; "Preview of before/after token counts";
    "Confirmation required before compaction"."""
    before = session.read_bytes()
    preview = command("compact", "--dry-run", "--focus", "the settings", "--session", str(session)).stdout
    assert preview.startswith("Compaction Preview")
    assert "Before:" in preview
    assert "After:" in preview
    refused = command("compact", "--session", str(session))
    assert (refused.exit_code, session.read_bytes()) == (2, before)
    assert command("compact", "--yes", "--focus", "the settings", "--session", str(session)).exit_code == 0
    assert session.read_bytes().startswith(before)
    assert '  Focus:     "the settings"' in command("context", "history", "--session", str(session)).stdout


def test_status_tells_usage_count_last_time_and_risk(session: Path) -> None:
    """ "Total Tokens … Auto-Compaction … Compaction Count … Last Compaction … Degradation Risk … Recommendations"."""
    command("compact", "--yes", "--session", str(session))
    told = command("context", "status", "--session", str(session)).stdout
    for line in (
        "Total Tokens:",
        "Auto-Compaction:",
        "Compaction Count:    1",
        "Last Compaction:",
        "Degradation Risk:    Low",
    ):
        assert line in told
    assert "Recommendations:\n  ✓ Context healthy" in told


def test_inspect_tells_what_fills_the_context(session: Path) -> None:
    """ "Breakdown: Conversation, Tool Outputs, System Prompt. Protected. Compactable. Potential Savings: Layer 1 (prune),
    Layer 2 (summarize)"."""
    told = command("context", "inspect", "--policy", "openclaw", "--session", str(session)).stdout
    assert "Conversation:" in told
    assert "Tool Outputs:" in told
    assert "(12 outputs)" in told
    assert "System Prompt:" in told
    assert (
        told.index("Protected:") < told.index("Compactable:") < told.index("Layer 1 (prune):") < told.index("Layer 2 (")
    )


@pytest.mark.parametrize(("folds", "level"), [(2, "Low"), (3, "Medium"), (5, "High")])
def test_a_fresh_start_is_suggested_at_3_compactions_and_strongly_at_5(folds: int, level: str, session: Path) -> None:
    """ "Soft warning at 3 compactions (suggest fresh start). Hard warning at 5 compactions (strongly recommend fresh start).
    Warning shows in session output"; "Degradation warnings actionable"."""
    done = ""
    for n in range(folds):
        log = Session(session)
        for turn in range(12):
            log.append(Message("user", (Text(f"Round {n}, more {turn}. " + "word " * 400),)))
        done = command("compact", "--yes", "--session", str(session)).stdout
    told = command("context", "status", "--session", str(session)).stdout
    assert f"Degradation Risk:    {level}" in told
    for text in (told, done):
        assert ("fresh start would keep quality" in text) == (level == "Medium")
        assert ("Start afresh, by `foldline session handoff GOAL`" in text) == (level == "High")


def test_history_may_be_limited(session: Path) -> None:
    """ "`openclaw context history [--depth=<n>]`"; "Total Compactions: 2. Risk Level: Low (recommend fresh start at 3)"."""
    command("compact", "--yes", "--session", str(session))
    log = Session(session)
    for turn in range(12):
        log.append(Message("user", (Text(f"More {turn}. " + "word " * 400),)))
    command("compact", "--yes", "--session", str(session))
    told = command("context", "history", "--depth", "1", "--session", str(session)).stdout
    assert told.count("MANUAL - Layer 2 (summarize)") == 1
    assert "Total Compactions:   2" in told
    assert "(recommend fresh start at 3)" in told


def test_a_branch_copies_the_lines_as_they_stand_under_a_new_id(session: Path) -> None:
    """ "Raw line copying (preserves exact formatting). New session ID generated for branch"."""
    at = open_session(session).points()[3].id
    made = json.loads(command("session", "branch", "--at", at, "--json", "--session", str(session)).stdout)
    lines = session.read_bytes().splitlines()
    copied = Path(made["path"]).read_bytes().splitlines()
    assert copied[1:] == lines[1 : len(copied)]
    assert made["session"] != made["parent"]["session"]


@pytest.mark.parametrize("format", ["pi", "codex", "claude-code"])
def test_an_export_begins_a_fresh_session(format: str, session: Path, home: Path) -> None:
    """ "Export includes entities, findings, tool operations, next steps. `context import <filename>` loads into new session.
    Import works with different model/provider"."""
    out, new = home / "state.json", home / "new.jsonl"
    assert command("context", "export", str(out), "--session", str(session)).exit_code == 0
    assert {"entities", "findings", "operations", "next_steps"} <= json.loads(out.read_text()).keys()
    assert command("context", "import", str(out), "--to", format, "--into", str(new)).exit_code == 0
    assert open_session(new).context.messages


def test_a_compaction_event_says_what_was_done(session: Path) -> None:
    """ "Every compaction logged with full metadata": "interface CompactionEvent { id, type, timestamp, summary, messagesCompacted, tokensBeforeCompaction, …, trigger, layer,
    customInstruction?, boundaryMessageId }"."""
    command("compact", "--yes", "--focus", "tests", "--session", str(session))
    event = json.loads(session.read_text().splitlines()[-1])
    ours = event["details"]["foldline"]
    assert (event["type"], ours["trigger"], ours["layer"]) == ("compaction", "manual", "summarize")
    assert event["id"]
    assert event["timestamp"]
    assert event["summary"]
    assert event["tokensBefore"] == ours["receipt"]["tokens_before"]
    assert event["firstKeptEntryId"] in dict(open_session(session).context.entries)
    assert ours["receipt"]["messages_folded"] > 10
    assert ours["receipt"]["instruction"] == "tests"


def test_what_stood_before_the_boundary_is_not_loaded_again(session: Path) -> None:
    """ "Find LATEST compaction event. Load only: compaction summary + events AFTER boundary. Don't reload pre-compaction messages"."""
    for n in range(3):
        log = Session(session)
        for turn in range(12):
            log.append(Message("user", (Text(f"Round {n}, more {turn}. " + "word " * 400),)))
        command("compact", "--yes", "--session", str(session))
    summaries = [message for message in open_session(session).context.messages if message.summary]
    assert len(summaries) == 1
    assert summaries[0].summary is not None
    assert summaries[0].summary.facts["round"] == 3


def test_a_restarted_process_goes_on_from_the_event_that_was_appended(session: Path) -> None:
    """ "APPEND compaction event to transcript. RELOAD session with boundary rule. RESUME message processing"."""
    asked: list[int] = []

    def counts(brief: Brief, messages: Sequence[Message]) -> Summary:
        asked.append(len(messages))
        return tells(brief, messages)

    for _ in range(2):
        opened = Session(session)
        Compactor(window=12_000, session=opened, summarizer=counts).fit(opened.context.messages)
    assert len(asked) == 1


def test_auto_compactions_may_be_limited_and_notices_switched_off(home: Path) -> None:
    """ "max_auto_compactions: 4"; "notify_before_auto: true"; "warn_at_compaction: 3"; "auto_enabled: true"."""
    folder = home / ".config" / "foldline"
    folder.mkdir(parents=True)
    text = "[compaction]\nnotify_before_auto = false\nmax_auto_compactions = 2\nwarn_at_compaction = 7\nauto_enabled = false\n"
    (folder / "config.toml").write_text(text)
    automatic = read_settings().to_policy().automatic
    assert (automatic.enabled, automatic.most, automatic.warn_at, automatic.notify) == (False, 2, 7, False)


# -- a session that goes on ---------------------------------------------------------------------------------------


def parallel(number: int, words: int) -> list[Item]:
    """A step of two calls at once, with their results."""
    ids = [f"p{number}a", f"p{number}b"]
    calls = [{"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}} for id in ids]
    results = [{"role": "tool", "tool_call_id": id, "content": f"{id} " + "word " * words} for id in ids]
    return [{"role": "assistant", "content": None, "tool_calls": calls}, *results]


def test_the_session_goes_on_for_5_times_its_window_and_every_request_is_one_that_a_provider_takes() -> None:
    """ "Session continues seamlessly after compaction"; "Sessions run 3-5x longer than context window"."""
    compactor = Compactor(policy=OPENCLAW, window=20_000, summarizer=tells)
    history: list[Item] = [user("Fix the build.")]
    for number in range(64):
        history += [*parallel(number, 800), user(f"Go on with part {number}.")]
        sent = compactor.fit(history)
        check_valid(history, sent)
        assert sent[-4:] == history[-4:]
        assert compactor.count.tokens <= compactor.budget.limit
    unfolded = Compactor(policy="amp", window=1_000_000)
    unfolded.fit(history)
    assert unfolded.count.tokens > 5 * 20_000


def test_whatever_others_functions_do_no_step_fails() -> None:
    """ "No surprise session failures due to context limits"; "Auto-compaction success rate > 99.5%"."""

    def raises(*_: Any) -> Any:
        raise RuntimeError("not mine")

    compactor = Compactor(
        policy=OPENCLAW, window=20_000, summarizer=raises, pinned=raises, on_event=raises, before_fold=raises
    )
    history: list[Item] = [user("Fix the build.")]
    for number in range(60):
        history += [*parallel(number, 800), user(f"Go on with part {number}.")]
        check_valid(history, compactor.fit(history))
        assert compactor.count.tokens <= compactor.budget.limit


def test_a_single_message_that_no_fold_can_fit_is_refused_by_name_before_it_is_sent() -> None:
    """ "No surprise session failures due to context limits"."""
    compactor = Compactor(policy=OPENCLAW, window=20_000)
    with pytest.raises(CannotFit, match="user message") as refusal:
        compactor.fit([user("Read this.", 27_000)])
    assert refusal.value.in_the_way[0][1] > 20_000


def test_the_fill_is_checked_at_each_step_and_a_fold_comes_before_the_next_message(session: Path) -> None:
    """ "1. CHECK token count after each message 2. If > threshold, PAUSE message processing 3. COMPACT with appropriate layer
    4. APPEND compaction event to transcript 5. RELOAD session with boundary rule 6. RESUME message processing"; "Add threshold
    checking to `run()` lifecycle"; "User notified before compaction occurs"."""
    order: list[str] = []

    def writes(brief: Brief, messages: Sequence[Message]) -> Summary:
        order.append("compact")
        return tells(brief, messages)

    def hears(event: Any) -> None:
        order.append({FoldDue: "pause", Folded: "appended"}[type(event)])

    def sends(items: list[Any]) -> Item:
        order.append("resume")
        assert [m.text for m in items] == [m.text for m in Session(session).context.messages]
        return {"choices": [{"message": assistant("Done.")}], "usage": {"prompt_tokens": 4_000, "completion_tokens": 9}}

    opened = Session(session)
    compactor = Compactor(policy=OPENCLAW, window=9_000, session=opened, summarizer=writes, on_event=hears)
    step(compactor, opened.context.messages, sends)
    step(compactor, opened.context.messages, sends)
    assert order == ["pause", "compact", "appended", "resume", "resume"]


def test_a_host_is_told_the_tokens_of_its_session_at_each_step() -> None:
    """ "Token count visible in session output": what a host shows beside its prompt."""
    compactor = Compactor(policy=OPENCLAW, window=20_000, overhead=1_000)
    compactor.fit([user("Fix the build.", 4_000)])
    assert 4_750 < compactor.count.tokens < 5_250
    assert compactor.room.available == 20_000 - compactor.count.tokens - compactor.budget.reserve


# -- what is not to be waited for ---------------------------------------------------------------------------------


def test_a_fold_of_100000_tokens_asks_no_model_unless_told_to_and_says_how_long_it_took(home: Path) -> None:
    """ "Compaction completes in < 10 seconds (for 100K token context)"; how long it takes is what `make bench` measures."""
    log = Log()
    for n in range(110):
        log.step(n)
    done = command("compact", "--yes", "--json", "--session", str(log.write(home / "s.jsonl")))
    receipt = json.loads(done.stdout)["fold"]["receipt"]
    assert receipt["tokens_before"] > 100_000
    assert receipt.get("calls", 0) == 0
    assert 0 < receipt["seconds"] < 10


def test_what_stands_before_the_boundary_is_not_even_read(session: Path) -> None:
    """ "Session reload < 2 seconds": its cost is that of the live context, whatever the file holds before."""
    command("compact", "--yes", "--session", str(session))
    shown = [message.text for message in open_session(session).context.messages]
    kept = json.loads(session.read_text().splitlines()[-1])["firstKeptEntryId"]
    lines = session.read_bytes().splitlines(keepends=True)
    first = next(at for at, line in enumerate(lines) if json.loads(line)["id"] == kept)
    session.write_bytes(lines[0] + b"not a record\n" * 10 + b"".join(lines[first - 1 :]))
    opened = open_session(session)
    assert [message.text for message in opened.context.messages] == shown


def test_an_agent_does_not_wait_for_a_summary_that_is_being_written() -> None:
    """ "No UI blocking during compaction"."""
    may = Event()

    def writes(brief: Brief, messages: Sequence[Message]) -> Summary:
        assert may.wait(10)
        return tells(brief, messages)

    compactor = Compactor(policy=OPENCLAW, window=20_000, ahead=0.3, summarizer=writes)
    history = [user(f"Part {n}.", 1_000) if n % 2 == 0 else assistant("Done.", 1_000) for n in range(15)]
    for stop in range(1, 16, 2):
        assert compactor.fit(history[:stop]) == history[:stop]
    assert compactor.preparing
    may.set()


def test_a_failed_fold_leaves_the_file_as_it_is_and_a_torn_line_is_set_aside(session: Path) -> None:
    """ "Session file never corrupted by failed compaction"; "Atomic writes"; "Recovery from interrupted compaction"."""
    before = session.read_bytes()
    with Provider(status(400)) as provider:
        words = ("--model", "demo-1", "--base-url", provider.url, "--session", str(session))
        with pytest.raises(FoldlineError, match="nothing was written"):
            command("compact", "--yes", *words)
    assert session.read_bytes() == before
    command("compact", "--yes", "--session", str(session))
    session.write_bytes(session.read_bytes()[:-40])
    torn = Session(session)
    assert not torn.folds()
    assert len(torn.context.messages) == 48
    torn.append(Message("user", (Text("Go on."),)))
    assert session.read_bytes().startswith(before)
    assert Session(session).context.messages[-1].text == "Go on."


def test_a_count_behind_a_bill_is_within_5_percent_of_the_next_one(home: Path) -> None:
    """ "Token counts accurate (±5%)": of what the next request is billed, and the count says by how much it may be wrong."""
    compactor = Compactor("claude-sonnet-4-5", policy=OPENCLAW, window=200_000)
    history = [user("Fix the build.", 40_000)]
    compactor.fit(history)
    billed = 44_000
    compactor.observe({"input_tokens": billed, "output_tokens": 9})
    history += [assistant("Done.", 500), user("Go on.", 500)]
    compactor.fit(history)
    next_bill = billed + 1_000 * 1.1  # as that provider counts: a tenth more than a token a word
    assert abs(compactor.count.tokens - next_bill) <= 0.05 * next_bill
    assert compactor.count.error <= 0.05


# -- with whom it works -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "format"),
    [
        ("gpt-5.4", "openai-chat"),
        ("gpt-5.4", "openai-responses"),
        ("claude-sonnet-4-5", "anthropic"),
        ("gemini-2.5-flash", "gemini"),
        ("openrouter:google/gemini-2.0-flash-exp:free", "openai-chat"),
    ],
)
def test_it_works_with_every_provider(model: str, format: str) -> None:
    """ "Works with all providers (OpenAI, Anthropic, Google, OpenRouter)"."""
    said = [Message("user" if n % 2 == 0 else "assistant", (Text(f"Part {n}. " + "word " * 900),)) for n in range(25)]
    history = [encode(message, format) for message in said]
    compactor = Compactor(model, policy=OPENCLAW, window=20_000, format=format, summarizer=tells)
    sent = compactor.fit(history)
    check_valid(history, sent)
    assert len(compactor.folds) == 1
    assert sent[-1] == history[-1]


@pytest.mark.parametrize("version", [1, 2, 3])
def test_existing_sessions_work_as_they_are(version: int, home: Path) -> None:
    """ "Works with existing sessions (migration path)"; "Existing sessions must work (no migration required)"; "No breaking changes
    to session file format"; "Session file format: NDJSON (preserve compatibility)"."""
    path = long_log(12, version=version).write(home / "old.jsonl")
    before = path.read_bytes()
    command("compact", "--yes", "--session", str(path))
    assert path.read_bytes().startswith(before)
    assert all(json.loads(line) for line in path.read_bytes().splitlines())
    assert open_session(path).context.messages[0].summary


def test_a_free_model_of_openrouter_may_write_the_summaries(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ "Compaction cost: Must support free/cheap models via OpenRouter"."""
    monkeypatch.setenv("OPENROUTER_API_KEY", "k")
    with Provider(says("## Goal\nThe handlers are fixed.")) as provider:
        words = ("--model", "openrouter:google/gemini-2.0-flash-exp:free", "--base-url", provider.url)
        assert command("compact", "--yes", *words, "--session", str(session)).exit_code == 0
        assert provider.requests[0].body["model"] == "google/gemini-2.0-flash-exp:free"


def test_an_export_is_small_whatever_the_size_of_its_session(home: Path) -> None:
    """ "Storage: Export files must be < 100 MB"."""
    sizes = []
    for turns in (40, 80):
        path, out = long_log(turns).write(home / f"{turns}.jsonl"), home / f"{turns}.json"
        command("context", "export", str(out), "--session", str(path))
        sizes.append(out.stat().st_size)
    assert sizes[1] < 100e6 / 100
    assert sizes[1] < 2 * sizes[0]


def test_a_fold_names_the_files_that_were_read_and_changed(home: Path) -> None:
    """ "Write events to session JSONL file. Use existing SessionManager APIs": pi's own lists of files beside the summary."""
    log = Log()
    for n in range(12):
        log.step(n)
        log.message(
            "assistant",
            [
                {
                    "type": "toolCall",
                    "id": f"w{n}",
                    "name": "write",
                    "arguments": {"path": f"src/new_{n}.py", "content": "x"},
                }
            ],
        )
        log.result(f"w{n}", "ok")
    path = log.write(home / "s.jsonl")
    command("compact", "--yes", "--session", str(path))
    details = json.loads(path.read_text().splitlines()[-1])["details"]
    assert "src/module_0.py" in details["readFiles"]
    assert "src/new_0.py" in details["modifiedFiles"]
