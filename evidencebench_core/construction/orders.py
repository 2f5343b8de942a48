"""Systems under the golds of two models: does the order change? (construction rule 48)"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evidencebench_core.construction.quality import covers_of_both
from evidencebench_core.construction.state import BuildState
from evidencebench_core.data.gold import Gold
from evidencebench_core.data.model import Aspect, EvidenceSet
from evidencebench_core.errors import SettingError
from evidencebench_core.stats.correlation import RankCorrelation, rank_correlation
from evidencebench_core.tasks import Task, recalls_of, validated_selections


@dataclass(frozen=True, slots=True)
class SystemOrder:
    """Made by `system_order`.

    Attributes
    ----------
    n_instances : int
        That have something to cover in either gold, and a selection of every system.
    recalls : mapping of str to (float, float)
        By system the mean Aspect Recall under the first model's gold, and under the second's.
    correlation : RankCorrelation
        Of the two orders, with intervals over instances.
    """

    n_instances: int
    recalls: Mapping[str, tuple[float, float]]
    correlation: RankCorrelation


def system_order(
    states: Iterable[BuildState],
    selections: Mapping[str, Mapping[str, Sequence[int]]],
    task: Task,
    n_resamples: int = 10_000,
) -> SystemOrder:
    """The order of systems under either gold.

    Parameters
    ----------
    states : iterable of BuildState
    selections : mapping of str to mapping of str to sequence of int
        By system, and by build, which is the instance.
    task : Task
        With the same budget for either gold.

    Raises
    ------
    SettingError
        If the task's budget is the optimum of a gold, or no instance has all that is needed.
    """
    if task.budget == "optimal":
        raise SettingError(
            "task", f"{task.name} has another budget under each gold", "Take one such as er@10."
        )
    sets: tuple[list[tuple[str, EvidenceSet]], list[tuple[str, EvidenceSet]]] = ([], [])
    for state in states:
        both = _evidence_sets(state)
        if all(one.focused(task.focus) for one in both) and all(state.id in of for of in selections.values()):
            for golds, one in zip(sets, both, strict=True):
                golds.append((state.id, one))
    if not sets[0] or not selections:
        problem = "have no instance in common that both models judged"
        remedy = "Write the construction with `construct write`, ingest it, and run systems on it."
        raise SettingError("systems", problem, remedy)
    values = np.array([[_recalls(task, golds, of) for of in selections.values()] for golds in sets])
    means = values.mean(axis=2)
    return SystemOrder(
        len(sets[0]),
        {name: (float(means[0, row]), float(means[1, row])) for row, name in enumerate(selections)},
        rank_correlation(values[0], values[1], np.random.default_rng(0), n_resamples),
    )


def _recalls(
    task: Task, golds: Sequence[tuple[str, EvidenceSet]], selections: Mapping[str, Sequence[int]]
) -> np.ndarray:
    gold = Gold.of(golds).focused(task.focus)
    return recalls_of(task, gold, validated_selections(selections, gold))


def _evidence_sets(state: BuildState) -> tuple[EvidenceSet, EvidenceSet]:
    """The covered aspects by either model, as they would be written; no optimum is computed."""
    is_result = {one.number: bool(one.is_result) for one in state.aspects}
    n = len(state.pool.sentences) if state.pool else 0
    first, second = (
        tuple(
            Aspect(f"{state.id}_aspect_{number}", tuple(sorted(of[which])), is_result[number], "")
            for number, of in covers_of_both(state).items()
            if of[which]
        )
        for which in (0, 1)
    )
    return EvidenceSet(n, first, 0, None), EvidenceSet(n, second, 0, None)
