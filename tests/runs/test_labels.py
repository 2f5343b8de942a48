"""Answers of models -> a label, or none."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.runs.labels import label_of, read_label

LABELS = tomllib.loads(Path(__file__).with_name("labels.toml").read_text("utf-8"))


@pytest.mark.parametrize(
    ("label", "text"), [(label, text) for label in LABELS for text in LABELS[label]["texts"]]
)
def test_the_label_of_an_answer(label: str, text: str) -> None:
    assert read_label(text, ("yes", "no", "unknown")) == (label or None)


WORDS = {"support": "supports", "supports": "supports", "supported": "supports", "neutral": "neutral"}


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Well, neutral.\nLABEL: **Supported.**", "supports"), ("LABEL: neutral\nLABEL:\nsupports", "supports"),
        ("> **Label**: neutral, as it says nothing", "neutral"), ("Supports.", "supports"),
        ("The source supports the claim.", None), ("LABEL: required", None), ("LABEL: not supported", None),
        ("LABEL: supports or neutral", None), ("", None),
    ],
)  # fmt: skip
def test_a_label_behind_its_mark(text: str, label: str | None) -> None:
    assert read_label(text, WORDS, "LABEL") == label


@pytest.mark.parametrize(
    ("result", "read"),
    [
        ("the server was busy", (None, "failed")),
        ({"text": "Yes, the trial sh", "finish_reason": "length"}, (None, "cut_off")),
        ({"text": "<think>Yes"}, (None, "cut_off")),
        ({"text": "Yes", "refusal": "No."}, (None, "refusal")),
        ({"text": "I cannot say."}, (None, "refusal")),
        ({"text": " "}, (None, "empty")),
        ({"text": "It was tried."}, (None, "no_label")),
        ({"text": "Yes", "finish_reason": "stop", "refusal": None}, ("yes", "")),
    ],
)
def test_why_a_result_has_no_label(result: Any, read: tuple[str | None, str]) -> None:
    assert label_of(result, ("yes", "no")) == read


def test_a_label_that_is_denied_is_never_its_opposite() -> None:
    verdicts = ("supported", "contradicted", "neutral")
    assert read_label("Answer: not supported", verdicts) is None
    assert read_label("The claim is not supported, it is contradicted.", verdicts) == "contradicted"
    assert read_label("The claim is not true", ("true", "false")) is None


@pytest.mark.parametrize("piece", ["yes, ", "no ", "not ", "answer ", "[", "- "])
def test_answers_that_go_on_and_on_are_read_in_linear_time(piece: str) -> None:
    read_label(piece * (400_000 // len(piece)), ("yes", "no", "unknown"))  # quadratic time would not end
