"""Charts: axes, units, error bars, and that names are shown as they are."""

from __future__ import annotations

import pandas as pd
import pytest

from components.charts.intervals import interval_chart
from components.charts.recall_curve import recall_curve
from components.charts.scatter import recall_scatter


def test_intervals_reach_from_low_to_high_and_name_n() -> None:
    frame = pd.DataFrame(
        [
            {"name": "<b>bm25</b>", "recall": 0.4, "low": 0.3, "high": 0.55, "n": 96, "colour": "#000000"},
            {"name": "one", "recall": 1.0, "low": None, "high": None, "n": 1, "colour": "#000000"},
        ]
    )
    figure = interval_chart(frame, "Aspect Recall on ER@10, %", random=0.1, ceiling=0.99)
    bars = figure.data[0].error_x
    assert bars.array[0] == pytest.approx(15.0)
    assert bars.arrayminus[0] == pytest.approx(10.0)
    assert figure.data[1].error_x.array[0] == 0
    assert figure.layout.yaxis.ticktext[0] == "&lt;b&gt;bm25&lt;/b&gt; (n = 96)"
    assert figure.layout.xaxis.range[0] == 0
    assert [shape.x0 for shape in figure.layout.shapes] == pytest.approx([10.0, 99.0])


def test_the_curve_has_one_line_a_selection_in_percent() -> None:
    frame = pd.DataFrame(
        [("a", 0, 0.0), ("a", 1, 0.5), ("best", 0, 0.0), ("best", 1, 1.0)], columns=["name", "pick", "recall"]
    )
    figure = recall_curve(frame, {"a": "#111111", "best": "#222222"}, ("best",))
    assert [trace.name for trace in figure.data] == ["a", "best"]
    assert list(figure.data[0].y) == [0.0, 50.0]
    assert [trace.line.dash for trace in figure.data] == ["solid", "dot"]
    assert "%" in figure.layout.yaxis.title.text


def test_the_scatter_puts_the_first_system_upwards() -> None:
    frame = pd.DataFrame([{"id": "i", "a": 0.25, "b": 0.75, "n": 4}])
    figure = recall_scatter(frame, "first", "second", "#123456")
    points = figure.data[1]
    assert (list(points.x), list(points.y)) == ([75.0], [25.0])
    assert "first" in figure.layout.yaxis.title.text
    assert "second" in figure.layout.xaxis.title.text
