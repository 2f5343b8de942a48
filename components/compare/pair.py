"""Two systems closely: in a sentence, against all others, aspect by aspect, slice by slice."""

from __future__ import annotations

from typing import Final

import pandas as pd
import streamlit as st

from components.app import resources
from components.app.page import percent, points
from components.app.session import open_later
from components.app.state import PageState
from components.charts.dots import difference_chart
from components.compare.pair_map import short_label
from components.compare.systems import both_ways, record
from components.widgets.chart import draw_chart, is_dark, picked_point
from components.widgets.frame_table import HYPOTHESIS, frame_table, instance_table
from components.widgets.markdown import literal
from components.widgets.runs import answer_key, reader_link, resamples
from components.widgets.switches import option_switch
from components.widgets.table import Column, Row, TableEvent, table
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.disagreements import OUTCOMES, disagreements
from evidencebench_core.data import DatasetInfo
from evidencebench_core.palette import SYSTEMS
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.tasks import Task

_SHOWN: Final = 200
_INDICES: Final = 8  # covering sentences that are named
_ASPECT_COLUMNS: Final = (
    HYPOTHESIS,
    Column("label", "Aspect"),
    Column("result", "Result aspect"),
    Column("n_covering", "Covering sentences", "number"),
    Column("indices", "Their indices"),
    Column("instance", "Instance", "id"),
)


def draw_verdict(report: Report, a: str, b: str) -> None:
    """The difference of A and B in words."""
    pairs = both_ways(report.tables["pairs"])
    (row,) = pairs[(pairs["a"] == a) & (pairs["b"] == b)].to_dict("records")
    low, high = (round(100 * row[name], 1) + 0.0 for name in ("low", "high"))  # no minus before a 0
    within = "" if pd.isna(low) else f" (95% interval {low:+.1f} to {high:+.1f})"
    p = f"p = {row['p']:.4f}, {row['p_holm']:.4f} after Holm's correction"
    p = "no p-value" if pd.isna(row["p"]) else p
    effect = "undefined" if pd.isna(row["effect"]) else f"{row['effect']:+.2f}"
    power = (
        f"These instances could detect a true difference of {100 * row['smallest_detectable']:.1f} points (in 80% "
        "of such samples); no difference seen is no proof that there is none."
    )
    st.markdown(
        f"**{100 * row['difference']:+.1f} points**{within}, {p}, effect size {effect}, over {row['n']:,} instances. "
        f"{literal(row['label_a'])} is ahead on {row['wins']:,}, level on {row['ties']:,}, behind on "
        f"{row['losses']:,}. {'' if pd.isna(row['smallest_detectable']) else power}"
    )


def draw_forest(state: PageState, report: Report, a: str, b: str) -> None:
    """A against every other system; a click on a mark takes that one as B."""
    systems = report.tables["systems"].sort_values("recall", ascending=False, kind="stable")
    others = [key for key in systems["system"] if key != a]
    pairs = both_ways(report.tables["pairs"])
    frame = pairs[pairs["a"] == a].set_index("b").loc[others]
    name = frame["label_a"].iloc[0]
    chosen, other = (SYSTEMS[place].on(is_dark()) for place in (0, 1))
    frame = frame.assign(
        name=frame["label_b"].map(short_label),
        group=name,
        colour=[chosen if o == b else other for o in others],
    )
    place = _clicked_row(
        frame,
        f"{name} minus the other, points",
        key=f"forest-{report.title}-{a}-{b}-{len(others)}",
        alt=f"{name} against",
    )
    st.caption(
        f"n = {frame['n'].iloc[0]:,} instances. Right of 0, {literal(name)} is ahead. Bars: 95% intervals of the "
        "paired difference, each for its pair alone. The mark in blue: the pair above; click another to look at it."
    )
    if place is not None and others[place] != b:
        state.put(a=a, b=others[place])
        st.rerun()


def _clicked_row(
    frame: pd.DataFrame, title: str, *, key: str, alt: str, clickable: bool = True
) -> int | None:
    """Draw differences; the place of the one that was clicked."""
    alt += ": " + "; ".join(f"{row['name']} {points(row)}" for row in frame.to_dict("records"))
    point = picked_point(
        draw_chart(resources.figure(difference_chart, frame, title), key=key, alt=alt, clickable=clickable)
    )
    place = None if point is None else round(point["y"])
    return place if place is not None and 0 <= place < len(frame) else None


