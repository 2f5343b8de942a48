"""Beginning an instance by hand: a review's sentences or a citation in its file, or one's own words, and a paper."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import streamlit as st

from components.app import resources
from components.app.page import guarded_part
from components.app.state import PageState
from components.construct import cached
from components.widgets.markdown import literal
from evidencebench_core.construction import BuildInput, Citation, build_input
from evidencebench_core.construction.store import add_builds, constructions
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.papers import read_paper
from evidencebench_core.papers.licence import LICENCES, article_licence
from evidencebench_core.papers.own import OwnPapers
from evidencebench_core.papers.sentences import sentences_of
from evidencebench_core.words import clipped_text, one_line, quantity

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

_WAYS: Final = {
    "review": "A citation in a review's file",
    "sentences": "Sentences of a review",
    "own": "My own words",
}
_REFERENCE: Final = "By an id, or a file"
_NEEDED: Final = ("summary", "paragraph", "hypothesis")
_LARGEST: Final = 50  # MiB
_NOT_USED: Final[Mapping[str, str]] = {
    "multi_citation": "that share a sentence with others",
    "cited_twice": "of papers cited again in their section",
    "unresolvable": "without an id or DOI",
}


@st.dialog("Begin an instance", width="large")
@guarded_part("This dialog")
def begin_dialog(state: PageState) -> None:
    """Where it is from, its paper, the construction it goes to, and the button."""
    known = [one.name for one in constructions(resources.store())]
    name = st.text_input(
        "Construction",
        value=state["construction"] or (known[-1] if known else "Mine"),
        max_chars=100,
        key="begin.name",
        help="Instances that are made together. A new name begins a new one.",
    ).strip()
    way = st.segmented_control(
        "From", list(_WAYS), format_func=_WAYS.__getitem__, required=True, default="review", key="begin.way"
    )
    if way == "review":
        fields = _of_citation()
    elif way == "sentences":
        fields = _of_sentences()
    else:
        fields = _of_own()
    if fields is None:
        return
    paper, upload = _draw_paper(fields.get("paper", ""))
    if way == "review" and (upload is not None or paper.startswith("own:")):
        fields["licence"] = _draw_licence(upload)
    st.caption("Nothing is asked of a model yet: what that takes is shown first.")
    ready = bool(
        name and (paper or upload) and any(fields.get(key) for key in ("summary", "paragraph", "hypothesis"))
    )
    if not st.button("Begin", type="primary", disabled=not ready, key="begin.go"):
        return
    try:
        if upload is not None:
            paper = _kept(upload.getvalue(), upload.name)
        if paper.startswith("own:") and not fields.get("title"):
            fields["title"] = OwnPapers(resources.store()).get(int(paper.removeprefix("own:"))).name
        build = build_input({**fields, "paper": paper, "id": fields.get("id") or _id(paper, fields)})
        add_builds(resources.store(), one_line(name), [build])
    except EvidenceBenchError as error:
        st.error(literal(str(error)))
        return
    state.put(construction=one_line(name), build=build.id, view=None, item=None)
    st.rerun()


def _id(paper: str, fields: dict[str, object]) -> str:
    """A name of the paper, and a digest of what the instance is made from."""
    stem = re.sub(r"[^A-Za-z0-9]+", "-", paper).strip("-")[:60]
    return f"{stem}-{hashlib.sha256(repr((paper, sorted(fields.items()))).encode()).hexdigest()[:6]}"


def _of_citation() -> dict[str, object] | None:
    said = st.text_input(
        "The review's PMC id, PubMed id or DOI",
        max_chars=300,
        key="begin.review-id",
        help="Fetched from Europe PMC, where it is open access.",
    ).strip()
    upload = st.file_uploader(
        f"or its XML (JATS), up to {_LARGEST} MiB",
        type=["xml", "nxml"],
        max_upload_size=_LARGEST,
        key="begin.review",
    )
    if upload is None and not said:
        return None
    try:
        if upload is not None:
            found = cached.review_citations(upload.getvalue(), upload.name)
        else:
            found = cached.fetched_citations(said)
    except EvidenceBenchError as error:
        st.error(literal(str(error)))
        return None
    dropped = [f"{n:,} {_NOT_USED.get(reason, reason)}" for reason, n in found.dropped.items()]
    dropped += [f"{n:,} in {where}" for where, n in found.skipped.items()]
    n_in = found.n_in + sum(found.skipped.values())
    not_used = f". Not used: {literal(', '.join(dropped))}" if dropped else ""
    st.caption(f"{len(found.citations):,} of {quantity(n_in, 'citation')} can be used{not_used}.")
    if not found.citations:
        return None
    words = st.text_input("Words in its sentence", key="begin.words").casefold().split()
    fitting = [one for one in found.citations if all(word in _cited_text(one) for word in words)]
    if not fitting:
        st.info("No citation has these words.")
        return None
    chosen: Citation = st.selectbox(
        "Citation",
        fitting,
        format_func=lambda one: clipped_text(one.paragraph[one.citing], 160),
        key="begin.cited",
    )
    with st.container(border=True):
        st.caption(literal(" › ".join((chosen.review_title, *chosen.section)), 300))
        st.markdown(cited_paragraph(chosen))
        st.caption(f"Cites {literal(chosen.reference.title or chosen.reference.paper, 300)}")
    return chosen.as_dict()


def cited_paragraph(of: Citation | BuildInput) -> str:
    """The paragraph of a review as Markdown, its sentence that cites the paper bold."""
    return " ".join(
        f"**{literal(text)}**" if index == of.citing else literal(text)
        for index, text in enumerate(of.paragraph)
    )


def _cited_text(one: Citation) -> str:
    return f"{one.paragraph[one.citing]} {one.reference.title}".casefold()


def _of_sentences() -> dict[str, object]:
    text = st.text_area("What the review says of the paper", max_chars=20_000, key="begin.text")
    whole = st.toggle(
        "It is a whole paragraph",
        help="A model then says which sentences are about the paper.",
        key="begin.whole",
    )
    sentences = sentences_of(" ".join(text.split())) if whole else []
    review = st.text_input("Title of the review", max_chars=300, key="begin.review-title").strip()
    fields: dict[str, object] = {} if whole else {"summary": text}
    if sentences:
        citing = st.selectbox(
            "The sentence that cites the paper",
            range(len(sentences)),
            format_func=lambda index: clipped_text(sentences[index], 160),
            key="begin.citing",
        )
        fields = {"paragraph": sentences, "citing": citing}
    return (
        fields
        | ({"review": {"title": review}} if review else {})
        | {"hypothesis": _hypothesis("Empty: a model proposes one.")}
    )


def _of_own() -> dict[str, object]:
    hypothesis = _hypothesis("")
    summary = st.text_area(
        "What would you say of this paper in a review?",
        max_chars=20_000,
        key="begin.summary",
        help="The best start. Without it, list the study aspects below, or let a model propose them.",
    )
    aspects = st.text_area("Study aspects, one a line", key="begin.aspects").splitlines()
    if hypothesis and not summary.strip() and not any(map(str.strip, aspects)):
        st.warning(
            "A model will propose the study aspects from the paper. They are then not what an expert finds important: "
            "each one needs your decision, and the instance says so."
        )
    return {"hypothesis": hypothesis, "summary": summary, "aspects": aspects}


def _hypothesis(help_text: str) -> str:
    return str(st.text_input("Hypothesis", max_chars=2_000, help=help_text or None, key="begin.hypothesis"))


def _draw_paper(proposed: object) -> tuple[str, UploadedFile | None]:
    """Where the paper is from, as a build has it, or its file; empty while that is not said."""
    own = {f"own:{one.id}": one.name for one in resources.own_papers().all()}
    where = st.selectbox(
        "Paper",
        ["", *own],
        format_func=lambda one: clipped_text(own[one], 120) if one else _REFERENCE,
        key="begin.paper",
    )
    if where:
        return where, None
    said = st.text_input(
        "PMC id, PubMed id or DOI", value=str(proposed), key=f"begin.reference.{proposed}", max_chars=300
    ).strip()
    upload = st.file_uploader(
        f"or its file, up to {_LARGEST} MiB", max_upload_size=_LARGEST, key="begin.file"
    )
    return said, upload


def _draw_licence(upload: UploadedFile | None) -> str:
    """The licence of a paper that is given as a file, read from it where it says so."""
    try:
        found = article_licence(upload.getvalue(), upload.name) if upload else ""
    except EvidenceBenchError:  # no XML
        found = ""
    if found:
        return found
    return st.selectbox(
        "The paper's licence",
        ["", *LICENCES],
        format_func=lambda one: one or "not known",
        key="begin.licence",
        help="A paper that a review cites is used only where its licence is open. The file does not name one.",
    )


def _kept(content: bytes, name: str) -> str:
    """A paper that was uploaded, kept among one's own papers, once."""
    own, paper = OwnPapers(resources.store()), read_paper(content, name)
    alike = (one for one in own.all() if (one.title, one.n_sentences) == (paper.title, len(paper.sentences)))
    there = next((one for one in alike if own.paper(one.id).sentences == paper.sentences), None)
    return (there or own.save(paper, name)).key
