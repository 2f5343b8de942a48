"""The best that any selection could do: optimal cover, best coverage at K, ceiling.

Greedy first; where a bound proves it optimal, that is the answer, otherwise an integer program (HiGHS). Inside,
aspects are bits: a sentence is a *candidate* ``(sentence index, mask of the aspects it covers)``.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import floor
from typing import Any, Final

import numpy as np

Candidate = tuple[int, int]

_OPTIONS: Final[Any] = {"mip_rel_gap": 0.0, "node_limit": 50}  # train needs 1 node
_MOST_ASPECTS: Final = 100  # beyond, only the relaxed program is solved: a bound, without a clock


def optimal_cover(covers: Sequence[frozenset[int]]) -> tuple[int, ...]:
    """A smallest selection (ascending) that covers every aspect that can be covered; empty where none can.

    If the search stops before that is proven, it is the smallest found.
    """
    candidates = _maximal(_candidates(covers))
    picks: Sequence[Candidate] = _greedy(candidates, None)
    if len(picks) > _least_picks(candidates, len(covers)):
        picks = _smallest(tuple(candidates), len(covers)) or picks
    return _indices(picks)


def best_cover(covers: Sequence[frozenset[int]], budget: int) -> tuple[int, ...]:
    """A selection (ascending) of at most ``budget`` sentences that covers as many aspects as any such selection can.

    Useless picks are left out, so there may be fewer. `ceiling_range` bounds how far it is from the best.
    """
    picks = list(_best(covers, budget)[0])
    for pick in reversed(picks):
        others = [candidate for candidate in picks if candidate != pick]
        if not pick[1] & ~_mask(others):
            picks = others
    return _indices(picks)


def ceiling_range(covers: Sequence[frozenset[int]], budget: int | None) -> tuple[float, float] | None:
    """The highest Aspect Recall (0 to 1) that a selection of at most ``budget`` sentences can have: at least, at most.

    The two differ only if the search stops early. ``None`` if there is nothing to cover.
    """
    if not covers:
        return None
    n_coverable = sum(map(bool, covers))
    if budget is None or budget >= n_coverable:
        return n_coverable / len(covers), n_coverable / len(covers)
    picks, bound = _best(covers, budget)
    return _mask(picks).bit_count() / len(covers), bound / len(covers)


def _best(covers: Sequence[frozenset[int]], budget: int) -> tuple[Sequence[Candidate], int]:
    """The best selection found, and how many aspects no selection of the budget can pass."""
    candidates = _maximal(_candidates(covers))
    greedy = _greedy(candidates, budget)
    n_greedy, bound = _mask(greedy).bit_count(), _most_covered(candidates, greedy, budget)
    if n_greedy >= bound:
        return greedy, bound
    picks, solver_bound = _largest(tuple(candidates), len(covers), budget)
    return (picks if _mask(picks).bit_count() >= n_greedy else greedy), min(bound, solver_bound)


def _candidates(covers: Sequence[frozenset[int]]) -> list[Candidate]:
    """The sentences that cover something, in the order of the paper."""
    masks: dict[int, int] = {}
    for position, cover in enumerate(covers):
        for sentence in cover:
            masks[sentence] = masks.get(sentence, 0) | 1 << position
    return sorted(masks.items())


def _maximal(candidates: list[Candidate]) -> list[Candidate]:
    """The candidates without those whose aspects another one covers too (of equals the first stays)."""
    maximal: list[Candidate] = []
    for sentence, mask in sorted(candidates, key=lambda candidate: -candidate[1].bit_count()):
        if all(mask & ~other for _, other in maximal):
            maximal.append((sentence, mask))
    return sorted(maximal)


def _greedy(candidates: list[Candidate], budget: int | None) -> list[Candidate]:
    """The picks, each what covers most of what is not covered yet; of equals the first in the paper."""
    limit = len(candidates) if budget is None else budget
    todo = _mask(candidates)
    picks: list[Candidate] = []
    while todo and len(picks) < limit:
        best = max(candidates, key=lambda candidate: (candidate[1] & todo).bit_count())
        picks.append(best)
        todo &= ~best[1]
    return picks


def _least_picks(candidates: list[Candidate], n_aspects: int) -> int:
    """A lower bound of the optimal cover: aspects of which no sentence covers two need a pick each."""
    rows = [sum(1 << i for i, (_, mask) in enumerate(candidates) if mask >> j & 1) for j in range(n_aspects)]
    used = n_picks = 0
    for row in sorted(filter(None, rows), key=int.bit_count):
        if not row & used:
            used |= row
            n_picks += 1
    return n_picks


def _most_covered(candidates: list[Candidate], greedy: list[Candidate], budget: int) -> int:
    """An upper bound of the coverage: what some greedy picks cover plus the ``budget`` largest gains on top.

    Coverage is submodular, so it holds after any number of greedy picks.
    """
    bound = _mask(candidates).bit_count()
    for n_picks in range(len(greedy) + 1):
        covered = _mask(greedy[:n_picks])
        gains = sorted(((mask & ~covered).bit_count() for _, mask in candidates), reverse=True)
        bound = min(bound, covered.bit_count() + sum(gains[:budget]))
    return bound


@lru_cache(maxsize=4096)
def _smallest(candidates: tuple[Candidate, ...], n_aspects: int) -> tuple[Candidate, ...]:
    """Minimise ``sum x_i`` so that every coverable aspect has a picked candidate."""
    incidence = _incidence(candidates, n_aspects)
    incidence = incidence[incidence.any(axis=1)]
    ones = np.ones(len(candidates))
    values, _ = _solution(ones, incidence, np.ones(len(incidence)), ones)
    return _selection(candidates, values)


@lru_cache(maxsize=4096)
def _largest(
    candidates: tuple[Candidate, ...], n_aspects: int, budget: int
) -> tuple[tuple[Candidate, ...], int]:
    """Maximise ``sum y_j`` with ``y_j <= sum over the candidates i that cover j of x_i`` and ``sum x_i <= budget``.

    The y need not be declared whole: with whole x they are at an optimum.
    """
    is_candidate = np.concatenate([np.ones(len(candidates)), np.zeros(n_aspects)])
    rows = np.vstack([np.hstack([_incidence(candidates, n_aspects), -np.eye(n_aspects)]), -is_candidate])
    least = np.concatenate([np.zeros(n_aspects), [-float(budget)]])
    values, bound = _solution(is_candidate - 1.0, rows, least, is_candidate)
    return _selection(candidates, values), n_aspects if bound is None else floor(1e-6 - bound)


def _solution(costs: Any, rows: Any, least: Any, integrality: Any) -> tuple[Any, float | None]:
    """The variables, 0 or 1, of least cost with ``rows @ x >= least``, and a bound of the cost; none if too large."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    is_whole = len(rows) <= _MOST_ASPECTS
    result = milp(
        costs,
        integrality=integrality if is_whole else None,
        bounds=Bounds(0.0, 1.0),
        constraints=LinearConstraint(rows, lb=least),
        options=_OPTIONS,
    )
    values = result.x if is_whole and result.x is not None else np.empty(0)
    return values, result.fun if result.success else result.mip_dual_bound


def _incidence(candidates: tuple[Candidate, ...], n_aspects: int) -> Any:
    """Shape (n_aspects, n_candidates), 1.0 where the candidate covers the aspect."""
    return np.array([[float(mask >> j & 1) for _, mask in candidates] for j in range(n_aspects)])


def _selection(candidates: tuple[Candidate, ...], values: Any) -> tuple[Candidate, ...]:
    return tuple(candidate for candidate, value in zip(candidates, values, strict=False) if value > 0.5)


def _mask(candidates: Iterable[Candidate]) -> int:
    """The aspects that any of the candidates covers, as bits."""
    mask = 0
    for _, aspects in candidates:
        mask |= aspects
    return mask


def _indices(picks: Iterable[Candidate]) -> tuple[int, ...]:
    return tuple(sorted(sentence for sentence, _ in picks))
