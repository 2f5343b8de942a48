"""Runs in the store -> scores, the card of a model, and two models task by task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.reliability.items import item_set_info, item_sets
from evidencebench_core.reliability.judge import Judgements
from evidencebench_core.reliability.paired import Paired
from evidencebench_core.reliability.runs import (
    ReliabilityRun,
    items_of,
    judge_runs,
    reliability_run,
    reliability_runs,
    results_of,
    run_probes,
)
from evidencebench_core.reliability.score import TaskRun, TaskScore, compare_scores, plain, task_score
from evidencebench_core.reliability.tasks import RELIABILITY_TASKS, ReliabilityTask
from evidencebench_core.stats import holm


@dataclass(frozen=True, slots=True)
class SeedSpread:
    """The figure over runs that differ in their seed alone; ``sd`` with ddof 1."""

    n: int
    mean: float
    sd: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class CardRow:
    """A task of a model's card."""

    task: ReliabilityTask
    differs: Mapping[str, Any]  # settings other than the defaults
    score: TaskScore  # of the lowest seed
    p_holm: float | None  # against the baseline, corrected for all rows
    seeds: SeedSpread | None


@dataclass(frozen=True, slots=True)
class Card:
    """A model on the tasks of an item set, in the order of `RELIABILITY_TASKS`."""

    items: str
    model: str
    as_published: bool
    rows: tuple[CardRow, ...]

    def as_dict(self) -> dict[str, Any]:
        """JSON-able values."""
        rows = [
            {
                "number": row.task.number,
                "title": row.task.title,
                "differs": plain(row.differs),
                "p_holm": row.p_holm,
                "seeds": plain(row.seeds),
                **row.score.as_dict(),
            }
            for row in self.rows
        ]
        return {"items": self.items, "model": self.model, "as_published": self.as_published, "tasks": rows}


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """Two models on one task: the first minus the second. ``p_holm`` is corrected for all tasks compared.

    ``paired`` is ``None`` where the two cannot be compared, for the reason in ``problem``.
    """

    task: ReliabilityTask
    differs: Mapping[str, Any]
    value_a: float | None
    value_b: float | None
    paired: Paired | None
    p_holm: float | None
    problem: str = ""


def run_score(store: Store, run_id: str, judge_run: str | None = None) -> TaskScore:
    """The score of a run in the store.

    The baseline is that of the same model, items and construction; free texts are read by the last judge that was
    asked about the run, or by ``judge_run``. The id of a judge's run gives the score of the run it judged, by it.
    """
    run = reliability_run(store, run_id)
    if run.judged:
        return run_score(store, run.judged, run.id)
    return _score(store, run, {}, judge_run)


def compare_runs(store: Store, a: str, b: str) -> Paired:
    """Two runs of one task, say of two models: a minus b; see `compare_scores`."""
    return compare_scores(run_score(store, a), run_score(store, b))


def model_card(store: Store, items: str, model: str, as_published: bool = False) -> Card:
    """Every task that a model was asked of an item set, once for each of the settings it was asked with."""
    scored: dict[str, TaskScore] = {}
    groups = _groups(reliability_runs(store, items), model, as_published)
    found = []
    for runs in groups.values():
        scores = [_score(store, run, scored) for run in runs]
        values = [score.value.value for score in scores if score.value.value is not None]
        spread = None
        if len(values) > 1:
            spread = SeedSpread(len(values), fmean(values), stdev(values), min(values), max(values))
        found.append((runs[0], scores[0], spread))
    p_values = holm([score.baseline.p_value if score.baseline else None for _, score, _ in found])
    rows = tuple(
        CardRow(run.task, _differs(run), score, p, spread)
        for (run, score, spread), p in zip(found, p_values, strict=True)
    )
    return Card(item_set_info(store, items).name, model, as_published, rows)


