"""A plan carried out, as a generator of progress.

Whoever drives it decides the pace. Results are stored before their progress is reported, so a kill loses at most what
is in hand, and another plan of the same run goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Final, cast

from evidencebench_core.errors import RetrieverError
from evidencebench_core.llm import Price, Spending, price_of, rehearse
from evidencebench_core.runs.engines import Engine, LocalEngine, ask
from evidencebench_core.runs.plan import Plan
from evidencebench_core.runs.store import Results, RunStore

_SAMPLE: Final = 50  # units of an estimate
_HOPELESS_AFTER: Final = 10  # failures of a run in which nothing has worked


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is, in units; a report without a unit has a new note or count of calls."""

    run_id: str
    done: int  # with a result for every task asked for, earlier calls included
    total: int
    failed: int  # of this call, with at least one task without a result
    elapsed: float  # seconds since this call began
    remaining: float | None  # seconds at this call's pace; None before its first unit
    unit: str | None  # that was just stored
    left_out: int = 0  # units without a version in the variant; not in the total
    note: str = ""  # why it waits, where it does
    calls: int = 0  # answered by the server so far


def execute(
    plan: Plan, engine: Engine | None = None, cancelled: Callable[[], bool] | None = None
) -> Iterator[Progress]:
    """Ask what a plan has found missing, and store the answers as the iterator is consumed.

    The engine (without one: `LocalEngine`) is checked before this returns. The first report comes before any work, then
    one after every unit. Once ``cancelled`` says true no unit is begun, what is answered is stored, and the run ends.
    The run is in the store with its first answers, or once there is nothing left to ask.

    Raises
    ------
    StoreError
        If the run is under way in another process; if the store cannot be written.
    RetrieverError, LLMError
        If a run without any result has failed ten times; if every further call would fail.
    SettingError
        If the engine cannot ask this retriever.
    """
    engine = engine or LocalEngine()
    engine.check(plan)
    return _progress(plan, engine, cancelled or (lambda: False))


def _progress(plan: Plan, engine: Engine, cancelled: Callable[[], bool]) -> Iterator[Progress]:
    runs, llm, n_missing = RunStore(plan.store), plan.llm, len(plan.missing)
    began, is_created, n_tried, n_failures, any_result = time.monotonic(), False, 0, 0, plan.any_stored
    n_done = plan.total - n_missing
    remaining = None if n_missing else 0.0
    last = Progress(plan.run_id, n_done, plan.total, 0, 0.0, remaining, None, plan.left_out)
    yield last
    if llm is not None:
        llm.fresh = plan.fresh
    with runs.under_way(plan.run_id):
        answers = cast("Generator[Results]", engine.answers(plan, cancelled))
        with closing(answers):
            for results in answers:
                if results and not is_created:
                    plan.create()
                    is_created = True
                if results:
                    runs.add(plan.run_id, results, plan.replaces)
                note = engine.note or (llm.note if llm else "")
                calls = llm.budget.spent.calls if llm else 0
                if not results and (note, calls) != (last.note, last.calls):
                    last = replace(last, unit=None, note=note, calls=calls)
                    yield last
                for unit, by_task in results.items():
                    reasons = [result for result in by_task.values() if isinstance(result, str)]
                    n_tried, n_failures = n_tried + 1, n_failures + len(reasons)
                    any_result |= len(reasons) < len(by_task)
                    elapsed = time.monotonic() - began
                    last = replace(
                        last,
                        done=last.done + (not reasons),
                        failed=last.failed + bool(reasons),
                        elapsed=elapsed,
                        remaining=elapsed / n_tried * (n_missing - n_tried),
                        unit=unit,
                        note=note,
                        calls=calls,
                    )
                    yield last
                    if not any_result and n_failures >= _HOPELESS_AFTER:
                        raise RetrieverError(
                            f"run {plan.run_id}",
                            f"nothing has worked in the first {n_failures} tries; the last one says:"
                            f" {reasons[-1].rstrip('.')}",
                            "Fix that, then start the run again: it goes on from here.",
                        )
        if not is_created:
            plan.create()


# -- the cost -----------------------------------------------------------------------------------------


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
