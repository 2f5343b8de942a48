"""Scores and predictions that others computed.

Scores come from the authors' ``official_logs.csv``: a row is one experiment of theirs, its per-instance Aspect Recall
stands as a JSON list in ``Coverage List`` (ER tasks) or ``Recall List`` (Result tasks), in the order of the test set.
They are compared with each other, never with runs on other instances.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeVar

from evidencebench_core.data.files import file_content
from evidencebench_core.data.store import Store
from evidencebench_core.data.strict_json import json_value
from evidencebench_core.errors import DataError, SelectionError, UnknownNameError, did_you_mean, shown

# By focus: which instances a complete row has, and how many; five test instances have no result aspects.
_COLLECTIONS: Final = {"all": ("evidencebench-test", 293), "results": ("evidencebench-test-results", 288)}
_COLUMNS: Final = ("Experiment Name", "Cov@", "Model", "Coverage List", "Recall List")
_STRATEGIES: Final = (
    ("ICL", re.compile(r"_ICL(_|$)")),
    ("section by section", re.compile(r"_SBS(_|$)")),
    ("baseline", re.compile(r"_original(_|$)")),
    ("with instruction", re.compile(r"__\+O(_|$)")),
    ("without instruction", re.compile(r"__-O(_|$)")),
)
_NAMED_BUDGET: Final = re.compile(r"__(opt_k|[1-9][0-9]{0,3})(?:_|$)")
_LARGEST: Final = 64 << 20  # bytes; the authors' file has 0.3 million
_REMEDY: Final = "The authors' file is official_logs.csv in the repository EvidenceBench/EvidenceBench."
_PREDICTIONS: Final = 'A prediction file is one JSON object: {"instance id": [sentence index, ...], ...}.'
_NAMED: Final = 5  # problems in a message

_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class ImportedScore:
    """The scores of somebody else's system, instance by instance.

    Attributes
    ----------
    collection : str
        Which instances, in which order. Only scores of one collection and task can be paired.
    system, strategy : str
        The model as the file names it, and how it was asked (may be empty).
    task : str
        As on the command line.
    recalls : tuple of float
        Aspect Recall, 0 to 1, of every instance.
    source : str
        File and the beginning of its sha256.
    """

    collection: str
    system: str
    strategy: str
    task: str
    recalls: tuple[float, ...]
    source: str

    @property
    def name(self) -> str:
        """System and strategy, ``"gpt-4o-2024-05-13 ICL"``."""
        return f"{self.system} {self.strategy}".strip()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A row that was not imported: its number (from 1), its experiment, and why."""

    row: int
    experiment: str
    reason: str


@dataclass(frozen=True, slots=True)
class ScoreImport:
    """The scores in a file, those of its rows that are none, and how many the store did not have yet."""

    source: str
    scores: tuple[ImportedScore, ...]
    left_out: tuple[LeftOut, ...]
    n_added: int = 0


def import_scores(store: Store, path: Path) -> ScoreImport:
    """Keep the authors' per-instance scores; the same file again adds nothing.

    Left out are rows without 293 (Result-ER: 288) values, rows whose values are all 0, and all but the last
    of rows with the same model, strategy and task: those before it were tried again.

    Raises
    ------
    DataError
        If the file is not what it should be; then nothing is kept.
    """
    data = file_content(path, _LARGEST, _REMEDY)
    source = f"{path.name} {hashlib.sha256(data).hexdigest()[:12]}"
    complete: dict[tuple[str, str, str], tuple[int, str, ImportedScore]] = {}
    left_out: list[LeftOut] = []
    for number, row in enumerate(_rows(path, data), start=1):
        experiment = row["Experiment Name"].strip()
        score = _score(row, experiment, f"{path}, row {number} ({shown(experiment)})", source)
        if isinstance(score, str):
            left_out.append(LeftOut(number, experiment, score))
            continue
        key = (score.system, score.strategy, score.task)
        if key in complete:
            earlier, name, _ = complete.pop(key)
            again = f"tried again: row {number} has the same model, strategy and task"
            left_out.append(LeftOut(earlier, name, again))
        complete[key] = (number, experiment, score)
    scores = tuple(score for _, _, score in complete.values())
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with store.write() as db:
        added = db.executemany(
            "INSERT INTO imported_scores (collection, system, strategy, task, recalls, source, imported_at)"
            " VALUES (:collection, :system, :strategy, :task, :recalls, :source, :now) ON CONFLICT DO NOTHING",
            [asdict(one) | {"recalls": json.dumps(one.recalls), "now": now} for one in scores],
        )
    return ScoreImport(
        source, scores, tuple(sorted(left_out, key=lambda one: one.row)), max(added.rowcount, 0)
    )


def imported_scores(store: Store, task: str | None = None) -> tuple[ImportedScore, ...]:
    """The imported scores, for one task or all, in the order of the file; of each name and task the newest."""
    with store.read() as db:
        rows = db.execute(
            "SELECT collection, system, strategy, task, recalls, source FROM imported_scores"
            " WHERE ?1 IS NULL OR task = ?1 ORDER BY id",
            (task,),
        ).fetchall()
    newest: dict[tuple[str, str], ImportedScore] = {}
    for collection, system, strategy, named, recalls, source in rows:
        score = ImportedScore(collection, system, strategy, named, tuple(json.loads(recalls)), source)
        newest[score.name, score.task] = score
    return tuple(newest.values())


