"""Runs as a folder of static pages, which open from a file as from any web server and ask nothing outside."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from evidencebench_core.analyses.comparison import compare
from evidencebench_core.analyses.frame import runs_named
from evidencebench_core.analyses.missed import finding, missed_shares, outcomes
from evidencebench_core.data.downloads import DATASETS
from evidencebench_core.data.model import Instance
from evidencebench_core.data.store import DatasetInfo, Store
from evidencebench_core.errors import SettingError
from evidencebench_core.export.dataset import forbidding_licence
from evidencebench_core.export.findings import template
from evidencebench_core.export.paper_table import paper_tables, run_names, scores_report
from evidencebench_core.export.reader.page import FOLDER, reader_script, reader_style, views_data
from evidencebench_core.export.reader.view import MAX_SYSTEMS, System, view_of
from evidencebench_core.export.run_rows import tasks_of
from evidencebench_core.runs import RunInfo, RunLike, RunStore, score_run
from evidencebench_core.tasks import Task
from evidencebench_core.words import file_stem

_GENERATOR: Final = "EvidenceBench Explorer: published runs"
_PAPER_PAGES: Final = {
    r"pubmed_(\d+)": "https://pubmed.ncbi.nlm.nih.gov/{}/",
    r"(?i:PMC)_?(\d+)": "https://pmc.ncbi.nlm.nih.gov/articles/PMC{}/",
}


@dataclass(frozen=True, slots=True)
class Site:
    """A folder of pages that was written."""

    n_papers: int
    n_bytes: int
    withheld: Mapping[str, str]  # instances without text by id: the licence
    n_unlicensed: int  # papers with text whose licence nothing names


def publish(store: Store, runs: Sequence[RunLike], folder: Path, tasks: Sequence[str | Task] = ()) -> Site:
    """Write runs over one dataset as pages; the folder is there whole or not at all.

    Without ``tasks`` they are those that every run has answers for. The first is what papers, comparison and misses
    show; papers show the picks of the first three runs. A folder that is there is replaced if it holds such pages.

    An error if the runs are of several datasets, have no task in common, or the folder holds anything else.
    """
    infos = runs_named(store, runs)
    answered = [tasks_of(info, tasks) for info in infos]
    every = dict.fromkeys(chain.from_iterable(answered))
    common = [task for task in every if all(task in of_run for of_run in answered)]
    if not common:
        raise SettingError("publish", "is given runs without a task in common", "Name other runs.")
    with _whole_folder(folder) as part:
        return _write_site(store, infos, common, part)


@dataclass(frozen=True, slots=True)
class _Results:
    """What a run did, by instance; ``missed`` has labels, each with the covering sentence that came closest."""

    name: str
    picks: Mapping[str, tuple[int, ...]]
    recalls: Mapping[str, float]
    missed: Mapping[str, list[tuple[str, int]]]
    finding: str


def _results(store: Store, run: RunInfo, name: str, task: Task) -> _Results:
    aspects, missed = outcomes(store, run, task), defaultdict(list)
    for row in aspects[aspects["missed"]].to_dict("records"):
        missed[row["instance"]].append((row["label"], row["sentence"]))
    causes = missed_shares(aspects, "cause").assign(by="cause")
    picks, recalls = RunStore(store).selections(run, task), score_run(store, run, task).per_instance
    return _Results(name, picks, recalls, missed, finding(causes, name, task.focus == "results"))


def _write_site(store: Store, runs: Sequence[RunInfo], tasks: Sequence[Task], folder: Path) -> Site:
    from evidencebench_core import __version__

    task, dataset = tasks[0], store.dataset(runs[0].dataset)
    scores = scores_report(store, runs, tasks)
    tables, names = paper_tables(scores), run_names(scores)
    if len(runs) > 1:
        tables += paper_tables(compare(store, runs, task))[1:]
    results = [_results(store, run, names[run.id], task) for run in runs[:MAX_SYSTEMS]]
    ids = list(dict.fromkeys(name for run in runs for name in RunStore(store).ids(run)))
    shared, papers = {"generator": _GENERATOR, "task": task}, []
    (folder / "papers").mkdir()
    for place, instance in enumerate(store.get_many(dataset, ids)):
        papers.append(_paper(instance, place, results))
        budget, data = task.budget_for(instance.evidence), _packed(instance, results, task)
        page = template("site_paper.html").render(**shared, paper=papers[-1], budget=budget, data=data)
        (folder / papers[-1]["file"]).write_text(page, "utf-8")
    index = template("site_index.html").render(
        **shared, dataset=dataset, terms=_terms(dataset), tables=tables, results=results, papers=papers,
        runs={names[run.id]: run for run in runs}, version=__version__,
    )  # fmt: skip
    styles, scripts = ((FOLDER.parent / f"site.{ending}").read_text("utf-8") for ending in ("css", "js"))
    files = {"index.html": index, "site.css": reader_style() + styles, "site.js": reader_script(scripts)}
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    n_bytes = sum(file.stat().st_size for file in folder.rglob("*.*"))
    withheld = {paper["id"]: paper["licence"] for paper in papers if paper["is_withheld"]}
    n_unlicensed = 0 if _terms(dataset) else sum(not paper["licence"] for paper in papers)
    return Site(len(papers), n_bytes, withheld, n_unlicensed)


def _paper(instance: Instance, place: int, results: Sequence[_Results]) -> dict[str, Any]:
    """What stands over a paper, and in its row of the list."""
    is_withheld = bool(forbidding_licence(instance))
    has_title = instance.sentence_types[:1] == ("section_name",) and not is_withheld
    return {
        "id": instance.id,
        "file": f"papers/{place}-{file_stem(instance.id)}.html",
        "title": instance.sentences[0] if has_title else "",
        "paper_id": instance.paper_id,
        "link": paper_page(instance.paper_id),
        "hypothesis": instance.hypothesis,
        "licence": instance.licence,
        "is_withheld": is_withheld,
        "n_sentences": len(instance.sentences),
        "results": [
            (result.name, result.recalls.get(instance.id), result.missed.get(instance.id, ()))
            for result in results
        ],
    }


def _packed(instance: Instance, results: Sequence[_Results], task: Task) -> str:
    """What the reader draws, deflated: texts take less than half the room."""
    systems = [System(result.name, result.picks.get(instance.id, ())) for result in results]
    view = view_of(instance, focus=task.focus, systems=systems)
    if forbidding_licence(instance):
        n = len(view.sentences)
        view = replace(view, sentences=("",) * n, sentence_types=("normal_paragraph",) * n)  # type: ignore[arg-type]
    return b64encode(zlib.compress(json.dumps(views_data(view), separators=(",", ":")).encode(), 9)).decode()


def paper_page(paper_id: str) -> str:
    """The address of a paper at PubMed or PMC by its id, or ``""``."""
    for pattern, address in _PAPER_PAGES.items():
        if match := re.fullmatch(pattern, paper_id):
            return address.format(match[1])
    return ""


def _terms(dataset: DatasetInfo) -> str:
    """The terms of a released dataset, by the name of its file."""
    for released in DATASETS.values():
        for file in released.splits.values():
            if file.filename == Path(dataset.source).name:
                return f"{file.licence}, {released.page}"
    return ""


@contextmanager
def _whole_folder(path: Path) -> Iterator[Path]:
    """A new folder that takes the place of ``path`` once the block has ended without an error."""
    path = path.resolve()
    index = path / "index.html"
    try:
        is_published = index.is_file() and _GENERATOR in index.read_text("utf-8", "replace")[:2000]
        if path.exists() and not is_published and (path.is_file() or any(path.iterdir())):
            remedy = "Name a new folder, an empty one, or one that `publish` has made."
            raise SettingError(str(path), "holds something else", remedy)
        with TemporaryDirectory(prefix=".publish-", dir=path.parent) as scratch:
            part = Path(scratch, "new")
            part.mkdir()
            yield part
            if path.exists():
                path.rename(Path(scratch, "old"))
            part.rename(path)
    except OSError as error:
        problem = f"cannot be written ({error.strerror or error})"
        raise SettingError(str(path), problem, "Name another folder or free the disk.") from error
