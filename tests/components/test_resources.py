"""What is cached is found again, and never once what it depends on has changed."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st

from components import resources
from components.answers.view import key_of, report_of
from components.browse.answers import Reading, retrieval
from components.reliability.one_test import View
from components.retrievers import Choice
from evidencebench_core.analyses.dataset import dataset_report
from evidencebench_core.analyses.missed import missed
from evidencebench_core.analyses.notes import Note, NoteStore
from evidencebench_core.answers.read import SAMPLE as ANSWERS
from evidencebench_core.answers.read import read_answers
from evidencebench_core.answers.store import ANSWER_SETS, Mark, add_mark
from evidencebench_core.answers.units import units_frame
from evidencebench_core.data import Store, open_store
from evidencebench_core.errors import RetrieverError
from evidencebench_core.perturb import Wording, add_wordings
from evidencebench_core.reliability.items import ITEM_SETS
from evidencebench_core.reliability.read_items import SAMPLE, ingest_items
from evidencebench_core.reliability.runs import reliability_runs, run_plan
from evidencebench_core.retrievers.ranker.model_file import default_model_path, write_model
from evidencebench_core.runs import RunStore
from evidencebench_core.tasks import task_named
from tests.answers.judging import judge_sample
from tests.factories import raw_dataset, store_with
from tests.pages.app import finished_runs
from tests.reliability.asking import carry_out
from tests.retrievers.ranker.made_up import small_model


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """Four invented instances, in the store that the app opens."""
    monkeypatch.setenv("EVIDENCEBENCH_STORE", str(store_with(raw_dataset(4), tmp_path).path))
    st.cache_resource.clear()
    yield open_store()
    st.cache_resource.clear()


def test_scores_wordings_and_notes_follow_the_store(store: Store) -> None:
    tiny, recalls = store.dataset("tiny"), []
    ids = finished_runs(store, "lead", "oracle", dataset="tiny")
    for retriever in ("lead", "oracle"):  # the same run done afresh: as many answers, other ones
        answers = RunStore(store).retrievals(ids[retriever], "er@optimal").items()
        RunStore(store).add(ids["lead"], {name: {"": answer} for name, answer in answers}, replace=True)
        run = RunStore(store).run(ids["lead"])
        report = resources.report(missed, run, task_named("er@optimal"))
        recalls.append((resources.run_score(run, "er@optimal").aspect_recall, len(report.tables["missed"])))
        assert resources.run_score(run, "er@optimal") is resources.run_score(run, "er@optimal")
    assert recalls[0][0] < recalls[1][0] == 1.0
    assert recalls[0][1] > recalls[1][1] == 0

    before = dict(resources.wordings(tiny))
    add_wordings(store, "tiny", [Wording("tiny_0", "paraphrase:mine", "Tea lowers pressure.")], "a file")
    assert resources.wordings(tiny) == before | {"paraphrase:mine": {"tiny_0": "Tea lowers pressure."}}
    assert resources.wordings(tiny) is resources.wordings(tiny)

    for text in ("first", "second"):
        note = NoteStore(store).add(Note(instance_id="tiny_1", author="ml", dataset="tiny", text=text))
        assert resources.notes(tiny) == {"tiny_1": (note,)}
    assert resources.notes(tiny) is resources.notes(tiny)


def test_a_card_and_labels_follow_what_is_answered_and_decided(store: Store) -> None:
    ingest_items(store, SAMPLE, "sample")
    plan, values = run_plan(store, "sample", "baseline", "yea", {}), []
    carry_out(store, plan, lambda _: "Yes.")
    for text in ("Yes.", "Perhaps."):
        units = RunStore(store).done(plan.run_id)
        RunStore(store).add(plan.run_id, {unit: {"": {"text": text}} for unit in units}, replace=True)
        view = View(ITEM_SETS.named(store, "sample"), reliability_runs(store, "sample"))
        values.append([view.report().tables["tests"]["value"][0], view.report(plan.run_id).notes[0]])
    assert values[0][0] != values[1][0]
    assert values[0][1] != values[1][1]

    judge_sample(store)
    (info,) = ANSWER_SETS.all(store)
    frames = []
    for label in ("supports", "contradicts"):
        for unit in units_frame(read_answers([ANSWERS]))["unit"]:
            add_mark(store, info.sha256, Mark(unit, label, author="Ana"))
        frames.append(report_of(info.name, "scripted", "", key_of(info)).tables["figures"])
    assert not frames[0].equals(frames[1])


def test_a_dataset_is_known_by_its_content_and_what_is_handed_out_can_be_changed(store: Store) -> None:
    tiny = store.dataset("tiny")
    instance = resources.instance(tiny, "tiny_0")
    assert resources.instance(replace(tiny, ingested_at="later", source="elsewhere"), "tiny_0") is instance
    assert resources.instance(replace(tiny, sha256="0" * 64), "tiny_0") is not instance
    report = resources.report(dataset_report, tiny)
    report.tables["overview"]["n"] = 0
    assert resources.report(dataset_report, tiny).tables["overview"]["n"].min() == 4
    with pytest.raises(TypeError, match="Store is no argument"):
        resources.report(dataset_report, store)


@pytest.mark.usefixtures("hashing_encoder")
def test_an_answer_depends_on_settings_task_and_model(store: Store) -> None:
    tiny = store.dataset("tiny")
    reading = Reading(tiny, resources.instance(tiny, "tiny_0"), "Tea is hot.", task_named("er@10"))
    answer = retrieval(reading, Choice("bm25"))
    assert retrieval(replace(reading), Choice("bm25")) is answer
    assert retrieval(reading, Choice("bm25", {"k1": 0.5})) is not answer
    assert len(retrieval(replace(reading, task=task_named("er@3")), Choice("bm25")).selection) == 3
    rankings = []
    for feature in ("place in paper", "from section's end"):
        write_model(small_model(feature), default_model_path())  # another model, another answer
        rankings.append(retrieval(reading, Choice("evidence-ranker")).ranking)
    assert rankings[0][0] == 11 != rankings[1][0]
    with pytest.raises(RetrieverError, match="is not asked by itself"):  # what may cost
        retrieval(reading, Choice("llm", {"model": "tiny"}))
