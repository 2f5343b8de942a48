"""Browse: with data, without, with links that name what is not there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evidencebench_core.data import Store, ingest
from tests.pages.conftest import SAMPLE, OpenPage, address, press, texts


@pytest.mark.usefixtures("empty_store")
def test_without_data_it_leads_to_home(open_page: OpenPage) -> None:
    app = open_page("browse")
    assert "No dataset is loaded yet" in texts(app)
    assert "Go to Home" in [button.label for button in app.button]


@pytest.mark.usefixtures("sample_store")
def test_a_search_narrows_the_list_and_goes_into_the_address(open_page: OpenPage) -> None:
    app = open_page("browse")
    assert "6 of 6 instances" in texts(app)
    app.text_input[0].set_value("night shift diabetes").run()
    assert "1 of 6 instances" in texts(app)
    assert address(app)["q"] == "night shift diabetes"
    press(app, "Clear all")
    assert "6 of 6 instances" in texts(app)
    assert "q" not in address(app)


@pytest.mark.usefixtures("sample_store")
def test_an_instance_is_read_and_its_neighbour_opened(open_page: OpenPage) -> None:
    app = open_page("browse", instance="sample_cohort", r="bm25~lead", task="er@10")
    assert "Longer cumulative exposure to rotating night" in texts(app)
    assert "Synthetic paper" in texts(app)
    assert "1 of 6" in texts(app)
    press(app, "Next")
    assert address(app)["instance"] == "sample_case_control"
    assert not app.exception


@pytest.mark.usefixtures("sample_store")
def test_a_variant_becomes_the_hypothesis_and_the_gold_is_explained(open_page: OpenPage) -> None:
    app = open_page("browse", instance="sample_cohort")
    press(app, "negation")
    assert "does not increase" in texts(app)
    assert "The gold was made for the original" in texts(app)
    assert "evidence that supported the original now refutes" in texts(app)
    assert "What each pick of bm25 adds" in texts(app)  # of a negation we know that the gold applies
    press(app, "Back to the original")
    assert "The gold was made for the original" not in texts(app)


@pytest.mark.usefixtures("sample_store")
def test_a_typed_hypothesis_is_scored_only_once_the_reader_says_so(open_page: OpenPage) -> None:
    app = open_page("browse", instance="sample_cohort", h="Night work harms.")
    assert "Not scored" in texts(app)
    assert "What each pick of bm25 adds" not in texts(app)
    (agree,) = app.checkbox
    assert agree.label == "Score it as if the gold still applied"
    agree.check().run()
    assert address(app)["asif"] == "1"
    assert "What each pick of bm25 adds" in texts(app)
    assert "Not scored" not in texts(app)
    # Another edit asks again.
    app.text_area[0].set_value("Night work helps.").run()
    assert address(app)["h"] == "Night work helps."
    assert "asif" not in address(app)
    assert "Not scored" in texts(app)
    # The agreement belongs to one instance.
    app.checkbox[0].check().run()
    press(app, "Next")
    assert {"h", "asif"}.isdisjoint(address(app))


@pytest.mark.usefixtures("sample_store")
def test_without_result_aspects_a_result_task_is_skipped_not_zero(open_page: OpenPage) -> None:
    app = open_page("browse", instance="sample_exposure", task="result-er@5")
    assert "skipped on Result-ER@5, never scored 0" in texts(app)


@pytest.mark.usefixtures("sample_store")
@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"instance": "sample_cohrt"}, "sample_cohort"),
        ({"dataset": "nowhere", "instance": "x"}, "sample\\_data"),
        ({"dataset": "nowhere"}, "sample\\_data"),
        ({"instance": "sample_cohort", "task": "er@zero"}, "er\\@optimal"),
        ({"instance": "sample_cohort", "r": "bm26"}, "bm25"),
        ({"instance": "sample_cohort", "r": "bm25;k1=lots"}, "k1"),
    ],
)
def test_a_link_to_what_is_not_there_says_so(open_page: OpenPage, params: dict[str, str], said: str) -> None:
    app = open_page("browse", **params)
    shown = "\n".join(str(e.value) for kind in ("warning", "error") for e in app.get(kind))
    assert said.replace("_", "\\_").replace("\\\\", "\\") in shown


@pytest.mark.usefixtures("sample_store")
def test_any_k_can_be_asked_for(open_page: OpenPage) -> None:
    app = open_page("browse", instance="sample_trial", task="er@7")
    assert "K = 7" in texts(app)
    app.number_input[0].set_value(3).run()
    assert address(app)["task"] == "er@3"
    assert "K = 3" in texts(app)


def test_a_hostile_paper_is_shown_as_text(open_page: OpenPage, empty_store: Store, tmp_path: Path) -> None:
    raw = json.loads(SAMPLE.read_text(encoding="utf-8"))["sample_in_vitro"]
    raw["hypothesis"] = "<script>alert(1)</script> :red[x] $\\sqrt{2}$ [a](http://b.c) ![i](j)"
    raw["paper_as_candidate_pool"][0] = "<img src=x onerror=alert(1)> \u202e\U0001d4ce" + "x" * 20_000
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps({"<b>id</b>": raw}), encoding="utf-8")
    ingest(empty_store, path)
    app = open_page("browse", instance="<b>id</b>", sentence="0")
    heading = next(element.value for element in app.markdown if element.value.startswith("## "))
    assert "\\<script\\>" in heading
    assert "\\:red\\[x\\]" in heading
    assert "\\$" in heading
