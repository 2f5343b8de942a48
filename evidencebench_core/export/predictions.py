"""Somebody's own system as a run: from a prediction file or a TREC run, whole or not at all; a person's marks as one.

A TREC run and a file of scores hold rankings, which answer every task: its first K. A file of lists holds selections
for one task.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from evidencebench_core.annotation.marked import instance_key
from evidencebench_core.annotation.model import Annotation
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data.files import file_content, json_value
from evidencebench_core.data.model import EvidenceSet, Focus
from evidencebench_core.data.primitives import checked_name
from evidencebench_core.data.store import Store
from evidencebench_core.errors import DataError, PaperError, SelectionError, SettingError, shown
from evidencebench_core.retrievers import ANNOTATOR, IMPORTED, Retrieval
from evidencebench_core.retrievers.base import ranking_in_order
from evidencebench_core.retrievers.own import ranking_of_scores
from evidencebench_core.runs.model import RunInfo, retrieval_spec
from evidencebench_core.runs.store import RunStore
from evidencebench_core.tasks import Task, task_named, validated_selection

_LARGEST: Final = 128 << 20  # bytes
_FORMATS: Final = (
    'Give a prediction file, {"instance id": [sentence index, ...], ...}, the same with {"index": score, ...}, or a '
    "TREC run, of 128 MiB at most; the first sentences of every ranking are enough."
)
_LINE: Final = "A line of a TREC run is `id Q0 sentence rank score tag`, with %20 for a blank in an id."


def import_run(
    store: Store, dataset: str, path: Path, name: str, tasks: Sequence[str | Task] = ()
) -> RunInfo:
    """Keep somebody's answers as a run: of rankings for every task, of selections for the tasks named.

    A TREC run is read by its scores, equal ones by their ranks. Selections for another task under the same name are
    added to the run. An error leaves the store as it was.
    """
    runs, info, chosen = RunStore(store), store.dataset(dataset), [task_named(task) for task in tasks]
    gold = dict(store.evidence_sets(info))
    answers = file_answers(gold, path)
    are_rankings = all(answer.n_picks is None for answer in answers.values())
    spec = retrieval_spec(info.sha256, IMPORTED, {"name": checked_name(" ".join(name.split()), "run")}, {})
    questions = [""] if are_rankings else [task.name for task in chosen]
    results: dict[str, dict[str, Retrieval]] = {}
    for instance_id, answer in answers.items():
        asked = [task.name for task in chosen if gold[instance_id].optimal_for(task.focus)]
        results[instance_id] = dict.fromkeys(questions if are_rankings else asked, answer)
    if not any(results.values()):
        problem = "holds selections, which are for one task" if not chosen else "says nothing on the tasks"
        raise DataError(str(path), problem, "Name the task that they are for (--task).")
    taken = [question for question in ("", *questions) if runs.done(spec.id, question)]
    if taken:
        problem = f"is that of an imported run with answers for {', '.join(filter(None, taken)) or 'all'}"
        raise SettingError(f"name {shown(name)}", problem, "Choose another name, or delete that run first.")
    runs.create(spec, results=results)
    return runs.run(spec.id)


def import_annotator(store: Store, dataset: str, annotator: str) -> RunInfo:
    """Keep somebody's marks on instances of a dataset as a run: the marked sentences in the order of marking.

    A task takes the first K; the Result tasks take sentences of the aspects that the annotator calls results. The same
    annotator again takes the place of the earlier run. `PaperError` where nothing is marked.
    """
    runs, info, annotations = RunStore(store), store.dataset(dataset), Annotations(store)
    prefix = instance_key(info, "")
    results: dict[str, dict[str, Retrieval]] = {}
    for key in annotations.papers():
        annotation = annotations.get(key, annotator) if key.startswith(prefix) else None
        if annotation is not None and annotation.evidence_sentences:
            states = (*annotations.states(key, annotator), annotation)
            results[key.removeprefix(prefix)] = {
                focus: ranking_in_order(_marking_order(states, focus)) for focus in ("all", "results")
            }
    if not results:
        place = f"annotator {shown(annotator)}"
        raise PaperError(place, f"has marked no instance of {info.name}", "Name somebody who has marked it.")
    spec = retrieval_spec(info.sha256, ANNOTATOR, {"name": annotator}, {})
    runs.clear(spec.id)
    runs.create(spec, results=results)
    return runs.run(spec.id)


def _marking_order(states: Sequence[Annotation], focus: Focus) -> list[int]:
    """The sentences that the last state has marked, in the order in which they were; at once, in that of the paper."""
    marks: list[list[int]] = []
    for state in states:
        covers = [aspect.sentence_indices for aspect in state.evidence().focused(focus)]
        marks.append(sorted(set(chain.from_iterable(covers))))
    return [index for index in dict.fromkeys(chain.from_iterable(marks)) if index in marks[-1]]


def file_answers(gold: Mapping[str, EvidenceSet], path: Path) -> dict[str, Retrieval]:
    """The answers in a file by instance id; those of lists have chosen how many sentences they pick."""
    data = file_content(path, _LARGEST, _FORMATS)
    is_json = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")
    answers = _predictions(path, data, gold) if is_json else _trec_run(path, data, gold)
    if not answers:
        raise DataError(str(path), "holds no answer", _FORMATS)
    details = {"source": f"{path.name} {hashlib.sha256(data).hexdigest()[:12]}"}
    return {name: replace(answer, details=details) for name, answer in answers.items()}


def _predictions(path: Path, data: bytes, gold: Mapping[str, EvidenceSet]) -> dict[str, Retrieval]:
    value = json_value(path, _FORMATS, data)
    if not isinstance(value, dict):
        raise DataError(str(path), f"holds {shown(value)}, not an object", _FORMATS)
    are_scores = any(isinstance(picks, dict) for picks in value.values())
    answers: dict[str, Retrieval] = {}
    for name, picks in value.items():
        place = _place(name, gold, str(path))
        if not are_scores:
            selection = validated_selection(picks, gold[name].n_sentences, place)
            answers[name] = replace(ranking_in_order(selection), n_picks=len(selection))
        elif isinstance(picks, dict):
            answers[name] = ranking_of_scores(picks, gold[name].n_sentences, place)
        else:
            raise DataError(place, f"has {shown(picks)}, where others have scores", _FORMATS)
    return answers


def _trec_run(path: Path, data: bytes, gold: Mapping[str, EvidenceSet]) -> dict[str, Retrieval]:
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
        place = _place(name, gold, place)
        validated_selection([index], gold[name].n_sentences, place)
        if index in ranked[name]:
            raise SelectionError(place, f"ranks sentence {index} again", "Rank every sentence once.")
        ranked[name][index] = key
    answers: dict[str, Retrieval] = {}
    for name, keys in ranked.items():
        ranking = sorted(keys, key=keys.__getitem__)
        answers[name] = Retrieval(tuple(ranking), tuple(-keys[index][0] for index in ranking))
    return answers


def _place(name: str, gold: Mapping[str, EvidenceSet], place: str) -> str:
    """The place of an instance's answer in a file; `SelectionError` if there is no such instance."""
    place = f"{place}, {shown(name)}"
    if name not in gold:
        remedy = f"Its ids are like {shown(next(iter(gold), ''))}: choose another dataset?"
        raise SelectionError(place, "is no instance of the dataset", remedy)
    return place
