"""Against outside oracles on the real train set: StRecall of ir_measures, and scipy's hypergeometric."""

from typing import Any

import ir_measures
import numpy as np
import pytest
from ir_measures import Qrel, StRecall
from scipy.stats import hypergeom

from evidencebench_core.metrics import aspect_recall, expected_recall

pytestmark = pytest.mark.realdata
N_SELECTIONS = 10
PREFIXES = {"er": "", "result-er": "results_"}
each_task = pytest.mark.parametrize(
    ("family", "budget"), [("er", None), ("er", 10), ("result-er", None), ("result-er", 5)]
)


def gold_of(
    train_raw: dict[str, dict[str, Any]], family: str, budget: int | None
) -> dict[str, tuple[int, list[frozenset[int]], int]]:
    """Instance id -> number of sentences, covers, K (the optimal one by default): read without our parser."""
    ids_key = f"{PREFIXES[family]}aspect_list_ids"
    return {
        name: (
            len(raw["paper_as_candidate_pool"]),
            [frozenset(raw["aspect2sentence_indices"][aspect]) for aspect in raw[ids_key]],
            budget or raw[f"{PREFIXES[family]}evidence_retrieval_at_optimal_evaluation"]["optimal"],
        )
        for name, raw in train_raw.items()
        if raw[ids_key] is not None
    }


@each_task
def test_k_or_fewer_agree_with_subtopic_recall(
    train_raw: dict[str, dict[str, Any]], family: str, budget: int | None
) -> None:
    gold = gold_of(train_raw, family, budget)
    assert len(gold) == (96 if family == "er" else 95)
    qrels = [
        Qrel(name, str(sentence), 1, str(position))
        for name, (_, covers, _) in gold.items()
        for position, cover in enumerate(covers)
        for sentence in cover
    ]
    measure_at = {k: StRecall @ k for *_, k in gold.values()}
    oracle = ir_measures.evaluator(list(measure_at.values()), qrels)
    rng = np.random.default_rng(20240611)
    n_compared, worst = 0, 0.0
    for _ in range(N_SELECTIONS):
        picked = {
            name: rng.choice(n_sentences, size=rng.integers(1, k + 1), replace=False).tolist()
            for name, (n_sentences, _, k) in gold.items()
        }
        run = {
            name: {str(sentence): float(-rank) for rank, sentence in enumerate(picks)}
            for name, picks in picked.items()
        }
        for metric in oracle.iter_calc(run):
            _, covers, k = gold[metric.query_id]
            if metric.measure == measure_at[k]:
                picks = picked[metric.query_id]
                ours = expected_recall(picks, covers, k)
                assert aspect_recall(picks, covers) == ours
                worst = max(worst, abs((ours or 0.0) - metric.value))
                n_compared += 1
    assert n_compared == N_SELECTIONS * len(gold)
    assert worst < 1e-9


@each_task
def test_more_than_k_agree_with_the_hypergeometric_distribution(
    train_raw: dict[str, dict[str, Any]], family: str, budget: int | None
) -> None:
    # K of the n picks are drawn; an aspect is missed when none of the n_j that cover it is among them.
    rng = np.random.default_rng(20240612)
    ours: list[float] = []
    rows: list[tuple[int, int, int, int]] = []  # selection, n, n_j, K
    n_aspects: list[int] = []
    for n_sentences, covers, k in gold_of(train_raw, family, budget).values():
        for _ in range(N_SELECTIONS):
            picks = rng.choice(n_sentences, size=rng.integers(k + 1, n_sentences + 1), replace=False).tolist()
            rows += [(len(ours), len(picks), len(cover & set(picks)), k) for cover in covers]
            ours.append(expected_recall(picks, covers, k) or 0.0)
            n_aspects.append(len(covers))
    selection, n, n_j, k = np.array(rows).T
    met = 1.0 - hypergeom.pmf(0, n, n_j, k)
    theirs = np.bincount(selection, weights=met) / np.array(n_aspects)
    np.testing.assert_allclose(np.array(ours), theirs, rtol=0, atol=1e-9)
