"""Caps, prices and estimates, by hand."""

import pytest

from evidencebench_core.errors import BudgetReachedError
from evidencebench_core.llm import Answer, Budget, Message, Price, Spending, budget, price_of
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
    answer = Answer(text, prompt_tokens=prompt, completion_tokens=completion)
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
    assert budget.spent == Spending(1, 0, 1_000, 100, pytest.approx(0.003))
    budget.in_batches = True
    spend(budget, 1_000, 100)
    assert budget.spent.money == pytest.approx(0.0045)
    # not counted by the server: the 500 reserved, and 9 characters of text as 3 tokens
    spend(budget, None, None, "123456789")
    assert budget.spent.tokens == 2_200 + 503
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


def test_the_cap_in_money() -> None:
    budget = Budget(money=0.003)
    with budget.reserve("m", 1_000, most=100) as settle:
        settle(None)
    assert refused(budget)
    assert refused(Budget(money=1.0), model=LOCAL)  # its price is not known


def test_spending_adds_up() -> None:
    one = Spending(1, 2, 4, 5, 0.5)
    assert one.plus(one) == Spending().plus(one, 2) == Spending(2, 4, 8, 10, 1.0)
    assert one.plus(Spending(money=None)).money is None


def test_estimates() -> None:
    # 9 ASCII characters: 9/4, so 3; each other character is one.
    assert estimated_tokens("") == 0
    assert estimated_tokens("123456789") == 3
    assert estimated_tokens("β-茶1234") == 2 + 2
    assert estimated_prompt_tokens((Message("system", "1234"), Message("user", "12345"))) == 1 + 4 + 2 + 4


def test_our_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    prices = budget.prices()
    assert all(price.date for price in prices.values())
    assert price_of("gpt-4o-2024-08-06") == price_of("gpt-4o") != price_of("gpt-4o-2024-05-13")
    assert price_of("llama-of-mine") is None
