"""Judges that give a score: cosine, inference, a file (bioace spec rules 28, 29, 31, 36, 76)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evidencebench_core.answers import score_judging
from evidencebench_core.answers.agreement import human_units, judge_agreement
from evidencebench_core.answers.correctness import correctness, said_in
from evidencebench_core.answers.judged import judge_labels
from evidencebench_core.answers.model import AnswerSet
from evidencebench_core.answers.read import SAMPLE, answer_set, read_answers
from evidencebench_core.answers.score_judging import (
    file_scores,
    labels_by_best_threshold,
    score_judge,
    scores_in,
)
from evidencebench_core.answers.set_judging import claims, judge_settings, retrieved_documents
from evidencebench_core.data.store import Store, open_store
from evidencebench_core.errors import DataError, SettingError
from evidencebench_core.runs import ChatRunInfo, ChatRuns
from tests.factories import tiny_classifier

WORDS = "tea lowers pressure"


def overlap(pairs: Any, _: str = "") -> np.ndarray:
    """The share of the second text's words that the first has."""
    words = [[set(one.lower().replace(".", "").split()) for one in pair] for pair in pairs]
    return np.array([len(a & b) / len(b) for a, b in words])


@pytest.fixture
def answers() -> AnswerSet:
    documents = [
        ("1", ["Coffee does not.", "Tea lowers pressure.", "It is hot."]),
        ("2", ["Tea is hot."]),
        ("3", ["Nothing here on cats."]),
        ("4", []),
    ]
    lines: list[dict[str, Any]] = [
        {"kind": "document", "document_id": one, "title": "T", "sentences": sentences or None}
        for one, sentences in documents
    ]
    lines[-1]["title"] = ""
    for question, system, text, cited, relation in (
        ("q1", "A", WORDS, "1", "supporting"), ("q1", "B", WORDS, "2", "neutral"),
        ("q2", "A", "tea is hot", "2", "supporting"), ("q2", "B", WORDS, "4", "invalid citation"),
        ("q3", "A", "cats sleep", "3", "contradicting"), ("q3", "B", WORDS, "1", "supporting"),
    ):  # fmt: skip
        sentence = {
            "text": text,
            "citations": [cited],
            "assessments": [{"document": cited, "relation": relation}],
        }
        own = {"question_id": question, "system": system, "answer": text, "sentences": [sentence]}
        lines.append({"kind": "answer", **own})
    lines.append({"kind": "question", "question_id": "q1", "question": "What does tea do to pressure?"})
    return answer_set([(str(n), line) for n, line in enumerate(lines)])


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "store.sqlite")


def judged_by(store: Store, answers: AnswerSet, *given: Any, **more: Any) -> ChatRunInfo:
    run_id, n, kept = score_judge(store, "d" * 64, answers, *given, **more)
    assert [0, *kept][-1] == n
    return ChatRuns(store).run(run_id)


def test_cosine_and_its_thresholds(store: Store, answers: AnswerSet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_judging, "pair_cosines", overlap)
    run = judged_by(store, answers, "citations", "cosine", threshold=0.9)
    scores = scores_in(store, run)
    assert scores == pytest.approx({
        "q1/A/1/1": 1, "q1/B/1/2": 1 / 3, "q2/A/1/2": 1, "q3/A/1/3": 0.5, "q3/B/1/1": 1,
    })  # fmt: skip
    labels = judge_labels(store, run)
    assert [unit for unit, label in labels.items() if label == "attributable"] == [
        "q1/A/1/1",
        "q2/A/1/2",
        "q3/B/1/1",
    ]
    # another threshold reads what is kept: nothing is computed again (rule 76)
    assert judge_labels(store, run, threshold=0.4)["q3/A/1/3"] == "attributable"
    again = score_judge(store, "d" * 64, answers, "citations", "cosine", threshold=0.9)
    assert again[:2] == (run.id, 0)
    assert judge_agreement(answers, labels, "binary").agreement.values["accuracy"] == 1
    found, thresholds = labels_by_best_threshold(answers, scores)
    assert thresholds == {"q1": 1.0, "q2": 1.0, "q3": 1.0}
    assert found == {unit: labels[unit] for unit in human_units(answers, "binary").labels if unit in labels}
    with pytest.raises(SettingError, match="has none of its own"):
        score_judge(store, "d" * 64, answers, "citations", "cosine")


