"""Running and ended jobs, drawn fresh every second while one runs."""

from __future__ import annotations

import streamlit as st

from components import resources
from components.jobs import Job
from components.markdown import literal

__all__ = ["job_panel"]


def job_panel(*kinds: str) -> None:
    """The jobs of these kinds with progress, remaining time, cancel and dismiss.

    When a job ends, the whole page is drawn again, so that what it made appears.
    """
    jobs = [job for kind in kinds for job in resources.jobs().jobs(kind)]
    if jobs:
        running = any(not job.status.ended for job in jobs)
        st.fragment(_draw, run_every=1.0 if running else None)(kinds, running)


def _draw(kinds: tuple[str, ...], was_running: bool) -> None:
    jobs = [job for kind in kinds for job in resources.jobs().jobs(kind)]
    for job in jobs:
        _row(job)
    if was_running and all(job.status.ended for job in jobs):
        st.rerun()


def _row(job: Job) -> None:
    status = job.status
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        with st.container():
            st.markdown(f"**{literal(job.title)}**")
            if status.ended:
                words = {"done": "Done", "cancelled": "Cancelled", "failed": "Failed"}[status.state]
                st.caption(f"{words} after {duration(status.seconds_elapsed)}. {literal(status.note)}")
            else:
                st.progress(status.share, text=_progress_text(job))
        if status.ended:
            if st.button("Dismiss", key=f"dismiss-{job.id}"):
                resources.jobs().dismiss(job)
                st.rerun()
        elif st.button("Cancel", key=f"cancel-{job.id}", disabled=status.state == "cancelling"):
            job.cancel()
            st.rerun(scope="fragment")


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
