"""Systems pair by pair (rule 74), against what they are made of."""

from __future__ import annotations

import numpy as np
import pytest

from evidencebench_core.answers.differences import system_differences
from evidencebench_core.answers.systems import SystemScores
from evidencebench_core.stats import compare_matrix, holm

NAN = np.nan
VALUES = np.array([
    [1.0, 0.5, 0.75, 1.0, 0.5, 1.0],
    [0.5, 0.5, NAN, 0.5, 0.0, 0.25],
    [0.0, 0.25, 0.5, NAN, 0.25, 0.0],
    [NAN, NAN, NAN, NAN, NAN, NAN],
])  # fmt: skip


def scores(values: np.ndarray) -> SystemScores:
    n_systems, n = values.shape
    shape = (1, n_systems)
    return SystemScores(
        tuple(f"M{one}" for one in range(n_systems)),
        tuple(f"q{one}" for one in range(n)),
        ("coverage",),
        values[None],
        np.full(shape, NAN),
        np.full((*shape, 2), NAN),
        np.full(shape, NAN),
        np.zeros((n_systems, n), dtype=bool),
    )


def test_each_pair_stands_on_the_questions_that_both_have() -> None:
    frame = system_differences(scores(VALUES), "coverage", np.random.default_rng(0), 2_000)
    assert list(zip(frame["a"], frame["b"], strict=True)) == [("M0", "M1"), ("M0", "M2"), ("M1", "M2")]
    assert frame["n"].tolist() == [5, 5, 4]
    # M0 - M1 over q0 q1 q3 q4 q5: .5 0 .5 .5 .75; M0 - M2 over
    # q0 q1 q2 q4 q5: 1 .25 .25 .25 1; M1 - M2 over q0 q1 q4 q5: .5 .25 -.25 .25
    assert frame["difference"].tolist() == pytest.approx([0.45, 0.55, 0.1875])
    assert frame[["wins", "ties", "losses"]].to_numpy().tolist() == [[4, 1, 0], [5, 0, 0], [3, 0, 1]]
    assert frame["p_holm"].tolist() == pytest.approx(holm(frame["p"].tolist()))


def test_without_gaps_the_means_are_those_of_the_matrix() -> None:
    values = np.random.default_rng(1).random((4, 20)).round(2)
    frame = system_differences(scores(values), "coverage", np.random.default_rng(0), 4_000)
    matrix = compare_matrix(values, np.random.default_rng(0), 4_000)
    for row in frame.to_dict("records"):
        a, b = int(row["a"][1:]), int(row["b"][1:])
        assert row["difference"] == pytest.approx(matrix.difference[a, b])
        assert row["low"] == pytest.approx(matrix.low[a, b], abs=0.02)
        assert row["high"] == pytest.approx(matrix.high[a, b], abs=0.02)
        assert row["p"] == pytest.approx(matrix.p_value[a, b], abs=0.03)


def test_one_question_or_one_system_has_no_test() -> None:
    frame = system_differences(scores(VALUES[:2, :1]), "coverage", np.random.default_rng(0))
    assert frame["n"].tolist() == [1]
    assert frame[["low", "p", "p_holm"]].isna().to_numpy().all()
    assert system_differences(scores(VALUES[3:]), "coverage", np.random.default_rng(0)).empty
