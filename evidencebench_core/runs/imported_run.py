"""Somebody's own system as a run: from a prediction file or a TREC run, whole or not at all.

A TREC run holds rankings, from which the selection for any task follows: the first K. A prediction file
holds selections, which are for the task whose K they have.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from math import isfinite, nan
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeVar
from urllib.parse import unquote

from evidencebench_core.data.files import file_content
from evidencebench_core.data.model import EvidenceSet
from evidencebench_core.data.store import Store
from evidencebench_core.data.strict_json import json_value
from evidencebench_core.errors import DataError, SelectionError, SettingError, shown
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs.plan import DEFAULT_TASKS
from evidencebench_core.runs.spec import RunInfo
from evidencebench_core.runs.store import RunStore
from evidencebench_core.tasks import Task, task_named
from evidencebench_core.tasks.selection import validated_selection
from evidencebench_core.words import quantity

_LARGEST: Final = 128 << 20  # bytes
_FORMATS: Final = (
    'Give a prediction file, {"instance id": [sentence index, ...], ...}, or a TREC run of 128 MiB at most; '
    "the first sentences of every ranking are enough."
)
_LINE: Final = "A line of a TREC run is `id Q0 sentence rank score tag`, with %20 for a blank in an id."
_NUMBER: Final = re.compile(r"[0-9]{1,9}", re.ASCII)
_IN_NAMES: Final = " .,+=@/()_-"
_PREDICTIONS: Final = 'A prediction file is one JSON object: {"instance id": [sentence index, ...], ...}.'
_NAMED: Final = 5  # problems in a message

_Row = TypeVar("_Row")

Ranked = tuple[tuple[int, ...], tuple[float, ...]]  # sentences, best first, and their scores


@dataclass(frozen=True, slots=True)
class RunImport:
    """The result of an import."""

    run: RunInfo
    source: str  # file and the beginning of its sha256
    answers: Mapping[str, int]  # how many instances came in, by task
    left_out: Mapping[str, str]  # the tasks that the file does not serve, and why


def import_run(
    store: Store,
    dataset: str,
    path: Path,
    name: str,
    tasks: Iterable[str | Task] = (),
    *,
    replace: bool = False,
    allow_longer: bool = False,
) -> RunImport:
    """Keep somebody's answers as a run.

    Parameters
    ----------
    store : Store
    dataset : str
    path : Path
        A prediction file or a TREC run. A TREC run is read by its scores, equal ones by their ranks.
    name : str
        Of the run; the same name again adds other tasks to it.
    tasks : iterable of str or Task
        Without any, those with a budget that the file serves: every ranking has K sentences or more, every
        selection just K (or the whole paper). For named tasks they may be shorter.
    replace : bool
        Whether answers of the same name and task give way.
    allow_longer : bool
        Whether a selection of more than K is kept, and so scored by expectation (spec rule 8).

    Raises
    ------
    UnknownNameError, SettingError
        No such dataset or task; a name that cannot be, or is taken.
    DataError, SelectionError
        If anything in the file is wrong. Then the store is as it was.
    """
    info, plain = store.dataset(dataset), _checked_name(name)
    chosen = tuple(dict.fromkeys(task_named(task) for task in tasks))
    gold, ranked, is_json, source = _ranked(store, info.name, path)
    sizes = {name: evidence.n_sentences for name, evidence in gold.items()}
    if not ranked:
        raise DataError(str(path), "holds no answer", _FORMATS)
    answers: dict[str, dict[str, Retrieval]] = {}
    left_out: dict[str, str] = {}
    for task in chosen or map(task_named, DEFAULT_TASKS):
        asked = _asked(task, gold, ranked)
        problem = "" if asked else "it asks about none of the instances"
        if problem := problem or ("" if chosen else _misfit(task, asked, sizes, ranked, is_json)):
            left_out[task.name] = problem
            continue
        if is_json and not allow_longer:
            _check_length(path, task, asked, ranked)
        answers[task.name] = {
            one: Retrieval(*ranked[one], ranked[one][0][: None if is_json else k], details={"source": source})
            for one, k in asked.items()
        }
    if left_out and (chosen or not answers):
        listed = "; ".join(f"{task}: {why}" for task, why in left_out.items())
        raise DataError(str(path), f"fits no task ({listed})", "Name the task that it is for (--task).")
    run = RunStore(store).import_answers(info, plain, answers, replace)
    counts = {task: len(of) for task, of in answers.items()}
    return RunImport(run, source, MappingProxyType(counts), MappingProxyType(left_out))


def file_selections(
    store: Store, dataset: str, path: Path, task: str | Task
) -> tuple[dict[str, tuple[int, ...]], list[str]]:
    """The selections of a prediction file or TREC run for a task, and what is odd about them, a line each.

    Of a TREC run, those are the first K. Whatever is wrong in the file raises as in `import_run`.
    """
    asked, info = task_named(task), store.dataset(dataset)
    gold, ranked, is_json, _ = _ranked(store, info.name, path)
    budgets = _asked(asked, gold, ranked)
    selections = {
        name: order if is_json or budgets.get(name) is None else order[: budgets[name]]
        for name, (order, _) in ranked.items()
    }
    n_longer = sum(k is not None and len(selections[name]) > k for name, k in budgets.items())
    notices = [f"{quantity(n_longer, 'selection')} of more than K sentences: scored by expectation"]
    return selections, notices if n_longer else []


def _ranked(
    store: Store, dataset: str, path: Path
) -> tuple[dict[str, EvidenceSet], dict[str, Ranked], bool, str]:
    """The gold, what the file has by instance, whether these are selections, and the file's name and hash."""
    data, gold = file_content(path, _LARGEST, _FORMATS), dict(store.evidence_sets(dataset))
    sizes = {name: evidence.n_sentences for name, evidence in gold.items()}
    is_json = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")
    ranked = (_predictions if is_json else _trec_run)(path, data, sizes)
    return gold, ranked, is_json, f"{path.name} {hashlib.sha256(data).hexdigest()[:12]}"


