"""Figures: percent with intervals, labels that are no markup, and what a click on a mark leads to."""

from __future__ import annotations

import json
import math

import pandas as pd
import pytest

from components.charts.bars import histogram, share_chart
from components.charts.curves import recall_curve, spelling_chart
from components.charts.dots import difference_chart, interval_chart, missed_chart
from components.charts.instances import LINES_AT_MOST, recall_scatter, slope_chart, slope_lines
from components.charts.positions import ends_chart, ends_histogram, position_chart

NAN = math.nan


def whiskers(bars) -> tuple[list[float], list[float]]:
    """How far the intervals reach up and down."""
    return pytest.approx(list(bars.array)), pytest.approx(list(bars.arrayminus))


# -- bars and dots ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "n_bars", "first", "n_first"),
    [({1: 5, 3: 2}, 3, "1", 5), (dict.fromkeys(range(10, 110), 1), 34, "10 to 12", 3)],
)
def test_histograms_of_few_values_and_of_many(
    values: dict[int, int], n_bars: int, first: str, n_first: int
) -> None:
    frame = pd.DataFrame(values.items(), columns=["value", "n"])
    bars = histogram(frame, "Optimal K", "instances", "#000000").data[0]
    assert (len(bars.x), bars.customdata[0], bars.y[0]) == (n_bars, first, n_first)
    assert sum(bars.y) == sum(values.values())  # none is lost


def test_bars_start_at_zero_and_stand_in_the_order_given() -> None:
    frame = pd.DataFrame({"where": ["<b>abstract"], "share": [0.25]})
    (shares,) = share_chart(frame, [("share", "<i>there", "#000000")], "Share, %", "4 aspects").data
    assert (shares.x[0], shares.y[0], shares.name) == (25, "&lt;b&gt;abstract", "&lt;i&gt;there")


def test_means_reach_from_low_to_high_and_name_n() -> None:
    columns = ["name", "recall", "low", "high", "n", "colour"]
    long = "one (answers for 1 of 96)"
    rows = [("<b>bm25</b>", 0.4, 0.3, 0.55, 96, "#000000"), (long, 1.0, None, None, 1, "#000000")]
    figure = interval_chart(
        pd.DataFrame(rows, columns=columns), "Recall, %", random=0.1, ceiling=(0.99, 0.99)
    )
    assert whiskers(figure.data[0].error_x) == ([15], [10])
    assert figure.data[1].error_x.array[0] == 0
    assert figure.layout.yaxis.ticktext[0] == "&lt;b&gt;bm25&lt;/b&gt; (n\u00a0=\u00a096)"
    assert figure.layout.yaxis.ticktext[1] == "one (answers for 1 of 96)<br>(n\u00a0=\u00a01)"
    assert figure.layout.xaxis.range[0] == 0
    assert [shape.x0 for shape in figure.layout.shapes] == pytest.approx([10.0, 99.0])
    band = interval_chart(
        pd.DataFrame(rows, columns=columns), "Recall, %", ceiling=(0.84, 0.91)
    ).layout.shapes[0]
    assert (band.type, band.x0, band.x1) == ("rect", pytest.approx(84.0), pytest.approx(91.0))
    longer = interval_chart(
        pd.DataFrame([(f"{long} {long}", *rows[0][1:])] * 2, columns=columns), "Recall, %"
    )
    assert longer.layout.height > figure.layout.height  # a label of three lines has room for them


def test_differences_are_in_points() -> None:
    known = {"name": "x", "group": "bm25", "difference": 0.1, "low": -0.05, "high": 0.2, "n": 9}
    unknown = {"group": "dense", "n": 0, **dict.fromkeys(("difference", "low", "high"), NAN)}
    frame = pd.DataFrame([known, known | unknown]).assign(colour="#111111")
    bm25, dense = difference_chart(frame, "points").data
    assert (list(bm25.x), len(dense.x)) == ([10], 0)
    assert whiskers(bm25.error_x) == ([10], [15])


def test_missed_shares_carry_their_bin_and_chosen_ones_stand_out() -> None:
    bins = {"bin": ["abstract", "methods", "results"], "label": ["Abstract", "<b>Methods</b>", "Results"]}
    counts = {"n_missed": [1, 0, 3], "n_aspects": [4, 0, 4], "n_papers": [2, 0, 1]}
    shares = {"share": [0.25, NAN, 0.75], "low": [0.1, NAN, NAN], "high": [0.5, NAN, NAN]}
    frame = pd.DataFrame({**bins, **counts, **shares})
    figure = missed_chart(frame, "#d55e00", "Missed, %", ("results",), mean=0.5, top=0.8)
    (dots,) = figure.data
    assert (list(dots.x), list(dots.y)) == ([25.0, 75.0], [0, 2])  # none in the empty bin
    assert [row[0] for row in dots.customdata] == ["abstract", "results"]
    assert whiskers(dots.error_x) == ([25, 0], [15, 0])
    labels = ("Abstract  1/4", "&lt;b&gt;Methods&lt;/b&gt;  0/0", "Results  3/4")
    assert figure.layout.yaxis.ticktext == labels
    assert list(dots.marker.opacity) == [0.35, 1.0]
    assert tuple(figure.layout.xaxis.range) == (0, 80)
    assert figure.layout.shapes[0].x0 == 50


