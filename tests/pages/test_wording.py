"""Wording: without data, without wordings, with runs missing, and with all of them."""

from __future__ import annotations

import pytest

from evidencebench_core.analyses.variant_runs import Setup, run_variants
from evidencebench_core.analyses.wording import WORDING_VARIANTS
from evidencebench_core.data import Store
from evidencebench_core.tasks import task_named
from tests.pages.asking import click
from tests.pages.conftest import OpenPage, texts
from tests.pages.waiting import jobs_ended


def asked(store: Store, question: str, *retrievers: str) -> None:
    for retriever in retrievers:
        system = Setup("sample_data", retriever, {}, task_named("er@optimal"))
        for _ in run_variants(store, system, (None, *WORDING_VARIANTS[question](store, "sample_data"))):
            pass


@pytest.mark.usefixtures("sample_store")
def test_what_is_missing_is_said_and_asked_in_the_background(open_page: OpenPage) -> None:
    app = open_page("wording", r="lead")
    assert "have no answer yet" in texts(app)
    click(app, "Ask what is missing")
    jobs_ended()
    app.run()
    assert not app.exception
    assert "have no answer yet" not in texts(app)
    assert "0 of 6 instances" in texts(app)  # lead does not read the hypothesis


def test_paraphrases_with_one_instance_side_by_side(open_page: OpenPage, sample_store: Store) -> None:
    asked(sample_store, "paraphrases", "bm25", "lead")
    app = open_page("wording", r="bm25~lead", instance="sample_cohort")
    assert not app.error
    assert "Instance by instance" in texts(app)
    assert "sample\\_cohort: the rankings of bm25 side by side" in texts(app)
    assert "Spread (highest" in texts(app)
    assert "Published figures (appendix F): other instances, other systems" in [e.label for e in app.expander]
    assert len(app.get("plotly_chart")) == 2
    assert "is not in dataset" in texts(open_page("wording", r="bm25~lead", instance="nobody"))


def test_negation_says_why_gold_stays(open_page: OpenPage, sample_store: Store) -> None:
    asked(sample_store, "negation", "bm25")
    app = open_page("wording", question="negation")
    assert "evidence that supported the original now refutes" in texts(app)
    folds = [fold.label for fold in app.expander]
    assert "Published figures (section 5.2): other instances, other systems" in folds


def test_spelling_needs_no_wordings_of_the_data(open_page: OpenPage, sample_store: Store) -> None:
    asked(sample_store, "spelling", "bm25")
    app = open_page("wording", question="spelling")
    assert not app.error
    assert len(app.get("plotly_chart")) == 1


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
    app = open_page("wording", **params)
    assert not app.exception
    assert said in texts(app)