def _checked_name(name: str) -> str:
    plain = " ".join(name.split())
    if plain and len(plain) <= 80 and all(char.isalnum() or char in _IN_NAMES for char in plain):
        return plain
    raise SettingError(
        "name of the run", f"is {shown(name)}", f"Use 1 to 80 letters, digits, spaces and {_IN_NAMES.strip()}"
    )


def _asked(
    task: Task, gold: Mapping[str, EvidenceSet], ranked: Mapping[str, Ranked]
) -> dict[str, int | None]:
    """K of each ranked instance that the task asks about, in the order of the dataset; ``None`` without a limit."""
    optimal = {name: evidence.optimal_for(task.focus) for name, evidence in gold.items()}
    budgets = {
        name: k if task.budget == "optimal" else task.budget for name, k in optimal.items() if k is not None
    }
    return {name: k for name, k in budgets.items() if name in ranked and k != 0}


def _misfit(
    task: Task,
    asked: Mapping[str, int | None],
    sizes: Mapping[str, int],
    ranked: Mapping[str, Ranked],
    is_json: bool,
) -> str:
    """Why the lists are not made for a task, or nothing if they are."""
    lengths = [
        (len(ranked[one][0]), sizes[one] if k is None else min(k, sizes[one])) for one, k in asked.items()
    ]
    shorter = sum(length < wanted for length, wanted in lengths)
    longer = sum(length > wanted for length, wanted in lengths) if is_json else 0
    counts = ((shorter, "fewer"), (longer, "more"))
    budget = "K" if task.budget == "optimal" else task.budget
    return ", ".join(f"{quantity(n, 'list')} of {than} than {budget} sentences" for n, than in counts if n)


