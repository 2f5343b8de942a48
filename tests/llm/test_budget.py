"""Caps, prices and estimates, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.errors import BudgetReachedError, SettingError
from evidencebench_core.llm import Budget, Message, Price, price_of, prices
from evidencebench_core.llm.request import estimated_prompt_tokens, estimated_tokens

LOCAL = "local"  # no price is known


@pytest.fixture(autouse=True)
def _prices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two dollars a million tokens of prompt, ten of answer."""
    table = {"m": Price(prompt=2.0, completion=10.0, batch=0.5)}
    monkeypatch.setattr("evidencebench_core.llm.budget.prices", lambda: table)


def spend(
    budget: Budget, prompt: int | None, completion: int | None, guess: int = 0, model: str = "m"
) -> None:
    with budget.reserve(model, 500) as call:
        call.settle(prompt, completion, guess, 1.5)


def test_money_and_tokens_are_counted() -> None:
    # 1000 tokens at $2 and 100 at $10 a million: $0.002 + $0.001
    budget = Budget()
    spend(budget, 1_000, 100)
    spent = budget.spent
    assert (spent.calls, spent.prompt_tokens, spent.completion_tokens, spent.estimated) == (1, 1_000, 100, 0)
    assert spent.money == pytest.approx(0.003)
    budget.in_batches = True
    spend(budget, 1_000, 100)
    assert budget.spent.money == pytest.approx(0.0045)
    # not counted by the server: the 500 reserved, and the guess from its text
    spend(budget, None, None, 3)
    assert (budget.spent.tokens, budget.spent.estimated, budget.spent.seconds) == (2_200 + 503, 1, 4.5)
    spend(budget, 1, 1, model=LOCAL)
    assert budget.spent.money is None


def test_caps_count_what_is_under_way() -> None:
    budget = Budget(tokens=1_000)
    with budget.reserve("m", 300, most=200), pytest.raises(BudgetReachedError) as caught:
        budget.reserve("m", 400, most=200).__enter__()
    assert caught.value.stops_run
    with budget.reserve("m", 400, most=200):
        pass  # no answer came, so nothing is spent
    assert budget.spent.calls == 0
    calls = Budget(calls=2)
    spend(calls, 1, 1)
    with calls.reserve("m", 1), pytest.raises(BudgetReachedError):
        calls.reserve("m", 1).__enter__()
    with calls.reserve("m", 1), calls.reserve("m", 1, is_paid=True) as paid:
        paid.settle(1, 1, 0, 0.0)
    assert calls.spent.calls == 2


def test_the_cap_in_money() -> None:
    budget = Budget(money=0.003)
    with budget.reserve("m", 1_000, most=100) as call:
        call.settle(1_000, 100, 0, 0.0)
    with pytest.raises(BudgetReachedError):
        budget.reserve("m", 1).__enter__()
    with pytest.raises(BudgetReachedError, match="price of local"):
        budget.reserve(LOCAL, 1).__enter__()
    with pytest.raises(SettingError):
        Budget(tokens=-1)


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400), st.booleans()), max_size=30))
def test_reservations_leave_nothing_behind(calls: list[tuple[int, int, bool]]) -> None:
    budget, tokens = Budget(), 0
    for prompt, completion, is_answered in calls:
        with budget.reserve("m", prompt, completion) as call:
            if is_answered:
                call.settle(prompt, completion, 0, 0.0)
                tokens += prompt + completion
    assert budget.spent.tokens == tokens
    assert (budget._calls_under_way, budget._tokens_under_way) == (0, 0)
    assert budget._money_under_way == pytest.approx(0, abs=1e-12)


def test_estimates() -> None:
    # 9 ASCII characters: 9/4, so 3; each other character is one.
    assert estimated_tokens("") == 0
    assert estimated_tokens("123456789") == 3
    assert estimated_tokens("β-茶1234") == 2 + 2
    assert estimated_prompt_tokens((Message("system", "1234"), Message("user", "12345"))) == 1 + 4 + 2 + 4


def test_prices(tmp_path: Path) -> None:
    assert all(price.date and price.source for price in prices(tmp_path / "none").values())
    path = tmp_path / "prices.toml"
    path.write_text('[models]\n"gpt-4o" = { prompt = 1, completion = 2.5 }\n"llama" = { prompt = 0 }\n')
    table = prices(path)
    assert price_of("gpt-4o-2024-08-06", table) == Price(prompt=1.0, completion=2.5)
    assert price_of("llama", table) == Price(prompt=0.0)
    assert price_of("llama-of-mine", table) is None


@pytest.mark.parametrize(
    "text",
    [
        "[models",
        "models = 3",
        '[models]\n"a" = 3',
        '[models]\n"a" = { prompt = -1 }',
        '[models]\n"a" = { completion = 1 }',  # what its prompts cost is not given: that is not nothing
        '[models]\n"a" = { promt = 1, completion = 1 }',
        '"a" = { prompt = 1, completion = 1 }',  # the heading forgotten
    ],
)
def test_a_table_of_prices_that_is_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text)
    with pytest.raises(SettingError) as caught:
        prices(path)
    assert caught.value.place == str(path)
