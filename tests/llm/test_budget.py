"""Caps, prices and estimates, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.errors import BudgetReachedError, SettingError
from evidencebench_core.llm import Budget, Message, Price, price_of, prices
from evidencebench_core.llm.request import estimated_prompt_tokens, estimated_tokens

TABLE = {"m": Price(2.0, 10.0)}


def test_money_and_tokens_are_counted() -> None:
    # 1000 tokens at $2 and 100 at $10 a million: $0.002 + $0.001
    budget = Budget(table=TABLE)
    budget.settle(budget.reserve("m", 500), 1_000, 100, 1.5)
    spent = budget.spent
    assert (spent.calls, spent.prompt_tokens, spent.completion_tokens, spent.estimated) == (1, 1_000, 100, 0)
    assert spent.money == pytest.approx(0.003)
    # not counted by the server: 500 estimated, and the mean answer, 100
    budget.settle(budget.reserve("m", 500), None, None, 0.5)
    assert (budget.spent.tokens, budget.spent.estimated, budget.spent.seconds) == (1_700, 1, 2.0)
    # nor here, but there is a text of 9 characters, or of none (a content filter)
    assert budget.settle(budget.reserve("m", 500), 10, None, text="123456789") == 10 + 3
    assert budget.settle(budget.reserve("m", 500), None, None, text="") == 500
    # a model without a price: tokens only, from now on
    budget.settle(budget.reserve("local", 1), 1, 1, 0.0)
    assert budget.spent.money is None


def test_the_cap_in_tokens_counts_what_is_under_way() -> None:
    budget = Budget(tokens=1_000, table=TABLE)
    first = budget.reserve("m", 300, most=200)
    second = budget.reserve("m", 300, most=200)
    # 2 x (300 + 200) are under way, so not one more fits
    state = "cap of 1,000 tokens is reached: 0 are spent, about 1,000 are under way and the next call takes"
    with pytest.raises(BudgetReachedError, match=state):
        budget.reserve("m", 1, most=0)
    budget.release(second)
    budget.settle(first, 300, 50, 0.0)
    assert budget.reserve("m", 600, most=500).completion_tokens == 50  # the mean so far


def test_the_cap_in_calls_counts_those_under_way() -> None:
    budget = Budget(calls=3, table=TABLE)
    budget.settle(budget.reserve("m", 1), 1, 1, 0.0)
    waiting = [budget.reserve("m", 1) for _ in range(2)]
    with pytest.raises(BudgetReachedError, match="3 are made"):
        budget.reserve("m", 1)
    for reservation in waiting:
        budget.settle(reservation, 1, 1, 0.0)
    with pytest.raises(BudgetReachedError, match="3 are made"):
        budget.reserve("m", 1)


def test_the_cap_in_money() -> None:
    budget = Budget(money=0.003, table=TABLE)
    budget.settle(budget.reserve("m", 1_000, most=100), 1_000, 100, 0.0)
    with pytest.raises(BudgetReachedError, match=r"cap of \$0.0030 is reached: \$0.0030 are spent and"):
        budget.reserve("m", 1)
    with pytest.raises(BudgetReachedError, match="price of local is not known"):
        budget.reserve("local", 1)
    with pytest.raises(SettingError):
        Budget(tokens=-1)


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400), st.sampled_from("ynp")), max_size=30))
def test_reservations_leave_nothing_behind(calls: list[tuple[int, int, str]]) -> None:
    budget, tokens = Budget(table=TABLE), 0
    for prompt, completion, how in calls:
        reservation = budget.reserve("m", prompt, completion)
        if how == "y":
            budget.settle(reservation, prompt, completion, 0.0)
            tokens += prompt + completion
        else:  # given up, or perhaps billed with its estimate
            budget.release(reservation, perhaps_billed=how == "p")
            tokens += (prompt + reservation.completion_tokens) * (how == "p")
    assert budget._held == (0, 0, 0.0)
    assert budget.spent.tokens == tokens
    assert budget.spent.perhaps_billed == sum(how == "p" for *_, how in calls)


def test_estimates() -> None:
    # 9 ASCII characters: 9/4, so 3; each other character is one.
    assert estimated_tokens("") == 0
    assert estimated_tokens("123456789") == 3
    assert estimated_tokens("β-茶1234") == 2 + 2
    assert estimated_prompt_tokens((Message("system", "1234"), Message("user", "12345"))) == 1 + 4 + 2 + 4


def test_prices(tmp_path: Path) -> None:
    assert all(price.date and price.source for price in prices(tmp_path / "none").values())
    own = tmp_path / "prices.toml"
    own.write_text('[models]\n"gpt-4o" = { prompt = 1, completion = 2.5 }\n"llama" = { prompt = 0 }\n')
    table = prices(own)
    assert price_of("gpt-4o-2024-08-06", table) == Price(1.0, 2.5)
    assert price_of("llama", table) == Price(0.0, 0.0)
    # $1 for the prompts and $0.25 for the answers, half of it by a batch
    assert Price(1.0, 2.5, batch=0.5).of(1_000_000, 100_000) == pytest.approx(1.25)
    assert Price(1.0, 2.5, batch=0.5).of(1_000_000, 100_000, batch=True) == pytest.approx(0.625)
    assert price_of("llama-of-mine", table) is None


@pytest.mark.parametrize(
    "text",
    [
        "[models",
        "models = 3",
        '[models]\n"a" = 3',
        '[models]\n"a" = { prompt = "x" }',
        '[models]\n"a" = { prompt = -1 }',
        '[models]\n"a" = { completion = 1 }',  # what its prompts cost is not given: that is not nothing
        '[models]\n"a" = { promt = 1, completion = 1 }',
        '"a" = { prompt = 1, completion = 1 }',  # the heading forgotten
    ],
)
def test_files_that_are_no_prices(tmp_path: Path, text: str) -> None:
    (tmp_path / "prices.toml").write_text(text)
    with pytest.raises(SettingError, match=r"prices\.toml"):
        prices(tmp_path / "prices.toml")
