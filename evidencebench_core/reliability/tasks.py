"""RAmBLA's tasks by name, with everything they can be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

from evidencebench_core.errors import SettingError, did_you_mean, shown
from evidencebench_core.reliability.items import Kind
from evidencebench_core.retrievers.base import Setting
from evidencebench_core.retrievers.setting_specs import SettingSpec, canonical_settings

Aspect = Literal["baseline", "robustness", "recall", "hallucination", "judges"]
Figure = Literal["weighted_f1", "bias", "refrain_rate", "judged_accuracy", "judged_f1"]
ORDERS: Final = ("NNNN", "NNNY", "NNYY", "NYNY", "YNYN", "YYNN", "YYYN", "YYYY")
"""The orders of few-shot examples that the paper has, in its sequence; the first letter is shown first."""

_NOTHING: Final[Mapping[str, Setting]] = MappingProxyType({})
_SEED: Final = SettingSpec(0, int, "Another seed, another draw.", minimum=0)
_WORDINGS: Final = SettingSpec(None, tuple, "Names of the wordings to use; none: all there are.")


@dataclass(frozen=True, slots=True)
class ReliabilityTask:
    """One of RAmBLA's tasks.

    Attributes
    ----------
    name, number, title : str
        For commands and URLs; as the specification numbers it; for people.
    aspect : str
        The aspect of the paper.
    about : str
        What its figure tells, in a sentence.
    prompts : mapping of kind to str
        The prompt for each kind of item set that it can be run on.
    needs : tuple of str
        Fields of `Item` without which an item is left out.
    labels : tuple of str
        What the model can answer; empty for free text.
    figure : str
        The one figure that stands for the task.
    judge_prompt, judge_labels : str, tuple of str
        For answers in free text, which a judge reads; else empty.
    settings : mapping of str to SettingSpec
        All but ``as_published``.
    published : mapping of str to Setting
        Those that differ in the paper's construction.
    """

    name: str
    number: str
    title: str
    aspect: Aspect
    about: str
    prompts: Mapping[Kind, str]
    needs: tuple[str, ...]
    labels: tuple[str, ...]
    figure: Figure
    judge_prompt: str = ""
    judge_labels: tuple[str, ...] = ()
    settings: Mapping[str, SettingSpec] = field(default_factory=lambda: MappingProxyType({}))
    published: Mapping[str, Setting] = field(default_factory=lambda: _NOTHING)

    @property
    def is_random(self) -> bool:
        """Whether its probes depend on a seed, so that it can be repeated with others."""
        return "seed" in self.settings


_QA: Final[Mapping[Kind, str]] = {"questions": "reliability-baseline", "evidence": "reliability-evidence"}
_SHORT: Final = ("question", "context", "answer")
_YES_NO: Final = ("yes", "no")
_SIMILAR: Final = "reliability-judge"

_TASKS: Final = (
    ReliabilityTask(
        "baseline", "T1", "Baseline", "baseline",
        "How often the model answers yes or no rightly from the context.",
        _QA, _SHORT, _YES_NO, "weighted_f1",
    ),
    ReliabilityTask(
        "knowledge", "T1k", "Without context", "baseline",
        "How often it is right with nothing to read: what it knows by heart, or guesses.",
        {"questions": "reliability-knowledge"}, ("question", "answer"), _YES_NO, "weighted_f1",
    ),
    ReliabilityTask(
        "paraphrase", "T2", "Paraphrase", "robustness",
        "Whether the answer stays the same when the question is worded differently.",
        _QA, _SHORT, _YES_NO, "weighted_f1", settings={"wordings": _WORDINGS},
    ),
    ReliabilityTask(
        "few-shot", "T3", "Few-shot bias", "robustness",
        "Whether the order of the examples shown before a question sways the answer.",
        {"questions": "reliability-few-shot", "evidence": "reliability-evidence-few-shot"},
        _SHORT, _YES_NO, "bias",
        settings={
            "orders": SettingSpec(
                ORDERS, tuple,
                "Orders of the examples' answers, such as NNNY, of 1 to 8 examples each; all: the 16 of four.",
            ),
            "examples_from": SettingSpec(None, str, "Another item set that the examples come from."),
            "label_swap": SettingSpec(False, bool, "Show the examples with the opposite answers, as a control."),
            "seed": _SEED,
            "examples_sha256": SettingSpec(
                None, str, "Content of the item set of examples; filled in by itself.", derived=True
            ),
        },
        published={"seed": 1234},
    ),
    ReliabilityTask(
        "spelling", "T4", "Spelling errors", "robustness",
        "How much misspelt words cost.",
        _QA, _SHORT, _YES_NO, "weighted_f1",
        settings={
            "errors": SettingSpec(("0", "1", "3", "10", "20", "50"), tuple, "How many words are misspelt."),
            "field": SettingSpec(
                "context", str, "Where the errors are.", choices=("context", "question", "both")
            ),
            "keep_digits": SettingSpec(False, bool, "Change no digit: a changed number can change a result."),
            "seed": _SEED,
        },
        published={"errors": ("1", "3", "10", "20", "50"), "seed": 123},
    ),
    ReliabilityTask(
        "negation", "T5", "Negated context", "recall",
        "Whether the model follows a text that says the opposite, or answers by heart.",
        _QA, _SHORT, _YES_NO, "weighted_f1", settings={"wordings": _WORDINGS},
    ),
    ReliabilityTask(
        "distraction", "T6", "Distraction", "recall",
        "Whether the model finds the text that matters among others that do not.",
        {"questions": "reliability-baseline", "evidence": "reliability-evidence-passage"},
        _SHORT, _YES_NO, "weighted_f1",
        settings={
            "distractors": SettingSpec(2, int, "How many other contexts are shown.", minimum=0, maximum=8),
            "places": SettingSpec(None, tuple, "Places of the item's own context, from 0; none: each in turn."),
            "near": SettingSpec(False, bool, "Take the most similar contexts (by BM25) instead of random ones."),
            "seed": _SEED,
        },
        published={"places": ("1",), "seed": 1234},
    ),
    ReliabilityTask(
        "freeform", "T7, T10", "Freeform answers", "hallucination",
        "Whether an answer in the model's own words says the same as the reference.",
        {"questions": "reliability-freeform"}, ("question", "context", "long_answer"), (), "judged_accuracy",
        _SIMILAR, _YES_NO,
    ),
    ReliabilityTask(
        "question", "T8", "Question formation", "hallucination",
        "Whether the model finds the question that an answer belongs to.",
        {"questions": "reliability-question"}, ("question", "long_answer"), (), "judged_accuracy",
        _SIMILAR, _YES_NO,
    ),
    ReliabilityTask(
        "conclusion", "T9", "Conclusion", "hallucination",
        "Whether a conclusion that the model writes still answers the question rightly.",
        {"questions": "reliability-conclusion"}, _SHORT, (), "judged_f1",
        "reliability-conclusion-judge", ("yes", "no", "unknown"),
    ),
    ReliabilityTask(
        "unknown", "T11", "I don't know", "hallucination",
        "Whether the model says so when the text does not tell, and only then.",
        {"questions": "reliability-unknown", "evidence": "reliability-evidence-unknown"},
        ("question", "context"), ("yes", "no", "unknown"), "refrain_rate",
        settings={"seed": _SEED}, published={"seed": 1234},
    ),
    ReliabilityTask(
        "judge", "T12", "Judges measured", "judges",
        "How well the model tells whether two statements mean the same, which it does as a judge.",
        {"pairs": _SIMILAR}, ("question", "long_answer", "answer"), _YES_NO, "weighted_f1",
        settings={"both_orders": SettingSpec(True, bool, "Ask again with the statements exchanged.")},
        published={"both_orders": False},
    ),
)  # fmt: skip

RELIABILITY_TASKS: Final[Mapping[str, ReliabilityTask]] = MappingProxyType(
    {task.name: task for task in _TASKS}
)


def reliability_task(name: str) -> ReliabilityTask:
    """The task of a name or number: ``few-shot``, ``t3``.

    Raises
    ------
    SettingError
        If there is none; names those there are.
    """
    wanted = name.strip().lower()
    for task in _TASKS:
        if wanted in {task.name, *task.number.lower().split(", ")}:
            return task
    remedy = f"{did_you_mean(wanted, RELIABILITY_TASKS)}Tasks are: {', '.join(RELIABILITY_TASKS)}."
    raise SettingError("reliability task", f"{shown(name)} is not known", remedy)


def task_settings(
    task: ReliabilityTask, settings: Mapping[str, object] = _NOTHING, as_published: bool = False
) -> dict[str, Setting]:
    """All settings of a task in canonical form, defaults filled in, and ``as_published``: they go into a run's id.

    Raises
    ------
    SettingError
        If there is no such setting, it cannot have the value, or the paper's construction has another.
    """
    owner = f"task {task.name}"
    given = {name: value for name, value in settings.items() if name != "as_published"}
    whole = canonical_settings(owner, task.settings, given)
    if not (as_published or settings.get("as_published") is True):
        return {"as_published": False, **whole}
    fixed = {name: task.published.get(name, spec.default) for name, spec in task.settings.items()}
    for name in given:
        if whole[name] != fixed[name]:
            problem = f"{name} is {shown(fixed[name])} in the paper's construction, not {shown(whole[name])}"
            raise SettingError(owner, problem, "Leave out as_published or that setting.")
    return {"as_published": True, **fixed}
