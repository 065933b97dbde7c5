"""`foldline policy`: which policies there are, what each does, and whether a file is one."""

from __future__ import annotations

import click
from msgspec.structs import asdict

from foldline._cli.commands import LazyGroup
from foldline._cli.drawing import row, title
from foldline._cli.options import Answer, answering
from foldline._policies import names, preset
from foldline._policies.file import read_policy
from foldline._policy import Layer, Policy
from foldline._strategies import Strategy
from foldline._strategies.strategy import Made, name_of


@click.group(cls=LazyGroup, places={})
def policy() -> None:
    """The policies: when a history is folded, and what is tried in which order."""


@policy.command("list")
@answering
def list_() -> Answer:
    """The policies that have a name: foldline's own, and those of installed packages."""
    found = {name: preset(name).description for name in names()}
    told = [{"name": name, "description": description} for name, description in found.items()]
    drawn = (f"{name:<12} {description}".rstrip() for name, description in found.items())
    return Answer({"policies": told}, "\n".join(drawn))


@policy.command()
@click.argument("name")
@answering
def show(name: str) -> Answer:
    """What a policy does, layer by layer.

    NAME is one of `policy list`, the path of a policy's file, or module:NAME.
    """
    found = preset(name, path="policy show")
    return Answer(as_data(found), draw(found))


@policy.command()
@click.argument("file")
@answering
def check(file: str) -> Answer:
    """Read the policy in FILE, and say what is wrong with it."""
    found = read_policy(file)
    layers = ", ".join(layer.name for layer in found.layers)
    return Answer(as_data(found), f"{file}: nothing is wrong; its layers are {layers}")


def as_data(policy: Policy) -> dict[str, object]:
    """A policy as its file would say it."""
    layers = [
        {**asdict(layer), "strategies": [{"use": name_of(each), **_arguments(each)} for each in layer.strategies]}
        for layer in policy.layers
    ]
    return {"description": policy.description, "layers": layers}


def draw(policy: Policy) -> str:
    """A policy's layers with their marks, and the strategies of each with what they are told."""
    lines = [title(f"Policy {policy.name}"), *([policy.description] if policy.description else [])]
    for layer in policy.layers:
        lines += ["", row(layer.name, _marks(layer))]
        lines += [f"  {name_of(each)} {_said(each)}".rstrip() for each in layer.strategies]
    return "\n".join(lines)


def _marks(layer: Layer) -> str:
    outputs = f", with more than {layer.outputs_over:,} tokens of tool outputs" if layer.outputs_over else ""
    return f"from {100 * layer.at:g} % of the window down to {100 * layer.to:g} %{outputs}"


def _said(strategy: Strategy) -> str:
    said = _arguments(strategy).items()
    return ", ".join(f"{name}={value:,}" if type(value) is int else f"{name}={value}" for name, value in said)


def _arguments(strategy: Strategy) -> dict[str, object]:
    return dict(strategy.arguments) if isinstance(strategy, Made) else {}
