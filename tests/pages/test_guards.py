"""What goes wrong in a dialog or in a part that is drawn by itself is one line, as on the page."""

from __future__ import annotations

import io
import tomllib

import pytest
from streamlit import config
from streamlit.testing.v1 import AppTest

from components.app.resources import jobs
from components.leaderboard import start
from components.widgets import job_panel as job_panel_module
from evidencebench_core.errors import SettingError
from tests.pages.asking import run_dialog
from tests.pages.conftest import ROOT, OpenPage, texts
from tests.pages.waiting import jobs_ended

REFUSED = SettingError("bm25", "cannot *begin*", "Wait.")


def raising(error: Exception):
    def raised(*args: object) -> None:
        raise error

    return raised


def panel() -> None:
    from components.widgets.job_panel import job_panel

    job_panel("made-up")


def errors(app: AppTest) -> list[str]:
    """The lines that are shown as errors; no uncaught exception is among them."""
    assert not app.exception
    return [str(error.value).replace("\\", "") for error in app.error]


@pytest.mark.usefixtures("sample_store")
def test_in_a_dialog(monkeypatch: pytest.MonkeyPatch, logged: io.StringIO) -> None:
    monkeypatch.setattr(start, "start_run", raising(REFUSED))
    app = AppTest.from_function(run_dialog, args=("sample_data",), default_timeout=60).run()
    app.button(key="run.start").click().run()
    assert errors(app) == [str(REFUSED)]
    assert "Traceback" not in logged.getvalue()
    monkeypatch.setattr(start, "start_run", raising(ZeroDivisionError("1/0")))
    app.button(key="run.start").click().run()
    (line,) = errors(app)
    assert line.startswith("This dialog failed in a way that it should not (ZeroDivisionError).")
    assert "Traceback" in logged.getvalue()


@pytest.mark.usefixtures("empty_store")
def test_in_a_part_that_is_drawn_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_panel_module, "_draw_end", raising(REFUSED))
    jobs().start("made-up", "subject", "A job", lambda job: "done")
    jobs_ended()
    assert errors(AppTest.from_function(panel, default_timeout=60).run()) == [str(REFUSED)]


def test_no_outside_link_is_offered_even_for_a_bug() -> None:
    client = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["client"]
    assert client["showErrorDetails"] == "none"
    assert client["showErrorLinks"] is False
    assert "client.showErrorLinks" in config.get_config_options()  # Streamlit knows it by this name


@pytest.mark.usefixtures("empty_store")
@pytest.mark.parametrize("page", ["leaderboard", "missed", "middle", "wording", "compare", "dataset"])
def test_without_data_a_page_leads_to_home(open_page: OpenPage, page: str) -> None:
    app = open_page(page)
    assert "No dataset is loaded yet" in texts(app)
    assert "Go to Home" in [button.label for button in app.button]
