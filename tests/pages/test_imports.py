"""The app starts without the heavy packages: they come with the first dense retriever."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.pages.conftest import ROOT

_READ_WITH_BM25 = """
import sys
from streamlit.testing.v1 import AppTest

app = AppTest.from_file("app.py", default_timeout=60).run()
app.switch_page("pages/browse.py")
app.query_params["instance"] = "sample_trial"
app.run()
assert not app.exception
app.switch_page("pages/leaderboard.py").run()
assert not app.exception
print(sorted({"torch", "sentence_transformers", "transformers", "sklearn"} & set(sys.modules)))
"""


@pytest.mark.usefixtures("sample_store")
def test_no_page_imports_torch_before_it_is_needed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _READ_WITH_BM25],
        cwd=ROOT,
        env=os.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"
