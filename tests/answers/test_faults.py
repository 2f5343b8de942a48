"""Faults of BioACE's and MedAESQA's scripts (bioace spec section 9) that no other test is about."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core import retrievers
from evidencebench_core.answers.agreement import label_in
from evidencebench_core.answers.judging import nugget_request, nuggets_question, read_judgement
from evidencebench_core.answers.read import SAMPLE, read_answers
from evidencebench_core.answers.set_judging import set_judge_plan
from evidencebench_core.answers.store import add_answers, stored_answers
from evidencebench_core.data.store import Store, open_store
from evidencebench_core.llm import LLM, Answer, AnswerCache, ChatRequest, Connection, Limits
from evidencebench_core.llm.conversation import result_of
from evidencebench_core.runs import Progress, execute
from tests.llm.server import reply, scripted

REQUEST = ChatRequest("m", ())


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = open_store(tmp_path / "store.sqlite")
    add_answers(store, "sample", read_answers([SAMPLE]))
    return store


def executed(store: Store, llm: LLM, what: Any, model: str, **more: Any) -> Progress:
    plan = set_judge_plan(store, "d" * 64, stored_answers(store, "sample"), what, model, llm=llm, **more)
    *_, last = execute(plan)
    assert last.done == plan.total > 0
    return last


def test_c5_nuggets_are_of_what_the_answer_states() -> None:
    """The original asks for the facts required to answer the question, which the answer may lack."""
    asked = []

    def answer(ask: Any) -> Answer:
        asked.append(" ".join(one.content for one in ask.request.messages))
        return Answer("NUGGETS: NONE")

    result_of(nugget_request(REQUEST, "Does tea help?", "Tea is hot."), answer)
    (text,) = asked
    assert "every fact that the answer states" in text
    assert "Only what the answer itself states: add nothing that you know" in text
    assert not re.search(r"required|needed|necessary|to answer the question", text)


def test_c6_each_task_has_its_own_model_and_needs_no_other(store: Store) -> None:
    """The original lists nuggets by the completeness model, and crashes if that is another or not loaded."""
    with scripted(reply("NUGGETS:\n- Tea helps.")) as server:
        client = LLM(Connection(server.url, "k"), AnswerCache(store), None, Limits(4))
        executed(store, client, "nuggets", "lister", limit=1)
        assert {one.json["model"] for one in server.requests} == {"lister"}
        n_listed = len(server.requests)
        executed(store, client, "relevance", "judge", limit=1)  # the same client
        assert {one.json["model"] for one in server.requests[n_listed:]} == {"judge"}


def test_c10_nothing_is_searched_unless_asked(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The original opens an index of 26.8 million documents whatever is asked."""
    made = []
    make = retrievers.make_retriever
    monkeypatch.setattr(retrievers, "make_retriever", lambda *a, **k: made.append(a) or make(*a, **k))
    with scripted(reply("LABEL: neutral")) as server:
        client = LLM(Connection(server.url, "k"), AnswerCache(store), None, Limits(4))
        for what in ("nuggets", "relevance", "citations", "joined"):
            executed(store, client, what, "j", limit=1)
        executed(store, client, "correctness", "j", limit=1, settings={"prefilter": 0})
        assert made == []
        retrieved = {"prefilter": 0, "documents": "retrieved", "top": 1}
        executed(store, client, "correctness", "j", limit=1, settings=retrieved)
        assert len(made) == 1


def test_c10_every_module_can_be_imported() -> None:
    """The original's functions read globals that are set under ``__main__``; importing does no work (C18, E8)."""
    code = """
import importlib, json, pkgutil, sys
import evidencebench_core.answers as room
for one in pkgutil.iter_modules(room.__path__, room.__name__ + "."):
    importlib.import_module(one.name)
print(json.dumps(sorted(sys.modules)))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"torch", "transformers", "spacy", "bm25s", "pickle5", "onnxruntime"} & set(
        json.loads(run.stdout)
    )


OF_CLAIM = [f"fact {n}" for n in range(20)]


@pytest.mark.parametrize(
    ("claim", "source", "label", "binary"),
    [
        # C19: attributable by one nugget of twenty; the original wants a tenth of them
        (OF_CLAIM, ["fact 7"], "supporting", "attributable"),
        # C28: one nugget is supported and one is not: supporting, not "neutral" as well
        (["fact 1", "fact 2"], ["fact 1", "fact 30"], "supporting", "attributable"),
        (["fact 1", "fact 2"], ["fact 1", "no fact 2"], "contradicting", "not attributable"),
        (["fact 1"], ["fact 30"], "neutral", "not attributable"),
        (["fact 1"], ["a cat"], "not relevant", "not attributable"),
        # C19: no nuggets are no division by zero
        ([], ["fact 1"], "not relevant", "not attributable"),
        (["fact 1"], [], "not relevant", "not attributable"),
    ],
)
def test_c19_c28_one_label_by_nuggets(claim: list[str], source: list[str], label: str, binary: str) -> None:
    """The judge takes the first label of the prompt, in the prompt's order, whose definition fits."""

    def fits(meaning: str, mine: set[str], theirs: set[str]) -> bool:
        if "at least one fact" in meaning and "opposite" in meaning:
            return any(f"no {one}" in theirs for one in mine)
        if "at least one fact" in meaning and "the same" in meaning:
            return bool(mine & theirs)
        on_topic = bool(mine) and any("fact" in one for one in theirs)
        return on_topic if "nothing for or against" in meaning else "something else" in meaning

    listed = iter([claim, source])

    def answer(ask: Any) -> Answer:
        text = ask.request.messages[-1].content
        if "<document_nuggets>" not in text:
            facts = "".join(f"\n- {one}" for one in next(listed))
            return Answer(f"NUGGETS:{facts or ' NONE'}")
        lists = re.findall(r"<(?:document_)?nuggets>\n(.*?)\n</", text, re.DOTALL)
        mine, theirs = ({line for line in one.splitlines() if line != "(no fact)"} for one in lists)
        meanings = re.findall(r"^- ([a-z ]+): (.*)$", text, re.MULTILINE)
        return Answer(f"LABEL: {next(name for name, meaning in meanings if fits(meaning, mine, theirs))}")

    result = result_of(nuggets_question(REQUEST, "claim", "source"), answer)
    assert result is not None
    found = read_judgement(result, "four").label
    assert (found, label_in("binary", str(found))) == (label, binary)
