"""Public suites as rows of `memory`, where they are there: two packages of other people, and real service dialogues.

- compaction-conformance-kit (package): its randomized sessions and its generated corpus, folded once to a share of the
  characters of its own transcript, scored by its own probes. Its best compactor has 40 / 85 / 100 %, an oracle with
  whole lines 50 / 91 / 100.
- compactbench (package; its practice templates in a clone named by COMPACTBENCH): generated without a model. An item
  passes where its literal answer stands, one on what is off the table where that does not; a whole history has .79.
- retail dialogues of tau-bench (the corpus): a value is needed where the agent writes it into a later call and nothing
  after the cut showed it; alone, and in one block between six other dialogues.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from foldline import CannotFit
from memory_corpus import CORPUS, needs
from memory_histories import Chat, History, calls, cut_at, tagged, text, texts
from memory_material import Need, is_told
from memory_methods import METHODS
from memory_words import stands

Cells = Callable[[Sequence[Sequence[str]]], None]
Folds = Callable[[History, int], list[Chat]]
Left = dict[tuple[str, int], list[list[str]]]

TEMPLATES = Path(os.environ.get("COMPACTBENCH", "")) / "benchmarks" / "public" / "elite_practice"
DIALOGUES = CORPUS / "openai-chat" / "tau-01-65a6f88.json"


def tables(names: Sequence[str], cells: Cells) -> None:
    """Prints a table for each suite that is there, and says which are not."""
    for what, suite in (
        ("compaction-conformance-kit", kit),
        ("compactbench (COMPACTBENCH names its clone)", compactbench),
        ("tau-bench's retail dialogues", retail),
    ):
        try:
            suite(names, cells)
        except (ImportError, FileNotFoundError) as reason:
            print(f"\nNOT THERE: {what}: {reason}")


def _left(method: Folds, messages: Sequence[Chat], budget: int) -> list[Chat]:
    try:
        return method(History(messages), budget)
    except CannotFit:
        return []


def _table(
    cells: Cells, what: str, budgets: Sequence[str], names: Sequence[str], share: Callable[[str, int], float]
) -> None:
    print()
    lines = [(name, *(f"{share(name, n):.2f}" for n in range(len(budgets)))) for name in names]
    cells([(what, *budgets), *lines])


# -- compaction-conformance-kit ----------------------------------------------------------------------------------


def kit(names: Sequence[str], cells: Cells) -> None:
    """The share of planted statements that survive one fold."""
    from compaction_kit.corpus import build_random_session
    from compaction_kit.generated import build_generated_session
    from compaction_kit.runner import _probe_all

    shares = (0.1, 0.2, 0.3)
    for what, build, seeds in (
        ("conformance kit, random sessions", build_random_session, range(1, 5)),
        ("conformance kit, generated corpus", build_generated_session, range(1, 13)),
    ):
        sessions = [build(seed) for seed in seeds]

        def survives(name: str, n: int, sessions: list[Any] = sessions) -> float:
            alive: list[bool] = []
            for session, canaries in sessions:
                messages = [{"role": turn.role, "content": turn.text} for turn in session.turns]
                budget = int(len(session.full_text()) * shares[n]) // 4
                said = "\n".join(texts(_left(METHODS[name], messages, budget)))
                alive += _probe_all(canaries, said).values()
            return sum(alive) / len(alive)

        _table(cells, what, [f"{share:.0%}" for share in shares], names, survives)


# -- compactbench ------------------------------------------------------------------------------------------------


def compactbench(names: Sequence[str], cells: Cells) -> None:
    """The share of items that the folded history answers."""
    from compactbench.dsl import DifficultyLevel, parse_template_file
    from compactbench.engine import generate_case

    templates = [parse_template_file(path) for path in sorted(TEMPLATES.glob("*.yaml"))]
    if not templates:
        raise FileNotFoundError(str(TEMPLATES))
    times = (2, 4, 8)
    for level in (DifficultyLevel.HARD, DifficultyLevel.ELITE):
        cases = [generate_case(template, seed, level) for template in templates for seed in (1, 2, 3)]

        def passes(name: str, n: int, cases: list[Any] = cases) -> float:
            found = [answer for case in cases for answer in _answers(case, METHODS[name], times[n])]
            return sum(found) / len(found)

        _table(cells, f"compactbench, practice templates, {level.value}", [f"{n}x" for n in times], names, passes)


def _answers(case: Any, method: Folds, times: int) -> Iterator[bool]:
    messages = [{"role": turn.role.value, "content": turn.content} for turn in case.transcript.turns]
    budget = sum(len(message["content"]) // 4 + 5 for message in messages) // times
    said = _plain("\n".join(texts(_left(method, messages, budget))))
    for item in case.evaluation_items:
        there = _plain(str(item.expected["value"])) in said
        if item.expected["check"] == "contains_normalized":
            yield there
        elif item.item_type.value == "forbidden_behavior_retention":
            yield not there


def _plain(words: str) -> str:
    return " ".join(words.casefold().split())


# -- retail dialogues --------------------------------------------------------------------------------------------

_VALUE = re.compile(r"(?=.*\d)[^\n]{3,40}")


def dialogues() -> list[list[Chat]]:
    """The dialogues, without system messages."""
    keys = ("role", "content", "tool_calls", "tool_call_id")
    found = []
    for n, said in enumerate(json.loads(DIALOGUES.read_text("utf-8"))):
        messages = [{k: m[k] for k in keys if m.get(k)} for m in said["traj"] if m["role"] != "system"]
        found.append(tagged([{"content": "", **m} for m in messages], f"d{n}"))
    return found


def values(before: Sequence[Chat], after: Sequence[Chat]) -> list[str]:
    """The values in later calls that stood before the cut, and that no user and no tool said again in between."""
    known, seen = "\n".join(texts(before)), ""
    found: dict[str, None] = {}
    for message in after:
        for _, _, given in calls(message):
            for value in (line.partition(": ")[2] for line in given.splitlines()):
                if _VALUE.fullmatch(value) and stands(known, value) and not stands(seen, value):
                    found[value] = None
        seen += f"\n{text(message)}" if message["role"] != "assistant" else ""
    return list(found)


class Dialogue(NamedTuple):
    """A dialogue up to a cut, alone or between others, and the values needed of it with the words beside them."""

    messages: list[Chat]
    needs: list[Need]
    values: list[str]


def cut_dialogues() -> tuple[list[Dialogue], list[Dialogue]]:
    """Every fifth dialogue at two cuts: alone, and in one block between six whole others."""
    found = dialogues()
    alone: list[Dialogue] = []
    between: list[Dialogue] = []
    for n in range(0, len(found), 5):
        others = [found[(n + 9 * k + 5) % len(found)] for k in range(1, 7)]
        noise = "\n".join(line for other in others for line in texts(other))
        for share in (0.5, 0.8):
            cut = cut_at(found[n], share)
            before, needed = found[n][:cut], values(found[n][:cut], found[n][cut:])
            alone.append(Dialogue(before, needs(needed, before), needed))
            around = [m for part in (*others[:3], before, *others[3:]) for m in part]
            fair = [value for value in needed if not stands(noise, value)]
            between.append(Dialogue(around, needs(fair, before), fair))
    return alone, between


def retail(names: Sequence[str], cells: Cells) -> None:
    """The share of the needed values that a folded history shows, and tells: alone and between six other dialogues."""
    budgets = (0.1, 0.2, 0.3)
    for what, cases in zip(("alone", "between six others"), cut_dialogues()):
        left = {
            (name, n): [texts(_left(METHODS[name], c.messages, int(_tokens(c.messages) * share))) for c in cases]
            for name in names
            for n, share in enumerate(budgets)
        }

        def shows(name: str, n: int, left: Left = left, cases: list[Dialogue] = cases) -> float:
            pairs = zip(cases, left[name, n])
            return _share(any(stands(text, v) for text in said) for case, said in pairs for v in case.values)

        def tells(name: str, n: int, left: Left = left, cases: list[Dialogue] = cases) -> float:
            pairs = zip(cases, left[name, n])
            return _share(is_told(need, said) for case, said in pairs for need in case.needs)

        heads = [f"{share:.0%}" for share in budgets]
        _table(cells, f"retail dialogues, {what}: shown ({sum(len(c.values) for c in cases)})", heads, names, shows)
        _table(cells, f"retail dialogues, {what}: told ({sum(len(c.needs) for c in cases)})", heads, names, tells)


def _share(found: Iterable[bool]) -> float:
    found = list(found)
    return sum(found) / len(found)


def _tokens(messages: Sequence[Chat]) -> int:
    return sum(len(line) // 4 + 5 for line in texts(messages))
