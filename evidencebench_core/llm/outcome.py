"""The outcomes of asking a model, in words that a run can be counted by."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from evidencebench_core.llm.parse import OutcomeKind, after_thinking, no_answer_reason

OUTCOME_KINDS: Final[Mapping[str, str]] = {
    "selection": "a selection",
    "empty": "chose nothing",
    "unknown": "only indices not shown",
    "no_list": "no list found",
    "refusal": "refused",
    "cut_off": "cut off by the token limit",
    "failed": "call failed",
}
"""The kinds of outcome, with a name for people. Retrievers that ask no model have none of these."""

OUTCOME_FLAGS: Final[Mapping[str, str]] = {
    "over": "over the budget, scored by expectation",
    "some-unknown": "with indices not shown",
    "partly": "with a part of the paper lost",
    "regenerated": "asked again for fewer",
}
"""Words that may stand behind the kind in ``details["outcome"]``: ``"selection over regenerated"``."""

UNREADABLE: Final[tuple[OutcomeKind, ...]] = ("cut_off", "refusal", "no_list")
"""The kinds of answers that leave open what the model would have chosen; the one that says least first."""


def outcome_counts(texts: Iterable[tuple[str, int]], failed: int = 0) -> dict[str, int]:
    """Numbers of instances by kind and flag, zeros too, from outcomes and how often each is there."""
    counts = dict.fromkeys((*OUTCOME_KINDS, *OUTCOME_FLAGS), 0) | {"failed": failed}
    for text, number in texts:
        for word in text.split():
            counts[word] = counts.get(word, 0) + number
    return counts


def counts_text(counts: Mapping[str, int]) -> str:
    """``"290 a selection, 2 refused, 1 call failed, 4 over the budget, scored by expectation; 0.7% unread"``."""
    words = {**OUTCOME_KINDS, **OUTCOME_FLAGS}
    text = ", ".join(f"{number:,} {words.get(word, word)}" for word, number in counts.items() if number)
    return f"{text}; {unread_share(counts):.1%} unread" if text else text


def unread_share(counts: Mapping[str, int]) -> float:
    """The share of answers that leave open what the model would have chosen."""
    n_answers = sum(counts.get(kind, 0) for kind in OUTCOME_KINDS if kind != "failed")
    return sum(counts.get(kind, 0) for kind in UNREADABLE) / max(1, n_answers)


def least_informative(kinds: Iterable[OutcomeKind]) -> OutcomeKind:
    """The outcome of several answers none of which chose anything: the one that says least."""
    present = set(kinds)
    return next((kind for kind in (*UNREADABLE, "unknown") if kind in present), "empty")


def unread_keys(result: Any) -> list[str]:
    """The keys of the answers behind a stored result that were cut off, or that nobody could read.

    A result is one answer, or a list that ends with the details of a retrieval.
    """
    if isinstance(result, list):
        calls = result[-1].get("calls", ())
        kinds = [(call["kind"], call["answer"].get("key", "")) for call in calls]
    else:
        text = after_thinking(str(result.get("text", "")))
        reason = no_answer_reason(text, finish_reason=result.get("finish_reason")) or (
            "" if text else "no_list"
        )
        kinds = [(reason, str(result.get("key", "")))]
    return [key for kind, key in kinds if kind in ("cut_off", "no_list")]
