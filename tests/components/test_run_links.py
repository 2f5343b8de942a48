"""Runs on a page: the link to the reader, their colours, the difference of two."""

from dataclasses import replace

import pandas as pd
import streamlit as st

from components.run_links import reader_link, run_colours
from components.runs.pair import both_ways
from evidencebench_core.data import ingest, open_store
from evidencebench_core.runs import RunStore
from evidencebench_core.tasks import task_named
from tests.pages.app import SAMPLE, finished_runs

TASK = task_named("er@10")


def test_the_link_to_the_reader_and_colours() -> None:
    st.cache_resource.clear()  # another test's store
    store = open_store()
    dataset = ingest(store, SAMPLE).dataset
    finished_runs(store, "bm25", settings={"k1": 1.2}, tasks=[TASK])
    finished_runs(store, "lead", "oracle", "random", tasks=[TASK])
    runs = RunStore(store).runs("sample_data")

    # runs that the reader begins with stay unchosen; others come first
    shown = [run for run in runs if run.retriever != "oracle"]
    (oracle,) = set(runs) - set(shown)
    link = reader_link(dataset, TASK, "sample_trial", shown[1:], aspect="A2", sentence="7")
    where = {"dataset": "sample_data", "instance": "sample_trial", "task": "er@10", "aspect": "A2"}
    assert link == {**where, "sentence": "7", "system": "1"}
    link = reader_link(dataset, TASK, "sample_trial", [oracle, shown[0]])
    assert link["runs"] == f"{oracle.id},{shown[0].id}"
    assert "system" not in link
    assert len(set(run_colours([replace(runs[0], id=str(number)) for number in range(4)]).values())) == 4


def test_a_pair_turned_round_changes_sides_and_sign() -> None:
    names = {"a": "x", "b": "y", "label_a": "X", "label_b": "Y", "n": 9, "p_holm": 0.2, "ties": 3}
    pair = names | {"difference": 0.1, "low": -0.05, "high": 0.3, "wins": 4, "losses": 2}
    turned = names | {"a": "y", "b": "x", "label_a": "Y", "label_b": "X"}
    turned |= {"difference": -0.1, "low": -0.3, "high": 0.05, "wins": 2, "losses": 4}
    assert both_ways(pd.DataFrame([pair])).to_dict("records") == [pair, turned]
