"""Verbs on RAmBLA's tests: ``reliability ingest``, ``run``, ``score``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from typer import Argument, Option

from evidencebench_core.cli import options
from evidencebench_core.cli.ask import carry_out, perform
from evidencebench_core.cli.emit import Output, note
from evidencebench_core.cli.frame import Report, Store, group, verb
from evidencebench_core.errors import SettingError
from evidencebench_core.words import quantity

if TYPE_CHECKING:
    from evidencebench_core.runs import Plan, Progress

RELIABILITY = group("reliability", "what a model can be trusted with: RAmBLA's tests")
_INTERVAL = ("value", "low", "high")
_SHOWN = ("task", "settings", "figure", *_INTERVAL, "difference", "p_holm", "null_rate", "n", "in_words")


@verb("ingest pubmedqa.json", within=RELIABILITY, creates=True)
def ingest(
    store: Store,
    file: Path | None = Argument(None, metavar="FILE", help="CSV, JSON or JSON lines; PubMedQA's, BioASQ's"),
    dataset: options.SomeDataset = None,
    sample: bool = Option(False, "--sample", help="24 invented questions"),
    name: options.NewName = None,
) -> Output:
    """Bring questions into the store.

    Of a file: id, question, context, answer and maybe long_answer, group; or pairs: statement_1, statement_2, similar.
    Of a dataset in the store: does a sentence bear on the hypothesis?
    """
    from evidencebench_core.reliability.from_evidencebench import ingest_evidence
    from evidencebench_core.reliability.read_items import ingest_items
    from evidencebench_core.reliability.sample import SAMPLE_NAME, add_sample_items

    if (file is not None) + (dataset is not None) + sample != 1:
        raise SettingError("reliability ingest", "needs one source", "Give FILE, --dataset or --sample.")
    if file is not None:
        info = ingest_items(store, file, name)
    elif dataset is not None:
        info = ingest_evidence(store, dataset, name)
    else:
        info = add_sample_items(store, name or SAMPLE_NAME)
    return Output(asdict(info), title=f"{info.name}: {quantity(info.n_items, 'item')} from {info.source}")


@verb("run pubmedqa --model qwen3 --task t1 --task spelling", within=RELIABILITY)
def run(
    store: Store,
    model: options.Model,
    work: options.Work,
    items: str = Argument(..., metavar="ITEMS", help="an item set in the store"),
    task: list[str] | None = Option(None, metavar="T", help="(default: all that the items allow)"),
    judge: str = Option("", metavar="M", help="a model that reads answers in free text"),
    settings: options.Settings = None,
    limit: options.Limit = None,
) -> Output:
    """Ask a model tests, or go on with them."""
    from evidencebench_core.reliability.card import run_score, score_record
    from evidencebench_core.reliability.runs import judge_plan, reliability_run, run_plan
    from evidencebench_core.reliability.tasks import RELIABILITY_TASKS, reliability_task

    llm, given = work.llm(store), options.settings_of(settings)
    tests = [reliability_task(name) for name in task] if task else list(RELIABILITY_TASKS.values())
    fields = {name for test in tests for name in test.settings.model_fields}
    if unknown := given.keys() - fields:
        raise SettingError("--set", f"{min(unknown)} is a setting of none of these tests", "See the manual.")
    plans: list[Plan] = []
    for test in tests:
        chosen = {name: value for name, value in given.items() if name in test.settings.model_fields}
        try:
            plans.append(
                run_plan(store, items, test.name, model, chosen, limit=limit, llm=llm, fresh=work.again)
            )
        except SettingError as error:
            if task:
                raise
            note(f"{test.name} is left out: {error}")

    def result(reports: list[Progress]) -> Output:
        runs = [reliability_run(store, report.run_id) for report in reports]
        if judge:
            judged = [run.id for run in runs if run.task.judge_prompt and run.n_answered]
            readings = [judge_plan(store, run_id, judge, llm=llm, fresh=work.again) for run_id in judged]
            reports += perform(readings, work.make_engine(), "answer")
        records = [score_record(run_score(store, run.id)) for run in runs]
        rows = [{name: record[name] for name in ("run", *_SHOWN)} for record in records]
        return Output({"runs": rows}, {"": rows}, percent=(*_INTERVAL, "null_rate"))

    return carry_out(store, plans, work, "question", result)


@verb("score pubmedqa --model qwen3", within=RELIABILITY, tables=True)
def score(
    store: Store,
    name: str = Argument(..., metavar="ITEMS|RUN", help="an item set, for the cards of its models; or a run"),
    model: str | None = Option(None, metavar="M", help="only this model"),
) -> Report:
    """Score the tests of models, with intervals; of a run --out writes every answer too."""
    import pandas as pd

    from evidencebench_core.analyses import Report
    from evidencebench_core.reliability.card import model_card, run_score, score_record
    from evidencebench_core.reliability.items import item_sets
    from evidencebench_core.reliability.runs import reliability_runs

    shares = ("value", "null_rate")
    if name not in {info.name for info in item_sets(store)}:
        result = run_score(store, name)
        scores = pd.DataFrame([score_record(result)])
        tables = {"score": scores, "variants": result.variants, "answers": result.answers}
        left_out = tuple(f"{quantity(n, 'answer')} left out: {why}" for why, n in result.left_out.items())
        brief = {"score": _SHOWN, "answers": ()}
        return Report(f"run {result.run.id}", tables, left_out, brief=brief, shares=shares)
    models = dict.fromkeys(run.model for run in reliability_runs(store, name))
    cards = [model_card(store, name, known).frame() for known in models if model in (None, known)]
    if not cards:
        raise SettingError(f"item set {name}", "was asked of no such model", "Start with `reliability run`.")
    brief = {"tests": ("model", *_SHOWN)}
    return Report(f"Questions: {name}", {"tests": pd.concat(cards)}, brief=brief, shares=shares)
