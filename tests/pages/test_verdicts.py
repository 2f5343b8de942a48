"""Browse: a model's short answer and a judge's opinion of its citations, on a click only."""

from __future__ import annotations

import re
from typing import Any

import pytest

from components.models.short_answer import citation_words
from tests.llm.server import answering, reply, scripted
from tests.pages.app import OpenPage

pytestmark = pytest.mark.usefixtures("own_places", "sample_store")


def answering_and_judging(sent: dict[str, Any]) -> Any:
    if "<document>" not in sent["messages"][-1]["content"]:
        return reply(
            "VERDICT: mixed\nANSWER: Rotation raised the risk [26, 3]. Smoking explains it [20, 400]."
        )
    source = re.search(r"<document>\n(.*?)\n</document>", sent["messages"][-1]["content"], re.DOTALL)
    assert source
    label = "contradicts" if "%" in source[1] else "supports" if "risk" in source[1] else "it depends"
    return reply(f"LABEL: {label}")


@pytest.mark.usefixtures("sample_store")
def test_browse_asks_for_an_answer_and_has_it_judged(open_page: OpenPage) -> None:
    with scripted(answering(answering_and_judging)) as server:
        kept = {"llm.server": server.url, "llm.model": "tiny"}
        app = open_page("browse", kept, instance="sample_cohort", r="lead")
        app.ask("Ask for an answer").ask("Judge the citations")
        assert len(server.requests) == 4
        assert "by a citation that supports its sentence" in app.words
        assert "not gold is not wrong" in app.words
    assert "Ask for an answer" not in open_page("browse", instance="sample_cohort").labels()


def test_words() -> None:
    assert citation_words(True, "neutral") == "gold, ● does not support"
    assert citation_words(False) == "not gold, unchecked"
    assert citation_words(True, None) == "gold, ? could not be judged"
