"""Verbs on everything that has a name: ``list``, ``rename``, ``delete``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from evidencebench_core.cli.data import dataset_document
from evidencebench_core.cli.emit import Output, emit, note
from evidencebench_core.cli.frame import Json, SomeDataset, StorePath, opened, verb
from evidencebench_core.errors import SettingError, UnknownNameError, shown

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store
    from evidencebench_core.papers.own import OwnPaper
    from evidencebench_core.runs import RunInfo

Renamed = Literal["dataset", "run", "paper", "items", "answers"]
Listed = Literal["datasets", "instances", "runs", "papers", "items", "answers"]
Kind = Literal["dataset", "instance", "run", "paper", "items", "answers"]
Row = dict[str, Any]
KindArgument = Annotated[Kind, Argument(help="what it is")]
Name = Annotated[str, Argument(metavar="NAME", help="a name; of a run or a paper its id also")]


@verb("list")
def list_(
    kind: Annotated[Listed, Argument(help="what to list")],
    dataset: SomeDataset = None,
    json: Json = False,
    store: StorePath = None,
) -> None:
    """List datasets, instances, runs, papers, ...

    Example: evidencebench list instances --dataset train
    """
    known = opened(store)
    lists = {
        "datasets": lambda: _datasets(known),
        "instances": lambda: _instances(known, dataset),
        "runs": lambda: _runs(known, dataset),
        "papers": lambda: _papers(known),
        "items": lambda: _items(known),
        "answers": lambda: _answers(known),
    }
    rows, document = lists[kind]()
    if not rows and not json:
        note(f"{known.path} has no {kind} yet.")
        return
    emit(Output(document, {"": rows}), json)


def _datasets(store: Store) -> tuple[list[Row], list[Row]]:
    rows = [
        {
            "name": info.name,
            "instances": info.n_instances,
            "papers": info.n_papers,
            "with results": info.n_result_instances,
            "kind": "synthetic" if info.synthetic else "real",
            "gold": "sufficient, not complete" if info.sufficient else "complete",
            "ingested": info.ingested_at[:10],
            "source": info.source,
        }
        for info in store.datasets()
    ]
    return rows, [dataset_document(info) for info in store.datasets()]


def _instances(store: Store, dataset: str | None) -> tuple[list[Row], list[Row]]:
    names = [info.name for info in store.datasets()] if dataset is None else [dataset]
    rows = [
        {
            "dataset": name,
            "id": row.id,
            "sentences": row.n_sentences,
            "aspects": row.n_aspects,
            "result aspects": row.n_result_aspects,
            "hypothesis": row.hypothesis,
        }
        for name in names
        for row in store.rows(name, store.ids(name))
    ]
    return rows, rows


def _runs(store: Store, dataset: str | None) -> tuple[list[Row], list[Row]]:
    from evidencebench_core.cli.runs import run_document
    from evidencebench_core.runs import RETRIEVAL, RunStore

    runs = RunStore(store)
    retrievals = runs.runs(dataset, variants=True)
    others = () if dataset is not None else [run for run in runs.runs_of() if run.kind != RETRIEVAL]
    rows = [
        {
            "run": run.id,
            "of": run.dataset,
            "system": run.label,
            "answered": ", ".join(f"{task} {n:,}" for task, n in run.tasks.items()) or "nothing yet",
            "failed": run.n_failed,
            "started": run.created_at[:16].replace("T", " "),
        }
        for run in retrievals
    ]
    rows += [
        {
            "run": run.id,
            "of": run.kind,
            "system": str(run.settings.get("model", "")),
            "answered": f"{run.n_answered:,}",
            "failed": run.n_failed,
            "started": run.created_at[:16].replace("T", " "),
        }
        for run in others
    ]
    documents = [run_document(run, runs.outcomes(run.id)) for run in retrievals]
    return rows, [*documents, *map(_chat_run_document, others)]


def _chat_run_document(run: RunInfo) -> Row:
    document = {name: getattr(run, name) for name in ("kind", "subject", "created_at", "n_answered")}
    return {"run": run.id, **document, "n_failed": run.n_failed, "settings": dict(run.settings)}


def _papers(store: Store) -> tuple[list[Row], list[Row]]:
    from evidencebench_core.papers.own import OwnPapers

    papers = OwnPapers(store).all()
    rows = [
        {
            "id": paper.id,
            "name": paper.name,
            "sentences": paper.n_sentences,
            "hypothesis": paper.hypothesis,
        }
        for paper in papers
    ]
    return rows, rows


def _items(store: Store) -> tuple[list[Row], list[Row]]:
    from evidencebench_core.reliability.items import item_sets

    return _named(item_sets(store), ("name", "n_items", "source", "added_at"))


def _answers(store: Store) -> tuple[list[Row], list[Row]]:
    from evidencebench_core.answers.store import answer_sets

    return _named(answer_sets(store), ("name", "n_questions", "n_answers", "source", "added_at"))


def _named(infos: Iterable[Any], names: tuple[str, ...]) -> tuple[list[Row], list[Row]]:
    rows = [{name: getattr(info, name) for name in names if hasattr(info, name)} for info in infos]
    return rows, rows


@verb()
def rename(
    kind: Annotated[Renamed, Argument(help="what it is")],
    name: Name,
    new: Annotated[str, Argument(metavar="NEW", help="the name it gets")],
    json: Json = False,
    store: StorePath = None,
) -> None:
    """Give a dataset, a run, a paper, ... another name.

    Example: evidencebench rename run 3f2a "my second system"
    """
    known = opened(store)
    renamed = _renamed(known, kind, name, new)
    emit(Output({"kind": kind, "name": renamed}, title=f"Renamed {name} to {renamed}."), json)


def _renamed(store: Store, kind: Renamed, name: str, new: str) -> str:
    from evidencebench_core.answers.store import rename_answers
    from evidencebench_core.data.removal import rename_dataset
    from evidencebench_core.papers.own import OwnPapers
    from evidencebench_core.reliability.items import rename_item_set
    from evidencebench_core.runs import RunStore

    if kind == "dataset":
        return rename_dataset(store, name, new).name
    if kind == "run":
        runs = RunStore(store)
        return runs.rename(runs.run(name), new).label
    if kind == "paper":
        return OwnPapers(store).rename(_own_paper(store, name).id, new).name
    if kind == "items":
        return rename_item_set(store, name, new).name
    return rename_answers(store, name, new).name


@verb()
def delete(
    kind: KindArgument,
    name: Name,
    dataset: SomeDataset = None,
    yes: Annotated[bool, Option("--yes", help="delete it; without this, only say what would go")] = False,
    json: Json = False,
    store: StorePath = None,
) -> int:
    """Delete a dataset, a run, a paper, ...

    With all that hangs on it; an instance goes where it was marked by hand.

    Example: evidencebench delete run 3f2a --yes
    """
    known = opened(store)
    subject = _subject(known, kind, name, dataset)
    if yes:
        _delete(known, kind, name, dataset)
    text = f"Deleted {subject}." if yes else f"{subject} would be deleted: repeat it with --yes."
    emit(Output({"deleted": yes, "kind": kind, "name": name}, title=text), json)
    return 0 if yes else 1


def _subject(store: Store, kind: Kind, name: str, dataset: str | None) -> str:
    """What would be deleted; an error where there is no such thing."""
    from evidencebench_core.answers.store import answer_set_info
    from evidencebench_core.reliability.items import item_set_info

    if kind == "dataset":
        return f"dataset {store.dataset(name).name}, its runs and notes"
    if kind == "instance":
        return f"instance {name} of dataset {_dataset_of(store, name, dataset)}"
    if kind == "run":
        return f"run {_run(store, name).id}"
    if kind == "paper":
        paper = _own_paper(store, name)
        return f"paper {paper.id} ({paper.name}), and its annotations"
    if kind == "items":
        return f"items {item_set_info(store, name).name}, and their runs"
    return f"answers {answer_set_info(store, name).name}, and their runs"


def _delete(store: Store, kind: Kind, name: str, dataset: str | None) -> None:
    from evidencebench_core.answers.store import delete_answers
    from evidencebench_core.data.removal import delete_dataset, delete_instance
    from evidencebench_core.papers.own import OwnPapers
    from evidencebench_core.reliability.items import delete_item_set
    from evidencebench_core.runs import RunStore

    if kind == "dataset":
        delete_dataset(store, name)
    elif kind == "instance":
        delete_instance(store, _dataset_of(store, name, dataset), name)
    elif kind == "run":
        RunStore(store).delete(_run(store, name))
    elif kind == "paper":
        OwnPapers(store).remove(_own_paper(store, name).id)
    elif kind == "items":
        delete_item_set(store, name)
    else:
        delete_answers(store, name)


def _run(store: Store, name: str) -> RunInfo:
    from evidencebench_core.runs import RunStore

    return RunStore(store).run(name)


def _dataset_of(store: Store, name: str, dataset: str | None) -> str:
    """The dataset of an instance: the one named, else the only one made by hand that has it."""
    from evidencebench_core.data.store import MARKED_BY_HAND

    if dataset is not None:
        return dataset
    by_hand = [info.name for info in store.datasets() if info.source == MARKED_BY_HAND]
    fits = [info for info in by_hand if name in store.ids(info)]
    if len(fits) == 1:
        return fits[0]
    problem = f"is in {len(fits)} datasets" if fits else f"is none that was marked by hand in {store.path}"
    raise SettingError(f"instance {shown(name)}", problem, "Name its dataset with --dataset.")


def _own_paper(store: Store, name: str) -> OwnPaper:
    from evidencebench_core.papers.own import OwnPapers

    fits = [paper for paper in OwnPapers(store).all() if name in (str(paper.id), paper.name)]
    if len(fits) == 1:
        return fits[0]
    problem = f"fits {len(fits)} kept papers" if fits else f"is not in {store.path}"
    raise UnknownNameError(f"paper {shown(name)}", problem, "`evidencebench list papers` lists them.")
