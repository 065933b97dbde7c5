"""The wire formats that there are: foldline's own, and those that installed packages declare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from foldline._errors import WireError
from foldline._offered import offered
from foldline._wires import anthropic, bedrock, gemini, openai_chat, openai_responses
from foldline._wires.format import WireFormat

GROUP = "foldline.wires"
"""The group of entry points under which a package names its `WireFormat`."""

OWN = {
    format.name: format
    for format in (openai_chat.FORMAT, openai_responses.FORMAT, anthropic.FORMAT, gemini.FORMAT, bedrock.FORMAT)
}
"""The formats that are part of foldline, in the order in which they are asked."""


class _Formats(Mapping[str, WireFormat]):
    """Every format by name; what packages declare is looked for only where foldline's own do not answer."""

    def __getitem__(self, name: str) -> WireFormat:
        return OWN[name] if name in OWN else declared()[name]

    def __iter__(self) -> Iterator[str]:
        yield from OWN
        yield from declared()

    def __len__(self) -> int:
        return len(OWN) + len(declared())


FORMATS: Mapping[str, WireFormat] = _Formats()
"""The formats by name."""


def named(name: str) -> WireFormat:
    """The format of that name; raises `WireError` where there is none."""
    try:
        return FORMATS[name]
    except KeyError:
        raise WireError(f"no such wire format: {name!r}; there are {', '.join(FORMATS)}", format=name) from None


@cache
def declared() -> dict[str, WireFormat]:
    """The formats of installed packages by name; one that cannot be loaded is warned of and left out."""
    return {format.name: format for format in offered(GROUP, WireFormat) if format.name not in OWN}
