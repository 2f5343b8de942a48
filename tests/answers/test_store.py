"""Answer sets and marks in the store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.answers.judged import judge_labels
from evidencebench_core.answers.model import unit_id
from evidencebench_core.answers.read import answer_set
from evidencebench_core.answers.store import (
    Mark,
    add_answers,
    add_mark,
    answer_set_info,
    answer_sets,
    delete_answers,
    marks,
    marks_document,
    rename_answers,
    stored_answers,
    stored_lines,
)
from evidencebench_core.data import open_store
from evidencebench_core.errors import SettingError, StoreError, UnknownNameError
from evidencebench_core.runs import ChatRuns, ChatRunSpec
from tests.answers.judging import judge_run

LINES: list[tuple[str, dict[str, Any]]] = [
    (f"line {number}", {"kind": "answer", "question_id": "q", "system": f"S{number}", "answer": "Tea.", "x": [1],
                        "sentences": [{"text": "Tea."}]})
    for number in range(3)
]  # fmt: skip


def test_a_set_comes_back_as_it_was(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store.sqlite")
    info = add_answers(store, " tea\n", LINES, "tea.jsonl")
    assert (info.name, info.counts["answers"], info.source) == ("tea", 3, "tea.jsonl")
    assert stored_answers(store, "tea") == answer_set(LINES)
    assert stored_lines(store, "tea") == [line for _, line in LINES]  # unknown keys too
    assert add_answers(store, "again", LINES[::-1]) == info  # the same lines are one set, in any order
    with pytest.raises(StoreError, match="with other content"):
        add_answers(store, "tea", LINES[:2])
    with pytest.raises(StoreError, match="blank"):
        add_answers(store, " ", LINES[:2])
    assert rename_answers(store, "tea", "leaves").sha256 == info.sha256
    with pytest.raises(UnknownNameError, match="leaves"):
        answer_set_info(store, "tea")


def test_what_depends_on_a_set_goes_with_it(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store.sqlite")
    subject = add_answers(store, "tea", LINES).sha256
    add_mark(store, subject, Mark("gold", "u", "missed"))
    ChatRuns(store).create(ChatRunSpec("answers", subject, {"model": "m"}))
    delete_answers(store, "tea")
    assert (answer_sets(store), marks(store, subject), ChatRuns(store).runs("answers")) == ((), [], ())


def test_the_newest_mark_of_a_unit_counts(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store.sqlite")
    subject = add_answers(store, "tea", LINES).sha256
    one, other = unit_id("q", "S0", "1"), unit_id("q", "S1", "1")
    for unit, value in ((one, "required"), (other, "borderline"), (one, "unnecessary"), (other, "")):
        add_mark(store, subject, Mark("label", unit, value, "Ana", "required"))
    add_mark(store, subject, Mark("nuggets", '["a","b"]', "same"))
    assert [(mark.unit, mark.value) for mark in marks(store, subject, "label")] == [(one, "unnecessary")]
    assert marks_document(store, subject)["counts"] == {"label": 1, "nuggets": 1}
    run = ChatRuns(store).run(
        judge_run(store, subject, "relevance", {one: "required", other: None}, "relevance")
    )
    corrections = [(mark.unit, mark.value) for mark in marks(store, subject, "label")]
    assert judge_labels(store, run, corrections) == {one: "unnecessary", other: None}
    assert judge_labels(store, run, [(one, "supports"), ("strange", "required")]) == {
        one: "required",
        other: None,
    }
    with pytest.raises(SettingError, match="label, nuggets, gold"):
        add_mark(store, subject, Mark("colour", one, "red"))  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="6,000 characters"):
        add_mark(store, subject, Mark("label", one, "x" * 6_000))


def test_twelve_hundred_answers_come_and_go(tmp_path: Path) -> None:
    words = "Tea lowers blood pressure by two points in adults who drink it daily " * 2
    lines = [
        (f"line {question}-{system}", {
            "kind": "answer", "question_id": str(question), "system": f"M{system}", "accurate": True,
            "answer": words * 4,
            "sentences": [
                {
                    "text": f"{words} [{place}].", "relevance": "required",
                    "assessments": [
                        {"document": str(one), "relation": "supporting", "excerpt": words}
                        for one in (place, place + 1)
                    ],
                }
                for place in range(4)
            ],
        })
        for question in range(40)
        for system in range(30)
    ]  # fmt: skip
    store = open_store(tmp_path / "store.sqlite")
    info = add_answers(store, "many", lines)
    answers = stored_answers(store, "many")
    assert (len(answers.answers), info.counts["citations"]) == (1_200, 9_600)
