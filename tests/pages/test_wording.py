"""Wording: without data, without wordings, with runs missing, and with all of them."""

from __future__ import annotations

import pytest

from evidencebench_core.analyses.variant_runs import Setup, run_variants
from evidencebench_core.analyses.wording import WORDING_VARIANTS
from evidencebench_core.data import Store
from evidencebench_core.tasks import task_named
from tests.pages.app import OpenPage


def answer(store: Store, question: str, *retrievers: str) -> None:
    for retriever in retrievers:
        system = Setup("sample_data", retriever, {}, task_named("er@optimal"))
        for _ in run_variants(store, system, (None, *WORDING_VARIANTS[question](store, "sample_data"))):
            pass


@pytest.mark.usefixtures("sample_store")
def test_what_is_missing_is_said_and_asked_in_the_background(open_page: OpenPage) -> None:
    app = open_page("wording", r="lead")
    assert "have no answer yet" in app.words
    app.ask("Ask what is missing")
    assert "have no answer yet" not in app.words
    assert "0 of 6 instances" in app.words  # lead does not read the hypothesis


def test_paraphrases_with_one_instance_side_by_side(open_page: OpenPage, sample_store: Store) -> None:
    answer(sample_store, "paraphrases", "bm25", "lead")
    app = open_page("wording", r="bm25~lead", instance="sample_cohort")
    assert not app.error
    assert "sample_cohort: the rankings of bm25 side by side" in app.words
    assert "Spread (highest" in app.words
    assert "Published figures (appendix F): other instances, other systems" in app.labels("expander")
    assert len(app.get("plotly_chart")) == 2
    assert "is not in dataset" in open_page("wording", r="bm25~lead", instance="nobody").words


@pytest.mark.parametrize(
    ("question", "text"), [("negation", "evidence that supported the original now refutes"), ("spelling", "")]
)
def test_the_other_questions(open_page: OpenPage, sample_store: Store, question: str, text: str) -> None:
    answer(sample_store, question, "bm25")
    app = open_page("wording", question=question)
    assert not app.error
    assert text in app.words
    assert app.get("plotly_chart")


@pytest.mark.usefixtures("sample_store")
@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"question": "grammar"}, "There is no question grammar"),
        ({"r": ""}, "Choose at least one retriever"),
        ({"r": "bm26"}, "bm25"),
        ({"dataset": "nowhere"}, "nowhere"),
    ],
)
def test_links_to_what_is_not_there(open_page: OpenPage, params: dict[str, str], said: str) -> None:
    assert said in open_page("wording", **params).words
