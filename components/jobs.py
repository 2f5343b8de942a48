"""Long work outside the script thread: a thread for each job, with progress and cancelling.

Jobs belong to the server process, not to a browser tab: closing the tab loses nothing, and every tab sees them. What a
job has finished is in the store, so a restart of the server loses only the list. Work that computes runs `InChild`, a
process of its own, and its thread only waits for it; work that waits for a server anyway stays in its thread.
"""

from __future__ import annotations

import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, Final, Literal, cast

from evidencebench_core.errors import BudgetReachedError, EvidenceBenchError

JobState = Literal["running", "cancelling", "cancelled", "stopped", "done", "failed"]

_MOST = 50  # jobs on the board
_ROOT: Final = Path(__file__).resolve().parents[1]
_CHILD: Final = "import sys; sys.path.insert(0, sys.argv[1]); from components.jobs import child; child()"
_NICE: Final = 5  # of a child process, so that the app stays responsive


@dataclass(frozen=True, slots=True)
class JobStatus:
    """A job at one moment; ``total`` is 0 while it is unknown."""

    state: JobState = "running"
    done: int = 0
    total: int = 0
    note: str = ""  # what it is doing, or how it ended
    seconds_elapsed: float = 0.0
    seconds_remaining: float | None = None  # from the speed so far

    @property
    def ended(self) -> bool:
        return self.state not in ("running", "cancelling")

    @property
    def share(self) -> float:
        return min(1.0, self.done / self.total) if self.total else 0.0


class JobCancelled(Exception):  # noqa: N818 - not an error: the way out of the work
    """Ends the work of a cancelled job."""


@dataclass(slots=True, eq=False)
class Job:
    """One piece of work with a title; ``kind`` and ``subject`` let a page find its own.

    The work is given the job, to report and to learn whether it should stop. A subject may have several parts, with
    slashes between.
    """

    id: int
    kind: str
    subject: str
    title: str
    started: float = field(default_factory=time.monotonic)
    status: JobStatus = field(default_factory=JobStatus)
    on_cancel: Callable[[], object] = lambda: None
    on_report: Callable[[tuple[int, int, str]], object] = lambda _: None
    _stop: threading.Event = field(default_factory=threading.Event)
    _first: tuple[float, int] | None = None  # when it first reported, and how much was done

    def cancel(self) -> None:
        """Ask the work to stop at its next step; what it has stored stays."""
        self._stop.set()
        self.on_cancel()
        if not self.status.ended:
            self.status = replace(self.status, state="cancelling")

    def cancelled(self) -> bool:
        return self._stop.is_set()

    def stop_if_cancelled(self) -> None:
        """End the work of a cancelled job here (for work that leaves nothing behind)."""
        if self.cancelled():
            raise JobCancelled

    def report(self, done: int, total: int, note: str = "", stop: bool = False) -> None:
        """Progress, from the work; of one total it never goes back. With ``stop`` a cancelled job ends here."""
        if stop:
            self.stop_if_cancelled()
        if total == self.status.total:
            done = max(done, self.status.done)
        now = time.monotonic()
        if self._first is None:
            self._first = now, done  # what was done before this start is not part of the speed
        then, before = self._first
        remaining = (now - then) / (done - before) * (total - done) if done > before and total else None
        state: JobState = "cancelling" if self.cancelled() else "running"
        self.status = JobStatus(state, done, total, note, now - self.started, remaining)
        self.on_report((done, total, note))

    def run(self, work: Work) -> None:
        """Do the work, and record how it ended."""
        state: JobState = "done"
        try:
            note = work(self)
            if self.cancelled():
                state = "cancelled"
        except JobCancelled:
            state, note = "cancelled", "Nothing was kept."
        except BudgetReachedError as reached:
            state, note = "stopped", f"{self.status.note} {reached}".strip()
        except EvidenceBenchError as error:  # in a cancelled job it may come from the cancelling
            state, note = "cancelled" if self.cancelled() else "failed", str(error)
        except Exception as error:
            logging.getLogger(__name__).exception("job %s failed", self.title)
            state, note = "failed", f"{type(error).__name__}. The server's log has the details."
        elapsed = time.monotonic() - self.started
        self.status = replace(
            self.status, state=state, note=note, seconds_elapsed=elapsed, seconds_remaining=None
        )


Work = Callable[[Job], str]
"""Returns the closing note."""


class JobBoard:
    """The jobs of this server process, newest first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: list[Job] = []
        self._next = 1

    def jobs(self, kind: str | None = None) -> tuple[Job, ...]:
        with self._lock:
            return tuple(job for job in self._jobs if kind is None or job.kind == kind)

    def under_way(self, kind: str) -> set[str]:
        """The parts of the subjects of running jobs of a kind."""
        running = [job for job in self.jobs(kind) if not job.status.ended]
        return {part for job in running for part in job.subject.split("/")}

    def start(self, kind: str, subject: str, title: str, work: Work) -> Job:
        """Run ``work`` in a thread; if a job of this kind and subject is running, that job is returned."""
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
        """Remove a job from the board if it has ended."""
        with self._lock:
            self._jobs = [other for other in self._jobs if other is not job or not job.status.ended]


# -- in a process of its own ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class InChild:
    """Work in a new process: a function of `components.work`, called with a job and ``args``.

    The child reads its work from its input and writes what it reports to its output, pickled. It ends with its input,
    so it never outlives the app. One that dies fails the job.
    """

    function: Callable[..., str]
    args: tuple[Any, ...]

    def __call__(self, job: Job) -> str:
        command = [sys.executable, "-c", _CHILD, str(_ROOT)]
        with subprocess.Popen(  # noqa: S603 - nothing but this program
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            requests = cast("IO[bytes]", process.stdin)
            reports = cast("IO[bytes]", process.stdout)

            def send(message: bytes) -> None:
                with suppress(OSError, ValueError):  # it has ended, and its output says how
                    requests.write(message)
                    requests.flush()

            send(pickle.dumps((self.function, self.args)))
            job.on_cancel = lambda: send(b"cancel")
            if job.cancelled():
                job.on_cancel()
            with suppress(EOFError, pickle.UnpicklingError):
                while True:
                    message = pickle.load(reports)  # noqa: S301 - of our own process
                    if isinstance(message, Exception):
                        raise message
                    if isinstance(message, str):
                        return message
                    job.report(*message)
            problem = f"ended with its process before the work was done (code {process.wait()})"
            remedy = "The machine may have run out of memory. What was stored is kept: start it again."
            raise EvidenceBenchError(job.title, problem, remedy)


def child() -> None:
    """The main function of the process: reads the work from its input, writes reports and the result to its output."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # libraries may print
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl+C in the terminal is for the app
    if hasattr(os, "nice"):
        os.nice(_NICE)

    def send(message: object) -> None:
        pickle.dump(message, output)
        output.flush()

    job = Job(0, "", "", "", on_report=send)
    function, args = pickle.load(sys.stdin.buffer)  # noqa: S301 - of the app

    def listen() -> None:
        while cast("BufferedReader", sys.stdin.buffer).read1(64):
            job.cancel()
        os._exit(1)  # the app has ended

    threading.Thread(target=listen, daemon=True).start()
    try:
        send(function(job, *args))
    except (EvidenceBenchError, JobCancelled) as error:
        send(error)
    except Exception as error:
        logging.getLogger(__name__).exception("%s failed", function.__name__)
        bug = f"failed unexpectedly ({type(error).__name__})"
        send(EvidenceBenchError("the job", bug, "The server's log has the details."))
    os._exit(0)  # a thread still waits for input
