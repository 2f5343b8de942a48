"""Judged labels against human ones: precedence (rule 5, example 12.8, fault C21), forms (rule 4), missing, unparsed."""

from __future__ import annotations

import numpy as np
import pytest

from evidencebench_core.answers.agreement import (
    LABELS,
    human_units,
    judge_agreement,
    label_in,
    one_relation,
)
from evidencebench_core.answers.model import AnswerSet, Precedence, Relation, unit_id
from evidencebench_core.answers.read import answer_set
from evidencebench_core.errors import SettingError


@pytest.mark.parametrize(
    ("relations", "support_first", "contradict_first"),
    [
        (("neutral", "supporting"), "supporting", "supporting"),
        (("neutral", "contradicting"), "contradicting", "contradicting"),
        (("supporting", "contradicting"), "supporting", "contradicting"),
        (("not relevant", "neutral"), "neutral", "neutral"),
        (("invalid citation",), "invalid citation", "invalid citation"),
        ((), None, None),
    ],
)
def test_one_relation_whatever_the_order(
    relations: tuple[Relation, ...], support_first: str | None, contradict_first: str | None
) -> None:
    expected: dict[Precedence, str | None] = {
        "support-first": support_first,
        "contradict-first": contradict_first,
    }
    for precedence, relation in expected.items():
        assert one_relation(relations, precedence) == relation
        assert one_relation(relations[::-1], precedence) == relation


def test_another_precedence_is_an_error() -> None:
    with pytest.raises(SettingError, match="support-first, contradict-first"):
        one_relation((), "first listed")  # type: ignore[arg-type]


def test_finer_labels_fit_coarser_forms() -> None:
    assert [label_in("binary", one) for one in LABELS["four"]] == ["attributable", *["not attributable"] * 3]
    assert [label_in("ternary", one) for one in LABELS["four"]] == [
        "supports",
        "contradicts",
        "neutral",
        "neutral",
    ]
    assert label_in("binary", "neutral") == "not attributable"
    with pytest.raises(SettingError, match="judge with other labels"):
        label_in("ternary", "attributable")


def answers_with(relations: list[list[str]]) -> AnswerSet:
    """One sentence that cites a document for each list of what people said of it; the last half is of question q2."""
    lines = []
    for number, found in enumerate(relations):
        assessments = [{"document": "d/1", "relation": one} for one in found]
        sentence = {"text": "x", "citations": ["d/1"], "relevance": "required", "assessments": assessments}
        question = "q1" if number < len(relations) / 2 else "q2"
        line = {"kind": "answer", "question_id": question, "system": f"S{number}", "answer": "x"}
        lines.append((f"line {number}", {**line, "sentences": [sentence]}))
    return answer_set(lines)


def test_a_judge_beside_one_that_never_looks() -> None:
    said = ["supporting", "supporting", "neutral", "contradicting", "supporting", "invalid citation"]
    answers = answers_with([*[[one] for one in said], ["supporting", "contradicting"], []])
    human = human_units(answers, "ternary")
    assert (len(human.labels), human.n_invalid, human.n_both) == (6, 1, 1)
    units = list(human.labels)
    assert units[0] == "q1/S0/1/d%2F1" == unit_id("q1", "S0", "1", "d/1")
    judged = dict(zip(units, ["supports", None, "neutral", "supports", "supports"], strict=False))
    found = judge_agreement(answers, judged, "ternary", rng=np.random.default_rng(0), n_resamples=50)
    assert (found.agreement.n, found.n_missing, found.n_unlabelled) == (5, 0, 1)
    assert found.n_unchecked == 1  # the last: none of these documents has text
    assert found.agreement.values["accuracy"] == 0.6
    assert found.agreement.intervals["accuracy"] is not None
    assert (found.constant, found.constant_agreement.values["accuracy"]) == ("supports", 0.6)
    assert {name: one.n for name, one in found.by_question.items()} == {"q1": 4, "q2": 1}
    assert found.as_dict()["by_system"]["S3"]["accuracy"] == 0.0
    left_out = judge_agreement(answers, judged, "ternary", unparsed="leave_out")
    assert (left_out.agreement.n, left_out.agreement.values["accuracy"]) == (4, 0.75)
    binary = judge_agreement(answers, judged, "binary")
    assert binary.agreement.by_label["attributable"] == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    strict = human_units(answers, "ternary", "contradict-first")
    assert strict.labels[units[-1]] == "contradicts"


def test_relevance_is_a_label_of_sentences() -> None:
    answers = answers_with([["supporting"]] * 4)
    units = human_units(answers, "relevance").labels
    assert list(units.values()) == ["required"] * 4
    found = judge_agreement(answers, dict.fromkeys(units, "required"), "relevance")
    assert found.agreement.values["accuracy"] == found.constant_agreement.values["accuracy"] == 1.0
