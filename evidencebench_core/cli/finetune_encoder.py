"""``evidencebench finetune-encoder --dataset N --out FOLDER``"""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.cli.arguments import add_json, positive, store_of
from evidencebench_core.cli.output import interval, note, p_value, percent, print_json, print_table
from evidencebench_core.words import quantity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evidencebench_core.data.store import InstanceRow, Store
    from evidencebench_core.retrievers.finetune import FinetuneSettings
    from evidencebench_core.tasks import Score, ScoreComparison

_HEADERS = ("task", "n", "before %", "after %", "difference", "95% interval", "p")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments; names and defaults are those of `FinetuneSettings`."""
    from evidencebench_core.retrievers.finetune import LOSSES, NEGATIVES, FinetuneSettings

    usual = FinetuneSettings()
    parser.add_argument("--dataset", metavar="NAME", required=True, help="a dataset in the store")
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="write a model trained on the whole dataset to this folder"
    )
    parser.add_argument(
        "--folds",
        type=int,
        metavar="N",
        default=1,
        help="how many of five folds, apart by paper, to train without and evaluate on: 0 to 5 (default: 1)",
    )
    parser.add_argument("--model", default=usual.model, help="the model to start from (default: %(default)s)")
    for name, choices in (("loss", LOSSES), ("negatives", NEGATIVES), ("focus", ("all", "results"))):
        default = getattr(usual, name)
        parser.add_argument(f"--{name}", choices=choices, default=default, help="default: %(default)s")
    parser.add_argument("--half-precision", action="store_true", help="train with bfloat16 matrix products")
    numbers: tuple[tuple[str, Any, str, str], ...] = (
        ("--triplets", positive, "n_triplets", "how many to learn from; the paper has a million"),
        ("--batch-size", positive, "batch_size", "triplets a step"),
        ("--epochs", positive, "epochs", "times that each triplet is seen"),
        ("--learning-rate", float, "learning_rate", "at its peak"),
        ("--margin", float, "margin", "of the triplet and the contrastive loss"),
        ("--weight-decay", float, "weight_decay", "of AdamW"),
        ("--warmup", float, "warmup", "share of the steps in which the learning rate rises"),
        ("--seed", int, "seed", "another seed, other triplets and folds"),
    )
    for name, kind, field, meaning in numbers:
        default, text = getattr(usual, field), f"{meaning} (default: %(default)s)"
        parser.add_argument(name, type=kind, dest=field, default=default, metavar="X", help=text)
    add_json(parser)


def _run(args: argparse.Namespace) -> int:
    """Evaluate on held-out folds, then train on everything and write the folder."""
    from evidencebench_core.errors import SettingError
    from evidencebench_core.retrievers.finetune import FinetuneSettings, check_target, save_model
    from evidencebench_core.retrievers.trained_on import TrainedOn

    if not 0 <= args.folds <= 5 or (args.folds == 0 and args.out is None):
        raise SettingError("folds", f"is {args.folds}", "Give 1 to 5, or 0 together with --out.")
    if args.out is not None:
        check_target(args.out)
    store = store_of(args)
    names = [field.name for field in fields(FinetuneSettings)]
    settings = FinetuneSettings(**{name: getattr(args, name) for name in names if hasattr(args, name)})
    info = store.dataset(args.dataset)
    rows = store.rows(args.dataset, store.ids(args.dataset))
    compared = _held_out_comparisons(store, args.dataset, rows, settings, args.folds)
    scores = {task: one.as_dict() for task, one in compared.items()}
    if args.out is not None:
        model = _trained_model(store, args.dataset, rows, settings)
        ids, papers = sorted(row.id for row in rows), sorted({row.paper_id for row in rows})
        save_model(
            model, args.out, settings, TrainedOn(info.sha256, tuple(ids), tuple(papers), info.name), scores
        )
        note(f"Written to {args.out}. Use it with: --retriever dense --set model={args.out}")
        note(f"It has seen all of {args.dataset}: its scores on that dataset are no evidence.")
    if args.json:
        print_json(
            {
                "dataset": args.dataset,
                "dataset_sha256": info.sha256,
                "settings": asdict(settings),
                "folds": args.folds,
                "held_out": scores,
                "model": None if args.out is None else str(args.out),
            }
        )
    elif compared:
        _print(compared)
    return 0


def _held_out_comparisons(
    store: Store, dataset: str, rows: Sequence[InstanceRow], settings: FinetuneSettings, n_folds: int
) -> dict[str, ScoreComparison]:
    """By task the model as it is trained without a fold against the model as it was, over all folds together."""
    from evidencebench_core.retrievers.finetune import base_encoder, encoder_scores
    from evidencebench_core.retrievers.ranker.examples import folds_by_paper
    from evidencebench_core.runs import DEFAULT_TASKS
    from evidencebench_core.tasks import compare_scores, task_named

    tasks = [task_named(name) for name in DEFAULT_TASKS]
    folds = folds_by_paper([row.paper_id for row in rows], 5, settings.seed)
    before: dict[str, list[Score]] = {}
    after: dict[str, list[Score]] = {}
    for fold in range(n_folds):
        seen = [row for row, where in zip(rows, folds, strict=True) if where != fold]
        unseen = [row.id for row, where in zip(rows, folds, strict=True) if where == fold]
        models = base_encoder(settings), _trained_model(store, dataset, seen, settings)
        for model, scores in zip(models, (before, after), strict=True):
            encode = _encode(model)
            for name, score in encoder_scores(encode, store.get_many(dataset, unseen), tasks).items():
                scores.setdefault(name, []).append(score)

    def joint(scores: Sequence[Score]) -> Score:
        recalls = {name: recall for score in scores for name, recall in score.per_instance.items()}
        return replace(scores[0], per_instance=recalls)

    return {task: compare_scores(joint(after[task]), joint(before[task])) for task in before}


def _trained_model(
    store: Store, dataset: str, rows: Sequence[InstanceRow], settings: FinetuneSettings
) -> Any:
    """A model trained on these instances."""
    import numpy as np

    from evidencebench_core.cli.progress import advance, progress_bar
    from evidencebench_core.retrievers.finetune import base_encoder, fit_encoder, triplets_of

    rng = np.random.default_rng(settings.seed)
    counts = rng.multinomial(settings.n_triplets, np.full(len(rows), 1 / max(1, len(rows))))
    drawn = [(row.id, int(count)) for row, count in zip(rows, counts, strict=True) if count]
    instances = store.get_many(dataset, [name for name, _ in drawn])
    triplets = list(
        triplets_of(instances, [count for _, count in drawn], settings.focus, settings.negatives, rng)
    )
    note(f"Training on {quantity(len(triplets), 'triplet')} of {quantity(len(rows), 'instance')}")
    began = time.monotonic()
    with progress_bar(None, "steps") as bar:
        model = fit_encoder(base_encoder(settings), triplets, settings, partial(advance, bar))
    note(f"Trained in {time.monotonic() - began:.0f} s")
    return model


def _encode(model: Any) -> Any:
    def encode(texts: Sequence[str]) -> Any:
        readable = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        return model.encode(readable, show_progress_bar=False, convert_to_numpy=True)

    return encode


def _print(compared: Mapping[str, ScoreComparison]) -> None:
    print("Aspect Recall on papers that the model has not seen, before and after fine-tuning")
    print_table(
        _HEADERS,
        [
            (
                one.task.title,
                f"{one.n:,}",
                percent(one.mean_b),
                percent(one.mean_a),
                percent(one.mean_difference),
                interval(one.ci95),
                p_value(one.p_value, 3),
            )
            for one in compared.values()
        ],
        right=_HEADERS[1:],
    )


VERBS: Final = {"finetune-encoder": (_add_arguments, _run)}