def test_correctness_by_the_best_window(
    store: Store, answers: AnswerSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(score_judging, "pair_cosines", overlap)
    how: dict[str, Any] = {"threshold": 0.9, "settings": {"window": "1"}}
    run = judged_by(store, answers, "correctness", "cosine", **how)
    result = ChatRuns(store).results(run.id)["q1/A/1"]
    assert not isinstance(result, str)
    assert (result["parts"][0]["window"], result["n_windows"]) == ("Tea lowers pressure.", 3)
    said = said_in(store, run)
    assert {unit: read and read.label for unit, read in said.items()} == {
        "q1/A/1": "supports", "q1/B/1": "neutral", "q2/A/1": "supports", "q2/B/1": None, "q3/A/1": "neutral",
        "q3/B/1": "supports",
    }  # fmt: skip
    of = correctness(answers, said)
    assert (of["A"].mean, of["B"].mean, of["B"].n_unchecked) == (
        pytest.approx(2 / 3),
        pytest.approx(1 / 3),
        1,
    )
    how["settings"] |= {"documents": "retrieved", "top": 1}
    found = said_in(store, judged_by(store, answers, "correctness", "cosine", limit=1, **how))
    assert {unit: read and read.label for unit, read in found.items()} == {
        "q1/A/1": "supports",
        "q1/B/1": "supports",
    }


def test_documents_are_retrieved_by_the_question(answers: AnswerSet) -> None:
    assert [one.id for one in retrieved_documents(answers, "q1", 2)] == ["1", "2"]
    assert retrieved_documents(answers, "q2", 2) == []  # a question without a text
    own = judge_settings("correctness", {"documents": "retrieved"})
    assert own["top"] == 10
    assert "top" not in judge_settings("correctness", {})
    assert {len(one.documents) for one in claims(answers, "correctness", own, 1)} == {3}


def test_inference(store: Store, answers: AnswerSet, tmp_path: Path) -> None:
    folder = tiny_classifier(tmp_path / "nli", ["CONTRADICTION", "NEUTRAL", "ENTAILMENT"])
    run = judged_by(store, answers, "citations", "nli", model=str(folder))
    assert (run.settings["threshold"], run.settings["scale"]) == (0.5, "ternary")
    result = ChatRuns(store).results(run.id)["q1/A/1/1"]
    assert not isinstance(result, str)
    assert 0 < result["score"] < 1
    assert result["score"] + result["contradiction"] < 1
    low, high = result["score"] - 1e-6, result["score"] + 1e-6
    said = [judge_labels(store, run, threshold=one)["q1/A/1/1"] for one in (low, high)]
    assert (said[0], said[1] == "supports") == ("supports", False)
    correct = judged_by(store, answers, "correctness", "nli", model=str(folder), threshold=0.0)
    assert correctness(answers, said_in(store, correct))["A"].mean == 1


def test_a_run_that_was_stopped_goes_on(
    store: Store, answers: AnswerSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(score_judging, "pair_cosines", lambda pairs, _: asked.extend(pairs) or overlap(pairs))
    monkeypatch.setattr(score_judging, "_AT_ONCE", 2)
    run_id, n, kept = score_judge(store, "d" * 64, answers, "citations", "cosine", threshold=0.5)
    assert (n, next(kept)) == (5, 2)
    assert judged_by(store, answers, "citations", "cosine", threshold=0.5).id == run_id
    assert len(asked) == 5


def test_scores_of_a_file(store: Store, answers: AnswerSet, tmp_path: Path) -> None:
    path = tmp_path / "alignscore.json"
    path.write_text(json.dumps({"q1/A/1/1": 1, "q1/B/1/2": 0.25, "of/another/set": 0}))
    run = judged_by(
        store, answers, "citations", "scores", model="alignscore", threshold=0.5, scores=file_scores(path)
    )
    assert judge_labels(store, run) == {"q1/A/1/1": "attributable", "q1/B/1/2": "not attributable"}
    with pytest.raises(SettingError, match="windows"):
        score_judge(store, "d" * 64, answers, "correctness", "scores", threshold=1, scores={})
    with pytest.raises(SettingError, match="nuggets"):
        score_judge(
            store, "d" * 64, answers, "citations", "cosine", threshold=1, settings={"source": "nuggets"}
        )
    for bad in ([], {}, {"q": "x"}, {"q": True}, 3):
        path.write_text(json.dumps(bad))
        with pytest.raises(DataError, match="alignscore"):
            file_scores(path)


def test_a_threshold_needs_other_questions() -> None:
    answers = answer_set(read_answers([SAMPLE]))
    units = list(human_units(answers, "binary").labels)
    (question,) = {unit.split("/")[0] for unit in units[:1]}
    scores = {unit: 1.0 for unit in units if unit.split("/")[0] == question}
    with pytest.raises(SettingError, match="cannot be chosen"):
        labels_by_best_threshold(answers, scores)
