"""A model asked about one paper, through a scripted server."""

import re
from functools import partial
from typing import Any

from evidencebench_core.answers.of_paper import answer_about, stances_of
from evidencebench_core.llm import LLM, Connection, answer_of
from evidencebench_core.papers.find import findings_in, read_content
from evidencebench_core.retrievers import make_retriever
from tests.llm.server import answering, reply, scripted

TEXT = "Tea\n\nAbstract\nTea was drunk.\n\nResults\nTea lowers pressure. Tea raises pressure. Tea is hot. Tea is old."
HYPOTHESIS = "Tea lowers pressure."
LABELS = {"lowers": "supports", "raises": "CONTRADICTS.", "hot": "neutral", "old": "required"}
ANSWER = "VERDICT: mixed\nANSWER: It <b>lowers</b> *pressure* [3, 999]. In some it rises [4]."


def model(sent: dict[str, Any]) -> Any:
    """Judges the sentences of `TEXT` by `LABELS`, and answers about all of it, with a citation too many."""
    text = str(sent["messages"][-1]["content"])
    source = re.search(r"<document>\n(.*)\n</document>", text)
    if source is None:
        return reply(ANSWER)
    (label,) = [label for word, label in LABELS.items() if word in source[1]]
    return reply(f"Because.\nLABEL: {label}")


def test_what_a_model_says_of_a_paper_and_its_sentences() -> None:
    read = read_content(TEXT.encode(), "tea.txt")
    findings = findings_in(read, HYPOTHESIS, make_retriever("lead"), 9)
    about = partial(answer_about, read=read, hypothesis=HYPOTHESIS, focus="results", model="m")
    with scripted(answering(model)) as server:
        llm = LLM(Connection(server.url))
        stances = answer_of(llm, partial(stances_of, findings=findings, model="m"))
        answer = answer_of(llm, about)
        assert len(server.requests) == len(findings.picks) + 1
    assert (findings.picks, stances) == ((3, 4, 5, 6), {3: "supports", 4: "against", 5: "neither"})
    first, second = answer.sentences
    assert (answer.verdict, first.citations, first.n_unknown, first.unknown) == ("mixed", (3,), 1, (999,))
    assert second.citations == (4,)
