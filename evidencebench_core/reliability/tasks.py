"""RAmBLA's tasks: of each a row, and a function that makes its questions ("probes") from items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, cast

from pydantic import Field

from evidencebench_core.errors import SettingError, did_you_mean, shown
from evidencebench_core.perturb.spelling import misspellings
from evidencebench_core.reliability.draws import (
    balanced_items,
    drawn_examples,
    drawn_others,
    shown_text,
)
from evidencebench_core.reliability.items import Item, ItemSet, Kind
from evidencebench_core.retrievers.settings import Setting, Settings
from evidencebench_core.words import enumerated, quantity

Figure = Literal["weighted_f1", "bias", "refrain_rate", "judged_accuracy", "judged_f1"]
FIGURES: Final[Mapping[Figure, str]] = {
    "weighted_f1": "Weighted F1",
    "bias": "Bias",
    "refrain_rate": "Refrain rate",
    "judged_accuracy": "Judged like the reference",
    "judged_f1": "Weighted F1 of the judge's labels",
}
ORDERS: Final = ("NNNN", "NNNY", "NNYY", "NYNY", "YNYN", "YYNN", "YYYN", "YYYY")
"""The orders of few-shot examples that the paper has; the first letter is shown first."""
BEYOND: Final = "beyond the limit"
OPPOSITE: Final[Mapping[str | None, str]] = {"yes": "no", "no": "yes"}


@dataclass(frozen=True, slots=True)
class Probe:
    """A question to a model about an item."""

    item: Item
    variant: str = ""  # the order of the examples, the number of errors, the place of the own context, ...
    fields: Mapping[str, str] = field(default_factory=dict)  # of the prompt
    expected: str | None = None  # the label of a right answer; none of free text
    reworded: Literal["", "question", "context"] = ""  # the field that a model rewords first
    details: Mapping[str, Any] = field(default_factory=dict)  # what was changed, JSON-able

    @property
    def id(self) -> str:
        """Unique in the task."""
        return f"{self.variant} {self.item.id}".strip()


@dataclass(frozen=True, slots=True)
class Probes:
    """The probes of a task, variant by variant, and by item id why other items have none."""

    probes: tuple[Probe, ...]
    left_out: Mapping[str, str]


@dataclass(slots=True)
class Draft:
    """The input of a task's function, which names in `left_out` the items that it leaves out."""

    items: list[Item]
    kind: Kind
    settings: Mapping[str, Any]
    left_out: dict[str, str]


@dataclass(frozen=True, slots=True)
class ReliabilityTask:
    """One of RAmBLA's tasks."""

    name: str
    number: str  # in the paper
    title: str
    about: str  # what its figure tells
    prompts: Mapping[Kind, str]  # for each kind of item set that it can be run on
    needs: tuple[str, ...]  # fields of `Item` without which an item is left out
    labels: tuple[str, ...]  # what the model can answer; empty for free text
    figure: Figure
    probes: Callable[[Draft], Iterator[Probe]]
    headline: tuple[str, ...] = ()  # the variants that the task's figure is of; empty: all
    settings: type[Settings] = Settings
    judge_prompt: str = ""  # for answers in free text, which a judge reads
    judge_labels: tuple[str, ...] = ()

    @property
    def read_labels(self) -> tuple[str, ...]:
        """The labels of its answers, the model's own or those of a judge."""
        return self.labels or self.judge_labels


# -- probes, task by task -----------------------------------------------------------------------------


def _plain(draft: Draft) -> Iterator[Probe]:
    for item in draft.items:
        yield Probe(item, fields=_fields(item), expected=item.answer)


def _fields(item: Item, **changed: str) -> dict[str, str]:
    return {"question": item.question, "context": item.text, **changed}


def _paraphrase(draft: Draft) -> Iterator[Probe]:
    for item in draft.items:
        names = [name for name in item.wordings if name.startswith("paraphrase")]
        for name in names:
            fields = _fields(item, question=item.wordings[name])
            yield Probe(item, name, fields, item.answer, details={"wording": name})
        if not names and draft.kind == "questions":
            yield Probe(item, "paraphrase", _fields(item), item.answer, "question")
        elif not names:
            draft.left_out[item.id] = "no paraphrase"


def _negation(draft: Draft) -> Iterator[Probe]:
    """Of questions the context says the opposite; a negated hypothesis has the same evidence."""
    for item in draft.items:
        text = item.wordings.get("negation")
        if draft.kind == "evidence" and text is None:
            draft.left_out[item.id] = "no negation"
        elif draft.kind == "evidence" and text is not None:
            yield Probe(item, "negation", _fields(item, question=text), item.answer)
        elif text is None:
            yield Probe(item, "negation", _fields(item), OPPOSITE[item.answer], "context")
        else:
            yield Probe(item, "negation", _fields(item, context=text), OPPOSITE[item.answer])


