"""The ranker in the app: training it as a job, and whether a model has seen a paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import streamlit as st

from components import resources
from components.guarded import guarded_part
from components.jobs import InChild
from components.markdown import literal
from components.work import train
from evidencebench_core.data import DATASETS, DatasetInfo, Instance
from evidencebench_core.data.model import paper_key
from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers import make_retriever
from evidencebench_core.retrievers.ranker.model_file import SHIPPED, model_folder, read_model
from evidencebench_core.runs import RunInfo, trained_on_ids

TRAIN: Final = "train"  # the kind of the job
_LICENCE: Final = DATASETS["evidencebench"].splits["train"].licence


def ranker_text() -> str:
    """What the ranker in use has learnt from, for people; an error's words where it cannot be read."""
    folder = model_folder("default")
    try:
        trained_on = read_model(folder)[0].trained_on
    except RetrieverError as error:
        return str(error)
    origin = "the one that comes with this program" if folder == SHIPPED else "one that was trained here"
    return f"{origin}, learnt from {trained_on.n_instances:,} instances of {trained_on.dataset}"


@st.dialog("Train the evidence ranker", width="medium")
@guarded_part("This dialog")
def train_dialog() -> None:
    st.markdown(
        f"In use: {literal(ranker_text())}. One that is trained here, on papers whose evidence is marked, takes its "
        "place on this machine."
    )
    store = resources.store()
    real = {info.name: info for info in store.datasets() if not info.synthetic}
    if not real:
        st.caption(
            "There are no real papers to learn from yet. You can download the benchmark's train set (a few megabytes) "
            f"on Home, under **{_LICENCE}**; its terms also apply to what is learnt from it."
        )
        return
    name = st.selectbox("Dataset to train on", list(real), key="train-on")
    # About a second a paper to embed, the first time, and up to two minutes to fit six models.
    minutes = min(real[name].n_papers, 3000) / 60 + 2
    st.caption(f"Takes up to about {minutes:.0f} minutes, in the background. It is cross-validated by paper.")
    is_busy = any(not job.status.ended for job in resources.jobs().jobs(TRAIN))
    if st.button(f"Train on {literal(name)}", type="primary", key="train", disabled=is_busy):
        title = f"Train evidence-ranker on {name}"
        resources.jobs().start(TRAIN, "model", title, InChild(train, (store.path, name)))
        st.rerun()


def has_seen(
    dataset: DatasetInfo, instance: Instance, name: str, settings: Mapping[str, object], run: RunInfo | None
) -> bool:
    """Whether the model of a retriever, or of a run of it, was trained on this very paper."""
    if run is not None:
        return instance.id in trained_on_ids(resources.store(), run)
    key = paper_key(instance.sentences, instance.sentence_types)
    return any(key in trained.paper_keys for trained in make_retriever(name, settings).training)
