"""A model that is asked for one reply, streamed: any of pydantic-ai's, or one that plays a script."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pydantic_ai.direct import model_request_stream
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import (
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from foldline import Message
from foldline.extend import Endpoint, connect
from foldline_agent.events import Event, TextDelta, ThinkingDelta
from foldline_agent.scripted import WINDOW, Scripted, script
from foldline_agent.tools import Tool
from foldline_agent.translation import reply, requests

TEST = "test"
"""The name of the model that plays a script."""

STOPS = {"length": "length", "tool_call": "toolUse"}
"""Why a reply ended, in pi's words; any other reason is `stop`."""


class Reply(NamedTuple):
    """A reply, and why it ended, in pi's words."""

    message: Message
    stop: str

    @property
    def billed(self) -> dict[str, object]:
        """Its end and its bill, in the words of chat completions, which a compactor reads."""
        choice = {"finish_reason": self.stop, "message": {"role": "assistant", "content": self.message.text}}
        if (usage := self.message.usage) is None:
            return {"choices": [choice]}
        cached = {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write}
        bill = {"prompt_tokens": usage.prompt, "completion_tokens": usage.output, "prompt_tokens_details": cached}
        return {"choices": [choice], "usage": bill}


@dataclass(frozen=True)
class LanguageModel:
    """A model by its name (`anthropic:claude-sonnet-5`), and the window that it is known to have; None where its name tells."""

    name: str
    native: Model
    window: int | None = None

    @classmethod
    def named(
        cls,
        name: str,
        *,
        base_url: str | None = None,
        window: int | None = None,
        script_file: Path | None = None,
        path: str = "--model",
    ) -> LanguageModel:
        """The model of that name, served by its provider or at a URL that speaks OpenAI's; `test` plays a script.

        Raises `ConfigError` at `path` where it cannot be called: its key is missing, or nobody knows its provider.
        """
        if name == TEST:
            window = window or WINDOW
            return cls(f"{TEST}:scripted", Scripted(script(script_file), window=window), window)
        return cls(name, connect(Endpoint(name, base_url), path=path), window)

    async def ask(
        self,
        messages: Sequence[Message],
        system: str,
        tools: Iterable[Tool],
        tell: Callable[[Event], None],
        most: int,
    ) -> Reply:
        """One reply of at most `most` tokens; its pieces are told as they come. Raises what pydantic-ai raises."""
        declared = [
            ToolDefinition(name=t.name, parameters_json_schema=dict(t.parameters), description=t.description)
            for t in tools
        ]
        parameters = ModelRequestParameters(function_tools=declared)
        settings = ModelSettings(max_tokens=most, cache=True)
        async with model_request_stream(
            self.native,
            requests(messages, system),
            model_settings=settings,
            model_request_parameters=parameters,
        ) as stream:
            async for event in stream:
                if (piece := _piece(event)) is not None:
                    tell(piece)
            response: ModelResponse = stream.get()
        return Reply(reply(response), STOPS.get(response.finish_reason or "", "stop"))


def words_of(error: Exception) -> str:
    """What went wrong in one line: what the provider said, where it said something."""
    match error:
        case ModelHTTPError(status_code=status, body={"message": str(said)} | {"error": {"message": str(said)}}):
            line = f"HTTP {status}: {said}"
        case _:
            line = str(error)
    return " ".join(line.split()) or type(error).__name__


def _piece(event: object) -> Event | None:
    match event:
        case PartStartEvent(part=TextPart(content=str(text))) if text:
            return TextDelta(text)
        case PartDeltaEvent(delta=TextPartDelta(content_delta=str(text))) if text:
            return TextDelta(text)
        case PartStartEvent(part=ThinkingPart(content=str(text))) if text:
            return ThinkingDelta(text)
        case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=str(text))) if text:
            return ThinkingDelta(text)
    return None
