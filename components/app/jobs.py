"""Long work outside the script thread: one thread a job, progress to read, a cancel that works.

Jobs belong to the server process, not to a browser tab: closing the tab loses nothing, and every
tab sees them. What a job has finished is in the store, so a restart of the server loses only the
list; the work itself resumes from the store.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from evidencebench_core.errors import EvidenceBenchError

JobState = Literal["running", "cancelling", "cancelled", "stopped", "done", "failed"]

_MOST = 50  # jobs that stay on the board
_WINDOW = 30  # reports that the remaining time is estimated from


@dataclass(frozen=True, slots=True)
class JobStatus:
    """A job at one moment; ``total`` is 0 while it is unknown."""

    state: JobState = "running"
    done: int = 0
    total: int = 0
    note: str = ""  # what it is doing, or how it ended
    seconds_elapsed: float = 0.0
    seconds_remaining: float | None = None  # from the speed of the latest steps

    @property
    def ended(self) -> bool:
        return self.state not in ("running", "cancelling")

    @property
    def share(self) -> float:
        """Progress from 0 to 1."""
        return min(1.0, self.done / self.total) if self.total else 0.0


class JobCancelled(Exception):  # noqa: N818 - not an error: the way out of the work
    """Raised in the work of a cancelled job, where the work asks for it."""


class JobStopped(Exception):  # noqa: N818 - not an error: a limit that the user has set
    """Raised with a note by work that came to a limit it was given."""


@dataclass(slots=True, eq=False)
class Job:
    """One piece of work with a title; ``kind`` and ``subject`` let a page find its own.

    The work is given the job, to report and to learn whether it should stop.
    """

    id: int
    kind: str
    subject: str
    title: str
    started: float = field(default_factory=time.monotonic)
    status: JobStatus = field(default_factory=JobStatus)
    _stop: threading.Event = field(default_factory=threading.Event)
    _recent: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=_WINDOW))

    def cancel(self) -> None:
        """Ask the work to stop at its next step; what it has stored stays."""
        self._stop.set()
        if not self.status.ended:
            self.status = replace(self.status, state="cancelling")

    def cancelled(self) -> bool:
        """Whether the work should stop."""
        return self._stop.is_set()

    def stop_if_cancelled(self) -> None:
        """End the work of a cancelled job here (for work that leaves nothing behind)."""
        if self.cancelled():
            raise JobCancelled

    def report(self, done: int, total: int, note: str = "", stop: bool = False) -> None:
        """Progress, from the work; with ``stop`` a cancelled job ends here."""
        if stop:
            self.stop_if_cancelled()
        now = time.monotonic()
        self._recent.append((now, done))  # what a resumed job finds done does not count as fast work
        (then, before), elapsed = self._recent[0], now - self.started
        remaining = (now - then) / (done - before) * (total - done) if done > before and total else None
        state: JobState = "cancelling" if self.cancelled() else "running"
        self.status = JobStatus(state, done, total, note, elapsed, remaining)

    def run(self, work: Callable[[Job], str]) -> None:
        """Do the work, and note how it ended."""
        state: JobState = "done"
        try:
            note = work(self)
            if self.cancelled():
                state = "cancelled"
        except JobCancelled:
            state, note = "cancelled", "Nothing was kept."
        except JobStopped as limit:
            state, note = "stopped", str(limit)
        except EvidenceBenchError as error:  # of a cancelled job it may be the cancel's own doing
            state, note = "cancelled" if self.cancelled() else "failed", str(error)
        except Exception as error:
            logging.getLogger(__name__).exception("job %s failed", self.title)
            state = "failed"
            note = f"{self.title}: {type(error).__name__}. The server's log has the details."
        elapsed = time.monotonic() - self.started
        self.status = replace(
            self.status, state=state, note=note, seconds_elapsed=elapsed, seconds_remaining=None
        )


class JobBoard:
    """The jobs of this server process, newest first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: list[Job] = []
        self._next = 1

    def jobs(self, kind: str | None = None) -> tuple[Job, ...]:
        with self._lock:
            return tuple(job for job in self._jobs if kind is None or job.kind == kind)

    def start(self, kind: str, subject: str, title: str, work: Callable[[Job], str]) -> Job:
        """Run ``work`` in a thread, in the caller's context (`llm.using`); it returns the closing note.

        The same kind of work on the same subject is not started twice: the running job comes back. An
        ended one makes room.
        """
        with self._lock:
            same = [job for job in self._jobs if (job.kind, job.subject) == (kind, subject)]
            if same and not same[0].status.ended:
                return same[0]
            job = Job(self._next, kind, subject, title)
            self._next += 1
            self._jobs = [job, *(other for other in self._jobs if other not in same)][:_MOST]
        threading.Thread(target=job.run, args=(work,), name=f"job-{job.id}", daemon=True).start()
        return job

    def dismiss(self, job: Job) -> None:
        """Take an ended job off the board."""
        with self._lock:
            self._jobs = [other for other in self._jobs if other is not job or not job.status.ended]
