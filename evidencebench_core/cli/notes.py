"""``evidencebench notes``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from evidencebench_core.cli.arguments import add_json, store_of
from evidencebench_core.cli.output import note, print_json


def _add_notes(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "List the flags and comments on a dataset's instances and their sentences, and the notes on what runs missed:"
        " of each author the newest."
    )
    parser.add_argument("--dataset", metavar="NAME", required=True, help="the dataset")
    parser.add_argument(
        "--instance", metavar="ID", action="append", help="only this instance (may be repeated)"
    )
    parser.add_argument("--flagged", action="store_true", help="only flags")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write them there, for a spreadsheet")
    add_json(parser)


def _notes(args: argparse.Namespace) -> int:
    """List the notes on a dataset."""
    from evidencebench_core.analyses.notes import dataset_notes
    from evidencebench_core.cli.tables import print_report
    from evidencebench_core.data.files import whole_file
    from evidencebench_core.export import csv_text

    store = store_of(args)
    if args.instance:
        store.rows(args.dataset, args.instance)  # an error where there is none
    report = dataset_notes(store, args.dataset, args.instance, flagged=args.flagged)
    if args.csv is not None:
        with whole_file(args.csv) as stream:
            stream.write(csv_text(report.to_pandas()).encode())
        note(f"Written to {args.csv}")
    if args.json:
        print_json(report.as_dict())
    elif args.csv is None:
        print_report(report)
    return 0


VERBS: Final = {"notes": (_add_notes, _notes)}
