"""Ways to bring a paper: a file, its text, a number at Europe PMC, one of our samples, one that was kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal

import streamlit as st

from components.app import resources
from components.app.session import session_text, session_text_widget, set_session_text
from components.app.state import PageState
from components.paper import cached
from components.paper.import_job import (
    draw_progress,
    import_job,
    start_fetching,
    start_reading,
    start_reading_several,
)
from components.paper.keeping import draw_kept, open_paper
from components.paper.opened import OF_DATASET
from components.paper.reading import LONGEST
from components.widgets.markdown import literal
from evidencebench_core.errors import EvidenceBenchError, PaperError
from evidencebench_core.papers import ENDINGS
from evidencebench_core.runs import MOST_PAPERS

_TABS: Final = ("Upload", "Folder", "Paste text", "Europe PMC", "Sample", "Dataset")
_MOST_FILES: Final = 50  # read at once
_MIB: Final = 1024 * 1024


def draw_bring(state: PageState) -> None:
    """The page without a paper."""
    st.title("Your paper")
    st.markdown(
        "Bring any paper and write a hypothesis. The sentences that bear on it are marked where they stand, and "
        "you can check each in its context, compare retrievers, and take a page of it away. Of several papers, the "
        "one with the best sentence comes first."
    )
    job = import_job()
    if job is not None:
        status = job.status
        if status.state == "running":
            draw_progress(job)
            return
        if status.state == "done":  # since the page looked
            st.rerun()
        if status.state == "failed":
            st.error(literal(status.note, 600))
        else:  # cancelling too: a fetch may wait for its server until it notices
            st.info("Reading was cancelled, and nothing was kept.")
    left, right = st.columns([58, 42], gap="large")
    with left:
        st.markdown("## 1. The paper")
        # what was typed, and where, is there again once its reading has failed
        tabs = st.tabs(_TABS, default=session_text("own-paper-tab", _TABS[0]))
        file, folder, text, fetched, sample, dataset = tabs
        with file:
            what = "PDF with a text layer, Word (DOCX), JATS, Markdown or text, one or several"
            _upload(f"{what}, up to {{}} MiB", "own-paper-file")
        with folder:
            _upload("The papers in a folder, up to {} MiB each", "own-paper-folder", "directory")
        with text:
            _paste()
        with fetched:
            _fetch()
        with sample:
            _samples(state)
        with dataset:
            _datasets(state)
    with right:
        st.markdown("## 2. The hypothesis")
        st.text_area(
            "What should the paper be searched for?",
            height=130,
            max_chars=LONGEST,
            placeholder="Longer exposure to night-shift work increases the risk of type 2 diabetes.",
            help="One claim in one sentence works best. You can also write it once the paper is open.",
            **state.widget("h", state["h"][:LONGEST], lambda words: " ".join(words.split())),
        )
        st.caption(
            "Nothing is kept before you keep it: until then the paper is in this server's memory only, and it is "
            "read on this machine."
        )
    draw_kept(state)


def _upload(label: str, key: str, several: Literal[True, "directory"] = True) -> None:
    limit = cached.paper_limits().max_bytes // _MIB
    uploads = st.file_uploader(
        label.format(limit),
        type=ENDINGS,
        accept_multiple_files=several,
        max_upload_size=min(limit, int(st.get_option("server.maxUploadSize"))),
        key=key,
    )
    seen = ",".join(upload.file_id for upload in uploads)
    if uploads and seen != session_text(f"{key}.last"):
        files = [(_file_name(upload.name), upload.getvalue()) for upload in uploads]
        if _start(lambda: _read(files)):
            set_session_text(f"{key}.last", seen)  # after it, so that no interrupted run loses the files
            st.rerun()
    st.caption("Tables, figures and the reference list are left out, as in the benchmark, and counted.")


def _read(files: Sequence[tuple[str, bytes]]) -> None:
    if len(files) > _MOST_FILES:
        problem = f"are {len(files):,}, and at most {_MOST_FILES} are read at once"
        raise PaperError("the files", problem, "Choose fewer, or keep some first and ask the kept papers.")
    if len(files) > 1:
        start_reading_several(files)
        return
    ((name, content),) = files
    start_reading(content, name, given=name)


def _file_name(name: str) -> str:
    """The name of the upload: the last part of what the browser said, for people only."""
    return name.replace("\\", "/").rsplit("/", 1)[-1][:200] or "upload"


def _paste() -> None:
    text = st.text_area(
        "Text of the paper",
        height=200,
        placeholder="Title\n\nAbstract\nFirst sentence …\n\n1. Introduction\n…",
        help="Empty lines part paragraphs. Headings on lines of their own, or as in Markdown (# Methods), are "
        "recognised; so is an abstract under the heading Abstract.",
        **session_text_widget("own-paper-text"),
    )
    if st.button("Read the text", key="own-paper-read-text"):
        if not text.strip():
            st.warning("Paste the text of a paper above first.")
            return
        if _start(lambda: start_reading(text.encode("utf-8", "replace"), "pasted text")):
            set_session_text("own-paper-tab", "Paste text")
            st.rerun()


def _fetch() -> None:
    reference = st.text_input(
        "PMC id, PubMed id or DOI",
        placeholder="PMC2785062 or 10.1371/journal.pone.0000000",
        **session_text_widget("own-paper-reference"),
    )
    if st.button("Fetch it", key="own-paper-fetch") and _start(lambda: start_fetching(reference)):
        set_session_text("own-paper-tab", "Europe PMC")
        st.rerun()
    st.caption("Needs the internet: Europe PMC is asked for the number, and gives open-access papers only.")


def _samples(state: PageState) -> None:
    st.markdown("Six study reports of ours, each with a hypothesis. Invented, and marked so.")
    for ref, opened in cached.sample_papers().items():
        if st.button(
            f"**{literal(opened.name.removeprefix('Sample: ').capitalize())}.** {literal(opened.hypothesis)}",
            key=f"sample.{ref}",
            width="stretch",
        ):
            open_paper(state, ref)
            st.rerun()


def _datasets(state: PageState) -> None:
    names = [info.name for info in resources.store().datasets()]
    if not names:
        st.caption("There is no dataset in this store yet: Home has ways to add one.")
        return
    name = st.selectbox("Dataset", names, key="own-paper-dataset")
    if st.button("One question over its papers"):
        open_paper(state, None, over=f"{OF_DATASET}{name}", h=state["h"])
        st.rerun()
    st.caption(f"Its first {MOST_PAPERS} papers, each once, without gold.")


def _start(start: Callable[[], None]) -> bool:
    """Start reading, or say why not."""
    try:
        start()
    except EvidenceBenchError as error:
        st.error(literal(str(error)))
        return False
    return True
