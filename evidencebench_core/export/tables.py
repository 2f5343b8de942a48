"""A run as a file, in every format in which it leaves the house; frames as CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, Literal, TextIO

from evidencebench_core.data.store import DatasetInfo, Store
from evidencebench_core.export.run_rows import Row, rows, tasks_of, versions
from evidencebench_core.export.trec import write_qrels, write_run
from evidencebench_core.metrics import marginal_gains
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import RunInfo, score_run
from evidencebench_core.tasks import Score, Task
from evidencebench_core.words import visible

if TYPE_CHECKING:
    import pandas as pd

RunFormat = Literal["trec", "qrels", "csv", "json", "predictions"]
COLUMNS: Final = (
    *("run", "task", "instance", "pick", "rank", "sentence", "score", "picked", "covers", "newly_covered"),
    *("note", "section", "text"),
)
_FORMULA: Final = ("=", "+", "-", "@", "\t", "＝", "＋", "－", "＠")


def write_run_file(
    store: Store, run: RunInfo, form: RunFormat, names: Sequence[str] | None, stream: TextIO
) -> list[str]:
    """Write a run for the named tasks, or all that it has answers for; returns what is odd about it, a line each."""
    tasks = tasks_of(run, names, several=form in ("csv", "json"))
    first, scores = tasks[0], {task: score_run(store, run, task) for task in tasks}
    by_task = {task: rows(store, run, task, with_papers=form == "csv") for task in tasks}
    lines = [note for score in scores.values() for note in score.notes]
    if form == "json":
        scored = ((task, scores[task], of_task) for task, of_task in by_task.items())
        write_json(run, store.dataset(run.dataset), scored, stream)
    elif form == "csv":
        write_csv(by_task, stream, run.id)
    elif form == "qrels":
        write_qrels(store.evidence_sets(run.dataset), first, stream)
    elif form == "predictions":
        write_predictions(by_task[first], stream)
    else:
        measure = write_run(by_task[first], first, stream, f"{run.retriever}-{run.id}")
        lines.insert(0, f"{first.name}: {measure}")
    return lines


def cell(text: str) -> str:
    """A text as a spreadsheet may have it: one that would be taken for a formula starts with ``'``.

    That is what begins with ``=``, ``+``, ``-`` or ``@`` (full-width ones too) or a tab, after any blanks and
    line ends. Control characters and overrides of writing direction are written out.
    """
    shown = visible(text.replace("\r\n", "\n").replace("\r", "\n"))
    return f"'{shown}" if shown.lstrip(" \n").startswith(_FORMULA) else shown


def csv_text(frame: pd.DataFrame) -> str:
    """A frame as CSV (RFC 4180): texts and headings through `cell`, lists joined by "; ", numbers to 12 digits."""
    texts = frame.select_dtypes(["object", "string", "category"]).astype(object).map(_csv_value)
    headings = [cell(str(name)) for name in frame.columns]
    plain = frame.assign(**texts)
    return plain.to_csv(index=False, header=headings, lineterminator="\r\n", float_format="%.12g")


def _csv_value(value: Any) -> Any:
    if isinstance(value, list | tuple | set | frozenset):
        value = "; ".join(map(str, value))
    return cell(value) if isinstance(value, str) else value


def write_csv(rows_by_task: Mapping[Task, Iterable[Row]], stream: TextIO, run: str) -> None:
    """Write the picks of a run in long form, one line a sentence, of rows with their papers.

    ``pick`` and ``rank`` count from 1, ``sentence`` is the 0-based index; ``covers`` and ``newly_covered`` are labels
    of the task's aspects, the latter those that no earlier pick covers. An instance without any line has one with a
    ``note``. The stream is opened with ``newline=""``.
    """
    writer = csv.DictWriter(stream, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for task, of_task in rows_by_task.items():
        for row in of_task:
            key = {"run": cell(run), "task": task.name, "instance": cell(row.instance_id)}
            reason = f"no answer: {row.reason}" if row.retrieval is None else "no sentence was picked"
            writer.writerows(key | line for line in list(_lines(row, task)) or [{"note": cell(reason)}])


def _lines(row: Row, task: Task) -> Iterator[dict[str, Any]]:
    if row.retrieval is None or row.instance is None:
        return
    aspects = row.evidence.focused(task.focus)
    gains = marginal_gains(row.picks, row.evidence.covers(task.focus))
    rank, score = places_and_scores(row.retrieval)
    for place, gain in enumerate(gains, start=1):
        index = gain.sentence
        yield {
            "pick": place,
            "rank": rank[index],
            "sentence": index,
            "score": score.get(index, ""),
            "picked": 1,
            "covers": " ".join(aspects[position].label for position in sorted(gain.new + gain.repeated)),
            "newly_covered": " ".join(aspects[position].label for position in gain.new),
            "section": cell(row.instance.sections[index]),
            "text": cell(row.instance.sentences[index]),
        }


def places_and_scores(retrieval: Retrieval) -> tuple[dict[int, int], dict[int, float]]:
    """Rank from 1 and score by sentence index; sentences that were not ranked are in neither."""
    rank = {index: place for place, index in enumerate(retrieval.ranking, start=1)}
    return rank, dict(zip(retrieval.ranking, retrieval.scores, strict=False))


def write_predictions(of_task: Iterable[Row], stream: TextIO) -> None:
    """Write a prediction file, ``{"instance id": [sentence index, ...], ...}``, one instance a line."""
    _write_object(stream, ((row.instance_id, row.picks) for row in of_task if row.retrieval is not None))
    stream.write("\n")


def write_json(
    run: RunInfo, dataset: DatasetInfo, tasks: Iterable[tuple[Task, Score, Iterable[Row]]], stream: TextIO
) -> None:
    """Write all that is known of a run as one JSON document, an instance at a time.

    Its keys: ``run``, ``retriever``, ``settings``, ``label``, ``variant``, ``created_at``, ``n_trained_on``,
    ``dataset`` (``name``, ``sha256``, ``n_instances``), ``versions``, and ``tasks``: by name the ``score`` as
    `Score.as_dict` has it and ``instances``: by id ``selection``, ``ranking``, ``scores``, ``seconds`` and
    ``aspect_recall``, or ``error``.
    """
    names = ("retriever", "label", "variant", "created_at", "n_trained_on")
    head: dict[str, Any] = {"run": run.id} | {name: getattr(run, name) for name in names}
    head |= {"settings": dict(run.settings), "versions": versions()}
    head["dataset"] = {name: getattr(dataset, name) for name in ("name", "sha256", "n_instances")}
    stream.write(_json(head)[:-1] + ',\n"tasks": {')
    comma = ""
    for task, score, of_task in tasks:
        stream.write(f'{comma}\n{_json(task.name)}: {{"score": {_json(score.as_dict())},\n"instances": ')
        _write_object(stream, ((row.instance_id, _record(row, score)) for row in of_task))
        stream.write("}")
        comma = ","
    stream.write("\n}}\n")


def _record(row: Row, score: Score) -> dict[str, Any]:
    if row.retrieval is None:
        return {"error": row.reason}
    return {
        "selection": row.picks,
        "ranking": row.retrieval.ranking,
        "scores": [value if isfinite(value) else None for value in row.retrieval.scores],
        "seconds": row.retrieval.seconds,
        "aspect_recall": score.per_instance.get(row.instance_id),
    }


def _write_object(stream: TextIO, members: Iterable[tuple[str, object]]) -> None:
    """A JSON object, a member a line."""
    stream.write("{")
    comma = ""
    for name, value in members:
        stream.write(f"{comma}\n{_json(name)}: {_json(value)}")
        comma = ","
    stream.write("\n}")


def _json(value: object) -> str:
    return json.dumps(value, allow_nan=False)
