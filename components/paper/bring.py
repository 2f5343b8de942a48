"""Ways to bring a paper: files, its text, a number at Europe PMC, a sample, one that was kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import streamlit as st

from components import resources
from components.job_panel import job_panel
from components.jobs import Job
from components.markdown import literal
from components.paper.opened import MAX_PAPERS, OpenPaper, new_ref, open_papers, put_open, sample_papers
from components.state import PageState, flash, session_text, session_text_widget, set_session_text
from components.table import Column, Row, table
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.papers import ENDINGS, MAX_BYTES
from evidencebench_core.papers.europe_pmc import reference_of
from evidencebench_core.papers.find import fetch_paper, read_content
from evidencebench_core.words import quantity

MAX_HYPOTHESIS: Final = 2000  # characters
_TABS: Final = ("Files", "Paste text", "Europe PMC")
_JOB: Final = "own-paper.job"  # of this session: the refs of its papers
UNREAD: Final = "own-paper.unread"  # of this session: what could not be read, and why
_MIB: Final = 1024 * 1024
_COLUMNS: Final = (
    Column("name", "Kept paper", "title"),
    Column("hypothesis", "Hypothesis"),
    Column("n", "Sentences", "number"),
    Column("when", "Kept on"),
)


def open_paper(state: PageState, ref: str | None, **others: str) -> None:
    """Go to a paper (``None``: to the ways to bring one), and let go of what belonged to another."""
    state.put(**{**dict.fromkeys(("h", "sentence", "page", "over")), **others, "paper": ref})


def open_what_was_read(state: PageState) -> None:
    job = _job()
    if job is None or job.status.state != "done":
        return
    refs = [ref for ref in job.subject.split(",") if open_papers().get(ref)]
    if not refs:
        return
    is_single = "," not in job.subject
    set_session_text(UNREAD, "" if refs == job.subject.split(",") else job.status.note)
    open_paper(state, refs[0] if is_single else None, over="" if is_single else ",".join(refs), h=state["h"])
    resources.jobs().dismiss(job)
    set_session_text(_JOB, "")


def draw_bring(state: PageState) -> None:
    st.title("Your paper")
    st.markdown(
        "Bring a paper and write a statement: the sentences that bear on it are marked where they stand, the paper's "
        "own results first. Of several papers, the one with the closest sentence comes first."
    )
    job = _job()
    if job is not None:
        job_panel(job.kind)
        if not job.status.ended:
            return
    left, right = st.columns([58, 42], gap="large")
    with left:
        st.markdown("## 1. The paper")
        tabs = st.tabs(_TABS, default=session_text("own-paper-tab", _TABS[0]))
        for tab, draw in zip(tabs, (_files, _paste, _fetch), strict=True):
            with tab:
                draw()
    with right:
        st.markdown("## 2. The statement")
        draw_statement(state, "", height=130)
        sample = next(iter(sample_papers()))
        st.button("No paper at hand? See a sample", on_click=open_paper, args=(state, sample))
    _draw_kept(state)


def draw_statement(state: PageState, original: str, height: int | Literal["content"] = "content") -> str:
    """Draw the statement, at first the ``original``; returns it."""
    statement = " ".join(state["h"].split())[:MAX_HYPOTHESIS] or original[:MAX_HYPOTHESIS]
    st.text_area(
        "Statement",
        height=height,
        max_chars=MAX_HYPOTHESIS,
        placeholder="Longer exposure to night-shift work increases the risk of type 2 diabetes.",
        help="One claim in one sentence works best. Ctrl+Enter, or a click anywhere else, searches.",
        **state.widget("h", statement, lambda words: " ".join(words.split()), reset=("sentence",)),
    )
    return statement


def _files() -> None:
    limit = MAX_BYTES // _MIB
    st.file_uploader(
        f"PDF with text, saved web page, Word, JATS, TEI, Markdown or text, one or several, up to {limit} MiB",
        type=ENDINGS,
        accept_multiple_files=True,
        max_upload_size=min(limit, int(st.get_option("server.maxUploadSize"))),
        key="own-paper-file",
        on_change=_read_uploads,
    )
    st.caption("Tables, figures and the reference list are left out, as in the benchmark, and counted.")


def _read_uploads() -> None:
    uploads = st.session_state["own-paper-file"]
    if uploads:  # else the last one was taken away
        _read_files([(upload.name[:200], upload.getvalue()) for upload in uploads])


def _paste() -> None:
    text = st.text_area(
        "Text of the paper",
        height=200,
        placeholder="Title\n\nAbstract\nFirst sentence …\n\n1. Introduction\n…",
        help="Empty lines separate paragraphs. Headings stand on lines of their own, or as in Markdown (# Methods).",
        **session_text_widget("own-paper-text"),
    )
    if not st.button("Read the text", key="own-paper-read-text"):
        return
    if not text.strip():
        st.warning("Paste the text of a paper above first.")
    else:
        set_session_text("own-paper-tab", _TABS[1])
        _read_files([("pasted text", text.encode("utf-8", "replace"))])
        st.rerun()


def _fetch() -> None:
    reference = st.text_input(
        "PMC id, PubMed id or DOI",
        placeholder="PMC2785062 or 10.1371/journal.pone.0000000",
        **session_text_widget("own-paper-reference"),
    )
    st.caption("Needs the internet: the paper comes from Europe PMC, which has open-access papers only.")
    if not st.button("Fetch it", key="own-paper-fetch"):
        return
    try:
        wanted = reference_of(reference.strip()).name  # an impossible one is reported at once
    except EvidenceBenchError as error:
        st.error(literal(str(error)))
        return
    set_session_text("own-paper-tab", _TABS[2])
    _start_job(f"Fetching {wanted}", [(f"{wanted} from Europe PMC", reference.strip(), None)])
    st.rerun()


def _draw_kept(state: PageState) -> None:
    papers = resources.own_papers().all()
    if not papers:
        return
    st.markdown("## Kept papers")
    if len(papers) > 1:
        label, every = f"One question over all {len(papers):,} kept papers", {"over": "kept", "h": state["h"]}
        st.button(label, on_click=open_paper, args=(state, None), kwargs=every)
    table(
        _COLUMNS,
        [
            Row(str(own.id), (own.name, own.hypothesis or None, own.n_sentences, own.added_at[:10]))
            for own in papers
        ],
        key="kept-papers",
        on_open=lambda ref: open_paper(state, ref, h=state["h"]),
        link=lambda ref: state.link(paper=ref),
        caption="Papers in the store; a click opens one",
        height=480,
    )


# -- reading, off the script thread ---------------------------------------------------------------


def _job() -> Job | None:
    subject = session_text(_JOB)
    jobs = resources.jobs().jobs(f"own-paper.{subject}") if subject else ()
    return jobs[0] if jobs else None


_Source = tuple[str, str, bytes | None]  # name, argument of `find`, file; None: to be fetched


def _read_files(files: Sequence[tuple[str, bytes]]) -> None:
    if len(files) > MAX_PAPERS:
        flash(f"At most {MAX_PAPERS} files are read at once. Choose fewer.")
        return
    title = f"Reading {files[0][0]}" if len(files) == 1 else f"Reading {quantity(len(files), 'file')}"
    _start_job(title, [(name, name, content) for name, content in files])


def _start_job(title: str, sources: Sequence[_Source]) -> None:
    papers, refs = open_papers(), [new_ref() for _ in sources]

    def read(job: Job) -> str:
        problems, check = [], job.stop_if_cancelled
        for done, (ref, (name, given, content)) in enumerate(zip(refs, sources, strict=True)):
            job.report(done, len(refs), f"Reading {name}", stop=True)
            try:
                if content is None:
                    paper = fetch_paper(given, check=check).paper
                else:
                    paper = read_content(content, name, check=check).paper
            except EvidenceBenchError as error:
                problems.append(error)
                continue
            pdf = content if content and paper.kind == "pdf" else b""
            put_open(papers, OpenPaper(ref, paper, name, given=given, pdf=pdf))
        if len(problems) == len(sources):
            raise problems[0]
        n_read = quantity(len(sources) - len(problems), "paper")
        return f"{n_read} read. {' '.join(map(str, problems))}"

    subject = ",".join(refs)
    set_session_text(_JOB, subject)
    resources.jobs().start(f"own-paper.{subject}", subject, title, read)
