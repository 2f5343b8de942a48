"""Scores of an encoder in hand as a dense retriever, without a folder or a cache."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.data.model import EvidenceSet, Instance
from evidencebench_core.retrievers.base import query_of
from evidencebench_core.retrievers.cosine import cosines
from evidencebench_core.retrievers.ranking import retrieval_by_score
from evidencebench_core.tasks import Score, Task, score


def encoder_scores(
    encode: Callable[[Sequence[str]], NDArray[np.float32]],
    instances: Iterable[Instance],
    tasks: Sequence[Task],
) -> dict[str, Score]:
    """The score on each task, by its name; every paper is encoded once.

    ``encode`` makes an array of shape (texts, dimensions).
    """
    gold: list[tuple[str, EvidenceSet]] = []
    selections: dict[str, dict[str, tuple[int, ...]]] = {task.name: {} for task in tasks}
    for instance in instances:
        gold.append((instance.id, instance.evidence))
        similarities = cosines(encode((instance.hypothesis, *instance.sentences)))
        for task in tasks:
            if instance.evidence.focused(task.focus):
                query = query_of(instance, task.focus, task.budget_for(instance.evidence))
                picks = retrieval_by_score(query, similarities).selection
                selections[task.name][instance.id] = picks
    return {task.name: score(task, gold, selections[task.name]) for task in tasks}
