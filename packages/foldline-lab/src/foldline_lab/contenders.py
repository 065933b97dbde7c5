"""What a recording is replayed under: policies by their names, and the controls that every table shows beside them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

from foldline import Policy
from foldline.extend import preset, read_policy, replace

UNFOLDED = "no folding"
"""The control that sends everything; what is over the limit a provider would refuse."""

CONTROLS: Mapping[str, str] = {"tail": "tail.toml", "masking": "masking.toml"}
"""The controls that are policies: the newest messages alone, and old tool outputs hidden."""

BEST = "best moments"
"""The control that folds as the first policy does, at the moments that are cheapest in hindsight."""


def policy_named(name: str) -> Policy | None:
    """The policy that a contender's name, file or `module:NAME` means; None for what does not fold.

    Raises `ConfigError` where there is none.
    """
    if name == UNFOLDED:
        return None
    if name in CONTROLS:
        return replace(read_policy(str(files(__package__) / "controls" / CONTROLS[name])), name=name)
    return preset(name, path="--policy")
