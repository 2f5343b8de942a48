"""Somebody's own system as a run: from a prediction file or a TREC run, whole or not at all.

A TREC run holds rankings, from which the selection for any task follows: the first K. A prediction file
holds selections for one task.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import unquote

from evidencebench_core.data.files import file_content, json_value
from evidencebench_core.data.model import EvidenceSet
from evidencebench_core.data.primitives import checked_name
from evidencebench_core.data.store import Store
from evidencebench_core.errors import DataError, SelectionError, SettingError, shown
from evidencebench_core.retrievers import IMPORTED, Retrieval
from evidencebench_core.runs.planning import DEFAULT_TASKS
from evidencebench_core.runs.store import RunInfo, RunStore, retrieval_spec
from evidencebench_core.tasks import Task, task_named, validated_selection

_LARGEST: Final = 128 << 20  # bytes
_FORMATS: Final = (
    'Give a prediction file, {"instance id": [sentence index, ...], ...}, or a TREC run of 128 MiB at most; '
    "the first sentences of every ranking are enough."
)
_LINE: Final = "A line of a TREC run is `id Q0 sentence rank score tag`, with %20 for a blank in an id."

_Lists: TypeAlias = dict[str, tuple[tuple[int, ...], tuple[float, ...]]]


@dataclass(frozen=True, slots=True)
class _File:
    source: str  # its name and the beginning of its sha256
    lists: _Lists  # sentences, best first, and their scores, by instance id
    are_selections: bool  # of a prediction file: they have no tail to take K from
    gold: Mapping[str, EvidenceSet]

    def selection(self, name: str, task: Task) -> tuple[int, ...]:
        """The selection for a task; a ranking is cut at K."""
        ranking, _ = self.lists[name]
        return ranking if self.are_selections else ranking[: task.budget_for(self.gold[name])]

    def answers(self, name: str, tasks: Sequence[Task]) -> dict[str, Retrieval]:
        """The answers to those tasks that ask about an instance."""
        details = {"source": self.source}
        return {
            task.name: Retrieval(*self.lists[name], self.selection(name, task), details=details)
            for task in tasks
            if self.gold[name].optimal_for(task.focus)
        }


def import_run(
    store: Store, dataset: str, path: Path, name: str, tasks: Sequence[str | Task] = ()
) -> RunInfo:
    """Keep somebody's answers to some tasks as a run; the same name again adds other tasks to it.

    A TREC run is read by its scores, equal ones by their ranks; without tasks it answers those with a budget.

    `StoreError` or `SettingError` for a name that cannot be, or has answers to these tasks; `DataError` or
    `SelectionError` if anything in the file is wrong, or a prediction file comes without tasks. Then the store is as
    it was.
    """
    runs, info = RunStore(store), store.dataset(dataset)
    spec = retrieval_spec(info.sha256, IMPORTED, {"name": checked_name(" ".join(name.split()), "run")})
    file = _read(store, info.name, path)
    chosen = [task_named(task) for task in tasks or (() if file.are_selections else DEFAULT_TASKS)]
    answers = {instance_id: file.answers(instance_id, chosen) for instance_id in file.lists}
    if not any(answers.values()):
        problem = "says nothing on the tasks" if chosen else "holds selections, which are for one task"
        raise DataError(str(path), problem, "Name the task that they are for (--task).")
    taken = [task.name for task in chosen if runs.done(spec.id, task.name)]
    if taken:
        problem = f"there is an imported run of this name with answers for {', '.join(taken)}"
        remedy = "Choose another name, or delete that run first."
        raise SettingError(f"name {shown(name)}", problem, remedy)
    runs.create(spec)
    runs.add(spec.id, answers)
    return runs.run(spec.id)


def file_selections(store: Store, dataset: str, path: Path, task: str | Task) -> dict[str, tuple[int, ...]]:
    """The selections of a prediction file or TREC run for a task."""
    file, chosen = _read(store, dataset, path), task_named(task)
    return {name: file.selection(name, chosen) for name in file.lists}


def _read(store: Store, dataset: str, path: Path) -> _File:
    data, gold = file_content(path, _LARGEST, _FORMATS), dict(store.evidence_sets(dataset))
    is_json = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")
    lists = _predictions(path, data, gold) if is_json else _trec_run(path, data, gold)
    if not lists:
        raise DataError(str(path), "holds no answer", _FORMATS)
    return _File(f"{path.name} {hashlib.sha256(data).hexdigest()[:12]}", lists, is_json, gold)


def _predictions(path: Path, data: bytes, gold: Mapping[str, EvidenceSet]) -> _Lists:
    value = json_value(path, _FORMATS, data)
    if not isinstance(value, dict):
        raise DataError(str(path), f"holds {shown(value)}, not an object", _FORMATS)
    lists: _Lists = {}
    for name, picks in value.items():
        indices = _checked(name, picks, gold, str(path))
        lists[name] = indices, tuple(map(float, range(len(indices), 0, -1)))
    return lists


def _trec_run(path: Path, data: bytes, gold: Mapping[str, EvidenceSet]) -> _Lists:
    try:
        lines = data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise DataError(str(path), f"is not UTF-8 text: {error}", _FORMATS) from error
    ranked: dict[str, dict[int, tuple[float, int]]] = defaultdict(dict)  # negative score and rank by sentence
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
        _checked(name, [index], gold, place)
        if index in ranked[name]:
            raise SelectionError(place, f"ranks sentence {index} again", "Rank every sentence once.")
        ranked[name][index] = key
    lists: _Lists = {}
    for name, keys in ranked.items():
        ranking = sorted(keys, key=keys.__getitem__)
        lists[name] = tuple(ranking), tuple(-keys[index][0] for index in ranking)
    return lists


def _checked(name: str, picks: object, gold: Mapping[str, EvidenceSet], place: str) -> tuple[int, ...]:
    """Sentence indices of an instance."""
    place = f"{place}, {shown(name)}"
    if name not in gold:
        remedy = f"Its ids are like {shown(next(iter(gold), ''))}: choose another dataset?"
        raise SelectionError(place, "is no instance of the dataset", remedy)
    return validated_selection(picks, gold[name].n_sentences, place)
