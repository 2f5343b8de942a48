"""Systems by people's labels and by a judge's: both means, both ranks, and the rank that plain counting gives."""

from __future__ import annotations

from typing import Final

import pandas as pd
import streamlit as st

from components.answers import cached
from components.app.state import PageState
from components.charts.answers import people_judge_scatter, rank_slopes
from components.widgets.chart import draw_chart, is_dark
from components.widgets.table import Column, Row, table
from evidencebench_core.answers.store import AnswerSetInfo
from evidencebench_core.answers.systems import COUNTS, METRICS
from evidencebench_core.palette import SYSTEMS
from evidencebench_core.runs import ChatRunInfo
from evidencebench_core.stats import RankCorrelation

_RANKS: Final = (
    Column("what", "Ranked"),
    Column("rho", "Spearman's rho with people's rank (95%)", "id"),
    Column("tau", "Kendall's tau-b (95%)", "id"),
    Column("n", "Systems", "number"),
    Column("q", "Questions", "number"),
)


def draw_ranks(
    state: PageState, info: AnswerSetInfo, run: ChatRunInfo, corrections: cached.Corrections
) -> None:
    """Systems by people's labels and by the judge's: both means, both ranks, and the order that counting gives."""
    people, judge = cached.system_scores(info), cached.judged_scores(info, run, corrections)
    both = [name for name in METRICS if name in people.metrics and name in judge.metrics]
    if not both:
        return
    st.markdown("## Systems by people and by the judge")
    metric = state["metric"] if state["metric"] in both else both[0]
    st.selectbox(
        "Metric", both, format_func=str.capitalize, width=360, **state.widget("metric", metric, part="judges")
    )
    frame = pd.DataFrame({
        "name": people.systems,
        "people": people.means[people.metrics.index(metric)],
        "judge": judge.means[judge.metrics.index(metric)],
    }).dropna()  # fmt: skip
    colour, key = SYSTEMS[0].on(is_dark()), f"{run.id}-{metric}-{len(corrections)}-{is_dark()}"
    alt = "; ".join(f"{row[0]} {100 * row[1]:.1f} and {100 * row[2]:.1f}" for row in frame.to_numpy())
    left, right = st.columns(2, gap="large")
    with left:
        figure = people_judge_scatter(frame, metric.capitalize(), colour)
        draw_chart(figure, key=f"answers-scatter-{key}", alt=f"{metric} by people and by the judge, %: {alt}")
    with right:
        draw_chart(rank_slopes(frame, colour), key=f"answers-slopes-{key}", alt=f"Ranks by {metric}: {alt}")
    lines = {"by the judge": cached.rank_correlation(info, metric, metric, run, corrections)}
    for count in COUNTS:
        if count in people.metrics:
            lines[f"by the number of {count}"] = cached.rank_correlation(info, metric, count, None)
    table(
        _RANKS,
        [
            Row(name, (name, *_texts(one), one.n_systems, one.n_questions), muted=place > 0)
            for place, (name, one) in enumerate(lines.items())
        ],
        key=f"answers-ranks-{key}",
        action="none",
        caption="Rank correlations",
    )
    st.caption("The rank by plain counting needs no judge: one that does no better adds nothing to it.")


def _texts(one: RankCorrelation) -> list[str]:
    return [
        "–"
        if value is None
        else f"{value:.3f}" + (f" ({bounds[0]:.2f} to {bounds[1]:.2f})" if bounds else "")
        for value, bounds in ((one.rho, one.rho_ci95), (one.tau, one.tau_ci95))
    ]
