"""Carrying out plans: the cost before and after, progress, Ctrl+C, and how to go on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from evidencebench_core.cli.emit import note
from evidencebench_core.cli.frame import command_line
from evidencebench_core.cli.progress import progress_bar, stopping
from evidencebench_core.errors import LLMError, SettingError
from evidencebench_core.words import quantity

if TYPE_CHECKING:
    from evidencebench_core.llm import LLM, Spending
    from evidencebench_core.runs import Engine, Plan, Progress, RunEstimate


def cost_of(plans: Sequence[Plan], batch: bool = False, noun: str = "instance") -> RunEstimate:
    """The cost of plans for one model, said on stderr; zero where no server is asked."""
    from evidencebench_core.runs import estimate, together

    if not plans:
        raise SettingError("the command", "leaves nothing to ask", "Name another task, or other items.")
    cost = together([estimate(plan, batch=batch) for plan in plans])
    llm = plans[0].llm
    if llm is None:
        return cost
    if not cost.calls:
        note(f"Nothing to do: all {quantity(cost.cached, 'answer')} of {cost.model} are in the store.")
        return cost
    check_model(llm, cost.model)
    price = "at a price that is not known" if cost.money is None else f"about ${cost.money:,.2f}"
    note(
        f"To ask {cost.model}: about {quantity(cost.calls, 'call')} for {quantity(cost.n_instances, noun)}"
        f" ({cost.cached:,} more are in the store), {cost.prompt_tokens + cost.completion_tokens:,} tokens, {price}."
    )
    return cost


def check_model(llm: LLM, model: str) -> None:
    """Raise where the server can never be asked; a note where it cannot be now, or does not list the model.

    Some servers answer any name with the model that they have, and the run would stand under a wrong name.
    """
    from evidencebench_core.llm import has_model, listed_models

    try:
        listed = listed_models(llm.connection)
    except LLMError as error:
        if error.stops_run:
            raise
        note(str(error))  # it may be starting, or refuse no more than its list
        return
    if listed and not has_model(listed, model):
        note(
            f"{llm.connection.address} does not list {model}, but {', '.join(listed[:5])}: it may refuse, or answer"
            " with another model under that name."
        )


def carry_out(plans: Iterable[Plan], engine: Engine, noun: str = "instance") -> list[Progress]:
    """The last report of each plan, carried out one after the other, with progress and spending on stderr.

    A first Ctrl+C lets what is under way end, and then raises KeyboardInterrupt.
    """
    reports, llm = [], None
    with stopping("begins no other question, and keeps what comes within 30 s") as stopped:
        try:
            for plan in plans:
                llm = plan.llm
                reports.append(_last_report(plan, engine, stopped, noun))
        finally:
            if llm is not None:
                print_spending(llm.budget.spent)
    return reports


def _last_report(plan: Plan, engine: Engine, stopped: Callable[[], bool], noun: str) -> Progress:
    from evidencebench_core.runs import execute

    reports = execute(plan, engine, stopped)
    last = next(reports)
    note(f"run {last.run_id}: {last.done:,} of {quantity(last.total, noun)} already answered")
    reason = ""
    with progress_bar(last.total, f"{noun}s", last.done) as bar:
        try:
            for last in reports:
                counts = {"calls": last.calls, "failed": last.failed}
                bar.set_postfix({name: n for name, n in counts.items() if n}, refresh=False)
                bar.update(last.done + last.failed - bar.n)
                if last.note and last.note.partition(" ")[0] != reason:
                    bar.write(last.note, file=sys.stderr)
                reason = last.note.partition(" ")[0]
            if stopped():
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            bar.close()
            note(
                f"Interrupted: {last.done:,} of {quantity(last.total, noun)} answered; every call that was paid"
                f" for is in the store. To go on: {command_line()}"
            )
            raise
    return last


def print_spending(spent: Spending) -> None:
    """What a run has cost, on stderr; nothing where nothing was asked."""
    if not (spent.calls or spent.cached or spent.failed):
        return
    cost = "at a price that is not known" if spent.money is None else f"${spent.money:,.4f}"
    note(
        f"It took {quantity(spent.calls, 'call')}, {quantity(spent.cached, 'answer')} from the store,"
        f" {spent.failed:,} failed; {spent.tokens:,} tokens ({spent.prompt_tokens:,} of prompts), {cost}."
    )


def exit_code(n_failed: int, noun: str, reasons: Iterable[str] = ()) -> int:
    """1 where something failed, with a line that says why the first did and what to do."""
    if not n_failed:
        return 0
    first = next(iter(reasons), "")
    why = f"; the first: {first}" if first else ""
    note(f"evidencebench: {quantity(n_failed, noun)} failed{why}. Give the same command again to try them.")
    return 1
