"""The wire formats that there are: foldline's own, and those that installed packages declare."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from foldline._errors import WireError
from foldline._offered import Offers, offered
from foldline._wires import anthropic, bedrock, gemini, openai_chat, openai_responses
from foldline._wires.format import WireFormat

GROUP = "foldline.wires"
"""The group of entry points under which a package names its `WireFormat`."""

OWN = {
    format.name: format
    for format in (openai_chat.FORMAT, openai_responses.FORMAT, anthropic.FORMAT, gemini.FORMAT, bedrock.FORMAT)
}
"""The formats that are part of foldline, in the order in which they are asked."""


@cache
def declared() -> dict[str, WireFormat]:
    """The formats of installed packages by name; one that cannot be loaded is warned of and left out."""
    return {format.name: format for format in offered(GROUP, WireFormat).values() if format.name not in OWN}


FORMATS: Mapping[str, WireFormat] = Offers(OWN, declared)
"""The formats by name."""


def named(name: str) -> WireFormat:
    """The format of that name; raises `WireError` where there is none."""
    try:
        return FORMATS[name]
    except KeyError:
        raise WireError(f"no such wire format: {name!r}; there are {', '.join(FORMATS)}", format=name) from None
