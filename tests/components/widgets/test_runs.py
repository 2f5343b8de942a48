"""Runs on a page: the link to the reader, their colours."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from components.app.choices import choices_from
from components.widgets import frame_table
from components.widgets.frame_table import joined
from components.widgets.runs import reader_link, run_colours
from components.widgets.table import Column
from evidencebench_core.data import ingest, open_store
from evidencebench_core.export import csv_text
from evidencebench_core.runs import RunStore
from evidencebench_core.tasks import task_named
from tests.pages.app import SAMPLE, finished_runs

TASK = task_named("er@10")


def test_runs_on_a_page() -> None:
    store = open_store()
    dataset = ingest(store, SAMPLE).dataset
    finished_runs(store, "bm25", settings={"k1": 1.2}, tasks=[TASK])
    finished_runs(store, "lead", "oracle", "random", tasks=[TASK])
    runs = RunStore(store).runs("sample_data")

    # the reader opens with as many runs as it can show
    link = reader_link(dataset, TASK, "sample_trial", runs, aspect="A2")
    where = {"dataset": "sample_data", "instance": "sample_trial", "task": "er@10", "aspect": "A2"}
    assert link.items() >= where.items()
    assert [choice.run for choice in choices_from(link["r"], runs)] == list(runs[:3])

    # at the sentence that a row is about, else at the first that covers what the runs missed
    assert "sentence" in link
    assert reader_link(dataset, TASK, "sample_trial", runs, sentence="7")["sentence"] == "7"
    by_name = {run.retriever: run for run in runs}
    instance = store.get("sample_data", "sample_trial")
    covers = instance.evidence.covers("all")
    first = min(sentence for one in covers for sentence in one)
    missed = {"": first}
    for name in ("lead", "oracle"):
        picks = set(RunStore(store).selections(by_name[name].id, TASK.name)["sample_trial"])
        missed[name] = min((sentence for one in covers if not one & picks for sentence in one), default=first)
    assert len(set(missed.values())) == 3
    for shown in (["lead"], ["oracle", "lead"], []):
        link = reader_link(dataset, TASK, "sample_trial", [by_name[name] for name in shown])
        assert link["sentence"] == str(missed["".join(shown[:1])])
    nothing = reader_link(dataset, task_named("result-er@5"), "sample_exposure", runs)
    assert "sentence" not in nothing  # it has no result aspects

    bm25 = runs[0]
    assert len(set(run_colours([replace(bm25, id=str(number)) for number in range(4)]).values())) == 4


def test_a_row_of_instances_says_the_hypothesis(monkeypatch: pytest.MonkeyPatch) -> None:
    store, drawn = open_store(), []
    dataset = ingest(store, SAMPLE).dataset
    monkeypatch.setattr(frame_table, "table", lambda columns, rows, **_: drawn.append((columns, rows)))
    frame = pd.DataFrame({"id": ["sample_trial"], "n": [3]})
    frame_table.instance_table((Column("n", "N", "number"),), frame, (dataset, TASK), (), key="instances")
    ((columns, (row,)),) = drawn
    assert [column.label for column in columns] == ["Hypothesis", "N", "Instance"]
    assert row.cells == (store.get("sample_data", "sample_trial").hypothesis, 3, "sample_trial")


def test_a_table_to_take_away_holds_no_formula() -> None:
    frame = pd.DataFrame(
        {
            "hypothesis": ['=HYPERLINK("x")', "tea \u202e, not wine", ("=far", "near")],
            "difference": [-1, 2, 3],
        }
    )
    lines = csv_text(joined(frame)).encode().split(b"\r\n")
    assert lines == [
        b"hypothesis,difference",
        b'"\'=HYPERLINK(""x"")",-1',
        b'"tea [U+202E], not wine",2',
        b"'=far; near,3",
        b"",
    ]
