"""Two runs, paired by instance."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from components.app import resources
from components.app.page import percent
from components.charts.instances import recall_scatter
from components.charts.palette import retriever_hue
from components.widgets.chart import draw_chart, is_dark, picked_point
from components.widgets.frame_table import instance_table
from components.widgets.markdown import literal
from components.widgets.runs import reader_link
from components.widgets.table import Column
from evidencebench_core.data import DatasetInfo
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import Score, ScoreComparison, Task, compare_scores


def draw_comparison(dataset: DatasetInfo, task: Task, a: RunInfo, b: RunInfo) -> None:
    """The difference of means with interval and p-value, the scatter, and the instances behind it."""
    score_a, score_b = resources.run_score(a, task.name), resources.run_score(b, task.name)
    compared = compare_scores(score_a, score_b)
    st.markdown(f"### {literal(a.label)} against {literal(b.label)}, {literal(task.title)}")
    if compared.mean_difference is None:
        st.info("No instance is scored in both runs, so there is nothing to pair.")
        return
    st.markdown(_sentence(a, b, compared))
    pairs = _pairs(score_a, score_b)
    left, right = st.columns([1, 1], gap="medium")
    with left:
        _draw_scatter(dataset, task, a, b, pairs)
    with right:
        _draw_largest(dataset, task, a, b, pairs)


def _sentence(a: RunInfo, b: RunInfo, compared: ScoreComparison) -> str:
    low, high = compared.ci95 or (None, None)
    points = "" if low is None or high is None else f" (95% interval {100 * low:+.1f} to {100 * high:+.1f})"
    chance = "" if compared.p_value is None else f", {_p_text(compared.p_value)} by paired randomisation"
    left_out = len(compared.only_in_a) + len(compared.only_in_b)
    return (
        f"**{100 * (compared.mean_difference or 0):+.1f} points**{points}{chance}: {percent(compared.mean_a)} against "
        f"{percent(compared.mean_b)} over the {compared.n:,} instances scored in both. "
        f"{literal(a.label)} is ahead on {compared.wins:,}, level on {compared.ties:,}, behind on {compared.losses:,}. "
        + (
            f"{len(compared.only_in_a):,} are scored in {literal(a.label)} only and {len(compared.only_in_b):,} in "
            f"{literal(b.label)} only; they are left out."
            if left_out
            else "No instance is missing on either side."
        )
    )


def _p_text(p_value: float) -> str:
    """With 10,000 draws and the +1 correction no smaller p than 1/10,001 can come out."""
    return "p ≤ 0.0001" if p_value <= 1 / 10_001 + 1e-12 else f"p = {p_value:.4f}"


def _pairs(a: Score, b: Score) -> pd.DataFrame:
    both = [(i, a.per_instance[i], b.per_instance[i]) for i in a.per_instance if i in b.per_instance]
    frame = pd.DataFrame(both, columns=["id", "a", "b"])
    return frame.assign(difference=frame["a"] - frame["b"])


def _draw_scatter(dataset: DatasetInfo, task: Task, a: RunInfo, b: RunInfo, pairs: pd.DataFrame) -> None:
    points = pairs.groupby(["a", "b"], as_index=False).agg(id=("id", "first"), n=("id", "size"))
    points["id"] = [
        name if n == 1 else f"{name} and {n - 1} more"
        for name, n in zip(points["id"], points["n"], strict=True)
    ]
    event = draw_chart(
        recall_scatter(points, a.label, b.label, retriever_hue(a.retriever).on(is_dark())),
        key=f"scatter-{a.id}-{b.id}-{task.name}",
        alt=f"Scatter of per-instance Aspect Recall: {a.label} against {b.label}, n = {len(pairs)}",
        clickable=True,
    )
    st.caption(
        f"n = {len(pairs):,} instances; larger points stand for several. Click a point to list its instances."
    )
    chosen = picked_point(event)
    if chosen is not None:
        x, y = chosen["x"] / 100, chosen["y"] / 100
        here = pairs[((pairs["a"] - y).abs() < 1e-9) & ((pairs["b"] - x).abs() < 1e-9)]
        for instance_id in here["id"][:12]:
            if st.button(f"Read {literal(instance_id)}", key=f"read-{instance_id}"):
                st.switch_page(
                    "pages/browse.py", query_params=reader_link(dataset, task, instance_id, (a, b))
                )
        if len(here) > 12:
            st.caption(f"and {len(here) - 12:,} more at this point.")


def _draw_largest(dataset: DatasetInfo, task: Task, a: RunInfo, b: RunInfo, pairs: pd.DataFrame) -> None:
    st.markdown("#### Where they differ most")
    largest = pairs.sort_values("difference", key=abs, ascending=False, kind="stable").head(40)
    instance_table(
        (
            Column("id", "Instance", "id"),
            Column("a", a.label, "percent"),
            Column("b", b.label, "percent"),
            Column("points", "Difference, points", "number", digits=1, signed=True),
        ),
        largest.assign(points=100 * largest["difference"]),
        (dataset, task),
        (a, b),
        key="largest",
        caption="Instances by the size of the difference",
        height=430,
    )
