"""Nuggets of a set's answers against the gold ones (bioace spec rules 12 to 21, 53; faults C1, C3, C26)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evidencebench_core.answers import nugget_scores as scoring
from evidencebench_core.answers.model import Answer, AnswerSet, Question
from evidencebench_core.answers.nugget_scores import nugget_scores, nugget_texts
from evidencebench_core.answers.nuggets import parsed_nuggets
from evidencebench_core.errors import SettingError

GOLD = ("Lower (tea [C0000001], pressure [C0000002])", "Cats sleep.")


@pytest.fixture(autouse=True)
def cosines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Share of the words that two texts have in common, for the cosine."""

    def similarities(predicted: list[str], gold: list[str], model: str = "") -> np.ndarray:
        words = [[set(one.lower().strip(".").split()) for one in side] for side in (predicted, gold)]
        return np.array([[len(a & b) / len(a | b) for b in words[1]] for a in words[0]]).reshape(
            -1, len(gold)
        )

    monkeypatch.setattr(scoring, "similarities", similarities)


def answers(n: int = 1) -> AnswerSet:
    questions = {f"q{i}": Question(f"q{i}", "?", GOLD) for i in range(n)} | {
        "none": Question("none", "?", None)
    }
    given = {
        (name, system): Answer(name, system, "text", nuggets=nuggets)
        for name in questions
        for system, nuggets in (("A", ("tea lower pressure", "dogs bark", "dogs bark")), ("B", None))
    }
    given["q0", "C"] = Answer("q0", "C", "")
    return AnswerSet(questions, given)


def test_nuggets_come_from_the_file_or_from_a_run() -> None:
    listed = {"q0/B": parsed_nuggets("NUGGETS:\n- cats sleep."), "none/B": parsed_nuggets("no list")}
    scores = nugget_scores(answers(), listed, threshold=0.9)
    assert scores.missing == (("none", "B"),)
    assert [(one.predicted, one.gold) for one in scores.found["q0", "A"]] == [(0, 0)]
    assert [(one.predicted, one.gold) for one in scores.found["q0", "B"]] == [(0, 1)]
    assert (scores.n_triples, scores.n_unfit) == (2, 1)
    assert (scores.means("A")["precision"], scores.means("A")["recall"], scores.means("A")["n_recall"]) == (
        0.5,
        0.5,
        1,
    )
    assert (scores.scores["q0", "C"].recall, scores.scores["q0", "C"].precision) == (0.0, None)
    assert scores.scores["none", "A"].recall is None
    assert scores.as_dict()["systems"]["B"]["f1"] == pytest.approx(2 / 3)
    assert [one["recall"] for one in scores.curve("A")] == sorted(
        one["recall"] or 0 for one in scores.curve("A")
    )


def test_its_texts_are_all_that_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    listed, asked = {"q0/B": parsed_nuggets("NUGGETS:\n- cats sleep.")}, set[str]()

    def similarities(predicted: list[str], gold: list[str], *_: object) -> np.ndarray[Any, Any]:
        asked.update(predicted, gold)
        return np.ones((len(predicted), len(gold)))

    monkeypatch.setattr(scoring, "similarities", similarities)
    nugget_scores(answers(), listed)
    assert asked == set(nugget_texts(answers(), listed))


def test_the_mixture_is_fitted_once_and_frozen() -> None:
    with pytest.raises(SettingError, match="matcher=cosine"):
        nugget_scores(answers(), matcher="mixture")
    many = answers(15)
    fitted = nugget_scores(many, matcher="mixture")
    assert fitted.mixture is not None
    assert (fitted.mixture.n_groups, fitted.mixture.n) == (15, 60)
    again = nugget_scores(answers(), matcher="mixture", mixture=fitted.mixture)
    assert again.found["q0", "A"] == fitted.found["q0", "A"]
    assert again.mixture == fitted.mixture
    with pytest.raises(SettingError, match="matcher"):
        nugget_scores(many, matcher="magic")  # type: ignore[arg-type]


@pytest.mark.parametrize("matcher", ["cosine", "mixture"])
@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.9, 1.0])
def test_another_threshold_matches_again_and_compares_nothing_again(matcher: Any, threshold: float) -> None:
    many = answers(15)
    fresh = nugget_scores(many, matcher=matcher, threshold=threshold)
    again = nugget_scores(many, matcher=matcher).at(threshold)
    assert (again.scores, again.found) == (fresh.scores, fresh.found)
