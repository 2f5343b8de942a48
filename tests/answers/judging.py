"""A judge's run without a model: the labels are given."""

from collections.abc import Mapping

from evidencebench_core.answers.judging import JUDGES
from evidencebench_core.answers.read import SAMPLE, read_answers
from evidencebench_core.answers.store import add_answers
from evidencebench_core.answers.units import units_frame
from evidencebench_core.data import Store
from evidencebench_core.runs import JUDGEMENTS, RunStore, chat_spec


def judge_run(store: Store, subject: str, labels: Mapping[str, str | None]) -> str:
    """The id of a run in which a judge of citations gave these labels, and none where it is ``None``."""
    spec = chat_spec(JUDGEMENTS, subject, "citations", "scripted", JUDGES["citations"].prompts).run
    texts = {unit: f"LABEL: {label}" if label else "Well." for unit, label in labels.items()}
    RunStore(store).create(spec, results={unit: {"": {"text": text}} for unit, text in texts.items()})
    return spec.id


def add_sample(store: Store) -> str:
    """The digest of the sample set, which is put into the store."""
    return add_answers(store, "sample answers", read_answers([SAMPLE])).sha256


def judge_sample(store: Store) -> str:
    """A run in which a judge of the sample's citations is right of two in three, and silent once."""
    units = units_frame(read_answers([SAMPLE]))
    human = units[(units["kind"] == "citations") & units["human"].notna()]
    labels: dict[str, str | None] = dict(human[["unit", "human"]].values)
    labels |= dict.fromkeys(human["unit"][::3], "supports")
    return judge_run(store, add_sample(store), {**labels, next(iter(labels)): None})