# -- lines and instances ------------------------------------------------------------------------------------


def test_the_curve_has_one_line_a_selection_in_percent() -> None:
    rows = [("a", 0, 0.0), ("a", 1, 0.5), ("best", 0, 0.0), ("best", 1, 1.0)]
    frame = pd.DataFrame(rows, columns=["name", "pick", "recall"])
    a, best = recall_curve(frame, {"a": "#111111", "best": "#222222"}, ("best",)).data
    assert (a.name, list(a.y), a.line.dash) == ("a", [0.0, 50.0], "solid")
    assert (best.name, best.line.dash) == ("best", "dot")


def test_errors_stand_at_equal_distances() -> None:
    recall = {"recall": 0.5, "recall_low": 0.4, "recall_high": 0.6}
    frame = pd.DataFrame({"errors": [0, 10, 50], "mean_errors": [0, 10, 50], "n": 6, "n_capped": 0, **recall})
    frame = frame.assign(group="bm25", colour="#111111")
    figure = spelling_chart(frame)
    assert list(figure.data[0].x) == [0, 1, 2]
    assert list(figure.layout.xaxis.ticktext) == ["0", "10", "50"]
    assert whiskers(figure.data[0].error_y)[0] == [10, 10, 10]
    assert len(spelling_chart(frame.assign(**dict.fromkeys(recall, NAN))).data[0].x) == 0


def test_the_scatter_puts_the_first_system_upwards() -> None:
    frame = pd.DataFrame([{"id": "i", "a": 0.25, "b": 0.75, "n": 4}])
    figure = recall_scatter(frame, "first", "second", "#123456")
    assert (list(figure.data[0].x), list(figure.data[0].y)) == ([75.0], [25.0])
    assert "first" in figure.layout.yaxis.title.text
    assert "second" in figure.layout.xaxis.title.text


WAYS = {"better": "#111111", "same": "#222222", "worse": "#333333"}


def test_instances_that_move_alike_share_a_line() -> None:
    columns = ["instance", "original", "negation"]
    rows = [("a", 0.5, 0.0), ("b", 0.5, 0.0), ("c", 0.0, 0.25), ("<d>", 1.0, 1.0)]
    lines, rounded = slope_lines(pd.DataFrame(rows, columns=columns), *columns[1:])
    assert not rounded
    figure = slope_chart(lines, ("original", "<i>negation"), WAYS)
    drawn = {trace.line.color: trace for trace in figure.data if trace.customdata is not None}
    better, worse = drawn["#111111"], drawn["#333333"]
    assert (list(worse.y), list(worse.customdata[0])) == ([50, 0, None], [2, "a", "a"])
    assert list(better.y) == [0, 25, None]
    assert worse.line.width > better.line.width
    legend = [trace.name for trace in figure.data if trace.showlegend is not False]
    assert sorted(legend) == ["better: 1", "same: 1", "worse: 2"]
    assert list(figure.layout.xaxis.ticktext) == ["original", "&lt;i&gt;negation"]
    assert len(slope_chart(lines.head(0), ("a", "b"), WAYS).data) == 3  # the legend alone


