"""Many tests at once: p-values that allow for their number."""

from __future__ import annotations

from collections.abc import Sequence

from evidencebench_core.errors import SettingError, shown

__all__ = ["holm"]


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Holm's step-down adjustment: reject where it is at most alpha, and the family-wise error is alpha.

    Of m p-values the k-th smallest (k from 1) becomes the largest of ``(m - j + 1) * p_(j)`` over j up to
    k, at most 1.

    Parameters
    ----------
    p_values : sequence of float or None
        0 to 1. ``None`` is a test that could not be made: it stays ``None`` and does not count.

    Returns
    -------
    tuple of float or None
        In the same order.

    Raises
    ------
    SettingError
        If a p-value is not between 0 and 1.

    Notes
    -----
    Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6
    (1979), 65-70. It asks nothing of how the tests depend on each other.
    """
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    for p, place in known:
        if not 0.0 <= p <= 1.0:
            raise SettingError(f"p_values[{place}]", f"is {shown(p)}", "A p-value lies between 0 and 1.")
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(known):
        largest = max(largest, (len(known) - rank) * p)
        adjusted[place] = min(1.0, largest)
    return tuple(adjusted)
