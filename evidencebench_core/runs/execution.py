"""Execution of a plan, as a generator of progress reports.

Whoever drives it decides the pace. Results are stored before their progress is reported, so a kill loses at most what
is in hand, and another plan of the same run goes on from there.
"""

import math
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Protocol, cast

from evidencebench_core.errors import EvidenceBenchError, RetrieverError, SelectionError
from evidencebench_core.llm import LLM, Forecast, Work, rehearse, results
from evidencebench_core.llm.budget import price_source
from evidencebench_core.retrievers import Query, Retrieval, Retriever
from evidencebench_core.runs.model import Results
from evidencebench_core.runs.planning import Plan, Unit, open_questions
from evidencebench_core.runs.store import RunStore

_COMMIT: Final = 0.25  # seconds of computing between two commits
_SAMPLE: Final = 50  # units that an estimate rehearses, per plan


class Engine(Protocol):
    """One way to answer units; all give the same results, in the same store."""

    note: str  # what it waits for, in one line

    def check(self, plan: Plan) -> None:
        """Raise an `EvidenceBenchError` if it cannot answer the units of a plan."""

    def answers(self, plan: Plan, stopped: Callable[[], bool]) -> Iterator[Results]:
        """Results as they come, in any order; once ``stopped`` is true no unit is started.

        An `EvidenceBenchError` that every further unit would meet is raised after all that was answered before it.
        """


@dataclass(slots=True)
class LocalEngine:
    """Answers units one by one in this process, or as many at once as a server may have calls.

    Once the run is stopped, calls under way have 30 seconds to end; their answers are kept.
    """

    note: str = ""

    def check(self, plan: Plan) -> None:
        """Any unit can be answered here."""

    def answers(self, plan: Plan, stopped: Callable[[], bool]) -> Iterator[Results]:
        if plan.llm is not None:
            yield from model_answers(plan, plan.llm, stopped=stopped)
            return
        computed: dict[str, dict[str, Any]] = {}
        last = 0.0  # so that the first result is reported at once
        for unit in plan.units(plan.missing):
            if stopped():
                break
            computed[unit.id] = compute(unit)
            if time.monotonic() > last + _COMMIT:
                yield computed
                computed, last = {}, time.monotonic()
        yield computed


def compute(unit: Unit) -> dict[str, Retrieval | str]:
    """The answers of a local retriever by question, or the reason, in one line, why there is none."""
    answers: dict[str, Retrieval | str] = {}
    for question, query in unit.queries.items():
        try:
            answers[question] = cast("Retriever", unit.retriever).retrieve(cast("Query", query))
        except (RetrieverError, SelectionError) as error:
            answers[question] = str(error)
    return answers


def model_answers(plan: Plan, llm: LLM, **options: Any) -> Iterator[Results]:
    """Results of a plan that asks a model, as they come; the options are those of `llm.results`."""
    for ready in results(llm, _pieces(plan, plan.missing), **options):
        by_unit: dict[str, dict[str, Any]] = defaultdict(dict)
        for (unit_id, question), result in ready:
            by_unit[unit_id][question] = str(result) if isinstance(result, EvidenceBenchError) else result
        yield by_unit


def _pieces(plan: Plan, missing: Mapping[str, Sequence[str]]) -> Iterator[tuple[tuple[str, str], Work[Any]]]:
    """The work for some units, by unit and question."""
    for unit in plan.units(missing):
        for question in unit.queries:
            if plan.ask is not None:
                yield (unit.id, question), partial(plan.ask, unit, question)


@dataclass(frozen=True, slots=True)
class Step:
    """Progress of some work: ``done`` of ``total`` units (0 where nothing is counted; ``unit`` is a plural).

    ``text`` is what is being done, the same while one thing goes on, or, once, something to know.
    """

    text: str
    done: int = 0
    total: int = 0
    unit: str = ""


# -- carrying out ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a run, in units."""

    run_id: str
    done: int  # with a result for every question, including earlier ones
    total: int
    failed: int = 0  # in this execution, with a question that has no result
    calls: int = 0  # answered by the server so far
    note: str = ""  # why it waits, if it does


