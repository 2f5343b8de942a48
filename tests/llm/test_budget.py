"""Caps, prices and estimates, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.errors import BudgetReachedError, SettingError
from evidencebench_core.llm import Answer, Budget, Message, Price, Spending, price_of, prices
from evidencebench_core.llm.answers import estimated_prompt_tokens, estimated_tokens

LOCAL = "local"  # no price is known


@pytest.fixture(autouse=True)
def _prices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two dollars a million tokens of prompt, ten of answer."""
    table = {"m": Price(prompt=2.0, completion=10.0, batch=0.5)}
    monkeypatch.setattr("evidencebench_core.llm.budget.prices", lambda: table)


def spend(
    budget: Budget, prompt: int | None, completion: int | None, text: str = "", model: str = "m"
) -> None:
    answer = Answer(text, prompt_tokens=prompt, completion_tokens=completion, seconds=1.5)
    with budget.reserve(model, 500) as settle:
        settle(answer)


def refused(budget: Budget, tokens: int = 1, most: int | None = None, model: str = "m") -> bool:
    try:
        with budget.reserve(model, tokens, most):
            return False
    except BudgetReachedError as error:
        return error.stops_run


def test_money_and_tokens_are_counted() -> None:
    # 1000 tokens at $2 and 100 at $10 a million: $0.002 + $0.001
    budget = Budget()
    spend(budget, 1_000, 100)
    assert budget.spent == Spending(
        1, prompt_tokens=1_000, completion_tokens=100, money=pytest.approx(0.003), seconds=1.5
    )
    budget.in_batches = True
    spend(budget, 1_000, 100)
    assert budget.spent.money == pytest.approx(0.0045)
    # not counted by the server: the 500 reserved, and 9 characters of text as 3 tokens
    spend(budget, None, None, "123456789")
    assert (budget.spent.tokens, budget.spent.seconds) == (2_200 + 503, 4.5)
    with budget.reserve("m", 500, most=20) as settle:
        settle(None)  # and nobody could read what came
    assert (budget.spent.calls, budget.spent.tokens) == (4, 2_703 + 520)
    spend(budget, 1, 1, model=LOCAL)
    assert budget.spent.money is None


def test_caps_count_what_is_under_way() -> None:
    budget = Budget(tokens=1_000)
    with budget.reserve("m", 300, most=200):
        assert refused(budget, 400, most=200)
    assert not refused(budget, 400, most=200)  # no answer came, so nothing is spent
    assert budget.spent == Spending()
    calls = Budget(calls=2)
    spend(calls, 1, 1)
    with calls.reserve("m", 1):
        assert refused(calls)
    assert calls.spent.calls == 1


def test_the_cap_in_money() -> None:
    budget = Budget(money=0.003)
    with budget.reserve("m", 1_000, most=100) as settle:
        settle(None)
    assert refused(budget)
    assert refused(Budget(money=1.0), model=LOCAL)  # its price is not known
    with pytest.raises(SettingError):
        Budget(tokens=-1)


def test_spending_adds_up() -> None:
    one = Spending(1, 2, 3, 4, 5, 0.5, 6.0)
    assert one.plus(one) == Spending().plus(one, 2) == Spending(2, 4, 6, 8, 10, 1.0, 12.0)
    assert one.plus(Spending(money=None)).money is None


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400), st.booleans()), max_size=30))
def test_reservations_leave_nothing_behind(calls: list[tuple[int, int, bool]]) -> None:
    budget, tokens = Budget(), 0
    for prompt, completion, is_answered in calls:
        with budget.reserve("m", prompt, completion) as settle:
            if is_answered:
                settle(Answer("", prompt_tokens=prompt, completion_tokens=completion))
                tokens += prompt + completion
    assert budget.spent.tokens == tokens
    assert budget._under_way == Spending(money=pytest.approx(0, abs=1e-12))


def test_estimates() -> None:
    # 9 ASCII characters: 9/4, so 3; each other character is one.
    assert estimated_tokens("") == 0
    assert estimated_tokens("123456789") == 3
    assert estimated_tokens("β-茶1234") == 2 + 2
    assert estimated_prompt_tokens((Message("system", "1234"), Message("user", "12345"))) == 1 + 4 + 2 + 4


def test_prices(tmp_path: Path) -> None:
    assert all(price.date for price in prices(tmp_path / "none").values())
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
