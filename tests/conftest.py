"""Hypothesis runs 100 examples on a desk, and 200 in CI, the same ones each time.

HYPOTHESIS_PROFILE=quick runs 15 of them, HYPOTHESIS_PROFILE=deep 2,000.
"""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import HealthCheck, Phase, settings

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # as a shell's background jobs have it, and hand it on to what they begin
    signal.signal(signal.SIGINT, signal.default_int_handler)

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]

settings.register_profile("ci", max_examples=200, deadline=None, suppress_health_check=SLOW, derandomize=True)
settings.register_profile("desk", max_examples=100, deadline=None, suppress_health_check=SLOW)
settings.register_profile("quick", parent=settings.get_profile("desk"), max_examples=15)
settings.register_profile("deep", parent=settings.get_profile("ci"), max_examples=2000, derandomize=False)
settings.register_profile("find", parent=settings.get_profile("desk"), phases=(Phase.reuse, Phase.generate))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "desk"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest tests first, in both halves: two workers take a half each, and steal what is short in the end."""
    long = [item for item in items if item.path.stem == "test_properties" or "any_folds" in item.name]
    short = [item for item in items if item not in long]
    half = len(short) // 2
    items[:] = [*long[::2], *short[:half], *long[1::2], *short[half:]]
