"""One retriever over several variants of a dataset: running what is missing, reading what is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evidencebench_core.metrics import expected_recall
from evidencebench_core.retrievers import full_settings
from evidencebench_core.runs import RunSpec, RunStore, Variant, execute
from evidencebench_core.runs.retrievals import retrievals
from evidencebench_core.tasks import Task

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store
    from evidencebench_core.retrievers.llm.session import Session

__all__ = ["Answers", "Asked", "Step", "answers_of", "n_unanswered", "run_variants"]


@dataclass(frozen=True, slots=True)
class Asked:
    """Which retriever is asked about which dataset and task.

    Attributes
    ----------
    dataset, retriever : str
        Names.
    settings : mapping of str to object
        Those that differ from the defaults.
    task : Task
    """

    dataset: str
    retriever: str
    settings: Mapping[str, object]
    task: Task

    def run_id(self, store: Store, variant: Variant | None) -> str:
        """The id that its run over a variant has or would have; ``None`` stands for the original."""
        settings = full_settings(self.retriever, self.settings)
        name, digest = (variant.name, variant.digest) if variant else ("", "")
        return RunSpec(store.dataset(self.dataset).sha256, self.retriever, settings, name, digest).id


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
    run_id : str
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
    run_id: str
    recalls: Mapping[str, float]
    rankings: Mapping[str, tuple[int, ...]]
    selections: Mapping[str, tuple[int, ...]]
    papers: Mapping[str, str]
    n_left_out: int = 0
    n_missing: int = 0


def n_unanswered(
    store: Store, asked: Asked, variants: Sequence[Variant | None], limit: int | None = None
) -> int:
    """How many instances, over all variants together, still have to be asked; of the first ``limit`` if given."""
    scorable = _scorable(store, asked, limit)
    runs = RunStore(store)
    return sum(
        len(_having(scorable, variant) - runs.done(asked.run_id(store, variant), asked.task.name))
        for variant in variants
    )


def run_variants(
    store: Store,
    asked: Asked,
    variants: Sequence[Variant | None],
    cancelled: Callable[[], bool] | None = None,
    *,
    session: Session | None = None,
    limit: int | None = None,
) -> Iterator[Step]:
    """Ask whatever is missing, variant by variant; resumes like `execute`.

    Parameters
    ----------
    session : Session, optional
        As of `execute`, for a retriever that asks a server.
    limit : int, optional
        Only the first so many instances of the dataset, the same for every variant.

    Yields
    ------
    Step
        Once before any work, then after every instance.

    Raises
    ------
    UnknownNameError, SettingError, RetrieverError, LLMError
        As `execute` does.
    """
    scorable = _scorable(store, asked, limit)
    total = sum(len(_having(scorable, variant)) for variant in variants)
    before = 0
    for variant in variants:
        name = variant.name if variant else "original"
        for progress in execute(
            store,
            asked.dataset,
            asked.retriever,
            asked.settings,
            (asked.task,),
            limit,
            cancelled,
            variant=variant,
            session=session,
        ):
            failed = f", {progress.failed:,} failed" if progress.failed else ""
            yield Step(before + progress.done, total, f"{name}{failed}")
        if cancelled is not None and cancelled():
            return
        before += len(_having(scorable, variant))


def answers_of(store: Store, asked: Asked, variant: Variant | None) -> Answers:
    """What is stored of a retriever's run over a variant; empty where it has never run."""
    run_id, task = asked.run_id(store, variant), asked.task
    found = dict(retrievals(store, run_id, task.name))
    recalls: dict[str, float] = {}
    scorable = set[str]()
    for instance_id, evidence in store.evidence_sets(asked.dataset):
        covers = evidence.covers(task.focus)
        if not covers:
            continue
        scorable.add(instance_id)
        if instance_id in found:
            selection = found[instance_id].selection
            recall = expected_recall(selection, covers, task.budget_for(evidence))
            if recall is not None:
                recalls[instance_id] = recall
    having = _having(scorable, variant)
    return Answers(
        variant.name if variant else "original",
        run_id,
        recalls,
        {one: found[one].ranking for one in recalls},
        {one: found[one].selection for one in recalls},
        {row.id: row.paper_id for row in store.rows(asked.dataset, recalls)},
        n_left_out=len(scorable) - len(having),
        n_missing=len(having - recalls.keys()),
    )


def _scorable(store: Store, asked: Asked, limit: int | None = None) -> set[str]:
    """Instances with something to cover in the task (spec rule 4), among the first ``limit`` if given."""
    gold = store.evidence_sets(asked.dataset, None if limit is None else store.ids(asked.dataset, limit))
    return {instance_id for instance_id, evidence in gold if evidence.focused(asked.task.focus)}


def _having(scorable: set[str], variant: Variant | None) -> set[str]:
    return scorable if variant is None else {one for one in scorable if variant.has(one)}
