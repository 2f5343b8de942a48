"""``evidencebench train-ranker --dataset N``"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.cli.arguments import add_json, positive, store_of
from evidencebench_core.cli.output import note, plain, print_json, quantity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evidencebench_core.cli.ranker_folds import Validated
    from evidencebench_core.data.store import DatasetInfo, Store
    from evidencebench_core.retrievers.ranker.examples import Example, Sampling
    from evidencebench_core.retrievers.ranker.model import TrainedOn
    from evidencebench_core.retrievers.ranker.training import Encoder, Training


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
    parser.add_argument(
        "--ablation",
        action="store_true",
        help="also cross-validate without one part at a time: groups of features, members, the selection;"
        " takes about ten times as long",
    )
    parser.add_argument(
        "--other-encoder",
        metavar="MODEL",
        help="with --ablation: also cross-validate with this embedding model",
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Cross-validate, train on everything, write the model; as JSON one object."""
    from evidencebench_core.cli.ranker_folds import notes_of, validated
    from evidencebench_core.cli.ranker_tables import print_validated, validated_document
    from evidencebench_core.errors import SettingError
    from evidencebench_core.retrievers.ranker.crossvalidation import trained_on_these
    from evidencebench_core.retrievers.ranker.model_file import default_model_path, write_model
    from evidencebench_core.retrievers.ranker.training import Training, fitted
    from evidencebench_core.runs import keep_trained

    if args.seed < 0:
        raise SettingError("seed", f"is {args.seed}", "Give 0 or more.")
    if (args.ablation and args.no_cv) or (args.other_encoder and not args.ablation):
        problem = "an ablation is a cross-validation" if args.no_cv else "--other-encoder is for --ablation"
        raise SettingError("arguments", problem, "Leave out --no-cv, or add --ablation.")
    began = time.monotonic()
    store, training = store_of(args), Training(seed=args.seed)
    info = store.dataset(args.dataset)
    sampling = _sampling(store, info, args.seed)
    examples, encoder = _examples(store, info, sampling, args.encoder, args.seed)
    read = time.monotonic() - began
    found: Validated | None = None
    if not args.no_cv:
        found = validated(store, info, examples, encoder, training, args.folds)
        if args.ablation:
            _ablated(store, info, (examples, encoder), training, found)
            if args.other_encoder:
                others = _examples(store, info, sampling, args.other_encoder, args.seed)
                alike = validated(store, info, *others, training, args.folds, baselines=False)
                found.ablation_scores[f"with encoder {args.other_encoder}"] = alike.scores["evidence-ranker"]
    note(f"Training on {quantity(len(examples), 'instance')}")
    trained_on = _with_encoder(trained_on_these(examples, info.name, info.sha256), args.encoder, found)
    model = fitted(examples, encoder, trained_on, training, notes=notes_of(found))
    path = args.out or default_model_path()
    digest = write_model(model, path)
    keep_trained(store, digest, trained_on)
    run_id = None if found is None else found.kept(store, info, digest)
    seconds = {"reading and embedding": round(read, 1), "all": round(time.monotonic() - began, 1)}
    document = {
        "dataset": info.name,
        "dataset_sha256": info.sha256,
        "n_instances": info.n_instances,
        "n_trained_on": len(examples),
        "encoder": args.encoder,
        "seed": args.seed,
        "model": str(path),
        "weights": digest,
        "n_bytes": path.stat().st_size,
        "seconds": seconds,
        "run": run_id,
        **({} if found is None else validated_document(found)),
    }
    if args.json:
        print_json(document)
    elif found is not None:
        print_validated(found, info.name)
    _tell_use(args, path, document)
    return 0


def _tell_use(args: argparse.Namespace, path: Path, document: Mapping[str, Any]) -> None:
    named = f" --set model={path}" if args.out else ""
    note(
        f"Model {document['weights']}, {document['n_bytes']:,} bytes, in {document['seconds']['all']} s: {path}"
    )
    note(f"Use it: evidencebench run --dataset OTHER --retriever evidence-ranker{named}")
    if document["run"]:
        note(
            f"The answers of the cross-validation are run {document['run']}; look at it in the app, or: "
            f"evidencebench score {document['run']}"
        )
    note(
        f"It has seen these {quantity(document['n_trained_on'], 'instance')} of {plain(args.dataset)}: its own"
        " scores on them are no estimate of how it does on others. The dataset's terms hold for the file."
    )


def _sampling(store: Store, info: DatasetInfo, seed: int) -> Sampling:
    """Which instances are learnt from, told if it is not all of everything."""
    from evidencebench_core.retrievers.ranker.examples import sampling_for

    rows = store.rows(info.name, store.ids(info.name))
    with_gold = [row for row in rows if row.n_aspects and row.n_sentences]
    if len(with_gold) < len(rows):
        note(f"{quantity(len(rows) - len(with_gold), 'instance')} left out: without aspects or sentences")
    sampling = sampling_for(
        {row.id: row.n_sentences for row in with_gold}, {row.id: row.paper_id for row in with_gold}, seed
    )
    if sampling.n_rows is not None:
        note(
            f"The dataset is large: learning from about {sampling.n_rows} sentences each of "
            f"{len(sampling.instance_ids):,} of {quantity(len(with_gold), 'instance')}"
        )
    return sampling


def _examples(
    store: Store, info: DatasetInfo, sampling: Sampling, encoder_name: str, seed: int
) -> tuple[list[Example], Encoder]:
    from evidencebench_core.cli.progress import progress_bar
    from evidencebench_core.cli.ranker_folds import examples_of

    note("Reading and embedding")
    with progress_bar(len(sampling.instance_ids), "instances") as bar:
        return examples_of(store, info, sampling, encoder_name, seed, bar.update)


def _ablated(
    store: Store,
    info: DatasetInfo,
    learnt: tuple[list[Example], Encoder],
    training: Training,
    found: Validated,
) -> None:
    """Add the scores without one part at a time to what was cross-validated."""
    from evidencebench_core.cli.ranker_folds import ablated
    from evidencebench_core.retrievers.ranker.ablation import refits

    minutes = (found.seconds_fitting * refits() + found.seconds_ranking * (refits() + 2)) / 60
    note(f"Ablation: {refits()} cross-validations more, about {minutes:.0f} min at the pace of this one")
    found.ablation_scores |= ablated(store, info, *learnt, training, found)


def _with_encoder(trained_on: TrainedOn, encoder: str, found: Validated | None) -> TrainedOn:
    """What the embedding model has seen counts as seen; its part in the cross-validation is told loudly."""
    from dataclasses import replace

    from evidencebench_core.retrievers.finetune.trained_on import read_trained_on

    folder = Path(encoder).expanduser()
    seen = read_trained_on(folder) if folder.is_dir() else None
    if seen is None:
        return trained_on
    both = set(trained_on.paper_ids) & set(seen.paper_ids)
    if both and found is not None:
        found.encoder = seen
        note(
            f"WARNING: the embedding model was trained on {len(both):,} of these "
            f"{quantity(len(trained_on.paper_ids), 'paper')}: the cross-validated scores are too good."
        )
    return replace(trained_on, paper_ids=tuple(sorted({*trained_on.paper_ids, *seen.paper_ids})))


VERBS: Final = {"train-ranker": (add_arguments, run)}