def imported_named(store: Store, names: Sequence[str], task: str) -> tuple[ImportedScore, ...]:
    """Imported systems by name, upper and lower case being alike; `UnknownNameError` says which there are."""
    known = {score.name.lower(): score for score in imported_scores(store, task)}
    keys = {name: " ".join(name.lower().split()) for name in names}
    for name in (name for name, key in keys.items() if key not in known):
        place = f"imported system {shown(name)}"
        if known:
            systems = [score.name for score in known.values()]
            hint = f"{did_you_mean(name, systems, 0.4)}There are: {', '.join(systems)}."
            raise UnknownNameError(place, f"has no scores for {task}", hint)
        tasks = ", ".join(dict.fromkeys(score.task for score in imported_scores(store)))
        hint = f"There are scores for: {tasks}." if tasks else "Bring them in with import-scores FILE first."
        raise UnknownNameError(place, f"is not there: nothing is imported for {task}", hint)
    return tuple(known[keys[name]] for name in names)


def predictions_from(path: Path, content: bytes | None = None) -> dict[str, list[object]]:
    """The lists of a prediction file by instance id, in the order of the file; ``content`` is what was read of it.

    Whether the indices fit their papers is for `score_predictions` to say, which knows the papers.

    Raises
    ------
    DataError
        If the file cannot be read, is not one JSON object of lists, or names an instance twice.
    """
    value = json_value(path, _PREDICTIONS, "Keep one prediction an instance.", content)
    if not isinstance(value, dict):
        raise DataError(str(path), f"holds {shown(value)}, not an object", _PREDICTIONS)

    def check(item: tuple[str, object]) -> None:
        if not isinstance(item[1], list):
            raise DataError(f"{path}, {shown(item[0])}", f"is {shown(item[1])}, not a list", _PREDICTIONS)

    check_each(path, value.items(), check)
    return value


def check_each(path: Path, rows: Iterable[_Row], check: Callable[[_Row], None]) -> None:
    """Check every row of a file; one error names the first few that are wrong, and how many others there are."""
    wrong: list[DataError | SelectionError] = []
    n_wrong = 0
    for row in rows:
        try:
            check(row)
        except (DataError, SelectionError) as error:
            n_wrong += 1
            if len(wrong) < _NAMED:
                wrong.append(error)
    if n_wrong == 1:
        raise wrong[0]
    if wrong:
        named = "; ".join(f"{error.place.removeprefix(f'{path}, ')} {error.problem}" for error in wrong)
        others = f"; and {n_wrong - _NAMED:,} more" if n_wrong > _NAMED else ""
        remedies = {error.remedy for error in wrong}
        remedy = remedies.pop() if len(remedies) == 1 else "Correct them and give the file again."
        raise type(wrong[0])(str(path), f"has {n_wrong:,} problems: {named}{others}", remedy)


# -- the file of logs -----------------------------------------------------------------------------


def _rows(path: Path, data: bytes) -> list[dict[str, str]]:
    try:
        reader = csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""), restval="", strict=True)
        missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
        rows = [] if missing else list(reader)
    except (UnicodeDecodeError, csv.Error) as error:
        kind = "CSV" if isinstance(error, csv.Error) else "UTF-8 text"
        raise DataError(str(path), f"is not {kind}: {error}", _REMEDY) from error
    if missing:
        raise DataError(str(path), f"has no column {', '.join(map(shown, missing))}", _REMEDY)
    return rows


def _score(row: Mapping[str, str], experiment: str, place: str, source: str) -> ImportedScore | str:
    """The scores in a row, or why it is left out."""
    recalls = _recalls(row["Coverage List"].strip() or row["Recall List"].strip(), place)
    focus = "results" if "result" in experiment else "all"
    collection, complete = _COLLECTIONS[focus]
    if len(recalls) != complete:
        return f"incomplete: {len(recalls)} values, not {complete}"
    if not any(recalls):
        return "a failed run: every value is 0"
    strategy = next((name for name, pattern in _STRATEGIES if pattern.search(experiment)), "")
    task = _task(row["Cov@"].strip(), experiment, focus, place)
    return ImportedScore(collection, row["Model"].strip(), strategy, task, recalls, source)


def _recalls(text: str, place: str) -> tuple[float, ...]:
    """The list in a cell, which csv lets be of 131,072 characters at the most; empty for an empty cell."""
    try:
        values = json.loads(text or "[]")
    except (ValueError, RecursionError) as error:
        raise DataError(place, f"its list cannot be read: {error}", _REMEDY) from error
    if not isinstance(values, list):
        raise DataError(place, f"holds {shown(values)}, not a list", _REMEDY)
    for value in values:
        if type(value) not in (int, float) or not 0 <= value <= 1:
            raise DataError(place, f"holds {shown(value)}, not a recall of 0 to 1", _REMEDY)
    return tuple(map(float, values))


def _task(column: str, experiment: str, focus: str, place: str) -> str:
    """The task by the column ``Cov@`` (-1 is optimal), or where it is empty by the experiment's name."""
    named = _NAMED_BUDGET.search(experiment)
    budget = column or (named[1] if named else "")
    family = "er" if focus == "all" else "result-er"
    if budget in ("-1", "opt_k"):
        return f"{family}@optimal"
    if budget.isascii() and budget.isdigit() and len(budget) < 5 and int(budget):
        return f"{family}@{int(budget)}"
    if not budget and focus == "results":
        return "result-er@unconstrained"
    raise DataError(place, f"has the Cov@ {shown(column)}", "It is -1 for optimal, or a number of sentences.")
