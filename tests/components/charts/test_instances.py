"""Instance by instance: the scatter of two systems and the slope chart of wordings."""

from __future__ import annotations

import pandas as pd

from components.charts.instances import LINES_AT_MOST, recall_scatter, slope_chart


def test_the_scatter_puts_the_first_system_upwards() -> None:
    frame = pd.DataFrame([{"id": "i", "a": 0.25, "b": 0.75, "n": 4}])
    figure = recall_scatter(frame, "first", "second", "#123456")
    (points,) = figure.data
    assert (list(points.x), list(points.y)) == ([75.0], [25.0])
    assert "first" in figure.layout.yaxis.title.text
    assert "second" in figure.layout.xaxis.title.text


COLOURS = {"up": "#111111", "level": "#222222", "down": "#333333"}


def test_instances_that_move_alike_share_a_line() -> None:
    frame = pd.DataFrame(
        {
            "instance": ["a", "b", "c", "<d>"],
            "original": [0.5, 0.5, 0.0, 1.0],
            "negation": [0.0, 0.0, 0.25, 1.0],
        }
    )
    figure = slope_chart(frame, ["original", "negation"], COLOURS)
    lines = {trace.line.color: trace for trace in figure.data}
    assert list(lines["#333333"].y) == [50, 0, None]
    assert list(lines["#333333"].customdata[0]) == [2, "a"]
    assert list(lines["#111111"].y) == [0, 25, None]
    assert lines["#333333"].line.width > lines["#111111"].line.width
    assert figure.layout.yaxis.title.text == "Aspect Recall of an instance, %"


def test_only_so_many_lines_and_the_longest_first() -> None:
    n = LINES_AT_MOST + 50
    frame = pd.DataFrame(
        {"instance": [str(i) for i in range(n)], "original": 0.0, "other": [i / n for i in range(n)]}
    )
    figure = slope_chart(frame, ["original", "other"], COLOURS)
    drawn = [y for trace in figure.data for y in trace.y if y is not None]
    assert len(drawn) == 2 * LINES_AT_MOST
    assert max(drawn) == 100 * (n - 1) / n
