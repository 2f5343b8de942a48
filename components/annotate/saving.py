"""What was marked, as an instance of the benchmark: a file to take away, or a dataset of this store."""

from __future__ import annotations

import io
import re
import tempfile
from pathlib import Path
from typing import Any

import streamlit as st

from components.annotate.desk import Desk
from components.app import resources
from components.app.state import PageState, flash, open_later
from components.widgets.markdown import literal
from evidencebench_core.data import Instance, ingest
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.export import write_benchmark
from evidencebench_core.papers.annotation import Annotation, annotated_instance

__all__ = ["dataset_file", "draw_saving", "missing"]


def missing(annotation: Annotation) -> str:
    """What an instance still lacks, as a sentence; ``""`` where it is complete."""
    lacks = []
    if not annotation.hypothesis.strip():
        lacks.append("a hypothesis")
    if not annotation.aspects:
        lacks.append("a study aspect")
    n_bare = len(annotation.uncovered)
    if n_bare:
        lacks.append(f"a sentence for {n_bare} aspect{'' if n_bare == 1 else 's'}")
    return f"It still lacks {' and '.join(lacks)}." if lacks else ""


def dataset_file(desk: Desk, instance_id: str) -> bytes:
    """A dataset of one instance, as the released files have them.

    Raises
    ------
    PaperError
        If the annotation is not complete.
    """
    raw: dict[str, Any] = annotated_instance(desk.marked.paper, desk.annotation, instance_id)
    if isinstance(desk.marked.paper, Instance) and desk.marked.paper.synthetic:
        raw["synthetic"] = True  # an invented paper stays one, whoever marks it
    stream = io.BytesIO()
    write_benchmark([(instance_id, raw)], stream)
    return stream.getvalue()


def draw_saving(state: PageState, desk: Desk) -> None:
    """The two ways out; before it is complete, what is missing."""
    if not desk.annotation.aspects:
        return
    st.markdown("#### Save as an instance")
    lacks = missing(desk.annotation)
    st.caption(
        lacks
        or "Complete: hypothesis, aspects, and a sentence for each. Optimal selections are computed as it is saved."
    )
    paper = desk.marked.paper
    start = paper.id if isinstance(paper, Instance) else paper.paper_id
    instance_id = st.text_input(
        "Id of the instance", value=start, max_chars=200, key=f"instance-id.{desk.marked.key}"
    ).strip()
    ready = not lacks and bool(instance_id)
    with st.container(horizontal=True):
        st.download_button(
            "Download dataset (JSON)",
            lambda: dataset_file(desk, instance_id),
            f"{_stem(desk)}.json",
            "application/json",
            on_click="ignore",
            disabled=not ready,
            help="In the benchmark's format: its tools and the authors' code read it.",
        )
        with st.popover("Add to my datasets", disabled=not ready):
            _add(state, desk, instance_id)


def _stem(desk: Desk) -> str:
    words = f"{desk.marked.name} marked by {desk.annotator}"
    return re.sub(r"[^A-Za-z0-9]+", "-", words).strip("-").lower()[:80]


def _add(state: PageState, desk: Desk, instance_id: str) -> None:
    st.markdown(
        "As a dataset of its own, so that it can be read, searched and scored in Browse with every retriever."
    )
    number = desk.revision.number
    name = st.text_input(
        "Name of the dataset",
        value=f"{desk.marked.name[:60]} ({desk.annotator}, revision {number})",
        max_chars=200,
        key=f"dataset-name.{desk.version}",
    ).strip()
    if not st.button("Add it", type="primary", key="add-dataset", disabled=not name):
        return
    try:
        with tempfile.TemporaryDirectory(prefix="evidencebench-marked-") as folder:
            path = Path(folder) / f"{_stem(desk)}.json"
            path.write_bytes(dataset_file(desk, instance_id))
            result = ingest(resources.store(), path, name)
    except EvidenceBenchError as error:
        st.error(literal(str(error)))
        return
    added = "Added" if result.added else "The store had the same already"
    flash(f"{added}: dataset {literal(result.dataset.name, 80)}.")
    open_later("browse", {"dataset": result.dataset.name, "instance": instance_id})
    st.rerun()
