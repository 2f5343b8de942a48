"""Verbs on answers with citations: ``answers ingest``, ``ask``, ``judge``, ``score``."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, Option

from evidencebench_core.cli import options
from evidencebench_core.cli.ask import carry_out
from evidencebench_core.cli.emit import Output, note
from evidencebench_core.cli.frame import Report, Store, group, verb
from evidencebench_core.errors import SettingError
from evidencebench_core.words import quantity

if TYPE_CHECKING:
    from evidencebench_core.runs import Progress

ANSWERS = group("answers", "answers with citations: asked for, judged, scored")
Name = Annotated[str, Argument(metavar="SET|RUN", help="a set of answers, or a run of `answers ask`")]


@verb("ingest medaesqa_v1.json", within=ANSWERS, creates=True)
def ingest(
    store: Store,
    files: list[Path] | None = Argument(None, metavar="FILE", help="JSON lines; MedAESQA's files"),
    sample: bool = Option(False, "--sample", help="six invented questions, answered by three systems"),
    name: options.NewName = None,
) -> Output:
    """Bring answers of systems into the store; files given together make one set."""
    from evidencebench_core.answers.read import SAMPLE, read_answers
    from evidencebench_core.answers.store import add_answers

    if bool(files) == sample:
        raise SettingError("answers ingest", "needs one source", "Give files, or --sample.")
    paths = files or [SAMPLE]
    name = name or ("sample answers" if sample else paths[0].stem)
    info = add_answers(store, name, read_answers(paths), ", ".join(path.name for path in paths))
    rows = [{"in the set": key, "n": n} for key, n in info.counts.items()]
    return Output(asdict(info), {"": rows}, info.name)


@verb("ask --dataset train --model qwen3", within=ANSWERS)
def ask(
    store: Store,
    dataset: options.Dataset,
    model: options.Model,
    work: options.Work,
    focus: Literal["all", "results"] = Option("all", help="results: findings only"),
    limit: options.Limit = None,
) -> Output:
    """Have a model answer hypotheses from their papers, in sentences that cite the paper's."""
    from evidencebench_core.answers.asking import answer_plan, answers_of
    from evidencebench_core.runs import RunStore

    plan = answer_plan(
        store,
        dataset,
        model,
        focus=focus,
        limit=limit,
        llm=work.llm(store),
        fresh=work.again,
    )

    def result(reports: list[Progress]) -> Output:
        answers = answers_of(store, RunStore(store).run(plan.run_id)).values()
        outcomes = Counter(answer.outcome for answer in answers)
        note(", ".join(f"{n:,} {outcome}" for outcome, n in outcomes.items()))
        is_lost = bool(answers) and not any(answer.is_scored for answer in answers)
        if is_lost:
            note("evidencebench: not one answer could be read: --ask-again unread asks again")
        return _run_rows(reports, code=int(is_lost))

    return carry_out(store, [plan], work, "instance", result)


@verb("judge medaesqa_v1 --task citations --model qwen3", within=ANSWERS)
def judge(
    store: Store,
    name: Name,
    model: options.Model,
    work: options.Work,
    task: list[str] | None = Option(None, metavar="T", help="citations, relevance, correctness or nuggets"),
    limit: options.Limit = None,
) -> Output:
    """Have a model judge answers: citations, relevance of sentences, correctness, an expert's facts (nuggets)."""
    from evidencebench_core.answers.asking import cited_judge_plan
    from evidencebench_core.answers.judging import JUDGES, judge_labels, judge_plan
    from evidencebench_core.runs import RunStore

    llm = work.llm(store)
    if _is_set(store, name):
        plans = [
            judge_plan(store, name, judged, model, limit=limit, llm=llm, fresh=work.again)
            for judged in task or list(JUDGES)
        ]
    else:
        plans = [cited_judge_plan(store, name, model, limit=limit, llm=llm, fresh=work.again)]

    def result(reports: list[Progress]) -> Output:
        runs = [RunStore(store).run(report.run_id) for report in reports]
        labels = [label for run in runs for label in judge_labels(store, run).values()]
        n_lost = labels.count(None)
        if n_lost:
            note(f"evidencebench: {n_lost:,} of {quantity(len(labels), 'label')} could not be read")
        return _run_rows(reports, code=int(0 < n_lost == len(labels)))

    return carry_out(store, plans, work, "judgement", result)


