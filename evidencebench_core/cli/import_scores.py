"""``evidencebench import-scores FILE``"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evidencebench_core.cli.arguments import add_json, store_of
from evidencebench_core.cli.output import counted, percent, plain, print_json, print_table

if TYPE_CHECKING:
    from evidencebench_core.runs import ScoreImport


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="the authors' official_logs.csv: recalls per test instance"
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Import a file; as JSON one object with ``source``, ``added``, ``scores`` and ``left_out``."""
    from evidencebench_core.runs import import_scores

    found = import_scores(store_of(args), args.file)
    if args.json:
        print_json(_document(found))
        return 0
    known = len(found.scores) - found.n_added
    print(plain(f"{counted(found.n_added, 'system')} imported, {known:,} already there, from {found.source}"))
    print_table(
        ("system", "strategy", "task", "n", "recall %", "SE"),
        [
            (
                one["system"],
                one["strategy"],
                one["task"],
                f"{one['n']:,}",
                percent(one["aspect_recall"]),
                percent(one["standard_error"]),
            )
            for one in _scores(found)
        ],
        right=("n", "recall %", "SE"),
    )
    reasons = Counter(row.reason.partition(":")[0] for row in found.left_out)
    for reason, count in reasons.items():
        print(plain(f"{counted(count, 'row')} left out, {reason}"))
    for row in found.left_out:
        print(plain(f"  row {row.row}, {row.experiment}: {row.reason}"))
    return 0


def _scores(found: ScoreImport) -> list[dict[str, Any]]:
    from math import fsum

    from evidencebench_core.stats import standard_error

    return [
        {
            "system": one.system,
            "strategy": one.strategy,
            "task": one.task,
            "collection": one.collection,
            "n": len(one.recalls),
            "aspect_recall": fsum(one.recalls) / len(one.recalls),
            "standard_error": standard_error(one.recalls),
        }
        for one in found.scores
    ]


def _document(found: ScoreImport) -> dict[str, Any]:
    return {
        "source": found.source,
        "added": found.n_added,
        "scores": _scores(found),
        "left_out": [
            {"row": row.row, "experiment": row.experiment, "reason": row.reason} for row in found.left_out
        ],
    }
