"""Verbs on runs and scores: ``runs``, ``score``, ``score-file``, ``compare``."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.cli.arguments import add_json, add_missing, add_predictions, store_of
from evidencebench_core.cli.output import (
    interval,
    listing,
    note,
    p_value,
    percent,
    print_json,
    print_table,
)
from evidencebench_core.data.model import SUFFICIENT_NOTE
from evidencebench_core.words import one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store
    from evidencebench_core.retrievers.llm import OutcomeCounts
    from evidencebench_core.runs import RunInfo
    from evidencebench_core.tasks import Score

_HEADERS: Final = (
    "task", "recall %", "95% interval", "SE", "ceiling", "random", "scored", "skipped", "missing",
)  # fmt: skip


def _add_runs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dataset", metavar="NAME", help="only the runs over this dataset")
    parser.add_argument(
        "--variants", action="store_true", help="also the runs over perturbed instances, such as [negation]"
    )
    add_json(parser)


def _runs(args: argparse.Namespace) -> int:
    """List the runs in the store."""
    from evidencebench_core.runs import RunStore

    known = RunStore(store_of(args))
    runs = known.runs(args.dataset, variants=args.variants)
    outcomes = {run.id: known.outcomes(run.id) for run in runs}
    if args.json:
        print_json([run_document(run, outcomes[run.id]) for run in runs])
        return 0
    if not runs:
        note("There are no runs yet. Start one with `evidencebench run --dataset NAME --retriever NAME`.")
        return 0
    print_table(
        ("run", "dataset", "retriever", "answered", "failed", "started"),
        [
            (
                run.id,
                run.dataset,
                run.label,
                ", ".join(f"{task} {answered:,}" for task, answered in run.tasks.items()) or "nothing yet",
                f"{run.n_failed:,}",
                run.created_at[:16].replace("T", " "),
            )
            for run in runs
        ],
        right=("failed",),
    )
    for run in runs:
        if run.n_trained_on:
            print(
                one_line(
                    f"{run.id}: {quantity(run.n_trained_on, 'instance')} of {run.dataset} were in the training data"
                    " of its model: its scores there are no estimate of how it does on others"
                )
            )
        for task, counts in outcomes[run.id].items():
            print(one_line(f"{run.id}, {task}: the model gave {counts}"))
        if old := _outdated(run):
            print(
                one_line(
                    f"{run.id}: asked with earlier prompts ({', '.join(old)}); run again it is another run"
                )
            )
    return 0


def run_document(run: RunInfo, outcomes: Mapping[str, OutcomeCounts]) -> dict[str, Any]:
    """A run as JSON-able values; ``outcomes`` is in it if a model was asked."""
    document = {
        "run": run.id,
        **{name: getattr(run, name) for name in ("dataset", "retriever", "label", "variant")},
        "settings": dict(run.settings),
        "created_at": run.created_at,
        "tasks": dict(run.tasks),
        "n_failed": run.n_failed,
        "n_trained_on": run.n_trained_on,
    }
    if not outcomes:
        return document
    counts = {task: counts.as_dict() for task, counts in outcomes.items()}
    return document | {"outcomes": counts, "outdated_prompts": list(_outdated(run))}


def _outdated(run: RunInfo) -> tuple[str, ...]:
    from evidencebench_core.retrievers.llm import outdated_prompts

    return outdated_prompts(run.settings)


def _add_score(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_id", metavar="RUN", help="id of the run, or the beginning of it")
    parser.add_argument(
        "--task", action="append", metavar="T", help="a task (may be repeated; default: all that the run has)"
    )
    add_missing(parser)
    add_json(parser)


def _score(args: argparse.Namespace) -> int:
    """Score a run; as JSON a list with one object a task, with ``outcomes`` where a model was asked."""
    from evidencebench_core.errors import UnknownNameError
    from evidencebench_core.runs import RunStore, score_run, trained_on_ids

    store = store_of(args)
    info = RunStore(store).run(args.run_id)
    tasks = args.task or tuple(info.tasks)
    if not tasks:
        raise UnknownNameError(
            f"run {info.id}", "has no answers yet", "Start it again with `evidencebench run`, it goes on."
        )
    scores = [score_run(store, info.id, task, missing=args.missing) for task in tasks]
    warn_of_gold(store, info.dataset, [info])
    outcomes = RunStore(store).outcomes(info.id)
    seen = trained_on_ids(store, info)
    warn_of_training_data(info, seen, scores)
    if not args.json:
        names = {score.task.name for score in scores}
        print_run(info, scores, {task: counts for task, counts in outcomes.items() if task in names})
        return 0
    documents = []
    for score in scores:
        document = score.as_dict() | {"n_trained_on": len(seen & score.per_instance.keys())}
        if score.task.name in outcomes:
            document["outcomes"] = outcomes[score.task.name].as_dict()
        documents.append(document)
    print_json(documents)
    return 0


def warn_of_gold(store: Store, dataset: str, runs: Sequence[RunInfo] = ()) -> None:
    """Say on stderr what a model had to do with the gold, and with these runs."""
    from evidencebench_core.annotation.provenance import gold_makers

    for line in gold_makers(store, dataset).notes(runs):
        note(one_line(f"NOTE: {line}"))


def warn_of_training_data(run: RunInfo, seen: Collection[str], scores: Sequence[Score]) -> None:
    """Warn on stderr if any scored instance is among those that the model has learnt from."""
    scored = {name for score in scores for name in score.per_instance}
    met = len(scored & set(seen))
    if not met:
        return
    cross_validated = run.settings.get("model") == "cross-validated"
    by = "the embedding model behind this run" if cross_validated else "this model"
    note(
        f"WARNING: run {run.id} ({run.label}): {met:,} of {quantity(len(scored), 'scored instance')} were in the"
        f" training data of {by}: this is no estimate of how it does on others; see its cross-validated scores."
    )


def print_run(info: RunInfo, scores: Sequence[Score], outcomes: Mapping[str, OutcomeCounts]) -> None:
    """A run's scores, and what came back from its model, if it asked one."""
    from evidencebench_core.tasks import task_named

    print(one_line(f"run {info.id}: {info.label} over {info.dataset}"))
    _print_scores(scores)
    for task, counts in outcomes.items():
        print(one_line(f"{task_named(task).title}: the model gave {counts}"))


