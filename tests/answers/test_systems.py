"""MedAESQA's metrics: examples 12.2, 12.3, 12.9, the two cluster files against other code (faults C14, C15, E2, E3)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from evidencebench_core.answers import systems
from evidencebench_core.answers.agreement import human_units, judge_agreement
from evidencebench_core.answers.model import AnswerSet, Document, unit_id
from evidencebench_core.answers.read import answer_set, counts, read_answers
from evidencebench_core.answers.systems import (
    SystemScores,
    human_labels,
    judged_labels,
    ranking,
    recall_name,
    system_scores,
)
from evidencebench_core.stats.resampling import resample_weights
from tests.answers.medaesqa import ANSWERS, RELEVANCES, cluster_paths, main_file

SETTINGS = ("supported_required", "required", "required_and_borderline")


def percents(scores: SystemScores, metric: str, systems: Sequence[str] | None = None) -> list[float | None]:
    places = [scores.systems.index(name) for name in systems or scores.systems]
    means = scores.means[scores.metrics.index(metric), places]
    return [None if np.isnan(mean) else round(100 * float(mean), 2) for mean in means]


@pytest.fixture
def cluster_files() -> list[Path]:
    return cluster_paths()


@pytest.fixture
def nine(tmp_path: Path) -> AnswerSet:
    path = tmp_path / "medaesqa_v1.json"
    path.write_text(json.dumps(main_file()))
    return answer_set(read_answers([path]))


def test_nine_answers_to_a_real_question(nine: AnswerSet) -> None:
    scores = system_scores(nine)
    assert scores.systems == tuple(ANSWERS)
    assert percents(scores, "precision") == [83.33, 100, 0, 0, 40, 87.5, 50, 100, 66.67]
    assert percents(scores, "redundancy") == [0, 0, 0, 0, 40, 12.5, 0, 0, 33.33]
    assert percents(scores, "harmfulness") == [0, 0, 0, 0, 0, 0, 25, 0, 0]
    assert percents(scores, "coverage") == [100, 85.71, 0, 0, 60, 0, 25, 100, 0]
    support = [85.71, 81.82, 0, None, 75, None, 50, 76.92, None]
    assert percents(scores, "support rate") == support
    assert percents(scores, "accuracy") == [100, 100, 0, 0, 100, 100, 100, 100, 100]
    assert percents(scores, "citations") == [100 * n for n in (14, 11, 3, 0, 4, 0, 2, 13, 0)]
    official = system_scores(nine, official=True)
    assert percents(official, "support rate") == [0 if one is None else one for one in support]


def test_counts_of_a_file(nine: AnswerSet) -> None:
    found = counts(nine)
    assert (found["questions"], found["systems"], found["answers judged accurate"]) == (1, 9, 7)
    assert (found["sentences"], found["sentences required"], found["sentences not judged"]) == (44, 31, 5)
    assert (found["assessments supporting"], found["assessments invalid citation"]) == (35, 1)
    assert found["citations"] == 47
    assert found["documents cited and not given"] > 0


@pytest.mark.realdata
def test_their_recall_from_the_cluster_files(cluster_files: list[Path]) -> None:
    scores = system_scores(answer_set(read_answers(cluster_files)))
    systems = ("M1", "M2", "M8", "M27", "M28", "M29", "M30", "M5", "M7")
    expected = {
        "ST": [50, 50, 50, 60, 60, 50, 10, 20, 30, 0, 50, 50, 10, 10, 20, 50, 50, 50, 0, 10, 10, *[0] * 6],
        "SimCSE": [
            50,
            50,
            40,
            50,
            60,
            70,
            10,
            20,
            20,
            0,
            50,
            60,
            10,
            20,
            20,
            50,
            60,
            40,
            0,
            20,
            20,
            *[0] * 6,
        ],
    }
    places = [scores.systems.index(name) for name in systems]
    question = scores.questions.index("116")
    for name, values in expected.items():
        recalls = [scores.of(recall_name(setting, name))[places, question] for setting in SETTINGS]
        assert (100 * np.array(recalls)).round().T.ravel().tolist() == values


RECALL = """M1 31.50/31.25 M2 39.75/39.50 M3 31.00/30.25 M4 31.00/30.50 M5 7.75/7.75 M6 41.50/40.50 M7 15.25/15.00
M8 32.75/32.75 M9 31.75/34.50 M10 38.25/36.25 M11 31.75/31.25 M12 28.50/28.00 M13 30.50/33.50 M14 35.75/33.25
M15 9.00/8.50 M16 36.75/40.00 M17 29.00/29.25 M18 29.75/30.00 M19 39.25/41.00 M20 32.00/31.25 M21 28.25/29.25
M22 8.50/9.25 M23 10.00/9.50 M24 42.75/45.75 M25 20.25/21.50 M26 39.00/41.50 M27 40.25/41.00 M28 26.25/26.00
M29 32.75/32.50 M30 17.50/17.75"""


def recalls_by_hand(path: Path) -> dict[str, dict[str, float]]:
    """By setting and system: other code, which knows nothing of ours."""
    raw: dict[str, dict[str, Any]] = json.loads(path.read_text())
    totals: dict[str, dict[str, float]] = {}
    for settings in raw.values():
        for setting, clusters in settings.items():
            for members in clusters.values():
                for system in {one["answer_sentence_id"].split("-")[0] for one in members}:
                    of_setting = totals.setdefault(setting, {})
                    of_setting[system] = of_setting.get(system, 0) + 1 / (10 * len(raw))
    return totals


@pytest.mark.realdata
def test_recall_of_thirty_systems_over_forty_questions(cluster_files: list[Path]) -> None:
    answers = answer_set(read_answers(cluster_files))
    scores = system_scores(answers)
    assert (len(scores.systems), len(scores.questions)) == (30, 40)
    for path, name in zip(cluster_files, ("ST", "SimCSE"), strict=True):
        for setting, by_system in recalls_by_hand(path).items():
            metric = recall_name(setting.removesuffix("_answer_sentences_cluster"), name)
            means = scores.means[scores.metrics.index(metric)]
            assert means == pytest.approx([by_system.get(system, 0) for system in scores.systems])
    words = RECALL.split()
    st, sim = zip(*(pair.split("/") for pair in words[1::2]), strict=True)
    assert scores.systems == tuple(words[::2])
    for name, expected in (("ST", st), ("SimCSE", sim)):
        assert percents(scores, recall_name(SETTINGS[2], name)) == [float(one) for one in expected]
    for name, expected in (("ST", (20.52, 27.81, 28.94)), ("SimCSE", (20.84, 28.02, 29.28))):
        metrics = [scores.metrics.index(recall_name(setting, name)) for setting in SETTINGS]
        assert 100 * scores.means[metrics].mean(axis=1) == pytest.approx(expected, abs=0.0051)
    assert counts(answers)["clusters"] == 2 * 3 * 400
    sizes = [
        sum(len(c) for one in answers.clusters if (one.setting, one.name) == (s, "ST") for c in one.clusters)
        for s in SETTINGS
    ]
    assert sizes == [2859, 3958, 4201]
    # rule 45: both files hold the same ids, each setting within the next
    ids = {
        (one.question_id, one.setting, one.name): frozenset().union(*one.clusters) for one in answers.clusters
    }
    for question in answers.questions:
        small, middle, large = ([ids[question, s, name] for name in ("ST", "SimCSE")] for s in SETTINGS)
        assert small[0] == small[1] <= middle[0] == middle[1] <= large[0] == large[1]
    every = [len(cluster) for one in answers.clusters for cluster in one.clusters]
    assert (min(every), max(every)) == (1, 59)
    assert max(int(one.rpartition("-")[2]) for found in ids.values() for one in found) == 11


@pytest.mark.realdata
def test_recalls_and_plain_counting_put_the_systems_in_the_same_order(cluster_files: list[Path]) -> None:
    """Rules 25, 41, 42 and example 12.3."""
    scores = system_scores(answer_set(read_answers(cluster_files)))
    rng = np.random.default_rng(0)
    expected = {SETTINGS[0]: (0.9859, 0.9488), SETTINGS[1]: (0.9886, 0.9421), SETTINGS[2]: (0.9649, 0.8840)}
    for setting, (rho, tau) in expected.items():
        names = recall_name(setting, "ST"), recall_name(setting, "SimCSE")
        found = ranking(scores, scores, *names, rng, 2_000)
        assert (found.rho, found.tau) == pytest.approx((rho, tau), abs=1e-4)
        means = [scores.means[scores.metrics.index(name)].round(9) for name in names]
        assert (found.rho, found.tau) == pytest.approx((spearmanr(*means)[0], kendalltau(*means)[0]))
    assert found.rho_ci95 == pytest.approx((0.920, 0.986), abs=0.01)
    raw = json.loads(cluster_files[0].read_text())
    ids = [
        one["answer_sentence_id"].split("-")[0]
        for settings in raw.values()
        for members in settings["required_and_borderline_answer_sentences_cluster"].values()
        for one in members
    ]
    n_sentences = [ids.count(system) for system in scores.systems]
    for name, rho, tau in (("SimCSE", 0.966, 0.891), ("ST", 0.931, 0.820)):
        recall = scores.means[scores.metrics.index(recall_name(SETTINGS[2], name))]
        assert spearmanr(n_sentences, recall.round(9))[0] == pytest.approx(rho, abs=1e-3)
        assert kendalltau(n_sentences, recall.round(9))[0] == pytest.approx(tau, abs=1e-3)
    for name, n_fewer in (("ST", 144), ("SimCSE", 151)):
        fewer = scores.of(recall_name(SETTINGS[2], name)) < scores.of(recall_name(SETTINGS[1], name))
        assert fewer.sum() == n_fewer


def three_questions(second: Sequence[str]) -> AnswerSet:
    """Example 12.9: citations by sentence, s supporting; a second system has not answered q3."""
    lines = []
    for question, sentences in {"q1": ["sss", "x"], "q2": second, "q3": [""]}.items():
        raw = []
        for place, kinds in enumerate(sentences, start=1):
            cited = [f"{place}{number}" for number in range(len(kinds))]
            relations = ["supporting" if kind == "s" else "not relevant" for kind in kinds]
            pairs = zip(cited, relations, strict=True)
            assessments = [{"document": one, "relation": relation} for one, relation in pairs]
            raw.append({"text": "Words.", "citations": cited, "assessments": assessments})
        lines += [
            {"kind": "answer", "question_id": question, "system": system, "answer": "", "sentences": raw}
            for system in ("A", "B")
            if (system, question) != ("B", "q3")
        ]
    return answer_set([(f"line {number}", line) for number, line in enumerate(lines)])


def test_means_over_questions() -> None:
    covered = system_scores(three_questions(["s"] * 4))
    assert percents(covered, "coverage", ["A"]) == [50]
    assert covered.pooled[covered.metrics.index("coverage"), 0] == pytest.approx(5 / 7)
    answers = three_questions(["s", "", "", ""])
    scores = system_scores(answers, rng=np.random.default_rng(0), n_resamples=100)
    support = scores.metrics.index("support rate")
    assert percents(scores, "support rate", ["A"]) == [87.5]
    assert scores.pooled[support, 0] == pytest.approx(0.8)
    row = scores.table().query("system == 'A' and metric == 'support rate'").iloc[0]
    assert (row["n"], row["n_undefined"], row["n_missing"]) == (2, 1, 0)
    assert percents(system_scores(answers, official=True), "support rate", ["A"]) == [58.33]
    row = scores.table().query("system == 'B' and metric == 'coverage'").iloc[0]
    assert (row["n"], row["n_missing"]) == (2, 1)
    zero = system_scores(answers, missing="zero")
    assert percents(zero, "coverage", ["B"]) == [round(100 * (0.5 + 0.25) / 3, 2)]
    for common, n_questions in ((True, 2), (False, 3)):
        rng = np.random.default_rng(0)
        found = ranking(scores, scores, "coverage", "citations", rng, 10, common=common)
        assert found.n_questions == n_questions


def test_documents_about_the_question() -> None:
    """Rule 35 by labels of people and of four; without a relevant document there is no recall (fault E7)."""
    sentences = [{"text": "Words.", "assessments": [
        {"document": one, "relation": relation}
        for one, relation in (("1", "supporting"), ("2", "neutral"), ("3", "not relevant"))
    ]}]  # fmt: skip
    line = {"kind": "answer", "question_id": "q", "system": "A", "answer": "x", "sentences": sentences}
    other = {"text": "More.", "assessments": [{"document": "4", "relation": "contradicting"}]}
    texts = [(one, {"kind": "document", "document_id": one, "text": "x"}) for one in "1234"]
    answers = answer_set([("a", line), ("b", {**line, "system": "B", "sentences": [other]}), *texts])
    scores = system_scores(answers)
    assert percents(scores, "document precision") == [66.67, 100]
    assert percents(scores, "document recall") == [66.67, 33.33]
    four = {unit_id("q", "A", "1", one): "not relevant" for one in "123"} | {
        unit_id("q", "B", "1", "4"): None
    }
    none = system_scores(answers, judged_labels(answers, None, four))
    assert percents(none, "document precision") == [0, 0]
    assert percents(none, "document recall") == [None, None]


def test_labels_of_a_judge_give_the_same_metrics(nine: AnswerSet) -> None:
    relevances = {
        unit_id(*key, sentence.id): sentence.relevance
        for key, answer in nine.answers.items()
        for sentence in answer.sentences
    }
    people, judge = system_scores(nine), system_scores(nine, judged_labels(nine, relevances))
    for metric in ("precision", "redundancy", "harmfulness"):
        assert np.array_equal(people.of(metric), judge.of(metric))
    assert "support rate" not in judge.metrics
    del relevances[unit_id("116", "M1", "1")]  # a call that failed
    assert percents(system_scores(nine, judged_labels(nine, relevances)), "precision", ["M1"]) == [None]
    relevances |= {unit_id("116", "M1", str(number)): None for number in range(1, 7)}  # unparsed
    assert percents(system_scores(nine, judged_labels(nine, relevances)), "precision", ["M1"]) == [0]


def test_documents_without_text_are_not_judged(nine: AnswerSet) -> None:
    (found,) = {
        one.citations and sum(map(len, one.citations)) for one in judged_labels(nine, None, {}).values()
    }
    assert found == 0


def test_a_sentence_without_words_is_not_judged_and_counts() -> None:
    """Rule 58: it stays in the denominators, and no judgement of it is waited for."""
    sentences = [
        {"text": "Tea helps [1].", "relevance": "required"},
        {"text": "... [1]", "relevance": "required"},
    ]
    line = {"kind": "answer", "question_id": "q", "system": "A", "answer": "x", "sentences": sentences}
    answers = answer_set([("a", line), ("d", {"kind": "document", "document_id": "1", "text": "Tea."})])
    judged = {unit_id("q", "A", "1"): "required"}
    citations = {unit_id("q", "A", "1", "1"): "supports"}
    scores = system_scores(answers, judged_labels(answers, judged, citations))
    assert percents(scores, "precision") == [50]
    assert percents(scores, "coverage") == [50]
    found = judge_agreement(answers, judged, "relevance")
    assert (found.agreement.n, found.n_missing, found.n_unchecked) == (1, 0, 1)


def test_answers_that_nobody_labelled_have_no_metrics() -> None:
    line = {"kind": "answer", "question_id": "q", "system": "A", "answer": "Tea helps [1]. It is hot."}
    answers = answer_set([("a", {**line, "sentences": [{"text": "Tea helps [1]."}, {"text": "It is hot."}]})])
    (labels,) = human_labels(answers).values()
    assert (labels.relevances, labels.citations) == (None, None)
    assert system_scores(answers).metrics == ("sentences", "citations")


def test_recall_does_not_depend_on_the_names_of_clusters(nine: AnswerSet) -> None:
    clusters = {"0": ["M1-1", "M2-1"], "1": ["M1-2"], "2": ["M8-3"]}
    line = {"kind": "clusters", "question_id": "116", "setting": "R+B", "name": "x", "clusters": clusters}
    other = {**line, "clusters": dict(zip("xyz", reversed(clusters.values()), strict=True))}
    item = ("i", {"kind": "question", "question_id": "116"})
    for one in (line, other):
        answers = AnswerSet(nine.questions, nine.answers, {}, answer_set([item, ("c", one)]).clusters)
        recall = percents(system_scores(answers), "recall R+B (x)", ["M1", "M2", "M8", "M7"])
        assert recall == [66.67, 33.33, 33.33, 0]


def made_set() -> AnswerSet:
    """40 questions x 30 systems with known labels, some answers inaccurate or without sentences."""
    rng = np.random.default_rng(7)
    labels = [*RELEVANCES.values()][:4]
    lines = []
    for question in range(40):
        for system in range(30):
            sentences = []
            for place in range(rng.integers(0, 6)):
                documents = [str(one) for one in rng.integers(1, 40, size=rng.integers(0, 4))]
                relations = [RELATION_NAMES[one] for one in rng.integers(0, 5, size=len(documents))]
                assessments = [
                    {"document": d, "relation": r} for d, r in zip(documents, relations, strict=True)
                ]
                relevance = labels[rng.integers(0, 4)]
                sentences.append(
                    {"text": f"Sentence {place}.", "relevance": relevance, "assessments": assessments}
                )
            line = {"kind": "answer", "question_id": f"q{question}", "system": f"S{system}", "answer": "x"}
            lines.append(
                (f"{question} {system}", {**line, "sentences": sentences, "accurate": bool(system % 3)})
            )
    return answer_set(lines)


RELATION_NAMES = ("supporting", "contradicting", "neutral", "not relevant", "invalid citation")


def by_hand(answers: AnswerSet, system: str) -> dict[str, list[float]]:
    """Values over questions by the authors' rules (``official``), by other and slower code."""
    values: dict[str, list[float]] = {}
    for question in answers.questions:
        answer = answers.answers[question, system]
        n, cited, supported, contradicted, covered = len(answer.sentences), 0, 0, 0, 0
        for sentence in answer.sentences:
            of: dict[str, set[str]] = {}
            for one in sentence.assessments:
                of.setdefault(one.document, set()).add(one.relation)
            cited += len(of)
            supported += sum("supporting" in one for one in of.values())
            contradicted += sum("contradicting" in one for one in of.values())
            covered += any("supporting" in one for one in of.values())
        required = sum(sentence.relevance == "required" for sentence in answer.sentences)
        for name, top, bottom in (
            ("accuracy", answer.accurate, 1), ("precision", required, n), ("coverage", covered, n),
            ("support rate", supported, cited), ("contradict rate", contradicted, cited),
        ):  # fmt: skip
            values.setdefault(name, []).append(float(top or 0) / bottom if bottom else 0.0)
    return values


