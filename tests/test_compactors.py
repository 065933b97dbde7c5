"""A compactor for each conversation: held by key, evicted, and brought back as it was."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from foldline import Compactor, Compactors, ConfigError, StateError
from test_compactor import turns
from test_state import compactor_of

Item = dict[str, Any]


def histories(count: int) -> dict[str, list[Item]]:
    return {f"thread {n}": turns(60, first=100 * n) for n in range(count)}


def test_each_key_has_a_compactor_of_its_own() -> None:
    made: list[str] = []

    def make(key: str) -> Compactor:
        made.append(key)
        return compactor_of()

    compactors = Compactors(make)
    for _ in range(3):
        for key, history in histories(4).items():
            compactors[key].fit(history)
    assert made == list(histories(4))
    assert [len(compactors[key].folds) for key in made] == [1] * 4


def test_what_was_used_longest_ago_goes_and_comes_back_as_it_was() -> None:
    states: dict[str, bytes] = {}
    compactors: Compactors[str] = Compactors(lambda key: compactor_of(), most=2, states=states)
    sent = {key: compactors[key].fit(history) for key, history in histories(5).items()}
    assert len(compactors) == 2
    assert [key in compactors for key in sent] == [False, False, False, True, True]
    assert list(states) == ["thread 0", "thread 1", "thread 2"]
    assert {key: compactors[key].fit(history) for key, history in histories(5).items()} == sent


def test_without_a_place_for_states_what_went_begins_anew() -> None:
    compactors: Compactors[int] = Compactors(lambda key: compactor_of(), most=1)
    compactors[1].fit(turns(60))
    assert compactors[1].folds
    assert compactors[2].folds == compactors[1].folds == []


def test_all_are_saved_and_one_is_forgotten() -> None:
    states: dict[str, bytes] = {}
    compactors: Compactors[str] = Compactors(lambda key: compactor_of(), states=states)
    for key, history in histories(3).items():
        compactors[key].fit(history)
    assert states == {}
    compactors.save()
    compactors.forget("thread 1")
    assert list(states) == ["thread 0", "thread 2"]
    assert compactors["thread 1"].folds == []
    assert compactors["thread 2"].folds


def test_a_damaged_state_is_refused_by_name() -> None:
    compactors: Compactors[int] = Compactors(lambda key: compactor_of(), states={1: b"nonsense"})
    with pytest.raises(StateError, match="damaged"):
        compactors[1]
    assert 1 not in compactors


def test_at_least_one_is_held() -> None:
    with pytest.raises(ConfigError, match="Compactors: most: at least one is held, not 0"):
        Compactors(lambda key: compactor_of(), most=0)


def test_threads_that_ask_for_one_key_get_one_compactor() -> None:
    compactors: Compactors[int] = Compactors(lambda key: compactor_of(), most=3)
    got: list[Compactor] = []
    start = threading.Barrier(8)

    def ask() -> None:
        start.wait()
        got.append(compactors[1])

    workers = [threading.Thread(target=ask) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len({id(each) for each in got}) == 1
