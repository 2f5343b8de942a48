"""Tables that draw and plot themselves in a notebook."""

import pandas as pd
import pytest

from evidencebench_core.analyses.report import Report
from evidencebench_core.errors import SettingError, UnknownNameError
from evidencebench_core.notebook import interval_plot, table_html

TABLE = pd.DataFrame(
    {
        "system": ["1a", "2b", "3c"], "label": ["bm25", "bm25", "<b>mine\u202e"], "n": 6, "recall": [0.5, 0.25, None],
        "low": [0.4, None, None], "high": [0.75, None, None],
    }
)  # fmt: skip


def test_a_dot_a_row_with_its_interval_and_no_markup() -> None:
    figure = interval_plot(TABLE, "A <i>title", ["recall"])
    (dots,) = figure.data
    assert list(dots.x[:2]) == [0.5, 0.25]
    assert (dots.error_x.array[0], dots.error_x.arrayminus[0]) == pytest.approx((0.25, 0.1))
    assert list(dots.y) == ["bm25 · 6 · 1a", "bm25 · 6 · 2b", "&lt;b&gt;mine[U+202E] · 6 · 3c"]
    assert (figure.layout.title.text, figure.layout.xaxis.tickformat) == ("A &lt;i&gt;title", ".0%")
    assert figure.layout.xaxis.range == (0, 1)
    counted = interval_plot(TABLE.assign(label=["a", "b", "c"]), "T", [])
    assert (list(counted.data[0].y), counted.layout.xaxis.range) == (["a", "b", "c"], None)


def test_a_report_plots_the_first_table_that_can_be() -> None:
    pairs = pd.DataFrame(
        {"label_a": ["a"], "label_b": ["b"], "difference": [0.1], "low": [-0.1], "high": [0.3]}
    )
    report = Report("R", {"counts": pd.DataFrame({"n": [1]}), "pairs": pairs})
    figure = report.plot()
    assert (figure.layout.title.text, list(figure.data[0].y)) == ("R: pairs", ["a · b"])
    assert len(figure.layout.shapes) == 1  # the line at no difference
    with pytest.raises(SettingError, match="has no value with its interval"):
        report.plot("counts")
    with pytest.raises(SettingError, match="201 rows"):
        interval_plot(pd.concat([pairs] * 201), "long", [])
    with pytest.raises(UnknownNameError):
        report.plot("x")


def test_no_text_of_a_table_is_markup() -> None:
    html = table_html(pd.DataFrame({"<b>": ["<script>\u202e"], "x": [0.123456]}))
    assert "&lt;script&gt;[U+202E]" in html
    assert "<td>0.1235</td>" in html
    assert "<b>" not in html
