"""RAmBLA's tasks: what each asks, its labels, its figure, and how a judge reads free text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Final

from pydantic import Field

from evidencebench_core.errors import SettingError, did_you_mean, shown
from evidencebench_core.reliability import probes
from evidencebench_core.reliability.figures import BIAS, JUDGED_ACCURACY, REFRAIN_RATE, WEIGHTED_F1, Figure
from evidencebench_core.reliability.items import Item, ItemSet, Kind
from evidencebench_core.reliability.probes import Draft, Probe
from evidencebench_core.retrievers.settings import Setting, Settings
from evidencebench_core.words import enumerated, quantity

ORDERS: Final = ("NNNN", "NNNY", "NNYY", "NYNY", "YNYN", "YYNN", "YYYN", "YYYY")
"""The orders of few-shot examples that the paper has; the first letter is shown first."""
Order = Annotated[str, Field(pattern="^[YNyn]{1,8}$")]
Number = Annotated[str, Field(pattern="^[0-9]{1,4}$")]


@dataclass(frozen=True, slots=True)
class Probes:
    """The probes of a task, variant by variant, and why other items have none, by item id."""

    probes: tuple[Probe, ...]
    left_out: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """How a judge reads free text."""

    prompt: str
    labels: tuple[str, ...]
    fields: Callable[[Item, str], dict[str, str]]  # of the prompt, from an item and the text about it
    expected: Callable[[Item], str | None]  # the label of a right text


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityTask:
    """One of RAmBLA's tasks."""

    name: str
    number: str  # in the paper
    title: str
    about: str  # what its figure shows
    kind: Kind = "questions"  # of item sets that it can be run on
    prompt: str
    needs: tuple[str, ...]  # fields of `Item` without which an item is left out
    probes: Callable[[Draft], Iterator[Probe]]
    settings: type[Settings] = Settings
    labels: tuple[str, ...] = ("yes", "no")  # what the model can answer; empty for free text
    judge: Reader | None = None  # of free text
    figure: Figure = WEIGHTED_F1
    headline: tuple[str, ...] = ()  # the variants that the figure is of; empty: all
    against: str = "baseline"  # the task that it is compared with, if both have the same figure

    @property
    def read_labels(self) -> tuple[str, ...]:
        """The labels of its answers: the model's own, or those of a judge."""
        return self.judge.labels if self.judge else self.labels

    def expected(self, probe: Probe) -> str | None:
        """The label of a right answer: the model's own, or that of a judge."""
        return self.judge.expected(probe.item) if self.judge else probe.expected


class _Rewording(Settings):
    writer: str | None = Field(None, description="The model that rewords; none: the one that is asked.")


class _Drawn(Settings):
    seed: int = Field(0, ge=0, description="Another seed, another draw.")


class _FewShot(_Drawn):
    orders: tuple[Order, ...] = Field(ORDERS, description="Orders of the examples' answers, such as NNNY.")


class _Spelling(_Drawn):
    errors: tuple[Number, ...] = Field(
        ("0", "1", "3", "10", "20", "50"), description="How many words are misspelt."
    )
    keep_digits: bool = Field(False, description="Change no digit: a changed number can change a result.")


class _Distraction(_Drawn):
    distractors: int = Field(2, ge=0, le=8, description="How many other contexts are shown.")


def _reader_of_statements(reference: Callable[[Item], str]) -> Reader:
    return Reader(
        prompt="reliability-judge",
        labels=("yes", "no"),
        fields=lambda item, text: {"statement_1": text, "statement_2": reference(item)},
        expected=lambda _: "yes",
    )


_CONCLUSION: Final = Reader(
    prompt="reliability-conclusion-judge",
    labels=("yes", "no", "unknown"),
    fields=lambda item, text: {"question": item.question, "summary": text},
    expected=lambda item: item.answer,
)
_BASELINE: Final = "reliability-baseline"
_SHORT: Final = ("question", "context", "answer")