def compare_models(
    store: Store, items: str, a: str, b: str, as_published: bool = False
) -> tuple[ComparisonRow, ...]:
    """Two models task by task on the same probes; `SettingError` if no task was asked of both in the same way."""
    runs = reliability_runs(store, items)
    of_a, of_b = (_groups(runs, model, as_published) for model in (a, b))
    scored: dict[str, TaskScore] = {}
    found = []
    for key in (key for key in of_a if key in of_b):
        one, other = of_a[key][0], of_b[key][0]
        judges = _common_judge(store, one, other)
        score_a = _score(store, one, scored, judges[0])
        score_b = _score(store, other, scored, judges[1])
        pair, problem = None, ""
        try:
            pair = compare_scores(score_a, score_b)
        except SettingError as error:
            problem = f"{error.problem}. {error.remedy}"
        found.append((one, score_a.value.value, score_b.value.value, pair, problem))
    if not found:
        problem = f"no task was asked of both {shown(a)} and {shown(b)} with the same settings"
        raise SettingError(f"item set {shown(items)}", problem, "Run a task for both models.")
    p_values = holm([pair.p_value if pair else None for *_, pair, _ in found])
    return tuple(
        ComparisonRow(run.task, _differs(run), one, other, pair, p, problem)
        for (run, one, other, pair, problem), p in zip(found, p_values, strict=True)
    )


def _common_judge(store: Store, one: ReliabilityRun, other: ReliabilityRun) -> tuple[str | None, str | None]:
    """The judge's runs about both, of the last judge that both have; else of each its own."""
    of_one, of_other = (
        {judge.model: judge.id for judge in judge_runs(store, run.id) if judge.n_answered}
        for run in (one, other)
    )
    common = [model for model in of_one if model in of_other]
    return (of_one[common[-1]], of_other[common[-1]]) if common else (None, None)


# -- which runs belong together -------------------------------------------------------------------


def _groups(
    runs: Sequence[ReliabilityRun], model: str, as_published: bool
) -> dict[str, list[ReliabilityRun]]:
    """Runs that differ in their seed alone, the lowest first; of one seed the latest. In the order of the tasks."""
    latest = {
        (_kind(run), run.settings.get("seed")): run
        for run in runs
        if (run.model, run.as_published) == (model, as_published)
    }
    places = list(RELIABILITY_TASKS)
    groups: dict[str, list[ReliabilityRun]] = {}
    for run in sorted(latest.values(), key=lambda run: (places.index(run.task.name), _kind(run))):
        groups.setdefault(_kind(run), []).append(run)
    return {
        kind: sorted(some, key=lambda run: run.settings.get("seed") or 0) for kind, some in groups.items()
    }


def _kind(run: ReliabilityRun) -> str:
    return f"{run.task.name} {sorted(_differs(run).items())}"


def _differs(run: ReliabilityRun) -> dict[str, Any]:
    """Settings other than the defaults, seed and what is filled in by itself apart; none as published."""
    if run.as_published:
        return {}
    return {
        name: run.settings[name]
        for name, spec in run.task.settings.items()
        if name != "seed" and not spec.derived and run.settings[name] != spec.default
    }


def _score(
    store: Store, run: ReliabilityRun, scored: dict[str, TaskScore], judge_run: str | None = None
) -> TaskScore:
    """Its score, and that of its baseline, each once."""
    if run.id in scored:
        return scored[run.id]
    items = items_of(store, run)
    baselines = [
        other
        for other in reliability_runs(store, items.name)
        if (other.task.name, other.model, other.as_published) == ("baseline", run.model, run.as_published)
        and other.n_answered
    ]
    baseline = None
    if baselines and run.task.name != "baseline":
        same_request = [other for other in baselines if other.request == run.request]
        baseline = _score(store, (same_request or baselines)[-1], scored)
    of = TaskRun(
        run.task, items, run_probes(store, run), results_of(store, run), run.id, run.model, run.settings
    )
    scored[run.id] = task_score(of, baseline, _judgements(store, run, judge_run))
    return scored[run.id]


def _judgements(store: Store, run: ReliabilityRun, judge_run: str | None) -> Judgements | None:
    """The judge's labels, and its own answers to pairs of statements, where it was asked about them."""
    judges = [
        one
        for one in judge_runs(store, run.id)
        if one.id == judge_run or (judge_run is None and one.n_answered)
    ]
    if not judges:
        return None
    judge = judges[-1]
    results = results_of(store, judge)
    for info in reversed([one for one in item_sets(store) if one.kind == "pairs"]):
        pairs = [one for one in reliability_runs(store, info.name) if one.model == judge.model]
        if pairs:
            return Judgements(judge.id, judge.model, results, _score(store, pairs[-1], {}).reads, info.name)
    return Judgements(judge.id, judge.model, results)
