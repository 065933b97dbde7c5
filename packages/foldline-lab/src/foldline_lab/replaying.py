"""Many sessions under several contenders: in processes beside each other, each session's results kept once it is done."""

from __future__ import annotations

import gc
import hashlib
import os
import re
import signal
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median_low

import msgspec

from foldline import FoldlineError, SessionError
from foldline.extend import Request, bills
from foldline_lab.buckets import files_at, is_url, local, version
from foldline_lab.contenders import BEST, CONTROLS, UNFOLDED, policy_named
from foldline_lab.fleet import on_fleet
from foldline_lab.moments import best_moments, unfolded
from foldline_lab.recording import Recording, read
from foldline_lab.refusals import Provider
from foldline_lab.stepping import Run, stepped

_RESULT = re.compile(rb'\{"session":"(?:[^"\\]|\\.)*","key":"[0-9a-f]{16}"')
"""How a line of results begins, be it whole or torn."""


class Asked(msgspec.Struct, frozen=True):
    """What is replayed: under which policies, as if of which model, and in which window; of the session where not given."""

    policies: tuple[str, ...]
    model: str = ""
    window: int | None = None


class Outcome(msgspec.Struct, frozen=True):
    """What came of one session: a run for each contender, or why there is none."""

    session: str
    key: str
    runs: tuple[Run, ...] = ()
    fault: str = ""


def replayed(path: str, asked: Asked) -> Outcome:
    """One session under each contender, the controls behind the policies."""
    key = key_of(path, asked)
    try:
        with local(path) as file:
            recording = read(file, name=asked.model, window=asked.window)._replace(name=path)
        if not recording.calls:
            return Outcome(path, key, fault="no call of a model is recorded in it")
        provider = Provider(recording.messages)
        with _passed_over():
            runs = [_run(recording, provider, name) for name in (*asked.policies, *CONTROLS, UNFOLDED)]
    except FoldlineError as error:
        return Outcome(path, key, fault=str(error))
    except Exception as error:  # noqa: BLE001  one session does not end the replay of a thousand
        return Outcome(path, key, fault=f"{type(error).__name__}: {error}; please report it")
    first, requests = runs[0]
    return Outcome(path, key, (*(run for run, _ in runs), _at_best(first, requests)))


@contextmanager
def _passed_over() -> Iterator[None]:
    """Has the garbage collector pass over all that is there already: it would look through it again and again."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _run(recording: Recording, provider: Provider, name: str) -> tuple[Run, list[Request]]:
    """A contender's run, and the requests that its folds would have made at the best moments."""
    run, requests = stepped(recording, provider, name, policy_named(name))
    if run.folds:
        best = _best(recording, run)
        cost = _cost(recording, best)
        if cost is not None and (run.over or run.cost is None or cost < run.cost):
            return msgspec.structs.replace(run, best=cost), best
    return msgspec.structs.replace(run, best=run.cost), requests


def _best(recording: Recording, run: Run) -> list[Request]:
    """The requests of a session where each fold leaves what the run's folds left in the median."""
    sizes = unfolded(recording.tokens, recording.calls, recording.overhead)
    left = median_low(fold.after for fold in run.folds)
    system = sum(t for m, t in zip(recording.messages, recording.tokens) if m.role == "system")
    return best_moments(sizes, recording.budget.limit, left, recording.overhead + system, recording.model)


def _cost(recording: Recording, requests: Iterable[Request]) -> float | None:
    costs = [bill.cost for bill in bills(recording.model, requests)]
    return None if None in costs else sum(cost or 0.0 for cost in costs)


def _at_best(run: Run, requests: Sequence[Request]) -> Run:
    """The control that folds as a run did, at the best moments."""
    sizes = [request.tokens for request in requests]
    return Run(
        run.session,
        BEST,
        run.model,
        run.window,
        run.limit,
        len(sizes),
        sum(sizes),
        run.best,
        run.best,
        largest=max(sizes),
        over=sum(size > run.limit for size in sizes),
    )


# -- many ------------------------------------------------------------------------------------------------------------


def sessions_in(paths: Sequence[str]) -> list[str]:
    """The files that are named, and all below the folders and URLs that are; raises `SessionError` for what is not there."""
    found: list[str] = []
    for path in paths:
        if is_url(path):
            found += files_at(path)
            continue
        if not os.path.exists(path.partition("#")[0]):
            raise SessionError("there is no such file or folder", path=path)
        found += sorted(map(str, filter(Path.is_file, Path(path).rglob("*")))) if os.path.isdir(path) else [path]
    return list(dict.fromkeys(found))


def key_of(path: str, asked: Asked) -> str:
    """What tells whether results are of the same file, unchanged, under the same question; policies' files included."""
    told = [path, version(path)] if is_url(path) else [os.path.abspath(path)]
    told.append(msgspec.json.encode(asked).decode())
    files = [] if is_url(path) else [path.partition("#")[0]]
    for file in (*files, *filter(os.path.isfile, asked.policies)):
        with suppress(FileNotFoundError):
            about = os.stat(file)
            told += [str(about.st_size), str(about.st_mtime_ns)]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]


def replay(
    paths: Sequence[str], asked: Asked, results: str | None = None, jobs: int = 1, *, fleet: str = ""
) -> Iterator[Outcome]:
    """What came of each session, as they are done, in `jobs` processes, or on the Ray cluster at the address `fleet`.

    Where `results` names a file, each is appended to it, and what stands there of the same question is not done again:
    a replay that was ended goes on. Raises `SessionError` where the file holds anything else.
    """
    if results:
        check_results(results)
    known = {outcome.key: outcome for outcome in _kept(results)}
    left = []
    for path in paths:
        if (done := known.get(key_of(path, asked))) is not None:
            yield done
        else:
            left.append(path)
    there = bool(fleet and left)
    for outcome in on_fleet(partial(replayed, asked=asked), left, fleet) if there else _done(left, asked, jobs):
        if results:
            _append(results, msgspec.json.encode(outcome) + b"\n")
        yield outcome


def check_results(path: str) -> None:
    """Refuses a file that is there and holds anything but results of a replay; raises `SessionError`."""
    if not os.path.exists(path):
        return
    with open(path, "rb") as file:
        first = file.readline()
    if first and not _RESULT.match(first):
        raise taken(path)


def taken(path: str) -> SessionError:
    """What is raised for the place of a new file where there is one already."""
    return SessionError("there is a file already; nothing was written", path=path)


def _append(results: str, line: bytes) -> None:
    """Writes a line behind the others; a last one that was torn gets its end first, or it would take this one with it."""
    with open(results, "a+b") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            line = line if file.read() == b"\n" else b"\n" + line
        file.write(line)


def _kept(results: str | None) -> Iterator[Outcome]:
    """What a file of results holds; a last line that was torn as its writer was ended is left out."""
    if not results or not os.path.exists(results):
        return
    with open(results, "rb") as file:
        for line in file:
            try:
                yield msgspec.json.decode(line, type=Outcome)
            except msgspec.DecodeError:
                continue


def _done(paths: Sequence[str], asked: Asked, jobs: int) -> Iterator[Outcome]:
    if jobs == 1 or len(paths) < 2:
        yield from (replayed(path, asked) for path in paths)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_end_quietly) as pool:
        with _interrupts_held():
            waiting = [pool.submit(replayed, path, asked) for path in paths]
        try:
            for done in as_completed(waiting):
                yield done.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Lets processes be begun that hear of no interrupt before they are whole; what comes meanwhile is heard behind it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_quietly() -> None:
    """Has a worker end at an interrupt without a word: the process that began it says what is to be said."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
