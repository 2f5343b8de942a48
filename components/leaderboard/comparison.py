"""Two runs, paired by instance."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from components.app import resources
from components.app.page import percent
from components.charts.instances import recall_scatter
from components.widgets.chart import draw_chart, is_dark, picked_point
from components.widgets.frame_table import instance_table
from components.widgets.markdown import literal
from components.widgets.runs import reader_link
from components.widgets.table import Column
from evidencebench_core.data import DatasetInfo
from evidencebench_core.palette import retriever_hue
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import ScoreComparison, Task, compare_scores

_BUTTONS = 12  # instances at one point
_LARGEST = 40


def draw_comparison(dataset: DatasetInfo, task: Task, a: RunInfo, b: RunInfo) -> None:
    """The difference of means with interval and p-value, the scatter, and the instances behind it."""
    score_a, score_b = resources.run_score(a, task.name), resources.run_score(b, task.name)
    compared = compare_scores(score_a, score_b)
    st.markdown(f"## {literal(a.label)} against {literal(b.label)}, {literal(task.title)}")
    if compared.mean_difference is None:
        st.info("No instance is scored in both runs, so there is nothing to pair.")
        return
    st.markdown(_verdict(literal(a.label), literal(b.label), compared))
    of_a, of_b = score_a.per_instance, score_b.per_instance
    pairs = pd.DataFrame([(i, of_a[i], of_b[i]) for i in of_a if i in of_b], columns=["id", "a", "b"])
    left, right = st.columns(2, gap="medium")
    with left:
        _draw_scatter(dataset, task, a, b, pairs)
    with right:
        st.markdown("### Where they differ most")
        pairs = pairs.assign(points=100 * (pairs["a"] - pairs["b"]))
        instance_table(
            (
                Column("a", a.label, "percent"),
                Column("b", b.label, "percent"),
                Column("points", "Difference, points", "number", digits=1, signed=True),
            ),
            pairs.sort_values("points", key=abs, ascending=False, kind="stable").head(_LARGEST),
            (dataset, task),
            (a, b),
            key="largest",
            caption="Instances by the size of the difference",
            height=430,
        )


def _verdict(a: str, b: str, compared: ScoreComparison) -> str:
    interval = chance = ""
    if compared.ci95 is not None:
        low, high = compared.ci95
        interval = f" (95% interval {100 * low:+.1f} to {100 * high:+.1f})"
    if compared.p_value is not None:
        # With 10,000 draws and the +1 correction no smaller p than 1/10,001 can come out.
        smallest = compared.p_value <= 1 / 10_001 + 1e-12
        chance = f", p {'≤ 0.0001' if smallest else f'= {compared.p_value:.4f}'} by paired randomisation"
    only_a, only_b = len(compared.only_in_a), len(compared.only_in_b)
    left_out = f"{only_a:,} are scored in {a} only and {only_b:,} in {b} only; they are left out."
    return (
        f"**{100 * (compared.mean_difference or 0):+.1f} points**{interval}{chance}: {percent(compared.mean_a)} "
        f"against {percent(compared.mean_b)} over the {compared.n:,} instances scored in both. "
        f"{a} is ahead on {compared.wins:,}, level on {compared.ties:,}, behind on {compared.losses:,}. "
        + (left_out if only_a or only_b else "No instance is missing on either side.")
    )


def _draw_scatter(dataset: DatasetInfo, task: Task, a: RunInfo, b: RunInfo, pairs: pd.DataFrame) -> None:
    points = pairs.groupby(["a", "b"], as_index=False).agg(id=("id", "first"), n=("id", "size"))
    more = points["n"].map(lambda n: f" and {n - 1} more" if n > 1 else "")
    event = draw_chart(
        recall_scatter(
            points.assign(id=points["id"] + more), a.label, b.label, retriever_hue(a.retriever).on(is_dark())
        ),
        key=f"scatter-{a.id}-{b.id}-{task.name}",
        alt=f"Scatter of per-instance Aspect Recall: {a.label} against {b.label}, n = {len(pairs)}",
        clickable=True,
    )
    st.caption(
        f"n = {len(pairs):,} instances; larger points stand for several. Click a point to list its instances."
    )
    if (chosen := picked_point(event)) is None:
        return
    x, y = chosen["x"] / 100, chosen["y"] / 100
    here = pairs["id"][((pairs["a"] - y).abs() < 1e-9) & ((pairs["b"] - x).abs() < 1e-9)]
    for one in here[:_BUTTONS]:
        if st.button(f"Read {literal(one)}", key=f"read-{one}"):
            st.switch_page("pages/browse.py", query_params=reader_link(dataset, task, one, (a, b)))
    if len(here) > _BUTTONS:
        st.caption(f"and {len(here) - _BUTTONS:,} more at this point.")
