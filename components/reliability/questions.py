"""The questions that models are asked: a first set, a file of one's own, what is in a set, and its keeping."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Final

import streamlit as st

from components.app import resources
from components.app.session import flash, open_later
from components.app.state import PageState
from components.reliability import cached
from components.reliability.view import View
from components.widgets.keeping import draw_delete, draw_rename
from components.widgets.markdown import literal
from components.widgets.table import Column, Row, table
from components.widgets.table.paging import paging
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.reliability.from_evidencebench import ingest_evidence
from evidencebench_core.reliability.items import Item, delete_item_set, item_set_dependents, rename_item_set
from evidencebench_core.reliability.read_items import ingest_items
from evidencebench_core.reliability.sample import SAMPLE_NAME, add_sample_items
from evidencebench_core.words import quantity

_LARGEST: Final = 256  # MiB
_COLUMNS: Final = (
    Column("question", "Question", "title", lines=2),
    Column("answer", "Answer", "id"),
    Column("words", "Words of context", "number"),
    Column("reference", "Reference answer", lines=2),
    Column("id", "Id", "id"),
)
_KINDS: Final = {
    "questions": "questions, each with the text that answers it",
    "evidence": "hypotheses, each with a sentence that bears on it or not",
    "pairs": "pairs of statements, for measuring judges",
}


def draw_first_steps() -> None:
    """Without any questions: what the page shows, the sample, a file."""
    st.info(
        "Here you see, test by test and with intervals, what a model makes of questions whose answers are known: "
        "a card to print, a map of models, the answers one by one. It needs questions, each with a text and the right "
        "answer, yes or no, and a model on any server, your own machine included."
    )
    st.button("Load the 24 sample questions", type="primary", on_click=_load_sample)
    st.caption("Invented by us, and marked so. Every test runs on them in a minute or two.")
    st.markdown("## Your own questions")
    _draw_file()


def draw_questions(state: PageState, view: View) -> None:
    """The content of the set, the drafts of other wordings, a file, renaming and deleting."""
    items = view.items
    st.markdown(f"{quantity(len(items.items), 'item')}: {_KINDS[items.kind]}. {_counts(items.items)}")
    about = [f"Source: {items.source}."] if items.source else []
    about += ["A no says that the sentence covers no study aspect, not that it is irrelevant."] * (
        items.kind == "evidence"
    )
    if about:
        st.caption(literal(" ".join(about)))
    pages = paging(state, len(items.items))
    table(
        _COLUMNS,
        [_row(item) for item in items.items[pages.rows]],
        key=f"reliability-items-{items.sha256[:8]}",
        on_open=lambda item: state.put(part="task", item=item, task=None, run=None),
        caption=f"Items of {items.name}; a click shows what was asked about one",
        height=520,
    )
    pages.draw(state)
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("## Other wordings")
        st.markdown(
            "The tests with paraphrases and with negated texts need other wordings. A model writes drafts, and a "
            "person accepts them: figures that stand on unread drafts say so."
        )
        with st.container(horizontal=True):
            for label, part in (("Write drafts with a model", "make"), ("Review drafts", "review")):
                st.button(label, on_click=open_later, args=("wording", {"items": items.name, "part": part}))
        with st.popover("Rename or delete these questions"):
            draw_rename(items.name, lambda new: _rename(state, items.name, new), "items")
            dependents = item_set_dependents(resources.store(), items.name)
            draw_delete(items.name, dependents, lambda: _delete(state, items.name), "items")
    with right:
        st.markdown("## More questions")
        _draw_file()
        _draw_of_dataset()
        if SAMPLE_NAME not in {info.name for info in cached.item_sets()}:
            st.button("Load the 24 sample questions", key="sample-more", on_click=_load_sample)


def _row(item: Item) -> Row:
    reference = item.long_answer[0] if item.long_answer else None
    return Row(item.id, (item.question, item.answer, len(item.text.split()) or None, reference, item.id))


def _counts(items: tuple[Item, ...]) -> str:
    counts = {label: sum(item.answer == label for item in items) for label in ("yes", "no", "maybe", None)}
    named = [f"{n:,} {label or 'without an answer'}" for label, n in counts.items() if n]
    maybe = " Those with the answer maybe are left out of the tests." if counts["maybe"] else ""
    return f"Right answers: {', '.join(named)}.{maybe}"


def _draw_file() -> None:
    """A file of questions, read and checked as a whole; nothing of a wrong one is kept."""
    st.markdown(
        "A CSV with a header, JSON or JSON lines with `id, question, context, answer`, and `long_answer` and `group` "
        "where there are any; or the JSON of PubMedQA or BioASQ as it is."
    )
    given = st.file_uploader(
        f"File of questions, up to {_LARGEST} MiB", max_upload_size=_LARGEST, key="reliability.file"
    )
    name = st.text_input("Name", placeholder="the file's name", max_chars=100, key="reliability.name").strip()
    with st.expander("Answers that are called otherwise"):
        left, right = st.columns(2)
        positive = left.text_input("In place of yes", max_chars=80, key="reliability.positive").strip()
        negative = right.text_input("In place of no", max_chars=80, key="reliability.negative").strip()
    if not st.button("Read the file", disabled=given is None, key="reliability.read") or given is None:
        return
    with tempfile.TemporaryDirectory() as folder, st.spinner("The file is being read …"):
        path = Path(folder) / (re.sub(r"[^\w.-]+", "_", given.name).lstrip(".")[-100:] or "file")
        path.write_bytes(given.getvalue())
        try:
            info = ingest_items(
                resources.store(), path, name or path.stem, positive=positive, negative=negative
            )
        except EvidenceBenchError as error:
            st.error(literal(str(error).replace(str(path), given.name)))
            return
    flash(f"{quantity(info.n_items, 'item')}, kept as {literal(info.name)}.")
    open_later("reliability", {"items": info.name})
    st.rerun()


def _draw_of_dataset() -> None:
    """Hypotheses and sentences of a dataset as items."""
    datasets = [info.name for info in resources.store().datasets()]
    if not datasets:
        return
    st.markdown(
        "From a dataset of this program: does a sentence bear on the hypothesis? Of every instance up to five "
        "sentences that cover a study aspect, and as many that do not."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox("Dataset", datasets, key="reliability.dataset")
        if st.button("Make questions of it"):
            with st.spinner("Reading the papers …"):
                info = ingest_evidence(resources.store(), name)
            flash(f"{quantity(info.n_items, 'item')}, kept as {literal(info.name)}.")
            open_later("reliability", {"items": info.name})
            st.rerun()


def _load_sample() -> None:
    info = add_sample_items(resources.store())
    flash(f"{quantity(info.n_items, 'question')} loaded.")
    open_later("reliability", {"items": info.name})


def _rename(state: PageState, name: str, new: str) -> None:
    rename_item_set(resources.store(), name, new)
    state.put(items=new)


def _delete(state: PageState, name: str) -> None:
    delete_item_set(resources.store(), name)
    state.put(items=None)
