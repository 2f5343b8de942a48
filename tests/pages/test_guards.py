"""What every page promises: without data it leads to Home, what goes wrong is one line, torch waits."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tomllib

import pytest
from streamlit import config

from components.app.resources import jobs
from components.runs import start
from components.widgets import job_panel as job_panel_module
from evidencebench_core.errors import SettingError
from tests.pages.app import ROOT, OpenPage, drawn, jobs_ended, start_run

REFUSED = SettingError("bm25", "cannot *begin*", "Wait.")
READ_WITH_BM25 = """
import sys
from streamlit.testing.v1 import AppTest

app = AppTest.from_file("app.py", default_timeout=60).run()
app.switch_page("pages/browse.py")
app.query_params["instance"] = "sample_trial"
app.run()
assert not app.exception
app.switch_page("pages/runs.py").run()
assert not app.exception
print(sorted({"torch", "sentence_transformers", "transformers", "sklearn"} & set(sys.modules)))
"""


def raising(error: Exception):
    def raised(*args: object) -> None:
        raise error

    return raised


@pytest.mark.usefixtures("empty_store")
@pytest.mark.parametrize("page", ["browse", "runs", "analyse"])
def test_without_data_a_page_leads_to_home(open_page: OpenPage, page: str) -> None:
    app = open_page(page)
    assert "No dataset is loaded yet" in app.words
    assert {"Go to Home", "Load a dataset"} & set(app.labels())


@pytest.mark.usefixtures("sample_store")
def test_an_error_in_a_dialog_is_one_line(monkeypatch: pytest.MonkeyPatch, logged: io.StringIO) -> None:
    monkeypatch.setattr(start, "start_run", raising(REFUSED))
    app = drawn(start_run, "sample_data").press("Start")
    assert app.problems == str(REFUSED)
    assert "Traceback" not in logged.getvalue()
    monkeypatch.setattr(start, "start_run", raising(ZeroDivisionError("1/0")))
    problems = app.press("Start").problems
    assert problems.startswith("This dialog failed in a way that it should not (ZeroDivisionError).")
    assert "Traceback" in logged.getvalue()


def panel() -> None:
    from components.widgets.job_panel import job_panel

    job_panel("made-up")


@pytest.mark.usefixtures("empty_store")
def test_an_error_in_a_part_that_is_drawn_by_itself_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_panel_module, "_draw_end", raising(REFUSED))
    jobs().start("made-up", "subject", "A job", lambda job: "done")
    jobs_ended()
    assert drawn(panel).problems == str(REFUSED)


def test_no_outside_link_is_offered_even_for_a_bug() -> None:
    client = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["client"]
    assert client["showErrorDetails"] == "none"
    assert client["showErrorLinks"] is False
    assert "client.showErrorLinks" in config.get_config_options()  # Streamlit knows it by this name


@pytest.mark.usefixtures("sample_store")
def test_no_page_imports_torch_before_it_is_needed() -> None:
    words = [sys.executable, "-c", READ_WITH_BM25]
    done = subprocess.run(words, cwd=ROOT, env=os.environ, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
