"""The outcome of an answer in words."""

from __future__ import annotations

from components.models.calls import outcome_line
from evidencebench_core.retrievers import Retrieval


def test_what_else_an_answer_was_is_told_beside_its_kind() -> None:
    details = {"outcome": "selection over some-unknown regenerated partly", "n_unknown": "2"}
    assert outcome_line(Retrieval((3, 4), (0.0, 0.0), (3, 4), details=details), 1) == (
        "**a selection** of 2; 2 picks where K is 1: scored by expectation over every K of them; "
        "indices that were not shown: 2, left out; at least one part of the paper, or one point searched for, "
        "was lost; asked once more for fewer"
    )
    plain = Retrieval((3,), (0.0,), (3,), details={"outcome": "selection"})
    assert outcome_line(plain, 1) == "**a selection** of 1"
