"""Your paper: what a model thinks of the picked sentences, on a click only, marked as its opinion."""

from __future__ import annotations

import re
from typing import Any

import pytest

from evidencebench_core.answers.verdicts import citation_words, verdict_words
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
        app.ask("Judge each sentence")
        assert "are the opinion of tiny" in app.words
        assert len(server.requests) == 4
        app.run()
        assert len(server.requests) == 4
        shown = open_page("paper", kept, paper="sample_cohort", r="lead", k="4", present="1")
        assert "the language model tiny thinks" in shown.words
        assert len(server.requests) == 4
    assert "opinion" not in open_page("paper", paper="sample_cohort", r="lead", k="4").words


ANSWER = "VERDICT: mixed\nANSWER: Night work <b>raises</b> the risk [6, 9]. Nobody knows why [0, 999]."


def answering_and_judging(sent: dict[str, Any]) -> Any:
    text = sent["messages"][-1]["content"]
    return reply(
        f"LABEL: {'supports' if 'raises' in text else 'neutral'}" if "<document>" in text else ANSWER
    )


def test_a_short_answer_rests_on_sentences(open_page: OpenPage) -> None:
    with scripted(answering(answering_and_judging)) as server:
        kept = {"llm.server": server.url, "llm.model": "tiny"}
        app = open_page("paper", kept, paper="sample_cohort", r="lead", k="4")
        assert "What does this paper find on the hypothesis" in app.words
        app.ask("Ask for an answer")
        assert "**Mixed**, it says" in app.words
        assert "nobody has checked it. It also names 1 that" in app.words
        assert len(server.requests) == 1
        assert "say what the answer says? About 3 calls" in app.words
        app.ask("Judge the citations")
        assert "opinion of tiny on each citation" in app.words
        assert len(server.requests) == 4


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
    assert verdict_words("supports") == "▲ supports the hypothesis"
    assert verdict_words("contradicts", plain=True) == "▼ says the opposite"
    assert citation_words(True, "neutral") == "● gold, does not support"
    assert citation_words(False) == "not gold, unchecked"
    assert citation_words(None, None) == "? could not be judged"
    assert verdict_words(None, plain=True) == "? could not check"
