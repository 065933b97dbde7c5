"""A policy as a file of data: layers over strategies by their names, decoded strictly; and the schema of it."""

from __future__ import annotations

from os import PathLike, fspath
from os.path import basename, splitext
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import asdict

from foldline._decoding import converted, read_table
from foldline._errors import ConfigError
from foldline._messages import replace
from foldline._policy import MIN_PROGRESS, Layer, Mark, Policy, Reactive, policy
from foldline._strategies.registry import OWN, arguments_of, made
from foldline._strategies.strategy import Made, Strategy, name_of
from foldline._wording import Wording

Share = Annotated[float, Meta(gt=0, le=1)]
Size = Annotated[int, Meta(ge=0)]


class MarkTable(Struct, frozen=True, forbid_unknown_fields=True):
    """A fill of the window by a system's own arithmetic: of all that is stated, the least. Sizes are tokens."""

    share: Annotated[Share, Meta(description="The share of what is left of the window.")] = 1.0
    tokens: Annotated[Size | None, Meta(description="So many tokens, whatever the window.")] = None
    less: Annotated[
        Size | Literal["output"], Meta(description="What is taken off the window, or the output limit.")
    ] = 0
    output: Annotated[Size | None, Meta(description="What is held back for the reply; the messages alone count.")] = (
        None
    )
    buffer: Annotated[Size, Meta(description="What is held back besides, where `output` is.")] = 0
    system: Annotated[Size | None, Meta(description="What the system prompt takes, where that is not measured.")] = None


Fill = Share | MarkTable


class SummaryTable(Struct, frozen=True, forbid_unknown_fields=True):
    """How a summary is asked for and worded; what is not stated is foldline's own."""

    role: Annotated[Literal["user", "assistant", "system"], Meta(description="Whose message it is.")] = "user"
    prefix: Annotated[str | None, Meta(description="What stands before it.")] = None
    suffix: Annotated[str | None, Meta(description="What stands behind it.")] = None
    heading: Annotated[str, Meta(description="What stands above it; {round} is the number of the fold.")] = ""
    acknowledged: Annotated[str, Meta(description="What the assistant says to it.")] = ""
    follow_up: Annotated[str, Meta(description="What the program says behind a fold that nobody asked for.")] = ""
    prompt: Annotated[str | None, Meta(description="What a model is asked; {round} and {task} are filled in.")] = None
    sections: Annotated[tuple[str, ...], Meta(description="The headings that the prompt asks for.")] = ()
    temperature: Annotated[Annotated[float, Meta(ge=0, le=2)] | None, Meta(description="How a model is called.")] = None
    reply: Annotated[Annotated[int, Meta(gt=0)] | None, Meta(description="Tokens of a model's reply at most.")] = None
    model: Annotated[str, Meta(description="The model that is meant; current is the one that the agent uses.")] = ""
    max_tokens: Annotated[Annotated[int, Meta(gt=0)] | None, Meta(description="Tokens of a summary at most.")] = None
    fallback: Annotated[str, Meta(description="What stands instead; {messages} and {topics} are filled in.")] = ""
    optional: Annotated[bool, Meta(description="Whether it is left out where the model fails.")] = False
    points: Annotated[
        tuple[Size, Size] | None, Meta(description="The fewest and the most points of one in points.")
    ] = None


class ReactiveTable(Struct, frozen=True, forbid_unknown_fields=True):
    """What is done once a request went wrong."""

    overflow: Annotated[bool, Meta(description="Whether one that was refused as too long is answered by a fold.")] = (
        True
    )
    length: Annotated[bool, Meta(description="Whether a reply that hit its output limit is.")] = False
    times: Annotated[
        Size, Meta(description="How often in a row, before a reply is billed; 0 is as often as asked.")
    ] = 0


class LayerTable(Struct, frozen=True, forbid_unknown_fields=True):
    """One layer: once the window is filled beyond `at`, its strategies run in turn until it is down to `to`."""

    name: Annotated[str, Meta(min_length=1, description="What the layer is called where it is told of.")]
    at: Annotated[Fill, Meta(description="The share of the window, or the mark, from which it runs.")]
    strategies: Annotated[tuple[dict[str, Any], ...], Meta(min_length=1, description="What is tried, in turn.")]
    to: Annotated[
        Fill | None, Meta(description="What it aims for; without it, no further down than where it starts.")
    ] = None
    hard: Annotated[bool, Meta(description="Whether it may never be skipped, and asks no model.")] = False
    outputs_over: Annotated[int, Meta(ge=0, description="It runs only over so many tokens of tool outputs.")] = 0
    least: Annotated[float, Meta(ge=0, le=1, description="The share of the context that must come free.")] = (
        MIN_PROGRESS
    )
    pays: Annotated[bool, Meta(description="Whether it waits until what it costs once would have been saved.")] = False
    summary: Annotated[
        SummaryTable | None, Meta(description="How its summaries are worded; all of the policy's else.")
    ] = None


