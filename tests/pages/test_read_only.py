"""The app on a store that can be read but not written to."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import pytest

from evidencebench_core.data import Store
from tests.pages.app import ROOT, finished_runs

LOOK = """
from streamlit.testing.v1 import AppTest
from tests.pages.app import ROOT, App
for page in ("home", "browse", "paper", "annotate", "leaderboard", "models", "missed", "middle", "wording", "compare",
             "reliability", "answers", "dataset"):
    app = App(AppTest.from_file(str(ROOT / "app.py"), default_timeout=60), None, dataset="sample_data")
    app = app if page == "home" else app.go(page, dataset="sample_data")
    print(page, "This store is read-only" in app.words, [one.value for one in app.error])
app.fill("Name", "other").press("Rename")
print(app.problems)
"""


def _obey_permissions() -> None:
    """In a child, before it begins: even the superuser's programs may write only what permissions allow."""
    if os.getuid() == 0:
        ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_every_page_is_drawn_and_says_that_nothing_can_be_saved(sample_store: Store) -> None:
    finished_runs(sample_store, "lead")
    sample_store.close()
    folder = sample_store.path.parent
    sample_store.path.chmod(0o444)
    folder.chmod(0o555)
    try:
        done = subprocess.run(
            [sys.executable, "-c", LOOK],
            capture_output=True,
            text=True,
            cwd=ROOT,
            check=False,
            preexec_fn=_obey_permissions,
        )
    finally:
        folder.chmod(0o755)
    *pages, saying = done.stdout.splitlines()
    assert len(pages) == 13, done.stderr
    assert all(page.endswith(" True []") for page in pages), pages
    assert "store.sqlite: cannot be written: it is read-only" in saying