def _few_shot(draft: Draft) -> Iterator[Probe]:
    orders = tuple(dict.fromkeys(order.upper() for order in draft.settings["orders"]))
    tested = balanced_items(draft.items)
    if not tested:
        n_yes = sum(item.answer == "yes" for item in draft.items)
        problem = f"has {n_yes:,} items with the answer yes and {len(draft.items) - n_yes:,} with no"
        raise SettingError("task few-shot", problem, "It needs both answers, equally often.")
    inside = {item.id for item in tested}
    for item in draft.items:
        if item.id not in inside:
            draft.left_out[item.id] = "not in the balanced set"
    half = len(tested) // 2
    draft.items = [item for pair in zip(tested[:half], tested[half:], strict=True) for item in pair]
    examples = drawn_examples(tested, orders, draft.settings["seed"])
    for order in orders:
        for item, by_answer in zip(tested, examples, strict=True):
            rest = {letter: iter(members) for letter, members in by_answer.items()}
            chosen = [next(rest[letter]) for letter in order]
            text = "\n\n".join(_example(example, draft.kind) for example in chosen)
            details = {"examples": [example.id for example in chosen]}
            yield Probe(item, order, _fields(item, examples=text), item.answer, details=details)


def _example(item: Item, kind: Kind) -> str:
    context, question = ("Sentence", "Hypothesis") if kind == "evidence" else ("Context", "Question")
    answer = str(item.answer).capitalize()
    return f"{context}: {item.text}\n{question}: {item.question}\nAnswer: {answer}"


def _spelling(draft: Draft) -> Iterator[Probe]:
    names = tuple(dict.fromkeys(draft.settings["errors"]))
    numbers = [int(name) for name in names]
    seed, keep_digits = draft.settings["seed"], draft.settings["keep_digits"]
    texts = [misspellings(item.text, numbers, seed, keep_digits) for item in draft.items]
    for column, name in enumerate(names):
        for item, variants in zip(draft.items, texts, strict=True):
            misspelt = variants[column]
            details = {"errors": misspelt.n_mutated, "digits_changed": misspelt.n_digits}
            fields = _fields(item, context=misspelt.text)
            yield Probe(item, name, fields, item.answer, details=details)


def _distraction(draft: Draft) -> Iterator[Probe]:
    if draft.kind == "evidence":
        for item in draft.items:
            if item.answer == "no" and item.neighbour_covers:
                draft.left_out[item.id] = "a neighbour of the sentence covers a study aspect"
        draft.items = [item for item in draft.items if item.id not in draft.left_out]
    n = cast(int, draft.settings["distractors"])
    others = drawn_others(draft.items, n, draft.settings["seed"], "distraction")
    for place in range(n + 1):
        for item, distractors in zip(draft.items, others, strict=True):
            contexts = [*distractors[:place], item, *distractors[place:]]
            fields = _fields(item, context="\n\n".join(map(shown_text, contexts)))
            details = {"place": place, "distractors": [other.id for other in distractors]}
            yield Probe(item, str(place), fields, item.answer, details=details)


def _unknown(draft: Draft) -> Iterator[Probe]:
    others = drawn_others(draft.items, 1, draft.settings["seed"], "unknown")
    for item, (other,) in zip(draft.items, others, strict=True):
        fields = _fields(item, context=shown_text(other))
        yield Probe(item, "shuffled", fields, "unknown", details={"context_of": other.id})
    for item in draft.items:
        yield Probe(item, "mirror", _fields(item, context=shown_text(item)), item.answer)


def _free_text(draft: Draft) -> Iterator[Probe]:
    for item in draft.items:
        yield Probe(item, fields=_fields(item, answer="".join(item.long_answer[:1])))


def _pairs(draft: Draft) -> Iterator[Probe]:
    for item in draft.items:
        fields = {"statement_1": item.question, "statement_2": item.long_answer[0]}
        yield Probe(item, fields=fields, expected=item.answer)


# -- the table ----------------------------------------------------------------------------------------

_QA: Final[Mapping[Kind, str]] = {"questions": "reliability-baseline", "evidence": "reliability-evidence"}
_SHORT: Final = ("question", "context", "answer")
_YES_NO: Final = ("yes", "no")


Order = Annotated[str, Field(pattern="^[YNyn]{1,8}$")]
Number = Annotated[str, Field(pattern="^[0-9]{1,4}$")]


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


