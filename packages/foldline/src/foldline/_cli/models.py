"""`foldline models`: what foldline knows of a model."""

from __future__ import annotations

import click

from foldline._cli.commands import FAILED, LazyGroup
from foldline._cli.drawing import row, title, tokens
from foldline._cli.options import CommandAnswer, answering
from foldline._cli.printing import whole
from foldline._economics import priced
from foldline._models import Model
from foldline._models import model as model_named


@click.group(cls=LazyGroup, places={})
def models() -> None:
    """What foldline knows of the models: windows, prices, cache rules."""


@models.command()
@click.argument("name")
@answering
def show(name: str) -> CommandAnswer:
    """The window, the prices and the rules of a model.

    NAME may be in any provider's spelling. The rules are those of its prompt cache and of its thinking. One that is not known ends
    with 1: what is shown is assumed.
    """
    if not name.strip():
        raise click.UsageError("NAME is empty")
    found = priced(model_named(name))
    return CommandAnswer(whole(found), draw(name, found), code=0 if found.known else FAILED)


def draw(name: str, m: Model) -> str:
    """A model's figures, one a line; what is not known is left out."""
    known = m.name if m.known else f"{m.name} is not known: defaults are assumed"
    lines = [title(f"Model {name}"), row("Known As", known), row("Provider", m.provider or "not known")]
    lines += [row("Window", tokens(m.window)), row("Maximum Input", tokens(m.max_input))]
    if m.max_output:
        lines.append(row("Maximum Output", tokens(m.max_output)))
    if m.input or m.output:
        lines.append(row("Price", f"${m.input:g} in, ${m.output:g} out, a million tokens"))
    for above, price_in, price_out in m.tiers:
        lines.append(row(f"  above {above:,}", f"${price_in:g} in, ${price_out:g} out"))
    if m.cache_ttl:
        cache = f"reads ×{m.cache_read:g}, writes ×{m.cache_write:g}, kept {m.cache_ttl // 60} minutes"
        lines.append(row("Prompt Cache", f"{cache}, from {m.min_cacheable:,} tokens on"))
    lines.append(row("Tokenizer", m.family))
    lines.append(row("Thinking", "bound to all before it" if m.binds_thinking else "not bound to its past"))
    lines.append(row("Own Compaction", m.compaction or "none"))
    return "\n".join(lines)
