"""Wraps a provider's client: what its user calls stays as it is, and the conversations stay within their windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from foldline._compactor.compactor import Compactor
from foldline._compactor.events import Event, Skipped, Telling
from foldline._engine.driving import adriven, driven
from foldline._errors import ConfigError
from foldline._messages import replace
from foldline._wrapping.bedrock import BEDROCK
from foldline._wrapping.conversations import ClientConversation, ClientConversations
from foldline._wrapping.google import GOOGLE
from foldline._wrapping.litellm import LITELLM
from foldline._wrapping.sdk import Call, Sending
from foldline._wrapping.stainless import ANTHROPIC, OPENAI
from foldline._wrapping.turn import Turn, offering

MOST_RESERVED = 0.5
"""The share of a window that a reply may reserve; what requests state there is often the most that a model can say."""


class Calls:
    """The calls of one client. Whatever fails in foldline, but a history that cannot fit, leaves a call as it came.

    `tell` hears of such. Where `reserve` is true, the reply's length that a request states is held back for it.
    """

    def __init__(
        self, conversations: ClientConversations, tell: Callable[[str], None], *, recall: bool, reserve: bool
    ) -> None:
        self._conversations = conversations
        self._tell = tell
        self._recall = recall
        self._reserve = reserve

    def through(self, function: Callable[..., Any], call: Call) -> Callable[..., Any]:
        """A function as the one given, which keeps the conversations that it sends within their windows."""

        def sent(*arguments: Any, **named: Any) -> Any:
            turn = self._turn(call, function, arguments, named)
            return driven(turn.steps()) if turn else function(*arguments, **named)

        async def sent_awaited(*arguments: Any, **named: Any) -> Any:
            turn = self._turn(call, function, arguments, named)
            return await (adriven(turn.steps()) if turn else function(*arguments, **named))

        return sent_awaited if call.awaited else sent

    def _turn(
        self, call: Call, function: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]
    ) -> Turn | None:
        """A call as a request in its conversation; None where it sends none, or one that cannot be read."""
        try:
            request = call.read(function, arguments, named)
            if request is None or (history := request.history) is None:
                return None
            route = request.route
            talk = self._conversations.of(str(request.fields.get(route.model) or ""), route.format, history)
            if self._reserve:
                _reserve(talk, route.reply_tokens(request.fields))
            offered = offering(request) if self._recall and _may_recall(talk, request) else None
        except Exception as error:  # noqa: BLE001 - the request goes as it came
            self._tell(f"a history was sent as it came: {error}")
            return None
        return Turn(talk, offered or request, self._tell, awaited=call.awaited, recalls=offered is not None)


def _reserve(talk: ClientConversation, tokens: Any) -> None:
    """Holds back what the reply may take, where the request says so."""
    budget = talk.compactor.budget
    if type(tokens) is int and tokens > 0:
        talk.compactor.budget = replace(budget, reserve=min(tokens, round(budget.window * MOST_RESERVED)))


def _may_recall(talk: ClientConversation, request: Sending) -> bool:
    """Whether there is something to recall, and a reply that can be answered before anybody reads it."""
    if not request.answered_whole:
        talk.asides.clear()
    return bool(talk.compactor.folds) and request.answered_whole


SDKS = (OPENAI, ANTHROPIC, GOOGLE, BEDROCK, LITELLM)
"""The libraries whose clients are wrapped."""

NOT_SHARED = ("format", "session", "system")
"""What is another for each conversation, or found out for it."""

Client = TypeVar("Client")


def wrap(
    client: Client,
    *,
    recall: bool = False,
    most: int = 1_000,
    on_event: Callable[[Event], None] | None = None,
    **settings: Any,
) -> Client:
    """A client as the one given, whose conversations are kept within the window of the model that each call names.

    Takes a client of OpenAI, Anthropic, Google GenAI or boto3's Bedrock runtime, synchronous or asynchronous, or the
    module `litellm`. Its calls take and return what they did; the client given stays as it was. With `recall`, the model
    may look up what was folded: the tool is added to the request and answered here. So many conversations are remembered
    as `most` says, with their histories. `settings` and `on_event` are those of `Compactor`, the same for each.

    Raises `ConfigError` for another kind of client, and for settings that cannot be used. Calls raise what they did, and
    `CannotFit`.
    """
    sdk = next((each for each in SDKS if each.recognizes(client)), None)
    if sdk is None:
        known = ", ".join(each.name for each in SDKS)
        raise ConfigError(f"no client of {known}, but a {type(client).__qualname__}", path="wrap", key="client")
    if found := [name for name in NOT_SHARED if name in settings]:
        raise ConfigError("one for all conversations cannot be", path="wrap", key=found[0])

    def make(model: str, format: str) -> Compactor:
        return Compactor(model, format=format, on_event=on_event, **settings)

    make("", "")
    tells = Telling(on_event)
    reserve = "reserve" not in settings
    calls = Calls(ClientConversations(make, most), lambda why: tells.tell(Skipped(why)), recall=recall, reserve=reserve)
    wrapped: Client = sdk.wrap(client, calls.through)
    return wrapped
