"""Verbs on runs: ``retrievers``, ``run``, ``score``, ``score-file``, ``compare``, ``import-run``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from evidencebench_core.cli.ask import carry_out, cost_of, exit_code
from evidencebench_core.cli.emit import Output, cell, emit, listing, note
from evidencebench_core.cli.frame import (
    Ask,
    Dataset,
    Engine,
    Json,
    Limit,
    Missing,
    RunIds,
    Settings,
    StorePath,
    Task,
    Tasks,
    opened,
    settings_of,
    verb,
)
from evidencebench_core.data.model import SUFFICIENT_NOTE
from evidencebench_core.errors import SettingError, UnknownNameError
from evidencebench_core.words import quantity

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store
    from evidencebench_core.retrievers import RetrieverEntry
    from evidencebench_core.retrievers.llm import OutcomeCounts
    from evidencebench_core.runs import RunInfo, Variant
    from evidencebench_core.tasks import Score

Predictions = Annotated[
    Path,
    Option(
        "--predictions",
        metavar="FILE",
        help='{"instance id": [0-based sentence index, ...], ...}, or a TREC run: id Q0 sentence rank score tag',
    ),
]
_SEEN = "{:,} instances were in its model's training data: its scores there are no estimate for others."
PERCENT = ("recall", "95% interval", "SE", "random")


@verb()
def retrievers(
    name: Annotated[str | None, Argument(metavar="NAME", help="only this one, with its settings")] = None,
    json: Json = False,
) -> None:
    """List the retrievers, or the settings of one.

    Example: evidencebench retrievers structure
    """
    from evidencebench_core.retrievers import RETRIEVERS, retriever_entry

    entries = RETRIEVERS.values() if name is None else [retriever_entry(name)]
    document = [_retriever_document(entry) for entry in entries]
    if name is None:
        rows = [{"retriever": entry.name, "": entry.summary.partition(". ")[0]} for entry in entries]
        notes = ["`evidencebench retrievers NAME` lists the settings of one; --set KEY=VALUE sets them."]
        emit(Output(document, {"": rows}, notes=notes), json)
        return
    (entry,) = entries
    rows = [
        {
            "setting": f"{key}={cell(spec.default)}",
            "may be": "|".join(spec.choices or ()) or spec.allowed(),
            "": spec.help,
        }
        for key, spec in entry.settings.items()
    ]
    emit(Output(document, {"": rows} if rows else {}, title=f"{entry.name}: {entry.summary}"), json)


def _retriever_document(entry: RetrieverEntry) -> dict[str, Any]:
    names = ("default", "help", "choices", "minimum", "maximum")
    document = {name: getattr(entry, name) for name in ("name", "summary", "sees_gold")}
    document["settings"] = {
        key: {"kind": spec.kind.__name__} | {name: getattr(spec, name) for name in names}
        for key, spec in entry.settings.items()
    }
    return document


@verb()
def run(
    *,
    dataset: Dataset,
    retriever: Annotated[str, Option(metavar="NAME", help="`evidencebench retrievers` lists them")],
    task: Tasks = None,
    limit: Limit = None,
    set_: Settings = None,
    variant: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="ask perturbed hypotheses: negation, paraphrase:NAME, spelling:n=N[,seed=S]",
        ),
    ] = None,
    wordings: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="first keep these wordings beside the dataset:"
            ' {"instance id": {"paraphrases": {"name": "text"}, "negation": "text"}, ...}',
        ),
    ] = None,
    retry_unreadable: Annotated[
        bool, Option("--retry-unreadable", help="ask a model again for what gave no selection")
    ] = False,
    ask: Ask,
    engine: Engine,
    json: Json = False,
    store: StorePath = None,
) -> int:
    """Run a retriever over a dataset, or go on with it.

    Example: evidencebench run --dataset train --retriever bm25 --set k1=1.2
    """
    from evidencebench_core.retrievers import retriever_entry
    from evidencebench_core.runs import DEFAULT_TASKS, RunStore, plan, score_run, trained_on_ids

    known = opened(store)
    planned = plan(
        known,
        dataset,
        retriever,
        settings_of(set_),
        task or DEFAULT_TASKS,
        limit,
        variant=_variant(known, dataset, variant, wordings),
        llm=ask.llm(known) if retriever_entry(retriever).asks_server else None,
        fresh=ask.fresh,
        retry_unreadable=retry_unreadable,
    )
    cost = cost_of([planned], engine.engine == "batch")
    if ask.estimate:
        emit(Output({"estimate": cost.as_dict()}, title=f"{cost.calls:,} calls"), json)
        return 0
    (last,) = carry_out([planned], engine.make())
    if last.left_out:
        note(f"{quantity(last.left_out, 'instance')} left out: they have no such variant")
    runs = RunStore(known)
    info = runs.run(last.run_id)
    scores = [score_run(known, info.id, task) for task in planned.tasks]
    warn_of_training_data(info, trained_on_ids(known, info), scores)
    warn_of_gold(known, info.dataset, [info])
    outcomes = runs.outcomes(info.id)
    document = run_document(info, outcomes) | {"scores": [score.as_dict() for score in scores]}
    if planned.llm is not None:
        document |= {"estimate": cost.as_dict(), "spending": asdict(planned.llm.budget.spent)}
    _emit_scores(document, scores, _title(info), json, _outcome_notes(outcomes))
    n_unreadable = sum(len(runs.unreadable(info.id, task.name)) for task in planned.tasks)
    if n_unreadable and n_unreadable == sum(info.tasks.get(task.name, 0) for task in planned.tasks):
        nothing = f"not one of {quantity(n_unreadable, 'answer')} could be read"
        note(f"evidencebench: {nothing}: --retry-unreadable asks again")
        return 1
    failures = [runs.failures(info.id, task.name) for task in planned.tasks]
    return exit_code(last.failed, "instance", (reason for of in failures for reason in of.values()))


def _variant(store: Store, dataset: str, name: str | None, wordings: Path | None) -> Variant | None:
    """The variant asked for, once the file with wordings, if there is one, is in the store."""
    from evidencebench_core.perturb import add_wordings, read_wordings
    from evidencebench_core.runs import variant_named

    if wordings is not None:
        n_added = add_wordings(store, dataset, read_wordings(wordings), str(wordings))
        note(f"{quantity(n_added, 'wording')} of {wordings} kept beside {dataset}")
    return None if name is None else variant_named(store, dataset, name)


def run_document(run: RunInfo, outcomes: Mapping[str, OutcomeCounts]) -> dict[str, Any]:
    """A run as JSON-able values; ``outcomes`` is in it if a model was asked."""
    document = {"run": run.id} | {field.name: getattr(run, field.name) for field in fields(run)[1:]}
    document |= {"settings": dict(run.settings), "tasks": dict(run.tasks)}
    if outcomes:
        document["outcomes"] = {task: counts.as_dict() for task, counts in outcomes.items()}
    return document


@verb()
def score(
    run_ids: RunIds,
    task: Tasks = None,
    missing: Missing = "report",
    json: Json = False,
    store: StorePath = None,
) -> None:
    """Score runs, with intervals and ceilings.

    Example: evidencebench score 3f2a 9c01 --task er@10
    """
    from evidencebench_core.runs import RunStore, score_run, trained_on_ids

    known = opened(store)
    runs = RunStore(known)
    infos = [runs.run(name) for name in run_ids]
    documents: list[dict[str, Any]] = []
    scores: list[Score] = []
    labels: list[str] = []
    notes: list[str] = []
    for info in infos:
        seen, outcomes = trained_on_ids(known, info), runs.outcomes(info.id)
        of_run = [score_run(known, info.id, name, missing=missing) for name in task or tuple(info.tasks)]
        warn_of_training_data(info, seen, of_run)
        if not any(one.n_scored for one in of_run):
            problem = f"has no answers for {', '.join(task or ()) or 'any task'}"
            remedy = f"It has answers for {', '.join(info.tasks) or 'no task yet'}."
            raise UnknownNameError(f"run {info.id}", problem, remedy)
        for one in of_run:
            document = one.as_dict() | {"n_trained_on": len(seen & one.per_instance.keys())}
            if one.task.name in outcomes:
                document["outcomes"] = outcomes[one.task.name].as_dict()
            documents.append(document | ({"run": info.id} if len(infos) > 1 else {}))
        notes += _outcome_notes(outcomes)
        scores += of_run
        labels += [f"{info.id} {info.label}"] * len(of_run)
    warn_of_gold(known, infos[0].dataset, infos)
    several = len(infos) > 1
    _emit_scores(
        documents, scores, "" if several else _title(infos[0]), json, notes, labels if several else None
    )


def _title(run: RunInfo) -> str:
    return f"run {run.id}: {run.label} over {run.dataset}"


def _emit_scores(
    document: object,
    scores: Sequence[Score],
    title: str,
    json: bool,
    notes: Sequence[str] = (),
    labels: Sequence[str] | None = None,
) -> None:
    """A line a score, with the run's label before it where there are several; then what was left out and why."""
    rows = [_score_row(score) for score in scores]
    if labels is not None:
        rows = [{"run": label} | row for label, row in zip(labels, rows, strict=True)]
    emit(Output(document, {"": rows}, title, [*_score_notes(scores), *notes], PERCENT), json)


