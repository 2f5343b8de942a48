"""Nobody outside is asked: by dense, by the ranker, and by a page of the app."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser.serving import SAMPLE, calling_nobody

pytestmark = [pytest.mark.slow, pytest.mark.model]

WORK = f"""
from evidencebench_core.cli import main
from streamlit.testing.v1 import AppTest

assert main(["ingest", {str(SAMPLE)!r}]) == 0
for words in (
    ["train-ranker", "--dataset", "sample_data", "--folds", "0"],
    ["run", "--dataset", "sample_data", "--retriever", "dense", "--limit", "2"],
    ["run", "--dataset", "sample_data", "--retriever", "evidence-ranker", "--limit", "2"],
):
    assert main(words) == 0, words
app = AppTest.from_file("app.py", default_timeout=120).run()
assert not app.exception
app.switch_page("pages/browse.py")
app.query_params["instance"] = "sample_cohort"
app.query_params["r"] = "dense"
assert not app.run().exception
"""


def test_no_name_is_looked_up_and_no_connection_opened(tmp_path: Path) -> None:
    places = {
        "EVIDENCEBENCH_STORE": str(tmp_path / "store.sqlite"),
        "EVIDENCEBENCH_CACHE": str(tmp_path / "cache"),
        "EVIDENCEBENCH_RANKER": str(tmp_path / "ranker"),
        "XDG_CACHE_HOME": str(tmp_path / "home"),
    }
    with calling_nobody(tmp_path) as watched:  # at its end no place outside has been named
        done = subprocess.run(
            [sys.executable, "-c", WORK],
            cwd=SAMPLE.parents[1],
            env={**os.environ, **places, **watched},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-2000:]
    assert not list(tmp_path.rglob("*Microsoft*"))
