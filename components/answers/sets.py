"""Sets of answers: the one that is looked at, the sample, files of one's own, renaming and deleting."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Final

import streamlit as st

from components.app import resources
from components.app.page import set_picker
from components.app.session import flash, open_later
from components.app.state import PageState
from components.widgets.keeping import draw_delete, draw_rename
from components.widgets.markdown import literal
from components.widgets.table import Column, Row, table
from evidencebench_core.answers.read import SAMPLE, answer_set, counts, read_answers
from evidencebench_core.answers.store import (
    AnswerSetInfo,
    add_answers,
    answer_set_info,
    answer_sets,
    delete_answers,
    marks,
    rename_answers,
)
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.runs import ChatRuns
from evidencebench_core.words import quantity

_LARGEST: Final = 256  # MiB
_SAMPLE: Final = "sample answers"


def picked_set(state: PageState) -> AnswerSetInfo | None:
    """The set that the address names (an unknown one is reported), with a picker; ``None`` without any."""
    sets = {info.name: info for info in answer_sets(resources.store())}
    if not sets:
        return None
    described = {
        name: f"{name} ({quantity(info.counts['questions'], 'question')})" for name, info in sets.items()
    }
    reset = (
        "metric", "labels", "against", "question", "system", "sentence", "document", "run", "human", "judged",
        "unit", "page", "nuggets", "supports",
    )  # fmt: skip
    return sets[set_picker(state, "set", "Answers", described, "set of answers", reset)]


def draw_first_steps() -> None:
    """Without any answers: what the page shows, the sample, a file."""
    st.info(
        "Here you see which system answers best and how sure that is, each answer with its citations and what people "
        "said of them, and how far a judge can be trusted. It needs answers in a file; labels of people are optional."
    )
    st.button("Load the sample answers", type="primary", on_click=_load_sample)
    st.caption("Six invented questions, each answered by three systems, with documents and labels.")
    _draw_file()


def draw_more(_: PageState, info: AnswerSetInfo) -> None:
    """The content of the set, and another file."""
    counts, file = st.columns(2, gap="large")
    with counts:
        table(
            (Column("what", "In this set"), Column("n", "n", "number")),
            [Row(name, (name.capitalize(), n)) for name, n in info.counts.items() if n],
            key=f"answers-counts-{info.sha256[:8]}",
            action="none",
            caption=f"What is in {info.name}",
        )
        if info.source:
            st.caption(literal(f"Source: {info.source}."))
    with file:
        _draw_file()


def draw_keeping(state: PageState, info: AnswerSetInfo) -> None:
    store = resources.store()

    def rename(new: str) -> None:
        state.put(set=rename_answers(store, info.name, new).name)

    def delete() -> None:
        delete_answers(store, info.name)
        state.put(set=None)

    with st.popover("Rename or delete", key=f"keeping.{info.name}"):
        draw_rename(info.name, rename, info.sha256, label="Name of the set")
        dependents = {
            "answer": info.counts["answers"],
            "run": len(ChatRuns(store).runs(subject=info.sha256)),
            "mark": len(marks(store, info.sha256)),
        }
        draw_delete(info.name, {noun: n for noun, n in dependents.items() if n}, delete, info.sha256)


def _draw_file() -> None:
    """Files of answers, read and checked as a whole; nothing of a wrong one is kept."""
    st.markdown("## Your own answers")
    st.markdown(
        "JSON lines with `kind`, `question_id`, `system` and `answer` (labels, documents and clusters where there are "
        "any), MedAESQA's main and cluster files, or the files of BioACE's tasks. Files given together make one set."
    )
    given = st.file_uploader(
        f"Files of answers, up to {_LARGEST} MiB each",
        accept_multiple_files=True,
        max_upload_size=_LARGEST,
        key="answers.files",
    )
    name = st.text_input(
        "Name", placeholder="the first file's name", max_chars=100, key="answers.name"
    ).strip()
    if not st.button("Read the files", disabled=not given, key="answers.read"):
        return
    with tempfile.TemporaryDirectory() as folder, st.spinner("The files are being read …"):
        paths = []
        for place, one in enumerate(given):
            paths.append(
                Path(folder) / str(place) / (re.sub(r"[^\w.-]+", "_", one.name).lstrip(".")[-100:] or "file")
            )
            paths[-1].parent.mkdir()
            paths[-1].write_bytes(one.getvalue())
        try:
            lines = read_answers(paths)
            source = ", ".join(one.name for one in given)
            info = add_answers(resources.store(), name or paths[0].stem, lines, source)
        except EvidenceBenchError as error:
            message = str(error)
            for path in paths:
                message = message.replace(str(path), path.name)
            st.error(literal(message))
            return
    flash(f"{quantity(counts(answer_set(lines))['answers'], 'answer')}, kept as {literal(info.name)}.")
    open_later("answers", {"set": info.name})
    st.rerun()


def _load_sample() -> None:
    name = add_answers(resources.store(), _SAMPLE, read_answers([SAMPLE]), SAMPLE.name).name
    open_later("answers", {"set": answer_set_info(resources.store(), name).name})
