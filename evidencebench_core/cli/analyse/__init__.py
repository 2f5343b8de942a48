"""``evidencebench analyse WHAT ...``: one question a module.

A module has ``add_arguments(parser)`` and ``report(args) -> Report``; it is imported only when its name
stands on the command line. ``--task``, ``--json``, ``--csv`` and ``--store`` are added here; a module
that wants another task by default says ``parser.set_defaults(task=...)``.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from evidencebench_core.cli.arguments import add_json, add_store
from evidencebench_core.cli.output import print_json
from evidencebench_core.cli.tables import print_report, write_csv

__all__ = ["ANALYSES", "add_arguments", "run"]

ANALYSES: Final[Mapping[str, str]] = {
    "missed": "the aspects that a run missed, nearest miss first, each with a suggested cause",
    "positions": "where in the paper aspects stand, where runs look, what they find there",
    "ends": "instances whose evidence stands at the ends of the paper against those where it does not",
    "needle": "recall against the place in the paper to which the evidence was moved",
    "variants": "what another wording of the hypotheses, or their negation, does to runs",
    "spelling": "recall against the number of spelling errors in the hypothesis",
    "compare": "any number of runs against each other, with p-values corrected for their number",
    "slices": "runs compared on parts of the dataset",
    "dataset": "what a dataset is made of: the paper's table 1, and where its evidence stands",
    "agreement": "how far two annotators agree on what covers which aspect, beside the paper's table 2",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """One parser an analysis, filled when it is used."""
    analyses = parser.add_subparsers(
        dest="analysis",
        metavar="WHAT",
        title="analyses",
        required=True,
        parser_class=_AnalysisParser,
    )
    for name, summary in ANALYSES.items():
        analyses.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            allow_abbrev=False,
            analysis=name,
        )


def run(args: argparse.Namespace) -> int:
    """Print an analysis; as JSON one object: title, tables (lists of records), notes."""
    report = _module(args.analysis).report(args)
    if args.csv is not None:
        write_csv(report, args.csv)
    if args.json:
        print_json(report.as_dict())
    elif args.csv is None:
        print_report(report)
    return 0


class _AnalysisParser(argparse.ArgumentParser):
    """A parser that asks its module for the arguments when it is about to read some."""

    def __init__(self, *args: Any, analysis: str, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._analysis: str | None = analysis

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if self._analysis is not None:
            analysis, self._analysis = self._analysis, None
            self.add_argument("--task", metavar="T", default="er@optimal", help="task (default: %(default)s)")
            add_json(self)
            self.add_argument(
                "--csv",
                type=Path,
                metavar="FILE",
                help="write the tables there; several tables: each to a file with its name before the suffix",
            )
            add_store(self, default=argparse.SUPPRESS)
            _module(analysis).add_arguments(self)
        return super().parse_known_args(args, namespace)


def _module(analysis: str) -> Any:
    return import_module(f"evidencebench_core.cli.analyse.{analysis}")
