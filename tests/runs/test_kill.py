"""SIGKILL in the middle of a run, which no process can prepare for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evidencebench_core.data.ingest import ingest
from evidencebench_core.data.store import Store, open_store
from evidencebench_core.runs import RunStore, execute, plan
from tests.factories import raw_dataset, written

pytestmark = pytest.mark.slow

N_INSTANCES = 40
# Works off an instance whenever it is told to; in between it waits for a line.
VICTIM = """
import sys
from pathlib import Path
from evidencebench_core.data.store import open_store
from evidencebench_core.runs import execute, plan
for report in execute(plan(open_store(Path(sys.argv[1])), "tiny", "bm25")):
    print(report.done, flush=True)
    sys.stdin.readline()
"""


def stored(store: Store) -> list[tuple[object, ...]]:
    """Every stored retrieval but for its seconds, in one order."""
    with store.read() as db:
        return db.execute(
            "SELECT run_id, task, unit, selection, error, outcome, created_at"
            " FROM results ORDER BY run_id, task, unit"
        ).fetchall()


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX")
@pytest.mark.parametrize("n_before", [1, 7])
def test_a_killed_run_goes_on_and_ends_like_one_that_was_not(tmp_path: Path, n_before: int) -> None:
    path = written(raw_dataset(N_INSTANCES), tmp_path / "tiny.json")
    whole, killed = open_store(tmp_path / "whole.sqlite"), open_store(tmp_path / "killed.sqlite")
    for store in (whole, killed):
        ingest(store, path, name="tiny")

    victim = subprocess.Popen(
        [sys.executable, "-c", VICTIM, str(killed.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    assert victim.stdin is not None
    assert victim.stdout is not None
    with victim:
        for done in range(n_before + 1):
            assert victim.stdout.readline() == f"{done}\n"
            victim.stdin.write("\n")  # the last one sets it to work on the instance it dies over
        victim.kill()
    assert victim.returncode == -9

    kept = stored(killed)
    instances = {row[2] for row in kept}
    assert n_before <= len(instances) <= n_before + 1
    reports = list(execute(plan(killed, "tiny", "bm25")))
    assert (reports[0].done, reports[-1].done) == (len(instances), N_INSTANCES)
    assert len(reports) == 1 + N_INSTANCES - len(instances)

    *_, last = execute(plan(whole, "tiny", "bm25"))
    assert last.run_id == reports[-1].run_id
    # Equal but for the moment at which each was stored; nothing that was there was written again.
    assert [row[:-1] for row in stored(killed)] == [row[:-1] for row in stored(whole)]
    assert set(kept) <= set(stored(killed))
    assert RunStore(killed).run(last.run_id).n_failed == 0