def _score_row(score: Score) -> dict[str, Any]:
    return {
        "task": score.task.title,
        "recall": score.aspect_recall,
        "95% interval": score.ci95,
        "SE": score.standard_error,
        "ceiling": score.ceiling_text,
        "random": score.random_expectation,
        "scored": score.n_scored,
        "skipped": score.n_skipped,
        "missing": score.n_missing,
    }


def _score_notes(scores: Sequence[Score]) -> list[str]:
    """Which instances were left out and why."""
    notes = []
    for score in scores:
        for reason in dict.fromkeys(score.skipped.values()):
            ids = [instance_id for instance_id, why in score.skipped.items() if why == reason]
            n_skipped = quantity(len(ids), "instance")
            notes.append(f"{score.task.title}: {n_skipped} skipped, {reason}: {listing(ids)}")
        if score.missing:
            scored_zero = set(score.missing) <= score.per_instance.keys()
            treatment = "scored 0" if scored_zero else "left out of the mean"
            n_missing = quantity(score.n_missing, "instance")
            notes.append(
                f"{score.task.title}: {n_missing} without an answer, {treatment}: {listing(score.missing)}"
            )
        if score.n_empty:
            notes.append(f"{score.task.title}: {quantity(score.n_empty, 'empty selection')}, scored 0")
    return [*dict.fromkeys(notes), *([SUFFICIENT_NOTE] if any(score.sufficient for score in scores) else [])]


