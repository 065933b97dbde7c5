"""What a folded history remembers, measured without a judge on labelled sessions, recorded ones and public suites.

    python benchmarks/memory.py [--half tune|sealed] [--parts NAME,...] [--methods NAME,...] [--old] [--missed]

The labelled sessions (`material/`) are of six kinds and seven languages, written with their labels without sight of
foldline's code; half of them stayed sealed until the end. Recorded sessions are read from `../shared/corpus` beside the
repository. Budgets are shares of a history's tokens, counted by the same estimate for every method; system messages are
left out. Whatever is not there is said and skipped. A half takes a minute and a half, the public suites another.

- *told*: a literal that is needed later stands within 240 characters of two of the words that tell what it is. *Far* is
  what was first said in the oldest half; *amid six* is a session interleaved with six other conversations.
- *task*: every passage of what is to be done now stands uncut, wherever it takes less than 40 % of the budget.
- *rules*: what stands under the page's rules against those that bind; orders that are over and rules taken back do not.
- *speakers*: lines that the page gives as the user's and that are another's.
- *stale*: values that stand without the one that replaced them near or later, and without a mark.
- *state*: open steps and errors that are told, and how many of those that the page calls open are. *Endings* are short
  sessions labelled for this alone, of the same kinds and languages, whose page says all that is known of them.
- *used*: how much of its budget a folded history takes.
- *five folds*: what is told after five successive folds, of what one fold to the same budget tells.
"""

from __future__ import annotations

import argparse
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path

import memory_corpus
import memory_endings
import memory_old
import memory_sentences
import memory_suites
import memory_typed
from measuring import Figure, Row, figure, heading
from memory_material import HALVES, MATERIAL, Labelled, is_told, labelled
from memory_measures import Count, Rules, State, rules_missed
from memory_methods import METHODS, OURS, WHOLE
from memory_scores import BUDGETS, SMALLEST, Case, Score, alone, amid, chained, median, scored, total

CHAINED = (OURS, "tail, clamped", "user's words first", "ledger")
PARTS = ("labelled", "kinds", "amid", "folds", "sentences", "typed", "endings", "recorded", "suites")
AT = 0.2
"""The budget at which kinds of session are compared, and what is missed is listed."""

# -- the tables --------------------------------------------------------------------------------------------------