def test_a_made_set_against_other_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Questions are drawn once, for all systems and metrics together."""
    draw = Mock(wraps=resample_weights)
    monkeypatch.setattr(systems, "resample_weights", draw)
    answers = made_set()
    scores = system_scores(answers, rng=np.random.default_rng(0), official=True)
    assert draw.call_count == 1
    for system in answers.systems:
        for name, values in by_hand(answers, system).items():
            assert scores.of(name)[scores.systems.index(system)] == pytest.approx(values)
            mean = scores.means[scores.metrics.index(name), scores.systems.index(system)]
            low, high = scores.intervals[scores.metrics.index(name), scores.systems.index(system)]
            assert mean == pytest.approx(sum(values) / 40)
            assert low <= mean <= high
    places = [scores.metrics.index(name) for name in ("coverage", "support rate")]
    order = scores.means[places].round(9)  # equal means are ties, however they were added up
    found = ranking(scores, scores, "coverage", "support rate", np.random.default_rng(0), 500)
    assert (found.rho, found.tau) == pytest.approx((spearmanr(*order)[0], kendalltau(*order)[0]))


def test_judges_of_the_made_set_are_measured_as_by_other_code() -> None:
    """One that tells the truth, one that always supports, one that guesses: coverage and agreement."""
    answers = made_set()
    units = human_units(answers, "ternary")
    documents = {
        document: Document(document, text="x") for one in answers.answers.values()
        for sentence in one.sentences for document in sentence.citations
    }  # fmt: skip
    answers = AnswerSet(answers.questions, answers.answers, documents)
    every = [
        unit_id(*key, sentence.id, document)
        for key, answer in answers.answers.items()
        for sentence in answer.sentences
        for document in sentence.citations
    ]
    rng = np.random.default_rng(3)
    guesses = [
        ("supports", "neutral", "contradicts", None)[one] for one in rng.integers(0, 4, size=len(every))
    ]
    judges: dict[str, dict[str, str | None]] = {
        "truth": {unit: units.labels.get(unit, "neutral") for unit in every},
        "always": dict.fromkeys(every, "supports"),
        "guesses": dict(zip(every, guesses, strict=True)),
    }
    people = system_scores(answers, official=True)
    for name, judged in judges.items():
        found = judge_agreement(answers, judged, "ternary")
        right = [judged[unit] == label for unit, label in units.labels.items()]
        assert found.agreement.values["accuracy"] == pytest.approx(sum(right) / len(right))
        scores = system_scores(answers, judged_labels(answers, None, judged), official=True)
        for (question, system), answer in answers.answers.items():
            covered = sum(
                any(judged[unit_id(question, system, s.id, d)] == "supports" for d in s.citations)
                for s in answer.sentences
            )
            place = scores.systems.index(system), scores.questions.index(question)
            assert scores.of("coverage")[place] == pytest.approx(covered / max(1, len(answer.sentences)))
        if name == "truth":
            assert np.array_equal(scores.of("coverage"), people.of("coverage"))
            same = ranking(people, scores, "coverage", "coverage", np.random.default_rng(0), 100)
            assert (same.rho, same.rho_ci95) == (1.0, (1.0, 1.0))
