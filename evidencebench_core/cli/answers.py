"""Verbs on answers with citations: ``answers ingest``, ``ask``, ``judge``, ``score``."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, Option

from evidencebench_core.cli import options
from evidencebench_core.cli.ask import carry_out, kept_text
from evidencebench_core.cli.emit import Output, note
from evidencebench_core.cli.frame import Report, Store, group, verb
from evidencebench_core.errors import SettingError
from evidencebench_core.words import quantity

if TYPE_CHECKING:
    from evidencebench_core.runs import Progress

ANSWERS = group("answers", "Answers with citations: asked for, judged, scored.")
Name = Annotated[str, Argument(metavar="SET|RUN", help="a set of answers, or a run of `answers ask`")]


@verb("ingest medaesqa_v1.json", within=ANSWERS, creates=True)
def ingest(
    store: Store,
    files: list[Path] | None = Argument(
        None, metavar="FILE", help="JSON lines; MedAESQA's files; BioGen's runs, nuggets and abstracts"
    ),
    sample: bool = Option(False, "--sample", help="six invented questions, answered by three systems"),
    name: options.NewName = None,
) -> Output:
    """Bring answers of systems into the store. Files given together make one set."""
    from evidencebench_core.answers.read import SAMPLE, read_answers
    from evidencebench_core.answers.store import ANSWER_SETS, add_answers

    if bool(files) == sample:
        raise SettingError("answers ingest", "needs one source", "Give files, or --sample.")
    paths, known = files or [SAMPLE], {info.name for info in ANSWER_SETS.all(store)}
    name = name or ("sample answers" if sample else paths[0].stem)
    info = add_answers(store, name, read_answers(paths), ", ".join(path.name for path in paths))
    rows = [{"in the set": key, "n": n} for key, n in info.counts.items()]
    content = quantity(info.counts["questions"], "question")
    return Output(asdict(info), {"": rows}, kept_text(info.name, content, known))


@verb("ask --dataset train --model qwen3", within=ANSWERS)
def ask(
    store: Store,
    dataset: options.Dataset,
    model: options.Model,
    work: options.Work,
    focus: Literal["all", "results"] = Option("all", help="results: findings only"),
    limit: options.Limit = None,
) -> Output:
    """Have a model answer hypotheses from their papers. Its sentences cite the paper's."""
    from evidencebench_core.answers.asking import answer_plan, answers_of
    from evidencebench_core.runs import RunStore

    llm = work.llm(store)
    plan = answer_plan(store, dataset, model, focus=focus, limit=limit, llm=llm, fresh=work.again)

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
    task: list[str] | None = Option(
        None,
        metavar="T",
        help="citations, relevance, correctness, nuggets (default: all; of a run citations)",
    ),
    limit: options.Limit = None,
) -> Output:
    """Have a model judge answers. It judges citations, relevance of sentences, correctness, nuggets."""
    from evidencebench_core.answers.judging import JUDGES, is_answer_set, judge_labels, judge_plan
    from evidencebench_core.runs import RunStore

    llm = work.llm(store)
    tasks = task or (list(JUDGES) if is_answer_set(store, name) else ["citations"])
    plans = [
        judge_plan(store, name, judged, model, limit=limit, llm=llm, fresh=work.again) for judged in tasks
    ]

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


@verb("score medaesqa_v1 --metric precision", within=ANSWERS, tables=True)
def score(
    store: Store,
    name: Name,
    judge: str | None = Option(None, metavar="M", help="the model by whose labels to score"),
    metric: str | None = Option(None, metavar="NAME", help="sort systems by it"),
) -> Report:
    """Score the systems of a set, the best first. Or a run, beside the paper's abstract.

    Of a set the metrics of MedAESQA by people's labels; with --judge by a model's, how far it agrees with people, and
    whether it puts the systems in the same order. Of a run of `answers ask` the citations against the gold evidence,
    and by a judge whether they support.
    """
    from evidencebench_core.answers.report import answers_report

    return answers_report(store, name, judge, metric)