def cells(lines: Sequence[Sequence[str]]) -> None:
    """Prints lines under a head, in columns."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for n, line in enumerate(lines):
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
        if n == 0:
            print("  ".join("-" * width for width in widths))


def over_budgets(
    what: str, names: Sequence[str], cell: Callable[[str, float], str], budgets: Sequence[float] = BUDGETS
) -> None:
    """Prints a table with a row for each method and a column for each budget."""
    print()
    cells([(what, *(f"{b:.0%}" for b in budgets)), *((name, *(cell(name, b) for b in budgets)) for name in names)])


def _two(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _shares(counts: Sequence[Count]) -> str:
    return f"{_two(median(c.share for c in counts))} ({_two(total(counts).share)})"


def _of(count: Count) -> str:
    return f"{_two(count.share)} of {count.of}" if count.of else "-"


def labelled_tables(cases: Sequence[Case], names: Sequence[str]) -> None:
    """Prints what each method leaves of the sessions by themselves."""
    found: dict[tuple[str, float], list[Score]] = {}

    def scores(name: str, share: float) -> list[Score]:
        if (name, share) not in found:
            found[name, share] = [scored(case, name, share) for case in cases]
        return found[name, share]

    def rules_in(name: str, share: float) -> Rules:
        return sum((s.rules for s in scores(name, share)), Rules())

    def state_in(name: str, share: float) -> State:
        return sum((s.state for s in scores(name, share)), State())

    near, far = (total(Count(0, len(needs)) for needs in each).of for each in zip(*((c.near, c.far) for c in cases)))
    head = "median of the sessions (of all)"
    over_budgets(f"told, near ({near}): {head}", names, lambda n, b: _shares([s.near for s in scores(n, b)]))
    over_budgets(f"told, far ({far}): {head}", names, lambda n, b: _shares([s.far for s in scores(n, b)]))
    over_budgets(f"shown at all: {head}", names, lambda n, b: _shares([s.shown for s in scores(n, b)]))
    over_budgets("task intact", names, lambda n, b: _of(total(s.task for s in scores(n, b))))
    over_budgets("standing rules told anywhere", names, lambda n, b: _of(rules_in(n, b).known))
    over_budgets("stale values", names, lambda n, b: "{}/{}".format(*total(s.stale for s in scores(n, b))))
    over_budgets("open steps told", names, lambda n, b: _of(state_in(n, b).steps_told))
    over_budgets("open errors told", names, lambda n, b: _of(state_in(n, b).errors_told))
    over_budgets("used: median, worst", names, lambda n, b: _used(scores(n, b)), SMALLEST)
    ours = [name for name in names if name == OURS]
    over_budgets("the page's rules: precision", ours, lambda n, b: _precision(rules_in(n, b)))
    over_budgets("the page's rules: recall", ours, lambda n, b: _of(rules_in(n, b).found))
    over_budgets("lines as the user's: another's, pastes", ours, lambda n, b: _foreign(scores(n, b)))
    over_budgets("steps the page calls open: right", ours, lambda n, b: _of(state_in(n, b).steps_right))
    over_budgets("errors the page calls open: right", ours, lambda n, b: _of(state_in(n, b).errors_right))


def _used(scores: Sequence[Score]) -> str:
    used = [s.used for s in scores if not s.refused]
    wrong = {
        "refused": sum(s.refused for s in scores),
        "OVER": sum(s.used > 1 for s in scores),
        "BROKEN": sum(s.faults > 0 for s in scores),
    }
    told = ", ".join(f"{count} {what}" for what, count in wrong.items() if count)
    return f"{_two(median(used))}, {_two(min(used, default=None))}" + (f" ({told})" if told else "")


def _foreign(scores: Sequence[Score]) -> str:
    return f"{sum(len(s.speakers.wrong) for s in scores)}, {sum(len(s.speakers.pasted) for s in scores)}"


def _precision(rules: Rules) -> str:
    return f"{_of(rules.precision)} (over {rules.over}, wrong {rules.wrong}, unlabelled {rules.unlabelled})"


def kinds_table(cases: Sequence[Case], names: Sequence[str]) -> None:
    """Prints what is told of each kind of session at one budget."""
    kinds = sorted({case.kind for case in cases})
    print(f"\ntold at {AT:.0%}, near / far, of all")

    def told(name: str, kind: str) -> str:
        scores = [scored(case, name, AT) for case in cases if case.kind == kind]
        return f"{_two(total(s.near for s in scores).share)} / {_two(total(s.far for s in scores).share)}"

    cells([("", *kinds), *((name, *(told(name, kind) for kind in kinds)) for name in names)])
    ahead_table(cases, names)


def ahead_table(cases: Sequence[Case], names: Sequence[str]) -> None:
    """Prints by how much we tell more than the best control, or less than which, by kind of session and budget."""
    controls = [name for name in names if name not in (OURS, WHOLE)]
    if OURS not in names or not controls:
        return
    kinds = sorted({case.kind for case in cases})

    def told(name: str, kind: str, share: float) -> float:
        found = [is_told(need, c.left(name, share).said) for c in cases if c.kind == kind for need in c.needs]
        return sum(found) / max(1, len(found))

    def ahead(kind: str, share: float) -> str:
        best = max(controls, key=lambda name: told(name, kind, share))
        gap = told(OURS, kind, share) - told(best, kind, share)
        return f"{gap:+.2f}" + (f" {best}" if gap < 0 else "")

    print("\ntold, near and far: ours before the best control")
    lines = [(f"{share:.0%}", *(ahead(kind, share) for kind in kinds)) for share in BUDGETS]
    cells([("", *kinds), *lines])


def needs_tables(what: str, cases: Sequence[Case], names: Sequence[str], budgets: Sequence[float]) -> None:
    """Prints what is told of needs that stand near and far, without any other measure."""
    if not cases:
        print(f"{what}: nothing to measure")
        return

    names = [name for name in names if name != WHOLE]

    def share(far: bool) -> Callable[[str, float], str]:
        return lambda n, b: _shares([_told(case, n, b, far) for case in cases])

    tokens = median(case.history.tokens for case in cases)
    print(f"\n{len(cases)} histories, {tokens:,.0f} tokens (median)")
    for far in (False, True):
        many = sum(len(case.far if far else case.near) for case in cases)
        over_budgets(f"{what}, told, {'far' if far else 'near'} ({many})", names, share(far), budgets)
    ours = [name for name in names if name == OURS]
    over_budgets("used: median, worst", ours, lambda n, b: _used_of(cases, n, b), budgets)


def _told(case: Case, name: str, share: float, far: bool) -> Count:
    said = case.left(name, share).said
    needs = case.far if far else case.near
    return Count(sum(is_told(need, said) for need in needs), len(needs))


def _used_of(cases: Sequence[Case], name: str, share: float) -> str:
    used = [case.left(name, share).used for case in cases if not case.left(name, share).refused]
    return f"{_two(median(used))}, {_two(min(used, default=None))}"


def folds_table(cases: Sequence[Case], names: Sequence[str]) -> None:
    """Prints what is told after five folds, as a share of what one fold tells."""
    print("\ntold after five folds, of what one fold tells: one compactor / each fold begins with what the last left")
    lines = [("", *(f"{b:.0%}" for b in (0.1, 0.2)))]
    for name in names:
        found = [[chained(case, name, share) for case in cases] for share in (0.1, 0.2)]
        lines.append(
            (name, *(_folds([c.once for c in f], [c.kept for c in f], [c.handed_on for c in f]) for f in found))
        )
    cells(lines)


def _folds(once: Sequence[Count], kept: Sequence[Count], handed_on: Sequence[Count]) -> str:
    one = total(once)
    shares = [_two(total(each).right / one.right if one.right else None) for each in (kept, handed_on)]
    return f"{' / '.join(shares)} (once {_two(one.share)})"


def print_missed(cases: Sequence[Case]) -> None:
    """Lists what our fold misses at one budget: never of the sealed half."""
    for case in cases:
        if case.said is None:
            continue
        folded = case.left(OURS, AT)
        print(f"\n{case.name}: missed at {AT:.0%}")
        for need in case.needs:
            if not is_told(need, folded.said):
                print(f"  not told, {'far' if need.far else 'near'}: {need.value}  ({', '.join(need.about)})")
        for line in rules_missed(case.said.labels, case.history.chat, folded):
            print(f"  {line}")


# -- the parts ---------------------------------------------------------------------------------------------------


def _timed(what: str, run: Callable[[], None]) -> None:
    """Runs a part under a heading and says on standard error how long it took."""
    print(f"\n== {what} ==")
    began = time.perf_counter()
    run()
    print(f"{what}: {time.perf_counter() - began:.0f} s", file=sys.stderr)


def half_tables(half: str, sessions: Sequence[Labelled], names: Sequence[str], asked: Namespace) -> None:
    """Prints every table of one half of the labelled sessions."""
    cases = alone(sessions)
    unsound = sum(s.unsound for s in sessions)
    print(f"\n##### {half}: {len(sessions)} labelled sessions, {unsound} labels left out that do not hold there")
    if "labelled" in asked.parts:
        _timed(f"{half}: uninterrupted", lambda: labelled_tables(cases, names))
    if "kinds" in asked.parts:
        _timed(f"{half}: by kind", lambda: kinds_table(cases, names))
    if "amid" in asked.parts and len(sessions) > 2:
        budgets = (0.05, 0.1, 0.2)
        _timed(f"{half}: amid others", lambda: needs_tables("amid six others", amid(sessions), names, budgets))
    if "folds" in asked.parts:
        chain = [name for name in names if name in CHAINED]
        _timed(f"{half}: five folds", lambda: folds_table(cases, chain))
    if asked.missed and half == "tune":
        print_missed(cases)


def _sentences(half: str, asked: Namespace) -> None:
    memory_sentences.tables(asked.material / half, cells, missed=asked.missed and half == "tune")


def _endings(half: str, asked: Namespace) -> None:
    memory_endings.tables(asked.material, half, cells, missed=asked.missed and half == "tune")


def recorded_tables(half: str, names: Sequence[str], asked: Namespace) -> None:
    """Prints what is told of the recorded sessions of a half, by themselves and amid others."""
    for what, find, budgets in (
        ("recorded", memory_corpus.cut_sessions, (0.05, 0.1, 0.2)),
        ("recorded, amid six", memory_corpus.between, (0.1, 0.2)),
    ):
        cases = [Case(name, "recorded", items, needs) for name, items, needs in find(asked.corpus, half)]
        needs_tables(what, cases, names, budgets)


def rows(asked: Namespace) -> list[Row]:
    """The lines for the table of all benchmarks, in % of what is to be known: smaller is better."""
    sessions = [session for half in HALVES for session in labelled(half)]
    if not sessions:
        return [heading("memory: there are no labelled sessions here")]
    cases, between = alone(sessions), amid(sessions)
    ours = [scored(case, OURS, AT) for case in cases]
    rules = sum((s.rules for s in ours), Rules())
    state = sum((s.state for s in ours), State())
    return [
        heading(f"what a fold to {AT:.0%} of the tokens does not tell of {len(sessions)} labelled sessions, in %"),
        _untold("needed later, said of late", cases, "tail", far=False),
        _untold("needed later, said first", cases, "user's words first", far=True),
        _untold("the same amid six other conversations", between, "ledger", far=True),
        Row("tasks cut", _lost(total(s.task for s in ours)), 1.0),
        Row("standing rules missing", _lost(rules.found), 5.0),
        Row("rules that are none", _lost(rules.precision), 10.0),
        Row("open steps called open wrongly", _lost(state.steps_right), 10.0),
        Row("lines as the user's that are another's", figure([sum(len(s.speakers.wrong) for s in ours)], "lines"), 1.0),
        Row("values that no longer hold", figure([total(s.stale for s in ours).right], "values"), 1.0),
        Row("budget left empty", figure((100 * (1 - s.used) for s in ours), "%"), 5.0),
    ]


def _untold(what: str, cases: Sequence[Case], control: str, *, far: bool) -> Row:
    ours, theirs = (_lost(total(_told(case, name, AT, far) for case in cases)) for name in (OURS, control))
    return Row(what, ours, None, control, theirs)


def _lost(kept: Count) -> Figure:
    share = 100 * (1 - (1.0 if kept.share is None else kept.share))
    return Figure(share, share, "%")


# -- the command -------------------------------------------------------------------------------------------------


def main() -> None:
    """Prints the tables."""
    asked = _arguments()
    with memory_old.OldPage() if asked.old else nullcontext() as old:
        if old is not None:
            METHODS["old page"] = lambda history, budget: old.fold(history.chat, budget)
        names = [name for name in METHODS if not asked.methods or any(word in name for word in asked.methods)]
        for half in asked.half or HALVES:
            measure(half, names, asked)
        if "suites" in asked.parts:
            folding = [name for name in names if name != WHOLE]
            _timed("public suites", lambda: memory_suites.tables(folding, cells))


def measure(half: str, names: Sequence[str], asked: Namespace) -> None:
    """Prints all that is asked for of a half; what is not there is said."""
    if sessions := labelled(half, asked.material):
        half_tables(half, sessions, names, asked)
    else:
        print(f"NO LABELLED SESSIONS in {asked.material / half}: not measured")
    if "sentences" in asked.parts:
        _timed(f"{half}: sentences", lambda: _sentences(half, asked))
    if "typed" in asked.parts:
        _timed(f"{half}: typed", lambda: memory_typed.tables(asked.material, half, cells))
    if "endings" in asked.parts:
        _timed(f"{half}: endings", lambda: _endings(half, asked))
    if "recorded" in asked.parts and memory_corpus.there(asked.corpus):
        _timed(f"{half}: recorded sessions", lambda: recorded_tables(half, names, asked))
    elif "recorded" in asked.parts:
        print(f"NO RECORDED SESSIONS in {asked.corpus}: not measured")


def _arguments() -> Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--half", choices=HALVES, action="append", help="only this half; both where they are there")
    add("--parts", type=_list, default=PARTS, help=f"only these parts of {', '.join(PARTS)}")
    add("--methods", type=_list, default=(), help="only the methods whose names hold one of these words")
    add("--old", action="store_true", help=f"the page of commit {memory_old.COMMIT} as one more method")
    add("--material", type=Path, default=MATERIAL, help="where the labelled sessions are")
    add("--corpus", type=Path, default=memory_corpus.CORPUS, help="where the recorded sessions are")
    add("--missed", action="store_true", help=f"list what is missed at {AT:.0%}% of the half `tune`")
    return parser.parse_args()


def _list(words: str) -> tuple[str, ...]:
    return tuple(word for word in words.split(",") if word)


if __name__ == "__main__":
    main()
