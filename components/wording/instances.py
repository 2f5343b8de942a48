"""Single instances: the slope chart, those that move most, and one with its rankings side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from textwrap import shorten

import pandas as pd
import streamlit as st

from components.app import resources
from components.app.choices import choices_text
from components.app.session import open_later, session_text, set_session_text
from components.app.state import PageState
from components.charts.instances import slope_chart, slope_lines
from components.widgets.chart import draw_chart, is_dark, picked_point
from components.widgets.chips import clicked_chip, sentence_chip
from components.widgets.frame_table import HYPOTHESIS, frame_table
from components.widgets.markdown import literal
from components.widgets.switches import option_switch
from components.widgets.table import Chip, Column, Row, TableEvent, table
from components.wording.asking import System
from evidencebench_core.data import DatasetInfo, Instance
from evidencebench_core.metrics import expected_recall
from evidencebench_core.palette import CHANGES
from evidencebench_core.perturb import PARAPHRASE
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import RunStore, Variant
from evidencebench_core.tasks import Task

_SHOWN = 200


def draw_instances(state: PageState, system: System, frame: pd.DataFrame, steps: Sequence[str]) -> None:
    """Slope chart of the original and one wording, or their mean, and table.

    ``frame`` has ``instance``, ``paper`` and a share a step, those that move most first.
    """
    if frame.empty:
        return
    names = [step.removeprefix(PARAPHRASE) for step in steps]
    step = ""
    if len(steps) > 2:
        options = {"": "Mean of all", **dict(zip(steps[1:], names[1:], strict=True))}
        step = option_switch(state, "step", "From the original to", options)
    after, name = step or "mean", step.removeprefix(PARAPHRASE) or "mean of all"
    if len(steps) == 2:
        after, name = steps[1], names[1]
    lines, rounded = slope_lines(frame.assign(mean=frame[list(steps[1:])].mean(axis=1)), steps[0], after)
    counts = lines.groupby("way")["size"].sum()
    better, same, worse = (f"{counts.get(way, 0):,}" for way in CHANGES)
    counted = f"better in {better}, the same in {same}, worse in {worse}"
    with st.container(width=760):
        event = draw_chart(
            slope_chart(lines, (names[0], name), {way: hue.on(is_dark()) for way, hue in CHANGES.items()}),
            key=f"slope-{system.label}-{system.asked.task.name}-{after}",
            alt=f"Slope chart of {len(frame)} instances from {names[0]} to {name}: recall is {counted}",
            clickable=True,
        )
    less = " Ends are drawn to the nearest 5 points." if rounded else ""
    st.caption(
        f"n = {len(frame):,} instances of {literal(system.label)}. Against the original, recall is {counted}. A wider "
        f"line is more instances that move alike.{less} Click a mark, or a row below, to see that instance's rankings "
        "side by side."
    )
    point = picked_point(event)
    if point is not None and point.get("customdata"):
        clicked = str(point["customdata"][1])
        mark = f"{clicked}/{point.get('curve_number')}/{point.get('point_index')}"
        if session_text("wording.mark") != mark:  # a rerun for another reason clicks nothing again
            set_session_text("wording.mark", mark)
            state.put(instance=clicked)

    shares = frame[list(steps)]
    dataset = resources.named_dataset(system.asked.dataset)
    texts = resources.hypotheses(dataset, frame["instance"].head(_SHOWN))
    frame_table(
        (
            HYPOTHESIS,
            *(Column(step, step, "percent") for step in steps),
            Column("spread", "Spread, points", "number", "Highest - lowest recall", digits=1),
            Column("overlap", "Overlap", "percent", "Mean share of the selection that stays"),
            Column("instance", "Instance", "id"),
        ),
        frame.assign(
            spread=100 * (shares.max(axis=1) - shares.min(axis=1)),
            hypothesis=frame["instance"].map(texts),
        ).head(_SHOWN),
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
    store, task = resources.store(), system.asked.task
    runs, answers = RunStore(store), dict[str, Retrieval]()
    for variant in (None, *variants):
        answer = runs.retrieval(system.asked.run_id(store, variant), task.name, instance.id)
        if answer is not None:
            answers["original" if variant is None else variant.name] = answer

    def read(**changes: str) -> None:
        link = {"dataset": dataset.name, "instance": instance.id, "task": task.name}
        open_later("browse", link | {"r": choices_text([system.choice])} | changes)

    wordings = {"original": instance.hypothesis}
    wordings |= {v.name: v.hypotheses[instance.id] for v in variants if v.hypotheses and v.has(instance.id)}
    st.markdown(f"### {literal(instance.id)}: the rankings of {literal(system.label)} side by side")
    covers, budget = instance.evidence.covers(task.focus), task.budget_for(instance.evidence)
    recalls = {name: expected_recall(answer.selection, covers, budget) for name, answer in answers.items()}
    added = {
        name: by_id[instance.id].origin
        for name, by_id in resources.wording_origins(dataset).items()
        if instance.id in by_id
    }
    data = {name: "the data" for name, by_id in resources.wordings(dataset).items() if instance.id in by_id}
    made = (Column("made", "Made by"),) if added else ()
    table(
        (
            Column("name", "Wording"),
            Column("recall", "Aspect Recall", "percent"),
            Column("text", "Hypothesis", "title"),
            *made,
        ),
        [
            Row(name, (name, recalls.get(name), text, *((data | added).get(name, "") for _ in made)))
            for name, text in wordings.items()
        ],
        key="wordings",
        on_event=lambda event: read(**({} if event.value == "original" else {"h": wordings[event.value]})),
        caption="The wordings of this instance; a click reads the paper with one",
    )
    if any(answer.selection for answer in answers.values()):
        _draw_ranks(instance, task, answers, lambda index: read(sentence=index))
    else:
        st.caption("Nothing is answered or picked here yet.")


def _draw_ranks(
    instance: Instance, task: Task, answers: Mapping[str, Retrieval], read: Callable[[str], None]
) -> None:
    """Every sentence that some wording picks, with its rank under each."""
    ranks = {
        name: {index: place for place, index in enumerate(answer.ranking, start=1)}
        for name, answer in answers.items()
    }
    first = next(iter(ranks.values()))
    picked = {index for answer in answers.values() for index in answer.selection}
    order = sorted(picked, key=lambda index: (first.get(index, len(instance.sentences)), index))
    aspects = list(enumerate(instance.evidence.aspects))

    def row(index: int) -> Row:
        places = (
            f"{ranks[name].get(index, '–')}{' pick' if index in answer.selection else ''}"
            for name, answer in answers.items()
        )
        covers = tuple(
            Chip(f"sentence:{index}", aspect.label, number)
            for number, aspect in aspects
            if index in aspect.sentence_indices and (task.focus == "all" or aspect.is_result)
        )
        text = shorten(instance.sentences[index], 160, placeholder=" …")
        return Row(str(index), ((sentence_chip(index),), *places, covers, text))

    def open_sentence(event: TableEvent) -> None:
        if event.kind in {"open", "chip"}:
            read(clicked_chip(event)[1] or event.value)

    rank = "Rank under this wording; “pick” where it was selected"
    table(
        (
            Column("index", "Sentence", "chips"),
            *(Column(name, name, "text", rank) for name in answers),
            Column("covers", "Covers", "chips"),
            Column("text", "Text"),
        ),
        [row(index) for index in order[:_SHOWN]],
        key="side-by-side",
        on_event=open_sentence,
        caption="Sentences picked under any wording, with their rank under each",
        height=460,
    )
    st.caption(
        "Every sentence that some wording picks, by its rank under the original. A click opens the reader."
    )
