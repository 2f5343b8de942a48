"""Ways out: ``export``, ``export-dataset``, ``publish``, ``notes``."""

from __future__ import annotations

import codecs
from dataclasses import asdict
from pathlib import Path
from typing import Literal, TextIO, cast

from typer import Option

from evidencebench_core.cli import options
from evidencebench_core.cli.emit import Output, note, output_stream
from evidencebench_core.cli.frame import Report, Store, verb
from evidencebench_core.words import quantity


@verb("export bm25 --format trec --task er@10 --out bm25.run")
def export(
    store: Store,
    run_id: options.RunId,
    format_: Literal["trec", "qrels", "csv", "json", "predictions"] = Option(
        ...,
        "--format",
        help="qrels have aspects as subtopics: over them StRecall@k of ir_measures is Aspect Recall",
    ),
    task: options.Tasks = None,
    out: options.Out = None,
) -> None:
    """Write a run as TREC, CSV, JSON or predictions. What is left out is said on stderr."""
    from evidencebench_core.export.tables import write_run_file
    from evidencebench_core.runs import RunStore

    run = RunStore(store).run(run_id)
    with output_stream(out) as binary:
        lines = write_run_file(store, run, format_, task, cast(TextIO, codecs.getwriter("utf-8")(binary)))
    for line in lines:
        note(line)


@verb("export-dataset train --out train.json")
def export_dataset(store: Store, name: options.DatasetName, out: options.Out = None) -> None:
    """Write a dataset as released. `export --format qrels` writes its gold as TREC qrels."""
    from evidencebench_core.export import stream_dataset

    info = store.dataset(name)
    with output_stream(out) as stream:
        left_out = stream_dataset(store, info, stream)
    for instance_id, licence in left_out.items():
        note(f"Left out: {instance_id}, of a paper under {licence}, which allows no changed copy")
    note(quantity(info.n_instances - len(left_out), "instance"))


@verb("publish bm25 lead --out site/")
def publish(
    store: Store,
    run_ids: options.RunIds,
    out: Path = Option(..., metavar="FOLDER", help="a new folder, or one that was published"),
    task: options.Tasks = None,
) -> Output:
    """Write runs as web pages. They hold scores, comparison, misses, every paper with gold and picks of three runs.

    They open by a double click or from any web server, and ask nothing outside. Papers show the first task.
    """
    from evidencebench_core.export.site import publish as write_pages

    site = write_pages(store, run_ids, out, task or ())
    notes = [f"{name}: no text, its paper is under {licence}" for name, licence in site.withheld.items()]
    if site.n_unlicensed:
        papers = quantity(site.n_unlicensed, "paper")
        notes.append(f"{papers} name no licence: see that their text may be passed on before you do.")
    title = f"{quantity(site.n_papers, 'paper')}, {site.n_bytes:,} bytes: {out / 'index.html'}"
    return Output({"path": str(out)} | asdict(site), title=title, notes=notes)


@verb("notes --dataset train --flagged --out notes.csv", tables=True)
def notes(
    store: Store, dataset: options.Dataset, flagged: bool = Option(False, "--flagged", help="only flags")
) -> Report:
    """List the flags and comments on a dataset."""
    from evidencebench_core.analyses.notes import dataset_notes

    return dataset_notes(store, dataset, flagged=flagged)
