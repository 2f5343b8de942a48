"""Runs: compared, renamed, imported, and marked where a model has seen what it is scored on."""

import threading
from pathlib import Path

import pytest
import streamlit as st

from components import resources
from evidencebench_core.data import Store, ingest, open_store
from evidencebench_core.export.predictions import import_run
from evidencebench_core.retrievers.ranker.model_file import default_model_path, write_model
from evidencebench_core.runs import RunStore, Sample, evaluate, run
from tests.factories import raw_dataset, written
from tests.pages.app import App, OpenPage, drawn, finished_runs, run_dialog, table_rows
from tests.retrievers.ranker.made_up import small_model


def test_the_runs_of_the_link_are_compared(open_page: OpenPage, runs: dict[str, str]) -> None:
    a, b = runs["bm25"], runs["abstract-tail"]
    app = open_page("runs", task="er@10", runs=f"{a},{b}", a=a)
    assert app.multiselect[0].value == [a, b]
    assert app.named("selectbox", "A").value == a
    for part in ("slices", "aspects"):
        assert not app.run(part=part).problems
        assert app.address.get("part", "slices") == part
    app.run(runs=f"{a},ffffffffffff")
    assert len(app.warning) == 1
    assert app.address["runs"] == a
    finished_runs(open_store(), "oracle")
    st.cache_resource.clear()
    assert set(open_page("runs").multiselect[0].value) == set(runs.values())  # those that have seen no gold


def test_a_run_has_a_page(open_page: OpenPage, runs: dict[str, str]) -> None:
    app = open_page("runs", task="er@10").press("About bm25")
    assert app.address["run"] == runs["bm25"]
    assert "k1 = 1.5; b = 0.75" in app.words
    assert len(table_rows(app, "Lowest recall first")) == 6
    assert "run" not in app.press("All runs").address
    assert "There is no run nonsense" in open_page("runs", run="nonsense").problems


def test_part_of_a_run_is_no_result_and_not_resumed_twice(open_page: OpenPage, runs: dict[str, str]) -> None:
    part = run(open_store(), "sample_data", "random", limit=2)
    link = {"task": "er@10", "runs": f"{runs['bm25']},{part.id}"}

    def row(app: App) -> tuple[int, str]:
        rows = table_rows(app, "Runs on")
        return list(rows).index(part.id), rows[part.id]["cells"][2]

    app = open_page("runs", **link)
    assert row(app)[0] == 4  # below the ceiling and three that are whole
    assert row(app)[1].endswith("% on 2 of 6")
    assert "Compared once complete: random 2 of 6." in app.words
    assert not app.get("plotly_chart")
    assert "Resume a run" in app.labels()
    page = open_page("analyse", run=part.id, **link)
    assert page.markdown[0].value.startswith("## Nothing to conclude yet")
    may_end = threading.Event()
    resources.jobs().start("run", f"0/{part.id}", "random", lambda _: str(may_end.wait(60)))
    app.run()
    assert row(app) == (4, "2 of 6")
    assert "Resume a run" not in app.labels()
    may_end.set()
    assert "Resume a run" in app.finish().labels()


def imported(content: str) -> App:
    """The dialog after its button was pressed."""
    app = drawn(run_dialog, "import", "sample_data")
    assert app.named("button", "Import").disabled
    app.file_uploader[0].upload("my run.trec", content.encode(), "application/octet-stream")
    return app.run().fill("Name of the run", "mine").press("Import")


def test_an_upload_becomes_a_run_and_a_bad_one_leaves_nothing(sample_store: Store) -> None:
    ids = sample_store.ids("sample_data")
    lines = [f"{name} Q0 {n} {n + 1} {-n} me" for name in ids for n in range(12)]
    bad = imported("\n".join([*lines, "nonsense"]))
    assert "my run.trec" in bad.problems
    assert not RunStore(sample_store).runs("sample_data")
    assert not imported("\n".join(lines)).problems
    (run,) = RunStore(sample_store).runs("sample_data")
    assert (run.tasks["er@10"], run.tasks["result-er@5"]) == (6, 5)


def test_own_systems_and_samples_everywhere(open_page: OpenPage, sample_store: Store, tmp_path: Path) -> None:
    own = evaluate(
        lambda query: [float(len(text)) for text in query.sentences], "sample_data", name="longest"
    )
    scores = written({"sample_trial": {"0": 2.0, "3": 1.0}}, tmp_path / "scores.json")
    given = import_run(sample_store, "sample_data", scores, "mine")
    drawn_run = run(sample_store, "sample_data", "bm25", sample=Sample(2))
    assert set(own.run.tasks) == set(given.tasks) == set(drawn_run.tasks)
    ids = [own.id, given.id, drawn_run.id]
    for part in ("missed", "position", "wording"):
        app = open_page("analyse", task="er@10", runs=",".join(ids), part=part)
        assert not app.problems
    (button,) = [label for label in app.labels("button") if label.startswith("Ask")]
    assert "(8)" in button  # two instances, four paraphrases
    app = open_page("runs", task="er@10", runs=",".join(ids))
    rows = table_rows(app, "Runs on")
    parts = {name for name, row in rows.items() if "on 1 of 6" in str(row["cells"])}
    assert parts == {given.id}  # the sample is whole
    assert list(rows)[-2] == given.id  # below all that are whole
    assert "Resume a run" not in app.labels()
    read = {"instance": "sample_trial", "task": "er@10", "runs": f"{own.id},{given.id}"}
    assert "What each pick of longest (own)" in open_page("browse", **read).words
    edited = open_page("browse", h="Tea helps.", **read)
    assert edited.words.count("cannot be asked here") == 2
    assert not edited.error


@pytest.mark.usefixtures("hashing_encoder")
def test_a_paper_that_a_model_has_seen_warns(open_page: OpenPage, empty_store: Store, tmp_path: Path) -> None:
    ingest(empty_store, written(raw_dataset(6), tmp_path / "tiny.json"), "tiny")
    keys = empty_store.paper_keys("tiny")
    write_model(small_model(paper_keys=(keys["tiny_0"], keys["tiny_1"])), default_model_path())
    for instance, retriever, n_warnings in (
        ("tiny_0", "evidence-ranker", 1),
        ("tiny_0", "hybrid;of=bm25,evidence-ranker", 1),
        ("tiny_5", "evidence-ranker", 0),
    ):
        app = open_page("browse", dataset="tiny", instance=instance, live=retriever)
        assert app.problems.count("was trained on this paper") == n_warnings
