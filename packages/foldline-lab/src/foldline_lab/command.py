"""`foldline replay`: recorded sessions under several policies."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from textwrap import fill
from typing import Any

import click
import msgspec

from foldline import ConfigError
from foldline_lab.comparing import compared
from foldline_lab.contenders import policy_named
from foldline_lab.replaying import Asked, Outcome, check_results, replay, sessions_in, taken
from foldline_lab.totals import table, totals, unpriced

LEGEND = (
    "cost: of all requests, with the prompt cache. of best, worst: the same beside the policy's folds at the moments that are "
    "cheapest in hindsight, in the median and at most. over: requests over the limit. refused: rules of providers that folds "
    "break. near, far: literals that are written again and that the model still knows; far is what was last said a quarter of "
    "the window before. user's: lines of the user's that stand. rules: those of them that say always or never. state: open "
    "steps of plans and failures. time: what the policy took."
)

PAGE = 112
"""Characters of a line of text where no terminal says how many it has."""


@click.command()
@click.argument("sessions", nargs=-1, required=True, metavar="SESSIONS...")
@click.option("--policy", "policies", multiple=True, metavar="NAME-OR-FILE", help="A policy; give it once for each.")
@click.option("--compare", nargs=2, metavar="A B", help="Say which of two policies, and why.")
@click.option("--model", default="", metavar="NAME", help="Replay as if of this model, with its prices and its window.")
@click.option(
    "--window", type=click.IntRange(1), metavar="TOKENS", help="The context window, instead of the sessions' own."
)
@click.option("--results", metavar="FILE", help="Keep each session's results here; what is there is not done again.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, metavar="N", help="Processes; all cores.")
@click.option("--ray", metavar="ADDRESS", help="Use the nodes of a Ray cluster; `local` begins one on this machine.")
@click.option("--html", metavar="FILE", help="Write a report that needs nothing but itself.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def replay_command(
    sessions: tuple[str, ...],
    policies: tuple[str, ...],
    compare: tuple[str, str] | None,
    model: str,
    window: int | None,
    results: str | None,
    jobs: int,
    ray: str | None,
    html: str | None,
    as_json: bool,
) -> None:
    """Go through recorded sessions call by call, as each policy would have sent them.

    SESSIONS are files of any agent that foldline reads, folders of such, and URLs (s3://, gs://). Controls stand in every table: a tail,
    masking of tool outputs, no folding at all, and the first policy's folds at the moments that are cheapest in hindsight.
    """
    names = tuple(dict.fromkeys((*policies, *(compare or ())))) or ("default",)
    for name in names:
        policy_named(name)
    asked = Asked(names, model, window)
    paths = sessions_in(sessions)
    _check_places({"--html": html, "--results": results})
    if html and os.path.lexists(html):
        raise taken(html)
    if results:
        check_results(results)
    outcomes = sorted(
        _watched(replay(paths, asked, results, jobs, fleet=ray or ""), len(paths)),
        key=lambda each: paths.index(each.session),
    )
    for outcome in outcomes:
        if outcome.fault:
            why = outcome.fault.removeprefix(f"{outcome.session}: ")
            click.echo(_printable(f"left out: {outcome.session}: {why}"), err=True)
    if not any(outcome.runs for outcome in outcomes):
        raise click.ClickException("none of these is a session that can be replayed")
    verdict = compared(outcomes, *compare) if compare else ""
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(_told(outcomes, verdict)), indent=2))
    else:
        width = _columns()
        texts = (fill(text, width or PAGE) for text in (unpriced(outcomes), LEGEND, verdict))
        said = (table(totals(outcomes), width), *texts)
        click.echo(_printable("\n\n".join(filter(None, said))))
    if html:
        from foldline_lab.report import page

        _write_new(html, page(outcomes, verdict))


def _columns() -> int | None:
    """Characters of a line of the terminal; None where the output goes elsewhere."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except (OSError, ValueError):
        return None


def _check_places(places: Mapping[str, str | None]) -> None:
    """Refuses a file that could not be written, before anything is replayed for it."""
    for option, place in places.items():
        if place is None:
            continue
        folder = os.path.dirname(os.path.abspath(place))
        if os.path.isdir(place) or not os.access(place if os.path.exists(place) else folder, os.W_OK):
            raise ConfigError(f"{place} cannot be written: name a file in a folder that is there", path=option)


def _write_new(place: str, text: str) -> None:
    """Writes a file that is not there yet; raises `SessionError` where it came to be there meanwhile."""
    try:
        with open(place, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise taken(place) from None


def _printable(text: str) -> str:
    """A text without what would steer the terminal: the names of files may hold anything."""
    return "".join(letter if letter.isprintable() or letter == "\n" else "\N{REPLACEMENT CHARACTER}" for letter in text)


def _told(outcomes: list[Outcome], verdict: str) -> dict[str, Any]:
    """What a replay tells as JSON."""
    return {"totals": [total._asdict() for total in totals(outcomes)], "verdict": verdict, "sessions": outcomes}


def _watched(outcomes: Iterator[Outcome], many: int) -> Iterator[Outcome]:
    """The outcomes, with a bar on a terminal that shows how many of them are there."""
    if not sys.stderr.isatty():
        yield from outcomes
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(outcomes, "Replaying", many, console=Console(stderr=True), transient=True)
