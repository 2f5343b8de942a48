"""Browse: a list to search, an instance to read, another hypothesis."""

import pytest

from evidencebench_core.analyses.notes import Note, NoteStore
from evidencebench_core.data import Store, open_store
from evidencebench_core.retrievers import Retrieval, Setting
from evidencebench_core.runs import RunStore, retrieval_spec, score_run
from tests.pages.app import OpenPage, table_rows

READ = {"instance": "sample_cohort"}
sample = pytest.mark.usefixtures("sample_store")


def test_the_list_is_searched_filtered_and_sorted_by_the_recall_of_runs(
    open_page: OpenPage, runs: dict[str, str]
) -> None:
    app = open_page("browse")
    app.text_input[0].set_value("night shift diabetes")
    assert "1 of 6" in app.run().words
    assert app.address["q"] == "night shift diabetes"
    assert "6 of 6" in app.press("Clear").words
    assert "q" not in app.address
    here = {"task": "er@10", "runs": f"{runs['bm25']},{runs['abstract-tail']}"}
    recall = score_run(open_store(), runs["bm25"], "er@10").per_instance
    rows = table_rows(app.run(**here, sort=runs["bm25"], desc="1"), "Instances of")
    assert [rows[name]["cells"][1] for name in rows] == sorted(recall.values(), reverse=True)
    least = sorted(recall.values())[3] - 1e-3
    app.run(where=f"{runs['bm25']}:{least:.3f}-1,n_sentences:1-")
    assert set(table_rows(app, "Instances of")) == {name for name, of in recall.items() if of >= least}
    flag = Note(instance_id="sample_trial", author="ml", dataset="sample_data", flagged=True)
    NoteStore(open_store()).add(flag)
    assert list(table_rows(app.run(where="noted:Flagged"), "Instances of")) == ["sample_trial"]
    assert len(table_rows(app.run(where="noted:None"), "Instances of")) == 5
    app.run(instance="sample_cohort", where="")
    assert list(table_rows(app, "Aspect Recall on this instance")) == ["A", "B", "ceiling", "random"]


@sample
def test_an_instance_is_read_and_its_neighbour_opened(open_page: OpenPage) -> None:
    assert "Ranks side by side" not in open_page("browse", **READ, r="bm25").words
    app = open_page("browse", **READ, r="bm25~lead", task="er@7")
    assert all(len(row["cells"]) == 5 for row in table_rows(app, "Ranks of the picked").values())
    for text in ("Longer cumulative exposure to rotating night", "Synthetic paper", "1 of 6", "K = 7"):
        assert text in app.words, text
    assert app.named("selectbox", "Task").value == "er@7"
    app.named("toggle", "Underline the words").set_value(True).run()
    assert app.address["words"] == "1"
    assert not app.problems
    app.fill("Instance", 2, "number_input")
    assert app.address["instance"] == "sample_case_control"
    # without result aspects a result task is skipped, not zero
    assert (
        "skipped on Result-ER@5, never scored 0"
        in app.run(instance="sample_exposure", task="result-er@5").words
    )


def stored_run(store: Store, retriever: str, picks: tuple[int, ...], **settings: Setting) -> str:
    """Id of a run that picked the same in every sample paper, and whose retriever need not be there."""
    run = retrieval_spec(store.dataset("sample_data").sha256, retriever, settings, {})
    RunStore(store).create(run)
    for instance_id in store.ids("sample_data"):
        RunStore(store).add(run.id, {instance_id: {"er@10": Retrieval(picks, ())}})
    return run.id


@pytest.mark.parametrize(
    ("retriever", "settings"),
    [("evidence-ranker", {"model": "cross-validated"}), ("somebody-elses", {})],
)
def test_a_run_opens_with_its_stored_picks_though_nobody_can_be_asked(
    open_page: OpenPage, sample_store: Store, retriever: str, settings: dict[str, str]
) -> None:
    run = stored_run(sample_store, retriever, (7, 3), **settings)
    params = {**READ, "task": "er@10", "sentence": "3"}
    app = open_page("browse", r=f"bm25~@{run}", system="1", **params)
    assert not app.problems
    assert f"What each pick of {retriever}" in app.words
    assert "rank 2 of 2, picked" in app.words
    edited = open_page("browse", r=f"@{run}", h="Tea helps.", **params)
    assert "has no stored answer to this hypothesis" in edited.words
    assert edited.problems


@sample
def test_a_variant_becomes_the_hypothesis_and_the_gold_is_explained(open_page: OpenPage) -> None:
    app = open_page("browse", **READ).press("negation")
    assert "does not increase" in app.words
    assert "The gold was made for the original" in app.words
    assert "What each pick of bm25 adds" in app.words  # of a negation we know that the gold applies
    assert "The gold was made for the original" not in app.press("Back to the original").words


@sample
def test_a_typed_hypothesis_is_scored_beside_the_original_only_once_the_reader_says_so(
    open_page: OpenPage,
) -> None:
    edited = dict(READ, r="lead~bm25", system="1", task="er@10", h="Night shifts harm hospital employees")
    app = open_page("browse", **edited)
    assert "Not scored" in app.words
    assert "Aspect Recall was" not in app.words
    app.named("checkbox", "Score it as if the gold still applied").check().run()
    assert app.address["asif"] == "1"
    # the same figures as in the scores of the two hypotheses
    assert "4 picks kept, 6 gained, 6 lost. Aspect Recall was **35.7%** and is **42.9%**." in app.words
    assert len(table_rows(app, "Original, Edited")) >= 10
    # another edit asks again
    app.text_area[0].set_value("Night work helps.").run()
    assert app.address["h"] == "Night work helps."
    assert "asif" not in app.address
    # the agreement belongs to one instance
    app.checkbox[0].check().run()
    assert {"h", "asif"}.isdisjoint(app.fill("Instance", 2, "number_input").address)
