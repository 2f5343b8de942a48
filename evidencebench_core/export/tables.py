"""Runs as CSV, as JSON, and as prediction files."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TextIO

from evidencebench_core.data.store import DatasetInfo
from evidencebench_core.export.answers import Answer, ExportCounts
from evidencebench_core.metrics import Gain, marginal_gains
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import Score, Task
from evidencebench_core.words import visible

if TYPE_CHECKING:
    import pandas as pd

_KEYS: Final = ("run", "task", "instance")
_VALUES: Final = ("pick", "rank", "sentence", "score", "picked", "covers", "newly_covered")
COLUMNS: Final = (*_KEYS, *_VALUES, "note")
TEXT_COLUMNS: Final = ("section", "text")
_FORMULA: Final = ("=", "+", "-", "@", "\t", "＝", "＋", "－", "＠")


def cell(text: str) -> str:
    """A text as a spreadsheet may have it: one that would be taken for a formula starts with ``'``.

    That is what begins with ``=``, ``+``, ``-`` or ``@`` (full-width ones too) or a tab, after any blanks and
    line ends. Only texts go through here, so negative numbers stay numbers. Control characters and
    overrides of writing direction are written out (`visible`), a line ends with a line feed; nothing else
    changes.
    """
    shown = visible(text.replace("\r\n", "\n").replace("\r", "\n"))
    return f"'{shown}" if shown.lstrip(" \n").startswith(_FORMULA) else shown


def csv_text(frame: pd.DataFrame) -> str:
    """A frame as CSV (RFC 4180), its texts and headings as a spreadsheet may have them (`cell`)."""
    texts = frame.select_dtypes(["object", "string", "category"]).astype(object)
    texts = texts.map(lambda value: cell(value) if isinstance(value, str) else value)
    headings = [cell(str(name)) for name in frame.columns]
    return frame.assign(**texts).to_csv(index=False, header=headings, lineterminator="\r\n")


def write_csv(
    answers: Iterable[Answer],
    task: Task,
    stream: TextIO,
    run: str,
    what: Literal["selection", "ranking"] = "selection",
    header: bool = True,
) -> ExportCounts:
    """Write a run in long form: one line a sentence of an instance's selection or ranking.

    ``pick`` and ``rank`` count from 1 and are empty where there is none, ``sentence`` is the 0-based index,
    ``picked`` 1 or 0; ``covers`` and ``newly_covered`` are labels of the task's aspects, the latter those
    that no earlier pick covers. An instance without any line of this kind has one with a ``note``.

    Parameters
    ----------
    answers : iterable of Answer
        With papers, there are two more columns: section and text; with pages a third.
    task : Task
    stream : text stream
        Opened with ``newline=""``.
    run : str
        The run's name in its column.
    what : {"selection", "ranking"}
        Only the picks in their order, or every ranked sentence by rank, and then picks without a rank.
    header : bool
        Whether the columns' names come first.
    """
    written, rows = ExportCounts(), csv.writer(stream, lineterminator="\n")
    for answer in answers:
        texts = (*TEXT_COLUMNS, *["page"] * bool(answer.pages)) if answer.instance else ()
        if header:
            rows.writerow([*COLUMNS, *texts])
            header = False
        key = (cell(run), task.name, cell(answer.instance_id))
        picks = written.add(answer, task)
        lines = [] if picks is None else list(_lines(answer, task, picks, what))
        written.n_rows += len(lines)
        if not lines:
            lines = [(*[""] * len(_VALUES), cell(_why_none(written, answer)), *[""] * len(texts))]
        rows.writerows((*key, *line) for line in lines)
    if header:
        rows.writerow(COLUMNS)
    return written


def _lines(
    answer: Answer, task: Task, picks: tuple[int, ...], what: str
) -> Iterator[tuple[str | int | float, ...]]:
    if answer.retrieval is None:
        return
    aspects, instance = answer.evidence.focused(task.focus), answer.instance
    gains = {gain.sentence: gain for gain in marginal_gains(picks, answer.evidence.covers(task.focus))}
    number = {index: place for place, index in enumerate(picks, start=1)}
    rank, score = places_and_scores(answer.retrieval)
    listed = picks if what == "selection" else tuple(dict.fromkeys((*answer.retrieval.ranking, *picks)))
    for index in listed:
        gain = gains.get(index, Gain(index, (), (), None))
        yield (
            number.get(index, ""),
            rank.get(index, ""),
            index,
            score.get(index, ""),
            int(index in number),
            " ".join(aspect.label for aspect in aspects if index in aspect.sentence_indices),
            " ".join(aspects[position].label for position in gain.new),
            "",
            *((cell(instance.sections[index]), cell(instance.sentences[index])) if instance else ()),
            *([answer.pages.get(index, "")] if answer.pages else ()),
        )


def places_and_scores(retrieval: Retrieval) -> tuple[dict[int, int], dict[int, float]]:
    """Rank from 1 and score by sentence index; sentences that were not ranked are in neither."""
    rank = {index: place for place, index in enumerate(retrieval.ranking, start=1)}
    return rank, dict(zip(retrieval.ranking, retrieval.scores, strict=False))


def _why_none(written: ExportCounts, answer: Answer) -> str:
    if answer.retrieval is not None:
        return "no sentence was picked"
    skipped = written.skipped.get(answer.instance_id)
    return f"no answer: {answer.reason}" if skipped is None else f"skipped: {skipped}"


def write_predictions(answers: Iterable[Answer], task: Task, stream: TextIO) -> ExportCounts:
    """Write a prediction file, ``{"instance id": [sentence index, ...], ...}``, one instance a line."""
    written, comma = ExportCounts(), "{"
    for answer in answers:
        picks = written.add(answer, task)
        if picks is not None:
            stream.write(f"{comma}\n{json.dumps(answer.instance_id)}: {json.dumps(picks)}")
            comma, written.n_rows = ",", written.n_rows + 1
    stream.write("\n}\n" if comma == "," else "{}\n")
    return written


def write_json(
    run: RunInfo,
    dataset: DatasetInfo,
    answers: Iterable[tuple[Task, Score, Iterable[Answer]]],
    stream: TextIO,
    versions: Mapping[str, str],
) -> dict[str, ExportCounts]:
    """Write all that is known of a run as one JSON document, an instance at a time; by task name what was written.

    Its keys: ``run``, ``retriever``, ``settings``, ``label``, ``variant``, ``created_at``, ``n_trained_on``
    (instances of the dataset that the run's model has learnt from), ``dataset`` (``name``, ``sha256``,
    ``n_instances``), ``versions``, and ``tasks``: by name the ``score`` as `Score.as_dict` has it and
    ``instances``, by id ``selection``, ``ranking``, ``scores``, ``seconds`` and ``aspect_recall`` (``null``
    where it is not scored), or ``error``.
    """
    head: dict[str, Any] = {
        "run": run.id,
        "retriever": run.retriever,
        "settings": dict(run.settings),
        "label": run.label,
        "variant": run.variant,
        "created_at": run.created_at,
        "n_trained_on": run.n_trained_on,
        "dataset": {
            "name": dataset.name,
            "sha256": dataset.sha256,
            "n_instances": dataset.n_instances,
        },
        "versions": dict(versions),
    }
    written: dict[str, ExportCounts] = {}
    stream.write(_json(head)[:-1] + ',\n"tasks": {')
    for task, score, given in answers:
        before = "," if written else ""
        stream.write(f'{before}\n{_json(task.name)}: {{"score": {_json(score.as_dict())},\n"instances": {{')
        written[task.name] = _write_instances(task, score, given, stream)
        stream.write("\n}}")
    stream.write("\n}}\n")
    return written


def _write_instances(task: Task, score: Score, answers: Iterable[Answer], stream: TextIO) -> ExportCounts:
    written, comma = ExportCounts(), ""
    for answer in answers:
        picks = written.add(answer, task)
        record: dict[str, Any]
        if picks is None or answer.retrieval is None:
            record = {"error": _why_none(written, answer)}
        else:
            record = {
                "selection": picks,
                "ranking": answer.retrieval.ranking,
                "scores": [value if value - value == 0 else None for value in answer.retrieval.scores],
                "seconds": answer.retrieval.seconds,
                "aspect_recall": score.per_instance.get(answer.instance_id),
            }
            written.n_rows += 1
        stream.write(f"{comma}\n{_json(answer.instance_id)}: {_json(record)}")
        comma = ","
    return written


def _json(value: object) -> str:
    return json.dumps(value, allow_nan=False)