def _print_scores(scores: Sequence[Score]) -> None:
    """A line a task, then which instances were left out and why."""
    print_table(
        _HEADERS,
        [
            (
                score.task.title,
                percent(score.aspect_recall),
                interval(score.ci95),
                percent(score.standard_error),
                score.ceiling_text.replace("%", "") or percent(None),
                percent(score.random_expectation),
                f"{score.n_scored:,}",
                f"{score.n_skipped:,}",
                f"{score.n_missing:,}",
            )
            for score in scores
        ],
        right=_HEADERS[1:],
    )
    for score in scores:
        for line in _left_out(score):
            print(one_line(f"{score.task.title}: {line}"))
    if any(score.sufficient for score in scores):
        print(SUFFICIENT_NOTE)


def _left_out(score: Score) -> list[str]:
    lines = []
    for reason in dict.fromkeys(score.skipped.values()):
        ids = [instance_id for instance_id, why in score.skipped.items() if why == reason]
        lines.append(f"{quantity(len(ids), 'instance')} skipped, {reason}: {listing(ids)}")
    if score.missing:
        scored_zero = set(score.missing) <= score.per_instance.keys()
        treatment = "scored 0" if scored_zero else "left out of the mean"
        lines.append(
            f"{quantity(score.n_missing, 'instance')} without an answer, {treatment}: {listing(score.missing)}"
        )
    if score.n_empty:
        lines.append(f"{quantity(score.n_empty, 'empty selection')}, scored 0")
    return lines


