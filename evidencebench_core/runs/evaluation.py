"""Scores of runs and of predictions; `evaluate` runs a system over a dataset and scores it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias

from evidencebench_core.data.store import Store, open_store
from evidencebench_core.errors import RetrieverError, SettingError
from evidencebench_core.notebook import Tabular, interval_plot, table_html
from evidencebench_core.retrievers.own import OwnSystem, ranking_of_scores
from evidencebench_core.runs.execution import execute
from evidencebench_core.runs.model import RunInfo
from evidencebench_core.runs.planning import DEFAULT_TASKS, Plan, plan
from evidencebench_core.runs.store import RunStore
from evidencebench_core.tasks import Missing, Score, Task, score, task_named
from evidencebench_core.words import one_line

if TYPE_CHECKING:
    import pandas as pd

Predictions = Mapping[str, Sequence[int] | Mapping[str, float]]


def score_run(store: Store, run: RunLike, task: str | Task, missing: Missing = "report") -> Score:
    """The score of a run on a task, over its dataset or sample.

    Instances without an answer are left out of the mean and named (``missing="report"``), or counted as 0 (``"zero"``).
    """
    info = run if isinstance(run, RunInfo) else RunStore(store).run(run)
    runs, dataset = RunStore(store), store.dataset(info.dataset)
    gold = store.evidence_sets(dataset, runs.ids(info) if info.sample else None)
    answers = runs.selections(info, task) if info.has_picks else runs.recalls(info, task)
    papers, is_sufficient = store.paper_ids(dataset), dataset.sufficient
    return score(task, gold, answers, missing=missing, papers=papers, sufficient=is_sufficient)


def score_predictions(
    store: Store, dataset: str, predictions: Predictions, task: str | Task, missing: Missing = "report"
) -> Score:
    """The score of predictions by instance id: sentence indices, or a ranking as ``{index: score}``.

    A ranking is cut at K; of a list that is longer the expected recall of K of its sentences counts.
    `SelectionError` for instances that the dataset does not have, and for what is no index of a sentence.
    """
    chosen, info = task_named(task), store.dataset(dataset)
    gold = dict(store.evidence_sets(info))
    selections: dict[str, Any] = dict(predictions)
    for name, picks in predictions.items():
        if isinstance(picks, Mapping) and name in gold:
            ranking = ranking_of_scores(picks, gold[name].n_sentences, name)
            selections[name] = ranking.cut(chosen.budget_for(gold[name])).selection
    papers, is_sufficient = store.paper_ids(info), info.sufficient
    return score(chosen, gold.items(), selections, missing=missing, papers=papers, sufficient=is_sufficient)


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation(Tabular):
    """A run and its scores; accepted wherever the id of a run is."""

    run: RunInfo
    scores: tuple[Score, ...]
    failures: tuple[str, ...] = ()  # reasons why instances have no answer

    @property
    def id(self) -> str:
        return self.run.id

    def __repr__(self) -> str:
        scores = ", ".join(f"{score.task.title} {score.estimate.text()}" for score in self.scores)
        failures = f"; {len(self.failures):,} failed, the first: {self.failures[0]}" if self.failures else ""
        return one_line(f"run {self.run.id}: {self.run.label} over {self.run.dataset}: {scores}{failures}")

    def to_pandas(self) -> pd.DataFrame:
        """The scores, a row a task, as `Score.row` has them."""
        import pandas as pd

        return pd.DataFrame([score.row() for score in self.scores])

    def _repr_html_(self) -> str:
        import pandas as pd

        scores = table_html(pd.DataFrame([score.texts() for score in self.scores]))
        return f"<p>run {self.run.id}: {escape(one_line(f'{self.run.label} over {self.run.dataset}'))}</p>{scores}"

    def plot(self) -> Any:
        """A plotly figure of Aspect Recall on each task, with its interval."""
        return interval_plot(self.to_pandas(), f"{self.run.label} over {self.run.dataset}", ["recall"])


RunLike: TypeAlias = str | RunInfo | Evaluation
"""A run, its evaluation, its id or a prefix of that."""


def run(
    store: Store,
    dataset: str,
    retriever: str | OwnSystem,
    settings: Mapping[str, object] | None = None,
    tasks: Sequence[str | Task] = DEFAULT_TASKS,
    limit: int | None = None,
    **options: Any,
) -> RunInfo:
    """Plan and execute a run, and return it; the arguments are those of `plan`."""
    return _completed_run(plan(store, dataset, retriever, settings, tasks, limit, **options))


def _completed_run(planned: Plan) -> RunInfo:
    for _ in execute(planned):
        pass
    return RunStore(planned.store).run(planned.run_id)


def evaluate(
    system: Any,
    dataset: str,
    tasks: Sequence[str | Task] = DEFAULT_TASKS,
    *,
    name: str = "",
    settings: Mapping[str, object] | None = None,
    store: Store | None = None,
) -> Evaluation:
    """Run a system over a dataset of the store, keep it as a run, and score it.

    ``system`` is a retriever's name, which may have ``settings``; a function of a `Query` that returns scores, a
    ranking or a `Retrieval`; or an object with such a method ``rank``. It is asked once a hypothesis, paper and focus,
    and its ranking is cut at K; with an attribute ``by_budget`` that is true, once for each K. The run of a system of
    one's own is kept under ``name``; the same name again takes the place of what it answered before.

    `SettingError` if the system is none of these; `RetrieverError` if it failed on every instance.
    """
    store = open_store() if store is None else store
    if isinstance(system, str):
        info = run(store, dataset, system, settings, tasks)
    else:
        if settings:
            raise SettingError("settings", "are given to a system of one's own", "Set them where it is made.")
        planned = plan(store, dataset, OwnSystem(system, name), tasks=tasks, fresh=True)
        RunStore(store).clear(planned.run_id)  # its code may have changed
        info = _completed_run(planned)
    failures = RunStore(store).reasons(info)
    if failures and not info.n_answered:
        raise RetrieverError(f"run {info.id}", f"has no answer: {failures[0]}", "Mend the system.")
    return Evaluation(info, tuple(score_run(store, info, task) for task in tasks), tuple(failures))
