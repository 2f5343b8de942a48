"""Two systems closely: in a sentence, against all others, aspect by aspect, slice by slice."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd
import streamlit as st

from components.app import resources
from components.app.page import percent
from components.app.state import PageState, open_later
from components.charts.dots import difference_chart
from components.charts.palette import SYSTEMS
from components.compare.systems import points, record
from components.widgets.chart import draw_chart, is_dark, picked_point
from components.widgets.frame_table import frame_table, instance_table
from components.widgets.markdown import literal
from components.widgets.runs import answer_key, reader_link, resamples
from components.widgets.switches import option_switch
from components.widgets.table import Column, Row, TableEvent, table
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.disagreements import OUTCOMES, disagreements
from evidencebench_core.data import DatasetInfo
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import Task

_SHOWN: Final = 200
_ASPECT_COLUMNS: Final = (
    Column("instance", "Instance", "id"),
    Column("label", "Aspect"),
    Column("result", "Result aspect"),
    Column("n_covering", "Covering sentences", "number"),
    Column("indices", "Their indices"),
)


def draw_verdict(report: Report, a: str, b: str) -> None:
    """The difference of A and B in words."""
    row = _pair(report, a, b)
    low, high = row["low"], row["high"]
    within = "" if pd.isna(low) else f" (95% interval {100 * low:+.1f} to {100 * high:+.1f})"
    p = (
        "no p-value"
        if pd.isna(row["p"])
        else f"p = {row['p']:.4f}, {row['p_holm']:.4f} after Holm's correction"
    )
    effect = "undefined" if pd.isna(row["effect"]) else f"{row['effect']:+.2f}"
    power = (
        ""
        if pd.isna(row["smallest_detectable"])
        else f"These instances could detect a true difference of {100 * row['smallest_detectable']:.1f} points (in 80% "
        "of such samples); no difference seen is no proof that there is none."
    )
    st.markdown(
        f"**{100 * row['difference']:+.1f} points**{within}, {p}, d_z {effect}, over {row['n']:,} instances. "
        f"{literal(row['label_a'])} is ahead on {row['wins']:,}, level on {row['ties']:,}, behind on "
        f"{row['losses']:,}. {power}"
    )


def _pair(report: Report, a: str, b: str) -> dict[str, Any]:
    """The row of a pair, turned round where it stands the other way."""
    rows: dict[tuple[str, str], dict[Any, Any]] = {
        (row["a"], row["b"]): row for row in report.tables["pairs"].to_dict("records")
    }
    if (a, b) in rows:
        return rows[a, b]
    row = rows[b, a]
    return row | {
        "label_a": row["label_b"],
        "label_b": row["label_a"],
        "difference": -row["difference"],
        "low": -row["high"],
        "high": -row["low"],
        "effect": -row["effect"],
        "wins": row["losses"],
        "losses": row["wins"],
    }


def draw_forest(state: PageState, report: Report, a: str, b: str) -> None:
    """A against every other system; a click on a mark takes that one as B."""
    systems = report.tables["systems"].sort_values("recall", ascending=False, kind="stable")
    others = [key for key in systems["system"] if key != a]
    frame = pd.DataFrame([_pair(report, a, other) for other in others])
    name = frame["label_a"].iloc[0]
    colours = {True: SYSTEMS[0].on(is_dark()), False: SYSTEMS[1].on(is_dark())}
    frame = frame.assign(name=frame["label_b"], group=name, colour=[colours[other == b] for other in others])
    place = _clicked_row(
        frame,
        f"{name} minus the other, points",
        key=f"forest-{report.title}-{a}-{b}-{len(others)}",
        alt=f"{name} against",
    )
    st.caption(
        f"n = {frame['n'].iloc[0]:,} instances. Right of 0, {literal(name)} is ahead. Bars: 95% intervals of the "
        "paired difference, each for its pair alone. Click a mark to look at that pair."
    )
    if place is not None and others[place] != b:
        state.put(a=a, b=others[place])
        st.rerun()


def _clicked_row(
    frame: pd.DataFrame, title: str, *, key: str, alt: str, clickable: bool = True
) -> int | None:
    """Draw differences; the place of the one that was clicked."""
    said = "; ".join(
        f"{row['name']} {points(row['difference'], row['low'], row['high'])}"
        for row in frame.to_dict("records")
    )
    event = draw_chart(difference_chart(frame, title), key=key, alt=f"{alt}: {said}", clickable=clickable)
    point = picked_point(event) if clickable else None
    place = None if point is None else round(point["y"])
    return place if place is not None and 0 <= place < len(frame) else None


def draw_disagreements(
    state: PageState, dataset: DatasetInfo, task: Task, runs: tuple[RunInfo, RunInfo]
) -> None:
    """Aspects that only A found, only B, neither, both; a click opens the reader with both."""
    a, b = runs
    report = resources.report(
        "disagreements",
        (dataset.sha256, task.name, answer_key(runs, task)),
        lambda: disagreements(
            resources.store(), a.id, b.id, task, n_resamples=resamples(dataset), at_most=_SHOWN
        ),
    )
    counts = {row["outcome"]: row for row in report.tables["counts"].to_dict("records")}
    words = {name: name for name in OUTCOMES} | {
        "only A": f"only {literal(a.label)}",
        "only B": f"only {literal(b.label)}",
    }
    options: dict[str, str] = {name: f"{words[name]}: {counts[name]['n']:,}" for name in OUTCOMES}
    shown = option_switch(state, "outcome", "Aspects that were found by", options)
    row = counts[shown]
    n_aspects = sum(count["n"] for count in counts.values())
    bounds = "" if pd.isna(row["low"]) else f", 95% interval {percent(row['low'])} to {percent(row['high'])}"
    st.caption(
        f"{words[shown]}: {percent(row['share'])} of {n_aspects:,} aspects{bounds} (papers drawn whole), "
        f"in {row['n_instances']:,} instances. {literal(' '.join(report.notes))}"
    )
    frame = report.tables["aspects"]
    frame = frame[frame["outcome"] == shown].head(_SHOWN)

    def open_reader(event: TableEvent) -> None:
        instance, _, label = event.value.rpartition(" ")
        open_later("browse", reader_link(dataset, task, instance, runs, aspect=label))

    frame_table(
        _ASPECT_COLUMNS,
        frame.assign(
            id=frame["instance"] + " " + frame["label"],
            result=["yes" if is_result else "no" for is_result in frame["is_result"]],
            indices=[
                ", ".join(map(str, covering[:8])) + (" …" if n > 8 else "")
                for covering, n in zip(frame["covering"], frame["n_covering"], strict=True)
            ],
        ),
        key=f"aspects-{shown}",
        ids="id",
        on_event=open_reader,
        caption="Aspects; a click opens the reader with both retrievers",
        empty="There is no such aspect.",
        height=380,
    )
    more = f" The first {_SHOWN} are shown." if row["n"] > _SHOWN else ""
    st.caption(f"A click opens the instance in the reader with both retrievers.{more}")


def draw_slices(
    state: PageState, dataset: DatasetInfo, task: Task, report: Report, runs: tuple[RunInfo, RunInfo]
) -> None:
    """The paired difference A - B on each slice; a click on a mark lists its instances."""
    a, b = runs
    every = report.tables["difference"]
    if not len(every):
        st.info("The runs have no scored instance in common, so there is nothing to slice.")
        return
    families = list(dict.fromkeys(every["family"]))
    family = state["family"] if state["family"] in families else families[0]
    st.selectbox("Slices by", families, **state.widget("family", family, reset=("slice",)))
    frame = every[every["family"] == family]
    plain, few = (SYSTEMS[place].on(is_dark()) for place in (0, 2))
    frame = frame.assign(
        name=[
            f"{row['slice']} (n = {row['n']:,}{', few' if row['few'] else ''})"
            for row in frame.to_dict("records")
        ],
        group=a.label,
        colour=[few if is_few else plain for is_few in frame["few"]],
    )
    title = f"{a.label} minus {b.label}, points"
    place = _clicked_row(
        frame,
        title,
        key=f"slices-{dataset.id}-{task.name}-{a.id}-{b.id}-{family}",
        alt=f"Aspect Recall of {title}, by {family}",
        clickable="instances" in report.tables,
    )
    if "instances" in report.tables:
        if place is not None:
            state.put(slice=str(frame.iloc[place]["slice"]))
        st.caption("Bars: 95% intervals of the paired difference. Click a mark to list its instances.")
        _slice_instances((family, state["slice"]), (dataset, task), report, runs)
    _slice_table(report, a, b)
    st.caption(literal(" ".join(report.notes)))


def _slice_instances(
    slice_of: tuple[str, str], place: tuple[DatasetInfo, Task], report: Report, runs: tuple[RunInfo, RunInfo]
) -> None:
    """The instances of the chosen slice, the largest differences first."""
    a, b = runs
    family, name = slice_of
    frame = report.tables["instances"]
    frame = frame[(frame["family"] == family) & (frame["slice"] == name)]
    if not len(frame):
        return
    frame = frame.assign(id=frame["instance"], difference=frame[a.id] - frame[b.id])
    frame = frame.sort_values("difference", key=abs, ascending=False, kind="stable")
    instance_table(
        (
            Column("id", f"{family}: {name}", "id"),
            Column(a.id, a.label, "percent"),
            Column(b.id, b.label, "percent"),
            Column("difference", "A − B, points", "number", digits=1),
        ),
        frame.assign(difference=(100 * frame["difference"]).round(1) + 0.0),
        place,
        runs,
        key="slice-instances",
        caption="Instances of the slice; a click opens the reader with both retrievers",
        height=320,
    )
    st.caption(f"n = {len(frame):,} instances. A click opens one in the reader with both retrievers.")


def _slice_table(report: Report, a: RunInfo, b: RunInfo) -> None:
    recall = report.tables["recall"].set_index(["family", "slice", "run"])["recall"]
    rows: list[Row] = []
    for family, slices in report.tables["difference"].groupby("family", sort=False):
        rows.append(Row(f"# {family}", (str(family), *(None,) * 5), heading=True))
        for _, row in slices.iterrows():
            cells = (
                row["slice"] + (" (few)" if row["few"] else ""),
                int(row["n"]),
                *(float(recall[family, row["slice"], run.id]) for run in (a, b)),
                points(row["difference"], row["low"], row["high"]),
                record(row),
            )
            rows.append(Row(f"{family} {row['slice']}", cells, muted=True))
    with st.expander("The slices in figures"):
        table(
            (
                Column("slice", "Slice"),
                Column("n", "n", "number"),
                Column("a", a.label, "percent"),
                Column("b", b.label, "percent"),
                Column("difference", "A − B, points (95%)"),
                Column("wins", "Wins / ties / losses"),
            ),
            rows,
            key="slice-figures",
            action="none",
            caption="Means and paired differences by slice",
        )
