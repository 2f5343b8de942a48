"""Verbs on RAmBLA's tests: ``reliability ingest``, ``run``, ``score``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from typer import Argument, Option

from evidencebench_core.cli import options
from evidencebench_core.cli.ask import carry_out, kept_text, perform
from evidencebench_core.cli.emit import Output, note
from evidencebench_core.cli.frame import Report, Store, group, verb
from evidencebench_core.errors import SettingError
from evidencebench_core.words import quantity

if TYPE_CHECKING:
    from evidencebench_core.runs import Plan, Progress

RELIABILITY = group("reliability", "What a model can be trusted with: RAmBLA's tests.")
Judge = Option(None, metavar="M", help="a model that reads answers in free text")


@verb("ingest pubmedqa.json", within=RELIABILITY, creates=True)
def ingest(
    store: Store,
    file: Path | None = Argument(None, metavar="FILE", help="CSV, JSON or JSON lines; PubMedQA's, BioASQ's"),
    sample: bool = Option(False, "--sample", help="24 invented questions"),
    name: options.NewName = None,
) -> Output:
    """Bring questions into the store.

    Of each: id, question, context, answer and maybe long_answer, group; of pairs: statement_1, statement_2, similar.
    """
    from evidencebench_core.reliability.items import ITEM_SETS
    from evidencebench_core.reliability.read_items import SAMPLE, ingest_items

    if (file is None) != sample:
        raise SettingError("reliability ingest", "needs one source", "Give FILE or --sample.")
    known = {info.name for info in ITEM_SETS.all(store)}
    info = ingest_items(store, file or SAMPLE, name or ("sample" if sample else None))
    return Output(asdict(info), title=kept_text(info.name, quantity(info.n_items, "item"), known))


@verb("run pubmedqa --model qwen3 --task t1 --task spelling", within=RELIABILITY)
def run(
    store: Store,
    model: options.Model,
    work: options.Work,
    items: str = Argument(..., metavar="ITEMS", help="an item set in the store"),
    task: list[str] | None = Option(None, metavar="T", help="(default: all that the items allow)"),
    judge: str | None = Judge,
    settings: options.Settings = None,
    limit: options.Limit = None,
) -> Output:
    """Ask a model tests, or go on with them."""
    from evidencebench_core.reliability.card import BRIEF, SHARES, run_score
    from evidencebench_core.reliability.runs import judge_plan, run_plan
    from evidencebench_core.reliability.tasks import RELIABILITY_TASKS, reliability_task

    llm, given = work.llm(store), options.settings_of(settings)
    tests = [reliability_task(name) for name in task] if task else list(RELIABILITY_TASKS.values())
    fields = {name for test in tests for name in test.settings.model_fields}
    if unknown := given.keys() - fields:
        raise SettingError(f"setting {min(unknown)}", "is not one of these tests", "See the manual.")
    plans: list[Plan] = []
    judged: list[Plan] = []
    for test in tests:
        chosen = {name: value for name, value in given.items() if name in test.settings.model_fields}
        try:
            if test.judge and not judge:
                place, remedy = f"task {test.name}", "Give --judge M to have them read."
                raise SettingError(place, "has answers in free text", remedy)
            plan = run_plan(store, items, test.name, model, chosen, limit=limit, llm=llm, fresh=work.again)
        except SettingError as error:
            if task:
                raise
            note(f"{test.name} is left out: {error}")
            continue
        plans.append(plan)
        if test.judge and judge:
            judged.append(judge_plan(store, plan.run_id, judge, llm=llm, fresh=work.again, expected=plan))

    def result(reports: list[Progress]) -> Output:
        scored = [report.run_id for report in reports]
        for plan in judged:
            try:
                texts = judge_plan(store, plan.spec.subject, plan.model, llm=llm, fresh=work.again)
            except SettingError as error:  # none of them can be judged
                note(str(error))
                continue
            reports += perform([texts], work.make_engine(), "answer")
        records = [run_score(store, run_id, judge).record() for run_id in scored]
        shown = ("run", *(name for name in BRIEF if name != "p_holm"))  # which is of all tests of a model
        rows = [{name: record[name] for name in shown} for record in records]
        return Output({"runs": rows}, {"": rows}, percent=(*SHARES, "low", "high", "difference"))

    return carry_out(store, plans, work, "question", result, then=judged)


@verb("score pubmedqa --model qwen3", within=RELIABILITY, tables=True)
def score(
    store: Store,
    name: str = Argument(..., metavar="ITEMS|RUN", help="an item set, for the cards of its models; or a run"),
    model: str | None = Option(None, metavar="M", help="only this model"),
    judge: str | None = Judge,
) -> Report:
    """Score the tests of models, with intervals. Of a run --out writes every answer too."""
    from evidencebench_core.reliability.card import reliability_report

    return reliability_report(store, name, model, judge)
