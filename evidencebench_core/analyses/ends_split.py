"""Which instances have their evidence at the ends of the paper, and which in between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evidencebench_core.errors import SettingError, shown

if TYPE_CHECKING:
    import pandas as pd

    from evidencebench_core.data.model import EvidenceSet
    from evidencebench_core.data.store import Store

__all__ = ["GROUPS", "EndsSplit", "Group", "ends_coverage", "group_frame"]

Group = Literal["above", "neither", "below"]
GROUPS: tuple[Group, ...] = ("above", "neither", "below")


@dataclass(frozen=True, slots=True)
class EndsSplit:
    """What counts as the ends, and as much and little.

    Attributes
    ----------
    head, tail : int
        How many sentences from the start and from the end; at least one of them not 0.
    above, below : float
        Instances in which the ends cover more than ``above`` of the aspects, or less than ``below`` of
        them, make the two groups; shares, ``0 <= below <= above <= 1``.

    Raises
    ------
    SettingError
        If a value is out of its range.
    """

    head: int = 10
    tail: int = 10
    above: float = 0.8
    below: float = 0.2

    def __post_init__(self) -> None:
        if self.head < 0 or self.tail < 0 or not self.head + self.tail:
            raise SettingError(
                "ends",
                f"are the first {shown(self.head)} and the last {shown(self.tail)} sentences",
                "Give numbers of 0 or more, not both 0.",
            )
        if not 0.0 <= self.below <= self.above <= 1.0:
            raise SettingError(
                "thresholds",
                f"are above {shown(self.above)} and below {shown(self.below)}",
                "Give shares from 0 to 1, below no larger than above.",
            )

    def group(self, coverage: float) -> Group:
        """The group of an instance by the share of its aspects that the ends cover."""
        return "above" if coverage > self.above else "below" if coverage < self.below else "neither"

    @property
    def rules(self) -> Mapping[Group, str]:
        """Each group in words."""
        where = f"first {self.head} and last {self.tail} sentences cover"
        return {
            "above": f"{where} over {100 * self.above:g}% of the aspects",
            "neither": "neither",
            "below": f"{where} under {100 * self.below:g}% of the aspects",
        }


def ends_coverage(evidence: EvidenceSet, head: int = 10, tail: int = 10) -> float | None:
    """Share (0 to 1) of all aspects, result aspects or not, that a sentence at the ends covers.

    ``None`` without aspects. Aspects that no sentence covers count in the denominator.
    """
    last = evidence.n_sentences - tail
    covered = [
        any(index < head or index >= last for index in aspect.sentence_indices) for aspect in evidence.aspects
    ]
    return sum(covered) / len(covered) if covered else None


def group_frame(
    store: Store,
    dataset: str,
    split: EndsSplit | None = None,
    gold: Sequence[tuple[str, EvidenceSet]] | None = None,
) -> pd.DataFrame:
    """Every instance with its group; ``gold`` are the dataset's evidence sets, where they are at hand.

    Returns
    -------
    DataFrame
        ``id``, ``paper`` (id), ``n_sentences``, ``coverage`` (0 to 1, NaN without aspects), ``group``
        (``"above"``, ``"neither"``, ``"below"``; ``None`` without aspects), in the order of the file.
    """
    import pandas as pd

    split = split or EndsSplit()
    rows: list[dict[str, Any]] = []
    for instance_id, evidence in store.evidence_sets(dataset) if gold is None else gold:
        coverage = ends_coverage(evidence, split.head, split.tail)
        group = None if coverage is None else split.group(coverage)
        rows.append(
            {
                "id": instance_id,
                "n_sentences": evidence.n_sentences,
                "coverage": float("nan") if coverage is None else coverage,
                "group": group,
            }
        )
    frame = pd.DataFrame(rows, columns=["id", "n_sentences", "coverage", "group"])
    frame.insert(1, "paper", [row.paper_id for row in store.rows(dataset, list(frame["id"]))])
    return frame
