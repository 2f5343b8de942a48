"""The citations of one answer against gold, beside the means of all answers."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.frame_table import frame_table, intervals
from components.markdown import literal
from components.table import Column
from evidencebench_core.analyses import Report
from evidencebench_core.answers.report import ABSTRACT
from evidencebench_core.data import Instance
from evidencebench_core.runs import RunInfo

_FIGURES: Final = {
    "cited_recall": "Aspects that a citation covers",
    "ceiling": "Most that as many sentences cover",
    "random_expectation": "As many sentences by chance",
    "evidence_precision": "Citations that are gold",
    "chance": "Sentences of the paper that are gold",
    "coverage": "Answer sentences with a citation",
    "support_rate": "Citations that support, by a judge",
    "grounded_recall": "Aspects that such a citation covers",
}


def draw_scores(instance: Instance, run: RunInfo, report: Report) -> None:
    """The figures of this answer beside the means of all and of the abstract, as ``answers score`` gives them."""
    model, instances = run.settings["model"], report.tables["instances"]
    answers = instances[instances["system"] == model]
    if answers.empty:
        return
    figures = report.tables["figures"]
    means = figures[figures["system"] == model].set_index("metric")
    abstract = figures[figures["system"] == ABSTRACT].set_index("metric")["value"]
    frame = means.assign(
        figure=means.index.map(_FIGURES),
        own=answers.set_index("instance").reindex([instance.id]).iloc[0].reindex(means.index).astype(float),
        mean=intervals(means, "value"),
        abstract=abstract.reindex(means.index),
    )
    columns = (
        Column("figure", "Against gold", "title"),
        Column("own", "This answer", "percent"),
        Column("mean", f"Mean of {len(answers):,}", "interval"),
        Column("abstract", "The abstract", "percent"),
    )
    shown = frame.dropna(subset=["figure"])
    frame_table(columns, shown, key="cited-scores", caption="The citations against gold")
    st.caption(literal(" ".join(report.notes)))
