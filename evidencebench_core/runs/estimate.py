"""The cost of work on a server, before it begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from evidencebench_core.errors import SettingError
from evidencebench_core.llm.conversation import Planned, planned
from evidencebench_core.llm.prices import Price, price_of
from evidencebench_core.perturb.drafts import Drafts, Kind
from evidencebench_core.runs.plan import AnyPlan

if TYPE_CHECKING:
    from evidencebench_core.llm import LLM

_T = TypeVar("_T")
_LOOKED_AT: Final = 50  # instances


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
        tokens = self.prompt_tokens, self.completion_tokens
        return None if self.price is None else self.price.of(*tokens, self.batch)

    def as_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        counts = asdict(self)
        del counts["price"], counts["batch"]
        return counts | {"money": self.money}


def estimate(plan: AnyPlan, batch: bool = False) -> RunEstimate:
    """The cost of executing a plan. Nothing is sent, nothing stored.

    The conversations of up to 50 instances, evenly spread over the dataset, are rehearsed; ``batch`` says whether
    the batch engine is to ask.

    Raises
    ------
    SettingError
        For a retriever that asks no server.
    """
    if plan.llm is None:
        raise SettingError(f"run {plan.run_id}", "asks no server", "Run it: it costs nothing.")
    ids = tuple(plan.missing)
    looked_at = _spread(ids)
    total, n_there = Planned(), 0
    for _, questions in plan.questions(looked_at):
        n_there += bool(questions)
        seen: set[object] = set()  # what tasks have in common is asked once
        for question in questions:
            total += planned(plan.llm, plan.conversation(question), plan.fresh, seen)
    factor = len(ids) / len(looked_at) if looked_at else 0.0
    model, n_instances = plan.model, round(n_there * factor)
    counts = asdict(total.times(factor))
    return RunEstimate(model, n_instances, len(looked_at), **counts, price=price_of(model), batch=batch)


def together(estimates: Sequence[RunEstimate]) -> RunEstimate:
    """The cost of several plans for one model; what they have in common is counted once for each."""
    names = ("n_instances", "n_looked_at", "calls", "cached", "prompt_tokens", "completion_tokens")
    return replace(estimates[0], **{name: sum(getattr(one, name) for one in estimates) for name in names})


def draft_estimate(
    drafts: Drafts, wanted: Sequence[tuple[str, Kind]], model: str, llm: LLM, *, fresh: bool = False
) -> RunEstimate:
    """The cost of `perturb.making.new_drafts` with the same arguments; ``n_instances`` counts the wordings."""
    looked_at, total = _spread(wanted), Planned()
    for _, conversation in drafts.conversations(looked_at, model):
        total += planned(llm, conversation, fresh)
    counts = asdict(total.times(len(wanted) / len(looked_at) if looked_at else 0.0))
    counts["completion_tokens"] = counts["calls"] * drafts.answer_tokens
    return RunEstimate(model, len(wanted), len(looked_at), **counts, price=price_of(model))


def _spread(ids: Sequence[_T]) -> Sequence[_T]:
    """Up to fifty, evenly over all; what lies between is taken to be like them."""
    return ids[:: max(1, -(-len(ids) // _LOOKED_AT))]
