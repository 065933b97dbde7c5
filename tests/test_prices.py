"""What a call cost: by the prices that genai-prices has learned since foldline was released, by a user's own, or by the table."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from click.testing import CliRunner

from foldline import Usage
from foldline._cli.models import models as command
from foldline._economics import price
from foldline._models import model

USAGE = Usage(1_000, 100, 2_000)


def stated(id: str, input: Any, output: float, **more: Any) -> dict[str, Any]:
    return {"id": id, "match": {"equals": id}, "prices": {"input_mtok": input, "output_mtok": output, **more}}


@contextmanager
def learned(*models: dict[str, Any]) -> Iterator[None]:
    """genai-prices after it has fetched a list of prices, as whoever asks it to be kept new has it do."""
    genai_prices = pytest.importorskip("genai_prices")
    provider = {"id": "anthropic", "name": "Anthropic", "api_pattern": "a", "models": models}
    body = json.dumps([provider | {"model_match": {"contains": "claude"}}]).encode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        with genai_prices.UpdatePrices(url=f"http://127.0.0.1:{server.server_port}/") as update:
            assert update.wait(20)
        yield
    finally:
        genai_prices.data_snapshot.set_custom_snapshot(None)
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_price_that_changed_since_the_release_is_the_one_that_counts() -> None:
    with learned(stated("claude-haiku-4-5", 3.0, 7.0, cache_read_mtok=0.6)):
        assert price(model("claude-haiku-4-5"), USAGE) == pytest.approx((1_000 * 3 + 2_000 * 0.6 + 100 * 7) / 1e6)
        assert price(model("anthropic/claude-haiku-4.5"), USAGE) == price(model("claude-haiku-4-5"), USAGE)
        shown = CliRunner().invoke(command, ["show", "claude-haiku-4-5", "--json"]).stdout
        assert json.loads(shown)["input"] == 3.0
    assert price(model("claude-haiku-4-5"), USAGE) == pytest.approx((1_000 * 1 + 2_000 * 0.1 + 100 * 5) / 1e6)


def test_a_price_above_a_size_counts_for_the_whole_request() -> None:
    tiers = {"base": 2, "tiers": [{"start": 2_500, "price": 5}]}
    with learned(stated("claude-haiku-4-5", tiers, 7.0)):
        assert price(model("claude-haiku-4-5"), Usage(2_000, 0)) == pytest.approx(2_000 * 2 / 1e6)
        assert price(model("claude-haiku-4-5"), Usage(3_000, 0)) == pytest.approx(3_000 * 5 / 1e6)


def test_a_model_that_is_newer_than_the_release_has_a_price() -> None:
    assert price(model("claude-haiku-9"), USAGE) is None
    with learned(stated("claude-haiku-9", 2.0, 4.0)):
        for name in ("claude-haiku-9", "anthropic:claude-haiku-9"):
            assert price(model(name), USAGE) == pytest.approx((3_000 * 2 + 100 * 4) / 1e6)


def test_the_price_of_another_model_is_not_taken() -> None:
    of_all = {"id": "claude-haiku-4-5-fast", "match": {"contains": "haiku"}, "prices": {"input_mtok": 90}}
    with learned(of_all):
        assert price(model("claude-haiku-4-5"), USAGE) == pytest.approx((1_000 * 1 + 2_000 * 0.1 + 100 * 5) / 1e6)


def fresh(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_without_it_the_table_counts_and_a_window_never_asks_for_it() -> None:
    asked = "from foldline import Compactor, Usage; import sys; c = Compactor('claude-haiku-4-5'); "
    assert (
        fresh(f"{asked} c.fit([{{'role': 'user', 'content': 'Hello.'}}]); print('genai_prices' in sys.modules)")
        == "False"
    )
    counted = "from foldline._economics import price; print(price(c.model, Usage(1_000_000)))"
    assert fresh(f"{asked} sys.modules['genai_prices'] = None; {counted}") == "1.0"
