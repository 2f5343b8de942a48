"""Somebody's own system as a run: from a prediction file or a TREC run, whole or not at all.

A TREC run holds rankings, from which the selection for any task follows: the first K. A prediction file
holds selections, which are for the task whose K they have.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import unquote

from evidencebench_core.data.files import file_content, json_value
from evidencebench_core.data.model import EvidenceSet
from evidencebench_core.data.store import Store
from evidencebench_core.errors import DataError, SelectionError, SettingError, shown
from evidencebench_core.retrievers import IMPORTED, Retrieval
from evidencebench_core.runs.plan import DEFAULT_TASKS
from evidencebench_core.runs.store import RunInfo, RunStore, retrieval_spec
from evidencebench_core.tasks import Task, task_named, validated_selection
from evidencebench_core.words import quantity

_LARGEST: Final = 128 << 20  # bytes
_FORMATS: Final = (
    'Give a prediction file, {"instance id": [sentence index, ...], ...}, or a TREC run of 128 MiB at most; '
    "the first sentences of every ranking are enough."
)
_LINE: Final = "A line of a TREC run is `id Q0 sentence rank score tag`, with %20 for a blank in an id."
_PREDICTIONS: Final = 'A prediction file is one JSON object: {"instance id": [sentence index, ...], ...}.'
_IN_NAMES: Final = " .,+=@/()_-"

_Order: TypeAlias = tuple[tuple[int, ...], tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class RunImport:
    """The result of an import."""

    run: RunInfo
    source: str  # file and the beginning of its sha256
    answers: Mapping[str, int]  # how many instances came in, by task
    left_out: Mapping[str, str]  # the tasks that the file does not serve, and why
    notices: Sequence[str]


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    source: str
    orders: Mapping[str, _Order]  # by instance id: its sentences, best first, and their scores
    are_selections: bool  # of a prediction file: they have no tail to take K from
    gold: Mapping[str, EvidenceSet]

    def budgets(self, task: Task) -> dict[str, int | None]:
        """K of each instance of the file that the task asks about; ``None`` without a limit."""
        gold = {name: evidence for name, evidence in self.gold.items() if name in self.orders}
        return {name: task.budget_for(of) for name, of in gold.items() if of.optimal_for(task.focus)}

    def misfit(self, task: Task) -> str:
        """Why the lists are not made for a task; empty if they are."""
        budgets, n_wrong = self.budgets(task), 0
        for name, k in budgets.items():
            n, n_sentences = len(self.orders[name][0]), self.gold[name].n_sentences
            wanted = n_sentences if k is None else min(k, n_sentences)
            n_wrong += n != wanted if self.are_selections else n < wanted
        if not budgets:
            return "it asks about none of the instances"
        return f"{n_wrong:,} of {len(budgets):,} lists have not its K sentences" if n_wrong else ""

    def retrievals(self, task: Task) -> dict[str, Retrieval]:
        """The answers to a task; a TREC run is cut at K."""
        answers: dict[str, Retrieval] = {}
        for name, k in self.budgets(task).items():
            ranking, scores = self.orders[name]
            selection = ranking if self.are_selections else ranking[:k]
            answers[name] = Retrieval(ranking, scores, selection, details={"source": self.source})
        return answers

    def notices(self, task: Task) -> list[str]:
        """What is odd about the selections for a task, a line each."""
        selected = {name: len(answer.selection) for name, answer in self.retrievals(task).items()}
        n_longer = sum(k is not None and selected[name] > k for name, k in self.budgets(task).items())
        selections = quantity(n_longer, "selection")
        return (
            [f"{task.name}: {selections} of more than K sentences, scored by expectation"] if n_longer else []
        )


def import_run(
    store: Store,
    dataset: str,
    path: Path,
    name: str,
    tasks: Iterable[str | Task] = (),
    *,
    replace: bool = False,
) -> RunImport:
    """Keep somebody's answers as a run.

    Parameters
    ----------
    path : Path
        A prediction file or a TREC run. A TREC run is read by its scores, equal ones by their ranks.
    name : str
        Of the run; the same name again adds other tasks to it.
    tasks : iterable of str or Task
        Without any, those with a budget that the file serves: every ranking has K sentences or more, every
        selection just K (or the whole paper). For named tasks they may be shorter or longer.
    replace : bool
        Whether answers of the same name and task give way.

    Raises
    ------
    SettingError, DataError, SelectionError
        For a name that is taken; if anything in the file is wrong. Then the store is as it was.
    """
    runs, info = RunStore(store), store.dataset(dataset)
    spec = retrieval_spec(info.sha256, IMPORTED, {"name": _checked_name(name)})
    chosen = [task_named(task) for task in tasks]
    file = _read(store, info.name, path)
    misfits = {task: file.misfit(task) for task in map(task_named, DEFAULT_TASKS)}
    served = chosen or [task for task, problem in misfits.items() if not problem]
    answers = {task.name: file.retrievals(task) for task in served}
    if not any(answers.values()):
        reasons = "; ".join(f"{task.name}: {problem}" for task, problem in misfits.items())
        raise DataError(str(path), f"fits no task ({reasons})", "Name the task that it is for (--task).")
    taken = [task for task in answers if runs.done(spec.id, task)]
    if taken and not replace:
        problem = f"there is an imported run of this name with answers for {', '.join(taken)}"
        remedy = "Choose another name, or have them replaced (--replace)."
        raise SettingError(f"name {shown(name)}", problem, remedy)
    runs.create(spec)
    by_instance = {
        name: {task: of[name] for task, of in answers.items() if name in of} for name in file.orders
    }
    run = runs.replace_tasks(spec.id, by_instance)
    counts = {task: len(retrievals) for task, retrievals in answers.items()}
    left_out = {} if chosen else {task.name: problem for task, problem in misfits.items() if problem}
    notices = [line for task in served for line in file.notices(task)]
    return RunImport(run, file.source, counts, left_out, notices)


def file_selections(
    store: Store, dataset: str, path: Path, task: str | Task
) -> tuple[dict[str, tuple[int, ...]], list[str]]:
    """The selections of a prediction file or TREC run for a task, and what is odd about them, a line each."""
    file, chosen = _read(store, dataset, path), task_named(task)
    unscored = {name: ranking for name, (ranking, _) in file.orders.items()}  # `score` says why
    scored = {name: answer.selection for name, answer in file.retrievals(chosen).items()}
    return unscored | scored, file.notices(chosen)


def _checked_name(name: str) -> str:
    plain = " ".join(name.split())
    if plain and len(plain) <= 80 and all(char.isalnum() or char in _IN_NAMES for char in plain):
        return plain
    remedy = f"Use 1 to 80 letters, digits, spaces and {_IN_NAMES.strip()}"
    raise SettingError("name of the run", f"is {shown(name)}", remedy)


def _read(store: Store, dataset: str, path: Path) -> _File:
    data, gold = file_content(path, _LARGEST, _FORMATS), dict(store.evidence_sets(dataset))
    is_json = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")
    orders = _predictions(path, data, gold) if is_json else _trec_run(path, data, gold)
    if not orders:
        raise DataError(str(path), "holds no answer", _FORMATS)
    return _File(path, f"{path.name} {hashlib.sha256(data).hexdigest()[:12]}", orders, is_json, gold)


def _predictions(path: Path, data: bytes, gold: Mapping[str, EvidenceSet]) -> dict[str, _Order]:
    value = json_value(path, _PREDICTIONS, data)
    if not isinstance(value, dict):
        raise DataError(str(path), f"holds {shown(value)}, not an object", _PREDICTIONS)
    orders: dict[str, _Order] = {}
    for name, picks in value.items():
        place = f"{path}, {shown(name)}"
        indices = validated_selection(picks, _known(name, gold, place).n_sentences, place)
        if len(indices) < len(picks):
            repeated = next(pick for number, pick in enumerate(picks) if pick in picks[:number])
            problem = f"selects sentence {repeated} more than once"
            raise SelectionError(place, problem, "Name every sentence once.")
        orders[name] = indices, tuple(map(float, range(len(indices), 0, -1)))
    return orders


def _trec_run(path: Path, data: bytes, gold: Mapping[str, EvidenceSet]) -> dict[str, _Order]:
    try:
        lines = data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise DataError(str(path), f"is not UTF-8 text: {error}", _FORMATS) from error
    places: dict[str, dict[int, tuple[float, int]]] = {}  # of each sentence in the order, by instance
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        try:
            query_id, _, sentence, rank, score, _ = line.split()
            index, key = int(sentence), (-float(score), int(rank))
            if not isfinite(key[0]):
                raise ValueError(score)
        except ValueError as error:
            raise DataError(place, f"is {shown(line.strip())}", _LINE) from error
        name = unquote(query_id) if unquote(query_id) in gold else query_id
        place = f"{place}, {shown(name)}"
        validated_selection([index], _known(name, gold, place).n_sentences, place)
        if index in places.setdefault(name, {}):
            raise SelectionError(place, f"ranks sentence {index} again", "Rank every sentence once.")
        places[name][index] = key
    orders: dict[str, _Order] = {}
    for name, keys in places.items():
        ranking = sorted(keys, key=keys.__getitem__)
        orders[name] = tuple(ranking), tuple(-keys[index][0] for index in ranking)
    return orders


def _known(name: str, gold: Mapping[str, EvidenceSet], place: str) -> EvidenceSet:
    if name not in gold:
        ids = ", ".join(map(shown, islice(gold, 3)))
        remedy = f"Its ids are {ids}, ...: choose another dataset?"
        raise SelectionError(place, "is no instance of the dataset", remedy)
    return gold[name]
