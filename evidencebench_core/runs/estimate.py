"""The cost of work on a server, before it begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Final, TypeVar

from evidencebench_core.llm.budget import Price, Spending, price_of
from evidencebench_core.runs.plan import Plan, Question

_T = TypeVar("_T")
_SAMPLE: Final = 50  # units


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """The calls that a run still needs; tokens are estimates, an answer has 800 or ``max_tokens``.

    Answers with too many sentences, which are asked for once more, come on top.
    """

    model: str
    n_instances: int  # units with something to ask
    n_looked_at: int  # of how many the prompts were made; the others are taken to be like these
    calls: int
    cached: int  # answered from the store
    prompt_tokens: int
    completion_tokens: int
    price: Price | None  # None where the model's is not known
    batch: bool = False

    @property
    def money(self) -> float | None:
        """Dollars; ``None`` where the price is not known."""
        if not self.calls:
            return 0.0
        tokens = self.prompt_tokens, self.completion_tokens
        return None if self.price is None else self.price.of(*tokens, self.batch)

    def as_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        counts = asdict(replace(self, price=None))
        del counts["price"], counts["batch"]
        return counts | {"money": self.money}


def estimate(plan: Plan, batch: bool = False) -> RunEstimate:
    """The cost of executing a plan; nothing is sent or stored. A retriever that computes here costs nothing.

    The questions of up to 50 units, evenly spread, are rehearsed; ``batch`` says whether the batch engine is to ask.
    """
    units = tuple(plan.missing)
    if plan.llm is None:
        return RunEstimate("", len(units), 0, 0, 0, 0, 0, None)
    from evidencebench_core.llm.work import rehearse

    plan.llm.fresh = plan.fresh
    sample = _spread(units)
    total, n_asked = Spending(), 0
    for _, questions in plan.questions(sample):
        n_asked += bool(questions)

        def work(question: Question) -> Any:
            return partial(_answer, plan, question)

        _, cost = rehearse(plan.llm, *map(work, questions))  # what tasks have in common is asked once
        total += cost
    factor = len(units) / len(sample) if sample else 0.0
    total = total.times(factor)
    return RunEstimate(
        plan.model,
        round(n_asked * factor),
        len(sample),
        total.calls,
        total.cached,
        total.prompt_tokens,
        total.completion_tokens,
        price=price_of(plan.model),
        batch=batch,
    )


async def _answer(plan: Plan, question: Question, llm: Any) -> Any:
    return await plan.answer(llm, question)


def together(estimates: Sequence[RunEstimate]) -> RunEstimate:
    """The cost of several plans for one model."""
    names = ("n_instances", "n_looked_at", "calls", "cached", "prompt_tokens", "completion_tokens")
    sums = {name: sum(getattr(item, name) for item in estimates) for name in names}
    return replace(estimates[0], **sums)


def _spread(units: Sequence[_T]) -> Sequence[_T]:
    """Up to fifty, evenly over all."""
    return units[:: max(1, -(-len(units) // _SAMPLE))]
