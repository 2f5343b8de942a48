"""Work with a model from synchronous code: carried out, or rehearsed to estimate its cost."""

import math
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import asdict, replace
from itertools import islice
from typing import Any, Final, TypeAlias, TypeVar

from anyio.from_thread import start_blocking_portal

from evidencebench_core.data.primitives import canonical_text
from evidencebench_core.data.store import Store
from evidencebench_core.errors import BudgetReachedError, EvidenceBenchError, LLMCancelledError, SettingError
from evidencebench_core.llm.answers import Answer, Call, answers_like
from evidencebench_core.llm.budget import Forecast, Spending, price_of
from evidencebench_core.llm.client import LLM, Transport
from evidencebench_core.llm.connection import Connection

_K = TypeVar("_K")
_T = TypeVar("_T")

Work: TypeAlias = Callable[[LLM], Awaitable[_T]]
Results: TypeAlias = list[tuple[_K, _T | EvidenceBenchError]]

_INTERVAL: Final = 0.1  # seconds between checks whether the work was stopped
_FEWEST: Final = 3  # answers that an estimate can rest on
_PROMPTS: Final = (0.75, 1.0, 1.5)  # guessed lengths of prompts, as multiples of our estimate
_SHORT_ANSWER: Final = 100  # tokens


def answer_of(
    llm: LLM, work: Work[_T], *, stopped: Callable[[], bool] = lambda: False, grace: float = 30.0
) -> _T:
    """The result of one piece of work; `LLMCancelledError` if it is stopped."""
    for ready in results(llm, [("", work)], stopped=stopped, grace=grace):
        for _, result in ready:
            if isinstance(result, EvidenceBenchError):
                raise result
            return result
    raise LLMCancelledError("the call", "was cancelled", "Start it again: answers so far are kept.", True)


def results(
    llm: LLM,
    pieces: Iterable[tuple[_K, Work[_T]]],
    *,
    stopped: Callable[[], bool] = lambda: False,
    grace: float = 30.0,
    beside: Work[None] | None = None,
) -> Iterator[Results[_K, _T]]:
    """Results of many pieces of work with their keys, in lists as they come; an empty list where nothing is ready.

    As many pieces are under way as calls may be, and ``beside``, in the event loop of a thread. Once ``stopped`` is
    true, or the iterator is closed, no call begins; those under way have ``grace`` seconds to end, and a piece that was
    cut short has no result. An error that every call would meet is raised after all that came before it.
    """
    if stopped():
        return
    rest = iter(pieces)
    under_way: dict[Future[Any], Any] = {}  # by future the key of its piece
    errors: list[BaseException] = []  # that would fail every call
    end = math.inf  # when pieces under way are cut short
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(llm):
        others = [] if beside is None else [portal.start_task_soon(beside, llm)]
        try:
            while True:
                is_over = stopped() or any(not isinstance(error, BudgetReachedError) for error in errors)
                if is_over:  # at a cap, what is under way may finish
                    end = min(end, time.monotonic() + grace)
                if is_over or errors:
                    portal.call(llm.turns.stop)
                else:
                    for key, work in islice(rest, llm.concurrency - len(under_way)):
                        under_way[portal.start_task_soon(work, llm)] = key
                if not under_way or time.monotonic() > end:
                    break
                done, _ = wait([*under_way, *others], _INTERVAL, FIRST_COMPLETED)
                ready, fatal = _results_and_errors(done, under_way)
                errors += fatal
                yield ready
        finally:
            portal.call(llm.turns.stop)
            wait(under_way, max(0.0, min(end - time.monotonic(), grace)))
            for future in (*under_way, *others):
                future.cancel()
    if errors:
        raise errors[0]


def _results_and_errors(
    done: Iterable[Future[Any]], under_way: dict[Future[Any], Any]
) -> tuple[Results[Any, Any], list[BaseException]]:
    """The results of finished pieces, and the errors that would fail every call."""
    ready: Results[Any, Any] = []
    errors: list[BaseException] = []
    for future in done:
        key, error = under_way.pop(future, None), future.exception()
        is_of_one = isinstance(error, EvidenceBenchError) and not isinstance(error, SettingError)
        if error is None:
            ready.append((key, future.result()))
        elif is_of_one and not getattr(error, "stops_run", False):
            ready.append((key, error))
        elif not isinstance(error, LLMCancelledError):
            errors.append(error)
    return ready, errors


