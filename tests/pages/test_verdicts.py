"""Your paper: what a model thinks of the picked sentences, on a click only, marked as its opinion."""

from __future__ import annotations

import re
from typing import Any

import pytest

from evidencebench_core.answers.verdicts import verdict_words
from tests.llm.server import answering, reply, scripted
from tests.pages.app import OpenPage

pytestmark = pytest.mark.usefixtures("own_places", "sample_store")


def step(sent: dict[str, Any]) -> Any:
    source = re.search(r"<document>\n(.*?)\n</document>", sent["messages"][-1]["content"], re.DOTALL)
    assert source
    label = "contradicts" if "%" in source[1] else "supports" if "risk" in source[1] else "it depends"
    return reply(f"LABEL: {label}")


def test_verdicts_are_asked_for_shown_and_kept(open_page: OpenPage) -> None:
    with scripted(answering(step)) as server:
        kept = {"llm.server": server.url, "llm.model": "tiny"}
        app = open_page("paper", kept, paper="sample_cohort", r="lead", k="4")
        assert "Does each sentence support the hypothesis, or contradict it? About 4 calls" in app.words
        assert not server.requests
        app.ask()
        assert "are the opinion of tiny" in app.words
        assert len(server.requests) == 4
        app.run()
        assert len(server.requests) == 4
        shown = open_page("paper", kept, paper="sample_cohort", r="lead", k="4", present="1")
        assert "the opinion of tiny" in shown.words
        assert len(server.requests) == 4
    assert "opinion" not in open_page("paper", paper="sample_cohort", r="lead", k="4").words


def test_words() -> None:
    assert verdict_words("supports") == "▲ supports the hypothesis"
    assert verdict_words("contradicts", plain=True) == "▼ says the opposite"
    assert verdict_words(None, plain=True) == "? could not check"
