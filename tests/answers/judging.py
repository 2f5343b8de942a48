"""A judge's run without a model: the labels are given."""

from collections.abc import Mapping

from evidencebench_core.answers.judging import JUDGES
from evidencebench_core.answers.read import SAMPLE, read_answers
from evidencebench_core.answers.store import add_answers
from evidencebench_core.answers.units import units_frame
from evidencebench_core.data import Store
from evidencebench_core.runs import JUDGEMENTS, RunStore, chat_spec


def judge_run(
    store: Store, subject: str, task: str, labels: Mapping[str, str | None], model: str = "scripted"
) -> str:
    """The id of a run in which a judge gave these labels, and none where it is ``None``."""
    spec = chat_spec(JUDGEMENTS, subject, task, model, JUDGES[task].prompts).run
    RunStore(store).create(spec)
    results = {unit: {"text": f"LABEL: {label}" if label else "Well."} for unit, label in labels.items()}
    RunStore(store).add(spec.id, {unit: {"": result} for unit, result in results.items()})
    return spec.id


def add_sample(store: Store) -> str:
    """The digest of the sample set, which is put into the store."""
    return add_answers(store, "sample answers", read_answers([SAMPLE])).sha256


def judge_sample(store: Store) -> str:
    """A run in which a judge of the sample's citations is right of two in three, and silent once."""
    units = units_frame(read_answers([SAMPLE]))
    human = units[(units["kind"] == "citations") & units["human"].notna()]
    labels: dict[str, str | None] = {
        unit: label if n % 3 else "supports"
        for n, (unit, label) in enumerate(human[["unit", "human"]].values)
    }
    return judge_run(store, add_sample(store), "citations", {**labels, next(iter(labels)): None})
