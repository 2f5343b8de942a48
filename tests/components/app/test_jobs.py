"""Jobs: progress, cancel, failure, and that the same work is not started twice."""

import threading

import pytest

from components.app.jobs import Job, JobBoard
from evidencebench_core.errors import SettingError

WAIT = 10.0


def ended(job: Job) -> Job:
    """The job once its thread is through."""
    for thread in threading.enumerate():
        if thread.name == f"job-{job.id}":
            thread.join(WAIT)
    assert job.status.ended
    return job


def test_a_running_job_is_not_started_twice_nor_dismissed_and_its_work_sees_a_cancel() -> None:
    board, may_look = JobBoard(), threading.Event()

    def work(job: Job) -> str:
        may_look.wait(WAIT)
        return "stopped" if job.cancelled() else "went on"

    first = board.start("run", "x", "title", work)
    assert board.start("run", "x", "title", work) is first
    other = board.start("run", "y", "title", work)
    other.cancel()
    assert other.status.state == "cancelling"
    board.dismiss(other)  # only ended ones can be
    assert board.jobs("run") == (other, first)
    may_look.set()
    assert (ended(other).status.state, other.status.note) == ("cancelled", "stopped")
    assert (ended(first).status.state, first.status.note) == ("done", "went on")
    board.dismiss(other)
    assert board.start("run", "x", "title", work) is not first
    assert len(board.jobs()) == 1


def test_a_job_ends_with_a_note_which_is_an_error_of_ours_and_a_bug_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    status = ended(JobBoard().start("run", "x", "title", lambda _: "4 answers")).status
    assert (status.state, status.note) == ("done", "4 answers")
    errors = (SettingError("bm25", "k1 cannot be 'x'", "Give a number."), ZeroDivisionError())
    for error, note in zip(errors, ("bm25: k1 cannot be 'x'.", "ZeroDivisionError"), strict=True):

        def work(_: Job, error: Exception = error) -> str:
            raise error

        status = ended(JobBoard().start("run", "a", "A", work)).status
        assert status.state == "failed"
        assert note in status.note
        assert ("Traceback" in caplog.text) == isinstance(error, ZeroDivisionError)


def test_a_job_reports_how_far_it_is_and_the_time_left_by_fresh_work_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [100.0]
    monkeypatch.setattr("components.app.jobs.time.monotonic", lambda: now[0])
    job = Job(1, "run", "x", "title", started=100.0)
    job.report(90, 100, "first")
    assert (job.status.done, job.status.total, job.status.note) == (90, 100, "first")
    assert job.status.seconds_remaining is None  # nothing done yet in this session
    now[0] = 110.0
    job.report(95, 100)
    # 5 units in 10 s, 5 to go: 10 s
    assert job.status.seconds_remaining == pytest.approx(10.0)
    assert job.status.share == pytest.approx(0.95)
