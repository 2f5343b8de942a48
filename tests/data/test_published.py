"""The paper's figures are all there and are fractions."""

import csv

import pytest

from evidencebench_core.data.published import published_results
from tests.conftest import real_file


def test_a_figure_of_every_table() -> None:
    figures = published_results()
    assert len(figures) == 120
    first = figures[0]
    assert (first.system, first.task, first.source) == ("GPT-4o", "er@optimal", "Table 12")
    assert (first.aspect_recall, first.standard_error) == (0.514, 0.014)
    assert {figure.dataset for figure in figures} == {"evidencebench-test", "evidencebench-100k-test-sample"}
    assert all(0 < figure.aspect_recall <= 1 for figure in figures)
    assert {figure.kind for figure in figures} == {"llm", "embedding", "lexical", "bound"}


@pytest.mark.realdata
def test_they_are_those_of_the_source() -> None:
    with real_file("published_results.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row, figure in zip(rows, published_results(), strict=True):
        assert row["system"] == figure.system
        assert row["source"] == figure.source
        assert float(row["aspect_recall"]) == pytest.approx(100 * figure.aspect_recall)
        error = None if figure.standard_error is None else f"{100 * figure.standard_error:.1f}"
        assert (row["standard_error"] or None) == error
