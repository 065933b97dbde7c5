"""What `[compaction]` and `[summary]` of the settings make an agent's compactor do, and what the commands say of it."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from foldline import Brief, Compactor, ConfigError, FoldDue, Folded, Message, Policy, Risk, Session, SummaryFellBack
from foldline._cli.commands import foldline
from foldline._config import Compaction, Prune, Settings, Summaries
from foldline._desk.desk import Desk
from foldline._desk.status import status
from foldline._engine.driving import run
from foldline._engine.folding import folding
from foldline._engine.steps import steps_by_hand
from foldline._policies import names
from foldline.extend import extract, preset
from providers import Provider, says
from sessions import long_log
from test_compactor import overflow, size, turns

SAMPLE = Path(__file__).parents[1] / "samples" / "invoices.jsonl"
Heard = list[Any]


def follows(heard: Heard | None = None, **compaction: Any) -> Compactor:
    """A small compactor that follows the settings."""
    settings = Settings(compaction=Compaction(preserve_recent_tokens=800, **compaction))
    on_event = None if heard is None else heard.append
    return Compactor.from_settings("", settings, window=8_000, reserve=0, on_event=on_event)


def grown(compactor: Compactor, folds: int, history: list[Any] | None = None) -> list[Any]:
    """A history that grew by turns until so many folds were made."""
    history = [] if history is None else history
    while len(compactor.folds) < folds:
        history += turns(1, first=len(history))
        compactor.fit(history)
    return history


# -- from the settings --------------------------------------------------------------------------------------------


def test_the_users_own_settings_are_read_where_none_are_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pydantic_ai")
    file, history = tmp_path / "settings.json", turns(20)
    monkeypatch.setenv("FOLDLINE_CONFIG", str(file))
    window = round(size(history) / 0.6)
    with Provider(says("It was the parser.")) as provider:
        summary = {"model": "demo-1", "base_url": provider.url}
        file.write_text(json.dumps({"compaction": {"auto_threshold_percent": 50}, "summary": summary}))
        Compactor.from_settings(window=window, reserve=0).fit(history)
        asked = [request.body["model"] for request in provider.requests]
        assert set(asked) == {"demo-1"}
        monkeypatch.setenv("FOLDLINE_COMPACTION__AUTO_ENABLED", "off")
        assert Compactor.from_settings(window=window, reserve=0).fit(history) == history
        assert len(provider.requests) == len(asked)


def test_a_model_without_its_key_is_refused_at_once_unless_extraction_may_take_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("pydantic_ai")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    model, heard = "openai:gpt-5-mini", []
    with pytest.raises(ConfigError, match="set OPENAI_API_KEY"):
        Compactor.from_settings("", Settings(summary=Summaries(model)))
    allowed = Settings(summary=Summaries(model, fallbacks=("extract",)))
    history = turns(20)
    compactor = Compactor.from_settings("", allowed, window=size(history), reserve=0, on_event=heard.append)
    compactor.fold(history)
    (told,) = (event.reason for event in heard if isinstance(event, SummaryFellBack))
    assert "set OPENAI_API_KEY" in told
    assert compactor.folds


# -- auto_enabled -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fit", [Compactor.fit, lambda *given: asyncio.run(Compactor.afit(*given))], ids=["fit", "afit"]
)
def test_switched_off_nothing_is_folded_unless_it_is_asked_for(fit: Callable[..., list[Any]]) -> None:
    history = turns(60)
    assert size(history) > 8_000
    compactor = follows(auto_enabled=False)
    assert fit(compactor, history) == history
    sent = compactor.fold(history)
    assert size(sent) < 4_000
    assert fit(compactor, history) == sent
    compactor.undo()
    again = compactor.recover(overflow(8_000, size(history)), history)
    assert size(again) < 8_000
    assert [made.trigger for made in compactor.folds] == ["overflow"]


def test_switched_off_no_summary_is_prepared_either() -> None:
    for enabled in (True, False):
        compactor, history = prepares(auto_enabled=enabled)
        compactor.fit(history)
        assert compactor.preparing == enabled


def prepares(heard: Heard | None = None, **compaction: Any) -> tuple[Compactor, list[Any]]:
    """A compactor that prepares its summary, and a history that calls for that."""
    history, on_event = turns(30), None if heard is None else heard.append
    policy = Settings(compaction=Compaction(preserve_recent_tokens=800, **compaction)).to_policy()
    window = round(size(history) / 0.75)
    return Compactor(window=window, reserve=0, policy=policy, summarizer=tells, ahead=0.2, on_event=on_event), history


def tells(brief: Brief, messages: Sequence[Message]) -> str:
    return "The parser is to blame."


# -- max_auto_compactions -----------------------------------------------------------------------------------------

REACHED = "limit of 2 automatic compactions reached"


def test_at_the_limit_only_the_hard_layer_is_left_and_the_state_says_what_to_do() -> None:
    compactor = follows(max_auto_compactions=2)
    history = grown(compactor, 1)
    assert compactor.state == ""
    history = grown(compactor, 2, history)
    assert compactor.state.startswith(REACHED)
    assert "hand off to a new session" in compactor.state
    for n in (3, 4):
        before = compactor.count.tokens
        history = grown(compactor, n, history)
        assert compactor.folds[-1].receipt.tokens_before > 8_000 / 1.1 > before
    assert [made.layer for made in compactor.folds] == ["summarize", "summarize", "full", "full"]


def test_at_the_limit_no_summary_is_prepared() -> None:
    compactor, history = prepares(max_auto_compactions=1)
    while len(compactor.folds) < 2:
        compactor.fit(history)
        assert not (compactor.folds and compactor.preparing)
        history += turns(1, first=len(history))
    assert [made.layer for made in compactor.folds] == ["summarize", "full"]


def test_folds_that_were_asked_for_or_undone_do_not_count() -> None:
    compactor = follows(max_auto_compactions=2)
    history = grown(compactor, 1)
    for _ in range(3):
        history += turns(6, first=len(history))
        compactor.fold(history)
    assert compactor.state == ""
    history = grown(compactor, 5, history)
    assert compactor.state.startswith(REACHED)
    compactor.undo()
    assert compactor.state == ""


def test_zero_is_no_limit() -> None:
    compactor = follows(max_auto_compactions=0)
    grown(compactor, 6)
    assert {made.layer for made in compactor.folds} == {"summarize"}
    assert compactor.state == ""


def test_the_log_keeps_the_count_for_the_next_process(tmp_path: Path) -> None:
    path = long_log(12).write(tmp_path / "session.jsonl")
    policy = Settings(compaction=Compaction(max_auto_compactions=1)).to_policy()
    session = Session(path)
    opened = Desk(session)
    made = folding(opened.view, steps_by_hand(policy, opened.view, opened.budget, 0))
    session.fold(opened.view, *run(made, extract), opened.meter)
    later = Compactor("", policy=policy)
    later.fit(Session(path).view().messages)
    assert later.state.startswith("limit of 1 ")
    advice = status(Desk(Session(path)), policy).recommendations
    assert any("limit of 1 automatic compactions reached" in line for line in advice)
    session.undo()
    assert not any("limit of" in line for line in status(Desk(Session(path)), policy).recommendations)


# -- warn_at_compaction -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("warn_at", "warned"), [(2, [2, 3]), (3, [3]), (0, [])])
def test_a_fold_from_that_number_on_is_followed_by_a_warning(warn_at: int, warned: list[int]) -> None:
    heard: Heard = []
    grown(follows(heard, warn_at_compaction=warn_at), 3)
    told = [heard[i - 1].fold.receipt.round for i, event in enumerate(heard) if isinstance(event, Risk)]
    assert told == warned
    assert all(event.level != "Low" for event in heard if isinstance(event, Risk))


def test_preview_status_and_history_warn_from_the_same_number_on(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    shutil.copyfile(SAMPLE, path)

    def told(warn_at: int, *command: str) -> str:
        env = {"XDG_CONFIG_HOME": str(tmp_path), "FOLDLINE_COMPACTION__WARN_AT_COMPACTION": str(warn_at)}
        return CliRunner().invoke(foldline, [*command, "--session", str(path)], env=env).stdout

    assert "1 (risk low)" in told(2, "compact", "--dry-run")
    assert "1 (risk medium)" in told(1, "compact", "--yes")
    assert "Degradation Risk:    Low (1 compaction" in told(2, "context", "status")
    assert "Degradation Risk:    Medium (1 compaction" in told(1, "context", "status")
    assert "Low (recommend fresh start at 2)" in told(2, "context", "history")
    assert "Medium (hard limit 3)" in told(1, "context", "history")
    assert "Risk Level:          Low\n" in told(0, "context", "history")


# -- notify_before_auto -------------------------------------------------------------------------------------------


def test_a_fold_is_told_of_before_its_summary_is_asked_for_unless_nobody_wants_to_hear() -> None:
    history, heard = turns(20), []

    def writes(brief: Brief, messages: Sequence[Message]) -> str:
        heard.append("asked")
        return "The parser is to blame."

    def fits(notify: bool) -> list[Any]:
        heard.clear()
        policy = Settings(compaction=Compaction(preserve_recent_tokens=800, notify_before_auto=notify)).to_policy()
        window = round(size(history) / 0.9)
        compactor = Compactor(
            window=window, reserve=0, policy=policy, summarizer=writes, on_event=lambda event: heard.append(type(event))
        )
        compactor.fit(history)
        return list(heard)

    assert fits(True) == [FoldDue, "asked", Folded]
    assert fits(False) == ["asked", Folded]


def test_a_fold_that_asks_no_summarizer_and_one_that_was_prepared_are_told_of_too() -> None:
    heard: Heard = []
    grown(compactor := follows(heard, max_auto_compactions=1, warn_at_compaction=0), 2)
    assert compactor.folds[-1].layer == "full"
    assert [type(event) for event in heard] == [FoldDue, Folded] * 2
    heard.clear()
    ahead, history = prepares(heard)
    ahead.fit(history)
    assert (ahead.preparing, heard) == (True, [])
    full = history + turns(6, first=30)
    ahead.fit(full)
    assert heard == [FoldDue(size(full), ahead.budget.window), Folded(ahead.folds[0])]
    assert "The parser is to blame." in ahead.fit(full)[0]["content"]


def test_where_nothing_is_folded_or_a_person_asked_nothing_is_told_before() -> None:
    heard: Heard = []
    compactor = follows(heard)
    history = turns(20)
    compactor.fit(history)
    assert heard == []
    compactor.fold(history)
    assert [type(event) for event in heard] == [Folded]


def test_a_policy_may_be_named() -> None:
    assert Compactor(policy="pi").policy == preset("pi")
    with pytest.raises(ConfigError, match=f"there are {', '.join(names())}"):
        Compactor(policy="bold")


@pytest.mark.parametrize("ahead", [-0.1, 1.0, 5])
def test_a_share_of_the_window_that_is_none_is_refused(ahead: float) -> None:
    with pytest.raises(ConfigError, match="ahead"):
        Compactor(ahead=ahead)


def test_the_settings_refine_a_policy_key_by_key() -> None:
    name = "default"
    chosen = preset(name)

    def refined(**compaction: Any) -> Policy:
        return Settings(name, Compaction(**compaction)).to_policy()

    def told(policy: Policy, kind: str) -> list[dict[str, Any]]:
        """What the strategies of that kind of layer were told, in order."""
        layers = (layer for layer in policy.layers if layer.kind == kind)
        return [dict(getattr(each, "arguments", {})) for layer in layers for each in layer.strategies]

    assert refined().layers == chosen.layers
    early = refined(auto_threshold_percent=70)
    assert {layer.kind: layer.at for layer in early.layers} == {"prune": 0.6, "summarize": 0.7, "hard": 0.95}
    assert [layer.to for layer in early.layers] == [layer.to for layer in chosen.layers]
    assert all(layer.to <= 0.3 for layer in refined(auto_threshold_percent=30).layers)
    kept = refined(preserve_recent_tokens=800)
    assert told(kept, "summarize") == [{"keep": 800, "max_tokens": 8_000}]
    assert [layer.at for layer in kept.layers] == [layer.at for layer in chosen.layers]
    assert told(kept, "hard") == told(chosen, "hard")
    pruned = refined(prune=Prune(protect_recent_tokens=7))
    assert told(pruned, "prune") == [{**each, "protect": 7} for each in told(chosen, "prune")]
    assert [layer.kind for layer in refined(prune=Prune(enabled=False)).layers] == ["summarize", "hard"]


def test_settings_that_leave_nothing_of_a_policy_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    layer = {"name": "prune", "at": 0.8, "to": 0.6, "strategies": [{"use": "prune_tool_outputs"}]}
    path.write_text(json.dumps({"layers": [layer]}))
    assert Settings(str(path)).to_policy().layers == preset(str(path)).layers
    with pytest.raises(ConfigError, match=r"compaction\.prune\.enabled: the policy mine does nothing else"):
        Settings(str(path), Compaction(prune=Prune(enabled=False))).to_policy()


@pytest.mark.parametrize("name", sorted({*names()} - {"amp"}))
def test_no_preset_drops_a_threshold_that_the_settings_state(name: str) -> None:
    policy = Settings(name, Compaction(auto_threshold_percent=60)).to_policy()
    assert policy.layers[policy.first].at == 0.6
    assert policy.layers[policy.first].to in (0.6, 0.5)


@pytest.mark.parametrize("name", ["openclaw", "pi"])
def test_no_preset_that_keeps_tokens_drops_how_many_the_settings_state(name: str) -> None:
    policy = Settings(name, Compaction(preserve_recent_tokens=800)).to_policy()
    told = [getattr(each, "arguments", {}) for each in policy.layers[policy.first].strategies]
    assert [each["keep"] for each in told] == [800]


@pytest.mark.parametrize(("name", "mark"), [("pi", "the window less 16,384"), ("openclaw", "88 % of the window")])
def test_a_flag_names_the_policy_and_the_settings_refine_it(name: str, mark: str, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    shutil.copyfile(SAMPLE, path)

    def kept(**settings: str) -> int:
        env = {"XDG_CONFIG_HOME": str(tmp_path), **settings}
        words = ["context", "inspect", "--json", "--policy", name, "--session", str(path)]
        return json.loads(CliRunner().invoke(foldline, words, env=env).stdout)["protected"]

    assert 4_000 <= kept(FOLDLINE_COMPACTION__PRESERVE_RECENT_TOKENS="4000") < 10_000 < kept()
    told = CliRunner().invoke(foldline, ["autocompact", "--json"], env={"FOLDLINE_POLICY": name}).stdout
    assert json.loads(told)["mark"] == mark


def test_what_the_author_says_goes_before_the_settings() -> None:
    settings = Settings(policy="openclaw", summary=Summaries(model="openai:gpt-5-mini"))
    compactor = Compactor.from_settings(settings=settings, policy="pi", summarizer=extract)
    assert (compactor.policy.name, compactor.summarizer) == ("pi", extract)
