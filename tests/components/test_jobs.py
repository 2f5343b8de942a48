"""Jobs: progress, cancel, failure, a child process, and that the same work is not started twice."""

import os
import signal
import threading

import pytest

from components.jobs import InChild, Job, JobBoard
from components.work import carry_out
from evidencebench_core.data import ingest, open_store
from evidencebench_core.errors import SettingError
from evidencebench_core.runs import plan, run
from tests.conftest import ROOT

WAIT = 60.0


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
    assert (board.under_way("run"), board.under_way("ask")) == ({"x"}, set())
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


def test_a_bug_in_a_job_is_its_note_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    status = ended(JobBoard().start("run", "a", "A", lambda _: str(1 // 0))).status
    assert status.state == "failed"
    assert "ZeroDivisionError" in status.note
    assert "Traceback" in caplog.text


def test_the_time_left_is_reckoned_by_fresh_work_only(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("components.jobs.time.monotonic", lambda: now[0])
    job = Job(1, "run", "x", "title", started=100.0)
    job.report(90, 100)
    assert job.status.seconds_remaining is None  # nothing done yet in this session
    now[0] = 110.0
    job.report(95, 100)
    # 5 units in 10 s, 5 to go: 10 s
    assert job.status.seconds_remaining == pytest.approx(10.0)
    assert job.status.share == pytest.approx(0.95)


def in_child(job: Job, how: str) -> str:
    """Work that ends in some way."""
    job.report(1, 4, "begun")
    print("what a library says is no report")
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "refused":
        raise SettingError("bm25", "k1 cannot be 'x'", "Give a number.")
    return f"{how} {job._stop.wait(WAIT)}"


def test_work_in_a_process_of_its_own_is_cancelled_refused_and_killed() -> None:
    board = JobBoard()
    endings = ("cancelled", "refused", "killed")
    jobs = {how: board.start("run", how, how, InChild(in_child, (how,))) for how in endings}
    jobs["cancelled"].cancel()
    statuses = {how: ended(job).status for how, job in jobs.items()}
    assert [status.state for status in statuses.values()] == ["cancelled", "failed", "failed"]
    assert statuses["cancelled"].note == "cancelled True"
    assert statuses["refused"].note == "bm25 k1 cannot be 'x'. Give a number."
    assert f"code {-signal.SIGKILL}" in statuses["killed"].note
    assert {(status.done, status.total) for status in statuses.values()} == {(1, 4)}


def test_progress_is_that_of_all_runs_and_never_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    store, reports = open_store(), list[tuple[int, int]]()
    ingest(store, ROOT / "sample_data" / "sample_data.json")
    run(store, "sample_data", "lead", limit=2)
    job = Job(1, "run", "x", "title")
    monkeypatch.setattr(Job, "report", lambda _, done, total, note: reports.append((done, total)))
    plans = [plan(store, "sample_data", name) for name in ("bm25", "lead", "random")]
    note = carry_out(job, plans, "instance")
    assert note == "18 of 18 instances answered."
    assert reports == sorted(reports)
    assert {total for _, total in reports} == {18}
    assert (8, 18) in reports  # of lead two are there already
