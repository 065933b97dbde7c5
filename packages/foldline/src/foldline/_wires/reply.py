"""A provider's whole reply, as a dict or as its library's object: the message in it, how it ended, what it was billed."""

from __future__ import annotations

from collections.abc import Mapping

from foldline._errors import WireError
from foldline._messages import Usage
from foldline._wires.format import Ended
from foldline._wires.registry import FORMATS
from foldline._wires.usage import stated


def read_reply(reply: object) -> Ended:
    """The message of a reply of any of the wire formats, and why it ended, in the provider's own word.

    Raises `WireError` where there is no message in it.
    """
    plain = reply if isinstance(reply, Mapping) else _dumped(reply)
    for format in FORMATS.values():
        if (found := format.reply(plain)) is not None:
            return found
    raise WireError(f"no message in a reply of type {type(reply).__name__}", format="reply")


def read_usage(reply: object) -> Usage | None:
    """The usage in a provider's reply, or in its usage alone; None where it states none.

    Reads dicts and SDK objects, in the spelling of every wire format, and a `Usage` itself.
    """
    if isinstance(reply, Usage):
        return reply if reply.context else None
    usage = reply
    for key in ("usage", "usageMetadata", "usage_metadata"):
        if (found := stated(reply, key)) is not None:
            usage = found
            break
    for format in FORMATS.values():
        if (billed := format.usage(usage)) is not None:
            return billed if billed.context else None
    return None


def _dumped(reply: object) -> Mapping[str, object]:
    """An object of a provider's library as plain data; nothing where it is none."""
    dump = getattr(reply, "model_dump", None)
    plain = dump(mode="json") if callable(dump) else None
    return plain if isinstance(plain, Mapping) else {}
