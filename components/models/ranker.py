"""The ranker in the app: training it as a job, its first use, and a warning where a model has seen the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from components.app import resources
from components.app.choices import Choice, uses_trained_model
from components.app.jobs import Job
from components.widgets.job_panel import job_panel
from components.widgets.markdown import literal
from evidencebench_core.data import DATASETS, DatasetInfo, Instance, Store
from evidencebench_core.data.model import paper_key
from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers import make_retriever
from evidencebench_core.retrievers.ranker.model_file import default_model_path, read_model, trained_model
from evidencebench_core.runs import RunInfo, Step, train_ranker, trained_on_ids
from evidencebench_core.words import quantity

TRAIN: Final = "train"  # the kind of the job
_LICENCE: Final = DATASETS["evidencebench"].splits["train"].licence


def offer_training(choices: Sequence[Choice], in_dialog: bool = False) -> tuple[Choice, ...]:
    """Those of the choices that lack their trained model; if there are any, the ways to train one are drawn.

    The page behind a dialog shows the jobs.
    """
    lacking = tuple(choice for choice in choices if uses_trained_model(choice.name, choice.settings))
    if not lacking or trained_model() is not None:
        return ()
    with st.container(border=True):
        names = " and ".join(dict.fromkeys(literal(choice.name) for choice in lacking))
        needs = "needs" if len(lacking) == 1 else "need"
        st.markdown(
            f"**{names} {needs} a trained model, and there is none yet**\n\nIt learns from papers whose evidence is "
            "marked, on this machine. Until then **structure** works at once: it looks at the same things with fixed "
            "weights, and needs no training."
        )
        draw_ways_to_train("-dialog" if in_dialog else "")
        if not in_dialog:
            job_panel(TRAIN)
    return lacking


def draw_ways_to_train(where: str = "") -> None:
    """Train on a dataset of the store; without one it is said where to get one."""
    try:
        if default_model_path().exists():
            read_model(default_model_path())
    except RetrieverError as error:
        st.warning(literal(str(error)))
    store = resources.store()
    real = {info.name: info for info in store.datasets() if not info.synthetic}
    if not real:
        st.caption(
            "There is nothing to learn from yet: of invented papers nothing true of others can be learnt. Home "
            f"downloads the benchmark's train set, a few megabytes, under **{_LICENCE}**; the terms hold for what is "
            "learnt from it, too."
        )
        return
    name = next(iter(real))
    if len(real) > 1:
        name = st.selectbox("Dataset to train on", list(real), key=f"train-on{where}")
    info = real[name]
    # About a second a paper to embed, the first time, and up to two minutes to fit six models.
    minutes = min(info.n_papers, 3000) / 60 + 2
    st.caption(
        f"{quantity(info.n_instances, 'instance')} of {quantity(info.n_papers, 'paper')}. Takes up to about "
        f"{minutes:.0f} minutes, in the background. Cross-validated by paper, so that you know how good it is."
    )
    is_busy = any(not job.status.ended for job in resources.jobs().jobs(TRAIN))
    if st.button(f"Train on {literal(name)}", type="primary", key=f"train{where}", disabled=is_busy):
        title = f"Train evidence-ranker on {name}"
        resources.jobs().start(TRAIN, "model", title, lambda job: _train(store, name, job))
        st.rerun()


def _train(store: Store, dataset: str, job: Job) -> str:
    """Train as ``evidencebench train-ranker`` does, reported and stoppable; the closing note."""

    def report(step: Step) -> None:
        counted = f": {step.done:,} of {step.total:,} {step.unit}" if step.total else ""
        job.report(step.done, step.total, step.text + counted, stop=True)

    trained = train_ranker(store, dataset, report=report)
    learnt = f"Trained on {quantity(trained.n_instances, 'instance')}"
    if not trained.scores:
        return f"{learnt} of one paper, so nothing could be cross-validated."
    scores = ", ".join(
        f"{score.task.title} {100 * score.aspect_recall:.1f}%"
        for score in trained.scores.values()
        if score.aspect_recall is not None
    )
    return f"{learnt}. Cross-validated: {scores}. evidence-ranker is ready."


def warn_of_trained_runs(runs: Sequence[RunInfo]) -> None:
    """A warning that names runs whose model was trained on what they are scored on; nothing where there is none."""
    trained = [run for run in runs if run.n_trained_on]
    if not trained:
        return
    names = "; ".join(f"**{literal(run.label)}** ({literal(run.id[:4])})" for run in trained)
    st.warning(
        f"Trained on what it is scored on: {names}. Such a score tells what the model remembers, not how it does on "
        "papers that it has not seen. Look at its cross-validated run, or run it on another dataset.",
        icon=":material/warning:",
    )


def has_seen(
    dataset: DatasetInfo, instance: Instance, name: str, settings: Mapping[str, object], run: RunInfo | None
) -> bool:
    """Whether the model of a retriever, or of a run of it, was trained on this very paper."""
    if run is not None:
        return instance.id in trained_on_ids(resources.store(), run)
    key = paper_key(instance.sentences, instance.sentence_types)
    return any(key in trained.paper_keys for trained in make_retriever(name, settings).training)
