"""Agreement of labels: by hand, and against scikit-learn and SciPy."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score

from evidencebench_core.stats import (
    accuracy,
    cohen_kappa,
    coincidences,
    krippendorff_alpha,
    label_f1,
    label_units,
    macro_f1,
    phi,
    weighted_f1,
)

YES_NO = ("yes", "no")
A = ["yes"] * 3 + ["no"] * 7
B = ["yes", "yes", "no", "yes"] + ["no"] * 6
ANSWERS = st.sampled_from(["a", "b", "c", None])
UNITS = st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), ANSWERS), min_size=1, max_size=40)


def test_by_hand() -> None:
    # Both yes 2, only A 1, only B 1, neither 6. Accuracy 8/10; F1 of yes 4/6, of no 12/14. By chance
    # (3*3 + 7*7)/100 = 0.58: kappa = (0.8 - 0.58)/(1 - 0.58). phi = (2*6 - 1*1)/sqrt(3*3*7*7) = 11/21.
    table = label_units(A, B, YES_NO).sum(axis=0)
    assert table.tolist() == [[2, 1, 0], [1, 6, 0]]
    assert label_f1(table) == pytest.approx([2 / 3, 6 / 7])
    figures = [float(figure(table)) for figure in (accuracy, cohen_kappa, phi, weighted_f1, macro_f1)]
    assert figures == pytest.approx([0.8, 11 / 21, 11 / 21, 0.3 * 2 / 3 + 0.7 * 6 / 7, (2 / 3 + 6 / 7) / 2])


def test_alpha_as_krippendorff_has_it() -> None:
    # His example C (2011): four observers, twelve units, labels 1 to 5, some missing; nominal alpha is 0.743.
    observers = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
    units = [[unit.count(label) for label in "12345"] for unit in map("".join, zip(*observers, strict=True))]
    assert float(krippendorff_alpha(coincidences(units).sum(axis=0))) == pytest.approx(0.743, abs=5e-4)


@pytest.mark.parametrize(
    "figure", [accuracy, cohen_kappa, krippendorff_alpha, label_f1, macro_f1, phi, weighted_f1]
)
def test_leading_axes_are_resamples(figure: Callable[[object], np.ndarray]) -> None:
    n_columns = 2 if figure is krippendorff_alpha else 3
    tables = np.random.default_rng(0).integers(1, 9, size=(4, 5, 2, n_columns))
    each = [[figure(table) for table in row] for row in tables]
    assert figure(tables) == pytest.approx(np.array(each))


def test_undefined() -> None:
    assert np.isnan(cohen_kappa(label_units(["yes"], ["yes"], YES_NO)[0]))  # chance alone agrees
    assert np.isnan(phi([[1, 0, 0], [1, 0, 0]]))  # one rater gave one label only
    assert np.isnan(weighted_f1(np.zeros((2, 3))))


@given(UNITS)
def test_as_scikit_learn_has_it(units: list[tuple[str, str | None]]) -> None:
    gold, read = [label for label, _ in units], [label for _, label in units]
    table = label_units(gold, read, "abc").sum(axis=0)
    texts = [label or "none" for label in read]
    present = sorted(set(gold))
    assert accuracy(table) == pytest.approx(accuracy_score(gold, texts))
    assert weighted_f1(table) == pytest.approx(f1_score(gold, texts, average="weighted", zero_division=0))
    assert macro_f1(table) == pytest.approx(
        f1_score(gold, texts, average="macro", labels=present, zero_division=0)
    )
    if len({*gold, *texts}) > 1:
        assert cohen_kappa(table) == pytest.approx(cohen_kappa_score(gold, texts))


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=40))
def test_phi_is_spearmans_rho(pairs: list[tuple[bool, bool]]) -> None:
    a, b = np.array(pairs).T
    if a.min() < a.max() and b.min() < b.max():
        names = np.array(["no", "yes"])
        table = label_units(list(names[a.astype(int)]), list(names[b.astype(int)]), YES_NO).sum(axis=0)
        assert phi(table) == pytest.approx(spearmanr(a, b).statistic)
