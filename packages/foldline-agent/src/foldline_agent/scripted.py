"""A model that plays a script instead of thinking: offline, without a key, and the same each time.

It is for trying everything out, and for tests: it calls the real tools, is billed what foldline estimates, and refuses what
is over its window as a provider does.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models import CompletedStreamedResponse, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from foldline import ConfigError
from foldline.extend import estimate

WINDOW = 12_000
"""Tokens of its window unless told otherwise."""


class Step(Struct, frozen=True, forbid_unknown_fields=True):
    """One reply: words, and a call of a tool where it makes one; `stop` is `length` for one that is cut off.

    Where `refuse` is given the request is refused with these words instead, once.
    """

    say: str = ""
    call: str = ""
    arguments: dict[str, Any] = {}
    stop: str = ""
    refuse: str = ""


def script(path: Path | None = None) -> Callable[[int], Step]:
    """The steps by their numbers: of a file with one as JSON on each line, or of work that never ends.

    Raises `ConfigError` with the line where one cannot be read.
    """
    if path is None:
        return work
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", path=str(path)) from error
    steps = [_step(line, path, number) for number, line in enumerate(lines, 1) if line.strip()]
    return lambda at: steps[at] if at < len(steps) else Step("The script ends here.")


def _step(line: bytes, path: Path, number: int) -> Step:
    try:
        return msgspec.json.decode(line, type=Step)
    except msgspec.DecodeError as error:
        raise ConfigError(f"no step of a script: {error}", path=str(path), key=f"line {number}") from error


def work(at: int) -> Step:
    """A program of many parts: each is written, looked at, mended, run and told of, and then the next message is waited for."""
    part, now = divmod(at, len(ROUND))
    return ROUND[now](part + 1)


def _source(part: int) -> str:
    rows = "\n".join(f"    ({row}, {part * row}, 'row {row} of part {part}')," for row in range(1, 41))
    return f'"""Part {part} of the ledger."""\n\nROWS = [\n{rows}\n]\n\nprint(sum(value for _, value, _ in ROWS) + 1)\n'


def _name(part: int) -> str:
    return f"ledger/part_{part}.py"


ROUND: Sequence[Callable[[int], Step]] = (
    lambda n: Step(f"I write part {n}.", "write", {"path": _name(n), "content": _source(n)}),
    lambda n: Step("Is it as it should be?", "read", {"path": _name(n)}),
    lambda n: Step("One is added too much.", "edit", {"path": _name(n), "oldText": " + 1)", "newText": ")"}),
    lambda n: Step("It is run.", "bash", {"command": f"python3 {_name(n)}"}),
    lambda n: Step(f"{_name(n)} is done: it prints {820 * n}."),
)


class Scripted(FunctionModel):
    """Plays the steps in their order; `at` is the first of them, `window` tokens are the most that it takes."""

    def __init__(self, steps: Callable[[int], Step], *, at: int = 0, window: int | None = None) -> None:
        super().__init__(self._answer, model_name="scripted")
        self._steps = steps
        self._numbers = count(at)
        self._window = window

    def go_on_from(self, at: int) -> None:
        """The next step is that one: a session that is opened again goes on where it was."""
        self._numbers = count(at)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: Any = None,
    ) -> AsyncIterator[StreamedResponse]:
        whole = await self.request(messages, model_settings, model_request_parameters)
        yield CompletedStreamedResponse(whole, model_request_parameters=model_request_parameters, replay_events=True)

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        tokens = sum(map(estimate, _words(messages, info)))
        if self._window is not None and tokens > self._window:
            raise _refusal(f"maximum context length is {self._window} tokens, and the request has {tokens} tokens")
        number = next(self._numbers)
        step = self._steps(number)
        if step.refuse:
            raise _refusal(step.refuse)
        parts: list[Any] = [TextPart(step.say)] if step.say else []
        if step.call:
            parts.append(ToolCallPart(step.call, step.arguments, f"call_{number}"))
        said = estimate(step.say) + estimate(json.dumps(step.arguments))
        usage = RequestUsage(input_tokens=tokens, output_tokens=said)
        finish: Any = step.stop or ("tool_call" if step.call else "stop")
        return ModelResponse(parts, usage=usage, finish_reason=finish)


def _refusal(why: str) -> ModelHTTPError:
    return ModelHTTPError(400, "scripted", {"error": {"message": why}})


def _words(messages: list[ModelMessage], info: AgentInfo) -> Iterator[str]:
    """All that a request says."""
    yield info.instructions or ""
    yield from (str(tool) for tool in info.function_tools)
    for message in messages:
        for part in message.parts:
            yield str(getattr(part, "content", "") or getattr(part, "args", ""))
