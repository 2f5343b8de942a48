"""Verbs on runs and rankers: ``retrievers``, ``run``, ``score``, ``compare``, ``import-run``, ``train-ranker``, ..."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from evidencebench_core.cli import options
from evidencebench_core.cli.ask import carry_out, printed_steps
from evidencebench_core.cli.emit import Output, note
from evidencebench_core.cli.frame import Report, Store, verb
from evidencebench_core.errors import SettingError
from evidencebench_core.words import quantity

if TYPE_CHECKING:
    from evidencebench_core.runs import Progress, RunInfo
    from evidencebench_core.tasks import Missing, Score, Task

Predictions = Annotated[
    Path, Option(metavar="FILE", help="JSON {id: [sentence index, ...]}, {id: {index: score}}, or a TREC run")
]


@verb("retrievers structure")
def retrievers(
    name: str | None = Argument(None, metavar="NAME", help="only this one, with its settings"),
) -> Output:
    """List the retrievers, or the settings of one."""
    from evidencebench_core.retrievers import RETRIEVERS, fields_of, retriever_entry

    entries = list(RETRIEVERS.values()) if name is None else [retriever_entry(name)]
    documents: list[dict[str, Any]] = []
    for entry in entries:
        fields = fields_of(entry.settings_class).items()
        settings = {
            key: {"default": spec.default, "may be": spec.allowed(), "help": spec.help}
            for key, spec in fields
        }
        document = {key: getattr(entry, key) for key in ("name", "summary", "sees_gold")}
        documents.append(document | {"settings": settings})
    if name is None:
        rows = [{"retriever": entry.name, "": entry.summary.partition(". ")[0]} for entry in entries]
        notes = ["`evidencebench retrievers NAME` lists the settings of one; --set KEY=VALUE sets them."]
        return Output(documents, {"": rows}, notes=notes)
    rows = [{"setting": key} | spec for key, spec in documents[0]["settings"].items()]
    return Output(documents, {"": rows} if rows else {}, f"{name}: {entries[0].summary}")


@verb("run --dataset train --retriever bm25 --set k1=1.2")
def run(
    store: Store,
    dataset: options.Dataset,
    work: options.Work,
    retriever: str = Option(..., metavar="NAME", help="see `evidencebench retrievers`; or FILE.py:NAME"),
    task: options.Tasks = None,
    limit: options.Limit = None,
    sample: int | None = Option(None, metavar="N", min=1, help="a random N, papers whole"),
    seed: int = Option(0, metavar="S", min=0, help="of the sample"),
    settings: options.Settings = None,
    variant: list[str] | None = Option(
        None, metavar="V", help="negation, paraphrase:NAME, spelling:n=N[,seed=S] (may be repeated)"
    ),
    wordings: Path | None = Option(None, metavar="FILE", help="first keep these (see below)"),
) -> Output:
    """Run a retriever over a dataset, or go on with it.

    A file of wordings is {"instance id": {"paraphrases": {"name": "text"}, "negation": "text"}, ...}.
    """
    from evidencebench_core.perturb import add_wordings, read_wordings, variant_named
    from evidencebench_core.retrievers import retriever_entry
    from evidencebench_core.retrievers.own import system_at
    from evidencebench_core.runs import DEFAULT_TASKS, RunStore, Sample, plan

    if sample is not None and limit is not None:
        raise SettingError("--sample", "is given with --limit", "Give one of them.")
    values, is_own = options.settings_of(settings), ":" in retriever
    if wordings is not None:
        n_added = add_wordings(store, dataset, read_wordings(wordings), str(wordings))
        note(f"{quantity(n_added, 'wording')} of {wordings} kept beside {dataset}")
    tasks = task or DEFAULT_TASKS
    plan_of = partial(
        plan,
        store,
        dataset,
        system_at(retriever, values, store) if is_own else retriever,
        values,
        tasks,
        limit,
        sample=Sample(sample, seed) if sample is not None else None,
        llm=work.llm(store) if not is_own and retriever_entry(retriever).asks_server else None,
        fresh=work.again,
    )
    plans = [plan_of(variant=variant_named(store, dataset, name)) for name in variant or ()] or [plan_of()]

    def result(reports: list[Progress]) -> Output:
        if n_left_out := sum(planned.left_out for planned in plans):
            note(f"{quantity(n_left_out, 'instance')} left out: they have no such variant")
        infos = [RunStore(store).run(planned.run_id) for planned in plans]
        output = _scored_runs(store, dict.fromkeys(infos, tasks))
        documents = [run_document(info, RunStore(store).outcomes(info.id)) for info in infos]
        return replace(output, document={"runs": documents, "scores": output.document})

    return carry_out(store, plans, work, "instance", result)


def run_document(run: RunInfo, outcomes: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    """A run as JSON-able values; ``outcomes`` is in it if a model was asked."""
    names = ("kind", "created_at", "n_answered", "n_failed", "n_trained_on", "retriever", "variant")
    document: dict[str, Any] = {"run": run.id, "dataset": run.dataset}
    document |= {name: getattr(run, name) for name in names}
    for name in ("settings", "basis", "versions", "tasks"):
        document[name] = dict(getattr(run, name))
    asked = " of ".join(str(run.settings[name]) for name in ("task", "model") if name in run.settings)
    document |= {"label": run.label or asked, "sample": str(run.sample or "")}
    return document | ({"outcomes": dict(outcomes)} if outcomes else {})


@verb("score bm25 lead --task er@10 --format latex", tables=True)
def score(
    store: Store, run_ids: options.RunIds, task: options.Tasks = None, missing: options.Missing = "report"
) -> Output:
    """Score runs, with intervals and ceilings."""
    from evidencebench_core.export import tasks_of
    from evidencebench_core.runs import RunStore

    def report() -> Report:
        from evidencebench_core.export.paper_table import scores_report

        return scores_report(store, infos, task or (), missing)

    infos = [RunStore(store).run(name) for name in run_ids]
    tasks = {info: tasks_of(info, task) for info in infos}
    return replace(_scored_runs(store, tasks, missing), report=report)


def _scored_runs(
    store: Store, tasks: Mapping[RunInfo, Sequence[str | Task]], missing: Missing = "report"
) -> Output:
    from evidencebench_core.runs import RunStore, score_run, trained_on_ids
    from evidencebench_core.runs.outcomes import counts_text

    documents: list[dict[str, Any]] = []
    notes: list[str] = []
    scores: list[tuple[str, Score]] = []
    for info, names in tasks.items():
        seen, outcomes = trained_on_ids(store, info), RunStore(store).outcomes(info.id)
        of_run = [score_run(store, info, name, missing) for name in names]
        for result in of_run:
            n_seen = len(seen & result.per_instance.keys())
            of_info = {"run": info.id, "label": info.label, "dataset": info.dataset, "n_trained_on": n_seen}
            document = result.as_dict() | of_info
            if result.task.name in outcomes:
                document["outcomes"] = outcomes[result.task.name]
            documents.append(document)
            scores.append((f"{info.id} {info.label}" if len(tasks) > 1 else "", result))
        _warn(store, info.dataset, [info], of_run)
        notes += [f"{task}: the model gave {counts_text(counts)}" for task, counts in outcomes.items()]
    title = f"run {info.id}: {info.label} over {info.dataset}" if len(tasks) == 1 else ""
    return _scored(documents, scores, title, notes)


def _scored(
    document: object, scores: Sequence[tuple[str, Score]], title: str = "", notes: Sequence[str] = ()
) -> Output:
    """A line a score, with the label of its run where it has one; then what was left out and why."""
    from evidencebench_core.data.model import SUFFICIENT_NOTE
    from evidencebench_core.metrics import MEASURES

    rows = [({"run": label} if label else {}) | result.row() for label, result in scores]
    legend = {
        "recall": "mean Aspect Recall of the n instances scored, with its 95% interval",
        **{measure.name: f"{measure.explanation}, mean" for measure in MEASURES[1:]},
        "standard_error": "over instances, as in the EvidenceBench paper; the interval is over papers",
        "ceiling": "the best possible; random: expected of random picks",
        "n_skipped": "nothing to cover; n_missing: no answer",
    }
    shares = [measure.name for measure in MEASURES if measure.is_share]
    percent = ("recall", "low", "high", "standard_error", *shares, "ceiling", "random")
    left_out = dict.fromkeys(line for _, result in scores for line in result.notes)
    sufficient = [SUFFICIENT_NOTE] if any(result.sufficient for _, result in scores) else []
    tables = {"": rows} if rows else {}
    return Output(document, tables, title, [*left_out, *sufficient, *notes], percent, legend)


def _warn(
    store: Store, dataset: str, runs: Sequence[RunInfo] = (), scores: Sequence[Score] | None = None
) -> None:
    """Say on stderr what a model had to do with the gold, and which instances a run has learnt from."""
    from evidencebench_core.annotation.provenance import gold_makers
    from evidencebench_core.runs import trained_on_ids

    for run in runs:
        seen = trained_on_ids(store, run)
        if scores is not None:
            seen &= {name for score in scores for name in score.per_instance}
        if seen:
            text = f"{len(seen):,} instances were in its model's training data"
            note(f"WARNING: run {run.id} ({run.label}): {text}: its scores there are no estimate for others.")
    for line in gold_makers(store, dataset).notes(runs):
        note(f"NOTE: {line}")


@verb("score-file --dataset train --predictions mine.json --task er@10")
def score_file(
    store: Store,
    dataset: options.Dataset,
    predictions: Predictions,
    task: options.Task,
    missing: options.Missing = "report",
) -> Output:
    """Score a file of predictions or a TREC run."""
    from evidencebench_core.export.predictions import file_answers
    from evidencebench_core.runs import score_predictions
    from evidencebench_core.tasks import task_named

    gold, chosen = dict(store.evidence_sets(dataset)), task_named(task)
    answers = file_answers(gold, predictions).items()
    selections = {name: answer.cut(chosen.budget_for(gold[name])).selection for name, answer in answers}
    result = score_predictions(store, dataset, selections, chosen, missing=missing)
    _warn(store, dataset)
    title = f"{predictions}: {quantity(len(selections), 'prediction')} for {dataset}"
    return _scored([result.as_dict()], [("", result)], title)


@verb("compare bm25 lead --task er@10", tables=True)
def compare(store: Store, run_ids: options.RunIds, task: options.Task = "er@optimal") -> Report:
    """Compare runs in pairs. Papers are drawn whole, p-values adjusted by Holm."""
    from evidencebench_core.analyses.comparison import compare as compare_runs
    from evidencebench_core.runs import RunStore

    infos = [RunStore(store).run(name) for name in run_ids]
    report = compare_runs(store, infos, task)
    if not any(report.tables["pairs"]["n"]):
        remedy = "`evidencebench list runs` lists what each has answered."
        problem = f"has no two runs with an instance that both answered on {task}"
        raise SettingError("the comparison", problem, remedy)
    _warn(store, infos[0].dataset, infos)
    return report


@verb('import-run --dataset train --predictions mine.json --name "my system" --task er@10')
def import_run(
    store: Store,
    dataset: options.Dataset,
    predictions: Predictions | None = None,
    name: str = Option("", metavar="S", help="what the run is called"),
    task: options.Tasks = None,
    official: bool = Option(False, "--official", help="the authors' systems, by FILE or their log"),
    annotator: str = Option("", metavar="NAME", help="a person's marks on the dataset, in place of a file"),
) -> Output:
    """Keep answers that were made elsewhere as a run.

    A TREC run, or scores {"instance id": {"sentence index": score, ...}, ...}, hold rankings: the selection for any
    task is their first K. A file of lists holds selections for one task (--task). Of the authors' systems the recalls
    on their test set are known, and no picks.
    """
    from evidencebench_core.data.downloads import download_log
    from evidencebench_core.export.predictions import import_annotator
    from evidencebench_core.export.predictions import import_run as import_file
    from evidencebench_core.runs.official import import_official

    notes: Sequence[str] = ()
    if official:
        runs, notes = import_official(store, dataset, predictions or download_log())
    elif annotator:
        runs = (import_annotator(store, dataset, annotator),)
    elif predictions is None or not name:
        problem = "is given no file of answers with a name for the run"
        remedy = "Give --predictions and --name, --official, or --annotator."
        raise SettingError("import-run", problem, remedy)
    else:
        runs = (import_file(store, dataset, predictions, name, task or ()),)
    output = _scored_runs(store, {run: tuple(run.tasks) for run in runs})
    documents = [run_document(run, {}) for run in runs]
    return replace(output, document=documents, notes=[*output.notes, *notes])


@verb("train-ranker --dataset train")
def train_ranker(
    store: Store,
    dataset: list[str] = Option(..., metavar="D", help="what to learn from; cross-validated on the first"),
    folds: int = Option(5, metavar="N", help="of the cross-validation; 0: train only"),
    encoder: str = Option("minilm", metavar="MODEL", help="minilm, a folder, or a Hugging Face name"),
    seed: int = Option(0, metavar="N", help="of folds and networks"),
    out: Path | None = Option(None, metavar="FOLDER", help="where to (default: where evidence-ranker looks)"),
) -> Output:
    """Train evidence-ranker on gold, and cross-validate it. Several datasets may be named."""
    from evidencebench_core.runs import DEFAULT_TASKS, RunStore
    from evidencebench_core.runs import train_ranker as training

    with printed_steps() as report:
        done = training(store, dataset, folds=folds, encoder=encoder, seed=seed, out=out, report=report)
    document = {"n_trained_on": done.n_instances, "model": str(done.path), "weights": done.digest}
    notes = [
        f"Model {done.digest}: {done.path}",
        f"Use it: evidencebench run --dataset OTHER --retriever evidence-ranker{f' --set model={out}' if out else ''}",
        f"It has seen these {quantity(done.n_instances, 'instance')}: its own scores on them are no estimate. "
        "The dataset's terms hold for the model.",
    ]
    infos = [RunStore(store).run(done.run_id)] if done.run_id else []
    output = _scored_runs(store, dict.fromkeys(infos, DEFAULT_TASKS))
    documents = [run_document(info, {}) for info in infos]
    document |= {"runs": documents, "scores": output.document}
    return replace(output, document=document, notes=[*output.notes, *notes])


@verb("finetune-encoder --dataset train --out encoder --triplets 20000")
def finetune_encoder(
    store: Store,
    dataset: options.Dataset,
    out: Path = Option(..., metavar="FOLDER", help="a new folder for the model"),
    model: str = Option("minilm", metavar="MODEL", help="to start from"),
    triplets: int = Option(4096, metavar="N", min=1, help="how many to learn from; the paper has a million"),
    seed: int = Option(0, metavar="N", min=0, help="another seed, other triplets"),
) -> None:
    """Train an embedding model on gold evidence."""
    from evidencebench_core.cli.finetuning import finetune_encoder, triplets_of
    from evidencebench_core.retrievers.encoding import TrainedOn

    instances = list(store.iter(dataset))
    keys = tuple(sorted(set(store.paper_keys(store.dataset(dataset)).values())))
    note(f"Training on {quantity(triplets, 'triplet')} of {quantity(len(instances), 'instance')}")
    seen = TrainedOn(dataset, len(instances), keys)
    finetune_encoder(triplets_of(instances, triplets, seed), model, seed, seen, out)
    print(f"Use it: evidencebench run --dataset OTHER --retriever dense --set model={out}")
    print(f"It has seen all of {dataset}: its scores on that dataset are no evidence.")