def draw_disagreements(
    state: PageState, dataset: DatasetInfo, task: Task, runs: tuple[RunInfo, RunInfo]
) -> None:
    """Aspects that only A found, only B, neither, both; a click opens the reader with both."""
    a, b = runs
    report = resources.report(
        "disagreements",
        (dataset.version, task.name, answer_key(runs, task)),
        lambda: disagreements(
            resources.store(), a.id, b.id, task, n_resamples=resamples(dataset), at_most=_SHOWN
        ),
    )
    counts = {row["outcome"]: row for row in report.tables["counts"].to_dict("records")}
    named = {"only A": f"only {literal(a.label)}", "only B": f"only {literal(b.label)}"}
    words: dict[str, str] = {name: named.get(name, name) for name in OUTCOMES}
    options = {name: f"{words[name]}: {counts[name]['n']:,}" for name in words}
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
        covering = frame.loc[(frame["instance"] == instance) & (frame["label"] == label), "covering"].iloc[0]
        answers = [RunStore(resources.store()).retrieval(run.id, task.name, instance) for run in runs]
        picked = [index for answer in answers if answer for index in answer.selection if index in covering]
        first = str((*picked, covering[0])[0])
        open_later("browse", reader_link(dataset, task, instance, runs, aspect=label, sentence=first))

    def indices(covering: tuple[int, ...]) -> str:
        return ", ".join(map(str, covering[:_INDICES])) + (" …" if len(covering) > _INDICES else "")

    frame_table(
        _ASPECT_COLUMNS,
        frame.assign(
            id=frame["instance"] + " " + frame["label"],
            hypothesis=frame["instance"].map(resources.hypotheses(dataset, frame["instance"])),
            result=["yes" if is_result else "no" for is_result in frame["is_result"]],
            indices=[indices(covering) for covering in frame["covering"]],
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
            f"{r['slice']} (n = {r['n']:,}{', few' if r['few'] else ''})" for r in frame.to_dict("records")
        ],
        group=a.label,
        colour=[few if is_few else plain for is_few in frame["few"]],
    )
    title = f"{a.label} minus {b.label}, points"
    listed = "instances" in report.tables

    def draw_family() -> None:
        place = _clicked_row(
            frame,
            title,
            key=f"slices-{dataset.id}-{task.name}-{a.id}-{b.id}-{family}",
            alt=f"Aspect Recall of {title}, by {family}",
            clickable=listed,
        )
        if place is not None and frame.iloc[place]["slice"] != state["slice"]:
            state.put(slice=str(frame.iloc[place]["slice"]))
            st.rerun()

    draw_family()
    if listed:
        st.caption("Bars: 95% intervals of the paired difference. Click a mark to list its instances.")
        instances = report.tables["instances"]
        instances = instances[(instances["family"] == family) & (instances["slice"] == state["slice"])]
        if len(instances):
            _draw_slice_instances(f"{family}: {state['slice']}", instances, (dataset, task), runs)
    with st.expander("The slices in figures", on_change="rerun") as fold:
        if fold.open:
            _draw_slice_figures(report, a, b)
    st.caption(literal(" ".join(report.notes)))


def _draw_slice_instances(
    title: str, frame: pd.DataFrame, place: tuple[DatasetInfo, Task], runs: tuple[RunInfo, RunInfo]
) -> None:
    """The instances of the chosen slice, the largest differences first."""
    a, b = runs
    frame = frame.assign(id=frame["instance"], difference=(100 * (frame[a.id] - frame[b.id])).round(1) + 0.0)
    st.markdown(f"**{literal(title)}**")
    instance_table(
        (
            Column(a.id, a.label, "percent"),
            Column(b.id, b.label, "percent"),
            Column("difference", "A − B, points", "number", digits=1),
        ),
        frame.sort_values("difference", key=abs, ascending=False, kind="stable"),
        place,
        runs,
        key="slice-instances",
        caption="Instances of the slice; a click opens the reader with both retrievers",
        height=320,
    )
    st.caption(f"n = {len(frame):,} instances. A click opens one in the reader with both retrievers.")


def _draw_slice_figures(report: Report, a: RunInfo, b: RunInfo) -> None:
    recall = report.tables["recall"].set_index(["family", "slice", "run"])["recall"]
    rows: list[Row] = []
    family = ""
    for row in report.tables["difference"].to_dict("records"):
        if row["family"] != family:
            family = row["family"]
            rows.append(Row(f"# {family}", (family, *(None,) * 5), heading=True))
        name = row["slice"] + (" (few)" if row["few"] else "")
        recalls = [float(recall[family, row["slice"], run.id]) for run in (a, b)]
        cells = (name, int(row["n"]), *recalls, points(row), record(row))
        rows.append(Row(f"{family} {row['slice']}", cells, muted=True))
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
