"""Runs: started, finished, compared, renamed, imported, and marked where a model has seen what it is scored on."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.runs import start
from evidencebench_core.data import Store, ingest
from evidencebench_core.metrics import ceiling_range
from evidencebench_core.runs import RunStore
from tests.factories import steiner_instance, steiner_triples, written
from tests.pages.app import App, OpenPage, drawn, finished_runs, keep_runs, start_run, table_rows


def test_a_run_is_started_from_the_dialog_and_finishes(open_page: OpenPage, sample_store: Store) -> None:
    app = drawn(start_run, "sample_data")
    app.selectbox(key="run.retriever").set_value("abstract-tail").run()
    app.ask("Start")
    (run,) = RunStore(sample_store).runs("sample_data")
    assert (run.retriever, run.tasks["er@10"], run.tasks["result-er@5"]) == ("abstract-tail", 6, 5)
    row = table_rows(open_page("runs"), "Runs on")[run.id]
    assert (
        len(row["cells"]) == 6
    )  # its name, its id and four tasks: none for the one that no run has answered
    assert None not in row["cells"]


def test_the_runs_of_the_link_are_compared_and_others_are_said_once(
    open_page: OpenPage, sample_store: Store
) -> None:
    ids = finished_runs(sample_store, "bm25", "abstract-tail", "oracle")
    app = open_page("runs", task="er@10", runs=f"{ids['bm25']},{ids['abstract-tail']}", a=ids["bm25"])
    assert app.multiselect[0].value == [ids["bm25"], ids["abstract-tail"]]
    assert app.named("selectbox", "A").value == ids["bm25"]
    assert [label for label in app.labels("expander") if label.startswith("Every pair")]
    app = open_page("runs", runs=f"{ids['bm25']},ffffffffffff")
    assert len(app.warning) == 1
    assert app.address["runs"] == ids["bm25"]
    assert not app.run().warning


def test_a_comparison_begins_with_runs_that_have_seen_no_gold(
    open_page: OpenPage, sample_store: Store
) -> None:
    ids = finished_runs(sample_store, "oracle", "bm25", "abstract-tail")
    assert set(open_page("runs").multiselect[0].value) == {ids["bm25"], ids["abstract-tail"]}


@pytest.mark.parametrize("part", ["slices", "aspects"])
def test_a_pair_is_looked_at_closely(open_page: OpenPage, sample_store: Store, part: str) -> None:
    ids = finished_runs(sample_store, "bm25", "abstract-tail")
    app = open_page("runs", part=part, runs=",".join(ids.values()))
    assert not app.problems
    assert app.address.get("part", "slices") == part


def test_a_hard_cover_has_a_range_for_its_ceiling(
    open_page: OpenPage, empty_store: Store, tmp_path: Path
) -> None:
    ingest(empty_store, written({"steiner": steiner_instance()}, tmp_path / "hard.json"))
    finished_runs(empty_store, "oracle", dataset="hard")
    low, high = ceiling_range(steiner_triples(45), 10) or (1.0, 1.0)
    text = f"at least {100 * low:.1f}%, at most {100 * high:.1f}%"
    assert text in table_rows(open_page("runs", task="er@10"), "Runs on")["Ceiling"]["cells"]


def test_a_run_is_renamed_and_deleted(sample_store: Store) -> None:
    ids = finished_runs(sample_store, "bm25", "lead")
    app = drawn(keep_runs, "sample_data")
    app.selectbox(key="keep.run").set_value(ids["lead"]).run()
    app.fill("Name", "My first").press("Rename")
    assert {run.label for run in RunStore(sample_store).runs()} == {"bm25", "My first"}
    app.named("checkbox", "Delete My first").check()
    app.run().press("Delete")
    assert [run.id for run in RunStore(sample_store).runs()] == [ids["bm25"]]


def test_an_interrupted_run_can_go_on(open_page: OpenPage, sample_store: Store) -> None:
    finished_runs(sample_store, "bm25", limit=2)
    app = open_page("runs")
    assert "Resume bm25" in app.labels()
    (run,) = RunStore(sample_store).runs("sample_data")
    assert {task.name for task in start.unfinished_tasks(run, sample_store.dataset("sample_data"))} == set(
        run.tasks
    )


def import_dialog(dataset: str) -> None:
    """A script: the dialog that imports a run."""
    from components.app.resources import store
    from components.runs.start import import_dialog

    import_dialog(store().dataset(dataset))


def imported(content: str) -> App:
    """The dialog after its button was pressed."""
    app = drawn(import_dialog, "sample_data")
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
