"""The page Reliability: from the empty state to a card, one test with its answers, two models, questions, a run."""

import pytest

from evidencebench_core.data import Store
from evidencebench_core.reliability.read_items import SAMPLE, ingest_items
from evidencebench_core.reliability.runs import judge_plan, reliability_runs, run_plan
from tests.pages.app import OpenPage
from tests.reliability.asking import carry_out

HOSTILE = "<img src=x onerror=alert(1)> **bold** $x$"
ASKED = ("baseline", "paraphrase", "negation", "freeform")


@pytest.fixture
def asked(empty_store: Store) -> Store:
    """The sample, asked of a model that says yes and of one that says what is no label."""
    ingest_items(empty_store, SAMPLE, "sample")
    for model, text, tasks in (("yea", "Yes.", ASKED), (HOSTILE, HOSTILE, ("baseline", "freeform"))):
        for task in tasks:
            plan = run_plan(empty_store, "sample", task, model)
            carry_out(empty_store, plan, lambda _, text=text: text)
            if task == "freeform":
                carry_out(empty_store, judge_plan(empty_store, plan.run_id, "judge"), lambda _: "Yes")
    return empty_store


def test_every_part_draws_what_was_answered_and_text_stays_text(open_page: OpenPage, asked: Store) -> None:
    page = open_page("reliability")
    assert "Model card" in page.words
    for run in reliability_runs(asked, "sample"):
        task, model = run.settings["task"], run.settings["model"]
        page.run(part="test", run=run.id)
        assert not page.problems
        assert "<img" not in page.raw.replace("\\<img", "")
        if task in ("baseline", "paraphrase"):
            assert f"It was right on {12 if model == 'yea' else 0:,} of" in page.words
        if (task, model) == ("negation", "yea"):  # an answer stands beside all that was asked
            page.run(probe="negation sample-01")
            texts = [code.value for code in page.code]
            assert texts[0] == "Yes."
            assert "Mean systolic pressure fell by 0.9 mmHg" in texts[-1]
            assert "12 of 24 answers" in page.run(where="state:right").words
    assert "12 yes, 12 no" in page.run(part="questions").words
    page = open_page("reliability", part="all", model="yea")
    assert not page.problems
    assert "There is no set of questions" in page.run(items="gone").problems
