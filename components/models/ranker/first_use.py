"""The first use of ``evidence-ranker``: without a trained model it says how to come by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from components.app import resources
from components.app.choices import Choice, uses_trained_model
from components.models.ranker.training import TRAIN, start_download_and_training, start_training
from components.widgets.job_panel import job_panel
from components.widgets.markdown import literal
from evidencebench_core.data import DATASETS
from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers.ranker.model_file import default_model_path, read_model, trained_model
from evidencebench_core.words import quantity

_RELEASED: Final = ("evidencebench", "train")


def offer_training(choices: Sequence[Choice], in_dialog: bool = False) -> tuple[Choice, ...]:
    """Those of the choices that lack their trained model; if there are any, the ways to train one are drawn.

    The page behind a dialog shows the jobs.
    """
    lacking = tuple(choice for choice in choices if uses_trained_model(choice.name, choice.settings))
    if not lacking or trained_model() is not None:
        return ()
    with st.container(border=True):
        named = " and ".join(dict.fromkeys(literal(choice.name) for choice in lacking))
        needs = "needs" if len(lacking) == 1 else "need"
        st.markdown(f"**{named} {needs} a trained model, and there is none yet**")
        st.markdown(
            "It learns from papers whose evidence is marked, on this machine. Until then **structure** works at once: "
            "it looks at the same things with fixed weights, and needs no training."
        )
        draw_ways_to_train("-dialog" if in_dialog else "")
        if not in_dialog:
            job_panel(TRAIN)
    return lacking


def draw_ways_to_train(where: str = "") -> None:
    """Train on a dataset of the store, or fetch the released train set and train on that."""
    path = default_model_path()
    if path.exists():
        try:
            read_model(path)
        except RetrieverError as error:
            st.warning(literal(str(error)))
    busy = any(not job.status.ended for job in resources.jobs().jobs(TRAIN))
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown("**On a dataset that is here**")
        _draw_on_a_dataset(where, busy)
    name, split = _RELEASED
    file = DATASETS[name].splits[split]
    with right:
        st.markdown("**On the benchmark's train set**")
        st.caption(
            f"{literal(file.filename)}, a few megabytes, [from its authors]({DATASETS[name].page}), under "
            f"**{literal(file.licence)}**. The terms hold for what is learnt from it, too."
        )
        label = "Accept the licence, download and train"
        if st.button(label, key=f"fetch-and-train{where}", disabled=busy):
            start_download_and_training(name, split)
            st.rerun()


def _draw_on_a_dataset(where: str, busy: bool) -> None:
    datasets = {info.name: info for info in resources.store().datasets()}
    real = [name for name, info in datasets.items() if not info.synthetic]
    if not real:
        invented = "Only the sample papers are loaded. They are invented: nothing true of others can be learnt of them."
        st.caption(invented if datasets else "None is loaded.")
        return
    name = real[0]
    if len(real) > 1:
        name = st.selectbox("Dataset to train on", real, key=f"train-on{where}")
    info = datasets[name]
    # About a second a paper to embed, the first time, and up to two minutes to fit six models.
    minutes = min(info.n_papers, 3000) / 60 + 2
    st.caption(
        f"{quantity(info.n_instances, 'instance')} of {quantity(info.n_papers, 'paper')}. Takes up to about "
        f"{minutes:.0f} minutes, in the background. Cross-validated by paper, so that you know how good it is."
    )
    if st.button(f"Train on {literal(name)}", type="primary", key=f"train{where}", disabled=busy):
        start_training(name)
        st.rerun()
