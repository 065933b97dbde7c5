"""Replay: what recorded sessions would have cost under policies, and what they would have forgotten."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from html.parser import HTMLParser
from itertools import chain, combinations
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as some

from foldline import Compactor, ConfigError, SessionError
from foldline.extend import Model, bills
from foldline_lab.command import replay_command
from foldline_lab.comparing import compared, interval
from foldline_lab.contenders import BEST, UNFOLDED, policy_named
from foldline_lab.drawing import cost_and_memory
from foldline_lab.moments import best_moments, unfolded
from foldline_lab.recording import Recording, read
from foldline_lab.refusals import Provider
from foldline_lab.replaying import Asked, Outcome, replay, replayed, sessions_in
from foldline_lab.report import page
from foldline_lab.seen import Count
from foldline_lab.stepping import Run, stepped
from foldline_lab.totals import table, totals, unpriced

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "replay.md"
MODEL = "claude-sonnet-4-5"
ASKED = Asked(("default",), MODEL, 12_000)


def call(number: int, path: str) -> dict[str, Any]:
    body = {"name": "read", "arguments": json.dumps({"path": path})}
    return {
        "role": "assistant",
        "content": f"Part {number}.",
        "tool_calls": [{"id": f"c{number}", "type": "function", "function": body}],
    }


def history(turns: int, *, words: int = 150, last: str = "") -> list[dict[str, Any]]:
    """A session of calls that each read one file; the last call reads `last`, if that is named."""
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "The ledger lives in vault/ledger_7731.dat, keep it."}
    ]
    for n in range(turns):
        path = last if last and n == turns - 1 else f"src/part_{n}.py"
        output = " ".join(f"line{n}x{word} holds" for word in range(words))
        messages += [call(n, path), {"role": "tool", "tool_call_id": f"c{n}", "content": output}]
    return [*messages, {"role": "assistant", "content": "Done."}]


def written(folder: Path, messages: list[dict[str, Any]], name: str = "s.json") -> str:
    path = folder / name
    path.write_text(json.dumps(messages))
    return str(path)


def run(recording: Recording, name: str) -> Run:
    return stepped(recording, Provider(recording.messages), name, policy_named(name))[0]


# -- one session under one contender ---------------------------------------------------------------------------------


def test_without_folding_each_call_is_sent_all_that_came_before(tmp_path: Path) -> None:
    recording = read(written(tmp_path, history(5)), name=MODEL)
    found = run(recording, UNFOLDED)
    assert found.calls == 6
    assert found.sent == sum(sum(recording.tokens[:at]) for at in (1, 3, 5, 7, 9, 11))
    assert (found.folds, found.over, found.refused) == ((), 0, ())


@pytest.mark.parametrize("policy", ["default", "tail", "masking"])
def test_a_replay_sends_what_a_compactor_that_is_called_so_hands_out(tmp_path: Path, policy: str) -> None:
    recording = read(written(tmp_path, history(30)), name=MODEL, window=12_000)
    compactor = Compactor(recording.model, window=12_000, policy=policy_named(policy) or "default")
    sizes = dict(zip(map(id, recording.messages), recording.tokens))
    sent = []
    for at in recording.calls:
        request = compactor.fit(recording.messages[:at])
        sent.append(sum(sizes.get(id(message)) or recording.size(message) for message in request))
        compactor.observe({"input_tokens": sent[-1], "output_tokens": 1})
    found = run(recording, policy)
    assert found.sent == sum(sent)
    assert len(found.folds) == len(compactor.folds) > 0
    assert found.largest == max(sent) <= recording.budget.limit
    assert found.over == 0


def test_what_was_said_far_back_and_is_read_again_is_known_where_it_stands(tmp_path: Path) -> None:
    messages = history(30, last="vault/ledger_7731.dat")
    recording = read(written(tmp_path, messages), name=MODEL, window=12_000)
    assert [need.word for needs in recording.needs for need in needs if need.far] == ["vault/ledger_7731.dat"]
    assert run(recording, UNFOLDED).far == (1, 1)
    assert run(recording, "default").far == (1, 1)  # a request of the user's, which its summary quotes
    assert run(recording, UNFOLDED).user == (1, 1)


def test_a_literal_that_nobody_told_of_before_is_no_need(tmp_path: Path) -> None:
    recording = read(written(tmp_path, history(30)), name=MODEL, window=12_000)
    assert not any(recording.needs)


def test_what_is_in_the_newest_messages_tells_no_policy_from_another(tmp_path: Path) -> None:
    messages = [
        *history(3),
        {"role": "user", "content": "Now vault/ledger_7731.dat."},
        call(9, "vault/ledger_7731.dat"),
    ]
    assert not any(read(written(tmp_path, messages), name=MODEL).needs)


def test_what_no_fold_can_bring_under_the_limit_is_over_it_and_sent_as_it_is(tmp_path: Path) -> None:
    rules = {"role": "system", "content": " ".join(f"rule{n} binds" for n in range(6_000))}
    recording = read(written(tmp_path, [rules, *history(8)]), name=MODEL, window=12_000)
    found, unfolded = run(recording, "default"), run(recording, UNFOLDED)
    assert found.over == unfolded.over == found.calls == 9
    assert found.sent == unfolded.sent


def plan(number: int, *steps: tuple[str, str]) -> list[dict[str, Any]]:
    """A call of a tool that writes down the plan, and its result."""
    todos = [{"content": words, "status": status} for words, status in steps]
    body = {"name": "todo", "arguments": json.dumps({"todos": todos})}
    asked = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"p{number}", "type": "function", "function": body}],
    }
    return [asked, {"role": "tool", "tool_call_id": f"p{number}", "content": "Noted."}]


def test_rules_and_open_steps_bind_at_a_call_wherever_they_were_said(tmp_path: Path) -> None:
    rule = "Never touch config/prod.yaml, whatever the tests say."
    done, open = "Read the parts of the ledger", "Write the sums down"
    told = [{"role": "user", "content": f"Here is the ledger.\n{rule}"}]
    planned = [*plan(1, (done, "in_progress"), (open, "pending")), *plan(2, (done, "completed"), (open, "pending"))]
    recording = read(written(tmp_path, [*told, *planned, *history(30)[1:]]), name=MODEL, window=12_000)
    assert [held.text for held in recording.rules] == [rule]
    assert [held.text for held in recording.states[len(recording.calls) - 1]] == [open]
    looked, planned = len(recording.states), sum(map(bool, recording.states.values()))
    assert (run(recording, UNFOLDED).rules, run(recording, UNFOLDED).state) == ((looked, looked), (planned, planned))
    assert run(recording, "default").rules == (looked, looked)
    assert run(recording, "tail").state[0] < planned


def test_a_failure_is_open_until_the_same_call_went_well_or_the_user_speaks(tmp_path: Path) -> None:
    def tried(number: int, said: str, *, error: bool) -> list[dict[str, Any]]:
        told = {"type": "tool_result", "tool_use_id": f"c{number}", "content": said, "is_error": error}
        asked = {"type": "tool_use", "id": f"c{number}", "name": "bash", "input": {"command": "make"}}
        return [{"role": "assistant", "content": [asked]}, {"role": "user", "content": [told]}]

    asked, failed = {"role": "user", "content": "Build it."}, tried(1, "ledger.c: no such file", error=True)
    answered = {"role": "assistant", "content": "So it is."}
    for messages, open in (
        ([asked, *failed, answered], ["ledger.c: no such file"]),
        ([asked, *failed, *tried(2, "built", error=False), answered], []),
        ([asked, *failed, {"role": "user", "content": "Leave it."}, answered], []),
    ):
        recording = read(written(tmp_path, messages), name=MODEL)
        assert [held.text for held in recording.states[len(recording.calls) - 1]] == open


def test_every_token_has_a_fate(tmp_path: Path) -> None:
    recording = read(written(tmp_path, history(30)), name=MODEL, window=12_000)
    for name in ("default", "tail", UNFOLDED):
        fates = run(recording, name).fates
        assert sum(fates.values()) == sum(recording.tokens[: recording.calls[-1]])
    assert run(recording, "tail").fates["gone"] > 0
    assert run(recording, "default").fates["summary"] > 0


def test_a_growing_context_adds_up_by_kind(tmp_path: Path) -> None:
    recording = read(written(tmp_path, history(30)), name=MODEL, window=12_000)
    found, requests = stepped(recording, Provider(recording.messages), "default", policy_named("default"))
    assert [sum(sizes) for _, *sizes in found.growth] == [requests[call].tokens for call, *_ in found.growth]


def test_a_provider_refuses_what_is_broken_and_not_what_was_broken_before(tmp_path: Path) -> None:
    whole = read(written(tmp_path, history(3)), name=MODEL).messages
    assert Provider(whole).refuses(whole) == []
    assert "c0" in Provider(whole).refuses([whole[0], *whole[2:]])[0]
    assert Provider(whole[:2]).refuses(whole[:2]) == []


# -- the best moments ------------------------------------------------------------------------------------------------

CACHED = Model("m", "meta", True, input=1.0, output=1.0, cache_read=0.1, cache_write=1.25, cache_ttl=300)


def cost(sizes: list[int], limit: int, left: int, folds: tuple[int, ...]) -> float:
    """What the calls cost that are folded before these, written down naively; without end where one is over the limit."""
    spent, freed, before = 0.0, 0, 0
    for at, whole in enumerate(sizes):
        if at in folds:
            freed, before = max(0, whole - left), 0
        size = whole - freed
        if size > limit:
            return float("inf")
        spent += 0.1 * before + 1.25 * (size - before)
        before = size
    return spent


@given(some.lists(some.integers(1, 4_000), min_size=1, max_size=8), some.integers(500, 3_000))
def test_no_choice_of_moments_is_cheaper_than_the_best_one(steps: list[int], left: int) -> None:
    sizes = [sum(steps[: n + 1]) for n in range(len(steps))]
    limit = max(*steps, 0) + left  # so that some choice keeps it
    least = min(cost(sizes, limit, left, c) for n in range(len(sizes)) for c in combinations(range(1, len(sizes)), n))
    found = [bill.cost or 0.0 for bill in bills(CACHED, best_moments(sizes, limit, left, 0, CACHED))]
    assert sum(found) * 1e6 == pytest.approx(least)


def test_the_sizes_without_folds_are_those_of_the_messages_and_the_overhead() -> None:
    assert unfolded([10, 20, 30], [1, 3], 5) == [15, 65]


# -- many sessions ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> list[Outcome]:
    folder = tmp_path_factory.mktemp("sessions")
    paths = [written(folder, history(20 + n), f"{n}.json") for n in range(3)]
    return list(replay(paths, Asked(("default", "pi"), MODEL, 12_000)))


def without_time(outcome: Outcome) -> tuple[Any, ...]:
    return tuple((run.contender, run.cost, run.best, run.folds, run.far, run.growth) for run in outcome.runs)


def test_the_controls_stand_beside_the_policies(outcomes: list[Outcome]) -> None:
    names = ["default", "pi", "tail", "masking", UNFOLDED, BEST]
    assert [[run.contender for run in outcome.runs] for outcome in outcomes] == [names] * 3


def test_a_policy_costs_no_less_than_its_folds_at_the_best_moments(outcomes: list[Outcome]) -> None:
    for run in (run for outcome in outcomes for run in outcome.runs if not run.over):
        assert run.cost is not None
        assert run.best is not None
        assert run.best <= run.cost


def test_a_replay_that_was_ended_goes_on(tmp_path: Path) -> None:
    paths = [written(tmp_path, history(4 + n), f"{n}.json") for n in range(3)]
    results = tmp_path / "results.jsonl"
    first = list(replay(paths[:2], ASKED, str(results)))
    kept = results.read_bytes()
    results.write_bytes(kept[:-20])  # the last line is torn
    again = list(replay(paths, ASKED, str(results)))
    assert {o.session for o in again} == set(paths)
    assert first[0] in again  # as it was, its times included: it was not done again
    assert len(results.read_bytes().splitlines()) == 4
    assert {o.key for o in replay(paths, ASKED, str(results))} == {o.key for o in again}
    assert len(results.read_bytes().splitlines()) == 4  # the torn line took no other with it
    assert sorted(map(without_time, again)) == sorted(without_time(replayed(path, ASKED)) for path in paths)


def test_results_of_another_question_or_of_a_file_that_changed_are_not_taken(tmp_path: Path) -> None:
    path, results = written(tmp_path, history(4)), str(tmp_path / "results.jsonl")
    list(replay([path], ASKED, results))
    list(replay([path], Asked(("default",), MODEL, 13_000), results))
    written(tmp_path, history(5))
    list(replay([path], ASKED, results))
    assert len(Path(results).read_bytes().splitlines()) == 3


def test_processes_beside_each_other_find_what_one_finds(tmp_path: Path) -> None:
    paths = [written(tmp_path, history(4 + n), f"{n}.json") for n in range(2)]
    alone, together = (list(replay(paths, ASKED, jobs=jobs)) for jobs in (1, 2))
    assert sorted(map(without_time, together)) == sorted(map(without_time, alone))


def test_what_is_no_session_is_told_and_left_out(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing of the kind")
    written(tmp_path, [{"role": "user", "content": "Nobody answered."}], "silent.json")
    faults = [outcome.fault for outcome in replay(sessions_in([str(tmp_path)]), ASKED)]
    assert "no session of a known format" in faults[0]
    assert "no call of a model" in faults[1]
    with pytest.raises(SessionError, match="no such file"):
        sessions_in([str(tmp_path / "gone.json")])


# -- which, and why --------------------------------------------------------------------------------------------------


def test_which_of_two_is_told_in_three_sentences(outcomes: list[Outcome]) -> None:
    told = compared(outcomes, "default", "pi")
    assert told.count(". ") == 2
    assert told.endswith(".")
    assert "Over 3 sessions pi costs" in told
    assert "all that it needs" in told  # nothing is written again
    assert "Neither is better" in compared(outcomes, "default", "default")
    assert "no session" in compared(outcomes, "default", "amp")


def test_without_a_price_it_is_told_who_sends_less(tmp_path: Path) -> None:
    asked = Asked(("default", "tail"), "house-model-9", 12_000)
    paths = [written(tmp_path, history(30 + n, last="src/part_0.py"), f"{n}.json") for n in range(2)]
    told = compared([replayed(path, asked) for path in paths], "default", "tail")
    assert "tail sends " in told
    assert "cheaper" not in told
    assert "costs" not in told


def test_who_would_be_refused_is_not_to_be_run(outcomes: list[Outcome]) -> None:
    assert "Run default: no folding would be refused " in compared(outcomes, "default", UNFOLDED)
    assert "Run neither" in compared(outcomes, UNFOLDED, UNFOLDED)


def test_an_interval_holds_the_gap_and_is_narrow_where_all_sessions_agree() -> None:
    agreed = interval([(10.0, 12.0), (20.0, 24.0), (5.0, 6.0)])
    assert agreed == pytest.approx((0.2, 0.2, 0.2))
    apart = interval([(10.0, 20.0), (10.0, 5.0), (10.0, 10.0)])
    assert apart.low < apart.value < apart.high


# -- the report ------------------------------------------------------------------------------------------------------


class Read(HTMLParser):
    """What of a page needs the network, and which elements are open at its end."""

    def __init__(self) -> None:
        super().__init__()
        self.outside: list[str] = []
        self.open: list[str] = []
        self.drawn = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.outside += [f"{tag} {name}" for name, _ in attrs if name in ("src", "href")]
        self.open += [tag] if tag not in ("meta", "link") else []
        self.drawn += tag == "polygon"

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_report_is_one_whole_page_that_needs_nothing_else(outcomes: list[Outcome]) -> None:
    html, read = page(outcomes, "a < b & c"), Read()
    read.feed(html)
    assert (read.outside, read.open) == ([], [])
    assert read.drawn > 12  # more than one kind in each of twelve contexts
    assert "a &lt; b &amp; c" in html
    assert "url(" not in html
    assert "<script" not in html


BEGINNING = """
import os
if __name__ == "__mp_main__":
    os.write(os.open("begun", os.O_WRONLY), b"+")
    os.read(os.open("go", os.O_RDONLY), 1)
