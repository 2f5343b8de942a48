"""Browse: a model's answer beside the paper, with its citations."""

from __future__ import annotations

from typing import Any

import pytest

from evidencebench_core.answers.asking import answer_plan
from evidencebench_core.data import Store
from evidencebench_core.llm import LLM, Connection
from evidencebench_core.runs import execute
from tests.llm.server import answering, reply, scripted
from tests.pages.app import OpenPage

READ = {"instance": "sample_cohort"}


def step(_: dict[str, Any]) -> Any:
    return reply(
        "VERDICT: supports\nANSWER: Night work raises the risk <b>by half</b> [6, 0]. So it is [2, 999]."
    )


@pytest.mark.usefixtures("sample_store")
def test_the_answer_and_its_citations(sample_store: Store, open_page: OpenPage) -> None:
    assert "Answer by" not in open_page("browse", **READ).words
    with scripted(answering(step)) as server:
        llm = LLM(Connection(server.url, "k"), sample_store)
        plan = answer_plan(sample_store, "sample_data", "gpt-x", limit=2, llm=llm)
        list(execute(plan))
    words = open_page("browse", **READ).words
    assert "Supports" in words
    assert "citations are gold" in words
    assert "not in the paper, and left out: 1" in words
    assert (
        "was not asked about this instance"
        in open_page("browse", instance=sample_store.ids("sample_data")[-1]).words
    )
