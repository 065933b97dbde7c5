"""Messages that are folded already: some models answer one way of being asked by another way of their own."""

from __future__ import annotations

from typing import Any


class Sent(list[Any]):
    """What was handed to a model, which is not to be folded again where the model hands it on to itself."""
