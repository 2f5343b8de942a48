"""Outcomes of a run's calls: their counts, and which answers could not be read."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from evidencebench_core.llm.parse import OUTCOME_KINDS, UNREADABLE, after_thinking, no_answer_reason

OUTCOME_FLAGS: Final = {
    "over": "over the budget, scored by expectation",
    "some-unknown": "with indices not shown",
    "partly": "with a part of the paper lost",
    "regenerated": "asked again for fewer",
}
"""Words that may follow the kind in ``details["outcome"]``: ``"selection over regenerated"``."""


def outcome_counts(outcomes: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Numbers of instances by kind and flag, including zeros, from outcomes and their counts."""
    counts = Counter(dict.fromkeys((*OUTCOME_KINDS, *OUTCOME_FLAGS), 0))
    for outcome, number in outcomes:
        for word in outcome.split():
            counts[word] += number
    return dict(counts)


def counts_text(counts: Mapping[str, int]) -> str:
    """``"290 a selection, 2 refused, 1 call failed, 4 over the budget, scored by expectation; 0.7% unread"``."""
    words = {**OUTCOME_KINDS, **OUTCOME_FLAGS}
    text = ", ".join(f"{number:,} {words[name]}" for name, number in counts.items() if number)
    n_answers = sum(counts[kind] for kind in OUTCOME_KINDS if kind != "failed")
    n_unread = sum(counts[kind] for kind in UNREADABLE)
    return f"{text}; {n_unread / max(1, n_answers):.1%} unread" if text else ""


def unread_keys(result: Any) -> list[str]:
    """The keys of a result's unread answers. It is one answer, or a list that ends with a retrieval's details."""
    if isinstance(result, list):
        calls = result[-1].get("calls", ())
        return [call["answer"].get("key", "") for call in calls if call["kind"] in ("cut_off", "no_list")]
    text = after_thinking(str(result.get("text", "")))
    reason = no_answer_reason(text, finish_reason=result.get("finish_reason"))
    is_unread = reason == "cut_off" or not (reason or text)
    return [str(result.get("key", ""))] if is_unread else []