def _check_length(
    path: Path, task: Task, asked: Mapping[str, int | None], ranked: Mapping[str, Ranked]
) -> None:
    def check(item: tuple[str, int | None]) -> None:
        one, k = item
        if k is not None and (n := len(ranked[one][0])) > k:
            raise SelectionError(
                f"{path}, {shown(one)}",
                f"selects {n} sentences, but {task.title} allows {k} here",
                "Select fewer, or allow longer selections (--allow-longer): they are scored by expectation.",
            )

    check_each(path, asked.items(), check)


def _predictions(path: Path, data: bytes, sizes: Mapping[str, int]) -> dict[str, Ranked]:
    ranked: dict[str, Ranked] = {}

    def read(item: tuple[str, list[object]]) -> None:
        one, picks = item
        place = f"{path}, {shown(one)}"
        if one not in sizes:
            raise _unknown(place, sizes)
        indices = validated_selection(picks, sizes[one], place)
        if len(indices) < len(picks):
            again = next(pick for number, pick in enumerate(picks) if pick in picks[:number])
            problem = f"selects sentence {again} more than once"
            raise SelectionError(place, problem, "Name every sentence once.")
        ranked[one] = indices, tuple(map(float, range(len(indices), 0, -1)))

    check_each(path, predictions_from(path, data).items(), read)
    return ranked


def _trec_run(path: Path, data: bytes, sizes: Mapping[str, int]) -> dict[str, Ranked]:
    try:
        lines = data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise DataError(str(path), f"is not UTF-8 text: {error}", _FORMATS) from error
    rows: dict[str, dict[int, tuple[float, int]]] = {}  # by instance and sentence the place in the order

    def read(numbered: tuple[int, str]) -> None:
        number, line = numbered
        columns = line.split()
        if not columns:
            return
        place = f"{path}, line {number}"
        if len(columns) != 6:
            raise DataError(place, f"has {quantity(len(columns), 'column')}, not 6: {shown(line)}", _LINE)
        qid, _, sentence, rank, score, _ = columns
        one = decoded if (decoded := unquote(qid)) in sizes else qid
        if one not in sizes:
            raise _unknown(f"{place}, {shown(qid)}", sizes)
        if not (_NUMBER.fullmatch(sentence) and _NUMBER.fullmatch(rank)):
            problem = f"has {shown(sentence)} for a sentence and {shown(rank)} for its rank"
            raise DataError(place, problem, _LINE)
        (index,) = validated_selection([int(sentence)], sizes[one], f"{place}, {shown(one)}")
        places = rows.setdefault(one, {})
        if index in places:
            problem = f"ranks sentence {index} again"
            raise SelectionError(f"{place}, {shown(one)}", problem, "Rank every sentence once.")
        try:
            value = float(score)
        except ValueError:
            value = nan
        if not isfinite(value):
            raise DataError(place, f"has {shown(score)} for a score", _LINE)
        places[index] = -value, int(rank)

    check_each(path, enumerate(lines, start=1), read)
    orders = {one: sorted(places, key=places.__getitem__) for one, places in rows.items()}
    return {
        one: (tuple(order), tuple(-rows[one][index][0] for index in order)) for one, order in orders.items()
    }


def _unknown(place: str, ids: Iterable[str]) -> SelectionError:
    there = ", ".join(map(shown, islice(ids, 3)))
    return SelectionError(
        place, "is no instance of the dataset", f"Its ids are {there}, ...: choose another dataset?"
    )


def predictions_from(path: Path, content: bytes | None = None) -> dict[str, list[object]]:
    """The lists of a prediction file by instance id, in the order of the file; ``content`` is what was read of it.

    Whether the indices fit their papers is for `score_predictions` to say, which knows the papers.

    Raises
    ------
    DataError
        If the file cannot be read, is not one JSON object of lists, or names an instance twice.
    """
    value = json_value(path, _PREDICTIONS, content)
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
