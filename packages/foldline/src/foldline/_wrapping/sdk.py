"""A provider's library as one declared object: which of its calls send a conversation, and where in them what stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, wraps
from types import ModuleType
from typing import Any, NamedTuple

from msgspec import Struct

from foldline._wires.objects import as_data
from foldline._wires.usage import stated

Fields = Mapping[str, Any]
"""What a request holds, by name."""


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
    reply_tokens: Callable[[Fields], Any] = lambda fields: None
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


class Sending(NamedTuple):
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

    def with_history(self, items: Sequence[object]) -> Sending:
        """The same request with another history."""
        return self._replace(fields={**self.fields, self.route.history: items})


def given(fields: Fields, *names: str) -> dict[str, Any] | None:
    """Those of the fields that hold something; None where none does. SDKs have objects of their own for what is not given."""
    found = {name: fields.get(name) for name in names}
    return {
        name: value for name, value in found.items() if isinstance(value, (str, list, tuple, dict)) and value
    } or None


Reader = Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Sending | None]
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


def made_in(client: object, package: str) -> bool:
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
    async def sent_awaited(self: Any, *arguments: Any, **named: Any) -> object:
        return await sent(self, *arguments, **named)

    return sent_awaited if call.awaited else sent


def called(route: Route, order: Sequence[str] = (), *, streams: bool | None = None) -> Reader:
    """Reads a call whose arguments are the request's fields; `order` names those that may go without their name.

    Where `streams` is None, the field `stream` says whether the reply is streamed.
    """

    def read(function: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Sending | None:
        if len(arguments) > len(order):
            return None
        fields = {**dict(zip(order, arguments)), **named}
        streamed = fields.get("stream") is True if streams is None else streams
        return Sending(route, fields, lambda fields: function(**fields), streamed)

    return read


def usage_of(chunk: object) -> Any:
    """The usage that a chunk states itself."""
    return stated(chunk, "usage")


# -- clients like another: of a class made from its class, in which some methods are others ---------------------------


def twin(thing: object, attributes: Mapping[str, object]) -> Any:
    """An object that is as another one is and shares all that it holds, but for the attributes of its class that are given.

    It closes nothing when it is let go of, and keeps the other one from being let go of before. The attributes should hold
    no object: a class is let go of late, and what it holds is then closed in any order.
    """
    if isinstance(thing, ModuleType):
        return _Module(thing, attributes)
    kind = type(thing)
    own = {"__module__": kind.__module__, "__del__": lambda self: None}
    other: object = object.__new__(type(kind.__name__, (kind,), own | {**attributes}))
    other.__dict__.update(thing.__dict__, _wrapped=thing)
    return other


class _Module(ModuleType):
    """A module as another one is, which keeps no state of its own."""

    def __init__(self, module: ModuleType, attributes: Mapping[str, Any]) -> None:
        super().__init__(module.__name__, module.__doc__)
        self.__dict__.update(attributes, _wrapped=module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_wrapped"], name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self.__dict__["_wrapped"], name, value)

    def __dir__(self) -> list[str]:
        return dir(self.__dict__["_wrapped"])


# -- the tools that a request offers to its model ---------------------------------------------------------------------


_INSIDE = ("function", "toolSpec", "functionDeclarations", "function_declarations")
"""Where the declarations in a tool stand, if they are not the tool itself."""


def one_more(tools: object, tool: dict[str, object]) -> list[Any] | None:
    """The tools and another; None where one has its name, or is a function that the library calls itself."""
    known = list(tools) if isinstance(tools, (list, tuple)) else []
    if any(map(callable, known)) or {*_names(as_data(known))} & {*_names([tool])}:
        return None
    return [*known, tool]


def chosen_freely(choice: object) -> bool:
    """Whether a model may call any tool, or none."""
    kind = choice.get("type") if isinstance(choice, dict) else choice
    return not isinstance(kind, str) or kind == "auto"


def with_tool(fields: Fields, tool: dict[str, object]) -> Fields | None:
    """The request with one more of its `tools`."""
    if not chosen_freely(fields.get("tool_choice")) or fields.get("n") not in (None, 1):
        return None
    tools = one_more(fields.get("tools"), tool)
    return {**fields, "tools": tools} if tools else None


def _names(tools: list[object]) -> Iterator[str]:
    for tool in tools:
        if isinstance(tool, Mapping):
            yield from (tool["name"],) if "name" in tool else ()
            for key in _INSIDE:
                inside = tool.get(key) or []
                yield from _names(inside if isinstance(inside, list) else [inside])
