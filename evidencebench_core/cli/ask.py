"""Carrying out plans: the cost before and after, progress on stderr, Ctrl+C, and how to go on."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from evidencebench_core.cli.emit import Output, note
from evidencebench_core.cli.frame import command_line
from evidencebench_core.errors import LLMError, LLMRejectedError, SettingError
from evidencebench_core.words import dollars, one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.cli.options import Work
    from evidencebench_core.data import Store
    from evidencebench_core.llm import LLM, Spending
    from evidencebench_core.runs import Engine, Plan, Progress, RunEstimate, Step


def kept_text(name: str, content: str, known: Collection[str]) -> str:
    """What is said of a set that came in, or was there before under one of the ``known`` names."""
    if name in known:
        return f"The store has this content already, as {name}: {content}. Nothing was changed."
    return f"{name}: {content}"


def carry_out(
    store: Store,
    plans: Sequence[Plan],
    work: Work,
    noun: str,
    result: Callable[[list[Progress]], Output],
    then: Sequence[Plan] = (),
) -> Output:
    """What was made of the answers to the plans, or with ``--estimate`` their cost.

    That of ``then``, which ``result`` carries out, is counted with them. The exit code is 1 where a unit (``noun``)
    failed, or where not one of all answers could be read.
    """
    cost = _cost_of([*plans, *then], work.engine == "batch", noun)
    if work.estimate:
        return Output({"estimate": asdict(cost)}, title=f"{cost.calls:,} calls")
    reports = perform(plans, work.make_engine(), noun)
    output, llm = result(reports), plans[0].llm
    if llm is not None and isinstance(output.document, dict):
        paid = {"estimate": asdict(cost), "spending": asdict(llm.budget.spent)}
        output = replace(output, document=output.document | paid)
    return replace(output, code=output.code or _exit_code(store, reports, noun))


def _cost_of(plans: Sequence[Plan], batch: bool, noun: str) -> RunEstimate:
    """The cost of plans, said on stderr model by model; zero where no server is asked."""
    from evidencebench_core.runs import estimate

    if not plans:
        raise SettingError("the command", "leaves nothing to ask", "Name another task, or other items.")
    cost, llm = estimate(*plans, batch=batch), plans[0].llm
    if llm is None:
        return cost
    if not any(plan.missing for plan in plans):
        note(f"Nothing to do: all {quantity(sum(plan.total for plan in plans), 'answer')} are in the store.")
        return cost
    for model in dict.fromkeys(plan.model for plan in plans if plan.missing):
        _check_model(llm, model)
        of_model = estimate(*(plan for plan in plans if plan.model == model), batch=batch)
        calls = f"about {quantity(of_model.calls, 'call')} for {quantity(of_model.n_instances, noun)}"
        note(f"To ask {model}: {calls} ({of_model.cached:,} more in the store), {of_model.range_text()}.")
    return cost


def _check_model(llm: LLM, model: str) -> None:
    """Raise where the server can never be asked; a note where another model may answer under this name."""
    from evidencebench_core.llm import has_model, listed_models

    try:
        listed = listed_models(llm.connection)
    except LLMError as error:
        if isinstance(error, LLMRejectedError):
            raise
        note(str(error))  # it may be starting, or refuse no more than its list
        return
    if listed and not has_model(listed, model):
        names = ", ".join(listed[:5])
        note(f"{llm.connection.address} does not list {model}, but {names}: another model may answer.")


def perform(plans: Iterable[Plan], engine: Engine, noun: str) -> list[Progress]:
    """The last report of each plan, carried out one after the other, with progress and spending on stderr.

    A first Ctrl+C lets what is under way end, and then raises KeyboardInterrupt.
    """
    reports, llm = [], None
    with _stopping() as stopped:
        try:
            for plan in plans:
                llm = plan.llm
                reports.append(_last_report(plan, engine, stopped, noun))
        finally:
            if llm is not None:
                _print_spending(llm.budget.spent)
    return reports


def _last_report(plan: Plan, engine: Engine, stopped: Callable[[], bool], noun: str) -> Progress:
    from evidencebench_core.runs import execute

    reports = execute(plan, engine, stopped)
    last = next(reports)
    note(f"run {last.run_id}: {last.done:,} of {quantity(last.total, noun)} already answered")
    reason = ""
    with progress_bar(f"{noun}s", last.total, last.done) as bar:
        try:
            for last in reports:
                bar.set_postfix(calls=last.calls, failed=last.failed, refresh=False)
                advance(bar, last.done + last.failed, last.total)
                if last.note and last.note.partition(" ")[0] != reason:
                    write_line(bar, last.note)
                reason = last.note.partition(" ")[0]
            if stopped():
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            bar.close()
            answered = f"{last.done:,} of {quantity(last.total, noun)} answered"
            note(f"Interrupted: {answered}; every call that was paid for is in the store.")
            note(f"To go on: {command_line()}")
            raise
    return last


def _print_spending(spent: Spending) -> None:
    if spent.calls or spent.cached:
        calls = f"{quantity(spent.calls, 'call')}, {quantity(spent.cached, 'answer')} from the store"
        tokens = f"{spent.tokens:,} tokens ({spent.prompt_tokens:,} of prompts)"
        note(f"It took {calls}; {tokens}, {dollars(spent.money)}.")


def _exit_code(store: Store, reports: Sequence[Progress], noun: str) -> int:
    """1, with a line on why and what to do, where something failed or nothing could be read."""
    from evidencebench_core.llm.parse import UNREADABLE
    from evidencebench_core.runs import RunStore

    runs = RunStore(store)
    infos = [runs.run(report.run_id) for report in reports]
    outcomes = [counts for report in reports for counts in runs.outcomes(report.run_id).values()]
    n_unreadable = sum(counts[kind] for counts in outcomes for kind in UNREADABLE)
    if n_unreadable and n_unreadable == sum(info.n_answered for info in infos):
        nothing = f"not one of {quantity(n_unreadable, 'answer')} could be read"
        note(f"evidencebench: {nothing}: --ask-again unread asks again")
        return 1
    n_failed = sum(report.failed for report in reports)
    reasons = (reason for info in infos for reason in runs.reasons(info))
    if n_failed:
        why = f"; the first: {next(reasons, 'unknown').rstrip('.')}"
        note(
            f"evidencebench: {quantity(n_failed, noun)} failed{why}. Give the same command again to try them."
        )
    return 1 if n_failed else 0


@contextmanager
def _stopping() -> Iterator[Callable[[], bool]]:
    """Within it the first Ctrl+C makes the yielded function say true, and the second ends the work at once."""
    pressed = threading.Event()

    def press(*_: object) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()
        note("Stopping: begins no other question, keeps what comes within 30 s. Ctrl+C again stops now.")

    before = signal.signal(signal.SIGINT, press)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)


def progress_bar(unit: str, total: int | None = None, done: int = 0) -> Any:
    """A tqdm bar on a terminal; what was ``done`` earlier counts for the bar, not for the pace."""
    from tqdm import tqdm

    is_hidden = not sys.stderr.isatty()
    return tqdm(
        total=total, initial=done, unit=unit, unit_scale=unit == "bytes", delay=0.3, disable=is_hidden
    )


def advance(bar: Any, done: int, total: int | None) -> None:
    """Move a bar to what is done of a total that may have changed."""
    bar.total = total
    bar.update(done - bar.n)


def write_line(bar: Any, text: str) -> None:
    """A line on stderr, above a bar."""
    bar.write(one_line(text), file=sys.stderr)


@contextmanager
def printed_steps() -> Iterator[Callable[[Step], None]]:
    """A function that draws the steps of long work: every text is printed once, and then has a bar of its own."""
    text, bar = "", progress_bar("steps")

    def draw(step: Step) -> None:
        nonlocal text, bar
        if step.text != text:
            bar.close()
            text, bar = step.text, progress_bar(step.unit, step.total or None)
            note(text)
        advance(bar, step.done, step.total or None)

    try:
        yield draw
    finally:
        bar.close()
