"""Verbs on everything that has a name: ``list``, ``rename``, ``delete``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any, Final, Literal, NamedTuple

from typer import Argument, Option

from evidencebench_core.cli import options
from evidencebench_core.cli.data import dataset_document
from evidencebench_core.cli.emit import Output, note
from evidencebench_core.cli.frame import Store, verb
from evidencebench_core.errors import SettingError, UnknownNameError, shown

Listed = Literal["datasets", "instances", "runs", "papers", "items", "answers"]
Renamed = Literal["dataset", "run", "paper", "items", "answers"]
Kind = Literal["dataset", "instance", "run", "paper", "items", "answers"]
_NAME: Final = Argument(..., metavar="NAME", help="a name; of a run or a paper its id also")
_COUNTS: Final = ("n_instances", "n_papers", "n_result_instances")
COLUMNS: Final[dict[Listed, tuple[str, ...]]] = {
    "datasets": ("name", *_COUNTS, "synthetic", "sufficient", "source"),
    "instances": ("dataset", "id", "n_sentences", "n_aspects", "n_result_aspects", "hypothesis"),
    "runs": ("run", "kind", "label", "dataset", "n_answered", "n_failed", "created_at"),
    "papers": ("id", "name", "n_sentences", "hypothesis"),
    "items": ("name", "n_items", "source", "added_at"),
    "answers": ("name", "source", "added_at"),
}


@verb("list instances --dataset train")
def list_(
    store: Store,
    kind: Listed = Argument(..., help="what to list"),
    dataset: options.SomeDataset = None,
) -> Output:
    """List datasets, instances, runs or papers."""
    document = _listed(store, kind, dataset)
    if not document:
        note(f"{store.path} has no {kind} yet.")
        return Output(document)
    return Output(document, {"": [{name: row[name] for name in COLUMNS[kind]} for row in document]})


def _listed(store: Store, kind: Listed, dataset: str | None) -> list[dict[str, Any]]:
    from evidencebench_core.answers.store import answer_sets
    from evidencebench_core.cli.runs import run_document
    from evidencebench_core.papers.own import OwnPapers
    from evidencebench_core.reliability.items import item_sets
    from evidencebench_core.runs import RunStore

    runs = RunStore(store)
    subject = None if dataset is None else store.dataset(dataset).sha256
    if kind == "datasets":
        return [dataset_document(info) for info in store.datasets()]
    if kind == "instances":
        return [
            {"dataset": name} | {column: getattr(row, column) for column in COLUMNS[kind][1:]}
            for name in ([info.name for info in store.datasets()] if dataset is None else [dataset])
            for row in store.rows(name, store.ids(name))
        ]
    if kind == "runs":
        return [run_document(run, runs.outcomes(run.id)) for run in runs.runs_of(subject=subject)]
    if kind == "papers":
        papers = OwnPapers(store).all()
        return [{column: getattr(paper, column) for column in COLUMNS[kind]} for paper in papers]
    return [asdict(info) for info in (item_sets(store) if kind == "items" else answer_sets(store))]


@verb('rename run 3f2a "my second system"')
def rename(
    store: Store,
    kind: Renamed = Argument(..., help="what it is"),
    name: str = _NAME,
    new: str = Argument(..., metavar="NEW", help="the name it gets"),
) -> Output:
    """Rename a dataset, a run or a paper."""
    info = _subject(store, kind, name).rename(new)
    renamed = getattr(info, "label", None) or info.name  # a run, or what has a name
    return Output({"kind": kind, "name": renamed}, title=f"Renamed {name} to {renamed}.")


@verb("delete run 3f2a --yes")
def delete(
    store: Store,
    kind: Kind = Argument(..., help="what it is"),
    name: str = _NAME,
    dataset: options.SomeDataset = None,
    yes: bool = Option(False, "--yes", help="delete it; without this, only say what would go"),
) -> Output:
    """Delete a dataset, a run or a paper.

    With all that hangs on it; an instance goes where it was marked by hand.
    """
    subject = _subject(store, kind, name, dataset)
    if yes:
        subject.delete()
    text = f"Deleted {subject.text}." if yes else f"{subject.text} would be deleted: repeat it with --yes."
    return Output({"deleted": yes, "kind": kind, "name": name}, title=text, code=0 if yes else 1)


class Subject(NamedTuple):
    """A thing of the store, and what can be done to it."""

    text: str
    rename: Callable[[str], Any]
    delete: Callable[[], object]


def _subject(store: Store, kind: Kind, name: str, dataset: str | None = None) -> Subject:
    """An error where there is none of that name."""
    from evidencebench_core.answers import store as answers
    from evidencebench_core.data import removal
    from evidencebench_core.papers.own import OwnPapers
    from evidencebench_core.reliability import items
    from evidencebench_core.runs import RunStore

    def of(text: str, rename: Callable[..., Any], delete: Callable[..., object]) -> Subject:
        return Subject(text, partial(rename, store, name), partial(delete, store, name))

    if kind == "dataset":
        text = f"dataset {store.dataset(name).name}, its runs and notes"
        return of(text, removal.rename_dataset, removal.delete_dataset)
    if kind == "items":
        text = f"items {items.item_set_info(store, name).name}, and their runs"
        return of(text, items.rename_item_set, items.delete_item_set)
    if kind == "answers":
        text = f"answers {answers.answer_set_info(store, name).name}, and their runs"
        return of(text, answers.rename_answers, answers.delete_answers)
    if kind == "run":
        runs = RunStore(store)
        run = runs.run(name)
        return Subject(f"run {run.id} ({run.label})", partial(runs.rename, run), partial(runs.delete, run))
    if kind == "paper":
        papers = OwnPapers(store)
        fits = [paper for paper in papers.all() if name in (str(paper.id), paper.name)]
        if len(fits) != 1:
            problem = f"fits {len(fits)} kept papers" if fits else f"is not in {store.path}"
            remedy = "`evidencebench list papers` lists them."
            raise UnknownNameError(f"paper {shown(name)}", problem, remedy)
        text = f"paper {fits[0].id} ({fits[0].name}), and its annotations"
        return Subject(text, partial(papers.rename, fits[0].id), partial(papers.remove, fits[0].id))
    by_hand = dataset or _dataset_by_hand(store, name)
    text = f"instance {name} of dataset {by_hand}"
    return Subject(text, str, partial(removal.delete_instance, store, by_hand, name))


def _dataset_by_hand(store: Store, name: str) -> str:
    """The only dataset made by hand that has the instance."""
    from evidencebench_core.data.store import MARKED_BY_HAND

    by_hand = [info.name for info in store.datasets() if info.source == MARKED_BY_HAND]
    fits = [info for info in by_hand if name in store.ids(info)]
    if len(fits) == 1:
        return fits[0]
    problem = f"is in {len(fits)} datasets" if fits else f"is none that was marked by hand in {store.path}"
    raise SettingError(f"instance {shown(name)}", problem, "Name its dataset with --dataset.")
