"""Conditions that instances meet: a recall of a run on a task, or a slice of the dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import orjson
from numpy.typing import NDArray

from evidencebench_core.analyses.slices import Slices, slices_of
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, did_you_mean, shown
from evidencebench_core.runs import score_run
from evidencebench_core.tasks import Score, task_named

RELATIONS: Final[Mapping[str, str]] = {
    "<": "is below", "<=": "is at most", "=": "is", ">=": "is at least", ">": "is above", "between": "is between",
}  # fmt: skip
MOST: Final = 12
_LONGEST: Final = 4_000  # characters of a text of conditions
_AS_SHOWN: Final = 0.05 + 1e-9  # percent: recalls are shown, and so compared, with one decimal

Recalls = NDArray[np.float64]  # one for each instance of a dataset, 0 to 1; NaN where it is not scored


@dataclass(frozen=True, slots=True)
class ScoreCondition:
    """Aspect Recall of a run on a task, compared as it is shown: in percent, with one decimal.

    ``between`` has both ends in it, and is the only relation with an ``upper`` end.
    """

    run: str
    task: str
    relation: str  # one of `RELATIONS`
    value: float  # percent
    upper: float | None = None

    def holds(self, recalls: Recalls) -> NDArray[np.bool_]:
        """Where it does; not where a recall is NaN."""
        percent = 100 * recalls
        level = np.abs(percent - self.value) <= _AS_SHOWN
        below, above = (percent < self.value) & ~level, (percent > self.value) & ~level
        if self.relation == "between":
            upper = self.value if self.upper is None else self.upper
            return (above | level) & (percent <= upper + _AS_SHOWN)
        return {"<": below, "<=": below | level, "=": level, ">=": above | level, ">": above}[self.relation]


@dataclass(frozen=True, slots=True)
class SliceCondition:
    """Instances of a slice that `slices_of` makes of the whole dataset for ER@Optimal."""

    family: str
    name: str

    def holds(self, families: Mapping[str, Slices]) -> NDArray[np.bool_]:
        """`SettingError` for a slice that there is not."""
        slices = families.get(self.family)
        if slices is None:
            remedy = f"{did_you_mean(self.family, families)}There are: {', '.join(families) or 'none'}."
            raise SettingError(f"slices by {shown(self.family)}", "cannot be made for this dataset", remedy)
        if self.name not in slices:
            there = f"There are: {', '.join(slices)}."
            raise SettingError(f"slice {shown(self.name)} of {self.family}", "is not there", there)
        return slices[self.name]


Condition = ScoreCondition | SliceCondition


def conditions_text(conditions: Sequence[Condition]) -> str:
    """The conditions as a link has them; `conditions_from` reads it."""
    lists = [
        ["slice", one.family, one.name]
        if isinstance(one, SliceCondition)
        else [
            "score",
            one.run,
            one.task,
            one.relation,
            one.value,
            *([] if one.upper is None else [one.upper]),
        ]
        for one in conditions
    ]
    return orjson.dumps(lists).decode() if lists else ""


def conditions_from(text: str) -> tuple[tuple[Condition, ...], tuple[str, ...]]:
    """The conditions of a text, each once, and what is wrong with those that are none, a line each."""
    if not text:
        return (), ()
    try:
        lists = orjson.loads(text) if len(text) <= _LONGEST else None  # refuses halves of surrogate pairs
    except ValueError:
        lists = None
    if not isinstance(lists, list):
        return (), ("The conditions of the link cannot be read: they are left out.",)
    conditions: list[Condition] = []
    problems: list[str] = []
    for number, one in enumerate(lists[:MOST], start=1):
        try:
            conditions.append(_condition(one))
        except SettingError as error:
            problems.append(f"Condition {number} of the link is left out: {error}")
    if len(lists) > MOST:
        problems.append(f"The link has {len(lists):,} conditions: the first {MOST} are taken.")
    return tuple(dict.fromkeys(conditions)), tuple(problems)


def _condition(parts: object) -> Condition:
    if isinstance(parts, list) and parts[:1] == ["slice"] and [type(part) for part in parts] == [str] * 3:
        return SliceCondition(parts[1], parts[2])
    if not (isinstance(parts, list) and parts[:1] == ["score"] and [type(p) for p in parts[:4]] == [str] * 4):
        raise SettingError(shown(parts), "is neither a score nor a slice", "Set it again.")
    _, run, task, relation, *values = parts
    if relation not in RELATIONS:
        raise SettingError(f"relation {shown(relation)}", "is unknown", f"Known: {', '.join(RELATIONS)}.")
    if len(values) != (2 if relation == "between" else 1) or not all(map(_is_percent, values)):
        raise SettingError(
            f"{relation} {shown(values)}", "is not in percent", "Give numbers from 0 to 100, two for between."
        )
    return ScoreCondition(run, task_named(task).name, relation, *map(float, values))


def _is_percent(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 100


def meeting(
    conditions: Sequence[Condition],
    n: int,
    recalls: Callable[[ScoreCondition], Recalls],
    families: Callable[[], Mapping[str, Slices]],
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which of ``n`` instances meet all conditions, and which meet the others but lack a score."""
    met, scored = np.ones(n, dtype=bool), np.ones(n, dtype=bool)
    for condition in conditions:
        if isinstance(condition, SliceCondition):
            met &= condition.holds(families())
        else:
            values = recalls(condition)
            unknown = np.isnan(values)
            scored &= ~unknown
            met &= unknown | condition.holds(values)
    return met & scored, met & ~scored


def recalls_of(score: Score, ids: Iterable[str]) -> Recalls:
    """The recalls of a score in the order of the dataset's ids."""
    return np.array([score.per_instance.get(one, np.nan) for one in ids], dtype=np.float64)


def dataset_slices(store: Store, dataset: str) -> tuple[dict[str, Slices], tuple[str, ...]]:
    """The slices of a whole dataset that conditions name, and which were left out and why."""
    return slices_of(store, dataset, store.ids(dataset), task_named("er@optimal"))


def instances_meeting(store: Store, dataset: str, conditions: Sequence[Condition]) -> tuple[str, ...]:
    """Ids of the instances that meet all conditions, in the order of the file.

    Raises
    ------
    UnknownNameError, SettingError
        No such dataset, run, task or slice.
    """
    ids = store.ids(dataset)
    met, _ = meeting(
        conditions,
        len(ids),
        lambda condition: recalls_of(score_run(store, condition.run, condition.task), ids),
        lambda: dataset_slices(store, dataset)[0],
    )
    return tuple([ids[row] for row in np.flatnonzero(met).tolist()])