def test_of_many_instances_every_one_stays_in_the_slope_chart() -> None:
    n = 2 * LINES_AT_MOST
    frame = pd.DataFrame({"instance": [str(i) for i in range(n)], "original": 0.5})
    frame["other"] = frame.index / n
    lines, rounded = slope_lines(frame, "original", "other")
    assert rounded
    assert len(lines) <= LINES_AT_MOST
    assert lines["size"].sum() == n
    # The way is that of the exact shares: one of them stands still.
    assert lines.groupby("way")["size"].sum().to_dict() == {"better": n // 2 - 1, "same": 1, "worse": n // 2}
    (widest,) = slope_chart(lines, ("a", "b"), WAYS).data[-1:]
    assert 1 <= widest.line.width <= 7


# -- by position --------------------------------------------------------------------------------------------

BUCKETS = {"bucket": [1, 2], "from": [0.0, 0.5], "to": [0.5, 1.0]}
RUN = {"run": "r1", "label": "<i>a"}
COLUMNS = [
    *("share_covering", "n_aspects", "n_can", "n_must"),
    *("can", "can_low", "can_high", "must", "must_low", "must_high"),
]
ROWS = [(0.6, 5, 4, 2, 0.8, 0.7, 1.0, 0.4, 0.3, 0.5), (0.4, 5, 3, 0, 0.6, 0.5, 0.7, 0.0, 0.0, 0.0)]
OPPORTUNITY = pd.DataFrame(ROWS, columns=COLUMNS).assign(**BUCKETS)
SHARES = {"share": [0.25, 0.75], "low": [0.1, 0.6], "high": [0.4, 0.9]}
PICKS = pd.DataFrame({**BUCKETS, **RUN, "n_picks": [1, 3], **SHARES})
RECALLS = {"recall": [0.5, NAN], "low": [0.2, NAN], "high": [0.9, NAN], "chance": [0.3, NAN]}
RECALL = pd.DataFrame({**BUCKETS, **RUN, "n_aspects": [4, 0], **RECALLS})


def test_four_panels_on_one_axis() -> None:
    figure = position_chart(OPPORTUNITY, PICKS, RECALL, {"r1": "#111111"}, "#b37800")
    can, must, recall = figure.data[0], figure.data[1], figure.data[-1]
    assert (list(can.x), list(can.y)) == ([25.0, 75.0], [80.0, 60.0])
    assert whiskers(can.error_y) == ([20, 10], [10, 10])
    assert "4 of 5" in can.text[0]
    assert list(must.customdata[0]) == ["must", "", 1]
    assert (recall.name, recall.y[0]) == ("&lt;i&gt;a", 50.0)
    assert list(recall.customdata[0]) == ["recall", "r1", 1]
    assert recall.error_y.array[1] == 0  # undefined: no whisker
    titles = [figure.layout[f"yaxis{n}"].title.text for n in ("", "2", "3", "4")]
    assert titles == ["%", "%", "aspects", "Recall, %"]


def test_without_a_run_only_the_opportunity_and_without_a_budget_no_chance() -> None:
    figure = position_chart(OPPORTUNITY, None, None, {}, "#b37800")
    assert [trace.type for trace in figure.data] == ["bar", "bar"]
    assert figure.data[0].marker.color != figure.data[1].marker.color  # told apart in the legend, too
    figure = position_chart(OPPORTUNITY, PICKS, RECALL.assign(chance=NAN), {"r1": "#111111"}, "#b37800")
    assert "as many random picks" not in [trace.name for trace in figure.data]


def test_the_split_and_its_groups() -> None:
    bars = pd.DataFrame({"low": [0.0, 0.5], "high": [0.5, 1.0], "n": [3, 7]})
    figure = ends_histogram(bars, 0.2, 0.8, "#111111")
    assert [shape.x0 for shape in figure.layout.shapes] == [20.0, 80.0]
    assert list(figure.data[0].customdata[1]) == ["coverage", "", 1]
    ours = {"name": "bm25", "run": "r1", "group": "above", "recall": 0.5, "low": 0.4, "high": 0.7, "n": 27}
    published = {"name": "GPT-4o, published", "run": "", "group": "below", "recall": 0.349, "n": 1111}
    rows = pd.DataFrame([ours | {"chance": 0.2, "colour": "#111111"}, published | {"colour": "gray"}])
    figure = ends_chart(rows, ("above", "neither", "below"))
    marks = [trace for trace in figure.data if trace.customdata is not None]
    assert [list(trace.customdata[0]) for trace in marks] == [["ends", "r1", "above"], ["ends", "", "below"]]
    assert [mark.error_x.array[0] for mark in marks] == [pytest.approx(20), 0]
    assert "n = 1,111" in marks[1].hovertemplate
    assert list(figure.layout.yaxis.ticktext) == ["bm25", "GPT-4o, published"]


def test_a_name_is_no_link_wherever_a_chart_shows_it() -> None:
    link = "<a href='https://x.org'>bm25</a> \u202e"
    level = {"low": 0.1, "high": 0.9, "n": 3, "colour": "#111111"}
    one = pd.DataFrame([{"name": link, "group": link, "recall": 0.5, "difference": 0.1, **level}])
    scatter = pd.DataFrame({"id": [link], "a": [0.5], "b": [0.5], "n": [1]})
    slopes = pd.DataFrame({"instance": [link], "x": [0.2], "y": [0.4]})
    lines, _ = slope_lines(slopes, "x", "y")
    curve = pd.DataFrame({"name": [link] * 2, "pick": [0, 1], "recall": [0.0, 0.5]})
    bins = {"bin": ["a"], "label": [link], "n_missed": [1], "n_aspects": [4], "n_papers": [2], "share": [0.2]}
    for figure in (
        interval_chart(one, link),
        difference_chart(one, link),
        recall_scatter(scatter, link, link, "#111111"),
        slope_chart(lines, (link, link), WAYS),
        recall_curve(curve, {link: "#111111"}),
        histogram(pd.DataFrame({"value": [1], "n": [2]}), link, link, "#111111"),
        missed_chart(
            pd.DataFrame(bins | {"low": [0.1], "high": [0.5]}), "#111111", link, (), mean=0.5, top=0.8
        ),
    ):
        shown = figure.to_dict()
        for trace in shown["data"]:
            if "customdata" in trace:  # what is clicked has its true name, and no template shows it
                trace.pop("customdata")
        assert "<a " not in json.dumps(shown, default=str)
        assert "\u202e" not in json.dumps(shown, default=str, ensure_ascii=False)
    hover = [recall_scatter(scatter, "a", "b", "#111111"), slope_chart(lines, ("a", "b"), WAYS)]
    for figure in hover:
        mark = next(trace for trace in figure.data if trace.customdata is not None and len(trace.customdata))
        assert mark.customdata[0][2].startswith("&lt;a ")
        assert "%{customdata[2]}" in mark.hovertemplate
