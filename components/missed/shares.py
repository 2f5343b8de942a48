"""Which share is missed, by where evidence stands, how much there is, and the suggested cause."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import streamlit as st

from components.app import resources
from components.app.page import percent
from components.app.state import PageState
from components.charts.dots import missed_chart
from components.charts.palette import MARKS
from components.missed.queue import BINNING_OF, Queue, results_only
from components.widgets.chart import draw_chart, is_dark, picked_point
from evidencebench_core.analyses.causes import CAUSES
from evidencebench_core.analyses.missed_shares import BINNINGS

__all__ = ["draw_shares"]

_TITLES: Final[Mapping[str, str]] = {
    "section": "By part of paper",
    "decile": "By position",
    "n": "By covering sentences",
    "cause": "By suggested cause",
}


def draw_shares(state: PageState, queue: Queue) -> None:
    """A chart a binning, side by side; a click on a mark filters the queue to its aspects."""
    label = (
        f"Where the misses are: missed / all aspects of each bin (dotted: of all {len(queue.asked):,}), 95% bootstrap "
        "intervals over papers. Click a mark for its misses."
    )
    with st.expander(label, expanded=True):
        _side_by_side(state, queue)


def _side_by_side(state: PageState, queue: Queue) -> None:
    shown = [name for name in _TITLES if queue.with_words or name in {"decile", "n"}]
    for name, column in zip(shown, st.columns(len(shown), gap="medium"), strict=True):
        with column:
            _draw(state, queue, name)


def _draw(state: PageState, queue: Queue, name: str) -> None:
    by = BINNING_OF[name]
    limits = queue.limits.text() if queue.with_words else None
    only = results_only(state, queue.task)
    shares = resources.missed_share(queue.run, queue.task.name, limits, by, only)
    labels = [CAUSES[b].title if name == "cause" else str(b).capitalize() for b in shares["bin"]]
    shares = shares.assign(label=labels)
    chosen = state.many(name)
    mean = None if name == "cause" else float(queue.asked["missed"].mean())
    most = float(shares[["share", "high"]].max().max()) if name == "cause" else 1.0
    top = min(1.0, max(0.05, 1.1 * most)) if name == "cause" else None
    st.markdown(f"#### {_TITLES[name]}", help=BINNINGS[by])
    event = draw_chart(
        missed_chart(shares, MARKS["missed"].on(is_dark()), "Missed, %", chosen, mean, top),
        key=f"missed-{name}-{queue.run.id}-{queue.task.name}-{only}-{state[name]}-{state['rules']}",
        alt=f"{_TITLES[name]}, share missed: "
        + "; ".join(
            f"{row['label']} {percent(row['share'])} of {row['n_aspects']}"
            for row in shares[shares["n_aspects"] > 0].to_dict("records")
        ),
        clickable=True,
    )
    point = picked_point(event)
    if point is not None:
        wanted = str(point["customdata"][0])
        state.put(**{name: None if (wanted,) == chosen else [wanted]}, page=None)
        st.rerun()
