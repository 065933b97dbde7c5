"""`foldline policy`: which policies there are, what each does, and whether a file is one."""

from __future__ import annotations

import shlex

import click

from foldline._cli.commands import LazyGroup
from foldline._cli.drawing import row, title
from foldline._cli.options import CommandAnswer, answering
from foldline._cli.wrapping import unbroken
from foldline._policies import names, preset
from foldline._policies.file import arguments_of_strategy, as_table, read_policy
from foldline._policy import Layer, Policy, mark_of
from foldline._strategies import Strategy
from foldline._strategies.strategy import name_of


@click.group(cls=LazyGroup, places={})
def policy() -> None:
    """The policies: when a history is folded, and what is tried in which order."""


@policy.command("list")
@answering
def list_() -> CommandAnswer:
    """The policies that have a name: foldline's own, and those of installed packages."""
    found = {name: preset(name).description for name in names()}
    told = [{"name": name, "description": description} for name, description in found.items()]
    drawn = (f"{name:<12} {description}".rstrip() for name, description in found.items())
    return CommandAnswer({"policies": told}, "\n".join(drawn))


@policy.command()
@click.argument("name")
@answering
def show(name: str) -> CommandAnswer:
    """What a policy does, layer by layer.

    NAME is one of `policy list`, the path of a policy's file, or module:NAME. What --json prints is a policy's file.
    """
    found = preset(name, path="policy show")
    as_file = "\nAs a file to change: " + unbroken(f"foldline policy show {shlex.quote(name)} --json > FILE.json")
    return CommandAnswer(as_table(found), draw(found) + as_file)


@policy.command()
@click.argument("file")
@answering
def check(file: str) -> CommandAnswer:
    """Read the policy in FILE, and say what is wrong with it."""
    found = read_policy(file)
    layers = ", ".join(layer.name for layer in found.layers)
    return CommandAnswer(as_table(found), f"{file}: nothing is wrong; its layers are {layers}")


def draw(policy: Policy) -> str:
    """A policy's layers with their marks, and the strategies of each with what they are told."""
    lines = [title(f"Policy {policy.name}"), *([policy.description] if policy.description else [])]
    for layer in policy.layers:
        lines += ["", row(layer.name, _marks(layer))]
        lines += [f"  {name_of(each)} {_said(each)}".rstrip() for each in layer.strategies]
    return "\n".join(lines)


def _marks(layer: Layer) -> str:
    """From where to where a layer goes; what a share is of, is said once."""
    at, to = str(mark_of(layer.at)), str(mark_of(layer.to))
    outputs = f", with more than {layer.outputs_over:,} tokens of tool outputs" if layer.outputs_over else ""
    if at == to:
        return f"from {at} on{outputs}"
    return f"from {at} down to {to.removesuffix(' of the window') if at.endswith(' of the window') else to}{outputs}"


def _said(strategy: Strategy) -> str:
    said = arguments_of_strategy(strategy).items()
    return ", ".join(f"{name}={value:,}" if type(value) is int else f"{name}={value}" for name, value in said)