_TASKS: Final = (
    ReliabilityTask(
        "baseline", "T1", "Baseline",
        "How often the model answers yes or no rightly from the context.",
        _QA, _SHORT, _YES_NO, "weighted_f1", _plain,
    ),
    ReliabilityTask(
        "knowledge", "T1k", "Without context",
        "How often it is right with nothing to read: what it knows by heart, or guesses.",
        {"questions": "reliability-knowledge"}, ("question", "answer"), _YES_NO, "weighted_f1", _plain,
    ),
    ReliabilityTask(
        "paraphrase", "T2", "Paraphrase",
        "Whether the answer stays the same when the question is worded differently.",
        _QA, _SHORT, _YES_NO, "weighted_f1", _paraphrase, settings=_Rewording,
    ),
    ReliabilityTask(
        "few-shot", "T3", "Few-shot bias",
        "Whether the order of the examples shown before a question sways the answer.",
        {"questions": "reliability-few-shot", "evidence": "reliability-evidence-few-shot"},
        _SHORT, _YES_NO, "bias", _few_shot,
        settings=_FewShot,
    ),
    ReliabilityTask(
        "spelling", "T4", "Spelling errors", "How much misspelt words cost.",
        _QA, _SHORT, _YES_NO, "weighted_f1", _spelling, headline=("3",),
        settings=_Spelling,
    ),
    ReliabilityTask(
        "negation", "T5", "Negated context",
        "Whether the model follows a text that says the opposite, or answers by heart.",
        _QA, _SHORT, _YES_NO, "weighted_f1", _negation, settings=_Rewording,
    ),
    ReliabilityTask(
        "distraction", "T6", "Distraction",
        "Whether the model finds the text that matters among others that do not.",
        {"questions": "reliability-baseline", "evidence": "reliability-evidence-passage"},
        _SHORT, _YES_NO, "weighted_f1", _distraction,
        settings=_Distraction,
    ),
    ReliabilityTask(
        "freeform", "T7, T10", "Freeform answers",
        "Whether an answer in the model's own words says what the reference says.",
        {"questions": "reliability-freeform"}, ("question", "context", "long_answer"), (), "judged_accuracy",
        _free_text, judge_prompt="reliability-judge", judge_labels=_YES_NO,
    ),
    ReliabilityTask(
        "question", "T8", "Question formation",
        "Whether the model finds the question that an answer belongs to.",
        {"questions": "reliability-question"}, ("question", "long_answer"), (), "judged_accuracy",
        _free_text, judge_prompt="reliability-judge", judge_labels=_YES_NO,
    ),
    ReliabilityTask(
        "conclusion", "T9", "Conclusion",
        "Whether a conclusion that the model writes still answers the question rightly.",
        {"questions": "reliability-conclusion"}, _SHORT, (), "judged_f1", _free_text,
        judge_prompt="reliability-conclusion-judge", judge_labels=("yes", "no", "unknown"),
    ),
    ReliabilityTask(
        "unknown", "T11", "I don't know",
        "Whether the model says so when the text does not tell, and only then.",
        {"questions": "reliability-unknown", "evidence": "reliability-evidence-unknown"},
        ("question", "context"), ("yes", "no", "unknown"), "refrain_rate", _unknown,
        headline=("shuffled",), settings=_Drawn,
    ),
    ReliabilityTask(
        "judge", "T12", "Judges measured",
        "How well the model tells whether two statements mean the same, which it does as a judge.",
        {"pairs": "reliability-judge"}, ("question", "long_answer", "answer"), _YES_NO, "weighted_f1", _pairs,
    ),
)  # fmt: skip

RELIABILITY_TASKS: Final[Mapping[str, ReliabilityTask]] = MappingProxyType(
    {task.name: task for task in _TASKS}
)


def reliability_task(name: str) -> ReliabilityTask:
    """The task of a name or number, such as ``few-shot`` or ``t3``; `SettingError` names those there are."""
    wanted = name.strip().lower()
    for task in _TASKS:
        if wanted in {task.name, *task.number.lower().split(", ")}:
            return task
    remedy = f"{did_you_mean(wanted, RELIABILITY_TASKS)}Tasks are: {', '.join(RELIABILITY_TASKS)}."
    raise SettingError("reliability task", f"{shown(name)} is not known", remedy)


def task_settings(task: ReliabilityTask, settings: Mapping[str, object]) -> dict[str, Setting]:
    """All settings of a task in canonical form, defaults filled in: they go into a run's id."""
    return task.settings.read(f"task {task.name}", settings).values()


def probes_of(
    items: ItemSet, task: ReliabilityTask, settings: Mapping[str, object], limit: int | None = None
) -> Probes:
    """The probes of a task over an item set, of the first ``limit`` items that have any.

    `SettingError` if a setting is wrong, or the set has not what the task needs; names what is missing.
    """
    place = f"task {task.name} on item set {shown(items.name)}"
    if items.kind not in task.prompts:
        raise SettingError(
            place, f"cannot be run on {items.kind}", f"Use a set of {' or '.join(task.prompts)}."
        )
    left_out = {item.id: reason for item in items.items if (reason := _lack(item, task))}
    fitting = [item for item in items.items if item.id not in left_out]
    draft = Draft(fitting, items.kind, task_settings(task, settings), left_out)
    probes = tuple(task.probes(draft)) if fitting else ()
    if not probes:
        reasons = [f"{reason} ({n:,})" for reason, n in Counter(left_out.values()).most_common()]
        problem = f"has nothing to ask about {quantity(len(items.items), 'item')}: {enumerated(reasons)}"
        raise SettingError(place, problem, f"It needs {enumerated(task.needs)} of an item.")
    if limit is not None:
        within = {item.id for item in draft.items[:limit]}
        probes = tuple(probe for probe in probes if probe.item.id in within)
        for item in draft.items[limit:]:
            left_out.setdefault(item.id, BEYOND)
    return Probes(probes, left_out)


def _lack(item: Item, task: ReliabilityTask) -> str:
    """The reason for which a task leaves an item out; empty if it does not."""
    if item.answer == "maybe":
        return "the answer is maybe"
    return next((f"no {need}" for need in task.needs if not getattr(item, need)), "")
