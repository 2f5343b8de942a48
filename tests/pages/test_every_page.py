"""Every page on every kind of store, links that name what is not there, and what goes wrong: never an exception."""

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit import config

from components.jobs import JobBoard
from components.state import CONTEXT
from evidencebench_core.answers.read import SAMPLE as ANSWERS
from evidencebench_core.answers.read import read_answers
from evidencebench_core.answers.store import add_answers
from evidencebench_core.data import Store, ingest
from evidencebench_core.errors import SettingError
from evidencebench_core.papers import Doubt
from evidencebench_core.papers.own import OwnPapers
from evidencebench_core.papers.read import paper_of_file
from evidencebench_core.reliability.items import add_items
from evidencebench_core.reliability.read_items import SAMPLE as ITEMS
from evidencebench_core.reliability.read_items import read_items
from evidencebench_core.runs import RunStore
from tests.factories import written
from tests.pages.app import ROOT, SAMPLE, OpenPage, drawn, finished_runs, raising, run_dialog

HOSTILE = "<b>nonsense</b> :red[x] $a$ ![i](j)"
PAGES = {  # the page, and the button that leads on from an empty store
    "home": "Load the sample papers",
    **dict.fromkeys(("browse", "runs", "analyse", "annotate"), "Load a dataset"),
    "paper": "Read the text",
    "reliability": "Load the 24 sample questions",
    "answers": "Load the sample answers",
}
READ = {"instance": "sample_cohort"}
OWN = {"paper": "1", "r": "bm25"}
MORE = {  # parts of a page that hostile names stand in too
    "home": [{"shown": HOSTILE}],
    "browse": [{"instance": HOSTILE, "sentence": "0", "aspect": "A1"}],
    "runs": [{"part": "aspects"}],
    "analyse": [{"part": part} for part in ("missed", "verdicts", "position", "wording")],
    "paper": [OWN, OWN | {"present": "1"}, {"paper": "", "over": "kept"}],
    "annotate": [{"paper": "1"}, {"annotator": HOSTILE}, {"view": "compare"}],
    "reliability": [{"part": "test"}, {"part": "questions"}],
    "answers": [*({"part": part} for part in ("answer", "judges", "differ", "set")), {"about": "hypotheses"}],
}
LINKS: list[tuple[str, dict[str, str], str]] = [  # page, parameters, what its warning names
    ("home", {"shown": HOSTILE}, "nonsense"),
    *((page, dict.fromkeys(CONTEXT, HOSTILE), "nonsense") for page in ("browse", "runs", "analyse")),
    *((page, {"part": HOSTILE}, "nonsense") for page in ("runs", "analyse")),
    ("browse", {"instance": "sample_cohrt"}, "sample_cohort"),  # the near one
    ("browse", READ | {"live": "bm26"}, "bm25"),
    ("browse", READ | {"live": "bm25;k1=lots"}, "k1"),
    *(("paper", params, "") for params in ({"paper": "77"}, {"paper": "open-0"}, {"over": "77,open-1"})),
    *(("annotate", {"paper": paper}, "") for paper in ("77", "own:x", "instance:abc:1", "nothing")),
]  # fmt: skip


@pytest.mark.parametrize(("page", "button"), PAGES.items())
def test_on_an_empty_store_one_button_leads_on(open_page: OpenPage, page: str, button: str) -> None:
    app = open_page(page)
    assert not app.error
    app.ask(button)
    assert not app.problems or page == "paper"  # there is no text to read
    if "sample" in button:
        assert button not in app.labels()
    if page == "home":
        assert "6 instances, loaded as sample_data, with runs of bm25, abstract-tail, lead" in app.words


@pytest.mark.parametrize("page", PAGES)
def test_any_name_is_only_text(open_page: OpenPage, empty_store: Store, tmp_path: Path, page: str) -> None:
    """Of datasets, instances, runs, papers, sets, people and models, in all that Streamlit reads as Markdown."""
    raw = json.loads(SAMPLE.read_text("utf-8"))["sample_in_vitro"] | {"hypothesis": f"{HOSTILE} \u202e"}
    raw["paper_as_candidate_pool"][0] = "<img src=x onerror=alert(1)> \u202e\U0001d4ce" + "x" * 20_000
    ingest(empty_store, written({HOSTILE: raw}, tmp_path / "hostile.json"), HOSTILE)
    for run in finished_runs(empty_store, "bm25", "abstract-tail", dataset=HOSTILE).values():
        RunStore(empty_store).rename(RunStore(empty_store).run(run), f"{HOSTILE} {run}")
    doubts = (Doubt(HOSTILE, 2, HOSTILE),)
    paper = replace(paper_of_file(b"# Tea\n\nPressure fell.\n", HOSTILE), title=HOSTILE, doubts=doubts)
    OwnPapers(empty_store).save(paper, HOSTILE, HOSTILE)
    add_items(empty_store, HOSTILE, read_items(ITEMS)[1])
    add_answers(empty_store, HOSTILE, read_answers([ANSWERS]), HOSTILE)
    app = open_page(page, kept={"author": HOSTILE, "llm.model": HOSTILE})
    for more in ({}, *MORE.get(page, ())):
        assert not app.run(**more).error
        assert ":red[x]" not in app.marked
    assert "\u202e" not in app.raw + json.dumps(app.component_data, ensure_ascii=False)
    if page == "browse":
        heading = next(element.value for element in app.markdown if element.value.startswith("# "))
        assert all(escaped in heading for escaped in ("\\<b\\>", "\\:red\\[x\\]", "\\$a\\$", "\\!\\[i\\]"))

    if page == "runs":
        assert ":red[x]" not in app.press("About").marked
        for dialog in ("start", "resume", "import"):
            assert ":red[x]" not in drawn(run_dialog, dialog, HOSTILE).marked


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(("page", "params", "name"), LINKS)
def test_a_dead_link_says_so_once(open_page: OpenPage, page: str, params: dict[str, str], name: str) -> None:
    app = open_page(page, **params)
    warnings = [text for text in app.problems.splitlines() if name in text]
    assert len(warnings) == (len(params) if name == "nonsense" else 1)
    assert not app.error
    assert not name or name not in app.run().problems


REFUSED = SettingError("bm25", "cannot *begin*", "Wait.")


@pytest.mark.usefixtures("sample_store")
def test_a_dialog_fails_in_a_line(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(JobBoard, "start", raising(REFUSED))
    app = drawn(run_dialog, "start", "sample_data").press("Start")
    assert app.problems == str(REFUSED)
    assert "Traceback" not in caplog.text
    monkeypatch.setattr(JobBoard, "start", raising(ZeroDivisionError("1/0")))
    app.named("button", "Start").click()
    app.test.run()
    problems = app.problems
    assert problems.startswith("This dialog failed unexpectedly (ZeroDivisionError).")
    assert "Traceback" in caplog.text
    client = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["client"]
    assert (client["showErrorDetails"], client["showErrorLinks"]) == ("none", False)  # nor is it sent on
    assert "client.showErrorLinks" in config.get_config_options()  # Streamlit knows it by this name
