"""One retriever over several variants of a dataset: running what is missing, reading what is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError
from evidencebench_core.llm import LLM
from evidencebench_core.metrics import expected_recall
from evidencebench_core.retrievers import full_settings
from evidencebench_core.runs import RunSpec, RunStore, Step, Variant, execute, plan, run_label
from evidencebench_core.tasks import Task


@dataclass(frozen=True, slots=True)
class Setup:
    """A retriever over a dataset, on a task; settings are those that differ from the defaults."""

    dataset: str
    retriever: str
    settings: Mapping[str, object]
    task: Task

    @property
    def label(self) -> str:
        """As that of its run over the original hypotheses."""
        return run_label(self.retriever, full_settings(self.retriever, self.settings))

    def run_id(self, store: Store, variant: Variant | None) -> str:
        """The id that its run over a variant has or would have; ``None`` stands for the original."""
        settings = full_settings(self.retriever, self.settings)
        name, digest = (variant.name, variant.digest) if variant else ("", "")
        return RunSpec(store.dataset(self.dataset).sha256, self.retriever, settings, name, digest).id


def setups_of(store: Store, runs: Sequence[str], task: Task) -> tuple[Setup, ...]:
    """The setups of runs over the original instances, each once."""
    infos = {run.id: run for run in map(RunStore(store).run, runs)}
    for run in infos.values():
        if run.variant:
            raise SettingError(
                f"run {run.id}",
                f"is itself one over a variant, {run.variant}",
                "Name the run over the original hypotheses: `evidencebench list runs` lists them.",
            )
    return tuple(Setup(run.dataset, run.retriever, run.settings, task) for run in infos.values())


def n_unanswered(
    store: Store, setup: Setup, variants: Sequence[Variant | None], limit: int | None = None
) -> int:
    """How many instances, over all variants together, still have to be asked; of the first ``limit`` if given."""
    scorable, runs = _scorable(store, setup, limit), RunStore(store)
    return sum(
        len(_ids_with(scorable, variant) - runs.done(setup.run_id(store, variant), setup.task.name))
        for variant in variants
    )


def run_variants(
    store: Store,
    setup: Setup,
    variants: Sequence[Variant | None],
    cancelled: Callable[[], bool] | None = None,
    *,
    llm: LLM | None = None,
    limit: int | None = None,
) -> Iterator[Step]:
    """Ask whatever is missing, variant by variant; resumes like `execute`, and raises what it does.

    Yields once before each variant, then after every instance. ``limit`` asks only the first so many
    instances of the dataset, the same for every variant.
    """
    scorable = _scorable(store, setup, limit)
    sizes = [len(_ids_with(scorable, variant)) for variant in variants]
    for number, variant in enumerate(variants):
        planned = plan(
            store,
            setup.dataset,
            setup.retriever,
            setup.settings,
            (setup.task,),
            limit,
            variant=variant,
            llm=llm,
        )
        for progress in execute(planned, cancelled=cancelled):
            failed = f", {progress.failed:,} failed" if progress.failed else ""
            text = f"{variant.name if variant else 'original'}{failed}"
            yield Step(text, sum(sizes[:number]) + progress.done, sum(sizes), "instances")
        if cancelled is not None and cancelled():
            return


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The answers of a run over one variant.

    Attributes
    ----------
    name : str
        Of the variant; ``"original"`` without one.
    frame : DataFrame
        By the ids of the answered instances, in the order of the dataset: ``paper`` (id), ``recall`` (Aspect
        Recall, 0 to 1), ``ranking`` and ``selection`` (tuples of sentence indices of the original paper).
    n_left_out : int
        Instances that the task can score but of which there is no such variant.
    n_missing : int
        Instances that have the variant and no answer yet.
    """

    name: str
    frame: pd.DataFrame
    n_left_out: int = 0
    n_missing: int = 0


def answers_of(store: Store, setup: Setup, variant: Variant | None) -> Answers:
    """The stored answers of a retriever over a variant; empty where it has never run."""
    task = setup.task
    stored = dict(RunStore(store).retrievals(setup.run_id(store, variant), task.name))
    rows = []
    scorable = set[str]()
    for instance_id, evidence in store.evidence_sets(setup.dataset):
        covers = evidence.covers(task.focus)
        if covers:
            scorable.add(instance_id)
            if answer := stored.get(instance_id):
                recall = expected_recall(answer.selection, covers, task.budget_for(evidence))
                rows.append((instance_id, recall, answer.ranking, answer.selection))
    frame = pd.DataFrame(rows, columns=["instance", "recall", "ranking", "selection"]).set_index("instance")
    frame.insert(0, "paper", [row.paper_id for row in store.rows(setup.dataset, list(frame.index))])
    having = _ids_with(scorable, variant)
    return Answers(
        variant.name if variant else "original",
        frame.astype({"recall": float}),
        n_left_out=len(scorable) - len(having),
        n_missing=len(having.difference(frame.index)),
    )


def _scorable(store: Store, setup: Setup, limit: int | None) -> set[str]:
    """Instances with something to cover in the task (spec rule 4), among the first ``limit`` if given."""
    gold = store.evidence_sets(setup.dataset, None if limit is None else store.ids(setup.dataset, limit))
    return {instance_id for instance_id, evidence in gold if evidence.focused(setup.task.focus)}


def _ids_with(scorable: set[str], variant: Variant | None) -> set[str]:
    return scorable if variant is None else {one for one in scorable if variant.has(one)}