if __name__ == "__main__":
    from foldline._cli.commands import run
    run()
"""
"""A command whose workers say that they begin, and go on when they are told."""


# -- the command -----------------------------------------------------------------------------------------------------


def test_the_command_tells_a_table_or_json_and_writes_a_report(tmp_path: Path) -> None:
    path, html = written(tmp_path, history(20)), tmp_path / "report.html"
    given = [path, "--model", MODEL, "--window", "12000", "--compare", "default", "pi"]
    shown = CliRunner().invoke(replay_command, [*given, "--html", str(html)])
    assert shown.exit_code == 0, shown.output
    assert [line.split()[0] for line in shown.stdout.splitlines()[1:5]] == ["default", "pi", "tail", "masking"]
    assert html.read_text("utf-8").startswith("<!doctype html>")
    told = json.loads(CliRunner().invoke(replay_command, [*given, "--json"]).stdout)
    assert [total["contender"] for total in told["totals"]][-2:] == [UNFOLDED, BEST]
    assert "Over 1 session pi" in told["verdict"]


def test_costs_are_of_the_sessions_that_have_a_price_and_a_line_says_so(tmp_path: Path) -> None:
    priced = replayed(written(tmp_path, history(30, last="vault/ledger_7731.dat"), "priced.json"), ASKED)
    bare = replayed(written(tmp_path, history(30), "bare.json"), Asked(("default",), "house-model-9", 12_000))
    both = totals([priced, bare])
    assert [each.cost for each in both] == [run.cost for run in priced.runs]
    assert {each.priced for each in both} == {1}
    told = unpriced([priced, bare])
    assert "1 of 2 sessions" in told
    assert "house-model-9" in told
    assert "--model" in told
    assert told in page([priced, bare])
    assert unpriced([priced]) == ""
    assert all(each.cost is None for each in totals([bare]))
    assert "Cost and memory" not in page([bare])
    assert "Cost and memory" in page([priced])


def test_the_command_tells_of_a_session_without_a_price(tmp_path: Path) -> None:
    path = written(tmp_path, history(2))
    shown = CliRunner().invoke(replay_command, [path, "--model", "house-model-9"])
    assert "0 of 1 session: house-model-9 has no price" in " ".join(shown.stdout.split())


@pytest.mark.parametrize("option", ["--html", "--results"])
def test_a_place_that_cannot_be_written_is_told_before_anything_is_replayed(tmp_path: Path, option: str) -> None:
    kept = tmp_path / "kept.jsonl"
    others = {"--html": str(tmp_path / "page.html"), "--results": str(kept)}
    given = {**others, option: str(tmp_path / "nodir" / "x")}
    words = [word for pair in given.items() for word in pair]
    shown = CliRunner().invoke(replay_command, [written(tmp_path, history(2)), *words])
    assert isinstance(shown.exception, ConfigError)
    assert "nodir" in str(shown.exception)
    assert not kept.exists()
    assert shown.stdout == ""


@pytest.mark.parametrize("option", ["--html", "--results"])
def test_a_file_that_is_there_is_not_written_over_not_even_the_session(tmp_path: Path, option: str) -> None:
    path = written(tmp_path, history(2))
    before = Path(path).read_bytes()
    shown = CliRunner().invoke(replay_command, [path, option, path])
    assert isinstance(shown.exception, SessionError)
    assert str(shown.exception) == f"{path}: there is a file already; nothing was written"
    assert Path(path).read_bytes() == before
    assert shown.stdout == ""


def test_results_go_behind_others_and_into_an_empty_file(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    results.touch()
    for n in range(2):
        shown = CliRunner().invoke(
            replay_command, [written(tmp_path, history(2), f"{n}.json"), "--results", str(results)]
        )
        assert shown.exit_code == 0, shown.output
    assert [json.loads(line)["session"] for line in results.read_bytes().splitlines()] == [
        str(tmp_path / f"{n}.json") for n in range(2)
    ]


def test_a_report_does_not_take_the_place_of_the_results(tmp_path: Path) -> None:
    place = tmp_path / "both"
    shown = CliRunner().invoke(
        replay_command, [written(tmp_path, history(2)), "--results", str(place), "--html", str(place)]
    )
    assert isinstance(shown.exception, SessionError)
    assert [json.loads(line)["fault"] for line in place.read_bytes().splitlines()] == [""]


def test_a_session_that_is_left_out_is_named_once(tmp_path: Path) -> None:
    path = tmp_path / "bin.jsonl"
    path.write_bytes(b"\0\1\2")
    shown = CliRunner().invoke(replay_command, [str(path)])
    assert shown.stderr.count(str(path)) == 1


def test_workers_that_are_interrupted_as_they_begin_end_without_a_word(tmp_path: Path) -> None:
    paths = [written(tmp_path, history(4), f"{n}.json") for n in range(2)]
    (tmp_path / "main.py").write_text(BEGINNING)
    begun, go = (os.open(_pipe(tmp_path / name), os.O_RDWR) for name in ("begun", "go"))
    with subprocess.Popen(
        [sys.executable, "main.py", "replay", *paths, "--jobs", "2"],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        assert os.read(begun, 1) + os.read(begun, 1) == b"++"
        os.killpg(process.pid, signal.SIGINT)
        os.write(go, b"++")
        said = process.communicate(timeout=30)[1]
    assert process.returncode == 130
    assert said.split("\n") == ["", "aborted; nothing was changed", ""]


def _pipe(path: Path) -> Path:
    os.mkfifo(path)
    return path


def test_a_table_is_parted_where_the_terminal_is_narrower_and_says_the_same(tmp_path: Path) -> None:
    found = totals([replayed(written(tmp_path, history(30)), Asked(("default", "pi"), MODEL, 8_000))])
    whole = table(found).split("\n")
    assert max(map(len, whole)) > 80
    for width in (60, 80):
        parts = [part.split("\n") for part in table(found, width).split("\n\n")]
        assert max(len(line) for part in parts for line in part) <= width
        figures = [[re.split(r"\s{2,}", line)[1:] for line in part] for part in parts]
        assert [[*chain(*row)] for row in zip(*figures)] == [re.split(r"\s{2,}", line)[1:] for line in whole]
        assert len({tuple(line[:12] for line in part) for part in parts}) == 1


def test_the_name_of_a_file_does_not_steer_the_terminal(tmp_path: Path) -> None:
    path = written(tmp_path, [], "\x1b[31mred.json")
    shown = CliRunner().invoke(replay_command, [path, "--model", MODEL], color=True)
    assert "left out" in shown.output
    assert shown.output.replace("\n", "").isprintable()


def test_the_command_says_what_is_wrong_before_it_begins(tmp_path: Path) -> None:
    path = written(tmp_path, history(2))
    code = "import sys; from foldline._cli.commands import run; sys.argv = ['foldline', *sys.argv[1:]]; run()"
    done = subprocess.run(
        [sys.executable, "-c", code, "replay", path, "--policy", "defualt"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "did you mean default?" in done.stderr


def test_without_the_lab_the_command_says_what_to_install() -> None:
    code = "import sys; sys.modules['foldline_lab'] = None; sys.argv = ['foldline', 'replay', 'x']; import foldline.__main__"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "foldline: it needs one more package, foldline_lab: pip install 'foldline[lab]'\n"


def shape(text: str) -> str:
    """A text without its figures, which move with what a page tells and how it is counted, and without what they move."""
    return " ".join(re.sub(r"[+-]?\d[\d,.]*", "N", text).split())


def test_the_page_shows_the_run_of_the_sample_as_it_is() -> None:
    made = run_path(str(ROOT / "scripts" / "make_replay.py"))
    found = made["outcomes"]()
    assert shape(PAGE.read_text("utf-8")) == shape(made["page"](found)), "run scripts/make_replay.py"
    default = found[0].runs[0]
    assert (default.contender, default.over, default.refused) == ("default", 0, ())
    assert default.cost is not None
    assert default.best is not None
    assert default.cost <= 2 * default.best


@pytest.mark.parametrize(
    "costs", [(1.0, 1.12, 1.25, 1.27, 2.0), (1.0, 1.0, 1.0, 1.0, 1.01), (0.2, 1.98, 1.99, 2.0, 2.0)]
)
def test_in_the_picture_of_cost_and_memory_no_name_stands_on_another(costs: tuple[float, ...]) -> None:
    names = ("team/policies/calm.toml", "tail", "masking", "default", "no folding")
    nothing = totals([Outcome("s", "k", (Run("s", "x", MODEL, 1, 1, 1),))])[0]
    drawn = cost_and_memory(
        [nothing._replace(contender=name, cost=cost, far=Count(4, 10)) for name, cost in zip(names, costs)]
    )
    told = re.findall(r'<text class="name" x="([\d.-]+)" y="([\d.-]+)" text-anchor="(\w+)">([^<]+)', drawn)
    assert [name for *_, name in told] == list(names)
    boxes = []
    for x, y, anchor, name in told:
        wide = 6.0 * len(name)  # letters of 12 units are 6 to 7 wide
        left = float(x) - wide * (anchor == "end")
        boxes.append((left, left + wide, float(y)))
    for one, other in combinations(boxes, 2):
        assert one[1] <= other[0] or other[1] <= one[0] or abs(one[2] - other[2]) >= 11
