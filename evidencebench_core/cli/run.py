"""``evidencebench run --dataset N --retriever R``"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from evidencebench_core.cli.arguments import add_json, add_settings, add_wordings_file, positive, store_of
from evidencebench_core.cli.output import note, print_json
from evidencebench_core.cli.progress import progress_bar
from evidencebench_core.cli.scores import print_run, run_document, training_ids, warn_of_training_data
from evidencebench_core.cli.spending import (
    add_server,
    check_no_server_arguments,
    server_session,
    spending_document,
    tell_estimate,
    tell_spending,
    tell_unlisted,
)
from evidencebench_core.words import quantity

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store
    from evidencebench_core.retrievers.llm import Session
    from evidencebench_core.runs import Progress, Variant


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dataset", metavar="NAME", required=True, help="a dataset in the store")
    parser.add_argument(
        "--retriever", metavar="NAME", required=True, help="`evidencebench retrievers` lists them"
    )
    parser.add_argument(
        "--task",
        action="append",
        metavar="T",
        help="a task (may be repeated; default: er@optimal, er@10, result-er@optimal, result-er@5);"
        " also er@K and result-er@K for any K, and result-er@unconstrained",
    )
    parser.add_argument("--limit", type=positive, metavar="N", help="only the first N instances")
    add_settings(parser)
    parser.add_argument(
        "--variant",
        metavar="NAME",
        help="ask perturbed hypotheses: negation, paraphrase:NAME, negation:rules, spelling:n=N[,seed=S];"
        " gold stays that of the original",
    )
    add_wordings_file(parser)
    add_server(parser)
    add_json(parser)


def _run(args: argparse.Namespace) -> int:
    """Run a retriever, then score what the run has; as JSON one object with ``run`` and ``scores``."""
    from evidencebench_core.runs import DEFAULT_TASKS, RunStore, estimated_run, execute, score_run
    from evidencebench_core.tasks import task_named

    store = store_of(args)
    tasks = tuple(dict.fromkeys(task_named(name).name for name in args.task or DEFAULT_TASKS))
    planned = (store, args.dataset, args.retriever, dict(args.settings), tasks, args.limit)
    variant = _variant(store, args)
    session, estimate = _session(store, args), None
    if session is not None:
        estimate = estimated_run(*planned, variant=variant, session=session)
        tell_estimate(estimate)
        if estimate.calls:
            tell_unlisted(session, estimate.model)
    reports = execute(*planned, variant=variant, session=session, concurrency=args.concurrency)
    try:
        last = _last(reports, "evidencebench " + shlex.join(args.words))
    finally:
        if session is not None:
            tell_spending(session)
    if last.left_out:
        note(f"{quantity(last.left_out, 'instance')} left out: they have no such variant")
    info = RunStore(store).run(last.run_id)
    scores = [score_run(store, info.id, task) for task in tasks]
    outcomes = RunStore(store).outcomes(info.id)
    warn_of_training_data(info, training_ids(store, info), scores)
    if args.json:
        document = {**run_document(info, outcomes), "scores": [score.as_dict() for score in scores]}
        if session is not None and estimate is not None:
            document |= {"estimate": estimate.as_dict(), "spending": spending_document(session)}
        print_json(document)
    else:
        print_run(info, scores, outcomes)
    if last.failed:
        _tell_failures(store, last, tasks)
        return 1
    return 0


def _session(store: Store, args: argparse.Namespace) -> Session | None:
    """How the server is asked; ``None`` for a retriever that asks none."""
    from evidencebench_core.retrievers import retriever_entry

    if retriever_entry(args.retriever).asks_server:
        return server_session(store, args)
    check_no_server_arguments(args, args.retriever)
    return None


def _variant(store: Store, args: argparse.Namespace) -> Variant | None:
    """The variant asked for, once the file with wordings, if there is one, is in the store."""
    from evidencebench_core.cli.variants import keep_file
    from evidencebench_core.runs import variant_named

    if args.variants is not None:
        keep_file(store, args.dataset, args.variants)
    return None if args.variant is None else variant_named(store, args.dataset, args.variant)


def _last(reports: Iterator[Progress], command: str) -> Progress:
    """The last report, once the work is done; a bar shows the others."""
    last = next(reports)
    note(f"run {last.run_id}: {last.done:,} of {quantity(last.total, 'instance')} already answered")
    with progress_bar(last.total, "instances", last.done) as bar:
        try:
            for last in reports:
                bar.update()
                if last.failed:
                    bar.set_postfix(failed=last.failed, refresh=False)
        except KeyboardInterrupt:
            bar.close()
            note(
                f"Interrupted: {last.done:,} of {quantity(last.total, 'instance')} are answered and kept."
                f" To go on, give the same command again: {command}"
            )
            raise
    return last


def _tell_failures(store: Store, last: Progress, tasks: Sequence[str]) -> None:
    from evidencebench_core.runs import RunStore

    runs = RunStore(store)
    reasons = (reason for task in tasks for reason in runs.failures(last.run_id, task).values())
    note(
        f"evidencebench: {quantity(last.failed, 'instance')} could not be answered; the first:"
        f" {next(reasons, 'unknown')} Give the same command again to try only them."
    )


VERBS: Final = {"run": (_add_arguments, _run)}
