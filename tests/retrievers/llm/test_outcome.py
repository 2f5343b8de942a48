"""What came back, in counts that tell every kind apart."""

from __future__ import annotations

import pytest

from evidencebench_core.llm.parse import OutcomeKind
from evidencebench_core.retrievers.llm import OUTCOME_KINDS, OutcomeCounts
from evidencebench_core.retrievers.llm.outcome import least_informative, outcome_text


def test_counts_and_words() -> None:
    text = outcome_text("selection", over=True, unknown_indices=True, regenerated=True, partly=True)
    assert text == "selection over some-unknown regenerated partly"
    # Two such, three plain selections, an empty one and one call that failed: 7 instances.
    counts = OutcomeCounts.of([(text, 2), ("selection", 3), ("empty", 1)], failed=1)
    assert dict(counts.kinds) == {"selection": 5, "empty": 1, "failed": 1}
    assert str(counts) == (
        "5 a selection (2 over the budget, scored by expectation), 1 chose nothing, 1 call failed,"
        " 2 with indices not shown, 2 with a part of the paper lost, 2 asked again for fewer"
    )
    flags = {"over": 2, "unknown_indices": 2, "regenerated": 2, "partly": 2}
    assert counts.as_dict() == dict.fromkeys(OUTCOME_KINDS, 0) | dict(counts.kinds) | flags


@pytest.mark.parametrize(
    ("kinds", "least"),
    [
        ([], "empty"),
        (["empty", "empty"], "empty"),
        (["empty", "unknown"], "unknown"),
        (["unknown", "no_list", "empty"], "no_list"),
        (["no_list", "refusal"], "refusal"),
        (["refusal", "cut_off", "empty"], "cut_off"),
    ],
)
def test_nothing_chosen_anywhere(kinds: list[OutcomeKind], least: OutcomeKind) -> None:
    assert least_informative(kinds) == least
