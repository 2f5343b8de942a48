"""Results that others computed: ``import-run`` and ``import-scores``."""

from __future__ import annotations

import argparse
from collections import Counter
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.cli.arguments import add_json, add_predictions, store_of
from evidencebench_core.cli.output import percent, print_json, print_table
from evidencebench_core.cli.scores import print_run, run_document
from evidencebench_core.words import one_line, quantity

if TYPE_CHECKING:
    from evidencebench_core.runs import ImportedScore


def _add_import_run(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Bring the answers of your own system into the store as a run, whole or not at all. A TREC run holds"
        " rankings: the selection for a task is their first K. A prediction file holds selections, for the task"
        " whose K they have."
    )
    add_predictions(
        parser,
        '{"instance id": [0-based sentence index, ...], ...}, or a TREC run: id Q0 sentence rank score tag',
    )
    parser.add_argument("--name", metavar="S", required=True, help="what the run is called")
    parser.add_argument(
        "--task",
        action="append",
        default=[],
        metavar="T",
        help="what the file is for (may be repeated; default: those of the four tasks with a budget whose K"
        " every list has)",
    )
    parser.add_argument("--replace", action="store_true", help="replace answers of the same name and task")
    parser.add_argument(
        "--allow-longer", action="store_true", help="keep selections of more than K: scored by expectation"
    )
    add_json(parser)


def _import_run(args: argparse.Namespace) -> int:
    """Import a file; as JSON the run, with ``source``, ``imported`` and ``left_out``."""
    from evidencebench_core.runs import import_run, score_run

    store = store_of(args)
    found = import_run(
        store,
        args.dataset,
        args.predictions,
        args.name,
        args.task,
        replace=args.replace,
        allow_longer=args.allow_longer,
    )
    if args.json:
        more = {"source": found.source, "imported": dict(found.answers), "left_out": dict(found.left_out)}
        print_json({**run_document(found.run, {}), **more})
        return 0
    print_run(found.run, [score_run(store, found.run.id, task) for task in found.answers], {})
    if left_out := "; ".join(f"{task}: {why}" for task, why in found.left_out.items()):
        print(
            one_line(
                f"Not imported, as the file does not serve them ({left_out}). Name what is meant with --task."
            )
        )
    return 0


def _add_import_scores(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="the authors' official_logs.csv: recalls per test instance"
    )
    add_json(parser)


def _import_scores(args: argparse.Namespace) -> int:
    """Import a file; as JSON one object with ``source``, ``added``, ``scores`` and ``left_out``."""
    from evidencebench_core.runs import import_scores

    found = import_scores(store_of(args), args.file)
    scores = [_import_row(score) for score in found.scores]
    if args.json:
        left_out = [
            {"row": row.row, "experiment": row.experiment, "reason": row.reason} for row in found.left_out
        ]
        print_json({"source": found.source, "added": found.n_added, "scores": scores, "left_out": left_out})
        return 0
    n_known = len(found.scores) - found.n_added
    print(
        one_line(
            f"{quantity(found.n_added, 'system')} imported, {n_known:,} already there, from {found.source}"
        )
    )
    print_table(
        ("system", "strategy", "task", "n", "recall %", "SE"),
        [
            (
                *(one["system"], one["strategy"], one["task"], f"{one['n']:,}"),
                *(percent(one["aspect_recall"]), percent(one["standard_error"])),
            )
            for one in scores
        ],
        right=("n", "recall %", "SE"),
    )
    reasons = Counter(row.reason.partition(":")[0] for row in found.left_out)
    for reason, count in reasons.items():
        print(one_line(f"{quantity(count, 'row')} left out, {reason}"))
    for row in found.left_out:
        print(one_line(f"  row {row.row}, {row.experiment}: {row.reason}"))
    return 0


def _import_row(score: ImportedScore) -> dict[str, Any]:
    from evidencebench_core.stats import standard_error

    return {
        "system": score.system,
        "strategy": score.strategy,
        "task": score.task,
        "collection": score.collection,
        "n": len(score.recalls),
        "aspect_recall": fsum(score.recalls) / len(score.recalls),
        "standard_error": standard_error(score.recalls),
    }


VERBS: Final = {
    "import-run": (_add_import_run, _import_run),
    "import-scores": (_add_import_scores, _import_scores),
}
