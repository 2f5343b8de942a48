"""Verbs on datasets and the store: ``ingest``, ``download``, ``show``, ``backup``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer import Argument, Option

from evidencebench_core.cli import options
from evidencebench_core.cli.ask import advance, progress_bar, write_line
from evidencebench_core.cli.emit import Output, wrap
from evidencebench_core.cli.frame import Json, Store, verb
from evidencebench_core.errors import SettingError, UnknownNameError, shown
from evidencebench_core.words import one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.data.ingest import IngestResult
    from evidencebench_core.data.model import Instance
    from evidencebench_core.data.store import DatasetInfo


@verb("ingest evidencebench_train_set.json --name train", creates=True)
def ingest(
    store: Store,
    file: Path = Argument(..., metavar="FILE", help="JSON or JSON lines; plain, gzip or zstd"),
    name: options.NewName = None,
) -> Output:
    """Bring a dataset file into the store."""
    result = _ingest(store, file, name)
    document = {"added": result.added, "dataset": dataset_document(result.dataset)}
    return Output(document, title=_outcome(result))


def _ingest(store: Store, path: Path, name: str | None = None) -> IngestResult:
    from evidencebench_core.data.ingest import ingest as ingest_file

    with progress_bar("bytes") as bar:

        def report(done: int, total: int, n_instances: int) -> None:
            bar.set_postfix_str(quantity(n_instances, "instance"), refresh=False)
            advance(bar, done, total)

        return ingest_file(store, path, name=name, progress=report)


def _outcome(result: IngestResult) -> str:
    dataset = result.dataset
    instances = f"{quantity(dataset.n_instances, 'instance')} from {quantity(dataset.n_papers, 'paper')}"
    content = f"{instances}, {dataset.n_result_instances:,} with result aspects"
    if not result.added:
        return f"The store has this file already, as {dataset.name}: {content}. Nothing was changed."
    return f"Ingested {dataset.name}: {content}."


def dataset_document(dataset: DatasetInfo) -> dict[str, Any]:
    """A dataset as JSON-able values."""
    counts = ("n_instances", "n_papers", "n_result_instances")
    names = ("name", "sha256", *counts, "synthetic", "source", "sufficient", "ingested_at")
    return {name: getattr(dataset, name) for name in names}


@verb("download evidencebench --split train --ingest", creates=True)
def download(
    store: Store,
    name: str = Argument(..., metavar="NAME", help="evidencebench or evidencebench-100k"),
    split: str | None = Option(None, metavar="S", help="train, dev or test (default: all)"),
    folder: Path | None = Option(None, metavar="PATH", help="where to (default: beside the default store)"),
    base_url: str | None = Option(None, metavar="URL", help="another server that has the files"),
    into_store: bool = Option(False, "--ingest", help="bring the files into the store as well"),
) -> Output:
    """Fetch a published dataset."""
    from evidencebench_core.data.download import download as fetch

    with progress_bar("bytes") as bar:
        paths = fetch(
            name,
            split,
            folder,
            base_url=base_url,
            report=lambda line: write_line(bar, line),
            progress=lambda done, total: advance(bar, done, total),
        )
    results = [_ingest(store, path) for path in paths] if into_store else []
    datasets = [dataset_document(result.dataset) for result in results]
    lines = [*map(str, paths), *map(_outcome, results)]
    if not into_store:
        lines += [f"To bring it into the store: evidencebench ingest {path}" for path in paths]
    return Output({"files": [str(path) for path in paths], "datasets": datasets}, notes=lines)


@verb("backup ~/store-2026-11-23.sqlite")
def backup(
    store: Store,
    file: Path = Argument(..., metavar="FILE", help="the copy"),
    overwrite: bool = Option(False, "--overwrite", help="replace FILE where it is there already"),
) -> Output:
    """Copy the store to a file, and the trained ranker.

    Runs may go on meanwhile.
    """
    import shutil

    from evidencebench_core.retrievers.ranker.model_file import default_model_path

    n_bytes = store.backup(file, overwrite)
    files = [str(file)]
    if default_model_path().is_dir():
        files.append(str(file.with_name(f"{file.stem}.ranker")))
        shutil.copytree(default_model_path(), files[-1], dirs_exist_ok=True)
    title = f"Copied {store.path} to {' and '.join(files)}: {n_bytes / 1e6:,.1f} MB."
    return Output({"files": files, "n_bytes": n_bytes}, title=title)


@verb("show sample_cohort")
def show(
    store: Store,
    instance: str = Argument(..., metavar="INSTANCE", help="id of the instance"),
    dataset: options.SomeDataset = None,
    json: Json = False,
) -> Output | None:
    """Print a paper with its gold evidence."""
    name = dataset or _dataset_of(store, instance)
    paper = store.get(name, instance)
    if json:
        return Output({paper.id: store.raw(name, paper.id)})
    _print_gold(name, paper)
    _print_paper(paper)
    return None


def _dataset_of(store: Store, instance_id: str) -> str:
    names = [info.name for info in store.datasets() if instance_id in store.ids(info.name)]
    if len(names) == 1:
        return names[0]
    place = f"instance {shown(instance_id)}"
    if names:
        raise SettingError(place, f"is in several datasets: {', '.join(names)}", "Say which with --dataset.")
    remedy = "`evidencebench list instances --dataset NAME` lists those that are."
    raise UnknownNameError(place, f"is in no dataset of {store.path}", remedy)


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
        indices = ", ".join(map(str, aspect.sentence_indices)) or "none"
        kind = "result" if aspect.is_result else ""
        text = f"  {aspect.text}" if aspect.text else ""
        wrap(f"{indices}{text}", f"  {aspect.label:<4}{kind:<6}  ")


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
