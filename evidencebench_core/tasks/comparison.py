"""Two scores on one task, paired by instance."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from evidencebench_core.errors import SettingError
from evidencebench_core.stats import PairedComparison, compare_paired
from evidencebench_core.tasks.scoring import Score
from evidencebench_core.tasks.task import Task

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreComparison(PairedComparison):
    """System a against system b on one task: Aspect Recall over the instances that both were scored on.

    Attributes
    ----------
    task : Task
    only_in_a, only_in_b : tuple of str
        Ids of the instances scored in one only; they count for nothing here.
    sufficient : bool
        Whether the gold is sufficient, not complete.
    """

    task: Task
    only_in_a: tuple[str, ...]
    only_in_b: tuple[str, ...]
    sufficient: bool = False

    def as_dict(self) -> dict[str, Any]:
        """As JSON-able values; ``sufficient_gold`` where it is true."""
        values = asdict(self) | {"task": self.task.name}
        lists = {name: list(value) for name, value in values.items() if isinstance(value, tuple)}
        if values.pop("sufficient"):
            values["sufficient_gold"] = True
        return {"task": self.task.name} | values | lists

    def to_pandas(self) -> pd.DataFrame:
        """One row with the numbers; the ends of the interval are ``low`` and ``high``."""
        import pandas as pd  # here: most commands print a comparison without it

        low, high = self.ci95 or (None, None)
        values = self.as_dict() | {"low": low, "high": high}
        return pd.DataFrame([values]).drop(columns=["ci95", "only_in_a", "only_in_b"])


def compare_scores(a: Score, b: Score, seed: int = 0) -> ScoreComparison:
    """Compare two scores, paired over the instances scored in both.

    `SettingError` if they are of different tasks or denominators, so that their recalls mean different things.
    """
    if (a.task, a.denominator) != (b.task, b.denominator):
        raise SettingError(
            "compare_scores",
            f"a is {a.task.name} over {a.denominator} aspects, b is {b.task.name} over {b.denominator}",
            "Compare two scores of one task and one denominator.",
        )
    both = [name for name in a.per_instance if name in b.per_instance]
    paired = compare_paired(
        [a.per_instance[name] for name in both],
        [b.per_instance[name] for name in both],
        np.random.default_rng(seed),
    )
    return ScoreComparison(
        **{field.name: getattr(paired, field.name) for field in fields(paired)},
        task=a.task,
        only_in_a=tuple(name for name in a.per_instance if name not in b.per_instance),
        only_in_b=tuple(name for name in b.per_instance if name not in a.per_instance),
        sufficient=a.sufficient,
    )