def _run_rows(reports: list[Progress], code: int = 0) -> Output:
    rows = [{"run": report.run_id, "answered": report.done, "failed": report.failed} for report in reports]
    return Output({"runs": rows}, {"": rows}, code=code)


@verb("score medaesqa_v1 --judge qwen3", within=ANSWERS, tables=True)
def score(
    store: Store,
    name: Name,
    judge: str | None = Option(None, metavar="M|RUN", help="score by this judge's labels"),
    limit: options.Limit = None,
) -> Report:
    """Score systems, or a run against gold.

    Of a set the metrics of MedAESQA by people's labels; with --judge by a model's, and how far it agrees with people.
    Of a run of `answers ask` the citations against the gold evidence, and with a judge whether they support.
    """
    if _is_set(store, name):
        return _set_report(store, name, judge)
    import pandas as pd

    from evidencebench_core.analyses import Report
    from evidencebench_core.answers.asking import cited_run_scores

    scores = cited_run_scores(store, name, judge, limit=limit)
    figures = [{"figure": key, **estimate.as_dict()} for key, estimate in scores.means.items()]
    shares = [row for row in figures if not row["figure"].startswith("n_")]
    outcomes = ", ".join(f"{n:,} {outcome}" for outcome, n in scores.outcomes.items())
    tables = {"figures": pd.DataFrame(shares), "instances": scores.instances}
    notes = (f"Outcomes: {outcomes}; {scores.n_skipped:,} without an aspect.",)
    return Report(f"run {name}", tables, notes, brief={"instances": ()}, shares=("value",))


def _is_set(store: Store, name: str) -> bool:
    from evidencebench_core.answers.store import answer_sets

    return name in {info.name for info in answer_sets(store)}


def _set_report(store: Store, name: str, model: str | None) -> Report:
    import pandas as pd

    from evidencebench_core.analyses import Report
    from evidencebench_core.answers.judging import labels_by_task
    from evidencebench_core.answers.store import answer_set_info, marks, stored_answers
    from evidencebench_core.answers.units import answer_values, judge_agreement, system_scores

    info, answers = answer_set_info(store, name), stored_answers(store, name)
    judged, agreements, notes = None, [], []
    if model is not None:
        judged = labels_by_task(store, info.sha256, model, marks(store, info.sha256))
        if not judged:
            problem = f"{model} has judged nothing of {name}"
            raise SettingError("--judge", problem, "Start with `answers judge`.")
        as_judged = labels_by_task(store, info.sha256, model)
        for kind in ("citations", "relevance"):
            if kind in as_judged:
                agreement = judge_agreement(answers, as_judged[kind], kind)
                notes.append(
                    f"{kind}: {quantity(agreement.n_unlabelled, 'judgement')} without a label, all wrong."
                )
                for measure, value in agreement.figures.items():
                    row = {
                        "judged": kind,
                        "measure": measure,
                        **value.as_dict(),
                        "always": agreement.constant,
                    }
                    row["its figure"] = agreement.constant_figures[measure].value
                    agreements.append(row)
    scores = system_scores(answer_values(answers, judged))
    tables = {"systems": scores[~scores["metric"].isin(("sentences", "citations"))]}
    if agreements:
        tables["agreement with people"] = pd.DataFrame(agreements)
    if model is None and tables["systems"].empty:
        notes.append("Nobody has labelled these answers: `answers judge` asks a model.")
    return Report(name, tables, tuple(notes), shares=("value", "its figure"))