class PolicyTable(Struct, frozen=True, forbid_unknown_fields=True):
    """When a history is folded, and what is tried in which order: the layers in the order of their marks."""

    layers: Annotated[tuple[LayerTable, ...], Meta(min_length=1)]
    description: Annotated[str, Meta(description="What it does, in a sentence, for who chooses one.")] = ""
    reserve: Annotated[Size | None, Meta(description="Tokens that are held back for the reply.")] = None
    reactive: ReactiveTable = ReactiveTable()
    summary: Annotated[SummaryTable, Meta(description="How the summaries of all layers are worded.")] = SummaryTable()


def read_policy(path: str | PathLike[str]) -> Policy:
    """The policy in a file of TOML (or YAML or JSON), called as the file is.

    Raises `ConfigError` with the file, the key, and the cure.
    """
    file = fspath(path)
    table = converted(read_table(file), PolicyTable, file)
    layers = [_layer(layer, table.summary, file, f"layers[{n}]") for n, layer in enumerate(table.layers)]
    reactive = Reactive(**asdict(table.reactive))
    name = splitext(basename(file))[0]
    return policy(name, layers, description=table.description, reserve=table.reserve, reactive=reactive, path=file)


def _layer(table: LayerTable, summary: SummaryTable, path: str, key: str) -> Layer:
    strategies: list[Strategy] = []
    for n, said in enumerate(table.strategies):
        place = f"{key}.strategies[{n}]"
        arguments = dict(said)
        name = arguments.pop("use", None)
        if not isinstance(name, str):
            raise ConfigError("must be the name of a strategy", path=path, key=f"{place}.use")
        strategies += made(name, arguments, path, place)
    at, to = _fill(table.at), _fill(table.at if table.to is None else table.to)
    wording = Wording(**asdict(table.summary or summary))
    ways = table.hard, table.outputs_over, table.least, table.pays
    return Layer(table.name, at, to, tuple(strategies), *ways, wording)


def _fill(said: Share | MarkTable) -> float | Mark:
    return Mark(**asdict(said)) if isinstance(said, MarkTable) else said


def as_table(policy: Policy) -> dict[str, Any]:
    """A policy as its file would say it."""
    layers = []
    for layer in policy.layers:
        said: dict[str, object] = msgspec.to_builtins(replace(layer, strategies=()))
        said["strategies"] = [{"use": name_of(each), **arguments_of_strategy(each)} for each in layer.strategies]
        layers.append({"to": said["at"], **{key: value for key, value in said.items() if value != {}}})
    found = {"reserve": policy.reserve, "reactive": msgspec.to_builtins(policy.reactive)}
    stated = {key: value for key, value in found.items() if value not in (None, {})}
    return {"description": policy.description, **stated, "layers": layers}


def arguments_of_strategy(strategy: Strategy) -> dict[str, Any]:
    """What a strategy was told where it was made; nothing where it remembers none of it."""
    return dict(strategy.arguments) if isinstance(strategy, Made) else {}


def schema() -> dict[str, Any]:
    """The JSON Schema of a policy's file; what foldline's own strategies take is in it, others' may take anything."""
    found = msgspec.json.schema(PolicyTable)
    known = [_schema_of(name) for name in OWN]
    other = {
        "type": "object",
        "properties": {"use": {"type": "string", "not": {"enum": list(OWN)}}},
        "required": ["use"],
    }
    found["$defs"]["LayerTable"]["properties"]["strategies"]["items"] = {"anyOf": [*known, other]}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A policy of foldline", **found}


def _schema_of(name: str) -> dict[str, Any]:
    (reference,), parts = msgspec.json.schema_components([arguments_of(name)])
    table: dict[str, Any] = parts[reference["$ref"].rpartition("/")[2]]
    said = (OWN[name].__doc__ or "").partition("\n")[0]
    properties = {"use": {"const": name}, **table["properties"]}
    return {**table, "description": said, "properties": properties, "required": ["use", *table["required"]]}
