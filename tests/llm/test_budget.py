"""Caps that hold, prices, and estimates that learn, by hand."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest

from evidencebench_core.data.store import Store
from evidencebench_core.errors import BudgetReachedError
from evidencebench_core.llm import LLM, Answer, Budget, Call, Connection, Spending, price_of
from evidencebench_core.llm.answers import AnswerStore, estimated_prompt_tokens, estimated_tokens, spending_of
from evidencebench_core.llm.budget import call_cost, price_source
from evidencebench_core.llm.client import Transport
from evidencebench_core.llm.work import forecast, results

PRICED, LOCAL = "gpt-4o", "local"  # no price of the second is known


def call(n: int = 0, model: str = PRICED, most: int = 200, size: int = 300) -> Call:
    body = {"messages": [], "model": model, "max_tokens": most}
    made = Call(body, "cot 1")
    made.key, made.prompt_tokens, made.most_prompt_tokens = f"key {n}", size // 4, size
    return made


def asked(
    budget: Budget, sizes: Sequence[int], answer: Callable[[int], Answer], at_once: int = 32, **how: Any
) -> list[Any]:
    """Answers and errors of calls with prompts of these sizes, all made at once."""

    class Scripted(Transport):
        async def send(self, call: Call, body: dict[str, Any]) -> Answer:
            await asyncio.sleep(0)
            return answer(int(call.key.split()[1]))

    llm = LLM(Connection("http://h/v1"), None, budget, at_once, transport=Scripted())
    calls = [call(number, size=size, **how) for number, size in enumerate(sizes)]
    pieces = [(made.key, partial(LLM.answer, call=made)) for made in calls]
    collected: list[Any] = []
    try:
        for ready in results(llm, pieces):
            collected += [result for _, result in ready]
    except BudgetReachedError as error:
        collected.append(error)
    return collected


@pytest.mark.parametrize("at_once", [1, 8, 32])
@pytest.mark.parametrize("counted", [(290, 200), (900, 200)], ids=["as sent", "a hidden prompt"])
def test_no_cap_is_passed_and_none_is_left_half_used(at_once: int, counted: tuple[int, int]) -> None:
    each = call_cost(PRICED, *counted)
    assert each.money is not None
    for budget in (Budget(money=20.5 * each.money), Budget(tokens=20 * each.tokens + 99), Budget(calls=20)):
        *answers, error = asked(budget, [300] * 64, lambda _: Answer("x", "stop", None, *counted), at_once)
        assert isinstance(error, BudgetReachedError)
        assert error.stops_run
        assert budget.spent.calls == len(answers)
        assert 18 <= len(answers) <= 20  # the last is reserved with more than it costs
        assert budget.spent.tokens <= (budget.tokens or 10**9)
        assert (budget.spent.money or 0) <= (budget.money or 10**9)


def test_answers_of_every_length_and_a_server_that_counts_all_prompts_alike_pass_no_cap() -> None:
    dollars, tokens = Budget(money=1.0), Budget(tokens=100_000)
    lengths = [(17 * number) % 16_001 for number in range(400)]
    *_, error = asked(
        dollars, [28_000] * 400, lambda n: Answer("x", "stop", None, 7_000, lengths[n]), most=16_000
    )
    assert isinstance(error, BudgetReachedError)
    assert 0.7 < (dollars.spent.money or 0) <= 1.0
    sizes = [28_000, *[2_000] * 63]  # the first has bytes enough for what is counted, the others have not
    *_, error = asked(tokens, sizes, lambda _: Answer("x", "stop", None, 7_000, 200))
    assert isinstance(error, BudgetReachedError)
    assert 80_000 < tokens.spent.tokens <= 100_000


def test_a_model_without_a_price_has_caps_in_calls_and_tokens() -> None:
    (error,) = asked(Budget(money=1.0), [300] * 3, lambda _: Answer("x"), model=LOCAL)
    assert "price of local is not known" in str(error)
    assert len(asked(Budget(calls=2), [300] * 3, lambda _: Answer("x"), model=LOCAL)) == 3


def test_spending_adds_up() -> None:
    one = Spending(1, 2, 4, 5, 0.5)
    assert one.plus(one) == Spending().plus(one, 2) == Spending(2, 4, 8, 10, 1.0)
    assert one.plus(Spending(money=None)).money is None


def test_tokens_are_estimated() -> None:
    # 9 ASCII characters: 9/4, so 3; each other character is one.
    assert [estimated_tokens(text) for text in ("", "123456789", "β-茶1234")] == [0, 3, 2 + 2]
    assert estimated_prompt_tokens(("1234", "12345")) == 1 + 4 + 2 + 4


def test_prices_are_those_of_the_package() -> None:
    price = price_of("gpt-4o-2024-08-06", 1_000, 100)
    assert price == price_of("gpt-4o", 1_000, 100) != price_of("gpt-4o-2024-05-13", 1_000, 100)
    assert price == pytest.approx(1_000 * 2.5e-6 + 100 * 10e-6)
    assert price_of("gpt-4o", 1_000, 100, batch=True) == pytest.approx(price / 2)
    assert price_of("text-embedding-3-small", 1, 0) is not None
    assert price_of(LOCAL, 1, 1) is None
    assert price_source().startswith("genai-prices ")


def keep(store: Store, n: int, completion: Callable[[int], int], run_id: str = "", **how: Any) -> None:
    """Have so many answers in the store; each prompt has twice the tokens of our estimate."""

    async def kept() -> None:
        answers = AnswerStore(store, run_id=run_id)
        for number in range(n):
            asked = call(number, **how)
            answer = Answer("x", "stop", None, 2 * asked.prompt_tokens, completion(number))
            await answers.keep(asked, "http://h/v1", answer, call_cost(PRICED, 10, 20))

    asyncio.run(kept())


def test_an_estimate_learns_from_stored_answers(store: Store) -> None:
    calls = [call(1_000 + number, most=16_000) for number in range(96)]
    guess = forecast(store, calls)
    assert (guess.rests_on, guess.calls) == ({"guesses": 96}, 96)
    assert (guess.low.completion_tokens, guess.high.completion_tokens) == (96 * 100, 96 * 16_000)
    keep(store, 12, lambda number: 8_000 + 100 * number, most=500)  # the same prompt, other settings
    learnt = forecast(store, calls)
    assert learnt.rests_on == {"answers to the same prompts": 12}
    assert learnt.prompt_tokens == learnt.high.prompt_tokens == 96 * 2 * 75
    assert learnt.completion_tokens == 96 * 8_550
    assert learnt.low.completion_tokens < 96 * 8_400 < 96 * 8_700 < learnt.high.completion_tokens < 96 * 9_000
    keep(store, 5, lambda _: 15_000, most=16_000)
    same = forecast(store, calls, 2.0)
    assert (same.rests_on, same.calls) == ({"answers with these settings": 5}, 192)
    assert same.low.completion_tokens == same.high.completion_tokens == 192 * 15_000


def test_what_a_run_has_cost_is_kept(store: Store) -> None:
    keep(store, 3, lambda _: 1, "run")
    spent = spending_of(store, "run")
    assert (spent.calls, spent.prompt_tokens, spent.completion_tokens) == (3, 30, 60)
    assert spent.money == pytest.approx(3 * (call_cost(PRICED, 10, 20).money or 0))
    assert spending_of(store, "another") == Spending()
