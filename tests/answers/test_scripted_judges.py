"""Judges behind a scripted server on the sample set, each metric against code that knows nothing of ours."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evidencebench_core.answers.agreement import human_units, judge_agreement
from evidencebench_core.answers.correctness import correctness, joined_scores, said_in
from evidencebench_core.answers.judged import judge_labels
from evidencebench_core.answers.read import SAMPLE, read_answers
from evidencebench_core.answers.set_judging import set_judge_plan
from evidencebench_core.answers.store import add_answers, stored_answers
from evidencebench_core.answers.systems import judged_labels, ranking, system_scores
from evidencebench_core.data.store import Store, open_store
from evidencebench_core.llm import LLM, AnswerCache, Connection, Limits
from evidencebench_core.runs import ChatPlan, ChatRuns, execute
from tests.llm.server import answering, reply, scripted

LINES = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
DOCUMENTS = {one["document_id"]: one for one in LINES if one["kind"] == "document"}
ANSWERS = [one for one in LINES if one["kind"] == "answer"]
CITATIONS = [
    (answer, sentence, document)
    for answer in ANSWERS
    for sentence in answer["sentences"]
    for document in dict.fromkeys(one["document"] for one in sentence.get("assessments", ()))
    if document in DOCUMENTS
]
Judge = Callable[[str, str], str]  # claim and source to label


def source_of(document: str) -> str:
    one = DOCUMENTS[document]
    return " ".join([one["title"], *one["sentences"]])


def claim_of(text: str) -> str:
    return re.sub(r"\s*\[[\d, ]+\]", "", text)


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def by_overlap(claim: str, source: str) -> str:
    return "supports" if len(words(claim) & words(source)) >= 0.6 * len(words(claim)) else "neutral"


def truth_of(answer: Any, sentence: Any, document: str) -> str:
    """Of people: supports if any, else contradicts if any."""
    said = {one["relation"] for one in sentence["assessments"] if one["document"] == document}
    kinds = {"supporting": "supports", "contradicting": "contradicts"}
    return next((label for relation, label in kinds.items() if relation in said), "neutral")


TRUTH = {(claim_of(s["text"]), source_of(d)): truth_of(a, s, d) for a, s, d in CITATIONS}
JUDGES: dict[str, Judge] = {
    "always": lambda *_: "supports",
    "overlap": by_overlap,
    "truth": lambda claim, source: TRUTH[claim, source],
}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = open_store(tmp_path / "store.sqlite")
    add_answers(store, "sample", read_answers([SAMPLE]))
    return store


def plan_at(store: Store, url: str, what: Any = "citations", **more: Any) -> ChatPlan:
    llm = LLM(Connection(url, "k"), AnswerCache(store), None, Limits(4))
    return set_judge_plan(store, "d" * 64, stored_answers(store, "sample"), what, "j", llm=llm, **more)


def saying(judge: Judge) -> Any:
    def step(sent: dict[str, Any]) -> Any:
        text = sent["messages"][-1]["content"]
        pair = re.findall(r"<(?:sentence|document)>\n(.*?)\n</", text, re.DOTALL)
        return reply(f"The source {pair[1][:9]} says LABEL: contradicts.\nLABEL: {judge(*pair)}")

    return answering(step)


@pytest.mark.parametrize("name", JUDGES)
def test_every_metric_is_that_of_other_code(store: Store, name: str) -> None:
    judge = JUDGES[name]
    with scripted(saying(judge)) as server:
        plan = plan_at(store, server.url)
        list(execute(plan))
    answers, labels = stored_answers(store, "sample"), judge_labels(store, ChatRuns(store).run(plan.run_id))
    said = {
        f"{a['question_id']}/{a['system']}/{s['id']}/{d}": judge(claim_of(s["text"]), source_of(d))
        for a, s, d in CITATIONS
    }
    assert labels == said  # each label is of its own citation (fault C12)
    scores = system_scores(answers, judged_labels(answers, None, labels))
    for system in answers.systems:
        for answer in (one for one in ANSWERS if one["system"] == system):
            own = [
                [
                    label
                    for unit, label in said.items()
                    if unit.startswith(f"{answer['question_id']}/{system}/{s['id']}/")
                ]
                for s in answer["sentences"]
            ]
            every = [label for one in own for label in one]
            wanted = {
                "coverage": sum("supports" in one for one in own) / len(own),
                "support rate": every.count("supports") / len(every) if every else np.nan,
                "contradict rate": every.count("contradicts") / len(every) if every else np.nan,
            }
            place = scores.systems.index(system), scores.questions.index(answer["question_id"])
            found = {metric: scores.of(metric)[place] for metric in wanted}
            assert found == pytest.approx(wanted, nan_ok=True)
    # rule 35: a ternary "neutral" does not say whether a document is about the question
    assert "document precision" not in scores.metrics
    human = human_units(answers, "ternary").labels
    found_agreement = judge_agreement(answers, labels, "ternary")
    right = [labels[unit] == label for unit, label in human.items() if unit in labels]
    assert found_agreement.agreement.values["accuracy"] == pytest.approx(np.mean(right))
    assert (found_agreement.constant, name != "truth" or all(right)) == ("supports", True)
    if name == "truth":
        rng = np.random.default_rng(0)
        assert ranking(system_scores(answers), scores, "coverage", "coverage", rng, 200).rho == pytest.approx(
            1
        )


def test_completeness_by_a_judge(store: Store) -> None:
    """Sentences of odd length are required, the others unnecessary; one is not read and counts for nothing."""

    def said(claim: str) -> str:
        return "no idea" if claim == odd_one else "Required" if len(claim) % 2 else "Unnecessary"

    odd_one = claim_of(ANSWERS[0]["sentences"][0]["text"])

    def step(sent: dict[str, Any]) -> Any:
        (claim,) = re.findall(r"<sentence>\n(.*?)\n</", sent["messages"][-1]["content"], re.DOTALL)
        return reply(f"LABEL: {said(claim)}")

    with scripted(answering(step)) as server:
        plan = plan_at(store, server.url, "relevance")
        list(execute(plan))
    answers, labels = stored_answers(store, "sample"), judge_labels(store, ChatRuns(store).run(plan.run_id))
    scores = system_scores(answers, judged_labels(answers, labels))
    for answer in ANSWERS:
        place = scores.systems.index(answer["system"]), scores.questions.index(answer["question_id"])
        given = [said(claim_of(sentence["text"])) for sentence in answer["sentences"]]
        for metric, label in (("precision", "Required"), ("redundancy", "Unnecessary")):
            assert scores.of(metric)[place] == pytest.approx(given.count(label) / len(given))


def test_correctness_by_windows(store: Store) -> None:
    with scripted(saying(by_overlap)) as server:
        plan = plan_at(store, server.url, "correctness", settings={"window": 2, "prefilter": 0})
        list(execute(plan))
    answers = stored_answers(store, "sample")
    found = correctness(answers, said_in(store, ChatRuns(store).run(plan.run_id)))
    for system in answers.systems:
        shares = []
        for answer in (one for one in ANSWERS if one["system"] == system):
            correct = 0
            for sentence in answer["sentences"]:
                claim, windows = claim_of(sentence["text"]), []
                for document in sentence["citations"]:
                    parts = DOCUMENTS[document]["sentences"] if document in DOCUMENTS else []
                    windows += [" ".join(parts[n : n + 2]) for n in range(max(1, len(parts) - 1))]
                correct += any(by_overlap(claim, window) == "supports" for window in windows)
            shares.append(correct / len(answer["sentences"]))
        assert found[system].mean == pytest.approx(np.mean(shares))


def test_citations_joined(store: Store) -> None:
    """ALCE's recall and precision (rule 37), a judge deciding by the words that claim and sources share."""
    with scripted(saying(by_overlap)) as server:
        plan = plan_at(store, server.url, "joined")
        list(execute(plan))
    answers = stored_answers(store, "sample")
    found = joined_scores(answers, store, ChatRuns(store).run(plan.run_id))
    for system in answers.systems:
        recalls, precisions = [], []
        for answer in (one for one in ANSWERS if one["system"] == system):
            recall, precise, n = 0, 0, 0
            for sentence in answer["sentences"]:
                claim = claim_of(sentence["text"])
                sources = [source_of(one) for one in sentence["citations"] if one in DOCUMENTS]
                n += len(sources)
                if not sources or by_overlap(claim, "\n\n".join(sources)) != "supports":
                    continue
                recall += 1
                for place, source in enumerate(sources):
                    rest = "\n\n".join(sources[:place] + sources[place + 1 :])
                    precise += (
                        "supports" in by_overlap(claim, source) or by_overlap(claim, rest) != "supports"
                    )
            recalls.append(recall / len(answer["sentences"]))
            precisions += [precise / n] if n else []
        assert found[system]["recall"] == pytest.approx(np.mean(recalls))
        assert found[system]["precision"] == pytest.approx(np.mean(precisions))
        assert (found[system]["n_recall"], found[system]["n_precision"]) == (6, len(precisions))


def test_a_run_that_is_stopped_and_goes_on_is_one_run_and_pays_once(store: Store, tmp_path: Path) -> None:
    with scripted(saying(JUDGES["truth"])) as server:
        n = plan_at(store, server.url).total
        *_, stopped = execute(plan_at(store, server.url), cancelled=lambda: len(server.requests) >= 5)
        assert 0 < stopped.done < n
        *_, last = execute(plan_at(store, server.url))
        assert (last.done, len(server.requests)) == (n, len({str(one.json) for one in server.requests}))
        paid = len(server.requests)
        assert plan_at(store, server.url).missing == {}
        for scale in ("ternary", "binary"):  # another scale is another question; the same again is none
            list(execute(plan_at(store, server.url, settings={"scale": scale})))
        assert len(server.requests) <= 2 * paid
        whole = open_store(tmp_path / "whole.sqlite")
        add_answers(whole, "sample", read_answers([SAMPLE]))
        plan = plan_at(whole, server.url)
        list(execute(plan))
    labels = [judge_labels(one, ChatRuns(one).run(plan.run_id)) for one in (store, whole)]
    assert labels[0] == labels[1]
