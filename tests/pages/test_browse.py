"""Browse: a list to search, an instance to read, another hypothesis, links that name what is not there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evidencebench_core.data import Store, ingest
from evidencebench_core.runs import score_run
from tests.factories import written
from tests.pages.app import SAMPLE, OpenPage, finished_runs, stored_run, table_rows

READ = {"instance": "sample_cohort"}
sample = pytest.mark.usefixtures("sample_store")


@sample
def test_a_search_narrows_the_list_and_goes_into_the_address(open_page: OpenPage) -> None:
    app = open_page("browse")
    app.text_input[0].set_value("night shift diabetes")
    assert "1 of 6" in app.run().words
    assert app.address["q"] == "night shift diabetes"
    assert "6 of 6" in app.press("Clear").words
    assert "q" not in app.address


def test_the_recall_of_the_chosen_runs_is_shown_filtered_and_sorted_by(
    open_page: OpenPage, sample_store: Store
) -> None:
    ids = finished_runs(sample_store, "bm25", "abstract-tail")
    here = {"task": "er@10", "runs": f"{ids['bm25']},{ids['abstract-tail']}"}
    recall = score_run(sample_store, ids["bm25"], "er@10").per_instance
    rows = table_rows(open_page("browse", **here, sort=ids["bm25"], desc="1"), "Instances of")
    assert [rows[name]["cells"][1] for name in rows] == sorted(recall.values(), reverse=True)
    middle = sorted(recall.values())[3]
    app = open_page("browse", **here, where=f"{ids['bm25']}:{middle:.3f}-1,n_sentences:1-")
    assert set(table_rows(app, "Instances of")) == {
        name for name, of in recall.items() if of >= middle - 1e-3
    }
    assert app.named("button", "Clear")
    opened = app.run(instance="sample_cohort", where="")
    assert list(table_rows(opened, "Aspect Recall on this instance")) == ["A", "B", "ceiling", "random"]


@sample
def test_an_instance_and_a_sentence_are_flagged_and_found_again(open_page: OpenPage) -> None:
    app = open_page("browse", **READ, sentence="3")
    app.named("checkbox", "⚑ Flag").check()
    app.named("text_input", "Author").set_value("AB")
    app.press("Save")
    assert list(table_rows(open_page("browse", where="noted:Flagged"), "Instances of")) == ["sample_cohort"]
    assert len(table_rows(open_page("browse", where="noted:None"), "Instances of")) == 5


@sample
def test_an_instance_is_read_and_its_neighbour_opened(open_page: OpenPage) -> None:
    app = open_page("browse", **READ, r="bm25~lead", task="er@10")
    assert "Longer cumulative exposure to rotating night" in app.words
    assert "Synthetic paper" in app.words
    assert "1 of 6" in app.words
    app.fill("Instance", 2, "number_input")
    assert app.address["instance"] == "sample_case_control"


@pytest.mark.parametrize(
    ("retriever", "settings"),
    [("evidence-ranker", {"model": "cross-validated", "weights": "0123"}), ("somebody-elses", {})],
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
def test_a_typed_hypothesis_is_scored_only_once_the_reader_says_so(open_page: OpenPage) -> None:
    app = open_page("browse", **READ, h="Night work harms.")
    assert "Not scored" in app.words
    assert "What each pick of bm25 adds" not in app.words
    app.named("checkbox", "Score it as if the gold still applied").check().run()
    assert app.address["asif"] == "1"
    assert "What each pick of bm25 adds" in app.words
    # Another edit asks again.
    app.text_area[0].set_value("Night work helps.").run()
    assert app.address["h"] == "Night work helps."
    assert "asif" not in app.address
    # The agreement belongs to one instance.
    app.checkbox[0].check().run()
    assert {"h", "asif"}.isdisjoint(app.fill("Instance", 2, "number_input").address)


@sample
def test_an_edited_hypothesis_stands_beside_the_original(open_page: OpenPage) -> None:
    edited = dict(READ, r="lead~bm25", system="1", task="er@10", h="Night shifts harm hospital employees")
    app = open_page("browse", **edited, asif="1")
    # the same figures as in the scores of the two hypotheses
    assert "4 picks kept, 6 gained, 6 lost. Aspect Recall was **35.7%** and is **42.9%**." in app.words
    assert (
        "Aspect Recall was" not in open_page("browse", **edited).words
    )  # nobody has said that the gold applies
    ranks = table_rows(app, "Original, Edited")
    assert len(ranks) >= 10


@sample
@pytest.mark.parametrize("r", ["bm25~lead", "lead", ""])
def test_shared_words_are_switched_on_in_the_settings(open_page: OpenPage, r: str) -> None:
    app = open_page("browse", **READ, r=r)
    app.named("toggle", "Underline the words").set_value(True).run()
    assert app.address["words"] == "1"
    assert not app.problems


@sample
def test_ranks_stand_side_by_side_where_there_are_two(open_page: OpenPage) -> None:
    place = {"instance": "sample_cohort", "task": "er@10"}
    assert "Ranks side by side" not in open_page("browse", **place, r="bm25").words
    ranks = table_rows(open_page("browse", **place, r="bm25~abstract-tail~lead"), "Ranks of the picked")
    assert all(len(row["cells"]) == 6 for row in ranks.values())


@pytest.mark.usefixtures("sample_store")
def test_without_result_aspects_a_result_task_is_skipped_not_zero(open_page: OpenPage) -> None:
    app = open_page("browse", instance="sample_exposure", task="result-er@5")
    assert "skipped on Result-ER@5, never scored 0" in app.words


@sample
@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"instance": "sample_cohrt"}, "sample_cohort"),
        ({"dataset": "nowhere", "instance": "x"}, "nowhere"),
        (READ | {"task": "er@zero"}, "er@optimal"),
        (READ | {"r": "bm26"}, "bm25"),
        (READ | {"r": "bm25;k1=lots"}, "k1"),
    ],
)
def test_a_link_to_what_is_not_there_says_so(open_page: OpenPage, params: dict[str, str], said: str) -> None:
    app = open_page("browse", **params)
    assert said in app.problems
    assert not app.run().problems


@sample
def test_a_link_may_name_any_k(open_page: OpenPage) -> None:
    app = open_page("browse", **READ, task="er@7")
    assert "K = 7" in app.words
    assert app.named("selectbox", "Task").value == "er@7"


def test_a_hostile_paper_is_shown_as_text(open_page: OpenPage, empty_store: Store, tmp_path: Path) -> None:
    raw = json.loads(SAMPLE.read_text(encoding="utf-8"))["sample_in_vitro"]
    raw["hypothesis"] = "<script>alert(1)</script> :red[x] $\\sqrt{2}$ [a](http://b.c) ![i](j)"
    raw["paper_as_candidate_pool"][0] = "<img src=x onerror=alert(1)> \u202e\U0001d4ce" + "x" * 20_000
    ingest(empty_store, written({"<b>id</b>": raw}, tmp_path / "hostile.json"))
    app = open_page("browse", instance="<b>id</b>", sentence="0")
    heading = next(element.value for element in app.markdown if element.value.startswith("# "))
    assert all(escaped in heading for escaped in ("\\<script\\>", "\\:red\\[x\\]", "\\$"))