class _Rehearsal(Transport):
    """Gives each call its assumed answer, and remembers the calls."""

    is_paid = False

    def __init__(self) -> None:
        self.calls: list[Call] = []

    async def send(self, call: Call, body: dict[str, Any]) -> Answer:
        self.calls.append(call)
        return Answer(call.rehearsal)


def rehearse(
    llm: LLM, *pieces: Work[_T], times: float = 1.0, batch: bool = False
) -> tuple[list[_T | None], Forecast]:
    """The result of each piece whose answers are all stored, else ``None``; and the cost of the other answers.

    Nothing is sent or stored. A call that several pieces make is counted once; the cost is multiplied by ``times``.
    """
    values: list[_T | None] = []
    stage, n_before = _Rehearsal(), 0
    dry = LLM(llm.connection, llm.store, concurrency=1, fresh=llm.fresh, transport=stage)  # one by one
    for ready in results(dry, enumerate(pieces)):
        for _, value in ready:
            if isinstance(value, EvidenceBenchError):
                raise value
            values.append(value if len(stage.calls) == n_before else None)
            n_before = len(stage.calls)
    calls = {call.key: call for call in stage.calls}
    cost = forecast(llm.store, calls.values(), times, batch)
    return values, replace(cost, cached=round(times * dry.budget.spent.cached))


def forecast(store: Store | None, calls: Iterable[Call], times: float = 1.0, batch: bool = False) -> Forecast:
    """The cost of calls, multiplied by ``times``: from stored answers to their prompts, else a guess."""
    groups = defaultdict[str, list[Call]](list)
    for call in calls:
        groups[canonical_text([call.model, call.prompt, call.parameters])].append(call)
    totals, rests_on = [Spending()] * 3, Counter[str]()
    for group in groups.values():
        costs, basis = _group_costs(store, group, times, batch)
        totals = [total.plus(cost) for total, cost in zip(totals, costs, strict=True)]
        rests_on.update(basis)
    low, expected, high = totals
    return Forecast(**asdict(expected), low=low, high=high, rests_on=dict(rests_on))


def _group_costs(
    store: Store | None, calls: list[Call], times: float, batch: bool
) -> tuple[list[Spending], dict[str, int]]:
    """The low, expected and high cost of calls with one prompt and the same parameters, and what these rest on."""
    call, n, most = calls[0], times * len(calls), calls[0].most_answer_tokens
    is_same, pairs = answers_like(store, call) if store is not None and call.prompt else (False, [])
    prompts: tuple[float, ...] = _PROMPTS
    answers: tuple[float, ...] = (min(_SHORT_ANSWER, most), call.usual_answer_tokens, most)
    rests_on = {"guesses": round(n)}
    if len(pairs) >= _FEWEST:
        prompts = (statistics.mean(ratio for ratio, _ in pairs),) * 3
        lengths = [length for _, length in pairs]
        mean = statistics.mean(lengths)
        # three standard errors of the difference between the means of n answers and of the stored ones
        margin = 3 * statistics.stdev(lengths) * math.sqrt(1 / n + 1 / len(pairs))
        answers = (max(0.0, mean - margin), mean, min(most, mean + margin))
        rests_on = {f"answers {'with these settings' if is_same else 'to the same prompts'}": len(pairs)}
    n_prompt = times * sum(call.prompt_tokens for call in calls)
    costs = []
    for ratio, length in zip(prompts, answers, strict=True):
        tokens = round(n_prompt * ratio), round(n * length)
        costs.append(Spending(round(n), 0, *tokens, price_of(call.model, *tokens, batch)))
    return costs, rests_on


def listed_models(connection: Connection) -> tuple[str, ...]:
    """The models that a server lists, sorted; empty where it has no list. `LLMError` if it cannot be asked."""
    return tuple(sorted(answer_of(LLM(connection), LLM.models)))


def has_model(listed: Sequence[str], model: str) -> bool:
    """Whether a model is listed, by itself or with a tag or revision."""
    return any(name == model or name.startswith((f"{model}:", f"{model}@")) for name in listed)
