"""A provider's library as one declared object: which of its calls send a conversation, and where in them what stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from typing import Any, NamedTuple

from msgspec import Struct

from foldline._wires.usage import stated

Fields = Mapping[str, Any]
"""What a request holds, by name."""


def _nothing(fields: Fields) -> Any:
    return None


class Route(Struct, frozen=True, kw_only=True):
    """One kind of request: where in its fields a conversation stands, and where in its reply what is looked for."""

    format: str
    """The wire format of its messages."""
    history: str
    """The field that holds the conversation."""
    model: str = "model"
    """The field that names the model."""
    apart: Callable[[Fields], Any]
    """What takes room beside the conversation: system prompt, tool schemas. None where there is no such thing."""
    reply_tokens: Callable[[Fields], Any] = _nothing
    """How long the reply may become, where the request says so."""
    held: tuple[str, ...] = ()
    """Fields that say that the provider holds the conversation; then there is nothing to fold."""
    said: Callable[[Any], Sequence[Any]]
    """The items in a whole reply that the next request holds."""
    billed: Callable[[Any], Any]
    """What of a streamed reply's chunk states its usage; None where nothing does."""
    offer: Callable[[Fields, dict[str, Any]], Fields | None]
    """The request with one more tool; None where it has one of that name, or the model may not choose."""
    stream: str = ""
    """Where in a reply its stream stands; empty where it is the reply."""


class Request(NamedTuple):
    """A request on its way: what it holds, and how it is sent with other fields."""

    route: Route
    fields: Fields
    send: Callable[[Fields], Any]
    streams: bool = False
    opened: Callable[[Any], Any] | None = lambda reply: reply
    """What a whole reply says, which may be handed out sealed; None where nothing of it is known before its reader reads it."""

    @property
    def answered_whole(self) -> bool:
        """Whether its reply is known before anybody reads it."""
        return self.opened is not None and not self.streams

    @property
    def history(self) -> list[Any] | None:
        """The conversation in it; None where it is none, or stands at the provider."""
        items = self.fields.get(self.route.history)
        if not isinstance(items, (list, tuple)) or not items or given(self.fields, *self.route.held):
            return None
        return list(items)

    def with_history(self, items: Sequence[Any]) -> Request:
        """The same request with another history."""
        return self._replace(fields={**self.fields, self.route.history: items})


def given(fields: Fields, *names: str) -> dict[str, Any] | None:
    """Those of the fields that hold something; None where none does. SDKs have objects of their own for what is not given."""
    found = {name: fields.get(name) for name in names}
    return {
        name: value for name, value in found.items() if isinstance(value, (str, list, tuple, dict)) and value
    } or None


Reader = Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Request | None]
"""Reads a call of a function: the function, its arguments and those with a name. None where no conversation is sent."""


class Call(NamedTuple):
    """A method that sends a conversation, and whether it is awaited."""

    read: Reader
    awaited: bool = False


Through = Callable[[Callable[..., Any], Call], Callable[..., Any]]
"""Makes a function like the one given, whose calls are kept within their windows."""


class Sdk(Struct, frozen=True, kw_only=True):
    """A provider's library."""

    name: str
    recognizes: Callable[[Any], bool]
    """Whether an object is a client of it. It is asked of anything, so it never raises, and imports nothing."""
    wrap: Callable[[Any, Through], Any]
    """Makes a client like the one given, in which the calls that send are others."""


def made_in(client: Any, package: str) -> bool:
    """Whether the class of an object, or one that it is made from, stands in a package."""
    modules = (kind.__module__ or "" for kind in type(client).__mro__)
    return any(module == package or module.startswith(f"{package}.") for module in modules)


def method(kind: type, name: str, through: Through, call: Call) -> Callable[..., Any]:
    """A method as the one of that name, for a class made from `kind`."""
    original = getattr(kind, name)

    @wraps(original)
    def sent(self: Any, *arguments: Any, **named: Any) -> Any:
        return through(partial(original, self), call)(*arguments, **named)

    @wraps(original)
    async def sent_awaited(self: Any, *arguments: Any, **named: Any) -> Any:
        return await sent(self, *arguments, **named)

    return sent_awaited if call.awaited else sent


def called(route: Route, order: Sequence[str] = (), *, streams: bool | None = None) -> Reader:
    """Reads a call whose arguments are the request's fields; `order` names those that may go without their name.

    Where `streams` is None, the field `stream` says whether the reply is streamed.
    """

    def read(function: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Request | None:
        if len(arguments) > len(order):
            return None
        fields = {**dict(zip(order, arguments)), **named}
        streamed = fields.get("stream") is True if streams is None else streams
        return Request(route, fields, lambda fields: function(**fields), streamed)

    return read


def usage_of(chunk: Any) -> Any:
    """The usage that a chunk states itself."""
    return stated(chunk, "usage")
