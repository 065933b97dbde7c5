"""Hypothesis runs 100 examples on a desk and 1,000 in CI; HYPOTHESIS_PROFILE=quick runs 15."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]

settings.register_profile("ci", max_examples=1000, deadline=None, suppress_health_check=SLOW)
settings.register_profile("desk", max_examples=100, deadline=None, suppress_health_check=SLOW)
settings.register_profile("quick", parent=settings.get_profile("desk"), max_examples=15)
settings.register_profile("find", parent=settings.get_profile("desk"), phases=(Phase.reuse, Phase.generate))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "desk"))
