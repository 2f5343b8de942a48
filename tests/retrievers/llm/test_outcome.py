"""What came back, in counts that tell every kind apart."""

from __future__ import annotations

from evidencebench_core.retrievers.llm import OUTCOME_FLAGS, OUTCOME_KINDS, counts_text
from evidencebench_core.retrievers.llm.outcome import outcome_counts


def test_counts_and_words() -> None:
    # Two with all flags, three plain selections, an empty one and one call that failed: 7 instances.
    text = " ".join(("selection", *OUTCOME_FLAGS))
    counts = outcome_counts([(text, 2), ("selection", 3), ("empty", 1)], failed=1)
    expected = {"selection": 5, "empty": 1, "failed": 1} | dict.fromkeys(OUTCOME_FLAGS, 2)
    assert counts == dict.fromkeys((*OUTCOME_KINDS, *OUTCOME_FLAGS), 0) | expected
    assert counts_text(counts) == (
        "5 a selection, 1 chose nothing, 1 call failed, 2 over the budget, scored by expectation, "
        "2 with indices not shown, 2 with a part of the paper lost, 2 asked again for fewer"
    )
