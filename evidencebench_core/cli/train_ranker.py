"""``evidencebench train-ranker --dataset N``"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from evidencebench_core.cli.arguments import add_json, positive, store_of
from evidencebench_core.cli.output import note, print_json
from evidencebench_core.cli.progress import print_steps
from evidencebench_core.words import one_line, quantity


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("--dataset", metavar="NAME", required=True, help="a dataset in the store")
    parser.add_argument(
        "--folds", type=positive, default=5, metavar="N", help="of the cross-validation (default: 5)"
    )
    parser.add_argument(
        "--no-cv", action="store_true", help="train only: nothing will be known of how good the model is"
    )
    parser.add_argument(
        "--encoder",
        default="minilm",
        metavar="MODEL",
        help="the embedding model: minilm (default), a folder, or a Hugging Face name",
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of folds and trees (default: 0); not below 0"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="the model file (default: the one that evidence-ranker looks for)",
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Cross-validate, train on everything, write the model; as JSON one object."""
    from evidencebench_core.cli.ranker_tables import print_validation, validation_document
    from evidencebench_core.runs import train_ranker

    trained = print_steps(
        train_ranker(
            store_of(args),
            args.dataset,
            folds=0 if args.no_cv else args.folds,
            encoder=args.encoder,
            seed=args.seed,
            out=args.out,
            baselines=True,
        )
    )
    n_bytes, validation = trained.path.stat().st_size, trained.validation
    if args.json:
        print_json(
            {
                "dataset": trained.dataset.name,
                "dataset_sha256": trained.dataset.sha256,
                "n_instances": trained.dataset.n_instances,
                "n_trained_on": trained.n_instances,
                "encoder": args.encoder,
                "seed": args.seed,
                "model": str(trained.path),
                "weights": trained.digest,
                "n_bytes": n_bytes,
                "seconds": {
                    "reading and embedding": round(trained.seconds_reading, 1),
                    "all": round(trained.seconds, 1),
                },
                "run": trained.run_id,
                **({} if validation is None else validation_document(validation)),
            }
        )
    elif validation is not None:
        print_validation(validation, trained.dataset.name)
    note(f"Model {trained.digest}, {n_bytes:,} bytes, in {trained.seconds:.1f} s: {trained.path}")
    named = f" --set model={trained.path}" if args.out else ""
    note(f"Use it: evidencebench run --dataset OTHER --retriever evidence-ranker{named}")
    if trained.run_id is not None:
        note(
            f"The answers of the cross-validation are run {trained.run_id}; look at it in the app, or: "
            f"evidencebench score {trained.run_id}"
        )
    note(
        f"It has seen these {quantity(trained.n_instances, 'instance')} of {one_line(args.dataset)}: its own"
        " scores on them are no estimate of how it does on others. The dataset's terms hold for the file."
    )
    return 0


VERBS: Final = {"train-ranker": (add_arguments, run)}
