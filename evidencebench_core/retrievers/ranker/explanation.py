"""Why a sentence was picked, as data that pages and reports can draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from evidencebench_core.retrievers.ranker.features import FEATURES, GROUPS
from evidencebench_core.retrievers.ranker.model import COLUMNS, MEANING
from evidencebench_core.retrievers.ranker.selection import Pick

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["GROUP_OF", "explained"]

GROUP_OF: Final[Mapping[str, str]] = {
    **{name: group for group, names in GROUPS.items() for name in names},
    **dict.fromkeys((*COLUMNS[len(FEATURES) :], MEANING), "what it says"),
}
"""The group of every column, the linear model of the embeddings included."""

_NAMES: Final = (*COLUMNS, MEANING)
_MOST: Final = 6


def explained(
    picks: Sequence[Pick],
    scores: NDArray[np.float64],
    columns: NDArray[np.float32],
    contributions: NDArray[np.float64],
) -> dict[str, dict[str, object]]:
    """Why each pick was picked.

    Parameters
    ----------
    picks : sequence of Pick
    scores : array of shape (n,)
        Of the whole pool, in standard deviations over the paper.
    columns : array of shape (len(picks), at least len(FEATURES))
    contributions : array of shape (len(picks), len(COLUMNS) + 1) or (len(picks), len(FEATURES))
        From `RankerModel.contributions`; or of the features alone.

    Returns
    -------
    dict
        By sentence index as text: ``score``; ``place``, its rank by score alone, from 1; ``gain`` and
        ``repeated`` as in `Pick`; ``groups``, what each group of features adds to the score; ``features``,
        the six that add or take most, each as [name, value, contribution]. JSON values, rounded.
    """
    import numpy as np

    places = np.empty(len(scores), dtype=int)
    places[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    found: dict[str, dict[str, object]] = {}
    for row, pick in enumerate(picks):
        adds = contributions[row]
        groups: dict[str, float] = {}
        for name, amount in zip(_NAMES, adds, strict=False):
            groups[GROUP_OF[name]] = groups.get(GROUP_OF[name], 0.0) + float(amount)
        most = [int(place) for place in np.argsort(-np.abs(adds[: len(FEATURES)]), kind="stable")[:_MOST]]
        found[str(pick.sentence)] = {
            "score": round(float(scores[pick.sentence]), 3),
            "place": int(places[pick.sentence]),
            "gain": round(pick.gain, 4),
            "repeated": round(pick.repeated, 3),
            "groups": {name: round(amount, 3) for name, amount in groups.items()},
            "features": [
                [FEATURES[place], round(float(columns[row, place]), 3), round(float(adds[place]), 3)]
                for place in most
            ],
        }
    return found
