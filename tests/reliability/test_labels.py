"""Answers of models -> a label, or none."""

import tomllib
from pathlib import Path

import pytest

from evidencebench_core.reliability.labels import read_label

LABELS = tomllib.loads(Path(__file__).with_name("labels.toml").read_text("utf-8"))


@pytest.mark.parametrize(
    ("label", "text"), [(label, text) for label in LABELS for text in LABELS[label]["texts"]]
)
def test_the_label_of_an_answer(label: str, text: str) -> None:
    assert read_label(text, ("yes", "no", "unknown")) == (label or None)


def test_a_label_that_is_denied_is_never_its_opposite() -> None:
    verdicts = ("supported", "contradicted", "neutral")
    assert read_label("Answer: not supported", verdicts) is None
    assert read_label("The claim is not supported, it is contradicted.", verdicts) == "contradicted"
    assert read_label("The claim is not true", ("true", "false")) is None


@pytest.mark.parametrize("piece", ["yes, ", "no ", "not ", "answer "])
def test_answers_that_go_on_and_on_are_read_in_linear_time(piece: str) -> None:
    read_label(piece * (400_000 // len(piece)), ("yes", "no", "unknown"))
