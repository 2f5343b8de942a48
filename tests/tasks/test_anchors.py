"""Ceiling and random expectation on the real train set, and the paper's figures, as they are stated."""

from typing import Any

import pandas as pd
import pytest

from evidencebench_core.data import instance_from
from evidencebench_core.data.model import EvidenceSet
from evidencebench_core.tasks import TASKS, published_results, score
from tests.conftest import real_file

pytestmark = pytest.mark.realdata


@pytest.fixture(scope="module")
def gold(train_raw: dict[str, dict[str, Any]]) -> list[tuple[str, EvidenceSet]]:
    return [(name, instance_from(name, raw).evidence) for name, raw in train_raw.items()]


@pytest.mark.parametrize(
    ("task", "n", "random_expectation", "ceiling"),
    [
        ("er@optimal", 96, 8.86, 100.00),
        ("er@10", 96, 24.31, 99.82),
        ("result-er@optimal", 95, 4.38, 100.00),
        ("result-er@5", 95, 12.31, 99.59),
    ],
)
def test_anchors(
    gold: list[tuple[str, EvidenceSet]], task: str, n: int, random_expectation: float, ceiling: float
) -> None:
    everything = {name: list(range(evidence.n_sentences)) for name, evidence in gold}
    result = score(TASKS[task], gold, everything)
    assert result.n_scored == n
    assert list(result.skipped) == ([] if n == 96 else ["evidencebench_train_id_66"])
    figures = (result.random_expectation, result.ceiling)
    assert [round(100 * (figure or 0.0), 2) for figure in figures] == [random_expectation, ceiling]
    # who selects the whole paper scores what random picks are expected to
    assert result.aspect_recall == pytest.approx(result.random_expectation, abs=1e-12)


def test_a_figure_of_every_table_as_in_the_source() -> None:
    figures, source = published_results(), pd.read_csv(real_file("published_results.csv"))
    assert len(figures) == 120
    assert set(figures["dataset"]) == {"evidencebench-test", "evidencebench-100k-test-sample"}
    assert figures["system"].tolist() == source["system"].tolist()
    for name in ("aspect_recall", "standard_error"):
        pd.testing.assert_series_equal(100 * figures[name], source[name], check_names=False)
    first = figures.iloc[0]
    assert (first.system, first.task, first.source) == ("GPT-4o", "er@optimal", "Table 12")
