"""The paper's figures are all there, as shares."""

import pandas as pd
import pytest

from evidencebench_core.tasks.published import published_results
from tests.conftest import real_file


@pytest.mark.realdata
def test_a_figure_of_every_table_as_in_the_source() -> None:
    figures, source = published_results(), pd.read_csv(real_file("published_results.csv"))
    assert len(figures) == 120
    assert set(figures["dataset"]) == {"evidencebench-test", "evidencebench-100k-test-sample"}
    assert figures["system"].tolist() == source["system"].tolist()
    for name in ("aspect_recall", "standard_error"):
        pd.testing.assert_series_equal(100 * figures[name], source[name], check_names=False)
    first = figures.iloc[0]
    assert (first.system, first.task, first.source) == ("GPT-4o", "er@optimal", "Table 12")
