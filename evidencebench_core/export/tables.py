"""Runs as CSV, as JSON, and as prediction files; frames as CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TextIO

from evidencebench_core.data.store import DatasetInfo
from evidencebench_core.export.run_rows import ExportCounts, Row
from evidencebench_core.metrics import marginal_gains
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import Score, Task
from evidencebench_core.words import visible

if TYPE_CHECKING:
    import pandas as pd

What = Literal["selection", "ranking"]
COLUMNS: Final = (
    *("run", "task", "instance", "pick", "rank", "sentence", "score", "picked", "covers", "newly_covered"),
    "note",
)
TEXT_COLUMNS: Final = ("section", "text")
_FORMULA: Final = ("=", "+", "-", "@", "\t", "＝", "＋", "－", "＠")


def cell(text: str) -> str:
    """A text as a spreadsheet may have it: one that would be taken for a formula starts with ``'``.

    That is what begins with ``=``, ``+``, ``-`` or ``@`` (full-width ones too) or a tab, after any blanks and
    line ends. Control characters and overrides of writing direction are written out.
    """
    shown = visible(text.replace("\r\n", "\n").replace("\r", "\n"))
    return f"'{shown}" if shown.lstrip(" \n").startswith(_FORMULA) else shown


def csv_text(frame: pd.DataFrame) -> str:
    """A frame as CSV (RFC 4180): texts and headings through `cell`, lists joined by "; ", numbers to 12 digits."""
    texts = frame.select_dtypes(["object", "string", "category"]).astype(object).map(_plain)
    headings = [cell(str(name)) for name in frame.columns]
    plain = frame.assign(**texts)
    return plain.to_csv(index=False, header=headings, lineterminator="\r\n", float_format="%.12g")


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple | set | frozenset):
        value = "; ".join(map(str, value))
    return cell(value) if isinstance(value, str) else value


def write_csv(
    rows: Iterable[Row], task: Task, stream: TextIO, run: str, what: What = "selection", header: bool = True
) -> ExportCounts:
    """Write a run in long form: one line a sentence of an instance's selection or ranking.

    ``pick`` and ``rank`` count from 1 and are empty where there is none, ``sentence`` is the 0-based index,
    ``picked`` 1 or 0; ``covers`` and ``newly_covered`` are labels of the task's aspects, the latter those
    that no earlier pick covers. An instance without any line has one with a ``note``. Rows with papers have
    two more columns, section and text, with pages a third. The stream is opened with ``newline=""``.
    """
    written, writer = ExportCounts(), None
    for row in rows:
        if writer is None:
            columns = [*COLUMNS, *(TEXT_COLUMNS if row.instance else ()), *["page"] * bool(row.pages)]
            writer = csv.DictWriter(stream, columns, restval="", lineterminator="\n")
            if header:
                writer.writeheader()
        key = {"run": cell(run), "task": task.name, "instance": cell(row.instance_id)}
        lines = list(_lines(row, task, written.counted(row, task), what))
        written.n_rows += len(lines)
        reason = f"no answer: {row.reason}" if row.retrieval is None else "no sentence was picked"
        writer.writerows(key | line for line in lines or [{"note": cell(reason)}])
    return written


def _lines(row: Row, task: Task, picks: tuple[int, ...], what: What) -> Iterator[dict[str, Any]]:
    if row.retrieval is None:
        return
    aspects, instance = row.evidence.focused(task.focus), row.instance
    gains = {gain.sentence: gain for gain in marginal_gains(picks, row.evidence.covers(task.focus))}
    number = {index: place for place, index in enumerate(picks, start=1)}
    rank, score = places_and_scores(row.retrieval)
    for index in picks if what == "selection" else row.retrieval.ranking:
        line: dict[str, Any] = {
            "pick": number.get(index, ""),
            "rank": rank[index],
            "sentence": index,
            "score": score.get(index, ""),
            "picked": int(index in number),
            "covers": " ".join(aspect.label for aspect in aspects if index in aspect.sentence_indices),
            "newly_covered": "",
        }
        if index in gains:
            line["newly_covered"] = " ".join(aspects[position].label for position in gains[index].new)
        if instance is not None:
            line |= {"section": cell(instance.sections[index]), "text": cell(instance.sentences[index])}
        if row.pages:
            line["page"] = row.pages.get(index, "")
        yield line


def places_and_scores(retrieval: Retrieval) -> tuple[dict[int, int], dict[int, float]]:
    """Rank from 1 and score by sentence index; sentences that were not ranked are in neither."""
    rank = {index: place for place, index in enumerate(retrieval.ranking, start=1)}
    return rank, dict(zip(retrieval.ranking, retrieval.scores, strict=False))


def write_predictions(rows: Iterable[Row], task: Task, stream: TextIO) -> ExportCounts:
    """Write a prediction file, ``{"instance id": [sentence index, ...], ...}``, one instance a line."""
    written, comma = ExportCounts(), "{"
    for row in rows:
        picks = written.counted(row, task)
        if row.retrieval is not None:
            stream.write(f"{comma}\n{_json(row.instance_id)}: {_json(picks)}")
            comma, written.n_rows = ",", written.n_rows + 1
    stream.write("\n}\n" if comma == "," else "{}\n")
    return written


def write_json(
    run: RunInfo,
    dataset: DatasetInfo,
    tasks: Iterable[tuple[Task, Score, Iterable[Row]]],
    stream: TextIO,
    versions: Mapping[str, str],
) -> dict[str, ExportCounts]:
    """Write all that is known of a run as one JSON document, an instance at a time; by task what was written.

    Its keys: ``run``, ``retriever``, ``settings``, ``label``, ``variant``, ``created_at``, ``n_trained_on``,
    ``dataset`` (``name``, ``sha256``, ``n_instances``), ``versions``, and ``tasks``: by name the ``score`` as
    `Score.as_dict` has it and ``instances``: by id ``selection``, ``ranking``, ``scores``, ``seconds`` and
    ``aspect_recall``, or ``error``.
    """
    names = ("retriever", "label", "variant", "created_at", "n_trained_on")
    head: dict[str, Any] = {"run": run.id} | {name: getattr(run, name) for name in names}
    head |= {"settings": dict(run.settings), "versions": dict(versions)}
    head["dataset"] = {name: getattr(dataset, name) for name in ("name", "sha256", "n_instances")}
    stream.write(_json(head)[:-1] + ',\n"tasks": {')
    written: dict[str, ExportCounts] = {}
    for task, score, rows in tasks:
        comma = "," if written else ""
        stream.write(f'{comma}\n{_json(task.name)}: {{"score": {_json(score.as_dict())},\n"instances": {{')
        written[task.name] = _write_records(rows, task, score, stream)
        stream.write("\n}}")
    stream.write("\n}}\n")
    return written


def _write_records(rows: Iterable[Row], task: Task, score: Score, stream: TextIO) -> ExportCounts:
    written, comma = ExportCounts(), ""
    for row in rows:
        picks = written.counted(row, task)
        record: dict[str, Any] = {"error": row.reason}
        if row.retrieval is not None:
            scores = [value if value - value == 0 else None for value in row.retrieval.scores]
            record = {"selection": picks, "ranking": row.retrieval.ranking, "scores": scores}
            record["seconds"] = row.retrieval.seconds
            record["aspect_recall"] = score.per_instance.get(row.instance_id)
            written.n_rows += 1
        stream.write(f"{comma}\n{_json(row.instance_id)}: {_json(record)}")
        comma = ","
    return written


def _json(value: object) -> str:
    return json.dumps(value, allow_nan=False)
