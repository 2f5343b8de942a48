"""The paper's figures are all there and are shares."""

import pandas as pd
import pytest

from evidencebench_core.tasks.published import published_results
from tests.conftest import real_file


def test_a_figure_of_every_table() -> None:
    figures = published_results()
    assert len(figures) == 120
    first = figures.iloc[0]
    assert (first.system, first.task, first.source) == ("GPT-4o", "er@optimal", "Table 12")
    assert (first.aspect_recall, first.standard_error) == (0.514, 0.014)
    assert set(figures.dataset) == {"evidencebench-test", "evidencebench-100k-test-sample"}
    assert figures.aspect_recall.between(0.01, 1).all()


@pytest.mark.realdata
def test_they_are_those_of_the_source() -> None:
    figures, source = published_results(), pd.read_csv(real_file("published_results.csv"))
    assert figures["system"].tolist() == source["system"].tolist()
    for name in ("aspect_recall", "standard_error"):
        pd.testing.assert_series_equal(100 * figures[name], source[name], check_names=False)
