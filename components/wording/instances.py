"""Single instances: the slope chart, those that move most, and one with its rankings side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from components.app import resources
from components.app.choices import choices_text
from components.app.state import PageState, open_later, session_text, set_session_text
from components.charts.instances import LINES_AT_MOST, slope_chart
from components.charts.palette import MARKS
from components.widgets.chart import draw_chart, is_dark, picked_point
from components.widgets.chips import clicked_chip, sentence_chip
from components.widgets.frame_table import frame_table
from components.widgets.markdown import literal
from components.widgets.table import Chip, Column, Row, TableEvent, table
from components.wording.asking import System
from evidencebench_core.data import DatasetInfo, Instance
from evidencebench_core.metrics import expected_recall
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import RunStore, Variant

_SHOWN = 200


def draw_instances(state: PageState, system: System, frame: pd.DataFrame, steps: Sequence[str]) -> None:
    """Slope chart and table; ``frame`` has ``instance``, ``paper`` and a share a step, most moved first."""
    if frame.empty:
        return
    dark = is_dark()
    colours = {
        "up": MARKS["both"].on(dark),
        "down": MARKS["missed"].on(dark),
        "level": "#8a9099",
    }
    ways = frame[steps[-1]] - frame[steps[0]]
    event = draw_chart(
        slope_chart(frame, steps, colours),
        key=f"slope-{system.label}-{system.asked.task.name}-{'-'.join(steps)}",
        alt=f"Slope chart of {len(frame)} instances from {steps[0]} to {steps[-1]}: "
        f"{int((ways > 1e-9).sum())} higher, {int((ways < -1e-9).sum())} lower",
        clickable=True,
    )
    st.caption(
        f"n = {len(frame):,} instances of {literal(system.label)}; a wider line is several that move alike"
        + (
            f", and only the {LINES_AT_MOST} that move furthest are drawn"
            if len(frame) > LINES_AT_MOST
            else ""
        )
        + ". Click a mark, or a row below, to see that instance's rankings side by side."
    )
    point = picked_point(event)
    if point is not None and point.get("customdata"):
        clicked = str(point["customdata"][1])
        mark = f"{clicked}/{point.get('curve_number')}/{point.get('point_index')}"
        if session_text("wording.mark") != mark:  # a rerun for another reason clicks nothing again
            set_session_text("wording.mark", mark)
            state.put(instance=clicked)

    shares = frame[list(steps)]
    frame_table(
        (
            Column("instance", "Instance", "id"),
            *(Column(step, step, "percent") for step in steps),
            Column("spread", "Spread, points", "number", "Highest - lowest recall", digits=1),
            Column("overlap", "Overlap", "percent", "Mean share of the selection that stays"),
        ),
        frame.assign(spread=100 * (shares.max(axis=1) - shares.min(axis=1))).head(_SHOWN),
        key=f"movers-{'-'.join(steps)}",
        ids="instance",
        on_event=lambda event: state.put(instance=event.value),
        chosen=(state["instance"],),
        caption="Instances, those that move most first",
        height=380,
    )
    if len(frame) > _SHOWN:
        st.caption(f"The first {_SHOWN} of {len(frame):,}.")


def draw_side_by_side(
    dataset: DatasetInfo, system: System, instance: Instance, variants: Sequence[Variant]
) -> None:
    """The wordings of an instance with their recall, and where each ranks the sentences of any top K."""
    wordings = {"original": instance.hypothesis}
    wordings |= {v.name: v.hypotheses[instance.id] for v in variants if v.hypotheses and v.has(instance.id)}
    answers = _answers(system, instance, variants)
    st.markdown(f"#### {literal(instance.id)}: the rankings of {literal(system.label)} side by side")
    _draw_wordings(dataset, system, instance, wordings, answers)
    picked = {index for answer in answers.values() for index in answer.selection}
    if not picked:
        st.caption("Nothing is answered or picked here yet.")
        return
    places = {
        name: {index: place for place, index in enumerate(answer.ranking, start=1)}
        for name, answer in answers.items()
    }
    first = next(iter(places.values()))
    order = sorted(picked, key=lambda index: (first.get(index, len(instance.sentences)), index))

    def open_sentence(event: TableEvent) -> None:
        if event.kind in {"open", "chip"}:
            index = clicked_chip(event)[1] or event.value
            open_later("browse", _link(dataset, system, instance, {"sentence": index}))

    table(
        (
            Column("index", "Sentence", "chips"),
            *(
                Column(name, name, "text", "Rank under this wording; “pick” where it was selected")
                for name in answers
            ),
            Column("covers", "Covers", "chips"),
            Column("text", "Text"),
        ),
        [
            Row(
                str(index),
                (
                    (sentence_chip(index),),
                    *(
                        f"{places[name].get(index, '–')}{' pick' if index in answer.selection else ''}"
                        for name, answer in answers.items()
                    ),
                    tuple(
                        Chip(f"sentence:{index}", aspect.label, number)
                        for number, aspect in enumerate(instance.evidence.aspects)
                        if index in aspect.sentence_indices
                        and (system.asked.task.focus == "all" or aspect.is_result)
                    ),
                    instance.sentences[index][:160],
                ),
            )
            for index in order[:_SHOWN]
        ],
        key="side-by-side",
        on_event=open_sentence,
        caption="Sentences picked under any wording, with their rank under each",
        height=460,
    )
    st.caption(
        "Every sentence that some wording picks, by its rank under the original. A click opens the reader."
    )


def _answers(system: System, instance: Instance, variants: Sequence[Variant]) -> dict[str, Retrieval]:
    runs, found = RunStore(resources.store()), dict[str, Retrieval]()
    for variant in (None, *variants):
        run_id = system.asked.run_id(resources.store(), variant)
        answer = runs.retrieval(run_id, system.asked.task.name, instance.id)
        if answer is not None:
            found["original" if variant is None else variant.name] = answer
    return found


def _draw_wordings(
    dataset: DatasetInfo,
    system: System,
    instance: Instance,
    wordings: Mapping[str, str],
    answers: Mapping[str, Retrieval],
) -> None:
    task = system.asked.task
    origins = {
        name: by_id[instance.id].origin
        for name, by_id in resources.wording_origins(dataset).items()
        if instance.id in by_id
    }
    there = {name for name, texts in resources.wordings(dataset).items() if instance.id in texts}
    covers, budget = instance.evidence.covers(task.focus), task.budget_for(instance.evidence)

    def open_wording(event: TableEvent) -> None:
        text = wordings[event.value]
        changes = {} if event.value == "original" else {"h": text}
        open_later("browse", _link(dataset, system, instance, changes))

    table(
        (
            Column("name", "Wording"),
            Column("recall", "Aspect Recall", "percent"),
            Column("text", "Hypothesis", "title"),
            *((Column("made", "Made by"),) if origins else ()),
        ),
        [
            Row(
                name,
                (
                    name,
                    expected_recall(answers[name].selection, covers, budget) if name in answers else None,
                    text,
                    *((origins.get(name, "the data" if name in there else ""),) if origins else ()),
                ),
            )
            for name, text in wordings.items()
        ],
        key="wordings",
        on_event=open_wording,
        caption="The wordings of this instance; a click reads the paper with one",
    )


def _link(
    dataset: DatasetInfo, system: System, instance: Instance, changes: Mapping[str, str]
) -> dict[str, str]:
    return {
        "dataset": dataset.name,
        "instance": instance.id,
        "task": system.asked.task.name,
        "r": choices_text([system.choice]),
        **changes,
    }
