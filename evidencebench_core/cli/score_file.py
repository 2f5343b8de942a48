"""``evidencebench score-file --dataset N --predictions FILE --task T``"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from evidencebench_core.cli.arguments import add_json, add_missing, store_of
from evidencebench_core.cli.output import counted, note, plain, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("--dataset", metavar="NAME", required=True, help="the dataset that was predicted")
    parser.add_argument(
        "--predictions",
        metavar="FILE",
        type=Path,
        required=True,
        help='a JSON file: {"instance id": [0-based sentence index, ...], ...}',
    )
    parser.add_argument("--task", metavar="T", required=True, help="such as er@optimal or result-er@5")
    add_missing(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Score a file of predictions; as JSON one object."""
    from evidencebench_core.cli.scores import print_scores
    from evidencebench_core.runs import predictions_from, score_predictions

    predictions = predictions_from(args.predictions)
    score = score_predictions(store_of(args), args.dataset, predictions, args.task, missing=args.missing)
    _tell_repeats(predictions)
    if args.json:
        print_json(score.as_dict())
        return 0
    print(plain(f"{args.predictions}: {counted(len(predictions), 'prediction')} for {args.dataset}"))
    print_scores([score])
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
            f"{counted(len(repeats), 'prediction')} with repeated sentences, the first {first} with sentence {pick}:"
            " counted once. Name every sentence once."
        )
