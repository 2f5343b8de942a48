"""Two scores on one task, paired by instance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from evidencebench_core.errors import SettingError
from evidencebench_core.stats import paired
from evidencebench_core.tasks.scoring import Score
from evidencebench_core.tasks.task import Task

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreComparison:
    """System a against system b on one task: Aspect Recall over the instances that both were scored on.

    ``only_in_a`` and ``only_in_b`` are the instances scored in one only; they count for nothing here.
    """

    task: Task
    n: int
    mean_a: float | None
    mean_b: float | None
    mean_difference: float | None
    ci95: tuple[float, float] | None
    p_value: float | None
    wins: int
    ties: int
    losses: int
    only_in_a: tuple[str, ...]
    only_in_b: tuple[str, ...]
    sufficient: bool = False

    def as_dict(self) -> dict[str, Any]:
        """As JSON-able values; ``sufficient_gold`` where it is true."""
        values = asdict(self) | {"task": self.task.name}
        lists = {name: list(value) for name, value in values.items() if isinstance(value, tuple)}
        if values.pop("sufficient"):
            values["sufficient_gold"] = True
        return values | lists

    def to_pandas(self) -> pd.DataFrame:
        """One row with the numbers; the ends of the interval are ``low`` and ``high``."""
        import pandas as pd  # here: most commands print a comparison without it

        low, high = self.ci95 or (None, None)
        values = self.as_dict() | {"low": low, "high": high}
        return pd.DataFrame([values]).drop(columns=["ci95", "only_in_a", "only_in_b"])


def compare_scores(a: Score, b: Score, papers: Mapping[str, str] | None = None) -> ScoreComparison:
    """Compare two scores over the instances scored in both; ``papers`` (by instance) are drawn whole.

    `SettingError` if they are of different tasks.
    """
    if a.task != b.task:
        raise SettingError(
            "compare_scores",
            f"a is {a.task.name}, b is {b.task.name}",
            "Compare two scores of one task.",
        )
    both = [name for name in a.per_instance if name in b.per_instance]
    pair = paired(
        [a.per_instance[name] for name in both],
        [b.per_instance[name] for name in both],
        None if papers is None else [papers[name] for name in both],
    )
    low, high = pair.difference.low, pair.difference.high
    return ScoreComparison(
        task=a.task,
        n=pair.n,
        mean_a=pair.mean_a,
        mean_b=pair.mean_b,
        mean_difference=pair.difference.value,
        ci95=None if low is None or high is None else (low, high),
        p_value=pair.p,
        wins=pair.wins,
        ties=pair.ties,
        losses=pair.losses,
        only_in_a=tuple(name for name in a.per_instance if name not in b.per_instance),
        only_in_b=tuple(name for name in b.per_instance if name not in a.per_instance),
        sufficient=a.sufficient,
    )
