"""One retriever over several variants of a dataset: running what is missing, reading what is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError
from evidencebench_core.llm import LLM
from evidencebench_core.metrics import expected_recall
from evidencebench_core.retrievers import full_settings
from evidencebench_core.runs import RunSpec, RunStore, Variant, execute, plan, run_label
from evidencebench_core.runs.retrievals import retrievals
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
    """The setups of runs over the original hypotheses, each once."""
    infos = {run.id: run for run in map(RunStore(store).run, runs)}
    for run in infos.values():
        if run.variant:
            raise SettingError(
                f"run {run.id}",
                f"is itself one over a variant, {run.variant}",
                "Name the run over the original hypotheses: `evidencebench runs` lists them.",
            )
    return tuple(Setup(run.dataset, run.retriever, run.settings, task) for run in infos.values())


@dataclass(frozen=True, slots=True)
class Step:
    """How far the work is: instances, over all variants together."""

    done: int
    total: int
    note: str


@dataclass(frozen=True, slots=True)
class Answers:
    """What a run over one variant says, by instance id in the order of the dataset.

    Attributes
    ----------
    name : str
        Of the variant; ``"original"`` without one.
    recalls : mapping of str to float
        Aspect Recall, 0 to 1, of every instance with an answer.
    rankings, selections : mapping of str to tuple of int
        Of the same instances, in the sentence indices of the original paper.
    papers : mapping of str to str
        Paper ids of the same instances.
    n_left_out : int
        Instances that the task can score but of which there is no such variant.
    n_missing : int
        Instances that have the variant and no answer yet.
    """

    name: str
    recalls: Mapping[str, float]
    rankings: Mapping[str, tuple[int, ...]]
    selections: Mapping[str, tuple[int, ...]]
    papers: Mapping[str, str]
    n_left_out: int = 0
    n_missing: int = 0


def n_unanswered(
    store: Store, setup: Setup, variants: Sequence[Variant | None], limit: int | None = None
) -> int:
    """How many instances, over all variants together, still have to be asked; of the first ``limit`` if given."""
    scorable = _scorable(store, setup, limit)
    runs = RunStore(store)
    return sum(
        len(_having(scorable, variant) - runs.done(setup.run_id(store, variant), setup.task.name))
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

    Yields once before any work, then after every instance. ``limit`` asks only the first so many instances of
    the dataset, the same for every variant.
    """
    scorable = _scorable(store, setup, limit)
    total = sum(len(_having(scorable, variant)) for variant in variants)
    before = 0
    for variant in variants:
        name = variant.name if variant else "original"
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
            yield Step(before + progress.done, total, f"{name}{failed}")
        if cancelled is not None and cancelled():
            return
        before += len(_having(scorable, variant))


def answers_of(store: Store, setup: Setup, variant: Variant | None) -> Answers:
    """What is stored of a retriever's run over a variant; empty where it has never run."""
    task = setup.task
    stored = dict(retrievals(store, setup.run_id(store, variant), task.name))
    recalls: dict[str, float] = {}
    scorable = set[str]()
    for instance_id, evidence in store.evidence_sets(setup.dataset):
        covers = evidence.covers(task.focus)
        if covers:
            scorable.add(instance_id)
        if covers and instance_id in stored:
            recall = expected_recall(stored[instance_id].selection, covers, task.budget_for(evidence))
            if recall is not None:
                recalls[instance_id] = recall
    having = _having(scorable, variant)
    return Answers(
        variant.name if variant else "original",
        recalls,
        {one: stored[one].ranking for one in recalls},
        {one: stored[one].selection for one in recalls},
        {row.id: row.paper_id for row in store.rows(setup.dataset, recalls)},
        n_left_out=len(scorable) - len(having),
        n_missing=len(having - recalls.keys()),
    )


def _scorable(store: Store, setup: Setup, limit: int | None = None) -> set[str]:
    """Instances with something to cover in the task (spec rule 4), among the first ``limit`` if given."""
    gold = store.evidence_sets(setup.dataset, None if limit is None else store.ids(setup.dataset, limit))
    return {instance_id for instance_id, evidence in gold if evidence.focused(setup.task.focus)}


def _having(scorable: set[str], variant: Variant | None) -> set[str]:
    return scorable if variant is None else {one for one in scorable if variant.has(one)}
