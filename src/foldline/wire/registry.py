"""The wire formats that there are: foldline's own, and those that installed packages declare."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from foldline.errors import WireError
from foldline.wire import anthropic, bedrock, gemini, openai_chat, openai_responses
from foldline.wire.format import WireFormat

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

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
    from importlib.metadata import entry_points  # takes as long to import as all of foldline

    found = (format for each in entry_points(group=GROUP) if (format := _loaded(each)) is not None)
    return {format.name: format for format in found if format.name not in OWN}


def _loaded(each: EntryPoint) -> WireFormat | None:
    try:
        format = each.load()
        problem = "" if isinstance(format, WireFormat) else f"it is a {type(format).__name__}, not a WireFormat"
    except Exception as error:  # noqa: BLE001 - what a package does when it is imported is its own
        problem = f"{type(error).__name__}: {error}"
    if not problem:
        return format  # type: ignore[no-any-return]
    warnings.warn(f"the wire format {each.value} is left out: {problem}", RuntimeWarning, stacklevel=2)
    return None