_TASKS: Final = (
    ReliabilityTask(
        name="baseline", number="T1", title="Baseline", prompt=_BASELINE, needs=_SHORT, probes=probes.plain_probes,
        about="How often the model answers yes or no rightly from the context.", against="",
    ),
    ReliabilityTask(
        name="knowledge", number="T1k", title="Without context", prompt="reliability-knowledge",
        needs=("question", "answer"), probes=probes.plain_probes,
        about="How often it is right with nothing to read: what it knows by heart, or guesses.",
    ),
    ReliabilityTask(
        name="paraphrase", number="T2", title="Paraphrase", prompt=_BASELINE, needs=_SHORT,
        probes=probes.paraphrase_probes, settings=_Rewording,
        about="Whether the answer stays the same when the question is worded differently.",
    ),
    ReliabilityTask(
        name="few-shot", number="T3", title="Few-shot bias", prompt="reliability-few-shot", needs=_SHORT,
        probes=probes.few_shot_probes, settings=_FewShot, figure=BIAS,
        about="Whether the order of the examples shown before a question sways the answer.",
    ),
    ReliabilityTask(
        name="spelling", number="T4", title="Spelling errors", prompt=_BASELINE, needs=_SHORT,
        probes=probes.spelling_probes, settings=_Spelling, headline=("3",),
        about="How much misspelt words cost.",
    ),
    ReliabilityTask(
        name="negation", number="T5", title="Negated context", prompt=_BASELINE, needs=_SHORT,
        probes=probes.negation_probes, settings=_Rewording,
        about="Whether the model follows a text that says the opposite, or answers by heart.",
    ),
    ReliabilityTask(
        name="distraction", number="T6", title="Distraction", prompt=_BASELINE, needs=_SHORT,
        probes=probes.distraction_probes, settings=_Distraction,
        about="Whether the model finds the text that matters among others that do not.",
    ),
    ReliabilityTask(
        name="freeform", number="T7, T10", title="Freeform answers", prompt="reliability-freeform",
        needs=("question", "context", "long_answer"), probes=probes.free_text_probes, labels=(),
        judge=_reader_of_statements(lambda item: item.long_answer[0]), figure=JUDGED_ACCURACY,
        about="Whether an answer in the model's own words says what the reference says.",
    ),
    ReliabilityTask(
        name="question", number="T8", title="Question formation", prompt="reliability-question",
        needs=("question", "long_answer"), probes=probes.free_text_probes, labels=(),
        judge=_reader_of_statements(lambda item: item.question), figure=JUDGED_ACCURACY,
        about="Whether the model finds the question that an answer belongs to.",
    ),
    ReliabilityTask(
        name="conclusion", number="T9", title="Conclusion", prompt="reliability-conclusion", needs=_SHORT,
        probes=probes.free_text_probes, labels=(), judge=_CONCLUSION,
        about="Whether a conclusion that the model writes still answers the question rightly.",
    ),
    ReliabilityTask(
        name="unknown", number="T11", title="I don't know", prompt="reliability-unknown",
        needs=("question", "context"), probes=probes.unknown_probes, settings=_Drawn,
        labels=("yes", "no", "unknown"), figure=REFRAIN_RATE, headline=("shuffled",),
        about="Whether the model says so when the text does not tell, and only then.",
    ),
    ReliabilityTask(
        name="judge", number="T12", title="Judges measured", kind="pairs", prompt="reliability-judge",
        needs=("question", "long_answer", "answer"), probes=probes.pair_probes,
        about="How well the model tells whether two statements mean the same, which it does as a judge.",
    ),
)  # fmt: skip

RELIABILITY_TASKS: Final[Mapping[str, ReliabilityTask]] = MappingProxyType(
    {task.name: task for task in _TASKS}
)


def reliability_task(name: str) -> ReliabilityTask:
    """The task with a name or number, such as ``few-shot`` or ``t3``; `SettingError` if there is none."""
    wanted = name.strip().lower()
    for task in _TASKS:
        if wanted in {task.name, *task.number.lower().split(", ")}:
            return task
    remedy = f"{did_you_mean(wanted, RELIABILITY_TASKS)}Tasks are: {', '.join(RELIABILITY_TASKS)}."
    raise SettingError(f"reliability task {shown(name)}", "is not known", remedy)


def task_settings(task: ReliabilityTask, settings: Mapping[str, object]) -> dict[str, Setting]:
    """All settings of a task in canonical form, with defaults: they are part of a run's id."""
    return task.settings.read(f"task {task.name}", settings).values()


def probes_of(
    items: ItemSet, task: ReliabilityTask, settings: Mapping[str, object], limit: int | None = None
) -> Probes:
    """The probes of a task over an item set, of the first ``limit`` items that have any.

    `SettingError` if a setting is wrong, or the set has not what the task needs; names what is missing.
    """
    place = f"task {task.name} on item set {shown(items.name)}"
    if items.kind != task.kind:
        raise SettingError(place, f"cannot be run on {items.kind}", f"Use a set of {task.kind}.")
    left_out = {item.id: reason for item in items.items if (reason := _lack(item, task))}
    fitting = [item for item in items.items if item.id not in left_out]
    draft = Draft(fitting, task_settings(task, settings), left_out)
    made = tuple(task.probes(draft)) if fitting else ()
    if not made:
        reasons = [f"{reason} ({n:,})" for reason, n in Counter(left_out.values()).most_common()]
        problem = f"has nothing to ask about {quantity(len(items.items), 'item')}: {enumerated(reasons)}"
        raise SettingError(place, problem, f"It needs {enumerated(task.needs)} of an item.")
    if limit is not None:
        within = {item.id for item in draft.items[:limit]}
        made = tuple(probe for probe in made if probe.item.id in within)
    return Probes(made, left_out)


def _lack(item: Item, task: ReliabilityTask) -> str:
    """Why a task leaves an item out; empty if it does not."""
    if item.answer == "maybe":
        return "the answer is maybe"
    return next((f"no {need}" for need in task.needs if not getattr(item, need)), "")
