"""A replay as one page of HTML that needs nothing but itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

from foldline_lab.contenders import UNFOLDED
from foldline_lab.drawing import context, cost_and_memory, fates, legend
from foldline_lab.replaying import Outcome
from foldline_lab.seen import KINDS
from foldline_lab.stepping import FATES, Run
from foldline_lab.totals import HEAD, Total, cells, totals, unpriced

SHOWN = 6
"""How many sessions' contexts are drawn: the largest."""

STYLE = """
:root { color-scheme: light dark; --ink: #1c2128; --dim: #667085; --line: #d5d9e0; --paper: #fff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --dim: #98a2b3; --line: #3a4250; --paper: #14181f; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 1000px; margin: 2.5rem auto;
  padding: 0 1.25rem; }
h1 { font-size: 1.5rem; margin-bottom: .2rem; } h2 { font-size: 1.1rem; margin-top: 2.5rem; } h3 { font-size: .95rem; margin: 1.6rem 0 .4rem; }
p.about, .key, figcaption { color: var(--dim); } .verdict { border-left: 3px solid #3f8f6b; padding-left: .8rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; white-space: nowrap; }
th, td { padding: .3rem .55rem; border-bottom: 1px solid var(--line); text-align: right; } th { color: var(--dim); font-weight: 500; }
td:first-child, th:first-child { text-align: left; } tr.control td { color: var(--dim); }
svg { width: 100%; height: auto; display: block; } svg text { font: 11px system-ui, sans-serif; fill: var(--dim); }
svg text.name { fill: var(--ink); font-size: 12px; } svg circle { fill: #3f8f6b; } .grid { stroke: var(--line); }
.fold { stroke: var(--ink); stroke-dasharray: 2 3; } .limit { stroke: #d1495b; stroke-width: 1.5; }
.contexts { display: grid; grid-template-columns: repeat(auto-fill, minmax(290px, 1fr)); gap: 1rem; } figure { margin: 0; }
.contexts svg { border-bottom: 1px solid var(--line); } figcaption { font-size: .82rem; }
.key { margin-right: .9rem; font-size: .82rem; white-space: nowrap; } .key i { display: inline-block; width: .8em; height: .8em; margin-right: .35em;
  border-radius: 2px; } .bar { display: grid; grid-template-columns: 9rem 1fr; align-items: center; margin: .3rem 0; font-size: .85rem; }
"""


def page(outcomes: Sequence[Outcome], verdict: str = "") -> str:
    """The report: the totals, cost beside memory, what became of what was said, and contexts as they grew."""
    done = [outcome for outcome in outcomes if outcome.runs]
    found = totals(done)
    many = f"{len(done)} session{'' if len(done) == 1 else 's'}, {found[0].calls:,} calls"
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>foldline replay</title>',
            f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>',
            f'<h1>foldline replay</h1><p class="about">{many}, in {_windows(done)}; priced as {_models(done)}</p>',
            f'<p class="verdict">{escape(verdict)}</p>' if verdict else "",
            f'<div class="wide">{_table(found, done)}</div>',
            '<p class="about">Cost is of all requests, with the prompt cache; "of best" is that beside the same folds at the '
            "moments that are cheapest in hindsight. Near and far are literals that are written again and that the model still "
            "knows; rules are the user's lines that say always or never, state is what is open of plans and failures.</p>",
            f'<p class="about">{escape(unpriced(done))}</p>' if unpriced(done) else "",
            _beside_memory(found),
            f"<h2>What became of what was said</h2><p>{legend(FATES)}</p>",
            *_fates(done),
            f"<h2>Contexts as they grew</h2><p>{legend(KINDS)}</p>",
            '<p class="about">From the first call to the last. A dotted line is a fold, the red one the limit.</p>',
            *(_contexts(outcome) for outcome in sorted(done, key=_largest, reverse=True)[:SHOWN]),
            "</body></html>",
        ]
    )


def _beside_memory(found: Sequence[Total]) -> str:
    """The picture of costs beside memory under its heading; nothing where there are none to draw."""
    if not (drawn := cost_and_memory(found)):
        return ""
    about = "To the right what it costs, upwards what it still knows of what was said far back."
    return f'<h2>Cost and memory</h2><p class="about">{about}</p>{drawn}'


def _windows(outcomes: Iterable[Outcome]) -> str:
    sizes = sorted({run.window for outcome in outcomes for run in outcome.runs})
    return (
        f"windows of {' and '.join(f'{size:,}' for size in sizes[:4])} tokens{' and others' if len(sizes) > 4 else ''}"
    )


def _models(outcomes: Iterable[Outcome]) -> str:
    names = sorted({run.model or "no model that is known" for outcome in outcomes for run in outcome.runs})
    return escape(", ".join(names))


def _table(found: Sequence[Total], outcomes: Sequence[Outcome]) -> str:
    policies = _policies(outcomes)
    head = "".join(f"<th>{escape(cell)}</th>" for cell in HEAD)
    rows = (
        f"<tr{'' if each.contender in policies else ' class=control'}>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells(each))
        + "</tr>"
        for each in found
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _policies(outcomes: Sequence[Outcome]) -> list[str]:
    """The contenders that were asked for: those before the controls."""
    names = [run.contender for run in outcomes[0].runs]
    return names[: names.index(UNFOLDED) - 2]


def _fates(outcomes: Sequence[Outcome]) -> Iterable[str]:
    found: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        for run in outcome.runs:
            found.setdefault(run.contender, Counter()).update(run.fates)
    for name, tokens in found.items():
        if tokens and name != UNFOLDED:
            yield f'<div class="bar"><span>{escape(name)}</span>{fates(name, tokens)}</div>'


def _contexts(outcome: Outcome) -> str:
    """What each contender made of one session."""
    runs = [run for run in outcome.runs if run.growth]
    folded = [run for run in runs if run.contender != UNFOLDED]
    limit = folded[0].limit
    most = max(limit, *(run.largest for run in folded)) * 21 // 20
    figures = (
        f"<figure>{context(run, most, limit)}<figcaption>{_caption(run)}</figcaption></figure>" for run in folded
    )
    whole = max(run.largest for run in runs)
    return f"<h3>{escape(outcome.session)}: {runs[0].calls:,} calls, {whole:,} tokens unfolded</h3><div class=contexts>{''.join(figures)}</div>"


def _caption(run: Run) -> str:
    cost = "" if run.cost is None else f", ${run.cost:,.2f}"
    return f"{escape(run.contender)}: {len(run.folds)} fold{'' if len(run.folds) == 1 else 's'}{cost}"


def _largest(outcome: Outcome) -> int:
    return max(run.largest for run in outcome.runs)
