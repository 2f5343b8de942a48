"""``evidencebench run --dataset N --retriever R``"""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING

from evidencebench_core.cli.arguments import add_json, positive, store_of
from evidencebench_core.cli.output import counted, note, plain, print_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evidencebench_core.data.store import Store
    from evidencebench_core.runs import Progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
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
    parser.add_argument(
        "--set",
        type=_setting,
        action="append",
        default=[],
        metavar="KEY=VALUE",
        dest="settings",
        help="a setting of the retriever (may be repeated)",
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run a retriever, then score what the run has; as JSON one object with ``run`` and ``scores``."""
    from evidencebench_core.cli.runs import run_document
    from evidencebench_core.cli.scores import print_scores
    from evidencebench_core.runs import DEFAULT_TASKS, RunStore, execute, score_run
    from evidencebench_core.tasks import task_named

    store = store_of(args)
    tasks = tuple(dict.fromkeys(task_named(name).name for name in args.task or DEFAULT_TASKS))
    last = _driven(
        execute(store, args.dataset, args.retriever, dict(args.settings), tasks, limit=args.limit),
        "evidencebench " + shlex.join(args.words),
    )
    info = RunStore(store).run(last.run_id)
    scores = [score_run(store, info.id, task) for task in tasks]
    if args.json:
        print_json({**run_document(info), "scores": [score.as_dict() for score in scores]})
    else:
        print(plain(f"run {info.id}: {info.label} over {info.dataset}"))
        print_scores(scores)
    if last.failed:
        _tell_failures(store, last, tasks)
        return 1
    return 0


def _driven(reports: Iterator[Progress], command: str) -> Progress:
    """The last report, once the work is done; a bar shows the others."""
    from evidencebench_core.cli.progress import progress_bar

    last = next(reports)
    note(f"run {last.run_id}: {last.done:,} of {counted(last.total, 'instance')} already answered")
    with progress_bar(last.total, "instances", last.done) as bar:
        try:
            for last in reports:
                bar.update()
                if last.failed:
                    bar.set_postfix(failed=last.failed, refresh=False)
        except KeyboardInterrupt:
            bar.close()
            note(
                f"Interrupted: {last.done:,} of {counted(last.total, 'instance')} are answered and kept."
                f" To go on, give the same command again: {command}"
            )
            raise
    return last


def _tell_failures(store: Store, last: Progress, tasks: Sequence[str]) -> None:
    from evidencebench_core.runs import RunStore

    runs = RunStore(store)
    reason = next(
        (reason for task in tasks for reason in runs.failures(last.run_id, task).values()), "unknown"
    )
    note(
        f"evidencebench: {counted(last.failed, 'instance')} could not be answered; the first: {reason}"
        " Give the same command again to try only them."
    )


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key.strip() or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form key=value")
    return key.strip(), value
