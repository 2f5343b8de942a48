"""The cost of work on a server, before it begins."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.llm.prices import Price, price_of
from evidencebench_core.runs.plan import Plan

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store
    from evidencebench_core.llm import LLM

_LOOKED_AT: Final = 50  # instances; those between are taken to be like them


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """The calls that a run still needs.

    Attributes
    ----------
    model : str
    n_instances : int
        Instances with something to ask.
    n_looked_at : int
        Of how many of them the prompts were made; the others are taken to be like these.
    calls, cached : int
        To the server, and answered from the store. Answers with too many sentences, which are asked for
        once more, and failed attempts come on top.
    prompt_tokens, completion_tokens : int
        Of the calls; see `llm.estimated_tokens`. An answer is taken to have 800 tokens, or ``max_tokens``.
    price : Price or None
        ``None`` where the model's is not known.
    batch : bool
        Whether the calls are made in batches, which the table of prices may have at another price.
    """

    model: str
    n_instances: int
    n_looked_at: int
    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    price: Price | None
    batch: bool = False

    @property
    def money(self) -> float | None:
        """Dollars; ``None`` where the price is not known."""
        if self.price is None:
            return None
        money = self.price.of(self.prompt_tokens, self.completion_tokens)
        return money * self.price.batch if self.batch else money

    def as_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        counts = asdict(self)
        del counts["price"], counts["batch"]
        return counts | {"money": self.money}


def estimate(plan: Plan, batch: bool = False) -> RunEstimate:
    """The cost of executing a plan. Nothing is sent, nothing stored.

    The conversations of up to 50 instances, evenly spread over the dataset, are rehearsed; ``batch`` says whether
    the batch engine is to ask.

    Raises
    ------
    SettingError
        For a retriever that asks no server.
    """
    from evidencebench_core.llm import Planned, planned, prices

    (llm, served), ids = plan.served, tuple(plan.missing)
    looked_at = ids[:: max(1, -(-len(ids) // _LOOKED_AT))]
    total, n_there = Planned(), 0
    for _, questions in plan.questions(looked_at):
        n_there += bool(questions)
        seen: set[object] = set()  # what tasks have in common is asked once
        for question in questions:
            total += planned(llm, served.conversation(question.query), plan.fresh, seen)
    factor = len(ids) / len(looked_at) if looked_at else 0.0
    total = total.times(factor)
    model = str(plan.spec.settings.get("model", ""))
    return RunEstimate(
        model,
        round(n_there * factor),
        len(looked_at),
        total.calls,
        total.cached,
        total.prompt_tokens,
        total.completion_tokens,
        price_of(model, prices()),
        batch,
    )


def draft_estimate(store: Store, dataset: str, model: str, llm: LLM, **how: Any) -> RunEstimate:
    """The cost of `perturb.making.new_drafts` with the same arguments; ``n_instances`` counts the wordings."""
    from evidencebench_core.llm import prices
    from evidencebench_core.perturb.making import draft_plan

    plan = draft_plan(store, dataset, model, llm, **how)
    return RunEstimate(
        model,
        plan.n_wordings,
        plan.n_wordings if plan.n_sampled == plan.n_instances else plan.n_sampled,
        plan.calls,
        plan.cached,
        plan.prompt_tokens,
        plan.completion_tokens,
        price_of(model, prices()),
    )
