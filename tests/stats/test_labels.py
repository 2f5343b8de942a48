"""Agreement of judged with human labels (spec rules 38 to 40, examples 12.6 and 12.7; fault C18)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, cohen_kappa_score, precision_recall_fscore_support

from evidencebench_core.stats import LabelAgreement, best_constant, label_agreement

HUMAN, JUDGED = "RRRRRBUUIR", "RRRBURURI?"


def of(human: str, judged: str, labels: str) -> LabelAgreement:
    return label_agreement(list(human), [None if one == "?" else one for one in judged], list(labels))


def values(found: LabelAgreement, *names: str) -> list[float | None]:
    return [found.values[name] for name in names]


WEIGHTED = ("weighted precision", "weighted recall", "weighted F1")
MACRO = ("macro precision", "macro recall", "macro F1")


def test_completeness() -> None:
    found = of(HUMAN, JUDGED, "RBUI")
    assert values(found, "accuracy", *WEIGHTED) == pytest.approx([0.5, 0.56, 0.5, 0.5273], abs=1e-4)
    assert values(found, *MACRO, "kappa") == pytest.approx([0.525, 0.5, 0.5114, 0.2188], abs=1e-4)
    assert (found.n, found.n_unlabelled) == (10, 1)
    without = of(HUMAN[:-1], JUDGED[:-1], "RBUI")
    assert values(without, "accuracy", *WEIGHTED) == pytest.approx([0.5556] * 4, abs=1e-4)
    assert values(without, *MACRO, "kappa") == pytest.approx([0.525, 0.525, 0.525, 0.28], abs=1e-4)
    always = of(HUMAN, "R" * 10, "RBUI")
    assert values(always, "accuracy", *WEIGHTED) == pytest.approx([0.6, 0.36, 0.6, 0.45])
    assert best_constant(HUMAN, "RBUI") == "R"


def test_citations_in_two_classes() -> None:
    found = of("11110010", "11011010", "10")
    assert found.by_label["1"] == pytest.approx((0.8, 0.8, 0.8))
    assert values(found, "accuracy", "kappa", "phi") == pytest.approx([0.75, 0.466667, 0.466667], abs=1e-6)
    assert of("11110010", "1" * 8, "10").by_label["1"] == pytest.approx((0.625, 1, 0.769231), abs=1e-6)
    assert values(of("11110010", "1" * 8, "10"), "kappa", "phi") == [0.0, None]


def test_citations_in_three_classes() -> None:
    found = of("sssnncsn", "ssnsncsc", "snc")
    assert values(found, *WEIGHTED) == pytest.approx([0.625, 0.625, 0.608333], abs=1e-6)
    assert values(found, *MACRO) == pytest.approx([0.583333, 0.694444, 0.605556], abs=1e-6)
    assert values(found, "accuracy", "kappa") == pytest.approx([0.625, 0.4])


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc?")), min_size=1, max_size=30))
def test_the_figures_are_those_of_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    human, judged = map(list, zip(*pairs, strict=True))
    found = of("".join(human), "".join(judged), "abc")
    assert found.values["accuracy"] == pytest.approx(accuracy_score(human, judged))
    there = sorted({*human, *judged} - {"?"})
    for average, names in (("weighted", WEIGHTED), ("macro", MACRO)):
        expected = precision_recall_fscore_support(
            human, judged, labels=there, average=average, zero_division=0
        )
        assert values(found, *names) == pytest.approx(expected[:3])
    if len({*human, *judged}) > 1:
        assert found.values["kappa"] == pytest.approx(cohen_kappa_score(human, judged))
    else:
        assert found.values["kappa"] is None


def test_whole_groups_are_drawn() -> None:
    human, judged = ["a", "b"] * 20, ["a", "a"] * 20
    rng = np.random.default_rng(0)
    groups = [number // 2 for number in range(40)]  # every group has one right and one wrong
    found = label_agreement(human, judged, ["a", "b"], groups=groups, rng=rng, n_resamples=200)
    assert found.intervals["accuracy"] == (0.5, 0.5)
    alone = label_agreement(human, judged, ["a", "b"], rng=rng, n_resamples=200)
    assert alone.intervals["accuracy"] != (0.5, 0.5)
    assert label_agreement(human, judged, ["a", "b"]).intervals["accuracy"] is None


def test_no_unit_at_all_has_no_figures() -> None:
    found = label_agreement([], [], ["a", "b"], rng=np.random.default_rng(0))
    assert set(found.values.values()) == {None}
    assert found.as_dict()["n"] == 0
