"""A policy as a file of data: layers over strategies by their names, decoded strictly; and the schema of it."""

from __future__ import annotations

from os import PathLike, fspath
from os.path import basename, splitext
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from foldline._decoding import converted, read_table
from foldline._errors import ConfigError
from foldline._policy import Layer, Policy, policy
from foldline._strategies.registry import OWN, arguments_of, made
from foldline._strategies.strategy import Strategy

Fill = Annotated[float, Meta(gt=0, le=1)]


class LayerTable(Struct, frozen=True, forbid_unknown_fields=True):
    """One layer: once the window is filled beyond `at`, its strategies run in turn until it is down to `to`."""

    name: Annotated[str, Meta(min_length=1, description="What the layer is called where it is told of.")]
    at: Annotated[Fill, Meta(description="The share of the window from which it runs.")]
    to: Annotated[Fill, Meta(description="The share of the window that it aims for.")]
    strategies: Annotated[tuple[dict[str, Any], ...], Meta(min_length=1, description="What is tried, in turn.")]
    hard: Annotated[bool, Meta(description="Whether it may never be skipped, and asks no model.")] = False
    outputs_over: Annotated[int, Meta(ge=0, description="It runs only over so many tokens of tool outputs.")] = 0


class PolicyTable(Struct, frozen=True, forbid_unknown_fields=True):
    """When a history is folded, and what is tried in which order: the layers in the order of their marks."""

    layers: Annotated[tuple[LayerTable, ...], Meta(min_length=1)]
    description: Annotated[str, Meta(description="What it does, in a sentence, for who chooses one.")] = ""


def read_policy(path: str | PathLike[str]) -> Policy:
    """The policy in a file of TOML (or YAML or JSON), called as the file is.

    Raises `ConfigError` with the file, the key, and the cure.
    """
    file = fspath(path)
    table = converted(read_table(file), PolicyTable, file)
    layers = [_layer(layer, file, f"layers[{n}]") for n, layer in enumerate(table.layers)]
    return policy(splitext(basename(file))[0], layers, description=table.description, path=file)


def _layer(table: LayerTable, path: str, key: str) -> Layer:
    strategies: list[Strategy] = []
    for n, said in enumerate(table.strategies):
        place = f"{key}.strategies[{n}]"
        arguments = dict(said)
        name = arguments.pop("use", None)
        if not isinstance(name, str):
            raise ConfigError("must be the name of a strategy", path=path, key=f"{place}.use")
        strategies += made(name, arguments, path, place)
    return Layer(table.name, table.at, table.to, tuple(strategies), table.hard, table.outputs_over)


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
