"""A judge's run without a model: the labels are given."""

from __future__ import annotations

from collections.abc import Mapping

from evidencebench_core.answers.agreement import human_units
from evidencebench_core.answers.read import SAMPLE, answer_set, read_answers
from evidencebench_core.answers.store import add_answers
from evidencebench_core.data import Store
from evidencebench_core.runs import ChatRuns, ChatRunSpec


def judge_run(
    store: Store, subject: str, task: str, labels: Mapping[str, str | None], scale: str = "ternary"
) -> str:
    """The id of a run in which a judge gave these labels, and none where it is ``None``."""
    spec = ChatRunSpec("answers", subject, {"task": task, "scale": scale, "model": "scripted"})
    ChatRuns(store).create(spec)
    results = {unit: {"text": f"LABEL: {label}" if label else "Well."} for unit, label in labels.items()}
    ChatRuns(store).add(spec.id, results)
    return spec.id


def add_sample(store: Store) -> str:
    """The digest of the sample set, which is put into the store."""
    return add_answers(store, "sample answers", read_answers([SAMPLE])).sha256


def judge_sample(store: Store) -> str:
    """A run in which a judge of the sample's citations is right of two in three, and silent once."""
    human = human_units(answer_set(read_answers([SAMPLE])), "ternary").labels
    labels = {unit: label if n % 3 else "supports" for n, (unit, label) in enumerate(human.items())}
    return judge_run(store, add_sample(store), "citations", {**labels, next(iter(labels)): None})
