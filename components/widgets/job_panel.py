"""Running and ended jobs, drawn fresh every second while one runs."""

from __future__ import annotations

import streamlit as st

from components.app import resources
from components.app.jobs import Job
from components.widgets.guarded import guarded_part
from components.widgets.markdown import literal


def job_panel(*kinds: str) -> None:
    """The jobs of these kinds with progress, remaining time, cancel and dismiss.

    When one has ended since the page began to be drawn, the whole page is drawn again, so that what the job made
    appears, wherever the page reads it.
    """
    jobs = [job for kind in kinds for job in resources.jobs().jobs(kind)]
    if jobs:
        running = any(not job.status.ended for job in jobs)
        st.fragment(_draw, run_every=1.0 if running else None)(kinds)


@guarded_part()
def _draw(kinds: tuple[str, ...]) -> None:
    jobs = [job for kind in kinds for job in resources.jobs().jobs(kind)]
    for job in jobs:
        if job.status.ended:
            _draw_end(job)
        else:
            _running(job)
    if any(job.status.ended and job.id not in st.session_state["ended-jobs"] for job in jobs):
        st.rerun()


def _running(job: Job) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        with st.container():
            st.markdown(f"**{literal(job.title)}**")
            st.progress(job.status.share, text=_progress_text(job))
        if st.button("Cancel", key=f"cancel-{job.id}", disabled=job.status.state == "cancelling"):
            job.cancel()
            st.rerun(scope="fragment")


def _draw_end(job: Job) -> None:
    status = job.status
    with st.container(horizontal=True, vertical_alignment="center"):
        title = f"**{literal(job.title)}.** "
        if status.state == "failed":
            st.error(f"{title}Failed: {literal(status.note)}")
        else:
            word = {"done": "Done", "stopped": "Stopped"}.get(status.state, "Cancelled")
            st.caption(f"{title}{word} after {duration(status.seconds_elapsed)}. {literal(status.note)}")
        if st.button("Dismiss", key=f"dismiss-{job.id}", type="tertiary"):
            resources.jobs().dismiss(job)
            st.rerun()


def _progress_text(job: Job) -> str:
    status = job.status
    if status.state == "cancelling":
        return "Stopping after the step in hand …"
    parts = [literal(status.note)] if status.note else []
    if status.total:
        parts.append(f"{100 * status.share:.0f}%")
    if status.seconds_remaining is not None:
        parts.append(f"about {duration(status.seconds_remaining)} left")
    return " · ".join(parts) or "Starting …"


def duration(seconds: float) -> str:
    """``75`` as ``1 min 15 s``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