def execute(
    plan: Plan, engine: Engine | None = None, cancelled: Callable[[], bool] | None = None
) -> Iterator[Progress]:
    """Ask the questions that a plan has found open, and store the answers as the iterator is consumed.

    The engine (without one: `LocalEngine`) is checked before this returns. The first report comes before any work, then
    one whenever results were stored or the note has changed. Once ``cancelled`` says true no unit is begun, what is
    answered is stored, and the run ends. The run is in the store with its first answers, or once nothing is left.

    `StoreError` if the run is under way in another process; `LLMError` if every further call would fail;
    `SettingError` if the engine cannot ask this retriever.
    """
    engine = engine or LocalEngine()
    engine.check(plan)
    return _progress(plan, engine, cancelled or (lambda: False))


def _progress(plan: Plan, engine: Engine, cancelled: Callable[[], bool]) -> Iterator[Progress]:
    runs, llm = RunStore(plan.store), plan.llm and replace(plan.llm, fresh=plan.fresh, run_id=plan.run_id)
    training = plan.retriever.training if plan.retriever else ()
    failed, is_created = set[str](), False
    with runs.under_way(plan.run_id):
        # Another process may have answered some since the plan was made.
        missing, _ = open_questions(plan.store, plan.spec, plan.missing, plan.fresh)
        plan = replace(plan, missing=missing, llm=llm)
        n_open = {unit: len(questions) for unit, questions in missing.items()}
        report = Progress(plan.run_id, plan.total - len(missing), plan.total)
        yield report
        answers = cast("Generator[Results]", engine.answers(plan, cancelled))
        with closing(answers):
            for by_unit in answers:
                if by_unit and not is_created:
                    runs.create(plan.spec, *training)
                    is_created = True
                if by_unit:
                    runs.add(plan.run_id, by_unit, replace=plan.fresh is not False)
                n_done = report.done
                for unit, by_question in by_unit.items():
                    if any(isinstance(result, str) for result in by_question.values()):
                        failed.add(unit)
                    n_open[unit] -= len(by_question)
                    if not n_open[unit] and unit not in failed:
                        n_done += 1
                note, calls = engine.note or (llm.note if llm else ""), llm.budget.spent.calls if llm else 0
                before = report
                report = replace(report, done=n_done, failed=len(failed), calls=calls, note=note)
                if report != before:
                    yield report
        if not is_created:
            runs.create(plan.spec, *training)


# -- the cost -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEstimate(Forecast):
    """The cost of the calls that runs of one model still need.

    Answers with too many sentences, which are asked for once more, come on top.
    """

    model: str
    n_instances: int  # units with open questions
    n_looked_at: int  # how many of them were rehearsed; the others are assumed to be alike
    price_source: str = ""  # the package that has the price, and its version


def estimate(*plans: Plan, batch: bool = False) -> RunEstimate:
    """The cost of executing plans that ask one model; nothing is sent or stored. Local retrievers cost nothing.

    What is asked again in the same words is paid for once. On average up to 50 units a plan, evenly spread, are
    rehearsed; ``batch`` says whether the batch engine is to ask.
    """
    asking = [plan for plan in plans if plan.llm is not None and plan.missing]
    n, n_looked_at = sum(len(plan.missing) for plan in asking), 0
    pieces: list[Work[Any]] = []
    for plan in asking:
        # The same step for all plans, so that questions which two of them share are drawn from both.
        step = math.ceil(n / (_SAMPLE * len(asking)))
        sample = dict(list(plan.missing.items())[::step])
        pieces += [work for _, work in _pieces(plan, sample)]
        n_looked_at += len(sample)
    cost = Forecast()
    if asking:
        again = [plan.fresh for plan in asking]
        fresh = True in again or frozenset[str]().union(
            *(keys for keys in again if not isinstance(keys, bool))
        )
        llm = replace(cast("LLM", asking[0].llm), fresh=fresh)
        _, cost = rehearse(llm, *pieces, times=n / n_looked_at, batch=batch)
    return RunEstimate(
        **{name: getattr(cost, name) for name in Forecast.__dataclass_fields__},
        model=next((plan.model for plan in plans if plan.llm), ""),
        n_instances=n,
        n_looked_at=n_looked_at,
        price_source=price_source() if cost.calls and cost.money is not None else "",
    )
