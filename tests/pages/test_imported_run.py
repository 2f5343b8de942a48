"""A run of one's own: brought in by upload, and on every page that shows runs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from evidencebench_core.data import Store
from evidencebench_core.runs import RunStore, import_run
from tests.pages.app import App, OpenPage, drawn, finished_runs


def import_dialog(dataset: str) -> None:
    """A script: the dialog (AppTest reruns all, a browser the dialog alone)."""
    from components.leaderboard import import_run

    from components.app.resources import named_dataset

    import_run.import_dialog(named_dataset(dataset))


def uploaded(name: str, content: str, called: str = "mine") -> App:
    """The dialog after its button was pressed."""
    app = drawn(import_dialog, "sample_data")
    assert app.named("button", "Import").disabled
    app.file_uploader[0].upload(name, content.encode(), "application/octet-stream")
    return app.run().fill("Name of the run", called).press("Import")


def test_an_upload_becomes_a_run(open_page: OpenPage, sample_store: Store) -> None:
    assert "Import a run" in open_page("leaderboard").labels()
    ids = sample_store.ids("sample_data")
    lines = [f"{one} Q0 {n} {n + 1} {-n} me" for one in ids for n in range(12)]
    assert not uploaded("my run.trec", "\n".join(lines)).problems
    (run,) = RunStore(sample_store).runs("sample_data")
    assert (run.label, run.tasks["er@10"], run.tasks["result-er@5"]) == ("mine (imported)", 6, 5)
    assert "answers for er@10" in uploaded("again.trec", "\n".join(lines)).problems
    app = open_page("leaderboard", task="er@10")
    assert "Resume" not in " ".join(app.labels())


@pytest.mark.parametrize(
    ("name", "content", "called", "said"),
    [
        ("<b>*x*</b>.json", '{"nobody": [1]}', "mine", "<b>*x*</b>.json, 'nobody': is no instance"),
        ("../../x.json", '{"<img src=x>": [1]}', "mine", "'<img src=x>': is no instance"),
        ("..", "a line", "mine", "line 1: has 2 columns"),
        ("x.json", "{}", "mine", "x.json: holds no answer"),
        ("x.json", "{}", "<b>bold</b>", "Use 1 to 80 letters"),
    ],
)
def test_what_is_wrong_is_said_as_it_is_and_nothing_is_kept(
    sample_store: Store, name: str, content: str, called: str, said: str
) -> None:
    app = uploaded(name, content, called)
    assert said in app.problems
    assert not re.search(r"(?<!\\)<(b|img)", app.raw)
    assert RunStore(sample_store).runs() == ()


@pytest.fixture
def runs(sample_store: Store, tmp_path: Path) -> dict[str, str]:
    """Ids of bm25 and of an imported run that answered half of the papers, by retriever."""
    path = tmp_path / "half.json"
    ids = sample_store.ids("sample_data")
    path.write_text(json.dumps({one: list(range(10)) for one in ids[:3]}), encoding="utf-8")
    import_run(sample_store, "sample_data", path, "mine", ["er@10"])
    return finished_runs(sample_store, "bm25")


@pytest.mark.parametrize(
    ("page", "params", "said"),
    [
        ("leaderboard", {"compare": "{bm25},{imported}"}, "over the 3 instances scored in both"),
        ("analyse", {"runs": "{imported}"}, "in 3 instances"),
        ("compare", {"runs": "{bm25},{imported}", "a": "{bm25}", "b": "{imported}"}, "mine (imported)"),
        ("analyse", {"runs": "{imported}", "part": "position"}, "mine (imported)"),
        ("analyse", {"part": "wording"}, ""),
        ("browse", {"r": "@{imported}", "instance": "{first}"}, "mine (imported)"),
        ("browse", {"r": "@{imported}", "instance": "{last}"}, "its system is not here to be asked"),
    ],
)
def test_every_page_shows_it(
    open_page: OpenPage,
    sample_store: Store,
    runs: dict[str, str],
    page: str,
    params: dict[str, str],
    said: str,
) -> None:
    ids = sample_store.ids("sample_data")
    names = {**runs, "first": ids[0], "last": ids[-1]}
    app = open_page(page, task="er@10", **{key: text.format(**names) for key, text in params.items()})
    assert not app.error, app.problems
    assert said in app.words + " ".join(map(str, app.labels("multiselect")))


def test_an_import_of_some_instances_is_no_unfinished_run(open_page: OpenPage, runs: dict[str, str]) -> None:
    app = open_page("leaderboard", task="er@10")
    chart = app.get("plotly_chart")[0].proto.spec
    assert "mine (imported) (answers for 3 of 6)" in chart.replace(r"\u003cbr\u003e", " ")
    assert "unfinished" not in chart


def test_a_run_without_answers_for_the_task_is_named_on_the_leaderboard(
    open_page: OpenPage, runs: dict[str, str]
) -> None:
    said = "Without answers for ER@Optimal: mine (imported) (has ER@10)."
    assert said in open_page("leaderboard").words
    assert said not in open_page("leaderboard", task="er@10").words
