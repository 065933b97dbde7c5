"""What a prompt cache saves, what an edit of the past does to it, and when that pays."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as some

from foldline import Usage
from foldline._economics import Request, Reset, bills, reset, still_found
from foldline._models import Model

CLAUDE = Model("c", "anthropic", True, input=1.0, output=5.0, cache_read=0.1, cache_write=1.25, cache_ttl=300,
               min_cacheable=1_000, family="claude4.7")  # fmt: skip
GPT = Model("g", "openai", True, input=1.0, output=5.0, cache_read=0.1, cache_ttl=300, min_cacheable=1_024)
UNCACHED = Model("u", "meta", True, input=1.0, output=5.0)


def growing(steps: int, start: int = 2_000, by: int = 500, idle: float = 1.0) -> list[Request]:
    sizes = [start + by * n for n in range(steps)]
    return [Request(size, before, 1_500, 2, idle) for before, size in zip([0, *sizes], sizes)]


def test_a_conversation_that_only_grows_is_read_from_the_cache_but_for_what_is_new() -> None:
    first, second, third = (bill.usage for bill in bills(CLAUDE, growing(3)))
    assert first == Usage(cache_write=2_000)
    assert second == Usage(cache_read=2_000, cache_write=500)
    assert third == Usage(cache_read=2_500, cache_write=500)


def test_what_writing_to_the_cache_costs_nothing_is_billed_as_input_in_steps_of_the_provider() -> None:
    _, second = (bill.usage for bill in bills(GPT, growing(2)))
    assert second == Usage(input=580, cache_read=1_920)  # 15 × 128 of the first 2,000


def test_a_cache_that_was_not_used_for_its_life_is_cold() -> None:
    _, second = bills(CLAUDE, growing(2, idle=300))
    assert second.usage == Usage(cache_write=2_500)


def test_a_prefix_below_the_least_is_neither_written_nor_read() -> None:
    found = [bill.usage for bill in bills(CLAUDE, growing(2, start=300))]
    assert found == [Usage(input=300), Usage(input=800)]


def test_without_a_cache_everything_is_input() -> None:
    assert [bill.usage.input for bill in bills(UNCACHED, growing(3))] == [2_000, 2_500, 3_000]


def test_behind_a_deep_edit_claude_finds_the_head_alone_and_others_all_that_is_the_same() -> None:
    before, after = Request(50_000, 0, 4_000), Request(30_000, 20_000, 4_000, 60)
    assert [bill.usage.cache_read for bill in bills(CLAUDE, (before, after))] == [0, 4_000]
    assert [bill.usage.cache_read for bill in bills(GPT, (before, after))] == [0, 20_000 // 128 * 128]
    assert still_found(CLAUDE, 4_000, 20_000, 20) == 20_000


def test_a_price_cliff_counts_for_the_whole_request() -> None:
    dear = Model("h", "meta", True, input=1.0, output=5.0, tiers=((10_000, 5.0, 25.0),))
    assert [bill.cost for bill in bills(dear, [Request(10_000), Request(10_001)])] == [0.01, pytest.approx(0.050005)]


def test_a_model_without_a_price_is_billed_in_tokens_alone() -> None:
    (bill,) = bills(Model("nobody's"), [Request(5_000)])
    assert (bill.usage.input, bill.cost) == (5_000, None)


@pytest.mark.parametrize(
    ("read", "write", "survivors", "removed", "calls"),
    [(0.10, 1.25, 40_000, 20_000, 22), (0.10, 2.0, 40_000, 40_000, 18), (0.05, 1.25, 40_000, 80_000, 11),
     (0.10, 1.0, 100_000, 40_000, 22), (0.25, 1.0, 40_000, 20_000, 5)],
)  # fmt: skip
def test_an_edit_of_a_warm_cache_pays_after_as_many_calls_as_the_field_has_found(
    read: float, write: float, survivors: int, removed: int, calls: int
) -> None:
    model = Model("m", "meta", True, input=1.0, output=5.0, cache_read=read, cache_write=write, cache_ttl=300)
    before = 10_000 + removed + survivors
    found = reset(model, before, before - removed, 10_000, before)
    assert found is not None
    assert found.once / found.saved == pytest.approx(calls, abs=1)


@given(
    some.integers(0, 200_000), some.integers(1, 200_000), some.integers(0, 50_000), some.integers(0, 50_000),
    some.floats(0.01, 1), some.floats(1.01, 2), some.floats(0, 10),
)  # fmt: skip
def test_the_rule_is_the_one_of_the_design(
    survivors: int, removed: int, inserted: int, kept: int, read: float, write: float, summary: float
) -> None:
    model = Model("m", "meta", True, input=1.0, output=5.0, cache_read=read, cache_write=write, cache_ttl=300)
    before, after = kept + removed + survivors, kept + inserted + survivors
    found = reset(model, before, after, kept, before, summary)
    once = (write - read) * survivors + write * inserted - read * removed
    assert found is not None
    assert found.once == pytest.approx(once / 1e6 + summary, abs=1e-9)
    assert found.saved == pytest.approx(read * (removed - inserted) / 1e6, abs=1e-9)


def test_a_rule_based_edit_of_a_cold_cache_pays_at_once() -> None:
    found = reset(CLAUDE, 100_000, 60_000, 20_000, held=0)
    assert found is not None
    assert found.calls == 0
    assert found.once == pytest.approx(-1.25 * 40_000 / 1e6)


def test_after_how_many_calls_an_edit_has_paid() -> None:
    assert Reset(0.10, 0.03).calls == 4
    assert Reset(-0.10, 0.03).calls == 0
    assert Reset(0.10, 0.0).calls is None
    assert reset(Model("nobody's"), 2, 1, 0, 0) is None


@given(some.lists(some.integers(1, 50_000), min_size=1, max_size=20), some.sampled_from([CLAUDE, GPT, UNCACHED]))
def test_every_token_of_a_request_is_billed_once(sizes: list[int], model: Model) -> None:
    requests = [Request(size, min(size, before)) for size, before in zip(sizes, [0, *sizes])]
    assert [bill.usage.prompt for bill in islice(bills(model, requests), len(sizes))] == sizes