def _add_score_file(parser: argparse.ArgumentParser) -> None:
    add_predictions(parser, 'a JSON file: {"instance id": [0-based sentence index, ...], ...}')
    parser.add_argument("--task", metavar="T", required=True, help="such as er@optimal or result-er@5")
    add_missing(parser)
    add_json(parser)


def _score_file(args: argparse.Namespace) -> int:
    """Score a file of predictions; as JSON one object."""
    from evidencebench_core.runs import predictions_from, score_predictions

    predictions = predictions_from(args.predictions)
    store = store_of(args)
    score = score_predictions(store, args.dataset, predictions, args.task, missing=args.missing)
    _tell_repeats(predictions)
    warn_of_gold(store, args.dataset)
    if args.json:
        print_json(score.as_dict())
        return 0
    print(one_line(f"{args.predictions}: {quantity(len(predictions), 'prediction')} for {args.dataset}"))
    _print_scores([score])
    return 0


def _tell_repeats(predictions: Mapping[str, object]) -> None:
    """Name the predictions that pick a sentence more than once: it counts once (spec rule 9)."""
    repeats = {
        instance_id: next(pick for pick, times in Counter(picks).items() if times > 1)
        for instance_id, picks in predictions.items()
        if isinstance(picks, list) and len(set(picks)) < len(picks)
    }
    if repeats:
        first, pick = next(iter(repeats.items()))
        note(
            f"{quantity(len(repeats), 'prediction')} with repeated sentences, the first {first} with sentence {pick}:"
            " counted once. Name every sentence once."
        )


def _add_compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_a", metavar="RUN_A", help="id of a run, or the beginning of it")
    parser.add_argument("run_b", metavar="RUN_B", help="id of another run over the same dataset")
    parser.add_argument("--task", metavar="T", required=True, help="such as er@optimal or result-er@5")
    add_json(parser)


def _compare(args: argparse.Namespace) -> int:
    """Compare two runs; as JSON one object."""
    from evidencebench_core.runs import RunStore, compare_runs, score_run, trained_on_ids

    store = store_of(args)
    a, b = (RunStore(store).run(name) for name in (args.run_a, args.run_b))
    comparison = compare_runs(store, a.id, b.id, args.task)
    warn_of_gold(store, a.dataset, [a, b])
    for run in (a, b):
        if run.n_trained_on:
            warn_of_training_data(run, trained_on_ids(store, run), [score_run(store, run.id, args.task)])
    if args.json:
        trained = {"n_trained_on_a": a.n_trained_on, "n_trained_on_b": b.n_trained_on}
        head = {"run_a": a.id, "run_b": b.id, "dataset": a.dataset}
        print_json({**head, **trained, **comparison.as_dict()})
        return 0
    print(one_line(f"{comparison.task.title} on {a.dataset}, {quantity(comparison.n, 'instance')} in both"))
    print(one_line(f"A  {percent(comparison.mean_a):>5} %  run {a.id}: {a.label}"))
    print(one_line(f"B  {percent(comparison.mean_b):>5} %  run {b.id}: {b.label}"))
    print(f"A - B                 {percent(comparison.mean_difference)} points")
    print(f"95% interval          {interval(comparison.ci95)} (paired bootstrap)")
    print(f"p-value               {p_value(comparison.p_value)} (paired randomisation)")
    print(f"wins / ties / losses  {comparison.wins} / {comparison.ties} / {comparison.losses} of A")
    for name, ids in (("A", comparison.only_in_a), ("B", comparison.only_in_b)):
        if ids:
            print(one_line(f"only in {name}             {len(ids):,}: {listing(ids)}"))
    if comparison.sufficient:
        print(SUFFICIENT_NOTE)
    return 0


VERBS: Final = {
    "runs": (_add_runs, _runs),
    "score": (_add_score, _score),
    "score-file": (_add_score_file, _score_file),
    "compare": (_add_compare, _compare),
}
