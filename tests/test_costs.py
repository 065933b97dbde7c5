"""What a fold does to the costs of a session: told before it is made, and in its receipt."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from foldline import Compactor, open_session
from foldline._cli.commands import foldline
from foldline.extend import Bill, Request, bills, model

SAMPLE = Path(__file__).parent.parent / "samples" / "invoices.jsonl"
SONNET = "claude-sonnet-4-5"


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """The sample as if a model had written it whose prices are known."""
    path = tmp_path / "s.jsonl"
    path.write_text(SAMPLE.read_text("utf-8").replace('"scripted"', f'"{SONNET}"'), "utf-8")
    return path


def said(session: Path, tmp_path: Path, *more: str) -> str:
    given = ["compact", "--dry-run", "--session", str(session), "--window", "128000", *more]
    done = CliRunner(env={"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}).invoke(foldline, given)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_dry_run_says_what_the_fold_discards_and_when_that_has_paid(session: Path, tmp_path: Path) -> None:
    (line,) = (line for line in said(session, tmp_path).splitlines() if line.startswith("Prompt cache"))
    receipt = json.loads(said(session, tmp_path, "--json"))["fold"]["receipt"]
    reset = receipt["reset"]
    calls = -(-reset["once"] // reset["saved"])
    assert f"{receipt['cache_discarded']:,} tokens to be read again; ${reset['once']:.4f} once" in line
    assert line.endswith(f"it has paid after {calls:.0f} further calls")


def test_a_fold_of_a_cold_cache_loses_nothing(session: Path, tmp_path: Path) -> None:
    os.utime(session, (time.time() - 3_600,) * 2)
    assert "nothing is lost by it" in said(session, tmp_path)
    assert "to be read again" not in said(session, tmp_path)
    assert json.loads(said(session, tmp_path, "--json"))["fold"]["receipt"]["reset"]["once"] < 0


def test_what_a_model_will_cost_is_told_before_it_is_asked_and_counts(session: Path, tmp_path: Path) -> None:
    shown = said(session, tmp_path, "--model", "anthropic:claude-opus-4-5")
    assert "anthropic:claude-opus-4-5, asked once this is folded (about $0." in shown
    (with_model,) = (line for line in shown.splitlines() if line.startswith("Prompt cache"))
    (without,) = (line for line in said(session, tmp_path).splitlines() if line.startswith("Prompt cache"))

    def calls(line: str) -> int:
        return int(line.split("after ")[1].split()[0])

    assert calls(with_model) > calls(without)


def test_without_prices_the_tokens_alone_are_told(tmp_path: Path) -> None:
    assert "tokens to be read again\n" in said(SAMPLE, tmp_path)


def history(turns: int) -> list[dict[str, Any]]:
    said = "".join(f"{n}: value_{n} = compute({n})\n" for n in range(60))
    return [
        message
        for turn in range(turns)
        for message in (
            {"role": "user", "content": f"Request {turn}. {said}"},
            {"role": "assistant", "content": f"It is part_{turn}."},
        )
    ]


def test_a_receipt_says_what_the_cache_lost_and_what_later_calls_save() -> None:
    now = [1_000.0]
    compactor = Compactor(SONNET, window=20_000, clock=lambda: now[0])
    messages: list[dict[str, Any]] = []
    for message in history(64):
        messages.append(message)
        if message["role"] == "user":
            compactor.fit(messages)
            tokens = compactor.count.tokens
            compactor.observe({"cache_read_input_tokens": tokens - 1, "input_tokens": 1, "output_tokens": 1})
    receipt = compactor.folds[0].receipt
    saved = 0.1 * receipt.freed * 3 / 1e6  # Sonnet 4.5 reads its cache for a tenth of $3 a million tokens
    assert receipt.reset is not None
    assert receipt.reset.saved == pytest.approx(saved, rel=0.01)
    assert receipt.reset.once > 0

    planned = compactor.plan(messages).receipt.reset
    now[0] += 3_600
    cold = compactor.plan(messages).receipt.reset
    assert planned is not None
    assert cold is not None
    assert cold.once < 0 < planned.once


def test_nothing_is_said_of_a_cache_that_nobody_billed_anything_for() -> None:
    compactor = Compactor(SONNET, window=20_000)
    compactor.fit(history(60))
    assert [fold.receipt.reset for fold in compactor.folds] == [None] * len(compactor.folds)
    assert compactor.folds


def test_a_fold_s_receipt_is_read_back_from_the_log(session: Path, tmp_path: Path) -> None:
    given = ["compact", "--yes", "--session", str(session), "--window", "128000"]
    done = CliRunner(env={"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}).invoke(foldline, given)
    assert done.exit_code == 0, done.output
    fold = open_session(session).newest_fold
    assert fold is not None
    assert fold.receipt.reset is not None
    assert fold.receipt.reset.saved > 0


def test_what_a_sequence_of_requests_costs_is_a_public_function() -> None:
    first, second = bills(model(SONNET), [Request(10_000), Request(11_000, same=10_000)])
    assert isinstance(first, Bill)
    assert first.cost == pytest.approx(10_000 * 1.25 * 3 / 1e6)
    assert second.cost == pytest.approx((10_000 * 0.1 + 1_000 * 1.25) * 3 / 1e6)
