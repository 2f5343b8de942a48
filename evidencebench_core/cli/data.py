"""Verbs on the store: ``ingest``, ``download``, ``show``, ``backup``, and ``list``, ``rename``, ``delete``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from typer import Argument, Option

from evidencebench_core.cli import options
from evidencebench_core.cli.ask import advance, progress_bar, write_line
from evidencebench_core.cli.emit import Output, note, width
from evidencebench_core.cli.frame import Store, verb
from evidencebench_core.errors import SettingError, UnknownNameError, shown
from evidencebench_core.words import one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.data.ingestion import IngestResult
    from evidencebench_core.data.store import DatasetInfo


@verb("ingest evidencebench_train_set.json --name train", creates=True)
def ingest(
    store: Store,
    file: Path = Argument(..., metavar="FILE", help="JSON, JSON lines or CSV; plain, gzip or zstd"),
    name: options.NewName = None,
    format: Literal["released", "simple", "scifact", "qasper"] | None = Option(  # noqa: A002 - what people call it
        None, help="of the file (default: told by its keys)"
    ),
    corpus: Path | None = Option(None, metavar="FILE", help="SciFact's papers (default: corpus.jsonl)"),
) -> Output:
    """Bring a dataset file into the store."""
    result = _ingest(store, file, name, format=format, corpus=corpus)
    document = {"added": result.added, "left_out": dict(result.left_out)}
    return Output(document | {"dataset": dataset_document(result.dataset)}, title=_outcome(result))


def _ingest(store: Store, path: Path, name: str | None = None, **options: Any) -> IngestResult:
    from evidencebench_core.data.ingestion import ingest as ingest_file

    with progress_bar("bytes") as bar:

        def report(done: int, total: int, n_instances: int) -> None:
            bar.set_postfix_str(quantity(n_instances, "instance"), refresh=False)
            advance(bar, done, total)

        return ingest_file(store, path, name, report, **options)


def _outcome(result: IngestResult) -> str:
    dataset = result.dataset
    instances = f"{quantity(dataset.n_instances, 'instance')} from {quantity(dataset.n_papers, 'paper')}"
    content = f"{instances}, {dataset.n_result_instances:,} with result aspects"
    if not result.added:
        return f"The store has this file already, as {dataset.name}: {content}. Nothing was changed."
    left_out = "; ".join(f"{n:,} {reason}" for reason, n in result.left_out.items())
    return f"Ingested {dataset.name}: {content}.{f' Left out: {left_out}.' if left_out else ''}"


def dataset_document(dataset: DatasetInfo) -> dict[str, Any]:
    """A dataset as JSON-able values, without its place in the store."""
    return {name: value for name, value in asdict(dataset).items() if name != "id"}


@verb("download evidencebench --split train", creates=True)
def download(
    store: Store,
    name: str = Argument(..., metavar="NAME", help="evidencebench or evidencebench-100k"),
    split: str | None = Option(None, metavar="S", help="train, dev or test (default: all)"),
) -> Output:
    """Fetch a published dataset into the store."""
    from evidencebench_core.data.downloads import download as fetch

    with progress_bar("bytes") as bar:
        paths = fetch(name, split, report=partial(write_line, bar), progress=partial(advance, bar))
    results = [_ingest(store, path) for path in paths]
    documents = [dataset_document(result.dataset) for result in results]
    return Output({"files": list(map(str, paths)), "datasets": documents}, notes=list(map(_outcome, results)))


@verb("backup store-2026-11-23.sqlite")
def backup(
    store: Store,
    file: Path = Argument(..., metavar="FILE", help="the copy"),
    overwrite: bool = Option(False, "--overwrite", help="replace FILE where it is there already"),
) -> None:
    """Copy the store, and the trained ranker. Runs may go on meanwhile."""
    import shutil

    from evidencebench_core.retrievers.ranker.model_file import default_model_path

    n_bytes = store.backup(file, overwrite)
    print(one_line(f"Copied {store.path} to {file}: {n_bytes / 1e6:,.1f} MB."))
    if default_model_path().is_dir():
        folder = file.with_name(f"{file.stem}.ranker")
        shutil.copytree(default_model_path(), folder, dirs_exist_ok=True)
        print(one_line(f"The trained ranker is in {folder}."))


@verb("show sample_cohort")
def show(
    store: Store,
    instance: str = Argument(..., metavar="INSTANCE", help="id of the instance"),
    dataset: options.SomeDataset = None,
) -> Output:
    """Print a paper with its gold evidence."""
    from evidencebench_core.data.formats import released_record
    from evidencebench_core.export.text import instance_text

    name = dataset or _dataset_of(store, instance)
    paper = store.get(name, instance)
    return Output({paper.id: released_record(paper)}, lines=instance_text(paper, name, width()))


def _dataset_of(store: Store, instance_id: str) -> str:
    names = [info.name for info in store.datasets() if instance_id in store.ids(info.name)]
    if len(names) == 1:
        return names[0]
    place = f"instance {shown(instance_id)}"
    if names:
        raise SettingError(place, f"is in several datasets: {', '.join(names)}", "Say which with --dataset.")
    remedy = "`evidencebench list instances --dataset NAME` lists those that are."
    raise UnknownNameError(place, f"is in no dataset of {store.path}", remedy)


Listed = Literal["datasets", "instances", "runs", "papers", "items", "answers"]
Kind = Literal["dataset", "run", "paper", "items", "answers"]
Deletable = Literal[Kind, "embeddings"]
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
    kind: Listed = Argument(..., metavar="KIND", help="what to list"),
    dataset: options.SomeDataset = None,
) -> Output:
    """List datasets, instances, runs, papers, items, answers."""
    document = _listed(store, kind, dataset)
    if not document:
        note(f"{store.path} has no {kind} yet.")
        return Output(document)
    return Output(document, {"": [{name: row[name] for name in COLUMNS[kind]} for row in document]})


def _listed(store: Store, kind: Listed, dataset: str | None) -> list[dict[str, Any]]:
    if kind == "datasets":
        return [dataset_document(info) for info in store.datasets()]
    if kind == "instances":
        return [
            {"dataset": name} | {column: getattr(row, column) for column in COLUMNS[kind][1:]}
            for name in ([info.name for info in store.datasets()] if dataset is None else [dataset])
            for row in store.rows(name, store.ids(name))
        ]
    if kind == "runs":
        from evidencebench_core.cli.runs import run_document
        from evidencebench_core.runs import RunStore

        runs = RunStore(store)
        subject = None if dataset is None else store.dataset(dataset).sha256
        return [run_document(run, runs.outcomes(run.id)) for run in runs.runs_of(subject=subject)]
    from evidencebench_core.answers.store import ANSWER_SETS
    from evidencebench_core.papers.own import OwnPapers
    from evidencebench_core.reliability.items import ITEM_SETS

    if kind == "papers":
        papers = OwnPapers(store).all()
        return [{column: getattr(paper, column) for column in COLUMNS[kind]} for paper in papers]
    kept = ITEM_SETS if kind == "items" else ANSWER_SETS
    return [asdict(info) for info in kept.all(store)]


@verb('rename run bm25 "my second system"')
def rename(
    store: Store,
    kind: Kind = Argument(..., metavar="KIND", help="what it is"),
    name: str = _NAME,
    new: str = Argument(..., metavar="NEW", help="the name it gets"),
) -> None:
    """Rename a dataset, a run, a paper, items or answers."""
    _, rename_to, _ = _subject(store, kind, name)
    info = rename_to(new)
    print(one_line(f"Renamed {name} to {getattr(info, 'label', None) or info.name}."))


@verb("delete run lead --yes")
def delete(
    store: Store,
    kind: Deletable = Argument(
        ..., metavar="KIND", help="what it is; `embeddings all` are those kept for a second look"
    ),
    name: str = _NAME,
    yes: bool = Option(False, "--yes", help="delete it; without this, only say what would go"),
) -> int:
    """Delete something and all that depends on it. Or empty the cache of embeddings."""
    remove: Callable[[], object]
    if kind == "embeddings":
        from evidencebench_core.retrievers.encoding import cache_folder, cache_size, empty_cache

        text, remove = f"{cache_size() / 1e6:,.0f} MB of embeddings in {cache_folder()}", empty_cache
    else:
        text, _, remove = _subject(store, kind, name)
    if yes:
        remove()
    print(one_line(f"Deleted {text}." if yes else f"{text} would be deleted: repeat it with --yes."))
    return 0 if yes else 1


def _subject(store: Store, kind: Kind, name: str) -> tuple[str, Callable[[str], Any], Callable[[], object]]:
    """A thing in words, and what renames and deletes it; an error where there is none of that name."""
    from evidencebench_core.answers.store import ANSWER_SETS
    from evidencebench_core.data import upkeep
    from evidencebench_core.papers.own import OwnPapers
    from evidencebench_core.reliability.items import ITEM_SETS
    from evidencebench_core.runs import RunStore

    if kind == "run":
        runs = RunStore(store)
        run = runs.run(name)
        return f"run {run.id} ({run.label})", partial(runs.rename, run), partial(runs.delete, run)
    if kind == "paper":
        papers = OwnPapers(store)
        fits = [paper for paper in papers.all() if name in (str(paper.id), paper.name)]
        if len(fits) != 1:
            problem = f"fits {len(fits)} kept papers" if fits else f"is not in {store.path}"
            raise UnknownNameError(f"paper {shown(name)}", problem, "`evidencebench list papers` lists them.")
        text, paper_id = f"paper {fits[0].id} ({fits[0].name}), and its annotations", fits[0].id
        return text, partial(papers.rename, paper_id), partial(papers.remove, paper_id)
    named: dict[str, tuple[Any, Any, Any]] = {
        "dataset": (store.dataset, upkeep.rename_dataset, upkeep.delete_dataset),
        "items": (partial(ITEM_SETS.named, store), ITEM_SETS.rename, ITEM_SETS.delete),
        "answers": (partial(ANSWER_SETS.named, store), ANSWER_SETS.rename, ANSWER_SETS.delete),
    }
    info, rename_to, remove = named[kind]
    text = f"{kind} {info(name).name}, and everything that depends on it"
    return text, partial(rename_to, store, name), partial(remove, store, name)
