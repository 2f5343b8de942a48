"""Verbs on datasets: ``ingest``, ``download``, ``show``, and ``backup`` of the store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from evidencebench_core.cli.emit import Output, emit, note, wrap
from evidencebench_core.cli.frame import Json, SomeDataset, StorePath, opened, verb
from evidencebench_core.cli.progress import advance, progress_bar
from evidencebench_core.errors import SettingError, UnknownNameError, shown
from evidencebench_core.words import one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.data.ingest import IngestResult
    from evidencebench_core.data.model import Instance
    from evidencebench_core.data.store import DatasetInfo, Store


@verb()
def ingest(
    file: Annotated[Path, Argument(metavar="FILE", help="JSON or JSON lines; plain, gzip or zstd")],
    name: Annotated[str | None, Option(metavar="N", help="the dataset's name (default: the file's)")] = None,
    json: Json = False,
    store: StorePath = None,
) -> None:
    """Bring a dataset file into the store.

    Example: evidencebench ingest evidencebench_train_set.json --name train
    """
    result = _ingest(opened(store, create=True), file, name)
    document = {"added": result.added, "dataset": dataset_document(result.dataset)}
    emit(Output(document, title=_outcome(result)), json)


def _ingest(store: Store, path: Path, name: str | None = None) -> IngestResult:
    from evidencebench_core.data.ingest import ingest as ingest_file

    with progress_bar(None, "bytes", n_bytes=True) as bar:

        def report(done: int, total: int, n_instances: int) -> None:
            bar.set_postfix_str(quantity(n_instances, "instance"), refresh=False)
            advance(bar, done, total)

        return ingest_file(store, path, name=name, progress=report)


def _outcome(result: IngestResult) -> str:
    dataset = result.dataset
    content = (
        f"{quantity(dataset.n_instances, 'instance')} from {quantity(dataset.n_papers, 'paper')},"
        f" {dataset.n_result_instances:,} with result aspects"
    )
    if not result.added:
        return f"The store has this file already, as {dataset.name}: {content}. Nothing was changed."
    return f"Ingested {dataset.name}: {content}."


def dataset_document(dataset: DatasetInfo) -> dict[str, Any]:
    """A dataset as JSON-able values."""
    names = (
        *("name", "sha256", "n_instances", "n_papers", "n_result_instances"),
        *("synthetic", "source", "sufficient", "ingested_at"),
    )
    return {name: getattr(dataset, name) for name in names}


@verb()
def download(
    name: Annotated[str, Argument(metavar="NAME", help="evidencebench or evidencebench-100k")],
    split: Annotated[str | None, Option(metavar="S", help="train, dev or test (default: all)")] = None,
    folder: Annotated[
        Path | None, Option(metavar="PATH", help="where to (default: beside the default store)")
    ] = None,
    base_url: Annotated[str | None, Option(metavar="URL", help="another server that has the files")] = None,
    into_store: Annotated[bool, Option("--ingest", help="bring the files into the store as well")] = False,
    json: Json = False,
    store: StorePath = None,
) -> None:
    """Fetch a published dataset.

    Example: evidencebench download evidencebench --split train --ingest
    """
    paths = _download(name, split, folder, base_url)
    results = [_ingest(opened(store, create=True), path) for path in paths] if into_store else []
    document = {
        "files": [str(path) for path in paths],
        "datasets": [dataset_document(result.dataset) for result in results],
    }
    lines = [*map(str, paths), *map(_outcome, results)]
    if not into_store:
        lines += [f"To bring it into the store: evidencebench ingest {path}" for path in paths]
    emit(Output(document, notes=lines), json)


def _download(name: str, split: str | None, folder: Path | None, base_url: str | None) -> tuple[Path, ...]:
    from evidencebench_core.data.download import download as fetch

    bars: list[Any] = []  # at most one: a line of the report ends it

    def close() -> None:
        while bars:
            bars.pop().close()

    def report(line: str) -> None:
        close()
        note(line)

    def progress(done: int, total: int | None) -> None:
        if not bars:
            bars.append(progress_bar(total, "bytes", done, n_bytes=True))
        bars[0].update(done - bars[0].n)

    try:
        return fetch(name, split, folder, base_url=base_url, report=report, progress=progress)
    finally:
        close()


@verb()
def backup(
    file: Annotated[Path, Argument(metavar="FILE", help="the copy")],
    overwrite: Annotated[bool, Option("--overwrite", help="replace FILE where it is there already")] = False,
    json: Json = False,
    store: StorePath = None,
) -> None:
    """Copy the store to a file, and the trained ranker.

    Runs may go on meanwhile.

    Example: evidencebench backup ~/store-2026-11-23.sqlite
    """
    import shutil

    from evidencebench_core.retrievers.ranker.model_file import default_model_path

    original = opened(store)
    n_bytes = original.backup(file, overwrite)
    files = [str(file)]
    if default_model_path().is_dir():
        files.append(str(file.with_name(f"{file.stem}.ranker")))
        shutil.copytree(default_model_path(), files[-1], dirs_exist_ok=True)
    title = f"Copied {original.path} to {' and '.join(files)}: {n_bytes / 1e6:,.1f} MB."
    emit(Output({"files": files, "n_bytes": n_bytes}, title=title), json)


@verb()
def show(
    instance: Annotated[str, Argument(metavar="INSTANCE", help="id of the instance")],
    dataset: SomeDataset = None,
    json: Json = False,
    store: StorePath = None,
) -> None:
    """Print a paper with its gold evidence.

    Example: evidencebench show sample_cohort
    """
    known = opened(store)
    name, paper = _instance(known, instance, dataset)
    if json:
        emit(Output({paper.id: known.raw(name, paper.id)}), json)
        return
    _print_gold(name, paper)
    _print_paper(paper)


def _instance(store: Store, instance_id: str, dataset: str | None) -> tuple[str, Instance]:
    if dataset is not None:
        return dataset, store.get(dataset, instance_id)
    names = [info.name for info in store.datasets() if instance_id in store.ids(info.name)]
    if len(names) > 1:
        problem = f"is in several datasets: {', '.join(names)}"
        raise SettingError(f"instance {shown(instance_id)}", problem, "Say which with --dataset.")
    if not names:
        raise UnknownNameError(
            f"instance {shown(instance_id)}",
            f"is in no dataset of {store.path}",
            "`evidencebench list instances --dataset NAME` lists those that are.",
        )
    return names[0], store.get(names[0], instance_id)


def _print_gold(dataset: str, instance: Instance) -> None:
    evidence = instance.evidence
    n_results = len(evidence.focused("results"))
    results = f", for the results {evidence.results_optimal}" if evidence.results_optimal else ""
    notes = ", synthetic" if instance.synthetic else ""
    notes += ", gold sufficient, not complete" if instance.is_sufficient else ""
    print(one_line(f"{instance.id}  ({dataset}, paper {instance.paper_id}{notes})"))
    wrap(f"Hypothesis: {instance.hypothesis}")
    print(
        f"{quantity(evidence.n_sentences, 'sentence')}, {quantity(len(evidence.aspects), 'study aspect')}"
        f" ({quantity(n_results, 'result aspect')}), optimal K {evidence.optimal}{results}"
    )
    print("\nStudy aspects, and the sentences that cover them")
    for aspect in evidence.aspects:
        places = ", ".join(map(str, aspect.sentence_indices)) or "none"
        kind = "result" if aspect.is_result else ""
        text = f"  {aspect.text}" if aspect.text else ""
        wrap(f"{places}{text}", f"  {aspect.label:<4}{kind:<6}  ")


def _print_paper(instance: Instance) -> None:
    print("\nThe paper (█ covers the aspects named behind it)")
    labels: list[list[str]] = [[] for _ in instance.sentences]
    for aspect in instance.evidence.aspects:
        for index in aspect.sentence_indices:
            labels[index].append(aspect.label)
    section = None
    for index, sentence in enumerate(instance.sentences):
        if instance.sections[index] != section:
            section = instance.sections[index]
            print()
            if instance.sentence_types[index] != "section_name":
                print(f"        [{one_line(section).strip() or 'before the first heading'}]")
        mark = "█" if labels[index] else " "
        covers = f"  [{' '.join(labels[index])}]" if labels[index] else ""
        text = sentence if sentence.strip() else "(blank)"
        wrap(f"{text}{covers}", f"{mark} {index:>4}  ", below=f"{mark}       ")
