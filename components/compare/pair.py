"""Two systems closely: in a sentence, against all others, aspect by aspect, slice by slice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd
import streamlit as st

from components.app import resources
from components.app.page import percent
from components.app.state import PageState, open_later
from components.charts.dots import difference_chart
from components.charts.palette import SYSTEMS
from components.compare.matrix import points
from components.middle.along import resamples
from components.middle.runs import reader_link
from components.widgets.chart import draw_chart, is_dark, picked_point
from components.widgets.markdown import literal
from components.widgets.table import Column, Row, TableEvent, table
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.disagreements import OUTCOMES, disagreements
from evidencebench_core.data import DatasetInfo
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import Task

__all__ = ["draw_disagreements", "draw_forest", "draw_slices", "draw_verdict"]

_SHOWN: Final = 200


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
    st.markdown(
        f"**{100 * row['difference']:+.1f} points**{within}, {p}, d_z {effect}, over {row['n']:,} instances. "
        f"{literal(row['label_a'])} is ahead on {row['wins']:,}, level on {row['ties']:,}, behind on "
        f"{row['losses']:,}. {_power(row)}"
    )


def _power(row: Mapping[str, Any]) -> str:
    if pd.isna(row["smallest_detectable"]):
        return ""
    size = 100 * row["smallest_detectable"]
    return (
        f"These instances could detect a true difference of {size:.1f} points (in 80% of such samples); "
        "no difference seen is no proof that there is none."
    )


def _pair(report: Report, a: str, b: str) -> dict[str, Any]:
    """The row of a pair, turned round where it stands the other way."""
    pairs = report.tables["pairs"]
    found = pairs[(pairs["a"] == a) & (pairs["b"] == b)]
    if len(found):
        return {str(name): value for name, value in found.iloc[0].items()}
    row = {str(name): value for name, value in pairs[(pairs["a"] == b) & (pairs["b"] == a)].iloc[0].items()}
    return row | {
        "a": a,
        "b": b,
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
    rows = [_pair(report, a, other) for other in others]
    colours = {True: SYSTEMS[0].on(is_dark()), False: SYSTEMS[1].on(is_dark())}
    frame = pd.DataFrame(
        {
            "name": [row["label_b"] for row in rows],
            "group": rows[0]["label_a"],
            "difference": [row["difference"] for row in rows],
            "low": [row["low"] for row in rows],
            "high": [row["high"] for row in rows],
            "n": [row["n"] for row in rows],
            "colour": [colours[other == b] for other in others],
        }
    )
    name = rows[0]["label_a"]
    event = draw_chart(
        difference_chart(frame, f"{name} minus the other, points"),
        key=f"forest-{report.title}-{a}-{b}-{len(others)}",
        alt=f"{name} against: "
        + "; ".join(f"{row['label_b']} {points(row['difference'], row['low'], row['high'])}" for row in rows),
        clickable=True,
    )
    st.caption(
        f"n = {rows[0]['n']:,} instances. Right of 0, {literal(name)} is ahead. Bars: 95% intervals of the paired "
        "difference, each for its pair alone. Click a mark to look at that pair."
    )
    point = picked_point(event)
    place = None if point is None else round(point["y"])
    if place is not None and 0 <= place < len(others) and others[place] != b:
        state.put(a=a, b=others[place])
        st.rerun()


def draw_disagreements(
    state: PageState, dataset: DatasetInfo, task: Task, runs: tuple[RunInfo, RunInfo]
) -> None:
    """Aspects that only A found, only B, neither, both; a click opens the reader with both."""
    a, b = runs
    key = (dataset.sha256, task.name, *((run.id, run.tasks[task.name], run.n_failed) for run in runs))
    n_resamples = resamples(dataset.n_instances)
    report = resources.report(
        "disagreements",
        key,
        lambda: disagreements(resources.store(), a.id, b.id, task, n_resamples=n_resamples, at_most=_SHOWN),
    )
    counts = {row["outcome"]: row for row in report.tables["counts"].to_dict("records")}
    words = _words(a, b)
    shown = state["outcome"] if state["outcome"] in OUTCOMES else OUTCOMES[0]
    st.segmented_control(
        "Aspects that were found by",
        list(OUTCOMES),
        format_func=lambda name: f"{words[name]}: {counts[name]['n']:,}",
        **state.widget("outcome", shown, lambda chosen: chosen or shown),
    )
    row = counts[shown]
    n_aspects = sum(count["n"] for count in counts.values())
    bounds = "" if pd.isna(row["low"]) else f", 95% interval {percent(row['low'])} to {percent(row['high'])}"
    st.caption(
        f"{words[shown]}: {percent(row['share'])} of {n_aspects:,} aspects{bounds} (papers drawn whole), "
        f"in {row['n_instances']:,} instances. {literal(' '.join(report.notes))}"
    )
    frame = report.tables["aspects"]
    of_outcome = frame[frame["outcome"] == shown].head(_SHOWN)

    def heard(event: TableEvent) -> None:
        instance, _, label = event.value.rpartition(" ")
        link = reader_link(dataset, task, instance, runs)
        open_later("browse", link | {"aspect": label})

    table(
        (
            Column("instance", "Instance", "id"),
            Column("aspect", "Aspect"),
            Column("result", "Result aspect"),
            Column("n", "Covering sentences", "number"),
            Column("where", "Their indices"),
        ),
        [
            Row(
                f"{one['instance']} {one['label']}",
                (
                    one["instance"],
                    one["label"],
                    "yes" if one["is_result"] else "no",
                    one["n_covering"],
                    ", ".join(map(str, one["covering"][:8])) + (" …" if one["n_covering"] > 8 else ""),
                ),
            )
            for one in of_outcome.to_dict("records")
        ],
        key=f"aspects-{shown}",
        on_event=heard,
        caption="Aspects; a click opens the reader with both retrievers",
        empty="There is no such aspect.",
        height=380,
    )
    more = f" The first {_SHOWN} are shown." if row["n"] > _SHOWN else ""
    st.caption(f"A click opens the instance in the reader with both retrievers.{more}")


def _words(a: RunInfo, b: RunInfo) -> dict[str, str]:
    return {
        "only A": f"only {literal(a.label)}",
        "only B": f"only {literal(b.label)}",
        "neither": "neither",
        "both": "both",
    }


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
    frame = every[every["family"] == family].copy()
    dark = is_dark()
    frame["name"] = [
        f"{row['slice']} (n = {row['n']:,}{', few' if row['few'] else ''})"
        for row in frame.to_dict("records")
    ]
    frame["group"] = a.label
    frame["colour"] = [SYSTEMS[2].on(dark) if few else SYSTEMS[0].on(dark) for few in frame["few"]]
    title = f"{a.label} minus {b.label}, points"
    event = draw_chart(
        difference_chart(frame, title),
        key=f"slices-{dataset.id}-{task.name}-{a.id}-{b.id}-{family}",
        alt=f"Aspect Recall of {title}, by {family}: "
        + "; ".join(
            f"{row['name']} {points(row['difference'], row['low'], row['high'])}"
            for row in frame.to_dict("records")
        ),
        clickable="instances" in report.tables,
    )
    if "instances" in report.tables:
        point = picked_point(event)
        place = None if point is None else round(point["y"])
        if place is not None and 0 <= place < len(frame):
            state.put(slice=str(frame.iloc[place]["slice"]))
        st.caption("Bars: 95% intervals of the paired difference. Click a mark to list its instances.")
        _slice_instances((family, state["slice"]), dataset, task, report, runs)
    _slice_table(report, a, b)
    st.caption(literal(" ".join(report.notes)))


def _slice_instances(
    place: tuple[str, str], dataset: DatasetInfo, task: Task, report: Report, runs: tuple[RunInfo, RunInfo]
) -> None:
    """The instances of the chosen slice, the largest differences first."""
    a, b = runs
    family, name = place
    frame = report.tables["instances"]
    frame = frame[(frame["family"] == family) & (frame["slice"] == name)]
    if not len(frame):
        return
    frame = frame.assign(difference=frame[a.id] - frame[b.id])
    frame = frame.loc[frame["difference"].abs().sort_values(ascending=False, kind="stable").index]

    def heard(event: TableEvent) -> None:
        open_later("browse", reader_link(dataset, task, event.value, runs))

    table(
        (
            Column("id", f"{family}: {name}", "id"),
            Column("a", a.label, "percent"),
            Column("b", b.label, "percent"),
            Column("difference", "A − B, points", "number", digits=1),
        ),
        [
            Row(
                row["instance"],
                (row["instance"], row[a.id], row[b.id], round(100 * row["difference"], 1) + 0.0),
            )
            for row in frame.head(_SHOWN).to_dict("records")
        ],
        key="slice-instances",
        on_event=heard,
        caption="Instances of the slice; a click opens the reader with both retrievers",
        height=320,
    )
    st.caption(f"n = {len(frame):,} instances. A click opens one in the reader with both retrievers.")


def _slice_table(report: Report, a: RunInfo, b: RunInfo) -> None:
    recall = report.tables["recall"].set_index(["family", "slice", "run"])
    rows: list[Row] = []
    family = ""
    for row in report.tables["difference"].to_dict("records"):
        if row["family"] != family:
            family = row["family"]
            rows.append(Row(f"# {family}", (family, *(None,) * 5), heading=True))
        means = [recall.loc[(family, row["slice"], run.id), "recall"] for run in (a, b)]
        name = row["slice"] + (" (few)" if row["few"] else "")
        rows.append(
            Row(
                f"{family} {row['slice']}",
                (
                    name,
                    row["n"],
                    *means,
                    points(row["difference"], row["low"], row["high"]),
                    f"{row['wins']:,} / {row['ties']:,} / {row['losses']:,}",
                ),
                muted=True,
            )
        )
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
