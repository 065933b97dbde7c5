"""When folding would have been cheapest in hindsight: the control that tells a policy's timing from its folds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from math import inf

from foldline.extend import Model, Request, bills

MOMENTS = 100
"""How many moments of a session are tried, evenly apart: of more, the best ones lie no further than a call away."""


def best_moments(sizes: Sequence[int], limit: int, left: int, head: int, model: Model) -> list[Request]:
    """The requests of a session whose folds, each leaving `left` tokens, are made when that costs least over all calls.

    `sizes` are the requests without folds and `limit` is the most that one may take, in tokens; where a request cannot
    keep that by any fold, it is as large as it is. Costs are tokens of the input where no price is known. Found by dynamic
    programming over the moments of the last fold.
    """
    step = max(1, len(sizes) // MOMENTS)
    known = next(iter(bills(model, [Request(1)]))).cost is not None
    base, tiers = (model.input, sorted(model.tiers)) if known else (1.0, [])
    write, read = max(1.0, model.cache_write), model.cache_read
    grown = [max(0, size - before) for before, size in pairwise((0, *sizes))]
    least: dict[int, tuple[float, int]] = {0: (0.0, 0)}
    end = len(sizes)
    for fold in range(0, end, step):
        if fold not in least:
            continue
        spent = least[fold][0]
        freed = max(0, sizes[fold] - left) if fold else 0
        for call in range(fold, end):
            size, fresh = sizes[call] - freed, grown[call]
            if call == fold:
                fresh = max(0, size - head) if fold else fresh
            elif size > limit and call % step == 0 and sizes[call] > left:
                break
            rate = base
            for above, input, _ in tiers:
                rate = input if size > above else rate
            spent += rate * (read * (size - fresh) + write * fresh)
            after = call + 1
            if (after % step == 0 or after == end) and spent < least.get(after, (inf, 0))[0]:
                least[after] = spent, fold
    return list(_requests(sizes, _folds(least, end), left, head))


def _folds(least: dict[int, tuple[float, int]], end: int) -> list[int]:
    """The moments of the folds that lead to the end."""
    found: list[int] = []
    while end in least and (end := least[end][1]):
        found.append(end)
    return found[::-1]


def _requests(sizes: Sequence[int], folds: Sequence[int], left: int, head: int) -> Iterator[Request]:
    """The requests of a session that is folded before those calls."""
    freed, before = 0, 0
    for call, size in enumerate(sizes):
        if call in folds:
            freed = max(0, size - left)
            yield Request(size - freed, min(head, size - freed), head, 1_000)
        else:
            yield Request(size - freed, before, head)
        before = size - freed


def unfolded(tokens: Sequence[int], calls: Sequence[int], overhead: int) -> list[int]:
    """The sizes of the requests before each call where nothing is folded."""
    ends = [0, *accumulate(tokens)]
    return [overhead + ends[at] for at in calls]
