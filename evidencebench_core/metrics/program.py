"""Set cover and maximum coverage as integer programs, solved to optimality by HiGHS.

A *column* is ``(sentence index, mask of the aspects it covers)``, as in `evidencebench_core.metrics.cover`.
Solutions are remembered: a leaderboard asks for the same ceilings once per run.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from scipy.optimize import LinearConstraint

    from evidencebench_core.metrics.cover import Column

__all__ = ["largest_coverage", "smallest_cover"]


@lru_cache(maxsize=4096)
def smallest_cover(columns: tuple[Column, ...], n_aspects: int) -> tuple[Column, ...]:
    """As few columns as can be that cover every aspect that a column covers.

    Minimise ``sum x_i`` with ``sum over the columns i that cover j of x_i >= 1`` for every aspect j.
    """
    import numpy as np
    from scipy.optimize import LinearConstraint

    rows = _incidence(columns, n_aspects)
    rows = rows[rows.any(axis=1)]
    constraint = LinearConstraint(rows, lb=1.0)
    return _chosen(
        columns, _solution(np.ones(len(columns)), constraint, np.ones(len(columns), dtype=np.int64))
    )


@lru_cache(maxsize=4096)
def largest_coverage(columns: tuple[Column, ...], n_aspects: int, budget: int) -> tuple[Column, ...]:
    """At most ``budget`` columns that together cover as many aspects as can be.

    Maximise ``sum y_j`` with ``y_j <= sum over the columns i that cover j of x_i``, ``sum x_i <= budget``.
    The y need not be declared whole: with whole x they are at an optimum.
    """
    import numpy as np
    from scipy.optimize import LinearConstraint

    n_columns = len(columns)
    rows = np.hstack([_incidence(columns, n_aspects), -np.eye(n_aspects)])
    limit = np.concatenate([np.ones(n_columns), np.zeros(n_aspects)])
    constraint = LinearConstraint(
        np.vstack([rows, -limit]),
        lb=np.concatenate([np.zeros(n_aspects), [-float(budget)]]),
    )
    return _chosen(columns, _solution(limit - 1.0, constraint, limit.astype(np.int64)))


def _incidence(columns: tuple[Column, ...], n_aspects: int) -> NDArray[np.float64]:
    """Shape (n_aspects, n_columns), 1.0 where the column covers the aspect."""
    import numpy as np

    return np.array([[float(mask >> j & 1) for _, mask in columns] for j in range(n_aspects)]).reshape(
        n_aspects, len(columns)
    )


def _solution(
    costs: NDArray[np.float64], constraint: LinearConstraint, integrality: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The variables, all between 0 and 1, that minimise the costs under the constraint."""
    from scipy.optimize import Bounds, milp

    result = milp(
        costs,
        integrality=integrality,
        bounds=Bounds(0.0, 1.0),
        constraints=constraint,
        options={"mip_rel_gap": 0.0},
    )
    if not result.success:  # both programs have a solution, so this is a fault of the solver
        raise RuntimeError(f"HiGHS did not solve a cover program: {result.message}")
    values: NDArray[np.float64] = result.x
    return values


def _chosen(columns: tuple[Column, ...], values: NDArray[np.float64]) -> tuple[Column, ...]:
    return tuple(column for column, value in zip(columns, values, strict=False) if value > 0.5)
