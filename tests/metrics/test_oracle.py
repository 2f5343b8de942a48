"""Against outside oracles on the real train set: StRecall of ir_measures, and scipy's hypergeometric."""

from typing import Any

import ir_measures
import numpy as np
import pytest
from ir_measures import Qrel, StRecall
from scipy.stats import hypergeom

from evidencebench_core.metrics import aspect_recall, expected_recall

pytestmark = pytest.mark.realdata
N_SELECTIONS = 200
KEYS = {
    "er": ("aspect_list_ids", "evidence_retrieval_at_optimal_evaluation"),
    "result-er": ("results_aspect_list_ids", "results_evidence_retrieval_at_optimal_evaluation"),
}


def gold_of(
    train_raw: dict[str, dict[str, Any]], family: str
) -> dict[str, tuple[int, list[frozenset[int]], int]]:
    """Instance id -> number of sentences, covers, optimal K: read without our parser."""
    ids_key, optimal_key = KEYS[family]
    return {
        name: (
            len(raw["paper_as_candidate_pool"]),
            [frozenset(raw["aspect2sentence_indices"][aspect]) for aspect in raw[ids_key]],
            raw[optimal_key]["optimal"],
        )
        for name, raw in train_raw.items()
        if raw[ids_key] is not None
    }


def budget_of(budget: int | str, optimal: int) -> int:
    return optimal if isinstance(budget, str) else budget


@pytest.mark.parametrize(
    ("family", "budget"), [("er", "optimal"), ("er", 10), ("result-er", "optimal"), ("result-er", 5)]
)
def test_k_or_fewer_agree_with_subtopic_recall(
    train_raw: dict[str, dict[str, Any]], family: str, budget: int | str
) -> None:
    gold = gold_of(train_raw, family)
    assert len(gold) == (96 if family == "er" else 95)
    qrels = [
        Qrel(name, str(sentence), 1, str(position))
        for name, (_, covers, _) in gold.items()
        for position, cover in enumerate(covers)
        for sentence in cover
    ]
    cutoffs = {budget_of(budget, optimal) for *_, optimal in gold.values()}
    measure_at = {cutoff: StRecall @ cutoff for cutoff in cutoffs}
    oracle = ir_measures.evaluator(list(measure_at.values()), qrels)
    rng = np.random.default_rng(20240611)
    n_compared = 0
    worst = 0.0
    for _ in range(N_SELECTIONS):
        picked = {}
        for name, (n_sentences, _, optimal) in gold.items():
            k = budget_of(budget, optimal)
            picked[name] = rng.choice(n_sentences, size=rng.integers(1, k + 1), replace=False).tolist()
        run = {
            name: {str(sentence): float(-rank) for rank, sentence in enumerate(picks)}
            for name, picks in picked.items()
        }
        for metric in oracle.iter_calc(run):
            _, covers, optimal = gold[metric.query_id]
            k = budget_of(budget, optimal)
            if metric.measure == measure_at[k]:
                picks = picked[metric.query_id]
                plain, ours = aspect_recall(picks, covers), expected_recall(picks, covers, k)
                assert plain == ours
                assert ours is not None
                worst = max(worst, abs(ours - metric.value))
                n_compared += 1
    assert n_compared == N_SELECTIONS * len(gold)
    assert worst < 1e-9


@pytest.mark.parametrize(
    ("family", "budget"), [("er", "optimal"), ("er", 10), ("result-er", "optimal"), ("result-er", 5)]
)
def test_more_than_k_agree_with_the_hypergeometric_distribution(
    train_raw: dict[str, dict[str, Any]], family: str, budget: int | str
) -> None:
    # K of the n picks are drawn; an aspect is missed when none of the n_j that cover it is among them.
    rng = np.random.default_rng(20240612)
    ours: list[float] = []
    rows: list[tuple[int, int, int, int]] = []  # selection, n, n_j, K
    n_aspects: list[int] = []
    for n_sentences, covers, optimal in gold_of(train_raw, family).values():
        k = budget_of(budget, optimal)
        for _ in range(N_SELECTIONS):
            picks = rng.choice(n_sentences, size=rng.integers(k + 1, n_sentences + 1), replace=False).tolist()
            recall = expected_recall(picks, covers, k)
            assert recall is not None
            rows += [(len(ours), len(picks), len(cover & set(picks)), k) for cover in covers]
            ours.append(recall)
            n_aspects.append(len(covers))
    selection, n, n_j, k = np.array(rows).T
    met = 1.0 - hypergeom.pmf(0, n, n_j, k)
    theirs = np.bincount(selection, weights=met) / np.array(n_aspects)
    np.testing.assert_allclose(np.array(ours), theirs, rtol=0, atol=1e-9)
