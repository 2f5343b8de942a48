"""The mixture of matches and its guard, and thresholds (rules 14 to 16, 36, 54; example 12.5; faults C2, C20)."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidencebench_core.errors import SettingError
from evidencebench_core.stats import Mixture, best_threshold, fitted_mixture, mixture_from

VALUES = np.concatenate([np.linspace(0.05, 0.35, 60), np.linspace(0.65, 0.85, 20)])


def gaussians(sd_other: float, sd_match: float) -> Mixture:
    """Two plain Gaussians of means .2 and .7 and weights .8 and .2: what the priors add is made so small."""
    big = 1e12
    return Mixture(
        (0.2, 0.7), (1 / sd_other, 1 / sd_match), (big, big), (big, big), (0.8 * big, 0.2 * big), (0.2 * big, 1.0)
    )  # fmt: skip


def test_example_12_5_by_plain_gaussians() -> None:
    even = gaussians(0.1, 0.1)
    assert even.turn is None
    assert even.posterior([0.45, 0.5]) == pytest.approx([0.2, 0.752819], abs=1e-6)
    assert even.posterior(0.488088) == pytest.approx(0.6267, abs=1e-4)
    narrow = gaussians(0.2, 0.05)
    assert narrow.turn == pytest.approx(0.733333, abs=1e-6)
    assert narrow.posterior([0.6, 0.7]) == pytest.approx([0.5, 0.957912], abs=1e-6)
    assert narrow.posterior([0.8, 1.0], guard=False) == pytest.approx([0.924142, 0.000045], abs=1e-6)
    assert narrow.posterior([0.733333, 0.8, 1.0]) == pytest.approx([0.965555] * 3, abs=1e-6)
    wide = gaussians(0.05, 0.2)
    assert wide.turn == pytest.approx(0.166667, abs=1e-6)
    assert wide.posterior(-0.2, guard=False) == pytest.approx(1.0, abs=1e-6)
    assert wide.posterior(-0.2) == pytest.approx(0.002225, abs=1e-6)


def test_the_fit_equals_scikit_learn_and_survives_json() -> None:
    from sklearn.mixture import BayesianGaussianMixture

    fitted = fitted_mixture(VALUES, np.arange(80) % 10)
    assert sorted(fitted.means) == pytest.approx([0.202194, 0.729787], abs=1e-3)
    assert fitted.posterior([0.4, 0.5], guard=False) == pytest.approx([0.048659, 0.847545], abs=1e-3)
    theirs = BayesianGaussianMixture(n_components=2, max_iter=1000, n_init=5, random_state=42).fit(
        VALUES[:, None]
    )
    grid = np.linspace(-0.5, 1.3, 400)
    wanted = theirs.predict_proba(grid[:, None])[:, fitted.match]
    assert fitted.posterior(grid, guard=False) == pytest.approx(wanted, abs=1e-12)
    assert mixture_from(json.loads(json.dumps(fitted.as_dict()))) == fitted
    assert (fitted.n, fitted.n_groups, fitted.warnings) == (80, 10, ())


@settings(max_examples=15, deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=50, max_size=80), st.integers(0, 9))
def test_guarded_it_is_monotone(values: list[float], seed: int) -> None:
    values[:2] = [0.1, 0.9]
    fitted = fitted_mixture(values, np.arange(len(values)) % 10)
    for one in (fitted, replace(fitted, precisions=fitted.precisions[::-1])):
        p = one.posterior(np.linspace(-1, 1, 101))
        assert (np.diff(p) >= -1e-12).all()
        assert ((p >= 0) & (p <= 1)).all()


def test_what_cannot_be_fitted_or_read() -> None:
    for values, groups in (([0.5] * 49, range(49)), (VALUES, np.arange(80) % 9), ([0.5] * 60, range(60))):
        with pytest.raises(SettingError, match="matcher=cosine"):
            fitted_mixture(values, list(groups))
    near = fitted_mixture(np.random.default_rng(0).normal(0.5, 0.1, 200), np.arange(200) % 20)
    assert any("nearer" in warning for warning in near.warnings)
    for broken in ({}, near.as_dict() | {"means": [1.0]}, near.as_dict() | {"degrees": ["a", 1]}):
        with pytest.raises(SettingError, match="mixture"):
            mixture_from(broken)


def test_the_best_threshold_is_the_best_of_all_distinct_scores() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        scores, truth = rng.integers(0, 6, 12) / 5, rng.random(12) < 0.4
        best = best_threshold(scores, truth)
        if not truth.any():
            assert best is None
            continue
        every = {}
        for value in np.unique(scores):
            taken = scores >= value
            every[value] = 2 * (taken & truth).sum() / (taken.sum() + truth.sum())
        assert best is not None
        assert best.f1 == pytest.approx(max(every.values()))
        assert best.value == max(value for value, f1 in every.items() if f1 == max(every.values()))
        assert best.accuracy == pytest.approx(((scores >= best.value) == truth).mean())
    with pytest.raises(SettingError, match="labels"):
        best_threshold([0.1], [True, False])
