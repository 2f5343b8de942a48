"""Reading a file off the app's thread: one job a session, which can be watched and cancelled."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from typing import Final

import streamlit as st

from components.app import resources
from components.app.jobs import Job
from components.app.page import guarded_part
from components.app.session import session_text, set_session_text
from components.paper import cached
from components.paper.opened import OpenPaper, new_ref
from components.widgets.markdown import literal
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.papers import PaperKind
from evidencebench_core.runs import ReadPaper, Step, drive, fetch_paper, read_content
from evidencebench_core.words import quantity

JOB_KIND: Final = "own-paper"
BETWEEN_REFS: Final = ","  # in the subject of a job that reads several
_CURRENT: Final = "own-paper.job"  # the job of this session, by its subject, which is the paper's ref
_POLL: Final = 0.05  # seconds between two looks at it
_TICK: Final = 1.0  # seconds between two drawings


def import_job() -> Job | None:
    """The job that this session started last and has not taken the paper of."""
    subject = session_text(_CURRENT)
    jobs = resources.jobs().jobs(JOB_KIND) if subject else ()
    return next((job for job in jobs if job.subject == subject), None)


def forget_job() -> None:
    """Take the session's job off the board."""
    job = import_job()
    if job is not None:
        resources.jobs().dismiss(job)
    set_session_text(_CURRENT, "")


def start_reading(content: bytes, name: str, kind: PaperKind | None = None, given: str = "") -> None:
    """Read a file's bytes in a process of their own, which a cancel kills."""
    steps = read_content(content, name, kind, cached.paper_limits())
    _start(name, f"Reading {name}", steps, given, content=content)


def start_reading_several(files: Sequence[tuple[str, bytes]]) -> None:
    """Read files one after the other, each in a process of its own; one that cannot be read is remembered as such."""
    forget_job()
    papers, limits = cached.open_papers(), cached.paper_limits()
    refs = [new_ref() for _ in files]

    def read_and_put(job: Job) -> str:
        for done, (ref, (name, content)) in enumerate(zip(refs, files, strict=True)):
            job.report(done, len(files), f"{done + 1:,} of {len(files):,}: {name}", stop=True)
            try:
                read = drive(read_content(content, name, None, limits), lambda step: job.stop_if_cancelled())
            except EvidenceBenchError as error:
                papers.put_problem(ref, str(error))
                continue
            pdf = content if read.paper.kind == "pdf" else b""
            papers.put(OpenPaper(ref, read.paper, name, given=name, pdf=pdf))
        return f"{quantity(len(files), 'file')} read."

    subject = BETWEEN_REFS.join(refs)
    set_session_text(_CURRENT, subject)
    resources.jobs().start(JOB_KIND, subject, f"Reading {quantity(len(files), 'file')}", read_and_put)


def start_fetching(reference: str) -> None:
    """Fetch a paper from Europe PMC, and read it."""
    from evidencebench_core.papers.europe_pmc import reference_of

    wanted = str(reference_of(reference))  # an impossible one is reported at once
    steps = fetch_paper(reference, limits=cached.paper_limits())
    _start(wanted, f"Fetching {wanted}", steps, reference.strip(), " from Europe PMC")


def _start(
    wanted: str,
    title: str,
    steps: Generator[Step, None, ReadPaper],
    given: str,
    origin: str = "",
    content: bytes = b"",
) -> None:
    forget_job()
    ref, papers = new_ref(), cached.open_papers()

    def read_and_put(job: Job) -> str:
        began = time.monotonic()
        read = drive(steps, lambda step: job.report(0, 0, step.text * (step.text != title), stop=True))
        name = f"{read.name.removesuffix('.xml')}{origin}" if origin else read.name
        job.stop_if_cancelled()
        pdf = content if read.paper.kind == "pdf" else b""
        seconds = time.monotonic() - began
        papers.put(OpenPaper(ref, read.paper, name, given=given, seconds=seconds, pdf=pdf))
        return f"{wanted} was read."

    set_session_text(_CURRENT, ref)
    resources.jobs().start(JOB_KIND, ref, title, read_and_put)


def draw_progress(job: Job) -> None:
    """The state of the job, and a way to stop it; the page is drawn again as soon as it ends or is cancelled."""
    st.fragment(_progress, run_every=_TICK)(job)


@guarded_part()
def _progress(job: Job) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        with st.container():
            words = st.empty()
        st.button("Cancel", key=f"cancel.{job.id}", on_click=job.cancel)
    until = time.monotonic() + _TICK - _POLL
    while job.status.state == "running" and time.monotonic() < until:
        # A look at the job costs next to nothing here, while every run of the fragment collects garbage.
        words.markdown(_progress_text(job))
        time.sleep(_POLL)
    if job.status.state != "running":
        st.rerun()


def _progress_text(job: Job) -> str:
    note = f" {literal(job.status.note)}." if job.status.note else ""
    return (
        f"**{literal(job.title, 120)} …**{note} {time.monotonic() - job.started:.0f} s, and at most "
        f"{cached.paper_limits().max_seconds:.0f} s to take a paper apart into sections and sentences."
    )
