"""What each part of the ranker is worth: the same without it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from evidencebench_core.retrievers.ranker.features import FEATURES, GROUPS
from evidencebench_core.retrievers.ranker.model import COLUMNS, Selecting
from evidencebench_core.retrievers.ranker.training import Training

__all__ = ["ABLATIONS", "Ablation", "refits"]

_TOPICS: Final = tuple(range(len(FEATURES), len(COLUMNS)))
_TREES: Final = ("evidence", "aspects", "share")


@dataclass(frozen=True, slots=True)
class Ablation:
    """The ranker without a part.

    Attributes
    ----------
    name : str
    without : tuple of int
        Columns that are left out: it is fitted anew.
    weights : mapping of str to float
        Members that count otherwise: the fit is the same.
    selecting : Selecting or None
        Another selection step.
    """

    name: str
    without: tuple[int, ...] = ()
    weights: Mapping[str, float] | None = None
    selecting: Selecting | None = None

    def training(self, whole: Training) -> Training:
        """How it is fitted."""
        return replace(whole, without=self.without)


ABLATIONS: Final[tuple[Ablation, ...]] = (
    *(
        Ablation(f"without {group}", tuple(COLUMNS.index(name) for name in names))
        for group, names in GROUPS.items()
    ),
    Ablation("without topics of the embedding", _TOPICS),
    Ablation("without topics and embedding", _TOPICS, {"embedding": 0.0}),
    *(Ablation(f"without member {name}", weights={name: 0.0}) for name in (*_TREES, "features", "embedding")),
    Ablation("without trees", weights=dict.fromkeys(_TREES, 0.0)),
    # nothing is taken from sentences that are not the same, so the scores alone decide
    Ablation("without selection step", selecting=Selecting(closeness=1e6, reach=0.0)),
    Ablation("selection for coverage alone", selecting=Selecting(reach=1.0)),
)
"""One part at a time: groups of features, members, the selection step."""


def refits(ablations: tuple[Ablation, ...] = ABLATIONS) -> int:
    """How many of them are fitted anew."""
    return len({one.without for one in ablations if one.without})
