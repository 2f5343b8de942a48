"""The cost of a run on a server, before it begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError
from evidencebench_core.llm.prices import Price, price_of
from evidencebench_core.runs.asking import Item, queries_of
from evidencebench_core.runs.execute import DEFAULT_TASKS
from evidencebench_core.runs.pending import pending_of
from evidencebench_core.runs.prepared import prepared
from evidencebench_core.runs.store import RunStore
from evidencebench_core.runs.variant import Perturbed, Variant
from evidencebench_core.tasks import Task, task_named

if TYPE_CHECKING:
    from evidencebench_core.retrievers.llm.session import Session


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
    """

    model: str
    n_instances: int
    n_looked_at: int
    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    price: Price | None

    @property
    def money(self) -> float | None:
        """Dollars; ``None`` where the price is not known."""
        return None if self.price is None else self.price.of(self.prompt_tokens, self.completion_tokens)

    def as_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        return {
            "model": self.model,
            "n_instances": self.n_instances,
            "n_looked_at": self.n_looked_at,
            "calls": self.calls,
            "cached": self.cached,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "money": self.money,
        }


def estimated_run(  # noqa: PLR0913 - what `execute` is given
    store: Store,
    dataset: str,
    retriever: str,
    settings: Mapping[str, object] | None = None,
    tasks: Sequence[str | Task] = DEFAULT_TASKS,
    limit: int | None = None,
    *,
    variant: Variant | None = None,
    session: Session | None = None,
) -> RunEstimate:
    """The cost of `execute` with the same arguments. Nothing is sent, nothing stored.

    The prompts of up to 50 instances, evenly spread over the dataset, are made for real.

    Raises
    ------
    SettingError
        As `execute`; and for a retriever that asks no server.
    UnknownNameError, RetrieverError
        As `execute`.
    """
    ready = prepared(store, dataset, retriever, settings, variant, session)
    if ready.served is None or ready.session is None:
        raise SettingError(f"retriever {retriever}", "asks no server", "Run it: it costs nothing.")
    chosen = tuple(dict.fromkeys(task if isinstance(task, Task) else task_named(task) for task in tasks))
    pending = pending_of(
        RunStore(store), ready.spec.id, dataset, chosen, limit, variant, ready.session.fresh
    ).missing
    ids = tuple(pending)
    step = max(1, -(-len(ids) // _LOOKED_AT))
    looked_at = ids[::step]
    from evidencebench_core.retrievers.llm.rehearsal import Planned

    planned, n_there = Planned(), 0
    for instance in store.get_many(dataset, looked_at):
        perturbed = variant.perturbed(instance) if variant else Perturbed(instance.hypothesis)
        queries = queries_of(Item(instance, perturbed, pending[instance.id]))
        n_there += bool(queries)
        planned += ready.served.rehearsed(queries)
    factor = len(ids) / len(looked_at) if looked_at else 0.0
    planned = planned.times(factor)
    model = str(ready.spec.settings.get("model", ""))
    return RunEstimate(
        model,
        round(n_there * factor),
        len(looked_at),
        planned.calls,
        planned.cached,
        planned.prompt_tokens,
        planned.completion_tokens,
        price_of(model, ready.session.prices),
    )
