"""Charts by position: what they show, in percent, with what a click leads to."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from components.charts.positions import ends_chart, ends_histogram, needle_chart, position_chart

BUCKETS = {"bucket": [1, 2], "from": [0.0, 0.5], "to": [0.5, 1.0]}
RUN = {"run": "r1", "label": "<i>a"}
OPPORTUNITY = pd.DataFrame(
    {
        **BUCKETS,
        "share_covering": [0.6, 0.4],
        "n_aspects": [5, 5],
        "n_can": [4, 3],
        "n_must": [2, 0],
        "can": [0.8, 0.6],
        "can_low": [0.7, 0.5],
        "can_high": [1.0, 0.7],
        "must": [0.4, 0.0],
        "must_low": [0.3, 0.0],
        "must_high": [0.5, 0.0],
    }
)
PICKS = pd.DataFrame(
    {**BUCKETS, **RUN, "n_picks": [1, 3], "share": [0.25, 0.75], "low": [0.1, 0.6], "high": [0.4, 0.9]}
)
RECALL = pd.DataFrame(
    {
        **BUCKETS,
        **RUN,
        "n_aspects": [4, 0],
        "recall": [0.5, math.nan],
        "low": [0.2, math.nan],
        "high": [0.9, math.nan],
        "chance": [0.3, math.nan],
    }
)


def test_four_panels_on_one_axis() -> None:
    figure = position_chart(OPPORTUNITY, PICKS, RECALL, {"r1": "#111111"}, "#b37800")
    can, must = figure.data[0], figure.data[1]
    assert list(can.x) == [25.0, 75.0]
    assert list(can.y) == [80.0, 60.0]
    assert can.error_y.array[0] == pytest.approx(20)
    assert can.error_y.arrayminus[0] == pytest.approx(10)
    assert list(must.customdata[0]) == ["must", "", 1]
    assert "4 of 5" in can.text[0]
    recall = figure.data[-1]
    assert recall.name == "&lt;i&gt;a"
    assert recall.y[0] == 50.0
    assert list(recall.customdata[0]) == ["recall", "r1", 1]
    assert recall.error_y.array[1] == 0  # undefined: no whisker
    titles = [figure.layout[f"yaxis{n}"].title.text for n in ("", "2", "3", "4")]
    assert titles == ["%", "%", "aspects", "Recall, %"]
    assert "%" in figure.layout.xaxis4.title.text
    counts = next(trace for trace in figure.data if trace.type == "bar" and trace.yaxis == "y3")
    assert list(counts.text) == ["4", "0"] or list(counts.text) == [4, 0]


def test_without_a_run_only_the_opportunity_and_without_a_budget_no_chance() -> None:
    figure = position_chart(OPPORTUNITY, None, None, {}, "#b37800")
    assert [trace.type for trace in figure.data] == ["bar", "bar"]
    assert figure.data[0].marker.color != figure.data[1].marker.color  # told apart in the legend, too
    assert "Position" in figure.layout.xaxis.title.text
    figure = position_chart(OPPORTUNITY, PICKS, RECALL.assign(chance=math.nan), {"r1": "#111111"}, "#b37800")
    assert "as many random picks" not in [trace.name for trace in figure.data]


def test_the_histogram_has_its_thresholds() -> None:
    bars = pd.DataFrame({"low": [0.0, 0.5], "high": [0.5, 1.0], "n": [3, 7]})
    figure = ends_histogram(bars, 0.2, 0.8, "#111111")
    assert [shape.x0 for shape in figure.layout.shapes] == [20.0, 80.0]
    assert list(figure.data[0].customdata[1]) == ["coverage", "", 1]
    assert figure.layout.yaxis.title.text == "Instances"


def test_groups_of_the_split() -> None:
    ours = {"name": "bm25", "run": "r1", "group": "above", "recall": 0.5, "low": 0.4, "high": 0.7, "n": 27}
    published = {"name": "GPT-4o, published", "run": "", "group": "below", "recall": 0.349, "n": 1111}
    rows = pd.DataFrame([ours | {"chance": 0.2, "colour": "#111111"}, published | {"colour": "gray"}])
    figure = ends_chart(rows, ("above", "neither", "below"))
    marks = [trace for trace in figure.data if trace.customdata is not None]
    assert [list(trace.customdata[0]) for trace in marks] == [["ends", "r1", "above"], ["ends", "", "below"]]
    assert marks[0].error_x.array[0] == pytest.approx(20)
    assert marks[1].error_x.array[0] == 0
    assert "n = 1,111" in marks[1].hovertemplate
    assert list(figure.layout.yaxis.ticktext) == ["bm25", "GPT-4o, published"]


def test_the_needle_shows_the_same_aspects_beside_what_was_removed() -> None:
    common = {"run": "r1", "label": "lead", "low": 0.1, "high": 0.9, "n_aspects": 4, "n_instances": 2}
    rows = pd.DataFrame(
        [
            {"place": "original", "recall": 0.8, "original": 0.8} | common,
            {"place": "end", "recall": 0.2, "original": 0.8} | common,
            {"place": "removed", "recall": 0.3, "original": 0.6} | common,
        ]
    )
    figure = needle_chart(rows, {"r1": "#111111"})
    assert list(figure.layout.xaxis.ticktext) == ["as it stands", "end", "removed"]
    line, removed, hollow = figure.data
    assert list(line.y) == [80.0, 20.0]
    assert list(removed.y) == [30.0]
    assert list(hollow.y) == [60.0]
    assert hollow.marker.symbol == "circle-open"
    assert list(line.customdata[1]) == ["needle", "r1", "end"]
    assert "4 aspects in 2 instances" in line.text[0]
