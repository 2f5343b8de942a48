"""The wordings of a dataset: what there is and who made it, a file to take away, a file to bring."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import streamlit as st

from components.app import resources
from components.app.session import flash
from components.app.state import PageState
from components.widgets.markdown import literal
from components.widgets.table import Column, Row, table
from evidencebench_core.data import DatasetInfo
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.perturb import (
    HypothesisDrafts,
    Wording,
    Wordings,
    added_wordings,
    read_wordings,
    wordings_document,
)

_SHOWN: Final = 100  # wordings of one name
_NAMES: Final = (
    Column("name", "Wording", "title"),
    Column("n", "Instances", "number"),
    Column("data", "From the data", "number"),
    Column("files", "From files", "number"),
    Column("models", "By a model", "number", "Written by a language model"),
    Column("unread", "Of these not reviewed", "number", "Kept by `run --variants` without a review"),
)


def draw_wordings(state: PageState, dataset: DatasetInfo) -> None:
    """A table of the names, one of the wordings under the chosen name, and files in and out."""
    wordings, origins = resources.wordings(dataset), resources.wording_origins(dataset)
    if wordings:
        st.markdown(
            f"Other wordings of the {dataset.n_instances:,} hypotheses that runs can use. Click a name to read them."
        )
        _draw_names(state, wordings, origins)
        if state["name"] in wordings:
            _draw_texts(dataset, state["name"], wordings[state["name"]], origins.get(state["name"], {}))
    else:
        st.info("The data brought no other wordings, and none were added yet.")
    left, right = st.columns(2, gap="large")
    with left:
        _draw_upload(dataset)
    with right:
        _draw_download(dataset, origins)


def _draw_names(state: PageState, wordings: Mapping[str, Mapping[str, str]], origins: Wordings) -> None:
    rows = []
    for name, texts in wordings.items():
        added = [one.made_by for one in origins.get(name, {}).values()]
        models, unread = sum(bool(one.model) for one in added), sum(one.needs_review for one in added)
        counts = (len(texts), len(texts) - len(added), len(added) - models, models, unread)
        rows.append(Row(name, (name, *counts)))
    table(
        _NAMES,
        rows,
        key="wording-names",
        chosen=(state["name"],),
        on_event=lambda event: state.put(name=None if event.value == state["name"] else event.value),
        caption="Wordings of this dataset",
    )


def _draw_texts(
    dataset: DatasetInfo, name: str, texts: Mapping[str, str], origins: Mapping[str, Wording]
) -> None:
    ids = tuple(texts)[:_SHOWN]
    originals = {row.id: row.hypothesis for row in resources.store().rows(dataset.name, ids)}
    made = {one: origins[one].origin if one in origins else "the data" for one in ids}
    table(
        (
            Column("instance", "Instance", "id"),
            Column("text", name, "title"),
            Column("original", "Original"),
            Column("made", "Made by"),
        ),
        [Row(one, (one, texts[one], originals[one], made[one])) for one in ids],
        key=f"wording-texts-{name}",
        action="none",
        caption=f"Wordings {name}",
        height=420,
    )
    if len(texts) > _SHOWN:
        st.caption(f"The first {_SHOWN} of {len(texts):,}; the file has all that were added.")


def _draw_upload(dataset: DatasetInfo) -> None:
    st.markdown("## Bring a file")
    st.markdown("A variants file is one JSON object; every instance has paraphrases, a negation, or both:")
    st.code(
        '{"instance id": {"paraphrases": {"plain": "..."}, "negation": "..."}, ...}',
        language=None,
        wrap_lines=True,
    )
    given = st.file_uploader("Variants file", type=["json"], key=f"wordings.{dataset.id}")
    if given is not None and st.button("Keep these wordings", type="primary"):
        _keep(dataset, given.name, given.getvalue())
    st.caption("What such a file says a model made and nobody has accepted comes to Review first.")


def _keep(dataset: DatasetInfo, name: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "variants.json"
        path.write_bytes(content)
        try:
            kept, drafts = HypothesisDrafts(resources.store(), dataset.name).add_file(
                read_wordings(path), name
            )
        except EvidenceBenchError as error:
            st.error(literal(str(error).replace(str(path), name)))
            return
    waiting = f", {drafts:,} more wait to be read (Review)" if drafts else ""
    flash(f"{kept:,} wordings kept beside {literal(dataset.name)}{waiting}.")
    st.rerun()


def _draw_download(dataset: DatasetInfo, origins: Wordings) -> None:
    st.markdown("## Take them along")
    if not origins:
        st.caption("Wordings that were added or accepted can be downloaded here; so far there are none.")
        return
    st.markdown("The wordings that were added or accepted, each with model, prompt, date and reviewer.")

    st.download_button(
        "Download variants file",
        lambda: json.dumps(wordings_document(added_wordings(resources.store(), dataset.name)), indent=1),
        file_name="variants.json",
        mime="application/json",
        on_click="ignore",
        key="wordings.download",
    )
