"""Three scripted judges of 40 questions and 30 systems: the figures of ``answers score`` by plain loops."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from evidencebench_core.answers.read import answer_set
from evidencebench_core.answers.set_judging import set_judge_plan
from evidencebench_core.answers.store import add_answers
from evidencebench_core.cli import main
from evidencebench_core.data.store import open_store
from evidencebench_core.llm import LLM, AnswerCache, Connection, Limits
from evidencebench_core.runs import execute
from tests.llm.server import answering, reply, scripted

SYSTEMS, N_QUESTIONS = [f"S{n}" for n in range(30)], 40
WORDS = ("tea", "coffee", "salt", "rest", "sleep", "pressure", "ache", "fever", "lowers", "raises", "daily")
RELATIONS = ("supporting", "contradicting", "neutral", "not relevant")
RELEVANCES = ("required", "borderline", "unnecessary", "inappropriate")
Line = dict[str, Any]


def made_lines() -> tuple[list[Line], dict[str, Line], list[Line]]:
    """Questions, documents (the last has no text) and answers; the last system has no answer to the first question."""
    rng = np.random.default_rng(11)

    def some(n: int) -> str:
        return " ".join(rng.choice(WORDS, n, replace=False))

    questions = [
        {"kind": "question", "question_id": f"q{n}", "question": f"Case {n}: {some(4)}?"}
        for n in range(N_QUESTIONS)
    ]
    documents: dict[str, Line] = {
        str(n): {
            "kind": "document",
            "document_id": str(n),
            "title": f"Report {n}",
            "text": f"{negated} {some(5)}.",
        }
        for n in range(1, 25)
        for negated in ("No" if n % 4 == 0 else "So",)
    }
    documents["25"] = {"kind": "document", "document_id": "25"}
    answers: list[Line] = []
    for question in questions:  # two claims and three documents each, so that the cache spares most calls
        name = question["question_id"]
        claims = [f"Claim {n} of {name}: {some(3)}." for n in range(2)]
        near = [str(one) for one in rng.choice(25, 3, replace=False) + 1]
        relevance = {one: str(rng.choice(RELEVANCES)) for one in claims}
        relation = {(one, other): str(rng.choice(RELATIONS)) for one in claims for other in near}
        for system in SYSTEMS:
            if (name, system) == ("q0", "S29"):
                continue
            sentences = []
            for place in range(rng.integers(0, 3)):
                claim, cited = (
                    str(rng.choice(claims)),
                    [*map(str, rng.choice(near, rng.integers(0, 3), False))],
                )
                sentences.append({
                    "id": str(place + 1), "text": claim, "relevance": relevance[claim], "citations": cited,
                    "assessments": [{"document": one, "relation": relation[claim, one]} for one in cited],
                })  # fmt: skip
            own = {"question_id": name, "system": system, "answer": "x", "sentences": sentences}
            answers.append({"kind": "answer", **own})
    answers.sort(
        key=lambda one: one["system"]
    )  # the same is not asked at once: the second would wait for the first
    return questions, documents, answers


QUESTIONS, DOCUMENTS, ANSWERS = made_lines()
TRUE_RELEVANCE = {one["text"]: one["relevance"] for line in ANSWERS for one in line["sentences"]}
TRUE_RELATION = {
    (one["text"], DOCUMENTS[said["document"]].get("title", "")): said["relation"]
    for line in ANSWERS
    for one in line["sentences"]
    for said in one["assessments"]
}


def shared(text: str, other: str) -> int:
    return sum(word in re.findall(r"\w+", other) for word in set(re.findall(r"\w+", text)) & set(WORDS))


def relation_by_overlap(claim: str, source: str) -> str:
    n = shared(claim, source)
    if n >= 2:
        return "contradicting" if " No " in source else "supporting"
    return "neutral" if n else "not relevant"


def relevance_by_overlap(question: str, claim: str) -> str:
    return ("inappropriate", "unnecessary", "required", "borderline")[shared(claim, question)]


Judge = Callable[[str, str], str]
JUDGES: dict[str, tuple[Judge, Judge]] = {
    "always": (lambda *_: "supporting", lambda *_: "required"),
    "overlap": (relation_by_overlap, relevance_by_overlap),
    "truth": (
        lambda claim, source: TRUE_RELATION[claim, " ".join(source.split()[:2])],
        lambda _, claim: TRUE_RELEVANCE[claim],
    ),
}


def answered(relation: Judge, relevance: Judge) -> Any:
    def step(sent: Line) -> Any:
        text = sent["messages"][-1]["content"]
        tags = dict(re.findall(r"<(sentence|document|question)>\n(.*?)\n</", text, re.DOTALL))
        if "document" in tags:
            return reply(f"LABEL: {relation(tags['sentence'], tags['document'])}")
        return reply(f"LABEL: {relevance(tags['question'], tags['sentence'])}")

    return answering(step)


Share = tuple[float, float] | None  # numerator and denominator


def source_of(document: str) -> str:
    one = DOCUMENTS[document]
    return f"{one['title']} {one['text']}" if "text" in one else ""


def by_loops(relation: Judge, relevance: Judge) -> dict[tuple[str, str], dict[str, float | int | None]]:
    """By system and metric the row of the table, from the lines themselves; nothing of ours is called."""
    asked = {one["question_id"]: one["question"] for one in QUESTIONS}
    about: dict[str, set[str]] = {name: set() for name in asked}
    said: dict[tuple[str, str], list[dict[str, str]]] = {}
    for line in ANSWERS:
        every = said[line["system"], line["question_id"]] = []
        for sentence in line["sentences"]:
            labels = {}
            for document in sentence["citations"]:
                if source := source_of(document):
                    labels[document] = relation(sentence["text"], source)
                    if labels[document] != "not relevant":
                        about[line["question_id"]].add(document)
            every.append(labels)
    shares: dict[tuple[str, str], dict[str, Share]] = {}
    for line in ANSWERS:
        question, sentences = line["question_id"], line["sentences"]
        of = said[line["system"], question]
        n, given = len(sentences), [relevance(asked[question], one["text"]) for one in sentences]
        labels_here = [label for one in of for label in one.values()]
        distinct = {document for one in of for document in one}
        found = {
            "precision": (given.count("required"), n),
            "redundancy": (given.count("unnecessary"), n),
            "harmfulness": (given.count("inappropriate"), n),
            "coverage": (sum("supporting" in one.values() for one in of), n),
            "support rate": (labels_here.count("supporting"), len(labels_here)),
            "contradict rate": (labels_here.count("contradicting"), len(labels_here)),
            "document precision": (len(distinct & about[question]), len(distinct)),
            "document recall": (len(distinct & about[question]), len(about[question])),
            "sentences": (n, 1),
            "citations": (sum(len(one["citations"]) for one in sentences), 1),
        }
        for metric, (top, bottom) in found.items():
            per = shares.setdefault((line["system"], metric), {})
            per[question] = (top, bottom) if bottom else None
    rows: dict[tuple[str, str], dict[str, float | int | None]] = {}
    for key, per in shares.items():
        defined = [one for one in per.values() if one]
        total = 0.0
        for top, bottom in defined:
            total += top / bottom
        rows[key] = {
            "mean": total / len(defined),
            "pooled": sum(top for top, _ in defined) / sum(bottom for _, bottom in defined),
            "n": len(defined),
            "n_undefined": len(per) - len(defined),
            "n_missing": N_QUESTIONS - len(per),
        }
    return rows


@pytest.mark.parametrize("name", JUDGES)
def test_every_figure_of_score_equals_plain_loops(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    store = open_store()
    lines = [(str(n), one) for n, one in enumerate([*QUESTIONS, *DOCUMENTS.values(), *ANSWERS])]
    info, answers = add_answers(store, "made", lines), answer_set(lines)
    assert (len(answers.questions), len(answers.systems), len(ANSWERS)) == (40, 30, 1_199)
    judges = list[str]()
    with scripted(answered(*JUDGES[name])) as server:
        llm = LLM(Connection(server.url, "k"), AnswerCache(store), None, Limits(8))
        for what, settings in (("citations", {"scale": "four"}), ("relevance", {})):
            plan = set_judge_plan(store, info.sha256, answers, what, "j", llm=llm, settings=settings)  # type: ignore[arg-type]
            *_, last = execute(plan)
            assert last.done == plan.total > 900
            judges += ["--judge", plan.run_id]
    assert main(["answers", "score", "made", *judges, "--json"]) == 0
    rows = {(one["system"], one["metric"]): one for one in json.loads(capsys.readouterr().out)["systems"]}
    wanted = by_loops(*JUDGES[name])
    assert rows.keys() == wanted.keys()
    for key, values in wanted.items():
        assert {part: rows[key][part] for part in values} == pytest.approx(values), key
    distinct = {rows[system, "coverage"]["mean"] for system in SYSTEMS}
    assert len(distinct) > 5  # the systems are told apart
