"""Answers of models -> indices, reasons, or why there are none."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.llm.parse import after_thinking, index_list, no_answer_reason, read_answer

MANNERS = tomllib.loads(Path(__file__).with_name("manners.toml").read_text("utf-8"))["answer"]
SHOWN = range(40)


@pytest.mark.parametrize("manner", MANNERS, ids=lambda manner: manner["family"])
def test_the_manners_of_models(manner: dict[str, Any]) -> None:
    first = manner.get("first", 0)
    answer = read_answer(manner["text"], range(first, first + 40), finish_reason=manner.get("finish_reason"))
    assert answer.kind == manner.get("kind", "selection")
    assert list(answer.indices) == manner.get("chosen", [])


def test_numbers_that_were_not_shown_are_counted() -> None:
    assert read_answer("DECISION: [3, 99, 38-41]", SHOWN).n_unknown == 1 + 2
    assert read_answer(f"DECISION: [{10**8}]", SHOWN).kind == "unknown"


def test_reasons_stand_on_lines_of_their_own() -> None:
    text = "3: the effect\n- **7**: its size\n9: not chosen\nDECISION: [3, 7, 8]"
    assert read_answer(text, SHOWN).reasons == {3: "the effect", 7: "its size"}
    thoughts = read_answer("DECISION: [8]", SHOWN, thoughts="8: found while thinking")
    assert thoughts.reasons == {8: "found while thinking"}
    assert read_answer("3, 5, 7", SHOWN).reasons == {}


def test_answers_to_other_prompts() -> None:
    assert after_thinking("<think>a</think>b") == "b"
    assert after_thinking("<think>a") is None
    assert no_answer_reason("Yes.") is None
    assert index_list("sentences 3 and S12, 9-10") == [range(3, 4), range(12, 13), range(9, 11)]
    assert index_list("see Smith 2020 et al.") is None


@pytest.mark.parametrize(
    "piece", ["yes, ", "[", "[1, ", "DECISION ", "no ", "- ", "1-", "<think>", "not ", "answer ", "(", "|"]
)
def test_answers_that_go_on_and_on_are_read_in_linear_time(piece: str) -> None:
    text = piece * (400_000 // len(piece))  # what takes quadratic time would not end
    read_answer(f"DECISION: {text}", SHOWN)
    read_answer(text, SHOWN)
