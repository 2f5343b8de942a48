"""Verbs on RAmBLA's tests: ``reliability ingest``, ``run``, ``score``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from evidencebench_core.cli.ask import carry_out, cost_of, exit_code
from evidencebench_core.cli.emit import Output, emit, note
from evidencebench_core.cli.frame import (
    Ask,
    Engine,
    Json,
    Limit,
    Model,
    Out,
    Settings,
    SomeDataset,
    StorePath,
    group,
    opened,
    settings_of,
    verb,
)
from evidencebench_core.errors import SettingError
from evidencebench_core.words import quantity

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store
    from evidencebench_core.runs import ChatPlan

RELIABILITY = group("reliability", "what a model can be trusted with: RAmBLA's tests")
PERCENT = ("value", "low", "high", "null_rate", "constant_value")
_SHOWN = (
    "task",
    "settings",
    "figure",
    "value",
    "low",
    "high",
    "difference",
    "p_holm",
    "null_rate",
    "n",
    "in_words",
)


@verb(within=RELIABILITY)
def ingest(
    file: Annotated[
        Path | None, Argument(metavar="FILE", help="CSV, JSON or JSON lines; PubMedQA's, BioASQ's")
    ] = None,
    dataset: SomeDataset = None,
    sample: Annotated[bool, Option("--sample", help="24 invented questions")] = False,
    name: Annotated[str | None, Option("--name", metavar="NAME", help="(default: after its source)")] = None,
    json: Json = False,
    store: StorePath = None,
) -> None:
    """Bring questions into the store.

    Of a file: id, question, context, answer and maybe long_answer, group; or pairs: statement_1, statement_2, similar.
    Of a dataset in the store: does a sentence bear on the hypothesis?

    Example: evidencebench reliability ingest pubmedqa.json
    """
    from evidencebench_core.reliability.from_evidencebench import ingest_evidence
    from evidencebench_core.reliability.read_items import ingest_items
    from evidencebench_core.reliability.sample import SAMPLE_NAME, add_sample_items

    if (file is not None) + (dataset is not None) + sample != 1:
        raise SettingError("reliability ingest", "needs one source", "Give FILE, --dataset or --sample.")
    known = opened(store, create=True)
    if file is not None:
        info = ingest_items(known, file, name)
    elif dataset is not None:
        info = ingest_evidence(known, dataset, name)
    else:
        info = add_sample_items(known, name or SAMPLE_NAME)
    emit(
        Output(asdict(info), title=f"{info.name}: {quantity(info.n_items, 'item')} from {info.source}"), json
    )


@verb(within=RELIABILITY)
def run(
    *,
    items: Annotated[str, Argument(metavar="ITEMS", help="an item set in the store")],
    model: Model,
    ask: Ask,
    engine: Engine,
    task: Annotated[
        list[str] | None, Option("--task", metavar="T", help="(default: all that the items allow)")
    ] = None,
    judge: Annotated[
        str, Option("--judge", metavar="M", help="a model that reads answers in free text")
    ] = "",
    set_: Settings = None,
    limit: Limit = None,
    json: Json = False,
    store: StorePath = None,
) -> int:
    """Ask a model tests, or go on with them.

    Example: evidencebench reliability run pubmedqa --model qwen3 --task t1 --task spelling
    """
    from evidencebench_core.reliability.runs import judge_plan, reliability_run, run_plan
    from evidencebench_core.reliability.tasks import RELIABILITY_TASKS, reliability_task
    from evidencebench_core.runs import RunStore

    known = opened(store)
    llm, given = ask.llm(known), settings_of(set_)
    rows = [reliability_task(name) for name in task] if task else list(RELIABILITY_TASKS.values())
    if unknown := [name for name in given if not any(name in row.settings.model_fields for row in rows)]:
        raise SettingError("--set", f"{unknown[0]} is a setting of none of these tests", "See the manual.")
    plans: list[ChatPlan] = []
    for row in rows:
        settings = {name: value for name, value in given.items() if name in row.settings.model_fields}
        try:
            plans.append(
                run_plan(known, items, row.name, model, settings, limit=limit, llm=llm, fresh=ask.fresh)
            )
        except SettingError as error:
            if task:
                raise
            note(f"{row.name} is left out: {error}")
    cost = cost_of(plans, engine.engine == "batch", "question")
    if ask.estimate:
        emit(Output({"estimate": cost.as_dict()}), json)
        return 0
    reports = carry_out(plans, engine.make(), "question")
    runs = [reliability_run(known, report.run_id) for report in reports]
    if judge:
        judged = [one.id for one in runs if one.task.judge_prompt and one.n_answered]
        plans = [judge_plan(known, run_id, judge, llm=llm, fresh=ask.fresh) for run_id in judged]
        reports += carry_out(plans, engine.make(), "answer")
    records = [_run_document(known, one.id) for one in runs]
    document = {"runs": records, "spending": asdict(llm.budget.spent)}
    emit(Output(document, {"": records}, percent=PERCENT), json)
    reasons = (reason for report in reports for reason in RunStore(known).failures(report.run_id).values())
    return exit_code(sum(report.failed for report in reports), "question", reasons)


def _run_document(store: Store, run_id: str) -> dict[str, Any]:
    from evidencebench_core.reliability.card import run_score, score_record

    record = score_record(run_score(store, run_id))
    return {name: record[name] for name in ("run", *_SHOWN)}


@verb(within=RELIABILITY)
def score(
    name: Annotated[
        str, Argument(metavar="ITEMS|RUN", help="an item set, for the cards of its models; or a run")
    ],
    model: Annotated[str | None, Option("--model", metavar="M", help="only this model")] = None,
    against: Annotated[
        str | None, Option("--against", metavar="M", help="compare --model with this one")
    ] = None,
    out: Out = None,
    json: Json = False,
    store: StorePath = None,
) -> None:
    """Score the tests of models, with intervals.

    Of a run also every answer, to a CSV file with --out.

    Example: evidencebench reliability score pubmedqa --model qwen3
    """
    from evidencebench_core.reliability.items import item_sets

    known = opened(store)
    if name not in {info.name for info in item_sets(known)}:
        _score_run(known, name, out, json)
    elif model is not None and against is not None:
        _compare(known, name, model, against, json)
    else:
        _cards(known, name, model, out, json)


def _score_run(store: Store, run_id: str, out: Path | None, json: bool) -> None:
    from evidencebench_core.reliability.card import run_score, score_record

    result = run_score(store, run_id)
    _write(result.answers, out)
    variants = _records(result.variants)
    record = score_record(result) | {"left_out": dict(result.left_out), "variants": variants}
    shown = [{key: record[key] for key in _SHOWN}]
    emit(Output(record, {"": shown, "By variant": variants}, f"run {result.run.id}", percent=PERCENT), json)


def _cards(store: Store, items: str, model: str | None, out: Path | None, json: bool) -> None:
    import pandas as pd

    from evidencebench_core.reliability.card import model_card
    from evidencebench_core.reliability.runs import reliability_runs

    models = list(dict.fromkeys(one.model for one in reliability_runs(store, items)))
    cards = {name: model_card(store, items, name).frame() for name in models if model in (None, name)}
    if not cards:
        raise SettingError(f"item set {items}", "was asked of no such model", "Start with `reliability run`.")
    _write(pd.concat(cards.values()), out)
    records = {name: _records(frame) for name, frame in cards.items()}
    tables = {name: [{key: row[key] for key in _SHOWN} for row in rows] for name, rows in records.items()}
    emit(Output(records, tables, f"Questions: {items}", percent=PERCENT), json)


def _compare(store: Store, items: str, a: str, b: str, json: bool) -> None:
    from evidencebench_core.reliability.card import compare_models

    rows = []
    for one, other, comparison, p in compare_models(store, items, a, b):
        difference = comparison.difference if comparison else None
        rows.append(
            {
                "task": one.task.name, "settings": one.run.label, a: one.value.value, b: other.value.value,
                "difference": difference.value if difference else None,
                "low": difference.low if difference else None,
                "high": difference.high if difference else None,
                "p_holm": p, "n": comparison.n if comparison else 0,
            }
        )  # fmt: skip
    emit(Output(rows, {"": rows}, f"{a} minus {b}", percent=(a, b, "difference", "low", "high")), json)


def _write(frame: Any, out: Path | None) -> None:
    from evidencebench_core.data.files import whole_file
    from evidencebench_core.export import csv_text

    if out is not None:
        with whole_file(out) as stream:
            stream.write(csv_text(frame).encode("utf-8", "backslashreplace"))
        note(f"{quantity(len(frame), 'row')} in {out}")


def _records(frame: Any) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return records
