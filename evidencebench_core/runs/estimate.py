"""The cost of work on a server, before it begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Final

from evidencebench_core.llm.budget import Price, Spending, price_of
from evidencebench_core.runs.engines import ask
from evidencebench_core.runs.plan import Plan

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

    Up to 50 units, evenly spread, are rehearsed; ``batch`` says whether the batch engine is to ask.
    """
    units = tuple(plan.missing)
    if plan.llm is None:
        return RunEstimate("", len(units), 0, 0, 0, 0, 0, None)
    from evidencebench_core.llm.work import rehearse

    plan.llm.fresh = plan.fresh
    sample = units[:: max(1, -(-len(units) // _SAMPLE))]
    _, cost = rehearse(plan.llm, *(partial(ask, plan, unit) for unit in plan.units(sample)))
    cost = Spending().plus(cost, len(units) / len(sample) if sample else 0.0)
    return RunEstimate(
        model=plan.model,
        n_instances=len(units),
        n_looked_at=len(sample),
        calls=cost.calls,
        cached=cost.cached,
        prompt_tokens=cost.prompt_tokens,
        completion_tokens=cost.completion_tokens,
        price=price_of(plan.model),
        batch=batch,
    )


def sum_estimates(estimates: Sequence[RunEstimate]) -> RunEstimate:
    """The cost of several plans for one model."""
    names = ("n_instances", "n_looked_at", "calls", "cached", "prompt_tokens", "completion_tokens")
    sums = {name: sum(getattr(item, name) for item in estimates) for name in names}
    return replace(estimates[0], **sums)
