"""What a run will take and has taken, in words."""

from __future__ import annotations

import pytest

from components.models.caps import dollars, estimate_text, spent_text
from evidencebench_core.llm import Price, Spending
from evidencebench_core.runs import RunEstimate


def estimate(**changes: object) -> RunEstimate:
    values: dict[str, object] = {
        "model": "tiny*",
        "n_instances": 96,
        "n_looked_at": 48,
        "calls": 1200,
        "cached": 0,
        "prompt_tokens": 1_000_000,
        "completion_tokens": 200_000,
        "price": None,
    }
    return RunEstimate(**(values | changes))  # type: ignore[arg-type]


def test_an_unknown_price_leaves_tokens_only() -> None:
    said = estimate_text(estimate())
    # 1,200 calls over 96 instances: 12.5, said as 12.
    assert said.startswith("96 instances, about 1,200 calls (12 each), 1,200,000 tokens, the price of tiny")
    assert "is not known: tokens only" in said
    assert "$" not in said
    assert "Estimated from 48 instances" in said


def test_a_known_price_gives_dollars_and_says_as_of_when() -> None:
    # 1 million prompt tokens at $2 and 0.2 million answer tokens at $5: 2 + 1 = $3
    said = estimate_text(
        estimate(price=Price(prompt=2.0, completion=5.0, date="2025-08"), cached=1, n_looked_at=96)
    )
    assert "$3" in said
    assert "2025" in said
    assert "1 answer in the store cost" in said
    assert "Estimated from" not in said


def test_nothing_left_to_ask_is_said() -> None:
    assert "every answer is in the store" in estimate_text(estimate(calls=0, cached=5))


def test_spending_tells_unknown_money_from_none() -> None:
    assert spent_text(Spending()) == "0 calls, 0 tokens"
    assert spent_text(Spending(1, prompt_tokens=9, completion_tokens=1, money=None)) == (
        "1 call, 10 tokens, price unknown"
    )
    assert spent_text(Spending(2, cached=3, failed=1, money=0.5)) == (
        "2 calls, 0 tokens, $0.50, 3 from the store, 1 failed call"
    )


@pytest.mark.parametrize(
    ("money", "said"),
    [(None, "price unknown"), (0.0, "$0.00"), (0.0012, "$0.0012"), (12.345, "$12.35"), (1234.5, "$1,234.50")],
)
def test_small_sums_keep_four_decimals(money: float | None, said: str) -> None:
    assert dollars(money) == said
