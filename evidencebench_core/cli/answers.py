"""Verbs on answers with citations: ``answers ingest``, ``ask``, ``judge``, ``score``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from evidencebench_core.cli.ask import carry_out, cost_of, exit_code
from evidencebench_core.cli.emit import Output, emit, note
from evidencebench_core.cli.frame import (
    Ask,
    Dataset,
    Engine,
    Json,
    Limit,
    Model,
    StorePath,
    group,
    opened,
    verb,
)
from evidencebench_core.errors import SettingError

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store
    from evidencebench_core.runs import ChatPlan

ANSWERS = group("answers", "answers with citations: asked for, judged, scored")
Name = Annotated[str, Argument(metavar="SET|RUN", help="a set of answers, or a run of `answers ask`")]
PERCENT = ("value", "low", "high")


@verb(within=ANSWERS)
def ingest(
    files: Annotated[list[Path] | None, Argument(metavar="FILE", help="JSON lines; MedAESQA's files")] = None,
    sample: Annotated[
        bool, Option("--sample", help="six invented questions, answered by three systems")
    ] = False,
    name: Annotated[str | None, Option("--name", metavar="NAME", help="(default: the first file's)")] = None,
    json: Json = False,
    store: StorePath = None,
) -> None:
    """Bring answers of systems into the store.

    Files given together, such as MedAESQA's main and cluster files, make one set.

    Example: evidencebench answers ingest medaesqa_v1.json
    """
    from evidencebench_core.answers.read import SAMPLE, read_answers
    from evidencebench_core.answers.store import add_answers

    if bool(files) == sample:
        raise SettingError("answers ingest", "needs one source", "Give files, or --sample.")
    paths = files or [SAMPLE]
    name = name or ("sample answers" if sample else paths[0].stem)
    info = add_answers(
        opened(store, create=True), name, read_answers(paths), ", ".join(path.name for path in paths)
    )
    rows = [{"in the set": key, "n": n} for key, n in info.counts.items()]
    emit(Output(asdict(info), {"": rows}, info.name), json)


@verb(within=ANSWERS)
def ask(
    *,
    dataset: Dataset,
    model: Model,
    ask: Ask,
    engine: Engine,
    focus: Annotated[Literal["all", "results"], Option(help="results: findings only")] = "all",
    retry_unreadable: Annotated[
        bool, Option("--retry-unreadable", help="ask again what could not be read")
    ] = False,
    limit: Limit = None,
    json: Json = False,
    store: StorePath = None,
) -> int:
    """Have a model answer hypotheses from their papers.

    In a few sentences that cite the paper's sentences.

    Example: evidencebench answers ask --dataset train --model qwen3
    """
    from evidencebench_core.answers.asking import answer_plan

    known = opened(store)
    llm = ask.llm(known)
    plan = answer_plan(
        known,
        dataset,
        model,
        focus=focus,
        limit=limit,
        llm=llm,
        fresh=ask.fresh,
        retry_unreadable=retry_unreadable,
    )
    return _carried_out(known, [plan], ask, engine, "instance", json)


@verb(within=ANSWERS)
def judge(
    *,
    name: Name,
    model: Model,
    ask: Ask,
    engine: Engine,
    task: Annotated[
        list[str] | None,
        Option(
            "--task",
            metavar="T",
            help="citations, relevance, correctness or nuggets; of a run always citations",
        ),
    ] = None,
    limit: Limit = None,
    json: Json = False,
    store: StorePath = None,
) -> int:
    """Have a model judge answers.

    Whether documents support the sentences that cite them, how much an answer needs each sentence, whether all that a
    sentence cites supports it together, which of the expert's facts an answer gives.

    Example: evidencebench answers judge medaesqa_v1 --task citations --model qwen3
    """
    from evidencebench_core.answers.asking import cited_judge_plan
    from evidencebench_core.answers.judging import JUDGES, judge_plan

    known = opened(store)
    llm = ask.llm(known)
    if _is_set(known, name):
        tasks = task or list(JUDGES)
        plans = [judge_plan(known, name, one, model, limit=limit, llm=llm, fresh=ask.fresh) for one in tasks]
    else:
        plans = [cited_judge_plan(known, name, model, limit=limit, llm=llm, fresh=ask.fresh)]
    return _carried_out(known, plans, ask, engine, "judgement", json)


def _carried_out(
    store: Store, plans: Sequence[ChatPlan], ask: Ask, engine: Engine, noun: str, json: bool
) -> int:
    from evidencebench_core.runs import RunStore

    cost = cost_of(plans, engine.engine == "batch", noun)
    if ask.estimate:
        emit(Output({"estimate": cost.as_dict()}), json)
        return 0
    reports = carry_out(plans, engine.make(), noun)
    rows = [{"run": report.run_id, "answered": report.done, "failed": report.failed} for report in reports]
    emit(Output({"runs": rows, "estimate": cost.as_dict()}, {"": rows}), json)
    reasons = (reason for report in reports for reason in RunStore(store).failures(report.run_id).values())
    return exit_code(sum(report.failed for report in reports), noun, reasons)


@verb(within=ANSWERS)
def score(
    name: Name,
    judge: Annotated[
        str | None, Option("--judge", metavar="M|RUN", help="score by this judge's labels")
    ] = None,
    limit: Limit = None,
    json: Json = False,
    store: StorePath = None,
) -> None:
    """Score systems, or a run against gold.

    Of a set the metrics of MedAESQA by people's labels; with --judge by a model's, and how far it agrees with people.
    Of a run of `answers ask` the citations against the gold evidence, and with a judge whether they support.

    Example: evidencebench answers score medaesqa_v1 --judge qwen3
    """
    known = opened(store)
    if _is_set(known, name):
        _score_set(known, name, judge, json)
        return
    from evidencebench_core.answers.asking import cited_run_scores

    scores = cited_run_scores(known, name, judge, limit=limit)
    rows = [{"figure": key, **estimate.as_dict()} for key, estimate in scores.means.items()]
    shares = [row for row in rows if not row["figure"].startswith("n_")]
    outcomes = ", ".join(f"{n:,} {outcome}" for outcome, n in scores.outcomes.items())
    emit(Output(scores.as_dict(), {"": shares}, f"run {name}", [f"Outcomes: {outcomes}."], PERCENT), json)


def _is_set(store: Store, name: str) -> bool:
    from evidencebench_core.answers.store import answer_sets

    return name in {info.name for info in answer_sets(store)}


def _score_set(store: Store, name: str, model: str | None, json: bool) -> None:
    from evidencebench_core.answers.judging import labels_by_task
    from evidencebench_core.answers.store import answer_set_info, marks, stored_answers
    from evidencebench_core.answers.units import answer_values, judge_agreement, system_scores

    info, answers = answer_set_info(store, name), stored_answers(store, name)
    judged, agreements = None, []
    if model is not None:
        judged = labels_by_task(store, info.sha256, model, marks(store, info.sha256))
        if not judged:
            raise SettingError(
                "--judge", f"{model} has judged nothing of {name}", "Start with `answers judge`."
            )
        as_judged = labels_by_task(store, info.sha256, model)
        for kind in ("citations", "relevance"):
            if kind in as_judged:
                found = judge_agreement(answers, as_judged[kind], kind)
                agreements += [
                    {
                        "judged": kind, "measure": measure, **value.as_dict(),
                        "always": found.constant, "its figure": found.constant_figures[measure].value,
                    }
                    for measure, value in found.figures.items()
                ]  # fmt: skip
    scores = system_scores(answer_values(answers, judged))
    rows: list[Any] = scores.astype(object).where(scores.notna(), None).to_dict("records")
    tables = {"": [row for row in rows if row["metric"] not in ("sentences", "citations")]}
    if agreements:
        tables["Agreement with people"] = agreements
    elif model is None and not tables[""]:
        note("Nobody has labelled these answers: `answers judge` asks a model.")
    emit(Output({"systems": rows, "agreement": agreements}, tables, name, percent=PERCENT), json)
