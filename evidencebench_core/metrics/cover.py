"""The best that any selection could do: optimal cover, best coverage at K, ceiling.

Set cover and maximum coverage: greedy first, and where a bound proves greedy optimal that is the answer;
otherwise an integer program, which HiGHS searches for so many nodes. Every instance that was met is solved by
then; of one that is not, there is the best selection found, and a bound that no selection can pass. The same
input gives the same answer, and solutions are remembered: a leaderboard asks for the same ceilings once per run.

Inside, aspects are bits: a sentence is a *column* ``(sentence index, mask of the aspects it covers)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import floor
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.metrics.coverage import Denominator, check_budget, n_counted

if TYPE_CHECKING:
    from scipy.optimize import LinearConstraint

Column = tuple[int, int]

_MOST_NODES: Final = 50  # of the search: the train set needs 1, random covers of its size up to 11
_MOST_SECONDS: Final = 60.0  # the last resort, since what is found by then depends on the machine
_MOST_CELLS: Final = 1_000_000  # aspects times columns of a program; the benchmark's have up to 50,000


def greedy_cover(covers: Sequence[frozenset[int]], budget: int | None = None) -> tuple[int, ...]:
    """Picks in greedy order: always the sentence that covers most of what is not covered yet.

    Parameters
    ----------
    covers : sequence of frozenset of int
        One set of covering sentences per aspect.
    budget : int or None
        At most so many picks, 0 or more (else a `SettingError`); ``None`` for as many as it takes.

    Returns
    -------
    tuple of int
        In the order of the picks, ties to the sentence that comes first in the paper. It stops when no
        sentence adds anything, so it may be shorter than the budget.
    """
    return tuple(sentence for sentence, _ in _greedy(_columns(covers), budget))


def optimal_cover(covers: Sequence[frozenset[int]]) -> tuple[int, ...]:
    """A smallest selection (sentence indices, ascending) that covers every aspect that can be covered.

    Aspects that no sentence covers are left out: nothing can be done about them. Empty where nothing can be
    covered. Where the search ends before the smallest is proven, it is the smallest that was found.
    """
    columns = _maximal_columns(_columns(covers))
    greedy = _greedy(columns, None)
    if len(greedy) <= _least_picks(columns, len(covers)):
        return _indices(greedy)
    if len(columns) * len(covers) > _MOST_CELLS:
        return _indices(greedy)
    return _indices(smallest_cover(tuple(columns), len(covers)) or greedy)


def best_cover(covers: Sequence[frozenset[int]], budget: int) -> tuple[int, ...]:
    """A selection (ascending) of at most ``budget`` sentences that covers as many aspects as any such selection can.

    No pick is useless, so there may be fewer than ``budget``. Where the search ends before that is proven, it
    is the best that was found (`ceiling_range` says how far it can be from that). `SettingError` for a negative
    budget.
    """
    picks, _ = _best(covers, budget)
    return _indices(_useful(picks))


def ceiling_range(
    covers: Sequence[frozenset[int]],
    budget: int | None,
    denominator: Denominator = "all",
    search: bool = True,
) -> tuple[float, float] | None:
    """The highest Aspect Recall (0 to 1) that a selection of at most ``budget`` sentences can have: at least, at most.

    The two are equal but where the search ends too early, or there is none (``search``): then the first is
    that of the best selection found, and no selection has more than the second.

    Below 1 where the budget is too small, or where no sentence covers some aspect (and the denominator is
    ``"all"``); ``None`` where there is nothing to cover. `SettingError` for a negative budget or an unknown
    denominator.
    """
    n_aspects = n_counted(covers, denominator)
    if not n_aspects:
        return None
    check_budget(budget)
    n_coverable = sum(map(bool, covers))
    if budget is None or budget >= n_coverable:
        return n_coverable / n_aspects, n_coverable / n_aspects
    picks, most = _best(covers, budget, search)
    return covered_mask(picks).bit_count() / n_aspects, most / n_aspects


def _best(covers: Sequence[frozenset[int]], budget: int, search: bool = True) -> tuple[Sequence[Column], int]:
    """The best selection found, and how many aspects no selection of the budget can pass."""
    columns = _maximal_columns(_columns(covers))
    greedy = _greedy(columns, budget)
    n_greedy, most = covered_mask(greedy).bit_count(), _most_covered(columns, greedy, budget)
    if n_greedy >= most or not search or len(columns) * len(covers) > _MOST_CELLS:
        return greedy, most
    picks, bound = largest_coverage(tuple(columns), len(covers), budget)
    return (picks if covered_mask(picks).bit_count() >= n_greedy else greedy), min(most, bound)


def _columns(covers: Sequence[frozenset[int]]) -> list[Column]:
    """The sentences that cover something, in the order of the paper."""
    masks: dict[int, int] = {}
    for position, cover in enumerate(covers):
        for sentence in cover:
            masks[sentence] = masks.get(sentence, 0) | 1 << position
    return sorted(masks.items())


def covered_mask(columns: Iterable[Column]) -> int:
    """The aspects that any of the columns covers, as bits."""
    mask = 0
    for _, aspects in columns:
        mask |= aspects
    return mask


def _maximal_columns(columns: list[Column]) -> list[Column]:
    """The columns without those whose aspects another one covers too (of equals the first stays)."""
    kept: list[Column] = []
    for sentence, mask in sorted(columns, key=lambda column: (-column[1].bit_count(), column[0])):
        if all(mask & ~other for _, other in kept):
            kept.append((sentence, mask))
    return sorted(kept)


def _greedy(columns: list[Column], budget: int | None) -> list[Column]:
    check_budget(budget)
    limit = len(columns) if budget is None else budget
    todo = covered_mask(columns)
    picks: list[Column] = []
    while todo and len(picks) < limit:
        best = max(columns, key=lambda column: (column[1] & todo).bit_count())  # the first of equals
        picks.append(best)
        todo &= ~best[1]
    return picks


def _least_picks(columns: list[Column], n_aspects: int) -> int:
    """A lower bound of the optimal cover: aspects of which no sentence covers two need a pick each."""
    rows = [sum(1 << i for i, (_, mask) in enumerate(columns) if mask >> j & 1) for j in range(n_aspects)]
    used = picks = 0
    for row in sorted(filter(None, rows), key=int.bit_count):
        if not row & used:
            used |= row
            picks += 1
    return picks


def _most_covered(columns: list[Column], greedy: list[Column], budget: int) -> int:
    """An upper bound of the coverage at ``budget``.

    Coverage is submodular: no selection covers more than what the first few greedy picks cover plus
    the ``budget`` largest gains on top of them.
    """
    bound = covered_mask(columns).bit_count()
    for n_picks in range(len(greedy) + 1):
        covered = covered_mask(greedy[:n_picks])
        gains = sorted(((mask & ~covered).bit_count() for _, mask in columns), reverse=True)
        bound = min(bound, covered.bit_count() + sum(gains[:budget]))
    return bound


def _useful(picks: Sequence[Column]) -> list[Column]:
    """The picks without those that could be left out one after the other, last first."""
    kept = list(picks)
    for pick in reversed(picks):
        others = [column for column in kept if column != pick]
        if not pick[1] & ~covered_mask(others):
            kept = others
    return kept


def _indices(picks: Iterable[Column]) -> tuple[int, ...]:
    return tuple(sorted(sentence for sentence, _ in picks))


@lru_cache(maxsize=4096)
def smallest_cover(columns: tuple[Column, ...], n_aspects: int) -> tuple[Column, ...]:
    """As few columns as are found that cover every aspect that a column covers; none where none were found.

    Minimise ``sum x_i`` with ``sum over the columns i that cover j of x_i >= 1`` for every aspect j.
    """
    from scipy.optimize import LinearConstraint

    rows = _incidence(columns, n_aspects)
    rows = rows[rows.any(axis=1)]
    constraint = LinearConstraint(rows, lb=1.0)
    values, _ = _solution(np.ones(len(columns)), constraint, np.ones(len(columns), dtype=np.int64))
    return _selection(columns, values)


@lru_cache(maxsize=4096)
def largest_coverage(
    columns: tuple[Column, ...], n_aspects: int, budget: int
) -> tuple[tuple[Column, ...], int]:
    """At most ``budget`` columns that together cover as many aspects as is found, and how many can be at most.

    Maximise ``sum y_j`` with ``y_j <= sum over the columns i that cover j of x_i``, ``sum x_i <= budget``.
    The y need not be declared whole: with whole x they are at an optimum.
    """
    from scipy.optimize import LinearConstraint

    n_columns = len(columns)
    rows = np.hstack([_incidence(columns, n_aspects), -np.eye(n_aspects)])
    limit = np.concatenate([np.ones(n_columns), np.zeros(n_aspects)])
    constraint = LinearConstraint(
        np.vstack([rows, -limit]),
        lb=np.concatenate([np.zeros(n_aspects), [-float(budget)]]),
    )
    values, bound = _solution(limit - 1.0, constraint, limit.astype(np.int64))
    return _selection(columns, values), n_aspects if bound is None else floor(1e-6 - bound)


def _incidence(columns: tuple[Column, ...], n_aspects: int) -> NDArray[np.float64]:
    """Shape (n_aspects, n_columns), 1.0 where the column covers the aspect."""
    return np.array([[float(mask >> j & 1) for _, mask in columns] for j in range(n_aspects)]).reshape(
        n_aspects, len(columns)
    )


def _solution(
    costs: NDArray[np.float64], constraint: LinearConstraint, integrality: NDArray[np.int64]
) -> tuple[NDArray[np.float64], float | None]:
    """The variables, all between 0 and 1, that minimise the costs under the constraint, and a bound of the costs.

    None and no bound where the search has ended before there were any.
    """
    from scipy.optimize import Bounds, milp

    result = milp(
        costs,
        integrality=integrality,
        bounds=Bounds(0.0, 1.0),
        constraints=constraint,
        options={"mip_rel_gap": 0.0, "node_limit": _MOST_NODES, "time_limit": _MOST_SECONDS},
    )
    if result.status in (2, 3):  # both programs have a solution, so this is a fault of the solver
        raise RuntimeError(f"HiGHS did not solve a cover program: {result.message}")
    values: NDArray[np.float64] = np.empty(0) if result.x is None else result.x
    return values, result.fun if result.success else result.mip_dual_bound


def _selection(columns: tuple[Column, ...], values: NDArray[np.float64]) -> tuple[Column, ...]:
    return tuple(column for column, value in zip(columns, values, strict=False) if value > 0.5)
