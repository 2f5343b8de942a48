"""What is cached is found again, and never once what it depends on has changed."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st

from components.app import resources
from components.app.choices import Choice
from components.app.reading import Reading, retrieval
from evidencebench_core.analyses.notes import Note, NoteStore
from evidencebench_core.data import Store, open_store
from evidencebench_core.errors import RetrieverError
from evidencebench_core.perturb import Wording, add_wordings
from evidencebench_core.retrievers.ranker.model_file import default_model_path, write_model
from evidencebench_core.runs import RunStore
from evidencebench_core.tasks import task_named
from tests.factories import raw_dataset, store_with
from tests.pages.app import finished_runs
from tests.retrievers.ranker.made_up import small_model


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """Four invented instances, in the store that the app opens."""
    monkeypatch.setenv("EVIDENCEBENCH_STORE", str(store_with(raw_dataset(4), tmp_path).path))
    st.cache_resource.clear()
    yield open_store()
    st.cache_resource.clear()


def test_a_dataset_is_known_by_its_name_and_content(store: Store) -> None:
    tiny = store.dataset("tiny")
    instance = resources.instance(tiny, "tiny_0")
    assert resources.instance(replace(tiny, ingested_at="later", source="elsewhere"), "tiny_0") is instance
    assert resources.instance(replace(tiny, sha256="0" * 64), "tiny_0") is not instance


def test_scores_wordings_and_notes_follow_the_store(store: Store) -> None:
    tiny = store.dataset("tiny")
    for limit in (2, 4):
        finished_runs(store, "lead", dataset="tiny", limit=limit)
        (run,) = RunStore(store).runs("tiny")
        assert resources.run_score(run, "er@10").n_scored == limit
        assert resources.run_score(run, "er@10") is resources.run_score(run, "er@10")

    before = dict(resources.wordings(tiny))
    add_wordings(store, "tiny", [Wording("tiny_0", "paraphrase:mine", "Tea lowers pressure.")], "a file")
    assert resources.wordings(tiny) == before | {"paraphrase:mine": {"tiny_0": "Tea lowers pressure."}}
    assert resources.wordings(tiny) is resources.wordings(tiny)
    assert resources.wording_origins(tiny)["paraphrase:mine", "tiny_0"] == "a file"

    for text in ("first", "second"):
        note = NoteStore(store).add(Note(instance_id="tiny_1", author="ml", dataset="tiny", text=text))
        assert resources.notes(tiny) == {"tiny_1": (note,)}
    assert resources.notes(tiny) is resources.notes(tiny)


@pytest.mark.usefixtures("hashing_encoder")
def test_an_answer_depends_on_retriever_settings_hypothesis_task_and_model(store: Store) -> None:
    tiny = store.dataset("tiny")
    reading = Reading(tiny, resources.instance(tiny, "tiny_0"), "Tea is hot.", task_named("er@10"))
    answer = retrieval(reading, Choice("bm25"))
    assert retrieval(replace(reading), Choice("bm25")) is answer
    others = [
        retrieval(reading, Choice("bm25", {"k1": 0.5})),
        retrieval(replace(reading, hypothesis="Nobody slept."), Choice("bm25")),
        retrieval(replace(reading, task=task_named("er@3")), Choice("bm25")),
        retrieval(reading, Choice("lead")),
    ]
    assert all(other is not answer for other in others)
    assert len(others[2].selection) == 3
    rankings = []
    for feature in ("place in paper", "from section's end"):
        write_model(small_model(feature), default_model_path())  # another model, another answer
        rankings.append(retrieval(reading, Choice("evidence-ranker")).ranking)
    assert rankings[0][0] == 11 != rankings[1][0]
    with pytest.raises(RetrieverError, match="is not asked by itself"):  # what may cost
        retrieval(reading, Choice("llm", {"model": "tiny"}))
