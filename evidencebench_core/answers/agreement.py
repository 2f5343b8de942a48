"""A judge's labels against those of people: in two, three or four classes, beside a judge that never looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np

from evidencebench_core.answers.model import (
    RELATIONS,
    RELEVANCES,
    AnswerSet,
    Precedence,
    Relation,
    has_words,
    unit_id,
)
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.stats import LabelAgreement, best_constant, label_agreement

Form = Literal["binary", "ternary", "four", "relevance"]

LABELS: Final[Mapping[Form, Mapping[str, str]]] = MappingProxyType({
    "binary": {
        "attributable": "the source says what the claim says",
        "not attributable": "it does not: it says the opposite, or nothing for or against the claim",
    },
    "ternary": {
        "supports": "the source says what the claim says",
        "neutral": "it says nothing for or against the claim, though it may be about the same topic",
        "contradicts": "it says the opposite of the claim",
    },
    "four": {
        "supporting": "the source says what the claim says",
        "contradicting": "it says the opposite of the claim",
        "neutral": "it is about the same topic, and says nothing for or against the claim",
        "not relevant": "it is about something else",
    },
    "relevance": dict.fromkeys(RELEVANCES, ""),
})  # fmt: skip
"""The labels of each form with what they mean; of binary the first is the positive class."""

_TERNARY: Final = {
    "supporting": "supports", "contradicting": "contradicts", "neutral": "neutral", "not relevant": "neutral",
}  # fmt: skip
_ORDER: Final[Mapping[Precedence, tuple[Relation, ...]]] = {
    "support-first": RELATIONS,
    "contradict-first": ("contradicting", "supporting", *RELATIONS[2:]),
}


@dataclass(frozen=True, slots=True)
class HumanLabels:
    """People's labels of the units that a judge is measured on.

    Attributes
    ----------
    labels : mapping from `unit_id` to label
    groups : mapping from `unit_id` to (question, system)
    unchecked : frozenset of str
        Those that no judge can be asked: citations of a document without text, sentences without words.
    n_invalid : int
        Citations of documents that there are not: left out, as there is nothing to read.
    n_both : int
        Citations said to be supporting and contradicting: one label by the precedence, in both rates.
    """

    labels: Mapping[str, str]
    groups: Mapping[str, tuple[str, str]]
    unchecked: frozenset[str] = frozenset()
    n_invalid: int = 0
    n_both: int = 0


def one_relation(
    relations: tuple[Relation, ...], precedence: Precedence = "support-first"
) -> Relation | None:
    """One relation for a citation that has several, whatever their order; ``None`` where nothing was said.

    The paper's script takes supporting if any, and otherwise the first that is listed.
    """
    if precedence not in _ORDER:
        raise SettingError("precedence", f"is {shown(precedence)}", f"Choices are: {', '.join(_ORDER)}.")
    return next((one for one in _ORDER[precedence] if one in relations), None)


def label_in(form: Form, label: str) -> str:
    """A label of a finer form as one of this: ``neutral`` is ``not attributable`` in binary."""
    known = tuple(LABELS[form])
    if label in known:
        return label
    ternary = _TERNARY.get(label, label)
    if form == "ternary" and ternary in known:
        return ternary
    if form == "binary" and ternary in LABELS["ternary"]:
        return known[ternary != "supports"]
    raise SettingError(
        "label", f"is {shown(label)}, of a judge with other labels", f"Choose among: {', '.join(LABELS)}."
    )


def human_units(answers: AnswerSet, form: Form, precedence: Precedence = "support-first") -> HumanLabels:
    """The labels of people in one form: of sentences (``relevance``), or of citations."""
    labels, groups = dict[str, str](), dict[str, tuple[str, str]]()
    unchecked = set[str]()
    n_invalid = n_both = 0
    for key, answer in answers.answers.items():
        for sentence in answer.sentences:
            if form == "relevance":
                if sentence.relevance:
                    labels[unit := unit_id(*key, sentence.id)] = sentence.relevance
                    groups[unit] = key
                    if not has_words(sentence.claim):
                        unchecked.add(unit)
                continue
            for document in sentence.citations:
                relations = sentence.relations(document)
                relation = one_relation(relations, precedence)
                n_both += {"supporting", "contradicting"} <= set(relations)
                if relation == "invalid citation":
                    n_invalid += 1
                elif relation is not None:
                    labels[unit := unit_id(*key, sentence.id, document)] = label_in(form, relation)
                    groups[unit] = key
                    if not (answers.has_text(document) and has_words(sentence.claim)):
                        unchecked.add(unit)
    return HumanLabels(labels, groups, frozenset(unchecked), n_invalid, n_both)


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """How a judge agrees with people.

    Attributes
    ----------
    form : str
    agreement : LabelAgreement
    constant, constant_agreement : str, LabelAgreement
        A judge that always gives this label: stands beside every figure.
    by_system, by_question : mapping to LabelAgreement
        Without intervals.
    n_missing : int
        Units with a label of people and no judgement yet.
    n_unchecked : int
        Units without a judgement as there is nothing to judge: the document has no text, the sentence no words.
    n_unlabelled : int
        Judgements without a label: wrong, or left out where asked.
    n_invalid, n_both : int
        As of `HumanLabels`.
    """

    form: Form
    agreement: LabelAgreement
    constant: str
    constant_agreement: LabelAgreement
    by_system: Mapping[str, LabelAgreement]
    by_question: Mapping[str, LabelAgreement]
    n_missing: int
    n_unchecked: int
    n_unlabelled: int
    n_invalid: int
    n_both: int

    def as_dict(self) -> dict[str, Any]:
        """JSON-able values."""
        return {
            "form": self.form,
            **self.agreement.as_dict(),
            "constant": {"label": self.constant, **self.constant_agreement.as_dict()},
            "by_system": {name: one.as_dict() for name, one in self.by_system.items()},
            "by_question": {name: one.as_dict() for name, one in self.by_question.items()},
            **{
                name: getattr(self, name)
                for name in ("n_missing", "n_unchecked", "n_unlabelled", "n_invalid", "n_both")
            },
        }


def judge_agreement(
    answers: AnswerSet,
    judged: Mapping[str, str | None],
    form: Form,
    *,
    precedence: Precedence = "support-first",
    unparsed: Literal["wrong", "leave_out"] = "wrong",
    rng: np.random.Generator | None = None,
    n_resamples: int = 10_000,
) -> JudgeAgreement:
    """Measure a judge on the units that people labelled.

    Parameters
    ----------
    judged : mapping from `unit_id` to label or None
        Labels of this form or a finer one; ``None`` for a judgement without a label. A unit that is not in it was
        not judged (yet).
    form : {"binary", "ternary", "four", "relevance"}
    precedence : {"support-first", "contradict-first"}
        One label for a citation about which people said several things.
    unparsed : {"wrong", "leave_out"}
        A judgement without a label is wrong, in the denominator; the paper's script leaves it out.
    rng : numpy Generator, optional
        Intervals over questions; none without it.
    """
    human = human_units(answers, form, precedence)
    units = [unit for unit in human.labels if unit in judged]
    n_unlabelled = sum(judged[unit] is None for unit in units)
    if unparsed == "leave_out":
        units = [unit for unit in units if judged[unit] is not None]
    given = {unit: None if (one := judged[unit]) is None else label_in(form, one) for unit in units}
    labels = tuple(LABELS[form])

    def agreement(some: list[str], judge: Callable[[str], str | None], draw: bool = False) -> LabelAgreement:
        return label_agreement(
            [human.labels[unit] for unit in some],
            [judge(unit) for unit in some],
            labels,
            groups=[human.groups[unit][0] for unit in some],
            rng=rng if draw else None,
            n_resamples=n_resamples,
        )

    constant = best_constant([human.labels[unit] for unit in units], labels)

    def parts(place: int) -> dict[str, LabelAgreement]:
        names = dict.fromkeys(human.groups[unit][place] for unit in units)
        return {
            name: agreement([unit for unit in units if human.groups[unit][place] == name], given.__getitem__)
            for name in names
        }

    return JudgeAgreement(
        form,
        agreement(units, given.__getitem__, draw=True),
        constant,
        agreement(units, lambda _: constant),
        parts(1),
        parts(0),
        n_missing=len(human.labels.keys() - judged.keys() - human.unchecked),
        n_unchecked=len(human.unchecked - judged.keys()),
        n_unlabelled=n_unlabelled,
        n_invalid=human.n_invalid,
        n_both=human.n_both,
    )
