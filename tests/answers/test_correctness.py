"""Correct sentences of answers (bioace spec rules 27, 28, 39, 58; example 12.11; faults C8, C9)."""

from __future__ import annotations

from evidencebench_core.answers.correctness import correctness
from evidencebench_core.answers.model import Answer, AnswerSentence, AnswerSet, Assessment, Document, Question
from evidencebench_core.llm.labels import LabelRead

SENTENCES = (
    AnswerSentence("1", "A rises [1].", ("1",), assessments=(Assessment("1", "supporting"),)),
    AnswerSentence("2", "B falls [1].", ("1",)),
    AnswerSentence("3", "C [9].", ("9",)),
    AnswerSentence("4", "A rises [1].", ("1",)),
)
ANSWERS = AnswerSet(
    {"q": Question("q"), "r": Question("r")},
    {
        ("q", "M"): Answer("q", "M", "x", SENTENCES),
        ("r", "M"): Answer("r", "M", ""),
        ("q", "N"): Answer("q", "N", "x", (AnswerSentence("1", "D."), AnswerSentence("2", "[1]", ("1",)))),
    },
    {"1": Document("1", "T", sentences=("A rises.", "More.", "Again.", "E."))},
)
SUPPORTS, NEUTRAL, UNREAD = LabelRead("supports"), LabelRead("neutral"), LabelRead(None, reason="no_label")


def test_example_12_11() -> None:
    said = {"q/M/1": SUPPORTS, "q/M/2": NEUTRAL, "q/M/3": SUPPORTS, "q/M/4": SUPPORTS, "q/N/1": None}
    of = correctness(ANSWERS, said)
    assert (of["M"].mean, of["M"].share, of["M"].n_answers, of["M"].n_missing) == (0.75, 0.75, 1, 1)
    assert (of["N"].mean, of["N"].n_unchecked, of["N"].n_sentences) == (0.0, 1, 2)
    failed = {unit: read for unit, read in said.items() if unit != "q/M/2"}
    assert (correctness(ANSWERS, failed)["M"].mean, correctness(ANSWERS, failed)["M"].n_missing) == (None, 2)
    assert correctness(ANSWERS, said | {"q/M/2": UNREAD})["M"].n_unread == 1
