"""The features that the trained ranker goes by, and the untrained one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

import pandas as pd
import streamlit as st

from components.app import resources
from components.app.session import open_later
from components.app.state import PageState
from components.charts.bars import weights_chart
from components.models.ranker.first_use import draw_ways_to_train
from components.models.ranker.training import TRAIN, WEIGH, start_weighing
from components.widgets.chart import draw_chart, is_dark
from components.widgets.job_panel import job_panel
from components.widgets.markdown import literal
from components.widgets.table import Column, Interval, Row, table
from evidencebench_core.data.model import Focus
from evidencebench_core.palette import SYSTEMS
from evidencebench_core.retrievers.ranker.model import FEW, RankerModel
from evidencebench_core.retrievers.ranker.model_file import default_model_path, trained_model
from evidencebench_core.retrievers.ranker.reasons import GROUP_WORDINGS, WORDINGS
from evidencebench_core.retrievers.ranker.structure import WEIGHTS
from evidencebench_core.retrievers.ranker.weighing import FeatureWeight, Weighing
from evidencebench_core.tasks import task_named
from evidencebench_core.words import quantity

_FOCUSES: Final[Mapping[Focus, str]] = {"all": "All study aspects", "results": "Result aspects"}
_LISTED: Final = 15
_UNITS: Final = {
    "flag": "if it is so",
    "deviation": "a standard deviation",
    "cosine": "1 of likeness (0 to 1)",
    "place": "from the abstract's first sentence to its last",
    "count": "if there is any",
}
_MEMBERS: Final = {
    "evidence": "trees that learnt what is evidence",
    "aspects": "trees that learnt how many aspects it covers",
    "share": "trees that learnt how much of the evidence it is",
    "embedding": "a linear model of the embedding",
    "network": "small neural networks that learnt to put a sentence of each aspect first, half of which also see the "
    "sentences before and after",
}


def draw_learnt(state: PageState) -> None:
    """The trained model, or how to come by one; then the fixed weights of ``structure``."""
    st.markdown("## What the evidence ranker has learnt")
    trained = trained_model()
    job_panel(TRAIN)
    if trained is None:
        st.info(
            "No model is trained yet. This part then shows what it was trained on, how good it is on papers it has "
            "not seen, and which of the things it looks at weigh most. Training runs on this machine, once."
        )
        draw_ways_to_train()
    else:
        model, digest = trained
        _facts(model, digest)
        _scores(model)
        _weights(state, model, digest)
        with st.expander("Train it again"):
            draw_ways_to_train("-again")
    _structure()


def _facts(model: RankerModel, digest: str) -> None:
    on, path = model.trained_on, default_model_path()
    written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    step = model.selecting
    lines = [
        f"- **Trained on** {literal(on.dataset)}: {quantity(len(on.instance_ids), 'instance')} of "
        f"{quantity(len(on.paper_ids), 'paper')}, {written.day} {written:%B %Y}. Its runs on these are marked: they "
        "are no estimate of how it does on others. The dataset's terms hold for the model, too.",
        f"- **Embeddings** {literal(model.encoder)}",
        "- **Scores** are a weighted mean of several models: "
        + ", ".join(
            f"{_MEMBERS.get(name, literal(name))} ({weight:g})"
            for name, weight in model.focuses["all"].weights.items()
        )
        + f". For fewer than {FEW} picks the trees are not asked.",
        f"- **Selection** sharpness {step.sharpness:g} (how much the best scores weigh), closeness {step.closeness:g} "
        f"(how alike two sentences must be to say the same), reach {step.reach:g} (how much it counts what a sentence "
        "says for its likes)",
        f"- **File** {literal(str(path))}, {literal(digest)}",
    ]
    if "results" not in model.focuses:
        lines.append(
            "- No training instance had result aspects: on the Result tasks it ranks as for all aspects."
        )
    st.markdown("\n".join(lines))


def _scores(model: RankerModel) -> None:
    st.markdown("### On papers that it had not seen")
    scores = model.notes.get("cross_validated")
    if not isinstance(scores, Mapping) or not scores:
        st.caption("It was trained without cross-validation, so nothing is known of how good it is.")
        return
    rows = []
    for name, score in scores.items():
        match score:
            case {"aspect_recall": int() | float() as recall, "n_scored": int() as n}:
                mean = Interval(recall, *(score.get("ci95") or (None, None)))
                rows.append(Row(str(name), (task_named(str(name)).title, mean, n), muted=True))
    folds = model.notes.get("folds")
    table(
        (
            Column("task", "Task"),
            Column("recall", "Aspect Recall (95% interval)", "interval", "Mean over instances"),
            Column("n", "Instances", "number"),
        ),
        rows,
        key="cross-validated",
        action="none",
        caption="Cross-validated scores of the trained ranker",
        empty="The file holds no scores that can be read.",
    )
    st.caption(
        f"Cross-validated by paper{f' in {folds} folds' if isinstance(folds, int) else ''}: every paper was ranked by "
        "a model that was fitted without it."
    )


# -- what weighs most ------------------------------------------------------------------------------


def _weights(state: PageState, model: RankerModel, digest: str) -> None:
    st.markdown("### What it goes by")
    datasets = {info.name: info for info in resources.store().datasets()}
    if not datasets:
        st.caption("Load a dataset on the Home page: what weighs most is measured on papers.")
        return
    names = list(datasets)
    start = model.trained_on.dataset if model.trained_on.dataset in datasets else names[0]
    name = state["on"] if state["on"] in datasets else start
    focus: Focus = "results" if state["focus"] == "results" and "results" in model.focuses else "all"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox("Measured on papers of", names, **state.widget("on", name))
        st.segmented_control(
            "For",
            [one for one in _FOCUSES if one in model.focuses],
            format_func=_FOCUSES.__getitem__,
            required=True,
            **state.widget("focus", focus, lambda chosen: chosen or focus),
        )
    weighing = resources.weighings().get((digest, datasets[name].sha256, focus))
    if weighing is None:
        st.caption(
            "How much each thing that it looks at moves a sentence up or down within its paper, on up to 20 papers."
        )
        if st.button("Measure it", key="weigh"):
            start_weighing(datasets[name], focus)
            st.rerun()
        job_panel(WEIGH)
        return
    _draw_weighing(weighing, f"{digest}.{name}.{focus}")


def _draw_weighing(weighing: Weighing, key: str) -> None:
    groups = sorted(weighing.groups.items(), key=lambda item: -item[1])
    rows = [(GROUP_WORDINGS[name].label, moves, name) for name, moves in groups if name in GROUP_WORDINGS]
    frame = pd.DataFrame(rows, columns=["name", "moves", "note"])
    draw_chart(
        weights_chart(frame, "SD of the score", SYSTEMS[0].on(is_dark())),
        key=f"groups.{key}",
        alt="Groups of features by how much they move a sentence within its paper: "
        + "; ".join(f"{name} {moves:.2f}" for name, moves, _ in rows),
    )
    st.caption(
        f"{quantity(weighing.n_papers, 'paper')}, {quantity(weighing.n_sentences, 'sentence')}: mean distance of what "
        "a group adds to a sentence from the mean of its paper, in standard deviations of the score. A group whose "
        "features cancel each other out weighs less than they do."
    )
    with st.expander(f"The {_LISTED} features that weigh most"):
        table(
            (
                Column("feature", "Feature"),
                Column("moves", "Moves by, SD", "number", "Of the score, within a paper", digits=2),
                Column("way", "Which way"),
            ),
            [
                Row(one.name, (WORDINGS[one.name].label, one.moves, _way(one)), muted=True)
                for one in weighing.features[:_LISTED]
            ],
            key="feature-weights",
            action="none",
            caption="Features by how much they move a sentence within its paper",
        )


def _way(one: FeatureWeight) -> str:
    """The way in which more of it moves the score; of a rank, which is best where it is lowest, less of it."""
    if one.direction is None:
        return "the same throughout"
    rank = WORDINGS[one.name].unit == "rank"
    towards = -one.direction if rank else one.direction
    if abs(towards) < 0.3:
        return "now up, now down"
    return f"the {'better the rank' if rank else 'more'}, the {'higher' if towards > 0 else 'lower'}"


# -- the untrained one -----------------------------------------------------------------------------


def _structure() -> None:
    st.markdown("## What structure goes by")
    st.markdown(
        "Fixed weights, set by hand and the same for everybody. A sentence's score is the sum of what these add; picks "
        "are then chosen so that they do not repeat each other, as those of the trained ranker are."
    )
    names = dict.fromkeys([*WEIGHTS["all"], *WEIGHTS["results"]])
    named = {name: (WORDINGS[name].label, _UNITS[WORDINGS[name].unit]) for name in names}
    added = [
        Column(focus, title, "number", "Added to the score", digits=1, signed=True)
        for focus, title in _FOCUSES.items()
    ]
    table(
        (Column("feature", "What it looks at"), Column("unit", "Counts per"), *added),
        [
            Row(name, (*words, *(WEIGHTS[focus].get(name) for focus in _FOCUSES)), muted=True)
            for name, words in named.items()
        ],
        key="structure-weights",
        action="none",
        caption="The fixed weights of structure",
    )
    st.button("Try it on an instance", on_click=open_later, args=("browse", {"r": "structure"}))
