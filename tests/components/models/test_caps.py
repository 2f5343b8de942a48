"""What a run will take and has taken, in words."""

from __future__ import annotations

from components.models.caps import dollars, estimate_text, spent_text
from evidencebench_core.llm import Spending
from evidencebench_core.runs import RunEstimate

WORK = {"model": "tiny*", "n_instances": 96, "calls": 1200, "cached": 1}
TOKENS = {"prompt_tokens": 1_000_000, "completion_tokens": 200_000}


def test_an_estimate_has_dollars_only_where_the_price_is_known() -> None:
    unknown = estimate_text(RunEstimate(**WORK, **TOKENS, n_looked_at=48, money=None))
    assert all(part in unknown for part in ("1,200 calls (12 each)", "1,200,000 tokens", "48 instances"))
    assert "$" not in unknown
    known = estimate_text(RunEstimate(**WORK, **TOKENS, n_looked_at=96, money=3.0, price_date="2025-08"))
    assert all(part in known for part in ("$3", "2025", "1 answer in the store"))


def test_spending_tells_unknown_money_from_none() -> None:
    assert spent_text(Spending()) == "0 calls, 0 tokens"
    assert "price unknown" in spent_text(Spending(1, prompt_tokens=9, completion_tokens=1, money=None))
    spent = spent_text(Spending(2, cached=3, failed=1, money=0.5))
    assert spent == "2 calls, 0 tokens, $0.50, 3 from the store, 1 failed call"


def test_small_sums_keep_four_decimals() -> None:
    sums = (None, 0.0, 0.0012, 12.345, 1234.5)
    assert [dollars(money) for money in sums] == ["price unknown", "$0.00", "$0.0012", "$12.35", "$1,234.50"]