def _outcome_notes(outcomes: Mapping[str, OutcomeCounts]) -> list[str]:
    return [f"{task}: the model gave {counts}" for task, counts in outcomes.items()]


def warn_of_gold(store: Store, dataset: str, runs: Sequence[RunInfo] = ()) -> None:
    """Say on stderr what a model had to do with the gold, and with these runs."""
    from evidencebench_core.annotation.provenance import gold_makers

    for line in gold_makers(store, dataset).notes(runs):
        note(f"NOTE: {line}")


def warn_of_training_data(run: RunInfo, seen: Collection[str], scores: Sequence[Score]) -> None:
    """Warn on stderr if any scored instance is among those that the model has learnt from."""
    scored = {name for score in scores for name in score.per_instance}
    n_seen = len(scored & set(seen))
    if n_seen:
        note(f"WARNING: run {run.id} ({run.label}): {_SEEN.format(n_seen)}")


@verb()
def score_file(
    dataset: Dataset,
    predictions: Predictions,
    task: Task,
    missing: Missing = "report",
    json: Json = False,
    store: StorePath = None,
) -> None:
    """Score a file of predictions or a TREC run.

    Example: evidencebench score-file --dataset train --predictions mine.json --task er@10
    """
    from evidencebench_core.runs import score_predictions
    from evidencebench_core.runs.imported_run import file_selections

    known = opened(store)
    selections, notices = file_selections(known, dataset, predictions, task)
    result = score_predictions(known, dataset, selections, task, missing=missing)
    for line in notices:
        note(line)
    warn_of_gold(known, dataset)
    title = f"{predictions}: {quantity(len(selections), 'prediction')} for {dataset}"
    _emit_scores(result.as_dict(), [result], title, json)


@verb()
def compare(
    run_ids: RunIds,
    task: Task = "er@optimal",
    json: Json = False,
    out: Annotated[Path | None, Option(metavar="FILE", help="write the tables there as CSV")] = None,
    store: StorePath = None,
) -> None:
    """Compare runs in pairs.

    Each pair over the instances of both, papers drawn whole, p-values adjusted by Holm.

    Example: evidencebench compare 3f2a 9c01 --task er@10
    """
    from evidencebench_core.analyses.comparison import compare as compare_runs
    from evidencebench_core.runs import RunStore

    known = opened(store)
    infos = [RunStore(known).run(name) for name in run_ids]
    if len({info.id for info in infos}) < 2:
        raise SettingError("compare", "is given one run", "Name two runs or more over one dataset.")
    report = compare_runs(known, [info.id for info in infos], task)
    if not any(report.tables["pairs"]["n"]):
        remedy = "`evidencebench list runs` lists what each has answered."
        raise SettingError(
            f"runs {', '.join(run_ids)}", f"have no instance in common that both answered on {task}", remedy
        )
    warn_of_gold(known, infos[0].dataset, infos)
    for info in infos:
        if info.n_trained_on:
            note(f"WARNING: run {info.id} ({info.label}): {_SEEN.format(info.n_trained_on)}")
    emit(report, json, out)


@verb()
def import_run(
    *,
    dataset: Dataset,
    predictions: Predictions,
    name: Annotated[str, Option(metavar="S", help="what the run is called")],
    task: Tasks = None,
    replace: Annotated[bool, Option("--replace", help="replace answers of the same name and task")] = False,
    json: Json = False,
    store: StorePath = None,
) -> None:
    """Keep the answers of your own system as a run.

    A TREC run holds rankings: the selection for a task is their first K. A prediction file holds selections, for
    the task whose K they have.

    Example: evidencebench import-run --dataset train --predictions mine.json --name "my system"
    """
    from evidencebench_core.runs import import_run as import_file
    from evidencebench_core.runs import score_run

    known = opened(store)
    result = import_file(known, dataset, predictions, name, task or (), replace=replace)
    scores = [score_run(known, result.run.id, task) for task in result.answers]
    document = run_document(result.run, {}) | {
        "source": result.source,
        "imported": dict(result.answers),
        "left_out": dict(result.left_out),
    }
    notes = [f"{name}: not imported, {why}; name it with --task" for name, why in result.left_out.items()]
    _emit_scores(document, scores, _title(result.run), json, [*notes, *result.notices])
