"""The authors' ``official_logs.csv``: per-instance Aspect Recall of their systems on the test set.

A row is one experiment: its recalls stand, in the order of the dataset, in ``Coverage List`` (ER tasks) or
``Recall List`` (Result tasks), as a JSON list. Complete rows have 293 values (ER) or 288 (Result-ER: five
test instances have no result aspects). Other rows are trials.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

from evidencebench_core.errors import DataError, shown

COLLECTIONS: Final[Mapping[str, tuple[str, int]]] = {
    "all": ("evidencebench-test", 293),
    "results": ("evidencebench-test-results", 288),
}
"""By focus: which instances a complete row has, in which order, and how many they are."""

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
_LONGEST: Final = 1 << 17  # characters of a list; the authors' have 4,000
_REMEDY: Final = "The authors' file is official_logs.csv in the repository EvidenceBench/EvidenceBench."


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
class OfficialLogs:
    """The contents of a file of logs."""

    source: str
    scores: tuple[ImportedScore, ...]
    left_out: tuple[LeftOut, ...]


def official_logs(path: Path) -> OfficialLogs:
    """The complete rows of a file of logs, and why the others are left out.

    Left out are rows without 293 (Result-ER: 288) values, rows whose values are all 0, and all but the last
    of rows with the same model, strategy and task: those before it were tried again.
    """
    data = _content(path)
    source = f"{path.name} {hashlib.sha256(data).hexdigest()[:12]}"
    kept: dict[tuple[str, str, str], tuple[int, str, ImportedScore]] = {}
    left_out: list[LeftOut] = []
    for number, row in enumerate(_rows(path, data), start=1):
        experiment = row["Experiment Name"].strip()
        place = f"{path}, row {number} ({shown(experiment)})"
        recalls = _recalls(row["Coverage List"].strip() or row["Recall List"].strip(), place)
        focus = "results" if "result" in experiment else "all"
        collection, complete = COLLECTIONS[focus]
        reason = _reason(recalls, complete)
        if reason:
            left_out.append(LeftOut(number, experiment, reason))
            continue
        system = row["Model"].strip()
        strategy = next((name for name, pattern in _STRATEGIES if pattern.search(experiment)), "")
        task = _task(row["Cov@"].strip(), experiment, focus, place)
        key = (system, strategy, task)
        if key in kept:
            earlier, name, _ = kept.pop(key)
            again = f"tried again: row {number} has the same model, strategy and task"
            left_out.append(LeftOut(earlier, name, again))
        kept[key] = (
            number,
            experiment,
            ImportedScore(collection, system, strategy, task, recalls, source),
        )
    return OfficialLogs(
        source,
        tuple(score for _, _, score in sorted(kept.values(), key=lambda item: item[0])),
        tuple(sorted(left_out, key=lambda item: item.row)),
    )


def _content(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= _LARGEST and path.is_file() else None
    except OSError as error:
        raise DataError(str(path), f"cannot be read: {error.strerror or error}", _REMEDY) from error
    if data is None:
        problem = f"has {size:,} bytes, more than any such file" if size > _LARGEST else "is not a file"
        raise DataError(str(path), problem, _REMEDY)
    return data


def _rows(path: Path, data: bytes) -> list[dict[str, str]]:
    try:
        reader = csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""), restval="", strict=True)
        missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
        rows = [] if missing else list(reader)
    except UnicodeDecodeError as error:
        raise DataError(str(path), f"is not UTF-8 text: {error}", _REMEDY) from error
    except csv.Error as error:
        raise DataError(str(path), f"is not CSV: {error}", _REMEDY) from error
    if missing:
        raise DataError(str(path), f"has no column {', '.join(map(shown, missing))}", _REMEDY)
    return rows


def _recalls(text: str, place: str) -> tuple[float, ...]:
    """The list in a cell; empty for an empty cell."""

    def no_number(name: str) -> NoReturn:
        raise DataError(place, f"holds {name}, which is no recall", _REMEDY)

    if len(text) > _LONGEST:
        raise DataError(place, f"has a list of {len(text):,} characters, more than any such file", _REMEDY)
    try:
        values = json.loads(text or "[]", parse_constant=no_number)
    except (ValueError, RecursionError) as error:
        raise DataError(place, f"its list cannot be read: {error}", _REMEDY) from error
    if not isinstance(values, list):
        raise DataError(place, f"holds {shown(values)}, not a list", _REMEDY)
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise DataError(place, f"holds {shown(value)}, not a recall of 0 to 1", _REMEDY)
    return tuple(float(value) for value in values)


def _reason(recalls: tuple[float, ...], complete: int) -> str:
    """Why a row is left out; empty where it is complete."""
    if len(recalls) != complete:
        return f"incomplete: {len(recalls)} values, not {complete}"
    return "" if any(recalls) else "a failed run: every value is 0"


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
