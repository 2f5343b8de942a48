"""MedAESQA's metrics of systems, and judges against people: by hand, and against other code."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score, f1_score

from evidencebench_core.answers.agreement import judge_agreement
from evidencebench_core.answers.model import AnswerSet, unit_id
from evidencebench_core.answers.read import answer_set, read_answers
from evidencebench_core.answers.units import (
    answer_values,
    lead_in_words,
    order_of_systems,
    system_scores,
    systems_table,
    units_frame,
)
from tests.answers.medaesqa import ANSWERS, main_file
from tests.conftest import real_file


def percents(values: pd.DataFrame, metric: str, systems: Sequence[str]) -> list[float | None]:
    scores = system_scores(values[values["metric"] == metric]).set_index("system")["value"]
    return [round(100 * scores[system], 2) if system in scores else None for system in systems]


@pytest.fixture
def nine(tmp_path: Path) -> AnswerSet:
    path = tmp_path / "medaesqa_v1.json"
    path.write_text(json.dumps(main_file()))
    return read_answers([path])


def test_nine_answers_to_a_real_question(nine: AnswerSet) -> None:
    values = answer_values(nine)
    expected = {
        "precision": [83.33, 100, 0, 0, 40, 87.5, 50, 100, 66.67],
        "redundancy": [0, 0, 0, 0, 40, 12.5, 0, 0, 33.33],
        "harmfulness": [0, 0, 0, 0, 0, 0, 25, 0, 0],
        "coverage": [100, 85.71, 0, 0, 60, 0, 25, 100, 0],
        "support rate": [85.71, 81.82, 0, 0, 75, 0, 50, 76.92, 0],  # 0 of no citation, as the authors count
        "accuracy": [100, 100, 0, 0, 100, 100, 100, 100, 100],
        "citations": [100 * n for n in (14, 11, 3, 0, 4, 0, 2, 13, 0)],
    }
    for metric, wanted in expected.items():
        assert percents(values, metric, list(ANSWERS)) == wanted
    table = systems_table(system_scores(values), "coverage")
    assert table["system"].tolist()[:3] == ["M1", "M29", "M2"]
    assert list(table.columns[:6]) == ["system", "coverage", "low", "high", "n", "accuracy"]


RECALL = """M1 31.50/31.25 M2 39.75/39.50 M3 31.00/30.25 M4 31.00/30.50 M5 7.75/7.75 M6 41.50/40.50 M7 15.25/15.00
M8 32.75/32.75 M9 31.75/34.50 M10 38.25/36.25 M11 31.75/31.25 M12 28.50/28.00 M13 30.50/33.50 M14 35.75/33.25
M15 9.00/8.50 M16 36.75/40.00 M17 29.00/29.25 M18 29.75/30.00 M19 39.25/41.00 M20 32.00/31.25 M21 28.25/29.25
M22 8.50/9.25 M23 10.00/9.50 M24 42.75/45.75 M25 20.25/21.50 M26 39.00/41.50 M27 40.25/41.00 M28 26.25/26.00
M29 32.75/32.50 M30 17.50/17.75"""


@pytest.mark.realdata
def test_recall_of_thirty_systems_over_forty_questions() -> None:
    file = "medaesqa/question_to_clustered_answer_sentences_{}_kmeans_transformed.json"
    answers = read_answers([real_file(file.format(name)) for name in ("sentence_transformers", "sim_cse")])
    values = answer_values(answers)
    words = RECALL.split()
    st, sim = zip(*(pair.split("/") for pair in words[1::2]), strict=True)
    for name, expected in (("ST", st), ("SimCSE", sim)):
        assert percents(values, f"recall R+B ({name})", words[::2]) == [float(recall) for recall in expected]
    for short, tau in (("S+R", 0.9488), ("R", 0.9421), ("R+B", 0.8840)):
        both = [values[values["metric"] == f"recall {short} ({name})"] for name in ("ST", "SimCSE")]
        (row,) = order_of_systems(*(one.assign(metric="recall") for one in both)).to_dict("records")
        assert (row["systems"], row["questions"]) == (30, 40)
        assert row["tau"] == pytest.approx(tau, abs=1e-4)
        assert row["tau_low"] < row["tau"] < row["tau_high"]
    assert row["rho"] == pytest.approx(0.965, abs=1e-3)
    assert (row["rho_low"], row["rho_high"]) == pytest.approx((0.920, 0.986), abs=0.02)
    scores = system_scores(values).set_index(["system", "metric"])["value"]
    assert scores["M21", "recall R (ST)"] == scores["M29", "recall S+R (ST)"] == 0.2675  # one number


Line = tuple[str, dict[str, Any]]


def answer(question: str, system: str, *sentences: str | dict[str, Any]) -> Line:
    """A line of a file; a sentence is a text, or what is in it: ``{"1": "supports"}`` are citations."""
    raw = []
    for sentence in sentences:
        labels = sentence if isinstance(sentence, dict) else {}
        assessments = [{"document": name, "relation": label} for name, label in labels.items()]
        cited = {"citations": list(labels), "assessments": assessments} if labels or sentence == {} else {}
        raw.append({"text": "Words." if isinstance(sentence, dict) else sentence, **cited})
    line = {"kind": "answer", "question_id": question, "system": system, "answer": "Words."}
    return f"{question} {system}", {**line, "sentences": raw}


DOCUMENT: Line = ("d", {"kind": "document", "document_id": "1", "text": "One."})


def test_means_are_over_questions_where_a_metric_is_defined() -> None:
    yes, no = "supports", "not relevant"
    first, second = [{"1": yes, "2": yes, "3": yes}, {"4": no}], [{"1": yes}, {}, {}, {}]
    lines = [answer("q3", "A", {})]
    for system in ("A", "B"):
        lines += [answer("q1", system, *first), answer("q2", system, *second)]
    scores = system_scores(answer_values(answer_set(lines))).set_index(["system", "metric"])
    values = scores[["value", "n"]].T.to_dict("list")
    assert values["A", "support rate"] == [pytest.approx((0.75 + 1 + 0) / 3), 3]
    assert values["A", "coverage"] == [pytest.approx((0.5 + 0.25 + 0) / 3), 3]
    assert values["B", "coverage"] == [0.375, 2]


def test_the_lead_of_the_best_system() -> None:
    """Of three systems over eight questions; a rate of contradictions is the better the lower it is."""
    lines = []
    for n in range(8):
        lines += [answer(f"q{n}", "A", {"1": "contradicts"}), answer(f"q{n}", "C", {"1": "supports"})]
        lines.append(answer(f"q{n}", "B", {"1": "supports" if n % 2 else "contradicts"}))
    values = answer_values(answer_set(lines))
    table = systems_table(system_scores(values), "contradict rate")
    assert table["system"].tolist() == ["C", "B", "A"]
    lead = lead_in_words(values, table, "contradict rate")
    assert lead.startswith("C does best in contradict rate: 0.0%, 50.0 points from B, a difference that ")
    sure = values[values["system"] != "B"]
    table = systems_table(system_scores(sure), "coverage")
    assert lead_in_words(sure, table, "coverage") == "C does best in coverage: 100.0%, 100.0 points from A."
    assert lead_in_words(sure[sure["system"] == "A"], table.tail(1), "coverage") == ""


def test_labels_of_a_judge_give_the_same_metrics(nine: AnswerSet) -> None:
    units = units_frame(nine)
    relevances = dict(units[units["kind"] == "relevance"][["unit", "human"]].values)
    people, judge = answer_values(nine), answer_values(nine, {"relevance": relevances})
    metrics = ["precision", "redundancy", "harmfulness"]
    shares = people[people["metric"].isin(metrics)].reset_index(drop=True)
    assert judge[judge["metric"].isin(metrics)].reset_index(drop=True).equals(shares)
    assert "support rate" not in set(judge["metric"])
    del relevances[unit_id("116", "M1", "1")]  # a call that failed
    assert percents(answer_values(nine, {"relevance": relevances}), "precision", ["M1"]) == [None]
    relevances |= {unit_id("116", "M1", str(number)): None for number in range(1, 7)}  # unparsed
    assert percents(answer_values(nine, {"relevance": relevances}), "precision", ["M1"]) == [0]


def test_by_a_judge_what_it_cannot_read_is_not_waited_for() -> None:
    """A sentence without words stays in the denominators, and so does a citation of a document that is not there."""
    question = {"kind": "question", "question_id": "q", "question": "?", "nuggets": ["a", "b", "c"]}
    line = answer("q", "A", "Tea helps [1].", "... [1]", "It is hot [2].")
    answers = answer_set([("q", question), line, DOCUMENT])
    assert set(answer_values(answers)["metric"]) == {"sentences", "citations"}  # nobody labelled them
    first, second, third = (unit_id("q", "A", f"nugget {n}") for n in (1, 2, 3))
    labels: dict[str, dict[str, str | None]] = {
        "relevance": {unit_id("q", "A", "1"): "required", unit_id("q", "A", "3"): "borderline"},
        "citations": {unit_id("q", "A", "1", "1"): "supports"},
        "correctness": {unit_id("q", "A", "1"): "supports"},
        "nuggets": {first: "support", second: "partial", third: None},
    }
    values = answer_values(answers, labels).set_index("metric")["value"].round(4).to_dict()
    shares = dict.fromkeys(("precision", "coverage", "support rate"), 0.3333)
    assert values.items() >= {**shares, "correctness": 1.0, "nugget recall": 0.5}.items()


def test_of_a_part_judged_set_the_judged_questions_count() -> None:
    """An answer that cites nothing counts once its question is judged, and not before."""
    lines = [answer(question, *of) for question in ("q1", "q2") for of in (("A", "One [1]."), ("B", "None."))]
    labels = {"citations": {unit_id("q1", "A", "1", "1"): "supports"}}
    values = answer_values(answer_set([DOCUMENT, *lines]), labels)
    coverage = values[values["metric"] == "coverage"]
    assert coverage[["question", "system", "value"]].values.tolist() == [["q1", "A", 1.0], ["q1", "B", 0.0]]


def test_a_judge_against_people_is_measured_as_by_other_code(nine: AnswerSet) -> None:
    units = units_frame(nine)
    human = units[(units["kind"] == "citations") & units["human"].notna()]
    labels = dict(zip(human["unit"], human["human"], strict=True))
    first, second, third = list(labels)[:3]
    labels |= {first: "neutral", second: "contradicts", third: None}
    agreement = judge_agreement(nine, labels, "citations")
    pairs, figures = agreement.pairs, agreement.figures.set_index("measure")
    assert pairs["unit"].tolist()[:3] == [second, first, third]
    assert pairs["distance"].tolist()[:4] == [2, 1, 0.25, 0]  # the worst disagreement first
    gold, judged = pairs["human"], pairs["judged"].fillna("no label")
    macro_f1 = f1_score(gold, judged, labels=sorted(set(gold)), average="macro", zero_division=0)
    kappa = cohen_kappa_score(gold, judged)
    expected = {"accuracy": (gold == judged).mean(), "kappa": kappa, "macro F1": macro_f1}
    assert figures["value"].to_dict() == pytest.approx(expected)
    constant = gold.mode()[0]
    always = figures.loc["accuracy", ["always", "always the same"]]
    assert always.tolist() == [constant, (gold == constant).mean()]
    assert (agreement.table.to_numpy().sum(), agreement.n_missing) == (len(pairs), 0)
