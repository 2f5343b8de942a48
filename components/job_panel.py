"""Running and ended jobs, drawn again every second while one is running."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components import resources
from components.guarded import guarded_part
from components.jobs import Job
from components.markdown import literal


def job_panel(*kinds: str, subject: str = "") -> None:
    """Jobs of these kinds, or of one subject: progress, remaining time, a cancel button; ended ones in one line.

    When one has ended since the page began to be drawn, the whole page is drawn again, so that what the job made
    appears, wherever the page reads it.
    """
    jobs = _jobs(kinds, subject)
    if jobs:
        running = any(not job.status.ended for job in jobs)
        with st.container(key=f"jobs-{'-'.join((*kinds, subject[:12]))}"):
            st.fragment(_draw, run_every=1.0 if running else None)(kinds, subject)


def _jobs(kinds: Sequence[str], subject: str) -> list[Job]:
    jobs = [job for kind in kinds for job in resources.jobs().jobs(kind)]
    return [job for job in jobs if subject in ("", job.subject)]


@guarded_part()
def _draw(kinds: Sequence[str], subject: str) -> None:
    jobs = _jobs(kinds, subject)
    ended = [job for job in jobs if job.status.ended]
    for job in jobs:
        if not job.status.ended:
            _draw_running(job)
    if ended:
        _draw_ended(ended)
    if any(job.id not in st.session_state["ended-jobs"] for job in ended):
        st.rerun()


def _draw_running(job: Job) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        with st.container():
            st.markdown(f"**{literal(job.title)}**")
            st.progress(job.status.share, text=_progress_text(job))
        if st.button("Cancel", key=f"cancel-{job.id}", disabled=job.status.state == "cancelling"):
            job.cancel()
            st.rerun(scope="fragment")


def _draw_ended(jobs: Sequence[Job]) -> None:
    """The newest in one line; the results of all are folded below it, unless one has failed."""
    newest = max(jobs, key=lambda job: job.id)
    more = f" · {len(jobs) - 1:,} more ended" if len(jobs) > 1 else ""
    has_failed = any(job.status.state == "failed" for job in jobs)
    with st.expander(
        f"{literal(newest.title, 48)}: {literal(newest.status.state)}{more}", expanded=has_failed
    ):
        for job in jobs:
            end = f"{job.status.state} after {duration(job.status.seconds_elapsed)}"
            draw = st.error if job.status.state == "failed" else st.caption
            draw(f"**{literal(job.title)}** {end}. {literal(job.status.note)}")
        if st.button("Dismiss", key=f"dismiss-{newest.id}"):
            for job in jobs:
                resources.jobs().dismiss(job)
            st.rerun()


def _progress_text(job: Job) -> str:
    status = job.status
    if status.state == "cancelling":
        return "Stopping after the current step …"
    parts = [literal(status.note)] if status.note else []
    if status.total:
        parts.append(f"{100 * status.share:.0f}%")
    if status.seconds_remaining is not None:
        parts.append(f"about {duration(status.seconds_remaining)} left")
    return " · ".join(parts) or "Starting …"


def duration(seconds: float) -> str:
    """``75`` as ``1 min 15 s``."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
